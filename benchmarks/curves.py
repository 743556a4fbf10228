"""Curves of a million scores, and intervals of their areas, beside scikit-learn."""

from __future__ import annotations

import numpy as np
from sklearn.metrics import average_precision_score, precision_recall_curve, roc_auc_score
from timing import Line, seconds, show

import probative as pv
from probative.inference.curves import Ranked, average_precision_interval, roc_auc, roc_auc_interval

ITEMS, SMALL, RESAMPLES = 1_000_000, 10_000, 200


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

    lines = [
        Line(
            "average precision / scikit-learn's",
            seconds(lambda: Ranked.of(gold, scores).average_precision, 3),
            seconds(lambda: average_precision_score(gold, scores), 3),
            1,
        ),
        Line(
            "ROC AUC / scikit-learn's",
            seconds(lambda: roc_auc(Ranked.of(gold, scores)), 3),
            seconds(lambda: roc_auc_score(gold, scores), 3),
            1,
        ),
        Line(
            "pv.curve, with bands, thresholds and intervals / scikit-learn's points and value",
            seconds(lambda: pv.curve(gold, scores), 3),
            seconds(curve_and_score, 3),
            25,
        ),
    ]
    for name, interval, score in (
        ("AP", average_precision_interval, average_precision_score),
        ("ROC AUC", roc_auc_interval, roc_auc_score),
    ):
        lines.append(
            Line(
                f"interval of {name}, {SMALL:,} items / {RESAMPLES} resamples of scikit-learn's",
                seconds(lambda interval=interval: interval(Ranked.of(few, some), 0.95), 5),
                seconds(lambda score=score: bootstrap(score), 1),
                0.05,
            )
        )
    return show(f"{ITEMS:,} scores", lines)


if __name__ == "__main__":
    raise SystemExit(not main())
