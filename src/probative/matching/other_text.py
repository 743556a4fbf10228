"""Segmentations of a text that is not quite the answer's: aligned character by character.

The gold files of shared tasks do not always hold the text that systems were given: a character is
missing, a full-width digit is a plain one. A word of the system is then looked up where its
characters are in the answer's text. One that has characters which are not there, or not one after
the other, cannot be right: it is a false alarm, as it is for a scorer that compares words.
"""

from __future__ import annotations

import unicodedata
from dataclasses import replace
from difflib import SequenceMatcher
from typing import TYPE_CHECKING

import numpy as np

from probative.errors import InputError

if TYPE_CHECKING:
    from probative.reading.annotations import Segmented

__all__ = ["carried_over"]

_LONGEST = 20_000  # characters of a sentence that are aligned
_NOWHERE = -1


def carried_over(gold: Segmented, system: Segmented) -> tuple[Segmented, tuple[str, ...]]:
    """The words of a system over the characters of the answer, and what could not be aligned.

    Parameters
    ----------
    gold
        The answer.
    system
        A segmentation of as many sentences. Those of the same text stay as they are.

    Returns
    -------
    The words: those that cannot be right lie behind the end of their sentence. And a note.
    """
    if gold.n_sentences != system.n_sentences:
        raise InputError(
            f"{system.n_sentences} sentences, but {gold.name} has {gold.n_sentences}; expected as "
            f"many",
            system.name,
        )
    different = [
        k for k in range(gold.n_sentences) if gold.sentence_text(k) != system.sentence_text(k)
    ]
    if not different:
        return system, ()
    start, end = system.start.copy(), system.end.copy()
    missing = extra = lost = 0
    for k in different:
        expected, given = gold.sentence_text(k), system.sentence_text(k)
        place = _places(system, k, expected, given)
        low, high = np.searchsorted(system.sentence, [k, k + 1]).tolist()
        behind = len(expected)
        for word in range(low, high):
            own = place[int(start[word]) : int(end[word])]
            if own[0] != _NOWHERE and own == list(range(own[0], own[0] + len(own))):
                start[word], end[word] = own[0], own[-1] + 1
            else:
                start[word], end[word] = behind, behind + 1
                behind += 1
                lost += 1
        extra += place.count(_NOWHERE)
        missing += len(expected) - (len(given) - place.count(_NOWHERE))
    order = np.lexsort((start, system.sentence))  # what lies behind the end comes last
    note = (
        f"{system.name}: sentences with another text than in {gold.name}: {len(different)} of "
        f"{gold.n_sentences}; characters that are missing: {missing}, that are not in the answer: "
        f"{extra}; words that cannot be aligned and count as wrong: {lost}"
    )
    moved = replace(
        system,
        characters=gold.characters,
        byte_first=gold.byte_first,
        first=gold.first,
        sentence=system.sentence[order],
        start=start[order],
        end=end[order],
        source=None,
        block=None,
    )
    return moved, (note,)


def _places(system: Segmented, k: int, expected: str, given: str) -> list[int]:
    """Where every character of a sentence is in the answer's text, or nowhere."""
    if max(len(expected), len(given)) > _LONGEST:
        raise InputError(
            f"sentence {k + 1} has another text and more than {_LONGEST:,} characters; expected "
            f"shorter ones to be aligned",
            system.name,
            None if system.line is None else int(system.line[k]),
        )
    places = [_NOWHERE] * len(given)
    matcher = SequenceMatcher(None, _plain(expected), _plain(given), autojunk=False)
    for mine, theirs, size in matcher.get_matching_blocks():
        places[theirs : theirs + size] = range(mine, mine + size)
    return places


def _plain(text: str) -> list[str]:
    """The characters of a text, full-width and half-width forms alike."""
    if text.isascii():
        return list(text)
    return [unicodedata.normalize("NFKC", character) for character in text]
