"""The ledger of gates: what it counts, what it promises, and what it survives."""

from __future__ import annotations

import itertools
import json
import multiprocessing
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace

import numpy as np
import pytest

import probative as pv
from probative import ledger_files
from probative.errors import InputError
from probative.inference.allowance import allowance
from probative.ledger import Question, read_ledger, record
from probative.results import Fingerprints
from probative.testing import assert_better, assert_not_worse

GOLD = [["B-PER", "O", "B-LOC"], ["B-LOC", "O", "O"]] * 30
OLD = [["B-PER", "O", "O"], ["O", "O", "B-PER"]] * 10 + GOLD[:40]
NEW = [["B-PER", "O", "O"], ["B-LOC", "O", "O"]] * 2 + GOLD[:56]


def asked(doubt=0.5, candidate="x", answer="a1b2c3d4", **more):
    """A question about a candidate."""
    test_set = Fingerprints(
        answer, "gold", 60, "sentence", ("1", "2"), {"A": "base", "B": candidate}
    )
    usual = {
        "metric": "f1",
        "kind": "require-better",
        "margin": 0.0,
        "confidence": 0.95,
        "choices": "entities",
        "candidates": "adaptive",
        "doubt": doubt,
        "scores_shown": False,
    }
    return Question(test_set, "A", "B", **(usual | more))


def one(path, question):
    (passed,), (use,) = record(path, [question])
    return passed, use


@pytest.fixture
def path(tmp_path):
    return tmp_path / "gates.jsonl"


# --- what it counts and promises ------------------------------------------------------------------


@pytest.mark.parametrize("candidates", ["adaptive", "independent"])
def test_each_look_has_its_own_threshold(path, candidates):
    verdicts = []
    nearly = itertools.cycle((1.1, 0.9, 1.1, 1.1))
    for number in range(12):
        due = allowance(candidates, verdicts, 0.05)
        doubt = due * next(nearly)
        passed, use = one(path, asked(doubt, f"c{number}", candidates=candidates))
        assert use.threshold == pytest.approx(due, rel=1e-9)
        assert passed == (doubt <= due)
        assert (use.look, use.passes) == (number + 1, sum(verdicts))
        verdicts.append(passed)
    assert any(verdicts)
    (left,) = read_ledger(path).sets
    assert (left.looks, left.passes, left.uses) == (12, sum(verdicts), 12)
    assert left.threshold == pytest.approx(allowance(candidates, verdicts, 0.05))


def test_the_same_question_is_no_new_look(path):
    passed, first = one(path, asked(0.01, "c1"))
    assert passed
    one(path, asked(0.5, "c2"))
    again, use = one(path, asked(0.01, "c1"))  # its doubt would not do at the third look
    assert again
    assert (use.look, use.threshold) == (1, first.threshold)
    assert use.repeated
    assert "look 1 again" in str(use)
    for other in ({"margin": 0.01}, {"metric": "recall"}, {"confidence": 0.9}, {"choices": "x"}):
        assert one(path, asked(0.01, "c1", **other))[1].repeated is None
    assert read_ledger(path).sets[0].looks == 6
    assert read_ledger(path).sets[0].uses == 7


def test_a_failure_is_repeated_too(path):
    assert not one(path, asked(0.03, "c1"))[0]
    assert not one(path, asked(0.0, "c1"))[0]  # whatever is computed now


def test_scores_that_were_shown_end_the_promise(path):
    _, first = one(path, asked(0.5, "c1", scores_shown=True))
    assert first.promised  # nobody had seen anything before
    _, second = one(path, asked(0.5, "c2"))
    assert not second.promised
    assert "no promise: scores were shown at 1 look before; 60 new sentences" in str(second)
    assert not read_ledger(path).sets[0].promised


def test_scores_of_a_question_repeated_count_as_shown(path):
    one(path, asked(0.5, "c1"))
    one(path, asked(0.5, "c1", scores_shown=True))
    assert not one(path, asked(0.5, "c2"))[1].promised


def test_candidates_that_come_together_have_seen_nothing_of_each_other(path):
    together = [asked(0.5, "c1", scores_shown=True), asked(0.5, "c2", scores_shown=True)]
    _, uses = record(path, together)
    assert [use.look for use in uses] == [1, 2]
    assert [use.promised for use in uses] == [True, True]


