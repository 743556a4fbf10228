"""Records as a task: layouts, commands, options, gates, and traps from file to result."""

from __future__ import annotations

import csv
import json
from dataclasses import dataclass
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import numpy as np
import pytest

import probative as pv
from probative.errors import InputError

GOLD = [
    {"id": "a", "total": 1, "vendor": {"name": "x"}, "items": [{"n": "p", "q": 1}]},
    {"id": "b", "total": 2, "vendor": {"name": "y"}, "items": [{"n": "r", "q": 2}]},
    {"id": "c", "total": 3, "vendor": {"name": "z"}, "items": []},
]
SAID = [
    {"id": "a", "total": 1, "vendor": {"name": "X"}, "items": [{"n": "p", "q": 1}]},
    {"id": "b", "total": 7, "vendor": {"name": "y"}, "items": [{"n": "r", "q": 3}], "c": 5},
    {"id": "c", "total": 3, "items": []},
]
COUNTS = (6, 4, 4)  # wrong: name of a, total and q of b, c of b (invented), name of c (missing)


@pytest.fixture
def write(tmp_path):
    def to(name, rows):
        place = tmp_path / name
        text = rows if isinstance(rows, str) else "".join(f"{json.dumps(row)}\n" for row in rows)
        place.write_text(text, encoding="utf-8")
        return str(place)

    return to


@pytest.fixture(scope="session")
def receipts(tmp_path_factory):
    place = Path(__file__).parents[1] / "examples" / "receipts.py"
    spec = spec_from_file_location("receipts", place)
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    folder = tmp_path_factory.mktemp("receipts")
    module.write(folder)
    return [str(folder / f"{name}.jsonl") for name in ("gold", "baseline", "challenger")]


def counts(result):
    own = result[0].counts
    return int(own.tp), int(own.fp), int(own.fn)


# --- Layouts


def test_json_lines_are_joined_by_id_in_any_order(write):
    gold = write("gold.jsonl", GOLD)
    result = pv.score(gold, write("a.jsonl", SAID[::-1]))
    assert result.task == "records"
    assert (result.unit, result.by, result.units) == ("document", "document", 3)
    assert counts(result) == COUNTS
    assert "because 'vendor' holds objects" in result.notes[0]
    assert "|records|" in result.signature


def test_raw_texts_in_a_column_are_outputs(write):
    said = [{"id": row["id"], "output": f"```json\n{json.dumps(row)}\n```"} for row in SAID]
    result = pv.score(write("gold.jsonl", GOLD), write("a.jsonl", said))
    assert counts(result) == COUNTS
    assert result[0].outcomes.repaired == 3


@pytest.mark.parametrize("form", ["jsonl", "csv", "parquet"])
def test_gold_and_systems_stand_in_columns(write, tmp_path, form):
    rows = [
        {"id": g["id"], "expected": json.dumps(g), "output_a": json.dumps(s), "output_b": "{}"}
        for g, s in zip(GOLD, SAID, strict=True)
    ]
    if form == "jsonl":
        path = write("all.jsonl", rows)
    else:
        path = str(tmp_path / "all.csv")
        with Path(path).open("w", newline="") as file:
            table = csv.DictWriter(file, list(rows[0]))
            table.writeheader()
            table.writerows(rows)
    if form == "parquet":
        duckdb = pytest.importorskip("duckdb")
        duckdb.read_csv(path, quotechar='"', escapechar='"').write_parquet(f"{path}.parquet")
        path = f"{path}.parquet"
    result = pv.compare(path)
    assert result.task == "records"
    assert [system.name for system in result.systems] == ["output_a", "output_b"]
    assert counts(result) == COUNTS
    named = pv.score(path, gold_column="expected", columns=["output_b"])
    assert counts(named) == (0, 0, 10)
    assert counts(pv.score(path, gold_column="expected", columns=["output_a"], key="id")) == COUNTS


def test_folders_lists_and_objects_of_objects_are_read(write, tmp_path):
    for name, rows in (("gold", GOLD), ("a", SAID)):
        (tmp_path / name).mkdir()
        for row in rows:
            own = {key: value for key, value in row.items() if key != "id"}
            (tmp_path / name / f"{row['id']}.json").write_text(json.dumps(own))
    assert counts(pv.score(tmp_path / "gold", tmp_path / "a")) == COUNTS
    listed = [write(f"{name}.json", json.dumps(rows, indent=1)) for name, rows in
              (("gold", GOLD), ("said", SAID))]  # fmt: skip
    assert counts(pv.score(*listed)) == COUNTS
    keyed = [
        write(f"{name}-keyed.json", json.dumps({row.pop("id"): row for row in map(dict, rows)}))
        for name, rows in (("gold", GOLD), ("said", SAID))
    ]
    assert counts(pv.score(*keyed)) == COUNTS


