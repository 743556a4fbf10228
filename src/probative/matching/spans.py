"""Spans against spans: who found what, exactly or in part."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from probative._validation import one_of
from probative.errors import InputError
from probative.matching.items import Items, collect, union
from probative.matching.tag_rules import UNTYPED

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from probative.reading.annotations import Spans

__all__ = ["Overlap", "match_spans", "overlaps"]


def match_spans(
    gold: Spans, *systems: Spans, ignore_type: bool = False, only: Sequence[str] = ()
) -> Items:
    """Find the distinct spans of the answer and of the systems, and who has which.

    Parameters
    ----------
    gold
        The answer.
    systems
        One or more outputs on the same sentences.
    ignore_type
        Whether boundaries alone count.
    only
        The labels to look at; by default all.
    """
    for system in systems:
        if system.n_sentences != gold.n_sentences:
            raise InputError(
                f"{system.text.name}: {system.n_sentences} sentences, but {gold.text.name} has "
                f"{gold.n_sentences}"
            )
    everyone = (gold, *systems)
    labels, codes = union([side.labels for side in everyone])
    for label in only:
        one_of("only", label, labels)
    wanted = np.array([not only or label in only for label in labels], dtype=bool)
    shapes = _shapes(everyone)
    sides = []
    for number, (side, code) in enumerate(zip(everyone, codes, strict=True)):
        kind = code[side.label]
        shown = np.zeros_like(kind) if ignore_type else kind
        pieces = () if shapes is None else (shapes[number],)
        columns = (side.sentence, side.start, side.end, *pieces, shown)
        sides.append(tuple(column[wanted[kind]] for column in columns) if only else columns)
    names = (UNTYPED,) if ignore_type else labels
    items = collect(sides, names, gold.n_sentences, gold.text.document)
    return items.only(list(only)) if only and not ignore_type else items


def _shapes(sides: Sequence[Spans]) -> list[NDArray[Any]] | None:
    """What every span is made of, in one numbering; None where all are of one piece."""
    if all(side.shape is None for side in sides):
        return None
    _, codes = union([side.shapes or ("",) for side in sides])
    zeros = [np.zeros(len(side), dtype=np.int32) for side in sides]
    return [
        code[zero if side.shape is None else side.shape]
        for side, code, zero in zip(sides, codes, zeros, strict=True)
    ]


@dataclass(frozen=True)
class Overlap:
    """How a system's spans meet those of the answer, under one of four ways to look at them.

    Attributes
    ----------
    correct, incorrect, partial, missed, spurious
        The five outcomes. `correct`, `incorrect` and `partial` are pairs of spans, `missed` are
        spans of the answer and `spurious` spans of the system that are in no pair.
    """

    correct: int
    incorrect: int
    partial: int
    missed: int
    spurious: int

    @property
    def possible(self) -> int:
        """How many spans the answer has."""
        return self.correct + self.incorrect + self.partial + self.missed

    @property
    def actual(self) -> int:
        """How many spans the system has."""
        return self.correct + self.incorrect + self.partial + self.spurious

    @property
    def precision(self) -> float:
        """Correct pairs, and half of the partial ones, of all that the system has."""
        return _share(self.correct + self.partial / 2, self.actual)

    @property
    def recall(self) -> float:
        """Correct pairs, and half of the partial ones, of all that the answer has."""
        return _share(self.correct + self.partial / 2, self.possible)

    @property
    def f1(self) -> float:
        """The harmonic mean of the two."""
        return _share(2 * self.correct + self.partial, self.actual + self.possible)


def _share(number: float, total: int) -> float:
    return number / total if total else float("nan")


def overlaps(gold: Spans, system: Spans) -> dict[str, Overlap]:
    """Pair the spans of a system with those of the answer that they meet.

    A span is in at most one pair. Equal spans are paired first, then spans with the same
    boundaries, then spans that share a token: from left to right, and with a span of the same
    type where there is one.

    Returns
    -------
    ``strict`` (boundaries and type), ``exact`` (boundaries), ``partial`` (boundaries, half the
    credit for an overlap) and ``ent_type`` (type, for spans that overlap), as nervaluate names
    them.
    """
    same, boundary, typed, other = _pairs(gold, system)
    overlapping = same + boundary + typed + other
    rest = {"missed": len(gold) - overlapping, "spurious": len(system) - overlapping}
    return {
        "strict": Overlap(same, overlapping - same, 0, **rest),
        "exact": Overlap(same + boundary, typed + other, 0, **rest),
        "partial": Overlap(same + boundary, 0, typed + other, **rest),
        "ent_type": Overlap(same + typed, boundary + other, 0, **rest),
    }


def _pairs(gold: Spans, system: Spans) -> tuple[int, int, int, int]:
    """Pairs that are equal, that share boundaries, that overlap with and without the type."""
    same = boundary = typed = other = 0
    touched = np.union1d(gold.sentence, system.sentence)
    for sentence in touched.tolist():
        answer, given = set(gold.of(sentence)), set(system.of(sentence))
        same += len(answer & given)
        left, right = sorted(answer - given), sorted(given - answer)
        for rule in (_same_boundaries, _overlap_of_one_type, _overlap):
            number = _take_pairs(left, right, rule)
            if rule is _same_boundaries:
                boundary += number
            elif rule is _overlap_of_one_type:
                typed += number
            else:
                other += number
    return same, boundary, typed, other


Span = tuple[int, int, str]


def _same_boundaries(a: Span, b: Span) -> bool:
    return a[:2] == b[:2]


def _overlap(a: Span, b: Span) -> bool:
    return a[0] < b[1] and b[0] < a[1]


def _overlap_of_one_type(a: Span, b: Span) -> bool:
    return _overlap(a, b) and a[2] == b[2]


def _take_pairs(left: list[Span], right: list[Span], rule: Callable[[Span, Span], bool]) -> int:
    """Remove pairs that fit a rule from both lists, and count them."""
    number = 0
    for span in list(right):
        partner = next((other for other in left if rule(other, span)), None)
        if partner is not None:
            left.remove(partner)
            right.remove(span)
            number += 1
    return number
