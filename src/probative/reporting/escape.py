"""Text from files, made harmless for the place where it will stand."""

from __future__ import annotations

import json
import re
import unicodedata

__all__ = ["ascii_json", "csv_cell", "is_latin", "json_text", "latex", "markdown", "plain"]

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
_LAST_LATIN = 0x17F  # of the letters with accents that LaTeX itself knows
# what spreadsheets take for the start of a formula, also in the width of Chinese characters
_FORMULA = set("=+-@＝＋－＠")
# control characters, bidirectional marks and the like, lone surrogates, line breaks
_INVISIBLE = {"Cc", "Cf", "Cs", "Zl", "Zp"}


def plain(text: str) -> str:
    """Show characters that would steer a terminal or turn the reading direction as escapes."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(
        c.encode("unicode_escape").decode() if unicodedata.category(c) in _INVISIBLE else c
        for c in text
    )


def ascii_json(text: str) -> str:
    """Write every other character of JSON as JSON's own escape, which any encoding has."""
    return text.translate({ord(c): _json_escape(c) for c in set(text) if not c.isascii()})


def json_text(text: str) -> str:
    """Show what `plain` shows as escapes in JSON's own, which stay the same characters."""
    if text.isascii() and "\x7f" not in text:
        return text
    # the line breaks are those between the keys; inside words they are escapes already
    hidden = {c for c in set(text) - {"\n"} if unicodedata.category(c) in _INVISIBLE}
    return text.translate({ord(c): _json_escape(c) for c in hidden})


def _json_escape(character: str) -> str:
    return f"\\u{ord(character):04x}" if character.isascii() else json.dumps(character)[1:-1]


def markdown(text: str) -> str:
    """Escape what Markdown and the HTML inside it would read as structure."""
    safe = plain(text).strip().replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    safe = re.sub(r"([\\`*_\[\]|~#$])", r"\\\1", safe)
    # a list, a rule or the underline of a head, if it stands at the start of a line
    return re.sub(r"^([0-9]*)([-+=]|[.)](?=\s|$))", r"\1\\\2", safe)


def latex(text: str) -> str:
    """Escape what LaTeX would read as a command."""
    return "".join(_LATEX.get(c, c) for c in plain(text))


def is_latin(text: str) -> bool:
    """Whether pdfLaTeX has all characters of a text, as they stand or by their commands."""
    return all(ord(c) <= _LAST_LATIN or c in _LATEX for c in plain(text))


def csv_cell(value: object) -> object:
    """Keep spreadsheets from running a cell of text as a formula; numbers stay as they are."""
    if isinstance(value, str):
        safe = plain(value)
        return f"'{safe}" if safe.lstrip()[:1] in _FORMULA else safe
    return value
