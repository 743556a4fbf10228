"""More kinds of units than should leave an engine: units that are nearly alike become one kind.

The exact test of two systems depends on a unit only by how far the systems differ in true and in
false positives. Units with the same two differences are merged where their other cases nearly
agree, and come back as their number and their sums: the totals and the test stay what they are.
Each merged kind is then written as units as equal as whole numbers allow.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from probative.tables.query import NUMBER

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import narwhals as nw
    from numpy.typing import NDArray

    from probative._types import Array
    from probative.tables.engines import Frame

__all__ = ["merge_alike", "units_alike"]

# what may differ within a kind, and what may not, for one system and for two
_FREE = {1: ("rows", "tp", "fp", "fn"), 2: ("rows", "c2", "c3", "c4", "c5", "c6")}
_FIXED: dict[int, tuple[str, ...]] = {1: (), 2: ("dt", "df")}


def _parts(systems: int) -> dict[str, nw.Expr]:
    """The cases of a unit from its sums."""
    import narwhals as nw

    rows, pos, p0, t0 = (nw.col(name) for name in ("rows", "pos", "p0", "t0"))
    if systems == 1:
        return {"rows": rows, "tp": t0, "fp": p0 - t0, "fn": pos - t0}
    p1, t1, p, t = (nw.col(name) for name in ("p1", "t1", "p0_1", "t0_1"))
    return {
        "rows": rows,
        "c2": t1 - t,
        "c3": p1 - t1 - p + t,
        "c4": t,
        "c5": p - t,
        "c6": pos - t0 - t1 + t,
        "dt": t0 - t1,
        "df": p0 - t0 - p1 + t1,
    }


def merge_alike(by_unit: Frame, keys: list[str], systems: int, fineness: float) -> Frame:
    """Merge units that nearly agree: how many there are of each kind, and their sums.

    Parameters
    ----------
    by_unit
        The sums of every unit.
    keys
        The columns of groups and labels.
    systems
        One or two.
    fineness
        How many bins there are for every standard deviation of a number of independent items: the
        square root of the number. Small numbers have bins of their own.
    """
    import narwhals as nw

    free, fixed = _FREE[systems], _FIXED[systems]
    parts = {name: own.cast(nw.Int64) for name, own in _parts(systems).items()}
    split = by_unit.select(*keys, "lost", *(own.alias(f"_{name}") for name, own in parts.items()))
    numbers = {n: nw.col(f"_{n}") for n in free}
    split = split.with_columns(
        *((own.cast(nw.Float64) ** 0.5 * fineness).cast(nw.Int64).alias(f"bin_{n}")
          for n, own in numbers.items()),
        *((own * own).alias(f"own_{n}") for n, own in numbers.items()),
    )  # fmt: skip
    kinds = [*keys, "lost", *(f"_{n}" for n in fixed), *(f"bin_{n}" for n in free)]
    sums = [nw.col(f"_{name}").sum().alias(f"sum_{name}") for name in free]
    sums += [nw.col(f"own_{name}").sum().alias(f"square_{name}") for name in free]
    return split.group_by(*kinds).agg(nw.len().alias(NUMBER), *sums)


def units_alike(
    rows: Mapping[str, Sequence[Any]], systems: int
) -> tuple[NDArray[np.intp], Array, NDArray[np.int64], float]:
    """Write every kind as units: the kind of each row, its sums, and how many units it stands for.

    The last number is the largest share of the variance of a case over the units that is lost.

    Parameters
    ----------
    rows
        What `merge_alike` brought.
    systems
        One or two.
    """
    number = np.asarray(rows[NUMBER], dtype=np.int64)
    totals = np.array(
        [np.asarray(rows[f"sum_{n}"], dtype=np.int64) for n in _FREE[systems]]
    ).T.reshape(len(number), -1)
    kind, free, times = _equal_shares(totals, number)
    fixed = [np.asarray(rows[f"_{n}"], dtype=np.int64)[kind] for n in _FIXED[systems]]
    squares = np.array([np.sum(np.asarray(rows[f"square_{n}"], float)) for n in _FREE[systems]])
    lost = _lost_variance(free.astype(np.float64), times, squares)
    return kind, _sums(free, fixed), times, lost


def _lost_variance(free: Array, times: NDArray[np.int64], squares: Array) -> float:
    n = times.sum()
    mean = times @ free / n
    true, left = squares / n - mean**2, times @ free**2 / n - mean**2
    moving = true > 0
    return float(np.max(1 - left[moving] / true[moving], initial=0.0))


def _equal_shares(
    totals: NDArray[np.int64], number: NDArray[np.int64]
) -> tuple[NDArray[np.intp], NDArray[np.int64], NDArray[np.int64]]:
    """Share totals out to so many units as equally as whole numbers allow.

    Of a total that leaves a remainder r, the first r units get one more.
    """
    share, remainder = np.divmod(totals, number[:, None])
    begins = np.concatenate(
        [np.zeros((len(number), 1), dtype=np.int64), np.sort(remainder)], axis=1
    )
    ends = np.concatenate([begins[:, 1:], number[:, None]], axis=1)
    kind, part = np.nonzero(ends > begins)
    begin = begins[kind, part]
    shares = share[kind] + (remainder[kind] > begin[:, None])
    return kind, shares, ends[kind, part] - begin


def _sums(free: NDArray[np.int64], fixed: list[NDArray[np.int64]]) -> Array:
    """The sums that `query.statistics_of` names, from the cases."""
    if not fixed:
        rows, tp, fp, fn = free.T
        columns = [rows, tp + fn, tp + fp, tp]
    else:
        rows, c2, c3, c4, c5, c6 = free.T
        c0, c1 = c2 + fixed[0], c3 + fixed[1]
        columns = [
            rows, c0 + c2 + c4 + c6, c0 + c1 + c4 + c5, c0 + c4, c2 + c3 + c4 + c5, c2 + c4,
            c4 + c5, c4,
        ]  # fmt: skip
    return np.stack(columns, axis=1).astype(np.float64)
