"""A board of submissions: what it scores, reuses, refuses and writes; and what it never tells."""

from __future__ import annotations

import datetime as dt
import gzip
import json
import os
import random
import re
import subprocess
import sys
from pathlib import Path

import pytest

import probative as pv
from probative import files as site
from probative.errors import InputError
from probative.inference.macro_comparison import MacroScore
from probative.jobs import board as building
from probative.jobs.board import Kept, find_submissions

KINDS = ("PER", "LOC", "ORG")


def _answer(n: int = 60, seed: int = 3) -> list[list[tuple[str, str]]]:
    """Sentences of words that stand nowhere else, with a tag each."""
    rng = random.Random(seed)  # noqa: S311  # its chance need not be secret
    return [
        [
            (f"canary{s}x{t}", f"B-{rng.choice(KINDS)}" if rng.random() < 0.4 else "O")
            for t in range(rng.randint(3, 7))
        ]
        for s in range(n)
    ]


def _output(gold, wrong: float, seed: int):
    rng = random.Random(seed)  # noqa: S311
    return [
        [(w, "O" if tag != "O" and rng.random() < wrong else tag) for w, tag in sentence]
        for sentence in gold
    ]


def _text(sentences) -> str:
    return "".join("".join(f"{w} {tag}\n" for w, tag in s) + "\n" for s in sentences)


@pytest.fixture
def place(tmp_path):
    """An answer and three submissions."""
    gold = _answer()
    (tmp_path / "secret").mkdir()
    (tmp_path / "secret" / "gold.conll").write_text(_text(gold))
    (tmp_path / "in").mkdir()
    for i, (name, wrong) in enumerate({"ann": 0.1, "bob": 0.2, "cat": 0.6}.items()):
        (tmp_path / "in" / f"{name}.conll").write_text(_text(_output(gold, wrong, i)))
    return tmp_path


def _build(place: Path, **options):
    return pv.board(
        place / "secret" / "gold.conll", place / "in", place / "site", n_jobs=1, **options
    )


def _add(place: Path, name: str, wrong: float = 0.3, seed: int = 9) -> None:
    (place / "in" / f"{name}.conll").write_text(_text(_output(_answer(), wrong, seed)))


