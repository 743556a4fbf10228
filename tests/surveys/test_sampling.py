"""Samples are drawn once, extended without loss, and written whole or not at all."""

from __future__ import annotations

import json
import threading

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import probative as pv
from probative.errors import InputError
from probative.surveys import sampling as extending
from probative.surveys.blanks import unanswered

RNG = np.random.default_rng(5)
WORDS = [[f"w{i}", f"v{i}", "."] for i in range(120)]


def tags(share):
    return [
        ["B-PER" if RNG.random() < share else "O", "B-LOC" if RNG.random() < share else "O", "O"]
        for _ in WORDS
    ]


GOLD, OLD, NEW = tags(0.3), tags(0.3), tags(0.3)


def conll(sides, between="\t", numbers=None):
    numbers = range(len(WORDS)) if numbers is None else numbers
    blocks = [
        "\n".join(
            between.join([w, *t]) for w, *t in zip(WORDS[i], *(s[i] for s in sides), strict=True)
        )
        for i in numbers
    ]
    return "\n\n".join(blocks) + "\n"


@pytest.fixture
def files(write):
    return write(conll([OLD]), "old.conll"), write(conll([NEW]), "new.conll")


def annotated(drawn, write, name="annotated.conll"):
    return write(conll([GOLD], numbers=drawn.units.tolist()), name)


def test_same_seed_same_sample():
    one, two, other = (pv.sample(None, OLD, NEW, size=30, rng=seed) for seed in (1, 1, 2))
    assert one.units.tolist() == two.units.tolist() != other.units.tolist()
    assert (np.diff(one.units) > 0).all()
    assert one.signature == two.signature != other.signature


@settings(max_examples=25)
@given(st.lists(st.integers(1, 25), min_size=1, max_size=4), st.integers(2, 20))
def test_extensions_never_change_what_was_drawn(more, size):
    drawn = pv.sample(None, OLD, NEW, size=size)
    before = drawn.design.units
    for add in more:
        drawn = pv.sample(drawn.design, OLD, NEW, add=add)
        after = drawn.design.units
        assert after.number[: len(before.number)].tolist() == before.number.tolist()
        assert after.batch[: len(before.number)].tolist() == before.batch.tolist()
        assert len(set(after.number.tolist())) == len(before.number) + add
        assert drawn.units.tolist() == after.number[len(before.number) :].tolist()
        before = after


def test_an_extension_is_as_good_as_what_was_drawn_allows():
    at_once = pv.sample(None, OLD, NEW, size=60)
    later = pv.sample(pv.sample(None, OLD, NEW, size=40).design, OLD, NEW, add=20)
    assert [own.drawn for own in later.strata] == [own.drawn for own in at_once.strata]


def test_the_file_holds_the_text_and_no_tag(files, tmp_path):
    drawn = pv.sample(files[0], *files, size=30, to=tmp_path / "s.conll")
    content = (tmp_path / "s.conll").read_text()
    assert content == conll([[["_"] * 3] * len(WORDS)], numbers=drawn.units.tolist()) + "\n"
    assert "B-" not in content
    assert drawn.files["design"].endswith("s.design.json")
    design = pv.read_design(tmp_path / "s.design.json")
    assert [own.path for own in design.outputs] == ["old.conll", "new.conll"]
    assert unanswered(tmp_path / "s.conll", design.written) == 90


def test_what_annotators_fill_in_is_read_back(files, tmp_path, write):
    drawn = pv.sample(files[0], *files, size=30, to=tmp_path / "s.conll")
    path = annotated(drawn, write)
    assert unanswered(path, drawn.design.written) == 0
    assert pv.score(path, path).systems[0].counts.fp == 0
    with pytest.raises(InputError):  # a blank is no tag
        pv.score(tmp_path / "s.conll", path, task="entities")


def test_add_writes_only_what_is_new(files, tmp_path, write):
    first = pv.sample(files[0], *files, size=30, to=tmp_path / "s.conll")
    more = pv.sample(
        tmp_path / "s.design.json",
        add=20,
        pilot=annotated(first, write),
        to=tmp_path / "more.conll",
    )
    content = (tmp_path / "more.conll").read_text()
    assert content == conll([[["_"] * 3] * len(WORDS)], numbers=more.units.tolist()) + "\n"
    assert not set(more.units.tolist()) & set(first.units.tolist())
    assert pv.read_design(tmp_path / "s.design.json").to_dict() == more.design.to_dict()
    assert more.design.basis == "pilot"
    assert "more units" not in str(more)
    assert str(more).startswith("20 more sentences, 50 in all, of 120 chosen for the difference")


