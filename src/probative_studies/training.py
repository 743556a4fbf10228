"""How often is one of two learners called better that are equally good?

Two copies of a learner see the same items, each through features of its own, which tell as much
about the class; or through the same features, each trained on a random half of the training items.
Neither is better, and which one looks better on a data set is chance. Both are
cross-validated on many data sets, and the paired Bayes test judges each, as published and with
training variance allowed for. With a gain, B's features tell more, and being called better is
right.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.random import Generator
from scipy import special

from probative._validation import (
    RNG,
    Array,
    Mask,
    one_of,
    open_probability,
    positive,
    random_generator,
)
from probative.counts import PairedCounts
from probative.crossval.splitter import first_halves
from probative.errors import InputError
from probative.inference.crossval import (
    fold_dependence,
    fold_design_effect,
    fold_weight,
    item_variance,
)
from probative.metrics import PRF, score
from probative_studies.harness import Report, Row, mean, quiet, share_of, two_or_more

_Learner = Callable[[Array, Mask, Array], Mask]

_COPIES = ("own", "subsampled")
_REPETITIONS = 3
_FEATURES = 2  # of each learner
_AT_ONCE = 100  # data sets


def training_study(
    learners: Sequence[str] = ("stump", "neighbour", "centroid"),
    gains: Sequence[float] = (0.0, 0.25),
    *,
    distance: float = 0.5,
    copies: str = "own",
    items: int = 400,
    replicates: int = 1000,
    level: float = 0.95,
    rng: RNG | None = 0,
    report: Report = quiet,
) -> list[Row]:
    """Simulate how often the cross-validated test calls a learner better.

    >>> results = training_study(["centroid"], [0.0], items=80, replicates=20)
    >>> [result.metric for result in results]
    ['precision', 'recall', 'f1']
    """
    for learner in learners:
        one_of("learners", learner, tuple(LEARNERS))
    one_of("copies", copies, _COPIES)
    distance = positive("distance", distance, zero=True)
    if copies == "subsampled" and any(gains):
        raise InputError(f"gains: {tuple(gains)!r} with subsampled copies; expected 0 alone")
    level = open_probability("level", level)
    if items != int(items) or items % 8 or items < 40:
        raise InputError(f"items: {items!r} is not a multiple of 8 from 40 on")
    replicates = two_or_more(replicates)
    conditions = [(learner, gain) for gain in gains for learner in learners]
    results = []
    for i, (learner, gain) in enumerate(conditions):
        generator = random_generator(rng)
        outcomes: dict[str, list[tuple[float, float, float]]] = {metric: [] for metric in PRF}
        for done in range(0, replicates, _AT_ONCE):
            report(i * replicates + done, len(conditions) * replicates)
            size = min(_AT_ONCE, replicates - done)
            data = _draw(generator, size, items, (distance, distance + gain))
            subsample = generator if copies == "subsampled" else None
            for folds in _cross_validate(LEARNERS[learner], *data, subsample):
                for metric in PRF:
                    outcomes[metric].append(_judge(folds, metric))
        for metric in PRF:
            published, adjusted, effect = np.array(outcomes[metric]).T
            first, second = (share_of(tail < (1 - level) / 2) for tail in (published, adjusted))
            known = effect[np.isfinite(effect)]
            row = Row(
                learner=learner,
                metric=metric,
                items=items,
                gain=gain,
                distance=distance,
                copies=copies,
                published=first[0],
                published_error=first[1],
                adjusted=second[0],
                adjusted_error=second[1],
                effect=float(np.median(known)),
                notable=mean(known > 2),
                replicates=replicates,
                level=level,
            )
            results.append(row)
    return results


def _judge(folds: list[PairedCounts], metric: str) -> tuple[float, float, float]:
    """Return the smaller of P(A better) and P(B better), published and adjusted, and the effect."""
    # by the normal approximation of the paired posterior, since there are thousands of them
    effect = float(fold_design_effect(folds, metric=metric))
    dependence = fold_dependence(effect, len(folds) // 2)
    total = sum(folds[1:], start=folds[0]) * fold_weight(len(folds) // 2)
    published = float(special.ndtr(-_standardise(total, metric)))
    z = _standardise(total / dependence.divisor, metric)
    return published, float(special.stdtr(dependence.degrees_of_freedom, -z)), effect


def _standardise(table: PairedCounts, metric: str) -> float:
    """Return the size of the difference in standard deviations of its posterior (prior 1)."""
    cells = PairedCounts(table.cases + 0.5)
    size = abs(score(cells.b, metric) - score(cells.a, metric))
    return float(size / np.sqrt(item_variance(cells, metric, 1.0)))


def _draw(
    rng: Generator, size: int, items: int, distances: tuple[float, float]
) -> tuple[Array, Mask]:
    """Draw data sets as (data set, block, item, feature), A's features first, and their classes."""
    y = np.broadcast_to(np.arange(items // 4) % 2 == 0, (size, 4, items // 4))
    shift = np.repeat(distances, _FEATURES)
    return rng.standard_normal((*y.shape, 2 * _FEATURES)) + y[..., None] * shift, y


def _cross_validate(
    learn: _Learner, x: Array, y: Mask, subsample: Generator | None = None
) -> Iterator[list[PairedCounts]]:
    """Yield the six folds of both learners, for one data set after the other."""
    first, second = slice(None, _FEATURES), slice(_FEATURES, None)
    features = (first, second if subsample is None else first)
    cases = []
    for half in first_halves(_REPETITIONS).astype(bool):
        for train, validate in ((half, ~half), (~half, half)):
            seen, known = _join(x, train), _join(y, train)
            new, true = _join(x, validate), _join(y, validate)
            a, b = (
                learn(*_training_items(seen[..., own], known, subsample), new[..., own])
                for own in features
            )
            cases.append(_cases(a, b, true))
    for folds in np.stack(cases, axis=1):
        yield [PairedCounts(row) for row in folds]


def _training_items(x: Array, y: Mask, subsample: Generator | None) -> tuple[Array, Mask]:
    """Return all items, or a random half of them."""
    if subsample is None:
        return x, y
    half = subsample.random(y.shape).argsort(axis=1)[:, : y.shape[1] // 2]
    return np.take_along_axis(x, half[..., None], axis=1), np.take_along_axis(y, half, axis=1)


def _join(values: Any, blocks: Mask) -> Any:
    """Return the items of some blocks in a row."""
    chosen = values[:, blocks]
    return chosen.reshape(len(chosen), -1, *chosen.shape[3:])


def _cases(a: Mask, b: Mask, answer: Mask) -> Array:
    """Return the eight cases of every data set."""
    says = [a & ~b, ~a & b, a & b, ~a & ~b]
    columns = [(yes & right).sum(axis=1) for yes in says for right in (answer, ~answer)]
    return np.stack(columns, axis=-1).astype(np.float64)


def _stump(x: Array, y: Mask, new: Array) -> Mask:
    """Split at the feature and threshold that put most training items on their side."""
    order = np.argsort(x, axis=1)
    values = np.take_along_axis(x, order, axis=1)
    positive = np.take_along_axis(np.broadcast_to(y[..., None], x.shape), order, axis=1)
    below = np.cumsum(np.where(positive, -1, 1), axis=1)  # negatives less positives
    every = np.arange(len(x))
    place, feature = np.divmod(below[:, :-1].reshape(len(x), -1).argmax(axis=1), x.shape[-1])
    threshold = (values[every, place, feature] + values[every, place + 1, feature]) / 2
    return np.asarray(new[every, :, feature] > threshold[:, None])


def _neighbour(x: Array, y: Mask, new: Array) -> Mask:
    """Predict the class of the nearest training item."""
    answers = np.empty(new.shape[:2], dtype=bool)
    for i, (seen, known, questions) in enumerate(zip(x, y, new, strict=True)):
        distance = np.sum(seen**2, axis=1) - 2 * questions @ seen.T  # but for a constant
        answers[i] = known[distance.argmin(axis=1)]
    return answers


def _centroid(x: Array, y: Mask, new: Array) -> Mask:
    """Predict the class whose mean is nearer."""
    of_class = [
        np.sum(x * chosen[..., None], axis=1) / chosen.sum(axis=1)[:, None] for chosen in (y, ~y)
    ]
    direction, middle = of_class[0] - of_class[1], (of_class[0] + of_class[1]) / 2
    return np.asarray(np.einsum("rnf,rf->rn", new - middle[:, None], direction) > 0)


LEARNERS: dict[str, _Learner] = {"stump": _stump, "neighbour": _neighbour, "centroid": _centroid}
