"""``probative study repeats``."""

from __future__ import annotations

from typing import Annotated

from probative.cli import options
from probative.cli.parameters import Option
from probative.cli.studies.simulate import simulate
from probative.studies.options import RepeatsOptions

__all__ = ["repeats"]


def repeats(
    given: Annotated[
        RepeatsOptions,
        options.choose(
            *("samples", "repeats", "scores", "level", "replicates", "rng"),
            samples=Option(metavar="N,...", parser=options.whole_list, help="Samples."),
            repeats=Option(
                metavar="K,...", parser=options.whole_list, help="Answers to each sample."
            ),
            scores=Option(
                "--score",
                metavar="P",
                parser=options.number_list,
                several=True,
                help="The true score; several times, or with commas.",
            ),
        ),
    ],
    out: options.RandomOutput,
) -> None:
    """Do the limits hold for a model that answers each sample several times? By simulation."""
    from probative.studies.runs import repeats_study

    columns = {
        "score": "score",
        "truth": "truth",
        "samples": "samples",
        "repeats": "answers each",
        "coverage": "coverage",
        "standard_error": "s.e.",
        "ignoring": "as if independent",
        "share_of_answers": "share of answers",
    }
    note = (
        f"{given.replicates:,} test sets each: how often the limits hold the true score, the same "
        f"for limits that take all items to be independent, and the share of the variance that "
        f"more answers could remove, as estimated, on average."
    )
    simulate(
        "repeats",
        repeats_study,
        given,
        out,
        columns=columns,
        title="Repeated answers: do the limits hold?",
        notes=[note],
    )
