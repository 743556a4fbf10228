"""Build a board of submissions: score and rank a folder of files, and write a site."""

from __future__ import annotations

import ctypes
import errno
import hashlib
import json
import os
import re
import shutil
import stat
import tempfile
import time
from contextlib import contextmanager, suppress
from dataclasses import dataclass, fields, replace
from itertools import combinations
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, NamedTuple, Unpack, cast

from probative._validation import flag, one_of, open_probability, positive, shown, whole_number
from probative._version import __version__
from probative.counts import Counts
from probative.errors import InputError
from probative.files import ResumableFolder, check_folder, create_whole, make_folder
from probative.inference.rank import ADJUSTMENTS
from probative.jobs.rank import Known, rank_matched, ranked_scores
from probative.jobs.score import AVERAGES
from probative.matching.examples import examples_of
from probative.matching.matched import match_inputs, read_side
from probative.matching.outputs import short_name
from probative.metrics import METRICS
from probative.options import BoardOptions, RankOptions
from probative.reading.inputs import is_path
from probative.reading.source import TooLargeError
from probative.reporting.board_report import board_pages
from probative.results import Board, Interval, LabelScores, Ranking, Submission, SystemScores
from probative.wording.numbers import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from probative.inference.pooled import KnownTests
    from probative.inference.sampled import KnownLimits
    from probative.matching.matched import Matched
    from probative.options import ReadingKeywords
    from probative.reading.formats import Annotations
    from probative.results import Example, LabelExample


# --- Cache between two builds: the scores of submissions and the tests of pairs
#
# It holds results over the whole test set, none of single sentences, and is never published.

_README = """\
What `probative board` keeps between two builds, so that it need not compute it again. It can be
deleted at any time. Do not publish it: it tells the scores of every label, however rare.
"""
_TESTS, _LIMITS = "pair-tests", "limits"


class Kept:
    """Cache folder of the results for one gold file, one set of choices and one version."""

    def __init__(self, path: Path, run: dict[str, Any]):
        make_folder(path)
        create_whole(path / "README.txt", _README)
        name = hashlib.sha256(json.dumps(run).encode()).hexdigest()[:20]
        self._folder = ResumableFolder(path / name, run)
        self._folder.check_writable()
        # shared by all gold files and choices, so that a name stays with its first holder
        self._names = ResumableFolder(path / "names", {"command": "board", "what": "names"})

    def holders(self) -> dict[str, str]:
        """Return the file or folder that held every name at the last build."""
        try:
            return dict(self._names.load("holders", {}) or {})
        except InputError:  # damaged: start without holders
            return {}

    def keep_holders(self, holders: dict[str, str]) -> None:
        """Store the file or folder that holds each name."""
        if holders != self.holders():
            self._names.keep("holders", {}, holders)

    def scores(self, key: str) -> SystemScores | None:
        """Return the cached scores of a submission (with an empty name), or None."""
        content = self._kept(f"scores-{key}", {"submission": key})
        return None if content is None else _scores_from(content)

    def keep_scores(self, key: str, scores: SystemScores) -> None:
        """Store the scores of a submission."""
        self._folder.keep(f"scores-{key}", {"submission": key}, _scores_as_json(scores))

    def tests(self, keys: Sequence[str], how: dict[str, Any]) -> KnownTests:
        """Return the cached tests of pairs of these submissions, by position; `how` must match."""
        content = self._kept(_TESTS, how)
        if content is None:
            return {}
        return {
            (min(i, j), max(i, j)): (p, draws)
            for i, j, (p, draws) in _placed(content["keys"], content["tests"], keys)
        }

    def keep_tests(self, keys: Sequence[str], how: dict[str, Any], tests: KnownTests) -> None:
        """Store the tests of these pairs and drop all others."""
        rows = [[i, j, p, draws] for (i, j), (p, draws) in sorted(tests.items())]
        self._folder.keep(_TESTS, how, {"keys": list(keys), "tests": rows})

    def limits(self, keys: Sequence[str]) -> KnownLimits:
        """Return the cached intervals of differences of these submissions, by position."""
        content = self._kept(_LIMITS, {"what": _LIMITS})
        if content is None:
            return {}
        return {
            (min(i, j), max(i, j)): (reach, low, high) if i < j else (reach, -high, -low)
            for i, j, (reach, low, high) in _placed(content["keys"], content["limits"], keys)
        }

    def keep_limits(self, keys: Sequence[str], limits: KnownLimits) -> None:
        """Store the intervals of these differences and drop all others."""
        if limits:
            rows = [[*pair, *own] for pair, own in sorted(limits.items())]
            part = {"what": _LIMITS}
            self._folder.keep(_LIMITS, part, {"keys": list(keys), "limits": rows})

    def forget_others(self, keys: Sequence[str]) -> None:
        """Delete the cached scores of submissions that no longer exist."""
        known = {self._folder.file(f"scores-{key}").name for key in keys}
        for path in self._folder.path.glob("scores-*.json"):
            if path.name not in known:
                path.unlink(missing_ok=True)

    def _kept(self, name: str, part: dict[str, Any]) -> Any:
        """Return cached content, or None if the file is damaged or belongs to another part."""
        try:
            return self._folder.load(name, part)
        except InputError:
            return None


