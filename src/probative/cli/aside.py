"""Models of the user's own may print; standard output is for results alone."""

from __future__ import annotations

import ctypes
import os
import sys
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from probative.cli import streams

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import TextIO

__all__ = ["output_aside"]

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
    streams.divert(_same_place(before, number))
    sys.stdout = sys.stderr
    try:
        yield
    finally:
        if not streams.process_is_ours():
            with suppress(OSError, AttributeError, TypeError):
                ctypes.CDLL(None).fflush(None)  # what C has printed and not yet written
            os.dup2(number, _STDOUT)
            sys.stdout = before
            streams.divert(None)
            os.close(number)


def _same_place(stream: TextIO, number: int) -> TextIO:
    """A stream that writes where this one did, under another number; or, in a notebook, itself."""
    with suppress(OSError, ValueError, AttributeError):
        if stream.fileno() == _STDOUT:
            encoding, errors = stream.encoding, stream.errors
            return open(number, "w", encoding=encoding, errors=errors, closefd=False)
    return stream
