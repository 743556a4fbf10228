"""From the inputs of a comparison to the items on which it rests."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack, cast

import numpy as np

from probative._labels import label_name
from probative._validation import columns_of, finite, flag, names_of, one_of, shown
from probative.errors import InputError
from probative.matching.labels import (
    UNION,
    averaged_labels,
    match_labels,
    only_in_a_system,
    positive_class,
)
from probative.matching.logs import match_logs, sides_of
from probative.matching.other_text import carried_over
from probative.matching.relabel import (
    by_threshold,
    check_names,
    differ_in_writing,
    parted_alike,
    relabel,
    written_alike,
)
from probative.matching.schemes import REPAIRS, SCHEMES, decode, prefix_of, recognise
from probative.matching.segmentation import match_words
from probative.matching.spans import match_spans
from probative.options import ReadingKeywords, ReadingOptions
from probative.reading.alignment import ALIGNMENTS, align, align_rows
from probative.reading.annotations import (
    Labels,
    LabelSets,
    RowIds,
    Segmented,
    Spans,
    Tagged,
    Text,
)
from probative.reading.formats import FORMATS
from probative.reading.inputs import annotations_of, both_of, is_path, settled, task_of
from probative.reading.leaving_out import without_ignored_tokens, without_left_out_texts
from probative.reading.logs import Samples
from probative.reading.recognise import Options, open_input, read
from probative.reading.rows import BY_ROW, check_label_names, name_numbers
from probative.reading.run_tables import read_run_table
from probative.reading.runs import Runs, check_own_answer, runs_of, single_outputs
from probative.reading.source import refuse_repeats
from probative.reading.table_sides import are_other_labels, refuse_answer_again

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from probative.matching.items import Items
    from probative.reading.recognise import Annotations

__all__ = ["Matched", "RunGroup", "match_inputs", "match_training", "read_side", "short_name"]

# what reading and matching do not look at, by the task
_UNUSED = {
    "entities": (
        *("positive", "train_words", "threshold", "probability_columns", "multilabel"),
        *("score_name", "run_column"),
    ),
    "segmentation": (
        *("tag_column", "unit_column", "run_column", "scheme", "repair", "ignore_type", "only"),
        *("positive", "threshold", "probability_columns", "multilabel"),
        *("label_names", "score_name"),
    ),
    "labels": ("scheme", "repair", "ignore_type", "train_words", "score_name"),
    "samples": (
        *("tag_column", "unit_column", "gold_column", "columns", "comments", "align_by", "scheme"),
        *("repair", "ignore_type", "only", "positive", "labels", "train_words", "label_names"),
        *("probability_columns", "multilabel", "header", "mapping", "ignore_case", "run_column"),
    ),
}
_ENDINGS = {
    *(".gz", ".txt", ".conll", ".conllu", ".iob2", ".tsv", ".csv", ".json", ".jsonl", ".utf8"),
    *(".eval", ".parquet", ".spacy"),
}


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

    def only(self, *systems: int) -> Matched:
        """The same of some systems alone, by their numbers."""
        chosen = list(systems)
        return replace(
            self,
            names=tuple(self.names[i] for i in chosen),
            items=replace(self.items, says=self.items.says[chosen]),
            systems=tuple(self.systems[i] for i in chosen),
            tagged=(self.tagged[0], *(self.tagged[i + 1] for i in chosen)) if self.tagged else (),
            averaged=self.averaged[chosen],
        )

    @property
    def unit(self) -> str:
        """What the units are called."""
        if isinstance(self.gold, Spans) and self.gold.text.names is not None:
            return "document"
        if self.task not in ("labels", "samples"):
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
    all_there: bool = True,
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
    all_there
        Whether these are all systems: a label that is mapped must then occur.
    reading, keywords
        How to read and match, where it should not be recognised: the object, or what it is made
        of; see `ReadingOptions`.
    """
    choices = _check_reading(ReadingOptions.of(keywords) if reading is None else reading)
    columns, train_words = choices.columns, choices.train_words
    names = None if names is None else names_of("names", names)
    refuse_repeats(_paths(gold, systems, train_words))
    options = _how_to_read(choices)
    if isinstance(gold, Mapping) and not systems:
        if names is not None:
            raise InputError("names: the systems have names already; expected none")
        return _runs_of_logs(gold, options, choices)
    if systems:
        answer, given = _separate(gold, systems, options, choices)
    elif choices.run_column is not None:
        answer, given = _runs_together(gold, options, choices)
    else:
        together = replace(options, probability_columns=tuple(choices.probability_columns))
        answer, outputs, usual_names = both_of(gold, together, choices.gold_column, columns)
        given = [_System(name, [own]) for name, own in zip(usual_names, outputs, strict=True)]
    if not systems:
        _refuse_unused(choices, answer, separate=False)
    outputs = [output for system in given for output in system.outputs]
    if isinstance(answer, Samples):
        if any(system.runs is not None for system in given):
            raise InputError(
                f"runs: {_name(answer)} is a log of samples; expected an answer, or runs alone"
            )
        return _averaging(_samples([answer, *outputs], names), None)
    called = _name_systems(names, [system.name for system in given])
    groups = _group(given, called)
    named = (
        tuple(f"{group.name}, {run}" for group in groups for run in group.runs)
        if groups
        else called
    )
    try:
        matched = _match(
            answer, outputs, named, choices, find_positive=find_positive, all_there=all_there
        )
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
    all_there: bool,
) -> Matched:
    """Find out who proposes what, by the task."""
    labels, train_words = choices.labels, choices.train_words
    kind = task_of(answer)
    if isinstance(answer, (Labels, LabelSets)):
        answer, *outputs = (name_numbers(s, choices.label_names) for s in (answer, *outputs))
    answer, *outputs = relabel([answer, *outputs], choices, strict=all_there)
    notes = [
        *_reason(answer),
        *answer.notes,
        *(note for output in outputs for note in output.notes),
    ]
    if isinstance(answer, (Labels, LabelSets)):
        matched = _labels(answer, outputs, named, choices, notes, find_positive=find_positive)
        return _averaging(matched, labels)
    if isinstance(answer, Segmented):
        if labels is not None:
            raise InputError("labels: words of a segmentation have none")
        lexicon = None
        if train_words is not None:
            lexicon = _lexicon(train_words, choices.encoding)
        if choices.align_by == "characters":
            outputs, of_texts = _over_the_answer(answer, outputs)
            notes += of_texts
        items = match_words(answer, *outputs)
        matched = Matched(
            kind, named, items, answer, tuple(outputs), lexicon=lexicon, notes=tuple(notes)
        )
        return _averaging(matched, None)
    matched = _entities(answer, outputs, named, choices)
    return _averaging(replace(matched, notes=(*_reason(answer), *matched.notes)), labels)


