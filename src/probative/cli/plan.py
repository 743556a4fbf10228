"""``probative plan``."""

from __future__ import annotations

from typing import Annotated

import click

from probative.cli import options
from probative.cli.parameters import Argument, Option
from probative.errors import ONE_POINT, InputError
from probative.options import PlanOptions

__all__ = ["plan"]


def _difference(text: str) -> float:
    """Read a difference; refuse a bare 1, which would mean a hundred points."""
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
            metavar="GOLD [A B]",
            help="The answer, the baseline and the challenger of a pilot (FILE or NAME=FILE); or "
            "one file that holds them in columns.",
        ),
    ],
    *,
    given: Annotated[
        PlanOptions,
        options.choose(
            *("difference", "power", "units", "metric", "by", "paired_runs", "beta", "level"),
            *options.READING,
            "run_column",
            run_column=options.RUN_COLUMN,
            paired_runs=options.PAIRED_RUNS,
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
    runs: options.Runs = None,
    out: options.Drawn,
) -> None:
    """How much data would settle it? Sample size, power or smallest detectable difference.

    Example: probative plan gold.conll old.conll new.conll --difference 0.01

    Several runs: probative plan gold.conll --runs A='a/*.conll' --runs B='b/*.conll'
    """
    from probative.cli.inputs import inputs_of
    from probative.jobs.plan import plan_from_files
    from probative.reporting.plan_report import plan_document, runs_plan_document, runs_plan_figure
    from probative.results import RunsPlan

    inputs, called, remarks = inputs_of(files, runs, names)
    result = plan_from_files(*inputs, names=called, **vars(given))
    out.remark(*remarks, *result.notes)
    if isinstance(result, RunsPlan):
        out.emit(runs_plan_document(result), lambda: runs_plan_figure(result))
        return
    if out.figure:
        raise InputError("--figure: there is one of several runs only; expected --runs")
    out.emit(plan_document(result))
