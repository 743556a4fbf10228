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

import numpy as np
import pytest

import probative as pv
from probative.errors import InputError
from probative.inference.allowance import allowance
from probative.jobs import ledger as ledger_files
from probative.jobs.ledger import Question, read_ledger, record
from probative.results import Fingerprints
from probative.testing import assert_better, assert_not_worse

GOLD = [["B-PER", "O", "B-LOC"], ["B-LOC", "O", "O"]] * 30
OLD = [["B-PER", "O", "O"], ["O", "O", "B-PER"]] * 10 + GOLD[:40]
NEW = [["B-PER", "O", "O"], ["B-LOC", "O", "O"]] * 2 + GOLD[:56]


def asked(doubt=0.5, candidate="x", answer="a1b2c3d4", sketch=None, **more):
    """A question about a candidate."""
    sketch = tuple(f"{answer}{i}" for i in range(4)) if sketch is None else sketch
    test_set = Fingerprints(
        answer, f"{answer}?", "gold", 60, "sentence", "words", sketch, {"B": candidate}
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
    assert "use 1 again" in str(use)
    for other in ({"margin": 0.01}, {"metric": "recall"}, {"confidence": 0.9}, {"choices": "x"}):
        assert one(path, asked(0.01, "c1", **other))[1].repeated is None
    assert read_ledger(path).sets[0].looks == 6
    assert read_ledger(path).sets[0].uses == 7


def test_a_failure_is_repeated_too(path):
    assert not one(path, asked(0.03, "c1"))[0]
    one(path, asked(0.5, "c2"))
    passed, use = one(path, asked(0.03, "c1"))
    assert not passed
    assert (use.look, bool(use.repeated)) == (1, True)


def test_scores_that_were_shown_end_the_promise(path):
    _, first = one(path, asked(0.5, "c1", scores_shown=True))
    assert first.promised  # nobody had seen anything before
    _, second = one(path, asked(0.5, "c2"))
    assert not second.promised
    assert "no promise: scores were shown at 1 use before; 60 new sentences" in str(second)
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


def test_a_test_set_counts_as_the_one_that_has_half_of_its_units(path):
    one(path, asked(answer="first", sketch=("1", "2", "3", "4")))
    _, use = one(path, asked(answer="second", sketch=("1", "2", "5", "6")))
    assert (use.test_set, use.look, use.new, use.overlap) == ("first", 2, False, 0.5)
    assert "about 50 % of its units are those of test set first, so it counts as" in str(use)
    _, use = one(path, asked(answer="third", sketch=("1", "7", "8", "9")))
    assert (use.test_set, use.look, use.new, use.overlap) == ("third", 1, True, None)


def test_a_verdict_that_its_probability_contradicts_is_not_repeated(path):
    assert one(path, asked(0.01, "c1"))[0]
    passed, use = one(path, asked(0.06, "c1"))
    assert not passed
    assert (use.look, use.repeated) == (2, None)
    assert one(path, asked(0.01, "c1"))[1].look == 1


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
    assert {use.outputs for use in uses} == {f"{who}-{i}" for who in "ab" for i in range(50)}
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


@pytest.mark.slow
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
        there = [use.outputs for use in read_ledger(path).uses]
        assert there[: told + 1] == [f"c{i}" for i in range(told + 1)]
        told = len(there) - 1  # one may have been written and not told


_HALF = """
import os, signal, sys
sys.path.insert(0, {tests!r})
from probative.jobs import ledger
from test_ledger import asked, one
def half(file, end, uses):
    lines, _ = ledger._lines_of(uses, end.check)
    file.seek(end.size)
    file.write(lines[: len(lines) // 2])
    os.kill(os.getpid(), signal.SIGKILL)
ledger._append_uses = half
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
    assert "its last line is incomplete" in read.notes[0]
    _, use = one(path, asked(0.5, "next"))
    assert use.look == lines + 1
    assert "its last line is incomplete" in use.note
    assert [use.outputs for use in read_ledger(path).uses][-1] == "next"
    assert not read_ledger(path).notes


@pytest.mark.parametrize("tail", [b"\0" * 40, b"{", b'{"format": "probative ledger 1", "time'])
def test_every_torn_tail_is_set_aside(path, tail):
    append_many(path, "c", 2)
    whole = path.read_bytes()
    path.write_bytes(whole + tail)
    assert len(read_ledger(path).uses) == 2
    one(path, asked(0.5, "next"))
    assert path.read_bytes().splitlines()[1:3] == whole.splitlines()[1:]
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
    with pytest.raises(InputError, match="cannot be written: the disk is full"):
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
        (lambda lines: [lines[0], *lines[2:]], 2, "is damaged"),
        (lambda lines: [lines[0], lines[1], lines[1], *lines[2:]], 3, "is damaged"),
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


@pytest.mark.parametrize("cut", [1, 2, 4])
def test_a_cut_tail_is_an_error(path, cut):
    append_many(path, "c", 4)
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:-cut]))
    for use in (lambda: read_ledger(path), lambda: one(path, asked(0.5, "next"))):
        with pytest.raises(InputError, match="lines were cut from its end") as error:
            use()
        assert error.value.path == str(path)


def test_a_writer_killed_before_it_counts_its_line_has_written_it(path):
    append_many(path, "c", 3)
    head = path.read_bytes().splitlines(keepends=True)[0]
    one(path, asked(0.5, "last"))
    path.write_bytes(head + path.read_bytes()[len(head) :])
    assert [use.outputs for use in read_ledger(path).uses][-1] == "last"
    assert one(path, asked(0.5, "next"))[1].look == 5
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:-1]))
    with pytest.raises(InputError, match="has 4 uses of test sets, and had 5"):
        read_ledger(path)


def test_an_exchanged_last_line_is_an_error(path, tmp_path):
    append_many(path, "c", 4)
    other = tmp_path / "other.jsonl"
    append_many(other, "d", 4)
    lines = [p.read_bytes().splitlines(keepends=True) for p in (path, other)]
    path.write_bytes(b"".join([*lines[0][:-1], lines[1][-1]]))
    with pytest.raises(InputError, match="is damaged"):
        read_ledger(path)


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
    _, line = path.read_text(encoding="utf-8").splitlines()
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
    with pytest.raises(AssertionError, match=r"test set \w{8}, use 3, 2 passes before"):
        assert_better(GOLD, NEW, OLD, ledger=path)
    assert [use.look for use in read_ledger(path).uses] == [1, 2, 3]


@pytest.mark.parametrize(
    ("use", "words"),
    [
        (lambda p: judged(p, kind="fail-if-worse"), "ledger: limits how often .* expected require"),
        (lambda p: judged(p, candidates="x"), "candidates: unknown 'x'"),
        (lambda p: judged(None, candidates="independent"), "candidates: has no effect without"),
        (
            lambda p: pv.gate(pv.compare(GOLD, OLD, NEW), "require-better", ledger=p),
            r"ledger: the comparison has no fingerprint of its test set; expected the",
        ),
        (
            lambda p: pv.gate(
                pv.compare_datasets({"x": (GOLD, OLD, NEW)}), "require-better", ledger=p
            ),
            "ledger: counts the uses of one test set; expected no data sets",
        ),
        (
            lambda p: pv.compare(
                {"a": pv.Counts([5], [1], [1]), "b": pv.Counts([5], [1], [1])}, fingerprints=True
            ),
            "fingerprints: counts identify no test set",
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
        found.fingerprints.outputs["new"]
        != pv.compare(GOLD, runs, fingerprints=True).fingerprints.outputs["new"]
    )


def test_another_candidate_with_as_many_right_does_not_get_the_verdict_of_the_first(path):
    gold = [["B-PER", "O"]] * 100
    wrong = [["O", "O"]]
    old = gold[:60] + wrong * 40
    nested, spread = gold[:68] + wrong * 32, wrong * 30 + gold[:68] + wrong * 2
    first = judged(path, gold, old, nested)
    assert first.passed
    second = judged(path, gold, old, spread)
    assert second.probability < first.confidence
    assert not second.passed
    assert (second.use.look, second.use.repeated) == (2, None)


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


def test_a_changed_label_is_no_new_test_set(path):
    judged(path)
    changed = [list(tags) for tags in GOLD]
    changed[7][0] = "B-ORG"
    use = judged(path, gold=changed).use
    assert (use.new, use.look, use.overlap) == (False, 2, 1.0)
    assert use.test_set == read_ledger(path).sets[0].test_set
    assert len(read_ledger(path).sets) == 1


@pytest.mark.parametrize("sets", [False, True])
def test_labels_are_told_in_any_order_by_what_stands_together(sets):
    gold = ["a", "b", "c", "a", "b", "c"] * 3
    other = ["b", "a", "c", "a", "b", "c"] * 3
    if sets:
        gold, other = ([[x, "d"] if x == "a" else [x] for x in side] for side in (gold, other))
    more = {"multilabel": True} if sets else {"positive": "a"}
    one = fingerprints(gold, gold, other, **more)
    mixed = fingerprints(*(side[::-1] for side in (gold, gold, other)), **more)
    assert (one.answer, dict(one.outputs)) == (mixed.answer, dict(mixed.outputs))
    assert one.outputs != fingerprints(gold, gold, other[::-1], **more).outputs
    assert one.outputs != fingerprints(gold, other, gold, **more).outputs
    assert one.answer != fingerprints(gold[:-1], gold[:-1], other[:-1], **more).answer
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


def test_a_table_is_one_test_set_by_rows_and_by_the_engine(tmp_path, path):
    table = tmp_path / "table.csv"
    rows = [f"{'ab'[i % 2]},{'ab'[i % 3 % 2]},{'ab'[i % 5 % 2]},{i // 4},{'xy'[i % 7 % 2]}"
            for i in range(120)]  # fmt: skip
    table.write_text("gold,old,new,doc,lang\n" + "\n".join(rows) + "\n")
    read = {"gold_column": "gold", "columns": ("old", "new")}
    for more in ({}, {"unit_column": "doc"}, {"group": "lang"}):
        by_rows, counted = (
            fingerprints(table, **read, **more, **limit) for limit in ({}, {"memory_limit": "1GB"})
        )
        assert by_rows.answer == counted.answer
        assert by_rows.outputs == counted.outputs
    for number, more in enumerate(({}, {"memory_limit": "1GB"}, {"unit_column": "doc"}), 1):
        found = pv.compare(table, **read, **more, fingerprints=True)
        assert pv.gate(found, "require-better", ledger=path)[0].use.look <= number
    assert len(read_ledger(path).sets) == 1


def corpus(seed=1, sentences=200):
    """Sentences of words and tags in IOB2."""
    rng = np.random.default_rng(seed)
    made = []
    for _ in range(sentences):
        tags = ["O", "B-PER", "I-PER", "O", "B-LOC", "O", "B-PER", "O"][: rng.integers(3, 9)]
        rng.shuffle(tags)
        tags = [t if t[0] != "I" or i == 0 or tags[i - 1][2:] == "PER" else "O"
                for i, t in enumerate(tags)]  # fmt: skip
        tags = ["B-PER" if i == 0 and t == "I-PER" else t for i, t in enumerate(tags)]
        made.append([(f"w{rng.integers(400)}", tag) for tag in tags])
    return made


def _joined(made):
    return [one + other for one, other in zip(made[::2], made[1::2], strict=True)]


def _iob1(made):
    out = []
    for sentence in made:
        before, rows = "O", []
        for word, tag in sentence:
            split = tag[0] == "B" and before[2:] == tag[2:]
            rows.append((word, tag if tag == "O" or split else f"I-{tag[2:]}"))
            before = tag
        out.append(rows)
    return out


CHANGES = {
    "labels renamed": lambda made: [[(w, t.replace("PER", "P")) for w, t in s] for s in made],
    "sentences joined": _joined,
    "one sentence added": lambda made: [*made, [("new", "B-LOC"), ("one", "O")]],
    "one sentence removed": lambda made: made[:70] + made[71:],
    "IOB1": _iob1,
    "a label mended": lambda made: [made[0], [(made[1][0][0], "B-ORG"), *made[1][1:]], *made[2:]],
    "half of it": lambda made: made[:100],
}


@pytest.mark.parametrize("text", [True, False])
@pytest.mark.parametrize("change", CHANGES)
def test_a_test_set_in_disguise_has_no_fresh_allowance(tmp_path, path, change, text):
    def files(made, name):
        if not text:
            return [[t for _, t in s] for s in made]
        return write(tmp_path / name, made)

    def spoilt(made, every):
        return [[(w, "O") for w, _ in s] if i % every == 0 else s for i, s in enumerate(made)]

    for number, made in enumerate((corpus(), CHANGES[change](corpus()))):
        sides = [files(spoilt(made, every), f"{number}-{every}.conll") for every in (10**6, 3, 5)]
        use = judged(path, *sides).use
    assert use.look == 2
    assert not use.new
    assert use.overlap is None or use.overlap >= 0.5
    if change != "IOB1":
        assert "of its units are those of test set" in str(use)
        assert "it counts as the same" in str(use)
    assert len(read_ledger(path).sets) == 1


@pytest.mark.parametrize("text", [True, False])
def test_another_corpus_is_another_test_set(tmp_path, path, text):
    for seed in (1, 2):
        made = corpus(seed)
        tags = [[t for _, t in s] for s in made]
        gold = write(tmp_path / f"{seed}.conll", made) if text else tags
        empty = [["O"] * len(s) for s in tags]
        sides = [
            write(tmp_path / f"{seed}-{i}.conll", [
                [(w, t) for (w, _), t in zip(s, own, strict=True)]
                for s, own in zip(made, side, strict=True)
            ]) if text else side
            for i, side in enumerate((empty[:50] + tags[50:], empty[:20] + tags[20:]))
        ]  # fmt: skip
        use = judged(path, gold, *sides).use
    assert use.new
    assert use.look == 1
    assert len(read_ledger(path).sets) == 2


@pytest.mark.parametrize(
    ("change", "same"),
    [
        (lambda y: ["yes" if v == "1" else "no" for v in y], True),
        (lambda y: y[:-1], True),
        (lambda y: y[::-1], True),
        (lambda y: [*y[:40], "0", *y[40:]], True),
        (lambda y: np.random.default_rng(9).choice(["0", "1"], len(y)).tolist(), False),
    ],
)
def test_labels_in_disguise(path, change, same):
    def sides(y):
        turned = {"0": "1", "1": "0", "yes": "no", "no": "yes"}
        return [[turned[v] if k and i % k == 0 else v for i, v in enumerate(y)] for k in (0, 3, 5)]

    labels = np.random.default_rng(3).choice(["0", "1"], 300).tolist()
    judged(path, *sides(labels))
    changed = change(labels)
    how = {"positive": "yes" if "yes" in changed else "1"}
    assert judged(path, *sides(changed), how=how).use.new is not same


def test_texts_tell_sets_of_equally_many_labels_apart(tmp_path, path):
    for name in ("first", "second"):
        table = tmp_path / f"{name}.csv"
        rows = [f"{name} {i},{'ab'[i % 2]},{'ab'[i % 3 % 2]},{'ab'[i % 5 % 2]}" for i in range(90)]
        table.write_text("text,gold,old,new\n" + "\n".join(rows) + "\n")
        found = pv.compare(table, gold_column="gold", columns=("old", "new"), fingerprints=True)
        use = pv.gate(found, "require-better", ledger=path)[0].use
    assert use.new
    assert len(read_ledger(path).sets) == 2


def _texts(seed):
    """Texts of words, and the words that are names, by their characters."""
    rng = np.random.default_rng(seed)
    texts, names = [], []
    for _ in range(60):
        words = ["".join(rng.choice(list("abcdefg"), rng.integers(2, 7))) for _ in range(12)]
        ends = np.cumsum([len(word) + 1 for word in words]) - 1
        texts.append(" ".join(words))
        names.append([(int(ends[i]) - len(words[i]), int(ends[i])) for i in range(0, 12, 4)])
    return texts, names


@pytest.mark.parametrize("kind", ["characters", "segmentation", "tokens", "multilabel"])
def test_every_kind_of_test_set_is_known_again(tmp_path, path, kind):
    def sides(seed, changed):
        texts, names = _texts(seed)
        rows = texts[:-1] if changed else texts
        label = "P" if changed else "PER"
        if kind == "multilabel":
            rng = np.random.default_rng(seed)
            every = [[x for x in "abcde" if rng.random() < 0.4] for _ in range(300)]
            every = every[:-1] if changed else every
            return [[["b"] if k and i % k == 0 else own for i, own in enumerate(every)]
                    for k in (0, 3, 5)]  # fmt: skip
        made = []
        for k in (0, 3, 5):
            own = tmp_path / f"{seed}-{changed}-{k}.{'jsonl' if kind == 'characters' else 'txt'}"
            lines = []
            for i, (text, spans) in enumerate(zip(rows, names, strict=False)):
                wrong = k and i % k == 0
                if kind == "characters":
                    found = [] if wrong else [{"start": s, "end": e, "label": label}
                                              for s, e in spans]  # fmt: skip
                    lines.append(json.dumps({"text": text, "spans": found}))
                elif kind == "segmentation":
                    lines.append(text.replace(" ", "", 1) if wrong else text)
                else:
                    tag = ["X" if wrong else "NV"[len(w) % 2] for w in text.split()]
                    pairs = zip(text.split(), tag, strict=True)
                    lines += [*(f"{w} {t}" for w, t in pairs), ""]
            own.write_text("\n".join(lines) + "\n")
            made.append(own)
        return made

    how = {
        "characters": {},
        "segmentation": {"task": "segmentation"},
        "tokens": {"task": "labels"},
        "multilabel": {"multilabel": True},
    }[kind]
    uses = [judged(path, *sides(*one), how=how).use for one in ((1, 0), (1, 1), (2, 0))]
    assert [use.new for use in uses] == [True, False, True]
    assert uses[1].overlap >= 0.9
