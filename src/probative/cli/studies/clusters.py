"""``probative study clusters``."""

from __future__ import annotations

from typing import Annotated

from probative.cli import options
from probative.cli.output import check_format, emit, progress
from probative.cli.parameters import Option

__all__ = ["clusters"]


def clusters(
    correlation: Annotated[
        list[str] | None,
        Option(
            "--correlation",
            metavar="R",
            help="Correlations of items of a unit (0.1, 0.3); several times, or with commas.",
        ),
    ] = None,
    question: Annotated[
        list[str] | None,
        Option(metavar="NAME", help="score, difference; both by default."),
    ] = None,
    replicates: options.Replicates = 1000,
    level: options.Level = 0.95,
    form: options.Format = "text",
    html: options.Html = None,
    quiet: options.Quiet = False,
    seed: options.Seed = 0,
) -> None:
    """Do intervals cover what they promise with few or uneven units? By simulation."""
    from probative.reporting.study_report import study_document
    from probative.studies import clusters as study

    check_format(form)
    correlations = options.numbers("--correlation", correlation, (0.1, 0.3))
    questions = options.words(question, ("score", "difference"))
    wanted = [c for c in study.conditions(correlations=correlations) if c.question in questions]
    with progress("conditions", quiet=quiet) as report:
        found = study.cluster_study(
            wanted, level=level, replicates=replicates, rng=seed or 0, report=report
        )
    columns = {
        "question": "of a",
        "metric": "score",
        "f1": "true score",
        "units": "units",
        "sizes": "sizes",
        "items": "mean items",
        "correlation": "correlation",
        "disputed": "in dispute",
        "before": "before",
        "after": "after",
        "standard_error": "s.e.",
        "noted": "with a note",
        "unnoted_misses": "misses without",
        "length_after": "length",
    }
    note = (
        "Coverage of intervals before (linearised variance, number of units less one) and after "
        "(leaving out one unit at a time, effective number of units less one)."
    )
    choices = [
        ",".join(questions),
        f"level:{level:g}",
        f"replicates:{replicates}",
        f"seed:{seed or 0}",
    ]
    document = study_document(
        "clusters", found, columns, title="Few and uneven units", notes=[note], choices=choices
    )
    emit(document, form, html=html, quiet=quiet)
