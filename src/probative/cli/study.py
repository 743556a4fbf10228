"""``probative study``: the experiments of the papers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from probative.cli import options
from probative.cli.output import check_format, emit, progress
from probative.cli.study_chunking import chunking
from probative.errors import InputError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["app"]

app = typer.Typer(no_args_is_help=True, help="The experiments of the source papers, repeatable.")
app.command()(chunking)


@app.callback()
def _group() -> None:
    """Keep "study" a group of commands, however few there are."""


@app.command()
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
    scenarios, sizes = _scenarios(cells), _sizes(options.words(n, ()))
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


def _sizes(words: tuple[str, ...]) -> list[int] | None:
    for word in words:
        if not word.isdecimal() or int(word) < 1:
            raise InputError(f"--n: {word!r} is not a whole number >= 1")
    return [int(word) for word in words] or None


def _scenarios(cells: list[str] | None) -> dict[str, dict[str, float]] | None:
    """Cell probabilities by the text that gave them; a missing p00 is what is left to 1."""
    scenarios = {}
    for text in cells or ():
        try:
            values = [float(part) for part in text.split(",")]
        except ValueError:
            values = []
        if len(values) == 3:
            values.append(max(0.0, round(1 - sum(values), 12)))
        if len(values) != 4:
            raise InputError(
                f"--cells: {text!r}; expected three or four numbers, P11,P10,P01[,P00]"
            )
        scenarios[text] = dict(zip(("p11", "p10", "p01", "p00"), values, strict=True))
    return scenarios or None


@app.command("tests")
def size_and_power(
    correlation: Annotated[
        list[str] | None,
        typer.Option(
            "--correlation",
            metavar="R",
            help="Correlations of items of a sentence; several times, or separated by commas.",
        ),
    ] = None,
    difference: Annotated[
        list[str] | None,
        typer.Option(
            "--difference",
            metavar="D",
            help="True differences of F1, as fractions of 1; several times, or with commas.",
        ),
    ] = None,
    method: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="item-test, unit-test, bootstrap, mover, mover-items, bayes, bayes-items.",
        ),
    ] = None,
    units: Annotated[
        int, typer.Option(metavar="N", parser=options.whole, help="Sentences in a test set.")
    ] = 200,
    items: Annotated[
        float,
        typer.Option(metavar="X", parser=options.number, help="Items a sentence, on average."),
    ] = 5.0,
    replicates: Annotated[
        int, typer.Option(metavar="N", parser=options.whole, help="Test sets to draw.")
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
    methods = options.words(method, study.METHODS)
    correlations = _numbers("--correlation", correlation, (0.0, 0.1, 0.2, 0.4, 0.6))
    differences = _numbers("--difference", difference, (0.0, 0.03))
    with progress("test sets", quiet=quiet) as report:
        results = study.size_and_power(
            correlations,
            differences,
            methods,
            units=units,
            items=items,
            replicates=replicates,
            level=level,
            seed=seed or 0,
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


def _numbers(name: str, values: list[str] | None, default: tuple[float, ...]) -> tuple[float, ...]:
    try:
        return tuple(float(word) for word in options.words(values, ())) or default
    except ValueError as error:
        raise InputError(f"{name}: {str(error).split(': ')[-1]} is not a number") from None


Replicates = Annotated[
    int,
    typer.Option("--replicates", metavar="N", parser=options.whole, help="Test sets to draw."),
]


@app.command()
def planning(
    power: Annotated[
        float, typer.Option(metavar="P", parser=options.number, help="The power to plan for.")
    ] = 0.8,
    replicates: Replicates = 1000,
    level: options.Level = 0.95,
    form: options.Format = "text",
    html: options.Html = None,
    quiet: options.Quiet = False,
    seed: options.Seed = 0,
) -> None:
    """Does a planned sample size give the power that was asked for? By simulation."""
    from probative.reporting.study_report import study_document
    from probative.studies.planning import planning_study

    check_format(form)
    with progress("test sets", quiet=quiet) as report:
        found = planning_study(
            power=power, level=level, replicates=replicates, rng=seed, report=report
        )
    columns = {
        "pilot": "pilot",
        "difference": "difference",
        "units": "sentences planned",
        "planned": "power planned",
        "simulated": "simulated",
        "standard_error": "s.e.",
    }
    note = (
        "Test sets of the planned size are drawn from the sentences of the pilot; simulated is the "
        "share on which the exact randomisation test by sentence is significant."
    )
    choices = [f"level:{level:g}", f"replicates:{replicates}", f"seed:{seed}"]
    title = "Planned and simulated power"
    document = study_document(
        "planning", found, columns, title=title, notes=[note], choices=choices
    )
    emit(document, form, html=html, quiet=quiet)


@app.command()
def macro(
    replicates: Replicates = 2000,
    level: options.Level = 0.95,
    form: options.Format = "text",
    html: options.Html = None,
    quiet: options.Quiet = False,
    seed: options.Seed = 0,
) -> None:
    """Do the intervals of macro averages cover what they promise? By simulation."""
    from probative.reporting.study_report import study_document
    from probative.studies.macro import macro_coverage

    check_format(form)
    with progress("test sets", quiet=quiet) as report:
        found = macro_coverage(level=level, replicates=replicates, rng=seed, report=report)
    columns = {
        "n": "items",
        "rarest": "of the rarest class",
        "coverage": "coverage, one system",
        "length": "length",
        "coverage_difference": "coverage, difference",
        "length_difference": "length of the difference",
        "standard_error": "s.e.",
    }
    note = (
        "Macro F1 over five classes with shares of 50, 25, 15, 7 and 3 %; A is right on 75 % of "
        "the items, B on about 78 %, and they often err together."
    )
    choices = [f"level:{level:g}", f"replicates:{replicates}", f"seed:{seed}"]
    title = "Coverage of the intervals of macro F1"
    document = study_document("macro", found, columns, title=title, notes=[note], choices=choices)
    emit(document, form, html=html, quiet=quiet)
