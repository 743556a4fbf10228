"""Which test set is this, and which outputs? By what was matched, not by the bytes of files."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

import numpy as np

from probative.errors import InputError
from probative.reading.annotations import Labels, LabelSets, Segmented, Spans, Text
from probative.results.ledger import SKETCH, Fingerprints

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from probative.matching.matched import Matched

    Hashes = NDArray[np.uint64]
    Side = Spans | Segmented | Labels | LabelSets

__all__ = ["fingerprints_of"]

_DIGITS = 16  # of a fingerprint: collisions of a million test sets are one in ten million
_WORDS, _CHARACTERS = 2, 12  # of a text before or after a span
_RUN = 16  # spans (runs of equal labels) in a row that tell a place, where there is no text
_BASE = 0x9E3779B97F4A7C15  # of the hash of a row of tokens; odd, so that it can be divided by


def fingerprints_of(matched: Matched, unit: str, units: int) -> Fingerprints:
    """Return what tells this test set from others, and these outputs from others.

    A test set is what gold holds: the spans (words) of every sentence, or the labels of every item,
    in any order of sentences and items, which tables that are counted do not keep. Formats, tag
    schemes and columns do not matter. Outputs are told by what gold, the baseline and the
    challenger hold together in each unit.

    Parameters
    ----------
    matched
        Gold and the outputs.
    unit, units
        What is counted, and how many there are.
    """
    if matched.task == "samples":
        raise InputError("ledger: logs hold no answer to know the test set by; expected the answer")
    gold = matched.gold
    number = _number(gold)
    contents = [_contents(gold), *map(_contents, matched.systems)]
    systems = (
        {group.name: list(group.places) for group in matched.runs}
        if matched.runs
        else {name: [place] for place, name in enumerate(matched.names)}
    )
    baseline, *challengers = systems
    outputs = {}
    for name in challengers:
        told = [contents[place + 1] for place in (*systems[baseline], *systems[name])]
        outputs[name] = _digest(*_by_unit(gold, _mix(contents[0], *told), number))
    by, sketch = _sketch(gold)
    return Fingerprints(
        _joined([matched.task, _digest(contents[0], number)]),
        _joined([matched.task, _digest(_contents(gold, named=False), number)]),
        str(getattr(gold, "name", None) or gold.text.name),
        units,
        unit,
        by,
        sketch,
        outputs,
    )


# --- what units hold ------------------------------------------------------------------------------


def _contents(side: Side, *, named: bool = True) -> Hashes:
    """Return one number for what each sentence (item) holds: equal ones have equal numbers.

    Without the names of labels, spans have their places alone, and a label is told by how often it
    occurs.
    """
    if isinstance(side, Labels):
        return _mix(_of_labels(side, named=named)[side.codes])
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
    """Return one number for each label, by its name or by how often it occurs."""
    if named:
        return _of_names(side.names)
    number = _number(side)
    times = np.ones(len(side.codes)) if number is None else number.astype(float)
    return _mix(np.bincount(side.codes, weights=times, minlength=len(side.names)).astype(np.int64))


def _number(side: Side) -> NDArray[np.int64] | None:
    """Return how many rows each item stands for; None for one."""
    repeats = getattr(side, "repeats", None)
    return None if repeats is None else np.asarray(repeats.of_rows(getattr(side, "units", None)))


def _by_unit(
    gold: Side, contents: Hashes, number: NDArray[np.int64] | None
) -> tuple[Hashes, NDArray[np.int64] | None]:
    """Return what each unit (document) holds in its groups, and how many such units there are."""
    text = gold.text if isinstance(gold, Spans) else gold
    groups = getattr(text, "groups", None)
    if groups is not None:
        contents = _mix(contents, _of_names(groups.names)[groups.codes])
    units = gold.units if isinstance(gold, (Labels, LabelSets)) else text.document  # type: ignore[union-attr]
    if units is None:
        return contents, number
    _, units = np.unique(units, return_inverse=True)
    units = units.reshape(-1)
    repeats = getattr(gold, "repeats", None)
    if repeats is not None and repeats.times is not None:
        contents = contents * repeats.times.astype(np.uint64)
    sums = _mix(_sums(contents, units, int(units.max(initial=-1)) + 1))
    return sums, None if repeats is None else repeats.number


# --- what is left of a test set that was changed --------------------------------------------------


def _sketch(gold: Side) -> tuple[str, tuple[str, ...]]:
    """Return some places of a test set, by which it is known again after a change; and their kind.

    A place is a span with the words before or after it, wherever sentences end; without text, some
    spans (labels) in a row and how far they lie apart. Names of labels do not matter.
    """
    by, places = _places(gold)
    if not len(places):
        return "", ()
    order = np.argsort(places, kind="stable")
    first = np.searchsorted(places[order], places[order])
    # equal places are told apart by their number
    different = np.unique(_mix(places[order], np.arange(len(places)) - first))
    return by, tuple(f"{value:016x}" for value in different[:SKETCH].tolist())


def _places(gold: Side) -> tuple[str, Hashes]:
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
    ends = np.zeros(int(lengths.sum()) + 1, dtype=np.int64)
    np.add.at(ends, first + gold.start, 1)
    np.add.at(ends, first + gold.end, 1 << 32)
    return "order", _in_a_row(_mix(ends), np.unique(first + gold.start))


def _places_of_labels(gold: Labels | LabelSets) -> tuple[str, Hashes]:
    if getattr(gold, "repeats", None) is not None:  # counted: neither texts nor an order are known
        return "", np.zeros(0, dtype=np.uint64)
    texts = gold.texts() if gold.texts is not None else ()
    if len(texts):
        return "texts", _of_names([_plain(text) for text in texts])
    if isinstance(gold.aligned, Text):
        tokens, context = _tokens(gold.aligned)
        if tokens is not None:
            place = np.arange(len(tokens))
            return "texts", _with_context(tokens, place, place + 1, context)
    _, kinds = np.unique(_contents(gold), return_inverse=True)
    kinds = kinds.reshape(-1)
    order = np.argsort(kinds, kind="stable")
    # how far back the same label stands: whatever it is called
    back = np.zeros(len(kinds), dtype=np.int64)
    same = kinds[order[1:]] == kinds[order[:-1]]
    back[order[1:][same]] = (order[1:] - order[:-1])[same]
    return "order", _in_a_row(_mix(back), np.flatnonzero(np.r_[True, kinds[1:] != kinds[:-1]]))


def _tokens(text: Text) -> tuple[Hashes | None, int]:
    """Return one number for each token of a text, and how many tell a place; None without text."""
    words = [_plain(word) for place in range(text.n_sentences) for word in text.words(place)]
    if not words or len(words) != text.n_tokens:
        return None, 0
    known = {word: place for place, word in enumerate(dict.fromkeys(words))}
    codes = np.fromiter((known[word] for word in words), dtype=np.int64, count=len(words))
    characters = max(map(len, known)) == 1
    return _of_names(list(known))[codes], _CHARACTERS if characters else _WORDS


def _plain(text: str) -> str:
    """Return a text by its letters and digits, upper case or lower; as it is if it has none."""
    return "".join(filter(str.isalnum, text.casefold())) or text


def _with_context(
    tokens: Hashes, start: NDArray[Any], end: NDArray[Any], context: int = _CHARACTERS
) -> Hashes:
    """Return two numbers for each span: one with what stands before it, one with what follows."""
    start, end = np.minimum(start, len(tokens)), np.minimum(end, len(tokens))
    before, after = np.maximum(start - context, 0), np.minimum(end + context, len(tokens))
    rows = np.r_[_of_rows(tokens, before, end), _of_rows(tokens, start, after)]
    return _mix(rows, np.r_[start - before, end - start])


def _in_a_row(tokens: Hashes, starts: NDArray[Any]) -> Hashes:
    if len(starts) <= _RUN:
        return _of_rows(tokens, np.zeros(1, np.int64), np.array([len(tokens)]))
    return _of_rows(tokens, starts[:-_RUN], starts[_RUN:])


def _of_rows(tokens: Hashes, begin: NDArray[Any], end: NDArray[Any]) -> Hashes:
    """Return one number for the tokens from each begin to its end, by a polynomial modulo 2^64."""
    size = len(tokens) + 1
    power, inverse = (
        np.cumprod(np.r_[np.uint64(1), np.full(size - 1, base, dtype=np.uint64)], dtype=np.uint64)
        for base in (_BASE, pow(_BASE, -1, 1 << 64))
    )
    sums = np.r_[np.uint64(0), np.cumsum(tokens * power[:-1], dtype=np.uint64)]
    return _mix((sums[end] - sums[begin]) * inverse[begin], end - begin)


# --- numbers and texts ----------------------------------------------------------------------------


def _of_names(names: Sequence[str]) -> Hashes:
    digests = (hashlib.sha256(name.encode("utf-8", "surrogatepass")).digest() for name in names)
    return np.array([int.from_bytes(d[:8], "little") for d in digests] or [0], dtype=np.uint64)


def _mix(*columns: NDArray[Any]) -> Hashes:
    """Return one number for each row of these columns, by the finaliser of SplitMix64."""
    mixed = np.zeros(len(columns[0]), dtype=np.uint64)
    for column in columns:
        mixed = (mixed ^ column.astype(np.uint64)) + np.uint64(0x9E3779B97F4A7C15)
        mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        mixed ^= mixed >> np.uint64(31)
    return mixed


def _sums(values: Hashes, group: NDArray[Any], size: int) -> Hashes:
    """Return the sum of each group, whatever the order of what it holds; it may overflow."""
    sums = np.zeros(size, dtype=np.uint64)
    np.add.at(sums, group, values)
    return sums


def _digest(units: Hashes, number: NDArray[np.int64] | None) -> str:
    """Return a text for a collection of units, whatever their order."""
    kinds, place = np.unique(units, return_inverse=True)
    times = np.zeros(len(kinds), dtype="<i8")
    np.add.at(times, place.reshape(-1), 1 if number is None else number)
    return _joined([kinds.astype("<u8").tobytes(), times.tobytes()])


def _joined(parts: Sequence[str | bytes]) -> str:
    whole = hashlib.sha256()
    for part in parts:
        whole.update(part.encode() if isinstance(part, str) else part)
        whole.update(b"\n")
    return whole.hexdigest()[:_DIGITS]
