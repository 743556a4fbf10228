"""Judge scores and comparisons while labels still arrive, at any time."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import special

from probative._validation import one_of, open_probability, positive, shown, whole_number
from probative.counts import Counts, PairedCounts
from probative.errors import InputError
from probative.inference.stratified import Draw, PoolScores
from probative.inference.units import contributions, effective_units, jackknife_error
from probative.metrics import CELLS, COMPOSITES, METRICS, RATIOS, TABLE, bounds, score, span
from probative.metrics import contributions as contributions_of
from probative.metrics import contributions as metrics_contributions
from probative.options import sign
from probative.results.surveys import Look, Looks

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import ArrayLike, NDArray

    from probative._validation import Array, Ints
    from probative.inference.stratified import Projection


# -----------------------------------------------------------------------------
# Limits and tests that hold at every look, however often one looks and whenever one stops.
#
# A fixed interval looked at after every batch misses sooner or later; a confidence *sequence*
# misses at any time with probability at most 1 - level. Likewise an e-value grows beyond 1/alpha
# at any time with probability at most alpha, if there is nothing to be found.
# -----------------------------------------------------------------------------

_PRIOR = 0.5  # of both cells, in the mixture over shares
_SEQUENCES_STEPS = 100  # of a bisection on the scale of log-odds: more than a float can tell
_SEQUENCES_FARTHEST = 745.0  # log-odds that a float can still tell from certainty
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
    >>> from probative.inference.sequential import log_e_value
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
    >>> from probative.inference.sequential import share_limits
    >>> low, high = share_limits(77, 131)
    >>> round(float(low), 6), round(float(high), 6)
    (0.441175, 0.724541)
    """
    hits, number = np.broadcast_arrays(np.asarray(hits, float), np.asarray(number, float))
    bound = -math.log1p(-open_probability("level", level))
    with np.errstate(divide="ignore", invalid="ignore"):
        best = special.logit(np.where(number > 0, hits / number, 0.5))
    best = np.clip(best, -_SEQUENCES_FARTHEST, _SEQUENCES_FARTHEST)

    def search(far: float) -> Array:
        outside, inside = np.full(best.shape, far), best.copy()
        for _ in range(_SEQUENCES_STEPS):
            middle = (outside + inside) / 2
            doubted = _log_e_value_of_odds(hits, number, middle) >= bound
            outside = np.where(doubted, middle, outside)
            inside = np.where(doubted, inside, middle)
        return np.asarray(special.expit((outside + inside) / 2))

    low = np.where(hits > 0, search(-_SEQUENCES_FARTHEST), 0.0)
    high = np.where(hits < number, search(_SEQUENCES_FARTHEST), 1.0)
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
    >>> from probative.inference.sequential import reach
    >>> round(float(reach(500, 500)), 3)
    3.035
    """
    doubt = 1 - open_probability("level", level)
    tuned = (-2 * math.log(doubt) + math.log(1 - 2 * math.log(doubt))) / planned
    t = np.asarray(units, dtype=np.float64) * tuned
    with np.errstate(divide="ignore"):
        return np.sqrt(2 * (t + 1) / t * np.log(np.sqrt(t + 1) / doubt))


if TYPE_CHECKING:
    # what each kind of unit adds to numerator and denominator of one score or two
    Rows = list[tuple[Array, Array]]


# Limits from a standard error begin where there are so many units in which anything counts: with
# fewer, a score that happens to be all right or all wrong would have none.
FEWEST = 30
_TOO_FEW = f"fewer than {FEWEST} units in which anything counts: no limits yet"
# A good system shows no error, so no variance, in its first units. Its score varies as if so many
# more errors had been seen, each as large as an item that is returned under a wrong label in
# sentences of two items (the square of its weight is that of a mean unit).
_ERRORS_UNSEEN = 4
# A score of both classes rests on the rarer one, however many units there are.
_FEWEST_OF_A_CLASS = 10
_TOO_FEW_OF_A_CLASS = f"fewer than {_FEWEST_OF_A_CLASS} items of a class: no limits yet"
_FARTHEST = 10**9  # units: more than anybody will label


def sequential(
    metric: str = "f1", *, level: float = 0.95, planned: int | None = None, beta: float = 1.0
) -> SequentialTest:
    """Begin to look at scores, or at the difference of two systems, while labels still arrive.

    Parameters
    ----------
    metric, beta
        The score: precision, recall, f1, fbeta, jaccard, accuracy, specificity, npv,
        balanced_accuracy, mcc, kappa, informedness, markedness or fowlkes_mallows; the weight of
        recall in F-beta.
    level
        With this probability the limits hold at every look, and 1 - level bounds the probability
        that the test ever decides between exchangeable systems.
    planned
        How many units will be labelled if nothing is decided before, about. Limits are tightest
        there, and bets do best for differences that just come out by then. By default limits are
        made for 1,000 units, and bets for differences of all sizes.

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
    look 1, 100 units: F1, B − A 30.07 [27.75, 32.38]; decided: B is better than A (p = ...
    """
    return SequentialTest(metric, level=level, planned=planned, beta=beta)


class SequentialTest:
    """The state of a sequence of looks; made by `sequential`."""

    def __init__(
        self,
        metric: str = "f1",
        *,
        level: float = 0.95,
        planned: int | None = None,
        beta: float = 1.0,
    ) -> None:
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
        """Add the next batch of labels and look.

        Parameters
        ----------
        counts
            Of one system `Counts`, of two `PairedCounts`. With one row per unit, units are what is
            independent; a single table is one of independent items. All batches are of one kind.
            What a batch holds must not depend on whether the systems are right in it.
        """
        self._check(counts)
        self._counted.append(counts)
        look = self._pair(counts) if isinstance(counts, PairedCounts) else self._single()
        self._looks.append(look)
        return look

    @property
    def looks(self) -> Looks:
        """All looks so far."""
        return Looks(tuple(self._looks), signature=self.signature)

    @property
    def signature(self) -> str:
        """A short reproducible description of every choice."""
        chosen = [f"level:{self.level:g}"]
        if TABLE[self.metric].depends_on_beta:
            chosen.append(f"beta:{self.beta:g}")
        if self.planned is not None:
            chosen.append(f"planned:{self.planned}")
        return sign("sequential", self.metric, *chosen)

    def _check(self, counts: object) -> None:
        if not isinstance(counts, (Counts, PairedCounts)):
            raise InputError(f"counts: {shown(counts)}; expected Counts or PairedCounts")
        if isinstance(counts, Counts) and len(counts.shape) > 1:
            raise InputError(f"counts: shape {counts.shape}; expected one row per unit, or a table")
        if self._counted and _kind(counts) != _kind(self._counted[0]):
            raise InputError(
                f"counts: {_kind(counts)}; expected {_kind(self._counted[0])}, as before"
            )
        score(counts.a if isinstance(counts, PairedCounts) else counts, self.metric)

    def _look(self, by: str, units: int, **values: Any) -> Look:
        return Look(
            look=len(self._looks) + 1,
            metric=self.metric,
            level=self.level,
            by=by,
            units=units,
            planned=self.planned,
            signature=self.signature,
            **values,
        )

    def _single(self) -> Look:
        """One system's score and its limits."""
        first = self._counted[0]
        if first.shape:
            cells = [
                np.concatenate([getattr(c, name) for c in self._counted]) for name in _cells(first)
            ]
            by_unit = Counts(*cells)
            x, y = contributions_of(by_unit, self.metric, beta=self.beta)
            rows, number = [(np.asarray(x, float), np.asarray(y, float))], np.ones(len(x))
            estimate, low, high, note = self._limits(rows, number, self._bounds, by_unit.sum())
            return self._look("unit", len(x), estimate=estimate, low=low, high=high, note=note)
        total = sum(self._counted[1:], start=first)
        units = int(sum(getattr(total, name) for name in _cells(first)))
        share = TABLE[self.metric].share(self.beta**2)
        if share is not None:
            hits, number = share.proportion(total)
            low, high = (
                float(share.score(end)) for end in share_limits(hits, number, level=self.level)
            )
            estimate = float(share.score(hits / number)) if number else math.nan
            return self._look("item", units, estimate=estimate, low=low, high=high)
        times = np.array([getattr(total, name) for name in _cells(first)], dtype=np.float64)
        kinds = Counts(*np.eye(len(times)))
        x, y = contributions_of(kinds, self.metric, at=total, units=False, beta=self.beta)
        estimate, low, high, note = self._limits([(x, y)], times, self._bounds, total)
        return self._look("item", units, estimate=estimate, low=low, high=high, note=note)

    def _pair(self, batch: PairedCounts) -> Look:
        """The difference of two scores, its limits, and the bets."""
        so_far = self._so_far()
        rows, number = contributions(so_far, self.metric, beta=self.beta)
        worth = _worth_of_cells(so_far, self.metric, self.beta)
        d, times = _leads(batch, worth)
        self._wealth = self._wealth.bet(d, times, units=_number_of_units(batch))
        most = self._bounds[1] - self._bounds[0]
        estimate, low, high, note = self._limits(rows, number, (-most, most), so_far.total().a)
        a, b = (_share(number @ x, number @ y) for x, y in rows)
        p = self._wealth.pvalue()
        decided = None
        if p <= 1 - self.level:
            ahead = self._wealth.pvalue("greater") <= self._wealth.pvalue("less")
            decided = "b" if ahead else "a"
        return self._look(
            "unit" if so_far.has_units else "item",
            _number_of_units(so_far),
            estimate=estimate,
            low=low,
            high=high,
            score_a=a,
            score_b=b,
            e_value=math.exp(min(self._wealth.log_e, 700.0)),
            pvalue=p,
            decided=decided,
            more=None if decided else self._more(so_far, worth),
            note=note,
        )

    def _so_far(self) -> PairedCounts:
        """All batches in one."""
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
    ) -> tuple[float, float, float, str | None]:
        """A score or difference, limits from its standard error, and what must be said of them."""
        found = look_limits(rows, number, ends, self.planned, level=self.level)
        few = self.metric in COMPOSITES and _least_class(total) < _FEWEST_OF_A_CLASS
        if few and found[-1] != _TOO_FEW:
            return found[0], *ends, _TOO_FEW_OF_A_CLASS
        return found

    def _more(self, so_far: PairedCounts, worth: Array) -> int | None:
        """How many units more would decide it, if the difference stays as it looks."""
        d, number = _leads(so_far, worth)
        squares = float(number @ d**2)
        if squares == 0:
            return None
        # per unit, in standard deviations
        drift = float(number @ d) / math.sqrt(squares * _number_of_units(so_far))
        missing = -math.log(1 - self.level) - self._wealth.log_e
        if drift == 0 or missing / (drift**2 / 2) > _FARTHEST:
            return None
        return max(1, math.ceil(missing / (drift**2 / 2)))


