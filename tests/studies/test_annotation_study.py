"""The study of annotating less."""

from __future__ import annotations

import json

import numpy as np
import pytest

from probative.cli import main
from probative.counts import Counts
from probative.errors import InputError
from probative.metrics import f1
from probative.surveys.sampling import sample
from probative_studies.annotation import (
    KINDS,
    ItemQuestion,
    annotation_study,
    make_items,
    read_units,
)

GOLD = """Ann B-PER\nLee I-PER\nsaw O\nYork B-LOC\n\nthe O\nLee B-ORG\n\n"""
KNOWN_A = """Ann B-PER\nLee I-PER\n\nYork B-PER\n\nYork B-LOC\n\nYork B-LOC\n\n"""
KNOWN_B = """Lee B-ORG\n\n"""


@pytest.fixture
def files(tmp_path):
    found = {}
    for name, text in (("gold", GOLD), ("a", KNOWN_A), ("b", KNOWN_B)):
        found[name] = tmp_path / f"{name}.conll"
        found[name].write_text(text, encoding="utf-8")
    return found


def test_taggers_take_the_longest_name_that_they_know(files):
    pool = read_units(files["gold"], names=[files["a"], files["b"]])
    assert pool.pool.n_units == 2
    a, b = pool.counts
    # A knows "Ann Lee" and, mostly, York as a place; B takes every Lee for an organisation
    assert (a.tp.tolist(), a.fp.tolist(), a.fn.tolist()) == ([2, 0], [0, 0], [0, 1])
    assert (b.tp.tolist(), b.fp.tolist(), b.fn.tolist()) == ([0, 1], [1, 0], [2, 0])
    assert pool.judges["nonsense"][0].sum() == a.sum()


def test_what_makes_no_pool_is_refused(files):
    with pytest.raises(InputError, match="1, and 0 files of names; expected three systems"):
        read_units(files["gold"], [files["a"]])
    with pytest.raises(InputError, match="0, and 0 files of names"):
        read_units(files["gold"])
    with pytest.raises(InputError, match="gold: missing"):
        annotation_study(systems=["a", "b", "c"])
    with pytest.raises(InputError, match="sizes: 200 labels; expected less than the 150 there are"):
        annotation_study(sizes=[50, 200], items=150)
    with pytest.raises(InputError, match="sizes: 40 labels; expected less than the 2 there are"):
        annotation_study(files["gold"], names=[files["a"], files["b"]], sizes=[40])
    with pytest.raises(InputError, match=r"sure.*calibrated"):
        annotation_study(kinds=["sure"])


@pytest.mark.parametrize("kind", KINDS)
def test_items_are_as_rare_as_they_should_be(kind):
    pool = make_items(np.random.default_rng(0), 0.02, 3.0, kind, 50_000)
    assert pool.positive.mean() == pytest.approx(0.02, abs=0.003)
    said = 1 / (1 + np.exp(-pool.confidence))
    if kind in ("calibrated", "none"):
        assert said.mean() == pytest.approx(pool.positive.mean(), abs=0.003)
    if kind == "nonsense":
        assert said[pool.positive].mean() == pytest.approx(said.mean(), abs=0.01)
    elif kind != "blind":
        assert said[pool.positive].mean() > 5 * said.mean()


