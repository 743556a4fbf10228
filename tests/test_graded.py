"""Graded scores through the jobs: comparisons, ranks, plans, gates, groups, runs, logs, judges."""

from __future__ import annotations

import json
import math
from pathlib import Path

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import stats

import probative as pv
from probative.cli import main
from probative.errors import InputError
from probative.inference.means import correct
from probative.tables import TallyWarning

LOGS = Path(__file__).parent / "data" / "logs"
RNG = np.random.default_rng(11)
DOCS = np.repeat(np.arange(16), 5)
OLD = RNG.integers(1, 6, 80)
NEW = np.minimum(5, OLD + (RNG.random(80) < 0.3))


@pytest.fixture
def table(tmp_path):
    frame = pd.DataFrame({"doc": DOCS, "lang": np.where(DOCS % 2, "de", "en")})
    frame["old"], frame["new"] = OLD.astype(float), NEW.astype(float)
    frame.loc[3, "new"] = np.nan
    path = tmp_path / "scores.csv"
    frame.to_csv(path, index=False)
    return path


def test_lists_of_scores_are_compared_by_item():
    result = pv.compare(scores={"old": OLD.tolist(), "new": NEW.tolist()}, range=(1, 5))
    (found,) = result.comparisons
    assert (result.task, result.unit, result.range) == ("scores", "item", (1, 5))
    assert found.metric == "mean"
    assert found.difference == pytest.approx(NEW.mean() - OLD.mean())
    # every difference is 0 or 1: a sign test
    assert found.pvalue == pytest.approx(2 * 0.5 ** int((NEW > OLD).sum()))
    assert found.test == "exact"
    assert found.p_unit == pytest.approx(stats.ttest_rel(NEW, OLD).pvalue, rel=1e-9)
    assert "points" not in result.verdicts[0]
    assert "mean 3." in result.verdicts[0]
    assert json.loads(json.dumps(result.to_dict()))["range"] == [1, 5]
    assert result.to_metrics()["new/mean"] == pytest.approx(NEW.mean())


def test_units_are_documents_and_means_may_be_over_them():
    scores = {"old": OLD, "new": NEW}
    by_unit = pv.compare(scores=scores, units=DOCS, range=(1, 5))
    assert by_unit.by == "unit"
    assert by_unit.units == 16
    over = pv.compare(scores=scores, units=DOCS, range=(1, 5), average="documents")
    assert over.comparisons[0].metric == "mean_of_documents"
    assert over.comparisons[0].difference == pytest.approx(by_unit.comparisons[0].difference)
    assert over["old"]["mean_of_documents"].estimate == pytest.approx(OLD.mean())


