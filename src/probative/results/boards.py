"""What a board of submissions comes back as."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from probative.results.base import Result

if TYPE_CHECKING:
    from probative.reporting.document import Document
    from probative.results.ranking import Ranking

__all__ = ["Board", "Submission"]


@dataclass(frozen=True, eq=False, repr=False)
class Submission(Result):
    """One submission to a board, and what became of it.

    Attributes
    ----------
    name
        What it is called.
    file
        Its path inside the folder of submissions.
    status
        ``scored``; ``reused``, if it was scored before and has not changed; ``refused``.
    error
        Why it was refused. It tells nothing of the answer but how many sentences and tokens (or
        items) that has, unless the board shows the answer.
    """

    name: str
    file: str
    status: str
    error: str | None = None

    def __str__(self) -> str:
        return f"{self.name}: {self.status}" + (f", {self.error}" if self.error else "")


@dataclass(frozen=True, eq=False, repr=False)
class Board(Result):
    """A board of submissions, and where its site was written.

    Attributes
    ----------
    site
        The folder of the pages.
    submissions
        One `Submission` per file or folder, by name.
    ranking
        The leaderboard of those that could be scored; None where there are none. Unless the board
        shows the answer, labels that this has fewer than five times are left out of it; and the
        next rarest, where these could be told from the sums otherwise.
    pairs_tested, pairs_reused
        How many pairs were tested, and of how many the test was known.
    signature
        A short reproducible description of every choice.
    """

    site: str
    submissions: tuple[Submission, ...]
    ranking: Ranking | None
    pairs_tested: int = 0
    pairs_reused: int = 0
    signature: str = field(default="", repr=False)

    def _named(self, status: str) -> tuple[str, ...]:
        return tuple(one.name for one in self.submissions if one.status == status)

    @property
    def scored(self) -> tuple[str, ...]:
        """The names of the submissions that were scored now."""
        return self._named("scored")

    @property
    def reused(self) -> tuple[str, ...]:
        """The names of those that had been scored before."""
        return self._named("reused")

    @property
    def refused(self) -> tuple[str, ...]:
        """The names of those that could not be scored."""
        return self._named("refused")

    def records(self) -> list[dict[str, Any]]:
        """Return one dictionary per submission."""
        return [one.to_dict() for one in self.submissions]

    def _document(self) -> Document:
        from probative.reporting.board_report import board_document

        return board_document(self)

    def __str__(self) -> str:
        numbers = (len(self.scored), len(self.reused), len(self.refused))
        return "{} scored, {} reused, {} refused".format(*numbers)
