"""Write files and sites atomically, digest values and code, and resume interrupted runs."""

from __future__ import annotations

import errno
import hashlib
import inspect
import io
import json
import os
import pickle
import re
import shutil
import stat
import sys
import tempfile
import time
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import IO, TYPE_CHECKING, Any

from probative.errors import InputError

if TYPE_CHECKING:
    from zipfile import ZipFile

_KINDS = (
    (stat.S_ISDIR, "a directory"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
    (stat.S_ISFIFO, "a pipe"),
    (stat.S_ISSOCK, "a socket"),
)


def find_paths(pattern: str, *, recursive: bool = False) -> list[str]:
    """Return the sorted paths that match a pattern, which may contain ``**``."""
    from glob import glob

    return sorted(glob(pattern, recursive=recursive))  # noqa: PTH207  # Path.glob needs a folder to start from


def write_whole(path: Path | str, content: str | bytes) -> None:
    """Write a file, or the target of a link, atomically; a failure leaves the old content."""
    target = check_target(path)
    with _beside(target, content, path) as temporary:
        temporary.replace(target)


def create_whole(path: Path | str, content: str | bytes) -> bool:
    """Create a file atomically; return False and leave it unchanged if it exists."""
    target = Path(path)
    with _beside(target, content, path) as temporary:
        try:
            os.link(temporary, target)
        except FileExistsError:
            return False
        except (OSError, NotImplementedError):  # a file system without hard links
            try:
                with target.open("xb") as file:
                    file.write(temporary.read_bytes())
            except FileExistsError:
                return False
    return True


@contextmanager
def _beside(target: Path, content: str | bytes, path: Path | str) -> Iterator[Path]:
    """Write the content to a temporary file beside the target; remove it if it was not moved."""
    data = content.encode() if isinstance(content, str) else content
    with failing_as("cannot be written", path):
        handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name[:40]}-")
        temporary = Path(name)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(data)
            temporary.chmod(_mode(target))
            yield temporary
        finally:
            temporary.unlink(missing_ok=True)


def check_target(path: Path | str) -> Path:
    """Return the file that writing to this path would create or replace; change nothing."""
    try:
        target = Path(os.path.realpath(path))
        parent = target.parent.stat()
        status = _status(target)
    except FileNotFoundError:
        raise InputError("cannot be written: its folder does not exist", path) from None
    except NotADirectoryError:
        raise InputError("cannot be written: its folder is not a directory", path) from None
    except (OSError, ValueError) as error:
        raise InputError(f"cannot be written: {reason_of(error)}", path) from None
    if not stat.S_ISDIR(parent.st_mode):
        raise InputError("cannot be written: its folder is not a directory", path)
    if status is not None and not stat.S_ISREG(status.st_mode):
        kind = next((kind for is_kind, kind in _KINDS if is_kind(status.st_mode)), "not a file")
        raise InputError(f"cannot be written: it is {kind}; expected the name of a file", path)
    if not os.access(target.parent, os.W_OK | os.X_OK):
        raise InputError("cannot be written: its folder is not writable", path)
    if status is not None and not os.access(target, os.W_OK):
        raise InputError("cannot be written: it is read-only", path)
    return target


def check_folder(path: Path | str) -> None:
    """Refuse a folder, existing or not, into which files cannot be written; change nothing."""
    folder = Path(path)
    with failing_as("cannot be made", path):
        while (status := _status(folder)) is None and folder != folder.parent:
            folder = folder.parent
    what = "cannot be used: it" if folder == Path(path) else f"cannot be made: {folder}"
    if status is None or not stat.S_ISDIR(status.st_mode):
        raise InputError(f"{what} is not a directory", path)
    if not os.access(folder, os.W_OK | os.X_OK):
        raise InputError(f"{what} is not writable", path)


def make_folder(path: Path | str) -> None:
    """Create a folder and its parents if they are missing."""
    check_folder(path)
    with failing_as("cannot be made", path):
        Path(path).mkdir(parents=True, exist_ok=True)


def _status(path: Path) -> os.stat_result | None:
    """Return the status of a file, or None if it does not exist."""
    try:
        return path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return None


def _mode(target: Path, default: int = 0o666) -> int:
    """Return the permissions of what is replaced, or the default of open() or mkdir()."""
    status = _status(target)
    if status is not None:
        return stat.S_IMODE(status.st_mode)
    mask = os.umask(0)
    os.umask(mask)
    return default & ~mask


