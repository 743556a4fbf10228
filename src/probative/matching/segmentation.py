"""Match words and boundaries of word segmentations, over the characters without spaces."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from probative.counts import Counts
from probative.errors import InputError
from probative.matching.spans import match_spans
from probative.reading.fields import distinct
from probative.reading.source import LARGEST, Source

if TYPE_CHECKING:
    from probative._validation import Ints
    from probative.matching.items import Items
    from probative.reading.annotations import Segmented
    from probative.reading.lines import Probabilities

    Floats = NDArray[np.float64]


def _same_number(gold: Segmented, system: Segmented) -> None:
    if gold.n_sentences != system.n_sentences:
        there = f"{gold.name} has {gold.n_sentences}"
        problem = f"{system.n_sentences} sentences, but {there}; expected the same number"
        raise InputError(problem, system.name)


def _different_text(gold: Segmented, system: Segmented, sentence: int) -> InputError:
    """Return the error that shows where two texts differ."""
    expected, given = gold.sentence_text(sentence), system.sentence_text(sentence)
    pairs = zip(expected, given, strict=False)
    place = next((i for i, (x, y) in enumerate(pairs) if x != y), min(len(expected), len(given)))
    window = slice(max(place - 8, 0), place + 12)
    where = f"sentence {sentence + 1}: " if system.line is None else ""
    line = None if system.line is None else int(system.line[sentence])
    there = gold.name if gold.line is None else f"{gold.name}:{int(gold.line[sentence])}"
    other = ", or task='labels' if these are labels"
    other = " (align_by='characters' accepts others)" if place else other
    what = f"{given[window]!r} here, {expected[window]!r} at {there}"
    wanted = f"expected the same text but for spaces{other}"
    problem = f"{where}character {place + 1} differs: {what}; {wanted}"
    return InputError(problem, system.name, line)


def match_words(gold: Segmented, *systems: Segmented) -> Items:
    """Find the distinct words of gold and of the systems, and which side has which."""
    for system in systems:
        n = min(gold.n_sentences, system.n_sentences)
        lengths = np.diff(gold.byte_first)[:n] != np.diff(system.byte_first)[:n]
        wrong = int(np.argmax(lengths)) if lengths.any() else n
        common = int(gold.byte_first[wrong])
        differ = gold.characters[:common] != system.characters[:common]
        if differ.any():
            wrong = int(np.searchsorted(gold.byte_first, np.argmax(differ), side="right")) - 1
        if wrong < n:
            raise _different_text(gold, system, wrong)
        _same_number(gold, system)
    return match_spans(gold.spans(), *(system.spans() for system in systems))


def true_negatives(gold: Segmented, counts: Counts) -> Counts:
    """Add to the counts of each sentence the N(N+1)/2 substrings that neither side has."""
    substrings = gold.lengths.astype(np.float64) * (gold.lengths + 1) / 2
    return Counts(counts.tp, counts.fp, counts.fn, substrings - counts.nu)


def boundary_counts(gold: Segmented, system: Segmented) -> Counts:
    """Count boundaries inside the sentences, one row per sentence."""
    expected, given = _boundaries(gold), _boundaries(system)
    last = int(gold.first[-1])
    sentence = np.repeat(np.arange(gold.n_sentences), gold.lengths)

    def number(which: NDArray[np.bool_]) -> NDArray[np.intp]:
        return np.bincount(sentence[which[:last]], minlength=gold.n_sentences)

    return Counts(number(expected & given), number(~expected & given), number(expected & ~given))


def _boundaries(words: Segmented) -> NDArray[np.bool_]:
    """Return True where a word begins, except at the first character of a sentence."""
    begins = np.zeros(int(words.first[-1]) + 1, dtype=bool)
    # words that could not be aligned lie behind the end
    there = words.start < words.lengths[words.sentence]
    begins[(words.start + words.first[words.sentence])[there]] = True
    begins[words.first] = False
    return begins


def known_words(words: Segmented, lexicon: Segmented) -> NDArray[np.bool_]:
    """Return True for the words that are in a lexicon (the words of a training file)."""
    sides = []  # where every word begins and ends among the bytes of the characters
    for side in (words, lexicon):
        byte_at = np.flatnonzero((side.characters & 0xC0) != 0x80).astype(np.int32)
        byte_at = np.append(byte_at, np.int32(len(side.characters)))
        first = side.first[side.sentence]
        sides.append((byte_at[side.start + first], byte_at[side.end + first]))
    text = b"".join(side.characters.tobytes() for side in (words, lexicon))
    if len(text) > LARGEST:
        raise InputError("train_words: more than 2 GiB with the text itself; expected less")
    behind = np.int32(len(words.characters))
    start, end = (np.append(own, other + behind) for own, other in zip(*sides, strict=True))
    codes, _ = distinct(Source(words.name, text), start, end)
    there, known = np.split(codes, [len(words.start)])
    return np.isin(there, np.unique(known))


# --- Segmentations of a text that differs from gold: aligned character by character
#
# The gold files of shared tasks do not always hold the text that systems were given: a character
# is missing, a full-width digit is a plain one. A word of the system is then matched at the place
# of its characters in gold. A word with characters that gold lacks, or that are not consecutive in
# gold, is a false alarm, as it is for a scorer that compares words.

_MOST_ALIGNED = 20_000  # characters in the longest sentence that is aligned
_NOT_IN_GOLD = -1


def carried_over(gold: Segmented, system: Segmented) -> tuple[Segmented, tuple[str, ...]]:
    """Align the words of a system with the characters of gold; return them and a note."""
    # words that cannot be aligned are placed behind the end of their sentence
    _same_number(gold, system)
    texts = [(gold.sentence_text(k), system.sentence_text(k)) for k in range(gold.n_sentences)]
    different = [k for k, (expected, given) in enumerate(texts) if expected != given]
    if not different:
        return system, ()
    start, end = system.start.copy(), system.end.copy()
    missing = extra = lost = 0
    for k in different:
        expected, given = texts[k]
        place = _places(system, k, expected, given)
        low, high = np.searchsorted(system.sentence, [k, k + 1]).tolist()
        behind = len(expected)
        for word in range(low, high):
            own = place[int(start[word]) : int(end[word])]
            if own[0] != _NOT_IN_GOLD and own == list(range(own[0], own[0] + len(own))):
                start[word], end[word] = own[0], own[-1] + 1
            else:
                start[word], end[word] = behind, behind + 1
                behind += 1
                lost += 1
        extra += place.count(_NOT_IN_GOLD)
        missing += len(expected) - (len(given) - place.count(_NOT_IN_GOLD))
    order = np.lexsort((start, system.sentence))  # words that are not aligned come last
    note = (
        f"{system.name}: sentences whose text differs from {gold.name}: {len(different)} of "
        f"{gold.n_sentences}; missing characters: {missing}, characters that gold does not have: "
        f"{extra}; words that cannot be aligned, counted as wrong: {lost}"
    )
    text = {name: getattr(gold, name) for name in ("characters", "byte_first", "first")}
    text |= {"sentence": system.sentence[order], "source": None, "block": None}
    return replace(system, start=start[order], end=end[order], **text), (note,)


def _places(system: Segmented, k: int, expected: str, given: str) -> list[int]:
    """Return the index in gold's text of every character of a sentence; -1 if not in it."""
    if max(len(expected), len(given)) > _MOST_ALIGNED:
        problem = f"sentence {k + 1} has another text and more than {_MOST_ALIGNED:,} characters"
        line = None if system.line is None else int(system.line[k])
        raise InputError(f"{problem}; expected shorter ones to be aligned", system.name, line)
    places = [_NOT_IN_GOLD] * len(given)
    # every character in its NFKC form: full-width as half-width
    one, other = ([unicodedata.normalize("NFKC", c) for c in text] for text in (expected, given))
    matcher = SequenceMatcher(None, one, other, autojunk=False)
    for in_gold, in_system, size in matcher.get_matching_blocks():
        places[in_system : in_system + size] = range(in_gold, in_gold + size)
    return places