def test_two_that_add_at_once_lose_nothing(files, tmp_path, monkeypatch):
    """The second one begins after the first has read the design, before it has written it."""
    pv.sample(files[0], *files, size=30, to=tmp_path / "s.conll")
    design = tmp_path / "s.design.json"
    look = extending.Expected

    def add(number):
        pv.sample(design, add=10, to=tmp_path / f"more{number}.conll")

    other = threading.Thread(target=add, args=(2,))

    def look_while_the_other_begins(*args):
        if other.ident is None:
            other.start()
            other.join(1.0)
        return look(*args)

    monkeypatch.setattr(extending, "Expected", look_while_the_other_begins)
    add(1)
    other.join()
    assert [sum(batch) for batch in pv.read_design(design).batches] == [30, 10, 10]
    rows = [set((tmp_path / f"more{k}.conll").read_text().split()) for k in (1, 2)]
    assert rows[0] & rows[1] == {"_", "."}
    assert not list(tmp_path.glob(".*"))


def test_what_a_pilot_showed_is_kept(files, tmp_path, write):
    first = pv.sample(files[0], *files, size=30, to=tmp_path / "s.conll")
    design = tmp_path / "s.design.json"
    second = pv.sample(design, add=10, pilot=annotated(first, write), to=tmp_path / "2.conll")
    third = pv.sample(design, add=10, to=tmp_path / "3.conll")
    assert [own.spread for own in third.strata] == [own.spread for own in second.strata]


def test_a_pool_of_tokens_alone(files, tmp_path, write):
    tokens = write("\n\n".join("\n".join(words) for words in WORDS) + "\n", "tokens.txt")
    drawn = pv.sample(tokens, *files, size=30, to=tmp_path / "s.conll")
    assert (tmp_path / "s.conll").read_text().split() == [
        part for i in drawn.units for word in WORDS[i] for part in (word, "_")
    ]


def test_other_columns_are_written_if_asked_for_and_no_tags(write, tmp_path):
    pos = [["NN", "VB", "."] for _ in WORDS]
    a = write(conll([pos, OLD]), "a.conll")
    b = write(conll([pos, NEW]), "b.conll")
    pv.sample(a, a, b, size=5, to=tmp_path / "s.conll")
    assert "NN" not in (tmp_path / "s.conll").read_text()
    pv.sample(a, a, b, size=5, keep=["2"], to=tmp_path / "kept.conll")
    first = (tmp_path / "kept.conll").read_text().splitlines()[0]
    assert first.split("\t")[1:] == ["NN", "_"]
    with pytest.raises(InputError, match="column 3 holds tags, which annotators must not"):
        pv.sample(a, a, b, size=5, keep=[3], to=tmp_path / "x.conll")
    with pytest.raises(InputError, match="there is no column 4; expected 1 to 3"):
        pv.sample(a, a, b, size=5, keep=[4], to=tmp_path / "x.conll")


def test_documents_are_told_again(write, tmp_path):
    text = "".join(
        f"-DOCSTART- -X- O\n\nAda{d} NN {{}}\nran VB O\n\nso RB O\n\n" for d in range(12)
    )
    a = write(text.format(*["B-PER"] * 12), "a.conll")
    b = write(text.format(*["O", "B-PER"] * 6), "b.conll")
    drawn = pv.sample(a, a, b, size=4, by="document", to=tmp_path / "s.conll")
    blocks = (tmp_path / "s.conll").read_text().split("-DOCSTART- _\n\n")[1:]
    assert blocks == [f"Ada{d} _\nran _\n\nso _\n\n" for d in drawn.units]


