"""The study of gates."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

import probative as pv
from probative.errors import InputError
from probative.inference.posterior.student import posterior_of_difference
from probative.jobs.gate import GATES
from probative_studies.clusters import Condition, case_shares, draw
from probative_studies.gates import GateErrors, gate_study, probability_above


def test_draws_say_what_the_posterior_says():
    rng = np.random.default_rng(5)
    for sizes, gap, threshold in (("equal", 0.0, 0.0), ("zipf", 0.02, 0.02), ("equal", 0.0, -0.02)):
        condition = Condition("difference", units=15, sizes=sizes, gap=gap)
        paired = pv.PairedCounts(draw(rng, condition, case_shares(condition)))
        exact = posterior_of_difference(paired, "f1").sf(threshold)
        # a sixteenth of the draws settles what is far from any gate: a standard error of 0.0025
        assert probability_above(paired, threshold, 640_000, rng) == pytest.approx(exact, abs=0.01)
    one = pv.PairedCounts([[0, 0, 3, 0, 9, 0, 0]])
    assert math.isnan(probability_above(one, 0.0, 100, rng))


def test_gates_err_as_rarely_as_they_promise():
    for found in gate_study(margins=[0.02], units=[20], sizes=["lognormal"], replicates=300):
        assert found.error == ("false fail" if found.gate == "fail-if-worse" else "false pass")
        assert found.holds, str(found)


def test_gates_that_ignore_documents_err_too_often(monkeypatch):
    from probative.inference.units import Dependence
    from probative_studies import gates

    items = Dependence(1.0, 1.0, 1e9, 20)
    monkeypatch.setattr(gates, "dependence_of_difference", lambda paired, metric: items)
    for found in gate_study(margins=[0.0], units=[20], sizes=["equal"], replicates=200):
        assert not found.holds


def test_the_study_is_repeatable_and_checks_its_input():
    once, again = (
        gate_study(["require-better"], [0.0], [10], ["zipf"], replicates=50, rng=4)
        for _ in range(2)
    )
    assert once[0].to_dict() == again[0].to_dict()
    with pytest.raises(InputError, match=r"margins: 0\.9 is too large for this study"):
        gate_study(margins=[0.9], replicates=1)
    with pytest.raises(InputError, match=r"confidence: 0\.5 is below 0\.9"):
        gate_study(confidence=0.5, replicates=1)
    with pytest.raises(InputError, match="margins: 2 is not below 1"):
        gate_study(margins=[2], replicates=1)
    tight = {"confidence": 0.95, "share": 0.07}
    assert GateErrors(**tight, replicates=100).holds  # within three standard errors of so few
    assert not GateErrors(**tight, replicates=2000).holds


def test_the_command(run):
    answer = json.loads(run("study", "gates", "--replicates", 2, "-f", "json").out)
    assert answer["command"] == "study gates"
    assert len(answer["conditions"]) == len(GATES) * 2 * 3 * 4
    assert {"gate", "error", "margin", "sizes", "units", "share"} <= answer["conditions"][0].keys()
