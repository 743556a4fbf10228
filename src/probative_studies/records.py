"""Do intervals and tests of records hold? By simulation, by document and by field.

Documents differ in difficulty and in the number of their fields; some outputs are malformed and
lose all of them. Wrong fields are another value, which counts twice, or missing. The truth is that
of a very large corpus of the same kind.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from probative._validation import Ints, Mask
from probative.counts import Counts, PairedCounts
from probative.inference.differences import difference
from probative.inference.exchange import randomization_test
from probative.inference.intervals import interval
from probative.inference.pooled import PooledScore
from probative.metrics import score
from probative.results.comparisons import decision_pvalue
from probative_studies.harness import Row, mean, monte_carlo_error, streams, study

_DOCUMENTS_OF_THE_TRUTH = 200_000  # documents of the corpus that shows the truth
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
        from scipy.stats import beta

        fields = _HEADER + _ROW_FIELDS * rng.poisson(_ROWS, documents)
        owner = np.repeat(np.arange(documents), fields)
        easy = rng.random(documents)
        # both systems find the same documents easy
        chances = [beta.ppf(easy, _SPREAD * share, _SPREAD * (1 - share)) for share in right]
        found = [rng.random(len(owner)) < chance[owner] for chance in chances]
        alarm = [~own & (rng.random(len(owner)) < _OTHER_VALUE) for own in found]
        lost = [rng.random(documents) < self.malformed for _ in right]
        found = [own & ~gone[owner] for own, gone in zip(found, lost, strict=True)]
        alarm = [own & ~gone[owner] for own, gone in zip(alarm, lost, strict=True)]
        same = alarm[0] & alarm[1] & (rng.random(len(owner)) < _SAME_WRONG)
        first = np.diff(owner, prepend=-1) > 0
        cells = *found, *alarm, same
        every = _cases(owner, documents, *cells)
        return every, _cases(owner[first], documents, *(own[first] for own in cells))


def _cases(owner: Ints, documents: int, *cells: Mask) -> PairedCounts:
    """Return the seven cases of every document (see `PairedCounts`)."""
    a, b, alarm_a, alarm_b, same = cells
    kinds = (a & ~b, alarm_a & ~same, ~a & b, alarm_b & ~same, a & b, same, ~a & ~b)
    columns = [np.bincount(owner[kind], minlength=documents) for kind in kinds]
    return PairedCounts(np.stack(columns, axis=1))


_CONDITIONS = tuple(
    Condition(documents, malformed)
    for documents in (20, 50, 200, 500)
    for malformed in (0.0, 0.03, 0.05)
)


@study(_CONDITIONS, streams)
def record_study(c: Condition, level: float, replicates: int, rng: Generator) -> Iterator[Row]:
    """Draw corpora of records, and see how often intervals cover and tests reject equal systems."""
    every, alone = (_scores(own) for own in c.draw(rng, _DOCUMENTS_OF_THE_TRUTH, _RIGHT))
    true = {"F1": every[1], "F1 of a field": alone[1], "difference": every[1] - every[0]}
    limits: dict[str, list[tuple[float, ...]]] = {name: [] for name in true}
    pvalues = []
    for _ in range(replicates):
        drawn, field = c.draw(rng, c.documents, _RIGHT)
        limits["F1"].append(_limits(drawn.b, level))
        limits["F1 of a field"].append(_limits(field.b, level))
        gaps = difference(drawn, "f1", level=level), difference(drawn.total(), level=level)
        limits["difference"].append(tuple(end for gap in gaps for end in (gap.low, gap.high)))
        equal, _ = c.draw(rng, c.documents, (_RIGHT[0], _RIGHT[0]))
        pvalues.append(_pvalues(equal))
    error = {"standard_error": monte_carlo_error(replicates)}
    for name, truth in true.items():
        low, high, item_low, item_high = np.array(limits[name]).T
        yield Row(
            **vars(c),
            question=name,
            truth=truth,
            by_document=mean((low <= truth) & (truth <= high)),
            by_field=mean((item_low <= truth) & (truth <= item_high)),
            length=mean(high - low),
            **error,
        )
    by_document, by_field = (mean(p <= 1 - level) for p in np.array(pvalues).T)
    found = {"by_document": by_document, "by_field": by_field, "length": math.nan}
    yield Row(**vars(c), question="test", truth=0.0, **found, **error)


def _scores(paired: PairedCounts) -> list[float]:
    total = paired.total()
    return [float(score(side, "f1")) for side in (total.a, total.b)]


def _limits(counts: Counts, level: float) -> tuple[float, ...]:
    """Return the interval by document, and that of independent fields."""
    both = (
        interval(counts, "f1", clustered=True, level=level),
        interval(counts.sum(), "f1", level=level),
    )
    return tuple(float(end) for one in both for end in (one.low, one.high))


def _pvalues(paired: PairedCounts) -> tuple[float, float]:
    """Return the p-value that decides by document, and that of exchanging single fields."""
    pooled = PooledScore.of_cases(paired.grouped(), "f1")
    (test,) = pooled.tests([(0, 1)], level=0.95, rng=np.random.default_rng(0))
    decides = float(decision_pvalue(test.pvalue, pooled.unit_test(0, 1).pvalue))
    return decides, float(randomization_test(paired.total(), "f1", by="item").pvalue)
