"""Every example in the documentation and in the docstrings runs and prints what it says."""

from __future__ import annotations

import doctest
import importlib
import inspect
import json
import re
import runpy
import shlex
import shutil
import subprocess
import sys
import warnings

import click
import pytest
from conftest import ROOT

from probative.cli.app import build_app

sys.path.insert(0, str(ROOT / "docs"))
import picture

from examples import FILES, WIDTH, blocks, copy_files, examples, perform

PAGES = sorted([ROOT / "README.md", ROOT / "CONTRIBUTING.md", *ROOT.glob("docs/**/*.md")])
OPTIONS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
# what a block of Python imports decides where it can run: with extras, or where it is installed
MARKS = {"bigru": pytest.mark.neural, "dask": pytest.mark.cluster}
ELSEWHERE = ("torch", "dask", "datasets", "dvclive", "mlflow", "spacy", "transformers", "wandb")


def named(page):
    return str(page.relative_to(ROOT))


def with_blocks(*languages):
    return [page for page in PAGES if any(True for _ in blocks(page, *languages))]


@pytest.mark.parametrize("page", with_blocks("pycon"), ids=named)
def test_python_examples(page, tmp_path, monkeypatch):
    copy_files(tmp_path)
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


def scripts():
    """Every block of plain Python, with what it needs."""
    for page in with_blocks("python"):
        for line, code in blocks(page, "python"):
            marks = [mark for word, mark in MARKS.items() if word in code]
            yield pytest.param(page, line, code, marks=marks, id=f"{named(page)}:{line}")


@pytest.mark.parametrize(("page", "line", "code"), [*scripts()])
def test_python_scripts(page, line, code, tmp_path, monkeypatch):
    """They stand alone; those that need another package skip where it is not."""
    needed = re.findall(r"^\s*(?:import|from) (\w+)", code, re.MULTILINE)
    for module in [*needed, *(["torch"] if "bigru" in code else [])]:
        if module in ELSEWHERE:
            pytest.importorskip(module)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MLFLOW_TRACKING_URI", (tmp_path / "mlruns").as_uri())
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    monkeypatch.setenv("WANDB_MODE", "offline")
    with warnings.catch_warnings():
        if set(needed) & set(ELSEWHERE):
            warnings.simplefilter("ignore")  # theirs, not ours
        exec(compile(code, f"{named(page)}:{line}", "exec"), {"__name__": "example"})  # noqa: S102


@pytest.mark.parametrize("page", with_blocks("console"), ids=named)
def test_console_examples(page, run, tmp_path, monkeypatch):
    copy_files(tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", str(WIDTH))
    checker = doctest.OutputChecker()

    def probative(*words):
        outcome = run(*words)
        return outcome.status, outcome.out + outcome.err

    for line, block in blocks(page, "console"):
        status = 0
        for example in examples(block):
            where = f"{named(page)}:{line}: {example.command}"
            if example.command != "echo $?":
                assert status == 0, f"{where}: status {status} before, and no echo $? shows it"
            if not example.is_run:
                continue
            status, got = perform(example, probative, status)
            assert checker.check_output(example.expected, got, OPTIONS), (
                f"{where}\nexpected:\n{example.expected}\ngot:\n{got}"
            )
        assert status == 0, f"{named(page)}:{line}: status {status}, and no echo $? shows it"


def recorded():
    """Commands of recorded results: minutes long, and some on data that others publish."""
    pattern = re.compile(r"^(?: {4})?(?:\$ )?(probative [a-z](?:.*\\\n)*.*)$", re.MULTILINE)
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        quiet = "\n".join(block for _, block in blocks(page, "text", "sh"))
        shown = re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)
        indented = "\n".join(re.findall(r"^ {4}\$ .*$", shown, re.MULTILINE))
        for match in pattern.finditer(f"{quiet}\n{indented}"):
            yield page, re.sub(r"\\\n\s*", "", match[1])


RECORDED = [*dict.fromkeys(recorded())]


def parsed(words):
    """What the options of a command are, by name; an unknown one is an error."""
    group = build_app()
    context = click.Context(group, info_name="probative")
    while isinstance(group, click.Group):
        name, group, words = group.resolve_command(context, list(words))
        context = click.Context(group, info_name=name, parent=context)
    return group.make_context(name, list(words), parent=context).params


