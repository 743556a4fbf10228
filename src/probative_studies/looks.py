"""Do limits and tests hold at every look? Labels arrive in batches, and somebody looks each time.

Streams of units are drawn as in the study of few and uneven units. Counted is whether the truth was
ever outside the limits, and whether exchangeable systems were ever distinguished; beside it, the
same of a fixed interval and of a fixed test that somebody looks at as often.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.random import Generator
from scipy import special

from probative._validation import Mask, open_probability, whole_number
from probative.counts import PairedCounts
from probative.inference.sequential import FEWEST, Wealth, log_e_value, look_limits, planned_grid
from probative.inference.units import jackknife_error
from probative.metrics import contributions, f1_from_jaccard, score
from probative_studies.clusters import Condition, case_shares, draw, true_difference
from probative_studies.harness import Report, Row, mean, quiet, share_error

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
    for place, share in enumerate((0.3, 0.6, 0.9)):
        report(place, parts)
        generator = np.random.default_rng([seed, place])
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
    return ever_wrong(*about, doubted.any(axis=1), fixed.any(axis=1))


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
    said = (
        f"F1 {condition.f1:g}, {condition.items} items per unit, {condition.sizes}, B - A = {gap:g}"
    )
    test = "test of exchangeable systems" if gap == 0 else "test finds B better"
    number = units // batch
    results = [
        ever_wrong(what, said, number, units, own[0], own[1], mean(once) if what == test else None)
        for what, own in zip(("F1 of units", "difference", test), wrong, strict=True)
    ]
    return results if gap == 0 else results[1:]


def _watched(
    rows: PairedCounts, truths: tuple[float, float], level: float, batch: int
) -> tuple[Mask, bool]:
    """Return whether score, difference and bets were ever wrong, and whether fixed ones were.

    What `SequentialTest` does at every look, without sorting all units again for each.
    """
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
            error = jackknife_error([(x[there], y[there]) for x, y in own], every[:end][there])
            wrong[place, 1] |= abs(looks[place][0] - truths[place]) > z * error
        once = abs(looks[1][0]) > z * error
        wrong[2, 1] |= once
    return wrong, once


def ever_wrong(
    what: str,
    condition: str,
    looks: int,
    units: int,
    wrong: Mask,
    fixed: Mask,
    once: float | None = None,
) -> Row:
    """Count the streams in which something was ever wrong, and in which fixed limits were.

    `once` is how often the fixed test decides at the end, looked at once.
    """
    share, streams = mean(wrong), len(wrong)
    about = {"what": what, "condition": condition, "looks": looks, "units": units}
    error = share_error(share, streams, least=1 / streams)
    found = {"share": share, "standard_error": error, "fixed": mean(fixed), "once": once}
    return Row(**about, **found, streams=streams)
