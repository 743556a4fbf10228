"""Build a board of submissions: score and rank a folder of files, and write a site."""

from __future__ import annotations

import datetime as dt
import errno
import hashlib
import json
import os
import re
import stat
import time
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields, replace
from itertools import combinations
from math import nan
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Unpack
from urllib.parse import urlsplit

from probative._validation import accepts_seed, flag, one_of, positive, shown, whole_number
from probative._version import __version__
from probative.counts import Counts
from probative.errors import InputError
from probative.files import (
    ResumableFolder,
    check_folder,
    check_site,
    create_whole,
    failing_as,
    locked,
    make_folder,
    real_site,
    reason_of,
    replace_site,
    source_date,
    utc_day,
)
from probative.jobs.rank import Known, check_ranking, rank_matched, ranked_scores
from probative.matching.examples import examples_of
from probative.matching.matched import Matched, match_inputs, read_side
from probative.matching.outputs import short_name
from probative.metrics import METRICS
from probative.options import BoardOptions, RankOptions, ReadingKeywords
from probative.reading.inputs import is_path
from probative.reading.source import TooLargeError
from probative.reporting.rank_report import board_pages
from probative.results import (
    Board,
    FieldCounts,
    Interval,
    LabelScores,
    NearMiss,
    Ranking,
    RecordOutcomes,
    Submission,
    SystemScores,
)
from probative.results.scores import with_scores
from probative.wording.numbers import counted

if TYPE_CHECKING:
    from probative.reading.formats import Annotations


# --- Cache between two builds: the scores of submissions and the tests of pairs
#
# It holds results over the whole test set, none of single sentences, and is never published.

_README = """\
Results that `probative board` reuses in the next build. You can delete this folder at any time. Do
not publish it: it holds the scores of every label, however rare.
"""


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
        with suppress(InputError):  # damaged: start without holders
            return dict(self._names.load("holders", {}) or {})
        return {}

    def keep_holders(self, holders: dict[str, str]) -> None:
        """Store the file or folder that holds each name."""
        if holders != self.holders():
            self._names.keep("holders", {}, holders)

    def scores(self, key: str) -> SystemScores | None:
        """Return the cached scores of a submission (with an empty name), or None."""
        content = self._kept(f"scores-{key}", {"submission": key})
        if content is None:
            return None
        labels = tuple(LabelScores(own["label"], *_scores_from(own)) for own in content["by_label"])
        bias, outcomes = content.get("splitting_bias"), _outcomes_from(content.get("outcomes"))
        return SystemScores("", *_scores_from(content), labels, bias, outcomes=outcomes)

    def keep_scores(self, key: str, scores: SystemScores) -> None:
        """Store the scores of a submission."""
        self._folder.keep(f"scores-{key}", {"submission": key}, scores.to_dict())

    def pairs(self, what: str, keys: Sequence[str]) -> dict[tuple[int, int], Any]:
        """Return the cached tests or limits of pairs of these submissions, by position."""
        known = self._kept(f"pairs-{what}", {"what": what}) or {}
        found = {}
        for i, j in combinations(range(len(keys)), 2):
            if values := known.get(f"{keys[i]} {keys[j]}"):
                found[i, j] = tuple(values)
            elif values := known.get(f"{keys[j]} {keys[i]}"):
                found[i, j] = _turned(*values)
        return found

    def keep_pairs(
        self, what: str, keys: Sequence[str], found: Mapping[tuple[int, int], tuple[float, ...]]
    ) -> None:
        """Store the tests or the limits of these pairs and drop all others."""
        rows = {f"{keys[i]} {keys[j]}": own for (i, j), own in sorted(found.items())}
        self._folder.keep(f"pairs-{what}", {"what": what}, rows)

    def forget_others(self, keys: Sequence[str]) -> None:
        """Delete the cached scores of submissions that no longer exist."""
        known = {self._folder.file(f"scores-{key}").name for key in keys}
        for path in self._folder.path.glob("scores-*.json"):
            if path.name not in known:
                path.unlink(missing_ok=True)

    def _kept(self, name: str, part: dict[str, Any]) -> Any:
        """Return cached content, or None if the file is damaged or belongs to another part."""
        with suppress(InputError):
            return self._folder.load(name, part)


