"""``probative ledger``."""

from __future__ import annotations

from typing import Annotated

from probative.cli.options import Argument
from probative.cli.output import Output
from probative.options import shared


def ledger(
    file: Annotated[
        str, Argument(metavar="FILE", help="The ledger that `compare --ledger` wrote.")
    ],
    *,
    uses: Annotated[bool, shared("", "List every use, too.")] = False,
    out: Output,
) -> None:
    """Show how often each test set of a ledger was used, and how often it can still be used.

    Example: probative ledger gates.jsonl
    """
    from probative.jobs.ledger import read_ledger
    from probative.reporting.ledger_report import ledger_document

    out.emit(ledger_document(read_ledger(file), uses=uses))
