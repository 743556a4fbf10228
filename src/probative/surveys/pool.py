"""What is known of every unit of a pool before anything is annotated: who returns what."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, fields, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from probative._validation import numbers as checked_numbers
from probative._validation import shown
from probative.errors import InputError
from probative.files import digest
from probative.matching.choices import check_reading, how_to_read
from probative.matching.labels import positive_class
from probative.matching.matched import match_inputs, name_systems
from probative.matching.outputs import short_name
from probative.options import ReadingOptions
from probative.reading.annotations import Labels, LabelSets, Segmented, part_of
from probative.reading.inputs import annotations_of, is_path, is_series, settled, task_of
from probative.reading.logs import Samples
from probative.wording.numbers import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from probative.matching.matched import Matched
    from probative.reading.formats import Options as HowToRead
    from probative.reading.recognise import Annotations
    from probative.surveys.design import Design, SystemSource


# -----------------------------------------------------------------------------
# The outputs of systems, read alike, without an answer beside them.
# -----------------------------------------------------------------------------

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


def _check_choices(reading: ReadingOptions) -> ReadingOptions:
    """The same choices, if they mean something here."""
    usual = ReadingOptions()
    for name, why in _REFUSED.items():
        if getattr(reading, name) not in (None, getattr(usual, name)):
            raise InputError(f"{name}: {why}")
    own = ReadingOptions(**{e.name: getattr(reading, e.name) for e in fields(ReadingOptions)})
    return check_reading(own)


def _options_of(choices: ReadingOptions) -> HowToRead:
    """How readers are told to read an output, not an answer."""
    return replace(
        how_to_read(choices),
        predicted=True,
        probability_columns=tuple(choices.probability_columns),
    )


def _read_sides(
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
                f"systems: {_usual_name(data, number)} is {task_of(side)}, but the first is "
                f"{task_of(sides[0])}; expected the same"
            )
        sides.append(side)
        form = None if side.origin is None else side.origin.form
        options = replace(options, task=task_of(side), like=options.like or form)
    return sides


def _positive_of(systems: Sequence[Annotations], choices: ReadingOptions) -> str | None:
    """The class that counts as "yes": asked for, or told by the labels of all outputs."""
    if choices.positive is not None or choices.only:
        return None if choices.positive is None else str(choices.positive)
    labels = [side for side in systems if isinstance(side, Labels)]
    found = positive_class(*labels) if labels else None
    return found if any(found in side.names for side in labels) else None


def _usual_name(given: Any, number: int) -> str:
    """What a system is called after its file, or after its place."""
    return short_name(given) if is_path(given) else f"system {number + 1}"


# -----------------------------------------------------------------------------
# How sure systems are of what they return, from a column of their outputs.
# -----------------------------------------------------------------------------


def _confidence_of(
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


def _with_confidence(pool: Pool, numbers: Floats) -> Pool:
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


# -----------------------------------------------------------------------------
# Whether an input is still what it was.
# -----------------------------------------------------------------------------


def fingerprint(data: Any) -> str:
    """A text that tells whether an input is still the same: of a file, by its content alone."""
    if not is_path(data):
        return f"python:{digest('systems', data)}"
    if str(data) == "-":
        raise InputError(
            "-: standard input cannot be read again when the sample is annotated; expected a file"
        )
    path = Path(data)
    content = hashlib.sha256()
    try:
        if path.is_dir():
            for file in sorted(path.iterdir()):
                content.update(file.name.encode() + b"\0" + file.read_bytes())
        else:
            with path.open("rb") as opened:
                while piece := opened.read(1 << 24):
                    content.update(piece)
    except FileNotFoundError:
        raise InputError("there is no such file", path) from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise InputError(f"cannot be read: {reason.lower()}", path) from None
    return f"sha256:{content.hexdigest()}"


if TYPE_CHECKING:
    Floats = NDArray[np.float64]


_ITEM = "item"
_IN_COLUMNS = ("columns", "conllu", "table", "rows")  # formats of which a column can be named


@dataclass(frozen=True, eq=False)
class _JudgeCounts:
    """What the counts of every unit would be if a judge were right.

    Attributes
    ----------
    tp
        Items of each system that the judge has, too: one row per system, one column per unit.
    g
        Items of the judge, per unit.
    """

    tp: Floats
    g: Floats


@dataclass(frozen=True, eq=False)
class Pool:
    """Who returns what in every unit of a pool.

    Attributes
    ----------
    matched
        The outputs, matched to each other: the first one stands for an answer, which is not known.
    sides
        The outputs as they were read.
    unit
        What is drawn: ``sentence``, ``document``, ``unit`` or ``item``.
    reading
        How the outputs were read, with what was recognised on the way: the positive class.
    probability
        The confidence in every unit, where units are single items and there is one: the mean of
        the systems' numbers.
    doubt
        The sum of p(1 - p) over the rows (tokens, items) of every unit; None without confidences.
    judge, judged
        The counts as a judge sees them, and the outputs matched to what it says; None without one.
    """

    matched: Matched
    sides: tuple[Annotations, ...]
    unit: str
    reading: ReadingOptions
    probability: Floats | None = None
    doubt: Floats | None = None
    judge: _JudgeCounts | None = None
    judged: Matched | None = None

    @property
    def task(self) -> str:
        """``entities`` or ``labels``."""
        return self.matched.task

    @property
    def names(self) -> tuple[str, ...]:
        """What the systems are called."""
        return self.matched.names

    @property
    def is_single(self) -> bool:
        """Whether every unit is one item of which a system says yes or no, or one label."""
        return self.unit == _ITEM and isinstance(self.sides[0], Labels)

    @property
    def all_classes(self) -> bool:
        """Whether every unit has a label of its own, so that there is one item to find in it."""
        return self.matched.all_classes

    @property
    def facts(self) -> tuple[str, ...]:
        """What a signature says first: the task, and how tags were read."""
        if isinstance(self.sides[0], LabelSets):
            return self.task, "sets"
        scheme = self.matched.scheme
        return (self.task,) if scheme is None else (self.task, scheme, self.reading.repair)

    @property
    def n_units(self) -> int:
        """How many units there are."""
        items = self.matched.items
        if self.unit != "document" or items.document is None:
            return items.n_units
        return int(items.document.max(initial=-1)) + 1

    @cached_property
    def unit_of_item(self) -> NDArray[np.intp]:
        """The unit of every item that a system returns."""
        return self.unit_of_part[self.matched.items.unit]

    @cached_property
    def unit_of_part(self) -> NDArray[np.intp]:
        """The unit of every sentence (of every unit that was read); documents hold several."""
        items = self.matched.items
        if self.unit != "document" or items.document is None:
            return np.arange(items.n_units)
        return items.document.astype(np.intp)

    def parts_of(self, units: NDArray[Any]) -> NDArray[np.intp]:
        """The sentences (units that were read) of some units, unit after unit."""
        if self.unit != "document":
            return np.asarray(units, dtype=np.intp)
        place = np.full(self.n_units, -1, dtype=np.intp)
        place[units] = np.arange(len(units))
        rank = place[self.unit_of_part]
        kept = np.flatnonzero(rank >= 0)
        return kept[np.argsort(rank[kept], kind="stable")]

    def outputs_of(self, units: NDArray[Any]) -> list[Any]:
        """What the systems return in some units, in this order: annotations of their own."""
        parts = self.parts_of(units)
        return [part_of(side, parts) for side in cast("tuple[Any, ...]", self.sides)]

    def number_where(self, items: NDArray[np.bool_]) -> Floats:
        """How many of these items every unit holds."""
        own = self.matched.items
        number = np.bincount(self.unit_of_item[items], minlength=self.n_units)
        return np.asarray(own.weight * number, dtype=np.float64)

    @cached_property
    def returned(self) -> Floats:
        """How many items each system returns in every unit: one row per system."""
        return np.stack([self.number_where(says) for says in self.matched.items.says])

    @cached_property
    def agreed(self) -> Floats:
        """How many items all systems return, per unit."""
        return self.number_where(np.asarray(self.matched.items.says.all(axis=0)))

    @cached_property
    def disputed(self) -> Floats:
        """How many items some systems return and others do not, per unit."""
        says = self.matched.items.says
        return self.number_where(np.asarray(says.any(axis=0) & ~says.all(axis=0)))

    def both(self, a: int = 0, b: int = 1) -> Floats:
        """How many items two systems both return, per unit."""
        says = self.matched.items.says
        return self.number_where(says[a] & says[b])

    def only(self, a: int, b: int) -> Floats:
        """How many items system `a` returns and `b` does not, per unit."""
        says = self.matched.items.says
        return self.number_where(says[a] & ~says[b])


def read_pool(
    outputs: Sequence[Any],
    *,
    reading: ReadingOptions,
    names: Sequence[str] | None = None,
    by: str | None = None,
    scores: Any = None,
    judge: Any = None,
) -> Pool:
    """Read the outputs of systems on a pool, and see who returns what.

    Parameters
    ----------
    outputs
        One output per system: paths, or what `score` takes.
    reading
        How to read and match them.
    names
        What the systems are called; by default after their files.
    by
        What a unit is: sentence, document, unit or item; by default what the outputs tell.
    scores
        The column of the confidence in what a row says, by name or number, in each output that is
        a file; or a number per row.
    judge
        Another output, whose opinion on every unit is not to be trusted, but of use.
    """
    choices = _check_choices(reading)
    if by == _ITEM:
        choices = replace(choices, unit_column=None)
    options = _options_of(choices)
    everybody = [*outputs, *([] if judge is None else [judge])]
    sides = _read_sides(everybody, options, choices, judged=judge is not None)
    systems = sides[: len(outputs)]
    choices = replace(choices, task=task_of(systems[0]), positive=_positive_of(systems, choices))
    called = name_systems(names, [_usual_name(given, i) for i, given in enumerate(outputs)])
    matched = _match(systems[0], systems, called, choices)
    pool = Pool(matched, tuple(systems), _unit(matched, by), choices)
    if scores is not None:
        pool = _with_confidence(pool, _confidence_of(scores, outputs, systems, options))
    if judge is not None:
        judged = _match(sides[-1], systems, called, choices)
        pool = replace(pool, judge=_judge_counts(pool, judged), judged=judged)
    return pool


def read_again(
    design: Design,
    folder: Path | str = ".",
    *,
    outputs: Sequence[Any] | None = None,
    judge: Any = None,
    scores: Any = None,
) -> Pool:
    """Read the outputs of a design as they were read when it was made; others are refused.

    Parameters
    ----------
    design
        The design.
    folder
        Where its file is: the paths in it are seen from there.
    outputs, judge
        The outputs, and what the judge says, where they are elsewhere now or came from Python.
    scores
        The confidences, where they came from Python.
    """
    if outputs is not None and len(outputs) != len(design.outputs):
        raise InputError(
            f"systems: {len(outputs)}, but the design has {len(design.outputs)}; expected each"
        )
    given = [None] * len(design.outputs) if outputs is None else list(outputs)
    found = [_same(own, data, folder) for own, data in zip(design.outputs, given, strict=True)]
    third = None if design.judge is None else _same(design.judge, judge, folder)
    return read_pool(
        found,
        reading=_reading_of(design),
        names=design.systems,
        by=None if design.unit in ("sentence", "unit") else design.unit,
        judge=third,
        scores=design.scores if scores is None else scores,
    )


def outputs_of(systems: Any, design: Design) -> list[Any] | None:
    """The outputs in the order of the design; None where its own paths are to be used."""
    if systems is None:
        return None
    if isinstance(systems, dict):
        missing = [name for name in design.systems if name not in systems]
        if missing or len(systems) != len(design.systems):
            raise InputError(
                f"systems: {', '.join(map(str, systems))}; expected those of the design: "
                f"{', '.join(design.systems)}"
            )
        return [systems[name] for name in design.systems]
    if is_path(systems) or not isinstance(systems, (list, tuple)):
        raise InputError(
            f"systems: {shown(systems)}; expected the outputs in a dictionary by name, or in a list"
        )
    return list(systems)


def _reading_of(design: Design) -> ReadingOptions:
    """How the outputs of a design are read."""
    return ReadingOptions.of(design.reading)


def reading_keywords(reading: ReadingOptions) -> dict[str, Any]:
    """The choices of reading that are not the usual ones, as a design keeps them."""
    usual = ReadingOptions()
    kept = {}
    for entry in fields(ReadingOptions):
        value = getattr(reading, entry.name)
        if value is None or value == getattr(usual, entry.name) or value in ((), {}, []):
            continue
        kept[entry.name] = list(value) if isinstance(value, tuple) else value
    return kept


def _same(source: SystemSource, given: Any, folder: Path | str) -> Any:
    """The input that a design speaks of, if it is still what it was."""
    if given is None and source.path is None:
        raise InputError(
            f"systems: {source.name!r} came from Python; expected it to be given again"
        )
    data = Path(folder) / str(source.path) if given is None else given
    if given is None and not data.exists():
        raise InputError(
            f"there is no such file; expected {source.name!r} where it was when the sample was "
            f"drawn, as seen from the design",
            data,
        )
    if fingerprint(data) != source.fingerprint:
        where = data if is_path(data) else None
        raise InputError(
            f"{source.name!r} is not what it was when the sample was drawn; expected the same "
            f"output, or a new sample",
            where,
        )
    return data


def _match(
    answer: Annotations,
    systems: Sequence[Annotations],
    names: tuple[str, ...],
    choices: ReadingOptions,
) -> Matched:
    """Who returns what, with an output or a judge in the place of the answer."""
    if answer.origin is not None and answer.origin.form in _IN_COLUMNS:
        choices = replace(choices, columns=())  # they were looked up already
    return match_inputs(
        answer,
        list(systems),
        names=names,
        find_positive=False,
        same_labels=task_of(answer) == "labels",  # of entities, each may find types of its own
        reading=choices,
    )


def _unit(matched: Matched, by: str | None) -> str:
    """What a unit is called."""
    if by is None or by == matched.unit:
        return matched.unit
    known = [matched.unit, *(["document"] if matched.items.document is not None else [])]
    if by == _ITEM and matched.task == "labels" and matched.items.n_units == len(matched.gold):
        return _ITEM
    if by in known:
        return by
    listed = " or ".join(map(repr, dict.fromkeys(known)))
    raise InputError(f"by: {shown(by)} is no unit of these outputs; expected {listed}")


def _judge_counts(pool: Pool, judged: Matched) -> _JudgeCounts:
    """The counts of every unit, if the judge were right."""
    by = "document" if pool.unit == "document" else "sentence"
    counts = [judged.items.counts(number, by=by) for number in range(len(pool.names))]
    found = np.stack([np.asarray(own.tp, dtype=np.float64) for own in counts])
    return _JudgeCounts(found, np.asarray(counts[0].tp + counts[0].fn, dtype=np.float64))