def test_systems_of_a_folder_of_folders(run, tmp_path):
    for name, rows in (("gold", GOLD), ("systems/a", SAID), ("systems/b", GOLD)):
        (tmp_path / name).mkdir(parents=True)
        for row in rows:
            own = {key: value for key, value in row.items() if key != "id"}
            (tmp_path / name / f"{row['id']}.json").write_text(json.dumps(own))
    outcome = run("rank", tmp_path / "gold", tmp_path / "systems", "--format", "json")
    assert outcome.status == 0, outcome.err
    assert [row["name"] for row in json.loads(outcome.out)["ranking"]] == ["b", "a"]


def test_columns_of_single_fields_are_named_by_a_pattern(write):
    table = write(
        "all.csv",
        "id,total,total_pred,total_b,date,date_pred,date_b\n1,5,5,5,d,d,\n2,6,7,6,e,e,e\n",
    )
    result = pv.compare(table, columns=["*_pred", "*_b"])
    assert [system.name for system in result.systems] == ["pred", "b"]
    assert counts(result) == (3, 1, 1)
    assert [entry.label for entry in result[0].by_label] == ["date", "total"]
    with pytest.raises(InputError, match=r"no columns are called \* and \*_x; expected some of"):
        pv.score(table, columns=["*_x"])


def test_logs_hold_gold_and_outputs(tmp_path):
    def log(name, said, epochs=1):
        rows = [
            {
                "id": g["id"],
                "epoch": epoch,
                "input": g["id"],
                "target": json.dumps(g),
                "output": {"completion": json.dumps(s)},
                "scores": {"match": {"value": "C"}},
            }
            for epoch in range(1, epochs + 1)
            for g, s in zip(GOLD, said, strict=True)
        ]
        place = tmp_path / f"{name}.json"
        header = {"version": 2, "status": "success", "eval": {"model": name}}
        place.write_text(json.dumps({**header, "samples": rows}))
        return place

    result = pv.compare(log("a", SAID), log("b", GOLD), task="records")
    assert [system.name for system in result.systems] == ["a", "b"]
    assert counts(result) == COUNTS
    repeated = pv.score(log("c", SAID, epochs=2), task="records")
    assert len(repeated.run_scores[0]) == 2
    rows = json.loads(log("d", SAID).read_text())
    rows["samples"][0]["target"] = json.dumps(GOLD[1])
    (tmp_path / "d.json").write_text(json.dumps(rows))
    with pytest.raises(InputError, match="has other targets than"):
        pv.compare(tmp_path / "a.json", tmp_path / "d.json", task="records")


def test_logs_of_promptfoo_and_deepeval(tmp_path):
    pairs = list(enumerate(zip(GOLD, SAID, strict=True)))
    results = [
        {
            "testIdx": i,
            "success": True,
            "provider": {"id": "model"},
            "vars": {"expected": g, "n": i},
            "response": {"output": s},
        }
        for i, (g, s) in pairs
    ]
    (tmp_path / "p.json").write_text(
        json.dumps({"evalId": "e", "results": {"version": 3, "results": results}})
    )
    cases = [
        {
            "name": f"t{i}",
            "success": True,
            "metricsData": [],
            "input": "q",
            "expectedOutput": json.dumps(g),
            "actualOutput": json.dumps(s),
        }
        for i, (g, s) in pairs
    ]
    (tmp_path / "d.json").write_text(json.dumps({"testCases": cases}))
    # here the id beside the record is another one, so that it is a field of both
    for name in ("p.json", "d.json"):
        tp, fp, fn = counts(pv.score(tmp_path / name, task="records"))
        assert (tp - len(GOLD), fp, fn) == COUNTS


@dataclass
class Vendor:
    name: str


@dataclass
class Invoice:
    total: float
    vendor: Vendor


def write_verdicts(folder, documents):
    """Write verdicts as omni-extract-bench does: the address of a value, and both values."""
    folder.mkdir(parents=True)
    for name, values in documents.items():
        lines = [
            {
                "address": [["i" if isinstance(s, int) or s[0] == "+" else "k", s] for s in place],
                "gold_raw": gold,
                "pred_raw": said,
                "gold_canon": gold,
                "pred_canon": said,
                "verdict": "matched" if gold == said else "misread",
            }
            for place, gold, said in values
        ]
        (folder / f"{name}.jsonl").write_text("\n".join(map(json.dumps, lines)))