def _files(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def _left(place: Path) -> list[str]:
    return sorted(path.name for path in place.iterdir())


def test_the_ranking_is_that_of_rank(place):
    found = _build(place)
    files = sorted((place / "in").iterdir())
    expected = pv.rank(place / "secret" / "gold.conll", *files, n_jobs=1).to_dict()
    own = found.ranking.to_dict()
    # what was noticed in files is not told; what few sentences cannot show is
    assert own.pop("notes") == [note for note in expected.pop("notes") if "a weakness" in note]
    assert own == expected
    assert found.scored == ("ann", "bob", "cat")
    assert (found.pairs_tested, found.pairs_reused) == (3, 0)
    assert found.signature.startswith(f"probative:{pv.__version__}|board|entities|")


def test_only_what_is_new_is_computed_and_the_site_is_the_same(place, monkeypatch):
    _build(place)
    _add(place, "dan")
    found = _build(place)
    assert found.scored == ("dan",)
    assert found.reused == ("ann", "bob", "cat")
    assert (found.pairs_tested, found.pairs_reused) == (3, 3)
    _add(place, "aaron", seed=12)  # the others have new numbers now
    found = _build(place)
    assert found.scored == ("aaron",)
    assert (found.pairs_tested, found.pairs_reused) == (4, 6)
    grown = _files(place / "site")
    fresh = pv.board(place / "secret" / "gold.conll", place / "in", place / "other", n_jobs=1)
    assert fresh.scored == ("aaron", "ann", "bob", "cat", "dan")
    assert _files(place / "other") == grown

    def refuse(*_, **__):
        raise AssertionError("computed again")

    monkeypatch.setattr(building, "ranked_scores", refuse)
    monkeypatch.setattr("probative.jobs.score.system_scores", refuse)
    monkeypatch.setattr("probative.inference.pooled._test_pairs", refuse)
    monkeypatch.setattr(building, "rank_matched", _only_known(building.rank_matched))
    again = _build(place)
    assert again.reused == ("aaron", "ann", "bob", "cat", "dan")
    assert _files(place / "site") == grown


def _only_known(rank_matched):
    """The same, but the answer is not ranked by itself."""

    def work(matched, options, how, known=None):
        return None if known is None else rank_matched(matched, options, how, known)

    return work


def test_a_changed_submission_is_scored_anew_and_a_renamed_one_is_not(place):
    _build(place)
    before = {s.name: s.estimate for s in _build(place).ranking.ranking}
    _add(place, "bob", wrong=0.5)
    (place / "in" / "cat.conll").rename(place / "in" / "zoe.conll")
    found = _build(place)
    assert found.scored == ("bob",)
    assert found.reused == ("ann", "zoe")
    after = {s.name: s.estimate for s in found.ranking.ranking}
    assert after["zoe"] == before["cat"]
    assert after["bob"] != before["bob"]
    assert len(list((place / "site.cache").rglob("scores-*.json"))) == 3


def test_reused_records_keep_their_outcomes(tmp_path):
    said = [{"id": i, "name": "Ada", "city": "Rome" if i % 2 else None} for i in range(6)]
    gold = [own | {"city": "rome" if own["city"] else None, "age": 3} for own in said]
    (tmp_path / "in").mkdir()
    for path, rows in (("gold", gold), ("in/a", said), ("in/b", [*gold[:3], *said[3:]])):
        (tmp_path / f"{path}.jsonl").write_text("\n".join(map(json.dumps, rows)))
    how = {"task": "records", "key": "id", "site": tmp_path / "site"}
    first = pv.board(tmp_path / "gold.jsonl", tmp_path / "in", **how)
    again = pv.board(tmp_path / "gold.jsonl", tmp_path / "in", **how)
    assert again.reused == ("a", "b")
    for old, new in zip(first.ranking.systems, again.ranking.systems, strict=True):
        assert old.outcomes.near_misses
        assert new.to_dict() == old.to_dict()


def test_another_answer_or_choice_is_another_board(place):
    _build(place)
    assert _build(place, level=0.9).scored == ("ann", "bob", "cat")
    assert _build(place, metric="recall").ranking.metric == "recall"
    assert _build(place).reused == ("ann", "bob", "cat")
    gold = place / "secret" / "gold.conll"
    gold.write_text(gold.read_text().replace("B-PER", "B-LOC", 1))
    assert _build(place).scored == ("ann", "bob", "cat")


def test_macro_averages_reuse_their_tests(place):
    first = _build(place, average="macro")
    again = _build(place, average="macro")
    assert first.ranking.metric == "macro_f1"
    assert (again.pairs_tested, again.pairs_reused) == (0, 3)
    assert again.ranking.to_dict() == first.ranking.to_dict()


def test_macro_averages_reuse_their_limits(place, monkeypatch):
    first = _build(place, average="macro")

    def no_more(*_, **__):
        raise AssertionError("computed again")

    monkeypatch.setattr(MacroScore, "difference", no_more)
    assert _build(place, average="macro").ranking.to_dict() == first.ranking.to_dict()
    _add(place, "dan")  # more pairs, wider limits
    with pytest.raises(AssertionError, match="computed again"):
        _build(place, average="macro")


def test_limits_are_kept_with_their_sides(tmp_path):
    kept = Kept(tmp_path / "cache", {"answer": "x"})
    kept.keep_pairs("limits", ["a", "b", "c"], {(0, 1): (2.5, -0.1, 0.3), (1, 2): (2.5, 0.0, 0.2)})
    assert kept.pairs("limits", ["b", "a", "d"]) == {(0, 1): (2.5, -0.3, 0.1)}
    assert kept.pairs("limits", ["d", "b", "c"]) == {(1, 2): (2.5, 0.0, 0.2)}


def test_without_submissions_nothing_is_left_behind(place):
    before = _left(place)
    with pytest.raises(InputError, match="there is no such folder"):
        pv.board(place / "secret" / "gold.conll", place / "nowhere", place / "site")
    assert _left(place) == before


def test_what_is_damaged_in_the_cache_is_computed_again(place):
    expected = _build(place).ranking.to_dict()
    for path in (place / "site.cache").rglob("*.json"):
        if path.name != "run.json":
            path.write_bytes(path.read_bytes()[:-9])
    found = _build(place)
    assert found.scored == ("ann", "bob", "cat")
    assert found.ranking.to_dict() == expected


def _spoil(place: Path) -> None:
    """Submissions of every bad kind."""
    folder = place / "in"
    gold = _answer()
    (folder / "empty.conll").write_text("")
    (folder / "binary.conll").write_bytes(b"\x00\x01\x02" * 50)
    (folder / "latin.conll").write_bytes("Jos\xe9 B-PER\n".encode("latin-1"))
    (folder / "short.conll").write_text(_text(gold[:-1]))
    (folder / "words.conll").write_text(_text([[("other", tag) for _, tag in s] for s in gold]))
    (folder / "merged.conll").write_text(_text([gold[0] + gold[1], *gold[2:], [("x", "O")]]))
    (folder / "broken.conll.gz").write_bytes(b"\x1f\x8b" + b"nonsense")
    (folder / "prose.txt").write_text("once upon a time\n" * 70)
    (folder / "hollow").mkdir()
    (folder / "two").mkdir()
    (folder / "two" / "a.conll").write_text("x O\n")
    (folder / "two" / "b.conll").write_text("x O\n")
    (folder / "nested" / "deeper").mkdir(parents=True)
    (folder / "nested" / "deeper" / "a.conll").write_text("x O\n")
    (folder / "outside.conll").symlink_to(place / "secret" / "gold.conll")
    (folder / "nowhere.conll").symlink_to(folder / "missing")
    os.mkfifo(folder / "pipe.conll")
    (folder / "twice.conll").write_text(_text(gold))
    (folder / "Twice.tsv").write_text(_text(gold))


def test_bad_submissions_become_lines_and_stop_nobody(place):
    _spoil(place)
    (place / "in" / ".hidden").write_text("no submission")
    (place / "in" / "team").mkdir()
    (place / "in" / "team" / "out.conll").write_text(_text(_output(_answer(), 0.3, 5)))
    (place / "in" / "team" / ".DS_Store").write_text("")
    (place / "in" / "packed.conll.gz").write_bytes(
        gzip.compress(_text(_output(_answer(), 0.35, 6)).encode())
    )
    os.link(place / "secret" / "gold.conll", place / "in" / "copy-of-the-answer.conll")
    found = _build(place)
    assert found.scored == ("Twice", "ann", "bob", "cat", "packed", "team")
    why = {one.name: one.error for one in found.submissions if one.error}
    expected = {
        "empty": "is empty; expected at least one line",
        "binary": "line 1: is a binary file",
        "latin": "line 1: byte 0xe9 is not UTF-8",
        "short": "59 sentences of ",
        "words": "line 1: does not fit gold; expected the same sentences and tokens",
        "broken": "is a damaged gzip file",
        "hollow": "is a folder of 0 files; expected one",
        "two": "is a folder of 2 files; expected one",
        "nested": "is a folder in a folder; expected one file",
        "outside": "is a link; expected the file itself",
        "nowhere": "is a link; expected the file itself",
        "pipe": "is no file; expected one",
        "twice": "has the name of Twice.tsv; expected another name",
    }
    assert set(why) == {*expected, "merged", "prose"}
    for name, words in expected.items():
        assert words in why[name], (name, why[name])
    page = (place / "site" / "index.html").read_text()
    assert "Not scored" in page
    assert "is a link; expected the file itself" in page
    assert not any("copy-of-the-answer" in one.name for one in found.submissions)


def test_a_file_that_is_too_large_is_not_read(place):
    (place / "in" / "huge.conll").write_bytes(b"x O\n" * 300_000)
    (place / "in" / "bomb.conll.gz").write_bytes(gzip.compress(b"x O\n" * 300_000))
    found = _build(place, max_size=1)
    why = {one.name: one.error for one in found.submissions if one.error}
    assert why == dict.fromkeys(("bomb", "huge"), "is larger than 1 MiB (max_size)")


def _swapped(monkeypatch, change) -> None:
    """Change the folder after it was looked through, and before files are read."""
    real = building.find_submissions

    def find(*args, **more):
        found = real(*args, **more)
        change()
        return found

    monkeypatch.setattr(building, "find_submissions", find)


def test_a_link_that_is_put_in_place_after_the_check_is_not_read(place, monkeypatch):
    folder, gold = place / "in", place / "secret" / "gold.conll"
    (folder / "team").mkdir()
    (folder / "team" / "gold.conll").write_text(_text(_output(_answer(), 0.9, 5)))

    def swap() -> None:
        (folder / "bob.conll").unlink()
        (folder / "bob.conll").symlink_to(gold)
        (folder / "cat.conll").unlink()
        os.link(gold, folder / "cat.conll")
        (folder / "team").rename(place / "old")
        (folder / "team").symlink_to(place / "secret")

    _swapped(monkeypatch, swap)
    found = _build(place)
    assert found.scored == ("ann",)
    assert {one.name: one.error for one in found.submissions if one.error} == {
        "bob": "is a link; expected the file itself",
        "cat": "is the gold file itself; expected an output",
        "team": "is a link; expected the file itself",
    }


def test_a_pipe_that_is_put_in_place_after_the_check_holds_nobody_up(place, monkeypatch):
    def swap() -> None:
        (place / "in" / "bob.conll").unlink()
        os.mkfifo(place / "in" / "bob.conll")

    _swapped(monkeypatch, swap)
    found = _build(place)
    assert found.submissions[1].error == "is no file; expected one"


def test_a_long_ending_stops_nobody(place):
    long = place / "in" / f"a.{'x' * 245}"
    long.write_text(_text(_output(_answer(), 0.3, 5)))
    found = _build(place)
    assert found.scored == (long.name, "ann", "bob", "cat")
    assert _build(place).reused == found.scored


def test_who_came_first_keeps_the_name(place):
    _build(place)
    (place / "in" / "ANN.conll").write_text(_text(_answer()))
    (place / "in" / "bob").mkdir()
    (place / "in" / "bob" / "run.conll").write_text(_text(_answer()))
    found = _build(place, level=0.9)  # another board of the same submissions
    assert found.scored == ("ann", "bob", "cat")
    assert {one.file: one.error for one in found.submissions if one.error} == {
        "ANN.conll": "has the name of ann.conll; expected another name",
        "bob/run.conll": "has the name of bob.conll; expected another name",
    }
    (place / "in" / "ann.conll").unlink()
    assert "ANN" in _build(place).scored


@pytest.mark.slow
def test_the_site_is_the_same_whatever_the_order_of_sets(place):
    sites = []
    for seed in ("1", "2"):
        site = place / f"site{seed}"
        words = ["board", "secret/gold.conll", "in", "-o", site.name, "--pairs", "all", "-q"]
        subprocess.run(
            [sys.executable, "-m", "probative", *words, "--jobs", "1"],
            cwd=place,
            env={**os.environ, "PYTHONHASHSEED": seed},
            check=True,
            capture_output=True,
        )
        sites.append(_files(site))
    assert sites[0] == sites[1]


def test_parquet_that_unpacks_to_more_than_the_size_is_not_read(tmp_path):
    duckdb = pytest.importorskip("duckdb")
    (tmp_path / "gold.txt").write_text("yes\nno\nno\n" * 10)
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "ann.txt").write_text("yes\nno\nno\n" * 10)
    rows = "SELECT 'yes' AS pred FROM range(1000000)"
    tokens = "SELECT list_transform(range(500000), lambda x: 'O') AS"
    words = "SELECT [repeat('w', 100000)] AS tokens, ['O'] AS ner_tags FROM range(100)"
    for name, query in {
        "rows": rows,
        "lists": f"{tokens} tokens, tokens AS ner_tags",
        "words": words,
        "fits": "SELECT 'yes' AS pred FROM range(30)",
    }.items():
        path = tmp_path / "in" / f"{name}.parquet"
        duckdb.execute(f"COPY ({query}) TO '{path}' (FORMAT parquet, COMPRESSION zstd)")
        assert path.stat().st_size < 2**18
    found = pv.board(tmp_path / "gold.txt", tmp_path / "in", tmp_path / "site", max_size=0.25)
    assert found.scored == ("ann", "fits")
    assert {one.name: one.error for one in found.submissions if one.error} == dict.fromkeys(
        ("lists", "rows", "words"), "is larger than 0.25 MiB (max_size)"
    )


