"""Read JSON records: one object per document, of gold or of a system.

A side is a file of JSON lines, a table, one JSON file with a list or with an object of objects, a
folder of JSON files, or Python data; one table may hold gold and several systems. Documents are
joined by a key. An output may be the raw text of a model: what can be read after a repair is
counted as repaired, all else as an output with nothing in it. Gold must be right.
"""

from __future__ import annotations

import dataclasses
import enum
import json
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import date, datetime, time
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from probative._validation import shown
from probative.errors import InputError, Recognised
from probative.reading.annotations import Origin, Records, RowGroups, coded
from probative.reading.database import parquet_rows
from probative.reading.formats import Input, Options
from probative.reading.source import Source, load, quoted, some_of
from probative.reading.table_sides import MISSING_GROUP
from probative.reading.tables import (
    DETAILS,
    delimited_objects,
    is_json,
    is_object,
    plain_name,
    without_doubles,
)
from probative.tables.engines import check_column, listed

if TYPE_CHECKING:
    from probative.reading.formats import Column, Pair

    Place = Callable[[str], InputError]  # makes an error at the place of a record

DEEPEST = 200  # levels of objects and lists
USUAL_KEY = "id"
KEY_BORDER = "\x1f"  # between the columns of a key
# usual names of columns, as `plain_name` writes them
_GOLD_NAMES = (
    *("gold", "expected", "expected_output", "reference", "ground_truth", "truth", "target"),
    *("y_true", "label", "answer"),
)
_OUTPUT_NAMES = (
    *("output", "prediction", "predicted", "pred", "response", "completion", "actual"),
    *("actual_output", "result", "extracted", "extraction", "generated", "y_pred"),
)
_NO_SYSTEM = ("input", "inputs", "meta", "metadata", "schema", "vars", "info", "prompt", "messages")
_ROWS_LOOKED_AT = 50  # to find out which columns hold records
_BRACES_TRIED = 1000  # in prose


# --- Parsing one record


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is no JSON value")


_DECODER = json.JSONDecoder(object_pairs_hook=without_doubles, parse_constant=_refuse_constant)
_FENCE = re.compile(r"```[\w+-]*[ \t]*\n?(.*?)\n?\s*(?:```)?", re.DOTALL)


class _Parsed(NamedTuple):
    """A record that was read from a text."""

    record: dict[str, Any] | None  # None if there is none
    problem: str = ""  # why there is none
    repair: str = ""  # byte-order mark, code fence, JSON in a string, one-element list, prose


def parse_record(text: str, place: Place, *, find_json: bool = False) -> _Parsed:
    """Read a record from the raw text of a model; `find_json` looks for it in prose, too."""
    repairs: list[str] = []
    body = text.strip()
    if body.startswith("\ufeff"):
        body = body.lstrip("\ufeff").strip()
        repairs.append("byte-order mark")
    value: Any = body
    problem = "is empty"
    while isinstance(value, str):
        body = value.strip()
        if body.startswith("```"):
            fenced = _FENCE.fullmatch(body)
            body = body if fenced is None else fenced[1].strip()
            repairs.append("code fence")
        value, problem = _decode(body, place)
        if problem and find_json:
            value = _find_object(body, place)
            problem = problem if value is None else ""
            repairs.append("prose")
        if isinstance(value, str):
            repairs.append("JSON in a string")
    if isinstance(value, list) and len(value) == 1:
        (value,) = value
        repairs.append("one-element list")
    return _checked(value, problem, ", ".join(repairs), place)


def _checked(value: Any, problem: str, repair: str, place: Place) -> _Parsed:
    """Return a value as a record if it is one; refuse a record that is nested too deeply."""
    if not problem and not isinstance(value, dict):
        problem = f"{shown(value)} is no JSON object"
    level = [] if problem else [value]
    for _ in range(DEEPEST + 1):
        if not level:
            return _Parsed(None, problem) if problem else _Parsed(value, "", repair)
        below: list[Any] = []
        for part in level:
            for own in part.values() if type(part) is dict else part:
                form = type(own)
                if form is dict or form is list:
                    below.append(own)
                elif form is float and not math.isfinite(own):
                    return _Parsed(None, f"{own} is no JSON value, or too large a number")
        level = below
    raise _too_deep(place)


