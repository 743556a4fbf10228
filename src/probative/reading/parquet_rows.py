"""Rows of a Parquet file as objects of Python, for the columns that hold lists."""

from __future__ import annotations

import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from probative.reading.tables import connected

if TYPE_CHECKING:
    from collections.abc import Iterator

    import duckdb

    from probative.reading.source import Source

__all__ = ["list_columns", "parquet_rows"]

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
        quoted = ", ".join('"' + name.replace('"', '""') + '"' for name in names)
        rows = database.execute(
            f"SELECT {quoted or 'NULL'} FROM source ORDER BY file_row_number"  # noqa: S608
        ).fetchall()
        metadata = database.execute(
            "SELECT decode(value) FROM parquet_kv_metadata(?) WHERE decode(key) = ?",
            [str(place), _METADATA],
        ).fetchall()
    records = [dict(zip(names, row, strict=False)) for row in rows]
    return records, metadata[0][0] if metadata else None


@contextmanager
def _opened(source: Source) -> Iterator[tuple[duckdb.DuckDBPyConnection, Path]]:
    """A database that sees the file, and where it sees it; what is wrong with it is an error."""
    import duckdb

    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "table.parquet"  # a name that DuckDB takes as it is
        if source.path is None:
            place.write_bytes(source.data)
        else:
            place.symlink_to(source.path.resolve())
        try:
            with connected(place) as database:
                yield database, place
        except (duckdb.Error, UnicodeError) as error:
            reason = str(error).strip().splitlines()[0].replace(str(place), "it")
            raise source.error(f"is no table that can be read: {reason}") from None