def test_verdicts_of_omni_hold_gold_and_output(tmp_path, run):
    first = [
        (["a"], 1, 1.0),
        (["b"], "x", "y"),
        (["c"], None, 5),
        (["items", 0, "n"], "p", "p"),
        (["items", 0, "q"], 1, 3),
        (["items", 1, "n"], "r", "r"),
        (["items", 1, "q"], 2, 2),
        (["items", "+2", "n"], None, "w"),
        (["tags", 0], "u", None),
        (["m", 0, 1], 7, 7),
    ]
    second = [(["a"], 2, 2)]
    write_verdicts(tmp_path / "one" / "verdicts", {"d1": first, "d2": second})
    write_verdicts(tmp_path / "two" / "verdicts", {"d1": first})  # it failed on d2
    result = pv.score(tmp_path / "one" / "verdicts")
    assert result.task == "records"
    assert counts(result) == (6, 4, 3)
    assert "verdicts of omni-extract-bench, because" in result.notes[0]
    places = [tmp_path / name / "verdicts" for name in ("two", "one")]
    found = run("compare", *places, "--format", "json")
    assert found.status == 0, found.err
    systems = json.loads(found.out)["systems"]
    assert [system["name"] for system in systems] == ["two", "one"]
    assert [system["outcomes"]["missing"] for system in systems] == [1, 0]
    assert systems[0]["counts"] == {"tp": 5, "fp": 4, "fn": 4}


def test_verdicts_are_checked(tmp_path):
    write_verdicts(tmp_path / "v", {"d1": [(["a"], 1, 1)]})
    (tmp_path / "v" / "d2.jsonl").write_text('{"address": []}')
    with pytest.raises(InputError, match=r"d2.jsonl:1: is no verdict; expected 'address'"):
        pv.score(tmp_path / "v")


def test_omni_writes_such_verdicts(tmp_path):
    omni = pytest.importorskip("omni_extract_bench")
    gold = {"a": 1, "b": "x", "items": [{"n": "p", "q": 1}, {"n": "r", "q": 2}], "m": [[1, 2]]}
    said = {"a": 1, "b": "y", "items": [{"n": "r", "q": 2}, {"n": "p", "q": 3}], "c": 5, "m": [[2]]}
    found = omni.score(said, gold, {"type": "object", "properties": {}}, verdicts=True)
    (tmp_path / "v").mkdir()
    lines = [v if isinstance(v, dict) else v._asdict() for v in found["verdicts"]]
    (tmp_path / "v" / "d.jsonl").write_text("\n".join(map(json.dumps, lines)))
    assert counts(pv.score(tmp_path / "v")) == counts(pv.score([gold], [said]))


def test_python_data_are_records():
    assert counts(pv.score(GOLD, SAID)) == COUNTS
    by_key = [{row["id"]: row for row in rows} for rows in (GOLD, SAID)]
    assert counts(pv.score(*by_key)) == COUNTS
    gold = [Invoice(1, Vendor("x")), Invoice(2, Vendor("y"))]
    assert counts(pv.score(gold, [{"total": 1.0, "vendor": {"name": "x"}}, None])) == (2, 0, 2)
    assert counts(pv.score(gold, ['{"total": 1}', "no idea"])) == (1, 0, 3)
    pydantic = pytest.importorskip("pydantic")
    model = pydantic.create_model("Model", total=(float, ...))
    assert counts(pv.score([model(total=1)], [model(total=2)])) == (0, 1, 1)


def test_systems_by_name_and_runs_in_python():
    result = pv.compare(GOLD, {"old": SAID, "new": GOLD})
    assert [system.name for system in result.systems] == ["old", "new"]
    by_key = [{row["id"]: row for row in rows} for rows in (GOLD, SAID)]
    named = pv.compare(by_key[0], {"old": by_key[1], "new": by_key[0]})
    assert named.comparisons[0].difference == result.comparisons[0].difference
    runs = pv.score(GOLD, [SAID, GOLD])
    assert len(runs.run_scores[0]) == 2
    assert counts(runs) == (6 + 10, 4, 4)
    keyed_runs = pv.score(by_key[0], [by_key[1], by_key[0]])
    assert counts(keyed_runs) == (6 + 10, 4, 4)


def test_runs_of_files_are_compared(receipts):
    gold, a, b = receipts
    result = pv.compare(gold, {"A": [a, b], "B": [b, b]})
    assert {c.question for c in result.comparisons} == {"models", "procedures"}
    assert any("malformed" in note or "not JSON" in note for note in result.notes)


# --- What is printed


def test_the_unit_is_the_document(receipts, run):
    gold, a, b = receipts
    with pytest.raises(InputError, match="fields of one document are not independent"):
        pv.score(gold, a, by="item")
    outcome = run("compare", gold, a, b, "--by", "item")
    assert outcome.status == 2
    assert "--by: fields of one document" in outcome.err
    assert pv.score(gold, a, by="document").by == "document"


