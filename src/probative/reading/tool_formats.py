"""What other tools write: by what each is recognised, and which reader takes it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from probative.errors import InputError
from probative.reading.annotation_tools import (
    chosen_labels,
    is_choices,
    is_label_studio,
    read_choices,
    read_label_studio,
)
from probative.reading.brat import read_brat
from probative.reading.docs import read_docbin
from probative.reading.hipe import is_hipe, read_hipe
from probative.reading.log_formats import tool_of, whole_document
from probative.reading.logs import Samples, read_logs
from probative.reading.rows import choose_column, is_row, read_rows, tagged_rows
from probative.reading.table_sides import label_sets

if TYPE_CHECKING:
    from collections.abc import Sequence

    from probative.reading.annotations import Labels, LabelSets, Spans, Tagged
    from probative.reading.opening import Input
    from probative.reading.source import Source

__all__ = [
    "read_chosen",
    "read_docs",
    "read_folder",
    "read_hipe_column",
    "read_label_studio_side",
    "read_samples",
    "read_tagged_rows",
    "side_of_choices",
    "tool_of_file",
]


def tool_of_file(source: Source, record: dict[str, Any] | None) -> tuple[str, str] | None:
    """The format of a tool that a file has, and why; None if it is none of these.

    Parameters
    ----------
    source
        The file.
    record
        The JSON object of its first line, if there is one.
    """
    if source.is_folder:
        return "brat", "it is a folder of .ann files"
    if source.is_docbin:
        return "docbin", "its name ends in .spacy, and it is packed as spaCy does"
    log = tool_of(source)
    if log is not None:
        return "log", log[1]
    if source.is_parquet:
        return _rows_of_parquet(source)
    reasons = {"rows": is_row, "choices": is_choices} if record is not None else {}
    for name, reason_of in reasons.items():
        reason = reason_of(record or {})
        if reason is not None:
            return name, reason
    reason = is_hipe(source)
    if reason is not None:
        return "hipe", reason
    if source.data.lstrip()[:1] == b"[":
        return _of_a_list(source)
    return None


def _rows_of_parquet(source: Source) -> tuple[str, str] | None:
    """Whether a Parquet file has a column of lists for tokens, and one for tags."""
    from probative.reading.parquet_rows import list_columns
    from probative.reading.rows import TOKENS, is_tag_column

    try:
        columns = list_columns(source)
    except InputError:  # which the reader of tables will say
        return None
    tokens = next((name for name in TOKENS if name in columns), None)
    tags = next((name for name in columns if is_tag_column(name)), None)
    if tags is None or tokens is None:
        return None
    return "rows", f"it has columns of lists, {tokens!r} and {tags!r}"


def _of_a_list(source: Source) -> tuple[str, str] | None:
    """What a JSON document is that is a list: most text that begins with a bracket is none."""
    keys = (b'"annotations"', b'"annotation_id"', b'"labels"', b'"tokens"', b'"words"')
    if not any(key in source.data for key in keys):
        return None
    document = whole_document(source)
    reason = is_label_studio(document)
    if reason is not None:
        return "labelstudio", reason
    if not isinstance(document, list) or not document or not isinstance(document[0], dict):
        return None
    reason = is_row(document[0])
    return None if reason is None else ("rows", f"in its first object, {reason}")


# --- readers ----------------------------------------------------------------------------------


def read_samples(opened: Input) -> Samples:
    """Read a log."""
    how = opened.options
    logs = read_logs(opened.source, score_name=how.score_name, threshold=how.threshold)
    notes = dict.fromkeys(note for log in logs for note in log.notes)
    return Samples(opened.source.name, tuple(logs), tuple(notes))


def read_tagged_rows(opened: Input) -> Tagged | Labels:
    """Read rows of tokens and tags."""
    options = opened.options
    rows = read_rows(opened.source, options.label_names)
    column = choose_column(
        rows.name, list(rows.columns), options.named_column, predicted=options.predicted
    )
    tags = tagged_rows(rows, column)
    return tags.as_labels() if opened.task == "labels" else tags


def read_folder(opened: Input) -> Spans:
    """Read a folder of brat."""
    return read_brat(opened.source.name, opened.options.encoding)


def read_docs(opened: Input) -> Spans:
    """Read a file of spaCy."""
    return read_docbin(opened.source)


def read_hipe_column(opened: Input) -> Tagged | Labels:
    """Read the tags of a file of HIPE."""
    options = opened.options
    tags = read_hipe(opened.source, options.tag_column or options.column)
    return tags.as_labels() if opened.task == "labels" else tags


def read_chosen(opened: Input) -> Labels | LabelSets:
    """Read labels that were chosen for texts."""
    return side_of_choices(opened.source, read_choices(opened.source), "labels chosen for texts")


def read_label_studio_side(opened: Input) -> Spans | Labels | LabelSets:
    """Read an export of Label Studio."""
    how = opened.options
    side = read_label_studio(opened.source, how.task, predicted=how.predicted)
    if isinstance(side, list):
        return side_of_choices(opened.source, side, "export of Label Studio, choices")
    return side


def side_of_choices(
    source: Source, chosen: Sequence[tuple[str, Sequence[str]]], what: str
) -> Labels | LabelSets:
    """One label per text, or sets of them where some texts have several or none."""
    single = chosen_labels(source, chosen, what)
    if single is not None:
        return single
    return label_sets(source.name, [list(labels) for _, labels in chosen])
