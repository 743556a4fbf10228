"""What models are asked for: labels, or spans of sentences."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from probative.counts import PairedCounts
from probative.crossval.units import length_of
from probative.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

__all__ = ["LabelTask", "SpanTask", "task_for"]

_PRF = ("precision", "recall", "f1")
_POSSIBLE = (*_PRF, "fbeta", "jaccard")
# A label that means "yes" in a problem of two classes.
_YES = (1, True, "1", "yes", "true", "True")


@dataclass(frozen=True)
class LabelTask:
    """A label an instance.

    Attributes
    ----------
    positive
        The class that counts as "yes"; None where all classes count. Then every error is a false
        positive of one class and a false negative of another, so that micro-averaged precision,
        recall and F1 are all the accuracy.
    """

    positive: Any = None
    name = "labels"

    @property
    def metrics(self) -> tuple[str, ...]:
        """What is compared by default."""
        return ("accuracy",) if self.positive is None else _PRF

    @property
    def possible(self) -> tuple[str, ...]:
        """What can be compared."""
        return (*_PRF, "accuracy") if self.positive is None else (*_POSSIBLE, "accuracy")

    def units(self, X: Any, y: Any) -> Any:  # noqa: ARG002
        """What the blocks shall have equal shares of."""
        return None  # the splitter takes the classes

    def checked(self, predictions: Any, X: Any) -> list[Any]:
        """The predictions of one fold as plain Python values, as many as instances."""
        labels: list[Any] = np.asarray(predictions).tolist()
        if not isinstance(labels, list) or len(labels) != length_of("X", X):
            found = len(labels) if isinstance(labels, list) else repr(predictions)[:40]
            raise InputError(f"predicts {found} labels for {length_of('X', X)} instances")
        return labels

    def cases(self, gold: Any, a: list[Any], b: list[Any]) -> PairedCounts:
        """The eight cases of two models on one fold."""
        answer = np.asarray(gold)
        if self.positive is not None:
            return PairedCounts.from_labels(answer, a, b, positive=self.positive)
        # an item is an instance, and "yes" is its right class
        says_a, says_b = _equal(answer, a), _equal(answer, b)
        return PairedCounts.from_labels(np.ones(len(answer)), says_a, says_b, positive=1)


@dataclass(frozen=True)
class SpanTask:
    """Spans of sentences: entities, chunks, words."""

    name = "spans"
    metrics = _PRF
    possible = _POSSIBLE

    def units(self, X: Sequence[Any], y: Sequence[Any]) -> dict[str, list[int]]:
        """What the blocks shall have equal shares of: spans of every label, and tokens."""
        labels = sorted({label for spans in y for _, _, label in spans})
        counts = {label: [0] * len(y) for label in labels}
        for number, spans in enumerate(y):
            for _, _, label in spans:
                counts[label][number] += 1
        return {**counts, "tokens": [len(sentence) for sentence in X]}

    def checked(self, predictions: Any, X: Any) -> list[list[tuple[int, int, str]]]:
        """The predicted spans of one fold, sorted; as many sentences, no span outside."""
        if not hasattr(predictions, "__len__") or len(predictions) != len(X):
            found = len(predictions) if hasattr(predictions, "__len__") else predictions
            raise InputError(f"predicts spans for {found!r} sentences, and there are {len(X)}")
        return [
            _sorted_spans(spans, len(sentence), number)
            for number, (spans, sentence) in enumerate(zip(predictions, X, strict=True), 1)
        ]

    def cases(self, gold: Any, a: list[Any], b: list[Any]) -> PairedCounts:
        """The eight cases of two models on one fold."""
        sides = ([[tuple(span) for span in spans] for spans in side] for side in (gold, a, b))
        return PairedCounts.from_spans(*sides).total()


def task_for(X: Any, y: Any, positive: Any) -> LabelTask | SpanTask:
    """Recognise the task, and check what there is to learn from.

    Parameters
    ----------
    X, y
        Instances and labels, or sentences and their spans.
    positive
        The class that counts as "yes", if the user named one.
    """
    if length_of("X", X) != length_of("y", y):
        raise InputError(f"y: {length_of('y', y)} values, but X has {length_of('X', X)} instances")
    nested = (
        isinstance(y, (list, tuple))
        and len(y) > 0
        and isinstance(y[0], (set, list, tuple, frozenset))
    )
    if nested:
        if positive is not None:
            raise InputError("positive: applies to labels, and y holds spans")
        try:
            SpanTask().checked(y, X)
        except InputError as error:
            raise InputError(f"y: {error}") from None
        return SpanTask()
    labels = np.asarray(y)
    if labels.ndim != 1:
        raise InputError(f"y: shape {labels.shape}; expected a label an instance, or spans")
    classes = np.unique(labels).tolist()
    if len(classes) < 2:
        raise InputError(f"y: holds one class, {classes[0]!r}; expected at least two")
    if positive is not None and positive not in classes:
        raise InputError(f"positive: no instance has the class {positive!r}")
    if positive is None and len(classes) == 2:
        positive = next((label for label in reversed(classes) if label in _YES), None)
    return LabelTask(positive)


def _equal(answer: NDArray[Any], labels: list[Any]) -> NDArray[np.bool_]:
    # NumPy answers a comparison of strings with numbers by one False, not by an array of them
    return np.broadcast_to(np.asarray(answer == np.asarray(labels)), answer.shape)


def _sorted_spans(spans: Any, length: int, number: int) -> list[tuple[int, int, str]]:
    found = set()
    for span in spans:
        try:
            start, end, label = span
            inside = 0 <= start < end <= length and isinstance(label, str)
            found.add((int(start), int(end), label))
        except (TypeError, ValueError):
            inside = False
        if not inside:
            raise InputError(
                f"sentence {number}: span {span!r:.60}; expected (start, end, label) with "
                f"0 <= start < end <= {length}"
            )
    return sorted(found)
