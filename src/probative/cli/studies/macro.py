"""``probative study macro``."""

from __future__ import annotations

from probative.cli import options
from probative.cli.output import check_format, emit, progress

__all__ = ["macro"]


def macro(
    replicates: options.Replicates = 400,
    level: options.Level = 0.95,
    form: options.Format = "text",
    html: options.Html = None,
    quiet: options.Quiet = False,
    seed: options.Seed = 0,
) -> None:
    """Do the intervals of macro averages cover what they promise? By simulation."""
    from probative.reporting.study_report import study_document
    from probative.studies.macro import macro_coverage

    check_format(form)
    with progress("test sets", quiet=quiet) as report:
        found = macro_coverage(level=level, replicates=replicates, seed=seed or 0, report=report)
    columns = {
        "condition": "labels and F1",
        "question": "of",
        "method": "method",
        "coverage": "coverage",
        "standard_error": "s.e.",
        "length": "length",
    }
    methods = (
        "Intervals of macro F1. delta: the delta method over units, as it was before. mover: "
        "Wilson's limits of each label, joined. one prior: labels share a prior whatever their "
        "size. hierarchical: what is used here."
    )
    pairs = (
        "B scores two points more than A on every label; half of the time they share their fate."
    )
    choices = [f"level:{level:g}", f"replicates:{replicates}", f"seed:{seed or 0}"]
    title = "Coverage of the intervals of macro F1"
    document = study_document(
        "macro", found, columns, title=title, notes=[methods, pairs], choices=choices
    )
    emit(document, form, html=html, quiet=quiet)
