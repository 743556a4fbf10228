"""Complete words in the shell, and install completion."""

from __future__ import annotations

import os
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from probative.errors import InputError, suggestion

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from click.shell_completion import CompletionItem

    Completer = Callable[[click.Context, click.Parameter, str], list[CompletionItem]]

__all__ = ["OPTIONS", "SHELLS", "complete", "completer"]

SHELLS = ("bash", "zsh", "fish")
_VARIABLE = "_PROBATIVE_COMPLETE"  # environment variable by which a shell asks
# Modules and names that declare the words of an option; exceptions of a command have its name in
# front.
_WORDS = {
    "--adjust": "inference.rank:ADJUSTMENTS",
    "--align": "reading.alignment:ALIGNMENTS",
    "--average": "jobs.score:AVERAGES",
    "--by": "jobs.score:UNITS",
    "--format": "reporting.render:FORMATS",
    "--input-format": "reading.formats:FORMATS",
    "--match": "matching.rules:MATCHES",
    "--method": "inference.intervals:METHODS",
    "--metric": "metrics:METRICS",
    "--pairs": "jobs.board:PAIRS",
    "--regularize": "crossval.corpus:REGULARIZED",
    "--repair": "matching.schemes:REPAIRS",
    "--scheme": "matching.schemes:SCHEMES",
    "--task": "reading.formats:TASKS",
    "--weight": "inference.crossval:WEIGHTS",
    "bayes --plot": ("densities", "difference"),
    "coverage --metric": ("f1", "jaccard", "precision", "recall"),
    "coverage --plot": ("coverage", "length", "heatmap"),
    "segmentation --device": ("auto", "cpu", "cuda"),
    "segmentation --language": ("zh", "en"),
    "study bayes --task": ("cws", "ner", "org"),
    "tests --method": (),
}
_MORE = {"score --format": ("conlleval",)}
_FOLDERS = ("DIR", "SITE", "SUBMISSIONS")
_FILES = ("FILE", "GLOB", "GOLD", "CORPUS", "FOLDS_A", "PROBABILITIES")


def complete(program: click.Command, name: str) -> int | None:
    """Answer a shell that asks for completions; return None if none does."""
    asked = os.environ.get(_VARIABLE)
    if not asked:
        return None
    from click.shell_completion import shell_complete

    return shell_complete(program, {}, name, _VARIABLE, asked)


def completer(flag: str | None, metavar: str | None) -> Completer:
    """Return the function that completes an option, or an argument (without a flag)."""

    def offer(context: click.Context, _: click.Parameter, begun: str) -> list[CompletionItem]:
        from click.shell_completion import CompletionItem  # needed only when a shell asks

        kind = (metavar or "").split(" ")[0].strip(".[]")
        if kind in _FOLDERS:
            return [CompletionItem(begun, type="dir")]
        if flag is None or kind in _FILES:
            return [CompletionItem(begun, type="file")]
        done, comma, word = begun.rpartition(",")  # complete the last word of a list
        given = done.split(",")
        return [
            CompletionItem(done + comma + each)
            for each in _words(context, flag)
            if each.startswith(word) and each not in given
        ]

    return offer


def _words(context: click.Context, flag: str) -> Sequence[str]:
    parts = context.command_path.split(" ")
    keys = [f"{' '.join(parts[i:])} {flag}" for i in range(len(parts))]
    declared: Any = next((_WORDS[key] for key in (*keys, flag) if key in _WORDS), ())
    if isinstance(declared, str):
        module, _, name = declared.partition(":")
        declared = tuple(getattr(import_module(f"probative.{module}"), name))
    return (*declared, *(word for key in keys for word in _MORE.get(key, ())))


def _script(shell: str, name: str) -> str:
    from click.shell_completion import get_completion_class

    kind = get_completion_class(shell)
    assert kind is not None  # noqa: S101  # Click has all of SHELLS
    made = kind(click.Command(name), {}, name, _VARIABLE)
    return made.source_template % made.source_vars() + "\n"


def _shell(asked: str) -> str:
    """Return the requested shell, or that of the user."""
    shell = Path(os.environ.get("SHELL", "")).name if asked == "auto" else asked
    if shell not in SHELLS:
        found = f"{shell!r}" if shell else "no shell is known by SHELL"
        raise InputError(
            f"completion: {found}; expected one of {', '.join(SHELLS)}{suggestion(shell, SHELLS)}"
        )
    return shell


def _show(context: click.Context, _: click.Parameter, shell: str | None) -> None:
    if shell is not None:
        click.echo(_script(_shell(shell), "probative"), nl=False)
        context.exit()


def _install(context: click.Context, _: click.Parameter, asked: str | None) -> None:
    if asked is None:
        return
    for line in install(_shell(asked)):
        click.echo(line)
    context.exit()


def install(shell: str) -> list[str]:
    """Write the script of a shell and the line that loads it; return the steps done."""
    from probative.files import make_folder, write_whole

    home = Path.home()
    folder = Path(os.environ.get("XDG_CONFIG_HOME") or home / ".config")
    script = folder / ("fish/completions/probative.fish" if shell == "fish" else
                       f"probative/completion.{shell}")  # fmt: skip
    start = home / f".{shell}rc"
    line = _loading(shell, script)
    make_folder(script.parent)
    write_whole(script, _script(shell, "probative"))
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


def _loading(shell: str, script: Path) -> str:
    """Return the line for the user's start-up file."""
    import shlex

    source = f"source {shlex.quote(str(script))}"
    if shell == "zsh":  # zsh completes nothing before its own system is loaded
        return f"(( $+functions[compdef] )) || {{ autoload -Uz compinit && compinit; }}; {source}"
    return source


OPTIONS = tuple(
    click.Option(
        [flag],
        metavar="[SHELL]",
        is_flag=False,
        flag_value="auto",
        expose_value=False,
        is_eager=True,
        callback=callback,
        help=words,
    )
    for flag, callback, words in (
        ("--install-completion", _install, "Teach bash, zsh or fish to complete probative."),
        ("--show-completion", _show, "Print the script that does it, and change nothing."),
    )
)
