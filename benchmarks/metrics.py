"""Matthews' coefficient, kappa and balanced accuracy beside scikit-learn and bootstraps of it."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn import metrics as sk
from timing import Line, seconds, show

import probative as pv

if TYPE_CHECKING:
    from collections.abc import Callable

ITEMS, DRAWN, RESAMPLES = 10_000, 100, 1_000
PEERS = {
    "mcc": sk.matthews_corrcoef,
    "kappa": sk.cohen_kappa_score,
    "balanced_accuracy": sk.balanced_accuracy_score,
}


def systems() -> tuple[Any, Any, Any]:
    rng = np.random.default_rng(0)
    gold = (rng.random(ITEMS) < 0.2).astype(int)
    a, b = (np.where(rng.random(ITEMS) < error, 1 - gold, gold) for error in (0.10, 0.095))
    return gold, a, b


def from_labels(gold: Any, a: Any, b: Any, metric: str) -> float:
    return float(pv.metrics.score(pv.PairedCounts.from_labels(gold, a, b).a, metric))


def bootstrap(gold: Any, said: Any, peer: Callable[..., float]) -> None:
    """Some resamples, of which an interval needs a thousand."""
    rng = np.random.default_rng(1)
    for _ in range(DRAWN):
        drawn = rng.integers(0, ITEMS, ITEMS)
        peer(gold[drawn], said[drawn])


def shuffles(gold: Any, a: Any, b: Any, peer: Callable[..., float]) -> None:
    """Some exchanges, of which a test needs a thousand."""
    rng = np.random.default_rng(1)
    for _ in range(DRAWN):
        swapped = rng.random(ITEMS) < 0.5
        peer(gold, np.where(swapped, b, a)), peer(gold, np.where(swapped, a, b))


def main() -> bool:
    gold, a, b = systems()
    paired = pv.PairedCounts.from_labels(gold, a, b)
    scale = RESAMPLES / DRAWN
    lines = []
    for metric, peer in PEERS.items():
        alone = partial(from_labels, gold, a, b, metric)
        drawn = scale * seconds(partial(bootstrap, gold, a, peer), 1)
        shuffled = scale * seconds(partial(shuffles, gold, a, b, peer), 1)
        lines += [
            Line(f"{metric} / scikit-learn", seconds(alone), seconds(partial(peer, gold, a)), 1.0),
            Line(
                f"{metric}, interval / 1,000 resamples of scikit-learn",
                seconds(partial(pv.interval, paired.a, metric)),
                drawn,
                0.2,
            ),
            Line(
                f"{metric}, exact test / 1,000 exchanges with scikit-learn",
                seconds(partial(pv.randomization_test, paired, metric)),
                shuffled,
                0.05,
            ),
        ]
    return show(f"Six more metrics, {ITEMS:,} items", lines)


if __name__ == "__main__":
    raise SystemExit(not main())
