"""Tables of confusion counts from CSV, TSV and JSON files."""

from __future__ import annotations

import csv
import io
import json
import math
import sys
from pathlib import Path
from typing import Any

from probative.counts import Counts
from probative.errors import InputError, suggestion

__all__ = ["read_counts", "read_folds", "read_rows", "read_text"]

_NEEDED = ("tp", "fp", "fn")


def read_counts(path: Path | str) -> Counts:
    """Read tables of counts, one a row, into an array-valued `Counts`.

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
    """Read the counts of folds, one a row, by model.

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


def read_rows(path: Path | str) -> list[tuple[int, dict[str, Any]]]:
    """Read the rows of a CSV, TSV or JSON file, each with the line on which it stands."""
    text = read_text(path)
    if not text.strip():
        raise InputError("the file is empty; expected a header with tp, fp, fn and a row", path)
    rows = _json_rows(text, path) if text.lstrip()[0] in "[{" else _delimited_rows(text, path)
    if not rows:
        raise InputError("there is a header, but no row of counts below it", path)
    return rows


def read_text(path: Path | str) -> str:
    """Read a whole text file, or standard input for ``-``."""
    try:
        data = sys.stdin.buffer.read() if str(path) == "-" else Path(path).read_bytes()
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", path) from None
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise InputError(
            f"byte {data[error.start]:#04x} is not UTF-8; expected a text file", path, line
        ) from None


def _delimited_rows(text: str, path: Path | str) -> list[tuple[int, dict[str, Any]]]:
    lines = text.splitlines()
    first = next(i for i, line in enumerate(lines) if line.strip())
    delimiter = max("\t,;", key=lines[first].count)  # a tie, as in one column, does not matter
    reader = csv.reader(io.StringIO("\n".join(lines[first:])), delimiter=delimiter)
    try:
        header = [name.strip().lower() for name in next(reader)]
        _check_columns(header, path, first + 1)
        rows = []
        for cells in reader:
            line = first + reader.line_num
            if not any(cell.strip() for cell in cells):
                continue
            if len(cells) != len(header):
                raise InputError(
                    f"{len(cells)} cells; expected {len(header)}, as in the header", path, line
                )
            rows.append((line, dict(zip(header, cells, strict=True))))
    except csv.Error as error:
        raise InputError(f"{error}; expected CSV or TSV", path, first + reader.line_num) from None
    return rows


def _json_rows(text: str, path: Path | str) -> list[tuple[int, dict[str, Any]]]:
    """Read a JSON list of objects, an object with a list under "rows" or "folds", or JSON lines."""
    try:
        whole = json.loads(text)
    except (json.JSONDecodeError, RecursionError):
        return _json_lines(text, path)
    if isinstance(whole, dict):
        lists = [whole[key] for key in ("rows", "folds") if isinstance(whole.get(key), list)]
        whole = lists[0] if lists else [whole]
    return [(1, _checked_object(row, path, 1)) for row in whole]


def _json_lines(text: str, path: Path | str) -> list[tuple[int, dict[str, Any]]]:
    rows = []
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except (json.JSONDecodeError, RecursionError) as error:
            raise InputError(
                f"not JSON ({getattr(error, 'msg', 'nested too deeply')}); expected a list of "
                f"objects, or an object a line",
                path,
                number,
            ) from None
        rows.append((number, _checked_object(row, path, number)))
    return rows


def _checked_object(row: Any, path: Path | str, line: int) -> dict[str, Any]:
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


def _amount(row: dict[str, Any], name: str, path: Path | str, line: int) -> float:
    cell = row.get(name)
    try:
        if isinstance(cell, bool) or cell is None:
            raise ValueError
        value = float(cell)
    except (TypeError, ValueError, OverflowError):
        raise InputError(f"{name} is {cell!r:.40}; expected a number", path, line) from None
    if not math.isfinite(value) or value < 0:
        raise InputError(f"{name} is {cell!r:.40}; expected a number >= 0", path, line)
    return value
