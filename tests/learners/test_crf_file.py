"""Damaged files of chunkers, and files of others."""

from __future__ import annotations

import random
from base64 import b64encode

import pytest

pytest.importorskip("pycrfsuite", reason="python-crfsuite is not installed")

import probative as pv
from probative.files import seal
from probative.learners.crf import CRFChunker

SENTENCES = [["Ada", "met", f"Bob{i}"] for i in range(12)]
SPANS = [[(0, 1, "PER"), (2, 3, "PER")]] * 12


@pytest.fixture(scope="module")
def chunker():
    return CRFChunker("iob2", window=1, ngrams=(1, 2)).fit(SENTENCES, SPANS)


def sealed(chunker, **changes):
    """A file of a chunker with other parameters, and a checksum that fits."""
    names = ("scheme", "window", "ngrams", "c1", "c2", "max_iterations", "min_count")
    content = {name: getattr(chunker, name) for name in names}
    return seal({**content, "model": b64encode(chunker._model).decode(), **changes})


def damaged(data, rng):
    data = bytearray(data)
    for _ in range(rng.choice([1, 8, 64])):
        data[rng.randrange(len(data))] = rng.randrange(256)
    return bytes(data)


def test_no_damaged_file_is_loaded(chunker, tmp_path):
    """CRFsuite dies of most damaged models: it gets to see none."""
    path = tmp_path / "model"
    chunker.save(path)
    good = path.read_bytes()
    assert good == sealed(chunker)
    rng = random.Random(3)  # noqa: S311
    for _ in range(300):
        path.write_bytes(damaged(good, rng) if rng.random() < 0.8 else good[: rng.randrange(900)])
        if path.read_bytes() == good:
            continue
        with pytest.raises(pv.InputError, match=r"its checksum does not fit|is no file of") as bad:
            CRFChunker.load(path)
        assert str(bad.value).startswith(f"{path}: ")
        assert "\n" not in str(bad.value)


@pytest.mark.parametrize(
    "changes",
    [
        {"colour": 1},
        {"scheme": "iob9"},
        {"window": "1"},
        {"ngrams": 5},
        {"c1": None},
        {"model": "x"},
        {"model": 1},
    ],
)
def test_parameters_of_others(chunker, tmp_path, changes):
    (tmp_path / "x").write_bytes(sealed(chunker, **changes))
    with pytest.raises(pv.InputError, match="is no saved chunker"):
        CRFChunker.load(tmp_path / "x")


@pytest.mark.parametrize("content", [[1], {}, "text", 5, None])
def test_sealed_files_of_others(tmp_path, content):
    (tmp_path / "x").write_bytes(seal(content))
    with pytest.raises(pv.InputError, match="is no saved chunker"):
        CRFChunker.load(tmp_path / "x")
