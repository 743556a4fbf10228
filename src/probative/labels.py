"""Turn values of tables, arrays and lists into label texts; decide which label is "yes"."""

from __future__ import annotations

import math
import re
from array import array
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence, Set
from datetime import date, time
from decimal import Decimal
from itertools import count
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from probative._validation import shown
from probative.errors import InputError

# --- The text of a label
#
# Labels are compared by their text. A number has the shortest text that identifies its value,
# without a decimal point if it is whole, so that 1 and 1.0 (and True, which equals 1) are one
# label, written 1, in every format. A missing value is not a label.

if TYPE_CHECKING:
    Ints = NDArray[np.int32]

_MISSING_TYPES = {"NAType", "NaTType", "MaskedConstant"}
EXPECTED_LABEL = "expected text, a number or a truth value"
_PLACES_SHOWN = 3  # of missing labels, in messages
_MOST_DIGITS = 4_000  # of a decimal number that is a label
_SHORT_TABLE = 2**16  # of all integers between the least and the largest label


def label_text(value: Any) -> str | None:
    """Return the text of a label; None for a missing one: None, NaN, NA, infinity, empty text."""
    # raises TypeError or ValueError unless it is text, a number, a truth value, a date or a UUID
    if isinstance(value, bytes):
        value = value.decode()
    if isinstance(value, str):
        value.encode()  # refuse lone surrogates
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
    """Return True if a value is a missing label; False for one that cannot be a label at all."""
    try:
        return label_text(value) is None
    except (TypeError, ValueError, ArithmeticError):
        return False


def missing_labels(number: int, total: int, where: str = "", item: str = "row") -> str:
    """Return the end of the message on so many missing labels in a column."""
    return f"has missing labels: {number:,} of {total:,}{where}; expected one for every {item}"


def label_name(parameter: str, value: Any) -> str:
    """Return the text of a label given as an argument."""
    (_, (name,)) = labels_of([value], lambda text: InputError(f"{parameter}: {text}"), "label")
    return name


def _number_text(value: Any) -> str | None:
    if isinstance(value, Decimal):
        if not value.is_finite():
            return None
        if abs(value.adjusted()) > _MOST_DIGITS:
            raise ValueError("too many digits")
        if value == value.to_integral_value():
            return str(int(value))
        number = float(value)
        return repr(number) if Decimal(repr(number)) == value else f"{value:f}".rstrip("0")
    number = float(value)
    if not math.isfinite(number):
        return None
    if number != value:  # a fraction that is not exactly a float
        return str(value)
    return str(int(number)) if number.is_integer() else repr(number)


class Column:
    """Column of labels that is read value by value."""

    def __init__(self) -> None:
        self._code: dict[Any, int] = defaultdict(count().__next__)  # numbers new values
        self._codes = array("i")

    def add(self, value: Any) -> None:
        """Append a value."""
        self._codes.append(self._code[value])

    def extend(self, values: Sequence[Any]) -> None:
        """Append many values."""
        self._codes.extend(map(self._code.__getitem__, values))

    def read(self) -> tuple[Ints, list[Any]]:
        """Return the code of every value, and the value of every code."""
        return np.array(self._codes, dtype=np.int32), list(self._code)


def items_of(name: str, values: Any) -> Any:
    """Return the values of a list, an array or a column as Python objects, masked ones as None."""
    # integers and truth values of NumPy and pandas stay an array: `factorise` needs no objects
    if isinstance(values, np.ndarray) and values.ndim != 1:
        raise InputError(f"{name}: shape {values.shape}; expected one label per item")
    dtype = getattr(values, "dtype", None)
    if isinstance(dtype, np.dtype) and dtype.kind in "biu" and not np.ma.isMaskedArray(values):
        return np.asarray(values)
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


def factorise(values: Sequence[Any] | NDArray[Any]) -> tuple[Ints, list[Any]]:
    """Return one code per value, and the distinct values; TypeError if one is not hashable."""
    if isinstance(values, np.ndarray) and values.dtype.kind in "biu":
        codes, distinct = distinct_integers(values)
        return codes, distinct.tolist()
    return factorise_each(values, len(values))


def factorise_each(values: Iterable[Any], size: int) -> tuple[Ints, list[Any]]:
    """Return one code per value, and the distinct values in the order of their first occurrence."""
    code: dict[Any, int] = defaultdict(count().__next__)  # numbers new values
    return np.fromiter(map(code.__getitem__, values), np.int32, size), list(code)


