"""A Parquet file row by row: the cells of columns, and the lists that columns hold."""

from __future__ import annotations

import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from probative.reading.database import connected, literal_path, lock
from probative.reading.parquet_columns import columns_of_file
from probative.reading.tables import Cells, choose_columns, refuse_records, refuse_twins

if TYPE_CHECKING:
    from collections.abc import Iterator

    import duckdb
    from numpy.typing import NDArray

    from probative.reading.source import Source
    from probative.reading.tables import Wanted

__all__ = ["list_columns", "parquet_rows", "read_parquet_cells"]

_CELL = 8  # bytes that a cell takes at least once it is read
_METADATA = "huggingface"  # the key under which datasets of Hugging Face describe themselves


def list_columns(source: Source) -> dict[str, str]:
    """The columns of a Parquet file that hold lists, and of what."""
    with _opened(source) as (database, _, names):
        described = database.execute("DESCRIBE source").fetchall()
    kinds = zip(names, (row[1] for row in described), strict=False)  # without that of the places
    return {name: kind[:-2] for name, kind in kinds if kind.endswith("[]")}


def parquet_rows(source: Source) -> tuple[list[dict[str, Any]], str | None]:
    """Every row with its columns of lists, and what Hugging Face's library says of the columns."""
    lists = list(list_columns(source))
    with _opened(source) as (database, place, names):
        columns = [f"c{names.index(name)}" for name in lists]
        if source.limit is not None and columns:
            sizes = " + ".join(f"coalesce(strlen({column}::VARCHAR), 0)" for column in columns)
            ((size,),) = database.execute(f"SELECT sum({sizes}) FROM source").fetchall()
            source.refuse_unpacking(int(size or 0))
        asked = ", ".join(columns) or "NULL"
        rows = database.execute(f"SELECT {asked} FROM source ORDER BY place").fetchall()
        metadata = database.execute(
            f"SELECT decode(value) FROM parquet_kv_metadata({literal_path(place)}) "
            f"WHERE decode(key) = ?",
            [_METADATA],
        ).fetchall()
    records = [dict(zip(lists, row, strict=False)) for row in rows]
    return records, metadata[0][0] if metadata else None


def read_parquet_cells(source: Source, wanted: Wanted) -> Cells:
    """Read columns of a table; DuckDB numbers their distinct values, and sees nothing else."""
    with _opened(source) as (database, _, there):
        refuse_twins(source, there)
        described = database.execute("DESCRIBE source").fetchall()[:-1]  # the last one is `place`
        kinds = {name: row[1] for name, row in zip(there, described, strict=True)}
        names, unit, asked = choose_columns(wanted, there, source.error)
        lists = {name for name, kind in kinds.items() if kind.endswith("[]")}
        objects = {name for name, kind in kinds.items() if kind.startswith(("STRUCT", "MAP"))}
        refuse_records(wanted, names, there, objects, lists, source.error)
        read = {name: _numbered(database, f"c{there.index(name)}") for name in asked}
        return Cells("parquet", names, unit, read, group=wanted.group)


def _numbered(
    database: duckdb.DuckDBPyConnection, column: str
) -> tuple[NDArray[np.int32], list[Any]]:
    database.execute(
        f"CREATE OR REPLACE TABLE names AS SELECT v, row_number() OVER () - 1 AS code "
        f"FROM (SELECT DISTINCT {column} AS v FROM source)"
    )
    values = [row[0] for row in database.execute("SELECT v FROM names ORDER BY code").fetchall()]
    codes = database.execute(
        f"SELECT code FROM source JOIN names ON {column} IS NOT DISTINCT FROM v ORDER BY place"
    ).fetchnumpy()["code"]
    return np.asarray(codes, dtype=np.int32), values


@contextmanager
def _opened(source: Source) -> Iterator[tuple[duckdb.DuckDBPyConnection, Path, list[str]]]:
    """A database that sees the file as `source`, where it sees it, and the names of the columns.

    There the columns are c0, c1, …, and the place of a row is `place`: a file may have any names.

    What came through a pipe has no place: it is put somewhere for as long.
    """
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
            _refuse_bomb(source, database, place)
            yield database, place, names
        except (duckdb.Error, UnicodeError) as error:
            reason = str(error).strip().splitlines()[0].replace(literal_path(place), "it")
            raise source.error(f"is no table that can be read: {reason}") from None


def _refuse_bomb(source: Source, database: duckdb.DuckDBPyConnection, place: Path) -> None:
    """Refuse a file of more than its limit by what it declares: bytes, and values of rows.

    A value that a million rows share takes a few bytes there, and as many here as rows.
    """
    if source.limit is None:
        return
    ((size,),) = database.execute(
        f"SELECT sum(greatest(total_uncompressed_size, {_CELL} * "
        f"greatest(num_values, row_group_num_rows))) FROM parquet_metadata({literal_path(place)})"
    ).fetchall()
    source.refuse_unpacking(int(size or 0))
