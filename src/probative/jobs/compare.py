"""Compare systems: read, match, count, test, and give a verdict."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from functools import partial
from itertools import combinations, count, pairwise
from typing import TYPE_CHECKING, Any, NamedTuple, Unpack

import numpy as np

from probative._validation import fraction, one_of, open_probability, random_generator, shown
from probative.counts import PairedCounts
from probative.errors import InputError
from probative.inference.classes import (
    confusion_difference,
    confusion_plan,
    confusion_posterior,
    confusion_tests,
    confusion_unit_pvalue,
)
from probative.inference.differences import difference, student_pvalue, unit_test
from probative.inference.exchange import randomization_test
from probative.inference.groups import adjust_pvalues
from probative.inference.macro import degrees_of_freedom, macro_evidence, moves_of_units
from probative.inference.macro_comparison import macro_difference, macro_tests
from probative.inference.planning import plan
from probative.inference.posterior.clustered import posterior_of_difference
from probative.inference.sampled import levels_at
from probative.inference.units import jackknife_covariance, variance_of_difference
from probative.jobs.groups import with_groups
from probative.jobs.runs import (
    compare_counts,
    compare_groups,
    hints_of_files,
    with_one_run,
    without_claims,
)
from probative.jobs.score import (
    AVERAGES,
    by_name,
    ceilings_of,
    cells_of,
    compared_metrics,
    confused_items,
    facts_of_reading,
    find_buckets,
    intervals_of,
    is_of_classes,
    make_bucket,
    match_beside,
    match_of,
    over_answered,
    scored_as,
    scores_in,
    scores_of,
    unit_of,
)
from probative.matching.fingerprints import fingerprints_of
from probative.matching.groups import (
    crossing_units,
    label_confusions,
    part_by_group,
    span_confusions,
)
from probative.matching.items import cases_by, cases_of_pair
from probative.matching.matched import unpooled
from probative.metrics import label_metric
from probative.options import CompareOptions, ScoreOptions
from probative.reading.annotations import LabelSets
from probative.reading.runs import are_files
from probative.reading.source import refuse_repeats
from probative.results import Comparison, Comparisons, Example, Group, LabelDifference, LabelExample
from probative.wording.verdict import verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from probative._validation import RNG, Input, Systems
    from probative.counts import Counts, LabelCounts
    from probative.inference.classes import ConfusedItems
    from probative.inference.macro import MacroEvidence
    from probative.inference.macro_comparison import MacroDifferencePosterior
    from probative.inference.posterior.clustered import ClusteredPosterior
    from probative.inference.posterior.student import StudentPosterior
    from probative.matching.matched import Matched
    from probative.options import ReadingKeywords
    from probative.results import Bucket, Difference, RandomizationTest, SystemScores


# --- Pairs of systems on items of one kind


def _metric_of_buckets(matched: Matched, metrics: Sequence[str]) -> str:
    """Return the metric of the buckets: a bucket has no confusion table."""
    return "accuracy" if is_of_classes(matched, metrics[0]) else metrics[0]


def _bucket_of_pairs(
    part: Matched,
    metric: str,
    kind: str,
    name: str,
    *,
    pairs: Sequence[tuple[int, int]],
    choices: PairChoices,
) -> Bucket:
    """Return the bucket of items of one kind, with scores and differences of pairs."""
    scored, level, beta = scored_as(part, metric), choices.level, choices.beta
    usual = ScoreOptions(metric=metric, by=choices.unit, level=level, beta=beta)
    scores = zip(part.names, intervals_of(part, usual), strict=True)
    differences = []
    for i, j in pairs:
        cases = cases_of_pair(part, i, j, choices.unit).grouped()
        gap = difference(cases, scored, level=level, beta=beta)
        differences.append((part.names[i], part.names[j], gap))
    return make_bucket(part, kind, name, choices.unit, scores, differences, metric)


# --- One pair of systems in one score of the pooled items


@dataclass(frozen=True)
class PairChoices:
    """Choices shared by all pairs of a comparison.

    `in_group` adds the standard errors that groups are weighted by, and omits scores by label.
    """

    unit: str
    level: float
    rope: float
    beta: float
    prior: float
    power: float
    generator: np.random.Generator
    figures: bool
    in_group: bool = False

    @classmethod
    def of(cls, options: CompareOptions, unit: str, *, figures: bool = False) -> PairChoices:
        """Return the validated choices of a comparison by these units."""
        return cls(
            unit,
            open_probability("level", options.level),
            fraction("rope", options.rope),
            options.beta,
            options.prior,
            open_probability("power", options.power),
            random_generator(options.rng),
            figures,
        )


def _compare_pooled(
    matched: Matched, i: int, j: int, metric: str, choices: PairChoices
) -> Comparison:
    """Compare one pair in one score of the pooled items."""
    paired = cases_of_pair(matched, i, j, choices.unit)
    names = matched.names[i], matched.names[j]
    known = compare_cases(paired, names, metric, choices, scored=scored_as(matched, metric))
    by_label = (
        ()
        if choices.in_group
        else _differences_by_label(matched, i, j, label_metric(metric), choices)
    )
    return replace(known, **_facts_of_pair(matched, i, j), by_label=by_label)


def compare_cases(
    paired: PairedCounts,
    names: tuple[str, str],
    metric: str,
    choices: PairChoices,
    *,
    scored: str | None = None,
) -> Comparison:
    """Compare one pair from its cases alone: one row per unit, or one table of single items.

    `scored` is the metric to compute if it has another name on these cases: over all classes of
    single-label data, accuracy is recall.
    """
    paired = paired.grouped()
    scored, level, beta = scored or metric, choices.level, choices.beta
    gap = difference(paired, scored, level=level, beta=beta, prior=choices.prior)
    test = randomization_test(
        paired,
        scored,
        by="unit" if paired.has_units else "item",
        beta=beta,
        rng=choices.generator,
        null=choices.figures,
    )
    posterior = posterior_of_difference(paired, scored, prior=choices.prior, beta=beta)
    needed = plan(paired, scored, power=choices.power, level=level, beta=beta)
    total = paired.total()
    table = total.cases
    by_unit = unit_test(paired, scored, beta=beta)
    why = by_unit.why(total, test.pvalue, names, choices.unit)
    return Comparison(
        **_numbers_of(choices, gap, test, posterior),
        p_unit=by_unit.pvalue,
        a=names[0],
        b=names[1],
        metric=metric,
        design_effect=gap.design_effect,
        units_needed=needed.units,
        observed_units=needed.observed_units,
        positives=int(table[::2].sum()),
        identical=not table[:4].any(),
        note="; ".join(note for note in (gap.note, test.note, why) if note) or None,
        **(_standard_error(paired, scored, beta) if choices.in_group else {}),
    )


def _standard_error(paired: PairedCounts, scored: str, beta: float) -> dict[str, Any]:
    variance, freedom = variance_of_difference(paired, scored, beta=beta)
    return {"standard_error": math.sqrt(variance), "degrees_of_freedom": freedom}


def _numbers_of_pair(
    matched: Matched,
    i: int,
    j: int,
    choices: PairChoices,
    *,
    gap: Difference,
    test: RandomizationTest,
    posterior: ClusteredPosterior | MacroDifferencePosterior | StudentPosterior,
) -> dict[str, Any]:
    """Return the fields of a comparison that every average shares."""
    return {
        **_numbers_of(choices, gap, test, posterior),
        "a": matched.names[i],
        "b": matched.names[j],
        **_facts_of_pair(matched, i, j),
    }


def _facts_of_pair(matched: Matched, i: int, j: int) -> dict[str, Any]:
    """Return the fields of a comparison that need no statistics."""
    return {
        "match": match_of(matched),
        "positives": matched.items.positives,
        "identical": matched.gave_the_same(i, j),
    }


def _numbers_of(
    choices: PairChoices,
    gap: Difference,
    test: RandomizationTest,
    posterior: ClusteredPosterior | MacroDifferencePosterior | StudentPosterior,
) -> dict[str, Any]:
    """Return the fields that come from the interval, the test and the posterior."""
    a_better, equivalent, b_better = posterior.probabilities(choices.rope)
    return {
        "by": choices.unit,
        "rope": choices.rope,
        "level": choices.level,
        "power": choices.power,
        "difference": gap.estimate,
        "low": gap.low,
        "high": gap.high,
        "method": gap.method,
        "pvalue": test.pvalue,
        "p_adjusted": None,
        "test": test.method,
        "draws": test.n_resamples,
        "pvalue_low": test.pvalue_low,
        "pvalue_high": test.pvalue_high,
        "null": test.null,
        "p_a_better": a_better,
        "p_equivalent": equivalent,
        "p_b_better": b_better,
        "posterior": posterior,
        "score_a": gap.a,
        "score_b": gap.b,
    }


def _differences_by_label(
    matched: Matched, i: int, j: int, metric: str, choices: PairChoices
) -> tuple[LabelDifference, ...]:
    """Return the differences on every label that gold or one of the two uses."""
    items = matched.items
    used = items.uses(i) | items.uses(j)  # labels that only a third system uses are left out
    if np.count_nonzero(used) < 2:
        return ()
    tables: Iterable[PairedCounts]
    if choices.unit == "item":
        cells = items.paired(i, j, by="label")
        tables = map(PairedCounts, cells.cases if cells.has_negatives else cells.cases[:, :7])
    else:
        tables = (cases_by(alone, i, j, choices.unit).grouped() for alone in items.by_label)
    differences = []
    for label, paired, use in zip(items.labels, tables, used.tolist(), strict=True):
        if not use:
            continue
        gap = difference(paired, metric, level=choices.level, beta=choices.beta)
        differences.append(LabelDifference(label, gap.a, gap.b, gap.estimate, gap.low, gap.high))
    return tuple(differences)


# --- Pairs of systems in means over labels: the tests of all pairs are drawn together


class _MacroSide(NamedTuple):
    """Counts and evidence of one system that all its pairs share."""

    cells: LabelCounts
    evidence: MacroEvidence


def _macro_sides(
    matched: Matched, pairs: Sequence[tuple[int, int]], metric: str, choices: PairChoices
) -> dict[int, _MacroSide]:
    """Return the counts and evidence of each system of the pairs, by its position."""
    by = cells_of(matched, choices.unit)
    sides = {}
    for k in sorted({k for pair in pairs for k in pair}):
        cells = matched.items.by_unit_and_label(k, by=by)
        evidence = macro_evidence(cells.only(matched.averaged[k]), metric, beta=choices.beta)
        sides[k] = _MacroSide(cells, evidence)
    return sides


def _tests_of_sides(
    matched: Matched,
    pairs: Sequence[tuple[int, int]],
    metric: str,
    choices: PairChoices,
    sides: Mapping[int, _MacroSide],
) -> dict[tuple[int, int], RandomizationTest]:
    """Test all pairs together: the number of exchanges of one depends on the others."""
    tests = macro_tests(
        [(sides[i].cells, sides[j].cells) for i, j in pairs],
        metric,
        by=choices.unit,
        levels=levels_at(choices.level),
        rng=choices.generator,
        beta=choices.beta,
        labels=matched.items.uses() if matched.own_labels else matched.averaged[0],
        own_labels=matched.own_labels,
        null=choices.figures,
        n_jobs=-1,
    )
    return dict(zip(pairs, tests, strict=True))


def _compare_macro(
    matched: Matched,
    i: int,
    j: int,
    metric: str,
    choices: PairChoices,
    *,
    sides: Mapping[int, _MacroSide],
    tests: Mapping[tuple[int, int], RandomizationTest],
) -> Comparison:
    """Compare one pair in the mean over labels; interval and posterior are approximate."""
    (a, of_a), (b, of_b) = sides[i], sides[j]
    gap, posterior = macro_difference(
        a,
        b,
        metric,
        level=choices.level,
        beta=choices.beta,
        labels=(matched.averaged[i], matched.averaged[j]),
        known=(of_a, of_b),
    )
    test = tests[i, j]
    how = (
        f"macro average: the test is sampled ({test.note}), interval and posterior are "
        f"approximations"
    )
    return Comparison(
        **_numbers_of_pair(matched, i, j, choices, gap=gap, test=test, posterior=posterior),
        p_unit=_unit_pvalue(gap, (a, b), (matched.averaged[i], matched.averaged[j]), choices.beta),
        metric=gap.metric,
        design_effect=None,
        observed_units=int(a.repeats.sum()),
        by_label=_differences_by_label(matched, i, j, metric, choices),
        note="; ".join(note for note in (how, gap.note) if note),
    )


def _unit_pvalue(
    gap: Difference,
    cells: tuple[LabelCounts, LabelCounts],
    labels: tuple[NDArray[np.bool_], NDArray[np.bool_]],
    beta: float,
) -> float:
    """Return Student's p-value of a difference of two means over labels, by unit."""
    metric = gap.metric.removeprefix("macro_")
    moves = [moves_of_units(c, m, metric, beta) for c, m in zip(cells, labels, strict=True)]
    number, busy = cells[0].repeats, (moves[0] != 0) | (moves[1] != 0)
    variance = jackknife_covariance((moves[1] - moves[0])[None, busy], number[busy])[0, 0]
    freedom = degrees_of_freedom(*(c.only(m) for c, m in zip(cells, labels, strict=True)))
    return float(student_pvalue(gap.estimate, np.sqrt(variance), freedom))


