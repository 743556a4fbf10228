"""Do limits and tests hold at every look? Labels arrive in batches, and somebody looks each time.

Streams of units are drawn as in the study of few and uneven units. Counted is whether the truth was
ever outside the limits, and whether exchangeable systems were ever distinguished; beside it, the
same of a fixed interval and of a fixed test that somebody looks at as often.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.random import Generator
from scipy import special

from probative._validation import Array, Ints, Mask, open_probability, whole_number
from probative.counts import Counts, PairedCounts
from probative.errors import InputError
from probative.inference.intervals import clopper_pearson
from probative.inference.sampled import ERROR, LEVELS, MOST, looks
from probative.inference.sequential import (
    FEWEST,
    LabelledUnits,
    Wealth,
    log_e_value,
    look_limits,
    order_of_drawing,
    planned_grid,
    stratified_looks,
)
from probative.inference.stratified import Draw, PoolScores, allocate
from probative.inference.units import jackknife_variance
from probative.metrics import contributions, f1_from_jaccard, score
from probative_studies.clusters import Condition, case_shares, draw, true_difference
from probative_studies.harness import Report, Row, mean, quiet, share_error
from probative_studies.harness import streams as seeded

# a sentence has few items; a document many, and of uneven number
CONDITIONS = (
    Condition("difference", f1=0.75, items=2, filled=0.6, sizes="zipf", correlation=0.1),
    Condition("difference", f1=0.45, items=2, filled=0.6, sizes="zipf", correlation=0.3),
    Condition("difference", f1=0.9, items=10, sizes="lognormal", correlation=0.1),
)
_GAP = 0.015  # of systems that differ


def look_study(
    conditions: Sequence[Condition] = CONDITIONS,
    *,
    level: float = 0.95,
    units: int = 1000,
    batch: int = 5,
    streams: int = 1000,
    item_streams: int = 10_000,
    rng: int = 0,
    report: Report = quiet,
) -> list[Row]:
    """Simulate streams of labels and look after every batch.

    >>> item, *_ = look_study((), item_streams=200)
    >>> item.share <= 0.05 < item.fixed
    True
    """
    level = open_probability("level", level)
    seed = whole_number("rng", rng, least=0)
    parts = 3 + 2 * len(conditions)
    results = []
    for share, generator in seeded((0.3, 0.6, 0.9), seed, lambda done, _: report(done, parts)):
        results.append(_items(share, level, units, batch, item_streams, generator))
    for place, condition in enumerate(conditions):
        generator = np.random.default_rng([seed, 100 + place])
        for step, gap in enumerate((0.0, _GAP)):
            report(3 + 2 * place + step, parts)
            results += _units(condition, gap, level, units, batch, streams, generator)
    return results


def _items(share: float, level: float, items: int, batch: int, streams: int, rng: Generator) -> Row:
    """Look at the mixture sequence for F1 of single items, and at Wilson's interval as often."""
    looks = np.arange(batch, items + 1, batch)
    hits = np.cumsum(rng.binomial(batch, share, (streams, len(looks))), axis=1)
    doubted = log_e_value(hits, looks, share) >= -math.log1p(-level)
    z = -special.ndtri((1 - level) / 2)
    fixed = np.abs(hits - looks * share) > z * np.sqrt(looks * share * (1 - share))
    about = "F1 of items", f"F1 {f1_from_jaccard(share):.2f}", len(looks), items
    return _ever_wrong(*about, doubted.any(axis=1), fixed.any(axis=1))


