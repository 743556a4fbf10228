"""The study of records."""

from __future__ import annotations

import json

import numpy as np
import pytest

from probative.cli import main
from probative_studies import kinds


def test_documents_are_drawn_with_all_their_fields():
    condition = kinds.Documents(200, 0.05)
    every, alone = condition.draw(np.random.default_rng(1), 200, (0.9, 0.93))
    assert len(every.cases) == len(alone.cases) == 200
    in_gold = every.cases[:, ::2].sum(axis=1)
    assert in_gold.min() >= 8
    assert ((in_gold - 8) % 4 == 0).all()
    assert (alone.cases[:, ::2].sum(axis=1) == 1).all()
    assert (every.b.tp >= alone.b.tp).all()


def test_a_malformed_output_returns_nothing():
    every, _ = kinds.Documents(50, 1.0).draw(np.random.default_rng(1), 50, (0.9, 0.93))
    assert not every.a.tp.any()
    assert not every.a.fp.any()


def test_intervals_by_document_cover_more_often_than_by_field():
    found = kinds.record_study([kinds.Documents(100, 0.05)], replicates=40, rng=1)
    by_question = {one.question: one for one in found}
    assert list(by_question) == ["F1", "F1 of a field", "difference", "test"]
    for name in ("F1", "difference"):
        assert by_question[name].by_document > 0.85 > by_question[name].by_field
    assert by_question["test"].by_document < 0.15 < by_question["test"].by_field


@pytest.mark.slow
def test_the_command_prints_what_the_study_found(capsys):
    assert main(["study", "records", "--replicates", "2", "--seed", "3", "-q", "-f", "json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    expected = [one.to_dict() for one in kinds.record_study(replicates=2, rng=3)]
    assert printed["conditions"] == json.loads(json.dumps(expected))
