"""Spans against spans: who found what, exactly or in part."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from probative._validation import one_of
from probative.errors import InputError
from probative.matching.items import Items, collect, union
from probative.matching.match_rules import EQUAL, STRICT, MatchRule
from probative.matching.pairing import Side, credits_of, pair_off, possible_pairs
from probative.matching.places import covered_places
from probative.matching.tag_rules import UNTYPED

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from probative.reading.annotations import Spans

__all__ = ["Overlap", "match_spans", "overlaps"]


def match_spans(
    gold: Spans,
    *systems: Spans,
    rule: MatchRule = EQUAL,
    ignore_type: bool = False,
    only: Sequence[str] = (),
) -> Items:
    """Find the distinct spans of the answer and of the systems, and who has which.

    Parameters
    ----------
    gold
        The answer.
    systems
        One or more outputs on the same sentences.
    rule
        When a span of a system counts as right.
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
    sides = []
    for columns, code in zip(_columns(everyone, rule), codes, strict=True):
        kind = code[columns[-1]]
        shown = np.zeros_like(kind) if ignore_type else kind
        chosen = (*columns[:-1], shown)
        sides.append(tuple(column[wanted[kind]] for column in chosen) if only else chosen)
    names = (UNTYPED,) if ignore_type else labels
    if rule.name == STRICT or rule.is_by_place:
        items = collect(sides, names, gold.n_sentences, gold.text.document)
    else:
        shapes = _all_shapes(everyone)
        parted = [Side.of(columns, shapes) for columns in sides]
        items = match_by_rule(parted, rule, names, gold.n_sentences, gold.text.document)
    return items.only(list(only)) if only and not ignore_type else items


def _columns(sides: Sequence[Spans], rule: MatchRule) -> list[tuple[NDArray[Any], ...]]:
    """The unit, the place and the label of what every side has: spans, or what they cover."""
    if rule.is_by_place:
        covered = [covered_places(side, rule.name, sides[0]) for side in sides]
        return [(unit, place, place + 1, label) for unit, place, label in covered]
    shapes = _shapes(sides)
    if shapes is None and rule.name == STRICT:
        return [(side.sentence, side.start, side.end, side.label) for side in sides]
    shapes = shapes or [np.zeros(len(side), dtype=np.int32) for side in sides]
    return [
        (side.sentence, side.start, side.end, shape, side.label)
        for side, shape in zip(sides, shapes, strict=True)
    ]


def _all_shapes(sides: Sequence[Spans]) -> tuple[str, ...]:
    """What codes of `_shapes` stand for; the first is one piece."""
    return union([side.shapes or ("",) for side in sides])[0]


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


def match_by_rule(
    sides: Sequence[Side],
    rule: MatchRule,
    labels: tuple[str, ...],
    n_units: int,
    document: NDArray[Any] | None,
) -> Items:
    """The spans of the answer, found or not, and the distinct wrong ones of the systems.

    A system's counts are those of its own pairs, whatever other systems there are: what it finds
    of the answer is right, what is credited with nothing is wrong. Where half a span can be
    right, every span is two items of half the weight.

    Parameters
    ----------
    sides
        The spans of the answer, and of every system.
    rule
        ``exact``, ``partial``, ``type`` or ``boundary``.
    labels, n_units, document
        As `Items` has them.
    """
    gold, *systems = sides
    met = [possible_pairs(gold, system, rule) for system in systems]
    found = [credits_of(gold, own, rule, m) for own, m in zip(systems, met, strict=True)]
    items = _items(gold, systems, found, rule, labels, n_units, document)
    if rule.name == "boundary" or len(labels) < 2:
        return items  # partners have one label
    same = [
        m.where(gold.label[m.gold] == s.label[m.system]) for s, m in zip(systems, met, strict=True)
    ]
    alone = [credits_of(gold, own, rule, m) for own, m in zip(systems, same, strict=True)]
    within = _items(gold, systems, alone, rule, labels, n_units, document)
    return replace(items, within_labels=within)


def _items(
    gold: Side,
    systems: Sequence[Side],
    found: Sequence[tuple[Any, Any]],
    rule: MatchRule,
    labels: tuple[str, ...],
    n_units: int,
    document: NDArray[Any] | None,
) -> Items:
    """Items from what spans are credited with."""
    parts = range(1, rule.parts + 1)
    wrong = [
        [system.at(np.flatnonzero(rule.parts - credit >= part)).columns for part in parts]
        for system, (_, credit) in zip(systems, found, strict=True)
    ]
    # part k of a span is found if its credit reaches k, and wrong if what is left of it does
    kinds = [
        collect([gold.at(np.zeros(0, dtype=np.intp)).columns, *own], labels, n_units, document)
        for own in zip(*wrong, strict=True)
    ]
    of_gold = [np.stack([credit >= part for credit, _ in found]) for part in parts]
    n_gold, n_wrong = len(gold), sum(len(kind.unit) for kind in kinds)
    columns = {
        name: np.concatenate([np.tile(own, rule.parts), *(getattr(k, name) for k in kinds)])
        for name, own in (("unit", gold.unit), ("label", gold.label))
    }
    return Items(
        columns["unit"].astype(np.int32),
        columns["label"].astype(np.int32),
        labels,
        np.arange(rule.parts * n_gold + n_wrong) < rule.parts * n_gold,
        np.concatenate([*of_gold, *(kind.says for kind in kinds)], axis=1),
        n_units,
        document,
        start=np.concatenate([np.tile(gold.start, rule.parts), *(k.start for k in kinds)]),
        end=np.concatenate([np.tile(gold.end, rule.parts), *(k.end for k in kinds)]),
        weight=1 / rule.parts,
    )


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

    A span is in at most one pair; who is paired with whom is as for `match_spans`.

    Returns
    -------
    ``strict`` (boundaries and type), ``exact`` (boundaries), ``partial`` (boundaries, half the
    credit for an overlap) and ``ent_type`` (type, for spans that overlap), as nervaluate names
    them.
    """
    everyone = (gold, system)
    _, codes = union([side.labels for side in everyone])
    shapes = _all_shapes(everyone)
    sides = [
        Side.of((*columns[:-1], code[columns[-1]]), shapes)
        for columns, code in zip(_columns(everyone, MatchRule("exact")), codes, strict=True)
    ]
    names = {"strict": "strict", "exact": "exact", "partial": "partial", "ent_type": "type"}
    return {name: _overlap(sides, MatchRule(rule)) for name, rule in names.items()}


def _overlap(sides: Sequence[Side], rule: MatchRule) -> Overlap:
    """The outcomes under one rule."""
    gold, system = sides
    _, worth = pair_off(gold, system, rule, possible_pairs(gold, system, rule))
    correct, met = int(np.count_nonzero(worth == rule.parts)), len(worth)
    half = met - correct if rule.parts == 2 else 0
    return Overlap(correct, met - correct - half, half, len(gold) - met, len(system) - met)
