"""Some sentences of what was read are annotations like any others."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import probative as pv
from probative.reading.annotations import part_of
from probative.reading.formats import Options
from probative.reading.inputs import annotations_of

SENTENCES = [["B-PER", "O"], ["O"], ["O", "B-LOC", "I-LOC"], ["B-PER"]]
SPANS = [[(0, 2, "PER")], [], [(1, 2, "LOC"), (3, 5, "PER")], [(0, 1, "LOC")]]
LABELS = ["a", "b", "c", "a"]
SETS = [{"a"}, set(), {"b", "c"}, {"a", "c"}]


@pytest.mark.parametrize(
    ("data", "task"),
    [(SENTENCES, "entities"), (SPANS, "entities"), (LABELS, "labels"), (SETS, None)],
)
@settings(max_examples=10)
@given(st.permutations(range(4)), st.integers(1, 4))
def test_part_is_what_would_be_read_of_these_sentences(data, task, order, number):
    places = order[:number]
    options = Options(task=task, multilabel=True if data is SETS else None)
    part = part_of(annotations_of(data, "all", options), np.array(places))
    own = [data[i] for i in places]
    if data is SETS and not any(own):
        return  # what is empty throughout has no labels to be compared
    alone = annotations_of(own, "own", options)
    result = pv.score(alone, part) if any(map(len, own)) else None
    assert result is None or all(s.counts.fp + s.counts.fn == 0 for s in result.systems)


def test_part_of_a_file_keeps_its_tokens_and_lines(tmp_path):
    path = tmp_path / "all.conll"
    path.write_text("Ann B-PER\nran O\n\nso O\n\nin O\nNew B-LOC\nYork I-LOC\n")
    side = part_of(annotations_of(path, "", Options()), np.array([2, 0]))
    assert [list(side.text.words(i)) for i in range(2)] == [["in", "New", "York"], ["Ann", "ran"]]
    assert [side.names[tag] for tag in side.tags] == ["O", "B-LOC", "I-LOC", "B-PER", "O"]
    assert side.text.line_of(0) == 6
    assert side.text.raw(1) == b"Ann B-PER\nran O"


def test_units_of_labels_bring_all_their_items(tmp_path):
    path = tmp_path / "all.csv"
    path.write_text("doc,id,label\nx,1,a\ny,2,b\nx,3,b\nz,4,c\n")
    side = annotations_of(path, "", Options(task="labels", unit="doc"))
    part = part_of(side, np.array([2, 0]))
    assert [part.names[code] for code in part.codes] == ["c", "a", "b"]
    assert part.units.tolist() == [0, 1, 1]
    assert [part.aligned.names[code] for code in part.aligned.codes] == ["4", "1", "3"]
