"""Read rows of tokens and tags as in Hugging Face datasets: ``tokens``, ``ner_tags``.

Tags are texts or numbers. The names of numbers come from the caller, from a ``dataset_info.json``
beside the file, from the metadata of a Parquet file, or from the features of a dataset. The number
-100 marks a token that is ignored.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import compress, pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from probative._validation import Mask, names_of, shown
from probative.errors import InputError, Recognised
from probative.labels import factorise_each
from probative.reading.annotations import Labels, Tagged, Text, coded, labels_from_array, offsets
from probative.reading.columns import TAG
from probative.tables.engines import check_column, listed

if TYPE_CHECKING:
    from probative.reading.source import Source


# --- Rows of tokens and tags

IGNORED = "\0ignored"  # tag of an ignored token; no real tag has this name
_IGNORED_NUMBER = -100
TOKENS = ("tokens", "words")
# usual names of columns of gold and of predictions, the most common first
_GOLD = ("ner_tags", "tags", "labels", "gold", "gold_tags", "true_labels")
_PREDICTED = ("predictions", "prediction", "predicted_tags", "pred_tags", "pred", "preds")
BY_ROW = "row"  # sentences are separated by row
_INFORMATION = "dataset_info.json"
_ROWS_TO_RECOGNISE = 20


class Rows(NamedTuple):
    """The tokens and tag columns of rows."""

    name: str
    tokens: list[list[str]] | None  # the tokens of every row; None if there are none
    columns: dict[str, list[Any]]  # the columns of tags by name
    names: Mapping[str, Sequence[str]]  # names of the numbers in each column, if known
    lines: list[int] | None = None  # the line of every row in a file

    def error(self, row: int, message: str) -> InputError:
        """Return an error in a row (from 0)."""
        if self.lines is not None:
            return InputError(message, self.name, self.lines[row])
        return InputError(f"row {row + 1}: {message}", self.name)


def is_row(record: Mapping[str, Any]) -> str | None:
    """Return why an object is a row of tokens and tags, or None."""
    tokens = _token_column(record)
    columns = _tag_columns(record)
    if tokens is not None and columns:
        return f"it has as many tags under {columns[0]!r} as {tokens}"
    known = (name for name in columns if name in ("ner_tags", *_PREDICTED))
    numbers = next((name for name in known if _is_list_of(record[name], int)), None)
    return None if numbers is None else f"it has a list of numbers under {numbers!r}"


def why_columns(names: Sequence[str]) -> str | None:
    """Return why columns of lists with these names are rows of tokens and tags, or None."""
    tokens = next((name for name in TOKENS if name in names), None)
    tags = next((name for name in names if is_tag_column(name)), None)
    both = tokens is not None and tags is not None
    return f"it has columns of lists, {tokens!r} and {tags!r}" if both else None


def _token_column(record: Mapping[str, Any]) -> str | None:
    return next((key for key in TOKENS if _is_list_of(record.get(key), str)), None)


def _tag_columns(record: Mapping[str, Any]) -> list[str]:
    """Return the columns of a row that hold one tag (a text or a number) per token."""
    tokens = _token_column(record)
    found = []
    for key, value in record.items():
        numbers = _is_list_of(value, int)
        if key in TOKENS or not is_tag_column(key) or not (numbers or _is_list_of(value, str)):
            continue
        fits = tokens is None or len(value) == len(record[tokens])
        if fits and (numbers or key in _KNOWN or all(map(TAG.fullmatch, value))):
            found.append(key)
    return found


_KNOWN = frozenset((*_GOLD, *_PREDICTED, "pos_tags", "chunk_tags"))


def is_tag_column(name: str) -> bool:
    """Return True if a column of lists holds tags by its name."""
    return name in _KNOWN or name.endswith(("_tags", "_labels", "_predictions"))


def _is_list_of(value: Any, kind: type) -> bool:
    if not isinstance(value, list | tuple) or not value:
        return False
    return all(isinstance(each, kind) and not isinstance(each, bool) for each in value)


def _choose_column(
    rows: Rows, wanted: int | str | None, *, predicted: bool, taken: str | None = None
) -> str:
    """Return the column of a side: the requested one, or the one with a usual name."""
    there = list(rows.columns)
    if wanted is not None:
        check_column(str(wanted), there, lambda text: InputError(text, rows.name))
        return str(wanted)
    order = (*_PREDICTED, *_GOLD) if predicted else (*_GOLD, *_PREDICTED)
    left = [column for column in there if column != taken]
    usual = [column for column in order if column in left]
    if usual or len(left) == 1:
        return (usual or left)[0]
    problem = f"which column holds the tags? There are {listed(left) or 'none'}"
    raise InputError(f"{problem}; expected them to be named (gold_column=, columns=)", rows.name)


def rows_of_file(source: Source, label_names: Sequence[str] | None = None) -> Rows:
    """Read the rows of JSON lines, of a JSON list or of a Parquet file."""
    lines: list[int] | None = None
    own: dict[str, tuple[str, ...]] = {}
    if source.kind == "parquet":
        from probative.reading.database import parquet_rows

        records, metadata = parquet_rows(source, lists=True)
        with suppress(ValueError, RecursionError):  # metadata of Hugging Face
            own = {} if metadata is None else _label_names_of(json.loads(metadata))
    elif source.opening == b"[":
        records = source.document
        strange = [row for row in records if not isinstance(row, dict)]
        if strange:
            raise source.error(f"{shown(strange[0])} is no row; expected objects in the list")
    else:
        numbered = list(source.json_lines())
        records, lines = [record for _, record in numbered], [number for number, _ in numbered]
    place = Path(source.name).parent / _INFORMATION
    if not own and source.name != "standard input" and place.is_file():
        try:
            own = _label_names_of(json.loads(place.read_bytes()))
        except (OSError, ValueError, RecursionError) as error:
            raise InputError(f"cannot be read: {str(error)[:100]}; expected JSON", place) from None
    return rows_of(source.name, records, lines, own, label_names)


def rows_of(
    name: str,
    records: Sequence[Mapping[str, Any]],
    lines: list[int] | None = None,
    names: Mapping[str, Sequence[str]] | None = None,
    label_names: Sequence[str] | None = None,
) -> Rows:
    """Return the columns of rows that are Python objects."""
    key = next((k for k in TOKENS if any(k in record for record in records)), None)
    # a row without tokens does not show which columns hold tags
    there = dict.fromkeys(column for record in records for column in _tag_columns(record))
    columns: dict[str, list[Any]] = {column: [] for column in there}
    tokens: list[list[str]] = []
    named = dict(names or {})
    if label_names:
        named |= dict.fromkeys(columns, tuple(label_names))
    rows = Rows(name, tokens if key is not None else None, columns, named, lines)
    for number, record in enumerate(records):
        if key is not None:
            words = record.get(key)
            if not isinstance(words, list | tuple) or not all(isinstance(w, str) for w in words):
                raise rows.error(number, f"{key!r} is {shown(words)}; expected a list of texts")
            tokens.append(list(words))
        for column, values in columns.items():
            tags = record.get(column)
            if not isinstance(tags, list | tuple):
                raise rows.error(number, f"{column!r} is {shown(tags)}; expected a list of tags")
            if key is not None and len(tags) != len(tokens[-1]):
                what = f"{len(tags)} tags under {column!r}, but {len(tokens[-1])} {key}"
                raise rows.error(number, f"{what}; expected the same number")
            values.append(tags)
    if not columns:
        raise InputError("no row has tags; expected lists of them, such as 'ner_tags'", name)
    return rows


def are_rows(items: Sequence[Any]) -> bool:
    """Return True if these are objects with lists of tokens or tags, as in a dataset."""
    if not items or not all(hasattr(row, "keys") for row in items):
        return False
    return any(is_row(row) is not None for row in items[:_ROWS_TO_RECOGNISE])


def numbered_tags(data: Any) -> list[list[int]] | None:
    """Return tags as lists of numbers, as trainers of Hugging Face pass them, or None."""
    kind = getattr(getattr(data, "dtype", None), "kind", "")
    if getattr(data, "ndim", None) == 2 and kind == "i":
        return [list(row) for row in data.tolist()]
    if not isinstance(data, list | tuple) or not data:
        return None
    lists = [row.tolist() if hasattr(row, "tolist") else row for row in data]
    if not all(isinstance(row, list | tuple) for row in lists) or not any(lists):
        return None
    whole = all(isinstance(x, int) and not isinstance(x, bool) for row in lists for x in row)
    return [list(row) for row in lists] if whole else None


def name_numbers(side: Any, names: Sequence[str]) -> Any:
    """Return a side with numbers replaced by their names; labels that are names stay."""
    if not names:
        return side
    known = {str(number): name for number, name in enumerate(names)} | {n: n for n in names}
    strange = next((name for name in side.names if name not in known), None)
    if strange is not None:
        place = ""
        if isinstance(side, Labels):
            place = f"row {np.argmax(side.codes == side.names.index(strange)) + 1}: "
        problem = f"{place}label {strange[:60]!r} has no name"
        raise InputError(f"{problem}; expected 0 to {len(names) - 1} (label_names=)", side.name)
    codes, new = coded([known[name] for name in side.names])
    return replace(side, codes=codes[side.codes], names=new)


def check_label_names(names: Sequence[str]) -> tuple[str, ...]:
    """Return the names of labels; refuse repeated names and names that are numbers."""
    given = names_of("label_names", names)
    for i, name in enumerate(given):
        if name in given[:i]:
            raise InputError(f"label_names: {name!r} twice; expected a name for each number")
        if name.isdecimal():
            raise InputError(f"label_names: {name!r} is a number itself; expected names")
    return given


def is_dataset(data: Any) -> bool:
    """Return True if this is a dataset with features, as those of Hugging Face."""
    return hasattr(data, "features") and hasattr(data, "column_names")


def labels_of_dataset(
    name: str, rows: Sequence[Mapping[str, Any]], names: Mapping[str, Sequence[str]], options: Any
) -> Labels:
    """Return one label per row of a dataset, with the names from its features."""
    there = list(dict.fromkeys(key for row in rows for key in row))
    usual = ("label", "labels", "prediction", "predictions")
    column = options.column or next((key for key in usual if key in there), "label")
    check_column(column, there, lambda text: InputError(f"{name}: {text}"))
    labels = labels_from_array(name, [row.get(column) for row in rows])
    named: Labels = name_numbers(labels, options.label_names or names.get(column, ()))
    return named


def side_of_rows(rows: Rows, options: Any, task: str | None) -> Tagged | Labels:
    """Return the tags of the requested or usual column, as labels if that is the task."""
    column = _choose_column(rows, options.named_column, predicted=options.predicted)
    tags = _tagged_rows(rows, column)
    return tags.as_labels() if task == "labels" else tags


def pair_of_rows(
    rows: Rows, gold: int | str | None, columns: Sequence[int | str], task: str | None
) -> tuple[Any, list[Any], list[str]]:
    """Return the tags of the gold column and of the systems' columns, and their names."""
    answer = _choose_column(rows, gold, predicted=False)
    if not columns and len(rows.columns) == 1:
        expected = "expected a second file, or a column of predictions"
        raise InputError(f"has tags under {answer!r} only; {expected}", rows.name)
    names = [_choose_column(rows, c, predicted=True, taken=answer) for c in columns or (None,)]
    sides = [_tagged_rows(rows, name) for name in (answer, *names)]
    # one file has one text, so nothing needs to be aligned
    sides = [replace(side, text=sides[0].text) for side in sides]
    if task == "labels":
        sides = without_ignored_tokens(sides[0], sides[1:])
        return sides[0].as_labels(), [side.as_labels() for side in sides[1:]], names
    return sides[0], sides[1:], names