@contextmanager
def failing_as(what: str, path: Path | str) -> Iterator[None]:
    """Turn a failure of the system into a one-line error about a path."""
    try:
        yield
    except InputError:
        raise
    except (OSError, ValueError) as error:
        raise InputError(f"{what}: {reason_of(error)}", path) from None


def reason_of(error: OSError | ValueError) -> str:
    """Return the reason of an error in words, without the path."""
    if isinstance(error, OSError) and error.errno is not None:
        return os.strerror(error.errno) if error.errno != errno.ENOSPC else "the disk is full"
    return str(error)


def source_date() -> str | None:
    """Return the day of SOURCE_DATE_EPOCH in UTC; None if it is not set."""
    fixed = os.environ.get("SOURCE_DATE_EPOCH")
    if not fixed:
        return None
    with suppress(ValueError, OverflowError, OSError):
        if fixed.isdecimal():
            return utc_day(int(fixed))
    raise InputError(f"SOURCE_DATE_EPOCH: {fixed!r:.60}; expected a number of seconds")


def utc_day(seconds: float) -> str:
    """Return the day of a time in UTC, such as 2026-05-01."""
    return time.strftime("%Y-%m-%d", time.gmtime(seconds))


# --- Locks, which end with the process, however that ends

_OFFSET_OF_LOCK = 2**40  # a byte behind all content: on Windows a lock keeps others from reading


def lock(
    file: IO[bytes], path: Path | str, *, shared: bool = False, busy: InputError | None = None
) -> None:
    """Lock an open file until it is closed; wait for that, or raise `busy` if it is held."""
    try:
        import fcntl
    except ImportError:  # Windows
        import msvcrt

        while True:
            file.seek(_OFFSET_OF_LOCK)
            try:
                place = file.fileno()
                msvcrt.locking(place, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined,unused-ignore]
            except OSError:
                if busy is not None:
                    raise busy from None
                time.sleep(0.05)
            else:
                return
    try:
        kind = fcntl.LOCK_SH if shared else fcntl.LOCK_EX
        fcntl.flock(file, kind if busy is None else kind | fcntl.LOCK_NB)
    except OSError as error:
        if busy is not None and isinstance(error, BlockingIOError):
            raise busy from None
        raise InputError(
            f"cannot be locked ({reason_of(error)}), and two writers could spoil it; expected a "
            f"file system that has locks",
            path,
        ) from None


@contextmanager
def open_locked(path: Path | str, busy: InputError | None = None) -> Iterator[IO[bytes]]:
    """Open a file, created if it is missing, with an exclusive lock."""
    target = check_target(path)
    fresh = not target.exists()
    with failing_as("cannot be written", path):
        descriptor = os.open(target, os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0), 0o666)
    with os.fdopen(descriptor, "r+b", buffering=0) as file:
        lock(file, path, busy=busy)
        if fresh:
            _keep_name(target.parent)
        yield file


def _keep_name(folder: Path) -> None:
    """Write the entry of a new file to the disk, where the system can do that."""
    try:
        descriptor = os.open(folder, os.O_RDONLY)
    except OSError:  # Windows opens no folders
        return
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextmanager
def hold(place: Path, busy: InputError | None = None) -> Iterator[None]:
    """Hold the lock of a file that is made for it, and removed in the end."""
    while True:
        with open_locked(place, busy) as file:
            there = _status(place)
            if there is None or not os.path.samestat(os.fstat(file.fileno()), there):
                continue  # the previous holder has removed it meanwhile
            try:
                yield
            finally:
                with suppress(PermissionError):  # Windows cannot remove an open file
                    place.unlink(missing_ok=True)  # while we still hold the lock
            return


# --- Archives


def member(archive: ZipFile, name: str) -> bytes:
    """Return a file of an archive, cut off at its declared size."""
    entry = archive.getinfo(name)
    with archive.open(entry) as file:
        return file.read(entry.file_size)


# --- Digests that identify values and code, also in another process

_PLAIN = (bool, int, float, str, bytes, tuple, frozenset, type(None))


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def digest(parameter: str, value: Any) -> str:
    """Return a digest of any value that can be pickled; `parameter` names it in messages."""
    from joblib import hash as joblib_hash

    try:
        return str(joblib_hash(value, hash_name="sha1"))
    except Exception as error:
        raise _unknowable(parameter, value, error) from error


def code_digest(parameter: str, value: Any) -> str:
    """Return a digest of the code that a value uses: the user's own, and versions of packages."""
    code = _Code()
    try:
        code.follow(value)
    except Exception as error:
        raise _unknowable(parameter, value, error) from error
    return _sha256("\n".join(sorted(code.pieces)).encode())[:40]


