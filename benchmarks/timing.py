"""What the benchmarks share: timing, and a table of ratios."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
import tracemalloc
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable


@dataclass(frozen=True)
class Line:
    """One figure: ours against a peer, both measured in this run."""

    what: str
    ours: float
    peer: float
    at_most: float  # ours / peer must not exceed this
    peaks: tuple[float, float] | None = None  # the memory of both, in bytes

    @property
    def ratio(self) -> float:
        return self.ours / self.peer

    @staticmethod
    def shown(value: float) -> str:
        """A figure of this line with its unit."""
        return f"{value:.3g} s" if value >= 1 else f"{1000 * value:.3g} ms"

    def __str__(self) -> str:
        verdict = "holds" if self.ratio <= self.at_most else "FAILS"
        memory = ""
        if self.peaks is not None:
            memory = "".join(f" {peak / 1e6:8.1f} MB" for peak in self.peaks)
        return (
            f"{self.what:<68} {1000 * self.ours:10.2f} ms {1000 * self.peer:12.2f} ms "
            f"{self.ratio:10.5f} <= {self.at_most:<8g} {verdict}{memory}"
        )


@dataclass(frozen=True)
class Cost:
    """Processor time of a process in seconds, and its peak memory in bytes."""

    seconds: float
    peak: float


def seconds(work: Callable[[], object], repeats: int = 5) -> float:
    """The least processor time of several: noise only ever adds."""
    return in_turns(repeats, it=work)["it"]


def in_turns(rounds: int, **works: Callable[[], object]) -> dict[str, float]:
    """The least processor time of each, measured in turns: others on the machine count little."""
    best = dict.fromkeys(works, float("inf"))
    for _ in range(rounds):
        for name, work in works.items():
            start = time.process_time()
            work()
            best[name] = min(best[name], time.process_time() - start)
    return best


def peak_bytes(work: Callable[[], object]) -> float:
    """The most memory that Python and NumPy hold for it at a time."""
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def against(
    what: str,
    ours: Callable[[], object],
    peer: Callable[[], object],
    at_most: float,
    rounds: int = 5,
) -> Line:
    """Ours and a peer in turns: processor time, and peak memory in a run of its own."""
    best = in_turns(rounds, ours=ours, peer=peer)
    peaks = (peak_bytes(ours), peak_bytes(peer))
    return Line(what, best["ours"], best["peer"], at_most, peaks)


def processes(*commands: tuple[str, ...], repeats: int = 11) -> list[Cost]:
    """The least processor times and peaks of whole Python processes, started in turn.

    What else runs on the machine hardly counts then, and what does meets all of them. Modules are
    compiled, as an installation has them, and there are no threads that wait for each other.
    """
    best = [Cost(float("inf"), float("inf"))] * len(commands)
    with tempfile.TemporaryDirectory() as compiled:
        environment = {
            **os.environ,
            "PYTHONPYCACHEPREFIX": compiled,
            "OMP_NUM_THREADS": "1",
            "OPENBLAS_NUM_THREADS": "1",
        }
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        for arguments in commands:  # compiles
            _run(arguments, environment)
        for _ in range(repeats):
            for i, arguments in enumerate(commands):
                cost = _run(arguments, environment)
                best[i] = Cost(min(best[i].seconds, cost.seconds), min(best[i].peak, cost.peak))
    return best


# Starts a process and reports what it took. It is small: Linux counts the memory of a process that
# starts another one among that one's peak.
_LAUNCHER = """
import os, sys
child = os.posix_spawn(sys.executable, [sys.executable, *sys.argv[1:]], os.environ)
_, status, usage = os.wait4(child, 0)
print("cost", usage.ru_utime + usage.ru_stime, usage.ru_maxrss, file=sys.stderr)
sys.exit(os.waitstatus_to_exitcode(status))
"""


def _run(arguments: tuple[str, ...], environment: dict[str, str]) -> Cost:
    """The cost of one process, all its threads together."""
    command = [sys.executable, "-S", "-c", _LAUNCHER, *arguments]
    done = subprocess.run(command, check=True, capture_output=True, env=environment, text=True)
    _, seconds_, kilobytes = done.stderr.splitlines()[-1].split()
    return Cost(float(seconds_), 1024 * float(kilobytes))


def within(what: str, work: Callable[[], object], goal: float, rounds: int = 5) -> Line:
    """Ours against a number of seconds, where there is no peer: processor time and peak memory."""
    best = in_turns(rounds, ours=work)["ours"]
    return Line(f"{what} / {goal:g} s", best, goal, 1.0, (peak_bytes(work), 0.0))


def growth(
    what: str, work: Callable[[int], Callable[[], object]], sizes: tuple[int, int], rounds: int = 5
) -> Line:
    """Ours at a large size against ours at a small one, grown with the power 1.1 of the size."""
    small, large = sizes
    best = in_turns(rounds, small=work(small), large=work(large))
    grown = best["small"] * (large / small) ** 1.1
    return Line(f"{what}: {large:,} / {small:,}, grown by 1.1", best["large"], grown, 1.0)


SHOWN: dict[str, list[Line]] = {}  # the lines of this run by title


def show(title: str, lines: Iterable[Line]) -> bool:
    """Print the table, each line once it is measured, and tell whether everything holds."""
    print(f"\n{title}\n{'':<68} {'ours':>13} {'peer':>15} {'ours/peer':>10}")
    done = SHOWN.setdefault(title, [])
    for line in lines:
        print(line, flush=True)
        done.append(line)
    return all(line.ratio <= line.at_most for line in done)
