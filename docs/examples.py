"""The examples of the pages: what `refresh.py` rewrites, and what the tests run."""

from __future__ import annotations

import re
import runpy
import shlex
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

WIDTH = 110  # characters of a line that every block of a page has room for
BLOCK = re.compile(r"^```(pycon|python|console|sh|text)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
COMMAND = re.compile(r"((?:[^\n]*\\\n)*[^\n]*)\n?(.*)", re.DOTALL)
# what these do depends on the machine, or takes minutes
NOT_RUN = ("make ", "pip ", "cd examples", "#")
FILES = Path(__file__).resolve().parent.parent / "examples"


@dataclass(frozen=True)
class Example:
    """A command of a console block, and what the page says it prints."""

    command: str
    expected: str

    @property
    def words(self) -> list[str]:
        """The words of the command, as a shell parts them."""
        return shlex.split(re.sub(r"\\\n", " ", self.command), comments=True)

    @property
    def is_run(self) -> bool:
        """Whether it is run at all."""
        return not self.command.startswith(NOT_RUN)


def copy_files(folder: Path) -> None:
    """Copy the example files, where pages need them: here, and in examples (README)."""
    for place in (folder, folder / "examples"):
        no_code = shutil.ignore_patterns("*.py", "__*", "examples")
        shutil.copytree(FILES, place, dirs_exist_ok=True, ignore=no_code)


def blocks(page: Path, *languages: str) -> Iterator[tuple[int, str]]:
    """The blocks in these languages, each with its line."""
    text = page.read_text(encoding="utf-8")
    for match in BLOCK.finditer(text):
        if match[1] in languages:
            yield text.count("\n", 0, match.start()) + 1, match[2]


def examples(block: str) -> list[Example]:
    """The commands of a console block."""
    parts = re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]
    return [Example(*COMMAND.match(part).groups()) for part in parts]


def perform(
    example: Example, probative: Callable[..., tuple[int, str]], status: int
) -> tuple[int, str]:
    """Do what a command says, in this folder; return its exit status and what it prints.

    Parameters
    ----------
    example
        The command: probative, or one of the few of a shell that make files and show them.
    probative
        Runs the program, and returns its status and what it prints.
    status
        The exit status of the command before.
    """
    words = example.words
    if example.command == "echo $?":
        return 0, f"{status}\n"
    if words[0] == "mkdir":
        Path(words[1]).mkdir()
        return 0, ""
    if words[0] == "cp":
        shutil.copy(words[1], words[2])
        return 0, ""
    if words[0] == "cat":
        return 0, "".join(Path(name).read_text(encoding="utf-8") for name in words[1:])
    if words[0] == "printf":  # a small file, made before it is used
        form, *values, arrow, name = words[1:]
        if arrow != ">":
            raise ValueError(f"cannot run {example.command!r}")
        line = form.encode().decode("unicode_escape")
        text = "".join(line.replace("%s", value) for value in values) if values else line
        Path(name).write_text(text, encoding="utf-8")
        return 0, ""
    if words[0] == "python":  # a script of the examples
        module = runpy.run_path(str(Path(__file__).resolve().parents[1] / words[1]))
        module["write"](*map(Path, words[2:]))
        return 0, ""
    if words[0] != "probative":
        raise ValueError(f"cannot run {example.command!r}")
    return probative(*words[1:])