def _decode(text: str, place: Place) -> tuple[Any, str]:
    """Return the JSON value that a text is, or None and the reason why it is none."""
    if not text:
        return None, "is empty"
    try:
        return _DECODER.decode(text), ""
    except RecursionError:
        raise _too_deep(place) from None
    except ValueError as error:
        reason = getattr(error, "msg", None) or str(error).split(";", maxsplit=1)[0]
        return None, f"{shown(text[:60])} is not JSON ({reason})"


def _find_object(text: str, place: Place) -> dict[str, Any] | None:
    """Return the longest JSON object in prose; None if there is none."""
    longest, found, begin = 0, None, -1
    for _ in range(_BRACES_TRIED):
        begin = text.find("{", begin + 1)
        if begin < 0:
            break
        try:
            value, end = _DECODER.raw_decode(text, begin)
        except RecursionError:
            raise _too_deep(place) from None
        except ValueError:
            continue
        if end - begin > longest:
            longest, found = end - begin, value
        begin = end - 1
    return found


def _too_deep(place: Place) -> InputError:
    return place(f"the record is nested too deeply; expected at most {DEEPEST} levels")


# --- Records of one side


class _Row(NamedTuple):
    """Content of a file for one document."""

    value: Any  # a JSON value, or a raw text
    key: str | None = None  # if it does not stand in the value
    line: int | None = None  # in the file
    problem: str = ""  # why a line is no JSON; its text is the value


# of gold, what cannot be read is an error, and nothing is repaired
_OUTPUT = Options(predicted=True)


def read_records(opened: Input) -> Records:
    """Read one side from a file or folder."""
    source, reading = opened.source, opened.options
    if source.kind == "folder" and source.path is not None:  # of JSON files, called by their keys
        files = sorted(source.path.glob("*.json"))
        if not files:
            raise source.error("holds no file *.json; expected one per document")
        rows = []
        for file in files:
            empty = reading.predicted and not file.stat().st_size
            data = b"" if empty else load(file, encoding=reading.encoding).data
            rows.append(_Row(data.decode("utf-8", "replace"), file.stem))
        return _side(source.name, rows, reading)
    rows = _rows_of(source)
    column = reading.column or _record_column(rows, reading)
    side = _side(source.name, _with_column(source, rows, column, reading), reading, column)
    return replace(side, groups=_groups(source, rows, reading), notes=(*source.notes, *side.notes))


def record_pair(opened: Input, gold: Column | None, columns: Sequence[Column]) -> Pair:
    """Read gold and systems from the columns of one file; those not named are recognised."""
    source, reading = opened.source, opened.options
    gold_column, systems = None if gold is None else str(gold), tuple(map(str, columns))
    rows = _rows_of(source)
    for row in rows:
        if not isinstance(row.value, dict):
            raise source.error(f"{row.problem or shown(row.value)}; expected an object", row.line)
    there = _columns(rows)
    if any("*" in column for column in systems):
        gold_column = gold_column or "*"
        rows = _gathered(source, rows, there, (gold_column, *systems))
    gold_column, systems = _gold_and_systems(rows, reading, gold_column, systems)
    if gold_column is None or not systems:
        what = "has no columns of records of gold and of a system"
        raise source.error(f"{what}; expected gold_column= and columns=, of {listed(there)}")
    sides: list[Records] = []
    for name in (gold_column, *systems):
        chosen = replace(reading, column=name, predicted=bool(sides))
        cells = _with_column(source, rows, name, chosen)
        own = [c if c.key is not None else c._replace(key=str(i + 1)) for i, c in enumerate(cells)]
        side = replace(_side(source.name, own, chosen), origin=Origin("records", opened.reason))
        called = name.replace("*", "").strip("_-. ") or name
        sides.append(side if not sides else replace(side, name=called))
    answer, *others = sides
    note = f"gold is the column {gold_column!r}, the systems are {quoted(systems)}"
    notes = (*answer.notes, *source.notes, note)
    answer = replace(answer, notes=notes, groups=_groups(source, rows, reading))
    return answer, others, [side.name for side in others]


