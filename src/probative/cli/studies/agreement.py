"""``probative study agreement``."""

from __future__ import annotations

from typing import Annotated

from probative.cli import options
from probative.cli.studies.simulate import simulate
from probative.studies.options import AgreementStudyOptions

__all__ = ["agreement"]


def agreement(
    given: Annotated[AgreementStudyOptions, options.choose("level", "replicates", "rng")],
    out: options.RandomOutput,
) -> None:
    """Do the intervals of alpha and kappa between annotators hold? By simulation."""
    from probative.studies.agreement import agreement_study

    columns = {
        "items": "items",
        "annotators": "annotators",
        "labels": "labels",
        "guesses": "guesses",
        "per_unit": "per unit",
        "missing": "missing",
        "coefficient": "coefficient",
        "value": "true",
        "covered": "coverage",
        "length": "length",
        "noted": "with a note",
        "standard_error": "s.e.",
    }
    simulate(
        "agreement",
        agreement_study,
        given,
        out,
        columns=columns,
        title="Agreement between annotators: coverage",
        notes=[f"{given.replicates:,} corpora each; the level is {given.level:g}."],
    )
