"""Find lines and columns of a text file by array operations on its bytes.

No Python statement runs per token: a million tokens take a few passes over the bytes.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from probative.reading.source import Source

    Ints = NDArray[np.int32]
    Numbering = Callable[[Source, Ints, Ints], NDArray[np.uint64]]
    Fields = tuple[Source, Ints, Ints]

_TAB, _LF, _CR = 9, 10, 13
_BYTES_PER_BLOCK = 1 << 18  # blocks that fit into the cache
_ROWS_PER_BLOCK = 1 << 15
_BUCKETS = 1 << 16  # of the hash table
_LONG_FIELD = 256  # bytes above which Python's hash is used
_FEW_FIELDS = 64  # up to here a hash table is not worth its cost
# masks that keep the first n bytes of a number
_FIRST_BYTES = np.array([(1 << 8 * n) - 1 for n in range(9)], dtype=np.uint64)
_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)


@dataclass(frozen=True, eq=False)
class Table:
    """The lines of a file and the places of their fields."""

    source: Source
    begin: Ints  # the bytes of every line, without its line end
    end: Ints
    width: NDArray[Any]  # the number of fields of every line; 0 for an empty or white-space line
    tabs: bool  # single TABs separate fields, not any white space
    uniform: int  # of all lines with content, if known and white space separates fields; else 0
    _number: NDArray[Any]
    _start: Ints
    _end: Ints

    @cached_property
    def _first(self) -> Ints:
        """Return the index of the first field (or TAB) of every line."""
        return np.asarray(np.cumsum(self._number, dtype=np.int32) - self._number)

    def column(self, number: int, rows: Ints) -> tuple[Ints, Ints]:
        """Return the bytes of one field in the given lines; from 0, or from -1 backwards."""
        wide = self.uniform
        if wide and len(rows) * wide == len(self._start):  # all lines with content are requested
            return self._start[number % wide :: wide], self._end[number % wide :: wide]
        place = number if number >= 0 else self.width[rows] + number
        if len(rows) == 1:  # as in a look at the first line
            at = self._number[: rows[0]].sum(keepdims=True) + place
        else:
            at = self._first[rows] + place
        if not self.tabs:
            return self._start[at], self._end[at]
        # with TABs, a field begins with its line or after a TAB, and ends before one
        is_first = np.broadcast_to(np.equal(place, 0), rows.shape)
        is_last = np.equal(place, self.width[rows] - 1)
        last = max(len(self._start) - 1, 0)
        before = np.minimum(np.maximum(at - 1, 0), last)
        start = np.where(is_first, self.begin[rows], self._start[before] + 1)
        end = np.where(is_last, self.end[rows], self._start[np.minimum(at, last)])
        return start, end


def lines_of(source: Source) -> tuple[Ints, Ints]:
    """Return begin and end of every line, without line ends."""
    array = np.frombuffer(source.data, np.uint8)
    return _lines(source, np.flatnonzero(array == _LF).astype(np.int32))


def _lines(source: Source, breaks: Ints) -> tuple[Ints, Ints]:
    array = np.frombuffer(source.data, np.uint8)
    borders = np.empty(len(breaks) + 2, dtype=np.int32)  # one array for begins and ends
    borders[0], borders[1:-1], borders[-1] = -1, breaks, len(array)
    if len(breaks) and breaks[-1] == len(array) - 1:  # no line begins after the last line end
        borders = borders[:-1]
    end = borders[1:]
    begin = borders[:-1] + np.int32(1)
    if b"\r" in source.data:
        after_cr = (end > begin) & (array[np.maximum(end - 1, 0)] == _CR)
        end = end - after_cr.astype(np.int32)
    return begin, end


def split(source: Source) -> Table:
    """Find the lines of a file and the fields in them.

    TABs separate fields if every line with content has the same number of them (at least one), so
    that a field may hold spaces or be empty; otherwise any white space does. TABs at the end of
    lines with equal numbers of words separate nothing.
    """
    array = np.frombuffer(source.data, np.uint8)
    start, stop, breaks = _scan(array)
    begin, end = _lines(source, breaks)
    width, uniform = _widths(start, begin, end, len(array))
    if b"\t" in source.data:
        tab_at = np.flatnonzero(array == _TAB).astype(np.int32)
        n_tabs = _number_between(tab_at, begin, len(array))
        content = (width > 0) & ~_commented(array, begin)
        trailing = _all_trail(tab_at, n_tabs, stop, width, content)
        if not trailing and _separates(n_tabs, width, content):
            width = np.where(width > 0, n_tabs + 1, 0).astype(np.int32)
            return Table(source, begin, end, width, True, 0, n_tabs, tab_at, tab_at)
    return Table(source, begin, end, width, False, uniform, width, start, stop)


def _scan(array: NDArray[np.uint8]) -> tuple[Ints, Ints, Ints]:
    """Return where fields begin and end, and where lines end; by blocks that fit the cache."""
    edges = np.empty(len(array) + 1, dtype=np.int32)  # unwritten memory costs nothing
    breaks = np.empty(len(array), dtype=np.int32)
    n_edges = n_breaks = 0
    within = False  # True if the last block ended inside a field
    for place in range(0, len(array), _BYTES_PER_BLOCK):
        block = array[place : place + _BYTES_PER_BLOCK]
        inside = ~is_space(block)
        edge = np.empty(len(block), dtype=bool)
        np.not_equal(inside[1:], inside[:-1], out=edge[1:])
        edge[0] = inside[0] != within
        n_edges = _note(edge, place, edges, n_edges)
        n_breaks = _note(block == _LF, place, breaks, n_breaks)
        within = bool(inside[-1])
    if within:
        edges[n_edges] = len(array)
        n_edges += 1
    return edges[0:n_edges:2], edges[1:n_edges:2], breaks[:n_breaks]


def _note(mask: NDArray[np.bool_], place: int, places: Ints, number: int) -> int:
    """Append the places where a mask of a block is True; return the new number of places."""
    holds = np.flatnonzero(mask)
    total = number + len(holds)
    np.add(holds, place, out=places[number:total], casting="unsafe")
    return total


def _widths(start: Ints, begin: Ints, end: Ints, size: int) -> tuple[NDArray[Any], int]:
    """Return the number of fields of every line, and that of all lines with content, or 0."""
    filled = end > begin
    lines = int(np.count_nonzero(filled))
    wide = len(start) // lines if lines else 0
    if wide and wide * lines == len(start) and _are_in_order(start, wide, begin, end, filled):
        return filled * np.array(wide, dtype=np.int8 if wide < 128 else np.int32), wide
    return _number_between(start, begin, size), 0


def _are_in_order(
    start: Ints, wide: int, begin: Ints, end: Ints, filled: NDArray[np.bool_]
) -> bool:
    """Return True if each run of ``wide`` fields is in one line, by its first and last field."""
    opens, closes = start[::wide], start[wide - 1 :: wide]
    line = 0
    for row in range(0, len(begin), _ROWS_PER_BLOCK):  # a block at a time, for the cache
        block = slice(row, row + _ROWS_PER_BLOCK)
        from_, to = begin[block][filled[block]], end[block][filled[block]]
        some = slice(line, line + len(from_))
        if (opens[some] < from_).any() or (closes[some] >= to).any():
            return False
        line += len(from_)
    return True


def is_space(array: NDArray[np.uint8]) -> NDArray[np.bool_]:
    """Return True for every byte of ASCII white space."""
    space = (array - np.uint8(9)) < 5  # TAB to CR; smaller bytes wrap around to large numbers
    space |= array == 32
    return space


def words_of(inside: NDArray[np.bool_]) -> tuple[Ints, Ints]:
    """Return where the runs of True begin and end (exclusive)."""
    edge = np.empty(len(inside) + 1, dtype=bool)
    np.not_equal(inside[1:], inside[:-1], out=edge[1:-1])
    edge[0], edge[-1] = inside[0], inside[-1]
    both = np.flatnonzero(edge)
    return both[::2].astype(np.int32), both[1::2].astype(np.int32)


def _number_between(places: Ints, begin: Ints, size: int) -> Ints:
    """Return the number of sorted places in every line."""
    before = np.searchsorted(places, begin).astype(np.int32)
    after = np.append(before[1:], np.int32(np.searchsorted(places, size)))
    return np.asarray(after - before, dtype=np.int32)


def _commented(array: NDArray[np.uint8], begin: Ints) -> NDArray[np.bool_]:
    return np.asarray(array[np.minimum(begin, len(array) - 1)] == ord("#"))


def _separates(n_tabs: Ints, width: Ints, content: NDArray[np.bool_]) -> bool:
    """Return True if TABs separate the fields."""
    number = n_tabs[content]
    if not number.size or not number.any():
        return False
    if number.min() == number.max():
        return True
    fields = width[content]
    return bool(fields.min() != fields.max() and number[0] > 0)


def _all_trail(
    tab_at: Ints, n_tabs: Ints, stop: Ints, width: Ints, content: NDArray[np.bool_]
) -> bool:
    """Return True if lines have equal numbers of words and all TABs come after the last one."""
    words = width[content]
    if not len(words) or words[0] < 2 or (words != words[0]).any():
        return False
    tabbed = content & (n_tabs > 0)
    first = (np.cumsum(n_tabs) - n_tabs)[tabbed]
    last = np.cumsum(width)[tabbed] - 1
    return bool((stop[last] <= tab_at[first]).all())


def bytes_of(source: Source, start: Ints, end: Ints) -> NDArray[np.uint8]:
    """Return the bytes of all the given fields, concatenated."""
    array = np.frombuffer(source.data, np.uint8)
    if np.any(start[1:] < start[:-1]):  # the sentences are not in the order of the file
        lengths = np.maximum(end - start, 0).astype(np.int64)
        before = np.cumsum(lengths) - lengths
        return np.asarray(array[np.repeat(start - before, lengths) + np.arange(lengths.sum())])
    change = np.zeros(len(array) + 1, dtype=np.int8)
    filled = end > start
    change[start[filled]] += 1
    change[end[filled]] -= 1
    return np.asarray(array[np.cumsum(change[:-1], dtype=np.int8).view(bool)])


def hashes(source: Source, start: Ints, end: Ints) -> NDArray[np.uint64]:
    """Return a 64-bit number for every field, equal for equal fields."""
    return _numbers(source, start, end, _hashes)


def _numbers(source: Source, start: Ints, end: Ints, of: Numbering) -> NDArray[np.uint64]:
    value = np.empty(len(start), dtype=np.uint64)
    for row in range(0, len(start), _ROWS_PER_BLOCK):  # a block at a time, for the cache
        block = slice(row, row + _ROWS_PER_BLOCK)
        value[block] = of(source, start[block], end[block])
    return value


def _hashes(source: Source, start: Ints, end: Ints) -> NDArray[np.uint64]:
    length = np.asarray(end - start)
    value = _mixed(length.astype(np.uint64) * _MULTIPLIER ^ first_eight(source, start, length))
    longest = int(length.max(initial=0))
    for level in range(8, min(longest, _LONG_FIELD), 8):
        rows = np.flatnonzero(length > level)
        word = first_eight(source, start[rows] + np.int32(level), length[rows] - np.int32(level))
        value[rows] = _mixed(value[rows] ^ word)
    for row in np.flatnonzero(length > _LONG_FIELD):  # rare: at most one per 256 bytes of the file
        field = source.data[start[row] : end[row]]
        value[row] = np.uint64(hash(field) & 0xFFFFFFFFFFFFFFFF)
    return value


def first_eight(source: Source, start: Ints, length: Ints) -> NDArray[np.uint64]:
    """Return the first eight bytes of every field as one number, zeros after its end."""
    data = source.data if len(source.data) >= 8 else source.data.ljust(8, b"\0")
    last = len(data) - 8
    windows: NDArray[np.uint64] = np.ndarray((last + 1,), "<u8", data, strides=(1,))
    if int(start.max(initial=0)) <= last:
        word = windows[start.astype(np.intp)]
    else:  # near the end of the file, the window of eight bytes begins before the field
        inside = np.minimum(start, last)
        word = windows[inside] >> np.minimum((start - inside) * 8, 63).astype(np.uint64)
    word &= _FIRST_BYTES.take(length, mode="clip")
    return np.asarray(word)


def _mixed(value: NDArray[np.uint64]) -> NDArray[np.uint64]:
    value = (value ^ (value >> np.uint64(32))) * _MULTIPLIER
    return np.asarray(value ^ (value >> np.uint64(29)), dtype=np.uint64)


def equal(source: Source, start: Ints, end: Ints, other: Fields) -> NDArray[np.bool_]:
    """Return True for every field whose bytes equal those of its partner in ``other``."""
    theirs, begin, stop = other
    length = np.asarray(end - start)
    same = np.asarray(length == stop - begin)
    for level in range(0, min(int(length.max(initial=0)), _LONG_FIELD), 8):
        rows = np.flatnonzero(same & (length > level))
        step, rest = np.int32(level), length[rows] - np.int32(level)
        mine = first_eight(source, start[rows] + step, rest)
        same[rows] = mine == first_eight(theirs, begin[rows] + step, rest)
    for row in np.flatnonzero(same & (length > _LONG_FIELD)):
        same[row] = source.data[start[row] : end[row]] == theirs.data[begin[row] : stop[row]]
    return same


def distinct(source: Source, start: Ints, end: Ints) -> tuple[Ints, tuple[bytes, ...]]:
    """Return one code per field, and the distinct fields as bytes."""
    if len(start) <= _FEW_FIELDS:
        codes, first = _group_by_bytes(source, start, end)
        return codes, _values(source, start, end, first.tolist())
    if b"\0" not in source.data:  # then eight bytes, padded with zeros, distinguish fields
        try:
            codes, first = _group(source, start, end, _words)
            return codes, _values(source, start, end, first.tolist())
        except _TooLongError:
            pass
    codes, first = _group(source, start, end, _hashes)
    if not _holds_together(source, start, end, codes, first):
        codes, first = _group_by_bytes(source, start, end)
    return codes, _values(source, start, end, first.tolist())


class _TooLongError(Exception):
    """A field has more than eight bytes."""


def _words(source: Source, start: Ints, end: Ints) -> NDArray[np.uint64]:
    """Return the bytes of every field as one number; refuse fields of more than eight bytes."""
    length = end - start
    if int(length.max(initial=0)) > 8:
        raise _TooLongError
    return first_eight(source, start, length)


def _group(source: Source, start: Ints, end: Ints, of: Numbering) -> tuple[Ints, Ints]:
    """Number the fields by 64-bit numbers; return the codes and one field of each."""
    # Mostly there are few distinct values; a small hash table finds them without sorting.
    bucket = np.empty(len(start), dtype=np.uint16)
    owner = np.full(_BUCKETS, -1, dtype=np.int32)
    value_of = np.zeros(_BUCKETS, dtype=np.uint64)
    value_of[0] = 1  # the value 1 has another bucket, so the empty bucket 0 never matches
    for row in range(0, len(start), _ROWS_PER_BLOCK):
        block = slice(row, row + _ROWS_PER_BLOCK)
        value = of(source, start[block], end[block])
        here = (value * _MULTIPLIER >> np.uint64(48)).view(np.int64)
        unknown = np.flatnonzero(value_of[here] != value)
        if len(unknown):
            fresh = unknown[owner[here[unknown]] < 0]
            owner[here[fresh]] = fresh + row
            value_of[here[fresh]] = value[fresh]
            if (value_of[here[unknown]] != value[unknown]).any():
                return _group_by_sorting(_numbers(source, start, end, of))
        bucket[block] = here
    used = np.flatnonzero(owner >= 0)
    number = np.zeros(_BUCKETS, dtype=np.int32)
    number[used] = np.arange(len(used), dtype=np.int32)
    return number.take(bucket), owner[used]


def _group_by_sorting(value: NDArray[np.uint64]) -> tuple[Ints, Ints]:
    _, first, inverse = np.unique(value, return_index=True, return_inverse=True)
    return inverse.astype(np.int32), first.astype(np.int32)


def _holds_together(source: Source, start: Ints, end: Ints, codes: Ints, first: Ints) -> bool:
    """Return True if every field has the bytes of the first one with its code."""
    # fields of equal length up to eight bytes have equal hashes only if they are equal
    size = end[first] - start[first]
    any_long = int(size.max(initial=0)) > 8
    for row in range(0, len(start), _ROWS_PER_BLOCK):
        block = slice(row, row + _ROWS_PER_BLOCK)
        begin, stop, code = start[block], end[block], codes[block]
        length = stop - begin
        if not np.array_equal(length, size[code]):
            return False
        if any_long:
            rows = np.flatnonzero(length > 8)
            of = first[code[rows]]
            other = (source, start[of], end[of])
            if not equal(source, begin[rows], stop[rows], other).all():
                return False
    return True


def _group_by_bytes(source: Source, start: Ints, end: Ints) -> tuple[Ints, Ints]:
    """Number the fields one by one, without hashes; also for texts made to collide."""
    code: dict[bytes, int] = {}
    first: list[int] = []
    codes = np.empty(len(start), dtype=np.int32)
    for row, (i, j) in enumerate(zip(start.tolist(), end.tolist(), strict=True)):
        codes[row] = number = code.setdefault(source.data[i:j], len(code))
        if number == len(first):
            first.append(row)
    return codes, np.array(first, dtype=np.int32)


def _values(source: Source, start: Ints, end: Ints, rows: list[int]) -> tuple[bytes, ...]:
    return tuple(source.data[start[i] : end[i]] for i in rows)
