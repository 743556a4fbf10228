"""``probative app``, and the process that runs commands for it."""

from __future__ import annotations

import io
import json
import re
import shlex
import sys
import time
from contextlib import redirect_stderr
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from probative.cli.options import integer
from probative.cli.output import remark, state
from probative.errors import InputError
from probative.options import INPUT, OUTPUT, choice

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from probative.reporting.document import Document


_port = partial(integer, least=0, most=65535)


def app(
    *,
    port: int = choice("N: The port to listen on; by default a free one.", 0, parser=_port),
    no_browser: bool = choice("Print the address, and open no browser.", False, heading=OUTPUT),
    max_size: float = choice(
        "MB: The most that all files together may have.", 500.0, heading=INPUT
    ),
) -> None:
    """Example: probative app"""
    if max_size <= 0:
        raise InputError(f"max_size: {max_size:g}; expected megabytes > 0")
    try:
        from probative_app.server import serve
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in _EXTRA:
            raise
        raise InputError(
            f"app: {error.name} is not installed; expected pip install 'probative[app]'"
        ) from None
    worker, most = [sys.executable, "-m", "probative_app.commands"], int(max_size * 1e6)
    serve(worker, fields(), port=port, max_bytes=most, browser=not no_browser, announce=remark)


_EXTRA = ("starlette", "uvicorn", "python_multipart", "multipart")


# --- The choices that the page offers

# options that the page sets in another way, or that name further files
_NOT_OFFERED = {"names", "runs", "counts", "jobs", "comparisons", "probabilities", "memory_limit",
                "table", "gold", "baseline", "challenger", "dataset", "datasets"}  # fmt: skip


def fields() -> list[dict[str, Any]]:
    """Describe the options of the four commands: one entry per option, with those that have it."""
    from probative.cli.completion import words_among
    from probative.options import GATES
    from probative_app.desk import JOBS

    found: dict[str, dict[str, Any]] = {}
    for job in JOBS:
        command = _command(job)
        flags = {p.name for p in command.params if isinstance(p, click.Option) and p.is_flag}
        for name, option in command.declared.items():
            files = option.is_input or "FILE" in (option.metavar or "")
            if name in _NOT_OFFERED or option.heading in (OUTPUT, GATES) or files:
                continue
            entry = found.setdefault(
                name,
                {
                    "name": name,
                    "help": option.help or "",
                    "words": ("yes", "no") if option.switch else words_among(option),
                    "flag": name in flags and not option.switch,
                    "heading": option.heading,
                    "jobs": [],
                },
            )
            entry["jobs"].append(job)
    return list(found.values())


def _command(name: str) -> Any:
    from probative.cli.app import build_app

    return build_app().get_command(click.Context(click.Command("probative")), name)


# --- The worker: an order from standard input, answers into a folder

_SHOWN_EVERY = 0.2  # seconds between two notes of progress


def _work() -> int:
    """Answer the requests of an order; see `probative_app.workers`."""
    from probative.files import write_whole

    order = json.load(sys.stdin)
    try:
        import resource

        if most := order["memory"]:
            resource.setrlimit(resource.RLIMIT_DATA, (most, most))
    except ImportError:  # not every system has it
        pass
    folder = Path(order["folder"])
    answers = []
    for request in order["requests"]:
        answers.append(_answer(request, folder))
        write_whole(folder / "answer.json", json.dumps(answers))
    return 0


def _answer(request: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """Run one command; return its status, what it said, and its JSON; write its page if asked."""
    from probative.cli import main
    from probative.reporting.render import as_html, as_json, render

    documents: list[Document] = []
    last = 0.0

    def note(done: int, total: int) -> None:
        nonlocal last
        if time.monotonic() - last > _SHOWN_EVERY:
            last = time.monotonic()
            (folder / "progress").write_text(f"{done} {total}")

    state.receiver, state.reporter = documents.append, note
    command, page = _command(request["command"]), bool(request.get("page"))
    words = [request["command"], *_words(command, request)]
    also = ["--html", str(folder / "page.html")] if page else []
    said = io.StringIO()
    with redirect_stderr(said):
        status = main([*words, *also])
    lines = said.getvalue().splitlines()
    answer: dict[str, Any] = {"status": status, "line": shlex.join(["probative", *words])}
    if status > 1 or not documents:
        error = lines[-1] if lines else f"ended with status {status}"
        return answer | {"error": error, "remedies": list(_remedies(error, command))}
    document = documents[0]
    problems = document.payload.get("problems", ())
    remedies = [remedy for problem in problems for remedy in _remedies(problem, command)]
    answer |= {"remarks": lines, "payload": document.payload, "remedies": remedies}
    if page:
        written = {"page.html": as_html(document), "result.json": as_json(document)}
        for name, form in (("table.tex", "latex"), ("table.md", "markdown"), ("table.csv", "csv")):
            written[name] = render(document, form)
        for name, text in written.items():
            (folder / name).write_text(text, encoding="utf-8", newline="")
    return answer


def _words(command: Any, request: Mapping[str, Any]) -> Iterable[str]:
    """Yield the words of a command: files, then the options that it has; JSON is printed."""
    yield from request.get("files", ())
    for parameter in command.params:
        text = str(request.get("options", {}).get(parameter.name) or "").strip()
        if not isinstance(parameter, click.Option) or not text:
            continue
        flag = parameter.opts[0]
        if parameter.is_flag:
            no = text == "no" and parameter.secondary_opts
            yield parameter.secondary_opts[0] if no else flag
        elif text.startswith("-"):
            yield f"{flag}={text}"
        else:
            yield from (flag, text)
    yield from ("--format", "json")


# --- Remedies: an error names the option that mends it

_FLAG = re.compile(r"(?P<flag>--[a-z][a-z-]*)(?: (?P<value>'[^']*'|[\w.:-]+))?")
_LISTED = re.compile(r"(?:There are|[Ww]hich of) (?P<names>[^;?()]+)")
_MOST_NAMES = 50  # offered as a choice


def _remedies(error: str, command: Any) -> Iterable[dict[str, Any]]:
    """Yield the options that an error names, each with a value or with values to choose from."""
    from probative.cli.completion import words_among

    known = {o: p.name for p in command.params if isinstance(p, click.Option) for o in p.opts}
    for found in _FLAG.finditer(error):
        name = known.get(found["flag"]) or ""
        option = command.declared.get(name)
        if option is None or option.heading == OUTPUT or name in _NOT_OFFERED:
            continue
        word = found["value"] or ""
        value = word.strip("'").rstrip(".:")
        is_value = word[:1] == "'" or name == "key" or value in words_among(option)
        value = value if is_value or re.match(r"\d", value) else ""
        yield {"option": name, "value": value, "names": [] if value else _names_in(error)}


def _names_in(error: str) -> Sequence[str]:
    """Return the names that an error lists: columns, labels, scores."""
    listed = _LISTED.search(error)
    names = re.findall(r"'([^']{1,60})'", listed["names"] if listed else error)
    if listed and not names:
        names = [part.strip() for part in re.split(r", | or | and ", listed["names"])]
    return [name for name in dict.fromkeys(names) if name and name != "…"][:_MOST_NAMES]


if __name__ == "__main__":
    sys.exit(_work())
