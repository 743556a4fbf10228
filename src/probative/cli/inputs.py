"""Find the files that the words of a command name; check those to be written, digest those read."""

from __future__ import annotations

import hashlib
import os
import shlex
import stat
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from probative.errors import InputError
from probative.files import check_folder, check_target, find_paths, source_date, utc_day

if TYPE_CHECKING:
    from probative.reporting.document import Origin
    from probative.results import Scores

# --- Gold and systems


def named_systems(
    words: Sequence[str],
    names: Sequence[str] | None,
    *,
    expand: bool = False,
    beside: str | None = None,
    who: str = "systems",
) -> tuple[list[str], list[str] | None, list[str]]:
    """Return the files that words name (``FILE`` or ``NAME=FILE``), their names, and remarks."""
    # with `expand`, words may be folders and patterns; `beside` is the gold file
    from probative.matching.outputs import short_name
    from probative.reading.runs import find_systems, named_file, taken_for_file

    files = find_systems(words, beside=beside) if expand else [named_file(word) for word in words]
    remarks = [] if expand else [remark for word in words if (remark := taken_for_file(word))]
    paths = [file.path for file in files]
    if not any(file.name is not None for file in files):
        return paths, None if names is None else list(names), remarks
    if names:
        raise InputError(f"names: the {who} have names already; expected none")
    return paths, [file.name or short_name(file.path) for file in files], remarks


def words_by_option(named: Mapping[str, str | None], files: Sequence[str]) -> list[str]:
    """Return the files, with those of --gold, --a and --b (`named`) in front."""
    given = [word for word in named.values() if word is not None]
    missing = next((name for name in list(named)[: len(given)] if named[name] is None), None)
    if missing is not None:
        raise InputError(f"--{missing}: missing; expected it beside the others")
    return [*given, *files]


def inputs_of(
    files: list[str],
    runs: Sequence[str] | None,
    names: Sequence[str] | None,
    *,
    counts: bool = False,
    expand: bool = False,
) -> tuple[list[Any], Sequence[str] | None, list[str]]:
    """Return the inputs for the library, the names of the systems, and remarks."""
    # `runs` are NAME=FILES; with `counts` the files hold counts; with `expand` outputs may be
    # folders and patterns
    if not files and not runs:
        wanted = "files of counts" if counts else "gold"
        raise InputError(f"{'FILE' if counts else 'GOLD'}: missing; expected {wanted}")
    if counts:
        return _counts(files, runs, names, expand=expand)
    from probative.matching.outputs import short_name
    from probative.reading.runs import find_runs, named_file

    if not files:  # logs need no gold
        return [find_runs(runs or ())], None, []
    is_log = named_file(files[0]).name is not None  # it has a name, as a system may have
    gold, words = ([], files) if is_log else (files[:1], files[1:])
    beside = None if is_log else files[0]
    systems, called, remarks = named_systems(words, names, expand=expand, beside=beside)
    if not runs:
        return [*gold, *systems], called, remarks
    [first, *others] = [*gold, *systems]
    known = dict(zip(called or map(short_name, others), others, strict=True))
    return [first, _together(known, find_runs(runs, beside=first))], None, remarks


def _together(systems: Mapping[str, Any], more: Mapping[str, Any]) -> dict[str, Any]:
    twice = next((name for name in more if name in systems), None)
    if twice is not None:
        raise InputError(f"--runs: {twice!r} is a system already; expected another name")
    return {**systems, **more}


def _counts(
    files: list[str], runs: Sequence[str] | None, names: Sequence[str] | None, *, expand: bool
) -> tuple[list[Any], None, list[str]]:
    """Read the counts of systems, with one or several runs each, and pair their rows."""
    from probative.reading.counts_files import pair_units, read_run_rows
    from probative.reading.runs import find_runs

    paths, called = (named_systems(files, names, expand=True)[:2]) if expand else (files, names)
    if called is not None and len(called) != len(paths):
        raise InputError(f"names: {len(called)} for {len(paths)} files; expected one each")
    systems: dict[str, list[Any]] = {}
    for number, path in enumerate(paths):
        found = read_run_rows(path)
        if called is not None:
            if len(found) > 1:
                raise InputError("names: the systems have names already; expected none", path)
            found = {called[number]: next(iter(found.values()))}
        for name, own in found.items():
            if name in systems:
                raise InputError(f"{name!r} for the second time; expected different names", path)
            systems[name] = [(path, rows) for rows in own.values()]
    more: dict[str, list[Any]] = {}
    for name, own_files in find_runs(runs or ()).items():
        for path in own_files:
            found = read_run_rows(path)
            if len(found) > 1:
                raise InputError("holds several systems; expected one, with --runs", path)
            more.setdefault(name, []).extend((path, r) for r in next(iter(found.values())).values())
    several = bool(runs) or any(len(own) > 1 for own in systems.values())
    together = _together(systems, more)
    counts, remarks = pair_units([table for own in together.values() for table in own])
    left = iter(counts)
    by_system = {name: [next(left) for _ in own] for name, own in together.items()}
    single = {name: own[0] for name, own in by_system.items()}
    return [by_system if several else single], None, remarks


