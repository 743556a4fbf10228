"""Any result as a document: its records as a table, and what it says of itself."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from probative.options import sign
from probative.reporting.document import Document, Table, payload

if TYPE_CHECKING:
    from probative.results import Result

__all__ = ["result_document"]


def result_document(result: Result) -> Document:
    """Show a result that has no layout of its own."""
    records = result.records()
    columns = list(dict.fromkeys(key for record in records for key in record))
    # words first, numbers after them; a note is read last
    columns.sort(key=lambda column: (column == "note", not _holds_words(records, column)))
    words = [column for column in columns if column != "note" and _holds_words(records, column)]
    title = _spaced(type(result).__name__)
    table = Table(
        tuple(column.replace("_", " ") for column in columns),
        tuple(tuple(_cell(record.get(column)) for column in columns) for record in records),
        title=title,
        text_columns=len(words),
        closing_words="note" in columns,
    )
    signed = getattr(result, "signature", "") or sign(title.lower().replace(" ", "-"))
    return Document(
        title=title,
        payload=payload(title.lower(), signed, **result.to_dict()),
        tables=(table,),
        records=tuple(records),
        notes=(str(result), signed),
    )


def _holds_words(records: list[dict[str, Any]], column: str) -> bool:
    return any(isinstance(record.get(column), str) for record in records)


def _cell(value: Any) -> str:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return "–" if value is None else str(value)
    return f"{value:.4g}".replace("-", "−") if isinstance(value, float) else f"{value:,}"


def _spaced(name: str) -> str:
    """``RandomizationTest`` as words."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name).capitalize()
