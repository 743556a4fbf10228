"""Logs of evaluations, written by the tools themselves: see tests/recipes."""

from __future__ import annotations

import json
import shutil
import tracemalloc
import zipfile
from pathlib import Path

import pytest
from scipy.stats import binomtest

import probative as pv
from probative.errors import InputError

LOGS = Path(__file__).parent.parent / "data" / "logs"
# what the recipes' answerers know, from tests/recipes/questions.py
OLD_RIGHT = [i for i in range(40) if i % 3 != 0]
NEW_RIGHT = [i for i in range(40) if i % 4 != 1]
ONLY_OLD = len(set(OLD_RIGHT) - set(NEW_RIGHT))
ONLY_NEW = len(set(NEW_RIGHT) - set(OLD_RIGHT))


def log(name):
    return LOGS / name


@pytest.mark.parametrize(
    ("old", "new", "number"),
    [
        ("samples_sums_old.jsonl", "samples_sums_new.jsonl", 40),
        ("inspect_old.eval", "inspect_new.eval", 40),
        ("inspect_old.json", "inspect_new.json", 40),
        ("inspect_old.eval", "inspect_new.json", 40),
        ("promptfoo_old.json", "promptfoo_new.json", 12),
        ("promptfoo_old.jsonl", "promptfoo_new.json", 12),
        ("deepeval_old.json", "deepeval_new.json", 12),
    ],
)
def test_two_logs_are_compared_without_an_answer(old, new, number):
    result = pv.compare(log(old), log(new))
    a, b = ({i for i in right if i < number} for right in (OLD_RIGHT, NEW_RIGHT))
    assert result.task == "samples"
    assert result.units == number
    assert [system.counts.tp for system in result.systems] == [len(a), len(b)]
    (comparison,) = result.comparisons
    assert comparison.metric == "accuracy"
    assert comparison.difference == pytest.approx((len(b) - len(a)) / number)
    # the exact test by sample is McNemar's
    expected = binomtest(len(a - b), len(a ^ b)).pvalue
    assert comparison.pvalue == pytest.approx(expected)


def test_all_tools_tell_the_same():
    pairs = [("samples_sums_{}.jsonl",) * 2, ("inspect_{}.eval",) * 2, ("inspect_{}.json",) * 2]
    results = [pv.compare(log(a.format("old")), log(b.format("new"))) for a, b in pairs]
    assert len({(c.pvalue, c.low, c.high, c.p_b_better) for (c,) in
                (r.comparisons for r in results)}) == 1  # fmt: skip


def test_the_score_is_that_of_inspect_itself():
    document = json.loads(log("inspect_old.json").read_text())
    (own,) = document["results"]["scores"]
    score = pv.score(log("inspect_old.json"))[0]["accuracy"]
    assert score.estimate == own["metrics"]["accuracy"]["value"] == len(OLD_RIGHT) / 40


def test_rows_are_joined_by_their_ids(tmp_path):
    lines = log("samples_sums_new.jsonl").read_text().splitlines(keepends=True)
    turned = tmp_path / "turned.jsonl"
    turned.write_text("".join(lines[::-1]))
    plain = pv.compare(log("samples_sums_old.jsonl"), log("samples_sums_new.jsonl"))
    other = pv.compare(log("samples_sums_old.jsonl"), turned)
    assert other.comparisons[0].pvalue == plain.comparisons[0].pvalue
    assert pv.compare(turned, log("samples_sums_new.jsonl")).comparisons[0].identical


def test_systems_are_called_as_the_log_calls_them():
    result = pv.compare(log("inspect_old.eval"), log("inspect_new.eval"))
    assert [system.name for system in result.systems] == ["mockllm/old", "mockllm/new"]
    result = pv.compare(log("samples_sums_old.jsonl"), log("samples_sums_new.jsonl"))
    assert [system.name for system in result.systems] == ["samples_sums_old", "samples_sums_new"]
    names = ["A", "B"]
    result = pv.compare(log("inspect_old.eval"), log("inspect_new.eval"), names=names)
    assert [system.name for system in result.systems] == names


