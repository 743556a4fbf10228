"""What a command writes, and what it never writes over."""

from __future__ import annotations

import errno
import os
import socket
import stat
from pathlib import Path

import pytest

from probative.errors import InputError
from probative.files import check_folder, check_target, write_whole

TAGS = "Ann\tB-PER\nsaw\tO\n\nLee\tB-PER\n"
COUNTS = ("interval", "--tp", 77, "--fp", 44, "--fn", 10)


@pytest.fixture
def gold(write):
    return write(TAGS, "gold.conll")


def kinds(folder: Path) -> dict[str, object]:
    return {
        path.name: path.read_bytes() if path.is_file() else stat.S_IFMT(path.lstat().st_mode)
        for path in folder.iterdir()
    }


def test_no_input_is_written_over_by_any_name(refused, gold, tmp_path):
    (tmp_path / "symbolic").symlink_to(gold)
    (tmp_path / "hard").hardlink_to(gold)
    (tmp_path / "folder").symlink_to(tmp_path)
    before = kinds(tmp_path)
    for name in ("gold.conll", "symbolic", "hard", "folder/gold.conll"):
        line = refused("check", gold, "--html", f"{tmp_path}/{name}")
        what = "an input" if name == "gold.conll" else f"the input {gold}"
        assert line == f"{tmp_path}/{name}: is {what}; expected another file for --html"
    for name in ("gold.svg", "link.svg"):
        figure = tmp_path / name
        figure.hardlink_to(gold) if name == "gold.svg" else figure.symlink_to(gold)
        assert "expected another file for --figure" in refused(
            "score", gold, gold, "--figure", figure
        )
        figure.unlink()
    assert kinds(tmp_path) == before


@pytest.mark.parametrize(
    ("arguments", "inputs"),
    [
        (("interval", "--counts", "c.csv", "--html", "c.csv"), {"c.csv": "tp,fp,fn\n1,2,3\n"}),
        (
            ("score", "g", "g", "--train-words", "w.txt", "--html", "w.txt"),
            {"g": TAGS, "w.txt": "a"},
        ),
        (("bayes", "a.csv", "b.csv", "--figure", "b.svg"), {"a.csv": "", "b.csv": ""}),
        (("study", "chunking", "--ner", "n.conll", "--html", "n.conll"), {"n.conll": TAGS}),
        (("crossval", "c", "--a", "crf:iob2", "--b", "crf:io", "--html", "c"), {"c": TAGS}),
        (("compare", "g", "a", "g", "--html", "a"), {"g": TAGS, "a": TAGS}),
        (("plan", "g", "a", "g", "--html", "a"), {"g": TAGS, "a": TAGS}),
        (("split", "g", "-o", "new", "--html", "g"), {"g": TAGS}),
        (("sweep", "g", "p", "--html", "p"), {"g": "a b\n", "p": "[0.5]\n"}),
    ],
)
def test_every_command_knows_its_inputs(refused, tmp_path, monkeypatch, arguments, inputs):
    monkeypatch.chdir(tmp_path)
    for name, content in inputs.items():
        Path(name).write_text(content)
    if "b.csv" in inputs:
        Path("b.svg").hardlink_to("b.csv")
    before = kinds(tmp_path)
    assert "input" in refused(*arguments)
    assert kinds(tmp_path) == before


def test_a_file_of_folds_is_not_written_over(run, refused, write, tmp_path):
    corpus = write("\n\n".join([TAGS.strip()] * 8) + "\n", "corpus.conll")
    folds = tmp_path / "folds"
    assert run("split", corpus, "-o", folds, "--m", 1, "-q").status == 0
    given = ("bayes", "--folds", folds, "--preds-a", f"{folds}/*valid*", "--preds-b", "x")
    for name in ("manifest.json", "new.json"):
        line = refused(*given, "--html", folds / name)
        assert "could write over a file of" in line
        assert "expected a name ending in .html or .htm" in line


@pytest.mark.parametrize("kind", ["directory", "pipe", "socket", "device"])
def test_what_is_no_file_stays_what_it_is(refused, gold, tmp_path, kind, monkeypatch):
    monkeypatch.chdir(tmp_path)  # the name of a socket must be short
    place = Path("place.html")
    if kind == "directory":
        place.mkdir()
    elif kind == "pipe":
        os.mkfifo(place)
    elif kind == "socket":
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(str(place))
    else:
        try:  # one of our own: a mistake here would replace the machine's
            os.mknod(place, stat.S_IFCHR | 0o600, os.makedev(1, 3))
        except PermissionError:
            pytest.skip("only root makes devices")
    before = stat.S_IFMT(place.lstat().st_mode)
    link = Path("link.html")
    link.symlink_to(place)
    for path in (place, link):
        line = refused("check", gold, "--html", path)
        assert f"cannot be written: it is a {kind}; expected the name of a file" in line
        with pytest.raises(InputError, match="cannot be written"):
            write_whole(path, "x")
    assert stat.S_IFMT(place.lstat().st_mode) == before
    assert link.is_symlink()


