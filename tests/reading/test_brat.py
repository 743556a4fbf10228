"""Folders of brat."""

from __future__ import annotations

import pytest

import probative as pv
from probative.errors import InputError
from probative.reading.formats import Options, read
from probative.reading.source import is_brat_folder

TEXT = "Low and High Haven wait.\nAda Quill sails.\n"
ANN = (
    "T1\tLOC 0 3;13 18\tLow Haven\n"
    "T2\tLOC 8 18\tHigh Haven\n"
    "T3\tPER 25 34\tAda Quill\n"
    "T4\tFIRST 25 28\tAda\n"
    "R1\tNear Arg1:T1 Arg2:T2\n"
    "#1\tAnnotatorNotes T1\tsure\n"
)


def read_brat(path):
    return read(path, Options(input_format="brat"))


@pytest.fixture
def folder(tmp_path):
    def make(name, documents):
        place = tmp_path / name
        place.mkdir()
        for file, content in documents.items():
            (place / file).write_text(content)
        return place

    return make


def test_entities_by_their_characters(folder):
    spans = read_brat(folder("gold", {"a.txt": TEXT, "a.ann": ANN}))
    assert spans.of(0) == [
        (0, 18, "LOC"), (8, 18, "LOC"), (25, 28, "FIRST"), (25, 34, "PER")
    ]  # fmt: skip
    assert spans.notes[1].endswith("1 entities of several pieces, compared piece by piece")
    assert spans.notes[2].endswith("2 relations, events, attributes and notes passed over")


def test_pieces_and_nesting_are_compared_as_sets(folder):
    gold = folder("gold", {"a.txt": TEXT, "a.ann": ANN, "b.txt": "Nothing.\n", "b.ann": ""})
    # the same extent in one piece is another entity; order and ids do not matter
    pred = folder(
        "pred",
        {
            "a.ann": "T9\tFIRST 25 28\tAda\nT1\tLOC 0 18\tLow and High Haven\n"
            "T2\tLOC 13 18;8 12\tHigh Haven\nT3\tPER 25 34\tAda Quill\n",
            "b.ann": "T1\tLOC 0 7\tNothing\n",
        },
    )
    scores = pv.score(gold, pred)
    assert scores[0].counts == pv.Counts(2, 3, 2)
    assert (scores.units, scores.unit, scores.by) == (2, "document", "document")
    assert pv.compare(gold, pred, gold).comparisons[0].by == "document"
    assert pv.rank(gold, pred, gold).units == 2
    assert pv.score(gold, pred, by="item")[0].counts == scores[0].counts


def test_missing_annotations_are_counted(folder):
    documents = {f"{c}.txt": "x\n" for c in "abcde"} | {"a.ann": ""}
    place = folder("gold", documents)
    with pytest.raises(InputError, match=r"4 of 5 documents have no \.ann \('b', 'c', 'd', …\)"):
        read_brat(place)


def test_documents_of_one_side_only_are_counted(folder):
    gold = folder("gold", {f"{c}.{e}": "" for c in "abcde" for e in ("txt", "ann")})
    pred = folder("pred", {"a.ann": "", "f.ann": ""})
    with pytest.raises(InputError) as error:
        pv.score(gold, pred)
    assert str(error.value).endswith(
        "4 of the 5 documents of "
        f"{gold} are missing ('b', 'c', 'd', …) and 1 of its 2 are not in {gold} ('f'); expected "
        "the same documents"
    )


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("T1 LOC 0 3 Low", r"expected an entity such as"),
        ("T1\tLOC 3 3\t", r"expected an entity such as"),
        ("T1\tLOC 0 3;2 5\tLow", r"expected an entity such as"),
        ("T1\tLOC 0 9999\tLow", r"ends at 9999, but the text has 42 characters"),
        ("T1\tLOC 0 3\tHigh", r"is 'High', but the text has 'Low' there"),
    ],
)
def test_bad_lines_are_named(folder, line, message):
    place = folder("gold", {"a.txt": TEXT, "a.ann": f"T8\tPER 25 34\tAda Quill\n{line}\n"})
    with pytest.raises(InputError, match=message) as error:
        read_brat(place)
    assert str(error.value).startswith(f"{place}/a.ann:2: ")


def test_other_folders_are_none(tmp_path):
    assert not is_brat_folder(tmp_path)
    assert not is_brat_folder(tmp_path / "nowhere")
    with pytest.raises(InputError, match=r"is a directory"):
        read_brat(tmp_path)
