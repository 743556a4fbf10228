"""The library speaks of keywords; the command line puts its flags in their place."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import click
import pytest

import probative as pv
from probative.cli.options import _by_flag
from probative.errors import InputError

SOURCE = Path(pv.__file__).parent
FLAG = re.compile(r"(?<![\w-])--?[a-zA-Z](?![^\W_])|(?<![\w-])--[a-z][a-z-]+")
# what is no flag of ours: Python's own, to run a check in a process, and that of a shell
NOT_OURS = {
    ("reading/large_tables.py", "-I"),
    ("reading/large_tables.py", "-c"),
    ("reading/database.py", "-c"),
    # reports, which are mostly read on the command line, name the option to use
    ("reporting/score_report.py", "Two classes: --positive "),
    (
        "reporting/score_report.py",
        (
            "Recall leads: precision and F1 reward splitting too little. --metric chooses another "
            "score."
        ),
    ),
    (
        "reporting/compare_report.py",
        (
            "Differences without p are not tested, and not adjusted for their number; --metric "
            "tests them."
        ),
    ),
    ("matching/check.py", "--field '"),
    ("matching/check.py", "--open-map "),
    ("matching/check.py", "--unique "),
}

TAGS = "Ada B-PER\nmet O\n\nBob B-PER\n"


def literals(path: Path) -> list[str]:
    """The string literals of a module, but for its docstrings."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    docstrings = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef))
        and node.body
        and isinstance(node.body[0], ast.Expr)
    }
    return [
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and id(node) not in docstrings
    ]


@pytest.mark.lint
def test_no_module_outside_the_command_line_names_a_flag():
    named = {
        (path.relative_to(SOURCE).as_posix(), text)
        for path in SOURCE.rglob("*.py")
        if path.relative_to(SOURCE).parts[0] not in ("cli", "options.py")  # which declares them
        for text in literals(path)
        if FLAG.search(text)
    }
    assert named == NOT_OURS


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    contents = {
        "gold.conll": TAGS,
        "other.conll": TAGS.replace("Bob", "Rob"),
        "three.conll": "B-PER B-PER O\nO B-LOC O\n",
        "latin.conll": TAGS.replace("Bob", "Zo\xeb"),
        "table.csv": "first,second,third\nyes,no,yes\n",
    }
    for name, content in contents.items():
        Path(name).write_text(content, encoding="latin-1")


@pytest.mark.parametrize(
    ("command", "call", "keyword", "flag"),
    [
        (
            ("score", "gold.conll", "other.conll"),
            lambda: pv.score("gold.conll", "other.conll"),
            "(align_by='position' ignores tokens)",
            "(--align position ignores tokens)",
        ),
        (
            ("score", "latin.conll", "gold.conll"),
            lambda: pv.score("latin.conll", "gold.conll"),
            "(encoding=, such as latin-1 or gb18030)",
            "(--encoding, such as latin-1 or gb18030)",
        ),
        (
            ("score", "table.csv"),
            lambda: pv.score("table.csv"),
            "(gold_column=, columns=)",
            "(--gold-column, --columns)",
        ),
        (
            ("score", "gold.conll", "gold.conll", "--columns", "2"),
            lambda: pv.score("gold.conll", "gold.conll", columns=["2"]),
            "gold_column, columns: the systems have inputs of their own",
            "--gold-column, --columns: the systems have inputs of their own",
        ),
        (
            ("score", "gold.conll", "gold.conll", "--columns", "2"),
            lambda: pv.score("gold.conll", "gold.conll", columns=["2"]),
            "expected one file that holds all, or tag_column=",
            "expected one file that holds all, or --tag-column",
        ),
        (
            ("compare", "gold.conll", "gold.conll", "other.conll", "--align", "x"),
            lambda: pv.compare("gold.conll", "gold.conll", "other.conll", align_by="x"),
            "align_by: unknown 'x'",
            "--align: unknown 'x'",
        ),
        (
            ("interval", "--tp", "1", "--fp", "1", "--fn", "1", "--level", "2"),
            lambda: pv.interval(pv.Counts(1, 1, 1), level=2),
            "level: 2",
            "--level: 2",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
@pytest.mark.usefixtures("files")
def test_python_names_the_keyword_and_the_command_its_flag(refused, command, call, keyword, flag):
    with pytest.raises(InputError) as error:
        call()
    assert keyword in str(error.value)
    assert flag in refused(*command)


@pytest.mark.parametrize(
    ("message", "path", "translated"),
    [
        ("rng: no seed", None, "--seed: no seed"),
        ("rng, only: no", None, "--seed, --only: no"),
        ("rng: in a file's heading", "f.txt", "f.txt: rng: in a file's heading"),
        ("expected only='a-b'", "f.txt", "f.txt: expected --only a-b"),
        ("expected strict=True, rng=3", None, "expected --strict, --seed 3"),
        ("other=3, found 'rng=3' or \"only=\"", None, "other=3, found 'rng=3' or \"only=\""),
        ("other, rng: no", None, "other, rng: no"),
        ("the same (align_by='position' accepts others); so", None, "the same; so"),
        ("the same (only='a' accepts others)", None, "the same (--only a accepts others)"),
    ],
)
def test_only_keywords_of_the_command_are_translated(message, path, translated):
    parameters = [
        click.Option(["--seed", "rng"]),
        click.Option(["--only", "-o", "only"]),
        click.Option(["--strict", "strict"], is_flag=True),
    ]
    error = _by_flag(InputError(message, path), parameters)
    assert str(error) == translated
