"""Lines and columns of a text file by array operations on its bytes.

Nothing here runs a Python statement a token: a million tokens are a handful of passes over the
file's bytes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from probative.reading.source import Source

    Ints = NDArray[np.int32]

__all__ = ["Table", "bytes_of", "distinct", "first_eight", "hashes", "lines_of", "split"]

_SPACE = np.zeros(256, dtype=bool)
_SPACE[[9, 10, 11, 12, 13, 32]] = True
_TAB, _LF, _CR = 9, 10, 13
_BUCKETS = 1 << 16
_LONG = 256
_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)


@dataclass(frozen=True, eq=False)
class Table:
    """The lines of a file and where their fields are.

    Attributes
    ----------
    source
        The file.
    begin, end
        The bytes of every line, without its line end.
    width
        How many fields every line has; 0 for an empty or white-space line.
    tabs
        Whether fields are separated by single TABs, rather than by any white space.
    """

    source: Source
    begin: Ints
    end: Ints
    width: Ints
    tabs: bool
    _first: Ints
    _start: Ints
    _end: Ints

    def column(self, number: int, rows: Ints) -> tuple[Ints, Ints]:
        """The bytes of one field in the given lines; from 0, or from -1 backwards."""
        place = number if number >= 0 else self.width[rows] + number
        at = self._first[rows] + place
        if not self.tabs:
            return self._start[at], self._end[at]
        # between TABs: a field begins at its line's begin or after a TAB, and ends before one
        is_first = np.broadcast_to(np.equal(place, 0), rows.shape)
        is_last = np.equal(place, self.width[rows] - 1)
        last = max(len(self._start) - 1, 0)
        before = np.minimum(np.maximum(at - 1, 0), last)
        start = np.where(is_first, self.begin[rows], self._start[before] + 1)
        end = np.where(is_last, self.end[rows], self._start[np.minimum(at, last)])
        return start, end


def lines_of(array: NDArray[np.uint8]) -> tuple[Ints, Ints]:
    """Where every line begins and ends (line ends not counted)."""
    breaks = np.flatnonzero(array == _LF).astype(np.int32)
    begin = np.concatenate([np.zeros(1, np.int32), breaks + np.int32(1)])
    end = np.concatenate([breaks, np.array([len(array)], np.int32)])
    if begin[-1] == len(array) and len(begin) > 1:  # a final line end begins no line
        begin, end = begin[:-1], end[:-1]
    after_cr = (end > begin) & (array[np.maximum(end - 1, 0)] == _CR)
    return begin, end - after_cr.astype(np.int32)


def split(source: Source) -> Table:
    """Find the lines of a file and the fields in them.

    Fields are separated by TABs where every line with content has the same number (at least one)
    of them, so that a field may hold spaces or nothing; otherwise by any white space.
    """
    array = np.frombuffer(source.data, np.uint8)
    begin, end = lines_of(array)
    space = _SPACE[array]
    start = _edges(~space, space)
    width = _number_between(start, begin, len(array))
    content = (width > 0) & ~_commented(array, begin)
    tab_at = np.flatnonzero(array == _TAB).astype(np.int32)
    n_tabs = _number_between(tab_at, begin, len(array))
    if _separates(n_tabs, width, content):
        first = np.cumsum(n_tabs, dtype=np.int32) - n_tabs
        width = np.where(width > 0, n_tabs + 1, 0).astype(np.int32)
        return Table(source, begin, end, width, True, first, tab_at, tab_at)
    stop = _edges(space, ~space, at_end=bool(len(array)) and not space[-1])
    first = np.cumsum(width, dtype=np.int32) - width
    return Table(source, begin, end, width, False, first, start, stop)


def _edges(
    now: NDArray[np.bool_], before: NDArray[np.bool_], *, at_end: bool | None = None
) -> Ints:
    """Where `now` holds and `before` held one byte earlier; the file's edges count as space."""
    edge = np.empty(len(now) + (at_end is not None), dtype=bool)
    np.logical_and(now[1:], before[:-1], out=edge[1 : len(now)])
    edge[0] = now[0] and at_end is None
    if at_end is not None:
        edge[-1] = at_end
    return np.flatnonzero(edge).astype(np.int32)


def _number_between(places: Ints, begin: Ints, size: int) -> Ints:
    """How many of the sorted places lie in every line."""
    before = np.searchsorted(places, begin).astype(np.int32)
    after = np.append(before[1:], np.int32(np.searchsorted(places, size)))
    return np.asarray(after - before, dtype=np.int32)