def _reason(answer: Annotations) -> tuple[str, ...]:
    """What the answer was taken for, and why, where that was not asked for."""
    if answer.origin is None or not answer.origin.reason:
        return ()
    form, reason = answer.origin
    return (f"{_name(answer)}: {FORMATS[form].title} for {task_of(answer)}, because {reason}",)


def _over_the_answer(gold: Segmented, systems: Sequence[Any]) -> tuple[list[Segmented], list[str]]:
    """The words of systems over the characters of the answer, and what could not be aligned."""
    moved = [carried_over(gold, system) for system in systems]
    return [words for words, _ in moved], [note for _, notes in moved for note in notes]


def _samples(files: Sequence[Any], names: Sequence[str] | None) -> Matched:
    """The systems of logs, on the samples of the first."""
    logs = [log for file in files for log in file.logs]
    named = _name_systems(names, _names_of_logs(files))
    items, joined = match_logs(logs)
    answer, systems = sides_of(joined, items)
    return Matched(
        "samples",
        named,
        items,
        answer,
        systems,
        all_classes=not joined[0].counted,
        notes=tuple(note for file in files for note in file.notes),
    )


def _runs_of_logs(systems: Mapping[str, Any], options: Options, choices: ReadingOptions) -> Matched:
    """Systems whose runs are logs: all on the samples of the first."""
    given = []
    for name, own in systems.items():
        paths = tuple(map(str, own if isinstance(own, (list, tuple)) else (own,)))
        files = [_single_log(path, options, choices) for path in paths]
        given.append(_System(str(name), files, _names_of_runs(paths), paths))
    groups = _group(given, tuple(system.name for system in given))
    named = [f"{group.name}, {run}" for group in groups for run in group.runs]
    matched = _samples([file for system in given for file in system.outputs], named)
    notes = _notes_of_runs(matched.notes, groups)
    return _averaging(replace(matched, runs=groups, notes=notes), None)


