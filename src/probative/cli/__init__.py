"""The command line: parse, call, print. Nothing here computes."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return the exit status of the process.

    0: done; 1: a gate that was asked for did not hold; 2: bad usage or bad input; 3: an error of
    the program itself; 130: interrupted.
    """
    from click import Abort, ClickException

    from probative.cli.app import build_app
    from probative.errors import InputError

    words = list(sys.argv[1:] if arguments is None else arguments)
    if not words or words == ["study"]:
        words.append("--help")
    try:
        status = build_app()(words, prog_name="probative", standalone_mode=False)
        sys.stdout.flush()
    except ClickException as error:
        return _complain(_usage(error), 2)
    except InputError as error:
        return _complain(str(error) if error.path else f"probative: {error}", 2)
    except (Abort, KeyboardInterrupt):
        return 130
    except BrokenPipeError:
        # the reader of our output has left; keep the interpreter from saying so once more
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except Exception as error:
        if os.environ.get("PROBATIVE_DEBUG"):
            raise
        what = f"{type(error).__name__}: {error}"
        return _complain(
            f"probative: internal error, please report it: {what} "
            f"(PROBATIVE_DEBUG=1 shows where it happened)",
            3,
        )
    return status if isinstance(status, int) else 0


def _complain(message: str, status: int) -> int:
    from probative.reporting.escape import plain

    line = plain(" ".join(message.split()))
    print(line, file=sys.stderr)  # noqa: T201  # the one place where errors are told
    return status


def _usage(error: Exception) -> str:
    """Click's own errors in our form: which command, what is wrong, what was expected."""
    from probative.errors import suggestion

    context = getattr(error, "ctx", None)
    where = context.command_path if context else "probative"
    message = getattr(error, "format_message", error.__str__)().rstrip(".")
    message = message.replace("Invalid value for ", "").replace(" Did you mean", "; did you mean")
    commands = getattr(getattr(context, "command", None), "commands", None)
    if message.startswith("No such command") and commands:
        word = message.split("'")[1]
        message = f"no command {word!r}; expected one of {', '.join(commands)}"
        message += suggestion(word, commands)
    return f"{where}: {message}"