def test_logs_of_one_system_are_called_after_their_files():
    result = pv.rank(log("inspect_old.eval"), log("inspect_old.json"), log("inspect_new.eval"))
    names = {system.name for system in result.systems}
    assert names == {"inspect_old (1)", "inspect_old (2)", "inspect_new"}


def test_one_file_of_several_systems():
    result = pv.compare(log("promptfoo_both.json"))
    assert [system.name for system in result.systems] == ["old", "new"]
    assert [system.counts.tp for system in result.systems] == [8, 9]


def test_repetitions_of_a_sample_belong_together():
    twice = pv.compare(log("inspect_old_twice.json"), log("inspect_new_twice.json"))
    assert (twice.units, twice.unit, twice.by) == (12, "unit", "unit")
    assert [system.counts.positives for system in twice.systems] == [24, 24]
    assert twice.systems[0]["accuracy"].design_effect == pytest.approx(2, abs=0.25)
    # the old one says the same twice: that is no more evidence than once
    once = pv.score(log("promptfoo_old.json"))[0]["accuracy"]
    again = pv.score(log("promptfoo_twice.json"))[0]["accuracy"]
    assert again.high - again.low > 0.95 * (once.high - once.low)
    alone = pv.score(log("promptfoo_twice.json"), by="item")[0]["accuracy"]
    assert alone.high - alone.low < 0.8 * (once.high - once.low)


def test_findings_are_counted():
    result = pv.compare(log("inspect_old_findings.json"), log("inspect_new_findings.json"))
    expected = [[0, 0, 0], [0, 0, 0]]
    for table, right in zip(expected, (OLD_RIGHT, NEW_RIGHT), strict=True):
        for i in range(12):
            found = i % 3 + 1 if i in right else 1
            table[0] += found
            table[1] += i not in right
            table[2] += i % 3 + 1 - found
    assert [list(map(int, (s.counts.tp, s.counts.fp, s.counts.fn))) for s in result.systems] == (
        expected
    )
    assert result.comparisons[0].metric == "f1"
    assert (result.comparisons[0].by, result.units) == ("unit", 12)


def test_findings_and_their_sums_in_rank_agree():
    files = [log("inspect_old_findings.json"), log("inspect_new_findings.json")]
    compared = pv.compare(*files).comparisons[0]
    (pair,) = pv.rank(*files).pairs
    assert pair.pvalue == pytest.approx(compared.pvalue)


@pytest.mark.parametrize(
    ("name", "scores"),
    [
        ("samples_choices_old.jsonl", "acc, acc_norm"),
        ("samples_filters_old.jsonl", "exact_match,strict, exact_match,number"),
        ("inspect_new_scorers.json", "match, includes, exact"),
        ("promptfoo_findings.json", "pass, counts"),
    ],
)
def test_several_scores_are_never_guessed(name, scores):
    with pytest.raises(InputError) as error:
        pv.score(log(name))
    assert str(error.value) == (
        f"{log(name)}: which score? There are {scores}; expected one of them to be named "
        f"(score_name=)"
    )
    first = scores.split(", ")[0]
    assert pv.score(log(name), score_name=first)[0].counts.positives == 12


def test_filters_are_variants_of_a_score():
    strict = pv.score(log("samples_filters_old.jsonl"), score_name="exact_match,strict")
    assert strict.units == 12
    with pytest.raises(InputError, match="several scores are called 'exact_match'"):
        pv.score(log("samples_filters_old.jsonl"), score_name="exact_match")
    with pytest.raises(InputError, match="there is no score 'f1'; expected one of exact_match,str"):
        pv.score(log("samples_filters_old.jsonl"), score_name="f1")


