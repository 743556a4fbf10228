"""``probative split``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from probative.cli.options import Argument
from probative.cli.output import RandomOutput, warnings_as_remarks
from probative.errors import InputError
from probative.options import OUTPUT, SplitOptions, shared


def split(
    corpus: Annotated[str, Argument(metavar="CORPUS")],
    output: Annotated[
        Path,
        shared("--output -o DIR", "A new or an empty folder.", heading=OUTPUT),
    ],
    *,
    given: SplitOptions,
    out: RandomOutput,
) -> None:
    """Write files for 2m balanced folds, with a manifest.

    Train on each train file with any tool, predict its validation file, then run: probative bayes
    --folds DIR --preds-a 'a/*' --preds-b 'b/*'
    """
    from probative._validation import one_of
    from probative.crossval.corpus import REGULARIZED, read_corpus
    from probative.crossval.fold_files import write_folds
    from probative.reporting.bayes_report import split_document

    for word in given.regularize:
        one_of("--regularize", word, REGULARIZED)
    reading: dict[str, Any] = {
        "encoding": given.encoding,
        "tag_column": given.tag_column,
        "comments": given.comments,
        "column": given.gold_column,
    }
    data = read_corpus(
        corpus, scheme=given.scheme, task=given.task, input_format=given.input_format, **reading
    )
    if data.task == "labels" and given.regularize not in (SplitOptions.regularize, ("labels",)):
        raise InputError("--regularize: a corpus of labels has equal shares of labels alone")
    out.remark(*data.notes)
    with warnings_as_remarks(quiet=out.quiet):
        manifest = write_folds(
            data,
            output,
            m=given.m,
            rng=given.rng,
            regularize=given.regularize,
            keep_documents=given.keep_documents,
            reading=reading,
        )
    signature = given.signature("split", data.task, f"seed:{manifest['seed']}")
    out.emit(split_document(manifest, str(output), signature=signature))
