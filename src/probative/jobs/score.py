"""Score systems: read, match, count, and compute intervals."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, replace
from functools import cache, partial
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from probative._validation import (
    Input,
    Systems,
    flag,
    names_of,
    one_of,
    open_probability,
    positive,
    shown,
)
from probative.counts import Counts, LabelCounts
from probative.errors import InputError
from probative.inference.intervals import METHODS, interval
from probative.inference.macro import METHOD as MACRO_METHOD
from probative.inference.macro import is_at_once, label_intervals, macro_interval
from probative.inference.units import design_notes
from probative.matching.groups import judge_groups, part_by_group
from probative.matching.items import cases_of, union
from probative.matching.labels import averaged_labels
from probative.matching.matched import Matched, by_class, match_inputs, pool_runs, unpooled
from probative.matching.outputs import RunGroup
from probative.matching.schemes import UNTYPED
from probative.matching.spans import STRICT, overlaps
from probative.metrics import (
    COMPOSITES,
    METRICS,
    NEEDS_TN,
    OF_SCORES,
    OF_TABLES,
    PRF,
    TABLE,
    label_metric,
)
from probative.options import (
    GradedKeywords,
    GradedOptions,
    PlanOptions,
    RankOptions,
    ReadingOptions,
    ScoreOptions,
)
from probative.reading.annotations import Labels, LabelSets
from probative.reading.inputs import is_path
from probative.reading.runs import is_keyed
from probative.results import (
    Ceiling,
    Interval,
    JudgeAgreement,
    LabelScores,
    RunScores,
    Scores,
    SystemScores,
)
from probative.results.base import LateInterval

if TYPE_CHECKING:
    from probative.inference.classes import ConfusedItems
    from probative.inference.means import MeanScore
    from probative.inference.pooled import PooledScore, UnitTable
    from probative.inference.scores import Score
    from probative.results import Group


# --- Metrics and units of a job
#
# Plain scores are intervals of counts. What compares systems is imported where it is used: it is
# half of what there is to import.

UNITS = ("sentence", "document", "unit", "item")
AVERAGES = ("micro", "macro", "documents")
# other names of accuracy where every class of single-label data counts
_ALL_CLASSES = (
    "accuracy",
    *(name for name, m in TABLE.items() if m.is_share_of_right and not m.depends_on_beta),
)
# further metrics of the whole confusion table
_OF_ALL_CLASSES = (*OF_TABLES, "balanced_accuracy")
_MACRO = "macro_"
_OF_DOCUMENTS = "_of_documents"  # mean over units, instead of items
# recall first: the others reward systems that split too little
_OF_WORDS = ("recall", "precision", "f1")
_MOST_CELLS_KEPT = 100_000  # of units and labels, up to which macro averages wait to be asked for


def check_report(report: object) -> None:
    """Refuse what cannot be called with the number of finished parts and their total."""
    if report is not None and not callable(report):
        raise InputError(f"report: {shown(report)}; expected a function of two numbers")


def by_name(
    systems: list[Any], names: Sequence[str] | None, gold: Any = None
) -> tuple[list[Any], Sequence[str] | None]:
    """Return the systems and their names, taken from a dictionary if one was given."""
    # a dictionary with documents of `gold` is one system: its records by their keys
    if len(systems) != 1 or not isinstance(systems[0], Mapping) or is_keyed(gold, systems[0]):
        return systems, names
    if names is not None:
        raise InputError("names: the systems have names already; expected none")
    return list(systems[0].values()), [str(name) for name in systems[0]]


def facts_of_reading(matched: Matched, options: ReadingOptions) -> tuple[str, ...]:
    """Return the first parts of a signature: the task and how tags were read."""
    if isinstance(matched.gold, LabelSets):
        return matched.task, "sets"
    if matched.scheme is None:
        return (matched.task,)
    return matched.task, matched.scheme, options.repair


def signed_runs(groups: Sequence[RunGroup]) -> str:
    """Return the number of runs of each system as part of a signature."""
    return f"runs:{','.join(str(len(group.places)) for group in groups)}"


def match_of(matched: Matched) -> str | None:
    """Return the matching rule of spans, or None for exact matching."""
    return None if matched.match == STRICT else matched.match


def unit_of(matched: Matched, by: str | None) -> str:
    """Return the name of the independent units; refuse units that the data do not have."""
    if by is None:
        return matched.unit
    one_of("by", by, UNITS)
    if by == "item" and matched.task == "records":
        raise InputError(
            "by: fields of one document are not independent: they go wrong together; expected "
            "'document'"
        )
    if by == "item" and matched.match != STRICT:
        raise InputError(
            f"by: under match={matched.match!r} items of one {matched.unit} are not independent; "
            f"expected {matched.unit!r}"
        )
    known = " or ".join(repr(name) for name in dict.fromkeys((matched.unit, "item")))
    if by == "document" and matched.items.document is None:
        raise InputError(f"by: no documents are marked in gold; expected {known}")
    if by not in ("item", "document", matched.unit):
        raise InputError(f"by: there are no {by}s here; expected {known}")
    if by == "item" != matched.unit and several_runs(matched):
        raise InputError(
            f"by: what several runs say of an item is not independent; expected {matched.unit!r}"
        )
    return by


def several_runs(matched: Matched) -> bool:
    """Return True if a system has several runs."""
    return any(len(system.places) > 1 for system in matched.runs)


def _metrics_of(
    matched: Matched, metric: str | Sequence[str], *, average: str = "micro", tables: bool = False
) -> tuple[str, ...]:
    """Return the requested metrics once each; only with `tables` those of the confusion table."""
    names = (metric,) if isinstance(metric, str) else names_of("metric", metric)
    graded = matched.task == "scores"
    for name in names:
        one_of("metric", name, (*METRICS, *OF_SCORES))
        if graded != (name in OF_SCORES):
            expected = " or ".join(OF_SCORES) if graded else "graded scores (score_columns=)"
            what = "graded scores" if graded else matched.task
            raise InputError(f"metric: {name!r} is not defined for {what}; expected {expected}")
        if graded:
            continue
        if _is_right_or_wrong(matched) and name != "accuracy":
            raise InputError(
                f"metric: {name!r} is not defined for answers that are right or wrong; expected "
                f"'accuracy'"
            )
        if average == "macro" and name in COMPOSITES:
            raise InputError(
                f"metric: {name!r} has no mean over labels; expected average='micro', or one of "
                f"{', '.join(m for m in METRICS if m not in COMPOSITES)}"
            )
        if tables and _is_of_classes(matched, name):
            continue
        if matched.all_classes and average == "micro" and name not in _ALL_CLASSES:
            other = "a positive class" if name in COMPOSITES else "average='macro'"
            known = (*_ALL_CLASSES, *(_OF_ALL_CLASSES if tables else ()))
            raise InputError(
                f"metric: {name!r} is not defined over all classes at once; expected {other}, or "
                f"one of {', '.join(known)}"
            )
    return tuple(dict.fromkeys(names))


def _is_of_classes(matched: Matched, metric: str) -> bool:
    """Return True if the metric is computed from the whole confusion table here."""
    return matched.all_classes and metric in _OF_ALL_CLASSES and not _is_right_or_wrong(matched)


def _is_right_or_wrong(matched: Matched) -> bool:
    """Return True if the data are answers that are only right or wrong."""
    return matched.task == "samples" and matched.all_classes


def compared_metrics(
    matched: Matched, metric: str | Sequence[str] | None, average: str, *, tables: bool = False
) -> tuple[str, ...]:
    """Return the metrics to compare by: the requested ones, or the default of the task."""
    other = "documents" if matched.task == "scores" else "macro"
    if average not in ("micro", other):
        raise InputError(
            f"average: {average!r} does not apply to {matched.task}; expected 'micro' or {other!r}"
        )
    asked = () if metric is None else _metrics_of(matched, metric, average=average, tables=tables)
    if asked:
        return asked
    usual = "accuracy" if matched.all_classes and average == "micro" else "f1"
    return ({"scores": "mean", "segmentation": "recall"}.get(matched.task, usual),)


def scored_as(matched: Matched, metric: str) -> str:
    """Return the metric to compute: over all classes of single-label data it is recall."""
    return "recall" if matched.all_classes else metric


# --- Interval of a score that is pooled over labels, from the counts of the units


def _pooled_counts(matched: Matched, i: int, by: str | None = "sentence") -> Counts:
    """Return the counts of a system, with each item of single-label data as one decision."""
    units = matched.items.counts(i, by=by)
    if not matched.all_classes:
        return units
    # the wrong label that was given is not counted beside the right label that was missed
    return Counts(units.tp, np.zeros_like(units.fp), units.fn)


def _pooled_interval(
    matched: Matched, units: Counts, metric: str, options: ScoreOptions
) -> Interval:
    """Compute the interval of a metric from the counts of every sentence (unit, item)."""
    number, how = matched.items.number, options.chosen("level", "beta", "method")
    if options.by == "document":
        of: Any = matched.items.document
        tp, fp, fn = (np.bincount(of, weights=n) for n in (units.tp, units.fp, units.fn))
        tn = None if units.tn is None else np.bincount(of, weights=units.tn)
        units = Counts(tp, fp, fn, tn)
    elif not units.shape:
        return interval(units, metric, **how)
    elif options.by == "item" and (matched.unit != "item" or np.max(units.nu, initial=0) <= 1):
        table = units.sum() if number is None else (units * number).sum()
        return interval(table, metric, **how)
    # the label that was missed and the one given instead belong to one item
    return interval(units, metric, clustered=True, multiplicity=number, **how)


# --- Scores of the whole confusion table


def _confused_items(matched: Matched, i: int, unit: str) -> ConfusedItems:
    """Return the gold class and the predicted class of every item."""
    from probative.inference.classes import ConfusedItems

    gold, system = matched.gold, matched.systems[i]
    # one numbering for all systems, since their outputs on an item are exchanged
    names, codes = union([gold.names, *(side.names for side in matched.systems)])
    units = None if unit == "item" else gold.units
    rows = slice(None)
    if gold.repeats is not None:
        rows, units = gold.repeats.one_by_one(gold.units, by_unit=units is not None)
    answer, said = codes[0][gold.codes][rows], codes[1 + i][system.codes][rows]
    return ConfusedItems(answer, said, len(names), units)


def _has_all_classes(matched: Matched) -> bool:
    """Return True if every item has one label on every side, and all of them are matched."""
    gold, items = matched.gold, matched.items
    if not (matched.all_classes and isinstance(gold, Labels)) or items.is_condensed:
        return False
    names = set(gold.names).union(*(side.names for side in matched.systems))
    return names == set(items.labels) and items.positives == len(gold.codes)


# --- The score of all outputs in one metric, for any comparison


def systems_of(matched: Matched) -> tuple[RunGroup, ...]:
    """Return the systems with the places of their outputs: one each, or several runs."""
    if matched.runs:
        return matched.runs
    return tuple(RunGroup(name, (i,), (name,)) for i, name in enumerate(matched.names))


def score_in(
    matched: Matched,
    metric: str,
    unit: str,
    *,
    average: str = "micro",
    beta: float = 1.0,
    prior: float = 1.0,
) -> Score:
    """Return one metric of all outputs, which everything in a comparison is computed from."""
    if metric.startswith(_MACRO):
        metric, average = metric.removeprefix(_MACRO), "macro"
    places = range(len(matched.names))
    if matched.task == "scores":
        return _mean_score(matched, metric, unit, average)
    if _is_of_classes(matched, metric) and metric != "balanced_accuracy":
        from probative.inference.classes import ClassScore

        items = tuple((_confused_items(matched, i, unit),) for i in places)
        return ClassScore(items, metric, unit)
    if average == "macro" or _is_of_classes(matched, metric):
        from probative.inference.macro_comparison import MacroScore

        by = "sentence" if unit == matched.unit else unit
        cells = tuple(matched.items.by_unit_and_label(i, by=by) for i in places)
        if average == "macro":
            labels, own = matched.averaged, matched.own_labels
            always = matched.items.uses() if own else matched.averaged[0]
            return MacroScore(cells, labels, metric, beta, always, own, unit)
        # the mean recall of the gold classes, whatever labels were asked for
        labels = averaged_labels(matched.items, None)
        return MacroScore(cells, labels, "recall", 1.0, labels[0], False, unit, metric)
    return _pooled_score(matched, metric, unit, beta, prior)


def score_asked_for(matched: Matched, options: RankOptions | PlanOptions) -> tuple[Score, str]:
    """Return the only metric of a ranking or a plan, of all outputs, and its units."""
    unit, average = unit_of(matched, options.by), options.average
    (metric,) = compared_metrics(matched, options.metric, average, tables=True)
    return score_in(matched, metric, unit, average=average, beta=options.beta), unit


def _mean_score(matched: Matched, metric: str, unit: str, average: str) -> MeanScore:
    """Return the mean of graded scores, or the share of items on which each of two wins."""
    from probative.inference.means import JudgedScore, MeanScore

    items: Any = matched.items
    range_ = items.range
    if metric.removesuffix(_OF_DOCUMENTS) == "win_rate":
        if items.sizes is not None:
            raise InputError("metric: 'win_rate' needs single items; expected scores by item")
        if len(matched.names) != 2:
            raise InputError(
                f"metric: 'win_rate' compares two systems, and there are {len(matched.names)}; "
                f"expected two, of one run each"
            )
        says = np.sign(items.says - items.says[::-1]).clip(0)
        items, range_ = replace(items, says=says), (0.0, 1.0)
    x, y, squares = items.sums(unit)
    if items.human is not None:
        if metric != "mean" or average == "documents":
            raise InputError("human: corrects the mean over items; expected metric='mean'")
        parts = items.human_sums(unit)
        return JudgedScore(x, y, range_, metric, unit, squares, items.positives, *parts)
    if average == "documents" or metric.endswith(_OF_DOCUMENTS):
        metric = metric.removesuffix(_OF_DOCUMENTS) + _OF_DOCUMENTS
        there = y > 0
        x, y, squares = np.where(there, x / np.where(there, y, 1), 0.0), there.astype(float), None
    return MeanScore(x, y, range_, metric, unit, squares, items.positives)


def _pooled_score(
    matched: Matched, metric: str, unit: str, beta: float, prior: float
) -> PooledScore:
    """Return a metric that is pooled over labels."""
    from probative.inference.pooled import PooledScore

    items, rows = matched.items, unit
    datum = matched.unit == "item" and len(items.labels) > 1 and not matched.all_classes
    single = unit == "item" and not datum
    if unit == "item" and several_runs(matched):
        rows, single = "datum", False  # what several runs say of an item is one unit
    return PooledScore(
        metric,
        scored_as(matched, metric),
        len(matched.names),
        partial(_pooled_counts, matched, by="document" if unit == "document" else "sentence"),
        lambda a, b: cases_of(matched, a, b, rows),
        table_of=partial(_item_table, matched) if single else None,
        multiplicity=items.number,
        weight=items.weight,
        beta=beta,
        prior=prior,
    )


def _item_table(matched: Matched) -> UnitTable:
    """Return the counts of every system with each item as a unit."""
    from probative.inference.pooled import UnitTable

    items = matched.items
    kept = items.answer if matched.all_classes else np.ones(len(items.answer), dtype=bool)
    says, answer = items.says[:, kept], items.answer[kept]
    negatives, weights = None, items.weights(None)
    number = (np.ones(len(kept)) if weights is None else weights)[kept].astype(np.int64)
    if items.universe is not None and len(items.labels) == 1:
        # add the items that neither gold nor any system has
        says = np.concatenate([says, np.zeros((len(says), 1), dtype=bool)], axis=1)
        answer = np.append(answer, False)
        number = np.append(number, items.decisions - number.sum())
        negatives = (~answer).astype(np.int32)
    return UnitTable(
        (says & answer).astype(np.int32),
        (says & ~answer).astype(np.int32),
        answer.astype(np.int32),
        negatives,
        number,
        by_item=True,
    )


# --- Second annotation: the ceiling that it puts on the scores of the systems

_SECOND = "second annotation"


def match_systems(
    gold: Any, systems: list[Any], names: Sequence[str] | None, options: GradedOptions
) -> tuple[Matched, Matched | None]:
    """Match the systems, and match them again with `second_gold` as the last system."""
    if options.scores is not None and gold is not None:
        raise InputError("scores: hold everything; expected no gold beside them")
    if gold is None and options.scores is None:
        raise InputError("gold: missing; expected it, or scores=")
    if options.scores is None and hasattr(getattr(options, "units", None), "__len__"):
        what = "a table with unit_column=, or PairedCounts.from_labels"
        raise InputError(f"units: has no effect without scores=; expected {what}")
    # a mean over the classes needs both classes of a yes-or-no question
    macro = getattr(options, "average", None) == "macro"
    how: dict[str, Any] = {"find_positive": not macro, "reading": options}
    second = getattr(options, "second_gold", None)
    if second is None:
        matched = match_inputs(gold, systems, names=names, **how)
        return by_class(matched) if macro and matched.task == "samples" else matched, None
    if not systems:
        raise InputError("second_gold: the systems stand in one file; expected files of their own")
    named = None if names is None else [*names, _SECOND]
    everyone = match_inputs(gold, [*systems, second], names=named, **how)
    if names is None and not is_path(second):  # a file has a name already
        everyone = replace(everyone, names=(*everyone.names[:-1], _SECOND))
    return everyone.without_last(), everyone


def ceilings_of(matched: Matched | None, options: Any) -> tuple[Ceiling, ...] | None:
    """Compare every system with the second annotation, which is the last of `matched`."""
    if matched is None:
        return None
    systems, unit = systems_of(matched), unit_of(matched, options.by)
    metric = compared_metrics(matched, options.metric, "micro", tables=True)[0]
    score = score_in(matched, metric, unit, beta=options.beta)
    if several_runs(matched):
        score = score.pooled([system.places for system in systems])
    usual = ScoreOptions(metric=metric, by=unit, level=options.level, beta=options.beta)
    (second,) = scores_in(matched.only(systems[-1].places[0]), [metric], usual)
    ends = float(second[metric].low), float(second[metric].high)
    last, found = len(systems) - 1, []
    for i, system in enumerate(systems[:-1]):
        gap = score.difference(last, i, options.level)
        (test,) = score.tests([(last, i)], level=options.level, rng=np.random.default_rng(0))
        found.append(
            Ceiling(
                *(system.name, systems[-1].name, metric, gap.b, gap.a, *ends),
                *(gap.estimate, gap.low, gap.high, test.pvalue, test.method, unit),
                level=options.level,
                match=match_of(matched),
                note="; ".join(filter(None, (gap.note, test.note))) or None,
            )
        )
    return tuple(found)


# --- All scores of one system: pooled, by label, as a mean over labels


def system_scores(
    matched: Matched, i: int, options: ScoreOptions, also: Sequence[str]
) -> SystemScores:
    """Return the counts and scores of system `i`, with those in `also`, and those of its labels."""
    items, records, unit = matched.items, matched.records, str(options.by)
    counts = items.counts(i)
    # a single type of tags has a name to show, a single kind of words has none; labels that only
    # another system uses are left out
    own = np.count_nonzero(items.uses(i))
    named = own > 1 or (own == 1 and matched.scheme and items.labels != (UNTYPED,))
    biased = matched.task == "segmentation" and counts.positives > 0

    @cache
    def cells() -> LabelCounts:
        if unit == matched.unit == "item" and _has_all_classes(matched):
            table = _confused_items(matched, i, "item")
            return LabelCounts.from_classes(table.answer, table.said, table.n_classes)
        return items.by_unit_and_label(i, by="sentence" if unit == matched.unit else unit)

    return SystemScores(
        name=matched.names[i],
        counts=counts,
        scores=_scores(matched, i, options, also, cells),
        by_label=_by_label(matched, i, options, cells) if named else (),
        splitting_bias=float(counts.predicted / counts.positives) if biased else None,
        overlap=_overlap(matched, (i,)) if options.overlap else None,
        outcomes=None if records is None else records.outcomes(matched.systems[i], i),
    )


def scores_in(
    matched: Matched, metrics: Sequence[str], options: ScoreOptions
) -> tuple[SystemScores, ...]:
    """Return the counts of every system and its scores in these metrics, without its labels."""
    metrics = tuple(dict.fromkeys(metrics))
    several = several_runs(matched)
    parts = [pool_runs(matched, system) for system in matched.runs] if several else [matched]
    chosen = replace(options, by="unit" if several and options.by == "item" else options.by)
    rows: list[SystemScores] = []
    for part in parts:
        columns = [_intervals_in(part, metric, chosen) for metric in metrics]
        rows += (
            SystemScores(name, part.items.counts(i), tuple(column[i] for column in columns))
            for i, name in enumerate(part.names)
        )
    return tuple(rows)


def _intervals_in(matched: Matched, metric: str, options: ScoreOptions) -> list[Interval]:
    """Return the intervals of all systems in one metric; means are named macro_f1 and so on."""
    unit, systems = unit_of(matched, options.by), range(len(matched.names))
    if matched.task == "scores" or metric.startswith(_MACRO) or _is_of_classes(matched, metric):
        score = score_in(matched, metric, unit, beta=options.beta)
        own = [score.interval(i, options.level) for i in systems]
    else:
        chosen, scored = replace(options, by=unit), scored_as(matched, metric)
        counts = (_pooled_counts(matched, i) for i in systems)
        own = [_pooled_interval(matched, units, scored, chosen) for units in counts]
    return [replace(one, metric=metric, signature="") for one in own]


def _scores(
    matched: Matched,
    i: int,
    options: ScoreOptions,
    also: Sequence[str],
    cells: Callable[[], LabelCounts],
) -> tuple[Interval, ...]:
    unit, level, asked = str(options.by), options.level, options.metric
    single = [metric for metric in also if not metric.startswith(_MACRO)]
    if matched.task == "scores":
        metrics = dict.fromkeys((*(asked or ("mean",)), *single))
        return tuple(score_in(matched, metric, unit).interval(i, level) for metric in metrics)
    # single items that are their own units are added up at once
    alone = matched.all_classes and unit == "item" and matched.items.times is None
    units = _pooled_counts(matched, i, None if alone else "sentence")
    pooled = cache(lambda scored: _pooled_interval(matched, units, scored, options))

    def interval_in(metric: str) -> Interval:
        if _is_of_classes(matched, metric):
            if options.method is not None:
                method = repr(options.method)
                raise InputError(f"method: {method} does not apply to {metric} of all classes")
            return score_in(matched, metric, unit).interval(i, level)
        own: Interval = pooled(scored_as(matched, metric))
        return replace(own, metric=metric, signature="") if matched.all_classes else own

    usual: tuple[str, ...] = PRF if units.tn is None else (*PRF, "accuracy")
    if matched.all_classes:
        # Over all classes every error is a false positive and a false negative at once: micro
        # precision, recall and F1 are the accuracy, a share of the items.
        usual = ("accuracy",) if _is_right_or_wrong(matched) else _ALL_CLASSES
    elif matched.task == "segmentation":
        usual = _OF_WORDS
    scores = [interval_in(metric) for metric in dict.fromkeys((*(asked or usual), *single))]
    if matched.task == "segmentation" and not asked:
        scores += _scores_of_words(matched, i, units, options)
    if matched.records is not None and not asked:
        scores.append(replace(document_f1(matched, [i]).interval(0, level), signature=""))
        strict = share_of(matched.records.strict(i), level=level)
        scores.append(replace(strict, metric="strict_documents"))
    return (*scores, *_macro_scores(matched, i, options, also, cells))


def share_of(right: Any, units: Any = None, *, level: float) -> Interval:
    """Return the interval of the share of items that are right."""
    if units is None:
        number = int(np.count_nonzero(right))
        counts = Counts(number, 0, len(right) - number)
    else:
        group = np.unique(units, return_inverse=True)[1]
        rights = np.bincount(group, right)
        counts = Counts(rights, np.zeros_like(rights), np.bincount(group) - rights)
    found = interval(counts, "recall", clustered=units is not None, level=level)
    return replace(found, signature="")


def document_f1(matched: Matched, systems: Sequence[int]) -> MeanScore:
    """Return the mean of the F1 of single documents, of some systems on records."""
    records: Any = matched.records
    from probative.inference.means import MeanScore

    shares = np.stack([records.document_f1(i) for i in systems])
    x, y = np.nan_to_num(shares), (~np.isnan(shares)).astype(np.float64)
    return MeanScore(x, y, metric=f"f1{_OF_DOCUMENTS}", by="document")


def _by_label(
    matched: Matched, i: int, options: ScoreOptions, cells: Callable[[], LabelCounts]
) -> tuple[LabelScores, ...]:
    """Return the scores of every label that occurs in gold or in the system."""
    metrics = tuple(m for m in options.metric or () if label_metric(m) == m) or PRF
    items = matched.items
    counts = items.counts(i, by="label")

    def column(metric: str) -> Interval | list[Interval]:
        if options.by == "item":  # one decision per label and item
            return interval(counts, metric, **options.chosen("level", "beta", "method"))
        if is_at_once(metric) and options.method is None:
            return label_intervals(cells(), metric, level=options.level)
        return [
            _pooled_interval(matched, own.counts(i, by="sentence"), metric, options)
            for own in items.by_label
        ]

    with no_collection():
        rows = zip(items.labels, counts, *map(column, metrics), items.uses(i).tolist(), strict=True)
        return tuple(
            LabelScores(label, own, tuple(scores)) for label, own, *scores, use in rows if use
        )


@contextmanager
def no_collection() -> Iterator[None]:
    """Pause the garbage collector while many small objects are made and none is dropped."""
    # it would look at all of them again and again: a third of the time for 100,000 labels
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def _macro_scores(
    matched: Matched,
    i: int,
    options: ScoreOptions,
    also: Sequence[str],
    cells: Callable[[], LabelCounts],
) -> tuple[Interval, ...]:
    """Compute the means over the gold labels, or over the requested labels."""
    added = [m.removeprefix(_MACRO) for m in also if m.startswith(_MACRO)]
    labels = matched.averaged[i]
    if not added and np.count_nonzero(labels) < 2:
        return ()
    averaged, level = cells().only(labels), options.level
    late = len(averaged.unit) <= _MOST_CELLS_KEPT
    scores = []
    for metric in dict.fromkeys((*(options.metric or PRF), *added)):
        if metric not in NEEDS_TN and metric not in COMPOSITES:
            compute = partial(macro_interval, averaged, metric, level=level, beta=options.beta)
            named = f"{_MACRO}{metric}", MACRO_METHOD, level
            scores.append(LateInterval.of(*named, compute) if late else compute())
    return tuple(scores)


def _overlap(matched: Matched, places: Sequence[int]) -> dict[str, dict[str, float]]:
    """Return the partial overlaps of a system's spans by rule, summed over its runs."""
    by_run = [overlaps(matched.gold, matched.systems[place]) for place in places]
    found = {}
    for rule, first in by_run[0].items():
        o = sum((run[rule] for run in by_run[1:]), start=first)
        found[rule] = {**asdict(o), **o.scores}
    return found


