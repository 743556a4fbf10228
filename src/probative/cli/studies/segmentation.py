"""``probative study segmentation``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from probative.cli import options
from probative.cli.output import check_format, emit, progress, remark
from probative.cli.parameters import Option
from probative.errors import InputError

__all__ = ["segmentation"]


def segmentation(
    train: Annotated[
        str, Option(metavar="FILE", help="CoNLL-U, columns or segmented text to train on.")
    ],
    dev: Annotated[
        str, Option(metavar="FILE", help="The same, for the choice of the network's epoch.")
    ],
    test: Annotated[str, Option(metavar="FILE", help="The same, to be scored on.")],
    systems: Annotated[
        str | None,
        Option(
            metavar="A,B", help="Of maxmatch, crf and bigru; by default those that are installed."
        ),
    ] = None,
    sizes: Annotated[
        str | None,
        Option(metavar="N,N", help="Training sentences at each point of the learning curve."),
    ] = None,
    step: Annotated[
        int | None,
        Option(
            metavar="N", parser=options.whole, help="A learning curve that grows by N sentences."
        ),
    ] = None,
    curve: Annotated[
        str | None, Option(metavar="NAME", help="Whose learning curve; the last system's.")
    ] = None,
    epochs: Annotated[
        int, Option(metavar="N", parser=options.whole, help="Epochs of the network.")
    ] = 30,
    device: Annotated[
        str, Option(metavar="NAME", help="Where the network computes: auto, cpu or cuda.")
    ] = "auto",
    spaces: Annotated[bool, Option(help="Whether segmenters see the spaces of the text.")] = True,
    steps: Annotated[
        int, Option("--steps", metavar="N", parser=options.whole, help="Steps of the sweep.")
    ] = 20,
    language: Annotated[
        str | None,
        Option(metavar="zh|en", help="Show the published figures of this language only."),
    ] = None,
    resume: options.Resume = None,
    output: Annotated[
        Path | None,
        Option(
            "--output", "-o", metavar="DIR", help="Write tables, figures, outputs and JSON there."
        ),
    ] = None,
    level: options.Level = 0.95,
    form: options.Format = "text",
    html: options.Html = None,
    quiet: options.Quiet = False,
    seed: options.Seed = None,
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

    check_format(form)
    published = load("segmentation")["table2"]
    if language is not None:
        published = {language: published[one_of("--language", language, published)]}
    chosen, missing = installed_systems()
    if systems is not None:
        chosen, missing = list(options.words([systems], ())), []
    for note in missing:
        remark(note, quiet=quiet)
    training = segmented(train, "train")
    points = _sizes(sizes, step, training.n_sentences)
    if output is not None:
        make_folder(output)
    with progress("runs", quiet=quiet) as bar:

        def report(done: int, total: int, what: str) -> None:
            bar(done, total)
            if "iteration" not in what:
                remark(what, quiet=quiet)

        study = segmentation_study(
            training,
            dev,
            test,
            systems=chosen,
            sizes=points,
            curve=curve,
            spaces=spaces,
            epochs=epochs,
            device=device,
            rng=seed or 0,
            steps=steps,
            level=level,
            folder=resume,
            report=report,
        )
    choices = [
        ",".join(chosen),
        "spaces" if spaces else "no-spaces",
        f"epochs:{epochs}",
        f"seed:{study.seed}",
        f"steps:{steps}",
    ]
    document = study_document(study, published, html=html is not None, choices=choices)
    if output is not None:
        for name, content in output_files(study, document).items():
            write_whole(output / name, content)
        remark(f"wrote {output}", quiet=quiet)
    emit(document, form, html=html, quiet=quiet)


def _sizes(sizes: str | None, step: int | None, everything: int) -> list[int]:
    if sizes is not None and step is not None:
        raise InputError("--step: cannot be combined with --sizes; expected one of the two")
    if step is not None:
        if step < 1:
            raise InputError("--step: 0 is not a whole number >= 1")
        return list(range(step, everything, step))
    words = options.words([sizes] if sizes else None, ())
    what = "whole number >= 1 or 'all'"
    return [
        everything if word == "all" else options.whole_numbers("--sizes", [word], what=what)[0]
        for word in words
    ]
