"""``probative sweep``."""

from __future__ import annotations

from typing import Annotated

from probative.cli import options
from probative.cli.output import check_format, emit, remark
from probative.cli.parameters import Argument, Option

__all__ = ["sweep"]


def sweep(
    gold: Annotated[
        str,
        Argument(metavar="GOLD", help="The answer: segmented text, or a column of words."),
    ],
    probabilities: Annotated[
        str,
        Argument(
            metavar="PROBABILITIES",
            help="JSON lines: for each sentence a list with the probability of a boundary between "
            "every two characters. - is standard input.",
        ),
    ],
    steps: Annotated[
        int,
        Option("--steps", metavar="N", parser=options.steps, help="Steps from 0 to 1."),
    ] = 20,
    input_format: options.InputFormat = None,
    encoding: options.Encoding = None,
    level: options.Level = 0.95,
    figure: options.Figure = None,
    form: options.Format = "text",
    html: options.Html = None,
    quiet: options.Quiet = False,
    seed: options.Seed = None,  # noqa: ARG001  # accepted everywhere; nothing is random here
) -> None:
    """Where should my word segmenter split? Scores at every share of accepted boundaries.

    Example: probative sweep gold.txt probabilities.jsonl --steps 20 --figure sweep.png
    """
    from probative.reading.source import refuse_repeats
    from probative.reporting.sweep_report import sweep_document, sweep_figure
    from probative.sweep import segmentation_sweep, segmented

    check_format(form)
    refuse_repeats((gold, probabilities))
    answer = segmented(gold, "gold", input_format=input_format, encoding=encoding)
    for note in answer.notes:
        remark(note, quiet=quiet)
    found = segmentation_sweep(answer, probabilities, steps, level=level)
    document = sweep_document(found, html=html is not None, choices=[f"steps:{steps}"])
    drawn = (figure, sweep_figure(found)) if figure else None
    emit(document, form, html=html, figure=drawn, quiet=quiet)
