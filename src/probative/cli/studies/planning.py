"""``probative study planning``."""

from __future__ import annotations

from typing import Annotated

import typer

from probative.cli import options
from probative.cli.output import check_format, emit, progress

__all__ = ["planning"]


def planning(
    power: Annotated[
        list[str] | None,
        typer.Option(
            metavar="P", help="Powers to plan for (0.5, 0.8, 0.9); several times, or with commas."
        ),
    ] = None,
    replicates: options.Replicates = 1000,
    level: options.Level = 0.95,
    form: options.Format = "text",
    html: options.Html = None,
    quiet: options.Quiet = False,
    seed: options.Seed = 0,
) -> None:
    """Does a planned sample size give the power that was asked for? By simulation."""
    from probative.reporting.study_report import study_document
    from probative.studies.planning import planning_study

    check_format(form)
    powers = options.numbers("--power", power, (0.5, 0.8, 0.9))
    with progress("test sets", quiet=quiet) as report:
        found = planning_study(
            powers, level=level, replicates=replicates, rng=seed or 0, report=report
        )
    columns = {
        "pilot": "pilot",
        "difference": "difference",
        "units": "units planned",
        "planned": "power planned",
        "simulated": "simulated",
        "standard_error": "s.e.",
    }
    note = (
        "Test sets of the planned size are drawn from the units of the pilot; simulated is the "
        "share on which the exact randomisation test by unit is significant."
    )
    choices = [f"level:{level:g}", f"replicates:{replicates}", f"seed:{seed or 0}"]
    title = "Planned and simulated power"
    document = study_document(
        "planning", found, columns, title=title, notes=[note], choices=choices
    )
    emit(document, form, html=html, quiet=quiet)
