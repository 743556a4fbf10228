"""What a ranking of many systems comes back as."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from math import isnan, nan
from typing import TYPE_CHECKING, Any

from probative.results.base import DifferenceResult, Result
from probative.results.scores import Scores
from probative.wording.numbers import probability

if TYPE_CHECKING:
    from collections.abc import Iterable

    from matplotlib.axes import Axes

    from probative.reporting.document import Document
    from probative.results.comparisons import Comparisons


@dataclass(frozen=True, eq=False, repr=False)
class RankedSystem(Result):
    """The place of one system on a leaderboard.

    Attributes
    ----------
    name
        The system.
    metric
        What is ranked: ``f1``, ``macro_f1`` and so on.
    estimate, low, high
        Its score and the limits of its own interval, at the level of the ranking. They speak of
        this system alone: intervals that overlap do not tell whether two systems differ, the pairs
        do. An undefined score is NaN with the limits 0 and 1.
    rank_low, rank_high
        Its rank set: between one more than the systems decided better than it, and the number of
        systems less those decided worse. The sets of all systems hold at once with the level's
        confidence.
    tier
        From 1. A tier begins at the first system, from the top, that every system of the tiers
        above is decided better than.
    letters
        Tie letters: two systems share a letter if and only if their pair is not decided. Beyond
        ``Z`` they go on with ``a'``.
    p_best
        The probability that it is the best of these systems on sentences (units) like these; NaN
        where there is no evidence.
    expected_rank
        Its mean rank over the same draws; NaN where there is no evidence.
    note
        What the reader must know of this system, or None.
    """

    name: str
    metric: str
    estimate: float
    low: float
    high: float
    rank_low: int
    rank_high: int
    tier: int
    letters: str
    p_best: float
    expected_rank: float
    note: str | None = None

    def __str__(self) -> str:
        place = (
            f"rank {self.rank_low}"
            if self.rank_low == self.rank_high
            else f"rank {self.rank_low} to {self.rank_high}"
        )
        best = "–" if isnan(self.p_best) else probability(self.p_best)
        return (
            f"{self.name}: {self.metric} {self.estimate:.4f} [{self.low:.4f}, {self.high:.4f}], "
            f"{place}, tier {self.tier}, P(best) {best}"
        )


@dataclass(frozen=True, eq=False, repr=False)
class RankedPair(DifferenceResult):
    """What is known of two systems of a leaderboard.

    Attributes
    ----------
    a, b
        The two systems; b stands above a on the leaderboard, so no difference is negative.
    metric
        What is compared.
    difference, low, high
        B minus A, and its limits; those of all pairs hold at once with the level's confidence.
        NaN, -1 and 1 where a score is undefined.
    pvalue, p_unit, p_adjusted
        Of the two-sided randomisation test of this pair; Student's by unit; and the larger of the
        two, adjusted for all pairs. NaN where a score is undefined, the second also where no unit
        moves the difference.
    decided
        Whether the adjusted p-value is at most 1 - level: B is better than A then. Never decided
        where there is no evidence (one unit, an undefined score, nothing to be found).
    identical
        Whether no unit tells the two apart: they have the same counts everywhere.
    p_b_better
        The probability that B is the better one on units like these, from the same draws as
        `RankedSystem.p_best`; a draw in which they tie counts half. NaN where there is no evidence.
    """

    a: str
    b: str
    metric: str
    difference: float
    low: float
    high: float
    pvalue: float
    p_adjusted: float
    decided: bool
    identical: bool = False
    p_b_better: float = nan
    p_unit: float = nan

    def __str__(self) -> str:
        return (
            f"{self.b} - {self.a}: {self.difference:+.4f} [{self.low:+.4f}, {self.high:+.4f}], "
            f"adjusted p = {self.p_adjusted:.4g}, {'decided' if self.decided else 'not decided'}"
        )


@dataclass(frozen=True, eq=False, repr=False)
class Ranking(Scores):
    """A leaderboard of systems, and what is known of every pair of them.

    It is a `Scores`, too: `systems` holds the counts and all scores of each system, in the order
    given, and `task`, `units`, `unit`, `by`, `level`, `notes`, `signature` mean what they do there.

    Attributes
    ----------
    metric
        What the systems are ranked by.
    ranking
        One `RankedSystem` per system, best first; systems without a score come last.
    pairs
        One `RankedPair` per pair, K(K-1)/2 of them, in the order of the leaderboard: all pairs of
        the first system (as b), then those of the second, and so on. `pair` finds one by names.
    summary
        One or a few sentences that say what is decided and what is not.
    test
        ``exact`` or ``sampled``: how the p-values were found.
    adjustment
        ``holm`` or ``shaffer``: how they were adjusted for the number of pairs.
    quantile
        How many standard errors the limits of the differences reach with many units; NaN where
        there is no evidence, or a single system.
    n_draws
        How many draws of the Bayesian bootstrap over units `p_best` and `expected_rank` rest on; 0
        of two systems, whose posterior is that of `compare`.
    comparisons
        Of the pairs that were compared in full: what `compare` tells of the two, with the p-values
        of the leaderboard. The page shows them; JSON has none of them.
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

    def pair(self, one: str, other: str) -> RankedPair:
        """The pair of two systems, named in any order."""
        low, high = sorted((self._place[one], self._place[other]))
        if low == high:
            raise KeyError(one)
        # the pairs of the systems above come first
        return self.pairs[low * len(self.ranking) - low * (low + 1) // 2 + high - low - 1]

    @cached_property
    def _place(self) -> dict[str, int]:
        return {system.name: i for i, system in enumerate(self.ranking)}

    def _metrics(self) -> Iterable[tuple[tuple[str, ...], Any]]:
        yield from super()._metrics()
        for system in self.ranking:
            for name in ("rank_low", "rank_high", "tier", "p_best", "expected_rank"):
                yield (system.name, name), getattr(system, name)

    def records(self) -> list[dict[str, Any]]:
        """Return one dictionary per system, best first."""
        return [system.to_dict() for system in self.ranking]

    def plot(self) -> list[Axes]:
        """Draw the leaderboard with its ties; returns matplotlib's axes."""
        from probative.reporting.rank_report import rank_figure

        return rank_figure(self).axes

    def _document(self) -> Document:
        from probative.reporting.rank_report import rank_document

        return rank_document(self)

    def _key_numbers(self) -> str:
        return "; ".join(f"{s.name} {s.rank_low}-{s.rank_high}" for s in self.ranking)

    def __str__(self) -> str:
        return self.summary


# -----------------------------------------------------------------------------
# What a board of submissions comes back as.
# -----------------------------------------------------------------------------


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
