"""The example jobs run here as they would on a cluster."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ROOT

import probative


@pytest.mark.parametrize(
    ("job", "library"),
    [
        pytest.param("spark_job.py", "pyspark", marks=pytest.mark.spark),
        pytest.param("dask_job.py", "distributed", marks=pytest.mark.cluster),
    ],
)
def test_a_job_compares_in_every_group(job, library):
    pytest.importorskip(library)
    source = str(Path(probative.__file__).parent.parent)
    environment = {
        **os.environ,
        "PYTHONPATH": source,
        "PYSPARK_PYTHON": sys.executable,
        "PYSPARK_SUBMIT_ARGS": "--master local[2] --conf spark.ui.enabled=false "
        "--conf spark.sql.shuffle.partitions=2 pyspark-shell",
    }
    done = subprocess.run(
        [sys.executable, str(ROOT / "examples" / job)],
        capture_output=True, text=True, env=environment, timeout=300, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    lines = done.stdout.splitlines()
    assert [line for line in lines if not line.startswith(" ")] == ["de", "en", "fr", "entities"]
    assert sum("randomisation test by unit" in line for line in lines) == 4
