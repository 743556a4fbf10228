"""The list of commands; only the one that is called is loaded."""

from __future__ import annotations

import os
from importlib import import_module
from typing import TYPE_CHECKING

import click

from probative._version import __version__
from probative.cli.options import as_command
from probative.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

COMMANDS = (
    *("score", "compare", "rank", "board", "bayes", "crossval", "split", "interval", "plan"),
    *("sample", "watch", "estimate", "agreement", "ledger", "sweep", "check", "app", "demo"),
    "study",
)
# commands whose module has another name
MODULES = {
    "app": "web",
    **dict.fromkeys(("sample", "estimate", "watch"), "surveys"),
    **dict.fromkeys(("agreement", "check", "demo", "ledger", "plan", "split", "sweep"), "tools"),
}


def call(arguments: Sequence[str]) -> int:
    """Run the command that the arguments name and return its exit status."""
    words = list(arguments)
    if not words or words == ["study"]:
        words.append("--help")
    program = build_app()
    if os.environ.get("_PROBATIVE_COMPLETE"):  # a shell asks
        from probative.cli.completion import complete

        return complete(program, "probative")
    # Click's own main() would turn a closed pipe into exit status 1
    with program.make_context("probative", list(words)) as context:
        context.meta["probative.words"] = words
        status = program.invoke(context)
    return status if isinstance(status, int) else 0


class _Listed(click.Group):
    """A group whose help shows the first sentence of every command, whole."""

    names: Sequence[str] = ()

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002  # Click's signature
        return list(self.names)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        rows = []
        for name in self.list_commands(ctx):
            command = self.get_command(ctx, name)
            words = (command.help or "").split("\n\n")[0] if command else ""
            rows.append((name, " ".join(words.split())))
        with formatter.section("Commands"):
            formatter.write_dl(rows)


class _Commands(_Listed):
    """Group of commands that loads the module of a command when it is called."""

    names = COMMANDS

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:  # noqa: ARG002
        if name not in self.names:
            return None
        if name == "study":
            return _Studies()
        module = import_module(f"probative.cli.{MODULES.get(name, name)}")
        return as_command(name, getattr(module, name))


class _Studies(_Listed):
    """Group of studies, found by the entry point of their package."""

    def __init__(self) -> None:
        from importlib.metadata import entry_points  # slow to import, and only studies need it

        words = "Repeat the experiments of the source papers; measure how well intervals hold."
        super().__init__("study", help=words, no_args_is_help=True)
        found = entry_points(group="probative.commands", name="study")
        if not found:
            raise InputError("study: the package probative_studies is not installed")
        self.studies = next(iter(found)).load()
        self.names = tuple(self.studies)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:  # noqa: ARG002
        return as_command(name, self.studies[name]) if name in self.studies else None


def _complete(context: click.Context, option: click.Parameter, asked: str | None) -> None:
    """Install completion of a shell, or print its script."""
    if asked is not None:
        from probative.cli.completion import install, script_of, shell_of

        shell = shell_of(asked)
        is_installed = option.opts == ["--install-completion"]
        click.echo("\n".join(install(shell)) + "\n" if is_installed else script_of(shell), nl=False)
        context.exit()


def build_app() -> click.Group:
    """Return the program."""
    app = _Commands(
        "probative",
        help="How good is this NLP system, and is that one really better?",
        no_args_is_help=True,
    )
    app.params += [
        click.Option(
            [flag],
            metavar="[SHELL]",
            is_flag=False,
            flag_value="auto",
            expose_value=False,
            is_eager=True,
            callback=_complete,
            help=words,
        )
        for flag, words in (
            ("--install-completion", "Teach bash, zsh or fish to complete probative."),
            ("--show-completion", "Print the script that does it, and change nothing."),
        )
    ]
    return click.version_option(__version__, message="probative %(version)s")(app)
