"""Test by exact random exchange whether B is better than A on this test set."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from probative._validation import one_of, positive, random_generator, whole_number
from probative.counts import PairedCounts, paired_of
from probative.errors import InputError
from probative.inference.posterior import log_odds
from probative.inference.posterior import log_odds as _log_odds
from probative.inference.sampled import sequential_pvalue
from probative.inference.score_differences import AffineDifference, score_difference
from probative.inference.walks import (
    BYTES_A_FREQUENCY,
    NEGLIGIBLE,
    Convolution,
    Inversion,
    Lattice,
    TiltedWalk,
    TooLargeError,
    significant_share,
    tilt_onto,
    walk_of_units,
)
from probative.metrics import METRICS, score
from probative.options import ExchangeOptions
from probative.results import NullDistribution, RandomizationTest, SignificanceTest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from probative._validation import RNG, Array
    from probative.inference.score_differences import Exact, ScoreDifference
    from probative.inference.walks import Walk


# -----------------------------------------------------------------------------
# Binomial probabilities with one chance in two, to full relative accuracy.
# -----------------------------------------------------------------------------


def half_binomial(k: NDArray[np.int64], n: int) -> NDArray[np.float64]:
    """Probabilities of Bin(n, ½), to full relative accuracy at any n and in any tail.

    Loader's form: the deviance n·[y·atanh y + ½·log(1-y²)], y = (2k-n)/n, and the errors of
    Stirling's formula. Nothing large cancels, as it does in differences of log-gammas.
    """
    inner = k[(k > 0) & (k < n)]
    y = (2 * inner - n) / n
    deviance = n * (y * np.arctanh(y) + 0.5 * np.log1p(-y * y))
    error = _stirling_error(np.array([n])) - _stirling_error(inner) - _stirling_error(n - inner)
    probability = np.full(len(k), 0.5**n if n < 1074 else 0.0)
    probability[(k > 0) & (k < n)] = np.exp(error - deviance) * np.sqrt(
        n / (2 * np.pi * inner * (n - inner.astype(np.float64)))
    )
    return probability


def _stirling_error(n: NDArray[np.int64]) -> NDArray[np.float64]:
    """What Stirling's formula lacks: log n! - log(sqrt(2πn)·(n/e)^n), for n >= 1."""
    small = np.minimum(n, _EXACT_ERRORS.size - 1)
    large = np.maximum(n, _EXACT_ERRORS.size).astype(np.float64)
    r = 1 / (large * large)
    series = (1 / 12 - r * (1 / 360 - r * (1 / 1260 - r * (1 / 1680 - r / 1188)))) / large
    return np.where(n < _EXACT_ERRORS.size, _EXACT_ERRORS[small], series)


_EXACT_ERRORS = np.array(
    [0.0]
    + [
        math.log(math.factorial(n)) - (n + 0.5) * math.log(n) + n - 0.5 * math.log(2 * math.pi)
        for n in range(1, 20)
    ]
)


# -----------------------------------------------------------------------------
# The randomisation test by item for a thousand million items and more.
#
# Where U ~ Bin(n, ½) takes millions of values with a probability to speak of, the probability that
# the difference is extreme given U is a smooth function of it, but for the rounding of the first
# extreme V to a whole number. Stretches of consecutive values, equally spaced, average over both:
# the smooth part as exactly as all values would (a trapezoid rule), the roundings as a sample of
# them.
# -----------------------------------------------------------------------------

_STRETCHES, _LENGTH = 400, 1024
_REACH = 9.5  # standard deviations; or, where the p-value is small, this:
_HUGE_EXCHANGE_FAR = 39.0


