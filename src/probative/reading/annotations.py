"""Annotations as the readers return them: flat arrays for a corpus, text made on demand."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from probative._validation import shown
from probative.errors import InputError
from probative.labels import (
    factorise_each,
    factorise_labels,
    is_missing,
    labels_of,
    named,
    refuse_continuous,
)
from probative.labels import items_of as values_of

if TYPE_CHECKING:
    from probative.reading.source import Source

    Ints = NDArray[np.int32]
    Places = NDArray[np.intp]

TEXT_COLUMNS = ("text", "sentence", "content")  # usual names of a table's column of texts


def coded(texts: Sequence[str]) -> tuple[Ints, tuple[str, ...]]:
    """Return one code per text, and the distinct texts in their order."""
    names = tuple(sorted(set(texts)))
    return codes_in(names, texts), names


def codes_in(names: Sequence[str], others: Sequence[str]) -> Ints:
    """Return the code of each of the others among the names; -1 if it is not there."""
    code = {name: i for i, name in enumerate(names)}
    return np.array([code.get(other, -1) for other in others], dtype=np.int32)


class Origin(NamedTuple):
    """The format that a file was recognised as, and the reason."""

    form: str
    reason: str


@dataclass(frozen=True, eq=False, kw_only=True)
class Side:
    """Annotations of gold or of a system."""

    task: ClassVar[str]  # the task that they serve
    notes: tuple[str, ...] = ()  # messages on what was recognised
    origin: Origin | None = None


@dataclass(frozen=True, eq=False, kw_only=True)
class ItemSide(Side):
    """Annotations of single items, with what the rows of their table have beside them."""

    units: Ints | None = None  # the unit (document, group) of every item as a code, or None
    # reads the texts of the items from their table: one per item, or none without such a column
    texts: Callable[[], Sequence[str]] = field(default=tuple, repr=False)
    # the sentences whose tokens the items are, or the ids of the rows of a table, equal on both
    # sides; None if items have only their position
    aligned: Text | RowIds | None = field(default=None, repr=False)
    groups: RowGroups | None = field(default=None, repr=False)  # of items, if requested


@dataclass(frozen=True, eq=False)
class Text:
    """The sentences of annotations: their lengths, their words and their place in the file."""

    name: str
    first: NDArray[Any]  # the first token of every sentence, and the number of tokens at the end
    row: Ints | None = None  # the line of every token (or sentence) in the file, from 0
    document: Ints | None = None  # number of every sentence's document; None if none are marked
    document_lines: int = 0  # number of ``-DOCSTART-`` lines
    source: Source | None = field(default=None, repr=False)  # with the bytes of every token in it
    start: Ints | None = None
    size: NDArray[Any] | None = None  # of every token in bytes, in a small type
    # the sentences, if they came as Python objects or JSON
    sentences: Sequence[Sequence[str]] | None = field(default=None, repr=False)
    block: Ints | None = None  # the bytes (begin, end) of every sentence with its comments
    names: tuple[str, ...] | None = field(default=None, repr=False)  # names of documents
    left_out: NDArray[np.bool_] | None = field(default=None, repr=False)  # by sentence
    parted_by: str | None = None  # in a table, how sentences are separated
    groups: RowGroups | None = field(default=None, repr=False)  # of sentences, in a table

    @property
    def n_sentences(self) -> int:
        """Return the number of sentences."""
        return len(self.first) - 1

    @property
    def n_tokens(self) -> int:
        """Return the number of tokens."""
        return int(self.first[-1])

    @cached_property
    def lengths(self) -> NDArray[Any]:
        """Return the number of tokens of every sentence."""
        return np.diff(self.first)

    @cached_property
    def sentence(self) -> Ints:
        """Return the sentence of every token."""
        return np.repeat(np.arange(self.n_sentences, dtype=np.int32), self.lengths)

    def words(self, sentence: int) -> Sequence[str]:
        """Return the tokens of a sentence, or its characters if it has none; () if unknown."""
        if self.sentences is not None:
            return self.sentences[sentence]
        if self.source is None or self.start is None or self.size is None:
            return ()
        own = slice(int(self.first[sentence]), int(self.first[sentence + 1]))
        places = zip(self.start[own].tolist(), self.size[own].tolist(), strict=True)
        return [self.source.data[i : i + n].decode("utf-8", "replace") for i, n in places]

    @property
    def tokens(self) -> tuple[Source, Ints, Ints] | None:
        """Return the file and the bytes of every token in it; None if there is no file."""
        if self.source is None or self.start is None or self.size is None:
            return None
        return self.source, self.start, np.add(self.start, self.size, dtype=np.int32)

    def raw(self, sentence: int) -> bytes:
        """Return the lines of a sentence as in the file, comments included."""
        if self.source is None or self.block is None:
            raise ValueError("this text did not come from a file")
        begin, end = self.block[sentence].tolist()
        return self.source.data[begin:end]

    def line_of(self, token: int) -> int | None:
        """Return the line of one token (or sentence) in the file, from 1."""
        if self.row is None or not len(self.row):
            return None
        return int(self.row[min(token, len(self.row) - 1)]) + 1

    def line_at(self, sentence: int, at: int) -> int | None:
        """Return the line of a token of a sentence, or that of the sentence."""
        by_token = self.row is not None and len(self.row) == self.n_tokens
        return self.line_of(int(self.first[sentence]) + at if by_token else sentence)

    def error(self, message: str, token: int | None = None) -> InputError:
        """Return an error at a token, or in the whole text."""
        if token is None:
            return InputError(message, self.name)
        sentence = int(np.searchsorted(self.first, token, side="right")) - 1
        return self.error_at(message, sentence, token - int(self.first[sentence]))

    def error_at(self, message: str, sentence: int, at: int) -> InputError:
        """Return an error at a token of a sentence."""
        line = self.line_at(sentence, at)
        place = "" if line is not None else f"sentence {sentence + 1}, token {at + 1}: "
        return InputError(place + message, self.name, line)


@dataclass(frozen=True, eq=False)
class Tagged(Side):
    """One tag per token."""

    task = "entities"
    text: Text
    tags: Ints  # one code per token, and the tag of every code
    names: tuple[str, ...]
    column: int | str | None = None  # the column of the file, if it holds several sides

    @property
    def name(self) -> str:
        """Return the name of these tags in notes: the file, and the column if it has several."""
        return self.text.name if self.column is None else f"{self.text.name}, column {self.column}"

    def as_labels(self) -> Labels:
        """Return the tags of tokens as labels of items, one unit per sentence."""
        codes, names = coded(self.names)
        labels = Labels(self.text.name, codes[self.tags], names, units=self.text.sentence)
        return replace(labels, notes=self.notes, aligned=self.text)


@dataclass(frozen=True, eq=False)
class Spans(Side):
    """Labelled spans of a corpus, in the order of their sentences."""

    task = "entities"
    sentence: Ints  # of every span, its begin and end (exclusive) in it, and the code of its label
    start: NDArray[Any]
    end: NDArray[Any]
    label: Ints
    labels: tuple[str, ...]  # the label of every code
    text: Text
    scheme: str | None = None  # of tags, and the number of tags out of place
    repaired: int = 0
    # code of the pieces of every span, and the text of every code ("" for one piece); None if all
    # spans have one piece
    shape: Ints | None = None
    shapes: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.sentence)

    @property
    def n_sentences(self) -> int:
        """Return the number of sentences in the corpus, with or without spans."""
        return self.text.n_sentences

    def of(self, sentence: int) -> list[tuple[int, int, str]]:
        """Return the spans of one sentence as (start, end, label)."""
        low, high = np.searchsorted(self.sentence, [sentence, sentence + 1]).tolist()
        start, end, codes = (v[low:high].tolist() for v in (self.start, self.end, self.label))
        return list(zip(start, end, (self.labels[code] for code in codes), strict=True))


@dataclass(frozen=True, eq=False)
class Segmented(Side):
    """Words of sentences, over the characters that are not spaces."""

    task = "segmentation"
    name: str
    characters: NDArray[np.uint8] = field(repr=False)  # without spaces, as UTF-8
    byte_first: NDArray[Any]  # the begin of every sentence in bytes and in characters, and the end
    first: NDArray[Any]
    sentence: Ints  # of every word, and its characters in the sentence (end exclusive)
    start: NDArray[Any]
    end: NDArray[Any]
    line: Ints | None = None  # the first line of every sentence in the file, from 1, or None
    document: Ints | None = None
    source: Source | None = field(default=None, repr=False)
    block: Ints | None = None

    @property
    def n_sentences(self) -> int:
        """Return the number of sentences."""
        return len(self.first) - 1

    @cached_property
    def lengths(self) -> NDArray[Any]:
        """Return the number of characters of every sentence."""
        return np.diff(self.first)

    def sentence_text(self, sentence: int) -> str:
        """Return the characters of a sentence, without spaces."""
        begin, end = self.byte_first[sentence : sentence + 2].tolist()
        return self.characters[begin:end].tobytes().decode("utf-8", "replace")

    def words(self, sentence: int) -> list[str]:
        """Return the words of a sentence."""
        text = self.sentence_text(sentence)
        low, high = np.searchsorted(self.sentence, [sentence, sentence + 1]).tolist()
        places = zip(self.start[low:high].tolist(), self.end[low:high].tolist(), strict=True)
        return [text[start:end] for start, end in places]

    def spans(self) -> Spans:
        """Return the words as spans over characters, all with one label."""
        row, held = None if self.line is None else self.line - 1, _Characters(self)
        where: dict[str, Any] = {"source": self.source, "block": self.block, "sentences": held}
        text = Text(self.name, self.first, row, self.document, **where)
        places = self.sentence, self.start, self.end, np.zeros_like(self.sentence)
        return Spans(*places, ("word",), text, notes=self.notes)


class _Characters(Sequence[str]):
    """The sentences of a segmentation as strings, made on demand."""

    def __init__(self, words: Segmented):
        self._words = words

    def __len__(self) -> int:
        return self._words.n_sentences

    def __getitem__(self, sentence: Any) -> Any:
        return self._words.sentence_text(sentence)


@dataclass(frozen=True, eq=False)
class RowIds:
    """The ids of the rows of a table: the column, one code per row, the text of every code."""

    column: str
    codes: Ints
    names: tuple[str, ...]


_ROWS_ONE_BY_ONE = 20_000_000  # largest number of rows that `Repeats.one_by_one` makes


@dataclass(frozen=True, eq=False)
class Repeats:
    """The number of rows of a table that each row stands for, if equal rows are kept once."""

    times: NDArray[np.int64] | None  # equal rows of its unit that each row stands for; None: one
    number: NDArray[np.int64]  # equal units that each unit (without units, row) stands for

    def of_rows(self, units: Ints | None) -> NDArray[np.int64]:
        """Return the number of rows of the table that each row stands for, over all equal units."""
        number = self.number if units is None else self.number[units]
        return number if self.times is None else number * self.times

    def one_by_one(self, units: Ints | None, *, by_unit: bool) -> tuple[Places, Any]:
        """Return one entry per original row: its distinct row, and its unit if ``by_unit``."""
        every = self.of_rows(units)
        total = int(every.sum())
        if total > _ROWS_ONE_BY_ONE:
            problem = f"metric: of all classes it takes every row by itself, {total:,}"
            raise InputError(f"{problem}; expected at most {_ROWS_ONE_BY_ONE:,}, or accuracy")
        rows = np.arange(len(every))
        if units is None or not by_unit:
            return np.repeat(rows, every), None
        first, copies = np.cumsum(self.number) - self.number, self.number[units]
        rows = np.repeat(rows, copies)
        which = np.arange(len(rows)) - np.repeat(np.cumsum(copies) - copies, copies)
        times = 1 if self.times is None else self.times[rows]
        return np.repeat(rows, times), np.repeat(first[units[rows]] + which, times)


class RowGroups(RowIds):
    """The group of every row of a table, in the same form."""


@dataclass(frozen=True, eq=False)
class Labels(ItemSide):
    """One label per item."""

    task = "labels"
    name: str
    codes: Ints  # one code per item, and the label of every code
    names: tuple[str, ...]
    repeats: Repeats | None = field(default=None, repr=False)  # if equal rows are kept once

    def __len__(self) -> int:
        return len(self.codes)


@dataclass(frozen=True, eq=False)
class LabelSets(ItemSide):
    """Any number of labels per item."""

    task = "labels"
    name: str  # as in `Labels`
    item: Ints  # one entry per label of an item: the item (from 0), and the code of the label
    codes: Ints
    names: tuple[str, ...]
    n_items: int  # number of items, with or without labels

    def __len__(self) -> int:
        return self.n_items


@dataclass(frozen=True, eq=False)
class Records(Side):
    """The records of gold or of a system, one per document."""

    task = "records"
    name: str  # the file, or the system
    documents: tuple[dict[str, Any] | None, ...]  # None if there is none that can be read
    keys: tuple[str, ...] | None = None  # None if documents are known by their places
    lines: tuple[int | None, ...] | None = None  # of each record in its file
    # documents whose output is no JSON object, or became one after a repair, with what was found
    malformed: Mapping[int, str] = field(default_factory=dict)
    repaired: Mapping[int, str] = field(default_factory=dict)
    missing: frozenset[int] = frozenset()  # documents without an output
    stray: tuple[str, ...] = ()  # the problems of outputs whose document is unknown
    column: str | None = None  # of the records, in a file with several
    groups: RowGroups | None = None  # of each document, if a column of groups was named

    def __len__(self) -> int:
        return len(self.documents)

    def line_of(self, document: int) -> int | None:
        """Return the line of a document's record in its file."""
        return None if self.lines is None else self.lines[document]

    @property
    def quality(self) -> str:
        """Return how many outputs are not JSON, missing and repaired, as a sentence; "" if none."""
        numbers = map(len, (self.malformed, self.missing, self.repaired))
        kinds = zip(numbers, ("not JSON objects", "missing", "repaired"), strict=True)
        parts = [f"{number:,} {what}" for number, what in kinds if number]
        return f"{self.name}: of {len(self):,} outputs, {', '.join(parts)}" if parts else ""

    def at(self, places: Sequence[int | None]) -> Records:
        """Return the documents at these places; None is a document without a record."""

        def moved(found: Mapping[int, str]) -> dict[int, str]:
            return {k: found[i] for k, i in enumerate(places) if i is not None and i in found}

        def named(entries: tuple[Any, ...] | None) -> tuple[Any, ...] | None:
            return entries and tuple(None if i is None else entries[i] for i in places)

        return replace(
            self,
            documents=named(self.documents) or (None,) * len(places),
            keys=None if None in places else named(self.keys),
            lines=named(self.lines),
            malformed=moved(self.malformed),
            repaired=moved(self.repaired),
            missing=frozenset(k for k, i in enumerate(places) if i is None or i in self.missing),
            groups=None,
        )


