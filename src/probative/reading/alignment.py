"""Align rows: the same sentences and tokens, or the same ids."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest

import numpy as np

from probative.errors import InputError
from probative.reading.annotations import Labels, LabelSets, RowIds, Text, codes_in
from probative.reading.fields import equal
from probative.reading.source import quoted, refuse_others, some_of, where_they_differ

ALIGNMENTS = ("tokens", "position", "characters")


def align(gold: Text, other: Text, *, by: str = "tokens") -> tuple[str, ...]:
    """Refuse texts whose tokens differ; with ``by="position"`` only note how many do."""
    if gold is other:
        return ()
    if gold.names is not None and other.names is not None:
        refuse_others("documents", gold.name, gold.names, other.name, other.names)
    _same_shape(gold, other, by)
    if gold.sentences is not None and other.sentences is not None:
        return _same_sentences(gold, other, by)
    if gold.tokens is None or other.tokens is None:
        return ()
    different = np.flatnonzero(~equal(*gold.tokens, other.tokens))
    if not len(different):
        return ()
    if by == "position":
        plural = "s differ" if len(different) > 1 else " differs"
        return (f"{other.name}: {len(different)} token{plural} from {gold.name}",)
    sentence = int(np.searchsorted(gold.first, different[0], side="right")) - 1
    raise _other_token(gold, other, sentence, int(different[0] - gold.first[sentence]))


def _same_shape(gold: Text, other: Text, by: str) -> None:
    by_text = gold.sentences is not None and other.sentences is not None
    if by_text and by == "position" and gold.n_sentences and other.n_sentences:
        by_text = isinstance(gold.words(0), str) or isinstance(other.words(0), str)
    n = min(gold.n_sentences, other.n_sentences)
    wrong = np.flatnonzero(gold.lengths[:n] != other.lengths[:n])
    if by_text or not gold.n_tokens or not other.n_tokens:
        wrong = wrong[:0]  # lengths are compared with the words, or are unknown
    place = ""
    if len(wrong):
        i = int(wrong[0])
        here, there = int(other.lengths[i]), int(gold.lengths[i])
        place = f"sentence {i + 1} has {here} tokens, but {there} at {_place(gold, i, 0)}"
    if gold.n_sentences != other.n_sentences:
        first = f"; the first that differs: {place}" if place else ""
        problem = f"{other.n_sentences} sentences, but {gold.name} has {gold.n_sentences}"
        raise InputError(f"{problem}; expected the same number{first}", other.name)
    if place:
        raise other.error_at(f"{place}; expected sentences of the same tokens", int(wrong[0]), 0)


def _same_sentences(gold: Text, other: Text, by: str) -> tuple[str, ...]:
    different = [i for i in range(gold.n_sentences) if list(gold.words(i)) != list(other.words(i))]
    if not different:
        return ()
    first = different[0]
    if by == "position":
        return (f"{other.name}: {len(different)} texts differ from {gold.name}",)
    expected, given = gold.words(first), other.words(first)
    if not isinstance(expected, str) and not isinstance(given, str):
        pairs = enumerate(zip_longest(expected, given))
        at = next(place for place, (mine, theirs) in pairs if mine != theirs)
        raise _other_token(gold, other, first, at)
    own, right = (w if isinstance(w, str) else " ".join(w) for w in (given, expected))
    here, there = where_they_differ(own, right)
    problem = f"text {first + 1} is {here}, but {there} in {gold.name}; expected the same text"
    accepted = "(align_by='position' accepts others)"
    raise InputError(f"{problem} {accepted}", other.name, other.line_of(first))


def _other_token(gold: Text, other: Text, sentence: int, at: int) -> InputError:
    """Return an error at the first token of a sentence that differs, which shows both."""
    both = [text.words(sentence) for text in (gold, other)]
    expected, given = (words[at] if at < len(words) else None for words in both)
    there = _place(gold, sentence, at)
    if given is None or expected is None:
        shown, _ = where_they_differ(str(given if expected is None else expected), "")
        where = f"is not in {there}" if expected is None else f"of {there} is missing"
        message = f"token {shown} {where}; expected sentences of the same tokens"
    else:
        here, correct = where_they_differ(given, expected)
        message = f"token {here}, gold has {correct} (align_by='position' ignores tokens)"
    return other.error_at(message, sentence, at)


def _place(text: Text, sentence: int, at: int) -> str:
    line = text.line_at(sentence, at)
    place = f", sentence {sentence + 1}, token {at + 1}" if line is None else f":{line}"
    return text.name + place


def align_rows(
    gold: Labels | LabelSets, other: Labels | LabelSets, name: str, *, by: str = "tokens"
) -> tuple[str, ...]:
    """Refuse tables whose rows have different ids; note them with ``by="position"``."""
    mine, theirs = gold.aligned, other.aligned
    if not isinstance(mine, RowIds) or not isinstance(theirs, RowIds) or len(gold) != len(other):
        return ()
    if mine.column != theirs.column:
        what = f"its {theirs.column!r} is not compared with the {mine.column!r} of {gold.name}"
        return (f"{name}: rows are paired by their places: {what}",)
    same = codes_in(mine.names, theirs.names)[theirs.codes]
    different = np.flatnonzero(same != mine.codes)
    if not len(different):
        return ()
    number, column = len(different), mine.column
    if by == "position" or not (same >= 0).any():
        nothing = "" if (same >= 0).any() else ", none of which gold has"
        what = f"{number} rows have another {column!r} than in {gold.name}{nothing}"
        return (f"{name}: {what}; they are matched by position",)
    row = int(different[0])
    here, there = theirs.names[theirs.codes[row]], mine.names[mine.codes[row]]
    why = "the same in another order" if sorted(theirs.names) == sorted(mine.names) else "others"
    problem = f"row {row + 1} is {here[:40]!r}, but {there[:40]!r} in {gold.name}"
    ways = f"or key={column!r}, which joins them (align_by='position' matches rows by position)"
    expected = f"({number} rows differ: {why}); expected the rows in the order of gold, {ways}"
    raise InputError(f"rows do not match by column {column!r}: {problem} {expected}", other.name)


# --- The ids by which rows of several tables are joined

ON_MISSING = ("error", "drop", "negative")
NOTHING = ""  # label of a row that a system lacks; no real label is empty


@dataclass(frozen=True)
class Mismatch:
    """Errors in the ids of a table: for each kind, the number of ids and some examples."""

    name: str
    missing: tuple[int, tuple[str, ...]] = (0, ())  # ids of gold that it does not have
    extra: tuple[int, tuple[str, ...]] = (0, ())  # ids that gold does not have
    doubled: tuple[int, tuple[str, ...]] = (0, ())  # ids that occur more than once
    without: int = 0  # number of rows without an id


def settle(
    tables: Sequence[Mismatch], key: Sequence[str], on_missing: str, n_answer: int, n_common: int
) -> list[str]:
    """Refuse ids that do not match, or return notes, as ``on_missing`` asks; gold is first."""
    answer, *systems = tables
    for table in tables:
        if table.without:
            problem = f"{table.without:,} row{'s have' if table.without > 1 else ' has'} no"
            raise InputError(f"{problem} {quoted(key)}; expected an id in every row", table.name)
        if table.doubled[0]:
            problem = f"{_ids(*table.doubled)} of {quoted(key)} more than once"
            raise InputError(f"{problem}; expected every id once", table.name)
    if not n_common and on_missing != "error":
        wrong = f"key: the tables have no {quoted(key)} in common"
        raise InputError(f"{wrong}; expected the same ids in all")
    notes = [f"rows are joined by {quoted(key)}, compared as text"] if systems else []
    for table in systems:
        told = (
            (table.missing, f"of {n_answer:,} in {answer.name} missing"),
            (table.extra, f"not in {answer.name}"),
        )
        parts = [f"{_ids(*ids)} {which}" for ids, which in told if ids[0]]
        if not parts:
            continue
        what = f"by {quoted(key)}: " + ", ".join(parts)
        if on_missing == "error" or (on_missing == "negative" and table.extra[0]):
            ways = "on_missing='drop' leaves them out"
            ways += "" if table.extra[0] else ", on_missing='negative' counts them as no"
            raise InputError(f"{what}; expected the same ids ({ways})", table.name)
        done = "left out of all systems" if on_missing == "drop" else "they count as no"
        notes.append(f"{table.name}: {what}; {done}")
    return notes


def _ids(number: int, examples: Sequence[str]) -> str:
    named = some_of(examples) + (", …" if len(examples) <= 3 < number else "")
    return f"{number:,} id{'s' if number > 1 else ''} ({named})"
