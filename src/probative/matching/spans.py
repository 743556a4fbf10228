"""Match the spans of systems with gold spans, exactly or in part."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import astuple, dataclass, field, replace
from itertools import chain, pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from probative._validation import Ints, one_of, shown
from probative.counts import Counts
from probative.errors import InputError
from probative.matching.items import Items, collect, distinct_rows, union
from probative.matching.schemes import UNTYPED
from probative.metrics import PRF, score

if TYPE_CHECKING:
    from probative.reading.annotations import Spans, Text

    # the labels, the number of sentences and the document of each
    Frame = tuple[tuple[str, ...], int, NDArray[Any] | None]
    Columns = tuple[NDArray[Any], ...]  # unit, start, end, often the shape, and label


# --- Rules of matching: when a span of a system counts as right

STRICT = "strict"
MATCHES = (STRICT, "exact", "partial", "type", "tokens", "characters", "boundary")


@dataclass(frozen=True)
class MatchRule:
    """Rule that decides when a span of a system counts as right."""

    name: str
    tolerance: int = 0  # largest distance of both ends from those of gold, for ``boundary``

    @property
    def is_by_place(self) -> bool:
        """Return True if single tokens or characters are counted instead of spans."""
        return self.name in ("tokens", "characters")

    @property
    def parts(self) -> int:
        """Return the number of parts in which the credit for a span is given."""
        return 2 if self.name == "partial" else 1


_EQUAL = MatchRule(STRICT)


def match_rule(match: object) -> MatchRule:
    """Parse a rule: a name of `MATCHES`, with the tolerance after ``boundary:``."""
    name, colon, k = match.partition(":") if isinstance(match, str) else ("", "", "")
    is_whole = re.fullmatch(r"\d{1,9}", k, re.ASCII) is not None
    if name not in MATCHES or (name == "boundary") != is_whole or bool(colon) != is_whole:
        raise InputError(
            f"match: {shown(match)}; expected strict, exact, partial, type, tokens, characters or "
            "boundary:K, such as boundary:1"
        )
    return MatchRule(name, int(k or 0))


# --- Tokens or characters that spans cover; a span may have several pieces


def _pieces_of(shape: str) -> Ints:
    """Parse the shape of a span: "0-5;8-12" gives the rows 0, 5 and 8, 12."""
    return np.array(re.split("[-;]", shape), dtype=np.int64).reshape(-1, 2)


def _covered_places(spans: Spans, kind: str, answer: Spans) -> tuple[Ints, Ints, Ints]:
    """Return sentence, place and label of every token or character (no spaces) in spans."""
    sentence, start, end, label = _pieces(spans)
    counted = _counted_in(answer)
    if kind == "tokens" and counted == "characters":
        what = f"match: the spans of {answer.text.name} are given by characters"
        raise InputError(f"{what}; expected 'characters'")
    if kind == "characters" and counted == "tokens":
        first, offset = answer.text.first[sentence], _characters_before(answer.text)
        start, end = (offset[first + place] - offset[first] for place in (start, end))
    length = end - start
    before = np.cumsum(length) - length
    place = np.arange(int(length.sum()), dtype=np.int64) - np.repeat(before - start, length)
    return np.repeat(sentence, length), place, np.repeat(label, length)


def _pieces(spans: Spans) -> tuple[Ints, Ints, Ints, Ints]:
    """Return sentence, start, end and label of every piece of every span."""
    columns = (spans.sentence, spans.start, spans.end, spans.label)
    sentence, start, end, label = (column.astype(np.int64) for column in columns)
    if spans.shape is None:
        return sentence, start, end, label
    several = np.array([shape != "" for shape in spans.shapes], dtype=bool)[spans.shape]
    parts = [
        (int(sentence[k]), low, high, int(label[k]))
        for k in np.flatnonzero(several).tolist()
        for low, high in _pieces_of(spans.shapes[int(spans.shape[k])]).tolist()
    ]
    table = np.array(parts, dtype=np.int64).reshape(-1, 4)
    whole = np.stack([sentence, start, end, label], axis=1)[~several]
    sentence, start, end, label = np.concatenate([whole, table]).T
    return sentence, start, end, label


def _counted_in(spans: Spans) -> str | None:
    """Return the unit of the places of spans, tokens or characters; None if unknown."""
    text = spans.text
    if spans.scheme is not None or text.start is not None:
        return "tokens"
    if text.names is not None:
        return "characters"  # documents of annotation tools
    first = next((s for s in text.sentences or () if len(s)), None)
    return None if first is None else "characters" if isinstance(first, str) else "tokens"


def _characters_before(text: Text) -> Ints:
    """Return the number of characters before each token of the corpus, and in all."""
    if text.tokens is not None:
        source, start, end = text.tokens
        data = np.frombuffer(source.data, dtype=np.uint8)
        begun = np.concatenate([[0], np.cumsum((data & 0xC0) != 0x80, dtype=np.int64)])
        lengths = begun[end] - begun[start]
    else:
        words = chain.from_iterable(text.sentences or ())
        lengths = np.array(list(map(len, words)), dtype=np.int64)
    if len(lengths) != text.n_tokens:
        what = f"match: {text.name} has tags without words, which have no characters"
        raise InputError(f"{what}; expected 'tokens'")
    return np.concatenate([[0], np.cumsum(lengths)])


# --- Pairing the spans of a system with overlapping gold spans, one to one
#
# The spans of a system are taken from left to right. Each takes, among the free gold spans that
# overlap it, the one with the most credit under the rule. This is the order of nervaluate 1.2.1,
# so the counts agree with it.

_PAIRS_PER_BLOCK = 2**22  # limits memory
_VECTORISED_ROUNDS = 4  # pairs that are still open after these are decided one by one
# spans meet if they share at least 1/100 of the gold span: nervaluate's default
_SMALLEST_SHARE_INVERSE = 100


@dataclass(frozen=True, eq=False)
class _Side:
    """Distinct spans of one side, sorted by unit, start, end, label and pieces."""

    unit: Ints  # one entry per span; the shape is 0 for one piece, else a code in `shapes`
    start: Ints
    end: Ints
    shape: Ints
    label: Ints
    shapes: tuple[str, ...] = field(default=("",), kw_only=True)  # texts of the codes of shapes

    def __len__(self) -> int:
        return len(self.unit)

    @classmethod
    def of(cls, columns: Columns, shapes: tuple[str, ...]) -> _Side:
        """Make a side from unit, start, end, shape and label in any order; drop duplicates."""
        unit, start, end, shape, label = columns
        kept, _ = distinct_rows([unit, start, end, label, shape])
        return cls(*(column[kept].astype(np.int64) for column in columns), shapes=shapes)

    @property
    def columns(self) -> Columns:
        """Return unit, start, end, shape and label of every span."""
        return self.unit, self.start, self.end, self.shape, self.label

    def at(self, places: NDArray[np.intp]) -> _Side:
        """Return the spans at these indices, in this order."""
        return _Side(*(column[places] for column in self.columns), shapes=self.shapes)

    def pieces(self, k: int) -> Ints:
        """Return start and end of every piece of a span."""
        shape = self.shapes[int(self.shape[k])]
        return _pieces_of(shape) if shape else np.array([[self.start[k], self.end[k]]])


Pairs = tuple[Ints, Ints]  # indices of spans of a system, and of the gold spans they meet


def _chosen(pairs: Pairs, wanted: NDArray[Any]) -> Pairs:
    """Return the pairs of a mask, or at places."""
    return pairs[0][wanted], pairs[1][wanted]


def _joined(parts: Sequence[Pairs]) -> Pairs:
    """Return the pairs of all parts."""
    s, g = (np.concatenate(own) for own in zip(*parts, strict=True))
    return s, g


def _pair_off(gold: _Side, system: _Side, rule: MatchRule, met: Pairs) -> tuple[Pairs, Ints]:
    """Choose partners by a rule among the pairs `met`; return the pairs and their credit."""
    # under ``strict``, equal spans become partners before all others
    if rule.name == "boundary":
        pairs = _largest_matching(met, len(gold), len(system))
        return pairs, np.ones(len(pairs[0]), dtype=np.int64)
    credit, distance = _credit_of_pairs(gold, system, rule, met)
    if rule.name == "strict":
        equal = credit > 0
        free = [~np.isin(side, side[equal]) for side in met]
        kept = np.flatnonzero(equal | (free[0] & free[1]))
        met, credit, distance = _chosen(met, kept), credit[kept], distance[kept]
    # of each of the system's spans: most credit, least distance, first in gold
    s, g = met
    order = np.arange(len(s))
    again = s[1:] == s[:-1]
    several = np.flatnonzero(np.append(again, False) | np.append(False, again))
    order[several] = several[np.lexsort([key[several] for key in (g, distance, -credit, s)])]
    chosen = order[_first_come(_chosen(met, order), len(gold), len(system))]
    return _chosen(met, chosen), credit[chosen]


def _credit_of_pairs(gold: _Side, system: _Side, rule: MatchRule, met: Pairs) -> tuple[Ints, Ints]:
    """Return the credit of pairs and, for ``type``, the distance of their ends."""
    s, g = met
    if rule.name == "type":
        same = gold.label[g] == system.label[s]
        distance = np.abs(gold.start[g] - system.start[s]) + np.abs(gold.end[g] - system.end[s])
        return same.astype(np.int64), np.where(same, distance, 0)
    same = (gold.start[g] == system.start[s]) & (gold.end[g] == system.end[s])
    same &= gold.shape[g] == system.shape[s]
    if rule.name == "strict":
        same &= gold.label[g] == system.label[s]
    # an overlap alone gets half the credit under partial, and none under the other rules
    return same.astype(np.int64) + (rule.parts - 1), np.zeros(len(g), dtype=np.int64)


def _first_come(pairs: Pairs, n_gold: int, n_system: int) -> NDArray[np.intp]:
    """Return the pairs that form if each span of the system takes its first free partner."""
    taken: list[NDArray[np.intp]] = []
    alive = np.arange(len(pairs[0]))
    for _ in range(_VECTORISED_ROUNDS):
        s, g = _chosen(pairs, alive)
        first = np.ones(len(alive), dtype=bool)
        first[1:] = s[1:] != s[:-1]
        earliest = np.full(n_gold, -1)
        earliest[g[::-1]] = s[::-1]  # of repeated indices the last value is kept
        settled = first & (earliest[g] == s)  # no earlier span can take this partner
        taken.append(alive[settled])
        gone = np.zeros(n_system, dtype=bool), np.zeros(n_gold, dtype=bool)
        gone[0][s[settled]] = True
        gone[1][g[settled]] = True
        alive = alive[~gone[0][s] & ~gone[1][g]]
        if not len(alive):
            break
    chosen = []  # of the rest, one by one
    served, used = set(), set()
    rest = (own.tolist() for own in (alive, *_chosen(pairs, alive)))
    for number, own, other in zip(*rest, strict=True):
        if own not in served and other not in used:
            served.add(own)
            used.add(other)
            chosen.append(number)
    return np.concatenate([*taken, np.array(chosen, dtype=np.intp)])


def _meeting(gold: _Side, system: _Side) -> Pairs:
    """Return all pairs that share enough of the gold span."""
    stride = max(int(side.end.max(initial=0)) for side in (gold, system)) + 1
    start, end = (gold.unit * stride + place for place in (gold.start, gold.end))
    # a long span may overlap many later ones
    reach = np.maximum.accumulate(end) if len(end) else end
    begin = system.unit * stride + system.start
    low = np.searchsorted(reach, begin, side="right")
    high = np.searchsorted(start, system.unit * stride + system.end, side="left")
    parts = []
    for block in _ranges(low, high):
        # only pairs whose extents (first start to last end) overlap
        s, g = pairs = _chosen(block, end[block[1]] > begin[block[0]])
        shared = np.minimum(gold.end[g], system.end[s]) - np.maximum(gold.start[g], system.start[s])
        length = gold.end[g] - gold.start[g]
        for k in np.flatnonzero((gold.shape[g] > 0) | (system.shape[s] > 0)).tolist():
            own, other = gold.pieces(g[k]).T[:, :, None], system.pieces(s[k]).T[:, None]
            length[k] = np.sum(own[1] - own[0])
            both = np.minimum(own[1], other[1]) - np.maximum(own[0], other[0])
            shared[k] = np.maximum(both, 0).sum()
        enough = (shared > 0) & (shared * _SMALLEST_SHARE_INVERSE >= length)
        parts.append(_chosen(pairs, enough))
    return _joined(parts)


def _within(gold: _Side, system: _Side, tolerance: int) -> Pairs:
    """Return the pairs of one label and equal number of pieces with ends within the tolerance."""
    stride = max(int(side.end.max(initial=0)) for side in (gold, system)) + tolerance + 1
    start, place = (side.unit * stride + side.start for side in (gold, system))
    low = np.searchsorted(start, place - tolerance, side="left")
    high = np.searchsorted(start, place + tolerance, side="right")
    parts = []
    for pairs in _ranges(low, high):
        s, g = pairs
        near = (gold.unit[g] == system.unit[s]) & (gold.label[g] == system.label[s])
        near &= np.abs(gold.end[g] - system.end[s]) <= tolerance
        several = near & ((gold.shape[g] > 0) | (system.shape[s] > 0))
        for k in np.flatnonzero(several).tolist():  # all pieces agree in number and in their ends
            a, b = gold.pieces(g[k]), system.pieces(s[k])
            near[k] = a.shape == b.shape and np.abs(a - b).max() <= tolerance
        parts.append(_chosen(pairs, near))
    return _joined(parts)


def _ranges(low: NDArray[np.intp], high: NDArray[np.intp]) -> Iterator[Pairs]:
    """Yield, in blocks, each span of the system with the gold spans from `low` to `high`."""
    number = np.maximum(high - low, 0)
    total = np.cumsum(number)
    n_pairs = total[-1] if len(total) else 0
    cuts = np.searchsorted(total, np.arange(_PAIRS_PER_BLOCK, n_pairs, _PAIRS_PER_BLOCK))
    edges = np.unique(np.concatenate([[0], cuts + 1])).tolist()
    for begin, end in pairwise([*edges, len(number)]):
        own = number[begin:end]
        s = np.repeat(np.arange(begin, end), own)
        before = np.repeat(np.cumsum(own) - own, own)
        yield s, np.arange(len(s)) - before + np.repeat(low[begin:end], own)


def _largest_matching(pairs: Pairs, n_gold: int, n_system: int) -> Pairs:
    """Return a maximum one-to-one matching; the order of the spans does not matter."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import maximum_bipartite_matching

    if not len(pairs[0]):
        return pairs
    ones = np.ones(len(pairs[0]), dtype=np.int8)
    graph = csr_array((ones, (pairs[1], pairs[0])), shape=(n_gold, n_system))
    partner = maximum_bipartite_matching(graph, perm_type="column")
    found = np.flatnonzero(partner >= 0)
    return partner[found].astype(np.int64), found


