"""Turn values of tables, arrays and lists into label texts; decide which label is "yes"."""

from __future__ import annotations

import math
import re
from array import array
from collections.abc import Mapping, Set
from datetime import date, time
from decimal import Decimal
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any
from uuid import UUID

import numpy as np

from probative._validation import shown
from probative.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from numpy.typing import NDArray


# -----------------------------------------------------------------------------
# What a value of a table, an array or a list is called as a label.
#
# Labels are compared by their text. Text is its own; a number's is the shortest that tells its
# value, without a point where it is whole, so that 1 and 1.0 (and True, which equals 1) are one
# label, written 1, in every format. What is missing is no label.
# -----------------------------------------------------------------------------

if TYPE_CHECKING:
    Ints = NDArray[np.int32]


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


def is_missing(value: Any) -> bool:
    """Whether there is no label; what can be none at all is not missing, but wrong."""
    try:
        return label_text(value) is None
    except (TypeError, ValueError, ArithmeticError):
        return False


def label_name(parameter: str, value: Any) -> str:
    """The text of a label that was asked for."""
    (_, (name,)) = labels_of([value], lambda text: InputError(f"{parameter}: {text}"), "label")
    return name


def _number_text(value: Any) -> str | None:
    if isinstance(value, Decimal):
        return _decimal_text(value)
    number = float(value)
    if not math.isfinite(number):
        return None
    if number != value:  # a fraction that no float equals
        return str(value)
    return str(int(number)) if number.is_integer() else repr(number)


def _decimal_text(value: Decimal) -> str | None:
    if not value.is_finite():
        return None
    if abs(value.adjusted()) > _DIGITS:
        raise ValueError("too many digits")
    if value == value.to_integral_value():
        return str(int(value))
    number = float(value)
    return repr(number) if Decimal(repr(number)) == value else f"{value:f}".rstrip("0")


class Column:
    """A column of labels that is read value by value."""

    def __init__(self) -> None:
        self._code: dict[Any, int] = {}
        self._codes = array("i")

    def add(self, value: Any) -> None:
        """Take the next value."""
        code = self._code
        self._codes.append(code.setdefault(value, len(code)))

    def extend(self, values: Sequence[Any]) -> None:
        """Take many values; all before the first that has no hash, if there is one."""
        code = self._code
        try:
            fresh = dict.fromkeys(values)
        except TypeError:
            self._codes.extend(code.setdefault(value, len(code)) for value in values)
            raise
        for value in fresh:
            code.setdefault(value, len(code))
        self._codes.extend(map(code.__getitem__, values))

    @property
    def codes(self) -> Ints:
        """One number per value."""
        return np.array(self._codes, dtype=np.int32)

    @property
    def values(self) -> list[Any]:
        """The value that every number stands for."""
        return list(self._code)


def items_of(name: str, values: Any) -> list[Any]:
    """The values of a list, an array or a column as Python objects, with what is masked as None."""
    if isinstance(values, np.ndarray) and values.ndim != 1:
        raise InputError(f"{name}: shape {values.shape}; expected one label per item")
    if isinstance(values, (str, bytes, Mapping, Set)):
        raise InputError(f"{name}: {shown(values)}; expected a list with one label per item")
    for method in ("to_pylist", "to_list", "tolist"):  # Arrow, Polars, pandas and NumPy
        if hasattr(values, method):
            values = getattr(values, method)()
            break
    try:
        return list(values)
    except TypeError:
        raise InputError(f"{name}: {shown(values)}; expected one label per item") from None


# Texts that are all decimal numbers are continuous from so many different ones on, if half of
# the items or more have one of their own; ratings such as 3.5 are classes.
_DIFFERENT_DECIMALS = 20
_DECIMAL = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?", re.IGNORECASE)


def refuse_continuous(
    values: Sequence[Any], error: Callable[[str], InputError], items: int | None = None
) -> None:
    """Refuse numbers that are not all whole as classes of gold.

    Texts may be classes, and numbers among texts; but not decimal numbers most of which occur once
    among so many `items`, as files without types hold them.
    """
    kinds = set(map(type, values))
    if kinds == {str}:
        different = len(set(values))
        if different < max(_DIFFERENT_DECIMALS, (items or len(values)) / 2):
            return
        if not all(map(_DECIMAL.fullmatch, values)):
            return
        values = [float(value) for value in values]
    elif not all(issubclass(kind, (Real, np.bool_)) for kind in kinds):
        return
    numbers = (v for v in values if isinstance(v, (float, np.floating)) and math.isfinite(v))
    example = next((number for number in numbers if not float(number).is_integer()), None)
    if example is not None:
        raise error(
            f"holds continuous numbers such as {example}, which are no classes; expected classes "
            f"(graded scores cut into some), probabilities as the output alone (threshold=), or "
            f"strings where numbers are names"
        )


def labels_of(
    values: Sequence[Any], error: Callable[[str], InputError], item: str = "item"
) -> tuple[Ints, tuple[str, ...]]:
    """Number the labels of a sequence, as `named` does."""
    column = Column()
    try:
        column.extend(values)
    except TypeError:  # it has no hash
        place = len(column.codes)
        raise error(f"{item} {place + 1} is {shown(values[place])}; {_EXPECTED}") from None
    return named(column.codes, column.values, error, item)


def named(
    codes: Ints, values: Sequence[Any], error: Callable[[str], InputError], item: str = "item"
) -> tuple[Ints, tuple[str, ...]]:
    """Number labels by their texts, so that equal ones have one number; refuse what is none.

    Parameters
    ----------
    codes, values
        One number per item, and the value that every number stands for.
    error
        Makes an error of a message, which says what is wrong with the column.
    item
        What the places of labels are called in messages.

    Returns
    -------
    codes, names
        One number per item, and the text that every number stands for.
    """
    texts = []
    for code, value in enumerate(values):
        try:
            texts.append(label_text(value))
        except (TypeError, ValueError, ArithmeticError):
            place = int(np.argmax(codes == code)) + 1
            raise error(f"{item} {place} is {shown(value)}; {_EXPECTED}") from None
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


# -----------------------------------------------------------------------------
# Which of two classes is the "yes" that precision and recall speak of: one rule for all.
# -----------------------------------------------------------------------------

# Pairs of labels of which the second means "yes".
_YES = (("0", "1"), ("False", "True"), ("false", "true"), ("no", "yes"), ("-1", "1"))


def positive_label(labels: Collection[str]) -> str | None:
    """Return the "yes" of labels that say which it is, else None.

    Parameters
    ----------
    labels
        The texts of all labels that occur.

    Examples
    --------
    >>> from probative.labels import positive_label
    >>> positive_label(["no", "yes"]), positive_label(["maybe", "yes"]), positive_label(["1", "2"])
    ('yes', None, None)
    """
    used = set(labels)
    return next((yes for no, yes in _YES if used <= {no, yes}), None)


def other_class(yes: str) -> str:
    """Return the "no" that belongs to a "yes"; where none does, what says so.

    Parameters
    ----------
    yes
        The text of the positive label.

    Examples
    --------
    >>> from probative.labels import other_class
    >>> other_class("yes"), other_class("spam")
    ('no', 'not spam')
    """
    return next((no for no, known in _YES if known == yes), f"not {yes}")
