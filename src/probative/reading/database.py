"""Run DuckDB as the engine for large tables: in memory, reading only the given files.

Names and paths come from users; they enter a statement only through `identifier` and `literal`.
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

_MEMORY_LIMIT = "1GB"
_MEMORY = re.compile(r"\s*(\d+(?:\.\d+)?)\s*(KB|MB|GB|TB|KiB|MiB|GiB|TiB)\s*", re.ASCII)
_SMALLEST_MEMORY_LIMIT = 50e6  # bytes; with less the engine cannot even read a file
_MAGIC = re.compile(r"[*?\[]")
_PROGRESS_INTERVAL = 0.2  # seconds

# callback for the share of a query that is done, or None
_tell: ContextVar[Callable[[float], None] | None] = ContextVar("tell", default=None)


def identifier(name: str) -> str:
    """Quote the name of a column or table for a statement."""
    return '"' + name.replace('"', '""') + '"'


def literal(text: str) -> str:
    """Quote a text for a statement."""
    return "'" + text.replace("'", "''") + "'"


def literal_path(path: str | Path) -> str:
    """Quote the path of one file for a statement, with pattern characters escaped."""
    absolute = os.path.abspath(path)  # noqa: PTH100  # keeps symbolic links
    return literal(_MAGIC.sub(lambda sign: f"[{sign[0]}]", absolute))


def lock(
    database: duckdb.DuckDBPyConnection, paths: Iterable[Path], attached: Iterable[Path] = ()
) -> None:
    """Restrict a database to these files, permanently."""
    # A path with pattern characters needs access to a folder, because DuckDB searches it. The paths
    # of ``attached`` databases are never treated as patterns.
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
    """Return the memory limit without spaces; refuse what is no size such as ``2GB``."""
    match = _MEMORY.fullmatch(value) if isinstance(value, str) else None
    if match is None:
        raise InputError(f"memory_limit: {shown(value)}; expected a size such as '2GB'")
    base = 1024 if "i" in match[2] else 1000
    if float(match[1]) * base ** (1 + "KMGT".index(match[2][0])) < _SMALLEST_MEMORY_LIMIT:
        raise InputError(f"memory_limit: {value!r} is too small; expected at least '50MB'")
    return f"{match[1]}{match[2]}"


@contextmanager
def connected(memory_limit: str | None = None) -> Iterator[duckdb.DuckDBPyConnection]:
    """Yield an empty database in memory, with a temporary folder for what exceeds the limit."""
    import duckdb

    folder = Path(tempfile.mkdtemp(prefix="probative-"))
    guard = _guard(folder)
    settings: dict[str, Any] = {
        "autoinstall_known_extensions": "false",
        "autoload_known_extensions": "false",
        "memory_limit": memory_limit or _MEMORY_LIMIT,
        "preserve_insertion_order": "false",
        "temp_directory": str(folder / "spilled"),
    }
    try:
        with duckdb.connect(":memory:", config=settings) as database:
            yield database
    finally:
        if guard is not None and guard.stdin is not None:
            guard.stdin.close()
            guard.wait()
        shutil.rmtree(folder, ignore_errors=True)


def folder_of(database: duckdb.DuckDBPyConnection) -> Path:
    """Return the temporary folder of a database that `connected` made."""
    ((place,),) = database.execute("SELECT current_setting('temp_directory')").fetchall()
    return Path(place).parent


def _guard(folder: Path) -> subprocess.Popen[bytes] | None:
    """Start a process that removes the folder when this process ends, even if it is killed."""
    shell = shutil.which("sh")
    if shell is None:
        return None
    try:
        return subprocess.Popen(  # noqa: S603  # waits until this process closes the pipe
            [shell, "-c", 'cat >/dev/null; rm -rf -- "$1"', shell, str(folder)],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,  # signals to this process group do not end the guard
        )
    except OSError:
        return None


@contextmanager
def telling(tell: Callable[[float], None]) -> Iterator[None]:
    """Call a function with the share of a query that is done, from 0 to 1, while any runs."""
    token = _tell.set(tell)
    try:
        yield
    finally:
        _tell.reset(token)


@contextmanager
def watched(database: duckdb.DuckDBPyConnection) -> Iterator[None]:
    """Report the progress of the query that a database runs, if `telling` is active."""
    tell = _tell.get()
    if tell is None:
        yield
        return
    done = threading.Event()

    def look() -> None:
        while not done.wait(_PROGRESS_INTERVAL):
            tell(max(0.0, float(database.query_progress()) / 100))

    watcher = threading.Thread(target=look, daemon=True)
    watcher.start()
    try:
        yield
    finally:
        done.set()
        watcher.join()
