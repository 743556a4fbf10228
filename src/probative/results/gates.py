"""What a gate says of a challenger."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import floor, log10
from typing import Any

from probative.results.base import Result
from probative.results.ledger import GateUse  # noqa: TC001  # results tell the types of what they hold
from probative.wording import metric_name, region

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
        if self.reason:
            return f"{head}: {self.reason}"
        if self.hidden:
            return f"{head}, at confidence {_confidence(self.confidence)}"
        sign, side = _BOUNDARY[self.kind]
        limit = f"{'−' if side < 0 and self.margin > 0 else ''}{region(self.margin)}"
        holds = self.probability >= self.confidence
        relation = ">=" if holds else "<"
        digits = max(4, _digits(self.confidence))
        return (
            f"{head}: P(B − A {sign} {limit}) = {self.probability:.{digits}f} {relation} "
            f"{_confidence(self.confidence)}"
        )


def _confidence(confidence: float) -> str:
    """A confidence with as many digits as tell it from certainty; as it is, where that is short."""
    short = f"{confidence:g}"
    return short if float(short) == confidence else f"{confidence:.{_digits(confidence)}f}"


def _digits(confidence: float) -> int:
    """Decimals that show two digits of the doubt."""
    return 1 - floor(log10(1 - confidence)) if confidence < 1 else 12
