"""Design effects: what it costs that the items of a sentence are not independent.

A score is a ratio F = sum of x / sum of y over the units. Its variance with units as what is
sampled, divided by its variance with items as what is sampled, is the design effect: how many
items of this test set say as much as one independent item.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import special

from probative.counts import Counts, PairedCounts
from probative.errors import InputError
from probative.inference.proportions import normal_quantile
from probative.metrics import ratio

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = [
    "correlation",
    "design_effect",
    "design_effect_of_difference",
    "design_effects",
    "effective_divisor",
    "undefined_note",
    "variance_of_difference",
]


def design_effect(counts: Counts, metric: str = "f1", *, beta: float = 1.0) -> float:
    """The design effect of a score whose units are the rows of `counts`.

    Parameters
    ----------
    counts
        One row a unit (sentence, document).
    metric, beta
        The score.

    Returns
    -------
    float
        About 1 for independent items, more where a unit's items succeed and fail together. NaN
        where it is undefined: fewer than two units, or a score without variance.

    Examples
    --------
    >>> import probative as pv
    >>> from probative.inference.clusters import design_effect
    >>> counts = pv.Counts(tp=[4, 0, 5, 1, 0, 3], fp=[0, 2, 0, 0, 1, 0], fn=[0, 3, 1, 0, 4, 0])
    >>> round(design_effect(counts, "f1"), 2)
    4.67
    """
    if len(counts.shape) != 1:
        raise InputError(f"counts: shape {counts.shape}; expected one row a unit")
    total = counts.sum()
    x, y = ratio(counts, metric, beta=beta)
    table = np.array(list(total.to_dict().values()), dtype=np.float64)
    item_x, item_y = ratio(Counts(*np.eye(len(table))), metric, beta=beta)
    by_unit = _influence(x, y, x, y, np.ones(len(x)))
    by_item = _influence(item_x, item_y, x, y, np.ones(len(x)))
    return _variance_ratio(by_unit, np.ones(len(x)), by_item, table)


def design_effects(
    tables: Counts, products: NDArray[np.float64], n_units: int, metric: str = "f1"
) -> NDArray[np.float64]:
    """The design effects of many tables, from sums over their units instead of the units.

    Parameters
    ----------
    tables
        The counts of all units together, an array of tables with tn.
    products
        For each table the 4 × 4 sums over the units of tp², tp·fp and so on, in the order tp, fp,
        fn, tn.
    n_units
        How many units there are.
    metric
        The score.

    Examples
    --------
    >>> import numpy as np
    >>> import probative as pv
    >>> from probative.inference.clusters import design_effects
    >>> units = np.array([[4, 0, 0, 1], [0, 2, 3, 2], [5, 0, 1, 9], [1, 0, 0, 0.0]])
    >>> table = pv.Counts(*units.sum(axis=0)[:, None])
    >>> design_effects(table, (units.T @ units)[None], 4, "f1").round(2)
    array([4.88])
    """
    rows = np.stack([tables.tp, tables.fp, tables.fn, tables.tn], axis=1)
    item_x, item_y = ratio(Counts(*np.eye(4)), metric)
    with np.errstate(invalid="ignore", divide="ignore"):
        share = (rows @ item_x / (rows @ item_y))[:, None]
        by_item = item_x - share * item_y  # what moves the score, but for a factor
        independent = (rows * by_item**2).sum(axis=1)
        by_unit = np.einsum("ti,tij,tj->t", by_item, products, by_item)
        found = n_units / (n_units - 1) * by_unit / independent if n_units > 1 else by_unit
    return np.where((n_units > 1) & (independent > 0), found, np.nan)


def design_effect_of_difference(
    paired: PairedCounts, metric: str = "f1", *, beta: float = 1.0
) -> float:
    """The design effect of the difference of two scores, B minus A.

    What makes a sentence hard for both systems cancels in the difference, so this is often
    smaller than the design effects of the two scores.

    Parameters
    ----------
    paired
        A row a unit.
    metric, beta
        The score.

    Examples
    --------
    >>> import probative as pv
    >>> from probative.inference.clusters import design_effect_of_difference
    >>> rows = [[0, 0, 3, 0, 2, 0, 0, 0], [1, 0, 0, 0, 4, 1, 0, 0], [0, 2, 0, 0, 1, 0, 1, 0]]
    >>> round(design_effect_of_difference(pv.PairedCounts(rows, [5, 4, 6]), "f1"), 2)
    2.19
    """
    if not paired.has_units:
        raise InputError("paired: one table; expected one row a unit")
    by_unit, number = _unit_shifts(paired, metric, beta)
    by_item, items = _item_shifts(paired, metric, beta)
    return _variance_ratio(by_unit, number, by_item, items)


def variance_of_difference(
    paired: PairedCounts, metric: str = "f1", *, beta: float = 1.0
) -> tuple[float, int]:
    """The variance of the difference over test sets like this one, and the units it rests on.

    Units are the rows where there are any, else single items.

    Parameters
    ----------
    paired
        One table, or a row a unit.
    metric, beta
        The score.
    """
    if paired.has_units:
        shift, number = _unit_shifts(paired, metric, beta)
    else:
        shift, number = _item_shifts(paired, metric, beta)
    n = int(number.sum())
    return (float(n / (n - 1) * (number @ shift**2)) if n > 1 else float("nan")), n


def _unit_shifts(
    paired: PairedCounts, metric: str, beta: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """How far each row moves the difference B minus A, and how many units it stands for."""
    rows = paired.cases
    number = np.ones(len(rows)) if paired.multiplicity is None else paired.multiplicity
    return _shifts(paired, rows, metric, beta), number


def _item_shifts(
    paired: PairedCounts, metric: str, beta: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """How far an item of each case moves the difference B minus A, and how many there are."""
    return _shifts(paired, np.eye(8), metric, beta), paired.total().cases


def _shifts(
    paired: PairedCounts, rows: NDArray[np.float64], metric: str, beta: float
) -> NDArray[np.float64]:
    table, one = paired.total().cases[None], np.ones(1)
    shift = np.zeros(len(rows))
    for system, sign in (("a", -1), ("b", 1)):
        x, y = _contributions(rows, system, metric, beta, paired.has_negatives)
        total = _contributions(table, system, metric, beta, paired.has_negatives)
        shift += sign * _influence(x, y, *total, one)
    return shift


def correlation(table: PairedCounts, metric: str, *, beta: float = 1.0) -> float:
    """The correlation of the two estimates on one table; 0 where one has no variance."""
    one = np.ones(1)
    influence = {}
    for system in ("a", "b"):
        x, y = _contributions(table.cases[None], system, metric, beta, table.has_negatives)
        items = _contributions(np.eye(8), system, metric, beta, table.has_negatives)
        influence[system] = _influence(*items, x, y, one)
    products = {
        pair: float(table.cases @ (influence[pair[0]] * influence[pair[1]]))
        for pair in ("aa", "ab", "bb")
    }
    scale = np.sqrt(products["aa"] * products["bb"])
    return float(products["ab"] / scale) if scale > 0 else 0.0


def effective_divisor(effect: Any, n_units: int, level: float) -> Any:
    """What to divide the counts by: max(1, design effect)·(t/z)², and 1 where it is undefined.

    The quantiles t of Student's distribution and z of the normal one allow for the design effect
    being an estimate from a limited number of units.
    """
    t = special.stdtrit(n_units - 1, (1 + level) / 2)
    widened = np.maximum(1, effect) * (t / normal_quantile(level)) ** 2
    divisor = np.where(np.isnan(effect), 1.0, widened)
    return float(divisor) if divisor.ndim == 0 else divisor


def undefined_note(effect: float) -> str | None:
    """What must be said where there is no design effect."""
    if not np.isnan(effect):
        return None
    return "the design effect is undefined here, and the items count as independent"


def _contributions(
    cases: NDArray[np.float64], system: str, metric: str, beta: float, has_negatives: bool
) -> tuple[Any, Any]:
    """What rows of cases add to the numerator and the denominator of a system's score."""
    rows = PairedCounts(cases if has_negatives else cases[:, :7])
    return ratio(rows.a if system == "a" else rows.b, metric, beta=beta)


def _influence(
    x: NDArray[np.float64],
    y: NDArray[np.float64],
    unit_x: NDArray[np.float64],
    unit_y: NDArray[np.float64],
    number: NDArray[np.float64],
) -> NDArray[np.float64]:
    """(x - F·y)/Y: how far something moves the score F = sum x / Y over the units."""
    total = number @ unit_y
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray((x - (number @ unit_x) / total * y) / total)


def _variance_ratio(
    by_unit: Any, number: NDArray[np.float64], by_item: Any, items: NDArray[np.float64]
) -> float:
    n = float(np.sum(number))
    independent = float(items @ by_item**2)
    if n < 2 or not independent > 0:
        return float("nan")
    return float(n / (n - 1) * (number @ by_unit**2) / independent)
