"""A board that grows: the time of a build with one new submission, against that of the first.

The test set has the size of WNUT-17's: 1,287 sentences, 23,394 tokens, about 1,080 entities of six
types. Run as ``python benchmarks/board.py [SUBMISSIONS]``; by default 100. Time is that of the
processor, of whole processes, from the start of Python to the last page.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

SENTENCES, TOKENS, ENTITIES = 1_287, 23_394, 1_080
TYPES = ("person", "location", "corporation", "group", "product", "creative-work")
AT_MOST = 0.2


def answer(rng: np.random.Generator) -> list[list[str]]:
    """Entities of one or two tokens, as rare as in tweets."""
    lengths = 1 + rng.multinomial(TOKENS - SENTENCES, np.full(SENTENCES, 1 / SENTENCES))
    sentences = []
    for n in lengths.tolist():
        tags = ["O"] * n
        for i in np.flatnonzero(rng.random(n) < ENTITIES / TOKENS).tolist():
            kind = TYPES[rng.integers(len(TYPES))]
            tags[i] = f"B-{kind}"
            if i + 1 < n and rng.random() < 0.5:
                tags[i + 1] = f"I-{kind}"
        sentences.append(tags)
    return sentences


def output(
    gold: list[list[str]], skill: float, hard: np.ndarray, rng: np.random.Generator
) -> list[list[str]]:
    """What a system returns: the harder a sentence is, the more entities change or vanish."""
    sentences = []
    for tags, own in zip(gold, hard, strict=True):
        wrong = 1 / (1 + np.exp(skill - own - 0.5 * rng.normal()))
        chance = rng.random(len(tags))
        said = list(tags)
        for i, tag in enumerate(tags):
            if tag[0] == "B" and chance[i] < wrong:
                said[i] = "O" if chance[i] < wrong / 2 else f"B-{TYPES[rng.integers(len(TYPES))]}"
                if i + 1 < len(tags) and said[i + 1][0] == "I":
                    said[i + 1] = "O"
            elif tag == "O" and chance[i] < 0.02 * wrong:
                said[i] = f"B-{TYPES[rng.integers(len(TYPES))]}"
        sentences.append(said)
    return sentences


def write(path: Path, sentences: list[list[str]]) -> None:
    path.write_text("\n\n".join("\n".join(f"w{i} {t}" for i, t in enumerate(s)) for s in sentences))


def build(place: Path, site: str) -> float:
    """Processor seconds of one build."""
    words = ["board", str(place / "gold.conll"), str(place / "in"), "-o", str(place / site)]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    subprocess.run(
        [sys.executable, "-m", "probative", *words, "--jobs", "1", "-q"],
        check=True,
        stdout=subprocess.DEVNULL,
        env=environment,
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def content(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def main(size: int = 100) -> bool:
    rng = np.random.default_rng(14)
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        (place / "in").mkdir()
        gold, hard = answer(rng), rng.normal(size=SENTENCES)
        write(place / "gold.conll", gold)
        systems = [output(gold, 0.4 * rng.normal(), hard, rng) for _ in range(size)]
        for number, system in enumerate(systems[:-1]):
            write(place / "in" / f"system{number:03d}.conll", system)
        first = build(place, "site")
        write(place / "in" / "a-new-one.conll", systems[-1])
        grown = build(place, "site")
        unchanged = build(place, "site")
        whole = build(place, "fresh")
        same = content(place / "site") == content(place / "fresh")
        files = len(content(place / "site"))
    print(f"\nprobative board, {SENTENCES:,} sentences, processor seconds, one process")
    for what, took in (
        (f"first build, {size - 1} submissions, {(size - 1) * (size - 2) // 2:,} pairs", first),
        (f"one more submission, {size - 1} new pairs", grown),
        ("nothing new", unchanged),
        (f"all {size} from nothing", whole),
    ):
        print(f"{what:<48} {took:8.1f} s {took / first:8.3f} of the first")
    print(f"{files:,} files, the same as when built from nothing: {'yes' if same else 'NO'}")
    holds = same and grown <= AT_MOST * first
    print("holds" if holds else "FAILS", f"<= {AT_MOST:g} of the first build")
    return holds


if __name__ == "__main__":
    sys.exit(not main(*map(int, sys.argv[1:])))
