"""``probative estimate``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from probative.cli.options import Argument, GateOptions, Judge, tell_verdicts
from probative.cli.options import judge as judge_release
from probative.cli.output import Output
from probative.errors import InputError
from probative.options import EstimateOptions


def estimate(
    design: Annotated[
        Path, Argument(metavar="DESIGN", help="The design of a sample: NAME.design.json.")
    ],
    annotated: Annotated[
        list[str],
        Argument(
            metavar="ANNOTATED...",
            help="The annotated sample; of a design that was extended, all files of it.",
        ),
    ],
    *,
    given: EstimateOptions,
    judge: Judge = None,
    gates: GateOptions,
    out: Output,
) -> int:
    """Estimate scores and differences on the whole pool from a labelled sample.

    Example: probative estimate sample.design.json sample.conll

    Extended: probative estimate sample.design.json sample.conll more.conll
    """
    from probative.reporting.survey_report import estimate_document
    from probative.surveys.estimating import estimate as project

    gate = gates.requested()
    found = project(design, *annotated, judge=judge, **vars(given))
    out.remark(*found.notes)
    if gate and not found.comparisons:
        raise InputError(f"--{gate['kind']}: there is one system; expected two to compare")
    verdicts = judge_release(found.comparisons, gate)
    out.emit(estimate_document(found, gates=verdicts))
    return tell_verdicts(verdicts)
