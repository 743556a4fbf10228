"""``probative study ledger``."""

from __future__ import annotations

from typing import Annotated

from probative.cli import options
from probative.cli.output import progress
from probative.cli.parameters import Option
from probative.studies.options import LedgerStudyOptions

__all__ = ["ledger"]


def ledger(
    given: Annotated[
        LedgerStudyOptions,
        options.choose(
            *("sequences", "looks", "items", "confidence", "rng"),
            sequences=Option(metavar="N", parser=options.whole, help="Sequences of candidates."),
            looks=Option(metavar="N", parser=options.whole, help="Candidates in a sequence."),
            items=Option(metavar="N", parser=options.whole, help="Items of a test set."),
            confidence=Option(
                metavar="P", parser=options.number, help="The confidence of the gate."
            ),
        ),
    ],
    out: options.RandomOutput,
) -> None:
    """Does the ledger keep its promise? Many candidates that are no better, on one test set."""
    from probative.reporting.study_report import study_document
    from probative.studies.ledger import ledger_study

    with progress("sequences", quiet=out.quiet) as report:
        results = ledger_study(**vars(given), report=report)
    columns = {
        "way": "candidates",
        "looks": "looks",
        "plain": "plain gates",
        "independent": "ledger, independent",
        "adaptive": "ledger, adaptive",
        "promised": "promised",
    }
    allowed = (
        f"The share of {given.sequences:,} sequences in which a candidate that is no better passes "
        f"a gate: {1 - given.confidence:.4g} is allowed where it is promised (standard error "
        f"{results[0].standard_error:.4f})."
    )
    document = study_document(
        "ledger",
        results,
        columns,
        title="Gates on one test set",
        notes=[allowed],
        signature=given.signature("ledger"),
    )
    out.emit(document)
