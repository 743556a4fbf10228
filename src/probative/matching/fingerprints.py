"""Compute fingerprints of test sets and outputs from what was matched, not from file bytes."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from probative.errors import InputError
from probative.labels import factorise_each
from probative.reading.annotations import Labels, LabelSets, Records, Segmented, Spans, Text
from probative.results.ledger import SKETCH, Fingerprints

if TYPE_CHECKING:
    from probative.matching.matched import Matched

    Hashes = NDArray[np.uint64]
    Side = Spans | Segmented | Labels | LabelSets | Records

_DIGITS = 16  # hexadecimal, of a fingerprint: among 10^6 test sets P(any collision) is about 3e-8
_CONTEXT_WORDS, _CONTEXT_CHARACTERS = 2, 12  # of the text before or after a span
_SPANS_PER_PLACE = 16  # spans (runs of equal labels) in a row that identify a place without text
_BASE = 0x9E3779B97F4A7C15  # of the polynomial hash of tokens; odd, so invertible modulo 2^64


def fingerprints_of(matched: Matched, unit: str, units: int) -> Fingerprints:
    """Return the fingerprints of this test set and of the outputs of each challenger."""
    # A test set is identified by the contents of gold in any order, whatever the format, scheme or
    # column; outputs by what gold, the baseline and the challenger hold together in each unit.
    if matched.task == "samples":
        raise InputError("ledger: logs hold no gold to identify the test set; expected gold")
    gold = matched.gold
    number = _number(gold)
    contents = [_contents(gold), *map(_contents, matched.systems)]
    systems = {group.name: group.places for group in matched.runs}
    systems = systems or {name: (place,) for place, name in enumerate(matched.names)}
    baseline, *challengers = systems
    outputs = {}
    for name in challengers:
        said = (contents[place + 1] for place in (*systems[baseline], *systems[name]))
        outputs[name] = _digest(*_by_unit(gold, _mix(contents[0], *said), number))
    # A sketch recognises a test set after changes: a sample of hashes of places. A place is a span
    # with the words before or after it; without text, several spans (labels) in a row and their
    # distances. Names of labels do not matter.
    by, places = _places(gold)
    places = np.sort(places, kind="stable")
    # equal places are numbered, so that each counts
    counted = _mix(places, np.arange(len(places)) - np.searchsorted(places, places))
    sketch = tuple(f"{value:016x}" for value in np.unique(counted)[:SKETCH].tolist())
    both = (contents[0], _contents(gold, named=False))
    named, unnamed = (_joined([matched.task, _digest(own, number)]) for own in both)
    name = str(getattr(gold, "name", None) or gold.text.name)
    return Fingerprints(named, unnamed, name, units, unit, by * bool(sketch), sketch, outputs)


# --- Contents of units


def _contents(side: Side, *, named: bool = True) -> Hashes:
    """Return a hash of the contents of each sentence (item); places alone if not `named`."""
    if isinstance(side, Labels):
        return _mix(_of_labels(side, named=named)[side.codes])
    if isinstance(side, Records):
        return _mix(_of_names([json.dumps(d, sort_keys=True) for d in side.documents]))
    if isinstance(side, LabelSets):
        return _mix(_sums(_of_labels(side, named=named)[side.codes], side.item, side.n_items))
    places = _mix(side.start, side.end)
    if isinstance(side, Spans):
        if named:
            places = _mix(places, _of_names(side.labels)[side.label])
        if side.shape is not None:
            places = _mix(places, _of_names(side.shapes)[side.shape])
    return _mix(_sums(places, side.sentence, side.n_sentences))


def _of_labels(side: Labels | LabelSets, *, named: bool) -> Hashes:
    """Return a hash of each label, from its name or from its frequency."""
    if named:
        return _of_names(side.names)
    number = _number(side)
    times = np.ones(len(side.codes)) if number is None else number.astype(float)
    return _mix(np.bincount(side.codes, weights=times, minlength=len(side.names)).astype(np.int64))


def _number(side: Side) -> NDArray[np.int64] | None:
    """Return the number of rows that each item stands for; None if it is one."""
    repeats = getattr(side, "repeats", None)
    return None if repeats is None else np.asarray(repeats.of_rows(getattr(side, "units", None)))


def _by_unit(
    gold: Side, contents: Hashes, number: NDArray[np.int64] | None
) -> tuple[Hashes, NDArray[np.int64] | None]:
    """Return a hash of each unit (document) with its groups, and the number of equal units."""
    text = gold.text if isinstance(gold, Spans) else gold
    groups = getattr(text, "groups", None)
    if groups is not None:
        contents = _mix(contents, _of_names(groups.names)[groups.codes])
    if isinstance(gold, Records):
        return contents, number
    units = gold.units if isinstance(gold, (Labels, LabelSets)) else text.document  # type: ignore[union-attr]
    if units is None:
        return contents, number
    units = np.unique(units, return_inverse=True)[1]
    repeats = getattr(gold, "repeats", None)
    if repeats is not None and repeats.times is not None:
        contents = contents * repeats.times.astype(np.uint64)
    sums = _mix(_sums(contents, units, int(units.max(initial=-1)) + 1))
    return sums, None if repeats is None else repeats.number


# --- Places, by which a test set is recognised after changes


def _places(gold: Side) -> tuple[str, Hashes]:
    """Return the kind of places of a test set and their hashes."""
    if isinstance(gold, Records):
        return "texts", _of_names([_normalised(json.dumps(d)) for d in gold.documents])
    if isinstance(gold, (Labels, LabelSets)):
        return _places_of_labels(gold)
    if isinstance(gold, Segmented):
        first = gold.first[gold.sentence]
        characters = gold.characters.tobytes().decode("utf-8", "replace")
        letters = np.frombuffer(characters.encode("utf-32-le", "surrogatepass"), "<u4")
        return "words", _with_context(_mix(letters), first + gold.start, first + gold.end)
    tokens, context = _tokens(gold.text)
    if tokens is not None:
        first = gold.text.first[gold.sentence]
        return "words", _with_context(tokens, first + gold.start, first + gold.end, context)
    lengths = np.array(gold.text.lengths)
    np.maximum.at(lengths, gold.sentence, gold.end)
    first = (np.cumsum(lengths) - lengths)[gold.sentence]
    size = int(lengths.sum()) + 1
    starts, ends = (np.bincount(first + own, minlength=size) for own in (gold.start, gold.end))
    return "order", _in_a_row(_mix(starts + (ends << 32)), np.flatnonzero(starts))


def _places_of_labels(gold: Labels | LabelSets) -> tuple[str, Hashes]:
    """Return the kind of places of labelled items and their hashes."""
    if getattr(gold, "repeats", None) is not None:  # condensed: texts and order are unknown
        return "", np.zeros(0, dtype=np.uint64)
    texts = gold.texts()
    if len(texts):
        return "texts", _of_names([_normalised(text) for text in texts])
    if isinstance(gold.aligned, Text):
        tokens, context = _tokens(gold.aligned)
        if tokens is not None:
            place = np.arange(len(tokens))
            return "texts", _with_context(tokens, place, place + 1, context)
    kinds = np.unique(_contents(gold), return_inverse=True)[1]
    order = np.argsort(kinds, kind="stable")
    # the distance to the previous item of the same label does not depend on its name
    back = np.zeros(len(kinds), dtype=np.int64)
    same = kinds[order[1:]] == kinds[order[:-1]]
    back[order[1:][same]] = (order[1:] - order[:-1])[same]
    return "order", _in_a_row(_mix(back), np.flatnonzero(np.r_[True, kinds[1:] != kinds[:-1]]))


def _tokens(text: Text) -> tuple[Hashes | None, int]:
    """Return a hash of each token and the size of the context; None without text."""
    words = [_normalised(word) for place in range(text.n_sentences) for word in text.words(place)]
    if not words or len(words) != text.n_tokens:
        return None, 0
    codes, known = factorise_each(words, len(words))
    characters = max(map(len, known)) == 1
    return _of_names(known)[codes], _CONTEXT_CHARACTERS if characters else _CONTEXT_WORDS


def _normalised(text: str) -> str:
    """Reduce a text to its letters and digits in lower case; keep it if it has none."""
    return "".join(filter(str.isalnum, text.casefold())) or text


def _with_context(
    tokens: Hashes, start: NDArray[Any], end: NDArray[Any], context: int = _CONTEXT_CHARACTERS
) -> Hashes:
    """Return two hashes of each span: one with the context before it, one with that after it."""
    start, end = np.minimum(start, len(tokens)), np.minimum(end, len(tokens))
    before, after = np.maximum(start - context, 0), np.minimum(end + context, len(tokens))
    rows = np.r_[_of_rows(tokens, before, end), _of_rows(tokens, start, after)]
    return _mix(rows, np.r_[start - before, end - start])


def _in_a_row(tokens: Hashes, starts: NDArray[Any]) -> Hashes:
    """Return a hash of every few spans in a row."""
    if len(starts) <= _SPANS_PER_PLACE:
        return _of_rows(tokens, np.zeros(1, np.int64), np.array([len(tokens)]))
    return _of_rows(tokens, starts[:-_SPANS_PER_PLACE], starts[_SPANS_PER_PLACE:])


def _of_rows(tokens: Hashes, begin: NDArray[Any], end: NDArray[Any]) -> Hashes:
    """Return a hash of the tokens from each begin to its end, by a polynomial modulo 2^64."""
    size = len(tokens) + 1
    power, inverse = (
        np.cumprod(np.r_[np.uint64(1), np.full(size - 1, base, dtype=np.uint64)], dtype=np.uint64)
        for base in (_BASE, pow(_BASE, -1, 1 << 64))
    )
    sums = np.r_[np.uint64(0), np.cumsum(tokens * power[:-1], dtype=np.uint64)]
    return _mix((sums[end] - sums[begin]) * inverse[begin], end - begin)


# --- Hashes


def _of_names(names: Sequence[str]) -> Hashes:
    """Return the first 64 bits of the SHA-256 of each name."""
    digests = (hashlib.sha256(name.encode("utf-8", "surrogatepass")).digest() for name in names)
    return np.array([int.from_bytes(d[:8], "little") for d in digests] or [0], dtype=np.uint64)


def _mix(*columns: NDArray[Any]) -> Hashes:
    """Return a hash of each row of these columns, by the finaliser of SplitMix64."""
    mixed = np.zeros(len(columns[0]), dtype=np.uint64)
    for column in columns:
        mixed = (mixed ^ column.astype(np.uint64)) + np.uint64(0x9E3779B97F4A7C15)
        mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        mixed ^= mixed >> np.uint64(31)
    return mixed


def _sums(values: Hashes, group: NDArray[Any], size: int) -> Hashes:
    """Return the sum of each group modulo 2^64, which does not depend on the order."""
    sums = np.zeros(size, dtype=np.uint64)
    np.add.at(sums, group, values)
    return sums


def _digest(units: Hashes, number: NDArray[np.int64] | None) -> str:
    """Return the fingerprint of a collection of units, which does not depend on their order."""
    kinds, place = np.unique(units, return_inverse=True)
    times = np.bincount(place, number, len(kinds)).astype("<i8")
    return _joined([kinds.astype("<u8").tobytes(), times.tobytes()])


def _joined(parts: Sequence[str | bytes]) -> str:
    """Return the fingerprint of several parts."""
    lines = [(part.encode() if isinstance(part, str) else part) + b"\n" for part in parts]
    return hashlib.sha256(b"".join(lines)).hexdigest()[:_DIGITS]
