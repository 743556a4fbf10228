"""``probative study chunking``."""

from __future__ import annotations

from typing import Annotated

from probative.cli import options
from probative.cli.output import check_format, emit, progress, warnings_as_remarks
from probative.cli.parameters import Option

__all__ = ["chunking"]


def chunking(
    cws: Annotated[
        list[str] | None,
        Option(
            metavar="FILE",
            help="Segmented text, such as SIGHAN 2005's pku_training.utf8; repeatable.",
        ),
    ] = None,
    ner: Annotated[
        list[str] | None,
        Option(metavar="FILE", help="Entities, such as CoNLL-2003's eng.train; repeatable."),
    ] = None,
    only: Annotated[str, Option(metavar="LABEL", help="The type of the third task.")] = "ORG",
    features: Annotated[
        str | None,
        Option(
            metavar="N,...",
            help="Columns beside the word that features see; by default the second of four.",
        ),
    ] = None,
    encoding: options.Encoding = None,
    c2: Annotated[
        float, Option(metavar="NUMBER", parser=options.number, help="The L2 penalty.")
    ] = 0.1,
    iterations: Annotated[
        int, Option(metavar="N", parser=options.whole, help="L-BFGS iterations at most.")
    ] = 100,
    m: options.Repetitions = 3,
    jobs: options.Jobs = None,
    resume: options.Resume = None,
    form: options.Format = "text",
    html: options.Html = None,
    quiet: options.Quiet = False,
    seed: options.Seed = None,
) -> None:
    """Does a finer tag set make a better chunker? Wang and Li's three experiments on your corpora.

    Example: probative study chunking --cws pku_training.utf8 --ner eng.train --jobs 2
    """
    from probative.data import load
    from probative.reporting.chunking_report import chunking_document
    from probative.studies.chunking import chunking_study

    check_format(form)
    with progress("fits", quiet=quiet) as report, warnings_as_remarks(quiet=quiet):
        results = chunking_study(
            cws=cws or (),
            ner=ner or (),
            label=only,
            features=options.column_numbers("--features", features) or None,
            encoding=encoding,
            m=m,
            rng=seed,
            n_jobs=jobs,
            folder=resume,
            report=report,
            c2=c2,
            max_iterations=iterations,
        )
    published = {task: entry["published"] for task, entry in load("bayes_test")["tasks"].items()}
    choices = [
        "chunking",
        "crf",
        f"c2:{c2:g}",
        f"iterations:{iterations}",
        *([f"only:{only}"] if ner else []),
        f"{m}x2-block-regularised",
        f"seed:{results[0].comparison.seed}",
    ]
    document = chunking_document(results, published, choices=choices)
    emit(document, form, html=html, quiet=quiet)
