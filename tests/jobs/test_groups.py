"""Comparisons and scores group by group."""

from __future__ import annotations

import csv
import io
import json
import math
from dataclasses import fields, replace

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import probative as pv
from probative.cli import main
from probative.errors import InputError
from probative.inference.compare import Choices
from probative.inference.groups import heterogeneity
from probative.inference.pooled import PooledScore
from probative.jobs.datasets import compare_cases
from probative.options import CompareOptions
from probative.reporting.render import render

HOW = {"gold_column": "y", "columns": ["old", "new"], "examples": False}


def table(n=240, seed=0, groups=("de", "fr", "ja")):
    rng = np.random.default_rng(seed)
    lang = rng.choice(groups, n)
    gold = rng.integers(0, 2, n)
    better = dict(zip(groups, (0.95, 0.8, 0.6), strict=True))
    old = np.where(rng.random(n) < 0.8, gold, 1 - gold)
    right = rng.random(n) < np.array([better[name] for name in lang])
    new = np.where(right, gold, 1 - gold)
    return pd.DataFrame(
        {"y": gold, "old": old, "new": new, "lang": lang, "doc": rng.integers(0, 60, n)}
    )


def rows_of(*kinds):
    """Rows (y, old, new, lang) as often as each is to occur."""
    rows = [row for row, times in kinds for _ in range(times)]
    return pd.DataFrame(rows, columns=["y", "old", "new", "lang"])


# the baseline returns much where it is easy, the challenger much where it is hard
REVERSED = rows_of(
    *(((1, 1, 1, "easy"), 290), ((0, 1, 1, "easy"), 4), ((1, 1, 0, "easy"), 250)),
    *(((0, 1, 0, "easy"), 56), ((1, 0, 1, "easy"), 4), ((0, 0, 1, "easy"), 2)),
    *(((1, 1, 1, "hard"), 8), ((0, 1, 1, "hard"), 30), ((1, 1, 0, "hard"), 2)),
    *(((0, 1, 0, "hard"), 10), ((1, 0, 1, "hard"), 132), ((0, 0, 1, "hard"), 230)),
)


def numbers(c):
    """All numbers of a comparison but those that only groups or only wholes have."""
    left_out = {"p_adjusted", "p_bh", "standard_error", "degrees_of_freedom", "by_label", "null"}
    values = {f.name: getattr(c, f.name) for f in fields(c) if f.name not in left_out}
    return {k: v for k, v in values.items() if isinstance(v, (int, float, str)) or v is None}


@pytest.mark.parametrize("more", [{}, {"unit_column": "doc"}, {"average": "macro"}])
def test_a_group_says_what_its_rows_alone_say(more):
    frame = table()
    found = pv.compare(frame, group="lang", **HOW, **more)
    assert [group.group for group in found.groups] == ["de", "fr", "ja"]
    for group in found.groups:
        own = frame[frame["lang"] == group.group]
        alone = pv.compare(own, **HOW, **more)
        assert group.rows == len(own)
        assert group.units == alone.units
        (c,), (d,) = group.comparisons, alone.comparisons
        assert numbers(c) == pytest.approx(numbers(d), nan_ok=True)
        for system, other in zip(group.systems, alone.systems, strict=True):
            assert system.counts == other.counts
            mine, theirs = system[c.metric], other[c.metric]
            assert (mine.low, mine.estimate, mine.high) == pytest.approx(
                (theirs.low, theirs.estimate, theirs.high)
            )


@pytest.mark.parametrize("more", [{}, {"average": "macro"}])
def test_a_single_group_is_the_whole(more):
    frame = table().assign(lang="all")
    found = pv.compare(frame, group="lang", **HOW, **more)
    (group,) = found.groups
    assert numbers(group.comparisons[0]) == pytest.approx(
        numbers(found.comparisons[0]), nan_ok=True
    )
    assert group.comparisons[0].p_adjusted == found.comparisons[0].p_decision


def test_groups_change_nothing_of_the_whole():
    frame = table()
    plain, parted = pv.compare(frame, **HOW), pv.compare(frame, group="lang", **HOW)
    assert numbers(plain.comparisons[0]) == numbers(parted.comparisons[0])
    assert plain.comparisons[0].by_label == parted.comparisons[0].by_label
    assert parted.verdicts[0].startswith(plain.verdicts[0])
    assert plain.groups is None
    assert plain.group_summaries is None


