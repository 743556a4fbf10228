"""A leaderboard as a document."""

from __future__ import annotations

from math import isnan
from typing import TYPE_CHECKING, Any

from probative.reporting.document import Document, Strong, Table, payload
from probative.reporting.rank_page import ranking_content
from probative.reporting.runs_report import has_runs, spread_table
from probative.reporting.score_report import oddities
from probative.wording.numbers import (
    counted,
    match_words,
    metric_words,
    number,
    points,
    probability,
    pvalue,
    task_words,
)
from probative.wording.ranking import short_letters

if TYPE_CHECKING:
    from collections.abc import Mapping

    from probative.reporting.rank_page import PairCommand
    from probative.results import RankedSystem, Ranking

__all__ = ["leaderboard_table", "pair_table", "rank_document"]

_SHOWN = 28  # pairs of a table that people read: those of eight systems


def rank_document(
    ranking: Ranking,
    command: PairCommand | None = None,
    pages: Mapping[tuple[str, str], str] | None = None,
) -> Document:
    """Show a leaderboard, the pairs where they are few, and the sentences that sum it up.

    Parameters
    ----------
    ranking
        The ranking.
    command
        What to type to see a pair in full that the page does not hold, where that is known.
    pages
        Where pairs have a page of their own, by the names of the lower and the higher system.
    """
    content = ranking.to_dict()
    del content["level"]
    board = leaderboard_table(ranking)
    pairs = pair_table(ranking) if 0 < len(ranking.pairs) <= _SHOWN else None
    runs = spread_table(ranking) if has_runs(ranking) else None
    tables = [table for table in (board, runs, pairs) if table is not None]
    many = len(ranking.pairs) > _SHOWN
    unseen = (f"JSON and CSV hold all {len(ranking.pairs):,} pairs.",) if many else ()
    return Document(
        title=f"Leaderboard of {counted(len(ranking.ranking), 'system')}",
        payload=payload("rank", ranking.signature, **content),
        tables=tuple(tables),
        records=tuple(_records(ranking)),
        notes=(ranking.summary, *unseen, ranking.signature),
        page="ranking.html",
        content=lambda: (
            ranking_content(ranking, board, pairs, command, pages) | {"run_table": runs}
        ),
    )


def leaderboard_table(ranking: Ranking) -> Table:
    """The systems, best first; those that may be the best of all in bold."""
    level, score = f"{100 * ranking.level:g} %", metric_words(ranking.metric)
    rows = tuple(
        (
            Strong(system.name) if _may_lead(ranking, system) else system.name,
            points(system.estimate),
            f"{points(system.low, 1)} to {points(system.high, 1)}",
            _rank_set(system),
            str(system.tier),
            short_letters(system.letters),
            "–" if isnan(system.p_best) else probability(system.p_best),
            number(system.expected_rank, 2),
        )
        for system in ranking.ranking
    )
    return Table(
        (
            "system",
            score,
            level,
            "rank",
            "tier",
            "ties",
            "P(best)",
            "E(rank)",
        ),
        rows,
        title=", ".join(["Leaderboard", *match_words(ranking.match), score]) + " in points",
        notes=tuple(_leaderboard_notes(ranking)),
        bold_note="Systems that may rank first are in bold.",
        droppable=(7, 4, 6, 2, 5),
    )


def _may_lead(ranking: Ranking, system: RankedSystem) -> bool:
    return len(ranking.ranking) > 1 and system.rank_low == 1


def _rank_set(system: RankedSystem) -> str:
    if system.rank_low == system.rank_high:
        return str(system.rank_low)
    return f"{system.rank_low}–{system.rank_high}"


def _leaderboard_notes(ranking: Ranking) -> list[str]:
    task = f"{task_words(ranking.task, ranking.match, counted(ranking.units, ranking.unit))}."
    if len(ranking.ranking) < 2:
        return [task, *oddities(ranking)]
    how = f"{ranking.adjustment.capitalize()}-adjusted p of the {ranking.test} randomisation test"
    pairs = f", all {len(ranking.pairs):,} pairs" if len(ranking.pairs) > 1 else ""
    ties = (
        f"Systems that share a letter (ties) are not told apart at the level {ranking.level:g} "
        f"({how} by {ranking.by}{pairs}); rank: the ranks that a "
        f"system may have, for all systems at once."
    )
    notes = [task, ties]
    if any("–" in short_letters(system.letters) for system in ranking.ranking):
        notes.append("a–d stands for the letters abcd, and so on.")
    chances = "P(best), E(rank): probability of being best and expected rank"
    if ranking.n_draws:
        notes.append(f"{chances}, from {ranking.n_draws:,} draws over the {ranking.by}s.")
    elif not all(isnan(system.p_best) for system in ranking.ranking):
        notes.append(f"{chances}, from the posterior of the difference.")
    if _surer_than_tests(ranking):
        notes.append(
            f"P(best) is surer here than the tests: it knows no other {ranking.by}s than these. "
            f"Ranks and ties go by the tests."
        )
    return [*notes, *oddities(ranking)]


def _surer_than_tests(ranking: Ranking) -> bool:
    """Whether the first is all but certainly the best, though not decided to be."""
    first, *others = ranking.ranking
    if not first.p_best >= ranking.level:
        return False
    pairs = [ranking.pair(first.name, system.name) for system in others]
    return any(not pair.decided and abs(pair.difference) > 0 for pair in pairs)


def pair_table(ranking: Ranking) -> Table:
    """Every pair: the difference, its simultaneous limits, the p-values."""
    rows = tuple(
        (
            f"{pair.b} − {pair.a}",
            points(pair.difference),
            f"{points(pair.low)} to {points(pair.high)}",
            _p(pair.pvalue),
            _p(pair.p_adjusted),
            "yes" if pair.decided else "no",
        )
        for pair in ranking.pairs
    )
    return Table(
        ("pair", "difference", "limits", "p", "p adjusted", "decided"),
        rows,
        title=f"The pair, with {100 * ranking.level:g} % limits"
        if len(ranking.pairs) == 1
        else f"All pairs, with {100 * ranking.level:g} % limits that hold for all at once",
        droppable=(3, 2, 5),
    )


def _p(value: float) -> str:
    return "–" if isnan(value) else pvalue(value)


def _records(ranking: Ranking) -> list[dict[str, Any]]:
    systems = [{"kind": "system", **system.to_dict()} for system in ranking.ranking]
    for own in ranking.run_scores or ():
        systems += ({"kind": "run", **record} for record in own.records())
    return systems + [{"kind": "pair", **pair.to_dict()} for pair in ranking.pairs]