def test_the_conclusion_of_a_tool_is_taken_and_said():
    result = pv.score(log("deepeval_old.json"))
    (note,) = result.notes
    assert note == (
        f"{log('deepeval_old.json')}: log of DeepEval, because it has the key 'testCases', as "
        f"those of DeepEval have; score 'pass'; there are also 'Exact Match', 'Pattern Match' "
        f"(score_name=)"
    )
    pattern = pv.score(log("deepeval_old.json"), score_name="Pattern Match")
    assert pattern[0].counts.tp == 8


def test_partly_right_answers_need_a_threshold():
    with pytest.raises(InputError) as error:
        pv.score(log("inspect_old_graded.json"))
    assert str(error.value).endswith(
        "4 of 12 samples are neither right nor wrong by 'graded' ('P' for 'q00', 'P' for 'q03', "
        "'P' for 'q06'); expected 0 or 1, from where on one counts as right (threshold=), or the "
        "mean of the scores (metric='mean')"
    )
    assert pv.score(log("inspect_old_graded.json"), threshold=0.5)[0].counts.tp == 12
    assert pv.score(log("inspect_old_graded.json"), threshold=0.6)[0].counts.tp == 8


def test_samples_that_failed_are_counted():
    with pytest.raises(InputError) as error:
        pv.score(log("inspect_failed.json"))
    assert str(error.value).endswith(
        "2 of 12 samples have no score 'match', 2 after an error ('q03', 'q05'); expected one for "
        "every sample"
    )


def test_missing_and_other_samples_are_counted(tmp_path):
    lines = log("samples_sums_new.jsonl").read_text().splitlines(keepends=True)
    fewer = tmp_path / "fewer.jsonl"
    fewer.write_text("".join(lines[:35]))
    old = log("samples_sums_old.jsonl")
    with pytest.raises(InputError) as error:
        pv.compare(old, fewer)
    assert str(error.value) == (
        f"{fewer}: 5 of the 40 samples of {old} are missing ('35', '36', '37', …); expected the "
        f"same samples"
    )
    with pytest.raises(InputError) as error:
        pv.compare(fewer, old)
    assert "5 of its 40 are not in" in str(error.value)


def test_doubled_samples_are_counted(tmp_path):
    text = log("samples_sums_new.jsonl").read_text()
    doubled = tmp_path / "doubled.jsonl"
    doubled.write_text(text + "".join(text.splitlines(keepends=True)[:2]))
    with pytest.raises(InputError) as error:
        pv.score(doubled)
    assert str(error.value) == (
        f"{doubled}: 2 of 40 samples occur more than once ('0', '1'); expected each once, or "
        "numbered repetitions"
    )


def test_other_questions_of_the_same_ids_are_counted(tmp_path):
    lines = [json.loads(line) for line in log("samples_sums_new.jsonl").read_text().splitlines()]
    for record in lines[3:7]:
        record["doc_hash"] = "another"
    other = tmp_path / "other.jsonl"
    other.write_text("".join(json.dumps(record) + "\n" for record in lines))
    with pytest.raises(InputError, match="4 of 40 samples ask something else than those of the "):
        pv.compare(log("samples_sums_old.jsonl"), other)


def test_samples_with_another_number_of_findings_are_counted(tmp_path):
    paths = [tmp_path / "a.jsonl", tmp_path / "b.jsonl"]
    for path, found in zip(paths, (1, 2), strict=True):
        rows = [{"id": i, "tp": found if i else 1, "fp": 0, "fn": 1} for i in range(3)]
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    with pytest.raises(InputError) as caught:
        pv.compare(*paths)
    expected = f"sample '1' has tp + fn = 3, but 2 in {paths[0]} (2 samples differ); expected the"
    assert expected in str(caught.value)


