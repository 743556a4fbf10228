"""``probative study watching``."""

from __future__ import annotations

from typing import Annotated

from probative.cli import options
from probative.cli.output import progress
from probative.cli.parameters import Option
from probative.cli.studies.looks import looks_document
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
    from probative.studies.watching import watching_study

    with progress("streams", quiet=out.quiet) as report:
        results = watching_study(**vars(given), report=report)
    title = "Wrong at any look at a stratified sample"
    out.emit(looks_document("watching", results, "pools of", title, given))
