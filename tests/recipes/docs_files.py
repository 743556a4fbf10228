"""Documents of spaCy, written by spaCy: ``python tests/recipes/docs_files.py``.

Needs ``spacy`` (made with 3.8).
"""

from __future__ import annotations

from pathlib import Path

import spacy
from sentences import GOLD, PREDICTED, TOKENS, spans
from spacy.tokens import Doc, DocBin, Span

DOCS = Path(__file__).resolve().parent.parent / "data" / "docs"


def main() -> None:
    DOCS.mkdir(parents=True, exist_ok=True)
    vocab = spacy.blank("en").vocab
    for name, tags in (("gold", GOLD), ("system", PREDICTED)):
        docs = []
        for words, own in zip(TOKENS, tags, strict=True):
            doc = Doc(vocab, words=words)
            doc.ents = [Span(doc, start, end, label) for start, end, label in spans(own)]
            docs.append(doc)
        DocBin(docs=docs).to_disk(DOCS / f"{name}.spacy")


if __name__ == "__main__":
    main()
