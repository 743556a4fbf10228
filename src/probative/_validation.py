"""Validate arguments that public functions share; every error names the parameter."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence, Sized
from functools import wraps
from pathlib import Path
from typing import Any, ParamSpec, Protocol, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from probative.errors import ONE_POINT, InputError, suggestion

_P = ParamSpec("_P")
_T = TypeVar("_T")

# The largest count: up to here every whole number is exactly a float.
MOST = 2**53
# The smallest number other than 0: its square is not 0.
_SMALLEST = 1e-150


def shown(value: object) -> str:
    """Return a value as text for a one-line message."""
    try:
        text = " ".join(repr(value).split())
    except Exception:  # an integer of more than 4,300 digits, or a broken __repr__
        text = f"a value of type {type(value).__name__}"
    return shortened(text, 80)


def shortened(text: str, most: int) -> str:
    """Return the beginning of a text, with an ellipsis for the rest."""
    return text if len(text) <= most else f"{text[:most]}…"


def one_of(parameter: str, value: object, options: Collection[str]) -> str:
    """Return `value` if it is one of the options, else refuse it and list them."""
    if isinstance(value, str) and value in options:
        return value
    listed = ", ".join(list(options)[:40]) + (", …" if len(options) > 40 else "")
    raise InputError(
        f"{parameter}: unknown {shown(value)}; expected one of {listed}"
        + (suggestion(value[:80], options) if isinstance(value, str) else "")
    )


def names_of(parameter: str, value: Any) -> tuple[str, ...]:
    """Return several names as a tuple; refuse a single text, which is a sequence, too."""
    try:
        names = (None,) if isinstance(value, (str, bytes)) else tuple(value)
    except TypeError:
        names = (None,)
    if all(isinstance(name, str) for name in names):
        return names
    raise InputError(f"{parameter}: {shown(value)}; expected a list of names (str)")


def columns_of(parameter: str, value: Any) -> tuple[int | str | None, ...]:
    """Return columns, by name or number, as a tuple; None stands for the usual one."""
    if isinstance(value, (list, tuple)) and all(_is_column(column) for column in value):
        return tuple(value)
    raise InputError(f"{parameter}: {shown(value)}; expected names or numbers of columns")


def _is_column(value: object) -> bool:
    if isinstance(value, int) and not isinstance(value, bool):
        return abs(value) < 2**31
    return value is None or isinstance(value, str)


def flag(parameter: str, value: Any) -> bool:
    """Return `value` if it is True or False."""
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    raise InputError(f"{parameter}: {shown(value)}; expected True or False")


def finite(parameter: str, value: Any) -> float:
    """Return `value` as a finite number."""
    number = one_number(parameter, value)
    if not math.isfinite(number):
        raise InputError(f"{parameter}: {shown(value)} is not a finite number")
    return number


def open_probability(parameter: str, value: Any) -> float:
    """Return `value` as a number strictly between 0 and 1."""
    number = one_number(parameter, value)
    if not 0 < number < 1:
        raise InputError(f"{parameter}: {shown(value)} is not between 0 and 1")
    return number


def positive(parameter: str, value: Any, *, zero: bool = False) -> float:
    """Return `value` as a finite number above 0 (with `zero`, 0 is allowed, too)."""
    number = one_number(parameter, value)
    if not math.isfinite(number) or number < 0 or (number == 0 and not zero):
        sign = ">=" if zero else ">"
        raise InputError(f"{parameter}: {shown(value)} is not a finite number {sign} 0")
    if number > MOST or 0 < number < _SMALLEST:
        raise InputError(
            f"{parameter}: {shown(value)} is too {'large' if number > MOST else 'small'}; expected "
            f"a number from {_SMALLEST:g} to 2**53"
        )
    return number


def fraction(parameter: str, value: Any) -> float:
    """Return `value` as a number of at least 0 and below 1, for a margin or a region around 0."""
    number = positive(parameter, value, zero=True)
    if number >= 1:
        raise InputError(
            f"{parameter}: {shown(value)} is not below 1; expected a fraction of 1: {ONE_POINT}"
        )
    return number


def whole_number(parameter: str, value: Any, *, least: int = 1, most: int = MOST) -> int:
    """Return `value` as an int of at least `least` and at most `most`."""
    number = one_number(parameter, value)
    if not number.is_integer() or number < least:
        raise InputError(f"{parameter}: {shown(value)} is not a whole number >= {least}")
    if number > most:
        raise InputError(f"{parameter}: {shown(value)} is too large; expected at most {most}")
    return int(value)


def amounts(parameter: str, value: Any) -> NDArray[np.float64]:
    """Return `value` as a new read-only array of finite numbers >= 0."""
    array = numbers(parameter, value)
    # min and max propagate NaN, so two passes check everything
    low, high = (array.min(), array.max()) if array.ndim and array.size else (array, array)
    if array.size and not (low >= 0 and high <= MOST):
        if array.max() > MOST and np.isfinite(array).all() and array.min() >= 0:
            raise InputError(f"{parameter}: {array.max():g} is too large; expected at most 2**53")
        wrong = array[~(np.isfinite(array) & (array >= 0))].flat[0]
        raise InputError(f"{parameter}: {wrong:g} is not a finite number >= 0")
    array.flags.writeable = False
    return array


def factors(parameter: str, value: Any, *, zero: bool = True) -> NDArray[np.float64]:
    """Return `value` as factors that counts can be multiplied with, or divided by (zero=False)."""
    array = numbers(parameter, value)
    if not (np.isfinite(array) & (array >= 0)).all() or not (zero or (array >= _SMALLEST).all()):
        sign = ">=" if zero else ">"
        raise InputError(f"{parameter}: {shown(value)}; expected finite numbers {sign} 0")
    return array


def numbers(parameter: str, value: Any) -> NDArray[np.float64]:
    """Return a new array of floats from numbers of any kind; refuse text, even of digits."""
    try:
        # most are, and need no further look
        floats = type(value) is np.ndarray and value.dtype == np.float64
        if floats or type(value) in (float, np.float64):
            return np.array(value)
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


def random_generator(rng: Any, parameter: str = "rng") -> np.random.Generator:
    """Return the generator for SciPy's `rng` argument: a seed, a generator or None."""
    try:
        return np.random.default_rng(rng)
    except Exception:  # NumPy raises several types
        found = f"{parameter}: {shown(rng)} is not a seed"
        raise InputError(f"{found} or a numpy.random.Generator") from None


