"""The engine that counts large tables: a database in memory that reads files and nothing else.

Names and paths come from users. They go into a statement through `identifier` and `literal` alone.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
import threading
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING, Any

from probative._validation import shown
from probative.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    import duckdb

__all__ = [
    "MEMORY_LIMIT",
    "check_memory_limit",
    "connected",
    "folder_of",
    "identifier",
    "literal",
    "literal_path",
    "lock",
    "telling",
    "watched",
]

MEMORY_LIMIT = "1GB"
_MEMORY = re.compile(r"\s*(\d+(?:\.\d+)?)\s*(KB|MB|GB|TB|KiB|MiB|GiB|TiB)\s*", re.ASCII)
_LEAST = 50e6  # bytes below which the engine cannot even read a file
_MAGIC = re.compile(r"[*?\[]")
_PAUSE = 0.2  # seconds between two looks at how far a query is

# is told which share of a query is done; None where nobody wants to know
_tell: ContextVar[Callable[[float], None] | None] = ContextVar("tell", default=None)


def identifier(name: str) -> str:
    """The name of a column or table as a statement has it, whatever is in it."""
    return '"' + name.replace('"', '""') + '"'


def literal(text: str) -> str:
    """A text as a statement has it, whatever is in it."""
    return "'" + text.replace("'", "''") + "'"


def literal_path(path: str | Path) -> str:
    """The path of one file as a statement has it: no sign in it stands for others."""
    absolute = os.path.abspath(path)  # noqa: PTH100  # a symbolic link stays one
    return literal(_MAGIC.sub(lambda sign: f"[{sign[0]}]", absolute))


def lock(
    database: duckdb.DuckDBPyConnection, paths: Iterable[Path], attached: Iterable[Path] = ()
) -> None:
    """Let a database open these files and nothing else, for good.

    A file whose path holds signs of patterns is found by looking into a folder: that, too, then.
    Databases that are attached are not looked for.
    """
    plain, folders = [str(path.absolute()) for path in attached], set()
    for path in map(Path, map(os.path.abspath, paths)):
        if _MAGIC.search(str(path)):
            folder = next(own for own in path.parents if not _MAGIC.search(str(own)))
            folders.add(os.path.join(folder, ""))  # noqa: PTH118  # with a separator at its end
        else:
            plain.append(str(path))
    database.execute(
        f"SET allowed_paths = [{', '.join(map(literal, plain))}]; "
        f"SET allowed_directories = [{', '.join(map(literal, sorted(folders)))}]; "
        f"SET enable_external_access = false; SET lock_configuration = true"
    )


def check_memory_limit(value: Any) -> str:
    """How much memory the engine may use, if that is a size such as ``2GB``."""
    match = _MEMORY.fullmatch(value) if isinstance(value, str) else None
    if match is None:
        raise InputError(f"memory_limit: {shown(value)}; expected a size such as '2GB'")
    size = float(match[1]) * _factor(match[2])
    if size < _LEAST:
        raise InputError(f"memory_limit: {value!r} is too small; expected at least '50MB'")
    return f"{match[1]}{match[2]}"


def _factor(unit: str) -> float:
    base = 1024 if "i" in unit else 1000
    return float(base ** (1 + "KMGT".index(unit[0])))


@contextmanager
def connected(memory_limit: str | None = None) -> Iterator[duckdb.DuckDBPyConnection]:
    """An empty database in memory, with a folder for what does not fit there.

    Parameters
    ----------
    memory_limit
        How much memory it may use; what is more goes into the folder, which is gone afterwards.
    """
    import duckdb

    with _spilling_folder() as folder:
        settings: dict[str, Any] = {
            "autoinstall_known_extensions": "false",
            "autoload_known_extensions": "false",
            "memory_limit": memory_limit or MEMORY_LIMIT,
            "preserve_insertion_order": "false",
            "temp_directory": str(folder / "spilled"),
        }
        with duckdb.connect(":memory:", config=settings) as database:
            yield database


def folder_of(database: duckdb.DuckDBPyConnection) -> Path:
    """Return the folder of a database that `connected` has made; it is gone afterwards."""
    ((place,),) = database.execute("SELECT current_setting('temp_directory')").fetchall()
    return Path(place).parent


@contextmanager
def _spilling_folder() -> Iterator[Path]:
    """A temporary folder that is removed even if this process is killed."""
    folder = Path(tempfile.mkdtemp(prefix="probative-"))
    guard = _guard(folder)
    try:
        yield folder
    finally:
        if guard is not None and guard.stdin is not None:
            guard.stdin.close()
            guard.wait()
        shutil.rmtree(folder, ignore_errors=True)


def _guard(folder: Path) -> subprocess.Popen[bytes] | None:
    """A process that outlives this one by as long as it takes to remove the folder."""
    shell = shutil.which("sh")
    if shell is None:
        return None
    try:
        return subprocess.Popen(  # noqa: S603  # waits until the other end of the pipe is closed
            [shell, "-c", 'cat >/dev/null; rm -rf -- "$1"', shell, str(folder)],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,  # what ends this process by its group does not end the guard
        )
    except OSError:
        return None


@contextmanager
def telling(tell: Callable[[float], None]) -> Iterator[None]:
    """Have a function told which share of a query is done, from 0 to 1, while any runs."""
    token = _tell.set(tell)
    try:
        yield
    finally:
        _tell.reset(token)


@contextmanager
def watched(database: duckdb.DuckDBPyConnection) -> Iterator[None]:
    """Look at how far the query of a database is, as long as it runs."""
    tell = _tell.get()
    if tell is None:
        yield
        return
    done = threading.Event()

    def look() -> None:
        while not done.wait(_PAUSE):
            tell(max(0.0, float(database.query_progress()) / 100))

    watcher = threading.Thread(target=look, daemon=True)
    watcher.start()
    try:
        yield
    finally:
        done.set()
        watcher.join()