def _tagged_rows(rows: Rows, column: str) -> Tagged:
    """Return the tags of one column."""
    lists, known = rows.columns[column], rows.names.get(column)
    lengths = list(map(len, lists))
    tags = [_name(rows, column, k, tag, known) for k, row in enumerate(lists) for tag in row]
    codes, names = factorise_each(tags, len(tags))
    at = None if rows.lines is None else np.repeat(np.array(rows.lines, np.int32) - 1, lengths)
    text = Text(rows.name, offsets(lengths), row=at, sentences=rows.tokens, parted_by=BY_ROW)
    note: str = Recognised(f"{rows.name}: rows of tokens and tags, under {column!r}")
    ignored = tags.count(IGNORED)
    if ignored:
        note += f", {ignored} tokens without one (-100)"
    return Tagged(text, codes, tuple(names), notes=(note,))


def _name(rows: Rows, column: str, number: int, tag: Any, names: Sequence[str] | None) -> str:
    """Return the name of a tag; refuse numbers without a name."""
    if isinstance(tag, str):
        return tag
    if isinstance(tag, bool) or not isinstance(tag, int):
        problem = f"{shown(tag)} under {column!r} is no tag; expected texts or numbers"
    elif tag == _IGNORED_NUMBER:
        return IGNORED
    elif not names:
        expected = f"their names, from 0 on (label_names=), or a {_INFORMATION} beside the file"
        problem = f"the tags under {column!r} are numbers; expected {expected}"
    elif not 0 <= tag < len(names):
        expected = f"0 to {len(names) - 1}, as there are {len(names)} names, or -100"
        problem = f"tag {tag} under {column!r}; expected {expected}"
    else:
        return str(names[tag])
    raise rows.error(number, problem)


