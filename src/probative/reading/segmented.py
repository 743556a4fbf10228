"""Read segmented text: words from lines of text or from the forms of a column file."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Set
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from probative._validation import numbers, shown
from probative.errors import InputError, Recognised
from probative.reading.annotations import Segmented
from probative.reading.fields import is_space, lines_of, words_of
from probative.reading.source import load, snippet

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from probative.reading.columns import Layout
    from probative.reading.source import Source


_WIDE_SPACE = "\u3000".encode()
_SPACES = re.compile("[ \t\n\x0b\x0c\r\u3000]+")  # separate words in a file


def read_segmented(source: Source) -> Segmented:
    """Read one sentence per line, words separated by spaces (also U+3000)."""
    # an empty line is an empty sentence, except at the end of the file
    array = np.frombuffer(source.data, np.uint8)
    begin, _ = lines_of(source)
    inside = ~_spaces(source)
    start, end = words_of(inside)
    if not len(start):
        raise source.error("holds spaces only; expected at least one word")
    begin = begin[: np.searchsorted(begin, start[-1], side="right")]
    word_first = np.append(np.searchsorted(start, begin), len(start))
    line = np.arange(1, len(begin) + 1, dtype=np.int32)
    note = Recognised(f"{source.name}: segmented text, one sentence per line")
    following = np.append(begin[1:], np.int32(len(array)))
    block = np.stack([begin, np.maximum(following - 1, begin)], axis=1)
    return _segmented(source, inside, start, end, word_first, line, None, block, (note,))


def read_forms(shape: Layout) -> Segmented:
    """Read the words of a column file: surface tokens, if multiword ranges are marked."""
    source, text = shape.table.source, shape.text
    if shape.token_column is None or text.block is None:
        raise source.error("has one column; expected a column of words beside it")
    rows = shape.rows if shape.surface is None else shape.surface
    start, end = shape.table.column(shape.token_column, rows)
    closing = shape.rows[text.first[1:] - 1]
    word_first = np.append(0, np.searchsorted(rows, closing, side="right"))
    inside = np.zeros(len(source.data) + 1, dtype=np.int8)
    filled = end > start
    inside[start[filled]] += 1
    inside[end[filled]] -= 1
    mask = np.cumsum(inside[:-1], dtype=np.int8).view(bool) & ~_spaces(source)
    opening = shape.rows[text.first[:-1]].astype(np.int32) + np.int32(1)
    kind = "surface tokens" if shape.surface is not None else "words"
    note = Recognised(f"{source.name}: {kind} of column {shape.token_column + 1}")
    return _segmented(
        source, mask, start, end, word_first, opening, text.document, text.block, (note,)
    )


def _spaces(source: Source) -> NDArray[np.bool_]:
    """Return True for every byte that belongs to a space of any kind."""
    array = np.frombuffer(source.data, np.uint8)
    space = is_space(array)
    if _WIDE_SPACE in source.data:
        one, two, three = _WIDE_SPACE
        at = np.flatnonzero((array[:-2] == one) & (array[1:-1] == two) & (array[2:] == three))
        for offset in range(3):
            space[at + offset] = True
    return space


def _segmented(
    source: Source,
    inside: NDArray[np.bool_],
    start: NDArray[Any],
    end: NDArray[Any],
    word_first: NDArray[Any],
    line: NDArray[np.int32],
    document: NDArray[np.int32] | None,
    block: NDArray[Any],
    notes: tuple[str, ...],
) -> Segmented:
    """Convert words given as byte ranges to positions among characters that are not spaces."""
    # `inside` marks the bytes of words; `word_first` holds the first word of every sentence
    array = np.frombuffer(source.data, np.uint8)
    characters = array[inside]
    n_bytes = end - start
    if int(n_bytes.sum()) != len(characters):  # forms with spaces in them
        n_bytes = _number_in(inside, start, end)
    byte_at = _offsets(n_bytes)
    at = byte_at
    if not source.data.isascii():
        # UTF-8: every byte that is no continuation byte begins a character
        at = _offsets(_number_in((characters & 0xC0) != 0x80, byte_at[:-1], byte_at[1:]))
    first = at[word_first]
    sentence = np.repeat(np.arange(len(word_first) - 1, dtype=np.int32), np.diff(word_first))
    opening = first[sentence]
    word_start, word_end = at[:-1] - opening, at[1:] - opening
    kept = n_bytes > 0
    if not kept.all():
        sentence, word_start, word_end = sentence[kept], word_start[kept], word_end[kept]
    return Segmented(
        name=source.name,
        characters=characters,
        byte_first=byte_at[word_first],
        first=first,
        sentence=sentence,
        start=word_start,
        end=word_end,
        line=line,
        document=document,
        notes=notes,
        source=source,
        block=block,
    )


def _offsets(lengths: NDArray[Any]) -> NDArray[np.int32]:
    offsets = np.zeros(len(lengths) + 1, dtype=np.int32)
    np.cumsum(lengths, out=offsets[1:])
    return offsets


def _number_in(
    mask: NDArray[np.bool_], start: NDArray[Any], end: NDArray[Any]
) -> NDArray[np.int32]:
    """Return how often a mask is True in each of consecutive ranges."""
    total = np.zeros(len(mask) + 1, dtype=np.int32)
    np.cumsum(mask, out=total[1:])
    return np.asarray(total[end] - total[start])


def segmented_from_lists(name: str, sentences: Sequence[Any]) -> Segmented:
    """Read words from Python: one list of words, or one string with spaces, per sentence."""
    words: list[str] = []
    n_words = []
    for number, sentence in enumerate(sentences, start=1):
        if isinstance(sentence, (Set, Mapping)):
            raise InputError(f"{name}: sentence {number} has no order; expected a list of words")
        try:
            parts = _SPACES.split(sentence) if isinstance(sentence, str) else list(sentence)
            bare = all(parts) and _SPACES.search("".join(parts)) is None
            kept = parts if bare else [w for p in parts if (w := _SPACES.sub("", p))]
        except TypeError:
            raise InputError(
                f"{name}: sentence {number} holds something else than words (str): "
                f"{shown(sentence)}"
            ) from None
        words += kept
        n_words.append(len(kept))
    if not words:
        raise InputError(f"{name}: no words; expected at least one")
    word_first = _offsets(np.array(n_words))
    length = _offsets(np.fromiter(map(len, words), dtype=np.int64, count=len(words)))
    first = length[word_first]
    sentence = np.repeat(np.arange(len(n_words), dtype=np.int32), n_words)
    text = "".join(words)
    try:
        characters = np.frombuffer(text.encode(), np.uint8)
    except UnicodeEncodeError as error:
        half = text[error.start]
        raise InputError(f"{name}: {half!r} is half a character; expected text") from None
    byte_first = first
    if not text.isascii():  # the number of UTF-8 bytes before the characters
        code = np.frombuffer(text.encode("utf-32-le"), np.uint32)
        byte_first = _offsets(1 + (code > 0x7F) + (code > 0x7FF) + (code > 0xFFFF))[first]
    return Segmented(
        name=name,
        characters=characters,
        byte_first=byte_first,
        first=first,
        sentence=sentence,
        start=length[:-1] - first[sentence],
        end=length[1:] - first[sentence],
    )


# --- Original text of sentences, with spaces

_TEXT = re.compile(rb"^# text = (.*?)\r?$", re.MULTILINE)
_RAWTEXT_SPACES = dict.fromkeys(map(ord, " \t\n\x0b\x0c\r\u3000"))


def texts_of(words: Segmented) -> list[str]:
    """Return the text of every sentence: its ``# text =`` if it matches, else its words."""
    texts = [words.sentence_text(sentence) for sentence in range(words.n_sentences)]
    if words.source is not None and words.block is not None:
        for sentence, (begin, end) in enumerate(words.block.tolist()):
            comment = _TEXT.search(words.source.data, begin, end)
            text = "" if comment is None else comment[1].decode("utf-8", "replace")
            if text.translate(_RAWTEXT_SPACES) == texts[sentence]:
                texts[sentence] = text
    return texts


