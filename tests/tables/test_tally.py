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


KEPT = []


def of_duckdb(table):
    import duckdb

    connection = duckdb.connect()  # its own: what is asked must not go to another
    KEPT[:] = [connection]  # which older versions close with the last name for it
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
FLOATS = st.sampled_from([0.0, 1.0, 0.5, float("nan"), float("inf"), None])
WHOLE = st.sampled_from([0.0, -0.0, 1.0, float("nan"), float("-inf"), None])  # gold has classes
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
        name: draw(
            st.lists(
                WHOLE if (name, kind) == ("gold", "floats") else COLUMN[kind],
                min_size=size,
                max_size=size,
            )
        )
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


FRAME = pd.DataFrame(
    {
        "y": ["yes", "no", "yes", "no"],
        "p": ["yes", "yes", "yes", "no"],
        "three": ["a", "b", "c", "a"],
        "number": [1, 0, 1, 0],
        "text": ["1", "0", "0", "0"],
        "lists": [[1], [2], [3], [4]],
        "doc": [1, 1, None, 2],
        "empty": [None, None, None, None],
    }
)


def test_the_result_is_what_was_asked_for():
    assert pv.tally(FRAME, gold="y", pred="p") == pv.Counts(2, 1, 0, 1)
    assert pv.tally(FRAME, gold="y", pred="p", positive="no") == pv.Counts(1, 0, 1, 2)
    grouped = pv.tally(FRAME, gold="y", pred="p", by=["three", "number"])
    assert list(grouped) == [("a", 0), ("a", 1), ("b", 0), ("c", 1)]
    each = pv.tally(FRAME, gold="three", pred="three")
    assert each == {
        "a": pv.Counts(2, 0, 0, 2), "b": pv.Counts(1, 0, 0, 3), "c": pv.Counts(1, 0, 0, 3)
    }  # fmt: skip
    table = pv.tally(FRAME, gold="y", systems={"one": "p", "two": "y"})
    assert table.names == ("one", "two")
    assert table.paired("two", "one") == table.paired("one", "two").swapped()
    assert table.paired(0, 0).a == table.counts("one")


def test_what_should_be_known_is_a_warning():
    with pytest.warns(TallyWarning, match=r"compared by their texts \('number': numbers; 'text'"):
        found = pv.tally(FRAME, gold="number", pred="text")
    assert found == pv.Counts(1, 0, 1, 2)
    with pytest.warns(TallyWarning) as caught:
        pv.tally(FRAME, gold="three", pred="y")
    said = [str(warning.message) for warning in caught]
    assert "'y' has labels that 'three' never has: 'no' (2), 'yes' (2)" in said
    assert "'three' has labels that 'y' never has: 'a' (2), 'b' (1), 'c' (1)" in said


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ({"gold": "Y", "pred": "p"}, "gold: there is no column 'Y'; .* did you mean 'y'"),
        ({"gold": "y", "pred": "q"}, "pred: there is no column 'q'; expected one of y, p"),
        ({"gold": "y", "pred": "p", "by": "z"}, "by: there is no column 'z'"),
        (
            {"gold": "y", "pred": "p", "positive": "ja"},
            "positive: unknown 'ja'; expected one of .*no, yes",
        ),
        ({"gold": "y", "pred": "p", "unit": "doc"}, "unit: column 'doc' has missing labels: 1 of"),
        ({"gold": "y", "pred": "empty"}, "pred: column 'empty' has missing labels: 4 of 4"),
        ({"gold": "y", "pred": "empty", "on_null": "drop"}, "every row lacks a label"),
        ({"gold": "y", "pred": "p", "on_null": "skip"}, "on_null: unknown 'skip'"),
        ({"gold": "y"}, "pred: none of them given; expected pred, or a and b, or systems"),
        ({"gold": "y", "a": "p"}, "pred: a given; expected"),
        ({"gold": "y", "pred": "p", "systems": ["p"]}, "pred: pred, systems given; expected"),
        ({"gold": "y", "systems": []}, "systems: "),
        ({"gold": "y", "systems": ["p", "p"]}, "systems: 'p' twice"),
        ({"gold": 1, "pred": "p"}, "gold: .*; expected the name of a column"),
    ],
)
def test_what_cannot_be_counted_is_said_in_one_line(how, said):
    with pytest.raises(InputError, match=said) as caught:
        pv.tally(FRAME, **how)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("unit", [None, "doc"])
def test_a_positive_class_that_no_row_has_is_counted(unit):
    table = pd.DataFrame({"gold": [0, 0], "pred": [0, 0], "doc": ["a", "b"]})
    found = pv.tally(table, gold="gold", pred="pred", unit=unit)
    assert np.sum([found.tp, found.fp, found.fn]) == 0
    assert np.sum(found.tn) == 2


