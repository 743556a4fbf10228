"""Validate the options of reading, and read the outputs of systems beside gold."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from probative._validation import columns_of, finite, flag, names_of, one_of, shown
from probative.errors import InputError
from probative.labels import label_name
from probative.matching.labels import check_names, written_alike
from probative.matching.schemes import REPAIRS, SCHEMES
from probative.matching.spans import match_rule
from probative.metrics import OF_SCORES
from probative.options import GradedOptions, Option, ReadingOptions, check_together
from probative.reading.alignment import ALIGNMENTS, ON_MISSING
from probative.reading.annotations import Labels, LabelSets, Records, RowGroups, Spans, Tagged
from probative.reading.formats import Input, Options, open_input, read
from probative.reading.inputs import annotations_of, is_path, settled
from probative.reading.rows import BY_ROW, check_label_names
from probative.reading.runs import (
    Runs,
    check_own_answer,
    read_run_table,
    refuse_mixture,
    runs_of,
    same_file,
    single_outputs,
)
from probative.reading.source import load
from probative.reading.table_sides import are_other_labels, refuse_answer_again

if TYPE_CHECKING:
    from probative.reading.formats import Annotations
    from probative.reading.logs import RecordLog
    from probative.reading.scores import Graded

_ENDINGS = {
    *(".gz", ".txt", ".conll", ".conllu", ".iob2", ".tsv", ".csv", ".json", ".jsonl", ".utf8"),
    *(".eval", ".parquet", ".spacy"),
}


# --- Options of reading: valid ones, and those that a task does not use

_AS_GIVEN = (  # options that the readers take as they are
    *("task", "input_format", "encoding", "tag_column", "comments", "header", "multilabel"),
    *("score_name", "threshold", "find_json", "on_malformed"),
)


def _options_of(reading: ReadingOptions) -> dict[str, Option]:
    """Return the options of reading, with those of graded scores if the job has them."""
    return (GradedOptions if isinstance(reading, GradedOptions) else ReadingOptions).options()


def how_to_read(chosen: ReadingOptions) -> Options:
    """Translate the options for the readers; the columns of each side are added later."""
    metric = getattr(chosen, "metric", None)
    metrics = metric if isinstance(metric, (list, tuple)) else (metric,)
    graded = any(isinstance(name, str) and name in OF_SCORES for name in metrics)
    as_given = {name: getattr(chosen, name) for name in _AS_GIVEN}
    if isinstance(chosen, GradedOptions) and chosen.score_column is not None:
        graded, as_given["score_name"] = True, chosen.score_column
        as_given["input_format"] = chosen.input_format or "log"
    return Options(
        **as_given,
        unit=None if chosen.unit_column is None else str(chosen.unit_column),
        label_names=tuple(chosen.label_names),
        graded=graded,
        key=tuple(chosen.key),
        group=None if chosen.group is None else str(chosen.group),
    )


def check_reading(reading: ReadingOptions) -> ReadingOptions:
    """Validate the options, and return them with label names normalised."""
    columns_of("columns", reading.columns)
    columns_of(
        "gold_column, unit_column, run_column, group",
        [reading.gold_column, reading.unit_column, reading.run_column, reading.group],
    )
    known = _options_of(reading)
    check_together(known, vars(reading), reading.changed())
    one_of("align_by", reading.align_by, ALIGNMENTS)
    names_of("key", reading.key)
    one_of("on_missing", reading.on_missing, ON_MISSING)
    if reading.memory_limit is not None:
        from probative.reading.database import check_memory_limit

        check_memory_limit(reading.memory_limit)
    named = {"table": "the name of a table", "score_name": "a name (str)"}
    for name, what in (*named.items(), ("score_column", "a name (str)")):
        value = getattr(reading, name, None)
        if value is not None and not isinstance(value, str):
            raise InputError(f"{name}: {shown(value)}; expected {what}")
    check_label_names(reading.label_names)
    one_of("repair", reading.repair, REPAIRS)
    if any(known[name].tasks == ("records",) for name in reading.changed() & known.keys()):
        from probative.matching.record_rules import ON_MALFORMED, Paths, with_rules_of_file

        one_of("on_malformed", reading.on_malformed, ON_MALFORMED)
        for name in ("find_json", "keep_empty", "only_gold_paths"):
            flag(name, getattr(reading, name))
        names_of("empty", reading.empty)
        Paths(with_rules_of_file(reading))  # refuses what is no rule
    match_rule(reading.match)
    if reading.scheme is not None:
        one_of("scheme", reading.scheme, SCHEMES)
    names_of("probability_columns", reading.probability_columns)
    if len(reading.probability_columns) == 1:
        raise InputError("probability_columns: one; expected one for each class, or threshold=")
    if reading.header is not None:
        flag("header", reading.header)
    if reading.threshold is not None:
        finite("threshold", reading.threshold)
    several = reading.multilabel
    if several == "" or not (several is None or isinstance(several, (bool, str))):
        expected = "expected True, or the text between labels, such as ','"
        raise InputError(f"multilabel: {shown(several)}; {expected}")
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


def refuse_engine(options: ReadingOptions, *, single: bool = True) -> None:
    """Refuse options of the engine where it is not used; `single`: one input holds all sides."""
    if options.table is not None:
        raise InputError("table: there is no database; leave it out")
    if options.key and single:
        raise InputError("key: one input holds all; expected several tables, or one file")


def groups_of(answer: Any) -> RowGroups | None:
    """Return the group of every item (sentence) if the table has a column of groups, else None."""
    return getattr(answer.text if answer.task == "entities" else answer, "groups", None)


def refuse_unused(options: ReadingOptions, answer: Annotations | Graded, *, separate: bool) -> None:
    """Refuse options that are not used for this gold; `separate`: systems have own inputs."""
    task, usual = answer.task, GradedOptions()
    other = {"entities": "characters", "segmentation": "position"}.get(task)
    if options.align_by == other:
        raise InputError(f"align_by: {other!r} does not apply to {task}; expected another value")
    for name, option in _options_of(options).items():
        used = not option.tasks or task in option.tasks
        if not used and getattr(options, name) not in (None, {}, getattr(usual, name)):
            raise InputError(f"{name}: does not apply to {task}; leave it out")
    if not separate and options.tag_column is not None:
        raise InputError("tag_column: one file holds all; expected gold_column= and columns=")
    if options.group is not None and groups_of(answer) is None and task != "scores":
        raise InputError("group: there is no table; expected one")
    parted_by = answer.text.parted_by if isinstance(answer, Tagged) else None
    is_named = options.columns or options.gold_column is not None
    if task == "entities" and options.label_names and parted_by != BY_ROW:
        raise InputError("label_names: the tags are no numbers; leave it out")
    if task == "entities" and options.unit_column is not None and parted_by in (None, BY_ROW):
        raise InputError("unit_column: does not apply to entities; leave it out")
    if separate and task not in ("labels", "records") and is_named and parted_by is None:
        raise InputError(
            "gold_column, columns: the systems have inputs of their own; expected one file that "
            "holds all, or tag_column="
        )
    if not isinstance(answer, (Labels, LabelSets)):
        return
    if answer.units is None and options.unit_column is not None:
        raise InputError("unit_column: there is no table; expected one")
    if answer.aligned is None and options.align_by != usual.align_by:
        raise InputError("align_by: does not apply to labels without tokens; leave it out")


# --- Outputs of systems: one each, or several runs


@dataclass(frozen=True)
class RunGroup:
    """Runs of one system."""

    name: str
    places: tuple[int, ...]  # the numbers of its runs among all outputs
    runs: tuple[str, ...]  # names of the runs
    files: tuple[str | None, ...] = ()  # files of the runs; None for a run that is not from a file


@dataclass(frozen=True)
class SystemOutputs:
    """Outputs of one system: a single one, or several runs with their names."""

    name: str
    outputs: list[Any]
    runs: tuple[str, ...] | None = None
    files: tuple[str | None, ...] = ()  # of the runs, if they are from files


def _wanted(choices: ReadingOptions) -> list[str | None]:
    """Return the requested column of gold and those of the systems; None for the usual one."""
    columns = [None if c is None else str(c) for c in (choices.gold_column, *choices.columns)]
    return columns if choices.columns else [*columns, None]


def like_gold(options: Options, answer: Annotations, choices: ReadingOptions) -> Options:
    """Return how the output of a system is read beside gold."""
    return replace(
        options,
        task=answer.task,
        like=None if answer.origin is None else answer.origin.form,
        predicted=True,
        probability_columns=tuple(choices.probability_columns),
        multilabel=options.multilabel or (isinstance(answer, LabelSets) or None),
    )


def read_apart(
    gold: Any, systems: Sequence[Any], options: Options, choices: ReadingOptions
) -> tuple[Annotations, list[SystemOutputs]]:
    """Read gold and systems from inputs of their own, all in the same way."""
    wanted = _wanted(choices)
    refuse_mixture(gold, systems)
    beside = [output for system in systems for output in single_outputs(gold, system)]
    options = settled([gold, *beside], options)
    answer = annotations_of(gold, "gold", replace(options, column=wanted[0]))
    # joined rows have the units of gold
    unit = None if choices.key else options.unit
    same_task = replace(like_gold(options, answer, choices), unit=unit, group=None)
    refuse_unused(choices, answer, separate=True)
    given = []
    for number, system in enumerate(systems):
        column = wanted[min(number + 1, len(wanted) - 1)]
        usual = f"pred {number + 1}" if len(systems) > 1 else "pred"
        of_system = replace(same_task, column=column)
        several = runs_of(system, answer, gold)
        itself = gold if column == wanted[0] else None
        if choices.run_column is not None:
            given.append(_runs_in_tables(several or Runs([system]), usual, of_system, choices))
        elif several is not None:
            outputs = []
            for k, run in enumerate(several, start=1):
                opened, output = _output(run, f"{usual}, run {k}", answer, of_system, itself)
                outputs.append(output)
                if opened and choices.tag_column is None:
                    check_own_answer(opened, answer, choices.gold_column)
            files = tuple(str(run) if is_path(run) else None for run in several)
            given.append(SystemOutputs(usual, outputs, names_of_runs(files), files))
        else:
            _, output = _output(system, usual, answer, of_system, itself)
            name = short_name(system) if is_path(system) else usual
            if hasattr(system, "to_numpy") and isinstance(getattr(system, "name", None), str):
                name = system.name or usual  # of a column of a data frame
            given.append(SystemOutputs(name, [output]))
    return answer, given


def read_record_logs(
    paths: Sequence[Any], options: Options
) -> tuple[Records, list[SystemOutputs]] | None:
    """Read gold and systems from logs whose targets are records; None if the first is no log."""
    if not all(is_path(path) and str(path) != "-" and Path(path).exists() for path in paths):
        return None
    from probative.reading.logs import are_verdicts, read_record_log, read_verdicts
    from probative.reading.records import join_record

    reading = replace(options, predicted=True)
    gold: Records | None = None
    given = []
    for path in paths:
        log: RecordLog | None = None
        partial = are_verdicts(path)  # they have no documents on which the system failed
        if partial:
            log = read_verdicts(Path(path), reading)
        elif not Path(path).is_dir():
            log = read_record_log(load(path, encoding=options.encoding), reading)
        if log is None and gold is None:
            return None
        if log is None:
            raise InputError(f"is no log, but {paths[0]} is one; expected logs alone", path)
        gold = log.gold if gold is None else gold
        gold = _with_more_documents(gold, log.gold) if partial else gold
        own = join_record(gold, log.gold).documents
        if any(o != g for o, g in zip(own, gold.documents, strict=True) if o or not partial):
            raise InputError(f"has other targets than {paths[0]}; expected the same gold", path)
        for name, outputs in log.systems.items():
            several = names_of_runs([None] * len(outputs)) if len(outputs) > 1 else None
            given.append(SystemOutputs(name or short_name(path), outputs, several))
    return None if gold is None else (gold, given)


def _with_more_documents(gold: Records, other: Records) -> Records:
    """Add the documents that only another log has, because the first one failed on them."""
    known = set(gold.keys or ())
    more = [i for i, key in enumerate(other.keys or ()) if key not in known]
    if not more:
        return gold
    added = other.at(more)
    keys = (*(gold.keys or ()), *(added.keys or ()))
    return replace(gold, documents=(*gold.documents, *added.documents), keys=keys, lines=None)


def read_joined(
    gold: Any, systems: Sequence[Any], options: Options, choices: ReadingOptions
) -> tuple[Annotations, list[SystemOutputs]] | None:
    """Read gold and systems from tables that DuckDB joins by key; None if it does not apply."""
    from probative.reading.large_tables import read_large_joined

    wanted = _wanted(choices)
    columns = [wanted[min(number, len(wanted) - 1)] for number in range(len(systems) + 1)]
    found = read_large_joined([gold, *systems], columns, options, choices)
    if found is None:
        return None
    answer, outputs, notes = found
    refuse_unused(choices, answer, separate=True)
    answer = replace(answer, notes=(*answer.notes, *notes))
    pairs = zip(systems, outputs, strict=True)
    return answer, [SystemOutputs(short_name(system), [own]) for system, own in pairs]


def _output(
    system: Any, usual: str, answer: Annotations, options: Options, gold: Any
) -> tuple[Input | None, Any]:
    """Read an output; note if it is gold's file, and refuse one that looks like gold."""
    opened = open_input(system, options) if is_path(system) else None
    output: Any = read(opened) if opened else annotations_of(system, usual, options)
    _check_task(output, answer)
    if opened and same_file(system, gold) and not are_other_labels(output, answer):
        note = f"{name_of(output)}: is gold itself, so all of it is right"
        output = replace(output, notes=(*output.notes, note))
    elif opened:
        refuse_answer_again(opened, output, answer)
    return opened, output