def _scores_of_words(
    matched: Matched, i: int, units: Counts, options: ScoreOptions
) -> Iterator[Interval]:
    """Yield the further scores of word segmentation."""
    from probative.matching.segmentation import boundary_counts, known_words, true_negatives

    gold = matched.gold
    boundaries = boundary_counts(gold, matched.systems[i])
    further = [("tnr", "specificity", true_negatives(gold, units))]
    further += [(f"boundary_{metric}", metric, boundaries) for metric in PRF]
    if matched.lexicon is not None:
        known = known_words(gold, matched.lexicon)
        is_right = matched.items.says[i][matched.items.answer]
        for name, which in (("oov_recall", ~known), ("iv_recall", known)):
            tp, fn = (
                np.bincount(gold.sentence[words & which], minlength=gold.n_sentences)
                for words in (is_right, ~is_right)
            )
            further.append((name, "recall", Counts(tp, np.zeros_like(tp), fn)))
    for name, metric, counts in further:
        yield replace(_pooled_interval(matched, counts, metric, options), metric=name)


# --- From inputs to scores

ONE_RUN = "one run of a system does not show how other runs would score"


def score(
    gold: Input | None = None,
    pred: Systems | None = None,
    *more: Input,
    names: Sequence[str] | None = None,
    metric: str | Sequence[str] | None = None,
    beta: float = 1.0,
    method: str | None = None,
    by: str | None = None,
    level: float = 0.95,
    overlap: bool = False,
    second_gold: Input | None = None,
    units: Sequence[object] | None = None,
    **reading: Unpack[GradedKeywords],
) -> Scores:
    """Score the outputs of one or more systems against gold.

    Parameters
    ----------
    gold
        The gold annotation: the path of a file; a list of tags (or of words) per sentence; a set of
        ``(start, end, label)`` per sentence; a label per item, as a list or an array; or a set of
        labels per item.
    pred, more
        The outputs, in the same form or another one of the same task; or one dictionary of them
        by name. A system may be a list of outputs, one per run or repeated answer: all of them on
        one unit then count as one unit. Without any, `gold` is a file or a data frame that holds
        gold and the outputs in its columns.
    names
        The names of the systems; by default those of their files.
    metric
        One or several of precision, recall, f1, fbeta, jaccard, accuracy, specificity, npv,
        balanced_accuracy, mcc, kappa, informedness, markedness and fowlkes_mallows. By default
        the usual ones of the task. For several classes mcc (Gorodkin's R_K), kappa and
        balanced_accuracy are computed from the whole confusion table.
    beta
        The weight of recall in F-beta.
    method
        The method of the intervals, as for `probative.interval`; by default Wilson's.
    by
        The independent units: sentence, document, unit or item. By default sentences for
        sequences, the units of a table that has them, else single items.
    level
        The level of the intervals.
    overlap
        Whether to count partial overlaps of spans, too.
    second_gold
        A second annotation of the same texts by another person. It is scored against gold, and
        every system is compared with it.
    units
        With `scores`: the unit of every item, such as its document.
    **reading
        Options of reading and matching, such as `task`, `gold_column`, `columns` and `scheme`,
        instead of recognising them: see `probative.options.ReadingOptions`.

    Returns
    -------
    Scores
        One `SystemScores` per system, with counts, and scores with their intervals. The intervals
        are widened by the design effect, since the items of a unit are not independent.

    Examples
    --------
    >>> import probative as pv
    >>> gold = [["B-PER", "I-PER", "O", "B-LOC"], ["O", "B-ORG"]]
    >>> pred = [["B-PER", "I-PER", "O", "B-ORG"], ["O", "B-ORG"]]
    >>> result = pv.score(gold, pred)
    >>> result[0].counts
    Counts(tp=2, fp=1, fn=1)
    >>> round(result[0]["f1"].estimate, 4)
    0.6667
    """
    checked = {
        "beta": positive("beta", beta),
        "method": None if method is None else one_of("method", method, METHODS),
        "level": open_probability("level", level),
        "overlap": flag("overlap", overlap),
    }
    options = ScoreOptions.of_call(locals() | checked, beside=("names",))
    systems, names = by_name([] if pred is None else [pred, *more], names, gold)
    matched, second = match_systems(gold, systems, names, options)
    scores = replace(scores_of(matched, options), ceilings=ceilings_of(second, options))
    if matched.runs:
        scores = _with_repeats(matched, scores, options)
    return scores if options.group is None else _with_groups(matched, scores, options)


