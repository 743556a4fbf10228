"""How often do intervals of partial overlap cover? By simulation.

Every span of the gold is found, found in part or missed, and sentences differ in how hard they
are; wrong spans are returned besides. The true score is that of endless sentences of the kind.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from probative.counts import Counts
from probative.inference.intervals import interval
from probative.metrics import score
from probative_studies.harness import Row, study, summary

_SENTENCES_OF_THE_TRUTH = 400_000  # of the corpus that shows the true score


@dataclass(frozen=True)
class Condition:
    """Sentences, spans per sentence, the share found, of these the share found in part."""

    sentences: int
    spans: float
    found: float
    partly: float

    def draw(self, rng: Generator, sentences: int) -> Counts:
        """Draw the counts of every sentence, in halves."""
        number = rng.poisson(self.spans, sentences)
        odds = np.log(self.found / (1 - self.found)) + rng.normal(size=sentences)
        met = rng.binomial(number, 1 / (1 + np.exp(-odds)))
        right = met - rng.binomial(met, self.partly) / 2
        wrong = rng.poisson(0.2 * self.spans, sentences)
        return Counts(tp=right, fp=met - right + wrong, fn=number - right)


_CONDITIONS = tuple(
    Condition(sentences, spans, found, partly)
    for sentences in (50, 200, 1000)
    for spans, found, partly in ((1.0, 0.6, 0.3), (1.0, 0.95, 0.1), (4.0, 0.8, 0.5))
)


@study(_CONDITIONS)
def overlap_study(c: Condition, level: float, replicates: int, rng: Generator) -> Iterator[Row]:
    """Draw test sets with spans found in part, and see how often the interval of F1 covers."""
    true = float(score(c.draw(rng, _SENTENCES_OF_THE_TRUTH).sum(), "f1"))
    drawn = (c.draw(rng, c.sentences) for _ in range(replicates))
    found = summary([interval(x, "f1", level=level, clustered=True) for x in drawn], true)
    del found["noted"]
    yield Row(**vars(c), f1=true, **found)
