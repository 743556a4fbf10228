"""What models are asked for: labels, or spans of sentences."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from operator import index
from typing import TYPE_CHECKING, Any

import numpy as np

from probative._labels import items_of, label_text, labels_of
from probative.counts import PairedCounts
from probative.crossval.strata import length_of
from probative.errors import InputError
from probative.metrics import METRICS, NEEDS_TN, PRF
from probative.positive import positive_label

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["LabelTask", "SpanTask", "task_for"]

_SHOWN = 5  # classes that a message names


@dataclass(frozen=True)
class LabelTask:
    """One label per instance.

    Attributes
    ----------
    positive
        The class that counts as "yes"; None where all classes count. Then every error is a false
        positive of one class and a false negative of another, so that micro-averaged precision,
        recall and F1 are all the accuracy.
    classes
        The texts of all classes, which a model may predict; None where they are not known.
    """

    positive: Any = None
    classes: tuple[str, ...] | None = None
    name = "labels"

    @property
    def metrics(self) -> tuple[str, ...]:
        """What is compared by default."""
        return ("accuracy",) if self.positive is None else PRF

    @property
    def possible(self) -> tuple[str, ...]:
        """What can be compared."""
        return (*PRF, "accuracy") if self.positive is None else METRICS

    def strata(self, X: Any, y: Any) -> Any:  # noqa: ARG002
        """What the blocks shall have equal shares of."""
        return None  # the splitter takes the classes

    def check_predictions(self, predictions: Any, X: Any) -> list[Any]:
        """The predictions of one fold as plain Python values, as many as instances."""
        size = length_of("X", X)
        if not hasattr(predictions, "__len__"):
            raise InputError(f"predicts {predictions!r:.40} labels for {size} instances")
        labels = [_plain(label) for label in items_of("predictions", predictions)]
        if len(labels) != size:
            raise InputError(f"predicts {len(labels)} labels for {size} instances")
        codes, names = labels_of(labels, _refusal, "instance")
        if self.classes is not None:
            strange = [i for i, name in enumerate(names) if name not in self.classes]
            if strange:
                place = int(np.argmax(np.isin(codes, strange)))
                raise InputError(
                    f"predicts {labels[place]!r:.40} for instance {place + 1}; expected a class of "
                    f"y ({_listed(self.classes)})"
                )
        return labels

    def cases(self, gold: Any, a: list[Any], b: list[Any]) -> PairedCounts:
        """The eight cases of two models on one fold."""
        if self.positive is not None:
            return PairedCounts.from_labels(gold, a, b, positive=self.positive)
        # an item is an instance, and "yes" is its right class
        answer, says_a, says_b = (
            [label_text(label) for label in items_of("labels", side)] for side in (gold, a, b)
        )
        right = [[x == y for x, y in zip(answer, says, strict=True)] for says in (says_a, says_b)]
        return PairedCounts.from_labels([True] * len(answer), *right, positive=True)


@dataclass(frozen=True)
class SpanTask:
    """Spans of sentences: entities, chunks, words."""

    name = "entities"
    metrics = PRF
    possible = tuple(name for name in METRICS if name not in NEEDS_TN)

    def strata(self, X: Any, y: Any) -> dict[str, list[int]]:
        """What the blocks shall have equal shares of: spans of every label, and tokens."""
        labels = sorted({label for spans in y for _, _, label in spans})
        counts = {label: [0] * len(y) for label in labels}
        for number, spans in enumerate(y):
            for _, _, label in spans:
                counts[label][number] += 1
        return {**counts, "tokens": [len(sentence) for sentence in X]}

    def check_predictions(self, predictions: Any, X: Any) -> list[list[tuple[int, int, str]]]:
        """The predicted spans of one fold, sorted; as many sentences, no span outside."""
        if not hasattr(predictions, "__len__") or len(predictions) != len(X):
            how_many = len(predictions) if hasattr(predictions, "__len__") else predictions
            raise InputError(f"predicts spans for {how_many!r} sentences, and there are {len(X)}")
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
            SpanTask().check_predictions(y, X)
        except InputError as error:
            raise InputError(f"y: {error}") from None
        return SpanTask()
    if getattr(y, "ndim", 1) != 1:
        raise InputError(f"y: shape {y.shape}; expected one label per instance, or spans")
    _, classes = labels_of(items_of("y", y), lambda text: InputError(f"y: {text}"), "instance")
    if len(classes) < 2:
        raise InputError(f"y: holds one class, {classes[0]}; expected at least two")
    if positive is None:
        return LabelTask(positive_label(classes), classes)
    _, (wanted,) = labels_of([positive], lambda text: InputError(f"positive: {text}"))
    if wanted not in classes:
        raise InputError(
            f"positive: no instance has the class {positive!r}; expected one of {_listed(classes)}"
        )
    return LabelTask(wanted, classes)


def _plain(label: Any) -> Any:
    """A label as Python's own value, which a file can keep."""
    return label.item() if isinstance(label, np.generic) else label


def _refusal(text: str) -> InputError:
    return InputError(f"predictions: {text}")


def _listed(classes: Sequence[str]) -> str:
    more = ", …" if len(classes) > _SHOWN else ""
    return ", ".join(classes[:_SHOWN]) + more


def _sorted_spans(spans: Any, length: int, number: int) -> list[tuple[int, int, str]]:
    if isinstance(spans, (str, bytes)) or not isinstance(spans, Iterable):
        raise InputError(
            f"sentence {number}: {spans!r:.40}; expected a list of spans (start, end, label)"
        )
    distinct = set()
    for span in spans:
        try:
            start, end, label = span
            start, end = index(start), index(end)  # a fraction is no position
            inside = 0 <= start < end <= length and isinstance(label, str)
            distinct.add((start, end, label))
        except (TypeError, ValueError):
            inside = False
        if not inside:
            raise InputError(
                f"sentence {number}: span {span!r:.60}; expected (start, end, label) with whole "
                f"numbers 0 <= start < end <= {length}"
            )
    return sorted(distinct)