def match_spans(
    gold: Spans,
    *systems: Spans,
    rule: MatchRule = _EQUAL,
    ignore_type: bool = False,
    only: Sequence[str] = (),
) -> Items:
    """Find the distinct spans of gold and of the systems, and which side has which."""
    for system in systems:
        if system.n_sentences != gold.n_sentences:
            what = f"{system.text.name}: {system.n_sentences} sentences"
            raise InputError(f"{what}, but {gold.text.name} has {gold.n_sentences}")
    everyone = (gold, *systems)
    labels, codes = union([side.labels for side in everyone])
    for label in only:
        one_of("only", label, labels)
    wanted = np.array([not only or label in only for label in labels], dtype=bool)
    sides = []
    every, shapes = _columns(everyone, rule, codes)
    for *places, kind in every:
        chosen = (*places, np.zeros_like(kind) if ignore_type else kind)
        sides.append(tuple(column[wanted[kind]] for column in chosen) if only else chosen)
    frame = (UNTYPED,) if ignore_type else labels, gold.n_sentences, gold.text.document
    if rule.name == STRICT or rule.is_by_place:
        items = collect(sides, *frame)
    else:
        items = _match_by_rule([_Side.of(columns, shapes) for columns in sides], rule, frame)
    return items.only(list(only)) if only and not ignore_type else items