def test_outcomes_add_up(receipts):
    gold, a, _ = receipts
    system = pv.score(gold, a)[0]
    found = system.outcomes
    assert found.documents == 120
    assert (found.malformed, found.missing) == (1, 0)
    assert sum(f.right for f in found.fields) == system.counts.tp
    wrong = sum(f.other_value + f.missing + f.lost_type for f in found.fields)
    assert wrong == system.counts.fn
    assert sum(f.in_gold for f in found.fields) == system.counts.positives
    errors = [field.errors for field in found.fields]
    assert errors == sorted(errors, reverse=True)
    strict = system["strict_documents"]
    assert strict.estimate == found.strict / 120
    assert 0 < strict.low < strict.estimate < strict.high < 1


def test_the_mean_of_documents_differs_from_pooled_f1():
    gold = [{"a": [{"x": i, "y": i} for i in range(10)]}, {"b": {"c": 1}}]
    said = [gold[0], {}]
    system = pv.score(gold, said)[0]
    assert system["f1"].estimate == pytest.approx(40 / 41)
    assert system.outcomes.mean_f1 == pytest.approx(0.5)


def test_averages_that_disagree_are_told():
    gold = [{"a": {"l": list(range(20))}}, {"a": {"l": [1]}}, {"a": {"l": [1]}}]
    one = [gold[0], {}, {}]
    other = [{"a": {"l": list(range(8))}}, gold[1], gold[2]]
    result = pv.compare(gold, one, other, names=["one", "other"])
    (mean,) = (gap for gap in result.other_metrics if gap.metric == "f1_of_documents")
    f1 = [1.0, 0.0, 0.0], [16 / 28, 1.0, 1.0]
    assert mean.difference == pytest.approx(np.mean(f1[1]) - np.mean(f1[0]))
    assert mean.low < mean.difference < mean.high
    text = result.to_markdown()
    assert "The two averages disagree: F1 of all fields is higher for one (by" in text
    assert "the mean F1 of documents for other (by" in text
    assert "Neither of these differences is established" in text
    text = pv.score(gold, {"one": one, "other": other}).to_markdown()
    assert "is higher for one, the mean F1 of documents for other." in text


def test_the_mean_of_documents_has_an_interval(receipts):
    result = pv.compare(*receipts)
    own = result[0]["f1_of_documents"]
    assert own.estimate == pytest.approx(result[0].outcomes.mean_f1)
    assert own.low < own.estimate < own.high
    (mean,) = (gap for gap in result.other_metrics if gap.metric == "f1_of_documents")
    assert mean.difference == pytest.approx(result[1]["f1_of_documents"].estimate - own.estimate)
    assert 0 < mean.low < mean.difference < mean.high
    assert "is higher for challenger, too (by 8.5 " in result.to_markdown()
    assert result.to_dict()["other_metrics"][-1]["low"] == mean.low


def test_text_shows_quality_fields_and_near_misses(receipts, run):
    gold, a, b = receipts
    outcome = run("score", gold, a)
    assert outcome.out.startswith("baseline: of 120 outputs, 1 malformed, 0 missing, 5 repaired.")
    assert "Fields by their errors" in outcome.out
    assert "date=date=%d.%m.%Y" in outcome.out
    assert "76 of 196 wrong values differ only in form." in outcome.out
    outcome = run("compare", gold, a, b)
    assert "challenger against baseline, F1 by field" in outcome.out
    assert "p adjusted" in outcome.out


def test_a_rule_accepts_what_near_misses_promise(receipts):
    gold, a, _ = receipts
    plain = pv.score(gold, a)[0]
    for miss in plain.outcomes.near_misses:
        ruled = pv.score(gold, a, field=miss.option)[0]
        assert ruled["f1"].estimate == pytest.approx(miss.f1)
        assert ruled.counts.tp == plain.counts.tp + miss.number


def test_differences_by_field_are_adjusted_by_holm(receipts):
    (c,) = pv.compare(*receipts).comparisons
    pvalues = np.array([entry.pvalue for entry in c.by_label])
    order = np.argsort(pvalues)
    steps = np.maximum.accumulate(pvalues[order] * (len(order) - np.arange(len(order))))
    expected = np.minimum(1, steps)
    assert [c.by_label[k].p_adjusted for k in order] == pytest.approx(expected)
    alone = pv.compare(*receipts, only=["tax"]).comparisons[0]
    tax = next(entry for entry in c.by_label if entry.label == "tax")
    assert tax.pvalue == pytest.approx(alone.p_decision)
    assert (tax.low, tax.high) == pytest.approx((alone.low, alone.high))


