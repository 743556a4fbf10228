"""``probative study coverage``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from probative.cli import options
from probative.cli.output import check_format, emit, progress
from probative.errors import InputError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["coverage"]


def coverage(
    n: Annotated[
        list[str] | None,
        typer.Option("--n", metavar="N", help="Items; several times, or separated by commas."),
    ] = None,
    cells: Annotated[
        list[str] | None,
        typer.Option(
            "--cells",
            metavar="P11,P10,P01[,P00]",
            help="Probabilities of a true positive, false positive, false negative [, true "
            "negative]; several times for several scenarios.",
        ),
    ] = None,
    method: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Interval methods; by default the paper's four."),
    ] = None,
    metric: Annotated[str, typer.Option(help="f1, jaccard, precision or recall.")] = "f1",
    plot: Annotated[
        str, typer.Option(metavar="NAME", help="What --figure draws: coverage, length or heatmap.")
    ] = "coverage",
    level: options.Level = 0.95,
    figure: options.Figure = None,
    form: options.Format = "text",
    html: options.Html = None,
    quiet: options.Quiet = False,
    seed: options.Seed = None,  # noqa: ARG001  # accepted everywhere; nothing is random here
) -> None:
    """Do the intervals cover what they promise? Exact coverage, length, overshoot, degeneracy.

    Without options: the 18 conditions and four methods of Lam's simulation study, beside the
    published figures.
    """
    from probative._validation import one_of
    from probative.data import load
    from probative.reporting.coverage_report import coverage_document
    from probative.studies import coverage as study

    check_format(form)
    one_of("--plot", plot, ("coverage", "length", "heatmap"))
    scenarios, sizes = _scenarios(cells), options.whole_numbers("--n", n) or None
    methods = options.words(method, study.METHODS if metric == "f1" else ("wilson",))
    as_published = not (cells or n or metric != "f1" or level != 0.95) and set(methods) <= set(
        study.METHODS
    )
    with progress("exact sums", quiet=quiet) as report:
        results = study.coverage_study(
            scenarios, sizes, methods, metric=metric, level=level, report=report
        )
    choices = ["coverage", metric, ",".join(methods), f"level:{level:g}", "exact"]
    published = load("f1_intervals") if as_published else None
    document = coverage_document(results, published, choices=choices)
    drawn = (figure, _draw(plot, results, methods, level)) if figure else None
    emit(document, form, html=html, figure=drawn, quiet=quiet)


def _draw(plot: str, results: list[Any], methods: tuple[str, ...], level: float) -> Figure:
    from probative.reporting import coverage_report
    from probative.studies import coverage as study

    if plot == "length":
        return coverage_report.length_figure(study.length_curves(level=level))
    if plot == "heatmap":
        return coverage_report.heat_map_figure(*study.coverage_map(methods, level=level), level)
    return coverage_report.coverage_figure(results)


def _scenarios(cells: list[str] | None) -> dict[str, dict[str, float]] | None:
    """Cell probabilities by the text that gave them; a missing p00 is what is left to 1."""
    scenarios = {}
    for text in cells or ():
        try:
            values = options.numbers("--cells", text)
        except InputError:
            values = []
        if len(values) == 3:
            values.append(max(0.0, round(1 - sum(values), 12)))
        if len(values) != 4:
            raise InputError(
                f"--cells: {text!r:.60}; expected three or four numbers, P11,P10,P01[,P00]"
            )
        scenarios[text] = dict(zip(("p11", "p10", "p01", "p00"), values, strict=True))
    return scenarios or None
