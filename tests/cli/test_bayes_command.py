from __future__ import annotations

import json

import pytest

import probative as pv
from probative_studies.bayes import published_folds

A = "tp,fp,fn\n2088,154,1058\n2109,189,1066\n"
B = "tp\tfp\tfn\n2075\t151\t1071\n2114\t175\t1061\n"


@pytest.fixture
def files(tmp_path):
    (tmp_path / "old.csv").write_text(A)
    (tmp_path / "new.tsv").write_text(B)
    return tmp_path / "old.csv", tmp_path / "new.tsv"


def answer_of(outcome):
    assert outcome.status == 0, outcome.err
    return json.loads(outcome.out)


def test_two_files(run, files):
    found = answer_of(run("bayes", *files, "--format", "json", "--rope", "0.005"))
    assert found["command"] == "bayes"
    assert (found["a"], found["b"]) == ("old", "new")
    assert [test["metric"] for test in found["tests"]] == ["precision", "recall", "f1"]
    folds = (
        [pv.Counts(2088, 154, 1058), pv.Counts(2109, 189, 1066)],
        [pv.Counts(2075, 151, 1071), pv.Counts(2114, 175, 1061)],
    )
    for test in found["tests"]:
        expected = pv.bayes_test(*folds, test["metric"], rope=0.005)
        assert test == expected.to_dict()
        assert {
            "p_h0",
            "p_h1",
            "decision",
            "interval_a",
            "interval_b",
            "difference",
            "low",
            "high",
            "p_a_better",
            "p_equivalent",
            "p_b_better",
            "posterior",
            "weight",
        } <= set(test)
    assert "rope:0.005" in found["signature"]


def test_one_file_with_a_model_column(run, tmp_path, files):
    rows = ["model,tp,fp,fn"]
    for name, text in (("old", A), ("new", B.replace("\t", ","))):
        rows += [f"{name},{line}" for line in text.splitlines()[1:]]
    (tmp_path / "both.csv").write_text("\n".join(rows))
    both = answer_of(run("bayes", tmp_path / "both.csv", "-f", "json"))
    assert both["tests"] == answer_of(run("bayes", *files, "-f", "json"))["tests"]


def test_json_as_crossval_prints_it(run, tmp_path):
    a, b = published_folds("org")
    folds = [
        {"fold": i, "model": name, "counts": counts.to_dict()}
        for name, tables in (("IOB2", a), ("IOBES", b))
        for i, counts in enumerate(tables, 1)
    ]
    (tmp_path / "folds.json").write_text(json.dumps({"command": "crossval", "folds": folds}))
    found = answer_of(run("bayes", tmp_path / "folds.json", "-f", "json", "--metric", "recall"))
    (test,) = found["tests"]
    assert (test["decision"], found["b"]) == ("H0", "IOBES")
    assert test["p_h0"] == pytest.approx(0.705, abs=0.0015)
    assert test["weight"] == pytest.approx(0.36880211)


@pytest.mark.parametrize(
    ("weight", "expected"), [("averaged", 0.5), ("0.3", 0.3), ("0.25,0.5", 0.8), ("1,1", 0.5)]
)
def test_weights(run, files, weight, expected):
    found = answer_of(run("bayes", *files, "-f", "json", "--weight", weight, "--metric", "f1"))
    assert found["tests"][0]["weight"] == pytest.approx(expected)


def test_single_tables_are_taken_as_they_are(run, tmp_path):
    (tmp_path / "a.csv").write_text("tp,fp,fn,tn\n77,44,10,702\n")
    (tmp_path / "b.csv").write_text("tp,fp,fn,tn\n80,40,9,704\n")
    files = tmp_path / "a.csv", tmp_path / "b.csv"
    figure = tmp_path / "x.svg"
    outcome = run("bayes", *files, "-f", "json", "--metric", "accuracy,fbeta", "--beta", "2")
    first, second = answer_of(outcome)["tests"]
    assert first["weight"] == 1
    b = pv.Counts(80, 40, 9, 704)
    assert second["p_h0"] == pv.bayes_test(pv.Counts(77, 44, 10, 702), b, "fbeta", beta=2).p_h0
    assert run("bayes", *files, "--figure", figure, "-q").status == 0
    assert figure.read_text().startswith("<?xml")