# --- Probabilities of word boundaries: JSON lines, or sequences of numbers

_KEYS = ("probabilities", "scores")
_EXPECTED = "expected a list of numbers, or an object with one under 'probabilities'"


@dataclass(frozen=True, eq=False)
class Probabilities:
    """A number for every position between two characters of every sentence."""

    name: str
    rows: Sequence[NDArray[np.float64]]  # the numbers of every sentence
    line: Sequence[int] | None = None  # the line of every sentence in the file, or None

    def error(self, message: str, sentence: int | None = None) -> InputError:
        """Return an error at a sentence, or in the whole input."""
        if sentence is None:
            return InputError(message, self.name)
        if self.line is None:
            return InputError(f"sentence {sentence + 1}: {message}", self.name)
        return InputError(message, self.name, self.line[sentence])


def probabilities_of(data: Any, name: str = "probabilities") -> Probabilities:
    """Read probabilities, one row per sentence, from a file of JSON lines or from Python."""
    if isinstance(data, (str, Path)):
        source = load(data)
        # an empty line is a sentence without positions, except at the end
        lines = enumerate(source.data.rstrip().split(b"\n"), start=1)
        found = [_parsed(source, n, line) if line.strip() else np.empty(0) for n, line in lines]
        return Probabilities(source.name, found, range(1, len(found) + 1))
    if isinstance(data, Probabilities):
        return data
    try:
        sentences = list(data)
    except TypeError:
        raise InputError(f"{name}: {type(data).__name__}; expected numbers per sentence") from None
    rows = [_numbers(row) for row in sentences]
    probabilities = Probabilities(name, [np.empty(0) if row is None else row for row in rows])
    for sentence, row in enumerate(rows):
        if row is None:
            raise probabilities.error("is no list of finite numbers", sentence)
    return probabilities


def _parsed(source: Source, number: int, line: bytes) -> NDArray[np.float64]:
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        raise source.error(f"{snippet(line)} is not JSON; {_EXPECTED}", number) from None
    if isinstance(record, dict):
        record = next((record[key] for key in _KEYS if key in record), None)
    row = _numbers(record) if isinstance(record, list) else None
    if row is None:
        raise source.error(f"{snippet(line)}; {_EXPECTED}", number)
    return row


def _numbers(values: Any) -> NDArray[np.float64] | None:
    """Return a row of finite numbers, or None if it is something else."""
    try:
        row = numbers("probabilities", values)
    except InputError:
        return None
    return row if row.ndim == 1 and np.isfinite(row).all() else None
