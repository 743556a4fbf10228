from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("pycrfsuite", reason="python-crfsuite is not installed")
SMALL = ("--seed", 1, "-q", "--metric", "recall")
FAST = ",window=1,ngrams=1,max_iterations=10"


@pytest.fixture
def corpus(tmp_path):
    path = tmp_path / "corpus.conll"
    sentences = [
        f"Mr O\nName{i % 9} B-PER\nJunior I-PER\nsaw O\nRome{i % 7} B-LOC\n" for i in range(40)
    ]
    sentences += [f"word{i} O\n" for i in range(12)]
    path.write_text("\n".join(sentences))
    return path


def test_the_whole_algorithm_from_the_command_line(run, corpus, tmp_path):
    arguments = ("crossval", corpus, "--a", f"crf:iob2{FAST}", "--b", f"crf:iobes{FAST}")
    arguments += ("--seed", 1, "-q")
    answer = json.loads(run(*arguments, "-f", "json", "--resume", tmp_path / "r").out)
    assert list(answer)[:3] == ["command", "version", "signature"]
    assert answer["command"] == "crossval"
    assert [(t["metric"], t["posterior"]) for t in answer["tests"]] == [
        (metric, posterior)
        for metric in ("precision", "recall", "f1")
        for posterior in ("paired", "independent")
    ]
    assert set(answer["tests"][0]) >= {
        *("metric", "p_h0", "p_h1", "decision", "interval_a", "interval_b", "difference", "low"),
        *("high", "p_a_better", "p_equivalent", "p_b_better", "posterior", "weight"),
    }
    assert len(answer["folds"]) == 12
    assert set(answer["folds"][0]) >= {"fold", "model", "counts", "seconds"}
    assert len(list((tmp_path / "r").iterdir())) == 13
    # the folder answers at once, and alike
    again = json.loads(run(*arguments, "-f", "json", "--resume", tmp_path / "r").out)
    assert again == answer
    arguments += ("--metric", "recall")
    text = run(*arguments, "--resume", tmp_path / "r").out
    assert "P(H1)" in text
    assert "better with probability" in text
    assert "Balance: 4 blocks of 13" in text
    lines = run(*arguments, "--resume", tmp_path / "r", "-f", "csv").out.splitlines()
    assert len(lines) == 3


def test_only_and_ignore_type_choose_what_is_learned(run, corpus):
    models = ("--a", f"crf:iob2{FAST}", "--b", f"crf:iob2{FAST},c2=1", "--m", 1, *SMALL)
    only = json.loads(run("crossval", corpus, *models, "--only", "LOC", "-f", "json").out)
    assert only["balance"]["units"] == ["LOC", "tokens"]
    counts = only["folds"][0]["counts"]
    assert counts["tp"] + counts["fn"] == 20
    bare = json.loads(run("crossval", corpus, *models, "--ignore-type", "-f", "json").out)
    assert bare["balance"]["units"] == ["_", "tokens"]
    assert "ignore-type" in bare["signature"]


def test_word_segmentation(run, tmp_path):
    text = tmp_path / "pku.txt"
    text.write_text("".join(f"上海 浦东 开发 与 法制{'建设' * (i % 3)} 同步\n" for i in range(24)))
    arguments = ("--task", "segmentation", "--a", f"crf:bmes{FAST}", "--b", f"crf:bb2b3mes{FAST}")
    answer = json.loads(run("crossval", text, *arguments, *SMALL, "-f", "json").out)
    assert "segmentation" in answer["signature"]
    assert answer["balance"]["units"] == ["word", "tokens"]


def test_models_of_ones_own_in_processes_of_their_own(corpus, tmp_path):
    (tmp_path / "mine.py").write_text(
        "class Nothing:\n"
        "    def fit(self, sentences, spans):\n        return self\n"
        "    def predict(self, sentences):\n        return [[] for _ in sentences]\n"
    )
    models = ("--a", "python:mine:Nothing", "--b", f"crf:iobes{FAST}", "--jobs", "2")
    probative = Path(sys.executable).with_name("probative")
    done = subprocess.run(
        [probative, "crossval", corpus, *models, *map(str, SMALL), "-f", "json"],
        capture_output=True,
        text=True,
        check=True,
        cwd=tmp_path,
    )
    answer = json.loads(done.stdout)
    assert answer["tests"][0]["metric"] == "recall"
    assert answer["tests"][0]["p_b_better"] > 0.99
    assert done.stderr == ""


def test_several_files_formats_and_a_page(run, corpus, tmp_path):
    models = ("--a", f"crf:iob2{FAST}", "--b", f"crf:iobes{FAST}", "--m", 1, "--metric", "recall")
    outcome = run(
        "crossval",
        corpus,
        corpus,
        *models,
        "--seed",
        2,
        "--html",
        tmp_path / "p.html",
        "-f",
        "latex",
    )
    assert "wrote" in outcome.err
    assert r"\begin{tabular}" in outcome.out
    assert "whatever the training set?" in (tmp_path / "p.html").read_text()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--a", "crf:iob2", "--b", "svm"), "--b: unknown 'svm'; expected crf:SCHEME"),
        (("--a", "crf:iob2", "--b", "crf:iob2", "--only", "ORG"), "has no span labelled 'ORG'"),
        (
            ("--a", "crf:iob2", "--b", "crf:iob2", "--m", 63),
            "has 52 sentences; expected at least 64",
        ),
        (("--a", "crf:iob2"), "Missing option '--b'"),
        (("--a", "crf:iob2", "--b", "crf:iob2", "--rope", -1), "rope: -1"),
        (("--a", "crf:iob2", "--b", "crf:iob2", "--features", "x"), "'x' is not a column number"),
        (("--a", "crf:iob2", "--b", "crf:iob2", "--weight", "x"), "unknown 'x'"),
        (("--a", "crf:iob2", "--b", "python:probative:Counts"), "failed: TypeError"),
        (("--a", "crf:iob2", "--b", "python:builtins:object"), "model_b: object has no fit"),
    ],
)
def test_bad_usage(refused, corpus, arguments, message):
    assert message in refused("crossval", corpus, *arguments, "-q")


def test_a_failing_model_names_its_fold(refused, corpus, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("broken.py").write_text(
        "class Broken:\n"
        "    def fit(self, sentences, spans):\n        raise MemoryError('too\\nlarge')\n"
        "    def predict(self, sentences):\n        return []\n"
    )
    line = refused(
        "crossval", corpus, "--a", f"crf:iob2{FAST}", "--b", "python:broken:Broken", "-q"
    )
    assert line == "probative: fold 1, model B, fit: MemoryError: too large"


def test_a_resumed_folder_of_another_run(refused, run, corpus, tmp_path):
    models = ("--a", f"crf:iob2{FAST}", "--b", f"crf:iobes{FAST}", "--m", 1, *SMALL)
    run("crossval", corpus, *models, "--resume", tmp_path / "r")
    line = refused("crossval", corpus, *models, "--only", "LOC", "--resume", tmp_path / "r")
    assert "r: holds the results of another run: data" in line
