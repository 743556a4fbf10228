"""``probative study tests``."""

from __future__ import annotations

from typing import Annotated

from probative.cli import options
from probative.cli.output import check_format, emit, progress
from probative.cli.parameters import Option

__all__ = ["tests"]


def tests(
    correlation: Annotated[
        list[str] | None,
        Option(
            "--correlation",
            metavar="R",
            help="Correlations of items of a sentence; several times, or separated by commas.",
        ),
    ] = None,
    difference: Annotated[
        list[str] | None,
        Option(
            "--difference",
            metavar="D",
            help="True differences of F1, as fractions of 1; several times, or with commas.",
        ),
    ] = None,
    method: Annotated[
        list[str] | None,
        Option(
            metavar="NAME",
            help="item-test, unit-test, bootstrap, bootstrap-bca, mover, mover-items, bayes, "
            "bayes-items.",
        ),
    ] = None,
    units: Annotated[
        int, Option(metavar="N", parser=options.whole, help="Sentences in a test set.")
    ] = 200,
    items: Annotated[
        float,
        Option(metavar="X", parser=options.number, help="Items a sentence, on average."),
    ] = 5.0,
    replicates: Annotated[
        int, Option(metavar="N", parser=options.whole, help="Test sets to draw.")
    ] = 1000,
    level: options.Level = 0.95,
    figure: options.Figure = None,
    form: options.Format = "text",
    html: options.Html = None,
    quiet: options.Quiet = False,
    seed: options.Seed = None,
) -> None:
    """Which tests keep their word when items of a sentence hang together? Size and power.

    Without options: exact randomisation tests by item and by unit, the paired bootstrap, and the
    intervals of a difference with and without the design effect, at five correlations.
    """
    from probative.reporting.tests_report import tests_document, tests_figure
    from probative.studies import tests as study

    check_format(form)
    methods = options.words(method, study.USUAL)
    correlations = options.numbers("--correlation", correlation, (0.0, 0.1, 0.2, 0.4, 0.6))
    differences = options.numbers("--difference", difference, (0.0, 0.03))
    with progress("test sets", quiet=quiet) as report:
        results = study.size_and_power(
            correlations,
            differences,
            methods,
            units=units,
            items=items,
            replicates=replicates,
            level=level,
            rng=seed or 0,
            report=report,
        )
    choices = [
        "tests",
        "f1",
        ",".join(methods),
        f"units:{units}",
        f"items:{items:g}",
        f"replicates:{replicates}",
        f"level:{level:g}",
        f"seed:{seed or 0}",
    ]
    document = tests_document(results, choices=choices)
    drawn = (figure, tests_figure(results)) if figure else None
    emit(document, form, html=html, figure=drawn, quiet=quiet)
