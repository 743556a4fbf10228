"""The numbers behind curves, against scikit-learn and by brute force."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import special, stats
from sklearn.metrics import (
    average_precision_score,
    brier_score_loss,
    precision_recall_curve,
    roc_auc_score,
)

from probative.counts import Counts
from probative.inference.curves import (
    Ranked,
    average_precision_interval,
    best_threshold,
    calibration,
    influence_on_average_precision,
    influence_on_roc_auc,
    local_level,
    pointwise_band,
    roc_auc,
    roc_auc_interval,
    simultaneous_band,
)
from probative.inference.intervals import interval


@st.composite
def data(draw):
    items = draw(st.lists(st.tuples(st.booleans(), st.integers(-5, 5)), min_size=4, max_size=40))
    yes = np.array([item[0] for item in items])
    scores = np.array([item[1] / 4 for item in items])
    assume(1 < yes.sum() < len(yes))
    return yes, scores


@given(data())
def test_values_are_those_of_scikit_learn(items):
    yes, scores = items
    ranked = Ranked(yes, scores)
    precision, recall, thresholds = precision_recall_curve(yes, scores)
    np.testing.assert_allclose(ranked.thresholds, thresholds[::-1])
    np.testing.assert_allclose(ranked.precision, precision[:-1][::-1])
    np.testing.assert_allclose(ranked.recall, recall[:-1][::-1])
    assert ranked.average_precision == pytest.approx(average_precision_score(yes, scores))
    assert roc_auc(ranked) == pytest.approx(roc_auc_score(yes, scores))


@given(data())
def test_influences_are_derivatives_by_the_weight_of_an_item(items):
    yes, scores = items
    ranked = Ranked(yes, scores)
    influence = influence_on_average_precision(ranked)
    assert influence.sum() == pytest.approx(0, abs=1e-12)
    more = np.ones(len(yes))
    more[0] += 1e-6
    moved = average_precision_score(yes, scores, sample_weight=more) - ranked.average_precision
    assert moved / 1e-6 == pytest.approx(influence[0], abs=1e-4)


@given(data())
def test_units_of_one_item_change_nothing(items):
    yes, scores = items
    assume((~yes).sum() > 1)  # of one negative nothing is known
    alone, units = Ranked(yes, scores), Ranked(yes, scores, np.arange(len(yes)))
    one, other = (average_precision_interval(r, 0.95) for r in (alone, units))
    assert (one.low, one.high) == pytest.approx((other.low, other.high))
    assert other.design_effect is not None
    assert one.design_effect is None


def test_leaving_out_items_one_by_one_is_what_it_says():
    from probative.inference.curves import _without_each_item

    rng = np.random.default_rng(3)
    yes = rng.random(25) < 0.4
    scores = np.round(rng.normal(yes), 1)
    values = _without_each_item(Ranked(yes, scores))
    for i in range(len(yes)):
        rest = np.arange(len(yes)) != i
        expected = average_precision_score(yes[rest], scores[rest])
        assert values[i] == pytest.approx(expected)


def test_delong_s_variance_is_that_of_all_pairs():
    rng = np.random.default_rng(4)
    yes = rng.random(40) < 0.3
    scores = np.round(rng.normal(yes), 1)
    ranked = Ranked(yes, scores)
    wins = (scores[yes][:, None] > scores[~yes]) + 0.5 * (scores[yes][:, None] == scores[~yes])
    v10, v01 = wins.mean(axis=1), wins.mean(axis=0)
    squares = influence_on_roc_auc(ranked) ** 2
    assert squares.sum() == pytest.approx(v10.var() / len(v10) + v01.var() / len(v01))


@pytest.mark.parametrize("distance", [0.5, 2.0, 9.0, -9.0])
def test_limits_of_the_area_are_those_that_the_one_seen_does_not_refute(distance):
    """The widest of three variances, at every area of a fine grid."""
    rng = np.random.default_rng(4)
    yes = np.arange(60) < 15
    scores = rng.normal(distance * yes)
    wins = scores[yes][:, None] > scores[~yes]
    area, p, n = wins.mean(), 15, 45
    parts = [wins.mean(axis=k).var(ddof=1) / wins.shape[1 - k] for k in (1, 0)]
    seen = sum(parts)
    freedom = seen**2 / (parts[0] ** 2 / (p - 1) + parts[1] ** 2 / (n - 1)) if seen else p - 1
    grid = np.linspace(0, 1, 200_001)
    variance = grid * (1 - grid) * seen / max(area * (1 - area), 1e-12)
    for one, other in ((p, n), (n, p)):  # Hanley and McNeil, and the same from below
        pairs = grid * (1 - grid) + (one - 1) * (grid / (2 - grid) - grid**2)
        exponential = (pairs + (other - 1) * (2 * grid**2 / (1 + grid) - grid**2)) / (p * n)
        variance = np.maximum(variance, exponential)
    held = grid[np.abs(grid - area) <= stats.t.ppf(0.975, freedom) * np.sqrt(variance)]
    found = roc_auc_interval(Ranked(yes, scores), 0.95)
    assert (found.low, found.high) == pytest.approx((held.min(), held.max()), abs=1e-5)
    assert found.low < found.high


@given(data(), st.sampled_from([None, 2, 3]))
def test_limits_lie_within_0_and_1_and_hold_the_curve(items, size):
    yes, scores = items
    ranked = Ranked(yes, scores, None if size is None else np.arange(len(yes)) // size)
    for band in (pointwise_band(ranked, 0.95), simultaneous_band(ranked, 0.95)):
        for name in ("precision", "recall"):
            low, high = getattr(band, f"{name}_low"), getattr(band, f"{name}_high")
            value = getattr(ranked, name)
            assert np.all((low >= 0) & (high <= 1) & (low <= value + 1e-9) & (value <= high + 1e-9))


@given(data())
def test_pointwise_limits_are_those_of_counts(items):
    yes, scores = items
    ranked = Ranked(yes, scores)
    band = pointwise_band(ranked, 0.9)
    k = len(ranked.thresholds) // 2
    tp, fp = ranked.tp[k], ranked.fp[k]
    counts = Counts(tp, fp, ranked.positives - tp)
    for name in ("precision", "recall"):
        found = interval(counts, name, level=0.9)
        assert getattr(band, f"{name}_low")[k] == pytest.approx(found.low)
        assert getattr(band, f"{name}_high")[k] == pytest.approx(found.high)


def test_units_widen_pointwise_limits_as_clustered_counts_do():
    rng = np.random.default_rng(5)
    yes, unit = np.repeat(rng.random(60) < 0.4, 4), np.repeat(np.arange(60), 4)
    scores = np.repeat(rng.normal(size=60), 4) + 0.1 * rng.normal(size=240) + yes
    ranked = Ranked(yes, scores, unit)
    band = pointwise_band(ranked, 0.95)
    k = 150
    taken = ranked.step <= k
    cells = [ranked.by_unit((a & b).astype(float)) for a, b in ((yes, taken), (yes, ~taken))]
    found = interval(Counts(cells[0], 0 * cells[0], cells[1]), "recall", clustered=True)
    assert found.design_effect > 2
    assert band.recall_low[k] == pytest.approx(found.low, abs=0.02)
    assert band.recall_high[k] == pytest.approx(found.high, abs=0.02)


def test_the_local_level_makes_a_joint_one():
    n, level = 30, 0.9
    eta = local_level(n, level)
    rng = np.random.default_rng(99)
    from scipy import special

    i = np.arange(1, n + 1)
    below = special.betainc(i, n + 1 - i, np.sort(rng.random((20_000, n)), axis=1))
    inside = ((below >= eta / 2) & (below <= 1 - eta / 2)).all(axis=1).mean()
    assert inside == pytest.approx(level, abs=0.015)
    assert local_level(1, 0.95) == pytest.approx(0.05, abs=0.015)


@given(data())
def test_the_best_threshold_is_the_best(items):
    yes, scores = items
    best = best_threshold(Ranked(yes, scores), 0.95, 1.0, np.random.default_rng(0))
    by_hand = {
        t: 2 * (yes & (scores >= t)).sum() / (yes.sum() + (scores >= t).sum())
        for t in np.unique(scores)
    }
    assert best.apparent == pytest.approx(max(by_hand.values()))
    assert by_hand[best.threshold] == pytest.approx(best.apparent)
    assert best.threshold_low < best.threshold <= best.threshold_high
    assert best.low <= best.apparent_low <= best.high <= 1
    assert best.estimate <= best.apparent


def test_what_was_chosen_on_noise_is_corrected_and_covered():
    rng = np.random.default_rng(6)
    covered, naive, bias = [], [], []
    for _ in range(80):
        yes, scores = rng.random(200) < 0.1, rng.normal(size=200)
        if yes.sum() < 2:
            continue
        best = best_threshold(Ranked(yes, scores), 0.95, 1.0, rng)
        taken = 0.5 * math.erfc(best.threshold / math.sqrt(2))
        truth = 2 * 0.1 * taken / (0.1 + taken)
        covered.append(best.low <= truth <= best.high)
        naive.append(best.apparent_low <= truth <= best.apparent_high)
        bias.append((best.apparent - truth, best.estimate - truth))
    assert np.mean(covered) > 0.9 > np.mean(naive)
    seen, left = np.mean(bias, axis=0)
    assert seen > 0.03
    assert abs(left) < seen / 2


def test_calibration_of_right_probabilities_is_unbiased():
    rng = np.random.default_rng(7)
    squared, seen, chance, left, held = [], [], [], [], []
    for _ in range(300):
        p = rng.beta(1, 3, size=400)
        found = calibration(rng.random(400) < p, p, level=0.95, bins=10)
        squared.append(found.squared_error)
        seen.append(found.ece)
        chance.append(found.ece_by_chance)
        left.append(found.ece_debiased)
        held.append(found.ece_low == 0)
    assert np.mean(held) > 0.93
    assert np.mean(squared) == pytest.approx(0, abs=3 * np.std(squared) / math.sqrt(300))
    assert np.mean(seen) == pytest.approx(np.mean(chance), rel=0.05)
    assert np.mean(left) < np.mean(seen) / 2


def test_calibration_of_wrong_probabilities_is_found():
    rng = np.random.default_rng(8)
    p = rng.uniform(0.2, 0.8, size=20_000)
    found = calibration(rng.random(20_000) < p - 0.1, p, level=0.95, bins=10)
    assert found.ece_debiased == pytest.approx(0.1, abs=0.01)
    assert 0.08 < found.ece_low < 0.1 < found.ece_high < 0.12
    assert math.sqrt(found.squared_error) == pytest.approx(0.1, abs=0.01)


def test_labels_that_are_all_right_may_still_be_wrong_in_three_of_a_hundred():
    found = calibration(np.arange(100) < 100, np.ones(100), level=0.95, bins=10)
    assert (found.ece, found.ece_debiased, found.ece_low) == (0, 0, 0)
    assert found.ece_high == pytest.approx(1.959964**2 / (100 + 1.959964**2), abs=1e-6)  # Wilson's


@pytest.mark.slow
@pytest.mark.parametrize(
    ("probable", "true", "n"),
    [
        (lambda rng, n: (rng.random(n) < 0.4).astype(float), lambda p: abs(p - 0.02), 50),
        (
            lambda rng, n: special.expit(rng.normal(0, 4, n)),
            lambda p: 1 / (1 + (1 / p - 1) ** 0.5),
            50,
        ),
        (lambda rng, n: rng.beta(0.3, 6, n), lambda p: p / 2, 200),
        (lambda rng, n: np.full(n, 0.99), lambda p: p - 0.09, 200),
        (lambda rng, n: rng.random(n), lambda p: np.where(p > 0.9, p - 0.5, p), 200),
    ],
    ids=["labels", "bold", "rare", "one value", "one bin"],
)
def test_the_interval_of_the_calibration_error_holds(probable, true, n):
    rng, held = np.random.default_rng(3), []
    for _ in range(500):
        p = probable(rng, n)
        chance = true(p)
        found = calibration(rng.random(n) < chance, p, level=0.95, bins=10)
        at = np.searchsorted([one.low_edge for one in found.bins], p, side="right")
        error = float(np.abs(np.bincount(at, weights=chance - p)).sum()) / n
        held.append(found.ece_low <= error <= found.ece_high)
    assert np.mean(held) > 0.935


def test_units_that_move_all_bins_together_widen_the_interval_of_the_calibration_error():
    # forty units with an item in each of ten bins, of which all or none come true
    p = np.tile(np.linspace(0.55, 0.95, 10), 40)
    unit = np.repeat(np.arange(40), 10)
    came = unit < 24
    apart = calibration(came, p, level=0.95, bins=10)
    found = calibration(came, p, level=0.95, bins=10, unit=unit)
    assert found.ece == apart.ece
    assert found.ece_high - found.ece > 1.5 * (apart.ece_high - apart.ece)
    assert found.ece_low < apart.ece_low


@given(st.lists(st.tuples(st.booleans(), st.integers(0, 8)), min_size=2, max_size=30))
def test_the_parts_of_the_brier_score_add_up(items):
    yes = np.array([item[0] for item in items])
    p = np.array([item[1] / 8 for item in items])
    found = calibration(yes, p, level=0.95, bins=5)
    parts = found.miscalibration - found.discrimination + found.uncertainty
    assert found.brier == pytest.approx(parts)
    if 0 < yes.sum() < len(yes):
        assert found.brier == pytest.approx(brier_score_loss(yes, p))
    assert sum(b.items for b in found.bins) == len(yes)
