"""Match labels, rename them, and cut probabilities at a threshold."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from probative._validation import finite, flag, one_of, shown
from probative.errors import InputError, suggestion
from probative.labels import label_name, other_class, positive_label
from probative.matching.items import Items, collect, numbered_alike
from probative.reading.alignment import NOTHING
from probative.reading.annotations import Labels, LabelSets, Segmented, Spans, Tagged, coded
from probative.reading.source import some_of

if TYPE_CHECKING:
    from probative.options import ReadingOptions

    Side = Labels | LabelSets

UNION = "union"
_LABELS_IN_A_NOTE = 5
_FEW_SIDES = 8  # with more, sorting is faster than comparing every side with every other
_LABELS_SEARCHED = 10_000  # for the likely meaning of a misspelt one


def positive_class(*answers: Labels) -> str | None:
    """Return the "yes" of two classes whose names show which it is, else None."""
    return positive_label({name for side in answers for name in side.names})


def averaged_labels(items: Items, labels: str | Sequence[str] | None) -> NDArray[np.bool_]:
    """Return the labels that the macro average of each system is taken over: a row per system."""
    # None: those of gold; "union": of gold and the system itself, as in scikit-learn; or names
    systems = range(len(items.says))
    if labels is None or (isinstance(labels, str) and labels == UNION):
        return np.stack([items.uses(None if labels is None else i) for i in systems])
    wanted = {labels} if isinstance(labels, str) else set(labels)
    for label in sorted(wanted - set(items.labels), key=str):
        hint = suggestion(label, items.labels[:_LABELS_SEARCHED])
        raise InputError(f"labels: neither gold nor a system has {label!r}{hint}")
    if not wanted:
        raise InputError("labels: none given; expected their names, or 'union'")
    return np.tile([label in wanted for label in items.labels], (len(systems), 1))


def only_in_a_system(items: Items, names: Sequence[str]) -> list[str]:
    """Return a note for each system that uses labels which gold does not have."""
    notes = []
    for i, name in enumerate(names):
        extra = np.flatnonzero(items.uses(i) & ~items.uses())
        if len(extra):
            shown = ", ".join(repr(items.labels[k]) for k in extra[:_LABELS_IN_A_NOTE])
            rest = len(extra) - _LABELS_IN_A_NOTE
            more = f" and {rest:,} more" if rest > 0 else ""
            notes.append(
                f"{name} uses labels that gold does not have: {shown}{more}; they count as false "
                "alarms, but not in macro averages unless labels are chosen"
            )
    return notes


def match_labels(gold: Side, *systems: Side, positive: str | None = None) -> Items:
    """Find the distinct (item, label) pairs of gold and of the systems."""
    for system in systems:
        if len(system) != len(gold):
            what = f"{len(system)} {'items' if isinstance(system, LabelSets) else 'labels'}"
            problem = f"{system.name}: {what}, but {gold.name} has {len(gold)}"
            raise InputError(f"{problem}; expected the same number")
    everyone = (gold, *systems)
    labels, codes = numbered_alike([(side.names, side.codes) for side in everyone])
    item = np.arange(len(gold), dtype=np.int32)
    sides = [
        (side.item if isinstance(side, LabelSets) else item, own)
        for side, own in zip(everyone, codes, strict=True)
    ]
    if labels[:1] == (NOTHING,):  # a side without a row for an item has no label there
        labels = labels[1:]
        sides = [(own[code > 0], code[code > 0] - 1) for own, code in sides]
    single = len(sides) <= _FEW_SIDES and all(own is item for own, _ in sides)
    find = _collect_single if single else collect
    items = find(sides, labels, len(gold))
    repeats = None if isinstance(gold, LabelSets) else gold.repeats
    times = None if repeats is None else repeats.times
    unit, n_units = items.unit, len(gold)
    universe = np.ones(n_units, dtype=np.int64) if times is None else times
    if gold.units is not None:
        unit, n_units = gold.units[items.unit], int(gold.units.max(initial=-1)) + 1
        universe = np.bincount(gold.units, weights=times, minlength=n_units)
    items = replace(
        items,
        unit=unit,
        n_units=n_units,
        # the number of labels that a set could have is unknown
        universe=None if isinstance(gold, LabelSets) else universe,
        times=None if times is None else times[items.unit],
        number=None if repeats is None else repeats.number,
    )
    return items if positive is None else items.only([one_of("positive", positive, labels)])


def _collect_single(
    sides: Sequence[tuple[NDArray[Any], ...]], labels: tuple[str, ...], n_items: int
) -> Items:
    """Do what `collect` does for one label per item of few sides, without sorting."""
    item, codes = sides[0][0], [code for _, code in sides]
    # a side adds an item where its label is none of the sides before it
    adds = [np.ones(n_items, dtype=bool)]
    for k, own in enumerate(codes[1:], start=1):
        fresh = own != codes[0]
        for other in codes[1:k]:
            fresh &= own != other
        adds.append(fresh)
    number = np.ones(n_items, dtype=np.int8)
    for fresh in adds[1:]:
        number += fresh
    first = np.cumsum(number, dtype=np.int32)
    size = int(first[-1]) if n_items else 0
    first -= number  # the place of the item's smallest label
    unit, label = np.empty((2, size), dtype=np.int32)
    has = np.zeros((len(sides), size), dtype=bool)
    for k, own in enumerate(codes):
        place = first.copy()
        for other, fresh in zip(codes, adds, strict=True):
            if other is not own:
                place += fresh & (other < own)
        unit[place], label[place], has[k, place] = item, own, True
    return Items(unit, label, labels, has[0], has[1:], n_items)


# --- Renaming labels: by a mapping, or by ignoring case

_OUTSIDE = "O"
_SEPARATORS = (",", ";", "|")
_ENOUGH_SPANS_OF_ONE_TYPE = 10  # with fewer, two sides may share no type by chance


def check_names(mapping: Any, *, ignore_case: Any) -> dict[str, str]:
    """Validate a mapping of labels; return it as texts, in lower case if case is ignored."""
    ignore = flag("ignore_case", ignore_case)
    try:
        pairs = list(mapping.items()) if hasattr(mapping, "items") else list(mapping or ())
        names = {label_name("mapping", old): label_name("mapping", new) for old, new in pairs}
    except (TypeError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        expected = "expected a dictionary of labels, old: new"
        raise InputError(f"mapping: {shown(mapping)}; {expected}") from None
    if len(names) < len(pairs):
        raise InputError(f"mapping: {shown(mapping)} has a label twice; expected one name each")
    return {old.casefold(): new.casefold() for old, new in names.items()} if ignore else names


def written_alike(name: str, options: ReadingOptions) -> str:
    """Return the name of a label in lower case if case is ignored."""
    return name.casefold() if options.ignore_case else name


def relabel(sides: Sequence[Any], options: ReadingOptions, *, strict: bool = True) -> list[Any]:
    """Rename the labels (types of tags) of all sides; a type mapped to O is removed."""
    mapping: Mapping[str, str] = dict(options.mapping or {})
    if not mapping and not options.ignore_case:
        return list(sides)
    if any(isinstance(side, Segmented) for side in sides):
        name = "mapping" if mapping else "ignore_case"
        raise InputError(f"{name}: words of a segmentation have no labels")
    seen: set[str] = set()

    def new(name: str) -> str:
        name = written_alike(name, options)
        seen.add(name)
        return mapping.get(name, name)

    renamed = {id(side): _renamed(side, new) for side in sides}  # the same side may occur twice
    for old in mapping:
        if strict and old not in seen:
            hint = suggestion(old, seen)
            raise InputError(f"mapping: neither gold nor a system has {old!r}{hint}")
    return [renamed[id(side)] for side in sides]


def _renamed(side: Any, new: Callable[[str], str]) -> Any:
    """Return a side with its labels renamed, and equal ones merged."""
    if isinstance(side, Tagged):
        parts = [tag.partition("-") for tag in side.names]
        renamed = [(prefix, hyphen, new(kind) if hyphen else "") for prefix, hyphen, kind in parts]
        codes, names = coded([_OUTSIDE if t[2] == _OUTSIDE else "".join(t) for t in renamed])
        return replace(side, names=names, tags=codes[side.tags])
    if isinstance(side, Spans):
        codes, names = coded(list(map(new, side.labels)))
        rows = np.stack([side.sentence, side.start, side.end, codes[side.label]], axis=1)
        rows = np.unique(rows.astype(np.int64), axis=0).reshape(-1, 4)
        if _OUTSIDE in names:
            rows = rows[rows[:, 3] != names.index(_OUTSIDE)]
        _, start, end, _ = rows.T
        sentence, label = rows[:, [0, 3]].T.astype(np.int32)
        return replace(side, labels=names, sentence=sentence, start=start, end=end, label=label)
    codes, names = coded(list(map(new, side.names)))
    side = replace(side, names=names, codes=codes[side.codes])
    if isinstance(side, LabelSets):
        pairs = np.unique(np.stack([side.item, side.codes], axis=1), axis=0).reshape(-1, 2)
        return replace(side, item=pairs[:, 0], codes=pairs[:, 1])
    return side


# --- Labels from probabilities


def by_threshold(
    gold: Labels, system: Labels, name: str, options: ReadingOptions, names: Sequence[str] = ()
) -> Labels:
    """Return labels from numbers cut at `options.threshold`; refuse fractions without one."""
    values = [_as_number(n) for n in system.names]
    threshold = options.threshold
    if threshold is None:
        if not _are_fractions(values) or _are_fractions([_as_number(n) for n in gold.names]):
            return system
        example = next(n for n, x in zip(system.names, values, strict=True) if not x.is_integer())
        classes = f" ({', '.join(names)})" if set(names) == set(gold.names) else ""
        cut = "threshold=0.5" if len(gold.names) <= 2 else "whole numbers"
        raise InputError(
            f"{name}: holds numbers such as {example}, but gold has classes "
            f"({some_of(gold.names)}): probabilities are no labels; expected {cut}, or "
            f"probability_columns={classes} where every class has a column"
        )
    threshold = finite("threshold", threshold)
    wrong = next((n for n, x in zip(system.names, values, strict=True) if math.isnan(x)), None)
    if wrong is not None:
        raise InputError(f"threshold: {name} holds {wrong!r}; expected numbers")
    yes = options.positive or positive_class(gold)
    others = [name for name in gold.names if name != yes]
    if yes is None and len(gold.names) <= 2:
        raise InputError(
            f"threshold: which of {some_of(gold.names)} is the positive class? expected positive="
        )
    if yes is None or len(others) > 1:
        raise InputError(
            f"threshold: separates two classes, but gold has {len(gold.names)} "
            f"({some_of(gold.names)}); expected probability_columns= with a column per class"
        )
    no = others[0] if others else other_class(yes)
    codes, names = coded([yes if x >= threshold else no for x in values])
    note = f"{name}: from {threshold:g} on {yes!r}, below {no!r}"
    if len(names) == 1:
        note += f"; all are {names[0]!r}"
    return replace(system, names=names, codes=codes[system.codes], notes=(*system.notes, note))


def _are_fractions(values: Sequence[float]) -> bool:
    """Return True if none is NaN and some are not whole."""
    return not any(map(math.isnan, values)) and not all(x.is_integer() for x in values)


def _as_number(text: str) -> float:
    """Return the number in a text; NaN if it is not a finite number."""
    try:
        number = float(text)
    except ValueError:
        return math.nan
    return number if math.isfinite(number) and "_" not in text else math.nan


# --- Labels that differ in spelling alone


def refuse_other_labels(gold: Any, system: Any, name: str) -> None:
    """Refuse a system that shares no label with gold, unless chance or one class explain it."""
    known, own = (
        set(side.labels if isinstance(side, Spans) else side.names) - {NOTHING}
        for side in (gold, system)
    )
    if not own or not known or own & known:
        return
    if isinstance(gold, Labels):
        yes_and_no = positive_label(known) and positive_label(own)
        refused = len(known) > 1 or (yes_and_no and not positive_label(known | own))
    else:
        sizes = (len(s) if isinstance(s, Spans) else len(s.codes) for s in (gold, system))
        few = min(sizes) < _ENOUGH_SPANS_OF_ONE_TYPE
        refused = min(len(known), len(own)) > 1 or not few
    if refused:
        there, here = (some_of(sorted(names)) for names in (known, own))
        problem = f"{name}: has no label of gold ({there}), but {here}"
        raise InputError(f"{problem}; expected the same labels, or mapping=")


def differ_in_writing(gold: Sequence[str], system: Sequence[str], name: str) -> list[str]:
    """Return a note on labels that differ from those of gold in spelling alone, or refuse them."""
    known = {_normalised(label): label for label in gold}
    extra = sorted(set(system) - set(gold))
    twins = [(known[_normalised(label)], label) for label in extra if _normalised(label) in known]
    if not twins:
        return []
    there, here = twins[0]
    cases, found = there.casefold() == here.casefold(), f"differs from {there!r} only in spelling"
    if not set(system) & set(gold):
        way_out = "ignore_case=True" if cases else "mapping="
        problem = f"{name}: no gold label occurs, but {here!r} {found}"
        raise InputError(f"{problem}; expected the same labels, or {way_out}")
    way_out = f"({'ignoring case' if cases else 'a mapping'} would make them one)"
    return [f"{name}: {here!r} {found}, and counts as another label {way_out}"]


def parted_alike(gold: Any, system: Any, name: str, options: ReadingOptions) -> list[str]:
    """Refuse labels that may be sets (``a,b`` beside ``b,a``); note parts that are labels too."""
    if options.multilabel is not None or not isinstance(gold, Labels):
        return []
    for sign in _SEPARATORS:
        known = {_parts(label, sign): label for label in gold.names if sign in label}
        for label in system.names:
            there = known.get(_parts(label, sign), label) if sign in label else label
            if there != label:
                what = f"{name}: {label!r} and {there!r} could be one set of labels or two labels"
                raise InputError(f"{what}; expected multilabel={sign!r}, or multilabel=False")
        if frozenset().union(*known) & (set(gold.names) | set(system.names)):
            taken = f"{name}: {next(iter(known.values()))!r} is taken for one label"
            return [f"{taken}, not for several with {sign!r} between"]
    return []


def _parts(label: str, sign: str) -> frozenset[str]:
    """Return the parts of a label between separators."""
    return frozenset(part.strip() for part in label.split(sign))


def _normalised(label: str) -> str:
    """Return a label in lower case, with numbers and truth values in one form."""
    text = label.strip().casefold()
    number = _as_number(text)
    text = {"true": "1", "false": "0"}.get(text, text)
    return text if math.isnan(number) else repr(number + 0.0).removesuffix(".0")
