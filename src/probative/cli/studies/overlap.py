"""``probative study overlap``."""

from __future__ import annotations

from typing import Annotated

from probative.cli import options
from probative.cli.studies.simulate import simulate
from probative.studies.options import OverlapOptions

__all__ = ["overlap"]


def overlap(
    given: Annotated[OverlapOptions, options.choose("level", "replicates", "rng")],
    out: options.RandomOutput,
) -> None:
    """Do intervals hold where spans are found in part, and count one half? By simulation."""
    from probative.studies.overlap import overlap_study

    columns = {
        "sentences": "sentences",
        "spans": "spans each",
        "found": "found",
        "partly": "of these in part",
        "f1": "true F1",
        "covered": "coverage",
        "length": "length",
        "standard_error": "s.e.",
    }
    simulate(
        "overlap",
        overlap_study,
        given,
        out,
        columns=columns,
        title="Spans found in part: coverage",
        notes=[f"{given.replicates:,} test sets each; the level is {given.level:g}."],
    )
