"""Pools of single items of which everything is known, to be annotated in part time and again.

The log odds of being positive are normal, and systems return the items whose log odds, blurred a
little, are high. Somebody gives every item a probability, rightly or wrongly.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import optimize, special

from probative.counts import Counts
from probative.inference.rare_positives import ItemStrata, rare_difference, rare_score
from probative.inference.strata import spread_of
from probative.inference.stratified import Draw, PoolScores, influences
from probative.metrics import score
from probative.options import ReadingOptions
from probative.surveys.expectations import expect
from probative.surveys.pool import read_pool
from probative.surveys.strata import draw_numbers, layers_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from probative._types import Array, Ints

__all__ = ["CONFIDENCES", "ItemPool", "ItemQuestion", "Sample", "make_items", "sample_of"]

_DRAWS = 2000
_VALUES = 320  # confidences that stand for those of a stratum
# what confidences make of the true log odds: the factor and the shift
CONFIDENCES = {
    "calibrated": (1.0, 0.0),
    "timid": (0.5, 0.0),
    "bold": (2.0, 0.0),
    "shifted": (1.0, 1.5),
}
_BLUR = (1.0, 0.5)  # of the log odds that system A and system B see
_THRESHOLD = 0.3  # probability from which an item is returned
_BLIND = 0.2  # of the positive items that nobody has an inkling of


@dataclass(frozen=True)
class Sample:
    """What one sample said.

    Attributes
    ----------
    held, width, noted
        Whether the interval held the truth, its width, and whether a note warned.
    normal
        Whether the normal interval of the same sample held the truth.
    """

    held: bool
    width: float
    noted: bool
    normal: bool


def sample_of(found: PoolScores, truth: float, *, paired: bool) -> Sample:
    """What a stratified sample says of a score, or of a difference, beside the truth.

    Parameters
    ----------
    found
        What the sample tells of the pool.
    truth
        What is true of it.
    paired
        Whether a difference was asked for.
    """
    told = found.difference() if paired else found.score()
    reach = float(-special.ndtri((1 - found.level) / 2)) * told.standard_error
    return Sample(
        told.low <= truth <= told.high,
        told.high - told.low,
        bool(told.notes),
        bool(abs(told.estimate - truth) <= reach),
    )


@dataclass(frozen=True, eq=False)
class ItemPool:
    """Single items, with what two systems return.

    Attributes
    ----------
    positive
        Whether every item is.
    returned
        Whether a system returns it: one row per system.
    confidence
        The log odds that somebody gives every item.
    """

    positive: NDArray[np.bool_]
    returned: NDArray[np.bool_]
    confidence: Array


def make_items(
    rng: np.random.Generator,
    prevalence: float,
    spread: float,
    confidences: str,
    size: int = 100_000,
) -> ItemPool:
    """Draw a pool of items.

    Parameters
    ----------
    rng
        Where the draws come from.
    prevalence, spread
        The share of positive items, and the standard deviation of the log odds: the larger, the
        better can positive items be told, and the higher is F1.
    confidences
        What is said of the items: calibrated, timid, bold, shifted; nonsense, which has nothing to
        do with them; blind, which knows nothing of every fifth positive item.
    size
        How many items there are.
    """
    quantiles = special.ndtri((np.arange(2000) + 0.5) / 2000) * spread
    centre = optimize.brentq(
        lambda middle: float(special.expit(middle + quantiles).mean()) - prevalence, -80, 20
    )
    odds = centre + spread * rng.standard_normal(size)
    chance = special.expit(odds)
    if confidences == "blind":
        chance = (1 - _BLIND) * chance + _BLIND * prevalence
    positive = rng.random(size) < chance
    returned = np.stack(
        [odds + blur * rng.standard_normal(size) > special.logit(_THRESHOLD) for blur in _BLUR]
    )
    factor, shift = CONFIDENCES.get(confidences, (1.0, 0.0))
    said = factor * odds + shift
    if confidences == "nonsense":
        said = rng.permutation(said)
    return ItemPool(positive, returned, said)


class ItemQuestion:
    """One question about a pool of items, and how `sample` places so many labels for it.

    Strata are those of `sample`, parted where the systems say different things of their items: all
    items of a part have the same answers, as `estimate` wants it.
    """

    def __init__(self, pool: ItemPool, question: str, n: int, *, by_confidence: bool, random: bool):
        self.paired = question == "difference"
        self.random, self.n = random, n
        answers = pool.returned if self.paired else pool.returned[:1]
        chance = special.expit(pool.confidence)
        layers, self.drawn = _placed(answers, question, n, chance if by_confidence else None)
        layer = np.empty(len(pool.positive), np.intp)
        for number, units in enumerate(layers):
            layer[units] = number
        code = 2 ** len(answers) * layer + np.dot(2 ** np.arange(len(answers)), answers)
        _, first, self.part = np.unique(code, return_index=True, return_inverse=True)
        self.layer, self.returned = layer[first], answers[:, first].T
        self.sizes = np.bincount(self.part)
        self.positive = np.bincount(self.part, weights=pool.positive).astype(np.int64)
        self.confidence = None
        if by_confidence:
            own = [chance[self.part == number] for number in range(len(self.sizes))]
            self.confidence = [_some(values) for values in own]
        self.truth = float(self._value(self.positive))

    def _value(self, totals: Any) -> Array:
        values = []
        for column in self.returned.T:
            tp, fn = totals @ column, totals @ ~column
            values.append(score(Counts(tp, self.sizes @ column - tp, fn), "f1"))
        return np.asarray(values[1] - values[0] if self.paired else values[0])

    def label(self, rng: np.random.Generator, *, draws: int = _DRAWS) -> ItemStrata:
        """Label some items, placed where they tell most."""
        labelled = np.zeros_like(self.sizes)
        for number, drawn in enumerate(self.drawn.tolist()):
            own = np.flatnonzero(self.layer == number)
            labelled[own] = rng.multivariate_hypergeometric(self.sizes[own], drawn)
        found = rng.hypergeometric(self.positive, self.sizes - self.positive, labelled)
        return ItemStrata.of(
            self.sizes, labelled, found, self.returned, self.confidence, draws=draws
        )

    def annotate(self, level: float, rng: np.random.Generator) -> Sample:
        """Label some items and ask for the interval."""
        if self.random:
            return self._at_random(level, rng)
        items = self.label(rng)
        told = (rare_difference if self.paired else rare_score)(items, "f1", level=level)
        drawn, found = items.labelled.astype(np.int64), items.positive.astype(np.int64)
        return Sample(
            told.low <= self.truth <= told.high,
            told.high - told.low,
            bool(told.notes),
            self._normal(drawn, found, level),
        )

    def _at_random(self, level: float, rng: np.random.Generator) -> Sample:
        """Simply random items, analysed as such."""
        drawn = rng.multivariate_hypergeometric(self.sizes, self.n)
        found = rng.hypergeometric(self.positive, self.sizes - self.positive, drawn)
        draw = Draw.of(np.zeros(self.n, np.intp), [int(self.sizes.sum())])
        told = PoolScores.of(_rows(self.returned, drawn, found), draw, "f1", level=level)
        return sample_of(told, self.truth, paired=self.paired)

    def _normal(self, drawn: Ints, found: Ints, level: float) -> bool:
        """Whether the normal interval of the same labels holds."""
        layers = np.bincount(self.layer, weights=self.sizes)
        draw = Draw.of(np.repeat(self.layer, drawn), layers)
        told = [influences(own, draw) for own in _rows(self.returned, drawn, found)]
        (value, moves), *others = told if self.paired else told[:1]
        for other, more in others:
            value, moves = other - value, more - moves
        far = -special.ndtri((1 - level) / 2) * math.sqrt(spread_of(moves, draw).variance)
        return bool(abs(value - self.truth) <= far)


def _placed(
    answers: NDArray[np.bool_], question: str, n: int, chance: Array | None
) -> tuple[list[NDArray[np.intp]], Ints]:
    """The items of every stratum, and how many of them are drawn, as `sample` has it."""
    if not answers.any():  # nobody says yes: there is nothing to part the items by
        return [np.arange(answers.shape[1])], np.array([n])
    outputs = [own.astype(np.int64) for own in answers]
    pool = read_pool(outputs, reading=ReadingOptions(positive="1"), scores=chance)
    expected = expect(pool, question)
    layers = layers_of(pool, expected, n)
    placing = [expected.placing(own.units) for own in layers]
    sizes = [len(own.units) for own in layers]
    drawn, _ = draw_numbers([own.key for own in layers], sizes, placing, n)
    return [own.units for own in layers], drawn


def _some(values: Array) -> Array:
    """Values that stand for all: sorting them all for each sample would take long."""
    if len(values) <= _VALUES:
        return values
    return np.asarray(np.quantile(values, (np.arange(_VALUES) + 0.5) / _VALUES))


def _rows(returned: NDArray[np.bool_], drawn: Ints, found: Ints) -> list[Counts]:
    """One row per item and system, items in the same order: by stratum, positive ones first."""
    stratum = np.repeat(np.arange(len(drawn)), drawn)
    within = np.arange(len(stratum)) - np.repeat(np.cumsum(drawn) - drawn, drawn)
    positive = within < found[stratum]
    return [
        Counts(
            *(
                np.asarray(cell, dtype=np.float64)
                for cell in (own & positive, own & ~positive, ~own & positive)
            )
        )
        for own in (column[stratum] for column in returned.T)
    ]
