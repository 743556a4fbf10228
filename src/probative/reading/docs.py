"""Documents of spaCy, without spaCy: whatever has tokens and entities by their tokens."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from probative.errors import InputError
from probative.reading.sequences import spans_from_sets

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from probative.reading.annotations import Spans

__all__ = ["are_docs", "are_examples", "read_docbin", "sides_of_examples", "spans_from_docs"]


def are_docs(data: Sequence[Any]) -> bool:
    """Whether these are documents with entities."""
    return bool(data) and all(hasattr(doc, "ents") and hasattr(doc, "__iter__") for doc in data)


def are_examples(data: Sequence[Any]) -> bool:
    """Whether these are examples of spaCy, each a reference and a prediction."""
    return bool(data) and all(
        hasattr(each, "reference") and hasattr(each, "predicted") for each in data
    )


def spans_from_docs(name: str, docs: Sequence[Any]) -> Spans:
    """The entities of every document, over its tokens."""
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
    return spans_from_sets(name, sentences, texts)


def sides_of_examples(name: str, examples: Sequence[Any]) -> tuple[Spans, Spans]:
    """The references and the predictions of examples."""
    return (
        spans_from_docs(name, [example.reference for example in examples]),
        spans_from_docs(name, [example.predicted for example in examples]),
    )


def read_docbin(path: str | Path) -> Spans:
    """Read a ``.spacy`` file; only spaCy itself can."""
    try:
        import spacy
        from spacy.tokens import DocBin
    except ImportError:
        raise InputError(
            "is a file of spaCy, which is not installed; expected `pip install spacy`, or the "
            "documents as JSON lines",
            path,
        ) from None
    try:
        docs = list(DocBin().from_disk(path).get_docs(spacy.blank("xx").vocab))
    except Exception as error:  # whatever it does not like
        reason = " ".join(str(error).split())[:100]
        raise InputError(f"spaCy cannot read it: {reason}; expected a DocBin", path) from None
    if not docs:
        raise InputError("holds no documents; expected at least one", path)
    return spans_from_docs(str(path), docs)