def test_whatever_a_reader_does_the_others_go_on(place, monkeypatch):
    real = building.read_side

    def read(path, *more, **given):
        if "bob" in str(path):
            raise RuntimeError("canary0x0")
        return real(path, *more, **given)

    monkeypatch.setattr(building, "read_side", read)
    found = _build(place)
    assert found.refused == ("bob",)
    assert found.submissions[1].error == "cannot be read (RuntimeError); expected another file"


def test_no_submissions_yet(place):
    for path in (place / "in").iterdir():
        path.unlink()
    found = _build(place)
    assert found.submissions == ()
    assert found.ranking is None
    assert "No submissions yet" in (place / "site" / "index.html").read_text()
    (place / "in" / "bad.conll").write_text("")
    assert _build(place).refused == ("bad",)
    assert "No submission could be scored" in (place / "site" / "index.html").read_text()
    content = json.loads((place / "site" / "board.json").read_text())
    assert content["ranking"] == content["pairs"] == content["systems"] == []
    _add(place, "ann")
    assert _build(place).scored == ("ann",)


# --------------------------------------------------------------------------- nothing of the answer


def _told(place: Path, canaries: list[str]) -> dict[str, str]:
    """The canaries that some file of the site tells, in whatever case."""
    return {
        name: canary
        for name, content in _files(place / "site").items()
        for canary in canaries
        if canary.lower().encode() in content.lower()
    }


