"""``probative study pairing``."""

from __future__ import annotations

from typing import Annotated

from probative.cli import options
from probative.cli.output import check_format, emit, progress
from probative.cli.parameters import Option

__all__ = ["pairing"]


def pairing(
    n: Annotated[
        list[str] | None,
        Option("--n", metavar="N", help="Items; several times, or separated by commas."),
    ] = None,
    metric: options.Metric = None,
    replicates: options.Replicates = 1000,
    level: options.Level = 0.95,
    form: options.Format = "text",
    html: options.Html = None,
    quiet: options.Quiet = False,
    seed: options.Seed = 0,
) -> None:
    """Does the interval of a difference cover, and what does knowing the pairs gain? Simulated."""
    from probative.reporting.study_report import study_document
    from probative.studies.pairing import pairing_study

    check_format(form)
    sizes = tuple(options.whole_numbers("--n", n)) or (200, 1000, 5000)
    metrics = options.words(metric, ("precision", "recall", "f1"))
    with progress("conditions", quiet=quiet) as report:
        found = pairing_study(
            sizes, metrics, replicates=replicates, level=level, rng=seed, report=report
        )
    columns = {
        "items": "items",
        "metric": "metric",
        "posterior": "posterior",
        "coverage": "coverage",
        "standard_error": "s.e.",
        "length": "length",
        "difference": "true difference",
    }
    note = (
        "Test sets are drawn from a population on which the two systems treat nine items in ten "
        "alike. Independent posteriors ignore that, and their intervals are too long."
    )
    choices = [f"level:{level:g}", f"replicates:{replicates}", f"seed:{seed}"]
    document = study_document(
        "pairing",
        found,
        columns,
        title=f"Coverage of the {100 * level:g} % interval of B − A",
        notes=[note],
        choices=choices,
    )
    emit(document, form, html=html, quiet=quiet)
