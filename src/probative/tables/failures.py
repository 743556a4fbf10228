"""What an engine says when it fails, in one line that names the file or the column."""

from __future__ import annotations

import re
from typing import Any

__all__ = ["broken_file", "told"]

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
    >>> from probative.tables.failures import told
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


def broken_file(frame: Any) -> str | None:
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
