"""From inputs to a verdict: read, match, count, test, judge."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from functools import partial
from itertools import combinations, count
from typing import TYPE_CHECKING, Any, NamedTuple, Unpack

import numpy as np

from probative._validation import fraction, one_of, open_probability, random_generator, shown
from probative.counts import Counts, PairedCounts
from probative.disagreements import confusions_of, examples_of
from probative.errors import InputError
from probative.evaluation import (
    AVERAGES,
    OF_ALL_CLASSES,
    by_name,
    ceilings_of,
    compared_metrics,
    confused_items,
    facts_of_reading,
    intervals_of,
    match_beside,
    match_of,
    scored_as,
    scores_in,
    scores_of,
    unit_of,
)
from probative.groups.adjusting import with_groups
from probative.inference.clustered_posterior import posterior_of_difference
from probative.inference.clusters import variance_of_difference
from probative.inference.confusion import (
    confusion_difference,
    confusion_posterior,
    confusion_test,
)
from probative.inference.differences import difference
from probative.inference.macro import macro_evidence
from probative.inference.macro_difference import macro_difference
from probative.inference.macro_test import macro_tests
from probative.inference.multiplicity import adjust_pvalues
from probative.inference.planning import plan
from probative.inference.randomization import randomization_test
from probative.inference.sequential_pvalue import levels_at
from probative.matching.cases import cases_by, cases_of_pair
from probative.matching.fingerprints import fingerprints_of
from probative.matching.groups import crossing_units, part_by_group
from probative.matching.matched import Matched, match_inputs
from probative.matching.pooled import unpooled
from probative.metrics import label_metric
from probative.options import CompareOptions, PlanOptions, ScoreOptions
from probative.reading.runs import are_files
from probative.reading.source import refuse_repeats
from probative.results import (
    Bucket,
    Comparison,
    Comparisons,
    Group,
    LabelDifference,
)
from probative.runs.answers import without_claims
from probative.runs.comparing import compare_counts, compare_groups, with_one_run
from probative.runs.hints import hints_of_files
from probative.runs.kinds import find_buckets, make_bucket
from probative.runs.planning import plan_groups
from probative.wording.verdict import verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from probative._types import RNG, Input, Systems
    from probative.inference.clustered_posterior import ClusteredPosterior
    from probative.inference.macro import MacroEvidence
    from probative.inference.macro_difference import MacroDifferencePosterior
    from probative.inference.student_posterior import StudentPosterior
    from probative.label_counts import LabelCounts
    from probative.options import ReadingKeywords
    from probative.results import Difference, Plan, RandomizationTest, RunsPlan, SystemScores

__all__ = [
    "AVERAGES",
    "PairChoices",
    "compare",
    "compare_cases",
    "compare_matched",
    "plan_from_files",
]


_FEW = 3  # systems that comparisons one by one still tell about
_MANY = "{} systems: rank orders them all, with ties and the probability of being best"


@dataclass(frozen=True)
class PairChoices:
    """What all pairs of a comparison have in common.

    `in_group` asks for what groups are weighed by, and leaves out what only the whole tells.
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
        """The choices of a comparison by these units, if they are some that there are."""
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
    """Compare the outputs of two or more systems on one test set, and judge.

    Parameters
    ----------
    gold, a, b, more
        The right answer, the baseline, the challenger and any others, in any form that `score`
        takes; or one dictionary of the systems by name, the baseline first. Without systems,
        `gold` is a file or a data frame that holds them in its columns. A system may be a list of
        outputs, one per run: then these models are compared, and the procedures that made them.
        Or `gold` alone, a dictionary of `Counts` by the names of the systems, one row per unit; or
        of lists of these, one per run; or of logs of evaluations, or lists of them.
    names
        What the systems are called; by default after their files.
    metric
        One or several of precision, recall, f1, fbeta, jaccard, accuracy, specificity, npv,
        balanced_accuracy, mcc, kappa, informedness, markedness and fowlkes_mallows. By default f1;
        recall for word segmentation; accuracy for labels of several classes, of which micro
        precision, recall and F1 are other names.
    average
        "micro" pools all labels. "macro" takes the mean over the labels of the answer, or over
        `labels`; its tests are sampled and its intervals approximate.
    by
        What is exchanged and resampled: sentence, document, unit or item. By default sentences
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
        Whether run i of every system belongs to run i of the others: they share a seed, or a split
        of the data.
    train
        The training data of the systems, of the same task: buckets then tell apart what was seen
        in training, and labels by how often they occur there.
    second_gold
        A second annotation of the same texts, by another person: it is scored against the answer
        as well, and every system is compared with it.
    rng
        A seed or generator for what is sampled: tests of macro averages, and exact tests that
        would not fit into memory.
    examples
        Whether to look for sentences on which the systems differ, and for labels that they
        confuse: only the page shows them.
    figures
        Whether to keep the null distribution of every test, for its figure: it comes from the
        same exchanges as the p-value, and takes longer.
    buckets
        Whether to score items of different kinds apart: by their length, that of their sentence,
        how frequent their label is, and whether they were seen in training. `train` asks for them,
        too.
    fingerprints
        Whether to keep what tells this test set and these outputs from others: a gate with a ledger
        needs it.
    report
        Is told how many of the comparisons are done, and how many there are.
    **reading
        How to read and match, as for `score`.

    Returns
    -------
    Comparisons
        Scores with intervals, a `Comparison` a pair and metric, and a verdict a pair.

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
    """Compare the systems of what has been gathered.

    Parameters
    ----------
    matched
        The systems.
    options, examples, figures, buckets, report
        As for `compare`.
    known
        What systems score by the same choices, by their numbers, where that is known already.
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
        judge: Callable[..., Comparison] = _comparison
        if part.all_classes and name in OF_ALL_CLASSES:
            judge = _comparison_of_classes
        elif average == "macro":
            sides = _macro_sides(part, pairs, name, how)
            tests = _macro_tests(part, pairs, name, how, sides)
            judge = partial(_macro_comparison, sides=sides, tests=tests)
        for i, j in pairs:
            if report is not None:
                report(next(done), total)
            yield without_claims(judge(part, i, j, name, how))

    for name in metrics:
        of_metric = list(compare_pairs(matched, name, choices))
        if last > 2:
            adjusted = adjust_pvalues([c.pvalue for c in of_metric]).tolist()
            of_metric = [replace(c, p_adjusted=p) for c, p in zip(of_metric, adjusted, strict=True)]
        comparisons += of_metric
    also = [c.metric for c in comparisons]
    usual = ScoreOptions(level=level, by=choices.unit, beta=beta)
    scores = replace(
        scores_of(matched, usual, also=also, known=known),
        signature=_signature(matched, options, comparisons),
    )
    if last > _FEW:
        scores = replace(scores, notes=(*scores.notes, _MANY.format(last)))
    result = Comparisons(
        **{field.name: getattr(scores, field.name) for field in fields(scores)},
        comparisons=tuple(comparisons),
        verdicts=tuple(verdict(c) for c in comparisons[: len(pairs)]),
        examples=examples_of(matched, pairs) if examples else (),
        confusions=confusions_of(matched) if examples else (),
        buckets=(
            find_buckets(
                matched,
                _of_buckets(matched, metrics),
                options,
                partial(_bucket, pairs=pairs, choices=choices),
            )
            if (buckets or options.train is not None) and not matched.items.is_condensed
            else None
        ),
    )
    if options.group is None:
        return result
    # each from the same seed: what a group says does not depend on the others
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