def look_limits(
    rows: Rows,
    number: Array,
    ends: tuple[float, float],
    planned: int | None = None,
    *,
    level: float = 0.95,
) -> tuple[float, float, float, str | None]:
    """A score or difference by unit, limits that hold at every look, and what is to be said.

    Parameters
    ----------
    rows, number
        What each kind of unit adds to numerator and denominator, for one score or two, and how many
        units of it there are so far.
    ends
        The least and the most that it can be.
    planned
        How many units will be labelled if nothing is decided before; 1,000 by default.
    level
        With this probability the limits hold at every look.
    """
    lowest, highest = ends
    scores = [_share(number @ x, number @ y) for x, y in rows]
    estimate = scores[-1] - scores[0] if len(scores) > 1 else scores[0]
    size = np.sum([y for _, y in rows], axis=0)
    there = size > 0
    units = float(number[there].sum())
    if units < FEWEST or any(number[y > 0].sum() < 2 for _, y in rows):
        return estimate, lowest, highest, _TOO_FEW
    error = jackknife_error([(x[there], y[there]) for x, y in rows], number[there])
    if len(rows) == 1:
        error = math.hypot(error, math.sqrt(_ERRORS_UNSEEN / units / float(number @ size)))
    if not error > 0:
        return estimate, lowest, highest, "all units alike so far: no limits yet"
    freedom = max(effective_units(size, number) - 1, 1.0)
    normal = float(reach(units, planned or 1000, level=level))
    # Student's distance for the same tail: the standard error is an estimate, too
    far = -float(special.stdtrit(freedom, special.ndtr(-normal))) * error
    return estimate, max(lowest, estimate - far), min(highest, estimate + far), None


