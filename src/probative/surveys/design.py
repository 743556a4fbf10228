"""Design of a sample: which units of a pool are annotated, and why. It is kept in a file.

The units of a pool are grouped into strata by what is known before anything is annotated. Each
stratum is put into a random order once; the sample is the beginning of every stratum's order. So a
design can be extended without losing an annotation.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from probative._validation import shown
from probative._version import __version__
from probative.errors import InputError
from probative.reading.inputs import is_path
from probative.reading.source import load

GOALS = ("score", "difference")
_FORMAT = 1
_BASES = ("guess", "scores", "pilot", "judge")


@dataclass(frozen=True)
class Stratum:
    """Units that are drawn alike."""

    name: str  # a description of its units
    key: str  # the description without names of systems, which mirror images of strata share
    size: int  # units of the pool
    drawn: int  # units to annotate
    why: str  # the basis of that number: "all", "least", "guess", "pilot", "scores" or "judge"
    spread: float  # the expected standard deviation of its units, in items
    beside: float = 0.0  # what the scores add to it if the sample is allocated for differences


@dataclass(frozen=True)
class SystemSource:
    """The origin of a system's output."""

    name: str
    path: str | None  # relative to the folder of the design; None for inputs from Python
    fingerprint: str  # a digest that changes if the output does


@dataclass(frozen=True)
class PoolSource(SystemSource):
    """The origin of the text of the pool, and its number of units."""

    units: int


class _DrawnUnits(NamedTuple):
    """The drawn units as they are written: batch after batch, each in the order of the pool."""

    number: NDArray[np.int64]  # the index of every unit in the pool, from 0
    stratum: NDArray[np.int64]  # the index of its stratum
    batch: NDArray[np.int64]  # the index of the draw that added it, from 0


@dataclass(frozen=True, eq=False)
class Design:
    """A sample of a pool: its strata, the drawn units and the inputs.

    Attributes
    ----------
    task
        ``entities`` or ``labels``.
    unit
        The kind of unit that is drawn: ``sentence``, ``document``, ``unit`` or ``item``.
    goal
        The quantity that the sample is optimised for: ``score`` or ``difference``.
    seed
        The seed of the orders.
    pool, outputs
        The origins of the pool and of the systems' outputs.
    judge
        The origin of an opinion on every unit, read as the outputs are; None without one.
    reading
        The keywords of `ReadingOptions` for the outputs that differ from the defaults.
    scores
        The column of confidences, by name or number; None without.
    strata
        The strata.
    order
        For each stratum the indices of all its units in the pool, in random order.
    batches
        For each draw the number of units that it added to each stratum.
    written
        How the units are written: ``format`` (as `input_format` names it) and the column or key
        for gold; empty if nothing was written.
    basis
        The basis of the spread of the strata: "guess", "scores", "pilot" or "judge".
    """

    task: str
    unit: str
    goal: str
    seed: int
    pool: PoolSource
    outputs: tuple[SystemSource, ...]
    judge: SystemSource | None
    reading: Mapping[str, Any]
    scores: int | str | None
    strata: tuple[Stratum, ...]
    order: tuple[NDArray[np.int64], ...] = field(repr=False)
    batches: tuple[tuple[int, ...], ...]
    written: Mapping[str, Any]
    basis: str = "guess"

    @property
    def systems(self) -> tuple[str, ...]:
        """Return the names of the systems."""
        return tuple(output.name for output in self.outputs)

    @property
    def size(self) -> int:
        """Return the number of drawn units."""
        return sum(stratum.drawn for stratum in self.strata)

    @cached_property
    def stratum_of(self) -> NDArray[np.int64]:
        """Return the index of the stratum of every unit of the pool."""
        stratum = np.empty(self.pool.units, dtype=np.int64)
        for number, units in enumerate(self.order):
            stratum[units] = number
        return stratum

    @cached_property
    def units(self) -> _DrawnUnits:
        """Return the drawn units: index in the pool, stratum and batch."""
        ends = np.cumsum(self.batches, axis=0)
        drawn = [order[:end] for order, end in zip(self.order, ends[-1], strict=True)]
        batches = [np.searchsorted(own, np.arange(own[-1]), side="right") for own in ends.T]
        number, batch = np.concatenate(drawn), np.concatenate(batches)
        rows = np.lexsort((number, batch))
        return _DrawnUnits(number[rows], self.stratum_of[number[rows]], batch[rows])

    def extended(self, more: Sequence[int], strata: Sequence[Stratum]) -> Design:
        """Return the design with a further draw of `more` units; `strata` replaces the strata."""
        batches = (*self.batches, tuple(map(int, more)))
        return replace(self, strata=tuple(strata), batches=batches).first(len(batches))

    def first(self, draws: int) -> Design:
        """Return the design as it was after this many draws."""
        drawn = np.sum(self.batches[:draws], axis=0)
        pairs = zip(self.strata, drawn, strict=True)
        strata = tuple(replace(stratum, drawn=int(k)) for stratum, k in pairs)
        return replace(self, strata=strata, batches=self.batches[:draws])

    def to_dict(self) -> dict[str, Any]:
        """Return the content of the design file."""
        content = asdict(replace(self, order=()))
        content["order"] = [units.tolist() for units in self.order]
        return {"format": _FORMAT, "command": "sample", "version": __version__, **content}


