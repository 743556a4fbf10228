"""A board of submissions as a document."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from probative.reporting.document import Document, Table, payload
from probative.reporting.rank_report import leaderboard_table, rank_document
from probative.wording import counted

if TYPE_CHECKING:
    from probative.results import Board

__all__ = ["board_document", "board_payload", "refused_table"]

# what there is to say of no system at all
_NOTHING: dict[str, Any] = {"systems": [], "ranking": [], "pairs": [], "summary": ""}


def board_document(found: Board) -> Document:
    """Show the leaderboard, and which submissions are not on it and why."""
    ranked = Document("", {}, (), ()) if found.ranking is None else rank_document(found.ranking)
    tables = [] if found.ranking is None else [leaderboard_table(found.ranking)]
    tables += [refused_table(found)] if found.refused else []
    done = (
        f"{counted(len(found.submissions), 'submission')}: {found}; "
        f"{counted(found.pairs_tested, 'pair')} tested, {found.pairs_reused:,} reused."
    )
    return replace(
        ranked,
        title=f"Board of {counted(len(found.submissions), 'submission')}",
        payload=board_payload(found)
        | {"pairs_tested": found.pairs_tested, "pairs_reused": found.pairs_reused},
        tables=tuple(tables),
        records=(*({"kind": "submission", **one} for one in found.records()), *ranked.records),
        notes=(*ranked.notes[:1], done, found.signature),
    )


def board_payload(found: Board) -> dict[str, Any]:
    """The contract: the submissions, and what a ranking has."""
    content = dict(_NOTHING)
    if found.ranking is not None:
        content = found.ranking.to_dict()
        del content["level"]
    return payload("board", found.signature, submissions=found.records(), **content)


def refused_table(found: Board) -> Table:
    """The submissions that could not be scored, and why."""
    rows = [(one.name, one.error or "") for one in found.submissions if one.status == "refused"]
    return Table(
        ("submission", "why"),
        tuple(rows),
        title="Not scored",
        text_columns=2,
    )
