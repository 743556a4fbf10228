"""Define the error for unusable files and arguments."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

ONE_POINT = "0.01 is one point"  # in messages to users who write 1 for one point


class Recognised(str):
    """Note on how a file was read: no caveat, so the command line shows it only if verbose."""

    __slots__ = ()


class InputError(ValueError):
    """Error about a file or an argument that cannot be used.

    Its text is one line, ``file:line: what is wrong; what was expected``. If it is about an
    argument, it begins with that keyword and a colon (``beta: …``); further keywords are followed
    by an equals sign (``gold_column=``, ``align_by='position'``). The command line replaces both by
    its own names.

    Parameters
    ----------
    message
        What was found and what was expected.
    path, line
        The file, and the line in it from 1 on.

    Attributes
    ----------
    message
        The text without the place.
    """

    def __init__(self, message: str, path: Path | str | None = None, line: int | None = None):
        self.path = None if path is None else str(path)
        self.line = line
        self.message = message
        place = "" if path is None else f"{path}:" if line is None else f"{path}:{line}:"
        super().__init__(" ".join(f"{place} {message}".strip().splitlines()))


def suggestion(word: object, options: Iterable[str]) -> str:
    """Return a closing phrase that names the option nearest to a misspelt word, or ""."""
    from difflib import get_close_matches

    known = {option.lower(): option for option in options}
    near = get_close_matches(str(word).lower(), list(known), n=1, cutoff=0.5)
    return f"; did you mean {known[near[0]]!r}?" if near else ""
