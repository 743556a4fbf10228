"""`tally`: a table of any library, of any size, to counts."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

from probative.counts import Counts, PairedCounts
from probative.errors import InputError
from probative.tables.counting import TallyWarning, count_table

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Mapping, Sequence

    from probative.tables.tallied import Tallied

__all__ = ["tally"]

Tally = Counts | PairedCounts


def tally(
    frame: object,
    *,
    gold: str,
    pred: str | None = None,
    a: str | None = None,
    b: str | None = None,
    systems: Sequence[str] | Mapping[str, str] | None = None,
    by: str | Sequence[str] | None = None,
    unit: str | None = None,
    positive: object = None,
    on_null: str = "error",
) -> Tally | dict[Hashable, Tally | dict[str, Tally]] | dict[str, Tally] | Tallied:
    """Count a table in the engine that holds it: one aggregate query, and only counts leave it.

    Parameters
    ----------
    frame
        A table of pandas, Polars (eager or lazy), PyArrow, DuckDB, Ibis, Dask or PySpark, with one
        judged item per row.
    gold
        The column of the right labels.
    pred
        The column of one system's labels, for `Counts`.
    a, b
        The columns of a baseline and a challenger, for `PairedCounts`.
    systems
        The columns of several systems, or a dictionary of them by name, for a `Tallied`, which
        has the counts of each and the cases of every pair.
    by
        The column or columns of groups (languages, days): the result is a dictionary by group.
    unit
        The column that says which rows belong together (a document, a user). Units are summed up
        and equal ones merged in the engine: `PairedCounts` have one row per kind of unit and its
        multiplicity, `Counts` one row per unit.
    positive
        The label that counts as "yes". By default the one that says so, such as 1 of 0 and 1 or
        "yes" of "no" and "yes". Where none does, each class is counted against the rest, and the
        result (or that of every group) is a dictionary by label.
    on_null
        What to do where a label is missing (null, NaN, empty text): "error"; "drop" the row; or
        "negative": it counts as no label.

    Returns
    -------
    Counts, PairedCounts, Tallied, or dictionaries of them

    Warns
    -----
    TallyWarning
        Where labels are missing and were not an error, where labels of different types are
        compared (by their texts: 1 is "1"), and where one side has labels that the other has not.

    Notes
    -----
    Labels are listed by one GROUP BY, which is all that is needed without units. Units take a
    second one, after the labels have been checked. Where the table is itself the end of a long
    computation, keep it (``.cache()`` of Spark, ``.persist()`` of Dask) before.

    Examples
    --------
    >>> import pandas
    >>> import probative as pv
    >>> frame = pandas.DataFrame(
    ...     {
    ...         "gold": ["yes", "yes", "no", "no", "yes", "no"],
    ...         "old": ["yes", "no", "yes", "no", "yes", "no"],
    ...         "new": ["yes", "yes", "no", "no", "yes", "yes"],
    ...         "lang": ["de", "de", "de", "fr", "fr", "fr"],
    ...     }
    ... )
    >>> pv.tally(frame, gold="gold", pred="new")
    Counts(tp=3, fp=1, fn=0, tn=2)
    >>> for lang, paired in pv.tally(frame, gold="gold", a="old", b="new", by="lang").items():
    ...     print(lang, paired)
    de PairedCounts([0, 1, 1, 0, 1, 0, 0, 0])
    fr PairedCounts([0, 0, 0, 1, 1, 0, 0, 1])
    """
    columns, parameters = _systems(pred, a, b, systems)
    table = count_table(
        frame,
        gold=gold,
        systems=columns,
        by=by,
        unit=unit,
        positive=positive,
        on_null=on_null,
        parameters=parameters,
    )
    for note in table.notes:
        warnings.warn(TallyWarning(note), stacklevel=2)
    if systems is not None:
        return table
    count: Callable[..., Tally] = table.counts if pred is not None else table.paired

    def of_group(group: Hashable) -> Tally | dict[str, Tally]:
        if table.positive is not None:
            return count(group=group)
        return {label: count(group=group, label=label) for label in table.labels}

    if by is None:
        return of_group(None)
    return {group: of_group(group) for group in table.groups}


def _systems(
    pred: object, a: object, b: object, systems: Sequence[str] | Mapping[str, str] | None
) -> tuple[Sequence[str] | Mapping[str, str], tuple[str, ...]]:
    """The columns of the systems, and what asked for each."""
    given = [name for name, value in (("pred", pred), ("a", a), ("b", b)) if value is not None]
    if systems is not None and not given:
        return systems, ()
    if systems is None and given == ["pred"]:
        return {"pred": pred}, ("pred",)  # type: ignore[dict-item]
    if systems is None and given == ["a", "b"]:
        return {"a": a, "b": b}, ("a", "b")  # type: ignore[dict-item]
    told = ", ".join([*given, *(["systems"] if systems is not None else [])]) or "none of them"
    raise InputError(f"pred: {told} given; expected pred, or a and b, or systems")