# --- Subsets of annotations


def part_of(side: Any, places: NDArray[Any]) -> Any:
    """Return the annotations of some sentences (units or items of labels), in this order."""
    places = np.asarray(places, dtype=np.intp)
    if isinstance(side, Tagged):
        tokens = ranges(side.text.first, places)
        return replace(side, text=_text_part(side.text, places), tags=side.tags[tokens])
    if isinstance(side, Spans):
        first = np.searchsorted(side.sentence, np.arange(side.n_sentences + 1))
        sentence = np.repeat(np.arange(len(places)), np.diff(first)[places]).astype(np.int32)
        moved = _at(side, ranges(first, places), "start", "end", "label", "shape")
        return replace(side, sentence=sentence, text=_text_part(side.text, places), **moved)
    if isinstance(side, Records):
        return side.at(places.tolist())
    if side.units is None:
        return items_at(side, places, None)
    order = np.argsort(side.units, kind="stable")  # items of a unit need not be adjacent
    first = np.searchsorted(side.units[order], np.arange(int(side.units.max(initial=-1)) + 2))
    units = np.repeat(np.arange(len(places)), np.diff(first)[places]).astype(np.int32)
    return items_at(side, order[ranges(first, places)], units, places)


def _text_part(text: Text, places: NDArray[Any]) -> Text:
    """Return some sentences of a text, in this order."""
    tokens = ranges(text.first, places)
    by_sentence = text.row is not None and len(text.row) != text.n_tokens
    sentences, names = text.sentences, text.names
    return replace(
        text,
        first=offsets(text.lengths[places]).astype(text.first.dtype),
        sentences=None if sentences is None else [sentences[i] for i in places.tolist()],
        names=None if names is None else tuple(names[i] for i in places.tolist()),
        groups=None,
        **_at(text, places if by_sentence else tokens, "row"),
        **_at(text, tokens, "start", "size"),
        **_at(text, places, "document", "block", "left_out"),
    )


