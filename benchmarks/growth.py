"""How time grows with labels, groups and runs: at most as the power 1.1 of their number."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from many import Work, groups_of, labels_of, noisy, runs_of
from timing import Line, growth, show

import probative as pv

if TYPE_CHECKING:
    from collections.abc import Iterator


def scores_of(n: int) -> Work:
    """Score n integers, and read all intervals."""
    rng = np.random.default_rng(0)
    gold = rng.integers(0, 5, n)
    pred = noisy(gold, 0.8, 5, rng)
    return lambda: pv.score(gold, pred).to_dict()


def measured() -> Iterator[Line]:
    """Small cases first."""
    yield growth("labels of a comparison", labels_of, (100, 1000), 9)
    yield growth("labels of a comparison", labels_of, (1000, 10_000))
    yield growth("integers scored", scores_of, (100_000, 1_000_000))
    yield growth("groups of two rows", groups_of, (1000, 10_000))
    yield growth("labels of a comparison", labels_of, (10_000, 100_000))
    yield growth("integers scored", scores_of, (1_000_000, 10_000_000))
    yield growth("runs of two systems", runs_of, (100, 1000))
    yield growth("groups of two rows", groups_of, (10_000, 100_000))


def main() -> bool:
    return show("How time grows", measured())


if __name__ == "__main__":
    raise SystemExit(not main())