# --- Pairs of systems in a score of the whole confusion table

if TYPE_CHECKING:
    Items = Mapping[int, ConfusedItems]
    Tests = Mapping[tuple[int, int], RandomizationTest]


def _judge_of_classes(
    matched: Matched, pairs: Sequence[tuple[int, int]], metric: str, choices: PairChoices
) -> Callable[[Matched, int, int, str, PairChoices], Comparison]:
    """Return the function that compares two of the systems in a score of all classes.

    The tests of all pairs are drawn together, before the first call.
    """
    items = {
        k: confused_items(matched, k, choices.unit) for k in sorted({k for p in pairs for k in p})
    }
    if metric == "balanced_accuracy":  # the mean recall of the classes
        answered = over_answered(matched)
        sides = _macro_sides(answered, pairs, "recall", choices)
        tests = _tests_of_sides(answered, pairs, "recall", choices, sides)
        return partial(_compare_recalls, items=items, sides=sides, tests=tests)
    found = confusion_tests(
        [(items[i], items[j]) for i, j in pairs],
        metric,
        level=choices.level,
        rng=choices.generator,
        n_jobs=-1,
    )
    return partial(_compare_tables, items=items, tests=dict(zip(pairs, found, strict=True)))


def _compare_recalls(
    matched: Matched,
    i: int,
    j: int,
    metric: str,
    choices: PairChoices,
    *,
    items: Items,
    sides: Mapping[int, _MacroSide],
    tests: Tests,
) -> Comparison:
    mean = _compare_macro(over_answered(matched), i, j, "recall", choices, sides=sides, tests=tests)
    return replace(mean, metric=metric, units_needed=_needed(items[i], items[j], metric, choices))


