"""Compare two systems on several data sets: number of wins and mean difference."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from probative._validation import RNG, Input, accepts_seed, names_of, shown
from probative.counts import PairedCounts
from probative.errors import InputError
from probative.inference.compare import Choices, compare_pairs
from probative.inference.exchange import randomization_test
from probative.inference.groups import (
    MeanPosterior,
    adjust_pvalues,
    count_of_conjunctions,
    heterogeneity,
    mean_limits,
    partial_conjunction,
)
from probative.inference.means import MeanScore
from probative.inference.pooled import PooledScore
from probative.jobs.compare import compare_matched
from probative.jobs.runs import without_claims
from probative.jobs.score import by_name, check_report, score_in, unit_of
from probative.matching.matched import match_inputs
from probative.options import CompareOptions, GradedKeywords, GradedOptions
from probative.results import Comparison, Dataset, DatasetComparisons, DatasetCount, MeanDifference
from probative.results.comparisons import decision_pvalue, one_sided
from probative.wording.numbers import scale_of
from probative.wording.verdict import no_verdict, sentences_of_datasets

if TYPE_CHECKING:
    from probative.inference.scores import Score


@dataclass(frozen=True)
class _Known:
    """Data set, with the score of the pair that its comparison is computed from."""

    dataset: Dataset
    facts: str
    score: Score


@accepts_seed
def compare_datasets(
    datasets: Mapping[str, Sequence[Input] | Mapping[str, object] | PairedCounts],
    *,
    names: Sequence[str] | None = None,
    metric: str | None = None,
    by: str | None = None,
    level: float = 0.95,
    rope: float = 0.0,
    beta: float = 1.0,
    prior: float = 1.0,
    rng: RNG | None = 0,
    report: Callable[[int, int], None] | None = None,
    **reading: Unpack[GradedKeywords],
) -> DatasetComparisons:
    """Compare two systems on several data sets, and summarise the results over all of them.

    Parameters
    ----------
    datasets
        By name, gold and the outputs of two systems, ``(gold, a, b)``, in any form that `compare`
        takes; or a dictionary with ``gold``, ``a``, ``b`` and options of reading for this data set
        alone, without ``a`` and ``b`` for a table that holds both in its columns; or
        `PairedCounts`.
    names
        The names of the two systems on all data sets.
    metric
        The metric; by default the usual one of the task, if that is the same for all.
    by, level, rope, beta, prior, rng
        As for `compare`.
    report
        Called with the number of finished data sets and their total.
    **reading
        Options of reading and matching for all data sets, as for `score`.

    Returns
    -------
    DatasetComparisons
        The number of data sets on which B is better (and A), which ones, the mean difference over
        these data sets, and the difference of all units together.

    Notes
    -----
    The counts come from one-sided exact tests. The count by Bonferroni holds whatever the data sets
    have in common, the count by Fisher for data sets without common texts. The mean is about these
    data sets: no number here shows how the systems do on others.

    Examples
    --------
    >>> import probative as pv
    >>> news = pv.PairedCounts([5, 2, 19, 4, 80, 6, 7, 300])
    >>> tweets = pv.PairedCounts([9, 6, 30, 8, 60, 16, 27, 200])
    >>> result = pv.compare_datasets({"news": news, "tweets": tweets}, names=["old", "new"])
    >>> result.better.bonferroni, result.better.datasets
    (2, ('news', 'tweets'))
    >>> print(result.mean)
    mean difference +0.0904 [+0.0454, +0.1369], P(B better) = 1.0000
    """
    options = CompareOptions.of_call(locals(), beside=("names", "report"))
    check_report(report)
    if not isinstance(datasets, Mapping) or not datasets:
        raise InputError(
            f"datasets: {shown(datasets)}; expected a dictionary of data sets by name, such as "
            f"(gold, a, b)"
        )
    if metric is not None and not isinstance(metric, str):
        raise InputError(f"metric: {shown(metric)}; expected one metric for all data sets")
    for name in ("group", "run_column", "second_gold", "human"):
        if getattr(options, name) is not None:
            raise InputError(f"{name}: does not apply to several data sets; leave it out")
    called = None if names is None else tuple(names_of("names", names))
    if called is not None and (len(called) != 2 or called[0] == called[1]):
        raise InputError(f"names: {shown(names)}; expected two different ones")
    known = []
    for number, (name, data) in enumerate(datasets.items()):
        if report is not None:
            report(number, len(datasets))
        known.append(_read(str(name), data, called, options))
    return _together(known, called, options)


def _read(name: str, data: Any, names: tuple[str, ...] | None, options: CompareOptions) -> _Known:
    """Compare the two systems on one data set."""
    try:
        if isinstance(data, PairedCounts):
            return _of_cases(name, data, names or ("A", "B"), options)
        return _of_inputs(name, data, names, options)
    except InputError as error:
        if error.path is not None and name in str(error.path):
            raise
        raise InputError(f"{error.message} (data set {name!r})", error.path, error.line) from None


def _of_cases(
    name: str, cases: PairedCounts, names: tuple[str, ...], options: CompareOptions
) -> _Known:
    unit = "unit" if cases.has_units else "item"
    how = options.chosen("beta", "prior")
    score = PooledScore.of_cases(cases.grouped(), str(options.metric or "f1"), **how)
    choices = replace(Choices.of(options, unit), in_group=True)
    c = compare_cases(score, (names[0], names[1]), choices)
    units = cases.n_units if cases.has_units else int(cases.cases.sum())
    return _Known(Dataset(name, units, unit, c, *_sides(c, score, options)), "counts", score)


def _of_inputs(
    name: str, data: Any, names: tuple[str, ...] | None, options: CompareOptions
) -> _Known:
    gold, systems, own = _inputs(data)
    chosen = replace(options, **own)
    given, called = by_name(list(systems), names)
    matched = match_inputs(gold, given, names=called, reading=chosen)
    if matched.runs or len(matched.names) != 2:
        raise InputError(f"datasets: {len(matched.names)} outputs; expected those of two systems")
    unit = unit_of(matched, chosen.by)
    result = compare_matched(matched, chosen, examples=False)
    (c,) = result.comparisons
    facts = matched.task if matched.scheme is None else f"{matched.task}-{matched.scheme}"
    how = chosen.chosen("beta", "prior")
    score = score_in(matched, c.metric, unit, **how)
    if isinstance(score, PooledScore):  # count the cases once
        score = PooledScore.of_cases(score.exchanged(0, 1), c.metric, score.scored, **how)
    sides = _sides(c, score, chosen)
    dataset = Dataset(name, result.units, result.unit, c, *sides, notes=result.notes)
    return _Known(dataset, facts, score)


def compare_cases(score: PooledScore, names: tuple[str, str], choices: Choices) -> Comparison:
    """Compare one pair from its cases alone."""
    (found,) = compare_pairs(score, [(0, 1)], names, choices)
    table = score.exchanged(0, 1).total().cases
    alike = not table[:4].any()
    return without_claims(replace(found, positives=int(table[::2].sum()), identical=alike))


def _inputs(data: Any) -> tuple[Any, list[Any], dict[str, Any]]:
    """Return gold, the systems and the reading options of one data set."""
    if isinstance(data, (tuple, list)) and len(data) == 3:
        return data[0], list(data[1:]), {}
    if isinstance(data, Mapping) and data.keys() & {"scores"}:
        if data.keys() - {"scores", "units"}:
            raise InputError(
                "datasets: scores beside other inputs; expected scores and units alone"
            )
        return None, [], dict(data)
    if not isinstance(data, Mapping) or "gold" not in data:
        raise InputError(
            f"datasets: {shown(data)}; expected (gold, a, b), or a dictionary with gold, a and b"
        )
    own = {key: value for key, value in data.items() if key not in ("gold", "a", "b")}
    GradedOptions.of(own)  # refuses unknown names
    systems = [data[key] for key in ("a", "b") if key in data]
    if len(systems) == 1:
        raise InputError("datasets: one of a and b; expected both, or a table that holds both")
    for key in ("columns", "score_columns", "only", "labels", "label_names", "probability_columns"):
        if isinstance(own.get(key), list):
            own[key] = tuple(own[key])
    return data["gold"], systems, own


def _sides(c: Comparison, score: Score, options: CompareOptions) -> tuple[float, float]:
    """Return the p-values of "B is better" and of "B is worse", Student's where it is larger."""

    def decided(alternative: str, side: int) -> float:
        if math.isnan(c.difference):
            return 1.0
        pvalue = one_sided(c.pvalue, side * c.difference)
        if isinstance(score, PooledScore):  # exactly
            cases = score.exchanged(0, 1)
            by, rng = "unit" if cases.has_units else "item", options.rng
            how: Any = {"by": by, "beta": options.beta, "rng": 0 if rng is None else rng}
            pvalue = randomization_test(cases, score.scored, alternative=alternative, **how).pvalue
        return float(decision_pvalue(pvalue, one_sided(c.p_unit, side * c.difference)))

    return decided("greater", 1), decided("less", -1)