def _unknowable(parameter: str, value: Any, error: Exception) -> InputError:
    """Return the error for a value that cannot be identified."""
    return InputError(
        f"{parameter}: {type(value).__name__} cannot be identified ({error}), which a folder of "
        f"results needs; expected an object that pickle can store, with classes and functions "
        f"from a module; or no folder"
    )


class _Code(pickle.Pickler):
    """Source code or versions behind the classes and functions of a value, as a set of texts."""

    # pickling the value, whose output is discarded, meets them

    def __init__(self) -> None:
        super().__init__(io.BytesIO(), protocol=5)
        self.pieces: set[str] = set()
        self._waiting: list[Any] = []

    def reducer_override(self, value: Any) -> Any:
        self._waiting.append(value if isinstance(value, (type, FunctionType)) else type(value))
        return NotImplemented

    def follow(self, value: Any) -> None:
        """Add the classes, functions and modules of a value, and everything that they use."""
        self.dump(value)
        seen: set[int] = set()
        while self._waiting:
            thing = self._waiting.pop()
            if id(thing) in seen or not isinstance(thing, (ModuleType, type, FunctionType)):
                continue
            seen.add(id(thing))
            if isinstance(thing, ModuleType):
                self._waiting += self._module(thing)
            elif thing.__module__ == "__main__":
                self._waiting += self._piece(thing)
            elif thing.__module__ in sys.modules:
                self._waiting.append(sys.modules[thing.__module__])
            if isinstance(thing, type):
                self._waiting += thing.__mro__

    def _module(self, module: ModuleType) -> list[Any]:
        """Add the version of an installed package or the digest of a file; return its contents."""
        top = module.__name__.partition(".")[0]
        if top in sys.stdlib_module_names or module.__name__ == "__main__":
            return []
        file = getattr(module, "__file__", None)
        installed = {"site-packages", "dist-packages"} & set(Path(file or "").parts)
        version = _version(top) if top == "probative" or installed else None
        if version is not None:
            self.pieces.add(f"{top} {version}")
            return []
        if file is not None:
            self.pieces.add(f"{module.__name__} {_sha256(Path(file).read_bytes())}")
        elif not hasattr(module, "__path__"):
            raise OSError(f"module {module.__name__!r} has no file")
        return list(vars(module).values())

    def _piece(self, thing: Any) -> list[Any]:
        """Add a class or function of a script; return the objects that its code mentions."""
        functions = [thing]
        if isinstance(thing, type):  # the functions in its properties and methods
            inner = [getattr(value, "fget", None) or value for value in vars(thing).values()]
            plain = [inspect.unwrap(getattr(value, "__func__", value)) for value in inner]
            functions = [value for value in plain if isinstance(value, FunctionType)]
        self.pieces.add(f"{thing.__qualname__} {_source(thing, functions)}")
        known = vars(sys.modules["__main__"])
        mentioned = {name for f in functions for name in _names(f.__code__)} & set(known)
        for name in mentioned:
            if isinstance(known[name], _PLAIN):
                self.pieces.add(f"{name} {digest(name, known[name])}")
        return [known[name] for name in mentioned]


def _source(thing: Any, functions: list[FunctionType]) -> str:
    """Return the source of a class or function."""
    try:
        return inspect.getsource(thing)
    except (OSError, TypeError):
        # in a notebook, Python has the source of functions, but not of classes
        if thing in functions:
            raise
        plain = {k: v for k, v in vars(thing).items() if isinstance(v, _PLAIN) and k[:2] != "__"}
        return digest("", plain) + "".join(inspect.getsource(function) for function in functions)


def _names(code: CodeType) -> set[str]:
    """Return the names that code mentions, with those of nested functions."""
    inner = (const for const in code.co_consts if isinstance(const, CodeType))
    return set(code.co_names).union(*map(_names, inner))


def _version(package: str) -> str | None:
    """Return the version of a package; None if it has none."""
    from importlib import metadata  # slow to import, and seldom needed

    version = getattr(sys.modules.get(package), "__version__", None)
    if isinstance(version, str):
        return version
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


# --- Resuming an interrupted run from a folder of finished parts

_FORMAT = "probative results 2"
_RUN = "run.json"
_PART = {"run", "part", "result"}
_AGAIN = "delete it to do its part again"
_ELSEWHERE = "expected another folder"