def _all_words(place: Path) -> list[str]:
    return [word for sentence in _answer() for word, _ in sentence] + [
        "secret",  # where the answer stands
        str(place),
        "gold.conll",
    ]


def test_nothing_of_the_answer_is_in_the_site(place, capsys):
    _spoil(place)
    gold = place / "secret" / "gold.conll"
    # a label so rare that its scores would tell of single words, among submissions that have it
    gold.write_text(re.sub(r"canary7x0 \S+", "canary7x0 B-CANARYTYPE", gold.read_text()))
    _build(place, show_gold=True, pairs="all")  # what is kept must not tell it later
    shown = _told(place, _all_words(place))
    assert shown  # with leave they are there: the search can find them
    assert "CANARYTYPE" in (place / "site" / "scores.csv").read_text()
    _build(place, pairs="all")
    assert _told(place, [*_all_words(place), "canarytype"]) == {}
    assert len(list((place / "site" / "pairs").iterdir())) == 6
    # nor in what is kept, or said
    kept = b"".join(_files(place / "site.cache").values()).lower()
    assert not any(word.encode() in kept for word in _all_words(place)[:-3])
    said = capsys.readouterr()
    assert "canary" not in said.out + said.err


def test_labels_and_texts_of_a_table_are_not_told(tmp_path):
    rows = [("yes", "a"), ("no", "b"), ("no", "c"), ("maybe", "d")] * 8
    rows += [("canarylabel", "canarytext")]
    (tmp_path / "gold.csv").write_text(
        "label,text\n" + "".join(f"{label},{text}\n" for label, text in rows)
    )
    (tmp_path / "in").mkdir()
    for i, name in enumerate(("one", "two")):
        said = [label if k % (5 + i) else "no" for k, (label, _) in enumerate(rows)]
        said = ["no" if label == "canarylabel" else label for label in said]
        (tmp_path / "in" / f"{name}.csv").write_text("label\n" + "\n".join(said) + "\n")
    (tmp_path / "in" / "short.csv").write_text("label\nyes\n")
    found = pv.board(
        tmp_path / "gold.csv",
        tmp_path / "in",
        tmp_path / "site",
        gold_column="label",
        columns=["label"],
        n_jobs=1,
    )
    assert found.scored == ("one", "two")
    assert found.submissions[1].error == "has 1 item; gold has 33 items"
    assert _told(tmp_path, ["canarylabel", "canarytext"]) == {}
    # the sums over all labels, less those that are told, must not be those of the rare one
    labels = [[own.label for own in system.by_label] for system in found.ranking.systems]
    assert labels == [["no", "yes"]] * 2


