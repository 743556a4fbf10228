"""Overlap scores of spans: ours against nervaluate's, all four ways, in total and by label.

Both start from the text of column files: one of the size of WNUT-17's test set (1,287 sentences,
23,394 tokens, six types) and one of a million tokens. Run as ``python benchmarks/overlap.py``, with
the answer's file and a system's behind it for real data.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import numpy as np
from nervaluate import Evaluator
from timing import Line, seconds, show

from probative.matching.schemes import decode
from probative.matching.spans import MatchRule, match_spans
from probative.reading.formats import Options, open_input, read

TYPES = ("person", "location", "group", "product", "corporation", "creative-work")
RULES = {"strict": "strict", "exact": "exact", "partial": "partial", "type": "ent_type"}
FEW_AT_MOST, AT_MOST, FROM_FILES = 0.04, 0.02, 0.2  # of few spans the calls take most of the time


def tags_of(lengths: np.ndarray, rng: np.random.Generator) -> list[list[str]]:
    """Entities of one to four tokens."""
    sentences = []
    for n in lengths.tolist():
        tags = ["O"] * n
        at = int(rng.integers(0, 12))
        while at < n:
            kind = TYPES[rng.integers(len(TYPES))]
            end = min(n, at + int(rng.integers(1, 5)))
            tags[at:end] = [f"B-{kind}", *[f"I-{kind}"] * (end - at - 1)]
            at = end + int(rng.integers(1, 20))
        sentences.append(tags)
    return sentences


def output_of(gold: list[list[str]], rng: np.random.Generator) -> list[list[str]]:
    """Missed, cut, prolonged, renamed and invented entities, about a third of all."""
    sentences = []
    for tags in gold:
        said = list(tags)
        for i, tag in enumerate(tags):
            chance = rng.random()
            if tag[0] == "B" and chance < 0.1:
                said[i] = "O"
            elif tag[0] == "B" and chance < 0.2:
                said[i] = f"B-{TYPES[rng.integers(len(TYPES))]}"
            elif tag[0] == "I" and chance < 0.1:
                said[i] = "O"
            elif tag == "O" and chance < 0.02:
                said[i] = f"B-{TYPES[rng.integers(len(TYPES))]}"
        sentences.append(said)
    return sentences


def write(path: Path, sentences: list[list[str]]) -> str:
    text = "\n\n".join("\n".join(f"w\t{tag}" for tag in tags) for tags in sentences)
    path.write_text(text + "\n")
    return str(path)


def read_spans(path: str) -> object:
    return decode(read(open_input(path, Options())))


def count(gold, pred) -> dict[str, list[float]]:
    """tp of all four ways, in total and by label."""
    counts = {}
    for rule in RULES:
        items = match_spans(gold, pred, rule=MatchRule(rule))
        counts[rule] = [float(items.counts().tp), *map(float, items.counts(by="label").tp)]
    return counts


def evaluator(gold: str, pred: str) -> Evaluator:
    return Evaluator(*(Path(p).read_text() for p in (gold, pred)), tags=TYPES, loader="conll")


def told(found) -> dict[str, list[float]]:
    """The same of nervaluate's results."""

    def right(result) -> float:
        return result.correct + result.partial / 2

    return {
        rule: [right(found["overall"][name]),
               *(right(found["entities"][tag][name]) for tag in sorted(TYPES))]
        for rule, name in RULES.items()
    }  # fmt: skip


def compared(what: str, gold: str, pred: str, repeats: int) -> list[Line]:
    """The counting alone, of spans in memory; and with the reading of files."""
    sides = [read_spans(path) for path in (gold, pred)]
    theirs = evaluator(gold, pred)
    assert count(*sides) == told(theirs.evaluate()), what
    few = min(repeats, 3)
    counting = seconds(lambda: count(*sides), repeats), seconds(theirs.evaluate, few)
    reading = (
        seconds(lambda: count(*map(read_spans, (gold, pred))), repeats),
        seconds(lambda: evaluator(gold, pred).evaluate(), few),
    )
    name = f"overlap scores against nervaluate, {what}"
    at_most = FEW_AT_MOST if len(sides[0]) < 10_000 else AT_MOST
    return [Line(name, *counting, at_most), Line(f"{name}, from files", *reading, FROM_FILES)]


def main(*files: str) -> bool:
    rng = np.random.default_rng(1)
    lines = []
    with tempfile.TemporaryDirectory() as folder:
        for n, mean in ((1_287, 18), (50_000, 20)):
            lengths = 1 + rng.poisson(mean - 1, n)
            gold = tags_of(lengths, rng)
            paths = [
                write(Path(folder) / f"{name}-{n}", side)
                for name, side in (("gold", gold), ("pred", output_of(gold, rng)))
            ]
            what = f"{int(lengths.sum()):,} tokens"
            lines += compared(what, *paths, repeats=7 if n < 10_000 else 3)
    if files:
        lines += compared(Path(files[0]).name, *files, repeats=7)
    return show("Scores by overlap", lines)


if __name__ == "__main__":
    raise SystemExit(not main(*sys.argv[1:]))
