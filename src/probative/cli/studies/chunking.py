"""``probative study chunking``."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

from probative.cli import options
from probative.cli.output import progress, warnings_as_remarks
from probative.cli.parameters import Option
from probative.studies.options import ChunkingOptions

__all__ = ["chunking"]


def chunking(
    *,
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
    given: Annotated[
        ChunkingOptions,
        options.choose(
            *("label", "features", "encoding", "c2", "max_iterations", "m", "rng"),
            label=Option("--only", metavar="LABEL", help="The type of the third task."),
            features=Option(
                metavar="N,...",
                parser=options.column_numbers,
                help="Columns beside the word that features see; by default the second of four.",
            ),
            c2=Option(metavar="NUMBER", parser=options.number, help="The L2 penalty."),
            max_iterations=Option(
                "--iterations",
                metavar="N",
                parser=options.whole,
                help="L-BFGS iterations at most.",
            ),
        ),
    ],
    jobs: options.Jobs = None,
    resume: options.Resume = None,
    out: options.RandomOutput,
) -> None:
    """Does a finer tag set make a better chunker? Wang and Li's three experiments on your corpora.

    Example: probative study chunking --cws pku_training.utf8 --ner eng.train --jobs 2
    """
    from probative.data import load
    from probative.reporting.chunking_report import chunking_document
    from probative.studies.chunking import chunking_study

    with progress("fits", quiet=out.quiet) as report, warnings_as_remarks(quiet=out.quiet):
        results = chunking_study(
            cws=cws or (),
            ner=ner or (),
            n_jobs=jobs,
            folder=resume,
            report=report,
            **vars(given),
        )
    published = {task: entry["published"] for task, entry in load("bayes_test")["tasks"].items()}
    # the third task has a type of entities only where there are entities
    signature = (given if ner else replace(given, label="")).signature(
        "chunking",
        "crf",
        f"{given.m}x2-block-regularised",
        f"seed:{results[0].comparison.seed}",
    )
    out.emit(chunking_document(results, published, signature=signature))
