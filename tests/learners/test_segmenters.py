"""Words and boundaries, maximum matching, the CRF segmenter, segmenters as chunkers."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import probative as pv
from probative.jobs.sweep import segmented
from probative.learners import model_of
from probative.learners.words import (
    MaxMatchSegmenter,
    SegmentingChunker,
    check_texts,
    from_spans,
    split,
    to_spans,
    without_spaces,
)
from probative.reading.lines import texts_of

SENTENCES = [["我", "来到", "北京"], ["北京", "好"], ["我们", "来", "了", "。"], ["好", "了"]]

words = st.text("ab中", min_size=1, max_size=4)
spaced = st.lists(st.tuples(words, st.sampled_from(["", " ", "  ", "\u3000"])), max_size=8)


@given(spaced)
def test_spans_and_words_are_the_same_thing(pieces):
    text = "".join(word + gap for word, gap in pieces)
    sentence = [word for word, _ in pieces]
    spans = to_spans(text, sentence)
    assert [text[start:end] for start, end, _ in spans] == sentence
    assert from_spans(text, spans) == sentence
    assert "".join(sentence) == without_spaces(text)


@given(st.text("ab c", max_size=12), st.lists(st.booleans(), min_size=12, max_size=12))
def test_splitting_loses_no_character(text, begins):
    inner = max(len(without_spaces(text)) - 1, 0)
    found = split(text, begins[:inner])
    assert "".join(found) == without_spaces(text)
    assert len(found) == (1 + sum(begins[:inner]) if without_spaces(text) else 0)


def test_texts_must_tell_their_words():
    assert check_texts([["to", "be"]], None) == ["tobe"]
    assert check_texts([["to", "be"]], ["to be"]) == ["to be"]
    with pytest.raises(pv.InputError, match="texts: sentence 1 is 'to bee'"):
        check_texts([["to", "be"]], ["to bee"])
    with pytest.raises(pv.InputError, match="texts: 2 for 1 sentences"):
        check_texts([["to", "be"]], ["to be", ""])


def test_maximum_matching_takes_the_longest_word():
    segmenter = MaxMatchSegmenter().fit([["a", "ab", "abc", "cd"]])
    assert segmenter.predict(["abcd"]) == [["abc", "d"]]  # not ab cd: it never looks back
    assert segmenter.predict(["xaby", "", "cd cd", "c d"]) == [
        ["x", "ab", "y"],
        [],
        ["cd", "cd"],
        ["c", "d"],
    ]
    assert MaxMatchSegmenter(spaces=False).fit([["cd"]]).predict(["c d"]) == [["cd"]]
    assert MaxMatchSegmenter().fit([]).predict(["ab"]) == [["a", "b"]]
    with pytest.raises(pv.InputError, match="not trained"):
        MaxMatchSegmenter().predict(["a"])


def test_maximum_matching_with_the_lexicon_of_a_corpus(shared):
    """Forward maximum matching, written down once more in another way."""
    corpus = segmented(shared / "data/uner/zh_gsd-ud-test.iob2", "test")
    sentences = [corpus.words(i) for i in range(60)]
    lexicon = {word for sentence in sentences for word in sentence}
    longest = max(map(len, lexicon))

    def matched(text):
        if not text:
            return []
        size = next(n for n in range(longest, 0, -1) if n == 1 or text[:n] in lexicon)
        return [text[:size], *matched(text[size:])]

    texts = ["".join(sentence) for sentence in sentences]
    assert MaxMatchSegmenter().fit(sentences).predict(texts) == [matched(text) for text in texts]


def test_the_crf_segmenter():
    pytest.importorskip("pycrfsuite")
    from probative_studies.crf_segmenter import CRFSegmenter

    segmenter = CRFSegmenter(max_iterations=30).fit(SENTENCES * 5)
    texts = ["我来到北京", "", "好", "我们好了。"]
    found = segmenter.predict(texts)
    assert found[0] == ["我", "来到", "北京"]
    assert [("".join(sentence)) for sentence in found] == texts
    rows = segmenter.predict_proba(texts)
    assert [len(row) for row in rows] == [4, 0, 0, 4]
    assert all(((row >= 0) & (row <= 1 + 1e-9)).all() for row in rows)
    assert (rows[0] > 0.5).tolist() == [True, False, True, False]


def test_the_crf_segmenter_sees_spaces_or_not():
    pytest.importorskip("pycrfsuite")
    from probative_studies.crf_segmenter import CRFSegmenter

    sentences, texts = [["ab", "c"], ["a", "bc"]] * 10, ["ab c", "a bc"] * 10
    seeing = CRFSegmenter(max_iterations=30).fit(sentences, texts)
    assert seeing.predict(["ab c", "a bc"]) == [["ab", "c"], ["a", "bc"]]
    blind = CRFSegmenter(max_iterations=30, spaces=False).fit(sentences, texts)
    first, second = blind.predict(["ab c", "a bc"])
    assert first == second


def test_marginals_of_a_crf_add_up():
    pytest.importorskip("pycrfsuite")
    from probative.learners.crf import CRFChunker

    chunker = CRFChunker("bmes", max_iterations=20)
    texts = ["".join(sentence) for sentence in SENTENCES]
    spans = [to_spans(text, words) for text, words in zip(texts, SENTENCES, strict=True)]
    rows = chunker.fit(texts, spans).predict_proba(["我来到"])
    assert [sum(tags.values()) for tags in rows[0]] == pytest.approx([1, 1, 1])
    with pytest.raises(pv.InputError, match="not trained"):
        CRFChunker().predict_proba(["我"])


def test_a_segmenter_is_compared_like_any_chunker():
    rng = np.random.default_rng(0)
    lexicon = ["ab", "c", "de", "f"]
    sentences = [[lexicon[i] for i in rng.integers(0, 4, 6)] for _ in range(24)]
    texts = [" ".join(words) if n % 2 else "".join(words) for n, words in enumerate(sentences)]
    spans = [to_spans(text, words) for text, words in zip(texts, sentences, strict=True)]
    found = pv.compare_models(
        SegmentingChunker(MaxMatchSegmenter()),
        SegmentingChunker(MaxMatchSegmenter(spaces=False)),
        texts,
        spans,
        m=1,
        rng=0,
    )
    assert {fold.counts.fn for fold in found.folds} == {0}
    with pytest.raises(pv.InputError, match="spans: 2 labels"):
        SegmentingChunker(MaxMatchSegmenter()).fit(["ab"], [[(0, 1, "x"), (1, 2, "y")]])


def test_segmenters_by_name():
    assert repr(model_of("maxmatch")) == "SegmentingChunker(MaxMatchSegmenter(spaces=True))"
    for spec, message in {
        "maxmatch:x=1": "--a: 'x=1' is no option of maxmatch; expected none",
        "bigru:layers=2": "--a: 'layers=2' is no option of bigru; expected NAME=NUMBER",
    }.items():
        with pytest.raises(pv.InputError, match=message):
            model_of(spec, "--a")


def test_texts_as_they_were_written(tmp_path):
    path = tmp_path / "a.conllu"
    rows = ["1\tTo\t_\t_\t_\t_\t_\t_\t_\t_", "2\tbe\t_\t_\t_\t_\t_\t_\t_\t_"]
    path.write_text(
        "\n".join(["# text = To be", *rows, "", "# text = another", *rows, "", *rows, ""]) + "\n"
    )
    corpus = segmented(path, "corpus")
    assert texts_of(corpus) == ["To be", "Tobe", "Tobe"]
    assert texts_of(segmented([["to", "be"]], "words")) == ["tobe"]


def test_multiword_tokens_are_one_word_of_the_text(shared):
    corpus = segmented(shared / "data/ud_english_ewt/en_ewt-ud-test.conllu", "test")
    texts = texts_of(corpus)
    assert len(texts) == 2077
    assert texts[0] == "What if Google Morphed Into GoogleOS?"
    assert all(without_spaces(t) == corpus.sentence_text(i) for i, t in enumerate(texts))
    assert any("don't" in words for words in map(corpus.words, range(200)))
