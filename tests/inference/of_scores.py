"""Short calls of what a `Score` does for two systems or for all pairs, as tests need them."""

from __future__ import annotations

import numpy as np

from probative._validation import whole_number
from probative.counts import LabelCounts
from probative.inference.classes import ClassScore
from probative.inference.compare import Choices, compare_runs_of
from probative.inference.macro_comparison import MacroScore
from probative.inference.pooled import PooledScore
from probative.inference.sampled import LEVELS, levels_at, sampled_tests


def as_cells(counts):
    """Return counts by unit and label, from a full table, too."""
    return counts if isinstance(counts, LabelCounts) else LabelCounts.from_table(counts)


def macro_tests(pairs, metric="f1", *, levels=LEVELS, n_resamples=None, rng=None, n_jobs=1, **how):
    """Test pairs of macro averages, of counts by unit and label."""
    if n_resamples is not None:
        whole_number("n_resamples", n_resamples)
    null = how.pop("null", False)
    how = {"answered" if name == "labels" else name: value for name, value in how.items()}
    cells = [tuple(map(as_cells, pair)) for pair in pairs]
    every = [np.ones((2, first.n_labels), dtype=bool) for first, _ in cells]
    own = zip(cells, every, strict=True)
    scores = [MacroScore(pair, labels, metric, **how) for pair, labels in own]
    exchanges = [score.exchange(0, 1, keep=null) for score in scores]
    how = {"levels": levels, "n_resamples": n_resamples, "rng": rng, "n_jobs": n_jobs}
    return sampled_tests(exchanges, f"macro_{metric}", **how)


def macro_test(a, b, metric="f1", **how):
    """Test one pair of macro averages."""
    return macro_tests([(a, b)], metric, **how)[0]


def pair_tests(score, pairs, **how):
    """Test pairs of systems of a score by exchanges that they share."""
    return score.test_pairs(pairs, **how)


def macro_pair_tests(cells, pairs, metric="f1", *, labels, beta=1.0, own_labels=False, **how):
    """Test pairs of macro averages by exchanges that they share."""
    every = np.ones((len(cells), len(labels)), dtype=bool)
    score = MacroScore(tuple(cells), every, metric, beta, labels, own_labels)
    return pair_tests(score, pairs, **how)


def class_score(systems, metric="kappa"):
    """Return the score of systems with one run each, or with a list of runs."""
    runs = tuple(tuple(own) if isinstance(own, (list, tuple)) else (own,) for own in systems)
    return ClassScore(runs, metric)


def confusion_difference(a, b, metric="kappa", *, level=0.95):
    """Return the difference of two systems in a score of the whole table."""
    return class_score((a, b), metric).difference(0, 1, level)


def confusion_tests(pairs, metric="kappa", *, level=0.95, rng=None):
    """Test pairs by a score of the whole table."""
    exchanges = [class_score(pair, metric).exchange(0, 1) for pair in pairs]
    return sampled_tests(exchanges, metric, levels=levels_at(level), rng=rng)


def confusion_plan(a, b, metric="kappa", **wanted):
    """Plan from two systems by a score of the whole table."""
    return class_score((a, b), metric).plan(0, 1, **wanted)


def compare_table_runs(a, b, metric="kappa", **how):
    """Compare runs of two systems by a score of the whole table."""
    return _compare_runs(class_score((*a, *b), metric), len(a), len(b), **how)


def compare_runs(a, b, metric="f1", *, beta=1.0, **how):
    """Compare runs of two systems from their counts by unit."""
    score = PooledScore.of_counts([*a, *b], metric, beta=beta)
    return _compare_runs(score, len(a), len(b), **how)


def _compare_runs(score, n_a, n_b, *, paired_runs=False, rng=0):
    places = range(n_a), range(n_a, n_a + n_b)
    choices = Choices("unit", 0.95, 0.0, 0.8, np.random.default_rng(rng))
    return compare_runs_of(score, *places, ("A", "B"), choices, paired_runs=paired_runs)
