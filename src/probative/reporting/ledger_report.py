"""Build the documents of verdicts alone, and of a ledger of gates."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from probative.reporting.document import Document, Table, payload
from probative.wording.numbers import counted, metric_name, region

if TYPE_CHECKING:
    from collections.abc import Sequence

    from probative.results import GateVerdict, Ledger, TestSet, TestSetUse

__all__ = ["ledger_document", "verdict_document"]

_HEADS = (
    "shown: uses after which scores were shown; next: what 1 − P may be at most at the next look; "
    "left: looks before one needs twice the difference that the first needed, if none passes"
)
_FINGERPRINT_DIGITS = 8  # digits of a fingerprint in tables


def verdict_document(verdicts: Sequence[GateVerdict], signature: str) -> Document:
    """Build the document of verdicts alone: no score, difference or probability."""
    verdict_dicts = [verdict.to_dict() for verdict in verdicts]
    rows = tuple(
        (
            verdict.b,
            verdict.a,
            metric_name(verdict.metric, verdict.match),
            verdict.kind,
            region(verdict.margin),
            "passed" if verdict.passed else "failed",
        )
        for verdict in verdicts
    )
    return Document(
        title="Verdicts of gates",
        payload=payload("compare", signature, gates=verdict_dicts),
        tables=(
            Table(
                ("challenger", "baseline", "score", "gate", "margin", "verdict"),
                rows,
                text_columns=6,
            ),
        ),
        records=tuple(map(_flat, verdict_dicts)),
        notes=(*(str(v.use) for v in verdicts if v.use is not None), signature),
    )


def _flat(verdict: dict[str, Any]) -> dict[str, Any]:
    """Return a verdict with the fields of its use as columns of their own."""
    use = verdict.get("use") or {}
    return {**{k: v for k, v in verdict.items() if k != "use"}, **use}


def ledger_document(ledger: Ledger, *, uses: bool = True) -> Document:
    """Build the document of the test sets of a ledger, with its uses if `uses`."""
    tables = [
        Table(
            (
                "test set",
                "answer",
                "candidates",
                "units",
                "looks",
                "passes",
                "shown",
                "next",
                "left",
            ),
            tuple(_set(one) for one in ledger.sets),
            title="Test sets that gates have used",
            notes=(_HEADS,),
            text_columns=3,
        )
    ]
    if uses:
        tables.append(
            Table(
                (
                    "time",
                    "test set",
                    "challenger",
                    "baseline",
                    "score",
                    "gate",
                    "look",
                    "1 − P at most",
                    "verdict",
                ),
                tuple(_use(use) for use in ledger.uses),
                title="Uses (times in UTC)",
                text_columns=6,
                closing_words=True,
            )
        )
    notes = tuple(f"{one.test_set[:_FINGERPRINT_DIGITS]}: {one.state}." for one in ledger.sets)
    if not ledger.uses:
        tables, notes = [], ("No gate has used this ledger yet.",)
    return Document(
        title=f"Ledger of gates: {counted(len(ledger.sets), 'test set')}",
        payload=payload(
            "ledger",
            ledger.signature,
            path=ledger.path,
            sets=[one.to_dict() for one in ledger.sets],
            uses=[use.to_dict() for use in ledger.uses],
            notes=list(ledger.notes),
        ),
        tables=tuple(tables),
        records=tuple(ledger.records()),
        notes=(*notes, *ledger.notes, ledger.signature),
    )


def _set(one: TestSet) -> tuple[str, ...]:
    left = "0" if one.worn_out else f"{one.looks_left:,}"
    return (
        one.test_set[:_FINGERPRINT_DIGITS],
        one.answer,
        one.candidates,
        f"{one.units:,}",
        f"{one.looks:,}",
        f"{one.passes:,}",
        f"{one.shown:,}",
        f"{one.threshold:.2g}",
        left if one.promised else "no promise",
    )


def _use(use: TestSetUse) -> tuple[str, ...]:
    margin = f", {region(use.margin)}" if use.margin else ""
    return (
        use.time[:16].replace("T", " "),
        use.test_set[:_FINGERPRINT_DIGITS],
        use.b,
        use.a,
        metric_name(use.metric),
        f"{use.kind}{margin}",
        f"{use.look}{' again' if use.repeated else ''}",
        f"{use.threshold:.2g}",
        f"{'passed' if use.passed else 'failed'}{', scores shown' if use.scores_shown else ''}",
    )
