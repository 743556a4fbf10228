"""Gold and prediction must tell the same tokens."""

from __future__ import annotations

import pytest

import probative as pv
from probative.errors import InputError

GOLD = "Ann\tB-PER\nsleeps\tO\n\nYork\tB-LOC\n"


def problem(gold, pred, **how) -> str:
    with pytest.raises(InputError) as caught:
        pv.score(gold, pred, **how)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_the_first_different_token_is_named_with_both_lines(write):
    gold, pred = write(GOLD, "gold"), write("Ann B-PER\nslept O\n\nYorck O\n", "pred")
    assert problem(gold, pred) == (
        f"{pred}:2: token 'slept', gold has 'sleeps' (align_by='position' ignores tokens)"
    )
    # of the same length, too: bytes are compared, not lengths
    pred = write("Ann B-PER\nsleeps O\n\nYark O\n", "pred")
    assert problem(gold, pred).startswith(f"{pred}:4: token 'Yark', gold has 'York' (")


def test_position_accepts_and_counts_them(write):
    gold, pred = write(GOLD, "gold"), write("Ann B-PER\nslept O\n\nYorck B-LOC\n", "pred")
    result = pv.score(gold, pred, align_by="position")
    assert result[0].counts == pv.Counts(2, 0, 0)
    assert f"{pred}: 2 tokens differ from {gold}" in result.notes


def test_sentences_must_be_as_many(write):
    gold, pred = write(GOLD, "gold"), write("Ann B-PER\nsleeps O\n", "pred")
    assert problem(gold, pred) == f"{pred}: 1 sentences, but {gold} has 2; expected the same number"
    pred = write("Ann B-PER\n\nsleeps O\n\nYork B-LOC\n", "pred")
    assert problem(gold, pred) == (
        f"{pred}: 3 sentences, but {gold} has 2; expected the same number; the first that differs: "
        f"sentence 1 has 1 tokens, but 2 at {gold}:1"
    )


def test_and_as_long(write):
    gold, pred = write(GOLD, "gold"), write("Ann B-PER\nsleeps O\n\nNew B-LOC\nYork I-LOC\n", "p")
    expected = f"{pred}:4: sentence 2 has 2 tokens, but 1 at {gold}:4"
    assert problem(gold, pred).startswith(expected)
    assert problem(gold, pred, align_by="position").startswith(expected)


def test_python_sequences_of_different_lengths():
    assert problem([["O", "B-X"]], [["O"]]).startswith(
        "pred: sentence 1, token 1: sentence 1 has 1"
    )
    assert (
        problem([["O"]], [["O"], ["O"]])
        == "pred: 2 sentences, but gold has 1; expected the same number"
    )


def test_texts_of_json_lines(write):
    gold = write('{"text": "ab", "spans": [[0, 1, "A"]]}\n', "gold")
    pred = write('{"text": "ac", "spans": [[0, 1, "A"]]}\n', "pred")
    assert problem(gold, pred).startswith(f"{pred}:1: text 1 is 'ac', but 'ab' in {gold}")
    result = pv.score(gold, pred, align_by="position")
    assert result[0].counts == pv.Counts(1, 0, 0)
    assert f"{pred}: 1 texts differ from {gold}" in result.notes


def test_a_long_text_shows_where_it_differs(write):
    common = "Far from the harbour, along the old road to the mill, they met "
    gold = write(f'{{"text": "{common}Ann", "spans": []}}\n{{"text": "b", "spans": []}}\n', "gold")
    pred = write(f'{{"text": "{common}Bob", "spans": []}}\n{{"text": "b", "spans": []}}\n', "pred")
    assert problem(gold, pred) == (
        f"{pred}:1: text 1 is '… they met Bob', but '… they met Ann' in {gold}; expected the same "
        f"text (align_by='position' accepts others)"
    )


def test_different_tasks(write):
    gold, pred = write(GOLD, "gold"), write("spam\nham\n", "pred")
    assert problem(gold, pred).startswith(f"{pred}:1: no column holds tags")
    assert problem([["O"]], ["spam"]).startswith("pred: is labels, but gold is entities; texts in")
