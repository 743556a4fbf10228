"""A folder belongs to one run; whatever is not of that run is refused by name."""

from __future__ import annotations

import json
import multiprocessing
import os
import stat
import subprocess
import sys
import textwrap
import threading
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import probative as pv
from probative import files as resume
from probative.files import ResumableFolder, code_digest, create_whole, digest

RUN = {"data": "d", "seed": 5}
PART = {"fold": 1, "model": "a"}


def sealed(content):
    """A file with a checksum that fits, whatever is in it."""
    return resume.seal(content)


def test_what_is_kept_comes_back(tmp_path):
    folder = ResumableFolder(tmp_path / "deep" / "er", RUN)
    assert folder.load("x", PART) is None
    content = {"seconds": 0.1, "predictions": [1, "é\ud800", None, True, 1.5, [2, "x"]]}
    folder.keep("x", PART, content)
    assert ResumableFolder(folder.path, RUN).load("x", PART) == content
    json.loads(folder.file("x").read_text())  # plain JSON, for whoever wants to look


def test_another_run_is_refused_and_a_suggested_value_is_not(tmp_path):
    ResumableFolder(tmp_path, RUN)
    for other in ({**RUN, "data": "e"}, {"seed": 5}, {**RUN, "more": 1}, {**RUN, "seed": 6}):
        with pytest.raises(pv.InputError, match="holds the results of another run"):
            ResumableFolder(tmp_path, other)
    assert ResumableFolder(tmp_path, {**RUN, "seed": 6}, adopt=("seed",)).run == RUN


@given(st.data())
def test_not_a_bit_changes_unnoticed(tmp_path_factory, data):
    folder = ResumableFolder(tmp_path_factory.mktemp("f"), RUN)
    folder.keep("x", PART, {"predictions": [0, 1, 1], "seconds": 0.25})
    path = data.draw(st.sampled_from([folder.file("x"), folder.path / "run.json"]))
    good = path.read_bytes()
    at = data.draw(st.integers(0, len(good) - 1))
    flipped = bytes([good[at] ^ 1 << data.draw(st.integers(0, 7))])
    bad = data.draw(
        st.sampled_from(
            [good[:at], good[:at] + flipped + good[at + 1 :], good[:at] + b" " + good[at:]]
        )
    )
    path.write_bytes(bad)
    with pytest.raises(pv.InputError) as caught:
        ResumableFolder(folder.path, RUN).load("x", PART)
    assert str(caught.value).startswith(f"{path}: cannot be read (")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "it is no file of 'probative results 2'"),
        (b'{"fold": 1, "model": "a", "seconds": 1, "predictions": []}', "it is no file of"),
        (b"[" * 100_000, "it is no file of"),
        (resume._sealed(b"[" * 100_000), "it is too deep"),
        (resume._sealed(b"9" * 5000), "Exceeds the limit"),
        (resume._sealed(b'{"run": '), "Expecting value"),
        (sealed(["run"]), "it has no run, part and result"),
        (sealed({"run": "x", "part": PART}), "it has no run, part and result"),
    ],
)
def test_files_that_are_not_ours(tmp_path, content, message):
    folder = ResumableFolder(tmp_path, RUN)
    folder.file("x").write_bytes(content)
    with pytest.raises(pv.InputError, match=message) as caught:
        folder.load("x", PART)
    assert str(caught.value).startswith(f"{folder.file('x')}: cannot be read")
    assert str(caught.value).endswith("; delete it to do its part again")


def test_a_file_of_another_part_or_run(tmp_path):
    folder = ResumableFolder(tmp_path / "a", RUN)
    folder.keep("x", PART, [1])
    folder.keep("y", {**PART, "fold": 2}, [2])
    folder.file("x").write_bytes(folder.file("y").read_bytes())
    with pytest.raises(pv.InputError, match=r"x\.json: holds another part: fold is 2; expected 1"):
        folder.load("x", PART)
    other = ResumableFolder(tmp_path / "b", {**RUN, "seed": 6})
    other.keep("x", PART, [1])
    folder.file("x").write_bytes(other.file("x").read_bytes())
    with pytest.raises(pv.InputError, match=r"x\.json: holds a part of another run"):
        folder.load("x", PART)


