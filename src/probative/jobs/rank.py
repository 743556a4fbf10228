"""Rank systems: read, match, count, test every pair, and order them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import partial
from itertools import combinations
from math import isnan
from typing import TYPE_CHECKING, Any, TypeVar, Unpack

import numpy as np

from probative._validation import (
    RNG,
    Input,
    Systems,
    accepts_seed,
    one_of,
    open_probability,
    positive,
    random_generator,
    whole_number,
)
from probative.counts import Counts
from probative.errors import InputError
from probative.inference.pooled import PooledScore
from probative.inference.rank import ADJUSTMENTS, N_BOOTSTRAP, Leaderboard, leaderboard
from probative.inference.sampled import most_exchanges
from probative.jobs.compare import compare_matched
from probative.jobs.runs import compare_counts, counts_of_runs, hints_of_runs, scores_of_counts
from probative.jobs.score import (
    AVERAGES,
    by_name,
    check_report,
    facts_of_reading,
    match_systems,
    score_asked_for,
    scores_of,
    several_runs,
    signed_runs,
)
from probative.metrics import METRICS, OF_SCORES
from probative.options import CompareOptions, GradedKeywords, RankOptions, ScoreOptions
from probative.reading.runs import are_files
from probative.results import RankedPair, RankedSystem, Ranking, Scores
from probative.wording.numbers import on_own_scale
from probative.wording.verdict import ranking_summary, verdict
from probative.workers import check_jobs, in_processes

if TYPE_CHECKING:
    from probative.inference.scores import KnownLimits, KnownTests, Score
    from probative.matching.matched import Matched
    from probative.results import Comparison, Comparisons, SystemScores


# --- From a leaderboard to the result


def _ranking_by(
    score: Score,
    scores: Scores,
    options: RankOptions,
    how: dict[str, Any],
    facts: tuple[str, ...],
    alone: Comparison | None,
) -> Ranking:
    """Test every pair and order the systems, two with the numbers of `alone`; sign the `facts`."""
    generator, metric, level = random_generator(options.rng), score.metric, options.level
    seed, adjust = int(generator.integers(2**63)), options.adjust
    board = leaderboard(score, level=level, adjust=adjust, seed=seed, rng=generator, **how)
    if alone is not None:
        board = _result_as_compared(board, alone)
    names = "rank_low", "rank_high", "tier", "letters", "p_best", "expected_rank"
    places = zip(*(np.asarray(getattr(board, own)).tolist() for own in names), strict=True)
    rows = []
    for i, place in zip(board.order, places, strict=True):
        own = scores.systems[i][metric]
        ends = float(own.estimate), float(own.low), float(own.high)
        row = (*ends, *place, None if own.note is None else str(own.note))
        rows.append(RankedSystem(scores.systems[i].name, metric, *row))
    test = "sampled" if board.tests.sampled else "exact"
    chances = "bayesian-bootstrap" if alone is None else f"{alone.posterior.kind}-posterior"
    signature = options.signature(
        "rank", *facts, metric, f"{test}-by-{scores.by}", options.adjust, chances
    )
    notes = (*scores.notes, *_remarks(board, score, options))
    ranking = Ranking(
        replace(scores, notes=notes, signature=signature),
        metric=metric,
        ranking=tuple(rows),
        pairs=_pairs([row.name for row in rows], metric, board),
        test=test,
        adjustment=options.adjust,
        quantile=board.quantile,
        n_draws=0 if alone or all(isnan(row.p_best) for row in rows) else N_BOOTSTRAP,
    )
    return replace(ranking, summary=ranking_summary(ranking))


def _result_as_compared(board: Leaderboard, c: Comparison) -> Leaderboard:
    """Return the leaderboard of two systems with the interval, p-value and P of `compare`."""
    low, high, best = c.low, c.high, np.array([c.p_b_better, c.p_a_better])
    if board.order[0] == 0:  # A leads: the difference is A minus B
        low, high, best = -c.high, -c.low, best[::-1]
    lows, highs = board.low.copy(), board.high.copy()
    lows[0, 1], highs[0, 1], lows[1, 0], highs[1, 0] = low, high, -high, -low
    pvalue = np.where(np.isnan(board.pvalue) | np.eye(2, dtype=bool), board.pvalue, c.pvalue)
    board = replace(board, low=lows, high=highs, pvalue=pvalue)
    if np.isnan(best).any():
        return board
    ahead = np.array([[0.5, best[0]], [best[1], 0.5]])
    return replace(board, p_ahead=ahead, p_best=best, expected_rank=2 - best)


def _remarks(board: Leaderboard, score: Score, options: RankOptions) -> list[str]:
    """Return notes on how the pairs were tested."""
    notes, tests = [], board.tests
    n_pairs = len(board.order) * (len(board.order) - 1) // 2
    if score.approximate and n_pairs:
        fewest, most = (f"{number:,}" for number in tests.draws)
        drawn = fewest if fewest == most else f"{fewest} to {most}"
        notes.append(
            f"{score.approximate}: the tests are sampled ({drawn} exchanges each), intervals "
            f"are approximations"
        )
        if n_pairs / (most_exchanges(n_pairs) + 1) > 1 - options.level:
            notes.append(
                f"{n_pairs:,} pairs are too many for sampled tests: none can be decided at this "
                f"level; expected fewer systems"
            )
    elif tests.sampled:
        notes.append(
            f"{tests.sampled:,} of {n_pairs:,} tests are sampled, because the exact ones would "
            f"not fit into memory"
        )
    if tests.unclear:
        notes.append(
            f"of {tests.unclear:,} of {n_pairs:,} pairs it is not clear what all exchanges "
            f"would decide: the leaderboard goes by those drawn"
        )
    if tests.overstated:
        amounts = f" (up to {tests.returned:.2f} times)" if tests.returned >= 1.05 else ""
        notes.append(
            f"the systems return different amounts{amounts}: of {tests.overstated:,} of "
            f"{n_pairs:,} pairs the exchange test alone would overstate the evidence, so they are "
            f"decided by Student's p by unit"
        )
    upper = np.triu_indices(len(board.order), 1)
    apart = ((board.low > 0) | (board.high < 0))[upper]
    decided = board.decided[upper]
    for number, what in (
        (np.count_nonzero(apart & ~decided), "not decided, but the limits leave out 0"),
        (np.count_nonzero(decided & ~apart), "decided, but the limits include 0"),
    ):
        if number:
            notes.append(
                f"interval and test disagree on {number:,} of {n_pairs:,} pairs: {what}; the "
                f"leaderboard goes by the test"
            )
    return notes


def _pairs(names: list[str], metric: str, board: Leaderboard) -> tuple[RankedPair, ...]:
    """Return every pair in the order of the leaderboard; b is ranked above a."""
    numbers = ("difference", "low", "high", "pvalue", "p_adjusted", "decided", "identical")
    columns = [getattr(board, name) for name in (*numbers, "p_ahead", "p_unit")]
    upper = np.triu_indices(len(names), 1)
    values = zip(*(column[upper].tolist() for column in columns), strict=True)
    places = zip(*(side.tolist() for side in upper), strict=True)
    return tuple(
        RankedPair(names[below], names[above], metric, *row)
        for (above, below), row in zip(places, values, strict=True)
    )


# --- From inputs to a leaderboard

_MOST_IN_FULL = 45  # pairs that are compared in full unless a number is given
_FEWEST_PAIRS_FOR_PROCESSES = 24  # with fewer, starting processes costs more than it saves


@accepts_seed
def rank(
    gold: Input | Mapping[str, Counts | Sequence[Counts] | Input] | None = None,
    systems: Systems | None = None,
    *more: Input,
    names: Sequence[str] | None = None,
    metric: str | None = None,
    average: str = "micro",
    by: str | None = None,
    level: float = 0.95,
    beta: float = 1.0,
    adjust: str = "holm",
    units: Sequence[object] | None = None,
    rng: RNG | None = 0,
    n_jobs: int | None = -1,
    report: Callable[[int, int], None] | None = None,
    comparisons: int | None = 0,
    **reading: Unpack[GradedKeywords],
) -> Ranking:
    """Rank many systems on one test set: rank sets, tiers, ties and the probability of being best.

    Every pair is tested by the exact randomisation test, and the p-values are adjusted for the
    number of pairs. All pairs that the leaderboard calls decided are right together with
    confidence `level`; the rest are ties.

    Parameters
    ----------
    gold
        Gold, in any form that `score` takes. Without systems: a file or a data frame that holds
        gold and systems in its columns; or a dictionary of `Counts` by the names of the systems,
        one row per unit, the same units in each; or of lists of these, one per run; or of logs of
        evaluations, or lists of them.
    systems, more
        A dictionary of outputs by the names of their systems; or the outputs, one after the other.
        A system may be a list of outputs, one per run: then the counts of its runs are added up,
        and these trained models are ranked, not the procedures that made them.
    names
        The names of the systems; by default those of their files.
    metric
        The metric to rank by, as for `compare`: one of precision, recall, f1, fbeta, jaccard,
        accuracy, specificity, npv, balanced_accuracy, mcc, kappa, informedness, markedness and
        fowlkes_mallows.
    average
        "micro" pools all labels. "macro" takes the mean over the gold labels, or over `labels`;
        its tests are sampled and its intervals approximate.
    by
        The units to exchange and resample: sentence, document, unit or item, as for `compare`.
    level
        The level of the intervals, and the confidence of the whole leaderboard.
    beta
        The weight of recall in F-beta.
    adjust
        The adjustment of p-values for the number of pairs: "holm", valid for any hypotheses;
        "shaffer", never weaker, because equal systems form groups.
    units
        With `scores`: the unit of every item, such as its document.
    rng
        A seed or generator for random draws: the intervals of the differences, the probabilities
        of being best, the tests of macro averages.
    n_jobs
        The number of processes that test pairs, if there are many pairs; -1 for all cores.
    report
        Called with the number of finished pairs and their total.
    comparisons
        The number of pairs to compare in full, as `compare` does, for the page: all, or first those
        of the leader and of neighbours, from the top; with None exactly these, at most 45. There
        are none if systems have several runs, since `compare` then has two answers, for these
        models and for new runs.
    **reading
        Options of reading and matching: see `probative.options.ReadingOptions`.

    Returns
    -------
    Ranking
        The leaderboard in `ranking`, best first; every pair in `pairs`; and a `summary`.

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
    beside = ("names", "n_jobs", "report", "comparisons")
    options = check_ranking(RankOptions.of_call(locals(), beside=beside), report)
    check_jobs(n_jobs)
    if comparisons is not None:
        whole_number("comparisons", comparisons, least=0)
    how: dict[str, Any] = {"n_jobs": n_jobs, "report": report}
    if systems is None and isinstance(gold, Mapping) and not are_files(gold):
        return _rank_counts(gold, options, how)
    if options.group is not None:
        raise InputError("group: a ranking has no groups; expected a comparison")
    given = [system for system in (systems, *more) if system is not None]
    matched, _ = match_systems(gold, *by_name(given, names, gold), options)
    ranking = rank_matched(matched, options, how)
    if matched.runs:
        return ranking  # systems with several runs have two comparisons, which `compare` gives
    chosen = _pairs_in_full(len(matched.names), comparisons)
    return replace(ranking, comparisons=_compare_pairs(matched, ranking, chosen, options, **how))


