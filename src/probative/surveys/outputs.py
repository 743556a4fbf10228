"""The outputs of systems, read alike, without an answer beside them."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

from probative.errors import InputError
from probative.matching.choices import check_reading, how_to_read
from probative.matching.labels import positive_class
from probative.matching.outputs import short_name
from probative.options import ReadingOptions
from probative.reading.annotations import Labels, Segmented
from probative.reading.inputs import annotations_of, is_path, settled, task_of
from probative.reading.logs import Samples
from probative.wording.numbers import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from probative.reading.opening import Options as HowToRead
    from probative.reading.recognise import Annotations

__all__ = ["check_choices", "options_of", "positive_of", "read_sides", "usual_name"]

# choices of reading that say nothing here, and why
_REFUSED = {
    "gold_column": "the outputs hold no answer; expected columns=",
    "run_column": "a pool has no runs; expected one output per system",
    "group": "a pool has no groups; expected it left out",
    "threshold": "probabilities are no outputs; expected labels (scores= names confidences)",
    "key": "rows are paired by their places; expected the outputs in the order of the pool",
    "memory_limit": "means nothing here; expected it left out",
    "table": "means nothing here; expected it left out",
    "score_name": "means nothing here; expected it left out",
    "train_words": "means nothing here; expected it left out",
}


def check_choices(reading: ReadingOptions) -> ReadingOptions:
    """The same choices, if they mean something here."""
    usual = ReadingOptions()
    for name, why in _REFUSED.items():
        if getattr(reading, name) not in (None, getattr(usual, name)):
            raise InputError(f"{name}: {why}")
    own = ReadingOptions(**{e.name: getattr(reading, e.name) for e in fields(ReadingOptions)})
    return check_reading(own)


def options_of(choices: ReadingOptions) -> HowToRead:
    """How readers are told to read an output, not an answer."""
    return replace(
        how_to_read(choices),
        predicted=True,
        probability_columns=tuple(choices.probability_columns),
    )


def read_sides(
    given: Sequence[Any], options: HowToRead, choices: ReadingOptions, *, judged: bool = False
) -> list[Annotations]:
    """All outputs, and at last what a judge says, if there is one, read in the same way."""
    if not given:
        raise InputError("systems: missing; expected the output of at least one")
    options = settled(list(given), options)
    columns: list[str | None] = [str(column) for column in choices.columns] or [None]
    if len(columns) not in (1, len(given), len(given) - judged):
        what = f"{counted(len(given) - judged, 'output')}{' and a judge' if judged else ''}"
        raise InputError(
            f"columns: {', '.join(map(str, columns))} for {what}; expected one for all, or one for "
            f"each"
        )
    if 1 < len(columns) < len(given):
        columns.append(None)  # the judge's own, which nobody has named
    sides: list[Annotations] = []
    for number, data in enumerate(given):
        column = columns[min(number, len(columns) - 1)]
        usual = f"systems, number {number + 1}"
        side = annotations_of(data, usual, replace(options, column=column))
        if isinstance(side, (Segmented, Samples)):
            what = "a segmentation" if isinstance(side, Segmented) else "a log of samples"
            raise InputError(
                f"systems: {usual if not is_path(data) else data} is {what}, which has no samples "
                f"yet; expected entities or labels (task=)"
            )
        if sides and task_of(side) != task_of(sides[0]):
            raise InputError(
                f"systems: {usual_name(data, number)} is {task_of(side)}, but the first is "
                f"{task_of(sides[0])}; expected the same"
            )
        sides.append(side)
        form = None if side.origin is None else side.origin.form
        options = replace(options, task=task_of(side), like=options.like or form)
    return sides


def positive_of(systems: Sequence[Annotations], choices: ReadingOptions) -> str | None:
    """The class that counts as "yes": asked for, or told by the labels of all outputs."""
    if choices.positive is not None or choices.only:
        return None if choices.positive is None else str(choices.positive)
    labels = [side for side in systems if isinstance(side, Labels)]
    found = positive_class(*labels) if labels else None
    return found if any(found in side.names for side in labels) else None


def usual_name(given: Any, number: int) -> str:
    """What a system is called after its file, or after its place."""
    return short_name(given) if is_path(given) else f"system {number + 1}"
