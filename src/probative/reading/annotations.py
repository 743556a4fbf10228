"""What the readers hand over: flat arrays for a whole corpus, text only when asked for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, overload

import numpy as np

from probative.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from probative.reading.source import Source


if TYPE_CHECKING:
    Ints = NDArray[np.int32]


TEXT_COLUMNS = ("text", "sentence", "content")  # what the column of a table's texts is called


class Origin(NamedTuple):
    """What a file was recognised as: its format, and why."""

    form: str
    reason: str


@dataclass(frozen=True, eq=False)
class Text:
    """The sentences behind annotations: how long they are, what they say, where they stand.

    Attributes
    ----------
    name
        The file, or the parameter, for messages.
    first
        Where every sentence begins among the tokens of the corpus, and one number more: the end.
    row
        The line of every token in the file, from 0; None for Python sequences. For texts without
        tokens, the line of every sentence.
    document
        The number of every sentence's document; None where none are marked.
    document_lines
        How many ``-DOCSTART-`` lines there were.
    source, start, end
        The bytes of every token in the file; None where there are no tokens.
    sentences
        The sentences themselves, where they came as Python objects or JSON.
    block
        The bytes of every sentence in the file with its comments, as an array of (begin, end).
    names
        What the sentences are called, where they are documents with names.
    left_out
        Which sentences are not to be looked at; None where all are.
    parted_by
        In a table, what tells sentences apart.
    groups
        In a table, which group every sentence belongs to; None where that was not asked for.
    """

    name: str
    first: NDArray[Any]
    row: Ints | None = None
    document: Ints | None = None
    document_lines: int = 0
    source: Source | None = field(default=None, repr=False)
    start: Ints | None = None
    end: Ints | None = None
    sentences: Sequence[Sequence[str]] | None = field(default=None, repr=False)
    block: Ints | None = None
    names: tuple[str, ...] | None = field(default=None, repr=False)
    left_out: NDArray[np.bool_] | None = field(default=None, repr=False)
    parted_by: str | None = None
    groups: RowGroups | None = field(default=None, repr=False)

    @property
    def n_sentences(self) -> int:
        """How many sentences there are."""
        return len(self.first) - 1

    @property
    def n_tokens(self) -> int:
        """How many tokens there are."""
        return int(self.first[-1])

    @cached_property
    def lengths(self) -> NDArray[Any]:
        """How many tokens every sentence has."""
        return np.diff(self.first)

    @cached_property
    def sentence(self) -> Ints:
        """The sentence of every token."""
        return np.repeat(np.arange(self.n_sentences, dtype=np.int32), self.lengths)

    def words(self, sentence: int) -> Sequence[str]:
        """The tokens of a sentence (its characters, for text without tokens); () if unknown."""
        if self.sentences is not None:
            return self.sentences[sentence]
        if self.source is None or self.start is None or self.end is None:
            return ()
        tokens = range(int(self.first[sentence]), int(self.first[sentence + 1]))
        data = self.source.data
        return [data[self.start[i] : self.end[i]].decode("utf-8", "replace") for i in tokens]

    def tokens(self) -> tuple[Source, Ints, Ints]:
        """The file and the bytes of every token in it."""
        if self.source is None or self.start is None or self.end is None:
            raise ValueError("this text has no tokens in a file")
        return self.source, self.start, self.end

    @cached_property
    def token_bytes(self) -> NDArray[np.uint8]:
        """The bytes of all tokens, one after the other: an answer meets several systems."""
        from probative.reading.fields import bytes_of

        return bytes_of(*self.tokens())

    def raw(self, sentence: int) -> bytes:
        """The lines of a sentence as they stand in the file, comments included."""
        if self.source is None or self.block is None:
            raise ValueError("this text did not come from a file")
        begin, end = self.block[sentence].tolist()
        return self.source.data[begin:end]

    @cached_property
    def line(self) -> Ints | None:
        """The line of every token (or sentence, without tokens) in the file, from 1."""
        return None if self.row is None else self.row + np.int32(1)

    def line_of(self, token: int) -> int | None:
        """The line of one token (or sentence) in the file, from 1."""
        return None if self.row is None else int(self.row[min(token, len(self.row) - 1)]) + 1

    def error(self, message: str, token: int | None = None) -> InputError:
        """An error at a token, or at the whole text."""
        from probative.errors import InputError

        if token is None:
            return InputError(message, self.name)
        if self.row is not None and len(self.row):
            return InputError(message, self.name, self.line_of(token))
        sentence = int(np.searchsorted(self.first, token, side="right")) - 1
        place = f"sentence {sentence + 1}, token {token - int(self.first[sentence]) + 1}"
        return InputError(f"{place}: {message}", self.name)


@dataclass(frozen=True, eq=False)
class Tagged:
    """One tag per token.

    Attributes
    ----------
    text
        The sentences.
    tags, names
        One code per token, and the tag every code stands for.
    notes
        What was recognised.
    column
        The column of the file, where it holds several sides.
    origin
        The format of the file they came from, and why; None for what came from Python.
    """

    text: Text
    tags: Ints
    names: tuple[str, ...]
    notes: tuple[str, ...] = ()
    column: int | str | None = None
    origin: Origin | None = None

    @property
    def name(self) -> str:
        """What notes call these tags: the file, and the column where it holds several."""
        return self.text.name if self.column is None else f"{self.text.name}, column {self.column}"

    def as_labels(self) -> Labels:
        """The tags of tokens as labels of items, one unit per sentence."""
        names = tuple(sorted(set(self.names)))
        code = {name: i for i, name in enumerate(names)}
        codes = np.array([code[name] for name in self.names], dtype=np.int32)[self.tags]
        return Labels(
            self.text.name, codes, names, self.text.sentence, self.notes, aligned=self.text
        )


@dataclass(frozen=True, eq=False)
class Spans:
    """Labelled spans of a corpus, in the order of their sentences.

    Attributes
    ----------
    sentence, start, end, label
        One entry per span: its sentence, where it begins and ends (exclusive) in the tokens or
        characters of the sentence, and the code of its label.
    labels
        The label every code stands for.
    text
        The sentences.
    notes
        What was recognised, repaired or left out.
    scheme, repaired
        The tag scheme they were written in, and how many tags stood out of place; None and 0
        for spans that were no tags.
    shape, shapes
        For spans of several pieces, the code of what the pieces are and what every code stands
        for, the empty text for one piece; None where all spans are of one piece.
    origin
        The format of the file they came from, and why; None for what came from Python.
    """

    sentence: Ints
    start: NDArray[Any]
    end: NDArray[Any]
    label: Ints
    labels: tuple[str, ...]
    text: Text
    notes: tuple[str, ...] = ()
    scheme: str | None = None
    repaired: int = 0
    shape: Ints | None = None
    shapes: tuple[str, ...] = ()
    origin: Origin | None = None

    def __len__(self) -> int:
        return len(self.sentence)

    @property
    def n_sentences(self) -> int:
        """How many sentences the corpus has, with or without spans."""
        return self.text.n_sentences

    def of(self, sentence: int) -> list[tuple[int, int, str]]:
        """The spans of one sentence as (start, end, label)."""
        low, high = np.searchsorted(self.sentence, [sentence, sentence + 1]).tolist()
        rows = zip(
            self.start[low:high].tolist(),
            self.end[low:high].tolist(),
            self.label[low:high].tolist(),
            strict=True,
        )
        return [(start, end, self.labels[label]) for start, end, label in rows]


@dataclass(frozen=True, eq=False)
class Segmented:
    """Words of sentences, over the characters that are not spaces.

    Attributes
    ----------
    name
        The file or the parameter, for messages.
    characters
        The characters of the corpus without spaces, as UTF-8.
    byte_first, first
        Where every sentence begins among these bytes, and among the characters; and the end.
    sentence, start, end
        One entry per word: its sentence, and its characters in the sentence (end exclusive).
    line
        The line where every sentence begins in the file, from 1, or None.
    notes
        What was recognised.
    origin
        The format of the file they came from, and why; None for what came from Python.
    """

    name: str
    characters: NDArray[np.uint8] = field(repr=False)
    byte_first: NDArray[Any]
    first: NDArray[Any]
    sentence: Ints
    start: NDArray[Any]
    end: NDArray[Any]
    line: Ints | None = None
    document: Ints | None = None
    notes: tuple[str, ...] = ()
    source: Source | None = field(default=None, repr=False)
    block: Ints | None = None
    origin: Origin | None = None

    @property
    def n_sentences(self) -> int:
        """How many sentences there are."""
        return len(self.first) - 1

    @cached_property
    def lengths(self) -> NDArray[Any]:
        """How many characters every sentence has."""
        return np.diff(self.first)

    def sentence_text(self, sentence: int) -> str:
        """The characters of a sentence, without spaces."""
        begin, end = self.byte_first[sentence : sentence + 2].tolist()
        return self.characters[begin:end].tobytes().decode("utf-8", "replace")

    def words(self, sentence: int) -> list[str]:
        """The words of a sentence."""
        text = self.sentence_text(sentence)
        low, high = np.searchsorted(self.sentence, [sentence, sentence + 1]).tolist()
        places = zip(self.start[low:high].tolist(), self.end[low:high].tolist(), strict=True)
        return [text[start:end] for start, end in places]

    def spans(self) -> Spans:
        """The words as spans over characters, all with one label."""
        text = Text(
            self.name,
            self.first,
            row=None if self.line is None else self.line - 1,
            document=self.document,
            sentences=_Characters(self),
            source=self.source,
            block=self.block,
        )
        zeros = np.zeros(len(self.sentence), dtype=np.int32)
        return Spans(self.sentence, self.start, self.end, zeros, ("word",), text, self.notes)


class _Characters(Sequence[str]):
    """The sentences of a segmentation as strings, made when they are asked for."""

    def __init__(self, words: Segmented):
        self._words = words

    def __len__(self) -> int:
        return self._words.n_sentences

    def __getitem__(self, sentence: Any) -> Any:
        return self._words.sentence_text(sentence)


@dataclass(frozen=True, eq=False)
class RowIds:
    """What a table calls its rows: the column, one code per row, the text of every code."""

    column: str
    codes: Ints
    names: tuple[str, ...]


# what is made of rows that stand for several, where every row is needed by itself
_ROWS_ONE_BY_ONE = 20_000_000


@dataclass(frozen=True, eq=False)
class Repeats:
    """How many rows of a table each row stands for, where equal ones are kept once.

    Attributes
    ----------
    times
        How many equal rows of its unit each row stands for; None where it is one.
    number
        How many equal units each unit stands for. Without units, every row is one.
    """

    times: NDArray[np.int64] | None
    number: NDArray[np.int64]

    def of_rows(self, units: Ints | None) -> NDArray[np.int64]:
        """How many rows of the table each row stands for, in all units like its own."""
        number = self.number if units is None else self.number[units]
        return number if self.times is None else number * self.times

    def one_by_one(
        self, units: Ints | None, *, by_unit: bool
    ) -> tuple[NDArray[Any], NDArray[Any] | None]:
        """The rows behind rows that stand for several, and the units behind their units.

        Parameters
        ----------
        units
            The unit of each row.
        by_unit
            Whether units matter; without, there are none.
        """
        every = self.of_rows(units)
        total = int(every.sum())
        if total > _ROWS_ONE_BY_ONE:
            raise InputError(
                f"metric: of all classes it takes every row by itself, and {total:,} are too many; "
                f"expected at most {_ROWS_ONE_BY_ONE:,}, or accuracy"
            )
        rows = np.arange(len(every))
        if units is None or not by_unit:
            return np.repeat(rows, every), None
        first, copies = np.cumsum(self.number) - self.number, self.number[units]
        rows = np.repeat(rows, copies)
        which = np.arange(len(rows)) - np.repeat(np.cumsum(copies) - copies, copies)
        unit = first[units[rows]] + which
        if self.times is not None:
            times = self.times[rows]
            rows, unit = np.repeat(rows, times), np.repeat(unit, times)
        return rows, unit


@dataclass(frozen=True, eq=False)
class RowGroups:
    """Which group every row of a table belongs to: the column, one code per row, their names."""

    column: str
    codes: Ints
    names: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Labels:
    """One label per item.

    Attributes
    ----------
    name
        The file, column or parameter, for messages.
    codes, names
        One code per item, and the label every code stands for.
    units
        The unit (document, group) of every item as a code, or None.
    notes
        What was recognised.
    texts
        Reads what the items say from the table that they came from: one text per item, or none
        where the table has no column of texts. None where there is no table.
    aligned
        The sentences of which the items are tokens, or the rows of a table that names them: both
        sides must tell the same ones. None where items have nothing but their places.
    origin
        The format of the file they came from, and why; None for what came from Python.
    repeats
        How many rows each item stands for, where equal rows of a table are kept once.
    groups
        The group of every item, where that was asked for.
    """

    name: str
    codes: Ints
    names: tuple[str, ...]
    units: Ints | None = None
    notes: tuple[str, ...] = ()
    texts: Callable[[], Sequence[str]] | None = field(default=None, repr=False)
    aligned: Text | RowIds | None = field(default=None, repr=False)
    origin: Origin | None = None
    groups: RowGroups | None = field(default=None, repr=False)
    repeats: Repeats | None = field(default=None, repr=False)

    def __len__(self) -> int:
        return len(self.codes)


@dataclass(frozen=True, eq=False)
class LabelSets:
    """Any number of labels per item.

    Attributes
    ----------
    name, names, units, notes, texts, aligned, origin, groups
        As `Labels` has them.
    item, codes
        One entry per label of an item: which item (from 0), and the code of the label.
    n_items
        How many items there are, with or without labels.
    """

    name: str
    item: Ints
    codes: Ints
    names: tuple[str, ...]
    n_items: int
    units: Ints | None = None
    notes: tuple[str, ...] = ()
    texts: Callable[[], Sequence[str]] | None = field(default=None, repr=False)
    aligned: Text | RowIds | None = field(default=None, repr=False)
    origin: Origin | None = None
    groups: RowGroups | None = field(default=None, repr=False)

    def __len__(self) -> int:
        return self.n_items


# -----------------------------------------------------------------------------
# Some sentences, or items, of what was read, as annotations of their own.
# -----------------------------------------------------------------------------

if TYPE_CHECKING:
    Places = NDArray[np.intp]


@overload
def part_of(side: Tagged, places: NDArray[Any]) -> Tagged: ...


@overload
def part_of(side: Spans, places: NDArray[Any]) -> Spans: ...


@overload
def part_of(side: Labels, places: NDArray[Any]) -> Labels: ...


@overload
def part_of(side: LabelSets, places: NDArray[Any]) -> LabelSets: ...


def part_of(
    side: Tagged | Spans | Labels | LabelSets, places: NDArray[Any]
) -> Tagged | Spans | Labels | LabelSets:
    """The annotations of some sentences, or units, in this order.

    Parameters
    ----------
    side
        What was read.
    places
        The numbers of the sentences; of labels those of the units, or of the items where there
        are no units. Each at most once.
    """
    places = np.asarray(places, dtype=np.intp)
    if isinstance(side, Tagged):
        tokens = _ranges(side.text.first, places)
        return replace(side, text=_text_part(side.text, places), tags=side.tags[tokens])
    if isinstance(side, Spans):
        return _spans_of(side, places)
    if side.units is None:
        return _items_of(side, places, None)
    order = np.argsort(side.units, kind="stable")  # items of a unit need not stand together
    first = np.searchsorted(side.units[order], np.arange(int(side.units.max(initial=-1)) + 2))
    units = np.repeat(np.arange(len(places)), np.diff(first)[places]).astype(np.int32)
    items = order[_ranges(first, places)]
    return _items_of(side, items, units, places)


def _text_part(text: Text, places: NDArray[Any]) -> Text:
    """Some sentences of a text, in this order."""
    tokens = _ranges(text.first, places)
    by_sentence = text.row is not None and len(text.row) != text.n_tokens
    in_order: Any = text.row
    rows = None if in_order is None else in_order[places if by_sentence else tokens]
    sentences, names = text.sentences, text.names
    return replace(
        text,
        first=np.concatenate([[0], np.cumsum(text.lengths[places])]).astype(text.first.dtype),
        row=rows,
        document=None if text.document is None else text.document[places],
        start=None if text.start is None else text.start[tokens],
        end=None if text.end is None else text.end[tokens],
        sentences=None if sentences is None else [sentences[i] for i in places.tolist()],
        block=None if text.block is None else text.block[places],
        names=None if names is None else tuple(names[i] for i in places.tolist()),
        left_out=None if text.left_out is None else text.left_out[places],
        groups=None,
    )


def _ranges(first: NDArray[Any], places: Places) -> Places:
    """The numbers from `first[i]` up to `first[i + 1]` for every place i, one after the other."""
    lengths = np.diff(first)[places]
    begins = np.cumsum(lengths) - lengths
    return np.repeat(first[places] - begins, lengths).astype(np.intp) + np.arange(lengths.sum())


def _spans_of(side: Spans, places: Places) -> Spans:
    first = np.searchsorted(side.sentence, np.arange(side.n_sentences + 1))
    own = _ranges(first, places)
    return replace(
        side,
        sentence=np.repeat(np.arange(len(places)), np.diff(first)[places]).astype(np.int32),
        start=side.start[own],
        end=side.end[own],
        label=side.label[own],
        shape=None if side.shape is None else side.shape[own],
        text=_text_part(side.text, places),
    )


def _items_of(
    side: Labels | LabelSets, items: Places, units: Any, places: Places | None = None
) -> Labels | LabelSets:
    texts, aligned = side.texts, side.aligned
    if isinstance(aligned, RowIds):
        aligned = replace(aligned, codes=aligned.codes[items])
    elif isinstance(aligned, Text):
        aligned = None if places is None else _text_part(aligned, places)
    shared: dict[str, Any] = {
        "units": units,
        "texts": None if texts is None else lambda: [texts()[i] for i in items.tolist()],
        "aligned": aligned,
        "groups": None,
    }
    if isinstance(side, Labels):
        return replace(side, codes=side.codes[items], **shared)
    place = np.full(len(side), -1, dtype=np.int64)
    place[items] = np.arange(len(items))
    kept = np.flatnonzero(place[side.item] >= 0)
    kept = kept[np.argsort(place[side.item[kept]], kind="stable")]
    new = place[side.item[kept]].astype(np.int32)
    return replace(side, item=new, codes=side.codes[kept], n_items=len(items), **shared)
