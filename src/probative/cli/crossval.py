"""``probative crossval``."""

from __future__ import annotations

from typing import Annotated

from probative.cli import options
from probative.cli.aside import output_aside
from probative.cli.output import check_format, emit, progress, remark, warnings_as_remarks
from probative.cli.parameters import Argument, Option

__all__ = ["crossval"]


def crossval(
    corpus: Annotated[
        list[str],
        Argument(metavar="CORPUS...", help="Several files make one corpus."),
    ],
    a: Annotated[
        str,
        Option("--a", metavar="MODEL", help="The baseline: crf:SCHEME or python:MODULE:FACTORY."),
    ],
    b: Annotated[str, Option("--b", metavar="MODEL", help="The challenger, likewise.")],
    only: options.Only = None,
    ignore_type: options.IgnoreType = False,
    features: Annotated[
        str | None,
        Option(
            metavar="N,...",
            help="Further columns (from 1) that features see, such as the part of speech.",
        ),
    ] = None,
    m: options.Repetitions = 3,
    jobs: options.Jobs = None,
    resume: options.Resume = None,
    keep_documents: options.KeepDocuments = False,
    metric: options.Metric = None,
    rope: options.Rope = 0.0,
    prior: options.Prior = 1.0,
    beta: options.Beta = 1.0,
    weight: options.Weight = "effective",
    task: options.Task = None,
    input_format: options.InputFormat = None,
    encoding: options.Encoding = None,
    tag_column: options.TagColumn = None,
    comments: options.Comments = False,
    scheme: options.Scheme = None,
    level: options.Level = 0.95,
    figure: options.Figure = None,
    form: options.Format = "text",
    html: options.Html = None,
    quiet: options.Quiet = False,
    seed: options.Seed = None,
) -> None:
    """Is model B better than model A, whatever the training set? Train, validate, judge.

    Example: probative crossval train.conll --a crf:iob2 --b crf:iobes --jobs 2
    """
    from probative.crossval.corpus import read_corpora
    from probative.crossval.runner import compare_models
    from probative.learners.specs import model_of
    from probative.reporting.crossval_report import (
        crossval_document,
        crossval_drawings,
        crossval_figure,
    )

    check_format(form)
    kinds = options.words(only, ())
    found = read_corpora(
        corpus,
        scheme=scheme,
        features=options.column_numbers("--features", features),
        task=task,
        input_format=input_format,
        encoding=encoding,
        tag_column=tag_column,
        comments=comments,
    ).chosen(only=kinds, ignore_type=ignore_type)
    found.check_size(m)
    groups = found.groups(keep_documents=keep_documents)
    for note in found.notes:
        remark(note, quiet=quiet)
    with (
        progress("fits", quiet=quiet) as report,
        warnings_as_remarks(quiet=quiet),
        output_aside(),
    ):
        result = compare_models(
            model_of(a, "--a"),
            model_of(b, "--b"),
            found.sentences,
            found.spans,
            m=m,
            metric=options.words(metric, ()) or None,
            groups=groups,
            rng=seed,
            names=(a, b),
            n_jobs=jobs,
            folder=resume,
            rope=rope,
            prior=prior,
            level=level,
            beta=beta,
            weight=options.fold_weight(weight),
            report=report,
        )
    choices = [
        found.task,
        ",".join(result.metrics),
        f"a:{a}",
        f"b:{b}",
        *(["ignore-type"] if ignore_type else []),
        *([f"only:{','.join(kinds)}"] if kinds else []),
        f"{m}x2-block-regularised",
        *(["documents"] if keep_documents else []),
        f"weight:{weight}",
        f"level:{level:g}",
        f"prior:{prior:g}",
        *([f"rope:{rope:g}"] if rope else []),
        *([f"beta:{beta:g}"] if "fbeta" in result.metrics else []),
        f"seed:{result.seed}",
    ]
    drawn = (figure, crossval_figure(result)) if figure else None
    drawings = crossval_drawings(result) if html else ()
    document = crossval_document(result, choices=choices, drawings=drawings)
    emit(document, form, html=html, figure=drawn, quiet=quiet)
