"""Whole comparisons, from files to a verdict, as processes: how long they may take."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import numpy as np
import rank
from timing import Line, processes, show

SENTENCES, TOKENS = 50_000, 20  # of each of them
TAGS = np.array(["O"] * 12 + ["B-PER", "I-PER", "B-LOC", "I-LOC", "B-ORG", "I-ORG", "B-MISC"])
WORDS = np.array([f"word{i}" for i in range(5000)])


def write_corpus(folder: Path, sentences: int, systems: int, seed: int = 0) -> list[str]:
    """A gold file, and outputs that agree with most of it: whole sentences are replaced."""
    rng = np.random.default_rng(seed)
    words = rng.choice(WORDS, (sentences, TOKENS))
    gold = rng.choice(TAGS, (sentences, TOKENS))
    sides = [gold]
    for i in range(systems):
        noise = rng.choice(TAGS, gold.shape)
        spoilt = rng.random((sentences, 1)) < 0.2 - 0.01 * i
        sides.append(np.where(spoilt, noise, gold))
    names = ["gold", *(f"system{i}" for i in range(systems))]
    paths = []
    for name, tags in zip(names, sides, strict=True):
        lines = np.char.add(np.char.add(words, "\t"), tags)
        path = folder / f"{name}.conll"
        path.write_text("\n\n".join("\n".join(row) for row in lines.tolist()) + "\n")
        paths.append(str(path))
    return paths


def shared_task(folder: Path) -> list[str]:
    """The answer and the seven outputs of WNUT 2017, where they are; else a corpus of that size."""
    root = Path(__file__).resolve().parent.parent.parent
    data = Path(os.environ.get("PROBATIVE_SHARED", root / "shared")) / "data" / "wnut17"
    if not data.is_dir():
        return write_corpus(folder, 1287, 7)
    outputs = sorted((data / "submissions").iterdir())
    return [str(data / "emerging.test.annotated"), *map(str, outputs)]


def ten_systems(folder: Path) -> list[str]:
    """A gold file of the size of CoNLL-2003's and ten outputs of about the same quality."""
    rng = np.random.default_rng(14)
    gold = rank.answer(rank.sentence_lengths(rng), rng)
    hard = rng.normal(size=len(gold))
    sides = {"gold": gold}
    for i in range(10):
        sides[f"system{i}"] = rank.output(gold, 2.5 + 0.4 * rng.normal(), hard, rng)
    paths = [folder / f"{name}.conll" for name in sides]
    for path, side in zip(paths, sides.values(), strict=True):
        rank.write(path, side)
    return list(map(str, paths))


def main() -> bool:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for part in ("large", "ten"):
            (folder / part).mkdir()
        two = write_corpus(folder / "large", SENTENCES, 2)
        seven = shared_task(folder)
        compare = ("-m", "probative", "compare", "-q")
        pairs = (*seven, "--align", "position", "--all-pairs", "--html", str(folder / "page.html"))
        ranked = ("-m", "probative", "rank", "-q", *ten_systems(folder / "ten"))
        jobs = processes(
            (*compare, *two),
            (*compare, *pairs),
            ranked,
            (*ranked, "--html", str(folder / "rank.html")),
            repeats=5,
        )
        promised = {
            f"{SENTENCES:,} sentences, {SENTENCES * TOKENS:,} tokens, two systems": 2.0,
            "seven systems, all pairs, with the page": 5.0,
            "rank of ten systems": 3.0,
            "rank of ten systems, with the page": 5.0,
        }
        return show(
            "Comparisons as processes; the peer is the time that is promised",
            [
                Line(what, job.seconds, limit, 1.0, (job.peak, 0.0))
                for (what, limit), job in zip(promised.items(), jobs, strict=True)
            ],
        )


if __name__ == "__main__":
    raise SystemExit(not main())