def _at(side: Any, places: Places, *names: str) -> dict[str, Any]:
    """Return the entries at these places of the arrays that are there."""
    arrays = {name: getattr(side, name, None) for name in names}
    return {name: own[places] for name, own in arrays.items() if own is not None}


def ranges(first: NDArray[Any], places: Places) -> Places:
    """Return the numbers from `first[i]` up to `first[i + 1]` for every place i, concatenated."""
    lengths = np.diff(first)[places]
    begins = np.cumsum(lengths) - lengths
    return np.repeat(first[places] - begins, lengths).astype(np.intp) + np.arange(lengths.sum())


def rows_at(side: Any, rows: Places) -> Any:
    """Return some items with their units numbered anew, and the repeats of these units."""
    units, kept = None, rows
    if side.units is not None:
        kept, number = np.unique(side.units[rows], return_inverse=True)
        units = number.reshape(-1).astype(np.int32)
    part = items_at(side, rows, units)
    repeats = getattr(side, "repeats", None)
    if repeats is None:
        return part
    times = None if repeats.times is None else repeats.times[rows]
    return replace(part, repeats=Repeats(times, repeats.number[kept]))


def items_at(side: ItemSide, items: Places, units: Any, places: Places | None = None) -> Any:
    """Return some items with their new units, which are at these places of a text."""
    # of sets of labels, -1 stands for an item without any
    texts, aligned, groups = side.texts, side.aligned, side.groups
    if isinstance(aligned, RowIds):
        aligned = replace(aligned, codes=aligned.codes[items])
    elif isinstance(aligned, Text):
        aligned = None if places is None else _text_part(aligned, places)

    def read_texts() -> Sequence[str]:
        everything = texts()
        return [everything[i] for i in items.tolist()] if len(everything) else ()

    groups = groups and replace(groups, codes=groups.codes[items])
    shared: dict[str, Any] = {"aligned": aligned, "groups": groups}
    shared |= {"units": units, "texts": read_texts}
    if not isinstance(side, LabelSets):
        return replace(side, **_at(side, items, "codes", "values", "human"), **shared)
    place, there = np.full(len(side), -1, dtype=np.int64), items >= 0
    place[items[there]] = np.flatnonzero(there)
    kept = np.flatnonzero(place[side.item] >= 0)
    kept = kept[np.argsort(place[side.item[kept]], kind="stable")]
    new = place[side.item[kept]].astype(np.int32)
    return replace(side, item=new, codes=side.codes[kept], n_items=len(items), **shared)