_Choices = TypeVar("_Choices", bound=RankOptions)


def check_ranking(options: _Choices, report: object) -> _Choices:
    """Validate the choices of a ranking, and return them with checked values."""
    check_report(report)
    if options.metric is not None:
        one_of("metric", options.metric, (*METRICS, *OF_SCORES))
    return replace(
        options,
        average=one_of("average", options.average, AVERAGES),
        level=open_probability("level", options.level),
        beta=positive("beta", options.beta),
        adjust=one_of("adjust", options.adjust, ADJUSTMENTS),
    )


@dataclass(frozen=True, kw_only=True)
class Known:
    """Results computed before with the same choices; new tests and limits are added."""

    scores: Mapping[int, SystemScores] = field(default_factory=dict)  # by the place of a system
    tests: KnownTests = field(default_factory=dict)  # as for `pair_tests`
    # as for `Score.simultaneous`, of scores without exact intervals
    limits: KnownLimits = field(default_factory=dict)


@on_own_scale
def rank_matched(
    matched: Matched, options: RankOptions, how: dict[str, Any], known: Known | None = None
) -> Ranking:
    """Rank the matched systems; `how` holds `n_jobs` and `report`, as for `rank`."""
    known = Known() if known is None else known
    score, _ = score_asked_for(matched, options)
    scores = ranked_scores(matched, options, known.scores)
    alone = None
    if len(matched.runs or matched.names) == 2:
        given = {} if matched.runs else dict(enumerate(scores.systems))
        as_compared = _ranking_as_compared(options)
        found = compare_matched(matched, as_compared, examples=False, known=given)
        alone = found.comparisons[0]  # with several runs, the comparison of the models
        known.tests.setdefault((0, 1), (alone.pvalue, alone.draws or 0))
    if several_runs(matched):
        score = score.pooled([group.places for group in matched.runs])
    how = {"tested": known.tests, "limited": known.limits, **how}
    facts = facts_of_reading(matched, options)
    if matched.runs:
        facts = (*facts, signed_runs(matched.runs))
        scores = replace(scores, notes=(*scores.notes, *hints_of_runs(matched)))
    return _ranking_by(score, scores, options, how, facts, alone)


