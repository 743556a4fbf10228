"""Read files in lines: JSON with spans, one label per line, segmented text, probabilities."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from probative._validation import numbers, shown
from probative.errors import InputError, Recognised
from probative.labels import named
from probative.reading.annotations import Labels, Segmented, Spans, offsets, spans_from_sets
from probative.reading.fields import covered, distinct, edges_of, is_space, lines_of
from probative.reading.source import Source, as_json, load, quoted, snippet

if TYPE_CHECKING:
    from probative.reading.columns import Layout


# --- JSON lines with spans, as annotation tools export them

SPAN_KEYS = ("spans", "entities", "labels", "label")
_SPAN_PARTS = (  # of a span that is an object: its start, its end, its label
    ("start", "start_offset"),
    ("end", "end_offset"),
    ("label", "type", "entity_group", "entity"),
)
ACCEPTED = "accept"  # Prodigy's word for an annotation that is to be used


def read_spans(source: Source) -> Spans:
    """Read one text with its spans (lists or objects) per line; empty lines are skipped."""
    rows = [(number, *_content(source, number, line)) for number, line in source.filled_lines()]
    lines, texts, sentences, spans_under, answers = zip(*rows, strict=True)
    keys = dict.fromkeys(key for key in spans_under if key)
    if not keys:
        problem = "no object has a list of spans"
        raise source.error(f"{problem}; expected one of the keys {', '.join(SPAN_KEYS)}", lines[0])
    annotations = spans_from_sets(source.name, sentences, texts, lines)
    unit = "characters of the text" if isinstance(texts[0], str) else "tokens"
    how = f"{source.name}: JSON lines, spans of {unit} under {quoted(keys)}"
    notes: list[str] = [Recognised(how)]
    left_out = np.array([answer != ACCEPTED for answer in answers])
    if left_out.any():
        others = Counter(answer for answer in answers if answer != ACCEPTED)
        listed = ", ".join(f"{number} {answer!r}" for answer, number in others.most_common(3))
        notes.append(f"{source.name}: rows whose answer is not 'accept' are left out: {listed}")
        annotations = replace(annotations, text=replace(annotations.text, left_out=left_out))
    return replace(annotations, notes=(*notes, *annotations.notes))


def problems_of(source: Source) -> list[str]:
    """Return all errors in the objects of a file, one line each."""
    problems = []
    for number, line in source.filled_lines():
        try:
            _content(source, number, line)
        except InputError as error:
            problems.append(str(error))
    return problems


def _content(
    source: Source, number: int, line: bytes
) -> tuple[Sequence[str], list[tuple[int, int, str]], str | None, str]:
    """Return the text of an object, its spans, their key, and Prodigy's answer."""
    record = source.json_object(number, line)
    if b"\\ud" in line.lower():  # an unpaired surrogate?
        try:
            json.dumps(record, ensure_ascii=False).encode()
        except UnicodeEncodeError:
            problem = f"{snippet(line)} holds half a character; expected text"
            raise source.error(problem, number) from None
    text: Any = record.get("text")
    if not isinstance(text, str):
        tokens = record.get("tokens", record.get("words"))
        given = tokens if isinstance(tokens, list) else [None]
        text = [token.get("text") if isinstance(token, dict) else token for token in given]
        if not all(isinstance(word, str) for word in text):
            expected = "expected 'text' (a string) or 'tokens' (a list of strings)"
            raise source.error(f"the object has no text; {expected}", number)
    key = next((key for key in SPAN_KEYS if record.get(key) is not None), None)
    spans = record[key] if key else []
    if not isinstance(spans, list):
        raise source.error(f"{key!r} holds {as_json(spans)}; expected a list of spans", number)
    triples = [_triple(source, number, span, len(text)) for span in spans]
    return text, triples, key, str(record.get("answer", ACCEPTED))


