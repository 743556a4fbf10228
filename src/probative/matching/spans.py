"""Spans against spans: who found what, exactly or in part."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from probative._validation import one_of
from probative.errors import InputError
from probative.matching.items import Items, collect, union
from probative.matching.rules import EQUAL, STRICT, UNTYPED, MatchRule

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from probative._validation import Ints
    from probative.reading.annotations import Spans, Text


# -----------------------------------------------------------------------------
# The tokens or characters that spans cover, one by one; spans may have several pieces.
# -----------------------------------------------------------------------------


def _pieces_of(shape: str) -> list[tuple[int, int]]:
    """The pieces of a span, from what the reader calls its shape.

    Examples
    --------
    >>> pieces_of("0-5;8-12")
    [(0, 5), (8, 12)]
    """
    ends = (piece.split("-") for piece in shape.split(";"))
    return [(int(start), int(end)) for start, end in ends]


def _covered_places(spans: Spans, kind: str, answer: Spans) -> tuple[Ints, Ints, Ints]:
    """The sentence, the place and the label of everything that spans cover.

    Parameters
    ----------
    spans
        The spans, by their tokens or by their characters.
    kind
        ``tokens`` or ``characters``. Of tokens, the characters are those of the words; the spaces
        between words belong to nobody.
    answer
        The spans of the answer, whose words are those of all.
    """
    sentence, start, end, label = _pieces(spans)
    counted = _counted_in(answer)
    if kind == "tokens" and counted == "characters":
        raise InputError(
            f"match: the spans of {answer.text.name} are told by characters; expected 'characters'"
        )
    if kind == "characters" and counted == "tokens":
        first = answer.text.first
        offset = _characters_before(answer.text)
        base = offset[first[sentence]]
        start = offset[first[sentence] + start] - base
        end = offset[first[sentence] + end] - base
    length = end - start
    before = np.cumsum(length) - length
    place = np.arange(int(length.sum()), dtype=np.int64) - np.repeat(before - start, length)
    return np.repeat(sentence, length), place, np.repeat(label, length)


def _pieces(spans: Spans) -> tuple[Ints, Ints, Ints, Ints]:
    """Every piece of every span."""
    columns = (spans.sentence, spans.start, spans.end, spans.label)
    sentence, start, end, label = (column.astype(np.int64) for column in columns)
    if spans.shape is None:
        return sentence, start, end, label
    several = np.array([shape != "" for shape in spans.shapes], dtype=bool)[spans.shape]
    parts = [
        (int(sentence[k]), low, high, int(label[k]))
        for k in np.flatnonzero(several).tolist()
        for low, high in _pieces_of(spans.shapes[int(spans.shape[k])])
    ]
    table = np.array(parts, dtype=np.int64).reshape(-1, 4)
    whole = (column[~several] for column in (sentence, start, end, label))
    one, two, three, four = (
        np.concatenate([own, more]) for own, more in zip(whole, table.T, strict=True)
    )
    return one, two, three, four


def _counted_in(spans: Spans) -> str | None:
    """What the places of spans are: tokens or characters, or nobody knows."""
    text = spans.text
    if spans.scheme is not None or text.start is not None:
        return "tokens"
    if text.names is not None:
        return "characters"  # documents, as tools of annotators have them
    first = next((s for s in text.sentences or () if len(s)), None)
    if first is None:
        return None
    return "characters" if isinstance(first, str) else "tokens"


def _characters_before(text: Text) -> Ints:
    """How many characters stand before every token of the corpus, and in all."""
    if text.source is not None and text.start is not None and text.end is not None:
        data = np.frombuffer(text.source.data, dtype=np.uint8)
        begun = np.concatenate([[0], np.cumsum((data & 0xC0) != 0x80, dtype=np.int64)])
        lengths = begun[text.end] - begun[text.start]
    else:
        lengths = np.array(list(map(len, _words(text))), dtype=np.int64)
    if len(lengths) != text.n_tokens:
        raise InputError(
            f"match: {text.name} has tags without words, which have no characters; expected "
            f"'tokens'"
        )
    return np.concatenate([[0], np.cumsum(lengths)])


def _words(text: Text) -> Sequence[Any]:
    return list(chain.from_iterable(text.sentences or ()))


# -----------------------------------------------------------------------------
# Spans of a system paired off with spans of the answer that they meet, one with one.
#
# The spans of a system are taken from left to right. Each takes, of the spans of the answer that
# it meets and that are still free, the one that it prefers; what it prefers is the rule of the
# score. This is the order in which nervaluate goes through them (version 1.2.1), so its numbers
# come out.
# -----------------------------------------------------------------------------

if TYPE_CHECKING:
    Flags = NDArray[np.bool_]


_AT_ONCE = 2**22  # pairs of spans that are looked at together
_ROUNDS = 4  # rounds for all spans at once; what is still open then is settled one by one
_LEAST_SHARE = 100  # spans meet if they share a hundredth of the answer's: nervaluate's default


@dataclass(frozen=True, eq=False)
class _Side:
    """Distinct spans, sorted by unit, start, end, label and pieces.

    Attributes
    ----------
    unit, start, end, shape, label
        One entry per span; the shape is 0 for one piece, else a code in `shapes`.
    shapes
        What the codes of shapes stand for.
    """

    unit: Ints
    start: Ints
    end: Ints
    shape: Ints
    label: Ints
    shapes: tuple[str, ...] = field(default=("",), kw_only=True)

    def __len__(self) -> int:
        return len(self.unit)

    @classmethod
    def of(cls, columns: tuple[NDArray[Any], ...], shapes: tuple[str, ...] = ("",)) -> _Side:
        """From unit, start, end, shape and label in any order, equal ones once."""
        unit, start, end, shape, label = (column.astype(np.int64) for column in columns)
        table = [unit, start, end, shape, label]
        if not _is_ascending(unit, start, end, label, shape):
            order = np.lexsort((shape, label, end, start, unit))
            table = [column[order] for column in table]
            fresh = np.ones(len(order), dtype=bool)
            fresh[1:] = np.any([column[1:] != column[:-1] for column in table], axis=0)
            table = [column[fresh] for column in table]
        return cls(*table, shapes=shapes)

    @property
    def columns(self) -> tuple[Ints, ...]:
        """Unit, place and label of every span."""
        return self.unit, self.start, self.end, self.shape, self.label

    def at(self, places: NDArray[np.intp]) -> _Side:
        """The spans in these places, in this order."""
        return _Side(*(column[places] for column in self.columns), shapes=self.shapes)

    def pieces(self, k: int) -> list[tuple[int, int]]:
        """The pieces of a span."""
        if self.shape[k]:
            return _pieces_of(self.shapes[int(self.shape[k])])
        return [(int(self.start[k]), int(self.end[k]))]


def _is_ascending(*columns: Ints) -> bool:
    """Whether rows follow each other in the order of these columns, none twice."""
    equal = np.ones(max(len(columns[0]) - 1, 0), dtype=bool)
    for column in columns:
        before, after = column[:-1], column[1:]
        if np.any(equal & (after < before)):
            return False
        equal &= after == before
        if not equal.any():
            return True
    return not equal.any()


@dataclass(frozen=True, eq=False)
class _Pairs:
    """Spans of a system and of the answer that meet: their numbers, one entry per pair."""

    system: Ints
    gold: Ints

    def where(self, wanted: Flags | NDArray[np.intp]) -> _Pairs:
        """The pairs of a mask, or in these places."""
        return _Pairs(self.system[wanted], self.gold[wanted])


def _credits_of(gold: _Side, system: _Side, rule: MatchRule, met: _Pairs) -> tuple[Ints, Ints]:
    """What every span of the answer, and every one of the system, is credited with, in parts.

    Of two parts for ``partial``, else of one.

    Parameters
    ----------
    gold, system
        The spans.
    rule
        ``exact``, ``partial``, ``type`` or ``boundary``.
    met
        Which of them may be partners.
    """
    pairs, worth = _pair_off(gold, system, rule, met)
    of_gold, of_system = (np.zeros(len(side), dtype=np.int64) for side in (gold, system))
    of_gold[pairs.gold] = worth
    of_system[pairs.system] = worth
    return of_gold, of_system


def _possible_pairs(gold: _Side, system: _Side, rule: MatchRule) -> _Pairs:
    """Which spans may be partners: those that meet, or whose ends are near."""
    if rule.name == "boundary":
        return _within(gold, system, rule.tolerance)
    return _meeting(gold, system)


def _pair_off(gold: _Side, system: _Side, rule: MatchRule, met: _Pairs) -> tuple[_Pairs, Ints]:
    """Find the partners by a rule, and what each pair is worth, in parts.

    Parameters
    ----------
    gold, system
        The spans.
    rule
        How; under ``strict`` equal spans are partners before all others.
    met
        Which of them may be partners, in the order of the system's spans.
    """
    if rule.name == "boundary":
        pairs = _largest_matching(met, len(gold), len(system))
        return pairs, np.ones(len(pairs.gold), dtype=np.int64)
    worth, apart = _worth(gold, system, rule, met)
    if rule.name == "strict":
        equal = worth > 0
        free = ~np.isin(met.system, met.system[equal]) & ~np.isin(met.gold, met.gold[equal])
        kept = np.flatnonzero(equal | free)
        met, worth, apart = met.where(kept), worth[kept], apart[kept]
    order = _by_preference(met, worth, apart)
    chosen = order[_first_come(met.where(order), len(gold), len(system))]
    return met.where(chosen), worth[chosen]


def _worth(gold: _Side, system: _Side, rule: MatchRule, met: _Pairs) -> tuple[Ints, Ints]:
    """What pairs are worth, and how far apart their ends are, where that counts."""
    g, s = met.gold, met.system
    zeros = np.zeros(len(g), dtype=np.int64)
    if rule.name == "type":
        same = gold.label[g] == system.label[s]
        apart = np.abs(gold.start[g] - system.start[s]) + np.abs(gold.end[g] - system.end[s])
        return same.astype(np.int64), np.where(same, apart, 0)
    same = (gold.start[g] == system.start[s]) & (gold.end[g] == system.end[s])
    same &= gold.shape[g] == system.shape[s]
    if rule.name == "strict":
        same &= gold.label[g] == system.label[s]
    # an overlap alone is worth a half under partial, and nothing under the others
    return same.astype(np.int64) + (rule.parts - 1), zeros


def _by_preference(met: _Pairs, worth: Ints, apart: Ints) -> NDArray[np.intp]:
    """The pairs of each of the system's spans: the most credit first, the nearest, the first."""
    order = np.arange(len(met.system))
    again = met.system[1:] == met.system[:-1]
    several = np.flatnonzero(np.append(again, False) | np.append(False, again))
    keys = (met.gold, apart, -worth, met.system)
    order[several] = several[np.lexsort([key[several] for key in keys])]
    return order