def _ranking_as_compared(options: RankOptions) -> CompareOptions:
    """Return the choices of a ranking as those of a comparison."""
    shared = {entry.name for entry in fields(RankOptions)} - {"adjust"}
    return CompareOptions(**{name: getattr(options, name) for name in shared})


def _pairs_in_full(n_systems: int, most: int | None) -> list[tuple[int, int]]:
    """Return the places of the pairs to compare in full: leader and neighbours first, or alone."""
    places = combinations(range(n_systems), 2)
    if most is None:
        most = min(max(2 * n_systems - 3, 0), _MOST_IN_FULL)
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
    """Compare the pairs in these places in full, with the lower system as baseline."""
    number = {name: i for i, name in enumerate(matched.names)}
    names = [(ranking.ranking[j].name, ranking.ranking[i].name) for i, j in places]
    parts = [
        (matched.only(number[a], number[b]), {0: ranking[a], 1: ranking[b]}, ranking.pair(a, b))
        for a, b in names
    ]
    jobs = n_jobs if len(parts) >= _FEWEST_PAIRS_FOR_PROCESSES else 1
    compared = []
    compare = partial(_compare_pair, options, len(ranking.pairs))
    for _, comparisons in in_processes(compare, parts, jobs):
        compared.append(comparisons)
        if report is not None:
            report(len(compared), len(parts))
    return tuple(compared)


