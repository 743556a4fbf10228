"""The aggregate queries: how many rows say what, and how many units look how.

`count_cells` is one GROUP BY over groups and labels; it tells everything about items. Where items
belong to units, `count_units` adds up every unit and then merges equal units, both in the engine.

What a unit holds is told by sums over its rows. For one class that counts as "yes": rows in all,
positives, and of every system those it returned and those of them that are right; for every pair
of systems what both returned, and what of it is right. The eight cases of a pair follow. Where all
classes count, the same sums over all classes (equal labels instead of "yes"), and for each class
on its own.
"""

from __future__ import annotations

from functools import reduce
from itertools import combinations
from operator import and_, or_
from typing import TYPE_CHECKING, Any

from probative.errors import InputError

if TYPE_CHECKING:
    import narwhals as nw

    from probative.tables.columns import LabelColumn
    from probative.tables.engines import Frame

__all__ = [
    "ALL",
    "NUMBER",
    "count_cells",
    "count_units",
    "merge_units",
    "statistics_of",
    "sum_units",
]

NUMBER, ALL = "n", ""  # the column of counts; the mark of all classes together: no label is empty
_LONGEST_CHAIN = 300  # labels that are named one by one where no cast gives their texts


def statistics_of(systems: int) -> list[str]:
    """What is summed up for every unit: the names of the columns, for so many systems."""
    own = [f"{what}{k}" for k in range(systems) for what in ("p", "t")]
    both = [f"{what}{i}_{j}" for i, j in combinations(range(systems), 2) for what in ("p", "t")]
    return ["rows", "pos", *own, *both]


def count_cells(frame: Frame, keys: list[str]) -> Frame:
    """How many rows there are of every kind."""
    import narwhals as nw

    return frame.group_by(*keys).agg(nw.len().alias(NUMBER))


def count_units(
    frame: Frame,
    groups: list[str],
    unit: str,
    columns: dict[str, LabelColumn],
    *,
    positive: str | None,
    drop: bool,
    fineness: float | None = None,
) -> Frame:
    """How many units there are of every kind: a row of sums, and how many units have it.

    Parameters
    ----------
    frame
        Columns by safe names.
    groups, unit
        The columns of groups and of units.
    columns
        The columns of labels: the answer's first.
    positive
        The class that counts as "yes"; None for all classes, together and one by one.
    drop
        Whether rows in which a label is missing are left out.
    fineness
        Merge units that are nearly alike, too, as `alike` does.
    """
    import narwhals as nw

    if drop:
        schema = frame.collect_schema()
        gaps = [_is_missing(safe, column, schema[safe]) for safe, column in columns.items()]
        frame = frame.filter(~reduce(or_, [*gaps, _is_null(frame, unit)]))
    names = statistics_of(len(columns) - 1)
    if positive is not None:
        yes = [_is_label(safe, column, positive) for safe, column in columns.items()]
        rows = _summands(frame, [*groups, unit], yes)
        keys = groups
    else:
        rows, keys = _each_class(frame, [*groups, unit], columns), [*groups, "label"]
    lost = _is_null(frame, unit) & (nw.col("rows") > 0)
    rows = rows.with_columns(lost.cast(nw.Int64).alias("lost"))
    by_unit = sum_units(rows, [*keys, unit], [*names, "lost"])
    if fineness is None:
        return merge_units(by_unit, keys, [*names, "lost"])
    from probative.tables.alike import merge_alike

    return merge_alike(by_unit, keys, len(columns) - 1, fineness)


def sum_units(rows: Frame, keys: list[str], names: list[str]) -> Frame:
    """Add up the rows of every unit."""
    import narwhals as nw

    return rows.group_by(*keys).agg(*(nw.col(name).sum() for name in names))


def merge_units(by_unit: Frame, keys: list[str], names: list[str]) -> Frame:
    """Merge equal units, and count them."""
    import narwhals as nw

    return by_unit.group_by(*keys, *names).agg(nw.len().alias(NUMBER))


def _summands(frame: Frame, keep: list[str], yes: list[nw.Expr], **more: nw.Expr) -> Frame:
    """What every row adds to the sums of its unit, where this is who says "yes"."""
    import narwhals as nw

    answer, *says = yes
    parts = {"rows": ~nw.col(keep[-1]).is_null() | nw.col(keep[-1]).is_null(), "pos": answer}
    for k, own in enumerate(says):
        parts |= {f"p{k}": own, f"t{k}": own & answer}
    for i, j in combinations(range(len(says)), 2):
        both = says[i] & says[j]
        parts |= {f"p{i}_{j}": both, f"t{i}_{j}": both & answer}
    return _as_numbers(frame, keep, parts, more)