def test_the_order_of_rows_does_not_matter():
    frame = table()
    one = pv.compare(frame, group="lang", **HOW, unit_column="doc")
    other = pv.compare(frame.sample(frac=1, random_state=3), group="lang", **HOW, unit_column="doc")
    for group, again in zip(one.groups, other.groups, strict=True):
        assert str(group) == str(again)
        (c,), (d,) = group.comparisons, again.comparisons
        assert (c.difference, c.pvalue, c.p_adjusted, c.p_bh) == pytest.approx(
            (d.difference, d.pvalue, d.p_adjusted, d.p_bh)
        )
    assert str(one.group_summaries[0]) == str(other.group_summaries[0])


def test_exchanging_the_systems_exchanges_what_is_said():
    frame = table()
    there = pv.compare(frame, group="lang", **HOW)
    back = pv.compare(frame, group="lang", **{**HOW, "columns": ["new", "old"]})
    for group, other in zip(there.groups, back.groups, strict=True):
        (c,), (d,) = group.comparisons, other.comparisons
        assert c.difference == pytest.approx(-d.difference)
        assert (c.p_adjusted, c.p_bh) == pytest.approx((d.p_adjusted, d.p_bh))
    s, t = there.group_summaries[0], back.group_summaries[0]
    assert (s.better, s.worse, s.ahead, s.behind) == (t.worse, t.better, t.behind, t.ahead)
    assert s.heterogeneity.q == pytest.approx(t.heterogeneity.q)
    assert s.disagreements == t.disagreements == ("mixed",)


def test_pvalues_allow_for_groups_and_pairs():
    frame = table().assign(third=lambda f: f["new"].where(f.index % 9 > 0, 1 - f["y"]))
    how = {**HOW, "columns": ["old", "new", "third"]}
    found = pv.compare(frame, group="lang", metric=["f1", "accuracy"], **how)
    for metric in ("f1", "accuracy"):
        own = [c for g in found.groups for c in g.comparisons if c.metric == metric]
        raw = [c.p_decision for c in own]
        assert len(raw) == 6
        assert [c.p_adjusted for c in own] == pytest.approx(pv.adjust_pvalues(raw).tolist())
        by_rate = pv.adjust_pvalues(raw, "benjamini-hochberg").tolist()
        assert [c.p_bh for c in own] == pytest.approx(by_rate)
    assert len(found.group_summaries) == 4
    assert {s.tests for s in found.group_summaries} == {6}


def test_groups_that_nothing_could_be_found_in_are_no_tests():
    frame = rows_of(
        *(((1, 0, 1, "many"), 12), ((0, 0, 0, "many"), 30), ((1, 1, 1, "many"), 9)),
        ((1, 0, 1, "one"), 1),
        *(((1, 1, 1, "same"), 9), ((0, 0, 0, "same"), 9)),
        *(((0, 1, 0, "nothing"), 5), ((0, 0, 1, "nothing"), 5)),
    )
    frame["doc"] = range(len(frame))
    found = pv.compare(frame, group="lang", unit_column="doc", **HOW)
    summary = found.group_summaries[0]
    assert (summary.groups, summary.tested, summary.tests) == (4, 1, 1)
    assert summary.better == ("many",)
    own = {g.group: g.comparisons[0] for g in found.groups}
    assert own["many"].p_adjusted == own["many"].p_decision
    assert math.isnan(own["one"].p_b_better)
    assert math.isnan(own["nothing"].p_b_better)
    assert [own[name].p_adjusted for name in ("one", "same", "nothing")] == [1, 1, 1]
    assert "3 groups hold nothing to test" in str(summary)
    # of right and wrong answers, a group without anything to be found tells as much as others
    found = pv.compare(frame, group="lang", unit_column="doc", metric="accuracy", **HOW)
    assert found.group_summaries[0].tested == 2


# --- where groups disagree -----------------------------------------------------------------------


