"""Score and compare systems at any time while labels still arrive."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from probative._validation import (
    Array,
    Ints,
    one_of,
    open_probability,
    positive,
    shown,
    whole_number,
)
from probative.counts import Counts, PairedCounts
from probative.errors import InputError
from probative.inference.stratified import Draw, PoolScores, Projection
from probative.inference.units import contributions, freedom_of, jackknife_variance, kinds_of
from probative.metrics import COMPOSITES, METRICS, RATIOS, TABLE, bounds, score, span
from probative.metrics import contributions as contributions_of
from probative.options import sign
from probative.results.surveys import Look, Looks

if TYPE_CHECKING:
    # what each kind of unit adds to the numerator and denominator of one or two scores
    Rows = list[tuple[Array, Array]]
    Limits = tuple[float, float, float, str | None]  # an estimate, its interval, and a note


# --- Confidence sequences and e-values
# A fixed interval checked after every batch misses the true value sooner or later; a confidence
# sequence misses it at any time with probability at most 1 - level. Under the null hypothesis an
# e-value exceeds 1/alpha at any time with probability at most alpha.

_PRIOR = 0.5  # both parameters of the beta mixture over shares
_BISECTIONS_OF_LOG_ODDS = 100  # enough for the precision of a float
_LARGEST_LOG_ODDS = 745.0  # beyond, a float cannot distinguish the share from 0 or 1
# Betting rates, in units of one over the root mean square of the leads
GRID = (0.01, 0.02, 0.04, 0.08, 0.16, 0.32)


def log_e_value(hits: Any, number: Any, share: Any) -> Any:
    """Return the log mixture e-value against a share, from `hits` of `number` items."""
    likelihood = special.xlogy(hits, share) + special.xlog1py(number - hits, -np.asarray(share))
    return _log_mixture(hits, number) - likelihood


def _log_mixture(hits: Any, number: Any) -> Any:
    """Return the log likelihood of the hits under the beta mixture."""
    return special.betaln(_PRIOR + hits, _PRIOR + number - hits) - special.betaln(_PRIOR, _PRIOR)


def share_limits(hits: Any, number: Any, *, level: float = 0.95) -> tuple[Array, Array]:
    """Compute the confidence sequence of a share: all shares with e-value below 1/(1 - level)."""
    hits, number = np.broadcast_arrays(np.asarray(hits, float), np.asarray(number, float))
    bound = -math.log1p(-open_probability("level", level))
    with np.errstate(divide="ignore", invalid="ignore"):
        best = special.logit(np.where(number > 0, hits / number, 0.5))
    best = np.clip(best, -_LARGEST_LOG_ODDS, _LARGEST_LOG_ODDS)
    mixed = _log_mixture(hits, number)

    def search(far: float) -> Array:
        outside, inside = np.full(best.shape, far), best.copy()
        for _ in range(_BISECTIONS_OF_LOG_ODDS):
            middle = (outside + inside) / 2  # log-odds distinguish shares near 0 and near 1
            log_share, log_rest = -np.logaddexp(0, -middle), -np.logaddexp(0, middle)
            doubted = mixed - hits * log_share - (number - hits) * log_rest >= bound
            outside = np.where(doubted, middle, outside)
            inside = np.where(doubted, inside, middle)
        return np.asarray(special.expit((outside + inside) / 2))

    low = np.where(hits > 0, search(-_LARGEST_LOG_ODDS), 0.0)
    high = np.where(hits < number, search(_LARGEST_LOG_ODDS), 1.0)
    return low, high


def planned_grid(planned: float, level: float = 0.95) -> tuple[float, ...]:
    """Return the betting rates that do best if the test is decided after about `planned` units."""
    # The log wealth grows by d²/2 per unit at the rate d. The middle rate just reaches 2/(1 -
    # level) after `planned` units; the others are half and double of it.
    rate = math.sqrt(2 * math.log(2 / (1 - level)) / planned)
    return rate / 2, rate, 2 * rate


@dataclass(frozen=True)
class Wealth:
    """The wealth of bets on which of two exchangeable systems is ahead."""

    # If the outputs of two systems are exchangeable, the lead of B in a unit is d or -d with equal
    # probability, given its size. Betting at the rate r multiplies the wealth by exp(r·d) /
    # cosh(r·d), which is 1 on average. Both directions and all rates start with equal shares.

    grid: tuple[float, ...] = GRID  # betting rates, relative to one over the root mean square of d
    logs: Any = 0.0  # the log wealth of the bets on B and on A (rows), by rate
    most: tuple[float, ...] = (0.0, 0.0, 0.0)  # of all bets, on B, on A: at any time
    squares: float = 0.0  # the sum of squares of all d so far, and their number
    units: int = 0

    def bet(
        self, d: Any, number: Any = None, *, units: int | None = None, chance: Any = None
    ) -> Wealth:
        """Bet on a batch of leads of B, and return the new wealth."""
        # The rates may depend on the sizes of d but not on their signs. `chance` is the null
        # probability that each d is positive, `units` the number of all units, with or without a
        # lead.
        d = np.asarray(d, dtype=np.float64)
        number = np.ones(len(d)) if number is None else number
        squares = self.squares + float(number @ d**2)
        units = self.units + (int(number.sum()) if units is None else units)
        if squares == 0:
            return replace(self, squares=squares, units=units)
        rates = np.array(self.grid) / math.sqrt(squares / units)
        growth = [log_growth(side * rates, d, number, chance) for side in (1, -1)]
        logs = self.logs + np.array(growth)
        bets = zip(self.most, (logs, *logs), strict=True)
        most = tuple(max(past, _log_mean(own)) for past, own in bets)
        return Wealth(self.grid, logs, most, squares, units)

    @property
    def log_e(self) -> float:
        """Return the logarithm of the current e-value: the log wealth of all bets together."""
        return _log_mean(self.logs)

    def pvalue(self, alternative: str = "two-sided") -> float:
        """Return the anytime-valid p-value: one over the largest wealth so far."""
        place = ("two-sided", "greater", "less").index(alternative)
        return math.exp(-max(0.0, self.most[place]))


def log_growth(rates: Any, d: Any, number: Any = None, chance: Any = None) -> Array:
    """Sum the log of exp(r·d) over its null expectation, cosh(r·d) at even odds, by rate r."""
    number = np.ones(len(d)) if number is None else number
    if chance is not None:
        stake, likely = np.outer(rates, np.abs(d)), np.asarray(chance, dtype=np.float64)
        with np.errstate(divide="ignore"):
            mean = np.logaddexp(stake + np.log(likely), np.log1p(-likely) - stake)
        return np.asarray((np.outer(rates, d) - mean) @ number)
    return np.asarray((math.log(2) - np.logaddexp(0, -2 * np.outer(rates, d))) @ number)


def _log_mean(logs: Any) -> float:
    return float(np.logaddexp.reduce(logs, axis=None) - math.log(np.size(logs)))


def reach(units: Any, planned: float, *, level: float = 0.95) -> Any:
    """Return a half length in standard errors (confidence sequence, Waudby-Smith et al. 2024)."""
    alpha = 1 - open_probability("level", level)
    tuned = (-2 * math.log(alpha) + math.log(1 - 2 * math.log(alpha))) / planned
    t = np.asarray(units, dtype=np.float64) * tuned
    with np.errstate(divide="ignore"):
        return np.sqrt(2 * (t + 1) / t * np.log(np.sqrt(t + 1) / alpha))


# Intervals from a standard error need this many units in which anything counts: with fewer, a
# system without errors, or without successes, would have a standard error of 0.
FEWEST = 30
_TOO_FEW = f"fewer than {FEWEST} informative units: no interval yet"
_ALL_EQUAL = "all units are equal so far: no interval yet"
# A good system makes no error in its first units, which would give a variance of 0. Its variance
# is computed as if this many more errors had been seen, each as large as an item with a wrong
# label in sentences of two items (the square of its weight is that of a mean unit).
_ERRORS_UNSEEN = 4
# Composite scores depend on the rarer class, however many units there are.
_FEWEST_OF_A_CLASS = 10
_TOO_FEW_OF_A_CLASS = f"fewer than {_FEWEST_OF_A_CLASS} items of a class: no interval yet"
_MOST_UNITS_FORECAST = 10**9  # larger forecasts are not shown: nobody labels so many


def sequential(
    metric: str = "f1", *, level: float = 0.95, planned: int | None = None, beta: float = 1.0
) -> SequentialTest:
    """Start a sequential test of one system's score, or of the difference of two systems.

    Parameters
    ----------
    metric, beta
        The score: precision, recall, f1, fbeta, jaccard, accuracy, specificity, npv,
        balanced_accuracy, mcc, kappa, informedness, markedness or fowlkes_mallows; the weight of
        recall in F-beta.
    level
        With this probability the interval contains the true value at every look; 1 - level bounds
        the probability that the test ever decides between exchangeable systems.
    planned
        About how many units will be labelled if nothing is decided before. Intervals are tightest
        there, and bets do best for differences that are just decided by then. By default intervals
        are made for 1,000 units, and bets for differences of all sizes.

    Returns
    -------
    SequentialTest
        `update(counts)` takes the next batch and returns a `Look`.

    Examples
    --------
    >>> import probative as pv
    >>> test = pv.sequential("f1", planned=500)
    >>> batch = pv.PairedCounts([[0, 0, 1, 0, 1, 0, 0], [0, 1, 0, 0, 1, 0, 1]], [60, 40])
    >>> look = test.update(batch)
    >>> look.units, look.decided
    (100, 'b')
    >>> print(look)  # doctest: +ELLIPSIS
    check 1, 100 units: F1, B − A 30.07 [27.75, 32.38]; decided: B is better than A (p = ...
    """
    return SequentialTest(metric, level, planned, beta)


class SequentialTest:
    """The state of a sequential test; made by `sequential`."""

    def __init__(self, metric: str, level: float, planned: int | None, beta: float) -> None:
        self.metric = one_of("metric", metric, METRICS)
        self._bounds = bounds(self.metric)
        self.level = open_probability("level", level)
        self.beta = positive("beta", beta)
        self.planned = None if planned is None else whole_number("planned", planned)
        grid = GRID if self.planned is None else planned_grid(self.planned, self.level)
        self._wealth = Wealth(grid)
        self._counted: list[Any] = []
        self._looks: list[Look] = []

    def update(self, counts: Counts | PairedCounts) -> Look:
        """Add the next batch of labels and return the look at all labels so far."""
        if not isinstance(counts, (Counts, PairedCounts)):
            raise InputError(f"counts: {shown(counts)}; expected Counts or PairedCounts")
        if isinstance(counts, Counts) and len(counts.shape) > 1:
            raise InputError(f"counts: shape {counts.shape}; expected one row per unit, or a table")
        if self._counted and _kind(counts) != _kind(self._counted[0]):
            raise InputError(
                f"counts: {_kind(counts)}; expected {_kind(self._counted[0])}, as before"
            )
        # refuse a metric that these counts do not allow
        score(counts.a if isinstance(counts, PairedCounts) else counts, self.metric)
        self._counted.append(counts)
        values = self._pair(counts) if isinstance(counts, PairedCounts) else self._single()
        look = Look(
            look=len(self._looks) + 1,
            metric=self.metric,
            level=self.level,
            planned=self.planned,
            signature=self.signature,
            **values,
        )
        self._looks.append(look)
        return look

    @property
    def looks(self) -> Looks:
        """Return all looks so far."""
        return Looks(tuple(self._looks), signature=self.signature)

    @property
    def signature(self) -> str:
        """Return a short reproducible description of every choice."""
        chosen = [f"level:{self.level:g}"]
        if TABLE[self.metric].depends_on_beta:
            chosen.append(f"beta:{self.beta:g}")
        if self.planned is not None:
            chosen.append(f"planned:{self.planned}")
        return sign("sequential", self.metric, *chosen)

    def _single(self) -> dict[str, Any]:
        """Compute one system's score and its interval."""
        first = self._counted[0]
        if first.shape:
            cells = zip(*(counts._cells() for counts in self._counted), strict=True)
            by_unit = Counts(*map(np.concatenate, cells))
            x, y = contributions_of(by_unit, self.metric, beta=self.beta)
            rows = [(np.asarray(x, float), np.asarray(y, float))]
            limits = self._limits(rows, np.ones(len(x)), self._bounds, by_unit.sum())
            return {"by": "unit", "units": len(x), **limits}
        total = sum(self._counted[1:], start=first)
        times = np.array(total._cells(), dtype=np.float64)
        share = TABLE[self.metric].share(self.beta**2)
        if share is not None:
            hits, number = share.proportion(total)
            ends = share_limits(hits, number, level=self.level)
            low, high = (float(share.score(end)) for end in ends)
            estimate = float(share.score(hits / number)) if number else math.nan
            limits = {"estimate": estimate, "low": low, "high": high}
        else:
            kinds = Counts(*np.eye(len(times)))
            rows = [contributions_of(kinds, self.metric, at=total, units=False, beta=self.beta)]
            limits = self._limits(rows, times, self._bounds, total)
        return {"by": "item", "units": int(times.sum()), **limits}

    def _pair(self, batch: PairedCounts) -> dict[str, Any]:
        """Compute the difference of two scores and its interval; bet on the batch."""
        so_far = self._so_far()
        rows, number = contributions(so_far, self.metric, beta=self.beta)
        # by how much an item in each cell changes the pooled score of both systems: exchanging the
        # systems does not change these values, so the bets may use them
        table = so_far.total()
        both, kinds = (table + table.swapped()).a, Counts(*np.eye(4))
        x, y = contributions_of(kinds, self.metric, at=both, units=False, beta=self.beta)
        worth = np.asarray(x - score(both, self.metric, beta=self.beta, zero_division=0.0) * y)
        d, times = _leads(batch, worth)
        self._wealth = self._wealth.bet(d, times, units=_number_of_units(batch))
        most = self._bounds[1] - self._bounds[0]
        limits = self._limits(rows, number, (-most, most), table.a)
        a, b = (_share(number @ x, number @ y) for x, y in rows)
        p, ahead, behind = map(self._wealth.pvalue, ("two-sided", "greater", "less"))
        decided = None if p > 1 - self.level else "b" if ahead <= behind else "a"
        return {
            "by": "unit" if so_far.has_units else "item",
            "units": _number_of_units(so_far),
            "score_a": a,
            "score_b": b,
            "e_value": math.exp(min(self._wealth.log_e, 700.0)),
            "pvalue": p,
            "decided": decided,
            "more": None if decided else self._more(so_far, worth),
            **limits,
        }

    def _so_far(self) -> PairedCounts:
        """Merge all batches into one."""
        first: PairedCounts = self._counted[0]
        if len(self._counted) > 1:
            if first.has_units:
                first = PairedCounts.concatenate(self._counted).grouped()
            else:
                first = sum(self._counted[1:], start=first)
            self._counted = [first]
        return first

    def _limits(
        self, rows: Rows, number: Array, ends: tuple[float, float], total: Counts
    ) -> dict[str, Any]:
        """Compute a score or difference, its interval from the standard error, and a note."""
        found = look_limits(rows, number, ends, self.planned, level=self.level)
        classes = [total.tp + total.fn] + ([] if total.tn is None else [total.fp + total.tn])
        few = self.metric in COMPOSITES and min(map(float, classes)) < _FEWEST_OF_A_CLASS
        if few and found[-1] != _TOO_FEW:
            found = found[0], *ends, _TOO_FEW_OF_A_CLASS
        return dict(zip(("estimate", "low", "high", "note"), found, strict=True))

    def _more(self, so_far: PairedCounts, worth: Array) -> int | None:
        """Forecast how many more units would decide the test if the difference stays the same."""
        d, number = _leads(so_far, worth)
        squares = float(number @ d**2)
        if squares == 0:
            return None
        # mean lead per unit, in standard deviations
        drift = float(number @ d) / math.sqrt(squares * _number_of_units(so_far))
        missing = -math.log(1 - self.level) - self._wealth.log_e
        if drift == 0 or missing / (drift**2 / 2) > _MOST_UNITS_FORECAST:
            return None
        return max(1, math.ceil(missing / (drift**2 / 2)))


def look_limits(
    rows: Rows,
    number: Array,
    ends: tuple[float, float],
    planned: int | None = None,
    *,
    level: float = 0.95,
) -> Limits:
    """Compute a score or difference, an interval that holds at every look, and a note or None."""
    # `rows` and `number`: what each kind of unit adds to numerator and denominator, and how often
    scores = [_share(number @ x, number @ y) for x, y in rows]
    estimate = scores[-1] - scores[0] if len(scores) > 1 else scores[0]
    size = np.sum([y for _, y in rows], axis=0)
    nonempty = size > 0
    units = float(number[nonempty].sum())
    freedom = freedom_of(rows, number)
    if units < FEWEST or not freedom > 0:
        return estimate, *ends, _TOO_FEW
    there = [(x[nonempty], y[nonempty]) for x, y in rows]
    error = math.sqrt(jackknife_variance(there, number[nonempty]))
    if len(rows) == 1:
        error = math.hypot(error, math.sqrt(_ERRORS_UNSEEN / units / float(number @ size)))
    if not error > 0:
        return estimate, *ends, _ALL_EQUAL
    half_length = _student_reach(units, planned or 1000, level, freedom) * error
    low, high = max(ends[0], estimate - half_length), min(ends[1], estimate + half_length)
    return estimate, low, high, None


def _student_reach(units: float, planned: float, level: float, freedom: float) -> float:
    """Return `reach` with Student's quantile for the same tail: the error is estimated, too."""
    normal = float(reach(units, planned, level=level))
    return -float(special.stdtrit(max(freedom, 1.0), special.ndtr(-normal)))


def _kind(counts: Counts | PairedCounts) -> str:
    """Describe the kind of counts, which all batches of a test must share."""
    if isinstance(counts, PairedCounts):
        units, negatives = counts.has_units, counts.has_negatives
    else:
        units, negatives = bool(counts.shape), counts.tn is not None
    what = f"{type(counts).__name__} of {'units' if units else 'items'}"
    return f"{what} {'with' if negatives else 'without'} true negatives"


def _share(x: Any, y: Any) -> float:
    return float(x / y) if y > 0 else math.nan


def _number_of_units(paired: PairedCounts) -> int:
    return int(paired.n_units) if paired.has_units else int(paired.cases.sum())


def _leads(paired: PairedCounts, worth: Array) -> tuple[Array, Array]:
    """Return the lead of B in units of each kind, and how many such units there are."""
    kinds, number = kinds_of(paired)
    rows = PairedCounts(kinds.cases)  # with case 7, even if it cannot be counted
    a, b = (np.stack(own._cells(), axis=-1) for own in (rows.a, rows.b))
    d = (b - a) @ worth
    informative = (number > 0) & (d != 0)
    return d[informative], number[informative]


# --- Looks at a pool while the units of a stratified sample are being labelled
# The interval is the estimate of the pool plus and minus so many standard errors that it holds at
# every look. It is tightest at the information (one over the variance) of the planned sample. The
# comparison is decided when the interval excludes 0.
#
# The test: if A and B are exchangeable, the lead of B in a unit is d or -d with equal
# probability. Strata may distinguish the systems: a unit in which A says yes and B no is in
# another stratum than its mirror image. The number of units drawn from both is then known before
# anything is labelled; given it, each drawn unit is of either kind with the shares that are left,
# and the bets are fair at these odds. Nothing else that the bets use changes if the outputs are
# exchanged: units of mirrored strata have equal weights, and the rates depend only on the sizes
# of d.

_BISECTIONS_OF_SAMPLE_SIZE = 50
_UNSEEN = "fewer than two units of a stratum so far: no interval yet"


@dataclass(frozen=True, eq=False)
class LabelledUnits:
    """The units of a stratified sample, in the order in which they are looked at."""

    systems: tuple[Counts, ...]  # the counts of one system, or of two, one row per unit
    number: Ints  # indices of the units in the pool, which do not depend on the systems
    stratum: Ints  # index of the stratum of every unit
    sizes: Ints  # number of units of the pool in every stratum
    mirror: Ints  # the stratum with the systems exchanged; the same if that changes nothing
    disputed: Array | None = None  # by unit, items that only one system returned, if known

    def first(self, end: int) -> LabelledUnits:
        """Return the first `end` units."""
        return replace(
            self,
            systems=tuple(counts[:end] for counts in self.systems),
            number=self.number[:end],
            stratum=self.stratum[:end],
            disputed=None if self.disputed is None else self.disputed[:end],
        )


def stratified_looks(
    units: LabelledUnits,
    ends: Sequence[int],
    planned: ArrayLike,
    *,
    metric: str = "f1",
    level: float = 0.95,
    beta: float = 1.0,
    by: str = "unit",
) -> Iterator[Look]:
    """Yield a look after each number of units in `ends`; `planned` is by stratum."""
    if metric not in RATIOS:
        raise InputError(
            f"metric: {metric} is no ratio of sums over units; expected one of {', '.join(RATIOS)}"
        )
    planned = np.asarray(planned, dtype=np.float64)
    wealth = Wealth(planned_grid(float(planned.sum()), level))
    both = np.minimum(np.arange(len(units.sizes)), units.mirror)  # mirrored strata are merged
    start, decided = 0, None
    for place, end in enumerate(ends, 1):
        so_far = units.first(end)
        look = _look_at(so_far, planned, place, metric, level, beta, by)
        if len(units.systems) == 1:
            yield look
            continue
        # the weighted lead of B in every unit, at the pooled score of both systems
        (xa, ya), (xb, yb) = (contributions_of(own, metric, beta=beta) for own in so_far.systems)
        pair = both[so_far.stratum]
        drawn = np.maximum(np.bincount(pair, minlength=len(both)), 1)
        weights = (np.bincount(both, units.sizes, len(both)) / drawn)[pair]
        below = float(weights @ (ya + yb))
        common = float(weights @ (xa + xb)) / below if below else 0.0
        d = np.asarray(weights * ((xb - xa) - common * (yb - ya)))
        number, stratum = so_far.number[start:], so_far.stratum[start:]
        chance = mirrored_chances(number, stratum, units.mirror, d[start:])
        wealth = wealth.bet(d[start:], chance=chance)
        # decided if the interval of the difference excludes 0
        decided = decided or ("b" if look.low > 0 else "a" if look.high < 0 else None)
        yield replace(
            look,
            e_value=math.exp(min(wealth.log_e, 700.0)),
            pvalue=wealth.pvalue(),
            decided=decided,
            more=None if decided else look.more,
        )
        start = end


def order_of_drawing(stratum: Ints, rank: Ints) -> Ints:
    """Order units so that any beginning is a random part of every stratum, in equal shares."""
    number = np.bincount(stratum)
    return np.lexsort((stratum, (rank + 0.5) / number[stratum]))


def mirrored_chances(number: Ints, stratum: Ints, mirror: Ints, d: Array) -> Array:
    """Compute the probability that each d is positive if the systems are exchangeable."""
    # the next unit is from a stratum or its mirror image with the shares that are left of them
    chance = np.full(len(d), 0.5)
    pair = np.minimum(stratum, mirror[stratum])
    for first_stratum in np.unique(pair[mirror[stratum] != stratum]):
        members = np.flatnonzero(pair == first_stratum)
        members = members[np.argsort(number[members])]
        first = stratum[members] == first_stratum
        taken = np.cumsum(first) - first
        left = len(members) - np.arange(len(members))
        share = (first.sum() - taken) / left  # probability that the unit is of the first stratum
        # in the mirrored stratum its lead would have the opposite sign
        ahead_in_first = (d[members] > 0) == first
        chance[members] = np.where(ahead_in_first, share, 1 - share)
    return chance


def _look_at(
    units: LabelledUnits,
    planned: Array,
    place: int,
    metric: str,
    level: float,
    beta: float,
    by: str,
) -> Look:
    """Return the look at the units so far."""
    two, sizes = len(units.systems) > 1, units.sizes
    least, most = (-span(metric), span(metric)) if two else bounds(metric)
    about: dict[str, Any] = {"planned": round(float(planned.sum())), "pool": int(sizes.sum())}
    said: Callable[..., Look] = partial(Look, place, metric, level, by, len(units.number), **about)
    drawn = np.bincount(units.stratum, minlength=len(sizes))
    if np.any((drawn == 0) & (sizes > 0)):
        of_two = [math.nan if two else None] * 2
        return said(math.nan, least, most, *of_two, note=_UNSEEN)
    draw = Draw(units.stratum, sizes)
    scores = PoolScores(
        units.systems, draw, metric, level=level, beta=beta, disputed=units.disputed
    )
    projection = scores.difference() if two else scores.score()
    estimate = projection.estimate
    of_two = [scores.score(k).estimate for k in (0, 1)] if two else [None, None]
    if draw.is_census:
        return said(estimate, estimate, estimate, *of_two)
    rows = (contributions_of(own, metric, beta=beta) for own in units.systems)
    alike = math.isnan(estimate) or not projection.standard_error > 0
    why_none = None
    if np.count_nonzero(np.any([y > 0 for _, y in rows], axis=0)) < FEWEST:
        why_none = _TOO_FEW
    elif np.any((drawn < 2) & (sizes > drawn)):
        why_none = _UNSEEN
    elif alike or projection.no_evidence:
        why_none = _ALL_EQUAL
    if why_none:
        return said(estimate, least, most, *of_two, note=why_none)

    def half_length(number: NDArray[Any]) -> float:
        """Compute the half length of the interval with `number` units of every stratum."""
        # it is tightest at the information (one over the variance) of the planned units
        then, at_plan = (_variance(projection, draw, own) for own in (number, planned))
        if not then > 0:
            return 0.0
        information = at_plan / then if at_plan > 0 else number.sum() / planned.sum()
        freedom = projection.degrees_of_freedom
        return _student_reach(information, 1.0, level, freedom) * math.sqrt(then)

    half = half_length(drawn)
    more = _more(estimate, draw, half_length) if two else None
    ends, note = (max(least, estimate - half), min(most, estimate + half)), projection.notes[:1]
    return said(estimate, *ends, *of_two, more=more, note=note[0] if note else None)


def _more(estimate: float, draw: Draw, half_length: Callable[[Any], float]) -> int | None:
    """Forecast how many more units, in equal proportions, would decide the test."""
    if estimate == 0:
        return None
    low, high = 1.0, float(np.max(draw.sizes / draw.drawn))
    for _ in range(_BISECTIONS_OF_SAMPLE_SIZE):
        middle = (low + high) / 2
        number = np.minimum(draw.sizes, middle * draw.drawn)
        if half_length(number) < abs(estimate):
            high = middle
        else:
            low = middle
    more = float(np.minimum(draw.sizes, high * draw.drawn).sum()) - draw.labelled
    return max(1, math.ceil(more))


def _variance(projection: Projection, draw: Draw, number: NDArray[Any]) -> float:
    """Compute the variance with `number` units of every stratum and the current unit variances."""
    open_ = (draw.drawn < draw.sizes) & (number > 0)
    size = draw.sizes[open_]
    now = 1 / draw.drawn[open_] - 1 / size
    return float(projection.by_stratum[open_] @ ((1 / number[open_] - 1 / size) / now))