def _columns(
    sides: Sequence[Spans], rule: MatchRule, labels: Sequence[NDArray[Any]]
) -> tuple[list[Columns], tuple[str, ...]]:
    """Return unit, place, shape, label of every side's spans (or places); the texts of shapes."""
    shapes, codes = union([side.shapes or ("",) for side in sides])  # code 0: a single piece
    plain = rule.name == STRICT and all(side.shape is None for side in sides)
    columns: list[Columns] = []
    for side, code, label in zip(sides, codes, labels, strict=True):
        if rule.is_by_place:
            unit, place, kind = _covered_places(side, rule.name, sides[0])
            columns.append((unit, place, place + 1, label[kind]))
        else:
            shape = np.zeros(len(side), dtype=np.int32) if side.shape is None else side.shape
            own = () if plain else (code[shape],)
            columns.append((side.sentence, side.start, side.end, *own, label[side.label]))
    return columns, shapes


def _match_by_rule(sides: Sequence[_Side], rule: MatchRule, frame: Frame) -> Items:
    """Make items of the gold spans, found or not, and of the distinct wrong spans of systems."""
    # The counts of a system do not depend on the others. Where half a span can be right, every span
    # becomes two items of half the weight.
    gold, *systems = sides
    by_ends = rule.name == "boundary"  # else partners overlap
    met = [_within(gold, s, rule.tolerance) if by_ends else _meeting(gold, s) for s in systems]
    items = _items(sides, met, rule, frame)
    if by_ends or len(frame[0]) < 2:
        return items  # partners always have the same label
    same = [
        _chosen(m, gold.label[m[1]] == s.label[m[0]]) for s, m in zip(systems, met, strict=True)
    ]
    return replace(items, within_labels=_items(sides, same, rule, frame))


