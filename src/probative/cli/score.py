"""``probative score``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import click

from probative.cli import options
from probative.cli.output import ScoreOutput, reading_progress
from probative.cli.parameters import Argument, Option
from probative.options import ScoreOptions

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from probative.results import Scores

__all__ = ["score"]

_FORMAT = Option(
    "--format", "-f", metavar="FORMAT", help="text, json, markdown, latex, csv, conlleval."
)


def score(
    files: Annotated[
        list[str],
        Argument(
            metavar="GOLD [PRED...]",
            help="The answer and the outputs (FILE or NAME=FILE); or one file with gold and "
            "predicted columns; or logs of evaluations. - is standard input.",
        ),
    ],
    *,
    given: Annotated[
        ScoreOptions,
        options.choose(
            *("metric", "beta", "method", "by", "overlap", "level", *options.READING),
            *options.TABLES,
            "run_column",
            "group",
            run_column=options.RUN_COLUMN,
            group=options.GROUP,
            second_gold=options.SECOND_GOLD,
            method=Option(
                metavar="NAME", help="How intervals are made: wilson-indirect, bayes and so on."
            ),
            overlap=Option("--overlap", help="Count partial overlaps of spans, too."),
        ),
    ],
    probabilities: Annotated[
        bool,
        Option(
            "--probabilities",
            help="The outputs are probabilities (or any scores) of the positive class: curves, "
            "average precision, the best threshold, calibration.",
        ),
    ] = False,
    names: options.Names = None,
    runs: options.Runs = None,
    out: Annotated[
        ScoreOutput, options.printing(options.FIGURE, options.CURVE_SEED, {"form": _FORMAT})
    ],
) -> None:
    """What does my system score? Precision, recall, F1 with intervals, from files.

    Example: probative score gold.conll system.conll
    """
    from probative.cli.inputs import inputs_of
    from probative.jobs.score import score as find_scores
    from probative.reporting.score_report import conlleval_report, scores_document

    inputs, called, remarks = inputs_of(files, runs, names)
    if probabilities:
        from probative.cli.probabilities import print_curves

        print_curves(inputs, called, given, out, remarks)
        return
    with reading_progress("reading", quiet=out.quiet):
        scores = find_scores(*inputs, names=called, **vars(given))
    out.remark(*remarks, *scores.notes)
    if out.form == "conlleval":
        click.echo(conlleval_report(scores), nl=False)
    else:
        out.emit(scores_document(scores), lambda: _draw(scores))


def _draw(scores: Scores) -> Figure:
    from probative.reporting.compare_figures import scores_figure

    return scores_figure(scores)
