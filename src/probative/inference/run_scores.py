"""What the scores of runs alone say: three tests that others use, beside the two questions.

They see one number per run and no units, so they speak of runs on this test set only. The
permutation test is exact: subsets of the runs are counted by halves, whose sums meet in the middle.
"""

from __future__ import annotations

import math
from itertools import combinations_with_replacement
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import special

from probative._validation import flag, numbers, open_probability, random_generator, whole_number
from probative.errors import InputError
from probative.results.runs import RunScoreTests

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from probative._types import RNG, Array

__all__ = ["almost_stochastic_order", "compare_run_scores", "permutation_pvalue"]

_MOST_EXACT = 36  # runs whose assignments are all counted: half of them have 2**18 subsets
_TIE = 1e-12  # scores are sums of rounded ratios: closer ones are the same
_MOST_RESAMPLES = 2**21  # pairs of resamples that are all gone through
_AT_ONCE = 2**22  # numbers in memory at once


def compare_run_scores(
    a: ArrayLike,
    b: ArrayLike,
    *,
    paired_runs: bool = False,
    level: float = 0.95,
    n_resamples: int = 10_000,
    rng: RNG | None = 0,
) -> RunScoreTests:
    """Compare the scores of the runs of two systems, one number per run.

    Parameters
    ----------
    a, b
        The scores.
    paired_runs
        Whether run i of A and run i of B belong together. The permutation test then exchanges
        within pairs, and Wilcoxon's signed ranks take the place of the Mann-Whitney test.
    level
        Of the almost stochastic order.
    n_resamples, rng
        For what cannot be enumerated.

    Examples
    --------
    >>> from probative.inference.run_scores import compare_run_scores
    >>> tests = compare_run_scores([0.70, 0.72, 0.71, 0.69, 0.73], [0.74, 0.76, 0.75, 0.72, 0.77])
    >>> round(tests.permutation_pvalue, 4), round(tests.rank_pvalue, 4)
    (0.0238, 0.0278)
    """
    from scipy import stats

    a, b = _scores("a", a), _scores("b", b)
    paired_runs = flag("paired_runs", paired_runs)
    if paired_runs and len(a) != len(b):
        raise InputError(f"paired_runs: {len(a)} runs and {len(b)}; expected as many of each")
    generator = random_generator(rng)
    p, assignments, exact = permutation_pvalue(
        a, b, paired_runs=paired_runs, n_resamples=n_resamples, rng=generator
    )
    if not paired_runs:
        rank_test = "mann-whitney"
        rank_p = float(stats.mannwhitneyu(a, b).pvalue)
    else:
        rank_test = "wilcoxon"
        rank_p = float(stats.wilcoxon(b, a).pvalue) if np.any(a != b) else 1.0
    orders = [
        almost_stochastic_order(x, y, level=level, n_resamples=n_resamples, rng=generator)
        for x, y in ((b, a), (a, b))
    ]
    above = np.sign(b[:, None] - a)
    return RunScoreTests(
        permutation_pvalue=p,
        assignments=assignments,
        exact=exact,
        rank_test=rank_test,
        rank_pvalue=rank_p,
        p_run_better=float(0.5 + 0.5 * above.mean()),
        eps_min=orders[0],
        eps_min_a=orders[1],
        level=open_probability("level", level),
    )


def permutation_pvalue(
    a: ArrayLike,
    b: ArrayLike,
    *,
    paired_runs: bool = False,
    n_resamples: int = 10_000,
    rng: RNG | None = 0,
) -> tuple[float, int, bool]:
    """The share of all assignments of runs to systems with means at least as far apart.

    Parameters
    ----------
    a, b
        The scores of the runs.
    paired_runs
        Whether only the two runs of a pair may change places.
    n_resamples, rng
        Where there are too many runs to count all assignments.

    Returns
    -------
    tuple
        The two-sided p-value, the number of assignments, and whether all of them were counted.

    Examples
    --------
    >>> from probative.inference.run_scores import permutation_pvalue
    >>> permutation_pvalue([1, 2, 3], [4, 5, 6])
    (0.1, 20, True)
    """
    a, b = _scores("a", a), _scores("b", b)
    n_resamples = whole_number("n_resamples", n_resamples)
    # a sum over those that go to B: of the scores, or of the differences within pairs
    values = b - a if paired_runs else np.concatenate([a, b])
    chosen = None if paired_runs else len(b)
    total = math.fsum(values)
    centre = total / 2 if paired_runs else total * len(b) / len(values)
    far = abs(math.fsum(values if paired_runs else b) - centre)
    far -= _TIE * max(1.0, float(np.sum(np.abs(values))))
    assignments = 2 ** len(values) if chosen is None else math.comb(len(values), chosen)
    if len(values) <= _MOST_EXACT:
        inside = _subsets_within(values, chosen, centre - far, centre + far) if far > 0 else 0
        return (assignments - inside) / assignments, assignments, True
    generator = random_generator(rng)
    sums = np.array([_random_sum(values, chosen, generator) for _ in range(n_resamples)])
    extreme = np.count_nonzero(np.abs(sums - centre) >= far)
    return float((extreme + 1) / (n_resamples + 1)), assignments, False


def _scores(name: str, scores: ArrayLike) -> Array:
    values = numbers(name, scores)
    if values.ndim != 1 or not len(values):
        raise InputError(f"{name}: shape {values.shape}; expected the scores of one run or more")
    if not np.all(np.isfinite(values)):
        raise InputError(f"{name}: the score of a run is undefined; expected numbers")
    return values


