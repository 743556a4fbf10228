"""One model that answers each sample several times: scores, and what more answers would buy.

The answers to one sample resemble each other, so samples are the units: a sample counts for what
it is worth on average over its answers, however many there are. The variance of the score then has
two parts: which samples there are, and which answers the model happened to give to them. More
answers lessen the second part alone; more samples lessen both.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from probative._counting import by_first_appearance
from probative._validation import one_of, open_probability, positive
from probative.counts import Counts, counts_of
from probative.errors import InputError
from probative.inference.clusters import dependence_of_score
from probative.inference.intervals import interval
from probative.metrics import METRICS, TABLE, contributions
from probative.results.runs import RepeatedScore

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from probative._types import Array

__all__ = ["pass_rate", "score_repeats"]

_NOTHING = 1e-28  # a variance that is rounding
_ONCE = "no sample was answered twice: what other answers would have scored is not known"


def score_repeats(
    counts: Counts,
    metric: str = "f1",
    *,
    samples: ArrayLike | None = None,
    level: float = 0.95,
    beta: float = 1.0,
) -> RepeatedScore:
    """Score a model that answered each sample several times.

    Parameters
    ----------
    counts
        A table of samples by answers, shape (samples, answers); or one row per answer, with
        `samples`, where samples were not all answered as often.
    metric, beta
        The score.
    samples
        Which sample each row of `counts` answers.
    level
        The nominal coverage of the limits.

    Examples
    --------
    >>> import probative as pv
    >>> from probative.inference.repeats import score_repeats
    >>> tp, fp = [[2, 2, 1], [0, 1, 0], [3, 3, 3]], [[0, 0, 1], [1, 1, 0], [0, 0, 1]]
    >>> fn = [[0, 0, 1], [2, 1, 2], [0, 0, 0]]
    >>> print(score_repeats(pv.Counts(tp, fp, fn)))
    f1 of 3 samples, 3 answers each: 0.7500 [0.0956, 0.9884]; answers make 10 % of the variance
    """
    one_of("metric", metric, METRICS)
    level = open_probability("level", level)
    beta = positive("beta", beta) if TABLE[metric].depends_on_beta else 1.0
    rows, sample, n = _answers(counts, samples)
    answers = np.bincount(sample, minlength=n).astype(np.float64)
    most = int(answers.max())
    # a sample's mean, as often as the most answered one counts: whole counts where all are alike
    names = ("tp", "fp", "fn", "tn")[: 3 if rows.tn is None else 4]
    sums = [np.bincount(sample, getattr(rows, name), minlength=n) for name in names]
    by_sample = Counts(*(total * (most / answers) for total in sums))
    limits = interval(by_sample, metric, level=level, beta=beta, clustered=True)
    share = _share_of_answers(rows, sample, answers, by_sample / most, metric, beta)
    effect = dependence_of_score(by_sample, metric, beta=beta)
    notes = [note for note in (limits.note, _ONCE if most < 2 else None) if note]
    return RepeatedScore(
        metric,
        level,
        float(limits.estimate),
        float(limits.low),
        float(limits.high),
        limits.method,
        n,
        len(sample),
        1 / float(np.mean(1 / answers)),
        effect.design_effect,
        share,
        "; ".join(map(str, notes)) or None,
    )


def pass_rate(
    passed: ArrayLike, *, samples: ArrayLike | None = None, level: float = 0.95
) -> RepeatedScore:
    """The share of answers that pass, where each sample was answered several times.

    Parameters
    ----------
    passed
        Whether an answer passes, or its score between 0 and 1: samples by answers, or one number
        per answer, with `samples`.
    samples
        Which sample each answer belongs to.
    level
        The nominal coverage of the limits.

    Examples
    --------
    >>> from probative.inference.repeats import pass_rate
    >>> print(pass_rate([[1, 1, 0], [0, 0, 0], [1, 1, 1], [1, 0, 1]]))  # doctest: +ELLIPSIS
    accuracy of 4 samples, 3 answers each: 0.5833 [0.1292, 0.9296]; answers make 32 % of ...
    """
    share = np.asarray(passed, dtype=np.float64)
    if not np.all((share >= 0) & (share <= 1)):
        raise InputError("passed: expected numbers between 0 and 1")
    nothing = np.zeros_like(share)
    return score_repeats(
        Counts(share, nothing, 1 - share, nothing), "accuracy", samples=samples, level=level
    )


def _answers(counts: Counts, samples: ArrayLike | None) -> tuple[Counts, NDArray[np.intp], int]:
    """One row per answer, the number of its sample, and how many samples there are."""
    shape = counts_of("counts", counts).shape
    if samples is None:
        if len(shape) != 2 or 0 in shape:
            raise InputError(
                f"counts: shape {shape}; expected samples by answers, or one row per answer with "
                f"samples"
            )
        return counts.reshape(-1), np.repeat(np.arange(shape[0]), shape[1]), shape[0]
    if len(shape) != 1 or not shape[0]:
        raise InputError(f"counts: shape {shape}; with samples, expected one row per answer")
    sample, n = by_first_appearance("samples", samples)
    if len(sample) != shape[0]:
        raise InputError(f"samples: {len(sample)} of them, but counts has {shape[0]} rows")
    return counts, sample, n


def _share_of_answers(
    rows: Counts, sample: NDArray[np.intp], answers: Array, means: Counts, metric: str, beta: float
) -> float | None:
    """The share of the variance that infinitely many answers to each sample would remove."""
    x, y = contributions(rows, metric, at=means.sum(), beta=beta)
    top, bottom = contributions(means, metric, beta=beta)
    total = float(np.sum(bottom))
    if answers.max() < 2 or not total > 0:
        return None
    f = float(np.sum(top)) / total
    moves, typical = np.asarray((x - f * y) / total), np.asarray((top - f * bottom) / total)
    n = int(np.count_nonzero(bottom > 0))
    if n < 2:
        return None
    variance = float(n / (n - 1) * np.sum(typical**2))
    # samples answered once have an unknown spread: that of the others, on average
    twice = answers > 1
    around = np.bincount(sample, (moves - typical[sample]) ** 2, minlength=len(answers))
    spread = around[twice] / (answers[twice] - 1)
    within = np.full(len(answers), float(spread.mean()))
    within[twice] = spread
    removable = float(np.sum(within / answers))
    if max(removable, variance) < _NOTHING:
        return None
    return min(1.0, removable / variance) if removable < variance else 1.0
