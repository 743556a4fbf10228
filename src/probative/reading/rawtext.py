"""Sentences as they were written, with their spaces."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from probative.reading.annotations import Segmented

__all__ = ["texts_of"]

_TEXT = re.compile(rb"^# text = (.*?)\r?$", re.MULTILINE)
_SPACES = dict.fromkeys(map(ord, " \t\n\x0b\x0c\r\u3000"))


def texts_of(words: Segmented) -> list[str]:
    """The text of every sentence: its ``# text =`` comment, else its words without spaces.

    A comment that does not tell the words of the sentence is passed over.
    """
    return [_text(words, sentence) for sentence in range(words.n_sentences)]


def _text(words: Segmented, sentence: int) -> str:
    together = words.sentence_text(sentence)
    if words.source is None or words.block is None:
        return together
    begin, end = words.block[sentence].tolist()
    comment = _TEXT.search(words.source.data, begin, end)
    if comment is None:
        return together
    text = comment[1].decode("utf-8", "replace")
    return text if text.translate(_SPACES) == together else together
