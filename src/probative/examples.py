"""What to look at: the sentences on which systems differ, and the labels they confuse."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from probative.matching.confusion import label_confusions, span_confusions
from probative.results import Example

if TYPE_CHECKING:
    from collections.abc import Sequence

    from probative.matching.evidence import Evidence

__all__ = ["confusions_of", "examples_of"]

_PAIRS, _SENTENCES, _LONGEST = 3, 8, 2000


def examples_of(evidence: Evidence, pairs: Sequence[tuple[int, int]]) -> tuple[Example, ...]:
    """The sentences on which the first pairs of systems differ most, the widest gaps first."""
    if evidence.task == "labels" or not evidence.systems:
        return ()  # nothing to show: labels have no text, and figures alone have none either
    found: list[Example] = []
    for i, j in pairs[:_PAIRS]:
        paired = evidence.items.paired(i, j, by="sentence")
        errors = [(c.fp + c.fn).astype(int) for c in (paired.a, paired.b)]
        gap = np.abs(errors[0] - errors[1])
        # of equal gaps, first the sentences on which more spans are in dispute
        order = np.lexsort((-paired.cases[:, :4].sum(axis=1), -gap))
        found += [
            _example(evidence, i, j, sentence, errors)
            for sentence in order[:_SENTENCES].tolist()
            if gap[sentence]
        ]
    return tuple(found)


def _example(evidence: Evidence, i: int, j: int, sentence: int, errors: Any) -> Example:
    sides = (evidence.gold, evidence.systems[i], evidence.systems[j])
    if evidence.task == "segmentation":
        sides = tuple(side.spans() for side in sides)
    gold, a, b = (tuple(side.of(sentence)) for side in sides)
    words = tuple(sides[0].text.words(sentence))
    if evidence.task == "segmentation" or sum(map(len, words)) == len(words) > 1:
        separator = ""  # characters, not words
    else:
        separator = " "
    return Example(
        evidence.names[i],
        evidence.names[j],
        sentence + 1,
        _shortened(words),
        separator,
        gold,
        a,
        b,
        int(errors[0][sentence]),
        int(errors[1][sentence]),
    )


def _shortened(words: Sequence[str]) -> tuple[str, ...]:
    """A sentence that a reader can take in, with signs of what was left out."""
    shown = [word if len(word) <= _LONGEST else word[:_LONGEST] + "…" for word in words[:_LONGEST]]
    return (*shown, "…") if len(words) > _LONGEST else tuple(shown)


def confusions_of(evidence: Evidence) -> tuple[Any, ...]:
    """For each system the pairs of labels that it takes for each other."""
    if evidence.task == "segmentation":
        return ()
    find: Any = label_confusions if evidence.task == "labels" else span_confusions
    return tuple(find(evidence.gold, system) for system in evidence.systems)
