"""Is the new model better, in every language? A Spark job over a table of judged predictions.

On this machine: ``spark-submit --master 'local[2]' examples/spark_job.py``, or plain ``python``. On
a cluster: ``spark-submit --master yarn examples/spark_job.py hdfs:///predictions``, or whatever
starts your jobs; nothing here changes. Only counts leave the cluster.
"""

from __future__ import annotations

import sys

from pyspark.sql import DataFrame, SparkSession

import probative as pv
from probative.tables import count_tags


def example_predictions(spark: SparkSession) -> DataFrame:
    """Stands in for your table: a right label, the labels of two models, language, document."""
    return spark.range(20_000).selectExpr(
        "int(hash(id, 1) % 10 in (0, 1, 2)) as gold",
        "int((hash(id, 1) % 10 in (0, 1, 2)) != (pmod(hash(id, 2), 100) < 14)) as old",
        "int((hash(id, 1) % 10 in (0, 1, 2)) != (pmod(hash(id, 3), 100) < 10)) as new",
        "element_at(array('de', 'en', 'fr'), int(pmod(hash(id, 4), 3)) + 1) as lang",
        "pmod(hash(id, 5), 800) as doc",
    )


def example_sentences(spark: SparkSession) -> DataFrame:
    """Stands in for your tagged sentences: tokens, right tags and those of two models."""
    rows = [
        (i % 40, ["Ada", "saw", "Rome"], ["B-PER", "O", "B-LOC"],
         ["B-PER", "O", "O" if i % 3 else "B-LOC"], ["B-PER", "O", "B-ORG" if i % 5 else "B-LOC"])
        for i in range(400)
    ]  # fmt: skip
    schema = "doc long, tokens array<string>" + "".join(
        f", {name} array<string>" for name in ("gold", "old", "new")
    )
    return spark.createDataFrame(rows, schema)


def main(table: str | None = None) -> None:
    """Compare two models on a table of predictions, and on tagged sentences."""
    spark = (
        SparkSession.builder.appName("probative")
        .config("spark.ui.showConsoleProgress", "false")
        .getOrCreate()
    )
    predictions = example_predictions(spark) if table is None else spark.read.parquet(table)
    tallies = pv.tally(predictions, gold="gold", a="old", b="new", by="lang", unit="doc")
    for lang, paired in tallies.items():
        print(lang, pv.randomization_test(paired), pv.difference(paired), sep="\n  ")

    counted = count_tags(
        example_sentences(spark), gold="gold", systems=["old", "new"], scheme="iob2", unit="doc"
    )
    print("entities", pv.randomization_test(counted.paired("old", "new")), sep="\n  ")
    spark.stop()


if __name__ == "__main__":
    main(*sys.argv[1:2])