def test_which_labels_are_told():
    find = building._common_labels
    assert find({"a": 9, "b": 7, "c": 5}) == {"a", "b", "c"}
    assert find({"a": 9, "b": 7, "c": 4}) == {"a"}
    assert find({"a": 9, "b": 7, "c": 4, "d": 1}) == {"a", "b"}
    assert find({"a": 9, "b": 0}) == {"a"}  # only systems have it
    assert find({"a": 9, "b": 7, "c": 1, "d": 0}) == {"a"}
    assert find({"a": 3}) == find({}) == set()


# ----------------------------------------------------------------------------- whole or not at all


_KILLED = """
import os, signal, sys
import probative as pv
from probative import files as site
from probative.jobs import board as building

def die(*_, **__):
    os.kill(os.getpid(), signal.SIGKILL)

where, gold, folder, place = sys.argv[1:]
if where == "tests":
    building._SECONDS_BETWEEN_SAVES = 0.0
    report = lambda done, total: die() if done else None
else:
    report = None
if where == "writing":
    site.Path.write_text = die  # the manifest comes last
if where == "swapping":
    site._swap = die
if where == "between":
    site._exchange = lambda *_: False
    rename = site.Path.rename
    def second(self, target):
        if "-building-" in str(self):
            die()
        return rename(self, target)
    site.Path.rename = second
if where == "clearing":
    site.shutil.rmtree = die
pv.board(gold, folder, place, n_jobs=1, report=report)
"""


def _kill(place: Path, where: str) -> None:
    paths = (place / "secret" / "gold.conll", place / "in", place / "site")
    done = subprocess.run(
        [sys.executable, "-c", _KILLED, where, *map(str, paths)], capture_output=True, check=False
    )
    assert done.returncode == -9, done.stderr.decode()


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="there is no such signal")
@pytest.mark.parametrize("where", ["tests", "writing", "swapping", "between", "clearing"])
def test_killed_half_way(place, where):
    _build(place)
    old = _files(place / "site")
    _add(place, "dan")
    _kill(place, where)
    if where == "between":  # a system that cannot exchange folders in one step
        assert not (place / "site").exists()
    else:
        standing = _files(place / "site")
        assert ("systems/dan.html" in standing) == (where == "clearing")
        assert where == "clearing" or standing == old
    found = _build(place)
    assert found.scored == ()  # what was done before the kill is kept
    assert (found.pairs_tested, found.pairs_reused) == (0, 6)
    assert _left(place) == ["in", "secret", "site", "site.cache"]
    pv.board(place / "secret" / "gold.conll", place / "in", place / "fresh", n_jobs=1)
    assert _files(place / "site") == _files(place / "fresh")


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="there is no such signal")
def test_an_old_site_that_was_moved_away_comes_back_even_if_the_next_build_fails(place):
    _build(place)
    old = _files(place / "site")
    _kill(place, "between")
    with pytest.raises(pv.InputError, match="there is no such file"):
        pv.board(place / "missing", place / "in", place / "site")
    assert _files(place / "site") == old


@pytest.mark.parametrize("exchange", [True, False])
def test_a_full_disk_leaves_the_old_site(place, monkeypatch, exchange):
    _build(place)
    old = _files(place / "site")
    _add(place, "dan")

    def full(*_):
        raise OSError(28, "No space left on device")

    if exchange:
        monkeypatch.setattr(site, "_write", full)
    else:
        monkeypatch.setattr(site, "_exchange", lambda *_: False)
        rename = Path.rename

        def second(self, target):
            return full() if "-building-" in str(self) else rename(self, target)

        monkeypatch.setattr(Path, "rename", second)
    with pytest.raises(pv.InputError, match="cannot be written: the disk is full"):
        _build(place)
    assert _files(place / "site") == old
    assert _left(place) == ["in", "secret", "site", "site.cache"]


