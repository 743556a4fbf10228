"""Gates for releases: conditions on the difference that a build must meet.

A requirement must be shown twice: by the posterior, and by the test or the interval. So a gate
does not pass what the verdict of the same comparison leaves open at the same confidence.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import isnan, nan
from typing import TYPE_CHECKING, Any

import numpy as np

from probative._validation import flag, fraction, one_of, open_probability, shown
from probative.errors import InputError
from probative.inference.allowance import CANDIDATES
from probative.inference.differences import one_sided_low
from probative.inference.groups import adjust_pvalues
from probative.jobs.ledger import Question, check_ledger, record
from probative.results import (
    Comparison,
    Comparisons,
    CurveComparison,
    DatasetComparisons,
    GateVerdict,
)
from probative.results.comparisons import one_sided
from probative.wording.numbers import is_in_points
from probative.wording.verdict import no_verdict, pvalue_of, strength, words_of_disagreement

if TYPE_CHECKING:
    from os import PathLike

    from probative.results import DifferencePosterior

GATES = ("fail-if-worse", "require-not-worse", "require-better")


def check_gate(
    kind: str, margin: float = 0.0, confidence: float = 0.95
) -> tuple[str, float, float]:
    """Validate a gate before anything is computed."""
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
    """Decide for every challenger if it passes a gate for releases.

    Without evidence (one unit, no positive items, an undefined score), no gate passes. With several
    runs a gate asks about the procedures, so that new runs count, too; it then refuses a system
    with a single run beside one with several. With groups, or critical fields of records, the whole
    and each of them are judged; their doubts are adjusted for their number by Holm's method.

    Parameters
    ----------
    comparisons
        The result of `compare`, or comparisons from it; the first one of each challenger with the
        baseline counts. For the result of `compare_datasets` the mean difference counts; for that
        of `compare_curves`, average precision (its `comparisons` have the others).
    kind
        "fail-if-worse": P(B - A < -margin) must stay below the confidence. "require-not-worse":
        P(B - A > -margin) must reach it, and the lower end of the one-sided interval must exceed
        -margin. "require-better": P(B - A > margin) must reach it, and that end must exceed margin;
        without a margin, the one-sided p-value must be at most 1 - confidence instead.
    margin, confidence
        A fraction of 1, and a probability.
    ledger
        A file that every use of a test set is written to, with the verdict. The confidence then
        holds for all uses together: with every look, a gate requires more.
    candidates
        With a ledger: "adaptive" if a candidate may depend on the verdicts on those before it,
        "independent" if candidates depend on nothing that was seen of this test set.
    hide_scores
        Whether to show nothing but the verdict, here and to whoever makes the next candidate: the
        probability is left out. The ledger records this.

    Returns
    -------
    tuple of GateVerdict
        One for each challenger, and with groups one more for each group, named in `group`;
        `passed` is True if the gate holds, and `str` gives the reason.

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
    hide = flag("hide_scores", hide_scores)
    if isinstance(comparisons, DatasetComparisons):
        if ledger is not None:
            raise InputError("ledger: counts the uses of one test set; expected no data sets")
        verdicts: tuple[GateVerdict, ...] = (_judge_mean(comparisons, kind, margin, confidence),)
    else:
        wanted = _as_list(comparisons)
        baseline, metric = wanted[0].a, wanted[0].metric
        first = [c for c in wanted if (c.a, c.metric) == (baseline, metric)]
        # of each challenger the comparison of the procedures counts, if there is one
        answered = {(c.a, c.b) for c in first if c.question == "procedures"}
        counting = [
            _Judged.of(c, comparisons, kind, margin)
            for c in first
            if c.question == "procedures" or (c.a, c.b) not in answered
        ]
        verdicts = tuple(one.verdict(confidence) for one in counting)
        if ledger is not None:
            how = (comparisons, ledger, candidates)
            verdicts = _by_ledger(verdicts, counting, *how, shown=not hide)
        verdicts += tuple(
            found
            for one, whole in zip(counting, verdicts, strict=True)
            for found in one.of_groups(whole.confidence)
        )
    if not is_in_points(comparisons):
        verdicts = tuple(replace(verdict, scale=comparisons) for verdict in verdicts)
    if not hide:
        return verdicts
    # the reason for missing evidence would reveal more than the verdict
    kept: Any = dict.fromkeys(("pvalue", "least", "reason", "warning"))
    return tuple(replace(verdict, probability=nan, hidden=True, **kept) for verdict in verdicts)


