"""How results show themselves in a notebook, and as data frames."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any

from probative._validation import one_of
from probative.errors import InputError
from probative.reporting.document import Strong
from probative.reporting.escape import plain

if TYPE_CHECKING:
    from collections.abc import Sequence

    from probative.reporting.document import Document

__all__ = ["BACKENDS", "document_html", "to_frame"]

BACKENDS = ("pandas", "polars", "pyarrow")


def document_html(document: Document) -> str:
    """The tables of a document and the sentences below them."""
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
        parts += [f"<p>{_cell(note)}</p>" for note in table.all_notes]
    return "".join([*parts, *(f"<p>{_cell(note)}</p>" for note in document.notes)])


def to_frame(records: Sequence[dict[str, Any]], backend: str = "pandas") -> Any:
    """Records as a data frame of pandas, Polars or PyArrow."""
    one_of("backend", backend, BACKENDS)
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
