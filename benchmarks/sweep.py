"""The threshold sweep: many steps against few, and against scoring each threshold by itself."""

from __future__ import annotations

import numpy as np
from timing import Line, seconds, show

import probative as pv
from probative.jobs.sweep import segmented
from probative.learners.words import split

SENTENCES, LENGTH = 2000, 50


def main() -> bool:
    rng = np.random.default_rng(0)
    texts = ["".join(rng.choice(list("abcdefgh"), LENGTH)) for _ in range(SENTENCES)]
    gold = segmented([split(text, rng.random(LENGTH - 1) < 0.5) for text in texts], "gold")
    rows = rng.random((SENTENCES, LENGTH - 1))
    thresholds = np.quantile(rows, np.linspace(1, 0, 21))

    def one_by_one() -> None:
        for threshold in thresholds:
            output = [split(text, row >= threshold) for text, row in zip(texts, rows, strict=True)]
            pv.score(gold, output, task="segmentation")

    few = seconds(lambda: pv.segmentation_sweep(gold, rows, 20))
    many = seconds(lambda: pv.segmentation_sweep(gold, rows, 2000))
    return show(
        f"Threshold sweep over {SENTENCES * (LENGTH - 1):,} positions",
        [
            # every step has four intervals; only the sorting of positions is shared
            Line("2,000 steps / a hundred times 20 steps", many, 100 * few, 0.5),
            Line("20 steps / scoring 21 thresholds one by one", few, seconds(one_by_one, 1), 0.2),
        ],
    )


if __name__ == "__main__":
    raise SystemExit(not main())
