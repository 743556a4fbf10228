"""What the public functions take and return, in types.

Data may come in any form that people have them in: these names say which forms those are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Sized
from pathlib import Path
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "RNG",
    "Array",
    "Column",
    "Frame",
    "Input",
    "Instances",
    "Ints",
    "Labels",
    "Mask",
    "Model",
    "Number",
    "Rows",
    "Strata",
    "Systems",
    "Words",
]

Array: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int64]
Mask: TypeAlias = NDArray[np.bool_]
# One number for one table, an array for an array of tables. Callers know which of the two they
# have; `float | Array` would make them prove it at every use, so the second stays open.
Number: TypeAlias = float | Any
# Words, one per table.
Words: TypeAlias = NDArray[Any]
# a seed, or what NumPy makes random numbers from
RNG: TypeAlias = (
    int | Sequence[int] | np.random.SeedSequence | np.random.BitGenerator | np.random.Generator
)


class Column(Protocol):
    """A column of a data frame, of pandas, Polars or PyArrow."""

    def to_numpy(self) -> NDArray[Any]:
        """Return it as an array."""


class Frame(Protocol):
    """A data frame, of pandas, Polars or PyArrow."""

    @property
    def columns(self) -> Any:
        """The columns, or their names."""


class _Matrix(Protocol):
    """An array without a length, as sparse matrices are."""

    @property
    def shape(self) -> tuple[int, ...]:
        """The numbers of its rows and columns."""


class Model(Protocol):
    """What can be trained: a scikit-learn classifier, or any object with these two methods."""

    def fit(self, X: Any, y: Any, /) -> object:
        """Learn from instances and their answers."""

    def predict(self, X: Any, /) -> Any:
        """Return an answer for each instance."""


# one label per item: text, whole numbers, truth values
Labels: TypeAlias = Sequence[Any] | NDArray[Any] | Column
# a path; labels; tags, words or spans of each sentence; a data frame
Input: TypeAlias = str | Path | Labels | Frame
# an output, or outputs by the names of their systems
Systems: TypeAlias = Input | Mapping[str, Input]
# a path, or numbers for each sentence
Rows: TypeAlias = str | Path | Sequence[Sequence[float]] | Sequence[Array] | Array
# anything that has a number of instances
Instances: TypeAlias = Sized | _Matrix
# classes, a matrix of counts, counts by name; False for none
Strata: TypeAlias = Labels | _Matrix | Frame | Mapping[str, Labels] | bool
