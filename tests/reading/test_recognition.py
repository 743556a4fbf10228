"""Every recognition has a reason; what the answer is, the outputs are."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

import probative as pv
from probative.errors import InputError
from probative.reading.formats import FORMATS, Options, read, recognise
from probative.reading.source import Source


def recognised(content, name="a", **options):
    return recognise(Source(name, content.encode()), Options(**options))


@pytest.mark.parametrize(
    ("content", "name", "kind", "reason"),
    [
        ("Ann B-PER\nran O\n", "a", "columns", "column 2 holds tags such as 'B-PER'"),
        ("Ann B-PER x\nran O y\n", "a", "columns", "column 2 holds tags such as 'B-PER'"),
        ("Ann O\nran x\nhe O\nis O\n", "a", "columns", "column 2 mostly holds tags such as 'O'"),
        ("1\tAnn\tNN\n", "a", "columns", "the first column numbers the tokens"),
        ("1" + "\t_" * 9 + "\n", "a", "conllu", "it has ten columns between TABs, and the first"),
        ("I am\nhe is not\n", "a", "segmented", "its lines have different numbers of words"),
        ("he is O\nit is it\n", "a", "segmented", "its lines are 3 words each"),
        ("hello there my friend\nI am O\n", "a", "segmented", "different numbers of words"),
        ("spam\nham\n", "a", "labels", "every line is a single word"),
        ("y,z\na,b\n", "a.csv", "table", "its name ends in .csv"),
        ("y\tz\na\tb\n", "a.tsv", "table", "its name ends in .tsv"),
        ("w\tNE\nAnn\tB-PER\nran\tO\n", "a", "table", "its first line names the columns: tags"),
        ('{"gold": 1}', "a", "table", "its first line is a JSON object with 'gold'"),
        ('{"text": "x", "label": ["a"]}', "a", "table", "a JSON object with 'text', 'label'"),
        ('{"text": "x", "label": [[0, 1, "a"]]}', "a", "jsonl", "a list under 'label'"),
        ("PAR1", "a", "table", "it begins as Parquet files do"),
    ],
)
def test_reasons(content, name, kind, reason):
    found = recognised(content, name)
    assert found.kind == kind
    assert reason in found.reason


def test_every_format_can_be_asked_for():
    for name in FORMATS:
        opened = recognised("a b\n", input_format=name)
        assert (opened.kind, opened.task) == (name, FORMATS[name].tasks[0])


def test_the_answer_decides_what_outputs_are(write):
    gold = write("John likes Mary\nshe left\n", "gold.txt")
    one_line = write("J o h n l i k e s M a r y\n", "a.txt")
    assert recognised("J o h n l i k e s M a r y\n", task="segmentation").kind == "segmented"
    found = read(one_line, Options(like="segmented", task="segmentation"))
    assert found.origin == ("segmented", "gold is, too")
    # what is surely something else is not: words of a column file against segmented text
    columns = write("1\tJohn\n2\tlikes\n3\tMary\n\n1\tshe\n2\tleft\n", "b.txt")
    assert pv.score(gold, columns)[0].counts == pv.Counts(tp=5, fp=0, fn=0)


def test_check_tells_the_reason(run, write):
    path = write("id,label\n1,a\n", "t.csv")
    assert pv.check(path).reason == "its name ends in .csv"
    assert json.loads(run("check", path, "-f", "json").out)["reason"] == "its name ends in .csv"
    assert "reason" not in json.loads(run("check", path, "-f", "json").out)["signature"]
    assert pv.check(path, input_format="table").reason == ""


def test_scores_say_what_the_answer_was_taken_for(write):
    gold = write("spam\nham\n", "gold.txt")
    assert pv.score(gold, gold).notes[0] == (
        f"{gold}: a list of labels for labels, because every line is a single word"
    )


def test_tokens_of_labels_must_agree(write):
    gold = write("the\tDT\ncat\tNN\n\nit\tPR\n", "g.conll")
    other = write("the\tDT\ndog\tNN\n\nit\tPR\n", "p.conll")
    with pytest.raises(InputError, match=r"p.conll:2: token 'dog', gold has 'cat' "):
        pv.score(gold, other, task="labels")
    result = pv.score(gold, other, task="labels", align_by="position")
    assert result[0].counts == pv.Counts(tp=3, fp=0, fn=0)
    assert f"{other}: 1 token differs from {gold}" in result.notes
    with pytest.raises(InputError, match="align_by: does not apply to labels without tokens"):
        pv.score(["a"], ["a"], align_by="position")


def test_newdoc_in_files_without_numbers(write):
    gold = write("# newdoc\nAnn B-PER\n\n# text\nran O\n\n# newdoc\nYork B-LOC\n")
    assert read(gold, Options(comments=True)).text.document.tolist() == [0, 0, 1]
    assert pv.check(gold, comments=True).facts["documents"] == 2


def test_a_header_of_columns(write):
    path = write("word tag\nAnn B-PER\nran O\n")
    tagged = read(path, Options(header=True))
    assert tagged.text.n_tokens == 2
    assert [tagged.text.line_of(token) for token in range(2)] == [2, 3]


# --- labels by other names --------------------------------------------------------------------


def test_mapping_everywhere():
    tags, other = [["B-PER", "I-PER", "O"]], [["B-PERSON", "I-PERSON", "O"]]
    assert pv.score(tags, other, mapping={"PERSON": "PER"})[0].counts == pv.Counts(tp=1, fp=0, fn=0)
    spans, same = [{(0, 2, "PER"), (0, 2, "Person")}], [{(0, 2, "PER")}]
    one = pv.score(spans, same, mapping={"Person": "PER"})
    assert one[0].counts == pv.Counts(tp=1, fp=0, fn=0)  # equal spans count once
    without = pv.score([["B-A", "B-X"]], [["B-A", "O"]], mapping={"X": "O"})
    assert without[0].counts == pv.Counts(tp=1, fp=0, fn=0)
    sets = pv.score([{"a", "b"}], [{"c"}], mapping={"a": "c", "b": "c"})
    assert sets[0].counts == pv.Counts(tp=1, fp=0, fn=0)
    numbers = pv.score([1, 2, 3], [1, 2, 9], mapping={9: 3})
    assert numbers[0].counts == pv.Counts(tp=3, fp=0, fn=0)
    assert "|mapping:9=3|" in numbers.signature


def test_case_everywhere():
    tags = pv.score([["B-PER", "O"]], [["B-per", "O"]], ignore_case=True, only=["Per"])
    assert tags[0].counts == pv.Counts(tp=1, fp=0, fn=0)
    assert "|ignore-case|" in tags.signature
    labels = pv.score(["Yes", "No"], ["YES", "YES"], ignore_case=True, positive="YES")
    assert labels[0].counts == pv.Counts(tp=1, fp=1, fn=0, tn=0)
    mixed = pv.score(["A", "b"], ["a", "X"], ignore_case=True, mapping={"x": "B"})
    assert mixed[0].counts == pv.Counts(tp=2, fp=0, fn=0)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"mapping": {"q": "a"}}, "mapping: neither gold nor a system has 'q'"),
        ({"mapping": "a=b"}, "mapping: 'a=b'; expected a dictionary of labels"),
        ({"mapping": {"a": None}}, "mapping: has missing labels"),
        ({"mapping": {1: "a", "1": "b"}}, "has a label twice"),
        ({"ignore_case": "yes"}, "ignore_case: 'yes'; expected True or False"),
        ({"threshold": "x"}, "threshold: 'x' is not a number"),
        ({"threshold": float("nan")}, "threshold: nan is not a finite number"),
        ({"header": 1}, "header: 1; expected True or False"),
        ({"multilabel": 3}, "multilabel: 3; expected True, or the text between labels"),
        ({"multilabel": ""}, "multilabel: ''; expected True, or the text between labels"),
        ({"probability_columns": "ab"}, "probability_columns: 'ab'; expected a list of names"),
        ({"probability_columns": ["a"]}, "probability_columns: one; expected one for each class"),
        (
            {"probability_columns": ["a", "b"], "threshold": 0.5},
            "threshold: cannot be combined with probability_columns=",
        ),
    ],
)
def test_choices_that_are_none(options, message):
    with pytest.raises(InputError) as caught:
        pv.score(["a", "b"], ["a", "b"], **options)
    assert message in str(caught.value)


def test_words_have_no_other_names():
    with pytest.raises(InputError, match="mapping: words of a segmentation have no labels"):
        pv.score([["a", "b"]], [["ab"]], mapping={"a": "b"})


# --- probabilities ----------------------------------------------------------------------------


def test_thresholds():
    gold, scores = [1, 0, 1, 0], [0.9, 0.2, 0.5, 0.6]
    found = pv.score(gold, scores, threshold=0.5)[0].counts
    assert found == pv.Counts(tp=2, fp=1, fn=0, tn=1)  # what is at the threshold is yes
    assert pv.score(gold, scores, threshold=0.95)[0].counts == pv.Counts(tp=0, fp=0, fn=2, tn=2)
    named = pv.score(list("xyxy"), scores, threshold=0.5, positive="x")[0].counts
    assert named == found
    with pytest.raises(InputError, match="threshold: separates two classes, but gold has 3"):
        pv.score([1, 2, 3], [0.1, 0.2, 0.3], threshold=0.5)
    with pytest.raises(InputError, match="threshold: pred holds 'a'; expected numbers"):
        pv.score([1, 0], ["a", "b"], threshold=0.5)
    # gold of texts that are numbers, not whole, has such labels
    assert pv.score(["0.5", "1.5"], [0.5, 2.5])[0].counts.tp == 1


def test_the_likeliest_class(write):
    path = write("y,a,b,c\na,0.5,0.3,0.2\nc,0.2,0.4,0.4\nb,0.1,0.8,0.1\n", "t.csv")
    result = pv.score(path, gold_column="y", probability_columns=["a", "b", "c"])
    assert result[0].counts == pv.Counts(tp=2, fp=1, fn=1)
    assert any("1 rows with ties, which go to the first of the columns" in n for n in result.notes)
    broken = write("y,a,b\na,x,1\n", "u.csv")
    with pytest.raises(InputError, match="column 'a' row 1 is 'x'; expected a probability"):
        pv.score(broken, gold_column="y", probability_columns=["a", "b"])


# --- tables of tags ---------------------------------------------------------------------------


def test_tags_in_every_kind_of_table(tmp_path):
    rows = {
        "sent_id": [1, 1, 2],
        "word": ["Ann", "Lee", "York"],
        "doc": ["x", "x", "y"],
        "gold": ["B-PER", "I-PER", "O"],
        "pred": ["B-PER", "O", "O"],
    }
    frame = pd.DataFrame(rows)
    frame.to_csv(tmp_path / "t.csv", index=False)
    frame.to_parquet(tmp_path / "t.parquet")
    frame.to_json(tmp_path / "t.jsonl", orient="records", lines=True)
    direct = pv.score(frame, gold_column="gold", columns=["pred"], by="document")
    assert (direct.task, direct[0].counts) == ("entities", pv.Counts(tp=0, fp=1, fn=1))
    for name in ("t.csv", "t.parquet", "t.jsonl"):
        found = pv.score(tmp_path / name, by="document")
        assert found.task == "entities"
        assert found[0].counts == direct[0].counts
        assert found.units == 2
    by_unit = pv.score(frame, gold_column="gold", columns=["pred"], unit_column="doc")
    assert by_unit[0].counts == direct[0].counts


def test_sentences_of_tables_stand_together(write):
    head = "sentence_id,token,gold\n"
    scattered = write(head + "1,a,B-X\n2,b,O\n3,c,O\n2,d,I-X\n", "a.csv")
    message = "the rows of 'sentence_id' '2' are not adjacent: row 4 is another of them"
    with pytest.raises(InputError, match=message):
        pv.check(scattered)
    anew = write(head + "1,a,B-X\n2,b,O\n1,c,O\n2,d,I-X\n", "b.csv")
    assert pv.check(anew).facts["sentences"] == 4
    documents = write("doc,sent,gold\nx,1,B-X\ny,1,I-X\ny,1,O\n", "c.csv")
    facts = pv.check(documents).facts
    assert (facts["sentences"], facts["documents"]) == (2, 2)


def test_words_of_tables_must_agree(write):
    gold = write("sent,word,gold\n1,Ann,B-PER\n1,ran,O\n", "g.csv")
    other = write("sent,word,pred\n1,Bob,B-PER\n1,ran,O\n", "p.csv")
    with pytest.raises(InputError, match="token 'Bob', gold has 'Ann' "):
        pv.score(gold, other)


def test_labels_that_look_like_tags(write):
    path = write("gold,pred\nI-95,I-95\nI-80,I-95\n", "roads.csv")
    with pytest.raises(InputError, match=r"could hold tags or labels .* but none is 'O'"):
        pv.score(path)
    assert pv.score(path, task="labels")[0].counts == pv.Counts(tp=1, fp=1, fn=1)


def test_ids_of_rows(write):
    gold = write("id,label\n1,a\n2,b\n", "g.csv")
    other = write("id,label\n7,a\n8,b\n", "p.csv")
    note = "p: 2 rows have another 'id' than in"
    assert any(note in line for line in pv.score(gold, other).notes)
    part = write("id,label\n1,a\n8,b\n", "q.csv")
    with pytest.raises(InputError, match=r"row 2 is '8', but '2' in .* \(1 rows differ: others\)"):
        pv.score(gold, part)
    assert pv.score(gold, part, align_by="position")[0].counts.tp == 2


# --- sets of labels ---------------------------------------------------------------------------


def test_sets_are_scored_as_scikit_learn_does():
    metrics = pytest.importorskip("sklearn.metrics")
    rng = np.random.default_rng(0)
    gold, pred = (rng.random((2, 300, 6)) < 0.3).astype(int)
    result = pv.score(gold, pred)
    for average, name in (("micro", "f1"), ("macro", "macro_f1")):
        expected = metrics.f1_score(gold, pred, average=average)
        assert result[0][name].estimate == pytest.approx(expected)
    assert result.units == 300
    assert result.by == "item"
    assert "|labels|sets|" in result.signature
    sets = [[{str(k) for k in np.flatnonzero(row)} for row in side] for side in (gold, pred)]
    assert pv.score(*sets)[0].counts == result[0].counts


def test_pages_of_sets(write, run, tmp_path):
    lines = [
        {"text": f"text {i}", "gold": ["a", "b"][: i % 3], "old": ["a"], "new": ["a", "b"][: i % 2]}
        for i in range(12)
    ]
    path = write("\n".join(map(json.dumps, lines)), "t.jsonl")
    page = tmp_path / "page.html"
    columns = ("--gold-column", "gold", "--columns", "old,new")
    outcome = run("compare", path, *columns, "--html", page, "-q")
    assert outcome.status == 0, outcome.err
    assert "text 1" in page.read_text()


def test_sets_against_single_labels():
    with pytest.raises(InputError, match="pred: has one label per item, but gold has sets"):
        pv.score([{"a"}, {"b"}], [1, 2])