def test_simpsons_paradox_is_named_and_shown():
    found = pv.compare(REVERSED, group="lang", metric="precision", **HOW)
    summary = found.group_summaries[0]
    assert found.comparisons[0].difference < 0
    assert all(g.comparisons[0].difference > 0 for g in found.groups)
    assert summary.disagreements == ("reversal",)
    assert "Warning: Simpson's paradox. In both groups new scores higher than old" in str(summary)
    # the overall scores are the means of the groups' scores by these weights
    overall = found.comparisons[0]
    for side, score in (("a", overall.score_a), ("b", overall.score_b)):
        weights = [getattr(w, f"weight_{side}") for w in summary.weights]
        scores = [getattr(w, f"score_{side}") for w in summary.weights]
        assert sum(weights) == pytest.approx(1)
        assert np.dot(weights, scores) == pytest.approx(score)
    titles = [t.title for t in found._document().tables if "Simpson" in t.title]
    assert titles == [
        "Simpson's paradox, 1: within each lang",
        "Simpson's paradox, 2: all groups together",
    ]
    back = pv.compare(
        REVERSED, group="lang", metric="precision", **{**HOW, "columns": ["new", "old"]}
    )
    assert "In both groups new scores higher than old" in str(back.group_summaries[0])


def test_the_same_rows_do_not_reverse_in_recall_or_accuracy():
    found = pv.compare(REVERSED, group="lang", metric=["recall", "accuracy"], **HOW)
    assert all("reversal" not in s.disagreements for s in found.group_summaries)
    assert all(s.weights is None for s in found.group_summaries)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.lists(st.integers(0, 12), min_size=8, max_size=8), min_size=2, max_size=4))
def test_scores_with_one_denominator_lie_between_those_of_the_groups(groups):
    cases = [pv.PairedCounts(cells) for cells in groups]
    whole = sum(cases[1:], start=cases[0])
    for metric in ("accuracy", "recall", "specificity"):

        def gap(table, metric=metric):
            a, b = (pv.metrics.score(side, metric) for side in (table.a, table.b))
            return b - a

        gaps = [gap(one) for one in cases]
        defined = [g for g in gaps if g == g]
        if defined:
            assert min(defined) - 1e-12 <= gap(whole) <= max(defined) + 1e-12


def test_groups_that_disagree_in_sign_are_no_paradox():
    frame = rows_of(
        *(((1, 0, 1, "de"), 40), ((1, 1, 1, "de"), 40), ((0, 0, 0, "de"), 60)),
        *(((1, 1, 0, "ja"), 30), ((1, 1, 1, "ja"), 40), ((0, 0, 0, "ja"), 60)),
    )
    summary = pv.compare(frame, group="lang", **HOW).group_summaries[0]
    assert summary.disagreements == ("mixed",)
    assert "the groups disagree. new is better than old in de and worse in ja" in str(summary)
    assert "Simpson" not in str(summary)


def test_one_large_group_can_outvote_the_others():
    small = [
        kind
        for name in ("a", "b", "c")
        for kind in (((1, 0, 1, name), 12), ((1, 1, 1, name), 20), ((0, 0, 0, name), 20))
    ]
    large = [((1, 1, 0, "large"), 200), ((1, 1, 1, "large"), 300), ((0, 0, 0, "large"), 300)]
    found = pv.compare(rows_of(*small, *large), group="lang", metric="accuracy", **HOW)
    summary = found.group_summaries[0]
    assert summary.disagreements == ("mixed", "against-most")
    said = str(summary)
    assert "most groups point the other way. Over all groups old is better, but in 3 of 4" in said
    assert "large alone has 84 % of all rows (no Simpson's paradox" in said


def test_agreeing_groups_bring_no_warning():
    frame = rows_of(
        *(((1, 0, 1, "de"), 40), ((1, 1, 1, "de"), 40), ((0, 0, 0, "de"), 60)),
        *(((1, 0, 1, "ja"), 30), ((1, 1, 1, "ja"), 40), ((0, 0, 0, "ja"), 60)),
    )
    summary = pv.compare(frame, group="lang", **HOW).group_summaries[0]
    assert summary.disagreements == ()
    assert "Warning" not in str(summary)
    assert "new is better than old in 2 (de, ja) (Holm-adjusted p ≤ 0.05, 2 tests)" in str(summary)


