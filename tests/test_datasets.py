"""Two systems on several data sets."""

from __future__ import annotations

import json
import math
from itertools import combinations
from pathlib import Path

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import probative as pv
from probative.cli import main
from probative.errors import InputError
from probative.inference.groups import (
    MeanPosterior,
    count_of_conjunctions,
    mean_limits,
    partial_conjunction,
)
from probative.inference.posterior.paired import paired_posterior
from probative.inference.posterior.student import StudentPosterior
from probative.reporting.render import render
from probative.results.comparisons import one_sided
from probative_studies.gates import dataset_study

P = st.floats(1e-6, 1)


def lists(n, right_a, right_b, seed):
    rng = np.random.default_rng(seed)
    gold = [["B-PER", "O", "B-LOC"] for _ in range(n)]

    def system(share):
        return [[t if t == "O" or rng.random() < share else "O" for t in s] for s in gold]

    return gold, system(right_a), system(right_b)


DATA = {
    "news": lists(80, 0.7, 0.9, 1),
    "tweets": lists(40, 0.6, 0.66, 2),
    "mail": lists(120, 0.8, 0.92, 3),
}


@pytest.fixture(scope="module")
def found():
    """What these data sets say."""
    return pv.compare_datasets(DATA, names=["old", "new"])


# --- on how many ---------------------------------------------------------------------------------


@given(st.lists(P, min_size=1, max_size=6))
@settings(max_examples=25, deadline=None)
def test_partial_conjunctions_are_the_worst_of_all_intersections(pvalues):
    """At least u are false if, of every n - u + 1 of them, not all are true."""
    n = len(pvalues)
    for method in ("bonferroni", "fisher"):
        found = partial_conjunction(pvalues, method)
        assert np.all(np.diff(found) >= 0)
        worst = 0.0
        for u in range(1, n + 1):
            subsets = combinations(pvalues, n - u + 1)
            worst = max(worst, *(_global(subset, method) for subset in subsets))
            assert found[u - 1] == pytest.approx(min(1.0, worst), rel=1e-9)


def _global(pvalues, method):
    """The p-value of the hypothesis that all are true."""
    if method == "bonferroni":
        return len(pvalues) * min(pvalues)
    half = -mpmath.fsum(mpmath.log(p) for p in pvalues)
    return float(mpmath.gammainc(len(pvalues), half, regularized=True))


def test_the_count_is_the_last_that_holds():
    pvalues = [0.001, 0.011, 0.02, 0.6]
    assert partial_conjunction(pvalues).tolist() == pytest.approx([0.004, 0.033, 0.04, 0.6])
    assert count_of_conjunctions(pvalues) == 3
    assert count_of_conjunctions(pvalues, level=0.97) == 1
    assert count_of_conjunctions([0.03, 0.03, 0.03, 0.03]) == 0
    assert count_of_conjunctions([0.03, 0.03, 0.03, 0.03], "fisher") == 4
    assert count_of_conjunctions([0.0, 0.0], "fisher") == 2
    with pytest.raises(InputError, match="expected a sequence of p-values"):
        partial_conjunction([])
    with pytest.raises(InputError, match="is not between 0 and 1"):
        partial_conjunction([1.2])


# --- the mean ------------------------------------------------------------------------------------


def test_variances_add():
    mean, low, high = mean_limits([(0.02, 0.0, 0.04), (0.05, 0.02, 0.08), (0.0, -0.06, 0.06)])
    reach = math.sqrt(0.02**2 + 0.03**2 + 0.06**2) / 3
    assert (mean, low, high) == pytest.approx((0.07 / 3, 0.07 / 3 - reach, 0.07 / 3 + reach))
    assert mean_limits([(0.02, -0.01, 0.04)]) == pytest.approx((0.02, -0.01, 0.04))
    assert math.isnan(mean_limits([(0.02, 0.0, 0.04), (math.nan, -1, 1)])[0])