def test_logs_of_different_filters_are_refused(tmp_path):
    lines = log("samples_filters_old.jsonl").read_text().splitlines(keepends=True)
    kinds = dict.fromkeys(json.loads(line)["filter"] for line in lines)
    paths = {}
    for kind in kinds:
        paths[kind] = tmp_path / f"{kind}.jsonl"
        own = [line for line in lines if json.loads(line)["filter"] == kind]
        paths[kind].write_text("".join(own))
    (one, a), (other, b) = list(paths.items())[:2]
    with pytest.raises(InputError) as error:
        pv.compare(a, b)
    assert str(error.value) == (
        f"{b}: has the filter {other!r}, but {a} {one!r}; expected the same filter (score_name=, "
        f"where a log has several)"
    )
    assert pv.compare(a, a).comparisons[0].identical
    # the log of all filters has the same one among them
    whole = log("samples_filters_old.jsonl")
    assert pv.compare(a, whole, score_name=f"exact_match,{one}").comparisons[0].identical


def test_plain_lines_that_ask_something_else_are_refused(tmp_path):
    a, b = tmp_path / "a.jsonl", tmp_path / "b.jsonl"
    common = "Which of these towns lies on the coast of the northern sea, "
    lines = [
        {"id": i, "input": f"{common}{i} or {i + 1}?", "correct": i % 2 == 0} for i in range(4)
    ]
    a.write_text("".join(json.dumps(line) + "\n" for line in lines))
    lines[2]["input"] = f"{common}7 or 8?"
    b.write_text("".join(json.dumps(line) + "\n" for line in lines))
    with pytest.raises(InputError) as error:
        pv.compare(a, b)
    assert str(error.value) == (
        f"{b}: 1 of 4 samples ask something else than those of the same id in {a} ('2'); the first "
        f"asks '…hern sea, 7 or 8?', but '…hern sea, 2 or 3?' there; expected the same test set"
    )
    # the hashes of lm-evaluation-harness are of more than the text: such logs are paired by ids
    other = [{"doc_id": i, "doc_hash": "x", "resps": [], "acc": 1} for i in range(4)]
    b.write_text("".join(json.dumps(line) + "\n" for line in other))
    assert not pv.compare(a, b).comparisons[0].identical
    for line in lines:  # and so is one without texts
        del line["input"]
    b.write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert pv.compare(a, b).comparisons[0].identical


def test_an_archive_that_unpacks_without_end_is_refused(tmp_path):
    path = tmp_path / "bomb.eval"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("header.json", json.dumps({"status": "success", "eval": {}}))
        with archive.open("summaries.json", "w") as file:
            for _ in range(65):
                file.write(b" " * 2**20)
            file.write(b"[]")
    with pytest.raises(InputError) as error:
        pv.score(path)
    assert "MiB to more than 64 MiB; expected a file that is packed less" in str(error.value)


@pytest.mark.parametrize("packed", [zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2])
def test_an_archive_that_holds_more_than_it_says_is_refused(tmp_path, packed):
    path = tmp_path / "bomb.eval"
    with zipfile.ZipFile(path, "w", packed) as archive:
        archive.writestr("header.json", json.dumps({"status": "success", "eval": {}}))
        archive.writestr("summaries.json", b"[]" + b" " * 2**26)
    data = path.read_bytes()
    path.write_bytes(data.replace((2**26 + 2).to_bytes(4, "little"), (2).to_bytes(4, "little")))
    tracemalloc.start()
    with pytest.raises(InputError, match=r".json in it is damaged|Inspect cannot read"):
        pv.score(path)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 2**25


def test_other_repetitions_are_counted(tmp_path):
    once = json.loads(log("inspect_old_twice.json").read_text())
    once["samples"] = [sample for sample in once["samples"] if sample["epoch"] == 1]
    path = tmp_path / "once.json"
    path.write_text(json.dumps(once))
    with pytest.raises(InputError, match=r"12 of its 24 are not in .*'q00 \(repetition 2\)'"):
        pv.compare(path, log("inspect_new_twice.json"))


