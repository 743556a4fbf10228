"""Match graded scores: the items that all systems have a score of, and their units."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from probative.counts import Counts, ItemCounts
from probative.errors import InputError, Recognised
from probative.reading.annotations import rows_at
from probative.tables.scores import NO_RANGE, USUAL_RANGE, SummedScores, range_of, refuse_outside

if TYPE_CHECKING:
    from probative._validation import Array
    from probative.reading.scores import Graded

    Range = tuple[float, float]

_FEWEST_HUMAN = 3  # items with human scores; with fewer nothing can be estimated
_EXAMPLES = 3  # of scores outside the range, in a message


@dataclass(frozen=True, eq=False)
class _ScoredItems:
    """The scores of all systems on the same items, as `Items` are for spans and labels."""

    says: Array  # the score of every item: one row per system or run
    unit: NDArray[np.int32] | None  # of every item; None if items are units
    range: Range | None = USUAL_RANGE  # smallest and largest possible score
    left_out: int = 0  # items that a system has no score of
    repeats: int = 1  # scores of an item in a row, one after the other: one per run
    human: Array | None = None  # human scores of the same items, NaN where there are none
    # of a table summed by unit: items of every unit, and their summed squares
    sizes: Array | None = None
    squares: Array | None = None
    # mean number of repeated answers, their share of the variance
    answers: tuple[tuple[float, float], ...] = ()

    # what spans and labels have, and scores have not
    labels: tuple[str, ...] = ()
    document = None
    number = None
    is_condensed = False

    @property
    def positives(self) -> int:
        """Return the number of items."""
        return int(self.says.shape[1] // self.repeats if self.sizes is None else self.sizes.sum())

    @property
    def n_units(self) -> int:
        """Return the number of units."""
        return self.positives if self.unit is None else int(self.unit.max(initial=-1)) + 1

    units_in_all = n_units

    def uses(self, system: int | None = None) -> NDArray[np.bool_]:  # noqa: ARG002
        """Return the labels in use: none."""
        return np.zeros(0, dtype=bool)

    def sums(self, unit: str) -> tuple[Array, Array, Array | None]:
        """Return summed scores, numbers of items and summed squares, by system and unit."""
        if self.sizes is not None:
            if unit == "item":
                raise InputError("by: scores were summed by unit; expected by='unit'")
            return self.says, np.tile(self.sizes, (len(self.says), 1)), self.squares
        ones = np.ones_like(self.says)
        codes = self.codes(unit)
        if codes is None:
            return self.says, ones, None
        size = int(codes.max(initial=-1)) + 1

        def summed(values: Array) -> Array:
            return np.array([np.bincount(codes, own, minlength=size) for own in values])

        return summed(self.says), summed(ones), summed(self.says**2)

    def codes(self, unit: str) -> NDArray[Any] | None:
        """Return the unit of every score; None if every score is a unit."""
        if self.unit is not None and unit != "item":
            return np.tile(self.unit, self.repeats)
        if self.repeats > 1:
            return np.tile(np.arange(self.positives), self.repeats)
        return None

    def human_sums(self, unit: str) -> tuple[Array, Array, Array]:
        """Return human scores, the judge's of the same items and their numbers, by unit."""
        assert self.human is not None  # noqa: S101  # asked only where there are any
        there = np.isfinite(self.human).all(axis=0)
        human, judged, number = (
            replace(self, says=np.where(there, own, 0.0)).sums(unit)[0]
            for own in (self.human, self.says, np.ones_like(self.says))
        )
        return human, judged, number

    def counts(self, system: int = 0, *, by: str | None = None) -> Any:
        """Return the number of items; by unit, scores as shares of the range that are right."""
        if by is None:
            of_answers = self.answers[system] if self.answers else ()
            return ItemCounts(self.positives, self.left_out, *of_answers)
        x, y, _ = self.sums(by)
        low, high = self.range or (0.0, 0.0)
        right = (x[system] - low * y[system]) / (high - low) if high > low else y[system]
        return Counts(right, np.zeros_like(right), np.maximum(0.0, y[system] - right))

    def of_systems(self, systems: Sequence[int]) -> _ScoredItems:
        """Return the items with some of the systems."""
        human, squares = (
            None if part is None else part[list(systems)] for part in (self.human, self.squares)
        )
        answers = tuple(self.answers[i] for i in systems) if self.answers else ()
        says = self.says[list(systems)]
        return replace(self, says=says, human=human, squares=squares, answers=answers)

    def pooled(self, systems: Sequence[int]) -> _ScoredItems:
        """Return the items once per system, as the items of one system."""
        own = self.of_systems(systems)
        human = None if own.human is None else own.human.reshape(1, -1)
        says, number = own.says.reshape(1, -1), len(systems)
        return replace(own, says=says, human=human, repeats=number, answers=())


