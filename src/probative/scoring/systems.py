"""Everything that one system scores: pooled, by label, as a mean over labels."""

from __future__ import annotations

from dataclasses import asdict, replace
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from probative.counts import Counts
from probative.inference.intervals import interval
from probative.inference.label_dependence import is_at_once, label_intervals
from probative.inference.macro import macro_interval
from probative.matching.segmentation import boundary_counts, known_words, true_negatives
from probative.matching.spans import overlaps
from probative.matching.tag_rules import UNTYPED
from probative.metrics import COMPOSITES, NEEDS_TN, PRF, label_metric
from probative.results import Interval, LabelScores, SystemScores
from probative.scoring.basis import (
    ALL_CLASSES,
    MACRO,
    OF_ALL_CLASSES,
    OF_WORDS,
    is_of_classes,
    is_right_or_wrong,
    unit_of,
)
from probative.scoring.classes import interval_of_classes, table_interval
from probative.scoring.intervals import Choices, cells_of, intervals_of, pooled_interval

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from probative.label_counts import LabelCounts
    from probative.matching.matched import Matched
    from probative.options import ScoreOptions

__all__ = ["scores_in", "system_scores"]


def system_scores(matched: Matched, i: int, choices: Choices) -> SystemScores:
    """The counts and scores of a system, and those of its labels.

    Parameters
    ----------
    matched, i
        What has been gathered, and the number of the system.
    choices
        What to score, and how.
    """
    items = matched.items
    counts = items.counts(i)
    # a single type of tags is worth naming, a single kind of words is not; what only another
    # system uses is none of this one's labels
    own = np.count_nonzero(items.uses(i))
    named = own > 1 or (own == 1 and matched.scheme and items.labels != (UNTYPED,))
    biased = matched.task == "segmentation" and counts.positives > 0
    cells = cache(lambda: items.by_unit_and_label(i, by=cells_of(matched, choices.unit)))
    return SystemScores(
        name=matched.names[i],
        counts=counts,
        scores=_scores(matched, i, choices, cells),
        by_label=_by_label(matched, i, choices, cells) if named else (),
        splitting_bias=float(counts.predicted / counts.positives) if biased else None,
        overlap=_overlap(matched, i) if choices.overlap else None,
    )


def scores_in(
    matched: Matched, metrics: Sequence[str], options: ScoreOptions
) -> tuple[SystemScores, ...]:
    """The counts of every system and its scores in these metrics alone, without its labels.

    Parameters
    ----------
    matched
        What has been gathered, of a group, say.
    metrics
        What to score; means over labels are called macro_f1 and so on.
    options
        The choices.
    """
    metrics = tuple(dict.fromkeys(metrics))
    columns = []
    for metric in metrics:
        single = metric.removeprefix(MACRO)
        chosen = replace(options, metric=single)
        systems = range(len(matched.names))
        if single != metric:
            own = [_macro_interval(matched, i, chosen) for i in systems]
        elif is_of_classes(matched, metric):
            own = [table_interval(matched, i, chosen) for i in systems]
        else:
            own = intervals_of(matched, chosen)
        columns.append([replace(one, metric=metric, signature="") for one in own])
    return tuple(
        SystemScores(name, matched.items.counts(i), tuple(column[i] for column in columns))
        for i, name in enumerate(matched.names)
    )


def _macro_interval(matched: Matched, i: int, options: ScoreOptions) -> Interval:
    by = cells_of(matched, unit_of(matched, options.by))
    cells = matched.items.by_unit_and_label(i, by=by).only(matched.averaged[i])
    return macro_interval(cells, str(options.metric), level=options.level, beta=options.beta)