class ResumableFolder:
    """Folder with one file for every finished part of a run, each with a checksum."""

    # The first user writes `run` (data, models, options) into the folder, and a folder of another
    # run is refused. The entries of `run` named in `adopt` are replaced by those of the folder.

    def __init__(self, path: Path | str, run: dict[str, Any], *, adopt: Collection[str] = ()):
        self.path = Path(path)
        record = self.path / _RUN
        with failing_as("cannot be used", self.path):
            self.path.mkdir(parents=True, exist_ok=True)
            if not record.exists():
                # temporary files of a killed run are no strangers
                names = sorted(path.name for path in self.path.iterdir())
                stranger = next((name for name in names if not name.startswith(".")), None)
                if stranger and not record.exists():  # another process may have just written it
                    raise InputError(
                        f"holds {stranger!r} and no {_RUN}; expected a new or empty folder, or "
                        f"that of this run",
                        self.path,
                    )
                create_whole(record, seal(run))
        recorded = open_sealed(record, _ELSEWHERE)
        if not isinstance(recorded, dict) or set(recorded) == _PART:
            raise InputError(f"does not say which run this is; {_ELSEWHERE}", record)
        self.run = run | {name: recorded.get(name) for name in adopt}
        for key in {**self.run, **recorded}:
            there, here = recorded.get(key), self.run.get(key)
            if there != here:
                raise InputError(
                    f"holds the results of another run: {key} is {there!r:.60} there and "
                    f"{here!r:.60} here; expected another folder, or the same data, models and "
                    f"options",
                    self.path,
                )
        self._run_digest = _sha256(_json(self.run))

    def check_writable(self) -> None:
        """Refuse a folder that cannot be written, before any work is done."""
        with failing_as("cannot be used", self.path):
            tempfile.TemporaryFile(dir=self.path).close()

    def file(self, name: str) -> Path:
        """Return the path of a part's file."""
        return self.path / f"{name}.json"

    def load(self, name: str, part: dict[str, Any]) -> Any:
        """Return the stored result of a part, or None; refuse a file that holds another part."""
        path = self.file(name)
        if not path.exists():
            return None
        content = open_sealed(path, _AGAIN)
        if not isinstance(content, dict) or set(content) != _PART:
            raise self.damage(name, "it has no run, part and result")
        if content["run"] != self._run_digest:
            raise InputError(f"holds a part of another run; {_AGAIN}", path)
        recorded = content["part"] if isinstance(content["part"], dict) else {}
        for key in {**part, **recorded}:
            if recorded.get(key) != part.get(key):
                raise InputError(
                    f"holds another part: {key} is {recorded.get(key)!r:.60}; expected "
                    f"{part.get(key)!r:.60}; {_AGAIN}",
                    path,
                )
        return content["result"]

    def keep(self, name: str, part: dict[str, Any], result: Any) -> None:
        """Store the result of a part, which JSON must be able to hold."""
        path = self.file(name)
        try:
            content = seal({"run": self._run_digest, "part": part, "result": result})
        except (TypeError, ValueError, RecursionError) as error:
            raise InputError(f"cannot hold this result: {error}", path) from None
        write_whole(path, content)

    def damage(self, name: str, what: str) -> InputError:
        """Return an error about the content of a part's file."""
        return InputError(f"cannot be read ({what}); {_AGAIN}", self.file(name))


def _json(content: Any) -> bytes:
    return json.dumps(content).encode()


def seal(content: Any) -> bytes:
    """Return JSON with its own checksum."""
    return _sealed(_json(content))


def _sealed(body: bytes) -> bytes:
    head = {"format": _FORMAT, "sha256": _sha256(body), "content": None}
    return _json(head).removesuffix(b"null}") + body + b"}\n"


_HEAD = len(_sealed(b"")) - len(b"}\n")


def open_sealed(path: Path | str, remedy: str) -> Any:
    """Return the content of a sealed file; refuse one that was changed."""
    try:
        data = Path(path).read_bytes()
    except OSError as error:
        raise InputError(f"cannot be read ({error.strerror}); {remedy}", path) from None
    body = data[_HEAD:-2]
    if _sealed(body) != data:
        known = data.startswith(_sealed(b"")[: len(b'{"format": ') + len(_json(_FORMAT))])
        what = "its checksum does not fit" if known else f"it is no file of {_FORMAT!r}"
        raise InputError(f"cannot be read ({what}); {remedy}", path)
    try:
        return json.loads(body)
    except (ValueError, RecursionError) as error:
        what = "it is too deep" if isinstance(error, RecursionError) else str(error)
        raise InputError(f"cannot be read ({what}); {remedy}", path) from None


