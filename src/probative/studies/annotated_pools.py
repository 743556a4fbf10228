"""Pools of sentences of which everything is known, to be annotated in part time and again.

They come from annotated files with the outputs of two systems; where there are none, two taggers
know the names of other annotated files.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from probative.counts import Counts
from probative.errors import InputError
from probative.matching.matched import match_inputs, read_side
from probative.matching.schemes import decode
from probative.options import ReadingOptions
from probative.reading.annotations import Spans, Tagged
from probative.surveys.pool import read_pool

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from probative.surveys.pool import Pool

__all__ = ["UnitPool", "read_units"]

GOOD = 0.8  # of the units, in which a good judge is right


@dataclass(frozen=True, eq=False)
class UnitPool:
    """Sentences with the outputs of two systems and the answer.

    Attributes
    ----------
    name
        What it is called.
    pool
        What is known before anything is annotated.
    counts
        The counts of either system, one row per sentence.
    judges
        The same as each judge sees them: a good one, and one that talks nonsense.
    """

    name: str
    pool: Pool
    counts: tuple[Counts, Counts]
    judges: dict[str, tuple[Counts, ...]]


def read_units(
    gold: Path | str,
    systems: Sequence[Path | str] = (),
    names: Sequence[Path | str] = (),
    *,
    rng: int = 0,
) -> UnitPool:
    """Read a pool of sentences.

    Parameters
    ----------
    gold
        The annotated pool.
    systems
        The outputs of systems A and B, and of a third one, on which the judges are built.
    names
        Instead, two annotated files, whose names taggers A and B know; a third tagger knows both.
    rng
        The seed of what the judges get right.
    """
    if len(systems) not in (0, 3) or len(names) not in (0, 2) or bool(systems) == bool(names):
        raise InputError(
            f"systems: {len(systems)}, and {len(names)} files of names; expected three systems, or "
            f"two files of names"
        )
    answer: Any = gold
    outputs: list[Any] = list(systems)
    if names:
        sentences = _read(gold)
        known = [_names(_read(path)) for path in names]
        answer = [tags for _, tags in sentences]
        labels = [_usual_labels(own) for own in (*known, known[0] + known[1])]
        outputs = [[_tag(words, own) for words, _ in sentences] for own in labels]
    *rivals, third = outputs
    own, opinion = (_counts(truth, rivals) for truth in (answer, third))
    pool = read_pool(rivals, reading=ReadingOptions(), names=("A", "B"))
    generator = np.random.default_rng(rng)
    right = generator.random(pool.n_units) < GOOD
    shuffled = generator.permutation(len(right))
    judges = {
        "good": tuple(_where(right, a, b) for a, b in zip(own, opinion, strict=True)),
        "nonsense": tuple(a[shuffled] for a in own),
    }
    return UnitPool(Path(gold).stem, pool, (own[0], own[1]), judges)


def _counts(answer: Any, systems: Sequence[Any]) -> tuple[Counts, ...]:
    items = match_inputs(answer, systems, names=("A", "B")).items
    return tuple(items.counts(number, by="sentence") for number in range(len(systems)))


def _where(first: NDArray[np.bool_], a: Counts, b: Counts) -> Counts:
    return Counts(
        *(np.where(first, getattr(a, cell), getattr(b, cell)) for cell in ("tp", "fp", "fn"))
    )


Sentence = tuple[tuple[str, ...], list[str]]


def _read(path: Path | str) -> list[Sentence]:
    """The words of every sentence, and their tags."""
    side = read_side(path, ReadingOptions(task="entities"))
    if not isinstance(side, (Tagged, Spans)):
        raise InputError("expected entities", path)
    spans = decode(side) if isinstance(side, Tagged) else side
    words = [tuple(spans.text.words(number)) for number in range(spans.text.n_sentences)]
    tags = [["O"] * len(own) for own in words]
    for sentence, start, end, label in zip(
        spans.sentence, spans.start, spans.end, spans.label, strict=True
    ):
        tags[sentence][start:end] = _iob2(spans.labels[label], int(end - start))
    return list(zip(words, tags, strict=True))


def _iob2(label: str, length: int) -> list[str]:
    return [f"B-{label}", *[f"I-{label}"] * (length - 1)]


def _names(sentences: Sequence[Sentence]) -> Counter[tuple[tuple[str, ...], str]]:
    """How often every name has every label."""
    found: Counter[tuple[tuple[str, ...], str]] = Counter()
    for words, tags in sentences:
        starts = [i for i, tag in enumerate(tags) if tag.startswith("B-")]
        for start in starts:
            end = start + 1
            while end < len(tags) and tags[end].startswith("I-"):
                end += 1
            found[words[start:end], tags[start][2:]] += 1
    return found


def _usual_labels(names: Counter[tuple[tuple[str, ...], str]]) -> dict[tuple[str, ...], str]:
    """The label that every name has most often."""
    ranked = sorted(names.items(), key=lambda entry: (entry[1], entry[0]))
    return {name: label for (name, label), _ in ranked}


def _tag(words: tuple[str, ...], labels: dict[tuple[str, ...], str]) -> list[str]:
    """From left to right, the longest known name."""
    longest = max(map(len, labels), default=0)
    tags = ["O"] * len(words)
    at = 0
    while at < len(words):
        lengths = range(min(longest, len(words) - at), 0, -1)
        length = next((n for n in lengths if words[at : at + n] in labels), 0)
        if length:
            tags[at : at + length] = _iob2(labels[words[at : at + length]], length)
        at += max(length, 1)
    return tags