def _first_come(pairs: _Pairs, n_gold: int, n_system: int) -> NDArray[np.intp]:
    """Which pairs come off, if every span of the system takes its first partner that is free.

    The pairs are in the order of the system's spans, each one's in the order of its preference.
    """
    taken: list[NDArray[np.intp]] = []
    alive = np.arange(len(pairs.gold))
    for _ in range(_ROUNDS):
        s, g = pairs.system[alive], pairs.gold[alive]
        first = np.ones(len(alive), dtype=bool)
        first[1:] = s[1:] != s[:-1]
        earliest = np.full(n_gold, -1)
        earliest[g[::-1]] = s[::-1]  # of several values the last one stays
        settled = first & (earliest[g] == s)  # nobody before it can take its first choice
        taken.append(alive[settled])
        gone = np.zeros(n_system, dtype=bool), np.zeros(n_gold, dtype=bool)
        gone[0][s[settled]] = True
        gone[1][g[settled]] = True
        alive = alive[~gone[0][s] & ~gone[1][g]]
        if not len(alive):
            break
    taken.append(_one_by_one(pairs, alive))
    return np.concatenate(taken)


def _one_by_one(pairs: _Pairs, alive: NDArray[np.intp]) -> NDArray[np.intp]:
    chosen = []
    served, free = set(), set(pairs.gold[alive].tolist())
    rows = zip(
        alive.tolist(), pairs.system[alive].tolist(), pairs.gold[alive].tolist(), strict=True
    )
    for number, s, g in rows:
        if s not in served and g in free:
            served.add(s)
            free.discard(g)
            chosen.append(number)
    return np.array(chosen, dtype=np.intp)