def test_macro_is_over_paths(receipts):
    gold, a, b = receipts
    system = pv.score(gold, a)[0]
    own = [entry.scores[-1].estimate for entry in system.by_label]
    assert system["macro_f1"].estimate == pytest.approx(np.mean(own))
    (c,) = pv.compare(gold, a, b, average="macro").comparisons
    assert c.metric == "macro_f1"


# --- Options


def test_rules_come_from_options_or_a_file(write, run):
    gold, said = write("gold.jsonl", GOLD), write("a.jsonl", SAID)
    ruled = pv.score(gold, said, field={"vendor.name": "casefold"})
    assert counts(ruled) == (7, 3, 3)
    assert counts(pv.score(gold, said, field=["vendor.name=casefold", "c=ignore"])) == (7, 2, 3)
    rules = write("rules.toml", '[fields]\n"vendor.*" = "casefold"\nc = "ignore"\n')
    filed = pv.score(gold, said, fields_file=rules)
    assert counts(filed) == (7, 2, 3)
    assert "fields-file:sha256-" in filed.signature
    outcome = run("score", gold, said, "--fields-file", rules, "--format", "json")
    assert json.loads(outcome.out)["systems"][0]["counts"] == {"tp": 7, "fp": 2, "fn": 3}


def test_what_is_no_list_of_rules_is_refused():
    for name in ("field", "list_key"):
        with pytest.raises(InputError, match=f"^{name}: 3; expected a value such as"):
            pv.score(GOLD, SAID, **{name: 3})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("fields = 3", "fields: 3; expected PATH = 'TEXT'"),
        ("[feilds]\na = 'ignore'", "did you mean 'fields'?"),
        ("[fields", "is no TOML"),
        (f"a = {'[' * 20_000}", "is no TOML"),
        ("[fields]\na = 'ignor'", "unknown rule 'ignor'"),
    ],
)
def test_a_wrong_file_of_rules_is_refused(write, text, message):
    with pytest.raises(InputError) as error:
        pv.score(GOLD, SAID, fields_file=write("rules.toml", text))
    assert message in str(error.value)


@pytest.mark.parametrize(
    ("choice", "expected"),
    [
        ({"only_gold_paths": True}, (6, 3, 4)),
        ({"empty": ["z"]}, (6, 4, 3)),
        ({"only": ["total"]}, (2, 1, 1)),
        ({"field": "total=tolerance=5"}, (7, 3, 3)),
        ({"field": "items[].q=weight=3"}, (8, 6, 6)),
    ],
)
def test_options_change_the_counts(choice, expected):
    assert counts(pv.score(GOLD, SAID, **choice)) == expected


def test_options_of_records_mean_nothing_for_labels():
    with pytest.raises(InputError, match="find_json: does not apply to labels"):
        pv.score(["a", "b"], ["a", "b"], find_json=True)
    with pytest.raises(InputError, match="scheme: does not apply to records"):
        pv.score(GOLD, SAID, scheme="iob2")
    with pytest.raises(InputError, match="cannot be combined with keep_empty"):
        pv.score(GOLD, SAID, keep_empty=True, empty=["-"])


def test_prose_is_searched_only_on_request(write):
    gold = write("gold.jsonl", GOLD)
    said = [{"id": r["id"], "output": f"Here it is: {json.dumps(r)} Done."} for r in SAID]
    path = write("a.jsonl", [*said[:2], {"id": "c", "output": json.dumps(SAID[2])}])
    assert pv.score(gold, path)[0].outcomes.malformed == 2
    assert counts(pv.score(gold, path, find_json=True)) == COUNTS
    with pytest.raises(InputError, match=r"a\.jsonl:1: .* is not JSON"):
        pv.score(gold, path, on_malformed="error")


def test_flat_objects_are_records_on_request(write):
    rows = [{"id": i, "total": i, "date": "2026-01-01"} for i in range(4)]
    files = [write(name, rows) for name in ("gold.jsonl", "a.jsonl")]
    assert counts(pv.score(*files, task="records")) == (8, 0, 0)


# --- Other jobs


def test_groups_are_documents_of_one_kind(write):
    rows = [
        {"id": i, "kind": "ab"[i % 2], "gold": g, "output": s}
        for i, (g, s) in enumerate(zip(GOLD * 4, SAID * 4, strict=True))
    ]
    result = pv.score(write("all.jsonl", rows), group="kind")
    assert [(g.group, g.units) for g in result.groups] == [("a", 6), ("b", 6)]
    assert sum(g.systems[0].counts.tp for g in result.groups) == result[0].counts.tp
    with pytest.raises(InputError, match="there is no column 'kin'"):
        pv.score(write("all.jsonl", rows), group="kin")


