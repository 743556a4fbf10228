"""Samples of documents whose records are checked by hand, and estimates from them."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import probative as pv
from probative.errors import InputError

N = 60


def record(i, wrong=()):
    own = {
        "id": f"d{i}",
        "total": i,
        "vendor": {"name": f"v{i % 7}"},
        "items": [{"n": f"p{k}", "q": k + i} for k in range(1 + i % 4)],
    }
    for key in wrong:
        own[key] = -1 - i
    return own


GOLD = [record(i) for i in range(N)]
OLD = [record(i, ["total"] if i % 3 == 0 else []) for i in range(N)]
NEW = [record(i, ["total"] if i % 10 == 0 else []) for i in range(N)]


@pytest.fixture
def files(tmp_path):
    def write(name, rows):
        place = tmp_path / name
        place.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
        return place

    return write


def lines(path):
    return [json.loads(line) for line in Path(path).read_text().splitlines()]


def annotate(path, key="id"):
    """Fill in a sample, in another order."""
    rows = lines(path)
    for row in rows:
        own = dict(GOLD[int(row[key][1:])])
        row["gold"] = own if key == "id" else {n: v for n, v in own.items() if n != "id"}
    Path(path).write_text("".join(f"{json.dumps(row)}\n" for row in rows[::-1]))


def test_a_sample_shows_no_output_and_comes_back_as_records(files, tmp_path, run):
    old, new = files("old.jsonl", OLD), files("new.jsonl", NEW[::-1])
    sample = tmp_path / "s.jsonl"
    done = run("sample", old, old, new, "--size", "30", "-o", sample, "--format", "json")
    assert done.status == 0, done.err
    assert json.loads(done.out)["task"] == "records"
    assert all(row.keys() == {"id", "gold"} and row["gold"] is None for row in lines(sample))
    refused = run("estimate", tmp_path / "s.design.json", sample)
    assert refused.status == 2
    assert "30 rows without a label" in refused.err
    annotate(sample)
    found = run("estimate", tmp_path / "s.design.json", sample, "--format", "json")
    assert found.status == 0, found.err
    (gap,) = json.loads(found.out)["comparisons"]
    whole = pv.compare(GOLD, OLD, NEW).comparisons[0]
    assert gap["low"] <= whole.difference <= gap["high"]
    looked = run("watch", tmp_path / "s.design.json", sample, "--format", "json")
    assert looked.status == 0, looked.err


def test_a_sample_of_all_documents_gives_the_scores_themselves():
    rules = {"field": ["items[].q=weight=3"]}
    drawn = pv.sample(None, {"old": OLD, "new": NEW}, size=N, **rules)
    found = pv.estimate(drawn.design, [GOLD[i] for i in drawn.units], systems=[OLD, NEW])
    whole = pv.compare(GOLD, {"old": OLD, "new": NEW}, **rules)
    assert (drawn.task, drawn.unit, found.unit) == ("records", "document", "document")
    for name in ("old", "new"):
        for metric in ("precision", "recall", "f1"):
            assert found[name, metric].estimate == pytest.approx(whole[name][metric].estimate)
    assert found.comparisons[0].difference == pytest.approx(whole.comparisons[0].difference)


def test_documents_in_dispute_are_drawn_more_often():
    old = [record(i, ["total"] if i % 10 == 0 else []) for i in range(600)]
    new = [record(i) for i in range(600)]
    drawn = pv.sample(None, {"old": old, "new": new}, size=60)
    rate = {stratum.name: stratum.drawn / stratum.size for stratum in drawn.strata}
    assert rate["2 items in dispute"] > 2 * rate["agreed items only"]
    units = np.sort(drawn.units)
    gold = [record(i) for i in units.tolist()]
    found = pv.estimate(drawn.design, gold, systems=[old, new])
    assert found["new", "f1"].estimate == 1
    (gap,) = found.comparisons
    assert gap.low < 60 / sum(len(row["items"]) * 2 + 2 for row in new) < gap.high


def test_one_system_folders_and_texts(files, tmp_path, run):
    for name, rows in (("old", OLD), ("done", GOLD)):
        (tmp_path / name).mkdir()
        for row in rows:
            own = {key: value for key, value in row.items() if key != "id"}
            (tmp_path / name / f"{row['id']}.json").write_text(json.dumps(own))
    texts = files("texts.jsonl", [{"id": f"d{i}", "text": f"paper {i}"} for i in range(N)])
    sample = tmp_path / "s.jsonl"
    done = run("sample", texts, tmp_path / "old", "--size", "20", "-o", sample)
    assert done.status == 0, done.err
    rows = lines(sample)
    assert rows[0] == {"id": rows[0]["id"], "text": f"paper {rows[0]['id'][1:]}", "gold": None}
    drawn = {row["id"] for row in rows}
    for file in (tmp_path / "done").iterdir():
        if file.stem not in drawn:
            file.unlink()
    found = run("estimate", tmp_path / "s.design.json", tmp_path / "done", "--format", "json")
    assert found.status == 0, found.err
    score = pv.score(GOLD, OLD)[0]["f1"].estimate
    f1 = next(s for s in json.loads(found.out)["scores"] if s["metric"] == "f1")
    assert f1["low"] <= score <= f1["high"]


def test_keys_and_rules_are_kept_in_the_design(files, tmp_path, run):
    def keyed(rows):
        return [{"doc" if k == "id" else k: v for k, v in row.items()} for row in rows]

    old, new = files("old.jsonl", keyed(OLD)), files("new.jsonl", keyed(NEW[::-1]))
    rules = tmp_path / "rules.toml"
    rules.write_text('[fields]\ntotal = "ignore"\n')
    sample = tmp_path / "s.jsonl"
    words = ("--size", "20", "--key", "doc", "--fields-file", rules, "-o", sample)
    done = run("sample", old, old, new, *words)
    assert done.status == 0, done.err
    rules.unlink()
    annotate(sample, "doc")
    found = run("estimate", tmp_path / "s.design.json", sample, "--format", "json")
    assert found.status == 0, found.err
    content = json.loads(found.out)
    assert content["comparisons"][0]["difference"] == 0  # they differ in the total alone
    assert {score["estimate"] for score in content["scores"]} == {1}


def test_outputs_of_other_documents_count_as_missing(files, tmp_path):
    short = files("short.jsonl", NEW[:-5])
    texts = files("texts.jsonl", [{"id": f"d{i}", "text": "t"} for i in range(N)])
    old = files("old.jsonl", OLD)
    drawn = pv.sample(texts, old, short, size=N, to=tmp_path / "s.jsonl")
    assert drawn.pool == N
    annotate(tmp_path / "s.jsonl")
    found = pv.estimate(tmp_path / "s.design.json", tmp_path / "s.jsonl")
    whole = pv.compare(GOLD, OLD, NEW[:-5])
    assert found["short", "recall"].estimate == pytest.approx(whole[1]["recall"].estimate)
    with pytest.raises(InputError, match=r"60 documents, but the outputs have 55 \(look at 'd55'"):
        pv.sample(texts, short, size=9, to=tmp_path / "t.jsonl")


@pytest.mark.parametrize(
    ("choice", "message"),
    [
        ({"only_gold_paths": True}, "only_gold_paths: gold is not known yet"),
        ({"by": "item"}, "'item' is no unit of these outputs; expected 'document'"),
        ({"field": ["totl=ignore"]}, "no record has the path 'totl'.*did you mean 'total'"),
    ],
)
def test_choices_that_a_pool_of_records_refuses(choice, message):
    with pytest.raises(InputError, match=message):
        pv.sample(None, OLD, NEW, size=9, **choice)


def test_broken_outputs_without_a_key_are_refused(files):
    broken = files("old.jsonl", [*OLD[:5], "not JSON at all"])
    with pytest.raises(InputError, match="1 outputs are not JSON and do not show their document"):
        pv.sample(None, broken, size=3, task="records")


def test_a_pilot_and_a_judge_of_records():
    pilot = ([0, 1, 2, 3, 9], [GOLD[i] for i in (0, 1, 2, 3, 9)])
    drawn = pv.sample(None, {"old": OLD, "new": NEW}, size=30, pilot=pilot, judge=GOLD)
    found = pv.estimate(
        drawn.design, [GOLD[i] for i in drawn.units], systems=[OLD, NEW], judge=GOLD
    )
    whole = pv.compare(GOLD, OLD, NEW)
    f1 = found["new", "f1"]
    assert f1.low <= whole[1]["f1"].estimate <= f1.high
