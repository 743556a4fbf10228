"""What to look at: the sentences on which systems differ, and the labels they confuse."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from probative.matching.confusion import label_confusions, span_confusions
from probative.reading.annotations import LabelSets
from probative.results import Example, LabelExample

if TYPE_CHECKING:
    from collections.abc import Sequence

    from probative.matching.matched import Matched

__all__ = ["confusions_of", "examples_of"]

_PAIRS, _SENTENCES = 3, 8
_TOKENS, _BEFORE, _LONGEST = 300, 30, 200  # shown of a sentence, before the dispute, of a token
_LETTERS = 1000  # shown of a text


def examples_of(
    matched: Matched, pairs: Sequence[tuple[int, int]]
) -> tuple[Example | LabelExample, ...]:
    """The sentences on which the first pairs of systems differ most, the widest gaps first.

    Of labels, texts on which one of two systems is right, where the table has texts.
    """
    if not matched.systems:
        return ()  # nothing to show: figures alone have no text
    if matched.task in ("labels", "samples"):
        return _label_examples(matched, pairs)
    examples: list[Example] = []
    for i, j in pairs[:_PAIRS]:
        paired = matched.items.paired(i, j, by="sentence")
        errors = [np.asarray(c.fp + c.fn).astype(int) for c in (paired.a, paired.b)]
        gap = np.abs(errors[0] - errors[1])
        # of equal gaps, first the sentences on which more spans are in dispute
        order = np.lexsort((-paired.cases[:, :4].sum(axis=1), -gap))
        examples += [
            _example(matched, i, j, sentence, errors)
            for sentence in order[:_SENTENCES].tolist()
            if gap[sentence]
        ]
    return tuple(examples)


def _label_examples(matched: Matched, pairs: Sequence[tuple[int, int]]) -> tuple[LabelExample, ...]:
    """Of each pair as many texts that only one has right as that only the other has."""
    texts = matched.gold.texts() if matched.gold.texts is not None else ()
    if not len(texts):
        return ()
    everyone = (matched.gold, *matched.systems)
    gold, *given = (_labels_of(side) for side in everyone)
    examples = []
    for i, j in pairs[:_PAIRS]:
        right = [given[k] == gold for k in (i, j)]
        chosen = [np.flatnonzero(right[k] & ~right[1 - k])[: _SENTENCES // 2] for k in (0, 1)]
        examples += [
            LabelExample(
                matched.names[i],
                matched.names[j],
                k + 1,
                texts[k] if len(texts[k]) <= _LETTERS else texts[k][:_LETTERS] + "…",
                gold[k],
                given[i][k],
                given[j][k],
            )
            for k in np.concatenate(chosen).tolist()
        ]
    return tuple(examples)


def _labels_of(side: Any) -> Any:
    """The label of every item, or all of them in one line."""
    names = np.array(side.names, dtype=object)
    if not isinstance(side, LabelSets):
        return names[side.codes]
    ends = np.searchsorted(side.item, np.arange(len(side) + 1)).tolist()
    joined = [", ".join(names[side.codes[i:j]]) for i, j in pairwise(ends)]
    return np.array(joined, dtype=object)


def _example(matched: Matched, i: int, j: int, sentence: int, errors: Any) -> Example:
    sides = (matched.gold, matched.systems[i], matched.systems[j])
    if matched.task == "segmentation":
        sides = tuple(side.spans() for side in sides)
    gold, a, b = (tuple(side.of(sentence)) for side in sides)
    words = sides[0].text.words(sentence)
    last = max((end for _, end, _ in (*gold, *a, *b)), default=0)
    start = _window(gold, a, b, max(len(words), last))  # lists of tags come without words
    if matched.task == "segmentation" or sum(map(len, words)) == len(words) > 1:
        separator = ""  # characters, not words
    else:
        separator = " "
    return Example(
        matched.names[i],
        matched.names[j],
        sentence + 1,
        _shown_words(words, start),
        separator,
        _shown_spans(gold, start),
        _shown_spans(a, start),
        _shown_spans(b, start),
        int(errors[0][sentence]),
        int(errors[1][sentence]),
    )


def _window(gold: Sequence[Any], a: Sequence[Any], b: Sequence[Any], length: int) -> int:
    """The first token to be shown: some way before the first span that one of the two has."""
    if length <= _TOKENS:
        return 0
    right = set(gold)
    disputed = (set(a) & right) ^ (set(b) & right) or set(a) ^ set(b)
    first = min((start for start, _, _ in disputed), default=0)
    return max(0, min(first - _BEFORE, length - _TOKENS))


def _shown_words(words: Sequence[str], start: int) -> tuple[str, ...]:
    """A sentence that a reader can take in, with signs of what was left out."""
    shown = [
        word if len(word) <= _LONGEST else word[:_LONGEST] + "…"
        for word in words[start : start + _TOKENS]
    ]
    if start and shown:
        shown[0] = f"… {shown[0]}"
    return (*shown, "…") if len(words) > start + _TOKENS else tuple(shown)


def _shown_spans(spans: Sequence[Any], start: int) -> tuple[tuple[int, int, str], ...]:
    """The spans of the tokens that are shown, counted from the first of these."""
    return tuple(
        (first - start, end - start, label)
        for first, end, label in spans
        if first < start + _TOKENS and end > start
    )


def confusions_of(matched: Matched) -> tuple[Any, ...]:
    """For each system the pairs of labels that it takes for each other."""
    if matched.task in ("segmentation", "samples"):
        return ()
    if isinstance(matched.gold, LabelSets):
        return ()  # of sets, nobody knows which label was given instead of which
    find: Any = label_confusions if matched.task == "labels" else span_confusions
    return tuple(find(matched.gold, system) for system in matched.systems)
