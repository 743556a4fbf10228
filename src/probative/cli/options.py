"""Options that the commands share, with the same words everywhere."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Annotated, Any

import click

from probative.cli.parameters import Group, Option
from probative.errors import InputError
from probative.options import ReadingOptions

__all__ = [
    "READING",
    "Beta",
    "By",
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
    "Names",
    "Only",
    "Prior",
    "Quiet",
    "Reading",
    "Repetitions",
    "Resume",
    "Rope",
    "Scheme",
    "Seed",
    "TagColumn",
    "Task",
    "Weight",
    "averaged_labels",
    "column_numbers",
    "fold_weight",
    "integer",
    "number",
    "numbers",
    "seed",
    "steps",
    "whole",
    "whole_numbers",
    "word_list",
    "words",
    "workers",
]


# what the command line takes for a number: no underscores, no digits of other scripts, no "nan"
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_INTEGER = re.compile(r"[+-]?\d{1,18}", re.ASCII)  # what 64 bits hold


def number(text: str | float) -> float:
    """Read a finite number from the command line."""
    value = float(text) if _NUMBER.fullmatch(str(text)) else math.nan
    if not math.isfinite(value):
        raise click.BadParameter(f"{_shortened(text)} is not a number")
    return value


def integer(text: str | int, *, least: int | None = None, most: int | None = None) -> int:
    """Read a whole number from the command line, within limits that are named if it is not."""
    limit = "" if least is None else f" >= {least}"
    value = int(text) if _INTEGER.fullmatch(str(text)) else None
    if value is None and re.fullmatch(r"[+]?\d{19,}", str(text), re.ASCII):
        raise click.BadParameter(f"{_shortened(text)} is too large")
    if value is None or (least is not None and value < least):
        raise click.BadParameter(f"{_shortened(text)} is not a whole number{limit}")
    if most is not None and value > most:
        raise click.BadParameter(f"{value} is too large; expected at most {most}")
    return value


def whole(text: str | int) -> int:
    """Read a whole number >= 0 from the command line."""
    return integer(text, least=0)


def seed(text: str | int) -> int:
    """Read a seed: what all generators of random numbers take."""
    return integer(text, least=0, most=2**32 - 1)


def steps(text: str | int) -> int:
    """Read a number of steps from 0 to 1; each is a row of a table."""
    return integer(text, least=1, most=10_000)


def workers(text: str | int) -> int:
    """Read a number of processes, or -1 for as many as there are cores."""
    value = integer(text)
    if value == 0 or value < -1:
        raise click.BadParameter(f"{value} is not a number of fits at once; expected 1, 2, … or -1")
    return value


def whole_numbers(
    parameter: str, values: list[str] | None, *, what: str = "whole number >= 1"
) -> list[int]:
    """Read whole numbers >= 1 of an option that may be repeated or hold a list with commas."""
    found = words(values, ())
    for word in found:
        if not _INTEGER.fullmatch(word) or int(word) < 1:
            raise InputError(f"{parameter}: {_shortened(word)} is not a {what}")
    return [int(word) for word in found]


def numbers(
    parameter: str, values: list[str] | None, default: tuple[float, ...] = ()
) -> tuple[float, ...]:
    """Read numbers of an option that may be repeated or hold a list with commas."""
    try:
        return (
            tuple(number(x.strip()) for value in values or () for x in value.split(",")) or default
        )
    except click.BadParameter as error:
        raise InputError(f"{parameter}: {error.message}") from None


def _shortened(text: object) -> str:
    shown = str(text)
    return repr(shown if len(shown) <= 40 else f"{shown[:40]}…")


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
    Option("--seed", metavar="N", parser=seed, help="Seed of whatever is random in this command."),
]
Beta = Annotated[
    float,
    Option("--beta", metavar="NUMBER", parser=number, help="The weight of recall in fbeta."),
]
Prior = Annotated[
    float,
    Option("--prior", metavar="NUMBER", parser=number, help="The prior weight of each cell."),
]
By = Annotated[
    str | None,
    Option(
        "--by",
        metavar="UNIT",
        help="What counts as independent, and is exchanged: sentence, document, unit or item.",
    ),
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


def word_list(text: str) -> tuple[str, ...]:
    """Read words that are separated by commas."""
    return words([text], ())


def averaged_labels(text: str) -> str | tuple[str, ...]:
    """Read the labels of macro averages: their names, or the word union."""
    names = word_list(text)
    return names[0] if names == ("union",) else names


# How to read and match files; what is not given is recognised.
READING = {
    "task": Option("--task", metavar="TASK", help="entities, segmentation or labels."),
    "input_format": Option(
        "--input-format",
        metavar="NAME",
        help="columns, conllu, segmented, labels, jsonl or table.",
    ),
    "encoding": Option("--encoding", metavar="NAME", help="utf-8, latin-1, gb18030, …"),
    "tag_column": Option(
        "--tag-column",
        metavar="N",
        parser=integer,
        help="The column of the tags, from 1, or from -1 backwards.",
    ),
    "gold_column": Option(
        "--gold-column", metavar="COLUMN", help="The answer's column: its number, or its name."
    ),
    "columns": Option(
        "--columns",
        metavar="A,B",
        parser=word_list,
        help="The systems' columns: their numbers, or their names.",
    ),
    "unit_column": Option(
        "--unit-column",
        metavar="NAME",
        help="The column of a table that says which items belong together.",
    ),
    "comments": Option("--comments", help="Lines that begin with # are comments."),
    "align_by": Option(
        "--align", metavar="HOW", help="tokens: they must be equal; position: as many will do."
    ),
    "scheme": Option(
        "--scheme",
        metavar="NAME",
        help="iob1, iob2, ioe1, ioe2, iobes, bilou, bmes, bb2b3mes or io.",
    ),
    "repair": Option(
        "--repair", metavar="HOW", help="What to do with invalid tags: conlleval, strict or error."
    ),
    "ignore_type": Option("--ignore-type", help="Count boundaries, whatever the type."),
    "only": Option(
        "--only",
        metavar="LABEL",
        parser=word_list,
        several=True,
        help="Count this label only; may be repeated.",
    ),
    "positive": Option(
        "--positive", metavar="LABEL", help="The class that counts as yes, for labels."
    ),
    "labels": Option(
        "--labels",
        metavar="A,B",
        parser=averaged_labels,
        help="What macro averages are taken over: these labels, instead of the answer's; or union, "
        "those of the answer and of the system itself.",
    ),
    "train_words": Option(
        "--train-words",
        metavar="FILE",
        help="A lexicon or a segmented training file, for the recall of unknown words.",
    ),
}
Reading = Annotated[dict[str, Any], Group(ReadingOptions, READING)]

# Some of them alone, for commands that read one corpus.
Task = Annotated[str | None, READING["task"]]
InputFormat = Annotated[str | None, READING["input_format"]]
Encoding = Annotated[str | None, READING["encoding"]]
TagColumn = Annotated[int | None, READING["tag_column"]]
GoldColumn = Annotated[str | None, READING["gold_column"]]
Comments = Annotated[bool, READING["comments"]]
Scheme = Annotated[str | None, READING["scheme"]]
IgnoreType = Annotated[bool, READING["ignore_type"]]
Only = Annotated[list[str] | None, READING["only"]]
Names = Annotated[
    tuple[str, ...] | None,
    Option("--names", metavar="A,B", parser=word_list, help="What to call the systems."),
]


# Cross-validation.
Repetitions = Annotated[
    int, Option("--m", metavar="N", parser=whole, help="Repetitions, each of two folds.")
]
Jobs = Annotated[
    int | None,
    Option("--jobs", metavar="N", parser=workers, help="Fits at once; -1 for all cores."),
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
        values = numbers("--weight", [text])
    except InputError:
        return text
    return values[0] if len(values) == 1 else values  # type: ignore[return-value]


def column_numbers(parameter: str, text: str | None) -> list[int]:
    """Read the numbers of columns, from 1, separated by commas."""
    return whole_numbers(parameter, [text] if text else None, what="column number")


Replicates = Annotated[
    int, Option("--replicates", metavar="N", parser=whole, help="Test sets to draw.")
]