def test_what_is_no_table_or_has_no_rows_is_refused():
    with pytest.raises(InputError, match=r"frame: .*; expected a table of pandas, Polars"):
        pv.tally([1, 2], gold="y", pred="p")
    with pytest.raises(InputError, match="frame: the table has no rows"):
        pv.tally(FRAME[:0], gold="y", pred="p")
    with pytest.raises(InputError, match=r"gold: column 'lists' holds .*; expected text"):
        pv.tally(pa.table({"lists": [[1], [2]], "p": ["a", "b"]}), gold="lists", pred="p")


def test_all_groups_together_know_units_that_cross_them():
    frame = pd.DataFrame({"y": [1, 1, 0], "p": [1, 0, 0], "lang": list("abb"), "doc": [1, 1, 2]})
    table = count_table(frame, gold="y", systems=["p"], by="lang", unit="doc", overall=True)
    assert table.n_units("a") + table.n_units("b") == 3
    assert table.n_units() == 2
    with pytest.raises(InputError, match="group: units were counted in each group alone"):
        count_table(frame, gold="y", systems=["p"], by="lang", unit="doc").counts()


def test_a_plan_stays_a_plan_until_the_rows_are_counts():
    """Only aggregated rows are collected from a lazy frame."""
    seen = []

    def spy(frame):
        seen.append(len(frame))
        return frame

    lazy = pl.LazyFrame({"y": [0, 1] * 5000, "p": [1, 1, 0, 1] * 2500, "u": [0, 1, 2, 3] * 2500})
    assert pv.tally(lazy, gold="y", pred="p", unit="u").shape == (4,)
    import narwhals as nw

    before = nw.LazyFrame.collect
    try:
        nw.LazyFrame.collect = lambda self, *a, **k: spy(before(self, *a, **k))
        pv.tally(lazy, gold="y", pred="p", unit="u")
    finally:
        nw.LazyFrame.collect = before
    assert seen == [3, 3]  # kinds of rows, and kinds of units


@pytest.mark.parametrize("systems", [1, 2])
def test_too_many_kinds_of_units_keep_totals_and_the_exact_test(monkeypatch, systems):
    rng = np.random.default_rng(3)
    size, n_units = 120_000, 600
    unit = rng.integers(0, n_units, size)
    gold = rng.random(size) < 0.3
    easy = rng.random(n_units)[unit] * 0.25  # items of a unit are alike
    labels = {"y": gold} | {k: gold ^ (rng.random(size) < easy) for k in "ab"[:systems]}
    frame = pd.DataFrame({name: own.astype(int) for name, own in labels.items()} | {"u": unit})
    how = {"gold": "y", "systems": list("ab"[:systems]), "unit": "u"}
    exact = count_table(frame, **how)
    monkeypatch.setattr("probative.tables.counting._MOST_KINDS", 598)
    merged = count_table(frame, **how)
    (note,) = merged.notes
    assert "kinds of units: those that are nearly alike are merged" in note
    assert merged.n_units() == exact.n_units() == n_units
    assert merged.counts("a").sum() == exact.counts("a").sum()
    widths = [pv.interval(t.counts("a"), clustered=True).design_effect for t in (exact, merged)]
    assert widths[0] > 1.2
    assert 0.95 < widths[1] / widths[0] <= 1
    if systems == 2:
        ours, all_units = merged.paired(), exact.paired()
        assert ours.total() == all_units.total()
        for metric in ("f1", "recall", "accuracy"):
            expected = pv.randomization_test(all_units, metric).pvalue
            assert pv.randomization_test(ours, metric).pvalue == pytest.approx(expected, rel=1e-9)


def _few_rows(seed, classes):
    rng = np.random.default_rng(seed)
    gold = rng.integers(0, classes, 200)
    other = rng.integers(0, classes, 200)
    given = np.where(rng.random(200) < 0.3, other, gold)
    return pd.DataFrame({"y": gold, "a": given, "u": rng.integers(0, 50, 200)})


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("seed", [7, 25])
def test_merged_units_have_counts_that_units_can_have(monkeypatch, seed, classes):
    frame = _few_rows(seed, classes)
    exact = count_table(frame, gold="y", systems=["a"], unit="u")
    monkeypatch.setattr("probative.tables.counting._MOST_KINDS", 30)
    merged = count_table(frame, gold="y", systems=["a"], unit="u")
    assert "merged" in merged.notes[-1]
    for label in [None, *exact.labels] if classes > 2 else [None]:
        assert merged.counts(label=label).sum() == exact.counts(label=label).sum()
    assert merged.n_units() == exact.n_units()


def test_more_groups_than_kinds_of_units_are_refused(monkeypatch):
    monkeypatch.setattr("probative.tables.counting._MOST_KINDS", 3)
    with pytest.raises(InputError, match=r"unit: more than 3 kinds of units, even if .* merged"):
        count_table(_few_rows(7, 3), gold="y", systems=["a"], unit="u")
