"""A board of submissions as a document."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from probative.reporting.document import Document, Table, payload
from probative.reporting.rank_report import leaderboard_table, rank_document
from probative.wording.numbers import counted

if TYPE_CHECKING:
    from probative.results import Board

__all__ = ["board_document", "board_payload", "refused_table"]

# what there is to say of no system at all
_NOTHING: dict[str, Any] = {"systems": [], "ranking": [], "pairs": [], "summary": ""}


def board_document(board: Board) -> Document:
    """Show the leaderboard, and which submissions are not on it and why."""
    ranked = Document("", {}, (), ()) if board.ranking is None else rank_document(board.ranking)
    tables = [] if board.ranking is None else [leaderboard_table(board.ranking)]
    tables += [refused_table(board)] if board.refused else []
    done = (
        f"{counted(len(board.submissions), 'submission')}: {board}; "
        f"{counted(board.pairs_tested, 'pair')} tested, {board.pairs_reused:,} reused."
    )
    return replace(
        ranked,
        title=f"Board of {counted(len(board.submissions), 'submission')}",
        payload=board_payload(board)
        | {"pairs_tested": board.pairs_tested, "pairs_reused": board.pairs_reused},
        tables=tuple(tables),
        records=(*({"kind": "submission", **one} for one in board.records()), *ranked.records),
        notes=(*ranked.notes[:1], done, board.signature),
    )


def board_payload(board: Board) -> dict[str, Any]:
    """The contract: the submissions, and what a ranking has."""
    content = dict(_NOTHING)
    if board.ranking is not None:
        content = board.ranking.to_dict()
        del content["level"]
    return payload("board", board.signature, submissions=board.records(), **content)


def refused_table(board: Board) -> Table:
    """The submissions that could not be scored, and why."""
    rows = [(one.name, one.error or "") for one in board.submissions if one.status == "refused"]
    return Table(
        ("submission", "why"),
        tuple(rows),
        title="Not scored",
        text_columns=2,
    )
