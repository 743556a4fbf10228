"""What a gate says of a challenger."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import floor, log10
from typing import Any

from probative.results.base import Result
from probative.results.ledger import GateUse  # noqa: TC001  # results tell the types of what they hold
from probative.wording.numbers import metric_name, region, signed_points

__all__ = ["GateVerdict"]

_BOUNDARY = {"fail-if-worse": ("<", -1), "require-not-worse": (">", -1), "require-better": (">", 1)}


@dataclass(frozen=True, eq=False, repr=False)
class GateVerdict(Result):
    """Whether a challenger passes a gate, and why.

    Attributes
    ----------
    kind
        "fail-if-worse", "require-not-worse" or "require-better".
    a, b, metric
        The baseline, the challenger, and the score.
    margin, confidence
        A fraction of 1, and the probability that is asked for (or, for "fail-if-worse", that must
        not be reached).
    probability
        Of the difference that the gate asks about; NaN where there is no evidence.
    passed
        Whether it holds.
    reason
        Why the gate refuses to judge, or None.
    question
        With several runs: "procedures" where new runs were allowed for, "models" where a single
        run of each was there. With several data sets: "mean", that over them. Else None.
    match
        When a span counts as right, such as ``partial``; None where it must be equal.
    use
        With a ledger: which look at the test set this was, and what is left of it.
    hidden
        Whether nothing but the verdict is told: then the probability is NaN.
    pvalue
        For "require-better" without a margin: the one-sided p-value, which must be at most 1 -
        confidence. It is that of the exchange or Student's by unit, whichever is larger. Else None.
    least
        With a margin, and for "require-not-worse": the lower end of the one-sided interval at this
        confidence, which must exceed the margin. Else None.
    group, doubt
        With groups: which one this is, None for the whole; and the doubt that what is asked for
        holds in it, adjusted for the number of groups by Holm's method.
    warning
        With groups: in which way they disagree, or None.
    """

    kind: str
    a: str
    b: str
    metric: str
    margin: float
    confidence: float
    probability: float
    passed: bool
    reason: str | None = None
    question: str | None = None
    match: str | None = None
    use: GateUse | None = None
    hidden: bool = field(default=False, repr=False)
    pvalue: float | None = None
    least: float | None = None
    group: str | None = None
    doubt: float | None = None
    warning: str | None = None
    one_sided_only: bool = field(default=False, repr=False)

    def to_dict(self) -> dict[str, Any]:
        """All attributes by name, and the margin in points."""
        return super().to_dict() | {"margin_points": round(100 * self.margin, 10)}

    def __str__(self) -> str:
        word = "passed" if self.passed else "failed"
        head = (
            f"{self.kind} {word}: {self.b} against {self.a}, {metric_name(self.metric, self.match)}"
        )
        head += {
            "procedures": " of new runs",
            "models": " of these models",
            "mean": ", mean over the data sets",
        }.get(self.question or "", "")
        if self.group is not None:
            head += f" in {self.group}"
        if self.reason:
            return f"{head}: {self.reason}"
        if self.hidden:
            return f"{head}, at confidence {_confidence(self.confidence)}"
        sign, side = _BOUNDARY[self.kind]
        limit = f"{'−' if side < 0 and self.margin > 0 else ''}{region(self.margin)}"
        holds = self.probability >= self.confidence
        relation = ">=" if holds else "<"
        digits = max(4, _digits(self.confidence))
        said = (
            f"{head}: P(B − A {sign} {limit}) = {self.probability:.{digits}f} {relation} "
            f"{_confidence(self.confidence)}"
        )
        return f"{said}{self._beside(limit)}"

    def _beside(self, limit: str) -> str:
        """What stands beside the probability: test or interval, and what the groups say."""
        said, most = "", 1 - self.confidence
        if self.pvalue is not None:
            holds = self.pvalue <= most * (1 + 1e-9)
            said += f", one-sided p = {self.pvalue:.4f} {'<=' if holds else '>'} {most:.4g}"
        if self.least is not None:
            side = 1 if self.kind == "require-better" else -1
            relation = ">" if self.least > side * self.margin else "<="
            level = f"{100 * self.confidence:.6g} %"
            low = f"{signed_points(self.least, 2)} points"
            said += f", one-sided {level} interval from {low} {relation} {limit}"
        if self.doubt is not None:
            said += f" (Holm-adjusted doubt {self.doubt:.4f})"
        if self.one_sided_only:
            said += "; asked in this direction alone: both ways, a difference is not established"
        return said if self.warning is None else f"{said}; {self.warning}"


def _confidence(confidence: float) -> str:
    """A confidence with as many digits as tell it from certainty; as it is, where that is short."""
    short = f"{confidence:g}"
    return short if float(short) == confidence else f"{confidence:.{_digits(confidence)}f}"


def _digits(confidence: float) -> int:
    """Decimals that show two digits of the doubt."""
    return 1 - floor(log10(1 - confidence)) if confidence < 1 else 12
