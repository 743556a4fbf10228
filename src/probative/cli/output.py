"""Printing a document and saying which files were written."""

from __future__ import annotations

import os
import shutil
import sys
import warnings
from contextlib import contextmanager
from typing import TYPE_CHECKING

from probative.cli.streams import say

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from matplotlib.figure import Figure

    from probative.reporting.document import Document

__all__ = ["check_format", "emit", "plain_warnings", "progress", "remark", "warnings_as_remarks"]


def check_format(form: str) -> None:
    """Refuse an unknown form before anything long is computed."""
    from probative._validation import one_of
    from probative.reporting.render import FORMATS

    one_of("--format", form, FORMATS)


def emit(
    document: Document,
    form: str,
    *,
    html: Path | None = None,
    figure: tuple[Path, Figure] | None = None,
    quiet: bool = False,
) -> None:
    """Write the files that were asked for, then print the document."""
    from probative.files import write_whole
    from probative.reporting.render import UNLIMITED, as_html, render

    if figure:
        from probative.reporting.figures import save_figure

        save_figure(figure[1], figure[0])
        remark(f"wrote {figure[0]}", quiet=quiet)
    if html:
        write_whole(html, as_html(document))
        remark(f"wrote {html}", quiet=quiet)
    terminal = sys.stdout.isatty()
    width = shutil.get_terminal_size().columns if terminal else UNLIMITED
    say(render(document, form, colour=terminal and _colour_wanted(), width=width), sys.stdout)


def remark(message: str, *, quiet: bool = False) -> None:
    """Say something beside the results, on standard error."""
    if not quiet:
        from probative.reporting.escape import plain

        for line in message.split("\n"):
            say(plain(line) + "\n", sys.stderr)


@contextmanager
def progress(what: str, *, quiet: bool = False) -> Iterator[Callable[[int, int], None]]:
    """Give a function `report(done, total)` that draws a bar on standard error."""
    if quiet or not sys.stderr.isatty():
        yield lambda done, total: None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(
        console=Console(stderr=True, no_color=not _colour_wanted()), transient=True
    ) as bar:
        task = bar.add_task(what, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


@contextmanager
def warnings_as_remarks(*, quiet: bool = False) -> Iterator[None]:
    """Tell warnings as remarks, once each."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        yield
    for message in dict.fromkeys(str(w.message) for w in caught):
        remark(f"warning: {message}", quiet=quiet)


@contextmanager
def plain_warnings(*, quiet: bool = False) -> Iterator[None]:
    """Tell warnings that nobody has caught without the place in the source where they arose."""

    def tell(message: Warning | str, *_: object, **__: object) -> None:
        remark(f"warning: {' '.join(str(message).split())}", quiet=quiet)

    with warnings.catch_warnings():
        warnings.showwarning = tell
        yield


def _colour_wanted() -> bool:
    return "NO_COLOR" not in os.environ and os.environ.get("TERM") != "dumb"
