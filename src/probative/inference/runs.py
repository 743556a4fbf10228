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
from typing import TYPE_CHECKING

import numpy as np
from scipy import special

from probative._validation import flag, one_of, open_probability, positive
from probative.counts import Counts, PairedCounts, counts_of, paired_of
from probative.errors import InputError
from probative.inference.clustered_posterior import posterior_of_difference
from probative.inference.clusters import student_quantile
from probative.inference.differences import difference
from probative.inference.randomization import randomization_test
from probative.metrics import METRICS, TABLE, ratio
from probative.results.runs import ModelsAnswer, ProceduresAnswer, RunsDifference, VarianceParts

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from probative._types import RNG

    Array = NDArray[np.float64]

__all__ = ["compare_runs", "pool_cases"]

ONE_RUN = "one run of a system says nothing about others: only these models are compared"
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
    >>> print(compare_runs(a, b).procedures)  # doctest: +ELLIPSIS
    procedures, B - A: +0.0...
    """
    one_of("metric", metric, METRICS)
    level = open_probability("level", level)
    beta = positive("beta", beta) if TABLE[metric].depends_on_beta else 1.0
    paired_runs = flag("paired_runs", paired_runs)
    _check(a, b, paired_runs)
    side_a, side_b = (_Runs.of(runs, metric, beta) for runs in (a, b))
    single = len(a) == len(b) == 1
    if cases is None:
        cases = _overlapping(*(_pooled(runs, len(other)) for runs, other in ((a, b), (b, a))))
    paired_of("cases", cases)
    models = _models(
        cases,
        cases if single else _overlapping(_pooled(a, len(b)), _pooled(b, len(a))),
        metric,
        level=level,
        beta=beta,
        prior=prior,
        rng=rng,
        null=null,
    )
    procedures, note = _procedures(side_a, side_b, level, paired_runs)
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
            own, others = np.asarray(counts.positives), np.asarray(first.positives)
            unlike = np.flatnonzero(own != others)
            if unlike.size:
                i = int(unlike[0])
                raise InputError(
                    f"{name}[{k}]: {own[i]:g} items to be found in unit {i}, but "
                    f"a[0] has {others[i]:g}; expected the same answer in all runs"
                )
    if paired_runs and len(a) != len(b):
        raise InputError(f"paired_runs: {len(a)} runs and {len(b)}; expected as many of each")


def _pooled(runs: Sequence[Counts], others: int) -> Counts:
    """The sums over the runs, on the lattice that they share with as many runs of the other."""
    return sum(runs[1:], start=runs[0]) * (others // math.gcd(len(runs), others))


def _overlapping(a: Counts, b: Counts) -> PairedCounts:
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
    """Sections 6 and 7 on the sums over the runs."""
    gap = difference(cases, metric, level=level, beta=beta, prior=prior)
    test = randomization_test(exchanged, metric, beta=beta, rng=rng, null=null)
    posterior = posterior_of_difference(cases, metric, prior=prior, beta=beta)
    p_a_better, _, p_b_better = posterior.probabilities(0.0)
    notes = "; ".join(note for note in (gap.note, test.note) if note)
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
    )


@dataclass(frozen=True, eq=False)
class _Runs:
    """The runs of one system.

    Attributes
    ----------
    scores
        The score of each run.
    moves
        How far a unit moves the score of a run, (x - F·y)/Y: one row per run.
    left_out
        How far the score moves when the unit is left out.
    size
        What a unit adds to the denominator, on average over the runs.
    """

    scores: Array
    moves: Array
    left_out: Array
    size: Array

    @classmethod
    def of(cls, runs: Sequence[Counts], metric: str, beta: float) -> _Runs:
        pairs = [ratio(counts, metric, beta=beta) for counts in runs]
        x, y = (np.array([pair[k] for pair in pairs], dtype=np.float64) for k in (0, 1))
        total = y.sum(axis=1, keepdims=True)
        with np.errstate(invalid="ignore", divide="ignore"):
            scores = x.sum(axis=1, keepdims=True) / total
            moves = x - scores * y
            return cls(scores[:, 0], moves / total, -moves / (total - y), y.mean(axis=0))

    def minus(self, other: _Runs) -> _Runs:
        """The differences of paired runs, as if they were the scores of one system."""
        return _Runs(
            self.scores - other.scores,
            self.moves - other.moves,
            self.left_out - other.left_out,
            self.size + other.size,
        )

    @property
    def number(self) -> int:
        """How many runs there are."""
        return len(self.scores)

    @property
    def variance(self) -> float:
        """Of the scores of runs on this test set."""
        return float(np.var(self.scores, ddof=1))

    @property
    def interaction(self) -> float:
        """The part of that variance that comes from what runs do to single units."""
        n = np.count_nonzero(self.size > 0)
        own = self.moves - self.moves.mean(axis=0)
        return float(n / (n - 1) * np.sum(own**2) / (self.number - 1))


def _procedures(
    a: _Runs, b: _Runs, level: float, paired_runs: bool
) -> tuple[ProceduresAnswer | None, str | None]:
    """The answer about the procedures, or why there is none."""
    if min(a.number, b.number) < 2:
        return None, ONE_RUN
    if not np.all(np.isfinite(a.scores)) or not np.all(np.isfinite(b.scores)):
        return None, _UNDEFINED
    size = a.size + b.size
    there = size > 0
    n = int(np.count_nonzero(there))
    left_out = (b.left_out.mean(axis=0) - a.left_out.mean(axis=0))[there]
    if n < 2 or not np.all(np.isfinite(left_out)):
        return None, _ONE_UNIT
    by_unit = (n - 1) / n * float(np.sum((left_out - left_out.mean()) ** 2))
    freedom_of_units = float(size.sum() ** 2 / np.sum(size**2) - 1)
    sides = [b.minus(a)] if paired_runs else [a, b]
    mean_a, mean_b = float(a.scores.mean()), float(b.scores.mean())
    estimate = mean_b - mean_a
    squares = [(by_unit, freedom_of_units)]
    squares += [(side.variance / side.number, side.number - 1.0) for side in sides]
    variance, freedom = _sum_of_squares(squares)
    deviation = math.sqrt(variance)
    reach = float(student_quantile(level, freedom)) * deviation if deviation > 0 else 0.0
    p_a, p_b = (_student(side * estimate, deviation, freedom) for side in (-1, 1))
    of_a, *of_b = ((side.interaction, side.variance, side.number) for side in sides)
    interactions, runs = zip(*map(_split, (of_a, of_b[0] if of_b else (0.0, 0.0, 1))), strict=True)
    interaction = sum(interactions)
    parts = VarianceParts(
        units=max(0.0, by_unit - interaction),
        runs_a=runs[0],
        runs_b=runs[1],
        interaction=interaction,
        n_units=n,
        n_runs_a=a.number,
        n_runs_b=b.number,
        interaction_a=interactions[0],
        interaction_b=interactions[1],
        paired_runs=paired_runs,
    )
    here = [
        (v * (1 + 1 / side.number), side.number - 1.0) for side in sides for v in [side.variance]
    ]
    new = [(2 * parts.units + interaction, freedom_of_units), *here]
    answer = ProceduresAnswer(
        mean_a,
        mean_b,
        estimate,
        max(-1.0, estimate - reach),
        min(1.0, estimate + reach),
        deviation,
        freedom,
        min(1.0, 2 * min(p_a, p_b)),
        p_a,
        p_b,
        _predicted(estimate, new),
        _predicted(estimate, here),
        parts,
    )
    return answer, None


def _split(own: tuple[float, float, int]) -> tuple[float, float]:
    """What the interaction and the runs themselves add to the variance of their mean."""
    interaction, total, number = own
    return interaction / number, max(0.0, total - interaction) / number


def _sum_of_squares(squares: list[tuple[float, float]]) -> tuple[float, float]:
    """The sum of independent variances, and Satterthwaite's degrees of freedom for it."""
    total = sum(v for v, _ in squares)
    if not total > 0:
        return 0.0, math.inf
    return total, 1 / sum((v / total) ** 2 / freedom for v, freedom in squares)


def _student(x: float, deviation: float, freedom: float) -> float:
    """The probability that a Student variable about x is above 0; a tie counts half."""
    if not deviation > 0:
        return 0.5 + 0.5 * float(np.sign(x))
    if math.isinf(freedom):
        return float(special.ndtr(x / deviation))
    return float(special.stdtr(freedom, x / deviation))


def _predicted(estimate: float, squares: list[tuple[float, float]]) -> float:
    variance, freedom = _sum_of_squares(squares)
    return _student(estimate, math.sqrt(variance), freedom)
