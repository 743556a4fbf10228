"""N-gram features of tokens or characters in a window."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from probative.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["columns_of", "window_features"]

_BEFORE, _AFTER = "\x02", "\x03"  # stand for what lies outside the sentence
_BETWEEN = "\t"  # no token holds one


def columns_of(sentence: Any, number: int) -> list[Sequence[str]]:
    """The columns of a sentence: its characters, its words, or words and tags of each token.

    Parameters
    ----------
    sentence
        A string, a list of words, or a list of equally long tuples of strings.
    number
        Which sentence this is, from 0, for messages.
    """
    if isinstance(sentence, str):
        return [sentence]
    tokens = list(sentence)
    if all(isinstance(token, str) for token in tokens):
        return [tokens]
    try:
        if any(isinstance(token, str) for token in tokens):
            raise TypeError
        columns: list[Sequence[str]] = [list(column) for column in zip(*tokens, strict=True)]
    except (TypeError, ValueError):
        columns = []
    if not columns or not all(isinstance(value, str) for column in columns for value in column):
        raise InputError(
            f"sentences: sentence {number + 1} is {_shown(sentence)}; expected a string, a list of "
            f"words, or a list of equally long tuples of strings"
        )
    return columns


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:60] + "…"


def window_features(
    columns: Sequence[Sequence[str]], *, window: int, ngrams: Sequence[int]
) -> list[tuple[str, ...]]:
    r"""The features of every token: all n-grams of each column that lie in the window.

    Parameters
    ----------
    columns
        The values of the tokens, one sequence per column.
    window
        How many tokens to the left and to the right are seen.
    ngrams
        Lengths of n-grams: 1, 2 and 3 for uni-, bi- and trigrams.

    Examples
    --------
    >>> for features in window_features([["to", "be"]], window=1, ngrams=[1, 2]):
    ...     print([feature.replace("\t", "|") for feature in features])
    ['0-1=\x02', '0+0=to', '0+1=be', '0-1,2=\x02|to', '0+0,2=to|be']
    ['0-1=to', '0+0=be', '0+1=\x03', '0-1,2=to|be', '0+0,2=be|\x03']
    """
    length = len(columns[0]) if columns else 0
    templates = []
    for number, column in enumerate(columns):
        padded = [_BEFORE] * window + list(column) + [_AFTER] * window
        for size in ngrams:
            parts = [padded[i : len(padded) - size + 1 + i] for i in range(size)]
            grams = (
                padded if size == 1 else [_BETWEEN.join(gram) for gram in zip(*parts, strict=True)]
            )
            for start in range(2 * window + 2 - size):
                prefix = f"{number}{start - window:+d}" + (f",{size}=" if size > 1 else "=")
                templates.append([prefix + gram for gram in grams[start : start + length]])
    return list(zip(*templates, strict=True))
