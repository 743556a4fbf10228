from __future__ import annotations

import conlleval
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from seqeval import scheme as peer
from seqeval.metrics.sequence_labeling import get_entities

from probative.errors import InputError
from probative.matching.items import GROUPINGS
from probative.matching.schemes import (
    REPAIRS,
    SCHEMES,
    decode,
    decode_tags,
    encode,
    misplaced,
    recognise,
)
from probative.matching.spans import match_spans
from probative.reading.annotations import tagged_from_lists

PEERS = {
    "iob1": peer.IOB1,
    "ioe1": peer.IOE1,
    "iob2": peer.IOB2,
    "ioe2": peer.IOE2,
    "iobes": peer.IOBES,
    "bilou": peer.BILOU,
}


def tags_of(prefixes):
    """Any sequence of tags: most steps in it are invalid."""
    typed = [f"{p}-{t}" for p in prefixes for t in ("PER", "LOC", "creative-work")]
    return st.lists(st.sampled_from(["O", *typed]), min_size=1, max_size=12)


# four sequences an example: 600 examples are 2,400 sequences
corpora = st.lists(tags_of("BIES"), min_size=4, max_size=4)


@st.composite
def apart_spans(draw, labels=("PER", "LOC")):
    """A sentence's length and spans in it that do not overlap, in order."""
    spans, place = [], 0
    for gap, length in draw(st.lists(st.tuples(st.integers(0, 2), st.integers(1, 5)), max_size=6)):
        start = place + gap
        place = start + length
        spans.append((start, place, draw(st.sampled_from(labels))))
    return place + draw(st.integers(0, 2)), spans


@settings(max_examples=200)
@given(corpora)
def test_default_reading_equals_seqeval(sentences):
    found = decode_tags(sentences, scheme="iobes")
    for spans, tags in zip(found, sentences, strict=True):
        expected = [(start, end + 1, label) for label, start, end in get_entities(tags)]
        assert spans == sorted(expected)


@st.composite
def both_sides(draw):
    gold = draw(corpora)
    typed = st.sampled_from(["O", *(f"{p}-{t}" for p in "BIES" for t in ("PER", "LOC"))])
    return gold, [draw(st.lists(typed, min_size=len(s), max_size=len(s))) for s in gold]


@settings(max_examples=200)
@given(both_sides())
def test_counts_equal_the_conlleval_package(sides):
    gold, pred = sides
    lines = []
    for expected, found in zip(gold, pred, strict=True):
        lines += [f"w {x} {y}" for x, y in zip(expected, found, strict=True)] + [""]
    reference = conlleval.evaluate(lines)
    items = match_spans(
        decode(tagged_from_lists("gold", gold), scheme="iobes"),
        decode(tagged_from_lists("pred", pred), scheme="iobes"),
    )
    total = items.counts()
    expected = reference["overall"]["chunks"]["stats"]
    assert (total.tp, total.predicted, total.positives) == (
        expected["correct"],
        expected["pred"],
        expected["gold"],
    )
    by_label = dict(zip(items.labels, items.counts(by="label"), strict=True))
    for label, entry in reference["slots"]["chunks"].items():
        stats = entry["stats"]
        if not stats["gold"] and not stats["pred"]:
            continue
        counts = by_label[label]
        assert (counts.tp, counts.predicted, counts.positives) == (
            stats["correct"],
            stats["pred"],
            stats["gold"],
        )


@pytest.mark.parametrize("name", PEERS)
@settings(max_examples=60)
@given(data=st.data())
def test_strict_reading_equals_seqeval(name, data):
    prefixes = [p for p in SCHEMES[name].follow if p != "O"]
    sentences = data.draw(st.lists(tags_of(prefixes), min_size=1, max_size=4))
    found = decode_tags(sentences, scheme=name, repair="strict")
    reference = peer.Entities(sentences, PEERS[name]).entities
    for spans, expected in zip(found, reference, strict=True):
        assert spans == sorted((e.start, e.end, e.tag) for e in expected)


@pytest.mark.parametrize("name", [name for name in SCHEMES if name != "io"])
@given(sentence=apart_spans())
def test_encode_then_decode_is_the_identity(name, sentence):
    length, spans = sentence
    tags = encode(spans, length, scheme=name)
    assert len(tags) == length
    for repair in REPAIRS:
        if name == "ioe1" and repair == "strict":
            continue  # seqeval's reading of IOE1 loses a single token before a neighbour
        assert decode_tags([tags], scheme=name, repair=repair) == [spans]
    assert misplaced(tagged_from_lists("tags", [tags]), name, 0) == ([], 0)


@given(sentence=apart_spans())
def test_io_merges_neighbours_of_one_type_and_keeps_the_rest(sentence):
    length, spans = sentence
    merged: list[tuple[int, int, str]] = []
    for start, end, label in spans:
        if merged and merged[-1][1] == start and merged[-1][2] == label:
            merged[-1] = (merged[-1][0], end, label)
        else:
            merged.append((start, end, label))
    assert decode_tags([encode(spans, length, scheme="io")], scheme="io") == [merged]


