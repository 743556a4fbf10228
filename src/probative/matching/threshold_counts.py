"""Every segmentation that a ranking of boundaries can give, counted at once.

The inner positions of a corpus are ranked by how probable a boundary is there. Cut k accepts the
first k of them. A word of the answer is right from the cut that accepts its two ends until the one
that accepts a position inside it, so one sort and cumulative sums give the counts of all cuts.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from probative.counts import Counts

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from probative._types import Ints
    from probative.reading.annotations import Segmented
    from probative.reading.probabilities import Probabilities

    Floats = NDArray[np.float64]

__all__ = ["Cuts", "all_cuts", "flat_probabilities"]


@dataclass(frozen=True, eq=False)
class Cuts:
    """The counts of every cut.

    Attributes
    ----------
    totals
        tp, fp, fn and tn of the corpus, one row per cut: cut k accepts k positions.
    at
        Some cuts, in ascending order.
    events
        What changes the counts of a sentence, in the order of the cuts: the cut, the sentence, and
        what is added to its tp, fp, fn and tn.
    ranked
        The probabilities in the order in which the cuts accept them.
    n_sentences
        How many sentences there are.
    """

    totals: Floats
    at: Ints
    events: tuple[Ints, Ints, Floats]
    ranked: Floats
    n_sentences: int

    @property
    def positions(self) -> int:
        """How many inner positions there are."""
        return len(self.ranked)

    @property
    def everywhere(self) -> Counts:
        """The counts of every cut."""
        return Counts(*self.totals.T)

    @property
    def there(self) -> Counts:
        """The counts of the cuts of `at`."""
        return Counts(*self.totals[self.at].T)

    def by_sentence(self) -> Iterator[Counts]:
        """The counts of every sentence at each of the cuts of `at`."""
        cut, sentence, step = self.events
        counts = np.zeros((self.n_sentences, 4))
        start = 0
        for end in np.searchsorted(cut, self.at, side="right").tolist():
            np.add.at(counts, sentence[start:end], step[start:end])
            start = end
            yield Counts(*counts.T.copy())


def flat_probabilities(gold: Segmented, probabilities: Probabilities) -> Floats:
    """Put the probabilities of all sentences in a row, if there is one for every inner position.

    Parameters
    ----------
    gold
        The answer.
    probabilities
        Of a boundary between every two characters of every sentence.
    """
    rows = list(probabilities.rows)
    while len(rows) > gold.n_sentences and not len(rows[-1]):
        rows.pop()  # an empty sentence at the end, which a file of segmented text does not count
    if len(rows) != gold.n_sentences:
        raise probabilities.error(
            f"{len(rows)} sentences, but {gold.name} has {gold.n_sentences}; expected as many"
        )
    for sentence, (row, length) in enumerate(zip(rows, gold.lengths.tolist(), strict=True)):
        if len(row) != max(length - 1, 0):
            raise probabilities.error(
                f"{len(row)} numbers; expected {max(length - 1, 0)}, one between every two of the "
                f"{length} characters of the answer",
                sentence,
            )
    return np.concatenate(rows)


def all_cuts(gold: Segmented, probabilities: Floats, at: Ints) -> Cuts:
    """Count every segmentation that these probabilities can give.

    Parameters
    ----------
    gold
        The answer.
    probabilities
        Of a boundary at every inner position, in the order of the text. Of equal ones the first
        in the text is accepted first.
    at
        The cuts that are wanted sentence by sentence, in ascending order.
    """
    order = np.argsort(-probabilities, kind="stable")
    positions = len(order)
    accepted_by = np.empty(positions, dtype=np.int64)  # the first cut that accepts a position
    accepted_by[order] = np.arange(1, positions + 1)

    # the same for every character: is a word begun there? the first of a sentence always is
    begins_by = np.zeros(int(gold.first[-1]) + 1, dtype=np.int64)
    inner = np.ones(len(begins_by), dtype=bool)
    inner[gold.first] = False
    begins_by[inner] = accepted_by
    position_sentence = np.repeat(np.arange(gold.n_sentences), np.maximum(gold.lengths - 1, 0))
    from_cut, until_cut = _right_between(gold, begins_by, positions)
    right = from_cut < until_cut
    events = [
        (np.zeros(gold.n_sentences, dtype=np.int64), np.arange(gold.n_sentences), "state"),
        (accepted_by, position_sentence, "accepted"),
        (from_cut[right], gold.sentence[right], "gained"),
        (until_cut[right], gold.sentence[right], "lost"),
    ]
    return _accumulate(gold, events, probabilities[order], at)


def _right_between(gold: Segmented, begins_by: Ints, positions: int) -> tuple[Ints, Ints]:
    """The first cut at which every word of the answer is right, and the first at which no more."""
    offset = gold.first[gold.sentence]
    start, end = gold.start + offset, gold.end + offset
    # `end` may be the first character of the next sentence, which begins a word at every cut
    from_cut = np.maximum(begins_by[start], begins_by[end])
    # the least inside a word, by reduceat over [start + 1, end); a word of one character has none
    until_cut = np.full(len(start), positions + 1, dtype=np.int64)
    long = np.flatnonzero(end - start > 1)
    if len(long):
        limits = np.stack([start[long] + 1, end[long]], axis=1).ravel()
        until_cut[long] = np.minimum.reduceat(begins_by, limits)[::2]
    return from_cut, until_cut


def _accumulate(
    gold: Segmented, events: list[tuple[Any, Any, str]], ranked: Floats, at: Ints
) -> Cuts:
    """Add up what the events change."""
    words = np.bincount(gold.sentence, minlength=gold.n_sentences).astype(np.float64)
    substrings = gold.lengths * (gold.lengths + 1.0) / 2
    one = (gold.lengths > 0).astype(np.float64)  # what splits nothing returns one word per sentence
    # tp, fp, fn, tn: what a sentence begins with, and what an event adds
    state = np.stack([0 * one, one, words, substrings - words - one], axis=1)
    change = {"accepted": (0, 1, 0, -1), "gained": (1, -1, -1, 1), "lost": (-1, 1, 1, -1)}
    cut = np.concatenate([cut for cut, _, _ in events])
    sentence = np.concatenate([sentence for _, sentence, _ in events])
    step = np.concatenate(
        [
            state if name == "state" else np.tile(np.array(change[name], float), (len(cuts), 1))
            for cuts, _, name in events
        ]
    )
    order = np.argsort(cut, kind="stable")
    cut, sentence, step = cut[order], sentence[order], step[order]
    size = len(ranked) + 2
    totals = np.stack(
        [np.cumsum(np.bincount(cut, step[:, i], size), dtype=np.float64)[:-1] for i in range(4)],
        axis=1,
    )
    return Cuts(totals, at, (cut, sentence, step), ranked, gold.n_sentences)
