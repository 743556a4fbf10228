"""``probative watch``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from probative.cli.options import Argument
from probative.cli.output import Drawn
from probative.options import WatchOptions


def watch(
    design: Annotated[
        Path, Argument(metavar="DESIGN", help="The design of a sample: NAME.design.json.")
    ],
    annotated: Annotated[
        list[str],
        Argument(
            metavar="ANNOTATED...",
            help="The annotated units of its draws, in one file or several; of each draw all or "
            "none.",
        ),
    ],
    *,
    given: WatchOptions,
    out: Drawn,
) -> None:
    """Check whether you may stop labelling, or how many more labels are needed.

    Example: probative watch sample.design.json sample.conll --html watch.html

    Later: probative watch sample.design.json sample.conll more.conll
    """
    from probative.reporting.survey_report import looks_figure, watch_document
    from probative.surveys.watching import watch as look

    looks = look(design, *annotated, **vars(given))
    out.remark(*looks.notes)
    out.emit(watch_document(looks), lambda: looks_figure(looks))