def _together(
    known: Sequence[_Known], names: tuple[str, ...] | None, options: CompareOptions
) -> DatasetComparisons:
    first = known[0].dataset.comparison
    for one in known[1:]:
        for name, verb, wanted in (("metric", "compared", "a metric"), ("match", "scored", "one")):
            ours, theirs = (getattr(c, name) for c in (first, one.dataset.comparison))
            if ours != theirs:
                raise InputError(
                    f"{name}: {known[0].dataset.dataset!r} is {verb} by {ours or 'strict'}, but "
                    f"{one.dataset.dataset!r} by {theirs or 'strict'}; expected {wanted} for all"
                )
    pairs = {(one.dataset.comparison.a, one.dataset.comparison.b) for one in known}
    a, b = names or (next(iter(pairs)) if len(pairs) == 1 else ("A", "B"))
    better, worse = (
        adjust_pvalues([getattr(one.dataset, side) for one in known]).tolist()
        for side in ("p_better", "p_worse")
    )
    named = (replace(one.dataset.comparison, a=a, b=b) for one in known)
    sets = tuple(
        replace(one.dataset, comparison=c, p_holm_better=p, p_holm_worse=q)
        for one, c, p, q in zip(known, named, better, worse, strict=True)
    )
    score = known[0].score
    graded = score if isinstance(score, MeanScore) else None
    tests = dict.fromkeys(f"{s.comparison.test}-by-{s.comparison.by}" for s in sets)
    facts = ",".join(dict.fromkeys(one.facts for one in known))
    signature = options.signature(
        f"datasets:{len(known)}", facts, first.metric, first.method, ",".join(tests)
    )
    gaps = [(one.dataset.comparison.difference, one.score.unit_test(0, 1)) for one in known]
    spread = [(gap, test.standard_error, test.degrees_of_freedom) for gap, test in gaps]
    result = DatasetComparisons(
        a,
        b,
        first.metric,
        options.level,
        sets,
        _count(b, "better", sets, options.level),
        _count(a, "worse", sets, options.level),
        _mean(sets, options, score.most),
        _pooled(known, a, b, options),
        heterogeneity(*zip(*spread, strict=True)),
        notes=tuple(f"{s.dataset}: {note}" for s in sets for note in s.notes),
        signature=signature,
        task=None if graded is None else "scores",
        range=None if graded is None else graded.range,
    )
    with scale_of(result):
        return replace(result, verdicts=sentences_of_datasets(result))


