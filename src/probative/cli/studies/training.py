"""``probative study training``."""

from __future__ import annotations

from typing import Annotated

from probative.cli import options
from probative.cli.output import check_format, emit, progress
from probative.cli.parameters import Option

__all__ = ["training"]


def training(
    learner: Annotated[
        list[str] | None,
        Option(
            metavar="NAME",
            help="stump, neighbour, centroid; several times, or separated by commas.",
        ),
    ] = None,
    gain: Annotated[
        list[str] | None,
        Option(
            metavar="X",
            help="How much more B's features tell; 0: neither is better. Several as above.",
        ),
    ] = None,
    distance: Annotated[
        float,
        Option(metavar="X", parser=options.number, help="Of the classes, in standard deviations."),
    ] = 0.5,
    copies: Annotated[
        str,
        Option(
            metavar="KIND",
            help="own: features of their own; subsampled: each trained on half of the items.",
        ),
    ] = "own",
    n: Annotated[
        int, Option("--n", metavar="N", parser=options.whole, help="Items per data set.")
    ] = 400,
    replicates: options.Replicates = 1000,
    level: options.Level = 0.95,
    form: options.Format = "text",
    html: options.Html = None,
    quiet: options.Quiet = False,
    seed: options.Seed = 0,
) -> None:
    """How often is one of two equally good learners called better? Simulated."""
    from probative.reporting.study_report import study_document
    from probative.studies.training import LEARNERS, training_study

    check_format(form)
    learners = options.words(learner, tuple(LEARNERS))
    gains = options.numbers("--gain", gain, (0.0, 0.25) if copies == "own" else (0.0,))
    with progress("data sets", quiet=quiet) as report:
        found = training_study(
            learners,
            gains,
            distance=distance,
            copies=copies,
            items=n,
            replicates=replicates,
            level=level,
            seed=seed,
            report=report,
        )
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
    note = (
        "How often one of two learners is called better, as published and with training variance "
        f"allowed for. {sees[copies]}; without a gain neither is better, and "
        f"{1 - level:.2g} is right."
    )
    choices = [
        *(f"learner:{name}" for name in learners),
        *(f"gain:{value:g}" for value in gains),
        f"distance:{distance:g}",
        f"copies:{copies}",
        f"n:{n}",
        f"level:{level:g}",
        f"replicates:{replicates}",
        f"seed:{seed}",
    ]
    document = study_document(
        "training",
        found,
        columns,
        title="Is one of two learners called better?",
        notes=[note],
        choices=choices,
    )
    emit(document, form, html=html, quiet=quiet)