def _scores(
    matched: Matched, i: int, choices: Choices, cells: Callable[[], LabelCounts]
) -> tuple[Interval, ...]:
    units = matched.items.counts(i, by="sentence")
    if matched.task == "segmentation":
        scores = _segmentation_scores(matched, i, units, choices)
    elif matched.all_classes:
        # Over all classes every error is a false positive and a false negative at once: micro
        # precision, recall and F1 are the accuracy, a share of the items.
        right = Counts(units.tp, np.zeros_like(units.fp), units.fn)
        accuracy = pooled_interval(matched, right, "recall", choices)
        nameless = replace(accuracy, signature="")
        usual = ("accuracy",) if is_right_or_wrong(matched) else ALL_CLASSES
        scores = tuple(
            interval_of_classes(matched, i, name, choices, cells)
            if name in OF_ALL_CLASSES
            else replace(nameless, metric=name)
            for name in choices.among(usual)
        )
    else:
        metrics = choices.among(PRF if units.tn is None else (*PRF, "accuracy"))
        scores = tuple(pooled_interval(matched, units, metric, choices) for metric in metrics)
    return (*scores, *_macro_scores(matched, i, choices, cells))


def _by_label(
    matched: Matched, i: int, choices: Choices, cells: Callable[[], LabelCounts]
) -> tuple[LabelScores, ...]:
    """The scores of every label that the answer or the system has."""
    metrics = tuple(m for m in choices.asked if label_metric(m) == m) or PRF
    items = matched.items
    counts = items.counts(i, by="label")
    of_units = cells() if choices.unit != "item" else None
    columns = [_of_labels(matched, i, counts, of_units, metric, choices) for metric in metrics]
    used = items.uses(i).tolist()
    rows = zip(items.labels, counts, *columns, used, strict=True)
    return tuple(LabelScores(label, own, tuple(scores)) for label, own, *scores, use in rows if use)


def _of_labels(
    matched: Matched,
    i: int,
    counts: Counts,
    cells: LabelCounts | None,
    metric: str,
    choices: Choices,
) -> Interval | list[Interval]:
    """The intervals of a metric of all labels; a hundred thousand of them should not take long."""
    if cells is None:  # one decision per label and item
        return interval(counts, metric, **choices.how)
    if is_at_once(metric) and choices.method is None:
        return label_intervals(cells, metric, level=choices.level)
    return [
        pooled_interval(matched, items.counts(i, by="sentence"), metric, choices)
        for items in matched.items.by_label
    ]


def _macro_scores(
    matched: Matched, i: int, choices: Choices, cells: Callable[[], LabelCounts]
) -> tuple[Interval, ...]:
    """Means over the labels of the answer, or over those that were chosen."""
    also = [m.removeprefix(MACRO) for m in choices.also if m.startswith(MACRO)]
    labels = matched.averaged[i]
    if not also and np.count_nonzero(labels) < 2:
        return ()
    averaged = cells().only(labels)
    metrics = dict.fromkeys((*(choices.asked or PRF), *also))
    return tuple(
        macro_interval(averaged, metric, level=choices.level, beta=choices.beta)
        for metric in metrics
        if metric not in NEEDS_TN and metric not in COMPOSITES
    )


def _overlap(matched: Matched, i: int) -> dict[str, dict[str, float]]:
    by_rule = overlaps(matched.gold, matched.systems[i])
    return {
        name: {**asdict(o), "precision": o.precision, "recall": o.recall, "f1": o.f1}
        for name, o in by_rule.items()
    }


def _segmentation_scores(
    matched: Matched, i: int, units: Counts, choices: Choices
) -> tuple[Interval, ...]:
    scores = [pooled_interval(matched, units, m, choices) for m in choices.among(OF_WORDS)]
    if choices.asked:
        return tuple(scores)
    gold, system = matched.gold, matched.systems[i]
    boundaries = boundary_counts(gold, system)
    further = [("tnr", "specificity", true_negatives(gold, units))]
    further += [(f"boundary_{metric}", metric, boundaries) for metric in PRF]
    if matched.lexicon is not None:
        known = known_words(gold, matched.lexicon)
        is_right = matched.items.says[i][matched.items.answer]
        for name, which in (("oov_recall", ~known), ("iv_recall", known)):
            further.append((name, "recall", _recall_counts(gold, is_right, which)))
    scores += [
        replace(pooled_interval(matched, counts, metric, choices), metric=name)
        for name, metric, counts in further
    ]
    return tuple(scores)


def _recall_counts(gold: Any, is_right: Any, which: Any) -> Counts:
    def number(words: Any) -> Any:
        return np.bincount(gold.sentence[words], minlength=gold.n_sentences)

    tp = number(is_right & which)
    return Counts(tp, np.zeros_like(tp), number(~is_right & which))
