"""Read a corpus to train on: sentences, their spans, and their lines in the file."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from probative.crossval.splitter import number_of_blocks
from probative.errors import InputError, suggestion
from probative.matching.schemes import decode
from probative.reading.annotations import Labels, LabelSets, Segmented, Spans, Tagged
from probative.reading.columns import column_of, read_tags
from probative.reading.formats import FORMATS, Input, Options, open_input, read
from probative.reading.logs import Samples
from probative.reading.rows import IGNORED
from probative.reading.source import refuse_repeats

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from probative.reading.columns import Layout
    from probative.reading.source import Source

REGULARIZED = ("entities", "labels", "tokens")
_IN_LINES = ("columns", "conllu", "segmented", "labels", "jsonl", "table", "rows")
_COLUMNS = ("columns", "conllu")


@dataclass(frozen=True, eq=False)
class Corpus:
    """Sentences with spans, or items with labels."""

    name: str  # the file
    task: str  # "entities", "segmentation" or "labels"
    form: str  # its format
    sentences: list[Any] = field(repr=False)  # tokens or characters; for labels, the lines
    spans: list[Any] = field(repr=False)  # (start, end, label); for labels, the label of every item
    documents: NDArray[Any] | None = None  # of every sentence; None if none are marked
    notes: tuple[str, ...] = ()
    source: Source | None = field(default=None, repr=False)  # the content of the file
    raw: Callable[[int], bytes] | None = field(default=None, repr=False)  # lines of a sentence
    header: bytes = b""  # the first line of a table

    def __len__(self) -> int:
        return len(self.sentences)

    def select(self, *, only: Sequence[str] = (), ignore_type: bool = False) -> Corpus:
        """Return the corpus with spans of the labels in `only`, or with all types set to one."""
        if not (only or ignore_type):
            return self
        if self.task == "labels":
            raise InputError("only, ignore_type: apply to spans, and this corpus has labels")
        present = {label for spans in self.spans for _, _, label in spans}
        for label in only:
            if label not in present:
                raise InputError(
                    f"has no span labelled {label!r}; there are {', '.join(sorted(present))}"
                    + suggestion(label, present),
                    self.name,
                )
        spans = [
            [(start, end, "_" if ignore_type else label) for start, end, label in sentence
             if not only or label in only]
            for sentence in self.spans
        ]  # fmt: skip
        return replace(self, spans=spans)

    def check_size(self, m: int) -> None:
        """Refuse a corpus with fewer sentences than m repetitions need blocks."""
        if len(self) < number_of_blocks(m):
            raise InputError(
                f"has {len(self)} sentences; expected at least {number_of_blocks(m)}, one per "
                f"block",
                self.name,
            )

    def groups(self, *, keep_documents: bool) -> NDArray[Any] | None:
        """Return the documents if they are to be kept whole, else None; refuse a corpus without."""
        if keep_documents and self.documents is None:
            raise InputError("marks no documents that could be kept whole", self.name)
        return self.documents if keep_documents else None

    def strata(self, regularize: Sequence[str]) -> dict[str, list[int]] | list[str]:
        """Return counts of spans by label and of tokens, as asked; or the classes of labels."""
        if self.task == "labels":
            return list(self.spans)
        strata: dict[str, list[int]] = {}
        if "entities" in regularize or "labels" in regularize:
            counts = [Counter(label for _, _, label in spans) for spans in self.spans]
            strata |= {
                label: [count[label] for count in counts] for label in sorted(set().union(*counts))
            }
        if "tokens" in regularize:
            strata["tokens"] = [len(sentence) for sentence in self.sentences]
        return strata


def read_corpora(paths: Sequence[Path | str | Input], **how: Any) -> Corpus:
    """Read several files of one kind as one corpus; see `read_corpus` for the options."""
    refuse_repeats(paths)
    parts = [read_corpus(path, **how) for path in paths]
    if len(parts) == 1:
        return parts[0]
    if len({part.task for part in parts}) > 1:
        raise InputError(f"is a corpus for {parts[-1].task}, unlike the others", parts[-1].name)
    documents = None
    if all(part.documents is not None for part in parts):
        # a document is identified by its file and its index there
        own = enumerate(np.asarray(part.documents).tolist() for part in parts)
        pairs = [(i, document) for i, documents_ in own for document in documents_]
        documents = np.unique(np.array(pairs), axis=0, return_inverse=True)[1].reshape(-1)
    return Corpus(
        " + ".join(part.name for part in parts),
        parts[0].task,
        parts[0].form,
        [sentence for part in parts for sentence in part.sentences],
        [spans for part in parts for spans in part.spans],
        documents,
        tuple(note for part in parts for note in part.notes),
    )


def read_corpus(
    path: Path | str | Input,
    *,
    scheme: str | None = None,
    features: Sequence[int] = (),
    **how: Any,
) -> Corpus:
    """Read a corpus of any known format.

    Parameters
    ----------
    path
        The file, or the result of `probative.reading.formats.open_input`.
    scheme
        The tag scheme of a column file; by default it is recognised.
    features
        Further columns (from 1) that a token's features use, such as its part of
        speech; then a token is a tuple.
    **how
        `task`, `input_format`, `encoding`, `tag_column`, `comments` and `column`, as
        in `probative.reading.Options`.
    """
    opened = path if isinstance(path, Input) else open_input(path, Options(**how))
    source, form = opened.source, opened.kind
    if form in _COLUMNS and opened.options.task in (None, "entities"):
        return _tagged_corpus(
            source, form, opened.layout, opened.options.tag_column, scheme, features
        )
    if features:
        raise source.error(
            f"features: column numbers apply to column files with tags, not to {form}"
        )
    _refuse_other_tools(opened)
    annotations = read(opened)
    if isinstance(annotations, Samples):
        raise source.error("is a log, which holds no texts to learn from; expected a corpus")
    if isinstance(annotations, Tagged) and IGNORED in annotations.names:
        raise source.error("has tokens without a tag (-100); expected a tag for each")
    if isinstance(annotations, LabelSets):
        raise source.error("has sets of labels; expected one label per row")
    if isinstance(annotations, Tagged) and form == "table":
        raise source.error("has tags in a table; expected a column file, one token per line")
    if scheme is not None and isinstance(annotations, (Segmented, Labels)):
        raise source.error(f"scheme: applies to tags, not to {form}")
    if isinstance(annotations, Segmented):
        return _segmented_corpus(source, form, annotations)
    if isinstance(annotations, Labels):
        return _label_corpus(source, form, annotations)
    return _span_corpus(source, form, annotations, scheme)


def _refuse_other_tools(opened: Input) -> None:
    """Refuse formats that cannot be split by lines, each a sentence or a token."""
    in_lines = opened.kind in _IN_LINES and not (opened.kind == "rows" and opened.source.is_parquet)
    if not in_lines and opened.kind != "log":
        raise opened.source.error(
            f"is {FORMATS[opened.kind].title}; expected a corpus in lines: columns, segmented "
            f"text, a list or table of labels, JSON lines"
        )


def _tagged_corpus(
    source: Source,
    form: str,
    shape: Layout,
    tag_column: int | str | None,
    scheme: str | None,
    features: Sequence[int],
) -> Corpus:
    """Build the corpus of a column file with tags."""
    text = shape.text
    spans = decode(read_tags(shape, tag_column), scheme=scheme)
    sentences: list[Any] = [list(text.words(i)) for i in range(text.n_sentences)]
    for column in features:
        values = _column(shape, column)
        first = text.first.tolist()
        sentences = [
            [
                (*(t if isinstance(t, tuple) else (t,)), values[first[i] + k])
                for k, t in enumerate(s)
            ]
            for i, s in enumerate(sentences)
        ]
    content = sentences, _by_sentence(spans), text.document, spans.notes
    return Corpus(source.name, "entities", form, *content, source, text.raw)


def _column(shape: Layout, column: int) -> list[str]:
    """Return the values of a column (from 1) of all tokens."""
    if not 1 <= column <= shape.width:
        raise shape.table.source.error(
            f"there is no column {column} for features; expected 1 to {shape.width}"
        )
    codes, values = column_of(shape, column - 1)
    names = [value.decode("utf-8", "replace") for value in values]
    return [names[code] for code in codes.tolist()]


def _span_corpus(source: Source, form: str, annotations: Any, scheme: str | None) -> Corpus:
    """Build the corpus of JSON lines with spans or with tags."""
    spans: Any = (
        decode(annotations, scheme=scheme) if isinstance(annotations, Tagged) else annotations
    )
    sentences = [spans.text.words(i) for i in range(spans.n_sentences)]
    lines = source.data.split(b"\n")
    at = [(spans.text.line_of(i) or 1) - 1 for i in range(spans.n_sentences)]
    content = sentences, _by_sentence(spans), None, spans.notes
    return Corpus(source.name, "entities", form, *content, source, lambda i: lines[at[i]])


def _segmented_corpus(source: Source, form: str, words: Segmented) -> Corpus:
    """Build the corpus of segmented text."""
    spans = words.spans()
    texts = [words.sentence_text(i) for i in range(words.n_sentences)]
    content = texts, _by_sentence(spans), words.document, words.notes
    return Corpus(source.name, "segmentation", form, *content, source, spans.text.raw)


def _label_corpus(source: Source, form: str, labels: Labels) -> Corpus:
    """Build the corpus of items with labels, one per line."""
    lines = [line for line in source.data.split(b"\n") if line.strip()]
    rows = lines[len(lines) - len(labels) :]
    if len(lines) - len(labels) not in (0, 1):
        raise source.error(
            f"has {len(lines)} lines for {len(labels)} items; expected one item per line"
        )
    names = [labels.names[code] for code in labels.codes.tolist()]
    content = rows, names, labels.units, labels.notes
    header = lines[0] if len(lines) > len(labels) else b""
    return Corpus(source.name, "labels", form, *content, source, lambda i: rows[i], header)


def _by_sentence(spans: Spans) -> list[list[tuple[int, int, str]]]:
    """Return the spans of every sentence."""
    return [spans.of(i) for i in range(spans.n_sentences)]