def _compare_tables(
    matched: Matched,
    i: int,
    j: int,
    metric: str,
    choices: PairChoices,
    *,
    items: Items,
    tests: Tests,
) -> Comparison:
    a, b, test = items[i], items[j], tests[i, j]
    gap = confusion_difference(a, b, metric, level=choices.level)
    posterior = confusion_posterior(a, b, metric)
    how = (
        f"score of the whole confusion table: the test is sampled ({test.note}), the posterior "
        f"approximate"
    )
    return Comparison(
        **_numbers_of_pair(matched, i, j, choices, gap=gap, test=test, posterior=posterior),
        p_unit=confusion_unit_pvalue(a, b, metric),
        metric=metric,
        design_effect=gap.design_effect,
        units_needed=_needed(a, b, metric, choices),
        observed_units=test.n_units,
        by_label=_differences_by_label(matched, i, j, label_metric(metric), choices),
        note="; ".join(note for note in (how, gap.note) if note),
    )


def _needed(a: ConfusedItems, b: ConfusedItems, metric: str, choices: PairChoices) -> int | None:
    return confusion_plan(a, b, metric, power=choices.power, level=choices.level).units


# --- Examples: the sentences on which systems differ, and the labels that they confuse

_PAIRS_WITH_EXAMPLES, _EXAMPLES_OF_A_PAIR = 3, 8
_MOST_TOKENS_SHOWN = 300  # of a sentence
_TOKENS_BEFORE_DISPUTE = 30  # shown of a longer sentence
_LONGEST_TOKEN = 200  # shown, in characters
_LONGEST_TEXT = 1000  # shown, in characters