def accepts_seed(function: Callable[_P, _T]) -> Callable[_P, _T]:
    """Let a function take its `rng` as `seed`, too, which is its name on the command line."""

    @wraps(function)
    def call(*given: _P.args, **named: _P.kwargs) -> _T:
        if "seed" in named:
            if "rng" in named:
                raise InputError("seed: another name of rng; expected one of the two")
            named["rng"] = named.pop("seed")
        return function(*given, **named)

    return call


def one_number(parameter: str, value: Any) -> float:
    """Return `value` as a float; refuse text and truth values."""
    if type(value) is float:
        return value
    try:
        if not isinstance(value, (str, bytes, bool, np.bool_)) and np.ndim(value) == 0:
            return float(value)
    except (TypeError, ValueError, OverflowError, ArithmeticError):
        pass
    raise InputError(f"{parameter}: {shown(value)} is not a number")


# --- Types of arguments and results of public functions

Array: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int64]
Mask: TypeAlias = NDArray[np.bool_]
# One number for one table, an array for an array of tables. Callers know which of the two they
# have; `float | Array` would make them prove it at every use, so the second stays open.
Number: TypeAlias = float | Any
# Words, one per table.
Words: TypeAlias = NDArray[Any]
# a seed, or a source of random numbers of NumPy
RNG: TypeAlias = (
    int | Sequence[int] | np.random.SeedSequence | np.random.BitGenerator | np.random.Generator
)


class _Column(Protocol):  # of a data frame of pandas, Polars or PyArrow
    def to_numpy(self) -> NDArray[Any]: ...


class _Frame(Protocol):  # data frame of pandas, Polars or PyArrow
    @property
    def columns(self) -> Any: ...


class _Matrix(Protocol):  # array without a length, such as a sparse matrix
    @property
    def shape(self) -> tuple[int, ...]: ...


class Model(Protocol):
    """Model that can be trained: a scikit-learn classifier, or any object with these methods."""

    def fit(self, X: Any, y: Any, /) -> object:
        """Learn from instances and their labels."""

    def predict(self, X: Any, /) -> Any:
        """Return a label for each instance."""


# one label per item: text, whole numbers, truth values
Labels: TypeAlias = Sequence[Any] | NDArray[Any] | _Column
# a path; labels; tags, words or spans of each sentence; a data frame
Input: TypeAlias = str | Path | Labels | _Frame
# an output, or outputs by the names of their systems
Systems: TypeAlias = Input | Mapping[str, Input]
# a path, or numbers for each sentence
Rows: TypeAlias = str | Path | Sequence[Sequence[float]] | Sequence[Array] | Array
# anything that has a number of instances
Instances: TypeAlias = Sized | _Matrix
# classes, a matrix of counts, counts by name; False for none
Strata: TypeAlias = Labels | _Matrix | _Frame | Mapping[str, Labels] | bool
