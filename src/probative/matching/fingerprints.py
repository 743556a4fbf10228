"""Which test set is this, and which outputs? By what was matched, not by the bytes of files."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

import numpy as np

from probative.errors import InputError
from probative.reading.annotations import Labels, LabelSets, Segmented
from probative.results.ledger import Fingerprints

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from probative.matching.matched import Matched
    from probative.reading.annotations import Spans

    Hashes = NDArray[np.uint64]

__all__ = ["fingerprints_of"]

_DIGITS = 16  # of a fingerprint: collisions of a million test sets are one in ten million
_SKETCH = 32  # units by which test sets are found to be nearly the same


def fingerprints_of(matched: Matched, unit: str, units: int) -> Fingerprints:
    """What tells this test set from others, and these outputs from others.

    A test set is what the answer holds: the spans (words) of every sentence, in any order of the
    sentences; or the label of every item, in their order. Formats, tag schemes, columns and the
    text itself do not matter. An output is told by what it holds beside the answer.

    Parameters
    ----------
    matched
        The answer and the outputs.
    unit, units
        What is counted, and how many there are.
    """
    if matched.task == "samples":
        raise InputError("ledger: logs hold no answer to know the test set by; expected the answer")
    answer = _units(matched.gold)
    number = _number(matched.gold)
    outputs = [_digest(matched.task, _mix(answer, _units(s)), number) for s in matched.systems]
    if matched.runs:
        named = {
            group.name: _joined([outputs[place] for place in group.places])
            for group in matched.runs
        }
    else:
        named = dict(zip(matched.names, outputs, strict=True))
    return Fingerprints(
        _digest(matched.task, answer, number),
        str(getattr(matched.gold, "name", None) or matched.gold.text.name),
        units,
        unit,
        tuple(f"{value:016x}" for value in np.unique(answer)[:_SKETCH].tolist()),
        named,
    )


def _units(side: Spans | Segmented | Labels | LabelSets) -> Hashes:
    """One number for what each unit holds: equal units have equal ones, others others."""
    if isinstance(side, Labels):
        of_items = _of_names(side.names)[side.codes]
        if side.repeats is None:
            return _mix(np.arange(len(of_items)), of_items)
        # equal rows are kept once: which row had which label is no longer known
        if side.units is None:
            return _mix(of_items)
        if side.repeats.times is not None:
            of_items = of_items * side.repeats.times.astype(np.uint64)
        return _mix(_sums(of_items, side.units, len(side.repeats.number)))
    if isinstance(side, LabelSets):
        own = _sums(_of_names(side.names)[side.codes], side.item, side.n_items)
        return _mix(np.arange(side.n_items), own)
    if isinstance(side, Segmented):
        return _mix(_sums(_mix(side.start, side.end), side.sentence, side.n_sentences))
    spans = _mix(side.start, side.end, _of_names(side.labels)[side.label])
    if side.shape is not None:
        spans = _mix(spans, _of_names(side.shapes)[side.shape])
    return _mix(_sums(spans, side.sentence, side.n_sentences))


def _number(side: Any) -> NDArray[np.int64] | None:
    """How many equal units each one stands for; None for one."""
    repeats = getattr(side, "repeats", None)
    if repeats is None:
        return None
    return np.asarray(repeats.number if side.units is not None else repeats.of_rows(None))


def _of_names(names: Sequence[str]) -> Hashes:
    digests = (hashlib.sha256(name.encode("utf-8", "surrogatepass")).digest() for name in names)
    return np.array([int.from_bytes(d[:8], "little") for d in digests] or [0], dtype=np.uint64)


def _mix(*columns: NDArray[Any]) -> Hashes:
    """One number for each row of these columns, by the finaliser of SplitMix64."""
    mixed = np.zeros(len(columns[0]), dtype=np.uint64)
    for column in columns:
        mixed = (mixed ^ column.astype(np.uint64)) + np.uint64(0x9E3779B97F4A7C15)
        mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        mixed ^= mixed >> np.uint64(31)
    return mixed


def _sums(values: Hashes, group: NDArray[Any], size: int) -> Hashes:
    """The sum of each group, whatever the order of what it holds; it may overflow."""
    sums = np.zeros(size, dtype=np.uint64)
    np.add.at(sums, group, values)
    return sums


def _digest(task: str, units: Hashes, number: NDArray[np.int64] | None) -> str:
    """A text for a collection of units, whatever their order."""
    kinds, place = np.unique(units, return_inverse=True)
    times = np.zeros(len(kinds), dtype="<i8")
    np.add.at(times, place.reshape(-1), 1 if number is None else number)
    return _joined([task.encode(), kinds.astype("<u8").tobytes(), times.tobytes()])


def _joined(parts: Sequence[str | bytes]) -> str:
    whole = hashlib.sha256()
    for part in parts:
        whole.update(part.encode() if isinstance(part, str) else part)
        whole.update(b"\n")
    return whole.hexdigest()[:_DIGITS]
