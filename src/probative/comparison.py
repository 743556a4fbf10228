"""From inputs to a verdict: read, match, count, test, judge."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from functools import partial
from itertools import combinations, count
from typing import TYPE_CHECKING, Unpack

from probative._validation import one_of, open_probability, random_generator, shown
from probative.disagreements import confusions_of, examples_of
from probative.errors import InputError
from probative.evaluation import scores_of
from probative.groups.adjusting import with_groups
from probative.inference.multiplicity import adjust_pvalues
from probative.matching.fingerprints import fingerprints_of
from probative.matching.groups import crossing_units, part_by_group
from probative.matching.pooled import unpooled
from probative.options import CompareOptions, ScoreOptions
from probative.pairs.buckets import bucket_of_pairs, metric_of_buckets
from probative.pairs.classes import judge_of_classes
from probative.pairs.macro import compare_macro, macro_sides, tests_of_sides
from probative.pairs.pooled import PairChoices, compare_pooled
from probative.reading.runs import are_files
from probative.reading.source import refuse_repeats
from probative.results import (
    Comparison,
    Comparisons,
    Group,
)
from probative.runs.answers import without_claims
from probative.runs.comparing import compare_counts, compare_groups, with_one_run
from probative.runs.hints import hints_of_files
from probative.scoring.basis import (
    AVERAGES,
    by_name,
    compared_metrics,
    facts_of_reading,
    is_of_classes,
    unit_of,
)
from probative.scoring.kinds import find_buckets
from probative.scoring.second_annotation import ceilings_of, match_beside
from probative.scoring.systems import scores_in
from probative.wording.verdict import verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from probative._types import RNG, Input, Systems
    from probative.counts import Counts
    from probative.matching.matched import Matched
    from probative.options import ReadingKeywords
    from probative.results import SystemScores

__all__ = ["compare", "compare_matched"]


_FEW = 3  # systems that comparisons one by one still tell about
_MANY = "{} systems: rank orders them all, with ties and the probability of being best"


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
        judge: Callable[..., Comparison] = compare_pooled
        if is_of_classes(part, name):
            judge = judge_of_classes(part, pairs, name, how)
        elif average == "macro":
            sides = macro_sides(part, pairs, name, how)
            tests = tests_of_sides(part, pairs, name, how, sides)
            judge = partial(compare_macro, sides=sides, tests=tests)
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
                metric_of_buckets(matched, metrics),
                options,
                partial(bucket_of_pairs, pairs=pairs, choices=choices),
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