def _random_sum(values: Array, chosen: int | None, rng: np.random.Generator) -> float:
    if chosen is None:
        return float(values @ rng.integers(0, 2, len(values)))
    return float(rng.permutation(values)[:chosen].sum())


def _subsets_within(values: Array, chosen: int | None, low: float, high: float) -> int:
    """How many subsets (of so many values) have a sum strictly between two numbers."""
    half = len(values) // 2
    left, right = _sums_by_size(values[:half]), _sums_by_size(values[half:])
    if chosen is None:
        left, right = [np.concatenate(left)], [np.concatenate(right)]
        matching = [(left[0], right[0])]
    else:
        matching = [
            (own, right[chosen - k]) for k, own in enumerate(left) if 0 <= chosen - k < len(right)
        ]
    inside = 0
    for own, others in matching:
        ordered = np.sort(others)
        above = np.searchsorted(ordered, low - own, side="right")
        below = np.searchsorted(ordered, high - own, side="left")
        inside += int(np.maximum(below - above, 0).sum())
    return inside


def _sums_by_size(values: Array) -> list[Array]:
    """The sums of all subsets, by how many values they have."""
    sums = [np.zeros(1)]
    for value in values:
        longer = [own + value for own in sums]
        sums = [
            np.concatenate([*sums[k : k + 1], *(longer[k - 1 : k] if k else [])])
            for k in range(len(sums) + 1)
        ]
    return sums


def almost_stochastic_order(
    better: ArrayLike,
    worse: ArrayLike,
    *,
    level: float = 0.95,
    n_resamples: int = 10_000,
    rng: RNG | None = 0,
) -> float:
    """Say how far one set of scores is from being stochastically larger than another.

    The order is violated where a quantile of `worse` lies above that of `better`; the violation
    ratio is the share of the squared distance of the two quantile functions that lies there. The
    upper confidence limit of this ratio is returned: below 0.5, `better` is almost stochastically
    dominant; 0 is complete dominance.

    The ratio is an integral of step functions, and exact. Its bootstrap variance is exact, too, up
    to about two million pairs of resamples (seven runs of either system); beyond that it comes
    from random ones.

    Parameters
    ----------
    better, worse
        The scores of the runs.
    level
        The confidence.
    n_resamples, rng
        Random resamples, and a seed or generator for them.

    References
    ----------
    E. del Barrio, J. A. Cuesta-Albertos & C. Matrán, "An optimal transportation approach for
    assessing almost stochastic order", 2018. R. Dror, S. Shlomov & R. Reichart, "Deep Dominance",
    2019.

    Examples
    --------
    >>> from probative.inference.run_scores import almost_stochastic_order
    >>> almost_stochastic_order([0.74, 0.76, 0.75], [0.70, 0.72, 0.71])
    0.0
    >>> round(almost_stochastic_order([0.74, 0.70, 0.75], [0.71, 0.72, 0.70]), 3)
    0.349
    """
    better, worse = np.sort(_scores("better", better)), np.sort(_scores("worse", worse))
    level = open_probability("level", level)
    n_resamples = whole_number("n_resamples", n_resamples)
    ratio = float(_violation_ratios(better[None], worse[None])[0])
    every = [math.comb(2 * len(own) - 1, len(own)) for own in (better, worse)]
    if math.prod(every) <= _MOST_RESAMPLES:
        deviation = _exact_deviation(better, worse)
    else:
        generator = random_generator(rng)
        x, y = (
            np.sort(generator.choice(own, (n_resamples, len(own))), axis=1)
            for own in (better, worse)
        )
        deviation = float(np.std(_violation_ratios(x, y)))
    return float(np.clip(ratio + special.ndtri(level) * deviation, 0.0, 1.0))


def _violation_ratios(better: Array, worse: Array) -> Array:
    """Of sorted scores, row by row; a half where the two are equal."""
    (first, second), width = _steps(better.shape[-1], worse.shape[-1])
    gap = worse[..., second] - better[..., first]
    violated, distance = (width * np.maximum(gap, 0.0) ** 2).sum(-1), (width * gap**2).sum(-1)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(np.where(distance > 0, violated / distance, 0.5))


def _steps(n: int, m: int) -> tuple[tuple[Any, Any], Array]:
    """Where two quantile functions are constant: which order statistics they have, how long."""
    ends = np.unique(np.concatenate([np.arange(1, n + 1) * m, np.arange(1, m + 1) * n]))
    starts = np.concatenate([[0], ends[:-1]])
    return (starts // m, starts // n), (ends - starts) / (n * m)


def _exact_deviation(better: Array, worse: Array) -> float:
    """The standard deviation of the ratio over all resamples of both."""
    (x, p), (y, q) = _resamples(better), _resamples(worse)
    step = max(1, _AT_ONCE // (len(y) * (x.shape[1] + y.shape[1])))
    mean = square = 0.0
    for start in range(0, len(x), step):
        some = slice(start, start + step)
        ratios = _violation_ratios(x[some, None, :], y[None, :, :])
        mean += float(p[some] @ ratios @ q)
        square += float(p[some] @ ratios**2 @ q)
    return math.sqrt(max(0.0, square - mean**2))


def _resamples(scores: Array) -> tuple[Array, Array]:
    """All sorted resamples of sorted scores, and how likely each is."""
    n = len(scores)
    chosen = np.array(list(combinations_with_replacement(range(n), n)))
    repeats = (chosen[:, :, None] == np.arange(n)).sum(axis=1)
    log_p = special.gammaln(n + 1) - special.gammaln(repeats + 1).sum(axis=1) - n * math.log(n)
    return scores[chosen], np.exp(log_p)
