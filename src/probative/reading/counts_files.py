"""Read tables of confusion counts from CSV, TSV and JSON files."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from probative._validation import MOST
from probative.counts import Counts
from probative.errors import InputError, suggestion
from probative.reading.source import Source, load
from probative.reading.tables import delimited_rows

if TYPE_CHECKING:
    Rows = list[tuple[int, dict[str, Any]]]  # rows with their line numbers

_LIMIT = 1 << 26  # largest size of a file of counts, in bytes
_NEEDED = ("tp", "fp", "fn")
_KNOWN = (*_NEEDED, "tn", "model", "run")
# usual names of a column of units
_UNIT = re.compile(
    r"(.*[_ ])?(doc|docs|document|doc_?name|id|idx|uid|uuid|guid|key|unit|item|sentence|sent|file|"
    r"filename|text|example|fold)"
)
_NUMBER = re.compile(r"\s*[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d{1,4})?\s*", re.ASCII)


def read_counts(path: Path | str) -> Counts:
    """Read tables of counts, one per row of CSV, TSV or JSON, into an array-valued `Counts`."""
    return _to_counts(_read_rows(path), path)


def _to_counts(rows: Rows, path: Path | str) -> Counts:
    """Convert the rows of a file to counts, checking every cell."""
    names = (*_NEEDED, "tn") if "tn" in rows[0][1] else _NEEDED
    return Counts(**{n: [_amount(row, n, path, line) for line, row in rows] for n in names})


def read_folds(path: Path | str) -> dict[str, list[Counts]]:
    """Read the counts of folds, one per row, by ``model`` (else the name of the file)."""
    models: dict[str, Rows] = {}
    for line, row in _read_rows(path):
        models.setdefault(_name(path, line, row, "model"), []).append((line, row))
    return {name: list(_to_counts(some, path)) for name, some in models.items()}


def _name(path: Path | str, line: int, row: dict[str, Any], column: str) -> str:
    """Return the name of a row's model or run; without the column, the file or run 1."""
    usual = "run 1" if column == "run" else "stdin" if str(path) == "-" else Path(path).stem
    name = str(row.get(column, usual) or "").strip()
    if not name:
        raise InputError(f"{column} is empty; expected a name in every row", path, line)
    return name


def read_run_rows(path: Path | str) -> dict[str, dict[str, Rows]]:
    """Read rows of counts, one per unit, by system (``model``) and ``run``."""
    parted: dict[str, dict[str, Rows]] = {}
    for line, row in _read_rows(path):
        model, run = (_name(path, line, row, column) for column in ("model", "run"))
        parted.setdefault(model, {}).setdefault(run, []).append((line, row))
    return parted


def pair_units(tables: Sequence[tuple[Path | str, Rows]]) -> tuple[list[Counts], list[str]]:
    """Order the rows of all tables as in the first; return counts and notes on the pairing."""
    if len(tables) < 2 or max(len(rows) for _, rows in tables) < 2:
        return [_to_counts(rows, path) for path, rows in tables], []
    column = _unit_column(tables)
    if column is not None:
        _, first = tables[0]
        place = {_unit(row, column): at for at, (_, row) in enumerate(first)}
        tables = [(p, sorted(own, key=lambda r: place[_unit(r[1], column)])) for p, own in tables]
    counts = [_to_counts(rows, path) for path, rows in tables]
    by_order = "rows are matched by position: there is no column such as doc, id or unit"
    return counts, [by_order if column is None else f"paired by column {column!r}"]


def _unit_column(tables: Sequence[tuple[Path | str, Rows]]) -> str | None:
    """Return the column that names every unit once, the same units in all tables; or None."""
    # numbers need a usual name of units, because ranks also occur in every table
    rows = [row for _, own in tables for _, row in own]
    shared = [name for name in rows[0] if all(name in row for row in rows)]
    strange = None
    for column in (name for name in shared if name not in _KNOWN):
        units = [[_unit(row, column) for _, row in own] for _, own in tables]
        is_named = _UNIT.fullmatch(column) is not None
        if any(not all(own) or len(set(own)) < len(own) for own in units):
            continue
        if not is_named and all(_NUMBER.fullmatch(unit) for own in units for unit in own):
            continue
        odd = next((k for k, own in enumerate(units) if set(own) != set(units[0])), None)
        if odd is None:
            return column
        if is_named and strange is None:
            unit = sorted(set(units[0]) ^ set(units[odd]))[0]
            problem = f"{column} {unit!r} occurs in only one of two systems"
            strange = InputError(f"{problem}; expected the same units in all", tables[odd][0])
    if strange is not None:
        raise strange
    return None


