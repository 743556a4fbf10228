"""The standard streams and Ctrl-C: what may go wrong outside of the work itself."""

from __future__ import annotations

import atexit
import errno
import gc
import io
import os
import signal
import sys
import threading
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from types import FrameType

__all__ = [
    "divert",
    "finish",
    "interrupted",
    "is_closed_pipe",
    "prepare",
    "process_is_ours",
    "results",
    "say",
    "silence",
]


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
