"""Counts and paired counts by sentence, label and document, for any number of systems."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import probative as pv
from probative.errors import InputError
from probative.matching.labels import match_labels, positive_class
from probative.matching.spans import match_spans, overlaps
from probative.reading.annotations import labels_from_array, spans_from_sets, units_of
from probative.reading.table_sides import label_sets

span = st.tuples(st.integers(0, 4), st.integers(5, 8), st.sampled_from("ABC"))
corpus = st.integers(1, 5).flatmap(
    lambda n: st.tuples(*[st.lists(st.sets(span, max_size=5), min_size=n, max_size=n)] * 4)
)


def spans_of(*sides):
    return [spans_from_sets(f"side {i}", side) for i, side in enumerate(sides)]


@given(corpus)
def test_counts_are_set_operations(sides):
    gold, *systems = sides
    items = match_spans(*spans_of(*sides))
    for i, system in enumerate(systems):
        pairs = list(zip(gold, system, strict=True))
        by_sentence = items.counts(i, by="sentence")
        assert by_sentence.tp.tolist() == [len(g & s) for g, s in pairs]
        assert by_sentence.fp.tolist() == [len(s - g) for g, s in pairs]
        assert by_sentence.fn.tolist() == [len(g - s) for g, s in pairs]
        assert items.counts(i) == by_sentence.sum()
        for label, counts in zip(items.labels, items.counts(i, by="label"), strict=True):
            only = [({x for x in g if x[2] == label}, {x for x in s if x[2] == label})
                    for g, s in pairs]  # fmt: skip
            assert counts.tp == sum(len(g & s) for g, s in only)
            assert counts.fp == sum(len(s - g) for g, s in only)
            assert counts.fn == sum(len(g - s) for g, s in only)
            assert items.only([label]).counts(i) == counts


@given(corpus)
def test_pairs_equal_those_of_spans(sides):
    gold, *systems = sides
    items = match_spans(*spans_of(*sides))
    for i, a in enumerate(systems):
        for j, b in enumerate(systems):
            assert items.paired(i, j) == pv.PairedCounts.from_spans(gold, a, b)
            assert items.paired(i, j, by=None) == pv.PairedCounts.from_spans(gold, a, b).total()


@given(corpus)
def test_ignoring_types_counts_boundaries(sides):
    items = match_spans(*spans_of(*sides), ignore_type=True)
    gold, system = ([{x[:2] for x in s} for s in side] for side in sides[:2])
    assert items.counts(0).tp == sum(len(g & s) for g, s in zip(gold, system, strict=True))
    assert items.labels == ("_",)


def test_only_some_labels():
    gold = [{(0, 1, "ORG"), (2, 3, "PER"), (4, 5, "LOC")}]
    pred = [{(0, 1, "ORG"), (2, 3, "ORG")}]
    assert match_spans(*spans_of(gold, pred), only=["ORG"]).counts() == pv.Counts(1, 1, 0)
    both = match_spans(*spans_of(gold, pred), only=["ORG", "PER"])
    assert both.labels == ("ORG", "PER")
    assert both.counts() == pv.Counts(1, 1, 1)
    ignored = match_spans(*spans_of(gold, pred), only=["ORG"], ignore_type=True)
    assert ignored.counts() == pv.Counts(1, 1, 0)
    with pytest.raises(InputError, match="only: unknown 'ORF'; expected one of LOC, ORG, PER"):
        match_spans(*spans_of(gold, pred), only=["ORF"])


def test_places_beyond_any_packed_key():
    far = 2**31 - 2
    gold = [{(0, far, "A"), (far - 1, far, "B")}] * 3
    pred = [{(0, far, "A"), (far - 1, far, "C")}] * 3
    assert match_spans(*spans_of(gold, pred)).counts() == pv.Counts(3, 3, 3)


def test_documents(write):
    lines = "-DOCSTART- O O\n\na B-X B-X\n\nb B-X O\n\n-DOCSTART- O O\n\nc O B-X\n"
    from probative.matching.matched import match_inputs

    items = match_inputs(write(lines), []).items
    by_document = items.counts(by="document")
    assert by_document == pv.Counts(tp=[1, 0], fp=[0, 1], fn=[1, 0])
    assert items.paired(0, 0, by="document").n_units == 2
    bare = match_spans(*spans_of([{(0, 1, "A")}], [set()]))
    with pytest.raises(InputError, match="by: no documents are marked"):
        bare.counts(by="document")
    with pytest.raises(InputError, match="by: unknown 'page'"):
        bare.counts(by="page")


@given(
    st.integers(1, 30).flatmap(
        lambda n: st.tuples(*[st.lists(st.sampled_from("xyz"), min_size=n, max_size=n)] * 3)
    )
)
def test_labels_equal_from_labels(sides):
    gold, a, b = sides
    labels = [labels_from_array(f"{i}", side) for i, side in enumerate(sides)]
    items = match_labels(*labels)
    for label, counts in zip(items.labels, items.counts(by="label"), strict=True):
        assert counts == pv.Counts.from_labels(gold, a, positive=label)
        yes = match_labels(*labels, positive=label)
        assert yes.counts(0) == pv.Counts.from_labels(gold, a, positive=label)
        assert yes.paired(0, 1, by=None) == pv.PairedCounts.from_labels(gold, a, b, positive=label)
    total = items.counts(0)
    assert total.tp == sum(x == y for x, y in zip(gold, a, strict=True))
    assert total.fp == total.fn == len(gold) - total.tp
    assert len(items.labels) == 1 or total.tn is None


def test_labels_by_unit():
    units = ["d2", "d1", "d2", "d1"]
    own = units_of("gold", units, 4)
    gold = replace(labels_from_array("gold", [1, 1, 0, 0]), units=own)
    a = labels_from_array("a", [1, 0, 1, 0])
    b = labels_from_array("b", [1, 1, 0, 0])
    items = match_labels(gold, a, b, positive="1")
    expected = pv.PairedCounts.from_labels([1, 1, 0, 0], [1, 0, 1, 0], [1, 1, 0, 0], units=units)
    assert items.paired(0, 1) == expected
    with pytest.raises(InputError, match="b: 1 labels, but gold has 4; expected the same number"):
        match_labels(gold, labels_from_array("b", [1]))


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        ([0, 1], "1"),
        ([True, False], "1"),
        (["True", "False"], "True"),
        (["yes", "no"], "yes"),
        (["yes", "yes"], "yes"),
        ([-1, 1], "1"),
        (["spam", "ham"], None),
        ([0, 1, 2], None),
    ],
)
def test_which_class_is_the_positive_one(labels, expected):
    assert positive_class(labels_from_array("gold", labels)) == expected


def test_overlaps_by_hand():
    gold = [{(0, 2, "A"), (3, 5, "A"), (6, 9, "B"), (10, 12, "B"), (13, 14, "C"), (20, 22, "A")}]
    pred = [{(0, 2, "A"), (3, 5, "B"), (6, 8, "B"), (11, 13, "A"), (15, 16, "C")}]
    found = overlaps(*spans_of(gold, pred))

    def five(name):
        o = found[name]
        return o.correct, o.incorrect, o.partial, o.missed, o.spurious

    assert five("strict") == (1, 3, 0, 2, 1)
    assert five("exact") == (2, 2, 0, 2, 1)
    assert five("partial") == (2, 0, 2, 2, 1)
    assert five("ent_type") == (2, 2, 0, 2, 1)
    partial = found["partial"]
    assert partial.scores == pytest.approx({"precision": 3 / 5, "recall": 3 / 6, "f1": 6 / 11})


@given(corpus)
def test_overlaps_add_up(sides):
    gold, system = spans_of(*sides[:2])
    counts = match_spans(gold, system).counts()
    for name, overlap in overlaps(gold, system).items():
        pairs = overlap.correct + overlap.incorrect + overlap.partial
        assert pairs + overlap.missed == len(gold)
        assert pairs + overlap.spurious == len(system)
        if name == "strict":
            assert overlap.correct == counts.tp
    # pairs come off from left to right, as in nervaluate: where spans of a system overlap, a wrong
    # one may take the partner of a right one, so a system can find fewer boundaries than it has
    boundaries = match_spans(gold, system, ignore_type=True).counts()
    alone = all(
        a[1] <= b[0] for k in range(system.n_sentences) for a, b in pairwise(sorted(system.of(k)))
    )
    if alone:
        assert overlaps(gold, system)["exact"].correct >= boundaries.tp


def test_nothing_overlaps_nothing():
    found = overlaps(*spans_of([set()], [set()]))
    assert np.isnan(found["strict"].scores["precision"])
    assert np.isnan(found["strict"].scores["f1"])


@pytest.mark.parametrize("systems", [1, 3])
def test_single_labels_are_matched_as_sets_of_one_label_are(systems):
    rng = np.random.default_rng(systems)
    names = np.array(["a", "b", "c"])
    columns = [names[rng.integers(0, 3, 50)].tolist() for _ in range(1 + systems)]
    of_labels = match_labels(*(labels_from_array("x", np.array(column)) for column in columns))
    of_sets = match_labels(*(label_sets("x", [[name] for name in column]) for column in columns))
    assert of_labels.labels == of_sets.labels
    for field in ("unit", "label", "answer", "says"):
        np.testing.assert_array_equal(getattr(of_labels, field), getattr(of_sets, field))
