"""``probative board``."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

from probative.cli.options import Argument, Processes, named_by_flags
from probative.cli.output import RandomOutput, progress
from probative.errors import InputError
from probative.options import OUTPUT, BoardOptions, shared

__all__ = ["board"]


def board(
    gold: Annotated[str, Argument(metavar="GOLD", help="The gold file.")],
    submissions: Annotated[
        str,
        Argument(
            metavar="SUBMISSIONS",
            help="A folder of submissions: files, or folders with one file each. They are called "
            "after these.",
        ),
    ],
    *,
    output: Annotated[Path, shared("--output -o SITE", "The folder of the site.", heading=OUTPUT)],
    cache: Annotated[
        Path | None,
        shared(
            "DIR",
            "What is kept between two builds; by default SITE.cache. Do not publish it.",
            rare=True,
        ),
    ] = None,
    pairs: Annotated[
        str,
        shared(
            "WHICH",
            "Which pairs have a page: top (the leader with every other), all or none.",
            among="jobs.board:PAIRS",
        ),
    ] = "top",
    given: BoardOptions,
    jobs: Processes = -1,
    out: RandomOutput,
) -> None:
    """A leaderboard that grows: score every submission of a folder, and write a site.

    What has not changed is not computed again; a bad submission becomes a line with its error.
    Nothing of gold stands in the site.

    Example: probative board gold.conll submissions/ -o site
    """
    from probative.jobs.board import build_site
    from probative.reporting.board_report import board_document

    if out.html and Path(os.path.realpath(output)) in Path(os.path.realpath(out.html)).parents:
        raise InputError(
            "stands in the site, which is replaced whole; expected it elsewhere", out.html
        )
    with progress("testing pairs", quiet=out.quiet) as report:
        places = (gold, submissions, output, cache)
        built = build_site(
            places, given, pairs=pairs, n_jobs=jobs, report=report, tell=named_by_flags
        )
    out.remark(f"wrote {output}")
    out.emit(board_document(built))
