"""``probative split``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from probative.cli import options
from probative.cli.output import check_format, emit, remark, warnings_as_remarks
from probative.cli.parameters import Argument, Option

__all__ = ["split"]


def split(
    corpus: Annotated[str, Argument(metavar="CORPUS")],
    output: Annotated[
        Path,
        Option("--output", "-o", metavar="DIR", help="A new or an empty folder."),
    ],
    m: options.Repetitions = 3,
    regularize: Annotated[
        list[str] | None,
        Option(
            metavar="WHAT",
            help="What every part shall have an equal share of: entities, labels, tokens; several "
            "times, or separated by commas. By default entities and tokens, or labels.",
        ),
    ] = None,
    keep_documents: options.KeepDocuments = False,
    task: options.Task = None,
    input_format: options.InputFormat = None,
    encoding: options.Encoding = None,
    tag_column: options.TagColumn = None,
    label_column: options.GoldColumn = None,
    comments: options.Comments = False,
    scheme: options.Scheme = None,
    form: options.Format = "text",
    html: options.Html = None,
    quiet: options.Quiet = False,
    seed: options.Seed = None,
) -> None:
    """Which parts shall I train on? Files for 2m folds, balanced, with a manifest.

    Train on each train file with any tool, predict its validation file, then run: probative bayes
    --folds DIR --preds-a 'a/*' --preds-b 'b/*'
    """
    from probative._validation import one_of
    from probative.crossval.corpus import REGULARIZED, read_corpus
    from probative.crossval.fold_files import write_folds
    from probative.reporting.crossval_report import split_document

    check_format(form)
    wanted = options.words(regularize, ("entities", "tokens"))
    for word in wanted:
        one_of("--regularize", word, REGULARIZED)
    reading: dict[str, Any] = {
        "encoding": encoding,
        "tag_column": tag_column,
        "comments": comments,
        "column": label_column,
    }
    found = read_corpus(corpus, scheme=scheme, task=task, input_format=input_format, **reading)
    for note in found.notes:
        remark(note, quiet=quiet)
    with warnings_as_remarks(quiet=quiet):
        manifest = write_folds(
            found,
            output,
            m=m,
            rng=seed,
            regularize=wanted,
            keep_documents=keep_documents,
            reading=reading,
        )
    choices = [
        "split",
        found.task,
        f"m:{m}",
        f"regularize:{','.join(wanted)}",
        *(["documents"] if keep_documents else []),
        f"seed:{manifest['seed']}",
    ]
    emit(split_document(manifest, str(output), choices=choices), form, html=html, quiet=quiet)
