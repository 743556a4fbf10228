"""Define the results of rankings and of boards."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from math import nan
from typing import TYPE_CHECKING, Any

from probative.results.base import PairDifference, Result, SignedResult, drawn_by, with_limits
from probative.results.scores import ScoredResult
from probative.wording.numbers import probability

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from probative.results.base import Named
    from probative.results.comparisons import Comparisons


@dataclass(frozen=True, eq=False, repr=False)
class RankedSystem(Result):
    """Place of one system on a leaderboard."""

    name: str  #: The system.
    metric: str  #: The score that is ranked, such as ``f1``, ``macro_f1``.
    estimate: float  #: Its score; an undefined one is NaN with the interval from 0 to 1.
    #: The lower end of its own interval, at the level of the ranking. It is about this system
    #: alone: overlapping intervals do not show whether two systems differ, the pairs do.
    low: float
    high: float  #: The upper end of its own interval.
    #: The best rank of its rank set, one more than the number of systems decided better than it.
    #: The sets of all systems hold at once with the level's confidence.
    rank_low: int
    rank_high: int  #: The worst rank of its set, the number of systems less those decided worse.
    #: Its tier, from 1. A tier begins at the first system, from the top, that is decided worse than
    #: every system of the tiers above.
    tier: int
    #: Tie letters; two systems share a letter if and only if their pair is not decided. After ``Z``
    #: they continue with ``a'``.
    letters: str
    #: The probability that it is the best of these systems on sentences (units) like these; NaN if
    #: there is no evidence.
    p_best: float
    expected_rank: float  #: Its mean rank over the same draws; NaN if there is no evidence.
    note: str | None = None  #: A caveat about this system, or None.

    def __str__(self) -> str:
        to = "" if self.rank_low == self.rank_high else f" to {self.rank_high}"
        return (
            f"{self.name}: {self.metric} {with_limits(self.estimate, self.low, self.high)}, "
            f"rank {self.rank_low}{to}, tier {self.tier}, P(best) {probability(self.p_best)}"
        )


@dataclass(frozen=True, eq=False, repr=False)
class RankedPair(PairDifference):
    """Comparison of two systems of a leaderboard.

    B is above A, so no difference is negative. The intervals of all pairs hold at once with the
    level's confidence; an undefined score has the difference NaN between -1 and 1.
    """

    #: The p-value of the two-sided randomisation test of this pair; NaN if a score is undefined.
    pvalue: float
    #: The larger of `pvalue` and `p_unit`, adjusted for all pairs; NaN if a score is undefined.
    p_adjusted: float
    #: Whether the adjusted p-value is at most 1 - level, so that B is better than A. Never True if
    #: there is no evidence (one unit, an undefined score, no gold items).
    decided: bool
    identical: bool = False  #: Whether the two have the same counts in every unit.
    #: The probability that B is the better one on units like these, from the same draws as
    #: `RankedSystem.p_best`; a draw in which they tie counts half. NaN if there is no evidence.
    p_b_better: float = nan
    #: Student's p-value by unit; NaN if a score is undefined or no unit changes the difference.
    p_unit: float = nan

    def __str__(self) -> str:
        decided = "decided" if self.decided else "not decided"
        return f"{super().__str__()}, adjusted p = {self.p_adjusted:.4g}, {decided}"


@dataclass(frozen=True, eq=False, repr=False)
class Ranking(ScoredResult):
    """Leaderboard of systems, and the comparison of every pair of them.

    Attributes
    ----------
    scores
        The `Scores` of the systems, in the order given. All it has can be read from the ranking,
        too: `systems`, `task`, `units`, `unit`, `by`, `level`, `notes`, `signature` and so on.
    metric
        The score by which the systems are ranked.
    ranking
        One `RankedSystem` per system, best first; systems without a score come last.
    pairs
        One `RankedPair` per pair, K(K-1)/2 of them, in the order of the leaderboard: all pairs of
        the first system (as b), then those of the second, and so on. `pair` finds one by names.
    summary
        One or a few sentences on what is decided and what is not.
    test
        ``exact`` or ``sampled``: how the p-values were computed.
    adjustment
        ``holm`` or ``shaffer``: how they were adjusted for the number of pairs.
    quantile
        Half the width of the intervals of differences with many units, in standard errors; NaN if
        there is no evidence, or a single system.
    n_draws
        The number of draws of the Bayesian bootstrap over units from which `p_best` and
        `expected_rank` are computed; 0 with two systems, whose posterior is that of `compare`.
    comparisons
        For the pairs that were compared in full: the result of `compare` for the two, with the
        p-values of the leaderboard. The page shows them; JSON has none of them.
    """

    metric: str = "f1"
    ranking: tuple[RankedSystem, ...] = ()
    pairs: tuple[RankedPair, ...] = ()
    summary: str = ""
    test: str = "exact"
    adjustment: str = "holm"
    quantile: float = nan
    n_draws: int = 0
    comparisons: tuple[Comparisons, ...] = field(default=(), repr=False)

    _report = "rank_report.rank_document"
    _lines = ("ranking",)

    def pair(self, one: str, other: str) -> RankedPair:
        """Return the pair of two systems, named in any order."""
        low, high = sorted((self._place[one], self._place[other]))
        if low == high:
            raise KeyError(one)
        # the pairs of the systems above come first
        return self.pairs[low * len(self.ranking) - low * (low + 1) // 2 + high - low - 1]

    @cached_property
    def _place(self) -> dict[str, int]:
        return {system.name: i for i, system in enumerate(self.ranking)}

    def _metrics(self) -> Iterable[Named]:
        yield from self.scores._metrics()
        for system in self.ranking:
            for name in ("rank_low", "rank_high", "tier", "p_best", "expected_rank"):
                yield (system.name, name), getattr(system, name)

    def plot(self) -> list[Axes]:
        """Draw the leaderboard with its ties; return matplotlib's axes."""
        return drawn_by("rank_report.rank_figure", self)

    def _key_numbers(self) -> str:
        return "; ".join(f"{s.name} {s.rank_low}-{s.rank_high}" for s in self.ranking)

    def __str__(self) -> str:
        return self.summary