def plan_from_files(
    gold: Input,
    *systems: Systems,
    names: Sequence[str] | None = None,
    metric: str | None = None,
    by: str | None = None,
    difference: float | None = None,
    power: float | None = None,
    units: int | None = None,
    level: float = 0.95,
    beta: float = 1.0,
    paired_runs: bool = False,
    **reading: Unpack[ReadingKeywords],
) -> Plan | RunsPlan:
    """A `plan` from the inputs of a comparison, which are the pilot.

    Parameters
    ----------
    gold, systems
        The answer and two systems, as for `compare`.
    names
        What the systems are called.
    metric, by, **reading
        As for `compare`.
    difference, power, units, level, beta, paired_runs
        As for `plan`.
    """
    options = PlanOptions.of(
        {
            "metric": metric,
            "by": by,
            "difference": difference,
            "power": power,
            "units": units,
            "level": level,
            "beta": beta,
            "paired_runs": paired_runs,
            **reading,
        },
        beside=("names",),
    )
    if options.group is not None:
        raise InputError("group: a plan has no groups; expected the rows of one group alone")
    given, names = by_name(list(systems), names)
    matched = match_inputs(gold, given, names=names, reading=options)
    if any(len(group.places) > 1 for group in matched.runs):
        return plan_groups(matched, options)
    if paired_runs:
        raise InputError("paired_runs: means nothing without runs; expected several of each system")
    matched = unpooled(matched) if matched.runs else matched
    if len(matched.names) != 2:
        raise InputError(f"systems: {len(matched.names)} of them; expected two")
    unit = unit_of(matched, by)
    (name,) = compared_metrics(matched, metric, "micro")
    result = plan(
        cases_of_pair(matched, 0, 1, unit),
        scored_as(matched, name),
        difference=difference,
        power=power,
        units=units,
        level=level,
        beta=beta,
    )
    signature = options.signature("plan", *facts_of_reading(matched, options), name, f"by-{unit}")
    a, b = matched.names
    return replace(result, metric=name, by=unit, notes=matched.notes, signature=signature, a=a, b=b)


