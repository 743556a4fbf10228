"""``probative study sequential``."""

from __future__ import annotations

from typing import Annotated

from probative.cli import options
from probative.cli.parameters import Option
from probative.cli.studies.simulate import simulate
from probative.studies.options import SequentialOptions

__all__ = ["sequential"]


def sequential(
    given: Annotated[
        SequentialOptions,
        options.choose(
            *("shares", "most"),
            shares=Option(
                "--share",
                metavar="P",
                parser=options.number_list,
                several=True,
                help="P-values that tests estimate; several times, or with commas.",
            ),
            most=Option(metavar="N", parser=options.whole, help="The most draws of a test."),
        ),
    ],
    out: options.Output,
) -> None:
    """When do sampled tests stop, and how often do they decide wrongly? Computed."""
    from probative.studies.sequential import stopping_study

    columns = {
        "share": "p-value",
        "draws": "draws expected",
        "at_first": "decided at first look",
        "wrong": "wrong of a million",
        "undecided": "undecided",
    }
    note = (
        "Decisions at 0.05 and 0.01. Wrong are those that differ from what drawing everything "
        "would decide; 100 of a million are allowed."
    )
    simulate(
        "sequential",
        stopping_study,
        given,
        out,
        columns=columns,
        title="When sampled tests stop",
        notes=[note],
        counting="p-values",
    )
