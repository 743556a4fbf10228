"""Units are parted by what the systems return."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import probative as pv
from probative.errors import InputError
from probative.inference.stratified import allocate, sampling_variance
from probative.options import ReadingOptions
from probative.surveys import strata
from probative.surveys.pool import read_pool
from probative.surveys.strata import LEAST, Expected, draw_numbers, layers_of

SYSTEMS = ("spinningbytes.txt", "uh_ritual")


def names_and_sizes(drawn):
    return [(stratum.name, stratum.size) for stratum in drawn.strata]


def test_strata_of_wnut17(shared):
    """The sizes that the method was measured with."""
    files = [shared / "data/wnut17/submissions" / name for name in SYSTEMS]
    drawn = pv.sample(None, *files, size=200)
    assert [stratum.size for stratum in drawn.strata] == [675, 172, 233, 140, 67]
    assert drawn.worth > 500
    assert drawn.width / drawn.random_width == pytest.approx(0.077 / 0.156, abs=0.02)


def test_scores_count_a_little_beside_a_difference(shared):
    """More sentences in which nothing is returned, and hardly less of the difference."""
    files = [shared / "data/wnut17/submissions" / name for name in SYSTEMS]
    design = pv.sample(None, *files, size=200).design
    assert [own.drawn for own in design.strata] == [10, 12, 77, 61, 40]
    sizes = [own.size for own in design.strata]
    spreads = [own.spread for own in design.strata]
    drawn, alone = [own.drawn for own in design.strata], allocate(sizes, spreads, 200, 5)
    cost = [sampling_variance(sizes, spreads, numbers) for numbers in (drawn, alone)]
    assert 1 < cost[0] / cost[1] < 1.07


def test_disputes_of_two_systems():
    a = [["O", "O", "O"], ["B-X", "O", "O"], ["B-X", "O", "O"], ["B-X", "B-Y", "B-X"]] * 10
    b = [["O", "O", "O"], ["B-X", "O", "O"], ["O", "O", "B-X"], ["O", "O", "O"]] * 10
    assert names_and_sizes(pv.sample(None, a, b, size=40)) == [
        ("nothing returned", 10),
        ("agreed items only", 10),
        ("2 items in dispute", 10),
        ("3 or more items in dispute", 10),
    ]


def test_items_returned_by_one_system():
    a = [["O", "O"], ["B-X", "O"], ["B-X", "B-X"]] * 10
    drawn = pv.sample(None, a, size=30)
    assert drawn.goal == "score"
    assert [name for name, _ in names_and_sizes(drawn)] == [
        "nothing returned",
        "1 item returned",
        "2 items returned",
    ]


def test_patterns_of_single_items_and_their_mirror_images():
    a = ["1", "1", "0", "0"] * 20
    b = ["1", "0", "1", "0"] * 20
    drawn = pv.sample(None, {"old": a, "new": b}, size=40)
    assert drawn.unit == "item"
    assert [name for name, _ in names_and_sizes(drawn)] == [
        "both say yes",
        "only old says yes",
        "only new says yes",
        "none says yes",
    ]
    _, one, other, _ = drawn.design.strata
    assert one.key == other.key
    assert one.drawn == other.drawn


def test_mirror_images_of_other_sizes_get_the_same_share():
    sizes, spreads = [400, 100, 300], [0.5, 0.6, 0.5]
    drawn, _ = draw_numbers(["x", "y", "y"], sizes, spreads, 80)
    assert drawn.sum() == 80
    assert drawn[1] / 100 == pytest.approx(drawn[2] / 300, abs=0.01)
    apart, _ = draw_numbers(["x", "y", "y"], sizes, [0.5, 3.0, 0.1], 80)
    assert apart[1] / 100 > 2 * apart[2] / 300  # where equal shares would cost too much


def test_confidence_is_cut_where_the_sums_are_equal():
    rng = np.random.default_rng(1)
    p = rng.uniform(0.001, 0.999, 4000)
    labels = np.where(p > 0.5, "yes", "no").tolist()
    pool = read_pool([labels], reading=ReadingOptions(positive="yes"), scores=p)
    layers = layers_of(pool, Expected(pool, "score"), 400)
    assert len(layers) == 8
    sums = [np.sqrt(p[own.units] * (1 - p[own.units])).sum() for own in layers]
    for four in (sums[:4], sums[4:]):
        assert max(four) == pytest.approx(min(four), rel=0.02)
    assert all("p 0." in own.name for own in layers)
    ends = [(p[own.units].min(), p[own.units].max()) for own in layers[:4]]
    assert all(high <= low for (_, high), (low, _) in itertools.pairwise(ends))


def test_equal_confidences_stay_together():
    labels = ["1", "0"] * 100
    pool = read_pool([labels], reading=ReadingOptions(), scores=[0.5] * 200)
    assert [own.name for own in layers_of(pool, Expected(pool, "score"), 100)] == [
        "yes, p 0.5",
        "no, p 0.5",
    ]


@settings(max_examples=60)
@given(
    st.lists(
        st.tuples(st.sampled_from("01"), st.sampled_from("01"), st.floats(0, 1)),
        min_size=2,
        max_size=80,
    ),
    st.data(),
)
def test_every_unit_is_in_one_stratum_of_enough(rows, data):
    a, b, p = (list(column) for column in zip(*rows, strict=True))
    if len({*a, *b}) < 2:
        a[0], b[0] = "0", "1"
    size = data.draw(st.integers(2, len(rows)))
    drawn = pv.sample(None, a, b, size=size, scores=p)
    design = drawn.design
    assert sorted(np.concatenate(design.order).tolist()) == list(range(len(rows)))
    assert design.size == size
    assert all(0 <= own.drawn <= own.size for own in design.strata)
    least = min(LEAST, max(1, size // len(design.strata)))
    assert all(own.drawn >= min(least, own.size) for own in design.strata)
    assert len(design.strata) <= max(1, size // 10)


def test_documents_are_units(write):
    text = "-DOCSTART- O\n\nAda {}\nran O\n\nso O\n\n-DOCSTART- O\n\nBob O\n\n" * 6
    a, b = write(text.format(*["B-PER"] * 6), "a.conll"), write(text.format(*["O"] * 6), "b.conll")
    drawn = pv.sample(None, a, b, size=6, by="document")
    assert (drawn.unit, drawn.pool) == ("document", 12)
    with pytest.raises(InputError, match="by: 'item' is no unit of these outputs; expected 'sen"):
        pv.sample(None, a, b, size=6, by="item")


def test_more_than_two_systems():
    a, b, c = ["1", "0", "0", "0"] * 30, ["1", "1", "0", "0"] * 30, ["1", "1", "1", "0"] * 30
    drawn = pv.sample(None, a, b, c, size=60)
    assert [own.name for own in drawn.strata] == [
        "all 3 say yes",
        "2 of 3 say yes",
        "1 of 3 say yes",
        "none says yes",
    ]
    assert drawn.goal == "difference"


def test_classes_are_in_dispute_or_not():
    a, b = ["x", "y", "z", "x"] * 20, ["x", "y", "y", "x"] * 20
    drawn = pv.sample(None, a, b, size=30)
    assert names_and_sizes(drawn) == [("same label", 60), ("2 different labels", 20)]
    assert drawn.strata[1].drawn > drawn.strata[0].drawn


def test_evidence_moves_the_sample():
    """Where a pilot shows that agreed items are never wrong, fewer of them are drawn."""
    a = [["B-X", "O"], ["O", "O"], ["O", "B-X"]] * 60
    blind = pv.sample(None, a, size=60)
    numbers = list(range(90))
    gold = [a[i] for i in numbers]
    informed = pv.sample(None, a, size=60, pilot=(numbers, gold))
    assert informed.strata[1].why == "pilot"
    assert informed.strata[1].spread < blind.strata[1].spread


def test_a_judge_tells_where_units_differ():
    a = [["B-X", "O"], ["O", "O"]] * 100
    judge = [["B-X", "O"], ["O", "O"], ["O", "O"], ["O", "O"]] * 50
    drawn = pv.sample(None, a, size=40, judge=judge)
    assert drawn.strata[1].why == "judge"
    # half of what is returned is right in the judge's eyes: e is (1 - F/2) tp, and F 2/3
    assert drawn.strata[1].spread == pytest.approx(0.5 * (1 - 1 / 3), abs=0.01)


def long_units(numbers):
    """Two outputs in units of so many disputes: B returns each, A none of them, both one more."""
    a = [["B-X", *["O"] * (2 * n)] for n in numbers]
    b = [["B-X", *["O", "B-X"] * n] for n in numbers]
    return a, b


SHORT_AND_LONG = [4, 5, 6] * 20 + [40, 45, 50] * 4


def test_long_units_are_parted_by_how_many_items_are_in_dispute():
    """All have three or more: what they differ in is how many more."""
    a, b = long_units(SHORT_AND_LONG)
    drawn = pv.sample(None, a, b, size=30)
    assert names_and_sizes(drawn) == [
        ("4 to 6 items in dispute", 60),
        ("40 or more items in dispute", 12),
    ]
    assert drawn.strata[1].drawn > 9
    assert drawn.worth > 50
    few = pv.sample(None, *long_units([*[4, 5, 6] * 20, *[80] * 5]), size=15)
    assert names_and_sizes(few)[1:] == [("80 or more items in dispute", 5)]
    numbers = names_and_sizes(pv.sample(None, b, size=30))  # one more is returned than disputed
    assert numbers == [("5 to 7 items returned", 60), ("41 or more items returned", 12)]


def test_long_units_of_labels_are_parted(write):
    rows = [f"{i},{x}\n" for i, n in enumerate(SHORT_AND_LONG) for _ in range(n) for x in "xyz"]
    table = write("unit,label\n" + "".join(rows), "labels.csv")
    drawn = pv.sample(None, table, size=30, unit_column="unit")
    assert drawn.pool == len(SHORT_AND_LONG)
    assert names_and_sizes(drawn)[-1] == ("120 or more items labelled", 12)


@pytest.mark.parametrize("numbers", [[6] * 60, [5, 6, 7, 8] * 15, [*[1] * 8, *[6, 7, 8] * 18]])
def test_long_units_that_hardly_differ_stay_together(numbers):
    """Few labels tell less of each part, and no stratum that says little takes five of them."""
    drawn = pv.sample(None, *long_units(numbers), size=20)
    assert [own.size for own in drawn.strata] == [len(numbers)]


def test_a_design_from_before_long_units_were_parted_is_extended(monkeypatch):
    a, b = long_units(SHORT_AND_LONG)
    with monkeypatch.context() as patched:
        patched.setattr(strata, "_has_long_units", lambda *_: False)
        before = pv.sample(None, a, b, size=30)
    after = pv.sample(before.design, a, b, add=10)
    assert names_and_sizes(before) == names_and_sizes(after) == [("3 or more items in dispute", 72)]
    parted = pv.sample(None, a, b, size=30)
    more = pv.sample(parted.design, a, b, add=10)
    assert names_and_sizes(more) == names_and_sizes(parted)
    assert set(parted.units) < set(more.design.units.number.tolist())
