"""The check of a file as a document."""

from __future__ import annotations

from typing import TYPE_CHECKING

from probative.options import sign
from probative.reporting.document import Document, Table, payload

if TYPE_CHECKING:
    from probative.results import FileCheck

__all__ = ["check_document"]


def check_document(found: FileCheck, *, signature: str = "") -> Document:
    """Show what a file is, and what is wrong with it."""
    signed = signature or sign("check", found.input_format, found.task)
    facts = (
        ("file", found.path),
        ("format", found.input_format),
        ("task", found.task),
        *found.facts.items(),
    )
    tables = [
        Table(
            ("what", "value"),
            tuple((name, f"{v:,}" if isinstance(v, int) else str(v)) for name, v in facts),
            text_columns=2,
        )
    ]
    if found.labels:
        rows = tuple((label, f"{times:,}") for label, times in found.labels.items())
        tables.append(Table(("label", "number"), rows, title="Labels"))
    verdict = "Nothing is wrong with it."
    if found.problems:
        verdict = "What is wrong with it:"
    return Document(
        title=f"Check of {found.path}",
        payload=payload("check", signed, **found.to_dict()),
        tables=tuple(tables),
        records=tuple({"problem": problem} for problem in found.problems)
        or tuple({"label": label, "number": times} for label, times in found.labels.items()),
        notes=(verdict, *found.problems),
    )