def _kind(counts: Counts | PairedCounts) -> str:
    paired = isinstance(counts, PairedCounts)
    units = counts.has_units if isinstance(counts, PairedCounts) else bool(counts.shape)
    what = "PairedCounts" if paired else "Counts"
    negatives = counts.has_negatives if isinstance(counts, PairedCounts) else counts.tn is not None
    cells = "with" if negatives else "without"
    return f"{what} of {'units' if units else 'items'} {cells} true negatives"


def _cells(counts: Counts) -> tuple[str, ...]:
    return ("tp", "fp", "fn") if counts.tn is None else ("tp", "fp", "fn", "tn")


def _share(x: Any, y: Any) -> float:
    return float(x / y) if y > 0 else math.nan


def _number_of_units(paired: PairedCounts) -> int:
    return int(paired.n_units) if paired.has_units else int(paired.cases.sum())


def _least_class(total: Counts) -> float:
    """How many items the rarer class of the answer has; without negatives, the class."""
    positives = float(total.tp + total.fn)
    return positives if total.tn is None else min(positives, float(total.fp + total.tn))


def _worth_of_cells(so_far: PairedCounts, metric: str, beta: float) -> Array:
    """By how much an item in each cell moves a score, near what both systems score together.

    That is the same whichever system an output came from, so that it may be known before one bets
    on that.
    """
    table = so_far.total()
    both = (table + table.swapped()).a
    kinds = Counts(*np.eye(4))
    x, y = contributions_of(kinds, metric, at=both, units=False, beta=beta)
    common = score(both, metric, beta=beta, zero_division=0.0)
    return np.asarray(x - common * y)


