"""The check of a file as a document."""

from __future__ import annotations

from typing import TYPE_CHECKING

from probative.options import sign
from probative.reporting.document import Document, Table, payload

if TYPE_CHECKING:
    from probative.results import FileCheck

__all__ = ["check_document"]


def check_document(report: FileCheck, *, signature: str = "") -> Document:
    """Show what a file is, and what is wrong with it."""
    signed = signature or sign("check", report.input_format, report.task)
    facts = (
        ("file", report.path),
        ("format", report.input_format),
        *((("because", report.reason),) if report.reason else ()),
        ("task", report.task),
        *report.facts.items(),
    )
    tables = [
        Table(
            ("what", "value"),
            tuple((name, f"{v:,}" if isinstance(v, int) else str(v)) for name, v in facts),
            text_columns=2,
        )
    ]
    if report.labels:
        rows = tuple((label, f"{times:,}") for label, times in report.labels.items())
        tables.append(Table(("label", "number"), rows, title="Labels"))
    verdict = "Nothing is wrong with it."
    if report.problems:
        verdict = "What is wrong with it:"
    return Document(
        title=f"Check of {report.path}",
        payload=payload("check", signed, **report.to_dict()),
        tables=tuple(tables),
        records=tuple({"problem": problem} for problem in report.problems)
        or tuple({"label": label, "number": times} for label, times in report.labels.items()),
        notes=(verdict, *report.problems),
    )
