from __future__ import annotations

import json

import pytest

import probative as pv
from probative.data import load
from probative.matching.schemes import encode
from probative_studies.chunking import TAG_SETS, chunking_study

pytest.importorskip("pycrfsuite", reason="python-crfsuite is not installed")
FAST = {"max_iterations": 8, "window": 1, "ngrams": (1,)}


def conll2003(path, scheme, n=40):
    """Four columns: word, part of speech, chunk, entity."""
    lines = ["-DOCSTART- -X- -X- O\n\n"]
    for i in range(n):
        words = [f"Acme{i % 5}", "Inc", f"Rome{i % 3}", "said", f"Bob{i % 4}"]
        spans = [(0, 2, "ORG"), (2, 3, "LOC"), (4, 5, "PER")]
        tags = encode(spans, 5, scheme=scheme)
        rows = zip(words, ("NNP", "NNP", "NNP", "VBD", "NNP"), tags, strict=True)
        lines += [f"{word} {pos} I-NP {tag}\n" for word, pos, tag in rows] + ["\n"]
    path.write_text("".join(lines))
    return path


@pytest.fixture
def pku(tmp_path):
    path = tmp_path / "pku_training.utf8"
    lines = (f"迈向  充满  希望  的  新{'世纪' * (1 + i % 3)}  {i % 5}\n" for i in range(40))
    path.write_text("".join(lines))
    return path


def test_three_tasks_with_the_paper_s_tag_sets(tmp_path, pku):
    results = chunking_study(
        cws=[pku], ner=[conll2003(tmp_path / "eng.train", "iob1")], m=1, rng=0, **FAST
    )
    assert [result.task for result in results] == ["cws", "ner", "org"]
    published = load("bayes_test")["tasks"]
    for result in results:
        models = published[result.task]["models"]
        assert (result.comparison.a, result.comparison.b) == (models["a"], models["b"])
        assert TAG_SETS[result.task] == (models["a"].lower(), models["b"].lower())
        assert [t.metric for t in result.comparison.tests[::2]] == ["precision", "recall", "f1"]
    cws, ner, org = results
    assert (cws.sentences, cws.chunks) == (40, 240)
    assert (ner.chunks, org.chunks) == (120, 40)
    assert ner.comparison.balance.units == ("_", "tokens")
    assert org.comparison.balance.units == ("ORG", "tokens")
    assert str(org).startswith("org on ")


def test_iob1_and_iob2_are_the_same_corpus(tmp_path):
    found = [
        chunking_study(ner=[conll2003(tmp_path / scheme, scheme)], m=1, rng=0, **FAST)
        for scheme in ("iob1", "iob2")
    ]
    for one, other in zip(*found, strict=True):
        assert [f.counts for f in one.comparison.folds] == [
            f.counts for f in other.comparison.folds
        ]


def test_the_part_of_speech_of_conll_2003_is_seen(tmp_path, monkeypatch):
    import probative_studies.chunking as study

    seen = []
    monkeypatch.setattr(study, "compare_models", lambda a, b, X, y, **how: seen.append(X[0]))
    monkeypatch.setattr(study, "ChunkingResult", lambda *fields: None)
    path = conll2003(tmp_path / "eng.train", "iob2")
    chunking_study(ner=[path])
    assert seen[0][0] == ("Acme0", "NNP")
    chunking_study(ner=[path], features=[2, 3])
    assert seen[2][0] == ("Acme0", "NNP", "I-NP")
    chunking_study(ner=[path], features=[])
    assert seen[4][0] == "Acme0"


def test_the_command_prints_the_published_figures_beside(run, tmp_path, pku):
    arguments = ("--cws", pku, "--iterations", 5, "--m", 1, "--seed", 3, "-q")
    arguments += ("--resume", tmp_path / "results")
    outcome = run("study", "chunking", *arguments)
    assert outcome.status == 0, outcome
    assert "95.55–95.62" in outcome.out
    assert "40 sentences" in outcome.out
    answer = json.loads(run("study", "chunking", *arguments, "-f", "json").out)
    assert answer["command"] == "study chunking"
    assert [task["task"] for task in answer["tasks"]] == ["cws"]
    assert len(answer["tasks"][0]["folds"]) == 4
    assert len(answer["tasks"][0]["tests"]) == 6
    assert (tmp_path / "results" / "cws" / "run.json").exists()


def test_bad_input(refused, tmp_path):
    assert "--cws, --ner: no corpus" in refused("study", "chunking")
    path = conll2003(tmp_path / "eng.train", "iob2")
    assert "has no span labelled 'ORGA'" in refused(
        "study", "chunking", "--ner", path, "--only", "ORGA"
    )
    with pytest.raises(pv.InputError, match="no such file"):
        chunking_study(cws=[tmp_path / "no"])
