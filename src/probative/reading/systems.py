"""The systems that words of a command line stand for: files, folders, patterns, names."""

from __future__ import annotations

from glob import has_magic
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from probative.errors import InputError
from probative.files import find_paths
from probative.reading.source import is_brat_folder, is_output

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = [
    "SystemFile",
    "find_systems",
    "folders_passed_over",
    "named_file",
    "taken_for_file",
]


class SystemFile(NamedTuple):
    """The output of a system; without a name of its own it is called after its file."""

    path: str
    name: str | None = None


def find_systems(words: Sequence[str], *, beside: str | None = None) -> list[SystemFile]:
    """The files that the words stand for, in their order, those of a folder by name.

    Parameters
    ----------
    words
        Each a file, a folder (all files in it), a pattern such as ``runs/*.conll``, or
        ``name=file``.
    beside
        A file that is no system, though a folder or pattern may hold it: the answer.
    """
    files = []
    for word in words:
        found_here = list(_files_of(word))
        asked_for = len(found_here) == 1 and (found_here[0].name or found_here[0].path == word)
        several = [file for file in found_here if asked_for or not _same(file, beside)]
        if not several:
            raise InputError("no file but the answer; expected outputs of systems", word)
        files += several
    return files


def named_file(word: str) -> SystemFile:
    """The file that a word stands for, ``file`` or ``name=file``; a file of that very name wins."""
    if "=" not in word or word == "-" or Path(word).exists():
        return SystemFile(word)
    name, _, path = word.partition("=")
    if not name.strip() or not path:
        raise InputError(f"{word!r}: expected NAME=FILE")
    return SystemFile(path, name.strip())


def taken_for_file(word: str) -> str | None:
    """A remark on a file whose name could have been read as ``name=file``, too."""
    if "=" in word and Path(word).is_file() and Path(word.partition("=")[2]).is_file():
        return f"{word}: there is a file of this name, so this is no NAME=FILE"
    return None


def folders_passed_over(words: Sequence[str]) -> list[str]:
    """A remark on each folder among the words in which there are others: these are not read."""
    remarks = []
    for word in words:
        if not _is_folder(word) or is_brat_folder(word):
            continue
        inside = [p for p in Path(word).iterdir() if p.is_dir() and p.name[0] != "."]
        passed_over = sorted(p.name for p in inside if not is_brat_folder(p))
        if passed_over:
            remarks.append(f"{word}: folders in it are passed over: {', '.join(passed_over)}")
    return remarks


def _is_folder(word: str) -> bool:
    return word != "-" and Path(word).is_dir()


def _files_of(word: str) -> Iterator[SystemFile]:
    if word == "-" or is_output(word):
        yield SystemFile(word)
    elif _is_folder(word):
        inside = sorted(p for p in Path(word).iterdir() if is_output(p) and p.name[0] != ".")
        if not inside:
            raise InputError("the folder holds no files; expected outputs of systems", word)
        yield from (SystemFile(str(path)) for path in inside)
    elif "=" in word:
        yield named_file(word)
    elif has_magic(word):
        matches = [path for path in find_paths(word) if is_output(path)]
        if not matches:
            raise InputError("no file matches this pattern", word)
        yield from map(SystemFile, matches)
    else:
        yield SystemFile(word)


def _same(file: SystemFile, other: str | None) -> bool:
    if other is None or other == "-" or not Path(other).exists() or not Path(file.path).exists():
        return False
    return Path(file.path).samefile(other)
