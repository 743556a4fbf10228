"""Print documents, remarks and progress, and handle the standard streams and Ctrl-C."""

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
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, ClassVar, TextIO

from probative.errors import Recognised
from probative.options import OUTPUT, Options, choice, options_class

if TYPE_CHECKING:
    from types import FrameType

    from matplotlib.figure import Figure

    from probative.reporting.document import Document


# --- Standard streams and Ctrl-C


@dataclass
class _State:
    """State of this process."""

    ours: bool = False  # it was started for one command, with its streams and signals
    pressed: bool = False  # Ctrl-C was pressed
    ending: float | None = None  # the monotonic time when it began to end, by itself or by Ctrl-C
    diverted: TextIO | None = None  # the stream of the results, if models may print
    # functions that take documents, and progress, instead of standard output and error
    receiver: Callable[[Document], None] | None = None
    reporter: Callable[[int, int], None] | None = None


state = _State()
_OBJECTS_PER_COLLECTION = 200_000  # of garbage; one look at 50,000 takes 20 ms
_SECONDS_TO_END = 3.0  # after Ctrl-C; later, the next Ctrl-C kills the command


def results() -> TextIO | None:
    """Return the stream of the results: standard output, unless models may print there."""
    return state.diverted or sys.stdout


def say(text: str, stream: TextIO | None) -> None:
    """Print, and be silent from then on if the reader has closed the pipe."""
    if stream is None:
        return
    try:
        stream.write(text)
        stream.flush()
    except OSError as error:
        silence(stream)
        if not is_closed_pipe(error):
            name = "standard error" if stream is sys.stderr else "standard output"
            raise OSError(error.errno, os.strerror(error.errno or 0), name) from None


def is_closed_pipe(error: Exception) -> bool:
    """Return True if the reader closed the pipe; Windows reports an invalid argument."""
    return isinstance(error, BrokenPipeError) or (
        os.name == "nt" and isinstance(error, OSError) and error.errno == errno.EINVAL
    )


def silence(stream: TextIO | None) -> None:
    """Discard everything written to a stream from now on, also at interpreter exit."""
    if stream is not None:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)


def prepare() -> None:
    """Prepare the streams of our own process, and make Ctrl-C end it quietly."""
    state.ours = True
    gc.set_threshold(_OBJECTS_PER_COLLECTION)  # importing makes many objects, but no garbage
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:  # closed: the next opened file would take its number
            os.open(os.devnull, os.O_RDWR)
    if sys.stderr is None:  # many libraries assume that it exists
        sys.stderr = open(2, "w", closefd=False)  # noqa: SIM115  # for as long as we run
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # escape characters that the encoding lacks
            stream.reconfigure(errors="backslashreplace")
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # it may be ignored
        signal.signal(signal.SIGINT, _interrupt)
        # run last: at exit, Python would restore the default handler, which kills
        atexit.register(signal.signal, signal.SIGINT, signal.SIG_IGN)


def finish(status: int) -> int:
    """Flush the results while a failure can still be reported; return the exit status."""
    try:
        say("", results())
    except OSError as error:
        if not status:  # otherwise an error was printed already
            say(f"{error.filename}: {error.strerror}\n", sys.stderr)
            status = 2
    state.ending = state.ending or time.monotonic()  # an interrupt has nothing left to stop
    if "_duckdb" not in sys.modules:  # DuckDB complains about objects that still exist at exit
        gc.freeze()  # the process ends, so skip the last garbage collection
    return status


def _interrupt(number: int, _frame: FrameType | None) -> None:
    """End the command on Ctrl-C; ignore further ones for some seconds, while workers end."""
    if state.ending is None:
        state.pressed, state.ending = True, time.monotonic()
        # do not report errors of threads whose workers are being ended
        threading.excepthook = lambda _: None
        raise KeyboardInterrupt
    if time.monotonic() - state.ending > _SECONDS_TO_END:
        signal.signal(number, signal.SIG_DFL)
        signal.raise_signal(number)


_printed = partial(choice, heading=OUTPUT)