def test_posteriors_add_up_as_normal_ones_do():
    parts = [
        StudentPosterior(m, s, math.inf) for m, s in ((0.02, 0.01), (0.0, 0.03), (-0.01, 0.02))
    ]
    mean = MeanPosterior(parts)
    deviation = math.sqrt(0.01**2 + 0.03**2 + 0.02**2) / 3
    exact = StudentPosterior(0.01 / 3, deviation, math.inf)
    for d in (-0.03, -0.01, 0.0, 0.005, 0.02):
        assert mean.cdf(d) == pytest.approx(exact.cdf(d), abs=2e-4)
        assert mean.sf(d) == pytest.approx(exact.sf(d), abs=2e-4)
        assert mean.pdf(d) == pytest.approx(exact.pdf(d), rel=0.02, abs=0.05)
    assert mean.interval(0.9) == pytest.approx(exact.interval(0.9), abs=1e-4)


@pytest.mark.parametrize(
    ("metric", "cases"),
    [
        ("f1", [[0, 3, 5, 2, 150, 12, 30], [0, 0, 1, 0, 20, 2, 3], [4, 4, 9, 1, 80, 9, 9]]),
        ("recall", [[0, 0, 0, 0, 100, 8, 9], [0, 0, 0, 0, 40, 6, 7]]),  # equal systems
        ("recall", [[0, 0, 1, 0, 1, 1, 0], [1000, 1200, 1100, 1230, 50000, 900, 1200]]),
    ],
)
def test_the_mean_of_posteriors_is_that_of_their_draws_convolved_finely(metric, cases):
    parts = [paired_posterior(pv.PairedCounts(own), metric) for own in cases]
    ends = np.array([own.interval(1 - 1e-7) for own in parts])
    step = float(np.diff(ends).sum()) / 2**15
    masses, middle = np.ones(1), 0.0
    for own, (low, high) in zip(parts, ends, strict=True):
        edges = low + step * np.arange(math.ceil((high - low) / step) + 1)
        masses = np.convolve(masses, np.diff(own.cdf(edges)))
        middle += low + step / 2
    place = (middle + step * np.arange(len(masses)) + step / 2) / len(parts)
    mean = MeanPosterior(parts)
    for d in (-0.1, -0.02, -0.001, 0.0, 0.01, 0.05, 0.2):
        expected = np.interp(d, place, np.cumsum(masses / masses.sum()))
        assert mean.cdf(d) == pytest.approx(expected, abs=1e-5)


# --- all together --------------------------------------------------------------------------------


def test_a_data_set_says_what_it_says_alone(found):
    for name, data in DATA.items():
        (alone,) = pv.compare(*data, names=["old", "new"]).comparisons
        own = found[name].comparison
        assert (own.difference, own.low, own.high, own.pvalue, own.p_b_better) == (
            alone.difference,
            alone.low,
            alone.high,
            alone.pvalue,
            alone.p_b_better,
        )
        # the null distribution is symmetric: both tails weigh the same
        side = min(found[name].p_better, found[name].p_worse)
        assert side == pytest.approx(alone.p_decision / 2)
    assert found.better.system == "new"
    assert found.better.bonferroni == found.better.fisher == 2
    assert found.better.datasets == ("news", "mail")
    assert found.worse.bonferroni == found.worse.fisher == 0
    differences = [d.comparison.difference for d in found.datasets]
    assert found.mean.difference == pytest.approx(np.mean(differences))
    pooled = [[s for data in DATA.values() for s in data[k]] for k in range(3)]
    (together,) = pv.compare(*pooled, names=["old", "new"]).comparisons
    assert found.pooled.difference == pytest.approx(together.difference)
    assert found.pooled.pvalue == pytest.approx(together.pvalue)
    assert (found.pooled.low, found.pooled.high) == pytest.approx((together.low, together.high))


def test_one_data_set_is_a_plain_comparison():
    found = pv.compare_datasets({"news": DATA["news"]})
    (alone,) = pv.compare(*DATA["news"]).comparisons
    assert (found.mean.difference, found.mean.low, found.mean.high) == pytest.approx(
        (alone.difference, alone.low, alone.high)
    )
    assert found.mean.p_b_better == pytest.approx(alone.p_b_better)
    assert found.pooled.pvalue == pytest.approx(alone.pvalue)
    assert found.heterogeneity is None


