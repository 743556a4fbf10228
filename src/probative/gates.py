"""Gates for releases: conditions on the posterior of the difference that a build must meet."""

from __future__ import annotations

from typing import TYPE_CHECKING

from probative._validation import one_of, open_probability, positive
from probative.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from probative.results import Comparison

__all__ = ["GATES", "check_gates", "judge_gates"]

GATES = ("--fail-if-worse", "--require-not-worse", "--require-better")


def check_gates(asked: Sequence[str], margin: float, confidence: float) -> str | None:
    """Return the gate that was asked for, if any, after checking its numbers."""
    positive("--margin", margin, zero=True)
    open_probability("--confidence", confidence)
    if len(asked) > 1:
        raise InputError(f"{asked[1]}: cannot be combined with {asked[0]}; expected one gate")
    return asked[0] if asked else None


def judge_gates(
    comparisons: Sequence[Comparison], gate: str | None, margin: float, confidence: float
) -> tuple[bool, list[str]]:
    """Whether every challenger passes the gate, and a line that says why.

    Parameters
    ----------
    comparisons
        The comparisons; each challenger's first one with the baseline counts.
    gate
        ``--fail-if-worse``: P(B - A < -margin) must stay below the confidence.
        ``--require-not-worse``: P(B - A > -margin) must reach it. ``--require-better``:
        P(B - A > margin) must reach it.
    margin, confidence
        A fraction of 1, and a probability.
    """
    if gate is None:
        return True, []
    one_of("gate", gate, GATES)
    baseline, metric = comparisons[0].a, comparisons[0].metric
    verdicts = [
        _judge(c, gate, margin, confidence)
        for c in comparisons
        if (c.a, c.metric) == (baseline, metric)
    ]
    return all(passed for passed, _ in verdicts), [line for _, line in verdicts]


def _judge(c: Comparison, gate: str, margin: float, confidence: float) -> tuple[bool, str]:
    # identical outputs are neither better nor worse, whatever a posterior says about their items
    if gate == "--fail-if-worse":
        event, probability = f"B - A < {0 - margin:g}", float(c.posterior.cdf(-margin))
        probability = 0.0 if c.identical else probability
        passed, signs = probability < confidence, ("<", ">=")
    else:
        threshold = margin if gate == "--require-better" else 0 - margin
        event, probability = f"B - A > {threshold:g}", float(c.posterior.sf(threshold))
        probability = float(gate == "--require-not-worse") if c.identical else probability
        passed, signs = probability >= confidence, (">=", "<")
    word, sign = ("passed", signs[0]) if passed else ("failed", signs[1])
    figures = f"P({event}) = {probability:.4f} {sign} {confidence:g}"
    return passed, f"{gate} {word}: {c.b} against {c.a}, {c.metric}: {figures}"
