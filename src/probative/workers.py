"""Work on several cores: threads, and processes that Ctrl-C ends without a word."""

from __future__ import annotations

import os
import signal
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

from probative.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

__all__ = ["check_jobs", "in_processes", "in_threads", "interrupts_waiting"]

Part = TypeVar("Part")
Answer = TypeVar("Answer")


def check_jobs(n_jobs: Any) -> None:
    """Refuse what is no number of jobs."""
    if n_jobs is not None and (
        isinstance(n_jobs, bool) or not isinstance(n_jobs, int) or n_jobs == 0
    ):
        raise InputError(
            f"n_jobs: {n_jobs!r}; expected a whole number >= 1, or -1 for all cores, -2 for all "
            f"but one, …"
        )


def in_processes(
    work: Callable[[Part], Answer], parts: Sequence[Part], n_jobs: int | None
) -> Iterator[tuple[Part, Answer]]:
    """Do the work for every part, several at once; each answer comes in the order of its part.

    Parameters
    ----------
    work
        A function that other processes can be sent.
    parts
        What it is called with.
    n_jobs
        How many processes, as in joblib: -1 for as many as there are cores; 1 stays here.
    """
    from joblib import Parallel, delayed, effective_n_jobs

    workers = min(effective_n_jobs(n_jobs), len(parts))
    if workers <= 1:
        yield from ((part, work(part)) for part in parts)
        return
    running = None
    try:
        with interrupts_waiting():
            parallel = Parallel(n_jobs=workers, return_as="generator")
            running = parallel(delayed(work)(part) for part in parts)
        yield from zip(parts, running, strict=True)
    finally:
        if running is not None:
            running.close()  # after a failure the others need not go on


def in_threads(
    work: Callable[[Part], Answer], parts: Sequence[Part], n_jobs: int | None
) -> Iterator[Answer]:
    """The same within this process, for work that NumPy does: threads start at once."""
    from concurrent.futures import ThreadPoolExecutor

    jobs = 1 if n_jobs is None else n_jobs if n_jobs > 0 else _cores() + 1 + n_jobs
    workers = min(jobs, len(parts))
    if workers <= 1:
        yield from map(work, parts)
        return
    with ThreadPoolExecutor(workers) as pool:
        try:
            yield from pool.map(work, parts)
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


def _cores() -> int:
    """How many cores this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on every system
        return os.cpu_count() or 1


@contextmanager
def interrupts_waiting() -> Iterator[None]:
    """Hold Ctrl-C back while workers start.

    They inherit that: it is for the one who started them to end them, and a worker that is
    interrupted while it imports modules would tell so with a traceback.
    """
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    from multiprocessing import resource_tracker

    from joblib.externals.loky.backend import resource_tracker as loky_tracker

    for tracker in (resource_tracker, loky_tracker):
        tracker.ensure_running()  # starting one later would let interrupts through again
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    # a thread of a numerical library may take the signal, and Python would raise here all the same
    came: list[int] = []
    handler = signal.getsignal(signal.SIGINT)
    ours = threading.current_thread() is threading.main_thread() and callable(handler)
    if ours:
        signal.signal(signal.SIGINT, lambda number, frame: came.append(number))
    try:
        yield
    finally:
        if ours:
            signal.signal(signal.SIGINT, handler)
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        if came:
            signal.raise_signal(signal.SIGINT)