def test_rank_plan_and_ledger_take_records(receipts, tmp_path):
    gold, a, b = receipts
    assert pv.rank(gold, {"a": a, "b": b}).ranking[0].name == "b"
    plan = pv.plan(gold, a, b, difference=0.02)
    assert plan.units > 0
    found = pv.compare(gold, a, b, fingerprints=True)
    verdicts = pv.gate(found, "require-better", ledger=tmp_path / "ledger.jsonl")
    assert verdicts[0].use is not None
    again = pv.compare(gold, a, b, fingerprints=True)
    assert again.fingerprints.outputs == found.fingerprints.outputs


def test_a_gate_judges_critical_fields_together(receipts, run):
    result = pv.compare(*receipts, fields=["total", "vendor.vat", "tax"])
    assert [group.group for group in result.fields] == ["total", "vendor.vat", "tax"]
    verdicts = pv.gate(result, "require-not-worse", margin=0.02)
    assert [(v.group, v.passed) for v in verdicts] == [
        (None, True),
        ("total", True),
        ("vendor.vat", True),
        ("tax", False),
    ]
    alone = pv.gate(pv.compare(*receipts, fields=["total"]), "require-not-worse", margin=0.02)
    assert verdicts[1].doubt == pytest.approx(2 * alone[1].doubt)  # Holm: tax never passes
    words = ("--require-not-worse", "--fields", "total,tax", "--margin", "2pt")
    outcome = run("compare", *receipts, *words)
    assert outcome.status == 1
    assert "--require-not-worse FAILED: challenger against baseline, F1 in tax" in outcome.err


def test_an_unknown_critical_field_is_refused_with_the_nearest():
    with pytest.raises(InputError, match=r"fields: no record has 'totl'.*did you mean 'total'"):
        pv.compare(GOLD, SAID, GOLD, fields=["totl"])
    with pytest.raises(InputError, match="fields: has no effect here"):
        pv.compare(["a", "b"], ["a", "b"], ["b", "a"], fields=["a"])


def test_a_board_shows_nothing_of_gold(run, tmp_path, receipts):
    gold, a, b = receipts
    folder = tmp_path / "submissions"
    folder.mkdir()
    for path in (a, b):
        (folder / Path(path).name).write_bytes(Path(path).read_bytes())
    outcome = run("board", gold, folder, "-o", tmp_path / "site")
    assert outcome.status == 0, outcome.err
    values = {json.loads(line)["vendor"]["vat"] for line in Path(gold).read_text().splitlines()}
    for page in (tmp_path / "site").rglob("*"):
        if page.is_file():
            text = page.read_bytes().decode("utf-8", "replace")
            assert not any(value in text for value in values), page


def test_the_page_shows_documents_and_why_values_differ(receipts, tmp_path, run):
    gold, a, b = receipts
    place = tmp_path / "page.html"
    assert run("compare", gold, a, b, "--html", place).status == 0
    page = place.read_text(encoding="utf-8")
    for words in (
        "Kinds of error",
        "What challenger fixes and breaks of baseline",
        "Documents with the most errors",
        "other value: equal under date=%d.%m.%Y",
        "other value: differs by",
    ):
        assert words in page
    assert "<script" not in page
    result = pv.compare(gold, a, b)
    errors = [one.errors_a + one.errors_b for one in result.examples]
    assert errors == sorted(errors, reverse=True)
    first = result.examples[0]
    wrong = [row.kind_a not in ("right", "") for row in first.fields]
    assert first.errors_a >= sum(wrong) > 0
    change = next(c for c in result.changes if c.path == "tax")
    assert (change.fixed, change.broken) == (1, 37)


def test_differing_characters_are_marked():
    gold = [{"v": {"name": "Alder <Books>"}}] * 2
    said = [{"v": {"name": "Alder <Boots>"}}] * 2
    page = pv.compare(gold, said, gold, names=["a", "b"]).to_html()
    assert "Boo<mark>t</mark>s&gt;" in page


# --- Check


def test_check_lists_paths_types_and_examples(receipts, run):
    report = pv.check(receipts[0])
    assert (report.task, report.facts["documents"]) == ("records", 120)
    paths = {path.path: path for path in report.paths}
    assert paths["items[].quantity"].types == ("number",)
    assert paths["payment"].documents == 77
    outcome = run("check", receipts[1])
    assert outcome.status == 1
    assert "baseline.jsonl:3: " in outcome.out
    assert "items[].price" in outcome.out


