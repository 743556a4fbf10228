"""What a board keeps between two builds: the scores of submissions, and the tests of pairs.

It holds results over the whole test set, no sentence and no result of one; and nothing of it is
published.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import fields
from typing import TYPE_CHECKING, Any

from probative.counts import Counts
from probative.errors import InputError
from probative.files import create_whole, make_folder
from probative.results import Interval, LabelScores, SystemScores
from probative.resume import ResumableFolder

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from probative.inference.pair_tests import KnownTests
    from probative.inference.sampled_evidence import KnownLimits

__all__ = ["Kept"]

_README = """\
What `probative board` keeps between two builds, so that it need not compute it again. It can be
deleted at any time. Do not publish it: it tells the scores of every label, however rare.
"""
_TESTS, _LIMITS = "pair-tests", "limits"


class Kept:
    """A folder of what was computed for one answer by one set of choices.

    Parameters
    ----------
    path
        The folder; those of other answers and choices stand beside each other in it.
    run
        What makes the results what they are: the answer, the choices, the version.
    """

    def __init__(self, path: Path, run: dict[str, Any]):
        make_folder(path)
        create_whole(path / "README.txt", _README)
        name = hashlib.sha256(json.dumps(run).encode()).hexdigest()[:20]
        self._folder = ResumableFolder(path / name, run)
        self._folder.check_writable()
        # whatever the answer and the choices are, who came first stays first
        self._names = ResumableFolder(path / "names", {"command": "board", "what": "names"})

    def holders(self) -> dict[str, str]:
        """Return the file or folder that held every name at the last build."""
        try:
            return dict(self._names.load("holders", {}) or {})
        except InputError:  # damaged: as if nobody had come yet
            return {}

    def keep_holders(self, holders: dict[str, str]) -> None:
        """Keep the file or folder that holds every name."""
        if holders != self.holders():
            self._names.keep("holders", {}, holders)

    def scores(self, key: str) -> SystemScores | None:
        """What a submission scores, if that is known; its name is left open."""
        content = self._kept(f"scores-{key}", {"submission": key})
        return None if content is None else _scores_from(content)

    def keep_scores(self, key: str, scores: SystemScores) -> None:
        """Keep what a submission scores."""
        self._folder.keep(f"scores-{key}", {"submission": key}, _scores_as_json(scores))

    def tests(self, keys: Sequence[str], how: dict[str, Any]) -> KnownTests:
        """The tests that are known of the pairs of these submissions, by their numbers.

        Parameters
        ----------
        keys
            The submissions.
        how
            What else makes a test what it is; of others none is known.
        """
        content = self._kept(_TESTS, how)
        if content is None:
            return {}
        return {
            (min(i, j), max(i, j)): (p, draws)
            for i, j, (p, draws) in _placed(content["keys"], content["tests"], keys)
        }

    def keep_tests(self, keys: Sequence[str], how: dict[str, Any], tests: KnownTests) -> None:
        """Keep the tests of pairs, and forget those of others."""
        rows = [[i, j, p, draws] for (i, j), (p, draws) in sorted(tests.items())]
        self._folder.keep(_TESTS, how, {"keys": list(keys), "tests": rows})

    def limits(self, keys: Sequence[str]) -> KnownLimits:
        """The limits that are known of the differences of these submissions, by their numbers."""
        content = self._kept(_LIMITS, {"what": _LIMITS})
        if content is None:
            return {}
        return {
            (min(i, j), max(i, j)): (reach, low, high) if i < j else (reach, -high, -low)
            for i, j, (reach, low, high) in _placed(content["keys"], content["limits"], keys)
        }

    def keep_limits(self, keys: Sequence[str], limits: KnownLimits) -> None:
        """Keep the limits of differences, and forget those of others."""
        if limits:
            rows = [[*pair, *own] for pair, own in sorted(limits.items())]
            part = {"what": _LIMITS}
            self._folder.keep(_LIMITS, part, {"keys": list(keys), "limits": rows})

    def forget_others(self, keys: Sequence[str]) -> None:
        """Remove what is kept of submissions that are no longer there."""
        known = {self._folder.file(f"scores-{key}").name for key in keys}
        for path in self._folder.path.glob("scores-*.json"):
            if path.name not in known:
                path.unlink(missing_ok=True)

    def _kept(self, name: str, part: dict[str, Any]) -> Any:
        """What was kept; a damaged file, or one of another part, counts as none."""
        try:
            return self._folder.load(name, part)
        except InputError:
            return None


def _placed(
    kept: Sequence[str], rows: Sequence[Sequence[Any]], keys: Sequence[str]
) -> Iterator[tuple[int, int, Sequence[Any]]]:
    """The numbers of two submissions now, and what was kept of the pair, wherever they are."""
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
    """A number or text as JSON has it; NaN stays what it is."""
    return value if value is None or isinstance(value, str) else float(value)


def _scores_from(content: dict[str, Any]) -> SystemScores:
    labels = [LabelScores(own["label"], *_own_from(own)) for own in content["by_label"]]
    return SystemScores("", *_own_from(content), tuple(labels), content["splitting_bias"])


def _own_from(content: dict[str, Any]) -> tuple[Counts, tuple[Interval, ...]]:
    return Counts(**content["counts"]), tuple(Interval(**score) for score in content["scores"])
