"""``probative rank``."""

from __future__ import annotations

from typing import Annotated

from probative.cli import options
from probative.cli.output import progress
from probative.cli.parameters import Argument, Option
from probative.options import RankOptions

__all__ = ["rank"]


def rank(
    files: Annotated[
        list[str] | None,
        Argument(
            metavar="GOLD [SYSTEM...]",
            help="The answer and the outputs: files, NAME=FILE, folders or patterns; or one file "
            "that holds them in columns; with --counts, files of counts and no answer. - is "
            "standard input.",
        ),
    ] = None,
    *,
    given: Annotated[
        RankOptions,
        options.choose(
            *("metric", "average", "by", "beta", "level", "adjust", "rng", *options.READING),
            "run_column",
            run_column=options.RUN_COLUMN,
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
    runs: options.Runs = None,
    counts: Annotated[
        bool,
        Option(
            "--counts",
            help="The files hold tp, fp, fn [, tn], one row per unit; columns model and run tell "
            "systems and runs apart.",
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
    from probative.cli.inputs import inputs_of
    from probative.ranking import rank as find_ranking
    from probative.reading.systems import folders_passed_over
    from probative.reporting.rank_figure import rank_figure
    from probative.reporting.rank_report import rank_document

    inputs, called = inputs_of(files, runs, names, counts=counts, expand=True)
    with progress("testing pairs", quiet=out.quiet) as report:
        ranking = find_ranking(*inputs, names=called, n_jobs=jobs, report=report, **vars(given))
    out.remark(*folders_passed_over(files or ()), *ranking.notes)
    out.emit(rank_document(ranking), lambda: rank_figure(ranking))