def sides_of_file(opened: Input) -> list[Records]:
    """Return all sides that a file holds: gold and systems in columns, or one side."""
    source, reading = opened.source, opened.options
    if reading.column is None and source.kind != "folder":
        rows = [row for row in _rows_of(source) if isinstance(row.value, dict)]
        gold, systems = _gold_and_systems(rows, reading)
        if gold is not None and systems:
            columns = [(name, replace(reading, column=name)) for name in (gold, *systems)]
            parts = ((name, read_records(replace(opened, options=own))) for name, own in columns)
            return [replace(side, name=name) for name, side in parts]
    return [read_records(opened)]


def records_from_objects(data: Any, name: str, reading: Options = _OUTPUT) -> Records:
    """Read one side from Python data: records, or raw texts, in a list or by key."""
    if isinstance(data, (str, bytes)) or not isinstance(data, Iterable):
        raise InputError(f"{name}: {shown(data)}; expected records in a list, or by their keys")
    by_key = isinstance(data, Mapping)
    pairs = data.items() if isinstance(data, Mapping) else enumerate(data, start=1)
    rows = [
        _Row(_plain(value, f"{name}: record {key}"), str(key) if by_key else None)
        for key, value in pairs
    ]
    return _side(name, rows, reading)


def on_same_documents(outputs: Sequence[Records]) -> list[Records]:
    """Return outputs on the documents that any of them has, those of the first one first."""
    first = outputs[0]
    keyless = [side for side in outputs if side.keys is None]
    if keyless and (len(keyless) < len(outputs) or len({*map(len, outputs)}) > 1):
        what = f"{len(keyless[-1]):,} records without keys, beside {len(first):,} in {first.name}"
        raise InputError(f"{what}; expected as many, or a key in all (key=)", keyless[-1].name)
    keys = dict.fromkeys(key for side in outputs for key in side.keys or ())
    # without keys, the number of a document is its key
    names = tuple(keys) or tuple(str(number + 1) for number in range(len(first)))
    every = Records(first.name, (None,) * len(names), names)
    for side in outputs:
        if len(side.stray) > len(names) - len(side):
            problem = f"{len(side.stray):,} outputs are not JSON and do not show their document"
            raise InputError(f"{problem}; expected a key beside every output", side.name)
    return [join_record(every, side) for side in outputs]


# --- Layouts: what a file holds for each document


def _rows_of(source: Source) -> list[_Row]:
    """Return the rows of a table, of JSON lines, of a JSON list or of an object of objects."""
    if source.kind == "parquet":
        return _rows_of_parquet(source)
    if source.kind != "text":
        raise source.error("is a binary file; expected JSON, CSV, TSV or Parquet")
    if source.suffix in (".csv", ".tsv") and not is_json(source):
        return [_Row(record) for record in delimited_objects(source)]
    text = source.data.decode("utf-8", "replace")
    lines = [(n, line) for n, line in enumerate(text.split("\n"), start=1) if line.strip()]
    is_document = len(lines) > 1 or source.name.endswith(".json")
    first = _decode(lines[0][1].strip(), source.error)[0] if len(lines) > 1 else None
    if text.lstrip()[:1] in ("[", "{") and first is None:  # one JSON value
        value, _ = _decode(text.strip(), source.error)
        if isinstance(value, list) and (is_document or len(value) != 1):
            return [_Row(each) for each in value]
        several = isinstance(value, dict) and value and all(type(v) is dict for v in value.values())
        if several and is_document:
            return [_Row(each, key) for key, each in value.items()]
        if isinstance(value, dict) and len(lines) > 1:
            raise source.error("is a single JSON object; expected a list, or an object of objects")
    rows = []
    for number, line in lines:
        value, problem = _decode(line.strip(), lambda text, n=number: source.error(text, n))  # type: ignore[misc]
        rows.append(_Row(line if problem else value, line=number, problem=problem))
    return rows