def without_left_out_texts(sides: Sequence[Spans]) -> tuple[list[Spans], tuple[str, ...]]:
    """Remove the texts that one side marks as left out from all sides; return a note."""
    masks = [side.text.left_out for side in sides if side.text.left_out is not None]
    if not any(mask.any() for mask in masks):
        return list(sides), ()
    number = max(side.n_sentences for side in sides)
    full = [mask for mask in masks if len(mask) == number]
    out = np.any(full or [np.zeros(number, bool)], axis=0)
    rest = number - int(out.sum())
    if not rest:
        raise InputError("no text has gold; expected at least one", sides[0].text.name)
    # a shorter side should have only the remaining texts; the alignment checks it
    kept = []
    for side in sides:
        part = part_of(side, np.flatnonzero(~out)) if side.n_sentences == number else side
        text = part.text if part is side else replace(part.text, left_out=None)
        kept.append(replace(part, text=text))
    return kept, (f"{number - rest} of {number} texts are left out, as they were not accepted",)


def offsets(lengths: Any, kind: type = np.int64) -> NDArray[Any]:
    """Return where consecutive pieces of these lengths begin, and where the last one ends."""
    first: NDArray[Any] = np.zeros(len(lengths) + 1, dtype=kind)
    np.cumsum(lengths, dtype=kind, out=first[1:])
    return first


