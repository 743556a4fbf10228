"""``probative score``."""

from __future__ import annotations

from typing import Annotated

import click

from probative.cli import options
from probative.cli.output import check_format, emit, remark
from probative.cli.parameters import Argument, Option

__all__ = ["score"]


def score(
    files: Annotated[
        list[str],
        Argument(
            metavar="GOLD [PRED...]",
            help="The answer and the outputs; or one file with gold and predicted columns. "
            "- is standard input.",
        ),
    ],
    reading: options.Reading,
    names: options.Names = None,
    metric: options.Metric = None,
    beta: options.Beta = 1.0,
    method: Annotated[
        str | None,
        Option(metavar="NAME", help="How intervals are made: wilson-indirect, bayes and so on."),
    ] = None,
    by: options.By = None,
    overlap: Annotated[
        bool, Option("--overlap", help="Count partial overlaps of spans, too.")
    ] = False,
    level: options.Level = 0.95,
    form: Annotated[
        str,
        Option(
            "--format", "-f", metavar="FORMAT", help="text, json, markdown, latex, csv, conlleval."
        ),
    ] = "text",
    html: options.Html = None,
    figure: options.Figure = None,
    quiet: options.Quiet = False,
    seed: options.Seed = None,  # noqa: ARG001  # accepted everywhere; nothing is random here
) -> None:
    """What does my system score? Precision, recall, F1 with intervals, from files.

    Example: probative score gold.conll system.conll
    """
    from probative.evaluation import score as find_scores
    from probative.reporting.score_report import conlleval_report, scores_document

    if form != "conlleval":
        check_format(form)
    gold, *systems = files
    found = find_scores(
        gold,
        *systems,
        names=names,
        metric=options.words(metric, ()) or None,
        beta=beta,
        method=method,
        by=by,
        level=level,
        overlap=overlap,
        **reading,
    )
    for note in found.notes:
        remark(note, quiet=quiet)
    if form == "conlleval":
        click.echo(conlleval_report(found), nl=False)
        return
    drawn = None
    if figure:
        from probative.reporting.compare_figures import scores_figure

        drawn = (figure, scores_figure(found))
    emit(scores_document(found), form, html=html, figure=drawn, quiet=quiet)
