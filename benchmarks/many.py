"""Comparisons of many groups, labels, runs and sentences, and of few."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from timing import Line, show, within

import probative as pv

if TYPE_CHECKING:
    from collections.abc import Iterator

Work = Callable[[], object]

TAGS = np.array(["B-PER", "B-LOC", "B-ORG", "O", "O", "O"])


def noisy(gold: Any, right: float, choices: Any, rng: np.random.Generator) -> Any:
    """Return gold with some values drawn anew."""
    return np.where(rng.random(gold.shape) < right, gold, rng.choice(choices, gold.shape))


def groups_of(n: int) -> Work:
    """Compare in groups of two rows."""
    rng = np.random.default_rng(0)
    gold = rng.integers(0, 2, 2 * n)
    columns = {name: noisy(gold, p, [0, 1], rng) for name, p in (("a", 0.6), ("b", 0.7))}
    frame = pd.DataFrame({"y": gold, **columns, "group": np.repeat(np.arange(n), 2)})
    return lambda: pv.compare(frame, gold_column="y", columns=["a", "b"], group="group")


def labels_of(n: int) -> Work:
    """Compare on twice as many items as there are labels."""
    rng = np.random.default_rng(0)
    gold = rng.integers(0, n, 2 * n)
    a, b = (noisy(gold, p, n, rng) for p in (0.8, 0.82))
    return lambda: pv.compare(gold, a, b)


def runs_of(n: int) -> Work:
    """Compare two systems of n runs each on 200 sentences."""
    rng = np.random.default_rng(0)
    gold = rng.choice(TAGS, (200, 8))
    systems = {
        name: [noisy(gold, p, TAGS, rng).tolist() for _ in range(n)]
        for name, p in (("A", 0.8), ("B", 0.85))
    }
    return lambda: pv.compare(gold.tolist(), systems)


def sentences_of(n: int) -> Work:
    """Compare on n sentences of ten tags."""
    rng = np.random.default_rng(0)
    gold = rng.choice(TAGS, (n, 10))
    lists = [own.tolist() for own in (gold, *(noisy(gold, p, TAGS, rng) for p in (0.9, 0.92)))]
    return lambda: pv.compare(*lists)


def datasets() -> Work:
    """Compare on four data sets of ten sentences."""
    sets = {}
    for name in "wxyz":
        rng = np.random.default_rng(ord(name))
        gold = rng.choice(TAGS, (10, 8))
        a, b = (noisy(gold, p, TAGS, rng).tolist() for p in (0.7, 0.85))
        sets[name] = gold.tolist(), a, b
    return lambda: pv.compare_datasets(sets)


def measured() -> Iterator[Line]:
    yield within("pv.compare, five sentences", sentences_of(5), 0.015, 9)
    yield within("pv.compare_datasets, four of ten sentences", datasets(), 0.2, 9)
    yield within("pv.compare, 1,000 groups of two rows", groups_of(1000), 2.0)
    yield within("pv.compare, 10,000 labels on 20,000 items", labels_of(10_000), 2.0)
    yield within("pv.compare, 100,000 sentences in lists", sentences_of(100_000), 1.0)
    yield within("pv.compare, 100 runs of two systems", runs_of(100), 2.0)
    yield within("pv.compare, 100,000 labels on 200,000 items", labels_of(100_000), 10.0)
    yield within("pv.compare, 1,000 runs of two systems", runs_of(1000), 20.0)


def main() -> bool:
    return show("Many groups, labels, runs and sentences", measured())


if __name__ == "__main__":
    raise SystemExit(not main())
