"""Correct the scores of a judge that errs by human scores of some items.

A judge (a language model, a cheap metric) scores all items, people score some of them, drawn at
random. The corrected mean is H - s·(F_L - F): the mean H of the human scores, the judge's means F_L
on the same items and F on all, and the slope s that makes its variance smallest. A constant bias of
the judge cancels; a useless judge has a slope near 0 and changes nothing (prediction-powered
inference with a tuned slope, the regression estimator of surveys). Differences of two systems are
corrected in the same way, item by item, so that a judge biased towards one of them is found out.

References
----------
A. N. Angelopoulos, J. C. Duchi & T. Zrnic, "PPI++: Efficient prediction-powered inference", 2023.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from probative.inference.differences import UnitTest, student_pvalue
from probative.inference.means import MeanScore, add_runs
from probative.inference.planning import Pilot
from probative.inference.posterior.student import StudentPosterior
from probative.inference.runs import Runs
from probative.inference.units import effective_units, influence, student_quantile
from probative.results import Difference, Interval, JudgeAgreement, RandomizationTest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from probative._validation import Array

_FEW = "few human labels: {} units have any"
_UNITS_PER_SLOPE = 10  # with human labels; with fewer a slope is hardly known, and none is used
_LEAST_LEFT = 0.1  # of one, less the leverage of a unit
METHOD = "prediction-powered"


@dataclass(frozen=True, eq=False)
class Corrected:
    """Corrected means: their values, what every unit adds to them, and degrees of freedom.

    `residuals` has one row per system; the variance of a mean, or of the difference of two, is the
    sum of their squares.
    """

    estimates: Array
    residuals: Array
    freedom: float

    def of(self, i: int, j: int | None = None) -> tuple[float, float]:
        """Return value and variance of the mean of i, or of that of j minus that of i."""
        if j is None:
            return float(self.estimates[i]), float(self.residuals[i] @ self.residuals[i])
        gap = self.residuals[j] - self.residuals[i]
        return float(self.estimates[j] - self.estimates[i]), float(gap @ gap)


def correct(judge: Array, items: Array, human: Array, judged: Array, labelled: Array) -> Corrected:
    """Return the means of a judge's scores, corrected by human scores.

    Slopes are fitted on the judge's scores of all systems, so that differences agree with means.

    Parameters
    ----------
    judge, items
        The judge's summed scores of every unit, one row per system, and its number of items.
    human, judged, labelled
        The summed human scores of the labelled items of every unit, the judge's scores of the same
        items, and their number.

    Examples
    --------
    >>> import numpy as np
    >>> from probative.inference.judged import correct
    >>> rng = np.random.default_rng(1)
    >>> truth = rng.random((1, 2000))
    >>> judge = np.clip(truth + 0.1 + rng.normal(0, 0.05, 2000), 0, 1)
    >>> some = np.arange(2000) < 200
    >>> found = correct(judge, np.ones(2000), truth * some, judge * some, some * 1.0)
    >>> bool(abs(found.estimates[0] - truth.mean()) < 0.02 < judge.mean() - truth.mean())
    True
    """
    systems, total = len(judge), float(labelled.sum())
    of_human, off = np.empty_like(judge), np.empty_like(judge)
    for k in range(systems):
        of_human[k] = influence(human[k], labelled, human[k].sum(), total)
        on_same = influence(judged[k], labelled, judged[k].sum(), total)
        off[k] = on_same - influence(judge[k], items, judge[k].sum(), items.sum())
    units = float(np.count_nonzero(labelled))
    slopes = np.zeros((systems, systems))
    leverage = np.zeros(judge.shape[1])
    used = 0
    if units >= _UNITS_PER_SLOPE * systems:
        inverse = np.linalg.pinv(off @ off.T)
        slopes = of_human @ off.T @ inverse
        leverage = np.einsum("ku,kl,lu->u", off, inverse, off)
        used = systems
    # a unit that decides the slopes has a small residual, which says little
    residuals = (of_human - slopes @ off) / np.maximum(1 - leverage, _LEAST_LEFT)
    residuals *= math.sqrt(units / max(units - 1, 1.0))
    shift = judged.sum(axis=1) / total - judge.sum(axis=1) / items.sum()
    estimates = human.sum(axis=1) / total - slopes @ shift
    return Corrected(estimates, residuals, effective_units(labelled) - 1 - used)


@dataclass(frozen=True, eq=False)
class JudgedScore(MeanScore):
    """Means of a judge's scores, corrected by human scores of some items.

    Attributes
    ----------
    human, judged, labelled
        Summed human scores of the labelled items of every unit, the judge's scores of the same
        items, and their number: one row per system.
    """

    human: Any = None
    judged_sums: Any = None
    labelled: Any = None

    approximate = "corrected by human labels"

    @cached_property
    def corrected(self) -> Corrected:
        """Return the corrected means of all systems."""
        return correct(self.x, self.y[0], self.human, self.judged_sums, self.labelled[0])

    @property
    def estimates(self) -> Array:
        """Return the corrected mean of every system."""
        return self.corrected.estimates

    @property
    def uncorrected(self) -> MeanScore:
        """Return the score of the judge alone."""
        return MeanScore(self.x, self.y, self.range, self.metric, self.by, self.squares)

    def interval(self, i: int, level: float) -> Interval:
        """Return the interval of the corrected mean of system i."""
        mean, variance = self.corrected.of(i)
        units = float(np.count_nonzero(self.labelled[i]))
        note = _FEW.format(int(units)) if units < _UNITS_PER_SLOPE else None
        ends, freedom = self._everything, self.corrected.freedom
        if freedom > 0:
            ends = self._limits(mean, variance, units, float(student_quantile(level, freedom)))
        return Interval(self.metric, METHOD, level, mean, *ends, note)

    def freedom(self, i: int, j: int) -> float:  # noqa: ARG002
        """Return the degrees of freedom of a difference: labelled units, less what slopes take."""
        return self.corrected.freedom

    def _judge_pair(self, i: int, j: int) -> tuple[float, float]:
        """Return a corrected difference and its standard error.

        The error has the floor of systems that hardly differ.
        """
        gap, variance = self.corrected.of(i, j)
        floor = self.step / max(1.0, float(self.labelled[i].sum()))
        return gap, math.sqrt(variance + floor**2)

    def difference(self, i: int, j: int, level: float) -> Difference:
        """Return the corrected difference of system j minus system i, with Student's interval."""
        gap, error = self._judge_pair(i, j)
        freedom, reach = self.corrected.freedom, math.inf
        if freedom > 0:
            reach = float(student_quantile(level, freedom)) * error
        ends = max(-self.most, gap - reach), min(self.most, gap + reach)
        a, b = (float(self.estimates[k]) for k in (i, j))
        return Difference(self.metric, METHOD, level, gap, *ends, a, b, 0.0)

    def posterior(self, i: int, j: int) -> StudentPosterior:
        """Return Student's distribution about the corrected difference."""
        freedom = max(self.corrected.freedom, 1e-3)
        return StudentPosterior(*self._judge_pair(i, j), freedom, most=self.most)

    def unit_test(self, i: int, j: int) -> UnitTest:
        """Test the corrected difference by Student's distribution over units."""
        gap, error = self._judge_pair(i, j)
        freedom = self.corrected.freedom
        return UnitTest(float(student_pvalue(gap, error, freedom)), math.nan, error, freedom)

    def pilot(self, i: int, j: int) -> Pilot:
        """Return how much one unit adds to the corrected difference, with as many labels in it."""
        spread = self.corrected.of(i, j)[1] * self.observed_units
        return Pilot(self.observed_units, (spread, 0.0, 3 * spread**2), 1.0, None)

    def tests(self, pairs: Sequence[tuple[int, int]], **how: Any) -> Iterable[RandomizationTest]:  # noqa: ARG002
        """Test pairs by Student's distribution: corrected scores cannot be exchanged."""
        return [self._student(i, j) for i, j in pairs]

    def _student(self, i: int, j: int) -> RandomizationTest:
        gap, pvalue = self.observed(i, j), self.unit_test(i, j).pvalue
        return RandomizationTest(
            metric=self.metric,
            alternative="two-sided",
            by=self.by,
            method="student",
            statistic=gap,
            pvalue=pvalue,
            n_units=int(np.count_nonzero(self.labelled[i])),
            note=self._beside(i, j, gap, pvalue),
        )

    def _beside(self, i: int, j: int, gap: float, pvalue: float) -> str:
        """Say what the judge alone would have shown, and whether that differs."""
        alone = self.uncorrected
        own, test = alone.difference(i, j, 0.95), alone.unit_test(i, j)
        said = f"the judge alone: {own.estimate:+.4g} [{own.low:+.4g}, {own.high:+.4g}]"
        said += f", p = {test.pvalue:.4g}"
        decided = [p <= 0.05 for p in (pvalue, test.pvalue)]
        if decided[0] != decided[1] or (all(decided) and gap * own.estimate < 0):
            said += "; it would mislead"
        return said

    def note(self, test: RandomizationTest) -> str | None:
        """Return what the judge alone would have shown."""
        return f"corrected by {int(self.labelled[0].sum()):,} human labels; {test.note}"

    def test_all(self, **how: Any) -> dict[str, Any]:
        """Test all pairs by Student's distribution."""
        k = len(self.x)
        pvalues = np.ones((k, k))
        for i in range(k):
            for j in range(i + 1, k):
                pvalues[i, j] = pvalues[j, i] = self.unit_test(i, j).pvalue
        tested = how.get("tested")
        if tested is not None:
            tested.update({(i, j): (pvalues[i, j], 0) for i in range(k) for j in range(i + 1, k)})
        return {"pvalues": pvalues, "sampled": 0, "unclear": 0}

    def only(self, i: int, j: int) -> JudgedScore:
        """Return the score of two systems alone."""
        return self._with(super().only(i, j), lambda part: part[[i, j]])

    def runs(self, places: Sequence[int]) -> Runs:
        """Return the corrected mean of each run, and what every unit adds to it."""
        moves = self.corrected.residuals[list(places)]
        scores, size = self.corrected.estimates[list(places)], self.labelled[list(places)]
        return Runs(scores, moves, -moves.mean(axis=0), size.mean(axis=0))

    def pooled(self, groups: Sequence[Sequence[int]]) -> JudgedScore:
        """Return the score of systems whose runs are the systems at these places, added up."""
        return self._with(super().pooled(groups), lambda part: add_runs(part, groups))

    def _with(self, own: Any, change: Callable[[Array], Array]) -> JudgedScore:
        """Return a score with the human labels changed as the judge's scores are."""
        parts = {n: change(getattr(self, n)) for n in ("human", "judged_sums", "labelled")}
        found: JudgedScore = replace(own, **parts)
        return found


