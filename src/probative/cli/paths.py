"""What a command reads and what it writes, checked before it begins to work."""

from __future__ import annotations

import os
import stat
import sys
from glob import glob
from pathlib import Path
from typing import TYPE_CHECKING, Any

from probative.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

__all__ = ["check_paths", "protect_code"]

FILES = ("html", "figure", "to")  # options that name a file to be written
FOLDERS = ("output", "resume", "cache")  # options that name a folder to write to
_ENDINGS = {"html": (".html", ".htm"), "figure": (".png", ".svg", ".pdf")}
_FLAGS = {"to": "--output"}  # where it is not called as the parameter is


def check_paths(parameters: Sequence[Any], values: Mapping[str, Any]) -> None:
    """Refuse to write over an input, over another output or over what is no file.

    Parameters
    ----------
    parameters
        The parameters of the command, as the parser knows them.
    values
        What was given for each, by its name.
    """
    inputs = list(_inputs(parameters, values))
    _check_standard_input(inputs)
    folders = {name: Path(values[name]) for name in FOLDERS if values.get(name)}
    read = {_identity(path): f"the input {path}" for path in inputs} | _streams(inputs)
    read.pop(None, None)
    for name, folder in folders.items():
        _check_folder(name, folder, inputs)
    kept = [*folders.values(), *(Path(path) for path in inputs if Path(path).is_dir())]
    taken: dict[str, str] = {}
    for name in FILES:
        if values.get(name):
            target = _check_file(name, Path(values[name]), read, kept)
            other = taken.setdefault(os.path.normcase(target), name)
            if other != name:
                raise InputError(
                    f"cannot be both {_flag(other)} and {_flag(name)}; expected two files",
                    values[name],
                )


def _check_file(name: str, path: Path, read: Mapping[Any, str], kept: Sequence[Path]) -> Path:
    """Check one file that is to be written; return what it is, through symbolic links."""
    from probative.files import check_target

    if name == "figure":
        from probative.reporting.figures import figure_format

        figure_format(path)
    folder_will_be_made = (
        any(_same(path.parent, folder) for folder in kept) and not path.parent.exists()
    )
    target = Path(os.path.realpath(path)) if folder_will_be_made else check_target(path)
    _protect(name, path, target, read)
    inside = next((f for f in kept if Path(os.path.realpath(f)) in target.parents), None)
    endings = _ENDINGS.get(name)  # what is never written over may be called anything
    if inside is not None and endings is not None and target.suffix.lower() not in endings:
        raise InputError(
            f"--{name} could write over a file of {inside}; expected a name ending in "
            f"{' or '.join(endings)}",
            path,
        )
    return target


def protect_code(**outputs: Path | None) -> None:
    """Refuse to write over the source of a module that is loaded; models of the user's have one."""
    files = {name: getattr(module, "__file__", None) for name, module in sys.modules.items()}
    read = {_identity(file): f"the source of {name}" for name, file in files.items() if file}
    read.pop(None, None)
    for name, path in outputs.items():
        if path is not None:
            _protect(name, path, path, read)


def _protect(name: str, path: Path, target: Path, read: Mapping[Any, str]) -> None:
    what = read.get(_identity(target))
    if what is not None:
        what = "an input" if what == f"the input {path}" else what  # the line names it already
        raise InputError(f"is {what}; expected another file for {_flag(name)}", path)


def _check_folder(name: str, folder: Path, inputs: Sequence[str]) -> None:
    from probative.files import check_folder

    check_folder(folder)
    for path in inputs:
        if path != "-" and _same(Path(path).parent, folder):
            raise InputError(
                f"--{name} holds the input {path}; expected a folder without inputs", folder
            )


def _check_standard_input(inputs: Sequence[str]) -> None:
    if "-" not in inputs:
        return
    if sys.stdin is None:
        raise InputError("-: standard input is closed; expected something to read")
    if inputs.count("-") > 1:
        raise InputError("-: standard input can be read only once; expected one - at most")


def _inputs(parameters: Sequence[Any], values: Mapping[str, Any]) -> Iterator[str]:
    """The files that the command reads: its arguments, and options that name a file."""
    for parameter in parameters:
        value = values.get(parameter.name)
        if not value or parameter.name in (*FILES, *FOLDERS):
            continue
        kind = "FILE" if parameter.param_type_name == "argument" else parameter.metavar
        given = [str(part) for part in (value if isinstance(value, list | tuple) else [value])]
        if kind == "NAME GOLD A B":
            given, kind = [word for _, *words in value for word in words], "FILE"
        if kind == "NAME=FILES":
            given, kind = [word.partition("=")[2] for word in given], "GLOB"
            given += [str(Path(folder) / "*") for folder in given if Path(folder).is_dir()]
        if kind == "GLOB":
            given = [path for pattern in given for path in glob(pattern)]  # noqa: PTH207  # anywhere
        if kind in ("FILE", "GLOB") or parameter.name == "folds":
            yield from given
            yield from (word.partition("=")[2] for word in given if "=" in word)  # NAME=FILE


def _streams(inputs: Sequence[str]) -> dict[Any, str]:
    """The files behind the standard streams, which the shell may have opened by name."""
    names = ("read as standard input", "where standard output goes", "where errors go")
    return {
        _identity(number): name
        for number, name in enumerate(names)
        if number or "-" in inputs  # standard input that is not read may be anything
    }


def _identity(file: Path | str | int) -> tuple[int, int] | None:
    """What tells a file from all others, whatever its name; None for what is no regular file."""
    try:
        status = os.stat(file)  # noqa: PTH116  # also the number of an open file
    except (OSError, ValueError):
        return None
    return (status.st_dev, status.st_ino) if stat.S_ISREG(status.st_mode) else None


def _flag(name: str) -> str:
    return _FLAGS.get(name, f"--{name}")


def _same(one: Path, other: Path) -> bool:
    return os.path.realpath(one) == os.path.realpath(other)
