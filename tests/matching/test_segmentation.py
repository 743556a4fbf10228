"""Word segmentation: the published table, and properties."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import probative as pv
from probative.errors import InputError

# Table 1 of "Recall is the Proper Evaluation Metric for Word Segmentation": true positives,
# P, R, F and TNR of two trivial and three other segmenters, in two languages. The TNR of the
# Chinese S2 is printed as 0.77, which is 14/18 = 0.778 cut off.
ZH, EN = "约翰 喜欢 玛丽", "John likes Mary"
TABLE_1 = [
    (ZH, "约 翰 喜 欢 玛 丽", 0, 0, 0, 0, 0.67),
    (ZH, "约翰喜欢玛丽", 0, 0, 0, 0, 0.94),
    (ZH, "约翰 喜欢玛丽", 1, 0.5, 0.33, 0.40, 0.94),
    (ZH, "约翰 喜 欢 玛 丽", 1, 0.2, 0.33, 0.25, 0.78),
    (ZH, "约翰 喜欢 玛 丽", 2, 0.5, 0.67, 0.57, 0.89),
    (EN, "J o h n l i k e s M a r y", 0, 0, 0, 0, 0.85),
    (EN, "JohnlikesMary", 0, 0, 0, 0, 0.99),
    (EN, "John likesMary", 1, 0.5, 0.33, 0.40, 0.99),
    (EN, "John l i k e s M a r y", 1, 0.1, 0.33, 0.15, 0.90),
    (EN, "John likes M a r y", 2, 0.33, 0.67, 0.44, 0.95),
]


@pytest.mark.parametrize(("gold", "output", "tp", "p", "r", "f", "tnr"), TABLE_1)
def test_table_1(gold, output, tp, p, r, f, tnr):
    system = pv.score([gold], [output], task="segmentation")[0]
    assert system.counts.tp == tp
    for metric, expected in (("precision", p), ("recall", r), ("f1", f), ("tnr", tnr)):
        assert round(system[metric].estimate, 2) == expected, metric


def test_the_headline_is_recall():
    result = pv.score([ZH], ["约翰 喜欢玛丽"], task="segmentation")
    assert [score.metric for score in result[0].scores] == [
        "recall",
        "precision",
        "f1",
        "tnr",
        "boundary_precision",
        "boundary_recall",
        "boundary_f1",
    ]
    assert result[0].splitting_bias == pytest.approx(2 / 3)


@st.composite
def segmented_twice(draw):
    sentences = draw(st.lists(st.text("ab北ß😀", min_size=1, max_size=12), min_size=1, max_size=5))
    return tuple([draw(cuts(text)) for text in sentences] for _ in range(2))


def cuts(text):
    return st.sets(st.integers(1, max(len(text) - 1, 1))).map(
        lambda places: [
            text[i:j]
            for i, j in zip([0, *sorted(places)], [*sorted(places), len(text)], strict=True)
            if text[i:j]
        ]
    )


def spans(words):
    place, found = 0, set()
    for word in words:
        found.add((place, place + len(word)))
        place += len(word)
    return found


@given(segmented_twice())
def test_every_score_by_its_definition(sides):
    gold, pred = sides
    system = pv.score(gold, pred, task="segmentation", train_words=[["a", "北", "bb"]])[0]
    pairs = [(spans(g), spans(p)) for g, p in zip(gold, pred, strict=True)]
    tp = sum(len(g & p) for g, p in pairs)
    returned, expected = (sum(len(pair[i]) for pair in pairs) for i in (1, 0))
    assert (system.counts.tp, system.counts.predicted, system.counts.positives) == (
        tp,
        returned,
        expected,
    )
    assert system.splitting_bias == returned / expected
    lengths = [sum(map(len, words)) for words in gold]
    substrings = sum(n * (n + 1) // 2 for n in lengths)
    if substrings > expected:
        assert system["tnr"].estimate == pytest.approx(
            1 - (returned - tp) / (substrings - expected)
        )
    inner = [({s for s, _ in g} - {0}, {s for s, _ in p} - {0}) for g, p in pairs]
    right = sum(len(g & p) for g, p in inner)
    found, there = (sum(len(pair[i]) for pair in inner) for i in (1, 0))
    if found:
        assert system["boundary_precision"].estimate == pytest.approx(right / found)
    if there:
        assert system["boundary_recall"].estimate == pytest.approx(right / there)
    for metric, unknown in (("oov_recall", True), ("iv_recall", False)):
        words = [
            (word, span in p)
            for words, (_, p) in zip(gold, pairs, strict=True)
            for word, span in zip(words, sorted(spans(words)), strict=True)
            if (word not in ("a", "北", "bb")) == unknown
        ]
        if words:
            expected_recall = sum(hit for _, hit in words) / len(words)
            assert system[metric].estimate == pytest.approx(expected_recall)


def test_formats_may_differ(write):
    row = "\t_" * 8
    conllu = write(
        f"1-2\tzum{row}\n1\tzu{row}\n2\tdem{row}\n3\tHaus{row}\n\n1\tja{row}\n", "a.conllu"
    )
    text = write("zu m Haus\nja\n", "b.txt")
    result = pv.score(conllu, text)
    assert result.task == "segmentation"
    assert result[0].counts == pv.Counts(tp=2, fp=2, fn=1)


def test_different_characters_are_an_error(write):
    gold = write("the cat sat\non the mat today or\n", "gold.txt")
    pred = write("the cat sat\nonthe mat to day of\n", "pred.txt")
    with pytest.raises(InputError) as caught:
        pv.score(gold, pred)
    assert str(caught.value) == (
        f"{pred}:2: character 15 differs: 'attodayof' here, 'attodayor' at {gold}:2; expected "
        f"the same text but for spaces (align_by='characters' accepts others)"
    )


@pytest.mark.parametrize(
    ("gold", "pred", "message"),
    [
        (["ab", "cd"], ["ab"], "pred: 1 sentences, but gold has 2; expected the same number"),
        (["ab"], ["a bc"], "pred: sentence 1: character 3 differs: 'abc' here, 'ab' at gold"),
        (["ab", "cd"], ["ab", "c e"], "pred: sentence 2: character 2 differs"),
        (["abc", "d"], ["ab", "cd"], "pred: sentence 1: character 3 differs"),
    ],
)
def test_different_texts_from_python(gold, pred, message):
    with pytest.raises(InputError) as caught:
        pv.score(gold, pred, task="segmentation")
    assert str(caught.value).startswith(message)
