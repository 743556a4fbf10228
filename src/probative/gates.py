"""Gates for releases: conditions on the posterior of the difference that a build must meet."""

from __future__ import annotations

from math import isnan, nan
from typing import TYPE_CHECKING

from probative._validation import fraction, one_of, open_probability
from probative.results import GateVerdict
from probative.verdict import no_verdict

if TYPE_CHECKING:
    from collections.abc import Sequence

    from probative.results import Comparison

__all__ = ["GATES", "check_gate", "judge_gates"]

GATES = ("fail-if-worse", "require-not-worse", "require-better")


def check_gate(
    gate: str, margin: float = 0.0, confidence: float = 0.95
) -> tuple[str, float, float]:
    """Check a gate before anything is computed."""
    return (
        one_of("gate", gate, GATES),
        fraction("margin", margin),
        open_probability("confidence", confidence),
    )


def judge_gates(
    comparisons: Sequence[Comparison], gate: str, *, margin: float = 0.0, confidence: float = 0.95
) -> tuple[GateVerdict, ...]:
    """Judge every challenger by a gate.

    Where there is no evidence (one unit, nothing to be found, an undefined score), no gate passes.

    Parameters
    ----------
    comparisons
        The comparisons; each challenger's first one with the baseline counts.
    gate
        "fail-if-worse": P(B - A < -margin) must stay below the confidence. "require-not-worse":
        P(B - A > -margin) must reach it. "require-better": P(B - A > margin) must reach it.
    margin, confidence
        A fraction of 1, and a probability.

    Returns
    -------
    tuple of GateVerdict
        One for each challenger; `passed` says whether it holds, and `str` why.

    Examples
    --------
    >>> import probative as pv
    >>> from probative.gates import judge_gates
    >>> gold = [["B-PER", "O"]] * 60
    >>> old, new = [["O", "O"]] * 30 + gold[:30], [["O", "O"]] * 5 + gold[:55]
    >>> found = pv.compare(gold, old, new, names=["old", "new"], metric="recall")
    >>> (verdict,) = judge_gates(found.comparisons, "require-better", margin=0.02)
    >>> verdict.passed
    True
    """
    gate, margin, confidence = check_gate(gate, margin, confidence)
    baseline, metric = comparisons[0].a, comparisons[0].metric
    return tuple(
        _judge(c, gate, margin, confidence)
        for c in comparisons
        if (c.a, c.metric) == (baseline, metric)
    )


def _judge(c: Comparison, gate: str, margin: float, confidence: float) -> GateVerdict:
    reason = no_verdict(c)
    probability = nan if reason else _probability(c, gate, margin)
    if isnan(probability) and not reason:
        reason = "the probability is not known"
    worse = gate == "fail-if-worse"
    passed = probability < confidence if worse else probability >= confidence
    return GateVerdict(gate, c.a, c.b, c.metric, margin, confidence, probability, passed, reason)


def _probability(c: Comparison, gate: str, margin: float) -> float:
    # identical outputs are neither better nor worse, whatever a posterior says about their items
    if c.identical:
        return float(gate == "require-not-worse")
    if gate == "fail-if-worse":
        return float(c.posterior.cdf(-margin))
    return float(c.posterior.sf(margin if gate == "require-better" else -margin))
