"""``probative check``."""

from __future__ import annotations

from typing import Annotated

from probative.cli import options
from probative.cli.output import check_format, emit, remark
from probative.cli.parameters import Argument, Option

__all__ = ["check"]


def check(
    file: Annotated[str, Argument(metavar="FILE", help="The file; - is standard input.")],
    task: options.Task = None,
    input_format: options.InputFormat = None,
    encoding: options.Encoding = None,
    tag_column: options.TagColumn = None,
    column: Annotated[
        str | None, Option(metavar="NAME", help="The column of the labels in a table.")
    ] = None,
    comments: options.Comments = False,
    scheme: options.Scheme = None,
    form: options.Format = "text",
    html: options.Html = None,
    quiet: options.Quiet = False,
) -> int:
    """What is this file, and what is wrong with it? Exit status 1 if something is.

    Example: probative check gold.conll
    """
    from probative.matching.check import check as find_problems
    from probative.reporting.check_report import check_document

    check_format(form)
    found = find_problems(
        file,
        task=task,
        input_format=input_format,
        encoding=encoding,
        tag_column=tag_column,
        column=column,
        comments=comments,
        scheme=scheme,
    )
    for note in found.notes:
        remark(note, quiet=quiet)
    emit(check_document(found), form, html=html, quiet=quiet)
    return 1 if found.problems else 0
