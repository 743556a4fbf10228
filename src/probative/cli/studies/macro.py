"""``probative study macro``."""

from __future__ import annotations

from probative.cli import options
from probative.cli.output import check_format, emit, progress

__all__ = ["macro"]


def macro(
    replicates: options.Replicates = 2000,
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
        found = macro_coverage(level=level, replicates=replicates, rng=seed, report=report)
    columns = {
        "n": "items",
        "rarest": "of the rarest class",
        "coverage": "coverage, one system",
        "length": "length",
        "coverage_difference": "coverage, difference",
        "length_difference": "length of the difference",
        "standard_error": "s.e.",
    }
    note = (
        "Macro F1 over five classes with shares of 50, 25, 15, 7 and 3 %; A is right on 75 % of "
        "the items, B on about 78 %, and they often err together."
    )
    choices = [f"level:{level:g}", f"replicates:{replicates}", f"seed:{seed}"]
    title = "Coverage of the intervals of macro F1"
    document = study_document("macro", found, columns, title=title, notes=[note], choices=choices)
    emit(document, form, html=html, quiet=quiet)