def _meeting(gold: _Side, system: _Side) -> _Pairs:
    """All pairs that share enough of the answer's span."""
    parts = []
    for pairs in _overlapping(gold, system):
        g, s = pairs.gold, pairs.system
        shared = np.minimum(gold.end[g], system.end[s]) - np.maximum(gold.start[g], system.start[s])
        length = gold.end[g] - gold.start[g]
        for k in np.flatnonzero((gold.shape[g] > 0) | (system.shape[s] > 0)).tolist():
            mine, theirs = gold.pieces(int(g[k])), system.pieces(int(s[k]))
            length[k] = sum(end - start for start, end in mine)
            shared[k] = _shared(mine, theirs)
        parts.append(pairs.where((shared > 0) & (shared * _LEAST_SHARE >= length)))
    return _joined(parts)


def _shared(a: list[tuple[int, int]], b: list[tuple[int, int]]) -> int:
    """How many places two spans of several pieces share."""
    return sum(max(0, min(i[1], j[1]) - max(i[0], j[0])) for i in a for j in b)


def _overlapping(gold: _Side, system: _Side) -> Iterator[_Pairs]:
    """The pairs that overlap from end to end, some at a time."""
    stride = max(int(side.end.max(initial=0)) for side in (gold, system)) + 1
    start, end = (gold.unit * stride + place for place in (gold.start, gold.end))
    reach = np.maximum.accumulate(end) if len(end) else end  # an outer span reaches over many
    low = np.searchsorted(reach, system.unit * stride + system.start, side="right")
    high = np.searchsorted(start, system.unit * stride + system.end, side="left")
    for pairs in _ranges(low, high):
        g, s = pairs.gold, pairs.system
        yield pairs.where(end[g] > system.unit[s] * stride + system.start[s])


