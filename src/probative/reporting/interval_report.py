"""Build the document of intervals."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from probative.reporting.document import Document, Table, Tracks, payload
from probative.wording.numbers import number, points

if TYPE_CHECKING:
    from collections.abc import Sequence

    from probative.counts import Counts
    from probative.results import Interval

__all__ = ["intervals_document"]

_LIMITS = ("estimate", "low", "high")


def intervals_document(
    counts: Counts, intervals: Sequence[Interval], *, signature: str
) -> Document:
    """Build the document of the intervals of one table of counts, or of many."""
    if counts.shape:
        rows: list[dict[str, Any]] = [
            {
                "counts": table.to_dict(),
                "intervals": [_entry(interval[i]) for interval in intervals],
            }
            for i, table in enumerate(counts)
        ]
        content: dict[str, Any] = {"rows": rows}
        records = [
            {"row": i, **row["counts"], **entry}
            for i, row in enumerate(rows, 1)
            for entry in row["intervals"]
        ]
    else:
        entries = [_entry(interval) for interval in intervals]
        content = {"counts": counts.to_dict(), "intervals": entries}
        records = [{**counts.to_dict(), **entry} for entry in entries]
    return Document(
        title=f"{_title(counts)}: {100 * intervals[0].level:g} % intervals",
        payload=payload("interval", signature, **content),
        tables=(_table(records, many=bool(counts.shape), level=intervals[0].level),),
        records=tuple(records),
    )


def _entry(interval: Interval) -> dict[str, Any]:
    return interval.to_dict()


def _title(counts: Counts) -> str:
    if counts.shape:
        return f"{len(counts)} tables of counts"
    return ", ".join(f"{name} {value:,}" for name, value in counts.to_dict().items())


def _table(records: Sequence[dict[str, Any]], *, many: bool, level: float) -> Table:
    has_notes = any(record.get("note") for record in records)
    columns = (
        *(("row",) if many else ()),
        "metric",
        "method",
        "score",
        "low",
        "high",
        *(("note",) if has_notes else ()),
    )
    rows = tuple(
        (
            *((str(record["row"]),) if many else ()),
            record["metric"],
            record["method"],
            *(points(record[key]) for key in _LIMITS),
            *((record.get("note") or "",) if has_notes else ()),
        )
        for record in records
    )
    return Table(
        columns,
        rows,
        title=f"Scores in points with {number(100 * level, 6).rstrip('0').rstrip('.')} % intervals",
        text_columns=3 if many else 2,
        closing_words=has_notes,
        tracks=Tracks.of([_defined(record) for record in records]),
    )


def _defined(record: dict[str, Any]) -> tuple[float, float, float]:
    estimate, low, high = (math.nan if record[key] is None else record[key] for key in _LIMITS)
    return estimate, low, high
