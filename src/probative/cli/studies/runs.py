"""``probative study runs``."""

from __future__ import annotations

from typing import Annotated

from probative.cli import options
from probative.cli.parameters import Option
from probative.cli.studies.simulate import simulate
from probative.studies.options import RunsOptions

__all__ = ["runs"]


def runs(
    given: Annotated[
        RunsOptions,
        options.choose(
            *("runs", "ratios", "units", "scores", "seeds", "level", "replicates", "rng"),
            runs=Option(metavar="R,...", parser=options.whole_list, help="Runs of either system."),
            ratios=Option(
                "--ratio",
                metavar="V",
                parser=options.number_list,
                several=True,
                help="The variance of seeds over that of test sets; several times, or with commas.",
            ),
            units=Option(metavar="N,...", parser=options.whole_list, help="Units of a test set."),
            scores=Option(
                "--score",
                metavar="F1",
                parser=options.number_list,
                several=True,
                help="The true score; several times, or with commas.",
            ),
            seeds=Option(
                "--spread",
                metavar="HOW,...",
                parser=options.word_list,
                help="How seeds spread: alike, paired, one, failing.",
            ),
        ),
    ],
    out: options.RandomOutput,
) -> None:
    """Do the limits for training procedures hold, with few runs and many? By simulation."""
    from probative.studies.runs import runs_study

    columns = {
        "seeds": "seeds",
        "f1": "F1",
        "units": "units",
        "ratio": "ratio",
        "runs_a": "runs of A",
        "runs_b": "of B",
        "coverage": "coverage",
        "standard_error": "s.e.",
        "size": "size",
        "width": "length",
        "once": "once",
        "ignoring": "ignoring seeds",
        "ignoring_width": "length",
        "new_run": "new runs",
        "new_run_here": "here",
    }
    note = (
        f"{given.replicates:,} test sets for each population: how often the limits for procedures "
        f"hold their true difference, 0, and how often their test rejects it; the same coverage "
        f"where what runs do to single units is counted once, and of the limits for models, which "
        f"ignore that seeds vary. New runs: how often limits of the same kind hold the difference "
        f"of two new runs, on a new test set and on this one."
    )
    simulate(
        "runs",
        runs_study,
        given,
        out,
        columns=columns,
        title="Several runs: do the limits for procedures hold?",
        notes=[note],
        counting="populations",
    )