def test_units_without_scores_are_refused_and_not_ignored():
    gold, old = ["a", "b"] * 20, ["a", "a"] * 20
    calls = (pv.score, (gold, old)), (pv.compare, (gold, old, gold)), (pv.rank, (gold, [old, gold]))
    for call, given in calls:
        with pytest.raises(InputError, match="units: has no effect without scores="):
            call(*given, units=np.arange(40) // 4)


def test_the_win_rate_is_the_share_of_items_won_less_those_lost():
    result = pv.compare(scores={"old": OLD, "new": NEW}, range=(1, 5), metric="win_rate")
    (found,) = result.comparisons
    assert found.difference == pytest.approx(np.mean(NEW > OLD) - np.mean(NEW < OLD))
    with pytest.raises(InputError, match="'win_rate' compares two systems"):
        pv.compare(scores=dict.fromkeys("abc", OLD), range=(1, 5), metric="win_rate")


def test_rank_plan_and_gate_follow():
    scores = {"old": OLD, "new": NEW, "worst": 6 - NEW}
    board = pv.rank(scores=scores, range=(1, 5), units=DOCS)
    assert board.ranking[0].name == "new"
    assert "points" not in board.to_markdown()
    plan = pv.plan(scores={"old": OLD, "new": NEW}, range=(1, 5), difference=0.5)
    assert plan.units > 0
    assert "A true difference of 0.500 is significant" in plan.to_markdown()
    result = pv.compare(scores={"old": OLD, "new": NEW}, range=(1, 5))
    (verdict,) = pv.gate(result, "require-better", margin=0.1)
    assert verdict.passed
    assert "> 0.1)" in str(verdict)
    assert "<svg" in result.to_html()


def test_numbers_are_in_points_only_on_the_scale_from_0_to_1():
    few = {"old points": [1, 2, 3, 4, 3, 2] * 5, "new": [2, 2, 4, 4, 3, 3] * 5}
    fractions = {name: np.divide(own, 5) for name, own in few.items()}
    for scores, span, said in ((few, (1, 5), "0.50 higher"), (fractions, (0, 1), "10.0 points")):
        found = pv.compare(scores=scores, range=span)
        assert f"new scores {said}" in found.verdicts[0]
        assert "old points" in found.verdicts[0]
        assert ("Scores in points" in found.to_markdown()) == (span == (0, 1))
        ranked = pv.rank(scores=scores, range=span)
        assert f'"factor":{100.0 if span == (0, 1) else 1.0}' in ranked.to_html()
    runs = {name: [own, own[1:] + own[:1], own[2:] + own[:2]] for name, own in few.items()}
    plan = pv.plan(scores=runs, range=(1, 5), difference=0.5)
    assert "to detect 0.500**" in plan.to_markdown()
    assert "points" not in plan.to_markdown()


def test_a_plan_knows_the_unit_of_every_item():
    scores = {"a": [0.5, 0.6, 0.7, 0.4] * 9, "b": [0.6, 0.6, 0.8, 0.4] * 8 + [0.1, 0.2, 0.3, 0.4]}
    units = [i // 4 for i in range(36)]
    planned = pv.plan(scores=scores, units=units)
    assert planned.observed_units == 9
    compared = pv.compare(scores=scores, units=units).comparisons[0]
    assert planned.units == compared.units_needed
    assert pv.plan(scores=scores, units=50, difference=0.02).units == 50


def test_runs_are_systems_of_several_lists():
    scores = {"old": [OLD, OLD[::-1].copy()], "new": [NEW, NEW[::-1].copy()]}
    result = pv.compare(scores=scores, range=(1, 5))
    models, procedures = result.comparisons
    assert (models.question, procedures.question) == ("models", "procedures")
    assert models.difference == pytest.approx(NEW.mean() - OLD.mean())
    assert result.runs_of("new", "mean").scores == pytest.approx((NEW.mean(), NEW.mean()))


def test_a_score_column_of_each_log(write, capsys):
    rng = np.random.default_rng(4)
    a, b = rng.random(40).round(3), rng.random(40).round(3)
    paths = [
        write("".join(json.dumps({"id": i, "rouge": x, "bleu": 0.5}) + "\n"
                      for i, x in enumerate(own)), name)
        for own, name in ((a.tolist(), "a.jsonl"), (b.tolist(), "b.jsonl"))
    ]  # fmt: skip
    assert main(["compare", *map(str, paths), "--score-column", "rouge", "-f", "json"]) == 0
    found = json.loads(capsys.readouterr().out)["comparisons"][0]
    (expected,) = pv.compare(scores={"a": a, "b": b}).comparisons
    assert found["metric"] == "mean"
    for name in ("difference", "low", "high", "pvalue", "p_b_better"):
        assert found[name] == pytest.approx(getattr(expected, name), abs=1e-12)
    same = pv.rank(*paths, score_name="rouge", metric="mean")
    assert same.pairs[0].pvalue == pytest.approx(expected.pvalue, abs=1e-12)
    table = write("id,rouge\n1,0.5\n2,0.4\n", "table.csv")
    for path, name in ((paths[0], "rogue"), (table, "rouge")):
        with pytest.raises(InputError, match=f"is no log .* JSON lines with 'id' and '{name}'"):
            pv.compare(path, paths[1], score_column=name)


def test_tables_with_units_groups_and_missing_scores(table, capsys):
    words = [str(table), "--score-columns", "old,new", "--range", "1,5", "--unit", "doc"]
    assert main(["compare", *words, "--group", "lang", "-f", "json"]) == 0
    captured = capsys.readouterr()
    found = json.loads(captured.out)
    assert found["task"] == "scores"
    assert found["systems"][0]["counts"] == {"items": 79, "left_out": 1}
    assert [group["group"] for group in found["groups"]] == ["de", "en"]
    assert "1 of 80 items are left out" in captured.err
    frame = pv.compare(
        pd.read_csv(table), score_columns=["old", "new"], unit_column="doc", range="1,5"
    )
    assert frame.comparisons[0].pvalue == found["comparisons"][0]["pvalue"]
    assert main(["rank", *words, "-q"]) == 0
    assert main(["plan", *words, "-q"]) == 0


def frames_of(scores):
    frame = pd.DataFrame(scores)
    relation = duckdb.connect().from_df(frame)
    return [frame, pl.from_pandas(frame), pl.from_pandas(frame).lazy(), relation]


def test_tables_are_summed_by_unit_where_they_are():
    rng = np.random.default_rng(5)
    a = np.round(rng.random(300), 3)
    scores = {"old": a, "new": np.clip(a + 0.1 * rng.normal(0, 1, 300), 0, 1)}
    docs = rng.integers(0, 25, 300)
    expected = pv.compare(scores=scores, units=docs)
    for frame in frames_of({**scores, "doc": docs, "lang": docs % 2}):
        summed = pv.tally(frame, scores=["old", "new"], unit="doc")
        assert summed.n_units == len(np.unique(docs))
        np.testing.assert_allclose(summed.means, [a.mean(), scores["new"].mean()])
        own = [a[docs == doc] for doc in np.unique(docs)]
        np.testing.assert_allclose(summed.sums[0], [part.sum() for part in own])
        np.testing.assert_allclose(summed.squares[0], [(part**2).sum() for part in own])
        found = pv.compare(scores=summed)
        for one, other in ((found, expected), (pv.rank(scores=summed), expected)):
            assert one.systems[1]["mean"].low == pytest.approx(other.systems[1]["mean"].low)
            assert one.systems[1]["mean"].design_effect == pytest.approx(
                other.systems[1]["mean"].design_effect
            )
        assert found.comparisons[0].pvalue == pytest.approx(expected.comparisons[0].pvalue)
        assert found.comparisons[0].high == pytest.approx(expected.comparisons[0].high)
        by_lang = pv.tally(frame, scores={"o": "old"}, unit="doc", by="lang")
        assert [by_lang[lang].n_units for lang in (0, 1)] == [13, 12]
        assert by_lang[1].means[0] == pytest.approx(a[docs % 2 == 1].mean())


def test_summed_tables_check_range_units_and_missing_scores():
    rows = {"doc": [1, 1, 2, 3], "old": [1.0, 5.0, None, 2.0], "new": [2.0, 4.0, 3.0, 3.0]}
    for frame in frames_of(rows):
        how = {"scores": ["old", "new"], "unit": "doc"}
        with pytest.raises(InputError, match="1 of 4 rows have no number"):
            pv.tally(frame, **how, range=(1, 5))
        with pytest.warns(TallyWarning, match="1 rows are left out"):
            summed = pv.tally(frame, **how, range=(1, 5), on_null="drop")
        assert (summed.n_units, summed.left_out, summed.number.tolist()) == (2, 1, [2.0, 1.0])
        assert (summed.least, summed.most) == (1, 5)
        with pytest.raises(InputError, match="between 1 and 5, outside the range from 0 to 1"):
            pv.tally(frame, **how, on_null="drop")
        with pytest.raises(InputError, match="outside the range from 2 to 5"):
            pv.compare(scores=summed, range=(2, 5))
        with pytest.raises(InputError, match="summed by unit; expected by='unit'"):
            pv.compare(scores=summed, by="item")
        with pytest.raises(InputError, match="needs single items"):
            pv.compare(scores=summed, metric="win_rate")
    with pytest.raises(InputError, match="expected unit="):
        pv.tally(pd.DataFrame(rows), scores=["old", "new"])
    with pytest.raises(InputError, match="'doc' is empty in 1 of 2 rows"):
        pv.tally(pd.DataFrame({"doc": [None, "b"], "s": [1, 0]}), scores=["s"], unit="doc")
    with pytest.raises(InputError, match="expected numbers"):
        pv.tally(pd.DataFrame({"doc": [1], "s": ["x"]}), scores=["s"], unit="doc")


def test_large_tables_are_summed_in_the_engine(table, tmp_path, capsys):
    how = [str(table), "--score-columns", "old,new", "--range", "1,5", "--unit", "doc"]
    found = []
    for more in ([], ["--memory-limit", "1GB"]):
        assert main(["compare", *how, *more, "--format", "json"]) == 0
        out = capsys.readouterr()
        found.append(json.loads(out.out))
    assert "summed by unit in the engine" in out.err
    rows, summed = (one["comparisons"][0] for one in found)
    for key in ("difference", "low", "high", "pvalue", "p_b_better", "positives"):
        assert summed[key] == pytest.approx(rows[key])
    # what sums of units cannot answer is read row by row, with its blank cell
    for more in (["--metric", "win_rate"], ["--group", "lang"]):
        assert main(["compare", *how, *more, "--memory-limit", "1GB", "--format", "json"]) == 0
        assert json.loads(capsys.readouterr().out)["systems"][0]["counts"]["left_out"] == 1
    text = table.read_text(encoding="utf-8").splitlines()
    wrong = tmp_path / "wrong.csv"
    wrong.write_text("\n".join([*text, text[-1].rpartition(",")[0] + ",high"]), encoding="utf-8")
    assert main(["compare", str(wrong), *how[1:], "--memory-limit", "1GB"]) == 2
    assert "'high' is no score; expected numbers" in capsys.readouterr().err


def test_data_sets_of_scores(table, capsys):
    how = ["compare", "--dataset", f"x={table}", "--dataset", f"y={table}", "--range", "1,5"]
    how += ["--score-columns", "old,new", "--unit", "doc"]
    assert main([*how, "--format", "json"]) == 0
    content = json.loads(capsys.readouterr().out)
    alone = pv.compare(table, score_columns=["old", "new"], range=(1, 5), unit_column="doc")
    (c,) = alone.comparisons
    assert content["range"] == [1, 5]
    assert content["mean"]["difference"] == pytest.approx(c.difference)
    assert content["pooled"]["difference"] == pytest.approx(c.difference)
    assert content["mean"]["high"] - content["mean"]["low"] < c.high - c.low
    assert content["datasets"][0]["p_better"] == pytest.approx(max(c.pvalue, c.p_unit) / 2)
    assert content["better"]["bonferroni"] == 2
    assert main(how) == 0
    text = capsys.readouterr().out
    assert "points" not in text
    assert f"{c.difference:.2f} (3.48 against 3.22" in text
    scores = {"old": OLD / 5, "new": NEW / 5}
    found = pv.compare_datasets(
        {"x": {"scores": scores, "units": DOCS}, "y": {"scores": scores}}, metric="mean"
    )
    assert [one.unit for one in found.datasets] == ["unit", "item"]
    assert found.pooled.difference == pytest.approx(np.mean(NEW - OLD) / 5)
    assert found.to_metrics()["mean/difference"] == pytest.approx(np.mean(NEW - OLD) / 5)


def test_scores_without_a_range_have_student_intervals(table):
    result = pv.score(table, score_columns=["old"], range="none")
    assert result[0]["mean"].method == "student"
    assert result.range is None


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"scores": {"a": [3, 2]}}, r"a: 2 of 2 scores are outside the range from 0 to 1 .*range="),
        ({"scores": {"a": [0.1], "b": [0.1, 0.2]}}, "b: 2 scores, but a has 1"),
        ({"scores": {"a": ["x"], "b": [1]}}, "a: 'x' is no score"),
        ({"scores": [1, 2]}, "expected the scores of every system by its name"),
        ({"scores": {"a": [None], "b": [1]}}, "no item has a score of every system"),
        ({"scores": {"a": [1], "b": [1]}, "range": (1, 1)}, r"range: \(1, 1\); expected"),
        ({"scores": {"a": [1], "b": [1]}, "metric": "f1"}, "'f1' is not defined for graded"),
        ({"scores": {"a": [1], "b": [1]}, "average": "macro"}, "average: 'macro' does not apply"),
        ({"scores": {"a": [1], "b": [1]}, "units": [1, 2]}, "units: 2 of them"),
        ({"gold": ["x"], "scores": {"a": [1]}}, "scores: hold everything"),
        ({}, "gold: missing"),
        ({"gold": ["x"], "a": ["x"], "b": ["y"], "metric": "mean"}, "'mean' is not defined for"),
    ],
)
def test_bad_input_is_one_line(how, message):
    with pytest.raises(InputError, match=message):
        pv.compare(**how)


