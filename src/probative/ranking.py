"""From inputs to a leaderboard: read, match, count, test every pair, put in order."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from functools import partial
from itertools import combinations
from math import isnan
from typing import TYPE_CHECKING, Any, Unpack

from probative._validation import (
    one_of,
    open_probability,
    positive,
    random_generator,
    shown,
    whole_number,
)
from probative.comparison import compare_matched
from probative.counts import Counts
from probative.errors import InputError
from probative.evaluation import scores_of
from probative.inference.leaderboard import ADJUSTMENTS, evidence_of_units, leaderboard
from probative.inference.unit_table import UnitTable
from probative.matching.matched import match_inputs
from probative.metrics import METRICS
from probative.options import CompareOptions, RankOptions, ScoreOptions
from probative.reading.runs import are_files
from probative.runs.comparing import compare_counts
from probative.runs.counting import (
    counts_by_system,
    pooled_counts,
    refuse_all_but,
    scores_of_counts,
)
from probative.runs.hints import hints_of_runs
from probative.scoring.basis import (
    AVERAGES,
    by_name,
    compared_metrics,
    facts_of_reading,
    is_of_classes,
    scored_as,
    signed_runs,
    unit_of,
    unit_of_runs,
)
from probative.standings.evidence import (
    WITHOUT_POSITIVES,
    evidence_of_classes,
    evidence_of_means,
    unit_table,
)
from probative.standings.result import make_ranking
from probative.wording.verdict import verdict
from probative.workers import check_jobs, in_processes

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy as np

    from probative._types import RNG, Input, Systems
    from probative.inference.pair_tests import KnownTests
    from probative.inference.sampled_evidence import KnownLimits
    from probative.matching.matched import Matched
    from probative.options import ReadingKeywords
    from probative.results import Comparison, Comparisons, RankedPair, Ranking, Scores, SystemScores

__all__ = ["Known", "rank", "rank_matched", "ranked_scores"]

_USUAL = ("precision", "recall", "f1")
_ENOUGH = 6  # pairs from which on other processes are worth their start


def rank(
    gold: Input | Mapping[str, Counts | Sequence[Counts] | Input],
    systems: Systems | None = None,
    *more: Input,
    names: Sequence[str] | None = None,
    metric: str | None = None,
    average: str = "micro",
    by: str | None = None,
    level: float = 0.95,
    beta: float = 1.0,
    adjust: str = "holm",
    rng: RNG | None = 0,
    n_jobs: int | None = -1,
    report: Callable[[int, int], None] | None = None,
    comparisons: int = 0,
    **reading: Unpack[ReadingKeywords],
) -> Ranking:
    """Rank many systems on one test set: rank sets, tiers, ties and the probability of being best.

    Every pair is tested by the exact randomisation test, and the p-values are adjusted for the
    number of pairs. Whatever the leaderboard says is decided is right, for all pairs at once, with
    the confidence `level`; the rest is a tie.

    Parameters
    ----------
    gold
        The right answer, in any form that `score` takes. Without systems: a file or a data frame
        that holds answer and systems in its columns; or a dictionary of `Counts` by the names of
        the systems, one row per unit, the same units in each; or of lists of these, one per run;
        or of logs of evaluations, or lists of them.
    systems, more
        A dictionary of outputs by the names of their systems; or the outputs, one after the other.
        A system may be a list of outputs, one per run: then the counts of its runs are added up,
        and the ranks are those of these trained models, not of the procedures that made them.
    names
        What the systems are called; by default after their files.
    metric
        What to rank by, as for `compare`: one of precision, recall, f1, fbeta, jaccard, accuracy,
        specificity, npv, balanced_accuracy, mcc, kappa, informedness, markedness and
        fowlkes_mallows.
    average
        "micro" pools all labels. "macro" takes the mean over the labels of the answer, or over
        `labels`; its tests are sampled and its intervals approximate.
    by
        What is exchanged and resampled: sentence, document, unit or item, as for `compare`.
    level
        The level of the intervals, and the confidence of the whole leaderboard.
    beta
        The weight of recall in F-beta.
    adjust
        How p-values are adjusted for the number of pairs: "holm", whatever the hypotheses;
        "shaffer", never weaker, because equal systems form groups.
    rng
        A seed or generator for what is drawn: the limits of the differences, the probabilities of
        being best, the tests of macro averages.
    n_jobs
        How many processes test pairs at once, where there are many; -1 for all cores.
    report
        Is told how many pairs are done, and how many there are.
    comparisons
        How many pairs to compare in full, as `compare` does, for the page to show: all, or those
        of the leader and of neighbours first, from the top. None where systems have several runs:
        `compare` has two answers then, for these models and for new runs.
    **reading
        How to read and match, as for `score`.

    Returns
    -------
    Ranking
        The leaderboard in `ranking`, best first, every pair in `pairs`, and a `summary`.

    Examples
    --------
    >>> import probative as pv
    >>> gold = [["B-PER", "I-PER", "O"], ["O", "B-LOC", "O"]] * 40
    >>> old = [["B-PER", "O", "O"], ["O", "B-LOC", "O"]] * 25 + gold[:30]
    >>> new = [["B-PER", "I-PER", "O"], ["O", "B-ORG", "O"]] * 5 + gold[:70]
    >>> board = pv.rank(gold, {"old": old, "new": new, "newer": gold[:78] + old[:2]})
    >>> [(system.name, system.rank_low, system.rank_high) for system in board.ranking]
    [('newer', 1, 2), ('new', 1, 2), ('old', 3, 3)]
    >>> [system.letters for system in board.ranking]
    ['a', 'a', 'b']
    """
    options = RankOptions.of(
        {
            "metric": metric,
            "average": one_of("average", average, AVERAGES),
            "by": by,
            "level": open_probability("level", level),
            "beta": positive("beta", beta),
            "adjust": one_of("adjust", adjust, ADJUSTMENTS),
            "rng": rng,
            **reading,
        },
        beside=("names", "n_jobs", "report", "comparisons"),
    )
    if metric is not None:
        one_of("metric", metric, METRICS)
    check_jobs(n_jobs)
    if report is not None and not callable(report):
        raise InputError(f"report: {shown(report)}; expected a function of two numbers")
    whole_number("comparisons", comparisons, least=0)
    how: dict[str, Any] = {"n_jobs": n_jobs, "report": report}
    if systems is None and isinstance(gold, Mapping) and not are_files(gold):
        return _rank_counts(gold, options, how)
    if options.group is not None:
        raise InputError("group: a ranking has no groups; expected a comparison")
    given, names = by_name([s for s in (systems, *more) if s is not None], names)
    looking = average != "macro"
    matched = match_inputs(gold, given, names=names, find_positive=looking, reading=options)
    ranking = rank_matched(matched, options, how)
    if matched.runs:
        return ranking  # two systems with several runs have two answers: `compare` tells both
    chosen = _pairs_in_full(len(matched.names), comparisons)
    return replace(ranking, comparisons=_compare_pairs(matched, ranking, chosen, options, **how))


@dataclass(frozen=True, kw_only=True)
class Known:
    """What need not be computed, because it was before, by the same choices.

    Attributes
    ----------
    scores
        What systems score, by their numbers.
    tests
        As for `pair_tests`; what is new is added.
    limits
        As for `limits_of_pairs`, of scores of which nothing is exact; what is new is added.
    """

    scores: Mapping[int, SystemScores] = field(default_factory=dict)
    tests: KnownTests = field(default_factory=dict)
    limits: KnownLimits = field(default_factory=dict)


def rank_matched(
    matched: Matched, options: RankOptions, how: dict[str, Any], known: Known | None = None
) -> Ranking:
    """Rank the systems of what has been read and matched.

    Parameters
    ----------
    matched
        The systems.
    options
        The choices.
    how
        How the pairs are tested: `n_jobs` and `report`, as for `rank`.
    known
        What need not be computed.
    """
    known = Known() if known is None else known
    unit = unit_of_runs(matched, options.by) if matched.runs else unit_of(matched, options.by)
    (metric,) = compared_metrics(matched, options.metric, options.average, tables=True)
    scores = ranked_scores(matched, options, known.scores)
    alone = _compare_two(matched, scores, options)
    if alone is not None:
        known.tests.setdefault((0, 1), (alone.pvalue, alone.draws or 0))
    generator = random_generator(options.rng)
    how = {**how, "beta": options.beta, "seed": _seed(generator), "tested": known.tests}
    how |= {"level": options.level, "adjust": options.adjust}
    if options.average == "macro":
        if matched.runs:
            raise InputError("average: several runs have no macro ranks yet; expected 'micro'")
        how["limited"] = known.limits
        evidence = evidence_of_means(matched, unit, metric, how)
        metric = f"macro_{metric}"
    elif is_of_classes(matched, metric):
        how["limited"] = known.limits
        evidence = evidence_of_classes(matched, unit, metric, how)
    else:
        findable = bool(matched.items.answer.any()) or metric in WITHOUT_POSITIVES
        evidence = evidence_of_units(
            unit_table(matched, unit),
            scored_as(matched, metric),
            anything_to_find=findable,
            **how,
        )
    board = leaderboard(evidence, level=options.level, adjust=options.adjust, rng=generator)
    facts = facts_of_reading(matched, options)
    if matched.runs:
        facts = (*facts, signed_runs(matched))
        scores = replace(scores, notes=(*scores.notes, *hints_of_runs(matched)))
    return make_ranking(scores, metric, board, evidence, options, facts, alone)


def _compare_two(matched: Matched, scores: Scores, options: RankOptions) -> Comparison | None:
    """Return what `compare` says of two systems: alone, they are asked the same question."""
    if len(matched.runs or matched.names) != 2:
        return None
    known = {} if matched.runs else dict(enumerate(scores.systems))
    found = compare_matched(matched, _as_compared(options), examples=False, known=known)
    return found.comparisons[0]  # with several runs, that of these models


def _as_compared(options: RankOptions) -> CompareOptions:
    """Return the choices of a ranking as those of a comparison."""
    shared = {entry.name for entry in fields(RankOptions)} - {"adjust"}
    return CompareOptions(**{name: getattr(options, name) for name in shared})


def _pairs_in_full(n_systems: int, most: int) -> list[tuple[int, int]]:
    """The places of the pairs to be compared in full: the leader's and neighbours' come first."""
    places = combinations(range(n_systems), 2)
    by_interest = sorted(places, key=lambda pair: (pair[0] > 0 and pair[1] - pair[0] > 1, pair[1]))
    return sorted(by_interest[:most])


def _compare_pairs(
    matched: Matched,
    ranking: Ranking,
    places: Sequence[tuple[int, int]],
    options: RankOptions,
    *,
    n_jobs: int | None,
    report: Callable[[int, int], None] | None,
) -> tuple[Comparisons, ...]:
    """What `compare` tells of the pairs in these places, the lower system for the baseline."""
    number = {name: i for i, name in enumerate(matched.names)}
    names = [(ranking.ranking[j].name, ranking.ranking[i].name) for i, j in places]
    parts = [
        (matched.only(number[a], number[b]), {0: ranking[a], 1: ranking[b]}, ranking.pair(a, b))
        for a, b in names
    ]
    jobs = n_jobs if len(parts) >= _ENOUGH else 1
    compared = []
    for done, (_, comparisons) in enumerate(
        in_processes(partial(_compare_pair, options, len(ranking.pairs)), parts, jobs), 1
    ):
        compared.append(comparisons)
        if report is not None:
            report(done, len(parts))
    return tuple(compared)


def _compare_pair(
    options: RankOptions, n_pairs: int, part: tuple[Matched, dict[int, SystemScores], RankedPair]
) -> Comparisons:
    """The comparison of two systems in full, with the p-values that the leaderboard goes by."""
    matched, known, pair = part
    alone = replace(matched, notes=())
    result = compare_matched(alone, _as_compared(options), figures=True, buckets=True, known=known)
    (comparison,) = result.comparisons
    comparison = _as_ranked(comparison, pair, alone=n_pairs == 1)
    return replace(
        result,
        comparisons=(comparison,),
        verdicts=(verdict(comparison),),
        adjustment=options.adjust,
    )


def _as_ranked(comparison: Comparison, pair: RankedPair, *, alone: bool) -> Comparison:
    """The same comparison with the p-values of a leaderboard; a pair alone needs no adjustment."""
    if isnan(pair.p_adjusted):
        return comparison
    adjusted = None if alone else pair.p_adjusted
    return replace(comparison, pvalue=pair.pvalue, p_adjusted=adjusted)


def ranked_scores(
    matched: Matched, options: RankOptions, known: Mapping[int, SystemScores] | None = None
) -> Scores:
    """All scores of the systems, with that by which they are ranked.

    Parameters
    ----------
    matched
        The systems.
    options
        The choices.
    known
        What systems score, by their numbers, where that is known already.
    """
    (metric,) = compared_metrics(matched, options.metric, options.average, tables=True)
    also = f"macro_{metric}" if options.average == "macro" else metric
    by = options.by if matched.runs else unit_of(matched, options.by)
    usual = ScoreOptions(level=options.level, by=by, beta=options.beta)
    return scores_of(matched, usual, also=[also], known=known)


def _rank_counts(systems: Mapping[str, Any], options: RankOptions, how: dict[str, Any]) -> Ranking:
    """Rank systems of which only the counts by unit are known, those of several runs together."""
    refuse_all_but(options, "metric", "level", "beta", "adjust", "rng")
    by_system = counts_by_system(systems)
    metric = options.metric or "f1"
    level, beta = options.level, options.beta
    generator = random_generator(options.rng)
    table = UnitTable.of_counts(pooled_counts(list(by_system.values())))
    evidence = evidence_of_units(
        table,
        metric,
        beta=beta,
        anything_to_find=bool(table.positives.any()) or metric in WITHOUT_POSITIVES,
        level=level,
        adjust=options.adjust,
        seed=_seed(generator),
        **how,
    )
    board = leaderboard(evidence, level=level, adjust=options.adjust, rng=generator)
    scores = scores_of_counts(by_system, level, beta, (metric,))
    several = any(not isinstance(own, Counts) for own in systems.values())
    alone = None
    if len(by_system) == 2:
        alone = compare_counts(systems, _as_compared(options), figures=False).comparisons[0]
    facts: tuple[str, ...] = ("counts",)
    if several:
        facts = (*facts, f"runs:{','.join(str(len(own)) for own in by_system.values())}")
    else:
        scores = replace(scores, run_scores=None)
    return make_ranking(scores, metric, board, evidence, options, facts, alone)


def _seed(generator: np.random.Generator) -> int:
    return int(generator.integers(2**63))