def test_the_order_of_data_sets_does_not_matter(found):
    there = found
    back = pv.compare_datasets(dict(reversed(DATA.items())), names=["old", "new"])
    assert there.mean.low == pytest.approx(back.mean.low)
    assert there.mean.p_b_better == pytest.approx(back.mean.p_b_better, abs=1e-9)
    assert there.pooled.pvalue == pytest.approx(back.pooled.pvalue)
    assert there.better.p_fisher == pytest.approx(back.better.p_fisher)
    assert set(there.better.datasets) == set(back.better.datasets)
    assert there.heterogeneity.q == pytest.approx(back.heterogeneity.q)


def test_exchanging_the_systems_exchanges_the_counts(found):
    there = found
    swapped = {name: (gold, b, a) for name, (gold, a, b) in DATA.items()}
    back = pv.compare_datasets(swapped, names=["new", "old"])
    assert there.mean.difference == pytest.approx(-back.mean.difference)
    assert (there.mean.low, there.mean.high) == pytest.approx((-back.mean.high, -back.mean.low))
    assert there.mean.p_b_better == pytest.approx(back.mean.p_a_better, abs=1e-3)
    assert there.better.p_bonferroni == pytest.approx(back.worse.p_bonferroni)
    assert there.better.datasets == back.worse.datasets


def test_counts_frames_and_dictionaries_are_data_sets():
    import pandas as pd

    gold, old, new = [1, 0, 1, 1, 0] * 12, [1, 0, 0, 1, 1] * 12, [1, 0, 1, 1, 1] * 12
    frame = pd.DataFrame({"y": gold, "old": old, "new": new})
    paired = pv.PairedCounts.from_labels(gold, old, new)
    found = pv.compare_datasets(
        {
            "frame": {"gold": frame, "gold_column": "y", "columns": ["old", "new"]},
            "lists": {"gold": gold, "a": old, "b": new},
            "counts": paired,
        },
        names=["old", "new"],
    )
    assert len({round(d.comparison.difference, 12) for d in found.datasets}) == 1
    assert len({d.p_better for d in found.datasets}) == 1
    assert found.pooled.score_b == pytest.approx(found[0].comparison.score_b)
    assert found.heterogeneity.q == pytest.approx(0, abs=1e-12)


def test_disagreement_is_said():
    back = lists(90, 0.95, 0.7, 9)
    found = pv.compare_datasets({"news": DATA["news"], "back": back}, names=["old", "new"])
    assert "the data sets disagree. new is better on news and worse on back" in str(found)
    assert "vary over the data sets by more than chance" in str(found)
    assert found.better.bonferroni == found.worse.bonferroni == 1


def test_nothing_known_is_said():
    none = lists(8, 0.8, 0.8, 4)
    found = pv.compare_datasets({"x": none, "y": none}, names=["old", "new"])
    assert str(found).startswith(
        "On none of 2 data sets is new known to be better than old, nor old than new"
    )


def test_identical_and_undefined_data_sets():
    gold = [["B-PER", "O"]] * 12
    nothing = [["O", "O"]] * 12
    found = pv.compare_datasets({"x": (gold, gold, gold), "y": DATA["news"]}, names=["a", "b"])
    assert found[0].p_better == 1
    assert not math.isnan(found.mean.p_b_better)
    found = pv.compare_datasets(
        {"x": (gold, nothing, gold), "y": DATA["news"]}, metric="precision", names=["a", "b"]
    )
    assert math.isnan(found.mean.difference)
    assert found.to_dict()["mean"]["difference"] is None
    assert "The mean over the data sets is undefined" in str(found)
    (verdict,) = pv.gate(found, "require-not-worse")
    assert not verdict.passed


def test_gates_ask_about_the_mean(found):
    (better,) = pv.gate(found, "require-better")
    assert better.passed
    assert better.probability == pytest.approx(found.mean.p_b_better)
    assert "mean over the data sets" in str(better)
    (not_by_much,) = pv.gate(found, "require-better", margin=0.3)
    assert not not_by_much.passed


