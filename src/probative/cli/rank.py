"""``probative rank`` and ``board``."""

from __future__ import annotations

import os
import shlex
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any

from probative.cli.options import (
    COUNTS_FILES,
    NAMES,
    PROCESSES,
    RUNS,
    argument,
    named_by_flags,
    words_of,
)
from probative.cli.output import Drawn, Output, progress, reading_progress
from probative.errors import InputError
from probative.options import OUTPUT, BoardOptions, CompareOptions, RankOptions, choice

if TYPE_CHECKING:
    from probative.reporting.rank_report import PairCommand
    from probative.results import Ranking


def rank(
    files: list[str] = argument(
        "GOLD [SYSTEM...]",
        "Gold and the outputs: files, NAME=FILE, folders or patterns; or one file that holds them "
        "in columns; or logs of evaluations, or (--counts) files of counts, and no gold. - is "
        "standard input.",
        several=True,
        required=False,
    ),
    *,
    given: RankOptions,
    names: tuple[str, ...] | None = NAMES(None),
    runs: tuple[str, ...] | None = RUNS(None),
    counts: bool = COUNTS_FILES(False),
    comparisons: int | None = choice(
        "N: How many pairs the page compares in full, the leader's and neighbours' first; by "
        "default these alone.",
        needs=("html",),
    ),
    jobs: int = PROCESSES(-1),
    out: Drawn,
) -> None:
    """Example: probative rank gold.conll submissions/"""
    from probative.cli.inputs import inputs_of
    from probative.jobs.rank import rank as find_ranking
    from probative.reading.runs import folders_passed_over
    from probative.reporting.rank_report import rank_document, rank_figure

    inputs, called, remarks = inputs_of(files, runs, names, counts=counts, expand=True)
    in_full = comparisons if out.html else 0
    with reading_progress("pairs", quiet=out.quiet) as report:
        ranking = find_ranking(
            *inputs, names=called, n_jobs=jobs, report=report, comparisons=in_full, **vars(given)
        )
    if counts:
        from probative.results.scores import with_scores

        ranking = with_scores(ranking, notes=(*remarks, *ranking.notes))
    out.remark(*folders_passed_over(files), *ranking.notes)
    command = None if counts or runs else _pair_command(inputs, called, given, ranking)
    out.emit(rank_document(ranking, command), lambda: rank_figure(ranking))


def _pair_command(
    inputs: Sequence[Any], names: Sequence[str] | None, given: RankOptions, ranking: Ranking
) -> PairCommand | None:
    """Return the command that compares two systems in full; None if it cannot be repeated."""
    from probative.reporting.rank_report import PairCommand

    logs = ranking.task == "samples"  # they need no gold
    gold, paths = (inputs[:0], inputs) if logs else (inputs[:1], inputs[1:])
    called = [system.name for system in ranking.systems]
    if "-" in inputs or any("," in name for name in called) or len(paths) not in (0, len(called)):
        return None
    base = [PurePath(path).name for path in (*gold, *paths)]  # a page shows no folders
    named = [shlex.quote(n) for n in called]
    start = shlex.join(["probative", "compare", *base[: len(gold)]])
    more = shlex.join(words_of(replace(given, columns=()), of=CompareOptions))
    end = f"{' ' if more else ''}{more} --html pair.html"
    start += " " if paths else " --columns "
    columns = [shlex.quote(str(column)) for column in given.columns] or named
    words: list[tuple[str, ...]] = [(shlex.quote(name),) for name in base[len(gold) :]]
    words = words or [(column,) for column in columns]
    parts: tuple[str, ...] = (start, " " if paths else ",", end)
    if names is not None:
        words = [(*own, name) for own, name in zip(words, named, strict=True)]
        parts = (*parts[:2], " --names ", ",", end)
    return PairCommand(parts, dict(zip(called, words, strict=True)))


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
    out: Output,
) -> None:
    """Only new submissions are computed; a bad one is listed with its error. The site shows nothing
    of the gold file.

    Example: probative board gold.conll submissions/ -o site
    """
    from probative.jobs.board import Front, build_site
    from probative.reporting.rank_report import board_document

    if out.html and Path(os.path.realpath(output)) in Path(os.path.realpath(out.html)).parents:
        raise InputError("lies in the site, which is replaced; expected it elsewhere", out.html)
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
