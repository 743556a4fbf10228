"""The list of commands; only the one that is called is loaded."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

import click

from probative._version import __version__
from probative.cli.completion import OPTIONS, complete
from probative.cli.parameters import as_command

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["build_app", "call"]

COMMANDS = (
    "score",
    "compare",
    "rank",
    "board",
    "bayes",
    "crossval",
    "split",
    "interval",
    "plan",
    "sample",
    "watch",
    "estimate",
    "agreement",
    "ledger",
    "sweep",
    "check",
    "demo",
    "study",
)
STUDIES = (
    "coverage",
    "bayes",
    "pairing",
    "tests",
    "chunking",
    "segmentation",
    "planning",
    "sequential",
    "clusters",
    "metrics",
    "macro",
    "gates",
    "training",
    "ranks",
    "runs",
    "repeats",
    "looks",
    "watching",
    "ledger",
    "datasets",
    "curves",
    "annotation",
    "agreement",
    "overlap",
)


def call(arguments: Sequence[str]) -> int:
    """Run the command that the arguments name and return its exit status."""
    words = list(arguments)
    if not words or words == ["study"]:
        words.append("--help")
    program = build_app()
    completed = complete(program, "probative")
    if completed is not None:
        return completed
    # Click's own main() would turn a closed pipe into exit status 1
    with program.make_context("probative", words) as context:
        status = program.invoke(context)
    return status if isinstance(status, int) else 0


class _Commands(click.Group):
    """Commands that stand each in the module of its name."""

    def __init__(self, name: str, names: Sequence[str], package: str, words: str):
        super().__init__(name, help=words, no_args_is_help=True)
        self.names, self.package = names, package

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002  # Click's signature
        return list(self.names)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:  # noqa: ARG002
        if name not in self.names:
            return None
        if name == "study":
            return _studies()
        module = import_module(f"{self.package}.{name}")
        return as_command(name, getattr(module, name))


def build_app() -> click.Group:
    """Return the program."""
    app = _Commands(
        "probative",
        COMMANDS,
        "probative.cli",
        "How good is this NLP system, and is that one really better?",
    )
    app.params += OPTIONS
    return click.version_option(__version__, message="probative %(version)s")(app)


def _studies() -> click.Group:
    words = "The experiments of the source papers, and others that tell what to expect."
    return _Commands("study", STUDIES, "probative.cli.studies", words)