def _rows_of_parquet(source: Source, most: int | None = None) -> list[_Row]:
    """Return the rows of a Parquet file, or the first of them."""
    rows, _ = parquet_rows(source, most=most)
    return [_Row(_plain(row, f"{source.name}: row {n}")) for n, row in enumerate(rows, start=1)]


# --- Columns


def _columns(rows: Sequence[_Row]) -> list[str]:
    """Return the names of the columns, in the order in which rows show them."""
    there = (row.value for row in rows if isinstance(row.value, dict))
    return list(dict.fromkeys(name for value in there for name in value))


def _holds_records(rows: Sequence[_Row], name: str) -> bool:
    """Return True if a quarter of the cells of a column, in the first rows, are records."""
    cells = [row.value.get(name) for row in rows[:_ROWS_LOOKED_AT] if isinstance(row.value, dict)]
    cells = [cell for cell in cells if cell is not None]
    # objects, or the texts of such, fenced or not
    texts = (c.lstrip("\ufeff \t\r\n") if isinstance(c, str) else "" for c in cells)
    held = sum(text.startswith(("{", "[{", "```", '"{')) for text in texts)
    held += sum(isinstance(cell, dict) for cell in cells)
    return bool(cells) and 4 * held >= len(cells)


def _record_column(rows: Sequence[_Row], reading: Options) -> str | None:
    """Return the only column of records beside the key, if it has a usual name; else None."""
    # the other columns hold single values; without such a column, the rows are the records
    looked = [row for row in rows[:_ROWS_LOOKED_AT] if isinstance(row.value, dict)]
    there = _columns(looked)
    usual = [name for name in there if plain_name(name) in (*_GOLD_NAMES, *_OUTPUT_NAMES)]
    named = [name for name in usual if _holds_records(rows, name)]
    if len(named) > 1:
        preferred = _OUTPUT_NAMES if reading.predicted else _GOLD_NAMES
        named = [name for name in named if plain_name(name) in preferred]
    others = [row.value.get(name) for row in looked for name in there if name not in usual]
    plain = not any(isinstance(other, (dict, list)) for other in others)
    return named[0] if len(named) == 1 and plain else None


def _gold_and_systems(
    rows: Sequence[_Row], reading: Options, gold: str | None = None, systems: tuple[str, ...] = ()
) -> tuple[str | None, tuple[str, ...]]:
    """Return the columns of gold and of the systems, by their names and contents."""
    holding = [name for name in _columns(rows) if _holds_records(rows, name)]
    plain = {name: plain_name(name) for name in holding}
    if gold is None:
        known = [n for usual in _GOLD_NAMES for n in holding if plain[n] == usual]
        gold = next((name for name in known if name not in systems), None)
    if systems:
        return gold, systems
    others = [name for name in holding if name not in (gold, *reading.key, USUAL_KEY)]
    free = [name for name in others if plain[name] not in _NO_SYSTEM]
    usual = [name for name in free if plain[name].startswith(_OUTPUT_NAMES)]
    return gold, tuple(usual or free)


def _gathered(
    source: Source, rows: Sequence[_Row], there: Sequence[str], patterns: Sequence[str]
) -> list[_Row]:
    """Return rows with a record for each pattern: in ``*_pred``, * stands for the field."""
    odd = next((pattern for pattern in patterns if pattern.count("*") != 1), None)
    if odd is not None:
        raise source.error(f"columns: {odd!r}; expected one * each, such as *_pred")
    before, after = patterns[1].split("*")
    inside = re.compile(f"{re.escape(before)}(.+){re.escape(after)}", re.DOTALL)
    found = [(name, match[1]) for name in there if (match := inside.fullmatch(name))]
    fields = [own for n, own in found if patterns[0].replace("*", own) in there and n != own]
    if not fields:
        called = f"{patterns[0]} and {patterns[1]}"
        raise source.error(f"no columns are called {called}; expected some of {listed(there)}")
    gathered = []
    for row in rows:
        records = {p: {f: row.value.get(p.replace("*", f)) for f in fields} for p in patterns}
        gathered.append(row._replace(value=row.value | records))
    return gathered


