"""Real engines for the tests of clusters, started once."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from conftest import ROOT


@pytest.fixture(scope="session")
def spark(tmp_path_factory):
    """Spark with two local workers, which import this package from where the tests do."""
    sql = pytest.importorskip("pyspark.sql")
    import probative

    paths = [str(ROOT / "tests"), str(Path(probative.__file__).parent.parent)]
    before = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = os.pathsep.join([*paths, *([before] if before else [])])
    os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    folder = tmp_path_factory.mktemp("spark")
    session = (
        sql.SparkSession.builder.master("local[2]")
        .appName("probative")
        .config("spark.ui.enabled", "false")
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.sql.warehouse.dir", str(folder / "warehouse"))
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.log.level", "OFF")
        .getOrCreate()
    )
    yield session
    session.stop()


@pytest.fixture(scope="session")
def cluster():
    """Dask with two processes."""
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
        ) as local,
        distributed.Client(local) as client,
    ):
        yield client
