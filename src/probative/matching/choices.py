"""Validate the options of reading, and refuse those that a task does not use."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from probative._validation import columns_of, finite, flag, names_of, one_of, shown
from probative.errors import InputError
from probative.labels import label_name
from probative.matching.labels import check_names, written_alike
from probative.matching.record_rules import ON_MALFORMED, rules_of
from probative.matching.schemes import REPAIRS, SCHEMES
from probative.matching.spans import match_rule
from probative.metrics import OF_SCORES
from probative.options import GradedOptions, Option, ReadingOptions, check_together
from probative.reading.alignment import ALIGNMENTS, ON_MISSING
from probative.reading.annotations import Labels, LabelSets, Tagged
from probative.reading.formats import Options
from probative.reading.rows import BY_ROW, check_label_names

if TYPE_CHECKING:
    from probative.reading.annotations import RowGroups
    from probative.reading.formats import Annotations
    from probative.reading.scores import Graded


_AS_GIVEN = (  # options that the readers take as they are
    *("task", "input_format", "encoding", "tag_column", "comments", "header", "multilabel"),
    *("score_name", "threshold", "find_json", "on_malformed"),
)


def _options_of(reading: ReadingOptions) -> dict[str, Option]:
    """Return the options of reading, with those of graded scores if the job has them."""
    graded = isinstance(reading, GradedOptions)
    return GradedOptions.options() if graded else ReadingOptions.options()


def how_to_read(chosen: ReadingOptions) -> Options:
    """Translate the options for the readers; the columns of each side are added later."""
    metric = getattr(chosen, "metric", None)
    metrics = metric if isinstance(metric, (list, tuple)) else (metric,)
    return Options(
        **{name: getattr(chosen, name) for name in _AS_GIVEN},
        unit=None if chosen.unit_column is None else str(chosen.unit_column),
        label_names=tuple(chosen.label_names),
        graded=any(isinstance(name, str) and name in OF_SCORES for name in metrics),
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
    check_together(_options_of(reading), vars(reading), reading.changed())
    one_of("align_by", reading.align_by, ALIGNMENTS)
    names_of("key", reading.key)
    one_of("on_missing", reading.on_missing, ON_MISSING)
    if reading.memory_limit is not None:
        from probative.reading.database import check_memory_limit

        check_memory_limit(reading.memory_limit)
    for name, what in (("table", "the name of a table"), ("score_name", "a name (str)")):
        value = getattr(reading, name)
        if value is not None and not isinstance(value, str):
            raise InputError(f"{name}: {shown(value)}; expected {what}")
    check_label_names(reading.label_names)
    one_of("repair", reading.repair, REPAIRS)
    one_of("on_malformed", reading.on_malformed, ON_MALFORMED)
    flag("find_json", reading.find_json)
    rules_of(reading)  # refuses what is no rule
    match_rule(reading.match)
    if reading.scheme is not None:
        one_of("scheme", reading.scheme, SCHEMES)
    names_of("probability_columns", reading.probability_columns)
    if len(reading.probability_columns) == 1:
        raise InputError(
            "probability_columns: one; expected a column for each class, or threshold="
        )
    if reading.header is not None:
        flag("header", reading.header)
    if reading.threshold is not None:
        finite("threshold", reading.threshold)
    several = reading.multilabel
    if not (several is None or isinstance(several, bool) or (isinstance(several, str) and several)):
        raise InputError(
            f"multilabel: {shown(several)}; expected True, or the text between labels, such as ','"
        )
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
    task = answer.task
    usual = GradedOptions()
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
    in_table = parted_by is not None
    is_named = options.columns or options.gold_column is not None
    by_column = in_table and parted_by != BY_ROW
    if task == "entities" and options.label_names and parted_by != BY_ROW:
        raise InputError("label_names: the tags are no numbers; leave it out")
    if task == "entities" and options.unit_column is not None and not by_column:
        raise InputError("unit_column: does not apply to entities; leave it out")
    if separate and task not in ("labels", "records") and is_named and not in_table:
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