def _unit(row: dict[str, Any], column: str) -> str:
    return "" if row[column] is None else str(row[column]).strip()


def _read_rows(path: Path | str) -> Rows:
    """Read the rows of a CSV, TSV or JSON file, each with its line number."""
    source = load(path, limit=_LIMIT, expected="a header with tp, fp, fn and a row")
    if source.kind == "parquet":
        raise source.error("is a Parquet file; expected CSV, TSV or JSON")
    rows = (_json_rows if source.opening in b"[{" else _delimited_rows)(source)
    if not rows:
        raise source.error("there is a header, but no row of counts below it")
    return rows


def _delimited_rows(source: Source) -> Rows:
    first = source.data.decode().lstrip().split("\n", 1)[0]
    delimiter = max("\t,;", key=first.count)  # a tie, as with one column, does not matter
    dialect = {"delimiter": delimiter, "strict": True}
    rows = delimited_rows(source, "CSV or TSV", dialect, skip_blank=True)
    filled = ((line, cells) for line, cells in rows if any(map(str.strip, cells)))
    line, header = next(filled, (1, []))
    header = [name.strip().lower() for name in header]
    _check_columns(source, header, line)
    return [(line, dict(zip(header, cells, strict=True))) for line, cells in filled]


def _json_rows(source: Source) -> Rows:
    """Read a JSON list of objects, an object with a list under "rows" or "folds", or JSON lines."""
    try:
        whole = json.loads(source.data)
    except (ValueError, RecursionError):  # errors of single lines are more precise
        expected = "expected a list of objects, or one object per line"
        rows = [(n, source.json_value(n, line, expected)) for n, line in source.filled_lines()]
    else:
        if isinstance(whole, dict):
            lists = [whole[key] for key in ("rows", "folds") if isinstance(whole.get(key), list)]
            whole = lists[0] if lists else [whole]
        rows = [(1, row) for row in whole]
    return [(line, _check_object(source, row, line)) for line, row in rows]


def _check_object(source: Source, row: Any, line: int) -> dict[str, Any]:
    if not isinstance(row, dict):
        raise source.error(f"found {row!r:.40}; expected an object with tp, fp, fn", line)
    if isinstance(row.get("counts"), dict):  # as in the folds that `probative crossval` prints
        row = {**row["counts"], **({"model": row["model"]} if "model" in row else {})}
    named = {str(key).lower(): value for key, value in row.items()}
    _check_columns(source, list(named), line)
    return named


def _check_columns(source: Source, names: list[str], line: int) -> None:
    missing = [name for name in _NEEDED if name not in names]
    if missing:
        problem = f"no column {missing[0]!r} among {', '.join(names)[:80]!r}"
        raise source.error(f"{problem}; expected tp, fp, fn{suggestion(missing[0], names)}", line)
    twice = next((name for name in _KNOWN if names.count(name) > 1), None)
    if twice is not None:
        raise source.error(f"{names.count(twice)} columns {twice!r}; expected one", line)


def _amount(row: dict[str, Any], name: str, path: Path | str, line: int) -> float:
    cell = row.get(name)
    is_number = isinstance(cell, (int, float)) and not isinstance(cell, bool)
    value = math.nan
    if is_number or (isinstance(cell, str) and _NUMBER.fullmatch(cell)):
        with suppress(OverflowError):
            value = float(cell)  # type: ignore[arg-type]  # checked above
    if not 0 <= value <= MOST:
        most = " of at most 2**53" if math.isfinite(value) and value > 0 else ""
        raise InputError(f"{name} is {cell!r:.40}; expected a number >= 0{most}", path, line)
    return value
