"""Do intervals and tests of records hold? By simulation, by document and by field.

Documents differ in difficulty and in the number of their fields; some outputs are malformed and
lose all of them. Wrong fields are another value, which counts twice, or missing. The truth is that
of a very large corpus of the same kind.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from probative.counts import Counts, PairedCounts
from probative.inference.differences import difference
from probative.inference.exchange import randomization_test
from probative.inference.intervals import interval
from probative.inference.pooled import PooledScore
from probative.results.comparisons import decision_pvalue
from probative_studies.harness import Report, Row, checked, mean, monte_carlo_error, quiet, streams

_LARGE = 200_000  # documents of the corpus that shows the truth
_HEADER, _ROWS, _ROW_FIELDS = 8, 2.0, 4  # fields outside lists, mean number of rows, their fields
_OTHER_VALUE, _SAME_WRONG = 0.7, 0.3  # shares of wrong fields
_RIGHT = (0.90, 0.93)  # mean shares of right fields of A and of B
_SPREAD = 12.0  # of the beta law of the difficulty of documents


@dataclass(frozen=True)
class Condition:
    """A test set: its documents, and the share of outputs that are malformed."""

    documents: int
    malformed: float

    def draw(
        self, rng: Generator, documents: int, right: tuple[float, float]
    ) -> tuple[PairedCounts, PairedCounts]:
        """Draw the cases of all fields, and of one field that every document has once."""
        fields = _HEADER + _ROW_FIELDS * rng.poisson(_ROWS, documents)
        owner = np.repeat(np.arange(documents), fields)
        easy = rng.random(documents)
        found = [self._found(rng, easy, owner, share) for share in right]
        alarm = [~own & (rng.random(len(owner)) < _OTHER_VALUE) for own in found]
        lost = [rng.random(documents) < self.malformed for _ in right]
        found = [own & ~gone[owner] for own, gone in zip(found, lost, strict=True)]
        alarm = [own & ~gone[owner] for own, gone in zip(alarm, lost, strict=True)]
        same = alarm[0] & alarm[1] & (rng.random(len(owner)) < _SAME_WRONG)
        first = np.diff(owner, prepend=-1) > 0
        every = _cases(owner, documents, found, alarm, same)
        one = [own[first] for own in (*found, *alarm, same)]
        alone = _cases(owner[first], documents, one[:2], one[2:4], one[4])
        return every, alone

    @staticmethod
    def _found(
        rng: Generator, easy: NDArray[np.float64], owner: NDArray[np.intp], share: float
    ) -> NDArray[np.bool_]:
        """Draw which fields are right; both systems find the same documents easy."""
        from scipy.stats import beta

        chance = beta.ppf(easy, _SPREAD * share, _SPREAD * (1 - share))
        return np.asarray(rng.random(len(owner)) < chance[owner])


def _cases(
    owner: NDArray[np.intp],
    documents: int,
    found: Sequence[NDArray[np.bool_]],
    alarm: Sequence[NDArray[np.bool_]],
    same: NDArray[np.bool_],
) -> PairedCounts:
    """Return the seven cases of every document (see `PairedCounts`)."""
    a, b = found
    wrong_a, wrong_b = alarm[0] & ~same, alarm[1] & ~same
    nothing = np.zeros_like(a)
    kinds = (a & ~b, wrong_a, ~a & b, wrong_b, a & b, same, ~a & ~b, nothing)
    columns = [np.bincount(owner[kind], minlength=documents) for kind in kinds[:7]]
    return PairedCounts(np.stack(columns, axis=1))


_CONDITIONS = tuple(
    Condition(documents, malformed)
    for documents in (20, 50, 200, 500)
    for malformed in (0.0, 0.03, 0.05)
)


@dataclass(frozen=True, eq=False, repr=False)
class RecordCoverage(Row):
    """Coverage and size of a test under one condition, by document and by field."""

    documents: int  # the condition
    malformed: float
    question: str  # "F1", "F1 of a field", "difference" or "test"
    truth: float
    by_document: float  # coverage of intervals, or how often the test rejects equal systems
    by_field: float  # the same if fields are taken as independent
    length: float  # mean length of the intervals by document; NaN for tests
    standard_error: float

    line = "{question}, {documents} documents: {by_document:.3f}"


def record_study(
    conditions: Sequence[Condition] = _CONDITIONS,
    *,
    level: float = 0.95,
    replicates: int = 1000,
    rng: int = 0,
    report: Report = quiet,
) -> list[RecordCoverage]:
    """Draw corpora of records, and see how often intervals cover and tests reject."""
    level, replicates = checked(level, replicates)
    results = []
    for c, generator in streams(conditions, rng, report):
        truths = [_scores(own) for own in c.draw(generator, _LARGE, _RIGHT)]
        true = {
            "F1": truths[0][1],
            "F1 of a field": truths[1][1],
            "difference": truths[0][1] - truths[0][0],
        }
        found: dict[str, list[tuple[float, ...]]] = {name: [] for name in (*true, "test")}
        for _ in range(replicates):
            every, alone = c.draw(generator, c.documents, _RIGHT)
            found["F1"].append(_limits(every.b, level))
            found["F1 of a field"].append(_limits(alone.b, level))
            gaps = difference(every, "f1", level=level), difference(every.total(), level=level)
            found["difference"].append(tuple(end for gap in gaps for end in (gap.low, gap.high)))
            equal, _ = c.draw(generator, c.documents, (_RIGHT[0], _RIGHT[0]))
            found["test"].append(_pvalues(equal))
        error = monte_carlo_error(replicates)
        for name, truth in true.items():
            low, high, item_low, item_high = np.array(found[name]).T
            covered = mean((low <= truth) & (truth <= high))
            by_field = mean((item_low <= truth) & (truth <= item_high))
            results.append(
                RecordCoverage(
                    *(c.documents, c.malformed, name, truth, covered, by_field),
                    length=mean(high - low),
                    standard_error=error,
                )
            )
        by_document, by_field = (mean(p <= 1 - level) for p in np.array(found["test"]).T)
        results.append(
            RecordCoverage(
                *(c.documents, c.malformed, "test", 0.0, by_document, by_field),
                length=float("nan"),
                standard_error=error,
            )
        )
    return results


def _scores(paired: PairedCounts) -> tuple[float, float]:
    total = paired.total()
    return tuple(float(2 * s.tp / (2 * s.tp + s.fp + s.fn)) for s in (total.a, total.b))  # type: ignore[return-value]


def _limits(counts: Counts, level: float) -> tuple[float, ...]:
    """Return the interval by document, and that of independent fields."""
    both = (
        interval(counts, "f1", clustered=True, level=level),
        interval(counts.sum(), "f1", level=level),
    )
    return tuple(float(end) for one in both for end in (one.low, one.high))


def _pvalues(paired: PairedCounts) -> tuple[float, float]:
    """Return the p-value that decides by document, and that of exchanging single fields."""
    score = PooledScore.of_cases(paired.grouped(), "f1")
    (test,) = score.tests([(0, 1)], level=0.95, rng=np.random.default_rng(0))
    decides = float(decision_pvalue(test.pvalue, score.unit_test(0, 1).pvalue))
    return decides, float(randomization_test(paired.total(), "f1", by="item").pvalue)