def test_numbered_tokens_keep_their_numbers_and_what_tells_the_sentence(write, tmp_path):
    def make(tag):
        return "".join(
            f"# newdoc id = d{i // 2}\n" * (i % 2 == 0)
            + f"# sent_id = s{i}\n# text = Ada ran\n# predicted = PER\n"
            + f"1\tAda\t{tag if i % 3 else 'O'}\t-\n2\tran\tO\t-\n\n"
            for i in range(20)
        )

    a, b = write(make("B-PER"), "a.iob2"), write(make("O"), "b.iob2")
    drawn = pv.sample(a, a, b, size=5, to=tmp_path / "s.iob2")
    content = (tmp_path / "s.iob2").read_text()
    assert "PER" not in content
    assert [f"s{i}" for i in drawn.units] == [
        line[len("# sent_id = ") :] for line in content.splitlines() if "sent_id" in line
    ]
    documents = [line for line in content.splitlines() if line.startswith("# newdoc")]
    assert documents == [f"# newdoc id = d{d}" for d in dict.fromkeys(i // 2 for i in drawn.units)]
    assert "1\tAda\t_\n2\tran\t_\n" in content


@pytest.mark.parametrize("ending", [".csv", ".tsv", ".jsonl", ".json"])
def test_tables_are_written_as_tables(write, tmp_path, ending):
    def table(labels):
        rows = [
            {"id": f"r{i}", "text": f'he said "{i}", so', "pred": label, "label_id": label}
            for i, label in enumerate(labels)
        ]
        if ending == ".jsonl":
            return "\n".join(map(json.dumps, rows)) + "\n"
        if ending == ".json":
            return json.dumps(rows)
        import csv
        import io

        text = io.StringIO()
        how = {"delimiter": "\t", "quoting": csv.QUOTE_NONE, "quotechar": None}
        writer = csv.writer(text, lineterminator="\n", **(how if ending == ".tsv" else {}))
        writer.writerow(rows[0])
        writer.writerows(row.values() for row in rows)
        return text.getvalue()

    a = write(table(["spam", "ham"] * 20), f"a{ending}")
    b = write(table(["ham", "ham", "spam", "ham"] * 10), f"b{ending}")
    sample = tmp_path / f"s{ending}"
    drawn = pv.sample(a, a, b, size=10, positive="spam", to=sample)
    content = sample.read_text()
    assert "spam" not in content
    assert "ham" not in content
    assert unanswered(sample, drawn.design.written) == 10
    # filled in, it is read as any table of labels
    blank = {"csv": ",\n", "tsv": "\t\n", "jsonl": "null}", "json": "null}"}[ending[1:]]
    full = {"csv": ",yes\n", "tsv": "\tyes\n", "jsonl": '"yes"}', "json": '"yes"}'}[ending[1:]]
    path = write(content.replace(blank, full), f"full{ending}")
    assert unanswered(path, drawn.design.written) == 0
    from probative.reading.formats import Options
    from probative.reading.inputs import annotations_of

    side = annotations_of(path, "", Options(task="labels", column="label"))
    assert [side.aligned.names[c] for c in side.aligned.codes] == [f"r{i}" for i in drawn.units]
    assert side.names == ("yes",)
    assert side.texts()[0] == f'he said "{drawn.units[0]}", so'


def test_systems_may_be_columns_of_the_pool(write, tmp_path):
    rows = "".join(f"{i},text {i},{int(i % 3 == 0)},{int(i % 4 == 0)}\n" for i in range(60))
    table = write("id,text,old,new\n" + rows, "pool.csv")
    judge = write(
        "id,label\n" + "".join(f"{i},{int(i % 5 == 0)}\n" for i in range(60)), "judge.csv"
    )
    same = {"size": 20, "columns": ["old", "new"]}
    drawn = pv.sample(table, **same, to=tmp_path / "one.csv")
    assert drawn.design.systems == ("old", "new")
    assert (tmp_path / "one.csv").read_text().startswith("id,text,label\n")
    for again in (pv.sample(table, table, **same), pv.sample(table, table, table, **same)):
        assert again.units.tolist() == drawn.units.tolist()
    # one column is one system; a judge has a column of its own
    assert pv.sample(table, size=20, columns=["new"]).design.goal == "score"
    judged = pv.sample(table, table, table, judge=judge, **same)
    assert "judge.csv: csv table, labels in column 'label'" in " ".join(judged.notes)
    with pytest.raises(InputError, match="columns: old, new, id for 2 outputs; expected one for"):
        pv.sample(table, table, table, size=20, columns=["old", "new", "id"])
    with pytest.raises(InputError, match="columns: old, new for 3 outputs; expected one for"):
        pv.sample(table, table, table, table, **same)


def test_columns_that_may_be_answers_are_left_out_or_refused(write, tmp_path):
    head = "tweet,pred,model_score\n"
    a = write(head + "hello,1,0.3\nbye,0,0.2\n" * 10, "a.csv")
    with pytest.raises(InputError, match=r"among tweet, pred.*expected keep= with the columns"):
        pv.sample(a, a, size=4, to=tmp_path / "s.csv")
    pv.sample(a, a, size=4, keep=["tweet"], to=tmp_path / "s.csv")
    assert (tmp_path / "s.csv").read_text().splitlines()[0] == "tweet,label"
    with pytest.raises(InputError, match="column 'pred' holds labels"):
        pv.sample(a, a, size=4, keep=["pred"], to=tmp_path / "x.csv")
    with pytest.raises(InputError, match="there is no column 'twit'"):
        pv.sample(a, a, size=4, keep=["twit"], to=tmp_path / "x.csv")


def test_tags_that_stand_before_the_tokens_are_not_written(write, tmp_path):
    text = "B-PER\tAda\nO\tran\n\nO\tso\n\n" * 10
    a = write(text, "a.conll")
    with pytest.raises(InputError, match="column 1 holds tags; expected the tokens first"):
        pv.sample(a, a, size=4, tag_column=1, to=tmp_path / "s.conll")
    assert not (tmp_path / "s.conll").exists()


def test_objects_under_harmless_names_are_not_written(write, tmp_path):
    rows = [
        {"id": i, "text": f"t {i}", "document": {"gold": "SECRET"}, "label": "ab"[i % 2]}
        for i in range(20)
    ]
    a = write("\n".join(map(json.dumps, rows)), "a.jsonl")
    pv.sample(a, a, size=4, to=tmp_path / "s.jsonl")
    assert "SECRET" not in (tmp_path / "s.jsonl").read_text()
    spans = [{**row, "label": None, "spans": [[0, 1, "X"]]} for row in rows]
    b = write("\n".join(map(json.dumps, spans)), "b.jsonl")
    pv.sample(b, b, size=4, to=tmp_path / "t.jsonl")
    assert "SECRET" not in (tmp_path / "t.jsonl").read_text()


def test_a_sample_has_the_encoding_of_the_outputs(write, tmp_path):
    a = write(conll([OLD]).replace("w", "é").encode("latin-1"), "a.conll")
    b = write(conll([NEW]).replace("w", "é").encode("latin-1"), "b.conll")
    pv.sample(a, a, b, size=9, encoding="latin-1", to=tmp_path / "s.conll")
    assert "é" in (tmp_path / "s.conll").read_text(encoding="latin-1")
    more = pv.sample(tmp_path / "s.design.json", add=3, to=tmp_path / "m.conll")
    assert more.labelled == 12


def test_labels_one_per_line_need_texts(write, tmp_path):
    a, b = write("spam\nham\n" * 20, "a.txt"), write("ham\n" * 40, "b.txt")
    with pytest.raises(InputError, match="holds labels and no texts; expected the texts"):
        pv.sample(a, a, b, size=10, to=tmp_path / "s.tsv")
    texts = write("".join(f"text {i}, here\n" for i in range(40)), "texts.txt")
    drawn = pv.sample(texts, a, b, size=10, to=tmp_path / "s.tsv")
    rows = [line.split("\t") for line in (tmp_path / "s.tsv").read_text().splitlines()]
    assert rows[0] == ["id", "text", "label"]
    assert rows[1:] == [[str(i + 1), f"text {i}, here", ""] for i in drawn.units]
    short = write("one\ntwo\n", "short.txt")
    with pytest.raises(InputError, match="2 rows, but the outputs have 40; expected the same"):
        pv.sample(short, a, b, size=10, to=tmp_path / "x.tsv")


def test_spans_of_json_lines(write, tmp_path):
    def lines(label):
        return "".join(
            json.dumps(
                {
                    "id": i,
                    "text": f"Ada {i}",
                    "spans": [[0, 3, label]] if i % 2 else [],
                    "meta": {"score": label},
                }
            )
            + "\n"
            for i in range(30)
        )

    a, b = write(lines("PER"), "a.jsonl"), write(lines("LOC"), "b.jsonl")
    drawn = pv.sample(a, a, b, size=8, to=tmp_path / "s.jsonl")
    records = [json.loads(line) for line in (tmp_path / "s.jsonl").read_text().splitlines()]
    assert records == [{"id": int(i), "text": f"Ada {i}", "spans": None} for i in drawn.units]
    assert unanswered(tmp_path / "s.jsonl", drawn.design.written) == 8


def test_rows_of_tokens(write, tmp_path):
    def lines(tag):
        return "".join(
            json.dumps(
                {"id": str(i), "tokens": ["Ada", "ran"], "ner_tags": [tag if i % 2 else "O", "O"]}
            )
            + "\n"
            for i in range(30)
        )

    a, b = write(lines("B-PER"), "a.jsonl"), write(lines("O"), "b.jsonl")
    drawn = pv.sample(a, a, b, size=8, to=tmp_path / "s.jsonl")
    records = [json.loads(line) for line in (tmp_path / "s.jsonl").read_text().splitlines()]
    assert records[0] == {"id": str(drawn.units[0]), "tokens": ["Ada", "ran"], "ner_tags": None}
    assert drawn.design.written["format"] == "rows"


def test_tokens_in_a_table(write, tmp_path):
    def table(tag):
        rows = [
            f"{s},{word},{tag if word == 'Ada' and s % 2 else 'O'}\n"
            for s in range(20)
            for word in ("Ada", "ran")
        ]
        return "sentence_id,token,tag\n" + "".join(rows)

    a, b = write(table("B-PER"), "a.csv"), write(table("B-LOC"), "b.csv")
    drawn = pv.sample(a, a, b, size=4, to=tmp_path / "s.csv")
    wanted = [f"{s},{word}," for s in drawn.units for word in ("Ada", "ran")]
    assert (tmp_path / "s.csv").read_text().splitlines() == ["sentence_id,token,tag", *wanted]


def test_what_no_sample_is_written_as(tmp_path):
    folder = tmp_path / "brat"
    folder.mkdir()
    for i in range(6):
        (folder / f"{i}.txt").write_text("Ada ran")
        (folder / f"{i}.ann").write_text("T1\tPER 0 3\tAda\n")
    with pytest.raises(
        InputError, match="is a folder of brat, but samples are not written as that"
    ):
        pv.sample(folder, folder, size=3, to=tmp_path / "s.conll")


def test_other_text_is_refused(files, tmp_path, write):
    other = write(conll([OLD]).replace("w7\t", "w8\t", 1), "other.conll")
    with pytest.raises(InputError, match="gold has 'w"):
        pv.sample(other, *files, size=10, to=tmp_path / "s.conll")
    with pytest.raises(InputError, match="gold has 'w"):
        pv.sample(files[0], files[0], other, size=10, to=tmp_path / "s.conll")
    fewer = write(conll([OLD], numbers=range(50)), "fewer.conll")
    with pytest.raises(InputError, match="50 sentences, but"):
        pv.sample(fewer, *files, size=10, to=tmp_path / "s.conll")
    assert not (tmp_path / "s.conll").exists()


@pytest.mark.parametrize(
    ("how", "words"),
    [
        ({"size": 121}, "size: 121, but the pool has 120 sentences; expected at most that"),
        ({"size": 1}, "size: 1 is not a whole number >= 2"),
        ({}, "size: missing; expected how many units to annotate"),
        ({"size": 9, "goal": "fame"}, "goal: unknown 'fame'; expected one of score, difference"),
        ({"size": 9, "rng": -1}, "rng: -1 is not a whole number >= 0"),
        ({"size": 9, "level": 1}, "level: 1 is not between 0 and 1"),
        ({"size": 9, "threshold": 0.5}, "threshold: probabilities are no outputs"),
        ({"size": 9, "sise": 9}, "sise: there is no such option"),
        ({"size": 9, "scores": 2}, "scores: there are no columns; expected a number per item"),
        ({"size": 9, "scores": [0.5]}, "scores: 1 numbers; expected one per token or item"),
        (
            {"size": 9, "scores": [2.0] * 120},
            "scores: item 1 is 2.0; expected a number from 0 to 1",
        ),
        ({"size": 9, "to": "x"}, "to: the pool came from Python"),
        ({"size": 9, "keep": ["x"]}, "keep: the pool came from Python"),
        ({"size": 9, "pilot": ([0, 500], GOLD[:2])}, "pilot: a unit is not in the pool"),
        ({"size": 9, "pilot": ([0, 0], GOLD[:2])}, "pilot: expected numbers of different"),
        ({"size": 9, "pilot": GOLD[:3]}, "pilot: its units are unknown"),
    ],
)
def test_one_line_tells_what_is_wrong(how, words):
    with pytest.raises(InputError) as caught:
        pv.sample(None, OLD, NEW, **how)
    assert words in str(caught.value)


def test_one_system_has_no_difference():
    with pytest.raises(InputError, match="goal: one system has no difference"):
        pv.sample(None, OLD, size=9, goal="difference")


def test_designs_are_not_drawn_anew():
    drawn = pv.sample(None, OLD, NEW, size=30)
    with pytest.raises(InputError, match="add: missing; expected how many units to add"):
        pv.sample(drawn.design, OLD, NEW)
    with pytest.raises(InputError, match="systems: 'system 1' came from Python; expected it again"):
        pv.sample(drawn.design, add=10)
    with pytest.raises(InputError, match="'system 1' was changed after the sample was drawn"):
        pv.sample(drawn.design, NEW, NEW, add=10)
    with pytest.raises(InputError, match="size: the design determines it"):
        pv.sample(drawn.design, OLD, NEW, add=10, size=5)
    with pytest.raises(InputError, match="add: 91; expected at most 90, the sentences"):
        pv.sample(drawn.design, OLD, NEW, add=91)


def test_a_changed_output_or_pool_is_refused_and_nothing_is_lost(files, tmp_path, write):
    tokens = write("\n\n".join("\n".join(words) for words in WORDS) + "\n", "tokens.txt")
    pv.sample(tokens, *files, size=30, to=tmp_path / "s.conll")
    design = (tmp_path / "s.design.json").read_bytes()
    was = files[1].read_text()
    files[1].write_text(was.replace("B-PER", "B-LOC", 1))
    with pytest.raises(InputError, match=r"new\.conll: 'new' was changed"):
        pv.sample(tmp_path / "s.design.json", add=5, to=tmp_path / "more.conll")
    files[1].write_text(was)
    tokens.write_text(tokens.read_text() + "\n")
    with pytest.raises(InputError, match=r"tokens\.txt: was changed after the sample was"):
        pv.sample(tmp_path / "s.design.json", add=5, to=tmp_path / "more.conll")
    assert not (tmp_path / "more.conll").exists()
    assert (tmp_path / "s.design.json").read_bytes() == design


def test_outputs_may_have_moved(files, tmp_path):
    pv.sample(files[0], *files, size=30, to=tmp_path / "s.conll")
    moved = files[1].rename(tmp_path / "elsewhere.conll")
    more = pv.sample(tmp_path / "s.design.json", files[0], moved, add=5, to=tmp_path / "more.conll")
    assert more.labelled == 35


def test_what_is_there_is_not_written_over(files, tmp_path):
    target = tmp_path / "s.conll"
    target.write_text("annotated")
    with pytest.raises(InputError, match="exists already, and may be annotated"):
        pv.sample(files[0], *files, size=10, to=target)
    assert target.read_text() == "annotated"
    (tmp_path / "t.design.json").write_text("{}")
    with pytest.raises(InputError, match=r"t\.design\.json: exists already"):
        pv.sample(files[0], *files, size=10, to=tmp_path / "t.conll")
    assert not (tmp_path / "t.conll").exists()


def test_without_its_design_no_sample_is_left(files, tmp_path, monkeypatch):
    def full(*_):
        raise InputError("cannot be written: the disk is full", "s.design.json")

    monkeypatch.setattr("probative.surveys.sampling.as_text", full)
    with pytest.raises(InputError, match="the disk is full"):
        pv.sample(files[0], *files, size=10, to=tmp_path / "s.conll")
    assert not list(tmp_path.glob("s.*"))


def test_pilot_units_that_are_elsewhere(files, tmp_path, write):
    strange = write("Ada B-PER\nran O\n", "strange.conll")
    with pytest.raises(InputError, match="pilot: none of its 1 units is in the pool as a whole"):
        pv.sample(files[0], *files, size=10, pilot=strange, to=tmp_path / "s.conll")
    some = write(conll([GOLD], numbers=range(20)) + "\nAda\tB-PER\n", "some.conll")
    drawn = pv.sample(files[0], *files, size=10, pilot=some, to=tmp_path / "s.conll")
    assert "pilot: 1 of its 21 units are not in the pool as a whole and are left out" in drawn.notes


def test_half_a_document_is_no_pilot(write):
    text = "".join(f"-DOCSTART- O\n\nAda{d} {{}}\nran O\n\nso{d} O\n\n" for d in range(20))
    a = write(text.format(*["B-PER"] * 20), "a.conll")
    b = write(text.format(*["O", "B-PER"] * 10), "b.conll")
    half = write("".join(f"Ada{d} B-PER\nran O\n\n" for d in range(20)), "half.conll")
    with pytest.raises(InputError, match="none of its 20 units is in the pool as a whole"):
        pv.sample(None, a, b, size=8, by="document", pilot=half)
    some = write("".join(f"Ada{d} B-PER\nran O\n\nso{d} O\n\n" for d in range(9)), "some.conll")
    drawn = pv.sample(None, a, b, size=8, by="document", pilot=some)
    assert drawn.design.basis == "pilot"


def test_all_of_a_pool():
    drawn = pv.sample(None, OLD, NEW, size=120)
    assert drawn.units.tolist() == list(range(120))
    assert drawn.width == 0
    assert {own.why for own in drawn.strata} == {"all"}
    assert "all of them, so there is no sampling error" in str(drawn)


def test_the_smallest_pools():
    drawn = pv.sample(None, ["1", "0"], ["0", "0"], size=2)
    assert [own.size for own in drawn.strata] == [2]
    nothing = pv.sample(None, [["O"]] * 9, [["O"]] * 9, size=3)
    assert nothing.labelled == 3
    same = pv.sample(None, OLD, OLD, size=9)
    assert "the outputs do not differ, so every unit is equally useful" in str(same)


def test_no_note_takes_the_first_output_for_gold():
    old, new = [["B-PER", "O"]] * 40, [["B-PER", "B-ORG"]] * 40
    assert any("gold does not have: 'ORG'" in note for note in pv.score(old, new).notes)
    drawn = pv.sample(None, old, new, size=10)
    assert not any("gold" in note for note in drawn.notes)


def test_sets_of_labels_are_no_single_items():
    a = [{"x"}, {"x", "y"}, set(), {"z"}] * 20
    b = [{"x"}, {"x"}, set(), {"y", "x"}] * 20
    drawn = pv.sample(None, a, b, size=50)
    assert [(own.name, own.size) for own in drawn.strata] == [
        ("nothing returned", 20),
        ("agreed items only", 20),
        ("1 item in dispute", 20),
        ("3 or more items in dispute", 20),
    ]


@settings(max_examples=15)
@given(st.permutations(range(len(WORDS))))
def test_the_order_of_the_pool_changes_no_number(order):
    """Other units are drawn, as many of each kind; and they come in the order of the pool."""
    usual = pv.sample(None, OLD, NEW, size=30)
    moved = pv.sample(None, [OLD[i] for i in order], [NEW[i] for i in order], size=30)
    assert [(own.name, own.size, own.drawn) for own in moved.strata] == [
        (own.name, own.size, own.drawn) for own in usual.strata
    ]
    assert moved.worth == pytest.approx(usual.worth)
    assert (np.diff(moved.units) > 0).all()


def test_a_pool_in_another_order_than_the_outputs_is_refused(files, tmp_path, write):
    turned = write(conll([OLD], numbers=range(len(WORDS) - 1, -1, -1)), "turned.conll")
    with pytest.raises(InputError, match="gold has 'w"):
        pv.sample(turned, *files, size=10, to=tmp_path / "s.conll")
    rows = [f"{i},t {i},{'ab'[i % 2]}\n" for i in range(30)]
    a = write("id,text,label\n" + "".join(rows), "a.csv")
    b = write("id,text,label\n" + "".join(rows[::-1]), "b.csv")
    with pytest.raises(InputError, match="row 1 has id '29', but '0' in the outputs"):
        pv.sample(b, a, size=10, to=tmp_path / "s.csv")


def test_one_of_a_kind_is_told_in_the_singular():
    rows = [["B-PER", "O"], ["O", "O"], ["O", "B-LOC"]] * 10
    systems = {"a": rows, "b": [["O", "O"]] * 30}
    drawn = pv.sample(None, systems, size=20)
    more = pv.sample(drawn.design, *systems.values(), add=1)
    assert str(more).startswith("1 more sentence, 21 in all,")
    with pytest.raises(InputError, match="the pool has 1 sentence; expected"):
        pv.sample(None, [["B-PER", "O"]], size=2)
