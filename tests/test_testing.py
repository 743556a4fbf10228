"""Assertions for tests of models."""

from __future__ import annotations

import numpy as np
import pytest

import probative as pv
from probative.errors import InputError
from probative.testing import assert_better, assert_not_worse, assert_score_at_least

GOLD = [["B-PER", "O"], ["O", "B-LOC"]] * 30
OLD = [["O", "O"]] * 20 + GOLD[20:]
NEW = [["O", "O"]] * 5 + GOLD[5:]


def test_what_holds_passes_and_returns_the_comparison():
    found = assert_not_worse(GOLD, OLD, NEW, margin=0.01)
    assert found.verdicts == pv.compare(GOLD, OLD, NEW, names=["old", "new"]).verdicts
    assert_better(GOLD, OLD, NEW)
    assert_not_worse(GOLD, OLD, OLD)  # identical outputs are not worse


@pytest.mark.parametrize("assertion", [assert_not_worse, assert_better])
def test_the_failure_is_the_verdict(assertion):
    with pytest.raises(AssertionError) as failure:
        assertion(GOLD, NEW, OLD, margin=0.01)
    verdict = pv.compare(GOLD, NEW, OLD, names=["old", "new"]).verdicts[0]
    kind = "require-not-worse" if assertion is assert_not_worse else "require-better"
    (judged,) = pv.gate(pv.compare(GOLD, NEW, OLD, names=["old", "new"]), kind, margin=0.01)
    assert str(failure.value) == f"{verdict} {judged}"
    assert "points lower than old" in str(failure.value)


def test_identical_outputs_are_no_better():
    with pytest.raises(AssertionError, match=r"identical outputs.*require-better FAILED"):
        assert_better(GOLD, OLD, OLD)


def test_one_unit_is_no_evidence():
    one = GOLD[:1]
    for assertion in (assert_not_worse, assert_better):
        with pytest.raises(AssertionError, match="a score rests on a single sentence"):
            assertion(one, [["O", "O"]], one)
    with pytest.raises(AssertionError, match="one unit: the variation"):
        assert_score_at_least(one, one, 0.5)


def test_nothing_to_be_found_is_no_evidence():
    empty = [["O", "O"]] * 20
    with pytest.raises(AssertionError, match="gold has nothing to find"):
        assert_not_worse(empty, empty, NEW[5:25])


def test_files_keep_their_names(tmp_path):
    paths = []
    for name, side in (("gold", GOLD), ("v1", NEW), ("v2", OLD)):
        paths.append(tmp_path / f"{name}.conll")
        rows = ("\n".join(f"w {tag}" for tag in tags) for tags in side)
        paths[-1].write_text("\n\n".join(rows) + "\n")
    with pytest.raises(AssertionError, match=r"v2 scores .* points lower than v1"):
        assert_not_worse(*paths)


def test_a_score_is_shown_by_its_lower_limit():
    found = assert_score_at_least(GOLD, NEW, 0.85)
    expected = pv.score(GOLD, NEW, level=0.9)[0]["f1"]
    assert found.to_dict() == expected.to_dict()
    assert_score_at_least(GOLD, NEW, expected.low)
    with pytest.raises(AssertionError, match=r"f1 is 0\.9565, and at least 0\.9112 with conf"):
        assert_score_at_least(GOLD, NEW, 0.92)
    assert assert_score_at_least(GOLD, NEW, 0.8, metric="recall").metric == "recall"
    kinds = ["a", "b", "c"] * 20
    assert assert_score_at_least(kinds, kinds, 0.9).estimate == 1


@pytest.mark.parametrize(
    "call",
    [
        lambda: assert_not_worse(GOLD, OLD, NEW, margin=1.5),
        lambda: assert_not_worse(GOLD, OLD, NEW, names=np.array([])),
        lambda: assert_score_at_least(GOLD, NEW, 0.5, level=0.9),
        lambda: assert_score_at_least(GOLD, NEW, 0.5, metric=["f1"]),
        lambda: assert_score_at_least(GOLD, NEW, 0.5, metric=("f1",)),
        lambda: assert_not_worse(GOLD, OLD, NEW, confidence=95),
        lambda: assert_score_at_least(GOLD, OLD, 90),
        lambda: assert_score_at_least(GOLD, OLD, 0.5, confidence=0.4),
        lambda: assert_better(GOLD, OLD, NEW, metrc="f1"),
    ],
)
def test_wrong_arguments_are_no_failures_of_the_model(call):
    with pytest.raises(InputError):
        call()


def test_pytest_points_at_the_test():
    with pytest.raises(AssertionError) as failure:
        assert_better(GOLD, OLD, OLD)
    frames = [entry for entry in failure.traceback if not entry.ishidden(failure)]
    assert frames[-1].path.name == "test_testing.py"
