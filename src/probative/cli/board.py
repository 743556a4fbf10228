"""``probative board``."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

from probative.cli import options
from probative.cli.output import progress
from probative.cli.parameters import Argument, Option, named_by_flags
from probative.errors import InputError
from probative.options import BoardOptions

__all__ = ["board"]


def board(
    gold: Annotated[str, Argument(metavar="GOLD", help="The file of the right answer.")],
    submissions: Annotated[
        str,
        Argument(
            metavar="SUBMISSIONS",
            help="A folder of submissions: files, or folders with one file each. They are called "
            "after these.",
        ),
    ],
    *,
    output: Annotated[
        Path, Option("--output", "-o", metavar="SITE", help="The folder of the site.")
    ],
    cache: Annotated[
        Path | None,
        Option(
            "--cache",
            metavar="DIR",
            help="What is kept between two builds; by default SITE.cache. Do not publish it.",
        ),
    ] = None,
    pairs: Annotated[
        str,
        Option(
            "--pairs",
            metavar="WHICH",
            help="Which pairs have a page: top (the leader with every other), all or none.",
        ),
    ] = "top",
    given: Annotated[
        BoardOptions,
        options.choose(
            *(*options.RANKING, "show_gold", "max_size", *options.OF_AN_ANSWER),
            **options.RANKING,
            show_gold=Option("--show-gold", help="Let the site show what stands in the answer."),
            max_size=Option(
                "--max-size",
                metavar="MIB",
                parser=options.number,
                help="The most MiB that a submission may have.",
            ),
        ),
    ],
    jobs: options.Processes = -1,
    out: options.RandomOutput,
) -> None:
    """A leaderboard that grows: score every submission of a folder, and write a site.

    What has not changed is not computed again; a bad submission becomes a line with its error.
    Nothing of the answer stands in the site.

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
