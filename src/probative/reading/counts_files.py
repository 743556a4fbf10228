"""Tables of confusion counts from CSV, TSV and JSON files."""

from __future__ import annotations

import csv
import io
import json
import math
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from probative._validation import MOST
from probative.counts import Counts
from probative.errors import InputError, suggestion
from probative.reading.source import load

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["LIMIT", "read_counts", "read_folds", "read_rows", "read_run_counts", "read_systems"]

# The most bytes that a file of counts may hold.
LIMIT = 1 << 26

_NEEDED = ("tp", "fp", "fn")
_NUMBER = re.compile(r"\s*[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d{1,4})?\s*", re.ASCII)


def read_counts(path: Path | str) -> Counts:
    """Read tables of counts, one per row, into an array-valued `Counts`.

    Parameters
    ----------
    path
        A CSV or TSV file with a header that names tp, fp, fn and, if there are any, tn; or a JSON
        list of objects (or JSON lines) with these keys. ``-`` is standard input. Other columns
        are ignored.
    """
    return to_counts(read_rows(path), path)


def to_counts(rows: list[tuple[int, dict[str, Any]]], path: Path | str) -> Counts:
    """Turn the rows of a file into counts, checking every cell."""
    has_tn = "tn" in rows[0][1]
    names = (*_NEEDED, "tn") if has_tn else _NEEDED
    return Counts(**{n: [_amount(row, n, path, line) for line, row in rows] for n in names})


def read_folds(path: Path | str) -> dict[str, list[Counts]]:
    """Read the counts of folds, one per row, by model.

    Parameters
    ----------
    path
        A file as for `read_counts`. With a column ``model`` the rows of each model are its folds,
        in their order; without one the name of the file stands for the only model.
    """
    rows = read_rows(path)
    if "model" not in rows[0][1]:
        name = "stdin" if str(path) == "-" else Path(path).stem
        return {name: list(to_counts(rows, path))}
    models: dict[str, list[tuple[int, dict[str, Any]]]] = {}
    for line, row in rows:
        name = str(row.get("model") or "").strip()
        if not name:
            raise InputError("model is empty; expected a name in every row", path, line)
        models.setdefault(name, []).append((line, row))
    return {name: list(to_counts(some, path)) for name, some in models.items()}


def read_systems(
    paths: Sequence[Path | str], names: Sequence[str] | None = None
) -> dict[str, Counts]:
    """Read the counts of several systems on the same units, one row per unit.

    Parameters
    ----------
    paths
        Files as for `read_folds`: one per system, or with a column ``model`` several in one.
    names
        What the systems are called, where every file holds one; by default after their files.
    """
    systems: dict[str, Counts] = {}
    if names is not None and len(names) != len(paths):
        raise InputError(f"names: {len(names)} for {len(paths)} files; expected one each")
    for number, path in enumerate(paths):
        found = read_folds(path)
        if names is not None:
            if len(found) > 1:
                raise InputError("names: the systems have names already; expected none", path)
            found = {names[number]: next(iter(found.values()))}
        for name, rows in found.items():
            if name in systems:
                raise InputError(f"{name!r} for the second time; expected different names", path)
            systems[name] = _stacked(rows)
    return systems


def read_run_counts(path: Path | str) -> dict[str, dict[str, Counts]]:
    """Read the counts of the runs of systems, one row per unit, by system and run.

    Parameters
    ----------
    path
        A file as for `read_counts`. The columns ``model`` and ``run`` say to which system and run a
        row belongs; without them the file holds one system, which has its name, and one run.
    """
    rows = read_rows(path)
    usual = "stdin" if str(path) == "-" else Path(path).stem
    parted: dict[str, dict[str, list[tuple[int, dict[str, Any]]]]] = {}
    for line, row in rows:
        names = []
        for column, otherwise in (("model", usual), ("run", "run 1")):
            name = str(row.get(column, otherwise) or "").strip()
            if not name:
                raise InputError(f"{column} is empty; expected a name in every row", path, line)
            names.append(name)
        parted.setdefault(names[0], {}).setdefault(names[1], []).append((line, row))
    return {
        model: {run: to_counts(some, path) for run, some in runs.items()}
        for model, runs in parted.items()
    }


def _stacked(rows: Sequence[Counts]) -> Counts:
    """Tables one by one, as an array of tables."""
    cells = {name: [getattr(row, name) for row in rows] for name in (*_NEEDED, "tn")}
    return Counts(**{name: column for name, column in cells.items() if column[0] is not None})


