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
from timing import Line, against, in_turns, peak_bytes, processes, show

import probative as pv
from probative.matching.matched import match_inputs

SENTENCES, TOKENS = 50_000, 20  # a sentence; a million tokens in all
TYPES = ("PER", "LOC", "ORG", "MISC")


@dataclass(frozen=True)
class Amount(Line):
    """A figure that is no time."""

    unit: str = "MB"

    @staticmethod
    def shown(value: float) -> str:
        return f"{value:.3g} MB"

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
    items = match_inputs(files[0], files[1:]).items
    items.counts(by="sentence")
    items.counts(by="label")


def nested_lists(gold: list[list[str]], pred: list[list[str]]) -> Line:
    """Two systems on 100,000 lists of tags, with tests and intervals; seqeval scores them."""
    gold, first = gold * 2, pred * 2
    second = [["O", *tags[1:]] if i % 7 == 0 else tags for i, tags in enumerate(first)]
    return against(
        f"pv.compare of {len(gold):,} lists of tags / seqeval, scoring both",
        lambda: pv.compare(gold, first, second),
        lambda: [f1_score(gold, system) for system in (first, second)],
        0.2,
    )


def peak_megabytes(*files: Path) -> float:
    """The peak memory of a whole process that does this and nothing else."""
    code = (
        "import sys; from pathlib import Path; "
        "from probative.matching.matched import match_inputs; "
        "items = match_inputs(Path(sys.argv[1]), [Path(p) for p in sys.argv[2:]]).items; "
        "items.counts(by='sentence'); items.counts(by='label'); "
        "print(Path('/proc/self/status').read_text())"
    )
    command = [sys.executable, "-c", code, *map(str, files)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    (line,) = (line for line in done.stdout.splitlines() if line.startswith("VmHWM"))
    return int(line.split()[1]) * 1024 / 1e6


def main() -> bool:
    warnings.simplefilter("ignore")
    gold, pred = sequences(1)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        one, five, ten = (folder / f"{name}.conll" for name in ("one", "five", "ten"))
        for path, times in ((one, 1), (five, 5), (ten, 10)):
            write_columns(path, gold, pred, times)
        words = write_words(folder)
        size = one.stat().st_size / 1e6
        best = in_turns(
            5,
            tags=lambda: counts(one),
            default=lambda: f1_score(gold, pred),
            strict=lambda: f1_score(gold, pred, mode="strict", scheme=IOB2),
            again=lambda: counts(one),
            words=lambda: counts(*words),
            five=lambda: counts(five),
            ten=lambda: counts(ten),
        )
        tags = min(best["tags"], best["again"])
        (folder / "few.conll").write_text("\n".join("a B-PER O" for _ in range(10)) + "\n")
        peaks = peak_bytes(lambda: counts(one)), peak_bytes(lambda: f1_score(gold, pred))
        command = ("-m", "probative", "score", "-q")
        bare, small, whole, tenfold = processes(
            ("-c", "import numpy, scipy.special"), (*command, str(folder / "few.conll")),
            (*command, str(one)), (*command, str(ten)),
            repeats=7,
        )  # fmt: skip
        return show(
            f"Reading, {SENTENCES * TOKENS:,} tokens in {SENTENCES:,} sentences, {size:.1f} MB",
            [
                Line("file to counts / seqeval default mode, scoring alone",
                     tags, best["default"], 1 / 8, peaks),
                Line("file to counts / seqeval strict mode, scoring alone",
                     tags, best["strict"], 1 / 20),
                Line("two files of a million words / two of a million tokens",
                     best["words"], 2 * tags, 1.25),
                # a million tokens fit the caches, five million do not; arrays above 32 MB are new
                # memory every time, which the system clears: if the allocator keeps it
                # (MALLOC_MMAP_THRESHOLD_=2000000000), the ratio is 1.02 instead of 1.37
                Line("ten million tokens / twice five million",
                     best["ten"], 2 * best["five"], 1.5),
                Line("probative score, a process less its start / seqeval, scoring alone",
                     whole.seconds - bare.seconds, best["default"], 0.15, (whole.peak, 0.0)),
                Line("the same less a process with ten tokens / seqeval, scoring alone",
                     whole.seconds - small.seconds, best["default"], 0.15),
                Line("the same of ten million tokens / of ten times a million",
                     tenfold.seconds - bare.seconds, 10 * (whole.seconds - bare.seconds), 1.3,
                     (tenfold.peak, 0.0)),
                Amount("peak memory, less that of a small file / size of the file",
                       peak_megabytes(ten) - peak_megabytes(folder / "few.conll"), 10 * size, 4),
                nested_lists(gold, pred),
            ],
        )  # fmt: skip


if __name__ == "__main__":
    raise SystemExit(not main())
