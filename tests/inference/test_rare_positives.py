"""Scores of single items in strata, however rare the positive ones."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from probative.inference.rare_positives import (
    ItemStrata,
    Recalibration,
    Totals,
    rare_interval,
    share_limits,
)

GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "rare_positives.json").read_text())
POOL = {
    "sizes": [60_000, 25_000, 10_000, 4_800, 100, 50, 30, 20],
    "labelled": [50, 50, 50, 50, 50, 50, 30, 20],
    "positive": [0, 0, 1, 2, 30, 35, 25, 18],
    "returned": [False] * 4 + [True] * 4,
}
CONFIDENCE = [[0.0005], [0.002], [0.01], [0.03], [0.5], [0.7], [0.85], [0.95]]
PAIRED = [[0, 0], [0, 0], [0, 1], [1, 0], [1, 0], [0, 1], [1, 1], [1, 1]]


def strata_of(case):
    return ItemStrata(
        case["sizes"],
        case["labelled"],
        case["positive"],
        case["returned"],
        [[share] for share in case["confidence"]],
    )


def f1(totals, sizes, returned):
    """Independently of the package."""
    returned = np.asarray(returned, bool)
    tp, fn = totals @ returned, totals @ ~returned
    with np.errstate(invalid="ignore"):
        return 2 * tp / (np.asarray(sizes) @ returned + tp + fn)


@pytest.mark.parametrize("case", GOLDEN["cases"], ids=lambda case: case["name"])
def test_the_posterior_is_that_of_a_fine_grid(case):
    items = strata_of(case)
    nodes = Recalibration(items.labelled, items.positive, items.confidence)
    share = nodes.weight @ (nodes.a / (nodes.a + nodes.b))
    totals = items.positive + (items.sizes - items.labelled) * share
    returned = items.returned[:, 0]
    assert totals @ returned == pytest.approx(case["tp"], rel=1e-3)
    assert totals @ ~returned == pytest.approx(case["fn"], rel=1e-3)
    assert nodes.far == pytest.approx(case["far"], abs=1e-3)
    assert items.contradicted == (case["far"] > 0.5)


@pytest.mark.parametrize("case", GOLDEN["cases"], ids=lambda case: case["name"])
def test_draws_are_those_of_all_totals_of_a_small_pool(case):
    items = strata_of(case)
    drawn = f1(items.drawn, case["sizes"], case["returned"])
    below = [float(np.mean(drawn <= value + 1e-12)) for value in case["f1"]]
    assert below == pytest.approx(case["below"], abs=0.015)  # four standard errors of 20,000
    found = rare_interval(items)
    if not items.contradicted:
        assert f1(items.drawn, case["sizes"], case["returned"]).min() <= found.low
        assert found.low == pytest.approx(case["f1"][0], abs=0.01)
        assert found.high == pytest.approx(case["f1"][-1], abs=0.01)


@pytest.mark.parametrize(("labelled", "positive", "low", "high"), GOLDEN["limits"])
def test_limits_of_shares(labelled, positive, low, high):
    found = share_limits(np.array([float(labelled)]), np.array([float(positive)]), 0.95)
    assert [float(end[0]) for end in found] == pytest.approx([low, high], rel=1e-12)


def mover(sizes, labelled, positive, returned, side):
    """The limit of F1 by halving: where MOVER's limit of the linear form 2·tp - f·(M + G) is 0."""
    sizes, labelled, positive = (np.asarray(x, float) for x in (sizes, labelled, positive))
    returned = np.asarray(returned, bool)
    low, high = share_limits(labelled, positive, 0.95)
    share, rest = positive / labelled, np.sqrt(1 - labelled / sizes)
    least, most = 0.0, 1.0
    for _ in range(60):
        f = (least + most) / 2
        weight = sizes * (2.0 * returned - f)
        up = (weight > 0) == (side == "high")
        reach = weight * rest * np.where(up, high - share, share - low)
        form = weight @ share - f * (sizes @ returned)
        sign = 1 if side == "high" else -1
        inside = (form + sign * np.sqrt((reach**2).sum())) * sign >= 0
        if inside == (side == "high"):
            least = f
        else:
            most = f
    return f


def test_labels_alone_give_the_limits_of_mover():
    alone = rare_interval(ItemStrata(**POOL))
    assert alone.low == pytest.approx(mover(**POOL, side="low"), abs=1e-6)
    assert alone.high == pytest.approx(mover(**POOL, side="high"), abs=1e-6)
    assert (alone.low, alone.high) == alone.alone
    assert alone.notes == ()


@st.composite
def pools(draw, systems=1):
    number = draw(st.integers(2, 6))
    sizes = draw(st.lists(st.integers(1, 5000), min_size=number, max_size=number))
    labelled = [draw(st.integers(1, min(size, 60))) for size in sizes]
    positive = [draw(st.integers(0, n)) for n in labelled]
    returned = [[draw(st.booleans()) for _ in range(systems)] for _ in sizes]
    return sizes, labelled, positive, returned


