"""Files of the HIPE shared tasks: the columns and comments are theirs, the words are ours."""

from __future__ import annotations

import pytest

import probative as pv
from probative.errors import InputError
from probative.reading.formats import Options, read

HEADER = (
    "TOKEN\tNE-COARSE-LIT\tNE-COARSE-METO\tNE-FINE-LIT\tNE-FINE-METO\tNE-FINE-COMP\tNE-NESTED\t"
    "NEL-LIT\tNEL-METO\tMISC\n"
)


def token(word, coarse="O", fine=None, misc="_"):
    return "\t".join([word, coarse, "O", fine or coarse, "O", "O", "O", "_", "_", misc]) + "\n"


GOLD = (
    HEADER
    + "# language = en\n# document_id = paper-1\n# segment_iiif_link = _\n"
    + token("Ada", "B-pers", "B-pers.ind")
    + token("Quill", "I-pers", "I-pers.ind")
    + token("sails", misc="NoSpaceAfter|EndOfSentence")
    + "# segment_iiif_link = _\n"
    + token("Low", "B-loc", "B-loc.adm.town")
    + token("Haven", "I-loc", "I-loc.adm.town", "EndOfLine")
    + "\n# language = en\n# document_id = paper-2\n"
    + token("Ben", "B-pers", "B-pers.ind")
    + token("#")
)


@pytest.fixture
def write(tmp_path):
    def make(name, content):
        path = tmp_path / name
        path.write_text(content)
        return path

    return make


def test_columns_by_name_and_documents(write):
    gold = write("gold.tsv", GOLD)
    system = write("system.tsv", GOLD.replace("Ben\tB-pers", "Ben\tB-loc"))
    result = pv.score(gold, system)
    assert result[0].counts == pv.Counts(2, 1, 1)
    assert result.units == 3
    assert pv.score(gold, system, by="document").units == 2
    fine = pv.score(gold, system, tag_column="NE-FINE-LIT")
    assert fine[0].counts == pv.Counts(3, 0, 0)
    assert {label.label for label in fine[0].by_label} == {"pers.ind", "loc.adm.town"}


def test_what_check_says(write):
    report = pv.check(write("gold.tsv", GOLD))
    assert report.facts["documents"] == 2
    assert report.input_format == "hipe"
    assert report.reason == "its first line names the columns TOKEN, NE-COARSE-LIT and others"
    assert report.facts["tokens"] == 7
    assert report.labels == {"loc": 1, "pers": 2}


def test_two_columns_of_one_file(write):
    result = pv.score(
        write("gold.tsv", GOLD), gold_column="NE-COARSE-LIT", columns=["NE-COARSE-METO"]
    )
    assert result[0].counts == pv.Counts(0, 0, 3)


@pytest.mark.parametrize(
    ("content", "column", "message"),
    [
        (GOLD, "NE-COARSE", "there is no column 'NE-COARSE'; expected one of NE-COARSE-LIT, NE-CO"),
        (GOLD, "NEL-LIT", "column 'NEL-LIT' is empty"),
        (GOLD + "\t".join("xOOOOOOOOOO") + "\n", None, "has 11 columns between TABs; expected 10"),
        (HEADER, None, "holds no tokens"),
    ],
)
def test_bad_files_are_named(write, content, column, message):
    path = write("gold.tsv", content)
    with pytest.raises(InputError) as error:
        pv.score(path, path, tag_column=column)
    assert message in str(error.value)


def test_comments_that_tabs_fill_up_are_no_tokens(write):
    padded = "".join(
        line + "\t" * 9 + "\n" if line.startswith("# ") else line + "\n"
        for line in GOLD.splitlines()
    )
    gold, system = write("gold.tsv", GOLD), write("system.tsv", padded)
    assert pv.check(system).facts["tokens"] == 7
    result = pv.score(gold, system, by="document")
    assert result[0].counts == pv.Counts(3, 0, 0)
    assert result.units == 2


def test_short_rows_lack_cells_and_are_counted(write):
    gold = write("gold.tsv", GOLD)
    short = GOLD.replace(token("Ben", "B-pers", "B-pers.ind"), "Ben\tB-pers\n")
    short = short.replace(token("#"), "#\n")
    system = write("system.tsv", short)
    result = pv.score(gold, system)
    assert result[0].counts == pv.Counts(3, 0, 0)
    assert (
        f"{system}: 2 rows lack cells, which are taken as _; the first is line 14" in result.notes
    )
    fine = pv.score(gold, system, tag_column="NE-FINE-LIT")
    assert fine[0].counts == pv.Counts(2, 0, 1)


def test_the_first_token_that_differs_is_shown_with_its_line(write):
    gold = write("gold.tsv", GOLD)
    system = write("system.tsv", GOLD.replace("Haven\t", "Heaven\t"))
    with pytest.raises(InputError) as error:
        pv.score(gold, system)
    assert str(error.value) == (
        f"{system}:10: token 'Heaven', gold has 'Haven' (align_by='position' ignores tokens)"
    )
    assert pv.score(gold, system, align_by="position")[0].counts == pv.Counts(3, 0, 0)
    longer = write("longer.tsv", GOLD.replace("Low\t", "the\tO\nLow\t"))
    with pytest.raises(InputError, match=r"longer.tsv:9: token 'the', gold has 'Low' "):
        pv.score(gold, longer)
    with pytest.raises(InputError, match=r"longer.tsv:9: sentence 2 has 3 tokens, but 2 at .*:9"):
        pv.score(gold, longer, align_by="position")


def test_a_name_means_nothing_without_a_header(write):
    path = write("gold.conll", "Ann B-PER\n\n")
    with pytest.raises(InputError, match="'NER' is the name of a column, but these have none"):
        pv.score(path, path, tag_column="NER")


@pytest.mark.parametrize("text", ["\x1c\n", "\u2003\n\x85\n"])
def test_blank_lines_alone_are_refused(tmp_path, text):
    file = tmp_path / "blank.tsv"
    file.write_text(text)
    with pytest.raises(InputError, match="nothing but blank lines"):
        read(file, Options(input_format="hipe"))
