"""Hostile text changes no structure, whatever the form."""

from __future__ import annotations

import csv
import io
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from probative.reporting import escape
from probative.reporting.document import Document, Strong, Table, payload
from probative.reporting.render import as_html, render
from reporting.structure import (
    csv_outline,
    html_outline,
    json_outline,
    latex_outline,
    markdown_outline,
    text_outline,
)

HOSTILE = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "'; --",
    "</style></title></svg><b>",
    "{{ 7*7 }}{% raw %}",
    "<!-- x --> &amp; ]]>",
    "=cmd|' /C calc'!A1",
    "+1+1",
    "-2+3",
    "@SUM(A1)",
    "\t=1",
    " =1",
    "＝1",
    "a\nb\r\nc",
    "\x1b[31mred\x1b[0m\x07\x9b2J",
    "\u202egnp.exe\u202c\u200b\u2066",
    "lone \ud800 surrogate",
    "\U000e0041 tag",
    "| pipe | x |",
    "# head",
    "- item",
    "1. item",
    "2) item",
    "+ item",
    "    code",
    "> quote",
    "`code` **bold** _it_ ~~no~~ [x](y) ![z](w)",
    "---",
    "***",
    "```",
    "$x^2$ $$",
    r"\input{/etc/passwd} \\ & % # _ { } ~ ^",
    "[a] option",
    "*star",
    "{brace",
    "brace}",
    "\\",
    "%",
    "x" * 100_000,
    "名前 ペア",
    "\x7f",
]
VISIBLE = st.text(st.characters(), min_size=1, max_size=30).filter(str.strip)


def document(name: str, label: str) -> Document:
    """Words in every place that words can come to."""
    table = Table(
        ("system", name, "score"),
        ((name, label, "1.00"), (label, name, Strong("2.00")), (name, Strong(name), "3.00")),
        title=f"Scores of {name}",
        notes=(f"{name} returned nothing.", label),
        text_columns=2,
    )
    records = ({"system": name, "label": label, "estimate": -0.5}, {"system": label, "label": name})
    return Document(
        title=name,
        payload=payload("score", f"only:{label}", name=name, labels=[label, name]),
        tables=(table, Table((label, "n"), ((name, "−1"),))),
        records=records,
        notes=(f"{name} scores 1.1 points higher than {label}.", f"{label} is known to {name}."),
    )


PLAIN = document("old", "PER")


@pytest.mark.parametrize("words", HOSTILE, ids=lambda words: ascii(words)[:30])
def test_structure_stays_whatever_the_words(words):
    _same_structure(words, "PER")
    _same_structure("old", words)
    _same_structure(words, words)


@settings(max_examples=60)
@given(VISIBLE, VISIBLE)
def test_structure_stays_whatever_the_words_at_all(name, label):
    _same_structure(name, label)


def _same_structure(name: str, label: str) -> None:
    spoilt = document(name, label)
    width = 500_000 if len(name + label) > 1000 else 2000
    assert text_outline(render(spoilt, "text", width=width)) == text_outline(
        render(PLAIN, "text", width=2000)
    )
    text_outline(render(spoilt, "text", width=80))
    assert csv_outline(render(spoilt, "csv")) == csv_outline(render(PLAIN, "csv"))
    assert latex_outline(render(spoilt, "latex")) == latex_outline(render(PLAIN, "latex"))
    assert markdown_outline(render(spoilt, "markdown")) == markdown_outline(
        render(PLAIN, "markdown")
    )
    answer = render(spoilt, "json")
    text_outline(answer)
    assert answer.encode()
    assert json.loads(answer)["name"] == name
    assert json_outline(json.loads(answer)).keys() == json_outline(PLAIN.payload).keys()
    page = as_html(spoilt)
    assert page.encode()
    # long notes are folded: the words that they are compared with are as long
    plain = document("o" * len(name), "P" * len(label))
    assert html_outline(page)[0] == html_outline(as_html(plain))[0]


def test_plain_shows_what_cannot_be_seen():
    assert escape.plain("a\x1b[31m\u202eb\n") == r"a\x1b[31m\u202eb\n"
    assert escape.plain("Zoë 名前 −") == "Zoë 名前 −"


def test_json_keeps_the_characters_that_it_shows_as_escapes():
    text = escape.json_text(json.dumps("\u202e名\x9b\U000e0041\ud800", ensure_ascii=False))
    assert text == '"\\u202e名\\u009b\\udb40\\udc41\\ud800"'
    assert json.loads(text) == "\u202e名\x9b\U000e0041\ud800"


def test_numbers_in_csv_stay_numbers():
    (row,) = csv.DictReader(
        io.StringIO(
            render(
                Document("t", {}, (), ({"name": "-1", "difference": -0.25},)),
                "csv",
            )
        )
    )
    assert row == {"name": "'-1", "difference": "-0.25"}
