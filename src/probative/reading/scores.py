"""Read graded scores: one number per item, from columns of tables, lists and arrays."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from probative._validation import shown
from probative.errors import InputError
from probative.labels import items_of
from probative.reading.annotations import ItemSide, Labels, units_of
from probative.reading.tables import is_decimal

MISSING = "nan"  # the text of a blank cell, which is no score
_LONGEST = 30  # characters of a text in a message


@dataclass(frozen=True, eq=False)
class Graded(ItemSide):
    """One score per item; NaN where there is none."""

    task = "scores"
    name: str
    values: NDArray[np.float64]
    human: NDArray[np.float64] | None = field(default=None, repr=False)  # NaN: not scored by people
    answers: tuple[float, float] | None = None  # to an item, and their share of the variance

    def __len__(self) -> int:
        return len(self.values)


def scores_of_labels(side: Labels) -> Graded:
    """Return the cells of a column as numbers."""
    odd = next((text for text in side.names if not is_decimal(text)), None)
    if odd is not None:
        raise InputError(f"{side.name}: {odd[:_LONGEST]!r} is no score; expected numbers")
    numbers = np.array(list(map(float, side.names)), dtype=np.float64)
    numbers[~np.isfinite(numbers)] = math.nan
    rows: Any = slice(None)
    units = side.units
    if side.repeats is not None:
        rows, units = side.repeats.one_by_one(side.units, by_unit=units is not None)
    beside: dict[str, Any] = {"texts": side.texts, "origin": side.origin, "groups": side.groups}
    return Graded(side.name, numbers[side.codes][rows], units=units, **beside)


def _scores_of_values(name: str, values: Any, units: Any = None) -> Graded:
    """Read one score per item from a list, an array or a column."""
    items = items_of(name, values)
    if not len(items):
        raise InputError(f"{name}: is empty; expected one score per item")
    try:
        numbers = np.array([math.nan if v is None else float(v) for v in items], dtype=np.float64)
    except (TypeError, ValueError):
        odd = next(v for v in items if not (v is None or is_decimal(v)))
        raise InputError(f"{name}: {shown(odd)} is no score; expected numbers") from None
    numbers[~np.isfinite(numbers)] = math.nan
    return Graded(name, numbers, units=None if units is None else units_of(name, units, len(items)))


def scores_of_systems(scores: Any, units: Any = None) -> list[tuple[str, list[Graded], bool]]:
    """Read scores by system: one list, or one per run; return name, scores and True for runs."""
    if not isinstance(scores, Mapping) or not scores:
        expected = "expected the scores of every system by its name, such as"
        raise InputError(f"scores: {shown(scores)}; {expected} {{'a': [...], 'b': [...]}}")
    systems = []
    for name, own in scores.items():
        if isinstance(own, np.ndarray):
            runs = own.ndim == 2
        else:
            first = next(iter(own), None) if isinstance(own, (list, tuple)) else None
            runs = isinstance(first, (list, tuple, np.ndarray))
        given = list(own) if runs else [own]
        called = [f"{name}, run {k}" for k in range(1, len(given) + 1)] if runs else [str(name)]
        sides = [_scores_of_values(who, one, units) for who, one in zip(called, given, strict=True)]
        systems.append((str(name), sides, runs))
    return systems


def mean_answers(name: str, values: NDArray[np.float64], item: NDArray[Any]) -> Graded:
    """Return the mean over the answers to each item, and the share of variance that they make."""
    # Answers to an item vary by chance: their mean square within items, over the number of
    # answers, is part of the variance of the items' means.
    there = np.isfinite(values)
    number = np.bincount(item[there], minlength=int(item.max()) + 1).astype(float)
    with np.errstate(invalid="ignore", divide="ignore"):
        means = np.bincount(item[there], values[there], minlength=len(number)) / number
        within = float(np.sum((values[there] - means[item[there]]) ** 2))
    known = number > 0
    freedom, spread = float(np.sum(number[known] - 1)), float(np.var(means[known], ddof=1))
    share = math.nan
    if freedom > 0 and spread > 0:
        share = min(1.0, within / freedom * float(np.mean(1 / number[known])) / spread)
    return Graded(name, means, answers=(float(number[known].mean()), share))


def with_human(sides: Sequence[Graded], human: Sequence[Graded]) -> list[Graded]:
    """Add human scores to those of a judge, system by system; items have the same places."""
    for side, own in zip(sides, human, strict=True):
        if len(side) != len(own):
            problem = f"{len(own):,} scores for {side.name}, but the judge has {len(side):,}"
            expected = "expected the same number, None where there is none, or key="
            raise InputError(f"human: {problem}; {expected}")
    return [replace(s, human=own.values) for s, own in zip(sides, human, strict=True)]


def in_places_of(ids: Labels, own: Labels, sides: Sequence[Graded]) -> list[Graded]:
    """Return human scores in the order of the judge's rows, by ids; NaN where there are none."""
    rows: dict[str, int] = {}
    for row, code in enumerate(own.codes.tolist()):
        text = own.names[code]
        if text in rows:
            raise InputError(f"human: {text!r} twice; expected each id once", own.name)
        rows[text] = row
    known = set(ids.names)
    strange = [text for text in own.names if text not in known]
    if strange:
        problem = f"human: {len(strange):,} ids are not among those of the judge, such as"
        raise InputError(f"{problem} {strange[0][:_LONGEST]!r}; expected the same items", own.name)
    at = np.array([rows.get(text, -1) for text in ids.names])[ids.codes]
    values = [np.where(at < 0, math.nan, side.values[at]) for side in sides]
    return [replace(s, values=v, units=None) for s, v in zip(sides, values, strict=True)]
