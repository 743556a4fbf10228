"""Files of the HIPE shared tasks: a token per line with nine columns, named in the first line."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from probative.errors import InputError
from probative.reading.annotations import Tagged, Text
from probative.reading.source import snippet

if TYPE_CHECKING:
    from probative.reading.source import Source

__all__ = ["is_hipe", "read_hipe"]

_FIRST = b"TOKEN\tNE-COARSE-LIT"
_DOCUMENT = "# document_id"
_HYPHEN_IN = "NE-"
_END = "EndOfSentence"
_USUAL = "NE-COARSE-LIT"


def is_hipe(source: Source) -> str | None:
    """What shows that a file is one of HIPE, or None."""
    if source.data.lstrip().startswith(_FIRST):
        return "its first line names the columns TOKEN, NE-COARSE-LIT and others"
    return None


def read_hipe(source: Source, column: str | int | None = None) -> Tagged:
    """Read the tags of one column; documents begin at ``# document_id``.

    A line that begins with ``# `` is a comment, also where TABs fill it up. Cells that a short row
    lacks are underscores, and such rows are counted in a note. Sentences end where the last column
    says so (EndOfSentence), or at an empty line; in files that mark neither, a document is one. An
    underscore is a missing tag: the token is outside.

    Parameters
    ----------
    source
        The file.
    column
        The column of the tags by name or by its number from 1; NE-COARSE-LIT by default.
    """
    lines = source.data.decode().split("\n")
    header = next((i for i, line in enumerate(lines) if line.strip()), None)
    if header is None:
        raise source.error("holds nothing but blank lines; expected the names of columns")
    names = lines[header].rstrip("\r").split("\t")
    place = _place(source, names, column)
    misc = names.index("MISC") if "MISC" in names else None
    tokens: list[str] = []
    tags: list[str] = []
    rows: list[int] = []
    begins: list[int] = []  # of sentences
    documents: list[int] = []  # of every sentence
    short: list[int] = []  # lines that lack cells
    fresh, document, unmarked = True, -1, 0
    for number, raw in enumerate(lines[header + 1 :], start=header + 1):
        line = raw.rstrip("\r")
        if line.startswith("# "):
            if line.startswith(_DOCUMENT):
                document += 1
                fresh = True
            continue
        if not line.strip():
            fresh = True
            continue
        cells = line.split("\t")
        if len(cells) < len(names):
            short.append(number + 1)
            cells += ["_"] * (len(names) - len(cells))
        if any(cells[len(names) :]):
            raise source.error(
                f"{snippet(line.encode())} has {len(cells)} columns between TABs; expected "
                f"{len(names)}, as in the first line",
                number + 1,
            )
        if fresh:
            begins.append(len(tokens))
            documents.append(max(document, 0))
            fresh = False
        unmarked += cells[place] == "_"
        tokens.append(cells[0])
        tags.append("O" if cells[place] == "_" else cells[place])
        rows.append(number)
        fresh = misc is not None and _END in cells[misc].split("|")
    if not tokens:
        raise source.error("holds no tokens; expected at least one below the names of the columns")
    if unmarked == len(tokens):
        raise source.error(f"column {names[place]!r} is empty (_ everywhere); expected tags")
    code: dict[str, int] = {}
    codes = np.array([code.setdefault(tag, len(code)) for tag in tags], dtype=np.int32)
    first = np.array([*begins, len(tokens)], dtype=np.int64)
    ends = first.tolist()
    text = Text(
        source.name,
        first,
        row=np.array(rows, dtype=np.int32),
        document=np.array(documents, dtype=np.int32) if document >= 0 else None,
        sentences=[tokens[i:j] for i, j in pairwise(ends)],
    )
    note = f"{source.name}: HIPE, tags in column {names[place]!r}"
    if unmarked:
        note += f", {unmarked} tokens without one (_), taken to be outside"
    notes = [note]
    if short:
        notes.append(
            f"{source.name}: {len(short)} rows lack cells, which are taken as _; the first is line "
            f"{short[0]}"
        )
    return Tagged(text, codes, tuple(code), tuple(notes))


def _place(source: Source, names: list[str], column: str | int | None) -> int:
    """The column of the tags, from 0."""
    wanted: Any = _USUAL if column is None else column
    if isinstance(wanted, str) and wanted in names:
        return names.index(wanted)
    number = int(wanted) if str(wanted).lstrip("-").isdigit() else 0
    if 1 <= abs(number) <= len(names):
        return number - 1 if number > 0 else len(names) + number
    listed = ", ".join(name for name in names if name.startswith(_HYPHEN_IN))
    raise InputError(f"there is no column {wanted!r}; expected one of {listed}", source.name)
