"""The leaderboard as a figure for a paper: scores, intervals, and bars that join what ties."""

from __future__ import annotations

import re
from math import isnan
from typing import TYPE_CHECKING

from probative.reporting.escape import plain
from probative.reporting.figures import COLOURS, new_figure
from probative.wording.numbers import metric_name

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from probative.results import Ranking

__all__ = ["rank_figure"]

_ROW, _HEAD = 0.27, 1.1  # inches
_LONGEST = 32  # characters of a name


def rank_figure(ranking: Ranking) -> Figure:
    """Draw a critical-difference style diagram: an upright bar joins systems that tie.

    Left: every system's score with its interval. Right: one bar per tie letter; systems that no
    bar joins are decided.
    """
    rows = len(ranking.ranking)
    groups = tied_groups(ranking)
    widths = [3.0, max(0.4, 0.16 * len(groups))]
    figure, (scores, ties) = new_figure(
        2,
        1,
        width=(2.0 + sum(widths)) / 2,
        height=_HEAD + _ROW * rows,
        sharey=True,
        gridspec_kw={"width_ratios": widths},
    )
    _draw_scores(scores, ranking)
    _draw_ties(ties, groups, rows)
    return figure


def tied_groups(ranking: Ranking) -> list[list[int]]:
    """The places of the systems that share each letter, where it is more than one."""
    groups: dict[str, list[int]] = {}
    for place, system in enumerate(ranking.ranking):
        for letter in re.findall(r"[A-Za-z]'*", system.letters):
            groups.setdefault(letter, []).append(place)
    return [places for places in groups.values() if len(places) > 1]


def _draw_scores(axis: Axes, ranking: Ranking) -> None:
    places = list(range(len(ranking.ranking)))
    runs = {o.system: o.scores for o in ranking.run_scores or () if o.metric == ranking.metric}
    for place, system in zip(places, ranking.ranking, strict=True):
        if isnan(system.estimate):
            continue
        axis.plot([100 * system.low, 100 * system.high], [place, place], color="0.6", linewidth=1.5)
        colour = COLOURS[0] if system.rank_low == 1 else "0.25"
        axis.plot(100 * system.estimate, place, "o", color=colour, markersize=4.5)
        own = runs.get(system.name, ())
        if len(own) > 1:  # single runs, paler and a little lower
            low = [place + 0.25] * len(own)
            axis.plot([100 * s for s in own], low, "o", color=colour, alpha=0.45, markersize=2.5)
    axis.set_yticks(places, [_short(system.name) for system in ranking.ranking])
    axis.set_ylim(len(places) - 0.5, -0.5)
    if any(system.rank_low == 1 < system.rank_high for system in ranking.ranking):
        axis.set_title("blue: may rank first", fontsize=9)
    axis.set_xlabel(
        f"{metric_name(ranking.metric, ranking.match)} (points) with {100 * ranking.level:g} % "
        f"interval"
    )


def _draw_ties(axis: Axes, groups: list[list[int]], rows: int) -> None:
    for column, places in enumerate(groups):
        axis.plot([column, column], [places[0] - 0.2, places[-1] + 0.2], color="0.75", linewidth=1)
        axis.plot([column] * len(places), places, "s", color=COLOURS[0], markersize=4)
    axis.set_xlim(-0.8, max(len(groups), 1) - 0.2)
    axis.set_ylim(rows - 0.5, -0.5)
    axis.tick_params(left=False, labelleft=False, bottom=False, labelbottom=False)
    axis.grid(visible=False)
    axis.spines[["left", "bottom"]].set_visible(False)
    axis.set_title("ties" if groups else "no ties", fontsize=9)


def _short(name: str) -> str:
    """A name that leaves room for the figure, without what matplotlib would take for formulas."""
    text = plain(name).replace("$", r"\$")
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
