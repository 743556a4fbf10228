"""Agreement with intervals against krippendorff's alpha and scikit-learn's kappa alone."""

from __future__ import annotations

import krippendorff
import numpy as np
from sklearn.metrics import cohen_kappa_score
from timing import Line, against, show

import probative as pv

WITH_INTERVALS, MANY_PAIRS = 2.0, 8.0  # kappa of every pair, too; ten annotators are 45 pairs
NAMES = ("person", "place", "company", "other", "none")


def labels_of(annotators: int, items: int) -> np.ndarray:
    """Labels of annotators who agree on most items, one row each."""
    rng = np.random.default_rng(1)
    size = (annotators, items)
    truth = rng.integers(0, len(NAMES), items)
    return np.where(rng.random(size) < 0.2, rng.integers(0, len(NAMES), size), truth)


def alpha(annotators: int, items: int, kind: str, at_most: float = WITH_INTERVALS) -> Line:
    """Alpha of lists; the peer takes a table of numbers, made before."""
    codes = labels_of(annotators, items)
    table = codes.astype(float)
    lists = (codes if kind == "int" else np.array(NAMES)[codes]).tolist()

    def theirs() -> float:
        return krippendorff.alpha(reliability_data=table, level_of_measurement="nominal")

    assert abs(pv.agreement(*lists).alpha.estimate - theirs()) < 1e-9
    what = f"pv.agreement of {annotators} lists of {items:,} {kind} / krippendorff"
    return against(what, lambda: pv.agreement(*lists), theirs, at_most)


def kappa(items: int) -> Line:
    """Kappa of two arrays of integers."""
    a, b = labels_of(2, items)
    own = pv.agreement(a, b).pairs[0]["kappa"]
    assert abs(own.estimate - cohen_kappa_score(a, b)) < 1e-9
    return against(
        f"pv.agreement of two arrays of {items:,} / scikit-learn's kappa",
        lambda: pv.agreement(a, b),
        lambda: cohen_kappa_score(a, b),
        WITH_INTERVALS,
    )


def main() -> bool:
    lines = [
        alpha(3, 100_000, "str"),
        alpha(3, 100_000, "int"),
        alpha(10, 100_000, "int", MANY_PAIRS),
    ]
    return show("Agreement", [*lines, kappa(100_000), kappa(1_000_000)])


if __name__ == "__main__":
    raise SystemExit(not main())
