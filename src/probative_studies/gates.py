"""How often do gates err? By simulation, where it is hardest: at the border of what they guard.

Test sets are drawn as in the study of few and uneven units. For "require-better" B is better by
just the margin, for the other two worse by just the margin, so that a gate that passes
("fail-if-worse": fails) does so wrongly, and should do so in no more than 1 - confidence of the
test sets. Anywhere else errors are rarer.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from itertools import product
from typing import Any

import numpy as np
from numpy.random import Generator
from scipy import special

from probative._validation import Array, Mask, fraction, open_probability, positive, whole_number
from probative.counts import PairedCounts
from probative.errors import InputError
from probative.inference.allowance import allowance
from probative.inference.differences import difference
from probative.inference.groups import METHODS, count_of_conjunctions, heterogeneity, mean_limits
from probative.inference.posterior.student import posterior_of_difference
from probative.inference.units import dependence_of_difference, variance_of_difference
from probative.jobs.gate import GATES
from probative_studies.clusters import Condition, case_shares, draw, true_difference
from probative_studies.harness import Report, Row, quiet, share_error, share_of, streams, study
from probative_studies.tests import drawn_differences

_SETTLED = 0.75  # a share of the first draws below which a gate of 0.9 or more cannot hold


class GateErrors(Row):
    """Error rate of a gate under one condition."""

    @property
    def holds(self) -> bool:
        """Return True if the share is at most 1 - confidence, within three standard errors."""
        allowed = 1 - self.confidence
        slack = 3 * math.sqrt(allowed * (1 - allowed) / self.replicates)
        return bool(self.share <= allowed + slack)

    line = (
        "{gate}, margin {margin:g}, {units} {sizes} units: {error} in {share:.4f} ± "
        "{standard_error:.4f}"
    )


def _gates(
    gates: Sequence[str] = GATES,
    margins: Sequence[float] = (0.0, 0.02),
    units: Sequence[int] = (10, 20, 50, 100),
    sizes: Sequence[str] = ("equal", "lognormal", "zipf"),
    *,
    correlation: float = 0.1,
    f1: float = 0.75,
    confidence: float = 0.95,
    n_resamples: int = 4000,
) -> Iterator[tuple[str, Condition, float, int]]:
    confidence = open_probability("confidence", confidence)
    if confidence < 0.9:
        raise InputError(f"confidence: {confidence!r} is below 0.9; expected what a gate asks for")
    r = fraction("correlation", positive("correlation", correlation, zero=True))
    drawn = whole_number("n_resamples", n_resamples)
    margins = [fraction("margins", m) for m in margins]
    for gate, gap, kind, n in product(gates, margins, sizes, units):
        condition = Condition("difference", f1=f1, units=n, sizes=kind, correlation=r, gap=gap)
        yield gate, condition, confidence, drawn


@study(_gates, streams, replicates=2000)
def gate_study(case: Any, _: float, replicates: int, rng: Generator) -> Iterator[Row]:
    """Simulate how often each gate errs.

    >>> (result,) = gate_study(["require-better"], [0.0], [20], ["equal"], replicates=200)
    >>> result.share < 0.12
    True
    """
    gate, condition, confidence, n_resamples = case
    margin, shares = condition.gap, case_shares(condition)
    if not math.isclose(true_difference(shares), margin, abs_tol=1e-9):
        raise InputError(f"margins: {margin!r} is too large for this study")
    wrong = []
    for _ in range(replicates):
        paired, border = PairedCounts(draw(rng, condition, shares)), margin
        if gate == "require-not-worse":
            paired, border = paired.swapped(), -margin
        # "fail-if-worse" is asked of the mirrored pair: a difference below -margin is one above
        above = probability_above(paired, border, n_resamples, rng)
        # without evidence "fail-if-worse" fails, too
        wrong.append(not above < confidence if gate == "fail-if-worse" else above >= confidence)
    share, standard_error = share_of(wrong)
    yield GateErrors(
        gate=gate,
        margin=margin,
        confidence=confidence,
        **{name: getattr(condition, name) for name in ("units", "sizes", "items", "correlation")},
        error="false fail" if gate == "fail-if-worse" else "false pass",
        share=share,
        standard_error=standard_error,
        replicates=replicates,
    )


def probability_above(
    paired: PairedCounts, threshold: float, n_resamples: int, rng: Generator
) -> float:
    """Return P(B - A > threshold) of F1, by draws from the posterior that allows for units."""
    # draws take a thousandth of the time, and add a tenth of the noise of the test sets
    dependence = dependence_of_difference(paired, "f1")
    if dependence.no_evidence:
        return math.nan
    cells = paired.total().cases[:7] / dependence.divisor + 0.5
    above = number = 0
    for more in (n_resamples // 16, n_resamples - n_resamples // 16):
        above += int(np.count_nonzero(drawn_differences(rng, cells, more) > threshold))
        number += more
        if above < _SETTLED * number:  # far from what any gate asks for
            break
    # neither 0 nor 1: draws cannot tell that
    share = (above + 0.5) / (number + 1)
    return float(special.stdtr(dependence.tail_freedom, special.ndtri(share)))


# --- Does the ledger keep its promise? Candidates that are no better, and how often one passes.
#
# A baseline is right on about half of the items of a test set. A change turns every answer with the
# same probability, so that it makes nothing better or worse but by luck; what is lucky on this test
# set is not elsewhere. Three ways to come by candidates:
#
# * independent: each is a new change of the baseline;
# * by verdicts: every probe is a system that is really better, with a change besides; the last
#   candidate is the baseline with all changes whose probes have passed, and no better;
# * by scores: each is a new change of the baseline, and the last has all that raised the score.

_TURNED = 0.05  # of the answers, by a change
_MENDED = 0.06  # of the wrong answers, by what is really better
_KINDS = ("plain", "independent", "adaptive")  # one confidence, or the allowances of a ledger
_WAYS = ("independent", "by verdicts", "by scores")


def ledger_study(
    *,
    sequences: int = 2000,
    looks: int = 20,
    items: int = 300,
    confidence: float = 0.95,
    rng: int = 0,
    report: Report = quiet,
) -> list[Row]:
    """Simulate sequences of candidates that meet one test set.

    >>> independent, *_ = ledger_study(sequences=100, looks=10)
    >>> independent.adaptive <= independent.independent < independent.plain
    True
    """
    sequences, looks = whole_number("sequences", sequences), whole_number("looks", looks)
    items = whole_number("items", items)
    doubt = 1 - open_probability("confidence", confidence)
    generator = np.random.default_rng(whole_number("rng", rng, least=0))
    wrong = {way: np.zeros(3) for way in _WAYS}
    for number in range(sequences):
        report(number, sequences)
        right = generator.random(items) < 0.5
        changes = generator.random((looks, items)) < _TURNED
        mended = ~right & (generator.random(items) < _MENDED)
        for place, kind in enumerate(_KINDS):
            for way in _WAYS:
                wrong[way][place] += _passes(way, right, changes, mended, kind, doubt)
    promised = {"independent": "both", "by verdicts": "adaptive", "by scores": "neither"}
    return [
        Row(
            way=way,
            looks=looks,
            **dict(zip(_KINDS, (shares / sequences).tolist(), strict=True)),
            promised=promised[way],  # which of these stay below `allowed`
            allowed=doubt,
            standard_error=share_error(doubt, sequences),
            sequences=sequences,
        )
        for way, shares in wrong.items()
    ]


def _passes(way: str, right: Mask, changes: Mask, mended: Mask, kind: str, doubt: float) -> bool:
    """Return True if a candidate that is no better passes in one sequence."""
    judge = _gate(right, kind, doubt)
    if way == "independent":
        return sum(judge(right ^ change) for change in changes) > 0
    *probes, last = changes
    if way == "by scores":
        for change in probes:
            judge(right ^ change)
        kept = [change for change in probes if (right ^ change).sum() > right.sum()]
    else:
        kept = [change for change in probes if judge((right ^ change) | mended)]
    return judge(right ^ np.logical_or.reduce(kept or [last]))


def _gate(right: Mask, kind: str, doubt: float) -> Callable[[Mask], bool]:
    """Return a gate that judges candidates against the baseline, one after the other."""
    verdicts: list[bool] = []

    def judge(candidate: Mask) -> bool:
        threshold = doubt if kind == "plain" else allowance(kind, verdicts, doubt)
        gained = int(np.count_nonzero(candidate & ~right))
        lost = int(np.count_nonzero(right & ~candidate))
        verdicts.append(_doubt(gained, lost) <= threshold)
        return verdicts[-1]

    return judge


@cache
def _doubt(gained: int, lost: int) -> float:
    """Return 1 - P(better) as a gate has it; items that both get right or wrong do not matter."""
    cases = PairedCounts([lost, 0, gained, 0, 100, 0, 100])
    return float(posterior_of_difference(cases, "recall").cdf(0.0))


# --- Do the claims about several data sets hold? By simulation.
#
# The count of data sets on which B is better must not exceed the true number in more than 5 % of
# the cases, whichever of the data sets are the better ones. The interval of the mean difference
# must hold the true mean in 95 %, whatever the sizes. Where the difference is the same on all
# data sets, Cochran's Q must not find that it varies in more than 5 %.

_LEVEL = 0.95
_UNITS = (20, 60, 200, 35, 100)  # of data sets, in turn
_DISPUTED = (12, 40, 150, 25, 80)  # items on which the systems differ
_BETTER = (0.9, 0.75, 0.65, 0.8, 0.7)  # the share of them that B wins where it is better
_MEANS = 4  # a quarter of the replicates: they take a hundred times as long


class _DatasetClaim(Row):
    """Frequency of a claim about several data sets under one condition."""

    @property
    def holds(self) -> bool:
        """Return True if at most 5 % are wrong (of intervals 7 %), within three standard errors."""
        wrong, allowed = self.share, 1 - _LEVEL
        if self.claim == "mean covered":
            wrong, allowed = 1 - self.share, 0.07
        slack = 3 * math.sqrt(allowed * (1 - allowed) / self.replicates)
        return bool(wrong <= allowed + slack)

    def __str__(self) -> str:
        better = "" if self.better is None else f", better on {self.better}"
        return (
            f"{self.claim} by {self.method}, {self.datasets} {self.dependence} data sets{better}: "
            f"{self.share:.4f} ± {self.standard_error:.4f}"
        )


def _claims(datasets: Sequence[int] = (2, 3, 6, 20)) -> list[tuple[Any, ...]]:
    sizes = [whole_number("datasets", n) for n in datasets]
    counted = [
        (n, better, dependence)
        for n in sizes
        for better in sorted({0, 1, n // 2, n - 1})
        for dependence in ("independent", "shared")
    ]
    return [*counted, *((n,) for n in sizes)]


@study(_claims, streams, replicates=4000)
def dataset_study(
    case: tuple[Any, ...], _: float, replicates: int, rng: Generator
) -> Iterator[Row]:
    """Simulate how often the claims about several data sets hold.

    >>> all(claim.holds for claim in dataset_study([3], replicates=200))
    True
    """
    if len(case) == 1:
        return _means(case[0], -(-replicates // _MEANS), rng)
    n, better, dependence = case
    return _too_large(n, better, dependence, replicates, rng)


def _too_large(
    n: int, better: int, dependence: str, replicates: int, rng: Generator
) -> Iterator[_DatasetClaim]:
    """Count how often more data sets are claimed than there are better ones."""
    pvalues = _pvalues(n, better, dependence, replicates, rng)
    for method in METHODS:
        if (method, dependence) == ("fisher", "shared"):
            continue  # which it does not promise
        wrong = [count_of_conjunctions(p, method, _LEVEL) > better for p in pvalues]
        yield _claim("count too large", n, better, method, dependence, wrong)


def _pvalues(n: int, better: int, dependence: str, replicates: int, rng: Generator) -> Array:
    """Draw one-sided exact p-values of the sign test, by replicate and data set."""
    disputed = np.array([_DISPUTED[i % len(_DISPUTED)] for i in range(n)])
    chance = np.array([_BETTER[i % len(_BETTER)] if i < better else 0.5 for i in range(n)])
    won = rng.binomial(disputed, chance, (replicates, n))
    if dependence == "shared":
        disputed[better:] = disputed[-1]
        won[:, better:] = won[:, -1:]
    # P(at least so many of the disputed items are won by chance)
    return np.where(won > 0, special.bdtrc(np.maximum(won - 1, 0), disputed, 0.5), 1.0)


def _means(n: int, replicates: int, rng: Generator) -> Iterator[_DatasetClaim]:
    """Count how often the interval of the mean covers, and Q finds a spread that is not there."""
    conditions = [
        Condition("difference", units=_UNITS[i % len(_UNITS)], sizes="lognormal", items=5, gap=0.02)
        for i in range(n)
    ]
    shares = [case_shares(condition) for condition in conditions]
    truth = float(np.mean([true_difference(own) for own in shares]))
    covered, spread = [], []
    for _ in range(replicates):
        cases = zip(conditions, shares, strict=True)
        sets = [PairedCounts(draw(rng, condition, own)) for condition, own in cases]
        gaps = [difference(one, "f1", level=_LEVEL) for one in sets]
        _, low, high = mean_limits([(g.estimate, g.low, g.high) for g in gaps])
        covered.append(low <= truth <= high)
        told = [variance_of_difference(one, "f1") for one in sets]
        errors, freedoms = [math.sqrt(v) for v, _ in told], [freedom for _, freedom in told]
        tested = heterogeneity([g.estimate for g in gaps], errors, freedoms)
        spread.append(tested is not None and tested.pvalue <= 1 - _LEVEL)
    for claim, method, held in (
        ("mean covered", "mover", covered),
        ("spread found", "welch", spread),
    ):
        yield _claim(claim, n, None, method, "independent", held)


def _claim(
    claim: str, n: int, better: int | None, method: str, dependence: str, events: Sequence[bool]
) -> _DatasetClaim:
    """Count the events; `better` is None where it does not matter on how many B is better."""
    share, error = share_of(events)
    about = {"claim": claim, "datasets": n, "better": better, "method": method}
    found = {"dependence": dependence, "share": share, "standard_error": error}
    return _DatasetClaim(**about, **found, replicates=len(events))
