"""Words of a text as boundaries between its characters, and back.

Spaces (the blank, control spaces, U+3000) are no characters here: a text of n others has n - 1
inner positions, and a word may begin at each.
"""

from __future__ import annotations

from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, Any

from probative.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

__all__ = [
    "SPACES",
    "beginnings",
    "check_texts",
    "from_spans",
    "split",
    "to_spans",
    "without_spaces",
]

SPACES = " \t\n\x0b\x0c\r\u3000"
_NO_SPACES = dict.fromkeys(map(ord, SPACES))


def without_spaces(text: str) -> str:
    """The characters of a text."""
    return text.translate(_NO_SPACES)


def beginnings(words: Iterable[str]) -> list[int]:
    """Where words begin among the characters, but for the first; and where the last one ends."""
    return list(accumulate(len(word) for word in words))


def split(text: str, begins: Iterable[Any]) -> list[str]:
    """Cut a text into words.

    Parameters
    ----------
    text
        With or without spaces; the words have none.
    begins
        For every inner position whether a word begins there.

    Examples
    --------
    >>> split("to be", [False, True, False])
    ['to', 'be']
    """
    characters = without_spaces(text)
    if not characters:
        return []
    places = [0, *(i for i, yes in enumerate(begins, start=1) if yes), len(characters)]
    return [characters[start:end] for start, end in pairwise(places)]


def to_spans(text: str, words: Iterable[str], label: str = "word") -> list[tuple[int, int, str]]:
    """Words as (start, end, label) in a text with its spaces.

    Examples
    --------
    >>> to_spans("to be", ["to", "be"])
    [(0, 2, 'word'), (3, 5, 'word')]
    """
    at = [i for i, character in enumerate(text) if character not in SPACES]
    places = pairwise([0, *beginnings(words)])
    return [(at[start], at[end - 1] + 1, label) for start, end in places]


def from_spans(text: str, spans: Iterable[tuple[int, int, str]]) -> list[str]:
    """Words from (start, end, label) in a text with its spaces.

    What lies between two spans is a word, too: no character is lost.

    Examples
    --------
    >>> from_spans("to be!", [(0, 2, "word"), (3, 5, "word")])
    ['to', 'be', '!']
    """
    edges = {edge for start, end, _ in spans for edge in (start, end)}
    begins, pending = [], False
    for place, character in enumerate(text):
        pending = pending or place in edges
        if character not in SPACES:
            begins.append(pending)
            pending = False
    return split(text, begins[1:])


def check_texts(
    sentences: Sequence[Sequence[str]], texts: Sequence[str] | None, name: str = "texts"
) -> list[str]:
    """The texts behind sentences of words: as given, if they tell the same characters.

    Parameters
    ----------
    sentences
        Lists of words.
    texts
        The texts with their spaces; None for words that are written together.
    name
        What messages call them.
    """
    joined = ["".join(words) for words in sentences]
    if texts is None:
        return joined
    if len(texts) != len(joined):
        raise InputError(f"{name}: {len(texts)} for {len(joined)} sentences; expected one each")
    for number, (text, together) in enumerate(zip(texts, joined, strict=True), start=1):
        if without_spaces(text) != without_spaces(together):
            raise InputError(
                f"{name}: sentence {number} is {text[:40]!r}, but its words tell "
                f"{together[:40]!r}; expected the same but for spaces"
            )
    return list(texts)
