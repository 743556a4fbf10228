"""Several runs of two systems: is B better as it stands, and is it better made?

Two questions. *These models*: only the test set is random. The counts of a unit are added up over
the runs of a system, and what holds for two systems holds for these sums. *These procedures*: a
new run would come out differently, too. The difference of the mean run scores then varies with
the units of the test set, with the runs, and with what single runs do to single units.

    compare_runs(a, b, metric, ...) -> RunsDifference(models=..., procedures=...)

`a` and `b` hold the `Counts` of each run, one row per unit, the same units in the same order in
all of them. `cases` are the cases of the items of all runs, where they are known: those of every
run of A beside every run of B, added up (`pool_cases`). They refine the limits of the models'
difference; for one run each they make them those of the plain comparison. Without them the two
systems are taken to be right and wrong in as many items of a unit together as possible.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import special

from probative._validation import flag, one_of, open_probability, positive
from probative.counts import Counts, PairedCounts, counts_of, paired_of
from probative.errors import InputError
from probative.inference.clustered_posterior import posterior_of_difference
from probative.inference.clusters import student_quantile
from probative.inference.decisions import unit_test
from probative.inference.differences import difference
from probative.inference.randomization import randomization_test
from probative.metrics import METRICS, TABLE, contributions, span
from probative.results.runs import ModelsAnswer, ProceduresAnswer, RunsDifference, VarianceParts

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from probative._types import RNG, Array

__all__ = [
    "Runs",
    "Spread",
    "add_squares",
    "answer_procedures",
    "compare_runs",
    "overlap",
    "pool_cases",
]

ONE_RUN = "one run of a system says nothing about others: only these models are compared"
TWO_RUNS = "two runs of a system hardly tell how far others would spread: expected three or more"
_UNDEFINED = "the score of a run is undefined: nothing is said about the procedures"
_ONE_UNIT = "one unit says nothing about others: nothing is said about the procedures"


def compare_runs(
    a: Sequence[Counts],
    b: Sequence[Counts],
    metric: str = "f1",
    *,
    level: float = 0.95,
    beta: float = 1.0,
    prior: float = 1.0,
    paired_runs: bool = False,
    cases: PairedCounts | None = None,
    rng: RNG | None = None,
    null: bool = False,
) -> RunsDifference:
    """Compare two systems with several runs each, B minus A.

    Parameters
    ----------
    a, b
        The counts of each run, one row per unit (sentence, document); the same units in all.
    metric, beta
        The score.
    level
        The nominal coverage of the limits.
    prior
        Of the models' posterior, as for `difference`.
    paired_runs
        Whether run i of A and run i of B belong together: a shared seed, or a split of the data.
    cases
        The cases of the items of all runs, as `pool_cases` adds them up, where they are known.
    rng, null
        As for `randomization_test`, which answers for the models.

    Examples
    --------
    >>> import numpy as np
    >>> import probative as pv
    >>> from probative.inference.runs import compare_runs
    >>> rng = np.random.default_rng(1)
    >>> def run(ability):
    ...     tp = rng.binomial(3, ability, 200)
    ...     return pv.Counts(tp=tp, fp=rng.binomial(1, 0.3, 200), fn=3 - tp)
    >>> a, b = [run(0.75) for _ in range(5)], [run(0.79) for _ in range(5)]
    >>> result = compare_runs(a, b)
    >>> print(result.models)
    models, B - A: +0.0276 [+0.0137, +0.0416], p = 0.0001202
    >>> print(result.procedures)
    procedures, B - A: +0.0275 [+0.0084, +0.0466], p = 0.006306
    """
    one_of("metric", metric, METRICS)
    level = open_probability("level", level)
    beta = positive("beta", beta) if TABLE[metric].depends_on_beta else 1.0
    paired_runs = flag("paired_runs", paired_runs)
    _check(a, b, paired_runs)
    side_a, side_b = (Runs.of(*_contributions(runs, metric, beta)) for runs in (a, b))
    exchanged = overlap(_pooled(a, len(b)), _pooled(b, len(a)))
    if cases is not None:
        _check_cases(cases, exchanged)
        exchanged = cases if len(a) == len(b) == 1 else exchanged
    pooled = exchanged if cases is None else cases
    models = _models(
        pooled * (float(Spread.of(side_a, side_b).worth()) / math.lcm(len(a), len(b))),
        exchanged,
        metric,
        level=level,
        beta=beta,
        prior=prior,
        rng=rng,
        null=null,
    )
    procedures, note = answer_procedures(side_a, side_b, models, level, paired_runs, span(metric))
    scores_a, scores_b = (tuple(side.scores.tolist()) for side in (side_a, side_b))
    return RunsDifference(metric, level, scores_a, scores_b, paired_runs, models, procedures, note)


def pool_cases(tables: Iterable[PairedCounts], n_runs_a: int, n_runs_b: int) -> PairedCounts:
    """Add up the cases of every run of A beside every run of B.

    The sums are divided by the greatest common divisor of the two numbers of runs: with as many
    runs of either system, its counts are the sums over its runs.
    """
    return sum(tables, start=0) / math.gcd(n_runs_a, n_runs_b)  # type: ignore[return-value]


def _check(a: Sequence[Counts], b: Sequence[Counts], paired_runs: bool) -> None:
    for name, runs in (("a", a), ("b", b)):
        if not runs:
            raise InputError(f"{name}: no runs; expected one at least")
        for k, counts in enumerate(runs):
            if len(counts_of(f"{name}[{k}]", counts).shape) != 1:
                raise InputError(
                    f"{name}[{k}]: counts of shape {counts.shape}; expected one row per unit "
                    f"(macro averages of several runs are not supported)"
                )
    first = a[0]
    for name, runs in (("a", a), ("b", b)):
        for k, counts in enumerate(runs):
            if counts.shape != first.shape:
                raise InputError(
                    f"{name}[{k}]: {len(counts)} units, but a[0] has {len(first)}; expected the "
                    f"same units in all runs"
                )
            if (counts.tn is None) != (first.tn is None):
                raise InputError(f"{name}[{k}]: some runs have tn and others have not")
            _check_answer(f"{name}[{k}]", counts, first)
    if paired_runs and len(a) != len(b):
        raise InputError(f"paired_runs: {len(a)} runs and {len(b)}; expected as many of each")


def _check_answer(name: str, counts: Counts, first: Counts) -> None:
    """Refuse counts of another answer: it decides how many items are to be found, or left alone."""
    sides: list[tuple[str, Any, Any]] = [("found", counts.positives, first.positives)]
    if counts.tn is not None and first.tn is not None:
        sides.append(("left alone", counts.fp + counts.tn, first.fp + first.tn))
    for what, own, others in sides:
        unlike = np.flatnonzero(own != others)
        if unlike.size:
            i = int(unlike[0])
            raise InputError(
                f"{name}: {own[i]:g} items to be {what} in unit {i}, but a[0] has {others[i]:g}; "
                f"expected the same answer in all runs"
            )


def _check_cases(cases: PairedCounts, exchanged: PairedCounts) -> None:
    """Cases must add up to the counts of the runs."""
    given, expected = paired_of("cases", cases).total(), exchanged.total()
    for system in "ab":
        for cell in ("tp", "fp", "fn"):
            own, of_runs = (float(getattr(getattr(c, system), cell)) for c in (given, expected))
            if not math.isclose(own, of_runs, rel_tol=1e-9, abs_tol=1e-6):
                raise InputError(
                    f"cases: {cell} {own:g} of {system.upper()}, but its runs have {of_runs:g}; "
                    f"expected the cases of all pairs of runs, as pool_cases adds them up"
                )


def _contributions(runs: Sequence[Counts], metric: str, beta: float) -> tuple[Array, Array]:
    """What each unit adds to numerator and denominator of the score of each run."""
    parts = [contributions(counts, metric, beta=beta) for counts in runs]
    x, y = (np.array([part[k] for part in parts], dtype=np.float64) for k in (0, 1))
    return x, y


def _pooled(runs: Sequence[Counts], others: int) -> Counts:
    """The sums over the runs, on the lattice that they share with as many runs of the other."""
    return sum(runs[1:], start=runs[0]) * (others // math.gcd(len(runs), others))


def overlap(a: Counts, b: Counts) -> PairedCounts:
    """The cases of two systems that are right and wrong together as often as possible."""
    both, wrong = np.minimum(a.tp, b.tp), np.minimum(a.fp, b.fp)
    cases = [a.tp - both, a.fp - wrong, b.tp - both, b.fp - wrong, both, wrong]
    cases.append(a.positives - a.tp - b.tp + both)
    if a.tn is not None:
        cases.append(a.tn - b.fp + wrong)
    return PairedCounts(np.stack(cases, axis=-1))


def _models(
    cases: PairedCounts,
    exchanged: PairedCounts,
    metric: str,
    *,
    level: float,
    beta: float,
    prior: float,
    rng: RNG | None,
    null: bool,
) -> ModelsAnswer:
    """The difference, exact test and posterior of one test set, on the sums over the runs."""
    gap = difference(cases, metric, level=level, beta=beta, prior=prior)
    test = randomization_test(exchanged, metric, beta=beta, rng=rng, null=null)
    posterior = posterior_of_difference(cases, metric, prior=prior, beta=beta)
    p_a_better, _, p_b_better = posterior.probabilities(0.0)
    by_unit = unit_test(exchanged, metric, beta=beta)
    why = by_unit.why(exchanged, test.pvalue)
    notes = "; ".join(note for note in (gap.note, test.note, why) if note)
    return ModelsAnswer(
        gap.a,
        gap.b,
        gap.estimate,
        gap.low,
        gap.high,
        gap.method,
        gap.design_effect,
        test.pvalue,
        test.method,
        p_a_better,
        p_b_better,
        notes or None,
        null=test.null,
        posterior=posterior,
        p_unit=by_unit.pvalue,
    )


@dataclass(frozen=True, eq=False)
class Runs:
    """The runs of one system: how each scores, and how far each unit moves its score.

    The last axis of an array is that of the units, the one before it that of the runs; axes before
    them are for many test sets at once.

    Attributes
    ----------
    scores
        The score of each run.
    moves
        How far a unit moves the score of a run, (x - F·y)/Y.
    left_out
        How far the mean score moves when a unit is left out.
    size
        What a unit adds to the denominator, on average over the runs.
    """

    scores: Array
    moves: Array
    left_out: Array
    size: Array

    @classmethod
    def of(cls, x: Array, y: Array) -> Runs:
        """From what each unit adds to numerator and denominator of the score of each run."""
        total = y.sum(axis=-1, keepdims=True)
        with np.errstate(invalid="ignore", divide="ignore"):
            scores = x.sum(axis=-1, keepdims=True) / total
            moves = x - scores * y
            left_out = (-moves / (total - y)).mean(axis=-2)
            return cls(scores[..., 0], moves / total, left_out, y.mean(axis=-2))

    def minus(self, other: Runs) -> Runs:
        """The differences of paired runs, as if they were the scores of one system."""
        return Runs(
            self.scores - other.scores,
            self.moves - other.moves,
            self.left_out - other.left_out,
            self.size + other.size,
        )

    @property
    def number(self) -> int:
        """How many runs there are."""
        return int(self.scores.shape[-1])

    def variance(self) -> Array:
        """Of the scores of runs on this test set."""
        return _variance(self.scores)

    def interaction(self, units: Array) -> Array:
        """The part of that variance that comes from what runs do to single units."""
        own = np.swapaxes(self.moves, -1, -2)
        return np.asarray(units / (units - 1) * _variance(own).sum(axis=-1))


def _variance(values: Array) -> Array:
    """Along the last axis; exactly 0 for equal values, and for one alone."""
    if values.shape[-1] == 1:
        return np.zeros(values.shape[:-1])
    return np.asarray(np.var(values - values[..., :1], axis=-1, ddof=1))


@dataclass(frozen=True, eq=False)
class Spread:
    """How far the difference of two mean scores varies from one experiment to the next.

    Attributes
    ----------
    estimate
        The difference, B minus A.
    units
        How many units there are in which anything counts.
    by_unit, unit_freedom
        Its variance over test sets with these runs, by leaving out one unit at a time, and Kish's
        effective number of units, less one.
    numbers
        How many runs there are of A and of B; once where they are paired.
    variances, interactions
        Of the scores of a run on this test set (of the difference of a pair of them), and the part
        of it that comes from what runs do to single units.
    """

    estimate: Array
    units: Array
    by_unit: Array
    unit_freedom: Array
    numbers: tuple[int, ...]
    variances: tuple[Array, ...]
    interactions: tuple[Array, ...]

    @classmethod
    def of(cls, a: Runs, b: Runs, paired_runs: bool = False) -> Spread:
        """Of the runs of two systems, two of each at least."""
        size = a.size + b.size
        there = size > 0
        units = np.count_nonzero(there, axis=-1)
        moved = b.left_out - a.left_out
        with np.errstate(invalid="ignore", divide="ignore"):
            around = moved.sum(axis=-1, keepdims=True) / np.expand_dims(units, -1)
            squares = np.where(there, (moved - around) ** 2, 0.0).sum(axis=-1)
            freedom = size.sum(axis=-1) ** 2 / (size**2).sum(axis=-1) - 1
            sides = (b.minus(a),) if paired_runs else (a, b)
            return cls(
                b.scores.mean(axis=-1) - a.scores.mean(axis=-1),
                np.asarray(units),
                (units - 1) / units * squares,
                freedom,
                tuple(side.number for side in sides),
                tuple(side.variance() for side in sides),
                tuple(side.interaction(units) for side in sides),
            )

    def mean_squares(self) -> list[tuple[Array, Any]]:
        """The variance by units and those of the mean scores, each with its degrees of freedom.

        What runs do to single units is in both: their sum errs on the safe side.
        """
        runs = zip(self.variances, self.numbers, strict=True)
        return [(self.by_unit, self.unit_freedom), *((v / n, n - 1) for v, n in runs)]

    def on_a_new_test_set(self) -> list[tuple[Array, Any]]:
        """The same for the difference of two new runs there, about the observed one of the means.

        That is off by its own error, too.
        """
        repeated = sum(v / n for v, n in zip(self.interactions, self.numbers, strict=True))
        new = self.by_unit + np.maximum(0.0, self.by_unit - repeated)
        return [(new, self.unit_freedom), *self.on_this_test_set()]

    def on_this_test_set(self) -> list[tuple[Array, Any]]:
        """The same where the units stay, and only runs are new."""
        runs = zip(self.variances, self.numbers, strict=True)
        return [(v * (1 + 1 / n), n - 1) for v, n in runs]

    def worth(self) -> Array:
        """How many independent runs of either system all of them are worth to the models.

        That is the variance of the difference of two runs from test set to test set, on average,
        over that of the difference of the means. Copies of one run are worth one.
        """
        own = zip(self.interactions, self.numbers, strict=True)
        single = self.by_unit + sum(v * (1 - 1 / n) for v, n in own)
        with np.errstate(invalid="ignore", divide="ignore"):
            worth = single / self.by_unit
        return np.where(np.isfinite(worth), np.minimum(worth, math.lcm(*self.numbers)), 1.0)

    def parts(self) -> tuple[Array, list[Array], list[Array]]:
        """What units, runs and their interaction add to the variance of the mean difference."""
        sides = list(zip(self.variances, self.interactions, self.numbers, strict=True))
        both = [i / n for _, i, n in sides]
        runs = [np.maximum(0.0, v - i) / n for v, i, n in sides]
        return np.maximum(0.0, self.by_unit - sum(both)), runs, both


def add_squares(squares: list[tuple[Array, Any]]) -> tuple[Any, Any]:
    """The sum of independent variances, and Satterthwaite's degrees of freedom for it."""
    total = np.asarray(sum(v for v, _ in squares))
    with np.errstate(invalid="ignore", divide="ignore"):
        freedom = 1 / sum((v / total) ** 2 / f for v, f in squares)
    return total, np.where(total > 0, freedom, np.inf)


