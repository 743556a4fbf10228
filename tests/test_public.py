"""The public face: names that can be guessed, and that say what is wrong where they are not."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import re
import warnings

import numpy as np
import pytest
from conftest import ROOT

import probative as pv
from probative import results
from probative.errors import InputError

GOLD = [["B-PER", "O", "B-LOC"], ["B-LOC", "O", "O"]] * 6
OLD = [["B-PER", "O", "O"], ["O", "O", "B-PER"]] * 4 + GOLD[:4]
NEW = [["B-PER", "O", "B-ORG"], ["B-LOC", "O", "O"]] * 2 + GOLD[:8]
PAIRED = pv.PairedCounts([3, 2, 8, 1, 40, 6, 7, 300])
COUNTS = pv.Counts(77, 44, 10)
FUNCTIONS = sorted(n for n in pv.__all__ if inspect.isfunction(getattr(pv, n)))
CLASSES = sorted(n for n in pv.__all__ if inspect.isclass(getattr(pv, n)))
POSTERIORS = [type(pv.posterior(COUNTS, "fbeta")), type(pv.posterior(COUNTS))]


def test_no_module_hides_a_function():
    """Importing a module of the package makes it an attribute of it, under its name."""
    modules = {module.name for module in pkgutil.iter_modules(pv.__path__)}
    assert not modules & set(FUNCTIONS + CLASSES)


def test_dir_shows_the_public_names():
    assert dir(pv) == sorted(pv.__all__)
    assert len(set(pv.__all__)) == len(pv.__all__)
    assert not {"Any", "import_module", "TYPE_CHECKING"} & set(dir(pv))
    for name in pv.__all__:
        assert getattr(pv, name) is not None
    with pytest.raises(AttributeError, match="module 'probative' has no attribute 'scores'"):
        pv.scores  # noqa: B018
    names: dict[str, object] = {}
    exec("from probative import *", names)  # noqa: S102
    assert set(pv.__all__) <= set(names)


def test_the_reference_lists_exactly_the_public_names():
    page = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
    listed = re.findall(r"^(?:   |\.\. py:data:: )probative\.([\w.]+)$", page, re.MULTILINE)
    assert len(listed) == len(set(listed))
    assert {name for name in listed if "." not in name} == set(pv.__all__)
    assert not any(part.startswith("_") for name in listed for part in name.split(".")[:-1])
    inner = {name.removeprefix("results.") for name in listed if name.startswith("results.")}
    assert inner == set(results.__all__) - set(pv.__all__)
    for name in listed:
        home, _, last = f"probative.{name}".rpartition(".")
        module = importlib.import_module(home)
        assert hasattr(module, last) or importlib.import_module(f"{home}.{last}")


@pytest.mark.parametrize("name", FUNCTIONS)
def test_public_functions_have_examples(name):
    assert ">>> " in inspect.getdoc(getattr(pv, name))


@pytest.mark.parametrize("name", FUNCTIONS)
def test_public_functions_say_what_they_take(name):
    for parameter in inspect.signature(getattr(pv, name)).parameters.values():
        assert parameter.annotation is not inspect.Parameter.empty
        if parameter.name != "how":  # of plan, whose two ways of calling are spelt out
            assert "Any" not in str(parameter.annotation), parameter


@pytest.mark.parametrize("kind", [*(getattr(pv, name) for name in CLASSES), *POSTERIORS])
def test_public_classes_say_what_their_methods_take_and_return(kind):
    for method, function in inspect.getmembers(kind, inspect.isfunction):
        if method.startswith("_") or method == "to_frame":  # of whichever library
            continue
        for of, annotation in function.__annotations__.items():
            assert "Any" not in str(annotation).replace("dict[str, Any]", "JSON"), (method, of)


@pytest.mark.parametrize(
    ("call", "right"),
    [
        (lambda: pv.score(GOLD, OLD, lvel=0.9), "level"),
        (lambda: pv.score(GOLD, OLD, nmes=["x"]), "names"),
        (lambda: pv.score(GOLD, OLD, shceme="iob2"), "scheme"),
        (lambda: pv.compare(GOLD, OLD, NEW, lvel=0.9), "level"),
        (lambda: pv.compare(GOLD, OLD, NEW, name=["x", "y"]), "names"),
        (lambda: pv.compare(GOLD, OLD, NEW, figure=True), "figures"),
        (lambda: pv.plan(GOLD, OLD, NEW, powr=0.9), "power"),
        (lambda: pv.plan(PAIRED, powr=0.9), "power"),
        (lambda: pv.check("x", schem="iob2"), "scheme"),
        (lambda: pv.check("x", input_fromat="columns"), "input_format"),
    ],
)
def test_a_misspelt_keyword_is_an_error_that_suggests_another(call, right):
    with pytest.raises(InputError, match=rf"there is no such option; .*did you mean '{right}'\?$"):
        call()


def test_systems_come_by_name_in_a_dictionary():
    scored = pv.score(GOLD, {"old": OLD, "new": NEW})
    assert [system.name for system in scored.systems] == ["old", "new"]
    assert scored.to_dict() == pv.score(GOLD, OLD, NEW, names=["old", "new"]).to_dict()
    found = pv.compare(GOLD, {"old": OLD, "new": NEW})
    assert found.to_dict() == pv.compare(GOLD, OLD, NEW, names=["old", "new"]).to_dict()
    planned = pv.plan(GOLD, {"old": OLD, "new": NEW})
    assert planned.to_dict() == pv.plan(GOLD, OLD, NEW, names=["old", "new"]).to_dict()
    with pytest.raises(InputError, match="names: the systems have names already"):
        pv.score(GOLD, {"old": OLD}, names=["x"])


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_the_name_of_a_series_is_used(library):
    frames = pytest.importorskip(library)

    def series(name, values):
        made = frames.Series(values, name=name) if library == "pandas" else None
        return frames.Series(name, values) if made is None else made

    gold = series("answer", ["yes", "no"] * 10)
    old, new = (
        series("old", ["yes"] * 20),
        series("new", ["yes", "no"] * 9 + ["no", "no"]),
    )
    assert [s.name for s in pv.score(gold, old, new, positive="yes").systems] == ["old", "new"]
    found = pv.compare(gold, old, new, positive="yes")
    assert (found.comparisons[0].a, found.comparisons[0].b) == ("old", "new")
    names = [s.name for s in pv.score(gold, old, series("old", ["no"] * 20), positive="yes")]
    assert len(set(names)) == 2
    assert all(name.startswith("old") for name in names)
    renamed = pv.score(gold, {"x": old}, positive="yes")
    assert renamed[0].name == "x"


def test_a_plan_takes_files_or_cases(tmp_path):
    files = []
    for name, sentences in (("gold", GOLD), ("old", OLD), ("new", NEW)):
        files.append(tmp_path / f"{name}.conll")
        rows = ("\n".join(f"word {tag}" for tag in tags) for tags in sentences)
        files[-1].write_text("\n\n".join(rows) + "\n", encoding="utf-8")
    found = pv.plan(*files, difference=0.05)
    assert found.units == pv.plan(GOLD, OLD, NEW, difference=0.05).units
    assert found.by == "sentence"
    assert "|entities|iob2|" in found.signature
    assert pv.plan(PAIRED, "recall", power=0.9).to_dict() == (
        pv.plan(PAIRED, metric="recall", power=0.9).to_dict()
    )
    for wrong in (
        lambda: pv.plan(PAIRED, OLD, NEW),
        lambda: pv.plan(PAIRED, "f1", metric="f1"),
        lambda: pv.plan(PAIRED, by="item"),
        lambda: pv.plan(GOLD, OLD),
    ):
        with pytest.raises(InputError):
            wrong()


def test_a_file_can_be_checked(tmp_path):
    path = tmp_path / "x.conll"
    path.write_text("Ann B-PER\nwent O\nhome I-LOC\n", encoding="utf-8")
    found = pv.check(path, scheme="iob2")
    assert isinstance(found, pv.FileCheck)
    assert len(found.problems) == 1
    assert not pv.check(str(path), task="labels").problems
    with pytest.raises(InputError, match="comments: 'yes'; expected True or False"):
        pv.check(path, comments="yes")


def test_gates_take_what_compare_returns():
    found = pv.compare(GOLD, OLD, NEW)
    ways = (found, found.comparisons, list(found.comparisons), found.comparisons[0])
    said = {str(verdict) for way in ways for verdict in pv.gate(way, "require-better")}
    assert len(said) == 1
    for wrong in (None, (), "x", [1]):
        with pytest.raises(
            InputError, match=r"comparisons: .*; expected the result of compare\(\)"
        ):
            pv.gate(wrong, "require-better")


@pytest.mark.parametrize("rows", [list, np.array, lambda rows: [np.array(row) for row in rows]])
def test_a_sweep_takes_the_answer_first(rows):
    gold, probabilities = [["ab", "c"], ["d", "ef"]], rows([[0.1, 0.9], [0.4, 0.6]])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        expected = pv.segmentation_sweep(gold, probabilities, 4)
        assert pv.segmentation_sweep(probabilities=probabilities, gold=gold, steps=4).to_dict() == (
            expected.to_dict()
        )
    with pytest.raises(InputError, match=r"gold: (sentence 1 is .*; expected words|shape)"):
        pv.segmentation_sweep(probabilities, gold)


def test_a_seed_may_be_called_seed():
    paired = pv.PairedCounts(np.random.default_rng(0).integers(0, 3, (40, 8)))
    labels = ["a", "b"] * 20
    calls = {
        pv.randomization_test: lambda f, **how: f(paired, method="sampled", **how).pvalue,
        pv.bayes_test: lambda f, **how: f(paired.total(), method="sampled", **how).p_h1,
        pv.bootstrap_difference: lambda f, **how: f(paired, n_resamples=99, **how).low,
        pv.posterior(paired.total().a).rvs: lambda f, **how: f(3, **how).tolist(),
        pv.sample: lambda f, **how: f(None, labels, labels[::-1], size=9, **how).units.tolist(),
        pv.compare: lambda f, **how: f(labels, labels[::-1], labels, **how).signature,
        pv.rank: lambda f, **how: f(labels, labels[::-1], labels, **how).signature,
    }
    for function, call in calls.items():
        assert call(function, seed=7) == call(function, rng=7)
        assert call(function, seed=7) != call(function, rng=8)
        with pytest.raises(InputError, match="seed: another name of rng; expected one of the two"):
            call(function, seed=7, rng=7)
