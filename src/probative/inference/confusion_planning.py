"""How much data would settle a comparison by a score of the whole confusion table?

What a unit adds to the difference is known from the derivatives of the score in the table of both
systems together, as exchanges move it; the rest is that of `planning`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from probative._confusion import score_of_table, slopes_of_table
from probative._validation import open_probability
from probative.inference.planning import UNDEFINED, Pilot, plan_from_pilot

if TYPE_CHECKING:
    from probative.inference.confusion import ConfusedItems
    from probative.results import Plan

__all__ = ["confusion_plan"]


def confusion_plan(
    a: ConfusedItems, b: ConfusedItems, metric: str = "kappa", *, level: float = 0.95, **how: Any
) -> Plan:
    """Sample size, power or smallest detectable difference, from what two systems say.

    Parameters
    ----------
    a, b
        What the systems say of the items of the pilot; the answer and the units are the same.
    metric
        "kappa", "mcc" (Gorodkin's R_K) or "balanced_accuracy".
    level, how
        As for `probative.plan`: `difference`, `power` and `units`.

    Examples
    --------
    >>> import numpy as np
    >>> from probative.inference.confusion import ConfusedItems
    >>> from probative.inference.confusion_planning import confusion_plan
    >>> answer = np.array([0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 2] * 5)
    >>> a = ConfusedItems(answer, np.array([0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 2, 0] * 5), 3)
    >>> b = ConfusedItems(answer, np.array([0, 0, 1, 1, 1, 1, 1, 2, 2, 2, 1, 0] * 5), 3)
    >>> print(confusion_plan(a, b, difference=0.1))
    kappa: a difference of 0.1 needs 307 units to show with power 0.8 at level 0.95 (60 observed)
    """
    level = open_probability("level", level)
    observed = float(score_of_table(b.table, metric) - score_of_table(a.table, metric))
    return plan_from_pilot(_pilot(a, b, metric), metric, observed, level=level, **how)


def _pilot(a: ConfusedItems, b: ConfusedItems, metric: str) -> Pilot:
    together = (a.table + b.table) / 2
    units = np.arange(len(a.answer)) if a.units is None else a.units
    _, place = np.unique(units, return_inverse=True)
    n_units = int(place.max(initial=-1)) + 1
    if np.isnan(score_of_table(together, metric)):
        return Pilot.without_any(n_units, UNDEFINED)
    slopes = slopes_of_table(together, metric)
    moves = slopes[b.answer, b.said] - slopes[a.answer, a.said]
    added = np.bincount(place.ravel(), moves).astype(np.float64)
    informative = int(np.count_nonzero(added))
    return Pilot.of_units(n_units * added, np.ones(n_units), n_units, informative)