def _common(
    matched: Matched,
    i: int,
    j: int,
    choices: PairChoices,
    *,
    gap: Difference,
    test: RandomizationTest,
    posterior: ClusteredPosterior | MacroDifferencePosterior | StudentPosterior,
) -> dict[str, Any]:
    """What a comparison says whatever the average."""
    return {
        **_numbers(choices, gap, test, posterior),
        "a": matched.names[i],
        "b": matched.names[j],
        **_facts(matched, i, j),
    }


def _facts(matched: Matched, i: int, j: int) -> dict[str, Any]:
    """What the items of two systems tell without any statistics."""
    return {
        "match": match_of(matched),
        "positives": matched.items.positives,
        # of all that counts, item by item
        "identical": bool(np.array_equal(matched.items.says[i], matched.items.says[j])),
    }


def _numbers(
    choices: PairChoices,
    gap: Difference,
    test: RandomizationTest,
    posterior: ClusteredPosterior | MacroDifferencePosterior | StudentPosterior,
) -> dict[str, Any]:
    """What interval, test and posterior say."""
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


def _comparison(matched: Matched, i: int, j: int, metric: str, choices: PairChoices) -> Comparison:
    """Everything that is known of one pair in one score of the pooled items."""
    paired = cases_of_pair(matched, i, j, choices.unit)
    names = matched.names[i], matched.names[j]
    known = compare_cases(paired, names, metric, choices, scored=scored_as(matched, metric))
    by_label = () if choices.in_group else _by_label(matched, i, j, label_metric(metric), choices)
    return replace(known, **_facts(matched, i, j), by_label=by_label)


