"""Wrap frames of any library, and fetch the few rows that come out of them.

A frame keeps its engine: queries stay lazy until `fetch`. From the first step on, columns have safe
names of our own, so that no name can change a query.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from probative._lazy import ModuleOnDemand
from probative._validation import shortened, shown
from probative.errors import InputError, suggestion

if TYPE_CHECKING:
    import narwhals as nw

    Frame = nw.LazyFrame[Any] | nw.DataFrame[Any]
else:
    nw = ModuleOnDemand("narwhals")

_MOST_COLUMNS = 20  # listed in a message


def opened(frame: object) -> Frame:
    """Return the frame wrapped by narwhals, lazy if its library is."""
    try:
        return nw.from_native(frame)
    except TypeError:
        kinds = "pandas, Polars, PyArrow, DuckDB, Ibis, Dask or PySpark"
        raise InputError(f"frame: {shown(frame)}; expected a table of {kinds}") from None


def listed(names: Sequence[str]) -> str:
    """Return names for a message, shortened."""
    some = ", ".join(shortened(name, 40) for name in names[:_MOST_COLUMNS])
    return some + (", …" if len(names) > _MOST_COLUMNS else "")


def check_column(name: str, there: Sequence[str], error: Callable[[str], InputError]) -> None:
    """Refuse a column that a table does not have, or has twice."""
    if name not in there:
        expected = f"expected one of {listed(there)}{suggestion(name, there)}"
        raise error(f"there is no column {name!r}; {expected}")
    if there.count(name) > 1:
        raise error(f"{there.count(name)} columns are called {name!r}; expected one")


def _of_parameter(parameter: str, message: str) -> InputError:
    return InputError(f"{parameter}: {message}")


def chosen(frame: Frame, columns: dict[str, tuple[str, str]]) -> Frame:
    """Select columns, given by safe name as the parameter that named them and their own name."""
    try:
        there = list(frame.collect_schema().names())
    except Exception as error:
        raise _failure(error) from None
    for parameter, name in columns.values():
        if not isinstance(name, str):
            raise InputError(f"{parameter}: {shown(name)}; expected the name of a column")
        check_column(name, there, partial(_of_parameter, parameter))
    asked = {safe: name for safe, (_, name) in columns.items()}
    if frame.implementation.is_duckdb():  # its column expressions parse names as SQL
        quoted = ((safe, name.replace('"', '""')) for safe, name in asked.items())
        native = nw.to_native(frame).project(", ".join(f'"{name}" as {s}' for s, name in quoted))
        return opened(native)
    if frame.implementation.is_spark_like():
        # dots and backticks in names are syntax in Spark, but not when renaming by position
        places = {name: f"c{i}" for i, name in enumerate(there)}
        frame = opened(nw.to_native(frame).toDF(*places.values()))
        asked = {safe: places[name] for safe, name in asked.items()}
    return frame.select(*(nw.col(name).alias(safe) for safe, name in asked.items()))


def fetch(query: Callable[[], Frame], limit: int | None = None) -> dict[str, Sequence[Any]]:
    """Run an aggregate query (eager libraries compute while it is made); return rows by column."""
    asked = None
    try:
        asked = query()
        frame = asked if limit is None else asked.head(limit + 1)
        native, schema, kind = nw.to_native(frame), frame.collect_schema(), frame.implementation
        if kind.is_duckdb() and all(map(_fits_array, schema.values())):
            columns = native.fetchnumpy()
            return {name: _as_python(columns[name]) for name in schema.names()}
        if kind.is_duckdb() or kind.is_spark_like():  # needs neither Arrow nor pandas
            rows = native.fetchall() if kind.is_duckdb() else native.collect()
            return {name: [row[i] for row in rows] for i, name in enumerate(schema.names())}
        eager = frame.collect() if isinstance(frame, nw.LazyFrame) else frame
        return {name: eager.get_column(name).to_list() for name in schema.names()}
    except InputError:
        raise
    except Exception as error:
        raise _failure(error, asked) from None


def _fits_array(dtype: Any) -> bool:
    """Return True if DuckDB writes a column of this type into an array as it is."""
    if dtype in (nw.Int128, nw.UInt128):
        return False
    return bool(dtype.is_integer() or dtype.is_float() or dtype in (nw.String, nw.Boolean))


def _as_python(column: Any) -> Any:
    """Return numbers as an array, other values as Python objects with None for masked ones."""
    is_full = column.dtype.kind in "iufb" and not hasattr(column, "mask")
    return column if is_full else column.tolist()


def _failure(error: Exception, frame: Frame | None = None) -> InputError:
    """Return the error of an engine in one line."""
    message = _told(error)
    if frame is not None and frame.implementation.is_dask():  # its errors name no files
        path = _broken_file(nw.to_native(frame))
        message = message if path is None else f"{path}: {message}"
    return InputError(f"the table could not be counted: {message}")


# --- Errors of engines, in one line that names the file or the column

_LONGEST_MESSAGE = 240  # characters
_TRACEBACK = "Traceback (most recent call last)"
_RAISED = re.compile(r"(?:[A-Za-z_]\w*\.)*[A-Z]\w*(?:Error|Exception|Interrupt): (.+)")
# Java's exception names before a message, and a plan or stack trace after it
_JAVA = re.compile(r"^(?:[\w.$]+(?:Exception|Error)\b:?\s*)+")
_AFTER_MESSAGE = re.compile(
    r"\s*(?:SQLSTATE: \w+|;\s*$|JVM stacktrace:|Driver stacktrace:|=== .* ===).*$"
)


def _told(error: BaseException) -> str:
    """Return the message of the innermost error that has one."""
    texts = [_line(text) for text in _messages(error)]
    text = next((text for text in texts if text), type(error).__name__)
    return text if len(text) <= _LONGEST_MESSAGE else text[: _LONGEST_MESSAGE - 1] + "…"


def _messages(error: BaseException) -> list[str]:
    """Return the messages of an error and of its causes, those that mention files first."""
    own = []
    seen: BaseException | None = error
    while seen is not None:
        java: Any = getattr(seen, "java_exception", None)
        for _ in range(10):  # raised by Spark, unconverted, with its causes
            if java is not None:
                own.append(str(java.getMessage() or ""))
                java = java.getCause()
        own.append(str(seen))
        seen = seen.__cause__
    return sorted(own, key=lambda text: "file" not in text.lower())


def _line(text: str) -> str:
    """Return the first line with content; for a traceback, the message at its end."""
    if _TRACEBACK in text:
        raised = [own for line in text.splitlines() if (own := _RAISED.match(line.strip()))]
        if raised:
            return raised[-1][1].strip()
    for line in text.splitlines():
        plain = _AFTER_MESSAGE.sub("", _JAVA.sub("", line.strip())).strip()
        if plain:
            return plain
    return ""


def _broken_file(frame: Any) -> str | None:
    """Return the first Parquet file of a Dask frame that cannot be opened, or None."""
    try:
        import pyarrow.parquet as pq
        from dask.dataframe.dask_expr.io.parquet import ReadParquet

        reads = list(frame.expr.find_operations(ReadParquet))
        paths = [str(path) for read in reads for path in read._dataset_info["ds"].files]
    except Exception:  # private attributes that other versions of Dask lack
        return None
    for path in paths:
        try:
            pq.ParquetFile(path).close()
        except Exception:
            return path
    return None
