"""Cross-validated comparisons and splits as documents."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from probative.metrics import TABLE, score
from probative.reporting.bayes_report import tests_table
from probative.reporting.document import Document, Table, payload
from probative.wording.bayes_verdict import model_remarks, model_verdicts
from probative.wording.numbers import number, points

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from matplotlib.figure import Figure

    from probative.reporting.document import Drawing
    from probative.results import ModelComparison

__all__ = [
    "balance_table",
    "crossval_document",
    "crossval_drawings",
    "crossval_figure",
    "folds_table",
    "split_document",
]


def crossval_document(
    comparison: ModelComparison,
    *,
    command: str = "crossval",
    drawings: Sequence[Drawing] = (),
) -> Document:
    """Show which of two models is better, and the folds on which that rests."""
    models = comparison.a, comparison.b
    verdicts = model_verdicts(comparison)
    folds = [fold.to_dict() for fold in comparison.folds]
    content: dict[str, Any] = {
        "tests": [test.to_dict() for test in comparison.tests],
        "adjusted_tests": [test.to_dict() for test in comparison.adjusted_tests],
        "verdicts": verdicts,
        "folds": folds,
        "seed": comparison.seed,
    }
    content |= {
        "effective_a": comparison.effective_a.to_dict(),
        "effective_b": comparison.effective_b.to_dict(),
    }
    judged = tests_table(comparison.adjusted_tests, models, verdicts=True)
    tables = [
        replace(judged, title=f"{judged.title}, adjusted for the training variance"),
        tests_table(comparison.tests, models, verdicts=False),
        folds_table(comparison),
    ]
    if comparison.balance is not None:
        content["balance"] = comparison.balance.to_dict()
        tables.append(balance_table(comparison.balance.to_dict()))
    return Document(
        title=f"Is {comparison.b} better than {comparison.a}, whatever the training set?",
        payload=payload(command, comparison.signature, **content),
        tables=tuple(tables),
        records=tuple(
            {
                "a": comparison.a,
                "b": comparison.b,
                **test.to_dict(),
                **comparison.adjusted_outcome(test),
            }
            for test in comparison.tests
        ),
        leading=tuple(verdicts),
        notes=(*model_remarks(comparison), comparison.signature),
        drawings=tuple(drawings),
    )


def crossval_figure(comparison: ModelComparison, plot: str = "densities") -> Figure:
    """Draw the posteriors of both models' scores ("densities"), or of their "difference"."""
    from probative.reporting.posterior_figures import density_figure, difference_figure

    if plot == "difference":
        return difference_figure(comparison.adjusted_tests, models=(comparison.a, comparison.b))
    return density_figure(
        comparison.scores, title="Published posteriors, without training variance"
    )


def crossval_drawings(comparison: ModelComparison) -> list[Drawing]:
    """Draw the figures of the page: posteriors of the scores, and those behind the verdict."""
    from probative.reporting.posterior_drawings import model_drawings

    models = comparison.a, comparison.b
    return model_drawings(comparison.scores, comparison.adjusted_tests, models, adjusted=True)


def folds_table(comparison: ModelComparison) -> Table:
    """The counts of every fold and model."""
    names = list(comparison.folds[0].counts.to_dict())
    # what depends on beta cannot be told from the counts of a fold alone
    tested = dict.fromkeys(test.metric for test in comparison.tests)
    metrics = [metric for metric in tested if not TABLE[metric].depends_on_beta]
    timed = any(fold.seconds is not None for fold in comparison.folds)
    rows = [
        (
            str(fold.fold),
            fold.model,
            f"{fold.train:,}",
            f"{fold.validation:,}",
            *(f"{value:,}" for value in fold.counts.to_dict().values()),
            *(points(score(fold.counts, metric)) for metric in metrics),
            *((number(fold.seconds, 1),) if timed else ()),
        )
        for fold in comparison.folds
    ]
    columns = ("fold", "model", "trained on", "judged on", *names)
    return Table(
        (*columns, *metrics, *(("seconds",) if timed else ())),
        tuple(rows),
        title="Folds",
        text_columns=2,
    )


def balance_table(balance: Mapping[str, Any]) -> Table:
    """How equal the halves are, next to random splits."""
    sizes = balance["block_sizes"]
    size = f"{min(sizes)}" if min(sizes) == max(sizes) else f"{min(sizes)} to {max(sizes)}"
    note = (
        f"Halves differ in size by {balance['size_difference']} at most. Deviation: of a half from "
        f"half of the total, the largest; random: the same on average over random splits."
    )
    columns = (
        "strata",
        "totals",
        "deviation",
        "random_deviation",
        "chi_square",
        "random_chi_square",
    )
    rows = [
        (
            name,
            f"{total:,.0f}",
            *(number(100 * share, 3) for share in row[:2]),
            *map(number, row[2:]),
        )
        for name, total, *row in zip(*(balance[column] for column in columns), strict=True)
    ]
    return Table(
        ("stratum", "total", "deviation %", "random %", "chi-square", "random"),
        tuple(rows),
        title=f"Balance: {len(sizes)} blocks of {size}",
        notes=(note,),
    )


def split_document(manifest: Mapping[str, Any], folder: str, *, signature: str) -> Document:
    """Show which folds were written, and how equal their halves are."""
    folds = manifest["folds"]
    parts = ("train", "validation")
    rows = [
        (
            str(fold["fold"]),
            *(fold[part]["file"] for part in parts),
            *(f"{fold[part]['sentences']:,}" for part in parts),
        )
        for fold in folds
    ]
    return Document(
        title=f"Folds of {manifest['corpus']}",
        payload=payload("split", signature, folder=folder, manifest=dict(manifest)),
        tables=(
            Table(
                ("fold", "train", "validation", "train on", "validate on"),
                tuple(rows),
                title=f"Folds of {manifest['corpus']} in {folder}",
                text_columns=3,
            ),
            balance_table(manifest["balance"]),
        ),
        records=tuple(
            {"fold": fold["fold"], "part": part, **fold[part]} for fold in folds for part in parts
        ),
        notes=(signature,),
    )
