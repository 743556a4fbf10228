"""Make the files of the tutorials: python examples/make_data.py [FOLDER].

Sentences, errors and answers are invented; a fixed seed makes the same files every time.
"""

import json
import random
import sys
from pathlib import Path

PEOPLE = [
    "Ada Quill",
    "Ben Moss",
    "Clara",
    "Dan Holt",
    "Eve Marsh",
    "Finn",
    "Gita Rao",
    "Hugo Lind",
]
PLACES = ["Rome", "New York", "Oslo", "Lake Garda", "Bonn", "Cape Town", "Lima", "Kyoto"]
FIRMS = ["Acme", "Blue Sky Ltd", "Norden Bank", "Orbit", "Tidal Press", "Vega Motors"]
SENTENCES = [
    "PER flew to LOC on Monday .",
    "ORG opened an office in LOC .",
    "PER joined ORG last year .",
    "PER met PER in LOC .",
    "The mayor of LOC thanked ORG .",
    "It rained all day in LOC .",
    "Nobody expected the result .",
    "Shares of ORG fell after PER left .",
    "The train was late again .",
]
NAMES = {"PER": PEOPLE, "LOC": PLACES, "ORG": FIRMS}


def sentence(rng):
    """Return words and spans (start, end, label) of an invented sentence."""
    words, spans = [], []
    for word in rng.choice(SENTENCES).split():
        name = rng.choice(NAMES[word]).split() if word in NAMES else [word]
        if word in NAMES:
            spans.append((len(words), len(words) + len(name), word))
        words += name
    return words, spans


def output(rng, words, spans, error):
    """Return the spans of a system that errs at this rate; hard sentences double it."""
    error *= rng.choice((0.5, 0.5, 2.0))
    found = []
    for start, end, label in spans:
        kind = rng.random() / error
        if kind < 0.4:
            continue  # missed
        if kind < 0.7:
            other = rng.choice([name for name in NAMES if name != label])
            found.append((start, end, other))
        elif kind < 1.0 and end - start > 1:
            found.append((start, end - 1, label))  # the last word is missing
        else:
            found.append((start, end, label))
    free = [i for i in range(len(words)) if all(not s <= i < e for s, e, _ in spans)]
    if rng.random() < error / 2 and free:
        place = rng.choice(free)
        found.append((place, place + 1, rng.choice(list(NAMES))))
    return found


def columns(words, spans):
    """Return a sentence as lines of a word and its tag (IOB2)."""
    tags = ["O"] * len(words)
    for start, end, label in spans:
        tags[start:end] = [f"B-{label}"] + [f"I-{label}"] * (end - start - 1)
    return "".join(f"{word} {tag}\n" for word, tag in zip(words, tags, strict=True)) + "\n"


def extraction(rng, right):
    """Return one line per letter: how many of its fields are right, wrong and missed."""
    lines = []
    for letter in range(60):
        fields = 3 + letter % 4
        tp = sum(rng.random() < right for _ in range(fields))
        fp = sum(rng.random() < 0.15 for _ in range(fields))
        lines.append({"id": f"letter-{letter + 1:02}", "tp": tp, "fp": fp, "fn": fields - tp})
    return "".join(json.dumps(line) + "\n" for line in lines)


def main(folder):
    """Write the files."""
    rng = random.Random(29)  # noqa: S311
    texts = {"gold": "", "old": "", "new": ""}
    for _ in range(200):
        words, spans = sentence(rng)
        texts["gold"] += columns(words, spans)
        texts["old"] += columns(words, output(rng, words, spans, 0.32))
        texts["new"] += columns(words, output(rng, words, spans, 0.25))
    for name, text in texts.items():
        (folder / f"{name}.conll").write_text(text, encoding="utf-8")
    for name, right in (("a", 0.70), ("b", 0.82)):
        (folder / f"letters_{name}.jsonl").write_text(extraction(rng, right), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parent)
