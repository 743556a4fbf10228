"""How many independent items the counts of a cross-validation are worth."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TypeVar

from probative._validation import finite, one_of, positive
from probative.counts import Counts, PairedCounts
from probative.errors import InputError
from probative.inference.posteriors import posterior
from probative.metrics import PRF
from probative.results import ScorePosteriors

__all__ = ["Weight", "check_folds", "effective_counts", "fold_weight", "score_posteriors"]

Weight = str | float | tuple[float, float]
Table = TypeVar("Table", Counts, PairedCounts)

WEIGHTS = ("effective", "averaged")


def effective_counts(folds: Sequence[Table], *, weight: Weight = "effective") -> Table:
    """Return the counts of independent items to which the folds of a cross-validation amount.

    In m repetitions of two-fold cross-validation every item is judged m times, by models whose
    training sets overlap, so the 2m tables are correlated. Their sum is multiplied by a weight
    that allows for it.

    Parameters
    ----------
    folds
        The `Counts` (or `PairedCounts`) of the 2m folds, two per repetition.
    weight
        "effective": 1/(1 + ρ₁ + 2(m-1)ρ₂), averaged over the correlations ρ₁ of the two folds of a
        repetition, in [0, ½], and ρ₂ of folds of different repetitions, in [¼, ½].
        "averaged": 1/(2m), as if all folds told the same. A pair (ρ₁, ρ₂): these correlations. A
        number: the weight itself.

    Returns
    -------
    Counts or PairedCounts
        Not whole numbers, in general.

    References
    ----------
    Wang and Li, "Bayes Test of Precision, Recall, and F1 Measure for Comparison of Two Natural
    Language Processing Models" (ACL 2019).

    Examples
    --------
    >>> import probative as pv
    >>> folds = [pv.Counts(90, 10, 10), pv.Counts(88, 12, 12)] * 3
    >>> effective = pv.effective_counts(folds)
    >>> print(f"{effective.tp:.2f} {effective.fp:.2f} {effective.fn:.2f}")
    196.94 24.34 24.34
    >>> pv.effective_counts(folds, weight="averaged")
    Counts(tp=89, fp=11, fn=11)
    """
    tables = check_folds(folds)
    return sum(tables[1:], start=tables[0]) * fold_weight(len(tables) // 2, weight)


def fold_weight(m: int, weight: Weight = "effective") -> float:
    """Return the weight of the summed counts of m repetitions of two-fold cross-validation.

    Examples
    --------
    >>> from probative.inference.effective import fold_weight
    >>> print(f"{fold_weight(3):.9f}")
    0.368802110
    """
    if m != int(m) or m < 1:
        raise InputError(f"m: {m!r} is not a whole number >= 1")
    if isinstance(weight, str):
        one_of("weight", weight, WEIGHTS)
        return _average_weight(m) if weight == "effective" else 1 / (2 * m)
    if isinstance(weight, (tuple, list)):
        return _weight_of_correlations(m, weight)
    return positive("weight", weight)


def score_posteriors(
    folds: Mapping[str, Sequence[Counts]],
    metrics: Sequence[str] = PRF,
    *,
    weights: Sequence[Weight] = WEIGHTS,
    prior: float = 1.0,
    beta: float = 1.0,
) -> tuple[ScorePosteriors, ...]:
    """Return the posteriors of each score of some models, given the counts of their folds.

    Parameters
    ----------
    folds
        By the names of the models, the counts of their folds; a single table stays as it is.
    metrics, prior, beta
        As for `posterior`.
    weights
        The ways to add up the folds; see `effective_counts`.
    """
    counts = {
        model: {
            str(weight): effective_counts(tables, weight=weight) if len(tables) > 1 else tables[0]
            for weight in weights
        }
        for model, tables in folds.items()
    }
    return tuple(
        ScorePosteriors(
            metric,
            {
                model: {
                    weight: posterior(table, metric, prior=prior, beta=beta)
                    for weight, table in by_weight.items()
                }
                for model, by_weight in counts.items()
            },
        )
        for metric in metrics
    )


def _average_weight(m: int) -> float:
    """1/(1 + x + c y), averaged over x in [0, 1/2] and y in [1/4, 1/2], with c = 2(m - 1)."""
    if m == 1:
        return 2 * math.log(1.5)
    c = 2 * (m - 1)

    def g(u: float) -> float:
        return u * math.log(u)

    return 8 / c * (g(1.5 + c / 2) - g(1 + c / 2) - g(1.5 + c / 4) + g(1 + c / 4))


def _weight_of_correlations(m: int, correlations: Sequence[float]) -> float:
    if len(correlations) != 2:
        raise InputError(
            f"weight: {len(correlations)} correlations; expected a pair (rho1, rho2), inside a "
            f"repetition and between repetitions"
        )
    for name, value in zip(("rho1", "rho2"), correlations, strict=True):
        if not -1 <= finite("weight", value) <= 1:
            raise InputError(f"weight: {name} = {value!r} is not a correlation, between -1 and 1")
    inside, between = correlations
    inflation = 1 + inside + 2 * (m - 1) * between
    if inflation <= 0:
        raise InputError(
            f"weight: with rho1 = {inside:g} and rho2 = {between:g}, 1 + rho1 + {2 * (m - 1)} rho2 "
            f"is {inflation:g}, not above 0: {2 * m} folds cannot be correlated like that"
        )
    return 1 / inflation


def check_folds(folds: Sequence[Table]) -> list[Table]:
    """Return the folds of a cross-validation, each as one table, or say why they are none."""
    if isinstance(folds, (Counts, PairedCounts)) or not isinstance(folds, Sequence):
        raise InputError(
            f"folds: found {type(folds).__name__}; expected a list of Counts or PairedCounts, "
            f"one per fold"
        )
    kinds = {type(fold) for fold in folds}
    if len(kinds) > 1 or not kinds <= {Counts, PairedCounts}:
        names = ", ".join(sorted(kind.__name__ for kind in kinds))
        raise InputError(f"folds: found {names}; expected Counts, or PairedCounts, in every fold")
    if not folds or len(folds) % 2:
        raise InputError(
            f"folds: {len(folds)} of them; expected an even number, two folds per repetition"
        )
    tables: list[Table] = [f.total() if isinstance(f, PairedCounts) else f for f in folds]
    for number, table in enumerate(tables[1:], 2):
        if _has_negatives(table) != _has_negatives(tables[0]):
            raise InputError(f"folds: of fold 1 and fold {number} only one has true negatives")
    return tables


def _has_negatives(table: Counts | PairedCounts) -> bool:
    return table.has_negatives if isinstance(table, PairedCounts) else table.tn is not None