def _triple(source: Source, number: int, span: Any, length: int) -> tuple[int, int, str]:
    given: Any = span if isinstance(span, list) and len(span) == 3 else (None, None, None)
    if isinstance(span, dict):
        given = (next((span[k] for k in keys if k in span), None) for keys in _SPAN_PARTS)
    start, end, label = given
    whole = type(start) is int and type(end) is int  # True and False are none
    if whole and isinstance(label, str) and 0 <= start < end <= length:
        return start, end, label
    form = "[start, end, label] or an object with start, end and label"
    expected = f"expected {form}, 0 <= start < end <= {length}"
    raise source.error(f"span {as_json(span)}; {expected}", number)


# --- One label per line


def read_labels(source: Source) -> Labels:
    """Read one label per line; white space around it is dropped, inside it is kept."""
    codes, values = distinct(source, *lines_of(source))
    stripped = [value.decode("utf-8", "replace").strip() for value in values]
    filled = np.array(list(map(bool, stripped)))[codes]
    if not filled.any():
        raise source.error("holds spaces only; expected at least one label")
    size = int(np.flatnonzero(filled)[-1]) + 1  # empty lines at the end are no labels
    if not filled[:size].all():
        raise source.error("the line is empty; expected a label", int(np.argmin(filled)) + 1)
    codes, names = named(codes[:size], stripped, source.error)
    notes = (Recognised(f"{source.name}: one label per line"),)
    return Labels(source.name, codes, names, notes=notes)


# --- Segmented text: words from lines of text or from the forms of a column file

_WIDE_SPACE = "\u3000".encode()
_SPACES = re.compile("[ \t\n\x0b\x0c\r\u3000]+")  # separate words in a file


def read_segmented(source: Source) -> Segmented:
    """Read one sentence per line, words separated by spaces (also U+3000)."""
    begin, _ = lines_of(source)  # an empty line is an empty sentence, except at the end of the file
    inside = ~_spaces(source)
    edges = edges_of(inside).astype(np.int32)
    start, end = edges[::2], edges[1::2]
    if not len(start):
        raise source.error("holds spaces only; expected at least one word")
    begin = begin[: np.searchsorted(begin, start[-1], side="right")]
    word_first = np.append(np.searchsorted(start, begin), len(start))
    line = np.arange(1, len(begin) + 1, dtype=np.int32)
    notes = (Recognised(f"{source.name}: segmented text, one sentence per line"),)
    following = np.append(begin[1:], np.int32(len(source.data)))
    block = np.stack([begin, np.maximum(following - 1, begin)], axis=1)
    return _segmented(source, inside, start, end, word_first, line=line, notes=notes, block=block)


def read_forms(shape: Layout) -> Segmented:
    """Read the words of a column file: surface tokens, if multiword ranges are marked."""
    source, text = shape.table.source, shape.text
    if shape.token_column is None or text.block is None:
        raise source.error("has one column; expected a column of words beside it")
    rows = shape.rows if shape.surface is None else shape.surface
    start, end = shape.table.column(shape.token_column, rows)
    closing = shape.rows[text.first[1:] - 1]
    word_first = np.append(0, np.searchsorted(rows, closing, side="right"))
    mask = covered(source, start, end) & ~_spaces(source)
    opening = shape.rows[text.first[:-1]].astype(np.int32) + np.int32(1)
    kind = "surface tokens" if shape.surface is not None else "words"
    notes = (Recognised(f"{source.name}: {kind} of column {shape.token_column + 1}"),)
    known = {"line": opening, "document": text.document, "notes": notes, "block": text.block}
    return _segmented(source, mask, start, end, word_first, **known)


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
    source: Source, inside: NDArray[np.bool_], start: Any, end: Any, word_first: Any, **known: Any
) -> Segmented:
    """Convert words given as byte ranges to positions among characters that are not spaces."""
    # `inside` marks the bytes of words; `word_first` holds the first word of every sentence
    characters = np.frombuffer(source.data, np.uint8)[inside]
    n_bytes = end - start
    if int(n_bytes.sum()) != len(characters):  # forms with spaces in them
        before = offsets(inside, np.int32)
        n_bytes = before[end] - before[start]
    byte_at = at = offsets(n_bytes, np.int32)
    if not source.data.isascii():
        # UTF-8: every byte that is no continuation byte begins a character
        at = offsets((characters & 0xC0) != 0x80, np.int32)[byte_at]
    first = at[word_first]
    sentence = np.repeat(np.arange(len(word_first) - 1, dtype=np.int32), np.diff(word_first))
    opening = first[sentence]
    start, end = at[:-1] - opening, at[1:] - opening
    kept = n_bytes > 0
    if not kept.all():
        sentence, start, end = sentence[kept], start[kept], end[kept]
    byte_first = byte_at[word_first]
    return Segmented(
        source.name, characters, byte_first, first, sentence, start, end, source=source, **known
    )


