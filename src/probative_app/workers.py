"""Run commands in worker processes: one per job, ended on request or after a time limit."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from probative.files import make_folder

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

_WAITING, _RUNNING, _DONE, CANCELLED = "waiting", "running", "done", "cancelled"


class Workers:
    """The worker processes of an app, limited in number, seconds and bytes of memory."""

    # a worker reads an order from standard input, JSON with requests, folder and memory, and writes
    # answer.json and progress into the folder

    def __init__(
        self,
        program: Sequence[str],
        *,
        most: int | None = None,
        seconds: float = 3600.0,
        memory: int | None = None,
    ):
        self.program, self.seconds = list(program), seconds
        self.memory = _usual_memory() if memory is None else memory
        self.room = threading.BoundedSemaphore(most or os.cpu_count() or 1)

    def start(self, requests: Sequence[Mapping[str, Any]], folder: Path, files: Path) -> Job:
        """Start a job that answers requests about the files in a folder."""
        make_folder(folder)
        job = Job(self, {"requests": list(requests), "folder": str(folder)}, folder, files)
        threading.Thread(target=job.run, daemon=True).start()
        return job


class Job:
    """Work of one process, and its answers: one for each request, once it is done."""

    def __init__(self, workers: Workers, order: Mapping[str, Any], folder: Path, files: Path):
        self.workers, self.order, self.folder, self.files = workers, order, folder, files
        self.state = _WAITING
        self.answers: list[dict[str, Any]] = []
        self.started = time.monotonic()
        self._process: subprocess.Popen[bytes] | None = None
        self._lock = threading.Lock()

    @property
    def ended(self) -> bool:
        """Return True if it is neither waiting nor running."""
        return self.state in (_DONE, CANCELLED)

    @property
    def succeeded(self) -> bool:
        """Return True if it has answered everything without an error."""
        return bool(self.answers) and not any("error" in answer for answer in self.answers)

    def run(self) -> None:
        """Wait for room, run the process, and keep its answers."""
        with self.workers.room:
            with self._lock:
                if self.ended:
                    return
                # the folder of the files must not be searched for modules, by no process
                self._process = subprocess.Popen(  # noqa: S603  # our own program
                    self.workers.program,
                    cwd=self.files,
                    env={**os.environ, "PYTHONSAFEPATH": "1"},
                    stdin=subprocess.PIPE,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                    start_new_session=True,
                )
                self.state = _RUNNING
            failure = self._wait(self._process)
        with self._lock:
            if not self.ended:
                self.answers = self._read(failure)
                self.state = _DONE

    def cancel(self) -> None:
        """End the process, with all that it has started."""
        with self._lock:
            if self.ended:
                return
            self.state = CANCELLED
            if self._process is not None:
                _kill(self._process)

    def progress(self) -> tuple[int, int] | None:
        """Return how much is done, and of how much, if the worker knows."""
        try:
            done, total = (self.folder / "progress").read_text().split()
            return int(done), int(total)
        except (OSError, ValueError):
            return None

    def _wait(self, process: subprocess.Popen[bytes]) -> str:
        """Wait for the end of the process; return what went wrong, or nothing."""
        order = json.dumps({**self.order, "memory": self.workers.memory}).encode()
        try:
            process.communicate(order, timeout=self.workers.seconds)
        except subprocess.TimeoutExpired:
            _kill(process)
            process.wait()
            return f"took longer than {self.workers.seconds:,.0f} seconds and was stopped"
        except OSError:  # it ended before it read its order
            process.wait()
        if process.returncode < 0:
            with suppress(ValueError):
                return f"was ended by {signal.Signals(-process.returncode).name}"
        return f"ended with status {process.returncode}" if process.returncode else ""

    def _read(self, failure: str) -> list[dict[str, Any]]:
        try:
            answers: list[dict[str, Any]] = json.loads((self.folder / "answer.json").read_bytes())
        except (OSError, ValueError):
            answers = []
        missing = len(self.order["requests"]) - len(answers)
        lost = {"status": 3, "error": f"the process {failure or 'gave no answer'}"}
        return [*answers, *([lost] * missing)]


def _kill(process: subprocess.Popen[bytes]) -> None:
    """End a process and its children."""
    with suppress(OSError):
        if sys.platform == "win32":
            process.kill()
        else:
            os.killpg(process.pid, signal.SIGKILL)


def _usual_memory() -> int:
    """Return three quarters of the memory of this computer, or 0 if it is unknown."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") * 3 // 4
    except (AttributeError, ValueError, OSError):
        return 0
