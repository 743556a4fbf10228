"""``probative study curves``."""

from __future__ import annotations

from typing import Annotated

from probative.cli import options
from probative.cli.output import progress
from probative.cli.parameters import Option
from probative.studies.options import CurveStudyOptions

__all__ = ["curves"]

_CONDITION = {"share": "share", "positives": "positives", "area": "area"}
_COLUMNS = {
    "order": {
        "kind": "scores",
        **_CONDITION,
        "average_precision": "true AP",
        "covered_ap": "AP",
        "length_ap": "length",
        "noted_ap": "note",
        "roc_auc": "true AUC",
        "covered_auc": "AUC",
        "length_auc": "length",
        "noted_auc": "note",
        "standard_error": "s.e.",
    },
    "threshold": {
        "kind": "scores",
        **_CONDITION,
        "covered_point": "one threshold",
        "noted_point": "note",
        "covered_curve": "whole curve",
        "covered_naive": "F1 naive",
        "covered_best": "F1 elsewhere",
        "noted_best": "note",
        "bias_naive": "bias naive",
        "bias_best": "bias",
        "covered_threshold": "best threshold",
        "standard_error": "s.e.",
    },
    "calibration": {
        "probabilities": "probabilities",
        "items": "items",
        "error": "true error",
        "seen": "seen",
        "left": "left",
        "covered": "coverage",
        "length": "length",
        "noted": "note",
        "covered_bins": "bins",
        "standard_error": "s.e.",
    },
    "difference": {
        "pair": "systems",
        **_CONDITION,
        "found_ap": "found: AP",
        "found_auc": "AUC",
        "found_best": "F1",
        "covered_ap": "coverage: AP",
        "noted_ap": "note",
        "covered_auc": "AUC",
        "noted_auc": "note",
        "covered_best": "F1",
        "noted_best": "note",
        "surer": "P > 0.95",
        "standard_error": "s.e.",
    },
}
_TITLES = {
    "order": "Average precision and the area under the ROC curve: coverage",
    "threshold": "Along the curve, and at its best threshold: coverage",
    "calibration": "Calibration error: coverage",
    "difference": "Two systems: differences found, and coverage",
}


def curves(
    given: Annotated[
        CurveStudyOptions,
        options.choose(
            *("questions", "kinds", "pairs", "shares", "positives", "areas", "probabilities"),
            *("items", "level", "replicates", "rng"),
            questions=Option(
                "--question",
                metavar="NAME",
                parser=options.word_list,
                several=True,
                help="What is asked: order, threshold, calibration, difference.",
            ),
            kinds=Option(
                "--kind",
                metavar="NAME",
                parser=options.word_list,
                several=True,
                help="How scores are drawn: continuous, tied, coarse, missed, units.",
            ),
            pairs=Option(
                "--pair",
                metavar="NAME",
                parser=options.word_list,
                several=True,
                help="How two systems are related: alike, units, copies, better.",
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
            areas=Option(
                "--area",
                metavar="P",
                parser=options.number_list,
                several=True,
                help="Areas under the ROC curve.",
            ),
            probabilities=Option(
                metavar="NAME",
                parser=options.word_list,
                several=True,
                help="What is wrong with probabilities: right (nothing), bold, high, units, 'high "
                "units', bolder, labels, rare, partly.",
            ),
            items=Option(
                "--n",
                metavar="N",
                parser=options.whole_list,
                several=True,
                help="How many probabilities there are.",
            ),
        ),
    ],
    out: options.RandomOutput,
) -> None:
    """Do intervals and tests of curves, thresholds and calibration hold? By simulation."""
    from probative.reporting.study_report import studies_document
    from probative.studies.curve_questions import curve_study

    with progress("conditions", quiet=out.quiet) as report:
        results = curve_study(**vars(given), report=report)
    document = studies_document(
        "curves",
        results,
        _COLUMNS,
        _TITLES,
        notes=[f"{given.replicates:,} test sets each; the level is {given.level:g}."],
        signature=given.signature("curves"),
    )
    out.emit(document)
