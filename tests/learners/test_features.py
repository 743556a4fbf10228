from __future__ import annotations

import pytest

import probative as pv
from probative.learners.crf import columns_of, window_features


def test_the_template_of_the_paper_has_twelve_features_a_column():
    words = ["the", "cat", "sat", "on", "the", "mat"]
    features = window_features([words], window=2, ngrams=(1, 2, 3))
    assert len(features) == 6
    assert all(len(token) == 5 + 4 + 3 for token in features)
    both = window_features([words, ["D", "N", "V", "P", "D", "N"]], window=2, ngrams=(1, 2, 3))
    assert all(len(token) == 24 for token in both)
    assert [token[:12] for token in both] == features


def test_features_tell_offset_and_length():
    (_, second, _) = window_features([["a", "b", "c"]], window=1, ngrams=(1, 2, 3))
    assert second == ("0-1=a", "0+0=b", "0+1=c", "0-1,2=a\tb", "0+0,2=b\tc", "0-1,3=a\tb\tc")


def test_neighbours_outside_the_sentence_are_marked():
    ((before, own, after),) = window_features(["x"], window=1, ngrams=(1,))
    assert own == "0+0=x"
    assert before.split("=")[1] != after.split("=")[1]


def test_characters_words_and_tuples_are_sentences():
    assert columns_of("ab", 0) == ["ab"]
    assert columns_of(["a", "b"], 0) == [["a", "b"]]
    assert columns_of([("a", "N"), ("b", "V")], 0) == [["a", "b"], ["N", "V"]]
    assert window_features(["ab"], window=2, ngrams=(1, 3)) == window_features(
        [["a", "b"]], window=2, ngrams=(1, 3)
    )
    assert window_features([[]], window=2, ngrams=(1,)) == []


@pytest.mark.parametrize("sentence", [[1, 2], [("a", "N"), ("b",)], [("a", 1)], [["a"], "b"]])
def test_other_things_are_no_sentences(sentence):
    with pytest.raises(pv.InputError, match="sentences: sentence 3 is"):
        columns_of(sentence, 2)
