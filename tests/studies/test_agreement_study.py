"""The studies of agreement and of overlap."""

from __future__ import annotations

import json

import numpy as np
import pytest

from probative.cli import main
from probative.inference.agreement import doubt
from probative.metrics import score
from probative_studies import kinds


def test_intervals_of_agreement_cover():
    condition = kinds.Corpus(100, 2, 3, 0.1)
    alpha, kappa = kinds.agreement_study([condition], replicates=100, rng=1)
    assert (alpha.coefficient, kappa.coefficient) == ("alpha", "kappa")
    assert alpha.value == pytest.approx(kappa.value, abs=1e-4)
    assert min(alpha.covered, kappa.covered) > 0.87


def test_where_next_to_nothing_is_in_dispute_a_note_says_so():
    condition = kinds.Corpus(100, 2, 2, 0.01)
    for found in kinds.agreement_study([condition], replicates=40, rng=1):
        assert found.noted > 0.6  # full agreement has no note
    disputed = np.arange(200) < 3
    assert doubt(disputed).startswith("3 items in dispute")
    assert doubt(disputed, np.arange(200) // 100).startswith("1 unit in dispute")
    assert doubt(np.arange(200) < 5) is None
    assert doubt(np.arange(20) < 3) is None  # few, but not rare


def test_intervals_of_spans_found_in_part_cover():
    condition = kinds.Sentences(50, 1.0, 0.6, 0.3)
    (found,) = kinds.overlap_study([condition], replicates=60, rng=1)
    assert found.covered > 0.87
    large = condition.draw(np.random.default_rng(9), 100_000).sum()
    assert found.f1 == pytest.approx(score(large, "f1"), abs=0.01)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "study"),
    [("agreement", kinds.agreement_study), ("overlap", kinds.overlap_study)],
)
def test_the_commands_print_what_the_studies_found(name, study, capsys):
    assert main(["study", name, "--replicates", "2", "--seed", "3", "-q", "-f", "json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    expected = [one.to_dict() for one in study(replicates=2, rng=3)]
    assert printed["conditions"] == json.loads(json.dumps(expected))
