"""``probative agreement``."""

from __future__ import annotations

from typing import Annotated

from probative.cli.options import Argument, name_list
from probative.cli.output import Output
from probative.options import INPUT, AgreementOptions, shared


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
    """Measure agreement between annotators: kappa, Krippendorff's alpha, or F1 of spans.

    Example: probative agreement ann.conll bob.conll
    """
    from probative.cli.inputs import named_systems
    from probative.jobs.agreement import agreement as find_agreement
    from probative.reporting.agreement_report import agreement_document

    paths, called, _ = named_systems(files, names, who="annotators")
    found = find_agreement(*paths, names=called, **vars(given))
    out.remark(*found.notes)
    out.emit(agreement_document(found))