def _commented(array: NDArray[np.uint8], begin: Ints) -> NDArray[np.bool_]:
    return np.asarray(array[np.minimum(begin, len(array) - 1)] == ord("#"))


def _separates(n_tabs: Ints, width: Ints, content: NDArray[np.bool_]) -> bool:
    """Whether TABs are what separates the fields."""
    number = n_tabs[content]
    if not number.size or not number.any():
        return False
    if number.min() == number.max():
        return True
    fields = width[content]
    return bool(fields.min() != fields.max() and number[0] > 0)


def bytes_of(source: Source, start: Ints, end: Ints) -> NDArray[np.uint8]:
    """The bytes of all the given fields, one after the other."""
    array = np.frombuffer(source.data, np.uint8)
    change = np.zeros(len(array) + 1, dtype=np.int8)
    filled = end > start
    change[start[filled]] += 1
    change[end[filled]] -= 1
    return np.asarray(array[np.cumsum(change[:-1], dtype=np.int8).view(bool)])


def hashes(source: Source, start: Ints, end: Ints) -> NDArray[np.uint64]:
    """A 64-bit number for every field, equal for equal fields."""
    length = np.asarray(end - start)
    value = length.astype(np.uint64) * _MULTIPLIER
    longest = int(length.max(initial=0))
    rows: Any = slice(None)
    for level in range(0, min(longest, _LONG), 8):
        if level:
            rows = np.flatnonzero(length > level)
        word = first_eight(source, start[rows] + np.int32(level), length[rows] - np.int32(level))
        value[rows] = _mixed(value[rows] ^ word)
    for row in np.flatnonzero(length > _LONG):  # at most one in 256 bytes of the file
        field = source.data[start[row] : end[row]]
        value[row] = np.uint64(hash(field) & 0xFFFFFFFFFFFFFFFF)
    return value


def first_eight(source: Source, start: Ints, length: Ints) -> NDArray[np.uint64]:
    """The first eight bytes of every field as one number, zeros after its end."""
    size = len(source.data)
    if size < 8:
        padded = np.frombuffer(source.data.ljust(8, b"\0"), "<u8")
        shift = (start * 8).astype(np.uint64)
        word = padded[np.zeros(len(start), np.intp)] >> shift
    else:
        windows: NDArray[np.uint64] = np.ndarray(
            (size - 7,), dtype="<u8", buffer=source.data, strides=(1,)
        )
        inside = np.minimum(start, size - 8)
        word = windows[inside] >> ((start - inside) * 8).astype(np.uint64)
    unused = ((8 - np.minimum(length, 8)) * 8).astype(np.uint64)
    # shifting by 64 is undefined: an empty field has no bytes to keep
    kept = (word << np.minimum(unused, np.uint64(63))) >> np.minimum(unused, np.uint64(63))
    return np.where(length > 0, kept, np.uint64(0))


def _mixed(value: NDArray[np.uint64]) -> NDArray[np.uint64]:
    value = (value ^ (value >> np.uint64(32))) * _MULTIPLIER
    return np.asarray(value ^ (value >> np.uint64(29)), dtype=np.uint64)


def distinct(source: Source, start: Ints, end: Ints) -> tuple[Ints, tuple[bytes, ...]]:
    """Number the distinct fields.

    Returns
    -------
    codes, values
        A number a field, and the bytes that every number stands for.
    """
    value = hashes(source, start, end)
    # Few distinct values are the rule: a small hash table without a sort finds them.
    bucket = (value >> np.uint64(48)).astype(np.intp)
    owner = np.full(_BUCKETS, -1, dtype=np.int32)
    owner[bucket] = np.arange(len(value), dtype=np.int32)
    chosen = owner[bucket]
    if np.array_equal(value[chosen], value):
        used = np.flatnonzero(owner >= 0)
        number = np.empty(_BUCKETS, dtype=np.int32)
        number[used] = np.arange(len(used), dtype=np.int32)
        codes, example = number[bucket], owner[used].tolist()
    else:
        _, first, inverse = np.unique(value, return_index=True, return_inverse=True)
        codes, example = inverse.astype(np.int32), first.tolist()
    values = tuple(source.data[start[i] : end[i]] for i in example)
    return codes, values
