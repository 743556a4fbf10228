"""Every example in the documentation and in the docstrings runs and prints what it says."""

from __future__ import annotations

import doctest
import importlib
import inspect
import re
import shlex

import pytest
from conftest import ROOT

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
        status = 0
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            lines, expected = re.match(r"((?:[^\n]*\\\n)*[^\n]*)\n?(.*)", part, re.DOTALL).groups()
            command = re.sub(r"\\\n", " ", lines)
            if command == "echo $?":
                assert expected.strip() == str(status), f"{named(page)}:{line}: status {status}"
                status = 0
                continue
            assert status == 0, f"{named(page)}:{line}: status {status}, and no echo $? shows it"
            if command.startswith(NOT_RUN):
                continue
            words = shlex.split(command, comments=True)
            if words[0] == "mkdir":
                (tmp_path / words[1]).mkdir()
                continue
            if words[0] == "printf":  # a small file, made before it is used
                content, arrow, name = words[1:]
                assert arrow == ">"
                (tmp_path / name).write_text(content.encode().decode("unicode_escape"))
                continue
            assert words[0] == "probative", f"{named(page)}:{line}: cannot run {command!r}"
            outcome = run(*words[1:])
            status = outcome.status
            got = outcome.out + outcome.err
            assert checker.check_output(expected, got, OPTIONS), (
                f"{named(page)}:{line}: {command}\nexpected:\n{expected}\ngot:\n{got}"
            )
        assert status == 0, f"{named(page)}:{line}: status {status}, and no echo $? shows it"


def modules():
    """The modules with examples: those without have nothing to test."""
    for path in sorted((ROOT / "src").rglob("*.py")):
        if ">>> " in path.read_text(encoding="utf-8"):
            name = ".".join(path.relative_to(ROOT / "src").with_suffix("").parts)
            marks = [pytest.mark.neural] if name == "probative.learners.bigru" else []
            yield pytest.param(name.removesuffix(".__init__"), marks=marks, id=name)


class Finder(doctest.DocTestFinder):
    """Finds the examples of decorated functions, too."""

    def _from_module(self, module, thing):
        if callable(thing) and hasattr(thing, "__wrapped__"):
            return thing.__module__ == module.__name__
        return super()._from_module(module, thing)


@pytest.mark.parametrize("name", [*modules()])
def test_docstring_examples(name, tmp_path, monkeypatch):
    if name == "probative.learners.bigru":
        pytest.importorskip("torch")
    monkeypatch.chdir(tmp_path)
    module = importlib.import_module(name)
    runner = doctest.DocTestRunner(optionflags=OPTIONS)
    for example in Finder(exclude_empty=True).find(module, name):
        runner.run(example)
    done = runner.summarize(verbose=False)
    written = inspect.getsource(module).count(">>> ")
    assert done.failed == 0
    assert done.attempted == written  # none is overlooked