def _placed(
    kept: Sequence[str], rows: Sequence[Sequence[Any]], keys: Sequence[str]
) -> Iterator[tuple[int, int, Sequence[Any]]]:
    """Yield the present positions of the two submissions of each stored row, and its values."""
    places: dict[str, list[int]] = {}
    for place, key in enumerate(keys):
        places.setdefault(key, []).append(place)
    for one, other, *what in rows:
        for i in places.get(kept[one], ()):
            yield from ((i, j, what) for j in places.get(kept[other], ()))


def _scores_as_json(scores: SystemScores) -> dict[str, Any]:
    return {
        **_own_as_json(scores),
        "by_label": [{"label": own.label, **_own_as_json(own)} for own in scores.by_label],
        "splitting_bias": scores.splitting_bias,
    }


def _own_as_json(scores: SystemScores | LabelScores) -> dict[str, Any]:
    return {
        "counts": scores.counts.to_dict(),
        "scores": [
            {entry.name: _plain(getattr(score, entry.name)) for entry in fields(Interval)}
            for score in scores.scores
        ],
    }


def _plain(value: Any) -> Any:
    """Return None and text unchanged, anything else as a float (NaN included)."""
    return value if value is None or isinstance(value, str) else float(value)


def _scores_from(content: dict[str, Any]) -> SystemScores:
    labels = [LabelScores(own["label"], *_own_from(own)) for own in content["by_label"]]
    return SystemScores("", *_own_from(content), tuple(labels), content["splitting_bias"])


def _own_from(content: dict[str, Any]) -> tuple[Counts, tuple[Interval, ...]]:
    return Counts(**content["counts"]), tuple(Interval(**score) for score in content["scores"])


# --- Writing the site: a folder that is replaced as a whole, and only if a board wrote it

_MANIFEST = "manifest.json"  # its presence marks a folder as a site; it lists the files
_WHAT = "written by probative board, which replaces this folder whole"
_EXCHANGE, _AT_FDCWD = 2, -100  # RENAME_EXCHANGE and AT_FDCWD of Linux


def real_site(path: Path | str) -> Path:
    """Resolve symbolic links in the path of the site; refuse places that cannot be one."""
    site = Path(os.path.realpath(path))
    if not site.name:
        raise InputError("is no place for a site; expected a folder of its own", path)
    if site == Path(os.path.realpath(".")):
        raise InputError("is where this command runs; expected another folder", path)
    check_folder(site)
    return site


@contextmanager
def locked(site: Path) -> Iterator[None]:
    """Lock the site against other builds, and clean up after a build that was killed.

    The lock ends with the process, however that ends.
    """
    make_folder(site.parent)
    place = site.with_name(f".{site.name}.lock")
    file = _acquire(place, site)
    try:
        _restore(site)
        yield
    finally:
        with suppress(PermissionError):  # Windows cannot remove an open file
            place.unlink(missing_ok=True)  # while we still hold the lock
        file.close()