def _single_log(path: str, options: Options, choices: ReadingOptions) -> Samples:
    """A log of one system."""
    log = annotations_of(path, path, options)
    if not isinstance(log, Samples):
        raise InputError(
            "is no log of samples, and there is no answer; expected logs, or an answer", path
        )
    if len(log.logs) > 1:
        raise InputError("holds the logs of several systems; expected one", path)
    _refuse_unused(choices, log, separate=True)
    return log


def _names_of_logs(files: Sequence[Any]) -> list[str]:
    """What logs call their systems, where that tells them apart; else after their files."""
    systems = [log.system for file in files for log in file.logs]
    if None not in systems and len(set(systems)) == len(systems):
        return [str(system) for system in systems]
    names = []
    for file in files:
        own = short_name(file.name)
        names += [own if len(file.logs) == 1 else f"{own}, {log.system}" for log in file.logs]
    return names


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
        options = replace(
            options,
            task=task_of(answer),
            like=None if answer.origin is None else answer.origin.form,
            probability_columns=tuple(reading.probability_columns),
            multilabel=options.multilabel or (isinstance(answer, LabelSets) or None),
            predicted=True,
        )
        column = next(iter(reading.columns), None)
    options = replace(options, column=None if column is None else str(column))
    if answer is None or not is_path(path):
        return annotations_of(path, str(path), options)
    opened = open_input(path, options)
    output = read(opened)
    refuse_answer_again(opened, output, answer)
    return output