def names_of_runs(files: Sequence[str | None]) -> tuple[str, ...]:
    """Name runs after their files, or after the folders if all files have one name."""
    paths = [file for file in files if file is not None]
    names = [short_name(path) for path in paths]
    if len(set(names)) == 1:  # seed-1/test.conll, seed-2/test.conll
        names = [Path(path).parent.name for path in paths]
    return _distinct_names(names if len(names) == len(files) else [""] * len(files))


def _distinct_names(names: Sequence[str]) -> tuple[str, ...]:
    """Return the names if all are different and not empty, else numbers."""
    if "" in names or len(set(names)) < len(names):
        return tuple(f"run {number}" for number in range(1, len(names) + 1))
    return tuple(names)


def _check_task(output: Annotations, answer: Annotations) -> None:
    """Refuse an output of another task or kind of labels than gold."""
    names = name_of(output), name_of(answer)
    if isinstance(output, LabelSets) != isinstance(answer, LabelSets):
        own, other = "one label per item", "sets of labels"
        own, other = (other, own) if isinstance(output, LabelSets) else (own, other)
        what = f"{names[0]}: has {own}, but {names[1]} has {other}"
        raise InputError(f"{what}; expected the same (multilabel=)")
    if output.task != answer.task:
        files = isinstance(output, Labels) and output.origin is None
        hint = "; texts in a list are labels where gold is data, not files" if files else ""
        raise InputError(f"{names[0]}: is {output.task}, but {names[1]} is {answer.task}{hint}")