def segmented_from_lists(name: str, sentences: Sequence[Any]) -> Segmented:
    """Read words from Python: one list of words, or one string with spaces, per sentence."""
    lines = []
    for number, sentence in enumerate(sentences, start=1):
        if isinstance(sentence, (Set, Mapping)):
            raise InputError(f"{name}: sentence {number} has no order; expected a list of words")
        try:
            words = _SPACES.split(sentence) if isinstance(sentence, str) else list(sentence)
            if _SPACES.search("".join(words)) is not None:  # a word in a list is one word
                words = [_SPACES.sub("", word) for word in words]
        except TypeError:
            problem = f"{name}: sentence {number} is {shown(sentence)}"
            raise InputError(f"{problem}; expected words (str)") from None
        lines.append(" ".join(words) + "\n")
    text = "".join(lines)
    if not text.strip(" \n"):
        raise InputError(f"{name}: no words; expected at least one")
    try:
        found = read_segmented(Source(name, text.encode()))
    except UnicodeEncodeError as error:
        half = text[error.start]
        raise InputError(f"{name}: {half!r} is half a character; expected text") from None
    # a file has no sentences behind its last word
    more = (0, len(lines) - found.n_sentences)
    first, byte_first = (np.pad(own, more, mode="edge") for own in (found.first, found.byte_first))
    return replace(
        found, first=first, byte_first=byte_first, line=None, block=None, source=None, notes=()
    )


# --- Original text of sentences, with spaces

_TEXT = re.compile(rb"^# text = (.*?)\r?$", re.MULTILINE)


def texts_of(words: Segmented) -> list[str]:
    """Return the text of every sentence: its ``# text =`` if it matches, else its words."""
    texts = [words.sentence_text(sentence) for sentence in range(words.n_sentences)]
    if words.source is not None and words.block is not None:
        for sentence, (begin, end) in enumerate(words.block.tolist()):
            comment = _TEXT.search(words.source.data, begin, end)
            text = "" if comment is None else comment[1].decode("utf-8", "replace")
            if _SPACES.sub("", text) == texts[sentence]:
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
        line = None if sentence is None or self.line is None else self.line[sentence]
        place = "" if sentence is None or line is not None else f"sentence {sentence + 1}: "
        return InputError(place + message, self.name, line)


def probabilities_of(data: Any) -> Probabilities:
    """Read probabilities, one row per sentence, from a file of JSON lines or from Python."""
    name = "probabilities"
    if isinstance(data, (str, Path)):
        source = load(data)
        # an empty line is a sentence without positions, except at the end
        lines = enumerate(source.data.rstrip().split(b"\n"), start=1)
        found = [_parsed(source, n, line) if line.strip() else np.empty(0) for n, line in lines]
        return Probabilities(source.name, found, range(1, len(found) + 1))
    try:
        sentences = list(data)
    except TypeError:
        raise InputError(f"{name}: {type(data).__name__}; expected numbers per sentence") from None
    rows = []
    for sentence, values in enumerate(sentences):
        row = _numbers(values)
        if row is None:
            raise Probabilities(name, []).error("is no list of finite numbers", sentence)
        rows.append(row)
    return Probabilities(name, rows)


def _parsed(source: Source, number: int, line: bytes) -> NDArray[np.float64]:
    record = source.json_value(number, line, _EXPECTED)
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
