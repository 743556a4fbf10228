"""When do sampled tests stop, and how often do they decide wrongly? Computed, not simulated.

The number of extreme draws is a random walk. Its distribution at every look follows from that of
the walks that went on at the look before, so that the expected number of draws and the probability
of a wrong decision are sums, for any p-value that the test estimates.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from scipy import special

from probative._validation import Array, Ints, Mask, open_probability, whole_number
from probative.inference.sampled import ERROR, LEVELS, MOST, limits_of_share, looks
from probative_studies.harness import Report, Row, quiet

_SHARES = (
    *(0.0001, 0.001, 0.005, 0.008, 0.009, 0.0099, 0.01, 0.0101, 0.011, 0.012, 0.015, 0.02, 0.03),
    *(0.04, 0.045, 0.048, 0.0499, 0.05, 0.0501, 0.052, 0.055, 0.06, 0.07, 0.1, 0.2, 0.5),
)
_NEGLIGIBLE = 1e-40  # probabilities below this are left out
_NEGLIGIBLE_FROM = 12.0  # standard deviations beyond which a walk has none


def stopping_study(
    shares: Sequence[float] | None = None, *, most: int = MOST, report: Report = quiet
) -> list[Row]:
    """Compute how sampled tests of these p-values end."""
    most = whole_number("most", most)
    shares = _SHARES if shares is None else shares
    found = []
    for done, share in enumerate(shares):
        report(done, len(shares))
        found.append(stopping(open_probability("shares", share), most=most))
    return found


def stopping(share: float, *, levels: Sequence[float] = LEVELS, most: int = MOST) -> Row:
    """Compute how a sampled test ends whose p-value is `share`."""
    planned = looks(most)
    going = [(0, np.ones(1))]  # stretches of numbers of extreme draws: the first, probabilities
    before, expected, wrong, undecided, at_first = 0, 0.0, 0.0, 0.0, 0.0
    for end in planned:
        total = sum(float(stretch.sum()) for _, stretch in going)
        expected += total * (end - before)
        start, chances = _walked(going, end - before, share)
        extreme = start + np.arange(len(chances))
        low, high = limits_of_share(extreme, end, ERROR / len(planned))
        unclear = np.any([(low <= t) & (high > t) for t in levels], axis=0)
        mistaken = np.any([(low > t) if share <= t else (high <= t) for t in levels], axis=0)
        last = end == most
        wrong += float(chances[mistaken & (~unclear | last)].sum())
        at_first += float(chances[~unclear].sum()) if before == 0 else 0.0
        undecided = float(chances[unclear].sum()) if last else 0.0
        going = list(_stretches(start, np.where(chances > _NEGLIGIBLE, chances, 0.0), unclear))
        before = end
        if not going:
            break
    wrong *= 1e6  # of a million
    return Row(
        share=share,
        draws=round(expected),
        at_first=at_first,
        wrong=wrong,
        undecided=undecided,
    )


def _walked(going: Sequence[tuple[int, Array]], steps: int, share: float) -> tuple[int, Array]:
    """Return where walks are `steps` later: the lowest place, and the probabilities from there."""
    reach = _NEGLIGIBLE_FROM * np.sqrt(steps * share * (1 - share)) + 60
    least = max(0, int(steps * share - reach))
    ups = np.arange(least, min(steps, int(steps * share + reach)) + 1)
    chance = np.exp(
        _log_binomial(ups, steps) + special.xlogy(ups, share) + special.xlog1py(steps - ups, -share)
    )
    start = min(first for first, _ in going) + least
    end = max(first + len(own) for first, own in going) + int(ups[-1])
    total = np.zeros(end - start)
    for first, own in going:
        at = first + least - start
        total[at : at + len(own) + len(ups) - 1] += np.convolve(own, chance)
    return start, total


def _stretches(start: int, chances: Array, unclear: Mask) -> Iterator[tuple[int, Array]]:
    """Yield the stretches of places where walks go on."""
    there = np.flatnonzero(unclear & (chances > 0))
    if len(there):
        for part in np.split(there, np.flatnonzero(np.diff(there) > 1) + 1):
            yield start + int(part[0]), chances[part]


def size_of_estimate(*, levels: Sequence[float] = LEVELS, most: int = MOST) -> tuple[Array, Array]:
    """Return all x that the estimate can be, and how often it is at most x for a uniform p-value.

    A valid p-value is at most x with a probability of x or less.
    """
    planned = looks(most)
    values, masses = [], []
    extreme, chances, before = np.zeros(1, dtype=np.int64), np.ones(1), 0
    for end in planned:
        chances = _urn(extreme, chances, before, end)
        extreme = np.flatnonzero(chances)
        chances = chances[extreme]
        low, high = limits_of_share(extreme, end, ERROR / len(planned))
        going = np.any([(low <= t) & (high > t) for t in levels], axis=0) & (end < most)
        values.append((extreme[~going] + 1) / (end + 1))
        masses.append(chances[~going])
        extreme, chances, before = extreme[going], chances[going], end
    value, mass = np.concatenate(values), np.concatenate(masses)
    order = np.argsort(value)
    return value[order], np.cumsum(mass[order])


def _urn(extreme: Ints, chances: Array, before: int, end: int) -> Array:
    """Return where walks are whose share of steps up is uniform: the urn of Pólya."""
    if before == 0:
        return np.full(end + 1, 1 / (end + 1))
    steps = end - before
    mean = steps * (extreme + 1) / (before + 2)
    reach = _NEGLIGIBLE_FROM * np.sqrt(mean * (1 + steps / before)) + 60
    least = np.maximum(0, mean - reach).astype(np.int64)
    most = np.minimum(steps, mean + reach).astype(np.int64)
    total = np.zeros(int((extreme + most).max(initial=0)) + 1)
    for x, chance, low, high in zip(extreme, chances, least, most, strict=True):
        ups = np.arange(low, high + 1)
        a, b = x + 1, before - x + 1
        log = _log_binomial(ups, steps) + special.betaln(ups + a, steps - ups + b)
        total[x + ups] += chance * np.exp(log - special.betaln(a, b))
    return total


def _log_binomial(k: Ints, n: int) -> Array:
    return np.asarray(special.gammaln(n + 1) - special.gammaln(k + 1) - special.gammaln(n - k + 1))
