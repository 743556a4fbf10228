"""``probative ledger``."""

from __future__ import annotations

from typing import Annotated

from probative.cli import options
from probative.cli.parameters import Argument, Option

__all__ = ["ledger"]


def ledger(
    file: Annotated[
        str, Argument(metavar="FILE", help="What was given to `compare --ledger` as its ledger.")
    ],
    *,
    uses: Annotated[bool, Option("--uses", help="List every use, too.")] = False,
    out: options.Output,
) -> None:
    """How worn is my test set? Looks, passes and what is left, of every test set of a ledger.

    Example: probative ledger gates.jsonl
    """
    from probative.jobs.ledger import read_ledger
    from probative.reporting.ledger_report import ledger_document

    out.emit(ledger_document(read_ledger(file), uses=uses))