@dataclass(frozen=True)
class _HugeExchange:
    """Every item of a huge table is exchanged with probability ½."""

    cases: NDArray[np.int64]
    gap: ScoreDifference

    def tail(self, threshold: Exact) -> float:
        """P(difference >= threshold)."""
        if self._counts_items:
            return self._linear_tail(threshold)
        pvalue = self._tail_within(_REACH, float(threshold))
        left_out = 4 * math.exp(-(_REACH**2) / 2)
        return (
            pvalue
            if left_out < 1e-12 * pvalue
            else self._tail_within(_HUGE_EXCHANGE_FAR, float(threshold))
        )

    def _tail_within(self, reach: float, threshold: float) -> float:
        t = self.cases.astype(np.float64)
        numbers = int(t[0] + t[2]), int(t[1] + t[3])
        bases = t[4], t[5]
        # go through the values of the one that takes fewer; the other's are a tail
        own = 0 if numbers[0] <= numbers[1] else 1
        values, share = _stretches(numbers[own], reach)
        edge = self._edge(own, bases[own] + values, threshold) - bases[1 - own]
        # A's score rises with true positives and falls with false ones; a tie counts, whichever
        # way it is rounded
        n = numbers[1 - own]
        slack = min(0.25, 1e-15 * float(t.sum()))
        least = np.ceil(edge - slack) if own == 0 else n - np.floor(edge + slack)
        return float(np.sum(half_binomial(values, numbers[own]) * _upper_tail(least, n)) * share)

    @property
    def sampled(self) -> tuple[int, float] | None:
        """How many values of U stand for all, and a bound on the relative error that comes from it.

        It is how much one value of V, more or less, can matter. None where all were gone through.
        """
        fewer, more = sorted((int(self.cases[[0, 2]].sum()), int(self.cases[[1, 3]].sum())))
        values, share = _stretches(fewer, _REACH)
        if self._counts_items or share == 1:
            return None
        return len(values), 1 / math.sqrt(more)

    @property
    def _counts_items(self) -> bool:
        """Whether the difference is one of numbers of items, over one that does not change."""
        line = self.gap.line
        return line is not None and max(map(abs, line)) <= 1

    def _linear_tail(self, threshold: Exact) -> float:
        """The same where the difference counts items: they are one binomial variate."""
        t = [int(x) for x in self.cases]
        assert isinstance(self.gap, AffineDifference)  # noqa: S101  # others have no line
        (a, b, _), total = self.gap.top, self.gap.total
        most = math.floor((a * total[0] + b * total[1] - threshold * self.gap.bottom[2]) / 2)
        # A's credit is a·(t4 + U) + b·(t5 + V), with a of 0 or 1 and b of 0 or -1
        n_true, n_false = a * (t[0] + t[2]), -b * (t[1] + t[3])
        n = n_true + n_false
        most += n_false - a * t[4] - b * t[5]
        return float(_upper_tail(np.array([float(n - most)]), n)[0])

    def _edge(self, own: int, given: Array, threshold: float) -> Array:
        """Where the difference is the threshold, as a function of A's true or false positives.

        The difference is nearly a straight line in the other one: Newton's method.
        """
        other = np.full(len(given), self.gap.total[1 - own] / 2)
        for _ in range(30):
            point = (given, other) if own == 0 else (other, given)
            excess = self.gap.difference(*point) - threshold
            slope = self.gap.gradient(*point)[1 - own]
            # where it does not move at all, all values are extreme or none is
            far = np.where((excess >= 0) == (own == 0), np.inf, -np.inf)
            with np.errstate(divide="ignore", invalid="ignore"):
                move = np.where(slope != 0, excess / slope, far)
            other = np.clip(other - move, 0, self.gap.total[1 - own])
            if np.max(np.abs(move)) < 0.01:
                break
        return other