def answer_procedures(
    a: Runs, b: Runs, models: ModelsAnswer, level: float, paired_runs: bool, most: float
) -> tuple[ProceduresAnswer | None, str | None]:
    """The answer about the procedures, or why there is none.

    New runs can only add to what is uncertain about these models. So the limits reach at least as
    far as the models' own, and the p-value is no smaller than that of the exact test.
    """
    if min(a.number, b.number) < 2:
        return None, ONE_RUN
    if not np.all(np.isfinite(a.scores)) or not np.all(np.isfinite(b.scores)):
        return None, _UNDEFINED
    spread = Spread.of(a, b, paired_runs)
    if not (np.isfinite(spread.by_unit) and spread.unit_freedom > 0):
        return None, _ONE_UNIT
    estimate = float(spread.estimate)
    variance, freedom = map(float, add_squares(spread.mean_squares()))
    deviation = math.sqrt(variance)
    reach = float(student_quantile(level, freedom)) * deviation
    p_a, p_b = (_student(side * estimate, variance, freedom) for side in (-1, 1))
    answer = ProceduresAnswer(
        float(a.scores.mean()),
        float(b.scores.mean()),
        estimate,
        max(-most, estimate - max(reach, models.estimate - models.low)),
        min(most, estimate + max(reach, models.high - models.estimate)),
        deviation,
        freedom,
        max(min(1.0, 2 * min(p_a, p_b)), models.pvalue),
        _nearer_to_half(p_a, models.p_a_better),
        _nearer_to_half(p_b, models.p_b_better),
        _student(estimate, *add_squares(spread.on_a_new_test_set())),
        _student(estimate, *add_squares(spread.on_this_test_set())),
        _variance_parts(spread, len(a.size), a.number, b.number, paired_runs),
        TWO_RUNS if min(a.number, b.number) < 3 else None,
    )
    return answer, None


def _variance_parts(
    spread: Spread, n_units: int, n_a: int, n_b: int, paired_runs: bool
) -> VarianceParts:
    units, runs, both = spread.parts()
    runs_a, runs_b = (*map(float, runs), 0.0)[:2]
    both_a, both_b = (*map(float, both), 0.0)[:2]
    return VarianceParts(
        units=float(units),
        runs_a=runs_a,
        runs_b=runs_b,
        interaction=both_a + both_b,
        n_units=n_units,
        n_runs_a=n_a,
        n_runs_b=n_b,
        interaction_a=both_a,
        interaction_b=both_b,
        paired_runs=paired_runs,
    )


def _student(x: float, variance: Any, freedom: Any) -> float:
    """The probability that a Student variable about x is above 0; a tie counts half."""
    if not variance > 0:
        return 0.5 + 0.5 * float(np.sign(x))
    t = x / math.sqrt(variance)
    return float(special.ndtr(t) if math.isinf(freedom) else special.stdtr(freedom, t))


def _nearer_to_half(p: float, q: float) -> float:
    return min(p, q, key=lambda value: abs(value - 0.5))
