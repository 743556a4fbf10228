"""From a folder of submissions to a site: find, read, reuse, rank, write."""

from __future__ import annotations

import hashlib
import os
import time
from dataclasses import dataclass, fields, replace
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from probative._validation import (
    flag,
    one_of,
    open_probability,
    positive,
    shown,
    whole_number,
)
from probative._version import __version__
from probative.boards.kept import Kept
from probative.boards.site import check_site, locked, real_site, replace_site
from probative.boards.submissions import (
    content_digest,
    find_submissions,
    one_per_name,
    read_submission,
)
from probative.disagreements import examples_of
from probative.errors import InputError
from probative.files import check_folder
from probative.inference.leaderboard import ADJUSTMENTS
from probative.matching.matched import match_inputs, read_side
from probative.metrics import METRICS
from probative.options import BoardOptions, RankOptions
from probative.ranking import Known, rank_matched, ranked_scores
from probative.reading.inputs import is_path, task_of
from probative.reading.source import TooLargeError
from probative.reporting.board_pages import board_pages
from probative.results import Board, Ranking, Submission
from probative.scoring.basis import AVERAGES
from probative.wording.numbers import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from probative.boards.submissions import SubmittedFile
    from probative.matching.matched import Matched
    from probative.options import ReadingKeywords
    from probative.reading.recognise import Annotations
    from probative.results import Example, LabelExample, SystemScores

__all__ = ["PAIRS", "board", "build_site"]

PAIRS = ("top", "all", "none")
_RARE = 5  # a label that the answer has less often tells of single items
_SAVED = 5.0  # seconds after which the tests that are done are kept


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

    What has not changed since the last build is not computed again. A submission that cannot be
    scored becomes a line with the reason, and the others are ranked all the same. Nothing of the
    answer stands in the site, unless `show_gold`.

    Parameters
    ----------
    gold
        The file of the right answer.
    submissions
        A folder with one file per submission, or one folder with a single file in it; they are
        called after these files and folders.
    site
        The folder to be written: a new or empty one, or the site of an earlier build, which is
        replaced whole or not at all.
    cache
        A folder for what is kept between two builds; by default ``SITE.cache`` beside the site. It
        must not be published.
    pairs
        Which pairs have a page of their own: ``top``, the leader with every other system; ``all``;
        ``none``.
    show_gold
        Whether the site may show what stands in the answer: sentences on which systems differ,
        labels that are rare, and reasons that quote it.
    max_size
        The most MiB that a submission may have, also unpacked.
    metric, average, by, level, beta, adjust, rng, n_jobs, report, **reading
        As for `rank`; `rng` is a whole number.

    Returns
    -------
    Board
        The submissions, what became of each, and the ranking.

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
    """Build a board, and write its site.

    Parameters
    ----------
    places
        Where the answer, the submissions, the site and the cache are; see `board`.
    options, pairs, n_jobs, report
        As for `board`.
    tell
        Puts why a submission cannot be scored into the words of whoever reads it.
    """
    options = _checked(options)
    one_of("pairs", pairs, PAIRS)
    if report is not None and not callable(report):
        raise InputError(f"report: {shown(report)} is not a function")
    where = _Places.of(*places)
    with locked(where.site):
        check_site(where.site)
        built = _Building(where, options, {"n_jobs": n_jobs}, report, tell).build()
        pages = _wanted_pairs(built.board.ranking, pairs)
        examples = built.examples(pages) if options.show_gold else {}
        replace_site(where.site, board_pages(built.board, pages, examples))
    return built.board


def _checked(options: BoardOptions) -> BoardOptions:
    """The same choices, if they are some that there are."""
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
    """Where everything stands; no two may be in each other's way."""

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
    """A submission that could be scored, and the key of what is known of it."""

    file: SubmittedFile
    output: Annotations
    key: str
    scores: SystemScores
    reused: bool


@dataclass(frozen=True, eq=False)
class _Built:
    """The board, and what it was made from."""

    board: Board
    matched: Matched | None

    def examples(
        self, pairs: Sequence[tuple[str, str]]
    ) -> dict[tuple[str, str], tuple[Example | LabelExample, ...]]:
        """The sentences on which pairs of systems differ."""
        if self.matched is None:
            return {}
        place = {name: i for i, name in enumerate(self.matched.names)}
        matched = self.matched
        return {(a, b): examples_of(matched, [(place[a], place[b])]) for a, b in pairs}


