"""Gates for releases: conditions on the posterior of the difference that a build must meet."""

from __future__ import annotations

from dataclasses import replace
from math import isnan, nan
from typing import TYPE_CHECKING

from probative._validation import flag, fraction, one_of, open_probability, shown
from probative.errors import InputError
from probative.inference.allowance import CANDIDATES
from probative.ledger import Question, check_ledger, record
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
    from os import PathLike

    from probative.results import DifferencePosterior

__all__ = ["GATES", "check_gate", "check_ledger_options", "gate"]

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
    ledger: str | PathLike[str] | None = None,
    candidates: str = "adaptive",
    hide_scores: bool = False,
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
    ledger
        A file that every use of a test set is written to, with the verdict. The confidence then
        holds for all uses together: with every look, a gate asks for more.
    candidates
        With a ledger: "adaptive" if a candidate may depend on the verdicts on those before it,
        "independent" if candidates depend on nothing that was seen of this test set.
    hide_scores
        Whether nothing but the verdict is told, here and to whoever makes the next candidate: the
        probability is left out. The ledger has it written down.

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
    check_ledger_options(kind, ledger, candidates)
    if isinstance(comparisons, DatasetComparisons):
        if ledger is not None:
            raise InputError("ledger: counts the looks at one test set; expected no data sets")
        verdicts: tuple[GateVerdict, ...] = (_judge_mean(comparisons, kind, margin, confidence),)
    else:
        wanted = _listed(comparisons)
        baseline, metric = wanted[0].a, wanted[0].metric
        first = [c for c in wanted if (c.a, c.metric) == (baseline, metric)]
        counting = _that_count(first)
        verdicts = tuple(_judge(c, kind, margin, confidence) for c in counting)
        if ledger is not None:
            doubts = [
                nan if verdict.reason else _doubt(c, kind, margin)
                for c, verdict in zip(counting, verdicts, strict=True)
            ]
            shown = not flag("hide_scores", hide_scores)
            verdicts = _by_ledger(verdicts, doubts, comparisons, ledger, candidates, shown=shown)
    return tuple(map(_hide, verdicts)) if flag("hide_scores", hide_scores) else verdicts


def check_ledger_options(kind: str, ledger: object, candidates: str = CANDIDATES[0]) -> None:
    """Check what a gate with a ledger is told, before anything is computed."""
    one_of("candidates", candidates, CANDIDATES)
    if ledger is None:
        if candidates != CANDIDATES[0]:
            raise InputError("candidates: means nothing without a ledger; expected ledger=")
        return
    if kind == "fail-if-worse":
        raise InputError(
            "ledger: bounds how often what is no better passes, and fail-if-worse lets pass "
            "without evidence; expected require-better or require-not-worse"
        )
    check_ledger(ledger)


def _by_ledger(
    verdicts: Sequence[GateVerdict],
    doubts: Sequence[float],
    comparisons: object,
    ledger: str | PathLike[str],
    candidates: str,
    *,
    shown: bool,
) -> tuple[GateVerdict, ...]:
    """The same gates at the confidence that is left to their test set."""
    found = comparisons.fingerprints if isinstance(comparisons, Comparisons) else None
    if not isinstance(comparisons, Comparisons) or found is None:
        raise InputError(
            "ledger: the comparison does not know its test set; expected what "
            "compare(..., fingerprints=True) returns"
        )
    choices = comparisons.signature.partition("|")[2]
    questions = [
        Question(
            found,
            *(v.a, v.b, v.metric, v.kind, v.margin, v.confidence),
            f"{choices}|{v.question or 'models'}",
            candidates,
            doubt,
            shown,
        )
        for v, doubt in zip(verdicts, doubts, strict=True)
    ]
    passed, uses = record(ledger, questions)
    return tuple(
        replace(v, confidence=1 - use.threshold, passed=holds, use=use)
        for v, holds, use in zip(verdicts, passed, uses, strict=True)
    )


def _hide(verdict: GateVerdict) -> GateVerdict:
    # why there is no evidence tells more than that there is none
    return replace(verdict, probability=nan, reason=None, hidden=True)


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
        kind,
        *pair,
        result.metric,
        margin,
        confidence,
        probability,
        passed,
        reason,
        "mean",
        result.match,
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


def _doubt(c: Comparison, kind: str, margin: float) -> float:
    """1 - P of what a gate requires, without loss of digits where that is small."""
    if c.identical:
        return float(kind != "require-not-worse")
    return float(c.posterior.cdf(margin if kind == "require-better" else -margin))


def _tail(posterior: DifferencePosterior, kind: str, margin: float) -> float:
    """The probability that a gate asks about."""
    if kind == "fail-if-worse":
        return float(posterior.cdf(-margin))
    return float(posterior.sf(margin if kind == "require-better" else -margin))