def read_rows(path: Path | str) -> list[tuple[int, dict[str, Any]]]:
    """Read the rows of a CSV, TSV or JSON file, each with the line on which it stands."""
    source = load(path, limit=LIMIT, expected="a header with tp, fp, fn and a row")
    if source.is_parquet:
        raise source.error("is a Parquet file; expected CSV, TSV or JSON")
    text = source.data.decode()
    is_json = text.lstrip()[0] in "[{"
    rows = _json_rows(text, source.name) if is_json else _delimited_rows(text, source.name)
    if not rows:
        raise source.error("there is a header, but no row of counts below it")
    return rows


def _delimited_rows(text: str, path: Path | str) -> list[tuple[int, dict[str, Any]]]:
    first = text.lstrip().split("\n", 1)[0]
    delimiter = max("\t,;", key=first.count)  # a tie, as in one column, does not matter
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    try:
        header = next(cells for cells in reader if any(cell.strip() for cell in cells))
        header = [name.strip().lower() for name in header]
        _check_columns(header, path, reader.line_num)
        rows = []
        for cells in reader:
            line = reader.line_num
            if not any(cell.strip() for cell in cells):
                continue
            if len(cells) != len(header):
                raise InputError(
                    f"{len(cells)} cells; expected {len(header)}, as in the header", path, line
                )
            rows.append((line, dict(zip(header, cells, strict=True))))
    except csv.Error as error:
        raise InputError(f"{error}; expected CSV or TSV", path, reader.line_num) from None
    return rows


def _json_rows(text: str, path: Path | str) -> list[tuple[int, dict[str, Any]]]:
    """Read a JSON list of objects, an object with a list under "rows" or "folds", or JSON lines."""
    try:
        whole = json.loads(text)
    except (ValueError, RecursionError):  # a line may tell more
        return _json_lines(text, path)
    if isinstance(whole, dict):
        lists = [whole[key] for key in ("rows", "folds") if isinstance(whole.get(key), list)]
        whole = lists[0] if lists else [whole]
    return [(1, _check_object(row, path, 1)) for row in whole]


def _json_lines(text: str, path: Path | str) -> list[tuple[int, dict[str, Any]]]:
    rows = []
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise InputError(
                f"not JSON ({getattr(error, 'msg', 'too deep or too large')}); expected a list of "
                f"objects, or one object per line",
                path,
                number,
            ) from None
        rows.append((number, _check_object(row, path, number)))
    return rows


def _check_object(row: Any, path: Path | str, line: int) -> dict[str, Any]:
    if not isinstance(row, dict):
        raise InputError(f"found {row!r:.40}; expected an object with tp, fp, fn", path, line)
    if isinstance(row.get("counts"), dict):  # as in the folds that `probative crossval` prints
        row = {**row["counts"], **({"model": row["model"]} if "model" in row else {})}
    named = {str(key).lower(): value for key, value in row.items()}
    _check_columns(list(named), path, line)
    return named


def _check_columns(names: list[str], path: Path | str, line: int) -> None:
    missing = [name for name in _NEEDED if name not in names]
    if missing:
        raise InputError(
            f"no column {missing[0]!r} among {', '.join(names)[:80]!r}; expected tp, fp, fn"
            + suggestion(missing[0], names),
            path,
            line,
        )
    twice = next((name for name in (*_NEEDED, "tn", "model", "run") if names.count(name) > 1), None)
    if twice is not None:
        raise InputError(f"{names.count(twice)} columns {twice!r}; expected one", path, line)


def _amount(row: dict[str, Any], name: str, path: Path | str, line: int) -> float:
    cell = row.get(name)
    is_number = isinstance(cell, (int, float)) and not isinstance(cell, bool)
    if not is_number and not (isinstance(cell, str) and _NUMBER.fullmatch(cell)):
        raise InputError(f"{name} is {cell!r:.40}; expected a number >= 0", path, line)
    try:
        value = float(cell)  # type: ignore[arg-type]  # a number, as was just checked
    except OverflowError:
        value = math.inf
    if not 0 <= value <= MOST:
        most = " of at most 2**53" if math.isfinite(value) and value > 0 else ""
        raise InputError(f"{name} is {cell!r:.40}; expected a number >= 0{most}", path, line)
    return value
