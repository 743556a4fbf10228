"""From a leaderboard to what a ranking says of every system and pair."""

from __future__ import annotations

from dataclasses import fields, replace
from math import isnan
from typing import TYPE_CHECKING, Any

import numpy as np

from probative.inference.ranks import N_BOOTSTRAP
from probative.inference.sampled_evidence import most_exchanges
from probative.results import RankedPair, RankedSystem, Ranking, Scores
from probative.wording.ranking import ranking_summary

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from probative.inference.leaderboard import Evidence, Leaderboard
    from probative.options import RankOptions
    from probative.results import Comparison

__all__ = ["make_ranking"]


def make_ranking(
    scores: Scores,
    metric: str,
    board: Leaderboard,
    evidence: Evidence,
    options: RankOptions,
    facts: tuple[str, ...],
    alone: Comparison | None = None,
) -> Ranking:
    """Build the result, without and then with its sentence.

    Parameters
    ----------
    scores, metric
        What the systems score, and what they are ranked by.
    board, evidence
        Their order, and what it rests on.
    options, facts
        The choices, and what the signature says of the inputs.
    alone
        Of two systems: what `compare` says of them.
    """
    if alone is not None:
        board = _as_compared(board, alone)
    by_place = [scores.systems[i] for i in board.order]
    rows = []
    for place, system in enumerate(by_place):
        own = system[metric]
        rows.append(
            RankedSystem(
                name=system.name,
                metric=metric,
                estimate=float(own.estimate),
                low=float(own.low),
                high=float(own.high),
                rank_low=int(board.rank_low[place]),
                rank_high=int(board.rank_high[place]),
                tier=int(board.tier[place]),
                letters=board.letters[place],
                p_best=float(board.p_best[place]),
                expected_rank=float(board.expected_rank[place]),
                note=None if own.note is None else str(own.note),
            )
        )
    test = "sampled" if evidence.sampled else "exact"
    notes = (*scores.notes, *_remarks(board, evidence, options))
    ranking = Ranking(
        **{field.name: getattr(scores, field.name) for field in fields(scores)},
        metric=metric,
        ranking=tuple(rows),
        pairs=_pairs([row.name for row in rows], metric, board),
        test=test,
        adjustment=options.adjust,
        quantile=board.quantile,
        n_draws=0 if alone or all(isnan(row.p_best) for row in rows) else N_BOOTSTRAP,
    )
    chances = "bayesian-bootstrap" if alone is None else f"{alone.posterior.kind}-posterior"
    signature = options.signature(
        "rank", *facts, metric, f"{test}-by-{scores.by}", options.adjust, chances
    )
    return replace(
        ranking, notes=tuple(notes), summary=ranking_summary(ranking), signature=signature
    )


def _as_compared(board: Leaderboard, c: Comparison) -> Leaderboard:
    """Return the leaderboard of two systems with the interval, p-value and P of `compare`."""
    low, high, best = c.low, c.high, np.array([c.p_b_better, c.p_a_better])
    if board.order[0] == 0:  # A leads: its score minus that of B
        low, high, best = -c.high, -c.low, best[::-1]
    lows, highs = board.low.copy(), board.high.copy()
    lows[0, 1], highs[0, 1], lows[1, 0], highs[1, 0] = low, high, -high, -low
    pvalue = np.where(np.isnan(board.pvalue) | np.eye(2, dtype=bool), board.pvalue, c.pvalue)
    board = replace(board, low=lows, high=highs, pvalue=pvalue)
    if np.isnan(best).any():
        return board
    ahead = np.array([[0.5, best[0]], [best[1], 0.5]])
    return replace(board, p_ahead=ahead, p_best=best, expected_rank=2 - best)


def _remarks(board: Leaderboard, evidence: Evidence, options: RankOptions) -> list[str]:
    """What must be said about how the pairs were judged."""
    said = []
    n_pairs = len(evidence.estimates) * (len(evidence.estimates) - 1) // 2
    if evidence.approximate and n_pairs:
        fewest, most = (f"{number:,}" for number in evidence.draws)
        drawn = fewest if fewest == most else f"{fewest} to {most}"
        said.append(
            f"{evidence.approximate}: the tests are sampled ({drawn} exchanges each), intervals "
            f"are approximations"
        )
        if n_pairs / (most_exchanges(n_pairs) + 1) > 1 - options.level:
            said.append(
                f"{n_pairs:,} pairs are too many for sampled tests: none can be decided at this "
                f"level; expected fewer systems"
            )
    elif evidence.sampled:
        said.append(
            f"{evidence.sampled:,} of {n_pairs:,} tests are sampled, because the exact ones would "
            f"not fit into memory"
        )
    if evidence.unclear:
        said.append(
            f"of {evidence.unclear:,} of {n_pairs:,} pairs it is not clear what all exchanges "
            f"would decide: the leaderboard goes by those drawn"
        )
    if evidence.overstated:
        amounts = f" (up to {evidence.returned:.2f} times)" if evidence.returned >= 1.05 else ""
        said.append(
            f"the systems return different amounts{amounts}: of {evidence.overstated:,} of "
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
            said.append(
                f"interval and test disagree on {number:,} of {n_pairs:,} pairs: {what}; the "
                f"leaderboard goes by the test"
            )
    return said


def _pairs(names: list[str], metric: str, board: Leaderboard) -> tuple[RankedPair, ...]:
    """Every pair, in the order of the leaderboard; b stands above a."""
    columns: list[NDArray[Any]] = [
        board.difference,
        board.low,
        board.high,
        board.pvalue,
        board.p_adjusted,
        board.decided,
        board.identical,
        board.p_ahead,
        board.p_unit,
    ]
    upper = np.triu_indices(len(names), 1)
    values = zip(*(column[upper].tolist() for column in columns), strict=True)
    places = zip(*(side.tolist() for side in upper), strict=True)
    return tuple(
        RankedPair(names[below], names[above], metric, *row)
        for (above, below), row in zip(places, values, strict=True)
    )
