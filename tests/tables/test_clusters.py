"""Spark and Dask for real: local engines of several processes, and what happens when they fail."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from tables.reference import cases_of, kept_rows, kinds_of, unit_cases
from tables.test_tags import cases_by_document, kinds, sentences

import probative as pv
from probative.errors import InputError
from probative.tables import TallyWarning, count_table, count_tags

pd = pytest.importorskip("pandas")
pa = pytest.importorskip("pyarrow")

pytestmark = pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas")

ODD = {
    "gold": 'go"ld; drop table x; --\n',
    "a": "a.b`c.d`",
    "b": "b'; select 1 --",
    "unit": "u\"n'it ",
    "by": "b\ny.\\",
}
LABELS = ("gold", "a", "b")


@pytest.fixture(scope="module")
def rows():
    """Random rows with nulls and odd labels."""
    rng = np.random.default_rng(5)
    labels = ["1", "0", "it's", "x.y", "", None]
    return [
        {
            **{name: labels[int(rng.choice(6, p=[0.4, 0.3, 0.1, 0.1, 0.05, 0.05]))]
               for name in LABELS},
            "unit": int(rng.integers(0, 60)),
            "by": "xyz"[int(rng.integers(0, 3))],
        }
        for _ in range(600)
    ]  # fmt: skip


def renamed(rows):
    return pd.DataFrame([{ODD[name]: value for name, value in row.items()} for row in rows])


def of_spark(spark, rows):
    from pyspark.sql.types import LongType, StringType, StructField, StructType

    kinds_of_columns = {"unit": LongType()}
    schema = StructType(
        [StructField(ODD[n], kinds_of_columns.get(n, StringType())) for n in rows[0]]
    )
    return spark.createDataFrame([tuple(row.values()) for row in rows], schema).repartition(3)


def of_dask(client, rows):
    assert client.status == "running"
    dd = pytest.importorskip("dask.dataframe")
    return dd.from_pandas(renamed(rows), npartitions=3)


ENGINES = [
    pytest.param("spark", of_spark, marks=pytest.mark.spark),
    pytest.param("cluster", of_dask, marks=pytest.mark.cluster),
]


@pytest.fixture
def frame(request, name, make, rows):
    return make(request.getfixturevalue(name), rows)


@pytest.mark.parametrize(("name", "make"), ENGINES)
def test_an_engine_counts_as_plain_python_does(frame, rows):
    columns = {name: ODD[name] for name in LABELS}
    how = {**columns, "positive": "1", "by": ODD["by"]}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TallyWarning)
        items = pv.tally(frame, **how, on_null="negative")
        units = pv.tally(frame, **how, on_null="drop", unit=ODD["unit"])
    assert list(items) == list(units) == ["x", "y", "z"]
    for group in items:
        kept, dropped = (
            [row for row in kept_rows(rows, LABELS, on_null) if row["by"] == group]
            for on_null in ("negative", "drop")
        )
        assert items[group].cases.tolist() == cases_of(kept, *LABELS, "1")
        assert kinds_of(units[group]) == unit_cases(dropped, *LABELS, "1", "unit")
    with pytest.raises(InputError, match=r"gold: column .* has missing labels: \d+ of 600"):
        pv.tally(frame, **columns)


@pytest.mark.parametrize(("name", "make"), ENGINES)
def test_each_class_against_the_rest_in_one_query(frame, rows):
    every = count_table(
        frame,
        gold=ODD["gold"],
        systems={"a": ODD["a"], "b": ODD["b"]},
        unit=ODD["unit"],
        on_null="negative",
    )
    kept = kept_rows(rows, LABELS, "negative")
    assert every.labels == ("0", "1", "it's", "x.y")
    for label in every.labels:
        merged = {}
        for own, number in unit_cases(kept, *LABELS, label, "unit").items():
            merged[own[:7]] = merged.get(own[:7], 0) + number
        assert kinds_of(every.paired(label=label), 7) == merged


@pytest.mark.spark
def test_tags_are_counted_by_the_workers_of_spark(spark):
    tagged = sentences()
    schema = "doc long, lang string" + "".join(
        f", {name} array<string>" for name in ("tokens", "gold", "old", "new")
    )
    frame = spark.createDataFrame([tuple(row.values()) for row in tagged], schema).repartition(3)
    table = count_tags(
        frame, gold="gold", systems=["old", "new"], scheme="iob2", unit="doc", tokens="tokens"
    )
    assert kinds(table.paired()) == cases_by_document(tagged)


@pytest.mark.cluster
def test_tags_are_counted_by_the_workers_of_dask(cluster):
    dd = pytest.importorskip("dask.dataframe")
    assert cluster.status == "running"
    tagged = sentences()
    texts = [{name: " ".join(v) if isinstance(v, list) else v for name, v in row.items()}
             for row in tagged]  # fmt: skip
    frame = dd.from_pandas(pd.DataFrame(texts), npartitions=3)
    table = count_tags(
        frame, gold="gold", systems=["old", "new"], scheme="iob2", unit="doc", tokens="tokens"
    )
    assert kinds(table.paired()) == cases_by_document(tagged)


@pytest.mark.spark
def test_a_bad_row_in_a_worker_is_one_line(spark):
    frame = spark.createDataFrame([(["O"], ["O", "O"])], "gold array<string>, pred array<string>")
    with pytest.raises(InputError, match=r"has 2 in .* and 1 in .*; expected one tag") as caught:
        count_tags(frame, gold="gold", systems=["pred"], scheme="iob2")
    assert "\n" not in str(caught.value)


@pytest.fixture
def parts(tmp_path):
    """A folder of three Parquet files."""
    import pyarrow.parquet as pq

    for i in range(3):
        table = pa.table({"gold": [0, 1] * 500, "pred": [1, 1, 0, 1] * 250})
        pq.write_table(table, tmp_path / f"part-{i}.parquet")
    return tmp_path


def read(name, engine, folder):
    if name == "spark":
        return engine.read.schema("gold long, pred long").parquet(str(folder))
    if name == "cluster":
        return pytest.importorskip("dask.dataframe").read_parquet(folder)
    import duckdb

    return duckdb.read_parquet(str(folder / "*.parquet"))


READERS = [
    pytest.param("spark", marks=pytest.mark.spark),
    pytest.param("cluster", marks=pytest.mark.cluster),
    "duckdb",
]


@pytest.mark.parametrize("name", READERS)
def test_a_file_cut_in_half_is_named(request, name, parts):
    engine = None if name == "duckdb" else request.getfixturevalue(name)
    frame = read(name, engine, parts)
    assert pv.tally(frame, gold="gold", pred="pred") == pv.Counts(1500, 750, 0, 750)
    cut = parts / "part-1.parquet"
    cut.write_bytes(cut.read_bytes()[: cut.stat().st_size // 2])
    if name == "spark":
        engine.catalog.clearCache()
        frame = read(name, engine, parts)
    with pytest.raises(InputError, match=r"part-1\.parquet") as caught:
        pv.tally(frame, gold="gold", pred="pred")
    assert "\n" not in str(caught.value)


@pytest.mark.cluster
def test_a_column_that_one_partition_lacks_is_named(cluster, parts):
    import pyarrow.parquet as pq

    frame = read("cluster", cluster, parts)
    pq.write_table(pa.table({"gold": [0, 1]}), parts / "part-2.parquet")
    with pytest.raises(InputError, match="pred") as caught:
        pv.tally(frame, gold="gold", pred="pred")
    assert "\n" not in str(caught.value)


@pytest.mark.spark
def test_a_column_that_one_file_lacks_is_no_label(spark, parts):
    """Spark reads nulls there, and nulls are an error unless something else is asked for."""
    import pyarrow.parquet as pq

    pq.write_table(pa.table({"gold": [0, 1]}), parts / "part-2.parquet")
    with pytest.raises(InputError, match=r"pred: column .* has missing labels"):
        pv.tally(read("spark", spark, parts), gold="gold", pred="pred")


@pytest.mark.spark
def test_a_job_that_dies_half_way_gives_nothing(spark):
    from pyspark.sql import functions
    from pyspark.sql.types import LongType

    def die(value):
        if value == 777:
            raise RuntimeError("killed half-way")
        return value % 2

    numbers = spark.range(1000).repartition(4)
    frame = numbers.select(
        (functions.col("id") % 2).alias("gold"),
        functions.udf(die, LongType())(functions.col("id")).alias("pred"),
    )
    with pytest.raises(InputError, match="killed half-way") as caught:
        pv.tally(frame, gold="gold", pred="pred")
    assert "\n" not in str(caught.value)
