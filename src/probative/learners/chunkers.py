"""Word segmenters where chunkers are asked for, as `probative.compare_models` asks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

from probative.errors import InputError
from probative.learners.words import from_spans, to_spans

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

__all__ = ["SegmentingChunker"]


class SegmentingChunker:
    """A word segmenter with the face of a chunker: texts and spans instead of words.

    Parameters
    ----------
    segmenter
        An object with ``fit(sentences, texts)`` and ``predict(texts)``, such as
        `probative.learners.bigru.BiGRUSegmenter`.

    Examples
    --------
    >>> from probative.learners.chunkers import SegmentingChunker
    >>> from probative.learners.maxmatch import MaxMatchSegmenter
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
