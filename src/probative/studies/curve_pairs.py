"""Do the test and the intervals of two curves' differences hold what they promise? By simulation.

Two systems score the same items as in `probative.studies.curves`, half of the variance in common.
"alike": both are of one quality, so that a test at the level 0.05 should find a difference in 5 %
of the test sets at most. "units": so too, with items of units. "copies": B is A, but for one item
in a hundred, scored anew. "better": B's area is half as far from 1.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np

from probative._validation import one_of, open_probability, random_generator, whole_number
from probative.inference.average_precision import average_precision_interval
from probative.inference.best_threshold import best_threshold
from probative.inference.curve_difference import compare_ranked
from probative.inference.ranked import Ranked
from probative.inference.roc_area import roc_auc_interval
from probative.results import Result
from probative.studies.curves import Truth, draw_answer, draw_noise, draw_units, monte_carlo_error

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from probative._types import RNG

__all__ = ["PAIRS", "PairCoverage", "draw_pair", "pair_study"]

PAIRS = ("alike", "units", "copies", "better")
_COMMON, _ANEW, _EXCHANGES = 0.5, 0.01, 999
_SIZE = 0.05


@dataclass(frozen=True, eq=False, repr=False)
class PairCoverage(Result):
    """How often two curves are said to differ, and how often the intervals hold the truth.

    Attributes
    ----------
    pair, share, positives, area
        The condition: how the systems are related, the share of positives, their expected number,
        and A's area under the ROC curve.
    found_ap, found_auc, found_best
        How often p is at most 0.05: by average precision, the area and the highest F1. Where the
        systems are of one quality that is the size of the test, else its power.
    covered_ap, covered_auc, covered_best
        How often the interval of the difference holds the true one; of the highest F1, that of the
        thresholds chosen.
    noted_ap, noted_auc, noted_best
        How often a note stands beside it.
    surer
        How often P(B better) of the average precision is above 0.95.
    standard_error
        The Monte-Carlo error of a coverage of 0.95 and of a size of 0.05.
    """

    pair: str
    share: float
    positives: int
    area: float
    found_ap: float
    found_auc: float
    found_best: float
    covered_ap: float
    covered_auc: float
    covered_best: float
    noted_ap: float
    noted_auc: float
    noted_best: float
    surer: float
    standard_error: float

    def __str__(self) -> str:
        return (
            f"{self.pair}, {self.positives} positives of {self.share:g}, area {self.area:g}: "
            f"found {self.found_ap:.3f}, covered {self.covered_ap:.3f}"
        )


def draw_pair(
    pair: str, share: float, positives: int, area: float, rng: np.random.Generator
) -> tuple[Ranked, Ranked]:
    """Draw what two systems score on one test set.

    Parameters
    ----------
    pair, share, positives, area
        The condition.
    rng
        For the draws.
    """
    n = round(positives / share)
    yes = draw_answer(n, share, rng)
    unit = draw_units(n, rng) if pair == "units" else None
    noise = draw_noise(unit, n, rng)
    truths = _truths(pair, share, area)
    if pair == "copies":
        a = noise + truths[0].distance * yes
        anew = rng.permutation(n) < max(1, round(_ANEW * n))
        b = np.where(anew, rng.standard_normal(n) + truths[1].distance * yes, a)
        return Ranked.of(yes, a), Ranked.of(yes, b)
    a, b = (
        math.sqrt(_COMMON) * noise
        + math.sqrt(1 - _COMMON) * draw_noise(unit, n, rng)
        + truth.distance * yes
        for truth in truths
    )
    return Ranked.of(yes, a, unit), Ranked.of(yes, b, unit)


def _truths(pair: str, share: float, area: float) -> tuple[Truth, Truth]:
    other = (1 + area) / 2 if pair == "better" else area
    return Truth("continuous", share, area), Truth("continuous", share, other)


def pair_study(
    *,
    positives: Sequence[int] = (5, 10, 20, 50, 200),
    shares: Sequence[float] = (0.5, 0.05),
    areas: Sequence[float] = (0.6, 0.8, 0.95, 0.99),
    pairs: Sequence[str] = PAIRS,
    level: float = 0.95,
    replicates: int = 400,
    rng: RNG | None = 0,
    report: Callable[[int, int], None] | None = None,
) -> list[PairCoverage]:
    """Compare systems whose true difference is known.

    Parameters
    ----------
    positives, shares, areas, pairs
        The conditions: all combinations.
    level
        The level of the intervals.
    replicates
        Test sets per condition; each test has 999 exchanges at most.
    rng
        A seed or generator.
    report
        Is told how many conditions are done, and how many there are.
    """
    level = open_probability("level", level)
    replicates = whole_number("replicates", replicates)
    generator = random_generator(rng)
    conditions = [
        (
            one_of("pairs", pair, PAIRS),
            open_probability("shares", share),
            whole_number("positives", number, least=2),
            open_probability("areas", area),
        )
        for pair in pairs
        for share in shares
        for number in positives
        for area in areas
    ]
    results = []
    for done, condition in enumerate(conditions, start=1):
        pair, share, _, area = condition
        truths = _truths(pair, share, area)
        rows = np.array(
            [
                _one_pair(draw_pair(*condition, generator), truths, level, generator)
                for _ in range(replicates)
            ]
        )
        told: list[Any] = [*condition, *rows.mean(axis=0).tolist()]
        told.append(monte_carlo_error(replicates))
        results.append(PairCoverage(*told))
        if report is not None:
            report(done, len(conditions))
    return results


def _one_pair(
    ranked: tuple[Ranked, Ranked],
    truths: tuple[Truth, Truth],
    level: float,
    rng: np.random.Generator,
) -> list[float]:
    seed = int(rng.integers(2**32))  # the same folds for both, as `compare_curves` has it
    curves: Any = [
        SimpleNamespace(
            name=name,
            average_precision=average_precision_interval(own, level),
            roc_auc=roc_auc_interval(own, level),
            best=best_threshold(own, level, 1.0, np.random.default_rng(seed)),
        )
        for name, own in zip("AB", ranked, strict=True)
    ]
    found = compare_ranked(
        ranked, (curves[0], curves[1]), level=level, beta=1.0, rope=0.0, rng=rng, most=_EXCHANGES
    )
    a, b = truths
    true = (
        b.average_precision - a.average_precision,
        b.roc_auc - a.roc_auc,
        float(b.f1(curves[1].best.threshold)) - float(a.f1(curves[0].best.threshold)),
    )
    return [
        *(one.pvalue <= _SIZE for one in found),
        *(
            one.low - 1e-12 <= value <= one.high + 1e-12
            for one, value in zip(found, true, strict=True)
        ),
        *(one.note is not None for one in found),
        found[0].p_b_better > level,
    ]
