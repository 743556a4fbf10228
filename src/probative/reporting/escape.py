"""Escape text from files for the format that it is printed in."""

from __future__ import annotations

import json
import re
import unicodedata

_MATHS = {"≤": "leq", "≥": "geq", "±": "pm", "×": "times"}
_MATHS |= {"Δ": "Delta", "β": "beta", "λ": "lambda", "ν": "nu"}
_TEXTS = {"\\": "backslash", "^": "asciicircum", "~": "asciitilde"}
_TEXTS |= {"<": "less", ">": "greater", "|": "bar"}
_LATEX = {sign: f"\\{sign}" for sign in "{}$&#%_"}
_LATEX |= {sign: rf"\text{name}{{}}" for sign, name in _TEXTS.items()}
_LATEX |= {sign: rf"$\{name}$" for sign, name in _MATHS.items()}
# at the start of a row a bracket or star would belong to the line break before it
_LATEX |= {sign: f"{{{sign}}}" for sign in "[]*"}
_LATEX |= {"−": "$-$", "–": "--", "—": "---", "“": "``", "”": "''", "‘": "`", "’": "'"}
_LATEX |= {"²": "$^2$", "†": r"$^\dagger$", "…": r"\ldots{}"}
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
