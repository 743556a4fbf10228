"""``probative study planning``."""

from __future__ import annotations

from typing import Annotated

from probative.cli import options
from probative.cli.parameters import Option
from probative.cli.studies.simulate import simulate
from probative.studies.options import PlanningOptions

__all__ = ["planning"]


def planning(
    given: Annotated[
        PlanningOptions,
        options.choose(
            *("powers", "replicates", "level", "rng"),
            powers=Option(
                "--power",
                metavar="P",
                parser=options.number_list,
                several=True,
                help="Powers to plan for; several times, or with commas.",
            ),
        ),
    ],
    out: options.RandomOutput,
) -> None:
    """Does a planned sample size give the power that was asked for? By simulation."""
    from probative.studies.planning import planning_study

    columns = {
        "pilot": "pilot",
        "difference": "difference",
        "units": "units planned",
        "planned": "power planned",
        "simulated": "simulated",
        "standard_error": "s.e.",
    }
    note = (
        "Test sets of the planned size are drawn from the units of the pilot; simulated is the "
        "share on which the exact randomisation test by unit is significant."
    )
    simulate(
        "planning",
        planning_study,
        given,
        out,
        columns=columns,
        title="Planned and simulated power",
        notes=[note],
        counting="test sets",
    )
