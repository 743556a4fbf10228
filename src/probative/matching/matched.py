"""Read the inputs of a comparison and match them into items."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from heapq import nsmallest
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Unpack, cast

import numpy as np
from numpy.typing import NDArray

from probative._validation import names_of, shortened, shown
from probative.errors import InputError, Recognised
from probative.labels import factorise_each
from probative.matching.items import Items, numbered_alike
from probative.matching.labels import (
    UNION,
    averaged_labels,
    by_threshold,
    differ_in_writing,
    match_labels,
    only_in_a_system,
    parted_alike,
    positive_class,
    refuse_other_labels,
    relabel,
)
from probative.matching.outputs import (
    RunGroup,
    SystemOutputs,
    check_reading,
    how_to_read,
    like_gold,
    name_of,
    name_run,
    names_of_runs,
    read_apart,
    read_joined,
    read_record_logs,
    read_runs_together,
    refuse_engine,
    refuse_unused,
    share_notes,
    short_name,
)
from probative.matching.schemes import SCHEMES, decode, prefix_of, recognise
from probative.matching.spans import STRICT, match_rule, match_spans
from probative.options import GradedOptions, ReadingKeywords, ReadingOptions
from probative.reading.alignment import NOTHING, Mismatch, align, align_rows, settle
from probative.reading.annotations import (
    Labels,
    LabelSets,
    Records,
    RowIds,
    Segmented,
    Spans,
    Tagged,
    Text,
    coded,
    items_at,
    without_left_out_texts,
)
from probative.reading.formats import FORMATS, Options, open_input, read
from probative.reading.inputs import annotations_of, both_of, is_path
from probative.reading.rows import name_numbers, without_ignored_tokens
from probative.reading.runs import Runs
from probative.reading.source import is_small_text, refuse_repeats
from probative.reading.table_sides import refuse_answer_again

if TYPE_CHECKING:
    from probative.matching.records import MatchedRecords
    from probative.reading.formats import Annotations
    from probative.reading.logs import Log
    from probative.reading.scores import Graded
    from probative.tables.scores import SummedScores

    Side = Labels | LabelSets

# files of samples of lm-evaluation-harness: the task, and when it was run
_SAMPLES_OF_TASK = re.compile(r"samples_(.+)_\d{4}-\d\d-\d\dT[\d.:-]+")
_IDS_SHOWN = 3  # of missing, extra or repeated rows, in messages


# --- Joining rows of tables in memory by their ids


def _join_by_key(
    gold: Side, systems: Sequence[Any], options: ReadingOptions
) -> tuple[Side, list[Any], list[str]]:
    """Return gold and the systems with the same rows in the same order, and notes."""
    sides: list[Any] = [gold, *systems]
    for side in sides:
        if not isinstance(side.aligned, RowIds):
            raise InputError(f"key: {side.name} is no table; expected tables with these columns")
    names, codes = numbered_alike([(s.aligned.names, s.aligned.codes) for s in sides])
    held = np.stack([np.bincount(own, minlength=len(names)) for own in codes])
    answer = held[0] > 0

    def told(ids: NDArray[np.bool_]) -> tuple[int, tuple[str, ...]]:
        places = np.flatnonzero(ids).tolist()
        texts = (names[i].replace("\x1f", ", ") for i in places)
        return len(places), tuple(nsmallest(_IDS_SHOWN, texts))

    found = [
        Mismatch(side.name, told(answer & (own == 0)), told(~answer & (own > 0)), told(own > 1))
        for side, own in zip(sides, held, strict=True)
    ]
    common: NDArray[np.bool_] = np.all(held > 0, axis=0)
    notes = settle(found, options.key, options.on_missing, int(answer.sum()), int(common.sum()))
    kept = common if options.on_missing == "drop" else answer
    order = codes[0][kept[codes[0]]]  # of gold
    joined = []
    for side, own in zip(sides, codes, strict=True):
        place = np.full(len(names), -1, dtype=np.int64)
        place[own] = np.arange(len(own))
        joined.append(_in_places(side, place[order]))
    return joined[0], joined[1:], notes


def _in_places(side: Side, places: NDArray[np.int64]) -> Side:
    """Return the rows at these indices; -1 stands for a row without a label."""
    lost = places < 0
    units = None if side.units is None else side.units[places]
    part: Side = replace(items_at(side, places, units), aligned=None)
    if isinstance(part, Labels) and lost.any():  # names stay sorted: NOTHING is the empty text
        codes = np.where(lost, 0, part.codes + 1).astype(np.int32)
        part = replace(part, codes=codes, names=(NOTHING, *side.names))
    return part


# --- Matching logs: the samples that each system got right, or its findings in them

_RIGHT, _WRONG = "right", "wrong"
_FINDING = "finding"
_LONGEST_ANSWER_SHOWN = 200  # characters
_MOST_FINDINGS = 50_000_000  # each becomes an item in memory


def _items_of(logs: Sequence[Log]) -> Items:
    """Make an item of every sample, or of every finding in one; samples are the units."""
    unit, samples = factorise_each(logs[0].samples, len(logs[0].samples))
    if logs[0].counted:
        return _findings(logs, unit, len(samples))
    right, answer = np.stack([log.tp > 0 for log in logs]), np.ones(len(unit), dtype=bool)
    return Items(unit, np.zeros_like(unit), (_RIGHT,), answer, right, len(samples))


def _findings(logs: Sequence[Log], unit: NDArray[np.int32], n_units: int) -> Items:
    """Make an item of every finding."""
    # A log does not show which findings of a sample two systems share. As many as possible are
    # taken to be shared; the counts of a sample, which is exchanged as a whole, stay the same.
    first = logs[0]
    there = first.tp + first.fn
    for log in logs[1:]:
        other = np.flatnonzero(log.tp + log.fn != there)
        if len(other):
            k = int(other[0])
            here = f"tp + fn = {log.tp[k] + log.fn[k]}, but {there[k]} in {first.name}"
            problem = f"sample {first.samples[k][:40]!r} has {here} ({len(other)} samples differ)"
            raise InputError(f"{problem}; expected the same gold", log.name)
    alarms = np.max([log.fp for log in logs], axis=0)
    if int(there.sum() + alarms.sum()) > _MOST_FINDINGS:
        raise InputError(f"more than {_MOST_FINDINGS:,} findings; expected fewer", first.name)
    if not there.any() and not alarms.any():
        raise InputError("there are no findings: tp, fp and fn are 0 everywhere", first.name)
    rows, parts = [], []
    for number, found in ((there, "tp"), (alarms, "fp")):
        row = np.repeat(np.arange(len(number)), number)  # of every finding, and its place there
        place = np.arange(len(row)) - (np.cumsum(number) - number)[row]
        rows.append(unit[row])
        parts.append([place < getattr(log, found)[row] for log in logs])
    units, says = np.concatenate(rows), np.concatenate(parts, axis=1)
    answer = np.arange(len(units)) < len(rows[0])
    return Items(units, np.zeros_like(units), (_FINDING,), answer, says, n_units)


def _sides_of(logs: Sequence[Log], items: Items) -> tuple[Labels, tuple[Labels, ...]]:
    """Return gold and the answers of every system as labels, to be shown as examples."""
    first = logs[0]
    unit = items.unit if items.n_units < len(first) else None
    if first.counted:  # a log of counts does not show which findings these were
        unit = np.zeros(0, dtype=np.int32)

    def side(log: Log, answers: Sequence[str]) -> Labels:
        texts = [record.text for record in log.records]
        return Labels(log.name, *coded(answers), units=unit, texts=lambda: texts)

    def answer(right: Any, target: str, record: Any) -> str:
        """Return the target if the answer is right, else the answer, marked if it looks alike."""
        said = target if right else shortened(record.said, _LONGEST_ANSWER_SHOWN)
        return f"{said} ({_WRONG})" if said == target and not right else said or _WRONG

    if first.counted:
        return side(first, ()), ()
    most = _LONGEST_ANSWER_SHOWN
    targets = [shortened(record.target, most) or _RIGHT for record in first.records]
    given = (list(map(answer, log.tp.tolist(), targets, log.records)) for log in logs)
    return side(first, targets), tuple(map(side, logs, given))


@dataclass(frozen=True, eq=False)
class Matched:
    """Gold, outputs and items, from which scores and comparisons are computed."""

    task: str  # ``entities``, ``segmentation``, ``labels``, ``samples``, ``records`` or ``scores``
    names: tuple[str, ...]  # the systems; with several runs, each run
    items: Items  # the distinct items, and which side has which
    gold: Any  # `Spans`, `Segmented`, `Labels`, `LabelSets` or `Records`, as the systems
    systems: tuple[Any, ...]
    tagged: tuple[Tagged, ...] = ()  # the tags of all sides, gold first, if all were tags
    positive: str | None = None  # the class of labels that counts as "yes"; None: all classes count
    scheme: str | None = None  # the tag scheme of gold, if it has one
    lexicon: Segmented | None = None  # the words of the training data, for word segmentation
    averaged: Any = None  # labels of the macro average of each system: one row per system
    own_labels: bool = False  # these are the labels of gold and of the system itself
    all_classes: bool = False  # every class of single-label data counts: micro F1 is accuracy
    notes: tuple[str, ...] = ()  # messages on what was recognised, repaired or left out
    runs: tuple[RunGroup, ...] = ()  # the runs of each system; empty if every output is a system
    match: str = STRICT  # the rule that decides when a span counts as right
    records: MatchedRecords | None = None  # what became of every field, for records

    def only(self, *systems: int) -> Matched:
        """Return a copy with some outputs alone, by their numbers, each as a system."""
        chosen = list(systems)
        return replace(
            self,
            names=tuple(self.names[i] for i in chosen),
            items=self.items.of_systems(chosen),
            systems=tuple(self.systems[i] for i in chosen) if self.systems else (),
            tagged=(self.tagged[0], *(self.tagged[i + 1] for i in chosen)) if self.tagged else (),
            averaged=self.averaged[chosen],
            records=None if self.records is None else self.records.of_systems(chosen),
            runs=(),
        )

    def without_last(self) -> Matched:
        """Return a copy without the last system, all of its runs."""
        if not self.runs:
            return self.only(*range(len(self.names) - 1))
        kept = [place for group in self.runs[:-1] for place in group.places]
        return replace(self.only(*kept), runs=self.runs[:-1])

    @property
    def unit(self) -> str:
        """Return the name of the units."""
        of_documents = isinstance(self.gold, Spans) and self.gold.text.names is not None
        if of_documents or self.task == "records":
            return "document"
        if self.task not in ("labels", "samples", "scores"):
            return "sentence"
        return "item" if self.gold.units is None else "unit"

    def number_of(self, unit: str) -> int:
        """Return the number of units of this kind."""
        document = self.items.document if unit == "document" else None
        return self.items.units_in_all if document is None else int(document.max(initial=-1)) + 1

    @property
    def range(self) -> tuple[float, float] | None:
        """Return the range of graded scores, if they have one."""
        return getattr(self.items, "range", None)

    def gave_the_same(self, i: int, j: int) -> bool:
        """Return True if two systems gave the same outputs as read, not only the same counts."""
        # labels that all count as "no" may differ, and so may spans right by a lenient rule; of
        # scores, only the sums of units may be known
        summed = getattr(self.items, "sizes", None) is not None
        if summed or not np.array_equal(self.items.says[i], self.items.says[j]):
            return False
        if self.positive is None and self.match == STRICT and self.records is None:
            return True
        a, b = self.systems[i], self.systems[j]
        if a.task == "records":
            return bool(a.documents == b.documents)
        if not isinstance(a, (Labels, Spans)):
            return True
        if isinstance(a, Labels):
            _, (one, other) = numbered_alike([(s.names, s.codes) for s in (a, b)])
            return bool(np.array_equal(one, other))
        _, labels = numbered_alike([(s.labels, s.label) for s in (a, b)])
        rows_a, rows_b = (
            np.unique(np.stack([s.sentence, s.start, s.end, label]), axis=1)
            for s, label in zip((a, b), labels, strict=True)
        )
        return bool(np.array_equal(rows_a, rows_b))

    @cached_property
    def token_accuracy(self) -> tuple[tuple[int, int], ...] | None:
        """Return, per system, the number of tokens with the right tag and of all tokens."""
        if not self.tagged:
            return None
        gold = self.tagged[0]
        extra = gold.text.document_lines  # count as tokens, as in conlleval
        _, (answer, *given) = numbered_alike([(side.names, side.tags) for side in self.tagged])
        total = gold.text.n_tokens + extra
        return tuple((int(np.count_nonzero(answer == own)) + extra, total) for own in given)


def match_inputs(
    gold: Any,
    systems: Sequence[Any],
    *,
    names: Sequence[str] | None = None,
    find_positive: bool = True,
    all_there: bool = True,
    same_labels: bool = True,
    blank: str | None = None,
    absent: str | None = None,
    reading: ReadingOptions | None = None,
    **keywords: Unpack[ReadingKeywords],
) -> Matched:
    """Read gold and the outputs of systems (none if `gold` holds both), and match them."""
    # `find_positive`: look for a class that counts as "yes" in labels of two classes; `all_there`:
    # these are all systems, so that a mapped label must occur; `same_labels`: refuse a system that
    # shares no label with gold; `blank`, `absent`: the labels of blank table cells and of missing
    # values in lists; None refuses them
    choices = check_reading(ReadingOptions.of(keywords) if reading is None else reading)
    columns = choices.columns
    names = None if names is None else names_of("names", names)
    every = (system if isinstance(system, Runs) else (system,) for system in systems)
    refuse_repeats([gold, choices.train_words, *chain.from_iterable(every)])
    options = replace(how_to_read(choices), blank=blank, absent=absent)
    if isinstance(choices, GradedOptions) and (choices.scores is not None or choices.score_columns):
        return _match_graded([gold, *systems], names, options, choices)
    if isinstance(gold, Mapping) and not systems:
        if names is not None:
            raise InputError("names: the systems have names already; expected none")
        return _runs_of_logs(gold, options, choices)
    is_log = choices.task == "records"
    if choices.task is None and is_path(gold) and Path(gold).is_dir():
        from probative.reading.logs import are_verdicts  # they hold gold and outputs of records

        is_log = are_verdicts(gold)
    logs = read_record_logs([gold, *systems], options) if is_log else None
    answer: Any
    if logs is not None:
        answer, given = logs
    elif systems:
        shared = max(0, len(columns) - len(systems)) if choices.key else 0
        systems = [*[gold] * shared, *systems]  # the gold table may hold the first systems too
        joined = read_joined(gold, systems, options, choices) if choices.key else None
        if joined is None:
            refuse_engine(choices, single=False)
        answer, given = joined or read_apart(gold, systems, options, choices)
        if shared:
            given = [replace(s, name=str(c)) for s, c in zip(given, columns, strict=True)]
    elif choices.run_column is not None:
        answer, given = read_runs_together(gold, options, choices)
    else:
        own = replace(options, probability_columns=tuple(choices.probability_columns))
        counted, answer, given = _read_together(gold, own, choices.gold_column, columns, choices)
        if not counted:
            refuse_engine(choices, single=answer.task != "records")
    if logs is not None or not systems:
        refuse_unused(choices, answer, separate=False)
    outputs = [output for system in given for output in system.outputs]
    if answer.task == "samples":
        if any(system.runs is not None for system in given):
            what = f"runs: {name_of(answer)} is a log of samples"
            raise InputError(f"{what}; expected gold, or only runs")
        return _samples([answer, *outputs], names, choices)
    groups, named = _group_runs(given, names)
    try:
        how = _How(find_positive, all_there, same_labels)
        matched = _match(answer, outputs, named, choices, how)
    except InputError as error:
        raise name_run(error, groups) from None
    matched = _averaging(matched, choices.labels)
    notes = matched.notes
    if groups and matched.records is not None:  # the scores of single outputs show their quality
        told = zip(matched.names, matched.systems, strict=True)
        notes += tuple(replace(own, name=name).quality for name, own in told if own.quality)
    return replace(matched, runs=groups, notes=share_notes(notes, groups))


def _read_together(
    data: Any, options: Options, gold: Any, columns: Sequence[Any], choices: ReadingOptions
) -> tuple[bool, Annotations, list[SystemOutputs]]:
    """Read gold and systems from one input; return True if DuckDB counted it, and the sides."""
    counted = None
    asked = choices.memory_limit is not None or choices.table is not None
    if asked or (is_path(data) and not is_small_text(Path(data))):
        from probative.reading.large_tables import read_large_pair

        counted = read_large_pair(data, options, gold, columns, choices)
    answer, outputs, names = counted or both_of(data, options, gold, columns)
    given = [SystemOutputs(name, [own]) for name, own in zip(names, outputs, strict=True)]
    return counted is not None, answer, given


def _match_graded(
    inputs: Sequence[Any], names: Sequence[str] | None, options: Options, choices: GradedOptions
) -> Matched:
    """Match graded scores, from lists by the names of systems or from columns of a table."""
    from probative.reading.scores import MISSING, Graded, scores_of_labels, scores_of_systems
    from probative.tables.scores import SummedScores, range_of

    refuse_unused(choices, Graded("", np.zeros(0)), separate=False)
    table, *others = inputs
    if others:
        raise InputError("score_columns: one table holds all scores; expected no other inputs")
    notes: Sequence[str] = ()
    columns = [str(column) for column in choices.score_columns]
    # columns of scores are read as labels, blank cells as missing
    cells = replace(options, task="labels", predicted=True, blank=MISSING, key=())
    summed = choices.scores if isinstance(choices.scores, SummedScores) else None
    metrics = getattr(choices, "metric", None) or ()
    metrics = (metrics,) if isinstance(metrics, str) else metrics
    # the sums of units are enough, unless single items are asked for
    items = choices.human, choices.group, choices.run_column, choices.scores, *choices.key
    by_item = getattr(choices, "by", None) == "item" or "win_rate" in metrics
    if choices.unit_column is not None and not by_item and not any(o is not None for o in items):
        from probative.reading.large_tables import sum_large_scores

        summed = sum_large_scores(table, cells, columns, choices, range_of(choices.range))
    if summed is not None:
        return _summed(summed, names, choices)
    wanted = replace(choices, gold_column=columns[0], columns=columns) if columns else choices
    if choices.scores is not None:
        units = getattr(choices, "units", None)  # of a plan it is the number of units
        read = scores_of_systems(choices.scores, None if isinstance(units, int) else units)
        given = [
            SystemOutputs(name, sides, names_of_runs([None] * len(sides)) if are_runs else None)
            for name, sides, are_runs in read
        ]
    else:
        if choices.run_column is not None:
            answer, given = read_runs_together(table, cells, wanted)
        else:
            _, answer, given = _read_together(table, cells, columns[0], columns, choices)
        notes = _reason(answer)
        given = [replace(s, outputs=list(map(scores_of_labels, s.outputs))) for s in given]
    if choices.human is not None:
        given = _with_human(table, given, cells, wanted)
    return _graded(given, names, choices, notes)


def _summed(summed: SummedScores, names: Sequence[str] | None, choices: GradedOptions) -> Matched:
    """Match the scores of a table that was summed by unit."""
    from probative.matching.scores import summed_items
    from probative.reading.scores import Graded

    if choices.human is not None:
        raise InputError("human: corrects single items; expected scores by item, not sums of units")
    items, notes = summed_items(summed, choices.range)
    called = name_systems(names, list(summed.names))
    pairs = zip(called, items.says, strict=True)
    sides = [Graded(name, own, units=items.unit) for name, own in pairs]
    return _of_scores(items, sides, called, notes)


def _of_scores(
    items: Any, sides: Sequence[Graded], names: tuple[str, ...], notes: Sequence[str], **more: Any
) -> Matched:
    """Return the scores of systems on the same items; they have no labels to average."""
    more |= {"averaged": np.zeros((len(names), 0), dtype=bool), "notes": tuple(notes)}
    return Matched("scores", names, items, sides[0], tuple(sides), **more)


def _with_human(
    table: Any, given: Sequence[SystemOutputs], cells: Options, choices: GradedOptions
) -> list[SystemOutputs]:
    """Add human scores of some items to the scores of a judge."""
    from probative.reading import scores

    sides = [side for system in given for side in system.outputs]
    columns = list(choices.columns)
    plain = replace(cells, unit=None, group=None)
    if isinstance(choices.human, Mapping):
        known = {name: own for name, own, _ in scores.scores_of_systems(choices.human)}
        for system in given:
            if system.name not in known:
                raise InputError(f"human: has no scores of {system.name!r}; expected every system")
            lists, runs = len(known[system.name]), len(system.outputs)
            if lists != runs:
                what = f"human: {lists} lists for {system.name!r}, which has {runs} runs"
                raise InputError(f"{what}; expected one per run, because people judge its outputs")
        human = [side for system in given for side in known[system.name]]
    elif choices.run_column is not None:
        _, of_runs = read_runs_together(choices.human, plain, choices)
        human = [scores.scores_of_labels(own) for system in of_runs for own in system.outputs]
    elif not columns:
        expected = "expected a dictionary of the human scores of every system"
        raise InputError(f"human: {shown(choices.human)}; {expected}")
    else:
        ids = [str(column) for column in choices.key][:1]
        _, found, _ = both_of(choices.human, plain, columns[0], [*columns, *ids])
        human = [scores.scores_of_labels(cast("Labels", own)) for own in found[: len(columns)]]
        if ids:
            answer, _, _ = both_of(table, plain, ids[0], ids)
            human = scores.in_places_of(cast("Labels", answer), cast("Labels", found[-1]), human)
    corrected = iter(scores.with_human(sides, human))
    return [replace(s, outputs=[next(corrected) for _ in s.outputs]) for s in given]


def _graded(
    given: Sequence[SystemOutputs],
    names: Sequence[str] | None,
    choices: ReadingOptions,
    notes: Sequence[str],
) -> Matched:
    """Match the scores of systems, or of their runs, on the same items."""
    from probative.matching.scores import match_scores

    groups, named = _group_runs(given, names)
    sides = [own for system in given for own in system.outputs]
    items, sides, of_items = match_scores(sides, named, getattr(choices, "range", None))
    return _of_scores(items, sides, named, [*notes, *of_items], runs=groups)


def _group_runs(
    given: Sequence[SystemOutputs], names: Sequence[str] | None
) -> tuple[tuple[RunGroup, ...], tuple[str, ...]]:
    """Return the runs of each system, none if no output was given as a run; and all names."""
    called = name_systems(names, [system.name for system in given])
    if all(system.runs is None for system in given):
        return (), called
    groups, at = [], 0
    for name, system in zip(called, given, strict=True):
        n = len(system.outputs)
        runs = system.runs or ("run 1",)
        groups.append(RunGroup(name, tuple(range(at, at + n)), runs, system.files or (None,) * n))
        at += n
    return tuple(groups), tuple(f"{group.name}, {run}" for group in groups for run in group.runs)


class _How(NamedTuple):
    """Switches of matching, as in `match_inputs`."""

    find_positive: bool
    all_there: bool
    same_labels: bool


def _match(
    answer: Any, outputs: Sequence[Any], named: tuple[str, ...], choices: ReadingOptions, how: _How
) -> Matched:
    """Match gold and outputs by the function for their task."""
    if isinstance(answer, Records):
        return _records(answer, outputs, named, choices, how)
    if isinstance(answer, (Labels, LabelSets)):
        answer, *outputs = (name_numbers(s, choices.label_names) for s in (answer, *outputs))
    answer, *outputs = relabel([answer, *outputs], choices, strict=how.all_there)
    find = {"labels": _labels, "segmentation": _words}.get(answer.task, _entities)
    return find(answer, outputs, named, choices, how)


def _words(
    gold: Any, outputs: Sequence[Any], names: tuple[str, ...], options: ReadingOptions, _: _How
) -> Matched:
    """Align and match words."""
    if options.labels is not None:
        raise InputError("labels: words of a segmentation have none")
    from probative.matching.segmentation import carried_over, match_words

    notes = _notes_of(gold, outputs)
    lexicon: Any = None
    if options.train_words is not None:
        of_words = Options(task="segmentation", encoding=options.encoding)
        lexicon = annotations_of(options.train_words, "train_words", of_words)
        if not isinstance(lexicon, Segmented):
            raise InputError("train_words: holds no words")
    if options.align_by == "characters":
        moved = [carried_over(gold, output) for output in outputs]
        outputs = [words for words, _ in moved]
        notes += [note for _, of_text in moved for note in of_text]
    items, sides = match_words(gold, *outputs), (gold, tuple(outputs))
    return Matched(gold.task, names, items, *sides, lexicon=lexicon, notes=tuple(notes))


def _records(
    gold: Any, outputs: Sequence[Any], names: tuple[str, ...], options: ReadingOptions, how: _How
) -> Matched:
    """Join the documents of all sides and match their fields."""
    from probative.matching.record_rules import with_rules_of_file
    from probative.matching.records import match_records
    from probative.reading.records import join_record

    systems = [join_record(gold, output) for output in outputs]
    rules = with_rules_of_file(options)
    found = match_records(gold, systems, rules, all_there=how.all_there)
    if options.only:
        found = found.only(list(options.only))
    notes = _notes_of(gold, systems)
    notes += [
        f"{name}: gold never has the field {path}, which is in over half of the outputs; the rule "
        f"{path}=ignore leaves it out"
        for i, name in enumerate(names)
        for path in found.never_in_gold(i)
    ]
    notes += [
        f"{path}: {number:,} texts are no dates; they are compared as text"
        for path, number in found.unparsed.items()
    ]
    sides = gold, tuple(systems)
    return Matched("records", names, found.items, *sides, notes=tuple(notes), records=found)


def _notes_of(gold: Any, outputs: Sequence[Any]) -> list[str]:
    """Return the notes on the reading of gold and of the outputs."""
    return [*_reason(gold), *(note for side in (gold, *outputs) for note in side.notes)]


def _reason(answer: Annotations) -> tuple[str, ...]:
    """Return a note on the recognised format of gold and the reason; empty if it was given."""
    if answer.origin is None or not answer.origin.reason:
        return ()
    form, reason = answer.origin
    title = FORMATS[form].title
    return (Recognised(f"{name_of(answer)}: {title} for {answer.task}, because {reason}"),)


def _graded_samples(
    files: Sequence[Any], logs: Sequence[Log], named: tuple[str, ...], choices: ReadingOptions
) -> Matched:
    """Match the graded scores of logs; the score of a sample is the mean of its repetitions."""
    from probative.reading.logs import join_logs
    from probative.reading.scores import Graded, mean_answers, with_human

    refuse_unused(replace(choices, score_name=None), Graded("", np.zeros(0)), separate=False)
    joined = join_logs(logs)
    item, samples = factorise_each(joined[0].samples, len(joined[0].samples))
    scores = [(log.name, np.asarray(log.values)) for log in joined]
    repeated = len(samples) < len(item)
    sides = [mean_answers(*own, item) if repeated else Graded(*own) for own in scores]
    human = getattr(choices, "human", None)
    if human is not None:
        sides = with_human(sides, _human_of_logs(human, named, samples, choices))
    given = [SystemOutputs(name, [side]) for name, side in zip(named, sides, strict=True)]
    return _graded(given, named, choices, [note for file in files for note in file.notes])


def _human_of_logs(
    human: Any, named: Sequence[str], samples: Sequence[str], choices: ReadingOptions
) -> list[Graded]:
    """Return human scores of some samples of logs, system by system, from a log of their own."""
    from probative.reading.logs import Samples
    from probative.reading.scores import in_places_of, mean_answers

    log = annotations_of(human, "human", replace(how_to_read(choices), score_name=None))
    if not isinstance(log, Samples):
        raise InputError("human: is no log; expected JSON lines with id, score and model", human)
    known = {own.system: own for own in log.logs}
    judged = Labels("", np.arange(len(samples), dtype=np.int32), tuple(samples))
    found: list[Graded] = []
    for name in named:
        own = known.get(name)
        if own is None:
            what = f"human: has no scores of {name!r}, only of {', '.join(map(str, known))}"
            raise InputError(f"{what}; expected every system", human)
        item, names = factorise_each(own.samples, len(own.samples))
        scored = Labels(log.name, np.arange(len(names), dtype=np.int32), tuple(names))
        side = mean_answers(own.name, np.asarray(own.values), item)
        found += in_places_of(judged, scored, [side])
    return found


def _samples(files: Sequence[Any], names: Sequence[str] | None, choices: ReadingOptions) -> Matched:
    """Match the systems of logs on the samples of the first."""
    from probative.reading.logs import join_logs

    logs = [log for file in files for log in file.logs]
    named = name_systems(names, _names_of_logs(files))
    if logs[0].values is not None:
        return _graded_samples(files, logs, named, choices)
    for name in ("human", "range"):
        if getattr(choices, name, None) is not None:
            raise InputError(f"{name}: is of graded scores; expected metric='mean'")
    joined = join_logs(logs)
    items = _items_of(joined)
    sides = _sides_of(joined, items)
    notes = tuple(note for file in files for note in file.notes)
    every = not joined[0].counted
    matched = Matched("samples", named, items, *sides, all_classes=every, notes=notes)
    return _averaging(matched, None)


def _runs_of_logs(systems: Mapping[str, Any], options: Options, choices: ReadingOptions) -> Matched:
    """Match systems whose runs are logs, all on the samples of the first."""
    given = []
    for name, own in systems.items():
        paths = tuple(map(str, own if isinstance(own, (list, tuple)) else (own,)))
        files: list[Any] = [annotations_of(path, path, options) for path in paths]
        for path, log in zip(paths, files, strict=True):
            if log.task != "samples":
                expected = "expected gold, or logs"
                raise InputError(f"is no log of samples, and there is no gold; {expected}", path)
            if len(log.logs) > 1:
                raise InputError("holds the logs of several systems; expected one", path)
            refuse_unused(choices, log, separate=True)
        given.append(SystemOutputs(str(name), files, names_of_runs(paths), paths))
    groups, named = _group_runs(given, None)
    matched = _samples([file for system in given for file in system.outputs], named, choices)
    return replace(matched, runs=groups, notes=share_notes(matched.notes, groups))


def _names_of_logs(files: Sequence[Any]) -> list[str]:
    """Name the systems as their logs do if the names are distinct, else after the files."""
    systems = [log.system for file in files for log in file.logs]
    if None not in systems and len(set(systems)) == len(systems):
        return [str(system) for system in systems]
    names = []
    stems = [_SAMPLES_OF_TASK.fullmatch(short_name(file.name)) for file in files]
    tasks = {own[1] for own in stems if own is not None}
    models = [Path(file.name).parent.name.replace("__", "/") for file in files]
    for file, task, model in zip(files, stems, models, strict=True):
        stem = short_name(file.name)
        if task is not None:  # lm-evaluation-harness: samples_TASK_DATE in the folder of the model
            stem = model if len(set(models)) == len(files) and model else task[1]
            stem = f"{task[1]}, {stem}" if len(tasks) > 1 and stem != task[1] else stem
        names += [stem if len(file.logs) == 1 else f"{stem}, {log.system}" for log in file.logs]
    return names


def read_side(
    path: Any,
    reading: ReadingOptions,
    answer: Annotations | None = None,
    *,
    data: bytes | None = None,
    limit: int | None = None,
) -> Annotations:
    """Read gold, or (with `answer`, which is gold) an output of the same task, from one file."""
    # `data`: the bytes of an output, read already; `limit`: the most to which they may unpack
    for name in ("run_column", "group"):
        if getattr(reading, name) is not None:
            raise InputError(f"{name}: has no effect here; leave it out")
    options = how_to_read(check_reading(reading))
    column = reading.gold_column
    if answer is not None:
        options = like_gold(options, answer, reading)
        column = next(iter(reading.columns), None)
    options = replace(options, column=None if column is None else str(column))
    if answer is None or not is_path(path):
        return annotations_of(path, str(path), options)
    opened = open_input(path, options, data=data, limit=limit)
    refuse_answer_again(opened, output := read(opened), answer)
    return output


def match_training(train: Any, matched: Matched, reading: ReadingOptions) -> Spans | Labels:
    """Read the training data of the systems, to find the items that occur in it."""
    if matched.task == "segmentation":
        raise InputError("train: does not apply to segmentation; expected train_words")
    if matched.task == "samples":
        raise InputError("train: does not apply to logs; leave it out")
    options = Options(matched.task, None, reading.encoding, reading.tag_column, reading.comments)
    if matched.task == "labels" and reading.gold_column is not None:
        options = replace(options, column=str(reading.gold_column))
    data = annotations_of(train, "train", options)
    if data.task != matched.task:
        raise InputError(f"train: is {data.task}, but gold is {matched.task}")
    if isinstance(data, (Tagged, Spans)):
        return _spans(data, reading.scheme, matched.scheme, reading.repair)
    return cast("Labels", data)


def _averaging(matched: Matched, labels: str | Sequence[str] | None) -> Matched:
    """Choose the labels of macro averages, and add notes on labels that only a system has."""
    items = matched.items
    several = len(items.labels) > 1 and matched.records is None
    notes = only_in_a_system(items, matched.names) if several else []
    return replace(
        matched,
        averaged=averaged_labels(items, labels),
        own_labels=isinstance(labels, str) and labels == UNION,
        notes=(*matched.notes, *notes),
    )


def name_systems(names: Sequence[str] | None, usual: list[str]) -> tuple[str, ...]:
    """Return the given names of the systems, or the usual ones made distinct by numbers."""
    if names is not None:
        if len(names) != len(usual):
            raise InputError(f"names: {len(names)} for {len(usual)} systems; expected one each")
        for i, name in enumerate(names):
            if name in names[:i]:
                raise InputError(f"names: {name!r} twice; expected different ones")
        return tuple(map(str, names))
    # files in different folders may have the same name
    return tuple(
        name if usual.count(name) == 1 else f"{name} ({usual[: i + 1].count(name)})"
        for i, name in enumerate(usual)
    )


def _labels(
    gold: Any, systems: Sequence[Any], names: tuple[str, ...], options: ReadingOptions, how: _How
) -> Matched:
    """Align and match labels, and choose the positive class."""
    positive, only = options.positive, options.only
    if positive is not None and only:
        raise InputError("positive: cannot be combined with only=; expected one of the two")
    single = isinstance(gold, Labels)
    notes = _notes_of(gold, systems)
    if options.key and not (single and gold.repeats is not None):
        gold, systems, of_ids = _join_by_key(gold, systems, options)
        notes += of_ids
    for name, system in zip(names, systems, strict=True):
        notes += align_items(gold, system, name, options.align_by)
    if single:
        systems = [
            s if s is gold else by_threshold(gold, s, n, options, names)
            for s, n in zip(systems, names, strict=True)
        ]
        notes += [s.notes[-1] for s in systems if options.threshold is not None and s is not gold]
    columns = options.probability_columns
    for name, system in zip(names, systems, strict=True):
        if columns and not set(gold.names) & set(system.names):
            what = f"{name}: the columns {', '.join(columns)} are not named after the classes of"
            raise InputError(f"{what} gold ({', '.join(gold.names[:4])}); expected mapping=")
        notes += differ_in_writing(gold.names, system.names, name)
        if how.same_labels:
            refuse_other_labels(gold, system, name)
        notes += parted_alike(gold, system, name, options)
    if single and positive is None and not only and how.find_positive:
        positive = positive_class(gold)
        if positive is not None:
            notes.append(f"two classes, {positive!r} is the positive one")
            known = set(gold.names) | {positive}
            notes += [
                f"{name} uses labels that gold does not have; they count as no"
                for name, system in zip(names, systems, strict=True)
                if len(known) > 1 and set(system.names) - known - {NOTHING}
            ]
    items = match_labels(gold, *systems, positive=positive)
    if only:
        items = items.only(list(only))
    about: dict[str, Any] = {"all_classes": positive is None and not only and single}
    about |= {"positive": positive, "notes": tuple(notes)}
    return Matched("labels", names, items, gold, tuple(systems), **about)


def align_items(gold: Any, system: Any, name: str, by: str) -> tuple[str, ...]:
    """Check that both sides hold the same items, where tokens or row ids show it; return notes."""
    if isinstance(gold.aligned, Text) and isinstance(system.aligned, Text):
        return align(gold.aligned, system.aligned, by=by)
    if isinstance(gold.aligned, RowIds) and isinstance(system.aligned, RowIds):
        return align_rows(gold, system, name, by=by)
    if isinstance(gold.aligned, RowIds) and system is not gold:
        column = gold.aligned.column
        return (f"{name}: has no {column!r}; its items are paired with the rows by their places",)
    return ()


def _entities(
    answer: Any, outputs: Sequence[Any], names: tuple[str, ...], options: ReadingOptions, how: _How
) -> Matched:
    """Align and match tagged tokens or spans."""
    scheme, reason = options.scheme, _reason(answer)
    notes: list[str] = []
    sides: Sequence[Any] = (answer, *outputs)
    tagged: Sequence[Any] = ()
    if all(isinstance(side, Tagged) for side in sides):
        sides = tagged = without_ignored_tokens(answer, outputs)
    elif all(isinstance(side, Spans) for side in sides):
        sides, left_out = without_left_out_texts(sides)
        notes += left_out
    answer, *outputs = sides
    for output in outputs:
        notes += align(answer.text, output.text, by=options.align_by)
    own = recognise(answer) if scheme is None and isinstance(answer, Tagged) else scheme
    spans = [_spans(side, scheme, own, options.repair) for side in sides]
    gold, *systems = spans
    for name, system in zip(names, systems, strict=True):
        notes += differ_in_writing(gold.labels, system.labels, name)
        if how.same_labels and not options.ignore_type:
            refuse_other_labels(gold, system, name)
    chosen: dict[str, Any] = {"ignore_type": options.ignore_type, "only": options.only}
    items = match_spans(gold, *systems, rule=match_rule(options.match), **chosen)
    notes = [*reason, *dict.fromkeys(note for side in spans for note in side.notes), *notes]
    about: dict[str, Any] = {"tagged": tuple(tagged), "scheme": gold.scheme, "notes": tuple(notes)}
    return Matched("entities", names, items, gold, tuple(systems), match=options.match, **about)


def _spans(side: Tagged | Spans, scheme: str | None, gold_scheme: str | None, repair: str) -> Spans:
    """Return the spans of a side; decode tags in gold's scheme if that has all their prefixes."""
    if isinstance(side, Spans):
        return side
    if scheme is None and gold_scheme is not None:
        prefixes = {prefix_of(name) for name in side.names}
        fitting = [name for name, rules in SCHEMES.items() if prefixes <= rules.follow.keys()]
        if gold_scheme in fitting or not fitting:
            scheme = gold_scheme
    return decode(side, scheme=scheme, repair=repair)


