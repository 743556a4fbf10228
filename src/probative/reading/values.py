"""What a value of a table, an array or a list is called as a label.

Labels are compared by their text. Text is its own; a number's is the shortest that tells its value,
without a point where it is whole, so that 1 and 1.0 (and True, which equals 1) are one label,
written 1, in every format. What is missing is no label.
"""

from __future__ import annotations

import math
from array import array
from datetime import date, time
from decimal import Decimal
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any
from uuid import UUID

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from numpy.typing import NDArray

    from probative.errors import InputError

    Ints = NDArray[np.int32]

__all__ = ["Column", "label_text", "numbered"]

_MISSING_TYPES = {"NAType", "NaTType", "MaskedConstant"}
_EXPECTED = "expected text, a number or a truth value"
# The places of missing labels that a message names, and the longest number.
_NAMED, _DIGITS = 3, 4_000


def label_text(value: Any) -> str | None:
    """The text of a label; None for what is missing: None, NaN, NA, an infinity, empty text.

    Parameters
    ----------
    value
        Text, a number, a truth value, a date or a UUID; a TypeError or a ValueError tells of
        anything else.

    Examples
    --------
    >>> [label_text(value) for value in ("1.0", 1.0, True, 2**60 + 1, 0.5, float("nan"))]
    ['1.0', '1', '1', '1152921504606846977', '0.5', None]
    """
    if isinstance(value, bytes):
        value = value.decode()
    if isinstance(value, str):
        value.encode()  # half a character is no text
        return str(value) or None
    if value is None or type(value).__name__ in _MISSING_TYPES:
        return None
    if isinstance(value, (Integral, np.bool_)):
        return str(int(value))
    if isinstance(value, (Real, Decimal)):
        return _number_text(value)
    if isinstance(value, np.datetime64):
        return None if np.isnat(value) else str(value)
    if isinstance(value, (date, time, UUID)):
        return str(value)
    raise TypeError(type(value).__name__)


def _number_text(value: Any) -> str | None:
    if isinstance(value, Decimal) and value.is_finite() and abs(value.adjusted()) > _DIGITS:
        raise ValueError("too many digits")
    number = float(value)
    if not math.isfinite(number):
        return str(value.to_integral_value()) if _is_large(value) else None
    if value == number:
        return str(int(number)) if number.is_integer() else repr(number)
    if not isinstance(value, Decimal):
        return str(value)
    if Decimal(repr(number)) == value:
        return repr(number)
    return str(int(value)) if value == value.to_integral_value() else f"{value.normalize():f}"


def _is_large(value: Any) -> bool:
    return isinstance(value, Decimal) and value.is_finite()


class Column:
    """A column of labels that is read value by value: what it holds, and where."""

    def __init__(self) -> None:
        self._code: dict[Any, int] = {}
        self._codes = array("i")

    def add(self, value: Any) -> None:
        """Take the next value."""
        code = self._code
        self._codes.append(code.setdefault(value, len(code)))

    def extend(self, values: Iterable[Any]) -> None:
        """Take many values."""
        code = self._code
        self._codes.extend(code.setdefault(value, len(code)) for value in values)

    def __len__(self) -> int:
        return len(self._codes)

    def numbered(
        self, error: Callable[[str], InputError], item: str = "item"
    ) -> tuple[Ints, tuple[str, ...]]:
        """Give every label a number.

        Parameters
        ----------
        error
            Makes an error of a message, which says what is wrong with the column.
        item
            What the places of labels are called in messages.

        Returns
        -------
        codes, names
            A number an item, and the text that every number stands for.
        """
        codes = np.frombuffer(self._codes, dtype=np.intc).astype(np.int32)
        texts = [self._text(value, code, error, item) for value, code in self._code.items()]
        names = tuple(sorted({text for text in texts if text is not None}))
        number = {name: i for i, name in enumerate(names)}
        merged = np.array([-1 if t is None else number[t] for t in texts], dtype=np.int32)[codes]
        missing = np.flatnonzero(merged < 0)
        if len(missing):
            places = ", ".join(str(i + 1) for i in missing[:_NAMED].tolist())
            more = ", …" if len(missing) > _NAMED else ""
            raise error(
                f"has missing labels: {len(missing)} of {len(codes)} ({item} {places}{more}); "
                f"expected one for every {item}"
            )
        return merged, names

    def _text(
        self, value: Any, code: int, error: Callable[[str], InputError], item: str
    ) -> str | None:
        try:
            return label_text(value)
        except (TypeError, ValueError, ArithmeticError):
            place = self._codes.index(code) + 1
            raise error(f"{item} {place} is {value!r:.60}; {_EXPECTED}") from None


def numbered(
    values: Iterable[Any], error: Callable[[str], InputError], item: str = "item"
) -> tuple[Ints, tuple[str, ...]]:
    """Give every label of a sequence a number, as `Column.numbered` does."""
    column = Column()
    try:
        column.extend(values)
    except TypeError:  # it has no hash
        raise error(f"{item} {len(column) + 1} is no label; {_EXPECTED}") from None
    return column.numbered(error, item)
