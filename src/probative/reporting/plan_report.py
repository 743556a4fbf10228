"""Build the documents and the figure of a plan of units, or of runs and units."""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from probative.errors import InputError
from probative.options import sign
from probative.reporting.document import Answer, Column, Document, Strong, Table, Words, payload
from probative.reporting.pictures import COLOURS, new_figure
from probative.wording.numbers import (
    counted,
    factor,
    metric_name,
    number,
    on_own_scale,
    points,
    scale_word,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from probative.results import Plan
    from probative.results.runs import RunsPlan


@on_own_scale
def plan_document(plan: Plan) -> Document:
    """Build the document of a plan: difference, power and number of units."""
    signed = plan.signature or sign("plan", plan.metric, f"level:{plan.level:g}")
    commas, said = "{:,}".format, _sentence(plan, plan.by)
    table = Table.of(
        [plan],
        Words("score", "metric"),
        Column("difference", form=points),
        Column("power", form=number),
        Column(f"{plan.by}s", "units", lambda units: "–" if units is None else commas(units)),
        Column("observed", "observed_units", commas),
        title="Sample size",
    )
    return Document(
        title="How much data is needed?" + (f" {plan.b} against {plan.a}" if plan.b else ""),
        payload=payload("plan", signed, **plan.to_dict()),
        tables=(table,),
        records=(plan.to_dict(),),
        notes=(said, signed),
        headline=(Answer(*_headline(plan), (said,)),),
    )


def _headline(plan: Plan) -> tuple[str, str]:
    """Return the number of units needed, or what was asked for instead, and its state."""
    given = {part.partition(":")[0] for part in plan.signature.split("|")}
    if plan.units is None:
        return f"No number of {plan.by}s is enough", "open"
    if "units" not in given:
        return f"{counted(plan.units, plan.by)} needed", "fact"
    if "difference" in given:
        return f"Power {number(plan.power, 2)}", "fact"
    if plan.difference is None:
        return "No difference shows", "fact"
    return f"Differences from {points(plan.difference, 1)}{scale_word()} on show", "fact"


def _sentence(plan: Plan, unit: str) -> str:
    why = f": {plan.note}" if plan.note else ""
    if plan.units is None:
        why = why or f": the two score the same, or never differ from one {unit} to another"
        return f"No number of {unit}s is enough{why}."
    if plan.difference is None:
        return f"No difference is detectable on {plan.units:,} {unit}s{why}."
    if plan.power is None:
        return f"The power cannot be computed{why}."
    return (
        f"A true difference of {points(plan.difference)}{scale_word()} is significant at the "
        f"{100 * (1 - plan.level):g} % level with probability {number(plan.power, 2)} on "
        f"{plan.units:,} {unit}s like the {plan.observed_units:,} of the pilot (normal "
        f"approximation){why}."
    )


# --- Plan of runs and units


@on_own_scale
def runs_plan_document(plan: RunsPlan) -> Document:
    """Build the document of a plan of runs: interval lengths, power, and advice."""
    signed = plan.signature or sign("plan", plan.metric, f"level:{plan.level:g}")
    return Document(
        title="How many runs, how much data?",
        payload=payload("plan", signed, **plan.to_dict()),
        tables=(_grid(plan),),
        records=tuple(plan.records()),
        notes=(*_sentences(plan), signed),
        headline=(_runs_headline(plan),),
    )


def _runs_headline(plan: RunsPlan) -> Answer:
    """Return the number of units needed with as many runs as there are."""
    now = max(plan.n_runs_a, plan.n_runs_b)
    at = min(range(len(plan.runs)), key=lambda i: abs(plan.runs[i] - now))
    needed, runs = plan.units_needed[at], counted(plan.runs[at], "run")
    words, state = f"No number of {plan.by}s is enough", "open"
    if needed is not None:
        words, state = f"{counted(needed, plan.by)} needed", "fact"
    return Answer(f"{words} with {runs} each", state, tuple(_sentences(plan)[:2]))


def _grid(plan: RunsPlan) -> Table:
    """Build the table of half-widths and power, and the units that the power needs."""

    def cell(i: int, j: int) -> str:
        power = plan.powers[i][j]
        text = f"±{points(plan.half_widths[i][j])} ({number(power, 2)})"
        return Strong(text) if power >= plan.power else text

    def needed(i: int) -> str:
        units = plan.units_needed[i]
        return "–" if units is None else f"{units:,}"

    return Table.of(
        range(len(plan.runs)),
        Words("runs each", lambda i: f"{plan.runs[i]}"),
        *(Column(f"{n:,} {plan.by}s", partial(cell, j=j)) for j, n in enumerate(plan.units)),
        Column(f"{plan.by}s needed", needed),
        title=f"± half the width of the {100 * plan.level:g} % interval for procedures"
        f"{scale_word(' (', ')')}, and the power to detect {points(plan.difference)}{scale_word()}",
        bold_note=f"bold: power {number(plan.power, 2)} or more",
    )


def _sentences(plan: RunsPlan) -> list[str]:
    unit = plan.by
    pilot = f"{plan.n_runs_a} and {plan.n_runs_b} runs on {plan.observed_units:,} {unit}s"
    instead = f"no number of further {unit}s has the same effect"
    if plan.units_instead is not None:
        more = plan.units_instead - plan.observed_units
        instead = f"so would {counted(more, f'more {unit}')}"
    now, then = (points(w) for w in (plan.half_width, plan.half_width_with_another_run))
    sentences = [
        f"The pilot ({pilot}) gives an interval of ±{now}{scale_word()}.",
        f"One more run of each system would make it ±{then}; {instead}.",
    ]
    shares = {name: share for name, share in plan.shares.items() if not math.isnan(share)}
    if shares:
        seeds = shares["runs_a"] + shares["runs_b"]
        sentences.append(
            f"Of the variance of the difference, {100 * shares['units']:.0f} % comes from the "
            f"choice of test {unit}s, {100 * seeds:.0f} % from the runs, and "
            f"{100 * shares['interaction']:.0f} % from run-by-{unit} interaction, which more runs "
            f"or {unit}s reduce."
        )
    rough = "The variances are estimates from the pilot, and rough for few runs."
    smallest = "Plan with the smallest difference that matters to you."
    return [*sentences, f"{rough} {smallest}", *([plan.note] if plan.note else [])]


# --- Figure of a plan of runs and units

# round numbers of points; one contour for each that lies on the figure
_ROUND = (0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 1, 1.5, 2, 3, 4, 5, 7, 10, 15, 20, 30, 50, 100)
_MOST_LINES = 8


@on_own_scale
def runs_plan_figure(plan: RunsPlan) -> Figure:
    """Draw the half-width of the interval over units and runs, and where the power is reached."""
    # a contour joins designs with intervals of the same length: where it is upright, only more
    # units help, where it is flat, only more runs do
    surface = plan.surface
    if surface is None or not np.all(surface.half_widths > 0):
        raise InputError("plan: nothing varies in the pilot; there is no figure")
    figure, axis = new_figure(1, 1, width=5.4, height=3.8)
    axis.set_xscale("log")
    axis.set_yscale("log")
    widths = factor() * surface.half_widths
    low, high = float(widths.min()), float(widths.max())
    levels = [value for value in _ROUND if low < value < high] or [(low + high) / 2]
    levels = levels[:: -(-len(levels) // _MOST_LINES)]
    grid = surface.units, surface.runs
    lines = axis.contour(*grid, widths, levels=levels, colors="0.45", linewidths=1)
    axis.clabel(lines, fmt=lambda value: f"±{value:g}", fontsize=8)
    reached = surface.powers.max() >= plan.power > surface.powers.min()
    if reached:
        shade: dict[str, Any] = {"colors": [COLOURS[5]], "alpha": 0.35}
        axis.contourf(*grid, surface.powers, levels=[plan.power, 1.01], **shade)
    dot: dict[str, Any] = {"color": COLOURS[1], "markersize": 6, "zorder": 3, "clip_on": False}
    axis.plot(plan.observed_units, (plan.n_runs_a + plan.n_runs_b) / 2, "o", **dot)
    axis.set_yticks(plan.runs, [str(number) for number in plan.runs])
    axis.set_xticks(plan.units, [f"{number:,}" for number in plan.units], rotation=30, ha="right")
    axis.minorticks_off()
    axis.set_xlabel(f"{plan.by}s")
    axis.set_ylabel("runs per system")
    detected = f"{factor() * plan.difference:.3g}{scale_word()} are detected"
    shaded = f"; shaded: {detected} with power {plan.power:g}" if reached else ""
    axis.set_title(
        f"{metric_name(plan.metric)}: half the width of the {100 * plan.level:g} % interval"
        f"{scale_word(', ')}\ndot: as now{shaded}",
        fontsize=9,
    )
    return figure
