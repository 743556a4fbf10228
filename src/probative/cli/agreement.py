"""``probative agreement``."""

from __future__ import annotations

from typing import Annotated

from probative.cli import options
from probative.cli.parameters import Argument, Option
from probative.errors import InputError
from probative.options import AgreementOptions

__all__ = ["agreement"]

_NONE_OF_THESE = {  # annotators have no scores of systems, and none of them is gold
    *("gold_column", "probability_columns", "threshold", "score_name", "positive"),
    *("labels", "train_words"),
}


# options of other commands, described without systems, gold and tests
_IN_OTHER_WORDS = {
    "by": options.STATISTICS["by"].in_words(
        "What is independent of the rest: sentence, document, unit or item.",
    ),
    "task": options.READING["task"].in_words(
        "What is annotated: entities, segmentation or labels."
    ),
    "columns": options.READING["columns"].in_words(
        "The annotators' columns: their numbers, or their names."
    ),
    "align_by": options.READING["align_by"].in_words(
        "How annotations are matched with each other: by tokens, which must be equal, by "
        "position alone, or (segmentation) by the characters that they share.",
    ),
    "match": options.READING["match"].in_words(
        "When two spans are the same: strict, exact, partial, type or boundary:K (both ends "
        "within K); or count tokens or characters of spans.",
    ),
}


def agreement(
    files: Annotated[
        list[str],
        Argument(
            metavar="A B [C...]",
            help="The annotations (FILE or NAME=FILE); or one table, with --columns.",
        ),
    ],
    *,
    given: Annotated[
        AgreementOptions,
        options.choose(
            "by",
            "missing",
            "level",
            *(name for name in options.READING if name not in _NONE_OF_THESE),
            missing=Option(
                "--missing",
                metavar="LABEL",
                help="The label that stands for none, where annotators have left items out; '' for "
                "blank cells.",
            ),
            **_IN_OTHER_WORDS,
        ),
    ],
    names: Annotated[
        tuple[str, ...] | None,
        Option(
            "--names", metavar="A,B", parser=options.name_list, help="What to call the annotators."
        ),
    ] = None,
    out: options.Output,
) -> None:
    """How far do annotators agree? Kappa, Krippendorff's alpha, or F1 of spans, with intervals.

    Example: probative agreement ann.conll bob.conll
    """
    from probative.jobs.agreement import agreement as find_agreement
    from probative.matching.outputs import short_name
    from probative.reading.runs import named_file
    from probative.reporting.agreement_report import agreement_document

    given_files = [named_file(word) for word in files]
    if any(file.name for file in given_files):
        if names is not None:
            raise InputError("names: the annotators have names already; expected none")
        names = tuple(file.name or short_name(file.path) for file in given_files)
    found = find_agreement(*(file.path for file in given_files), names=names, **vars(given))
    out.remark(*found.notes)
    out.emit(agreement_document(found))
