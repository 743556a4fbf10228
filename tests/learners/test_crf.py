from __future__ import annotations

import copy
import pickle
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import probative as pv
from probative.learners import model_of
from probative.learners.crf import CRFChunker
from probative.matching.schemes import decode_tags, encode

pycrfsuite = pytest.importorskip("pycrfsuite", reason="python-crfsuite is not installed")


def made_up(n, seed=0):
    """Sentences in which the word itself says whether it belongs to an entity."""
    rng = np.random.default_rng(seed)
    sentences, spans = [], []
    for _ in range(n):
        words = [str(word) for word in rng.choice(["Ada", "Bob", "Rome", "saw", "in", "."], 6)]
        sentences.append(words)
        kinds = {"Ada": "PER", "Bob": "PER", "Rome": "LOC"}
        spans.append({(i, i + 1, kinds[w]) for i, w in enumerate(words) if w in kinds})
    return sentences, spans


def test_what_can_be_learned_is_learned():
    sentences, spans = made_up(60)
    unseen, answers = made_up(20, seed=1)
    chunker = CRFChunker("iobes", window=1, ngrams=(1,)).fit(sentences, spans)
    assert [set(found) for found in chunker.predict(unseen)] == answers


def test_equal_tags_to_crfsuite_called_directly(tmp_path):
    sentences, spans = made_up(40)
    unseen, _ = made_up(20, seed=1)
    chunker = CRFChunker("iob2", c1=0.05, c2=0.3, max_iterations=15).fit(sentences, spans)
    trainer = pycrfsuite.Trainer(algorithm="lbfgs", verbose=False)
    for words, found in zip(sentences, spans, strict=True):
        trainer.append(chunker.features(words), encode(found, len(words), scheme="iob2"))
    trainer.set_params({"c1": 0.05, "c2": 0.3, "max_iterations": 15})
    trainer.train(str(tmp_path / "direct"))
    tagger = pycrfsuite.Tagger()
    tagger.open(str(tmp_path / "direct"))
    direct = [tagger.tag(chunker.features(words)) for words in unseen]
    assert chunker.predict_tags(unseen) == direct


def test_equal_tag_accuracy_to_crfsuite_on_a_corpus(shared, tmp_path):
    from probative.crossval.corpus import read_corpus

    corpus = read_corpus(shared / "data" / "wnut17" / "emerging.dev.conll")
    half = len(corpus) // 2
    chunker = CRFChunker("iob2", max_iterations=20)
    chunker.fit(corpus.sentences[:half], corpus.spans[:half])
    trainer = pycrfsuite.Trainer(algorithm="lbfgs", verbose=False)
    tags = [
        encode(spans, len(words), scheme="iob2")
        for words, spans in zip(corpus.sentences, corpus.spans, strict=True)
    ]
    for words, gold in zip(corpus.sentences[:half], tags[:half], strict=True):
        trainer.append(chunker.features(words), gold)
    trainer.set_params({"c2": 0.1, "max_iterations": 20})
    trainer.train(str(tmp_path / "direct"))
    tagger = pycrfsuite.Tagger()
    tagger.open(str(tmp_path / "direct"))

    def accuracy(predicted):
        pairs = zip(predicted, tags[half:], strict=True)
        right = [p == g for found, gold in pairs for p, g in zip(found, gold, strict=True)]
        return np.mean(right)

    direct = [tagger.tag(chunker.features(words)) for words in corpus.sentences[half:]]
    assert accuracy(chunker.predict_tags(corpus.sentences[half:])) == accuracy(direct) > 0.9


def disjoint_spans(cuts, length, labels):
    borders = sorted({c % (length + 1) for c in cuts} | {0, length})
    pairs = zip(pairwise(borders), labels, strict=False)
    return [(i, j, label) for (i, j), label in pairs if label]


@given(
    length=st.integers(1, 12),
    cuts=st.lists(st.integers(0, 12), max_size=8),
    labels=st.lists(st.sampled_from(["", "PER", "LOC"]), min_size=13, max_size=13),
)
def test_tag_sets_give_the_same_spans(length, cuts, labels):
    spans = disjoint_spans(cuts, length, labels)
    for scheme in ("bb2b3mes", "bmes", "iobes", "iob2"):
        tags = encode(spans, length, scheme=scheme)
        assert decode_tags([tags], scheme=scheme) == [spans]