def test_independent_candidates_may_see_scores(path):
    for name in ("c1", "c2"):
        _, use = one(path, asked(0.5, name, candidates="independent", scores_shown=True))
        assert use.promised


def test_one_way_of_making_candidates_for_a_test_set(path):
    one(path, asked(candidates="independent"))
    before = path.read_bytes()
    with pytest.raises(InputError, match="candidates: adaptive, but this test set was used with"):
        one(path, asked(candidate="y"))
    assert path.read_bytes() == before
    one(path, asked(answer="another"))  # each test set by itself


def test_without_evidence_and_beyond_what_can_be_computed_nothing_passes(path):
    assert not one(path, asked(float("nan"), "c0"))[0]
    for number in range(1, 20):
        passed, use = one(path, asked(0.0, f"c{number}"))
        assert passed == (use.threshold >= 1e-9)
    assert not passed


def test_a_test_set_that_is_nearly_known_is_told(path):
    one(path, asked(answer="first"))
    _, use = one(path, asked(answer="second"))
    assert use.new
    assert use.similar == "first"
    assert "about 100 % of its units are those of test set first" in str(use)
    far = replace(asked(), test_set=replace(asked(answer="third").test_set, sketch=("7", "8")))
    assert one(path, far)[1].similar is None


# --- the file -------------------------------------------------------------------------------------


def append_many(path, who, number):
    for i in range(number):
        one(path, asked(0.5, f"{who}-{i}"))


def test_two_writers_at_once_lose_nothing(path):
    context = multiprocessing.get_context("spawn")
    writers = [context.Process(target=append_many, args=(path, who, 50)) for who in "ab"]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
        assert writer.exitcode == 0
    uses = read_ledger(path).uses
    assert [use.look for use in uses] == list(range(1, 101))
    assert {use.output_b for use in uses} == {f"{who}-{i}" for who in "ab" for i in range(50)}
    # nobody had another's allowance
    due = [allowance("adaptive", [False] * k, 0.05) for k in range(100)]
    assert [use.threshold for use in uses] == pytest.approx(due)


