"""``probative study ranks``."""

from __future__ import annotations

from typing import Annotated

from probative.cli import options
from probative.cli.parameters import Option
from probative.cli.studies.simulate import simulate
from probative.studies.options import RanksOptions

__all__ = ["ranks"]


def ranks(
    given: Annotated[
        RanksOptions,
        options.choose(
            *("systems", "adjust", "limits_only", "level", "replicates", "rng"),
            systems=Option(
                metavar="N,...", parser=options.whole_list, help="How many systems; with commas."
            ),
            adjust=Option(metavar="HOW", help="holm or shaffer."),
            limits_only=Option(help="Leave out the tests of pairs, and with them the rank sets."),
        ),
    ],
    out: options.RandomOutput,
) -> None:
    """Do all rank sets, and the limits of all differences, hold at once? By simulation."""
    from probative.studies.ranks import rank_study

    tested = {"rank_sets": "rank sets", "rank_error": "s.e."}
    decided = {"decided": "decided"}
    note = (
        f"{given.replicates:,} test sets each: the share on which all rank sets hold the true "
        f"ranks, and on which the limits of all differences hold the true ones; and the mean share "
        f"of pairs that are decided."
    )
    if given.limits_only:
        tested, decided = {}, {}
        note = (
            f"{given.replicates:,} test sets each: the share on which the limits of all "
            f"differences hold the true ones. No pair is tested."
        )
    simulate(
        "ranks",
        rank_study,
        given,
        out,
        columns={
            "systems": "systems",
            "truth": "in truth",
            "units": "test set",
            **tested,
            "limits": "limits",
            "limits_error": "s.e.",
            **decided,
        },
        title="Leaderboards that are right in everything",
        notes=[note],
        counting="test sets",
    )