# --- Pooling several runs of a system: what all runs say about a unit belongs to that unit


def pool_runs(matched: Matched, group: RunGroup) -> Matched:
    """Merge the runs of a system into one system that says in every unit what all runs say."""
    # Every item occurs once per run. Single items become units, because what several runs say about
    # the same item is not independent.
    pooled, gold = matched.items.pooled(group.places), matched.gold
    averaged = matched.averaged[[group.places[0]]]
    if matched.task in ("labels", "samples", "scores") and gold.units is None:
        gold = replace(gold, units=np.arange(len(gold), dtype=np.int32))
    runs = [matched.systems[place] for place in group.places if matched.systems]
    systems = tuple(runs[:1])  # logs of counts have no outputs
    if runs and isinstance(gold, Labels) and gold.units is not None and gold.repeats is None:
        # single labels are concatenated run by run
        names, codes = numbered_alike([(run.names, run.codes) for run in runs])
        said = np.concatenate(codes)
        answer, units = (np.tile(values, len(runs)) for values in (gold.codes, gold.units))
        nothing: dict[str, Any] = {"texts": tuple, "aligned": None, "groups": None}
        gold = replace(gold, codes=answer, units=units, **nothing)
        systems = (replace(runs[0], codes=said, names=names, units=units, **nothing),)
    return replace(
        matched,
        names=(group.name,),
        items=pooled,
        gold=gold,
        systems=systems,
        tagged=(),
        averaged=averaged_labels(pooled, UNION) if matched.own_labels else averaged,
        runs=(),
        records=None,
    )


_FEWEST_SAMPLES_PER_CLASS = 2  # on average; with fewer, targets are texts and no classes


def by_class(matched: Matched) -> Matched:
    """Return the samples of logs as labels, so that scores can be averaged over the targets."""
    # a wrong answer is a miss of its target, and a false alarm of another target if it names that
    gold = matched.gold
    n, classes = len(gold), len(gold.names)
    few = not matched.systems or classes < 2
    if few or n < _FEWEST_SAMPLES_PER_CLASS * classes:
        what = "of several classes" if few else f"that are classes, but {classes:,} of {n:,} differ"
        raise InputError(f"average: 'macro' needs targets {what}; expected 'micro'")
    items = match_labels(gold, *matched.systems, positive=None)
    notes = (*matched.notes, f"{classes:,} targets are the classes of macro averages")
    matched = replace(matched, task="labels", all_classes=True, own_labels=False, notes=notes)
    return replace(matched, items=items, averaged=averaged_labels(items, None))


def unpooled(matched: Matched) -> Matched:
    """Turn systems of one run each into plain systems."""
    return replace(matched, names=tuple(group.name for group in matched.runs), runs=())
