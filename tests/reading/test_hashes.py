"""Texts with equal hashes are not equal texts."""

from __future__ import annotations

import numpy as np
import pytest

import probative as pv
from probative.matching.segmentation import known_words
from probative.reading import fields
from probative.reading.alignment import align
from probative.reading.annotations import Text
from probative.reading.formats import Options, read
from probative.reading.inputs import annotations_of
from probative.reading.source import Source

# Two texts of 16 bytes with one hash: the second eight bytes make up for the first.
ONE = "B-Personabcdefgh"
TWO = 'sjzornuj.ҕf"DZ@'


def places(texts: list[str]) -> tuple[Source, np.ndarray, np.ndarray]:
    data = "\n".join(texts).encode()
    length = np.array([len(text.encode()) for text in texts])
    start = np.cumsum(length + 1) - length - 1
    return Source("x", data), start.astype(np.int32), (start + length).astype(np.int32)


def test_the_two_texts_have_one_hash():
    first, second = fields._hashes(*places([ONE, TWO]))
    assert first == second


@pytest.mark.parametrize("more", [0, 70_000])  # few values by a table of hashes, many by sorting
def test_distinct_compares_the_bytes(more):
    texts = [ONE, TWO, "B-PER", ONE, TWO, *(f"word{i}" for i in range(more))]
    codes, values = fields.distinct(*places(texts))
    assert [values[code].decode() for code in codes] == texts


def test_equal_lengths_and_words_of_all_sizes(monkeypatch):
    texts = ["", "a", "ab", "x" * 8, "x" * 9, "x" * 16, "x" * 300, "x" * 299 + "y", "y" + "x" * 299]
    monkeypatch.setattr(fields, "_hashes", lambda _, start, __: np.zeros(len(start), np.uint64))
    codes, values = fields.distinct(*places(texts * 2))
    assert [values[code].decode() for code in codes] == texts * 2


def test_labels_and_tags_stay_apart(write):
    gold, pred = write(f"{ONE}\n{TWO}\n", "gold.txt"), write(f"{ONE}\n{ONE}\n", "pred.txt")
    assert pv.score(gold, pred, task="labels")[0].counts.tp == 1
    tags = read(write(f"a {ONE}\nb B-PER\nc {TWO}\n"), Options(tag_column=2))
    assert len(tags.names) == 3


def test_known_words_and_altered_tokens():
    gold = annotations_of([[ONE, "x", TWO]], "gold", Options(task="segmentation"))
    lexicon = annotations_of([[TWO]], "train", Options(task="segmentation"))
    assert known_words(gold, lexicon).tolist() == [False, False, True]
    texts = [
        Text("t", np.array([0, 2]), source=source, start=start, size=end - start)
        for source, start, end in (places([ONE, "x"]), places([TWO, "x"]))
    ]
    assert align(*texts, by="position") == ("t: 1 token differs from t",)