# --- Agreement of a judge with people


def judge_agreement(
    system: str, judge: Array, human: Array, unit: Array | None, level: float
) -> JudgeAgreement:
    """Compute bias, correlation and kappa of a judge from the items that people scored.

    Kappa has quadratic weights; of yes and no it is Cohen's. Intervals leave out one unit at a
    time, correlation and kappa on Fisher's scale.
    """
    units = np.arange(len(judge)) if unit is None else np.unique(unit, return_inverse=True)[1]
    n = int(units.max(initial=-1)) + 1
    sums = np.array(
        [
            np.bincount(units, own, minlength=n)
            for own in (np.ones(len(judge)), judge, human, judge**2, human**2, judge * human)
        ]
    )
    total = sums.sum(axis=1, keepdims=True)
    freedom = effective_units(sums[0]) - 1
    t = float(student_quantile(level, freedom)) if freedom > 0 else math.inf

    def limited(name: str, value: Any, back: Any) -> Interval:
        with np.errstate(invalid="ignore", divide="ignore"):
            estimate = float(value(total)[0])
            left = value(total - sums)
            error = math.sqrt((n - 1) / n * float(np.sum((left - left.mean()) ** 2)))
        low, high = (float(back(estimate + side * t * error)) for side in (-1, 1))
        return Interval(name, "student", level, float(back(estimate)), low, high)

    def moments(s: Array) -> tuple[Array, Array, Array, Array]:
        f, h = s[1] / s[0], s[2] / s[0]
        return f - h, s[3] / s[0] - f**2, s[4] / s[0] - h**2, s[5] / s[0] - f * h

    def correlation(s: Array) -> Array:
        _, v, w, c = moments(s)
        return np.arctanh(np.clip(c / np.sqrt(v * w), -1 + 1e-12, 1 - 1e-12))

    def kappa(s: Array) -> Array:
        bias, v, w, c = moments(s)
        return np.arctanh(np.clip(2 * c / (v + w + bias**2), -1 + 1e-12, 1 - 1e-12))

    scores = (
        limited("bias", lambda s: moments(s)[0], lambda x: x),
        limited("correlation", correlation, np.tanh),
        limited("kappa", kappa, np.tanh),
    )
    return JudgeAgreement(system, len(judge), scores)