def test_heterogeneity_equals_welchs_anova():
    oneway = pytest.importorskip("statsmodels.stats.oneway")
    rng = np.random.default_rng(4)
    samples = [rng.normal(0.1 * k, 1 + k, 12 + 5 * k) for k in range(4)]
    theirs = oneway.anova_oneway(samples, use_var="unequal")
    ours = heterogeneity(
        [s.mean() for s in samples],
        [s.std(ddof=1) / math.sqrt(len(s)) for s in samples],
        [len(s) - 1 for s in samples],
    )
    assert ours.pvalue == pytest.approx(theirs.pvalue)
    assert ours.degrees_of_freedom == 3
    assert heterogeneity([0.1], [0.1], [9]) is None
    assert heterogeneity([0.1, 0.2, math.nan], [0.1, 0.0, 0.1], [9, 9, 9]) is None


# --- where groups come from ----------------------------------------------------------------------


def test_every_kind_of_table_has_the_same_groups(tmp_path):
    frame = table(120)
    frame.loc[5:9, "lang"] = None
    expected = pv.compare(frame, group="lang", **HOW)
    assert [g.group for g in expected.groups] == ["de", "fr", "ja", "(missing)"]
    assert expected.groups[-1].rows == 5
    frame.to_csv(tmp_path / "t.csv", index=False)
    frame.to_parquet(tmp_path / "t.parquet")
    frame.to_json(tmp_path / "t.jsonl", orient="records", lines=True)
    others = [
        pl.from_pandas(frame),
        *(tmp_path / f"t.{end}" for end in ("csv", "parquet", "jsonl")),
    ]
    for other in others:
        found = pv.compare(other, group="lang", **HOW)
        assert [str(g) for g in found.groups] == [str(g) for g in expected.groups]
    by_number = pv.compare(
        tmp_path / "t.csv", gold_column=1, columns=[2, 3], group=4, header=True, examples=False
    )
    assert [g.rows for g in by_number.groups] == [g.rows for g in expected.groups]


def test_the_answers_table_tells_the_groups_of_separate_files(tmp_path):
    frame = table(90)
    frame[["y", "lang"]].rename(columns={"y": "label"}).to_csv(tmp_path / "gold.csv", index=False)
    for name in ("old", "new"):
        frame[[name]].rename(columns={name: "pred"}).to_csv(tmp_path / f"{name}.csv", index=False)
    files = [tmp_path / f"{name}.csv" for name in ("gold", "old", "new")]
    found = pv.compare(*files, group="lang", examples=False)
    expected = pv.compare(frame, group="lang", **HOW)
    assert [str(g) for g in found.groups] == [str(g) for g in expected.groups]


def test_units_in_several_groups_are_said():
    found = pv.compare(table(), group="lang", unit_column="doc", **HOW)
    assert any("units with rows in several groups of 'lang'" in note for note in found.notes)
    apart = table().assign(doc=lambda f: f["lang"] + f["doc"].astype(str))
    found = pv.compare(apart, group="lang", unit_column="doc", **HOW)
    assert not any("several groups" in note for note in found.notes)


def test_several_classes_and_sets_of_labels_have_groups():
    rng = np.random.default_rng(1)
    names = np.array(["a", "b", "c"])
    frame = pd.DataFrame({c: names[rng.integers(0, 3, 90)] for c in ("y", "old", "new")})
    frame["lang"] = ["de", "fr"] * 45
    for more in ({}, {"average": "macro"}, {"only": ["a"]}, {"positive": "b"}):
        found = pv.compare(frame, group="lang", **HOW, **more)
        alone = pv.compare(frame[frame["lang"] == "fr"], **HOW, **more)
        c, d = found.groups[1].comparisons[0], alone.comparisons[0]
        assert numbers(c) == pytest.approx(numbers(d), nan_ok=True), more
    sets = frame.assign(**{c: frame[c] + ";b" for c in ("y", "new")})
    found = pv.compare(sets, group="lang", multilabel=";", **HOW)
    alone = pv.compare(sets[sets["lang"] == "de"], multilabel=";", **HOW)
    assert numbers(found.groups[0].comparisons[0]) == pytest.approx(
        numbers(alone.comparisons[0]), nan_ok=True
    )


