"""Forward maximum matching: the baseline of word segmentation that knows nothing but a lexicon."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

from probative.errors import InputError
from probative.learners.words import SPACES, without_spaces

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

__all__ = ["MaxMatchSegmenter"]


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
    >>> from probative.learners.maxmatch import MaxMatchSegmenter
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
