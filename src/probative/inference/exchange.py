"""Test by exact random exchange whether B is better than A on this test set."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy import special

from probative._validation import (
    RNG,
    Array,
    accepts_seed,
    one_of,
    positive,
    random_generator,
    whole_number,
)
from probative.counts import PairedCounts, paired_of
from probative.errors import InputError
from probative.inference.posterior.log_odds import stirling_rest
from probative.inference.sampled import sequential_pvalue, symmetric_histogram
from probative.inference.score_differences import ScoreDifference, score_difference
from probative.inference.walks import (
    BYTES_A_FREQUENCY,
    Convolution,
    Inversion,
    Lattice,
    TiltedWalk,
    TooLargeError,
    Walk,
    significant_share,
    tilt_onto,
    walk_of_units,
)
from probative.metrics import METRICS, score
from probative.options import ExchangeOptions
from probative.results import NullDistribution, RandomizationTest, SignificanceTest

if TYPE_CHECKING:
    from probative.inference.score_differences import Exact

    Credits = Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]


# --- Probabilities of Bin(n, ½)


def half_binomial(k: NDArray[np.int64], n: int) -> NDArray[np.float64]:
    """Compute probabilities of Bin(n, ½) to full relative accuracy, at any n and in any tail."""
    # Loader's form: deviance and Stirling errors; unlike differences of log-gammas, nothing
    # cancels.
    inner, total = k[(k > 0) & (k < n)].astype(np.float64), np.array([max(n, 1.0)])
    y = (2 * inner - n) / n
    deviance = n * (y * np.arctanh(y) + 0.5 * np.log1p(-y * y))
    error = stirling_rest(total) - stirling_rest(inner) - stirling_rest(n - inner)
    probability = np.full(len(k), 0.5**n if n < 1074 else 0.0)
    probability[(k > 0) & (k < n)] = np.exp(error - deviance) * np.sqrt(
        n / (2 * np.pi * inner * (n - inner))
    )
    return probability


# --- Randomisation test by unit: an exact tail probability of a lattice walk

_MOST_OUTCOMES_ENUMERATED = 2**12  # up to so many, enumerating is quicker than convolving
_NUMBERS_AT_ONCE = 2**20
_BYTES_PER_CELL = 32
_ACCURATE_WITHOUT_TILT = 1e-12  # a larger probability has enough digits without a tilt
# per coin and per step; only their ratio matters
_SECONDS_PER_CELL, _SECONDS_PER_FREQUENCY = 4e-9, 1e-7


class UnitExchange:
    """The exchange of every unit with probability ½."""

    def __init__(self, walk: Walk, gap: ScoreDifference, memory_limit: float) -> None:
        self.walk, self.gap, self.memory_limit = walk, gap, memory_limit
        if gap.line is not None:  # one number determines the difference
            line = walk.projected(*gap.line)
            # with large weights the line may have more points than the plane
            if _points(line) <= _points(walk) or max(map(abs, gap.line)) <= 1:
                self.walk, self.gap = line, gap.projected()

    def tail(self, threshold: Exact) -> float:
        """Return P(difference >= threshold)."""
        if self.walk.has_at_most(_MOST_OUTCOMES_ENUMERATED):
            ends, probability = self.walk.base[None, :], np.ones(1)
            for step, n in zip(self.walk.steps, self.walk.times.tolist(), strict=True):
                taken = np.arange(n + 1)
                ends = (ends[:, None, :] + taken[:, None] * step).reshape(-1, 2)
                probability = np.outer(probability, half_binomial(taken, n)).reshape(-1)
            return float(np.sum(probability[self.gap.at_least(ends[:, 0], ends[:, 1], threshold)]))
        tilted = self._tilted(tilt_onto(self.walk, self.gap, threshold))(threshold)
        if not self.gap.may_jump:
            return tilted
        # the tilt may lead away from some extreme outcomes and miss them
        try:
            plain = self._tilted(np.zeros(2))(threshold)
        except TooLargeError:
            return tilted
        return max(tilted, plain) if plain > _ACCURATE_WITHOUT_TILT else tilted

    def _tilted(self, tau: Array) -> Callable[[Exact], float]:
        """Return a function for P(difference >= threshold), computed on a tilted walk."""
        walk = TiltedWalk(self.walk, tau)
        # sum over regions by the quicker method: convolution or inversion
        cells = float(len(walk.rows) * len(walk.columns))
        frequencies = cells / 2 * significant_share(walk.times, walk.tilt)
        by_coins = _SECONDS_PER_CELL * float(np.sum(walk.times)) * cells
        by_frequencies = _SECONDS_PER_FREQUENCY * len(walk.times) * frequencies
        if by_coins < by_frequencies and cells * _BYTES_PER_CELL <= self.memory_limit:
            ready: Convolution | Inversion = Convolution(walk)
        elif frequencies * BYTES_A_FREQUENCY > self.memory_limit:
            raise TooLargeError(min(cells * _BYTES_PER_CELL, frequencies * BYTES_A_FREQUENCY))
        else:
            ready = Inversion(walk, self.memory_limit)
        return lambda threshold: ready.tail(walk.first_extreme(self.gap, threshold))

    def tails(self, near: Exact | None = None) -> Callable[[Exact], float]:
        """Return a function for P(difference >= threshold), with a small absolute error."""
        if self.walk.has_at_most(_MOST_OUTCOMES_ENUMERATED):
            return self.tail
        return self._tilted(np.zeros(2) if near is None else tilt_onto(self.walk, self.gap, near))

    def sample(self, n_resamples: int, rng: np.random.Generator) -> Credits:
        """Draw the positives that A is credited with: a binomial draw per distinct step."""
        at_once = max(1, _NUMBERS_AT_ONCE // max(1, len(self.walk.times)))
        for start in range(0, n_resamples, at_once):
            size = (min(at_once, n_resamples - start), len(self.walk.times))
            ends = self.walk.base + rng.binomial(self.walk.times, 0.5, size) @ self.walk.steps
            yield ends[:, 0], ends[:, 1]


def _points(walk: Walk) -> float:
    """Return roughly the number of lattice points that a walk visits often."""
    lattice = Lattice(walk)
    deviations = np.sqrt(walk.times @ lattice.coordinates(walk.steps).astype(np.float64) ** 2)
    return float(np.prod(1 + 9 * deviations))


# --- Randomisation test by item: an exact sum over two binomials
#
# Random exchanges of items credit the baseline with t4 + U true and t5 + V false positives, where
# U ~ Bin(t0 + t2, ½) and V ~ Bin(t1 + t3, ½). For every U the extreme V are a tail.

_REACH = 9.5  # standard deviations, within which all but 1e-19 of the probability lies
_LEFT_OUT = 1e-15  # share of a tail that may lie beyond
_BYTES_PER_VALUE = 100


class ItemExchange(UnitExchange):
    """The exchange of every item of a table with probability ½."""

    def __init__(self, cases: Array, gap: ScoreDifference, memory_limit: float) -> None:
        t, self.gap, self.memory_limit = cases.astype(np.int64), gap, memory_limit
        self.walk = Walk(np.eye(2, dtype=np.int64), t[:2] + t[2:4], t[4:6])

    def tail(self, threshold: Exact) -> float:
        """Return P(difference >= threshold)."""
        pvalue = self._tail_within(_REACH, threshold)
        # 4·exp(-reach²/2), a bound on the probability beyond, is small enough from here on
        reach = math.sqrt(2 * (math.log(4 / _LEFT_OUT) - math.log(max(pvalue, 5e-324))))
        return pvalue if reach <= _REACH else self._tail_within(reach, threshold)

    def tails(self, near: Exact | None = None) -> Callable[[Exact], float]:  # noqa: ARG002
        """Return the function `tail`, for many thresholds."""
        return self.tail

    def sample(self, n_resamples: int, rng: np.random.Generator) -> Credits:
        """Draw the true and false positives that A is credited with."""
        drawn = (rng.binomial(number, 0.5, n_resamples) for number in self.walk.times)
        x, f = (base + own for base, own in zip(self.walk.base, drawn, strict=True))
        yield x, f

    def _tail_within(self, reach: float, threshold: Exact) -> float:
        """Return the tail, summed within `reach` standard deviations."""
        numbers, (x, f) = self.walk.times.tolist(), self.walk.base
        needed = _BYTES_PER_VALUE * reach * math.sqrt(max(numbers))
        if needed > self.memory_limit:
            raise TooLargeError(needed)
        u, v = (_window(n, reach) for n in numbers)
        tail_of_v = np.append(np.cumsum(half_binomial(v, numbers[1])[::-1])[::-1], 0.0)
        first = self.gap.first_extreme(x + u, lambda v: f + v, int(v[0]), int(v[-1]), threshold)
        return float(np.sum(half_binomial(u, numbers[0]) * tail_of_v[first - v[0]]))


def _window(n: int, reach: float) -> NDArray[np.int64]:
    """Return the values of Bin(n, ½) within `reach` standard deviations of the mean."""
    distance = math.ceil(reach * math.sqrt(n) / 2) + 1
    return np.arange(max(0, n // 2 - distance), min(n, n // 2 + distance) + 1)


# --- The public randomisation test

_ALTERNATIVES = ("two-sided", "greater", "less")

# the histogram of the null distribution
_DEVIATIONS_SHOWN, _BINS_PER_SIDE = 4.5, 30


@accepts_seed
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
    """Test exactly whether two systems are exchangeable.

    Under the null hypothesis, exchanging the outputs of A and B on any sentence changes nothing in
    distribution. The p-value is the share of all exchanges whose difference of scores is at least
    as extreme as the observed one. Ties count as extreme; integer arithmetic decides them.

    Parameters
    ----------
    paired
        The cases of the two systems; whole numbers. Units may hold halves if half an item can be
        right; they are exchanged as they are.
    metric
        One of precision, recall, f1, fbeta, jaccard, accuracy, specificity, npv,
        balanced_accuracy, mcc, kappa, informedness, markedness, fowlkes_mallows. Given gold, each
        of them is a function of a system's true and false positives.
    by
        "unit" exchanges whole units (sentences, documents), "item" single items. By default units,
        if there are any. Items of one sentence are seldom independent: a test by item then finds
        too many differences.
    alternative
        "two-sided"; "greater", B is better; "less", B is worse.
    method
        "exact"; "sampled", with random exchanges; "auto", exact unless it would need more than
        `memory_limit`.
    n_resamples, rng
        The number of exchanges to draw if they are sampled, and a seed or generator for them. By
        default drawing stops when it is clear whether the p-value exceeds 0.05 and 0.01, after a
        million exchanges at most.
    beta
        The weight of recall in F-beta, read as the decimal that it prints as.
    null
        True to return the null distribution, too, for plotting.
    memory_limit
        The number of bytes that an exact test may use for its tables.

    Returns
    -------
    RandomizationTest
        The `statistic`, B minus A, and its `pvalue`. The relative error of the p-value is about
        1e-12 by item and at most 1e-10 by unit, whatever its size; below 1e-300 it is 0.

    Notes
    -----
    A small p-value shows that chance alone would rarely produce such a difference on these units.
    It is not the probability that the systems are equally good. It shows neither how large the
    difference is, nor anything about test sets that these units do not represent.

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
    units = paired_of("paired", paired).has_units
    by = ("unit" if units else "item") if by is None else one_of("by", by, ("unit", "item"))
    if by == "unit" and not units:
        raise InputError("by: 'unit' needs one row per unit, and there is one table")
    given = paired.cases
    if by == "unit" and np.any(given != np.round(given)):
        paired = paired * 2  # units may hold halves, and doubling changes no score
    broken = given[paired.cases != np.round(paired.cases)]
    if broken.size:
        raise InputError(
            f"paired: {broken.flat[0]:g} of an item cannot be exchanged; expected whole cases"
        )
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
    if by == "item":
        exchange: UnitExchange = ItemExchange(table.cases, game, memory_limit)
    else:
        number = paired.multiplicity
        number = np.ones(len(paired.cases), dtype=np.int64) if number is None else number
        exchange = UnitExchange(walk_of_units(paired.cases, number), game, memory_limit)
    notes = [
        f"the {metric} of {name} is undefined and counts as 0"
        for name, counts in (("A", table.a), ("B", table.b))
        if math.isnan(score(counts, metric, beta=beta))
    ]
    found: dict[str, Any] = {}
    choices: dict[str, Any] = {"alternative": alternative, "beta": beta}
    if method != "sampled":
        try:
            found = {
                "method": "exact",
                "pvalue": exact_pvalue(exchange, observed, alternative),
                "null": null_distribution(exchange, observed) if null else None,
            }
        except TooLargeError as problem:
            if method == "exact":
                raise InputError(
                    f"memory_limit: the exact test needs {problem}, and "
                    f"{memory_limit / 2**20:,.0f} MiB are allowed; expected more, or "
                    f"method='sampled'"
                ) from None
            notes.append(f"sampled, because the exact test needs {problem}")
    if not found:
        differences: list[Array] = []
        draw = drawing(exchange, observed, alternative, differences if null else None)
        own = sequential_pvalue(draw, n_resamples=n_resamples, rng=generator, n_jobs=-1)
        notes.append(str(own))
        choices |= {"n_resamples": n_resamples, "rng": rng}
        found = {
            "method": "sampled",
            "pvalue": own.pvalue,
            "n_resamples": own.draws,
            "standard_error": own.standard_error,
            "pvalue_low": own.low,
            "pvalue_high": own.high,
            "null": null_distribution(exchange, observed, differences) if null else None,
        }
    elif found["pvalue"] == 0:
        notes.append("the p-value is not 0 but below 1e-300")
    return RandomizationTest(
        metric=metric,
        alternative=alternative,
        by=by,
        statistic=float(observed),
        n_units=paired.n_units if by == "unit" else int(table.cases.sum()),
        note="; ".join(notes) or None,
        signature=ExchangeOptions(**choices).signature(
            "randomization-test", metric, f"{found['method']}-by-{by}"
        ),
        **found,
    )


