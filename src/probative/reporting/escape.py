"""Text from files, made harmless for the place where it will stand."""

from __future__ import annotations

import re
import unicodedata

__all__ = ["csv_cell", "latex", "markdown", "plain"]

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
    "−": "$-$",
    "–": "--",
}
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


def markdown(text: str) -> str:
    """Escape what Markdown and the HTML inside it would read as structure."""
    safe = plain(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return re.sub(r"([\\`*_\[\]|~#])", r"\\\1", safe)


def latex(text: str) -> str:
    """Escape what LaTeX would read as a command."""
    return "".join(_LATEX.get(c, c) for c in plain(text))


def csv_cell(value: object) -> object:
    """Keep spreadsheets from running a cell of text as a formula; numbers stay as they are."""
    if isinstance(value, str):
        safe = plain(value)
        return f"'{safe}" if safe[:1] in {"=", "+", "-", "@"} else safe
    return value
