"""Describe where a page comes from: the command, the date, and digests of the files."""

from __future__ import annotations

import hashlib
import os
import shlex
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import click

from probative.files import find_paths, source_date, utc_day
from probative.reporting.document import Origin

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = ["origin_of_command"]

_WRITTEN = {"--html", "--figure", "-o", "--output", "--ledger", "--cache", "--resume"}
_DIGITS = 12  # of a digest
_MOST_FILES = 50  # listed
_LARGEST = 2**28  # bytes; larger files have no digest


def origin_of_command() -> Origin | None:
    """Return the origin of a page that the running command makes; None without a command.

    Paths are shortened to their last part. The date is today's, or that of SOURCE_DATE_EPOCH.
    """
    context = click.get_current_context(silent=True)
    if context is None:
        return None
    words: Sequence[str] = context.find_root().meta.get("probative.words", ())
    shown = shlex.join(["probative", *map(_without_folders, words)])
    found = list(dict.fromkeys(_read_files(words)))
    files = tuple((path.name, _digest(path)) for path in found[:_MOST_FILES])
    more = len(found) - len(files)
    rest = ((f"{more:,} more files", ""),) if more > 0 else ()
    return Origin(shown, source_date() or utc_day(time.time()), (*files, *rest))


def _without_folders(word: str) -> str:
    """Shorten the path in a word such as ``a/gold.conll`` or ``NAME=a/gold.conll``."""
    head, equals, path = word.rpartition("=")
    return f"{head}{equals}{Path(path).name}" if os.sep in path else word


def _read_files(words: Sequence[str]) -> Iterator[Path]:
    """Yield the files that the words of a command name, alone, in folders or by patterns."""
    before = ""
    for word in words:
        is_written = before in _WRITTEN or word.partition("=")[0] in _WRITTEN
        before = word
        for path in () if is_written else dict.fromkeys((word, word.rpartition("=")[2])):
            with suppress(OSError):  # a word that is no path, such as a long list of names
                place = Path(path)
                if path and place.is_file():
                    yield place
                elif path and place.is_dir():
                    yield from sorted(own for own in place.iterdir() if own.is_file())
                elif any(sign in path for sign in "*?["):
                    yield from (Path(own) for own in find_paths(path) if Path(own).is_file())


def _digest(path: Path) -> str:
    """Return the first digits of the SHA-256 of a file; of a large file its size."""
    try:
        size = path.stat().st_size
        if size > _LARGEST:
            return f"{size:,} bytes"
        with path.open("rb") as file:
            return f"sha256 {hashlib.file_digest(file, 'sha256').hexdigest()[:_DIGITS]}"
    except OSError:
        return ""
