"""Word segmentation: words and boundaries over the characters that are not spaces."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from probative.counts import Counts
from probative.errors import InputError
from probative.matching.spans import match_spans
from probative.reading.fields import distinct
from probative.reading.source import LARGEST, Source

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from probative.matching.items import Items
    from probative.reading.annotations import Segmented

__all__ = ["boundary_counts", "known_words", "match_words", "same_characters", "true_negatives"]


def same_characters(gold: Segmented, system: Segmented) -> None:
    """Make sure that two segmentations are of the same text."""
    n = min(gold.n_sentences, system.n_sentences)
    lengths = np.diff(gold.byte_first)[:n] != np.diff(system.byte_first)[:n]
    wrong = int(np.argmax(lengths)) if lengths.any() else n
    common = int(gold.byte_first[wrong])
    differ = gold.characters[:common] != system.characters[:common]
    if differ.any():
        wrong = int(np.searchsorted(gold.byte_first, np.argmax(differ), side="right")) - 1
    if wrong < n:
        raise _different_text(gold, system, wrong)
    if gold.n_sentences != system.n_sentences:
        raise InputError(
            f"{system.n_sentences} sentences, but {gold.name} has {gold.n_sentences}; expected "
            f"as many",
            system.name,
        )


def _different_text(gold: Segmented, system: Segmented, sentence: int) -> InputError:
    expected, given = gold.sentence_text(sentence), system.sentence_text(sentence)
    pairs = zip(expected, given, strict=False)
    place = next((i for i, (x, y) in enumerate(pairs) if x != y), min(len(expected), len(given)))
    window = slice(max(place - 8, 0), place + 12)
    where = f"sentence {sentence + 1}: " if system.line is None else ""
    line = None if system.line is None else int(system.line[sentence])
    there = gold.name if gold.line is None else f"{gold.name}:{int(gold.line[sentence])}"
    other = " (align_by='characters' accepts others)"
    if place == 0:
        other = ", or task='labels' if these are labels"
    return InputError(
        f"{where}character {place + 1} differs: {given[window]!r} here, {expected[window]!r} at "
        f"{there}; expected the same text but for spaces{other}",
        system.name,
        line,
    )


def match_words(gold: Segmented, *systems: Segmented) -> Items:
    """Find the distinct words of the answer and of the systems, and who has which.

    Parameters
    ----------
    gold
        The answer.
    systems
        One or more segmentations of the same text.
    """
    for system in systems:
        same_characters(gold, system)
    return match_spans(gold.spans(), *(system.spans() for system in systems))


def true_negatives(gold: Segmented, counts: Counts) -> Counts:
    """Add the substrings that neither side calls a word, a sentence at a time.

    N characters have N(N+1)/2 substrings; the true negative rate is the specificity of these
    counts.

    Parameters
    ----------
    gold
        The answer.
    counts
        A system's counts, one row per sentence.
    """
    substrings = gold.lengths.astype(np.float64) * (gold.lengths + 1) / 2
    return Counts(counts.tp, counts.fp, counts.fn, substrings - counts.nu)


def boundary_counts(gold: Segmented, system: Segmented) -> Counts:
    """Counts of boundaries inside the sentences, one row per sentence."""
    expected, given = _boundaries(gold), _boundaries(system)
    last = int(gold.first[-1])
    sentence = np.repeat(np.arange(gold.n_sentences), gold.lengths)

    def number(which: NDArray[np.bool_]) -> NDArray[np.intp]:
        return np.bincount(sentence[which[:last]], minlength=gold.n_sentences)

    return Counts(
        tp=number(expected & given), fp=number(~expected & given), fn=number(expected & ~given)
    )


def _boundaries(words: Segmented) -> NDArray[np.bool_]:
    """Whether a word begins at every character but the first of a sentence."""
    begins = np.zeros(int(words.first[-1]) + 1, dtype=bool)
    there = words.start < words.lengths[words.sentence]  # others are in no place of the text
    begins[(words.start + words.first[words.sentence])[there]] = True
    begins[words.first] = False
    return begins


def known_words(words: Segmented, lexicon: Segmented) -> NDArray[np.bool_]:
    """Whether every word of a segmentation is in a lexicon (the words of a training file)."""
    sides = [_byte_ranges(side) for side in (words, lexicon)]
    text = b"".join(side.characters.tobytes() for side in (words, lexicon))
    if len(text) > LARGEST:
        raise InputError("train_words: more than 2 GiB with the text itself; expected less")
    behind = np.int32(len(words.characters))
    start, end = (np.append(mine, theirs + behind) for mine, theirs in zip(*sides, strict=True))
    codes, _ = distinct(Source(words.name, text), start, end)
    there, known = np.split(codes, [len(words.start)])
    return np.isin(there, np.unique(known))


def _byte_ranges(words: Segmented) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Where every word begins and ends among the bytes of the characters."""
    byte_at = np.flatnonzero((words.characters & 0xC0) != 0x80).astype(np.int32)
    byte_at = np.append(byte_at, np.int32(len(words.characters)))
    first = words.first[words.sentence]
    return byte_at[words.start + first], byte_at[words.end + first]
