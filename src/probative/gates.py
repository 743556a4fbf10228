"""Gates for releases: conditions on the posterior of the difference that a build must meet."""

from __future__ import annotations

from typing import TYPE_CHECKING

from probative._validation import open_probability, positive
from probative.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from probative.results import Comparison

__all__ = ["check_gates", "judge_gates"]


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
    baseline, metric = comparisons[0].a, comparisons[0].metric
    verdicts = [
        _judge(c, gate, margin, confidence)
        for c in comparisons
        if (c.a, c.metric) == (baseline, metric)
    ]
    return all(passed for passed, _ in verdicts), [line for _, line in verdicts]


def _judge(c: Comparison, gate: str, margin: float, confidence: float) -> tuple[bool, str]:
    threshold = margin if gate == "--require-better" else -margin
    # identical outputs have no difference, whatever a posterior says about their items
    above = float(threshold < 0) if c.identical or c.above is None else c.above(threshold)
    if gate == "--fail-if-worse":
        below = 0.0 if c.identical else 1 - above
        passed = below < confidence
        figure = f"P(B - A < {threshold:g}) = {below:.4f}, {'<' if passed else '>='} {confidence:g}"
    else:
        if c.identical and gate == "--require-not-worse":
            above = 1.0
        passed = above >= confidence
        figure = f"P(B - A > {threshold:g}) = {above:.4f}, {'>=' if passed else '<'} {confidence:g}"
    word = "passed" if passed else "failed"
    return passed, f"{gate} {word}: {c.b} against {c.a}, {c.metric}: {figure}"
