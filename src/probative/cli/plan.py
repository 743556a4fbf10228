"""``probative plan``."""

from __future__ import annotations

from typing import Annotated

from probative.cli import options
from probative.cli.output import check_format, emit, remark
from probative.cli.parameters import Argument, Option

__all__ = ["plan"]


def plan(
    files: Annotated[
        list[str],
        Argument(
            metavar="GOLD A B",
            help="The answer, the baseline and the challenger of a pilot; or one file that holds "
            "them in columns.",
        ),
    ],
    reading: options.Reading,
    difference: Annotated[
        float | None,
        Option(
            metavar="D",
            parser=options.number,
            help="The difference to be shown, a fraction of 1; by default the observed one.",
        ),
    ] = None,
    power: Annotated[
        float | None,
        Option(metavar="P", parser=options.number, help="The probability of showing it (0.8)."),
    ] = None,
    units: Annotated[
        int | None,
        Option(metavar="N", parser=options.whole, help="The number of sentences or items."),
    ] = None,
    metric: Annotated[str | None, Option(metavar="NAME", help="The score.")] = None,
    by: options.By = None,
    beta: options.Beta = 1.0,
    level: options.Level = 0.95,
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
    found = plan_from_files(
        gold,
        *systems,
        difference=difference,
        power=power,
        units=units,
        metric=metric,
        by=by,
        beta=beta,
        level=level,
        **reading,
    )
    for note in found.notes:
        remark(note, quiet=quiet)
    emit(plan_document(found), form, html=html, quiet=quiet)
