"""Which labels are taken for which."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from probative.reading.annotations import Labels, Spans

__all__ = ["label_confusions", "span_confusions"]

Confusions = tuple[tuple[str | None, str | None, int], ...]


def span_confusions(gold: Spans, system: Spans) -> Confusions:
    """Pairs of labels of spans with the same limits; None where a side has no such span.

    The most frequent confusions come first; agreement is not among them. Of several spans of one
    side with the same limits the first label counts.
    """
    sizes = [int(max(g.max(initial=0), s.max(initial=0))) + 1 for g, s in _columns(gold, system)]
    places = [_key(side, sizes) for side in (gold, system)]
    distinct = [np.unique(place, return_index=True) for place in places]
    # sorted parts: a merging sort is many times faster than NumPy's union by hashing
    both = np.sort(np.concatenate([place for place, _ in distinct]), kind="stable")
    everywhere = both[np.flatnonzero(np.diff(both, prepend=-1))]
    codes = []
    for side, (place, first) in zip((gold, system), distinct, strict=True):
        code = np.full(len(everywhere), -1)
        code[np.searchsorted(everywhere, place)] = side.label[first]
        codes.append(code)
    return _count(codes[0], codes[1], gold.labels, system.labels)


def label_confusions(gold: Labels, system: Labels) -> Confusions:
    """Pairs of the right label and another one, the most frequent first."""
    times = None if gold.repeats is None else gold.repeats.of_rows(gold.units)
    return _count(gold.codes, system.codes, gold.names, system.names, times)


def _columns(gold: Spans, system: Spans) -> list[tuple[NDArray[Any], NDArray[Any]]]:
    return [
        (gold.sentence, system.sentence),
        (gold.start, system.start),
        (gold.end, system.end),
    ]


def _key(side: Spans, sizes: list[int]) -> NDArray[np.int64]:
    key = side.sentence.astype(np.int64)
    for column, size in zip((side.start, side.end), sizes[1:], strict=True):
        key = key * size + column
    return key


def _count(
    gold: NDArray[Any],
    system: NDArray[Any],
    gold_names: tuple[str, ...],
    system_names: tuple[str, ...],
    times: NDArray[Any] | None = None,
) -> Confusions:
    width = len(system_names) + 1
    pairs, which = np.unique((gold + 1) * width + system + 1, return_inverse=True)
    number = np.bincount(which.reshape(-1), weights=times, minlength=len(pairs)).astype(np.int64)
    rows = []
    for pair, n in zip(pairs.tolist(), number.tolist(), strict=True):
        g, s = divmod(pair, width)
        names = gold_names[g - 1] if g else None, (system_names[s - 1] or None) if s else None
        if names[0] != names[1]:
            rows.append((*names, n))
    return tuple(sorted(rows, key=lambda row: (-row[2], str(row[0]), str(row[1]))))
