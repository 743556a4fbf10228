"""Checks of arguments that the public functions share; every error names the parameter.

One helper a kind of argument: a choice, a share, a number, a whole number, names, amounts, a source
of random numbers. What is not of its kind is an `InputError`, whatever its type.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from probative.errors import InputError, suggestion

if TYPE_CHECKING:
    from collections.abc import Collection

    from numpy.typing import NDArray

__all__ = [
    "MOST",
    "amounts",
    "finite",
    "fraction",
    "names_of",
    "one_of",
    "open_probability",
    "positive",
    "random_generator",
    "shown",
    "whole_number",
]

# The most that can be counted: up to here every whole number has its own float.
MOST = 2**53


def shown(value: object) -> str:
    """A value as it can stand in a one-line message."""
    try:
        text = " ".join(repr(value).split())
    except Exception:  # an integer of more than 4,300 digits, or somebody's own class
        text = f"a value of type {type(value).__name__}"
    return text if len(text) <= 80 else text[:80] + "…"


def one_of(parameter: str, value: object, options: Collection[str]) -> str:
    """Return `value` if it is one of the options, else say which there are."""
    if isinstance(value, str) and value in options:
        return value
    listed = ", ".join(list(options)[:40]) + (", …" if len(options) > 40 else "")
    raise InputError(
        f"{parameter}: unknown {shown(value)}; expected one of {listed}"
        + suggestion(shown(value), options)
    )


def names_of(parameter: str, value: Any) -> tuple[str, ...]:
    """Return several names as a tuple; a single text is refused, since it is a sequence, too."""
    if isinstance(value, Iterable) and not isinstance(value, (str, bytes)):
        names = tuple(value)
        if all(isinstance(name, str) for name in names):
            return names
    raise InputError(f"{parameter}: {shown(value)}; expected a list of names (str)")


def finite(parameter: str, value: Any) -> float:
    """Return `value` as a finite number."""
    number = _number(parameter, value)
    if not math.isfinite(number):
        raise InputError(f"{parameter}: {shown(value)} is not a finite number")
    return number


def open_probability(parameter: str, value: Any) -> float:
    """Return `value` as a number strictly between 0 and 1."""
    number = _number(parameter, value)
    if not 0 < number < 1:
        raise InputError(f"{parameter}: {shown(value)} is not between 0 and 1")
    return number


def positive(parameter: str, value: Any, *, zero: bool = False) -> float:
    """Return `value` as a finite number above 0 (or 0 too, where `zero` allows it)."""
    number = _number(parameter, value)
    if not math.isfinite(number) or number < 0 or (number == 0 and not zero):
        sign = ">=" if zero else ">"
        raise InputError(f"{parameter}: {shown(value)} is not a finite number {sign} 0")
    return number


def fraction(parameter: str, value: Any) -> float:
    """Return `value` as a number of at least 0 and below 1: a margin or region around 0."""
    number = positive(parameter, value, zero=True)
    if number >= 1:
        raise InputError(
            f"{parameter}: {value!r} is not below 1; expected a fraction of 1: 0.01 is one point"
        )
    return number


def whole_number(parameter: str, value: Any, *, least: int = 1, most: int = MOST) -> int:
    """Return `value` as an int of at least `least` and at most `most`."""
    number = _number(parameter, value)
    if not number.is_integer() or number < least:
        raise InputError(f"{parameter}: {shown(value)} is not a whole number >= {least}")
    if number > most:
        raise InputError(f"{parameter}: {shown(value)} is too large; expected at most {most}")
    return int(value)


def amounts(parameter: str, value: Any) -> NDArray[np.float64]:
    """Return `value` as an array of its own of numbers >= 0, none missing, that stays as it is."""
    array = _numbers(parameter, value)
    # min and max carry NaN along, so two passes check everything
    if array.size and not (array.min() >= 0 and array.max() <= MOST):
        if array.max() > MOST and np.isfinite(array).all() and array.min() >= 0:
            raise InputError(f"{parameter}: {array.max():g} is too large; expected at most 2**53")
        wrong = array[~(np.isfinite(array) & (array >= 0))].flat[0]
        raise InputError(f"{parameter}: {wrong:g} is not a finite number >= 0")
    array.flags.writeable = False
    return array


def _numbers(parameter: str, value: Any) -> NDArray[np.float64]:
    """A new array of floats from numbers of any kind; text, even of digits, is none."""
    try:
        if np.ma.is_masked(value):
            missing = int(np.ma.getmaskarray(value).sum())
            raise InputError(f"{parameter}: {missing} values are masked; expected a number each")
        array = np.asarray(value)
        if array.dtype.kind == "O":
            text = any(isinstance(item, (str, bytes)) for item in array.ravel().tolist())
        else:
            text = array.dtype.kind not in "biuf"
        if not text:
            return np.array(array, dtype=np.float64)
    except InputError:
        raise
    except (TypeError, ValueError, OverflowError, ArithmeticError):
        pass
    raise InputError(f"{parameter}: {shown(value)} is not a number or an array of numbers")


def random_generator(rng: Any) -> np.random.Generator:
    """Return the generator that SciPy's `rng` argument stands for: a seed, a generator or None."""
    try:
        return np.random.default_rng(rng)
    except (TypeError, ValueError, OverflowError):
        raise InputError(f"rng: {shown(rng)} is not a seed or a numpy.random.Generator") from None


def _number(parameter: str, value: Any) -> float:
    """One number; text and truth values are none."""
    try:
        if not isinstance(value, (str, bytes, bool, np.bool_)) and np.ndim(value) == 0:
            return float(value)
    except (TypeError, ValueError, OverflowError, ArithmeticError):
        pass
    raise InputError(f"{parameter}: {shown(value)} is not a number")
