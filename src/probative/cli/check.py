"""``probative check``."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

from probative.cli.options import Argument, named_by_flags
from probative.cli.output import Output
from probative.errors import InputError
from probative.options import CheckOptions


def check(
    file: Annotated[str, Argument(metavar="FILE", help="The file; - is standard input.")],
    *,
    given: CheckOptions,
    out: Output,
) -> int:
    """Show what a file holds and what is wrong with it; exit status 1 if something is.

    Example: probative check gold.conll
    """
    from probative.matching.check import check as find_problems
    from probative.reading.runs import named_file, taken_for_file
    from probative.reporting.score_report import check_document

    report = find_problems(named_file(file).path, **vars(given))
    by_flags = (named_by_flags(InputError(problem)).message for problem in report.problems)
    report = replace(report, problems=tuple(by_flags))
    out.remark(*filter(None, [taken_for_file(file)]), *report.notes, whole=True)
    signature = given.signature("check", report.input_format, report.task)
    out.emit(check_document(report, signature=signature))
    return 1 if report.problems else 0
