"""Column files in all their shapes."""

from __future__ import annotations

import gzip
from itertools import pairwise

import pytest

import probative as pv
from probative.errors import InputError
from probative.matching.schemes import decode
from probative.reading.annotations import Labels, Segmented, Spans, Tagged
from probative.reading.formats import Options, read, read_pair


def tags_of(tagged: Tagged) -> list[list[str]]:
    first = tagged.text.first.tolist()
    return [
        [tagged.names[code] for code in tagged.tags[begin:end]] for begin, end in pairwise(first)
    ]


def words_of(tagged: Tagged) -> list[list[str]]:
    return [list(tagged.text.words(i)) for i in range(tagged.text.n_sentences)]


EXPECTED_TAGS = [["B-PER", "O"], ["B-LOC", "I-LOC"]]
EXPECTED_WORDS = [["Ann", "sleeps"], ["New", "York"]]
SHAPES = {
    "tab": "Ann\tB-PER\nsleeps\tO\n\nNew\tB-LOC\nYork\tI-LOC\n",
    "spaces": "Ann  B-PER\nsleeps O\n\n\nNew B-LOC\nYork   I-LOC  \n\n",
    "more columns": "Ann NN X B-PER\nsleeps VB X O\n\nNew NN X B-LOC\nYork NN X I-LOC\n",
    "crlf": "Ann\tB-PER\r\nsleeps\tO\r\n\r\nNew\tB-LOC\r\nYork\tI-LOC\r\n",
    "old mac": "Ann\tB-PER\rsleeps\tO\r\rNew\tB-LOC\rYork\tI-LOC\r",
    "no final line end": "Ann\tB-PER\nsleeps\tO\n\nNew\tB-LOC\nYork\tI-LOC",
    "lone TAB ends a sentence": "Ann\tB-PER\nsleeps\tO\n\t\nNew\tB-LOC\nYork\tI-LOC\n",
    "leading empty lines": "\n\nAnn\tB-PER\nsleeps\tO\n \nNew\tB-LOC\nYork\tI-LOC\n",
    "byte-order mark": "\ufeffAnn\tB-PER\nsleeps\tO\n\nNew\tB-LOC\nYork\tI-LOC\n",
    "tags in the middle": (
        "1\tAnn\tB-PER\t-\tx\n2\tsleeps\tO\t-\tx\n\n1\tNew\tB-LOC\t-\tx\n2\tYork\tI-LOC\t-\tx\n"
    ),
    "comments": (
        "# sent_id = 1\n# text = Ann sleeps\n1\tAnn\tB-PER\n2\tsleeps\tO\n\n"
        "# sent_id = 2\n1\tNew\tB-LOC\n2\tYork\tI-LOC\n"
    ),
    "documents": (
        "-DOCSTART- -X- O\n\nAnn NN B-PER\nsleeps VB O\n\n-DOCSTART- -X- O\n\n"
        "New NN B-LOC\nYork NN I-LOC\n"
    ),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_every_shape_tells_the_same(write, shape):
    tagged = read(write(SHAPES[shape]))
    assert isinstance(tagged, Tagged)
    assert tags_of(tagged) == EXPECTED_TAGS
    assert words_of(tagged) == EXPECTED_WORDS


def test_gzip_is_unpacked_whatever_the_name(write):
    path = write(gzip.compress(SHAPES["tab"].encode()), "file.txt")
    assert tags_of(read(path)) == EXPECTED_TAGS


@pytest.mark.parametrize("encoding", ["gb18030", "utf-16", "big5", "latin-1"])
def test_other_encodings(write, encoding):
    word = "Zoë" if encoding == "latin-1" else "北京"
    path = write(f"{word}\tB-LOC\n\n".encode(encoding))
    tagged = read(path, Options(encoding=encoding))
    assert words_of(tagged) == [[word]]


def test_utf_16_is_known_by_its_mark(write):
    assert words_of(read(write("北京\tB-LOC\n".encode("utf-16")))) == [["北京"]]


def test_standard_input(write, monkeypatch):
    with write(SHAPES["tab"]).open() as file:
        monkeypatch.setattr("sys.stdin", file)
        assert tags_of(read("-")) == EXPECTED_TAGS


def test_a_hash_is_a_token_unless_tokens_are_numbered(write):
    content = "# O\nhash O\n\n#tag B-X\n"
    assert words_of(read(write(content))) == [["#", "hash"], ["#tag"]]
    assert words_of(read(write(content), Options(comments=True, task="entities"))) == [["hash"]]


def test_lines_of_spaces_may_come_first(write):
    """So many that the beginning by which a format is recognised holds nothing else."""
    path = write(" \n" * 100_000 + SHAPES["tab"])
    assert tags_of(read(path, Options())) == EXPECTED_TAGS


def test_documents_are_numbered(write):
    text = read(write(SHAPES["documents"])).text
    assert text.document.tolist() == [0, 1]
    assert text.document_lines == 2
    newdoc = "# newdoc id = a\n1\tx\tO\n\n1\ty\tO\n\n# newdoc id = b\n1\tz\tB-X\n"
    assert read(write(newdoc)).text.document.tolist() == [0, 0, 1]
    assert read(write(SHAPES["tab"])).text.document is None


def test_multiword_ranges_and_empty_nodes_are_no_tokens(write):
    content = "1-2\tzum\tO\n1\tzu\tO\n2\tdem\tO\n2.1\tleer\tO\n3\tHaus\tB-X\n"
    assert words_of(read(write(content))) == [["zu", "dem", "Haus"]]
    surface = read(write(content), Options(task="segmentation"))
    assert isinstance(surface, Segmented)
    assert surface.words(0) == ["zum", "Haus"]


def test_conllu_is_read_for_its_words(write):
    row = "\t_" * 8
    content = f"# text = zum Haus\n1-2\tzum{row}\n1\tzu{row}\n2\tdem{row}\n3\tHaus{row}\n\n"
    words = read(write(content))
    assert isinstance(words, Segmented)
    assert words.words(0) == ["zum", "Haus"]


def test_tokens_may_hold_spaces_between_tabs(write):
    assert words_of(read(write("10 000\tB-X\nmen\tO\n"))) == [["10 000", "men"]]


def test_sentences_can_be_written_back(write):
    content = "# sent_id = 1\n1\tAnn\tB-PER\n2\tsleeps\tO\n\n# sent_id = 2\n1\tNew\tB-LOC\n"
    text = read(write(content)).text
    assert text.raw(0) == b"# sent_id = 1\n1\tAnn\tB-PER\n2\tsleeps\tO"
    assert text.raw(1) == b"# sent_id = 2\n1\tNew\tB-LOC"


def test_gold_and_prediction_in_one_file(write):
    path = write("Ann NN B-PER B-LOC\nsleeps VB O O\n\nYork NN B-LOC B-LOC\n")
    gold, systems, names = read_pair(path)
    assert tags_of(gold) == [["B-PER", "O"], ["B-LOC"]]
    assert [tags_of(system) for system in systems] == [[["B-LOC", "O"], ["B-LOC"]]]
    assert names == ["file.conll"]
    assert gold.text is systems[0].text
    gold, systems, names = read_pair(path, gold=4, columns=[3, -1])
    assert tags_of(gold) == [["B-LOC", "O"], ["B-LOC"]]
    assert names == ["column 3", "column -1"]


def test_tag_column_by_number(write):
    path = write("Ann B-A B-PER\nYork B-B O\n")
    assert tags_of(read(path)) == [["B-PER", "O"]]
    assert tags_of(read(path, Options(tag_column=2))) == [["B-A", "B-B"]]
    assert tags_of(read(path, Options(tag_column=-2))) == [["B-A", "B-B"]]


def test_tags_without_tokens(write):
    tagged = read(write("B-PER\nO\n\nB-LOC\n"))
    assert tags_of(tagged) == [["B-PER", "O"], ["B-LOC"]]
    assert list(tagged.text.words(0)) == []


def test_any_column_as_labels_of_tokens(write):
    labels = read(
        write("Ann NN O\nsleeps VB O\n\nYork NN O\n"), Options(task="labels", tag_column=2)
    )
    assert isinstance(labels, Labels)
    assert [labels.names[code] for code in labels.codes] == ["NN", "VB", "NN"]
    assert labels.units.tolist() == [0, 0, 1]


def test_many_distinct_and_long_values_are_told_apart(write):
    words = [f"{'x' * (i % 300)}{i}" for i in range(3000)]
    tagged = read(write("".join(f"{word}\tB-{word}\n" for word in words)))
    assert tags_of(tagged) == [[f"B-{word}" for word in words]]
    assert words_of(tagged) == [words]


def test_what_was_recognised_is_said(write):
    tagged = read(write(SHAPES["tags in the middle"], "a.iob2"))
    assert tagged.notes[0].endswith("a.iob2: columns separated by TAB, tags in column 3 of 5")


# --- errors -----------------------------------------------------------------------------------

WRONG = {
    "ragged line": ("Ann\tB-PER\nsleeps\n", ":2: 'sleeps' has 1 column separated by"),
    "missing column": ("Ann NN VB\nsleeps NN VB\n", ":1: no column holds tags such as O, B-PER"),
    "several tag columns": (
        "x B-X B-Y -\ny O O -\n",
        (
            ":1: columns 2, 3 all hold tags such as O, B-PER, I-PER in lines like 'x B-X B-Y -'; "
            "expected the column to be named"
        ),
    ),
    "unknown tag": (
        "Ann\tB-PER\nsleeps\tQ-PER\nwell\tO\n",
        ":2: unknown tag 'Q-PER'; expected O, or a type after one of B-, I- (iob2)",
    ),
    "empty": ("", ": is empty; expected at least one line"),
    "white space only": (" \n\t\n", ": is empty; expected at least one line"),
    "binary": (b"Ann\tO\n\x00\x01\x02", ":2: is a binary file (it holds NUL bytes); expected text"),
    "undecodable": (
        b"Ann\tO\nZo\xeb\tB-PER\n",
        ":2: byte 0xeb is not UTF-8; expected UTF-8, or another encoding to be named",
    ),
    "documents only": ("-DOCSTART- -X- O\n\n", ": holds document lines only"),
    "damaged gzip": (b"\x1f\x8b\x08\x00nonsense", ": is a damaged gzip file"),
}


@pytest.mark.parametrize("case", WRONG)
def test_errors_say_where_and_what(write, case):
    content, message = WRONG[case]
    path = write(content)
    with pytest.raises(InputError) as caught:
        decode(read(path, Options(task="entities")))
    text = str(caught.value)
    assert text.startswith(f"{path}{message}"), text
    assert "\n" not in text


def test_more_errors(write, tmp_path):
    path = write(SHAPES["tab"])
    with pytest.raises(InputError, match=r":1: there is no column 7; expected 1 to 2"):
        read(path, Options(tag_column=7))
    with pytest.raises(InputError, match=r"holds comments only; expected at least one token"):
        read(write("# a\n# b\n"), Options(comments=True, task="entities"))
    for broken in ("1\ta\tO\n2-3\tb\tO\n", "1-2\ta\tO\n1\tb\tO\n\n1\tc\tO\n", "1-1\ta\tO\n"):
        with pytest.raises(InputError, match=r"the range \d-\d is not followed by its words"):
            read(write(broken))
    with pytest.raises(InputError, match=r"is a directory; expected a file"):
        read(tmp_path)
    with pytest.raises(InputError, match=r"there is no such file"):
        read(tmp_path / "nowhere")
    with pytest.raises(InputError, match=r"encoding: unknown 'klingon'"):
        read(path, Options(encoding="klingon"))
    with pytest.raises(InputError, match=r":1: byte 0x\w\w is not ascii"):
        read(write("Zoë\tO\n"), Options(encoding="ascii"))
    with pytest.raises(InputError, match=r"task: unknown 'ner'"):
        read(path, Options(task="ner"))
    with pytest.raises(InputError, match=r"input_format: unknown 'xml'"):
        read(path, Options(input_format="xml"))
    with pytest.raises(InputError, match="has one column; expected a gold and a predicted one"):
        read_pair(write("B-X\nO\n"))
    with pytest.raises(InputError, match="expected a second file"):
        read_pair(write("a b c\nd e\n"))
    with pytest.raises(InputError, match="expected a gold and a predicted column"):
        read_pair(write("Ann\tB-PER\nsleeps\tO\n"))


def test_a_file_that_cannot_be_read(write, monkeypatch):
    path = write(SHAPES["tab"])

    def refuse(*_arguments, **_options):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("pathlib.Path.open", refuse)
    with pytest.raises(InputError, match="cannot be read: permission denied"):
        read(path)


def test_spans_know_their_sentences(write):
    spans = decode(read(write(SHAPES["tab"])))
    assert isinstance(spans, Spans)
    assert spans.of(0) == [(0, 1, "PER")]
    assert spans.of(1) == [(0, 2, "LOC")]
    assert len(spans) == 2


@pytest.mark.parametrize(
    "content", ["Ann B-PER\t\nran O\t\n\nBob B-PER\t\n", "Ann\tB-PER\t\nran\tO\t\n\nBob\tB-PER\t\n"]
)
def test_tabs_at_the_ends_of_lines_separate_nothing(tmp_path, content):
    gold, other = tmp_path / "gold.conll", tmp_path / "other.conll"
    gold.write_text("Ann B-PER\nran O\n\nBob B-PER\n")
    other.write_text(content)
    assert pv.score(gold, other)[0].counts == pv.Counts(2, 0, 0)


@pytest.mark.parametrize("longest", [1, 200, 300, 70_000])  # bytes of a word
def test_lines_of_any_length_and_gaps_of_any_size(write, longest):
    """Places in a line are kept in one, two or four bytes; blocks of lines may hold no field."""
    word = "x" * longest
    path = write(f"a O\n{word} B-PER\n" + "\n" * 600_000 + "b B-LOC\nc I-LOC\n")
    tagged = read(path)
    assert tags_of(tagged) == [["O", "B-PER"], ["B-LOC", "I-LOC"]]
    assert words_of(tagged) == [["a", word], ["b", "c"]]
    assert tagged.text.line_of(2) == 600_003


def test_a_line_of_many_short_fields_among_shorter_ones(write):
    """The number of edges of fields in a line exceeds what a byte holds."""
    path = write("a O\n" + "b " * 128 + "\n")
    with pytest.raises(InputError, match=r":2: .* has 128 columns separated by white space"):
        read(path, Options(input_format="columns"))