# --- Counts of every segmentation that a ranking of boundaries can give
#
# The inner positions of a corpus are ranked by the probability of a boundary. Cut k accepts the
# first k of them. A gold word is right from the cut that accepts its two ends until the one that
# accepts a position inside it, so one sort and cumulative sums give the counts of all cuts.


@dataclass(frozen=True, eq=False)
class Cuts:
    """Counts of every cut."""

    totals: Floats  # tp, fp, fn and tn of the corpus, one row per cut: cut k accepts k positions
    at: Ints  # selected cuts, in ascending order
    # the changes of the counts of sentences, in the order of the cuts: the cut, the sentence, and
    # the numbers added to its tp, fp, fn and tn
    events: tuple[Ints, Ints, Floats]
    ranked: Floats  # the probabilities in the order in which the cuts accept them
    n_sentences: int  # number of sentences

    @property
    def positions(self) -> int:
        """Return the number of inner positions."""
        return len(self.ranked)

    @property
    def everywhere(self) -> Counts:
        """Return the counts of every cut."""
        return Counts(*self.totals.T)

    @property
    def there(self) -> Counts:
        """Return the counts of the cuts of `at`."""
        return Counts(*self.totals[self.at].T)

    def by_sentence(self) -> Iterator[Counts]:
        """Yield the counts of every sentence at each of the cuts of `at`."""
        cut, sentence, step = self.events
        counts = np.zeros((self.n_sentences, 4))
        start = 0
        for end in np.searchsorted(cut, self.at, side="right").tolist():
            np.add.at(counts, sentence[start:end], step[start:end])
            start = end
            yield Counts(*counts.T.copy())


