"""Count tagged sentences in rows of a table, in one process or on a cluster.

`TagCounter` turns a part of a table (a partition of Dask, a batch of Spark) into numbers, one row
per sentence. It needs no other part, so it runs wherever the rows are. `count_tags` applies it to a
whole table and sums in the engine, as `tally` does.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from probative._lazy import ModuleOnDemand
from probative._validation import flag, one_of, shown
from probative.errors import InputError
from probative.labels import missing_labels
from probative.matching.matched import match_inputs
from probative.matching.schemes import SCHEMES
from probative.tables.counting import Tallied, check_asked, units_by_key
from probative.tables.engines import chosen, fetch, opened
from probative.tables.query import (
    group_keys,
    merge_units,
    numbers_of,
    plain,
    sort_groups,
    statistics_of,
    sum_units,
)

if TYPE_CHECKING:
    import narwhals as nw

    from probative.tables.engines import Frame
else:
    nw = ModuleOnDemand("narwhals")

_TOKENS = "tokens"


@dataclass(frozen=True)
class TagCounter:
    """Counter of the entities of tagged sentences in any part of a table.

    It can be sent to other processes, and gives the same numbers as `probative.score`.

    Parameters
    ----------
    gold, systems
        The columns of the gold tags and of those of the systems: lists, or texts with spaces
        between the tags.
    scheme
        The tag scheme, as for `probative.score`. It is not recognised here, because parts of a
        table could be recognised differently.
    tokens
        The column of the tokens, to check their number; or None.
    keep
        The columns to keep with every sentence, such as its unit.
    ignore_type
        True if only the positions of entities count, not their types.

    Examples
    --------
    >>> import pandas
    >>> from probative.tables import TagCounter
    >>> part = pandas.DataFrame(
    ...     {
    ...         "doc": [7, 7],
    ...         "gold": [["B-PER", "I-PER", "O"], ["O", "B-LOC"]],
    ...         "pred": [["B-PER", "I-PER", "O"], ["B-LOC", "O"]],
    ...     }
    ... )
    >>> TagCounter("gold", ["pred"], scheme="iob2", keep=["doc"])(part)
       doc  rows  pos  p0  t0
    0    7     1    1   1   1
    1    7     1    1   1   0
    """

    gold: str
    systems: Sequence[str]
    scheme: str
    tokens: str | None = None
    keep: Sequence[str] = ()
    ignore_type: bool = False

    def __post_init__(self) -> None:
        one_of("scheme", self.scheme, tuple(SCHEMES))

    @property
    def statistics(self) -> list[str]:
        """Return the columns of numbers, which are rows, positives, returned and correct."""
        return statistics_of(len(self.systems))

    def __call__(self, part: Any) -> Any:
        """Count a part that is a pandas data frame."""
        numbers = self.count({name: part[name].tolist() for name in self._columns()})
        counted = dict(zip(self.statistics, numbers.T, strict=True))
        return part[list(self.keep)].assign(**counted)

    def map_batches(self, batches: Iterable[Any]) -> Iterator[Any]:
        """Count batches of PyArrow, as ``mapInArrow`` of Spark passes them."""
        import pyarrow as pa

        for batch in batches:
            columns = {name: batch.column(name).to_pylist() for name in self._columns()}
            arrays = [batch.column(name) for name in self.keep]
            arrays += [pa.array(own, pa.int64()) for own in self.count(columns).T]
            yield pa.RecordBatch.from_arrays(arrays, [*self.keep, *self.statistics])

    def count(self, columns: Mapping[str, list[Any]]) -> np.ndarray[Any, np.dtype[np.int64]]:
        """Count sentences, given their tags by column; return one row of numbers per sentence."""
        sides = {name: _sentences(name, columns[name]) for name in self._columns()}
        gold = sides[self.gold]
        for name, own in sides.items():
            for place, (expected, tags) in enumerate(zip(gold, own, strict=True)):
                if len(tags) != len(expected):
                    both = f"{len(tags)} in {name!r} and {len(expected)} in {self.gold!r}"
                    where = f"{name}: row {place + 1} of a part has"
                    raise InputError(f"{where} {both}; expected one tag per token")
        there = [place for place, tags in enumerate(gold) if tags]
        numbers = np.zeros((len(gold), len(self.statistics)), dtype=np.int64)
        numbers[:, 0] = 1
        if not there:
            return numbers
        answer, *outputs = ([sides[n][i] for i in there] for n in (self.gold, *self.systems))
        how: Any = {"task": "entities", "scheme": self.scheme, "ignore_type": self.ignore_type}
        items = match_inputs(answer, outputs, **how).items
        each = [items.counts(k, by="sentence") for k in range(len(self.systems))]
        found = [each[0].positives]
        for counts in each:
            found += [counts.predicted, counts.tp]
        for i, j in combinations(range(len(each)), 2):
            cases = items.paired(i, j).cases
            found += [cases[:, 4] + cases[:, 5], cases[:, 4]]
        numbers[there, 1:] = np.stack(found, axis=1)
        return numbers

    def _columns(self) -> list[str]:
        return [self.gold, *self.systems, *([] if self.tokens is None else [self.tokens])]


def count_tags(
    frame: object,
    *,
    gold: str,
    systems: Sequence[str] | Mapping[str, str],
    scheme: str,
    tokens: str | None = None,
    by: str | Sequence[str] | None = None,
    unit: str | None = None,
    ignore_type: bool = False,
) -> Tallied:
    """Count the entities of tagged sentences, one per row of a table, where the table is.

    Parameters
    ----------
    frame
        A table of PySpark or Dask, whose workers count their own rows; or of pandas, Polars
        (eager) or PyArrow.
    gold, systems
        The columns of the gold tags and of those of the systems (or a dictionary of them by name):
        lists, or texts with spaces between the tags.
    scheme
        The tag scheme: iob1, iob2, … as for `probative.score`.
    tokens
        The column of the tokens, to check their number.
    by, unit
        The column or columns of groups, and the column of the units; by default every sentence is
        one.
    ignore_type
        True if only the positions of entities count, not their types.

    Returns
    -------
    Tallied
        With the counts of every system and the cases of every pair, by unit and group.

    Examples
    --------
    >>> import pandas
    >>> from probative.tables import count_tags
    >>> frame = pandas.DataFrame(
    ...     {
    ...         "gold": ["B-PER I-PER O", "O B-LOC", "B-ORG O"],
    ...         "old": ["B-PER I-PER O", "B-LOC O", "O O"],
    ...         "new": ["B-PER I-PER O", "O B-LOC", "B-LOC O"],
    ...     }
    ... )
    >>> table = count_tags(frame, gold="gold", systems=["old", "new"], scheme="iob2")
    >>> table.counts("new").sum()
    Counts(tp=2, fp=1, fn=1)
    >>> table.paired("old", "new").total()
    PairedCounts([0, 1, 1, 1, 1, 0, 1])
    """
    flag("ignore_type", ignore_type)
    asked = check_asked(gold, systems, by, unit)
    columns = asked.labels | ({} if tokens is None else {_TOKENS: ("tokens", tokens)})
    keep = asked.groups | asked.units
    sides = list(asked.labels)
    words = None if tokens is None else _TOKENS
    counter = TagCounter(sides[0], sides[1:], scheme, words, list(keep), ignore_type)
    source = plain(chosen(opened(frame), {**keep, **columns}), {}, keep)
    keys, names = list(asked.groups), [*counter.statistics, *(["lost"] if asked.units else [])]

    def query() -> Frame:
        mapped = _mapped(source, counter)
        if asked.units:
            lost = nw.col("u").is_null().cast(nw.Int64).alias("lost")
            mapped = sum_units(mapped.with_columns(lost), [*keys, "u"], names)
        return merge_units(mapped, keys, names)

    rows = fetch(query)
    number, sums = numbers_of(rows, names)
    if not len(number):
        raise InputError("frame: the table has no rows; expected at least one")
    if asked.units and (lost := int(number @ sums[:, -1])):
        raise InputError(f"unit: column {unit!r} {missing_labels(lost, int(number @ sums[:, 0]))}")
    own = group_keys(rows, keys, len(number), single=asked.single_by)
    groups = sort_groups(own) if keys else ()
    places = {key: place for place, key in enumerate(groups)}
    return Tallied(
        names=asked.systems,
        labels=(),
        positive=None,
        groups=groups,
        unit=unit or "sentence",
        notes=(),
        _cells=None,
        _units=units_by_key([(places.get(key), None) for key in own], sums, number),
    )


def _mapped(source: Frame, counter: TagCounter) -> Frame:
    """Return the numbers of every sentence, still lazy if the library is."""
    native, kind = nw.to_native(source), source.implementation
    if kind.is_spark_like():
        from pyspark.sql.types import LongType, StructField, StructType

        fields = [native.schema[name] for name in counter.keep]
        fields += [StructField(name, LongType()) for name in counter.statistics]
        return opened(native.mapInArrow(counter.map_batches, StructType(fields)))
    if kind.is_dask():
        none = dict.fromkeys(counter.statistics, np.zeros(0, dtype=np.int64))
        meta = native._meta[list(counter.keep)].assign(**none)
        return opened(native.map_partitions(counter, meta=meta))
    if kind.is_pandas():
        return opened(counter(native))
    if isinstance(source, nw.DataFrame):
        import pyarrow as pa

        batches = counter.map_batches(source.to_arrow().to_batches())
        return opened(pa.Table.from_batches(list(batches)))
    expected = "expected a table of PySpark, Dask, pandas, Polars (eager) or PyArrow"
    raise InputError(f"frame: {kind.name.lower()} cannot run Python on its rows; {expected}")


def _sentences(name: str, cells: list[Any]) -> list[list[str]]:
    """Return the tags of every sentence as a list."""
    sentences = []
    for place, cell in enumerate(cells):
        if isinstance(cell, str):
            sentences.append(cell.split())
        elif cell is None or not hasattr(cell, "__iter__"):
            problem = f"{name}: row {place + 1} of a part is {shown(cell)}"
            raise InputError(f"{problem}; expected a list of tags, or a text of them")
        else:
            sentences.append([str(tag) for tag in cell])
    return sentences