@options_class
class Output(Options):
    """Output options of a command; an unknown format is refused before any work."""

    form: str = _printed(
        "--format -f FORMAT: text, json, markdown, latex or csv.",
        "text",
        among="reporting.render:FORMATS",
    )
    html: Path | None = _printed(
        "FILE: Also write a page for a browser.", parser="Path", excludes=("form=conlleval",)
    )
    figure: Path | None = _printed(
        "FILE: Also draw a figure (.png, .svg or .pdf).",
        parser="Path",
        excludes=("form=conlleval", "hide_scores"),
    )
    quiet: bool = _printed("--quiet -q: Print results only: no progress, no remarks.", False)
    verbose: bool = _printed(
        "--verbose -v: Print all notes, further tables and the signature.",
        False,
        rare=True,
        excludes=("quiet",),
    )
    seed: int | None = _printed(
        "N: Taken by every command; nothing is random in this one.", parser="seed"
    )

    more_forms: ClassVar[tuple[str, ...]] = ()
    withheld = frozenset({"figure"})

    def __post_init__(self) -> None:
        from probative._validation import one_of
        from probative.reporting.render import FORMATS

        one_of("--format", self.form, (*FORMATS, *self.more_forms))

    def remark(self, *messages: str, whole: bool = False) -> None:
        """Print one line on how files were read, and one caveat; verbose or `whole`, all."""
        shown: Sequence[str] = messages
        if not (self.verbose or whole):
            read = [m for m in messages if isinstance(m, Recognised)]
            wrote = [m for m in messages if m.startswith("wrote ")]
            others = [m for m in messages if m not in (*read, *wrote)]
            shown = [*_in_one_line(read), *_first_of(others), *wrote]
        for message in shown:
            remark(message, quiet=self.quiet)

    def emit(self, document: Document, draw: Callable[[], Figure] | None = None) -> None:
        """Write the requested files, then print the document; `draw` makes the figure."""
        from probative.files import write_whole
        from probative.reporting.escape import ascii_json
        from probative.reporting.render import UNLIMITED, as_html, render

        if state.receiver is not None:
            state.receiver(document)
            return
        if self.figure and draw:
            from probative.reporting.pictures import save_figure

            save_figure(draw(), self.figure)
            self.remark(_wrote(self.figure))
        if self.html:
            from probative.cli.inputs import origin_of_command

            write_whole(self.html, as_html(replace(document, origin=origin_of_command())))
            self.remark(_wrote(self.html))
        place = results()
        terminal = place is not None and place.isatty()
        asked = terminal or os.environ.get("COLUMNS", "").isdecimal()
        width = shutil.get_terminal_size().columns if asked else UNLIMITED
        colour = terminal and _colour_wanted()
        text = render(document, self.form, colour=colour, width=width, verbose=self.verbose)
        if self.form == "json" and place is not None:
            encoding = codecs.lookup(place.encoding or "utf-8").name
            text = text if encoding.startswith("utf-8") else ascii_json(text)
        say(text, place)


@options_class
class Drawn(Output):
    """Output options of a command that draws figures."""

    withheld = frozenset()


@options_class
class ScoreOutput(Drawn):
    """Output options of scores, which may have the layout of conlleval."""

    form: str = _printed(
        "--format -f FORMAT: text, json, markdown, latex, csv or conlleval.",
        "text",
        among=("text", "json", "markdown", "latex", "csv", "conlleval"),
    )
    seed: int | None = _printed(
        "N: The seed of random numbers: --probabilities draws; nothing else here is random.",
        parser="seed",
    )

    more_forms = ("conlleval",)


def _in_one_line(notes: Sequence[str]) -> list[str]:
    """Return one line on how the first file was read, and how many more there are."""
    if not notes:
        return []
    notes = [note for note in notes if ": " in note] or notes  # those of files
    first = notes[0].partition(": ")[0]
    found = [note.partition(": ")[2] for note in notes if note.startswith(f"{first}: ")]
    own = list(dict.fromkeys(note for note in found if ", because " not in note)) or found
    files = len({note.partition(": ")[0] for note in notes}) - 1
    more = f" (and {files:,} more file{'s' * (files > 1)}: -v)" if files else ""
    return [f"{PurePath(first).name}: {'; '.join(own)}{more}" if any(own) else first]


