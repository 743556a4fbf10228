"""Damaged models, models of others, and archives that are too large."""

from __future__ import annotations

import io
import json
import random
import subprocess
import sys
import zipfile

import pytest

pytest.importorskip("pycrfsuite", reason="python-crfsuite is not installed")

import probative as pv
from probative import files
from probative.learners import crf as crf_file
from probative.learners.crf import CRFChunker

SENTENCES = [["Ada", "met", f"Bob{i}"] for i in range(12)]
SPANS = [[(0, 1, "PER"), (2, 3, "PER")]] * 12


@pytest.fixture(scope="module")
def chunker():
    return CRFChunker("iob2", window=1, ngrams=(1, 2)).fit(SENTENCES, SPANS)


def archived(chunker, model, **changes):
    """An archive without a checksum, as others might write one."""
    names = ("scheme", "window", "ngrams", "c1", "c2", "max_iterations", "min_count")
    parameters = {name: getattr(chunker, name) for name in names} | changes
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("chunker.json", json.dumps(parameters))
        archive.writestr("model.crfsuite", model)
    return out.getvalue()


def damaged(model, rng):
    data = bytearray(model)
    for _ in range(rng.choice([1, 8, 64])):
        data[rng.randrange(len(data))] = rng.randrange(256)
    return bytes(data)


def test_a_model_without_checksum_is_tried_and_loaded(chunker, tmp_path):
    path = tmp_path / "old"
    path.write_bytes(archived(chunker, chunker._model))
    assert CRFChunker.load(path).predict(SENTENCES) == chunker.predict(SENTENCES)


LOADING = """
import sys
import probative as pv
from probative.learners.crf import CRFChunker
for path in sys.argv[1:]:
    try:
        chunker = CRFChunker.load(path)
        chunker.predict([["Ada", "met", "you"]])
        chunker.predict_proba([["Ada", "met", "you"]])
        print("loaded", flush=True)
    except pv.InputError as error:
        print(str(error).startswith(path + ": is a damaged chunker ("), flush=True)
"""


def test_no_damaged_model_ends_the_program(chunker, tmp_path):
    """CRFsuite dies of most of these; that happens elsewhere."""
    rng = random.Random(1)  # noqa: S311
    paths = [tmp_path / str(number) for number in range(12)]
    for path in paths:
        path.write_bytes(archived(chunker, damaged(chunker._model, rng)))
    done = subprocess.run(
        [sys.executable, "-c", LOADING, *map(str, paths)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0
    assert set(done.stdout.split()) == {"True", "loaded"}
    assert len(done.stdout.split()) == 12


def test_a_checksum_that_does_not_fit(chunker, tmp_path):
    path = tmp_path / "model"
    chunker.save(path)
    with zipfile.ZipFile(path) as archive:
        parameters = json.loads(archive.read("chunker.json"))
    rng = random.Random(2)  # noqa: S311
    for _ in range(20):  # 20 damaged models, none of which CRFsuite gets to see
        path.write_bytes(
            archived(chunker, damaged(chunker._model, rng), sha256=parameters["sha256"])
        )
        with pytest.raises(pv.InputError, match="its checksum does not fit"):
            CRFChunker.load(path)
    path.write_bytes(archived(chunker, chunker._model, sha256=parameters["sha256"], scheme="bmes"))
    with pytest.raises(pv.InputError, match="its checksum does not fit"):
        CRFChunker.load(path)


def test_damaged_archives(chunker, tmp_path):
    path = tmp_path / "model"
    chunker.save(path)
    good = path.read_bytes()
    rng = random.Random(3)  # noqa: S311
    for _ in range(300):
        path.write_bytes(damaged(good, rng) if rng.random() < 0.8 else good[: rng.randrange(900)])
        try:
            loaded = CRFChunker.load(path)
        except pv.InputError as error:
            told = str(error)
        else:  # dates and the like may change
            told = f"{path}: is as it was"
            assert loaded._model == chunker._model
            assert repr(loaded) == repr(chunker)
        assert told.startswith(f"{path}: ")
        assert "\n" not in told


@pytest.mark.parametrize(
    "changes", [{"colour": 1}, {"scheme": "iob9"}, {"window": "1"}, {"ngrams": 5}, {"c1": None}]
)
def test_parameters_of_others(chunker, tmp_path, changes):
    (tmp_path / "x").write_bytes(archived(chunker, chunker._model, **changes))
    with pytest.raises(pv.InputError, match="is a damaged chunker"):
        CRFChunker.load(tmp_path / "x")


@pytest.mark.parametrize("content", ["[1]", "[" * 100_000, "9" * 5000, "{"])
def test_parameters_that_are_none(tmp_path, content):
    with zipfile.ZipFile(tmp_path / "x", "w") as archive:
        archive.writestr("chunker.json", content)
        archive.writestr("model.crfsuite", b"")
    with pytest.raises(pv.InputError, match="is no saved chunker"):
        CRFChunker.load(tmp_path / "x")


def test_an_archive_has_a_largest_size(tmp_path, monkeypatch):
    path = tmp_path / "large"
    monkeypatch.setattr(files, "LARGEST_MODEL", 1 << 20)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("chunker.json", "{}")
        archive.writestr("model.crfsuite", bytes(2 << 20))
    assert path.stat().st_size < 10_000
    with pytest.raises(pv.InputError, match="large: holds 2,097,154 bytes when unpacked"):
        CRFChunker.load(path)
    # of an archive that says less than it holds, no more is taken than it says
    data = path.read_bytes().replace((2 << 20).to_bytes(4, "little"), (9).to_bytes(4, "little"))
    path.write_bytes(data)
    with pytest.raises(pv.InputError, match=r"is no saved chunker|is a damaged chunker"):
        CRFChunker.load(path)


def test_what_is_packed_comes_out(tmp_path):
    (tmp_path / "x").write_bytes(crf_file.pack({"scheme": "iob2", "ngrams": [1, 2]}, b"model"))
    assert crf_file.unpack(tmp_path / "x") == ({"scheme": "iob2", "ngrams": [1, 2]}, b"model")
