"""What is known of every unit of a pool before anything is annotated: who returns what."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from probative._validation import shown
from probative.errors import InputError
from probative.matching.matched import match_inputs, name_systems
from probative.options import ReadingOptions
from probative.reading.annotations import Labels, LabelSets
from probative.reading.inputs import is_path, task_of
from probative.reading.parts import part_of
from probative.surveys.confidence import confidence_of, with_confidence
from probative.surveys.fingerprints import fingerprint
from probative.surveys.outputs import (
    check_choices,
    options_of,
    positive_of,
    read_sides,
    usual_name,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from probative.matching.matched import Matched
    from probative.reading.recognise import Annotations
    from probative.surveys.design import Design, SystemSource

    Floats = NDArray[np.float64]

__all__ = [
    "JudgeCounts",
    "Pool",
    "fingerprint",
    "outputs_of",
    "read_again",
    "read_pool",
    "reading_keywords",
    "reading_of",
]

_ITEM = "item"
_IN_COLUMNS = ("columns", "conllu", "table", "rows")  # formats of which a column can be named


@dataclass(frozen=True, eq=False)
class JudgeCounts:
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
    judge: JudgeCounts | None = None
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
    choices = check_choices(reading)
    if by == _ITEM:
        choices = replace(choices, unit_column=None)
    options = options_of(choices)
    everybody = [*outputs, *([] if judge is None else [judge])]
    sides = read_sides(everybody, options, choices, judged=judge is not None)
    systems = sides[: len(outputs)]
    choices = replace(choices, task=task_of(systems[0]), positive=positive_of(systems, choices))
    called = name_systems(names, [usual_name(given, i) for i, given in enumerate(outputs)])
    matched = _match(systems[0], systems, called, choices)
    pool = Pool(matched, tuple(systems), _unit(matched, by), choices)
    if scores is not None:
        pool = with_confidence(pool, confidence_of(scores, outputs, systems, options))
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
        reading=reading_of(design),
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


def reading_of(design: Design) -> ReadingOptions:
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


def _judge_counts(pool: Pool, judged: Matched) -> JudgeCounts:
    """The counts of every unit, if the judge were right."""
    by = "document" if pool.unit == "document" else "sentence"
    counts = [judged.items.counts(number, by=by) for number in range(len(pool.names))]
    found = np.stack([np.asarray(own.tp, dtype=np.float64) for own in counts])
    return JudgeCounts(found, np.asarray(counts[0].tp + counts[0].fn, dtype=np.float64))
