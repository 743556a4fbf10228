"""The labels of the columns of a table: how each value is called, and what is missing.

Labels are compared by their texts, as everywhere in this package. What an engine holds is told by
the distinct values that its first query brings: no value is converted before it was seen.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, time
from functools import cached_property
from numbers import Number
from typing import TYPE_CHECKING, Any

import numpy as np

from probative._labels import label_text
from probative._validation import shown
from probative.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Sequence

__all__ = ["LabelColumn", "group_keys", "has_gap", "kinds_of", "sort_groups", "values_of"]

_NO_VALUES = ("NAType", "NaTType")  # of pandas


@dataclass(frozen=True)
class LabelColumn:
    """One column of labels.

    Attributes
    ----------
    parameter
        What asked for it: gold, pred, a, b, systems.
    name
        What it is called in the table.
    texts
        The text of every value that occurs; None for what is missing (null, NaN, empty text).
    """

    parameter: str
    name: str
    texts: dict[Any, str | None]

    @classmethod
    def of(cls, parameter: str, name: str, values: Iterable[Any]) -> LabelColumn:
        """Of the distinct values of a column."""
        texts: dict[Any, str | None] = {}
        for value in values:
            try:
                texts[value] = label_text(value)
            except (TypeError, ValueError, ArithmeticError):
                raise InputError(
                    f"{parameter}: {name!r} holds {shown(value)}; expected text, numbers or truth "
                    f"values"
                ) from None
        return cls(parameter, name, texts)

    def text_of(self, value: Any) -> str | None:
        """The text of a value that occurs."""
        return self.texts.get(value) if value is not None and value == value else None

    @cached_property
    def labels(self) -> frozenset[str]:
        """The texts of its labels."""
        return frozenset(text for text in self.texts.values() if text is not None)

    def values_of(self, text: str) -> list[Any]:
        """The values whose text is this."""
        return [value for value, own in self.texts.items() if own == text]

    def missing(self) -> list[Any]:
        """The values that are no labels."""
        return [value for value, own in self.texts.items() if own is None]


def kinds_of(column: LabelColumn) -> tuple[str, ...]:
    """What kinds of values a column has, in words."""
    kinds = {_kind(value) for value, text in column.texts.items() if text is not None}
    return tuple(sorted(kinds))


def _kind(value: Any) -> str:
    if isinstance(value, (str, bytes)):
        return "text"
    if isinstance(value, bool) or type(value).__name__ == "bool_":
        return "truth values"
    if isinstance(value, Number):
        return "numbers"
    return "dates" if isinstance(value, (date, time)) else type(value).__name__


def values_of(column: Any) -> list[Any]:
    """The values of a column, None for what is missing in any library's way."""
    if isinstance(column, np.ndarray):
        column = column.tolist()
    return [None if type(value).__name__ in _NO_VALUES else value for value in column]


def group_keys(
    rows: dict[str, Sequence[Any]], groups: list[str], size: int, *, single: bool
) -> list[Hashable]:
    """The group of every row: a value, or a tuple of values of several columns."""
    if not groups:
        return [None] * size
    columns = [[_key(value) for value in values_of(rows[safe])] for safe in groups]
    return columns[0] if single else list(zip(*columns, strict=True))


def sort_groups(keys: Sequence[Hashable]) -> tuple[Hashable, ...]:
    """The different groups in the order of their values."""
    return tuple(sorted(dict.fromkeys(keys), key=_sorting))


def _key(value: Any) -> Hashable:
    """A value as the key of a group: what is missing is None."""
    return None if value is None or value != value else value


def has_gap(key: Hashable) -> bool:
    """Whether the value of a group is missing."""
    return key is None or (isinstance(key, tuple) and None in key)


def _sorting(key: Hashable) -> tuple[Any, ...]:
    """Numbers before texts, what is missing last."""
    parts = key if isinstance(key, tuple) else (key,)
    return tuple(
        (2, 0, "")
        if part is None
        else (0, part, "")
        if isinstance(part, (int, float))
        else (1, 0, str(part))
        for part in parts
    )