SCHEMA = {
    "type": "object",
    "required": ["date", "total", "vendor", "payment"],
    "properties": {
        "date": {"type": "string", "format": "date"},
        "total": {"type": "number"},
        "payment": {"anyOf": [{"enum": ["cash", "card"]}, {"type": "null"}]},
        "vendor": {"$ref": "#/$defs/Vendor"},
        "meta": {"type": "object", "additionalProperties": {"type": "string"}},
        "tags": {"type": "array", "items": {"type": "string"}, "uniqueItems": True},
        "more": {"$ref": "#"},
    },
    "$defs": {
        "Vendor": {
            "type": "object",
            "required": ["name"],
            "properties": {"name": {"type": "string"}, "a.b": {"type": "integer"}},
        }
    },
}


def test_a_schema_lists_fields_and_suggests_rules(receipts, run, write):
    found = {path.path: path for path in pv.check(receipts[0], schema=SCHEMA).paths}
    assert found["date"].rule == "--field 'date=date'"
    assert found["total"].rule == "--field 'total=tolerance=0.01'"
    assert (found["meta{}"].rule, found["tags[]"].rule) == ("--open-map meta", "--unique tags")
    assert [p for p in found if found[p].required] == ["date", "payment", "total", "vendor.name"]
    assert (found['vendor."a.b"'].documents, found["total"].documents) == (0, 120)
    assert found["more.vendor.name"].required is False
    outcome = run("check", receipts[0], "--schema", write("s.json", json.dumps(SCHEMA)))
    assert outcome.status == 0, outcome.err
    assert "--field 'total=tolerance=0.01'" in outcome.out
    assert "payment: is required, and 43 documents do not have it" in outcome.err
    assert "tax: is not in the schema" in outcome.err
    # it decides nothing
    assert pv.check(receipts[0]).paths[0].required is None


def test_a_model_of_pydantic_is_a_schema(receipts):
    pydantic = pytest.importorskip("pydantic")
    model = pydantic.create_model("Receipt", total=(float, ...), note=(str | None, None))
    found = {path.path: path for path in pv.check(receipts[0], schema=model).paths}
    assert (found["total"].required, found["note"].required) == (True, False)


@pytest.mark.parametrize(
    ("content", "message"),
    [("{", r"s.json: is not JSON"), ("[]", "expected a JSON Schema"), ("{}", "has no properties")],
)
def test_a_wrong_schema_is_refused(receipts, write, content, message):
    with pytest.raises(InputError, match=message):
        pv.check(receipts[0], schema=write("s.json", content))


def test_a_schema_is_of_records(tmp_path):
    (tmp_path / "tags.conll").write_text("Ann B-PER\nwent O\n")
    with pytest.raises(InputError, match="schema: does not apply to entities"):
        pv.check(tmp_path / "tags.conll", schema=SCHEMA)


def test_map_names_the_option_for_open_maps(receipts, run):
    outcome = run("score", *receipts[:2], "--map", "metadata")
    assert outcome.status == 2
    assert "--open-map" in outcome.err


@pytest.mark.parametrize("command", ["plan", "board"])
def test_plans_and_boards_join_by_a_key(write, tmp_path, run, command):
    def rows(name, documents):
        return write(
            name, [{"doc" if k == "id" else k: v for k, v in d.items()} for d in documents]
        )

    gold, other = rows("gold.jsonl", GOLD), [*GOLD[:2], {**GOLD[2], "total": 9}]
    (tmp_path / "in").mkdir()
    systems = [rows("in/a.jsonl", SAID[::-1]), rows("in/b.jsonl", other[::-1])]
    last = [tmp_path / "in", "-o", tmp_path / "site"] if command == "board" else systems
    outcome = run(command, gold, *last, "--key", "doc", "--format", "json")
    assert outcome.status == 0, outcome.err
    assert "key:doc" in json.loads(outcome.out)["signature"]


def test_check_reads_gold_and_systems_of_one_file(write):
    rows = [{"id": g["id"], "expected": g, "output": "no"} for g in GOLD]
    rows[0]["output"] = json.dumps(SAID[0])
    rows[1]["output"] = json.dumps(SAID[1])
    report = pv.check(write("all.jsonl", rows))
    assert [path.path for path in report.paths] == [
        *("items[].n", "items[].q", "total", "vendor.name"),
    ]
    assert len(report.problems) == 1


# --- Traps


