"""How often do intervals of partial overlap cover? By simulation.

Every span of the gold is found, found in part or missed, and sentences differ in how hard they
are; wrong spans are returned besides. The true score is that of endless sentences of the kind.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from probative._validation import RNG
from probative.counts import Counts
from probative.inference.intervals import interval
from probative.metrics import score
from probative_studies.harness import Report, Row, checked, one_stream, quiet, summary

_LARGE = 400_000


@dataclass(frozen=True)
class Condition:
    """Sentences, spans per sentence, the share found, of these the share found in part."""

    sentences: int
    spans: float
    found: float
    partly: float
    spread: float = 1.0

    def draw(self, rng: Generator, sentences: int) -> Counts:
        """Draw the counts of every sentence, in halves."""
        number = rng.poisson(self.spans, sentences)
        odds = np.log(self.found / (1 - self.found)) + self.spread * rng.normal(size=sentences)
        met = rng.binomial(number, 1 / (1 + np.exp(-odds)))
        right = met - rng.binomial(met, self.partly) / 2
        wrong = rng.poisson(0.2 * self.spans, sentences)
        return Counts(tp=right, fp=met - right + wrong, fn=number - right)


_CONDITIONS = tuple(
    Condition(sentences, spans, found, partly)
    for sentences in (50, 200, 1000)
    for spans, found, partly in ((1.0, 0.6, 0.3), (1.0, 0.95, 0.1), (4.0, 0.8, 0.5))
)


@dataclass(frozen=True, eq=False, repr=False)
class OverlapCoverage(Row):
    """Coverage of the interval of F1 under one condition."""

    sentences: int  # the condition
    spans: float
    found: float
    partly: float
    f1: float  # the true score
    covered: float  # how often the interval holds it, and its mean length
    length: float
    standard_error: float  # the Monte-Carlo error of a coverage of 0.95

    line = "{sentences} sentences, F1 {f1:.3f}: covered {covered:.3f}"


def overlap_study(
    conditions: Sequence[Condition] = _CONDITIONS,
    *,
    level: float = 0.95,
    replicates: int = 1000,
    rng: RNG | None = 0,
    report: Report = quiet,
) -> list[OverlapCoverage]:
    """Draw test sets with spans found in part, and see how often the interval of F1 covers."""
    level, replicates = checked(level, replicates)
    results = []
    for c, generator in one_stream(conditions, rng, report):
        true = float(score(c.draw(generator, _LARGE).sum(), "f1"))
        drawn = (c.draw(generator, c.sentences) for _ in range(replicates))
        found = summary([interval(x, "f1", level=level, clustered=True) for x in drawn], true)
        del found["noted"]
        results.append(OverlapCoverage.of(c, f1=true, **found))
    return results
