"""seqeval's face: its numbers, text and warnings, and intervals besides."""

from __future__ import annotations

import json
import subprocess
import sys
import warnings

import numpy as np
import pytest
import seqeval.metrics as peer
from hypothesis import given, settings
from hypothesis import strategies as st
from seqeval import scheme as peer_schemes
from sklearn.exceptions import UndefinedMetricWarning

import probative as pv
from probative import seqeval as ours
from probative.errors import InputError
from probative.reading.annotations import tagged_from_lists

SCHEMES = {"iob1": "OBI", "iob2": "OBI", "ioe1": "OIE", "ioe2": "OIE", "iobes": "OBIES",
           "bilou": "OBILU"}  # fmt: skip
SCORES = ("precision_score", "recall_score", "f1_score")
# tags that seqeval does not know and reads all the same, and types with hyphens
ODD = ["M-PER", "U-LOC", "L-PER", ".", "X", "PER", "O-PER", "B-", "B--", "I-A-B", "E", "-", "_"]


def in_order(suffix: bool, prefix: str, kind: str) -> str:
    if prefix == "O" or not kind:
        return prefix
    return f"{kind}-{prefix}" if suffix else f"{prefix}-{kind}"


@st.composite
def pairs(draw, prefixes="OBIES", *, odd=False, suffix=False):
    tags = [in_order(suffix, p, k) for p in prefixes for k in ("PER", "LOC", "A-B", "")]
    tag = st.sampled_from([*tags, *(ODD if odd else ())])
    lengths = draw(st.lists(st.integers(0, 6), min_size=1, max_size=5))
    return tuple([draw(st.lists(tag, min_size=n, max_size=n)) for n in lengths] for _ in range(2))


