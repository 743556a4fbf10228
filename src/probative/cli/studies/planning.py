"""``probative study planning``."""

from __future__ import annotations

from typing import Annotated

from probative.cli import options
from probative.cli.output import check_format, emit, progress
from probative.cli.parameters import Option

__all__ = ["planning"]


def planning(
    power: Annotated[
        float, Option(metavar="P", parser=options.number, help="The power to plan for.")
    ] = 0.8,
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
    with progress("test sets", quiet=quiet) as report:
        found = planning_study(
            power=power, level=level, replicates=replicates, rng=seed, report=report
        )
    columns = {
        "pilot": "pilot",
        "difference": "difference",
        "units": "sentences planned",
        "planned": "power planned",
        "simulated": "simulated",
        "standard_error": "s.e.",
    }
    note = (
        "Test sets of the planned size are drawn from the sentences of the pilot; simulated is the "
        "share on which the exact randomisation test by sentence is significant."
    )
    choices = [f"level:{level:g}", f"replicates:{replicates}", f"seed:{seed}"]
    title = "Planned and simulated power"
    document = study_document(
        "planning", found, columns, title=title, notes=[note], choices=choices
    )
    emit(document, form, html=html, quiet=quiet)
