"""``probative board``."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

from probative.cli.options import Argument, Processes, named_by_flags
from probative.cli.output import RandomOutput, progress
from probative.errors import InputError
from probative.options import OUTPUT, BoardOptions, shared


def board(
    gold: Annotated[str, Argument("GOLD", "The gold file.")],
    submissions: Annotated[
        str,
        Argument(
            "SUBMISSIONS",
            "A folder of submissions: files, or folders with one file each, which name them. "
            "NAME.meta.toml, or meta.toml in a folder, gives team, paper, code and date.",
        ),
    ],
    *,
    output: Annotated[Path, shared("--output -o SITE: The folder of the site.", heading=OUTPUT)],
    title: Annotated[str | None, shared("TEXT: The heading of the site.", heading=OUTPUT)] = None,
    about: Annotated[
        Path | None,
        shared(
            "An introduction in Markdown, shown on the first page.",
            metavar="FILE.md",
            heading=OUTPUT,
        ),
    ] = None,
    date: Annotated[
        str | None,
        shared(
            "DAY: The day that the site shows, such as 2026-05-01; by default the day on which "
            "the newest submission was changed.",
            heading=OUTPUT,
        ),
    ] = None,
    cache: Annotated[
        Path | None,
        shared(
            "DIR: The folder of results for the next build; by default SITE.cache. Do not publish "
            "it.",
            rare=True,
        ),
    ] = None,
    pairs: Annotated[
        str,
        shared(
            "WHICH: Which pairs have a page: top (the leader with every other), all or none.",
            among="jobs.board:PAIRS",
        ),
    ] = "top",
    given: BoardOptions,
    jobs: Processes = -1,
    out: RandomOutput,
) -> None:
    """Score every submission of a folder, and write a site with the leaderboard.

    Only new submissions are computed; a bad one is listed with its error. The site shows nothing
    of the gold file.

    Example: probative board gold.conll submissions/ -o site
    """
    from probative.jobs.board import Front, build_site
    from probative.reporting.rank_report import board_document

    if out.html and Path(os.path.realpath(output)) in Path(os.path.realpath(out.html)).parents:
        raise InputError(
            "lies in the site, which is replaced as a whole; expected it elsewhere", out.html
        )
    with progress("testing pairs", quiet=out.quiet) as report:
        places = (gold, submissions, output, cache)
        built = build_site(
            places,
            given,
            Front.of(title, about, date),
            pairs=pairs,
            n_jobs=jobs,
            report=report,
            tell=named_by_flags,
        )
    out.remark(f"wrote {output}")
    out.emit(board_document(built))
