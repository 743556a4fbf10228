"""Options that the commands share, with the same words everywhere."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

__all__ = [
    "Beta",
    "Figure",
    "Format",
    "Html",
    "Level",
    "Metric",
    "Prior",
    "Quiet",
    "Seed",
    "number",
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