def test_a_second_builder_is_refused(place):
    with site.locked(site.real_site(place / "site")):
        with pytest.raises(pv.InputError, match="is being built by another process"):
            _build(place)
        assert not (place / "site").exists()
    assert _build(place).scored


def test_folders_that_are_not_ours_are_not_replaced(place):
    own = place / "site"
    own.mkdir()
    _build(place)  # an empty one may be filled
    (own / "CNAME").write_text("example.org")
    with pytest.raises(pv.InputError, match="holds 'CNAME', which the board has not written"):
        _build(place)
    (own / "CNAME").unlink()
    (own / "index.html").write_text("my own words")
    with pytest.raises(pv.InputError, match=r"'index\.html' was edited there"):
        _build(place)
    (own / "index.html").unlink()
    assert _build(place).reused
    (place / "thesis").mkdir()
    (place / "thesis" / "chapter.tex").write_text("years of work")
    with pytest.raises(pv.InputError, match="is not the site of a board"):
        pv.board(place / "secret" / "gold.conll", place / "in", place / "thesis")
    assert (place / "thesis" / "chapter.tex").read_text() == "years of work"


def test_folders_do_not_stand_in_each_other(place):
    gold, folder, own = place / "secret" / "gold.conll", place / "in", place / "site"
    for where, cache in ((folder, None), (folder / "site", None), (own, own / "cache"), (own, own)):
        with pytest.raises(pv.InputError, match="one lies in the other"):
            pv.board(gold, folder, where, cache=cache)
    with pytest.raises(pv.InputError, match="lies in the site"):
        pv.board(gold, folder, place / "secret")
    assert gold.exists()
    with pytest.raises(pv.InputError, match="is not a directory"):
        pv.board(gold, folder, gold)
    with pytest.raises(pv.InputError, match="there is no such folder"):
        pv.board(gold, place / "missing", own)
    with pytest.raises(pv.InputError, match="is no folder; expected one that holds the submi"):
        pv.board(gold, folder / "ann.conll", own)
    assert not own.exists()


@pytest.mark.skipif(sys.platform == "win32", reason="there are no such pipes")
def test_an_answer_that_can_be_read_only_once_is_refused(place):
    os.mkfifo(place / "pipe")
    for name in ("pipe", "in"):
        with pytest.raises(
            pv.InputError, match="is no file; expected a file that can be read again"
        ):
            pv.board(place / name, place / "in", place / "site")
    assert _left(place) == ["in", "pipe", "secret"]


def test_an_answer_that_changes_meanwhile_is_refused(place, monkeypatch):
    real = building.read_side

    def read(path, *more):
        found = real(path, *more)
        path.write_text(path.read_text() + "x O\n\n")
        return found

    monkeypatch.setattr(building, "read_side", read)
    with pytest.raises(pv.InputError, match="was changed while it was read"):
        _build(place)


def test_a_link_to_the_site_stays_one(place):
    (place / "real").mkdir()
    (place / "site").symlink_to(place / "real")
    _build(place)
    _build(place)
    assert (place / "site").is_symlink()
    assert (place / "real" / "index.html").exists()


def test_choices_that_do_not_fit_stop_the_board_before_anything_is_written(place):
    for options, words in (
        ({"metric": "bleu"}, "metric"),
        ({"metric": "mean"}, "metric: unknown 'mean'; expected one of precision, "),
        ({"metric": "accuracy"}, "tn"),
        ({"pairs": "some"}, "pairs"),
        ({"by": "document"}, "no documents"),
        ({"max_size": 0}, "max_size"),
        ({"rng": None}, "rng"),
        ({"casche": "x"}, "did you mean 'cache'"),
    ):
        with pytest.raises(pv.InputError, match=words):
            _build(place, **options)
    assert _left(place) == ["in", "secret"]


# ------------------------------------------------------------------------------------------- pages


def test_pages_of_pairs(place):
    gold, folder = place / "secret" / "gold.conll", place / "in"
    for pairs, number in (("top", 2), ("all", 3), ("none", 0)):
        pv.board(gold, folder, place / "site", pairs=pairs, n_jobs=1)
        assert len(list(place.glob("site/pairs/*.html"))) == number
        assert len(list(place.glob("site/systems/*.html"))) == 3


def test_every_link_of_the_site_leads_somewhere(place):
    _add(place, "a b <i>&é", seed=1)
    _add(place, "index", seed=2)
    _add(place, "x" * 200, seed=4)
    _build(place, pairs="all")
    n = 0
    for page in (place / "site").rglob("*.html"):
        text = page.read_text()
        assert "<i>&" not in text
        for link in re.findall(r'href="([^"#]+)"', text):
            assert (page.parent / link).resolve().is_file(), (page, link)
            n += 1
    assert n > 6 * 6