def _with_groups(matched: Matched, scores: Scores, options: ScoreOptions) -> Scores:
    """Add the scores of the systems in each group."""
    from probative.results import Group

    named = [score.metric for score in scores.systems[0].scores]
    metrics = [metric for metric in named if metric.removeprefix(_MACRO) in METRICS]
    chosen = replace(options, by=scores.by)

    def judge(part: Any) -> Group:
        systems = scores_in(part.matched, metrics, chosen)
        return Group(part.name, part.rows, part.units(scores.by), systems)

    return replace(scores, groups=judge_groups(part_by_group(matched, options), judge))


def scores_of(
    matched: Matched,
    options: ScoreOptions,
    also: Sequence[str] = (),
    known: Mapping[int, SystemScores] | None = None,
) -> Scores:
    """Score the matched systems; `known` are scores of the same choices, by place of a system."""
    if options.overlap and matched.task != "entities":
        raise InputError(f"overlap: does not apply to {matched.task}; expected entities")
    if matched.runs:
        return _scores_of_runs(matched, options, also)
    unit, metric, done = unit_of(matched, options.by), options.metric, known or {}
    metric = None if metric is None else _metrics_of(matched, metric, tables=True)
    chosen = replace(options, by=unit, metric=metric)
    systems = tuple(
        replace(done[i], name=name) if i in done else system_scores(matched, i, chosen, also)
        for i, name in enumerate(matched.names)
    )
    hints = []
    if unit != "item":  # units may be too few or too unequal
        by = "document" if unit == "document" else "sentence"
        units = [matched.items.counts(i, by=by) for i in range(len(systems))]
        hints = design_notes(units, matched.names, unit, matched.items.number)
    return Scores(
        task=matched.task,
        systems=systems,
        level=options.level,
        units=matched.number_of(unit),
        unit=unit if unit == "document" else matched.unit,
        by=unit,
        scheme=matched.scheme,
        match=match_of(matched),
        notes=(*matched.notes, *hints),
        token_accuracy=matched.token_accuracy,
        range=matched.range,
        judges=_judges(matched, unit, options.level),
        signature=_signed(matched, systems, unit, options),
    )


