"""Build the documents of verdicts alone, and of a ledger of gates."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePath
from typing import TYPE_CHECKING

from probative.reporting.document import (
    Answer,
    Column,
    Document,
    Table,
    Words,
    gate_answers,
    payload,
    upper,
)
from probative.wording.numbers import counted, metric_name, region

if TYPE_CHECKING:
    from probative.results import GateVerdict, Ledger, TestSet, TestSetUse

_FINGERPRINT_DIGITS = 8  # digits of a fingerprint in tables


def verdict_document(verdicts: Sequence[GateVerdict], signature: str) -> Document:
    """Build the document of verdicts alone: no score, difference or probability."""
    table = Table.of(
        verdicts,
        Words("challenger", "b"),
        Words("baseline", "a"),
        Words("score", lambda verdict: metric_name(verdict.metric, verdict.match)),
        Words("gate", "kind"),
        Words("margin", form=region),
        Words("verdict", lambda verdict: "passed" if verdict.passed else "failed"),
    )
    records = [verdict.to_dict() for verdict in verdicts]
    for record in records:  # the fields of a use are columns of their own
        record.update(record.pop("use", None) or {})
    return Document(
        title="Verdicts of gates",
        payload=payload("compare", signature, verdicts),
        tables=(table,),
        records=tuple(records),
        notes=(*(str(v.use) for v in verdicts if v.use is not None), signature),
        headline=gate_answers(verdicts),
    )


def ledger_document(ledger: Ledger, *, uses: bool = True) -> Document:
    """Build the document of the test sets of a ledger, with its uses if `uses`."""
    tables = [_set_table(ledger), *([_use_table(ledger)] if uses else [])]
    notes = [f"{_fingerprint(one.test_set)}: {one.state}." for one in ledger.sets]
    if not ledger.uses:
        tables, notes = [], ["No gate has used this ledger yet."]
    return Document(
        title=f"Ledger of gates: {counted(len(ledger.sets), 'test set')}",
        payload=payload("ledger", ledger.signature, **ledger.to_dict()),
        tables=tuple(tables),
        records=tuple(ledger.records()),
        notes=(*notes, *ledger.notes, ledger.signature),
        headline=(_headline(ledger),),
    )


def _headline(ledger: Ledger) -> Answer:
    """Say how often the test sets may still be used."""
    if not ledger.sets:
        return Answer("No gate has used this ledger yet")
    if len(ledger.sets) > 1:
        fresh = [one for one in ledger.sets if one.promised and not one.worn_out]
        words = f"{len(fresh)} of {len(ledger.sets)} test sets can still be used"
        return Answer(words, "passed" if fresh else "failed")
    (one,) = ledger.sets
    said = (f"{upper(one.state)}.",)
    if one.promised and not one.worn_out:
        return Answer(f"About {counted(one.looks_left, 'use')} left", "passed", said)
    words = "Worn out" if one.promised else "No promise for the next gate"
    return Answer(words, "failed", said)


def _set_table(ledger: Ledger) -> Table:
    def left(one: TestSet) -> str:
        looks = "0" if one.worn_out else f"{one.looks_left:,}"
        return looks if one.promised else "no promise"

    return Table.of(
        ledger.sets,
        Words("test set", "test_set", _fingerprint),
        Words("answer", form=lambda name: PurePath(name).name),
        Words("candidates"),
        Column("units"),
        Column("looks"),
        Column("passes"),
        Column("shown"),
        Column("next", lambda one: f"{one.threshold:.2g}"),
        Column("left", left),
        title="Test sets that gates have used",
        notes="shown: uses after which scores were shown; next: threshold for 1 − P at the next "
        "use; left: uses until the required difference has doubled",
    )


def _use_table(ledger: Ledger) -> Table:
    def verdict(use: TestSetUse) -> str:
        return ("passed" if use.passed else "failed") + ", scores shown" * use.scores_shown

    return Table.of(
        ledger.uses,
        Words("time", lambda use: use.time[:16].replace("T", " ")),
        Words("test set", "test_set", _fingerprint),
        Words("challenger", "b"),
        Words("baseline", "a"),
        Words("score", "metric", metric_name),
        Words("gate", lambda use: use.kind + (f", {region(use.margin)}" if use.margin else "")),
        Column("look", lambda use: f"{use.look}{' again' * use.repeated}"),
        Column("1 − P at most", lambda use: f"{use.threshold:.2g}"),
        Words("verdict", verdict),
        title="Uses (times in UTC)",
    )


def _fingerprint(digest: str) -> str:
    return digest[:_FINGERPRINT_DIGITS]
