"""Find lines and columns of a text file by array operations on its bytes.

No Python statement runs per token: a million tokens take a few passes over the bytes.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from probative.labels import factorise_each

if TYPE_CHECKING:
    from probative.reading.source import Source

    Ints = NDArray[np.int32]
    Numbering = Callable[[Source, Ints, Ints], NDArray[np.uint64]]
    Fields = tuple[Source, Ints, Ints]
    # begins and ends of the fields at an index: a block, or some of them
    Places = Callable[[Any], tuple[Ints, Ints]]

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

    # places inside a line are counted from its begin, in the smallest type that holds the longest
    # line: they take a byte each in most files, where places in the file would take four
    source: Source
    begin: Ints  # the first byte of every line, and its number of bytes without the line end
    length: NDArray[Any]
    width: NDArray[Any]  # the number of fields of every line; 0 for an empty or white-space line
    tabs: bool  # True if single TABs separate fields, False if any white space does
    # number of fields of all lines with content, if known and white space separates them; else 0
    uniform: int
    _number: NDArray[Any]  # of fields (or TABs) in every line
    _start: NDArray[Any]  # of every field (or TAB) in its line, and its end
    _end: NDArray[Any]

    @cached_property
    def _first(self) -> Ints:
        """Return the index of the first field (or TAB) of every line."""
        return np.asarray(np.cumsum(self._number, dtype=np.int32) - self._number, dtype=np.int32)

    def line(self, row: int) -> bytes:
        """Return the bytes of a line (from 0), without its line end."""
        return self.source.data[self.begin[row] : self.begin[row] + self.length[row]]

    def end(self, rows: Ints) -> Ints:
        """Return the ends of the given lines."""
        return np.asarray(self.begin[rows] + self.length[rows], dtype=np.int32)

    def column(self, number: int, rows: Ints) -> tuple[Ints, Ints]:
        """Return the bytes of one field in the given lines; from 0, or from -1 backwards."""
        return self._places(number, rows)(slice(None))

    def distinct(self, number: int, rows: Ints) -> tuple[Ints, tuple[bytes, ...]]:
        """Return one code per line for a field, in a small type, and the distinct fields."""
        return _distinct(self.source, len(rows), self._places(number, rows))

    def _places(self, number: int, rows: Ints) -> Places:
        """Return a function that gives the bytes of one field in some of the given lines."""
        wide = self.uniform
        if wide and len(rows) * wide == len(self._start):  # all lines with content are requested
            start, end = self._start[number % wide :: wide], self._end[number % wide :: wide]

            def of_uniform(at: Any) -> tuple[Ints, Ints]:
                begin = self.begin[rows[at]]
                stop = begin + end[at]
                begin += start[at]
                return begin, stop

            return of_uniform
        return lambda at: self._column(number, rows[at])

    def _column(self, number: int, rows: Ints) -> tuple[Ints, Ints]:
        width = self.width[rows].astype(np.int32)
        place = number if number >= 0 else width + number
        begin = self.begin[rows]
        if len(rows) == 1:  # as in a look at the first line
            at = self._number[: rows[0]].sum(dtype=np.int32, keepdims=True) + place
        else:
            at = self._first[rows] + place
        if not self.tabs:
            return begin + self._start[at], begin + self._end[at]
        # with TABs, a field begins with its line or after a TAB, and ends before one
        is_first, is_last = np.equal(place, 0), np.equal(place, width - 1)
        last = max(len(self._start) - 1, 0)
        before = self._start[np.minimum(np.maximum(at - 1, 0), last)].astype(np.int32)
        start = begin + np.where(is_first, 0, before + 1).astype(np.int32)
        end = begin + np.where(is_last, self.length[rows], self._start[np.minimum(at, last)])
        return start, end


def lines_of(source: Source) -> tuple[Ints, Ints]:
    """Return begin and end of every line, without line ends."""
    array = np.frombuffer(source.data, np.uint8)
    breaks = np.empty(len(array), dtype=np.int32)  # unwritten memory costs nothing
    number = 0
    for place in range(0, len(array), _BYTES_PER_BLOCK):  # a block at a time, for the cache
        holds = np.flatnonzero(array[place : place + _BYTES_PER_BLOCK] == _LF)
        np.add(holds, place, out=breaks[number : number + len(holds)], casting="unsafe")
        number += len(holds)
    breaks = breaks[:number]
    borders = np.empty(number + 2, dtype=np.int32)  # one array for begins and ends
    borders[0], borders[1:-1], borders[-1] = -1, breaks, len(array)
    if number and breaks[-1] == len(array) - 1:  # no line begins after the last line end
        borders = borders[:-1]
    end = borders[1:]
    begin = borders[:-1] + np.int32(1)
    if b"\r" in source.data:
        after_cr = (end > begin) & (array[np.maximum(end - 1, 0)] == _CR)
        end = end - after_cr.astype(np.int32)
    return begin, end


def split(source: Source) -> Table:
    """Find the lines of a file and the fields in them, between TABs or any white space."""
    # TABs separate fields if every line with content has the same number of them (at least one),
    # so that a field may hold spaces or be empty; but not if they only trail equally many words
    array = np.frombuffer(source.data, np.uint8)
    begin, end = lines_of(source)
    length: NDArray[Any] = end - begin
    del end
    longest = int(length.max(initial=0))
    fitting = (kind for kind in (np.uint8, np.uint16) if longest <= np.iinfo(kind).max)
    length = length.astype(next(fitting, np.int32))
    width, start, stop, uniform = _scan(array, begin, length)
    if b"\t" in source.data:
        tab_at = np.flatnonzero(array == _TAB).astype(np.int32)
        n_tabs = _number_between(tab_at, begin, len(array))
        places = (tab_at - np.repeat(begin, n_tabs)).astype(length.dtype)
        content = (width > 0) & (array[np.minimum(begin, len(array) - 1)] != ord("#"))
        trailing = _all_trail(places, n_tabs, stop, width, content)
        if not trailing and _separates(n_tabs, width, content):
            width = np.where(width > 0, n_tabs + 1, 0).astype(np.int32)
            return Table(source, begin, length, width, True, 0, n_tabs, places, places)
    return Table(source, begin, length, width, False, uniform, width, start, stop)


def _scan(
    array: NDArray[np.uint8], begin: Ints, length: NDArray[Any]
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any], int]:
    """Return the number of fields of every line, their begins and ends, and the common number."""
    # it works on about `_BYTES_PER_BLOCK` bytes at a time, or on one line that is longer, so that
    # temporary arrays stay in the cache
    width = np.zeros(len(begin), dtype=length.dtype)  # a line has more bytes than fields
    edges = np.empty(len(array) + 1, dtype=length.dtype)  # unwritten memory costs nothing
    total = 0
    wide = -1  # not known yet
    cuts = np.searchsorted(begin, np.arange(0, len(array), _BYTES_PER_BLOCK))
    for row, next_row in pairwise(np.unique(np.append(cuts, len(begin))).tolist()):
        rows = slice(row, next_row)
        from_ = int(begin[row])
        to = int(begin[next_row]) if next_row < len(begin) else len(array)
        inside = ~is_space(array[from_:to])
        at = edges_of(inside)  # begins and ends of fields in turns
        filled = length[rows] > 0
        opening = begin[rows] - np.int32(from_)
        lines = int(np.count_nonzero(filled))
        if not lines:
            continue
        some, rest = divmod(len(at), 2 * lines)
        by_line = at.reshape(lines, -1) if some and not rest else None
        first, last = opening[filled], (opening + length[rows])[filled]
        # equally many fields in each line: then the first and the last of each run are inside it
        if by_line is not None and (by_line[:, 0] >= first).all() & (by_line[:, -1] <= last).all():
            width[rows] = some * filled
            # in the type of the lengths: what wraps around comes back
            at = at.astype(length.dtype) - np.repeat(first.astype(length.dtype), 2 * some)
        else:
            some = 0
            number = _number_between(at[::2], opening, len(inside))
            width[rows] = number
            at -= np.repeat(opening, 2 * number)
        wide = some if wide in (-1, some) else 0
        edges[total : total + len(at)] = at
        total += len(at)
    return width, edges[0:total:2], edges[1:total:2], max(wide, 0)


def is_space(array: NDArray[np.uint8]) -> NDArray[np.bool_]:
    """Return True for every byte of ASCII white space."""
    space = (array - np.uint8(9)) < 5  # TAB to CR; smaller bytes wrap around to large numbers
    space |= array == 32
    return space


def edges_of(inside: NDArray[np.bool_]) -> NDArray[np.intp]:
    """Return where the runs of True begin and end (exclusive), in turns."""
    edge = np.empty(len(inside) + 1, dtype=bool)
    np.not_equal(inside[1:], inside[:-1], out=edge[1:-1])
    edge[0], edge[-1] = inside[0], inside[-1]
    return np.flatnonzero(edge)


def _number_between(places: NDArray[Any], begin: Ints, size: int) -> Ints:
    """Return the number of sorted places in every line."""
    before = np.searchsorted(places, begin).astype(np.int32)
    after = np.append(before[1:], np.int32(np.searchsorted(places, size)))
    return np.asarray(after - before, dtype=np.int32)


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


def covered(source: Source, start: Ints, end: Ints) -> NDArray[np.bool_]:
    """Return True for every byte that belongs to one of the given fields."""
    change = np.zeros(len(source.data) + 1, dtype=np.int8)
    filled = end > start
    change[start[filled]] += 1
    change[end[filled]] -= 1
    return np.cumsum(change[:-1], dtype=np.int8).view(bool)


def _hashes(source: Source, start: Ints, end: Ints) -> NDArray[np.uint64]:
    """Return a 64-bit number for every field, equal for equal fields."""
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
    codes, values = _distinct(source, len(start), lambda at: (start[at], end[at]))
    return codes.astype(np.int32, copy=False), values


def _distinct(source: Source, size: int, places: Places) -> tuple[Ints, tuple[bytes, ...]]:
    """Return the same for fields whose places are asked for a block at a time; small codes."""
    if size <= _FEW_FIELDS:
        return _group_by_bytes(source, places)
    if b"\0" not in source.data:  # then eight bytes, padded with zeros, distinguish fields
        with suppress(OverflowError):
            codes, first = _group(source, size, places, _words)
            return codes, values_at(source, *places(first))
    codes, first = _group(source, size, places, _hashes)
    if not _holds_together(source, places, codes, first):
        return _group_by_bytes(source, places)
    return codes, values_at(source, *places(first))


def _words(source: Source, start: Ints, end: Ints) -> NDArray[np.uint64]:
    """Return the bytes of every field as one number; refuse fields of more than eight bytes."""
    length = end - start
    if int(length.max(initial=0)) > 8:
        raise OverflowError
    return first_eight(source, start, length)


def _group(source: Source, size: int, places: Places, of: Numbering) -> tuple[Ints, Ints]:
    """Number the fields by 64-bit numbers; return the codes and one field of each."""
    # Mostly there are few distinct values; a small hash table finds them without sorting.
    bucket = np.empty(size, dtype=np.uint16)
    owner = np.full(_BUCKETS, -1, dtype=np.int32)
    value_of = np.zeros(_BUCKETS, dtype=np.uint64)
    value_of[0] = 1  # the value 1 has another bucket, so the empty bucket 0 never matches
    for row in range(0, size, _ROWS_PER_BLOCK):
        block = slice(row, row + _ROWS_PER_BLOCK)
        value = of(source, *places(block))
        here = (value * _MULTIPLIER >> np.uint64(48)).view(np.int64)
        unknown = np.flatnonzero(value_of[here] != value)
        if len(unknown):
            fresh = unknown[owner[here[unknown]] < 0]
            owner[here[fresh]] = fresh + row
            value_of[here[fresh]] = value[fresh]
            if (value_of[here[unknown]] != value[unknown]).any():
                blocks = (slice(i, i + _ROWS_PER_BLOCK) for i in range(0, size, _ROWS_PER_BLOCK))
                every = np.concatenate([of(source, *places(own)) for own in blocks])
                _, first, inverse = np.unique(every, return_index=True, return_inverse=True)
                return inverse.astype(np.int32), first.astype(np.int32)
        bucket[block] = here
    used = np.flatnonzero(owner >= 0)
    number = np.zeros(_BUCKETS, dtype=np.int16 if len(used) < 2**15 else np.int32)
    number[used] = np.arange(len(used))
    codes = np.empty(size, dtype=number.dtype)
    for row in range(0, size, _ROWS_PER_BLOCK):
        codes[row : row + _ROWS_PER_BLOCK] = number[bucket[row : row + _ROWS_PER_BLOCK]]
    return codes, owner[used]


def _holds_together(source: Source, places: Places, codes: Ints, first: Ints) -> bool:
    """Return True if every field has the bytes of the first one with its code."""
    # fields of equal length up to eight bytes have equal hashes only if they are equal
    opens, closes = places(first)
    size = closes - opens
    any_long = int(size.max(initial=0)) > 8
    for row in range(0, len(codes), _ROWS_PER_BLOCK):
        block = slice(row, row + _ROWS_PER_BLOCK)
        begin, stop = places(block)
        code = codes[block]
        length = stop - begin
        if not np.array_equal(length, size[code]):
            return False
        if any_long:
            rows = np.flatnonzero(length > 8)
            other = (source, opens[code[rows]], closes[code[rows]])
            if not equal(source, begin[rows], stop[rows], other).all():
                return False
    return True


def _group_by_bytes(source: Source, places: Places) -> tuple[Ints, tuple[bytes, ...]]:
    """Number the fields one by one, without hashes; also for texts made to collide."""
    fields = values_at(source, *places(slice(None)))
    codes, values = factorise_each(fields, len(fields))
    return codes, tuple(values)


def values_at(source: Source, start: Ints, end: Ints) -> tuple[bytes, ...]:
    """Return the bytes of fields."""
    return tuple(source.data[i:j] for i, j in zip(start.tolist(), end.tolist(), strict=True))