def _signed(
    matched: Matched, systems: Sequence[SystemScores], unit: str, options: ScoreOptions
) -> str:
    """Return the signature of scores."""
    methods = ",".join(dict.fromkeys(score.method for own in systems for score in own.scores))
    runs = [signed_runs(matched.runs)] if matched.runs else []
    return options.signature(*facts_of_reading(matched, options), methods, f"by-{unit}", *runs)


def _judges(matched: Matched, unit: str, level: float) -> tuple[JudgeAgreement, ...] | None:
    """Return how a judge agrees with human scores, by system; None without any."""
    items: Any = matched.items
    if getattr(items, "human", None) is None:
        return None
    from probative.inference.means import judge_agreement

    there = np.isfinite(items.human).all(axis=0)
    codes = items.codes(unit)
    units = None if codes is None else codes[there]
    return tuple(
        judge_agreement(name, judge[there], human[there], units, level)
        for name, judge, human in zip(matched.names, items.says, items.human, strict=True)
    )


def _scores_of_runs(matched: Matched, options: ScoreOptions, also: Sequence[str]) -> Scores:
    """Score systems with several runs, with all runs on a unit as one unit."""
    if not several_runs(matched):
        alone = scores_of(unpooled(matched), options, also)
        return replace(
            alone,
            notes=(*alone.notes, ONE_RUN),
            run_scores=_run_scores(matched, alone, options, also),
        )
    unit = unit_of(matched, options.by)
    asked = options.metric
    if asked is None and matched.task == "segmentation":
        asked = _OF_WORDS
    by = "unit" if unit == "item" else unit
    chosen = replace(options, metric=asked, by=by, overlap=False)
    parts, systems, judges = [], [], []
    for group in matched.runs:
        part = scores_of(pool_runs(matched, group), chosen, also)
        overlap = _overlap(matched, group.places) if options.overlap else None
        parts.append(part)
        systems.append(replace(part.systems[0], overlap=overlap))
        judges += [replace(judge, system=group.name) for judge in part.judges or ()]
    pooled = replace(
        parts[0],
        systems=tuple(systems),
        unit=matched.unit,
        by=unit,
        judges=tuple(judges) or None,
        signature=_signed(matched, systems, unit, options),
    )
    return replace(pooled, run_scores=_run_scores(matched, pooled, options, also))


