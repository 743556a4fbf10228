"""The experiments of the Bayes test's paper: three tagging tasks and a simulated classifier.

The released fold counts of the tasks give its tables 2 to 5 and its figures. The simulation asks
whether the intervals hold the F1 that the learning algorithm reaches, in expectation, when it is
trained on half of the data.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import Generator
from scipy import special

from probative._validation import Array, Mask, open_probability
from probative.counts import Counts
from probative.data import load
from probative.errors import InputError
from probative.inference.bayes import bayes_test
from probative.inference.crossval import Weight, effective_counts
from probative.inference.posterior.single import posterior
from probative.results import BayesTest, Result
from probative_studies.harness import Report, Row, mean, quiet, share_of, two_or_more

TASKS = tuple(load("bayes_test")["tasks"])
METRICS = tuple(load("bayes_test")["metrics"])
_WEIGHTS = ("effective", "averaged")

# Blocks 1 to 4 of the data; the halves {1,2}, {1,3} and {2,3} train, their complements validate.
_HALVES = ((0, 1), (0, 2), (1, 2))
_NEWTON_STEPS = 8
_REPLICATES = 2000  # handled at once


@dataclass(frozen=True, eq=False)
class _TaskTests(Result):
    """Tests of one task, beside the published figures."""

    task: str  # the task's key and name, and the names of its two models
    name: str
    a: str
    b: str
    tests: tuple[BayesTest, ...]  # A `BayesTest` for precision, recall and F1
    # by metric: intervals of A and B in percent, P(H0) and the decision
    published: dict[str, dict[str, Any]]

    def __str__(self) -> str:
        return f"{self.name}: {self.b} against {self.a}, {len(self.tests)} Bayes tests"


def published_folds(task: str) -> tuple[list[Counts], list[Counts]]:
    """Return the fold counts of both models that were released with the paper."""
    if task not in TASKS:
        raise InputError(f"task: unknown {task!r}; expected one of {', '.join(TASKS)}")
    folds = load("bayes_test")["tasks"][task]["folds"]
    a, b = ([Counts(*fold) for fold in folds[model]] for model in "ab")
    return a, b


def task_tests(
    *, weight: Weight = "effective", level: float = 0.95, prior: float = 1.0, rope: float = 0.0
) -> list[_TaskTests]:
    """Run the Bayes tests of the three tasks.

    >>> print(task_tests()[2].tests[1])
    recall: not established, P(H0) = 0.7050, P(H1) = 0.2950; B - A = -0.0043 [-0.0200, 0.0114]
    """
    data = load("bayes_test")["tasks"]
    results = []
    for task in TASKS:
        a, b = published_folds(task)
        tests = tuple(
            bayes_test(a, b, metric, weight=weight, level=level, prior=prior, rope=rope)
            for metric in METRICS
        )
        own = data[task]
        models = own["models"]["a"], own["models"]["b"]
        results.append(_TaskTests(task, own["name"], *models, tests, own["published"]))
    return results


def simulate_credibility(
    replicates: int = 10_000,
    *,
    n: int = 600,
    level: float = 0.95,
    rng: int | None = 0,
    report: Report = quiet,
) -> list[Row]:
    """Cross-validate a logistic regression on simulated data sets, as the paper's example does.

    Two Gaussian classes with means (0, 0) and (½, ½) and unit covariance, equally frequent. Each
    data set of n items is cut into four blocks, which make the 3×2 block-regularised partition. For
    a linear rule on Gaussian classes the target, the expected F1 of a model trained on n/2 items,
    is closed-form.
    """
    level = open_probability("level", level)
    replicates = two_or_more(replicates)
    if n % 8 or n < 40:
        raise InputError(f"n: {n!r} is not a multiple of 8 from 40 on")
    results = []
    rngs = np.random.default_rng(rng).spawn(2)
    for i, positives in enumerate(("exactly half", "random")):
        counts, weights = [], []
        for start in range(0, replicates, _REPLICATES):
            report(i * replicates + start, 2 * replicates)
            size = min(_REPLICATES, replicates - start)
            x, y = _draw(rngs[i], size, n, balanced=positives == "exactly half")
            some_counts, some_weights = _cross_validate(x, y)
            counts.append(some_counts)
            weights.append(some_weights)
        target = _f1_of_expectations(np.concatenate(weights, axis=1))
        folds = [Counts(*np.concatenate(parts, axis=-1)) for parts in zip(*counts, strict=True)]
        for method in _WEIGHTS:
            density = posterior(effective_counts(folds, weight=method), "f1")
            low, high = map(np.asarray, density.interval(level))
            covered, error = share_of((low <= target) & (target <= high))
            row = Row(
                positives=positives,
                method=method,
                credibility=covered,
                credibility_error=error,
                length=mean(high - low),
                length_error=float((high - low).std(ddof=1) / np.sqrt(replicates)),
                target=target,
                n=n,
                n_replicates=replicates,
                seed=rng,
                level=level,
            )
            results.append(row)
    return results


def _draw(rng: Generator, size: int, n: int, *, balanced: bool) -> tuple[Array, Mask]:
    """Draw data sets as (replicate, block, item, coordinate), and their classes."""
    if balanced:
        y = np.broadcast_to(np.arange(n // 4) % 2 == 0, (size, 4, n // 4))
    else:
        y = rng.random((size, 4, n // 4)) < 0.5
    shift = np.array(load("bayes_test")["simulation"]["means"]["positive"])
    x = rng.standard_normal((size, 4, n // 4, 2)) + y[..., None] * shift
    return x, y


def _cross_validate(x: Array, y: Mask) -> tuple[list[Array], Array]:
    """Return the counts (tp, fp, fn) of the six folds, and the six trained rules."""
    counts, rules = [], []
    size = len(x)
    for half in _HALVES:
        other = tuple(block for block in range(4) if block not in half)
        for train, validate in ((half, other), (other, half)):
            w = _logistic_regression(
                x[:, train].reshape(size, -1, 2), y[:, train].reshape(size, -1)
            )
            decisions = _decision(x[:, validate].reshape(size, -1, 2), w) > 0
            true = y[:, validate].reshape(size, -1)
            cells = decisions & true, decisions & ~true, ~decisions & true
            counts.append(np.array([cell.sum(axis=1) for cell in cells]))
            rules.append(w)
    return counts, np.array(rules)


def _logistic_regression(x: Array, y: Mask) -> Array:
    """Fit all data sets at once by Newton's method; return (intercept, slopes)."""
    design = np.concatenate([np.ones((*x.shape[:2], 1)), x], axis=-1)
    w = np.zeros((len(x), 3))
    for _ in range(_NEWTON_STEPS):
        p = special.expit(_decision(x, w))
        gradient = np.einsum("rni,rn->ri", design, y - p)
        hessian = np.einsum("rni,rn,rnj->rij", design, p * (1 - p), design, optimize=True)
        w = w + np.linalg.solve(hessian, gradient[..., None])[..., 0]
    return w


def _decision(x: Array, w: Array) -> Array:
    return np.asarray(np.einsum("rni,ri->rn", x, w[:, 1:]) + w[:, :1])


def _outcome_probabilities(rules: Array) -> tuple[Array, Array, Array]:
    """Return the probabilities of a true positive, false positive and false negative."""
    shift = np.array(load("bayes_test")["simulation"]["means"]["positive"])
    scale = np.linalg.norm(rules[..., 1:], axis=-1)
    of_negative = special.ndtr(rules[..., 0] / scale)
    of_positive = special.ndtr((rules[..., 0] + rules[..., 1:] @ shift) / scale)
    return of_positive / 2, of_negative / 2, (1 - of_positive) / 2


def _f1_of_expectations(rules: Array) -> float:
    """Return the F1 of the expected confusion probabilities, over all rules that were trained."""
    tp, fp, fn = (p.mean() for p in _outcome_probabilities(rules))
    return float(2 * tp / (2 * tp + fp + fn))
