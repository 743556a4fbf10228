"""``probative study coverage``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import click

from probative.cli import options
from probative.cli.output import progress
from probative.cli.parameters import Option
from probative.errors import InputError
from probative.studies.options import CoverageOptions

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.figure import Figure

__all__ = ["coverage"]


def coverage(
    *,
    given: Annotated[
        CoverageOptions,
        options.choose(
            *("sizes", "cells", "methods", "metric", "level"),
            sizes=Option(
                "--n",
                metavar="N",
                parser=options.whole_list,
                several=True,
                help="Items; several times, or separated by commas.",
            ),
            cells=Option(
                metavar="P11,P10,P01[,P00]",
                several=True,
                help="Probabilities of a true positive, false positive, false negative [, true "
                "negative]; several times for several scenarios.",
            ),
            methods=Option(
                "--method",
                metavar="NAME",
                parser=options.word_list,
                several=True,
                help="Interval methods; by default the paper's four.",
            ),
            metric=Option(metavar="NAME", help="f1, or any other metric but fbeta."),
        ),
    ],
    plot: Annotated[
        str, Option(metavar="NAME", help="What --figure draws: coverage, length or heatmap.")
    ] = "coverage",
    out: options.Drawn,
) -> None:
    """Do the intervals cover what they promise? Exact coverage, length, overshoot, degeneracy.

    Without options: the 18 conditions and four methods of Lam's simulation study, beside the
    published figures.
    """
    from probative._validation import one_of
    from probative.data import load
    from probative.inference.intervals import methods_for
    from probative.reporting.coverage_report import coverage_document
    from probative.studies import coverage as study

    one_of("--plot", plot, ("coverage", "length", "heatmap"))
    metric, level = given.metric, given.level
    usual = study.METHODS if metric == "f1" else methods_for(metric)[:1]
    methods = tuple(given.methods or usual)
    as_published = not (given.cells or given.sizes or metric != "f1" or level != 0.95) and set(
        methods
    ) <= set(study.METHODS)
    with progress("exact sums", quiet=out.quiet) as report:
        results = study.coverage_study(
            _scenarios(given.cells),
            given.sizes,
            methods,
            metric=metric,
            level=level,
            report=report,
        )
    published = load("f1_intervals") if as_published else None
    signature = given.signature("coverage", metric, ",".join(methods), "exact")
    document = coverage_document(results, published, signature=signature)
    out.emit(document, lambda: _draw(plot, results, methods, level))


def _draw(plot: str, results: list[Any], methods: tuple[str, ...], level: float) -> Figure:
    from probative.reporting import coverage_report
    from probative.studies import coverage as study

    if plot == "length":
        return coverage_report.length_figure(study.length_curves(level=level))
    if plot == "heatmap":
        return coverage_report.heat_map_figure(*study.coverage_map(methods, level=level), level)
    return coverage_report.coverage_figure(results)


def _scenarios(cells: Sequence[str]) -> dict[str, dict[str, float]] | None:
    """Cell probabilities by the text that gave them; a missing p00 is what is left to 1."""
    scenarios = {}
    for text in cells:
        try:
            values = options.number_list(text)
        except click.BadParameter:
            values = ()
        if len(values) == 3:
            values = (*values, max(0.0, round(1 - sum(values), 12)))
        if len(values) != 4:
            raise InputError(
                f"--cells: {text!r:.60}; expected three or four numbers, P11,P10,P01[,P00]"
            )
        scenarios[text] = dict(zip(("p11", "p10", "p01", "p00"), values, strict=True))
    return scenarios or None