def test_a_symbolic_link_stays_and_its_target_is_written(run, refused, tmp_path):
    (tmp_path / "elsewhere").mkdir()
    target, link = tmp_path / "elsewhere" / "page.html", tmp_path / "link.html"
    link.symlink_to(target)
    for _ in range(2):  # the target is made, then replaced
        outcome = run(*COUNTS, "--html", link)
        assert outcome.status == 0
        assert f"wrote {target}, where {link} points to" in outcome.err
        assert link.is_symlink()
        assert target.read_text().startswith("<!doctype html>")
    assert [path.name for path in target.parent.iterdir()] == ["page.html"]
    (tmp_path / "loop.html").symlink_to("loop.html")
    assert "cannot be written" in refused(*COUNTS, "--html", tmp_path / "loop.html")


def test_two_outputs_are_two_files(refused, write, tmp_path):
    a, b = write("tp,fp,fn\n1,2,3\n", "a.csv"), write("tp,fp,fn\n1,2,3\n", "b.csv")
    (tmp_path / "link.svg").symlink_to("page.svg")
    line = refused(
        "bayes", a, b, "--html", tmp_path / "page.svg", "--figure", tmp_path / "link.svg"
    )
    assert line.endswith("link.svg: cannot be both --html and --figure; expected two files")
    assert not (tmp_path / "page.svg").exists()


def test_no_output_is_where_standard_output_goes(tmp_path):
    import subprocess
    import sys

    page = tmp_path / "page.html"
    command = [sys.executable, "-m", "probative", *map(str, COUNTS), "--html", str(page)]
    with page.open("w") as out:
        done = subprocess.run(command, stdout=out, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 2
    assert "is where standard output goes; expected another file for --html" in done.stderr
    data = tmp_path / "counts.csv"
    data.write_text("tp,fp,fn\n1,2,3\n")
    command = [sys.executable, "-m", "probative", "interval", "--counts", "-", "--html", str(data)]
    with data.open() as given:
        done = subprocess.run(command, stdin=given, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "is read as standard input; expected another file for --html" in done.stderr
    assert data.read_text() == "tp,fp,fn\n1,2,3\n"


def test_outputs_are_checked_before_inputs_are_read(refused, tmp_path):
    missing = tmp_path / "no such input"
    for path in (tmp_path / "none" / "page.html", tmp_path / ("n" * 300), tmp_path / "f" / "x"):
        (tmp_path / "f").touch()
        line = refused("compare", missing, missing, missing, "--html", path)
        assert line.startswith(f"{path}: cannot be written: ")
        assert line.count(str(path)) == 1
    line = refused("score", missing, missing, "--figure", tmp_path / "x.gif")
    assert "expected a name ending in .png, .svg or .pdf" in line
    for option in ("--resume",):
        line = refused("crossval", missing, "--a", "crf:io", "--b", "crf:io", option, "r" * 5000)
        assert "cannot be made: File name too long" in line


@pytest.mark.skipif(os.geteuid() == 0, reason="everything is writable to root")
def test_folders_without_permission(refused, tmp_path):
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o500)
    assert "its folder is not writable" in refused(*COUNTS, "--html", closed / "page.html")
    with pytest.raises(InputError, match="not writable"):
        check_folder(closed / "new")


def test_an_output_folder_holds_no_input(refused, gold, tmp_path):
    given = ("study", "segmentation", "--train", gold, "--dev", gold, "--test", gold)
    line = refused(*given, "-o", tmp_path)
    assert f"--output holds the input {gold}; expected another folder" in line


def test_standard_input_is_read_once(refused):
    assert "standard input can be read only once" in refused("score", "-", "-")


def test_a_full_disk_is_told_and_leaves_nothing(refused, tmp_path, monkeypatch):
    page = tmp_path / "page.html"
    page.write_text("what was there")
    real = os.fdopen

    class Full:
        def __init__(self, *arguments):
            self.file = real(*arguments)

        def __enter__(self):
            return self

        def __exit__(self, *_):
            self.file.close()

        def write(self, data):
            self.file.write(data[:10])
            raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("probative.files.os.fdopen", Full)
    line = refused(*COUNTS, "--html", page)
    assert line == f"{page}: cannot be written: the disk is full"
    assert kinds(tmp_path) == {"page.html": b"what was there"}


def test_replaced_files_keep_their_permissions(tmp_path):
    path = tmp_path / "private"
    path.write_text("")
    path.chmod(0o640)
    write_whole(path, "x")
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert check_target(path) == Path(os.path.realpath(path))


@pytest.mark.slow
def test_the_demo_keeps_what_was_edited(run, refused, tmp_path):
    assert run("demo", "-o", tmp_path, "-q").status == 0
    assert run("demo", "-o", tmp_path, "-q").status == 0  # nothing was edited
    edited = tmp_path / "new.conll"
    edited.write_text("mine\tO\n")
    line = refused("demo", "-o", tmp_path)
    assert line.startswith(f"{edited}: was edited; --force overwrites it")
    assert edited.read_text() == "mine\tO\n"
    assert run("demo", "-o", tmp_path, "-q", "--force").status == 0
    assert edited.read_text() != "mine\tO\n"
    (tmp_path / "report.html").write_text("<p>my own report</p>")
    assert "is no page of this program" in refused("demo", "-o", tmp_path)
