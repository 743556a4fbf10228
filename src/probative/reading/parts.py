"""Some sentences, or items, of what was read, as annotations of their own."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from probative.reading.annotations import Labels, LabelSets, RowIds, Spans, Tagged, Text

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Places = NDArray[np.intp]

__all__ = ["part_of", "text_part"]


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
        return replace(side, text=text_part(side.text, places), tags=side.tags[tokens])
    if isinstance(side, Spans):
        return _spans_of(side, places)
    if side.units is None:
        return _items_of(side, places, None)
    order = np.argsort(side.units, kind="stable")  # items of a unit need not stand together
    first = np.searchsorted(side.units[order], np.arange(int(side.units.max(initial=-1)) + 2))
    units = np.repeat(np.arange(len(places)), np.diff(first)[places]).astype(np.int32)
    items = order[_ranges(first, places)]
    return _items_of(side, items, units, places)


def text_part(text: Text, places: NDArray[Any]) -> Text:
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
        text=text_part(side.text, places),
    )


def _items_of(
    side: Labels | LabelSets, items: Places, units: Any, places: Places | None = None
) -> Labels | LabelSets:
    texts, aligned = side.texts, side.aligned
    if isinstance(aligned, RowIds):
        aligned = replace(aligned, codes=aligned.codes[items])
    elif isinstance(aligned, Text):
        aligned = None if places is None else text_part(aligned, places)
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
