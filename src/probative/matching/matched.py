"""From the inputs of a comparison to the items on which it rests."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack, cast

import numpy as np

from probative._labels import label_name
from probative._validation import columns_of, flag, names_of, one_of
from probative.errors import InputError
from probative.matching.labels import (
    UNION,
    averaged_labels,
    match_labels,
    only_in_a_system,
    positive_class,
)
from probative.matching.schemes import REPAIRS, SCHEMES, decode, prefix_of, recognise
from probative.matching.segmentation import match_words
from probative.matching.spans import match_spans
from probative.options import ReadingKeywords, ReadingOptions
from probative.reading.alignment import ALIGNMENTS, align
from probative.reading.annotations import Labels, Segmented, Spans, Tagged
from probative.reading.inputs import annotations_of, both_of, is_path, task_of
from probative.reading.recognise import Options, open_input, read
from probative.reading.run_tables import read_run_table
from probative.reading.runs import Runs, check_own_answer, runs_of
from probative.reading.source import refuse_repeats

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from probative.matching.items import Items
    from probative.reading.recognise import Annotations

__all__ = ["Matched", "RunGroup", "match_inputs", "match_training", "read_side", "short_name"]

# what reading and matching do not look at, by the task
_UNUSED = {
    "entities": ("positive", "train_words", "unit_column", "run_column"),
    "segmentation": (
        *("tag_column", "unit_column", "run_column", "align_by", "scheme", "repair"),
        *("ignore_type", "only", "positive"),
    ),
    "labels": ("align_by", "scheme", "repair", "ignore_type", "train_words"),
}
_ENDINGS = {".gz", ".txt", ".conll", ".conllu", ".iob2", ".tsv", ".csv", ".json", ".jsonl", ".utf8"}


@dataclass(frozen=True)
class RunGroup:
    """The runs of one system.

    Attributes
    ----------
    name
        The system.
    places
        The numbers of its runs among all outputs.
    runs
        What the runs are called.
    files
        The files that they came from; None for what came from elsewhere.
    """

    name: str
    places: tuple[int, ...]
    runs: tuple[str, ...]
    files: tuple[str | None, ...] = ()


@dataclass(frozen=True, eq=False)
class Matched:
    """Everything that scores and comparisons are computed from.

    Attributes
    ----------
    task
        ``entities``, ``segmentation`` or ``labels``.
    names
        The systems; where there are runs, each run.
    items
        Who proposes what.
    gold, systems
        The answer and the outputs: `Spans`, `Segmented` or `Labels`.
    tagged
        The tags behind spans, the answer's first, where they were tags.
    positive
        The class that counts as "yes", for labels; None if all classes count.
    scheme
        The tag scheme of the answer, where there is one.
    lexicon
        The words of the training data, for word segmentation.
    averaged
        Which labels the macro average of each system is taken over: one row per system.
    own_labels
        Whether that is the answer's labels and those of the system itself.
    all_classes
        Whether every class of single-label data counts: then accuracy is what micro F1 is.
    notes
        What was recognised, repaired or left out.
    runs
        Which outputs are runs of one system; empty if each is a system.
    """

    task: str
    names: tuple[str, ...]
    items: Items
    gold: Any
    systems: tuple[Any, ...]
    tagged: tuple[Tagged, ...] = ()
    positive: str | None = None
    scheme: str | None = None
    lexicon: Segmented | None = None
    averaged: Any = None
    own_labels: bool = False
    all_classes: bool = False
    notes: tuple[str, ...] = field(default=())
    runs: tuple[RunGroup, ...] = ()

    @property
    def unit(self) -> str:
        """What the units are called."""
        if self.task != "labels":
            return "sentence"
        return "item" if self.gold.units is None else "unit"

    @cached_property
    def token_accuracy(self) -> tuple[tuple[int, int], ...] | None:
        """Tokens with the right tag and tokens in all, a system, as conlleval counts them.

        That is, with the ``-DOCSTART-`` lines, which conlleval takes for tokens.
        """
        if not self.tagged:
            return None
        gold, *systems = self.tagged
        return tuple(_equal_tags(gold, system) for system in systems)


def _equal_tags(gold: Tagged, system: Tagged) -> tuple[int, int]:
    code = {name: i for i, name in enumerate(gold.names)}
    same = np.array([code.get(name, -1) for name in system.names], dtype=np.int32)
    extra = gold.text.document_lines
    right = int(np.count_nonzero(gold.tags == same[system.tags]))
    return right + extra, gold.text.n_tokens + extra


def match_inputs(
    gold: Any,
    systems: Sequence[Any],
    *,
    names: Sequence[str] | None = None,
    find_positive: bool = True,
    reading: ReadingOptions | None = None,
    **keywords: Unpack[ReadingKeywords],
) -> Matched:
    """Read an answer and the outputs of systems, and find out who proposes what.

    Parameters
    ----------
    gold
        A path, a sequence, an array, or (with `gold_column` and `columns`) a data frame.
    systems
        One or more outputs of the same kind; none if `gold` is a file or frame that holds both.
    names
        What the systems are called; by default after their files.
    find_positive
        Whether to look for a class that counts as "yes" in the labels of two classes.
    reading, keywords
        How to read and match, where it should not be recognised: the object, or what it is made
        of; see `ReadingOptions`.
    """
    choices = _check_reading(ReadingOptions.of(keywords) if reading is None else reading)
    columns, train_words = choices.columns, choices.train_words
    names = None if names is None else names_of("names", names)
    refuse_repeats(_paths(gold, systems, train_words))
    options = _how_to_read(choices)
    if systems:
        answer, given = _separate(gold, systems, options, choices)
    elif choices.run_column is not None:
        answer, given = _runs_together(gold, options, choices)
    else:
        answer, outputs, usual_names = both_of(gold, options, choices.gold_column, columns)
        given = [_System(name, [own]) for name, own in zip(usual_names, outputs, strict=True)]
    called = _name_systems(names, [system.name for system in given])
    outputs = [output for system in given for output in system.outputs]
    groups = _group(given, called)
    named = (
        tuple(f"{group.name}, {run}" for group in groups for run in group.runs)
        if groups
        else called
    )
    if not systems:
        _refuse_unused(choices, answer, separate=False)
    try:
        matched = _match(answer, outputs, named, choices, find_positive=find_positive)
    except InputError as error:
        raise _of_which_run(error, groups) from None
    return replace(matched, runs=groups, notes=_notes_of_runs(matched.notes, groups))


def _match(
    answer: Any,
    outputs: list[Any],
    named: tuple[str, ...],
    choices: ReadingOptions,
    *,
    find_positive: bool,
) -> Matched:
    """Find out who proposes what, by the task."""
    labels, train_words = choices.labels, choices.train_words
    kind = task_of(answer)
    notes = [*answer.notes, *(note for output in outputs for note in output.notes)]
    if isinstance(answer, Labels):
        matched = _labels(answer, outputs, named, choices, notes, find_positive=find_positive)
        return _averaging(matched, labels)
    if isinstance(answer, Segmented):
        if labels is not None:
            raise InputError("labels: words of a segmentation have none")
        lexicon = None
        if train_words is not None:
            lexicon = _lexicon(train_words, choices.encoding)
        items = match_words(answer, *outputs)
        matched = Matched(
            kind, named, items, answer, tuple(outputs), lexicon=lexicon, notes=tuple(notes)
        )
        return _averaging(matched, None)
    return _averaging(_entities(answer, outputs, named, choices), labels)


def read_side(path: Any, reading: ReadingOptions, answer: Annotations | None = None) -> Annotations:
    """Read the answer, or an output of the same task; no other file is looked at.

    Parameters
    ----------
    path
        The file.
    reading
        How to read it.
    answer
        What the answer is, if this is none.
    """
    if reading.run_column is not None:
        raise InputError("run_column: means nothing here; expected it left out")
    options = _how_to_read(_check_reading(reading))
    column = reading.gold_column
    if answer is not None:
        options = replace(options, task=task_of(answer))
        column = next(iter(reading.columns), None)
    options = replace(options, column=None if column is None else str(column))
    return annotations_of(path, str(path), options)


def _how_to_read(chosen: ReadingOptions) -> Options:
    return Options(
        chosen.task,
        chosen.input_format,
        chosen.encoding,
        chosen.tag_column,
        chosen.comments,
        unit=chosen.unit_column,
    )


def match_training(train: Any, matched: Matched, reading: ReadingOptions) -> Spans | Labels:
    """Read the training data of the systems, to see which items they could have known.

    Parameters
    ----------
    train
        A path, or what `match_inputs` takes, of the same task as the answer.
    matched
        What the inputs of the comparison came to.
    reading
        How they were read.
    """
    if matched.task == "segmentation":
        raise InputError("train: means nothing for segmentation; expected train_words")
    options = Options(matched.task, None, reading.encoding, reading.tag_column, reading.comments)
    column = None if reading.gold_column is None else str(reading.gold_column)
    data = annotations_of(
        train, "train", replace(options, column=column if matched.task == "labels" else None)
    )
    if task_of(data) != matched.task:
        raise InputError(f"train: is {task_of(data)}, but the answer is {matched.task}")
    if isinstance(data, (Tagged, Spans)):
        return _spans(data, reading.scheme, matched.scheme, reading.repair)
    return cast("Labels", data)


def _check_reading(reading: ReadingOptions) -> ReadingOptions:
    """The same choices, if they are some that there are."""
    columns_of("columns", reading.columns)
    columns_of(
        "gold_column, unit_column, run_column",
        [reading.gold_column, reading.unit_column, reading.run_column],
    )
    one_of("align_by", reading.align_by, ALIGNMENTS)
    one_of("repair", reading.repair, REPAIRS)
    if reading.scheme is not None:
        one_of("scheme", reading.scheme, SCHEMES)
    positive = reading.positive
    return replace(
        reading,
        only=names_of("only", reading.only),
        positive=None if positive is None else label_name("positive", positive),
        ignore_type=flag("ignore_type", reading.ignore_type),
    )


def _refuse_unused(options: ReadingOptions, answer: Annotations, *, separate: bool) -> None:
    """Refuse choices that reading and matching would not look at.

    Parameters
    ----------
    options
        The choices.
    answer
        What the answer turned out to be.
    separate
        Whether the systems stand in files or sequences of their own.
    """
    task = task_of(answer)
    usual = ReadingOptions()
    for name in _UNUSED[task]:
        if getattr(options, name) not in (None, getattr(usual, name)):
            raise InputError(f"{name}: means nothing for {task}; expected it left out")
    if not separate and options.tag_column is not None:
        raise InputError("tag_column: one file holds all; expected gold_column= and columns=")
    if separate and task != "labels" and (options.columns or options.gold_column is not None):
        raise InputError(
            "gold_column, columns: the systems have inputs of their own; expected one file that "
            "holds all, or tag_column="
        )
    if isinstance(answer, Labels) and answer.units is None and options.unit_column is not None:
        raise InputError("unit_column: there is no table to look it up in; expected a table")


def _averaging(matched: Matched, labels: str | Sequence[str] | None) -> Matched:
    """Choose the labels of macro averages, and say which labels only a system has."""
    items = matched.items
    notes = only_in_a_system(items, matched.names) if len(items.labels) > 1 else []
    return replace(
        matched,
        averaged=averaged_labels(items, labels),
        own_labels=isinstance(labels, str) and labels == UNION,
        notes=(*matched.notes, *notes),
    )


@dataclass(frozen=True)
class _System:
    """What was read of one system: an output, or several and what they are called."""

    name: str
    outputs: list[Any]
    runs: tuple[str, ...] | None = None
    files: tuple[str | None, ...] = ()


def _paths(gold: Any, systems: Sequence[Any], train_words: Any) -> Iterator[Any]:
    """Everything that may be a path, the runs of a system one by one."""
    yield from (gold, train_words)
    for system in systems:
        yield from system if isinstance(system, Runs) else (system,)


def _separate(
    gold: Any,
    systems: Sequence[Any],
    options: Options,
    choices: ReadingOptions,
) -> tuple[Annotations, list[_System]]:
    named = [None if c is None else str(c) for c in (choices.gold_column, *choices.columns)]
    wanted = [named[0], *(named[1:] or [None])]
    answer = annotations_of(gold, "gold", replace(options, column=wanted[0]))
    same_task = replace(options, task=task_of(answer))
    _refuse_unused(choices, answer, separate=True)
    given = []
    for number, system in enumerate(systems):
        column = wanted[min(number + 1, len(wanted) - 1)]
        usual = f"pred {number + 1}" if len(systems) > 1 else "pred"
        of_system = replace(same_task, column=column)
        several = runs_of(system, answer)
        if choices.run_column is not None:
            given.append(_runs_in_tables(several or Runs([system]), usual, of_system, choices))
        elif several is not None:
            given.append(_several(several, usual, answer, of_system, choices))
        else:
            output = _same_task(annotations_of(system, usual, of_system), answer)
            name = short_name(system) if is_path(system) else _own_name(system) or usual
            given.append(_System(name, [output]))
    return answer, given


def _several(
    several: Runs, usual: str, answer: Annotations, options: Options, choices: ReadingOptions
) -> _System:
    """Read the runs of a system."""
    outputs, files = [], []
    for number, run in enumerate(several, start=1):
        opened = open_input(run, options) if is_path(run) else None
        output = read(opened) if opened else annotations_of(run, f"{usual}, run {number}", options)
        outputs.append(_same_task(output, answer))
        files.append(str(run) if opened else None)
        if opened and choices.tag_column is None:
            check_own_answer(opened, answer, choices.gold_column)
    return _System(usual, outputs, _names_of_runs(files), tuple(files))


def _names_of_runs(files: Sequence[str | None]) -> tuple[str, ...]:
    """What runs are called: after their files, or after the folders of these."""
    paths = [file for file in files if file is not None]
    names = [short_name(path) for path in paths]
    if len(set(names)) == 1:  # seed-1/test.conll, seed-2/test.conll
        names = [Path(path).parent.name for path in paths]
    return _distinct(names if len(names) == len(files) else [""] * len(files))


def _distinct(names: Sequence[str]) -> tuple[str, ...]:
    """The names, if they tell all runs apart; else numbers."""
    if "" in names or len(set(names)) < len(names):
        return tuple(f"run {number}" for number in range(1, len(names) + 1))
    return tuple(names)


def _same_task(output: Annotations, answer: Annotations) -> Annotations:
    if task_of(output) != task_of(answer):
        raise InputError(
            f"{_name(output)}: is {task_of(output)}, but {_name(answer)} is {task_of(answer)}"
        )
    return output


def _runs_in_tables(tables: Runs, usual: str, options: Options, choices: ReadingOptions) -> _System:
    """The runs of a system in one or more tables, as a column of theirs tells."""
    outputs: list[Any] = []
    runs: list[str] = []
    for table in tables:
        parted = read_run_table(table, [options.column], str(choices.run_column), options)
        outputs += (
            replace(own, name=f"{parted.name}, run {run!r}")
            for run, own in zip(parted.runs, parted.sides[0], strict=True)
        )
        runs += parted.runs
    single = len(tables) == 1
    name = short_name(tables[0]) if single and is_path(tables[0]) else usual
    return _System(name, outputs, _distinct(runs), (None,) * len(outputs))


def _runs_together(
    gold: Any, options: Options, choices: ReadingOptions
) -> tuple[Annotations, list[_System]]:
    """The answer and the runs of all systems from one table."""
    answer = None if choices.gold_column is None else str(choices.gold_column)
    columns = [answer, *map(str, choices.columns)] if choices.columns else [answer, None]
    parted = read_run_table(gold, columns, str(choices.run_column), options)
    parted.check_answers()
    (first, *_), *systems = parted.sides
    without_files = (None,) * len(parted.runs)
    return first, [_System(own[0].name, list(own), parted.runs, without_files) for own in systems]


def _group(given: Sequence[_System], called: tuple[str, ...]) -> tuple[RunGroup, ...]:
    """Which outputs are runs of one system, if any were given as runs."""
    if all(system.runs is None for system in given):
        return ()
    groups, at = [], 0
    for name, system in zip(called, given, strict=True):
        n = len(system.outputs)
        runs = system.runs or ("run 1",)
        groups.append(RunGroup(name, tuple(range(at, at + n)), runs, system.files or (None,) * n))
        at += n
    return tuple(groups)


def _notes_of_runs(notes: tuple[str, ...], groups: tuple[RunGroup, ...]) -> tuple[str, ...]:
    """The same notes, those that many runs share said once."""
    if not groups:
        return notes
    files = {file: None for group in groups for file in group.files if file}
    files |= {f"{group.name}, {run}": None for group in groups for run in group.runs}
    about: dict[str, list[str]] = {}
    for note in notes:
        name = next((f for f in files if note.startswith((f"{f}: ", f"{f} "))), "")
        about.setdefault(note.removeprefix(name), []).append(name)
    return tuple(f"{names[0]}{_and_more(len(names) - 1)}{words}" for words, names in about.items())


def _of_which_run(error: InputError, groups: tuple[RunGroup, ...]) -> InputError:
    """The same error, with the run that its file is."""
    for group in groups:
        for number, file in enumerate(group.files, start=1):
            if file is not None and (error.path == file or error.message.startswith(f"{file}: ")):
                which = f"{error.message} (run {number} of {group.name})"
                return InputError(which, error.path, error.line)
    return error


def _and_more(number: int) -> str:
    return f" and {number} more" if number else ""


def _name(side: Any) -> str:
    return str(side.text.name if isinstance(side, (Tagged, Spans)) else side.name)


def _own_name(system: Any) -> str | None:
    """What a column of a data frame is called."""
    name = getattr(system, "name", None) if hasattr(system, "to_numpy") else None
    return name if isinstance(name, str) and name else None


def short_name(path: str | Path) -> str:
    """What a file is called without its folder and its endings."""
    if str(path) == "-":
        return "standard input"
    name = Path(path).name
    while Path(name).suffix.lower() in _ENDINGS and Path(name).stem:
        name = Path(name).stem
    return name


def _name_systems(names: Sequence[str] | None, usual: list[str]) -> tuple[str, ...]:
    if names is not None:
        if len(names) != len(usual):
            raise InputError(f"names: {len(names)} for {len(usual)} systems; expected one each")
        twice = next((name for i, name in enumerate(names) if name in names[:i]), None)
        if twice is not None:
            raise InputError(f"names: {twice!r} twice; expected different ones")
        return tuple(map(str, names))
    # files of one name in several folders: numbers keep them apart
    return tuple(
        name if usual.count(name) == 1 else f"{name} ({usual[: i + 1].count(name)})"
        for i, name in enumerate(usual)
    )


def _lexicon(train_words: Any, encoding: str | None) -> Segmented:
    words = annotations_of(
        train_words, "train_words", Options(task="segmentation", encoding=encoding)
    )
    if not isinstance(words, Segmented):
        raise InputError("train_words: holds no words")
    return words


def _labels(
    gold: Labels,
    systems: Sequence[Any],
    names: tuple[str, ...],
    options: ReadingOptions,
    notes: Sequence[str],
    *,
    find_positive: bool,
) -> Matched:
    positive, only = options.positive, options.only
    if positive is not None and only:
        raise InputError("positive: cannot be combined with only=; expected one of the two")
    if positive is None and not only and find_positive:
        positive = positive_class(gold)
        if positive is not None:
            notes = [*notes, f"two classes, {positive!r} is the positive one"]
            known = set(gold.names) | {positive}
            notes += [
                f"{name} uses labels that the answer does not have; they count as no"
                for name, system in zip(names, systems, strict=True)
                if len(known) > 1 and set(system.names) - known
            ]
    items = match_labels(gold, *systems, positive=positive)
    if only:
        items = items.only(list(only))
    return Matched(
        "labels",
        names,
        items,
        gold,
        tuple(systems),
        positive=positive,
        all_classes=positive is None and not only,
        notes=tuple(notes),
    )


def _entities(
    answer: Any,
    outputs: Sequence[Any],
    names: tuple[str, ...],
    options: ReadingOptions,
) -> Matched:
    scheme = options.scheme
    sides = (answer, *outputs)
    notes: list[str] = []
    for output in outputs:
        notes += align(answer.text, output.text, by=options.align_by)
    tagged = sides if all(isinstance(side, Tagged) for side in sides) else ()
    own = recognise(answer) if scheme is None and isinstance(answer, Tagged) else scheme
    spans = [_spans(side, scheme, own, options.repair) for side in sides]
    gold, *systems = spans
    items = match_spans(gold, *systems, ignore_type=options.ignore_type, only=options.only)
    notes_of_tags = dict.fromkeys(note for side in spans for note in side.notes)
    return Matched(
        "entities",
        names,
        items,
        gold,
        tuple(systems),
        tagged=tuple(tagged),
        scheme=gold.scheme,
        notes=(*notes_of_tags, *notes),
    )


def _spans(side: Tagged | Spans, scheme: str | None, gold_scheme: str | None, repair: str) -> Spans:
    """The spans of a side; tags are read in the answer's scheme, if that has all their prefixes."""
    if isinstance(side, Spans):
        return side
    if scheme is None and gold_scheme is not None:
        prefixes = {prefix_of(name) for name in side.names}
        fitting = [name for name, rules in SCHEMES.items() if prefixes <= rules.follow.keys()]
        if gold_scheme in fitting or not fitting:
            scheme = gold_scheme
    return decode(side, scheme=scheme, repair=repair)
