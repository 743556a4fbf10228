"""Build the document of the demonstration, and the page of its comparison."""

from __future__ import annotations

from typing import TYPE_CHECKING

from probative.reporting.compare_report import compare_document
from probative.reporting.document import Document, Table, payload
from probative.reporting.score_report import scores_document
from probative.wording.numbers import number, points

if TYPE_CHECKING:
    from collections.abc import Sequence

    from probative.results import BayesTest, Comparisons, Scores

__all__ = ["demo_document"]


def demo_document(
    comparison: Comparisons,
    models: tuple[str, str],
    tests: Sequence[BayesTest],
    segmenters: Scores,
    *,
    signature: str,
) -> tuple[Document, Document]:
    """Build the document for the terminal, and that of the seven systems for the page."""
    page = compare_document(comparison)
    segmentation = scores_document(segmenters)
    scores, differences = page.tables[:2]
    words = _few_scores(segmentation.tables[0])
    tables = (
        _retitle(scores, "1. Seven systems of a shared task on 1,287 sentences (F1 in points)"),
        _retitle(differences, "Are the others better or worse than spinningbytes?"),
        _bayes_table(models, tests),
        _retitle(words, "3. Two word segmenters on three sentences: read the recall"),
    )
    document = Document(
        title="What probative does",
        payload=payload(
            "demo",
            signature,
            comparison=page.payload,
            bayes=[test.to_dict() for test in tests],
            segmentation=segmentation.payload,
        ),
        tables=tables,
        records=page.records,
        notes=(f"Verdict: {comparison.verdicts[0]}",),
    )
    return document, page


def _few_scores(table: Table) -> Table:
    """Keep only precision, recall and F1 of words."""
    columns = table.columns[:5]
    rows = tuple(row[:5] for row in table.rows if row[1] in ("recall", "precision", "f1"))
    return Table(columns, rows, table.title, table.notes, text_columns=2)


def _retitle(table: Table, title: str) -> Table:
    return Table(
        table.columns, table.rows, title, table.notes, table.text_columns, table.closing_words
    )


def _bayes_table(models: tuple[str, str], tests: Sequence[BayesTest]) -> Table:
    a, b = models
    rows = tuple(
        (
            test.metric,
            *(
                f"{points(low)} to {points(high)}"
                for low, high in (test.interval_a, test.interval_b)
            ),
            number(test.p_a_better),
            number(test.p_b_better),
        )
        for test in tests
    )
    return Table(
        ("score", a, b, f"P({a} better)", f"P({b} better)"),
        rows,
        "2. Two chunkers in 3×2 cross-validation: the Bayes test",
        ("Credible intervals in points.",),
    )