# logs


@pytest.mark.parametrize("name", ["inspect_old_graded.json"])
def test_partial_credit_of_inspect_is_a_number(name):
    found = pv.score(LOGS / name, metric="mean")[0]["mean"]
    assert found.estimate == pytest.approx((8 + 4 * 0.5) / 12)


def test_right_and_wrong_answers_have_the_mean_of_their_accuracy():
    files = LOGS / "samples_sums_old.jsonl", LOGS / "samples_sums_new.jsonl"
    graded, plain = pv.compare(*files, metric="mean"), pv.compare(*files)
    assert graded.task == "scores"
    assert graded.comparisons[0].difference == pytest.approx(plain.comparisons[0].difference)
    assert graded.comparisons[0].pvalue == pytest.approx(plain.comparisons[0].pvalue)


@pytest.mark.parametrize(("tool", "name"), [("promptfoo", "score"), ("deepeval", "Exact Match")])
def test_scores_of_other_tools(tool, name):
    files = LOGS / f"{tool}_old.json", LOGS / f"{tool}_new.json"
    result = pv.compare(*files, metric="mean", score_name=name)
    assert result.task == "scores"
    assert result.units == 12


def test_dictionaries_of_inspect_are_several_scores(tmp_path):
    log = json.loads((LOGS / "inspect_old_graded.json").read_text(encoding="utf-8"))
    paths = []
    for name, more in (("old", 0.0), ("new", 0.1)):
        for i, sample in enumerate(log["samples"]):
            value = {"style": i % 5 / 5 + more, "facts": 1 - i % 3 / 3}
            sample["scores"] = {"judge": {"value": value}}
        log["eval"]["model"] = f"org/{name}"
        paths.append(tmp_path / f"{name}.json")
        paths[-1].write_text(json.dumps(log), encoding="utf-8")
    with pytest.raises(InputError, match=r"judge\.style, judge\.facts"):
        pv.compare(*paths, metric="mean")
    (c,) = pv.compare(*paths, metric="mean", score_name="judge.style").comparisons
    assert (c.a, c.b, c.difference) == ("org/old", "org/new", pytest.approx(0.1))


