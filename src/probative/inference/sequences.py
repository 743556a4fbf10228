"""Limits and tests that hold at every look, however often one looks and whenever one stops.

A fixed interval looked at after every batch misses sooner or later; a confidence *sequence* misses
at any time with probability at most 1 - level. Likewise an e-value grows beyond 1/alpha at any time
with probability at most alpha, if there is nothing to be found.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import special

from probative._validation import open_probability

if TYPE_CHECKING:
    from probative._types import Array

__all__ = ["GRID", "Wealth", "log_e_value", "log_growth", "planned_grid", "reach", "share_limits"]

_PRIOR = 0.5  # of both cells, in the mixture over shares
_STEPS = 100  # of a bisection on the scale of log-odds: more than a float can tell
_FARTHEST = 745.0  # log-odds that a float can still tell from certainty
# rates of betting in units of one over the root mean square of what is bet on
GRID = (0.01, 0.02, 0.04, 0.08, 0.16, 0.32)


def log_e_value(hits: Any, number: Any, share: Any) -> Any:
    """The logarithm of the mixture e-value against a share, from so many hits.

    Parameters
    ----------
    hits, number
        How many of so many items were hits; numbers or arrays.
    share
        The share that is doubted.

    Examples
    --------
    >>> from probative.inference.sequences import log_e_value
    >>> round(float(log_e_value(77, 131, 0.4)), 4)
    6.7009
    """
    mixed = special.betaln(_PRIOR + hits, _PRIOR + number - hits) - special.betaln(_PRIOR, _PRIOR)
    return mixed - special.xlogy(hits, share) - special.xlog1py(number - hits, -np.asarray(share))


def share_limits(hits: Any, number: Any, *, level: float = 0.95) -> tuple[Array, Array]:
    """The confidence sequence of a share: all shares whose e-value stays below 1/(1 - level).

    Parameters
    ----------
    hits, number
        How many of so many items were hits so far; numbers or arrays of them.
    level
        With this probability the share lies within the limits at every look.

    Examples
    --------
    >>> from probative.inference.sequences import share_limits
    >>> low, high = share_limits(77, 131)
    >>> round(float(low), 6), round(float(high), 6)
    (0.441175, 0.724541)
    """
    hits, number = np.broadcast_arrays(np.asarray(hits, float), np.asarray(number, float))
    bound = -math.log1p(-open_probability("level", level))
    with np.errstate(divide="ignore", invalid="ignore"):
        best = special.logit(np.where(number > 0, hits / number, 0.5))
    best = np.clip(best, -_FARTHEST, _FARTHEST)

    def search(far: float) -> Array:
        outside, inside = np.full(best.shape, far), best.copy()
        for _ in range(_STEPS):
            middle = (outside + inside) / 2
            doubted = _log_e_value_of_odds(hits, number, middle) >= bound
            outside = np.where(doubted, middle, outside)
            inside = np.where(doubted, inside, middle)
        return np.asarray(special.expit((outside + inside) / 2))

    low = np.where(hits > 0, search(-_FARTHEST), 0.0)
    high = np.where(hits < number, search(_FARTHEST), 1.0)
    return low, high


def _log_e_value_of_odds(hits: Array, number: Array, log_odds: Array) -> Array:
    """As `log_e_value`, on a scale that tells shares near 0 and near 1 apart."""
    mixed = special.betaln(_PRIOR + hits, _PRIOR + number - hits) - special.betaln(_PRIOR, _PRIOR)
    log_share, log_rest = -np.logaddexp(0, -log_odds), -np.logaddexp(0, log_odds)
    return np.asarray(mixed - hits * log_share - (number - hits) * log_rest)


def planned_grid(planned: float, level: float = 0.95) -> tuple[float, ...]:
    """Rates of betting that do best if the matter is decided after about so many units.

    A difference of d standard deviations per unit grows the logarithm of the wealth fastest, by
    d²/2, at the rate d: the one that just reaches 1/alpha after `planned` units, half and double
    of it.
    """
    rate = math.sqrt(2 * math.log(2 / (1 - level)) / planned)
    return rate / 2, rate, 2 * rate


@dataclass(frozen=True)
class Wealth:
    """What was won by betting on which of two exchangeable systems comes out ahead.

    If the outputs of two systems are exchangeable, what B is ahead in a unit is as likely d as -d,
    whatever is known of sizes. Betting at the rate r multiplies the wealth by
    exp(r·d) / cosh(r·d), 1 on average. Both directions and all rates hold an equal share.

    Attributes
    ----------
    grid
        The rates of betting, in units of one over the root mean square of all d so far.
    forward, backward
        The logarithms of the wealth of bets on B, and on A, one per rate.
    most
        The largest logarithm of the wealth at any time of all bets, of those on B, of those on A.
    squares, units
        The sum of the squares of all d so far, and how many there were.
    """

    grid: tuple[float, ...] = GRID
    forward: tuple[float, ...] = ()
    backward: tuple[float, ...] = ()
    most: tuple[float, float, float] = (0.0, 0.0, 0.0)
    squares: float = 0.0
    units: int = 0

    def bet(
        self, d: Any, number: Any = None, *, units: int | None = None, chance: Any = None
    ) -> Wealth:
        """Bet on a batch of units, of each of which is known by how much B is ahead in it.

        The rate may depend on the sizes of these d, not on their signs: only those are bet on.

        Parameters
        ----------
        d
            By how much B is ahead in each unit, or in units of each kind.
        number
            How many units of each kind there are; one by default.
        units
            How many there are in all, where some are left out that tell nothing.
        chance
            How likely each d was to be positive rather than negative if the systems are
            exchangeable, given those before it; one half by default.
        """
        d = np.asarray(d, dtype=np.float64)
        number = np.ones(len(d)) if number is None else np.asarray(number, dtype=np.float64)
        squares = self.squares + float(number @ d**2)
        units = self.units + (int(number.sum()) if units is None else units)
        if squares == 0:
            return Wealth(self.grid, self.forward, self.backward, self.most, squares, units)
        rates = np.array(self.grid) / math.sqrt(squares / units)
        forward = self._before(self.forward) + log_growth(rates, d, number, chance)
        backward = self._before(self.backward) + log_growth(-rates, d, number, chance)
        now = (
            _log_mean(np.concatenate([forward, backward])),
            _log_mean(forward),
            _log_mean(backward),
        )
        most = tuple(max(past, log) for past, log in zip(self.most, now, strict=True))
        return Wealth(
            self.grid,
            tuple(forward.tolist()),
            tuple(backward.tolist()),
            (most[0], most[1], most[2]),
            squares,
            units,
        )

    def _before(self, logs: tuple[float, ...]) -> Array:
        return np.array(logs) if logs else np.zeros(len(self.grid))

    @property
    def log_e(self) -> float:
        """The logarithm of the e-value now: of the wealth of all bets together."""
        return _log_mean(np.concatenate([self._before(self.forward), self._before(self.backward)]))

    def pvalue(self, alternative: str = "two-sided") -> float:
        """The p-value that holds at any time: one over the largest wealth so far."""
        place = ("two-sided", "greater", "less").index(alternative)
        return math.exp(-max(0.0, self.most[place]))

    @property
    def growth(self) -> float:
        """By how much the logarithm of the best bet's wealth grew per unit."""
        best = max((*self.forward, *self.backward), default=0.0)
        return best / self.units if self.units else 0.0


