"""Databases are data: what a file computes is not run unless it is asked for, and then alone."""

# ruff: noqa: S608  # these files are to hold what they hold
from __future__ import annotations

import shutil
import sqlite3
import time
from typing import TYPE_CHECKING

import duckdb
import pytest

import probative as pv
from probative.cli import main
from probative.reading import large_tables as attached
from probative.reading.database import connected, literal, lock

if TYPE_CHECKING:
    from pathlib import Path

GOLD = "id,label\n1,spam\n2,ham\n3,ham\n4,spam\n"
STORED = (
    "CREATE TABLE preds (id TEXT, label TEXT, pred TEXT)",
    "INSERT INTO preds VALUES ('1', 'spam', 'spam'), ('2', 'ham', 'ham')",
    "INSERT INTO preds VALUES ('3', 'ham', 'spam'), ('4', 'spam', 'spam')",
)
VIEW = "CREATE VIEW seen AS SELECT * FROM preds"
COMPUTED = "CREATE TABLE sums (a TEXT, label TEXT, id TEXT AS (a || ''), pred TEXT AS (label))"
ENDLESS = (
    "CREATE VIEW endless AS WITH RECURSIVE t(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM t) "
    "SELECT 'a' AS label, 'a' AS pred, i AS id FROM t"
)
# each names the one before twice, so that only to understand the last one takes hours
DOUBLING = [f"CREATE VIEW w{i} AS SELECT 'a' AS label, 'a' AS pred, 'a' AS id" for i in range(40)]
for step in range(39, 0, -1):
    twice = f"w{step - 1} a, w{step - 1} b"
    DOUBLING.append(f"DROP VIEW w{step}")
    DOUBLING.append(f"CREATE VIEW w{step} AS SELECT DISTINCT a.label, b.pred, a.id FROM {twice}")


def ducks(place: Path, *statements: str) -> Path:
    """Make a database of DuckDB."""
    with duckdb.connect(str(place)) as database:
        for statement in statements:
            database.execute(statement)
    return place


def lites(place: Path, *statements: str) -> Path:
    """Make a database of SQLite."""
    database = sqlite3.connect(place)
    for statement in statements:
        database.execute(statement)
    database.commit()
    database.close()
    return place


BOTH = pytest.mark.parametrize("make", [ducks, lites])


@pytest.fixture
def gold(tmp_path):
    place = tmp_path / "gold.csv"
    place.write_text(GOLD)
    return place