def test_tags_of_tokens_in_a_table_have_groups(tmp_path):
    lines = ["sentence,gold,old,new,lang"]
    for k in range(24):
        lang = ("de", "fr")[k % 2]
        old = "B-PER" if k % 3 else "O"
        lines += [
            f"{k},B-PER,{old},B-PER,{lang}",
            f"{k},O,O,{'B-PER' if k % 5 == 0 else 'O'},{lang}",
        ]
    path = tmp_path / "tags.csv"
    path.write_text("\n".join(lines) + "\n")
    how = {"gold_column": "gold", "columns": ["old", "new"], "examples": False}
    found = pv.compare(path, group="lang", **how)
    assert [(g.group, g.rows, g.units) for g in found.groups] == [("de", 12, 12), ("fr", 12, 12)]
    only_de = [line for line in lines if line.endswith((",lang", ",de"))]
    path.write_text("\n".join(only_de) + "\n")
    alone = pv.compare(path, **how)
    assert numbers(found.groups[0].comparisons[0]) == pytest.approx(
        numbers(alone.comparisons[0]), nan_ok=True
    )
    path.write_text("\n".join(lines).replace("1,O,O,O,fr", "1,O,O,O,de") + "\n")
    with pytest.raises(InputError, match="expected one group per sentence"):
        pv.compare(path, group="lang", **how)


def test_scores_by_group():
    frame = table()
    found = pv.score(frame, gold_column="y", columns=["old", "new"], group="lang")
    for group in found.groups:
        own = frame[frame["lang"] == group.group]
        alone = pv.score(own, gold_column="y", columns=["old", "new"])
        for system, other in zip(group.systems, alone.systems, strict=True):
            assert [str(s) for s in system.scores] == [str(s) for s in other.scores]
    assert "groups" in found.to_dict()
    assert "comparisons" not in found.to_dict()["groups"][0]


def test_cases_alone_make_the_same_comparisons():
    frame = table()
    expected = pv.compare(frame, group="lang", unit_column="doc", **HOW)
    choices = replace(Choices.of(CompareOptions(), "unit"), in_group=True)
    for group in expected.groups:
        own = frame[frame["lang"] == group.group]
        paired = pv.PairedCounts.from_labels(own["y"], own["old"], own["new"], units=own["doc"])
        found = compare_cases(PooledScore.of_cases(paired.grouped()), ("old", "new"), choices)
        assert numbers(found) == pytest.approx(numbers(group.comparisons[0]))


# --- what is refused -----------------------------------------------------------------------------


def test_what_has_no_groups_is_refused():
    frame = table(60)
    with pytest.raises(InputError, match="there is no column 'long'; expected one of"):
        pv.compare(frame, group="long", **HOW)
    lists = [1, 0, 1], [1, 1, 1], [0, 0, 1]
    with pytest.raises(InputError, match="group: there is no table; expected one"):
        pv.compare(*lists, group="lang")
    with pytest.raises(InputError, match="group: a ranking has no groups"):
        pv.rank(frame, gold_column="y", columns=["old", "new"], group="lang")
    with pytest.raises(InputError, match="group: a plan has no groups"):
        pv.plan(frame, gold_column="y", columns=["old", "new"], group="lang")
    with pytest.raises(InputError, match="group: does not apply to segmentation"):
        pv.compare(["a b"], ["ab"], ["a b"], task="segmentation", group="lang")


# --- how it is shown -----------------------------------------------------------------------------


def test_text_draws_the_intervals_where_there_is_room():
    document = pv.compare(table(), group="lang", **HOW)._document()
    for width in (110, 80):
        text = render(document, "text", width=width)
        lines = [line for line in text.split("\n") if "│" in line]
        assert [line.split()[0] for line in lines] == ["de", "fr", "ja", "all"]
        assert len({line.index("│") for line in lines}) == 1  # one scale for all
        assert max(map(len, text.split("\n"))) <= width
    assert "│" not in render(document, "text", width=50)
    for form in ("markdown", "latex"):
        assert "│" not in render(document, form)


