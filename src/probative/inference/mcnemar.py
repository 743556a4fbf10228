"""McNemar's test: do two systems differ in how many items they get right?"""

from __future__ import annotations

import numpy as np

from probative._validation import one_of
from probative.counts import PairedCounts, paired_of
from probative.errors import InputError
from probative.inference import _log_odds
from probative.inference._half_binomial import half_binomial
from probative.results import SignificanceTest

__all__ = ["mcnemar_test"]


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
