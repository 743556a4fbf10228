"""Read JSON lines with spans, and files with one label per line."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from probative.errors import InputError, Recognised
from probative.reading.annotations import Labels
from probative.reading.fields import distinct, lines_of
from probative.reading.sequences import spans_from_sets
from probative.reading.source import as_json, snippet

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from probative.reading.annotations import Spans
    from probative.reading.source import Source


# --- JSON lines with spans, as annotation tools export them

SPAN_KEYS = ("spans", "entities", "labels", "label")
_START_KEYS = ("start", "start_offset")
_END_KEYS = ("end", "end_offset")
_ACCEPTED = "accept"  # Prodigy's word for an annotation that is to be used
_LABEL_KEYS = ("label", "type", "entity_group", "entity")


def read_spans(source: Source) -> Spans:
    """Read one text with its spans (lists or objects) per line; empty lines are skipped."""
    texts: list[Sequence[str]] = []
    sentences: list[list[Any]] = []
    lines: list[int] = []
    keys: dict[str, None] = {}
    answers: list[str] = []
    for number, line in _lines(source):
        text, spans, key, answer = _content(source, number, line)
        answers.append(answer)
        texts.append(text)
        sentences.append(spans)
        lines.append(number)
        keys |= {key: None} if key else {}
    if not texts:
        raise source.error("holds no JSON object; expected one per line")
    if not keys:
        raise source.error(
            f"no object has a list of spans; expected one of the keys {', '.join(SPAN_KEYS)}",
            lines[0],
        )
    annotations = spans_from_sets(source.name, sentences, texts, lines)
    unit = "characters of the text" if isinstance(texts[0], str) else "tokens"
    how = f"{source.name}: JSON lines, spans of {unit} under {', '.join(map(repr, keys))}"
    notes: list[str] = [Recognised(how)]
    left_out = np.array([answer != _ACCEPTED for answer in answers])
    if left_out.any():
        others = Counter(answer for answer in answers if answer != _ACCEPTED)
        listed = ", ".join(f"{number} {answer!r}" for answer, number in others.most_common(3))
        notes.append(f"{source.name}: rows whose answer is not 'accept' are left out: {listed}")
        annotations = replace(annotations, text=replace(annotations.text, left_out=left_out))
    return replace(annotations, notes=(*notes, *annotations.notes))


def problems_of(source: Source) -> list[str]:
    """Return all errors in the objects of a file, one line each."""
    problems = []
    for number, line in _lines(source):
        try:
            _content(source, number, line)
        except InputError as error:
            problems.append(str(error))
    return problems


def _lines(source: Source) -> Iterator[tuple[int, bytes]]:
    numbered = enumerate(source.data.split(b"\n"), start=1)
    return ((number, line) for number, line in numbered if line.strip())


def _content(
    source: Source, number: int, line: bytes
) -> tuple[Sequence[str], list[tuple[int, int, str]], str | None, str]:
    """Return the text of an object, its spans, their key, and Prodigy's answer."""
    record = source.json_object(number, line)
    if b"\\ud" in line.lower() and _has_half_characters(record):
        raise source.error(f"{snippet(line)} holds half a character; expected text", number)
    text = _text(source, number, record)
    key = next((key for key in SPAN_KEYS if record.get(key) is not None), None)
    spans = record[key] if key else []
    if not isinstance(spans, list):
        raise source.error(f"{key!r} holds {as_json(spans)}; expected a list of spans", number)
    triples = [_triple(source, number, span, len(text)) for span in spans]
    return text, triples, key, str(record.get("answer", _ACCEPTED))


def _has_half_characters(record: Any) -> bool:
    """Return True if a string holds an unpaired surrogate."""
    try:
        json.dumps(record, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return True
    return False


def _text(source: Source, number: int, record: dict[str, Any]) -> Sequence[str]:
    text = record.get("text")
    if isinstance(text, str):
        return text
    tokens = record.get("tokens", record.get("words"))
    if isinstance(tokens, list):
        words: list[Any] = [t.get("text") if isinstance(t, dict) else t for t in tokens]
        if all(isinstance(word, str) for word in words):
            return words
    raise source.error(
        "the object has no text; expected 'text' (a string) or 'tokens' (a list of strings)", number
    )


def _triple(source: Source, number: int, span: Any, length: int) -> tuple[int, int, str]:
    if isinstance(span, list) and len(span) == 3:
        start, end, label = span
    elif isinstance(span, dict):
        start, end, label = (
            next((span[key] for key in keys if key in span), None)
            for keys in (_START_KEYS, _END_KEYS, _LABEL_KEYS)
        )
    else:
        start = end = label = None
    whole = all(isinstance(x, int) and not isinstance(x, bool) for x in (start, end))
    if whole and isinstance(label, str) and 0 <= start < end <= length:
        return start, end, label
    raise source.error(
        f"span {as_json(span)}; expected [start, end, label] or an object with start, end and "
        f"label, 0 <= start < end <= {length}",
        number,
    )


# --- One label per line


def read_labels(source: Source) -> Labels:
    """Read one label per line; white space around it is dropped, inside it is kept."""
    begin, end = lines_of(source)
    filled = np.flatnonzero(end > begin)
    begin, end = begin[: filled[-1] + 1], end[: filled[-1] + 1]
    codes, values = distinct(source, begin, end)
    stripped = [value.decode("utf-8", "replace").strip() for value in values]
    empty = [code for code, name in enumerate(stripped) if not name]
    if empty:
        missing = np.isin(codes, empty)
        if missing.all():
            raise source.error("holds spaces only; expected at least one label")
        last = int(np.flatnonzero(~missing)[-1])
        codes, missing = codes[: last + 1], missing[: last + 1]
        if missing.any():
            raise source.error("the line is empty; expected a label", int(np.argmax(missing)) + 1)
    names = tuple(sorted(set(stripped) - {""}))
    number = {name: i for i, name in enumerate(names)}
    merged = np.array([number.get(name, -1) for name in stripped], dtype=np.int32)
    return Labels(
        source.name, merged[codes], names, notes=(Recognised(f"{source.name}: one label per line"),)
    )