def _items(sides: Sequence[_Side], met: Sequence[Pairs], rule: MatchRule, frame: Frame) -> Items:
    """Make items from the credit of spans, in `rule.parts`, that have these possible partners."""
    gold, *systems = sides
    found = []  # the credit of every gold span, and of every span of the system
    for system, own in zip(systems, met, strict=True):
        pairs, credit = _pair_off(gold, system, rule, own)
        of_gold, of_system = (np.zeros(len(side), dtype=np.int64) for side in (gold, system))
        of_gold[pairs[1]] = of_system[pairs[0]] = credit
        found.append((of_gold, of_system))
    # part k of a span is right if its credit is at least k, wrong if the missing credit is
    parts = range(1, rule.parts + 1)
    right = [np.stack([credit >= part for credit, _ in found]) for part in parts]
    wrong = []
    for part in parts:
        places = (np.flatnonzero(rule.parts - credit >= part) for _, credit in found)
        said = [system.at(own).columns for system, own in zip(systems, places, strict=True)]
        wrong.append(collect([gold.at(np.zeros(0, dtype=np.intp)).columns, *said], *frame))
    unit, label, start, end = (
        np.concatenate([*[getattr(gold, name)] * len(parts), *(getattr(k, name) for k in wrong)])
        for name in ("unit", "label", "start", "end")
    )
    return Items(
        unit.astype(np.int32),
        label.astype(np.int32),
        frame[0],
        np.arange(len(unit)) < len(parts) * len(gold),
        np.concatenate([*right, *(kind.says for kind in wrong)], axis=1),
        *frame[1:],
        start=start,
        end=end,
        weight=1 / rule.parts,
    )


