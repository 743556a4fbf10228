"""The characteristic function of a tilted walk, where it is not negligible.

The factor of a step d with coin weight q = (1+t)/2, taken m times and measured from its midpoint,
is (cos x + i·t·sin x)^m with x = <θ, d>/2. Its modulus falls off quickly with |θ| when the walk is
long, so that a few thousand frequencies carry everything, however large the grid. They are found
by bounding the modulus over boxes of frequencies and splitting only the boxes that may matter;
where the steps almost share a period, there are several such places, and all are found.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from scipy import special

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

__all__ = [
    "BYTES_A_FREQUENCY",
    "TooLargeError",
    "characteristic_function",
    "significant_frequencies",
    "significant_share",
]

_BOXES_A_SIDE = 32
_STEPS_AT_ONCE = 16
_NUMBERS_AT_ONCE = 2**16
BYTES_A_FREQUENCY = 256


class TooLargeError(Exception):
    """More memory would be needed than is allowed."""

    def __init__(self, needed: float) -> None:
        super().__init__(f"at least {needed / 2**20:,.0f} MiB")
        self.needed = needed


def significant_share(times: NDArray[np.int64], tilt: NDArray[np.float64], floor: float) -> float:
    """About the share of all frequencies where log|phi| exceeds `floor`.

    Over the frequencies, the logarithm of a coin's factor has the mean log((1+|t|)/2) and, where
    t = 0, the variance π²/12; their sum is taken for normal.
    """
    mean = times @ np.log((1 + np.abs(tilt)) / 2)
    variance = np.pi**2 / 12 * (times @ (1 - np.abs(tilt)))
    return float(special.ndtr((mean - floor) / np.sqrt(variance + 1e-9)))


def significant_frequencies(
    steps: NDArray[np.int64],
    times: NDArray[np.int64],
    tilt: NDArray[np.float64],
    shape: tuple[int, int],
    floor: float,
    memory_limit: float,
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Find the frequencies (k1, k2) of a grid where log|phi| exceeds `floor`, and log|phi| there.

    Half the grid is enough, k1 = 0..n1/2; the other half mirrors it.
    """
    spacing = 2 * np.pi / np.array(shape)
    start = np.array([0, -(shape[1] // 2)])
    stop = np.array([shape[0] // 2 + 1, shape[1] - shape[1] // 2])
    size = np.array(
        [_power_of_two((b - a) / _BOXES_A_SIDE) for a, b in zip(start, stop, strict=True)]
    )
    weight = times * (1 - tilt**2)
    order = np.argsort(-weight * ((steps * spacing) ** 2).sum(axis=1))
    steps, times, tilt = steps[order], times[order], tilt[order]
    corners = _product(*(np.arange(a, b, s) for a, b, s in zip(start, stop, size, strict=True)))
    while True:
        half = spacing * (size - 1) / 2
        bound = _modulus_bound(corners * spacing + half, half, steps, times, tilt, floor)
        corners, bound = corners[bound > floor], bound[bound > floor]
        if len(corners) * BYTES_A_FREQUENCY > memory_limit:
            raise TooLargeError(len(corners) * float(np.prod(size)) * BYTES_A_FREQUENCY)
        if np.all(size == 1):
            return corners, bound
        parts = np.minimum(size, 2)
        size = size // parts
        offsets = _product(*(np.arange(n) for n in parts)) * size
        corners = (corners[:, None, :] + offsets).reshape(-1, 2)
        corners = corners[np.all(corners < stop, axis=1)]


def characteristic_function(
    theta: NDArray[np.float64],
    log_modulus: NDArray[np.float64],
    steps: NDArray[np.int64],
    times: NDArray[np.int64],
    tilt: NDArray[np.float64],
    shift: NDArray[np.float64],
) -> NDArray[np.complex128]:
    """The function of the walk, from its midpoint and moved by `shift`; the modulus is known."""
    phase = theta @ shift
    for chosen in _pieces(len(theta), len(times)):
        x = theta[chosen] @ steps.T / 2
        turns = np.round(x / np.pi)
        x -= np.pi * turns
        # half a turn is a change of sign; counted apart, large powers of it cost no digits
        phase[chosen] += np.arctan2(tilt * np.sin(x), np.cos(x)) @ times
        phase[chosen] += np.pi * ((turns % 2) @ (times % 2) % 2)
    return np.asarray(np.exp(log_modulus + 1j * phase))


def _modulus_bound(
    centre: NDArray[np.float64],
    half: NDArray[np.float64],
    steps: NDArray[np.int64],
    times: NDArray[np.int64],
    tilt: NDArray[np.float64],
    floor: float,
) -> NDArray[np.float64]:
    """The most that log|phi| can be in boxes; what has fallen below the floor is left there."""
    bound = np.zeros(len(centre))
    spread = 1 - tilt**2
    slack = np.abs(steps) @ half / 2
    for piece in _pieces(len(centre), _STEPS_AT_ONCE):
        alive = np.arange(len(centre))[piece]
        for first in range(0, len(times), _STEPS_AT_ONCE):
            some = slice(first, first + _STEPS_AT_ONCE)
            x = centre[alive] @ steps[some].T / 2
            x -= np.pi * np.round(x / np.pi)
            away = np.sin(np.maximum(np.abs(x) - slack[some], 0))
            with np.errstate(divide="ignore"):  # the logarithm of 0 is meant
                bound[alive] += np.log1p(-spread[some] * away**2) @ times[some] / 2
            alive = alive[bound[alive] > floor]
    return bound


def _pieces(length: int, width: int) -> Iterator[slice]:
    """Slices of a long array, so that a table `width` wide of each fits into the cache."""
    piece = max(1, _NUMBERS_AT_ONCE // max(1, width))
    return (slice(first, first + piece) for first in range(0, length, piece))


def _product(first: NDArray[np.int64], second: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.stack(np.meshgrid(first, second, indexing="ij"), axis=-1).reshape(-1, 2)


def _power_of_two(least: float) -> int:
    return 1 << max(0, math.ceil(math.log2(least)))
