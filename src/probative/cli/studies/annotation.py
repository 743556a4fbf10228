"""``probative study annotation``."""

from __future__ import annotations

from typing import Annotated

from probative.cli import options
from probative.cli.output import progress
from probative.cli.parameters import Option
from probative.studies.options import AnnotationOptions

__all__ = ["annotation"]


def annotation(
    *,
    gold: Annotated[
        str | None,
        Option(metavar="FILE", help="An annotated pool; without, single items are made."),
    ] = None,
    system: Annotated[
        list[str] | None,
        Option(metavar="FILE", help="The outputs of A, B and a third, of which judges are made."),
    ] = None,
    names: Annotated[
        list[str] | None,
        Option(metavar="FILE", help="Instead, two annotated files whose names two taggers know."),
    ] = None,
    given: Annotated[
        AnnotationOptions,
        options.choose(
            *("sizes", "prevalences", "kinds", "items", "level", "replicates", "rng"),
            sizes=Option(
                "--n",
                metavar="N",
                parser=options.whole_list,
                several=True,
                help="Numbers of labels; several times, or with commas.",
            ),
            prevalences=Option(
                "--prevalence",
                metavar="P",
                parser=options.number_list,
                several=True,
                help="Shares of positive items.",
            ),
            kinds=Option(
                "--confidence",
                metavar="NAME",
                parser=options.word_list,
                several=True,
                help="What is said of items: calibrated, timid, bold, shifted, none, nonsense, "
                "blind.",
            ),
            items=Option(metavar="N", parser=options.whole, help="Items in a pool."),
        ),
    ],
    out: options.RandomOutput,
) -> None:
    """Do scores of a pool hold that few labels tell, and what is placing these labels worth?

    Example: probative study annotation --gold test.conll --system a --system b --system c
    """
    from probative.reporting.study_report import study_document
    from probative.studies.annotation import annotation_study

    with progress("conditions", quiet=out.quiet) as report:
        results = annotation_study(gold, system or (), names or (), **vars(given), report=report)
    columns = {
        "pool": "pool",
        "question": "question",
        "labels": "labels",
        "placement": "placed",
        "help": "help",
        "truth": "truth",
        "coverage": "coverage",
        "standard_error": "s.e.",
        "width": "width",
        "worth": "worth",
        "normal": "normal",
        "noted": "noted",
        "unnoted": "without note",
    }
    document = study_document(
        "annotation",
        results,
        columns,
        title="Scores of a pool from few labels",
        notes=[f"{given.replicates:,} samples each; the level is {given.level:g}."],
        signature=given.signature("annotation"),
    )
    out.emit(document)
