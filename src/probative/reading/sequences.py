"""The same annotations from Python: lists of tag lists, sets of spans, labels, data frames."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from probative.errors import InputError
from probative.reading.annotations import Labels, Spans, Tagged, Text

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
        raise InputError(f"{name}: expected a list of tags (str) a sentence") from None
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
    """Take a label an item from a list or an array.

    Parameters
    ----------
    name
        What messages call it.
    values
        The labels: strings, whole numbers or booleans, none missing.
    units
        The unit of every item, if items belong together.
    """
    array = np.asarray(values)
    if array.ndim != 1 or not array.size:
        raise InputError(f"{name}: shape {array.shape}; expected a label an item")
    if array.dtype.kind == "O":
        missing = [i for i, v in enumerate(array.tolist()) if v is None or v != v]
        if missing:
            raise InputError(f"{name}: item {missing[0] + 1} has no label")
        array = np.array([str(value) for value in array.tolist()])
    if array.dtype.kind == "f":
        if not np.isfinite(array).all() or np.any(array != np.round(array)):
            raise InputError(f"{name}: holds numbers that are no labels; expected whole numbers")
        array = array.astype(np.int64)
    if array.dtype.kind not in "USbiu":
        raise InputError(f"{name}: holds {array.dtype}; expected labels")
    names, codes = np.unique(array, return_inverse=True)
    shown = tuple(str(value) for value in names.tolist())
    group = None if units is None else _units(name, units, len(array))
    return Labels(name, codes.reshape(-1).astype(np.int32), shown, group)


def _units(name: str, units: Any, size: int) -> Any:
    array = np.asarray(units)
    if array.shape != (size,):
        raise InputError(f"units: shape {array.shape}; expected one a label of {name}, ({size},)")
    _, first, group = np.unique(array.astype(str), return_index=True, return_inverse=True)
    rank = np.empty(len(first), dtype=np.int32)
    rank[np.argsort(first)] = np.arange(len(first), dtype=np.int32)
    return rank[group.reshape(-1)]


def labels_from_frame(name: str, frame: Any, column: str, units: str | None = None) -> Labels:
    """Take a label an item from a column of any data frame that narwhals knows.

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

    table = nw.from_native(frame, eager_only=True)
    for wanted in [column] if units is None else [column, units]:
        if wanted not in table.columns:
            raise InputError(
                f"{name}: there is no column {wanted!r}; expected one of {', '.join(table.columns)}"
            )
    if table[column].null_count():
        raise InputError(f"{name}: column {column!r} has missing labels")
    group = None if units is None else table[units].to_numpy()
    return labels_from_array(column, table[column].to_numpy(), group)
