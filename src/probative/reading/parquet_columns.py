"""What the columns of Parquet files are called, and whether all files agree."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from probative.reading.database import literal_path

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import duckdb

    from probative.reading.table_files import TableFiles

__all__ = ["check_types", "columns_of_file"]


def columns_of_file(
    database: duckdb.DuckDBPyConnection, path: Path
) -> list[tuple[str, tuple[str, ...]]]:
    """The columns of a file as it names them, each with what it is made of.

    DuckDB would give a second column of a name another one.
    """
    query = (
        f"SELECT name, coalesce(num_children, 0), type, converted_type, logical_type::VARCHAR "
        f"FROM parquet_schema({literal_path(path)})"
    )
    (_, number, *_), *fields = database.execute(query).fetchall()
    columns = []
    for _ in range(number):
        (name, children, *kind), *fields = fields
        made_of = [tuple(map(str, kind))]
        while children:  # what a nested column is made of
            (_, more, *inner), *fields = fields
            made_of.append(tuple(map(str, inner)))
            children += more - 1
        columns.append((name, tuple(part for parts in made_of for part in parts)))
    return columns


def check_types(
    database: duckdb.DuckDBPyConnection, files: TableFiles, columns: Sequence[str]
) -> TableFiles:
    """Return the table with the columns of each file; refuse one of another kind in one file.

    The engine would make the numbers of one file those of another: 0.5 would become 0.
    """
    of_files = [columns_of_file(database, path) for path in files.paths]
    headers = tuple(tuple(name for name, _ in own) for own in of_files)
    files = replace(files, headers=headers, columns=(*headers[0], *files.partitions))
    for column in dict.fromkeys(columns):
        kinds = [next((kind for name, kind in own if name == column), None) for own in of_files]
        for path, own in zip(files.paths, kinds, strict=True):
            if own is not None and kinds[0] is not None and own != kinds[0]:
                raise files.error(
                    f"column {column!r} is {_shown(own)}, but {_shown(kinds[0])} in "
                    f"{files.paths[0]}; expected the same type in every file",
                    path,
                )
    return files


def _shown(kind: tuple[str, ...]) -> str:
    physical, converted, *_ = kind
    return physical if converted == "None" else converted