def _leads(paired: PairedCounts, worth: Array) -> tuple[Array, Array]:
    """By how much B is ahead in units of each kind, given what cells are worth; and how many."""
    cases = paired.cases if paired.has_units else np.eye(8)
    number = paired.multiplicity if paired.has_units else paired.cases
    number = np.ones(len(cases)) if number is None else np.asarray(number, dtype=np.float64)
    rows = PairedCounts(cases)
    gains = [getattr(rows.b, cell) - getattr(rows.a, cell) for cell in CELLS]
    d = np.stack(gains, axis=-1) @ worth
    there = (number > 0) & (d != 0)
    return d[there], number[there]


# -----------------------------------------------------------------------------
# Scores and comparisons of a pool while the units of a stratified sample are being labelled.
#
# Limits: the estimate of the pool, so many standard errors to either side as hold at every look.
# When they are tightest is told by information, one over the variance: where the planned sample
# would be. It is decided who is better on the pool when they leave out 0.
#
# Is B better? If A and B are exchangeable, what B is ahead in a unit is as likely d as -d. Strata
# may tell the two apart: a unit in which A says yes and B no is in another stratum than its mirror
# image. How many units of either were drawn is then known before anything is labelled, and given
# that, any of the drawn units may be of either kind, with the shares that are left: the bets are
# fair at these odds. Nothing else that the bets use would change if the outputs were exchanged:
# units of mirrored strata weigh the same, and the rates depend on the sizes of what is bet on.
# -----------------------------------------------------------------------------

_STRATIFIED_SEQUENTIAL_STEPS = 50  # of a bisection
_UNSEEN = "fewer than two units of a stratum so far: no limits yet"


@dataclass(frozen=True, eq=False)
class LabelledUnits:
    """The units of a stratified sample, in the order in which they are looked at.

    Attributes
    ----------
    systems
        The counts of one system, or of two, one row per unit.
    number
        What tells the units apart, whoever says what in them: their numbers in the pool.
    stratum
        The number of the stratum of every unit.
    sizes
        How many units of the pool every stratum has.
    mirror
        Of every stratum the number of its mirror image: its own, where exchanging the systems
        leaves a unit where it is.
    disputed
        How many items of every unit one system has returned and the other has not; None where
        that is not known.
    """

    systems: tuple[Counts, ...]
    number: Ints
    stratum: Ints
    sizes: Ints
    mirror: Ints
    disputed: Array | None = None

    def first(self, end: int) -> LabelledUnits:
        """The first ones."""
        return replace(
            self,
            systems=tuple(counts[:end] for counts in self.systems),
            number=self.number[:end],
            stratum=self.stratum[:end],
            disputed=None if self.disputed is None else self.disputed[:end],
        )

    @property
    def pair(self) -> Ints:
        """The smaller number of a stratum and its mirror image, per unit."""
        return np.asarray(np.minimum(self.stratum, self.mirror[self.stratum]))

    def even_weights(self) -> Array:
        """How many units of the pool each stands for; mirrored strata are taken together."""
        both = np.minimum(np.arange(len(self.sizes)), self.mirror)
        there = np.bincount(both, weights=self.sizes, minlength=len(self.sizes))
        drawn = np.bincount(self.pair, minlength=len(self.sizes))
        return np.asarray((there / np.maximum(drawn, 1))[self.pair])


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
    """Look after so many units, and again, and again.

    Parameters
    ----------
    units
        What is labelled, in this order.
    ends
        After how many of them somebody looks.
    planned
        How many units of every stratum were planned before anything was labelled.
    metric, level, beta
        The score; the level of limits and test.
    by
        What a unit is called.
    """
    if metric not in RATIOS:
        raise InputError(
            f"metric: {metric} is no ratio of sums over units; expected one of {', '.join(RATIOS)}"
        )
    planned = np.asarray(planned, dtype=np.float64)
    wealth = Wealth(planned_grid(float(planned.sum()), level))
    start, decided = 0, None
    for number, end in enumerate(ends, 1):
        so_far = units.first(end)
        found, more = _Pool(so_far, metric, level, beta, planned).look(number, by)
        if len(units.systems) == 1:
            yield found
            continue
        d = _leads_in_pool(so_far, metric, beta)
        wealth = wealth.bet(d[start:], chance=_chances(so_far, d, start))
        decided = decided or _clear(found.low, found.high)
        yield replace(
            found,
            e_value=math.exp(min(wealth.log_e, 700.0)),
            pvalue=wealth.pvalue(),
            decided=decided,
            more=None if decided else more,
        )
        start = end


