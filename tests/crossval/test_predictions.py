from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

import probative as pv
from probative.crossval.corpus import (
    judge_predictions,
    read_corpora,
    read_corpus,
    read_manifest,
    write_folds,
)
from probative.matching.schemes import encode


@pytest.fixture
def folds(corpus, tmp_path):
    target = tmp_path / "folds"
    write_folds(read_corpus(corpus), target, rng=1)
    return target


def predicted(folds, target, change, suffix=".conll"):
    """Write predictions: the validation files with other spans, under names that tell nothing."""
    target.mkdir()
    for number in range(1, 7):
        gold = read_corpus(folds / f"fold-{number}-validation{suffix}", task="entities")
        lines = []
        for i, (words, spans) in enumerate(zip(gold.sentences, gold.spans, strict=True)):
            tags = encode(change(i, spans), len(words), scheme="iob2")
            lines += [f"{word} {tag}\n" for word, tag in zip(words, tags, strict=True)] + ["\n"]
        (target / f"{(number * 5) % 7}.out").write_text("".join(lines))
    return sorted(target.iterdir())


def test_predictions_find_their_folds_by_their_tokens(folds, tmp_path):
    a = predicted(folds, tmp_path / "a", lambda i, spans: [s for s in spans if s[2] == "PER"])
    b = predicted(folds, tmp_path / "b", lambda i, spans: spans if i % 3 else [])
    result = judge_predictions(folds, a, b)
    assert [f.fold for f in result.folds[::2]] == [1, 2, 3, 4, 5, 6]
    for number in range(1, 7):
        gold = read_corpus(folds / f"fold-{number}-validation.conll").spans
        expected = pv.PairedCounts.from_spans(
            gold,
            [[s for s in spans if s[2] == "PER"] for spans in gold],
            [spans if i % 3 else [] for i, spans in enumerate(gold)],
        ).total()
        assert result.paired[number - 1].cases.tolist() == expected.cases.tolist()
    published = result.published["f1"]
    assert published.to_dict() == pv.bayes_test(list(result.paired), metric="f1").to_dict()
    only = judge_predictions(folds, a, b, only=["PER"], metrics=["recall"])
    assert {fold.counts.tp for fold in only.folds if fold.model == "A"} == {14}
    types = judge_predictions(folds, a, b, ignore_type=True, metrics=["recall"], rope=0.01)
    assert [test.metric for test in types.tests] == ["recall", "recall"]


def test_segmentations_find_their_folds_by_their_characters(tmp_path):
    text = tmp_path / "pku.txt"
    text.write_text("".join(f"上海{i}  浦东  开发\n" for i in range(20)))
    target = tmp_path / "folds"
    write_folds(read_corpus(text), target, rng=1)
    for name, old, new in (("a", "  ", ""), ("b", "浦东  ", "浦东")):
        (tmp_path / name).mkdir()
        for number in range(1, 7):
            gold = (target / f"fold-{number}-validation.txt").read_text()
            (tmp_path / name / f"{7 - number}").write_text(gold.replace(old, new))
    files = [list((tmp_path / name).iterdir()) for name in "ab"]
    result = judge_predictions(target, *files, metrics=["recall"])
    assert {(f.model, *f.counts.to_dict().values()) for f in result.folds} == {
        ("A", 0, 10, 30),
        ("B", 10, 10, 20),
    }


def test_label_tables(tmp_path):
    table = tmp_path / "reviews.csv"
    table.write_text("text,label\n" + "".join(f"so {i},{'abc'[i % 3]}\n" for i in range(24)))
    target = tmp_path / "folds"
    write_folds(read_corpus(table, column="label"), target, rng=1, reading={"column": "label"})
    for name, guess in (("a", "a"), ("b", "b")):
        (tmp_path / name).mkdir()
        for number in range(1, 7):
            head, *rows = (target / f"fold-{number}-validation.csv").read_text().splitlines()
            rows = [f"{row},{guess}" for row in rows]
            (tmp_path / name / f"{number}.csv").write_text("\n".join([f"{head},pred", *rows]))
    files = [sorted((tmp_path / name).iterdir()) for name in "ab"]
    result = judge_predictions(target, *files)
    assert [test.metric for test in result.tests] == ["accuracy", "accuracy"]
    assert {pv.metrics.accuracy(fold.counts) for fold in result.folds} == {4 / 12}
    shutil.copy(files[0][2], files[0][0])
    with pytest.raises(pv.InputError, match=r"does not repeat the labels of fold-1-validation"):
        judge_predictions(target, *files)


