"""Label tables: CSV and TSV, JSON lines, Parquet."""

from __future__ import annotations

import csv
import io
import json
import re
import tempfile
from collections import Counter
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from probative._labels import Column, named
from probative._validation import shown
from probative.errors import InputError, suggestion
from probative.reading.annotations import TEXT_COLUMNS, Labels
from probative.reading.source import LARGEST, snippet

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import duckdb
    from numpy.typing import NDArray

    from probative.reading.source import Source

    Ints = NDArray[np.int32]
    # of every column, one number per row and the values that the numbers stand for
    Read = dict[str, tuple[Ints, list[Any]]]

__all__ = ["connected", "read_table"]

_GOLD_NAMES = ("gold", "label", "labels", "y", "y_true", "target", "answer")
_LINES = 4096  # of JSON that are read at once
_BETWEEN = ",\n"  # no text goes on over the end of a line
_SPACED = re.compile(r'"\s+:')
_SIMPLE = frozenset({str, int, float, bool, type(None)})
_PREDICTED_NAMES = ("pred", "prediction", "predicted", "y_pred", "system", *_GOLD_NAMES)


def read_table(
    source: Source, columns: Sequence[str | None], *, unit: str | None = None
) -> list[Labels]:
    """Read labels from the columns of a table.

    Parameters
    ----------
    source
        A file with a header (CSV, TSV) or with named fields (JSON lines, Parquet).
    columns
        The columns to read. None stands for the one that holds labels by its name: the first
        one is looked for among the names of answers (gold, label, y, …), others among those of
        predictions.
    unit
        The column that says which items belong together.
    """
    kind, (names, cells) = _read(source, columns, unit)
    if not len(cells[names[0]][0]):
        raise source.error("the table has no rows; expected at least one")

    def labels(name: str) -> tuple[Ints, tuple[str, ...]]:
        return named(*cells[name], lambda text: source.error(f"column {name!r} {text}"), "row")

    units = None if unit is None else labels(unit)[0]
    single = len(columns) == 1
    return [
        Labels(
            source.name if single else name,
            *labels(name),
            units,
            (_note(source, kind, name),),
            partial(_texts, source),
        )
        for name in names
    ]


def _read(
    source: Source, columns: Sequence[str | None], unit: str | None
) -> tuple[str, tuple[list[str], Read]]:
    """What kind of table it is, the names of its columns of labels, and all that is asked for."""
    if source.is_parquet:
        return "parquet", _parquet(source, columns, unit)
    if source.data[:1000].lstrip().startswith(b"{"):
        return "jsonl", _json_lines(source, columns, unit)
    return _delimited(source, columns, unit)


def _texts(source: Source) -> Sequence[str]:
    """What the items of a table say, from the first column that is called as texts are."""
    for name in TEXT_COLUMNS:
        try:
            _, (_, cells) = _read(source, [name], None)
        except InputError:
            continue
        codes, values = cells[name]
        return ["" if values[code] is None else str(values[code]) for code in codes.tolist()]
    return ()


def _note(source: Source, kind: str, name: str) -> str:
    return f"{source.name}: {kind} table, labels in column {name!r}"


# --- which columns ----------------------------------------------------------------------------


def _choose_columns(
    source: Source, there: list[str], columns: Sequence[str | None], unit: str | None
) -> tuple[list[str], list[str]]:
    """The names of the columns of labels, and of all columns that are read."""
    names: list[str] = []
    for place, name in enumerate(columns):
        names.append(_usual(source, there, names, len(columns), place) if name is None else name)
    wanted = dict.fromkeys([*names, *([] if unit is None else [unit])])
    for name in wanted:
        if name not in there:
            raise source.error(
                f"there is no column {name!r}; expected one of {_listed(there)}"
                + suggestion(name, there)
            )
        if there.count(name) > 1:
            raise source.error(f"{there.count(name)} columns are called {name!r}; expected one")
    return names, list(wanted)


def _usual(source: Source, there: list[str], taken: list[str], number: int, place: int) -> str:
    """The column that holds labels by its name."""
    usual: tuple[str, ...] = _PREDICTED_NAMES if place else _GOLD_NAMES
    if number == 1:
        usual = _GOLD_NAMES + _PREDICTED_NAMES
    candidates = [name for name in usual if name in there and name not in taken]
    if not candidates and len(there) == 1:
        candidates = there
    if not candidates:
        raise source.error(
            f"which column holds the labels? There are {_listed(there)}; expected them to be named "
            f"(gold_column=, columns=)"
        )
    return candidates[0]


def _listed(names: list[str]) -> str:
    shown = [name if len(name) <= 40 else name[:40] + "…" for name in names[:20]]
    return ", ".join(shown) + (", …" if len(names) > 20 else "")