@settings(max_examples=40, deadline=None)
@given(pools(systems=2), st.integers(0, 2**32 - 1))
def test_no_totals_that_the_labels_allow_lie_outside(pool, seed):
    """Deviations whose parts, measured by the strata's limits, have squares of 1 in all or less."""
    sizes, _, _, returned = (np.asarray(x, float) for x in pool)
    items = ItemStrata(*pool)
    totals = Totals(items, 0.95)
    rng = np.random.default_rng(seed)
    way = rng.standard_normal((2000, len(sizes)))
    way *= rng.choice([1, 0.3, 0.1], (2000, 1)) / np.linalg.norm(way, axis=1, keepdims=True)
    anywhere = totals.estimate + way * np.where(way > 0, totals.above, totals.below)
    anywhere = np.clip(anywhere, 0, sizes)
    values = [f1(anywhere, sizes, column) for column in returned.T]
    low, high = rare_interval(items).alone
    if np.isfinite(values[0]).all():
        assert low - 1e-6 <= values[0].min()
        assert values[0].max() <= high + 1e-6
    difference = rare_interval(items, systems=(0, 1)).alone
    if np.isfinite(values).all():
        apart = values[1] - values[0]
        assert difference[0] - 1e-5 <= apart.min()
        assert apart.max() <= difference[1] + 1e-5


def test_a_difference_that_falls_and_rises_as_more_is_missed():
    """Next to nothing is returned of 100,000 items; few that nobody returned are positive."""
    sizes, labelled = np.array([38.0, 73, 23, 99_866]), np.array([11.0, 73, 23, 293])
    returned = [[True, True], [True, False], [False, True], [False, False]]
    for missed in (0, 1, 2):
        items = ItemStrata(sizes, labelled, [6, 15, 5, missed], returned)
        found = rare_interval(items, systems=(0, 1))
        totals = Totals(items, 0.95)
        angle = np.linspace(0, 2 * np.pi, 721)
        way = np.zeros((721, 200, 4))
        way[..., 0], way[..., 3] = np.cos(angle)[:, None], np.sin(angle)[:, None]
        way *= np.linspace(0, 1, 200)[:, None] ** 2
        ends = totals.estimate + way * np.where(way > 0, totals.above, totals.below)
        a, b = (
            f1(np.clip(ends, 0, sizes).reshape(-1, 4), sizes, own)
            for own in np.array(returned, float).T
        )
        assert found.low == pytest.approx((b - a).min(), abs=1e-4)
        assert found.high == pytest.approx((b - a).max(), abs=1e-4)
        assert found.low <= found.estimate <= found.high


@settings(max_examples=25, deadline=None)
@given(pools(systems=2), st.randoms(use_true_random=False), st.booleans())
def test_neither_the_order_of_strata_nor_that_of_systems_matters(pool, random, finite):
    items = ItemStrata(*pool, finite=finite)
    order = list(range(len(items.sizes)))
    random.shuffle(order)
    other = ItemStrata(*([column[i] for i in order] for column in pool), finite=finite)
    assert rare_interval(other).alone == pytest.approx(rare_interval(items).alone, abs=1e-6)
    ab, ba = rare_interval(items, systems=(0, 1)), rare_interval(items, systems=(1, 0))
    assert ab.alone == pytest.approx([-ba.alone[1], -ba.alone[0]], abs=1e-6, nan_ok=True)


@settings(max_examples=25, deadline=None)
@given(pools(), st.sampled_from(["precision", "recall", "f1", "accuracy", "mcc"]))
def test_limits_hold_the_estimate_and_what_can_be(pool, metric):
    confidence = [[0.3]] * len(pool[0])
    for items in (ItemStrata(*pool), ItemStrata(*pool, confidence, draws=500)):
        found = rare_interval(items, metric)
        if np.isnan(found.estimate):
            continue
        lowest = -1 if metric == "mcc" else 0
        values = (lowest, found.low, found.estimate, found.high, 1)
        assert all(a <= b + 1e-9 for a, b in pairwise(values))


def test_nothing_is_open_where_everything_is_labelled():
    sizes, positive = [40, 60], [30, 6]
    for confidence in (None, [[0.7], [0.1]]):
        items = ItemStrata(sizes, sizes, positive, [True, False], confidence)
        found = rare_interval(items)
        assert found.low == pytest.approx(60 / 76) == pytest.approx(found.high)
        beyond = rare_interval(
            ItemStrata(sizes, sizes, positive, [True, False], confidence, finite=False)
        )
        assert beyond.low < 60 / 76 < beyond.high


