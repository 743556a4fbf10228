"""What people have that is easily misread: each is read rightly, or an error names the way out.

``python tests/traps/test_traps.py`` writes the table of docs/faq.md anew from this list.
"""

from __future__ import annotations

import json
import re
import sys
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import probative as pv
from probative.errors import InputError

PAGE = Path(__file__).resolve().parents[2] / "docs" / "faq.md"
BEGIN, END = "<!-- traps: begin -->", "<!-- traps: end -->"


@dataclass(frozen=True)
class Trap:
    """One of them.

    Attributes
    ----------
    have
        What somebody has, for the table.
    reading
        How it is read, and why, for the table.
    files
        What is in the files of the command, by name.
    words
        The words of the command.
    error
        What the error must say (status 2); None if the command answers.
    task, tp_fp_fn
        Otherwise, the task, and the counts of the first system.
    says
        What must be remarked or printed besides.
    settled
        Words that settle it, with the task and the counts that they lead to.
    python
        The same as a call; it must raise `python_error`, or lead to `task` and `tp_fp_fn`.
    """

    have: str
    reading: str
    files: dict[str, str] = field(default_factory=dict)
    words: str = ""
    error: str | None = None
    task: str | None = None
    tp_fp_fn: tuple[int, int, int] | None = None
    says: str | None = None
    settled: tuple[tuple[str, str, tuple[int, int, int]], ...] = ()
    python: object = None
    python_error: str | None = None
    ways: str = ""


BIO = "1,Ann,B-PER,B-PER\n1,Lee,I-PER,O\n1,saw,O,O\n2,York,B-LOC,B-LOC\n"
TAGS = [["B-PER", "I-PER", "O"], ["B-LOC"]]
OUT = [["B-PER", "O", "O"], ["B-LOC"]]
PROBABILITIES = "y,p\n1,0.9\n0,0.2\n1,0.4\n0,0.6\n"
CLASSES = "y,yes,no\nyes,0.9,0.1\nno,0.2,0.8\nyes,0.4,0.6\n"

