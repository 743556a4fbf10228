"""Compare systems: read, match, count, test, and give a verdict."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import count, islice
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from probative._validation import (
    RNG,
    Input,
    Systems,
    accepts_seed,
    names_of,
    one_of,
    random_generator,
)
from probative.counts import Counts, PairedCounts
from probative.errors import InputError, suggestion
from probative.inference.compare import Choices, compare_pairs
from probative.inference.differences import difference
from probative.inference.groups import adjust_pvalues, heterogeneity
from probative.inference.pooled import PooledScore
from probative.jobs.runs import (
    adjust_answers,
    answers_on,
    can_be_tested,
    compare_counts,
    hints_of_files,
    hints_of_runs,
    pairs_of,
    result_of,
    without_claims,
)
from probative.jobs.score import (
    AVERAGES,
    ONE_RUN,
    by_name,
    ceilings_of,
    check_report,
    compared_metrics,
    document_f1,
    facts_of_reading,
    match_of,
    match_systems,
    no_collection,
    score_in,
    scores_in,
    scores_of,
    several_runs,
    signed_runs,
    systems_of,
    unit_of,
)
from probative.matching.examples import changes_of, confusions_of, examples_of
from probative.matching.groups import buckets_of, crossing_units, judge_groups, part_by_group
from probative.matching.items import Items, cases_of_runs
from probative.matching.labels import averaged_labels
from probative.matching.matched import Matched, match_training, unpooled
from probative.metrics import NEEDS_TN, TABLE, Metric, ratio
from probative.options import CompareOptions, GradedKeywords, ScoreOptions
from probative.reading.runs import are_files
from probative.reading.source import refuse_repeats
from probative.results import (
    Bucket,
    BucketDifference,
    Comparison,
    Comparisons,
    Group,
    GroupSummary,
    GroupWeight,
    LabelDifference,
    SystemScore,
)
from probative.results.comparisons import decision_pvalue
from probative.results.scores import with_scores
from probative.wording.numbers import counted, on_own_scale
from probative.wording.verdict import (
    no_verdict,
    pvalue_of,
    sentences_of_groups,
    words_of_disagreement,
)

if TYPE_CHECKING:
    from probative.inference.scores import Score
    from probative.matching.outputs import RunGroup
    from probative.results import SystemScores

    Pair = tuple[RunGroup, RunGroup]


# --- Pairs of systems


def _facts(
    matched: Matched, a: Sequence[int], b: Sequence[int], score: Score, choices: Choices
) -> dict[str, Any]:
    """Return the fields of a comparison that need no statistics, and the labels."""
    return {
        "match": match_of(matched),
        "positives": matched.items.positives,
        "identical": len(a) == len(b) and all(map(matched.gave_the_same, a, b)),
        "by_label": _by_label(matched, a, b, score, choices),
    }


def _by_label(
    matched: Matched, a: Sequence[int], b: Sequence[int], score: Score, choices: Choices
) -> tuple[LabelDifference, ...]:
    """Return the differences on every label that gold or one of the two systems uses."""
    items, metric = matched.items, score.by_label
    used = np.any([items.uses(place) for place in (*a, *b)], axis=0)
    if choices.in_group or np.count_nonzero(used) < 2:
        return ()
    negatives = metric in NEEDS_TN
    tables: Iterable[PairedCounts]
    if choices.unit == "item" and len(a) == len(b) == 1:
        cells = items.paired(a[0], b[0], by="label")
        width = 8 if cells.has_negatives and negatives else 7
        distinct, kind = np.unique(cells.cases[:, :width], axis=0, return_inverse=True)
        made = list(map(PairedCounts, distinct))
        tables = (made[k] for k in kind.ravel().tolist())
    else:
        rows = "datum" if choices.unit == "item" else choices.unit
        # units without the label count for nothing but its true negatives
        parts = items.by_label if negatives else map(Items.in_own_units, items.by_label)
        tables = (cases_of_runs(alone, a, b, rows).grouped() for alone in parts)
    known: dict[bytes, LabelDifference] = {}  # of equal tables once
    differences = []
    beta = getattr(score, "beta", 1.0)
    with no_collection():
        for label, paired, use in zip(items.labels, tables, used.tolist(), strict=True):
            if not use:
                continue
            number = paired.multiplicity
            key = paired.cases.tobytes() + (b"" if number is None else number.tobytes())
            if key not in known:
                gap = difference(paired, metric, level=choices.level, beta=beta)
                known[key] = LabelDifference("", gap.a, gap.b, gap.estimate, gap.low, gap.high)
            pvalue = _pvalue_of_field(paired, metric, beta) if matched.task == "records" else None
            differences.append(replace(known[key], label=label, pvalue=pvalue))
    adjusted = iter(adjust_pvalues([d.pvalue for d in differences if d.pvalue is not None]))
    return tuple(
        d if d.pvalue is None else replace(d, p_adjusted=float(next(adjusted))) for d in differences
    )


def _pvalue_of_field(paired: PairedCounts, metric: str, beta: float) -> float | None:
    """Return the p-value that decides about one field; None if there is none."""
    if not paired.total().cases[:4].any():
        return 1.0  # the systems agree
    alone = PooledScore.of_cases(paired, metric, beta=beta)
    (test,) = alone.tests([(0, 1)], level=0.95, rng=np.random.default_rng(0))
    found = float(decision_pvalue(test.pvalue, alone.unit_test(0, 1).pvalue))
    return None if np.isnan(found) else found


def _buckets(
    matched: Matched, metric: str, pairs: Sequence[Pair], choices: Choices, options: CompareOptions
) -> tuple[Bucket, ...]:
    """Score and compare the systems on the items of every kind, pooled over labels."""
    if metric in NEEDS_TN and not matched.all_classes:
        return ()  # true negatives have no length and no label
    train = None if options.train is None else match_training(options.train, matched, options)
    metric = "accuracy" if matched.all_classes else metric  # a bucket has no confusion table
    systems, unit = systems_of(matched), choices.unit
    place = {system: i for i, system in enumerate(systems)}
    usual = ScoreOptions(by=unit, level=choices.level, beta=options.beta)

    def judge(kind: str, name: str, items: Items) -> Bucket:
        part = replace(matched, items=items)
        score = score_in(part, metric, unit, beta=options.beta)
        if several_runs(matched):
            score = score.pooled([system.places for system in systems])
        units = items.unit[items.answer]
        if unit == "document" and items.document is not None:
            units = items.document[units]
        scores = [(own.name, own[metric]) for own in scores_in(part, [metric], usual)]
        return Bucket(
            *(kind, name, items.positives, len(np.unique(units))),
            tuple(SystemScore(who, metric, s.estimate, s.low, s.high) for who, s in scores),
            tuple(_difference(score, a, b, place, choices) for a, b in pairs),
        )

    return tuple(judge(kind, name, items) for kind, name, items in buckets_of(matched, train))


def _difference(
    score: Score, a: RunGroup, b: RunGroup, place: Mapping[RunGroup, int], choices: Choices
) -> BucketDifference:
    """Return a difference that is not tested; `place` is the row of a system in the score."""
    gap = score.difference(place[a], place[b], choices.level)
    return BucketDifference(a.name, b.name, score.metric, gap.estimate, gap.low, gap.high)


# --- Agreement of the groups with each other and with the whole
#
# The overall score of a system is a mean of its scores in the groups, weighted by its denominators.
# Those of accuracy and recall are the same for both systems: then the overall difference is a mean
# of the differences of the groups, and cannot have another sign than all of them. Those of
# precision and F1 grow with the number of items that a system returns; then it can (Simpson's
# paradox).


def _summarize(
    whole: Comparison, groups: Sequence[Group], column: str, *, level: float, beta: float
) -> GroupSummary:
    """Summarise the groups of `column` for one pair and metric; their p-values are adjusted."""
    a, b, metric = whole.a, whole.b, whole.metric
    own = {group.group: group.of_pair(a, b, metric, whole.question) for group in groups}
    decided = {name: c for name, c in own.items() if _is_decided(c, level)}
    family = (metric, whole.question)
    every = [c for group in groups for c in group.comparisons or ()]
    spread: Any = [(c.difference, c.standard_error, c.degrees_of_freedom) for c in own.values()]
    summary = GroupSummary(
        *(a, b, metric, column, whole.difference),
        groups=len(groups),
        tested=sum(map(can_be_tested, own.values())),
        tests=sum(can_be_tested(c) for c in every if (c.metric, c.question) == family),
        better=tuple(name for name, c in decided.items() if c.difference > 0),
        worse=tuple(name for name, c in decided.items() if c.difference < 0),
        ahead=sum(c.difference > 0 for c in own.values()),
        behind=sum(c.difference < 0 for c in own.values()),
        heterogeneity=heterogeneity(*zip(*spread, strict=True)),
        question=whole.question,
    )
    found = _disagreements(summary, whole, level)
    weights = _weights(groups, whole, beta) if "reversal" in found else None
    summary = replace(summary, disagreements=found, weights=weights)
    return replace(summary, sentences=sentences_of_groups(summary, whole, groups))


def _is_decided(c: Comparison, level: float) -> bool:
    """Return True if a pair is shown to differ, by the p-value that counts."""
    return no_verdict(c) is None and pvalue_of(c) <= (1 - level) * (1 + 1e-9)


def _disagreements(s: GroupSummary, whole: Comparison, level: float) -> tuple[str, ...]:
    """Return how the groups contradict each other or the whole, at this level."""
    mixed = ("mixed",) if s.better and s.worse else ()
    with_it, against, opposed = s.behind, s.ahead, s.better
    if whole.difference > 0:
        with_it, against, opposed = s.ahead, s.behind, s.worse
    if not opposed or not _is_decided(whole, level):
        return mixed
    if not with_it and against > 1:
        return *mixed, "reversal"
    return (*mixed, "against-most") if against > with_it else mixed


def _weights(
    groups: Sequence[Group], whole: Comparison, beta: float
) -> tuple[GroupWeight, ...] | None:
    """Return the weight of every group in the overall score of each system."""
    a, b, metric = whole.a, whole.b, whole.metric
    if not isinstance(TABLE.get(metric), Metric):
        return None  # a macro average, for example, is no mean over groups
    tables = [{system.name: system.counts for system in group.systems} for group in groups]

    def shares(name: str) -> list[float]:
        # the denominator of a score is its weight in the overall score
        bottoms = [float(ratio(table[name], metric, beta=beta)[1]) for table in tables]
        return [bottom / sum(bottoms) for bottom in bottoms]

    own = [(group.group, group.of_pair(a, b, metric, whole.question)) for group in groups]
    return tuple(
        GroupWeight(name, c.score_a, weight_a, c.score_b, weight_b)
        for (name, c), weight_a, weight_b in zip(own, shares(a), shares(b), strict=True)
    )


def _with_groups(
    whole: Comparisons, groups: Sequence[Group], matched: Matched, options: CompareOptions
) -> Comparisons:
    """Add the groups, with unadjusted p-values, and their summaries to a comparison."""
    adjusted, column, notes = _adjust_groups(groups), str(options.group), whole.notes
    crossing = crossing_units(matched)
    if crossing:
        parted = f"{counted(crossing, whole.unit)} with rows in several groups of {column!r}"
        why = "each group counts its own rows, so that the groups are not independent of each other"
        notes = (*notes, f"{parted}: {why}")
    how: Any = {"level": whole.level, "beta": options.beta}
    summaries = tuple(_summarize(c, adjusted, column, **how) for c in whole.comparisons)
    # one verdict per pair, on the first metric; with several runs, on the models
    first = whole.comparisons[0]
    own = [s for s in summaries if (s.metric, s.question) == (first.metric, first.question)]
    said = zip(whole.verdicts, map(words_of_disagreement, own), strict=True)
    verdicts = tuple(first if words is None else f"{first} But {words}." for first, words in said)
    whole = with_scores(whole, groups=adjusted, notes=notes)
    return replace(whole, group_summaries=summaries, verdicts=verdicts)


def _adjust_groups(groups: Sequence[Group]) -> tuple[Group, ...]:
    """Adjust the p-values for the number of groups and pairs, separately for each metric."""
    every = [c for group in groups for c in group.comparisons or ()]
    left = iter(adjust_answers(every, in_groups=True))
    return tuple(
        replace(group, comparisons=tuple(islice(left, len(group.comparisons or ()))))
        for group in groups
    )


# --- From inputs to a verdict

_MOST_SYSTEMS_WITHOUT_A_HINT = 3  # with more systems, a note recommends `rank`
_HINT_TO_RANK = "{} systems: rank orders them all, with ties and the probability of being best"
_ONE_RUN_EACH = "One run each does not show whether training again would give the same."


@accepts_seed
def compare(
    gold: Input | Mapping[str, Counts | Sequence[Counts] | Input] | None = None,
    a: Systems | None = None,
    b: Input | None = None,
    *more: Input,
    names: Sequence[str] | None = None,
    metric: str | Sequence[str] | None = None,
    average: str = "micro",
    by: str | None = None,
    level: float = 0.95,
    rope: float = 0.0,
    beta: float = 1.0,
    prior: float = 1.0,
    power: float = 0.8,
    fields: Sequence[str] = (),
    all_pairs: bool = False,
    paired_runs: bool = False,
    train: Input | None = None,
    second_gold: Input | None = None,
    units: Sequence[object] | None = None,
    rng: RNG | None = 0,
    examples: bool = True,
    figures: bool = False,
    buckets: bool = False,
    fingerprints: bool = False,
    report: Callable[[int, int], None] | None = None,
    **reading: Unpack[GradedKeywords],
) -> Comparisons:
    """Compare the outputs of two or more systems on one test set, and give a verdict.

    Parameters
    ----------
    gold, a, b, more
        Gold, the baseline, the challenger and any others, in any form that `score` takes; or one
        dictionary of the systems by name, the baseline first. Without systems, `gold` is a file
        or a data frame that holds them in its columns. A system may be a list of outputs, one per
        run: then both these models and the procedures that made them are compared. Or `gold` alone
        is a dictionary by the names of the systems: of `Counts` with one row per unit; of lists of
        these, one per run; of logs of evaluations, or lists of them.
    names
        The names of the systems; by default those of their files.
    metric
        One or several of precision, recall, f1, fbeta, jaccard, accuracy, specificity, npv,
        balanced_accuracy, mcc, kappa, informedness, markedness and fowlkes_mallows. By default f1;
        recall for word segmentation; accuracy for labels of several classes, of which micro
        precision, recall and F1 are other names.
    average
        "micro" pools all labels. "macro" takes the mean over the gold labels, or over `labels`;
        its tests are sampled and its intervals approximate.
    by
        The units to exchange and resample: sentence, document, unit or item. By default sentences
        for sequences, the units of a table that has them, else single items.
    level
        The level of the intervals.
    rope
        Half the width of the region of practical equivalence, a fraction of 1.
    beta, prior
        The weight of recall in F-beta; the prior weight of a cell.
    power
        The power of the test that the number of units needed is computed for.
    fields
        Paths of records that are also compared one by one, and that gates judge, too.
    all_pairs
        Compare every pair, instead of each system with the first.
    paired_runs
        Whether run i of every system belongs to run i of the others, because they share a seed or
        a split of the data.
    train
        The training data of the systems, of the same task: buckets then distinguish items seen in
        training from others, and labels by their frequency there.
    second_gold
        A second annotation of the same texts by another person. It is scored against gold, and
        every system is compared with it.
    units
        With `scores`: the unit of every item, such as its document.
    rng
        A seed or generator for sampled tests: those of macro averages, and exact tests that would
        not fit into memory.
    examples
        Whether to look for sentences on which the systems differ and labels that they confuse,
        which only the HTML page shows.
    figures
        Whether to keep the null distribution of every test, for its figure: it comes from the
        same exchanges as the p-value, and takes longer.
    buckets
        Whether to score items of different kinds separately: by their length, the length of their
        sentence, the frequency of their label, and whether they were seen in training. `train`
        turns this on, too.
    fingerprints
        Whether to keep the fingerprints of this test set and these outputs, which a gate with a
        ledger needs.
    report
        Called with the number of finished comparisons and their total.
    **reading
        Options of reading and matching: see `probative.options.ReadingOptions`.

    Returns
    -------
    Comparisons
        Scores with intervals, one `Comparison` per pair and metric, and one verdict per pair.

    Examples
    --------
    >>> import probative as pv
    >>> gold = [["B-PER", "I-PER", "O"], ["O", "B-LOC", "O"]] * 40
    >>> old = [["B-PER", "O", "O"], ["O", "B-LOC", "O"]] * 25 + gold[:30]
    >>> new = [["B-PER", "I-PER", "O"], ["O", "B-ORG", "O"]] * 5 + gold[:70]
    >>> result = pv.compare(gold, old, new, names=["old", "new"])
    >>> print(result.verdicts[0])  # doctest: +ELLIPSIS
    new scores 25.0 points higher than old (F1 93.8 against 68.8; 95 % interval of the ...
    """
    options = CompareOptions.of_call(
        locals() | {"fields": names_of("fields", fields)},
        beside=("names", "examples", "figures", "buckets", "fingerprints", "report"),
    )
    check_report(report)
    given = [system for system in (a, b, *more) if system is not None]
    if not given and isinstance(gold, Mapping) and not are_files(gold):
        if fingerprints:
            raise InputError("fingerprints: counts identify no test set; expected gold and outputs")
        return compare_counts(gold, options, figures=figures)
    refuse_repeats((gold, *given, options.train_words, train))
    systems, names = by_name(given, names, gold)
    matched, second = match_systems(gold, systems, names, options)
    if not matched.runs:
        matched = replace(matched, notes=(*matched.notes, *hints_of_files(systems)))
    compared = compare_matched(
        matched, options, examples=examples, figures=figures, buckets=buckets, report=report
    )
    compared = with_scores(compared, ceilings=ceilings_of(second, options))
    if not fingerprints:
        return compared
    from probative.matching.fingerprints import fingerprints_of

    found = fingerprints_of(matched, compared.unit, compared.units)
    return replace(compared, fingerprints=found)


@on_own_scale
def compare_matched(
    matched: Matched,
    options: CompareOptions,
    *,
    examples: bool = True,
    figures: bool = False,
    buckets: bool = False,
    known: Mapping[int, SystemScores] | None = None,
    report: Callable[[int, int], None] | None = None,
) -> Comparisons:
    """Compare the matched systems; `known` are scores of the same choices, by place of a system."""
    if options.paired_runs and not matched.runs:
        raise InputError("paired_runs: there are no runs; expected several of each system")
    if matched.items.is_condensed and options.train is not None:
        raise InputError("train: needs the rows of the table, which is too large; expected none")
    one_of("average", options.average, AVERAGES)
    if options.average != "micro" and options.prior != CompareOptions.prior:
        raise InputError("prior: does not apply to averages; leave it out")
    systems = systems_of(matched)
    pairs, several = pairs_of(systems, options), several_runs(matched)
    if matched.runs and not several:
        how: Any = {"examples": examples, "figures": figures, "buckets": buckets}
        alone = compare_matched(unpooled(matched), options, known=known, report=report, **how)
        notes = (*alone.notes, ONE_RUN, *hints_of_runs(matched))
        return replace(
            with_scores(alone, notes=notes),
            comparisons=tuple(
                replace(c, question="models", runs={c.a: 1, c.b: 1}) for c in alone.comparisons
            ),
            verdicts=tuple(f"{words} {_ONE_RUN_EACH}" for words in alone.verdicts),
        )
    metrics = compared_metrics(matched, options.metric, options.average, tables=True)
    unit = unit_of(matched, options.by)
    choices = Choices.of(options, unit, figures=figures)
    groups = [] if options.group is None else list(part_by_group(matched, options))
    places = [(a.places[0], b.places[0]) for a, b in pairs]
    from_matching: dict[str, Any] = {}
    if examples and not several:
        from_matching = {
            "examples": examples_of(matched, places),
            "confusions": confusions_of(matched),
            "changes": changes_of(matched, places),
        }
    if (buckets or options.train is not None) and not matched.items.is_condensed:
        from_matching["buckets"] = _buckets(matched, metrics[0], pairs, choices, options)
    distinct = {group.content for group in groups}
    done, total = count(), len(pairs) * len(metrics) * (1 + len(distinct))

    def compare_in(part: Matched, metric: str, how: Choices) -> Iterator[Comparison]:
        """Compare all pairs in one metric; with several runs a pair has two comparisons."""
        score = score_in(
            part, metric, unit, average=options.average, beta=options.beta, prior=options.prior
        )
        alone = compare_pairs(score, places, part.names, how)
        for a, b in pairs:
            if report is not None:
                report(next(done), total)
            facts = _facts(part, a.places, b.places, score, how)
            if several:  # numbers of runs that differ are refused there
                runs = tuple(zip(a.runs, b.runs, strict=False)) if options.paired_runs else None
                yield from answers_on(score, a, b, options, how, **facts, pairs=runs)
            else:
                yield without_claims(replace(next(alone), **facts))

    comparisons = [c for metric in metrics for c in compare_in(matched, metric, choices)]
    also = [c.metric for c in comparisons]
    usual = ScoreOptions(level=choices.level, by=options.by if several else unit, beta=options.beta)
    scores = scores_of(matched, usual, also=also, known=known)
    hints = hints_of_runs(matched)
    if not several and len(systems) > _MOST_SYSTEMS_WITHOUT_A_HINT:
        hints.append(_HINT_TO_RANK.format(len(systems)))
    scores = replace(scores, notes=(*scores.notes, *hints))
    runs = [signed_runs(matched.runs)] if several else []
    signed = (*facts_of_reading(matched, options), *runs)
    others = () if several else _other_metrics(matched, metrics[0], pairs, choices, options)
    result = result_of(scores, comparisons, pairs, signed, options, others or None)
    result = replace(result, **from_matching)

    def judge(name: str, rows: int, units: int, part: Matched) -> Group:
        """Compare the systems in one group, from the same seed as in every other."""
        generator = random_generator(options.rng)
        how = replace(choices, generator=generator, in_group=True, figures=False)
        scored = scores_in(part, also, replace(usual, by=unit))
        found = tuple(c for metric in metrics for c in compare_in(part, metric, how))
        return Group(name, rows, units, scored, found)

    def judge_field(path: str) -> Group:
        part = _of_field(matched, path, options)
        items = part.items
        return judge(path, items.positives, len(np.unique(items.unit[items.answer])), part)

    if options.fields:
        result = replace(result, fields=_adjust_groups(list(map(judge_field, options.fields))))
    if options.group is None:
        return result
    parts = judge_groups(groups, lambda g: judge(g.name, g.rows, g.units(unit), g.matched))
    return _with_groups(result, parts, matched, options)


# metrics whose differences are shown beside that of the compared one
_BESIDE = {"f1": ("precision", "recall"), "recall": ("precision", "f1")}


def _other_metrics(
    matched: Matched, metric: str, pairs: Sequence[Pair], choices: Choices, options: CompareOptions
) -> tuple[BucketDifference, ...]:
    """Return the differences in metrics beside the default one, and in the mean of documents."""
    scores: list[Score] = []
    if options.metric is None and options.average == "micro":
        scores += (
            score_in(matched, other, choices.unit, beta=options.beta, prior=options.prior)
            for other in _BESIDE.get(metric, ())
        )
    if matched.records is not None:
        # it may order systems otherwise than the F1 of all fields
        scores.append(document_f1(matched, range(len(matched.names))))
    place = {system: system.places[0] for pair in pairs for system in pair}
    return tuple(_difference(score, a, b, place, choices) for score in scores for a, b in pairs)


def _of_field(matched: Matched, path: str, options: CompareOptions) -> Matched:
    """Return one field of records alone."""
    if matched.task != "records" or options.average == "macro":
        raise InputError("fields: has no effect here; expected records, and average='micro'")
    items = matched.items
    if path not in items.labels:
        raise InputError(
            f"fields: no record has {path!r}; expected some of {', '.join(items.labels[:20])}"
            + suggestion(path, items.labels)
        )
    own = items.only([path])
    return replace(matched, items=own, averaged=averaged_labels(own, None), records=None)