def test_a_run_record_that_is_no_record(tmp_path):
    (tmp_path / "run.json").write_bytes(sealed([1]))
    with pytest.raises(pv.InputError, match=r"run\.json: does not say which run this is"):
        ResumableFolder(tmp_path, RUN)


def test_a_part_in_the_place_of_the_run_record(tmp_path):
    folder = ResumableFolder(tmp_path, {"seed": 7})
    folder.keep("fold-1", {"fold": 1}, [0])
    folder.file("fold-1").replace(tmp_path / "run.json")
    with pytest.raises(pv.InputError, match=r"run\.json: does not say which run this is"):
        ResumableFolder(tmp_path, {"seed": 7})


def test_leftovers_do_not_block_a_folder_and_strangers_do(tmp_path):
    (tmp_path / ".run.json-k2j3").write_text('{"format"')
    ResumableFolder(tmp_path, RUN)
    other = tmp_path / "other"
    other.mkdir()
    (other / "thesis.tex").touch()
    with pytest.raises(pv.InputError, match=r"holds 'thesis.tex' and no run\.json"):
        ResumableFolder(other, RUN)


@pytest.mark.parametrize("path", ["x" * 5000, "file/below", "nul\0", "file"])
def test_paths_that_cannot_be_folders(tmp_path, path):
    (tmp_path / "file").touch()
    with pytest.raises(pv.InputError, match="cannot be used: "):
        ResumableFolder(tmp_path / path, RUN)


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_that_cannot_be_written(tmp_path):
    folder = ResumableFolder(tmp_path / "f", RUN)
    folder.path.chmod(stat.S_IRUSR | stat.S_IXUSR)
    with pytest.raises(pv.InputError, match="cannot be used: Permission denied"):
        folder.check_writable()


def test_a_result_that_json_cannot_hold(tmp_path):
    folder = ResumableFolder(tmp_path, RUN)
    for result in ({1, 2}, 10**5000):
        with pytest.raises(pv.InputError, match=r"x\.json: cannot hold this result"):
            folder.keep("x", PART, result)
    assert not folder.file("x").exists()


def claim(path, seed, barrier, answers):
    barrier.wait()
    answers.put((seed, ResumableFolder(path, {"seed": seed}, adopt=("seed",)).run["seed"]))


def test_of_several_who_start_at_once_one_decides(tmp_path):
    context = multiprocessing.get_context("fork")
    for number in range(15):
        barrier, answers = context.Barrier(4), context.Queue()
        processes = [
            context.Process(target=claim, args=(tmp_path / str(number), seed, barrier, answers))
            for seed in range(4)
        ]
        for process in processes:
            process.start()
        found = [answers.get(timeout=60) for _ in processes]
        for process in processes:
            process.join()
        assert {seed for seed, _ in found} == {0, 1, 2, 3}
        assert len({taken for _, taken in found}) == 1
        assert [path.name for path in (tmp_path / str(number)).iterdir()] == ["run.json"]


def test_creating_does_not_replace_also_without_links(tmp_path, monkeypatch):
    def refuse(*_):
        raise PermissionError(1, "Operation not permitted")

    for patch in (False, True):
        if patch:
            monkeypatch.setattr(os, "link", refuse)
        path = tmp_path / f"file-{patch}"
        assert create_whole(path, "one")
        assert not create_whole(path, "two")
        assert path.read_text() == "one"
    assert len(list(tmp_path.iterdir())) == 2


class Model:
    def __init__(self, value):
        self.value = value


def test_digests_are_of_values():
    assert digest("X", ["ab", "ab"]) == digest("X", ["".join(["a", "b"]), "ab"])
    assert digest("X", {"b", "a"}) == digest("X", {"a", "b"})
    assert digest("X", np.arange(3)) != digest("X", np.arange(4))
    assert digest("X", Model(1)) == digest("X", Model(1)) != digest("X", Model(2))


@pytest.mark.parametrize("value", [Model(lambda x: x), (x for x in "ab"), Model(threading.Lock())])
def test_what_cannot_be_pickled_has_no_digest(value):
    for compute in (digest, code_digest):
        with pytest.raises(pv.InputError, match=r"model_a: .* cannot be identified \("):
            compute("model_a", value)