def test_files_that_do_not_belong_to_the_folds_are_refused(folds, tmp_path):
    a = predicted(folds, tmp_path / "a", lambda i, spans: spans)
    with pytest.raises(pv.InputError, match="preds_a: 5 files; expected 6, one per fold"):
        judge_predictions(folds, a[:5], a)
    with pytest.raises(pv.InputError, match=r"has the text of fold \d, as .* has; expected one"):
        judge_predictions(folds, a, [a[0], *a[:5]])
    changed = tmp_path / "changed.out"
    changed.write_text(a[0].read_text().replace("Name", "Nome"))
    with pytest.raises(pv.InputError, match=r"the file belongs to no fold; compared with fold-"):
        judge_predictions(folds, a, [changed, *a[1:]])
    bare = tmp_path / "bare.out"
    lines = [line.split()[-1] if line.strip() else "" for line in a[0].read_text().split("\n")]
    bare.write_text("\n".join(lines))
    with pytest.raises(pv.InputError, match="has no tokens, so its fold is unknown"):
        judge_predictions(folds, a, [bare, *a[1:]])
    with pytest.raises(pv.InputError, match="no such file"):
        judge_predictions(folds, a, ["nowhere", *a[1:]])


def test_folds_that_were_changed_are_refused(folds, tmp_path):
    path = folds / "fold-2-validation.conll"
    path.write_text(path.read_text().replace("B-LOC", "B-PER"))
    with pytest.raises(pv.InputError, match=r"fold-2-validation.conll: was changed since"):
        read_manifest(folds)
    path.unlink()
    with pytest.raises(pv.InputError, match=r"fold-2-validation.conll: cannot be read"):
        read_manifest(folds)
    with pytest.raises(pv.InputError, match=r"expected the file that 'probative split' wrote"):
        read_manifest(tmp_path / "nowhere")
    (folds / "manifest.json").write_text(json.dumps({"x": 1}))
    with pytest.raises(pv.InputError, match="is no manifest of folds"):
        read_manifest(folds)


def test_several_files_are_one_corpus(corpus, tmp_path):
    other = tmp_path / "other.conll"
    shutil.copy(corpus, other)
    both = read_corpora([corpus, other])
    assert len(both) == 80
    assert both.sentences[40:] == both.sentences[:40]
    assert both.documents is None
    marked = tmp_path / "marked.conll"
    marked.write_text("-DOCSTART- O\n\na O\n\n-DOCSTART- O\n\nb B-X\n\nc O\n")
    assert read_corpora([marked, marked]).documents.tolist() == [0, 1, 1, 2, 3, 3]
    text = tmp_path / "words.txt"
    text.write_text("some words\nmore of them\n")
    with pytest.raises(pv.InputError, match=r"words.txt: is a corpus for segmentation, unlike"):
        read_corpora([corpus, text])


def test_a_corpus_of_chosen_spans(corpus):
    whole = read_corpus(corpus)
    assert whole.select() is whole
    assert whole.select(only=["LOC"]).spans[0] == [(2, 3, "LOC")]
    assert whole.select(ignore_type=True).spans[0] == [(0, 1, "_"), (2, 3, "_")]
    with pytest.raises(pv.InputError, match="has no span labelled 'LCO'; there are LOC, PER"):
        whole.select(only=["LCO"])


def test_further_columns_are_features(tmp_path):
    path = tmp_path / "eng.train"
    path.write_text("EU NNP I-NP I-ORG\nrejects VBZ I-VP O\n\nGerman JJ I-NP I-MISC\n")
    corpus = read_corpus(path, features=[2, 3])
    assert corpus.sentences == [
        [("EU", "NNP", "I-NP"), ("rejects", "VBZ", "I-VP")],
        [("German", "JJ", "I-NP")],
    ]
    assert corpus.spans == [[(0, 1, "ORG")], [(0, 1, "MISC")]]
    with pytest.raises(pv.InputError, match="has no column 9 for features; there are 4"):
        read_corpus(path, features=[9])
    words = Path(tmp_path / "words.txt")
    words.write_text("a b\nc d e\n")
    with pytest.raises(pv.InputError, match="features: segmented is no column file; expected one"):
        read_corpus(words, features=[1])
