"""Describe pictures once: a page draws them as SVG (`svg`), a paper with matplotlib (`figures`).

Scores, differences and their intervals are fractions of 1; both ways of drawing show points.
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True, kw_only=True)
class Picture:
    """Base class of pictures.

    `axis` names the horizontal axis, `title` says what the picture shows, `reading` how to read it,
    and `description` gives its numbers to those who cannot see it. `note` is what a figure without
    a caption says beside its axis.
    """

    axis: str = ""
    title: str = ""
    description: str = ""
    reading: str = ""
    note: str = ""


@dataclass(frozen=True)
class Bar:
    """Row of a forest plot: an estimate, its interval and single runs.

    A `marked` row is the baseline, or the sum of all others; a `pale` one stands back. `words`
    stand on the right of the row in a figure.
    """

    name: str
    estimate: float
    low: float
    high: float
    marked: bool = False
    runs: tuple[float, ...] = ()
    pale: bool = False
    words: str = ""


@dataclass(frozen=True)
class Forest(Picture):
    """Estimates with their intervals, one per row, with a line at 0 if `zero`."""

    bars: Sequence[Bar]
    zero: bool = False


@dataclass(frozen=True)
class Density(Picture):
    """Posterior of the difference of two systems, with the region of equivalence shaded.

    `x` and `y` are empty if there is no curve. `names` are those of baseline and challenger;
    `chances` the probabilities in words that the first is better, that both are equivalent, and
    that the second is better.
    """

    x: Sequence[float]
    y: Sequence[float]
    rope: float
    names: tuple[str, str]
    chances: tuple[str, str, str]


@dataclass(frozen=True)
class Curve:
    """Density of a score; `marked` is the baseline, `dashed` a second `kind` of the same name."""

    name: str
    x: Sequence[float]
    y: Sequence[float]
    marked: bool = False
    dashed: bool = False
    kind: str = ""


@dataclass(frozen=True)
class Densities(Picture):
    """Posteriors of the same score in one picture."""

    curves: Sequence[Curve]


@dataclass(frozen=True)
class Histogram(Picture):
    """Null distribution, with the observed difference and what is as extreme marked."""

    edges: Sequence[float]
    probabilities: Sequence[float]
    observed: float


@dataclass(frozen=True)
class Series:
    """Score along an axis with its interval; its `peak` is marked, its `ranges` are shaded.

    A `reference` is drawn as a dashed line without a colour of its own.
    """

    name: str
    x: Sequence[float]
    estimate: Sequence[float]
    low: Sequence[float]
    high: Sequence[float]
    _: KW_ONLY
    peak: tuple[float, float] | None = None
    ranges: tuple[tuple[float, float], ...] = ()
    reference: bool = False


@dataclass(frozen=True)
class Lines(Picture):
    """Scores along an axis, each as a line with the band of its interval.

    `up` names the vertical axis; `in_points` shows the values of the horizontal one in points, too;
    `zero` draws the line of no difference, `stop` an upright one;
    `baseline` gives the first series the colour of the baseline.
    """

    series: Sequence[Series]
    up: str = "points"
    zero: bool = False
    stop: float | None = None
    baseline: bool = False
    in_points: bool = False


@dataclass(frozen=True)
class Part:
    """Part of a whole: its name, its share of 1 and its colour."""

    name: str
    share: float
    colour: str


@dataclass(frozen=True)
class Shares(Picture):
    """Parts of a whole as one bar."""

    parts: Sequence[Part]