def refused(capsys, *words: object) -> str:
    assert main([*map(str, words)]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.count("\n") == 1
    return printed.err


def test_a_view_over_the_gold_file_is_no_submission(tmp_path, capsys, gold):
    view = f"CREATE VIEW preds AS SELECT id, label AS pred FROM read_csv({literal(str(gold))})"
    place = ducks(tmp_path / "x.duckdb", view)
    error = refused(capsys, "score", gold, place, "--key", "id")
    assert "the database holds views (preds); expected one of them" in error
    with pytest.raises(pv.InputError, match=r"'preds' reads other files"):
        pv.score(place, gold_column="pred", columns=["pred"], table="preds")


def test_a_view_of_one_database_does_not_see_the_others(tmp_path, gold):
    other = ducks(
        tmp_path / "gold.duckdb", f"CREATE TABLE gold AS FROM read_csv({literal(str(gold))})"
    )
    with duckdb.connect() as database:
        database.execute(f"ATTACH {literal(str(tmp_path / 'x.duckdb'))} AS x")
        database.execute(f"ATTACH {literal(str(other))} AS table_0")
        database.execute("CREATE VIEW x.preds AS SELECT id, label AS pred FROM table_0.gold")
    with pytest.raises(pv.InputError, match="the database holds views"):
        pv.score(other, tmp_path / "x.duckdb", key="id", gold_column="label", columns=["pred"])


def test_what_another_file_says_is_not_printed(tmp_path, capsys):
    secret = tmp_path / "secret.txt"
    secret.write_text("swordfish,a\n,,,\n")
    where = literal(str(secret))
    views = [
        f"CREATE VIEW a AS SELECT 'a' AS label, error(content) AS pred FROM read_text({where})",
        f"CREATE VIEW b AS SELECT content AS label, content AS pred FROM read_text({where})",
    ]
    place = ducks(tmp_path / "x.duckdb", *views)
    for words in ([], ["--table", "a"], ["--table", "b"]):
        error = refused(capsys, "score", place, *words)
        assert "swordfish" not in error


@BOTH
def test_stored_tables_are_read_and_what_is_computed_is_not_counted(tmp_path, make):
    place = make(tmp_path / "x.db", *STORED, VIEW, ENDLESS, COMPUTED)
    expected = pv.score(place, gold_column="label", columns=["pred"], table="preds")
    assert pv.score(place, gold_column="label", columns=["pred"]).to_dict() == expected.to_dict()


@BOTH
def test_what_is_computed_is_read_if_it_is_asked_for(tmp_path, make):
    place = make(
        tmp_path / "x.db",
        *STORED,
        VIEW,
        COMPUTED,
        "INSERT INTO sums (a, label) VALUES ('1', 'spam')",
    )
    choice = {"gold_column": "label", "columns": ["pred"]}
    stored, seen = (pv.score(place, **choice, table=name) for name in ("preds", "seen"))
    assert seen[0].counts == stored[0].counts
    assert seen[0].counts.tp == 3
    assert pv.score(place, **choice, table="sums")[0].counts.tp == 1
    alone = make(tmp_path / "y.db", COMPUTED, "INSERT INTO sums (a, label) VALUES ('1', 'spam')")
    with pytest.raises(pv.InputError, match=r"holds views \(sums\); expected .*table="):
        pv.score(alone, **choice)


def test_tables_and_views_of_schemas_are_found_by_their_names(tmp_path):
    names = ('"main.x"', "s.preds", 's."a.b"')
    made = [f"CREATE TABLE {name} AS FROM preds" for name in names]
    place = ducks(
        tmp_path / "x.db", *STORED, "CREATE SCHEMA s", *made, "CREATE VIEW s.v AS FROM preds"
    )
    for table in ("preds", "main.x", "s.preds", "s.a.b", "s.v"):
        found = pv.score(place, gold_column="label", columns=["pred"], table=table)
        assert found[0].counts.tp == 3


def test_rows_that_are_still_in_the_log_are_read(tmp_path):
    with duckdb.connect(str(tmp_path / "open.duckdb")) as database:
        for statement in (*STORED, VIEW):
            database.execute(statement)
        for ending in ("duckdb", "duckdb.wal"):
            shutil.copy(tmp_path / f"open.{ending}", tmp_path / f"x.{ending}")
    for table in (None, "seen"):
        found = pv.score(tmp_path / "x.duckdb", gold_column="label", columns=["pred"], table=table)
        assert found[0].counts.tp == 3


@BOTH
@pytest.mark.parametrize(("statements", "table"), [([ENDLESS], "endless"), (DOUBLING, "w39")])
def test_endless_views_end(tmp_path, make, statements, table, monkeypatch):
    place = make(tmp_path / "x.db", *STORED, *statements)
    choice = {"gold_column": "label", "columns": ["pred"]}
    assert pv.score(place, **choice)[0].counts.tp == 3  # nobody asks for them
    monkeypatch.setattr(attached, "_SECONDS", 2)
    began = time.monotonic()
    # some versions of SQLite refuse the doubling view before it runs
    ended = f"{table!r} (takes more than . s; expected|cannot be computed: .*too many references)"
    with pytest.raises(pv.InputError, match=ended):
        pv.score(place, **choice, table=table)
    assert time.monotonic() - began < 20


def test_stored_rows_without_end_end(tmp_path, monkeypatch):
    place = lites(tmp_path / "x.db", *STORED)
    with sqlite3.connect(place) as database:
        rows = [("1", "a", "a")] * 200_000
        database.executemany("INSERT INTO preds VALUES (?, ?, ?)", rows)
    database.close()
    monkeypatch.setattr(attached, "_SECONDS", 0)
    monkeypatch.setattr(attached, "_SECONDS_PER_BYTE", 0)
    with pytest.raises(pv.InputError, match="'preds' takes more than 0 s"):
        pv.score(place, gold_column="label", columns=["pred"])


def test_a_connection_opens_its_files_alone_and_cannot_be_unlocked(tmp_path, gold):
    other = tmp_path / "other.csv"
    other.write_text(GOLD)
    with connected() as database:
        lock(database, [gold])
        assert len(database.execute(f"FROM read_csv({literal(str(gold))})").fetchall()) == 4
        for statement in (
            f"FROM read_csv({literal(str(other))})",
            f"FROM read_text({literal(str(other))})",
            f"ATTACH {literal(str(tmp_path / 'new.db'))} AS more",
            f"COPY (SELECT 1) TO {literal(str(tmp_path / 'new.csv'))}",
            "SET enable_external_access = true",
            f"SET allowed_paths = [{literal(str(other))}]",
            "SET lock_configuration = false",
            "RESET lock_configuration",
            "INSTALL httpfs",
            "LOAD httpfs",
        ):
            with pytest.raises(duckdb.Error):
                database.execute(statement).fetchall()
    assert not (tmp_path / "new.csv").exists()
