"""The posterior of B minus A for two systems judged on the same items.

The eight cases have a Dirichlet posterior: shares of independent gamma variates g0 … g7. Its
marginals are the posteriors of the single scores, and it carries their correlation.

A case on which the systems disagree either favours B or favours A. How many of them there are and
how many of these favour B is what the difference depends on most, and these two are integrated
exactly (`_discordance`); how the favourable ones, the unfavourable ones and those that both did
alike are divided matters less, and is averaged over a product of Gauss rules (`_paired_nodes`).
Recall and accuracy do not depend on it at all. Precision may depend on ratios of shares next to
nothing; but its true and false positives are independent, and it has a rule of its own
(`_precision_law`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import special

from probative._validation import one_of, open_probability
from probative.errors import InputError
from probative.inference import _log_odds
from probative.inference._discordance import Coefficients, Discordance
from probative.inference._discordant_share import GaussShare, SteppedShare
from probative.inference._outcomes import Outcomes
from probative.inference._paired_nodes import Nodes, gauss_nodes, product_nodes, sobol_nodes
from probative.inference._precision_law import PrecisionLaw
from probative.inference._tail_table import TailTable
from probative.inference.beta_posterior import plain
from probative.inference.independent import quantile_search
from probative.inference.posteriors import posterior, prior_weight, recall_weight
from probative.metrics import METRICS, TABLE, Metric

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

    from probative._types import Array, Number
    from probative.counts import PairedCounts

    Share = GaussShare | SteppedShare

__all__ = ["PairedPosterior"]


_TOLERANCE = 1e-9
_STEPS = 1e-9  # error that the points of K may leave
# error that they may leave while nodes are chosen: of Gauss rules it is smooth, of steps it is not
_SKETCH = {GaussShare: 1e-4, SteppedShare: 1e-8}
_DEAR = 500  # points of K, with which nodes are not chosen if fewer are about right
_DROP = _log_odds.DROP  # exp(-36) of what is integrated over K is left out
_REFINEMENTS, _REFINEMENTS_ALONE = 5, 16  # of the steps of K, and where nothing else is averaged
_LEAST_NODES, _MOST_NODES = 400, 2200
_MOST_POINTS = 100_000  # of K at all nodes, unless there would be too few of these
_GOOD_ENOUGH = 5e-4  # error up to which Gauss rules, and a small prior, will do
LEAST_PRIOR = 0.1
_ROUNDING = 1e-13  # what a sum of a thousand terms may lack to 1
_WORKED_OUT = ("_settled",)
_SHARE = (1.0, 1.0, 1.0)
_NEGATED = [3, 2, 1, 0, 7, 6, 5, 4]  # the cases, where yes is said for no
_FEW_CASES = 100.0  # on which systems disagree: then a Gauss rule may do for their share
_GAUSS_POINTS = (6, 9, 13, 19)
_SAFETY = 4.0
_DOUBT = 3.0
_OF_THE_DENSITY = 1e-3  # may err so much more
_CLOSE = np.array([1.5, 0.5, 0.15, 0.05, 0.015, 0.005, 0.001])  # to 0, in standard deviations
_COARSE = 4  # nodes of each rule with which a limit is sought before it is settled
_MANY_SHARES = 4  # beside K and V


class PairedPosterior(Outcomes):
    """The posterior of the difference of a score of two systems, B minus A.

    Parameters
    ----------
    table
        The eight cases; units are added up.
    metric
        One of precision, recall, f1, fbeta, jaccard, accuracy, specificity, npv.
    prior
        The weight λ of the prior, as for `probative.posterior`.
    beta
        The weight of recall in F-beta.

    Examples
    --------
    >>> import probative as pv
    >>> from probative.inference.paired_posterior import PairedPosterior
    >>> both = PairedPosterior(pv.PairedCounts([30, 20, 80, 10, 400, 60, 70, 3000]), "f1")
    >>> low, high = both.interval(0.95)
    >>> print(f"{both.mean:.4f} [{low:.4f}, {high:.4f}]")
    0.0604 [0.0375, 0.0840]
    """

    kind = "paired"

    def __init__(
        self,
        table: PairedCounts,
        metric: str = "f1",
        *,
        prior: float = 1.0,
        beta: float = 1.0,
    ):
        one_of("metric", metric, METRICS)
        prior, beta = prior_weight(prior), recall_weight(beta)
        table = table.total()
        if TABLE[metric].needs_tn and not table.has_negatives:
            raise InputError(f"metric: {metric} needs case 7, and these counts have none")
        self.table = table
        self.a = posterior(table.a, metric, prior=prior, beta=beta)
        self.b = posterior(table.b, metric, prior=prior, beta=beta)
        self._shares = _Shares.of(metric, table, prior, beta)

    def __getstate__(self) -> dict[str, Any]:
        """Copies work out the nodes again, which take more room than time."""
        return {name: value for name, value in vars(self).items() if name not in _WORKED_OUT}

    @property
    def error(self) -> float:
        """An estimate of the error of the probabilities, beyond rounding.

        What coarser rules and longer steps change, times a factor for differences at which this
        was not tried, or three times the standard error over scramblings of Sobol points; and
        three times that, since against finer rules it was found too small by up to a factor of 2.
        """
        return _DOUBT * self._settled.error

    @property
    def mean(self) -> float:
        """The expected difference."""
        return float(self.b.mean - self.a.mean)

    def cdf(self, d: ArrayLike) -> Number:
        """Return the probability of a difference of at most d."""
        return self._tails(d)[0]

    def sf(self, d: ArrayLike) -> Number:
        """Return the probability of a difference above d: as accurate as `cdf`, but not 1 - cdf."""
        return self._tails(d)[1]

    def pdf(self, d: ArrayLike) -> Number:
        """Return the density of the difference at d; infinite where it rises without end, at 0."""
        return self._tails(d, density=True)[2]

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """Return the equal-tailed limits between which the difference lies."""
        return self.limits((1 - open_probability("level", level)) / 2)

    def limits(self, tail: float) -> tuple[float, float]:
        """Return the limits beyond which, on either side, lies the probability `tail`."""
        side = np.array([-1.0, 1.0])
        sd = np.full(2, self._shares.sd)
        # both are sought as lower limits, of B - A and of A - B: tables alike get limits alike
        reach = np.clip(special.ndtri(tail) * sd - side * self.mean, -0.999, 0.999)
        for law in self._laws:

            def outside(x: Array, at: Any, law: _Law | PrecisionLaw = law) -> tuple[Array, Array]:
                below, above, density = law.tails(-side[at] * x, density=True)
                return np.where(side[at] > 0, above, below), density

            reach = quantile_search(outside, np.full(2, tail), reach, sd)
        return float(reach[0]), float(-reach[1])

    def curve(self, points: int = 201) -> tuple[Array, Array]:
        """Return differences from the 0.001 to the 0.999 quantile, and the density there."""
        d = np.linspace(*self.interval(0.998), points)
        density = np.atleast_1d(self.pdf(d))
        endless = np.isinf(density)
        if endless.any():  # a picture shows how it rises, not that it has no end
            density[endless] = self.pdf((d[-1] - d[0]) / (4 * points))
        return d, density

    def _tails(self, d: ArrayLike, *, density: bool = False) -> list[Any]:
        d = np.asarray(d, dtype=np.float64)
        tails = self._settled.tails(d.ravel(), density=density)
        return [plain(x.reshape(d.shape)) for x in tails]

    @property
    def _laws(self) -> tuple[_Law | PrecisionLaw, ...]:
        """Those with which limits are sought, one after the other."""
        settled = self._settled
        if isinstance(settled, PrecisionLaw) or not self._shares.others:
            return (settled,)
        return self._shares.rough_law(settled.b_above.size), settled

    @cached_property
    def _settled(self) -> _Law | PrecisionLaw:
        """The difference, with as many nodes as it takes."""
        precise = self._shares.precision_law()
        if precise is not None:
            return precise
        law = self._shares.law(self._probes)
        # at 0 the two tails are integrated apart: what they lack to 1 is an error, too
        gap = abs(sum(law.at_0) - 1)
        if gap <= _ROUNDING:
            return law
        self._shares.refuse_corners(gap)
        return replace(law, error=max(law.error, gap))

    @property
    def _probes(self) -> Array:
        """Differences at which probabilities are made right."""
        sd = self._shares.sd
        probes = self.mean + sd * np.array([-2, -0.6, 0.9])
        # 0, too: what matters there may be the ratio of shares next to nothing
        near_0 = [0.0]
        if abs(self.mean) < 3 * sd:  # and next to it, because at 0 itself errors may cancel
            near_0.append(min(sd / 20, 0.5))
        return np.append(np.clip(probes, -1 + 1e-9, 1 - 1e-9), near_0)

    @property
    def _symmetric(self) -> bool:
        """Whether exchanging A and B leaves the table as it is."""
        return bool(np.array_equal(self.table.cases, self.table.swapped().cases))


@dataclass(frozen=True)
class _Law:
    """The distribution of B minus A."""

    b_above: Discordance
    a_above: Discordance
    error: float

    def beyond(self, d: Array) -> Array:
        """P(above d), or below it where it is negative; columns of averages are rows of these."""
        rises = d >= 0
        tails = [self.b_above.tail(d[rises])[0], self.a_above.tail(-d[~rises])[0]]
        return np.concatenate(tails).T

    @cached_property
    def at_0(self) -> tuple[float, float]:
        """P(at most 0) and P(above 0), each from its own side: both keep their digits if small."""
        below, above = (side.tail(np.zeros(1))[0][0] for side in (self.a_above, self.b_above))
        return float(below), float(above)

    def tails(self, d: Array, *, density: bool = False) -> tuple[Array, Array, Array]:
        """P(at most d), P(above d) and, where asked for, the density."""
        if not density and np.all(d == 0):
            below, above = (np.full(len(d), tail) for tail in self.at_0)
            return below, above, np.full(len(d), np.nan)
        below, above, slope = np.full((3, len(d)), np.nan)
        for side, rises, near, far in (
            (self.b_above, d >= 0, above, below),
            (self.a_above, d <= 0, below, above),
        ):
            if rises.any():
                tail, slope[rises] = side.tail(np.abs(d[rises]), density=density)
                near[rises] = tail = np.where(1 - tail > _ROUNDING, tail, 1.0)
                far[rises] = np.where(d[rises] == 0, far[rises], 1 - tail)
        return below, above, slope


@dataclass(frozen=True)
class _Shares:
    """The independent Beta variates that a difference of scores is made of."""

    cells: Array
    weights: tuple[float, float, float]  # of tp, fp and fn in the score
    discordant: tuple[float, float]
    won: tuple[float, float]
    others: list[tuple[float, float]]
    prior: float

    @classmethod
    def of(cls, metric: str, table: PairedCounts, prior: float, beta: float) -> _Shares:
        score = TABLE[metric]
        if not isinstance(score, Metric):
            raise InputError(f"metric: {metric} is no ratio of linear forms; see paired_posterior")
        # four cells make up a count of a share of all items, two one of the others
        cells = table.cases + prior / (4 if score.is_of_all_items else 2)
        top, bottom = score.forms(beta**2)
        if not bottom[0]:  # what is right are negatives: take these for the positives
            cells, top, bottom = cells[_NEGATED], top[::-1], bottom[::-1]
        t = cells.tolist()
        hit, false, miss, true_negative = bottom
        fixed = hit == miss and false == true_negative
        if top != (hit, 0, 0, true_negative) or true_negative not in (0, hit * fixed):
            raise InputError(f"metric: the posterior of a difference in {metric} is not known")
        if fixed:  # the denominator is what the answer holds, whatever the systems say
            won, lost, alike = t[2], t[0], t[4] + t[6]
            if true_negative:
                won, lost, alike = won + t[1], lost + t[3], alike + t[5] + t[7]
            return cls(cells, _SHARE, (won + lost, alike), (won, lost), [], prior)
        won, lost = t[1] + t[2], t[0] + t[3]
        wrong = t[5] + (t[6] if miss else 0)
        others = [(t[1], t[2]), (t[3], t[0]), (t[4], wrong)]
        if score.depends_on_beta:
            others.append((t[5], t[6]))
        weights = hit / false, 1.0, miss / false
        return cls(cells, weights, (won + lost, t[4] + wrong), (won, lost), others, prior)

    @property
    def sd(self) -> float:
        """The standard deviation of the difference, as far as it is linear in the cases."""
        (a, b), (c, d) = self.discordant, self.won
        if not self.others:
            k, v, n = a / (a + b), c / (c + d), a + b
            spread = k * (1 - k) / (n + 1)
            return float(
                np.sqrt((2 * v - 1) ** 2 * spread + 4 * v * (1 - v) / (a + 1) * (spread + k**2))
            )
        hit, false, miss = self.weights
        gradient = np.zeros(7)
        for sign, (tp, fp, fn) in ((-1, ([0, 4], [1, 5], [2, 6])), (1, ([2, 4], [3, 5], [0, 6]))):
            x, y = np.zeros(7), np.zeros(7)
            x[tp] = y[tp] = hit
            y[fp], y[fn] = false, miss
            total = self.cells[:7] @ y
            gradient += sign * (x - self.cells[:7] @ x / total * y) / total
        return float(np.sqrt(self.cells[:7] @ gradient**2))

    def precision_law(self) -> PrecisionLaw | None:
        """The difference of precisions, or of what is made like them, if its rule will do."""
        if not self.others or self.weights[2] != 0 or not PrecisionLaw.suits(self.cells.tolist()):
            return None
        found = PrecisionLaw(self.cells.tolist())
        return found if found.error <= _GOOD_ENOUGH else None

    def law(self, probes: Array) -> _Law:
        """The difference, with so many nodes that its probabilities at the probes are right."""
        if not self.others:
            size, error = self._coarsest(self._sizes(probes, _log_odds.DROP, _ROUNDING), 0.0)
            return self._at(Nodes.single(), size, error)
        sizes = self._sizes(probes, _DROP, _STEPS)
        size = next((one for one, error in sizes if error <= _SKETCH[type(one)]), sizes[-1][0])
        if size.points > _DEAR:
            size, _ = self._coarsest(sizes, _SKETCH[GaussShare])

        def averages(parts: Sequence[Nodes]) -> Array:
            return self._at(Nodes.joined(parts), size).beyond(probes)

        most = min(_MOST_NODES, max(_MOST_POINTS // size.points, _LEAST_NODES))
        nodes = gauss_nodes(self.others, averages, _TOLERANCE, most)
        if nodes.error > _GOOD_ENOUGH and self.prior >= LEAST_PRIOR:
            points = sobol_nodes(self.others, averages)
            nodes = min(nodes, points, key=lambda found: found.error)
        size, error = self._coarsest(sizes, nodes.error / 10)
        self.refuse_corners(error + nodes.error)
        return self._at(nodes, size, error + nodes.error)

    @staticmethod
    def _coarsest(sizes: list[tuple[Share, float]], error: float) -> tuple[Share, float]:
        """The first that errs by no more than this, or the best."""
        return next((one for one in sizes if one[1] <= error), sizes[-1])

    def refuse_corners(self, error: float) -> None:
        """Refuse a small prior that leaves a large error."""
        if error > _GOOD_ENOUGH and self.prior < LEAST_PRIOR:
            raise InputError(
                f"prior: {self.prior:g} is too small for so sparse a table, whose posterior "
                f"then lies in corners out of reach; expected {LEAST_PRIOR} or more"
            )

    def rough_law(self, size: Share) -> _Law:
        """The difference with few nodes."""
        return self._at(product_nodes(self.others, _COARSE), size)

    def _sizes(self, probes: Array, drop: float, tolerance: float) -> list[tuple[Share, float]]:
        """K with ever more points, and the error they leave, as few nodes tell.

        The last errs by no more than the tolerance, if that can be.
        """
        few = self._few()
        found: list[tuple[Share, float]] = []
        if self.others and self.discordant[0] <= _FEW_CASES:
            sizes = [GaussShare(*self.discordant, points) for points in _GAUSS_POINTS]
            values = [self._tails_and_density(few, sizes[0], probes)]
            for finer in sizes[1:]:
                values.append(self._tails_and_density(few, finer, probes))
                if np.max(np.abs(values[-1] - values[-2])) <= tolerance:
                    break
            for size, value in zip(sizes, values[:-1], strict=False):
                found.append((size, _SAFETY * float(np.max(np.abs(value - values[-1])))))
        if not found or found[-1][1] > _SAFETY * tolerance:
            found.extend(self._stepped(few, probes, drop, tolerance))
        return found

    def _tails_and_density(self, few: Nodes, size: Share, probes: Array) -> Array:
        """What a Gauss rule for K must get right, also close to 0, where the integral begins."""
        law = self._at(few, size)
        d = np.minimum(np.append(self.sd * _CLOSE, np.abs(probes[probes != 0])), 0.99)
        values = [side.tail(d, density=True) for side in (law.b_above, law.a_above)]
        scale = _OF_THE_DENSITY * self.sd
        return np.array([[*tail, *(scale * density)] for tail, density in values])

    def _few(self) -> Nodes:
        if not self.others:
            return Nodes.single()
        size = _COARSE - 1 if len(self.others) < _MANY_SHARES else _COARSE - 2
        return product_nodes(self.others, size, stretched=True)

    def _stepped(
        self, few: Nodes, probes: Array, drop: float, tolerance: float
    ) -> list[tuple[SteppedShare, float]]:
        """K with ever shorter steps."""
        sizes = [SteppedShare.of(*self.discordant, drop)]
        values = [self._at(few, sizes[0]).beyond(probes)]
        for _ in range(_REFINEMENTS if self.others else _REFINEMENTS_ALONE):
            sizes.append(sizes[-1].refined())
            values.append(self._at(few, sizes[-1]).beyond(probes))
            last = _SAFETY * np.max(np.abs(values[-1] - values[-2]))
            if last <= tolerance:
                break
        # the longest steps that err no more than can be told
        errors = _SAFETY * np.max(np.abs(np.array(values[:-1]) - values[-1]), axis=1)
        first = int(np.argmax(errors <= max(2 * last, tolerance)))
        return list(zip(sizes, errors.tolist(), strict=False))[: first + 1]

    def _at(self, nodes: Nodes, size: Share, error: float = np.nan) -> _Law:
        at = self._coefficients(nodes)
        b_won, a_won = self._won
        return _Law(
            Discordance(at, nodes.weight, size, b_won),
            Discordance(at.swapped(), nodes.weight, size, a_won),
            error,
        )

    @cached_property
    def _won(self) -> tuple[TailTable, TailTable]:
        return TailTable(*self.won), TailTable(*self.won[::-1])

    def _coefficients(self, nodes: Nodes) -> Coefficients:
        if not self.others:
            return Coefficients(*[np.ones(1)] * 9)
        hit, false, miss = self.weights
        (case_1, case_3, right), (case_2, case_0, wrong) = nodes.share[:3], nodes.rest[:3]
        if len(nodes.share) == 4:
            wrong = wrong * (false * nodes.share[3] + miss * nodes.rest[3])
        against_a = false * case_1 + miss * case_2
        against_b = false * case_3 + miss * case_0
        return Coefficients(
            alike=hit * right + wrong,
            up1=hit * (right * against_a + wrong * case_2),
            up2=hit * case_2 * against_a,
            down1=hit * (right * against_b + wrong * case_0),
            down2=hit * case_0 * against_b,
            up_a=against_a,
            up_b=hit * case_2,
            down_a=hit * case_0,
            down_b=against_b,
        )