@pytest.mark.slow
@pytest.mark.parametrize(
    ("page", "command"), RECORDED, ids=[f"{named(page)}: {command}" for page, command in RECORDED]
)
def test_recorded_commands(page, command, run, tmp_path, monkeypatch):
    """They are understood as they stand; studies that draw run, with two draws."""
    monkeypatch.chdir(tmp_path)
    words = shlex.split(command, comments=True)[1:]
    options = parsed(words)
    if "replicates" not in options or "--gold" in words or words[1:4:2] == ["metrics", "score"]:
        return  # needs corpora, or goes through all tables: what it printed is recorded
    less = ("--systems", 3) if "systems" in options else ()
    less = ("--items", 4000) if words[1] == "annotation" else less
    outcome = run(*words, *less, "--replicates", 2, "--quiet")
    assert outcome.status == 0, f"{named(page)}: {outcome.err}"


def test_recorded_commands_are_found():
    assert len(RECORDED) > 40
    studies = {command.split()[2] for page, command in RECORDED if page.name == "tested.md"}
    context = click.Context(build_app())
    study = context.command.get_command(context, "study")
    assert studies >= {*study.list_commands(context)} - {"coverage"}  # that one is run as shown


def test_every_table_of_figures_is_linked():
    text = (ROOT / "docs" / "tested.md").read_text(encoding="utf-8")
    linked = re.findall(r"\]\(results/([\w.-]+\.csv)\)", text)
    assert sorted(linked) == sorted(path.name for path in ROOT.glob("docs/results/*.csv"))


def test_example_files_are_those_of_the_script(tmp_path):
    script = runpy.run_path(str(FILES / "make_data.py"))
    script["main"](tmp_path)
    made = sorted(tmp_path.iterdir())
    assert len(made) == 5
    for path in made:
        assert path.read_bytes() == (FILES / path.name).read_bytes(), path.name


def anchors(page):
    """The anchors of the headings of a page, as GitHub and MyST make them."""
    text = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.M | re.S)
    for heading in re.findall(r"^#+ (.*)$", text, re.MULTILINE):
        yield re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-").replace("--", "-")


@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md"])
def test_links_of_the_repository_lead_somewhere(name):
    text = re.sub(r"^```.*?^```$", "", (ROOT / name).read_text(), flags=re.MULTILINE | re.DOTALL)
    links = re.findall(r"\]\(([^)]+)\)", text)
    assert links
    for link in links:
        assert not link.startswith("http"), f"{link}: is it real?"
        path, _, anchor = link.partition("#")
        assert (ROOT / path).is_file(), link
        assert not anchor or anchor in {*anchors(ROOT / path)}, link


def test_no_address_of_the_project_is_made_up():
    """Where the repository will be is not known: pages name a pattern instead."""
    for page in [*PAGES, ROOT / "pyproject.toml", ROOT / "CITATION.cff", ROOT / "SECURITY.md"]:
        text = page.read_text(encoding="utf-8")
        assert not re.search(r"https?://\S*probative", text), named(page)


NAMED = re.compile(r"`([a-z_]+(?:[./][A-Za-z_]+)+|[a-z_]+\.py)(?:\(…\))?`")


def names_of_the_building():
    """Return what the page names: dotted names, paths, files of inference, steps of walks."""
    text = (ROOT / "docs" / "how-it-is-built.md").read_text(encoding="utf-8")
    walks = "\n".join(block for _, block in blocks(ROOT / "docs" / "how-it-is-built.md", "text"))
    steps = re.findall(r"\b(?:[a-z_]+\.)+\w+", walks)
    prose = re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)
    files = prose.split("## The files of `inference`")[1].split("## ")[0]
    rooms = prose.split("| room |")[1].split("\n\n")[0]
    first = re.compile(r"^\| ([^|]*) \|", re.MULTILINE)
    for cells, prefix in ((files, "inference."), (rooms, "")):
        for cell in first.findall(cells):
            yield from (prefix + name.rstrip("/") for name in re.findall(r"`([\w/]+)`", cell))
    yield from steps
    yield from NAMED.findall(prose)


def exists(name):
    """Return whether a name is a file of the repository, a module, or something in a module."""
    places = [ROOT, ROOT / "src", ROOT / "src" / "probative"]
    if any((place / name).exists() for place in places):
        return True
    parts = f"probative.{name}".replace("/", ".").split(".")
    for i in range(len(parts), 0, -1):
        try:
            found = importlib.import_module(".".join(parts[:i]))
        except ModuleNotFoundError:
            continue
        for part in parts[i:]:
            found = getattr(found, part, None)
        return found is not None
    return False


def test_what_the_building_names_exists():
    names = {*names_of_the_building()}
    assert len(names) > 80
    assert [name for name in sorted(names) if not exists(name)] == []
    assert not exists("inference.compare.compare_nothing")
    assert not exists("inference.nothing")


