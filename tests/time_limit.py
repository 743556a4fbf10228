"""A limit on the time that something may take, for programs that look for what hangs."""

from __future__ import annotations

import signal
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


class Hang(BaseException):
    """It took too long; nothing that catches errors catches this."""


@contextmanager
def limit(seconds: int) -> Iterator[None]:
    """Raise `Hang` where a block takes longer."""

    def stop(*_: object) -> None:
        raise Hang(f"more than {seconds} s")

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