def flat_probabilities(gold: Segmented, probabilities: Probabilities) -> Floats:
    """Concatenate the probabilities of all sentences; refuse a wrong number of them."""
    rows = list(probabilities.rows)
    while len(rows) > gold.n_sentences and not len(rows[-1]):
        rows.pop()  # a file of segmented text does not count an empty sentence at its end
    if len(rows) != gold.n_sentences:
        what = f"{len(rows)} sentences, but {gold.name} has {gold.n_sentences}"
        raise probabilities.error(f"{what}; expected the same number")
    for sentence, (row, length) in enumerate(zip(rows, gold.lengths.tolist(), strict=True)):
        if len(row) != (inner := max(length - 1, 0)):
            expected = f"{inner}, one between every two of the {length} characters of gold"
            raise probabilities.error(f"{len(row)} numbers; expected {expected}", sentence)
    return np.concatenate(rows)


def all_cuts(gold: Segmented, probabilities: Floats, at: Ints) -> Cuts:
    """Count every segmentation that these probabilities, one per inner position, can give."""
    order = np.argsort(-probabilities, kind="stable")
    positions = len(order)
    accepted_by = np.empty(positions, dtype=np.int64)  # the first cut that accepts a position
    accepted_by[order] = np.arange(1, positions + 1)

    # the first cut at which a word begins at each character: 0 for the first of a sentence
    begins_by = np.zeros(int(gold.first[-1]) + 1, dtype=np.int64)
    inner = np.ones(len(begins_by), dtype=bool)
    inner[gold.first] = False
    begins_by[inner] = accepted_by
    position_sentence = np.repeat(np.arange(gold.n_sentences), np.maximum(gold.lengths - 1, 0))
    # the first cut with both ends of each gold word; `end` may be the first character of the next
    # sentence, which begins a word at every cut
    offset = gold.first[gold.sentence]
    start, end = gold.start + offset, gold.end + offset
    from_cut = np.maximum(begins_by[start], begins_by[end])
    # the first cut that splits it: the minimum inside, by reduceat over [start + 1, end); one
    # character has no inside
    until_cut = np.full(len(start), positions + 1, dtype=np.int64)
    long = np.flatnonzero(end - start > 1)
    if len(long):
        limits = np.stack([start[long] + 1, end[long]], axis=1).ravel()
        until_cut[long] = np.minimum.reduceat(begins_by, limits)[::2]
    right = from_cut < until_cut
    words = np.bincount(gold.sentence, minlength=gold.n_sentences).astype(np.float64)
    substrings = gold.lengths * (gold.lengths + 1.0) / 2
    one = (gold.lengths > 0).astype(np.float64)  # cut 0 gives one word per sentence
    # tp, fp, fn, tn: of a sentence at cut 0, and the change by an event
    state = np.stack([0 * one, one, words, substrings - words - one], axis=1)
    every = np.arange(gold.n_sentences)
    events = [
        (np.zeros_like(every), every, state),
        (accepted_by, position_sentence, (0, 1, 0, -1)),
        (from_cut[right], gold.sentence[right], (1, -1, -1, 1)),
        (until_cut[right], gold.sentence[right], (-1, 1, 1, -1)),
    ]
    cut, sentence = (np.concatenate([event[i] for event in events]) for i in range(2))
    steps = [np.broadcast_to(np.array(own, float), (len(cuts), 4)) for cuts, _, own in events]
    step = np.concatenate(steps)
    first = np.argsort(cut, kind="stable")
    cut, sentence, step = cut[first], sentence[first], step[first]
    totals = np.stack(
        [np.cumsum(np.bincount(cut, own, positions + 2), dtype=np.float64)[:-1] for own in step.T],
        axis=1,
    )
    return Cuts(totals, at, (cut, sentence, step), probabilities[order], gold.n_sentences)
