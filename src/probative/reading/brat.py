"""Folders of brat: a ``.txt`` and an ``.ann`` for every document, entities by their characters."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from probative.errors import InputError
from probative.reading.annotations import Spans, Text
from probative.reading.source import is_brat_folder, load, snippet

if TYPE_CHECKING:
    from collections.abc import Sequence

    from probative.reading.source import Source

__all__ = ["read_brat"]

_ENTITY = re.compile(r"(?P<id>T\S*)\t(?P<label>\S+) (?P<places>[0-9 ;]+)\t(?P<text>.*)", re.DOTALL)
_PLACE = re.compile(r"([0-9]{1,9}) ([0-9]{1,9})")
_OTHERS = "EARMN#*"  # events, attributes, relations, notes: no entities
_EXAMPLES = 3


def read_brat(path: str | Path, encoding: str | None = None) -> Spans:
    """Read the entities of every document of a folder; relations, events and notes are passed over.

    Entities may nest, overlap and consist of several pieces: they are compared as sets, each by its
    label and all its characters. Every document is a unit.

    Parameters
    ----------
    path
        The folder.
    encoding
        The encoding of its files.
    """
    place = Path(path)
    if not is_brat_folder(place):
        raise InputError("holds no .ann files; expected a folder of brat", path)
    texts: dict[str, Path] = {file.stem: file for file in sorted(place.glob("*.txt"))}
    annotations = {file.stem: file for file in sorted(place.glob("*.ann"))}
    if texts:  # a system may hand in its annotations alone
        _refuse_missing(place, texts, annotations)
    code: dict[str, int] = {}
    shapes: dict[str, int] = {"": 0}
    rows: list[tuple[int, int, int, int, int]] = []
    contents: list[str | None] = []
    pieces = doubled = others = 0
    for number, name in enumerate(annotations):
        content = _content(texts[name], encoding) if texts else None
        contents.append(content)
        own: set[tuple[int, int, int, int, int]] = set()
        found, passed = _entities(annotations[name], content, encoding)
        others += passed
        for label, places in found:
            shape = ";".join(f"{i}-{j}" for i, j in places) if len(places) > 1 else ""
            pieces += len(places) > 1
            row = (
                number,
                places[0][0],
                max(end for _, end in places),
                code.setdefault(label, len(code)),
                shapes.setdefault(shape, len(shapes)),
            )
            doubled += row in own
            own.add(row)
        rows += sorted(own)
    table = np.array(rows, dtype=np.int64).reshape(-1, 5)
    count = len(annotations)
    first = np.concatenate([[0], np.cumsum([len(content or "") for content in contents])])
    text = Text(
        str(path),
        first,
        document=np.arange(count, dtype=np.int32),
        sentences=[content or "" for content in contents] if texts else None,
        names=tuple(annotations),
    )
    notes = [f"{path}: folder of brat, {count} documents, entities by their characters"]
    if pieces:
        notes.append(f"{path}: {pieces} entities of several pieces, compared piece by piece")
    if doubled:
        notes.append(f"{path}: {doubled} entities given twice, counted once")
    if others:
        notes.append(f"{path}: {others} relations, events, attributes and notes passed over")
    return Spans(
        table[:, 0].astype(np.int32),
        table[:, 1],
        table[:, 2],
        table[:, 3].astype(np.int32),
        tuple(code),
        text,
        tuple(notes),
        shape=table[:, 4].astype(np.int32) if pieces else None,
        shapes=tuple(shapes) if pieces else (),
    )


def _refuse_missing(place: Path, texts: dict[str, Path], annotations: dict[str, Path]) -> None:
    for there, needed, kind in ((texts, annotations, ".ann"), (annotations, texts, ".txt")):
        missing = [name for name in there if name not in needed]
        if missing:
            raise InputError(
                f"{len(missing)} of {len(there)} documents have no {kind} "
                f"({_listed(missing)}); expected a .txt and an .ann for each",
                place,
            )


def _listed(names: Sequence[str]) -> str:
    more = ", …" if len(names) > _EXAMPLES else ""
    return ", ".join(map(repr, names[:_EXAMPLES])) + more


def _content(path: Path, encoding: str | None) -> str:
    """The text of a document; every character counts, line ends too."""
    if path.stat().st_size == 0:
        return ""
    try:
        return load(path, encoding=encoding).data.decode()
    except InputError as error:
        if "is empty" in str(error):  # spaces only: a text in which there is nothing
            return path.read_text(encoding or "utf-8")
        raise


def _entities(
    path: Path, content: str | None, encoding: str | None
) -> tuple[list[tuple[str, list[tuple[int, int]]]], int]:
    """Label and pieces of every entity of a document, and how many lines tell something else."""
    entities = []
    others = 0
    if path.stat().st_size == 0:
        return [], 0
    try:
        source = load(path, encoding=encoding)
    except InputError as error:
        if "is empty" in str(error):
            return [], 0
        raise
    for number, raw in enumerate(source.data.decode().split("\n"), start=1):
        line = raw.rstrip("\r")
        if not line.strip():
            continue
        if line[0] in _OTHERS:
            others += 1
            continue
        match = _ENTITY.fullmatch(line)
        places = [] if match is None else _places(match["places"])
        if match is None or not places:
            raise source.error(
                f"{snippet(line.encode())}; expected an entity such as 'T1<TAB>Loc 0 5<TAB>text', "
                f"or '0 5;8 12' of several pieces",
                number,
            )
        if content is not None:
            _check_text(source, number, match, places, content)
        entities.append((match["label"], places))
    return entities, others


def _check_text(
    source: Source,
    number: int,
    match: re.Match[str],
    places: list[tuple[int, int]],
    content: str,
) -> None:
    """Refuse an entity that does not say what the text says there."""
    if places[-1][1] > len(content):
        raise source.error(
            f"entity {match['id']} ends at {places[-1][1]}, but the text has {len(content)} "
            f"characters; expected it inside",
            number,
        )
    said = " ".join(content[i:j] for i, j in places)
    if _squeezed(said) != _squeezed(match["text"]):
        raise source.error(
            f"entity {match['id']} is {snippet(match['text'].encode())}, but the text has "
            f"{snippet(said.encode())} there; expected the same text",
            number,
        )


def _squeezed(text: str) -> str:
    """A text without white space: brat writes a space for a line end, and between pieces."""
    return "".join(text.split())


def _places(text: str) -> list[tuple[int, int]]:
    """The pieces of an entity from left to right; none if they are not some."""
    places = []
    for part in text.split(";"):
        match = _PLACE.fullmatch(part)
        if match is None or int(match[1]) >= int(match[2]):
            return []
        places.append((int(match[1]), int(match[2])))
    places.sort()
    overlapping = any(a[1] > b[0] for a, b in pairwise(places))
    return [] if overlapping else places
