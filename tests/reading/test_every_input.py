"""The table of inputs in docs/file-formats.md: every row, from a file and from Python."""

from __future__ import annotations

import json
from importlib.util import find_spec
from types import SimpleNamespace

import pandas as pd
import pytest
from conftest import ROOT
from recipes.sentences import GOLD, NAMES, PREDICTED, TEXTS, TOKENS, numbers, places, spans

import probative as pv
from probative.reading.formats import FORMATS

DATA = ROOT / "tests" / "data"
LOGS, STUDIO, DOCCANO = DATA / "logs", DATA / "label_studio", DATA / "doccano"
ENTITIES = pv.Counts(4, 1, 2)


def conll(tags):
    sentences = zip(TOKENS, tags, strict=True)
    return "\n".join("".join(f"{w} {t}\n" for w, t in zip(*s, strict=True)) for s in sentences)


def lines(records):
    return "".join(json.dumps(record) + "\n" for record in records)


def characters(tags, key, form):
    pairs = zip(TEXTS, tags, strict=True)
    return lines({"text": text, key: [form(*p) for p in places(own, text)]} for text, own in pairs)


def choice(*labels):
    return [{"text": "t", "options": [], "accept": [label], "answer": "accept"} for label in labels]


def hipe(tags):
    rows = ["TOKEN\tNE-COARSE-LIT\tMISC\n# document_id = a\n"]
    for words, own in zip(TOKENS, tags, strict=True):
        rows += [f"{w}\t{t}\t_\n" for w, t in zip(words, own, strict=True)]
        rows[-1] = rows[-1].replace("\t_", "\tEndOfSentence")
    return "".join(rows)


def table(tags):
    rows = ["Sentence #,Word,Tag\n"]
    for k, (words, own) in enumerate(zip(TOKENS, tags, strict=True), start=1):
        pairs = enumerate(zip(words, own, strict=True))
        rows += [f"{'' if i else f'Sentence: {k}'},{w},{t}\n" for i, (w, t) in pairs]
    return "".join(rows)


def docs(tags):
    class Doc(list):
        pass

    made = []
    for words, own in zip(TOKENS, tags, strict=True):
        doc = Doc(SimpleNamespace(text=word) for word in words)
        doc.ents = [SimpleNamespace(start=i, end=j, label_=c) for i, j, c in spans(own)]
        made.append(doc)
    return made


def rows(tags):
    return [{"tokens": w, "ner_tags": t} for w, t in zip(TOKENS, numbers(tags), strict=True)]


def both(make):
    return make(GOLD), make(PREDICTED)


# what the documentation calls an input: ending, gold and system, what comes of them, format
FILES = {
    "CoNLL columns": ("conll", both(conll), ENTITIES, "columns"),
    "segmented text": ("txt", ("a b\nc d e\n", "ab\nc d e\n"), pv.Counts(3, 1, 2), "segmented"),
    "labels": ("txt", ("yes\nno\nyes\n", "yes\nno\nno\n"), pv.Counts(1, 0, 1, 1), "labels"),
    "tags in a table": ("csv", both(table), ENTITIES, "table"),
    "spans, Prodigy": (
        "jsonl",
        (
            characters(GOLD, "label", lambda a, b, c: [a, b, c]),
            characters(PREDICTED, "spans", lambda a, b, c: {"start": a, "end": b, "label": c}),
        ),
        ENTITIES,
        "jsonl",
    ),
    "choices of Prodigy": (
        "jsonl",
        (lines(choice("yes", "no", "yes")), lines(choice("yes", "no", "no"))),
        pv.Counts(1, 0, 1, 1),
        "choices",
    ),
    "HIPE": ("tsv", both(hipe), ENTITIES, "hipe"),
}
# those that the tools themselves wrote
WRITTEN = {
    "Hugging Face rows": (DATA / "rows" / "gold.jsonl", DATA / "rows" / "system.jsonl", "rows"),
    "the same in Parquet": (
        DATA / "rows" / "gold.parquet", DATA / "rows" / "system.parquet", "rows"
    ),
    "Doccano": (DOCCANO / "entities_gold.jsonl", DOCCANO / "entities_system.jsonl", "jsonl"),
    "Doccano, with relations": (
        DOCCANO / "relations_gold.jsonl", DOCCANO / "relations_system.jsonl", "jsonl"
    ),
    "Label Studio": (STUDIO / "entities_gold.json", STUDIO / "entities_system.json", "labelstudio"),
    "Label Studio, JSON-MIN": (
        STUDIO / "entities_gold_min.json", STUDIO / "entities_system_min.json", "labelstudio"
    ),
    "Label Studio, CoNLL 2003": (
        STUDIO / "entities_gold.conll", STUDIO / "entities_system.conll", "columns"
    ),
    "lm-evaluation-harness": (
        LOGS / "samples_sums_old.jsonl", LOGS / "samples_sums_new.jsonl", "log"
    ),
    "Inspect": (LOGS / "inspect_old.eval", LOGS / "inspect_new.eval", "log"),
    "Inspect, JSON": (LOGS / "inspect_old.json", LOGS / "inspect_new.json", "log"),
    "promptfoo": (LOGS / "promptfoo_old.json", LOGS / "promptfoo_new.json", "log"),
    "promptfoo, lines": (LOGS / "promptfoo_old.jsonl", LOGS / "promptfoo_new.json", "log"),
    "DeepEval": (LOGS / "deepeval_old.json", LOGS / "deepeval_new.json", "log"),
}  # fmt: skip
# of four topics three are found, and one is made up
TOPICS = {
    "Doccano, labels": (DOCCANO / "topics_gold.jsonl", "table"),
    "Doccano, labels in JSON": (DOCCANO / "topics_gold.json", "table"),
    "Label Studio, choices": (STUDIO / "topics_gold.json", "labelstudio"),
    "Label Studio, choices in JSON-MIN": (STUDIO / "topics_gold_min.json", "labelstudio"),
}
PYTHON = {
    "CoNLL columns": (GOLD, PREDICTED),
    "segmented text": ([["a", "b"], ["c", "d", "e"]], [["ab"], ["c", "d", "e"]]),
    "labels": (["yes", "no", "yes"], ["yes", "no", "no"]),
    "spans, Prodigy": tuple([set(spans(t)) for t in tags] for tags in (GOLD, PREDICTED)),
    "Hugging Face rows": (rows(GOLD), rows(PREDICTED)),
    "spaCy": (docs(GOLD), docs(PREDICTED)),
}