# caveats that may mean that the wrong thing was scored
_URGENT = ("labels that gold does not have", "is gold itself")


def _first_of(notes: Sequence[str]) -> list[str]:
    """Return the most urgent caveat, and how many more there are; of a file, only its name."""
    if not notes:
        return []
    urgent = next((note for note in notes if any(word in note for word in _URGENT)), notes[0])
    path, colon, words = urgent.partition(": ")
    first = f"{PurePath(path).name}{colon}{words}" if colon and "/" in path else urgent
    more = f" ({len(notes) - 1:,} more: -v)" if len(notes) > 1 else ""
    return [f"{first}{more}"]


def _wrote(path: Path) -> str:
    """Return a sentence on the written file, which is the target of a symbolic link."""
    if path.is_symlink():
        return f"wrote {os.path.realpath(path)}, where {path} points to"
    return f"wrote {path}"


def remark(message: str, *, quiet: bool = False) -> None:
    """Print a message besides the results, on standard error."""
    if not quiet:
        from probative.reporting.escape import plain

        for line in message.split("\n"):
            say(plain(line) + "\n", sys.stderr)


def _is_drawn(quiet: bool) -> bool:
    """Return True if somebody sees how far a command is."""
    return state.reporter is not None or (not quiet and sys.stderr.isatty())


@contextmanager
def progress(what: str, *, quiet: bool = False) -> Iterator[Callable[[int, int], None]]:
    """Yield a function `report(done, total)` that draws a bar on standard error."""
    if state.reporter is not None:
        yield state.reporter
        return
    if not _is_drawn(quiet):
        yield lambda done, total: None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(
        console=Console(stderr=True, no_color=not _colour_wanted()), transient=True
    ) as bar:
        task = bar.add_task(what, total=None)
        # of a single step there is no share to show: the bar moves until it is done
        yield lambda done, total: bar.update(
            task, completed=done, total=total if total > 1 else None
        )


@contextmanager
def reading_progress(what: str, *, quiet: bool = False) -> Iterator[Callable[[int, int], None]]:
    """Yield such a function; the bar also shows how much of a large table is counted."""
    with progress(what, quiet=quiet) as report:
        if not _is_drawn(quiet):
            yield report
            return
        from probative.reading.database import telling

        with telling(lambda share: report(int(100 * share), 100)):
            yield report


@contextmanager
def plain_warnings(*, quiet: bool = False) -> Iterator[None]:
    """Print uncaught warnings once each, without the place in the source."""
    told = set()

    def tell(message: Warning | str, *_: object, **__: object) -> None:
        text = " ".join(str(message).split())
        if text not in told:
            remark(f"warning: {text}", quiet=quiet)
        told.add(text)

    with warnings.catch_warnings():
        warnings.simplefilter("always", UserWarning)
        warnings.showwarning = tell
        yield


def _colour_wanted() -> bool:
    return "NO_COLOR" not in os.environ and os.environ.get("TERM") != "dumb"


# --- Standard output is for results alone, but models of users may print

_STDOUT, _STDERR = 1, 2


@contextmanager
def output_aside() -> Iterator[None]:
    """Send everything printed from now on, also in C and in child processes, to standard error."""
    # in a process of our own to its end: threads and exit functions of a model may print any time
    before = sys.stdout
    before.flush()
    try:
        number = os.dup(_STDOUT)
        os.dup2(_STDERR, _STDOUT)
    except OSError:  # a stream is closed, so there is nothing to protect
        yield
        return
    state.diverted = _same_place(before, number)
    sys.stdout = sys.stderr
    try:
        yield
    finally:
        if not state.ours:
            with suppress(OSError, AttributeError, TypeError):
                ctypes.CDLL(None).fflush(None)  # flush what C code has printed
            os.dup2(number, _STDOUT)
            sys.stdout = before
            state.diverted = None
            os.close(number)


def _same_place(stream: TextIO, number: int) -> TextIO:
    """Return a stream to the same place with another number; in a notebook, itself."""
    with suppress(OSError, ValueError, AttributeError):
        if stream.fileno() == _STDOUT:
            encoding, errors = stream.encoding, stream.errors
            return open(number, "w", encoding=encoding, errors=errors, closefd=False)
    return stream
