"""The file of a design tells everything, or says what is wrong with it."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import probative as pv
from probative.errors import InputError
from probative.surveys.design import Design, PoolSource, Stratum, SystemSource, as_text


def design(sizes=(6, 4), batches=((2, 1),), goal="difference"):
    drawn = np.sum(batches, axis=0)
    strata = [
        Stratum(f"stratum {h}", f"key {h}", n, int(k), "guess", 0.5)
        for h, (n, k) in enumerate(zip(sizes, drawn, strict=True))
    ]
    units = np.random.default_rng(3).permutation(sum(sizes))
    return Design(
        task="entities",
        unit="sentence",
        goal=goal,
        seed=3,
        pool=PoolSource("pool.conll", "pool.conll", "sha256:1", sum(sizes)),
        outputs=(SystemSource("a", "a.conll", "sha256:2"), SystemSource("b", None, "python:3")),
        judge=None,
        reading={"task": "entities"},
        scores=None,
        strata=tuple(strata),
        order=tuple(np.split(units, np.cumsum(sizes)[:-1])),
        batches=batches,
        written={"format": "columns", "column": -1, "blank": "_"},
    )


def test_what_is_written_is_read(tmp_path):
    made = design(batches=((2, 1), (0, 3)))
    (tmp_path / "s.design.json").write_text(as_text(made))
    read = pv.read_design(tmp_path / "s.design.json")
    assert read.to_dict() == made.to_dict()
    assert read.systems == ("a", "b")
    assert read.size == 6


def test_units_come_batch_by_batch_in_the_order_of_the_pool():
    made = design(batches=((2, 1), (1, 0)))
    numbers, strata, batches = made.units
    first = sorted([*made.order[0][:2], *made.order[1][:1]])
    assert numbers.tolist() == [*first, made.order[0][2]]
    assert batches.tolist() == [0, 0, 0, 1]
    assert all(n in made.order[h] for n, h in zip(numbers, strata, strict=True))


@given(st.lists(st.integers(0, 3), min_size=2, max_size=2))
def test_an_extension_changes_nothing_that_was_drawn(more):
    before = design(batches=((2, 1),))
    after = before.extended(more, before.strata)
    old = len(before.units.number)
    for was, now in zip(before.units, after.units, strict=True):
        assert was.tolist() == now[:old].tolist()
    assert after.size == before.size + sum(more)


@pytest.mark.parametrize("cut", [0.2, 0.5, 0.99])
def test_a_file_that_was_cut_off(tmp_path, cut):
    path = tmp_path / "s.design.json"
    path.write_text(as_text(design()))
    whole = path.read_text()
    path.write_text(whole[: int(cut * len(whole))])
    with pytest.raises(InputError, match=r"is not JSON, or is incomplete; expected the whole"):
        pv.read_design(path)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"format": 2}, "is of format 2; expected 1"),
        ({"command": "score"}, "is no design; expected a file that `sample` has written"),
        ({"goal": "fame"}, "its goal is 'fame'; expected one of score, difference"),
        ({"order": [[0, 1], [2]]}, "its strata and its orders differ in size"),
        ({"order": [[0, 0, 1, 2, 3, 4], [5, 6, 7, 8]]}, "expected each unit once"),
        ({"batches": [[2, 2]]}, "do not add up to the drawn units"),
        ({"batches": [[2, -1], [0, 2]]}, "its batches do not fit its strata"),
        ({"batches": []}, "its batches do not fit its strata"),
        ({"strata": 7}, "is a damaged design"),
        ({"pool": {"name": "x"}}, "is a damaged design"),
        ({"order": [["x"], []]}, "is a damaged design"),
        ({"task": 5}, "its task is 5; expected text"),
        ({"basis": "fame"}, "its basis is 'fame'; expected one of guess, scores, pilot, judge"),
        ({"written": {"keep": 7}}, "the columns to keep are not a list; expected one"),
    ],
)
def test_what_contradicts_itself(tmp_path, change, words):
    path = tmp_path / "s.design.json"
    path.write_text(json.dumps(design().to_dict() | change))
    with pytest.raises(InputError) as caught:
        pv.read_design(path)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("wrong", [None, 5, True, 1.5, ["a"], {"a": 1}])
@pytest.mark.parametrize(
    ("entry", "key", "words"),
    [
        ("outputs", "name", "the name of a file is"),
        ("outputs", "fingerprint", "the fingerprint of a file is"),
        ("strata", "name", "the name of a stratum is"),
        ("strata", "key", "the key of a stratum is"),
    ],
)
def test_a_name_that_is_no_text_is_refused(tmp_path, entry, key, words, wrong):
    path = tmp_path / "s.design.json"
    content = design().to_dict()
    content[entry][1][key] = wrong
    path.write_text(json.dumps(content))
    with pytest.raises(InputError) as caught:
        pv.read_design(path)
    assert words in str(caught.value)
    assert "expected text" in str(caught.value)


@pytest.mark.parametrize("wrong", [None, "x", True, [], {}])
def test_a_spread_that_is_no_number_is_refused(tmp_path, wrong):
    path = tmp_path / "s.design.json"
    content = design().to_dict()
    content["strata"][0]["spread"] = wrong
    path.write_text(json.dumps(content))
    with pytest.raises(InputError, match=r"the spread of a stratum is .*; expected a number"):
        pv.read_design(path)


def test_an_entry_that_is_missing(tmp_path):
    content = design().to_dict()
    del content["seed"]
    (tmp_path / "s.json").write_text(json.dumps(content))
    with pytest.raises(InputError, match="is a design without 'seed'"):
        pv.read_design(tmp_path / "s.json")


@pytest.mark.parametrize("content", [b"[]", b"7", b"null", b"\xff\xfe\x00"])
def test_other_files(tmp_path, content):
    path = tmp_path / "s.json"
    path.write_bytes(content)
    with pytest.raises(InputError):
        pv.read_design(path)
    with pytest.raises(InputError, match="there is no such file"):
        pv.read_design(tmp_path / "nowhere.json")
