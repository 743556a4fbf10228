from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from contextlib import suppress
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
    assert "recall: the difference is not established: P(" in text.splitlines()[0]
    assert answer["verdicts"][1] in text
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


NOTHING = """
class Nothing:
    def fit(self, sentences, spans):
{fit}
        return self
    def predict(self, sentences):
        return [[] for _ in sentences]
"""


def plugin(folder, fit, name="mine"):
    (folder / f"{name}.py").write_text(NOTHING.format(fit=fit))
    return ("--a", f"python:{name}:Nothing", "--b", f"crf:iobes{FAST}", "--m", "1")


def process(folder, *words, **how):
    command = [sys.executable, "-m", "probative", "crossval", *map(str, words)]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    return subprocess.Popen(command, cwd=folder, **(pipes | how))


PRINTING = """
        import ctypes, os
        print("from Python")
        os.write(1, b"from a file descriptor\\n")
        ctypes.CDLL(None).puts(b"from C")
"""


@pytest.mark.skipif(os.name == "nt", reason="C prints elsewhere there")
@pytest.mark.parametrize("jobs", [1, 2])
def test_what_models_print_does_not_mix_with_results(corpus, tmp_path, jobs):
    models = plugin(tmp_path, PRINTING)
    (tmp_path / "mine.py").write_text((tmp_path / "mine.py").read_text() + "print('imported')\n")
    running = process(tmp_path, corpus, *models, *SMALL, "--jobs", jobs, "-f", "json")
    out, err = running.communicate()
    assert running.returncode == 0, err
    assert json.loads(out)["command"] == "crossval"
    told = set(err.splitlines()) if jobs == 1 else err  # lines of two workers may mix
    assert all(
        words in told for words in ("from Python", "from a file descriptor", "from C", "imported")
    )


LATE = """
import atexit, os, sys, threading, time
ended = threading.Event()
def chatter():
    while not ended.is_set():
        print("a thread", flush=True)
        os.write(1, b"its file descriptor\\n")
        time.sleep(0.001)
thread = threading.Thread(target=chatter, daemon=True)
# runs last: Python 3.11 aborts where a thread writes while the interpreter goes
atexit.register(lambda: (ended.set(), thread.join()))
atexit.register(print, "at the end")
atexit.register(os.system, "echo at the end, a shell")
thread.start()
sys.__stdout__.write("kept back")
"""


@pytest.mark.skipif(os.name == "nt", reason="there are no such shells")
def test_what_models_print_after_their_work_does_not_mix_with_results(corpus, tmp_path):
    models = plugin(tmp_path, "        pass")
    (tmp_path / "mine.py").write_text((tmp_path / "mine.py").read_text() + LATE)
    buffered = {k: v for k, v in os.environ.items() if k != "PYTHONUNBUFFERED"}
    running = process(tmp_path, corpus, *models, *SMALL, "-f", "json", env=buffered)
    out, err = running.communicate()
    assert running.returncode == 0, err
    assert json.loads(out)["command"] == "crossval"
    assert {"at the end", "at the end, a shell", "a thread"} <= set(err.splitlines())


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (NOTHING.format(fit="        raise SystemExit(0)"), "fold 1, model A, fit: SystemExit: 0"),
        ("raise SystemExit(0)", "--a: module 'ending' failed: SystemExit: 0"),
        ("def (", "--a: module 'ending' failed: SyntaxError: invalid syntax"),
        ("def Nothing(): raise SystemExit(0)", "--a: ending:Nothing() failed: SystemExit: 0"),
    ],
)
def test_a_model_that_exits_is_an_error(refused, corpus, tmp_path, monkeypatch, content, message):
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "ending", raising=False)
    models = plugin(tmp_path, "        pass", "ending")
    (tmp_path / "ending.py").write_text(content)
    assert message in refused("crossval", corpus, *models, *SMALL)


@pytest.mark.slow
def test_a_model_with_other_code_is_another_model(corpus, tmp_path):
    words = (corpus, *plugin(tmp_path, "        pass"), *SMALL, "--resume", tmp_path / "r")
    for _ in range(2):
        first = process(tmp_path, *words)
        first.communicate()
        assert first.returncode == 0
    plugin(tmp_path, "        self.better = True")
    running = process(tmp_path, *words)
    _, err = running.communicate()
    assert running.returncode == 2
    assert "r: holds the results of another run: the code of model_a is" in err
    assert err.count("\n") == 1


def test_two_that_start_at_once_without_a_seed_agree(corpus, tmp_path):
    words = (corpus, *plugin(tmp_path, "        pass"), "--metric", "recall", "-q", "-f", "json")
    both = [process(tmp_path, *words, "--resume", tmp_path / "r") for _ in range(2)]
    answers = [json.loads(running.communicate()[0]) for running in both]
    assert [running.returncode for running in both] == [0, 0]
    for answer in answers:
        for fold in answer["folds"]:
            del fold["seconds"]
    assert answers[0] == answers[1]