def test_several_scores_are_listed(tmp_path):
    lines = [{"id": i, "model": "m", "scores": {"rouge": 0.5, "fluency": 1.0}} for i in range(3)]
    path = tmp_path / "log.jsonl"
    path.write_text("\n".join(json.dumps({**line, "score": 0.1}) for line in lines))
    with pytest.raises(InputError, match="which score\\? There are score, rouge, fluency"):
        pv.score(path, metric="mean")
    assert pv.score(path, metric="mean", score_name="rouge")[0]["mean"].estimate == 0.5


def test_lines_of_several_models_are_systems(tmp_path):
    path = tmp_path / "log.jsonl"
    rows = [
        {"id": i, "model": model, "score": value + i / 10}
        for model, value in (("a", 0.1), ("b", 0.3))
        for i in range(6)
    ]
    path.write_text("\n".join(map(json.dumps, rows)))
    result = pv.compare(path, metric="mean")
    assert [system.name for system in result.systems] == ["a", "b"]
    assert result.comparisons[0].difference == pytest.approx(0.2)
    with pytest.raises(InputError, match="or the mean of the scores"):
        pv.compare(path)


def test_lines_with_an_evaluation_each(tmp_path):
    path = tmp_path / "instances.jsonl"
    rows = [
        {
            "schema_version": "0.2.1",
            "evaluation_id": f"gsm8k/{model}/1",
            "model_id": model,
            "evaluation_name": task,
            "sample_id": f"{task}_{i}",
            "interaction_type": "single_turn",
            "input": {"raw": f"question {i}", "reference": ["4"]},
            "output": {"raw": ["4"]},
            "answer_attribution": [],
            "evaluation": {"score": value, "is_correct": value > 0.5 or i == 0},
        }
        for model, value in (("org/a", 0.25), ("org/b", 0.75))
        for task in ("gsm8k", "svamp")
        for i in range(4)
    ]
    path.write_text("\n".join(map(json.dumps, rows)))
    with pytest.raises(InputError, match="score,gsm8k, score,svamp"):
        pv.compare(path, metric="mean")
    graded = pv.compare(path, metric="mean", score_name="score,svamp").comparisons[0]
    assert (graded.a, graded.b, graded.observed_units) == ("org/a", "org/b", 4)
    assert graded.difference == pytest.approx(0.5)
    one = "\n".join(json.dumps(row) for row in rows if row["evaluation_name"] == "gsm8k")
    path.write_text(one)
    assert pv.compare(path).comparisons[0].difference == pytest.approx(0.75)  # right or wrong


