"""Words that come as Python lists are those that a file with the same words would give."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from probative.errors import InputError
from probative.reading.formats import Options, read
from probative.reading.inputs import annotations_of

WORD = st.text("aß北😀\u00a0\u2028\u0085x", min_size=1, max_size=4)
FIELDS = ("characters", "byte_first", "first", "sentence", "start", "end")


def words_of(data):
    return annotations_of(data, "gold", Options(task="segmentation"))


@given(st.lists(st.lists(WORD, max_size=5), min_size=1, max_size=5).filter(lambda s: bool(s[-1])))
def test_lists_and_files_agree(tmp_path_factory, sentences):
    path = tmp_path_factory.mktemp("words") / "words.txt"
    path.write_bytes("\n".join(" ".join(words) for words in sentences).encode())
    from_file = read(path, Options(task="segmentation", input_format="segmented"))
    for data in (sentences, [" ".join(words) for words in sentences]):
        from_list = words_of(data)
        assert [from_list.words(i) for i in range(len(sentences))] == sentences
        for name in FIELDS:
            assert np.array_equal(getattr(from_list, name), getattr(from_file, name)), name


def test_a_word_with_spaces_stays_one_word():
    words = words_of([["New York", "is\u3000big", ""], [], ["x"]])
    assert [words.words(i) for i in range(3)] == [["NewYork", "isbig"], [], ["x"]]
    assert words.n_sentences == 3


def test_half_a_character_is_no_text():
    with pytest.raises(InputError, match=r"gold: .* is half a character; expected text"):
        words_of([["a\ud800"]])
