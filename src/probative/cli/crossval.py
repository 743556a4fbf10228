"""``probative crossval``."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from probative.cli.inputs import protect_code
from probative.cli.options import JOBS, RESUME, argument
from probative.cli.output import RandomDrawn, output_aside, progress, warnings_as_remarks
from probative.options import CrossvalOptions

_CORPUS = ("task", "input_format", "encoding", "tag_column", "comments", "scheme")
_JUDGING = ("m", "metric", "rng", "rope", "prior", "level", "beta", "weight")


def crossval(
    corpus: list[str] = argument(
        "CORPUS...",
        "The corpus to train and validate on; several files make one corpus.",
        several=True,
    ),
    *,
    given: CrossvalOptions,
    jobs: int | None = JOBS(None),
    resume: Path | None = RESUME(None),
    out: RandomDrawn,
) -> None:
    """Train and compare two models by cross-validation.

    Example: probative crossval train.conll --a crf:iob2 --b crf:iobes --jobs 2
    """
    from probative.crossval.corpus import read_corpora
    from probative.crossval.runner import compare_models
    from probative.learners import model_of
    from probative.reporting.bayes_report import (
        crossval_document,
        crossval_figure,
        crossval_pictures,
    )

    corpora = read_corpora(corpus, features=given.features, **given.chosen(*_CORPUS))
    data = corpora.select(only=given.only, ignore_type=given.ignore_type)
    data.check_size(given.m)
    groups = data.groups(keep_documents=given.keep_documents)
    out.remark(*data.notes)
    names = (str(given.a), str(given.b))
    with (
        progress("fits", quiet=out.quiet) as report,
        warnings_as_remarks(quiet=out.quiet),
        output_aside(),
    ):
        models = (model_of(names[0], "--a"), model_of(names[1], "--b"))
        protect_code(html=out.html, figure=out.figure)
        result = compare_models(
            *models,
            data.sentences,
            data.spans,
            groups=groups,
            names=names,
            n_jobs=jobs,
            folder=resume,
            report=report,
            **given.chosen(*_JUDGING),
        )
    signature = given.signature(
        data.task, ",".join(result.metrics), f"{given.m}x2-block-regularised", f"seed:{result.seed}"
    )
    pictures = crossval_pictures(result) if out.html else ()
    signed = replace(result, task=data.task, signature=signature)
    document = crossval_document(signed, pictures=pictures)
    out.emit(document, lambda: crossval_figure(result))
