"""``probative study pairing``."""

from __future__ import annotations

from typing import Annotated

from probative.cli import options
from probative.cli.parameters import Option
from probative.cli.studies.simulate import simulate
from probative.studies.options import PairingOptions

__all__ = ["pairing"]


def pairing(
    given: Annotated[
        PairingOptions,
        options.choose(
            *("sizes", "metrics", "replicates", "level", "rng"),
            sizes=Option(
                "--n",
                metavar="N",
                parser=options.whole_list,
                several=True,
                help="Items; several times, or separated by commas.",
            ),
            metrics=options.STATISTICS["metric"],
        ),
    ],
    out: options.RandomOutput,
) -> None:
    """Do intervals of a difference hold the truth? Does pairing make them shorter? Simulated."""
    from probative.studies.pairing import pairing_study

    columns = {
        "items": "items",
        "metric": "metric",
        "posterior": "posterior",
        "coverage": "coverage",
        "standard_error": "s.e.",
        "length": "length",
        "difference": "true difference",
    }
    note = (
        "Test sets are drawn from a population on which the two systems treat nine items in ten "
        "alike. Independent posteriors ignore that, and their intervals are too long."
    )
    title = f"Coverage of the {100 * given.level:g} % interval of B − A"
    simulate("pairing", pairing_study, given, out, columns=columns, title=title, notes=[note])