@dataclass(frozen=True)
class _Overlap:
    """Outcomes of pairing a system's spans with gold spans, under one of four rules."""

    correct: int  # with `incorrect` and `partial`, pairs of spans; the others are in no pair
    incorrect: int
    partial: int
    missed: int
    spurious: int

    def __add__(self, other: _Overlap) -> _Overlap:
        return _Overlap(*(a + b for a, b in zip(astuple(self), astuple(other), strict=True)))

    @property
    def scores(self) -> dict[str, float]:
        """Return precision, recall and F1; a partial match counts half."""
        wrong = self.incorrect + self.partial / 2
        right = self.correct + self.partial / 2
        counts = Counts(right, wrong + self.spurious, wrong + self.missed)
        return {metric: float(score(counts, metric)) for metric in PRF}


def overlaps(gold: Spans, system: Spans) -> dict[str, _Overlap]:
    """Count the outcomes of pairing spans with gold under nervaluate's four rules."""
    _, codes = union([gold.labels, system.labels])
    every, shapes = _columns((gold, system), MatchRule("exact"), codes)
    a, b = (_Side.of(columns, shapes) for columns in every)
    pairs, found = _meeting(a, b), {}
    for name in ("strict", "exact", "partial", "ent_type"):
        rule = MatchRule(name.removeprefix("ent_"))
        _, credit = _pair_off(a, b, rule, pairs)
        correct, met = int(np.count_nonzero(credit == rule.parts)), len(credit)
        half = met - correct if rule.parts == 2 else 0
        found[name] = _Overlap(correct, met - correct - half, half, len(a) - met, len(b) - met)
    return found
