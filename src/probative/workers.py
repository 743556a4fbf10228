"""Run work on several cores, in threads or in processes that end quietly on Ctrl-C."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

from probative.errors import InputError

_Part = TypeVar("_Part")
_Answer = TypeVar("_Answer")


def check_jobs(n_jobs: Any) -> None:
    """Refuse an invalid number of jobs."""
    if n_jobs is not None and (
        isinstance(n_jobs, bool) or not isinstance(n_jobs, int) or n_jobs == 0
    ):
        raise InputError(
            f"n_jobs: {n_jobs!r}; expected a whole number >= 1, or -1 for all cores, -2 for all "
            f"but one, …"
        )


def in_processes(
    work: Callable[[_Part], _Answer], parts: Sequence[_Part], n_jobs: int | None
) -> Iterator[tuple[_Part, _Answer]]:
    """Yield every part with its result, in order, computed in `n_jobs` processes as in joblib."""
    yield from zip(parts, answers_of(work, parts, n_jobs, "generator"), strict=True)


def answers_of(
    work: Callable[[_Part], _Answer],
    parts: Sequence[_Part],
    n_jobs: int | None,
    order: str = "generator_unordered",
) -> Iterator[_Answer]:
    """Yield the results of parts, by default as soon as each is done."""
    from joblib import Parallel, delayed, effective_n_jobs

    workers = min(effective_n_jobs(n_jobs), len(parts))
    if workers <= 1:
        yield from map(work, parts)
        return
    running = None
    try:
        with _interrupts_waiting():
            parallel = Parallel(n_jobs=workers, return_as=order)
            running = parallel(delayed(work)(part) for part in parts)
        yield from running
    finally:
        if running is not None:
            running.close()  # after a failure, stop the other workers


def in_threads(
    work: Callable[[_Part], _Answer], parts: Sequence[_Part], n_jobs: int | None
) -> Iterator[_Answer]:
    """Yield the results in order, computed in threads; for work in NumPy."""
    from concurrent.futures import ThreadPoolExecutor

    # cores that this process may use; not every system knows them
    known = hasattr(os, "sched_getaffinity")
    cores = len(os.sched_getaffinity(0)) if known else os.cpu_count() or 1
    jobs = 1 if n_jobs is None else n_jobs if n_jobs > 0 else cores + 1 + n_jobs
    workers = min(jobs, len(parts))
    if workers <= 1:
        yield from map(work, parts)
        return
    with ThreadPoolExecutor(workers) as pool:
        yield from pool.map(work, parts)  # which cancels the rest after a failure


@contextmanager
def _interrupts_waiting() -> Iterator[None]:
    """Block Ctrl-C while workers start."""
    # workers inherit this: their parent ends them, and a worker that is interrupted while it
    # imports modules would print a traceback
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    from multiprocessing import resource_tracker

    from joblib.externals.loky.backend import resource_tracker as loky_tracker

    for tracker in (resource_tracker, loky_tracker):
        tracker.ensure_running()  # starting one later would unblock interrupts
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    # a thread of a numerical library may receive the signal, and Python would still raise here
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
