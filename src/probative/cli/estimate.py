"""``probative estimate``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from probative.cli import options
from probative.cli.parameters import Argument, Option
from probative.errors import InputError
from probative.options import EstimateOptions

__all__ = ["estimate"]


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
    given: Annotated[
        EstimateOptions,
        options.choose(
            *("metric", "population", "rope", "beta", "level"),
            population=Option(
                "--population",
                help="Speak of units like those of the pool, not of the pool alone.",
            ),
        ),
    ],
    judge: Annotated[
        str | None,
        Option("--judge", metavar="FILE", help="The opinion of a judge on all units of the pool."),
    ] = None,
    fail_if_worse: options.FailIfWorse = False,
    require_not_worse: options.RequireNotWorse = False,
    require_better: options.RequireBetter = False,
    margin: options.Margin = None,
    confidence: options.Confidence = None,
    out: options.Output,
) -> int:
    """How good are the systems on the whole pool? Scores and a verdict from a labelled sample.

    Example: probative estimate sample.design.json sample.conll

    Extended: probative estimate sample.design.json sample.conll more.conll
    """
    from probative.jobs.gate import gate as judge_release
    from probative.reporting.survey_report import estimate_document
    from probative.surveys.estimating import estimate as project

    gate = options.check_gate_options(
        {
            "fail-if-worse": fail_if_worse,
            "require-not-worse": require_not_worse,
            "require-better": require_better,
        },
        {"margin": margin, "confidence": confidence},
    )
    found = project(design, *annotated, judge=judge, **vars(given))
    out.remark(*found.notes)
    if gate and not found.comparisons:
        raise InputError(f"--{gate['kind']}: there is one system; expected two to compare")
    verdicts = judge_release(found.comparisons, **gate) if gate else ()
    out.emit(estimate_document(found, gates=verdicts))
    return options.tell_verdicts(verdicts)
