"""``probative study gates``."""

from __future__ import annotations

from typing import Annotated

from probative.cli import options
from probative.cli.output import progress
from probative.cli.parameters import Option
from probative.studies.options import GateOptions

__all__ = ["gates"]


def gates(
    given: Annotated[
        GateOptions,
        options.choose(
            *("margins", "correlation", "confidence", "replicates", "rng"),
            margins=Option(
                "--margin",
                metavar="D",
                parser=options.number_list,
                several=True,
                help="Margins; several times, or with commas.",
            ),
            correlation=Option(
                metavar="R", parser=options.number, help="The correlation of items of a unit."
            ),
            confidence=Option(
                metavar="P", parser=options.number, help="The confidence of the gates."
            ),
        ),
    ],
    out: options.RandomOutput,
) -> None:
    """How often do gates err? Equal and uneven units, 10 to 100 of them, by simulation."""
    from probative.reporting.study_report import study_document
    from probative.studies import gates as study

    with progress("conditions", quiet=out.quiet) as report:
        results = study.gate_study(**vars(given), report=report)
    columns = {
        "gate": "gate",
        "error": "error",
        "margin": "margin",
        "sizes": "sizes",
        "units": "units",
        "share": "share",
        "standard_error": "s.e.",
    }
    broken = [result for result in results if not result.holds]
    allowed = (
        f"{given.replicates:,} test sets each, at the border of what the gate guards: a share of "
        f"{1 - given.confidence:.4g} is allowed."
    )
    exceeded = f"More by three standard errors: {'; '.join(map(str, broken)) or 'nowhere'}."
    document = study_document(
        "gates",
        results,
        columns,
        title="Errors of gates",
        notes=[allowed, exceeded],
        signature=given.signature("gates"),
    )
    out.emit(document)
