"""From inputs to scores: read, match, count, judge."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from probative._validation import open_probability
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
_MACRO_CELLS = 50_000_000


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
    systems = [] if pred is None else [pred, *more]
    return scores_of(gather(gold, systems, names=names, **how), level=level, overlap=overlap)


def scores_of(evidence: Evidence, *, level: float, overlap: bool = False) -> Scores:
    """Score what has been gathered."""
    return Scores(
        task=evidence.task,
        systems=tuple(
            _system(evidence, i, level, overlap=overlap) for i in range(len(evidence.names))
        ),
        level=level,
        units=evidence.items.n_units,
        unit=evidence.unit,
        scheme=evidence.scheme,
        notes=evidence.notes,
        token_accuracy=evidence.token_accuracy,
    )


def _system(evidence: Evidence, i: int, level: float, *, overlap: bool) -> SystemScores:
    items = evidence.items
    units = items.counts(i, by="sentence")
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
    counts = items.counts(i)
    several = len(items.labels) > 1
    return SystemScores(
        name=evidence.names[i],
        counts=counts,
        scores=(*scores, *_macro(evidence, i, level)) if several else scores,
        by_label=_by_label(evidence, i, level) if several or _typed(evidence) else (),
        splitting_bias=(
            float(counts.predicted / counts.positives) if evidence.task == "segmentation" else None
        ),
        overlap=_overlap(evidence, i) if overlap and evidence.task == "entities" else None,
    )


def _typed(evidence: Evidence) -> bool:
    """Whether there are tags with types, so that even a single one is worth naming."""
    return evidence.scheme is not None and evidence.items.labels != (UNTYPED,)


def _interval(evidence: Evidence, units: Counts, metric: str, level: float) -> Interval:
    """The interval of a metric; items of one sentence are not independent."""
    if evidence.unit == "item" or len(units) < 2:
        return interval(units.sum(), metric, level=level)
    return interval(units, metric, level=level, clustered=True)


def _by_label(evidence: Evidence, i: int, level: float) -> tuple[LabelScores, ...]:
    found = []
    for label in evidence.items.labels:
        units = evidence.items.only([label]).counts(i, by="sentence")
        scores = tuple(_interval(evidence, units, metric, level) for metric in PRF)
        found.append(LabelScores(label, units.sum(), scores))
    return tuple(found)


def _macro(evidence: Evidence, i: int, level: float) -> tuple[Interval, ...]:
    """Means over the labels, unless there are so many that a table of all units is too large."""
    items = evidence.items
    if items.n_units * len(items.labels) > _MACRO_CELLS:
        return ()
    units = items.by_unit_and_label(i)
    return tuple(macro_interval(units, metric, level=level) for metric in PRF)


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
