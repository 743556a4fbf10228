"""Kinds of items that people ask about: short and long ones, seen and unseen, frequent and rare."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from probative.errors import InputError
from probative.reading.annotations import Segmented, Spans

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from probative.matching.items import Items
    from probative.matching.matched import Matched

    Codes = NDArray[np.int64]

__all__ = ["Bucketing", "bucketings_of"]

_SHORT = (1, 2, 3, 4)  # lengths at which buckets of spans begin, where most are so short
_FEW_LABELS = 4
_SEEN = "presence in training"


@dataclass(frozen=True, eq=False)
class Bucketing:
    """A way to part the items.

    Attributes
    ----------
    kind
        What they are parted by.
    names
        The buckets, in order.
    code
        The bucket of every item as its place in `names`.
    """

    kind: str
    names: tuple[str, ...]
    code: Codes

    def parts(self, items: Items) -> Iterator[tuple[str, Items]]:
        """Every bucket with its items."""
        for number, name in enumerate(self.names):
            yield name, items.where(self.code == number)


def bucketings_of(matched: Matched, train: Any = None) -> tuple[Bucketing, ...]:
    """Every way to part the items of a comparison that tells more than the whole does.

    That is, one that gives several buckets; and whether they were seen in training, if that is
    known: nobody expects that all were, or none.

    Parameters
    ----------
    matched
        The items, and what they were made from.
    train
        The training data as annotations, or None; for words it is the lexicon of `matched`.
    """
    items = matched.items
    bucketings = []
    if matched.task == "samples":
        return ()
    if matched.task != "labels" and items.start is not None and items.end is not None:
        what = "word length" if matched.task == "segmentation" else "entity length"
        bucketings.append(_lengths(what, items, items.end - items.start))
        sentences = matched.gold.lengths if matched.task == "segmentation" else _lengths_of(matched)
        if sentences is not None:
            bucketings.append(_lengths("sentence length", items, sentences[items.unit]))
        known = _known_texts(matched, train)
        if known is not None:
            unseen = np.array([text not in known for text in _texts(matched)], dtype=np.int64)
            bucketings.append(_named(_SEEN, unseen, ["seen", "not seen"]))
    if matched.task != "segmentation":
        bucketings.append(_label_frequency(items, train))
    return tuple(each for each in bucketings if len(each.names) > 1 or each.kind == _SEEN)


def _lengths_of(matched: Matched) -> NDArray[Any] | None:
    """How many tokens (or characters) every sentence has, where that is known."""
    lengths = np.asarray(matched.gold.text.lengths)
    return lengths if lengths.any() else None


def _lengths(kind: str, items: Items, length: NDArray[Any]) -> Bucketing:
    """Single lengths where most are short, else quarters of the answer's items."""
    own = length[items.answer]
    short = len(own) and np.median(own) <= _SHORT[1]
    return _ranges(kind, length, list(_SHORT) if short else _quarters(own))


def _label_frequency(items: Items, train: Any) -> Bucketing:
    """Quarters of the labels, by how often they occur in training, or else in the answer."""
    kind = f"label frequency in {'the answer' if train is None else 'training'}"
    if train is None:
        number = items.positives_by_label
    else:
        names, codes = _labels_of(train)
        times = dict(zip(names, np.bincount(codes, minlength=len(names)).tolist(), strict=True))
        number = np.array([times.get(label, 0) for label in items.labels], dtype=np.int64)
    used = number[items.uses()]
    # of a few labels each has its own line already
    starts = _quarters(used) if len(used) > _FEW_LABELS else []
    return _ranges(kind, number[items.label], starts)


def _quarters(values: NDArray[Any]) -> list[int]:
    """Where four parts of about equal size begin; fewer, where values repeat."""
    if not len(values):
        return []
    cuts = np.quantile(values, (0.25, 0.5, 0.75), method="inverted_cdf").tolist()
    return sorted({int(values.min()), *(int(cut) + 1 for cut in cuts if cut < values.max())})


def _ranges(kind: str, value: NDArray[Any], starts: list[int]) -> Bucketing:
    """The items by a whole number, in ranges that begin at these; the last one is open."""
    if not starts:
        return Bucketing(kind, (), np.empty(0, dtype=np.int64))
    # what only systems have may be shorter than anything in the answer
    starts = [min(starts[0], int(value.min())), *starts[1:]]
    ends = [start - 1 for start in starts[1:]]
    names = [f"{a:,}" if a == b else f"{a:,} to {b:,}" for a, b in zip(starts, ends, strict=False)]
    longer = int(value.max()) > starts[-1]
    names.append(f"{starts[-1]:,} and more" if longer else f"{starts[-1]:,}")
    return _named(kind, np.searchsorted(starts, value, side="right") - 1, names)


def _labels_of(train: Any) -> tuple[tuple[str, ...], Any]:
    return (train.labels, train.label) if isinstance(train, Spans) else (train.names, train.codes)


def _named(kind: str, code: NDArray[Any], names: list[str]) -> Bucketing:
    """Leave out the buckets in which there is nothing."""
    there = np.bincount(code, minlength=len(names)) > 0
    kept = tuple(name for name, is_there in zip(names, there.tolist(), strict=True) if is_there)
    return Bucketing(kind, kept, (np.cumsum(there) - 1)[code])


def _known_texts(matched: Matched, train: Any) -> set[str] | None:
    """What the training data have as a word or as an entity, whatever its label."""
    if matched.task == "segmentation":
        lexicon: Segmented | None = matched.lexicon
        if lexicon is None:
            return None
        return {word for k in range(lexicon.n_sentences) for word in lexicon.words(k)}
    if train is None:
        return None
    if not isinstance(train, Spans) or (len(train) and not train.text.words(0)):
        raise InputError("train: has no words to be seen; expected a file of tagged tokens")
    if not any(map(len, map(matched.gold.text.words, range(min(5, matched.gold.n_sentences))))):
        raise InputError(
            "train: the answer has no words to be looked up; expected a file of tokens"
        )
    return set(_texts_of(train.text, train.sentence, train.start, train.end))


def _texts(matched: Matched) -> Iterator[str]:
    """What every item says."""
    gold, items = matched.gold, matched.items
    text = gold.spans().text if isinstance(gold, Segmented) else gold.text
    return _texts_of(text, items.unit, items.start, items.end)


def _texts_of(text: Any, sentence: Any, start: Any, end: Any) -> Iterator[str]:
    """The words of spans as one string each; a sentence is looked up once for its neighbours."""
    last: int = -1
    words: Any = ()
    places = zip(sentence.tolist(), start.tolist(), end.tolist(), strict=True)
    for number, first, stop in places:
        if number != last:
            last, words = number, text.words(number)
        own = words[first:stop]
        yield own if isinstance(own, str) else " ".join(own)
