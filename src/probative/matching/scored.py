"""An answer of yes and no, and the score that each system gives each item."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from probative._labels import label_name
from probative._validation import names_of, numbers, shown
from probative.errors import InputError
from probative.matching.choices import check_reading, how_to_read
from probative.matching.labels import positive_class
from probative.matching.matched import align_items, name_systems
from probative.matching.outputs import read_apart
from probative.matching.relabel import relabel
from probative.positive import other_class
from probative.reading.annotations import Labels
from probative.reading.inputs import annotations_of, both_of, is_frame, is_path, is_series
from probative.reading.sequences import units_of
from probative.reading.source import refuse_repeats

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from probative._types import Array
    from probative.options import ReadingOptions

__all__ = ["Scored", "match_scores"]

# choices of reading that say nothing about scores
_UNUSED = (
    *("threshold", "probability_columns", "multilabel", "scheme", "ignore_type", "only", "labels"),
    *("label_names", "score_name", "train_words", "run_column", "tag_column"),
    *("group", "match", "repair", "key", "memory_limit"),
)


@dataclass(frozen=True, eq=False)
class Scored:
    """What curves are computed from.

    Attributes
    ----------
    names
        The systems.
    positive
        The class that the scores speak of.
    is_positive
        The answer, per item.
    scores
        Of each system, a number per item.
    units
        The unit of every item from 0, or None.
    notes
        What was recognised.
    """

    names: tuple[str, ...]
    positive: str
    is_positive: NDArray[np.bool_]
    scores: tuple[Array, ...]
    units: NDArray[np.int64] | None
    notes: tuple[str, ...]


def match_scores(
    gold: Any,
    systems: Sequence[Any],
    reading: ReadingOptions,
    *,
    names: Sequence[str] | None = None,
    units: Any = None,
) -> Scored:
    """Read an answer and the scores of systems.

    Parameters
    ----------
    gold
        A path, a sequence of labels, or (with `gold_column` and `columns`) a data frame.
    systems
        The scores: paths, sequences of numbers; none if `gold` holds them in its columns.
    reading
        How to read them.
    names
        What the systems are called.
    units
        The unit of every item, where they come as sequences.
    """
    choices = check_reading(reading)
    usual = type(choices)()
    for name in _UNUSED:
        if getattr(choices, name) not in (None, {}, getattr(usual, name)):
            raise InputError(f"{name}: means nothing for scores; expected it left out")
    if choices.task not in (None, "labels"):
        raise InputError(f"task: {choices.task!r} has no scores; expected 'labels'")
    names = None if names is None else names_of("names", names)
    options = replace(how_to_read(choices), task="labels")
    refuse_repeats((gold, *systems))
    if not systems:
        answer, outputs, usual_names = both_of(gold, options, choices.gold_column, choices.columns)
    elif any(is_path(system) for system in systems):
        answer, given = read_apart(gold, systems, options, replace(choices, task="labels"))
        outputs = [output for system in given for output in system.outputs]
        usual_names = [system.name for system in given]
    else:
        column = None if choices.gold_column is None else str(choices.gold_column)
        answer = annotations_of(gold, "gold", replace(options, column=column))
        outputs = list(systems)
        several = len(systems) > 1
        usual_names = [f"system {i + 1}" if several else "system" for i in range(len(systems))]
    if not isinstance(answer, Labels):
        raise InputError("gold: holds no labels; expected one yes or no per item")
    called = name_systems(names, list(usual_names))
    # the answer alone has classes: the names of scores are numbers
    (answer,) = relabel([answer], choices, strict=True)
    notes = list(answer.notes)
    scores = []
    for name, output in zip(called, outputs, strict=True):
        if isinstance(output, Labels):
            read = (note.replace("labels in column", "scores in column") for note in output.notes)
            paired = align_items(answer, output, name, choices.align_by)
            if systems and answer.aligned is None:
                paired = (
                    f"{name}: paired with the answer by the places of rows, which have no ids",
                )
            notes += [*read, *paired]
        own = _numbers(output, name)
        if len(own) != len(answer):
            raise InputError(
                f"{name}: {len(own)} scores, but the answer has {len(answer)} items; expected as "
                f"many"
            )
        scores.append(own)
    positive, found = _positive(answer, choices.positive)
    return Scored(
        called,
        positive,
        answer.codes == (answer.names.index(positive) if positive in answer.names else -1),
        tuple(scores),
        _units(answer, units),
        tuple(dict.fromkeys((*notes, *found))),
    )


def _units(answer: Labels, units: Any) -> NDArray[np.int64] | None:
    if units is None:
        return None if answer.units is None else answer.units.astype(np.int64)
    if answer.units is not None:
        raise InputError("units: the answer has units already; expected one of the two")
    return np.asarray(units_of("the answer", units, len(answer)), dtype=np.int64)


def _numbers(output: Any, name: str) -> Array:
    """A finite number per item."""
    if isinstance(output, Labels):
        values = np.array([_number(text) for text in output.names])[output.codes]
        given: Any = np.array(output.names, dtype=object)[output.codes]
    else:
        if is_frame(output) or not (is_series(output) or isinstance(output, (list, tuple))):
            raise InputError(
                f"{name}: {type(output).__name__}; expected a path or a number per item"
            )
        output = output.to_numpy() if hasattr(output, "to_numpy") else output
        values = numbers(name, output)
        if values.ndim != 1:
            raise InputError(
                f"{name}: shape {values.shape}; expected one score per item, that of the positive "
                f"class"
            )
        given = values.tolist()
    wrong = np.flatnonzero(~np.isfinite(values))
    if len(wrong):
        i = int(wrong[0])
        raise InputError(
            f"{name}: item {i + 1} is {shown(given[i])}; expected a finite number per item"
        )
    return values


def _number(text: str) -> float:
    try:
        return float(text) if "_" not in text else math.nan
    except ValueError:
        return math.nan


def _positive(answer: Labels, positive: Any) -> tuple[str, list[str]]:
    """The class that the scores speak of, and what is to be said about it."""
    names = answer.names
    if positive is not None:
        wanted = label_name("positive", positive)
        if wanted not in names and len(names) > 1:
            listed = ", ".join(map(repr, names[:5]))
            raise InputError(f"positive: {wanted!r} is no class; expected one of {listed}")
        rest = len(names) - 1
        return wanted, [f"{wanted!r} against {rest} other classes"] if rest > 1 else []
    found = positive_class(answer)
    listed = ", ".join(map(repr, names[:3])) + (", …" if len(names) > 3 else "")
    if found is None:
        which = "several classes" if len(names) > 2 else "classes"
        raise InputError(
            f"positive: of which of the {which} {listed} are these the scores? expected positive="
        )
    return found, [
        f"two classes, {found!r} is the positive one; the other is {other_class(found)!r}"
    ]
