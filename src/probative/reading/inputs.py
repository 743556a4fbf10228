"""Annotations of whatever the caller has: a path, a sequence, an array, a column of a frame."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Set
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from probative._validation import shown
from probative.errors import InputError
from probative.reading.annotations import Labels, Segmented, Spans, Tagged
from probative.reading.columns import TAG
from probative.reading.recognise import Options, read, read_pair
from probative.reading.segmented import segmented_from_lists
from probative.reading.sequences import (
    labels_from_array,
    labels_from_frame,
    spans_from_sets,
    tagged_from_lists,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from probative.reading.recognise import Annotations

__all__ = ["annotations_of", "both_of", "is_frame", "is_path", "is_series", "task_of"]


def is_path(data: Any) -> bool:
    """Whether this names a file."""
    return isinstance(data, (str, Path))


def task_of(annotations: Annotations) -> str:
    """The task that annotations of this kind serve."""
    if isinstance(annotations, (Tagged, Spans)):
        return "entities"
    return "segmentation" if isinstance(annotations, Segmented) else "labels"


def annotations_of(data: Any, name: str, options: Options) -> Annotations:
    """Read one side.

    Parameters
    ----------
    data
        A path; one list of tags or of words, or one set of spans, per sentence; or one label per
        item. Annotations that were read already are passed through.
    name
        What messages call it, if it is not a file.
    options
        How to read it.
    """
    if isinstance(data, (Tagged, Spans, Segmented, Labels)):
        return data
    if is_path(data):
        return read(data, options)
    if is_frame(data):
        if options.column is None:
            raise InputError(f"{name}: is a data frame; expected its column to be named")
        return labels_from_frame(name, data, options.column, options.unit)
    if isinstance(data, np.ndarray) or is_series(data):
        return labels_from_array(name, data)
    if isinstance(data, (Set, Mapping, bytes, bytearray)):
        raise InputError(
            f"{name}: {type(data).__name__}, in which sentences and items have no places; expected "
            f"a list"
        )
    if not isinstance(data, Collection):
        raise InputError(
            f"{name}: {type(data).__name__} is no input; expected a path, a sequence of "
            f"sentences or of labels, an array or a data frame"
        )
    return _from_sequence(list(data), name, options.task)


def _from_sequence(sentences: list[Any], name: str, task: str | None) -> Annotations:
    if not sentences:
        raise InputError(f"{name}: is empty; expected at least one sentence or label")
    if task == "segmentation":
        return segmented_from_lists(name, sentences)
    if not _is_nested(sentences[0]):
        return labels_from_array(name, sentences)
    for number, sentence in enumerate(sentences, start=1):
        if not _is_nested(sentence):
            raise InputError(f"{name}: sentence {number} is {shown(sentence)}; expected a list")
    example = next((item for sentence in sentences for item in sentence), None)
    if isinstance(example, str):
        unordered = next((s for s in sentences if isinstance(s, (Set, Mapping))), None)
        if unordered is not None:
            raise InputError(
                f"{name}: {shown(unordered)} has no order; expected a list of tags or words a "
                f"sentence"
            )
        tags = all(TAG.fullmatch(tag) for s in sentences[:100] for tag in s if isinstance(tag, str))
        if tags or task == "entities":
            return tagged_from_lists(name, sentences)
        return segmented_from_lists(name, sentences)
    return spans_from_sets(name, sentences)


def _is_nested(sentence: Any) -> bool:
    try:
        iter(sentence)
    except TypeError:
        return False
    return not isinstance(sentence, (str, bytes))


def is_frame(data: Any) -> bool:
    """Whether this is a data frame."""
    return hasattr(data, "columns") and not isinstance(data, (list, tuple, dict))


def is_series(data: Any) -> bool:
    """Whether this is an array, or a column of a data frame."""
    return hasattr(data, "to_numpy") or hasattr(data, "__array__")


def both_of(
    data: Any, options: Options, gold: int | str | None, columns: Sequence[int | str]
) -> tuple[Annotations, list[Annotations], list[str]]:
    """Read the answer and the systems from one file or data frame.

    Parameters
    ----------
    data
        A path or a data frame.
    options
        How to read it.
    gold, columns
        The columns of the answer and of the systems.

    Returns
    -------
    The answer, the systems and their names.
    """
    if is_path(data):
        return read_pair(data, options, gold=gold, columns=columns)
    if not is_frame(data):
        raise InputError("pred: missing; expected a second input beside gold")
    if gold is None or not columns:
        raise InputError("gold_column, columns: expected the columns of the data frame by name")
    answer = labels_from_frame("gold", data, str(gold), options.unit)
    systems = [labels_from_frame("columns", data, str(column)) for column in columns]
    return answer, list(systems), [str(column) for column in columns]
