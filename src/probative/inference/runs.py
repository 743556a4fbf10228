"""Compare two systems with several runs each: these models, and the procedures behind them.

*These models*: only the test set is random. The counts of a unit are summed over the runs of a
system, and the sums are compared like two single systems. *These procedures*: a new run would
score differently, too. The difference of the mean run scores then varies with the units of the test
set, with the runs, and with their interaction (how single runs treat single units).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from itertools import combinations_with_replacement
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from probative._validation import RNG, Array, one_of, open_probability, positive, random_generator
from probative.counts import Counts, by_first_appearance, counts_of
from probative.errors import InputError
from probative.inference.intervals import interval
from probative.inference.posterior.student import StudentPosterior
from probative.inference.units import dependence_of_score, influence, student_quantile
from probative.metrics import METRICS, TABLE, contributions
from probative.results.runs import RepeatedScore, RunScoreTests, VarianceParts

if TYPE_CHECKING:
    from probative.results import Comparison


# --- These models, and the procedures behind them

_ONE_RUN = (
    "one run per system does not show the variation between runs: only these models are compared"
)
_TWO_RUNS = "two runs hardly show the variation between runs: expected three or more"
_UNDEFINED = "the score of a run is undefined: procedures are not compared"
_ONE_UNIT = "one unit does not show the variation between units: procedures are not compared"


@dataclass(frozen=True, eq=False)
class Runs:
    """The scores of one system's runs, and each unit's move of them."""

    # the last axis holds the units, the one before it the runs; others in front, many test sets
    scores: Array
    moves: Array  # a unit's move of the score of a run, (x - F·y)/Y
    left_out: Array  # change of the mean score when a unit is left out
    size: Array  # a unit's part in the denominator, averaged over the runs

    @classmethod
    def of(cls, x: Array, y: Array) -> Runs:
        """Build the runs from each unit's part in numerator and denominator of each run's score."""
        top, bottom = (part.sum(axis=-1, keepdims=True) for part in (x, y))
        with np.errstate(invalid="ignore", divide="ignore"):
            scores = (top / bottom)[..., 0]
        moves = influence(x, y, top, bottom)
        left_out = -influence(x, y, top, bottom, bottom - y).mean(axis=-2)
        return cls(scores, moves, left_out, y.mean(axis=-2))

    def minus(self, other: Runs) -> Runs:
        """Return the differences of paired runs, as the runs of one system."""
        return Runs(
            self.scores - other.scores,
            self.moves - other.moves,
            self.left_out - other.left_out,
            self.size + other.size,
        )

    @property
    def number(self) -> int:
        """Return the number of runs."""
        return int(self.scores.shape[-1])

    def interaction(self, units: Array) -> Array:
        """Return the part of that variance due to the interaction of runs with units."""
        own = np.swapaxes(self.moves, -1, -2)
        return np.asarray(units / (units - 1) * _variance(own).sum(axis=-1))


def _variance(values: Array) -> Array:
    """Return the variance along the last axis; exactly 0 for equal values and for a single one."""
    if values.shape[-1] == 1:
        return np.zeros(values.shape[:-1])
    return np.asarray(np.var(values - values[..., :1], axis=-1, ddof=1))


@dataclass(frozen=True, eq=False)
class Spread:
    """The variance of the difference of two mean scores between experiments."""

    estimate: Array  # B minus A
    units: Array  # the number of those that count in any score
    by_unit: Array  # jackknife variance of the difference over test sets with these runs
    unit_freedom: Array  # Kish's effective number of units less one
    numbers: tuple[int, ...]  # of runs of A and of B; one number if they are paired
    variances: tuple[Array, ...]  # of run scores (or paired differences) on this test set
    interactions: tuple[Array, ...]  # the part of it due to runs treating units differently

    @classmethod
    def of(cls, a: Runs, b: Runs, paired_runs: bool = False) -> Spread:
        """Compute the spread of two systems; variances need at least two runs of each."""
        size = a.size + b.size
        there = size > 0
        units = np.count_nonzero(there, axis=-1)
        moved = b.left_out - a.left_out
        with np.errstate(invalid="ignore", divide="ignore"):
            around = moved.sum(axis=-1, keepdims=True) / np.expand_dims(units, -1)
            squares = np.where(there, (moved - around) ** 2, 0.0).sum(axis=-1)
            freedom = size.sum(axis=-1) ** 2 / (size**2).sum(axis=-1) - 1
            sides = (b.minus(a),) if paired_runs else (a, b)
            return cls(
                b.scores.mean(axis=-1) - a.scores.mean(axis=-1),
                np.asarray(units),
                (units - 1) / units * squares,
                freedom,
                tuple(side.number for side in sides),
                tuple(_variance(side.scores) for side in sides),
                tuple(side.interaction(units) for side in sides),
            )

    def mean_squares(self) -> list[tuple[Array, Any]]:
        """Return the variances by units and of the mean scores, each with degrees of freedom."""
        # the interaction of runs with units is in both, so their sum is conservative
        runs = zip(self.variances, self.numbers, strict=True)
        return [(self.by_unit, self.unit_freedom), *((v / n, n - 1) for v, n in runs)]

    def on_a_new_test_set(self) -> list[tuple[Array, Any]]:
        """Return the variances of the difference of two new runs on a new test set."""
        # about the observed difference of means, whose own error is included
        repeated = sum(v / n for v, n in zip(self.interactions, self.numbers, strict=True))
        new = self.by_unit + np.maximum(0.0, self.by_unit - repeated)
        return [(new, self.unit_freedom), *self.on_this_test_set()]

    def on_this_test_set(self) -> list[tuple[Array, Any]]:
        """Return the variances of the difference of two new runs on this test set."""
        runs = zip(self.variances, self.numbers, strict=True)
        return [(v * (1 + 1 / n), n - 1) for v, n in runs]

    def worth(self) -> Array:
        """Return the effective number of independent runs of either system, for these models."""
        # the mean variance over test sets of the difference of two single runs, over that of the
        # difference of means: copies of one run count as one
        own = zip(self.interactions, self.numbers, strict=True)
        single = self.by_unit + sum(v * (1 - 1 / n) for v, n in own)
        with np.errstate(invalid="ignore", divide="ignore"):
            worth = single / self.by_unit
        return np.where(np.isfinite(worth), np.minimum(worth, math.lcm(*self.numbers)), 1.0)

    def parts(self) -> tuple[Array, list[Array], list[Array]]:
        """Return the variance of the mean difference due to units, runs and interaction."""
        sides = list(zip(self.variances, self.interactions, self.numbers, strict=True))
        both = [i / n for _, i, n in sides]
        runs = [np.maximum(0.0, v - i) / n for v, i, n in sides]
        return np.maximum(0.0, self.by_unit - sum(both)), runs, both


def add_squares(squares: list[tuple[Array, Any]]) -> tuple[Any, Any]:
    """Return the sum of independent variances and its Satterthwaite degrees of freedom."""
    total = np.asarray(sum(v for v, _ in squares))
    with np.errstate(invalid="ignore", divide="ignore"):
        freedom = 1 / sum((v / total) ** 2 / f for v, f in squares)
    return total, np.where(total > 0, freedom, np.inf)


def why_no_procedures(a: Runs, b: Runs, paired_runs: bool) -> str | None:
    """Return why nothing can be said about the procedures, or None if they can be compared."""
    if min(a.number, b.number) < 2:
        return _ONE_RUN
    if not np.all(np.isfinite(a.scores)) or not np.all(np.isfinite(b.scores)):
        return _UNDEFINED
    spread = Spread.of(a, b, paired_runs)
    return None if np.isfinite(spread.by_unit) and spread.unit_freedom > 0 else _ONE_UNIT


def compare_procedures(
    a: Runs, b: Runs, models: Comparison, paired_runs: bool, most: float
) -> Comparison:
    """Compare the procedures, given the comparison of the models that they trained."""
    # New runs only add uncertainty: the interval reaches at least as far as the models' own, and
    # the p-value is no smaller than that of the exact test.
    spread = Spread.of(a, b, paired_runs)
    estimate = float(spread.estimate)
    variance, freedom = map(float, add_squares(spread.mean_squares()))
    deviation = math.sqrt(variance)
    reach = float(student_quantile(models.level, freedom)) * deviation
    alone = StudentPosterior(estimate, deviation, freedom)
    p_student = 2 * min(float(alone.cdf(0.0)), float(alone.sf(0.0)))
    new_variance, new_freedom = map(float, add_squares(spread.on_a_new_test_set()))
    new_run = StudentPosterior(estimate, math.sqrt(new_variance), new_freedom)
    posterior = StudentPosterior(estimate, deviation, freedom, models.posterior)
    a_better, equivalent, b_better = posterior.probabilities(models.rope)
    units, runs, both = spread.parts()
    # paired runs have one part for both systems
    (runs_a, runs_b), (both_a, both_b) = ((*map(float, part), 0.0)[:2] for part in (runs, both))
    parts = VarianceParts(
        units=float(units),
        runs_a=runs_a,
        runs_b=runs_b,
        interaction=both_a + both_b,
        n_units=len(a.size),
        n_runs_a=a.number,
        n_runs_b=b.number,
        interaction_a=both_a,
        interaction_b=both_b,
        paired_runs=paired_runs,
    )
    return replace(
        models,
        question="procedures",
        by=f"{models.by} and run",
        difference=estimate,
        low=max(-most, estimate - max(reach, models.difference - models.low)),
        high=min(most, estimate + max(reach, models.high - models.difference)),
        method="satterthwaite",
        pvalue=max(min(1.0, p_student), models.pvalue),
        p_unit=math.nan,
        test="student",
        p_a_better=a_better,
        p_equivalent=equivalent,
        p_b_better=b_better,
        posterior=posterior,
        score_a=float(a.scores.mean()),
        score_b=float(b.scores.mean()),
        design_effect=None,
        note=_TWO_RUNS if min(a.number, b.number) < 3 else None,
        draws=None,
        pvalue_low=None,
        pvalue_high=None,
        null=None,
        variance=parts,
        p_new_run_better=float(new_run.sf(0.0)),
        standard_error=deviation,
        degrees_of_freedom=freedom,
    )


# --- Tests on the scores of runs alone, one number per run
#
# They see no units and speak of runs on this test set only. The exact permutation test counts
# subsets of the runs by halves, whose sums meet in the middle.

MOST_RUNS_COUNTED = 36  # with up to so many runs all assignments are counted: 2**18 per half
_TIE = 1e-12  # scores are sums of rounded ratios: means this close are equal
_MOST_RESAMPLES_ENUMERATED = 2**21  # pairs of resamples; beyond, they are drawn at random
_NUMBERS_IN_MEMORY = 2**22  # at once
_NUMBERS_IN_CACHE = 2**18  # at once: more are slower


def compare_run_scores(
    a: ArrayLike,
    b: ArrayLike,
    *,
    paired_runs: bool = False,
    level: float = 0.95,
    n_resamples: int = 10_000,
    rng: RNG | None = 0,
) -> RunScoreTests:
    """Compare the scores of the runs of two systems, one finite number per run."""
    from scipy import stats

    a, b = (np.asarray(part, dtype=np.float64) for part in (a, b))
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
        level=level,
    )


def permutation_pvalue(
    a: ArrayLike,
    b: ArrayLike,
    *,
    paired_runs: bool = False,
    n_resamples: int = 10_000,
    rng: RNG | None = 0,
) -> tuple[float, int, bool]:
    """Compute the p-value of the permutation test of the difference of mean run scores."""
    a, b = (np.asarray(part, dtype=np.float64) for part in (a, b))
    # the statistic is the sum of B's scores, or of the differences within exchanged pairs
    values = b - a if paired_runs else np.concatenate([a, b])
    chosen = None if paired_runs else len(b)
    total = math.fsum(values)
    centre = total / 2 if paired_runs else total * len(b) / len(values)
    far = abs(math.fsum(values if paired_runs else b) - centre)
    far -= _TIE * max(1.0, float(np.sum(np.abs(values))))
    assignments = 2 ** len(values) if chosen is None else math.comb(len(values), chosen)
    if len(values) <= MOST_RUNS_COUNTED:
        inside = _subsets_within(values, chosen, centre - far, centre + far) if far > 0 else 0
        return (assignments - inside) / assignments, assignments, True
    generator = random_generator(rng)
    if chosen is None:
        drawn = (values @ generator.integers(0, 2, len(values)) for _ in range(n_resamples))
    else:
        drawn = (generator.permutation(values)[:chosen].sum() for _ in range(n_resamples))
    sums = np.fromiter(drawn, float, n_resamples)
    extreme = np.count_nonzero(np.abs(sums - centre) >= far)
    return float((extreme + 1) / (n_resamples + 1)), assignments, False


def _subsets_within(values: Array, chosen: int | None, low: float, high: float) -> int:
    """Count the subsets (of size `chosen`, if given) with a sum strictly between two numbers."""
    half = len(values) // 2
    left, right = _sums_by_size(values[:half]), _sums_by_size(values[half:])
    if chosen is None:
        matching = [(np.concatenate(left), np.concatenate(right))]
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
    """Return the sums of all subsets, grouped by the number of values in them."""
    sums = [np.zeros(1)]
    for value in values:
        empty = [np.zeros(0)]
        pairs = zip(sums + empty, empty + [own + value for own in sums], strict=True)
        sums = [np.concatenate(pair) for pair in pairs]
    return sums


def almost_stochastic_order(
    better: ArrayLike,
    worse: ArrayLike,
    *,
    level: float = 0.95,
    n_resamples: int = 10_000,
    rng: RNG | None = 0,
) -> float:
    """Compute the upper confidence limit of the violation of stochastic order (ASO)."""
    # The order is violated where a quantile of `worse` lies above that of `better`; the ratio is
    # the part of the squared distance of the two quantile functions that lies there. It and, for
    # few runs, its bootstrap variance are exact.
    # E. del Barrio, J. A. Cuesta-Albertos & C. Matrán, "An optimal transportation approach for
    # assessing almost stochastic order", 2018. R. Dror, S. Shlomov & R. Reichart, "Deep Dominance",
    # 2019.
    better, worse = (np.sort(np.asarray(part, dtype=np.float64)) for part in (better, worse))
    ratio = float(_violation_ratios(better[None], worse[None])[0])
    every = [math.comb(2 * len(own) - 1, len(own)) for own in (better, worse)]
    if math.prod(every) <= _MOST_RESAMPLES_ENUMERATED:
        deviation = _exact_deviation(better, worse)
    else:
        generator = random_generator(rng)
        first = generator.integers(len(better), size=(n_resamples, len(better)), dtype=np.int32)
        step = max(1, _NUMBERS_IN_CACHE // (len(better) + len(worse)))
        ratios = []
        for start in range(0, n_resamples, step):
            x = np.sort(better[first[start : start + step]], axis=1)
            y = np.sort(generator.choice(worse, (len(x), len(worse))), axis=1)
            ratios.append(_violation_ratios(x, y))
        deviation = float(np.std(np.concatenate(ratios)))
    return float(np.clip(ratio + special.ndtri(level) * deviation, 0.0, 1.0))


def _violation_ratios(better: Array, worse: Array) -> Array:
    """Return the violation ratio of sorted scores, row by row; a half if both are equal."""
    (first, second), width = _steps(better.shape[-1], worse.shape[-1])
    gap = worse[..., second] - better[..., first]
    violated, distance = (width * np.maximum(gap, 0.0) ** 2).sum(-1), (width * gap**2).sum(-1)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(np.where(distance > 0, violated / distance, 0.5))


def _steps(n: int, m: int) -> tuple[tuple[Any, Any], Array]:
    """Return the pieces where two quantile functions are constant: order statistics, widths."""
    ends = np.unique(np.concatenate([np.arange(1, n + 1) * m, np.arange(1, m + 1) * n]))
    starts = np.concatenate([[0], ends[:-1]])
    return (starts // m, starts // n), (ends - starts) / (n * m)


def _exact_deviation(better: Array, worse: Array) -> float:
    """Return the standard deviation of the ratio over all resamples of both score lists."""
    (x, p), (y, q) = _resamples(better), _resamples(worse)
    step = max(1, _NUMBERS_IN_MEMORY // (len(y) * (x.shape[1] + y.shape[1])))
    mean = square = 0.0
    for start in range(0, len(x), step):
        some = slice(start, start + step)
        ratios = _violation_ratios(x[some, None, :], y[None, :, :])
        mean += float(p[some] @ ratios @ q)
        square += float(p[some] @ ratios**2 @ q)
    return math.sqrt(max(0.0, square - mean**2))


def _resamples(scores: Array) -> tuple[Array, Array]:
    """Return all sorted resamples of sorted scores, and their probabilities."""
    n = len(scores)
    chosen = np.array(list(combinations_with_replacement(range(n), n)))
    repeats = (chosen[:, :, None] == np.arange(n)).sum(axis=1)
    log_p = special.gammaln(n + 1) - special.gammaln(repeats + 1).sum(axis=1) - n * math.log(n)
    return scores[chosen], np.exp(log_p)


# --- One model that answers each sample several times
#
# Answers to one sample are correlated, so samples are the units; a sample counts with the mean of
# its answers, however many there are. The variance of the score has two parts: the choice of
# samples, and the answers that the model happened to give. More answers reduce only the second
# part, more samples reduce both.

_NO_VARIANCE = 1e-28  # a smaller variance is rounding
_ONCE = "no sample was answered twice: the variation between answers is unknown"


def score_repeats(
    counts: Counts,
    metric: str = "f1",
    *,
    samples: ArrayLike | None = None,
    level: float = 0.95,
    beta: float = 1.0,
) -> RepeatedScore:
    """Score a model that answered each sample several times."""
    one_of("metric", metric, METRICS)
    level = open_probability("level", level)
    beta = positive("beta", beta) if TABLE[metric].depends_on_beta else 1.0
    rows, sample, n = _answers(counts, samples)
    answers = np.bincount(sample, minlength=n).astype(np.float64)
    most = int(answers.max())
    # the mean of a sample times the largest number of answers: whole counts if all have as many
    sums = [np.bincount(sample, cell, minlength=n) for cell in rows._cells()]
    by_sample = Counts(*(total * (most / answers) for total in sums))
    limits = interval(by_sample, metric, level=level, beta=beta, clustered=True)
    share = _share_of_answers(rows, sample, answers, by_sample / most, metric, beta)
    effect = dependence_of_score(by_sample, metric, beta=beta)
    notes = [note for note in (limits.note, _ONCE if most < 2 else None) if note]
    return RepeatedScore(
        metric,
        level,
        float(limits.estimate),
        float(limits.low),
        float(limits.high),
        limits.method,
        n,
        len(sample),
        1 / float(np.mean(1 / answers)),
        effect.design_effect,
        share,
        "; ".join(map(str, notes)) or None,
    )


def pass_rate(
    passed: ArrayLike, *, samples: ArrayLike | None = None, level: float = 0.95
) -> RepeatedScore:
    """Compute the share of answers that pass, with several answers to each sample."""
    share = np.asarray(passed, dtype=np.float64)
    if not np.all((share >= 0) & (share <= 1)):
        raise InputError("passed: expected numbers between 0 and 1")
    nothing = np.zeros_like(share)
    return score_repeats(
        Counts(share, nothing, 1 - share, nothing), "accuracy", samples=samples, level=level
    )


def _answers(counts: Counts, samples: ArrayLike | None) -> tuple[Counts, NDArray[np.intp], int]:
    """Return one row per answer, the code of its sample, and the number of samples."""
    shape = counts_of("counts", counts).shape
    if samples is None:
        if len(shape) != 2 or 0 in shape:
            raise InputError(
                f"counts: shape {shape}; expected samples by answers, or one row per answer with "
                f"samples"
            )
        return counts.reshape(-1), np.repeat(np.arange(shape[0]), shape[1]), shape[0]
    if len(shape) != 1 or not shape[0]:
        raise InputError(f"counts: shape {shape}; with samples, expected one row per answer")
    sample, n = by_first_appearance("samples", samples)
    if len(sample) != shape[0]:
        raise InputError(f"samples: {len(sample)} of them, but counts has {shape[0]} rows")
    return counts, sample, n


def _share_of_answers(
    rows: Counts, sample: NDArray[np.intp], answers: Array, means: Counts, metric: str, beta: float
) -> float | None:
    """Return the share of the variance that infinitely many answers per sample would remove."""
    x, y = contributions(rows, metric, at=means.sum(), beta=beta)
    top, bottom = contributions(means, metric, beta=beta)
    total = float(np.sum(bottom))
    if answers.max() < 2 or not total > 0:
        return None
    f = float(np.sum(top)) / total
    moves, typical = np.asarray((x - f * y) / total), np.asarray((top - f * bottom) / total)
    n = int(np.count_nonzero(bottom > 0))
    if n < 2:
        return None
    variance = float(n / (n - 1) * np.sum(typical**2))
    # the spread of samples with one answer is unknown: use the mean of the others
    twice = answers > 1
    around = np.bincount(sample, (moves - typical[sample]) ** 2, minlength=len(answers))
    spread = around[twice] / (answers[twice] - 1)
    within = np.full(len(answers), float(spread.mean()))
    within[twice] = spread
    removable = float(np.sum(within / answers))
    if max(removable, variance) < _NO_VARIANCE:
        return None
    return min(1.0, removable / variance) if removable < variance else 1.0
