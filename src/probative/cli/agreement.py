"""``probative agreement``."""

from __future__ import annotations

from typing import Annotated

from probative.cli.options import Argument, name_list
from probative.cli.output import Output
from probative.errors import InputError
from probative.options import INPUT, AgreementOptions, shared

__all__ = ["agreement"]


def agreement(
    files: Annotated[
        list[str],
        Argument(
            metavar="A B [C...]",
            help="The annotations (FILE or NAME=FILE); or one table, with --columns.",
        ),
    ],
    *,
    given: AgreementOptions,
    names: Annotated[
        tuple[str, ...] | None,
        shared("A,B", "The names of the annotators.", heading=INPUT, parser=name_list),
    ] = None,
    out: Output,
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
