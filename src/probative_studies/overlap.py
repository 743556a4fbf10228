"""How often do intervals of partial overlap cover? By simulation.

Every span of the answer is found, found in part or missed, and sentences differ in how hard they
are; wrong spans are returned besides. The true score is that of endless sentences of the kind.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from probative._validation import open_probability, random_generator, whole_number
from probative.counts import Counts
from probative.inference.intervals import interval
from probative.metrics import score
from probative.results import Result
from probative_studies.curves import monte_carlo_error

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from probative._validation import RNG


_LARGE = 400_000


@dataclass(frozen=True)
class Condition:
    """Sentences, spans per sentence, the share found, of these the share found in part."""

    sentences: int
    spans: float
    found: float
    partly: float
    spread: float = 1.0

    def draw(self, rng: np.random.Generator, sentences: int) -> Counts:
        """The counts of every sentence, in halves."""
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
class OverlapCoverage(Result):
    """How often the interval of F1 covers the true one."""

    # the condition: sentences, spans of the answer in each, the share of them that is found, and of
    # these the share that is found in part
    sentences: int
    spans: float
    found: float
    partly: float
    f1: float  # the true score
    covered: float  # how often the interval holds it, and its mean length
    length: float
    standard_error: float  # the Monte-Carlo error of a coverage of 0.95

    def __str__(self) -> str:
        return f"{self.sentences} sentences, F1 {self.f1:.3f}: covered {self.covered:.3f}"


def overlap_study(
    conditions: Sequence[Condition] = _CONDITIONS,
    *,
    level: float = 0.95,
    replicates: int = 1000,
    rng: RNG | None = 0,
    report: Callable[[int, int], None] | None = None,
) -> list[OverlapCoverage]:
    """Draw test sets with spans found in part, and see how often the interval of F1 covers.

    Parameters
    ----------
    conditions
        What is drawn.
    level
        The level of the intervals.
    replicates
        Test sets per condition.
    rng
        A seed or generator.
    report
        Is told how many conditions are done, and how many there are.
    """
    level = open_probability("level", level)
    replicates = whole_number("replicates", replicates)
    generator = random_generator(rng)
    results = []
    for done, c in enumerate(conditions, start=1):
        true = float(score(c.draw(generator, _LARGE).sum(), "f1"))
        drawn = (c.draw(generator, c.sentences) for _ in range(replicates))
        own = [interval(counts, "f1", level=level, clustered=True) for counts in drawn]
        covered = float(np.mean([one.low <= true <= one.high for one in own]))
        length = float(np.mean([one.high - one.low for one in own]))
        told = (c.sentences, c.spans, c.found, c.partly, true, covered, length)
        results.append(OverlapCoverage(*told, monte_carlo_error(replicates)))
        if report is not None:
            report(done, len(conditions))
    return results
