"""Compute the Bayes test: the probability that B's score is higher than A's."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from probative._validation import (
    RNG,
    accepts_seed,
    fraction,
    one_of,
    open_probability,
    random_generator,
)
from probative.counts import Counts, PairedCounts
from probative.errors import InputError
from probative.inference.crossval import (
    TIE,
    Weight,
    effective_counts,
    fold_design_effect,
    fold_weight,
    integrated,
    with_training_variance,
)
from probative.inference.intervals import interval
from probative.inference.posterior.independent import (
    CompositeIndependentPosterior,
    IndependentPosterior,
    computed,
)
from probative.inference.posterior.paired import PairedPosterior, paired_posterior
from probative.inference.posterior.single import (
    LEAST_PRIOR,
    CompositePosterior,
    Posterior,
    plain,
    posterior,
    prior_weight,
    recall_weight,
)
from probative.inference.posterior.student import ClusteredPosterior, posterior_of_difference
from probative.metrics import METRICS, TABLE, score
from probative.options import BayesOptions
from probative.results import BayesTest

if TYPE_CHECKING:
    Gap = (
        IndependentPosterior | CompositeIndependentPosterior | PairedPosterior | ClusteredPosterior
    )

_METHODS = ("exact", "sampled")


@accepts_seed
def bayes_test(
    a: Counts | PairedCounts | Sequence[Counts] | Sequence[PairedCounts],
    b: Counts | Sequence[Counts] | str | None = None,
    metric: str = "f1",
    *,
    rope: float = 0.0,
    prior: float = 1.0,
    weight: Weight = "effective",
    level: float = 0.95,
    beta: float = 1.0,
    method: str = "exact",
    n_resamples: int = 1_000_000,
    rng: RNG | None = None,
    training_variance: bool = False,
) -> BayesTest:
    """Test whether a score of B is higher than that of A, by their posterior distributions.

    H0 is that B's score is at most A's, H1 that it is higher.

    Parameters
    ----------
    a, b
        Counts of the two systems, or lists of the counts of the folds of a cross-validation.
        Array-valued counts give one test per element. Or `PairedCounts`, or a list of them, alone:
        then the posterior uses which items both systems got right, and the metric may come
        second. `PairedCounts` with units (one row per sentence or document) have the posterior
        that `compare` uses, which allows for the dependence of the items of a unit.
    metric
        precision, recall, f1, fbeta, jaccard, accuracy, specificity, npv, balanced_accuracy, mcc,
        kappa, informedness, markedness or fowlkes_mallows.
    rope
        Half the width of the region of practical equivalence, as a fraction of 1: differences of
        at most this size count as none.
    prior
        The weight λ of the prior, as for `posterior`.
    weight
        The weight of the summed folds; see `effective_counts`. Not used for single tables.
    level
        The level of the intervals.
    beta
        The weight of recall in F-beta.
    method
        "exact" integrates (the result says "integrated" if the error is above 1e-8), "sampled"
        draws from the posteriors and returns the standard error.
    n_resamples, rng
        The number of draws and their seed, for "sampled".
    training_variance
        True to allow for the variance of fold differences that their items do not explain. For
        lists of `PairedCounts`. False gives the published test; the fold design effect is reported
        in both cases.

    Returns
    -------
    BayesTest
        Probabilities of the hypotheses and of the three outcomes, the decision for the more
        probable hypothesis, the intervals of both scores and of their difference.

    Notes
    -----
    Integrated probabilities of separate counts are accurate to 1e-10 for priors of 1/4 and more.
    Below that, the density of an empty cell is so steep at the end of the scale that a digit may be
    lost. Those of the last six metrics and of `PairedCounts` are accurate to the `error` that is
    returned with them: 2e-8 for paired counts and the other metrics, except for tables in which
    cases that both systems share are nearly empty, too.

    References
    ----------
    Wang and Li, "Bayes Test of Precision, Recall, and F1 Measure for Comparison of Two Natural
    Language Processing Models" (ACL 2019).

    Examples
    --------
    >>> import probative as pv
    >>> a = [pv.Counts(2088, 154, 1058), pv.Counts(2109, 189, 1066)] * 3
    >>> b = [pv.Counts(2075, 151, 1071), pv.Counts(2114, 175, 1061)] * 3
    >>> print(pv.bayes_test(a, b, "precision"))
    precision: not established, P(H0) = 0.2612, P(H1) = 0.7388; B - A = 0.0033 [-0.0069, 0.0136]
    >>> paired = pv.PairedCounts([30, 20, 80, 10, 400, 60, 70, 3000])
    >>> print(pv.bayes_test(paired, metric="f1", rope=0.01))
    f1: B better: strong, P(H0) = 0.0000, P(H1) = 1.0000; B - A = 0.0606 [0.0375, 0.0840]
    """
    rope = fraction("rope", rope)
    level = open_probability("level", level)
    one_of("method", method, _METHODS)
    if method == "sampled" and (n_resamples != int(n_resamples) or n_resamples < 2):
        raise InputError(f"n_resamples: {n_resamples!r} is not a whole number >= 2")
    choices = {"prior": prior_weight(prior), "beta": recall_weight(beta)}
    b, metric = _second_argument(a, b, metric)
    table, counts_a, counts_b, factor = _tables(a, b, weight)
    one_of("metric", metric, METRICS)
    if training_variance and (method == "sampled" or table is None or isinstance(a, PairedCounts)):
        raise InputError(
            "training_variance: expected a list of PairedCounts, one per fold, and method='exact'"
        )

    options = BayesOptions(
        weight=weight if factor != 1 else None,
        level=level,
        rope=rope,
        prior=choices["prior"],
        beta=choices["beta"],
        n_resamples=int(n_resamples) if method == "sampled" else None,
        rng=rng if method == "sampled" else None,
    )
    of_a, of_b = (posterior(counts, metric, **choices) for counts in (counts_a, counts_b))
    intervals = [own.interval(level) for own in (of_a, of_b)]
    if isinstance(a, PairedCounts) and a.has_units:
        if method == "sampled":
            raise InputError(
                "method: 'sampled' draws independent items, and these come in units; expected "
                "'exact', or paired.total() for independent items"
            )
        difference: Gap = posterior_of_difference(a.grouped(), metric, **choices)
        singles = [
            interval(own, metric, "bayes", level=level, clustered=True, **choices)
            for own in (a.a, a.b)
        ]
        intervals = [(float(own.low), float(own.high)) for own in singles]
    else:
        both = counts_a, counts_b
        difference = _difference((of_a, of_b), both, table, metric, **choices)
    if method == "sampled":
        outcome = _sample(of_a, of_b, table, metric, rope, level, choices, int(n_resamples), rng)
    else:
        outcome = integrated(difference, rope)
    how = method if method == "sampled" else computed(outcome["error"])
    estimates = [np.asarray(score(c, metric, beta=beta)) for c in (counts_a, counts_b)]
    ahead = np.asarray(outcome["p_h1"]) - np.asarray(outcome["p_h0"]) > TIE
    decision = np.where(ahead, "H1", "H0")
    single = isinstance(a, (Counts, PairedCounts))
    test = BayesTest(
        metric=metric,
        decision=decision.item() if decision.ndim == 0 else decision,
        interval_a=_pair(intervals[0]),
        interval_b=_pair(intervals[1]),
        score_a=plain(estimates[0]),
        score_b=plain(estimates[1]),
        difference=plain(estimates[1] - estimates[0]),
        rope=rope,
        posterior=difference,
        weight=factor,
        prior=choices["prior"],
        level=level,
        method=how,
        fold_design_effect=None if single else fold_design_effect(a, b, metric, beta=beta),  # type: ignore[arg-type]  # lists, as was checked
        signature=options.signature("bayes-test", metric, difference.kind, how),
        **outcome,
    )
    return with_training_variance(test, a, weight, beta) if training_variance else test  # type: ignore[arg-type]  # a list of PairedCounts, as was checked


def _difference(
    singles: tuple[Posterior, Posterior],
    counts: tuple[Counts, Counts],
    table: PairedCounts | None,
    metric: str,
    prior: float,
    beta: float,
) -> Gap:
    """Build the posterior of the difference from a paired table, or from two single posteriors."""
    if table is not None:
        return paired_posterior(table, metric, prior=prior, beta=beta)
    empty = any(np.any(np.equal(x, 0)) for c in counts for x in (c.tp, c.fp, c.fn))
    if empty and TABLE[metric].depends_on_beta and beta != 1 and prior < LEAST_PRIOR:
        raise InputError(
            f"prior: {prior:g} is too small for a difference in F-beta of counts of which one is "
            f"0; expected {LEAST_PRIOR} or more"
        )
    of_a, of_b = singles
    if isinstance(of_a, CompositePosterior) and isinstance(of_b, CompositePosterior):
        return CompositeIndependentPosterior(of_a, of_b)
    return IndependentPosterior(of_a, of_b)


def _second_argument(a: Any, b: Any, metric: str) -> tuple[Any, str]:
    """Return B's counts and the metric; beside paired counts the metric may stand in place of B."""
    folds = a if isinstance(a, Sequence) and not isinstance(a, str) else [a]
    paired = bool(folds) and all(isinstance(fold, PairedCounts) for fold in folds)
    return (None, b) if paired and isinstance(b, str) else (b, metric)


