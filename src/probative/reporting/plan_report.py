"""A plan as a document."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from probative.options import sign
from probative.reporting.document import Document, Table, payload
from probative.wording.numbers import number, points

if TYPE_CHECKING:
    from probative.results import Plan

__all__ = ["plan_document"]


def plan_document(plan: Plan) -> Document:
    """Show which difference, power and number of units belong together."""
    unit = plan.by
    signed = plan.signature or sign("plan", plan.metric, f"level:{plan.level:g}")
    units = "–" if plan.units is None else f"{plan.units:,}"
    difference = math.nan if plan.difference is None else plan.difference
    power = math.nan if plan.power is None else plan.power
    table = Table(
        ("score", "difference", "power", f"{unit}s", "observed"),
        (
            (
                plan.metric,
                points(difference),
                number(power),
                units,
                f"{plan.observed_units:,}",
            ),
        ),
        title="What belongs together (difference in points)",
    )
    return Document(
        title="How much data would settle it?" + (f" {plan.b} against {plan.a}" if plan.b else ""),
        payload=payload("plan", signed, **plan.to_dict()),
        tables=(table,),
        records=(plan.to_dict(),),
        notes=(_sentence(plan, unit), signed),
    )


def _sentence(plan: Plan, unit: str) -> str:
    why = f": {plan.note}" if plan.note else ""
    if plan.units is None:
        why = why or f": the two score the same, or never differ from one {unit} to another"
        return f"No number of {unit}s would do{why}."
    if plan.difference is None:
        return f"No difference would show on {plan.units:,} {unit}s{why}."
    if plan.power is None:
        return f"The power cannot be told{why}."
    return (
        f"A true difference of {points(plan.difference)} points shows at the "
        f"{100 * (1 - plan.level):g} % level with probability {number(plan.power, 2)} on "
        f"{plan.units:,} {unit}s like the {plan.observed_units:,} of the pilot (normal "
        f"approximation){why}."
    )
