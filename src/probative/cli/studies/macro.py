"""``probative study macro``."""

from __future__ import annotations

from typing import Annotated

from probative.cli import options
from probative.cli.studies.simulate import simulate
from probative.studies.options import MacroOptions

__all__ = ["macro"]


def macro(
    given: Annotated[MacroOptions, options.choose("replicates", "level", "rng")],
    out: options.RandomOutput,
) -> None:
    """Do the intervals of macro averages cover what they promise? By simulation."""
    from probative.studies.macro import macro_coverage

    columns = {
        "condition": "labels and F1",
        "question": "of",
        "method": "method",
        "coverage": "coverage",
        "standard_error": "s.e.",
        "length": "length",
    }
    methods = (
        "Intervals of macro F1. delta: the delta method over units, as it was before. mover: "
        "Wilson's limits of each label, joined. one prior: labels share a prior whatever their "
        "size. hierarchical: what is used here."
    )
    pairs = (
        "B scores two points more than A on every label; half of the time they share their fate."
    )
    simulate(
        "macro",
        macro_coverage,
        given,
        out,
        columns=columns,
        title="Coverage of the intervals of macro F1",
        notes=[methods, pairs],
        counting="test sets",
    )
