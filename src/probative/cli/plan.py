"""``probative plan``."""

from __future__ import annotations

from typing import Annotated

import typer

from probative.cli import options
from probative.cli.output import check_format, emit, remark

__all__ = ["plan"]


def plan(
    files: Annotated[
        list[str],
        typer.Argument(
            metavar="GOLD A B",
            help="The answer, the baseline and the challenger of a pilot; or one file that holds "
            "them in columns.",
            show_default=False,
        ),
    ],
    difference: Annotated[
        float | None,
        typer.Option(
            metavar="D",
            parser=options.number,
            help="The difference to be shown, a fraction of 1; by default the observed one.",
        ),
    ] = None,
    power: Annotated[
        float | None,
        typer.Option(
            metavar="P", parser=options.number, help="The probability of showing it (0.8)."
        ),
    ] = None,
    units: Annotated[
        int | None,
        typer.Option(metavar="N", parser=options.whole, help="The number of sentences or items."),
    ] = None,
    metric: Annotated[str | None, typer.Option(metavar="NAME", help="The score.")] = None,
    by: options.By = None,
    beta: options.Beta = 1.0,
    level: options.Level = 0.95,
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
    form: options.Format = "text",
    html: options.Html = None,
    quiet: options.Quiet = False,
    seed: options.Seed = None,  # noqa: ARG001  # accepted everywhere; nothing is random here
) -> None:
    """How much data would settle it? Sample size, power or smallest detectable difference.

    Example: probative plan gold.conll old.conll new.conll --difference 0.01
    """
    from probative.comparison import plan_from_files
    from probative.reporting.plan_report import plan_document

    check_format(form)
    gold, *systems = files
    found, unit, notes = plan_from_files(
        gold,
        *systems,
        difference=difference,
        power=power,
        units=units,
        metric=metric,
        by=by,
        beta=beta,
        level=level,
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
        only=options.words(only, ()),
        positive=positive,
    )
    for note in notes:
        remark(note, quiet=quiet)
    emit(plan_document(found, unit), form, html=html, quiet=quiet)
