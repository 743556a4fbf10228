"""``probative score``."""

from __future__ import annotations

from typing import Annotated

import typer

from probative.cli import options
from probative.cli.output import check_format, emit, remark

__all__ = ["score"]


def score(
    files: Annotated[
        list[str],
        typer.Argument(
            metavar="GOLD [PRED...]",
            help="The answer and the outputs; or one file with gold and predicted columns. "
            "- is standard input.",
            show_default=False,
        ),
    ],
    names: Annotated[
        str | None, typer.Option(metavar="A,B", help="What to call the systems.")
    ] = None,
    metric: options.Metric = None,
    beta: options.Beta = 1.0,
    method: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="How intervals are made: wilson-indirect, bayes and so on."
        ),
    ] = None,
    by: options.By = None,
    task: options.Task = None,
    input_format: options.InputFormat = None,
    encoding: options.Encoding = None,
    tag_column: options.TagColumn = None,
    gold_column: options.GoldColumn = None,
    columns: options.Columns = None,
    unit_column: options.UnitColumn = None,
    comments: options.Comments = False,
    align: options.Align = "tokens",
    scheme: options.Scheme = None,
    repair: options.Repair = "conlleval",
    ignore_type: options.IgnoreType = False,
    only: options.Only = None,
    positive: options.Positive = None,
    labels: options.AveragedLabels = None,
    train_words: options.TrainWords = None,
    overlap: Annotated[
        bool, typer.Option("--overlap", help="Count partial overlaps of spans, too.")
    ] = False,
    level: options.Level = 0.95,
    form: Annotated[
        str,
        typer.Option(
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
    kinds = options.words(only, ())
    found = find_scores(
        gold,
        *systems,
        names=None if names is None else options.words([names], ()),
        metric=options.words(metric, ()) or None,
        beta=beta,
        method=method,
        by=by,
        level=level,
        overlap=overlap,
        task=task,
        input_format=input_format,
        encoding=encoding,
        tag_column=tag_column,
        gold_column=gold_column,
        columns=options.words([columns] if columns else None, ()),
        unit_column=unit_column,
        comments=comments,
        align_by=align,
        scheme=scheme,
        repair=repair,
        ignore_type=ignore_type,
        only=kinds,
        positive=positive,
        labels=options.averaged_labels(labels),
        train_words=train_words,
    )
    for note in found.notes:
        remark(note, quiet=quiet)
    if form == "conlleval":
        typer.echo(conlleval_report(found), nl=False)
        return
    choices = [
        *([repair] if found.scheme else []),
        *(["ignore-type"] if ignore_type else []),
        *([f"only:{','.join(kinds)}"] if kinds else []),
        *([f"positive:{positive}"] if positive else []),
        *([f"labels:{','.join(options.words(labels, ()))}"] if labels else []),
        *(["align:position"] if align == "position" else []),
        *([f"beta:{beta:g}"] if beta != 1 else []),
    ]
    drawn = None
    if figure:
        from probative.reporting.compare_figures import scores_figure

        drawn = (figure, scores_figure(found))
    emit(scores_document(found, choices=choices), form, html=html, figure=drawn, quiet=quiet)
