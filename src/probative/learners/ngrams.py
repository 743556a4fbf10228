"""Numbers for the n-grams of characters."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

__all__ = ["Vocabulary"]

_BEFORE, _AFTER = "\x02", "\x03"  # stand for what lies outside the text


@dataclass(frozen=True)
class Vocabulary:
    """The uni-, bi- and trigrams that are known; 0 is the number of all others.

    Attributes
    ----------
    numbers
        A dictionary for each length.
    """

    numbers: tuple[dict[str, int], ...]

    @property
    def sizes(self) -> list[int]:
        """How many numbers there are of each length, the unknown one included."""
        return [len(known) + 1 for known in self.numbers]

    @classmethod
    def of(cls, texts: Iterable[str], *, least: int) -> Self:
        """Take the n-grams that occur at least so often."""
        seen: tuple[Counter[str], ...] = (Counter(), Counter(), Counter())
        for text in texts:
            for counter, grams in zip(seen, _ngrams(text), strict=True):
                counter.update(grams)
        return cls.from_lists([[g for g, n in c.items() if n >= least] for c in seen])

    def encode(self, text: str) -> NDArray[np.int64]:
        """The numbers of the three n-grams of every character."""
        columns = [
            [known.get(gram, 0) for gram in grams]
            for known, grams in zip(self.numbers, _ngrams(text), strict=True)
        ]
        return np.array(columns, dtype=np.int64).T

    def to_lists(self) -> list[list[str]]:
        """The n-grams in the order of their numbers."""
        return [list(known) for known in self.numbers]

    @classmethod
    def from_lists(cls, lists: Any) -> Self:
        """The vocabulary with these n-grams."""
        one, two, three = ({gram: i for i, gram in enumerate(grams, start=1)} for grams in lists)
        return cls((one, two, three))


def _ngrams(text: str) -> tuple[Iterable[str], list[str], list[str]]:
    """Every character, the bigram that it ends, and the trigram around it."""
    before, after = _BEFORE + text[:-1], text[1:] + _AFTER
    pairs = [a + b for a, b in zip(before, text, strict=True)] if text else []
    return text, pairs, [pair + c for pair, c in zip(pairs, after if text else "", strict=True)]