def test_what_is_no_data_set_is_refused():
    with pytest.raises(InputError, match="expected a dictionary of data sets by name"):
        pv.compare_datasets([DATA["news"]])
    with pytest.raises(InputError, match=r"expected \(gold, a, b\)"):
        pv.compare_datasets({"x": (1, 2)})
    with pytest.raises(InputError, match=r"expected one metric for all"):
        pv.compare_datasets(DATA, metric=["f1", "recall"])
    with pytest.raises(InputError, match="x: there is no such option"):
        pv.compare_datasets({"n": {"gold": [1], "a": [1], "b": [0], "x": 1}})
    with pytest.raises(InputError, match="one of a and b"):
        pv.compare_datasets({"n": {"gold": [1], "a": [1]}})
    many = [0, 1, 2] * 9, [0, 1, 1] * 9, [0, 2, 2] * 9
    with pytest.raises(InputError, match="expected a metric for all"):
        pv.compare_datasets({"n": DATA["news"], "m": many})
    with pytest.raises(InputError, match=r"names: .*; expected two different ones"):
        pv.compare_datasets(DATA, names=["a", "a"])
    with pytest.raises(InputError, match="group: does not apply to several data sets"):
        pv.compare_datasets(DATA, group="lang")


# --- the command line ----------------------------------------------------------------------------


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sets").mkdir()
    manifest = ['names = ["old", "new"]']
    words = []
    for name, data in DATA.items():
        for kind, side in zip(("gold", "a", "b"), data, strict=True):
            text = "\n".join("".join(f"w{i} {t}\n" for i, t in enumerate(s)) for s in side)
            (tmp_path / "sets" / f"{name}.{kind}").write_text(text + "\n")
        manifest += [f"[datasets.{name}]"]
        manifest += [f'{kind} = "{name}.{kind}"' for kind in ("gold", "a", "b")]
        words += ["--dataset", name, *(f"sets/{name}.{kind}" for kind in ("gold", "a", "b"))]
    (tmp_path / "sets" / "all.toml").write_text("\n".join(manifest) + "\n")
    return words


def test_data_sets_on_the_command_line(files, capsys, found):
    page = ["--html", "p.html", "--figure", "f.png"]
    call = ["compare", *files, "--names", "old,new", "-f", "json", "-q"]
    assert main([*call, *page, "--require-better", "--margin", "0.4"]) == 1
    captured = capsys.readouterr()
    there = json.loads(captured.out)
    assert "--require-better FAILED: new against old, F1, mean over the data sets" in captured.err
    assert there.pop("gates")[0]["question"] == "mean"
    assert there["better"]["bonferroni"] == found.better.bonferroni
    assert there["mean"]["low"] == found.mean.low
    assert [d["dataset"] for d in there["datasets"]] == list(DATA)
    assert "all pooled" in Path("p.html").read_text(encoding="utf-8")
    assert main(["compare", "--datasets", "sets/all.toml", "-f", "json", "-q"]) == 0
    again = json.loads(capsys.readouterr().out)
    del there["notes"], again["notes"]  # which name the files
    assert again == there


