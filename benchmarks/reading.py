"""Reading and matching against seqeval: files of a million tokens, ten million, and words."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import warnings
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from seqeval.metrics import f1_score
from seqeval.scheme import IOB2
from timing import Line, seconds, show

from probative.matching.evidence import gather

SENTENCES, TOKENS = 50_000, 20  # a sentence; a million tokens in all
TYPES = ("PER", "LOC", "ORG", "MISC")


@dataclass(frozen=True)
class Amount(Line):
    """A figure that is no time."""

    unit: str = "MB"

    def __str__(self) -> str:
        verdict = "holds" if self.ratio <= self.at_most else "FAILS"
        return (
            f"{self.what:<68} {self.ours:10.1f} {self.unit} {self.peer:12.1f} {self.unit} "
            f"{self.ratio:10.5f} <= {self.at_most:<8g} {verdict}"
        )


def sequences(seed: int) -> tuple[list[list[str]], list[list[str]]]:
    """Gold tags with an entity in about every seventh token, and a system that errs."""
    rng = np.random.default_rng(seed)
    gold = np.full((SENTENCES, TOKENS), "O", dtype="<U6")
    begin = rng.random(gold.shape) < 0.1
    kind = rng.integers(0, len(TYPES), gold.shape)
    inside = np.zeros_like(begin)
    inside[:, 1:] = begin[:, :-1] & ~begin[:, 1:] & (rng.random((SENTENCES, TOKENS - 1)) < 0.5)
    names = np.array(TYPES)
    gold[begin] = np.char.add("B-", names[kind[begin]])
    gold[inside] = np.char.add("I-", names[np.roll(kind, 1, axis=1)[inside]])
    pred = gold.copy()
    wrong = rng.random(gold.shape) < 0.05
    pred[wrong] = rng.choice(["O", "B-PER", "I-LOC", "B-ORG"], wrong.sum())
    return gold.tolist(), pred.tolist()


def write_columns(path: Path, gold: list[list[str]], pred: list[list[str]], times: int) -> None:
    rows = []
    for expected, found in zip(gold, pred, strict=True):
        pairs = enumerate(zip(expected, found, strict=True))
        rows.append("\n".join(f"word{i * 7919 % 97} {x} {y}" for i, (x, y) in pairs))
    text = "\n\n".join(rows) + "\n\n"
    with path.open("w") as file:
        for _ in range(times):
            file.write(text)


def write_words(folder: Path) -> tuple[Path, Path]:
    """A million words in two segmentations of one text."""
    rng = np.random.default_rng(3)
    words = ["".join(chr(0x4E00 + int(c)) for c in rng.integers(0, 3000, n)) for n in
             rng.integers(1, 4, 5000)]  # fmt: skip
    chosen = rng.integers(0, len(words), (SENTENCES, TOKENS))
    joined = rng.random(chosen.shape) < 0.1
    gold, pred = folder / "gold.txt", folder / "pred.txt"
    with gold.open("w") as first, pred.open("w") as second:
        for row, joins in zip(chosen.tolist(), joined.tolist(), strict=True):
            first.write(" ".join(words[i] for i in row) + "\n")
            second.write(
                "".join(words[i] + ("" if j else " ") for i, j in zip(row, joins, strict=True))
                + "\n"
            )
    return gold, pred


def counts(*files: Path) -> None:
    """From files to counts by sentence and by label."""
    items = gather(files[0], files[1:]).items
    items.counts(by="sentence")
    items.counts(by="label")


def peak_megabytes(*files: Path) -> float:
    """The peak memory of a whole process that does this and nothing else."""
    code = (
        "import sys, resource; from pathlib import Path; "
        "from probative.matching.evidence import gather; "
        "items = gather(Path(sys.argv[1]), [Path(p) for p in sys.argv[2:]]).items; "
        "items.counts(by='sentence'); items.counts(by='label'); "
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)"
    )
    command = [sys.executable, "-c", code, *map(str, files)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return int(done.stdout) * 1024 / 1e6


def main() -> bool:
    warnings.simplefilter("ignore")
    gold, pred = sequences(1)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        one, ten = folder / "one.conll", folder / "ten.conll"
        write_columns(one, gold, pred, 1)
        write_columns(ten, gold, pred, 10)
        ours = seconds(lambda: counts(one), 5)
        default = seconds(lambda: f1_score(gold, pred), 2)
        strict = seconds(lambda: f1_score(gold, pred, mode="strict", scheme=IOB2), 1)
        words = write_words(folder)
        size = one.stat().st_size / 1e6
        return show(
            f"Reading, {SENTENCES * TOKENS:,} tokens in {SENTENCES:,} sentences, {size:.1f} MB",
            [
                Line("file to counts / seqeval default mode, scoring alone", ours, default, 1 / 8),
                Line("file to counts / seqeval strict mode, scoring alone", ours, strict, 1 / 20),
                Amount("peak memory of the process / size of the file",
                       peak_megabytes(one), size, 25),
                Line("ten million tokens / ten times a million", seconds(lambda: counts(ten), 2),
                     10 * ours, 1.3),
                Line("a million words, segmented / a million tokens, tagged",
                     seconds(lambda: counts(*words), 3), ours, 1.25),
            ],
        )  # fmt: skip


if __name__ == "__main__":
    raise SystemExit(not main())