PLAIN = '{"id": "a", "correct": true}\n{"id": "b", "correct": false}\n{"id": 3, "correct": 1}\n'


def test_plain_lines_will_do(tmp_path):
    path = tmp_path / "run.jsonl"
    path.write_text(PLAIN)
    assert pv.score(path)[0].counts.tp == 2
    path.write_text(
        '{"id": "a", "tp": 2, "fp": 0, "fn": 1}\n{"id": "b", "tp": 0, "fp": 3, "fn": 0}\n'
    )
    assert pv.score(path)[0].counts == pv.Counts(2, 3, 1)
    path.write_text(
        '{"id": "a", "epoch": 1, "correct": true}\n{"id": "a", "epoch": 2, "correct": false}\n'
    )
    assert (pv.score(path).units, pv.score(path).unit) == (1, "unit")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (PLAIN + "{\n", "run.jsonl:4: '{' is not JSON (Expecting property name enclosed in double"),
        (PLAIN + "[1]\n", "run.jsonl:4: '[1]' is not a JSON object"),
        (PLAIN + '{"correct": true}\n', "run.jsonl:4: the record has no id"),
        (PLAIN + '{"id": null, "correct": 1}\n', "run.jsonl:4: 'id' is null; expected text or"),
        (PLAIN + '{"id": "d", "correct": "maybe"}\n', "run.jsonl:4: sample 'd' has 'maybe' for"),
        (PLAIN + '{"id": "d", "correct": NaN}\n', "run.jsonl:4: 1 of 4 samples have no score"),
        (PLAIN + '{"id": "d", "correct": 0.3}\n', "run.jsonl:4: 1 of 4 samples are neither right"),
        ('{"id": 1, "tp": 1, "fp": -1, "fn": 0}\n', "run.jsonl:1: sample '1' has {'tp': 1, 'fp"),
        ('{"id": 1, "tp": 0, "fp": 0, "fn": 0}\n', "run.jsonl: there are no findings"),
    ],
)
def test_bad_records_are_named(tmp_path, content, message):
    path = tmp_path / "run.jsonl"
    path.write_text(content)
    with pytest.raises(InputError) as error:
        pv.score(path)
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_the_answer_of_findings_must_be_the_same(tmp_path):
    a, b = tmp_path / "a.jsonl", tmp_path / "b.jsonl"
    a.write_text('{"id": 1, "tp": 2, "fp": 0, "fn": 1}\n')
    b.write_text('{"id": 1, "tp": 2, "fp": 0, "fn": 0}\n')
    with pytest.raises(InputError, match=r"has tp \+ fn = \d+, but \d+ in "):
        pv.compare(a, b)
    b.write_text('{"id": 1, "correct": true}\n')
    with pytest.raises(
        InputError, match=r"holds right or wrong answers, but .* counts of findings"
    ):
        pv.compare(a, b)


def test_an_unfinished_run_is_refused(tmp_path):
    document = json.loads(log("inspect_old.json").read_text())
    document["status"] = "cancelled"
    path = tmp_path / "run.json"
    path.write_text(json.dumps(document))
    with pytest.raises(InputError, match='the run has the status "cancelled"; expected'):
        pv.score(path)


