"""What a document's structure is, whatever the words in it."""

from __future__ import annotations

import csv
import io
import json
import re
import unicodedata
from html.parser import HTMLParser

VOID = {"meta", "input", "circle", "line", "rect", "polygon", "polyline", "br"}


class _Outline(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.events: list[object] = []
        self.open: list[str] = []
        self.text: list[str] = []

    def handle_starttag(self, tag, attrs):
        # values of classes come from the program, the others may hold words
        kept = tuple((name, value if name == "class" else None) for name, value in attrs)
        self.events.append((tag, kept))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        assert self.open.pop() == tag
        self.events.append(f"/{tag}")

    def handle_data(self, data):
        self.text.append(data)

    def handle_comment(self, data):
        raise AssertionError(f"comment {data!r}")


def html_outline(page: str) -> tuple[list[object], str]:
    """Tags in order, and the text between them."""
    parser = _Outline()
    parser.feed(page)
    parser.close()
    assert parser.open == []
    return parser.events, " ".join(parser.text)


def latex_outline(text: str) -> list[object]:
    """Commands at the start of lines, and how many cells every row has; checks the balance."""
    found: list[object] = []
    for line in text.splitlines():
        sizes = r"\small", r"\footnotesize", r"\setlength{\tabcolsep}{3pt}"
        if line.startswith(("% holds letters", *sizes)):
            continue  # how it looks, and with what to set it
        if line.startswith("%"):
            if found[-1:] != ["%"]:  # a long sentence takes several lines
                found.append("%")
            continue
        bare = re.sub(r"\\[\\{}$&#%_]", "", line.removesuffix(r" \\"))
        assert bare.count("{") == bare.count("}"), line
        assert bare.count("$") % 2 == 0, line
        assert "%" not in bare, line
        assert "#" not in bare, line
        commands = "begin|end|toprule|midrule|bottomrule|centering|caption|label"
        command = re.match(rf"\\({commands})\b", line)
        if command:
            found.append(command[1])
        else:
            assert line == "" or line.endswith(r" \\"), line
            assert not re.match(r"\s*[\[*]", line), line  # would belong to the break before it
            found.append(bare.count("&"))
    return found


def markdown_outline(text: str) -> list[str]:
    """The kinds of tokens that a CommonMark parser with tables finds, inline ones included."""
    from markdown_it import MarkdownIt

    kinds = []
    for token in MarkdownIt("commonmark").enable("table").parse(text):
        kinds.append(token.type)
        kinds += [child.type for child in token.children or () if child.type != "text_special"]
    # runs of text may be cut in pieces
    return [kind for kind in kinds if kind != "text"]


def csv_outline(text: str) -> list[int]:
    rows = list(csv.reader(io.StringIO(text)))
    for row in rows:
        for cell in row:
            numeric = re.fullmatch(r"-?[0-9][0-9.e+-]*", cell)
            assert numeric or not cell.startswith(("=", "+", "-", "@", "\t", "\r")), cell
    return [len(row) for row in rows]


def json_outline(value: object) -> object:
    """Keys and lengths, and what kind of value stands there."""
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except json.JSONDecodeError:
            return "text"
    if isinstance(value, dict):
        return {key: json_outline(item) for key, item in value.items()}
    if isinstance(value, list):
        return [json_outline(item) for item in value]
    return type(value).__name__


def text_outline(text: str) -> list[str]:
    """Lines without their letters, blanks and figures."""
    for character in text:
        kind = unicodedata.category(character)
        assert character == "\n" or kind not in {"Cc", "Cf", "Cs", "Zl", "Zp"}, ascii(character)
    # a name may be a dash, too; a rule has several
    return [
        "rule" if set(line) <= set(" ─") and line.count("─") > 3 else "line"
        for line in text.splitlines()
    ]