def quietly(call):
    """What a call returns (None where it fails), and whether it warns of an undefined score."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            value = call()
        except (ValueError, KeyError, IndexError):
            return None, False
    return value, any(issubclass(w.category, UndefinedMetricWarning) for w in caught)


def assert_equal_everywhere(y_true, y_pred, zero_division="warn", **how):
    strict = {**how, "scheme": getattr(peer_schemes, how["scheme"].upper())} if how.get(
        "scheme") else how  # fmt: skip
    for name in SCORES:
        for average in (None, "micro", "macro", "weighted"):
            keywords = {"average": average, "zero_division": zero_division}
            expected, warned = quietly(
                lambda n=name, k=keywords: getattr(peer, n)(y_true, y_pred, **k, **strict)
            )
            got, warns = quietly(
                lambda n=name, k=keywords: getattr(ours, n)(y_true, y_pred, **k, **how)
            )
            assert (got is None) == (expected is None)
            if got is not None:
                assert np.array_equal(got, expected, equal_nan=True), (name, average)
                assert warns == warned
    keywords = {"zero_division": zero_division, **how}
    expected, warned = quietly(
        lambda: peer.classification_report(
            y_true, y_pred, output_dict=True, **{**keywords, **strict}
        )
    )
    got, warns = quietly(
        lambda: ours.classification_report(y_true, y_pred, output_dict=True, level=None, **keywords)
    )
    assert (got is None) == (expected is None)
    if got is None:
        return
    assert list(got) == list(expected)
    for row in expected:
        shared = {key: got[row][key] for key in expected[row]}
        assert shared == pytest.approx(expected[row], rel=0, abs=0, nan_ok=True)
    assert warns == warned
    if len(got) == 3:  # seqeval's text fails where there are no spans
        return
    for digits in (2, 4):
        lines, _ = quietly(
            lambda d=digits: peer.classification_report(
                y_true, y_pred, digits=d, **{**keywords, **strict}
            )
        )
        plain, _ = quietly(
            lambda d=digits: ours.classification_report(
                y_true, y_pred, digits=d, level=None, **keywords
            )
        )
        assert plain == lines


@settings(max_examples=60)
@given(pairs(odd=True), st.sampled_from(["warn", 0, 1]))
def test_the_default_mode_equals_seqeval(sides, zero):
    assert_equal_everywhere(*sides, zero)


@settings(max_examples=40)
@given(pairs(suffix=True, odd=True), st.sampled_from(["warn", 0, 1]))
def test_the_default_mode_equals_seqeval_with_suffixes(sides, zero):
    assert_equal_everywhere(*sides, zero, suffix=True)


@pytest.mark.parametrize("scheme", SCHEMES)
@settings(max_examples=20)
@given(data=st.data(), suffix=st.booleans(), zero=st.sampled_from(["warn", 0, 1]))
def test_the_strict_mode_equals_seqeval(scheme, data, suffix, zero):
    sides = data.draw(pairs(SCHEMES[scheme], suffix=suffix))
    assert_equal_everywhere(*sides, zero, mode="strict", scheme=scheme, suffix=suffix)


@settings(max_examples=80)
@given(st.sampled_from([*SCHEMES.values(), "OBIESLU"]).flatmap(pairs))
def test_the_strict_report_recognises_what_seqeval_recognises(sides):
    expected, _ = quietly(
        lambda: peer.classification_report(*sides, mode="strict", output_dict=True)
    )
    got, _ = quietly(lambda: ours.classification_report(*sides, mode="strict", output_dict=True))
    assert (got is None) == (expected is None)
    if got:
        assert {row: got[row]["f1-score"] for row in got} == pytest.approx(
            {row: expected[row]["f1-score"] for row in expected}, nan_ok=True
        )


@given(pairs())
def test_tokens_equal_seqeval(sides):
    assert ours.performance_measure(*sides) == peer.performance_measure(*sides)
    if sum(map(len, sides[0])):
        assert ours.accuracy_score(*sides) == peer.accuracy_score(*sides)
        flat = [[tag for sentence in side for tag in sentence] for side in sides]
        assert ours.accuracy_score(*flat) == peer.accuracy_score(*flat)


# The cases of seqeval's own tests: the tags of a sentence, and the spans that they hold.
TWO_TOKENS = """
iob1: B-PER > ; I-PER > PER01; O > ; O I-PER > PER12; O B-PER > ; I-PER O > PER01
iob1: I-PER I-PER > PER02; I-PER I-ORG > PER01 ORG12; I-PER B-PER > PER01 PER12
iob1: I-PER B-ORG > PER01; B-PER O > ; B-PER I-PER > PER12; B-PER I-ORG > ORG12
iob1: B-PER B-PER > PER12; B-PER B-ORG > ; B > ; I > _01; O O > ; O I > _12; O B > ; I O > _01
iob1: I I > _02; I B > _01 _12; B O > ; B I > _12; B B > _12
iob2: B-PER > PER01; I-PER > ; O > ; O I-PER > ; O B-PER > PER12; I-PER O > ; I-PER I-PER >
iob2: I-PER I-ORG > ; I-PER B-PER > PER12; I-PER B-ORG > ORG12; B-PER O > PER01
iob2: B-PER I-PER > PER02; B-PER I-ORG > PER01; B-PER B-PER > PER01 PER12
iob2: B-PER B-ORG > PER01 ORG12; B > _01; I > ; O I > ; O B > _12; I O > ; I I > ; I B > _12
iob2: B O > _01; B I > _02; B B > _01 _12
ioe1: E-PER > ; I-PER > PER01; O > ; O I-PER > PER12; O E-PER > ; I-PER O > PER01
ioe1: I-PER I-PER > PER02; I-PER I-ORG > PER01 ORG12; I-PER E-ORG > PER01; E-PER O >
ioe1: E-PER I-PER > PER12; E-PER I-ORG > ORG12; E-PER E-PER > ; E-PER E-ORG > ; E > ; I > _01
ioe1: O I > _12; O E > ; I O > _01; I I > _02; E O > ; E I > _12; E E >
ioe2: E-PER > PER01; I-PER > ; O > ; O I-PER > ; O E-PER > PER12; I-PER O > ; I-PER I-PER >
ioe2: I-PER I-ORG > ; I-PER E-PER > PER02; I-PER E-ORG > ORG12; E-PER O > PER01
ioe2: E-PER I-PER > PER01; E-PER I-ORG > PER01; E-PER E-PER > PER01 PER12
ioe2: E-PER E-ORG > PER01 ORG12; E > _01; I > ; O I > ; O E > _12; I O > ; I I > ; I E > _02
ioe2: E O > _01; E I > _01; E E > _01 _12
iobes: O > ; I-PER > ; B-PER > ; E-PER > ; S-PER > PER01; O I-PER > ; O B-PER > ; O E-PER >
iobes: O S-PER > PER12; I-PER O > ; I-PER I-PER > ; I-PER I-ORG > ; I-PER B-PER > ; I-PER E-PER >
iobes: I-PER E-ORG > ; I-PER S-PER > PER12; B-PER O > ; B-PER I-PER > ; B-PER I-ORG >
iobes: B-PER B-PER > ; B-PER E-PER > PER02; B-PER E-ORG > ; B-PER S-PER > PER12; E-PER O >
iobes: E-PER I-PER > ; E-PER B-PER > ; E-PER E-PER > ; E-PER S-PER > PER12; S-PER O > PER01
iobes: S-PER I-PER > PER01
"""
CASES = [
    (line.partition(": ")[0], *(part.strip() for part in case.split(">")))
    for line in TWO_TOKENS.strip().splitlines()
    for case in line.partition(": ")[2].split(";")
]


@pytest.mark.parametrize(("scheme", "tags", "spans"), CASES)
def test_the_strict_cases_of_seqeval(scheme, tags, spans):
    tagged = tagged_from_lists("tags", [tags.split()])
    _, end, length, label, labels = ours._strict(tagged, scheme, suffix=False)
    rows = zip(end.tolist(), length.tolist(), label.tolist(), strict=True)
    found = [f"{labels[k]}{e - n}{e}" for e, n, k in rows]
    assert found == spans.split()


def test_the_default_cases_of_seqeval():
    def spans(sentences, suffix=False):
        tagged = tagged_from_lists("tags", sentences)
        unit, end, length, label, labels = ours._lenient(tagged, suffix)
        rows = zip(unit.tolist(), end.tolist(), length.tolist(), label.tolist(), strict=True)
        return [(u, labels[k], e - n, e - 1) for u, e, n, k in rows]

    tags = ["O", "O", "O", "B-MISC", "I-MISC", "I-MISC", "O", "B-PER", "I-PER"]
    expected = [(0, "MISC", 3, 5), (0, "PER", 7, 8)]
    assert spans([tags]) == expected
    turned = ["-".join(reversed(tag.split("-"))) for tag in tags]
    assert spans([turned], suffix=True) == expected
    bare = [["O", "O", "O", "B", "I", "I", "O"], ["B", "I", "O"]]
    assert spans(bare) == [(0, "_", 3, 5), (1, "_", 0, 1)]
    for suffix in (False, True):
        with pytest.warns(UserWarning, match="'MISC' is no tag that seqeval's default mode knows"):
            spans([["O", "MISC", "MISC"]], suffix)


def test_the_token_case_of_seqeval():
    y_true = [["O", "O", "O", "B-MISC", "I-MISC", "O", "B-ORG"], ["B-PER", "I-PER", "O", "B-PER"]]
    y_pred = [["O", "O", "B-MISC", "I-MISC", "I-MISC", "O", "O"], ["B-PER", "I-PER", "O", "B-MISC"]]
    assert ours.performance_measure(y_true, y_pred) == {"TP": 3, "FP": 3, "FN": 1, "TN": 4}


THREE = [["B-A", "B-B", "O", "B-A"]], [["O", "B-B", "B-C", "B-A"]]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")
def test_the_report_cases_of_seqeval():
    report = ours.classification_report(*THREE, mode="strict", output_dict=True)
    expected = {
        "A": (1.0, 0.5, 2 / 3, 2),
        "B": (1.0, 1.0, 1.0, 1),
        "C": (0.0, 0.0, 0.0, 0),
        "micro avg": (2 / 3, 2 / 3, 2 / 3, 3),
        "macro avg": (2 / 3, 0.5, 0.5555555555555555, 3),
        "weighted avg": (1.0, 2 / 3, 0.7777777777777777, 3),
    }
    keys = ("precision", "recall", "f1-score", "support")
    assert {row: tuple(report[row][k] for k in keys) for row in report} == expected
    assert ours.classification_report(*THREE, mode="strict", level=None) == (
        "              precision    recall  f1-score   support\n\n"
        "           A       1.00      0.50      0.67         2\n"
        "           B       1.00      1.00      1.00         1\n"
        "           C       0.00      0.00      0.00         0\n\n"
        "   micro avg       0.67      0.67      0.67         3\n"
        "   macro avg       0.67      0.50      0.56         3\n"
        "weighted avg       1.00      0.67      0.78         3\n"
    )


def test_the_warning_cases_of_seqeval():
    one = {"mode": "strict", "scheme": "iob2"}
    for average in (None, "macro", "weighted"):
        with pytest.warns(UndefinedMetricWarning, match="precision: undefined and set to 0"):
            ours.precision_score([["B-PER"]], [["B-Test"]], average=average, **one)
    with pytest.warns(UndefinedMetricWarning, match="f1-score: undefined and set to 0"):
        assert ours.f1_score([[]], [[]], **one) == 0
    assert ours.f1_score([["O"]], [["O"]], average="weighted", zero_division=0) == 0
    with pytest.raises(ValueError, match="average: unknown 'mega'"):
        ours.f1_score([[]], [[]], average="mega")
    with pytest.raises(ValueError, match="y_pred: 2 tags in sentence 1; expected 1, as in y_true"):
        ours.f1_score([["B-PER"]], [["B-PER", "O"]])


GOLD = [["B-PER", "I-PER", "O", "B-LOC"], ["O", "B-LOC", "O", "B-PER"], ["O", "B-PER"]] * 20
PRED = [["B-PER", "I-PER", "O", "B-PER"], ["O", "B-LOC", "O", "O"], ["O", "B-PER"]] * 20


def test_intervals_are_those_of_score():
    scored = pv.score(GOLD, PRED, level=0.9, labels="union")[0]
    report = ours.classification_report(GOLD, PRED, output_dict=True, level=0.9)
    json.dumps(report)
    for row, scores, prefix in (
        ("micro avg", scored, ""),
        ("macro avg", scored, "macro_"),
        ("PER", {s.metric: s for s in scored.by_label[1].scores}, ""),
    ):
        for key, metric in (("precision", "precision"), ("recall", "recall"), ("f1-score", "f1")):
            interval = scores[prefix + metric]
            assert report[row][f"{key}_low"] == interval.low
            assert report[row][f"{key}_high"] == interval.high
    assert "f1-score_low" not in report["weighted avg"]
    assert ours.f1_score(GOLD, PRED, level=0.9).to_dict() == scored["f1"].to_dict()
    macro = ours.recall_score(GOLD, PRED, average="macro", level=0.9)
    assert (macro.low, macro.high) == (scored["macro_recall"].low, scored["macro_recall"].high)
    of_labels = ours.precision_score(GOLD, PRED, average=None, level=0.9)
    assert [i.estimate for i in of_labels] == [s.scores[0].estimate for s in scored.by_label]
    tokens = ours.accuracy_score(GOLD, PRED, level=0.9)
    assert tokens.low < tokens.estimate == ours.accuracy_score(GOLD, PRED) < tokens.high
    text = ours.classification_report(GOLD, PRED, level=0.9)
    plain = peer.classification_report(GOLD, PRED)
    assert text.splitlines()[0].endswith("support  f1-score 90 %")
    rows = list(zip(text.splitlines(), plain.splitlines(), strict=True))
    assert all(row.startswith(own) for row, own in rows)
    assert sum(" to " in row for row, _ in rows) == 4


def test_intervals_where_there_is_little():
    one = [["B-PER", "O"]]
    report = ours.classification_report(one, one, output_dict=True)  # one sentence, one label
    for row in ("PER", "micro avg", "macro avg"):
        assert (report[row]["f1-score_low"], report[row]["f1-score_high"]) == (0, 1)
    untyped = [["B", "O"], ["O", "B"]] * 5
    assert next(iter(ours.classification_report(untyped, untyped, output_dict=True))) == "_"
    with pytest.warns(UserWarning, match="undefined"):
        text = ours.classification_report([["O"]], [["O"]])
    assert "micro avg" in text
    assert np.isnan(ours.f1_score([["O"]], [["O"]], level=0.9).estimate)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: ours.f1_score(GOLD, PRED, sample_weight=[1]), "sample_weight: is not supported"),
        (lambda: ours.f1_score(GOLD, PRED, zero_division=0.5), "zero_division: 0.5; expected"),
        (lambda: ours.f1_score(GOLD, PRED, mode="lax"), "mode: unknown 'lax'"),
        (lambda: ours.f1_score(GOLD, PRED, mode="strict", scheme="bio"), "scheme: unknown 'bio'"),
        (lambda: ours.f1_score(GOLD, PRED[:5]), "y_pred: 5 sentences; expected 60"),
        (lambda: ours.f1_score(GOLD[0], PRED[0]), "y_true: is one list of tags"),
        (lambda: ours.f1_score([[""]], [["O"]]), "y_true: holds an empty tag"),
        (lambda: ours.f1_score([[1]], [["O"]]), "y_true: 1 is not a tag"),
        (lambda: ours.accuracy_score([], []), "y_true: holds no tokens"),
        (lambda: ours.f1_score(GOLD, PRED, average="weighted", level=0.9), "level: the weighted"),
        (lambda: ours.f1_score(GOLD, PRED, level=95), "level: 95"),
        (
            lambda: ours.classification_report([["O"]], [["O"]], mode="strict"),
            "scheme: cannot be recognised from the prefixes O; expected one of iob1",
        ),
        (
            lambda: ours.f1_score([["E-X"]], [["O"]], mode="strict", scheme="iob2"),
            "unknown tag 'E-X'",
        ),
    ],
)
def test_what_is_refused(call, message):
    with pytest.raises(InputError, match=message):
        call()


def test_what_seqeval_ignores_in_silence_is_said():
    strict = ours.f1_score(GOLD, PRED, mode="strict", scheme=peer_schemes.IOB2)
    assert strict == ours.f1_score(GOLD, PRED, mode="strict", scheme="IOB2")
    with pytest.warns(UserWarning, match="mode='strict' without scheme="):
        ours.f1_score(GOLD, PRED, mode="strict")
    with pytest.warns(UserWarning, match="scheme= without mode='strict' is not used"):
        ours.classification_report(GOLD, PRED, scheme="iob2")


def test_it_needs_neither_seqeval_nor_scikit_learn():
    code = (
        "import sys, warnings; warnings.simplefilter('error'); import probative.seqeval as s\n"
        "try: s.f1_score([['O']], [['O']])\n"
        "except s.UndefinedMetricWarning: print(sorted({'seqeval', 'sklearn'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
