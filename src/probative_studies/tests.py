"""Size and power of tests, and coverage of intervals, for two systems on clustered items.

A sentence has 1 + Poisson items. With probability sqrt(r) an item copies the case that the
sentence as a whole was dealt, and is dealt a case of its own otherwise: any two items of a
sentence then have correlation r in whatever is computed from their cases. The share of cases is
chosen so that the true difference of the F1 scores is known. At a difference of 0 the systems are
exchangeable, and every rejection is a mistake.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.random import Generator
from scipy import special

from probative._validation import RNG, Array, one_of, positive, random_generator, whole_number
from probative.counts import PairedCounts
from probative.errors import InputError
from probative.inference.differences import bootstrap_difference, difference
from probative.inference.exchange import randomization_test
from probative.inference.pooled import PooledScore
from probative.inference.units import Dependence, dependence_of_difference, student_quantile
from probative.jobs.demo import shared_task
from probative.reporting.document import Document, Table, payload
from probative.reporting.pictures import COLOURS, new_figure
from probative.wording.numbers import number
from probative_studies.coverage import add_legend
from probative_studies.harness import Report, Row, as_given, mean, quiet, share_of, study

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_Limits = tuple[float, float]

# Shares of the cases where the systems are equally good: A alone right, A alone wrong, the same
# for B, both right, both wrong, both miss. F1 is 0.84.
_CASES = np.array([0.06, 0.06, 0.06, 0.06, 0.62, 0.06, 0.08])

_MOST_ITEMS = 10_000  # a sentence


@dataclass(frozen=True)
class _TestSet:
    """A drawn test set and how it is to be judged."""

    paired: PairedCounts
    level: float
    n_resamples: int
    rng: Generator

    def mover(self, paired: PairedCounts) -> _Limits:
        limits = difference(paired, "f1", level=self.level)
        return limits.low, limits.high

    def bootstrap(self, method: str) -> _Limits:
        how: dict[str, Any] = {"n_resamples": self.n_resamples, "rng": self.rng}
        limits = bootstrap_difference(self.paired, "f1", method=method, level=self.level, **how)
        return limits.low, limits.high

    def posterior(self, dependence: Dependence | None = None) -> _Limits:
        """Return limits of the paired posterior from draws, which are faster than nodes."""
        divisor, tail = 1.0, (1 - self.level) / 2
        if dependence:
            divisor = dependence.divisor
            tail = float(special.ndtr(-student_quantile(self.level, dependence.tail_freedom)))
        cells = self.paired.total().cases[:7] / divisor + 0.5
        drawn = drawn_differences(self.rng, cells, self.n_resamples)
        low, high = np.quantile(drawn, [tail, 1 - tail])
        return float(low), float(high)


def drawn_differences(rng: Generator, cells: Array, number: int) -> Array:
    """Draw F1 of B minus F1 of A, where the seven cases have a Dirichlet posterior."""
    g = rng.standard_gamma(cells, (number, 7))
    positives = g[:, [0, 2, 4, 6]].sum(axis=1)
    f1_a = 2 * g[:, [0, 4]].sum(axis=1) / (g[:, [0, 1, 4, 5]].sum(axis=1) + positives)
    f1_b = 2 * g[:, [2, 4]].sum(axis=1) / (g[:, [2, 3, 4, 5]].sum(axis=1) + positives)
    return np.asarray(f1_b - f1_a)


_TESTS: dict[str, Callable[[_TestSet], float]] = {
    "item-test": lambda drawn: randomization_test(drawn.paired, "f1", by="item").pvalue,
    "unit-test": lambda drawn: randomization_test(drawn.paired, "f1", by="unit").pvalue,
}
_INTERVALS: dict[str, Callable[[_TestSet], _Limits]] = {
    "bootstrap": lambda drawn: drawn.bootstrap("percentile"),
    "bootstrap-bca": lambda drawn: drawn.bootstrap("bca"),
    "mover": lambda drawn: drawn.mover(drawn.paired),
    "mover-items": lambda drawn: drawn.mover(drawn.paired.total()),
    "bayes": lambda drawn: drawn.posterior(dependence_of_difference(drawn.paired, "f1")),
    "bayes-items": lambda drawn: drawn.posterior(),
}
METHODS = (*_TESTS, *_INTERVALS)
USUAL = tuple(method for method in METHODS if method != "bootstrap-bca")


def _judge(method: str, drawn: _TestSet) -> tuple[bool, _Limits | None]:
    """Return whether a method finds a difference, and its interval if it has one."""
    if method in _TESTS:
        return _TESTS[method](drawn) <= 1 - drawn.level, None
    low, high = _INTERVALS[method](drawn)
    return not low <= 0 <= high, (low, high)


def _clustered(
    correlations: Sequence[float] = (0.0, 0.1, 0.2, 0.4, 0.6),
    differences: Sequence[float] = (0.0, 0.03),
    methods: Sequence[str] = USUAL,
    *,
    units: int = 200,
    items: float = 5.0,
    n_resamples: int = 2000,
) -> list[tuple[Any, ...]]:
    for method in methods:
        one_of("methods", method, METHODS)
    units = whole_number("units", units)
    n_resamples = whole_number("n_resamples", n_resamples)
    if positive("items", items) < 1:
        raise InputError(f"items: {items!r} is less than 1 per sentence")
    if items > _MOST_ITEMS:
        raise InputError(
            f"items: {items!r} per sentence are too many; expected at most {_MOST_ITEMS}"
        )
    for r in correlations:
        if positive("correlations", r, zero=True) >= 1:
            raise InputError(f"correlations: {r!r} is not in [0, 1)")
    how = methods, units, items, n_resamples
    return [(float(r), d, case_probabilities(d), *how) for r in correlations for d in differences]


@study(_clustered, as_given)
def size_and_power(
    case: tuple[Any, ...], level: float, replicates: int, rng: int, report: Report
) -> Iterator[Row]:
    """Simulate how often tests reject and how often intervals cover, on clustered items.

    >>> item, unit = size_and_power([0.5], [0.0], ["item-test", "unit-test"], replicates=100)
    >>> item.rejection > 0.2, unit.rejection < 0.1
    (True, True)
    """
    r, d, shares, methods, units, items, n_resamples = case
    seed = whole_number("rng", rng, least=0)
    outcomes: dict[str, list[tuple[bool, Any]]] = {method: [] for method in methods}
    for replicate in range(replicates):
        report(replicate, replicates)
        # a stream of its own for every test set: neither order nor company matters
        generator = np.random.default_rng([seed, replicate, *_words(r), *_words(d)])
        paired = clustered_cases(generator, units, r, items=items, shares=shares)
        drawn = _TestSet(paired, level, n_resamples, generator)
        for method in methods:
            outcomes[method].append(_judge(method, drawn))
    about = {"level": level, "correlation": r, "difference": float(d), "units": units}
    for method, own in outcomes.items():
        found = _characteristics(own, d)
        yield Row(method=method, **about, replicates=replicates, **found)


def case_probabilities(true_difference: float) -> Array:
    """Return the shares of cases 0 to 6 for which F1 of B minus F1 of A is this."""
    # Moving a share s from case 0 to case 2 gives B what it takes from A: with X true positives and
    # Y predicted and positive ones, 2(X+s)/(Y+s) - 2(X-s)/(Y-s) = 4s(Y-X)/(Y²-s²).
    x = _CASES[0] + _CASES[4]
    y = x + _CASES[1] + _CASES[5] + _CASES[[0, 2, 4, 6]].sum()
    d = float(true_difference)
    slope = 4 * (y - x)
    shift = 2 * d * y**2 / (slope + math.hypot(slope, 2 * d * y))
    if not abs(shift) <= _CASES[0]:
        raise InputError(f"differences: {true_difference!r} is too large for this study")
    shares = _CASES.copy()
    shares[0] -= shift
    shares[2] += shift
    return shares


def clustered_cases(
    rng: Generator, units: int, correlation: float, *, items: float = 5.0, shares: Array = _CASES
) -> PairedCounts:
    """Draw a test set of sentences whose items are correlated."""
    sizes = 1 + rng.poisson(items - 1, units)
    unit = np.repeat(np.arange(units), sizes)
    own, dealt = (rng.choice(7, size, p=shares / shares.sum()) for size in (len(unit), units))
    copies = rng.random(len(unit)) < math.sqrt(correlation)
    case = np.where(copies, dealt[unit], own)
    return PairedCounts(np.bincount(unit * 7 + case, minlength=units * 7).reshape(units, 7))


def _words(value: float) -> list[int]:
    """Return a number as whole numbers that a seed can be made of."""
    top, bottom = abs(value).as_integer_ratio()
    return [top, bottom, int(value < 0)]


def _characteristics(outcomes: Sequence[tuple[bool, Any]], truth: float) -> dict[str, float]:
    """Return rejections and their error; of intervals also coverage, its error and the length."""
    rejection, error = share_of([rejected for rejected, _ in outcomes])
    found = {"rejection": rejection, "rejection_error": error}
    if outcomes[0][1] is not None:
        limits = [pair for _, pair in outcomes]
        coverage, error = share_of([low <= truth <= high for low, high in limits])
        length = mean([high - low for low, high in limits])
        found |= {"coverage": coverage, "coverage_error": error, "length": length}
    return found


# --- Does a planned sample size give the power that was asked for?
#
# New test sets are drawn from a pilot's units with replacement, as many as the plan says, and the
# exact randomisation test is run on each. The share of significant ones is the power.


def power_check(
    paired: PairedCounts,
    pilot: str,
    *,
    power: float = 0.8,
    level: float = 0.95,
    replicates: int = 1000,
    rng: RNG | None = 0,
    report: Report = quiet,
) -> Row:
    """Plan from a pilot, and see how often the exact test by unit finds the difference."""
    generator = random_generator(rng)
    whole_number("replicates", replicates)
    wanted = PooledScore.of_cases(paired).plan(0, 1, power=power, level=level)
    grouped = paired.grouped()
    number = np.asarray(grouped.multiplicity)
    share = number / number.sum()
    rows = grouped.cases if grouped.has_negatives else grouped.cases[:, :7]
    units = wanted.units or 0
    rejected = []
    for done in range(replicates):
        report(done, replicates)
        drawn = generator.multinomial(units, share)
        sample = PairedCounts(rows[drawn > 0], drawn[drawn > 0])
        rejected.append(randomization_test(sample, "f1", by="unit").pvalue <= 1 - level)
    simulated, error = share_of(rejected)
    values: dict[str, Any] = {"pilot": pilot, "difference": wanted.difference or 0.0}
    values |= {"units": units, "planned": power, "simulated": simulated, "standard_error": error}
    values |= {"replicates": replicates}
    return Row(**values)


def _pilots(powers: Sequence[float] = (0.5, 0.8, 0.9)) -> Iterator[tuple[PairedCounts, str, float]]:
    task = shared_task()
    best = task.names.index("uh_ritual")
    others = [k for k in range(len(task.names)) if k != best]
    pilots = {f"{task.names[k]}, uh_ritual": task.items.paired(k, best) for k in others}
    name = task.names[others[-1]]
    # every item a unit of its own
    number = pilots[f"{name}, uh_ritual"].total().cases[:7]
    alone = PairedCounts(np.eye(7)[number > 0], number[number > 0])
    pilots[f"{name}, uh_ritual, by item"] = alone
    pilots["made-up pilot of 400 sentences"] = _invent_pilot()
    for (name, pilot), power in product(pilots.items(), powers):
        yield pilot, name, power


@study(_pilots, as_given)
def planning_study(
    case: tuple[Any, ...], level: float, replicates: int, rng: RNG | None, report: Report
) -> Iterator[Row]:
    """Check plans from pilots: the best of the WNUT 2017 shared task against the six others."""
    *pilot, power = case
    how: dict[str, Any] = {"level": level, "replicates": replicates, "rng": rng, "report": report}
    yield power_check(*pilot, power=power, **how)


def _invent_pilot() -> PairedCounts:
    """Make a pilot: one to six entities per sentence, easy and hard ones, B a bit better."""
    rng = np.random.default_rng(7)
    entities = rng.integers(1, 7, 400)
    ease = rng.beta(4, 2, 400)  # what a sentence does to both systems
    rows = np.zeros((400, 7))
    for row, n, p in zip(rows, entities, ease, strict=True):
        found_a, found_b = rng.random((2, n)) < np.array([[p], [min(1.0, p + 0.03)]])
        spurious = rng.poisson(0.15, 3)
        found = found_a & ~found_b, found_b & ~found_a, found_a & found_b, ~found_a & ~found_b
        row[[0, 2, 4, 6]] = [np.sum(which) for which in found]
        row[[1, 3, 5]] = spurious
    return PairedCounts(rows)


# --- The study of size and power as a document, and its figure.


def tests_document(study: Sequence[Any], *, signature: str) -> Document:
    """Show how often each method rejects and covers, with standard errors."""
    records = [result.to_dict() for result in study]
    level = study[0].level
    tables = [_table(study, "rejection", f"Share of rejections at {1 - level:.4g}")]
    if any(hasattr(result, "coverage") for result in study):
        tables += [
            _table(study, "coverage", f"Coverage of {level:.4g} intervals of the difference"),
            _table(study, "length", "Mean length of these intervals"),
        ]
    note = (
        f"{study[0].replicates:,} simulated test sets of {study[0].units:,} sentences per line; "
        "the number after ± is a standard error. Where the difference is 0, a rejection is a "
        "mistake."
    )
    content = payload("study tests", signature, conditions=records)
    title = "Size and power of tests on clustered items"
    return Document(title, content, tuple(tables), tuple(records), notes=(note,))


def _table(study: Sequence[Any], quantity: str, title: str) -> Table:
    kept = [result for result in study if hasattr(result, quantity)]
    methods = list(dict.fromkeys(result.method for result in kept))
    lines: dict[tuple[float, float], list[str]] = {}
    for result in kept:
        error = getattr(result, f"{quantity}_error", None)
        cell = number(getattr(result, quantity), 4 if error is None else 3)
        cell += "" if error is None else f" ± {number(error, 3)}"
        lines.setdefault((result.difference, result.correlation), []).append(cell)
    heads = ("difference", "correlation", *methods)
    rows = tuple((f"{d:g}", f"{r:g}", *cells) for (d, r), cells in sorted(lines.items()))
    return Table(heads, rows, title=title, text_columns=0)


def tests_figure(study: Sequence[Any]) -> Figure:
    """Draw rejections against the correlation, one panel per difference; and coverage."""
    differences = sorted({result.difference for result in study})
    covering = any(hasattr(result, "coverage") for result in study)
    figure, axes = new_figure(len(differences) + covering, squeeze=False, width=3.8)
    level = study[0].level
    for axis, gap in zip(axes[0], differences, strict=False):
        chosen = [result for result in study if result.difference == gap]
        _lines(axis, chosen, "rejection")
        axis.set_ylim(0, None if gap == 0 else 1)
        if gap == 0:
            axis.axhline(1 - level, color="0.4", linewidth=1, linestyle=(0, (4, 3)))
            axis.set_title("no gap: mistakes", fontsize=10)
        else:
            axis.set_title(f"true gap {gap:g}: power", fontsize=10)
        axis.set_ylabel("share of rejections")
    if covering:
        axis = axes[0][-1]
        chosen = [r for r in study if r.difference == differences[-1] and hasattr(r, "coverage")]
        _lines(axis, chosen, "coverage", first=len({r.method for r in study if r.method in _TESTS}))
        axis.axhline(level, color="0.4", linewidth=1, linestyle=(0, (4, 3)))
        axis.set_ylim(top=min(axis.get_ylim()[1], 1.01))  # nothing covers more often than always
        axis.set_title(f"true gap {differences[-1]:g}: coverage", fontsize=10)
        axis.set_ylabel(f"coverage of {level:g} intervals")
    add_legend(figure, axes[0][0])
    return figure


def _lines(axis: Axes, results: Sequence[Any], quantity: str, first: int = 0) -> None:
    """Draw one line per method over the correlation, with bars of two standard errors."""
    methods = list(dict.fromkeys(result.method for result in results))
    styles = list(zip(COLOURS, "osD^vPX", strict=True))[first:]
    for place, ((colour, marker), method) in enumerate(zip(styles, methods, strict=False)):
        # methods that agree would hide each other
        aside = 0.008 * (place - (len(methods) - 1) / 2)
        points = sorted((r for r in results if r.method == method), key=lambda r: r.correlation)
        style: dict[str, Any] = {"color": colour, "marker": marker, "markersize": 4.5}
        axis.errorbar(
            [r.correlation + aside for r in points],
            [getattr(r, quantity) for r in points],
            yerr=[2 * getattr(r, f"{quantity}_error") for r in points],
            **style | {"linewidth": 1.2, "elinewidth": 0.8, "label": method},
        )
    axis.set_xlabel("correlation within a sentence")