def _acquire(place: Path, site: Path) -> IO[bytes]:
    """Open and lock the lock file; refuse if another process holds it."""
    while True:
        try:
            file = place.open("ab")
        except OSError as error:
            raise InputError(f"cannot be built: {_reason(error)}", site) from None
        try:
            _lock(file)
        except OSError:
            file.close()
            raise InputError(
                "is being built by another process; expected that to end first", site
            ) from None
        # the previous holder may have removed the file between opening and locking
        if place.exists() and os.path.samestat(os.fstat(file.fileno()), place.stat()):
            return file
        file.close()


def _lock(file: IO[bytes]) -> None:
    try:
        import fcntl
    except ImportError:  # Windows
        import msvcrt

        msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined,unused-ignore]
    else:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


def _check_site(site: Path) -> None:
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
            f"is no site of a board (it has no {_MANIFEST} of one); expected such a site, or a new "
            f"or empty folder",
            site,
        )
    for path in sorted(site.rglob("*")):
        if path.is_dir() and not path.is_symlink():
            continue
        name = path.relative_to(site).as_posix()
        if name != _MANIFEST and (name not in written or path.is_symlink()):
            raise InputError(
                f"holds {name!r}, which the board has not written and would lose; expected it "
                f"elsewhere",
                site,
            )
        if name != _MANIFEST and _digest(path.read_bytes()) != written[name]:
            raise InputError(
                f"{name!r} was edited there, and would be lost; expected another folder, or "
                f"{name!r} removed",
                site,
            )


def _replace_site(site: Path, files: Mapping[str, str]) -> None:
    """Replace the site with these files (content by path), atomically where possible."""
    try:
        new = Path(tempfile.mkdtemp(prefix=f".{site.name}-building-", dir=site.parent))
        try:
            _write(new, files)
            new.chmod(_mode(site))
            _check_site(site)  # it may have changed meanwhile
            _swap(new, site)
        finally:
            shutil.rmtree(new, ignore_errors=True)
    except OSError as error:
        raise InputError(f"cannot be written: {_reason(error)}", site) from None


def _write(folder: Path, files: Mapping[str, str]) -> None:
    digests = {}
    for name, content in files.items():
        data = content.encode()
        place = folder / name
        place.parent.mkdir(exist_ok=True)
        place.write_bytes(data)
        digests[name] = _digest(data)
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


def _mode(site: Path) -> int:
    """Return the permissions of the old site, or those that mkdir() would give."""
    if site.exists():
        return stat.S_IMODE(site.stat().st_mode)
    mask = os.umask(0)
    os.umask(mask)
    return 0o777 & ~mask


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _reason(error: OSError) -> str:
    return os.strerror(error.errno) if error.errno is not None else str(error)


# --- Finding submissions: a file that cannot be one gets a reason and stops no other

# do not follow links or wait for a pipe that nobody writes to; Windows has neither flag
_NO_LINK_NO_WAIT = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
_BINARY = getattr(os, "O_BINARY", 0)
_LINK = "is a link; expected the file itself"


class _SubmittedFile(NamedTuple):
    """File in the folder of submissions.

    Attributes
    ----------
    name
        The name of the file without its endings, or that of the folder which holds it.
    path
        The file.
    file
        Its path inside the folder of submissions.
    error
        Why it cannot be a submission, or None.
    is_first
        True if it holds its name; otherwise another submission does.
    """

    name: str
    path: Path
    file: str
    error: str | None = None
    is_first: bool = True

    @property
    def held_name(self) -> str:
        """Return the name in one case, since a web server may ignore case."""
        return self.name.casefold()

    @property
    def entry(self) -> str:
        """Return the entry of the folder of submissions: the file or its folder."""
        return Path(self.file).parts[0]


def find_submissions(folder: Path, *, answer: Path) -> list[_SubmittedFile]:
    """Find the submissions of a folder: its files, and single files in its subfolders.

    Hidden files and the gold file are skipped.
    """
    try:
        entries = sorted(path for path in folder.iterdir() if not path.name.startswith("."))
    except NotADirectoryError:
        raise InputError("is no folder; expected one that holds the submissions", folder) from None
    except FileNotFoundError:
        raise InputError("there is no such folder", folder) from None
    except OSError as error:
        raise InputError(f"cannot be read: {os.strerror(error.errno or 0)}", folder) from None
    return [look for entry in entries for look in _look_at(entry, folder, answer)]


