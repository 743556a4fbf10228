"""Compute Krippendorff's alpha of nominal labels, for any number of annotators with missing labels.

For an item with r labels, of which r_c are c, the agreement is Σ r_c (r_c - 1) / (r - 1). Let A be
the sum over items, n the number of labels of items that have two or more, and n_c those that are c.
Then alpha is 1 - (n - 1)(n - A) / (n² - Σ n_c²).

Alpha is a function of sums over items; its derivatives give the influence of a unit (document,
group of items). The interval is that of the log odds of alpha between -1 and 1. One unit of mean
size with chance agreement is added to the sums: without it, the interval of annotators who never
differ would have no width.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from probative._validation import Array, open_probability
from probative.errors import InputError
from probative.inference.units import ONE_UNIT, effective_units, student_quantile
from probative.labels import distinct_integers
from probative.results import Interval

MISSING = -1
_SHORT_TABLE = 2**16  # of all kinds of items
# A note appears with fewer disputed items (or units with some) if their share is at most this.
_FEW_DISPUTED, _SMALL_DISPUTED_SHARE = 5, 0.05
_NO_PAIRS = "undefined: no item has the labels of two annotators"
_ONE_LABEL = "undefined: everything has one label"


@dataclass(frozen=True, eq=False)
class Ratings:
    """The labels that annotators give to items."""

    codes: NDArray[np.int64]  # of the label of each annotator (row) for each item; or `MISSING`
    n_labels: int
    units: NDArray[np.int64] | None = None  # of each item, from 0; None: items are independent

    def __post_init__(self) -> None:
        if self.codes.ndim != 2 or len(self.codes) < 2:
            raise InputError(
                f"annotators: shape {self.codes.shape}; expected the labels of at least two"
            )

    @cached_property
    def kinds(self) -> tuple[Array, NDArray[Any]]:
        """Return how often every label was given to a kind of item, and the kind of every item."""
        # items with the same labels are of one kind, if a table of all possible kinds is short
        annotators, n_items = self.codes.shape
        base = self.n_labels + 1
        if base**annotators > max(_SHORT_TABLE, n_items):
            return _label_counts(self.codes, self.n_labels), np.arange(n_items)
        key = np.zeros(n_items, dtype=np.intp)
        for own in self.codes:
            key *= base
            key += own
            key += 1
        kind, place = distinct_integers(key)
        digits = [place // base**power % base for power in range(annotators)]
        return _label_counts(np.stack(digits) - 1, self.n_labels), kind


def _label_counts(codes: NDArray[Any], n_labels: int) -> Array:
    """Return how often every label was given to every item, one row per item."""
    n_items = codes.shape[1]
    item = np.broadcast_to(np.arange(n_items), codes.shape)
    there = codes >= 0
    number = np.bincount(item[there] * n_labels + codes[there], minlength=n_items * n_labels)
    return number.reshape(n_items, n_labels).astype(np.float64)


def alpha_interval(ratings: Ratings, *, level: float = 0.95) -> Interval:
    """Compute Krippendorff's alpha with an interval that allows for units."""
    head = "alpha", "logit", open_probability("level", level)
    number, kind = ratings.kinds
    rows, times = _contributions(number), np.bincount(kind)
    total = times @ rows
    estimate, slopes = _alpha(total)
    if np.isnan(estimate):
        why = _ONE_LABEL if total[1:].any() else _NO_PAIRS
        return Interval(*head, np.nan, -1.0, 1.0, why)
    labelled = number.sum(axis=1)
    paired = labelled > 1
    rows, times = rows[paired], times[paired]
    units, repeats = rows, times
    if ratings.units is not None:
        there = paired[kind]
        place = (np.cumsum(paired) - 1)[kind[there]]
        group = np.unique(ratings.units[there], return_inverse=True)[1]
        units = np.column_stack([np.bincount(group, column) for column in rows[place].T])
        repeats = np.ones(len(units), dtype=np.intp)
    freedom = effective_units(units[:, 1:].sum(axis=1), repeats) - 1
    if not freedom > 0:
        return Interval(*head, estimate, -1.0, 1.0, ONE_UNIT, np.nan)
    low, high = _limits(units, repeats, freedom, level)
    effect = None
    if ratings.units is not None:
        alone = _spread(rows @ slopes, times)
        effect = _spread(units @ slopes, repeats) / alone if alone > 0 else np.nan
    note = doubt((paired & (number.max(axis=1, initial=0) < labelled))[kind], ratings.units)
    return Interval(*head, estimate, min(low, estimate), max(high, estimate), note, effect)


def doubt(disputed: NDArray[np.bool_], units: NDArray[np.int64] | None = None) -> str | None:
    """Return a note for the reader if very few items are in dispute, else None."""
    number = int(disputed.sum()) if units is None else len(np.unique(units[disputed]))
    if not 0 < number < _FEW_DISPUTED or disputed.mean() > _SMALL_DISPUTED_SHARE:
        return None
    word = "item" if units is None else "unit"
    return (
        f"{number} {word}{'s' * (number != 1)} in dispute: the upper end of the interval may be "
        "too low"
    )


def _contributions(number: Array) -> Array:
    """Return what each item adds to the sums: its agreement, and how often it has each label."""
    # items with fewer than two labels add nothing
    size = number.sum(axis=1, keepdims=True)
    agreement = (number * (number - 1)).sum(axis=1, keepdims=True) / np.maximum(size - 1, 1)
    return np.where(size > 1, np.hstack([agreement, number]), 0.0)


def _alpha(total: Array) -> tuple[float, Array]:
    """Return alpha and its derivatives from the summed agreement and the number of each label."""
    agreement, by_label = total[0], total[1:]
    n = by_label.sum()
    top, bottom = (n - 1) * (n - agreement), n * n - by_label @ by_label
    if not bottom > 0:
        return float("nan"), np.zeros_like(total)
    in_labels = -(2 * n - 1 - agreement) / bottom + 2 * top * (n - by_label) / bottom**2
    return float(1 - top / bottom), np.concatenate([[(n - 1) / bottom], in_labels])


def _spread(moves: Array, times: NDArray[np.intp]) -> float:
    """Return the variance of the sum of what each unit moves."""
    n = int(times.sum())
    return n / (n - 1) * float(times @ (moves - times @ moves / n) ** 2)


def _limits(
    units: Array, times: NDArray[np.intp], freedom: float, level: float
) -> tuple[float, float]:
    total = times @ units
    share = total[1:] / total[1:].sum()
    size = total[1:].sum() / times.sum()
    chance = float(share @ share)
    added = total + np.concatenate([[size * chance], size * share])
    centre, slopes = _alpha(added)
    variance = _spread(units @ slopes, times)
    # the added unit agrees completely with this probability, and otherwise not at all
    in_labels = float(size * share @ slopes[1:])
    agrees, differs = in_labels + size * slopes[0], in_labels
    variance += chance * agrees**2 + (1 - chance) * differs**2
    centre = float(np.clip(centre, -0.999999, 0.999999))
    reach = float(student_quantile(level, freedom)) * np.sqrt(variance) / (1 - centre**2)
    middle = np.arctanh(centre)
    return float(np.tanh(middle - reach)), float(np.tanh(middle + reach))
