"""Command line: parse the words, call the library, print. Nothing here computes."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return the exit status of the process.

    0: done; 1: a gate that was asked for did not hold; 2: bad usage, bad input or no room to work;
    3: an error of the program itself; 130: interrupted.
    """
    ours = arguments is None  # the process and its streams and signals belong to this command
    words = list(sys.argv[1:] if arguments is None else arguments)
    try:
        from probative.cli.output import finish, prepare

        if ours:
            prepare()
        status = _run(words)
        return finish(status) if ours else status
    except KeyboardInterrupt:
        return 130


def _run(words: list[str]) -> int:
    if sys.stdout is None:
        return _complain("probative: standard output is closed; expected a place to print to", 2)
    try:
        from probative.cli.app import call
        from probative.cli.output import plain_warnings

        with plain_warnings(quiet="-q" in words or "--quiet" in words):
            return call(words)
    except KeyboardInterrupt:
        return 130
    except SystemExit as error:  # we never call it: a model or a plug-in did
        return _complain(f"probative: a model ended the program, sys.exit({error.code!r})", 2)
    except Exception as error:
        return _explain(error)


def _explain(error: Exception) -> int:
    """Print an error in one line and return its exit status."""
    from click import Abort, ClickException
    from click.exceptions import Exit

    from probative.cli.output import is_closed_pipe, results, silence, state
    from probative.errors import InputError

    if isinstance(error, Exit):
        return error.exit_code
    if isinstance(error, Abort) or state.pressed:  # some libraries turn Ctrl-C into another error
        return 130
    if isinstance(error, ClickException):
        return _complain(_usage(error), 2)
    if isinstance(error, InputError):
        return _complain(str(error) if error.path else f"probative: {error}", 2)
    if isinstance(error, MemoryError):
        return _complain("probative: not enough memory; expected less data, or a larger machine", 2)
    if is_closed_pipe(error):
        silence(results())
        return 0
    if isinstance(error, OSError) and error.errno is not None:
        place = f"{error.filename}: " if error.filename is not None else "probative: "
        return _complain(f"{place}{os.strerror(error.errno)}", 2)
    if os.environ.get("PROBATIVE_DEBUG"):
        raise error
    return _complain(
        f"probative: internal error, please report it: {type(error).__name__}: {error} "
        f"(PROBATIVE_DEBUG=1 shows where it happened)",
        3,
    )


def _complain(message: str, status: int) -> int:
    from probative.cli.output import say
    from probative.reporting.escape import plain

    say(plain(" ".join(message.split())) + "\n", sys.stderr)
    return status


def _usage(error: Exception) -> str:
    """Reword errors of Click in our form: command, what is wrong, what was expected."""
    from probative.errors import suggestion

    context = getattr(error, "ctx", None)
    where = context.command_path if context else "probative"
    message = getattr(error, "format_message", error.__str__)().rstrip(".")
    message = message.replace("Invalid value for ", "").replace(" Did you mean", "; did you mean")
    option = getattr(error, "option_name", None)
    if message.startswith("No such option") and option:
        message = f"No such option: {option}"
        message += suggestion(option, getattr(error, "possibilities", None) or ())
    commands = getattr(getattr(context, "command", None), "names", None)
    if message.startswith("No such command") and commands:
        word = message.split("'")[1]
        message = f"no command {word!r}; expected one of {', '.join(commands)}"
        message += suggestion(word, commands)
    return f"{where}: {message}"