def examples_of(
    matched: Matched, pairs: Sequence[tuple[int, int]]
) -> tuple[Example | LabelExample, ...]:
    """Return sentences on which the first pairs of systems differ most, the largest gap first.

    For labels, return texts on which only one of the two is right, if the table has texts.
    """
    if not matched.systems:
        return ()  # counts alone have no text
    if matched.task in ("labels", "samples"):
        return _label_examples(matched, pairs)
    examples: list[Example] = []
    for i, j in pairs[:_PAIRS_WITH_EXAMPLES]:
        paired = matched.items.paired(i, j, by="sentence")
        errors = [np.asarray(c.fp + c.fn).astype(int) for c in (paired.a, paired.b)]
        gap = np.abs(errors[0] - errors[1])
        # among equal gaps, sentences with more disputed spans come first
        order = np.lexsort((-paired.cases[:, :4].sum(axis=1), -gap))
        examples += [
            _example(matched, i, j, sentence, errors)
            for sentence in order[:_EXAMPLES_OF_A_PAIR].tolist()
            if gap[sentence]
        ]
    return tuple(examples)


def _label_examples(matched: Matched, pairs: Sequence[tuple[int, int]]) -> tuple[LabelExample, ...]:
    """Return texts that only one system of a pair has right, at most half of them for each."""
    texts = matched.gold.texts() if matched.gold.texts is not None else ()
    if not len(texts):
        return ()
    everyone = (matched.gold, *matched.systems)
    gold, *given = (_labels_of(side) for side in everyone)
    examples = []
    for i, j in pairs[:_PAIRS_WITH_EXAMPLES]:
        right = [given[k] == gold for k in (i, j)]
        chosen = [
            np.flatnonzero(right[k] & ~right[1 - k])[: _EXAMPLES_OF_A_PAIR // 2] for k in (0, 1)
        ]
        examples += [
            LabelExample(
                matched.names[i],
                matched.names[j],
                k + 1,
                texts[k] if len(texts[k]) <= _LONGEST_TEXT else texts[k][:_LONGEST_TEXT] + "…",
                gold[k],
                given[i][k],
                given[j][k],
            )
            for k in np.concatenate(chosen).tolist()
        ]
    return tuple(examples)


def _labels_of(side: Any) -> Any:
    """Return the label of every item; several labels are joined in one line."""
    names = np.array(side.names, dtype=object)
    if not isinstance(side, LabelSets):
        return names[side.codes]
    ends = np.searchsorted(side.item, np.arange(len(side) + 1)).tolist()
    joined = [", ".join(names[side.codes[i:j]]) for i, j in pairwise(ends)]
    return np.array(joined, dtype=object)


def _example(matched: Matched, i: int, j: int, sentence: int, errors: Any) -> Example:
    sides = (matched.gold, matched.systems[i], matched.systems[j])
    if matched.task == "segmentation":
        sides = tuple(side.spans() for side in sides)
    gold, a, b = (tuple(side.of(sentence)) for side in sides)
    words = sides[0].text.words(sentence)
    last = max((end for _, end, _ in (*gold, *a, *b)), default=0)
    start = _window(gold, a, b, max(len(words), last))  # lists of tags have no words
    if matched.task == "segmentation" or sum(map(len, words)) == len(words) > 1:
        separator = ""  # characters, not words
    else:
        separator = " "
    return Example(
        matched.names[i],
        matched.names[j],
        sentence + 1,
        _shown_words(words, start),
        separator,
        _shown_spans(gold, start),
        _shown_spans(a, start),
        _shown_spans(b, start),
        int(errors[0][sentence]),
        int(errors[1][sentence]),
    )


def _window(gold: Sequence[Any], a: Sequence[Any], b: Sequence[Any], length: int) -> int:
    """Return the first token to show, some tokens before the first disputed span."""
    if length <= _MOST_TOKENS_SHOWN:
        return 0
    right = set(gold)
    disputed = (set(a) & right) ^ (set(b) & right) or set(a) ^ set(b)
    first = min((start for start, _, _ in disputed), default=0)
    return max(0, min(first - _TOKENS_BEFORE_DISPUTE, length - _MOST_TOKENS_SHOWN))


def _shown_words(words: Sequence[str], start: int) -> tuple[str, ...]:
    """Shorten a sentence and its words, with an ellipsis for each omitted part."""
    shown = [
        word if len(word) <= _LONGEST_TOKEN else word[:_LONGEST_TOKEN] + "…"
        for word in words[start : start + _MOST_TOKENS_SHOWN]
    ]
    if start and shown:
        shown[0] = f"… {shown[0]}"
    return (*shown, "…") if len(words) > start + _MOST_TOKENS_SHOWN else tuple(shown)


def _shown_spans(spans: Sequence[Any], start: int) -> tuple[tuple[int, int, str], ...]:
    """Return the spans of the shown tokens, counted from the first shown token."""
    return tuple(
        (first - start, end - start, label)
        for first, end, label in spans
        if first < start + _MOST_TOKENS_SHOWN and end > start
    )


def _confusions_of(matched: Matched) -> tuple[Any, ...]:
    """Return for each system the pairs of labels that it confuses."""
    if matched.task in ("segmentation", "samples"):
        return ()
    if isinstance(matched.gold, LabelSets):
        return ()  # in sets, it is unknown which label was given instead of which
    find: Any = label_confusions if matched.task == "labels" else span_confusions
    return tuple(find(matched.gold, system) for system in matched.systems)


# --- From inputs to a verdict

_MOST_SYSTEMS_WITHOUT_A_HINT = 3  # with more systems, a note recommends `rank`
_HINT_TO_RANK = "{} systems: rank orders them all, with ties and the probability of being best"


def compare(
    gold: Input | Mapping[str, Counts | Sequence[Counts] | Input],
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
    all_pairs: bool = False,
    paired_runs: bool = False,
    train: Input | None = None,
    second_gold: Input | None = None,
    rng: RNG | None = 0,
    examples: bool = True,
    figures: bool = False,
    buckets: bool = False,
    fingerprints: bool = False,
    report: Callable[[int, int], None] | None = None,
    **reading: Unpack[ReadingKeywords],
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
        Options of reading and matching, as for `score`.

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
    options = CompareOptions.of(
        {
            "metric": metric,
            "average": average,
            "by": by,
            "level": level,
            "rope": rope,
            "beta": beta,
            "prior": prior,
            "power": power,
            "all_pairs": all_pairs,
            "paired_runs": paired_runs,
            "train": train,
            "second_gold": second_gold,
            "rng": rng,
            **reading,
        },
        beside=("names", "examples", "figures", "buckets", "fingerprints", "report"),
    )
    if report is not None and not callable(report):
        raise InputError(f"report: {shown(report)}; expected a function of two numbers")
    given = [system for system in (a, b, *more) if system is not None]
    if not given and isinstance(gold, Mapping) and not are_files(gold):
        if fingerprints:
            raise InputError("fingerprints: counts tell no test set; expected the answer, outputs")
        return compare_counts(gold, options, figures=figures)
    refuse_repeats((gold, *given, options.train_words, train))
    systems, names = by_name(given, names)
    # a mean over the classes needs both classes of a yes-or-no question
    looking = average != "macro"
    matched, second = match_beside(gold, systems, names, options, find_positive=looking)
    if not matched.runs:
        matched = replace(matched, notes=(*matched.notes, *hints_of_files(systems)))
    compared = compare_matched(
        matched, options, examples=examples, figures=figures, buckets=buckets, report=report
    )
    found = fingerprints_of(matched, compared.unit, compared.units) if fingerprints else None
    return replace(compared, ceilings=ceilings_of(second, options), fingerprints=found)


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
    """Compare the matched systems; the keywords are those of `compare`.

    `known` holds scores already computed with the same choices, by the position of the system.
    """
    if options.paired_runs and not matched.runs:
        raise InputError("paired_runs: there are no runs; expected several of each system")
    if matched.items.is_condensed and options.train is not None:
        raise InputError("train: needs the rows of the table, which is too large; expected none")
    if matched.runs:
        return _compare_runs(matched, options, examples=examples, figures=figures, buckets=buckets)
    level, beta, average = open_probability("level", options.level), options.beta, options.average
    one_of("average", average, AVERAGES)
    if average == "macro" and options.prior != CompareOptions.prior:
        raise InputError("prior: means nothing to macro averages, which learn theirs from labels")
    if len(matched.names) < 2:
        raise InputError(f"b: {len(matched.names)} system; expected at least two to compare")
    metrics = compared_metrics(matched, options.metric, average, tables=True)
    choices = PairChoices.of(options, unit_of(matched, options.by), figures=figures)

    last = len(matched.names)
    pairs = (
        list(combinations(range(last), 2))
        if options.all_pairs
        else [(0, j) for j in range(1, last)]
    )
    comparisons: list[Comparison] = []
    groups = [] if options.group is None else list(part_by_group(matched, options))
    done, total = count(), len(pairs) * len(metrics) * (1 + len(groups))

    def compare_pairs(part: Matched, name: str, how: PairChoices) -> Iterator[Comparison]:
        judge: Callable[..., Comparison] = _compare_pooled
        if is_of_classes(part, name):
            judge = _judge_of_classes(part, pairs, name, how)
        elif average == "macro":
            sides = _macro_sides(part, pairs, name, how)
            tests = _tests_of_sides(part, pairs, name, how, sides)
            judge = partial(_compare_macro, sides=sides, tests=tests)
        for i, j in pairs:
            if report is not None:
                report(next(done), total)
            yield without_claims(judge(part, i, j, name, how))

    for name in metrics:
        of_metric = list(compare_pairs(matched, name, choices))
        if last > 2:
            adjusted = adjust_pvalues([c.p_decision for c in of_metric]).tolist()
            of_metric = [replace(c, p_adjusted=p) for c, p in zip(of_metric, adjusted, strict=True)]
        comparisons += of_metric
    also = [c.metric for c in comparisons]
    usual = ScoreOptions(level=level, by=choices.unit, beta=beta)
    scores = replace(
        scores_of(matched, usual, also=also, known=known),
        signature=_signature(matched, options, comparisons),
    )
    if last > _MOST_SYSTEMS_WITHOUT_A_HINT:
        scores = replace(scores, notes=(*scores.notes, _HINT_TO_RANK.format(last)))
    result = Comparisons(
        **{field.name: getattr(scores, field.name) for field in fields(scores)},
        comparisons=tuple(comparisons),
        verdicts=tuple(verdict(c) for c in comparisons[: len(pairs)]),
        examples=examples_of(matched, pairs) if examples else (),
        confusions=_confusions_of(matched) if examples else (),
        buckets=(
            find_buckets(
                matched,
                _metric_of_buckets(matched, metrics),
                options,
                partial(_bucket_of_pairs, pairs=pairs, choices=choices),
            )
            if (buckets or options.train is not None) and not matched.items.is_condensed
            else None
        ),
    )
    if options.group is None:
        return result
    # each group starts from the same seed, so that its result does not depend on the others
    ways = (
        replace(choices, generator=random_generator(options.rng), in_group=True) for _ in groups
    )
    parts = [
        Group(
            group.name,
            group.rows,
            group.units(choices.unit),
            scores_in(group.matched, also, usual),
            tuple(
                comparison
                for name in metrics
                for comparison in compare_pairs(group.matched, name, replace(how, figures=False))
            ),
        )
        for group, how in zip(groups, ways, strict=True)
    ]
    crossing = crossing_units(matched)
    return with_groups(result, parts, str(options.group), beta=beta, crossing=crossing)


def _compare_runs(
    matched: Matched, options: CompareOptions, *, examples: bool, figures: bool, buckets: bool
) -> Comparisons:
    """Compare systems that were given as runs."""
    groups = matched.runs
    if len(groups) < 2:
        raise InputError(f"b: {len(groups)} system; expected at least two to compare")
    if options.group is not None:
        raise InputError("group: means nothing for several runs; expected one output per system")
    if any(len(group.places) > 1 for group in groups):
        return compare_groups(matched, options, figures=figures, buckets=buckets)
    return with_one_run(
        matched,
        compare_matched(
            unpooled(matched), options, examples=examples, figures=figures, buckets=buckets
        ),
    )


def _signature(matched: Matched, options: CompareOptions, comparisons: Sequence[Comparison]) -> str:
    first = comparisons[0]
    return options.signature(
        *facts_of_reading(matched, options),
        ",".join(dict.fromkeys(c.metric for c in comparisons)),
        first.method,
        f"{first.test}-by-{first.by}",
        f"{first.posterior.kind}-posterior",
    )
