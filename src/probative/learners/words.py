"""Words of a text as boundaries between its characters, and back.

Spaces (the blank, control spaces, U+3000) are no characters here: a text of n others has n - 1
inner positions, and a word may begin at each.
"""

from __future__ import annotations

from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, Any, Self

from probative.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


# -----------------------------------------------------------------------------
# Spaces (the blank, control spaces, U+3000) are no characters here: a text of n others has n - 1
# inner positions, and a word may begin at each.
# -----------------------------------------------------------------------------

SPACES = " \t\n\x0b\x0c\r\u3000"
_NO_SPACES = dict.fromkeys(map(ord, SPACES))


def without_spaces(text: str) -> str:
    """The characters of a text."""
    return text.translate(_NO_SPACES)


def beginnings(words: Iterable[str]) -> list[int]:
    """Where words begin among the characters, but for the first; and where the last one ends."""
    return list(accumulate(len(word) for word in words))


def split(text: str, begins: Iterable[Any]) -> list[str]:
    """Cut a text into words.

    Parameters
    ----------
    text
        With or without spaces; the words have none.
    begins
        For every inner position whether a word begins there.

    Examples
    --------
    >>> split("to be", [False, True, False])
    ['to', 'be']
    """
    characters = without_spaces(text)
    if not characters:
        return []
    places = [0, *(i for i, yes in enumerate(begins, start=1) if yes), len(characters)]
    return [characters[start:end] for start, end in pairwise(places)]


def to_spans(text: str, words: Iterable[str], label: str = "word") -> list[tuple[int, int, str]]:
    """Words as (start, end, label) in a text with its spaces.

    Examples
    --------
    >>> to_spans("to be", ["to", "be"])
    [(0, 2, 'word'), (3, 5, 'word')]
    """
    at = [i for i, character in enumerate(text) if character not in SPACES]
    places = pairwise([0, *beginnings(words)])
    return [(at[start], at[end - 1] + 1, label) for start, end in places]


def from_spans(text: str, spans: Iterable[tuple[int, int, str]]) -> list[str]:
    """Words from (start, end, label) in a text with its spaces.

    What lies between two spans is a word, too: no character is lost.

    Examples
    --------
    >>> from_spans("to be!", [(0, 2, "word"), (3, 5, "word")])
    ['to', 'be', '!']
    """
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
    """The texts behind sentences of words: as given, if they tell the same characters.

    Parameters
    ----------
    sentences
        Lists of words.
    texts
        The texts with their spaces; None for words that are written together.
    name
        What messages call them.
    """
    joined = ["".join(words) for words in sentences]
    if texts is None:
        return joined
    if len(texts) != len(joined):
        raise InputError(f"{name}: {len(texts)} for {len(joined)} sentences; expected one each")
    for number, (text, together) in enumerate(zip(texts, joined, strict=True), start=1):
        if without_spaces(text) != without_spaces(together):
            raise InputError(
                f"{name}: sentence {number} is {text[:40]!r}, but its words tell "
                f"{together[:40]!r}; expected the same but for spaces"
            )
    return list(texts)


# -----------------------------------------------------------------------------
# Forward maximum matching: the baseline of word segmentation that knows nothing but a lexicon.
# -----------------------------------------------------------------------------


class MaxMatchSegmenter:
    """From left to right, always take the longest word of the lexicon.

    A character with which no word of the lexicon begins is a word by itself. Where the text has
    spaces no word reaches across one, and what stands between two spaces is segmented by itself.

    Parameters
    ----------
    spaces
        Whether spaces in a text are boundaries; else they are passed over.

    Examples
    --------
    >>> from probative.learners.words import MaxMatchSegmenter
    >>> segmenter = MaxMatchSegmenter().fit([["to", "be"], ["not", "to"], ["note"]])
    >>> segmenter.predict(["tobenoteto"])
    [['to', 'be', 'note', 'to']]
    """

    def __init__(self, *, spaces: bool = True):
        self.spaces = spaces
        self._words: set[str] | None = None
        self._longest = 1

    def __repr__(self) -> str:
        return f"MaxMatchSegmenter(spaces={self.spaces})"

    def fit(self, sentences: Iterable[Iterable[str]], texts: Sequence[str] | None = None) -> Self:  # noqa: ARG002
        """Collect the words of segmented sentences.

        Parameters
        ----------
        sentences
            Lists of words; a lexicon is one such list.
        texts
            Not needed; segmenters that look at spaces take them here.
        """
        self._words = {without_spaces(word) for words in sentences for word in words}
        self._longest = max(map(len, self._words), default=1)
        return self

    def predict(self, texts: Sequence[str]) -> list[list[str]]:
        """Return the words of each text.

        Parameters
        ----------
        texts
            Strings, with or without spaces.
        """
        if self._words is None:
            raise InputError("this segmenter is not trained; expected fit() first")
        return [
            [word for piece in self._pieces(text) for word in self._segmented(piece)]
            for text in texts
        ]

    def _pieces(self, text: str) -> list[str]:
        if not self.spaces:
            return [without_spaces(text)]
        return text.translate(dict.fromkeys(map(ord, SPACES), " ")).split(" ")

    def _segmented(self, piece: str) -> list[str]:
        words, start = [], 0
        lexicon: Any = self._words
        while start < len(piece):
            ends = range(min(len(piece), start + self._longest), start + 1, -1)
            end = next((end for end in ends if piece[start:end] in lexicon), start + 1)
            words.append(piece[start:end])
            start = end
        return words


# -----------------------------------------------------------------------------
# Word segmenters where chunkers are asked for, as `probative.compare_models` asks.
# -----------------------------------------------------------------------------


class SegmentingChunker:
    """A word segmenter with the face of a chunker: texts and spans instead of words.

    Parameters
    ----------
    segmenter
        An object with ``fit(sentences, texts)`` and ``predict(texts)``, such as
        `probative.learners.bigru.BiGRUSegmenter`.

    Examples
    --------
    >>> from probative.learners.words import SegmentingChunker
    >>> from probative.learners.words import MaxMatchSegmenter
    >>> chunker = SegmentingChunker(MaxMatchSegmenter())
    >>> chunker.fit(["tobe", "or"], [[(0, 2, "word"), (2, 4, "word")], [(0, 2, "word")]])
    SegmentingChunker(MaxMatchSegmenter(spaces=True))
    >>> chunker.predict(["orbe"])
    [[(0, 2, 'word'), (2, 4, 'word')]]
    """

    def __init__(self, segmenter: Any):
        self.segmenter = segmenter
        self.label = "word"

    def __repr__(self) -> str:
        return f"SegmentingChunker({self.segmenter!r})"

    def fit(
        self, sentences: Sequence[Any], spans: Sequence[Iterable[tuple[int, int, str]]]
    ) -> Self:
        """Train on texts and the spans of their words.

        Parameters
        ----------
        sentences
            Strings, or lists of characters.
        spans
            The (start, end, label) of the words of each, all with one label.
        """
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
