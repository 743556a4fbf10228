"""Kill long runs at random moments, damage what they kept, and let them go on.

    python tests/kill_runs.py --n 100 --seed 1

Every run ends in one of two ways: with the answer of a run that nothing happened to, or with exit
status 2 and one line that names the damaged file; without that file it then gives the answer. What
is killed is ``crossval`` with one and with two jobs, and ``study segmentation``.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

PLUGIN = '''
import time


class Lexicon:
    """Calls one word per entity that was one at least so often."""

    def __init__(self, least):
        self.least = least

    def fit(self, sentences, spans):
        time.sleep(0.05)
        self.times = {}
        for words, found in zip(sentences, spans):
            for start, end, label in found:
                for word in words[start:end]:
                    self.times[word, label] = self.times.get((word, label), 0) + 1
        return self

    def predict(self, sentences):
        return [
            [
                (i, i + 1, label)
                for i, word in enumerate(words)
                for label in ("LOC", "PER")
                if self.times.get((word, label), 0) >= self.least
            ][:1]
            for words in sentences
        ]


def often():
    return Lexicon(3)


def once():
    return Lexicon(1)
'''
WORDS = dict.fromkeys(("Ada", "Bob", "Eve"), "B-PER")
WORDS |= dict.fromkeys(("Rome", "Oslo", "Bonn"), "B-LOC")
WORDS |= dict.fromkeys(("saw", "and", "the", "a"), "O")
LEXICON = ["ab", "c", "abc", "de", "d", "e", "fg", "gh", "f"]


def prepare(place: Path) -> dict[str, list[str]]:
    """Write models and corpora, and return the commands that use them."""
    rng = random.Random(0)
    (place / "toy.py").write_text(PLUGIN)
    lines = []
    for _ in range(60):
        for _ in range(rng.randrange(3, 9)):
            word = rng.choice(list(WORDS))
            lines.append(f"{word} {WORDS[word] if rng.random() < 0.9 else 'O'}\n")
        lines.append("\n")
    (place / "corpus.conll").write_text("".join(lines))
    for name, number in (("train", 60), ("dev", 5), ("test", 20)):
        sentences = (" ".join(rng.choices(LEXICON, k=7)) for _ in range(number))
        (place / f"{name}.txt").write_text("\n".join(sentences) + "\n")
    crossval = ["crossval", "corpus.conll", "--a", "python:toy:often", "--b", "python:toy:once"]
    crossval += ["--metric", "recall", "--seed", "3", "-q", "-f", "json"]
    study = ["study", "segmentation", "--systems", "maxmatch,crf", "--step", "6", "-q"]
    study += ["--train", "train.txt", "--dev", "dev.txt", "--test", "test.txt", "-f", "json"]
    return {
        "crossval, one job": crossval,
        "crossval, two jobs": [*crossval, "--jobs", "2"],
        "study segmentation": study,
    }


def start(
    place: Path, command: list[str], folder: str | None, output: int = subprocess.PIPE
) -> subprocess.Popen[str]:
    words = [sys.executable, "-m", "probative", *command]
    return subprocess.Popen(
        words if folder is None else [*words, "--resume", folder],
        cwd=place,
        stdout=output,
        stderr=output,
        text=True,
        start_new_session=True,
    )


def finish(process: subprocess.Popen[str]) -> tuple[int, str, str]:
    out, err = process.communicate(timeout=300)
    return process.returncode, out, err


def answer(out: str) -> object:
    """What was printed, without the seconds that it took."""

    def timeless(value: object) -> object:
        if isinstance(value, dict):
            return {key: timeless(v) for key, v in value.items() if key != "seconds"}
        return [timeless(v) for v in value] if isinstance(value, list) else value

    return timeless(json.loads(out))


def kept(folder: Path) -> list[Path]:
    return sorted(path for path in folder.glob("*.json")) if folder.is_dir() else []


def kill(process: subprocess.Popen[str], folder: Path, enough: int, rng: random.Random) -> bool:
    """Kill a run after some of its parts are kept; whether it was still there to be killed."""
    deadline = time.monotonic() + 300
    while len(kept(folder)) < enough and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.002)
    time.sleep(rng.choice([0, 0.1, 1]) * rng.random())
    alive = process.poll() is None
    if rng.random() < 0.5:
        bury(process.pid)  # with its workers; else they are left alone for a while
    process.kill()
    process.wait()
    return alive


def bury(group: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(group, signal.SIGKILL)


def damage(folder: Path, rng: random.Random) -> list[Path]:
    """Do something to a file; return what was hit, two files if they changed places."""
    files = kept(folder)
    if not files:
        return []
    path = rng.choice(files)
    data = path.read_bytes()
    how = rng.randrange(8)
    if how == 0 and len(files) > 1:
        other = rng.choice([file for file in files if file != path])
        path.write_bytes(other.read_bytes())
        other.write_bytes(data)
        return [path, other]
    if how == 1:
        path.unlink()
    elif how == 2:
        path.write_bytes(data[: rng.randrange(len(data))])
    elif how == 3:
        path.write_bytes(data + rng.randbytes(rng.randrange(1, 9)))
    elif how == 4:
        path.write_bytes(b"[" * 100_000)
    elif how == 5:
        path.write_bytes(b"")
    else:
        at = rng.randrange(len(data))
        path.write_bytes(data[:at] + bytes([data[at] ^ 1 << rng.randrange(8)]) + data[at + 1 :])
    return [path]


def resume(place: Path, command: list[str], folder: Path) -> tuple[int, str, str]:
    return finish(start(place, command, folder.name))


def trouble(ended: tuple[int, str, str], hit: list[Path]) -> str:
    """What is wrong with how a run on damaged files ended; nothing if it says which file it is."""
    status, out, err = ended
    names = [path.name for path in hit]
    if status != 2 or out or err.count("\n") != 1 or not any(name in err for name in names):
        return f"status {status}, {err.strip()[-300:]!r}; damaged: {', '.join(names) or 'nothing'}"
    return ""


def one_case(
    place: Path,
    folder: Path,
    command: list[str],
    expected: object,
    parts: int,
    rng: random.Random,
    *,
    hurt: bool,
) -> tuple[list[str], str]:
    """Kill, perhaps damage, resume: what happened, and what is wrong with that."""
    enough = rng.randrange(1 if hurt else 0, parts + 1)
    process = start(place, command, folder.name, subprocess.DEVNULL)
    alive = kill(process, folder, enough, rng)
    happened = ["killed" if alive else "done before", f"after {len(kept(folder))} files"]
    hit = damage(folder, rng) if hurt else []
    happened += ["damaged"] if hit else []
    ended = resume(place, command, folder)
    bury(process.pid)
    if ended[0] == 0:
        happened.append("same answer")
        return happened, "" if answer(ended[1]) == expected else "another answer"
    happened.append("named the file")
    wrong = trouble(ended, hit)
    if wrong or any(path.name == "run.json" for path in hit):
        return happened, wrong
    for path in hit:  # as the message says
        path.unlink(missing_ok=True)
    ended = resume(place, command, folder)
    if ended[0] != 0 or answer(ended[1]) != expected:
        return happened, f"without {hit}: status {ended[0]}, {ended[2].strip()[-300:]!r}"
    return [*happened, "same answer without it"], ""


def main(words: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--n", type=int, default=100, help="kills")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", help="what is killed, such as 'crossval, one job'")
    options = parser.parse_args(words)
    rng = random.Random(options.seed)
    tally: Counter[tuple[str, str]] = Counter()
    failures = 0
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        commands = prepare(place)
        if options.only:
            commands = {options.only: commands[options.only]}
        known = {}
        for kind, command in commands.items():
            status, out, err = finish(start(place, command, None))
            assert status == 0, err
            whole = place / f"whole-{kind.replace(' ', '-')}"
            again = resume(place, command, whole)
            assert answer(again[1]) == answer(out)
            known[kind] = answer(out), len(kept(whole))
        for number in range(options.n):
            kind = list(commands)[number % len(commands)]
            expected, parts = known[kind]
            happened, wrong = one_case(
                place,
                place / f"kept-{number}",
                commands[kind],
                expected,
                parts,
                rng,
                hurt=number // len(commands) % 2 == 1,
            )
            for what in happened:
                if not what.startswith("after"):
                    tally[kind, what] += 1
            tally[kind, "wrong"] += bool(wrong)
            failures += bool(wrong)
            print(f"{number + 1}: {kind}: {', '.join(happened)}", wrong and f"WRONG: {wrong}")
    for (kind, what), times in sorted(tally.items()):
        print(f"{kind}: {what}: {times}")
    print(f"{options.n} kills, {failures} wrong")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
