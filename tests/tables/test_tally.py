"""The same tally from every library that runs in this process, equal to a count row by row."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from tables.reference import cases_of, kept_rows, kinds_of, unit_cases

import probative as pv
from probative.errors import InputError
from probative.tables import TallyWarning, count_table

pa = pytest.importorskip("pyarrow")
pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")

# what a query could take for something else than a name
ODD = {
    "gold": 'go"ld; drop table x; --\n',
    "a": "a.b`c.d`",
    "b": "b'; select 1 --",
    "unit": "u\"n'it ",
    "by": "b\ny.\\",
}


def of_duckdb(table):
    import duckdb

    connection = duckdb.connect()  # its own: what is asked must not go to another
    connection.register("held", table)
    return connection.table("held")


def of_ibis(table):
    return pytest.importorskip("ibis").memtable(table)


ENGINES = {
    "pandas": lambda table: table.to_pandas(),
    "pandas-arrow": lambda table: table.to_pandas(types_mapper=pd.ArrowDtype),
    "polars": pl.from_arrow,
    "polars-lazy": lambda table: pl.from_arrow(table).lazy(),
    "pyarrow": lambda table: table,
    "duckdb": of_duckdb,
    "ibis": of_ibis,
}
IN_PROCESS = pytest.mark.parametrize("engine", list(ENGINES))


def quietly(frame, **how):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TallyWarning)
        return pv.tally(frame, **how)


TEXTS = st.sampled_from(["1", "0", "spam", "", "it's", None])
NUMBERS = st.sampled_from([0, 1, 2, None])
FLOATS = st.sampled_from([0.0, 1.0, 0.5, float("nan"), None])
TRUTHS = st.sampled_from([True, False, None])
COLUMN = {"text": TEXTS, "numbers": NUMBERS, "floats": FLOATS, "truths": TRUTHS}
ARROW = {
    "text": pa.string(),
    "numbers": pa.int64(),
    "floats": pa.float64(),
    "truths": pa.bool_(),
}


@st.composite
def tables(draw):
    """A small table with nulls and labels of different types, and its rows."""
    kinds = {name: draw(st.sampled_from(list(COLUMN))) for name in ("gold", "a", "b")}
    size = draw(st.integers(1, 25))
    columns = {
        name: draw(st.lists(COLUMN[kind], min_size=size, max_size=size))
        for name, kind in kinds.items()
    }
    columns["unit"] = draw(st.lists(st.integers(1, 5), min_size=size, max_size=size))
    columns["by"] = draw(st.lists(st.sampled_from(["x", "y"]), min_size=size, max_size=size))
    types = {name: ARROW[kind] for name, kind in kinds.items()}
    types |= {"unit": pa.int64(), "by": pa.string()}
    table = pa.table({ODD[name]: pa.array(columns[name], types[name]) for name in columns})
    rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    return table, rows


@IN_PROCESS
@given(tables(), st.sampled_from(["drop", "negative"]))
@settings(max_examples=10, phases=[Phase.explicit, Phase.generate])
def test_every_library_counts_as_plain_python_does(engine, drawn, on_null):
    table, rows = drawn
    kept = kept_rows(rows, ("gold", "a", "b"), on_null)
    labels = sorted({row[c] for row in kept for c in ("gold", "a", "b")} - {None})
    frame = ENGINES[engine](table)
    columns = {name: ODD[name] for name in ("gold", "a", "b")}
    if not labels:
        if not kept:
            with pytest.raises(InputError, match="every row lacks a label"):
                quietly(frame, **columns, on_null=on_null)
        return
    for label in labels[:2]:
        how = {**columns, "on_null": on_null, "positive": label}
        assert quietly(frame, **how).cases.tolist() == cases_of(kept, "gold", "a", "b", label)
        grouped = quietly(frame, **how, by=ODD["by"], unit=ODD["unit"])
        assert list(grouped) == sorted({row["by"] for row in kept})
        for group, paired in grouped.items():
            own = [row for row in kept if row["by"] == group]
            assert kinds_of(paired) == unit_cases(own, "gold", "a", "b", label, "unit")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TallyWarning)
        every = count_table(
            frame,
            gold=ODD["gold"],
            systems={"a": ODD["a"], "b": ODD["b"]},
            unit=ODD["unit"],
            on_null=on_null,
            find_positive=False,
        )
    for label in labels:
        expected = unit_cases(kept, "gold", "a", "b", label, "unit")
        merged = {}
        for own, number in expected.items():
            merged[own[:7]] = merged.get(own[:7], 0) + number
        assert kinds_of(every.paired(label=label), 7) == merged
    total = np.sum([cases_of(kept, "gold", "a", "b", label)[:7] for label in labels], axis=0)
    assert every.paired(by_unit=False).cases[:7].tolist() == total.tolist()
    assert every.paired().total().cases[:7].tolist() == total.tolist()
