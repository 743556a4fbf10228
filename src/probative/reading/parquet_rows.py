"""A Parquet file row by row: the cells of columns, and the lists that columns hold."""

from __future__ import annotations

import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from probative.reading.database import connected, identifier, literal_path, lock
from probative.reading.parquet_columns import columns_of_file
from probative.reading.tables import Cells, choose_columns, refuse_records, refuse_twins

if TYPE_CHECKING:
    from collections.abc import Iterator

    import duckdb
    from numpy.typing import NDArray

    from probative.reading.source import Source
    from probative.reading.tables import Wanted

__all__ = ["list_columns", "parquet_rows", "read_parquet_cells"]

_METADATA = "huggingface"  # the key under which datasets of Hugging Face describe themselves


def list_columns(source: Source) -> dict[str, str]:
    """The columns of a Parquet file that hold lists, and of what."""
    with _opened(source) as (database, _):
        described = database.execute("DESCRIBE source").fetchall()
    return {row[0]: row[1][:-2] for row in described if row[1].endswith("[]")}


def parquet_rows(source: Source) -> tuple[list[dict[str, Any]], str | None]:
    """Every row with its columns of lists, and what Hugging Face's library says of the columns."""
    names = list(list_columns(source))
    with _opened(source) as (database, place):
        quoted = ", ".join(map(identifier, names))
        rows = database.execute(
            f"SELECT {quoted or 'NULL'} FROM source ORDER BY file_row_number"
        ).fetchall()
        metadata = database.execute(
            f"SELECT decode(value) FROM parquet_kv_metadata({literal_path(place)}) "
            f"WHERE decode(key) = ?",
            [_METADATA],
        ).fetchall()
    records = [dict(zip(names, row, strict=False)) for row in rows]
    return records, metadata[0][0] if metadata else None


def read_parquet_cells(source: Source, wanted: Wanted) -> Cells:
    """Read columns of a table; DuckDB numbers their distinct values, and sees nothing else."""
    with _opened(source) as (database, place):
        refuse_twins(source, [name for name, _ in columns_of_file(database, place)])
        kinds = dict(row[:2] for row in database.execute("DESCRIBE source").fetchall()[:-1])
        names, unit, asked = choose_columns(wanted, list(kinds), source.error)
        lists = {name for name, kind in kinds.items() if kind.endswith("[]")}
        objects = {name for name, kind in kinds.items() if kind.startswith(("STRUCT", "MAP"))}
        refuse_records(wanted, names, list(kinds), objects, lists, source.error)
        read = {name: _numbered(database, name) for name in asked}
        return Cells("parquet", names, unit, read, group=wanted.group)


def _numbered(
    database: duckdb.DuckDBPyConnection, name: str
) -> tuple[NDArray[np.int32], list[Any]]:
    column = identifier(name)
    database.execute(
        f"CREATE OR REPLACE TABLE names AS SELECT v, row_number() OVER () - 1 AS code "
        f"FROM (SELECT DISTINCT {column} AS v FROM source)"
    )
    values = [row[0] for row in database.execute("SELECT v FROM names ORDER BY code").fetchall()]
    codes = database.execute(
        f"SELECT code FROM source JOIN names ON {column} IS NOT DISTINCT FROM v "
        f"ORDER BY file_row_number"
    ).fetchnumpy()["code"]
    return np.asarray(codes, dtype=np.int32), values


@contextmanager
def _opened(source: Source) -> Iterator[tuple[duckdb.DuckDBPyConnection, Path]]:
    """A database that sees the file, and where it sees it; what is wrong with it is an error.

    What came through a pipe has no place: it is put somewhere for as long.
    """
    import duckdb

    with tempfile.TemporaryDirectory() as folder, connected() as database:
        place = source.path
        if place is None:
            place = Path(folder) / "table.parquet"
            place.write_bytes(source.data)
        try:
            lock(database, [place])
            database.execute(
                f"CREATE VIEW source AS SELECT * FROM read_parquet({literal_path(place)}, "
                f"file_row_number = true, hive_partitioning = false)"
            )
            yield database, place
        except (duckdb.Error, UnicodeError) as error:
            reason = str(error).strip().splitlines()[0].replace(literal_path(place), "it")
            raise source.error(f"is no table that can be read: {reason}") from None
