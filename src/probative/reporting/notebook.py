"""Show any result in a notebook, as a data frame and as a document."""

from __future__ import annotations

import re
from html import escape
from typing import TYPE_CHECKING, Any

from probative._validation import one_of
from probative.errors import InputError
from probative.options import sign
from probative.reporting.document import Document, Strong, Table, payload
from probative.reporting.escape import plain

if TYPE_CHECKING:
    from collections.abc import Sequence

    from probative.results import Result


_BACKENDS = ("pandas", "polars", "pyarrow")


def document_html(document: Document) -> str:
    """Render the tables and sentences of a document as HTML."""
    parts = [f"<p>{_cell(words)}</p>" for words in document.leading]
    for table in document.tables:
        head = "".join(f"<th>{_cell(column)}</th>" for column in table.columns)
        rows = "".join(
            "<tr>" + "".join(f"<td>{_cell(cell)}</td>" for cell in row) + "</tr>"
            for row in table.rows
        )
        parts.append(
            f"<table><caption>{_cell(table.title)}</caption><thead><tr>{head}</tr></thead>"
            f"<tbody>{rows}</tbody></table>"
        )
        parts += [f"<p>{_cell(note)}</p>" for note in table.notes]
    below = (*document.notes, *document.verdict)
    return "".join([*parts, *(f"<p>{_cell(note)}</p>" for note in below)])


def to_frame(records: Sequence[dict[str, Any]], backend: str = "pandas") -> Any:
    """Return records as a data frame of pandas, Polars or PyArrow."""
    one_of("backend", backend, _BACKENDS)
    columns = list(dict.fromkeys(key for record in records for key in record))
    data = {column: [record.get(column) for record in records] for column in columns}
    try:
        if backend == "pandas":
            import pandas as pd

            return pd.DataFrame(data)
        if backend == "polars":
            import polars as pl

            return pl.DataFrame(data, strict=False)
        import pyarrow as pa

        return pa.table(data)
    except ImportError:
        raise InputError(f"backend: {backend} is not installed here") from None


def _cell(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.4g}"
    safe = "" if value is None else escape(plain(str(value)))
    return f"<strong>{safe}</strong>" if isinstance(value, Strong) else safe


# --- Any result as a document


def result_document(result: Result) -> Document:
    """Build the document of a result that has no layout of its own."""
    records = result.records()
    columns = list(dict.fromkeys(key for record in records for key in record))
    # words first, then numbers, the note last
    columns.sort(key=lambda column: (column == "note", not _holds_words(records, column)))
    words = [column for column in columns if column != "note" and _holds_words(records, column)]
    title = _spaced(type(result).__name__)
    table = Table(
        tuple(column.replace("_", " ") for column in columns),
        tuple(
            tuple(_result_report_cell(record.get(column)) for column in columns)
            for record in records
        ),
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
        notes=(signed,),
        verdict=(str(result),),
    )


def _holds_words(records: list[dict[str, Any]], column: str) -> bool:
    return any(isinstance(record.get(column), str) for record in records)


def _result_report_cell(value: Any) -> str:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return "–" if value is None else str(value)
    return f"{value:.4g}".replace("-", "−") if isinstance(value, float) else f"{value:,}"


def _spaced(name: str) -> str:
    """Split a class name such as ``RandomizationTest`` into words."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name).capitalize()
