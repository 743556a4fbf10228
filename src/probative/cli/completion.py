"""Complete words in the shell, and install completion."""

from __future__ import annotations

import os
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

import click

from probative.errors import InputError, suggestion
from probative.options import Option

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from probative.cli.options import Argument

SHELLS = ("bash", "zsh", "fish")
_VARIABLE = "_PROBATIVE_COMPLETE"  # environment variable by which a shell asks
_FOLDERS = ("DIR", "SITE", "SUBMISSIONS")
_FILES = ("FILE", "GLOB", "GOLD", "CORPUS", "FOLDS_A", "PROBABILITIES")


def complete(program: click.Command, name: str) -> int:
    """Answer a shell that asks for completions."""
    from click.shell_completion import shell_complete

    return shell_complete(program, {}, name, _VARIABLE, os.environ[_VARIABLE])


def offers(spec: Option | Argument, begun: str) -> list[CompletionItem]:
    """Return the completions of an option or an argument."""
    from click.shell_completion import CompletionItem

    kind = (spec.metavar or "").split(" ")[0].strip(".[]")
    if kind in _FOLDERS:
        return [CompletionItem(begun, type="dir")]
    if not isinstance(spec, Option) or kind in _FILES or spec.words > 1:
        return [CompletionItem(begun, type="file")]
    done, comma, word = begun.rpartition(",")  # complete the last word of a list
    given = done.split(",")
    return [
        CompletionItem(done + comma + each)
        for each in words_among(spec)
        if each.startswith(word) and each not in given
    ]


def words_among(option: Option) -> Sequence[str]:
    """Return the words of an option, as far as they are declared."""
    if isinstance(option.among, tuple):
        return option.among
    module, _, name = option.among.partition(":")
    return tuple(getattr(import_module(f"probative.{module}"), name))


def script_of(shell: str) -> str:
    """Return the script that makes a shell complete the program."""
    from click.shell_completion import get_completion_class

    kind = get_completion_class(shell)
    assert kind is not None  # noqa: S101  # Click has all of SHELLS
    made = kind(click.Command("probative"), {}, "probative", _VARIABLE)
    return made.source_template % made.source_vars() + "\n"


def shell_of(asked: str) -> str:
    """Return the requested shell, or that of the user."""
    shell = Path(os.environ.get("SHELL", "")).name if asked == "auto" else asked
    if shell not in SHELLS:
        found = f"{shell!r}" if shell else "no shell is known by SHELL"
        expected = f"{', '.join(SHELLS)}{suggestion(shell, SHELLS)}"
        raise InputError(f"completion: {found}; expected one of {expected}")
    return shell


def install(shell: str) -> list[str]:
    """Write the script of a shell and the line that loads it; return the steps done."""
    import shlex

    from probative.files import make_folder, write_whole

    home = Path.home()
    folder = Path(os.environ.get("XDG_CONFIG_HOME") or home / ".config")
    script = folder / ("fish/completions/probative.fish" if shell == "fish" else
                       f"probative/completion.{shell}")  # fmt: skip
    start = home / f".{shell}rc"
    line = f"source {shlex.quote(str(script))}"
    if shell == "zsh":  # zsh completes nothing before its own system is loaded
        line = f"(( $+functions[compdef] )) || {{ autoload -Uz compinit && compinit; }}; {line}"
    make_folder(script.parent)
    write_whole(script, script_of(shell))
    done = [f"wrote {script}"]
    if shell != "fish":  # fish loads scripts from there by itself
        text = start.read_text(encoding="utf-8", errors="surrogateescape") if start.exists() else ""
        if line in text.splitlines():
            done.append(f"{start} loads it already")
        else:
            gap = "" if text.endswith("\n") or not text else "\n"
            content = f"{text}{gap}{line}\n".encode("utf-8", "surrogateescape")
            write_whole(start, content)
            done.append(f"added to {start}: {line}")
    return [*done, f"a new {shell} will complete probative"]