def order_of_drawing(stratum: Ints, rank: Ints) -> Ints:
    """An order in which the beginning is a random part of every stratum, in equal shares.

    Parameters
    ----------
    stratum
        The number of the stratum of every unit.
    rank
        Which one of its stratum every unit was, in the random order of that.

    Examples
    --------
    >>> import numpy as np
    >>> from probative.inference.sequential import order_of_drawing
    >>> order_of_drawing(np.array([0, 0, 0, 0, 1, 1]), np.array([3, 0, 2, 1, 0, 1])).tolist()
    [1, 4, 3, 2, 5, 0]
    """
    number = np.bincount(stratum)
    return np.lexsort((stratum, (rank + 0.5) / number[stratum]))


def _leads_in_pool(units: LabelledUnits, metric: str, beta: float) -> Array:
    """By how much B is ahead in every unit, given what both score together, and its weight."""
    (xa, ya), (xb, yb) = (metrics_contributions(own, metric, beta=beta) for own in units.systems)
    weights = units.even_weights()
    below = float(weights @ (ya + yb))
    common = float(weights @ (xa + xb)) / below if below else 0.0
    return np.asarray(weights * ((xb - xa) - common * (yb - ya)))


def _chances(units: LabelledUnits, d: Array, start: int) -> Array:
    """How likely each lead of the new units is one of B, if the systems are exchangeable."""
    new = slice(start, None)
    return mirrored_chances(units.number[new], units.stratum[new], units.mirror, d[new])


def mirrored_chances(number: Ints, stratum: Ints, mirror: Ints, d: Array) -> Array:
    """How likely each d is positive if systems are exchangeable, given the numbers of strata.

    Units are taken one after the other, in the order of their numbers. Of a stratum and its mirror
    image so many units are left; the next one is of either with the shares of these.

    Parameters
    ----------
    number, stratum
        Of every unit, what it is called and where it comes from.
    mirror
        Of every stratum the number of its mirror image.
    d
        By how much B is ahead in every unit.

    Examples
    --------
    >>> import numpy as np
    >>> from probative.inference.sequential import mirrored_chances
    >>> mirror, d = np.array([1, 0, 2]), np.array([1.0, 1.0, -1.0, 2.0])
    >>> mirrored_chances(np.arange(4), np.array([0, 0, 1, 2]), mirror, d).tolist()
    [0.6666666666666666, 0.5, 0.0, 0.5]
    """
    chance = np.full(len(d), 0.5)
    pair = np.minimum(stratum, mirror[stratum])
    for one in np.unique(pair[mirror[stratum] != stratum]):
        own = np.flatnonzero(pair == one)
        own = own[np.argsort(number[own])]
        first = stratum[own] == one
        taken = np.cumsum(first) - first
        left = len(own) - np.arange(len(own))
        share = (first.sum() - taken) / left  # that this unit is of the first of the two
        # in the other stratum it would be as far behind as it is ahead
        ahead_in_first = (d[own] > 0) == first
        chance[own] = np.where(ahead_in_first, share, 1 - share)
    return chance


def _clear(low: float, high: float) -> str | None:
    """Who is better, if the limits of the difference leave out 0."""
    return "b" if low > 0 else "a" if high < 0 else None


