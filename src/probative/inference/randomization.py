"""Randomisation tests: is B better than A on this test set?"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from probative._validation import one_of, positive, random_generator, whole_number
from probative.counts import PairedCounts, paired_of
from probative.errors import InputError
from probative.inference._exchange_items import ItemExchange
from probative.inference._exchange_units import UnitExchange
from probative.inference._score_difference import score_difference
from probative.inference._spectrum import TooLargeError
from probative.inference._walk import walk_of_units
from probative.inference.sequential_pvalue import sequential_pvalue
from probative.metrics import METRICS, score
from probative.options import ExchangeOptions
from probative.results import NullDistribution, RandomizationTest

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from probative._types import RNG
    from probative.inference._score_difference import Exact

__all__ = ["ALTERNATIVES", "drawing", "exact_pvalue", "randomization_test"]

ALTERNATIVES = ("two-sided", "greater", "less")

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
    one_of("alternative", alternative, ALTERNATIVES)
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
