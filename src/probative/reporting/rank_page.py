"""What the page of a leaderboard shows besides its sentences."""

from __future__ import annotations

import json
from math import isfinite
from typing import TYPE_CHECKING, Any

from probative.reporting.document import Table, Tracks, points
from probative.reporting.escape import plain
from probative.wording import counted, metric_name

if TYPE_CHECKING:
    from collections.abc import Sequence

    from probative.results import Interval, LabelScores, RankedSystem, Ranking

__all__ = ["ranking_content"]

_SCORES_BY_LABEL = 100_000  # systems times labels that a page holds; about 2 MB
_NAMED = 60  # systems that a matrix has room to name
_PAIRS = 45_000  # pairs that it holds, those of 300 systems; about 3 MB


def ranking_content(ranking: Ranking, board: Table, pairs: Table | None) -> dict[str, Any]:
    """Everything that the template asks for.

    Parameters
    ----------
    ranking
        The ranking.
    board, pairs
        Its tables; the pairs as a table only where they are few.
    """
    labels = _labels(ranking)
    held = len(ranking.pairs) <= _PAIRS
    tracks = Tracks.of([(s.estimate, s.low, s.high) for s in ranking.ranking])
    return {
        "facts": _facts(ranking),
        "recognised": ranking.notes,
        "board": board,
        "tracks": tracks,
        "rows": [
            {"system": system, "cells": cells, "starts": _starts_tier(ranking.ranking, place)}
            for place, (system, cells) in enumerate(zip(ranking.ranking, board.rows, strict=True))
        ],
        "values": [_sort_values(system) for system in ranking.ranking],
        "labels": labels,
        "pair_table": pairs,
        "n_pairs": f"{len(ranking.pairs):,}",
        "pairs_held": held and bool(ranking.pairs),
        "left_out": _left_out(ranking, labels, held=held),
        "label_metric": metric_name(_label_metric(ranking)),
        "data": page_data(ranking, labels, pairs=held),
        "words": _words(ranking),
    }


def _facts(ranking: Ranking) -> str:
    parts = [
        ranking.task,
        counted(ranking.units, ranking.unit),
        counted(len(ranking.ranking), "system"),
    ]
    return ", ".join(parts).capitalize() + "."


def _starts_tier(ranking: Sequence[RankedSystem], place: int) -> bool:
    return place > 0 and ranking[place].tier != ranking[place - 1].tier


def _sort_values(system: RankedSystem) -> list[Any]:
    """What each column of the leaderboard is sorted by: names as text, the rest as numbers."""
    return [
        system.name,
        system.estimate,
        system.low,
        system.rank_low + system.rank_high / 1e6,
        system.tier,
        system.letters,
        system.p_best,
        system.expected_rank,
    ]


def _label_metric(ranking: Ranking) -> str:
    """A label has no macro average, and no accuracy where all labels are pooled."""
    metric = ranking.metric.removeprefix("macro_")
    there = {s.metric for system in ranking.systems for e in system.by_label[:1] for s in e.scores}
    return metric if metric in there else "f1"


def _labels(ranking: Ranking) -> list[str]:
    """The labels of all systems, or none where there are too many for a page."""
    labels = sorted({entry.label for system in ranking.systems for entry in system.by_label})
    return labels if len(labels) * len(ranking.systems) <= _SCORES_BY_LABEL else []


def _left_out(ranking: Ranking, labels: Sequence[str], *, held: bool) -> list[str]:
    said = []
    if not labels and any(system.by_label for system in ranking.systems):
        said.append(
            f"Scores by label are left out here: the page holds {_SCORES_BY_LABEL:,} of them at "
            f"most. JSON and CSV have all."
        )
    if not held:
        said.append(
            f"The {len(ranking.pairs):,} pairs are left out here: the page holds {_PAIRS:,} at "
            f"most. JSON and CSV have all."
        )
    return said


def page_data(ranking: Ranking, labels: Sequence[str], *, pairs: bool) -> str:
    """The numbers of the page as JSON that can stand in a script element.

    Scores and differences are fractions of 1 to six decimals, p-values to four digits; undefined
    is null. `pairs` go by the places of their systems: 0 with 1, 0 with 2, …, 1 with 2, ….
    """
    place = {label: i for i, label in enumerate(labels)}
    own = {system.name: system for system in ranking.systems}
    metric = _label_metric(ranking)
    content: dict[str, Any] = {
        "names": [plain(system.name) for system in ranking.ranking],
        "scores": [_limits(system) for system in ranking.ranking],
        "labels": [plain(label) for label in labels],
        "byLabel": [_by_label(own[s.name].by_label, place, metric) for s in ranking.ranking],
        "level": ranking.level,
    }
    if pairs:
        columns = {
            "d": [_rounded(pair.difference) for pair in ranking.pairs],
            "low": [_rounded(pair.low) for pair in ranking.pairs],
            "high": [_rounded(pair.high) for pair in ranking.pairs],
            "p": [_digits(pair.pvalue) for pair in ranking.pairs],
            "adjusted": [_digits(pair.p_adjusted) for pair in ranking.pairs],
            "better": [_rounded(pair.p_b_better) for pair in ranking.pairs],
            "decided": [int(pair.decided) for pair in ranking.pairs],
            "same": [int(pair.identical) for pair in ranking.pairs],
        }
        content["pairs"] = columns
    text = json.dumps(content, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    # nothing in it may end the element, or begin another
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")


def _by_label(
    entries: Sequence[LabelScores], place: dict[str, int], metric: str
) -> dict[int, list[float | None]]:
    return {
        place[entry.label]: _limits(next(s for s in entry.scores if s.metric == metric))
        for entry in entries
        if entry.label in place
    }


def _limits(score: Interval | RankedSystem) -> list[float | None]:
    return [_rounded(float(value)) for value in (score.estimate, score.low, score.high)]


def _rounded(value: float) -> float | None:
    return round(value, 6) if isfinite(value) else None


def _digits(value: float) -> float | None:
    return float(f"{value:.4g}") if isfinite(value) else None


def _narrow(ranking: Ranking) -> str:
    many = len(ranking.ranking) > _NAMED
    return " Fewer systems, chosen by name above, make larger squares." if many else ""


def _words(ranking: Ranking) -> dict[str, str]:
    """Each part of the page in plain words."""
    metric, level = metric_name(ranking.metric), f"{100 * ranking.level:g} %"
    scores = [system.estimate for system in ranking.ranking if isfinite(system.estimate)]
    spread = f", from {points(max(scores))} to {points(min(scores))}" if scores else ""
    return {
        "board": f"{metric[:1].upper()}{metric[1:]} of each system with its own {level} interval"
        f"{spread}. A line above a row begins a tier: all systems above it are decided better than "
        f"the one in that row. Intervals that overlap do not tell whether two systems differ: the "
        f"pairs below do.",
        "matrix": f"Each square compares the system of its row with the one of its column. Blue: "
        f"the row is better. Orange: the column is. Grey: the scores are equal; empty: one is "
        f"undefined. The stronger the colour, the larger the difference. A "
        f"full square is decided (adjusted p at most {1 - ranking.level:.4g}), a small one is not: "
        f"the two tie.{_narrow(ranking)}",
        "pair": f"The limits hold for all pairs at once with a confidence of {level}. p is of the "
        f"{ranking.test} randomisation test by {ranking.by}; adjusted, it allows for the number of "
        f"pairs ({ranking.adjustment.capitalize()}). P(better) is the probability, given these "
        f"data and nothing else, that a system scores higher than the other on {ranking.by}s like "
        f"these.",
    }