TRAPS = [
    # --- probabilities ------------------------------------------------------------------------
    Trap(
        "a CSV with probabilities in the predicted column",
        "refused: numbers are no classes",
        {"t.csv": PROBABILITIES},
        "score t.csv --gold-column y --columns p",
        error="p: holds numbers such as 0.2, but gold has classes ('0', '1'): "
        "probabilities are no labels; expected --threshold 0.5, or --probability-columns",
        settled=(("--threshold 0.5", "labels", (1, 1, 1)),),
        python=lambda: pv.score([1, 0, 1, 0], [0.9, 0.2, 0.4, 0.6]),
        python_error="expected threshold=0.5, or probability_columns=",
    ),
    Trap(
        "a CSV with a column of probabilities per class",
        "refused, with the columns that it takes",
        {"t.csv": CLASSES},
        "score t.csv --gold-column y --columns yes,no",
        error="--probability-columns (yes, no) where every class has a column",
    ),
    Trap(
        "the same, with the columns named as such",
        "the likeliest class is the label",
        {"t.csv": "y,yes,no\nyes,0.9,0.1\nno,0.6,0.4\n"},
        "score t.csv --gold-column y --probability-columns yes,no",
        task="labels",
        tp_fp_fn=(1, 1, 0),
        says="the likeliest of the columns 'yes', 'no'",
        python=lambda: pv.score(
            pd.DataFrame({"y": ["yes", "no"], "yes": [0.9, 0.6], "no": [0.1, 0.4]}),
            gold_column="y",
            probability_columns=["yes", "no"],
        ),
    ),
    Trap(
        "columns of probabilities that are not called as the classes are",
        "refused, unless they are mapped",
        {"t.csv": CLASSES.replace("y,yes,no", "y,p_yes,p_no")},
        "score t.csv --gold-column y --probability-columns p_yes,p_no",
        error="the columns p_yes, p_no are not named after the classes of gold (no, yes); "
        "expected --map",
        settled=(("--map p_yes=yes,p_no=no", "labels", (1, 0, 1)),),
    ),
    Trap(
        "scores of a classifier (logits), in a file of their own",
        "refused: not whole numbers against classes",
        {"g.txt": "spam\nham\nspam\n", "p.txt": "2.5\n-1.5\n-0.5\n"},
        "score g.txt p.txt",
        error="p: holds numbers such as -0.5, but gold has classes ('ham', 'spam')",
        settled=(("--threshold 0 --positive spam", "labels", (1, 0, 1)),),
        python=lambda: pv.score(["spam", "ham", "spam"], [2.5, -1.5, -0.5], threshold=0),
        python_error="threshold: which of 'ham', 'spam' is the positive class? expected positive=",
    ),
    Trap(
        "an array of probabilities, one column per class (`predict_proba`)",
        "refused: one label per item",
        python=lambda: pv.score(np.array([0, 1]), np.array([[0.9, 0.1], [0.2, 0.8]])),
        python_error="pred: shape (2, 2); expected one label per item (of probabilities, "
        "argmax(axis=1))",
        ways="`argmax(axis=1)`",
    ),
    # --- tags ---------------------------------------------------------------------------------
    Trap(
        "a CSV with tags and a column of sentences",
        "entities: all are O or like B-PER; sentences by their column",
        {"t.csv": "sentence_id,token,gold,pred\n" + BIO},
        "score t.csv",
        task="entities",
        tp_fp_fn=(1, 1, 1),
        says="tags in column 'gold', sentences by column 'sentence_id'",
        settled=(("--task labels", "labels", (3, 1, 1)),),
        python=lambda: pv.score(
            pd.DataFrame(
                {"sent": [1, 1, 1, 2], "gold": sum(TAGS, []), "pred": sum(OUT, [])}  # noqa: RUF017
            ),
            gold_column="gold",
            columns=["pred"],
        ),
    ),
    Trap(
        "a CSV with tags, and nothing that separates sentences",
        "refused: a span ends with its sentence",
        {"t.csv": "token,gold,pred\n" + BIO.replace("1,", "").replace("2,", "")},
        "score t.csv",
        error=(
            "column 'gold' holds tags (all are O or like 'B-PER'), but nothing separates "
            "sentences; expected empty lines, a column of sentences (--unit-column) or "
            "--task labels"
        ),
        settled=(("--task labels", "labels", (3, 1, 1)),),
    ),
    Trap(
        "a TSV with tags in named columns, empty lines between sentences",
        "entities: the first line names the columns",
        {"t.tsv": "TOKEN\tNE-LIT\tNE-METO\nAnn\tB-PER\tO\nLee\tI-PER\tO\n\nYork\tB-LOC\tO\n"},
        "score t.tsv t.tsv --gold-column NE-LIT --columns NE-LIT",
        task="entities",
        tp_fp_fn=(2, 0, 0),
        says="tags in column 'NE-LIT', sentences by empty lines",
    ),
    Trap(
        "the same, with no column named",
        "refused: which of them?",
        {"t.tsv": "TOKEN\tNE-LIT\tNE-METO\nAnn\tB-PER\tO\nLee\tI-PER\tO\n\nYork\tB-LOC\tO\n"},
        "score t.tsv t.tsv",
        error="which column holds the labels? There are TOKEN, NE-LIT, NE-METO; expected them to "
        "be "
        "named (--gold-column, --columns)",
    ),
    Trap(
        "a CSV whose sentence numbers stand in the first row of each sentence only",
        "entities: an empty cell goes on the sentence",
        {
            "t.csv": "Sentence #,Word,Tag,pred\nSentence: 1,Ann,B-PER,B-PER\n,Lee,I-PER,O\n"
            "Sentence: 2,York,B-LOC,B-LOC\n,sleeps,O,O\n"
        },
        "score t.csv --gold-column Tag --columns pred",
        task="entities",
        tp_fp_fn=(1, 1, 1),
        says="sentences by column 'Sentence #'",
    ),
    Trap(
        "one list of tags for the whole corpus",
        "refused: tags need sentences",
        python=lambda: pv.score(["B-PER", "O"], ["B-PER", "O"]),
        python_error="gold: could be tags without sentences or labels (all are O or like 'B-PER'); "
        "expected a list of tags per sentence, or task='labels'",
        ways='`task="labels"`',
    ),
    Trap(
        "tags in small letters (`b-per`)",
        "refused: no tags, but they look like some",
        python=lambda: pv.score([["b-per", "o"]], [["b-per", "o"]]),
        python_error="'b-per' looks like a tag in another notation; expected tags such as B-PER",
        ways="write `B-PER`",
    ),
    Trap(
        "the same in a file",
        "refused: tags in another writing, or text?",
        {"g.conll": "Ann b-per\nran o\n"},
        "score g.conll g.conll",
        error="could be columns ('b-per' looks like a tag such as B-PER in another notation) or "
        "segmented text (its lines are 2 words each)",
        ways="write `B-PER`",
    ),
    Trap(
        "tags with their type in front (`PER-B`)",
        "refused: no tags, but they look like some",
        python=lambda: pv.score([["PER-B", "O"]], [["PER-B", "O"]]),
        python_error="'PER-B' looks like a tag in another notation; expected tags such as B-PER",
        ways="write `B-PER`",
    ),
    Trap(
        "gold in which something is no tag, against tags",
        "refused: what it is",
        python=lambda: pv.score([["B-PER", "?"]], [["B-PER", "O"]]),
        python_error="'?' is no tag, but a side has tags; expected tags such as B-PER, I-PER, O",
        ways='mend it, or `task="labels"`',
    ),
    Trap(
        "a file of bare letters, `B I O O`, one per line",
        "refused: tags, or labels?",
        {"g.txt": "B\nI\nO\nO\n"},
        "score g.txt g.txt",
        error="could be columns (its lines are tags such as 'B') or a list of labels (every line "
        "is a single word); expected --task entities or --task labels",
        settled=(
            ("--task entities", "entities", (1, 0, 0)),
            ("--task labels", "labels", (4, 0, 0)),
        ),
    ),
    Trap(
        "a file of typed tags, one per line, without words",
        "entities: every line is a tag",
        {"g.txt": "B-PER\nI-PER\n\nB-LOC\n", "p.txt": "B-PER\nO\n\nB-LOC\n"},
        "score g.txt p.txt",
        task="entities",
        tp_fp_fn=(1, 1, 1),
        says="because its lines are tags such as 'B-PER'",
    ),
    Trap(
        "`# newdoc` in a file that does not number its tokens",
        "comments are tokens, unless they are asked for: then documents begin there",
        {"g.conll": "# newdoc\nAnn B-PER\n\n# newdoc\nYork B-LOC\n"},
        "score g.conll g.conll --comments --by document",
        task="entities",
        tp_fp_fn=(2, 0, 0),
        says="2 documents",
    ),
    Trap(
        "columns of which the caller names one (`--tag-column`)",
        "columns, whatever they look like",
        {"g.txt": "Ann NN x\nran VB y\n\nhe PR x\n"},
        "score g.txt g.txt --tag-column 2 --task labels",
        task="labels",
        tp_fp_fn=(3, 0, 0),
        says="because a tag column is asked for",
    ),
    Trap(
        "a column file with part-of-speech tags",
        "refused: columns of labels, or text?",
        {"g.txt": "the DT\ncat NN\n\nit PR\n"},
        "score g.txt g.txt",
        error=(
            "could be columns (every line has 2 columns, none of tags, separated by empty lines) "
            "or segmented text (its lines are 2 words each); expected --task labels or --task "
            "segmentation"
        ),
        settled=(("--task labels", "labels", (3, 0, 0)),),
    ),
    # --- lists of lists -----------------------------------------------------------------------
    Trap(
        "nested part-of-speech tags",
        "refused: words, labels of tokens, or sets?",
        python=lambda: pv.score([["DT", "NN"]], [["DT", "VB"]]),
        python_error="lists of texts such as 'DT' could be words or labels, and all sides differ "
        "in their characters; expected task='segmentation' (words), task='labels' (of "
        "tokens) or multilabel=True (sets)",
        ways='`task="labels"`, `multilabel=True`',
    ),
    Trap(
        'the same with `task="labels"`',
        "labels of tokens, sentences are the units",
        python=lambda: pv.score([["DT", "NN"], ["PR"]], [["DT", "VB"], ["PR"]], task="labels"),
        task="labels",
        tp_fp_fn=(2, 1, 1),
    ),
    Trap(
        "nested labels, with another number of them in a sentence",
        "refused: which token is which?",
        python=lambda: pv.score([["DT", "NN"], ["PR"]], [["DT"], ["PR", "NN"]], task="labels"),
        python_error="sentence 1 has 1 tokens, but 2",
        ways="mend it",
    ),
    Trap(
        "lists of words of the same sentences, cut otherwise",
        "segmentation: the characters are the same",
        python=lambda: pv.score([["New", "York"]], [["NewYork"]]),
        task="segmentation",
        tp_fp_fn=(0, 1, 2),
    ),
    Trap(
        "lists of words, all the same",
        "refused: they could be anything",
        python=lambda: pv.score([["New", "York"]], [["New", "York"]]),
        python_error="could be words or labels, and all sides are the same lists",
        ways='`task="segmentation"`',
    ),
    Trap(
        "texts that differ in their spaces alone",
        "refused: sentences, or labels?",
        python=lambda: pv.score(["New York"], ["NewYork"]),
        python_error=(
            "could be sentences or labels, and all sides differ only in spaces; expected "
            "task='segmentation' or task='labels'"
        ),
        ways='`task="segmentation"`, `task="labels"`',
    ),
    Trap(
        "numbers of classes per token (`[[0, 1], [1]]`)",
        "refused: labels of tokens, or sets?",
        python=lambda: pv.score([[0, 1], [1]], [[0, 1], [0]]),
        python_error="[0, 1] could be labels of tokens or a set of labels; expected task='labels', "
        "multilabel=True or the names of numbered tags (label_names=)",
        ways='`task="labels"`, `multilabel=True`',
    ),
    Trap(
        "spans without sentences around them",
        "refused: a list of spans per sentence",
        python=lambda: pv.score([(0, 2, "PER")], [(0, 2, "PER")]),
        python_error="(0, 2, 'PER') is in the place of a sentence; expected a list of spans per "
        "sentence",
        ways='`[[(0, 2, "PER")]]`',
    ),
    # --- several labels per item --------------------------------------------------------------
    Trap(
        "sets of labels in Python",
        "labels, any number per item; units are the items",
        python=lambda: pv.score([{"a", "b"}, {"a"}, set()], [{"a"}, {"a", "c"}, set()]),
        task="labels",
        tp_fp_fn=(2, 1, 1),
    ),
    Trap(
        "lists of labels in Python, any number per item",
        "refused: words, labels of tokens, or sets?",
        python=lambda: pv.score([["art", "news"], ["art"]], [["art"], ["art", "news"]]),
        python_error="multilabel=True (sets)",
        ways="`multilabel=True`",
    ),
    Trap(
        "a matrix of 0 and 1, a column per label (scikit-learn)",
        "labels, any number per item",
        python=lambda: pv.score(np.array([[1, 1], [1, 0]]), np.array([[1, 0], [1, 0]])),
        task="labels",
        tp_fp_fn=(2, 0, 1),
    ),
    Trap(
        "a CSV with several labels in a cell, in another order",
        "refused: one set, or two labels?",
        {"t.csv": 'gold,pred\n"a,b","b,a"\nc,c\n'},
        "score t.csv",
        error="pred: 'b,a' and 'a,b' could be one set of labels or two labels; expected "
        "--multilabel ',', or --multilabel none",
        settled=(
            ("--multilabel ,", "labels", (3, 0, 0)),
            ("--multilabel none", "labels", (1, 1, 1)),
        ),
    ),
    Trap(
        "a CSV with lists written as text (`to_csv` of a data frame)",
        "refused: sets of labels, or labels of tokens?",
        {"t.csv": "gold,pred\n\"['a', 'b']\",['a']\n[],['b']\n['b'],['b']\n"},
        "score t.csv",
        error="column 'gold' holds lists written as text, such as \"['a', 'b']\"; expected "
        "--multilabel lists (sets), --multilabel none (text), or JSON lines",
        settled=(
            ("--multilabel lists", "labels", (2, 1, 1)),
            ("--multilabel none", "labels", (1, 2, 2)),
        ),
    ),
    Trap(
        "JSON lines with a list of labels per text",
        "labels, any number per item: lists of texts",
        {"t.jsonl": '{"text": "x", "gold": ["a", "b"], "pred": ["a"]}\n'
                    '{"text": "y", "gold": [], "pred": ["c"]}\n'},
        "score t.jsonl",
        task="labels",
        tp_fp_fn=(1, 1, 1),
        says="sets of labels in column 'gold' (lists)",
    ),
    # --- files of one comparison --------------------------------------------------------------
    Trap(
        "an output of single letters against segmented text",
        "read as gold is: `M` is no tag",
        {"g.txt": "John likes Mary\nshe left\n", "p.txt": "J o h n l i k e s M a r y\nshe left\n"},
        "score g.txt p.txt",
        task="segmentation",
        tp_fp_fn=(2, 13, 3),
    ),
    Trap(
        "the same with an `O` in a place of its own",
        "read as gold is: `O` is no tag",
        {"g.txt": "TOM saw\n", "p.txt": "T O M s a w\n"},
        "score g.txt p.txt",
        task="segmentation",
        tp_fp_fn=(0, 6, 2),
    ),
    Trap(
        "a table of labels (.tsv) against a list of labels",
        "each as what it is: a line with a TAB is no label",
        {"g.txt": "pos\nneg\npos\n", "p.tsv": "id\tlabel\n1\tpos\n2\tpos\n3\tpos\n"},
        "score g.txt p.tsv",
        task="labels",
        tp_fp_fn=(2, 1, 1),
    ),
    Trap(
        "two column files of which the second column is asked for",
        "labels of that column, not of the last",
        {"g.conll": "the DT 1\ncat NN 2\n", "p.conll": "the DT 2\ncat VB 2\n"},
        "score g.conll p.conll --task labels --input-format columns --gold-column 2 --columns 2",
        task="labels",
        tp_fp_fn=(1, 1, 1),
    ),
    Trap(
        "sentences with a capital I or O in a place of its own",
        "segmentation: a letter alone is no tag",
        {"g.txt": "what I said\nwhen I went\n", "p.txt": "what Isaid\nwhen I went\n"},
        "score g.txt p.txt",
        task="segmentation",
        tp_fp_fn=(4, 1, 2),
        says="because its lines are 3 words each",
    ),
    Trap(
        "labels of two words, one per line",
        "read as text, and refused when the characters differ",
        {"g.txt": "very good\nbad\n", "p.txt": "bad\nbad\n"},
        "score g.txt p.txt",
        error="expected the same text but for spaces, or --task labels if these are labels",
        settled=(("--task labels", "labels", (1, 1, 1)),),
    ),
    # --- tables -------------------------------------------------------------------------------
    Trap(
        "rows in another order than in gold",
        "refused: the ids differ",
        {"g.csv": "id,label\n1,a\n2,b\n3,c\n", "p.csv": "id,label\n3,c\n1,a\n2,b\n"},
        "score g.csv p.csv",
        error="rows do not match by column 'id': row 1 is '3', but '1' in g.csv (3 rows differ: "
        "the same in another order); expected the rows in the order of gold, or --key id, which "
        "joins them (--align position",
        settled=(("--key id", "labels", (3, 0, 0)), ("--align position", "labels", (0, 3, 3))),
    ),
    Trap(
        "an output without the ids of gold",
        "paired by place, and that is said",
        {"g.csv": "id,label\n1,a\n2,b\n", "p.txt": "a\nb\n"},
        "score g.csv p.txt",
        task="labels",
        tp_fp_fn=(2, 0, 0),
        says="p: has no 'id'; its items are paired with the rows by their places",
    ),
    Trap(
        "a table without a header, columns by number",
        "the first line is a row: its label stands in others, too",
        {"t.csv": "x,pos,pos\ny,neg,pos\nz,pos,pos\n"},
        "score t.csv --gold-column 2 --columns 3",
        task="labels",
        tp_fp_fn=(2, 1, 1),
        says="the first line is a row ('pos' occurs in others, too)",
    ),
    Trap(
        "columns by number, and no way to see whether there is a header",
        "refused: a name, or a row?",
        {"t.csv": "x,good,bad\ny,fine,poor\nz,well,fine\n"},
        "score t.csv --gold-column 2 --columns 3",
        error="the first line, with 'good', could name the columns or be a row; expected --header "
        "or --no-header",
        settled=(("--header", "labels", (0, 2, 2)), ("--no-header", "labels", (0, 3, 3))),
    ),
    Trap(
        "columns that are called 1, 2, 3",
        "refused: a name, or a number?",
        {"t.csv": "1,2,3\nx,a,a\ny,b,a\n"},
        "score t.csv --gold-column 2 --columns 3",
        error="'2' is the name of a column and could be the number of one; expected --header "
        "(names) or --no-header (numbers)",
        settled=(("--header", "labels", (1, 1, 1)), ("--no-header", "labels", (1, 2, 2))),
    ),
    Trap(
        "a table with a comma between its cells, called .txt",
        "a table: its first line names columns",
        {"t.txt": "text,gold,pred\nI am glad,pos,pos\nI am not,neg,pos\n"},
        "score t.txt",
        task="labels",
        tp_fp_fn=(1, 1, 1),
    ),
    Trap(
        "a table with TABs between its cells, called .txt",
        "a table: its first line names columns",
        {"t.txt": "id\tGold\tPred\n1\tpos\tpos\n2\tneg\tpos\n"},
        "score t.txt",
        task="labels",
        tp_fp_fn=(1, 1, 1),
        says="labels in column 'Gold'",
    ),
    Trap(
        "lines with a comma each, and no names",
        "refused: a table, or labels with commas?",
        {"g.txt": "a,x\nb,y\n"},
        "score g.txt g.txt",
        error="could be a list of labels (every line is a single word) or a table (every line has "
        "1 "
        "comma); expected --input-format labels or --input-format table",
        settled=(("--input-format labels", "labels", (2, 0, 0)),),
    ),
    Trap(
        "a list of labels below a heading",
        "refused: a heading, or a label?",
        {"g.txt": "label\npos\nneg\npos\n"},
        "score g.txt g.txt",
        error="could be a list of labels (every line is a single word) or a table (its first line, "
        "'label', occurs only there, like a name)",
        settled=(("--header", "labels", (3, 0, 0)), ("--no-header", "labels", (4, 0, 0))),
    ),
    # --- the writing of labels ----------------------------------------------------------------
    Trap(
        "labels that differ by case alone",
        "refused: all would be wrong",
        {"g.txt": "POS\nNEG\n", "p.txt": "pos\nneg\n"},
        "score g.txt p.txt",
        error=(
            "p: no gold label occurs, but 'neg' differs from 'NEG' only in spelling; expected "
            "the same labels, or --ignore-case"
        ),
        settled=(("--ignore-case", "labels", (2, 0, 0)),),
        python=lambda: pv.score(["POS", "NEG"], ["pos", "neg"]),
        python_error="ignore_case=True",
    ),
    Trap(
        "types of tags that differ by case alone",
        "refused: all would be wrong",
        {"g.conll": "Ann B-PER\nsaw O\nYork B-LOC\n", "p.conll": "Ann B-per\nsaw O\nYork B-loc\n"},
        "score g.conll p.conll",
        error=(
            "p: no gold label occurs, but 'loc' differs from 'LOC' only in spelling; expected "
            "the same labels, or --ignore-case"
        ),
        settled=(("--ignore-case", "entities", (2, 0, 0)),),
    ),
    Trap(
        "1.0 on one side, 1 on the other",
        "refused in text, which is compared as it is written; numbers are compared by value",
        {"t.csv": "gold,pred\n1.0,1\n0.0,0\n"},
        "score t.csv",
        error="'0' differs from '0.0' only in spelling; expected the same labels, or --map",
        settled=(("--map 1.0=1,0.0=0", "labels", (1, 0, 0)),),
    ),
    Trap(
        "True on one side, the text True on the other",
        "refused: all would be wrong",
        python=lambda: pv.score([True, False], ["True", "False"]),
        python_error="'False' differs from '0' only in spelling; expected the same labels, or "
        "mapping=",
        ways="`mapping={...}`",
    ),
    Trap(
        "other names for the same types",
        "mapped, in the types of tags, too",
        {"g.conll": "Ann B-PER\nsaw O\n", "p.conll": "Ann B-PERSON\nsaw O\n"},
        "score g.conll p.conll --map PERSON=PER",
        task="entities",
        tp_fp_fn=(1, 0, 0),
        says="|mapping:PERSON=PER",
    ),
    Trap(
        "a label that is mapped and does not occur",
        "refused: nobody has it",
        {"g.conll": "Ann B-PER\nsaw O\n"},
        "score g.conll g.conll --map PERS=PER",
        error="--map: neither gold nor a system has 'PERS'; did you mean 'PER'?",
    ),
    Trap(
        "gold itself, given as an output",
        "scored, and told: all of it is right",
        {"g.txt": "pos\nneg\n"},
        "score g.txt g.txt",
        task="labels",
        tp_fp_fn=(2, 0, 0),
        says="g.txt: is gold itself, so all of it is right",
    ),
    # --- names and margins --------------------------------------------------------------------
    Trap(
        "two systems of one name",
        "refused",
        {"g.txt": "a\nb\n"},
        "compare g.txt new=g.txt new=g.txt",
        error="--names: 'new' twice; expected different ones",
    ),
    Trap(
        "a file with a sign of equality in its name",
        "the file, if there is one of that name",
        {"g.txt": "a\nb\n", "x=g.txt": "a\nc\n"},
        "score g.txt x=g.txt",
        task="labels",
        tp_fp_fn=(1, 1, 1),
        says="x=g.txt: there is a file of this name, so this is no NAME=FILE",
    ),
    Trap(
        "`--margin 1`, meaning one point",
        "refused: it would be a hundred",
        {"g.txt": "a\nb\n"},
        "compare g.txt a=g.txt b=g.txt --fail-if-worse --margin 1",
        error="--margin: 1.0 is not below 1; expected a fraction of 1: 0.01 is one point, as are "
        "1pt "
        "and 1%",
    ),
]  # fmt: skip


