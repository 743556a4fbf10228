"""Build annotations from Python data: lists of tag lists, sets of spans, labels, data frames."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from probative._validation import shown
from probative.errors import InputError
from probative.labels import (
    factorise,
    factorise_each,
    factorise_labels,
    items_of,
    labels_of,
    named,
    place_of_unhashable,
    refuse_continuous,
)
from probative.reading.annotations import TEXT_COLUMNS, Labels, Spans, Tagged, Text
from probative.reading.table_sides import Sides, is_read, numbered
from probative.reading.tables import Cells, Wanted, choose_columns, odd_cell

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from probative.reading.annotations import LabelSets
    from probative.reading.formats import Options


def _offsets(lengths: Iterable[int]) -> Any:
    return np.concatenate([[0], np.cumsum(np.fromiter(lengths, dtype=np.int64))])


def tagged_from_lists(name: str, sentences: Sequence[Sequence[str]]) -> Tagged:
    """Read tags from Python: one list of strings per sentence."""
    try:
        first = _offsets(map(len, sentences))
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
                place = f"sentence {number + 1}: " if lines is None else ""
                line = None if lines is None else lines[number]
                raise InputError(f"{place}span {shown(span)}; {expected}", name, line)
            rows.append((number, int(start), int(end), code.setdefault(label, len(code))))
    table = np.array(sorted(set(rows)), dtype=np.int64).reshape(-1, 4)
    size = (0 if texts is None else len(texts[i]) for i in range(len(sentences)))
    row = None if lines is None else np.array(lines, dtype=np.int32) - 1
    text = Text(name, _offsets(size), row=row, sentences=texts)
    doubled = len(rows) - len(table)
    notes = (f"{name}: {doubled} spans given twice, counted once",) if doubled else ()
    sentence, kind = table[:, 0].astype(np.int32), table[:, 3].astype(np.int32)
    return Spans(sentence, table[:, 1], table[:, 2], kind, tuple(code), text, notes)


def labels_from_array(
    name: str, values: Any, units: Any = None, *, continuous: bool = True
) -> Labels:
    """Read one label per item; numbers are compared by value: 1, 1.0 and True are one label."""

    def error(text: str) -> InputError:
        return InputError(f"{name}: {text}")

    items = items_of(name, values)
    if not len(items):
        raise error("is empty; expected one label per item")
    codes, distinct = factorise_labels(items, error)
    if not continuous:
        refuse_continuous(distinct, error, len(items))
    codes, names = named(codes, distinct, error)
    return Labels(name, codes, names, None if units is None else units_of(name, units, len(items)))


def labels_from_lists(name: str, sentences: Sequence[Any]) -> Labels:
    """Read labels of tokens from Python: one list per sentence, sentences are the units."""
    text = Text(name, _offsets(map(len, sentences)))
    labels = labels_from_array(name, list(chain.from_iterable(sentences)))
    return replace(labels, units=text.sentence, aligned=text)


def units_of(name: str, units: Any, size: int) -> Any:
    """Number the units of items in the order of their first occurrence."""
    items = items_of("units", units)
    if len(items) != size:
        raise InputError(f"units: {len(items)} of them; expected one per label of {name}, {size}")
    codes, _ = labels_of(items, lambda text: InputError(f"units: {text}"))
    return numbered(codes)


def sides_from_frame(
    name: str, frame: Any, columns: Sequence[Any], options: Options
) -> list[Labels | LabelSets | Tagged]:
    """Read gold and systems, or one of them, from a data frame that narwhals supports."""
    import narwhals as nw

    try:
        table = nw.from_native(frame, eager_only=True)
        place = {str(column): number for number, column in enumerate(table.columns)}
    except (TypeError, ValueError) as error:
        reason = " ".join(str(error).split())
        raise InputError(f"{name}: is no data frame that can be read: {reason:.200}") from None
    there = list(place)
    classes = options.probability_columns
    asked = [*columns[: 0 if len(columns) == 1 else 1], *classes] if classes else list(columns)
    ids = len(columns) == 1  # one side per frame; another frame may have other rows
    chosen = partial(is_read, options.key, ids)
    wanted = Wanted([str(column) for column in asked], options.unit, chosen, group=options.group)
    names, unit, read = choose_columns(
        wanted, there, lambda text: InputError(f"{name}: {text.split('; did you', 1)[0]}")
    )
    if not len(table):
        raise InputError(f"{name}: the table has no rows; expected at least one")
    contents = {}
    for column in read:  # a list holds the labels of one item
        values = table[:, place[column]].to_list()
        hashable = [tuple(v) if isinstance(v, (list, set, frozenset)) else v for v in values]
        try:
            contents[column] = factorise(hashable)
        except TypeError:
            row = place_of_unhashable(hashable)
            raise InputError(f"{name}: {odd_cell(column, row + 1, values[row])}") from None
    cells = Cells("frame", names, unit, contents, group=options.group)
    sides = Sides(cells, options, name, ids=ids).make()
    shown_text = next((table[:, place[text]] for text in TEXT_COLUMNS if text in there), None)
    if shown_text is None:
        return sides

    def texts() -> list[str]:
        return ["" if text is None else str(text) for text in shown_text.to_list()]

    return [side if isinstance(side, Tagged) else replace(side, texts=texts) for side in sides]
