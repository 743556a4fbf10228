"""Do intervals of means of graded scores cover, also where people correct a judge? By simulation.

Items have latent qualities, those of a unit alike, which a shape turns into scores from 0 to 1. The
true means are those of a very large test set of the same kind.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np
from numpy.random import Generator
from scipy import special

from probative._validation import Array
from probative.inference.judged import JudgedScore
from probative.inference.means import MeanScore, step_of
from probative_studies.harness import Row, mean, share_error, study

_UNITS_OF_THE_TRUTH = 100_000  # units of the test set that gives the true values
_UNIT_SPREAD = 0.6  # standard deviation of the quality of a unit; that of an item in it is 1
_GAIN, _APART = 0.1, 0.5  # by which B's quality is higher, and how far its items vary from A's
_ITEMS_OF_A_POOL = 2000
_MANY_UNITS = 36


_SHAPES: dict[str, Callable[[Array], Any]] = {
    "beta": lambda p: special.betaincinv(2, 2, p),
    "halves": lambda p: np.floor(3 * p) / 2,
    "ratings": lambda p: np.floor(5 * p) / 4,
    "rouge-like": lambda p: special.betaincinv(1.5, 5, p),
    "mostly 1": lambda p: np.minimum(1.0, p / 0.15),
}


@dataclass(frozen=True)
class _Condition:
    """A test set: its units, their sizes (equal or unequal) and the shape of its scores."""

    shape: str
    sizes: str
    units: int

    def draw(self, rng: Generator) -> tuple[Any, Array, Array]:
        """Draw the unit of every item and the scores of both systems."""
        number = np.full(self.units, 5) if self.sizes == "equal" else rng.geometric(0.2, self.units)
        unit = np.repeat(np.arange(self.units), number)
        quality = rng.normal(0, _UNIT_SPREAD, self.units)[unit] + rng.normal(size=len(unit))
        spread = np.sqrt(_UNIT_SPREAD**2 + 1)
        other = _GAIN + (quality + rng.normal(0, _APART, len(unit))) / np.sqrt(1 + _APART**2)
        # qualities become shares, and these scores of the shape
        scores = _SHAPES[self.shape](special.ndtr(np.stack([quality, other]) / spread))
        return unit, scores, number.astype(float)

    def score(self, rng: Generator) -> MeanScore:
        """Draw a test set, and return the means of both systems on it."""
        unit, scores, number = self.draw(rng)
        x = np.array([np.bincount(unit, own, minlength=self.units) for own in scores])
        return MeanScore(x, np.tile(number, (2, 1)))


_CONDITIONS = tuple(
    _Condition(shape, sizes, units)
    for shape, sizes, units in product(_SHAPES, ("equal", "unequal"), (10, 30, 100, 1000))
)


@study(_CONDITIONS)
def graded_study(c: _Condition, level: float, replicates: int, rng: Generator) -> Iterator[Row]:
    """Draw test sets with graded scores, and see how often intervals cover and tests reject.

    False alarms are those of the exchange test at 0.05, of two systems that are equally good.
    """
    value, other = replace(c, units=_UNITS_OF_THE_TRUTH).score(rng).estimates.tolist()
    gap = other - value
    found = []
    for _ in range(replicates):
        score = c.score(rng)
        own, both = score.interval(0, level), score.difference(0, 1, level)
        # one system, and the same with its items shuffled between two names
        pvalue = _pvalue(_exchanged(score, rng))
        inside = own.low <= value <= own.high, both.low <= gap <= both.high
        found.append((*inside, both.high - both.low, pvalue <= 0.05))
    covered, also, length, alarms = map(mean, np.array(found, float).T)
    yield Row(
        **vars(c),
        value=value,
        covered=covered,
        difference=gap,
        difference_covered=also,
        length=length,
        false_alarms=alarms,
        standard_error=share_error(0.95, replicates),
    )


def _exchanged(score: MeanScore, rng: Generator) -> MeanScore:
    """Return two systems that are equally good: units of both are exchanged at random."""
    flip = rng.random(score.x.shape[1]) < 0.5
    return replace(score, x=np.where(flip, score.x[::-1], score.x))


def _pvalue(score: MeanScore) -> float:
    """Return the p-value that decides: that of the exchange or Student's, if that is larger.

    On many units with scores that have no step, both agree, and a bracket would take long.
    """
    student = score.unit_test(0, 1).pvalue
    if score.x.shape[1] > _MANY_UNITS and step_of(score.x[1] - score.x[0]) is None:
        return student
    found = score.line(0, 1)
    return student if found is None else float(np.fmax(student, found.pvalue))


# --- A judge that errs


@dataclass(frozen=True)
class _JudgeCondition:
    """A judge's noise, its bias towards B, items per document, and human labels of 2,000 items.

    `whole` labels whole documents instead of single items.
    """

    noise: float
    bias: float
    per_unit: int
    whole: bool
    labels: int

    def score(self, rng: Generator, items: int = _ITEMS_OF_A_POOL) -> tuple[JudgedScore, Array]:
        """Draw a pool; return its corrected score and the true scores of both systems."""
        units = items // self.per_unit
        unit = np.repeat(np.arange(units), self.per_unit)
        quality = rng.normal(0, _UNIT_SPREAD, units)[unit] + rng.normal(size=items)
        b = _GAIN + (quality + rng.normal(0, _APART, items)) / np.sqrt(1 + _APART**2)
        truth = _SHAPES["beta"](special.ndtr(np.stack([quality, b]) / np.sqrt(_UNIT_SPREAD**2 + 1)))
        # a judge likes some documents more than others
        liked = rng.normal(0, self.noise / 2, units)[unit]
        judge = truth + rng.normal(0, self.noise, (2, items)) + liked + [[0.0], [self.bias]]
        judge = np.clip(judge, 0, 1)
        chosen = np.zeros(items, dtype=bool)
        if self.whole:
            drawn = rng.choice(units, self.labels // self.per_unit, replace=False)
            chosen[np.isin(unit, drawn)] = True
        else:
            chosen[rng.choice(items, self.labels, replace=False)] = True

        def summed(values: Any) -> Array:
            return np.array([np.bincount(unit, own, minlength=units) for own in values])

        x, y = summed(judge), summed(np.ones((2, items)))
        parts = summed(truth * chosen), summed(judge * chosen), summed(np.stack([chosen, chosen]))
        return JudgedScore(x, y, (0.0, 1.0), "mean", "unit", None, items, *parts), truth


_JUDGES = tuple(
    _JudgeCondition(noise, bias, per_unit, whole, labels)
    for noise, bias, (per_unit, whole), labels in product(
        (0.05, 0.15, 0.4), (0.1,), ((1, False), (10, False), (10, True)), (50, 100, 300)
    )
)


@study(_JUDGES)
def judge_study(c: _JudgeCondition, level: float, replicates: int, rng: Generator) -> Iterator[Row]:
    """Draw pools that a judge scores and people in part, and see how often intervals cover."""
    _, truth = replace(c, labels=100).score(rng, 50 * _ITEMS_OF_A_POOL)
    value, gap = float(truth[0].mean()), float((truth[1] - truth[0]).mean())
    found = []
    for _ in range(replicates):
        score, _ = c.score(rng)
        own, both = score.interval(0, level), score.difference(0, 1, level)
        alone = score.uncorrected.difference(0, 1, level)
        labels = MeanScore(score.human, score.labelled).difference(0, 1, level)
        inside = [one.low <= gap <= one.high for one in (both, alone)]
        widths = [one.high - one.low for one in (both, labels)]
        found.append((own.low <= value <= own.high, *inside, *widths))
    names = ["covered", "difference_covered", "uncorrected", "length", "length_of_labels"]
    means = dict(zip(names, map(mean, np.array(found, float).T), strict=True))
    yield Row(**vars(c), **means, standard_error=share_error(0.95, replicates))