def _runs_in_tables(
    tables: Runs, usual: str, options: Options, choices: ReadingOptions
) -> SystemOutputs:
    """Read the runs of a system from tables with a column that names the run."""
    outputs: list[Any] = []
    runs: list[str] = []
    run_column = str(choices.run_column)
    for table in tables:
        parted = read_run_table(table, [options.column], run_column, options, sort=False)
        outputs += (
            replace(own, name=f"{parted.name}, run {run!r}")
            for run, own in zip(parted.runs, parted.sides[0], strict=True)
        )
        runs += parted.runs
    name = short_name(tables[0]) if len(tables) == 1 and is_path(tables[0]) else usual
    return SystemOutputs(name, outputs, _distinct_names(runs))


def read_runs_together(
    gold: Any, options: Options, choices: ReadingOptions
) -> tuple[Annotations, list[SystemOutputs]]:
    """Read gold and the runs of all systems from one table."""
    columns, run_column = _wanted(choices), str(choices.run_column)
    if run_column in columns:
        raise InputError(f"run_column: {run_column!r} holds labels; expected another column")
    parted = read_run_table(gold, columns, run_column, options)
    parted.check_answers()
    (first, *_), *systems = parted.sides
    return first, [SystemOutputs(own[0].name, list(own), parted.runs) for own in systems]


