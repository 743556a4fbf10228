"""``probative study curves``."""

from __future__ import annotations

from typing import Annotated

from probative.cli import options
from probative.cli.output import progress
from probative.cli.parameters import Option
from probative.studies.options import CurveStudyOptions

__all__ = ["curves"]


def curves(
    given: Annotated[
        CurveStudyOptions,
        options.choose(
            *("kinds", "shares", "positives", "distances", "level", "replicates", "rng"),
            kinds=Option(
                "--kind",
                metavar="NAME",
                parser=options.word_list,
                several=True,
                help="How scores are drawn: continuous, tied, units.",
            ),
            shares=Option(
                "--share",
                metavar="P",
                parser=options.number_list,
                several=True,
                help="Shares of positives; several times, or with commas.",
            ),
            positives=Option(
                metavar="N",
                parser=options.whole_list,
                several=True,
                help="Expected numbers of positives.",
            ),
            distances=Option(
                "--distance",
                metavar="D",
                parser=options.number_list,
                several=True,
                help="How far the scores of positives lie above the others.",
            ),
        ),
    ],
    out: options.RandomOutput,
) -> None:
    """Do the intervals of average precision, thresholds and curves hold? By simulation."""
    from probative.reporting.study_report import study_document
    from probative.studies.curves import curve_study

    with progress("conditions", quiet=out.quiet) as report:
        results = curve_study(**vars(given), report=report)
    columns = {
        "kind": "scores",
        "share": "share",
        "positives": "positives",
        "distance": "distance",
        "average_precision": "true AP",
        "covered_ap": "AP",
        "length_ap": "length",
        "covered_auc": "AUC",
        "covered_point": "pointwise",
        "covered_curve": "whole curve",
        "covered_naive": "F1 naive",
        "covered_best": "F1 best",
        "bias_naive": "bias naive",
        "bias_best": "bias best",
        "covered_threshold": "threshold",
        "standard_error": "s.e.",
    }
    document = study_document(
        "curves",
        results,
        columns,
        title="Coverage of the intervals of curves",
        notes=[f"{given.replicates:,} test sets each; the level is {given.level:g}."],
        signature=given.signature("curves"),
    )
    out.emit(document)