_RULES_OFFERED = 5


def offered_rules(scores: Scores) -> list[str]:
    """Return, for each system, the options that would accept values of records in another form."""
    remarks = []
    for system in scores.systems:
        found = () if system.outcomes is None else system.outcomes.near_misses[:_RULES_OFFERED]
        words = " ".join(f"--field {shlex.quote(miss.option)}" for miss in found)
        if words:
            accepted = sum(miss.number for miss in found)
            remarks.append(f"{system.name}: {words} would accept {accepted:,} wrong values")
    return remarks


# --- Inputs and outputs, checked before any work

_FILES = ("html", "figure", "to")  # options that name a file to be written
_FOLDERS = ("output", "resume", "cache")  # options that name a folder to write to
_ENDINGS = {"html": (".html", ".htm"), "figure": (".png", ".svg", ".pdf")}
_PATHS_FLAGS = {"to": "--output"}  # if it is not the parameter's name


def check_paths(parameters: Sequence[click.Parameter], values: Mapping[str, Any]) -> None:
    """Refuse to write over an input, another output or something that is no file."""
    inputs = list(_inputs(parameters, values))
    if "-" in inputs and sys.stdin is None:
        raise InputError("-: standard input is closed; expected something to read")
    if inputs.count("-") > 1:
        raise InputError("-: standard input can be read only once; expected one - at most")
    folders = {name: Path(values[name]) for name in _FOLDERS if values.get(name)}
    read = {_identity(path): f"the input {path}" for path in inputs}
    # the files behind the standard streams, which the shell may have opened by name; standard
    # input that is not read may be any file
    streams = ("read as standard input", "where standard output goes", "where errors go")
    unread = 0 if "-" in inputs else 1
    read |= {_identity(number): streams[number] for number in range(unread, 3)}
    read.pop(None, None)
    for name, folder in folders.items():
        check_folder(folder)
        held = next((p for p in inputs if p != "-" and _same(Path(p).parent, folder)), None)
        if held is not None:
            raise InputError(f"--{name} holds the input {held}; expected another folder", folder)
    kept = [*folders.values(), *(Path(path) for path in inputs if Path(path).is_dir())]
    taken: dict[str, str] = {}
    for name in _FILES:
        if values.get(name):
            target = _check_file(name, Path(values[name]), read, kept)
            other = taken.setdefault(os.path.normcase(target), name)
            if other != name:
                both = f"{_flag_of_path(other)} and {_flag_of_path(name)}"
                raise InputError(f"cannot be both {both}; expected two files", values[name])


def _check_file(name: str, path: Path, read: Mapping[Any, str], kept: Sequence[Path]) -> Path:
    """Check one file that is to be written; return its real path."""
    if name == "figure":
        from probative.reporting.pictures import figure_format

        figure_format(path)
    folder_will_be_made = (
        any(_same(path.parent, folder) for folder in kept) and not path.parent.exists()
    )
    target = Path(os.path.realpath(path)) if folder_will_be_made else check_target(path)
    _protect(name, path, target, read)
    inside = next((f for f in kept if Path(os.path.realpath(f)) in target.parents), None)
    endings = _ENDINGS.get(name)  # an option without endings never writes over a file
    if inside is not None and endings is not None and target.suffix.lower() not in endings:
        expected = f"a name ending in {' or '.join(endings)}"
        raise InputError(f"--{name} could write over a file of {inside}; expected {expected}", path)
    return target