def _units(
    condition: Condition,
    gap: float,
    level: float,
    units: int,
    batch: int,
    streams: int,
    rng: Generator,
) -> list[Row]:
    """Look at the sequences for F1, the difference and the bets by unit, beside fixed ones."""
    condition = replace(condition, gap=gap, units=units)
    shares = case_shares(condition)
    truths = float(score(PairedCounts(shares).a, "f1")), true_difference(shares)
    wrong = np.zeros((3, 2, streams), dtype=bool)
    once = np.zeros(streams, dtype=bool)
    for stream in range(streams):
        rows = PairedCounts(draw(rng, condition, shares))
        wrong[..., stream], once[stream] = _watched(rows, truths, level, batch)
    kind = f"{condition.items} items per unit, {condition.sizes}"
    return _results(condition, kind, units // batch, units, ("F1 of units",), wrong, once)


def _watched(
    rows: PairedCounts, truths: tuple[float, float], level: float, batch: int
) -> tuple[Mask, bool]:
    """Return whether score, difference and bets were ever wrong, and whether fixed ones were."""
    # what `SequentialTest` does at every look, without sorting all units again for each
    wrong, once = np.zeros((3, 2), dtype=bool), False
    z = float(-special.ndtri((1 - level) / 2))
    (xa, ya), (xb, yb) = (
        [np.asarray(part, dtype=np.float64) for part in contributions(side, "f1")]
        for side in (rows.a, rows.b)
    )
    units = len(ya)
    wealth, every = Wealth(planned_grid(units, level)), np.ones(units)
    for end in range(batch, units + 1, batch):
        a, b = (xa[:end], ya[:end]), (xb[:end], yb[:end])
        asked = (([a], (0.0, 1.0)), ([a, b], (-1.0, 1.0)))
        looks = [look_limits(own, every[:end], ends, units, level=level) for own, ends in asked]
        for place, (look, truth) in enumerate(zip(looks, truths, strict=True)):
            wrong[place, 0] |= not look[1] <= truth <= look[2]
        common = (a[0].sum() + b[0].sum()) / max(a[1].sum() + b[1].sum(), 1.0)
        lead = (xb - xa - common * (yb - ya))[end - batch : end]
        wealth = wealth.bet(lead[lead != 0], units=batch)
        wrong[2, 0] |= wealth.pvalue() <= 1 - level
        there = a[1] + b[1] > 0
        if there.sum() < FEWEST:
            continue
        for place, (own, _) in enumerate(asked):
            rest = [(x[there], y[there]) for x, y in own]
            error = math.sqrt(jackknife_variance(rest, every[:end][there]))
            wrong[place, 1] |= abs(looks[place][0] - truths[place]) > z * error
        once = abs(looks[1][0]) > z * error
        wrong[2, 1] |= once
    return wrong, once


def _ever_wrong(
    what: str,
    condition: str,
    looks: int,
    units: int,
    wrong: Mask,
    fixed: Mask,
    once: float | None = None,  # how often the fixed test decides at the end, looked at once
) -> Row:
    """Count the streams in which something was ever wrong, and in which fixed limits were."""
    share, streams = mean(wrong), len(wrong)
    about = {"what": what, "condition": condition, "looks": looks, "units": units}
    error = share_error(share, streams, least=1 / streams)
    found = {"share": share, "standard_error": error, "fixed": mean(fixed), "once": once}
    return Row(**about, **found, streams=streams)


# --- A stratified sample
#
# A pool of units is drawn as above, and a sample of it as `sample` draws one: strata by what the
# systems return, most units where they disagree, the mirror images of single items apart. Its units
# are labelled in the order of drawing. Counted is whether the truth of the pool was ever outside
# the limits, and whether exchangeable systems were ever distinguished; beside it, the same of the
# limits of one look.

# sentences of a few items, and single items that a system says yes or no to
_POOLS = (
    Condition("difference", f1=0.75, items=2, filled=0.6, sizes="zipf", correlation=0.1),
    Condition("difference", f1=0.45, items=2, filled=0.6, sizes="zipf", correlation=0.3),
    Condition("difference", f1=0.75, items=1, sizes="item", correlation=0.0, disputed=0.2),
)
_POOL_GAP = 0.03  # of systems that differ
_DECIDED = "limits decide for B"
_LEAST_OF_A_STRATUM = 5  # units of a stratum


def watching_study(
    conditions: Sequence[Condition] = _POOLS,
    *,
    level: float = 0.95,
    pool: int = 2000,
    units: int = 400,
    batch: int = 20,
    streams: int = 500,
    rng: int = 0,
    report: Report = quiet,
) -> list[Row]:
    """Simulate pools, samples and looks.

    >>> score, *_ = watching_study(units=60, streams=2, batch=30)
    >>> score.looks
    2
    """
    level = open_probability("level", level)
    pool, units = whole_number("pool", pool), whole_number("units", units)
    if units > pool:
        raise InputError(f"units: {units}, but the pool has {pool}; expected at most that")
    batch, number = whole_number("batch", batch), whole_number("streams", streams)
    results: list[Row] = []
    parts = [replace(c, gap=gap, units=pool) for c in conditions for gap in (0.0, _POOL_GAP)]
    for place, (own, generator) in enumerate(seeded(parts, rng, quiet)):
        wrong = np.zeros((4, 2, number), dtype=bool)
        once = np.zeros(number, dtype=bool)
        for stream in range(number):
            report(place * number + stream, len(parts) * number)
            rows = draw(generator, own, case_shares(own))
            wrong[..., stream], once[stream] = _follow(rows, level, units, batch, generator)
        kind = "single items" if own.sizes == "item" else f"{own.items} items per unit"
        ends = "F1 of the pool", _DECIDED
        results += _results(own, kind, math.ceil(units / batch), units, ends, wrong, once)
    return results


def _follow(rows: Array, level: float, units: int, batch: int, rng: Generator) -> tuple[Mask, bool]:
    """Return whether limits of F1 and B - A missed, and test and limits decided, ever and once."""
    paired = PairedCounts(rows)
    truths = tuple(float(score(side.sum(), "f1")) for side in (paired.a, paired.b))
    difference = truths[1] - truths[0]
    labelled, planned = _draw_sample(rows, units, rng)
    alone = replace(labelled, systems=labelled.systems[:1])
    ends = [*range(batch, units, batch), units]
    wrong = np.zeros((4, 2), dtype=bool)
    once = False
    both = zip(
        stratified_looks(alone, ends, planned, level=level),
        stratified_looks(labelled, ends, planned, level=level),
        strict=True,
    )
    for one, two in both:
        wrong[0, 0] |= not one.low <= truths[0] <= one.high
        wrong[1, 0] |= not two.low <= difference <= two.high
        wrong[2, 0] |= two.pvalue is not None and two.pvalue <= 1 - level
        wrong[3, 0] |= two.decided == "b"
        if two.note is not None and "no limits yet" in two.note:
            continue
        so_far = labelled.first(two.units)
        draw_ = Draw(so_far.stratum, so_far.sizes)
        how: dict[str, Any] = {"level": level, "disputed": so_far.disputed}
        fixed, beyond = (PoolScores(so_far.systems, draw_, finite=f, **how) for f in (True, False))
        apart, first = fixed.difference(), fixed.score()
        wrong[0, 1] |= not first.low <= truths[0] <= first.high
        wrong[1, 1] |= not apart.low <= difference <= apart.high
        wrong[3, 1] |= apart.low > 0
        # exchangeable systems are equal beyond the pool, not in it
        apart = beyond.difference()
        once = not apart.low <= 0 <= apart.high
        wrong[2, 1] |= once
    return wrong, once


def _draw_sample(rows: Array, units: int, rng: Generator) -> tuple[LabelledUnits, list[int]]:
    """Draw units within strata, in the order of drawing, and how many of each stratum."""
    stratum, mirror = _strata(rows)
    sizes = np.bincount(stratum)
    disputed = rows[:, :4].sum(axis=1)
    spread = np.sqrt(np.bincount(stratum, weights=disputed + 0.05) / sizes)
    numbers = allocate(sizes, spread, units, np.minimum(_LEAST_OF_A_STRATUM, sizes))
    drawn = [
        rng.permutation(np.flatnonzero(stratum == h))[:number]
        for h, number in enumerate(numbers.tolist())
    ]
    chosen, rank = np.concatenate(drawn), np.concatenate([np.arange(len(own)) for own in drawn])
    chosen = chosen[order_of_drawing(stratum[chosen], rank)]
    paired = PairedCounts(rows[chosen])
    systems = tuple(Counts(side.tp, side.fp, side.fn) for side in (paired.a, paired.b))
    labelled = LabelledUnits(systems, chosen, stratum[chosen], sizes, mirror, disputed[chosen])
    return labelled, numbers.tolist()


def _strata(rows: Array) -> tuple[Ints, Ints]:
    """Return strata by what two systems return, and the mirror image of each."""
    only_a, only_b = rows[:, 0] + rows[:, 1], rows[:, 2] + rows[:, 3]
    agreed = rows[:, 4] + rows[:, 5]
    if rows.sum(axis=1).max() <= 1:  # single items: who says yes
        kind = np.select([only_a > 0, only_b > 0, agreed > 0], [2, 3, 1], 0)
        images = np.array([0, 1, 3, 2])
    else:
        disputed = np.minimum(only_a + only_b, 3).astype(int)
        kind = np.where(disputed > 0, 1 + disputed, agreed > 0)
        images = np.arange(5)
    there, stratum = np.unique(kind, return_inverse=True)
    place = {int(k): i for i, k in enumerate(there)}
    mirror = [place.get(int(images[k]), i) for i, k in enumerate(there)]
    return stratum.reshape(-1), np.array(mirror)


def _results(
    condition: Condition,
    kind: str,
    looks: int,
    units: int,
    ends: Sequence[str],
    wrong: Mask,
    once: Mask,
) -> list[Row]:
    """Return a row for the score, the difference, the test, and the decision if there is one."""
    said = f"F1 {condition.f1:g}, {kind}, B - A = {condition.gap:g}"
    test = "test of exchangeable systems" if condition.gap == 0 else "test finds B better"
    results = [
        _ever_wrong(what, said, looks, units, own[0], own[1], mean(once) if what == test else None)
        for what, own in zip((ends[0], "difference", test, *ends[1:]), wrong, strict=True)
    ]
    return results[:3] if condition.gap == 0 else results[1:]


# --- When do sampled tests stop, and how often do they decide wrongly? Computed, not simulated.
#
# The number of extreme draws is a random walk. Its distribution at every look follows from that
# of the walks that went on at the look before, so that the expected number of draws and the
# probability of a wrong decision are sums, for any p-value that the test estimates.

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
    cases = seeded(shares, 0, report)  # nothing is drawn
    return [stopping(open_probability("shares", share), most=most) for share, _ in cases]


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
        low, high = clopper_pearson(extreme, end, ERROR / len(planned) / 2)
        unclear = np.any([(low <= t) & (high > t) for t in levels], axis=0)
        mistaken = np.any([(low > t) if share <= t else (high <= t) for t in levels], axis=0)
        last = end == most
        wrong += float(chances[mistaken & (~unclear | last)].sum())
        at_first += float(chances[~unclear].sum()) if before == 0 else 0.0
        undecided = float(chances[unclear].sum()) if last else 0.0
        # the stretches of places where walks go on
        there = np.flatnonzero(unclear & (chances > _NEGLIGIBLE))
        parts = np.split(there, np.flatnonzero(np.diff(there) > 1) + 1)
        going = [(start + int(part[0]), chances[part]) for part in parts if len(part)]
        before = end
        if not going:
            break
    wrong *= 1e6  # of a million
    return Row(
        share=share, draws=round(expected), at_first=at_first, wrong=wrong, undecided=undecided
    )


def _walked(going: Sequence[tuple[int, Array]], steps: int, share: float) -> tuple[int, Array]:
    """Return where walks are `steps` later: the lowest place, and the probabilities from there."""
    reach = _NEGLIGIBLE_FROM * np.sqrt(steps * share * (1 - share)) + 60
    least = max(0, int(steps * share - reach))
    ups = np.arange(least, min(steps, int(steps * share + reach)) + 1)
    ways = special.gammaln(steps + 1) - special.gammaln(ups + 1) - special.gammaln(steps - ups + 1)
    chance = np.exp(ways + special.xlogy(ups, share) + special.xlog1py(steps - ups, -share))
    start = min(first for first, _ in going) + least
    end = max(first + len(own) for first, own in going) + int(ups[-1])
    total = np.zeros(end - start)
    for first, own in going:
        at = first + least - start
        total[at : at + len(own) + len(ups) - 1] += np.convolve(own, chance)
    return start, total
