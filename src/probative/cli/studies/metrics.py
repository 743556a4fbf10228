"""``probative study metrics``."""

from __future__ import annotations

from typing import Annotated

from probative.cli import options
from probative.cli.parameters import Option
from probative.cli.studies.simulate import simulate
from probative.studies.options import MetricStudyOptions

__all__ = ["metrics"]


def metrics(
    given: Annotated[
        MetricStudyOptions,
        options.choose(
            *("questions", "metrics", "sizes", "methods", "conditions"),
            *("replicates", "level", "rng"),
            questions=Option(
                "--question",
                metavar="NAME",
                parser=options.word_list,
                several=True,
                help="score (exactly), difference, units, unit-differences, classes or "
                "class-differences; several times, or with commas.",
            ),
            metrics=Option(
                "--metric",
                metavar="NAME",
                parser=options.word_list,
                several=True,
                help="balanced_accuracy, mcc, kappa, informedness, markedness, fowlkes_mallows.",
            ),
            sizes=Option(
                "--n",
                metavar="N",
                parser=options.whole_list,
                several=True,
                help="Items of a test set, for --question score.",
            ),
            methods=Option(
                "--method",
                metavar="NAME",
                parser=options.word_list,
                several=True,
                help="Intervals, for --question score; by default the one that is used.",
            ),
            conditions=Option(
                "--condition",
                metavar="NAME",
                several=True,
                help="Draw only where this is part of the condition's name, such as 'rare, "
                "lognormal'; may be repeated.",
            ),
        ),
    ],
    out: options.RandomOutput,
) -> None:
    """Do the intervals of MCC, kappa and their kin cover what they promise?"""
    from probative.studies.metrics import metric_study

    columns = {
        "question": "of a",
        "metric": "metric",
        "condition": "condition",
        "n": "n",
        "method": "method",
        "coverage": "coverage",
        "standard_error": "s.e.",
        "noted": "with a note",
        "unnoted_misses": "misses without",
        "length": "length",
    }
    note = (
        "Of one score, the least coverage over shares of positives, recalls and specificities: a "
        "sum over all tables, at the shares of tp, fp, fn and tn that are told. The rest is drawn."
    )
    simulate(
        "metrics",
        metric_study,
        given,
        out,
        columns=columns,
        title="Coverage of the intervals of MCC, kappa and their kin",
        notes=[note],
    )
