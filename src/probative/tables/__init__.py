"""Count the rows of data frames, in whatever engine holds them, with one aggregate query.

All statistics of this package need only how many rows fall into which case, by group and by unit.
The engine that holds the rows counts them (pandas, Polars, PyArrow, DuckDB, Ibis, Dask, PySpark),
and only the counts leave it.
"""

from probative._lazy import names_on_demand

__getattr__, __dir__ = names_on_demand(__name__, __file__)
__all__ = list(__dir__())
