"""Scores of labels with all intervals against scikit-learn's report."""

from __future__ import annotations

import numpy as np
from sklearn.metrics import classification_report
from timing import against, show

import probative as pv

ITEMS = 1_000_000
NAMES = ("person", "place", "company", "other", "none")


def main() -> bool:
    rng = np.random.default_rng(1)
    gold = rng.integers(0, len(NAMES), ITEMS)
    pred = np.where(rng.random(ITEMS) < 0.2, rng.integers(0, len(NAMES), ITEMS), gold)
    texts = [np.array(NAMES)[codes].tolist() for codes in (gold, pred)]
    return show(
        f"{ITEMS:,} labels",
        [
            against(
                "pv.score of integers in arrays / scikit-learn's report",
                lambda: pv.score(gold, pred).to_dict(),
                lambda: classification_report(gold, pred),
                1.0,
            ),
            against(
                "pv.score of strings in lists / scikit-learn's report",
                lambda: pv.score(*texts).to_dict(),
                lambda: classification_report(*texts),
                0.7,
            ),
        ],
    )


if __name__ == "__main__":
    raise SystemExit(not main())