def _tables(a: Any, b: Any, weight: Weight) -> tuple[PairedCounts | None, Counts, Counts, float]:
    """Return the paired table or None, the two systems' counts, and the applied weight."""
    first, factor = _one_table("a", a, weight)
    if isinstance(first, PairedCounts):
        if b is not None:
            raise InputError(
                f"b: found {b!r:.40} beside PairedCounts; expected nothing, and metric=..."
            )
        total = first.total()
        return total, total.a, total.b, factor
    if b is None:
        raise InputError("b: missing; expected the counts of B, or PairedCounts alone as a")
    second, _ = _one_table("b", b, weight)
    if not isinstance(second, Counts):
        raise InputError("b: found PairedCounts; expected Counts, as for a")
    if isinstance(a, Counts) != isinstance(b, Counts) or (
        not isinstance(a, Counts) and len(a) != len(b)
    ):
        raise InputError("b: expected as many folds as a has")
    return None, first, second, factor


def _one_table(name: str, counts: Any, weight: Weight) -> tuple[Counts | PairedCounts, float]:
    """Return the counts, or the effective counts of a list of folds, and the applied weight."""
    if isinstance(counts, (Counts, PairedCounts)):
        return counts, 1.0
    if not isinstance(counts, Sequence) or isinstance(counts, str):
        found = type(counts).__name__
        raise InputError(f"{name}: found {found}; expected Counts, PairedCounts or a list of them")
    table: Counts | PairedCounts = effective_counts(counts, weight=weight)
    return table, fold_weight(len(counts) // 2, weight)


def _sample(
    of_a: Posterior,
    of_b: Posterior,
    table: PairedCounts | None,
    metric: str,
    rope: float,
    level: float,
    choices: dict[str, float],
    size: int,
    rng: Any,
) -> dict[str, Any]:
    """Compute the probabilities by drawing from the posteriors, one table after the other."""
    generator = random_generator(rng)
    shape = np.broadcast_shapes(of_a.shape, of_b.shape)
    a, b = of_a._flat(shape), of_b._flat(shape)
    rows = []
    for i in range(math.prod(shape)):
        if table is None:
            d = np.subtract(b[[i]].rvs(size, generator), a[[i]].rvs(size, generator))[:, 0]
        else:  # tables from the eight-case posterior
            prior = choices["prior"] / (4 if TABLE[metric].is_of_all_items else 2)
            shares = PairedCounts(generator.standard_gamma(table.total().cases + prior, (size, 8)))
            score_a, score_b = (
                score(c, metric, beta=choices["beta"]) for c in (shares.a, shares.b)
            )
            d = score_b - score_a
        p_h0 = np.mean(d <= 0)
        within = (np.mean(d < -rope), np.mean(np.abs(d) <= rope)) if rope else (p_h0, 0.0)
        limits = np.quantile(d, [(1 - level) / 2, (1 + level) / 2])
        error = np.sqrt(p_h0 * (1 - p_h0) / size)
        rows.append([p_h0, 1 - p_h0, *within, np.mean(d > rope), error, *limits])
    columns = [plain(np.reshape(column, shape)) for column in zip(*rows, strict=True)]
    names = ("p_h0", "p_h1", "p_a_better", "p_equivalent", "p_b_better", "error")
    return {**dict(zip(names, columns, strict=False)), "limits": tuple(columns[6:])}


def _pair(limits: tuple[Any, Any]) -> Any:
    """Return two limits as a tuple, or stacked on the last axis for arrays."""
    low, high = limits
    return (low, high) if np.ndim(low) == 0 else np.stack([low, high], axis=-1)
