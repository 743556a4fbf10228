"""The list of commands; only the one that is called is loaded."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from inspect import getdoc
from typing import Any

import click

from probative._version import __version__
from probative.errors import InputError

# The first sentences of the help of commands; the rest are the docstrings of their functions
COMMANDS = {
    "score": "What does my system score? Precision, recall, F1 with intervals, from files.",
    "compare": "Is B really better than A? Scores, differences, exact tests, posteriors and a "
    "verdict.",
    "rank": "Who is best, and who ties? A leaderboard with rank sets, ties and P(best).",
    "board": "Score every submission of a folder, and write a site with the leaderboard.",
    "bayes": "Compare two models by the counts of a cross-validation, with the Bayes test.",
    "crossval": "Train and compare two models by cross-validation.",
    "split": "Write files for 2m balanced folds, with a manifest.",
    "interval": "Compute precision, recall and F1 with intervals from counts.",
    "plan": "Compute the sample size, the power or the smallest detectable difference.",
    "sample": "Choose the units of a large pool whose labels are most informative.",
    "watch": "Check whether you may stop labelling, or how many more labels are needed.",
    "estimate": "Estimate scores and differences on the whole pool from a labelled sample.",
    "agreement": "Measure agreement between annotators: kappa, Krippendorff's alpha, or F1 of "
    "spans.",
    "ledger": "Show how often each test set of a ledger was used, and how often it can still be "
    "used.",
    "sweep": "Score a word segmenter at every share of accepted boundaries.",
    "check": "Show what a file holds and what is wrong with it; exit status 1 if something is.",
    "app": "Open a page in the browser: drop files, read the result. Nothing leaves this computer.",
    "demo": "Show what this program does, on data that come with it.",
    "study": "Repeat the experiments of the source papers; measure how well intervals hold.",
}
# commands whose module has another name
MODULES = {"board": "rank", "crossval": "bayes"}
MODULES |= dict.fromkeys(("sample", "estimate", "watch"), "surveys")
MODULES |= dict.fromkeys(
    ("agreement", "check", "demo", "interval", "ledger", "plan", "split", "sweep"), "tools"
)
# commands of other packages of this wheel, found by their entry points
_PACKAGES = {"app": "probative_app", "study": "probative_studies"}
# commands that compute nothing, and modules of NumPy that SciPy loads for the others without using
# them, a fifth of the time before they begin
_WITHOUT_NUMBERS = {"app", "check", "ledger", "split"}
_UNUSED_OF_NUMPY = {"f2py", "testing"}
_importing = threading.Lock()  # of two threads, the second would restore the shorter names


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


class _Commands(click.Group):
    """Group of commands, each found when it is called; its help shows their first sentences."""

    def __init__(
        self, sentences: Mapping[str, str], find: Callable[[str], click.Command], **how: Any
    ):
        super().__init__(no_args_is_help=True, **how)
        self.sentences, self.find = sentences, find
        self.names = tuple(sentences)

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002  # Click's signature
        return list(self.names)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:  # noqa: ARG002
        return self.find(name) if name in self.names else None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        with formatter.section("Commands"):
            formatter.write_dl(list(self.sentences.items()))


def _command(name: str) -> click.Command:
    """Load a command."""
    if name not in _WITHOUT_NUMBERS:
        _import_scipy()
    if name == "study":
        return _studies()
    from probative.cli.options import as_command

    if name in _PACKAGES:
        return as_command(name, _loaded(name), COMMANDS[name])
    module = import_module(f"probative.cli.{MODULES.get(name, name)}")
    return as_command(name, getattr(module, name), COMMANDS[name])


def _import_scipy() -> None:
    """Import SciPy's special functions without modules of NumPy that they do not use."""
    # SciPy copies all names that NumPy shows, which loads its modules: it is shown fewer
    import numpy as np

    with _importing:
        if "scipy.special" in sys.modules:
            return
        shown, listed = np.__all__, np.__dir__
        kept = [name for name in np.__dir__() if name not in _UNUSED_OF_NUMPY]
        names: dict[str, Any] = vars(np)
        names["__all__"] = [name for name in shown if name not in _UNUSED_OF_NUMPY]
        names["__dir__"] = lambda: kept
        try:
            import scipy.special  # noqa: F401
        finally:
            names["__all__"], names["__dir__"] = shown, listed


def _loaded(name: str) -> Any:
    """Load what another package offers for a command."""
    from importlib.metadata import entry_points  # slow to import, and few commands need it

    found = entry_points(group="probative.commands", name=name)
    if not found:
        raise InputError(f"{name}: the package {_PACKAGES[name]} is not installed")
    return next(iter(found)).load()


def _studies() -> click.Group:
    """Return the group of studies."""
    from probative.cli.options import as_command

    studies = _loaded("study")
    docs = {name: getdoc(study) or "" for name, study in studies.items()}
    sentences = {name: " ".join(text.split("\n\n")[0].split()) for name, text in docs.items()}
    how = {"name": "study", "help": COMMANDS["study"]}
    return _Commands(sentences, lambda name: as_command(name, studies[name]), **how)


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
    question = "How good is this NLP system, and is that one really better?"
    app = _Commands(COMMANDS, _command, name="probative", help=question)
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