def log_growth(rates: Any, d: Any, number: Any = None, chance: Any = None) -> Array:
    """The sum over units of the logarithm of exp(r·d) / cosh(r·d), for every rate r.

    Where the chance of a positive d is not one half, of exp(r·d) over what that is on average.
    """
    number = np.ones(len(d)) if number is None else number
    if chance is not None:
        stake, likely = np.outer(rates, np.abs(d)), np.asarray(chance, dtype=np.float64)
        with np.errstate(divide="ignore"):
            mean = np.logaddexp(stake + np.log(likely), np.log1p(-likely) - stake)
        return np.asarray((np.outer(rates, d) - mean) @ number)
    return np.asarray((math.log(2) - np.logaddexp(0, -2 * np.outer(rates, d))) @ number)


def _log_mean(logs: Array) -> float:
    return float(np.logaddexp.reduce(logs) - math.log(len(logs)))


def reach(units: Any, planned: float, *, level: float = 0.95) -> Any:
    """How many standard errors limits reach to either side that hold at every look, about.

    That of the asymptotic confidence sequences of Waudby-Smith et al. (2024), tightest at the
    planned number of units.

    Examples
    --------
    >>> from probative.inference.sequences import reach
    >>> round(float(reach(500, 500)), 3)
    3.035
    """
    doubt = 1 - open_probability("level", level)
    tuned = (-2 * math.log(doubt) + math.log(1 - 2 * math.log(doubt))) / planned
    t = np.asarray(units, dtype=np.float64) * tuned
    with np.errstate(divide="ignore"):
        return np.sqrt(2 * (t + 1) / t * np.log(np.sqrt(t + 1) / doubt))
