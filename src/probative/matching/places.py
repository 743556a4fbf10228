"""The tokens or characters that spans cover, one by one; spans may have several pieces."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from probative.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from probative._types import Ints
    from probative.reading.annotations import Spans, Text

__all__ = ["covered_places", "pieces_of"]


def pieces_of(shape: str) -> list[tuple[int, int]]:
    """The pieces of a span, from what the reader calls its shape.

    Examples
    --------
    >>> pieces_of("0-5;8-12")
    [(0, 5), (8, 12)]
    """
    ends = (piece.split("-") for piece in shape.split(";"))
    return [(int(start), int(end)) for start, end in ends]


def covered_places(spans: Spans, kind: str, answer: Spans) -> tuple[Ints, Ints, Ints]:
    """The sentence, the place and the label of everything that spans cover.

    Parameters
    ----------
    spans
        The spans, by their tokens or by their characters.
    kind
        ``tokens`` or ``characters``. Of tokens, the characters are those of the words; the spaces
        between words belong to nobody.
    answer
        The spans of the answer, whose words are those of all.
    """
    sentence, start, end, label = _pieces(spans)
    counted = _counted_in(answer)
    if kind == "tokens" and counted == "characters":
        raise InputError(
            f"match: the spans of {answer.text.name} are told by characters; expected 'characters'"
        )
    if kind == "characters" and counted == "tokens":
        first = answer.text.first
        offset = _characters_before(answer.text)
        base = offset[first[sentence]]
        start = offset[first[sentence] + start] - base
        end = offset[first[sentence] + end] - base
    length = end - start
    before = np.cumsum(length) - length
    place = np.arange(int(length.sum()), dtype=np.int64) - np.repeat(before - start, length)
    return np.repeat(sentence, length), place, np.repeat(label, length)


def _pieces(spans: Spans) -> tuple[Ints, Ints, Ints, Ints]:
    """Every piece of every span."""
    columns = (spans.sentence, spans.start, spans.end, spans.label)
    sentence, start, end, label = (column.astype(np.int64) for column in columns)
    if spans.shape is None:
        return sentence, start, end, label
    several = np.array([shape != "" for shape in spans.shapes], dtype=bool)[spans.shape]
    parts = [
        (int(sentence[k]), low, high, int(label[k]))
        for k in np.flatnonzero(several).tolist()
        for low, high in pieces_of(spans.shapes[int(spans.shape[k])])
    ]
    table = np.array(parts, dtype=np.int64).reshape(-1, 4)
    whole = (column[~several] for column in (sentence, start, end, label))
    one, two, three, four = (
        np.concatenate([own, more]) for own, more in zip(whole, table.T, strict=True)
    )
    return one, two, three, four


def _counted_in(spans: Spans) -> str | None:
    """What the places of spans are: tokens or characters, or nobody knows."""
    text = spans.text
    if spans.scheme is not None or text.start is not None:
        return "tokens"
    if text.names is not None:
        return "characters"  # documents, as tools of annotators have them
    first = next((s for s in text.sentences or () if len(s)), None)
    if first is None:
        return None
    return "characters" if isinstance(first, str) else "tokens"


def _characters_before(text: Text) -> Ints:
    """How many characters stand before every token of the corpus, and in all."""
    if text.source is not None and text.start is not None and text.end is not None:
        data = np.frombuffer(text.source.data, dtype=np.uint8)
        begun = np.concatenate([[0], np.cumsum((data & 0xC0) != 0x80, dtype=np.int64)])
        lengths = begun[text.end] - begun[text.start]
    else:
        lengths = np.array(list(map(len, _words(text))), dtype=np.int64)
    if len(lengths) != text.n_tokens:
        raise InputError(
            f"match: {text.name} has tags without words, which have no characters; expected "
            f"'tokens'"
        )
    return np.concatenate([[0], np.cumsum(lengths)])


def _words(text: Text) -> Sequence[Any]:
    return list(chain.from_iterable(text.sentences or ()))
