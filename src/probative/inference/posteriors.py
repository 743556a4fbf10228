"""Posterior distributions of scores, given confusion counts.

On the scale of log odds all of them are one distribution. The odds of precision, recall,
accuracy and the Jaccard index F* are those of a Beta variate; the odds of F1 are twice the odds
of F*; and the odds of F-beta are (1 + β²)/(1 + (β² - 1) W) times the odds of F*, with W, the
share of false negatives among the errors, a Beta variate of its own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from probative._validation import one_of, positive
from probative.counts import counts_of
from probative.errors import InputError
from probative.inference.beta_posterior import Posterior
from probative.inference.composite_posterior import CompositePosterior
from probative.inference.fbeta_posterior import FBetaPosterior
from probative.metrics import TABLE, Composite

if TYPE_CHECKING:
    from probative.counts import Counts

__all__ = [
    "CompositePosterior",
    "FBetaPosterior",
    "Posterior",
    "posterior",
    "prior_weight",
    "recall_weight",
]

_PRIORS = (0.001, 1e12)
_BETAS = (1e-6, 1e6)


def prior_weight(prior: float) -> float:
    """Return the weight of a prior, if a posterior can be worked out with it."""
    weight = positive("prior", prior)
    if not _PRIORS[0] <= weight <= _PRIORS[1]:
        raise InputError(
            f"prior: {prior!r} is out of range; expected {_PRIORS[0]} (below it, all that was not "
            f"seen is as good as impossible) to {_PRIORS[1]:g}"
        )
    return weight


def recall_weight(beta: float) -> float:
    """Return the weight of recall in F-beta, if its square can be reckoned with."""
    weight = positive("beta", beta)
    if not _BETAS[0] <= weight <= _BETAS[1]:
        raise InputError(
            f"beta: {beta!r} is out of range; expected {_BETAS[0]} to {_BETAS[1]:g}, beyond which "
            f"F-beta is precision or recall"
        )
    return weight


def posterior(
    counts: Counts, metric: str = "f1", *, prior: float = 1.0, beta: float = 1.0
) -> Posterior:
    """Return the posterior distribution of a score, given confusion counts.

    Parameters
    ----------
    counts
        One table or an array of them; effective counts may be fractions.
    metric
        One of precision, recall, f1, fbeta, jaccard, accuracy, specificity, npv,
        balanced_accuracy, mcc, kappa, informedness, markedness, fowlkes_mallows.
    prior
        The weight λ of the prior: λ is added to each of tp, fp and fn (and tn). With 1, precision
        and recall are uniform before any item is seen.
    beta
        The weight of recall in F-beta; the other metrics do not use it.

    Returns
    -------
    Posterior
        With ``pdf``, ``logpdf``, ``cdf``, ``sf``, ``ppf``, ``isf``, ``rvs``, ``interval``,
        ``mean``, ``var`` and ``mode``. The shapes of the tables and of an argument are broadcast
        against each other, as with SciPy's distributions.

    Notes
    -----
    Precision is Beta(tp + λ, fp + λ), recall Beta(tp + λ, fn + λ), accuracy
    Beta(tp + tn + λ, fp + fn + λ) and the Jaccard index F* Beta(tp + λ, fp + fn + 2λ). F1 is
    2F*/(1 + F*): quantiles carry over, mean, mode and highest-density intervals do not and are
    computed on the scale of F1. The others are averages over what their four cells, a Dirichlet
    variate, leave open, by Gauss rules. F-beta averages over the share of false negatives among the
    errors, to rounding error.

    References
    ----------
    Goutte and Gaussier, "A Probabilistic Interpretation of Precision, Recall and F-Score, with
    Implication for Evaluation" (ECIR 2005); Wang and Li, "Bayes Test of Precision, Recall, and F1
    Measure for Comparison of Two Natural Language Processing Models" (ACL 2019).

    Examples
    --------
    >>> import probative as pv
    >>> f1 = pv.posterior(pv.Counts(tp=77, fp=44, fn=10), "f1")
    >>> print("{:.4f} {:.4f} {:.4f}".format(f1.mean, f1.mode, f1.cdf(0.7)))
    0.7349 0.7387 0.1530
    >>> low, high = f1.interval(0.95)
    >>> print(f"[{low:.4f}, {high:.4f}]")
    [0.6648, 0.7981]
    """
    counts = counts_of("counts", counts)
    score = TABLE[one_of("metric", metric, TABLE)]
    prior = prior_weight(prior)
    beta = recall_weight(beta)
    if score.needs_tn and counts.tn is None:
        raise InputError(f"metric: {metric} needs tn, and these counts have none")
    if isinstance(score, Composite):
        return CompositePosterior(metric, [x + prior for x in score.cells(counts)])
    if score.depends_on_beta:
        return FBetaPosterior(counts.tp + prior, counts.fp + prior, counts.fn + prior, beta)
    share = score.share()
    if share is None:
        raise InputError(f"metric: {metric} has no posterior; its errors weigh differently")
    # The prior adds its weight once for every count. A share of all items is no share of two
    # kinds of them: its prior is Beta(prior, prior).
    a, b = (
        sum(getattr(counts, cell) for cell in cells)
        + prior * (1 if score.is_of_all_items else len(cells))
        for cells in (share.hits, share.misses)
    )
    return Posterior(a, b, share.factor)
