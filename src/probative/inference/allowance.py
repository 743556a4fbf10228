"""One test set, many gates: how much doubt the next one may leave.

A gate at confidence 1 - alpha lets a candidate that is no better pass with probability alpha; of
forty such candidates on one test set two are expected to. So that any of them ever passes with
probability at most alpha, alpha is shared out among the looks at the test set, before they happen.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from scipy import special

from probative._validation import one_of, open_probability

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = [
    "CANDIDATES",
    "allowance",
    "is_worn_out",
    "looks_left",
    "share_of_adaptive",
    "share_of_independent",
]

CANDIDATES = ("adaptive", "independent")
_WORN = 2.0  # times the difference that the first look needed
_MANY = 10**6  # looks: more than anybody will count


def share_of_independent(look: int) -> float:
    """The share of the k-th look, where candidates depend on nothing that was seen: 6/(pi²k²).

    Examples
    --------
    >>> round(share_of_independent(1), 4), round(share_of_independent(2), 4)
    (0.6079, 0.152)
    """
    return 6 / (math.pi * look) ** 2


def share_of_adaptive(tries: Sequence[int]) -> float:
    """The share of a look, where candidates may depend on the verdicts before it.

    Parameters
    ----------
    tries
        After how many tries each pass came, counted from the pass before it; then, as the last,
        which try since the last pass this is.

    Notes
    -----
    With j passes so far it is 2^-(j+1) times the product of 6/(pi²g²) over all tries g: summed up
    over all histories that verdicts can make, 1.

    Examples
    --------
    >>> round(share_of_adaptive([1]), 4), round(share_of_adaptive([3, 1]), 4)
    (0.304, 0.0103)
    """
    return math.prod(share_of_independent(g) / 2 for g in tries)


def allowance(candidates: str, verdicts: Sequence[bool], doubt: float = 0.05) -> float:
    """The probability of a false pass that the next look may have.

    Parameters
    ----------
    candidates
        "adaptive": each may depend on the verdicts before it, and on nothing else that was seen of
        this test set. "independent": they depend on nothing of it.
    verdicts
        Of all looks so far, whether the candidate passed.
    doubt
        The probability that any candidate that is no better ever passes.

    Examples
    --------
    >>> round(allowance("adaptive", []), 6), round(allowance("adaptive", [False, True]), 6)
    (0.015198, 0.001155)
    """
    one_of("candidates", candidates, CANDIDATES)
    doubt = open_probability("doubt", doubt)
    if candidates == "independent":
        return doubt * share_of_independent(len(verdicts) + 1)
    return doubt * share_of_adaptive(_tries(verdicts))


def _tries(verdicts: Sequence[bool]) -> list[int]:
    """How many tries each pass took; the last is the one that comes."""
    tries = [1]
    for passed in verdicts:
        if passed:
            tries.append(1)
        else:
            tries[-1] += 1
    return tries


def is_worn_out(candidates: str, verdicts: Sequence[bool], doubt: float = 0.05) -> bool:
    """Whether the next look needs a difference twice as large as the first one did.

    Differences are measured in standard errors, as quantiles of the normal distribution.
    """
    return _is_worn(candidates, allowance(candidates, verdicts, doubt), doubt)


def _is_worn(candidates: str, threshold: float, doubt: float) -> bool:
    first = float(special.ndtri(allowance(candidates, [], doubt)))
    return float(special.ndtri(threshold)) <= _WORN * first


def looks_left(candidates: str, verdicts: Sequence[bool], doubt: float = 0.05) -> int:
    """How many looks there are before the test set is worn out, if none of them passes.

    Examples
    --------
    >>> looks_left("independent", []), looks_left("adaptive", []), looks_left("adaptive", [True])
    (18, 45, 24)
    """
    tries = _tries(verdicts)
    tried = len(verdicts) + 1 if candidates == "independent" else tries[-1]
    # every share falls with the square of the number of tries
    worth = allowance(candidates, verdicts, doubt) * tried**2
    low, high = tried, tried + _MANY
    if not _is_worn(candidates, worth / high**2, doubt):
        return _MANY
    while low < high:
        middle = (low + high) // 2
        if _is_worn(candidates, worth / middle**2, doubt):
            high = middle
        else:
            low = middle + 1
    return low - tried
