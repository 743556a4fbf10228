"""The options of gates, which a comparison and an estimate share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from probative.cli import options
from probative.cli.output import remark
from probative.cli.parameters import Option
from probative.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from probative.results import GateVerdict

__all__ = [
    "Confidence",
    "FailIfWorse",
    "Margin",
    "RequireBetter",
    "RequireNotWorse",
    "check_gate_options",
    "tell_verdicts",
]

_LISTED = 10  # groups whose verdicts are printed

FailIfWorse = Annotated[
    bool, Option("--fail-if-worse", help="Exit 1 if P(B - A < -margin) >= confidence.")
]
RequireNotWorse = Annotated[
    bool,
    Option(
        "--require-not-worse",
        help="Exit 1 unless P(B - A > -margin) >= confidence and the one-sided interval agrees.",
    ),
]
RequireBetter = Annotated[
    bool,
    Option(
        "--require-better",
        help="Exit 1 unless P(B - A > margin) >= confidence and the one-sided test (with a margin: "
        "interval) agrees.",
    ),
]
Margin = Annotated[
    float | None,
    Option(
        metavar="D",
        parser=options.points,
        help="The margin of the gate: 0.01, 1pt or 1% is one point; by default 0.",
    ),
]
Confidence = Annotated[
    float | None,
    Option(metavar="P", parser=options.number, help="The confidence of the gate; by default 0.95."),
]


def check_gate_options(kinds: Mapping[str, bool], told: Mapping[str, Any]) -> dict[str, Any] | None:
    """The gate that was asked for and what it is told, checked before anything is computed."""
    from probative.gates import GATES, check_gate, check_ledger_options

    asked = [kind for kind, on in kinds.items() if on]
    given = {name: value for name, value in told.items() if value is not None}
    if len(asked) > 1:
        raise InputError(f"--{asked[1]}: cannot be combined with --{asked[0]}; expected one gate")
    if not asked:
        for name in given:
            listed = ", ".join(f"--{gate}" for gate in GATES)
            raise InputError(
                f"--{name.replace('_', '-')}: belongs to a gate; expected one of {listed}"
            )
        return None
    check_gate(
        asked[0], **{name: given[name] for name in ("margin", "confidence") if name in given}
    )
    candidates = {name: given[name] for name in ("candidates",) if name in given}
    check_ledger_options(asked[0], given.get("ledger"), **candidates)
    return {"kind": asked[0], **given}


def tell_verdicts(verdicts: Sequence[GateVerdict]) -> int:
    """Say what the gates say, and what they have used of a test set; return the exit status."""
    in_groups = [v for v in verdicts if v.group is not None]
    listed = [v for v in in_groups if not v.passed][:_LISTED]
    if len(in_groups) <= _LISTED:
        listed = in_groups
    for verdict in (*(v for v in verdicts if v.group is None), *listed):
        remark(f"--{verdict}")
        if verdict.use is not None and not verdict.hidden:  # else the results tell it
            remark(f"--ledger: {verdict.use}")
    if len(listed) < len(in_groups):
        passed = sum(v.passed for v in in_groups)
        remark(f"--{in_groups[0].kind} passed in {passed:,} of {len(in_groups):,} groups")
    for note in dict.fromkeys(v.use.note for v in verdicts if v.use is not None and v.use.note):
        remark(note)
    return 0 if all(verdict.passed for verdict in verdicts) else 1
