"""Tagged sentences in rows of tables count as `score` counts them."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import probative as pv
from probative.errors import InputError
from probative.tables import TagCounter, count_tags

pa = pytest.importorskip("pyarrow")
pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")

TAGS = ("O", "O", "B-PER", "I-PER", "B-LOC", "I-LOC")


def sentences(size=60, seed=1):
    """Sentences of random tags, some of them alike, one empty."""
    rng = np.random.default_rng(seed)
    rows = []
    for i in range(size):
        n = int(rng.integers(1, 7))
        gold = [str(t) for t in rng.choice(TAGS, n)]
        old, new = ([str(t) if rng.random() < 0.2 else g for g, t in
                     zip(gold, rng.choice(TAGS, n), strict=True)] for _ in range(2))  # fmt: skip
        rows.append(
            {"doc": i % 7, "lang": "xy"[i % 2], "tokens": ["w"] * n, "gold": gold, "old": old,
             "new": new}
        )  # fmt: skip
    return rows


def cases_by_document(rows):
    """The cases of the two systems by document, as `score` matches them."""
    from probative.matching.matched import match_inputs

    sides = [[row[name] for row in rows] for name in ("gold", "old", "new")]
    items = match_inputs(sides[0], sides[1:], task="entities", scheme="iob2").items
    cases = items.paired(0, 1).cases[:, :7]
    documents = [row["doc"] for row in rows]
    own = [cases[[d == doc for d in documents]].sum(axis=0) for doc in sorted(set(documents))]
    return sorted(map(tuple, np.array(own).tolist()))


def kinds(paired):
    rows = np.repeat(paired.cases[:, :7], paired.multiplicity, axis=0)
    return sorted(map(tuple, rows.tolist()))


@pytest.mark.parametrize(
    "make", [pd.DataFrame, pa.Table.from_pylist, pl.DataFrame], ids=["pandas", "pyarrow", "polars"]
)
def test_tables_in_memory_count_as_score_does(make):
    rows = sentences()
    how = {"gold": "gold", "systems": {"A": "old", "B": "new"}, "scheme": "iob2"}
    by_document = count_tags(make(rows), **how, unit="doc", tokens="tokens")
    assert kinds(by_document.paired("A", "B")) == cases_by_document(rows)
    scored = pv.score(*([row[c] for row in rows] for c in ("gold", "old", "new")), scheme="iob2")
    for name, system in zip("AB", scored.systems, strict=True):
        assert by_document.counts(name).sum() == system.counts
        assert by_document.counts(name, by_unit=False) == system.counts
    by_language = count_tags(make(rows), **how, by="lang")
    assert by_language.groups == ("x", "y")
    assert by_language.n_units("x") + by_language.n_units("y") == by_language.n_rows == len(rows)
    counted = by_language.counts("B", group="x", by_unit=False)
    own = [row for row in rows if row["lang"] == "x"]
    assert counted == pv.score(*([r[c] for r in own] for c in ("gold", "new")), scheme="iob2")[
        0
    ].counts  # fmt: skip


def test_what_is_wrong_with_a_row_is_said():
    part = pd.DataFrame({"gold": ["O B-PER", "O"], "pred": ["O O", "O O"], "no": ["O", None]})
    with pytest.raises(InputError, match="row 2 of a part has 2 in 'pred' and 1 in 'gold'"):
        TagCounter("gold", ["pred"], scheme="iob2")(part)
    with pytest.raises(InputError, match=r"no: row 2 of a part is .*; expected a list of tags"):
        TagCounter("gold", ["no"], scheme="iob2")(part)
    with pytest.raises(InputError, match=r"scheme: unknown 'iob'; .*did you mean 'iob2'"):
        TagCounter("gold", ["pred"], scheme="iob")
    with pytest.raises(InputError, match="cannot run Python on its rows"):
        count_tags(pl.LazyFrame({"g": ["O"]}), gold="g", systems=["g"], scheme="iob2")


def test_sentences_without_tokens_are_there():
    part = pd.DataFrame({"gold": [[], ["B-PER"]], "pred": [[], ["B-PER"]]})
    table = count_tags(part, gold="gold", systems=["pred"], scheme="iob2")
    assert table.n_units() == 2
    assert table.counts().sum() == pv.Counts(1, 0, 0)


def test_a_counter_travels():
    counter = TagCounter("gold", ["pred"], scheme="iob2")
    assert pickle.loads(pickle.dumps(counter)) == counter  # noqa: S301