def test_many_groups_are_shortened_in_text_alone():
    frame = table(160).assign(lang=[f"g{i % 32}" for i in range(160)])
    document = pv.compare(frame, group="lang", **HOW)._document()
    assert "7 more are left out here; JSON and CSV hold all of them." in render(document, "text")
    answer = json.loads(render(document, "json"))
    assert [g["group"] for g in answer["groups"]] == [f"g{i}" for i in range(32)]
    (first,) = answer["groups"][0]["comparisons"]
    assert {"p_adjusted", "p_bh", "a", "b", "metric"} <= first.keys()
    rows = list(csv.DictReader(io.StringIO(render(document, "csv"))))
    assert sum(row["kind"] == "group" for row in rows) == 32


def test_groups_on_the_command_line(tmp_path, capsys):
    path, page, figure = (tmp_path / name for name in ("t.csv", "p.html", "f.svg"))
    table(90).to_csv(path, index=False)
    call = ["compare", str(path), "--gold-column", "y", "--columns", "old,new", "--group", "lang"]
    assert main([*call, "-q", "--html", str(page), "--figure", str(figure)]) == 0
    assert "new − old, F1 by lang, points" in capsys.readouterr().out
    assert "By group" in page.read_text(encoding="utf-8")
    assert figure.stat().st_size > 1000
    assert main(["score", *call[1:], "-q", "-f", "json"]) == 0
    assert len(json.loads(capsys.readouterr().out)["groups"]) == 3
    assert main([*call[:-1], "long", "-q"]) == 2
    assert "there is no column 'long'" in capsys.readouterr().err


def test_sentences_name_the_metric_where_there_are_several():
    frame = table()
    how = {"gold_column": "y", "columns": ["old", "new"], "group": "lang"}
    alone = pv.compare(frame, **how, metric="f1")
    assert str(alone.group_summaries[0]).startswith("By lang, 3 groups: ")
    both = pv.compare(frame, **how, metric=["f1", "precision"])
    heads = [str(summary).split(":")[0] for summary in both.group_summaries]
    assert heads == ["By lang, 3 groups, F1", "By lang, 3 groups, precision"]


def test_titles_name_the_rule_of_matching():
    gold = [["B-PER", "I-PER", "O"], ["O", "B-LOC", "O"]] * 20
    old = [["B-PER", "O", "O"], ["O", "B-LOC", "O"]] * 20
    new = [["B-PER", "I-PER", "O"], ["O", "B-ORG", "O"]] * 20
    sides = {"gold": gold, "old": old, "new": new}
    columns = {name: [tag for own in side for tag in own] for name, side in sides.items()}
    place = np.arange(120)
    frame = pd.DataFrame(
        columns | {"s": place // 3, "lang": np.array(["de", "fr"])[place // 3 % 2]}
    )
    how = {"gold_column": "gold", "columns": ["old", "new"], "group": "lang", "match": "partial"}
    how |= {"unit_column": "s", "task": "entities"}
    compared = pv.compare(frame, **how)
    assert "F1, partial overlap by lang" in compared.to_markdown()
    scored = pv.score(frame, **how)
    assert "F1, partial overlap by group" in scored.to_markdown()
    several = pv.compare_datasets({"x": (gold, old, new), "y": (gold, old, new)}, match="partial")
    (verdict,) = pv.gate(several, "require-better")
    assert verdict.match == "partial"
    assert "F1, partial overlap, mean over the data sets" in str(verdict)


@pytest.mark.parametrize("units", [None, "doc"])
def test_groups_of_equal_rows_are_compared_as_each_would_be_alone(units):
    rng = np.random.default_rng(1)
    # few rows, so that many groups have the same ones in some order, and some the same units
    frame = table(60).assign(lang=np.repeat(np.arange(20), 3), doc=rng.integers(0, 30, 60))
    how = HOW if units is None else {**HOW, "unit_column": units}
    compared = pv.compare(frame, group="lang", **how, positive=1)
    assert [group.group for group in compared.groups] == [str(i) for i in range(20)]
    for group in compared.groups:
        own = frame[frame.lang == int(group.group)]
        if own[["y", "old", "new"]].to_numpy().any():
            alone = pv.compare(own, **how, positive=1)
            (here,), (there,) = group.comparisons, alone.comparisons
            assert numbers(here) == pytest.approx(numbers(there), nan_ok=True)
            assert [s.counts for s in group.systems] == [s.counts for s in alone.systems]
            assert (group.rows, group.units) == (3, alone.units)
