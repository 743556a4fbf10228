"""What is not looked at is left out of every side: tokens without a tag, texts not accepted."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from probative.errors import InputError
from probative.reading.rows import IGNORED

if TYPE_CHECKING:
    from collections.abc import Sequence

    from probative._types import Mask
    from probative.reading.annotations import Spans, Tagged, Text

__all__ = ["without_ignored_tokens", "without_left_out_texts"]


def without_ignored_tokens(answer: Tagged, systems: Sequence[Tagged]) -> list[Tagged]:
    """The same sides without the tokens that the answer has no tag for.

    Parameters
    ----------
    answer, systems
        Sides of as many tokens; a system may have tags where the answer has none, not the reverse.
    """
    if not any(IGNORED in side.names for side in (answer, *systems)):
        return [answer, *systems]
    kept = _tagged(answer)
    for system in systems:
        if len(system.tags) != len(answer.tags):
            return [answer, *systems]  # which the alignment complains about
        lacking = np.flatnonzero(kept & ~_tagged(system))
        if len(lacking):
            raise system.text.error(
                f"{len(lacking)} tokens have no tag (-100), but one in {answer.text.name}; "
                f"expected a tag for each of these",
                int(lacking[0]),
            )
    if not kept.any():
        raise InputError("all tags are -100; expected at least one tag", answer.text.name)
    return [_keep_tokens(side, kept) for side in (answer, *systems)]


def _tagged(side: Tagged) -> Mask:
    """Which tokens have a tag."""
    named = np.array([name != IGNORED for name in side.names], dtype=bool)
    return np.asarray(named[side.tags])


def _keep_tokens(side: Tagged, kept: Mask) -> Tagged:
    text = side.text
    first = np.concatenate([[0], np.cumsum(kept)])[text.first]
    sentences = None
    if text.sentences is not None:
        sentences = [
            [word for word, keep in zip(words, kept[begin:end].tolist(), strict=True) if keep]
            for words, begin, end in zip(
                text.sentences, text.first[:-1].tolist(), text.first[1:].tolist(), strict=True
            )
        ]
    row = None if text.row is None else text.row[kept]
    names = tuple(name if name != IGNORED else "O" for name in side.names)  # of which none is left
    return replace(
        side,
        text=replace(text, first=first, row=row, sentences=sentences),
        tags=side.tags[kept],
        names=names,
    )


def without_left_out_texts(sides: Sequence[Spans]) -> tuple[list[Spans], tuple[str, ...]]:
    """The same sides without the texts that one of them has no answer for; and what was done.

    A system may have an output for the texts with an answer only.
    """
    masks = [_left_out(side.text) for side in sides]
    if not any(mask.any() for mask in masks):
        return list(sides), ()
    number = max(side.n_sentences for side in sides)
    full = [mask for side, mask in zip(sides, masks, strict=True) if side.n_sentences == number]
    out = np.any(full, axis=0)
    rest = number - int(out.sum())
    if not rest:
        raise InputError("no text has an answer; expected at least one", sides[0].text.name)
    kept = []
    for side in sides:
        if side.n_sentences == number:
            kept.append(_keep_texts(side, ~out))
        else:
            kept.append(side)  # of as many texts as are left, or the alignment says so
    note = f"{number - rest} of {number} texts are left out, as they were not accepted"
    return kept, (note,)


def _left_out(text: Text) -> Mask:
    if text.left_out is None:
        return np.zeros(text.n_sentences, dtype=bool)
    return text.left_out


def _keep_texts(side: Spans, kept: Mask) -> Spans:
    number = np.cumsum(kept) - 1
    mine = kept[side.sentence]
    text = side.text
    lengths = text.lengths[kept]
    rows: Any = text.row
    texts = text.sentences
    return replace(
        side,
        sentence=number[side.sentence[mine]].astype(np.int32),
        start=side.start[mine],
        end=side.end[mine],
        label=side.label[mine],
        shape=None if side.shape is None else side.shape[mine],
        text=replace(
            text,
            first=np.concatenate([[0], np.cumsum(lengths)]),
            row=rows[kept] if rows is not None and len(rows) == len(kept) else None,
            sentences=None if texts is None else [texts[i] for i in np.flatnonzero(kept).tolist()],
            document=None if text.document is None else text.document[kept],
            left_out=None,
        ),
    )