def _within(gold: _Side, system: _Side, tolerance: int) -> _Pairs:
    """The pairs of one label and as many pieces whose ends lie within the tolerance."""
    stride = max(int(side.end.max(initial=0)) for side in (gold, system)) + tolerance + 1
    start, place = (side.unit * stride + side.start for side in (gold, system))
    low = np.searchsorted(start, place - tolerance, side="left")
    high = np.searchsorted(start, place + tolerance, side="right")
    parts = []
    for pairs in _ranges(low, high):
        g, s = pairs.gold, pairs.system
        near = (gold.unit[g] == system.unit[s]) & (gold.label[g] == system.label[s])
        near &= np.abs(gold.end[g] - system.end[s]) <= tolerance
        several = near & ((gold.shape[g] > 0) | (system.shape[s] > 0))
        for k in np.flatnonzero(several).tolist():
            near[k] = _are_near(gold.pieces(int(g[k])), system.pieces(int(s[k])), tolerance)
        parts.append(pairs.where(near))
    return _joined(parts)


def _are_near(a: list[tuple[int, int]], b: list[tuple[int, int]], tolerance: int) -> bool:
    ends = zip((end for piece in a for end in piece), (end for p in b for end in p), strict=False)
    return len(a) == len(b) and all(abs(i - j) <= tolerance for i, j in ends)