def _with_column(
    source: Source, rows: Sequence[_Row], column: str | None, reading: Options
) -> list[_Row]:
    """Return rows whose value is the record in a column, with their keys."""
    if column is None:
        return list(rows)
    there = _columns(rows)
    check_column(column, there, source.error)
    names = [name for name in reading.key or (USUAL_KEY,) if name in there]
    taken = list(rows)
    for number, row in enumerate(rows):
        if not isinstance(row.value, dict):
            continue
        key = row.key
        if key is None and names:
            for name in reading.key:
                check_column(name, there, source.error)
            key = _key(row.value, names)
            if key is None:
                where = f"row {number + 1}: " if row.line is None else ""
                raise source.error(f"{where}has no {quoted(names)}; expected one", row.line)
        taken[number] = row._replace(value=row.value.get(column), key=key)
    return taken


def _key(record: Mapping[str, Any], names: Sequence[str]) -> str | None:
    """Return the key of a record as text; None unless it is text or whole numbers."""
    parts = [record.get(name) for name in names]
    if any(isinstance(p, bool) or not isinstance(p, (str, int)) or p == "" for p in parts):
        return None
    return KEY_BORDER.join(map(str, parts))


def _groups(source: Source, rows: Sequence[_Row], reading: Options) -> RowGroups | None:
    """Return the group of every document, from a column beside its record or a key in it."""
    if reading.group is None:
        return None
    check_column(reading.group, _columns(rows), source.error)
    cells = [r.value.get(reading.group) if isinstance(r.value, dict) else None for r in rows]
    odd = next((cell for cell in cells if isinstance(cell, (dict, list))), None)
    if odd is not None:
        raise source.error(f"{reading.group!r} holds {shown(odd)}; expected the name of a group")
    texts = [MISSING_GROUP if cell in (None, "") else str(cell) for cell in cells]
    return RowGroups(reading.group, *coded(texts))


# --- From rows to records


def _side(name: str, rows: Sequence[_Row], reading: Options, column: str | None = None) -> Records:
    """Parse the records of rows, find their keys, and count what cannot be read."""
    parsed = [_parse(name, number, row, reading) for number, row in enumerate(rows, start=1)]
    mixed = any(isinstance(row.value, dict) for row in rows)
    keys = [row.key for row in rows]
    names = list(reading.key or (USUAL_KEY,))
    records = [each.record for each in parsed]
    if all(key is None for key in keys) and (
        reading.key or any(_key(record, names) for record in records if record is not None)
    ):
        keys = [_own_key(name, row, own, names) for row, own in zip(rows, records, strict=True)]
    # a key in a record is no field, also where it stands beside it, too
    for known, own in zip(keys, records, strict=True):
        if known is not None and own is not None and _key(own, names) == known:
            for key in names:
                own.pop(key)
    by_place = all(key is None for key in keys)
    kept = [i for i, key in enumerate(keys) if by_place or key is not None]
    seen: dict[str, int | None] = {}
    for i in () if by_place else kept:
        text, line = str(keys[i]), rows[i].line
        if text in seen:
            first = "" if seen[text] is None else f" (first in line {seen[text]})"
            key = text.replace(KEY_BORDER, ", ")
            problem = f"two records have the {quoted(names)} {key!r}{first}"
            raise InputError(f"{problem}; expected every document once", name, line)
        seen[text] = line
    entries = [(k, rows[i], parsed[i]) for k, i in enumerate(kept)]
    repaired = {
        k: own.repair or "JSON in a string"
        for k, row, own in entries
        if own.record is not None and (own.repair or (mixed and isinstance(row.value, str)))
    }
    note = Recognised(f"{name}: the records are in the column {column!r}")
    return Records(
        name,
        tuple(own.record for _, _, own in entries),
        None if by_place else tuple(str(keys[i]) for i in kept),
        tuple(row.line for _, row, _ in entries),
        {k: own.problem for k, _, own in entries if own.problem},
        repaired if reading.predicted else {},
        frozenset(k for k, _, own in entries if own == _Parsed(None)),
        () if by_place else tuple(parsed[i].problem for i, key in enumerate(keys) if key is None),
        column,
        notes=() if column is None else (note,),
    )