def test_a_data_set_may_be_one_table_by_its_name(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    table = "y,old,new\n" + "1,0,1\n0,0,0\n1,1,1\n0,1,0\n" * 5
    for name in ("news", "mail"):
        Path(f"{name}.csv").write_text(table)
    Path("sets.toml").write_text(
        "[datasets.news]\ngold='news.csv'\n[datasets.mail]\ngold='mail.csv'"
    )
    how = ["--gold-column", "y", "--columns", "old,new", "-f", "json", "-q"]
    assert main(["compare", "--datasets", "sets.toml", *how]) == 0
    listed = capsys.readouterr().out
    for words in (["--dataset", "mail=mail.csv", *how], [*how, "--dataset", "mail=mail.csv"]):
        assert main(["compare", "--dataset", "news=news.csv", *words]) == 0
        assert capsys.readouterr().out == listed
    assert main(["compare", "--dataset", "news=news.csv", "--html", "news.csv", *how]) == 2
    assert "is an input" in capsys.readouterr().err
    assert main(["compare", "--dataset", "news=no.csv", *how]) == 2
    assert "no.csv" in capsys.readouterr().err


@pytest.mark.parametrize("form", ["text", "markdown", "latex", "csv"])
def test_every_form_tells_every_data_set(found, form):
    shown = render(found._document(), form)
    assert all(name in shown for name in DATA)
    assert "pooled" in shown


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (["x.conll"], "--dataset: cannot be combined with FILE"),
        (["--compact"], "--compact: cannot be combined with --dataset"),
        (["--average", "macro"], "--average: cannot be combined with --dataset"),
        (["--second-gold", "sets/news.gold"], "--second-gold: cannot be combined with --dataset"),
        (["--group", "lang"], "--group: cannot be combined with --dataset"),
        (["--metric", "f1,recall"], "--metric: several; expected one"),
        (["--dataset", "news", "a", "b", "c"], "'news' for the second time"),
        (["--dataset", "more", "no.gold", "a", "b"], "no.gold"),
        (["--html", "sets/news.gold"], "is an input"),
    ],
)
def test_what_data_sets_refuse(files, capsys, more, words):
    assert main(["compare", *files, *more, "-q"]) == 2
    captured = capsys.readouterr()
    assert words in captured.err
    assert captured.err.count("\n") == 1
    assert not captured.out


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("datasets = 3", "there are no data sets; expected [datasets.NAME] tables"),
        ("nonsense", "is no TOML"),
        (f"a = {'[' * 20_000}", "is no TOML (too deep or too large)"),
        ("[data.news]\n", "'data' is unknown"),
        ("names = 3\n[datasets.x]\ngold='a'\n", "names = 3; expected two names"),
        ("[datasets.x]\na='a'\n", "[datasets.x] has no gold"),
        ("[datasets.x]\ngold=3\n", "[datasets.x] gold = 3; expected the name of a file"),
        ("[datasets.x]\ngold='news.gold'\na='news.a'\n", "one of a and b; expected both"),
        ("[datasets.x]\ngold='g'\na='a'\nb='b'\ntaks='labels'\n", "did you mean 'task'"),
    ],
)
@pytest.mark.usefixtures("files")
def test_manifests_that_are_wrong(capsys, text, words):
    Path("sets/wrong.toml").write_text(text)
    assert main(["compare", "--datasets", "sets/wrong.toml", "-q"]) == 2
    captured = capsys.readouterr()
    assert words in captured.err
    assert captured.err.count("\n") == 1


def test_the_claims_hold_in_a_small_study():
    found = dataset_study([3], replicates=400, rng=1)
    assert all(claim.holds for claim in found), "; ".join(map(str, found))
    assert {claim.claim for claim in found} == {"count too large", "mean covered", "spread found"}


def test_one_rule_of_matching_holds_for_all_data_sets_and_is_told():
    gold = [["B-X", "I-X", "O"], ["O", "B-Y", "O"]] * 4
    a, b = [["B-X", "O", "O"], ["O", "B-Y", "O"]] * 4, gold
    own = {"gold": gold, "a": a, "b": b, "match": "partial"}
    with pytest.raises(InputError, match="match: 'n' is scored by strict, but 'm' by partial"):
        pv.compare_datasets({"n": (gold, a, b), "m": own})
    found = pv.compare_datasets({"n": own, "m": own})
    assert found.match == "partial"
    assert "F1, partial overlap by data set" in found.to_markdown()


@pytest.mark.parametrize("metric", ["kappa", "mcc", "balanced_accuracy"])
def test_scores_of_all_classes_are_tested_as_such(metric):
    gold = ["x"] * 150 + ["y"] * 25 + ["z"] * 25
    a, b = gold[:120] + ["y"] * 30 + gold[150:], ["x"] * 160 + gold[160:]
    found = pv.compare_datasets({"one": (gold, a, b), "two": (gold, b, a)}, metric=metric)
    alone = pv.compare(gold, a, b, metric=metric).comparisons[0]
    (accuracy,) = pv.compare(gold, a, b).comparisons
    sides = [one_sided(p, alone.difference) for p in (alone.pvalue, alone.p_unit)]
    assert found["one"].p_better == pytest.approx(max(sides))
    assert found["one"].p_better != pytest.approx(one_sided(accuracy.p_decision, 1))
    assert found.pooled is None  # one table of classes of all data sets would be another score
    assert found.heterogeneity is not None