def check_ledger_options(kind: str, ledger: object, candidates: str = CANDIDATES[0]) -> None:
    """Validate the options of a gate with a ledger before anything is computed."""
    one_of("candidates", candidates, CANDIDATES)
    if ledger is None:
        if candidates != CANDIDATES[0]:
            raise InputError("candidates: has no effect without a ledger; expected ledger=")
        return
    if kind == "fail-if-worse":
        raise InputError(
            "ledger: limits how often a system that is no better passes, but fail-if-worse "
            "passes without evidence; expected require-better or require-not-worse"
        )
    check_ledger(ledger)


def _by_ledger(
    verdicts: Sequence[GateVerdict],
    judged: Sequence[_Judged],
    comparisons: object,
    ledger: str | PathLike[str],
    candidates: str,
    *,
    shown: bool,
) -> tuple[GateVerdict, ...]:
    """Return the verdicts at the confidence that is left to their test set."""
    found = comparisons.fingerprints if isinstance(comparisons, Comparisons) else None
    if not isinstance(comparisons, Comparisons) or found is None:
        raise InputError(
            "ledger: the comparison has no fingerprint of its test set; expected the result of "
            "compare(..., fingerprints=True)"
        )
    choices = comparisons.signature.partition("|")[2]
    questions = [
        Question(
            found,
            *(v.a, v.b, v.metric, v.kind, v.margin, v.confidence),
            f"{choices}|{v.question or 'models'}",
            candidates,
            one.doubt_of_all(),
            shown,
        )
        for v, one in zip(verdicts, judged, strict=True)
    ]
    passed, uses = record(ledger, questions)
    return tuple(
        replace(one.verdict(1 - use.threshold), passed=holds, use=use)
        for one, holds, use in zip(judged, passed, uses, strict=True)
    )


def _as_list(comparisons: object) -> Sequence[Comparison]:
    """Return one or many comparisons as a sequence."""
    if isinstance(comparisons, Comparison):
        return (comparisons,)
    if isinstance(comparisons, (Comparisons, CurveComparison)):
        return comparisons.comparisons
    listed = comparisons if isinstance(comparisons, (list, tuple)) else ()
    if not listed or not all(isinstance(c, Comparison) for c in listed):
        raise InputError(
            f"comparisons: {shown(comparisons)}; expected the result of compare(), or its "
            "comparisons"
        )
    return listed


