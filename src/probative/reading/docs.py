"""Documents of spaCy, without spaCy: whatever has tokens and entities by their tokens."""

from __future__ import annotations

import zlib
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from probative.errors import InputError
from probative.reading.sequences import spans_from_sets

if TYPE_CHECKING:
    from collections.abc import Sequence

    from probative.reading.annotations import Spans
    from probative.reading.source import Source

__all__ = ["are_docs", "are_examples", "read_docbin", "sides_of_examples", "spans_from_docs"]

_PIECE = 1 << 20
_TOKEN = 128  # bytes that a token takes, packed with few attributes or with many


def are_docs(data: Sequence[Any]) -> bool:
    """Whether these are documents with entities."""
    return bool(data) and all(hasattr(doc, "ents") and hasattr(doc, "__iter__") for doc in data)


def are_examples(data: Sequence[Any]) -> bool:
    """Whether these are examples of spaCy, each a reference and a prediction."""
    return bool(data) and all(
        hasattr(each, "reference") and hasattr(each, "predicted") for each in data
    )


def spans_from_docs(name: str, docs: Sequence[Any]) -> Spans:
    """Return the entities of every document, over its tokens; span groups are not read."""
    texts, sentences = [], []
    for number, doc in enumerate(docs, start=1):
        try:
            texts.append([str(token.text) for token in doc])
            sentences.append([(ent.start, ent.end, ent.label_) for ent in doc.ents])
        except (AttributeError, TypeError) as error:
            raise InputError(
                f"{name}: document {number} is none of spaCy ({error}); expected tokens with text, "
                f"and ents with start, end and label_"
            ) from None
    groups = _span_groups(docs)
    if groups and not any(sentences):
        raise InputError(
            f"{name}: no document has entities (doc.ents), but there are span groups ({groups}); "
            f"expected entities, or the spans of a group as lists of (start, end, label)"
        )
    spans = spans_from_sets(name, sentences, texts)
    if groups:
        note = f"{name}: entities of doc.ents; span groups ({groups}) are not read"
        return replace(spans, notes=(*spans.notes, note))
    return spans


def _span_groups(docs: Sequence[Any]) -> str:
    """Return the names of the span groups that hold something."""
    groups = (getattr(doc, "spans", None) or {} for doc in docs)
    names = dict.fromkeys(str(key) for own in groups for key in own if len(own[key]))
    return ", ".join(map(repr, list(names)[:4])) + (", …" if len(names) > 4 else "")


def sides_of_examples(name: str, examples: Sequence[Any]) -> tuple[Spans, Spans]:
    """The references and the predictions of examples."""
    return (
        spans_from_docs(name, [example.reference for example in examples]),
        spans_from_docs(name, [example.predicted for example in examples]),
    )


def read_docbin(source: Source) -> Spans:
    """Read a ``.spacy`` file; only spaCy itself can."""
    unpacking, rest, size = zlib.decompressobj(), source.data, 0
    while rest:
        try:
            size += len(unpacking.decompress(rest, _PIECE))
        except zlib.error:
            break  # spaCy says what is wrong with it
        source.refuse_unpacking(size)
        rest = unpacking.unconsumed_tail
    try:
        import spacy
        from spacy.tokens import DocBin
    except ImportError:
        raise source.error(
            "is a file of spaCy, which is not installed; expected `pip install spacy`, or the "
            "documents as JSON lines"
        ) from None
    try:
        packed = DocBin().from_bytes(source.data)
        source.refuse_unpacking(_TOKEN * sum(map(len, packed.tokens)))
        docs = list(packed.get_docs(spacy.blank("xx").vocab))
    except InputError:
        raise
    except Exception as error:  # whatever it does not like
        reason = " ".join(str(error).split())[:100]
        raise source.error(f"spaCy cannot read it: {reason}; expected a DocBin") from None
    if not docs:
        raise source.error("holds no documents; expected at least one")
    return spans_from_docs(source.name, docs)