def _parse(name: str, number: int, row: _Row, reading: Options) -> _Parsed:
    """Return the record of a row; with gold, or on request, what cannot be read is an error."""

    def place(message: str) -> InputError:
        where = f"record {row.key if row.key is not None else number}: "
        return InputError(message if row.line is not None else where + message, name, row.line)

    is_gold = not reading.predicted
    if is_gold and row.problem:
        found = _Parsed(None, row.problem)
    elif isinstance(row.value, str):
        found = parse_record(row.value, place, find_json=reading.find_json and not is_gold)
    elif row.value is None:
        found = _Parsed(None, "no record" if is_gold else "")
    else:
        value, repair = row.value, ""
        if isinstance(value, list) and len(value) == 1 and not is_gold:
            (value,), repair = value, "one-element list"
        found = _checked(value, "", repair, place)
    problem = found.problem or (found.repair if is_gold else "")
    if problem and (is_gold or reading.on_malformed == "error"):
        raise place(f"{problem}; expected a JSON object")
    return found


def _own_key(name: str, row: _Row, record: Any, names: Sequence[str]) -> str | None:
    """Return the key within a record; of an output that cannot be read, as far as it shows it."""
    if record is not None:
        key = _key(record, names)
        if key is None:
            problem = f"the record has no {quoted(names)}; expected text or a whole number"
            raise InputError(problem, name, row.line)
        return key
    if len(names) > 1 or not isinstance(row.value, str):
        return None
    found = re.search(rf'"{re.escape(names[0])}"\s*:\s*("(?:[^"\\]|\\.)*"|-?\d+)', row.value)
    return None if found is None else str(_DECODER.decode(found[1]))


# --- Joining


def join_record(gold: Records, system: Records) -> Records:
    """Return the records of a system in the order of gold; refuse other documents."""
    if gold.keys is None or system.keys is None:
        if len(gold) != len(system) or (gold.keys is None and system.keys is not None):
            side = gold if gold.keys is None else system
            none = f"{side.name} has no keys" if system.keys != gold.keys else "there are no keys"
            problem = f"{len(system):,} records, but {len(gold):,} in {gold.name}, and {none}"
            expected = "expected the same number, or a key in both (key=)"
            raise InputError(f"{problem}; {expected}", system.name)
        note = f"{system.name}: has no keys; its records are paired with gold by their places"
        notes = system.notes if gold.keys is None else (*system.notes, note)
        return replace(system, keys=gold.keys, notes=notes)
    number = {key: i for i, key in enumerate(system.keys)}
    known = set(gold.keys)
    extra = [i for i, key in enumerate(system.keys) if key not in known]
    if extra:
        named = some_of([system.keys[i].replace(KEY_BORDER, ", ") for i in extra])
        problem = f"{len(extra):,} of {len(system):,} documents are not in {gold.name} ({named})"
        line = system.line_of(extra[0])
        raise InputError(f"{problem}; expected the documents of gold", system.name, line)
    joined = system.at([number.get(key) for key in gold.keys])
    # outputs that cannot be read and do not show their document are those of missing ones
    stray = dict(zip(sorted(joined.missing), system.stray, strict=False))
    malformed, missing = {**joined.malformed, **stray}, joined.missing - stray.keys()
    return replace(joined, keys=gold.keys, malformed=malformed, missing=missing, stray=())


# --- Python data


def is_record_object(value: Any) -> bool:
    """Return True for a dictionary, a data class or a model of pydantic."""
    if isinstance(value, Mapping) or callable(getattr(value, "model_dump", None)):
        return True
    return dataclasses.is_dataclass(value) and not isinstance(value, type)