def share_notes(notes: tuple[str, ...], groups: tuple[RunGroup, ...]) -> tuple[str, ...]:
    """Merge notes that several runs share into one each."""
    if not groups:
        return notes
    files = [file for group in groups for file in group.files if file]
    files += (f"{group.name}, {run}" for group in groups for run in group.runs)
    place = {file: i for i, file in reversed(list(enumerate(files)))}
    about: dict[tuple[type[str], str], list[str]] = {}
    for note in notes:
        heads = [note[: space.start()] for space in re.finditer(" ", note)]
        known = {*heads, *(head.removesuffix(":") for head in heads)} & place.keys()
        name = min(known, key=place.__getitem__, default="")
        about.setdefault((type(note), note.removeprefix(name)), []).append(name)
    # a note that names no run is about all of them, such as one on the columns of a table
    return tuple(
        kind(names[0] + (f" and {len(names) - 1} more" if names[0] and names[1:] else "") + words)
        for (kind, words), names in about.items()
    )


def name_run(error: InputError, groups: tuple[RunGroup, ...]) -> InputError:
    """Return the error with the run added whose file it names."""
    for group in groups:
        for number, file in enumerate(group.files, start=1):
            if file is not None and (error.path == file or error.message.startswith(f"{file}: ")):
                which = f"{error.message} (run {number} of {group.name})"
                return InputError(which, error.path, error.line)
    return error


def name_of(side: Any) -> str:
    """Return the name of a side for messages."""
    return str(side.text.name if isinstance(side, (Tagged, Spans)) else side.name)


def short_name(path: str | Path) -> str:
    """Return the name of a file without its folder and its extensions."""
    if str(path) == "-":
        return "standard input"
    name = Path(path).name
    while Path(name).suffix.lower() in _ENDINGS and Path(name).stem:
        name = Path(name).stem
    return name
