"""Options that the commands share, with the same words everywhere."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import click

from probative.cli.parameters import Option

__all__ = [
    "Align",
    "Beta",
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
    "column_numbers",
    "fold_weight",
    "integer",
    "number",
    "whole",
    "words",
]


def number(text: str | float) -> float:
    """Read a number from the command line."""
    try:
        return float(text)
    except ValueError:
        raise click.BadParameter(f"{text!r} is not a number") from None


def whole(text: str | int) -> int:
    """Read a whole number >= 0 from the command line."""
    try:
        value = int(text)
    except ValueError:
        value = -1
    if value < 0:
        raise click.BadParameter(f"{text!r} is not a whole number >= 0")
    return value


Format = Annotated[
    str,
    Option("--format", "-f", metavar="FORMAT", help="text, json, markdown, latex or csv."),
]
Html = Annotated[
    Path | None, Option("--html", metavar="FILE", help="Also write a page to look at.")
]
Figure = Annotated[
    Path | None,
    Option("--figure", metavar="FILE", help="Also draw a figure (.png, .svg or .pdf)."),
]
Level = Annotated[
    float,
    Option("--level", metavar="P", parser=number, help="The level of the intervals, in (0, 1)."),
]
Quiet = Annotated[bool, Option("--quiet", "-q", help="No progress and no remarks.")]
Seed = Annotated[
    int | None,
    Option("--seed", metavar="N", parser=whole, help="Seed of whatever is random in this command."),
]
Beta = Annotated[
    float,
    Option("--beta", metavar="NUMBER", parser=number, help="The weight of recall in fbeta."),
]
Prior = Annotated[
    float,
    Option("--prior", metavar="NUMBER", parser=number, help="The prior weight of each cell."),
]
Metric = Annotated[
    list[str] | None,
    Option(
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


def integer(text: str | int) -> int:
    """Read a whole number from the command line."""
    try:
        return int(text)
    except ValueError:
        raise click.BadParameter(f"{text!r} is not a whole number") from None


# How to read and match files; what is not given is recognised.
Task = Annotated[
    str | None,
    Option("--task", metavar="TASK", help="entities, segmentation or labels."),
]
InputFormat = Annotated[
    str | None,
    Option(
        "--input-format",
        metavar="NAME",
        help="columns, conllu, segmented, labels, jsonl or table.",
    ),
]
Encoding = Annotated[
    str | None, Option("--encoding", metavar="NAME", help="utf-8, latin-1, gb18030, …")
]
TagColumn = Annotated[
    int | None,
    Option(
        "--tag-column",
        metavar="N",
        parser=integer,
        help="The column of the tags, from 1, or from -1 backwards.",
    ),
]
GoldColumn = Annotated[
    str | None,
    Option("--gold-column", metavar="COLUMN", help="The answer's column: its number, or its name."),
]
Columns = Annotated[
    str | None,
    Option("--columns", metavar="A,B", help="The systems' columns: their numbers, or their names."),
]
UnitColumn = Annotated[
    str | None,
    Option(
        "--unit-column",
        metavar="NAME",
        help="The column of a table that says which items belong together.",
    ),
]
Comments = Annotated[bool, Option("--comments", help="Lines that begin with # are comments.")]
Align = Annotated[
    str,
    Option("--align", metavar="HOW", help="tokens: they must be equal; position: as many will do."),
]
Scheme = Annotated[
    str | None,
    Option(
        "--scheme",
        metavar="NAME",
        help="iob1, iob2, ioe1, ioe2, iobes, bilou, bmes, bb2b3mes or io.",
    ),
]
Repair = Annotated[
    str,
    Option(
        "--repair", metavar="HOW", help="What to do with invalid tags: conlleval, strict or error."
    ),
]
IgnoreType = Annotated[bool, Option("--ignore-type", help="Count boundaries, whatever the type.")]
Only = Annotated[
    list[str] | None,
    Option("--only", metavar="LABEL", help="Count this label only; may be repeated."),
]
Positive = Annotated[
    str | None,
    Option("--positive", metavar="LABEL", help="The class that counts as yes, for labels."),
]
TrainWords = Annotated[
    str | None,
    Option(
        "--train-words",
        metavar="FILE",
        help="A lexicon or a segmented training file, for the recall of unknown words.",
    ),
]


# Cross-validation.
Repetitions = Annotated[
    int, Option("--m", metavar="N", parser=whole, help="Repetitions, each of two folds.")
]
Jobs = Annotated[
    int | None,
    Option("--jobs", metavar="N", parser=integer, help="Fits at once; -1 for all cores."),
]
KeepDocuments = Annotated[
    bool, Option("--keep-documents", help="Never cut a document that the corpus marks.")
]
Resume = Annotated[
    Path | None,
    Option(
        "--resume",
        metavar="DIR",
        help="Keep what is done in this folder, and continue what is there.",
    ),
]
Rope = Annotated[
    float,
    Option(
        "--rope",
        metavar="NUMBER",
        parser=number,
        help="Differences up to this size, a fraction of 1, count as none.",
    ),
]
Weight = Annotated[
    str,
    Option("--weight", metavar="HOW", help="effective, averaged, a number, or correlations R1,R2."),
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
            raise click.BadParameter(f"{word!r} is not a column number", param_hint=parameter)
    return [int(word) for word in found]


Replicates = Annotated[
    int, Option("--replicates", metavar="N", parser=whole, help="Test sets to draw.")
]
