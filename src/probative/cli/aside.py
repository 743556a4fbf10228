"""Models of the user's own may print; standard output is for results alone."""

from __future__ import annotations

import ctypes
import os
import sys
from contextlib import contextmanager, redirect_stdout, suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["output_aside"]

_STDOUT, _STDERR = 1, 2


@contextmanager
def output_aside() -> Iterator[None]:
    """Send what is printed meanwhile to standard error: here, in C, in processes started here."""
    sys.stdout.flush()
    try:
        ours = os.dup(_STDOUT)
        os.dup2(_STDERR, _STDOUT)
    except OSError:  # a stream is closed; there is nothing to protect
        yield
        return
    try:
        with redirect_stdout(sys.stderr):
            yield
    finally:
        with suppress(OSError, AttributeError, TypeError):
            ctypes.CDLL(None).fflush(None)  # what C has printed and not yet written
        os.dup2(ours, _STDOUT)
        os.close(ours)
