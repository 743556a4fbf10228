"""Do intervals of means of graded scores cover, also where people correct a judge? By simulation.

Items have latent qualities, those of a unit alike, which a shape turns into scores from 0 to 1. The
true means are those of a very large test set of the same kind.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np
from numpy.random import Generator
from scipy import special

from probative._validation import RNG, Array
from probative.inference.judged import JudgedScore
from probative.inference.means import MeanScore, step_of
from probative_studies.harness import Report, Row, checked, mean, one_stream, quiet, share_error

_LARGE = 100_000  # units of the test set that gives the true values
_UNIT_SPREAD = 0.6  # standard deviation of the quality of a unit; that of an item in it is 1
_GAIN, _APART = 0.1, 0.5  # by which B's quality is higher, and how far its items vary from A's
_ITEMS_OF_A_POOL = 2000
_MANY_UNITS = 36


def _halves(p: Array) -> Array:
    return np.floor(3 * p) / 2


def _ratings(p: Array) -> Array:
    return np.floor(5 * p) / 4


def _beta(p: Array) -> Array:
    return np.asarray(special.betaincinv(2, 2, p))


def _rouge(p: Array) -> Array:
    return np.asarray(special.betaincinv(1.5, 5, p))


def _mostly_one(p: Array) -> Array:
    return np.minimum(1.0, p / 0.15)


SHAPES = {
    "beta": _beta,
    "halves": _halves,
    "ratings": _ratings,
    "rouge-like": _rouge,
    "mostly 1": _mostly_one,
}


@dataclass(frozen=True)
class Condition:
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
        scores = SHAPES[self.shape](special.ndtr(np.stack([quality, other]) / spread))
        return unit, scores, number.astype(float)

    def score(self, rng: Generator) -> MeanScore:
        """Draw a test set, and return the means of both systems on it."""
        unit, scores, number = self.draw(rng)
        x = np.array([np.bincount(unit, own, minlength=self.units) for own in scores])
        return MeanScore(x, np.tile(number, (2, 1)))


CONDITIONS = tuple(
    Condition(shape, sizes, units)
    for shape, sizes, units in product(SHAPES, ("equal", "unequal"), (10, 30, 100, 1000))
)


@dataclass(frozen=True, eq=False, repr=False)
class GradedCoverage(Row):
    """Coverage of the intervals of a mean and of a difference under one condition."""

    shape: str
    sizes: str
    units: int
    value: float  # the true mean of A
    covered: float  # how often its interval holds it
    difference: float  # the true difference
    difference_covered: float
    length: float  # of the interval of the difference
    false_alarms: float  # of the exchange test at 0.05, if both systems are equally good
    standard_error: float  # the Monte-Carlo error of a coverage of 0.95

    line = "{shape}, {units} units: covered {covered:.3f} and {difference_covered:.3f}"


def graded_study(
    conditions: Sequence[Condition] = CONDITIONS,
    *,
    level: float = 0.95,
    replicates: int = 1000,
    rng: RNG | None = 0,
    report: Report = quiet,
) -> list[GradedCoverage]:
    """Draw test sets with graded scores, and see how often intervals cover and tests reject."""
    level, replicates = checked(level, replicates)
    results = []
    for c, generator in one_stream(conditions, rng, report):
        value, other = replace(c, units=_LARGE).score(generator).estimates.tolist()
        gap = other - value
        found = []
        for _ in range(replicates):
            score = c.score(generator)
            own, both = score.interval(0, level), score.difference(0, 1, level)
            # one system, and the same with its items shuffled between two names
            null = _exchanged(score, generator)
            pvalue = _pvalue(null)
            inside = own.low <= value <= own.high, both.low <= gap <= both.high
            found.append((*inside, both.high - both.low, pvalue <= 0.05))
        columns = np.array(found, dtype=float)
        covered, also, length, alarms = (mean(column) for column in columns.T)
        results.append(
            GradedCoverage.of(
                c,
                value=value,
                covered=covered,
                difference=gap,
                difference_covered=also,
                length=length,
                false_alarms=alarms,
                standard_error=share_error(0.95, replicates),
            )
        )
    return results


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
class JudgeCondition:
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
        truth = _beta(special.ndtr(np.stack([quality, b]) / np.sqrt(_UNIT_SPREAD**2 + 1)))
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


JUDGES = tuple(
    JudgeCondition(noise, bias, per_unit, whole, labels)
    for noise, bias, (per_unit, whole), labels in product(
        (0.05, 0.15, 0.4), (0.1,), ((1, False), (10, False), (10, True)), (50, 100, 300)
    )
)


@dataclass(frozen=True, eq=False, repr=False)
class JudgeCoverage(Row):
    """Coverage of corrected and uncorrected intervals under one condition."""

    noise: float
    bias: float
    per_unit: int
    whole: bool
    labels: int
    covered: float  # of the corrected mean of A, the corrected difference, and the judge's alone
    difference_covered: float
    uncorrected: float
    length: float  # of the corrected interval, and of that of the human labels alone
    length_of_labels: float
    standard_error: float

    line = "noise {noise}, {labels} labels: covered {difference_covered:.3f}"


def judge_study(
    conditions: Sequence[JudgeCondition] = JUDGES,
    *,
    level: float = 0.95,
    replicates: int = 1000,
    rng: RNG | None = 0,
    report: Report = quiet,
) -> list[JudgeCoverage]:
    """Draw pools that a judge scores and people in part, and see how often intervals cover."""
    level, replicates = checked(level, replicates)
    results = []
    for c, generator in one_stream(conditions, rng, report):
        _, truth = replace(c, labels=100).score(generator, 50 * _ITEMS_OF_A_POOL)
        value, gap = float(truth[0].mean()), float((truth[1] - truth[0]).mean())
        found = []
        for _ in range(replicates):
            score, _ = c.score(generator)
            own, both = score.interval(0, level), score.difference(0, 1, level)
            alone = score.uncorrected.difference(0, 1, level)
            labels = MeanScore(score.human, score.labelled).difference(0, 1, level)
            inside = [one.low <= gap <= one.high for one in (both, alone)]
            widths = [one.high - one.low for one in (both, labels)]
            found.append((own.low <= value <= own.high, *inside, *widths))
        covered, also, alone_covered, length, of_labels = map(mean, np.array(found, float).T)
        results.append(
            JudgeCoverage.of(
                c,
                covered=covered,
                difference_covered=also,
                uncorrected=alone_covered,
                length=length,
                length_of_labels=of_labels,
                standard_error=share_error(0.95, replicates),
            )
        )
    return results