def test_names_that_are_no_text_do_no_harm(place):
    try:
        Path(os.fsdecode(os.fsencode(place / "in") + b"/n\xff.conll")).write_text(
            _text(_output(_answer(), 0.2, 8))
        )
    except OSError:
        pytest.skip("this file system has no such names")
    assert "n\ufffd" in _build(place).scored


def test_a_submission_is_named_after_its_file_or_folder(tmp_path):
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "run-3.conll").write_text("x O\n")
    (tmp_path / "a.conll.gz").write_text("x O\n")
    found = find_submissions(tmp_path, answer=tmp_path / "gold")
    assert [(one.name, one.file) for one in found] == [("a", "a.conll.gz"), ("b", "b/run-3.conll")]


def test_pages_never_have_two_signs_before_a_number(place):
    board = _build(place)
    pages = [path.read_text() for path in (place / "site").rglob("*.html")]
    assert any("; P(best) &lt; 0.001." in page for page in pages)
    assert not any(re.search(r"= &[lg]t;", page) for page in pages)
    assert ", P(best) < 0.001" in str(board.ranking.ranking[-1])


# ----------------------------------------------------------------------------- the front of a site


def test_title_introduction_and_date(place):
    (place / "about.md").write_text(
        "# The task\n\nFind *names* & <b>places</b> <script>alert(1)</script>, see "
        "[the page](https://example.org/?a=1&b=2), [not this](javascript:alert(1)) "
        "![picture](https://example.org/x.png) <img src=x onerror=alert(1)>\n\n"
        "* one\n* two\n\n<iframe src='https://example.org'></iframe>\n"
    )
    found = _build(
        place, title="Names <& more>", about=place / "about.md", date=dt.date(2026, 5, 1)
    )
    assert (found.title, found.date) == ("Names <& more>", "2026-05-01")
    page = (place / "site" / "index.html").read_text()
    assert "<h1>Names &lt;&amp; more&gt;</h1>" in page
    assert "<title>Names &lt;&amp; more&gt;</title>" in page
    assert '<time datetime="2026-05-01">2026-05-01</time>' in page
    assert '<h2 class="own">The task</h2>' in page
    assert "<em>names</em> &amp; &lt;b&gt;places&lt;/b&gt;" in page
    assert '<a href="https://example.org/?a=1&amp;b=2">the page</a>' in page
    assert "<li>one</li>" in page
    introduction = page.split('<div class="introduction">')[1].split("</div>")[0]
    tags = set(re.findall(r"</?([a-z0-9]+)", introduction))
    assert tags == {"h2", "p", "em", "a", "ul", "li"}
    assert "javascript:" not in re.sub(r"\[not this\]\(javascript", "", introduction)
    # the other pages lead back to it
    assert ">Names &lt;&amp; more&gt;</a>" in (place / "site" / "systems" / "ann.html").read_text()
    content = json.loads((place / "site" / "board.json").read_text())
    assert (content["title"], content["date"]) == ("Names <& more>", "2026-05-01")
    assert _told(place, _all_words(place)) == {}


def test_the_date_comes_from_the_files_unless_it_is_given(place, monkeypatch):
    monkeypatch.delenv("SOURCE_DATE_EPOCH", raising=False)
    days = {"ann": 86_400 * 3, "bob": 86_400 * 9 + 5, "cat": 0}
    for name, seconds in days.items():
        os.utime(place / "in" / f"{name}.conll", (seconds, seconds))
    # what a team says about its own date does not move that of the board
    (place / "in" / "ann.meta.toml").write_text("date = 9999-12-31\n")
    assert _build(place).date == "1970-01-10"
    first = _files(place / "site")
    assert _build(place).date == "1970-01-10"
    assert _files(place / "site") == first
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "86400")
    assert _build(place).date == "1970-01-02"
    assert _build(place, date="2026-05-01").date == "2026-05-01"
    assert b"2026-05-01" in _files(place / "site")["index.html"]
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "soon")
    with pytest.raises(pv.InputError, match="SOURCE_DATE_EPOCH: 'soon'; expected a number"):
        _build(place)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"date": "1 May"}, "date: '1 May'; expected a day such as 2026-05-01"),
        ({"date": "2026-13-01"}, "date: '2026-13-01'; expected a day"),
        ({"date": 5}, "date: 5; expected a day"),
        ({"title": " "}, "title: ' '; expected text"),
        ({"title": 3}, "title: 3; expected text"),
        ({"about": 3}, "about: 3; expected the path of a Markdown file"),
        ({"about": "nowhere.md"}, r"nowhere\.md: cannot be read as Markdown in UTF-8"),
    ],
)
def test_a_front_that_cannot_be_stops_the_board(place, given, words):
    with pytest.raises(pv.InputError, match=words):
        _build(place, **given)
    assert not (place / "site").exists()