def compare_cases(
    paired: PairedCounts,
    names: tuple[str, str],
    metric: str,
    choices: PairChoices,
    *,
    scored: str | None = None,
) -> Comparison:
    """Everything that is known of one pair from its cases alone.

    Parameters
    ----------
    paired
        The cases, one row per unit, or one table where single items are exchanged.
    names
        The baseline and the challenger.
    metric
        What is compared.
    choices
        How.
    scored
        What the metric is called on these cases, if not by its own name: over all classes of
        single-label data accuracy is the recall of what is right.
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
    table = paired.total().cases
    return Comparison(
        **_numbers(choices, gap, test, posterior),
        a=names[0],
        b=names[1],
        metric=metric,
        design_effect=gap.design_effect,
        units_needed=needed.units,
        observed_units=needed.observed_units,
        positives=int(table[::2].sum()),
        identical=not table[:4].any(),
        note="; ".join(note for note in (gap.note, test.note) if note) or None,
        **(_standard_error(paired, scored, beta) if choices.in_group else {}),
    )


def _standard_error(paired: PairedCounts, scored: str, beta: float) -> dict[str, Any]:
    variance, freedom = variance_of_difference(paired, scored, beta=beta)
    return {"standard_error": math.sqrt(variance), "degrees_of_freedom": freedom}


def _by_label(
    matched: Matched, i: int, j: int, metric: str, choices: PairChoices
) -> tuple[LabelDifference, ...]:
    items = matched.items
    used = items.uses(i) | items.uses(j)  # what only a third system uses is not their matter
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


def _of_buckets(matched: Matched, metrics: Sequence[str]) -> str:
    """What kinds of items are scored by: a kind has no table of all classes."""
    return "accuracy" if matched.all_classes and metrics[0] in OF_ALL_CLASSES else metrics[0]


def _bucket(
    part: Matched,
    metric: str,
    kind: str,
    name: str,
    *,
    pairs: Sequence[tuple[int, int]],
    choices: PairChoices,
) -> Bucket:
    """What the systems score on items of one kind."""
    scored, level, beta = scored_as(part, metric), choices.level, choices.beta
    usual = ScoreOptions(metric=metric, by=choices.unit, level=level, beta=beta)
    scores = zip(part.names, intervals_of(part, usual), strict=True)
    differences = []
    for i, j in pairs:
        cases = cases_of_pair(part, i, j, choices.unit).grouped()
        gap = difference(cases, scored, level=level, beta=beta)
        differences.append((part.names[i], part.names[j], gap))
    return make_bucket(part, kind, name, choices.unit, scores, differences, metric)


class _MacroSide(NamedTuple):
    """What all pairs of a system need of it."""

    cells: LabelCounts
    evidence: MacroEvidence


def _macro_sides(
    matched: Matched, pairs: Sequence[tuple[int, int]], metric: str, choices: PairChoices
) -> dict[int, _MacroSide]:
    # a datum's own label and the one that it was given instead belong together
    by = "sentence" if choices.unit == matched.unit else choices.unit
    sides = {}
    for k in sorted({k for pair in pairs for k in pair}):
        cells = matched.items.by_unit_and_label(k, by=by)
        evidence = macro_evidence(cells.only(matched.averaged[k]), metric, beta=choices.beta)
        sides[k] = _MacroSide(cells, evidence)
    return sides


def _macro_tests(
    matched: Matched,
    pairs: Sequence[tuple[int, int]],
    metric: str,
    choices: PairChoices,
    sides: Mapping[int, _MacroSide],
) -> dict[tuple[int, int], RandomizationTest]:
    """The tests of all pairs: how many exchanges one needs depends on the others, too."""
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


def _macro_comparison(
    matched: Matched,
    i: int,
    j: int,
    metric: str,
    choices: PairChoices,
    *,
    sides: Mapping[int, _MacroSide],
    tests: Mapping[tuple[int, int], RandomizationTest],
) -> Comparison:
    """The same for the mean over the labels, with approximations where nothing exact exists."""
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
        **_common(matched, i, j, choices, gap=gap, test=test, posterior=posterior),
        metric=gap.metric,
        design_effect=None,
        observed_units=int(a.repeats.sum()),
        by_label=_by_label(matched, i, j, metric, choices),
        note="; ".join(note for note in (how, gap.note) if note),
    )


def _comparison_of_classes(
    matched: Matched, i: int, j: int, metric: str, choices: PairChoices
) -> Comparison:
    """The same for a score of the whole table of all classes."""
    if metric == "balanced_accuracy":  # the mean recall of the classes
        pairs = [(i, j)]
        sides = _macro_sides(matched, pairs, "recall", choices)
        tests = _macro_tests(matched, pairs, "recall", choices, sides)
        mean = _macro_comparison(matched, i, j, "recall", choices, sides=sides, tests=tests)
        return replace(mean, metric=metric)
    a, b = (confused_items(matched, k, choices.unit) for k in (i, j))
    gap = confusion_difference(a, b, metric, level=choices.level)
    test = confusion_test(a, b, metric, level=choices.level, rng=choices.generator)
    posterior = confusion_posterior(a, b, metric)
    how = "score of the whole confusion table: the test is sampled, the posterior approximate"
    return Comparison(
        **_common(matched, i, j, choices, gap=gap, test=test, posterior=posterior),
        metric=metric,
        design_effect=gap.design_effect,
        observed_units=test.n_units,
        by_label=_by_label(matched, i, j, label_metric(metric), choices),
        note="; ".join(note for note in (how, gap.note, test.note) if note),
    )
