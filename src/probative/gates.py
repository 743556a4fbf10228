"""Gates for releases: conditions on the posterior of the difference that a build must meet."""

from __future__ import annotations

from math import isnan, nan
from typing import TYPE_CHECKING

from probative._validation import fraction, one_of, open_probability, shown
from probative.errors import InputError
from probative.results import (
    Comparison,
    Comparisons,
    CurveComparison,
    DatasetComparisons,
    GateVerdict,
)
from probative.wording.verdict import no_verdict

if TYPE_CHECKING:
    from collections.abc import Sequence

    from probative.results import DifferencePosterior

__all__ = ["GATES", "check_gate", "gate"]

GATES = ("fail-if-worse", "require-not-worse", "require-better")


def check_gate(
    kind: str, margin: float = 0.0, confidence: float = 0.95
) -> tuple[str, float, float]:
    """Check a gate before anything is computed."""
    return (
        one_of("kind", kind, GATES),
        fraction("margin", margin),
        open_probability("confidence", confidence),
    )


def gate(
    comparisons: Comparison
    | Comparisons
    | CurveComparison
    | DatasetComparisons
    | Sequence[Comparison],
    kind: str,
    *,
    margin: float = 0.0,
    confidence: float = 0.95,
) -> tuple[GateVerdict, ...]:
    """Judge every challenger by a gate for releases.

    Where there is no evidence (one unit, nothing to be found, an undefined score), no gate passes.
    With several runs a gate asks about the procedures: what new runs would do counts, too. Then it
    refuses a system with a single run, beside one with several.

    Parameters
    ----------
    comparisons
        What `compare` returns, or comparisons of it; each challenger's first one with the
        baseline counts. Of what `compare_datasets` returns, the mean difference does; of what
        `compare_curves` returns, average precision (its `comparisons` have the others).
    kind
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
    >>> gold = [["B-PER", "O"]] * 60
    >>> old, new = [["O", "O"]] * 30 + gold[:30], [["O", "O"]] * 5 + gold[:55]
    >>> comparisons = pv.compare(gold, old, new, names=["old", "new"], metric="recall")
    >>> (verdict,) = pv.gate(comparisons, "require-better", margin=0.02)
    >>> verdict.passed
    True
    """
    kind, margin, confidence = check_gate(kind, margin, confidence)
    if isinstance(comparisons, DatasetComparisons):
        return (_judge_mean(comparisons, kind, margin, confidence),)
    wanted = _listed(comparisons)
    baseline, metric = wanted[0].a, wanted[0].metric
    first = [c for c in wanted if (c.a, c.metric) == (baseline, metric)]
    return tuple(_judge(c, kind, margin, confidence) for c in _that_count(first))


def _that_count(comparisons: Sequence[Comparison]) -> list[Comparison]:
    """One comparison per challenger: of several runs that of the procedures, where there is one."""
    answered = {(c.a, c.b) for c in comparisons if c.question == "procedures"}
    return [c for c in comparisons if c.question == "procedures" or (c.a, c.b) not in answered]


def _listed(comparisons: object) -> Sequence[Comparison]:
    """The comparisons, one or many."""
    if isinstance(comparisons, Comparison):
        return (comparisons,)
    if isinstance(comparisons, (Comparisons, CurveComparison)):
        return comparisons.comparisons
    listed = comparisons if isinstance(comparisons, (list, tuple)) else ()
    if not listed or not all(isinstance(c, Comparison) for c in listed):
        raise InputError(
            f"comparisons: {shown(comparisons)}; expected what compare() returns, or its "
            f"comparisons"
        )
    return listed


def _judge(c: Comparison, kind: str, margin: float, confidence: float) -> GateVerdict:
    reason = no_verdict(c) or _without_runs(c)
    probability = nan if reason else _probability(c, kind, margin)
    if isnan(probability) and not reason:
        reason = "the probability is not known"
    worse = kind == "fail-if-worse"
    passed = probability < confidence if worse else probability >= confidence
    return GateVerdict(
        kind,
        c.a,
        c.b,
        c.metric,
        margin,
        confidence,
        probability,
        passed,
        reason,
        c.question,
        c.match,
    )


def _judge_mean(
    result: DatasetComparisons, kind: str, margin: float, confidence: float
) -> GateVerdict:
    """Of several data sets, the mean difference over them counts."""
    mean = result.mean
    reason = None
    if isnan(mean.p_b_better):
        reason = "on one of the data sets there is no evidence"
    probability = nan if reason else _tail(mean.posterior, kind, margin)
    worse = kind == "fail-if-worse"
    passed = probability < confidence if worse else probability >= confidence
    pair = result.a, result.b
    return GateVerdict(
        kind, *pair, result.metric, margin, confidence, probability, passed, reason, "mean"
    )


def _without_runs(c: Comparison) -> str | None:
    """Why nothing can be said about new runs, where a system has several."""
    if c.question == "models" and max((c.runs or {}).values(), default=1) > 1:
        return "what new runs would do is not known: " + (c.note or "one run of a system")
    return None


def _probability(c: Comparison, kind: str, margin: float) -> float:
    # identical outputs are neither better nor worse, whatever a posterior says about their items
    if c.identical:
        return float(kind == "require-not-worse")
    return _tail(c.posterior, kind, margin)


def _tail(posterior: DifferencePosterior, kind: str, margin: float) -> float:
    """The probability that a gate asks about."""
    if kind == "fail-if-worse":
        return float(posterior.cdf(-margin))
    return float(posterior.sf(margin if kind == "require-better" else -margin))
