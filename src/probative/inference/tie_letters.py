"""Tie letters: which systems are not told apart, as letters beside their names."""

from __future__ import annotations

from string import ascii_letters
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

__all__ = ["tie_letters"]

_MOST = 5  # groups per system, beyond which they would be more than anybody reads


def tie_letters(decided: NDArray[np.bool_]) -> list[str]:
    """A compact letter display: two systems share a letter if and only if they are not decided.

    Parameters
    ----------
    decided
        A symmetric table: whether each pair of systems is decided. The letters follow its order,
        so that the first system has an ``a``.

    References
    ----------
    H.-P. Piepho, "An algorithm for a letter-based representation of all-pairwise comparisons",
    2004.

    Examples
    --------
    >>> import numpy as np
    >>> from probative.inference.tie_letters import tie_letters
    >>> decided = np.zeros((4, 4), dtype=bool)
    >>> decided[0, 2] = decided[2, 0] = decided[0, 3] = decided[3, 0] = True
    >>> tie_letters(decided)
    ['a', 'ab', 'b', 'b']
    """
    k = len(decided)
    apart = [sum(1 << j for j in np.flatnonzero(row).tolist()) for row in decided]
    columns = _insert_and_absorb(apart)
    if columns is None:
        columns = _cover(apart)
    columns = _swept(columns, k)
    # the letter whose best systems come first is the first letter
    columns.sort(key=lambda column: tuple(_members(column)))
    letters = [""] * k
    for place, column in enumerate(columns):
        for system in _members(column):
            letters[system] += _letter(place)
    return letters


def _insert_and_absorb(apart: Sequence[int]) -> list[int] | None:
    """The groups of systems of which no two are decided, as large as can be, as bits of numbers.

    All systems begin in one group. A decided pair splits each group that holds both (insert); what
    is then part of another group is dropped (absorb). None where there would be too many groups.
    """
    k = len(apart)
    columns = [(1 << k) - 1]
    for i in range(k):
        for j in _members(apart[i] >> (i + 1) << (i + 1)):
            pair = 1 << i | 1 << j
            both = [column for column in columns if column & pair == pair]
            if not both:
                continue
            kept = [column for column in columns if column & pair != pair]
            halves = {column ^ 1 << one for column in both for one in (i, j)}
            columns = kept + _largest(halves, kept)
            if len(columns) > _MOST * k:
                return None
    return columns


def _largest(new: Iterable[int], kept: Sequence[int]) -> list[int]:
    """Those of the new groups that are no part of another group."""
    largest: list[int] = []
    for column in sorted(new, key=int.bit_count, reverse=True):
        if not any(column & other == column for other in (*kept, *largest)):
            largest.append(column)
    return largest


def _cover(apart: Sequence[int]) -> list[int]:
    """Groups that cover every undecided pair, each made as large as it will go."""
    k = len(apart)
    everybody = (1 << k) - 1
    columns = []
    for i in range(k):
        missing = everybody & ~apart[i] & -(1 << i)  # itself, and the undecided ones below it
        while missing:
            group = 1 << i
            free = everybody & ~apart[i]
            for j in (*_members(missing), *_members(everybody & ~missing)):
                if free >> j & 1:
                    group |= 1 << j
                    free &= ~apart[j]
            columns.append(group)
            missing &= ~group
    return columns


def _swept(columns: list[int], k: int) -> list[int]:
    """Without the groups whose pairs all share another one."""
    members = {column: list(_members(column)) for column in columns}
    together = np.zeros((k, k), dtype=np.int64)  # how many groups hold both
    for own in members.values():
        together[np.ix_(own, own)] += 1
    kept = []
    for column in sorted(members, key=int.bit_count):
        pairs = np.ix_(members[column], members[column])
        if np.all(together[pairs] > 1):
            together[pairs] -= 1
        else:
            kept.append(column)
    return kept


def _members(column: int) -> Iterable[int]:
    """The places of the bits of a number."""
    while column:
        low = column & -column
        yield low.bit_length() - 1
        column ^= low


def _letter(place: int) -> str:
    """A to Z, then a' and so on."""
    turns, letter = divmod(place, len(ascii_letters))
    return ascii_letters[letter] + "'" * turns
