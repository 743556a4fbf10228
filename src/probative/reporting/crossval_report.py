"""Cross-validated comparisons and splits as documents."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from probative.metrics import score
from probative.reporting.bayes_report import tests_table
from probative.reporting.document import Document, Table, number, payload, points, signature

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
    found: ModelComparison,
    *,
    choices: Sequence[str],
    command: str = "crossval",
    drawings: Sequence[Drawing] = (),
) -> Document:
    """Show which of two models is better, and the folds on which that rests."""
    signed = signature(*choices)
    tests = [test.to_dict() for test in found.tests]
    folds = [fold.to_dict() for fold in found.folds]
    content: dict[str, Any] = {"tests": tests, "folds": folds, "seed": found.seed}
    content |= {
        "effective_a": found.effective_a.to_dict(),
        "effective_b": found.effective_b.to_dict(),
    }
    tables = [tests_table(found.tests, (found.a, found.b)), folds_table(found)]
    if found.balance is not None:
        content["balance"] = found.balance.to_dict()
        tables.append(balance_table(found.balance.to_dict()))
    return Document(
        title=f"Is {found.b} better than {found.a}, whatever the training set?",
        payload=payload(command, signed, **content),
        tables=tuple(tables),
        records=tuple({"a": found.a, "b": found.b, **test} for test in tests),
        notes=(*_verdicts(found), signed),
        drawings=tuple(drawings),
    )


def crossval_figure(found: ModelComparison, plot: str = "densities") -> Figure:
    """The posteriors of both models' scores ("densities"), or of their paired "difference"."""
    from probative.reporting.posterior_figures import density_figure, difference_figure

    if plot == "difference":
        return difference_figure(found.paired_tests, models=(found.a, found.b))
    return density_figure(found.scores)


def crossval_drawings(found: ModelComparison) -> list[Drawing]:
    """The figures of the page: the scores' posteriors, and those of the paired differences."""
    from probative.reporting.figures import to_drawing

    told = {
        "densities": "Posterior densities of the scores of both models",
        "difference": "Posterior densities of the paired differences of the scores",
    }
    return [
        to_drawing(crossval_figure(found, plot), words, f"{words}.") for plot, words in told.items()
    ]


def folds_table(found: ModelComparison) -> Table:
    """The counts of every fold and model."""
    names = list(found.folds[0].counts.to_dict())
    metrics = list(dict.fromkeys(test.metric for test in found.tests))
    timed = any(fold.seconds is not None for fold in found.folds)
    rows = [
        (
            str(fold.fold),
            fold.model,
            f"{fold.train:,}",
            f"{fold.validation:,}",
            *(f"{value:,}" for value in fold.counts.to_dict().values()),
            *(points(score(fold.counts, metric)) for metric in metrics if metric != "fbeta"),
            *((number(fold.seconds, 1),) if timed else ()),
        )
        for fold in found.folds
    ]
    columns = ("fold", "model", "trained on", "judged on", *names)
    columns += tuple(metric for metric in metrics if metric != "fbeta")
    return Table(
        (*columns, *(("seconds",) if timed else ())),
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
        "units",
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
        ("unit", "total", "deviation %", "random %", "chi-square", "random"),
        tuple(rows),
        title=f"Balance: {len(sizes)} blocks of {size}",
        notes=(note,),
    )


def _verdicts(found: ModelComparison) -> list[str]:
    """What the paired tests say, in words no stronger than their numbers."""
    half = found.folds[0].train
    sentences = []
    for test in found.paired_tests:
        better, chance = max(
            (found.b, test.p_b_better), (found.a, test.p_a_better), key=lambda pair: pair[1]
        )
        beyond = f" by more than {points(test.rope)} points" if test.rope > 0 else ""
        sentences.append(
            f"{test.metric}: {better} is better{beyond} with probability {_probability(chance)}."
        )
    sentences.append(
        f"These probabilities speak of training on about {half:,} instances of this kind, not of "
        f"one trained model."
    )
    return sentences


def _probability(value: float) -> str:
    return "above 0.9999" if value > 0.9999 else number(value, 4)


def split_document(manifest: Mapping[str, Any], folder: str, *, choices: Sequence[str]) -> Document:
    """Show which folds were written, and how equal their halves are."""
    signed = signature(*choices)
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
        payload=payload("split", signed, folder=folder, manifest=dict(manifest)),
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
        notes=(signed,),
    )