def _turned(first: float, *ends: float) -> tuple[float, ...]:
    """Return a test (p and draws) or limits (reach, low, high) with the sides exchanged."""
    return (first, *ends) if len(ends) < 2 else (first, -ends[1], -ends[0])


def _scores_from(content: dict[str, Any]) -> tuple[Counts, tuple[Interval, ...]]:
    """Return the counts and the scores that `to_dict` wrote; there undefined numbers are None."""
    scores: list[dict[str, Any]] = [
        {name: nan if value is None else value for name, value in score.items()}
        for score in content["scores"]
    ]
    return Counts(**content["counts"]), tuple(Interval(**score) for score in scores)


def _outcomes_from(content: dict[str, Any] | None) -> RecordOutcomes | None:
    """Return the outcomes of records that `to_dict` wrote."""
    if content is None:
        return None
    mean = content["mean_f1"]
    lists: dict[str, Any] = {
        "fields": tuple(FieldCounts(**{"absent": None, **own}) for own in content["fields"]),
        "near_misses": tuple(
            NearMiss(own["path"], own["rule"], own["number"], own["f1"])
            for own in content["near_misses"]
        ),
        "never_in_gold": tuple(content["never_in_gold"]),
    }
    return RecordOutcomes(**content | {"mean_f1": nan if mean is None else mean} | lists)


# --- Finding submissions: a file that cannot be one gets a reason and stops no other

# do not follow links or wait for a pipe that nobody writes to; Windows has neither flag
_NO_LINK_NO_WAIT = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
_BINARY = getattr(os, "O_BINARY", 0)
_LINK = "is a link; expected the file itself"


class _SubmittedFile(NamedTuple):
    """File in the folder of submissions."""

    name: str  # of the file without its endings, or of the folder which holds it
    path: Path
    file: str  # its path inside the folder of submissions
    error: str | None = None  # why it cannot be a submission
    meta: Path | None = None  # the file that describes it
    is_first: bool = True  # True if it holds its name; otherwise another submission does

    @property
    def held_name(self) -> str:
        """Return the name in one case, since a web server may ignore case."""
        return self.name.casefold()

    @property
    def entry(self) -> str:
        """Return the entry of the folder of submissions: the file or its folder."""
        return Path(self.file).parts[0]


def find_submissions(folder: Path, *, answer: Path) -> list[_SubmittedFile]:
    """Find the submissions of a folder: its files, and single files in its subfolders."""
    with failing_as("cannot be read", folder):
        if not folder.exists():
            raise InputError("there is no such folder", folder)
        if not folder.is_dir():
            raise InputError("is no folder; expected one that holds the submissions", folder)
        entries = sorted(path for path in folder.iterdir() if not path.name.startswith("."))
    found = [one for entry in entries for one in _examined(entry, folder, answer)]
    described = {f"{one.name}.{_META}" for one in found}
    return [one for one in found if one.path.name not in described]


def _one_per_name(
    files: Sequence[_SubmittedFile], holders: Mapping[str, str]
) -> list[_SubmittedFile]:
    """Mark all submissions of one name but the first (that of the last build) with an error."""
    first: dict[str, _SubmittedFile] = {}
    for one in files:
        if one.held_name not in first or one.entry == holders.get(one.held_name):
            first[one.held_name] = one
    taken = "has the name of {}; expected another name"
    return [
        one
        if one is (holder := first[one.held_name])
        else one._replace(error=taken.format(holder.file), is_first=False)
        for one in files
    ]


def _read_submitted(path: Path, places: _Places, largest: int) -> bytes:
    """Read a submitted file of at most `largest` bytes, following no link."""
    # opened once and checked through its handle: a link put into its place meanwhile is refused
    unreadable = failing_as("cannot be read", path)
    with unreadable, os.fdopen(_open(path, places.submissions), "rb") as file:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode):
            raise InputError("is no file; expected one", path)
        with suppress(OSError):
            if os.path.samestat(status, places.gold.stat()):
                raise InputError("is the gold file itself; expected an output", path)
        data = file.read(largest + 1)
    if len(data) > largest:
        raise TooLargeError("is too large", path)
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