def _as_numbers(
    frame: Frame, keep: list[str], parts: dict[str, nw.Expr], more: dict[str, nw.Expr]
) -> Frame:
    import narwhals as nw

    numbers = [part.cast(nw.Int64).alias(name) for name, part in parts.items()]
    named = [own.alias(name) for name, own in more.items()]
    return frame.select(*keep, *numbers, *named)


def _each_class(frame: Frame, keep: list[str], columns: dict[str, LabelColumn]) -> Frame:
    """For every row and each class that it names, who names it; and for all classes at once.

    A row concerns as many classes as it has different labels, whatever the number of classes.
    """
    import narwhals as nw

    schema = frame.collect_schema()
    texts = [f"text_{safe}" for safe in columns]
    frame = frame.select(
        *keep,
        *(_text(safe, c, schema[safe]).alias(t) for t, (safe, c) in zip(texts, columns.items(),
                                                                      strict=True)),
    )  # fmt: skip
    branches = [_all_classes(frame, keep, texts)]
    for place, text in enumerate(texts):
        label = nw.col(text)
        named_before = [_equal(text, other) for other in texts[:place]]
        own = frame.filter(reduce(and_, [~label.is_null(), *(~same for same in named_before)]))
        yes = [_equal(text, other) for other in texts]
        branches.append(_summands(own, keep, yes, label=label))
    # summed up before they are joined: fewer rows, and plans that every optimiser reads well
    sums = [nw.col(name).sum() for name in statistics_of(len(columns) - 1)]
    branches = [own.group_by(*keep, "label").agg(*sums) for own in branches]
    return nw.concat(branches, how="vertical")  # type: ignore[type-var]


def _all_classes(frame: Frame, keep: list[str], texts: list[str]) -> Frame:
    """The sums over all classes: equal labels instead of "yes"."""
    import narwhals as nw

    answer, *says = texts
    parts = {
        "rows": ~nw.col(answer).is_null() | nw.col(answer).is_null(),
        "pos": ~nw.col(answer).is_null(),
    }
    for k, own in enumerate(says):
        parts |= {f"p{k}": ~nw.col(own).is_null(), f"t{k}": _equal(own, answer)}
    for i, j in combinations(range(len(says)), 2):
        both = _equal(says[i], says[j])
        parts |= {f"p{i}_{j}": both, f"t{i}_{j}": both & _equal(says[i], answer)}
    return _as_numbers(frame, keep, parts, {"label": nw.lit(ALL)})


def _equal(a: str, b: str) -> nw.Expr:
    """Whether two texts are there and the same: never null."""
    import narwhals as nw

    if a == b:
        return ~nw.col(a).is_null()
    return (nw.col(a) == nw.col(b)) & ~nw.col(a).is_null() & ~nw.col(b).is_null()


def _is_value(safe: str, values: list[Any]) -> nw.Expr:
    """Whether a column has one of these values, none of them null: never null."""
    import narwhals as nw

    there = ~nw.col(safe).is_null()
    if not values:
        return there & ~there
    same: nw.Expr = reduce(or_, [nw.col(safe) == value for value in values])
    return same & there


def _is_label(safe: str, column: LabelColumn, text: str) -> nw.Expr:
    return _is_value(safe, column.values_of(text))


def _is_missing(safe: str, column: LabelColumn, dtype: Any) -> nw.Expr:
    """Whether there is no label: null, NaN, an infinity, an empty text."""
    import narwhals as nw

    gap = nw.col(safe).is_null()
    if dtype.is_float():
        gap = gap | nw.col(safe).is_nan()
    others = [v for v in column.missing() if isinstance(v, (str, float)) and v == v]
    return gap | _is_value(safe, others) if others else gap


def _is_null(frame: Frame, name: str) -> nw.Expr:
    import narwhals as nw

    gap = nw.col(name).is_null()
    return gap | nw.col(name).is_nan() if frame.collect_schema()[name].is_float() else gap


def _text(safe: str, column: LabelColumn, dtype: Any) -> nw.Expr:
    """The text of every value, null for what is missing."""
    import narwhals as nw

    own = nw.col(safe)
    if dtype == nw.String or dtype.is_integer():
        text = own if dtype == nw.String else own.cast(nw.String)
        gap = _is_missing(safe, column, dtype)
        return nw.when(~gap).then(text) if column.missing() else text
    if len(column.texts) > _LONGEST_CHAIN:
        raise InputError(
            f"{column.parameter}: {column.name!r} has {len(column.texts):,} labels of the type "
            f"{dtype}; expected text or whole numbers"
        )
    # no null is written out: some libraries would make a text of it
    first, *others = sorted(column.labels) or [ALL]
    chain: nw.Expr = nw.when(_is_label(safe, column, first)).then(nw.lit(first))
    for label in others:
        chain = nw.when(_is_label(safe, column, label)).then(nw.lit(label)).otherwise(chain)
    return chain
