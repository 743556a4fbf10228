"""Looks while labels arrive, as a document and as a figure."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from probative.errors import InputError
from probative.reporting.document import Document, Table, Tracks, payload
from probative.reporting.figures import CHALLENGER, new_figure
from probative.reporting.svg import Series, lines
from probative.wording.numbers import metric_name, points, pvalue

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from probative.reporting.document import Drawing
    from probative.results.sequences import Look, Looks

__all__ = ["draw_looks", "looks_figure", "watch_document"]

_READING = (
    "The band holds at every look: however often it is read, and whenever one stops, it misses "
    "with at most the stated probability."
)


def watch_document(looks: Looks) -> Document:
    """The looks in a table, what the last one says, and the limits against the labels."""
    if not looks.looks:
        raise InputError("looks: there are none yet; expected at least one batch")
    last = looks.last
    said = last.verdict(looks.a, looks.b or "B")
    notes = [_sentence(said)]
    return Document(
        title=f"{_what(looks)} at every look",
        payload=payload(
            "watch",
            looks.signature,
            systems=[looks.a, *([looks.b or "B"] if last.is_of_two else [])],
            looks=looks.records(),
            notes=list(looks.notes),
        ),
        tables=(_table(looks),),
        records=tuple(looks.records()),
        notes=(*notes, *([_sentence(last.note)] if last.note else []), looks.signature),
        drawings=(_drawing(looks),) if _has_band(looks) else (),
    )


def _sentence(words: str) -> str:
    return f"{words[0].upper()}{words[1:]}."


def _what(looks: Looks) -> str:
    name = metric_name(looks.last.metric)
    return f"{name}, {looks.b or 'B'} − {looks.a}" if looks.last.is_of_two else name


def _table(looks: Looks) -> Table:
    two = looks.last.is_of_two
    heads = ["look", f"{looks.last.by}s", _what(looks), "low", "high"]
    heads += ["p at any time", "decided"] if two else []
    return Table(
        tuple(heads),
        tuple(_row(look, looks) for look in looks.looks),
        title=f"Limits at level {looks.last.level:g} that hold at every look (points)",
        closing_words=two,
        tracks=Tracks.of([_track(look) for look in looks.looks], zero=two)
        if _has_band(looks)
        else None,
        track_column=5,
    )


def _track(look: Look) -> tuple[float, float, float]:
    """The limits of a look, where it has any: others would fill all the room."""
    return (look.estimate if look.has_limits else math.nan, look.low, look.high)


def _has_band(looks: Looks) -> bool:
    """Whether there is anything to draw: limits that tell something, and are not one point."""
    return any(look.has_limits and look.low < look.high for look in looks.looks)


def _drawn(looks: Looks) -> list[Look]:
    """The looks that a figure shows: those with limits, if there are any."""
    return [look for look in looks.looks if look.has_limits] or list(looks.looks)


def _row(look: Look, looks: Looks) -> tuple[str, ...]:
    row = [
        f"{look.look}",
        f"{look.units:,}",
        points(look.estimate),
        points(look.low),
        points(look.high),
    ]
    if look.is_of_two:
        better = {"a": looks.a, "b": looks.b or "B"}.get(look.decided or "")
        row += [pvalue(look.pvalue), f"{better} is better" if better else "no"]
    return tuple(row)


def _drawing(looks: Looks) -> Drawing:
    shown = _series(looks)
    return lines(
        [look.units for look in _drawn(looks)],
        [Series(_what(looks), *shown)],
        axis=f"{looks.last.by}s labelled",
        title=f"{_what(looks)} against the number of labels.",
        description=str(looks),
        reading=_READING,
    )


def _series(looks: Looks) -> tuple[list[float], list[float], list[float]]:
    return (
        [look.estimate for look in _drawn(looks)],
        [look.low for look in _drawn(looks)],
        [look.high for look in _drawn(looks)],
    )


def looks_figure(looks: Looks) -> Figure:
    """The limits against the number of labels, as a figure."""
    return _drawing_of(looks)[0]


def draw_looks(looks: Looks) -> Axes:
    """Draw the limits against the number of labels; return the axes."""
    return _drawing_of(looks)[1]


def _drawing_of(looks: Looks) -> tuple[Figure, Axes]:
    if not looks.looks:
        raise InputError("looks: there are none yet; expected at least one batch")
    figure, axis = new_figure(width=5.4)
    units = [look.units for look in _drawn(looks)]
    estimate, low, high = ([100 * value for value in values] for values in _series(looks))
    one = "o" if len(units) == 1 else None
    axis.fill_between(units, low, high, color=CHALLENGER, alpha=0.2, linewidth=0)
    axis.plot(units, estimate, color=CHALLENGER, marker=one)
    if one:
        axis.vlines(units, low, high, color=CHALLENGER)
    if looks.last.is_of_two:
        axis.axhline(0, color="0.4", linewidth=0.8)
    decided = next((look for look in looks.looks if look.decided), None)
    if decided:
        axis.axvline(decided.units, color="0.4", linewidth=0.8, linestyle=":")
        axis.set_title(f"dotted: decided after {decided.units:,} {decided.by}s", fontsize=9)
    axis.set_xlabel(f"{looks.last.by}s labelled")
    axis.set_ylabel(f"{_what(looks)} (points)")
    return figure, axis
