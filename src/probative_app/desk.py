"""Keep the files and choices of one page, and turn them into requests for workers."""

from __future__ import annotations

import re
import shutil
import unicodedata
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from probative.errors import InputError
from probative.files import make_folder
from probative.matching.outputs import short_name
from probative.reading.source import kind_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from probative_app.workers import Job, Workers

JOBS = ("score", "compare", "rank", "plan")
_LONGEST_NAME = 100  # characters of a file name
_DATABASES = {"sqlite": "SQLite", "duckdb": "DuckDB"}


@dataclass
class _File:
    """File on a desk: its number, the name that it came with, and the name of its system."""

    number: int
    path: Path
    given: str
    system: str
    check: Job | None = None

    @property
    def name(self) -> str:
        """Return the name of the file."""
        return self.path.name

    @property
    def word(self) -> str:
        """Return the file as a word of a command, with the name of its system if it was changed."""
        usual = not self.system or self.system == short_name(self.path)
        return self.name if usual else f"{self.system}={self.name}"


@dataclass
class Desk:
    """Files, choices and results of one page."""

    name: str
    folder: Path  # files in `files`, and what workers write
    gold: _File | None = None
    outputs: list[_File] = field(default_factory=list)  # the first one is the baseline
    job: str = ""  # the command to run; "" chooses by the number of outputs
    choices: dict[str, str] = field(default_factory=dict)  # the options by name, as text
    results: list[Job] = field(default_factory=list)
    message: str = ""
    numbered: int = 0

    def __post_init__(self) -> None:
        make_folder(self.files)

    @property
    def files(self) -> Path:
        """Return the folder of the files."""
        return self.folder / "files"

    @property
    def all_files(self) -> list[_File]:
        """Return gold, if there is one, and the outputs."""
        return [*([self.gold] if self.gold else []), *self.outputs]

    @property
    def stored(self) -> int:
        """Return how many bytes its files have."""
        return sum(file.path.stat().st_size for file in self.all_files if file.path.exists())

    @property
    def command(self) -> str:
        """Return the command to run: one output is scored, two are compared, more are ranked."""
        columns = [c for c in self.choices.get("columns", "").split(",") if c.strip()]
        number = len(self.outputs) or len(columns)
        return self.job or ("score" if number < 2 else "compare" if number == 2 else "rank")

    # --- Files

    def add(self, filename: str, source: Any, *, gold: bool) -> None:
        """Keep an uploaded file as gold or as a further output; refuse a database."""
        path = self.files / self._free_name(safe_name(filename))
        with path.open("xb") as target:
            shutil.copyfileobj(source, target)
        kind = kind_of(path)
        if kind in _DATABASES:
            path.unlink()
            found = f"{path.name}: is a {_DATABASES[kind]} database"
            raise InputError(f"{found}; expected a file with one table, such as CSV or Parquet")
        self.numbered += 1
        given = re.split(r"[/\\]", _printable(filename))[-1]
        file = _File(self.numbered, path, given, "" if gold else short_name(path))
        if not gold:
            self.outputs.append(file)
            return
        if self.gold is not None:
            self.remove(self.gold)
        self.gold = file

    def _free_name(self, name: str) -> str:
        """Return the name, with a number if there is a file of that name."""
        stem, dot, ending = name.partition(".")
        number = 1
        while (self.files / name).exists():
            number += 1
            name = f"{stem}-{number}{dot}{ending}"
        return name

    def remove(self, file: _File) -> None:
        """Remove a file."""
        if file.check is not None:
            file.check.cancel()
        file.path.unlink(missing_ok=True)
        self.outputs = [other for other in self.outputs if other is not file]
        self.gold = None if self.gold is file else self.gold

    def make_gold(self, file: _File) -> None:
        """Exchange gold and an output."""
        before, self.gold = self.gold, file
        place = self.outputs.index(file)
        file.system = ""
        if before is not None:
            before.system = short_name(before.path)
        self.outputs[place : place + 1] = [] if before is None else [before]

    def numbered_file(self, number: str) -> _File | None:
        """Return the file of a number, if there is one."""
        return next((file for file in self.all_files if str(file.number) == number), None)

    def rename(self, file: _File, name: str) -> None:
        """Give a system another name; an empty one restores the usual one."""
        kept = re.sub(r"[=,\s]+", " ", _printable(name)).strip(" -")[:_LONGEST_NAME]
        file.system = kept or short_name(file.path)

    # --- Requests

    def request(self) -> dict[str, Any]:
        """Return the request that runs the command on all files."""
        words = [*([self.gold.name] if self.gold else []), *(file.word for file in self.outputs)]
        return {"command": self.command, "files": words, "options": self.choices, "page": True}

    def check_all(self, workers: Workers) -> None:
        """Let workers check every file, and every output against gold, where it is new."""
        for file in self.all_files:
            requests = list(self._checks(file))
            done = file.check
            if done is not None and done.order["requests"] == requests:
                continue
            if done is not None:
                done.cancel()
            self.numbered += 1
            file.check = workers.start(requests, self.folder / f"check{self.numbered}", self.files)

    def _checks(self, file: _File) -> Iterator[Mapping[str, Any]]:
        """Yield the check of a file, and the scoring of an output, which finds mismatches."""
        choices = dict(self.choices)
        if not self.outputs and (choices.get("gold_column") or choices.get("columns")):
            yield {"command": "score", "files": [file.name], "options": choices}
            return
        yield {"command": "check", "files": [file.name], "options": choices}
        if file is not self.gold and self.gold is not None:
            yield {"command": "score", "files": [self.gold.name, file.name], "options": choices}

    def run(self, workers: Workers) -> Job:
        """Run the command."""
        folder = self.folder / f"result{len(self.results)}"
        self.results.append(workers.start([self.request()], folder, self.files))
        return self.results[-1]

    def close(self) -> None:
        """End all work and remove the folder."""
        for job in (*self.results, *(file.check for file in self.all_files)):
            if job is not None:
                job.cancel()
        shutil.rmtree(self.folder, ignore_errors=True)


def safe_name(name: str) -> str:
    """Return the last part of a path as a name that is safe in a folder and on a command line."""
    last = re.split(r"[/\\]", _printable(name))[-1]
    kept = re.sub(r"[*?\[\]{}=:<>|\"'`$&;!,~#%\s]+", "_", last).lstrip(".-_")
    stem, dot, ending = kept.partition(".")
    return f"{stem[:_LONGEST_NAME]}{dot}{ending[-_LONGEST_NAME:]}" if stem else "file"


def _printable(text: str) -> str:
    """Return a text in one form of Unicode, without control characters and lone surrogates."""
    text = unicodedata.normalize("NFC", text)
    return "".join(c for c in text if unicodedata.category(c) not in ("Cc", "Cf", "Cs", "Zl", "Zp"))