# --- Annotations of Python data: lists of tags, sets of spans, labels


def tagged_from_lists(name: str, sentences: Sequence[Sequence[str]]) -> Tagged:
    """Read tags from Python: one list of strings per sentence."""
    try:
        first = offsets(list(map(len, sentences)))
        codes, names = factorise_each(chain.from_iterable(sentences), int(first[-1]))
    except TypeError:
        raise InputError(f"{name}: expected a list of tags (str) per sentence") from None
    odd = [tag for tag in names if not isinstance(tag, str)]
    if odd:
        raise InputError(f"{name}: {odd[0]!r} is not a tag (str)")
    return Tagged(Text(name, first), codes, tuple(names))


def spans_from_sets(
    name: str,
    sentences: Sequence[Iterable[Sequence[Any]]],
    texts: Sequence[Sequence[str]] | None = None,
    lines: Sequence[int] | None = None,
) -> Spans:
    """Read spans from Python: (start, end, label), any number per sentence, in any order."""
    code: dict[str, int] = {}
    rows: list[tuple[int, int, int, int]] = []
    for number, spans in enumerate(sentences):
        length = None if texts is None else len(texts[number])
        for span in spans:
            try:
                start, end, label = span
                whole = int(start) == start and int(end) == end
            except (TypeError, ValueError, OverflowError):
                whole = False
            inside = whole and 0 <= start < end < 2**31 and (length is None or end <= length)
            if not inside or not isinstance(label, str):
                limit = "" if length is None else f" <= {length}"
                expected = f"expected start, end, label with 0 <= start < end{limit}"
                raise InputError(f"sentence {number + 1}: span {shown(span)}; {expected}", name)
            rows.append((number, int(start), int(end), code.setdefault(label, len(code))))
    table = np.array(sorted(set(rows)), dtype=np.int64).reshape(-1, 4)
    first = offsets([0] * len(sentences) if texts is None else list(map(len, texts)))
    row = None if lines is None else np.array(lines, dtype=np.int32) - 1
    text = Text(name, first, row=row, sentences=texts)
    doubled = len(rows) - len(table)
    notes = (f"{name}: {doubled} spans given twice, counted once",) if doubled else ()
    sentence, kind = table[:, 0].astype(np.int32), table[:, 3].astype(np.int32)
    return Spans(sentence, table[:, 1], table[:, 2], kind, tuple(code), text, notes=notes)


