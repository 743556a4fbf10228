"""``probative study tests``."""

from __future__ import annotations

from typing import Annotated

from probative.cli import options
from probative.cli.output import progress
from probative.cli.parameters import Option
from probative.studies.options import TestsOptions

__all__ = ["tests"]


def tests(
    given: Annotated[
        TestsOptions,
        options.choose(
            *("correlations", "differences", "methods", "units", "items", "replicates"),
            *("level", "rng"),
            correlations=Option(
                "--correlation",
                metavar="R",
                parser=options.number_list,
                several=True,
                help="Correlations of items of a sentence; several times, or separated by commas.",
            ),
            differences=Option(
                "--difference",
                metavar="D",
                parser=options.number_list,
                several=True,
                help="True differences of F1, as fractions of 1; several times, or with commas.",
            ),
            methods=Option(
                "--method",
                metavar="NAME",
                parser=options.word_list,
                several=True,
                help="item-test, unit-test, bootstrap, bootstrap-bca, mover, mover-items, bayes, "
                "bayes-items.",
            ),
            units=Option(metavar="N", parser=options.whole, help="Sentences in a test set."),
            items=Option(
                metavar="X", parser=options.number, help="Mean number of items per sentence."
            ),
        ),
    ],
    out: options.RandomDrawn,
) -> None:
    """Which tests err as rarely as they say where items of a sentence are alike? Size and power.

    Without options: exact randomisation tests by item and by unit, the paired bootstrap, and the
    intervals of a difference with and without the design effect, at five correlations.
    """
    from probative.reporting.tests_report import tests_document, tests_figure
    from probative.studies import tests as study

    methods = given.methods or study.USUAL
    with progress("test sets", quiet=out.quiet) as report:
        results = study.size_and_power(**vars(given) | {"methods": methods}, report=report)
    signature = given.signature("tests", "f1", ",".join(methods))
    out.emit(tests_document(results, signature=signature), lambda: tests_figure(results))