def test_the_score_of_an_item_is_the_mean_of_its_answers(tmp_path, capsys):
    path = tmp_path / "log.jsonl"
    rows = [
        {"id": i, "epoch": epoch, "score": (i + epoch) / 10}
        for i in range(5)
        for epoch in (1, 2, 3)
    ]
    path.write_text("\n".join(map(json.dumps, rows)))
    result = pv.score(path, metric="mean")
    assert (result.units, result.unit) == (5, "item")
    assert result.systems[0]["mean"].estimate == pytest.approx(0.4)
    # within items the variance is 0.01, and that of the five means 0.025
    counts = result.to_dict()["systems"][0]["counts"]
    assert counts["repeats"] == 3
    assert counts["share_of_repeats"] == pytest.approx(0.01 / 3 / 0.025)
    assert main(["score", str(path), "--metric", "mean"]) == 0
    assert "they make 13 % of the variance" in capsys.readouterr().err


def test_systems_are_named_after_the_model_of_a_log(tmp_path):
    for model in ("org__old", "org__new"):
        folder = tmp_path / model
        folder.mkdir()
        path = folder / "samples_gsm8k_2026-01-02T03-04-05.678901.jsonl"
        path.write_text(json.dumps({"doc_id": 0, "resps": [], "metrics": ["rouge"], "rouge": 0.5}))
    files = sorted(tmp_path.glob("*/*.jsonl"), reverse=True)
    result = pv.compare(*files, metric="mean")
    assert [system.name for system in result.systems] == ["org/old", "org/new"]


