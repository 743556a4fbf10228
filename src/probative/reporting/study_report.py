"""Simulations as documents: one row per condition."""

from __future__ import annotations

from typing import TYPE_CHECKING

from probative.reporting.document import Document, Table, number, payload

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from probative.results import Result

__all__ = ["study_document"]


def study_document(
    name: str,
    results: Sequence[Result],
    columns: Mapping[str, str],
    *,
    title: str,
    notes: Sequence[str],
    signature: str,
) -> Document:
    """Show a study.

    Parameters
    ----------
    name
        The name of the study.
    results
        What it found, one result per condition.
    columns
        The heads of the table, by the names of the results' fields.
    title, notes, signature
        The head of the table, sentences below it, and what was done.
    """
    records = [result.to_dict() for result in results]
    rows = tuple(
        tuple(
            number(record[key], 4) if isinstance(record[key], float) else _plain(record[key])
            for key in columns
        )
        for record in records
    )
    return Document(
        title=title,
        payload=payload(f"study {name}", signature, conditions=records),
        tables=(Table(tuple(columns.values()), rows, title=title),),
        records=tuple(records),
        notes=tuple(notes),
    )


def _plain(value: object) -> str:
    if value is None:  # undefined
        return "–"
    return f"{value:,}" if isinstance(value, int) else str(value)
