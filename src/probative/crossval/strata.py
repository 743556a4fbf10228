"""What the blocks shall have equal shares of, as distinct rows of counts of strata."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from probative._validation import amounts
from probative.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Strata", "length_of", "strata_of"]

_MOST_CLASSES = 4000  # their matrix is dense


@dataclass(frozen=True, eq=False)
class Strata:
    """Counts of strata of instances.

    Attributes
    ----------
    kind
        The row of `rows` that every instance has.
    rows
        Distinct rows of counts of strata.
    names
        What the strata are called.
    """

    kind: NDArray[np.intp]
    rows: NDArray[np.float64]
    names: tuple[str, ...]

    @cached_property
    def totals(self) -> NDArray[np.float64]:
        """How often every stratum occurs."""
        return np.asarray(np.bincount(self.kind, minlength=len(self.rows)) @ self.rows)

    def by_group(self, group: NDArray[np.intp], n_groups: int) -> NDArray[np.float64]:
        """The counts of strata of every group (or block) of instances."""
        weights = (self.rows[self.kind, stratum] for stratum in range(len(self.names)))
        columns = [np.bincount(group, weights=w, minlength=n_groups) for w in weights]
        return np.array(columns, dtype=np.float64).reshape(len(columns), n_groups).T


def length_of(name: str, data: Any) -> int:
    """The number of instances of a sequence, an array, a sparse matrix or a data frame."""
    shape = getattr(data, "shape", None)
    if shape:
        return int(shape[0])
    try:
        return len(data)
    except TypeError:
        raise InputError(f"{name}: {type(data).__name__} has no length") from None


def strata_of(regularize: Any, y: Any, n: int, n_blocks: int) -> Strata:
    """Strata of what the user gave: classes, a matrix, or nothing.

    Parameters
    ----------
    regularize
        Classes, a matrix, counts by the names of strata, False for nothing, or None for the
        classes in `y`.
    y
        What is to be predicted. It holds classes if its values are words or whole numbers that
        occur as often as there are blocks, on average.
    n, n_blocks
        The numbers of instances and of blocks.
    """
    if regularize is False:
        return _none(n)
    if regularize is None:
        labels = _labels(y, n)
        return _none(n) if labels is None else _classes(labels, most=n // n_blocks) or _none(n)
    matrix, names = _matrix(regularize)
    if matrix.shape[:1] != (n,) or matrix.ndim > 2:
        raise InputError(
            f"regularize: shape {matrix.shape}; expected a class or a row of counts of strata per "
            f"instance, and there are {n}"
        )
    if matrix.ndim == 1:
        strata = _classes(matrix, most=_MOST_CLASSES)
        if strata is None:
            raise InputError(f"regularize: more than {_MOST_CLASSES} classes")
        return strata
    counts = amounts("regularize", matrix)
    rows, kind = np.unique(counts, axis=0, return_inverse=True)
    named = range(1, counts.shape[1] + 1) if names is None else names
    return Strata(kind.reshape(-1), rows, tuple(str(name) for name in named))


def _matrix(regularize: Any) -> tuple[NDArray[Any], Any]:
    """What was given as an array, and the names of its columns, if they have names."""
    if isinstance(regularize, Mapping):
        columns = [np.asarray(column) for column in regularize.values()]
        if len({column.shape for column in columns}) != 1 or columns[0].ndim != 1:
            raise InputError("regularize: expected sequences of one length by the names of strata")
        return np.column_stack(columns), tuple(regularize)
    if hasattr(regularize, "toarray"):  # a sparse matrix
        return regularize.toarray(), None
    return np.asarray(regularize), getattr(regularize, "columns", None)


def _none(n: int) -> Strata:
    return Strata(np.zeros(n, dtype=np.intp), np.zeros((1, 0)), ())


def _labels(y: Any, n: int) -> NDArray[Any] | None:
    """The values of `y` if they can be classes, else None."""
    if y is None:
        return None
    if length_of("y", y) != n:
        raise InputError(f"y: {length_of('y', y)} values, but X has {n} instances")
    try:
        array = np.asarray(y)
    except ValueError:
        return None  # ragged: spans
    if array.ndim != 1 or (array.dtype.kind == "O" and not all(isinstance(v, str) for v in array)):
        return None
    fractions = array.dtype.kind == "f" and not np.array_equal(array, np.round(array))
    return None if fractions or array.dtype.kind not in "USObiuf" else array


def _classes(labels: NDArray[Any], most: int) -> Strata | None:
    names, kind = np.unique(labels, return_inverse=True)
    if len(names) > min(most, _MOST_CLASSES):
        return None
    shown = tuple(str(name) for name in names.tolist())
    return Strata(kind.reshape(-1), np.eye(len(names)), shown)
