"""Escape text from files for the format that it is printed in."""

from __future__ import annotations

import json
import re
import unicodedata

_LATEX = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "%": r"\%",
    "_": r"\_",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    # at the start of a row a bracket or star would belong to the line break before it
    "[": "{[}",
    "]": "{]}",
    "*": "{*}",
    "−": "$-$",
    "–": "--",
    "—": "---",
    "“": "``",
    "”": "''",
    "‘": "`",
    "’": "'",
    "≤": r"$\leq$",
    "≥": r"$\geq$",
    "±": r"$\pm$",
    "×": r"$\times$",
    "²": "$^2$",
    "†": r"$^\dagger$",
    "…": r"\ldots{}",
    "Δ": r"$\Delta$",
    "β": r"$\beta$",
    "λ": r"$\lambda$",
    "ν": r"$\nu$",
}
_LAST_LATIN = 0x17F  # last accented letter that LaTeX itself knows
# characters that start a formula in spreadsheets, also in full width
_FORMULA = set("=+-@＝＋－＠")
# control characters, bidirectional marks and the like, lone surrogates, line breaks
_INVISIBLE = {"Cc", "Cf", "Cs", "Zl", "Zp"}


def plain(text: str) -> str:
    """Escape characters that would control a terminal or turn the reading direction."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(
        c.encode("unicode_escape").decode() if unicodedata.category(c) in _INVISIBLE else c
        for c in text
    )


def ascii_json(text: str) -> str:
    """Escape all characters of JSON that are not ASCII."""
    return text.translate({ord(c): _json_escape(c) for c in set(text) if not c.isascii()})


def json_text(text: str) -> str:
    """Escape the characters that `plain` escapes, as JSON escapes, which keep their meaning."""
    if text.isascii() and "\x7f" not in text:
        return text
    # line breaks separate keys; inside strings they are escaped already
    hidden = {c for c in set(text) - {"\n"} if unicodedata.category(c) in _INVISIBLE}
    return text.translate({ord(c): _json_escape(c) for c in hidden})


def _json_escape(character: str) -> str:
    return f"\\u{ord(character):04x}" if character.isascii() else json.dumps(character)[1:-1]


def markdown(text: str) -> str:
    """Escape characters that are structure in Markdown or in HTML inside it."""
    safe = plain(text).strip().replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    safe = re.sub(r"([\\`*_\[\]|~#$])", r"\\\1", safe)
    # at the start of a line, these begin a list, a rule or the underline of a heading
    return re.sub(r"^([0-9]*)([-+=]|[.)](?=\s|$))", r"\1\\\2", safe)


def latex(text: str) -> str:
    """Escape characters that LaTeX would read as commands."""
    return "".join(_LATEX.get(c, c) for c in plain(text))


def is_latin(text: str) -> bool:
    """Return True if pdfLaTeX has all characters of a text, directly or as commands."""
    return all(ord(c) <= _LAST_LATIN or c in _LATEX for c in plain(text))


def csv_cell(value: object) -> object:
    """Prefix text that a spreadsheet would run as a formula; leave numbers as they are."""
    if isinstance(value, str):
        safe = plain(value)
        return f"'{safe}" if safe.lstrip()[:1] in _FORMULA else safe
    return value
