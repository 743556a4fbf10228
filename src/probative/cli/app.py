"""The list of commands."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperCommand
from typer.main import get_command

from probative._version import __version__
from probative.cli.options import check_needs
from probative.cli.paths import check_paths

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = ["build_app", "call"]

# Each command stands in the module of its name. Only the one that is called is loaded: building
# the parsers of all of them takes longer than most commands run.
COMMANDS = (
    "score",
    "compare",
    "bayes",
    "crossval",
    "split",
    "interval",
    "plan",
    "sweep",
    "check",
    "demo",
)
STUDIES = (
    "coverage",
    "bayes",
    "pairing",
    "tests",
    "chunking",
    "segmentation",
    "planning",
    "clusters",
    "macro",
    "gates",
    "training",
)


class CheckedCommand(TyperCommand):
    """A command that begins to work only when its options and paths can be used."""

    def invoke(self, ctx: Any) -> Any:
        """Check what was given, then call the function."""
        given = {
            parameter.name
            for parameter in self.params
            if getattr(ctx.get_parameter_source(parameter.name), "name", "") == "COMMANDLINE"
        }
        check_needs(ctx.command_path, given, ctx.params)
        check_paths(self.params, ctx.params)
        return super().invoke(ctx)


def call(arguments: Sequence[str]) -> int:
    """Run the command that the arguments name and return its exit status."""
    words = list(arguments)
    if not words or words == ["study"]:
        words.append("--help")
    program = get_command(build_app(words))
    # the parser's own main() would turn a closed pipe into exit status 1
    with program.make_context("probative", words) as context:
        status = program.invoke(context)
    return status if isinstance(status, int) else 0


def build_app(arguments: Sequence[str]) -> typer.Typer:
    """Return the program with the command that the arguments name, or with all for the others."""
    words = [word for word in arguments if not word.startswith("-")]
    app = _group("How good is this NLP system, and is that one really better?")
    app.callback()(_options)
    for name in _called(words[:1], (*COMMANDS, "study")):
        if name == "study":
            app.add_typer(_studies(words[1:2]), name="study")
        else:
            app.command(name, cls=CheckedCommand)(_command(f"probative.cli.{name}", name))
    return app


def _studies(words: Sequence[str]) -> typer.Typer:
    studies = _group("The experiments of the source papers, and others that tell what to expect.")
    studies.callback()(lambda: None)  # it stays a group, however few commands are loaded
    for name in _called(words, STUDIES):
        studies.command(name, cls=CheckedCommand)(_command(f"probative.cli.studies.{name}", name))
    return studies


def _group(words: str) -> typer.Typer:
    return typer.Typer(
        help=words,
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
    )


def _called(words: Sequence[str], names: Sequence[str]) -> Sequence[str]:
    """The name that was called, or all where it is none of them."""
    return words if words and words[0] in names else names


def _command(module: str, name: str) -> Callable[..., Any]:
    command: Callable[..., Any] = getattr(import_module(module), name)
    return command


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"probative {__version__}")
        raise typer.Exit


def _options(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Print the version."),
    ] = False,
) -> None:
    """How good is this NLP system, and is that one really better?"""