@dataclass(frozen=True)
class _Building:
    """One build of a board, without its pages."""

    places: _Places
    options: BoardOptions
    how: dict[str, Any]
    report: Callable[[int, int], None] | None
    tell: Callable[[InputError], InputError]

    def build(self) -> _Built:
        """Read, reuse, rank."""
        run = self._run()
        answer = read_side(self.places.gold, self.options)
        if task_of(answer) == "samples":
            raise InputError("is a log, and no answer; expected `rank` for logs", self.places.gold)
        if self._run() != run:
            raise InputError("was changed while it was read; expected it to stay", self.places.gold)
        # choices that do not fit the answer stop the board; nothing else does
        rank_matched(self._match(answer, [answer], ["gold"]), self.options, self.how)
        found = find_submissions(self.places.submissions, answer=self.places.gold)
        kept = Kept(self.places.cache, run)
        submissions = one_per_name(found, kept.holders())
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
        # what was noticed in files may quote them
        return matched if self.options.show_gold else replace(matched, notes=())

    def _run(self) -> dict[str, Any]:
        """What makes the results of this board what they are, but for the submissions."""
        words = self.options.train_words
        return {
            "command": "board",
            "version": __version__,
            "answer": _input_digest(self.places.gold),
            "train_words": _input_digest(Path(words)) if is_path(words) else repr(words),
            **{entry.name: _text(getattr(self.options, entry.name)) for entry in _choices()},
        }

    def _read(self, one: SubmittedFile, answer: Annotations, kept: Kept) -> _Entry | Submission:
        """Read a submission and score it by itself: what others submit changes no digit."""

        def refuse(reason: str) -> Submission:
            return Submission(one.name, one.file, "refused", reason)

        if one.error is not None:
            return refuse(one.error)
        largest = int(self.options.max_size * 2**20)
        try:
            data = read_submission(
                one, self.places.submissions, answer=self.places.gold, largest=largest
            )
            output = read_side(one.path, self.options, answer, data=data, limit=largest)
        except TooLargeError:
            return refuse(
                f"holds more than {self.options.max_size:g} MiB, the max_size; expected less"
            )
        except InputError as error:
            return refuse(_own_words(self.tell(error), one))
        except Exception as error:  # whatever is in the file, the others go on
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
        """Rank the systems; what is known of pairs is not tested again, what is new is kept."""
        keys = [entry.key for entry in entries]
        how: dict[str, Any] = {"what": "tests"}
        known = Known(
            scores={i: entry.scores for i, entry in enumerate(entries)},
            tests=kept.tests(keys, how),
            limits=kept.limits(keys),
        )
        before = dict(known.tests)
        due = time.monotonic() + _SAVED

        def keep(done: int, total: int) -> None:
            nonlocal due
            if time.monotonic() > due:
                kept.keep_tests(keys, how, known.tests)
                due = time.monotonic() + _SAVED
            if self.report is not None:
                self.report(done, total)

        ranking = rank_matched(matched, self.options, {**self.how, "report": keep}, known)
        if known.tests != before:  # of sampled ones, more may have been drawn
            kept.keep_tests(keys, how, known.tests)
        kept.keep_limits(keys, known.limits)
        kept.forget_others(keys)
        signed = ranking.signature.replace("|rank|", "|board|", 1)
        ranking = replace(ranking, signature=signed)
        return ranking if self.options.show_gold else _public(ranking), known, len(before)


def _input_digest(path: Path) -> str:
    """What tells an input from others; a pipe would be empty when it is read again."""
    if not path.exists():
        raise InputError("there is no such file", path)
    if not path.is_file():
        raise InputError("is no file; expected one, which can be read again", path)
    return content_digest(path)


def _key(data: bytes, path: Path) -> str:
    """Return what tells a submission from others: its content, and the endings it is read by."""
    endings = "".join(path.suffixes).lower().encode("utf-8", "surrogateescape")
    return hashlib.sha256(hashlib.sha256(data).digest() + endings).hexdigest()[:40]


def _choices() -> Iterator[Any]:
    return (entry for entry in fields(RankOptions) if entry.name != "train_words")


def _text(value: Any) -> Any:
    return value if isinstance(value, (str, int, float, type(None))) else repr(value)


def _public(ranking: Ranking) -> Ranking:
    """The same without labels that are so rare that their scores tell of single items."""
    told = _common_labels(
        {
            own.label: float(own.counts.positives)
            for system in ranking.systems
            for own in system.by_label
        }
    )
    systems = tuple(
        replace(system, by_label=tuple(own for own in system.by_label if own.label in told))
        for system in ranking.systems
    )
    return replace(ranking, systems=systems)


def _common_labels(positives: Mapping[str, float]) -> set[str]:
    """The labels that are not rare, and leave enough untold together.

    What is untold can be had from the sums over all labels: if that were a single rare label,
    leaving it out would hide nothing.
    """
    by_number = sorted(positives, key=lambda label: (positives[label], label))
    untold = 0.0
    while by_number and (positives[by_number[0]] < _RARE or 0 < untold < _RARE):
        untold += positives[by_number.pop(0)]
    return set(by_number)


def _wanted_pairs(ranking: Ranking | None, pairs: str) -> tuple[tuple[str, str], ...]:
    """The pairs that shall have a page."""
    if ranking is None or pairs == "none":
        return ()
    leader = ranking.ranking[0].name
    return tuple((pair.a, pair.b) for pair in ranking.pairs if pairs == "all" or pair.b == leader)


def _own_words(error: InputError, one: SubmittedFile) -> str:
    """What is wrong with a file, without the folders in which it stands."""
    words = str(error)
    if error.path is not None:
        line = "" if error.line is None else f"{error.line}:"
        words = words.removeprefix(f"{error.path}:{line}").strip()
    words = words.replace(str(one.path), one.file)
    return words if error.line is None else f"line {error.line}: {words}"


def _misfit(output: Annotations, answer: Annotations, line: int | None) -> str:
    """Why an output cannot be that of this answer, in words that do not quote the answer."""
    here, there = _extent(output), _extent(answer)
    if here != there:
        return f"{here}, but the answer has {there}; expected as many"
    place = "" if line is None else f"line {line}: "
    return f"{place}does not fit the answer; expected the same {_unit(answer)} in the same order"


def _extent(side: Any) -> str:
    """How much there is to be answered, as everybody knows who has the test data."""
    if task_of(side) == "labels":
        return counted(len(side), "item")
    if task_of(side) == "segmentation":
        return counted(side.n_sentences, "sentence")
    sentences = counted(side.text.n_sentences, "sentence")
    return f"{sentences} of {counted(side.text.n_tokens, 'token')}"


def _unit(side: Annotations) -> str:
    other = {"labels": "items", "segmentation": "sentences"}
    return other.get(task_of(side), "sentences and tokens")