def allow_interrupts():
    """What a shell does for a command in the foreground."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="there are no process groups")
def test_an_interrupt_ends_workers_quietly(corpus, tmp_path):
    log = tmp_path / "log"
    fit = f"        import time; open({str(log)!r}, 'a').write('x'); time.sleep(30)"
    words = (corpus, *plugin(tmp_path, fit), *SMALL, "--jobs", 2)
    rng = random.Random(1)  # noqa: S311
    for case in range(4):
        running = process(tmp_path, *words, start_new_session=True, preexec_fn=allow_interrupts)
        children = Path(f"/proc/{running.pid}/task/{running.pid}/children")
        if case and children.exists():  # while workers start
            while len(children.read_text().split()) < case + 1 and running.poll() is None:
                time.sleep(0.001)
            time.sleep(0.1 * rng.random())
        else:  # while a model is trained
            while not log.exists():
                time.sleep(0.01)
        os.killpg(running.pid, signal.SIGINT)
        out, err = running.communicate(timeout=60)
        assert (running.returncode, out, err) == (130, "", "")


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="there are no process groups")
def test_more_interrupts_do_not_leave_workers_behind(corpus, tmp_path):
    log = tmp_path / "log"
    fit = f"        import time; open({str(log)!r}, 'a').write('x'); time.sleep(90)"
    words = (corpus, *plugin(tmp_path, fit), *SMALL, "--jobs", 2)
    running = process(tmp_path, *words, start_new_session=True, preexec_fn=allow_interrupts)
    while not log.exists():
        time.sleep(0.01)
    for _ in range(5):
        with suppress(ProcessLookupError):
            os.killpg(running.pid, signal.SIGINT)
        time.sleep(0.02)
    out, err = running.communicate(timeout=60)  # workers that are left have these pipes open
    assert (running.returncode, out, err) == (130, "", "")


@pytest.mark.skipif(os.name == "nt", reason="there are no such links")
@pytest.mark.parametrize("target", ["mine.py", "helper.py", "link.html", "hard.html"])
def test_the_code_of_a_model_is_never_written_over(corpus, tmp_path, target):
    models = plugin(tmp_path, "        import os; os._exit(1)")
    code = tmp_path / "mine.py"
    code.write_text(f"import helper\n{code.read_text()}")
    (tmp_path / "helper.py").write_text("WORD = 1\n")
    (tmp_path / "link.html").symlink_to(code)
    (tmp_path / "hard.html").hardlink_to(code)
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}
    running = process(tmp_path, corpus, *models, *SMALL, "--html", target)
    out, err = running.communicate()
    module = "helper" if target == "helper.py" else "mine"
    line = f"{target}: is the source of {module}; expected another file for --html\n"
    assert (running.returncode, out, err) == (2, "", line)
    assert all(path.read_bytes() == content for path, content in before.items())


@pytest.mark.parametrize(
    ("resume", "message"),
    [("x" * 3000, "File name too long"), ("{corpus}/below", ""), ("nul\0byte", "")],
)
def test_an_unusable_folder_is_refused_before_any_work(refused, corpus, tmp_path, resume, message):
    folder = resume.format(corpus=corpus)
    line = refused(
        "crossval", corpus, *plugin(tmp_path, "        1 / 0"), *SMALL, "--resume", folder
    )
    assert message in line
    assert "ZeroDivisionError" not in line


def test_documents_must_be_marked_to_be_kept(refused, corpus):
    models = ("--a", "crf:iob2", "--b", "crf:iobes", "--keep-documents", "-q")
    line = refused("crossval", corpus, *models)
    assert line.endswith("corpus.conll: marks no documents that could be kept whole")


def test_no_jobs(refused, corpus):
    assert "jobs" in refused("crossval", corpus, "--a", "crf:iob2", "--b", "crf:iob2", "--jobs", 0)


@pytest.mark.slow
@pytest.mark.parametrize("form", ["conll", "txt", "jsonl"])
@pytest.mark.skipif(os.name == "nt", reason="there are no named pipes")
def test_a_corpus_from_a_pipe_is_read_once(corpus, tmp_path, form):
    content = {
        "conll": corpus.read_text(),
        "txt": "".join(f"上海 浦东 开发 与 法制{'建设' * (i % 3)} 同步\n" for i in range(900)),
        "jsonl": '{"text": "Ada slept", "spans": [[0, 3, "PER"]]}\n' * 2000,
    }[form]
    named = tmp_path / f"named.{form}"
    named.write_text(content)
    words = (*plugin(tmp_path, "        pass")[:4], "--m", 1, *SMALL, "-f", "json")
    words = tuple(w if w != f"crf:iobes{FAST}" else "python:mine:Nothing" for w in words)
    expected = json.loads(process(tmp_path, named, *words).communicate()[0])
    pipe = tmp_path / f"pipe.{form}"
    os.mkfifo(pipe)
    running = process(tmp_path, pipe, *words)
    pipe.write_text(content)
    out, err = running.communicate()
    assert running.returncode == 0, err
    assert [f["counts"] for f in json.loads(out)["folds"]] == [
        f["counts"] for f in expected["folds"]
    ]
    task = () if form != "txt" else ("--task", "segmentation")
    running = process(tmp_path, "-", *words, *task, stdin=subprocess.PIPE)
    out, err = running.communicate(content)
    assert running.returncode == 0, err
    assert json.loads(out)["balance"] == expected["balance"]
