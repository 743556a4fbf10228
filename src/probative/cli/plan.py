"""``probative plan``."""

from __future__ import annotations

from typing import Annotated

import click

from probative.cli import options
from probative.cli.files import name_files
from probative.cli.parameters import Argument, Option
from probative.errors import ONE_POINT
from probative.options import PlanOptions

__all__ = ["plan"]


def _difference(text: str) -> float:
    """Read a difference; a bare 1 would mean a hundred points, and nobody means that."""
    value = options.points(text)
    if abs(value) >= 1 and options.is_bare(text):
        raise click.BadParameter(
            f"{text!r} is not below 1; expected a fraction of 1: {ONE_POINT}, as are 1pt and 1%"
        )
    return value


def plan(
    files: Annotated[
        list[str],
        Argument(
            metavar="GOLD A B",
            help="The answer, the baseline and the challenger of a pilot (FILE or NAME=FILE); or "
            "one file that holds them in columns.",
        ),
    ],
    *,
    given: Annotated[
        PlanOptions,
        options.choose(
            *("difference", "power", "units", "metric", "by", "beta", "level", *options.READING),
            difference=Option(
                metavar="D",
                parser=_difference,
                help="The difference to be shown: 0.01, 1pt or 1% is one point; by default the "
                "observed one.",
            ),
            power=Option(
                metavar="P",
                parser=options.number,
                help="The probability of showing it; by default 0.8.",
            ),
            units=Option(
                metavar="N", parser=options.whole, help="The number of sentences or items."
            ),
            metric=Option(metavar="NAME", help="The score."),
        ),
    ],
    names: options.Names = None,
    out: options.Output,
) -> None:
    """How much data would settle it? Sample size, power or smallest detectable difference.

    Example: probative plan gold.conll old.conll new.conll --difference 0.01
    """
    from probative.comparison import plan_from_files
    from probative.reporting.plan_report import plan_document

    inputs, called, remarks = name_files(files, names)
    result = plan_from_files(*inputs, names=called, **vars(given))
    out.remark(*remarks, *result.notes)
    out.emit(plan_document(result))
