"""Tables of any size that are joined by their ids, in the engine: rows may stand in any order."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from probative.errors import InputError
from probative.reading.condensed import (
    Kinds,
    NeedsRowsError,
    cells_of,
    count_kinds,
    described,
    opened,
    refuse_missing,
)
from probative.reading.database import watched
from probative.reading.keys import NOTHING, Mismatch, settle
from probative.reading.large_tables import (
    can_be_read_by_rows,
    choose,
    large_table,
    refuse_tags,
    sides_of_cells,
    with_names,
)
from probative.reading.table_files import find_tables, is_path_of_table

if TYPE_CHECKING:
    from collections.abc import Sequence

    import duckdb

    from probative.reading.annotations import Labels
    from probative.reading.condensed import Scanned
    from probative.reading.large_tables import Engine
    from probative.reading.opening import Options
    from probative.reading.table_files import TableFiles

__all__ = ["read_large_joined"]

_STAND_IN = "\x00"  # for the label of a row that is not there, before all others in their order


def read_large_joined(
    paths: Sequence[Any],
    columns: Sequence[str | None],
    options: Options,
    engine: Engine,
    on_missing: str,
) -> tuple[Labels, list[Labels], list[str]] | None:
    """The answer and the systems of tables that the engine joins; None if none of them is large.

    Parameters
    ----------
    paths
        The tables, the answer first.
    columns
        The column of labels in each of them.
    options
        How to read them, with the key.
    engine
        How the engine is asked for.
    on_missing
        What becomes of ids that not all tables have.

    Returns
    -------
    The answer, the systems, and notes.
    """
    if not all(map(is_path_of_table, paths)):
        return None
    large = [large_table(path, options, [None], engine) for path in paths]
    if all(files is None for files in large):
        return None
    tables = []
    for path, files in zip(paths, large, strict=True):
        own = files or find_tables(path, comments=options.comments, header=options.header)
        if own is None:
            raise InputError(
                "is no table to be joined (key=); expected CSV, TSV, JSON lines or Parquet", path
            )
        tables.append(own)
    try:
        with opened(tables, engine.memory_limit) as (database, attached):
            return _join(database, attached, columns, options, on_missing)
    except NeedsRowsError as reason:
        if all(map(can_be_read_by_rows, tables)):
            return None
        raise InputError(
            f"key: {reason}, which the engine does not count; expected columns of labels"
        ) from None


def _join(
    database: duckdb.DuckDBPyConnection,
    tables: Sequence[TableFiles],
    columns: Sequence[str | None],
    options: Options,
    on_missing: str,
) -> tuple[Labels, list[Labels], list[str]]:
    scanned, names = [], []
    unit = None
    for place, (files, column) in enumerate(zip(tables, columns, strict=True)):
        own_unit = options.unit if not place else None
        of_side = replace(options, predicted=place > 0, unit=own_unit)
        named = with_names(database, files)
        (name,), own_unit = choose(named, [column], of_side)
        unit = own_unit if not place else unit
        asked = [name, *options.key, *([own_unit] if own_unit is not None else [])]
        asked += [options.group] if options.group is not None and not place else []
        scanned.append(described(database, named, asked))
        names.append(name)
    with watched(database):
        database.execute(f"CREATE TEMP TABLE matched AS {_matched(scanned, names, options, unit)}")
    notes = _settle(database, scanned, options.key, on_missing)
    width = len(tables)
    fits = [f"n{i} = 1" for i in range(width if on_missing == "drop" else 1)]
    said = ", ".join(f"v{i} AS c{i}, n{i} AS c{width + i}" for i in range(width))
    said += "" if options.group is None else f", g AS c{2 * width}"
    size = 2 * width + (options.group is not None)
    rows = f"SELECT {said}{', w AS u' if unit is not None else ''} FROM matched WHERE "
    kinds = count_kinds(database, rows + " AND ".join(fits), size, has_unit=unit is not None)
    values = []
    for i, (table, name) in enumerate(zip(scanned, names, strict=True)):
        held = kinds.values[width + i]
        own = [table.read(name, value) for value in kinds.values[i]]
        there = Kinds([], kinds.number, kinds.without_unit if not i else 0)
        asked = [v if n else "there" for v, n in zip(own, held, strict=True)]
        refuse_missing(table.files, [name], [asked], there, unit)
        values.append([v if n else NOTHING for v, n in zip(own, held, strict=True)])
    return (*_sides(scanned, names, values, kinds, unit, options), notes)


def _matched(
    tables: Sequence[Scanned], names: Sequence[str], options: Options, unit: str | None
) -> str:
    """A row per id: how many rows each table has of it, what they say, and the unit of the answer.

    What an id is called is kept only where not every table has one row of it.
    """
    width, key, group = len(tables), options.key, options.group
    parts = []
    for place, (table, name) in enumerate(zip(tables, names, strict=True)):
        own = [f"{table.text(column)} AS k{i}" for i, column in enumerate(key)]
        own.append(f"{place} AS side")
        own += [f"{table.value(name) if i == place else 'NULL'} AS v{i}" for i in range(width)]
        if unit is not None:
            own.append(f"{table.text(unit) if not place else 'NULL'} AS w")
        if group is not None:
            own.append(f"{table.value(group) if not place else 'NULL'} AS g")
        beside = [column for column in (unit, group) if column is not None and not place]
        asked = [*key, name, *beside]
        parts.append(f"SELECT {', '.join(own)} FROM {table.scan(asked)}")
    keys = ", ".join(f"k{i}" for i in range(len(key)))
    held = ", ".join(f"count(*) FILTER (side = {i}) AS n{i}" for i in range(width))
    said = ", ".join(f"any_value(v{i}) AS v{i}" for i in range(width))
    units = "" if unit is None else ", any_value(w) AS w"
    units += "" if group is None else ", any_value(g) AS g"
    fits = " AND ".join(f"n{i} = 1" for i in range(width))
    lost = " OR ".join(f"k{i} IS NULL" for i in range(len(key)))
    return (
        f"SELECT * EXCLUDE ({keys}), ({lost}) AS lost, CASE WHEN NOT ({fits}) THEN "
        f"concat_ws(', ', {keys}) END AS id FROM (SELECT {keys}, {held}, {said}{units} FROM "
        f"({' UNION ALL '.join(parts)}) GROUP BY {keys})"
    )


def _settle(
    database: duckdb.DuckDBPyConnection,
    tables: Sequence[Scanned],
    key: Sequence[str],
    on_missing: str,
) -> list[str]:
    """What is wrong with the ids is an error, or said."""
    wrong = []
    for i, table in enumerate(tables):
        which = {
            "missing": f"n0 > 0 AND n{i} = 0",
            "extra": f"n0 = 0 AND n{i} > 0",
            "doubled": f"n{i} > 1",
        }
        parts = [
            f"count(*) FILTER ({own} AND NOT lost), min(id, 3) FILTER ({own} AND NOT lost)"
            for own in which.values()
        ]
        *found, without = database.execute(
            f"SELECT {', '.join(parts)}, coalesce(sum(n{i}) FILTER (lost), 0) FROM matched"
        ).fetchall()[0]
        told = {
            what: (number, tuple(examples or ()))
            for what, number, examples in zip(which, found[::2], found[1::2], strict=True)
        }
        wrong.append(Mismatch(table.files.name, **told, without=int(without)))
    every = " AND ".join(f"n{i} > 0" for i in range(len(tables)))
    ((answered, common),) = database.execute(
        f"SELECT count(*) FILTER (n0 > 0), count(*) FILTER ({every}) FROM matched"
    ).fetchall()
    return settle(wrong, key, on_missing, answered, common)


def _sides(
    tables: Sequence[Scanned],
    names: Sequence[str],
    values: Sequence[Sequence[Any]],
    kinds: Kinds,
    unit: str | None,
    options: Options,
) -> tuple[Labels, list[Labels]]:
    """The labels of every table, each with its own notes."""
    sides = []
    plain = replace(options, key=(), unit=None, group=None)
    for table, name, own in zip(tables, names, values, strict=True):
        has_all = NOTHING not in own
        content = [v if has_all or v != NOTHING else _STAND_IN for v in own]
        columns, contents, group = [name], [content], None
        if options.group is not None and table is tables[0]:
            group = options.group
            columns.append(group)
            contents.append([table.read(group, value) for value in kinds.values[2 * len(tables)]])
        cells = cells_of(table.files.kind, columns, contents, kinds, unit, group)
        refuse_tags(cells, name, options)
        (side,) = sides_of_cells(table.files, cells, plain, tell=table is tables[0])
        if not has_all:
            side = replace(side, names=tuple(NOTHING if n == _STAND_IN else n for n in side.names))
        sides.append(side)
    return sides[0], sides[1:]
