"""Segment texts into words: boundaries between characters, a baseline, an adapter.

Spaces (the blank, control spaces, U+3000) do not count as characters: a text of n others has n - 1
inner positions, and a word may begin at each.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import accumulate, pairwise
from typing import Any, Self

from probative.errors import InputError

# --- Words and boundaries

SPACES = " \t\n\x0b\x0c\r\u3000"
_NO_SPACES = dict.fromkeys(map(ord, SPACES))


def without_spaces(text: str) -> str:
    """Return the characters of a text."""
    return text.translate(_NO_SPACES)


def beginnings(words: Iterable[str]) -> list[int]:
    """Return the positions where words begin, except the first, and where the last one ends."""
    return list(accumulate(len(word) for word in words))


def split(text: str, begins: Iterable[Any]) -> list[str]:
    """Cut a text into words; `begins` marks the inner positions where a word begins."""
    characters = without_spaces(text)
    if not characters:
        return []
    places = [0, *(i for i, yes in enumerate(begins, start=1) if yes), len(characters)]
    return [characters[start:end] for start, end in pairwise(places)]


def to_spans(text: str, words: Iterable[str], label: str = "word") -> list[tuple[int, int, str]]:
    """Return words as (start, end, label) in a text with its spaces."""
    at = [i for i, character in enumerate(text) if character not in SPACES]
    places = pairwise([0, *beginnings(words)])
    return [(at[start], at[end - 1] + 1, label) for start, end in places]


def from_spans(text: str, spans: Iterable[tuple[int, int, str]]) -> list[str]:
    """Return the words of (start, end, label) in a text with its spaces, and those in between."""
    edges = {edge for start, end, _ in spans for edge in (start, end)}
    begins, pending = [], False
    for place, character in enumerate(text):
        pending = pending or place in edges
        if character not in SPACES:
            begins.append(pending)
            pending = False
    return split(text, begins[1:])


def check_texts(
    sentences: Sequence[Sequence[str]], texts: Sequence[str] | None, name: str = "texts"
) -> list[str]:
    """Return the texts of sentences of words; refuse given texts with other characters."""
    joined = ["".join(words) for words in sentences]
    if texts is None:
        return joined
    if len(texts) != len(joined):
        raise InputError(f"{name}: {len(texts)} for {len(joined)} sentences; expected one each")
    for number, (text, together) in enumerate(zip(texts, joined, strict=True), start=1):
        if without_spaces(text) != without_spaces(together):
            raise InputError(
                f"{name}: sentence {number} is {text[:40]!r}, but its words give "
                f"{together[:40]!r}; expected the same text, apart from spaces"
            )
    return list(texts)


# --- Forward maximum matching: a baseline that uses only a lexicon


class MaxMatchSegmenter:
    """Take, from left to right, always the longest word of the lexicon."""

    # A character with which no word of the lexicon begins is a word by itself. If the text has
    # spaces, no word reaches across one, unless ``spaces=False`` ignores them.

    def __init__(self, *, spaces: bool = True):
        self.spaces = spaces
        self._words: set[str] | None = None
        self._longest = 1

    def __repr__(self) -> str:
        return f"MaxMatchSegmenter(spaces={self.spaces})"

    def fit(self, sentences: Iterable[Iterable[str]], texts: Sequence[str] | None = None) -> Self:  # noqa: ARG002
        """Collect the words of segmented sentences; a lexicon is one such sentence."""
        self._words = {without_spaces(word) for words in sentences for word in words}
        self._longest = max(map(len, self._words), default=1)
        return self

    def predict(self, texts: Sequence[str]) -> list[list[str]]:
        """Return the words of each text, with or without spaces."""
        if self._words is None:
            raise InputError("this segmenter is not trained; expected fit() first")
        found = []
        for text in texts:
            pieces = re.split(f"[{SPACES}]", text) if self.spaces else [without_spaces(text)]
            found.append([word for piece in pieces for word in self._segmented(piece)])
        return found

    def _segmented(self, piece: str) -> list[str]:
        """Return the words of a text without spaces."""
        words, start = [], 0
        lexicon: Any = self._words
        while start < len(piece):
            ends = range(min(len(piece), start + self._longest), start + 1, -1)
            end = next((end for end in ends if piece[start:end] in lexicon), start + 1)
            words.append(piece[start:end])
            start = end
        return words


# --- Adapter from word segmenters to chunkers, for `probative.compare_models`


class SegmentingChunker:
    """Let a word segmenter work as a chunker: with texts and spans instead of words."""

    def __init__(self, segmenter: Any):
        self.segmenter = segmenter
        self.label = "word"

    def __repr__(self) -> str:
        return f"SegmentingChunker({self.segmenter!r})"

    def fit(
        self, sentences: Sequence[Any], spans: Sequence[Iterable[tuple[int, int, str]]]
    ) -> Self:
        """Train on texts and the spans of their words, all with one label."""
        known = [list(of_sentence) for of_sentence in spans]
        labels = {label for of_sentence in known for _, _, label in of_sentence}
        if len(labels) != 1:
            raise InputError(f"spans: {len(labels)} labels; expected one, that of words")
        (self.label,) = labels
        texts = ["".join(sentence) for sentence in sentences]
        words = [
            from_spans(text, of_sentence) for text, of_sentence in zip(texts, known, strict=True)
        ]
        self.segmenter.fit(words, texts)
        return self

    def predict(self, sentences: Sequence[Any]) -> list[list[tuple[int, int, str]]]:
        """Return the (start, end, label) of the words of each text."""
        texts = ["".join(sentence) for sentence in sentences]
        segmented = self.segmenter.predict(texts)
        return [
            to_spans(text, words, self.label) for text, words in zip(texts, segmented, strict=True)
        ]