@dataclass(frozen=True, eq=False)
class _Pool:
    """What labelled units tell of their pool, at one look of many."""

    units: LabelledUnits
    metric: str
    level: float
    beta: float
    planned: Array

    def look(self, number: int, by: str) -> tuple[Look, int | None]:
        """The estimate and its limits; and how many units more would decide it."""
        two = len(self.units.systems) > 1
        least, most = (-span(self.metric), span(self.metric)) if two else bounds(self.metric)
        found = Look(
            look=number,
            metric=self.metric,
            level=self.level,
            by=by,
            units=len(self.units.number),
            estimate=math.nan,
            low=least,
            high=most,
            score_a=math.nan if two else None,
            score_b=math.nan if two else None,
            planned=round(float(self.planned.sum())),
            pool=int(self.units.sizes.sum()),
        )
        drawn = np.bincount(self.units.stratum, minlength=len(self.units.sizes))
        if np.any((drawn == 0) & (self.units.sizes > 0)):
            return replace(found, note=_UNSEEN), None
        draw = Draw.of(self.units.stratum, self.units.sizes)
        scores = PoolScores.of(
            self.units.systems,
            draw,
            self.metric,
            level=self.level,
            beta=self.beta,
            disputed=self.units.disputed,
        )
        told = scores.difference() if two else scores.score()
        found = replace(found, estimate=told.estimate)
        if two:
            found = replace(
                found, score_a=scores.score(0).estimate, score_b=scores.score(1).estimate
            )
        if not np.any(draw.rest > 0):
            return replace(found, low=told.estimate, high=told.estimate), None
        note = self._why_none(told, drawn)
        if note is not None:
            return replace(found, note=note), None
        far = self._reach(told, draw, drawn)
        return replace(
            found,
            low=max(least, told.estimate - far),
            high=min(most, told.estimate + far),
            note=told.notes[0] if told.notes else None,
        ), self._more(told, draw) if two else None

    def _why_none(self, told: Projection, drawn: Ints) -> str | None:
        """Why there are no limits yet, or None."""
        of_systems = [
            metrics_contributions(own, self.metric, beta=self.beta)[1] > 0
            for own in self.units.systems
        ]
        if np.count_nonzero(np.any(of_systems, axis=0)) < FEWEST:
            return _TOO_FEW
        if np.any((drawn < 2) & (self.units.sizes > drawn)):
            return _UNSEEN
        if math.isnan(told.estimate) or not told.standard_error > 0 or told.no_evidence:
            return "all units alike so far: no limits yet"
        return None

    def _reach(self, told: Projection, draw: Draw, number: NDArray[Any]) -> float:
        """How far limits would reach with so many units of every stratum.

        By the variances within strata as they look now. Information is what one over the variance
        is; at what the planned units tell, limits are tightest.
        """
        then, planned = (_variance(told, draw, own) for own in (number, self.planned))
        if not then > 0:
            return 0.0
        information = planned / then if planned > 0 else number.sum() / self.planned.sum()
        normal = float(reach(information, 1.0, level=self.level))
        # Student's distance for the same tail: the standard error is an estimate, too
        tail = special.stdtrit(max(told.degrees_of_freedom, 1.0), special.ndtr(-normal))
        return -float(tail) * math.sqrt(then)

    def _more(self, told: Projection, draw: Draw) -> int | None:
        """How many units more would decide it, if the difference stays as it looks.

        In the shares of the strata that there are; what is left of the pool in the end.
        """
        if told.estimate == 0:
            return None
        low, high = 1.0, float(np.max(draw.sizes / draw.drawn))
        for _ in range(_STRATIFIED_SEQUENTIAL_STEPS):
            middle = (low + high) / 2
            number = np.minimum(draw.sizes, middle * draw.drawn)
            if self._reach(told, draw, number) < abs(told.estimate):
                high = middle
            else:
                low = middle
        more = float(np.minimum(draw.sizes, high * draw.drawn).sum()) - draw.labelled
        return max(1, math.ceil(more))


def _variance(told: Projection, draw: Draw, number: NDArray[Any]) -> float:
    """The variance with so many units of every stratum, whose units vary as they do now."""
    open_ = (draw.drawn < draw.sizes) & (number > 0)
    size = draw.sizes[open_]
    now = 1 / draw.drawn[open_] - 1 / size
    return float(told.by_stratum[open_] @ ((1 / number[open_] - 1 / size) / now))
