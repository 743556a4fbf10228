"""Options that the commands share, with the same words everywhere."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from probative.errors import InputError

__all__ = [
    "Align",
    "AveragedLabels",
    "Beta",
    "By",
    "Columns",
    "Comments",
    "Encoding",
    "Figure",
    "Format",
    "GoldColumn",
    "Html",
    "IgnoreType",
    "InputFormat",
    "Jobs",
    "KeepDocuments",
    "Level",
    "Metric",
    "Only",
    "Positive",
    "Prior",
    "Quiet",
    "Repair",
    "Repetitions",
    "Resume",
    "Rope",
    "Scheme",
    "Seed",
    "TagColumn",
    "Task",
    "TrainWords",
    "UnitColumn",
    "Weight",
    "averaged_labels",
    "column_numbers",
    "fold_weight",
    "integer",
    "number",
    "numbers",
    "whole",
    "words",
]


def number(text: str | float) -> float:
    """Read a number from the command line."""
    try:
        return float(text)
    except ValueError:
        raise typer.BadParameter(f"{text!r} is not a number") from None


def whole(text: str | int) -> int:
    """Read a whole number >= 0 from the command line."""
    try:
        value = int(text)
    except ValueError:
        value = -1
    if value < 0:
        raise typer.BadParameter(f"{text!r} is not a whole number >= 0")
    return value


Format = Annotated[
    str,
    typer.Option("--format", "-f", metavar="FORMAT", help="text, json, markdown, latex or csv."),
]
Html = Annotated[
    Path | None, typer.Option("--html", metavar="FILE", help="Also write a page to look at.")
]
Figure = Annotated[
    Path | None,
    typer.Option("--figure", metavar="FILE", help="Also draw a figure (.png, .svg or .pdf)."),
]
Level = Annotated[
    float,
    typer.Option(
        "--level", metavar="P", parser=number, help="The level of the intervals, in (0, 1)."
    ),
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress and no remarks.")]
Seed = Annotated[
    int | None,
    typer.Option(
        "--seed", metavar="N", parser=whole, help="Seed of whatever is random in this command."
    ),
]
Beta = Annotated[
    float,
    typer.Option("--beta", metavar="NUMBER", parser=number, help="The weight of recall in fbeta."),
]
Prior = Annotated[
    float,
    typer.Option("--prior", metavar="NUMBER", parser=number, help="The prior weight of each cell."),
]
By = Annotated[
    str | None,
    typer.Option(
        "--by",
        metavar="UNIT",
        help="What counts as independent, and is exchanged: sentence, document, unit or item.",
    ),
]
Metric = Annotated[
    list[str] | None,
    typer.Option(
        "--metric",
        metavar="NAME",
        help="precision, recall, f1, fbeta, jaccard, accuracy, specificity or npv; several times, "
        "or separated by commas.",
    ),
]


def words(values: list[str] | None, default: tuple[str, ...]) -> tuple[str, ...]:
    """Return the names of an option that may be repeated or hold a list with commas."""
    found = [word.strip() for value in values or () for word in value.split(",") if word.strip()]
    return tuple(dict.fromkeys(found)) or default


def numbers(name: str, values: list[str] | None, default: tuple[float, ...]) -> tuple[float, ...]:
    """Read numbers that come several times, or separated by commas."""
    try:
        return tuple(float(word) for word in words(values, ())) or default
    except ValueError as error:
        raise InputError(f"{name}: {str(error).split(': ')[-1]} is not a number") from None


def integer(text: str | int) -> int:
    """Read a whole number from the command line."""
    try:
        return int(text)
    except ValueError:
        raise typer.BadParameter(f"{text!r} is not a whole number") from None


# How to read and match files; what is not given is recognised.
Task = Annotated[
    str | None,
    typer.Option("--task", metavar="TASK", help="entities, segmentation or labels."),
]
InputFormat = Annotated[
    str | None,
    typer.Option(
        "--input-format",
        metavar="NAME",
        help="columns, conllu, segmented, labels, jsonl or table.",
    ),
]
Encoding = Annotated[
    str | None, typer.Option("--encoding", metavar="NAME", help="utf-8, latin-1, gb18030, …")
]
TagColumn = Annotated[
    int | None,
    typer.Option(
        "--tag-column",
        metavar="N",
        parser=integer,
        help="The column of the tags, from 1, or from -1 backwards.",
    ),
]
GoldColumn = Annotated[
    str | None,
    typer.Option(
        "--gold-column", metavar="COLUMN", help="The answer's column: its number, or its name."
    ),
]
Columns = Annotated[
    str | None,
    typer.Option(
        "--columns", metavar="A,B", help="The systems' columns: their numbers, or their names."
    ),
]
UnitColumn = Annotated[
    str | None,
    typer.Option(
        "--unit-column",
        metavar="NAME",
        help="The column of a table that says which items belong together.",
    ),
]
Comments = Annotated[bool, typer.Option("--comments", help="Lines that begin with # are comments.")]
Align = Annotated[
    str,
    typer.Option(
        "--align", metavar="HOW", help="tokens: they must be equal; position: as many will do."
    ),
]
Scheme = Annotated[
    str | None,
    typer.Option(
        "--scheme",
        metavar="NAME",
        help="iob1, iob2, ioe1, ioe2, iobes, bilou, bmes, bb2b3mes or io.",
    ),
]
Repair = Annotated[
    str,
    typer.Option(
        "--repair", metavar="HOW", help="What to do with invalid tags: conlleval, strict or error."
    ),
]
IgnoreType = Annotated[
    bool, typer.Option("--ignore-type", help="Count boundaries, whatever the type.")
]
Only = Annotated[
    list[str] | None,
    typer.Option("--only", metavar="LABEL", help="Count this label only; may be repeated."),
]
Positive = Annotated[
    str | None,
    typer.Option("--positive", metavar="LABEL", help="The class that counts as yes, for labels."),
]
AveragedLabels = Annotated[
    list[str] | None,
    typer.Option(
        "--labels",
        metavar="A,B",
        help="What macro averages are taken over: these labels, instead of the answer's; or union, "
        "those of the answer and of the system itself.",
    ),
]


def averaged_labels(values: list[str] | None) -> str | tuple[str, ...] | None:
    """Return the labels of macro averages: names, or the word union."""
    if values is None:
        return None
    names = words(values, ())
    return names[0] if names == ("union",) else names


TrainWords = Annotated[
    str | None,
    typer.Option(
        "--train-words",
        metavar="FILE",
        help="A lexicon or a segmented training file, for the recall of unknown words.",
    ),
]


# Cross-validation.
Repetitions = Annotated[
    int, typer.Option("--m", metavar="N", parser=whole, help="Repetitions, each of two folds.")
]
Jobs = Annotated[
    int | None,
    typer.Option("--jobs", metavar="N", parser=integer, help="Fits at once; -1 for all cores."),
]
KeepDocuments = Annotated[
    bool, typer.Option("--keep-documents", help="Never cut a document that the corpus marks.")
]
Resume = Annotated[
    Path | None,
    typer.Option(
        "--resume",
        metavar="DIR",
        help="Keep what is done in this folder, and continue what is there.",
    ),
]
Rope = Annotated[
    float,
    typer.Option(
        "--rope",
        metavar="NUMBER",
        parser=number,
        help="Differences up to this size, a fraction of 1, count as none.",
    ),
]
Weight = Annotated[
    str,
    typer.Option(
        "--weight", metavar="HOW", help="effective, averaged, a number, or correlations R1,R2."
    ),
]


def fold_weight(text: str) -> str | float | tuple[float, float]:
    """Read a weight of folds: a name, a number, or two correlations with a comma between."""
    try:
        values = [float(part) for part in text.split(",")]
    except ValueError:
        return text
    return values[0] if len(values) == 1 else tuple(values)  # type: ignore[return-value]


def column_numbers(parameter: str, text: str | None) -> list[int]:
    """Read the numbers of columns, from 1, separated by commas."""
    found = words([text] if text else None, ())
    for word in found:
        if not word.isdecimal() or int(word) < 1:
            raise typer.BadParameter(f"{word!r} is not a column number", param_hint=parameter)
    return [int(word) for word in found]


Replicates = Annotated[
    int, typer.Option("--replicates", metavar="N", parser=whole, help="Test sets to draw.")
]