def made(trap, folder):
    for name, content in trap.files.items():
        (folder / name).write_text(content, encoding="utf-8")


def counts_of(system):
    return tuple(system["counts"][name] for name in ("tp", "fp", "fn"))


ON_THE_COMMAND_LINE = [trap for trap in TRAPS if trap.words]
IN_PYTHON = [trap for trap in TRAPS if trap.python is not None]


def test_there_are_enough_of_them():
    assert len(TRAPS) >= 40
    assert len({trap.have for trap in TRAPS}) == len(TRAPS)


@pytest.mark.parametrize("trap", ON_THE_COMMAND_LINE, ids=lambda trap: trap.have)
def test_files(run, tmp_path, monkeypatch, trap):
    monkeypatch.chdir(tmp_path)
    made(trap, tmp_path)
    outcome = run(*trap.words.split(), "-f", "json")
    if trap.error is not None:
        assert outcome.status == 2
        assert trap.error in outcome.err
        assert len(outcome.err.splitlines()) == 1
        assert outcome.out == ""
        return
    assert outcome.status == 0, outcome.err
    answer = json.loads(outcome.out)
    assert answer["task"] == trap.task
    assert counts_of(answer["systems"][0]) == trap.tp_fp_fn
    plain = run(*trap.words.split(), "--verbose")
    assert (trap.says or "") in plain.out + plain.err


