"""Do the limits for training procedures hold? By simulation, beside limits that ignore seeds.

A unit has up to five items to be found and up to five that should be left alone. Whether a run
gets an item right depends on a sum of normal variables: how hard the unit and the item are for
both systems, and for one of them; what this run makes of the unit and of the item; and how good
the run turned out, which its seed decides. Every item is as often right as any other, so a run's
true F1 is its share of right items, and the mean over seeds is known exactly.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from scipy import special

from probative._validation import Array, fraction, one_of, positive, whole_number
from probative.counts import Counts
from probative.inference.differences import difference
from probative.inference.intervals import interval
from probative.inference.pooled import overlap
from probative.inference.runs import Runs, Spread, add_squares, score_repeats
from probative.inference.units import student_quantile
from probative_studies.harness import Row, mean, share_error, share_of, streams, study

_SEEDS = ("alike", "paired", "one", "failing")
_ITEMS = 5  # of either kind in a unit, at most
# variances: of unit and item for both systems, for one of them, and for one run of one of them
_SHARED, _OWN, _OF_RUN = (0.5, 0.5), (0.15, 0.15), (0.1, 0.2)
_VARIANCE = sum((*_SHARED, *_OWN, *_OF_RUN))
_FAILING = 0.1  # the share of failing runs
_AT_ONCE = 60_000  # items drawn at once
_BLOCK = 200  # test sets in memory at once


@dataclass(frozen=True)
class Population:
    """Population of test sets and runs; both procedures are equally good."""

    f1: float = 0.75  # the mean true score of the runs of either
    units: int = 200  # in a test set
    ratio: float = 1.0  # of a run's variance to that of a difference from test set to test set
    # "alike", the scores of runs spread alike around both; "paired", two runs of a pair share half
    # of that; "one", only those of B spread; "failing", one run in ten fails, the others are alike
    seeds: str = "alike"

    def deviations(self) -> tuple[float, float]:
        """Return how far seeds move the ability of A and of B."""
        if not self.ratio > 0:
            return 0.0, 0.0
        score = math.sqrt(self.ratio * _variance_of_a_unit(self.f1) / self.units)
        slope = math.exp(-(special.ndtri(self.f1) ** 2) / 2) / math.sqrt(2 * math.pi * _VARIANCE)
        return (0.0 if self.seeds == "one" else score / slope), score / slope

    def ability(self, deviation: float) -> float:
        """Return the ability of a mean run for which the mean score is F1."""
        if self.seeds != "failing":
            return float(special.ndtri(self.f1)) * math.sqrt(_VARIANCE + deviation**2)
        low, high = -50.0, 50.0  # two kinds of runs: no closed form, but a rising one
        good, bad = _failing_seeds()
        for _ in range(100):
            middle = (low + high) / 2
            score = sum(
                share * special.ndtr((middle + deviation * seed) / math.sqrt(_VARIANCE))
                for share, seed in ((1 - _FAILING, good), (_FAILING, bad))
            )
            low, high = (middle, high) if score < self.f1 else (low, middle)
        return middle


def _failing_seeds() -> tuple[float, float]:
    """Return the ability that the seed gives a good and a failing run: mean 0, variance 1."""
    odds = math.sqrt(_FAILING / (1 - _FAILING))
    return odds, -1 / odds


@cache
def _variance_of_a_unit(f1: float) -> float:
    """Return the variance of the difference of two runs between test sets, times the units."""
    rng = np.random.default_rng(1)
    population = Population(f1, 20_000, 0.0)
    a, b = next(_draws(rng, population, 1, 1))
    return float(population.units * Spread.of(a.runs(), b.runs()).by_unit[0])


class _Drawn(NamedTuple):
    """Counts of one system (test sets by runs by units), and gold items by unit."""

    tp: Array
    fp: Array
    positives: Array

    def first(self, number: int) -> _Drawn:
        """Return only so many runs."""
        return self._replace(tp=self.tp[:, :number], fp=self.fp[:, :number])

    def last(self) -> Runs:
        """Return the last run alone."""
        return self._replace(tp=self.tp[:, -1:], fp=self.fp[:, -1:]).runs()

    def runs(self) -> Runs:
        """Return the runs with their F1."""
        return Runs.of(2 * self.tp, self.tp + self.fp + self.positives[:, None])

    def pooled(self, others: int, test_set: int) -> Counts:
        """Return the sums over runs on one test set, scaled to as many runs of the other."""
        number = self.tp.shape[1]
        factor = others // math.gcd(others, number)
        tp, fp = (factor * cell[test_set].sum(axis=0) for cell in (self.tp, self.fp))
        return Counts(tp, fp, factor * number * self.positives[test_set] - tp)


def draw(
    rng: Generator, population: Population, runs: int, replicates: int
) -> tuple[_Drawn, _Drawn]:
    """Draw test sets and runs of two systems on each."""
    parts = list(_draws(rng, population, runs, replicates))
    a, b = (
        _Drawn(*(np.concatenate(cells) for cells in zip(*side, strict=True)))
        for side in zip(*parts, strict=True)
    )
    return a, b


def _draws(
    rng: Generator, population: Population, runs: int, replicates: int
) -> Iterator[tuple[_Drawn, _Drawn]]:
    """Draw a few test sets at a time."""
    step = max(1, _AT_ONCE // (population.units * 2 * _ITEMS))
    for start in range(0, replicates, step):
        yield _draw(rng, population, runs, min(step, replicates - start))


def _draw(
    rng: Generator, population: Population, runs: int, replicates: int
) -> tuple[_Drawn, _Drawn]:
    shape = replicates, population.units
    sizes = rng.integers(0, _ITEMS + 1, (*shape, 2))
    there = np.arange(_ITEMS) < sizes[..., None]
    shared = _effects(rng, shape, _SHARED)
    seeds = _seeds(rng, population, runs, replicates)
    sides = []
    for deviation, seed in zip(population.deviations(), seeds, strict=True):
        ability = np.float32(population.ability(deviation))
        hard = shared + _effects(rng, shape, _OWN) + ability
        tp, fp = (np.empty((replicates, runs, population.units)) for _ in range(2))
        for run in range(runs):
            sum_ = _effects(rng, shape, _OF_RUN)
            sum_ += hard
            sum_ += (deviation * seed[:, run]).astype(np.float32)[:, None, None, None]
            right = (sum_ > 0) & there
            tp[:, run] = np.count_nonzero(right[:, :, 0], axis=-1)
            fp[:, run] = sizes[..., 1] - np.count_nonzero(right[:, :, 1], axis=-1)
        sides.append(_Drawn(tp, fp, sizes[..., 0].astype(np.float64)))
    return sides[0], sides[1]


def _effects(
    rng: Generator, shape: tuple[int, int], variances: tuple[float, float]
) -> NDArray[np.float32]:
    """Draw what units and single items add to the ability to get items right."""
    of_unit, of_item = (np.float32(math.sqrt(v)) for v in variances)
    effects = rng.standard_normal((*shape, 2, _ITEMS), dtype=np.float32)
    effects *= of_item
    effects += of_unit * rng.standard_normal((*shape, 1, 1), dtype=np.float32)
    return effects


def _seeds(
    rng: Generator, population: Population, runs: int, replicates: int
) -> tuple[Array, Array]:
    shape = replicates, runs
    if population.seeds == "failing":
        good, bad = _failing_seeds()
        a, b = (np.where(rng.random(shape) < _FAILING, bad, good) for _ in range(2))
        return a, b
    a, b = rng.standard_normal(shape), rng.standard_normal(shape)
    if population.seeds == "paired":
        shared = rng.standard_normal(shape)
        return (a + shared) / math.sqrt(2), (b + shared) / math.sqrt(2)
    return a, b


_Case = tuple[Population, list[tuple[int, int]]]  # and the numbers of runs of A and of B


def _populations(
    runs: Sequence[int] = (3, 5, 10),
    ratios: Sequence[float] = (0.0, 0.1, 1.0, 4.0),
    units: Sequence[int] = (20, 200, 1000),
    scores: Sequence[float] = (0.5, 0.75, 0.9),
    seeds: Sequence[str] = _SEEDS,
) -> Iterator[_Case]:
    numbers = sorted({whole_number("runs", number, least=2) for number in runs})
    alike = [(number, number) for number in numbers]
    uneven = [(numbers[0], numbers[-1])] if len(numbers) > 1 else []
    middle = sorted(scores)[len(scores) // 2]
    for kind in seeds:
        of_kind = scores if one_of("seeds", kind, _SEEDS) == "alike" else [middle]
        for f1, n, ratio in product(of_kind, units, ratios):
            if positive("ratios", ratio, zero=True) > 0 or kind in ("alike", "paired"):
                size = whole_number("units", n, least=2)
                population = Population(fraction("scores", f1), size, ratio, kind)
                yield population, alike + (uneven if kind == "alike" else [])


@study(_populations, streams)
def runs_study(case: _Case, level: float, replicates: int, rng: Generator) -> Iterator[Row]:
    """Simulate the coverage of the limits for procedures.

    >>> found = runs_study([3], [1.0], [50], [0.75], ["alike"], replicates=100)
    >>> found[0].coverage > 0.85 > found[0].ignoring - 0.1
    True
    """
    population, designs = case
    most = max(max(design) for design in designs)
    trials = []
    for start in range(0, replicates, _BLOCK):
        a, b = draw(rng, population, most + 1, min(_BLOCK, replicates - start))
        trials.append([_try(population, a, b, design, level) for design in designs])
    for (runs_a, runs_b), *own in zip(designs, *trials, strict=True):
        means = {key: mean(np.concatenate([one[key] for one in own])) for key in own[0]}
        yield Row(
            **{name: getattr(population, name) for name in ("seeds", "f1", "units", "ratio")},
            runs_a=runs_a,
            runs_b=runs_b,
            **means,
            level=level,
            replicates=replicates,
            standard_error=share_error(means["coverage"], replicates),
        )


def _try(
    population: Population, a: _Drawn, b: _Drawn, design: tuple[int, int], level: float
) -> dict[str, NDArray[Any]]:
    """Compute limits from so many runs, and whether they cover 0 and two new runs."""
    new = b.last().scores[:, 0] - a.last().scores[:, 0]
    a, b = a.first(design[0]), b.first(design[1])
    spread = Spread.of(a.runs(), b.runs(), population.seeds == "paired")
    estimate = spread.estimate
    reach = _reach(spread.mean_squares(), level)
    worth = Spread.of(a.runs(), b.runs()).worth() / math.lcm(*design)
    of_models = []  # the difference of the models on each test set, with its limits
    for k, own in enumerate(worth):
        cases = overlap(a.pooled(design[1], k), b.pooled(design[0], k))
        found = difference(cases * own, level=level)
        of_models.append((found.estimate, found.low, found.high))
    gap, low, high = np.array(of_models).T
    below, above = np.maximum(reach, gap - low), np.maximum(reach, high - gap)
    # the interaction is counted once, not also in the run scores
    freedoms = [n - 1 for n in spread.numbers]
    once = [(spread.by_unit, spread.unit_freedom), *zip(spread.parts()[1], freedoms, strict=True)]
    # the new runs of the next test set are those on a new one
    elsewhere = np.abs(np.roll(new, 1) - estimate) <= _reach(spread.on_a_new_test_set(), level)
    return {
        "coverage": (estimate <= below) & (-estimate <= above),
        "width": below + above,
        "size": np.abs(estimate) > reach,
        "once": np.abs(estimate) <= _reach(once, level),
        "ignoring": (low <= 0) & (high >= 0),
        "ignoring_width": high - low,
        "new_run": elsewhere,
        "new_run_here": np.abs(new - estimate) <= _reach(spread.on_this_test_set(), level),
    }


def _reach(squares: list[tuple[Array, Any]], level: float) -> Array:
    variance, freedom = add_squares(squares)
    return np.asarray(student_quantile(level, freedom) * np.sqrt(variance))


# how easy samples are for the model, and how much of an answer is chance: variances of a sum
_OF_SAMPLE, _OF_ANSWER = 1.0, 0.5


def _conditions(
    samples: Sequence[int] = (50, 200, 1000),
    repeats: Sequence[int] = (1, 5, 20),
    scores: Sequence[float] = (0.5, 0.75, 0.9),
) -> Iterator[tuple[str, float, int, int]]:
    for kind, f1, n, k in product(("pass rate", "f1"), scores, samples, repeats):
        yield kind, fraction("scores", f1), whole_number("samples", n), whole_number("repeats", k)


@study(_conditions, streams)
def repeats_study(
    case: tuple[str, float, int, int], level: float, replicates: int, rng: Generator
) -> Iterator[Row]:
    """Simulate the coverage of the limits for repeated answers.

    >>> found = repeats_study([50], [5], [0.75], replicates=100)
    >>> [one.score for one in found if one.coverage > 0.85]
    ['pass rate', 'f1']
    """
    kind, truth, n, k = case
    metric, items = ("recall", 1) if kind == "pass rate" else ("f1", _ITEMS)
    holds, ignoring, shares = [], [], []
    for _ in range(replicates):
        counts = _answers(rng, truth, n, k, items)
        own = score_repeats(counts, metric, level=level)
        alone = interval(counts.sum(), metric, level=level)
        holds.append(own.low <= truth <= own.high)
        ignoring.append(alone.low <= truth <= alone.high)
        shares.append(own.share_of_answers)
    coverage, error = share_of(holds)
    told = [part for part in shares if part is not None]
    values: dict[str, Any] = {"score": kind, "samples": n, "repeats": k, "truth": truth}
    values |= {"coverage": coverage, "ignoring": mean(ignoring)}
    values |= {"share_of_answers": mean(told) if told else math.nan, "level": level}
    values |= {"replicates": replicates, "standard_error": error}
    yield Row(**values)


def _answers(rng: Generator, truth: float, samples: int, repeats: int, items: int) -> Counts:
    """Draw the counts of each answer to each sample; a right answer is one item found."""
    ability = float(special.ndtri(truth)) * math.sqrt(_OF_SAMPLE + _OF_ANSWER)
    hard = ability + math.sqrt(_OF_SAMPLE) * rng.standard_normal((samples, 1, 1, 1))
    chance = math.sqrt(_OF_ANSWER) * rng.standard_normal((samples, repeats, 2, items))
    right = hard + chance > 0
    if items == 1:
        passed = right[:, :, 0, 0].astype(np.float64)
        return Counts(passed, np.zeros_like(passed), 1 - passed)
    sizes = rng.integers(0, items + 1, (samples, 1, 2))
    found = np.count_nonzero(right & (np.arange(items) < sizes[..., None]), axis=-1)
    return Counts(found[..., 0], sizes[..., 1] - found[..., 1], sizes[..., 0] - found[..., 0])
