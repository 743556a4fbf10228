"""From inputs to scores: read, match, count, judge."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from probative._validation import flag, open_probability
from probative.counts import Counts
from probative.inference.intervals import interval
from probative.inference.macro import macro_interval
from probative.matching.evidence import Evidence, gather
from probative.matching.segmentation import boundary_counts, known_words, true_negatives
from probative.matching.spans import overlaps
from probative.matching.tag_rules import UNTYPED
from probative.results import Interval, LabelScores, Scores, SystemScores

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["score", "scores_of"]

PRF = ("precision", "recall", "f1")
_MACRO, _MACRO_CELLS = "macro_", 10_000_000


def score(
    gold: Any,
    pred: Any = None,
    *more: Any,
    names: Sequence[str] | None = None,
    level: float = 0.95,
    overlap: bool = False,
    **how: Any,
) -> Scores:
    """Score the outputs of one or more systems against an answer.

    Parameters
    ----------
    gold
        The right answer: the path of a file; a list of tags (or of words) a sentence; a set of
        ``(start, end, label)`` a sentence; or a label an item, as a list or an array.
    pred, more
        The outputs, in the same form or another one of the same task. Without any, `gold` is a
        file or a data frame that holds the answer and the outputs in its columns.
    names
        What the systems are called; by default after their files.
    level
        The level of the intervals.
    overlap
        Whether to count partial overlaps of spans, too.
    **how
        How to read and match, where it should not be recognised: `task` (entities,
        segmentation, labels), `input_format`, `encoding`, `tag_column`, `gold_column`,
        `columns`, `unit_column`, `comments`, `align_by`, `scheme`, `repair`, `ignore_type`,
        `only`, `positive`, `train_words`; see `probative.matching.evidence.gather`.

    Returns
    -------
    Scores
        A `SystemScores` a system, with counts, and scores with their intervals: widened by the
        design effect of sentences where there are sentences, since the items of a sentence are
        not independent.

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
    level = open_probability("level", level)
    overlap = flag("overlap", overlap)
    systems = [] if pred is None else [pred, *more]
    return scores_of(gather(gold, systems, names=names, **how), level=level, overlap=overlap)


def scores_of(
    evidence: Evidence,
    *,
    level: float,
    overlap: bool = False,
    also: Sequence[str] = (),
    beta: float = 1.0,
) -> Scores:
    """Score what has been gathered, by the usual metrics and by those that were asked for, too."""
    systems = [
        _system(evidence, i, level, overlap=overlap, also=also, beta=beta)
        for i in range(len(evidence.names))
    ]
    return Scores(
        task=evidence.task,
        systems=tuple(systems),
        level=level,
        units=evidence.items.n_units,
        unit=evidence.unit,
        scheme=evidence.scheme,
        notes=evidence.notes,
        token_accuracy=evidence.token_accuracy,
    )


def _system(
    evidence: Evidence, i: int, level: float, *, overlap: bool, also: Sequence[str], beta: float
) -> SystemScores:
    items = evidence.items
    counts = items.counts(i)
    # a single type of tags is worth naming, a single kind of words is not
    named = len(items.labels) > 1 or (evidence.scheme and items.labels != (UNTYPED,))
    biased = evidence.task == "segmentation" and counts.positives > 0
    return SystemScores(
        name=evidence.names[i],
        counts=counts,
        scores=_scores(evidence, i, level, also, beta),
        by_label=_by_label(evidence, i, level) if named else (),
        splitting_bias=float(counts.predicted / counts.positives) if biased else None,
        overlap=_overlap(evidence, i) if overlap and evidence.task == "entities" else None,
    )