def _stretches(n: int, reach: float) -> tuple[NDArray[np.int64], float]:
    """Values of Bin(n, ½), and how many each stands for."""
    distance = min(math.ceil(reach * math.sqrt(n) / 2) + 1, (n + 1) // 2)
    if 2 * distance <= 2 * _STRETCHES * _LENGTH:
        return np.arange(max(0, n // 2 - distance), min(n, n // 2 + distance) + 1), 1.0
    spacing = 2 * distance // _STRETCHES
    starts = n // 2 - distance + spacing * np.arange(_STRETCHES, dtype=np.int64)
    return (starts[:, None] + np.arange(_LENGTH)).ravel(), spacing / _LENGTH


def _upper_tail(least: Array, n: int) -> Array:
    """P(V >= least) for V ~ Bin(n, ½)."""
    inner = (least > 0) & (least <= n)
    tail = np.where(least > n, 0.0, 1.0)
    if n > 0:
        a = np.clip(least, 1, n)
        values = log_odds.cdf(a, n - a + 1, np.zeros(len(a)))
        tail = np.where(inner, values, tail)
    return tail


# -----------------------------------------------------------------------------
# The randomisation test by item: an exact sum over two binomials.
#
# Exchanging items at random credits the baseline with t4 + U true and t5 + V false positives,
# where U ~ Bin(t0 + t2, ½) and V ~ Bin(t1 + t3, ½). For every U the extreme V are a tail.
# -----------------------------------------------------------------------------

if TYPE_CHECKING:
    Credits = Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]


# In standard deviations: what lies beyond the first has a probability of 1e-19, what lies beyond
# the second cannot be written as a double.
_NEAR, _EXCHANGE_ITEMS_FAR = 9.5, 39.0
_HUGE = 10**8  # exchanged items from which on a p-value is found by `HugeExchange`


@dataclass(frozen=True)
class ItemExchange:
    """Every item of a table is exchanged with probability ½."""

    cases: NDArray[np.int64]
    gap: ScoreDifference

    def tail(self, threshold: Exact) -> float:
        """P(difference >= threshold)."""
        if self.is_huge:
            return _HugeExchange(self.cases, self.gap).tail(threshold)
        pvalue = self._tail_within(_NEAR, threshold)
        left_out = 4 * math.exp(-(_NEAR**2) / 2)
        return (
            pvalue
            if left_out < 1e-15 * pvalue
            else self._tail_within(_EXCHANGE_ITEMS_FAR, threshold)
        )

    def tails(self) -> Callable[[Exact], float]:
        """The function `tail`, for many thresholds."""
        return self.tail

    @property
    def is_huge(self) -> bool:
        """Whether the values of both U and V that matter are too many to go through one by one."""
        return bool(self.cases[:4].sum() > _HUGE)

    @property
    def sampled(self) -> tuple[int, float] | None:
        """How many values were gone through for all, and a bound on the relative error that left.

        None where every value was.
        """
        return _HugeExchange(self.cases, self.gap).sampled if self.is_huge else None

    def deviation(self) -> float:
        """About the standard deviation of the difference."""
        t = self.cases
        centre = np.array(self.gap.total) / 2
        variance = np.array([t[0] + t[2], t[1] + t[3]]) / 4
        return float(np.sqrt(variance @ self.gap.gradient(*centre) ** 2))

    def step(self) -> Fraction:
        """The distance of neighbouring differences, where it is the same everywhere; else 0."""
        t = self.cases
        steps = {(1, 0): t[0] + t[2], (0, 1): t[1] + t[3]}
        return self.gap.spacing(step for step, number in steps.items() if number)

    def sample(self, n_resamples: int, rng: np.random.Generator) -> Credits:
        """Draw what A is credited with."""
        t = self.cases
        x = t[4] + rng.binomial(t[0] + t[2], 0.5, n_resamples)
        f = t[5] + rng.binomial(t[1] + t[3], 0.5, n_resamples)
        yield x, f

    def _tail_within(self, reach: float, threshold: Exact) -> float:
        t = self.cases
        n_true, n_false = int(t[0] + t[2]), int(t[1] + t[3])
        u, v = _window(n_true, reach), _window(n_false, reach)
        tail_of_v = np.append(np.cumsum(half_binomial(v, n_false)[::-1])[::-1], 0.0)
        first = self.gap.first_extreme(
            t[4] + u, lambda v: t[5] + v, int(v[0]), int(v[-1]), threshold
        )
        return float(np.sum(half_binomial(u, n_true) * tail_of_v[first - v[0]]))


def _window(n: int, reach: float) -> NDArray[np.int64]:
    """The values of Bin(n, ½) within so many standard deviations of the mean."""
    distance = math.ceil(reach * math.sqrt(n) / 2) + 1
    return np.arange(max(0, n // 2 - distance), min(n, n // 2 + distance) + 1)


# -----------------------------------------------------------------------------
# The randomisation test by unit: an exact tail probability of a lattice walk.
# -----------------------------------------------------------------------------

_FEW = 2**12  # outcomes that are quicker written out than convolved
_NUMBERS_AT_ONCE = 2**20
_BYTES_A_CELL = 32
_EXACT_UNTILTED = 1e-12  # what is larger has enough digits without a tilt
_SECONDS_A_CELL, _SECONDS_A_FREQUENCY = 4e-9, 1e-7  # a coin, and a step; only their ratio matters


@dataclass(frozen=True)
class UnitExchange:
    """Every unit is exchanged with probability ½."""

    walk: Walk
    gap: ScoreDifference
    memory_limit: float

    @classmethod
    def of(cls, walk: Walk, gap: ScoreDifference, memory_limit: float) -> UnitExchange:
        """Set up the exchange, on a line where one number tells the difference."""
        if gap.line is not None:
            line = walk.projected(*gap.line)
            # with large weights a line may have more points than the plane that it is drawn in
            if _spread(line) <= _spread(walk) or max(map(abs, gap.line)) <= 1:
                return cls(line, gap.projected(), memory_limit)
        return cls(walk, gap, memory_limit)

    def tail(self, threshold: Exact) -> float:
        """P(difference >= threshold)."""
        if self.walk.has_at_most(_FEW):
            return _tail_by_enumeration(self.walk, self.gap, threshold)
        tilted = self._tilted_tail(tilt_onto(self.walk, self.gap, threshold), threshold)
        if not self.gap.may_jump:
            return tilted
        # some outcomes may lie where the tilt leads away from, and be missed
        try:
            plain = self._tilted_tail(np.zeros(2), threshold)
        except TooLargeError:
            return tilted
        return max(tilted, plain) if plain > _EXACT_UNTILTED else tilted

    def _tilted_tail(self, tau: NDArray[np.float64], threshold: Exact) -> float:
        walk = TiltedWalk(self.walk, tau)
        return self._ready(walk).tail(walk.first_extreme(self.gap, threshold))

    def tails(self) -> Callable[[Exact], float]:
        """P(difference >= threshold) for many thresholds, to a small absolute error."""
        if self.walk.has_at_most(_FEW):
            return self.tail
        walk = TiltedWalk(self.walk, np.zeros(2))
        ready = self._ready(walk)
        return lambda threshold: ready.tail(walk.first_extreme(self.gap, threshold))

    def deviation(self) -> float:
        """About the standard deviation of the difference."""
        slope = self.walk.steps @ self.gap.gradient(*self.walk.centre)
        return float(np.sqrt(self.walk.times @ slope**2) / 2)

    def step(self) -> Fraction:
        """The distance of neighbouring differences, where it is the same everywhere; else 0."""
        return self.gap.spacing(self.walk.steps.tolist())

    def sample(self, n_resamples: int, rng: np.random.Generator) -> Credits:
        """Draw what A is credited with, a binomial draw for each distinct step."""
        at_once = max(1, _NUMBERS_AT_ONCE // max(1, len(self.walk.times)))
        for start in range(0, n_resamples, at_once):
            size = (min(at_once, n_resamples - start), len(self.walk.times))
            ends = self.walk.base + rng.binomial(self.walk.times, 0.5, size) @ self.walk.steps
            yield ends[:, 0], ends[:, 1]

    def _ready(self, walk: TiltedWalk) -> Convolution | Inversion:
        """Prepare sums over regions in the way that is quicker."""
        cells = float(len(walk.rows) * len(walk.columns))
        frequencies = cells / 2 * significant_share(walk.times, walk.tilt, NEGLIGIBLE)
        by_coins = _SECONDS_A_CELL * float(np.sum(walk.times)) * cells
        by_frequencies = _SECONDS_A_FREQUENCY * len(walk.times) * frequencies
        if by_coins < by_frequencies and cells * _BYTES_A_CELL <= self.memory_limit:
            return Convolution(walk)
        if frequencies * BYTES_A_FREQUENCY > self.memory_limit:
            raise TooLargeError(min(cells * _BYTES_A_CELL, frequencies * BYTES_A_FREQUENCY))
        return Inversion(walk, self.memory_limit)


def _spread(walk: Walk) -> float:
    """About how many points of its lattice a walk visits often."""
    lattice = Lattice.spanned_by(walk)
    deviations = np.sqrt(walk.times @ lattice.coordinates(walk.steps).astype(np.float64) ** 2)
    return float(np.prod(1 + 9 * deviations))


def _tail_by_enumeration(walk: Walk, gap: ScoreDifference, threshold: Exact) -> float:
    """P(difference >= threshold) from all the outcomes of a short walk."""
    ends, probability = walk.base[None, :], np.ones(1)
    for step, n in zip(walk.steps, walk.times.tolist(), strict=True):
        taken = np.arange(n + 1)
        ends = (ends[:, None, :] + taken[:, None] * step).reshape(-1, 2)
        probability = np.outer(probability, half_binomial(taken, n)).reshape(-1)
    return float(np.sum(probability[gap.at_least(ends[:, 0], ends[:, 1], threshold)]))


# -----------------------------------------------------------------------------
# Randomisation tests: is B better than A on this test set?
# -----------------------------------------------------------------------------

_ALTERNATIVES = ("two-sided", "greater", "less")

# The histogram of the null distribution: how far it goes, in standard deviations, in how many bins
_SPAN, _BINS_A_SIDE = 4.5, 30


def randomization_test(
    paired: PairedCounts,
    metric: str = "f1",
    *,
    by: str | None = None,
    alternative: str = "two-sided",
    method: str = "auto",
    n_resamples: int | None = None,
    rng: RNG | None = None,
    beta: float = 1.0,
    null: bool = False,
    memory_limit: float = 2**30,
) -> RandomizationTest:
    """Test whether two systems are exchangeable, exactly.

    If it makes no difference which system an answer came from, exchanging the answers of A and B
    on any sentence is as good as leaving them. The p-value is the share of all exchanges whose
    difference of scores is at least as extreme as the observed one. Ties count as extreme and
    are settled in integers.

    Parameters
    ----------
    paired
        The cases of the two systems; whole numbers. Units may hold halves, where half an item can
        be right: they are exchanged as they are.
    metric
        One of precision, recall, f1, fbeta, jaccard, accuracy, specificity, npv,
        balanced_accuracy, mcc, kappa, informedness, markedness, fowlkes_mallows. Given the answer,
        every one of them is a function of a system's true and false positives.
    by
        What is exchanged: whole units (sentences, documents) or single items. By default units,
        where there are any. Items of one sentence are seldom independent: a test by item then
        finds too many differences.
    alternative
        "two-sided"; "greater", B is better; "less", B is worse.
    method
        "exact"; "sampled", with random exchanges; "auto", exact unless it would need more than
        `memory_limit`.
    n_resamples, rng
        How many exchanges to draw, and a seed or generator for them, where they are sampled. By
        default as many as it takes until it is clear whether the p-value exceeds 0.05 and 0.01, a
        million at most.
    beta
        The weight of recall in F-beta. It is taken for the decimal that it prints as.
    null
        Whether to return the null distribution, too, for plotting.
    memory_limit
        Bytes that an exact test by unit may use for its tables.

    Returns
    -------
    RandomizationTest
        With the `statistic`, B minus A, and its `pvalue`. By item the p-value has a relative
        error of about 1e-12, by unit one of 1e-10 or less, whatever its size; those below 1e-300
        come out as 0. By item and from 10^8 items that change places on, 1e-9. From about 10^10
        on, where a score's denominator changes with them, its `method` is "sampled", whatever was
        asked for: equally spaced stretches of exchanges stand for all, and `standard_error` bounds
        the error.

    Notes
    -----
    A small p-value says that chance alone would hardly produce such a difference on these units.
    It is not the probability that the systems are equally good, and says nothing about how large
    the difference is, or about other test sets than ones that these units stand for.

    References
    ----------
    H. Takamura, "A Note on Approximate Randomization Test of F-measure", 2015.

    Examples
    --------
    >>> import probative as pv
    >>> paired = pv.PairedCounts([3, 2, 8, 1, 40, 6, 7, 300])
    >>> test = pv.randomization_test(paired, "f1")
    >>> round(test.pvalue, 12)
    0.139282226562
    >>> print(test)
    f1, B - A = +0.0606: p = 0.1393, exact two-sided randomisation test by item
    """
    one_of("metric", metric, METRICS)
    by = _exchanged(paired_of("paired", paired), by)
    paired = _whole_cases(paired, by)
    one_of("alternative", alternative, _ALTERNATIVES)
    one_of("method", method, ("auto", "exact", "sampled"))
    if n_resamples is not None:
        n_resamples = whole_number("n_resamples", n_resamples, most=10**9)
    generator = random_generator(rng)
    positive("beta", beta)
    positive("memory_limit", memory_limit)

    table = paired.total()
    game = score_difference(table, metric, beta)
    observed = game.exact_difference(int(table.a.tp), int(table.a.fp))
    result = partial(
        RandomizationTest,
        metric=metric,
        alternative=alternative,
        by=by,
        statistic=float(observed),
        n_units=paired.n_units if by == "unit" else int(table.cases.sum()),
    )
    exchange: ItemExchange | UnitExchange
    if by == "item":
        exchange = ItemExchange(table.cases.astype(np.int64), game)
    else:
        units = walk_of_units(paired.cases, _multiplicity(paired))
        exchange = UnitExchange.of(units, game, memory_limit)
    notes = _undefined_scores(table, metric, beta)
    if method != "sampled":
        try:
            pvalue = exact_pvalue(exchange, observed, alternative)
            if pvalue == 0:
                notes.append("the p-value is not 0 but below 1e-300")
            sampled = exchange.sampled if isinstance(exchange, ItemExchange) else None
            how: dict[str, Any] = {"method": "exact"}
            if sampled:
                number, error = sampled
                how = {"method": "sampled", "n_resamples": number, "standard_error": error * pvalue}
                notes.append(
                    f"so many items that {number:,} exchanges in equally spaced stretches stand "
                    f"for all: relative error below {error:.0e}"
                )
            return result(
                **how,
                pvalue=pvalue,
                note="; ".join(notes) or None,
                signature=ExchangeOptions(alternative=alternative, beta=beta).signature(
                    "randomization-test", metric, f"{how['method']}-by-{by}"
                ),
                null=_null_distribution(exchange, _rational(observed)) if null else None,
            )
        except TooLargeError as problem:
            if method == "exact":
                raise InputError(
                    f"memory_limit: the exact test needs {problem}, and "
                    f"{memory_limit / 2**20:,.0f} MiB are allowed; expected more, or "
                    f"method='sampled'"
                ) from None
            notes.append(f"sampled, because the exact test needs {problem}")
    differences: list[NDArray[np.float64]] | None = [] if null else None
    draw = drawing(exchange, observed, alternative, differences)
    sampled_p = sequential_pvalue(draw, n_resamples=n_resamples, rng=generator, n_jobs=-1)
    notes.append(str(sampled_p))
    return result(
        method="sampled",
        pvalue=sampled_p.pvalue,
        n_resamples=sampled_p.draws,
        standard_error=sampled_p.standard_error,
        pvalue_low=sampled_p.low,
        pvalue_high=sampled_p.high,
        note="; ".join(notes),
        signature=ExchangeOptions(
            alternative=alternative, beta=beta, n_resamples=n_resamples, rng=rng
        ).signature("randomization-test", metric, f"sampled-by-{by}"),
        null=(
            None
            if differences is None
            else _sampled_null(exchange, _rational(observed), np.concatenate(differences))
        ),
    )


def _whole_cases(paired: PairedCounts, by: str) -> PairedCounts:
    """The same cases on the lattice of whole numbers: twice as many, where units hold halves.

    No score changes if all counts are doubled, so neither do the differences of the exchanges.
    """
    doubled = by == "unit" and np.any(paired.cases != np.round(paired.cases))
    scaled = paired * 2 if doubled else paired
    broken = paired.cases[scaled.cases != np.round(scaled.cases)]
    if broken.size:
        raise InputError(
            f"paired: {broken.flat[0]:g} of an item cannot be exchanged; expected whole cases"
        )
    return scaled


def _exchanged(paired: PairedCounts, by: str | None) -> str:
    if by is None:
        return "unit" if paired.has_units else "item"
    if one_of("by", by, ("unit", "item")) == "unit" and not paired.has_units:
        raise InputError("by: 'unit' needs one row per unit, and there is one table")
    return by


def _multiplicity(paired: PairedCounts) -> NDArray[np.int64]:
    if paired.multiplicity is None:
        return np.ones(len(paired.cases), dtype=np.int64)
    number: NDArray[np.int64] = paired.multiplicity
    return number


def _undefined_scores(table: PairedCounts, metric: str, beta: float) -> list[str]:
    """A word about every score that has no denominator."""
    return [
        f"the {metric} of {name} is undefined and counts as 0"
        for name, counts in (("A", table.a), ("B", table.b))
        if math.isnan(score(counts, metric, beta=beta))
    ]


def exact_pvalue(exchange: ItemExchange | UnitExchange, observed: Exact, alternative: str) -> float:
    """Only upper tails are needed: under the null hypothesis the difference is symmetric."""
    if alternative == "two-sided":
        return 1.0 if observed == 0 else _probability(2 * exchange.tail(abs(observed)))
    return _probability(exchange.tail(observed if alternative == "greater" else -observed))


def _probability(value: float) -> float:
    """Rounding errors must not lead out of [0, 1]."""
    return min(1.0, max(0.0, value))


def drawing(
    exchange: ItemExchange | UnitExchange,
    observed: Exact,
    alternative: str,
    differences: list[NDArray[np.float64]] | None = None,
) -> Callable[[np.random.Generator, int], int]:
    """A function that draws exchanges and tells how many are at least as extreme as observed.

    Parameters
    ----------
    exchange, observed, alternative
        What is exchanged, and the difference that was observed.
    differences
        Where the differences of all draws are to be put, if anywhere.
    """
    game = exchange.gap

    def draw(generator: np.random.Generator, number: int) -> int:
        extreme = 0
        for x, f in exchange.sample(number, generator):
            mirrored = game.total[0] - x, game.total[1] - f
            if alternative == "greater":
                reached = game.at_least(x, f, observed)
            elif alternative == "less":
                reached = game.at_least(*mirrored, -observed)
            else:
                size = abs(observed)
                reached = game.at_least(x, f, size) | game.at_least(*mirrored, size)
            extreme += int(np.count_nonzero(reached))
            if differences is not None:
                differences.append(game.difference(x, f))
        return extreme

    return draw


def _rational(observed: Exact) -> Fraction:
    """The edge of a bin: what is no fraction is rounded, towards 0."""
    if isinstance(observed, Fraction):
        return observed
    return Fraction(math.nextafter(float(observed), 0.0) * (1 - 1e-15))


def _edges(exchange: ItemExchange | UnitExchange, observed: Fraction) -> list[Fraction]:
    """Equally spaced positive edges, one of them the size of the observed difference.

    Differences that come in steps are parted half-way between two of them, so that all bins of a
    width hold as many: else the one in the middle, which has no difference on its edges, would
    seem to be a hollow.
    """
    span = max(_SPAN * exchange.deviation(), 1.2 * abs(float(observed)))
    if span == 0:
        return [Fraction(1)]
    width, step = Fraction(span) / _BINS_A_SIDE, exchange.step()
    if step:
        width = step * max(1, round(width / step))
    elif observed:
        width = abs(observed) / max(1, round(abs(observed) / width))
    first = (abs(observed) - step / 2) % width or width
    return [first + width * k for k in range(max(1, math.ceil((span - first) / width) + 1))]


def _null_distribution(
    exchange: ItemExchange | UnitExchange, observed: Fraction
) -> NullDistribution:
    edges = _edges(exchange, observed)
    tail = exchange.tails()
    return _histogram(edges, np.array([tail(edge) for edge in edges]))


def _sampled_null(
    exchange: ItemExchange | UnitExchange, observed: Fraction, differences: NDArray[np.float64]
) -> NullDistribution:
    edges = _edges(exchange, observed)
    size = np.sort(np.abs(differences))
    # a difference within rounding of an edge lies on it
    below = np.searchsorted(size, [float(edge) * (1 - 1e-12) for edge in edges])
    return _histogram(edges, (1 - below / len(size)) / 2)


def _histogram(edges: list[Fraction], tails: NDArray[np.float64]) -> NullDistribution:
    """Bins of a symmetric distribution from its tail probabilities at positive edges."""
    positive_edges = np.array([float(edge) for edge in edges])
    outer = np.append(-np.diff(tails)[:-1], tails[-2:-1])
    middle = 1 - 2 * tails[0] if len(edges) > 1 else 1.0
    return NullDistribution(
        edges=np.concatenate([-positive_edges[::-1], positive_edges]),
        probabilities=np.concatenate([outer[::-1], [middle], outer]),
    )


# -----------------------------------------------------------------------------
# McNemar's test: do two systems differ in how many items they get right?
# -----------------------------------------------------------------------------


def mcnemar_test(
    paired: PairedCounts, *, method: str = "exact", alternative: str = "two-sided"
) -> SignificanceTest:
    """McNemar's test of the accuracies of two systems.

    Only the items that one system gets right and the other wrong matter; if the systems are
    equally good, each of them is a fair coin. The exact test is the randomisation test of
    accuracy by item. Items are taken to be independent: where they come in sentences, use
    `randomization_test` by unit.

    Parameters
    ----------
    paired
        The cases of the two systems; whole numbers. Units are added up.
    method
        "exact", the binomial test; "mid-p", which counts ties by half: it is less conservative,
        and its size may exceed the nominal one by a little.
    alternative
        "two-sided"; "greater", B is better; "less", B is worse.

    Returns
    -------
    SignificanceTest
        Its `statistic` is the share of B's among the items that only one system gets right.

    References
    ----------
    Q. McNemar, "Note on the sampling error of the difference between correlated proportions or
    percentages", 1947. Fagerland, Lydersen & Laake, "The McNemar test for binary matched-pairs
    data: mid-p and asymptotic are better than exact conditional", 2013.

    Examples
    --------
    >>> import probative as pv
    >>> paired = pv.PairedCounts([3, 2, 8, 1, 40, 6, 7, 300])
    >>> round(pv.mcnemar_test(paired).pvalue, 6)
    0.179565
    >>> round(pv.mcnemar_test(paired, method="mid-p").pvalue, 6)
    0.118469
    """
    paired_of("paired", paired)
    one_of("method", method, ("exact", "mid-p"))
    one_of("alternative", alternative, ("two-sided", "greater", "less"))
    t = paired.total().cases
    if any(float(value) != round(value) for value in t[:4]):
        raise InputError("paired: fractions of items cannot be tested; expected whole cases")
    only_a, only_b = int(t[0] + t[3]), int(t[1] + t[2])
    n = only_a + only_b
    name = f"McNemar, {method}"
    if n == 0:
        note = "no item is right for one system and wrong for the other"
        return SignificanceTest(name, float("nan"), 1.0, alternative, note=note)
    if alternative == "two-sided":
        if only_a == only_b:
            return SignificanceTest(name, only_b / n, 1.0, alternative)
        pvalue = 2 * _half_tail(max(only_a, only_b), n)
    else:
        pvalue = _half_tail(only_b if alternative == "greater" else only_a, n)
    if method == "mid-p":
        tied = float(half_binomial(np.array([only_b]), n)[0])
        pvalue -= tied * (1.0 if alternative == "two-sided" else 0.5)
    pvalue = min(max(pvalue, 0.0), 1.0)
    return SignificanceTest(name, only_b / n, pvalue, alternative)


def _half_tail(least: int, n: int) -> float:
    """P(X >= least) for X ~ Bin(n, ½), an incomplete beta function."""
    if least <= 0:
        return 1.0
    shapes = np.array(float(least)), np.array(float(n - least + 1))
    return float(_log_odds.cdf(*shapes, np.array(0.0)))
