"""``probative study training``."""

from __future__ import annotations

from typing import Annotated

from probative.cli import options
from probative.cli.parameters import Option
from probative.cli.studies.simulate import simulate
from probative.studies.options import TrainingOptions

__all__ = ["training"]


def training(
    given: Annotated[
        TrainingOptions,
        options.choose(
            *("learners", "gains", "distance", "copies", "items", "replicates", "level", "rng"),
            learners=Option(
                "--learner",
                metavar="NAME",
                parser=options.word_list,
                several=True,
                help="Learners; several times, or separated by commas.",
            ),
            gains=Option(
                "--gain",
                metavar="X",
                parser=options.number_list,
                several=True,
                help="How much more B's features tell; 0: neither is better. Several times, "
                "or with commas.",
            ),
            distance=Option(
                "--distance",
                metavar="X",
                parser=options.number,
                help="The distance of the classes, in standard deviations.",
            ),
            copies=Option(
                "--copies",
                metavar="KIND",
                help="own: features of their own; subsampled: each trained on half of the items.",
            ),
            items=Option("--n", metavar="N", parser=options.whole, help="Items per data set."),
        ),
    ],
    out: options.RandomOutput,
) -> None:
    """How often is one of two equally good learners called better? Simulated."""
    from probative.studies.training import training_study

    columns = {
        "learner": "learner",
        "metric": "metric",
        "gain": "gain",
        "published": "published",
        "published_error": "s.e.",
        "adjusted": "adjusted",
        "adjusted_error": "s.e. ",
        "effect": "fold effect",
        "notable": "above 2",
    }
    sees = {
        "own": "Each sees two features of its own",
        "subsampled": "Each is trained on a random half of the training items",
    }
    seen = sees.get(given.copies, given.copies)
    note = (
        "How often one of two learners is called better, as published and with training variance "
        f"allowed for. {seen}; without a gain neither is better, and {1 - given.level:.2g} would "
        f"be right."
    )
    simulate(
        "training",
        training_study,
        given,
        out,
        columns=columns,
        title="Is one of two learners called better?",
        notes=[note],
        counting="data sets",
    )
