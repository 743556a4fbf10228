"""Exact randomisation tests against sampling ones: time, memory, and how far sampling gets."""

from __future__ import annotations

import math
import time
import tracemalloc

import numpy as np
from scipy import stats
from timing import Line, seconds, show

import probative as pv

INSTANCES = 10_000
SIZES = (1_000, 3_000, 10_000, 30_000, 100_000, 300_000, 1_000_000)


def instances(n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The answer, A and B on independent items, a fifth of them positive."""
    rng = np.random.default_rng(0)
    gold = rng.random(n) < 0.2
    a = np.where(rng.random(n) < 0.07, ~gold, gold)
    return gold, a, np.where(rng.random(n) < 0.06, ~gold, gold)


def sentences(n: int, most: int, agree: float, lift: float = 0.01) -> pv.PairedCounts:
    """0 to `most` entities per sentence; the systems answer alike in a share of `agree`."""
    rng = np.random.default_rng(n)
    gold = rng.integers(0, most + 1, n)
    same = rng.random(n) < agree
    cases = np.zeros((n, 7))
    # what A and B find and invent, each on its own unless they agree
    found_a, found_b = rng.random((2, n, most)) < np.array([0.8, 0.8 + lift])[:, None, None]
    wrong_a, wrong_b = rng.random((2, n, most)) < 0.1
    found_b[same], wrong_b[same] = found_a[same], wrong_a[same]
    there = np.arange(most) < gold[:, None]
    cases[:, 0] = (there & found_a & ~found_b).sum(axis=1)
    cases[:, 1] = (wrong_a & ~wrong_b).sum(axis=1)
    cases[:, 2] = (there & ~found_a & found_b).sum(axis=1)
    cases[:, 3] = (~wrong_a & wrong_b).sum(axis=1)
    cases[:, 4] = (there & found_a & found_b).sum(axis=1)
    cases[:, 5] = (wrong_a & wrong_b).sum(axis=1)
    cases[:, 6] = (there & ~found_a & ~found_b).sum(axis=1)
    return pv.PairedCounts(cases)


def scattered(n: int) -> pv.PairedCounts:
    """0 to 40 entities per sentence, any number of them found and as many invented; 30 % alike."""
    rng = np.random.default_rng(n)
    gold, wrong_a, wrong_b = rng.integers(0, 41, (3, n))
    right_a, right_b = rng.integers(0, gold + 1, (2, n))
    same = rng.random(n) < 0.3
    right_b[same], wrong_b[same] = right_a[same], wrong_a[same]
    right, wrong = np.minimum(right_a, right_b), np.minimum(wrong_a, wrong_b)
    only = (right_a - right, wrong_a - wrong, right_b - right, wrong_b - wrong)
    return pv.PairedCounts(
        np.stack([*only, right, wrong, gold - right_a - right_b + right], axis=1)
    )


def scipy_by_item(gold: np.ndarray, a: np.ndarray, b: np.ndarray) -> float:
    def difference(x, y, axis):
        positives = gold.sum()

        def f1(z):
            return 2 * (z & gold).sum(axis=axis) / (z.sum(axis=axis) + positives)

        return f1(y) - f1(x)

    test = stats.permutation_test(
        (a, b),
        difference,
        permutation_type="samples",
        vectorized=True,
        n_resamples=9_999,
        batch=200,
        rng=np.random.default_rng(1),
    )
    return float(test.pvalue)


def mebibytes(paired: pv.PairedCounts) -> float:
    """The most memory that a test holds at once, besides its input."""
    tracemalloc.start()
    pv.randomization_test(paired)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return peak / 2**20


def shuffles_in(limit: float, paired: pv.PairedCounts) -> int:
    """How many sampled exchanges fit into so many seconds."""
    start = time.perf_counter()
    pv.randomization_test(paired, method="sampled", n_resamples=20_000, rng=1)
    return int(20_000 * limit / (time.perf_counter() - start))


def growth() -> None:
    print("\nBy unit, time and memory (besides the input)")
    head = ("sentences", "entities", "agree", "ms", "MiB", "p-value", "shuffles", "their error")
    print("{:>9} {:>8} {:>5} {:>9} {:>7} {:>10} {:>8} {:>11}".format(*head))
    for entities, agree in (("0-4", 0.85), ("0-40", 0.3)):
        for n in SIZES:
            paired = sentences(n, 4, 0.85, 0.001) if entities == "0-4" else scattered(n)
            took = seconds(lambda paired=paired: pv.randomization_test(paired), 3)
            test = pv.randomization_test(paired)
            assert test.method == "exact"
            shuffles = shuffles_in(took, paired)
            error = math.sqrt(test.pvalue * (1 - test.pvalue) / shuffles)
            print(
                f"{n:>9,} {entities:>8} {agree:>5.0%} {1000 * took:>9.1f} "
                f"{mebibytes(paired):>7.1f} {test.pvalue:>10.3g} {shuffles:>8,} {error:>11.2g}"
            )


def main() -> bool:
    gold, a, b = instances(INSTANCES)
    items = pv.PairedCounts.from_labels(gold, a, b, positive=True)
    small, large = sentences(3_000, 4, 0.85), sentences(100_000, 4, 0.85, 0.002)
    wild = scattered(100_000)
    holds = show(
        "Exact randomisation tests; where there is no peer, its column holds the time allowed",
        [
            Line(
                "by item, 10,000 instances / scipy permutation_test, 9,999 resamples",
                seconds(lambda: pv.randomization_test(items, "f1"), 9),
                seconds(lambda: scipy_by_item(gold, a, b), 1),
                0.001,
            ),
            Line(
                "by unit, 3,000 sentences, 0-4 entities, 85 % alike / 20 ms",
                seconds(lambda: pv.randomization_test(small), 40),
                0.020,
                1.0,
            ),
            Line(
                "by unit, 100,000 sentences, 0-4 entities, 85 % alike / 1 s",
                seconds(lambda: pv.randomization_test(large), 5),
                1.0,
                1.0,
            ),
            Line(
                "by unit, 100,000 sentences, 0-40 entities, 30 % alike / 10 s",
                seconds(lambda: pv.randomization_test(wild), 3),
                10.0,
                1.0,
            ),
        ],
    )
    exact = [pv.randomization_test(paired).method for paired in (items, small, large, wild)]
    memory = mebibytes(wild)
    print(f"all exact: {set(exact) == {'exact'}}; the last one's memory: {memory:.0f} MiB of 4096")
    growth()
    return holds and set(exact) == {"exact"} and memory < 4096


if __name__ == "__main__":
    raise SystemExit(not main())