def summed_items(summed: SummedScores, given: Any) -> tuple[_ScoredItems, list[str]]:
    """Return the items of a table that was summed by unit, and notes."""
    range_ = summed.range if given is None else range_of(given)
    if range_ is not None:
        refuse_outside(range_, summed.least, summed.most)
    units = np.arange(summed.n_units, dtype=np.int32)
    sums: dict[str, Any] = {"sizes": summed.number, "squares": summed.squares}
    items = _ScoredItems(summed.sums, units, range_, summed.left_out, **sums)
    out = f"{summed.left_out:,} items are left out, because a system has no score of them"
    number = f"{items.positives:,} items"
    read = f"{number}, summed by unit in the engine, so that no single item can be shown"
    notes = [Recognised(read), _words_of_range(range_, said=True)]
    return items, [out, *notes] if summed.left_out else notes


def scored(sides: Sequence[Graded], like: Any) -> _ScoredItems:
    """Return the items of sides that were matched before, with the range of `like`."""
    says: dict[str, Any] = {"says": np.stack([s.values for s in sides]), "human": _human(sides)}
    items: _ScoredItems = replace(like, unit=sides[0].units, left_out=0, **says)
    return items


def _human(sides: Sequence[Graded]) -> Array | None:
    """Return the human scores of all systems, if there are any."""
    known = [side.human for side in sides if side.human is not None]
    return np.stack(known) if known else None


def match_scores(
    sides: Sequence[Graded], names: Sequence[str], given: Any
) -> tuple[_ScoredItems, list[Graded], list[str]]:
    """Match scores by place, without items that a system lacks; return items, sides and notes."""
    first, range_ = sides[0], range_of(given)
    for side, name in zip(sides, names, strict=True):
        if len(side) != len(first):
            problem = f"{name}: {len(side):,} scores, but {names[0]} has {len(first):,}"
            raise InputError(f"{problem}; expected the same items")
        low, high = range_ or (-np.inf, np.inf)
        with np.errstate(invalid="ignore"):
            outside = side.values[(side.values < low) | (side.values > high)]
        if len(outside):
            some = ", ".join(f"{value:g}" for value in outside[:_EXAMPLES])
            raise InputError(
                f"{name}: {len(outside):,} of {len(side):,} scores are outside the range from "
                f"{low:g} to {high:g} ({some}; all are between {np.nanmin(side.values):g} and "
                f"{np.nanmax(side.values):g}); expected range=, the smallest and the largest "
                f"possible score, or range='{NO_RANGE}'"
            )
    values = np.stack([side.values for side in sides])
    there = np.isfinite(values).all(axis=0)
    if not there.any():
        raise InputError("scores: no item has a score of every system; expected one at least")
    notes = []
    left_out = int(np.count_nonzero(~there))
    if left_out:
        lacking = [
            f"{name} {np.count_nonzero(np.isnan(own)):,}"
            for name, own in zip(names, values, strict=True)
            if np.isnan(own).any()
        ]
        notes.append(
            f"{left_out:,} of {len(first):,} items are left out, because a system has no score of "
            f"them ({', '.join(lacking)} missing): {np.count_nonzero(there):,} are compared"
        )
    notes.append(_words_of_range(range_, said=given is not None))
    rows = np.flatnonzero(there)
    kept = [rows_at(side, rows) for side in sides] if left_out else list(sides)
    answers = tuple(side.answers for side in kept if side.answers is not None)
    items = _ScoredItems(
        values[:, rows], kept[0].units, range_, left_out, human=_human(kept), answers=answers
    )
    notes += [
        f"{name}: {number:.3g} answers to each item on average, whose mean is its score; they make "
        f"{100 * share:.0f} % of the variance of the mean score"
        for name, (number, share) in zip(names, answers, strict=False)
    ]
    if items.human is not None:
        labelled = int(np.isfinite(items.human).all(axis=0).sum())
        if labelled < _FEWEST_HUMAN:
            problem = f"human: {labelled} items have human scores of every system"
            raise InputError(f"{problem}; expected at least {_FEWEST_HUMAN}")
        notes.append(
            f"{labelled:,} of {len(rows):,} items have human scores, which correct those of the "
            f"judge; they are taken to be drawn at random"
        )
    return items, kept, notes


def _words_of_range(range_: Range | None, *, said: bool) -> str:
    if range_ is None:
        return Recognised("scores without a range: intervals are Student's")
    low, high = range_
    return Recognised(f"scores from {low:g} to {high:g}{'' if said else ', the usual range'}")