@pytest.mark.parametrize(
    ("gold", "said", "expected"),
    [
        ({"v": {"x": 12}}, '{"v": {"x": "12"}}', (0, 1, 1)),  # a number as text
        ({"v": {"x": 1}}, '{"v": {"x": true}}', (0, 1, 1)),
        ({"v": {"x": 1}}, '{"v": {"x": null}}', (0, 0, 1)),
        ({"v": {"x": 1}}, "{}", (0, 0, 1)),
        ({"v": {"x": 1}, "l": []}, '{"v": {"x": 1}, "l": null}', (1, 0, 0)),
        ({"v": {"x": 9007199254740993}}, '{"v": {"x": 9007199254740992}}', (0, 1, 1)),
        ({"v": {"x": 1}}, '{"v": {"x": NaN}}', (0, 0, 1)),  # malformed
        ({"v": {"x": 1}}, '{"v": {"x": 1, "x": 1}}', (0, 0, 1)),  # a duplicate key: malformed
        ({"v": {"x": 1}}, '{"v": {"x": 1},}', (0, 0, 1)),  # a trailing comma: malformed
        ({"v": {"x": 1}}, '{"v": {"x": 1}} {"v": {"x": 1}}', (0, 0, 1)),  # two objects
        ({"v": {"x": 1}}, '\ufeff{"v": {"x": 1}}', (1, 0, 0)),  # repaired
        ({"v": {"x": 1}}, '[{"v": {"x": 1}}]', (1, 0, 0)),  # repaired
        ({"v": {"x": 1}}, '"{\\"v\\": {\\"x\\": 1}}"', (1, 0, 0)),  # repaired
        ({"v": {"x": 1}}, '{"v": 1}', (0, 1, 1)),  # another type
        ({"v": {"x.y": 1}}, '{"v": {"x": {"y": 1}}}', (0, 1, 1)),  # a key with a dot
        ({"l": {"m": [[1, 2], [3]]}}, '{"l": {"m": [[3], [2, 1]]}}', (3, 0, 0)),  # lists in lists
    ],
)
def test_traps_of_values_and_outputs(gold, said, expected):
    assert counts(pv.score([gold], [said])) == expected


@pytest.mark.parametrize(
    ("gold", "said", "message"),
    [
        ([*GOLD, GOLD[0]], SAID, r"gold.jsonl:4: two records have the 'id' 'a' \(first in line 1"),
        (GOLD, [*SAID, SAID[0]], r"a.jsonl:4: two records have the 'id' 'a'"),
        (GOLD, [*SAID, {"id": "d", "v": {}}], r"a.jsonl:4: 1 of 4 documents are not in .*'d'"),
        (GOLD, '{"id": "a", "v": ' + '{"a":' * 1000 + "1" + "}" * 1001 + "\n", "nested too deep"),
    ],
)
def test_traps_that_are_errors_name_file_and_line(write, gold, said, message):
    with pytest.raises(InputError, match=message):
        pv.score(write("gold.jsonl", gold), write("a.jsonl", said))


def test_ids_may_be_numbers_or_texts(write):
    gold = write("gold.jsonl", [{"id": 1, "v": {"x": 1}}, {"id": 2, "v": {"x": 2}}])
    said = write("a.jsonl", [{"id": "2", "v": {"x": 2}}, {"id": "1", "v": {"x": 1}}])
    assert counts(pv.score(gold, said)) == (2, 0, 0)


def test_a_system_may_have_no_output_at_all_for_some_documents(write):
    result = pv.score(write("gold.jsonl", GOLD), write("a.jsonl", SAID[:2]))
    assert result[0].outcomes.missing == 1
    assert counts(result) == (5, 4, 5)


def test_another_encoding_and_lone_surrogates(write, tmp_path, run):
    row = {"id": "a", "vendor": {"name": "Café"}}
    for name in ("gold.jsonl", "a.jsonl"):
        text = json.dumps(row, ensure_ascii=False)
        (tmp_path / name).write_bytes(f"{text}\n".encode("latin-1"))
    files = [str(tmp_path / name) for name in ("gold.jsonl", "a.jsonl")]
    assert counts(pv.score(*files, encoding="latin-1")) == (1, 0, 0)
    said = '{"id": "a", "vendor": {"name": "\\ud800", "\\udfff": 1}}\n'
    odd = write("odd.jsonl", said)
    outcome = run("score", files[0], odd, "--encoding", "utf-8")
    assert outcome.status == 2  # gold is not UTF-8
    gold = write("plain.jsonl", [row])
    for command in (("score", gold, odd), ("compare", gold, odd, gold), ("check", odd)):
        outcome = run(*command)
        assert outcome.status == 0, outcome.err


@pytest.mark.slow
def test_a_document_of_many_megabytes(write):
    rows = [{"n": f"row {i}", "q": i, "text": "x" * 800} for i in range(60_000)]
    gold = write("gold.jsonl", [{"id": 1, "items": rows}])
    said = write("a.jsonl", [{"id": 1, "items": rows[::-1]}])
    assert counts(pv.score(gold, said)) == (180_000, 0, 0)
