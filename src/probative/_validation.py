"""Checks of arguments that the public functions share; every error names the parameter."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from probative.errors import InputError, suggestion

if TYPE_CHECKING:
    from collections.abc import Collection

    from numpy.typing import NDArray

__all__ = [
    "amounts",
    "fraction",
    "one_of",
    "open_probability",
    "positive",
    "random_generator",
    "whole_number",
]


def one_of(parameter: str, value: object, options: Collection[str]) -> str:
    """Return `value` if it is one of the options, else say which there are."""
    if isinstance(value, str) and value in options:
        return value
    raise InputError(
        f"{parameter}: unknown {value!r}; expected one of {', '.join(options)}"
        + suggestion(value, options)
    )


def open_probability(parameter: str, value: Any) -> float:
    """Return `value` as a number strictly between 0 and 1."""
    number = _number(parameter, value)
    if not 0 < number < 1:
        raise InputError(f"{parameter}: {value!r} is not between 0 and 1")
    return number


def positive(parameter: str, value: Any, *, zero: bool = False) -> float:
    """Return `value` as a finite number above 0 (or 0 too, where `zero` allows it)."""
    number = _number(parameter, value)
    if not math.isfinite(number) or number < 0 or (number == 0 and not zero):
        raise InputError(f"{parameter}: {value!r} is not a finite number {'>=' if zero else '>'} 0")
    return number


def fraction(parameter: str, value: Any) -> float:
    """Return `value` as a number of at least 0 and below 1: a margin or region around 0."""
    number = positive(parameter, value, zero=True)
    if number >= 1:
        raise InputError(
            f"{parameter}: {value!r} is not below 1; expected a fraction of 1: 0.01 is one point"
        )
    return number


def whole_number(parameter: str, value: Any, *, least: int = 1) -> int:
    """Return `value` as an int of at least `least`."""
    number = _number(parameter, value)
    if not number.is_integer() or number < least:
        raise InputError(f"{parameter}: {value!r} is not a whole number >= {least}")
    return int(value)


def amounts(parameter: str, value: Any) -> NDArray[np.float64]:
    """Return `value` as an array of finite numbers >= 0, none of which is missing."""
    try:
        array = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(f"{parameter}: {value!r} is not a number or an array of numbers") from None
    # min and max carry NaN along, so two passes check everything
    if array.size and not (array.min() >= 0 and array.max() < math.inf):
        wrong = array[~(np.isfinite(array) & (array >= 0))].flat[0]
        raise InputError(f"{parameter}: {wrong:g} is not a finite number >= 0")
    return array


def random_generator(rng: Any) -> np.random.Generator:
    """Return the generator that SciPy's `rng` argument stands for: a seed, a generator or None."""
    try:
        return np.random.default_rng(rng)
    except (TypeError, ValueError):
        raise InputError(f"rng: {rng!r} is not a seed or a numpy.random.Generator") from None


def _number(parameter: str, value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        raise InputError(f"{parameter}: {value!r} is not a number") from None
