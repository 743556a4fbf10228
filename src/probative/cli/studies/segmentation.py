"""``probative study segmentation``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import click

from probative.cli import options
from probative.cli.output import progress
from probative.cli.parameters import Option
from probative.errors import InputError
from probative.studies.options import SegmentationOptions

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["segmentation"]

_ALIKE = ("curve", "spaces", "epochs", "device", "rng", "steps", "level")


def segmentation(
    train: Annotated[
        str, Option(metavar="FILE", help="CoNLL-U, columns or segmented text to train on.")
    ],
    dev: Annotated[
        str, Option(metavar="FILE", help="The same, for the choice of the network's epoch.")
    ],
    test: Annotated[str, Option(metavar="FILE", help="The same, to be scored on.")],
    *,
    given: Annotated[
        SegmentationOptions,
        options.choose(
            *("systems", "sizes", "step", "curve", "epochs", "device", "spaces", "steps"),
            *("language", "level", "rng"),
            systems=Option(
                metavar="A,B",
                parser=options.word_list,
                help="Of maxmatch, crf and bigru; by default those that are installed.",
            ),
            sizes=Option(
                metavar="N,N",
                parser=options.word_list,
                help="Training sentences at each point of the learning curve.",
            ),
            step=Option(
                metavar="N",
                parser=options.whole,
                help="A learning curve that grows by N sentences.",
            ),
            curve=Option(
                metavar="NAME", help="The system of the learning curve; by default the last."
            ),
            epochs=Option(metavar="N", parser=options.whole, help="Epochs of the network."),
            device=Option(metavar="NAME", help="Where the network computes: auto, cpu or cuda."),
            spaces=Option(help="Whether segmenters see the spaces of the text."),
            steps=Option(metavar="N", parser=options.whole, help="Steps of the sweep."),
            language=Option(
                metavar="zh|en", help="Show the published figures of this language only."
            ),
        ),
    ],
    resume: options.Resume = None,
    output: Annotated[
        Path | None,
        Option(
            "--output", "-o", metavar="DIR", help="Write tables, figures, outputs and JSON there."
        ),
    ] = None,
    out: options.RandomOutput,
) -> None:
    """Is recall the score to trust? Three word segmenters, a threshold sweep, a learning curve.

    Example: probative study segmentation --train train.conllu --dev dev.conllu --test test.conllu
    """
    from probative._validation import one_of
    from probative.data import load
    from probative.files import make_folder, write_whole
    from probative.reporting.segmentation_report import output_files, study_document
    from probative.studies.segmentation import installed_systems, segmentation_study
    from probative.sweep import segmented

    published = load("segmentation")["table2"]
    if given.language is not None:
        language = one_of("--language", given.language, published)
        published = {language: published[language]}
    systems, missing = installed_systems()
    if given.systems is not None:
        systems, missing = list(given.systems), []
    out.remark(*missing)
    training = segmented(train, "train")
    points = _sizes(given.sizes, given.step, training.n_sentences)
    if output is not None:
        make_folder(output)
    with progress("runs", quiet=out.quiet) as bar:

        def report(done: int, total: int, what: str) -> None:
            bar(done, total)
            if "iteration" not in what:
                out.remark(what)

        study = segmentation_study(
            training,
            dev,
            test,
            systems=systems,
            sizes=points,
            folder=resume,
            report=report,
            **{name: getattr(given, name) for name in _ALIKE},
        )
    signature = given.signature("segmentation", ",".join(systems))
    document = study_document(study, published, html=out.html is not None, signature=signature)
    if output is not None:
        for name, content in output_files(study, document).items():
            write_whole(output / name, content)
        out.remark(f"wrote {output}")
    out.emit(document)


def _sizes(sizes: Sequence[str], step: int | None, everything: int) -> list[int]:
    if sizes and step is not None:
        raise InputError("--step: cannot be combined with --sizes; expected one of the two")
    if step is not None:
        if step < 1:
            raise InputError("--step: 0 is not a whole number >= 1")
        return list(range(step, everything, step))
    return [everything if word == "all" else _size(word) for word in sizes]


def _size(word: str) -> int:
    try:
        (size,) = options.whole_list(word, what="whole number >= 1 or 'all'")
    except click.BadParameter as error:
        raise InputError(f"--sizes: {error.message}") from None
    return size