def _examined(entry: Path, root: Path, answer: Path) -> Iterator[_SubmittedFile]:
    """Yield the submission that an entry of the folder holds; nothing if it is the gold file."""
    path, name, error = entry, _printable(short_name(entry)), None
    meta = root / f"{short_name(entry)}.{_META}"
    try:
        if entry.is_symlink():
            error = _LINK
        elif entry.is_dir():
            name, meta = _printable(entry.name), entry / _META
            visible = (own for own in sorted(entry.iterdir()) if not own.name.startswith("."))
            inside = [own for own in visible if own != meta]
            if len(inside) != 1:
                error = f"is a folder of {len(inside):,} files; expected one"
            elif inside[0].is_dir() and not inside[0].is_symlink():
                error = "is a folder in a folder; expected one file"
            else:
                path = inside[0]
        elif entry.name.endswith(_META):
            error = f"describes no submission; expected NAME.{_META} beside a file NAME"
        if error is None and answer.exists() and os.path.samestat(path.lstat(), answer.stat()):
            return
    except OSError as failure:
        error = f"cannot be read: {reason_of(failure).lower()}"
    file = _printable(str(path.relative_to(root)))
    yield _SubmittedFile(name, path, file, error, meta if os.path.lexists(meta) else None)


def _printable(name: str) -> str:
    """Return a file name as valid text, with replacements for bytes that are not UTF-8."""
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


# --- Describing submissions: a small file that a team writes, and nobody else checks

_META = "meta.toml"
_LARGEST_META = 2**14  # bytes
_LONGEST_META = 300  # characters of a name or a link
_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")


def _described(data: bytes) -> tuple[dict[str, str], list[str]]:
    """Return the description of a submission by key, and what is wrong with it."""
    try:
        content = tomllib.loads(data.decode())
    except (ValueError, RecursionError) as error:
        return {}, [f"{_META}: is no TOML: {str(error) or type(error).__name__}"]
    right: dict[str, str] = {}
    wrong = []
    for key, value in content.items():
        check, expected = _KEYS.get(key, (lambda _: None, f"{', '.join(_KEYS)}, and no other key"))
        text = check(value)
        if text is None:
            wrong.append(f"{_META}: {key} = {shown(value)}; expected {expected}")
        else:
            right[key] = text
    return right, wrong


def _team(value: Any) -> str | None:
    fits = isinstance(value, str) and value.isprintable() and len(value) <= _LONGEST_META
    return value.strip() or None if fits else None


def _link(value: Any) -> str | None:
    """Return a link to a web page; None for any other, such as one that runs a script."""
    text = _team(value)
    try:
        parts = urlsplit(text or "")
    except ValueError:
        return None
    is_page = parts.scheme in ("http", "https") and parts.hostname and "@" not in parts.netloc
    return text if is_page and text is not None and " " not in text else None


def _day(value: Any) -> str | None:
    """Return a day as text, such as 2026-05-01."""
    if isinstance(value, dt.date):  # a time, too
        return value.isoformat()[:10]
    try:
        fits = isinstance(value, str) and _DAY.fullmatch(value) and dt.date.fromisoformat(value)
    except ValueError:
        return None
    return value if fits else None


_KEYS: dict[str, tuple[Callable[[Any], str | None], str]] = {
    "team": (_team, f"a name of at most {_LONGEST_META} characters"),
    "paper": (_link, "a link that starts with https:// or http://"),
    "code": (_link, "a link that starts with https:// or http://"),
    "date": (_day, "a day such as 2026-05-01"),
}


class Front(NamedTuple):
    """Front matter of a site: its title, its introduction in Markdown, and its date."""

    title: str | None = None
    about: str | None = None
    date: str | None = None

    @classmethod
    def of(cls, title: Any, about: Any, date: Any) -> Front:
        """Check the title and the date, and read the file of the introduction."""
        if title is not None and (not isinstance(title, str) or not title.strip()):
            raise InputError(f"title: {shown(title)}; expected text")
        if about is not None and (not is_path(about) or str(about) == "-"):
            raise InputError(f"about: {shown(about)}; expected the path of a Markdown file")
        day = source_date() if date is None else _day(date)
        if date is not None and day is None:
            raise InputError(f"date: {shown(date)}; expected a day such as 2026-05-01")
        if about is not None:
            with failing_as("cannot be read as Markdown in UTF-8", about):
                about = Path(about).read_text(encoding="utf-8-sig")
        return cls(title and title.strip(), about, day)