@pytest.mark.parametrize("question", ["score", "difference"])
def test_labels_are_placed_as_a_sample_places_them(question):
    pool = make_items(np.random.default_rng(0), 0.02, 3.0, "calibrated", 20_000)
    asked = ItemQuestion(pool, question, 100, by_confidence=True, random=False)
    systems = (0, 1) if question == "difference" else (0,)
    outputs = [pool.returned[system].astype(int) for system in systems]
    chance = 1 / (1 + np.exp(-pool.confidence))
    drawn = sample(None, *outputs, size=100, goal=question, positive="1", scores=chance)
    assert asked.drawn.tolist() == [stratum.drawn for stratum in drawn.strata]
    layers = np.bincount(asked.layer, weights=asked.sizes)
    assert layers.tolist() == [stratum.size for stratum in drawn.strata]
    for number in range(len(asked.sizes)):
        mine = asked.part == number
        for column, system in enumerate(systems):
            assert np.all(pool.returned[system][mine] == asked.returned[number, column])
    counts = [
        Counts(
            np.sum(pool.positive & returned),
            np.sum(~pool.positive & returned),
            np.sum(pool.positive & ~returned),
        )
        for returned in pool.returned
    ]
    scores = [f1(own) for own in counts]
    truth = scores[1] - scores[0] if question == "difference" else scores[0]
    assert asked.truth == pytest.approx(truth)
    labelled = asked.label(np.random.default_rng(1)).labelled
    assert np.bincount(asked.layer, weights=labelled).tolist() == asked.drawn.tolist()


@pytest.mark.slow
def test_placed_labels_are_worth_more_and_cover():
    found = annotation_study(
        sizes=(200,), prevalences=(0.02,), kinds=("calibrated",), items=20_000, replicates=12, rng=1
    )
    assert [(one.question, one.placement) for one in found[:4]] == [
        ("score", "random"),
        ("score", "by confidence"),
        ("difference", "random"),
        ("difference", "by confidence"),
    ]
    for random, placed in zip(found[::2], found[1::2], strict=True):
        assert random.worth == pytest.approx(200)
        assert placed.worth > 400
        assert placed.coverage > 0.7
        assert placed.width < random.width


@pytest.mark.slow
def test_placed_by_dispute_on_the_shared_task(shared):
    """METHODS: 0.156 wide with 200 random sentences, 0.077 with 200 placed by dispute."""
    data = shared / "data" / "wnut17"
    systems = [
        data / "submissions" / name for name in ("spinningbytes.txt", "uh_ritual", "sjtu_adapt.txt")
    ]
    found = annotation_study(
        data / "emerging.test.annotated", systems, sizes=(200,), replicates=60, rng=1
    )
    difference = {(one.placement, one.help): one for one in found if one.question == "difference"}
    random, placed = difference["random", "no judge"], difference["disputed", "no judge"]
    assert random.truth == pytest.approx(0.0109, abs=1e-4)
    assert 0.13 < random.width < 0.16
    assert 0.06 < placed.width < 0.08
    assert min(random.coverage, placed.coverage) > 0.85
    # a good judge helps, one that talks nonsense does no harm
    assert difference["disputed", "good"].width < 0.7 * placed.width
    assert difference["disputed", "nonsense"].width == pytest.approx(placed.width, rel=0.1)
    assert difference["random", "nonsense"].coverage > 0.85


@pytest.mark.slow
def test_the_command_prints_what_the_study_found(capsys):
    words = "study annotation --n 50 --prevalence 0.1 --confidence timid --items 1000"
    assert main([*words.split(), "--replicates", "3", "-q", "-f", "json", "--seed", "4"]) == 0
    printed = json.loads(capsys.readouterr().out)
    found = annotation_study(
        sizes=[50], prevalences=[0.1], kinds=["timid"], items=1000, replicates=3, rng=4
    )
    assert printed["conditions"] == [one.to_dict() for one in found]
    assert printed["command"] == "study annotation"


def test_the_command_reads_a_pool(files, capsys):
    big = files["gold"].with_name("big.conll")
    big.write_text(GOLD * 40, encoding="utf-8")
    words = ["study", "annotation", "--gold", str(big), "--n", "40", "--replicates", "3"]
    words += ["--names", str(files["a"]), "--names", str(files["b"])]
    assert main([*words, "-q", "-f", "json"]) == 0
    printed = json.loads(capsys.readouterr().out)["conditions"]
    assert {row["pool"] for row in printed} == {"big"}
    assert {row["help"] for row in printed} == {"no judge", "good", "nonsense"}
