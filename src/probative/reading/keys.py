"""Check the ids by which rows of several tables are joined."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from probative.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["NOTHING", "ON_MISSING", "Mismatch", "called", "settle"]

ON_MISSING = ("error", "drop", "negative")
NOTHING = ""  # label of a row that a system lacks; no real label is empty
_MOST_EXAMPLES = 3  # ids listed in a message


@dataclass(frozen=True)
class Mismatch:
    """Errors in the ids of a table: for each kind, the number of ids and some examples.

    Attributes
    ----------
    name
        The table.
    missing
        Ids of gold that it does not have.
    extra
        Ids that gold does not have.
    doubled
        Ids that occur more than once.
    without
        Number of rows without an id.
    """

    name: str
    missing: tuple[int, tuple[str, ...]] = (0, ())
    extra: tuple[int, tuple[str, ...]] = (0, ())
    doubled: tuple[int, tuple[str, ...]] = (0, ())
    without: int = 0


def called(key: Sequence[str]) -> str:
    """Return the columns of a key for a message."""
    return ", ".join(map(repr, key))


def settle(
    tables: Sequence[Mismatch], key: Sequence[str], on_missing: str, n_answer: int, n_common: int
) -> list[str]:
    """Refuse ids that do not match, or return notes on them, as ``on_missing`` asks.

    The gold table comes first. ``n_answer`` is the number of ids of gold, ``n_common`` that of ids
    in all tables.
    """
    answer, *systems = tables
    for table in tables:
        if table.without:
            raise InputError(
                f"{table.without:,} row{'s have' if table.without > 1 else ' has'} no "
                f"{called(key)}; expected an id in every row",
                table.name,
            )
        if table.doubled[0]:
            raise InputError(
                f"{_ids(*table.doubled)} of {called(key)} more than once; expected every id once",
                table.name,
            )
    if not n_common and on_missing != "error":
        raise InputError(
            f"key: the tables have no {called(key)} in common; expected the same ids in all"
        )
    notes = [f"rows are joined by {called(key)}, compared as text"] if systems else []
    for table in systems:
        missing, extra = table.missing, table.extra
        parts = []
        if missing[0]:
            parts.append(f"{_ids(*missing)} of {n_answer:,} in {answer.name} missing")
        if extra[0]:
            parts.append(f"{_ids(*extra)} not in {answer.name}")
        if not parts:
            continue
        what = f"by {called(key)}: " + ", ".join(parts)
        if on_missing == "error" or (on_missing == "negative" and extra[0]):
            ways = (
                "on_missing='drop' leaves them out"
                if extra[0]
                else "on_missing='drop' leaves them out, on_missing='negative' counts them as no"
            )
            raise InputError(f"{what}; expected the same ids ({ways})", table.name)
        done = "left out of all systems" if on_missing == "drop" else "they count as no"
        notes.append(f"{table.name}: {what}; {done}")
    return notes


def _ids(number: int, examples: Sequence[str]) -> str:
    named = ", ".join(repr(text[:40]) for text in examples[:_MOST_EXAMPLES])
    more = ", …" if number > len(examples[:_MOST_EXAMPLES]) else ""
    return f"{number:,} id{'s' if number > 1 else ''} ({named}{more})"
