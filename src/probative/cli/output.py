"""Printing a document and saying which files were written."""

from __future__ import annotations

import atexit
import codecs
import ctypes
import errno
import gc
import io
import os
import shutil
import signal
import sys
import threading
import time
import warnings
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, TextIO

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path
    from types import FrameType

    from matplotlib.figure import Figure

    from probative.reporting.document import Document


# -----------------------------------------------------------------------------
# The standard streams and Ctrl-C: what may go wrong outside of the work itself.
# -----------------------------------------------------------------------------


@dataclass
class _State:
    """What has happened to this process.

    Attributes
    ----------
    ours
        Whether it was started for one command, with its streams and signals.
    pressed
        Whether Ctrl-C was.
    ending
        When it began to end, by itself or by Ctrl-C, in seconds of the monotonic clock.
    diverted
        Where results go, if standard output is left to a model.
    """

    ours: bool = False
    pressed: bool = False
    ending: float | None = None
    diverted: TextIO | None = None


_state = _State()
_PATIENCE = 3.0  # seconds for a command to end after Ctrl-C; the next one then ends it at once


def process_is_ours() -> bool:
    """Whether the process was started for one command, so that nothing need be undone."""
    return _state.ours


def results() -> TextIO | None:
    """Where results go: standard output, unless that is left to models of the user's own."""
    return _state.diverted or sys.stdout


def divert(stream: TextIO | None) -> None:
    """Send results elsewhere, or, with None, to standard output again."""
    _state.diverted = stream


def say(text: str, stream: TextIO | None) -> None:
    """Print, and be silent from then on where the reader has left.

    Who reads only the beginning of an output does not change what the command finds: it goes on
    and ends with the exit status that it would have had.
    """
    if stream is None:
        return
    try:
        stream.write(text)
        stream.flush()
    except OSError as error:
        silence(stream)
        if not is_closed_pipe(error):
            raise OSError(error.errno, os.strerror(error.errno or 0), _name(stream)) from None


def is_closed_pipe(error: Exception) -> bool:
    """Whether the reader of our output has left; Windows calls it an invalid argument."""
    return isinstance(error, BrokenPipeError) or (
        os.name == "nt" and isinstance(error, OSError) and error.errno == errno.EINVAL
    )


def silence(stream: TextIO | None) -> None:
    """Let what is written to a stream from now on vanish, also when the interpreter ends."""
    if stream is not None:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)


def prepare() -> None:
    """Make sure of the streams of a process that is ours, and that Ctrl-C ends it quietly."""
    _state.ours = True
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:  # closed: the next file opened would take its number
            os.open(os.devnull, os.O_RDWR)
    if sys.stderr is None:  # many libraries take it for granted
        sys.stderr = open(2, "w", closefd=False)  # noqa: SIM115  # for as long as we run
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # what its encoding lacks is shown as an escape
            stream.reconfigure(errors="backslashreplace")
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # it may be ignored
        signal.signal(signal.SIGINT, _interrupt)
        # the last thing to be done: Python's own end would give Ctrl-C back its power to kill
        atexit.register(signal.signal, signal.SIGINT, signal.SIG_IGN)


def finish(status: int) -> int:
    """Write what is left in the buffers while a failure can still be told."""
    try:
        say("", results())
    except OSError as error:
        if not status:  # else the reason was told
            say(f"{error.filename}: {error.strerror}\n", sys.stderr)
            status = 2
    _state.ending = _state.ending or time.monotonic()  # an interrupt has nothing to stop any more
    if "_duckdb" not in sys.modules:  # it complains of all that it still finds at the end
        gc.freeze()  # the process ends: nothing is worth looking for in what goes with it
    return status


def interrupted() -> bool:
    """Whether Ctrl-C has been pressed since `prepare`."""
    return _state.pressed


def _interrupt(number: int, _frame: FrameType | None) -> None:
    """Ctrl-C ends the command; more of them do not keep it from ending its workers first."""
    if _state.ending is None:
        _state.pressed, _state.ending = True, time.monotonic()
        # what befalls the threads that looked after workers which are being ended is not told
        threading.excepthook = lambda _: None
        raise KeyboardInterrupt
    if time.monotonic() - _state.ending > _PATIENCE:
        signal.signal(number, signal.SIG_DFL)
        signal.raise_signal(number)


def _name(stream: TextIO) -> str:
    return "standard error" if stream is sys.stderr else "standard output"


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


# -----------------------------------------------------------------------------
# Models of the user's own may print; standard output is for results alone.
# -----------------------------------------------------------------------------

_STDOUT, _STDERR = 1, 2


@contextmanager
def output_aside() -> Iterator[None]:
    """Send what is printed from now on to standard error: here, in C, in processes started here.

    Results go where `streams.results` says. Where the process is ours, this holds to its end:
    threads and exit functions of a model print when they like.
    """
    before = sys.stdout
    before.flush()
    try:
        number = os.dup(_STDOUT)
        os.dup2(_STDERR, _STDOUT)
    except OSError:  # a stream is closed; there is nothing to protect
        yield
        return
    divert(_same_place(before, number))
    sys.stdout = sys.stderr
    try:
        yield
    finally:
        if not process_is_ours():
            with suppress(OSError, AttributeError, TypeError):
                ctypes.CDLL(None).fflush(None)  # what C has printed and not yet written
            os.dup2(number, _STDOUT)
            sys.stdout = before
            divert(None)
            os.close(number)


def _same_place(stream: TextIO, number: int) -> TextIO:
    """A stream that writes where this one did, under another number; or, in a notebook, itself."""
    with suppress(OSError, ValueError, AttributeError):
        if stream.fileno() == _STDOUT:
            encoding, errors = stream.encoding, stream.errors
            return open(number, "w", encoding=encoding, errors=errors, closefd=False)
    return stream