@pytest.mark.parametrize("name", [name for name in SCHEMES if name != "io"])
@given(sentence=apart_spans(labels=("",)))
def test_untyped_spans_survive_as_well(name, sentence):
    length, spans = sentence
    tags = encode(spans, length, scheme=name)
    assert all("-" not in tag for tag in tags)
    assert decode_tags([tags], scheme=name) == [[(start, end, "_") for start, end, _ in spans]]


@pytest.mark.parametrize("name", SCHEMES)
def test_a_scheme_is_recognised_from_what_it_writes(name):
    spans = [(0, 1, "A"), (1, 6, "A"), (7, 9, "B"), (9, 10, "B"), (10, 11, "A"), (12, 17, "A")]
    tags = tagged_from_lists("tags", [encode(spans, 18, scheme=name), ["O"]])
    # a file in which no prefix tells neighbours apart is IOB1 without need for a B
    assert recognise(tags) == ("iob1" if name == "io" else name)


@pytest.mark.parametrize(
    ("tags", "scheme"),
    [
        (["O", "O"], "iob2"),
        (["B-X", "O"], "iob2"),
        (["I-X", "I-X", "O"], "iob1"),
        (["I-X", "B-X", "O"], "iob1"),
        (["S-X", "O"], "iobes"),
        (["U-X", "O"], "bilou"),
        (["B", "M", "E", "S"], "bmes"),
        (["B", "B2", "E", "S"], "bb2b3mes"),
        (["I-X", "E-X", "O"], "ioe2"),
        (["I-X", "E-X", "I-X", "O"], "ioe1"),
    ],
)
def test_small_files_are_recognised(tags, scheme):
    assert recognise(tagged_from_lists("tags", [tags])) == scheme


def test_numbered_begins_have_an_order():
    good = [["B-X", "B2-X", "B3-X", "M-X", "E-X"]]
    bad = [["B-X", "B3-X", "B2-X", "M-X", "E-X"]]
    assert decode_tags(good, scheme="bb2b3mes", repair="strict") == [[(0, 5, "X")]]
    assert decode_tags(bad, scheme="bb2b3mes", repair="strict") == [[]]
    assert decode_tags(bad, scheme="bb2b3mes") == [[(0, 5, "X")]]


def test_invalid_tags_are_counted_and_said():
    tags = tagged_from_lists("tags", [["I-X", "O"], ["B-X", "I-Y"]])
    spans = decode(tags, scheme="iob2")
    assert spans.repaired == misplaced(tags, "iob2", 0)[1] == 2
    assert spans.notes[-1] == "tags: 2 tags out of place in iob2, read as conlleval does"
    assert (
        decode(tags, scheme="iob2", repair="strict")
        .notes[-1]
        .endswith("read as seqeval strict mode does")
    )


@pytest.mark.parametrize(
    ("sentences", "scheme", "message"),
    [
        ([["O"], ["O", "I-X"]], "iob2", "sentences: sentence 2, token 2: tag 'I-X' after 'O'"),
        ([["I-X"]], "iob2", "tag 'I-X' at the begin of a sentence"),
        ([["B-X"]], "iobes", "tag 'B-X' at the end of a sentence"),
        ([["I-X", "O"]], "ioe2", "tag 'O' after 'I-X' breaks the rules of ioe2"),
    ],
)
def test_repair_error_names_the_first_invalid_tag(sentences, scheme, message):
    with pytest.raises(InputError, match="breaks the rules of") as caught:
        decode_tags(sentences, scheme=scheme, repair="error")
    assert message in str(caught.value)


@pytest.mark.parametrize("tag", ["B-", "X-PER", "b-per", "", "O-PER", "B2-PER", "-PER"])
def test_unknown_tags_are_errors(tag):
    with pytest.raises(InputError, match="unknown tag") as caught:
        decode_tags([["O", "B-PER", tag]], scheme="iob2")
    assert "sentence 1, token 3" in str(caught.value)
    assert "(iob2)" in str(caught.value)


def test_sentences_without_tokens_keep_their_place():
    assert decode_tags([[], ["B-X"], [], ["I-X"], []]) == [[], [(0, 1, "X")], [], [(0, 1, "X")], []]


def test_spans_never_cross_a_sentence():
    assert decode_tags([["B-X", "I-X"], ["I-X"]], scheme="iob2") == [[(0, 2, "X")], [(0, 1, "X")]]


@pytest.mark.parametrize("spans", [[(0, 2, "A"), (1, 3, "A")], [(0, 5, "A")], [(2, 2, "A")]])
def test_encode_refuses_overlaps_and_spans_outside(spans):
    with pytest.raises(InputError, match="overlaps another one or leaves the sentence"):
        encode(spans, 4, scheme="iob2")


def test_unknown_names_are_refused():
    with pytest.raises(InputError, match="scheme: unknown 'iob3'"):
        decode_tags([["O"]], scheme="iob3")
    with pytest.raises(InputError, match="repair: unknown 'lenient'"):
        decode_tags([["O"]], repair="lenient")
    assert set(GROUPINGS) == {"label", "sentence", "document"}
    assert np.issubdtype(tagged_from_lists("t", [["O"]]).tags.dtype, np.integer)
