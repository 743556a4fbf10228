"""``probative plan``."""

from __future__ import annotations

from typing import Annotated

from probative.cli.options import Argument, Names, Runs
from probative.cli.output import Drawn
from probative.errors import InputError
from probative.options import PlanOptions


def plan(
    files: Annotated[
        list[str],
        Argument(
            metavar="GOLD [A B]",
            help="Gold, the baseline and the challenger of a pilot (FILE or NAME=FILE); or "
            "one file that holds them in columns.",
        ),
    ],
    *,
    given: PlanOptions,
    names: Names = None,
    runs: Runs = None,
    out: Drawn,
) -> None:
    """Compute the sample size, the power or the smallest detectable difference.

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
        raise InputError("--figure: only plans for several runs have a figure; expected --runs")
    out.emit(plan_document(result))