def test_every_form(run, files, tmp_path):
    text = run("bayes", *files, "--rope", "0.005").out
    assert "P(equal)" in text
    assert "not established: P(new better by more than 0.5 points) = 0.393" in text
    assert "| metric |" in run("bayes", *files, "-f", "markdown").out
    assert r"\toprule" in run("bayes", *files, "-f", "latex").out
    csv = run("bayes", *files, "-f", "csv").out.splitlines()
    assert csv[0].startswith("a,b,metric,p_h0,p_h1,decision,interval_a_low,interval_a_high")
    assert len(csv) == 4
    page = tmp_path / "page.html"
    outcome = run("bayes", *files, "--html", page)
    assert outcome.err == f"wrote {page}\n"
    assert page.read_text().count("<svg") == 6  # two of each score


@pytest.mark.parametrize("plot", ["densities", "difference"])
def test_figures_are_the_same_bytes_every_time(run, files, tmp_path, plot):
    paths = [tmp_path / f"{i}.svg" for i in range(2)]
    for path in paths:
        assert run("bayes", *files, "--plot", plot, "--figure", path).status == 0
    assert paths[0].read_bytes() == paths[1].read_bytes()


def test_draws(run, files):
    outcome = run("bayes", *files, "-f", "json", "--sampled", "50000", "--seed", "3")
    found = answer_of(outcome)
    exact = answer_of(run("bayes", *files, "-f", "json"))
    for drawn, computed in zip(found["tests"], exact["tests"], strict=True):
        assert drawn["method"] == "sampled"
        assert abs(drawn["p_h0"] - computed["p_h0"]) < 5 * drawn["error"]
    assert "sampled:50000|seed:3" in found["signature"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("tp,fp\n1,2\n", "folds.csv:1: no column 'fn'"),
        ("tp,fp,fn\n1,2,x\n", "folds.csv:2: fn is 'x'; expected a number"),
        ("tp,fp,fn\n1,2,-3\n", "folds.csv:2: fn is '-3'; expected a number >= 0"),
        ("", "folds.csv: is empty; expected a header with tp, fp, fn"),
        ("tp,fp,fn\n1,2,3\n4,5,6\n7,8,9\n", "new: 2 folds; expected 3, as folds has"),
        ("model,tp,fp,fn\n,2,3,4\n", "folds.csv:2: model is empty"),
        ("model,tp,fp,fn\nx,2,3,4\ny,1,1,1\n", "folds.csv: 2 models (x, y); expected one"),
    ],
)
def test_broken_files(refused, files, tmp_path, content, message):
    (tmp_path / "folds.csv").write_text(content)
    assert message in refused("bayes", tmp_path / "folds.csv", files[1])


def test_broken_usage(refused, files, tmp_path):
    assert "0 files; expected two" in refused("bayes")
    assert "1 models (old); expected two" in refused("bayes", files[0])
    assert "there is no such file" in refused("bayes", tmp_path / "none.csv", files[1])
    assert "weight: unknown 'efective'" in refused("bayes", *files, "--weight", "efective")
    assert "metric: accuracy needs tn" in refused("bayes", *files, "--metric", "accuracy")
    assert "--plot: unknown 'density'" in refused(
        "bayes", *files, "--figure", tmp_path / "x.svg", "--plot", "density"
    )
    assert "level: 2.0 is not between" in refused("bayes", *files, "--level", "2")
    assert "rope: -1.0 is not" in refused("bayes", *files, "--rope", "-1")
    assert "--preds-a: missing" in refused("bayes", "--folds", tmp_path)
    assert "cannot be combined" in refused("bayes", files[0], "--folds", tmp_path)
    odd = tmp_path / "odd.csv"
    odd.write_text(A + "1,2,3\n")
    assert "3 of them; expected an even number" in refused("bayes", odd, odd)
    figure = tmp_path / "x.gif"
    assert "cannot be written as 'gif'" in refused("bayes", *files, "--figure", figure)
    assert not figure.exists()


def test_the_study(run, tmp_path):
    figure = tmp_path / "figure2.png"
    outcome = run("study", "bayes", "--replicates", "0", "--task", "ner", "--figure", figure)
    assert outcome.status == 0, outcome.err
    assert figure.stat().st_size > 10_000
    assert "Table 5: Organisations only, IOB2 against IOBES" in outcome.out
    found = json.loads(run("study", "bayes", "--replicates", "40", "--n", "40", "-f", "json").out)
    assert [task["task"] for task in found["tasks"]] == ["cws", "ner", "org"]
    assert all(len(task["tests"]) == 3 for task in found["tasks"])
    assert len(found["simulation"]) == 4
    assert "seed:0" in found["signature"]


def test_the_study_of_pairing(run):
    found = run("study", "pairing", "--n", "300", "--metric", "recall", "--replicates", "50")
    assert found.status == 0, found.err
    assert "independent" in found.out
