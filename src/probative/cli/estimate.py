"""``probative estimate``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from probative.cli import options
from probative.cli.output import remark
from probative.cli.parameters import Argument, Option
from probative.errors import InputError
from probative.options import EstimateOptions

if TYPE_CHECKING:
    from collections.abc import Mapping

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
    fail_if_worse: Annotated[
        bool,
        Option("--fail-if-worse", help="Exit 1 if P(B - A < -margin) >= confidence."),
    ] = False,
    require_not_worse: Annotated[
        bool,
        Option("--require-not-worse", help="Exit 1 unless P(B - A > -margin) >= confidence."),
    ] = False,
    require_better: Annotated[
        bool,
        Option("--require-better", help="Exit 1 unless P(B - A > margin) >= confidence."),
    ] = False,
    margin: Annotated[
        float | None,
        Option(
            metavar="D",
            parser=options.points,
            help="The margin of the gate: 0.01, 1pt or 1% is one point; by default 0.",
        ),
    ] = None,
    confidence: Annotated[
        float | None,
        Option(
            metavar="P", parser=options.number, help="The confidence of the gate; by default 0.95."
        ),
    ] = None,
    out: options.Output,
) -> int:
    """How good are the systems on the whole pool? Scores and a verdict from a labelled sample.

    Example: probative estimate sample.design.json sample.conll

    Extended: probative estimate sample.design.json sample.conll more.conll
    """
    from probative.gates import gate as judge_release
    from probative.reporting.estimate_report import estimate_document
    from probative.surveys.estimating import estimate as project

    gate = _gate(
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
    for line in verdicts:
        remark(f"--{line}")
    return 0 if all(verdict.passed for verdict in verdicts) else 1


def _gate(kinds: Mapping[str, bool], numbers: Mapping[str, float | None]) -> dict[str, Any] | None:
    """The gate that was asked for and its numbers, checked before anything is computed."""
    from probative.gates import GATES, check_gate

    asked = [kind for kind, on in kinds.items() if on]
    given = {name: value for name, value in numbers.items() if value is not None}
    if len(asked) > 1:
        raise InputError(f"--{asked[1]}: cannot be combined with --{asked[0]}; expected one gate")
    if not asked:
        for name in given:
            listed = ", ".join(f"--{gate}" for gate in GATES)
            raise InputError(f"--{name}: belongs to a gate; expected one of {listed}")
        return None
    check_gate(asked[0], **given)
    return {"kind": asked[0], **given}
