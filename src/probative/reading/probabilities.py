"""Probabilities of word boundaries: JSON lines, or sequences of numbers."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from probative._validation import numbers
from probative.errors import InputError
from probative.reading.source import load, snippet

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from probative.reading.source import Source

__all__ = ["Probabilities", "probabilities_of"]

_KEYS = ("probabilities", "scores")
_EXPECTED = "expected a list of numbers, or an object with one under 'probabilities'"


@dataclass(frozen=True, eq=False)
class Probabilities:
    """A number for every position between two characters of every sentence.

    Attributes
    ----------
    name
        The file or the parameter, for messages.
    rows
        The numbers of every sentence.
    line
        The line of every sentence in the file, or None.
    """

    name: str
    rows: Sequence[NDArray[np.float64]]
    line: Sequence[int] | None = None

    def error(self, message: str, sentence: int | None = None) -> InputError:
        """An error at a sentence, or at the whole."""
        if sentence is None:
            return InputError(message, self.name)
        if self.line is None:
            return InputError(f"sentence {sentence + 1}: {message}", self.name)
        return InputError(message, self.name, self.line[sentence])


def probabilities_of(data: Any, name: str = "probabilities") -> Probabilities:
    """Take probabilities from a file of JSON lines or from Python.

    Parameters
    ----------
    data
        A path (- is standard input) to a file with a list of numbers per line, or with objects that
        hold it under "probabilities"; or a sequence with a sequence of numbers per sentence.
    name
        What messages call it, if it is no file.
    """
    if isinstance(data, (str, Path)):
        return _read(load(data))
    if isinstance(data, Probabilities):
        return data
    try:
        sentences = list(data)
    except TypeError:
        raise InputError(f"{name}: {type(data).__name__}; expected numbers per sentence") from None
    rows = [_numbers(row) for row in sentences]
    probabilities = Probabilities(name, [np.empty(0) if row is None else row for row in rows])
    for sentence, row in enumerate(rows):
        if row is None:
            raise probabilities.error("is no list of finite numbers", sentence)
    return probabilities


def _read(source: Source) -> Probabilities:
    """An empty line is a sentence without positions; at the end of a file they do not count."""
    rows = []
    for number, line in enumerate(source.data.rstrip().split(b"\n"), start=1):
        rows.append(_parsed(source, number, line) if line.strip() else np.empty(0))
    return Probabilities(source.name, rows, range(1, len(rows) + 1))


def _parsed(source: Source, number: int, line: bytes) -> NDArray[np.float64]:
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        raise source.error(f"{snippet(line)} is not JSON; {_EXPECTED}", number) from None
    if isinstance(record, dict):
        record = next((record[key] for key in _KEYS if key in record), None)
    row = _numbers(record) if isinstance(record, list) else None
    if row is None:
        raise source.error(f"{snippet(line)}; {_EXPECTED}", number)
    return row


def _numbers(values: Any) -> NDArray[np.float64] | None:
    """Finite numbers in a row, or None if these are none."""
    try:
        row = numbers("probabilities", values)
    except InputError:
        return None
    return row if row.ndim == 1 and np.isfinite(row).all() else None
