"""The list of commands."""

from __future__ import annotations

from typing import Annotated

import typer

from probative._version import __version__
from probative.cli import demo, interval, study

__all__ = ["app"]

app = typer.Typer(
    name="probative",
    help="How good is this NLP system, and is that one really better?",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"probative {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Print the version."),
    ] = False,
) -> None:
    """How good is this NLP system, and is that one really better?"""


app.command("interval")(interval.interval)
app.command("demo")(demo.demo)
app.add_typer(study.app, name="study")
