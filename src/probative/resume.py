"""A folder that belongs to one run: what is done stays done, and counts for that run alone."""

from __future__ import annotations

import hashlib
import json
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from probative.errors import InputError
from probative.files import create_whole, write_whole

if TYPE_CHECKING:
    from collections.abc import Collection

__all__ = ["ResumableFolder"]

FORMAT = "probative results 2"
RUN = "run.json"
_PART = {"run", "part", "result"}
_AGAIN = "delete it to do its part again"
_ELSEWHERE = "expected another folder"


class ResumableFolder:
    """A file for every finished part of a run, each written whole or not at all.

    Every file carries a checksum of its content, and names the run and the part that it belongs
    to; both are checked when it is read. The first to come writes down which run the folder is
    for, and everybody who comes later must have the same.

    Parameters
    ----------
    path
        The folder; it is made where it is missing.
    run
        What makes this run what it is: data, models, options. A folder of another run is refused.
    adopt
        The names of entries of `run` that are a mere suggestion: where the folder has other
        values, these are taken.

    Attributes
    ----------
    run
        What makes the run of this folder what it is.

    Examples
    --------
    >>> import tempfile
    >>> folder = ResumableFolder(tempfile.mkdtemp(), {"seed": 7})
    >>> folder.keep("fold-1", {"fold": 1}, [0, 1, 1])
    >>> folder.load("fold-1", {"fold": 1})
    [0, 1, 1]
    >>> folder.load("fold-2", {"fold": 2}) is None
    True
    """

    def __init__(self, path: Path | str, run: dict[str, Any], *, adopt: Collection[str] = ()):
        self.path = Path(path)
        record = self.path / RUN
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            if not record.exists():
                self._refuse_strangers(record)
                create_whole(record, _sealed(run))
        except (OSError, ValueError) as error:
            raise _unusable(error, self.path) from None
        recorded = _open(record, _ELSEWHERE)
        if not isinstance(recorded, dict) or set(recorded) == _PART:
            raise InputError(f"does not say which run this is; {_ELSEWHERE}", record)
        self.run = run | {name: recorded.get(name) for name in adopt}
        _refuse_another(recorded, self.run, self.path)
        self._run_digest = hashlib.sha256(_json(self.run)).hexdigest()

    def check_writable(self) -> None:
        """Refuse a folder that cannot keep anything, before there is something to keep."""
        try:
            tempfile.TemporaryFile(dir=self.path).close()
        except OSError as error:
            raise _unusable(error, self.path) from None

    def file(self, name: str) -> Path:
        """Where a part is kept."""
        return self.path / f"{name}.json"

    def load(self, name: str, part: dict[str, Any]) -> Any:
        """What was kept of a part, or None.

        Parameters
        ----------
        name
            The name of its file.
        part
            What makes this part what it is; a file of another part is refused.
        """
        path = self.file(name)
        if not path.exists():
            return None
        content = _open(path, _AGAIN)
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
        """Keep what came of a part.

        Parameters
        ----------
        name, part
            As for `load`.
        result
            Anything that JSON can hold.
        """
        path = self.file(name)
        try:
            content = _sealed({"run": self._run_digest, "part": part, "result": result})
        except (TypeError, ValueError, RecursionError) as error:
            raise InputError(f"cannot hold this result: {error}", path) from None
        write_whole(path, content)

    def damage(self, name: str, what: str) -> InputError:
        """An error about the content of a part's file."""
        return InputError(f"cannot be read ({what}); {_AGAIN}", self.file(name))

    def _refuse_strangers(self, record: Path) -> None:
        """Refuse a folder with other people's files; temporary files of a killed run are none."""
        names = sorted(path.name for path in self.path.iterdir())
        strangers = [name for name in names if not name.startswith(".")]
        if strangers and not record.exists():  # it may have come while we looked
            raise InputError(
                f"holds {strangers[0]!r} and no {RUN}; expected a new or empty folder, or that of "
                f"this run",
                self.path,
            )


def _json(content: Any) -> bytes:
    return json.dumps(content).encode()


def _sealed(content: Any) -> bytes:
    """JSON with its own checksum."""
    return _seal(_json(content))


def _seal(body: bytes) -> bytes:
    head = {"format": FORMAT, "sha256": hashlib.sha256(body).hexdigest(), "content": None}
    return _json(head).removesuffix(b"null}") + body + b"}\n"


_HEAD = len(_seal(b"")) - len(b"}\n")


def _open(path: Path, remedy: str) -> Any:
    """What was sealed; not a byte may have changed."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise InputError(f"cannot be read ({error.strerror}); {remedy}", path) from None
    body = data[_HEAD:-2]
    if _seal(body) != data:
        known = data.startswith(_seal(b"")[: len(b'{"format": ') + len(_json(FORMAT))])
        what = "its checksum does not fit" if known else f"it is no file of {FORMAT!r}"
        raise InputError(f"cannot be read ({what}); {remedy}", path)
    try:
        return json.loads(body)
    except (ValueError, RecursionError) as error:
        what = "it is too deep" if isinstance(error, RecursionError) else str(error)
        raise InputError(f"cannot be read ({what}); {remedy}", path) from None


def _refuse_another(recorded: dict[str, Any], run: dict[str, Any], path: Path) -> None:
    for key in {**run, **recorded}:
        there, here = recorded.get(key), run.get(key)
        if there != here:
            raise InputError(
                f"holds the results of another run: {key} is {there!r:.60} there and {here!r:.60} "
                f"here; expected another folder, or the same data, models and options",
                path,
            )


def _unusable(error: Exception, path: Path) -> InputError:
    if isinstance(error, InputError):
        return error
    reason = getattr(error, "strerror", None) or str(error)
    return InputError(f"cannot be used: {reason}", path)