def test_damaged_archives_are_named(tmp_path):
    data = log("inspect_old.eval").read_bytes()
    path = tmp_path / "run.eval"
    path.write_bytes(data[: len(data) // 2])
    with pytest.raises(InputError, match=r"is a damaged zip archive|Inspect cannot read it"):
        pv.score(path)
    assert pv.check(path).problems


def test_a_log_has_no_classes():
    for name, value in {"positive": "right", "only": ["x"], "scheme": "iob2"}.items():
        with pytest.raises(InputError, match=f"{name}: does not apply to samples"):
            pv.score(log("samples_sums_old.jsonl"), **{name: value})
    with pytest.raises(InputError, match="'f1' is not defined for answers that are right or wrong"):
        pv.score(log("samples_sums_old.jsonl"), metric="f1")


def test_a_log_against_an_answer_is_refused(tmp_path):
    path = tmp_path / "gold.conll"
    path.write_text("Ann B-PER\n\n")
    with pytest.raises(InputError, match="samples"):
        pv.score(log("samples_sums_old.jsonl"), path)
    with pytest.raises(InputError):
        pv.score(path, log("samples_sums_old.jsonl"))


def test_the_page_shows_what_was_asked():
    result = pv.compare(log("inspect_old.eval"), log("inspect_new.eval"))
    shown = {example.text: example for example in result.examples}
    example = shown["How much is 1 plus 10?"]
    assert (example.gold, example.label_a, example.label_b) == ("11", "no idea", "11")
    assert "How much is 1 plus 10?" in result.to_html()


def test_a_wrong_answer_never_looks_right(tmp_path):
    a, b = tmp_path / "a.jsonl", tmp_path / "b.jsonl"
    record = {"doc_id": 0, "resps": [], "target": "x", "filtered_resps": ["x"], "metrics": ["m"]}
    a.write_text(json.dumps(record | {"m": 0}))
    b.write_text(json.dumps(record | {"m": 1}))
    (example,) = pv.compare(a, b).examples
    assert (example.gold, example.label_a, example.label_b) == ("x", "x (wrong)", "x")
    plain = tmp_path / "p.jsonl", tmp_path / "q.jsonl"
    for path, right in zip(plain, ("true", "false"), strict=True):
        path.write_text(f'{{"id": 1, "correct": {right}, "input": "?"}}')
    (example,) = pv.compare(*plain).examples
    assert (example.gold, example.label_a, example.label_b) == ("right", "right", "wrong")


def test_check_says_what_a_log_is():
    report = pv.check(log("inspect_old.eval"))
    assert (report.input_format, report.task, report.problems) == ("log", "samples", ())
    assert report.facts == {"samples": 40, "score": "match", "mockllm/old: right": 26}
    assert report.reason == "it is a zip archive, as the .eval files of Inspect are"
    (problem,) = pv.check(log("samples_choices_old.jsonl")).problems
    assert "which score?" in problem
    assert pv.check(log("samples_choices_old.jsonl"), score_name="acc").problems == ()


def test_rows_with_an_answer_and_a_prediction_are_a_table(tmp_path):
    path = tmp_path / "run.jsonl"
    path.write_text('{"id": 1, "gold": "a", "pred": "b", "correct": false}\n' * 2)
    assert pv.check(path).input_format == "table"
    path.write_text('{"id": 1, "answer": "a", "correct": false}\n')
    assert pv.check(path).input_format == "log"


def test_lines_that_speak_of_the_same_things_are_no_log(tmp_path):
    path = tmp_path / "run.jsonl"
    path.write_text('{"gold": "a", "pred": "b", "status": 1, "eval": 2, "results": 3}\n' * 2)
    assert pv.check(path).input_format == "table"
    path.write_text('{ "status" "eval" }\nand more\n')
    assert pv.check(path, task="segmentation").input_format == "segmented"


def test_documents_of_one_line(tmp_path):
    for name, right in (("inspect_old.json", 26), ("promptfoo_old.json", 8)):
        path = tmp_path / name
        path.write_text(json.dumps(json.loads(log(name).read_text())))
        assert pv.score(path)[0].counts.tp == right


def test_a_log_through_a_pipe_has_no_name_to_tell(tmp_path):
    copy = tmp_path / "x"
    shutil.copy(log("inspect_old.eval"), copy)
    assert pv.score(copy)[0].counts.tp == 26


def test_a_plan_from_two_logs():
    from probative.jobs.plan import plan_from_files

    plan = plan_from_files(log("samples_sums_old.jsonl"), log("samples_sums_new.jsonl"))
    assert plan.metric == "accuracy"
    assert plan.observed_units == 40
