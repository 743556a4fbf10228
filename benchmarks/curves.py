"""Curves of a million scores, and intervals of their areas, beside scikit-learn."""

from __future__ import annotations

import numpy as np
from sklearn.metrics import average_precision_score, precision_recall_curve, roc_auc_score
from timing import Line, against, seconds, show

import probative as pv
from probative.inference.curves import Ranked, average_precision_interval, roc_auc, roc_auc_interval

ITEMS, SMALL, RESAMPLES = 1_000_000, 10_000, 200


def everything(gold: np.ndarray, scores: np.ndarray) -> None:
    """The curve and all that it computes when asked for."""
    curve = pv.curve(gold, scores)
    for name in ("pointwise", "simultaneous", "average_precision", "roc_auc", "best"):
        getattr(curve, name)


def main() -> bool:
    rng = np.random.default_rng(0)
    gold = rng.random(ITEMS) < 0.1
    scores = rng.normal(1.5 * gold)
    few, some = gold[:SMALL], scores[:SMALL]

    def curve_and_score() -> None:
        precision_recall_curve(gold, scores)
        average_precision_score(gold, scores)

    def bootstrap(score) -> None:
        for _ in range(RESAMPLES):
            drawn = rng.integers(0, SMALL, SMALL)
            score(few[drawn], some[drawn])

    lines = []
    for items, most in ((SMALL, 2), (ITEMS, 1.2)):
        own = gold[:items], scores[:items]
        lines.append(
            against(
                f"pv.curve of {items:,}, points / scikit-learn's",
                lambda own=own: pv.curve(*own).precision,
                lambda own=own: precision_recall_curve(*own),
                most,
            )
        )
    lines += [
        Line(
            "average precision / scikit-learn's",
            seconds(lambda: Ranked(gold, scores).average_precision, 3),
            seconds(lambda: average_precision_score(gold, scores), 3),
            1,
        ),
        Line(
            "ROC AUC / scikit-learn's",
            seconds(lambda: roc_auc(Ranked(gold, scores)), 3),
            seconds(lambda: roc_auc_score(gold, scores), 3),
            1,
        ),
        against(
            "pv.curve, with bands, thresholds and intervals / scikit-learn's points and value",
            lambda: everything(gold, scores),
            curve_and_score,
            25,
            rounds=3,
        ),
    ]
    for name, interval, score in (
        ("AP", average_precision_interval, average_precision_score),
        ("ROC AUC", roc_auc_interval, roc_auc_score),
    ):
        lines.append(
            Line(
                f"interval of {name}, {SMALL:,} items / {RESAMPLES} resamples of scikit-learn's",
                seconds(lambda interval=interval: interval(Ranked(few, some), 0.95), 5),
                seconds(lambda score=score: bootstrap(score), 1),
                0.05,
            )
        )
    return show(f"{ITEMS:,} scores", lines)


if __name__ == "__main__":
    raise SystemExit(not main())
