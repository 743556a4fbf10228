"""The list of commands."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Annotated

import typer

from probative._version import __version__

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["build_app"]

# Each command stands in the module of its name. Only the one that is called is loaded: building
# the parsers of all of them takes longer than most commands run.
COMMANDS = ("score", "compare", "interval", "plan", "check", "demo")
GROUPS = ("study",)


def build_app(arguments: Sequence[str]) -> typer.Typer:
    """Return the program with the command that the arguments name, or with all for the others."""
    app = typer.Typer(
        name="probative",
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
    )
    app.callback()(_options)
    called = next((word for word in arguments if not word.startswith("-")), None)
    for name in (*COMMANDS, *GROUPS):
        if called in (*COMMANDS, *GROUPS) and name != called:
            continue
        module = import_module(f"probative.cli.{name}")
        if name in GROUPS:
            app.add_typer(module.app, name=name)
        else:
            app.command(name)(getattr(module, name))
    return app


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
