"""From inputs to scores: read, match, count, judge."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Unpack

import numpy as np

from probative._confusion import score_of_table
from probative._validation import flag, one_of, open_probability, positive
from probative.counts import Counts
from probative.errors import InputError
from probative.inference.clusters import design_notes
from probative.inference.intervals import METHODS
from probative.inference.repeats import score_repeats
from probative.matching.groups import part_by_group
from probative.matching.pooled import counts_of_runs, pool_runs, unpooled
from probative.metrics import TABLE
from probative.metrics import score as score_of
from probative.options import ScoreOptions
from probative.results import (
    Group,
    RunScores,
    Scores,
    SystemScores,
)
from probative.scoring.basis import (
    OF_WORDS,
    by_name,
    facts_of_reading,
    is_of_classes,
    match_of,
    metrics_of,
    scored_as,
    signed_runs,
    unit_of,
    unit_of_runs,
)
from probative.scoring.classes import confused_runs
from probative.scoring.intervals import Choices
from probative.scoring.second_annotation import ceilings_of, match_beside
from probative.scoring.systems import scores_in, system_scores

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from probative._types import Input, Systems
    from probative.matching.matched import Matched
    from probative.options import ReadingKeywords

__all__ = ["ONE_RUN", "score", "scores_of"]

ONE_RUN = "one run of a system tells nothing about other runs of it"


def score(
    gold: Input,
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
    **reading: Unpack[ReadingKeywords],
) -> Scores:
    """Score the outputs of one or more systems against an answer.

    Parameters
    ----------
    gold
        The right answer: the path of a file; a list of tags (or of words) per sentence; a set of
        ``(start, end, label)`` per sentence; a label per item, as a list or an array; or a set of
        labels per item.
    pred, more
        The outputs, in the same form or another one of the same task; or one dictionary of them
        by name. A system may be a list of outputs, one per run or repeated answer: what they say
        of a unit then counts as one unit. Without any, `gold` is a file or a data frame that holds
        the answer and the outputs in its columns.
    names
        What the systems are called; by default after their files.
    metric
        One or several of precision, recall, f1, fbeta, jaccard, accuracy, specificity, npv,
        balanced_accuracy, mcc, kappa, informedness, markedness and fowlkes_mallows. By default
        those that the task is usually scored by. Of several classes mcc (Gorodkin's R_K), kappa and
        balanced_accuracy are those of the whole confusion table.
    beta
        The weight of recall in F-beta.
    method
        How the intervals are made, as for `probative.interval`; by default Wilson's way.
    by
        What counts as independent: sentence, document, unit or item. By default sentences for
        sequences, the units of a table that has them, else single items.
    level
        The level of the intervals.
    overlap
        Whether to count partial overlaps of spans, too.
    second_gold
        A second annotation of the same texts, by another person: it is scored against the answer
        as well, and every system is compared with it.
    **reading
        How to read and match, where it should not be recognised: `task` (entities,
        segmentation, labels, samples), `input_format`, `encoding`, `tag_column`, `gold_column`,
        `columns`, `unit_column`, `group`, `comments`, `header`, `multilabel`,
        `probability_columns`, `threshold`, `mapping`, `ignore_case`, `align_by`, `scheme`,
        `repair`, `ignore_type`, `only`, `positive`, `labels`, `label_names`, `score_name`,
        `train_words`, `key`, `on_missing`, `memory_limit`, `table`; see
        `probative.options.ReadingOptions`.

    Returns
    -------
    Scores
        A `SystemScores` for each system, with counts, and scores with their intervals: widened by
        the design effect of the units, since the items of a unit are not independent.

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
    options = ScoreOptions.of(
        {
            "metric": metric,
            "beta": positive("beta", beta),
            "method": None if method is None else one_of("method", method, METHODS),
            "by": by,
            "level": open_probability("level", level),
            "overlap": flag("overlap", overlap),
            "second_gold": second_gold,
            **reading,
        },
        beside=("names",),
    )
    systems, names = by_name([] if pred is None else [pred, *more], names)
    matched, second = match_beside(gold, systems, names, options)
    scores = replace(scores_of(matched, options), ceilings=ceilings_of(second, options))
    if options.group is not None:
        return _with_groups(matched, scores, options)
    return _with_repeats(matched, scores, options) if matched.runs else scores


def _with_groups(matched: Matched, scores: Scores, options: ScoreOptions) -> Scores:
    """The same, with what the systems score in each group."""
    if matched.runs:
        raise InputError("group: means nothing for several runs; expected one output per system")
    metrics = [score.metric for score in scores.systems[0].scores]
    chosen = replace(options, by=scores.by)
    return replace(
        scores,
        groups=tuple(
            Group(
                part.name,
                part.rows,
                part.units(scores.by),
                scores_in(part.matched, metrics, chosen),
            )
            for part in part_by_group(matched, options)
        ),
    )


def scores_of(
    matched: Matched,
    options: ScoreOptions,
    also: Sequence[str] = (),
    known: Mapping[int, SystemScores] | None = None,
) -> Scores:
    """Score what has been gathered, by the usual metrics or by those that were asked for.

    Parameters
    ----------
    matched
        What has been gathered.
    options
        The choices.
    also
        Metrics on top of those.
    known
        What systems score by the same choices, by their numbers, where that is known already.
    """
    if matched.runs:
        return _scores_of_runs(matched, options, also)
    unit = unit_of(matched, options.by)
    if options.overlap and matched.task != "entities":
        raise InputError(f"overlap: means nothing for {matched.task}; expected entities")
    choices = Choices(
        unit,
        options.level,
        () if options.metric is None else metrics_of(matched, options.metric, tables=True),
        tuple(also),
        options.beta,
        options.method,
        options.overlap,
    )
    document = matched.items.document if unit == "document" else None
    done = known or {}
    systems = tuple(
        replace(done[i], name=name) if i in done else system_scores(matched, i, choices)
        for i, name in enumerate(matched.names)
    )
    methods = dict.fromkeys(score.method for system in systems for score in system.scores)
    return Scores(
        task=matched.task,
        systems=systems,
        level=options.level,
        units=(
            matched.items.units_in_all if document is None else int(document.max(initial=-1)) + 1
        ),
        unit=matched.unit if document is None else unit,
        by=unit,
        scheme=matched.scheme,
        match=match_of(matched),
        notes=(*matched.notes, *_design_notes(matched, unit)),
        token_accuracy=matched.token_accuracy,
        signature=options.signature(
            *facts_of_reading(matched, options), ",".join(methods), f"by-{unit}"
        ),
    )


def _design_notes(matched: Matched, unit: str) -> list[str]:
    """Say what the number and the sizes of the units leave open; nothing of single items."""
    if unit == "item":
        return []
    items = matched.items
    by = "document" if unit == "document" else "sentence"
    systems = [items.counts(i, by=by) for i in range(len(matched.names))]
    return design_notes(systems, matched.names, unit, items.number)


def _scores_of_runs(matched: Matched, options: ScoreOptions, also: Sequence[str]) -> Scores:
    """Score systems with several runs: the runs of a unit belong to that unit."""
    if all(len(group.places) == 1 for group in matched.runs):
        alone = scores_of(unpooled(matched), options, also)
        return replace(
            alone, notes=(*alone.notes, ONE_RUN), run_scores=_run_scores(matched, alone, options)
        )
    unit = unit_of_runs(matched, options.by)
    if options.overlap:
        raise InputError("overlap: means nothing for several runs; expected one run of a system")
    asked = options.metric
    if asked is None and matched.task == "segmentation":
        asked = OF_WORDS
    chosen = replace(options, metric=asked, by="unit" if unit == "item" else unit)
    parts = [scores_of(pool_runs(matched, group), chosen, also) for group in matched.runs]
    pooled = replace(
        parts[0], systems=tuple(part.systems[0] for part in parts), unit=matched.unit, by=unit
    )
    methods = dict.fromkeys(s.method for system in pooled.systems for s in system.scores)
    return replace(
        pooled,
        run_scores=_run_scores(matched, pooled, options),
        signature=options.signature(
            *facts_of_reading(matched, options),
            ",".join(methods),
            f"by-{unit}",
            signed_runs(matched),
        ),
    )


def _run_scores(matched: Matched, scores: Scores, options: ScoreOptions) -> tuple[RunScores, ...]:
    """What every run scores, by system and metric; means over labels are left out."""
    metrics = [s.metric for s in scores.systems[0].scores if s.metric in TABLE]
    own = []
    for group in matched.runs:
        counts = [units.sum() for units in counts_of_runs(matched, group, scores.by)]
        for metric in metrics:
            if is_of_classes(matched, metric):
                runs = confused_runs(matched, group, scores.by)
                values = [float(score_of_table(run.table, metric)) for run in runs]
            else:
                scored = scored_as(matched, metric)
                values = [score_of(table, scored, beta=options.beta) for table in counts]
            own.append(RunScores.of(group.name, metric, group.runs, values))
    return tuple(own)


def _with_repeats(matched: Matched, scores: Scores, options: ScoreOptions) -> Scores:
    """The same, with what more units and what more runs would tell."""
    groups = {group.name: group for group in matched.runs}

    def told(own: RunScores) -> RunScores:
        if len(own) < 2 or is_of_classes(matched, own.metric):
            return own
        runs = counts_of_runs(matched, groups[own.system], scores.by)
        names = ("tp", "fp", "fn") if runs[0].tn is None else ("tp", "fp", "fn", "tn")
        cells = {name: np.stack([getattr(run, name) for run in runs], axis=1) for name in names}
        scored = scored_as(matched, own.metric)
        found = score_repeats(Counts(**cells), scored, level=options.level, beta=options.beta)
        return replace(own, repeated=replace(found, metric=own.metric))

    return replace(scores, run_scores=tuple(map(told, scores.run_scores or ())))
