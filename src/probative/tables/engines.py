"""Frames of any library behind one face, and the few rows that come out of them.

A frame keeps its engine: what is asked of it stays a plan until `fetch`, and the columns are called
by safe names of our own from the first step on, so that no name can change a query.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from probative._validation import shown
from probative.errors import InputError, suggestion

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import narwhals as nw


# -----------------------------------------------------------------------------
# A frame keeps its engine: what is asked of it stays a plan until `fetch`, and the columns are
# called by safe names of our own from the first step on, so that no name can change a query.
# -----------------------------------------------------------------------------

if TYPE_CHECKING:
    Frame = nw.LazyFrame[Any] | nw.DataFrame[Any]


_NAMED = 20


def opened(frame: object) -> Frame:
    """The frame behind the face of narwhals, lazy where its library is."""
    import narwhals as nw

    try:
        return nw.from_native(frame)
    except TypeError:
        raise InputError(
            f"frame: {shown(frame)}; expected a table of pandas, Polars, PyArrow, DuckDB, Ibis, "
            f"Dask or PySpark"
        ) from None


def chosen(frame: Frame, columns: dict[str, tuple[str, str]]) -> Frame:
    """These columns alone, under safe names.

    Parameters
    ----------
    frame
        What `opened` gave.
    columns
        For every safe name the parameter that asked for a column and the name of that column.
    """
    import narwhals as nw

    try:
        there = list(frame.collect_schema().names())
    except Exception as error:
        raise _failure(error) from None
    for parameter, name in columns.values():
        if not isinstance(name, str):
            raise InputError(f"{parameter}: {shown(name)}; expected the name of a column")
        if name not in there:
            listed = ", ".join(map(repr, there[:_NAMED])) + (", …" if len(there) > _NAMED else "")
            raise InputError(
                f"{parameter}: there is no column {name!r}; expected one of {listed}"
                + suggestion(name, there)
            )
        if there.count(name) > 1:
            raise InputError(f"{parameter}: {there.count(name)} columns are called {name!r}")
    asked = {safe: name for safe, (_, name) in columns.items()}
    if frame.implementation.is_duckdb():  # where expressions of a column read its name as syntax
        quoted = ((safe, name.replace('"', '""')) for safe, name in asked.items())
        native = nw.to_native(frame).project(", ".join(f'"{name}" as {s}' for s, name in quoted))
        return opened(native)
    if frame.implementation.is_spark_like():
        # dots and backticks in a name are syntax there, but not in a renaming by place
        places = {name: f"c{i}" for i, name in enumerate(there)}
        frame = opened(nw.to_native(frame).toDF(*places.values()))
        asked = {safe: places[name] for safe, name in asked.items()}
    return frame.select(*(nw.col(name).alias(safe) for safe, name in asked.items()))


def fetch(query: Callable[[], Frame], limit: int | None = None) -> dict[str, Sequence[Any]]:
    """Run a query and return its rows, by column; one more than `limit`, if there are more.

    Parameters
    ----------
    query
        Makes an aggregate: nothing else should leave an engine. Libraries that make no plans
        compute while it is made.
    limit
        How many rows may come.
    """
    frame = None
    try:
        frame = query()
        return _fetch(frame if limit is None else frame.head(limit + 1))
    except InputError:
        raise
    except Exception as error:
        raise _failure(error, frame) from None


def _fetch(frame: Frame) -> dict[str, Sequence[Any]]:
    import narwhals as nw

    native, names = nw.to_native(frame), frame.collect_schema().names()
    kind = frame.implementation
    if kind.is_duckdb():  # needs neither Arrow nor pandas
        columns, schema = native.fetchnumpy(), frame.collect_schema()
        return {name: _plain(columns[name], schema[name] == nw.Date) for name in names}
    if kind.is_spark_like():
        rows = native.collect()
        return {name: [row[i] for row in rows] for i, name in enumerate(names)}
    eager = frame.collect() if isinstance(frame, nw.LazyFrame) else frame
    return {name: eager.get_column(name).to_list() for name in names}


def _plain(column: Any, is_date: bool) -> Any:
    """Numbers as an array; other values as Python has them, None for what is masked."""
    if column.dtype.kind in "iufb" and not hasattr(column, "mask"):
        return column
    if column.dtype.kind == "M":
        times = column.astype("datetime64[us]").tolist()
        return [t.date() if is_date and t is not None else t for t in times]
    return column.tolist()


def _failure(error: Exception, frame: Frame | None = None) -> InputError:
    """What an engine says went wrong, in one line."""
    message = told(error)
    if frame is not None and frame.implementation.is_dask():  # which names no files
        import narwhals as nw

        path = _broken_file(nw.to_native(frame))
        message = message if path is None else f"{path}: {message}"
    return InputError(f"the table could not be counted: {message}")


# -----------------------------------------------------------------------------
# What an engine says when it fails, in one line that names the file or the column.
# -----------------------------------------------------------------------------

_LONGEST = 240
_TRACEBACK = "Traceback (most recent call last)"
_RAISED = re.compile(r"(?:[A-Za-z_]\w*\.)*[A-Z]\w*(?:Error|Exception|Interrupt): (.+)")
# what Java puts before a message, and a plan or a stack behind it
_JAVA = re.compile(r"^(?:[\w.$]+(?:Exception|Error)\b:?\s*)+")
_BEHIND = re.compile(r"\s*(?:SQLSTATE: \w+|;\s*$|JVM stacktrace:|Driver stacktrace:|=== .* ===).*$")


def told(error: BaseException) -> str:
    """The message of the innermost error that says something.

    Parameters
    ----------
    error
        What a library raised.

    Examples
    --------
    >>> from probative.tables.engines import told
    >>> told(ValueError("no magic bytes at the end of 'a.parquet'"))
    "no magic bytes at the end of 'a.parquet'"
    """
    texts = [_line(text) for text in _messages(error)]
    text = next((text for text in texts if text), type(error).__name__)
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


def _messages(error: BaseException) -> list[str]:
    """The messages of an error and of what caused it, the ones that name files first."""
    own = []
    seen: BaseException | None = error
    while seen is not None:
        java = getattr(seen, "java_exception", None)
        if java is not None:  # of Spark, raised as it came
            own += _causes(java)
        own.append(str(seen))
        seen = seen.__cause__
    return sorted(own, key=lambda text: "file" not in text.lower())


def _causes(java: object) -> list[str]:
    """The messages of a Java exception and its causes."""
    messages: list[str] = []
    while java is not None and len(messages) < 10:
        messages.append(str(java.getMessage() or ""))  # type: ignore[attr-defined]
        java = java.getCause()  # type: ignore[attr-defined]
    return messages


def _line(text: str) -> str:
    """The first line that says something; of a traceback, what it ends with."""
    if _TRACEBACK in text:
        raised = [own for line in text.splitlines() if (own := _RAISED.match(line.strip()))]
        if raised:
            return raised[-1][1].strip()
    for line in text.splitlines():
        plain = _BEHIND.sub("", _JAVA.sub("", line.strip())).strip()
        if plain:
            return plain
    return ""


def _broken_file(frame: Any) -> str | None:
    """The first Parquet file of a Dask frame that cannot be opened.

    Parameters
    ----------
    frame
        A Dask data frame whose computation failed.
    """
    try:
        import pyarrow.parquet as pq
        from dask.dataframe.dask_expr.io.parquet import ReadParquet

        reads = list(frame.expr.find_operations(ReadParquet))
        paths = [str(path) for read in reads for path in read._dataset_info["ds"].files]
    except Exception:  # other versions of Dask keep this elsewhere
        return None
    for path in paths:
        try:
            pq.ParquetFile(path).close()
        except Exception:
            return path
    return None
