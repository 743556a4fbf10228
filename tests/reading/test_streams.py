"""Pipes, FIFOs, standard input and devices: what can be read once is read once, to its end."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

import probative as pv
from probative.errors import InputError
from probative.reading.formats import Input, Options, open_input, read
from probative.reading.source import load

pytestmark = pytest.mark.skipif(not Path("/dev/fd").exists(), reason="needs /dev/fd")

N = 5_000
GOLD = "".join(f"{'yes' if i % 3 else 'no'}\n" for i in range(N))
PRED = "".join(f"{'yes' if i % 2 else 'no'}\n" for i in range(N))
COLUMNS = "".join(f"Name{i} B-PER B-PER\nsaw O O\nRome{i % 7} B-LOC O\n\n" for i in range(2_000))
WORDS = "".join(f"to be not{i} to be\n" for i in range(2_000))
COUNTS = "tp,fp,fn\n" + "".join(f"{50 + i},{i},7\n" for i in range(3_000))
CSV = "gold,pred\n" + "".join(f"{g},{p}\n" for g, p in zip(GOLD.split(), PRED.split(), strict=True))


@pytest.fixture
def pipe():
    """The path of a pipe through which a text comes, as ``<(…)`` makes one."""
    ends = []

    def make(text: str) -> str:
        out, into = os.pipe()
        ends.append(out)

        def write() -> None:
            with open(into, "wb") as file:  # noqa: PTH123
                try:
                    file.write(text.encode())
                except BrokenPipeError:
                    return

        threading.Thread(target=write, daemon=True).start()
        return f"/dev/fd/{out}"

    yield make
    for end in ends:
        os.close(end)


@pytest.fixture
def fifo(tmp_path):
    """The path of a FIFO to which somebody writes a text once, and after that nothing."""

    def make(text: str) -> Path:
        path = tmp_path / f"fifo{len(list(tmp_path.iterdir()))}"
        os.mkfifo(path)

        def write() -> None:
            for content in (text, ""):
                with path.open("wb") as file:
                    try:
                        file.write(content.encode())
                    except BrokenPipeError:
                        continue

        threading.Thread(target=write, daemon=True).start()
        return path

    return make


@pytest.fixture
def stdin(monkeypatch):
    def give(text: str | bytes) -> str:
        content = text if isinstance(text, bytes) else text.encode()
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
        return "-"

    return give


@pytest.fixture(params=["pipe", "fifo", "stdin"])
def stream(request):
    return request.getfixturevalue(request.param)


def answer(outcome):
    assert outcome.status in (0, 1), outcome.err
    return json.loads(outcome.out)


# --- every command, from a stream and from a file ---------------------------------------------


def test_score(run, stream, write):
    gold, pred = write(GOLD, "gold.txt"), write(PRED, "pred.txt")
    how = ("--task", "labels", "-f", "json", "-q", "--names", "x")
    expected = answer(run("score", gold, pred, *how))["systems"][0]["counts"]
    assert sum(expected.values()) == N
    assert answer(run("score", stream(GOLD), pred, *how))["systems"][0]["counts"] == expected
    small = answer(run("score", stream("yes\nno\n"), write("yes\nyes\n"), *how))
    assert small["systems"][0]["counts"] == {"tp": 1, "fp": 1, "fn": 0, "tn": 0}


@pytest.mark.parametrize(("content", "kind"), [(COLUMNS, "columns"), (CSV, "table")])
def test_score_of_one_stream_with_both_sides(run, stream, write, content, kind):
    how = ("--input-format", kind, "-f", "json", "-q")
    found, expected = (answer(run("score", p, *how)) for p in (stream(content), write(content)))
    assert found["systems"][0]["counts"] == expected["systems"][0]["counts"]


def test_compare(run, pipe, write):
    gold, a = write(GOLD, "gold.txt"), write(PRED, "a.txt")
    how = ("--task", "labels", "--names", "A,B", "-f", "json", "-q")
    expected = answer(run("compare", gold, a, a, *how))["comparisons"]
    assert answer(run("compare", pipe(GOLD), pipe(PRED), pipe(PRED), *how))["comparisons"] == (
        expected
    )


@pytest.mark.parametrize("content", [GOLD, COLUMNS, WORDS, CSV])
def test_check(run, stream, write, content):
    found, expected = (
        answer(run("check", path, "-f", "json", "-q")) for path in (stream(content), write(content))
    )
    for key in ("input_format", "task", "facts", "labels"):
        assert found[key] == expected[key]
    assert len(found["problems"]) == len(expected["problems"])


@pytest.mark.parametrize(("content", "task"), [(COLUMNS, "entities"), (WORDS, "segmentation")])
def test_split(run, stream, tmp_path, content, task):
    how = ("--task", task, "--seed", 1, "-o", tmp_path / "folds", "-f", "json", "-q")
    assert answer(run("split", stream(content), *how))["manifest"]["sentences"] == 2_000


def test_interval(run, stream):
    found = answer(run("interval", "--counts", stream(COUNTS), "-f", "json", "-q"))
    assert len(found["rows"]) == 3_000


def test_bayes(run, pipe, write):
    file = write("\n".join(COUNTS.splitlines()[:7]), "folds.csv")
    text = file.read_text()
    expected = answer(run("bayes", file, file, "-f", "json", "-q"))["tests"]
    assert answer(run("bayes", pipe(text), pipe(text), "-f", "json", "-q"))["tests"] == expected


def test_sweep(run, pipe, write):
    text = "to be\nnot to be\n" * 2_000
    numbers = "[0.1, 0.9, 0.3]\n[0.2, 0.1, 0.8, 0.1, 0.7, 0.6]\n" * 2_000
    expected = answer(run("sweep", write(text, "g"), write(numbers, "p"), "-f", "json", "-q"))
    assert answer(run("sweep", pipe(text), pipe(numbers), "-f", "json", "-q")) == expected


def test_parquet_comes_through_a_pipe_too(tmp_path):
    import duckdb

    path = tmp_path / "t.parquet"
    duckdb.sql("SELECT 'a' AS gold FROM range(100000)").write_parquet(str(path))
    out, into = os.pipe()
    content = path.read_bytes()
    threading.Thread(target=lambda: (os.write(into, content), os.close(into)), daemon=True).start()
    assert len(read(f"/dev/fd/{out}")) == 100_000
    os.close(out)


# --- in a shell -------------------------------------------------------------------------------


def shell(command: str, **how):
    return subprocess.run(
        ["bash", "-c", command.replace("probative", f"{sys.executable} -m probative")],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        **how,
    )


def test_process_substitution_and_standard_input(write):
    gold, pred = write(GOLD, "gold.txt"), write(PRED, "pred.txt")
    done = shell(
        f"probative score <(cat {gold}) <(cat {pred}) --task labels -f json -q;"
        f"cat {gold} | probative score /dev/stdin {pred} --task labels -f json -q;"
        f"probative score - {pred} --task labels -f json -q < {gold}"
    )
    assert done.stderr == ""
    decoder, text, found = json.JSONDecoder(), done.stdout.strip(), []
    while text:
        part, end = decoder.raw_decode(text)
        found.append(part["systems"][0]["counts"])
        text = text[end:].strip()
    assert found[0] == found[1] == found[2]
    assert sum(found[0].values()) == N


def test_a_closed_standard_input_is_bad_input():
    done = shell("probative check - <&-")
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1


# --- named twice ------------------------------------------------------------------------------


def test_a_stream_named_twice_is_refused(refused, fifo, pipe, stdin):
    stdin(GOLD)
    assert "-: standard input can be read only once; expected one - at most" in refused(
        "score", "-", "-"
    )
    for command in ("score", "compare", "bayes", "sweep"):
        path = pipe(GOLD)
        twice = (path, path, path) if command == "compare" else (path, path)
        assert f"{path}: is named twice, but can be read only once" in refused(command, *twice)
    path = fifo(GOLD)
    assert f"{path}: is named twice" in refused("score", path, path)
    with pytest.raises(InputError, match="named twice"):
        pv.score(pipe(GOLD), path, path)


def test_a_file_may_be_named_twice(write):
    path = write(GOLD, "gold.txt")
    assert pv.score(path, path, task="labels")[0]["f1"].estimate == 1


# --- devices and limits -----------------------------------------------------------------------


@pytest.mark.parametrize("command", [("interval", "--counts"), ("bayes",), ("check",), ("score",)])
def test_a_device_without_end_is_refused_at_once(refused, command):
    assert refused(*command, "/dev/zero") == "/dev/zero: is a device; expected a file"
    assert "is empty; expected" in refused(*command, "/dev/null")


def test_no_more_is_read_than_is_allowed(write, pipe):
    import gzip

    text = "a\n" * 600
    packed = write(gzip.compress(text.encode() * 10_000), "bomb.gz")
    for path in (write(text), pipe(text), packed):
        with pytest.raises(InputError, match="holds more than 0 MiB; expected less"):
            load(path, limit=1_000)
    assert len(load(write(text), limit=1_200).data) == 1_200


def test_counts_files_have_a_limit(refused, write):
    path = write("tp,fp,fn\n" + "1,2,3\n" * (1 << 24), "large.csv")
    assert refused("interval", "--counts", path) == (
        f"{path}: holds more than 64 MiB; expected less: split it"
    )


# --- what open_input tells --------------------------------------------------------------------


def test_one_opening_serves_everything(pipe):
    found = open_input(pipe(COLUMNS), Options(tag_column=3))
    assert isinstance(found, Input)
    assert (found.kind, found.task) == ("columns", "entities")
    assert found.layout is found.layout
    assert read(found).text.n_sentences == read(found).text.n_sentences == 2_000


@pytest.mark.parametrize("encoding", ["idna", "punycode", "undefined", "rot13", "hex", "nothing"])
def test_what_is_no_encoding_of_files(refused, write, tmp_path, encoding):
    path = write(COLUMNS)
    for command in (("check",), ("split", "-o", tmp_path / "x")):
        message = refused(*command, path, "--encoding", encoding)
        assert message.startswith(f"probative: --encoding: unknown {encoding!r}")
