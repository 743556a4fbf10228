"""``probative sweep``."""

from __future__ import annotations

from typing import Annotated

from probative.cli.options import Argument
from probative.cli.output import Drawn
from probative.options import SweepOptions


def sweep(
    gold: Annotated[
        str,
        Argument(metavar="GOLD", help="Gold: segmented text, or a column of words."),
    ],
    probabilities: Annotated[
        str,
        Argument(
            metavar="PROBABILITIES",
            help="JSON lines: for each sentence a list with the probability of a boundary between "
            "every two characters. - is standard input.",
        ),
    ],
    *,
    given: SweepOptions,
    out: Drawn,
) -> None:
    """Score a word segmenter at every share of accepted boundaries.

    Example: probative sweep gold.txt probabilities.jsonl --steps 20 --figure sweep.png
    """
    from probative.jobs.sweep import segmentation_sweep, segmented
    from probative.reading.source import refuse_repeats
    from probative.reporting.sweep_report import sweep_document, sweep_figure

    refuse_repeats((gold, probabilities))
    answer = segmented(gold, "gold", input_format=given.input_format, encoding=given.encoding)
    out.remark(*answer.notes)
    result = segmentation_sweep(answer, probabilities, **vars(given))
    out.emit(sweep_document(result, html=out.html is not None), lambda: sweep_figure(result))
