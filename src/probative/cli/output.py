"""Printing a document and saying which files were written."""

from __future__ import annotations

import codecs
import os
import shutil
import sys
import warnings
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from probative.cli.streams import results, say

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path
    from typing import TextIO

    from matplotlib.figure import Figure

    from probative.reporting.document import Document

__all__ = [
    "Output",
    "ScoreOutput",
    "plain_warnings",
    "progress",
    "reading_progress",
    "remark",
    "warnings_as_remarks",
]


@dataclass(frozen=True, kw_only=True)
class Output:
    """What a command is told about its output; an unknown form is refused before any work.

    Attributes
    ----------
    form
        text, json and so on.
    html, figure
        Files to be written besides.
    quiet
        Whether to say nothing but the results.
    seed
        For commands in which little or nothing is random: every command takes one.
    """

    form: str = "text"
    html: Path | None = None
    figure: Path | None = None
    quiet: bool = False
    seed: int | None = None

    more_forms: ClassVar[tuple[str, ...]] = ()

    def __post_init__(self) -> None:
        from probative._validation import one_of
        from probative.reporting.render import FORMATS

        one_of("--format", self.form, (*FORMATS, *self.more_forms))

    def remark(self, *messages: str) -> None:
        """Say something beside the results."""
        for message in messages:
            remark(message, quiet=self.quiet)

    def emit(self, document: Document, draw: Callable[[], Figure] | None = None) -> None:
        """Write the files that were asked for, then print the document.

        Parameters
        ----------
        document
            What to print.
        draw
            Makes the figure, where there is one and it is asked for.
        """
        from probative.files import write_whole
        from probative.reporting.escape import ascii_json
        from probative.reporting.render import UNLIMITED, as_html, render

        if self.figure and draw:
            from probative.reporting.figures import save_figure

            save_figure(draw(), self.figure)
            self.remark(_wrote(self.figure))
        if self.html:
            write_whole(self.html, as_html(document))
            self.remark(_wrote(self.html))
        place = results()
        terminal = place is not None and place.isatty()
        asked = terminal or os.environ.get("COLUMNS", "").isdecimal()
        width = shutil.get_terminal_size().columns if asked else UNLIMITED
        colour = terminal and _colour_wanted()
        text = render(document, self.form, colour=colour, width=width)
        if self.form == "json" and place is not None and not _is_utf8(place):
            text = ascii_json(text)
        say(text, place)


@dataclass(frozen=True, kw_only=True)
class ScoreOutput(Output):
    """That of scores, which may look like conlleval's."""

    more_forms = ("conlleval",)


def _is_utf8(stream: TextIO) -> bool:
    """Return whether a stream is written in UTF-8, as JSON is."""
    return codecs.lookup(stream.encoding or "utf-8").name.startswith("utf-8")


def _wrote(path: Path) -> str:
    """Which file was written; a symbolic link stays one, so its target was."""
    if path.is_symlink():
        return f"wrote {os.path.realpath(path)}, where {path} points to"
    return f"wrote {path}"


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
def reading_progress(what: str, *, quiet: bool = False) -> Iterator[Callable[[int, int], None]]:
    """The same, with a bar that also tells how much of a large table has been counted."""
    from probative.reading.database import telling

    with progress(what, quiet=quiet) as report, telling(lambda s: report(int(100 * s), 100)):
        yield report


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