_WRITER = """
import sys
sys.path.insert(0, {tests!r})
from test_ledger import asked, one
number = int(sys.argv[2])
while True:
    one(sys.argv[1], asked(0.5, f"c{{number}}"))
    print(number, flush=True)
    number += 1
"""


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_what_was_told_survives_kill_9(path):
    told = -1
    for attempt in range(3):
        script = _WRITER.format(tests=os.path.dirname(__file__))  # noqa: PTH120
        writer = subprocess.Popen(
            [sys.executable, "-c", script, str(path), str(told + 1)],
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(20 + attempt):
            told = int(writer.stdout.readline())
        time.sleep(0.001 * attempt)
        writer.send_signal(signal.SIGKILL)
        told = max([told, *map(int, writer.communicate()[0].split())])
        there = [use.output_b for use in read_ledger(path).uses]
        assert there[: told + 1] == [f"c{i}" for i in range(told + 1)]
        told = len(there) - 1  # one may have been written and not told


_HALF = """
import os, signal, sys
sys.path.insert(0, {tests!r})
from probative import ledger
from test_ledger import asked, one
def half(file, path, size, lines):
    file.seek(size)
    file.write(lines[: len(lines) // 2])
    os.kill(os.getpid(), signal.SIGKILL)
ledger.append_lines = half
one(sys.argv[1], asked(0.01, "torn"))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
@pytest.mark.parametrize("lines", [0, 3])
def test_a_writer_killed_in_the_middle_of_a_line(path, lines):
    append_many(path, "c", lines)
    script = _HALF.format(tests=os.path.dirname(__file__))  # noqa: PTH120
    ended = subprocess.run([sys.executable, "-c", script, str(path)], check=False)
    assert ended.returncode == -signal.SIGKILL
    read = read_ledger(path)
    assert len(read.uses) == lines
    assert "its last line is torn" in read.notes[0]
    _, use = one(path, asked(0.5, "next"))
    assert use.look == lines + 1
    assert "its last line is torn" in use.note
    assert [use.output_b for use in read_ledger(path).uses][-1] == "next"
    assert not read_ledger(path).notes


@pytest.mark.parametrize("tail", [b"\0" * 40, b"{", b'{"format": "probative ledger 1", "time'])
def test_every_torn_tail_is_set_aside(path, tail):
    append_many(path, "c", 2)
    whole = path.read_bytes()
    path.write_bytes(whole + tail)
    assert len(read_ledger(path).uses) == 2
    one(path, asked(0.5, "next"))
    assert path.read_bytes().startswith(whole)
    assert len(read_ledger(path).uses) == 3


def test_a_last_line_without_its_end_is_kept(path):
    append_many(path, "c", 3)
    path.write_bytes(path.read_bytes().rstrip(b"\n"))
    assert one(path, asked(0.5, "next"))[1].look == 4
    assert len(read_ledger(path).uses) == 4


def test_a_full_disk_leaves_the_file_as_it_was(path, monkeypatch):
    append_many(path, "c", 2)
    before = path.read_bytes()

    def full(descriptor):  # noqa: ARG001
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(ledger_files.os, "fsync", full)
    with pytest.raises(InputError, match="cannot be written: No space left"):
        one(path, asked(0.5, "next"))
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    ("change", "line", "words"),
    [
        (lambda lines: [lines[0], lines[1][:-9] + b"\n", *lines[2:]], 2, "is damaged"),
        (
            lambda lines: [lines[0], lines[1].replace(b"false", b"true", 1), *lines[2:]],
            2,
            "damaged",
        ),
        (lambda lines: [lines[0], b"\n", *lines[1:]], 2, "is damaged: this is no line"),
        (lambda lines: [lines[0], *lines[2:]], 2, "tells of look 3 .* expected look 2"),
        (lambda lines: [lines[0], lines[1], lines[1], *lines[2:]], 3, "tells of look 2"),
    ],
)
def test_damage_in_the_middle_is_an_error_with_its_line(path, change, line, words):
    append_many(path, "c", 4)
    path.write_bytes(b"".join(change(path.read_bytes().splitlines(keepends=True))))
    before = path.read_bytes()
    for use in (lambda: read_ledger(path), lambda: one(path, asked(0.5, "next"))):
        with pytest.raises(InputError, match=words) as error:
            use()
        assert (error.value.path, error.value.line) == (str(path), line)
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    "content", [b"Ann B-PER\nsaw O\n", b"no end", b'{"format": "else"}\n', b"\n", b"\x00\xff\n"]
)
def test_what_is_no_ledger_is_left_alone(path, content):
    path.write_bytes(content)
    for use in (lambda: read_ledger(path), lambda: one(path, asked()), lambda: judged(path)):
        with pytest.raises(InputError, match="is no ledger of gates"):
            use()
    assert path.read_bytes() == content


def test_an_empty_file_is_a_new_ledger(path):
    path.write_bytes(b"")
    assert read_ledger(path).sets == ()
    assert one(path, asked())[1].look == 1


def test_places_that_cannot_be_written(path, tmp_path):
    with pytest.raises(InputError, match="cannot be written: its folder does not exist"):
        judged(tmp_path / "nowhere" / "gates.jsonl")
    with pytest.raises(InputError, match="it is a directory"):
        judged(tmp_path)
    with pytest.raises(InputError, match=r"cannot be read: No such file"):
        read_ledger(path)
    if sys.platform != "win32" and os.getuid() != 0:
        append_many(path, "c", 1)
        path.chmod(0o444)
        with pytest.raises(InputError, match="cannot be written: it is read-only"):
            judged(path)
        assert len(read_ledger(path).uses) == 1


def test_a_file_system_without_locks(path, monkeypatch):
    fcntl = pytest.importorskip("fcntl")

    def none(file, how):  # noqa: ARG001
        raise OSError(37, "No locks available")

    monkeypatch.setattr(fcntl, "flock", none)
    with pytest.raises(
        InputError, match=r"cannot be locked .*expected a file system that has locks"
    ):
        one(path, asked())


def test_the_ledger_tells_no_score(path):
    found = pv.compare(GOLD, OLD, NEW, fingerprints=True)
    pv.gate(found, "require-better", ledger=path)
    (line,) = path.read_text(encoding="utf-8").splitlines()
    numbers = {value for value in json.loads(line).values() if isinstance(value, float)}
    (use,) = read_ledger(path).uses
    assert numbers == {use.margin, use.confidence, use.threshold}


# --- gates ----------------------------------------------------------------------------------------


def judged(path, gold=GOLD, old=OLD, new=NEW, kind="require-better", how=None, **more):
    found = pv.compare(gold, old, new, fingerprints=True, examples=False, **(how or {}))
    return pv.gate(found, kind, ledger=path, **more)[0]


def test_a_gate_asks_for_what_is_left(path):
    plain = pv.gate(pv.compare(GOLD, OLD, NEW), "require-better")[0]
    first = judged(path)
    assert first.probability == plain.probability
    assert first.confidence == pytest.approx(1 - allowance("adaptive", [], 0.05))
    assert first.passed
    second = judged(path, new=OLD)
    assert second.confidence == pytest.approx(1 - allowance("adaptive", [True], 0.05))
    assert not second.passed
    assert judged(path).use.repeated


def test_hidden_scores_are_nowhere(path):
    verdict = judged(path, hide_scores=True)
    assert np.isnan(verdict.probability)
    assert verdict.to_dict()["probability"] is None
    assert "P(" not in str(verdict)
    assert not read_ledger(path).uses[0].scores_shown
    with pytest.raises(AssertionError) as failed:
        assert_better(GOLD, OLD, OLD, ledger=path, hide_scores=True)
    assert "F1, at confidence" in str(failed.value)
    assert "identical" not in str(failed.value)
    assert assert_better(GOLD, OLD, NEW, ledger=path, hide_scores=True) is None


def test_assertions_take_a_ledger(path):
    assert assert_better(GOLD, OLD, NEW, ledger=path).comparisons
    assert assert_not_worse(GOLD, OLD, NEW, margin=0.01, ledger=path)
    with pytest.raises(AssertionError, match=r"test set \w{8}, look 3, 2 passes before"):
        assert_better(GOLD, NEW, OLD, ledger=path)
    assert [use.look for use in read_ledger(path).uses] == [1, 2, 3]


@pytest.mark.parametrize(
    ("use", "words"),
    [
        (lambda p: judged(p, kind="fail-if-worse"), "ledger: bounds how often .* expected require"),
        (lambda p: judged(p, candidates="x"), "candidates: unknown 'x'"),
        (lambda p: judged(None, candidates="independent"), "candidates: means nothing without"),
        (
            lambda p: pv.gate(pv.compare(GOLD, OLD, NEW), "require-better", ledger=p),
            r"ledger: the comparison does not know its test set; expected what compare\(",
        ),
        (
            lambda p: pv.gate(
                pv.compare_datasets({"x": (GOLD, OLD, NEW)}), "require-better", ledger=p
            ),
            "ledger: counts the looks at one test set; expected no data sets",
        ),
        (
            lambda p: pv.compare(
                {"a": pv.Counts([5], [1], [1]), "b": pv.Counts([5], [1], [1])}, fingerprints=True
            ),
            "fingerprints: counts tell no test set",
        ),
        (lambda p: judged(3), "ledger: 3; expected a path"),
        (lambda p: judged(p, hide_scores="yes"), "hide_scores: 'yes'; expected True or False"),
    ],
)
def test_what_cannot_be_counted_is_refused(path, use, words):
    with pytest.raises(InputError, match=words):
        use(path)
    assert not path.exists() or not path.read_bytes()


def test_runs_and_groups_are_one_test_set(path):
    runs = {"old": [OLD, GOLD[:10] + OLD[10:]], "new": [NEW, NEW]}
    found = pv.compare(GOLD, runs, fingerprints=True)
    first = pv.gate(found, "require-not-worse", margin=0.5, ledger=path)[0]
    assert first.question == "procedures"
    assert judged(path).use.look == 2
    again = pv.gate(
        pv.compare(GOLD, runs, fingerprints=True), "require-not-worse", margin=0.5, ledger=path
    )
    assert again[0].use.repeated
    swapped = {"old": runs["old"][::-1], "new": runs["new"]}
    found = pv.compare(GOLD, swapped, fingerprints=True)
    assert (
        found.fingerprints.outputs["old"]
        != pv.compare(GOLD, runs, fingerprints=True).fingerprints.outputs["old"]
    )


# --- which test set is it? ------------------------------------------------------------------------


def fingerprints(gold, *systems, **how):
    return pv.compare(gold, *systems, fingerprints=True, examples=False, **how).fingerprints


def write(path, rows):
    path.write_text("\n\n".join("\n".join(" ".join(row) for row in s) for s in rows) + "\n")
    return path


def test_an_answer_in_another_form_is_the_same_test_set(tmp_path):
    lists = fingerprints(GOLD, OLD, NEW)
    words = [[f"w{i}" for i in range(3)]] * 60

    def columns(name, tags, extra=False):
        rows = [
            [(w, *(["x"] if extra else []), t) for w, t in zip(ws, ts, strict=True)]
            for ws, ts in zip(words, tags, strict=True)
        ]
        return write(tmp_path / name, rows)

    files = fingerprints(*(columns(n, t) for n, t in (("g", GOLD), ("o", OLD), ("n", NEW))))
    assert files.answer == lists.answer
    assert list(files.outputs.values()) == list(lists.outputs.values())
    wider = fingerprints(
        *(columns(f"{n}2", t, extra=True) for n, t in (("g", GOLD), ("o", OLD), ("n", NEW)))
    )
    assert wider.answer == lists.answer
    lines = []
    for name, tags in (("g", GOLD), ("o", OLD), ("n", NEW)):
        lines.append(tmp_path / f"{name}.jsonl")
        lines[-1].write_text(
            "".join(
                json.dumps({"tokens": w, "tags": t}) + "\n"
                for w, t in zip(words, tags, strict=True)
            )
        )
    assert fingerprints(*lines).answer == lists.answer
    scheme = [[t.replace("B-", "S-") for t in tags] for tags in GOLD]
    assert fingerprints(scheme, OLD, NEW).answer == lists.answer
    spans = [{(i, i + 1, t[2:]) for i, t in enumerate(tags) if t != "O"} for tags in GOLD]
    assert fingerprints(spans, spans, spans).answer == lists.answer


def test_another_order_of_sentences_is_the_same_test_set():
    order = np.random.default_rng(1).permutation(len(GOLD))
    mixed = [[side[i] for i in order] for side in (GOLD, OLD, NEW)]
    one, other = fingerprints(GOLD, OLD, NEW), fingerprints(*mixed)
    assert (one.answer, dict(one.outputs)) == (other.answer, dict(other.outputs))


def test_a_changed_answer_is_a_new_test_set_and_said(path):
    judged(path)
    changed = [list(tags) for tags in GOLD]
    changed[7][0] = "B-ORG"
    use = judged(path, gold=changed).use
    assert use.new
    assert use.look == 1
    assert "new to this ledger" in str(use)
    assert use.similar == read_ledger(path).sets[0].test_set
    assert len(read_ledger(path).sets) == 2


@pytest.mark.parametrize("sets", [False, True])
def test_labels_are_told_by_their_order(sets):
    gold = ["a", "b", "c", "a", "b", "c"] * 3
    other = ["b", "a", "c", "a", "b", "c"] * 3
    if sets:
        gold, other = ([[x, "d"] if x == "a" else [x] for x in side] for side in (gold, other))
    more = {"multilabel": True} if sets else {"positive": "a"}
    names = ["same", "other"]
    one = fingerprints(gold, gold, other, names=names, **more)
    turned = fingerprints(gold, other, gold, names=names[::-1], **more)
    assert one.answer == turned.answer
    assert one.outputs == turned.outputs
    assert one.outputs["same"] != one.outputs["other"]
    assert one.answer != fingerprints(other, gold, other, **more).answer
    if sets:
        backwards = [labels[::-1] for labels in gold]
        assert fingerprints(backwards, gold, other, **more).answer == one.answer


def test_words_are_told_by_where_they_end():
    gold, other = [["ab", "c"], ["d", "ef"]], [["a", "bc"], ["d", "ef"]]
    one = fingerprints(gold, gold, other, task="segmentation")
    assert one.answer == fingerprints(gold, other, gold, task="segmentation").answer
    assert one.answer != fingerprints(other, other, gold, task="segmentation").answer


def test_condensed_tables_are_told_by_their_labels(tmp_path):
    table = tmp_path / "table.csv"
    rows = [f"{'ab'[i % 2]},{'ab'[i % 3 % 2]},{'ab'[i % 5 % 2]},{i // 4}" for i in range(120)]
    read = {"gold_column": "gold", "columns": ("old", "new")}
    found = []
    for order in (rows, rows[::-1]):
        table.write_text("gold,old,new,doc\n" + "\n".join(order) + "\n")
        found += [
            fingerprints(table, **read, memory_limit="1GB"),
            fingerprints(table, **read, unit_column="doc", memory_limit="1GB"),
        ]
    assert [f.answer for f in found[:2]] == [f.answer for f in found[2:]]
    assert [dict(f.outputs) for f in found[:2]] == [dict(f.outputs) for f in found[2:]]
