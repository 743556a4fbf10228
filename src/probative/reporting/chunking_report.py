"""The chunking experiments as a document, beside the published figures."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from probative.reporting.document import Document, Table, number, payload, points

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["chunking_document"]

_TASKS = {"cws": "Word segmentation", "ner": "Entities of any type", "org": "Entities of one type"}
_LEGEND = (
    "ind.: independent posteriors, as in the paper; paired: the posterior that knows that both "
    "models saw the same sentences. pub.: the paper's figures, on its own corpora."
)
_SHORT = {"precision": "P", "recall": "R", "f1": "F1"}


def chunking_document(
    results: Sequence[Any], published: Mapping[str, Any], *, signature: str
) -> Document:
    """Show the experiments, each beside what the paper found on its own corpora.

    Parameters
    ----------
    results
        One `ChunkingResult` a task.
    published
        Intervals, probabilities and decisions of the paper, by task.
    signature
        What was done.
    """
    tasks = [
        {
            **{key: value for key, value in result.to_dict().items() if key != "comparison"},
            "tests": [test.to_dict() for test in result.comparison.tests],
            "folds": [fold.to_dict() for fold in result.comparison.folds],
            "seed": result.comparison.seed,
        }
        for result in results
    ]
    return Document(
        title="Does a finer tag set make a better chunker?",
        payload=payload("study chunking", signature, tasks=tasks),
        tables=tuple(_table(result, published[result.task]) for result in results),
        records=tuple(
            {"task": task["task"], "corpus": task["corpus"], **test}
            for task in tasks
            for test in task["tests"]
        ),
        notes=(_LEGEND, signature),
    )


def _table(result: Any, published: Mapping[str, Any]) -> Table:
    comparison = result.comparison
    rows = []
    for paired, independent in zip(comparison.tests[::2], comparison.tests[1::2], strict=True):
        short = _SHORT[paired.metric]
        theirs = published[paired.metric]
        rows.append(
            (
                short,
                _limits(independent.interval_a),
                _limits(independent.interval_b),
                number(independent.p_h0),
                independent.decision,
                number(paired.p_h0),
                paired.decision,
                *(f"{low:.2f}–{high:.2f}" for low, high in (theirs["a"], theirs["b"])),
                number(theirs["p_h0"]),
                theirs["decision"],
            )
        )
    kind = f"{_TASKS[result.task]}{f' ({result.label})' if result.label else ''}"
    seconds = sum(fold.seconds or 0 for fold in comparison.folds)
    size = (
        f"{result.sentences:,} sentences, {result.tokens:,} tokens, {result.chunks:,} chunks; "
        f"{len(comparison.folds)} fits, {seconds:,.0f} seconds of computing; "
        f"seed {comparison.seed}."
    )
    return Table(
        (
            "metric",
            comparison.a,
            comparison.b,
            "P(H0) ind.",
            "decision",
            "P(H0) paired",
            "decision",
            f"pub. {comparison.a}",
            f"pub. {comparison.b}",
            "pub. P(H0)",
            "pub.",
        ),
        tuple(rows),
        title=f"{kind}: {result.corpus}",
        notes=(size,),
    )


def _limits(interval: Sequence[float]) -> str:
    low, high = interval
    return f"{points(low)}–{points(high)}"
