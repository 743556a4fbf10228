"""The same annotations from Python: lists of tag lists, sets of spans, labels, data frames."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from probative._labels import items_of, labels_of
from probative._validation import shown
from probative.errors import InputError
from probative.reading.annotations import TEXT_COLUMNS, Labels, Spans, Tagged, Text

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

__all__ = ["labels_from_array", "labels_from_frame", "spans_from_sets", "tagged_from_lists"]


def _offsets(lengths: Iterable[int]) -> Any:
    return np.concatenate([[0], np.cumsum(np.fromiter(lengths, dtype=np.int64))])


def tagged_from_lists(name: str, sentences: Sequence[Sequence[str]]) -> Tagged:
    """Take tags from Python, a list of strings a sentence.

    Parameters
    ----------
    name
        What messages call it.
    sentences
        The tags.
    """
    code: dict[str, int] = {}
    try:
        tags = [code.setdefault(tag, len(code)) for sentence in sentences for tag in sentence]
        first = _offsets(len(sentence) for sentence in sentences)
    except TypeError:
        raise InputError(f"{name}: expected a list of tags (str) per sentence") from None
    for tag in code:
        if not isinstance(tag, str):
            raise InputError(f"{name}: {tag!r} is not a tag (str)")
    return Tagged(Text(name, first), np.array(tags, dtype=np.int32), tuple(code))


def spans_from_sets(
    name: str,
    sentences: Sequence[Iterable[Sequence[Any]]],
    texts: Sequence[Sequence[str]] | None = None,
    lines: Sequence[int] | None = None,
) -> Spans:
    """Take spans from Python: (start, end, label) in any number and order a sentence.

    Parameters
    ----------
    name
        What messages call it.
    sentences
        The spans. Equal ones count once; they may overlap and nest.
    texts
        The tokens, or the string, of every sentence: spans must lie inside.
    lines
        The line of every sentence in a file.
    """
    code: dict[str, int] = {}
    rows: list[tuple[int, int, int, int]] = []
    for number, spans in enumerate(sentences):
        length = None if texts is None else len(texts[number])
        for span in spans:
            start, end, label = _span(name, number, span, length, lines)
            rows.append((number, start, end, code.setdefault(label, len(code))))
    table = np.array(sorted(set(rows)), dtype=np.int64).reshape(-1, 4)
    size = (0 if texts is None else len(texts[i]) for i in range(len(sentences)))
    row = None if lines is None else np.array(lines, dtype=np.int32) - 1
    text = Text(name, _offsets(size), row=row, sentences=texts)
    doubled = len(rows) - len(table)
    notes = (f"{name}: {doubled} spans given twice, counted once",) if doubled else ()
    return Spans(
        table[:, 0].astype(np.int32),
        table[:, 1],
        table[:, 2],
        table[:, 3].astype(np.int32),
        tuple(code),
        text,
        notes,
    )


def _span(
    name: str, number: int, span: Any, length: int | None, lines: Sequence[int] | None
) -> tuple[int, int, str]:
    try:
        start, end, label = span
        whole = int(start) == start and int(end) == end
    except (TypeError, ValueError, OverflowError):
        whole, start, end, label = False, 0, 0, ""
    inside = whole and 0 <= start < end < 2**31 and (length is None or end <= length)
    if inside and isinstance(label, str):
        return int(start), int(end), label
    shown = repr(span)
    shown = shown if len(shown) <= 60 else shown[:60] + "…"
    limit = "" if length is None else f" <= {length}"
    what = f"span {shown}; expected start, end, label with 0 <= start < end{limit}"
    if lines is None:
        raise InputError(f"sentence {number + 1}: {what}", name)
    raise InputError(what, name, lines[number])


def labels_from_array(name: str, values: Any, units: Any = None) -> Labels:
    """Take one label per item from a list, an array or a column of any kind.

    Parameters
    ----------
    name
        What messages call it.
    values
        The labels: text, numbers or truth values, none missing. Labels are compared by their
        text, and numbers by value: 1, 1.0 and True are one label.
    units
        The unit of every item, if items belong together.
    """
    items = items_of(name, values)
    if not items:
        raise InputError(f"{name}: is empty; expected one label per item")
    codes, names = labels_of(items, lambda text: InputError(f"{name}: {text}"))
    return Labels(name, codes, names, None if units is None else _units(name, units, len(items)))


def _units(name: str, units: Any, size: int) -> Any:
    items = items_of("units", units)
    if len(items) != size:
        raise InputError(f"units: {len(items)} of them; expected one per label of {name}, {size}")
    codes, _ = labels_of(items, lambda text: InputError(f"units: {text}"))
    _, first, group = np.unique(codes, return_index=True, return_inverse=True)
    rank = np.empty(len(first), dtype=np.int32)
    rank[np.argsort(first)] = np.arange(len(first), dtype=np.int32)
    return rank[group.reshape(-1)]


def labels_from_frame(name: str, frame: Any, column: str, units: str | None = None) -> Labels:
    """Take one label per item from a column of any data frame that narwhals knows.

    Parameters
    ----------
    name
        What messages call the frame.
    frame
        A pandas, polars or pyarrow table, or another one that narwhals knows.
    column, units
        The columns of the labels and of the units.
    """
    import narwhals as nw

    try:
        table = nw.from_native(frame, eager_only=True)
        there = list(table.columns)
    except (TypeError, ValueError) as error:
        reason = " ".join(str(error).split())
        raise InputError(f"{name}: is no data frame that can be read: {reason:.200}") from None
    for wanted in [column] if units is None else [column, units]:
        if wanted not in there:
            listed = ", ".join(map(str, there[:20])) + (", …" if len(there) > 20 else "")
            raise InputError(
                f"{name}: there is no column {shown(wanted)}; expected one of {listed}"
            )
    items = table[column].to_list()
    if not items:
        raise InputError(f"{name}: the table has no rows; expected at least one")
    codes, names = labels_of(
        items, lambda text: InputError(f"{name}: column {column!r} {text}"), "row"
    )
    group = None if units is None else _units(column, table[units].to_list(), len(items))
    said = next((table[text] for text in TEXT_COLUMNS if text in there), None)
    texts = None if said is None else lambda: ["" if t is None else str(t) for t in said.to_list()]
    return Labels(column, codes, names, group, texts=texts)