# --- Names of labels


def _label_names_of(description: Any) -> dict[str, tuple[str, ...]]:
    """Return label names by column from a description in the form of Hugging Face datasets."""
    names: dict[str, tuple[str, ...]] = {}
    if not isinstance(description, dict):
        return names
    is_own = isinstance(description.get("features"), dict)
    if not is_own and isinstance(description.get("info"), dict):
        return _label_names_of(description["info"])
    for part in [description] if is_own else description.values():
        names = label_names_of_features(isinstance(part, dict) and part.get("features")) | names
    return names


def _class_names(feature: Any) -> tuple[str, ...] | None:
    """Return the names of a class label, or of a list of class labels, in JSON or in Python."""
    if isinstance(feature, list) and len(feature) == 1:
        return _class_names(feature[0])
    names, inner = (
        feature.get(part) if isinstance(feature, dict) else getattr(feature, part, None)
        for part in ("names", "feature")
    )
    if isinstance(names, list | tuple) and names and all(isinstance(n, str) for n in names):
        return tuple(names)
    return None if inner is None else _class_names(inner)


def label_names_of_features(features: Any) -> dict[str, tuple[str, ...]]:
    """Return label names by column from the features of a dataset in Python."""
    try:
        items = list(features.items())
    except (AttributeError, TypeError):
        return {}
    return {str(name): found for name, own in items if (found := _class_names(own)) is not None}


