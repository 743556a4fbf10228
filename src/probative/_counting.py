"""How items become counts, and counts become text: what `Counts` and `PairedCounts` share."""

from __future__ import annotations

from collections.abc import Mapping, Set
from typing import TYPE_CHECKING, Any

import numpy as np

from probative._labels import items_of, label_name, labels_of
from probative._validation import shown
from probative.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Hashable

    from numpy.typing import NDArray

__all__ = [
    "by_first_appearance",
    "case_of",
    "distinct_rows",
    "is_positive",
    "plain",
    "same_length",
    "show",
    "span_cases",
    "span_sets",
    "whole",
]


def plain(array: NDArray[np.float64]) -> Any:
    """A single number as NumPy's float (which divides by 0 quietly), an array as itself."""
    return array[()]


def whole(value: Any) -> Any:
    """Whole numbers as int, arrays as nested lists, for people and JSON."""
    if isinstance(value, np.ndarray):
        return [whole(item) for item in value.tolist()]
    if isinstance(value, list):
        return [whole(item) for item in value]
    return int(value) if float(value).is_integer() else float(value)


def show(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return np.array2string(
            value, separator=", ", threshold=8, formatter={"float": "{:g}".format}
        )
    return str(whole(value))


def is_positive(name: str, labels: Any, positive: object) -> NDArray[np.bool_]:
    """Which items have the label `positive`: by its text, numbers by value, none missing."""
    whole_numbers = type(labels) is np.ndarray and labels.dtype.kind in "bui" and labels.ndim == 1
    if whole_numbers and isinstance(positive, int) and abs(positive) < 2**63:
        return np.asarray(labels == int(positive))  # the same, a hundred times faster
    codes, names = labels_of(items_of(name, labels), lambda text: InputError(f"{name}: {text}"))
    wanted = label_name("positive", positive)
    return np.asarray(codes == (names.index(wanted) if wanted in names else -1))


def same_length(name: str, array: NDArray[Any], other_name: str, other: NDArray[Any]) -> None:
    if array.shape != other.shape:
        raise InputError(
            f"{name}: {len(array)} items, but {other_name} has {len(other)}; expected as many"
        )


def case_of(
    a: NDArray[np.bool_], b: NDArray[np.bool_], answer: NDArray[np.bool_]
) -> NDArray[np.int64]:
    """Number the cases as the class's table does."""
    group = np.where(a, np.where(b, 4, 0), np.where(b, 2, 6))
    return np.asarray(group + ~answer, dtype=np.int64)


def span_sets(name: str, sentences: Any) -> list[set[Hashable]]:
    """The spans of every sentence as a set."""
    wrong = InputError(
        f"{name}: {shown(sentences)}; expected a list with a set of spans per sentence"
    )
    if isinstance(sentences, (Set, Mapping, str, bytes)):
        raise wrong
    try:
        return [set(sentence) for sentence in sentences]
    except TypeError:
        raise wrong from None


def span_cases(gold: set[Hashable], a: set[Hashable], b: set[Hashable]) -> list[int]:
    only_a, only_b, both = a - b, b - a, a & b
    return [
        len(only_a & gold),
        len(only_a - gold),
        len(only_b & gold),
        len(only_b - gold),
        len(both & gold),
        len(both - gold),
        len(gold - a - b),
    ]


def by_first_appearance(name: str, units: Any) -> tuple[NDArray[np.int64], int]:
    """Number the distinct units in the order in which they first appear."""
    codes, _ = labels_of(items_of(name, units), lambda text: InputError(f"{name}: {text}"))
    distinct, first, group = np.unique(codes, return_index=True, return_inverse=True)
    rank = np.empty(len(distinct), dtype=np.int64)
    rank[np.argsort(first)] = np.arange(len(distinct))
    return rank[group], len(distinct)


def distinct_rows(rows: NDArray[np.float64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Where each distinct row stands first, and which of them every row equals."""
    size = rows.max(axis=0, initial=0) + 1
    if np.prod(size) < 2**53 and np.array_equal(rows, np.round(rows)):
        # small whole numbers: one integer per row sorts many times faster than eight columns
        place = np.concatenate([[1.0], np.cumprod(size[:-1])])
        keys = rows @ place
        _, first, group = np.unique(keys, return_index=True, return_inverse=True)
    else:
        _, first, group = np.unique(rows, axis=0, return_index=True, return_inverse=True)
    return first, group.reshape(-1)
