"""JSON lines with spans, as annotation tools export them."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from probative.reading.sequences import spans_from_sets
from probative.reading.source import snippet

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from probative.reading.annotations import Spans
    from probative.reading.source import Source

__all__ = ["SPAN_KEYS", "read_spans", "records"]

SPAN_KEYS = ("spans", "entities", "labels", "label")
_START_KEYS = ("start", "start_offset")
_END_KEYS = ("end", "end_offset")
_LABEL_KEYS = ("label", "type", "entity_group", "entity")


def records(source: Source) -> Iterator[tuple[int, dict[str, Any]]]:
    """The objects of a file with their line numbers; empty lines are passed over."""
    for number, line in enumerate(source.data.split(b"\n"), start=1):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
        except (ValueError, RecursionError) as error:
            reason = getattr(error, "msg", None) or "too deep or too large"
            raise source.error(
                f"{snippet(line)} is not JSON ({reason}); expected an object a line", number
            ) from None
        if not isinstance(record, dict):
            raise source.error(f"{snippet(line)} is not a JSON object; expected one a line", number)
        yield number, record


def read_spans(source: Source) -> Spans:
    """Read a text with its spans a line.

    Each object has ``text`` (spans then count its characters) or ``tokens`` (spans count tokens),
    and ``spans``, ``entities``, ``labels`` or ``label`` with a list of ``[start, end, label]`` or
    ``{"start": …, "end": …, "label": …}``. Spans may overlap and nest.
    """
    texts: list[Sequence[str]] = []
    sentences: list[list[Any]] = []
    lines: list[int] = []
    key = None
    for number, record in records(source):
        texts.append(_text(source, number, record))
        key = next((k for k in SPAN_KEYS if isinstance(record.get(k), list)), None) or key
        spans = record.get(key) if key else None
        if spans is not None and not isinstance(spans, list):
            raise source.error(f"{key!r} holds {_shown(spans)}; expected a list of spans", number)
        sentences.append([_triple(source, number, span) for span in spans or ()])
        lines.append(number)
    if not texts:
        raise source.error("holds no JSON object; expected one a line")
    if key is None:
        raise source.error(
            f"no object has a list of spans; expected one of the keys {', '.join(SPAN_KEYS)}",
            lines[0],
        )
    spans_read = spans_from_sets(source.name, sentences, texts, lines)
    unit = "characters of the text" if isinstance(texts[0], str) else "tokens"
    note = f"{source.name}: JSON lines, spans of {unit} under {key!r}"
    return replace(spans_read, notes=(note, *spans_read.notes))


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


def _triple(source: Source, number: int, span: Any) -> tuple[Any, Any, Any]:
    if isinstance(span, list) and len(span) == 3:
        start, end, label = span
    elif isinstance(span, dict):
        start, end, label = (_value(span, keys) for keys in (_START_KEYS, _END_KEYS, _LABEL_KEYS))
    else:
        start = end = label = None
    whole = all(isinstance(x, int) and not isinstance(x, bool) for x in (start, end))
    if whole and isinstance(label, str):
        return start, end, label
    raise source.error(
        f"span {_shown(span)}; expected [start, end, label] or an object with start, end and label",
        number,
    )


def _value(span: dict[str, Any], keys: tuple[str, ...]) -> Any:
    return next((span[key] for key in keys if key in span), None)


def _shown(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 60 else text[:60] + "…"
