"""Sentences of a column file with a blank in the place of every tag."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from probative.reading.columns import share_of_tags

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from probative.reading.annotations import Text
    from probative.reading.columns import Layout
    from probative.reading.opening import Input

__all__ = ["BLANK", "ColumnBlanks", "open_columns"]

BLANK = "_"  # no tag of any scheme
_KEPT_COMMENTS = (b"# newdoc", b"# sent_id", b"# text =")


@dataclass(frozen=True, eq=False)
class ColumnBlanks:
    """A column file, of which only tokens are written.

    Attributes
    ----------
    shape
        Its lines and columns.
    columns
        The columns that are written, from 0.
    text
        The sentences.
    """

    shape: Layout
    columns: tuple[int, ...]
    text: Text

    @property
    def n_parts(self) -> int:
        """How many sentences there are."""
        return self.text.n_sentences

    @property
    def written(self) -> dict[str, Any]:
        """How an annotated file is to be read."""
        return {"format": "columns", "column": -1, "blank": BLANK}

    def write(self, parts: NDArray[Any]) -> str:
        """The lines of some sentences, with a last column for tags that is blank."""
        between = "\t" if self.shape.table.tabs else " "
        documents, lines, last = self.text.document, [], None
        for part in parts.tolist():
            document = None if documents is None else int(documents[part])
            if document is not None and document != last:
                lines += self._document_line(document, between)
                last = document
            lines += [*self._comments(part), *self._tokens(part, between), ""]
        return "\n".join(lines) + "\n"

    def _tokens(self, part: int, between: str) -> list[str]:
        data = self.shape.table.source.data
        low, high = self.text.first[part : part + 2].tolist()
        rows = (
            [data[start[i] : end[i]].decode() for start, end in self._fields]
            for i in range(low, high)
        )
        return [between.join([*row, BLANK]) for row in rows]

    @cached_property
    def _fields(self) -> list[Any]:
        """The bytes of every field that is written, column by column."""
        return [self.shape.table.column(column, self.shape.rows) for column in self.columns]

    def _comments(self, part: int) -> list[str]:
        """What tells the sentence, of a file whose comments are known to be some."""
        if not self.shape.numbered:
            return []
        lines = self.text.raw(part).split(b"\n")
        kept = [line for line in lines if line.startswith(_KEPT_COMMENTS)]
        return [
            line.decode().rstrip("\r") for line in kept if not line.startswith(_KEPT_COMMENTS[0])
        ]

    def _document_line(self, document: int, between: str) -> list[str]:
        if not self.shape.numbered:
            width = len(self.columns) + 1
            return [between.join(["-DOCSTART-", *[BLANK] * (width - 1)]), ""]
        documents: Any = self.text.document
        first = int(np.argmax(documents == document))
        lines = self.text.raw(first).split(b"\n")
        named = next((line for line in lines if line.startswith(_KEPT_COMMENTS[0])), b"# newdoc")
        return [named.decode().rstrip("\r")]


def open_columns(opened: Input, keep: Sequence[int | str], *, is_output: bool) -> ColumnBlanks:
    """Find the tokens of a column file.

    Parameters
    ----------
    opened
        The file.
    keep
        Further columns to be written, by their numbers from 1.
    is_output
        Whether it is the output of a system: a single column then holds tags.
    """
    shape = opened.layout
    token = shape.token_column
    if token is None and is_output:
        raise opened.source.error(
            "holds tags and no tokens; expected the tokens of the pool in a file of their own"
        )
    token = token or 0
    if shape.width > 1 and share_of_tags(shape, token) > 0.5:
        raise opened.source.error(
            f"column {token + 1} holds tags, where tokens are expected; expected the tokens first"
        )
    start, end = shape.table.column(token, shape.rows)
    text = replace(shape.text, start=start, end=end)
    numbers = [0] if shape.numbered and token else []
    more = [_kept(opened, column) for column in keep]
    return ColumnBlanks(shape, tuple(dict.fromkeys([*numbers, token, *more])), text)


def _kept(opened: Input, column: int | str) -> int:
    """A further column that is to be written, unless it holds tags."""
    shape, source = opened.layout, opened.source
    number = int(column) if str(column).lstrip("-").isdecimal() else 0
    place = number - 1 if number > 0 else shape.width + number
    if number == 0 or not 0 <= place < shape.width:
        raise source.error(f"there is no column {column}; expected 1 to {shape.width} for keep=")
    asked = opened.options.tag_column
    tagged = isinstance(asked, int) and place == (asked - 1 if asked > 0 else shape.width + asked)
    if place != shape.token_column and (tagged or share_of_tags(shape, place) > 0.5):
        raise source.error(
            f"column {column} holds tags, which annotators must not see; expected others for keep="
        )
    return place
