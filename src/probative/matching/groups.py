"""Sort matched items into groups, buckets and confusions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from probative.errors import InputError
from probative.labels import distinct_integers
from probative.matching.items import Items, distinct_rows
from probative.matching.labels import UNION, averaged_labels, match_labels
from probative.matching.outputs import groups_of
from probative.reading.annotations import Labels, LabelSets, Spans, rows_at
from probative.reading.runs import natural_order
from probative.reading.table_sides import MISSING_GROUP

if TYPE_CHECKING:
    from probative.matching.matched import Matched
    from probative.options import ReadingOptions
    from probative.results import Group

    # the property that decides, the bucket of every item, and the names of the buckets in order
    _Bucketing = tuple[str, NDArray[np.int64], list[str]]


@dataclass(frozen=True, eq=False)
class _MatchedGroup:
    """Part of a `Matched` that belongs to one group."""

    name: str
    whole: Matched
    members: NDArray[Any]  # the places of its rows (sentences, for tags) in the whole
    rows: int  # number of its table rows
    reading: ReadingOptions
    content: bytes  # equal for groups of equal rows

    @cached_property
    def matched(self) -> Matched:
        """Return the systems on the items of this group alone."""
        part, union = _part_of_rows(self.whole, self.members), self.whole.own_labels
        # macro averages as for the whole; graded scores have no labels
        if part.items.labels and (union or self.reading.labels is None):
            part = replace(part, averaged=averaged_labels(part.items, UNION if union else None))
        return part

    def units(self, unit: str) -> int:
        """Return the number of units of this kind."""
        return self.matched.number_of(unit)


def part_by_group(matched: Matched, reading: ReadingOptions) -> Iterator[_MatchedGroup]:
    """Yield every group by itself, in natural order of the names; missing values come last."""
    gold, groups = matched.gold, groups_of(matched.gold)
    if groups is None:
        return
    kinds = np.arange(len(groups.codes))  # sentences and sets of labels are a kind each
    units: NDArray[Any] = np.zeros_like(kinds)
    every = np.ones_like(kinds)  # rows that each stands for
    if isinstance(gold, Labels):  # rows with equal labels of all sides are of a kind
        parts = [side.codes for side in (gold, *matched.systems)]
        if gold.repeats is not None:
            number, times = gold.repeats.number, gold.repeats.times
            parts.append(number if gold.units is None else number[gold.units])
            parts += [] if times is None else [times]
            every = gold.repeats.of_rows(gold.units)
        _, kinds = distinct_rows(parts)
        units = units if gold.units is None else gold.units
    order = np.lexsort((kinds, units, groups.codes))
    starts = np.diff(units[order], prepend=-1) != 0
    ends = np.cumsum(np.bincount(groups.codes, minlength=len(groups.names)))
    for name, code in sorted(
        zip(groups.names, range(len(groups.names)), strict=True),
        key=lambda named: (named[0] == MISSING_GROUP, natural_order(named[0]), named[0]),
    ):
        here = slice(ends[code - 1] if code else 0, ends[code])
        rows = order[here]
        if len(rows):
            content = kinds[rows].tobytes() + starts[here][1:].tobytes()
            n_rows = int(every[rows].sum())
            yield _MatchedGroup(name, matched, np.sort(rows), n_rows, reading, content)


def judge_groups(
    groups: Iterable[_MatchedGroup], judge: Callable[[_MatchedGroup], Group]
) -> tuple[Group, ...]:
    """Judge every group; groups of equal rows are judged once."""
    known: dict[bytes, Group] = {}
    judged = []
    for group in groups:
        if group.content not in known:
            known[group.content] = judge(group)
        judged.append(replace(known[group.content], group=group.name))
    return tuple(judged)


def crossing_units(matched: Matched) -> int:
    """Return the number of units with rows in several groups."""
    groups, units = groups_of(matched.gold), getattr(matched.gold, "units", None)
    if groups is None or units is None:
        return 0
    pairs = np.unique(np.stack([units, groups.codes]), axis=1)
    crossing = np.bincount(pairs[0]) > 1
    repeats = getattr(matched.gold, "repeats", None)
    number = np.ones(len(crossing)) if repeats is None else repeats.number[: len(crossing)]
    return int(number[crossing].sum())


def _part_of_rows(matched: Matched, rows: NDArray[Any]) -> Matched:
    """Return the `Matched` of these rows (sentences) alone."""
    if matched.task == "scores":
        from probative.matching.scores import scored

        sides = tuple(rows_at(side, rows) for side in matched.systems)
        return replace(matched, items=cast("Items", scored(sides, matched.items)), gold=sides[0])
    if not isinstance(matched.gold, (Labels, LabelSets)):
        return replace(matched, items=matched.items.of_units(rows), records=None)
    gold, *systems = (rows_at(side, rows) for side in (matched.gold, *matched.systems))
    items, kept = match_labels(gold, *systems, positive=matched.positive), matched.items.labels
    items = items if items.labels == kept else items.only(kept)  # without those left out by `only`
    # the table of all classes is made from gold and systems, so these are restricted too
    return replace(matched, items=items, gold=gold, systems=tuple(systems))


# --- Buckets of items: by length, by presence in training, by label frequency

_SHORT_LENGTHS = (1, 2, 3, 4)  # where buckets begin if the median length is at most 2
_MOST_LABELS_WITHOUT_BUCKETS = 4
_SEEN = "presence in training"


def buckets_of(matched: Matched, train: Any = None) -> Iterator[tuple[str, str, Items]]:
    """Yield every way to sort the items into several buckets, a bucket, and its items."""
    for kind, code, names in _bucketings(matched, train):
        there = np.flatnonzero(np.bincount(code, minlength=len(names)))
        if len(there) > 1 or kind == _SEEN:
            for place in there.tolist():
                yield kind, names[place], matched.items.where(code == place)


def _bucketings(matched: Matched, train: Any) -> list[_Bucketing]:
    """Return the ways to sort the items."""
    items, words = matched.items, matched.task == "segmentation"
    bucketings: list[_Bucketing] = []
    if matched.task in ("samples", "scores"):
        return []
    if matched.task != "labels" and items.start is not None and items.end is not None:
        what = "word length" if words else "entity length"
        bucketings.append(_lengths(what, items, items.end - items.start))
        sentences = np.asarray((matched.gold if words else matched.gold.text).lengths)
        if words or sentences.any():  # else they are unknown
            bucketings.append(_lengths("sentence length", items, sentences[items.unit]))
        known = _known_texts(matched, train)
        if known is not None:
            text = matched.gold.spans().text if words else matched.gold.text
            texts = _texts_of(text, items.unit, items.start, items.end)
            unseen = np.array([own not in known for own in texts], dtype=np.int64)
            bucketings.append((_SEEN, unseen, ["seen", "not seen"]))
    if not words:
        bucketings.append(_label_frequency(items, train))
    return bucketings


def _lengths(kind: str, items: Items, length: NDArray[Any]) -> _Bucketing:
    """Sort items by length: single lengths if most are short, else quarters of the gold items."""
    own = length[items.answer]
    short = len(own) and np.median(own) <= _SHORT_LENGTHS[1]
    return _ranges(kind, length, list(_SHORT_LENGTHS) if short else _quarters(own))


def _label_frequency(items: Items, train: Any) -> _Bucketing:
    """Sort labels into quarters by their frequency in training, or else in gold."""
    kind = f"label frequency in {'gold' if train is None else 'training'}"
    if train is None:
        number = items.positives_by_label
    else:
        spans = isinstance(train, Spans)
        names, codes = (train.labels, train.label) if spans else (train.names, train.codes)
        times = dict(zip(names, np.bincount(codes, minlength=len(names)).tolist(), strict=True))
        number = np.array([times.get(label, 0) for label in items.labels], dtype=np.int64)
    used = number[items.uses()]
    # with few labels, each has its own line in the report already
    starts = _quarters(used) if len(used) > _MOST_LABELS_WITHOUT_BUCKETS else []
    return _ranges(kind, number[items.label], starts)


def _quarters(values: NDArray[Any]) -> list[int]:
    """Return where four parts of about equal size begin; fewer if values repeat."""
    if not len(values):
        return []
    cuts = np.quantile(values, (0.25, 0.5, 0.75), method="inverted_cdf").tolist()
    return sorted({int(values.min()), *(int(cut) + 1 for cut in cuts if cut < values.max())})


def _ranges(kind: str, value: NDArray[Any], starts: list[int]) -> _Bucketing:
    """Sort items by a whole number into ranges with these starts; the last one is open."""
    if not starts:
        return kind, np.empty(0, dtype=np.int64), []
    # items that only systems have may be shorter than any gold item
    starts = [min(starts[0], int(value.min())), *starts[1:]]
    ends = [start - 1 for start in starts[1:]]
    names = [f"{a:,}" if a == b else f"{a:,} to {b:,}" for a, b in zip(starts, ends, strict=False)]
    longer = int(value.max()) > starts[-1]
    names.append(f"{starts[-1]:,} and more" if longer else f"{starts[-1]:,}")
    return kind, np.searchsorted(starts, value, side="right") - 1, names


def _known_texts(matched: Matched, train: Any) -> set[str] | None:
    """Return the words, or the texts of entities of any label, of the training data."""
    lexicon = matched.lexicon
    if lexicon is not None:
        return {word for k in range(lexicon.n_sentences) for word in lexicon.words(k)}
    if train is None:
        return None
    if not isinstance(train, Spans) or (len(train) and not train.text.words(0)):
        raise InputError("train: has no words to be seen; expected a file of tagged tokens")
    if not any(map(len, map(matched.gold.text.words, range(min(5, matched.gold.n_sentences))))):
        raise InputError("train: gold has no words; expected a file of tokens")
    return set(_texts_of(train.text, train.sentence, train.start, train.end))


def _texts_of(text: Any, sentence: Any, start: Any, end: Any) -> Iterator[str]:
    """Yield the words of each span as one string; spans of one sentence share one look-up."""
    last, words = -1, cast("Any", ())
    for number, first, stop in zip(sentence.tolist(), start.tolist(), end.tolist(), strict=True):
        if number != last:
            last, words = number, text.words(number)
        covered = words[first:stop]
        yield covered if isinstance(covered, str) else " ".join(covered)


# --- Confusions: pairs of a gold label and the label that a system gave instead

_Confusions = tuple[tuple[str | None, str | None, int], ...]


def span_confusions(gold: Spans, system: Spans) -> _Confusions:
    """Count the pairs of different labels (or None) of spans with equal boundaries."""
    sides = gold, system
    names = ("sentence", "start", "end")
    columns = [np.concatenate([getattr(side, name) for side in sides]) for name in names]
    first, place = distinct_rows(columns)
    codes = list(np.full((2, len(first)), -1))
    for code, side, own in zip(codes, sides, np.split(place, [len(gold)]), strict=True):
        code[own[::-1]] = side.label[::-1]  # the first label, where a place has several
    return _count(codes, (gold.labels, system.labels))


def label_confusions(gold: Labels, system: Labels) -> _Confusions:
    """Count the pairs of the gold label and a different one, most frequent first."""
    times = None if gold.repeats is None else gold.repeats.of_rows(gold.units)
    return _count((gold.codes, system.codes), (gold.names, system.names), times)


def _count(codes: Sequence[Any], names: Sequence[Any], times: Any = None) -> _Confusions:
    """Count the pairs of the codes of gold (-1 for none) and of a system, by their names."""
    width = len(names[1]) + 1
    keys = (codes[0].astype(np.int64) + 1) * width + codes[1] + 1
    which, pairs = distinct_integers(keys)
    number = np.bincount(which, weights=times, minlength=len(pairs)).astype(np.int64)
    rows = []
    for pair, n in zip(pairs.tolist(), number.tolist(), strict=True):
        g, s = divmod(pair, width)
        there, said = names[0][g - 1] if g else None, (names[1][s - 1] or None) if s else None
        if there != said:
            rows.append((there, said, n))
    return tuple(sorted(rows, key=lambda row: (-row[2], str(row[0]), str(row[1]))))