SCRIPT = """
import sys
import probative.files as identity
LIMIT = {limit}
def helper(x):
    return x < LIMIT + {constant}
class Base:
    def fit(self, X, y):
        return {base}
class Model(Base):
    window = {window}
    @property
    def wide(self):
        return {wide}
    @staticmethod
    def predict(X):
        return [helper(x) for x in X]
def unused():
    return {unused}
print(identity.code_digest("m", [Model()]))
"""
DEFAULTS = {"limit": 1, "constant": 1, "base": 1, "window": 1, "wide": 1, "unused": 1}


def code_of(tmp_path, **changed):
    (tmp_path / "script.py").write_text(SCRIPT.format(**{**DEFAULTS, **changed}))
    words = [sys.executable, str(tmp_path / "script.py")]
    return subprocess.run(words, capture_output=True, text=True, check=True).stdout


@pytest.mark.slow
def test_the_code_of_a_script_counts_where_it_is_used(tmp_path):
    known = code_of(tmp_path)
    assert code_of(tmp_path) == known
    assert code_of(tmp_path, unused=2) == known
    for name in DEFAULTS.keys() - {"unused"}:
        assert code_of(tmp_path, **{name: 2}) != known, name


def module_digest(tmp_path, **sources):
    for name, source in sources.items():
        (tmp_path / f"{name}.py").write_text(textwrap.dedent(source))
    program = "import model, probative.files as i; print(i.code_digest('m', model.Model()))"
    done = subprocess.run(
        [sys.executable, "-B", "-c", program],
        capture_output=True,
        text=True,
        check=True,
        cwd=tmp_path,
    )
    return done.stdout


def test_the_source_of_modules_counts_and_of_those_they_use(tmp_path):
    (tmp_path / "space").mkdir()
    (tmp_path / "space" / "inner.py").write_text("X = 1\n")
    known = module_digest(
        tmp_path,
        helper="from space import inner\ndef f(x):\n    return x\n",
        other="def g(x):\n    return x\n",
        model="import json\nfrom helper import f\nclass Model:\n    def fit(self, X, y): f(X)\n",
    )
    assert module_digest(tmp_path) == known
    assert module_digest(tmp_path, other="def g(x):\n    return 2\n") == known
    assert module_digest(tmp_path, helper="def f(x):\n    return 2\n") != known
    module_digest(tmp_path, helper="from space import inner\ndef f(x):\n    return x\n")
    (tmp_path / "space" / "inner.py").write_text("X = 2\n")
    assert module_digest(tmp_path) != known


def test_versions_of_installed_packages_count(monkeypatch):
    from sklearn.linear_model import LogisticRegression

    known = code_digest("m", LogisticRegression())
    monkeypatch.setattr("sklearn.__version__", "0.1")
    assert code_digest("m", LogisticRegression()) != known


def test_a_class_of_a_notebook_is_known_by_its_functions(tmp_path):
    program = (
        "import linecache, sys\n"
        "source = 'class Model:\\n    size = %s\\n    def fit(self, X):\\n        return %s\\n'\n"
        "source = source % tuple(sys.argv[1:])\n"
        "linecache.cache['<cell 1>'] = (len(source), None, source.splitlines(True), '<cell 1>')\n"
        "del sys.modules['__main__'].__file__\n"
        "exec(compile(source, '<cell 1>', 'exec'), vars(sys.modules['__main__']))\n"
        "import probative.files as i; print(i.code_digest('m', Model()))\n"
    )
    path = tmp_path / "kernel.py"
    path.write_text(program)

    def known(*words):
        return subprocess.run(
            [sys.executable, str(path), *words], capture_output=True, text=True, check=True
        ).stdout

    assert known("1", "2") == known("1", "2")
    assert len({known("1", "2"), known("1", "3"), known("2", "2")}) == 3


def test_a_class_without_source_is_refused():
    program = (
        "import probative as pv, probative.files as i\n"
        "class Model:\n    def fit(self, X, y): pass\n"
        "try: i.code_digest('model_a', Model())\n"
        "except pv.InputError as error: print(error)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert "model_a: Model cannot be identified (" in done.stdout
    assert "from a module; or no folder" in done.stdout


@pytest.mark.slow
def test_two_kills_and_damage(capsys):
    sys.path.insert(0, str(Path(__file__).parent))
    import kill_runs

    words = ["--n", "2", "--seed", "4", "--only", "crossval, two jobs"]
    assert kill_runs.main(words) == 0, capsys.readouterr().out
    assert capsys.readouterr().out.endswith("2 kills, 0 wrong\n")