# --- Removing ignored tokens from every side


def without_ignored_tokens(answer: Tagged, systems: Sequence[Tagged]) -> list[Tagged]:
    """Remove the tokens without a gold tag from all sides; refuse missing tags of systems."""
    if not any(IGNORED in side.names for side in (answer, *systems)):
        return [answer, *systems]
    masks = [np.array([n != IGNORED for n in s.names], bool)[s.tags] for s in (answer, *systems)]
    kept, *tagged = masks
    for system, own in zip(systems, tagged, strict=True):
        if len(own) != len(kept):
            return [answer, *systems]  # the alignment refuses it
        lacking = np.flatnonzero(kept & ~own)
        if len(lacking):
            problem = f"{len(lacking)} tokens have no tag (-100), but one in {answer.text.name}"
            raise system.text.error(f"{problem}; expected a tag for each of these", int(lacking[0]))
    if not kept.any():
        raise InputError("all tags are -100; expected at least one tag", answer.text.name)
    return [_keep_tokens(side, kept) for side in (answer, *systems)]


def _keep_tokens(side: Tagged, kept: Mask) -> Tagged:
    text = side.text
    sentences = text.sentences and [
        list(compress(words, kept[begin:end]))
        for words, (begin, end) in zip(text.sentences, pairwise(text.first.tolist()), strict=True)
    ]
    first = offsets(kept)[text.first]
    row = None if text.row is None else text.row[kept]
    names = tuple(name if name != IGNORED else "O" for name in side.names)  # no such token is left
    text = replace(text, first=first, row=row, sentences=sentences)
    return replace(side, text=text, tags=side.tags[kept], names=names)
