"""Is the new model better, in every language? A Dask job over a table of judged predictions.

On this machine: ``python examples/dask_job.py``, which starts two worker processes. On a cluster:
``python examples/dask_job.py tcp://scheduler:8786 '/data/predictions/*.parquet'``; nothing here
changes. Only counts leave the workers.
"""

from __future__ import annotations

import sys

import dask.dataframe as dd
import numpy as np
import pandas as pd
from distributed import Client, LocalCluster

import probative as pv
from probative.tables import count_tags


def example_predictions() -> dd.DataFrame:
    """Stands in for your table: a right label, the labels of two models, language, document."""
    rng = np.random.default_rng(0)
    size = 20_000
    gold = rng.random(size) < 0.3
    frame = pd.DataFrame(
        {
            "gold": gold.astype(int),
            "old": (gold ^ (rng.random(size) < 0.14)).astype(int),
            "new": (gold ^ (rng.random(size) < 0.10)).astype(int),
            "lang": rng.choice(["de", "en", "fr"], size),
            "doc": rng.integers(0, 800, size),
        }
    )
    return dd.from_pandas(frame, npartitions=8)


def example_sentences() -> dd.DataFrame:
    """Stands in for your tagged sentences: right tags and those of two models, as texts."""
    rows = [
        {"doc": i % 40, "gold": "B-PER O B-LOC", "old": f"B-PER O {'O' if i % 3 else 'B-LOC'}",
         "new": f"B-PER O {'B-ORG' if i % 5 else 'B-LOC'}"}
        for i in range(400)
    ]  # fmt: skip
    return dd.from_pandas(pd.DataFrame(rows), npartitions=4)


def main(scheduler: str | None = None, table: str | None = None) -> None:
    """Compare two models on a table of predictions, and on tagged sentences."""
    cluster = scheduler or LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None)
    with Client(cluster):
        predictions = example_predictions() if table is None else dd.read_parquet(table)
        tallies = pv.tally(predictions, gold="gold", a="old", b="new", by="lang", unit="doc")
        for lang, paired in tallies.items():
            print(lang, pv.randomization_test(paired), pv.difference(paired), sep="\n  ")

        counted = count_tags(
            example_sentences(), gold="gold", systems=["old", "new"], scheme="iob2", unit="doc"
        )
        print("entities", pv.randomization_test(counted.paired("old", "new")), sep="\n  ")


if __name__ == "__main__":  # the workers import this file
    main(*sys.argv[1:3])
