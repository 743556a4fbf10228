"""Kill builds of a board at random moments, and let them go on.

    python tests/kill_boards.py --n 100 --seed 1

Between two builds a submission comes, goes or changes. Whenever a build is killed, a whole site
stands: the old one or the new one, to the last byte. The build that is let run to its end gives the
site that is built from nothing, and leaves nothing else behind. Now and then two start at once: one
of them may be refused, in one line.
"""

from __future__ import annotations

import argparse
import random
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import probative as pv

TYPES = ("PER", "LOC", "ORG")


def answer(rng: random.Random) -> list[list[str]]:
    return [
        [f"B-{rng.choice(TYPES)}" if rng.random() < 0.3 else "O" for _ in range(rng.randint(3, 9))]
        for _ in range(300)
    ]


def write(path: Path, sentences: list[list[str]]) -> None:
    path.write_text("".join("".join(f"w {t}\n" for t in s) + "\n" for s in sentences))


def output(gold: list[list[str]], rng: random.Random) -> list[list[str]]:
    wrong = rng.uniform(0.1, 0.6)
    return [[t if t == "O" or rng.random() > wrong else "O" for t in s] for s in gold]


def content(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def change(folder: Path, gold: list[list[str]], rng: random.Random) -> None:
    """A submission comes, goes, changes or goes bad."""
    files = sorted(folder.iterdir())
    how = rng.random()
    if how < 0.2 and len(files) > 8:
        rng.choice(files).unlink()
    elif how < 0.3:
        rng.choice(files).write_text("x O\n")
    else:
        write(folder / f"s{rng.randrange(40):02d}.conll", output(gold, rng))


def start(place: Path) -> subprocess.Popen[bytes]:
    words = ["board", "gold.conll", "in", "-o", "site", "--jobs", "1", "-q"]
    return subprocess.Popen(
        [sys.executable, "-m", "probative", *words],
        cwd=place,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )


def finish(process: subprocess.Popen[bytes]) -> tuple[int, str]:
    _, err = process.communicate(timeout=300)
    return process.returncode, err.decode()


def one_case(place: Path, lasts: float, rng: random.Random) -> tuple[str, str]:
    """Start and kill, or start two: what happened, and what is wrong with that."""
    old = content(place / "site")
    pv.board(place / "gold.conll", place / "in", place / "oracle", n_jobs=1)
    new = content(place / "oracle")
    if rng.random() < 0.1:
        ends = [finish(process) for process in (start(place), start(place))]
        statuses = sorted(status for status, _ in ends)
        refused = [err for status, err in ends if status]
        fine = statuses in ([0, 0], [0, 2]) and all(
            err.count("\n") == 1 and "another process" in err for err in refused
        )
        what = "two at once"
        if not fine or content(place / "site") != new:
            return what, f"two at once ended so: {ends}"
        return what, left_over(place)
    process = start(place)
    time.sleep(rng.random() ** 0.5 * lasts)  # rather late: that is where something is written
    alive = process.poll() is None
    process.kill()
    process.communicate()
    standing = content(place / "site")
    if standing not in (old, new):
        return "killed", f"neither the old nor the new site stands: {sorted(standing)[:5]}"
    what = "killed" if alive else "had ended"
    if standing == new != old and alive:
        what = "killed after the exchange"
    if rng.random() < 0.5:
        return what, ""  # the next one meets what this one left
    status, err = finish(start(place))
    if status or content(place / "site") != new:
        return what, f"the next build ended with {status}: {err}"
    return what, left_over(place)


def left_over(place: Path) -> str:
    expected = {"gold.conll", "in", "site", "site.cache", "oracle", "oracle.cache"}
    strangers = {path.name for path in place.iterdir()} - expected
    return f"left over: {sorted(strangers)}" if strangers else ""


def main(n: int, seed: int) -> bool:
    rng = random.Random(seed)
    tally: Counter[str] = Counter()
    wrong = []
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        (place / "in").mkdir()
        gold = answer(rng)
        write(place / "gold.conll", gold)
        for i in range(10):
            write(place / "in" / f"s{i:02d}.conll", output(gold, rng))
        for _ in range(2):  # the second has little to do, as those have that are killed
            begin = time.perf_counter()
            status, err = finish(start(place))
            lasts = time.perf_counter() - begin
            assert status == 0, err
        for case in range(n):
            change(place / "in", gold, rng)
            what, trouble = one_case(place, lasts, rng)
            tally[what] += 1
            if trouble:
                wrong.append(f"case {case}: {trouble}")
                print(wrong[-1], flush=True)
    print(", ".join(f"{what}: {number}" for what, number in sorted(tally.items())))
    print(f"{n} cases, seed {seed}: {len(wrong)} wrong")
    return not wrong


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--n", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    sys.exit(not main(given.n, given.seed))