def _how_to_read(chosen: ReadingOptions) -> Options:
    return Options(
        chosen.task,
        chosen.input_format,
        chosen.encoding,
        chosen.tag_column,
        chosen.comments,
        unit=None if chosen.unit_column is None else str(chosen.unit_column),
        header=chosen.header,
        multilabel=chosen.multilabel,
        label_names=tuple(chosen.label_names),
        score_name=chosen.score_name,
        threshold=chosen.threshold,
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
    if matched.task == "samples":
        raise InputError("train: means nothing for logs; expected it left out")
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
    check_label_names(reading.label_names)
    if reading.score_name is not None and not isinstance(reading.score_name, str):
        raise InputError(f"score_name: {shown(reading.score_name)}; expected a name (str)")
    one_of("repair", reading.repair, REPAIRS)
    if reading.scheme is not None:
        one_of("scheme", reading.scheme, SCHEMES)
    _check_switches(reading)
    mapping = check_names(reading.mapping, ignore_case=reading.ignore_case)
    positive, labels = reading.positive, reading.labels
    if reading.ignore_case and not (labels is None or isinstance(labels, str)):
        labels = [written_alike(name, reading) for name in names_of("labels", labels)]
    if positive is not None:
        positive = written_alike(label_name("positive", positive), reading)
    return replace(
        reading,
        only=tuple(written_alike(name, reading) for name in names_of("only", reading.only)),
        positive=positive,
        labels=labels,
        mapping=mapping,
        ignore_type=flag("ignore_type", reading.ignore_type),
    )


def _check_switches(reading: ReadingOptions) -> None:
    names_of("probability_columns", reading.probability_columns)
    if len(reading.probability_columns) == 1:
        raise InputError(
            "probability_columns: one; expected a column for each class, or threshold="
        )
    if reading.probability_columns and reading.threshold is not None:
        raise InputError("threshold: cannot be combined with probability_columns=; expected one")
    if reading.probability_columns and reading.columns:
        raise InputError("columns: cannot be combined with probability_columns=; expected one")
    if reading.header is not None:
        flag("header", reading.header)
    if reading.threshold is not None:
        finite("threshold", reading.threshold)
    several = reading.multilabel
    if not (several is None or isinstance(several, bool) or (isinstance(several, str) and several)):
        raise InputError(
            f"multilabel: {shown(several)}; expected True, or the text between labels, such as ','"
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
    other = {"entities": "characters", "segmentation": "position"}.get(task)
    if options.align_by == other:
        raise InputError(f"align_by: {other!r} means nothing for {task}; expected another way")
    for name in _UNUSED[task]:
        if getattr(options, name) not in (None, {}, getattr(usual, name)):
            raise InputError(f"{name}: means nothing for {task}; expected it left out")
    if not separate and options.tag_column is not None:
        raise InputError("tag_column: one file holds all; expected gold_column= and columns=")
    parted_by = answer.text.parted_by if isinstance(answer, Tagged) else None
    in_table = parted_by is not None
    is_named = options.columns or options.gold_column is not None
    by_column = in_table and parted_by != BY_ROW
    if task == "entities" and options.label_names and parted_by != BY_ROW:
        raise InputError("label_names: the tags are no numbers; expected it left out")
    if task == "entities" and options.unit_column is not None and not by_column:
        raise InputError("unit_column: means nothing for entities; expected it left out")
    if separate and task != "labels" and is_named and not in_table:
        raise InputError(
            "gold_column, columns: the systems have inputs of their own; expected one file that "
            "holds all, or tag_column="
        )
    if not isinstance(answer, (Labels, LabelSets)):
        return
    if answer.units is None and options.unit_column is not None:
        raise InputError("unit_column: there is no table to look it up in; expected a table")
    if answer.aligned is None and options.align_by != usual.align_by:
        raise InputError("align_by: means nothing for labels without tokens; expected it left out")


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
    beside = [output for system in systems for output in single_outputs(gold, system)]
    options = settled([gold, *beside], options)
    answer = annotations_of(gold, "gold", replace(options, column=wanted[0]))
    same_task = replace(
        options,
        task=task_of(answer),
        like=None if answer.origin is None else answer.origin.form,
        predicted=True,
        probability_columns=tuple(choices.probability_columns),
        multilabel=options.multilabel or (isinstance(answer, LabelSets) or None),
    )
    _refuse_unused(choices, answer, separate=True)
    given = []
    for number, system in enumerate(systems):
        column = wanted[min(number + 1, len(wanted) - 1)]
        usual = f"pred {number + 1}" if len(systems) > 1 else "pred"
        of_system = replace(same_task, column=column)
        several = runs_of(system, answer, gold)
        if choices.run_column is not None:
            given.append(_runs_in_tables(several or Runs([system]), usual, of_system, choices))
        elif several is not None:
            given.append(_several(several, usual, answer, of_system, choices))
        else:
            opened = open_input(system, of_system) if is_path(system) else None
            output = read(opened) if opened else annotations_of(system, usual, of_system)
            output = _same_task(output, answer)
            itself = is_path(system) and str(system) == str(gold) and column == wanted[0]
            if itself and not are_other_labels(output, answer):
                note = f"{_name(output)}: is the answer itself, so all of it is right"
                output = replace(output, notes=(*output.notes, note))
            elif opened:
                refuse_answer_again(opened, output, answer)
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
        if opened:
            refuse_answer_again(opened, output, answer)
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
    if isinstance(output, LabelSets) != isinstance(answer, LabelSets):
        raise InputError(
            f"{_name(output)}: has {_per_item(output)}, but {_name(answer)} has "
            f"{_per_item(answer)}; expected the same (multilabel=)"
        )
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
        run_column = str(choices.run_column)
        parted = read_run_table(table, [options.column], run_column, options, sort=False)
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
    if str(choices.run_column) in columns:
        raise InputError(
            f"run_column: {choices.run_column!r} holds labels; expected another column"
        )
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
    # a note that names no run is about all of them: the columns of a table
    more = {words: _and_more(len(names) - 1) if names[0] else "" for words, names in about.items()}
    return tuple(f"{names[0]}{more[words]}{words}" for words, names in about.items())


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


def _per_item(side: Any) -> str:
    return "sets of labels" if isinstance(side, LabelSets) else "one label per item"


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
    gold: Labels | LabelSets,
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
    single = isinstance(gold, Labels)
    notes = list(notes)
    for name, system in zip(names, systems, strict=True):
        notes += _align_items(gold, system, name, options.align_by)
    if isinstance(gold, Labels):
        systems = [
            s if s is gold else by_threshold(gold, s, n, options, names)
            for s, n in zip(systems, names, strict=True)
        ]
        notes += [s.notes[-1] for s in systems if options.threshold is not None and s is not gold]
    for name, system in zip(names, systems, strict=True):
        _refuse_strange_classes(gold, system, name, options)
        notes += differ_in_writing(gold.names, system.names, name)
        notes += parted_alike(gold, system, name, options)
    if isinstance(gold, Labels) and positive is None and not only and find_positive:
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
        all_classes=positive is None and not only and single,
        notes=tuple(notes),
    )


def _refuse_strange_classes(gold: Any, system: Any, name: str, options: ReadingOptions) -> None:
    """The columns of probabilities are called as the classes are, or mapped to them."""
    if options.probability_columns and not set(gold.names) & set(system.names):
        raise InputError(
            f"{name}: the columns {', '.join(options.probability_columns)} are not called as the "
            f"classes of the answer are ({', '.join(gold.names[:4])}); expected mapping="
        )


def _align_items(gold: Any, system: Any, name: str, by: str) -> tuple[str, ...]:
    """Make sure that the items of both sides are the same, where anything tells them."""
    if isinstance(gold.aligned, Text) and isinstance(system.aligned, Text):
        return align(gold.aligned, system.aligned, by=by)
    if isinstance(gold.aligned, RowIds) and isinstance(system.aligned, RowIds):
        return align_rows(gold, system, name, by=by)
    if isinstance(gold.aligned, RowIds) and system is not gold:
        column = gold.aligned.column
        return (f"{name}: has no {column!r}; its items are paired with the rows by their places",)
    return ()


def _entities(
    answer: Any,
    outputs: Sequence[Any],
    names: tuple[str, ...],
    options: ReadingOptions,
) -> Matched:
    scheme = options.scheme
    answer, *outputs = _without_what_is_left_out(answer, outputs)
    notes: list[str] = []
    if all(isinstance(side, Spans) for side in (answer, *outputs)):
        (answer, *outputs), left_out = without_left_out_texts([answer, *outputs])
        notes += left_out
    sides = (answer, *outputs)
    for output in outputs:
        notes += align(answer.text, output.text, by=options.align_by)
    tagged = sides if all(isinstance(side, Tagged) for side in sides) else ()
    own = recognise(answer) if scheme is None and isinstance(answer, Tagged) else scheme
    spans = [_spans(side, scheme, own, options.repair) for side in sides]
    gold, *systems = spans
    for name, system in zip(names, systems, strict=True):
        notes += differ_in_writing(gold.labels, system.labels, name)
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


def _without_what_is_left_out(answer: Any, outputs: Sequence[Any]) -> list[Any]:
    """The sides without tokens that have no tag, where tokens are tagged."""
    if all(isinstance(side, Tagged) for side in (answer, *outputs)):
        return [*without_ignored_tokens(answer, outputs)]
    return [answer, *outputs]


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
