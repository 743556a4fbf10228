"""What a file is: it is opened and read once, and recognised from its content."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

from probative._validation import one_of
from probative.reading.columns import layout
from probative.reading.formats import FORMATS, recognise
from probative.reading.source import load

if TYPE_CHECKING:
    from pathlib import Path

    from probative.reading.columns import Layout
    from probative.reading.source import Source

__all__ = ["FORMATS", "TASKS", "Input", "Options", "format_of", "open_input"]

TASKS = ("entities", "segmentation", "labels", "samples")


@dataclass(frozen=True)
class Options:
    """How to read a file; None means: recognise it.

    Attributes
    ----------
    task, input_format
        One of `TASKS` and of `FORMATS`.
    encoding
        The file's encoding.
    tag_column
        The column of the tags in a column file, from 1 or from -1 backwards; or its name in a
        file that names its columns.
    comments
        Whether ``#`` starts a comment in a column file that does not number its tokens.
    column, unit
        The column of the labels and that of the units in a table.
    header
        Whether the first line of a table, or of a column file, names its columns.
    multilabel
        Whether a table has several labels per row: in lists (True), or with this text between.
    probability_columns
        The columns of a table that hold the probabilities of classes, named after the classes: the
        likeliest one is the label.
    like
        The format of the answer: an output that could be of that format is taken to be.
    label_names
        What the numbers of labels stand for, from 0 on.
    score_name, threshold
        The score of a log, and from where on it counts as right.
    predicted
        Whether this is the output of a system: of several columns, one of predictions is meant.
    key
        The columns of a table that tell which rows of several tables belong together.
    group
        The column of a table that says which group a row belongs to.
    blank
        The label of blank cells of a table; None: they are refused.
    """

    task: str | None = None
    input_format: str | None = None
    encoding: str | None = None
    tag_column: int | str | None = None
    comments: bool = False
    column: str | None = None
    unit: str | None = None
    header: bool | None = None
    multilabel: bool | str | None = None
    probability_columns: tuple[str, ...] = ()
    like: str | None = None
    label_names: tuple[str, ...] = ()
    score_name: str | None = None
    threshold: float | None = None
    predicted: bool = False
    key: tuple[str, ...] = ()
    group: str | None = None
    blank: str | None = None

    @property
    def named_column(self) -> str | None:
        """The column that was asked for by name."""
        by_name = self.tag_column if isinstance(self.tag_column, str) else None
        return self.column if self.column is not None else by_name

    def __post_init__(self) -> None:
        if self.task is not None:
            one_of("task", self.task, TASKS)
        if self.input_format is not None:
            one_of("input_format", self.input_format, FORMATS)


@dataclass(frozen=True, eq=False)
class Input:
    """A file that has been read, and what it is.

    Attributes
    ----------
    source
        Its content.
    kind, task
        One of `FORMATS`, and of `TASKS`: those that were asked for, or recognised.
    options
        How to read it.
    reason
        What speaks for this format, as the rest of a sentence that begins "because".
    """

    source: Source
    kind: str
    task: str
    options: Options
    reason: str = ""

    @cached_property
    def layout(self) -> Layout:
        """Lines, columns and sentences of a column file; what names its columns is left out."""
        source = self.source
        if self.options.header:
            begin = len(source.data) - len(source.data.lstrip())
            end = source.data.find(b"\n", begin)
            kept = source.data[end:] if end >= 0 else b""
            source = replace(source, data=source.data[:begin] + kept)
        return layout(source, comments=self.options.comments)


def open_input(
    path: str | Path,
    options: Options | None = None,
    *,
    data: bytes | None = None,
    limit: int | None = None,
) -> Input:
    """Read a file, a pipe or standard input (``-``), once, and find out what it is.

    Parameters
    ----------
    path
        The file.
    options
        What is known about it; by default everything is recognised from its content.
    data, limit
        As for `load`: its bytes, where they were read already; the most that it may hold.
    """
    options = options or Options()
    source = load(path, encoding=options.encoding, data=data, limit=limit)
    kind, task, reason = recognise(source, options)
    _refuse_binary(source, kind)
    return Input(source, kind, task, options, reason)


def _refuse_binary(source: Source, kind: str) -> None:
    """Refuse to read as text what is none."""
    fitting = {
        "a folder": (source.is_folder, ("brat",)),
        "a file of spaCy": (source.is_docbin, ("docbin",)),
        "a zip archive": (source.is_zip, ("log",)),
        "Parquet": (source.is_parquet, ("table", "rows")),
    }
    for what, (is_this, kinds) in fitting.items():
        if is_this and kind not in kinds:
            raise source.error(f"is {what}; expected input_format={kinds[0]!r}, or {kind}")
    if (kind == "brat" and not source.is_folder) or (kind == "docbin" and not source.is_docbin):
        raise source.error(f"is something else; expected {FORMATS[kind].title}")


def format_of(source: Source, task: str | None = None) -> str:
    """Recognise the format from the content, and from the name where that is not enough."""
    return recognise(source, Options(task=task)).kind
