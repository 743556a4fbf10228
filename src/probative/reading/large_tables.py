"""Which tables are counted by the engine, and what is made of them.

Folders, patterns and databases always are, and files from a size on at which reading them row by
row takes long. What needs the rows (sets of labels, tags of tokens, probabilities) is read by
rows, where that can be done.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from probative.reading.condensed import NeedsRowsError, condense, described, opened
from probative.reading.database import connected, literal_path
from probative.reading.formats import Glance, recognise
from probative.reading.parquet_columns import columns_of_file
from probative.reading.source import Source
from probative.reading.table_files import (
    DATABASES,
    TableFiles,
    find_tables,
    head_of,
    is_many,
    is_path_of_table,
    kind_of,
)
from probative.reading.table_sides import Sides, tags_reason
from probative.reading.tables import Wanted, choose_columns, is_number
from probative.reading.tool_sides import PAIRS

if TYPE_CHECKING:
    from collections.abc import Sequence

    import duckdb

    from probative.reading.annotations import Labels
    from probative.reading.opening import Options
    from probative.reading.tables import Cells

__all__ = ["LARGE_TEXT", "MANY_ROWS", "Engine", "read_large_pair"]

LARGE_TEXT = 64 << 20  # bytes of a text
MANY_ROWS = 1_000_000  # of a Parquet file


class Engine(NamedTuple):
    """How the engine is asked for.

    Attributes
    ----------
    memory_limit
        How much memory it may use; a table for which this is given is counted whatever its size.
    table
        Which table of a database to read.
    """

    memory_limit: str | None = None
    table: str | None = None


def read_large_pair(
    path: Any, options: Options, gold: Any, columns: Sequence[Any], engine: Engine
) -> tuple[Labels, list[Labels], list[str]] | None:
    """An answer and systems from a table that the engine counts; None if it does not.

    Parameters
    ----------
    path
        A file, a folder or a pattern.
    options
        How to read it.
    gold, columns
        The columns of the answer and of the systems.
    engine
        How the engine is asked for.
    """
    files = large_table(path, options, [gold, *columns], engine)
    if files is None:
        return None
    try:
        with opened([files], engine.memory_limit) as (database, (table,)):
            cells = _count(database, table, options, gold, columns)
    except NeedsRowsError as reason:
        if not can_be_read_by_rows(files):
            raise files.error(
                f"{reason}, which the engine does not count; expected columns of labels, or one "
                f"smaller file"
            ) from None
        return None
    answer, *systems = sides_of_cells(files, cells, options)
    return answer, systems, [system.name for system in systems]


def sides_of_cells(
    files: TableFiles, cells: Cells, options: Options, *, tell: bool = True
) -> list[Any]:
    """The labels of every column, with how often rows repeat.

    Parameters
    ----------
    files, cells
        The table, and what was counted.
    options
        How to understand it.
    tell
        Whether a note is to say who has counted.
    """
    rows = int(cells.repeats.of_rows(cells.units).sum()) if cells.repeats is not None else 0
    first, *others = Sides(
        cells, replace(options, task="labels"), files.name, Source(files.name, b" ")
    ).make()
    if not tell:
        return [first, *others]
    note = f"{files.name}: {rows:,} rows, counted by the engine: no single row can be shown"
    return [replace(first, notes=(*first.notes, note)), *others]


def can_be_read_by_rows(files: TableFiles) -> bool:
    """Whether there is another way."""
    return len(files.paths) == 1 and not is_many(files.name) and files.kind not in DATABASES


def large_table(
    path: Any, options: Options, columns: Sequence[Any], engine: Engine
) -> TableFiles | None:
    """The table that a path stands for, if the engine is to count it."""
    asked = engine.memory_limit is not None or engine.table is not None
    if not is_path_of_table(path):
        return None
    whole = is_many(path)
    if not (asked or whole) and not _is_large(Path(path)):
        return None
    files = find_tables(path, comments=options.comments, header=options.header, table=engine.table)
    why = _needs_rows(options)
    if files is None or (why and can_be_read_by_rows(files)):
        return None
    if why:
        raise files.error(f"{why} needs rows; expected columns of labels, or one smaller file")
    if files.kind in ("csv", "tsv", "jsonl") and not _is_table(files, options, columns):
        return None
    return files


def _is_large(path: Path) -> bool:
    try:
        if not path.is_file():
            return False
        kind = kind_of(path)
        if kind != "parquet":
            return kind in DATABASES or path.stat().st_size >= LARGE_TEXT
    except (OSError, ValueError):
        return False  # told when it is read
    import duckdb

    try:
        with connected() as database:
            ((rows,),) = database.execute(
                f"SELECT sum(num_rows) FROM parquet_file_metadata({literal_path(path)})"
            ).fetchall()
    except duckdb.Error:
        return False
    return int(rows) > MANY_ROWS


def _needs_rows(options: Options) -> str | None:
    """What cannot be told from columns of labels alone."""
    if options.task not in (None, "labels"):
        return f"task={options.task!r}"
    if options.multilabel:
        return "multilabel="
    if options.probability_columns:
        return "probability_columns="
    if options.input_format not in (None, "table"):
        return f"input_format={options.input_format!r}"
    if options.encoding is not None and options.encoding.lower() not in ("utf-8", "utf8", "ascii"):
        return f"encoding={options.encoding!r}"
    return None


def _is_table(files: TableFiles, options: Options, columns: Sequence[Any]) -> bool:
    """Whether the first lines are those of a table, by the rules for all files."""
    head = head_of(files.paths[0], files.shown(files.paths[0]))
    if options.input_format is not None:
        return True
    if all(c is None or isinstance(c, int) or is_number(str(c)) for c in columns):
        return recognise(head, options).kind == "table"
    tool = Glance(head, options).tool
    return tool is None or tool[0] not in PAIRS


def _count(
    database: duckdb.DuckDBPyConnection,
    files: TableFiles,
    options: Options,
    gold: Any,
    columns: Sequence[Any],
) -> Cells:
    wanted = [gold, *columns] if columns else [gold, None]
    files = with_names(database, files)
    names, unit = choose(files, wanted, options)
    group = _named(files, options.group, options)
    beside = [column for column in (unit, group) if column is not None]
    scanned = described(database, files, [*names, *beside, *options.key])
    if options.key:
        _refuse_doubled(database, scanned, options.key)
    if group in names:  # a column of labels that parts the rows, too
        raise NeedsRowsError(f"column {group!r} holds labels and groups")
    cells = condense(database, scanned, names, unit, group)
    refuse_tags(cells, names[0], options)
    return cells


def _refuse_doubled(database: duckdb.DuckDBPyConnection, table: Any, key: Sequence[str]) -> None:
    """Of one table: an id that stands there twice, or a row without one."""
    from probative.reading.keys import Mismatch, settle

    columns = ", ".join(f"{table.text(column)} AS k{i}" for i, column in enumerate(key))
    keys = ", ".join(f"k{i}" for i in range(len(key)))
    lost = " OR ".join(f"k{i} IS NULL" for i in range(len(key)))
    shown = f"concat_ws(', ', {keys})"
    ((ids, doubled, examples, without),) = database.execute(
        f"SELECT count(*), count(*) FILTER (n > 1 AND NOT ({lost})), "
        f"min({shown}, 3) FILTER (n > 1 AND NOT ({lost})), "
        f"coalesce(sum(n) FILTER ({lost}), 0) FROM (SELECT {keys}, count(*) AS n FROM "
        f"(SELECT {columns} FROM {table.scan(key)}) GROUP BY {keys})"
    ).fetchall()
    own = Mismatch(table.files.name, doubled=(doubled, tuple(examples or ())), without=int(without))
    settle([own], key, "error", ids, ids)


def with_names(database: duckdb.DuckDBPyConnection, files: TableFiles) -> TableFiles:
    """The table with what its columns are called, where only the engine knows."""
    if files.kind != "parquet" or files.columns:
        return files
    names = [name for name, _ in columns_of_file(database, files.paths[0])]
    return replace(files, columns=(*names, *files.partitions))


def choose(
    files: TableFiles, wanted: Sequence[Any], options: Options
) -> tuple[list[str], str | None]:
    """The names of the columns of labels and of that of units."""
    names = [_named(files, column, options) for column in wanted]
    unit = _named(files, options.unit, options)
    predicted = options.predicted and len(wanted) == 1
    chosen, unit, _ = choose_columns(
        Wanted(names, unit, predicted=predicted), list(dict.fromkeys(files.columns)), files.error
    )
    return chosen, unit


def _named(files: TableFiles, column: Any, options: Options) -> str | None:
    """A column by its name; a number is that of a table without names."""
    if column is None:
        return None
    name = str(column)
    if not is_number(name) or (name in files.columns and options.header is not False):
        return name
    if files.kind not in ("csv", "tsv"):
        return name
    if options.header is None:
        raise files.error(
            f"column {name} is asked for by its number; expected header=True or header=False"
        )
    place = int(name) - 1 if int(name) > 0 else len(files.columns) + int(name)
    if not 0 <= place < len(files.columns):
        raise files.error(f"there is no column {name}; expected 1 to {len(files.columns)}")
    return files.columns[place]


def refuse_tags(cells: Cells, name: str, options: Options) -> None:
    """Tags of tokens are not labels unless that is said: they need their sentences."""
    reason = None if options.task == "labels" else tags_reason(cells.columns[name][1])
    if reason is not None:
        raise NeedsRowsError(f"column {name!r} holds tags ({reason}; or task='labels')")