def _count(system: str, side: str, sets: Sequence[Dataset], level: float) -> DatasetCount:
    """Count the data sets on which a system is better, which is B or, for "worse", A."""
    pvalues = [getattr(s, f"p_{side}") for s in sets]
    limit = (1 - level) * (1 + 1e-9)
    ways = "bonferroni", "fisher"
    bonferroni, fisher = (count_of_conjunctions(pvalues, way, level) for way in ways)
    p_one, p_two = (tuple(partial_conjunction(pvalues, way).tolist()) for way in ways)
    found = tuple(s.dataset for s in sets if getattr(s, f"p_holm_{side}") <= limit)
    return DatasetCount(system, bonferroni, fisher, p_one, p_two, found)


def _mean(sets: Sequence[Dataset], options: CompareOptions, most: float) -> MeanDifference:
    """Return the mean difference; `most` is the largest possible one."""
    compared = [s.comparison for s in sets]
    limits = [(c.difference, c.low, c.high) for c in compared]
    estimate, low, high = mean_limits(limits, most=most)
    posterior = MeanPosterior([c.posterior for c in compared], most=most)
    has_evidence = all(no_verdict(c) is None or c.identical for c in compared)
    chances = posterior.probabilities(options.rope) if has_evidence else (math.nan,) * 3
    a, b = np.mean([(c.score_a, c.score_b) for c in compared], axis=0).tolist()
    ends = estimate, low, high, options.level
    return MeanDifference(*ends, *chances, options.rope, a, b, posterior)


def _pooled(known: Sequence[_Known], a: str, b: str, options: CompareOptions) -> Comparison | None:
    """Compare all units in one test, if all data sets count the same things."""
    units = {one.dataset.comparison.by for one in known}
    unit = next(iter(units)) if len(units) == 1 else "unit"
    graded = [one.score for one in known if isinstance(one.score, MeanScore)]
    if graded:
        x, y = (np.concatenate([getattr(s, part) for s in graded], axis=1) for part in "xy")
        items = sum(s.y[0].sum() if s.n_items is None else s.n_items for s in graded)
        score = replace(graded[0], x=x, y=y, squares=None, n_items=float(items), by=unit)
        (found,) = compare_pairs(score, [(0, 1)], (a, b), Choices.of(options, unit))
        alike = all(one.dataset.comparison.identical for one in known)
        return without_claims(replace(found, positives=int(items), identical=alike))
    scores = [one.score for one in known if isinstance(one.score, PooledScore)]
    parts = [score.exchanged(0, 1) for score in scores]
    kinds = {(own.scored, part.has_negatives) for own, part in zip(scores, parts, strict=True)}
    if len(scores) < len(known) or len(kinds) > 1:
        return None
    if any(part.has_units for part in parts):
        cases = PairedCounts.concatenate([_with_units(part) for part in parts])
    else:
        cases = sum(parts[1:], start=parts[0])
    first, how = scores[0], options.chosen("beta", "prior")
    together = PooledScore.of_cases(cases.grouped(), first.metric, first.scored, **how)
    return compare_cases(together, (a, b), Choices.of(options, unit))


def _with_units(cases: PairedCounts) -> PairedCounts:
    """Return the cases with one row per unit; without units, every item is one."""
    if cases.has_units:
        return cases
    width = 8 if cases.has_negatives else 7
    return PairedCounts(np.eye(8)[:, :width][:width], cases.cases[:width])