# --- CSV and TSV ------------------------------------------------------------------------------


def _delimited(
    source: Source, columns: Sequence[str | None], unit: str | None
) -> tuple[str, tuple[list[str], Read]]:
    """Every row as Python's reader sees it; nothing is skipped, guessed or converted."""
    kind, dialect = _dialect(source)
    text = io.TextIOWrapper(io.BytesIO(source.data), encoding="utf-8", newline="")
    limit = csv.field_size_limit(LARGEST)
    reader = csv.reader(text, **dialect)
    try:
        header = next(cells for cells in reader if cells)
        _refuse_twins(source, header, reader.line_num)
        names, wanted = _choose_columns(source, header, columns, unit)
        contents = {name: Column() for name in wanted}
        takers = [(header.index(name), column.add) for name, column in contents.items()]
        for cells in _rows(source, reader, len(header)):
            for place, add in takers:
                add(cells[place])
    except csv.Error as error:
        raise source.error(f"{error}; expected {kind.upper()}", reader.line_num) from None
    finally:
        csv.field_size_limit(limit)
    return kind, (names, _codes_and_values(contents))


def _codes_and_values(columns: dict[str, Column]) -> Read:
    return {name: (column.codes, column.values) for name, column in columns.items()}


def _dialect(source: Source) -> tuple[str, dict[str, Any]]:
    """What separates the cells, as the header tells it; TSV knows no quotes."""
    head = source.data[: 1 << 16].lstrip().split(b"\n", 1)[0]
    outside = b"".join(head.split(b'"')[::2])
    suffix = Path(source.name.removesuffix(".gz")).suffix.lower()
    tabs = b"\t" in (head if suffix == ".tsv" else outside)
    if tabs and not (suffix == ".csv" and b"," in outside):
        return "tsv", {"delimiter": "\t", "quoting": csv.QUOTE_NONE}
    delimiter = ";" if b";" in outside and b"," not in outside else ","
    return "csv", {"delimiter": delimiter, "strict": True}


def _rows(source: Source, reader: Any, width: int) -> Iterator[list[str]]:
    """The rows below the header, all of its width; empty lines may stand at the end only."""
    empty = 0  # the first line of a run of empty ones
    for cells in reader:
        if not cells:
            empty = empty or reader.line_num
            continue
        if empty:
            raise source.error("the line is empty; expected a row, as there is one below", empty)
        if len(cells) != width:
            raise source.error(
                f"{len(cells)} cell{'s' * (len(cells) != 1)}; expected {width}, as in the header",
                reader.line_num,
            )
        yield cells


# --- JSON lines -------------------------------------------------------------------------------


def _json_lines(
    source: Source, columns: Sequence[str | None], unit: str | None
) -> tuple[list[str], Read]:
    try:
        head = source.data.lstrip().split(b"\n", 1)[0]
        names, wanted = _choose_columns(
            source, list(next(_objects(source, [head.decode()]))), columns, unit
        )
    except InputError:  # a column may be missing in the first row
        keys: dict[str, None] = {}
        for records in _blocks(source):
            for record in records:
                keys.update(dict.fromkeys(record))
        names, wanted = _choose_columns(source, list(keys), columns, unit)
    contents = {name: Column() for name in wanted}
    number = 0
    for records in _blocks(source):
        for name, column in contents.items():
            values = [record.get(name) for record in records]
            if not _SIMPLE.issuperset(map(type, values)):
                place = next(i for i, value in enumerate(values) if type(value) not in _SIMPLE)
                raise source.error(
                    f"column {name!r} row {number + place + 1} is {shown(values[place])}; expected "
                    f"text, a number or a truth value"
                )
            column.extend(values)
        number += len(records)
    return names, _codes_and_values(contents)


def _blocks(source: Source) -> Iterator[list[dict[str, Any]]]:
    """The objects, many lines at a time: that is much faster than line by line."""
    lines = source.data.decode().split("\n")
    for first in range(0, len(lines), _LINES):
        some = lines[first : first + _LINES]
        block = [bare for line in some if (bare := line.strip(" \t\r"))]
        yield _together(block) or list(_objects(source, lines, first, first + _LINES))


def _together(lines: list[str]) -> list[dict[str, Any]] | None:
    """The objects of some lines, if they are surely one a line; else None.

    Lines are read as the items of one array. A line that begins with a brace can go on the one
    before it only within an array, so without brackets there are as many objects as lines only if
    each is one. Nor has any of them a key twice if there are as many keys as ends of keys.
    """
    text = _BETWEEN.join(lines)
    if "[" in text or not all(line[0] == "{" for line in lines):
        return None
    try:
        records: list[dict[str, Any]] = json.loads(f"[{text}]")
    except (ValueError, RecursionError):
        return None
    if len(records) != len(lines) or text.count("{") != len(lines):
        return None
    keys = sum(map(len, records))
    ends = text.count(":")  # more than there are keys where texts hold colons
    if ends != keys and (text.count('":') != keys or _SPACED.search(text)):
        return None
    return records


