"""Tags of tokens in tables, as files that people pass around have them."""

from __future__ import annotations

import pytest

import probative as pv

# the columns and the blanks are those of a file that many have learnt with; the words are ours
KAGGLE = """Sentence #,Word,POS,Tag
Sentence: 1,Ada,NNP,B-per
,Quill,NNP,I-per
,sails,VBZ,O
Sentence: 2,"Low, old",NNP,B-geo
,Haven,NNP,I-geo
,waits,VBZ,O
"""


def test_sentences_whose_number_stands_once(tmp_path):
    gold, system = tmp_path / "gold.csv", tmp_path / "system.csv"
    gold.write_text(KAGGLE)
    system.write_text(KAGGLE.replace("I-geo", "O"))
    result = pv.score(gold, system)
    assert result[0].counts == pv.Counts(1, 1, 1)
    assert result.units == 2
    assert result.scheme == "iob2"
    report = pv.check(gold)
    assert report.facts["sentences"] == 2
    assert report.labels == {"geo": 1, "per": 1}


@pytest.mark.parametrize("task", ["labels"])
def test_parts_of_speech_of_the_same_file(tmp_path, task):
    gold = tmp_path / "gold.csv"
    gold.write_text(KAGGLE)
    result = pv.score(gold, gold, gold_column="POS", columns=["POS"], task=task)
    assert result[0].counts.tp == 6
