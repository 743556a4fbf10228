"""Read Parquet files: their columns, their rows, and columns of lists."""

from __future__ import annotations

import tempfile
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from probative.reading.database import connected, literal_path, lock
from probative.reading.tables import Cells, choose_columns, refuse_records, refuse_twins

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import duckdb

    from probative.reading.source import Source
    from probative.reading.table_files import TableFiles
    from probative.reading.tables import Wanted


# --- Column names and types


def columns_of_file(
    database: duckdb.DuckDBPyConnection, path: Path
) -> list[tuple[str, tuple[str, ...]]]:
    """Return the columns of a file by their names in it, each with its types."""
    # DuckDB itself would rename a second column of the same name
    query = (
        f"SELECT name, coalesce(num_children, 0), type, converted_type, logical_type::VARCHAR "
        f"FROM parquet_schema({literal_path(path)})"
    )
    (_, number, *_), *fields = database.execute(query).fetchall()
    columns = []
    for _ in range(number):
        (name, children, *kind), *fields = fields
        while children:  # parts of a nested column
            (_, more, *inner), *fields = fields
            kind += inner
            children += more - 1
        columns.append((name, tuple(map(str, kind))))
    return columns


def check_types(
    database: duckdb.DuckDBPyConnection, files: TableFiles, columns: Sequence[str]
) -> TableFiles:
    """Return the table with the columns of each file; refuse columns whose type varies."""
    # the engine would convert the numbers of one file to the type of another: 0.5 would become 0
    of_files = [columns_of_file(database, path) for path in files.paths]
    headers = tuple(tuple(name for name, _ in own) for own in of_files)
    files = replace(files, headers=headers, columns=(*headers[0], *files.partitions))
    for column in dict.fromkeys(columns):
        kinds = [next((kind for name, kind in own if name == column), None) for own in of_files]
        for path, own in zip(files.paths, kinds, strict=True):
            if own is not None and kinds[0] is not None and own != kinds[0]:
                mine, theirs = (k[0] if k[1] == "None" else k[1] for k in (own, kinds[0]))
                problem = f"column {column!r} is {mine}, but {theirs} in {files.paths[0]}"
                raise files.error(f"{problem}; expected the same type in every file", path)
    return files


# --- Cells and lists of a single file

_BYTES_PER_CELL = 8  # at least, once it is read
_METADATA = "huggingface"  # key of the metadata that Hugging Face datasets write


def list_columns(source: Source) -> list[str]:
    """Return the columns of a Parquet file that hold lists."""
    with _opened(source) as (_, _, columns):
        return [name for name, kind in columns if kind.endswith("[]")]


def parquet_rows(
    source: Source, *, lists: bool = False, most: int | None = None
) -> tuple[list[dict[str, Any]], str | None]:
    """Return the rows (with columns of lists alone), and Hugging Face's metadata on the columns."""
    with _opened(source) as (database, place, columns):
        wanted = [not lists or kind.endswith("[]") for _, kind in columns]
        chosen = {f"c{i}": name for i, (name, _) in enumerate(columns) if wanted[i]}
        if source.limit is not None and lists and chosen:
            sizes = " + ".join(f"coalesce(strlen({column}::VARCHAR), 0)" for column in chosen)
            ((size,),) = database.execute(f"SELECT sum({sizes}) FROM source").fetchall()
            source.refuse_unpacking(int(size or 0))
        some = "" if most is None else f" LIMIT {most}"
        asked = f"SELECT {', '.join(chosen) or 'NULL'} FROM source ORDER BY place{some}"
        rows = database.execute(asked).fetchall()
        metadata = database.execute(
            f"SELECT decode(value) FROM parquet_kv_metadata({literal_path(place)}) "
            f"WHERE decode(key) = ?",
            [_METADATA],
        ).fetchall()
    records = [dict(zip(chosen.values(), row, strict=False)) for row in rows]
    return records, metadata[0][0] if metadata else None


def read_parquet_cells(source: Source, wanted: Wanted) -> Cells:
    """Read columns of a table; DuckDB numbers their distinct values."""
    with _opened(source) as (database, _, columns):
        there = [name for name, _ in columns]
        refuse_twins(source, there)
        names, unit, asked = choose_columns(wanted, there, source.error)
        lists = {name for name, kind in columns if kind.endswith("[]")}
        objects = {name for name, kind in columns if kind.startswith(("STRUCT", "MAP"))}
        refuse_records(wanted, names, there, objects, lists, source.error)
        read = {}
        for name in asked:
            column = f"c{there.index(name)}"
            database.execute(
                f"CREATE OR REPLACE TABLE names AS SELECT v, row_number() OVER () - 1 AS code "
                f"FROM (SELECT DISTINCT {column} AS v FROM source)"
            )
            values = database.execute("SELECT v FROM names ORDER BY code").fetchall()
            joined = f"source JOIN names ON {column} IS NOT DISTINCT FROM v"
            found = database.execute(f"SELECT code FROM {joined} ORDER BY place").fetchnumpy()
            codes = np.asarray(found["code"], dtype=np.int32)
            read[name] = codes, [value for (value,) in values]
        return Cells("parquet", names, unit, read, group=wanted.group)


@contextmanager
def _opened(
    source: Source,
) -> Iterator[tuple[duckdb.DuckDBPyConnection, Path, list[tuple[str, str]]]]:
    """Yield a connection with the view `source`, the path of the file, and the columns' types."""
    # In the view, columns are c0, c1, … and the row number is `place`, because a file may have any
    # names. Data from a pipe are written to a temporary file.
    import duckdb

    with tempfile.TemporaryDirectory() as folder, connected() as database:
        place = source.path
        if place is None:
            place = Path(folder) / "table.parquet"
            place.write_bytes(source.data)
        try:
            database.execute("SET preserve_insertion_order = true")
            lock(database, [place])
            names = [name for name, _ in columns_of_file(database, place)]
            columns = ", ".join(f"c{number}" for number in range(len(names)))
            database.execute(
                f"CREATE VIEW source AS SELECT {columns}, row_number() OVER () AS place FROM "
                f"read_parquet({literal_path(place)}, hive_partitioning = false) AS t({columns})"
            )
            if source.limit is not None:
                # a value of a million rows takes a few bytes here, but memory for every row
                ((size,),) = database.execute(
                    f"SELECT sum(greatest(total_uncompressed_size, {_BYTES_PER_CELL} * "
                    f"greatest(num_values, row_group_num_rows))) "
                    f"FROM parquet_metadata({literal_path(place)})"
                ).fetchall()
                source.refuse_unpacking(int(size or 0))
            described = database.execute("DESCRIBE source").fetchall()  # the last one is `place`
            yield database, place, [(n, row[1]) for n, row in zip(names, described, strict=False)]
        except (duckdb.Error, UnicodeError) as error:
            reason = str(error).strip().splitlines()[0].replace(literal_path(place), "it")
            raise source.error(f"is no table that can be read: {reason}") from None