def test_saving_loading_copying(tmp_path):
    sentences, spans = made_up(30)
    chunker = CRFChunker("bmes", window=1, ngrams=(1, 2), c2=0.5).fit(sentences, spans)
    chunker.save(tmp_path / "chunker")
    for same in (
        CRFChunker.load(tmp_path / "chunker"),
        pickle.loads(pickle.dumps(chunker)),  # noqa: S301  # our own
        copy.deepcopy(chunker),
    ):
        assert repr(same) == repr(chunker)
        assert same.predict(sentences) == chunker.predict(sentences)
    assert "scheme='bmes'" in repr(chunker)


def test_words_and_tags_of_tokens_are_both_seen():
    sentences = [[("x", "N"), ("x", "V")], [("x", "V"), ("x", "N")]] * 10
    spans = [[(0, 1, "A")], [(1, 2, "A")]] * 10
    chunker = CRFChunker(window=0, ngrams=(1,)).fit(sentences, spans)
    assert chunker.predict([[("x", "V"), ("x", "V"), ("x", "N")]]) == [[(2, 3, "A")]]


def test_empty_sentences_and_no_sentences():
    sentences, spans = made_up(20)
    chunker = CRFChunker().fit([[], *sentences], [[], *spans])
    assert chunker.predict([]) == []
    assert chunker.predict([[], sentences[0]])[0] == []


def test_progress_is_told():
    seen = []
    sentences, spans = made_up(20)
    CRFChunker(max_iterations=5).fit(sentences, spans, report=lambda *told: seen.append(told))
    assert seen == [(i, 5) for i in range(1, 6)]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"scheme": "iob3"}, "scheme: unknown 'iob3'"),
        ({"window": -1}, "window: -1 is not a whole number >= 0"),
        ({"window": 1, "ngrams": (4,)}, "expected lengths from 1 to 3"),
        ({"ngrams": ()}, "expected lengths"),
        ({"c2": -1}, "c2: -1 is not"),
        ({"max_iterations": 0}, "max_iterations: 0 is not"),
        ({"min_count": 1.5}, "min_count: 1.5 is not"),
    ],
)
def test_bad_options(options, message):
    with pytest.raises(pv.InputError, match=message):
        CRFChunker(**options)


def test_bad_calls(tmp_path):
    chunker = CRFChunker()
    with pytest.raises(pv.InputError, match="not trained"):
        chunker.predict([["a"]])
    with pytest.raises(pv.InputError, match="not trained"):
        chunker.save(tmp_path / "x")
    with pytest.raises(pv.InputError, match="spans: 1 sentences, but there are 2"):
        chunker.fit([["a"], ["b"]], [[]])
    with pytest.raises(pv.InputError, match=r"sentence 2: spans: \(0, 5\)"):
        chunker.fit([["a"], ["b"]], [[], [(0, 5, "x")]])
    (tmp_path / "no").write_text("no")
    with pytest.raises(pv.InputError, match="is no file of"):
        CRFChunker.load(tmp_path / "no")
    with pytest.raises(pv.InputError, match="No such file"):
        CRFChunker.load(tmp_path / "missing")


def test_models_by_name(monkeypatch, tmp_path):
    model = model_of("crf:bb2b3mes,c2=1,ngrams=1+2,window=3,max_iterations=7")
    assert repr(model) == repr(
        CRFChunker("bb2b3mes", c2=1, ngrams=(1, 2), window=3, max_iterations=7)
    )
    monkeypatch.chdir(tmp_path)
    Path("own_model.py").write_text(
        "def make():\n    return 'mine'\ndef bad():\n    raise KeyError(1)\n"
    )
    assert model_of("python:own_model:make") == "mine"
    for spec, message in {
        "svm:x": "--a: unknown 'svm:x'; expected crf:SCHEME",
        "crf:": "--a: unknown 'crf:'",
        "python:own_model": "--a: unknown",
        "crf:iob9": "--a: scheme: unknown 'iob9'",
        "crf:iob2,c3=1": "--a: 'c3=1' is no option of a CRF",
        "crf:iob2,c2=x": "--a: 'c2=x' is no option",
        "python:no_such_module_here:f": "--a: module 'no_such_module_here' cannot be imported",
        "python:own_model:other": "--a: module 'own_model' has no 'other'",
        "python:own_model:bad": r"--a: own_model:bad\(\) failed: KeyError: 1",
    }.items():
        with pytest.raises(pv.InputError, match=message):
            model_of(spec, "--a")
