"""All pairs of many systems: time and memory of `probative rank`, from files to the leaderboard.

The test set has the size of CoNLL-2003's: 3,453 sentences, 46,435 tokens, about 5,600 entities. Run
as ``python benchmarks/rank.py [SYSTEMS...]``; by default 25, 50, 100 and 200 systems.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import numpy as np

SENTENCES, TOKENS = 3_453, 46_435
SIZES = (25, 50, 100, 200)
ALLOWED_SECONDS, ALLOWED_BYTES = 120, 2 * 2**30
TYPES = ("PER", "LOC", "ORG", "MISC")


def sentence_lengths(rng: np.random.Generator) -> np.ndarray:
    """As many tokens as there are, at least one in each sentence."""
    return 1 + rng.multinomial(TOKENS - SENTENCES, np.full(SENTENCES, 1 / SENTENCES))


def answer(lengths: np.ndarray, rng: np.random.Generator) -> list[list[str]]:
    """Entities of one or two tokens, about one in eight tokens."""
    sentences = []
    for n in lengths.tolist():
        tags = ["O"] * n
        at = 0
        while at < n:
            if rng.random() < 0.125:
                kind, size = TYPES[rng.integers(4)], int(rng.integers(1, 3))
                for i in range(at, min(n, at + size)):
                    tags[i] = f"{'B' if i == at else 'I'}-{kind}"
                at += size
            at += 1
        sentences.append(tags)
    return sentences


def output(
    gold: list[list[str]], skill: float, hard: np.ndarray, rng: np.random.Generator
) -> list[list[str]]:
    """What a system returns: the harder a sentence is, the more entities change or vanish."""
    sentences = []
    for tags, own in zip(gold, hard, strict=True):
        wrong = 1 / (1 + np.exp(skill - own - 0.5 * rng.normal()))
        said = list(tags)
        for i, tag in enumerate(tags):
            chance = rng.random()
            if tag[0] == "B" and chance < wrong:
                kind = "O" if chance < wrong / 3 else f"B-{TYPES[rng.integers(4)]}"
                said[i] = kind
                if kind == "O" and i + 1 < len(tags) and tags[i + 1][0] == "I":
                    said[i + 1] = "O"
            elif tag == "O" and chance < 0.02 * wrong:
                said[i] = f"B-{TYPES[rng.integers(4)]}"
        sentences.append(said)
    return sentences


def write(path: Path, sentences: list[list[str]]) -> None:
    path.write_text("\n\n".join("\n".join(f"w{i} {t}" for i, t in enumerate(s)) for s in sentences))


def tree_bytes(pid: int) -> int:
    """The memory of a process and of those that it started, shared pages counted once."""
    total = 0
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            if int(entry.name) == pid or parent == pid:
                rollup = (entry / "smaps_rollup").read_text()
                total += 1024 * int(rollup.split("\nPss:")[1].split()[0])
        except (OSError, IndexError, ValueError):
            continue  # it has ended meanwhile
    return total


def measure(gold: Path, folder: Path) -> tuple[float, float, float, int]:
    """Wall-clock seconds, processor seconds, the most bytes at once, and pairs decided."""
    command = [
        sys.executable,
        "-m",
        "probative",
        "rank",
        str(gold),
        str(folder),
        "-f",
        "json",
        "-q",
    ]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start = time.perf_counter()
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        peak = [0]

        def watch() -> None:
            while process.poll() is None:
                peak[0] = max(peak[0], tree_bytes(process.pid))
                time.sleep(0.5)

        watcher = threading.Thread(target=watch, daemon=True)
        watcher.start()
        out, _ = process.communicate()
        took = time.perf_counter() - start
        watcher.join()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    found = json.loads(out)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return took, cpu, peak[0], sum(pair["decided"] for pair in found["pairs"])


def main(sizes: tuple[int, ...] = SIZES) -> bool:
    rng = np.random.default_rng(14)
    gold = answer(sentence_lengths(rng), rng)
    hard = rng.normal(size=SENTENCES)
    cores = len(os.sched_getaffinity(0))
    print(
        f"\nprobative rank, {SENTENCES:,} sentences, {cores} cores, load {os.getloadavg()[0]:.1f}"
    )
    head = ("systems", "pairs", "decided", "seconds", "cpu seconds", "ms cpu a pair", "MiB")
    print("{:>8} {:>8} {:>8} {:>8} {:>12} {:>14} {:>8}".format(*head))
    holds = True
    with tempfile.TemporaryDirectory() as place:
        answer_file, folder = Path(place) / "gold.conll", Path(place) / "systems"
        folder.mkdir()
        write(answer_file, gold)
        made = 0
        for k in sizes:
            for number in range(made, k):
                skill = 2.5 + 0.4 * rng.normal()
                write(folder / f"system{number:03d}.conll", output(gold, skill, hard, rng))
            made = k
            took, cpu, peak, decided = measure(answer_file, folder)
            pairs = k * (k - 1) // 2
            each = 1000 * cpu / pairs
            print(
                f"{k:>8} {pairs:>8,} {decided:>8,} {took:>8.1f} {cpu:>12.1f} {each:>14.2f} "
                f"{peak / 2**20:>8,.0f}",
                flush=True,
            )
            holds &= took <= ALLOWED_SECONDS and peak <= ALLOWED_BYTES
    print(
        "holds" if holds else "FAILS", f"<= {ALLOWED_SECONDS} s, <= {ALLOWED_BYTES / 2**30:g} GiB"
    )
    return holds


if __name__ == "__main__":
    sys.exit(not main(tuple(map(int, sys.argv[1:])) or SIZES))