def _ranges(low: NDArray[np.intp], high: NDArray[np.intp]) -> Iterator[_Pairs]:
    """Every span of the system with the answer's spans from `low` to `high`, some at a time."""
    number = np.maximum(high - low, 0)
    total = np.cumsum(number)
    cuts = np.searchsorted(total, np.arange(_AT_ONCE, total[-1] if len(total) else 0, _AT_ONCE))
    edges = np.unique(np.concatenate([[0], cuts + 1, [len(number)]]))
    for begin, end in zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True):
        own = number[begin:end]
        s = np.repeat(np.arange(begin, end), own)
        before = np.repeat(np.cumsum(own) - own, own)
        yield _Pairs(s, np.arange(len(s)) - before + np.repeat(low[begin:end], own))


def _joined(parts: list[_Pairs]) -> _Pairs:
    if not parts:
        return _Pairs(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64))
    return _Pairs(
        np.concatenate([part.system for part in parts]),
        np.concatenate([part.gold for part in parts]),
    )


def _largest_matching(pairs: _Pairs, n_gold: int, n_system: int) -> _Pairs:
    """As many pairs as there can be, one with one: no order of the spans decides."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import maximum_bipartite_matching

    if not len(pairs.gold):
        return pairs
    ones = np.ones(len(pairs.gold), dtype=np.int8)
    graph = csr_array((ones, (pairs.gold, pairs.system)), shape=(n_gold, n_system))
    partner = maximum_bipartite_matching(graph, perm_type="column")
    found = np.flatnonzero(partner >= 0)
    return _Pairs(partner[found].astype(np.int64), found)


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
        parted = [_Side.of(columns, shapes) for columns in sides]
        items = _match_by_rule(parted, rule, names, gold.n_sentences, gold.text.document)
    return items.only(list(only)) if only and not ignore_type else items


def _columns(sides: Sequence[Spans], rule: MatchRule) -> list[tuple[NDArray[Any], ...]]:
    """The unit, the place and the label of what every side has: spans, or what they cover."""
    if rule.is_by_place:
        covered = [_covered_places(side, rule.name, sides[0]) for side in sides]
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


def _match_by_rule(
    sides: Sequence[_Side],
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
    met = [_possible_pairs(gold, system, rule) for system in systems]
    found = [_credits_of(gold, own, rule, m) for own, m in zip(systems, met, strict=True)]
    items = _items(gold, systems, found, rule, labels, n_units, document)
    if rule.name == "boundary" or len(labels) < 2:
        return items  # partners have one label
    same = [
        m.where(gold.label[m.gold] == s.label[m.system]) for s, m in zip(systems, met, strict=True)
    ]
    alone = [_credits_of(gold, own, rule, m) for own, m in zip(systems, same, strict=True)]
    within = _items(gold, systems, alone, rule, labels, n_units, document)
    return replace(items, within_labels=within)


def _items(
    gold: _Side,
    systems: Sequence[_Side],
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
class _Overlap:
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


def overlaps(gold: Spans, system: Spans) -> dict[str, _Overlap]:
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
        _Side.of((*columns[:-1], code[columns[-1]]), shapes)
        for columns, code in zip(_columns(everyone, MatchRule("exact")), codes, strict=True)
    ]
    names = {"strict": "strict", "exact": "exact", "partial": "partial", "ent_type": "type"}
    return {name: _overlap(sides, MatchRule(rule)) for name, rule in names.items()}


def _overlap(sides: Sequence[_Side], rule: MatchRule) -> _Overlap:
    """The outcomes under one rule."""
    gold, system = sides
    _, worth = _pair_off(gold, system, rule, _possible_pairs(gold, system, rule))
    correct, met = int(np.count_nonzero(worth == rule.parts)), len(worth)
    half = met - correct if rule.parts == 2 else 0
    return _Overlap(correct, met - correct - half, half, len(gold) - met, len(system) - met)
