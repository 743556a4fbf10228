"""What the commands of simulations do alike."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from probative.cli.output import progress

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from probative.cli.output import Output
    from probative.options import Options

__all__ = ["simulate"]


def simulate(
    name: str,
    study: Callable[..., Sequence[Any]],
    given: Options,
    out: Output,
    *,
    columns: Mapping[str, str],
    title: str,
    notes: Sequence[str],
    counting: str = "conditions",
) -> None:
    """Run a study with the options that were given, and show a row for each condition.

    Parameters
    ----------
    name, study
        What the study is called, and its function: it takes the options and `report`.
    given, out
        The options, and where to print.
    columns
        The heads of the table, by the names of the results' fields.
    title, notes
        The head of the table, and sentences below it.
    counting
        What the progress bar counts.
    """
    from probative.reporting.study_report import study_document

    with progress(counting, quiet=out.quiet) as report:
        results = study(**vars(given), report=report)
    signature = given.signature(name)
    out.emit(study_document(name, results, columns, title=title, notes=notes, signature=signature))