def _scores(
    evidence: Evidence, i: int, level: float, also: Sequence[str], beta: float
) -> tuple[Interval, ...]:
    units = evidence.items.counts(i, by="sentence")
    if evidence.task == "segmentation":
        scores = _segmentation_scores(evidence, i, units, level)
    elif evidence.all_classes:
        # Over all classes every error is a false positive and a false negative at once: micro
        # precision, recall and F1 are the accuracy, a share of the items.
        right = Counts(units.tp, np.zeros_like(units.fp), units.fn)
        accuracy = _interval(evidence, right, "recall", level)
        scores = tuple(replace(accuracy, metric=metric) for metric in ("accuracy", *PRF))
    else:
        metrics = PRF if units.tn is None else (*PRF, "accuracy")
        scores = tuple(_interval(evidence, units, metric, level) for metric in metrics)
    known = {score.metric for score in scores}
    single = [metric for metric in also if metric not in known and not metric.startswith(_MACRO)]
    return (
        *scores,
        *(_interval(evidence, units, metric, level, beta) for metric in single),
        *_macro_scores(evidence, i, level, also, beta),
    )


def _interval(
    evidence: Evidence, units: Counts, metric: str, level: float, beta: float = 1.0
) -> Interval:
    """The interval of a metric; items of one sentence (or datum) are not independent."""
    alone = evidence.unit == "item" and np.max(units.nu, initial=0) <= 1
    if alone or len(units) < 2:
        return interval(units.sum(), metric, level=level, beta=beta)
    return interval(units, metric, level=level, beta=beta, clustered=True)


def _by_label(evidence: Evidence, i: int, level: float) -> tuple[LabelScores, ...]:
    if evidence.unit == "item":  # one decision a label and item: all labels at once
        counts = evidence.items.counts(i, by="label")
        columns = [interval(counts, metric, level=level) for metric in PRF]
        return tuple(
            LabelScores(label, counts[k], tuple(column[k] for column in columns))
            for k, label in enumerate(evidence.items.labels)
        )
    found = []
    for label, items in zip(evidence.items.labels, evidence.items.by_label, strict=True):
        units = items.counts(i, by="sentence")
        scores = tuple(_interval(evidence, units, metric, level) for metric in PRF)
        found.append(LabelScores(label, units.sum(), scores))
    return tuple(found)


def _macro_scores(
    evidence: Evidence, i: int, level: float, also: Sequence[str], beta: float
) -> tuple[Interval, ...]:
    """Means over the labels, unless there are so many that a table of all units is too large."""
    items = evidence.items
    asked = [metric.removeprefix(_MACRO) for metric in also if metric.startswith(_MACRO)]
    if not asked and not 1 < len(items.labels) <= _MACRO_CELLS // max(1, items.n_units):
        return ()
    units = items.by_unit_and_label(i)
    metrics = dict.fromkeys((*PRF, *asked))
    return tuple(macro_interval(units, metric, level=level, beta=beta) for metric in metrics)


def _overlap(evidence: Evidence, i: int) -> dict[str, dict[str, float]]:
    found = overlaps(evidence.gold, evidence.systems[i])
    return {
        name: {**asdict(o), "precision": o.precision, "recall": o.recall, "f1": o.f1}
        for name, o in found.items()
    }


def _segmentation_scores(
    evidence: Evidence, i: int, units: Counts, level: float
) -> tuple[Interval, ...]:
    """Recall first: precision and F reward splitting too little."""
    gold, system = evidence.gold, evidence.systems[i]
    boundaries = boundary_counts(gold, system)
    scores = [_interval(evidence, units, m, level) for m in ("recall", "precision", "f1")]
    asked = [("tnr", "specificity", true_negatives(gold, units))]
    asked += [(f"boundary_{metric}", metric, boundaries) for metric in PRF]
    if evidence.lexicon is not None:
        known = known_words(gold, evidence.lexicon)
        found = evidence.items.says[i][evidence.items.answer]
        for name, which in (("oov_recall", ~known), ("iv_recall", known)):
            asked.append((name, "recall", _recall_counts(gold, found, which)))
    scores += [
        replace(_interval(evidence, counts, metric, level), metric=name)
        for name, metric, counts in asked
    ]
    return tuple(scores)


def _recall_counts(gold: Any, found: Any, which: Any) -> Counts:
    def number(words: Any) -> Any:
        return np.bincount(gold.sentence[words], minlength=gold.n_sentences)

    tp = number(found & which)
    return Counts(tp, np.zeros_like(tp), number(~found & which))
