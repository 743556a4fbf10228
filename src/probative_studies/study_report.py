"""Simulations as documents: one row per condition."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from probative.reporting.document import Document, Table, payload
from probative.wording.numbers import number

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from probative.results import Result


def study_document(
    name: str,
    results: Sequence[Result],
    columns: Mapping[str, str],
    *,
    title: str,
    notes: Sequence[str],
    signature: str,
) -> Document:
    """Show a study."""
    records = [result.to_dict() for result in results]
    return Document(
        title=title,
        payload=payload(f"study {name}", signature, conditions=records),
        tables=(_table(records, columns, title),),
        records=tuple(records),
        notes=tuple(notes),
    )


def studies_document(
    name: str,
    results: Mapping[str, Sequence[Result]],
    columns: Mapping[str, Mapping[str, str]],
    titles: Mapping[str, str],
    *,
    notes: Sequence[str],
    signature: str,
) -> Document:
    """Show a study of several questions, each with a table of its own."""
    records = {asked: [one.to_dict() for one in found] for asked, found in results.items()}
    return Document(
        title=f"Study of {name}",
        payload=payload(f"study {name}", signature, questions=records),
        tables=tuple(_table(own, columns[asked], titles[asked]) for asked, own in records.items()),
        records=tuple({"question": asked, **one} for asked, own in records.items() for one in own),
        notes=tuple(notes),
    )


def _table(records: Sequence[Mapping[str, Any]], columns: Mapping[str, str], title: str) -> Table:
    rows = tuple(
        tuple(
            number(record[key], 4) if isinstance(record[key], float) else _plain(record[key])
            for key in columns
        )
        for record in records
    )
    return Table(tuple(columns.values()), rows, title=title)


def _plain(value: object) -> str:
    if value is None:  # undefined
        return "–"
    return f"{value:,}" if isinstance(value, int) else str(value)
