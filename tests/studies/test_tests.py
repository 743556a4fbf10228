"""The study of size and power."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

import probative as pv
from probative.inference.units import dependence_of_difference
from probative_studies.tests import (
    METHODS,
    _TestSet,
    case_probabilities,
    clustered_cases,
    size_and_power,
)

FAST = ("item-test", "unit-test", "mover", "mover-items")


@pytest.mark.parametrize("true", [0.0, 0.03, -0.05])
def test_case_probabilities_have_the_difference_that_was_asked_for(true):
    shares = case_probabilities(true)
    assert shares.sum() == pytest.approx(1)
    assert np.all(shares >= 0)
    assert pv.difference(pv.PairedCounts(1000 * shares)).estimate == pytest.approx(true, abs=1e-12)


@pytest.mark.parametrize("correlation", [0.0, 0.25, 0.7])
def test_items_of_a_sentence_have_the_correlation_that_was_asked_for(correlation):
    """With m items per sentence the design effect is 1 + (E[m²]/E[m] - 1)·r."""
    rng = np.random.default_rng(1)
    paired = clustered_cases(rng, 20_000, correlation, items=4.0)
    sizes = paired.cases.sum(axis=1)
    assert sizes.min() >= 1
    assert sizes.mean() == pytest.approx(4, abs=0.05)
    expected = 1 + ((sizes**2).mean() / sizes.mean() - 1) * correlation
    assert dependence_of_difference(paired).design_effect == pytest.approx(expected, rel=0.05)


@pytest.mark.slow
def test_the_test_by_item_fails_as_the_correlation_grows_and_the_one_by_unit_does_not():
    study = size_and_power([0.0, 0.6], [0.0], FAST, units=100, replicates=300, rng=2)
    size = {(r.method, r.correlation): r for r in study}
    for method in FAST:
        assert abs(size[method, 0.0].rejection - 0.05) < 4 * 0.0126
    for method in ("unit-test", "mover"):
        assert abs(size[method, 0.6].rejection - 0.05) < 4 * 0.0126
    for method in ("item-test", "mover-items"):
        assert size[method, 0.6].rejection > 0.2
    assert size["mover", 0.6].coverage == 1 - size["mover", 0.6].rejection
    assert size["mover", 0.6].length > 1.3 * size["mover-items", 0.6].length
    assert not hasattr(size["item-test", 0.0], "coverage")


def test_power_grows_with_the_difference_and_the_units():
    def power(true, units):
        found = size_and_power([0.1], [true], ["unit-test"], units=units, replicates=60, rng=3)
        return found[0].rejection

    assert power(0.01, 100) < power(0.05, 100) <= power(0.05, 400)


def test_a_condition_does_not_depend_on_its_company():
    alone = size_and_power([0.2], [0.03], ["mover"], units=50, replicates=30, rng=4)
    among = size_and_power([0.0, 0.2], [0.0, 0.03], ["mover"], units=50, replicates=30, rng=4)
    assert alone[0].to_dict() == among[-1].to_dict()
    other = size_and_power([0.2], [0.03], ["mover"], units=50, replicates=30, rng=5)
    assert other[0].length != alone[0].length


def test_standard_errors_and_words():
    (found,) = size_and_power([0.2], [0.05], ["mover"], units=50, replicates=40)
    p = found.rejection
    assert found.rejection_error == pytest.approx(math.sqrt(p * (1 - p) / 40))
    assert str(found).startswith("method mover, level 0.9")


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ({"correlations": [1.0]}, "correlations"),
        ({"correlations": [-0.1]}, "correlations"),
        ({"differences": [0.5]}, "differences"),
        ({"methods": ["t-test"]}, "methods"),
        ({"units": 0}, "units"),
        ({"items": 0.5}, "items"),
        ({"replicates": 0}, "replicates"),
        ({"level": 1.0}, "level"),
    ],
)
def test_bad_arguments_are_named(arguments, named):
    with pytest.raises(ValueError, match=f"^{named}: "):
        size_and_power(**arguments)


def test_command_prints_tables_json_and_a_figure(run, tmp_path):
    words = ["study", "tests", "--replicates", 20, "--units", 40, "--method", "unit-test,mover"]
    words += ["--correlation", "0,0.5", "--seed", 6]
    text = run(*words).out
    assert "Share of rejections at 0.05" in text
    assert "Coverage of 0.95 intervals" in text
    figure = tmp_path / "tests.png"
    content = json.loads(run(*words, "--format", "json", "--figure", figure).out)
    assert content["command"] == "study tests"
    assert "seed:6" in content["signature"]
    assert len(content["conditions"]) == 2 * 2 * 2
    assert "coverage" not in content["conditions"][0]
    assert figure.read_bytes().startswith(b"\x89PNG")
    lines = run(*words, "--format", "csv").out.splitlines()
    assert len(lines) == 9


def test_command_refuses_bad_values(refused):
    assert refused("study", "tests", "--correlation", "x").startswith(
        "probative study tests: '--correlation': "
    )
    assert "--method: unknown 'f-test'" in refused("study", "tests", "--method", "f-test")


def test_every_method_is_offered_by_the_command(run):
    assert all(method in run("study", "tests", "--help").out for method in METHODS)


def test_drawn_posterior_is_the_paired_posterior():
    """The study draws what `difference` integrates."""
    paired = clustered_cases(np.random.default_rng(7), 150, 0.3)
    drawn = _TestSet(paired, 0.9, 200_000, np.random.default_rng(8))
    for limits, exact in (
        (
            drawn.posterior(dependence_of_difference(paired, "f1")),
            pv.difference(paired, "f1", method="bayes", level=0.9),
        ),
        (drawn.posterior(), pv.difference(paired.total(), "f1", method="bayes", level=0.9)),
    ):
        assert limits == pytest.approx((exact.low, exact.high), abs=0.0005)
