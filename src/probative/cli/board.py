"""``probative board``."""

from __future__ import annotations

import os
from pathlib import Path

from probative.cli.options import PROCESSES, argument, named_by_flags
from probative.cli.output import RandomOutput, progress
from probative.errors import InputError
from probative.options import OUTPUT, BoardOptions, choice


def board(
    gold: str = argument("GOLD", "The gold file."),
    submissions: str = argument(
        "SUBMISSIONS",
        "A folder of submissions: files, or folders with one file each, which name them. "
        "NAME.meta.toml, or meta.toml in a folder, gives team, paper, code and date.",
    ),
    *,
    output: Path = choice(
        "--output -o SITE: The folder of the site.", heading=OUTPUT, required=True
    ),
    title: str | None = choice("TEXT: The heading of the site.", heading=OUTPUT),
    about: Path | None = choice(
        "An introduction in Markdown, shown on the first page.",
        metavar="FILE.md",
        parser="Path",
        heading=OUTPUT,
    ),
    date: str | None = choice(
        "DAY: The day that the site shows, such as 2026-05-01; by default the day on which the "
        "newest submission was changed.",
        heading=OUTPUT,
    ),
    cache: Path | None = choice(
        "DIR: The folder of results for the next build; by default SITE.cache. Do not publish it.",
        rare=True,
    ),
    pairs: str = choice(
        "WHICH: Which pairs have a page: top (the leader with every other), all or none.",
        "top",
        among="jobs.board:PAIRS",
    ),
    given: BoardOptions,
    jobs: int = PROCESSES(-1),
    out: RandomOutput,
) -> None:
    """Score every submission of a folder, and write a site with the leaderboard.

    Only new submissions are computed; a bad one is listed with its error. The site shows nothing
    of the gold file.

    Example: probative board gold.conll submissions/ -o site
    """
    from probative.jobs.board import Front, build_site
    from probative.reporting.board_report import board_document

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
