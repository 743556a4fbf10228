"""Form the strata of a pool from what is known of its units before annotation."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import reduce
from itertools import combinations
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from probative.errors import InputError
from probative.inference.stratified import Draw, allocate, sampling_variance
from probative.inference.units import student_quantile
from probative.reading.annotations import part_of
from probative.reading.inputs import is_path
from probative.surveys.pool import Pool, n_parts, names_of_parts, places_of_names
from probative.wording.numbers import counted

if TYPE_CHECKING:
    from probative._validation import Array as Floats
    from probative._validation import Ints
    from probative.matching.matched import Matched

    Numbers = Sequence[int]
    Units = NDArray[np.intp]

LEAST = 5  # fewest units drawn from a stratum, if it has as many
_TIMES_LEAST_PER_STRATUM = 2  # the sample has at least this many times LEAST units per stratum
_MOST_CUTS = 4  # most strata of one pattern by confidence, or by the number of items
_CANDIDATE_PARTS = 10  # parts of equal spread, between which long units may be cut
_MOST_COST_OF_MIRRORS = 1.05  # most variance of equal mirrored rates, relative to the optimum
_FEW_UNITS = 10  # strata with fewer labelled units show their spread only roughly
_MOST_SHARE_OF_FEW = 0.1  # most share of the score in such strata


class _Layer(NamedTuple):
    """A stratum before anything is drawn: name and key (see `Stratum`), and its units."""

    name: str
    key: str
    units: Units


def layers_of(pool: Pool, expected: Expected, size: int) -> list[_Layer]:
    """Group the units of a pool by what the systems return, and by their confidence."""
    # If units of many items, such as documents, hold most of the spread, all units may be grouped
    # by their number of items, or not at all, if that forecasts a shorter interval. Strata that
    # would give too few of the `size` units to draw are merged.
    by_answer = pool.is_single and pool.matched.positive is not None
    code, names, keys = (_answers if by_answer else _numbers_of_items)(pool)
    members = (np.flatnonzero(code == number) for number in range(len(names)))
    patterns = [layer for layer in map(_Layer, names, keys, members) if len(layer.units)]
    layers = []
    for key in dict.fromkeys(pattern.key for pattern in patterns):
        layers += _cut(pool, [pattern for pattern in patterns if pattern.key == key])
    by_pattern = _joined(layers, expected, max(1, size // (_TIMES_LEAST_PER_STRATUM * LEAST)))
    is_some = _TIMES_LEAST_PER_STRATUM * LEAST <= size < pool.n_units
    if not is_some or not _has_long_units(patterns[-1].units, pool, expected):
        return by_pattern
    # the shortest forecast interval, relative to one stratum of all units; the worse of two
    # forecasts counts, because the guess of long units is rough
    whole = [reduce(_both, by_pattern)]
    beside = _foretold(whole, expected, size)
    ways = [whole, by_pattern, *_by_number(pool, expected, size // LEAST)]
    return min(ways, key=lambda way: (_foretold(way, expected, size) / beside).max())


def _number(pool: Pool) -> tuple[Ints, str]:
    """Count the informative items of every unit; return also their name."""
    if len(pool.names) > 1:
        # a span may be two half items: half a span in dispute counts as one
        return np.ceil(pool.disputed).astype(np.int64), "in dispute"
    return pool.returned[0].astype(np.int64), "labelled" if pool.matched.all_classes else "returned"


def _answers(pool: Pool) -> tuple[Ints, list[str], list[str]]:
    """Group single items by which systems say yes; return codes, names and keys of the groups."""
    yes = pool.returned > 0
    total, number = len(yes), yes.sum(axis=0)
    if total == 2:
        code = np.where(number == 2, 0, np.where(number == 0, 3, np.where(yes[0], 1, 2)))
        one = [f"only {name} says yes" for name in pool.names]
        ends = "both say yes", "none says yes"
        return code, [ends[0], *one, ends[1]], [ends[0], *["one says yes"] * 2, ends[1]]
    some = [f"{n} of {total} say yes" for n in range(total - 1, 0, -1)]
    words = ["yes", "no"] if total == 1 else [f"all {total} say yes", *some, "none says yes"]
    return total - number, words, words


def _numbers_of_items(pool: Pool) -> tuple[Ints, list[str], list[str]]:
    """Group units by their number of informative items; return as `_answers` does."""
    number, what = _number(pool)
    several = len(pool.names) > 1
    code = np.minimum(number, 3)
    names = ["nothing returned", f"1 item {what}", f"2 items {what}", f"3 or more items {what}"]
    if pool.matched.all_classes and not several:
        code, names = np.zeros_like(number), [what]
    elif pool.matched.all_classes and pool.is_single:
        names = ["same label", "2 different labels", "3 or more different labels"]
        code = np.clip(number - 1, 0, 2)
    elif several:
        code = np.where(number == 0, (pool.agreed > 0).astype(np.int64), code + 1)
        names.insert(1, "agreed items only")
    return code, names, names


def _has_long_units(units: Units, pool: Pool, expected: Expected) -> bool:
    """Return True if units of many items, in varying numbers, hold most of the spread."""
    if pool.is_single or pool.doubt is not None or len(units) < _TIMES_LEAST_PER_STRATUM * LEAST:
        return False
    others = np.setdiff1d(np.arange(pool.n_units), units)
    weight = len(units) * expected.placing(units)
    other_weight = len(others) * expected.placing(others) if len(others) else 0
    return weight > other_weight and bool(np.ptp(_number(pool)[0][units]))


def _by_number(pool: Pool, expected: Expected, most: int) -> Iterator[list[_Layer]]:
    """Yield the ways to cut all units by number of items, between parts of equal spread."""
    number, what = _number(pool)
    every = np.arange(pool.n_units)
    limits = _limits(every, number, expected.alone, _CANDIDATE_PARTS)
    limits = limits[limits < number.max()]
    for cuts in range(1, min(_MOST_CUTS, most)):
        for chosen in combinations(limits, cuts):
            part = np.searchsorted(chosen, number)
            parts = [every[part == which] for which in range(cuts + 1)]
            if min(map(len, parts)) >= LEAST:
                ends = [(int(number[own].min()), int(number[own].max())) for own in parts]
                names = [
                    f"{counted(high, 'item') if low == high else f'{low} to {high} items'} {what}"
                    for low, high in ends[:-1]
                ]
                names.append(f"{ends[-1][0]} or more items {what}")
                yield [*map(_Layer, names, names, parts)]


def _foretold(layers: list[_Layer], expected: Expected, size: int) -> Floats:
    """Forecast the half length of the interval, as guessed and if units differ half as much."""
    # As in `estimate`, the variance is at least that of half a unit more going wrong as a whole in
    # every stratum. The forecast is infinite if strata with few labelled units hold a large share
    # of the score.
    sizes = np.array([len(own.units) for own in layers])
    drawn, _ = numbers_of(layers, expected, size)
    draw = Draw(np.repeat(np.arange(len(layers)), drawn), sizes)
    reach = [expected.reach[own.units] for own in layers]
    parts = sizes * [own.mean() for own in reach]
    few = (draw.drawn < _FEW_UNITS) & (draw.rest > 0)
    if parts[few].sum() > _MOST_SHARE_OF_FEW * parts.sum():
        return np.full(2, math.inf)
    share = 0.5 / (drawn + 1)
    least = np.array([np.mean(own**2) for own in reach]) * share * (1 - share)
    guess = np.array([expected.spreads(own.units)[0] for own in layers]) ** 2
    parts = sizes**2 * draw.rest / drawn * np.maximum([guess, guess / 4], least)
    variance = parts.sum(axis=1)
    satterthwaite = (parts**2 / (drawn - 1)).sum(axis=1)
    freedom = np.divide(variance**2, satterthwaite, out=np.ones(2), where=satterthwaite > 0)
    return np.asarray(student_quantile(0.95, freedom) * np.sqrt(variance))


def _limits(units: Units, ranked: NDArray[Any], weights: Floats, parts: int) -> NDArray[Any]:
    """Return the highest values of `ranked` in all parts of equal weight but the last."""
    units = units[np.argsort(ranked[units], kind="stable")]
    reached = np.cumsum(weights[units])
    places = np.searchsorted(reached, reached[-1] * np.arange(1, parts) / parts)
    return np.unique(ranked[units[np.minimum(places, len(units) - 1)]])


def _cut(pool: Pool, mirrored: list[_Layer]) -> list[_Layer]:
    """Cut strata into parts with equal sums of sqrt(p(1 - p)); mirror images at the same values."""
    if pool.doubt is None:
        return mirrored
    what, ranked = ("doubt", pool.doubt) if pool.probability is None else ("p", pool.probability)
    units = np.concatenate([layer.units for layer in mirrored])
    if not pool.doubt[units].any():
        return mirrored
    part = np.searchsorted(_limits(units, ranked, np.sqrt(pool.doubt), _MOST_CUTS), ranked)
    layers = []
    for number in np.unique(part[units]).tolist():
        values = ranked[units[part[units] == number]]
        low, high = values.min(), values.max()
        words = f"{what} {low:.3g}" if low == high else f"{what} {low:.3g} to {high:.3g}"
        layers += [
            _Layer(f"{layer.name}, {words}", f"{layer.key}, {words}", kept)
            for layer in mirrored
            if len(kept := layer.units[part[layer.units] == number])
        ]
    return layers


def _joined(layers: list[_Layer], expected: Expected, most: int) -> list[_Layer]:
    """Merge neighbours until no stratum is too small and there are `most`; mirror images first."""
    layers = list(layers)
    weights = [len(layer.units) * expected.placing(layer.units) for layer in layers]
    while len(layers) > 1:
        sizes = [len(layer.units) for layer in layers]
        tiny = min(sizes) < LEAST
        if not tiny and len(layers) <= most:
            break
        keys = [layer.key for layer in layers]
        alone = [keys.count(key) == 1 for key in keys]
        every = range(len(layers) - 1)
        alike = [i for i in every if keys[i] == keys[i + 1] or (alone[i] and alone[i + 1])]
        fitting = alike or every
        at = sizes.index(min(sizes))
        beside = [i for i in fitting if i in (at - 1, at)] if tiny else []
        at = min(beside or fitting, key=lambda i: (weights[i] + weights[i + 1], i))
        layers[at : at + 2] = [_both(layers[at], layers[at + 1])]
        merged = layers[at].units
        weights[at : at + 2] = [len(merged) * expected.placing(merged)]
    return layers


def _both(first: _Layer, second: _Layer) -> _Layer:
    """Merge two strata."""
    units = np.sort(np.concatenate([first.units, second.units]))
    key = first.key if first.key == second.key else f"{first.key}; {second.key}"
    return _Layer(f"{first.name}; {second.name}", key, units)


def numbers_of(layers: Sequence[_Layer], expected: Expected, n: int) -> tuple[Ints, Ints]:
    """Return how many units to draw from each layer, and how many at least."""
    placing = [expected.placing(own.units) for own in layers]
    return draw_numbers([own.key for own in layers], [len(own.units) for own in layers], placing, n)


def draw_numbers(
    keys: Sequence[str], sizes: Numbers, spreads: Sequence[float], n: int, drawn: Numbers = ()
) -> tuple[Ints, Ints]:
    """Return how many units to draw from each stratum in all, and how many at least."""
    # Strata that are mirror images get the same sampling rate, as nearly as integers allow, if that
    # raises the variance by at most a twentieth: the comparison of two systems then does not depend
    # on which is called A. `drawn` holds the units drawn before.
    size = np.asarray(sizes)
    before = np.asarray(drawn or [0] * len(sizes))
    least = np.maximum(before, np.minimum(min(LEAST, max(1, n // len(sizes))), size))
    if least.sum() > n:
        least = before
    best = allocate(size, spreads, n, least)
    groups = [np.flatnonzero(np.array(keys) == key) for key in dict.fromkeys(keys)]
    if len(groups) == len(keys):
        return best, least
    # the best numbers with equal rates in strata of the same key
    squares = size * np.asarray(spreads, dtype=np.float64) ** 2
    sums = [[own[members].sum() for members in groups] for own in (size, squares, least)]
    together, summed, fewest = map(np.array, sums)
    # at one rate, the strata of a group have the variance of one stratum with this spread
    number = allocate(together, np.sqrt(summed / together), n, fewest)
    even = least.copy()
    for members, total in zip(groups, number.tolist(), strict=True):
        while even[members].sum() < total:  # the next unit where the rate is lowest
            open_ = members[even[members] < size[members]]
            even[open_[np.argmin((even[open_] + 0.5) / size[open_])]] += 1
    costs = [sampling_variance(size, spreads, numbers) for numbers in (best, even)]
    return even if costs[1] <= _MOST_COST_OF_MIRRORS * costs[0] else best, least


# --- Expected variance of units before they are annotated
# The quantity to estimate, the F1 of a system or a difference of two, is to first order a sum
# over units of e = sum_s c_s tp_s + c_g g, where c is the gradient of the ratio of totals. An
# item that some systems return is right with a probability that depends on how many of them
# return it; items that nobody returns occur at a rate. So every unit has an expected e and a
# variance, and the variance of a stratum is the mean of the variances plus the variance of the
# means. These guesses decide only the allocation of the sample, not the estimates from it.

# Guesses without evidence: the probability that an item is right if all systems return it, if
# some do, if the only system does; items missed by all systems per item returned
_AGREED, _DISPUTED, _ALONE, _MISSED = 0.75, 1 / 3, 0.6, 0.5
# Weight of the variance of scores if the goal is a difference: its interval is hardly longer for
# it, and those of the scores, which are shown beside it, are much shorter
_WEIGHT_OF_SCORES = 0.05
_WEIGHT_OF_GUESS = 5.0  # in annotated units (items)
_MOST_RELATIVE_DOUBT = 20.0  # most factor of a unit's doubt relative to the mean, either way


class _Evidence:
    """The counts of annotated units, or of all units against a judge."""

    def __init__(self, matched: Matched, unit_of_part: Any, source: str) -> None:
        items, self.source = matched.items, source  # "pilot" or "judge"
        units, unit = np.unique(unit_of_part, return_inverse=True)
        self.units = units.astype(np.int64)  # their indices in the pool
        of_item = unit.reshape(-1)[items.unit]
        times = items.weights("sentence")

        def number(which: Any) -> Floats:
            weights = None if times is None else times[which]
            counted = np.bincount(of_item[which], weights=weights, minlength=len(units))
            return np.asarray(items.weight * counted, dtype=np.float64)

        everyone, anyone, right = items.says.all(axis=0), items.says.any(axis=0), items.answer
        # right items by unit: that all systems return, that some do, and that nobody does
        self.right_agreed = number(right & everyone)
        self.right_disputed = number(right & anyone & ~everyone)
        self.missed = number(right & ~anyone)
        self.tp = np.stack([number(right & says) for says in items.says])  # one row per system
        self.g = number(right)  # items to be found


class Expected:
    """The expected mean and variance of every e (one row per system or pair) and unit, in items."""

    def __init__(self, pool: Pool, goal: str, evidence: _Evidence | None = None) -> None:
        right, missed = _chances(pool, evidence), _missed(pool, evidence)
        says, weight = pool.says, pool.weight
        returned = pool.returned.sum(axis=1)
        expected = (weight * says * right).sum(axis=1)
        total = float((weight * right).sum()) + float(missed.sum())
        if pool.matched.all_classes:
            total = float(len(pool.matched.gold))  # every item has exactly one label
        # the gradients in items, those of the goal first
        below = np.maximum(returned + total, 1.0)
        scores = np.zeros((len(says), len(says) + 1))
        scores[:, :-1] = np.diag(2 / below)
        scores[:, -1] = -(2 * expected / below) / below
        self.scale = float(below.mean()) / 2  # the divisor that turns items into changes of F1
        pairs = combinations(range(len(says)), 2) if goal == "difference" else ()
        gaps = [scores[b] - scores[a] for a, b in pairs]
        # the rows that are the goal; the others are the scores beside differences
        self.n_goals = len(gaps) or len(scores)
        contrasts = np.stack([*gaps, *scores]) * self.scale
        to_find = np.zeros(len(contrasts)) if pool.matched.all_classes else contrasts[:, -1]
        item = contrasts[:, :-1] @ says + to_find[:, None]
        unit, n_units = pool.unit_of_item, pool.n_units

        def by_unit(values: Floats) -> Floats:
            return np.stack([np.bincount(unit, weights=row, minlength=n_units) for row in values])

        self.mean = by_unit(weight * item * right) + to_find[:, None] * missed
        unsure = missed * (1 - np.minimum(missed, 1)) if pool.is_single else missed
        items = by_unit((weight * item) ** 2 * right * (1 - right))
        self.variance = items + to_find[:, None] ** 2 * unsure
        if pool.doubt is not None and pool.probability is None:
            self.variance = self.variance * _relative(pool.doubt)
        self.evidence, self.observed = evidence, None  # e of units with evidence, in the same rows
        if evidence is not None:
            self.observed = contrasts[:, :-1] @ evidence.tp + to_find[:, None] * evidence.g
        # the basis: "guess", "scores", "pilot" or "judge"
        self.why = evidence.source if evidence else "guess" if pool.doubt is None else "scores"
        # the most that every unit could change the goal, in items
        self.reach = pool.disputed if goal == "difference" else pool.returned.mean(axis=0)
        # the spread that every unit would have for the allocation as its own stratum
        of_goals, of_scores = np.split(self.variance, [self.n_goals])
        beside = _WEIGHT_OF_SCORES * of_scores.mean(axis=0) if len(of_scores) else 0.0
        self.alone = np.asarray(np.sqrt(of_goals.mean(axis=0) + beside))
        # the standard deviation of the goal among all units of the pool
        every = (self.mean.var(axis=1) + self.variance.mean(axis=1))[: self.n_goals]
        self.overall = float(np.sqrt(every.mean()))

    def spreads(self, units: Units) -> tuple[float, float]:
        """Return the standard deviation of the goal among units of one stratum, and beside it."""
        # beside it: what the scores add if the goal is a difference; 0 for scores
        guess = self.mean[:, units].var(axis=1) + self.variance[:, units].mean(axis=1)
        if self.observed is not None and self.evidence is not None:
            known = np.flatnonzero(np.isin(self.evidence.units, units))
            if len(known) > 1:
                seen = len(known) * self.observed[:, known].var(axis=1, ddof=1)
                guess = (seen + _WEIGHT_OF_GUESS * guess) / (len(known) + _WEIGHT_OF_GUESS)
        goals, scores = np.split(guess, [self.n_goals])
        beside = np.sqrt(_WEIGHT_OF_SCORES * scores.mean()) if len(scores) else 0.0
        return float(np.sqrt(goals.mean())), float(beside)

    def placing(self, units: Units) -> float:
        """Return the spread that decides the allocation."""
        return float(np.hypot(*self.spreads(units)))


def _chances(pool: Pool, evidence: _Evidence | None) -> Floats:
    """Return the probability that each returned item is right."""
    says = pool.says
    if pool.probability is not None and pool.matched.positive is not None:
        return np.asarray(pool.probability[pool.unit_of_item])  # p is the probability of "yes"
    agreed, disputed = (_ALONE if len(says) == 1 else _AGREED), _DISPUTED
    if evidence is not None:
        units = evidence.units
        agreed = _updated(agreed, evidence.right_agreed, pool.agreed[units])
        disputed = _updated(disputed, evidence.right_disputed, pool.disputed[units])
    sure: Any = agreed
    if pool.probability is not None and evidence is None:
        sure = pool.probability[pool.unit_of_item]  # of the label on which all agree
    return np.where(says.all(axis=0), sure, np.where(says.any(axis=0), disputed, 0.0))


def _missed(pool: Pool, evidence: _Evidence | None) -> Floats:
    """Return the expected number of items in every unit that nobody returns."""
    if pool.matched.all_classes:
        return np.zeros(pool.n_units)
    nothing = (pool.agreed == 0) & (pool.disputed == 0)
    if pool.is_single and pool.matched.positive is not None:
        if pool.probability is not None:
            return np.where(nothing, pool.probability, 0.0)
        likely = nothing.astype(np.float64)  # a unit holds one item: none is missed if returned
    else:
        likely = 1 + pool.disputed  # units with disagreement are taken to have more misses
        if pool.doubt is not None:
            likely = likely * _relative(pool.doubt)
    returned = float((pool.agreed + pool.disputed).sum())
    rate = _MISSED * max(returned, 1.0) / max(float(likely.sum()), 1.0)
    if evidence is not None:
        rate = _updated(rate, evidence.missed, likely[evidence.units])
    expected = rate * likely
    return np.asarray(np.minimum(expected, 0.5) if pool.is_single else expected)


def _updated(guess: float, right: Floats, number: Floats) -> float:
    """Update a probability or rate by evidence; the guess counts as a few items."""
    known = float(number.sum())
    return (float(right.sum()) + _WEIGHT_OF_GUESS * guess) / (known + _WEIGHT_OF_GUESS)


def _relative(doubt: Floats) -> Floats:
    """Return the doubt in every unit relative to the mean, within bounds."""
    mean = float(doubt.mean())
    if not mean > 0:
        return np.ones_like(doubt)
    return np.clip(doubt / mean, 1 / _MOST_RELATIVE_DOUBT, _MOST_RELATIVE_DOUBT)


# --- Evidence from annotated units


def evidence_of(
    pool: Pool, pilot: Any, drawn: Ints | None = None
) -> tuple[_Evidence | None, list[str]]:
    """Return the counts of a pilot, or else of all units against the judge, if any; and notes."""
    # if the pilot is a sample, `drawn` holds its units: of equal texts, these are taken
    if pilot is None:
        judged = pool.judged
        return None if judged is None else _Evidence(judged, pool.unit_of_part, "judge"), []
    parts: Ints | None = None
    if isinstance(pilot, tuple) and len(pilot) == 2 and not is_path(pilot[0]):
        numbers, pilot = np.asarray(pilot[0]), pilot[1]
        whole = numbers.ndim == 1 and numbers.dtype.kind in "iu" and len(numbers)
        if not whole or len(np.unique(numbers)) < len(numbers):
            raise InputError("pilot: expected numbers of different units, and their annotations")
        if numbers.min() < 0 or numbers.max() >= pool.n_units:
            raise InputError(f"pilot: a unit is not in the pool; expected 0 to {pool.n_units - 1}")
        parts = pool.parts_of(numbers.astype(np.int64))
    side = pool.read_gold(pilot, "pilot")
    if side.task != pool.task:
        raise InputError(f"pilot: is {side.task}, but the outputs are {pool.task}")
    notes: list[str] = []
    if parts is None:
        in_pool, places = _look_up(pool, side, drawn)
        # keep only units (documents) of which all sentences are annotated
        unit = pool.unit_of_part
        n_found, n_all = (np.bincount(u, minlength=pool.n_units) for u in (unit[in_pool], unit))
        kept = (n_found == n_all)[unit[in_pool]]
        in_pool, places = in_pool[kept], places[kept]
        total = n_parts(side)
        if not len(in_pool):
            raise InputError(f"pilot: none of its {total} units is in the pool as a whole")
        if len(in_pool) < total:
            what = f"{total - len(in_pool)} of its {total} units are not in the pool as a whole"
            notes.append(f"pilot: {what} and are left out")
        side, parts = part_of(side, places), in_pool
    return _Evidence(pool.match(side, parts), pool.unit_of_part[parts], "pilot"), notes


def _look_up(pool: Pool, side: Any, drawn: Ints | None) -> tuple[Ints, Ints]:
    """Return the places of annotated sentences in the pool, and in their own file."""
    names = names_of_parts(pool.sides[0], side)
    if names is None:
        raise InputError("pilot: its units are unknown; expected tokens, texts or ids of the pool")
    mine, theirs = names
    order = np.arange(len(mine))
    if drawn is not None:  # of equal texts, prefer those that were drawn
        first = pool.parts_of(drawn)
        order = np.concatenate([first, np.setdiff1d(order, first)])
    places = places_of_names(mine, order, theirs)
    found = np.flatnonzero(places >= 0)
    return places[found], found
