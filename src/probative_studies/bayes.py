"""The experiments of the Bayes test's paper: three tagging tasks and a simulated classifier.

The released fold counts of the tasks give its tables 2 to 5 and its figures. The simulation asks
whether the intervals hold the F1 that the learning algorithm reaches, in expectation, when it is
trained on half of the data.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from numpy.random import Generator
from scipy import special

from probative._validation import RNG, Array, Mask, one_of, positive, random_generator
from probative.counts import Counts, PairedCounts
from probative.crossval.splitter import first_halves
from probative.data import load
from probative.errors import InputError
from probative.inference.bayes import bayes_test
from probative.inference.crossval import (
    Weight,
    effective_counts,
    fold_dependence,
    fold_design_effect,
    fold_weight,
    item_variance,
)
from probative.inference.posterior.independent import IndependentPosterior
from probative.inference.posterior.paired import PairedPosterior
from probative.inference.posterior.single import posterior
from probative.metrics import PRF, score
from probative.reporting.bayes_report import flat
from probative.reporting.document import Column, Document, Table, Words, payload
from probative.results import BayesTest, Result
from probative.wording.numbers import number
from probative_studies.harness import Report, Row, as_given, checked, mean, quiet, share_of, study

TASKS = tuple(load("bayes_test")["tasks"])
_METRICS = tuple(load("bayes_test")["metrics"])
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
            for metric in _METRICS
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
    """Cross-validate a logistic regression on simulated data sets, as the paper's example does."""
    # Two Gaussian classes with means (0, 0) and (½, ½) and unit covariance, equally frequent. The
    # four blocks of a data set make the 3×2 block-regularised partition. The target, the expected
    # F1 of a model trained on n/2 items, has a closed form.
    level, replicates = checked(level, replicates, 2)
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
        rules = np.concatenate(weights, axis=1)
        tp, fp, fn = (p.mean() for p in _outcome_probabilities(rules))
        target = float(2 * tp / (2 * tp + fp + fn))
        folds = [Counts(*np.concatenate(parts, axis=-1)) for parts in zip(*counts, strict=True)]
        for method in _WEIGHTS:
            density = posterior(effective_counts(folds, weight=method), "f1")
            low, high = map(np.asarray, density.interval(level))
            covered, error = share_of((low <= target) & (target <= high))
            results.append(
                Row(
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
            )
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


# --- The document


def study_document(
    tasks: Sequence[_TaskTests],
    simulation: Sequence[Any],
    published_simulation: dict[str, Any],
    *,
    signature: str,
) -> Document:
    """Build the document of three tasks beside published figures, and a simulation."""
    tables = [_intervals_table(tasks)]
    tables += [_decisions_table(task, 3 + i) for i, task in enumerate(tasks)]
    note = (
        "'pub.' is the figure of Wang and Li's tables 2 to 5. Their P(H0) are estimates from one "
        "million draws, rounded to three decimals, and two of them stand for 'about zero'; ours "
        "are integrals, exact to ten digits."
    )
    notes = [note]
    shown: list[dict[str, Any]] = [task.to_dict() for task in tasks]
    for entry in shown:
        del entry["published"]
    content: dict[str, Any] = {"tasks": shown}
    records = [
        {"task": task.task, "a": task.a, "b": task.b, **flat(test.to_dict())}
        for task in tasks
        for test in task.tests
    ]
    if simulation:
        tables.append(_simulation_table(simulation, published_simulation))
        content["simulation"] = [result.to_dict() for result in simulation]
        notes.append(
            "The two published lengths do not go together: they must be about sqrt(6 w(3)) = 1.49 "
            "apart, and 0.085 goes with 0.127. The published credibility lies between ours with "
            "exactly half positives and with random class counts; the derivation supposes a fixed "
            "number of positives in every half."
        )
    return Document(
        title="The Bayes test: published tables, recomputed",
        payload=payload("study bayes", signature, **content),
        tables=tuple(tables),
        records=tuple(records),
        notes=tuple(notes),
    )


def _intervals_table(tasks: Sequence[_TaskTests]) -> Table:
    return Table.of(
        [_Tested(task, test) for task in tasks for test in task.tests],
        Words("task", "task.task"),
        Words("metric", "test.metric"),
        Column("model A", lambda one: _in_percent(100 * x for x in one.test.interval_a)),
        Column("pub.", lambda one: _in_percent(one.published["a"])),
        Column("model B", lambda one: _in_percent(100 * x for x in one.test.interval_b)),
        Column("pub.", lambda one: _in_percent(one.published["b"])),
        title=f"Table 2: {100 * tasks[0].tests[0].level:g} % intervals in percent",
    )


class _Tested(NamedTuple):
    """Test of a task, with its published figures."""

    task: _TaskTests
    test: BayesTest

    @property
    def published(self) -> dict[str, Any]:
        return self.task.published[self.test.metric]


def _decisions_table(task: _TaskTests, table: int) -> Table:
    six = partial(number, digits=6)
    return Table.of(
        [_Tested(task, test) for test in task.tests],
        Words("metric", "test.metric"),
        Column("P(H0)", "test.p_h0", six),
        Column("pub.", lambda one: number(one.published["p_h0"])),
        Column("P(H1)", "test.p_h1", six),
        Column("pub.", lambda one: number(1 - one.published["p_h0"])),
        Column("decision", "test.decision"),
        Column("pub.", lambda one: one.published["decision"]),
        title=f"Table {table}: {task.name}, {task.a} against {task.b}",
    )


def _simulation_table(simulation: Sequence[Any], published: dict[str, Any]) -> Table:
    first, four = simulation[0], partial(number, digits=4)
    return Table.of(
        simulation,
        Words("positives"),
        Words("counts", "method"),
        Column("credibility", form=four),
        Column("s.e.", "credibility_error", four),
        Column("pub.", lambda one: number(published[one.method]["credibility"])),
        Column("length", form=four),
        Column("s.e.", "length_error", partial(number, digits=5)),
        Column("pub.", lambda one: four(published[one.method]["length"])),
        title=(
            f"Simulation: logistic regression, n = {first.n}, {first.n_replicates:,} data sets, "
            f"{100 * first.level:g} % intervals of F1"
        ),
    )


def _in_percent(limits: Any) -> str:
    low, high = limits
    return f"[{number(low, 2)}, {number(high, 2)}]"


# --- Does the interval of a difference cover, and what does knowing the pairs gain?
#
# Test sets are drawn from a population of the eight cases, on which the two systems agree as two
# systems of a kind do. The interval is computed from the paired posterior and from two independent
# ones; it covers where the true difference lies between its limits.

# Shares of the cases 0 to 7: F1 of about 0.88 for both, and nine items in ten treated alike.
CASES = (0.02, 0.02, 0.03, 0.02, 0.40, 0.05, 0.06, 0.40)
_WITH_LENGTHS = 40  # data sets whose limits are computed, not only whether they cover


def _sizes(sizes: Sequence[int] = (200, 1000, 5000), metrics: Sequence[str] = PRF) -> Any:
    return product(sizes, [metrics])


@study(_sizes, least=2)
def pairing_study(
    case: tuple[int, Sequence[str]], level: float, replicates: int, rng: Generator
) -> Iterator[Row]:
    """Simulate the coverage of paired and independent intervals of a difference."""
    size, metrics = case
    truth = PairedCounts(CASES)
    tables = [PairedCounts(cases) for cases in rng.multinomial(size, CASES, replicates)]
    for metric, kind in product(metrics, ("paired", "independent")):
        true = score(truth.b, metric) - score(truth.a, metric)
        below: list[float] = []
        lengths: list[float] = []
        for table in tables:  # one after the other: each holds a megabyte of nodes
            difference = (
                PairedPosterior(table, metric)
                if kind == "paired"
                else IndependentPosterior(posterior(table.a, metric), posterior(table.b, metric))
            )
            below.append(difference.cdf(true))
            if len(lengths) < _WITH_LENGTHS:
                low, high = difference.interval(level)
                lengths.append(high - low)
        covered, error = share_of(np.abs(np.array(below) - 0.5) <= level / 2)
        values: dict[str, Any] = {"items": int(size), "metric": metric, "posterior": kind}
        values |= {"coverage": covered, "standard_error": error, "length": mean(lengths)}
        values |= {"difference": float(true), "replicates": replicates, "level": level}
        yield Row(**values)


# --- How often is one of two learners called better that are equally good?
#
# Two copies of a learner see the same items, each through features of its own, which tell as much
# about the class; or through the same features, each trained on a random half of the training
# items. Neither is better. Both are cross-validated on many data sets, and the paired Bayes test
# judges each, as published and with training variance allowed for. With a gain, B's features tell
# more, and being called better is right.

_Learner = Callable[[Array, Mask, Array], Mask]

_COPIES = ("own", "subsampled")
_REPETITIONS = 3
_FEATURES = 2  # of each learner
_AT_ONCE = 100  # data sets


def _trained(
    learners: Sequence[str] = ("stump", "neighbour", "centroid"),
    gains: Sequence[float] = (0.0, 0.25),
    *,
    distance: float = 0.5,
    copies: str = "own",
    items: int = 400,
) -> Iterator[tuple[Any, ...]]:
    for learner in learners:
        one_of("learners", learner, tuple(LEARNERS))
    one_of("copies", copies, _COPIES)
    distance = positive("distance", distance, zero=True)
    if copies == "subsampled" and any(gains):
        raise InputError(f"gains: {tuple(gains)!r} with subsampled copies; expected 0 alone")
    if items != int(items) or items % 8 or items < 40:
        raise InputError(f"items: {items!r} is not a multiple of 8 from 40 on")
    for gain, learner in product(gains, learners):
        yield learner, gain, distance, copies, items


@study(_trained, as_given, least=2)
def training_study(
    case: tuple[Any, ...], level: float, replicates: int, rng: RNG | None, report: Report
) -> Iterator[Row]:
    """Simulate how often the cross-validated test calls a learner better.

    >>> results = training_study(["centroid"], [0.0], items=80, replicates=20)
    >>> [result.metric for result in results]
    ['precision', 'recall', 'f1']
    """
    learner, gain, distance, copies, items = case
    generator = random_generator(rng)
    outcomes: dict[str, list[tuple[float, float, float]]] = {metric: [] for metric in PRF}
    for done in range(0, replicates, _AT_ONCE):
        report(done, replicates)
        size = min(_AT_ONCE, replicates - done)
        data = _draw_sets(generator, size, items, (distance, distance + gain))
        subsample = generator if copies == "subsampled" else None
        for folds in _paired_folds(LEARNERS[learner], *data, subsample):
            for metric in PRF:
                outcomes[metric].append(_judge(folds, metric))
    for metric, found in outcomes.items():
        published, adjusted, effect = np.array(found).T
        first, second = (share_of(tail < (1 - level) / 2) for tail in (published, adjusted))
        known = effect[np.isfinite(effect)]
        values: dict[str, Any] = {"learner": learner, "metric": metric, "items": items}
        values |= {"gain": gain, "distance": distance, "copies": copies, "published": first[0]}
        values |= {"published_error": first[1], "adjusted": second[0]}
        values |= {"adjusted_error": second[1], "effect": float(np.median(known))}
        values |= {"notable": mean(known > 2), "replicates": replicates, "level": level}
        yield Row(**values)


def _judge(folds: list[PairedCounts], metric: str) -> tuple[float, float, float]:
    """Return the smaller of P(A better) and P(B better), published and adjusted, and the effect."""
    # by the normal approximation of the paired posterior, since there are thousands of them
    effect = float(fold_design_effect(folds, metric=metric))
    dependence = fold_dependence(effect, len(folds) // 2)
    total = sum(folds[1:], start=folds[0]) * fold_weight(len(folds) // 2)
    published = float(special.ndtr(-_standardise(total, metric)))
    z = _standardise(total / dependence.divisor, metric)
    return published, float(special.stdtr(dependence.degrees_of_freedom, -z)), effect


def _standardise(table: PairedCounts, metric: str) -> float:
    """Return the size of the difference in standard deviations of its posterior (prior 1)."""
    cells = PairedCounts(table.cases + 0.5)
    size = abs(score(cells.b, metric) - score(cells.a, metric))
    return float(size / np.sqrt(item_variance(cells, metric, 1.0)))


def _draw_sets(
    rng: Generator, size: int, items: int, distances: tuple[float, float]
) -> tuple[Array, Mask]:
    """Draw data sets as (data set, block, item, feature), A's features first, and their classes."""
    y = np.broadcast_to(np.arange(items // 4) % 2 == 0, (size, 4, items // 4))
    shift = np.repeat(distances, _FEATURES)
    return rng.standard_normal((*y.shape, 2 * _FEATURES)) + y[..., None] * shift, y


def _paired_folds(
    learn: _Learner, x: Array, y: Mask, subsample: Generator | None = None
) -> Iterator[list[PairedCounts]]:
    """Yield the six folds of both learners, for one data set after the other."""
    first, second = slice(None, _FEATURES), slice(_FEATURES, None)
    features = (first, second if subsample is None else first)
    cases = []
    for half in first_halves(_REPETITIONS).astype(bool):
        for train, validate in ((half, ~half), (~half, half)):
            seen, known = _join(x, train), _join(y, train)
            new, true = _join(x, validate), _join(y, validate)
            a, b = (
                learn(*_training_items(seen[..., own], known, subsample), new[..., own])
                for own in features
            )
            cases.append(_cases(a, b, true))
    for folds in np.stack(cases, axis=1):
        yield [PairedCounts(row) for row in folds]


def _training_items(x: Array, y: Mask, subsample: Generator | None) -> tuple[Array, Mask]:
    """Return all items, or a random half of them."""
    if subsample is None:
        return x, y
    half = subsample.random(y.shape).argsort(axis=1)[:, : y.shape[1] // 2]
    return np.take_along_axis(x, half[..., None], axis=1), np.take_along_axis(y, half, axis=1)


def _join(values: Any, blocks: Mask) -> Any:
    """Return the items of some blocks in a row."""
    chosen = values[:, blocks]
    return chosen.reshape(len(chosen), -1, *chosen.shape[3:])


def _cases(a: Mask, b: Mask, answer: Mask) -> Array:
    """Return the eight cases of every data set."""
    says = [a & ~b, ~a & b, a & b, ~a & ~b]
    columns = [(yes & right).sum(axis=1) for yes in says for right in (answer, ~answer)]
    return np.stack(columns, axis=-1).astype(np.float64)


def _stump(x: Array, y: Mask, new: Array) -> Mask:
    """Split at the feature and threshold that put most training items on their side."""
    order = np.argsort(x, axis=1)
    values = np.take_along_axis(x, order, axis=1)
    positive = np.take_along_axis(np.broadcast_to(y[..., None], x.shape), order, axis=1)
    below = np.cumsum(np.where(positive, -1, 1), axis=1)  # negatives less positives
    every = np.arange(len(x))
    place, feature = np.divmod(below[:, :-1].reshape(len(x), -1).argmax(axis=1), x.shape[-1])
    threshold = (values[every, place, feature] + values[every, place + 1, feature]) / 2
    return np.asarray(new[every, :, feature] > threshold[:, None])


def _neighbour(x: Array, y: Mask, new: Array) -> Mask:
    """Predict the class of the nearest training item."""
    answers = np.empty(new.shape[:2], dtype=bool)
    for i, (seen, known, questions) in enumerate(zip(x, y, new, strict=True)):
        distance = np.sum(seen**2, axis=1) - 2 * questions @ seen.T  # but for a constant
        answers[i] = known[distance.argmin(axis=1)]
    return answers


def _centroid(x: Array, y: Mask, new: Array) -> Mask:
    """Predict the class whose mean is nearer."""
    of_class = [
        np.sum(x * chosen[..., None], axis=1) / chosen.sum(axis=1)[:, None] for chosen in (y, ~y)
    ]
    direction, middle = of_class[0] - of_class[1], (of_class[0] + of_class[1]) / 2
    return np.asarray(np.einsum("rnf,rf->rn", new - middle[:, None], direction) > 0)


LEARNERS: dict[str, _Learner] = {"stump": _stump, "neighbour": _neighbour, "centroid": _centroid}
