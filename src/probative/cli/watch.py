"""``probative watch``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from probative.cli import options
from probative.cli.parameters import Argument, Option
from probative.options import WatchOptions

__all__ = ["watch"]


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
    given: Annotated[
        WatchOptions,
        options.choose(
            *("metric", "level", "beta", "every", "planned"),
            metric=Option(metavar="NAME", help="The score; by default the usual one of the task."),
            every=Option(
                metavar="N",
                parser=options.whole,
                help="Look after so many units, in the order of drawing; by default after a tenth "
                "of the first draw, and after every draw.",
            ),
            planned=Option(
                metavar="N",
                parser=options.whole,
                help="How many units will be labelled if nothing is decided before: there limits "
                "are tightest. By default those of the first draw. Keep it from look to look.",
            ),
        ),
    ],
    out: options.Drawn,
) -> None:
    """May I stop annotating? Decided, not decided, and how much more would be expected to decide.

    Example: probative watch sample.design.json sample.conll --html watch.html

    Later: probative watch sample.design.json sample.conll more.conll
    """
    from probative.reporting.survey_report import looks_figure, watch_document
    from probative.surveys.watching import watch as look

    looks = look(design, *annotated, **vars(given))
    out.remark(*looks.notes)
    out.emit(watch_document(looks), lambda: looks_figure(looks))
