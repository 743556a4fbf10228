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

from probative._labels import label_text
from probative._validation import shown
from probative.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["LabelColumn", "kinds_of"]


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