def _objects(
    source: Source, lines: list[str], first: int = 0, last: int | None = None
) -> Iterator[dict[str, Any]]:
    """The objects of some lines, one by one, or what is wrong with the first that is none."""
    decode = json.JSONDecoder(object_pairs_hook=_without_doubles).decode
    for number, line in enumerate(lines[first:last], start=first + 1):
        if not line or line.isspace():
            continue
        try:
            record = decode(line)
        except (ValueError, RecursionError) as error:
            reason = getattr(error, "msg", None) or str(error).split(";", maxsplit=1)[0]
            raise source.error(
                f"{snippet(line.encode())} is not JSON ({reason}); expected one object per line",
                number,
            ) from None
        if not isinstance(record, dict):
            raise source.error(
                f"{snippet(line.encode())} is not a JSON object; expected one per line", number
            )
        yield record


def _without_doubles(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    record = dict(pairs)
    if len(record) < len(pairs):
        twice = next(key for key, times in Counter(key for key, _ in pairs).items() if times > 1)
        raise ValueError(f"the key {twice!r:.60} stands there twice")
    return record


def _refuse_twins(source: Source, names: Sequence[str], line: int | None = None) -> None:
    """Two columns of one name: nobody knows which was meant."""
    twice = next((n for n, times in Counter(names).items() if n and times > 1), None)
    if twice is not None:
        raise source.error(f"two columns are called {twice!r}; expected different names", line)


# --- Parquet ----------------------------------------------------------------------------------


def _parquet(
    source: Source, columns: Sequence[str | None], unit: str | None
) -> tuple[list[str], Read]:
    """DuckDB numbers the distinct values of the wanted columns, and sees nothing else."""
    import duckdb

    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "table.parquet"  # a name that DuckDB takes as it is
        if source.path is None:
            place.write_bytes(source.data)
        else:
            place.symlink_to(source.path.resolve())
        try:
            with connected(place) as database:
                _refuse_twins(source, _parquet_names(database, place))
                there = [row[0] for row in database.execute("DESCRIBE source").fetchall()]
                names, wanted = _choose_columns(source, there[:-1], columns, unit)
                return names, {name: _numbered(database, name) for name in wanted}
        except (duckdb.Error, UnicodeError) as error:
            reason = str(error).strip().splitlines()[0].replace(str(place), "it")
            raise source.error(f"is no table that can be read: {reason}") from None


def _parquet_names(database: duckdb.DuckDBPyConnection, place: Path) -> list[str]:
    """The columns as the file names them: DuckDB would give a second one of a name another."""
    query = "SELECT name, coalesce(num_children, 0) FROM parquet_schema(?)"
    (_, columns), *fields = database.execute(query, [str(place)]).fetchall()
    names = []
    for _ in range(columns):
        (name, children), *fields = fields
        names.append(name)
        while children:  # what a nested column is made of
            (_, more), *fields = fields
            children += more - 1
    return names


def _numbered(database: duckdb.DuckDBPyConnection, name: str) -> tuple[Ints, list[Any]]:
    column = '"' + name.replace('"', '""') + '"'
    database.execute(
        f"CREATE OR REPLACE TABLE names AS SELECT v, row_number() OVER () - 1 AS code "  # noqa: S608
        f"FROM (SELECT DISTINCT {column} AS v FROM source)"
    )
    values = [row[0] for row in database.execute("SELECT v FROM names ORDER BY code").fetchall()]
    codes = database.execute(
        f"SELECT code FROM source JOIN names ON {column} IS NOT DISTINCT FROM v "  # noqa: S608
        f"ORDER BY file_row_number"
    ).fetchnumpy()["code"]
    return np.asarray(codes, dtype=np.int32), values


def connected(place: Path) -> duckdb.DuckDBPyConnection:
    """A database that reads this file, and has no other way out of its memory."""
    import duckdb

    settings: dict[str, Any] = {
        "autoinstall_known_extensions": "false",
        "autoload_known_extensions": "false",
        "memory_limit": "700MB",
        "threads": "2",
    }
    database = duckdb.connect(":memory:", config=settings)
    quoted = str(place).replace("'", "''")
    database.execute(f"SET allowed_paths = ['{quoted}']; SET enable_external_access = false")
    database.execute(
        f"CREATE VIEW source AS SELECT * FROM read_parquet('{quoted}', file_row_number = true)"  # noqa: S608
    )
    return database