def _one_per_name(
    files: Sequence[_SubmittedFile], holders: Mapping[str, str]
) -> list[_SubmittedFile]:
    """Mark all submissions of one name but the first with an error.

    The first is the one that held the name at the last build, else the first in the list.
    """
    first: dict[str, _SubmittedFile] = {}
    for one in files:
        if one.held_name not in first or one.entry == holders.get(one.held_name):
            first[one.held_name] = one
    return [_if_first(one, first[one.held_name]) for one in files]


def _content_digest(path: Path) -> str:
    """Return the SHA-256 digest of the content of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _read_submission(one: _SubmittedFile, root: Path, *, answer: Path, largest: int) -> bytes:
    """Read a submitted file of at most `largest` bytes, following no link.

    The file is opened once and checked through its handle: a link that is put into its place
    meanwhile is refused.
    """
    try:
        handle = _open(one.path, root)
        with os.fdopen(handle, "rb") as file:
            status = os.fstat(file.fileno())
            if not stat.S_ISREG(status.st_mode):
                raise InputError("is no file; expected one", one.path)
            with suppress(OSError):
                if os.path.samestat(status, answer.stat()):
                    raise InputError("is the answer itself; expected an output", one.path)
            data = file.read(largest + 1)
    except OSError as error:
        reason = os.strerror(error.errno or 0).lower()
        raise InputError(f"cannot be read: {reason}", one.path) from None
    if len(data) > largest:
        raise TooLargeError("is too large", one.path)
    return data


def _open(path: Path, root: Path) -> int:
    """Open a file below a folder for reading, without following links."""
    *folders, last = path.relative_to(root).parts
    if os.open not in os.supports_dir_fd:  # Windows
        for place in (path, path.parent):
            if place != root and place.is_symlink():
                raise InputError(_LINK, path)
        return os.open(path, os.O_RDONLY | _BINARY)
    at = os.open(root, os.O_RDONLY | os.O_DIRECTORY)
    try:
        for name in folders:
            inside = os.open(name, os.O_RDONLY | os.O_DIRECTORY | _NO_LINK_NO_WAIT, dir_fd=at)
            os.close(at)
            at = inside
        return os.open(last, os.O_RDONLY | _NO_LINK_NO_WAIT, dir_fd=at)
    except OSError as error:
        # Linux and macOS report ELOOP, BSD EMLINK, and ENOTDIR for a folder that became a link
        if error.errno in (errno.ELOOP, errno.EMLINK, errno.ENOTDIR):
            raise InputError(_LINK, path) from None
        raise
    finally:
        os.close(at)


def _if_first(one: _SubmittedFile, first: _SubmittedFile) -> _SubmittedFile:
    """Return the submission, with an error if another one has its name."""
    if one is first:
        return one
    reason = f"has the name of {first.file}; expected another name"
    return one._replace(error=reason, is_first=False)


def _look_at(entry: Path, root: Path, answer: Path) -> Iterator[_SubmittedFile]:
    """Yield the submission that an entry of the folder holds; nothing if it is the gold file."""
    path, name, error = entry, _printable(short_name(entry)), None
    try:
        if entry.is_symlink():
            error = _LINK
        elif entry.is_dir():
            name = _printable(entry.name)
            inside = [own for own in sorted(entry.iterdir()) if not own.name.startswith(".")]
            if len(inside) != 1:
                error = f"is a folder of {len(inside):,} files; expected one"
            elif inside[0].is_dir() and not inside[0].is_symlink():
                error = "is a folder in a folder; expected one file"
            else:
                path = inside[0]
        if error is None and answer.exists() and os.path.samestat(path.lstat(), answer.stat()):
            return
    except OSError as failure:
        error = f"cannot be read: {os.strerror(failure.errno or 0).lower()}"
    yield _SubmittedFile(name, path, _printable(str(path.relative_to(root))), error)


def _printable(name: str) -> str:
    """Return a file name as valid text, with replacements for bytes that are not UTF-8."""
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


# --- From a folder of submissions to a site

PAIRS = ("top", "all", "none")
_RARE_BELOW = 5  # gold items; the scores of a rarer label would reveal single items
_SECONDS_BETWEEN_SAVES = 5.0  # of finished tests


def board(
    gold: Path | str,
    submissions: Path | str,
    site: Path | str,
    *,
    cache: Path | str | None = None,
    pairs: str = "top",
    show_gold: bool = False,
    max_size: float = 64.0,
    metric: str | None = None,
    average: str = "micro",
    by: str | None = None,
    level: float = 0.95,
    beta: float = 1.0,
    adjust: str = "holm",
    rng: int = 0,
    n_jobs: int | None = -1,
    report: Callable[[int, int], None] | None = None,
    **reading: Unpack[ReadingKeywords],
) -> Board:
    r"""Score every submission of a folder, and write a site with the leaderboard.

    Results that have not changed since the last build are reused. A submission that cannot be
    scored is listed with the reason, and the others are ranked all the same. The site shows nothing
    of the gold file, unless `show_gold`.

    Parameters
    ----------
    gold
        The gold file.
    submissions
        A folder with one file per submission, or one subfolder with a single file in it; the
        submissions are named after these files and folders.
    site
        The folder to be written: a new or empty one, or the site of an earlier build, which is
        replaced as a whole or not at all.
    cache
        A folder for results that are kept between two builds; by default ``SITE.cache`` beside the
        site. It must not be published.
    pairs
        Which pairs have a page of their own: ``top``, the leader with every other system; ``all``;
        ``none``.
    show_gold
        Whether the site may show gold content: sentences on which systems differ, rare labels, and
        error messages that quote the gold file.
    max_size
        The largest size of a submission in MiB, also when unpacked.
    metric, average, by, level, beta, adjust, rng, n_jobs, report, **reading
        As for `rank`; `rng` is a whole number.

    Returns
    -------
    Board
        The submissions with their status, and the ranking.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import probative as pv
    >>> place = Path(tempfile.mkdtemp())
    >>> (place / "in").mkdir()
    >>> for name, tags in {"gold": "BIOBO", "in/ann": "BIOBO", "in/bob": "BIOOO"}.items():
    ...     lines = "".join(f"w {tag}-X\n" if tag != "O" else "w O\n" for tag in tags)
    ...     _ = (place / f"{name}.conll").write_text((lines + "\n") * 20)
    >>> _ = (place / "in" / "eve.conll").write_text("w O\n")
    >>> built = pv.board(place / "gold.conll", place / "in", place / "site")
    >>> built.scored, built.refused
    (('ann', 'bob'), ('eve',))
    >>> built.submissions[2].error
    '1 sentence of 1 token, but the answer has 20 sentences of 100 tokens; expected as many'
    >>> pv.board(place / "gold.conll", place / "in", place / "site").reused
    ('ann', 'bob')
    """
    options = BoardOptions.of(
        {
            "metric": metric,
            "average": average,
            "by": by,
            "level": level,
            "beta": beta,
            "adjust": adjust,
            "rng": rng,
            "show_gold": show_gold,
            "max_size": max_size,
            **reading,
        },
        beside=("cache", "pairs", "n_jobs", "report"),
    )
    places = (gold, submissions, site, cache)
    return build_site(places, options, pairs=pairs, n_jobs=n_jobs, report=report)


def build_site(
    places: tuple[Any, Any, Any, Any],
    options: BoardOptions,
    *,
    pairs: str = "top",
    n_jobs: int | None = -1,
    report: Callable[[int, int], None] | None = None,
    tell: Callable[[InputError], InputError] = lambda error: error,
) -> Board:
    """Build a board and write its site; `places` are gold, submissions, site and cache.

    `tell` rewords the error of a submission that cannot be scored for its readers.
    """
    options = _checked(options)
    one_of("pairs", pairs, PAIRS)
    if report is not None and not callable(report):
        raise InputError(f"report: {shown(report)} is not a function")
    where = _Places.of(*places)
    with locked(where.site):
        _check_site(where.site)
        built = _Building(where, options, {"n_jobs": n_jobs}, report, tell).build()
        pages = _wanted_pairs(built.board.ranking, pairs)
        examples = built.examples(pages) if options.show_gold else {}
        _replace_site(where.site, board_pages(built.board, pages, examples))
    return built.board


def _checked(options: BoardOptions) -> BoardOptions:
    """Validate the choices, and return them with checked values."""
    if len(options.columns) > 1:
        raise InputError("columns: a submission has one; expected the name of that")
    if options.metric is not None:
        one_of("metric", options.metric, METRICS)
    return replace(
        options,
        average=one_of("average", options.average, AVERAGES),
        level=open_probability("level", options.level),
        beta=positive("beta", options.beta),
        adjust=one_of("adjust", options.adjust, ADJUSTMENTS),
        rng=whole_number("rng", options.rng, least=0),
        show_gold=flag("show_gold", options.show_gold),
        max_size=positive("max_size", options.max_size),
    )


@dataclass(frozen=True)
class _Places:
    """Paths of a board; no folder may lie inside another."""

    gold: Path
    submissions: Path
    site: Path
    cache: Path

    @classmethod
    def of(cls, gold: Any, submissions: Any, site: Any, cache: Any) -> _Places:
        given = {"gold": gold, "submissions": submissions, "site": site, "cache": cache}
        for name, path in given.items():
            if not (is_path(path) or (name == "cache" and path is None)) or str(path) == "-":
                raise InputError(f"{name}: {shown(path)}; expected a path")
        real = real_site(site)
        places = cls(
            Path(gold),
            Path(submissions),
            real,
            real.with_name(f"{real.name}.cache") if cache is None else Path(cache),
        )
        places._check()
        return places

    def _check(self) -> None:
        check_folder(self.cache)
        folders = {
            "the submissions": self.submissions,
            "the site": self.site,
            "the cache": self.cache,
        }
        real = {what: Path(os.path.realpath(path)) for what, path in folders.items()}
        for (one, here), (other, there) in combinations(real.items(), 2):
            if here == there or here in there.parents or there in here.parents:
                raise InputError(
                    f"{other} and {one} stand in each other ({folders[one]}); expected two folders "
                    f"side by side",
                    folders[other],
                )
        answer = Path(os.path.realpath(self.gold))
        for what in ("the site", "the cache"):
            if real[what] in answer.parents:
                raise InputError(f"stands in {what}; expected it elsewhere", self.gold)


@dataclass(frozen=True, eq=False)
class _Entry:
    """Submission that was scored, with the key of its results in the cache."""

    file: _SubmittedFile
    output: Annotations
    key: str
    scores: SystemScores
    reused: bool


@dataclass(frozen=True, eq=False)
class _Built:
    """Board, with the matched systems that it was made from."""

    board: Board
    matched: Matched | None

    def examples(
        self, pairs: Sequence[tuple[str, str]]
    ) -> dict[tuple[str, str], tuple[Example | LabelExample, ...]]:
        """Return the sentences on which pairs of systems differ, by pair."""
        if self.matched is None or self.matched.records is not None:
            return {}
        place = {name: i for i, name in enumerate(self.matched.names)}
        matched = self.matched
        found = {(a, b): examples_of(matched, [(place[a], place[b])]) for a, b in pairs}
        return cast("dict[tuple[str, str], tuple[Example | LabelExample, ...]]", found)


@dataclass(frozen=True)
class _Building:
    """Build of a board, without its pages."""

    places: _Places
    options: BoardOptions
    how: dict[str, Any]
    report: Callable[[int, int], None] | None
    tell: Callable[[InputError], InputError]

    def build(self) -> _Built:
        """Read the gold file and the submissions, reuse cached results, and rank."""
        run = self._run()
        answer = read_side(self.places.gold, self.options)
        if answer.task == "samples":
            raise InputError("is a log, and no answer; expected `rank` for logs", self.places.gold)
        if self._run() != run:
            raise InputError("was changed while it was read; expected it to stay", self.places.gold)
        # rank the gold file alone: choices that do not fit it are the only errors that stop a board
        rank_matched(self._match(answer, [answer], ["gold"]), self.options, self.how)
        found = find_submissions(self.places.submissions, answer=self.places.gold)
        kept = Kept(self.places.cache, run)
        submissions = _one_per_name(found, kept.holders())
        kept.keep_holders({one.held_name: one.entry for one in submissions if one.is_first})
        read = [self._read(one, answer, kept) for one in submissions]
        entries = [one for one in read if isinstance(one, _Entry)]
        refused = {one.file: one for one in read if isinstance(one, Submission)}
        if not entries:
            empty = Board(
                str(self.places.site),
                tuple(refused.values()),
                None,
                signature=self.options.signature("board"),
            )
            return _Built(empty, None)
        names = [entry.file.name for entry in entries]
        matched = self._match(answer, [entry.output for entry in entries], names)
        ranking, known, n_known = self._rank(matched, entries, kept)
        status = {entry.file.file: "reused" if entry.reused else "scored" for entry in entries}
        board = Board(
            str(self.places.site),
            tuple(
                refused.get(one.file) or Submission(one.name, one.file, status[one.file])
                for one in submissions
            ),
            ranking,
            pairs_tested=len(known.tests) - n_known,
            pairs_reused=n_known,
            signature=ranking.signature,
        )
        return _Built(board, matched)

    def _match(
        self, answer: Annotations, outputs: Sequence[Annotations], names: Sequence[str]
    ) -> Matched:
        looking = self.options.average != "macro"
        matched = match_inputs(
            answer,
            outputs,
            names=names,
            find_positive=looking,
            all_there=False,
            reading=self.options,
        )
        # notes on the files may quote them
        return matched if self.options.show_gold else replace(matched, notes=())

    def _run(self) -> dict[str, Any]:
        """Return everything that determines the results, apart from the submissions."""
        words = self.options.train_words
        return {
            "command": "board",
            "version": __version__,
            "answer": _input_digest(self.places.gold),
            "train_words": _input_digest(Path(words)) if is_path(words) else repr(words),
            **{entry.name: _text(getattr(self.options, entry.name)) for entry in _choices()},
        }

    def _read(self, one: _SubmittedFile, answer: Annotations, kept: Kept) -> _Entry | Submission:
        """Read and score one submission by itself, so that no other can change its scores."""

        def refuse(reason: str) -> Submission:
            return Submission(one.name, one.file, "refused", reason)

        if one.error is not None:
            return refuse(one.error)
        largest = int(self.options.max_size * 2**20)
        try:
            data = _read_submission(
                one, self.places.submissions, answer=self.places.gold, largest=largest
            )
            output = read_side(one.path, self.options, answer, data=data, limit=largest)
        except TooLargeError:
            return refuse(
                f"holds more than {self.options.max_size:g} MiB, the max_size; expected less"
            )
        except InputError as error:
            return refuse(_own_words(self.tell(error), one))
        except Exception as error:  # whatever is in the file, the others continue
            return refuse(f"cannot be read ({type(error).__name__}); expected another file")
        key = _key(data, one.path)
        scores = kept.scores(key)
        if scores is not None:
            return _Entry(one, output, key, scores, reused=True)
        try:
            matched = self._match(answer, [output], [one.name])
            (scores,) = ranked_scores(matched, self.options).systems
        except InputError as error:
            words = _own_words(self.tell(error), one) if self.options.show_gold else None
            return refuse(words or _misfit(output, answer, error.line))
        except Exception as error:
            return refuse(f"cannot be matched ({type(error).__name__}); expected another file")
        kept.keep_scores(key, scores)
        return _Entry(one, output, key, scores, reused=False)

    def _rank(
        self, matched: Matched, entries: Sequence[_Entry], kept: Kept
    ) -> tuple[Ranking, Known, int]:
        """Rank the systems with cached tests of pairs; store the new ones."""
        keys = [entry.key for entry in entries]
        how: dict[str, Any] = {"what": "tests"}
        known = Known(
            scores={i: entry.scores for i, entry in enumerate(entries)},
            tests=kept.tests(keys, how),
            limits=kept.limits(keys),
        )
        before = dict(known.tests)
        due = time.monotonic() + _SECONDS_BETWEEN_SAVES

        def keep(done: int, total: int) -> None:
            nonlocal due
            if time.monotonic() > due:
                kept.keep_tests(keys, how, known.tests)
                due = time.monotonic() + _SECONDS_BETWEEN_SAVES
            if self.report is not None:
                self.report(done, total)

        ranking = rank_matched(matched, self.options, {**self.how, "report": keep}, known)
        if known.tests != before:  # sampled tests may have drawn more
            kept.keep_tests(keys, how, known.tests)
        kept.keep_limits(keys, known.limits)
        kept.forget_others(keys)
        signed = ranking.signature.replace("|rank|", "|board|", 1)
        ranking = replace(ranking, signature=signed)
        return ranking if self.options.show_gold else _public(ranking), known, len(before)


def _input_digest(path: Path) -> str:
    """Return the digest of an input file; refuse a pipe, which cannot be read again."""
    if not path.exists():
        raise InputError("there is no such file", path)
    if not path.is_file():
        raise InputError("is no file; expected one, which can be read again", path)
    return _content_digest(path)


def _key(data: bytes, path: Path) -> str:
    """Return the cache key of a submission: a digest of its content and its file endings."""
    endings = "".join(path.suffixes).lower().encode("utf-8", "surrogateescape")
    return hashlib.sha256(hashlib.sha256(data).digest() + endings).hexdigest()[:40]


def _choices() -> Iterator[Any]:
    return (entry for entry in fields(RankOptions) if entry.name != "train_words")


def _text(value: Any) -> Any:
    return value if isinstance(value, (str, int, float, type(None))) else repr(value)


def _public(ranking: Ranking) -> Ranking:
    """Remove labels that are so rare that their scores would reveal single items."""
    shown_labels = _common_labels(
        {
            own.label: float(own.counts.positives)
            for system in ranking.systems
            for own in system.by_label
        }
    )
    systems = tuple(
        replace(system, by_label=tuple(own for own in system.by_label if own.label in shown_labels))
        for system in ranking.systems
    )
    return replace(ranking, systems=systems)


def _common_labels(positives: Mapping[str, float]) -> set[str]:
    """Return the labels that may be shown.

    The hidden part follows from the sums over all labels, so it must hold enough items together:
    hiding a single rare label would hide nothing.
    """
    by_number = sorted(positives, key=lambda label: (positives[label], label))
    hidden = 0.0
    while by_number and (positives[by_number[0]] < _RARE_BELOW or 0 < hidden < _RARE_BELOW):
        hidden += positives[by_number.pop(0)]
    return set(by_number)


def _wanted_pairs(ranking: Ranking | None, pairs: str) -> tuple[tuple[str, str], ...]:
    """Return the pairs that get a page."""
    if ranking is None or pairs == "none":
        return ()
    leader = ranking.ranking[0].name
    return tuple((pair.a, pair.b) for pair in ranking.pairs if pairs == "all" or pair.b == leader)


def _own_words(error: InputError, one: _SubmittedFile) -> str:
    """Return the text of an error without the folders around the file."""
    words = str(error)
    if error.path is not None:
        line = "" if error.line is None else f"{error.line}:"
        words = words.removeprefix(f"{error.path}:{line}").strip()
    words = words.replace(str(one.path), one.file)
    return words if error.line is None else f"line {error.line}: {words}"


def _misfit(output: Annotations, answer: Annotations, line: int | None) -> str:
    """Return why an output does not fit the gold file, without quoting the gold file."""
    here, there = _extent(output), _extent(answer)
    if here != there:
        return f"{here}, but the answer has {there}; expected as many"
    place = "" if line is None else f"line {line}: "
    return f"{place}does not fit the answer; expected the same {_unit(answer)} in the same order"


def _extent(side: Any) -> str:
    """Return the size of the test set in words, which everybody with the test data knows."""
    if side.task == "labels":
        return counted(len(side), "item")
    if side.task == "segmentation":
        return counted(side.n_sentences, "sentence")
    sentences = counted(side.text.n_sentences, "sentence")
    return f"{sentences} of {counted(side.text.n_tokens, 'token')}"


def _unit(side: Annotations) -> str:
    other = {"labels": "items", "segmentation": "sentences"}
    return other.get(side.task, "sentences and tokens")