def exact_pvalue(exchange: UnitExchange, observed: Exact, alternative: str) -> float:
    """Compute the exact p-value of the observed difference, symmetric under the null hypothesis."""
    if alternative == "two-sided":
        value = 1.0 if observed == 0 else 2 * exchange.tail(abs(observed))
    else:
        value = exchange.tail(observed if alternative == "greater" else -observed)
    return min(1.0, max(0.0, value))


def drawing(
    exchange: UnitExchange,
    observed: Exact,
    alternative: str,
    differences: list[NDArray[np.float64]] | None = None,
) -> Callable[[np.random.Generator, int], int]:
    """Return a function that draws exchanges, keeps their differences and counts extremes."""
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


def _edges(exchange: UnitExchange, observed: Exact) -> list[Fraction]:
    """Return equally spaced positive bin edges, one of them at the observed difference."""
    # differences that come in steps lie half-way between edges, so that all bins hold equally many
    if not isinstance(observed, Fraction):  # an irrational number is rounded towards 0
        observed = Fraction(math.nextafter(float(observed), 0.0) * (1 - 1e-15))
    walk, gap = exchange.walk, exchange.gap
    slope = walk.steps @ gap.gradient(*walk.centre)
    deviation = float(np.sqrt(walk.times @ slope**2) / 2)  # roughly
    span = max(_DEVIATIONS_SHOWN * deviation, 1.2 * abs(float(observed)))
    if span == 0:
        return [Fraction(1)]
    width = Fraction(span) / _BINS_PER_SIDE
    step = gap.spacing(walk.steps[walk.times > 0].tolist())
    if step:
        width = step * max(1, round(width / step))
    elif observed:
        width = abs(observed) / max(1, round(abs(observed) / width))
    first = (abs(observed) - step / 2) % width or width
    return [first + width * k for k in range(max(1, math.ceil((span - first) / width) + 1))]


