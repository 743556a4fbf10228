"""The standard streams and Ctrl-C: what may go wrong outside of the work itself."""

from __future__ import annotations

import errno
import gc
import io
import os
import signal
import sys
import threading
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from types import FrameType

__all__ = ["finish", "interrupted", "is_closed_pipe", "prepare", "say", "silence"]


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


def finish(status: int) -> int:
    """Write what is left in the buffers while a failure can still be told."""
    try:
        say("", sys.stdout)
    except OSError as error:
        if not status:  # else the reason was told
            say(f"{error.filename}: {error.strerror}\n", sys.stderr)
            status = 2
    if signal.getsignal(signal.SIGINT) is _interrupt:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    gc.freeze()  # the process ends: nothing is worth looking for in what the system takes back
    return status


def interrupted() -> bool:
    """Whether Ctrl-C has been pressed since `prepare`."""
    return bool(_pressed)


_pressed: list[int] = []


def _interrupt(number: int, _frame: FrameType | None) -> None:
    _pressed.append(number)
    # a second one, or one while the interpreter ends, is not told as an error either
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    # nor is what befalls the threads that looked after workers which are being ended
    threading.excepthook = lambda _: None
    raise KeyboardInterrupt


def _name(stream: TextIO) -> str:
    return "standard error" if stream is sys.stderr else "standard output"
