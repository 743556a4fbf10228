"""Scores of short and long, seen and unseen, frequent and rare items."""

from __future__ import annotations

import json
import math
from collections import Counter

import numpy as np
import pytest

import probative as pv
from probative.matching.groups import buckets_of
from probative.matching.matched import match_inputs


def write_columns(path, sentences):
    blocks = ("\n".join(f"{word}\t{tag}" for word, tag in sentence) for sentence in sentences)
    path.write_text("\n\n".join(blocks) + "\n")
    return path


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Sentences of 2 to 9 tokens, entities of 1 to 6 tokens, seven labels."""
    folder = tmp_path_factory.mktemp("buckets")
    rng = np.random.default_rng(5)

    def side(words, noise):
        sentences = []
        for sentence in words:
            tags, label = [], None
            for word in sentence:
                draw = (hash_of(word) if rng.random() > noise else rng.integers(0, 24)) % 24
                if draw < 10:
                    tags.append("O")
                    label = None
                elif draw < 17 and label:
                    tags.append(f"I-{label}")
                else:
                    label = "ABCDEFG"[draw % 7]
                    tags.append(f"B-{label}")
            sentences.append(list(zip(sentence, tags, strict=True)))
        return sentences

    def hash_of(word):
        return sum(map(ord, word)) * 7

    words = [
        ["".join(rng.choice(list("abcde"), 2)) for _ in range(rng.integers(2, 10))]
        for _ in range(150)
    ]
    names = {"gold": 0.1, "old": 0.3, "new": 0.2}
    found = {n: write_columns(folder / f"{n}.conll", side(words, p)) for n, p in names.items()}
    found["train"] = write_columns(folder / "train.conll", side(words[:20], 0.1))
    return found


def spans_of(path):
    """Spans as (sentence, start, end, label), and the words of the sentences."""
    found, texts = set(), []
    for number, block in enumerate(path.read_text().strip().split("\n\n")):
        rows = [line.split("\t") for line in block.split("\n")]
        texts.append([word for word, _ in rows])
        at = None
        for i, (_, tag) in enumerate([*rows, ("", "O")]):
            if at and not tag.startswith("I-"):
                found.add((number, at[0], i, at[1]))
                at = None
            if tag.startswith("B-"):
                at = (i, tag[2:])
    return found, texts


def f1(gold, system):
    both = len(gold & system)
    total = len(gold) + len(system)
    return 2 * both / total if total else math.nan


def test_each_bucket_is_what_the_spans_alone_give(files):
    found = pv.compare(files["gold"], files["old"], files["new"], train=files["train"])
    sides = {name: spans_of(files[name])[0] for name in ("gold", "old", "new", "train")}
    texts, train_texts = spans_of(files["gold"])[1], spans_of(files["train"])[1]
    known = {" ".join(train_texts[s][a:b]) for s, a, b, _ in sides["train"]}
    times = {x: sum(span[3] == x for span in sides["train"]) for x in "ABCDEFG"}
    values = {
        "entity length": lambda span: span[2] - span[1],
        "sentence length": lambda span: len(texts[span[0]]),
        "presence in training": lambda span: " ".join(texts[span[0]][span[1] : span[2]]) in known,
        "label frequency in training": lambda span: times[span[3]],
    }
    assert list(dict.fromkeys(b.kind for b in found.buckets)) == list(values)
    for bucket in found.buckets:
        own = [
            {span for span in sides[name] if inside(bucket.bucket, values[bucket.kind](span))}
            for name in ("gold", "old", "new")
        ]
        assert bucket.items == len(own[0])
        assert bucket.units == len({span[0] for span in own[0]})
        a, b = (f1(own[0], system) for system in own[1:])
        assert [s.estimate for s in bucket.scores] == pytest.approx([a, b])
        assert bucket.differences[0].difference == pytest.approx(b - a)
        for entry in (*bucket.scores, *bucket.differences):
            assert entry.low <= entry.estimate <= entry.high
    for kind in values:  # every item of the answer is in one bucket
        assert sum(b.items for b in found.buckets if b.kind == kind) == len(sides["gold"])


def inside(bucket, value):
    if bucket in ("seen", "not seen"):
        return value == (bucket == "seen")
    low, _, high = bucket.replace(" and more", " to 1000000").replace(",", "").partition(" to ")
    return int(low) <= value <= int(high or low)


def test_intervals_are_those_of_the_same_items_alone(files):
    """By only comparing one length with `PairedCounts` of these spans."""
    found = pv.compare(files["gold"], files["old"], files["new"], buckets=True)
    (bucket,) = [b for b in found.buckets if (b.kind, b.bucket) == ("entity length", "1")]
    number = found.units
    per_sentence = []
    for name in ("gold", "old", "new"):
        short = [span for span in spans_of(files[name])[0] if span[2] - span[1] == 1]
        per_sentence.append([{(a, b, x) for s, a, b, x in short if s == k} for k in range(number)])
    paired = pv.PairedCounts.from_spans(*per_sentence)
    gap = pv.difference(paired, "f1")
    assert (bucket.differences[0].low, bucket.differences[0].high) == pytest.approx(
        (gap.low, gap.high)
    )
    own = pv.interval(paired.a, "f1", clustered=True)
    assert (bucket.scores[0].low, bucket.scores[0].high) == pytest.approx((own.low, own.high))


def test_labels_by_how_frequent_they_are():
    rng = np.random.default_rng(0)
    gold = rng.choice(list("abcdefgh"), 400, p=[0.3, 0.2, 0.2, 0.1, 0.1, 0.05, 0.03, 0.02])
    a, b = (np.where(rng.random(400) < p, gold, rng.permutation(gold)) for p in (0.6, 0.8))
    found = pv.compare(gold, a, b, buckets=True)
    times = {x: int(np.count_nonzero(gold == x)) for x in "abcdefgh"}
    assert len(found.buckets) == 4
    for bucket in found.buckets:
        own = np.array([inside(bucket.bucket, times[x]) for x in gold])
        assert bucket.kind == "label frequency in gold"
        assert bucket.items == np.count_nonzero(own)
        assert bucket.scores[0].metric == "accuracy"
        assert bucket.scores[0].estimate == pytest.approx(np.mean(a[own] == gold[own]))
        assert bucket.scores[1].estimate == pytest.approx(np.mean(b[own] == gold[own]))
    few = pv.compare(list("abcab" * 8), list("abbab" * 8), list("abcaa" * 8), buckets=True)
    assert few.buckets == ()  # by label is already there


def test_words_by_length_and_by_what_the_lexicon_knows():
    gold, old = [["ab", "c"], ["d", "e"]] * 9, [["a", "bc"], ["de"]] * 9
    how = {"task": "segmentation", "train_words": [["ab", "d"]]}
    found = pv.compare(gold, old, gold, buckets=True, **how)
    names = [(b.kind, b.bucket, b.items) for b in found.buckets]
    assert ("word length", "1", 27) in names
    assert ("presence in training", "seen", 18) in names
    assert ("presence in training", "not seen", 18) in names


def test_buckets_are_an_additional_key(files):
    plain = pv.compare(files["gold"], files["old"], files["new"])
    assert plain.buckets is None
    assert "buckets" not in plain.to_dict()
    asked = pv.compare(files["gold"], files["old"], files["new"], buckets=True).to_dict()
    assert plain.to_dict() == {k: v for k, v in asked.items() if k != "buckets"}
    entry = json.loads(json.dumps(asked["buckets"][0]))
    assert list(entry) == ["kind", "bucket", "items", "units", "scores", "differences"]
    assert list(entry["scores"][0]) == ["system", "metric", "estimate", "low", "high"]
    assert list(entry["differences"][0]) == ["a", "b", "metric", "difference", "low", "high"]


def test_every_item_is_in_one_bucket(files):
    matched = match_inputs(files["gold"], [files["old"], files["new"]])
    held = Counter()
    for kind, _, items in buckets_of(matched):
        held[kind] += len(items.unit)
    assert held
    assert set(held.values()) == {len(matched.items.unit)}


def test_training_data_that_do_not_fit(files):
    tags = [["B-A", "O"]] * 5
    with pytest.raises(pv.InputError, match="train: gold has no words"):
        pv.compare(tags, tags, tags, train=files["train"])
    with pytest.raises(pv.InputError, match="train: has no words"):
        pv.compare(files["gold"], files["old"], files["new"], train=tags)
    with pytest.raises(pv.InputError, match="train: is labels, but gold is entities"):
        pv.compare(files["gold"], files["old"], files["new"], train=["a", "b"])
    words = [["ab", "c"]] * 3
    with pytest.raises(pv.InputError, match="train: does not apply to segmentation"):
        pv.compare(words, words, words, task="segmentation", train=words)


def test_units_are_those_that_were_asked_for(tmp_path):
    block = "Ann B-P\nLee I-P\n\nYork B-L\n\n"
    text = ("-DOCSTART- O\n\n" + block * 3) * 4
    path = tmp_path / "gold.conll"
    path.write_text(text)
    found = pv.compare(path, path, path, names=["a", "b"], by="document", buckets=True)
    units = {b.bucket: (b.items, b.units) for b in found.buckets if b.kind == "entity length"}
    assert units == {"1": (12, 4), "2": (12, 4)}
    single = pv.compare(path, path, path, names=["a", "b"], buckets=True)
    units = {b.bucket: (b.items, b.units) for b in single.buckets if b.kind == "entity length"}
    assert units == {"1": (12, 12), "2": (12, 12)}


def test_spans_are_counted_whole_where_an_overlap_is_worth_a_half(files):
    strict, partial = (
        pv.compare(files["gold"], files["old"], files["new"], match=match, buckets=True)
        for match in ("strict", "partial")
    )
    items = [(bucket.kind, bucket.bucket, bucket.items) for bucket in strict.buckets]
    assert [(bucket.kind, bucket.bucket, bucket.items) for bucket in partial.buckets] == items
