"""What every kind of score can do: runs, groups, a second annotation, ranks, plans, logs."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import balanced_accuracy_score, f1_score

import probative as pv
from probative.errors import InputError

K = 4
SCORES = {
    ("f1", "macro"): lambda gold, said: f1_score(gold, said, average="macro"),
    ("balanced_accuracy", "micro"): balanced_accuracy_score,
}


def draw(rng, gold, share):
    return np.where(rng.random(len(gold)) < share, gold, rng.integers(0, K, len(gold)))


@pytest.fixture(scope="module")
def runs():
    rng = np.random.default_rng(3)
    gold = rng.integers(0, K, 240)
    return gold, {
        "old": [draw(rng, gold, 0.5) for _ in range(3)],
        "new": [draw(rng, gold, 0.65) for _ in range(2)],
        "newer": [draw(rng, gold, 0.8) for _ in range(3)],
    }


@pytest.mark.parametrize(("metric", "average"), SCORES)
def test_means_over_labels_of_several_runs(runs, metric, average):
    gold, systems = runs
    score = SCORES[metric, average]
    two = {name: systems[name] for name in ("old", "newer")}
    models, procedures = pv.compare(gold, two, metric=metric, average=average).comparisons
    together = [score(np.tile(gold, len(own)), np.concatenate(own)) for own in two.values()]
    assert [models.score_a, models.score_b] == pytest.approx(together)
    means = [np.mean([score(gold, run) for run in own]) for own in two.values()]
    assert [procedures.score_a, procedures.score_b] == pytest.approx(means)
    assert procedures.low <= models.low - models.difference + procedures.difference
    assert models.pvalue < 0.01
    assert 0 < models.low < models.difference < models.high


@pytest.mark.parametrize(("metric", "average"), SCORES)
def test_copies_of_one_run_say_what_one_says(runs, metric, average):
    gold, systems = runs
    a, b = systems["old"][0], systems["new"][0]
    how = {"metric": metric, "average": average, "rng": 1}
    (once,) = pv.compare(gold, a, b, **how).comparisons
    models, _ = pv.compare(gold, {"a": [a] * 3, "b": [b] * 2}, **how).comparisons
    assert models.difference == pytest.approx(once.difference)
    assert models.pvalue == pytest.approx(once.pvalue, abs=0.02)
    assert models.high - models.low == pytest.approx(once.high - once.low, rel=0.06)
    assert models.p_b_better == pytest.approx(once.p_b_better, abs=0.01)


def test_independent_runs_narrow_the_interval_of_the_models():
    rng = np.random.default_rng(8)
    gold = rng.integers(0, K, 300)
    lengths = []
    for number in (1, 2, 8):
        two = [[draw(rng, gold, share) for _ in range(number)] for share in (0.5, 0.6)]
        c = pv.compare(gold, {"a": two[0], "b": two[1]}, average="macro").comparisons[0]
        lengths.append(c.high - c.low)
    assert lengths[1] == pytest.approx(lengths[0] / np.sqrt(2), rel=0.2)
    assert lengths[2] == pytest.approx(lengths[0] / np.sqrt(8), rel=0.25)


@pytest.mark.parametrize(("metric", "average"), SCORES)
def test_ranks_of_several_runs(runs, metric, average):
    gold, systems = runs
    score = SCORES[metric, average]
    how = {"metric": metric, "average": average}
    board = pv.rank(gold, systems, **how)
    expected = {n: score(np.tile(gold, len(o)), np.concatenate(o)) for n, o in systems.items()}
    assert {one.name: one.estimate for one in board.ranking} == pytest.approx(expected)
    assert [one.name for one in board.ranking] == ["newer", "new", "old"]
    assert sum(one.p_best for one in board.ranking) == pytest.approx(1)
    pair = board.pair("old", "newer")
    models = pv.compare(gold, {n: systems[n] for n in ("old", "newer")}, **how).comparisons[0]
    assert pair.difference == pytest.approx(models.difference)
    assert pair.pvalue == pytest.approx(models.pvalue, abs=0.002)
    two = pv.rank(gold, {n: systems[n] for n in ("old", "newer")}, **how).pair("old", "newer")
    assert (two.low, two.high) == pytest.approx((models.low, models.high))


@pytest.mark.parametrize("average", ["micro", "macro"])
def test_a_group_of_several_runs_is_the_comparison_of_its_rows(runs, average):
    gold, systems = runs
    lang = np.where(np.arange(len(gold)) % 3 == 0, "de", "en")
    rows = [
        pd.DataFrame({"y": gold, "old": a, "new": b, "seed": seed, "lang": lang})
        for seed, (a, b) in enumerate(zip(systems["old"], systems["newer"], strict=True))
    ]
    table = pd.concat(rows).astype({"y": str, "old": str, "new": str})
    how = {"gold_column": "y", "columns": ("old", "new"), "run_column": "seed", "average": average}
    result = pv.compare(table, group="lang", **how)
    assert len(result.group_summaries) == len(result.comparisons) == 2
    for group in result.groups:
        alone = pv.compare(table[table.lang == group.group], **how)
        for own, expected in zip(group.comparisons, alone.comparisons, strict=True):
            assert own.question == expected.question
            for name in ("difference", "low", "high", "p_b_better"):
                assert getattr(own, name) == pytest.approx(getattr(expected, name)), name
            assert own.standard_error > 0
    assert result.to_dict()["groups"][0]["comparisons"][1]["question"] == "procedures"
    scored = pv.score(table, group="lang", **{k: v for k, v in how.items() if k != "average"})
    first = next(own for own in scored.groups if own.group == "de").systems[0]
    here = np.tile(gold[lang == "de"], 3)
    said = np.concatenate([own[lang == "de"] for own in systems["old"]])
    assert first["accuracy"].estimate == pytest.approx(np.mean(here == said))


def test_groups_that_differ_between_runs_are_refused():
    table = pd.DataFrame(
        {"y": list("abab"), "old": list("aabb"), "new": list("abab"), "seed": [1, 1, 2, 2]}
    ).assign(lang=["de", "en", "en", "de"])
    how = {"gold_column": "y", "columns": ("old", "new"), "run_column": "seed", "group": "lang"}
    with pytest.raises(InputError, match="expected the same items in every run"):
        pv.compare(table, **how)


@pytest.mark.parametrize("metric", ["accuracy", "kappa", "balanced_accuracy"])
def test_a_second_annotation_beside_several_runs(runs, metric):
    gold, systems = runs
    second = systems["newer"][0]
    once = pv.compare(gold, systems["old"][0], systems["new"][0], metric=metric, second_gold=second)
    copies = {"old": [systems["old"][0]] * 2, "new": [systems["new"][0]] * 2}
    twice = pv.compare(gold, copies, metric=metric, second_gold=second)
    for one, other in zip(once.ceilings, twice.ceilings, strict=True):
        assert (other.score, other.second_score) == pytest.approx((one.score, one.second_score))
        assert other.pvalue == pytest.approx(one.pvalue, abs=0.02)
        assert other.high - other.low == pytest.approx(one.high - one.low, rel=0.06)
    assert [one.system for one in twice.ceilings] == ["old", "new"]


def test_overlaps_of_several_runs_add_up():
    gold = [["B-PER", "I-PER", "O"], ["O", "B-LOC", "O"]] * 6
    one = [["B-PER", "O", "O"], ["O", "B-LOC", "O"]] * 6
    other = [["B-PER", "I-PER", "O"], ["O", "B-PER", "O"]] * 3 + gold[:6]
    scored = pv.score(gold, {"a": [one, other], "b": [gold, one]}, overlap=True)
    alone = [pv.score(gold, run, overlap=True)[0].overlap for run in (one, other)]
    for rule, found in scored["a"].overlap.items():
        for name in ("correct", "incorrect", "partial", "missed", "spurious"):
            assert found[name] == sum(own[rule][name] for own in alone), (rule, name)


def log_of(folder, name, targets, said):
    """Write a log of samples as lm-eval does."""
    path = folder / f"samples_{name}.jsonl"
    lines = [
        {
            "doc_id": i,
            "target": t,
            "filtered_resps": [s],
            "filter": "none",
            "acc": float(t == s),
            "doc": {"q": i},
            "arguments": [[f"question {i}"]],
        }
        for i, (t, s) in enumerate(zip(targets, said, strict=True))
    ]
    path.write_text("\n".join(map(json.dumps, lines)) + "\n")
    return path


def test_means_over_the_targets_of_logs(tmp_path):
    rng = np.random.default_rng(5)
    gold = rng.integers(0, K, 120)
    a, b = draw(rng, gold, 0.5), draw(rng, gold, 0.7)
    names = np.array(["yes", "no", "maybe", "never"])
    logs = [log_of(tmp_path, name, names[gold], names[own]) for name, own in (("a", a), ("b", b))]
    for metric in ("f1", "recall"):
        (c,) = pv.compare(*logs, average="macro", metric=metric).comparisons
        (expected,) = pv.compare(
            names[gold], names[a], names[b], average="macro", metric=metric
        ).comparisons
        for name in ("metric", "score_a", "score_b", "low", "high", "pvalue"):
            assert getattr(c, name) == getattr(expected, name), name
    board = pv.rank(*logs, average="macro")
    assert board.ranking[0].estimate == pytest.approx(f1_score(gold, b, average="macro"))
    texts = [f"answer {i}" for i in range(120)]
    open_ended = [log_of(tmp_path, f"open{k}", texts, texts[:60] + ["?"] * 60) for k in (1, 2)]
    with pytest.raises(InputError, match="needs targets that are classes, but 120 of 120 differ"):
        pv.compare(*open_ended, average="macro")


def test_the_power_of_a_plan_for_means_over_labels():
    rng = np.random.default_rng(7)
    gold = rng.choice(K, 3000, p=[0.5, 0.3, 0.15, 0.05])
    pilot = draw(rng, gold, 0.55), draw(rng, gold, 0.7)
    planned = pv.plan(gold, *pilot, average="macro", units=150)
    assert 0.3 < planned.power < 0.95
    times, rejected = 120, 0
    for _ in range(times):
        rows = rng.integers(0, 3000, 150)
        a, b = (own[rows] for own in pilot)
        c = pv.compare(gold[rows], a, b, average="macro", examples=False, rng=1).comparisons[0]
        rejected += c.pvalue <= 0.05
    error = np.sqrt(planned.power * (1 - planned.power) / times)
    assert rejected / times == pytest.approx(planned.power, abs=0.05 + 2.5 * error)
    needed = pv.plan(gold, *pilot, average="macro", difference=abs(planned.difference))
    again = pv.plan(
        gold, *pilot, average="macro", difference=abs(planned.difference), units=needed.units
    )
    assert again.power == pytest.approx(0.8, abs=0.01)