# --- A site: a folder that is replaced as a whole, and only if a board wrote it

_MANIFEST = "manifest.json"  # its presence marks a folder as a site; it lists the files
_WHAT = "written by probative board, which replaces this folder whole"
_EXCHANGE, _AT_FDCWD = 2, -100  # RENAME_EXCHANGE and AT_FDCWD of Linux


def real_site(path: Path | str) -> Path:
    """Resolve symbolic links in the path of the site; refuse places that cannot be one."""
    site = Path(os.path.realpath(path))
    if not site.name:
        raise InputError("cannot hold a site; expected a folder of its own", path)
    if site == Path(os.path.realpath(".")):
        raise InputError("is the current folder; expected another one", path)
    check_folder(site)
    return site


@contextmanager
def locked(site: Path) -> Iterator[None]:
    """Lock the site against other builds, and clean up after a build that was killed."""
    make_folder(site.parent)
    busy = InputError("is being built by another process; wait until that has ended", site)
    with hold(site.with_name(f".{site.name}.lock"), busy):
        _restore(site)
        yield


def check_site(site: Path) -> None:
    """Refuse to replace a folder that is no site of a board or holds files of others."""
    if not site.exists() or not any(site.iterdir()):
        return
    try:
        content = json.loads((site / _MANIFEST).read_bytes())
        written = content["files"] if content["what"] == _WHAT else None
    except (OSError, ValueError, KeyError, TypeError):
        written = None
    if not isinstance(written, dict):
        raise InputError(
            f"is not the site of a board (it has no {_MANIFEST} of one); expected such a site, or "
            f"a new or empty folder",
            site,
        )
    for path in sorted(site.rglob("*")):
        if path.is_dir() and not path.is_symlink():
            continue
        name = path.relative_to(site).as_posix()
        if name != _MANIFEST and (name not in written or path.is_symlink()):
            raise InputError(
                f"holds {name!r}, which the board has not written and would delete; expected it "
                f"elsewhere",
                site,
            )
        if name != _MANIFEST and _sha256(path.read_bytes()) != written[name]:
            raise InputError(
                f"{name!r} was edited there, and the change would be lost; expected another "
                f"folder, or {name!r} removed",
                site,
            )


def replace_site(site: Path, files: Mapping[str, str]) -> None:
    """Replace the site with these files (content by path), atomically where possible."""
    with failing_as("cannot be written", site):
        new = Path(tempfile.mkdtemp(prefix=f".{site.name}-building-", dir=site.parent))
        try:
            _write(new, files)
            new.chmod(_mode(site, 0o777))
            check_site(site)  # it may have changed meanwhile
            _swap(new, site)
        finally:
            shutil.rmtree(new, ignore_errors=True)


def _write(folder: Path, files: Mapping[str, str]) -> None:
    digests = {}
    for name, content in files.items():
        data = content.encode()
        place = folder / name
        place.parent.mkdir(exist_ok=True)
        place.write_bytes(data)
        digests[name] = _sha256(data)
    manifest = {"what": _WHAT, "files": digests}
    (folder / _MANIFEST).write_text(json.dumps(manifest, indent=1) + "\n", encoding="utf-8")


def _swap(new: Path, site: Path) -> None:
    if not site.exists():
        new.rename(site)
    elif not _exchange(new, site):
        # two steps; if the process is killed between them, `_restore` repairs it
        old = Path(tempfile.mkdtemp(prefix=f".{site.name}-old-", dir=site.parent)) / "site"
        site.rename(old)
        try:
            new.rename(site)
        except OSError:
            old.rename(site)
            raise
        finally:
            shutil.rmtree(old.parent, ignore_errors=True)


def _exchange(one: Path, other: Path) -> bool:
    """Exchange two folders atomically; return False where the system cannot."""
    import ctypes

    try:
        rename = ctypes.CDLL(None).renameat2
    except (OSError, AttributeError, TypeError):
        return False
    return bool(rename(_AT_FDCWD, os.fsencode(one), _AT_FDCWD, os.fsencode(other), _EXCHANGE) == 0)


def _restore(site: Path) -> None:
    """Move back an old site that a killed build moved away, and remove unfinished ones."""
    left = re.compile(re.escape(f".{site.name}-") + r"(building|old)-\w{8}")
    for path in sorted(site.parent.iterdir()):
        if left.fullmatch(path.name) and path.is_dir() and not path.is_symlink():
            if (path / "site").is_dir() and not site.exists():
                (path / "site").rename(site)
            shutil.rmtree(path, ignore_errors=True)
