"""Word segmentation with the CRF chunker (extra ``crf``)."""

# a module of its own: folders of finished runs know a segmenter by the code of its module

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Self

import numpy as np

from probative._validation import Array
from probative.learners.crf import CRFChunker
from probative.learners.words import SPACES, check_texts, from_spans, to_spans, without_spaces


class CRFSegmenter:
    """Segment text into words with a conditional random field over its characters.

    >>> sentences = [["to", "be"], ["or"], ["not", "to", "be"]] * 5
    >>> CRFSegmenter().fit(sentences).predict(["tobeornot"])
    [['to', 'be', 'or', 'not']]
    """

    def __init__(self, scheme: str = "bmes", *, spaces: bool = True, **chunker: Any):
        self.spaces = spaces
        self.chunker = CRFChunker(scheme, **chunker)

    def __repr__(self) -> str:
        return f"CRFSegmenter(spaces={self.spaces}, chunker={self.chunker!r})"

    def fit(
        self,
        sentences: Sequence[Sequence[str]],
        texts: Sequence[str] | None = None,
        *,
        report: Callable[[int, int], None] = lambda done, total: None,
    ) -> Self:
        """Train on segmented sentences."""
        seen = [self._seen(text) for text in check_texts(sentences, texts)]
        spans = [
            to_spans(text, map(without_spaces, words))
            for text, words in zip(seen, sentences, strict=True)
        ]
        self.chunker.fit(seen, spans, report=report)
        return self

    def predict(self, texts: Sequence[str]) -> list[list[str]]:
        """Return the words of each text, by the most probable sequence of tags."""
        seen = [self._seen(text) for text in texts]
        predicted = self.chunker.predict(seen)
        return [from_spans(text, spans) for text, spans in zip(seen, predicted, strict=True)]

    def predict_proba(self, texts: Sequence[str]) -> list[Array]:
        """Return the probability of tags that begin a word, for inner positions of each text."""
        seen = [self._seen(text) for text in texts]
        rows = []
        for text, tokens in zip(seen, self.chunker.predict_proba(seen), strict=True):
            begins = [
                sum(share for tag, share in tags.items() if tag.split("-")[0] in ("B", "S", "O"))
                for character, tags in zip(text, tokens, strict=True)
                if character not in SPACES
            ]
            rows.append(np.array(begins[1:], dtype=np.float64))
        return rows

    def _seen(self, text: str) -> str:
        return text if self.spaces else without_spaces(text)
