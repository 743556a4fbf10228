"""What the benchmarks share: timing, and a table of ratios."""

from __future__ import annotations

import subprocess
import sys
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass(frozen=True)
class Line:
    """One figure: ours against a peer, both measured in this run."""

    what: str
    ours: float
    peer: float
    at_most: float  # ours / peer must not exceed this

    @property
    def ratio(self) -> float:
        return self.ours / self.peer

    def __str__(self) -> str:
        verdict = "holds" if self.ratio <= self.at_most else "FAILS"
        return (
            f"{self.what:<68} {1000 * self.ours:10.2f} ms {1000 * self.peer:12.2f} ms "
            f"{self.ratio:10.5f} <= {self.at_most:<8g} {verdict}"
        )


def seconds(work: Callable[[], object], repeats: int = 5) -> float:
    """The least of several times: noise only ever adds."""
    best = float("inf")
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        best = min(best, time.perf_counter() - start)
    return best


def process_seconds(*commands: tuple[str, ...], repeats: int = 11) -> list[float]:
    """The least times of whole Python processes, started in turn: noise then meets all of them."""
    best = [float("inf")] * len(commands)
    for _ in range(repeats):
        for i, arguments in enumerate(commands):
            start = time.perf_counter()
            subprocess.run([sys.executable, *arguments], check=True, capture_output=True)
            best[i] = min(best[i], time.perf_counter() - start)
    return best


def show(title: str, lines: list[Line]) -> bool:
    """Print the table and tell whether everything holds."""
    print(f"\n{title}\n{'':<68} {'ours':>13} {'peer':>15} {'ours/peer':>10}")
    for line in lines:
        print(line, flush=True)
    return all(line.ratio <= line.at_most for line in lines)