def _compare_pair(
    options: RankOptions, n_pairs: int, part: tuple[Matched, dict[int, SystemScores], RankedPair]
) -> Comparisons:
    """Compare two systems in full, with the p-values of the leaderboard."""
    matched, known, pair = part
    chosen = _ranking_as_compared(options)
    result = compare_matched(
        replace(matched, notes=()), chosen, figures=True, buckets=True, known=known
    )
    (comparison,) = result.comparisons
    if not isnan(pair.p_adjusted):
        adjusted = None if n_pairs == 1 else pair.p_adjusted
        comparison = replace(comparison, pvalue=pair.pvalue, p_adjusted=adjusted)
    return replace(
        result,
        comparisons=(comparison,),
        verdicts=(verdict(comparison, result.other_metrics or ()),),
        adjustment=options.adjust,
    )


def ranked_scores(
    matched: Matched, options: RankOptions, known: Mapping[int, SystemScores] | None = None
) -> Scores:
    """Score the systems, including the metric that they are ranked by."""
    score, unit = score_asked_for(matched, options)
    by = options.by if matched.runs else unit
    usual = ScoreOptions(level=options.level, by=by, beta=options.beta)
    return scores_of(matched, usual, also=[score.metric], known=known)


def _rank_counts(systems: Mapping[str, Any], options: RankOptions, how: dict[str, Any]) -> Ranking:
    """Rank systems from their counts by unit, summed over runs."""
    numbers = ("metric", "level", "beta", "adjust", "rng")
    runs, groups = counts_of_runs(systems, options, *numbers)
    score = PooledScore.of_counts(runs, options.metric or "f1", beta=options.beta)
    scores = scores_of_counts(runs, groups, options, (score.metric,))
    alone = None
    if len(groups) == 2:
        alone = compare_counts(systems, _ranking_as_compared(options), figures=False).comparisons[0]
    facts: tuple[str, ...] = "counts", signed_runs(groups)
    if all(isinstance(own, Counts) for own in systems.values()):
        facts, scores = facts[:1], replace(scores, run_scores=None)
    score = score.pooled([group.places for group in groups])
    return _ranking_by(score, scores, options, how, facts, alone)
