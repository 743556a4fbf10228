"""Share the probability of a false pass among the gates on one test set.

A gate at confidence 1 - alpha lets a candidate that is no better pass with probability alpha; of
forty such candidates on one test set, two are expected to pass. To bound the probability that any
of them ever passes by alpha, alpha is divided among the looks at the test set before they happen.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Sequence

from scipy import special

from probative._validation import one_of, open_probability

CANDIDATES = ("adaptive", "independent")
_WORN_OUT_FACTOR = 2.0  # the needed difference relative to that of the first look
_MOST_LOOKS = 10**6  # more than anybody will count


def share_of_independent(look: int) -> float:
    """Return the share of the k-th look if candidates depend on nothing seen before: 6/(pi²k²)."""
    return 6 / (math.pi * look) ** 2


def share_of_adaptive(tries: Sequence[int]) -> float:
    """Return the share of a look if candidates may depend on the verdicts before it."""
    # `tries`: those up to each pass, then the current one. With j passes the share is 2^-(j+1)
    # times the product of 6/(pi²g²) over all tries g, which sums to 1 over all histories of
    # verdicts.
    return math.prod(share_of_independent(g) / 2 for g in tries)


def allowance(candidates: str, verdicts: Sequence[bool], doubt: float = 0.05) -> float:
    """Return the probability of a false pass that the next look may have."""
    # "adaptive" candidates may depend on the verdicts before them, "independent" ones on nothing
    one_of("candidates", candidates, CANDIDATES)
    doubt = open_probability("doubt", doubt)
    if candidates == "independent":
        return doubt * share_of_independent(len(verdicts) + 1)
    return doubt * share_of_adaptive(_tries(verdicts))


def _tries(verdicts: Sequence[bool]) -> list[int]:
    """Return the number of tries of each pass; the last is that of the next look."""
    tries = [1]
    for passed in verdicts:
        if passed:
            tries.append(1)
        else:
            tries[-1] += 1
    return tries


def looks_left(candidates: str, verdicts: Sequence[bool], doubt: float = 0.05) -> int:
    """Return how many looks are left before the test set is worn out, if none of them passes."""
    tried = len(verdicts) + 1 if candidates == "independent" else _tries(verdicts)[-1]
    # every share is proportional to the inverse square of the number of tries
    scaled = allowance(candidates, verdicts, doubt) * tried**2
    worn = _WORN_OUT_FACTOR * float(special.ndtri(allowance(candidates, [], doubt)))
    later = range(tried, tried + _MOST_LOOKS)
    return bisect_left(later, True, key=lambda look: special.ndtri(scaled / look**2) <= worn)
