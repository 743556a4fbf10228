"""The strata of a pool: units of which the same is known."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import reduce
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from probative.inference.allocation import allocate, sampling_variance
from probative.inference.clusters import student_quantile
from probative.inference.strata import Draw
from probative.wording.numbers import counted

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from probative._types import Ints
    from probative.surveys.expectations import Expected
    from probative.surveys.pool import Pool

__all__ = ["LEAST", "Layer", "draw_numbers", "layers_of"]

LEAST = 5  # units that are drawn of a stratum at least, if it has as many
_ROOM = 2  # how many times that the sample must have, per stratum: fewer strata, then
_CUTS = 4  # strata of one pattern by confidence, or by the number of its items
_FINE = 10  # parts of equal spread, between which long units may be cut
_NEARLY = 1.05  # what mirror images may cost in variance
_FEW = 10  # labelled units of a stratum that show its spread only roughly
_GOOD_PART = 0.1  # of the score: what such strata may hold of it


@dataclass(frozen=True, eq=False)
class Layer:
    """A stratum before anything is drawn.

    Attributes
    ----------
    name, key
        As `Stratum` has them.
    units
        The numbers of its units.
    """

    name: str
    key: str
    units: NDArray[np.intp]


def layers_of(pool: Pool, expected: Expected, size: int) -> list[Layer]:
    """Part the units of a pool by what the systems return, and by how sure they are.

    Where most of the spread lies in units of many items, as documents are, all are parted by how
    many these are, or not at all, if that promises a shorter interval.

    Parameters
    ----------
    pool
        Who returns what.
    expected
        What is expected of every unit.
    size
        How many units will be drawn: strata from which too few would come are joined.
    """
    most = max(1, size // (_ROOM * LEAST))
    patterns = _patterns(pool)
    layers = []
    for key in dict.fromkeys(pattern.key for pattern in patterns):
        layers += _cut(pool, [pattern for pattern in patterns if pattern.key == key])
    usual = _joined(layers, expected, most)
    is_some = _ROOM * LEAST <= size < pool.n_units
    if not is_some or not _has_long_units(patterns[-1].units, pool, expected):
        return usual
    return _shortest([usual, *_by_number(pool, expected, size // LEAST)], expected, size)


def _patterns(pool: Pool) -> list[Layer]:
    """Strata by who returns what, those that are empty left out."""
    if pool.is_single and pool.matched.positive is not None:
        code, names = _answers(pool)
    elif len(pool.names) == 1:
        number, what = _number(pool)
        code, names = np.minimum(number, 3), _numbered(what)
        if pool.all_classes:
            code, names = np.zeros_like(number), [(what, what)]
    else:
        code, names = _disputes(pool)
    return [
        Layer(name, key, np.flatnonzero(code == number))
        for number, (name, key) in enumerate(names)
        if (code == number).any()
    ]


def _number(pool: Pool) -> tuple[Ints, str]:
    """How many items of every unit tell something, and what they are called."""
    if len(pool.names) > 1:
        # halves of spans are in dispute, too
        return np.ceil(pool.disputed).astype(np.int64), "in dispute"
    return pool.returned[0].astype(np.int64), "labelled" if pool.all_classes else "returned"


def _numbered(what: str) -> list[tuple[str, str]]:
    words = [
        "nothing returned",
        f"1 item {what}",
        f"2 items {what}",
        f"3 or more items {what}",
    ]
    return [(word, word) for word in words]


def _answers(pool: Pool) -> tuple[Ints, list[tuple[str, str]]]:
    """Single items by who says yes."""
    yes = pool.returned > 0
    if len(yes) == 1:
        return (~yes[0]).astype(np.int64), [("yes", "yes"), ("no", "no")]
    number = yes.sum(axis=0)
    if len(yes) == 2:
        a, b = pool.names
        code = np.where(number == 2, 0, np.where(number == 0, 3, np.where(yes[0], 1, 2)))
        one = "only one says yes"
        names = [("both say yes",) * 2, (f"only {a} says yes", one), (f"only {b} says yes", one)]
        return code, [*names, ("none says yes",) * 2]
    total = len(yes)
    words = [f"all {total} say yes", *(f"{n} of {total} say yes" for n in range(total - 1, 0, -1))]
    return total - number, [(word, word) for word in (*words, "none says yes")]


def _disputes(pool: Pool) -> tuple[Ints, list[tuple[str, str]]]:
    """Units by how many items some systems return and others do not."""
    dispute, what = _number(pool)
    if pool.all_classes and pool.is_single:
        code = np.clip(dispute - 1, 0, 2)
        words = ["same label", "2 different labels", "3 or more different labels"]
        return code, [(word, word) for word in words]
    code = np.where(dispute == 0, (pool.agreed > 0).astype(np.int64), np.minimum(dispute, 3) + 1)
    nothing, *disputed = _numbered(what)
    return code, [nothing, ("agreed items only",) * 2, *disputed]


def _has_long_units(units: NDArray[np.intp], pool: Pool, expected: Expected) -> bool:
    """Whether units of many items, which differ in how many, hold most of the spread."""
    if pool.is_single or pool.doubt is not None or len(units) < _ROOM * LEAST:
        return False
    others = np.setdiff1d(np.arange(pool.n_units), units)
    own, rest = (len(part) * expected.placing(part) if len(part) else 0 for part in (units, others))
    return own > rest and bool(np.ptp(_number(pool)[0][units]))


def _by_number(pool: Pool, expected: Expected, most: int) -> Iterator[list[Layer]]:
    """The ways to part all units by how many items they have, between parts of equal spread."""
    number, what = _number(pool)
    every = np.arange(pool.n_units)
    limits = _limits(every, number, expected.alone, _FINE)
    limits = limits[limits < number.max()]
    for cuts in range(1, min(_CUTS, most)):
        for chosen in combinations(limits, cuts):
            part = np.searchsorted(chosen, number)
            parts = [every[part == which] for which in range(cuts + 1)]
            if min(map(len, parts)) >= LEAST:
                names = [_range_of_items(number[own], what) for own in parts[:-1]]
                names.append(f"{number[parts[-1]].min()} or more items {what}")
                yield [*map(Layer, names, names, parts)]


def _range_of_items(number: Ints, what: str) -> str:
    low, high = int(number.min()), int(number.max())
    return f"{counted(high, 'item') if low == high else f'{low} to {high} items'} {what}"


def _shortest(ways: list[list[Layer]], expected: Expected, size: int) -> list[Layer]:
    """The way that promises the shortest interval beside one stratum of all units.

    It is to do so even if units differ half as much as is guessed: the guess of long units is
    rough, and the fewer they are in a stratum, the less an interval can be made of what they show.
    """
    whole = [reduce(_both, ways[0])]
    beside = _foretold(whole, expected, size)
    return min([whole, *ways], key=lambda way: (_foretold(way, expected, size) / beside).max())


def _foretold(layers: list[Layer], expected: Expected, size: int) -> NDArray[np.float64]:
    """How far limits will be from the estimate, as guessed and if units differ half as much.

    As `estimate` sets them: no less than if half a unit more of every stratum had gone wrong as a
    whole. Infinite where so few units would tell a good part that a note would say so.
    """
    sizes = np.array([len(own.units) for own in layers])
    placing = [expected.placing(own.units) for own in layers]
    drawn, _ = draw_numbers([own.key for own in layers], sizes.tolist(), placing, size)
    draw = Draw.of(np.repeat(np.arange(len(layers)), drawn), sizes)
    reach = [expected.reach[own.units] for own in layers]
    parts = sizes * [own.mean() for own in reach]
    few = (draw.drawn < _FEW) & (draw.rest > 0)
    if parts[few].sum() > _GOOD_PART * parts.sum():
        return np.full(2, math.inf)
    share = 0.5 / (drawn + 1)
    least = np.array([np.mean(own**2) for own in reach]) * share * (1 - share)
    guess = np.array([expected.spread(own.units) for own in layers]) ** 2
    parts = sizes**2 * draw.rest / drawn * np.maximum([guess, guess / 4], least)
    variance = parts.sum(axis=1)
    doubt = (parts**2 / (drawn - 1)).sum(axis=1)
    freedom = np.divide(variance**2, doubt, out=np.ones(2), where=doubt > 0)
    return np.asarray(student_quantile(0.95, freedom) * np.sqrt(variance))


def _limits(
    units: NDArray[np.intp], ranked: NDArray[Any], weights: NDArray[np.float64], parts: int
) -> NDArray[Any]:
    """Where to cut units by rank, so that the parts have equal sums of weights, as far as can be.

    The highest ranks of all parts but the last, each once.
    """
    units = units[np.argsort(ranked[units], kind="stable")]
    reached = np.cumsum(weights[units])
    places = np.searchsorted(reached, reached[-1] * np.arange(1, parts) / parts)
    return np.unique(ranked[units[np.minimum(places, len(units) - 1)]])


def _cut(pool: Pool, mirrored: list[Layer]) -> list[Layer]:
    """Parts of strata with equal sums of sqrt(p(1 - p)), by confidence or by doubt.

    Mirror images are cut in the same places and stay neighbours; units of the same confidence stay
    together.
    """
    if pool.doubt is None:
        return mirrored
    what, ranked = ("doubt", pool.doubt) if pool.probability is None else ("p", pool.probability)
    units = np.concatenate([layer.units for layer in mirrored])
    if not pool.doubt[units].any():
        return mirrored
    part = np.searchsorted(_limits(units, ranked, np.sqrt(pool.doubt), _CUTS), ranked)
    layers = []
    for number in np.unique(part[units]).tolist():
        own = ranked[units[part[units] == number]]
        words = f"{what} {_range(own.min(), own.max())}"
        layers += [
            Layer(f"{layer.name}, {words}", f"{layer.key}, {words}", kept)
            for layer in mirrored
            if len(kept := layer.units[part[layer.units] == number])
        ]
    return layers


def _range(low: float, high: float) -> str:
    return f"{low:.3g}" if low == high else f"{low:.3g} to {high:.3g}"


def _joined(layers: list[Layer], expected: Expected, most: int) -> list[Layer]:
    """Neighbours joined until no stratum is too small, and there are not too many.

    Mirror images are joined with each other first: neither has another neighbour without it.
    """
    layers = list(layers)
    weights = [len(layer.units) * expected.placing(layer.units) for layer in layers]
    while len(layers) > 1:
        sizes = [len(layer.units) for layer in layers]
        tiny = min(sizes) < LEAST
        if not tiny and len(layers) <= most:
            break
        keys = [layer.key for layer in layers]
        alone = [keys.count(key) == 1 for key in keys]
        fitting = [
            i
            for i in range(len(layers) - 1)
            if keys[i] == keys[i + 1] or (alone[i] and alone[i + 1])
        ] or list(range(len(layers) - 1))
        at = sizes.index(min(sizes))
        beside = [i for i in fitting if i in (at - 1, at)] if tiny else []
        at = min(beside or fitting, key=lambda i: (weights[i] + weights[i + 1], i))
        layers[at : at + 2] = [_both(layers[at], layers[at + 1])]
        own = layers[at].units
        weights[at : at + 2] = [len(own) * expected.placing(own)]
    return layers


def _both(one: Layer, other: Layer) -> Layer:
    units = np.sort(np.concatenate([one.units, other.units]))
    key = one.key if one.key == other.key else f"{one.key}; {other.key}"
    return Layer(f"{one.name}; {other.name}", key, units)


def draw_numbers(
    keys: Sequence[str],
    sizes: Sequence[int],
    spreads: Sequence[float],
    n: int,
    drawn: Sequence[int] | None = None,
) -> tuple[Ints, Ints]:
    """How many units to draw from each stratum in all, and how many at least.

    Strata that are mirror images of each other get the same share of their units, as near as
    whole numbers allow, where that raises the variance by less than a twentieth: what is then
    said of two systems does not depend on which is called A.

    Parameters
    ----------
    keys, sizes, spreads
        Of each stratum, its key, how many units it has, and how much they differ.
    n
        How many units to draw in all.
    drawn
        How many were drawn already.
    """
    size, before = np.asarray(sizes), np.zeros(len(sizes), dtype=np.int64)
    before = before if drawn is None else np.asarray(drawn)
    least = np.maximum(before, np.minimum(min(LEAST, max(1, n // len(sizes))), size))
    if least.sum() > n:
        least = before
    best = allocate(size, spreads, n, least)
    even = _evenly(keys, size, spreads, n, least)
    if even is not None:
        costs = [sampling_variance(size, spreads, own) for own in (best, even)]
        if costs[1] <= _NEARLY * costs[0]:
            best = even
    return best, least


def _evenly(
    keys: Sequence[str], size: Ints, spreads: Sequence[float], n: int, least: Ints
) -> Ints | None:
    """The best numbers of which strata with the same key get equal shares; None without such."""
    groups = [np.flatnonzero(np.array(keys) == key) for key in dict.fromkeys(keys)]
    if len(groups) == len(keys):
        return None
    spread = np.asarray(spreads, dtype=np.float64)
    together = np.array([size[own].sum() for own in groups])
    # drawn at one rate, the strata of a group have the variance of one with this spread
    rms = [np.sqrt((size[own] * spread[own] ** 2).sum() / size[own].sum()) for own in groups]
    number = allocate(together, rms, n, [least[own].sum() for own in groups])
    even = least.copy()
    for own, total in zip(groups, number.tolist(), strict=True):
        while even[own].sum() < total:  # the next unit where the share is furthest behind
            open_ = own[even[own] < size[own]]
            even[open_[np.argmin((even[open_] + 0.5) / size[open_])]] += 1
    return even