def null_distribution(
    exchange: UnitExchange, observed: Exact, differences: list[Array] | None = None
) -> NullDistribution:
    """Compute the null distribution as a histogram, exactly or from sampled differences."""
    edges = _edges(exchange, observed)
    positive_edges = np.array([float(edge) for edge in edges])
    if differences is None:
        tail = exchange.tails()
        tails = np.array([tail(edge) for edge in edges])
    else:
        size = np.sort(np.abs(np.concatenate(differences)))
        # a difference within rounding error of an edge counts as on the edge
        tails = (1 - np.searchsorted(size, positive_edges * (1 - 1e-12)) / len(size)) / 2
    return symmetric_histogram(positive_edges, tails)


# --- McNemar's test of the accuracies of two systems


def mcnemar_test(
    paired: PairedCounts, *, method: str = "exact", alternative: str = "two-sided"
) -> SignificanceTest:
    """Compute McNemar's test of the accuracies of two systems.

    Only the items that one system gets right and the other wrong matter; if the systems are
    equally good, each of them is a fair coin. The exact test is the randomisation test of
    accuracy by item. Items are assumed to be independent: if they come in sentences, use
    `randomization_test` by unit.

    Parameters
    ----------
    paired
        The cases of the two systems; whole numbers. Units are added up.
    method
        "exact", the binomial test; "mid-p", which counts ties half: it is less conservative, and
        its size may slightly exceed the nominal one.
    alternative
        "two-sided"; "greater", B is better; "less", B is worse.

    Returns
    -------
    SignificanceTest
        `statistic` is the share of B among the items that only one system gets right.

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
    one_of("alternative", alternative, _ALTERNATIVES)
    t = paired.total().cases
    if any(float(value) != round(value) for value in t[:4]):
        raise InputError("paired: fractions of items cannot be tested; expected whole cases")
    only_a, only_b = int(t[0] + t[3]), int(t[1] + t[2])
    n = only_a + only_b
    name = f"McNemar, {method}"
    if n == 0:
        note = "no item is right for one system and wrong for the other"
        return SignificanceTest(name, float("nan"), 1.0, alternative, note=note)
    sides = 2 if alternative == "two-sided" else 1
    extreme = {"two-sided": max(only_a, only_b), "greater": only_b, "less": only_a}[alternative]
    # P(V >= extreme) for V ~ Bin(n, ½)
    pvalue = sides * float(special.betainc(extreme, n - extreme + 1, 0.5)) if extreme else 1.0
    if method == "mid-p":
        pvalue -= sides / 2 * float(half_binomial(np.array([only_b]), n)[0])
    if sides == 2 and only_a == only_b:
        pvalue = 1.0
    return SignificanceTest(name, only_b / n, min(max(pvalue, 0.0), 1.0), alternative)
