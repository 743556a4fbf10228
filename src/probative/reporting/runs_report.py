"""Build the tables of several runs: mean and spread, single runs, parts of the variance."""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING, Any

from probative.reporting.document import Column, Named, Table, Words, scored
from probative.wording.numbers import (
    counted,
    metric_name,
    metric_words,
    number,
    points,
    pvalue,
    scale_word,
    some,
    with_interval,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from probative.reporting.pictures import Shares
    from probative.results import Comparison, Ranking, Result, RunScores, Scores, SystemScores


# source of each part of the variance, and its colour in the drawing
_PARTS = {
    "units": ("test set", "soft"),
    "runs_a": ("runs of {a}", "a"),
    "runs_b": ("runs of {b}", "b"),
    "interaction": ("interaction", "d"),
}
_MOST_RUNS = 30  # runs in a table


def of_kind(kind: str, results: Iterable[Result]) -> list[dict[str, Any]]:
    """Return the records of results, all with this kind."""
    return [{"kind": kind, **record} for one in results for record in one.records()]


def hidden(number: int, what: str, kept: str = "JSON and CSV have all of them") -> str:
    """Say how many rows of a table are hidden, if any are."""
    return f"{number:,} more {what} are hidden here; {kept}." if number > 0 else ""


def has_runs(scores: Scores) -> bool:
    """Return True if a system has several runs."""
    return any(len(own) > 1 for own in scores.run_scores or ())


def main_metric(scores: Scores) -> str:
    """Return the usual metric of the task: F1, or the first one."""
    known = [own.metric for own in scores.run_scores or ()]
    return "f1" if "f1" in known and scores.task != "segmentation" else known[0]


def mean_table(
    result: Scores, comparisons: Sequence[Comparison] = (), digits: int | None = None
) -> Table:
    """Build the table of mean and spread of scores; `comparisons` are those of the procedures."""
    decimals = 1 if digits is None else digits
    metrics = list(dict.fromkeys(own.metric for own in result.run_scores or ()))
    compared = {c.metric for c in comparisons} or {main_metric(result)}

    def column(metric: str) -> Column:
        def cell(system: SystemScores) -> str:
            return _mean_and_spread(result.runs_of(system.name, metric), decimals)

        return Column(metric_words(metric), cell, drop=int(metric not in compared))

    return Table.of(
        result.systems,
        Words("system", "name"),
        Column("runs", lambda s: str(len(result.runs_of(s.name, metrics[0])))),
        *map(column, metrics),
        title=f"Scores of runs{scale_word(' in ')}, mean ± standard deviation ({result.task}, "
        f"{counted(result.units, result.unit)})",
        caption=tuple(_in_a_caption(c, decimals) for c in comparisons),
    )


def _mean_and_spread(own: RunScores, decimals: int = 1) -> str:
    if own.spread != own.spread:
        return points(own.mean, decimals)
    return f"{points(own.mean, decimals)} ± {points(own.spread, decimals)}"


def _in_a_caption(c: Comparison, decimals: int) -> str:
    gap = with_interval(c.difference, c.low, c.high, decimals, signed=True)
    return (
        f"{c.b} − {c.a}, {metric_name(c.metric, c.match)}: {gap}{scale_word()}, "
        f"{100 * c.level:g} % interval for test set and runs together."
    )


def named_pairs(c: Comparison) -> str:
    """Return a sentence that names the paired runs; of many, the first."""
    pairs = some([f"{one} with {other}" for one, other in c.pairs or ()])
    return f"Pairs of runs, {c.a} with {c.b}: {pairs}."


def run_table(result: Scores, metric: str) -> Table:
    """Build the table of the worst and best run of every system, and all runs together."""
    return Table.of(
        [Named(s.name, (result.runs_of(s.name, metric), s[metric])) for s in result.systems],
        Words("system", "name"),
        Column("worst run", lambda one: points(one.score[0].worst, 1)),
        Column("best run", lambda one: points(one.score[0].best, 1)),
        Column("all runs", lambda one: scored(one.score[1])),
        title=f"{metric_words(metric)} of the runs{scale_word(' in ')}",
        notes=(_ALL_RUNS.format(by=result.by),),
    )


_ALL_RUNS = (
    "All runs: pooled counts. The interval is for these trained models; the {by} is the unit."
)
_SHARES = (
    "Sources of variance: test {by}s, runs, and their interaction. The standard error{in_points} "
    "counts the interaction twice, to be safe."
)


def repeats_table(result: Scores, metric: str) -> Table:
    """Build the table of the interval of every system with more units or more runs."""
    unit = result.by
    found = [Named(s.name, result.runs_of(s.name, metric).repeated) for s in result.systems]

    def width(head: str, **more: Callable[[Any], float]) -> Column:
        def cell(one: Named) -> str:
            return points(one.score.width_with(**{k: v(one.score) for k, v in more.items()}))

        return Column(head, cell)

    return Table.of(
        [one for one in found if one.score and one.score.share_of_answers is not None],
        Words("system", "name"),
        Column(f"{unit}s", lambda one: _percent(1 - one.score.share_of_answers)),
        Column("runs", "score.share_of_answers", _percent),
        width("length"),
        width(f"2 × {unit}s", samples=lambda repeated: 2 * repeated.samples),
        width("2 × runs", repeats=lambda repeated: 2 * repeated.repeats),
        width("endless runs", repeats=lambda _: inf),
        title=f"Interval with more {unit}s or more runs, {metric_words(metric)}",
        notes=(_MORE.format(unit=unit, in_points=scale_word(" in ")),),
    )


_MORE = (
    "Shares of the variance from the {unit}s and from the runs; the length of the "
    "interval{in_points} as it is, and with more of either."
)


def spread_table(ranking: Ranking) -> Table:
    """Build the table of the spread of the runs, in the order of a leaderboard."""
    return Table.of(
        [ranking.runs_of(system.name, ranking.metric) for system in ranking.ranking],
        Words("system"),
        Column("runs", len),
        Column("mean ± spread", _mean_and_spread),
        Column("worst run", lambda own: points(own.worst, 1)),
        Column("best run", lambda own: points(own.best, 1)),
        title=f"Runs, {metric_words(ranking.metric)}{scale_word(' in ')}",
        details=(_RANKED,),
    )


_RANKED = (
    "Mean of the runs ± their standard deviation. The leaderboard adds up the counts of all runs "
    "of a system: it ranks these trained models on test sets like this one. compare shows, pair "
    "by pair, how new runs would differ."
)


def single_runs(result: Scores, metric: str) -> Table:
    """Build the table of the scores of single runs; of many runs, the first."""
    scores = [own for own in result.run_scores or () if own.metric == metric]
    rows = [
        (own.system, run, points(score, 1))
        for own in scores
        for run, score in list(zip(own.runs, own.scores, strict=True))[:_MOST_RUNS]
    ]
    more = hidden(sum(map(len, scores)) - len(rows), "runs", "JSON and CSV have all")
    return Table(
        ("system", "run", metric_words(metric)),
        tuple(rows),
        title=f"Single runs, {metric_words(metric)}{scale_word(' in ')}",
        notes=(more,) if more else (),
        text_columns=2,
    )


def _named_shares(c: Comparison) -> list[tuple[str, str, float]]:
    """Return the source, the colour and the share of each part of the variance."""
    parts = c.variance
    if parts is None:
        return []
    sources = dict(_PARTS)
    if parts.paired_runs:  # pairs vary, not the runs of each system
        sources |= {"runs_a": ("pairs of runs", "a")}
        del sources["runs_b"]
    return [
        (words.format(a=c.a, b=c.b), colour, parts.shares[name])
        for name, (words, colour) in sources.items()
    ]


def variance_table(comparisons: Sequence[Comparison]) -> Table:
    """Build the table of the parts of the variance of every mean difference."""
    by = comparisons[0].by.removesuffix(" and run")
    heads = [name for name, *_ in _named_shares(comparisons[0])]
    if len({(c.a, c.b) for c in comparisons}) > 1 and "pairs of runs" not in heads:
        heads[1:3] = "runs of baseline", "runs of other"

    def share(place: int) -> Column:
        return Column(heads[place], lambda c: _percent(_named_shares(c)[place][2]))

    return Table.of(
        comparisons,
        *_pair_columns(comparisons),
        *map(share, range(len(heads))),
        Column("std. error", "standard_error", points, drop=1),
        title="Where the uncertainty of the mean difference comes from",
        notes=(_SHARES.format(by=by, in_points=scale_word(", in ", ",")),),
    )


def _pair_columns(comparisons: Sequence[Comparison]) -> list[Column]:
    """Return the columns of the pair, and of the metric if there are several."""
    several = len({c.metric for c in comparisons}) > 1
    return [
        Words("comparison", lambda c: f"{c.b} − {c.a}"),
        Words("score", "metric", metric_words, when=several),
    ]


def companion_table(comparisons: Sequence[Comparison]) -> Table:
    """Build the table of tests that use only the scores of the runs."""
    found = [c for c in comparisons if c.companions is not None]
    companions = [c.companions for c in found if c.companions is not None]
    return Table.of(
        found,
        *_pair_columns(comparisons),
        Column("permutation p", "companions.permutation_pvalue", pvalue),
        Column(f"{_RANK_TESTS[companions[0].rank_test]} p", "companions.rank_pvalue", pvalue),
        Column("P(run better)", lambda c: number(c.companions.p_run_better, 2)),
        Column("eps_min", "companions.eps_min", number),
        title="Companions: the scores of the runs alone",
        notes=(_COMPANIONS.format(exact="all" if all(c.exact for c in companions) else "sampled"),),
    )


_RANK_TESTS = {"mann-whitney": "Mann-Whitney", "wilcoxon": "Wilcoxon"}
_COMPANIONS = (
    "They use one number per run and hold for this test set only. Permutation: {exact} assignments "
    "of runs to systems. P(run better): the share of pairs of runs in which the first system "
    "scores higher. eps_min: almost stochastic order; below 0.5 the first system is almost "
    "stochastically dominant."
)


def _percent(share: float) -> str:
    return "–" if share != share else f"{number(100 * share, 0)} %"


def variance_picture(c: Comparison) -> Shares | None:
    """Picture the shares of the parts of the variance as one bar."""
    from probative.reporting.pictures import Part, Shares

    parts = [Part(name, share, colour) for name, colour, share in _named_shares(c)]
    if not parts or any(part.share != part.share for part in parts):
        return None
    listed = ", ".join(f"{part.name} {100 * part.share:.0f} %" for part in parts)
    return Shares(
        parts,
        title="Where the uncertainty about new runs comes from.",
        description=f"Shares of the variance of the mean difference: {listed}",
        reading="More sentences shrink the first part, more runs the parts of the runs; their "
        "interaction shrinks with either.",
    )
