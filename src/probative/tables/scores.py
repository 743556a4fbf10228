"""Sum the graded scores of a table by unit, in the engine that holds it, with one GROUP BY.

Means, their intervals and exchanges of units need nothing but the sum of the scores of every unit,
their number and the sum of their squares.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from probative._lazy import ModuleOnDemand
from probative._validation import Array, finite, shown
from probative.errors import InputError
from probative.tables.engines import chosen, fetch, opened
from probative.tables.query import NUMBER, group_keys, plain, sort_groups, without_gaps

if TYPE_CHECKING:
    import narwhals as nw

    from probative.tables.engines import Frame

    Range = tuple[float, float]
else:
    nw = ModuleOnDemand("narwhals")

USUAL_RANGE = (0.0, 1.0)
NO_RANGE = "none"


def range_of(given: Any) -> Range | None:
    """Return the range of the scores: the usual one by default, None for "none"."""
    if given is None:
        return USUAL_RANGE
    if given == NO_RANGE or (isinstance(given, (tuple, list)) and list(given) == [NO_RANGE]):
        return None
    try:
        low, high = given.split(",") if isinstance(given, str) else given
        low, high = float(low), float(high)
    except (TypeError, ValueError):
        low = high = 0.0
    if not low < high:
        expected = f"expected the smallest and the largest score, such as 1,5, or '{NO_RANGE}'"
        raise InputError(f"range: {shown(given)}; {expected}")
    return finite("range", low), finite("range", high)


@dataclass(frozen=True, eq=False)
class SummedScores:
    """The graded scores of a table, summed by unit: the `scores` of `compare` and `rank`.

    Attributes
    ----------
    names
        The systems.
    sums, squares
        The summed scores of every unit and their summed squares: one row per system.
    number
        The number of items of every unit.
    range
        The smallest and the largest possible score; None if there are none.
    least, most
        The smallest and the largest score of all; None if there is no range.
    left_out
        How many rows are left out, because a system has no score of them.

    Examples
    --------
    >>> import pandas
    >>> import probative as pv
    >>> frame = pandas.DataFrame(
    ...     {"doc": [1, 1, 2, 2, 3], "old": [0.5, 0, 1, 0.5, 0], "new": [1, 0.5, 1, 1, 0.5]}
    ... )
    >>> summed = pv.tally(frame, scores=["old", "new"], unit="doc")
    >>> summed.means.tolist(), summed.n_units
    ([0.4, 0.8], 3)
    >>> pv.compare(scores=summed).comparisons[0].pvalue
    0.25
    """

    names: tuple[str, ...]
    sums: Array
    squares: Array
    number: Array
    range: Range | None
    least: float | None = None
    most: float | None = None
    left_out: int = 0

    @property
    def n_units(self) -> int:
        """Return the number of units."""
        return len(self.number)

    @property
    def means(self) -> Array:
        """Return the mean score of every system over the items."""
        return np.asarray(self.sums.sum(axis=1) / self.number.sum())


def sum_table(
    frame: object,
    systems: dict[str, str],
    *,
    unit: str | None,
    by: Sequence[str] = (),
    single_by: bool = True,
    range_: Range | None,
    drop: bool,
) -> dict[Hashable, SummedScores]:
    """Return the summed scores of every group; without groups, that of None."""
    if unit is None:
        raise InputError("unit: scores are summed by unit; expected unit=, a column")
    groups = {f"b{i}": ("by", name) for i, name in enumerate(by)}
    keys = {**groups, "u": ("unit", unit)}
    columns = {f"s{k}": ("scores", name) for k, name in enumerate(systems.values())}
    source = chosen(opened(frame), {**keys, **columns})
    source = plain(_as_numbers(source, columns), {}, keys)
    units, table, is_complete = _sums_of_units(source, list(keys), list(columns))
    items, left_out = int(table[0].sum()), 0
    if not items:
        raise InputError("frame: the table has no rows; expected at least one")
    if not is_complete:
        source = without_gaps(source, columns)
        units, table, _ = _sums_of_units(source, list(keys), list(columns))
        left_out = items - int(table[0].sum())
        listed = ", ".join(map(repr, systems.values()))
        if not drop:
            problem = f"{left_out:,} of {items:,} rows have no number in one of the columns"
            expected = "expected one in each, or on_null='drop'"
            raise InputError(f"scores: {problem} {listed}; {expected}")
        if left_out == items:
            raise InputError(f"scores: no row has a number in each of the columns {listed}")
    empty = int(table[0, [value is None for value in units["u"]]].sum())
    if empty:
        problem = f"unit: column {unit!r} is empty in {empty:,} of {items:,} rows"
        raise InputError(f"{problem}; expected units")
    least = most = None
    if range_ is not None:
        ends = [nw.col(c).min().alias(f"least_{c}") for c in columns]
        ends += [nw.col(c).max().alias(f"most_{c}") for c in columns]
        found = fetch(lambda: source.select(*ends))
        least = min(float(found[f"least_{c}"][0]) for c in columns)
        most = max(float(found[f"most_{c}"][0]) for c in columns)
        refuse_outside(range_, least, most)
    own = group_keys(units, list(groups), table.shape[1], single=single_by)
    places: dict[Hashable, list[int]] = {group: [] for group in sort_groups(own)}
    for place, group in enumerate(own):
        places[group].append(place)
    names, shared = tuple(systems), (range_, least, most, left_out)
    number, (sums, squares) = table[0], np.split(table[1:], 2)
    return {
        group: SummedScores(names, sums[:, some], squares[:, some], number[some], *shared)
        for group, some in places.items()
    }


def refuse_outside(range_: Range, least: float | None, most: float | None) -> None:
    """Refuse scores outside the range, given the smallest and the largest of all."""
    if least is None or most is None or (range_[0] <= least and most <= range_[1]):
        return
    problem = f"they are between {least:g} and {most:g}, outside the range"
    expected = "expected range=, the smallest and the largest possible score, or range='none'"
    raise InputError(f"scores: {problem} from {range_[0]:g} to {range_[1]:g}; {expected}")


def _sums_of_units(
    source: Frame, keys: list[str], columns: list[str]
) -> tuple[dict[str, list[Any]], Array, bool]:
    """Return keys, numbers and sums of units in their order, and if every row has all scores."""
    # rows of the table: the number of items, the sums of every system, and those of the squares
    squares = [(nw.col(c) * nw.col(c)).alias(f"square_{c}") for c in columns]
    held = [nw.col(c).count().alias(f"held_{c}") for c in columns]
    sums = [nw.col(c).sum().alias(f"sum_{c}") for c in columns]
    sums += [nw.col(f"square_{c}").sum() for c in columns]
    asked = [nw.len().alias(NUMBER), *held, *sums]
    rows = fetch(lambda: source.with_columns(*squares).group_by(*keys).agg(*asked))
    names = [NUMBER, *(f"{what}_{c}" for what in ("sum", "square", "held") for c in columns)]
    every = np.stack([np.asarray(rows[name], dtype=np.float64) for name in names])
    table, number_held = np.split(every, [-len(columns)])
    is_complete = bool(np.all(number_held == table[0]) and np.isfinite(table).all())
    # a fixed order: samples must not depend on which thread was faster
    values = {key: _values(rows[key]) for key in keys}
    order = _order(values["u"])
    units = {key: [own[i] for i in order.tolist()] for key, own in values.items()}
    return units, table[:, order], is_complete


def _values(column: Any) -> list[Any]:
    """Return the values of a column of keys, None for NaN; there may be a million units."""
    listed = column.tolist() if isinstance(column, np.ndarray) else list(column)
    return [None if isinstance(v, float) and math.isnan(v) else v for v in listed]


def _order(units: Sequence[Any]) -> NDArray[np.intp]:
    """Return the order of the units: by their values, or else by their texts."""
    try:
        return np.argsort(np.array(units), kind="stable")
    except TypeError:
        return np.argsort(np.array(list(map(str, units))), kind="stable")


def _as_numbers(frame: Frame, columns: dict[str, tuple[str, str]]) -> Frame:
    """Return the frame with scores as floating-point numbers; refuse columns of anything else."""
    schema = frame.collect_schema()
    for safe, (parameter, name) in columns.items():
        if not (schema[safe].is_numeric() or schema[safe] == nw.Boolean):
            held = f"column {name!r} holds {shown(schema[safe])}"
            raise InputError(f"{parameter}: {held}; expected numbers")
    others = [nw.col(safe).cast(nw.Float64) for safe in columns if schema[safe] != nw.Float64]
    return frame.with_columns(*others) if others else frame
