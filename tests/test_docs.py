"""Every example in the documentation and in the docstrings runs and prints what it says."""

from __future__ import annotations

import doctest
import importlib
import pkgutil
import re
import shlex

import pytest
from conftest import ROOT

import probative

PAGES = sorted([ROOT / "README.md", *ROOT.glob("docs/**/*.md")])
BLOCK = re.compile(r"^```(pycon|console)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
OPTIONS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
# what these commands print depends on the machine, or takes minutes
NOT_RUN = ("make ", "pip ", "python ", "cat ", "#")


def blocks(page, language):
    text = page.read_text(encoding="utf-8")
    for match in BLOCK.finditer(text):
        if match[1] == language:
            yield text.count("\n", 0, match.start()) + 1, match[2]


def named(page):
    return str(page.relative_to(ROOT))


@pytest.mark.parametrize(
    "page", [p for p in PAGES if any(True for _ in blocks(p, "pycon"))], ids=named
)
def test_python_examples(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}  # the examples of a page build on each other
    runner = doctest.DocTestRunner(optionflags=OPTIONS)
    problems: list[str] = []
    for line, code in blocks(page, "pycon"):
        example = doctest.DocTestParser().get_doctest(code, names, named(page), named(page), line)
        runner.run(example, out=problems.append, clear_globs=False)
        names = example.globs
    assert not problems, "".join(problems)
    assert runner.summarize(verbose=False).attempted


@pytest.mark.parametrize(
    "page", [p for p in PAGES if any(True for _ in blocks(p, "console"))], ids=named
)
def test_console_examples(page, run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    checker = doctest.OutputChecker()
    for line, block in blocks(page, "console"):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            lines, expected = re.match(r"((?:[^\n]*\\\n)*[^\n]*)\n?(.*)", part, re.DOTALL).groups()
            command = re.sub(r"\\\n", " ", lines)
            if command.startswith(NOT_RUN):
                continue
            words = shlex.split(command, comments=True)
            if words[0] == "printf":  # a small file, made before it is used
                content, arrow, name = words[1:]
                assert arrow == ">"
                (tmp_path / name).write_text(content.encode().decode("unicode_escape"))
                continue
            assert words[0] == "probative", f"{named(page)}:{line}: cannot run {command!r}"
            outcome = run(*words[1:])
            got = outcome.out + outcome.err
            assert checker.check_output(expected, got, OPTIONS), (
                f"{named(page)}:{line}: {command}\nexpected:\n{expected}\ngot:\n{got}"
            )


def modules():
    for module in pkgutil.walk_packages(probative.__path__, "probative."):
        if not module.name.endswith("__main__") and "learners" not in module.name:
            yield module.name


@pytest.mark.parametrize("name", ["probative", *modules()])
def test_docstring_examples(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    failed, _ = doctest.testmod(importlib.import_module(name), optionflags=OPTIONS)
    assert failed == 0