# a judge that errs


def judged(n=1000, bias=0.1, labels=200, seed=3):
    """Return the scores of a judge, human scores of some items, and the true scores."""
    rng = np.random.default_rng(seed)
    truth = np.clip(rng.normal(0.5, 0.2, n) + np.array([[0.0], [0.02]]), 0, 1)
    judge = np.clip(truth + rng.normal(0, 0.1, (2, n)) + [[0.0], [bias]], 0, 1)
    human = np.where(rng.permutation(n) < labels, truth, np.nan)
    names = ("a", "b")
    return (dict(zip(names, part, strict=True)) for part in (judge, human, truth))


def test_human_scores_correct_a_biased_judge():
    judge, human, truth = judged()
    plain = pv.compare(scores=judge).comparisons[0]
    result = pv.compare(scores=judge, human=human)
    found = result.comparisons[0]
    true = truth["b"].mean() - truth["a"].mean()
    assert plain.low > true
    assert found.low <= true <= found.high
    assert found.test == "student"
    assert "the judge alone: +0.1" in found.note
    bias = {own.system: own["bias"] for own in result.judges}
    assert bias["a"].low < 0 < bias["a"].high
    assert bias["b"].low > 0.05
    assert result["b"]["mean"].estimate - result["a"]["mean"].estimate == pytest.approx(
        found.difference
    )
    assert "Student's two-sided test" in result.to_markdown()


def test_the_correction_agrees_with_ppi_py():
    rng = np.random.default_rng(6)
    truth = rng.beta(3, 2, 2000)
    judge = np.clip(truth + 0.1 + rng.normal(0, 0.1, 2000), 0, 1)
    some = rng.permutation(2000) < 200
    ours = correct(
        judge[None], np.ones(2000), (truth * some)[None], (judge * some)[None], some * 1.0
    )
    mean, variance = ours.estimates[0], np.sum(ours.residuals[0] ** 2)
    # recorded with ppi_py 0.2.3; its second mean leaves out the labelled items
    point, low, high = 0.599703804743362, 0.5842271325902524, 0.6151804768964717
    assert mean == pytest.approx(point, abs=2e-4)
    assert math.sqrt(variance) == pytest.approx((high - low) / 2 / stats.norm.isf(0.025), rel=0.01)
    ppi = pytest.importorskip("ppi_py", reason="ppi_py is not installed")
    given = truth[some], judge[some], judge[~some]
    assert np.squeeze(ppi.ppi_mean_pointestimate(*given)) == pytest.approx(point)


def test_human_scores_correct_several_runs():
    rng = np.random.default_rng(2)
    truth = {name: [rng.beta(4, 2, 400) for _ in range(3)] for name in "ab"}
    off = {"a": 0.0, "b": -0.1}  # the judge dislikes b
    judge = {
        name: [np.clip(run + off[name] + rng.normal(0, 0.05, 400), 0, 1) for run in own]
        for name, own in truth.items()
    }
    some = rng.permutation(400) < 120
    human = {n: [np.where(some, run, np.nan) for run in own] for n, own in truth.items()}
    alone, found = pv.compare(scores=judge), pv.compare(scores=judge, human=human)
    assert all(c.difference < -0.05 for c in alone.comparisons)
    models, procedures = found.comparisons
    gap = np.mean(truth["b"]) - np.mean(truth["a"])
    for c in (models, procedures):
        assert c.low < gap < c.high
        assert abs(c.difference - gap) < 0.02
    assert (models.question, models.method) == ("models", "prediction-powered")
    assert [own.system for own in found.judges] == ["a", "b"]
    with pytest.raises(InputError, match="1 lists for 'a', which has 3 runs"):
        pv.compare(scores=judge, human={n: own[0] for n, own in human.items()})


