"""Options that the commands share, with the same words everywhere."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from probative.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping, Set

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
    "check_needs",
    "column_numbers",
    "fold_weight",
    "integer",
    "number",
    "numbers",
    "seed",
    "steps",
    "whole",
    "whole_numbers",
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
        raise typer.BadParameter(f"{_shortened(text)} is not a number")
    return value


def integer(text: str | int, *, least: int | None = None, most: int | None = None) -> int:
    """Read a whole number from the command line, within limits that are named if it is not."""
    limit = "" if least is None else f" >= {least}"
    value = int(text) if _INTEGER.fullmatch(str(text)) else None
    if value is None and re.fullmatch(r"[+]?\d{19,}", str(text), re.ASCII):
        raise typer.BadParameter(f"{_shortened(text)} is too large")
    if value is None or (least is not None and value < least):
        raise typer.BadParameter(f"{_shortened(text)} is not a whole number{limit}")
    if most is not None and value > most:
        raise typer.BadParameter(f"{value} is too large; expected at most {most}")
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
        raise typer.BadParameter(f"{value} is not a number of fits at once; expected 1, 2, … or -1")
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
    except typer.BadParameter as error:
        raise InputError(f"{parameter}: {error.message}") from None


def _shortened(text: object) -> str:
    shown = str(text)
    return repr(shown if len(shown) <= 40 else f"{shown[:40]}…")


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
        "--seed", metavar="N", parser=seed, help="Seed of whatever is random in this command."
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
    typer.Option("--jobs", metavar="N", parser=workers, help="Fits at once; -1 for all cores."),
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
        values = numbers("--weight", text)
    except InputError:
        return text
    return values[0] if len(values) == 1 else tuple(values)  # type: ignore[return-value]


def column_numbers(parameter: str, text: str | None) -> list[int]:
    """Read the numbers of columns, from 1, separated by commas."""
    return whole_numbers(parameter, [text] if text else None, what="column number")


Replicates = Annotated[
    int, typer.Option("--replicates", metavar="N", parser=whole, help="Test sets to draw.")
]


# what an option means nothing without: it is refused then, not ignored
_NEEDS = {"plot": "figure"}


def check_needs(command: str, given: Set[str], values: Mapping[str, Any]) -> None:
    """Refuse options that were given and that nothing would look at.

    Parameters
    ----------
    command
        The words that call the command.
    given
        The names of the parameters that stand on the command line.
    values
        The values of all, by name.
    """
    needs = _NEEDS | ({"task": "figure"} if command.endswith("study bayes") else {})
    for name, other in needs.items():
        if name in given and not values.get(other):
            raise InputError(f"{_flag(name)}: means nothing without {_flag(other)}; expected both")
    metric = values.get("metric")
    metrics = words([metric] if isinstance(metric, str) else metric, ())
    if "beta" in given and "fbeta" not in metrics:
        raise InputError("--beta: means nothing without --metric fbeta; expected both")
    for name in ("html", "figure"):
        if name in given and values.get("form") == "conlleval":
            raise InputError(f"{_flag(name)}: cannot be combined with --format conlleval")


def _flag(name: str) -> str:
    return "--" + name.replace("_", "-")