@dataclass(frozen=True)
class _Judged:
    """Gate applied to a challenger, for the whole test set and for each group."""

    comparison: Comparison
    kind: str
    margin: float
    group: str | None = None
    groups: tuple[_Judged, ...] = ()
    warning: str | None = None

    @classmethod
    def of(cls, c: Comparison, result: object, kind: str, margin: float) -> _Judged:
        """Return the gate on a comparison of this result, with its groups."""
        if not isinstance(result, Comparisons):
            return cls(c, kind, margin)
        asked = c.a, c.b, c.metric, c.question
        groups = tuple(
            cls(own.of_pair(*asked), kind, margin, own.group)
            for own in (*(result.groups or ()), *(result.fields or ()))
        )
        summaries = result.group_summaries or ()
        own = [s for s in summaries if (s.a, s.b, s.metric, s.question) == asked]
        said = filter(None, map(words_of_disagreement, own))
        return cls(c, kind, margin, None, groups, next(said, None))

    @property
    def reason(self) -> str | None:
        """Return why no verdict is possible, or None."""
        c = self.comparison
        if self.group is not None and c.identical:
            return None
        found = no_verdict(c)
        if not found and c.question == "models" and max((c.runs or {}).values(), default=1) > 1:
            return "new runs cannot be judged: " + (c.note or "one run of a system")
        return found or ("the probability is not known" if isnan(self.probability) else None)

    @property
    def probability(self) -> float:
        """Return the probability of the difference that the gate asks about."""
        c = self.comparison
        # identical outputs are neither better nor worse, whatever the posterior of their items
        if c.identical:
            return float(self.kind == "require-not-worse")
        return _tail(c.posterior, self.kind, self.margin)

    def doubt(self) -> float:
        """Return the smallest doubt at which the requirement (or that B is worse) is shown."""
        c = self.comparison
        if self.reason:
            return nan
        if c.identical:
            return float(self.kind != "require-not-worse")
        boundary = _boundary(self.kind, self.margin)
        if self.kind == "fail-if-worse":
            return float(c.posterior.sf(boundary))
        beside = self._pvalue if self._by_test else _doubt_of_interval(c.posterior, boundary)
        return max(float(c.posterior.cdf(boundary)), beside)

    def doubt_of_all(self) -> float:
        """Return the smallest doubt at which the whole and all groups are shown."""
        return float(np.max([self.doubt(), *self._adjusted()]))

    def _adjusted(self) -> list[float]:
        """Return the doubts of the groups, adjusted by Holm's method; NaN without evidence."""
        doubts = np.array([one.doubt() for one in self.groups])
        known = ~np.isnan(doubts)
        doubts[known] = adjust_pvalues(doubts[known])
        return list(map(float, doubts))

    @property
    def _by_test(self) -> bool:
        """Return True if the p-value is required besides the posterior, not the interval."""
        asks_for_any = self.kind == "require-better" and self.margin == 0
        return asks_for_any and not isnan(self.comparison.pvalue)

    @property
    def _pvalue(self) -> float:
        """Return the one-sided p-value that B is better, adjusted as in the verdict."""
        c = self.comparison
        # the doubts of groups are adjusted together, later
        decides = pvalue_of(c) if self.group is None else c.p_decision
        return one_sided(decides, c.difference)

    def of_groups(self, confidence: float) -> list[GateVerdict]:
        """Return the verdict on every group, with doubts adjusted for their number."""
        found = zip(self.groups, self._adjusted(), strict=True)
        return [one.verdict(confidence, doubt) for one, doubt in found]

    def verdict(self, confidence: float, doubt: float | None = None) -> GateVerdict:
        """Return the verdict at this confidence; an adjusted doubt takes the place of its own."""
        c, reason = self.comparison, self.reason
        doubt = self.doubt() if doubt is None else doubt
        plain = reason or c.identical or self.kind == "fail-if-worse"
        shown = doubt <= (1 - confidence) * (1 + 1e-9)
        passed = not reason and (not shown if self.kind == "fail-if-worse" else shown)
        pvalue = least = None
        if not plain and self.group is None:
            pvalue = self._pvalue if self._by_test else None
            least = None if self._by_test else one_sided_low(c.posterior, confidence)
        open_above = passed and self.kind == "require-better" and strength(c) is None
        return GateVerdict(
            *(self.kind, c.a, c.b, c.metric, self.margin, confidence),
            nan if reason else self.probability,
            passed,
            reason,
            c.question,
            c.match,
            pvalue=pvalue,
            least=least,
            group=self.group,
            doubt=None if self.group is None or reason else doubt,
            warning=self.warning,
            one_sided_only=open_above,
        )


def _doubt_of_interval(posterior: DifferencePosterior, boundary: float) -> float:
    """Return the smallest doubt at which the one-sided interval exceeds a boundary."""
    if not one_sided_low(posterior, 0.5) > boundary:
        return 1.0
    low, high = -12.0, math.log10(0.5)  # powers of ten
    for _ in range(40):
        middle = (low + high) / 2
        above = one_sided_low(posterior, 1 - 10**middle) > boundary
        low, high = (low, middle) if above else (middle, high)
    return float(10**high)


def _judge_mean(
    result: DatasetComparisons, kind: str, margin: float, confidence: float
) -> GateVerdict:
    """Return the verdict on the mean difference over several data sets."""
    asked = kind, result.a, result.b, result.metric, margin, confidence
    if isnan(result.mean.p_b_better):
        reason = "on one of the data sets there is no evidence"
        return GateVerdict(*asked, nan, False, reason, "mean", result.match)
    posterior, least = result.mean.posterior, None
    probability = _tail(posterior, kind, margin)
    passed = probability < confidence
    if kind != "fail-if-worse":
        least = one_sided_low(posterior, confidence)
        passed = probability >= confidence and least > _boundary(kind, margin)
    return GateVerdict(*asked, probability, passed, None, "mean", result.match, least=least)


def _boundary(kind: str, margin: float) -> float:
    return margin if kind == "require-better" else -margin


def _tail(posterior: DifferencePosterior, kind: str, margin: float) -> float:
    """Return the posterior probability that a gate asks about."""
    law = posterior.cdf if kind == "fail-if-worse" else posterior.sf
    return float(law(_boundary(kind, margin)))