def as_text(design: Design) -> str:
    """Return the text of the design file: one line per entry, stratum and order."""
    content = design.to_dict()
    strata, order = content.pop("strata"), content.pop("order")
    lines = [f"{json.dumps(key)}: {json.dumps(value)}" for key, value in content.items()]
    for key, rows in (("strata", strata), ("order", order)):
        listed = ",\n  ".join(json.dumps(row) for row in rows)
        lines.append(f"{json.dumps(key)}: [\n  {listed}\n ]")
    return "{\n " + ",\n ".join(lines) + "\n}\n"


def open_design(design: Any) -> tuple[Design, Path]:
    """Return the design, and the folder that its paths are relative to."""
    if isinstance(design, Design):
        return design, Path.cwd()
    if not is_path(design):
        raise InputError(f"design: {shown(design)}; expected a design of sample(), or its file")
    return read_design(design), Path(design).parent


def read_design(path: Path | str) -> Design:
    """Read the file of a design.

    Parameters
    ----------
    path
        The file that `sample` has written: ``sample.design.json``.

    Returns
    -------
    Design
        The design; its paths are relative to the folder of the file.

    Examples
    --------
    >>> import probative as pv
    >>> drawn = pv.sample(None, ["1", "0", "1", "0"], ["1", "1", "0", "0"], size=3)
    >>> _ = Path("sample.design.json").write_text(as_text(drawn.design))
    >>> pv.read_design("sample.design.json").size
    3
    """
    if not isinstance(path, (str, Path)):
        raise InputError(f"path: {shown(path)}; expected the file of a design")
    text = load(path, expected="the file of a design").data
    try:
        content = json.loads(text)
    except (ValueError, RecursionError):
        raise InputError("is not JSON, or is incomplete; expected the whole design", path) from None
    entries = content if isinstance(content, dict) else {}
    if entries.get("command") != "sample" or "order" not in entries:
        raise InputError("is no design; expected a file that `sample` has written", path)
    if content.get("format") != _FORMAT:
        raise InputError(f"is of format {content.get('format')!r}; expected {_FORMAT}", path)
    try:
        judge = content["judge"]
        design = Design(
            **{key: content[key] for key in ("task", "unit", "goal", "seed", "scores")},
            pool=PoolSource(**content["pool"]),
            outputs=tuple(SystemSource(**output) for output in content["outputs"]),
            judge=None if judge is None else SystemSource(**judge),
            reading=dict(content["reading"]),
            written=dict(content["written"]),
            strata=tuple(Stratum(**stratum) for stratum in content["strata"]),
            order=tuple(np.array(units, dtype=np.int64) for units in content["order"]),
            batches=tuple(tuple(map(int, batch)) for batch in content["batches"]),
            basis=content["basis"],
        )
        problem = next(_problems(design), None)
    except KeyError as error:
        raise InputError(f"is a design without {error}; expected the whole file", path) from None
    except (TypeError, ValueError, OverflowError, AttributeError):
        raise InputError("is a damaged design; expected it as `sample` wrote it", path) from None
    if problem is not None:
        raise InputError(f"is a damaged design: {problem}", path)
    return design


def _problems(design: Design) -> Iterator[str]:
    """Yield a message on every entry with the wrong type, and then on every contradiction."""
    texts: list[tuple[str, Any]] = [("its task", design.task), ("its unit", design.unit)]
    for source in (design.pool, *design.outputs, *filter(None, [design.judge])):
        texts += [("the name of a file", source.name)]
        texts += [("the fingerprint of a file", source.fingerprint)]
        texts += [] if source.path is None else [("the path of a file", source.path)]
    for stratum in design.strata:
        texts += [("the name of a stratum", stratum.name), ("the key of a stratum", stratum.key)]
    for what, value in texts:
        if not isinstance(value, str):
            yield f"{what} is {shown(value)}; expected text"
    for value in (x for stratum in design.strata for x in (stratum.spread, stratum.beside)):
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            yield f"the spread of a stratum is {shown(value)}; expected a number"
    if design.basis not in _BASES:
        yield f"its basis is {shown(design.basis)}; expected one of {', '.join(_BASES)}"
    if not isinstance(design.written.get("keep", []), list):
        yield "the columns to keep are not a list; expected one"
    if design.goal not in GOALS:
        yield f"its goal is {design.goal!r}; expected one of {', '.join(GOALS)}"
    sizes = [stratum.size for stratum in design.strata]
    if [len(units) for units in design.order] != sizes:
        yield "its strata and its orders differ in size; expected the same number of units"
    units = np.concatenate(design.order) if design.order else np.zeros(0, dtype=np.int64)
    if not np.array_equal(np.sort(units), np.arange(design.pool.units)):
        yield f"its orders are not of {design.pool.units} units; expected each unit once"
    if {len(batch) for batch in design.batches} != {len(sizes)}:
        yield "its batches do not fit its strata; expected a number for each"
    drawn, batches = [stratum.drawn for stratum in design.strata], np.array(design.batches)
    if (batches < 0).any():
        yield "its batches do not fit its strata; expected numbers of units"
    if not np.array_equal(batches.sum(axis=0), drawn) or np.greater(drawn, sizes).any():
        yield "its batches do not add up to the drawn units; expected the same numbers"