def test_human_scores_correct_logs(tmp_path, capsys):
    rows = [
        {"id": i, "score": min(1, i % 5 / 5 + 0.2 * (model == "b")), "model": model}
        for model in "ab"
        for i in range(100)
    ]
    people = [{**row, "score": row["id"] % 5 / 5} for row in rows if row["id"] % 3 == 0]
    log, human = tmp_path / "log.jsonl", tmp_path / "human.jsonl"
    log.write_text("\n".join(map(json.dumps, rows)))
    human.write_text("\n".join(map(json.dumps, people)))
    how = ["compare", str(log), "--metric", "mean", "--human", str(human), "--format", "json"]
    assert main(how) == 0
    content = json.loads(capsys.readouterr().out)
    (c,) = content["comparisons"]
    assert (c["difference"], c["method"]) == (pytest.approx(0), "prediction-powered")
    assert [one["items"] for one in content["judges"]] == [34, 34]
    assert content["judges"][1]["scores"][0]["estimate"] == pytest.approx(0.2, abs=0.02)
    human.write_text("\n".join(json.dumps(row) for row in people if row["model"] == "a"))
    assert main(how) == 2
    assert "has no scores of 'b', only of a" in capsys.readouterr().err


def test_a_judge_that_knows_nothing_changes_nothing():
    _, human, _ = judged()
    noise = np.random.default_rng(1).random((2, 1000))
    found = pv.compare(scores=dict(zip("ab", noise, strict=True)), human=human).comparisons[0]
    there = np.isfinite(human["a"])
    alone = (human["b"] - human["a"])[there]
    assert found.difference == pytest.approx(alone.mean(), abs=2 * stats.sem(alone))


def test_human_scores_are_found_by_their_ids(tmp_path, capsys):
    judge, human, _ = judged(100, labels=40)
    frame = pd.DataFrame({"id": range(100), **judge})
    people = pd.DataFrame({"id": range(100), **human}).dropna().sample(frac=1, random_state=1)
    frame.to_csv(tmp_path / "judge.csv", index=False)
    people.to_csv(tmp_path / "people.csv", index=False)
    words = ["compare", str(tmp_path / "judge.csv"), "--score-columns", "a,b", "-f", "json", "-q"]
    assert main([*words, "--human", str(tmp_path / "people.csv"), "--key", "id"]) == 0
    found = json.loads(capsys.readouterr().out)
    expected = pv.compare(scores=judge, human=human).comparisons[0]
    assert found["comparisons"][0]["difference"] == pytest.approx(expected.difference)
    assert [judge["system"] for judge in found["judges"]] == ["a", "b"]
    with pytest.raises(InputError, match="human: has no scores of 'b'"):
        pv.compare(scores=judge, human={"a": human["a"]})
    few = {name: np.where(np.arange(100) == 0, 0.5, np.nan) for name in "ab"}
    with pytest.raises(InputError, match="human: 1 items have human scores"):
        pv.compare(scores=judge, human=few)


def test_kappa_of_yes_and_no_is_cohens():
    from sklearn.metrics import cohen_kappa_score

    from probative.inference.means import judge_agreement

    rng = np.random.default_rng(2)
    people = (rng.random(200) < 0.6).astype(float)
    judge = np.where(rng.random(200) < 0.2, 1 - people, people)
    found = judge_agreement("a", judge, people, None, 0.95)
    assert found["kappa"].estimate == pytest.approx(cohen_kappa_score(people, judge))
    assert found["correlation"].estimate == pytest.approx(np.corrcoef(people, judge)[0, 1])


def test_human_scores_beside_lists_need_the_names_of_the_systems():
    scores = {"A": [0.1, 0.2, 0.3], "B": [0.2, 0.3, 0.4]}
    with pytest.raises(InputError, match=r"human: \[1, None, 3\]; expected a dictionary"):
        pv.score(scores=scores, human=[1, None, 3])
