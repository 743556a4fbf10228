"""``probative rank``."""

from __future__ import annotations

from typing import Annotated, Any

from probative.cli import options
from probative.cli.output import progress
from probative.cli.parameters import Argument, Option
from probative.errors import InputError
from probative.options import RankOptions

__all__ = ["rank"]


def rank(
    files: Annotated[
        list[str],
        Argument(
            metavar="GOLD [SYSTEM...]",
            help="The answer and the outputs: files, NAME=FILE, folders or patterns; or one file "
            "that holds them in columns; or logs of evaluations, or (--counts) files of counts, "
            "and no answer. - is standard input.",
        ),
    ],
    *,
    given: Annotated[
        RankOptions,
        options.choose(
            *("metric", "average", "by", "beta", "level", "adjust", "rng", *options.READING),
            metric=Option(
                metavar="NAME",
                help="precision, recall, f1, fbeta, jaccard, accuracy, specificity or npv.",
            ),
            average=Option(metavar="HOW", help="micro or macro."),
            adjust=Option(
                metavar="HOW", help="How p is adjusted for the number of pairs: holm or shaffer."
            ),
        ),
    ],
    names: options.Names = None,
    counts: Annotated[
        bool,
        Option(
            "--counts",
            help="The files hold tp, fp, fn [, tn], one row per unit; with a column model, those "
            "of several systems.",
        ),
    ] = False,
    jobs: Annotated[
        int,
        Option(
            "--jobs",
            metavar="N",
            parser=options.workers,
            help="Processes at once; -1 for all cores.",
        ),
    ] = -1,
    out: options.RandomDrawn,
) -> None:
    """Who is best, and who ties? A leaderboard with rank sets, tiers, ties and P(best).

    Example: probative rank gold.conll submissions/
    """
    from probative.ranking import rank as find_ranking
    from probative.reading.systems import folders_passed_over
    from probative.reporting.rank_figure import rank_figure
    from probative.reporting.rank_report import rank_document

    inputs, called = _inputs(files, names, counts=counts)
    with progress("testing pairs", quiet=out.quiet) as report:
        ranking = find_ranking(*inputs, names=called, n_jobs=jobs, report=report, **vars(given))
    out.remark(*folders_passed_over(files), *ranking.notes)
    out.emit(rank_document(ranking), lambda: rank_figure(ranking))


def _inputs(
    files: list[str], names: tuple[str, ...] | None, *, counts: bool
) -> tuple[list[Any], list[str] | None]:
    """The answer and the outputs, or the counts; and what the systems are called."""
    from probative.matching.matched import short_name
    from probative.reading.counts_files import read_systems
    from probative.reading.systems import find_systems, named_file

    # logs need no answer: the first of them may have a name, as a system has
    without_answer = counts or named_file(files[0]).name is not None
    gold, words = (None, files) if without_answer else (files[0], files[1:])
    systems = find_systems(words, beside=gold)
    named = any(file.name is not None for file in systems)
    if named and names:
        raise InputError("names: the systems have names already; expected none")
    called = [file.name or short_name(file.path) for file in systems] if named else names
    paths = [file.path for file in systems]
    if counts:
        return [read_systems(paths, called)], None
    inputs = paths if gold is None else [gold, *paths]
    return inputs, None if called is None else list(called)