def labels_from_array(
    name: str, values: Any, *, continuous: bool = True, absent: str | None = None
) -> Labels:
    """Read one label per item; numbers are compared by value: 1, 1.0 and True are one label."""

    def error(text: str) -> InputError:
        return InputError(f"{name}: {text}")

    items = values_of(name, values)
    if not len(items):
        raise error("is empty; expected one label per item")
    codes, distinct = factorise_labels(items, error)
    if absent is not None:  # the empty text is no label in any case
        lost = [not isinstance(v, (str, bytes)) and is_missing(v) for v in distinct]
        distinct = [absent if gone else v for gone, v in zip(lost, distinct, strict=True)]
    if not continuous:
        refuse_continuous(distinct, error, len(items))
    return Labels(name, *named(codes, distinct, error))


def labels_from_lists(name: str, sentences: Sequence[Any]) -> Labels:
    """Read labels of tokens from Python: one list per sentence, sentences are the units."""
    text = Text(name, offsets(list(map(len, sentences))))
    labels = labels_from_array(name, list(chain.from_iterable(sentences)))
    return replace(labels, units=text.sentence, aligned=text)


def units_of(name: str, units: Any, size: int) -> Any:
    """Number the units of items in the order of their first occurrence."""
    items = values_of("units", units)
    if len(items) != size:
        raise InputError(f"units: {len(items)} of them; expected one per label of {name}, {size}")
    codes, _ = labels_of(items, lambda text: InputError(f"units: {text}"))
    return numbered(codes)


def numbered(codes: Any) -> Any:
    """Return codes numbered anew, in the order of their first occurrence."""
    _, first, group = np.unique(codes, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[group.reshape(-1)].astype(np.int32)
