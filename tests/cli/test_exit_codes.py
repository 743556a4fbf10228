"""Exit codes mean what they say: 2 is for what the user can mend, 3 for us alone."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import textwrap

import pytest

from probative.cli import main

LONG = "9" * 5000
TAGS = "\n\n".join(["Ann\tB-PER\nsaw\tO", "Lee\tB-PER\nYork\tO"] * 4) + "\n"
OTHER = TAGS.replace("Lee\tB-PER", "Lee\tO", 2)
FILES = {
    "gold": TAGS,
    "old": OTHER,
    "new": TAGS.replace("York\tO", "York\tB-LOC", 1),
    "words.txt": "我们 明天 去\n他 喜欢\n",
    "p.jsonl": "[0.1, 0.9, 0.2, 0.8]\n[0.9, 0.1]\n",
    "a.csv": "tp,fp,fn\n5,1,2\n6,2,1\n",
    "b.csv": "tp,fp,fn\n5,2,2\n6,3,1\n",
    "long.json": f'[{{"tp": {LONG}, "fp": 1, "fn": 1}}]',
    "long.jsonl": f'{{"text": "a", "spans": [[{LONG}, 1, "x"]]}}\n',
    "large.csv": "tp,fp,fn\n1e300,1e300,1e300\n",
}
COMPARE = ("compare", "gold", "old", "new")
CROSSVAL = ("crossval", "gold", "--a", "crf:iob2", "--b", "crf:iobes", "--m", "1")
SEGMENTATION = ("study", "segmentation", "--train", "words.txt", "--dev", "words.txt")
SEGMENTATION += ("--test", "words.txt", "--systems", "maxmatch")
COUNTS = ("interval", "--tp", "77", "--fp", "44", "--fn", "10")
NUMBERS = ("1_000", "٣", "１", "nan", "inf", "-inf", "1e999", LONG, "0x10", "", " 1", "1,5")

REFUSED = {
    "scheme": ("check", "gold", "--scheme", "x"),
    "rope": (*COMPARE, "--rope", "1"),
    "rope of folds": ("bayes", "a.csv", "b.csv", "--rope", "1"),
    "difference": ("plan", "gold", "old", "new", "--difference", "1e-320"),
    "jobs": (*CROSSVAL, "--jobs", "0"),
    "more jobs": (*CROSSVAL, "--jobs", "-5"),
    "resume": (*CROSSVAL, "--resume", "x" * 5000),
    "features": (*CROSSVAL, "--features", LONG),
    "sizes": (*SEGMENTATION, "--sizes", LONG),
    "steps": ("sweep", "words.txt", "p.jsonl", "--steps", "12345678901234567890"),
    "many steps": ("sweep", "words.txt", "p.jsonl", "--steps", "1000000000000"),
    "sampled": ("bayes", "a.csv", "b.csv", "--sampled", "12345678901234567890"),
    "JSON integers": ("interval", "--counts", "long.json"),
    "JSON integers in spans": ("score", "long.jsonl", "long.jsonl"),
    "manifest": ("bayes", "--folds", "broken", "--preds-a", "old", "--preds-b", "new"),
    "encoding": ("split", "gold", "-o", "out", "--encoding", "idna"),
    "seed": (*COMPARE, "--seed", "4294967296"),
    "no folder": ("split", "gold"),
    "no model": ("crossval", "gold", "--a", "crf:iob2"),
    "column": ("check", "gold", "--tag-column", LONG),
    "coverage": ("study", "coverage", "--n", LONG),
    "coverage in Arabic": ("study", "coverage", "--n", "٣"),
    "cells": ("study", "coverage", "--n", "5", "--cells", "nan,0.1,0.1"),
    "correlation": ("study", "tests", "--correlation", "nan", "--replicates", "1"),
    "pairing": ("study", "pairing", "--n", "1_000", "--replicates", "1"),
    **{f"count {text[:8]!r}": (*COUNTS, "--tn", text) for text in NUMBERS},
    **{f"level {text[:8]!r}": (*COUNTS, "--level", text) for text in NUMBERS},
    # options that would be ignored
    "plot": ("bayes", "a.csv", "b.csv", "--plot", "difference"),
    "plot of coverage": ("study", "coverage", "--n", "5", "--plot", "length"),
    "beta": (*COMPARE, "--beta", "2"),
    "beta of intervals": (*COUNTS, "--beta", "2"),
    "prior": (*COUNTS, "--prior", "2"),
    "page of conlleval": ("score", "gold", "old", "-f", "conlleval", "--html", "x.html"),
}  # fmt: skip
# extreme, and an answer or a line: never an error of ours
EXTREME = {
    "prior": (*COMPARE, "--prior", "1e-17"),
    "prior of folds": ("bayes", "a.csv", "b.csv", "--prior", "1e-17"),
    "prior of intervals": (*COUNTS, "--method", "bayes", "--prior", "1e-17"),
    "level": (*COMPARE, "--level", "0.9999999999999999"),
    "level of folds": ("bayes", "a.csv", "b.csv", "--level", "0.9999999999999999"),
    "level of intervals": (*COUNTS, "--method", "all", "--level", "0.9999999999999999"),
    "counts": ("interval", "--counts", "large.csv", "--method", "all"),
    "counts of folds": ("bayes", "large.csv", "large.csv"),
    "wide rope": (*COMPARE, "--rope", "0.9999999999999999"),
}


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, content in FILES.items():
        (tmp_path / name).write_text(content, encoding="utf-8")
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "manifest.json").write_text(
        json.dumps({"folds": [{"fold": 1, "train": "x", "validation": None}], "reading": 7})
    )
    return tmp_path


@pytest.mark.parametrize("arguments", REFUSED.values(), ids=REFUSED)
def test_what_the_user_can_mend_is_2(run, here, arguments):
    outcome = run(*arguments)
    assert outcome.status == 2, outcome.err[-500:]
    assert outcome.out == ""
    last = outcome.err.splitlines()[-1]
    assert "internal" not in last
    assert "Traceback" not in outcome.err
    assert {path.name for path in here.iterdir()} <= {*FILES, "broken", "out"}


@pytest.mark.parametrize("arguments", EXTREME.values(), ids=EXTREME)
@pytest.mark.usefixtures("here")
def test_extremes_are_answered_or_refused(run, arguments):
    outcome = run(*arguments, "-f", "json")
    assert outcome.status in (0, 2), outcome.err[-500:]
    if outcome.status == 0:
        json.loads(outcome.out)


@pytest.mark.parametrize("error", [MemoryError, OSError(28, "No space left on device")])
def test_a_machine_that_is_too_small_is_no_error_of_ours(refused, monkeypatch, error):
    def broken(*_, **__):
        raise error

    monkeypatch.setattr("probative.inference.intervals.interval", broken)
    line = refused(*COUNTS)
    assert "internal" not in line
    assert "not enough memory" in line or line == "probative: No space left on device"


def test_a_model_that_ends_the_program_does_not_end_with_0(refused, monkeypatch):
    monkeypatch.setattr("probative.inference.intervals.interval", lambda *_, **__: sys.exit(0))
    assert "sys.exit(0)" in refused(*COUNTS)


def test_warnings_come_without_the_source(run, monkeypatch):
    import warnings

    def warn(*_, **__):
        warnings.warn("something\nodd", RuntimeWarning, stacklevel=1)
        raise MemoryError

    monkeypatch.setattr("probative.inference.intervals.interval", warn)
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        outcome = run(*COUNTS)
        assert outcome.err.splitlines()[0] == "warning: something odd"
        assert run(*COUNTS, "-q").err.startswith("probative: not enough memory")


# --- streams, as a process has them ---------------------------------------------------------------

PIPED = {
    "interval": (*COUNTS,),
    "score": ("score", "gold", "old"),
    "score as conlleval": ("score", "gold", "old", "-f", "conlleval"),
    "compare": (*COMPARE, "--metric", "recall"),
    "check": ("check", "old"),
    "bayes": ("bayes", "a.csv", "b.csv", "-f", "json"),
    "sweep": ("sweep", "words.txt", "p.jsonl"),
    "coverage": ("study", "coverage", "--n", "25", "-f", "csv"),
    "help": ("--help",),
    "version": ("--version",),
}


def process(script, *arguments, **more):
    command = ["bash", "-c", script, "bash", sys.executable, "-m", "probative", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120, **more)
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize("arguments", PIPED.values(), ids=PIPED)
@pytest.mark.usefixtures("here")
def test_a_closed_pipe_is_silent_and_changes_nothing(arguments):
    status, _, err = process('"$@" -q | true; exit ${PIPESTATUS[0]}', *arguments)
    if arguments[0].startswith("-"):  # these take no -q
        status, _, err = process('"$@" | true; exit ${PIPESTATUS[0]}', *arguments)
    assert (status, err) == (0, "")


@pytest.mark.usefixtures("here")
def test_a_gate_keeps_its_word_through_a_closed_pipe():
    gate = (*COMPARE, "--metric", "recall", "--require-better", "--margin", "0.5")
    status, _, err = process('"$@" -q | true; exit ${PIPESTATUS[0]}', *gate)
    assert status == 1
    assert "Traceback" not in err
    assert process('"$@" 2>&1 | true; exit ${PIPESTATUS[0]}', *gate)[0] == 1


@pytest.mark.parametrize(
    ("script", "arguments", "message"),
    [
        ('"$@" >&-', COUNTS, "probative: standard output is closed"),
        ('"$@" >&-', ("--version",), "probative: standard output is closed"),
        ('"$@" <&-', ("check", "-"), "probative: -: standard input is closed"),
        ('"$@" <&-', ("interval", "--counts", "-"), "probative: -: standard input is closed"),
        ('"$@" >/dev/full', COUNTS, "standard output: No space left on device"),
        ('"$@" >/dev/full', ("--help",), "No space left on device"),
        ('"$@" >&- 2>&-', COUNTS, ""),
    ],
)
@pytest.mark.usefixtures("here")
def test_streams_that_are_closed_or_full(script, arguments, message):
    if "/dev/full" in script and not os.path.exists("/dev/full"):  # noqa: PTH110  # a device
        pytest.skip("this system has no device that is always full")
    status, out, err = process(script, *arguments)
    assert (status, out) == (2, "")
    assert message in err
    assert err.count("\n") == (1 if message else 0)


@pytest.mark.usefixtures("here")
def test_work_goes_on_without_standard_error():
    for command in (("score", "gold", "old"), ("study", "coverage", "--n", "5")):
        status, out, _ = process('"$@" 2>&-', *command, "-f", "json")
        assert status == 0
        assert json.loads(out)["signature"]


@pytest.mark.parametrize("module", ["click", "numpy", "scipy.special"])
def test_an_interruption_at_the_start_is_quiet(tmp_path, module):
    """Ctrl-C arrives while this module is imported; a second one finds nothing to say, either."""
    name, *rest = module.split(".")
    fake = tmp_path / name
    fake.mkdir()
    inner = fake.joinpath(*rest) if rest else fake
    inner.mkdir(exist_ok=True)
    (fake / "__init__.py").touch()
    (inner / "__init__.py").write_text(
        textwrap.dedent("""
            import os, signal, time
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(60)
        """)
    )
    path = os.pathsep.join([str(tmp_path), *sys.path])
    done = subprocess.run(
        [sys.executable, "-m", "probative", *COUNTS],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
        timeout=50,
    )
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")


@pytest.mark.usefixtures("here")
def test_an_interruption_in_the_midst_of_work():
    code = (
        "import os, signal, sys\n"
        "import probative.inference.intervals as module\n"
        "module.interval = lambda *a, **k: os.kill(os.getpid(), signal.SIGINT)\n"
        "from probative.cli import main\n"
        "sys.exit(main())\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *COUNTS], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")


def test_signals_of_other_programs_stay_theirs():
    before = signal.getsignal(signal.SIGINT)
    main(["--version"])
    assert signal.getsignal(signal.SIGINT) is before


def test_a_library_that_ends_with_us_has_nothing_to_say(tmp_path):
    import duckdb

    path = tmp_path / "labels.parquet"
    duckdb.sql("SELECT i % 2 AS y, i % 3 % 2 AS a FROM range(60) t(i)").write_parquet(str(path))
    words = ("score", str(path), "--gold-column", "y", "--columns", "a", "-q")
    status, out, err = process('"$@"', *words)
    assert (status, err) == (0, "")
    assert "accuracy" in out