def _run_scores(
    matched: Matched, scores: Scores, options: ScoreOptions, also: Sequence[str]
) -> tuple[RunScores, ...]:
    """Return the score of every run, by system and metric; means over labels only if compared."""
    own = []
    for metric in (s.metric for s in scores.systems[0].scores):
        single = metric.removeprefix(_MACRO)
        known = single in TABLE or matched.task == "scores"
        if not known or (single != metric and metric not in also):
            continue
        score = score_in(matched, metric, scores.by, beta=options.beta)
        for group in matched.runs:
            values = score.runs(group.places).scores.tolist()
            own.append(RunScores.of(group.name, metric, group.runs, values))
    names = [group.name for group in matched.runs]
    return tuple(sorted(own, key=lambda one: names.index(one.system)))


def _with_repeats(matched: Matched, scores: Scores, options: ScoreOptions) -> Scores:
    """Add to the scores of runs how much more units and more runs would help."""
    from probative.inference.pooled import PooledScore
    from probative.inference.runs import score_repeats

    groups = {group.name: group for group in matched.runs}

    def with_repeats(own: RunScores) -> RunScores:
        if len(own) < 2 or own.metric not in TABLE or _is_of_classes(matched, own.metric):
            return own
        score = score_in(matched, own.metric, scores.by, beta=options.beta)
        assert isinstance(score, PooledScore)  # noqa: S101  # as no score of all classes
        runs = [score.counts_of(place) for place in groups[own.system].places]
        names = ("tp", "fp", "fn") if runs[0].tn is None else ("tp", "fp", "fn", "tn")
        cells = {name: np.stack([getattr(run, name) for run in runs], axis=1) for name in names}
        scored = scored_as(matched, own.metric)
        found = score_repeats(Counts(**cells), scored, level=options.level, beta=options.beta)
        return replace(own, repeated=replace(found, metric=own.metric))

    return replace(scores, run_scores=tuple(map(with_repeats, scores.run_scores or ())))