def protect_code(**outputs: Path | None) -> None:
    """Refuse to write over the source of a loaded module, such as a user's model."""
    files = {name: getattr(module, "__file__", None) for name, module in sys.modules.items()}
    read = {_identity(file): f"the source of {name}" for name, file in files.items() if file}
    read.pop(None, None)
    for name, path in outputs.items():
        if path is not None:
            _protect(name, path, path, read)


def _protect(name: str, path: Path, target: Path, read: Mapping[Any, str]) -> None:
    what = read.get(_identity(target))
    if what is not None:
        # the message starts with the path already
        what = "an input" if what == f"the input {path}" else what
        raise InputError(f"is {what}; expected another file for {_flag_of_path(name)}", path)


def _inputs(parameters: Sequence[click.Parameter], values: Mapping[str, Any]) -> Iterator[str]:
    """Yield the files that the command reads: its arguments, and options that name a file."""
    for parameter in parameters:
        value = values.get(parameter.name)
        if not value or parameter.name in (*_FILES, *_FOLDERS):
            continue
        kind = "FILE" if parameter.param_type_name == "argument" else parameter.metavar
        given = [str(part) for part in (value if isinstance(value, list | tuple) else [value])]
        if kind == "NAME GOLD A B":
            given, kind = [word for _, *words in value for word in words], "FILE"
        if kind == "NAME=FILES":
            given, kind = [word.partition("=")[2] for word in given], "GLOB"
            given += [str(Path(folder) / "*") for folder in given if Path(folder).is_dir()]
        if kind == "GLOB":
            given = [path for pattern in given for path in find_paths(pattern)]
        if kind in ("FILE", "FILE.md", "GLOB") or parameter.name == "folds":
            yield from given
            yield from (word.partition("=")[2] for word in given if "=" in word)  # NAME=FILE


def _identity(file: Path | str | int) -> tuple[int, int] | None:
    """Return device and inode of a regular file, or None; equal for all names of a file."""
    try:
        status = os.stat(file)  # noqa: PTH116  # also the number of an open file
    except (OSError, ValueError):
        return None
    return (status.st_dev, status.st_ino) if stat.S_ISREG(status.st_mode) else None


def _flag_of_path(name: str) -> str:
    return _PATHS_FLAGS.get(name, f"--{name}")


def _same(one: Path, other: Path) -> bool:
    return os.path.realpath(one) == os.path.realpath(other)


# --- Where a page comes from: the command, the date, and digests of the files

_DIGEST_DIGITS = 12
_MOST_FILES = 50  # listed
_LARGEST_DIGESTED = 2**28  # bytes; larger files have no digest


def origin_of_command() -> Origin | None:
    """Return the origin of a page that the running command makes; None without a command."""
    from probative.reporting.document import Origin

    context = click.get_current_context(silent=True)
    if context is None:
        return None
    words: Sequence[str] = context.find_root().meta.get("probative.words", ())
    shown = shlex.join(["probative", *map(_without_folders, words)])
    found: list[Path] = []
    options = [option for option in context.command.params if option.name != "ledger"]
    for given in _inputs(options, context.params):
        with suppress(OSError):  # NAME=FILE, which may be too long for a path
            path = Path(given)
            inside = sorted(path.iterdir()) if path.is_dir() else map(Path, find_paths(given))
            found += [path] if path.is_file() else [own for own in inside if own.is_file()]
    files = tuple((path.name, _digest(path)) for path in [*dict.fromkeys(found)][:_MOST_FILES])
    more = len({*found}) - len(files)
    rest = ((f"{more:,} more files", ""),) if more > 0 else ()
    return Origin(shown, source_date() or utc_day(time.time()), (*files, *rest))


def _without_folders(word: str) -> str:
    """Shorten the path in a word such as ``a/gold.conll`` or ``NAME=a/gold.conll``."""
    head, equals, path = word.rpartition("=")
    return f"{head}{equals}{Path(path).name}" if os.sep in path else word


def _digest(path: Path) -> str:
    """Return the first digits of the SHA-256 of a file; of a large file its size."""
    try:
        size = path.stat().st_size
        if size > _LARGEST_DIGESTED:
            return f"{size:,} bytes"
        with path.open("rb") as file:
            return f"sha256 {hashlib.file_digest(file, 'sha256').hexdigest()[:_DIGEST_DIGITS]}"
    except OSError:
        return ""
