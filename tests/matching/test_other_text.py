"""Segmentations whose text is not quite the answer's."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from probative.errors import InputError
from probative.matching.segmentation import carried_over
from probative.reading.lines import segmented_from_lists

letters = st.text("abc１1", min_size=1, max_size=4)
sentences = st.lists(st.lists(letters, min_size=1, max_size=6), min_size=1, max_size=4)


def words(sentences, name="gold"):
    return segmented_from_lists(name, sentences)


def right_words(gold, system):
    moved, notes = carried_over(words(gold), words(system, "pred"))
    spans = [moved.spans().of(k) for k in range(moved.n_sentences)]
    answer = words(gold).spans()
    return [len(set(answer.of(k)) & set(own)) for k, own in enumerate(spans)], notes


def test_a_missing_character_costs_the_words_that_it_touches():
    # the answer has 'ab cd ef'; the system was given a text without d
    right, notes = right_words([["ab", "cd", "ef"]], [["ab", "c", "ef"]])
    assert right == [2]
    (note,) = notes
    assert note == (
        "pred: sentences whose text differs from gold: 1 of 1; missing characters: 1, characters "
        "that gold does not have: 0; words that cannot be aligned, counted as wrong: 0"
    )


def test_a_word_with_characters_that_are_not_there_is_a_false_alarm():
    moved, notes = carried_over(words([["ab", "cd"]]), words([["ab", "xy", "cd"]], "pred"))
    assert moved.spans().of(0) == [(0, 2, "word"), (2, 4, "word"), (4, 5, "word")]
    assert (
        "that gold does not have: 2; words that cannot be aligned, counted as wrong: 1" in notes[0]
    )


def test_widths_are_alike():
    right, _ = right_words([["１９", "年"]], [["19", "年"]])
    assert right == [2]


def test_the_number_of_sentences_must_agree():
    with pytest.raises(InputError, match="2 sentences, but gold has 1; expected the same number"):
        carried_over(words([["a"]]), words([["a"], ["b"]], "pred"))


@given(sentences)
def test_the_same_text_stays_as_it_is(gold):
    system = words(gold, "pred")
    moved, notes = carried_over(words(gold), system)
    assert moved is system
    assert notes == ()


@given(sentences, sentences)
def test_no_word_is_lost_or_made(gold, system):
    system = (system * len(gold))[: len(gold)]
    moved, _ = carried_over(words(gold), words(system, "pred"))
    answer = words(gold)
    for k, own in enumerate(system):
        spans = moved.spans().of(k)
        assert len(set(spans)) == len(own)
        inside = [(i, j) for i, j, _ in spans if j <= int(answer.lengths[k])]
        assert all(a[1] <= b[0] for a, b in pairwise(inside))
