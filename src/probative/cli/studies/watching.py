"""``probative study watching``."""

from __future__ import annotations

from typing import Annotated

from probative.cli import options
from probative.cli.output import progress
from probative.cli.parameters import Option
from probative.studies.options import WatchingOptions

__all__ = ["watching"]


def watching(
    given: Annotated[
        WatchingOptions,
        options.choose(
            *("level", "pool", "units", "batch", "streams", "rng"),
            pool=Option(metavar="N", parser=options.whole, help="Units of a pool."),
            units=Option(metavar="N", parser=options.whole, help="Units labelled in the end."),
            batch=Option(metavar="N", parser=options.whole, help="Units between two looks."),
            streams=Option(metavar="N", parser=options.whole, help="Pools of every kind."),
        ),
    ],
    out: options.RandomOutput,
) -> None:
    """Do limits and tests hold at every look at a sample that was drawn by dispute?"""
    from probative.reporting.study_report import study_document
    from probative.studies.watching import watching_study

    with progress("streams", quiet=out.quiet) as report:
        results = watching_study(**vars(given), report=report)
    columns = {
        "what": "what",
        "condition": "pools of",
        "looks": "looks",
        "share": "ever",
        "standard_error": "s.e.",
        "fixed": "fixed, ever",
        "once": "fixed, once",
        "streams": "streams",
    }
    allowed = (
        f"Ever wrong in at most {1 - given.level:.4g} of the streams is allowed; of a test that "
        f"finds B better, more is better."
    )
    document = study_document(
        "watching",
        results,
        columns,
        title="Wrong at any look at a stratified sample",
        notes=[allowed],
        signature=given.signature("watching"),
    )
    out.emit(document)