def distinct_integers(values: NDArray[Any]) -> tuple[Ints, NDArray[Any]]:
    """Return one code per integer, and the distinct integers in order."""
    if not len(values):
        return np.zeros(0, dtype=np.int32), values
    least, most = int(values.min()), int(values.max())
    if most - least >= max(_SHORT_TABLE, len(values)) or most >= 2**63:
        distinct, codes = np.unique(values, return_inverse=True)
        return codes.astype(np.int32), distinct
    # a table of all integers between the least and the largest is short
    place = values.astype(np.int64) - least
    there = np.bincount(place, minlength=most - least + 1) > 0
    code = np.cumsum(there, dtype=np.int32) - np.int32(1)
    return code[place], np.flatnonzero(there) + least


def place_of_unhashable(values: Sequence[Any]) -> int:
    """Return the index of the first value that is not hashable."""
    seen = iter(values)
    try:
        dict.fromkeys(seen)
    except TypeError:
        return len(values) - len(list(seen)) - 1
    return len(values)


# Texts that are all decimal numbers are continuous from so many different ones on, if half of
# the items or more have one of their own; ratings such as 3.5 are classes.
_DIFFERENT_DECIMALS = 20
_DECIMAL = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?", re.IGNORECASE)


def refuse_continuous(
    values: Sequence[Any], error: Callable[[str], InputError], items: int
) -> None:
    """Refuse distinct numbers that are not all whole as classes of gold."""
    # Texts may be classes, and numbers among texts; but not decimal numbers most of which occur
    # once among so many `items`, as files without types hold them.
    kinds = set(map(type, values))
    if kinds == {str}:
        if len(values) < max(_DIFFERENT_DECIMALS, items / 2):
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
            f"holds continuous numbers such as {example}, which are no classes; expected classes, "
            "probabilities only as the output (threshold=), or numbers as strings where they are "
            "names"
        )


def labels_of(
    values: Sequence[Any], error: Callable[[str], InputError], item: str = "item"
) -> tuple[Ints, tuple[str, ...]]:
    """Return codes and names of the labels of a sequence, as `named` does."""
    return named(*factorise_labels(values, error, item), error, item)


def labels_in(name: str, values: Any, item: str = "item") -> tuple[Ints, tuple[str, ...]]:
    """Return codes and names of the labels of an argument."""
    return labels_of(items_of(name, values), lambda text: InputError(f"{name}: {text}"), item)


def factorise_labels(
    values: Sequence[Any], error: Callable[[str], InputError], item: str = "item"
) -> tuple[Ints, list[Any]]:
    """Factorise values that shall be labels; refuse one that is not hashable."""
    try:
        return factorise(values)
    except TypeError:
        place = place_of_unhashable(values)
        raise error(f"{item} {place + 1} is {shown(values[place])}; {EXPECTED_LABEL}") from None


def named(
    codes: Ints, values: Sequence[Any], error: Callable[[str], InputError], item: str = "item"
) -> tuple[Ints, tuple[str, ...]]:
    """Merge codes of values that have the same text; return the codes and the sorted texts."""
    texts = texts_of(codes, values, error, item)
    names = tuple(sorted({text for text in texts if text is not None}))
    number = {name: i for i, name in enumerate(names)}
    merged = np.array([-1 if t is None else number[t] for t in texts], dtype=np.int32)[codes]
    missing = np.flatnonzero(merged < 0)
    if len(missing):
        places = ", ".join(str(i + 1) for i in missing[:_PLACES_SHOWN].tolist())
        more = ", …" if len(missing) > _PLACES_SHOWN else ""
        where = f" ({item} {places}{more})"
        raise error(missing_labels(len(missing), len(codes), where, item))
    return merged, names


def texts_of(
    codes: Ints, values: Sequence[Any], error: Callable[[str], InputError], item: str = "item"
) -> list[str | None]:
    """Return the texts of values, None for missing ones; refuse one that can be no label."""
    texts = []
    for code, value in enumerate(values):
        try:
            texts.append(label_text(value))
        except (TypeError, ValueError, ArithmeticError):
            place = int(np.argmax(codes == code)) + 1
            raise error(f"{item} {place} is {shown(value)}; {EXPECTED_LABEL}") from None
    return texts


# --- The positive class of two

# Pairs of "no" and "yes".
_YES = (("0", "1"), ("False", "True"), ("false", "true"), ("no", "yes"), ("-1", "1"))


def positive_label(labels: Collection[str]) -> str | None:
    """Return the "yes" if all labels belong to one known pair of "no" and "yes", else None."""
    used = set(labels)
    return next((yes for no, yes in _YES if used <= {no, yes}), None)


def other_class(yes: str) -> str:
    """Return the "no" that belongs to a "yes": its pair if known, else "not …"."""
    return next((no for no, known in _YES if known == yes), f"not {yes}")
