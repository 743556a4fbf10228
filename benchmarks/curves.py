"""Curves of a million scores, and the interval of average precision, beside scikit-learn."""

from __future__ import annotations

import numpy as np
from sklearn.metrics import average_precision_score, precision_recall_curve
from timing import Line, seconds, show

import probative as pv
from probative.inference.average_precision import average_precision_interval
from probative.inference.ranked import Ranked

ITEMS, SMALL, RESAMPLES = 1_000_000, 10_000, 200


def main() -> bool:
    rng = np.random.default_rng(0)
    gold = rng.random(ITEMS) < 0.1
    scores = rng.normal(1.5 * gold)
    few, some = gold[:SMALL], scores[:SMALL]

    def curve_and_score() -> None:
        precision_recall_curve(gold, scores)
        average_precision_score(gold, scores)

    def bootstrap() -> None:
        for _ in range(RESAMPLES):
            drawn = rng.integers(0, SMALL, SMALL)
            average_precision_score(few[drawn], some[drawn])

    def interval() -> None:
        average_precision_interval(Ranked.of(few, some), 0.95)

    return show(
        f"{ITEMS:,} scores",
        [
            Line(
                "pv.curve, with bands, thresholds and intervals / scikit-learn's points and value",
                seconds(lambda: pv.curve(gold, scores), 3),
                seconds(curve_and_score, 3),
                25,
            ),
            Line(
                f"interval of AP, {SMALL:,} items / {RESAMPLES} resamples of scikit-learn's AP",
                seconds(interval, 5),
                seconds(bootstrap, 1),
                0.05,
            ),
        ],
    )


if __name__ == "__main__":
    raise SystemExit(not main())