SETTLED = [(trap, *way) for trap in ON_THE_COMMAND_LINE for way in trap.settled]


@pytest.mark.parametrize(
    ("trap", "words", "task", "counts"), SETTLED, ids=[f"{t.have}: {w}" for t, w, *_ in SETTLED]
)
def test_what_settles_it(run, tmp_path, monkeypatch, trap, words, task, counts):
    monkeypatch.chdir(tmp_path)
    made(trap, tmp_path)
    outcome = run(*trap.words.split(), *words.split(), "-f", "json")
    assert outcome.status == 0, outcome.err
    answer = json.loads(outcome.out)
    assert answer["task"] == task
    assert counts_of(answer["systems"][0]) == counts


@pytest.mark.parametrize("trap", IN_PYTHON, ids=lambda trap: trap.have)
def test_calls(trap):
    if trap.python_error is not None:
        with pytest.raises(InputError) as caught:
            trap.python()
        assert trap.python_error in str(caught.value)
        assert "\n" not in str(caught.value)
        return
    result = trap.python()
    found = result[0].counts
    assert result.task == trap.task
    assert (found.tp, found.fp, found.fn) == trap.tp_fp_fn


@pytest.mark.parametrize(
    "words", [trap.words for trap in ON_THE_COMMAND_LINE if trap.words.startswith("score")][::6]
)
def test_check_says_why(run, tmp_path, monkeypatch, words):
    monkeypatch.chdir(tmp_path)
    trap = next(trap for trap in ON_THE_COMMAND_LINE if trap.words == words)
    made(trap, tmp_path)
    outcome = run("check", words.split()[1])
    assert "because" in outcome.out or outcome.status == 2


# --- the table of the documentation -----------------------------------------------------------


def table():
    """Return the table of the traps that a choice settles; the others need none."""
    rows = ["| what you have | how it is read | what settles it |", "| :--- | :--- | :--- |"]
    for trap in TRAPS:
        ways = trap.ways or ", ".join(f"`{words}`" for words, *_ in trap.settled)
        if ways:
            rows.append(f"| {trap.have} | {trap.reading} | {ways} |")
    return "\n".join(rows)


def test_the_documentation_has_this_list():
    text = PAGE.read_text(encoding="utf-8")
    assert text.split(BEGIN)[1].split(END)[0].strip() == table()


if __name__ == "__main__":
    old = PAGE.read_text(encoding="utf-8")
    pattern = re.compile(f"{BEGIN}.*{END}", re.DOTALL)
    PAGE.write_text(pattern.sub(lambda _: f"{BEGIN}\n{table()}\n{END}", old), encoding="utf-8")
    sys.stdout.write(f"{len(TRAPS)} traps\n")