def _plain(value: Any, place: str, depth: int = 0) -> Any:
    """Return Python data as JSON values: dictionaries, lists, texts, numbers, truth values."""
    form = type(value)
    if form in (str, int, float, bool, type(None)):
        return value
    if depth > DEEPEST:
        raise _too_deep(lambda message: InputError(f"{place}: {message}"))
    if isinstance(value, Mapping):
        if not all(isinstance(key, (str, int)) for key in value):
            raise InputError(f"{place}: has keys that are no text; expected text")
        return {str(key): _plain(each, place, depth + 1) for key, each in value.items()}
    if callable(getattr(value, "model_dump", None)):  # a model of pydantic
        return _plain(value.model_dump(mode="json"), place, depth + 1)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        own = {each.name: getattr(value, each.name) for each in dataclasses.fields(value)}
        return _plain(own, place, depth)
    if isinstance(value, (list, tuple, set, frozenset)):
        return [_plain(each, place, depth + 1) for each in value]
    if isinstance(value, enum.Enum):
        return _plain(value.value, place, depth + 1)
    if isinstance(value, (datetime, date, time)):
        return value.isoformat()
    if isinstance(value, (np.generic, np.ndarray)):
        return _plain(value.tolist(), place, depth + 1)
    for kind in (str, int, float):  # subclasses
        if isinstance(value, kind):
            return kind(value)
    try:
        number = float(value)  # decimals and fractions
        return int(value) if number.is_integer() else number
    except (TypeError, ValueError, OverflowError):
        problem = f"{place}: {shown(value)} is of type {form.__name__}"
        raise InputError(f"{problem}; expected JSON values") from None


# --- Recognition


def why_records(rows: Sequence[Mapping[str, Any]]) -> str | None:
    """Return why the first rows of a file are records, or hold them in columns; else None."""
    held = [_Row(row) for row in rows]
    there = _columns(held)
    gold, systems = _gold_and_systems(held, _OUTPUT)
    if gold is not None and systems:
        return f"its columns {gold!r} and {systems[0]!r} hold JSON objects"
    column = _record_column(held, _OUTPUT)
    if column is not None:
        return f"its column {column!r} holds JSON objects"
    described: tuple[str, ...] = (*_NO_SYSTEM, *DETAILS)
    if any(plain_name(name) == "label" and isinstance(rows[0].get(name), str) for name in there):
        described += ("text", "document", "doc", "source")  # what is labelled
    fields = (n for n in there if plain_name(n) not in described and not n.startswith("_"))
    nested = next((n for n in fields if any(is_object(row.get(n)) for row in rows)), None)
    return None if nested is None else f"{nested!r} holds objects"


def why_file_of_records(source: Source, head: Source, column: str | None) -> str | None:
    """Return why a file holds records, in a column if one is named; None if it does not."""
    if source.kind == "folder":
        return "it is a folder of .json files"
    try:
        rows = _first_rows(source, head)
    except InputError:  # the reader of its format reports it
        return None
    if isinstance(rows, str):
        return rows
    if column is not None:
        holds = _holds_records([_Row(row) for row in rows], column)
        return f"its column {column!r} holds JSON objects" if holds else None
    return why_records(rows)


def _first_rows(source: Source, head: Source) -> list[dict[str, Any]] | str:
    """Return the first objects of a file; of an object of objects, the reason alone."""
    if source.kind == "parquet":
        return [row.value for row in _rows_of_parquet(source, _ROWS_LOOKED_AT)]
    opening = source.opening
    if opening not in (b"[", b"{"):
        is_table = source.suffix in (".csv", ".tsv")
        return delimited_objects(head)[:_ROWS_LOOKED_AT] if is_table else []
    lines = (line.decode("utf-8", "replace").strip() for line in head.data.split(b"\n"))
    decoded = [_decode(line, source.error) for line in islice(lines, _ROWS_LOOKED_AT)]
    found: Any = [value for value, problem in decoded if not problem]
    if opening == b"[" or not found:  # one value over several lines
        found = source.document
    elif len(found) == 1 and b"\n" not in source.data.strip():
        found = found[0]
    if isinstance(found, dict):
        if found and all(isinstance(value, dict) and value for value in found.values()):
            return "it is an object of objects"
        found = [found]
    return [row for row in found[:_ROWS_LOOKED_AT] if isinstance(row, dict)]
