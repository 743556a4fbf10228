"""How often intervals of partial overlap cover: ``python -m probative.studies.overlap``.

Every span of the answer is found, found in part or missed, and sentences differ in how hard they
are; wrong spans are returned besides. The true score is that of endless sentences of the kind.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass

import numpy as np

from probative.counts import Counts
from probative.inference.intervals import interval
from probative.metrics import score

__all__ = ["Condition", "coverage", "main"]

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


CONDITIONS = tuple(
    Condition(sentences, spans, found, partly)
    for sentences in (50, 200, 1000)
    for spans, found, partly in ((1.0, 0.6, 0.3), (1.0, 0.95, 0.1), (4.0, 0.8, 0.5))
)


def coverage(condition: Condition, replicates: int, rng: np.random.Generator) -> float:
    """How often the interval of F1 at the level 0.95 covers the true one."""
    true = float(score(condition.draw(rng, _LARGE).sum(), "f1"))
    hits = 0
    for _ in range(replicates):
        own = interval(condition.draw(rng, condition.sentences), "f1", clustered=True)
        hits += bool(own.low <= true <= own.high)
    return hits / replicates


def main(replicates: int = 1000, seed: int = 1) -> str:
    """The table, in Markdown."""
    lines = [
        "| sentences | spans each | found | of these in part | coverage |",
        "| ---: | ---: | ---: | ---: | ---: |",
    ]
    for number, c in enumerate(CONDITIONS):
        covered = coverage(c, replicates, np.random.default_rng([seed, number]))
        lines.append(
            f"| {c.sentences} | {c.spans:g} | {c.found:g} | {c.partly:g} | {covered:.3f} |"
        )
    return "\n".join(lines)


if __name__ == "__main__":
    sys.stdout.write(main(*map(int, sys.argv[1:])) + "\n")