def test_rows_are_numbered_and_described(place):
    (place / "in" / "ann.meta.toml").write_text(
        'team = "Ann & <Friends>"\npaper = "https://example.org/ann?a=1&b=2"\ndate = 2026-04-30\n'
    )
    (place / "in" / "dan").mkdir()
    (place / "in" / "dan" / "run.conll").write_text(_text(_output(_answer(), 0.5, 4)))
    (place / "in" / "dan" / "meta.toml").write_text('code = "http://example.org"\n')
    found = _build(place)
    assert found.scored == ("ann", "bob", "cat", "dan")
    (ann,) = [one for one in found.submissions if one.name == "ann"]
    assert ann.to_dict() == {
        "name": "ann",
        "file": "ann.conll",
        "status": "scored",
        "team": "Ann & <Friends>",
        "paper": "https://example.org/ann?a=1&b=2",
        "date": "2026-04-30",
    }
    page = (place / "site" / "index.html").read_text()
    rows = re.findall(r'<tr[^>]*data-place.*?<span class="place">(\d)\.</span>.*?</tr>', page, re.S)
    assert rows == ["1", "2", "3", "4"]
    for text in (page, (place / "site" / "systems" / "ann.html").read_text()):
        assert "Ann &amp; &lt;Friends&gt;, 2026-04-30" in text
        assert '<a href="https://example.org/ann?a=1&amp;b=2" rel="nofollow noopener">paper' in text
    lines = found.to_markdown().splitlines()
    assert next(line for line in lines if "ann" in line).startswith("| 1 | ann ")
    # a description costs nothing, and does not change a score
    (place / "in" / "ann.meta.toml").write_text('team = "Others"\n')
    assert _build(place).reused == found.scored


_DEEP = f"team = {'[' * 5000}"


@pytest.mark.parametrize(
    ("content", "remark"),
    [
        ("author = 'x'", "author = 'x'; expected team, paper, code, date, and no other key"),
        ("team = 3", "team = 3; expected a name"),
        ("team = ''", "team = ''; expected a name"),
        ('team = "a\\u202Eb"', "expected a name"),
        (f"team = '{'x' * 400}'", "expected a name of at most 300 characters"),
        ("paper = 'javascript:alert(1)'", "expected a link that starts with https:// or http://"),
        ("paper = 'data:text/html,x'", "expected a link"),
        ("code = 'https://good.org@evil.org'", "expected a link"),
        ("code = 'https://[::1'", "expected a link"),
        ("code = '//example.org'", "expected a link"),
        ("date = 'yesterday'", "date = 'yesterday'; expected a day such as 2026-05-01"),
        ("date = '2026-02-30'", "expected a day"),
        ("team", "is no TOML: "),
        (_DEEP, "is no TOML: "),
        (f"team = '{'x' * 20_000}'", "is larger than 16,384 bytes"),
    ],
)
def test_a_bad_description_is_a_remark(place, content, remark):
    (place / "in" / "bob.meta.toml").write_text(f"{content}\n")
    found = _build(place)
    assert found.scored == ("ann", "bob", "cat")
    (bob,) = [one for one in found.submissions if one.name == "bob"]
    assert len(bob.remarks) == 1
    assert bob.remarks[0].startswith("meta.toml: ")
    assert remark in bob.remarks[0]
    assert "\n" not in bob.remarks[0]
    assert (bob.team, bob.paper, bob.code, bob.date) == (None,) * 4
    page = (place / "site" / "index.html").read_text()
    assert "<h2>Remarks</h2>" in re.sub(' id="[^"]*"', "", page)
    assert 'href="javascript' not in page


def test_a_description_is_no_way_to_gold(place):
    folder, gold = place / "in", place / "secret" / "gold.conll"
    (folder / "ann.meta.toml").symlink_to(gold)
    os.link(gold, folder / "bob.meta.toml")
    (folder / "cat.meta.toml").symlink_to(place / "nowhere")
    found = _build(place, pairs="all")
    assert [one.remarks for one in found.submissions] == [
        ("meta.toml: is a link; expected the file itself",),
        ("meta.toml: is the gold file itself; expected an output",),
        ("meta.toml: is a link; expected the file itself",),
    ]
    assert _told(place, _all_words(place)) == {}


def test_a_description_of_nobody_is_listed(place):
    (place / "in" / "zoe.meta.toml").write_text("team = 'x'\n")
    (place / "in" / "meta.toml").write_text("team = 'x'\n")
    found = _build(place)
    words = "describes no submission; expected NAME.meta.toml beside a file NAME"
    assert {one.file: one.error for one in found.submissions if one.error} == {
        "meta.toml": words,
        "zoe.meta.toml": words,
    }
