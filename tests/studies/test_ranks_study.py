"""The study of leaderboards: what it draws has the scores that it takes for the truth."""

from __future__ import annotations

import math

import numpy as np
import pytest

import probative as pv
from probative_studies.ranks import RankCoverage, _mended, _skills, draw, rank_study, true_scores


@pytest.mark.parametrize("units", ["300 sentences", "20 documents"])
def test_the_true_scores_are_those_of_endlessly_many_units(units):
    skill = _skills(3, "all differ")
    rng = np.random.default_rng(1)
    totals = np.zeros((3, 3))
    for _ in range(300):
        table = draw(skill, units, rng).table
        totals += np.stack(
            [table.tp.sum(axis=1), table.fp.sum(axis=1), np.full(3, table.positives.sum())]
        )
    tp, fp, positives = totals
    assert 2 * tp / (tp + fp + positives) == pytest.approx(true_scores(skill), abs=0.006)


def test_ties_are_where_they_are_said_to_be():
    assert len(set(true_scores(_skills(6, "all tie")))) == 1
    assert len(set(true_scores(_skills(6, "pairs tie")))) == 3
    assert len(set(true_scores(_skills(6, "all differ")))) == 6
    assert np.all(np.diff(true_scores(_skills(6, "all differ"))) > 0)


@pytest.mark.parametrize("units", ["300 sentences", "20 documents"])
def test_near_copies_are_one_system_with_units_put_right(units):
    skill, mended = _skills(3, "near copies"), _mended(3, "near copies")
    rng = np.random.default_rng(1)
    totals = np.zeros((3, 3))
    for _ in range(300):
        table = draw(skill, units, rng, mended).table
        differ = table.tp[1] != table.tp[0]
        assert np.all(table.tp[1, differ] == table.positives[differ])
        totals += np.stack(
            [table.tp.sum(axis=1), table.fp.sum(axis=1), np.full(3, table.positives.sum())]
        )
    tp, fp, positives = totals
    expected = true_scores(skill, mended)
    assert 2 * tp / (tp + fp + positives) == pytest.approx(expected, abs=0.006)
    assert np.all(np.diff(expected) > 0)


def test_limits_need_no_tests():
    how = {"replicates": 6, "rng": 2}
    (with_tests,) = rank_study([4], ["all differ"], ["20 documents"], **how)
    (alone,) = rank_study([4], ["all differ"], ["20 documents"], limits_only=True, **how)
    assert alone.limits == with_tests.limits
    assert math.isnan(alone.rank_sets)
    assert math.isnan(alone.decided)
    assert alone.holds
    assert "rank sets" in str(with_tests)
    assert "rank sets" not in str(alone)


@pytest.mark.slow
def test_the_limits_of_near_copies_allow_for_few_units_in_dispute():
    how = {"limits_only": True, "replicates": 70, "rng": 1}
    (found,) = rank_study([5], ["near copies"], ["300 sentences"], **how)
    assert found.limits > 0.85


def test_it_is_repeatable_and_counts():
    told = []
    how = {"replicates": 4, "rng": 3}
    found = rank_study(
        [3], ["pairs tie"], ["20 documents"], **how, report=lambda *n: told.append(n)
    )
    again = rank_study([3], ["pairs tie"], ["20 documents"], **how)
    assert found[0].to_dict() == again[0].to_dict()
    assert told == [(i, 4) for i in range(4)]
    assert 0 <= found[0].decided <= 1


def test_a_share_below_the_level_does_not_hold():
    made = {"systems": 5, "truth": "all tie", "units": "20 documents", "level": 0.95}
    errors = {"rank_error": 0.01, "limits_error": 0.01, "decided": 0.1, "replicates": 1000}
    assert RankCoverage(**made, rank_sets=0.95, limits=0.94, **errors).holds
    assert not RankCoverage(**made, rank_sets=0.95, limits=0.92, **errors).holds
    assert not RankCoverage(**made, rank_sets=0.91, limits=0.99, **errors).holds


def test_bad_choices_are_refused():
    with pytest.raises(pv.InputError, match="truths: unknown 'some tie'"):
        rank_study([3], ["some tie"], replicates=1)
    with pytest.raises(pv.InputError, match="systems"):
        rank_study([1], replicates=1)
