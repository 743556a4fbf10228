"""A plan of runs and units as a document."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from probative.options import sign
from probative.reporting.document import Document, Strong, Table, payload
from probative.wording.numbers import number, points

if TYPE_CHECKING:
    from probative.results.runs import RunsPlan

__all__ = ["runs_plan_document"]


def runs_plan_document(plan: RunsPlan) -> Document:
    """Show how long the interval would be, how likely the difference shows, and what to buy."""
    signed = plan.signature or sign("plan", plan.metric, f"level:{plan.level:g}")
    return Document(
        title="How many runs, how much data?",
        payload=payload("plan", signed, **plan.to_dict()),
        tables=(_grid(plan),),
        records=tuple(plan.records()),
        notes=(*_sentences(plan), signed),
    )


def _grid(plan: RunsPlan) -> Table:
    """Half-widths with the power below them, and the units that the power needs."""
    unit = plan.by
    heads = ("runs of either", *(f"{n:,} {unit}s" for n in plan.units), f"{unit}s needed")
    rows = []
    lines = zip(plan.runs, plan.half_widths, plan.powers, plan.units_needed, strict=True)
    for runs, widths, powers, needed in lines:
        cells = [
            _cell(width, power, enough=power >= plan.power)
            for width, power in zip(widths, powers, strict=True)
        ]
        rows.append((f"{runs}", *cells, "–" if needed is None else f"{needed:,}"))
    return Table(
        heads,
        tuple(rows),
        title=(
            f"± half the length of the {100 * plan.level:g} % interval for procedures (points), "
            f"and the power to show {points(plan.difference)} points"
        ),
        bold_note=f"bold: power {number(plan.power, 2)} or more",
    )


def _cell(width: float, power: float, *, enough: bool) -> str:
    text = f"±{100 * width:.2f} ({number(power, 2)})"
    return Strong(text) if enough else text


def _sentences(plan: RunsPlan) -> list[str]:
    unit = plan.by
    pilot = f"{plan.n_runs_a} and {plan.n_runs_b} runs on {plan.observed_units:,} {unit}s"
    instead = f"no number of {unit}s would do as much"
    if plan.units_instead is not None:
        more = plan.units_instead - plan.observed_units
        instead = f"so would {more:,} more {unit}{'s' if more != 1 else ''}"
    now, then = (100 * w for w in (plan.half_width, plan.half_width_with_another_run))
    told = [
        f"The pilot ({pilot}) gives an interval of ±{now:.2f} points.",
        f"One more run of either system would make it ±{then:.2f}; {instead}.",
    ]
    shares = {name: share for name, share in plan.shares.items() if not math.isnan(share)}
    if shares:
        seeds = shares["runs_a"] + shares["runs_b"]
        told.append(
            f"Of the variance of the difference, {100 * shares['units']:.0f} % comes from which "
            f"{unit}s are in the test set, {100 * seeds:.0f} % from which runs there are, and "
            f"{100 * shares['interaction']:.0f} % from what single runs do to single {unit}s, "
            f"which more of either would lessen."
        )
    told.append(
        "With the variances of the pilot, which are estimates: those of few runs are rough. Plan "
        "with the smallest difference that would matter to you."
    )
    return [*told, *([plan.note] if plan.note else [])]
