from __future__ import annotations

import hashlib
import json
import subprocess
import sys

import pytest

import probative as pv

IOB = """Ada B-PER
slept O

Rome B-LOC
is O
old O

"""


def blocks(path, ending="\n\n"):
    return [block.strip() for block in path.read_text().split(ending) if block.strip()]


def test_folds_in_the_format_of_the_corpus_with_a_manifest(run, corpus, tmp_path):
    target = tmp_path / "folds"
    answer = json.loads(run("split", corpus, "-o", target, "--seed", 4, "-f", "json", "-q").out)
    manifest = json.loads((target / "manifest.json").read_text())
    assert answer["command"] == "split"
    assert answer["manifest"] == manifest
    assert answer["signature"].endswith("|split|entities|seed:4|m:3|regularize:entities,tokens")
    assert (manifest["seed"], manifest["m"], manifest["sentences"]) == (4, 3, 40)
    assert manifest["balance"]["units"] == ["LOC", "PER", "tokens"]
    assert len(list(target.iterdir())) == 13
    everything = sorted(blocks(corpus))
    for fold in manifest["folds"]:
        parts = [target / fold[part]["file"] for part in ("train", "validation")]
        for part, path in zip(("train", "validation"), parts, strict=True):
            assert hashlib.sha256(path.read_bytes()).hexdigest() == fold[part]["sha256"]
            assert len(blocks(path)) == fold[part]["sentences"]
        assert sorted(blocks(parts[0]) + blocks(parts[1])) == everything
        assert pv.score(parts[1], parts[1], task="entities")[0].counts.tp == 28
    first = manifest["folds"][0], manifest["folds"][1]
    assert first[0]["train"]["sha256"] == first[1]["validation"]["sha256"]


def test_the_seed_makes_it_repeatable_and_is_recorded(run, corpus, tmp_path):
    for name in ("x", "y"):
        assert run("split", corpus, "-o", tmp_path / name, "--seed", 9, "-q").status == 0
    x, y = ((tmp_path / name / "manifest.json").read_text() for name in ("x", "y"))
    assert x == y
    run("split", corpus, "-o", tmp_path / "z", "-q")
    seed = json.loads((tmp_path / "z" / "manifest.json").read_text())["seed"]
    run("split", corpus, "-o", tmp_path / "again", "--seed", seed, "-q")
    folds = [
        json.loads((tmp_path / name / "manifest.json").read_text())["folds"]
        for name in ("z", "again")
    ]
    assert folds[0] == folds[1]


def test_other_repetitions_and_units(run, corpus, tmp_path):
    run("split", corpus, "-o", tmp_path / "f", "--m", 5, "--regularize", "tokens", "-q")
    manifest = json.loads((tmp_path / "f" / "manifest.json").read_text())
    assert len(manifest["folds"]) == 10
    assert manifest["balance"]["units"] == ["tokens"]
    assert (tmp_path / "f" / "fold-01-train.conll").exists()


def test_comments_crlf_and_documents_stay(run, tmp_path):
    corpus = tmp_path / "c.conllu"
    lines = [
        f"# newdoc id = {i}\r\n# text = a b\r\n1\ta{i}\tB-X\r\n2\tb\tO\r\n\r\n1\tc{i}\tO\r\n\r\n"
        for i in range(12)
    ]
    corpus.write_bytes("".join(lines).encode())
    outcome = run("split", corpus, "-o", tmp_path / "f", "--keep-documents", "--seed", 1)
    assert outcome.status == 0
    manifest = json.loads((tmp_path / "f" / "manifest.json").read_text())
    assert manifest["keep_documents"] is True
    data = (tmp_path / "f" / "fold-1-validation.conllu").read_bytes()
    assert b"# newdoc id" in data
    assert data.count(b"\n") == data.count(b"\r\n")
    for i in range(12):
        assert (f"\ta{i}\t".encode() in data) == (f"\tc{i}\t".encode() in data)


def test_segmented_text_json_lines_and_label_tables(run, tmp_path):
    text = tmp_path / "pku.txt"
    text.write_text("".join(f"上海{i}  浦东  开发\n" for i in range(24)))
    spans = tmp_path / "spans.jsonl"
    line = {"text": "Ada slept", "spans": [[0, 3, "PER"]]}
    spans.write_text("".join(json.dumps({**line, "id": i}) + "\n" for i in range(24)))
    table = tmp_path / "reviews.csv"
    table.write_text("text,label\n" + "".join(f'"so, {i}",{i % 2}\n' for i in range(24)))
    kinds = ((text, "segmentation", 0), (spans, "entities", 0), (table, "labels", 1))
    for path, task, head in kinds:
        target = tmp_path / f"{path.stem}-folds"
        assert run("split", path, "-o", target, "--seed", 0, "-q").status == 0
        manifest = json.loads((target / "manifest.json").read_text())
        assert manifest["task"] == task
        lines = path.read_text().splitlines()
        parts = [
            (target / manifest["folds"][0][part]["file"]).read_text().splitlines()
            for part in ("train", "validation")
        ]
        assert all(part[:head] == lines[:head] for part in parts)
        assert sorted(parts[0][head:] + parts[1][head:]) == sorted(lines[head:])
    assert manifest["balance"]["deviation"] == [0, 0]