def test_confidences_narrow_the_limits_and_a_note_says_so():
    pool = [200, 1000, 50_000], [100] * 3, [70, 3, 0], [True, False, False]
    sure = rare_interval(ItemStrata(*pool, [[0.7], [0.03], [1e-5]]))
    low, high = sure.alone
    assert high - low > 2 * (sure.high - sure.low)
    (note,) = sure.notes
    assert note.endswith(f"labels alone give {low:.4f} to {high:.4f}")


def test_confidences_that_contradict_the_labels_are_not_listened_to():
    upside_down = CONFIDENCE[::-1]
    found = rare_interval(ItemStrata(**POOL, confidence=upside_down))
    assert (found.low, found.high) == found.alone == rare_interval(ItemStrata(**POOL)).alone
    assert "do not fit the labels" in found.notes[0]


def test_bold_confidences_are_recalibrated():
    """Where doubtful items are positive more often than was said, so may the others be."""
    labels = {"sizes": [100_000, 500, 500], "labelled": [100, 100, 100]}
    said = [[1e-6], [0.02], [0.98]]
    right = ItemStrata(**labels, positive=[0, 2, 98], returned=[0, 0, 1], confidence=said)
    bold = ItemStrata(**labels, positive=[0, 15, 85], returned=[0, 0, 1], confidence=said)
    expected = [
        x.recalibration.weight @ (x.recalibration.a / (x.recalibration.a + x.recalibration.b))[:, 0]
        for x in (right, bold)
    ]
    assert expected[1] > 10 * expected[0]


def test_the_difference_and_its_sign():
    pool = POOL | {"returned": PAIRED}
    for confidence in (None, CONFIDENCE):
        found = rare_interval(ItemStrata(**pool, confidence=confidence), systems=(0, 1))
        assert found.low < found.estimate < found.high
    same = rare_interval(ItemStrata(**pool), systems=(1, 1))
    assert (same.low, same.high) == (0, 0)


def test_scores_that_are_undefined_leave_everything_open():
    nothing = ItemStrata([10, 500], [10, 50], [0, 0], [True, False])
    assert rare_interval(nothing, "recall").alone == (0, 1)
    assert rare_interval(nothing, "f1").low == 0
    for confidence in (None, [[0.1]]):
        none = rare_interval(ItemStrata([5], [5], [0], [False], confidence))
        assert np.isnan(none.estimate)
        assert (none.low, none.high) == (0, 1)
    nobody = ItemStrata([500], [50], [3], [False])
    assert rare_interval(nobody, "precision").alone == (0, 1)
    assert (rare_interval(nobody).low, rare_interval(nobody).high) == (0, 0)


def test_strata_with_several_answers_are_parted():
    stratum = [0] * 6 + [1] * 4
    returned = [[1, 1, 0, 0, 0, 0, 1, 1, 1, 1], [1, 0, 0, 0, 0, 0, 1, 1, 1, 1]]
    confidence = np.arange(10) / 10
    items = ItemStrata.of_items(stratum, returned, [1, 2, 3, 8], [1, 0, 1, 1], confidence)
    assert items.sizes.tolist() == [4, 1, 1, 4]
    assert items.labelled.tolist() == [2, 1, 0, 1]
    assert items.positive.tolist() == [1, 1, 0, 1]
    assert items.returned.tolist() == [[False, False], [True, False], [True, True], [True, True]]
    assert [own.tolist() for own in items.confidence] == [
        [0.2, 0.3, 0.4, 0.5],
        [0.1],
        [0.0],
        [0.6, 0.7, 0.8, 0.9],
    ]
    # of the third nothing is known but that both systems return it, as they return the fourth
    assert items.shares.tolist() == [0.5, 1, 1, 1]
    found = rare_interval(items)
    assert 0 <= found.low < found.high <= 1
    alone = rare_interval(ItemStrata.of_items(stratum, returned, [1, 2, 3, 8], [1, 0, 1, 1]))
    assert alone.alone == found.alone


def test_strata_without_labels_leave_everything_open_in_them():
    known = [100, 1000], [50, 50], [40, 2], [True, False]
    unknown = [100, 1000, 100], [50, 50, 0], [40, 2, 0], [True, False, False]
    shares = ItemStrata(*unknown).shares
    assert shares.tolist() == [0.8, 0.04, 0.04]
    assert rare_interval(ItemStrata(*unknown)).low < rare_interval(ItemStrata(*known)).low


@pytest.mark.slow
def test_few_positives_in_a_large_pool_are_covered():
    """Bold confidences, a prevalence of 0.002, 400 labels: normal limits cover about 0.8."""
    from probative_studies.annotation import ItemQuestion, make_items

    rng = np.random.default_rng(5)
    samples = []
    for _ in range(5):
        pool = make_items(rng, 0.002, 6.0, "bold")
        question = ItemQuestion(pool, "score", 400, by_confidence=True, random=False)
        samples += [question.annotate(0.95, rng) for _ in range(12)]
    assert np.mean([one.held for one in samples]) > 0.88
    assert np.mean([one.normal for one in samples]) < 0.85
