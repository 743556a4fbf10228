"""``probative study datasets``."""

from __future__ import annotations

from typing import Annotated

from probative.cli import options
from probative.cli.output import progress
from probative.cli.parameters import Option
from probative.studies.options import DatasetStudyOptions

__all__ = ["datasets"]


def datasets(
    given: Annotated[
        DatasetStudyOptions,
        options.choose(
            *("datasets", "replicates", "rng"),
            datasets=Option(
                "--number",
                metavar="N",
                parser=options.whole_list,
                several=True,
                help="How many data sets; several times, or with commas.",
            ),
        ),
    ],
    out: options.RandomOutput,
) -> None:
    """Do the claims about several data sets hold? Counts, means and their spread, by simulation."""
    from probative.reporting.study_report import study_document
    from probative.studies import datasets as study

    with progress("conditions", quiet=out.quiet) as report:
        results = study.dataset_study(**vars(given), report=report)
    columns = {
        "claim": "claim",
        "method": "method",
        "dependence": "data sets",
        "datasets": "number",
        "better": "better",
        "share": "share",
        "standard_error": "s.e.",
        "replicates": "replicates",
    }
    broken = [result for result in results if not result.holds]
    allowed = (
        "A count may be too large, and a spread be found that is not there, in 0.05; a mean must "
        "be covered in at least 0.93."
    )
    exceeded = f"Worse by three standard errors: {'; '.join(map(str, broken)) or 'nowhere'}."
    document = study_document(
        "datasets",
        results,
        columns,
        title="Claims about several data sets",
        notes=[allowed, exceeded],
        signature=given.signature("datasets"),
    )
    out.emit(document)
