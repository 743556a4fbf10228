"""Label tables (CSV, TSV, JSON lines, Parquet) through DuckDB."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from probative.errors import InputError, suggestion
from probative.reading.annotations import Labels
from probative.reading.source import LARGEST, load

if TYPE_CHECKING:
    from collections.abc import Sequence

    import duckdb

    from probative.reading.source import Source

__all__ = ["is_parquet", "read_table"]

_READERS = {
    "csv": "read_csv(?, header = true, all_varchar = true, delim = ',', quote = '\"')",
    "tsv": "read_csv(?, header = true, all_varchar = true, delim = '\t', quote = '')",
    "jsonl": "read_json(?, format = 'newline_delimited')",
    "parquet": "read_parquet(?)",
}
_LOAD = {kind: f"CREATE TABLE source AS SELECT * FROM {how}" for kind, how in _READERS.items()}  # noqa: S608
_GOLD_NAMES = ("gold", "label", "labels", "y", "y_true", "target", "answer")
_PREDICTED_NAMES = ("pred", "prediction", "predicted", "y_pred", "system", *_GOLD_NAMES)


def is_parquet(path: str | Path) -> bool:
    """Whether a file begins as Parquet files do."""
    try:
        with Path(path).open("rb") as file:
            return file.read(4) == b"PAR1"
    except (OSError, ValueError):
        return False


def read_table(
    path: str | Path,
    columns: Sequence[str | None],
    *,
    unit: str | None = None,
    encoding: str | None = None,
    source: Source | None = None,
) -> list[Labels]:
    """Read labels from the columns of a table.

    Parameters
    ----------
    path
        A file with a header (CSV, TSV) or with named fields (JSON lines, Parquet).
    columns
        The columns to read. None stands for the one that holds labels by its name: the first
        one is looked for among the names of answers (gold, label, y, …), others among those of
        predictions.
    unit
        The column that says which items belong together.
    encoding
        As for `load`; Parquet has none.
    source
        The file's content, where it has been read already.
    """
    import duckdb

    with tempfile.TemporaryDirectory() as folder, duckdb.connect(":memory:") as database:
        try:
            database.execute("SET memory_limit = '700MB'; SET threads = 2")
            kind, place = _placed(path, Path(folder), encoding, source)
            database.execute(_LOAD[kind], [str(place)])
            there = [row[0] for row in database.execute("DESCRIBE source").fetchall()]
            names = _chosen(path, there, columns)
            units = None if unit is None else _codes(database, path, _one(path, there, unit))[0]
            return [
                _labels(database, path, name, units, kind, single=len(columns) == 1)
                for name in names
            ]
        except duckdb.Error as error:
            reason = str(error).strip().splitlines()[0].replace(str(folder), "")
            raise InputError(f"is no table that can be read: {reason}", path) from None
        except UnicodeError as error:
            raise InputError(f"is no table that can be read: {error}", path) from None


def _placed(
    path: str | Path, folder: Path, encoding: str | None, source: Source | None
) -> tuple[str, Path]:
    """The kind of table, and a copy (or link) under a name that DuckDB takes as it is."""
    if source is None and is_parquet(path):
        place = folder / "table.parquet"
        place.symlink_to(Path(path).resolve())
        return "parquet", place
    source = source or load(path, encoding=encoding)
    opening = source.data[:1000].lstrip()
    header = opening.splitlines()[0]
    kind = "jsonl" if opening.startswith(b"{") else "tsv" if b"\t" in header else "csv"
    place = folder / f"table.{kind}"
    place.write_bytes(source.data)
    return kind, place


def _one(path: str | Path, there: list[str], name: str) -> str:
    if name not in there:
        shown = ", ".join(there[:20]) + (", …" if len(there) > 20 else "")
        raise InputError(
            f"there is no column {name!r}; expected one of {shown}{suggestion(name, there)}", path
        )
    return name


def _chosen(path: str | Path, there: list[str], columns: Sequence[str | None]) -> list[str]:
    names: list[str] = []
    for place, name in enumerate(columns):
        if name is not None:
            names.append(_one(path, there, name))
            continue
        usual: tuple[str, ...] = _PREDICTED_NAMES if place else _GOLD_NAMES
        if len(columns) == 1:
            usual = _GOLD_NAMES + _PREDICTED_NAMES
        found = [n for n in usual if n in there and n not in names]
        if not found and len(there) == 1:
            found = there
        if not found:
            shown = ", ".join(there[:20]) + (", …" if len(there) > 20 else "")
            raise InputError(
                f"which column holds the labels? There are {shown}; expected them to be named "
                f"(--gold-column, --columns)",
                path,
            )
        names.append(found[0])
    return names


def _codes(database: duckdb.DuckDBPyConnection, path: str | Path, name: str) -> tuple[Any, Any]:
    column = '"' + name.replace('"', '""') + '"'
    missing = database.execute(
        f"SELECT min(rowid) FROM source WHERE {column} IS NULL"  # noqa: S608
    ).fetchone()
    if missing is not None and missing[0] is not None:
        raise InputError(f"row {missing[0] + 1}: column {name!r} is empty; expected a label", path)
    database.execute(
        f"CREATE OR REPLACE TABLE names AS SELECT v, row_number() OVER (ORDER BY v) - 1 AS code "  # noqa: S608
        f"FROM (SELECT DISTINCT CAST({column} AS VARCHAR) AS v FROM source)"
    )
    names = [row[0] for row in database.execute("SELECT v FROM names ORDER BY code").fetchall()]
    codes = database.execute(
        f"SELECT names.code FROM source JOIN names ON CAST({column} AS VARCHAR) = names.v "  # noqa: S608
        f"ORDER BY source.rowid"
    ).fetchnumpy()["code"]
    return np.asarray(codes, dtype=np.int32), names


def _labels(
    database: duckdb.DuckDBPyConnection,
    path: str | Path,
    column: str,
    units: Any,
    kind: str,
    *,
    single: bool,
) -> Labels:
    codes, names = _codes(database, path, column)
    if not len(codes):
        raise InputError("the table has no rows; expected at least one", path)
    if len(codes) > LARGEST:
        raise InputError("the table has more than 2^31 rows", path)
    note = f"{path}: {kind} table, labels in column {column!r}"
    return Labels(str(path) if single else column, codes, tuple(names), units, (note,))
