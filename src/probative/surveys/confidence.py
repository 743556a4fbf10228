"""How sure systems are of what they return, from a column of their outputs."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from probative._validation import numbers as checked_numbers
from probative._validation import shown
from probative.errors import InputError
from probative.reading.annotations import Labels
from probative.reading.inputs import annotations_of, is_path, is_series

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from probative.matching.matched import Matched
    from probative.reading.opening import Options as HowToRead
    from probative.reading.recognise import Annotations
    from probative.surveys.pool import Pool

    Floats = NDArray[np.float64]

__all__ = ["confidence_of", "with_confidence"]


def confidence_of(
    scores: Any,
    outputs: Sequence[Any],
    systems: Sequence[Annotations],
    options: HowToRead,
) -> Floats:
    """A probability per row (item, token): the mean of what the outputs say."""
    if isinstance(scores, (str, int)) and not isinstance(scores, bool):
        if not all(map(is_path, outputs)):
            raise InputError("scores: there are no columns; expected a number per item")
        how = replace(options, task="labels", column=str(scores), tag_column=None, like=None)
        how = replace(how, probability_columns=(), unit=None)
        numbers = [
            _column(path, str(scores), how, side)
            for path, side in zip(outputs, systems, strict=True)
        ]
        return np.asarray(np.mean(numbers, axis=0))
    return _probabilities("scores", scores)


def _column(path: Any, column: str, options: HowToRead, side: Annotations) -> Floats:
    kind = None if side.origin is None else side.origin.form
    if kind not in ("table", "columns", "conllu"):
        raise InputError("no column can be read from this format; expected a table (scores=)", path)
    labels = annotations_of(path, str(path), replace(options, input_format=kind))
    if not isinstance(labels, Labels):
        raise InputError(
            f"column {column!r} holds lists; expected a number per row (scores=)", path
        )
    return _probabilities(f"scores: {path}, column {column}", labels)


def _probabilities(what: str, given: Any) -> Floats:
    """Numbers from 0 to 1, one per row."""
    if isinstance(given, Labels):
        numbers = np.array([_number(name) for name in given.names])[given.codes]
    elif is_series(given) or isinstance(given, (list, tuple)):
        numbers = checked_numbers(what, given.to_numpy() if hasattr(given, "to_numpy") else given)
    else:
        raise InputError(f"{what}: {shown(given)}; expected a column, or a number per item")
    if numbers.ndim != 1:
        raise InputError(f"{what}: shape {numbers.shape}; expected one number per item")
    wrong = np.flatnonzero(~((numbers >= 0) & (numbers <= 1)))
    if len(wrong):
        row = int(wrong[0])
        text = given.names[given.codes[row]] if isinstance(given, Labels) else float(numbers[row])
        raise InputError(f"{what}: row {row + 1} is {shown(text)}; expected a number from 0 to 1")
    return numbers


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return float("nan")


def with_confidence(pool: Pool, numbers: Floats) -> Pool:
    """The pool, with what is to be expected of the confidences of its rows."""
    part = _part_of_rows(pool.matched, len(numbers))
    if part is None:
        raise InputError(
            f"scores: {len(numbers)} numbers; expected one per token or item of the outputs"
        )
    unsure = numbers * (1 - numbers)
    doubt = np.bincount(pool.unit_of_part[part], weights=unsure, minlength=pool.n_units)
    single = pool.is_single and len(numbers) == pool.n_units
    probability = numbers if single else None
    return replace(pool, probability=probability, doubt=np.asarray(doubt, dtype=np.float64))


def _part_of_rows(matched: Matched, n_rows: int) -> NDArray[np.intp] | None:
    """The unit that was read (the sentence, the item) of each of so many rows."""
    answer = matched.gold
    if n_rows == matched.items.n_units:
        return np.arange(n_rows)
    if matched.task == "entities":
        return answer.text.sentence if n_rows == answer.text.n_tokens else None
    return answer.units if n_rows == len(answer) else None
