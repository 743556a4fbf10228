"""``probative watch``."""

from __future__ import annotations

from typing import Annotated

from probative.cli import options
from probative.cli.parameters import Argument, Option
from probative.options import WatchOptions

__all__ = ["watch"]


def watch(
    files: Annotated[
        list[str],
        Argument(
            metavar="DESIGN ANNOTATED...",
            help="The file of a design, which `probative sample` has written, and the annotated "
            "units of its draws, in one file or several.",
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
    systems: Annotated[
        list[str] | None,
        Option(
            "--system",
            metavar="FILE",
            several=True,
            help="An output of the design, in its order, where they are elsewhere now; once each.",
        ),
    ] = None,
    out: options.Drawn,
) -> None:
    """May I stop annotating? Decided, not decided, and how much more would be expected to decide.

    Example: probative watch sample.design.json sample.conll --html watch.html

    Later: probative watch sample.design.json sample.conll more.conll
    """
    from probative.errors import InputError
    from probative.reporting.watch_report import draw_looks, watch_document
    from probative.surveys.watching import watch as look

    design, *annotated = files
    if not annotated:
        raise InputError("ANNOTATED: missing; expected the annotated units of the design")
    looks = look(design, *annotated, systems=list(systems) if systems else None, **vars(given))
    out.remark(*looks.notes)
    out.emit(watch_document(looks), lambda: draw_looks(looks).figure)