# --- Boards of submissions


@dataclass(frozen=True, eq=False, repr=False)
class Submission(Result):
    """Submission to a board, and its status."""

    name: str  #: Its name.
    file: str  #: Its path inside the folder of submissions.
    #: ``scored``; ``reused``, if it was scored before and has not changed; ``refused``.
    status: str
    #: Why it was refused. It reveals nothing about gold but its numbers of sentences and tokens (or
    #: items), unless the board shows gold.
    error: str | None = None
    team: str | None = None  #: The name of its team in ``meta.toml``; None if not given.
    paper: str | None = None  #: A link to its paper there; None if not given.
    code: str | None = None  #: A link to its code there; None if not given.
    date: str | None = None  #: Its day there; None if not given.
    #: What is wrong with its description; None if nothing is.
    remarks: tuple[str, ...] | None = None


@dataclass(frozen=True, eq=False, repr=False)
class Board(SignedResult):
    """Board of submissions, and the folder of its site.

    Attributes
    ----------
    site
        The folder of the pages.
    submissions
        One `Submission` per file or folder, by name.
    ranking
        The leaderboard of those that could be scored; None if there are none. Unless the board
        shows gold, labels with fewer than five gold items are left out of it; and also the next
        rarest ones, if the left-out counts could be derived from the sums otherwise.
    pairs_tested, pairs_reused
        The number of pairs that were tested, and of those whose test was known.
    title, about, date
        The heading of the site, its introduction in Markdown, and the day that it shows; None if
        there is none.
    signature
        A short reproducible description of every choice.
    """

    site: str
    submissions: tuple[Submission, ...]
    ranking: Ranking | None
    pairs_tested: int = 0
    pairs_reused: int = 0
    title: str | None = None
    about: str | None = field(default=None, repr=False)
    date: str | None = None

    _report = "rank_report.board_document"

    def _named(self, status: str) -> tuple[str, ...]:
        return tuple(one.name for one in self.submissions if one.status == status)

    @property
    def scored(self) -> tuple[str, ...]:
        """Return the names of the submissions that were scored now."""
        return self._named("scored")

    @property
    def reused(self) -> tuple[str, ...]:
        """Return the names of those that had been scored before."""
        return self._named("reused")

    @property
    def refused(self) -> tuple[str, ...]:
        """Return the names of those that could not be scored."""
        return self._named("refused")

    def records(self) -> list[dict[str, Any]]:
        """Return one dictionary per submission."""
        return [one.to_dict() for one in self.submissions]

    def __str__(self) -> str:
        numbers = (len(self.scored), len(self.reused), len(self.refused))
        return "{} scored, {} reused, {} refused".format(*numbers)