# --- From a folder of submissions to a site

PAIRS = ("top", "all", "none")
_RARE_BELOW = 5  # gold items; the scores of a rarer label would reveal single items
_SECONDS_BETWEEN_SAVES = 5.0  # of finished tests


@accepts_seed
def board(
    gold: Path | str,
    submissions: Path | str,
    site: Path | str,
    *,
    cache: Path | str | None = None,
    pairs: str = "top",
    show_gold: bool = False,
    max_size: float = 64.0,
    title: str | None = None,
    about: Path | str | None = None,
    date: dt.date | str | None = None,
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
        submissions are named after these files and folders. ``NAME.meta.toml`` beside a file, or
        ``meta.toml`` in a subfolder, may give `team`, `paper`, `code` (links) and `date`.
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
    title
        The heading of the site; by default the number of systems.
    about
        A Markdown file with an introduction. HTML in it is shown as text, and pictures as links.
    date
        The day that the site shows, such as 2026-05-01. By default that of the environment variable
        SOURCE_DATE_EPOCH, or the day on which the newest file was changed: the same files always
        give the same site.
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
    'has 1 sentence of 1 token; gold has 20 sentences of 100 tokens'
    >>> pv.board(place / "gold.conll", place / "in", place / "site").reused
    ('ann', 'bob')
    """
    beside = ("cache", "pairs", "title", "about", "date", "n_jobs", "report")
    options = BoardOptions.of_call(locals(), beside=beside)
    places = (gold, submissions, site, cache)
    front = Front.of(title, about, date)
    return build_site(places, options, front, pairs=pairs, n_jobs=n_jobs, report=report)


def build_site(
    places: tuple[Any, Any, Any, Any],
    options: BoardOptions,
    front: Front,
    *,
    pairs: str = "top",
    n_jobs: int | None = -1,
    report: Callable[[int, int], None] | None = None,
    tell: Callable[[InputError], InputError] = lambda error: error,
) -> Board:
    """Build a board and write its site; `places` are gold, submissions, site and cache."""
    # `tell` rewords the error of a submission that cannot be scored for its readers
    if len(options.columns) > 1:
        raise InputError("columns: more than one is given; expected the column of a submission")
    one_of("metric", options.metric or "f1", METRICS)  # a board has no graded scores
    options = replace(
        check_ranking(options, report),
        rng=whole_number("rng", options.rng, least=0),
        show_gold=flag("show_gold", options.show_gold),
        max_size=positive("max_size", options.max_size),
    )
    one_of("pairs", pairs, PAIRS)
    where = _Places.of(*places)
    with locked(where.site):
        check_site(where.site)
        building = _Building(where, options, front, {"n_jobs": n_jobs}, report, tell)
        built, matched = building.build()
        pages = _wanted_pairs(built.ranking, pairs)
        examples = _examples(matched, pages) if options.show_gold else {}
        replace_site(where.site, board_pages(built, pages, examples))
    return built


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
        pages = real_site(site)
        kept = pages.with_name(f"{pages.name}.cache") if cache is None else Path(cache)
        check_folder(kept)
        folders = {"the submissions": Path(submissions), "the site": pages, "the cache": kept}
        real = {what: Path(os.path.realpath(path)) for what, path in folders.items()}
        for (one, here), (other, there) in combinations(real.items(), 2):
            if here == there or here in there.parents or there in here.parents:
                raise InputError(
                    f"{other} and {one} are the same folder or one lies in the other "
                    f"({folders[one]}); expected two folders side by side",
                    folders[other],
                )
        answer = Path(gold)
        for what in ("the site", "the cache"):
            if real[what] in Path(os.path.realpath(answer)).parents:
                raise InputError(f"lies in {what}; expected it elsewhere", answer)
        return cls(answer, *folders.values())


@dataclass(frozen=True, eq=False)
class _Entry:
    """Submission that was scored, with the key of its results in the cache."""

    file: _SubmittedFile
    output: Annotations
    key: str
    scores: SystemScores
    reused: bool


def _examples(
    matched: Matched | None, pairs: Sequence[tuple[str, str]]
) -> dict[tuple[str, str], Any]:
    """Return the sentences on which pairs of systems differ, by pair."""
    if matched is None or matched.records is not None:
        return {}
    place: Any = matched.names.index
    return {(a, b): examples_of(matched, [(place(a), place(b))]) for a, b in pairs}


@dataclass(frozen=True)
class _Building:
    """Build of a board, without its pages."""

    places: _Places
    options: BoardOptions
    front: Front
    how: dict[str, Any]
    report: Callable[[int, int], None] | None
    tell: Callable[[InputError], InputError]

    def build(self) -> tuple[Board, Matched | None]:
        """Read the gold file and the submissions, reuse cached results, and rank."""
        run = self._run()
        answer = read_side(self.places.gold, self.options)
        if answer.task == "samples":
            raise InputError("is a log; expected a gold file (`rank` takes logs)", self.places.gold)
        if self._run() != run:
            changed = "was changed while it was read; run the command again"
            raise InputError(changed, self.places.gold)
        # rank the gold file alone: choices that do not fit it are the only errors that stop a board
        rank_matched(self._match(answer, [answer], ["gold"]), self.options, self.how)
        found = find_submissions(self.places.submissions, answer=self.places.gold)
        kept = Kept(self.places.cache, run)
        submissions = _one_per_name(found, kept.holders())
        kept.keep_holders({one.held_name: one.entry for one in submissions if one.is_first})
        read = [self._read(one, answer, kept) for one in submissions]
        entries = [one for one in read if isinstance(one, _Entry)]
        head = str(self.places.site), tuple(map(self._with_description, submissions, read))
        front = self.front._asdict() | {"date": self.front.date or self._newest(submissions)}
        if not entries:
            return Board(*head, None, **front, signature=self.options.signature("board")), None
        names = [entry.file.name for entry in entries]
        matched = self._match(answer, [entry.output for entry in entries], names)
        ranking, tested, reused = self._rank(matched, entries, kept)
        built = Board(*head, ranking, tested, reused, **front, signature=ranking.signature)
        return built, matched

    def _with_description(self, one: _SubmittedFile, read: _Entry | Submission) -> Submission:
        """Return the status of a submission with what its team says about it."""
        if isinstance(read, _Entry):
            read = Submission(one.name, one.file, "reused" if read.reused else "scored")
        if one.meta is None or not one.is_first:
            return read
        try:
            right, wrong = _described(_read_submitted(one.meta, self.places, _LARGEST_META))
        except TooLargeError:
            right, wrong = {}, [f"{_META}: is larger than {_LARGEST_META:,} bytes"]
        except InputError as error:
            right, wrong = {}, [f"{_META}: {_own_words(error, one)}"]
        return replace(read, **right, remarks=tuple(wrong) or None)

    def _newest(self, submissions: Sequence[_SubmittedFile]) -> str | None:
        """Return the day on which the newest submission was changed."""
        # the date that a team gives does not count: one from the future would stay for ever
        times = []
        for one in submissions:
            with suppress(OSError):
                times.append(one.path.lstat().st_mtime)
        try:
            return utc_day(max(times)) if times else None
        except (ValueError, OverflowError, OSError):
            return None

    def _match(
        self, answer: Annotations, outputs: Sequence[Annotations], names: Sequence[str]
    ) -> Matched:
        matched = match_inputs(
            answer,
            outputs,
            names=names,
            find_positive=self.options.average != "macro",
            all_there=False,
            reading=self.options,
        )
        # notes on the files may quote them
        return matched if self.options.show_gold else replace(matched, notes=())

    def _run(self) -> dict[str, Any]:
        """Return everything that determines the results, apart from the submissions."""
        run = {entry.name: repr(getattr(self.options, entry.name)) for entry in fields(RankOptions)}
        if is_path(self.options.train_words):
            run["train_words"] = _input_digest(Path(self.options.train_words))
        answer = _input_digest(self.places.gold)
        return {"command": "board", "version": __version__, "answer": answer, **run}

    def _read(self, one: _SubmittedFile, answer: Annotations, kept: Kept) -> _Entry | Submission:
        """Read and score one submission by itself, so that no other can change its scores."""

        def refuse(reason: str) -> Submission:
            return Submission(one.name, one.file, "refused", reason)

        if one.error is not None:
            return refuse(one.error)
        largest = int(self.options.max_size * 2**20)
        try:
            data = _read_submitted(one.path, self.places, largest)
            output = read_side(one.path, self.options, answer, data=data, limit=largest)
        except TooLargeError:
            return refuse(f"is larger than {self.options.max_size:g} MiB (max_size)")
        except InputError as error:
            return refuse(_own_words(self.tell(error), one))
        except Exception as error:  # whatever is in the file, the others continue
            return refuse(f"cannot be read ({type(error).__name__}); expected another file")
        # the content of the file and its endings
        endings = "".join(one.path.suffixes).lower().encode("utf-8", "surrogateescape")
        key = hashlib.sha256(hashlib.sha256(data).digest() + endings).hexdigest()[:40]
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
    ) -> tuple[Ranking, int, int]:
        """Rank the systems, and count new and cached tests of pairs; store the new ones."""
        keys = [entry.key for entry in entries]
        scores = {i: entry.scores for i, entry in enumerate(entries)}
        tests, limits = (kept.pairs(what, keys) for what in ("tests", "limits"))
        known = Known(scores=scores, tests=tests, limits=limits)
        before = dict(known.tests)
        due = time.monotonic() + _SECONDS_BETWEEN_SAVES

        def keep(done: int, total: int) -> None:
            nonlocal due
            if time.monotonic() > due:
                kept.keep_pairs("tests", keys, known.tests)
                due = time.monotonic() + _SECONDS_BETWEEN_SAVES
            if self.report is not None:
                self.report(done, total)

        ranking = rank_matched(matched, self.options, {**self.how, "report": keep}, known)
        if known.tests != before:  # sampled tests may have drawn more
            kept.keep_pairs("tests", keys, known.tests)
        if known.limits:
            kept.keep_pairs("limits", keys, known.limits)
        kept.forget_others(keys)
        ranking = with_scores(ranking, signature=ranking.signature.replace("|rank|", "|board|", 1))
        ranking = ranking if self.options.show_gold else _public(ranking)
        return ranking, len(known.tests) - len(before), len(before)


def _input_digest(path: Path) -> str:
    """Return the digest of an input file; refuse a pipe, which cannot be read again."""
    if not path.exists():
        raise InputError("there is no such file", path)
    if not path.is_file():
        raise InputError("is no file; expected a file that can be read again", path)
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _public(ranking: Ranking) -> Ranking:
    """Remove labels that are so rare that their scores would reveal single items."""
    every = [own for system in ranking.systems for own in system.by_label]
    common = _common_labels({own.label: float(own.counts.positives) for own in every})
    systems = tuple(
        replace(system, by_label=tuple(own for own in system.by_label if own.label in common))
        for system in ranking.systems
    )
    return with_scores(ranking, systems=systems)


def _common_labels(positives: Mapping[str, float]) -> set[str]:
    """Return the labels that may be shown."""
    # The hidden part follows from the sums over all labels, so it must hold enough items together:
    # hiding a single rare label would hide nothing.
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
        return f"has {here}; gold has {there}"
    place = "" if line is None else f"line {line}: "
    unit = {"labels": "items", "segmentation": "sentences"}.get(answer.task, "sentences and tokens")
    return f"{place}does not fit gold; expected the same {unit} in the same order"


def _extent(side: Any) -> str:
    """Return the size of the test set in words, which everybody with the test data knows."""
    if side.task == "labels":
        return counted(len(side), "item")
    if side.task == "segmentation":
        return counted(side.n_sentences, "sentence")
    sentences = counted(side.text.n_sentences, "sentence")
    return f"{sentences} of {counted(side.text.n_tokens, 'token')}"