def test_other_encodings_are_kept(run, tmp_path):
    text = tmp_path / "pku.txt"
    text.write_bytes("".join(f"上海{i}  浦东\n" for i in range(9)).encode("gb18030"))
    options = ("--task", "segmentation", "--encoding", "gb18030", "-q")
    run("split", text, "-o", tmp_path / "f", *options)
    found = (tmp_path / "f" / "fold-1-train.txt").read_bytes().decode("gb18030")
    assert set(found.splitlines()) <= set(text.read_bytes().decode("gb18030").splitlines())


def test_rare_units_are_told(run, tmp_path):
    path = tmp_path / "c.conll"
    path.write_text("Ada B-PER\n\n" + "word O\n\n" * 10)
    outcome = run("split", path, "-o", tmp_path / "f", "--seed", 0)
    assert "warning: fewer members than the 4 blocks: 'PER' (1)" in outcome.err
    assert run("split", path, "-o", tmp_path / "g", "--seed", 0, "-q").err == ""


def test_what_cannot_be_split(refused, corpus, tmp_path):
    few = tmp_path / "few.conll"
    few.write_text(IOB)
    line = refused("split", few, "-o", tmp_path / "f", "-q")
    assert line.endswith("few.conll: has 2 sentences; expected at least 4, one per block")
    line = refused("split", corpus, "-o", tmp_path / "g", "--regularize", "words")
    assert "--regularize: unknown 'words'; expected one of entities, labels, tokens" in line
    line = refused("split", corpus, "-o", tmp_path / "h", "--keep-documents", "-q")
    assert line.endswith("corpus.conll: marks no documents that could be kept whole")
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "x").touch()
    line = refused("split", corpus, "-o", tmp_path / "full", "-q")
    assert line.endswith("full: holds 'x'; expected a new or an empty folder")
    line = refused("split", corpus, "-o", corpus, "-q")
    assert "cannot be used" in line
    assert "no such file" in refused("split", tmp_path / "no", "-o", tmp_path / "i")


@pytest.mark.parametrize("encoding", ["idna", "punycode", "utf-7"])
def test_an_encoding_must_give_back_what_it_reads(run, refused, tmp_path, encoding):
    path = tmp_path / "c.conll"
    path.write_text("".join(f"Name{i} B-PER\nSAW O\n{'x' * 70} O\n\n" for i in range(9)))
    if encoding == "utf-7":  # it does
        assert run("split", path, "-o", tmp_path / "f", "--encoding", encoding).status == 0
        return
    line = refused("split", path, "-o", tmp_path / "f", "--encoding", encoding, "-q")
    assert encoding in line
    assert not (tmp_path / "f").exists()


@pytest.mark.parametrize("task", ["entities", "segmentation"])
def test_standard_input_is_read_once_and_wholly(corpus, tmp_path, task):
    text = "".join(f"上海{i}  浦东  开发\n" for i in range(5000))
    content = (corpus.read_text() + "\n") * 100 if task == "entities" else text
    done = subprocess.run(
        [sys.executable, "-m", "probative", "split", "-", "-o", tmp_path / "f", "--task", task],
        input=content,
        text=True,
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    manifest = json.loads((tmp_path / "f" / "manifest.json").read_text())
    assert manifest["sentences"] == (4000 if task == "entities" else 5000)
    parts = [
        (tmp_path / "f" / manifest["folds"][0][part]["file"])
        for part in manifest["folds"][0]
        if part != "fold"
    ]
    found = [line for part in parts for line in part.read_text().splitlines() if line]
    assert sorted(found) == sorted(line for line in content.splitlines() if line)


def changed(manifest, *keys, value):
    """A copy with another value somewhere inside."""
    copy = json.loads(json.dumps(manifest))
    inner = copy
    for key in keys[:-1]:
        inner = inner[key]
    inner[keys[-1]] = value
    return json.dumps(copy)


DAMAGE = [
    (("folds",), {}),
    (("folds",), []),
    (("folds", 0), None),
    (("folds", 0, "fold"), "1"),
    (("folds", 0, "validation"), 5),
    (("folds", 0, "validation", "file"), "../manifest.json"),
    (("folds", 0, "validation", "file"), 5),
    (("folds", 0, "train", "sentences"), None),
    (("task",), "tagging"),
    (("task",), ["entities"]),
    (("seed",), "x"),
    (("reading",), {"colour": 1}),
    (("reading",), None),
    (("reading", "task"), 3),
    (("reading", "encoding"), 3),
    (("reading", "tag_column"), "1"),
    (("reading", "comments"), "no"),
]


@pytest.fixture
def folds(run, corpus, tmp_path):
    assert run("split", corpus, "-o", tmp_path / "folds", "--seed", 4, "-q").status == 0
    return tmp_path / "folds"


@pytest.mark.parametrize(("keys", "value"), DAMAGE)
def test_a_damaged_manifest_is_named(refused, folds, keys, value):
    path = folds / "manifest.json"
    path.write_text(changed(json.loads(path.read_text()), *keys, value=value))
    line = refused("bayes", "--folds", folds, "--preds-a", "x", "--preds-b", "y", "-q")
    assert line.startswith(f"{path}: is no manifest of folds (")


@pytest.mark.parametrize("content", ["", "{", "[]", "7", "[" * 100_000, "9" * 5000, "\0"])
def test_a_manifest_that_is_none_is_named(refused, folds, content):
    path = folds / "manifest.json"
    path.write_text(content)
    line = refused("bayes", "--folds", folds, "--preds-a", "x", "--preds-b", "y", "-q")
    assert line.startswith(f"{path}: is no manifest of folds (")
    path.write_bytes(b"\xff")
    refused("bayes", "--folds", folds, "--preds-a", "x", "--preds-b", "y", "-q")