def test_functions_and_classes_of_the_building_exist():
    text = (ROOT / "docs" / "how-it-is-built.md").read_text(encoding="utf-8")
    source = "\n".join(path.read_text("utf-8") for path in (ROOT / "src").rglob("*.py"))
    engine = text.split("## The one engine")[1].split("## Four walks")[0]
    names = {
        *re.findall(r"`(\w+)`", engine),
        *re.findall(r"`([a-z]+_\w+|[A-Z][a-z]+[A-Z]\w+)`", text),
    }
    assert {"compare_pairs", "moves", "MeanScore"} < names
    unknown = [
        name
        for name in sorted(names)
        if not re.search(rf"\b(?:def|class) {name}\b|\b{name}\b\s*[:=]", source)
    ]
    assert [name for name in unknown if not exists(name) and not exists(f"inference.{name}")] == []


TERMS = ("gold", "interval", "p-value", "posterior", "unit", "design effect", "gate")


@pytest.mark.parametrize("page", sorted(ROOT.glob("docs/*.md")), ids=named)
def test_words_are_linked_to_the_glossary(page):
    """Where a page uses a word of the glossary in a paragraph, it is linked there."""
    if page.stem in {"api", "glossary", "json"}:
        pytest.skip("a list, the glossary itself, or keys")
    text = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.M | re.S)
    prose = re.sub(r"^(?:#|\||<| {4}|\[).*$", "", text, flags=re.MULTILINE)
    linked = re.findall(r"\{term\}`(?:[^`<]*<)?([^`>]*)>?`", text)
    plain = re.sub(r"\{term\}`[^`]*`|`[^`]*`|\[[^\]]*\]\([^)]*\)|\"[^\"]*\"|\*[^*]+\*", "", prose)
    used = [term for term in TERMS if re.search(rf"(?<![\w-]){term}s?(?![\w-])", plain)]
    assert [term for term in used if term not in linked] == []


def test_every_command_has_a_page():
    """The front page or the reference shows every command."""
    pages = [ROOT / "docs" / name for name in ("index.md", "command-line.md")]
    text = "".join(page.read_text(encoding="utf-8") for page in pages)
    missing = [name for name in build_app().commands if f"`probative {name}" not in text]
    assert missing == []


def test_the_picture_shows_the_page_of_today():
    assert picture.STAMP.read_text().strip() == picture.stamp(), "run python docs/picture.py"


@pytest.mark.parametrize("page", with_blocks("console"), ids=named)
def test_sentences_are_not_cut_off(page):
    """Commands and sentences fit the width of a page; tables of numbers and JSON may scroll.

    An error is one line, however long: it may scroll, too.
    """
    error = re.compile(r"[\w./-]+(:\d+)?: ")
    for line, block in blocks(page, "console"):
        for row in block.splitlines():
            is_sentence = re.match(r"[A-Za-z$]", row) and " & " not in row and "{" not in row
            assert not is_sentence or error.match(row) or len(row) <= WIDTH, (
                f"{named(page)}:{line}: {row}"
            )


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


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """The built documentation; a warning is an error."""
    folder = tmp_path_factory.mktemp("docs")
    command = [sys.executable, "-m", "sphinx", "-q", "-W", "-b", "html", "docs", str(folder)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return folder


@pytest.mark.slow
@pytest.mark.parametrize(
    ("query", "term"),
    [("tier", "tier"), ("p-value", "p-value"), ("confidence interval", "confidence-interval")],
)
def test_search_finds_the_definition_first(built, query, term):
    """By the index, and by Sphinx's own search where Node.js can run it."""
    text = (built / "searchindex.js").read_text(encoding="utf-8")
    index = json.loads(text.removeprefix("Search.setIndex(").removesuffix(")"))
    entries = index["indexentries"][query]
    assert [index["docnames"][page] for page, _, is_main in entries if is_main] == ["glossary"]
    node = shutil.which("node")
    if node is None:
        pytest.skip("needs Node.js")
    script = ROOT / "docs" / "search.js"
    done = subprocess.run([node, script, built, query], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout)["pages"][0] == f"glossary#term-{term}"


@pytest.mark.slow
def test_the_documentation_stays_small(built):
    """Few pages besides the API, and no more words than a person can keep in order."""
    assert len([*ROOT.glob("docs/*.md")]) - 1 <= 30
    words = sum(len(page.read_text(encoding="utf-8").split()) for page in ROOT.glob("docs/*.md"))
    assert words <= 55_000
    api = {path.stem for path in (built / "api").glob("*.html")}
    assert not [name for name in api if any(part.startswith("_") for part in name.split("."))]


@pytest.mark.slow
def test_the_reference_names_types_as_the_source_does(built):
    pages = {page.stem: page.read_text(encoding="utf-8") for page in built.glob("api/*.html")}
    assert ">Input<" in pages["probative.compare"]
    inner = re.compile("_Column|_Frame|_Matrix|_SupportsArray|TypeAliasForwardRef")
    assert not [name for name, page in pages.items() if inner.search(page)]
