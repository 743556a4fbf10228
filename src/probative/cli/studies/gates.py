"""``probative study gates``."""

from __future__ import annotations

from typing import Annotated

from probative.cli import options
from probative.cli.output import check_format, emit, progress
from probative.cli.parameters import Option

__all__ = ["gates"]


def gates(
    margin: Annotated[
        list[str] | None,
        Option("--margin", metavar="D", help="Margins (0, 0.02); several times, or with commas."),
    ] = None,
    correlation: Annotated[
        float,
        Option(metavar="R", parser=options.number, help="Of two items of a unit."),
    ] = 0.1,
    confidence: Annotated[
        float, Option(metavar="P", parser=options.number, help="Of the gates.")
    ] = 0.95,
    replicates: options.Replicates = 2000,
    form: options.Format = "text",
    html: options.Html = None,
    quiet: options.Quiet = False,
    seed: options.Seed = 0,
) -> None:
    """How often do gates err? Equal and uneven units, 10 to 100 of them, by simulation."""
    from probative.reporting.study_report import study_document
    from probative.studies import gates as study

    check_format(form)
    margins = options.numbers("--margin", margin, (0.0, 0.02))
    with progress("conditions", quiet=quiet) as report:
        found = study.gate_study(
            margins=margins,
            correlation=correlation,
            confidence=confidence,
            replicates=replicates,
            rng=seed or 0,
            report=report,
        )
    columns = {
        "gate": "gate",
        "error": "error",
        "margin": "margin",
        "sizes": "sizes",
        "units": "units",
        "share": "share",
        "standard_error": "s.e.",
    }
    broken = [result for result in found if not result.holds]
    allowed = (
        f"{replicates:,} test sets each, at the border of what the gate guards: a share of "
        f"{1 - confidence:.4g} is allowed."
    )
    exceeded = f"More by three standard errors: {'; '.join(map(str, broken)) or 'nowhere'}."
    choices = [
        f"margins:{','.join(f'{m:g}' for m in margins)}",
        f"correlation:{correlation:g}",
        f"confidence:{confidence:g}",
        f"replicates:{replicates}",
        f"seed:{seed or 0}",
    ]
    document = study_document(
        "gates", found, columns, title="Errors of gates", notes=[allowed, exceeded], choices=choices
    )
    emit(document, form, html=html, quiet=quiet)