def row_of(name):
    page = (ROOT / "docs" / "file-formats.md").read_text()
    found = [line for line in page.splitlines() if line.startswith(f"| {name} |")]
    assert len(found) == 1, f"{name}: {len(found)} rows"
    return found[0]


def check_row(name, path, form):
    report = pv.check(path)
    assert report.input_format == form
    assert report.problems == ()
    row = row_of(name)
    assert f"`{form}`" in row
    assert report.reason in row, report.reason


@pytest.mark.parametrize("name", FILES)
def test_files(name, tmp_path):
    ending, contents, counts, form = FILES[name]
    paths = [tmp_path / f"{side}.{ending}" for side in ("gold", "system")]
    for path, content in zip(paths, contents, strict=True):
        path.write_text(content)
    assert pv.score(*paths)[0].counts == counts
    check_row(name, paths[0], form)


@pytest.mark.parametrize("name", WRITTEN)
def test_files_of_the_tools_themselves(name):
    old, new, form = WRITTEN[name]
    if form == "log":
        result = pv.compare(old, new)
        assert result.comparisons[0].difference > 0
    else:
        assert pv.score(old, new)[0].counts == ENTITIES
    check_row(name, old, form)


@pytest.mark.parametrize("name", TOPICS)
def test_labels_of_the_tools_themselves(name):
    gold, form = TOPICS[name]
    system = gold.with_name(gold.name.replace("gold", "system"))
    assert pv.score(gold, system)[0].counts == pv.Counts(3, 1, 1)
    check_row(name, gold, form)


@pytest.mark.parametrize("name", PYTHON)
def test_python(name):
    row_of(name)
    gold, system = PYTHON[name]
    how = {"task": "segmentation"} if name == "segmented text" else {}
    how |= {"label_names": NAMES} if name == "Hugging Face rows" else {}
    expected = FILES[name][2] if name in FILES else ENTITIES
    assert pv.score(gold, system, **how)[0].counts == expected


def test_brat():
    folder = DATA / "brat"  # with an entity of two pieces, beside those of the others
    assert pv.score(folder / "gold", folder / "system")[0].counts == pv.Counts(5, 1, 2)
    check_row("brat", folder / "gold", "brat")


def test_conllu(tmp_path):
    path = tmp_path / "gold.conllu"
    path.write_text("".join(f"{i}\tx{i}" + "\t_" * 8 + "\n" for i in (1, 2)))
    assert pv.score(path, path)[0].counts == pv.Counts(2, 0, 0)
    check_row("CoNLL-U", path, "conllu")


def test_tables_and_frames(tmp_path):
    path = tmp_path / "mail.csv"
    path.write_text("gold,pred\nyes,yes\nno,no\nyes,no\n")
    assert pv.score(path)[0].counts == pv.Counts(1, 0, 1, 1)
    check_row("a table of labels", path, "table")
    frame = pd.read_csv(path)
    result = pv.score(frame, gold_column="gold", columns=["pred"])
    assert result[0].counts == pv.Counts(1, 0, 1, 1)


def test_spacy_files():
    report = pv.check(DATA / "docs" / "gold.spacy")
    assert report.reason in row_of("spaCy")
    if find_spec("spacy") is None:
        assert "which is not installed" in report.problems[0]
    else:
        assert report.labels == {"LOC": 3, "PER": 3}


def test_plain_logs(tmp_path):
    path = tmp_path / "run.jsonl"
    path.write_text('{"id": "a", "correct": true}\n')
    assert pv.score(path)[0].counts.tp == 1
    check_row("a log of your own", path, "log")


def test_every_format_has_a_row():
    page = (ROOT / "docs" / "file-formats.md").read_text()
    for name in FORMATS:
        assert f"| `{name}` |" in page
