"""Count the rows of data frames, in whatever engine holds them, with one aggregate query.

All statistics of this package need only how many rows fall into which case, by group and by unit.
The engine that holds the rows counts them (pandas, Polars, PyArrow, DuckDB, Ibis, Dask, PySpark),
and only the counts leave it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from probative._lazy import names_on_demand

if TYPE_CHECKING:
    from probative.tables.counting import Tallied, TallyWarning, count_table, tally
    from probative.tables.scores import SummedScores
    from probative.tables.tags import TagCounter, count_tags


__all__ = [
    "SummedScores",
    "TagCounter",
    "Tallied",
    "TallyWarning",
    "count_table",
    "count_tags",
    "tally",
]

__getattr__, __dir__ = names_on_demand(
    __name__,
    {
        "counting": ("Tallied", "TallyWarning", "count_table", "tally"),
        "scores": ("SummedScores",),
        "tags": ("TagCounter", "count_tags"),
    },
)
