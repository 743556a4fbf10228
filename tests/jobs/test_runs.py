"""Several runs per system, from files, lists, frames, tables and counts: one face, same numbers."""

from __future__ import annotations

import json
import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from inference.of_scores import compare_runs

import probative as pv
from probative.errors import InputError
from probative.reading.annotations import labels_from_array, tagged_from_lists
from probative.reading.runs import find_runs, natural_order, numbered_siblings, runs_of

TYPES = ("PER", "LOC")


def tags(seed: int, sentences: int = 60) -> list[list[str]]:
    rng = np.random.default_rng(seed)
    return [
        [str(rng.choice(("O", "O", "B-PER", "B-LOC"))) for _ in range(rng.integers(2, 8))]
        for _ in range(sentences)
    ]


GOLD = tags(1)


def run(seed: int, error: float, gold: list[list[str]] | None = None) -> list[list[str]]:
    """The answer with every tag changed at random with this probability."""
    rng = np.random.default_rng(seed)
    every = ("O", "B-PER", "B-LOC")
    return [
        [str(rng.choice(every)) if rng.random() < error else tag for tag in sentence]
        for sentence in (gold or GOLD)
    ]


A = [run(seed, 0.30) for seed in (11, 12, 13)]
B = [run(seed, 0.20) for seed in (21, 22, 23, 24)]


def spans(sentence: list[str]) -> set[tuple[int, str]]:
    return {(i, tag[2:]) for i, tag in enumerate(sentence) if tag != "O"}


def counts(output: list[list[str]]) -> pv.Counts:
    """The counts of every sentence, by sets; no code of the library in between."""
    rows = []
    for gold, own in zip(GOLD, output, strict=True):
        answer, said = spans(gold), spans(own)
        rows.append((len(answer & said), len(said - answer), len(answer - said)))
    return pv.Counts(*np.array(rows).T)


def write(path: Path, sentences: list[list[str]]) -> str:
    blocks = ("".join(f"w{i} {tag}\n" for i, tag in enumerate(s)) for s in sentences)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(blocks), encoding="utf-8")
    return str(path)


@pytest.fixture
def folder(tmp_path):
    write(tmp_path / "gold.conll", GOLD)
    for name, runs in (("a", A), ("b", B)):
        for number, output in enumerate(runs, start=1):
            write(tmp_path / name / f"{number}.conll", output)
    return tmp_path


def numbers(result) -> list[tuple]:
    """What must not depend on the way by which the runs came in."""
    return [
        (c.question, c.difference, c.pvalue, c.low, c.high, c.p_b_better, c.p_new_run_better or 0)
        for c in result.comparisons
    ]


def paths(folder: Path, name: str) -> list[Path]:
    return sorted((folder / name).iterdir())


# --- the same numbers -------------------------------------------------------------------------


def test_both_questions_are_answered_from_the_counts_of_every_run():
    result = pv.compare(GOLD, {"A": A, "B": B})
    models, procedures = result.comparisons
    own = compare_runs([counts(r) for r in A], [counts(r) for r in B])
    assert (models.question, procedures.question) == ("models", "procedures")
    assert models.pvalue == pytest.approx(own.models.pvalue, rel=1e-12)
    assert models.difference == pytest.approx(own.models.estimate, rel=1e-12)
    assert procedures.difference == pytest.approx(own.procedures.estimate, rel=1e-12)
    assert procedures.p_new_run_better == pytest.approx(own.procedures.p_new_run_better, rel=1e-9)
    assert procedures.variance.shares == pytest.approx(own.procedures.variance.shares)
    assert models.runs == procedures.runs == {"A": 3, "B": 4}
    for scores, runs in zip(result.run_scores[2::3], (A, B), strict=True):
        f1 = [2 * c.tp / (2 * c.tp + c.fp + c.fn) for c in (counts(r).sum() for r in runs)]
        assert scores.metric == "f1"
        assert scores.scores == pytest.approx(f1)
        assert scores.mean == pytest.approx(np.mean(f1))
        assert scores.spread == pytest.approx(np.std(f1, ddof=1))
        assert (scores.worst, scores.best) == (min(scores.scores), max(scores.scores))


def test_files_and_lists_give_the_same_numbers(folder):
    from_lists = pv.compare(GOLD, {"A": A, "B": B})
    as_paths = {"A": paths(folder, "a"), "B": paths(folder, "b")}
    from_files = pv.compare(folder / "gold.conll", as_paths)
    as_text = {name: [str(p) for p in own] for name, own in as_paths.items()}
    assert numbers(from_files) == numbers(from_lists)
    assert numbers(pv.compare(str(folder / "gold.conll"), as_text)) == numbers(from_lists)
    # one after the other, with names
    assert numbers(pv.compare(GOLD, A, B, names=["A", "B"])) == numbers(from_lists)


def test_counts_give_the_same_tests_and_the_same_answer_about_procedures():
    by_counts = pv.compare({"A": [counts(r) for r in A], "B": [counts(r) for r in B]})
    by_tags = pv.compare(GOLD, {"A": A, "B": B})
    assert [c.question for c in by_counts.comparisons] == ["models", "procedures"]
    for one, other in zip(by_counts.comparisons, by_tags.comparisons, strict=True):
        assert one.pvalue == pytest.approx(other.pvalue)
        assert one.difference == pytest.approx(other.difference)
    one, other = (found.comparisons[1] for found in (by_counts, by_tags))
    assert one.p_new_run_better == pytest.approx(other.p_new_run_better)
    assert by_counts.task == "counts"


@settings(max_examples=10, deadline=None)
@given(st.permutations(range(3)), st.permutations(range(4)))
def test_the_order_of_runs_does_not_matter(of_a, of_b):
    usual = pv.compare(GOLD, {"A": A, "B": B})
    mixed = pv.compare(GOLD, {"A": [A[i] for i in of_a], "B": [B[i] for i in of_b]})
    for one, other in zip(numbers(usual), numbers(mixed), strict=True):
        assert one[0] == other[0]
        assert one[1:6] == pytest.approx(other[1:6], rel=1e-9)


def test_paired_runs_are_paired_in_order():
    shared = [run(seed, 0.3) for seed in (1, 2, 3)]
    better = [run(seed, 0.1, gold=GOLD) for seed in (4, 5, 6)]
    paired = pv.compare(GOLD, {"A": shared, "B": better}, paired_runs=True)
    swapped = pv.compare(GOLD, {"A": shared, "B": better[::-1]}, paired_runs=True)
    one, other = paired.comparisons[1], swapped.comparisons[1]
    assert one.pairs == (("run 1", "run 1"), ("run 2", "run 2"), ("run 3", "run 3"))
    assert one.standard_error != other.standard_error
    assert paired.comparisons[0].pvalue == swapped.comparisons[0].pvalue
    with pytest.raises(
        InputError, match="paired_runs: 3 runs of A, but 4 of B; expected the same number"
    ):
        pv.compare(GOLD, {"A": A, "B": B}, paired_runs=True)


def test_one_run_each_is_the_plain_comparison_with_a_note(folder):
    files = [paths(folder, name)[0] for name in ("a", "b")]
    plain = pv.compare(folder / "gold.conll", *files, names=["A", "B"])
    alone = pv.compare(folder / "gold.conll", {"A": files[:1], "B": files[1:]})
    assert len(alone.comparisons) == 1
    (one,), (other,) = alone.comparisons, plain.comparisons
    assert (one.question, one.runs) == ("models", {"A": 1, "B": 1})
    for name in ("difference", "low", "high", "pvalue", "p_b_better", "design_effect"):
        assert getattr(one, name) == getattr(other, name)
    assert [s.estimate for s in alone["A"].scores] == [s.estimate for s in plain["A"].scores]
    assert "One run each does not show whether training again" in alone.verdicts[0]
    assert any("does not show how other runs would score" in note for note in alone.notes)


def test_one_run_beside_several_has_no_answer_about_procedures():
    result = pv.compare(GOLD, {"A": A[:1], "B": B})
    assert [c.question for c in result.comparisons] == ["models"]
    assert "One run of A does not show whether training again" in result.verdicts[0]
    (verdict,) = pv.gate(result, "require-better")
    assert not verdict.passed
    assert "new runs cannot be judged" in str(verdict)


def test_labels_frames_and_tables_with_a_run_column_agree(tmp_path):
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(3)
    n, runs = 80, 3
    gold = rng.choice(["x", "y", "z"], n)

    def said(error):
        wrong = rng.random(n) < error
        return np.where(wrong, rng.choice(["x", "y", "z"], n), gold)

    old, new = [said(0.4) for _ in range(runs)], [said(0.2) for _ in range(runs)]
    lists = pv.compare(gold, {"old": old, "new": new})
    assert lists.comparisons[0].metric == "accuracy"
    assert lists.by == "item"
    frame = pd.concat(
        pd.DataFrame({"y": gold, "old": old[k], "new": new[k], "seed": 10 - k, "id": range(n)})
        for k in range(runs)
    )
    how = {"gold_column": "y", "columns": ["old", "new"], "run_column": "seed"}
    frames = pv.compare(frame, **how)
    table = tmp_path / "runs.csv"
    frame.to_csv(table, index=False)
    tables = pv.compare(table, **how)
    for one, *others in zip(numbers(lists), numbers(frames), numbers(tables), strict=True):
        for other in others:
            assert one[0] == other[0]
            assert one[1:] == pytest.approx(other[1:], rel=1e-9)
    # shuffled rows are found by their unit; without one, runs that differ are refused
    mixed = frame.sample(frac=1, random_state=1)
    found = pv.compare(mixed, unit_column="id", **how)
    assert numbers(found)[1][1:4] == pytest.approx(numbers(lists)[1][1:4], rel=1e-9)
    with pytest.raises(InputError, match="expected the same items in every run"):
        pv.compare(mixed, **how)
    short = frame[~((frame.seed == 9) & (frame.id == 5))]
    with pytest.raises(InputError, match="run '9' has 79 rows, but run '8' has 80"):
        pv.compare(short, **how)


def test_runs_in_a_table_of_each_system(tmp_path):
    gold = ["x", "y", "x", "y", "x", "y"] * 5
    rng = np.random.default_rng(2)
    lines = {"a": ["pred,seed"], "b": ["pred,seed"]}
    runs = {"a": [], "b": []}
    for name, error in (("a", 0.4), ("b", 0.2)):
        for seed in (1, 2, 3):
            own = ["x" if rng.random() < error else label for label in gold]
            runs[name].append(own)
            lines[name] += [f"{label},{seed}" for label in own]
        (tmp_path / f"{name}.csv").write_text("\n".join(lines[name]) + "\n", encoding="utf-8")
    (tmp_path / "gold.csv").write_text("\n".join(["gold", *gold]) + "\n", encoding="utf-8")
    files = pv.compare(
        *(tmp_path / f"{name}.csv" for name in ("gold", "a", "b")), run_column="seed"
    )
    assert numbers(files) == numbers(pv.compare(gold, runs))


def test_segmentations_have_runs_too():
    gold = [["to", "be", "or", "not"], ["that", "is", "it"]] * 12
    glued = [["tobe", "or", "not"], ["that", "is", "it"]] * 12
    mixed = gold[:9] + glued[9:]
    result = pv.compare(gold, {"A": [glued, mixed], "B": [gold, mixed]}, task="segmentation")
    assert result.comparisons[0].metric == "recall"
    assert [c.question for c in result.comparisons] == ["models", "procedures"]
    # runs of whole sentences as texts
    texts = {
        name: [[" ".join(s) for s in run_] for run_ in runs]
        for name, runs in (("A", [glued, mixed]), ("B", [gold, mixed]))
    }
    assert numbers(pv.compare(gold, texts, task="segmentation")) == numbers(result)


def test_many_systems_are_compared_with_the_first_and_p_is_adjusted_by_question():
    result = pv.compare(GOLD, {"A": A, "B": B, "C": [run(s, 0.25) for s in (31, 32)]})
    assert [(c.b, c.question) for c in result.comparisons] == [
        (b, q) for b in ("B", "C") for q in ("models", "procedures")
    ]
    for question in ("models", "procedures"):
        own = [c for c in result.comparisons if c.question == question]
        smallest = min(own, key=lambda c: c.pvalue)
        assert smallest.p_adjusted == pytest.approx(min(1, 2 * smallest.pvalue))
    assert len(result.verdicts) == 2
    assert "to show how much runs differ" in result.verdicts[1]


# --- ranks and scores -------------------------------------------------------------------------


def test_ranks_are_those_of_pooled_counts():
    runs = {"A": A, "B": B}
    ranking = pv.rank(GOLD, runs)
    models = pv.compare(GOLD, runs).comparisons[0]
    assert ranking.pairs[0].pvalue == pytest.approx(models.pvalue, rel=1e-9)
    assert ranking.ranking[0].name == "B"
    assert "ranks of the trained models" in ranking.summary
    assert [len(ranking.runs_of(name, "f1")) for name in runs] == [3, 4]
    by_counts = pv.rank({name: [counts(r) for r in own] for name, own in runs.items()})
    assert by_counts.pairs[0].pvalue == pytest.approx(models.pvalue, rel=1e-9)
    assert by_counts.ranking[0].estimate == pytest.approx(ranking.ranking[0].estimate)


def test_repeats_of_a_sample_are_a_cluster():
    gold = [["B-PER", "O"], ["O", "B-LOC"]] * 40
    one = run(5, 0.3, gold)
    single = pv.score(gold, one)["pred"]["f1"]
    copied = pv.score(gold, {"M": [one] * 4})["M"]["f1"]
    # the same answers four times tell nothing more
    assert copied.estimate == pytest.approx(single.estimate)
    assert copied.high - copied.low == pytest.approx(single.high - single.low, rel=0.02)
    several = pv.score(gold, {"M": [run(s, 0.3, gold) for s in (5, 6, 7, 8)]})["M"]["f1"]
    assert several.high - several.low < single.high - single.low
    # the same from a table with one row per repeat, whose unit is the sample
    labels = ["x", "y"] * 30
    rng = np.random.default_rng(4)
    repeats = [["x" if rng.random() < 0.3 else g for g in labels] for _ in range(3)]
    lists = pv.score(labels, {"M": repeats})["M"]["accuracy"]
    flat = {"y": labels * 3, "M": [said for own in repeats for said in own], "id": [*range(60)] * 3}
    pd = pytest.importorskip("pandas")
    table = pv.score(pd.DataFrame(flat), gold_column="y", columns=["M"], unit_column="id")
    assert (lists.low, lists.high) == pytest.approx(
        (table["M"]["accuracy"].low, table["M"]["accuracy"].high)
    )


# --- what is a run ----------------------------------------------------------------------------


def test_depth_tells_a_run_from_a_sentence(tmp_path):
    sequences = tagged_from_lists("gold", GOLD)
    labels = labels_from_array("gold", ["x", "y"])
    assert runs_of(GOLD, sequences) is None
    assert len(runs_of([GOLD, GOLD], sequences)) == 2
    assert runs_of([set(), {(0, 1, "PER")}], sequences) is None
    assert len(runs_of([[set(), set()], [set(), {(0, 1, "PER")}]], sequences)) == 2
    assert runs_of([[(0, 1, "PER")], []], sequences) is None
    assert runs_of([[], ["O"]], sequences) is None
    assert runs_of(["x", "y"], labels) is None
    assert len(runs_of([["x", "y"]], labels)) == 1
    assert runs_of(np.array([["x", "y"]] * 3), labels) is None  # or columns of classes
    assert runs_of([0, 1], labels) is None
    assert runs_of([], labels) is None
    file = tmp_path / "x"
    file.write_text("x\n", encoding="utf-8")
    assert runs_of([str(file)], labels, ["x"]) is None
    assert len(runs_of([str(file), str(file)], labels, str(file))) == 2


def test_labels_are_never_looked_up_on_disk(tmp_path, monkeypatch):
    gold, pred = ["yes", "no", "yes", "no", "yes"], ["yes", "no", "no", "no", "yes"]
    plain = pv.score(gold, pred)[0]["f1"].estimate
    for name in ("yes", "no"):
        (tmp_path / name).write_text("\n".join(gold), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    asked = []
    stat = os.stat

    def watched(path, *more, **how):
        asked.append(path)
        return stat(path, *more, **how)

    monkeypatch.setattr(os, "stat", watched)
    assert pv.score(gold, pred)[0]["f1"].estimate == plain == 0.8
    assert pv.compare(gold, pred, gold).systems[0]["f1"].estimate == 0.8
    assert not [path for path in asked if str(path) in ("yes", "no")]


@pytest.mark.parametrize("form", [str, Path])
def test_files_beside_data_are_refused(tmp_path, monkeypatch, form):
    monkeypatch.chdir(tmp_path)
    Path("gold.txt").write_text("yes\nno\n", encoding="utf-8")
    Path("pred.txt").write_text("yes\nyes\n", encoding="utf-8")
    labels, file, run = ["yes", "no"], form("gold.txt"), form("pred.txt")
    for system in (run, [Path("pred.txt"), Path("pred.txt")], [Path("pred.txt"), labels]):
        with pytest.raises(InputError, match=r"pred.txt: is a file, but gold is data; expected"):
            pv.score(labels, system)
    for system in (np.array(labels), [labels, labels], [1, 0]):
        with pytest.raises(InputError, match=r"pred: is data, but gold is the file 'gold.txt'"):
            pv.score(file, system)
    with pytest.raises(InputError, match=r"yes: there is no such file, and gold is a file"):
        pv.score(file, labels)
    assert len(pv.score(file, [run, run]).runs_of("pred", "f1")) == 2
    assert pv.score(file, run)[0]["f1"].estimate == pytest.approx(2 / 3)


def test_patterns_are_expanded_in_natural_order(tmp_path):
    for number in (1, 2, 10):
        (tmp_path / f"run-{number}.txt").write_text("x\n", encoding="utf-8")
    (tmp_path / ".hidden").write_text("x\n", encoding="utf-8")
    wanted = tuple(str(tmp_path / f"run-{n}.txt") for n in (1, 2, 10))
    assert find_runs([f"A={tmp_path}/*.txt"])["A"] == wanted
    assert find_runs([f"A={tmp_path}"])["A"] == wanted
    added = find_runs([f"A={wanted[2]}", f"B={wanted[0]}", f"A={wanted[1]}"])
    assert added == {"A": wanted[:0:-1], "B": wanted[:1]}
    assert find_runs([f"A={tmp_path}"], beside=wanted[0])["A"] == wanted[1:]
    assert numbered_siblings(wanted[0]) == 2
    assert numbered_siblings("nowhere/1.txt") == 0
    assert sorted(["10", "9", "a2", "a10"], key=natural_order) == ["9", "10", "a2", "a10"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["a/*.conll"], r"runs: 'a/\*.conll'; expected NAME=FILES"),
        (["=x"], "expected NAME=FILES"),
        (["A=nothing/*.conll"], "no file matches this pattern"),
        (["A=nothing.conll"], "there is no such file"),
        (["A=a", "B=a/2.conll"], "a/2.conll: is run 2 of A and run 1 of B; expected each file"),
    ],
)
def test_bad_patterns_are_one_line(folder, monkeypatch, words, message):
    monkeypatch.chdir(folder)
    with pytest.raises(InputError, match=message) as error:
        find_runs(words)
    assert "\n" not in str(error.value)


def test_a_run_with_missing_sentences_is_named_with_the_sentence(folder):
    write(folder / "b" / "2.conll", B[1][:7] + B[1][8:])
    missing = r"b/2.conll.*59 sentences, but .*gold.conll has 60; .* sentence \d+ .*\(run 2 of B\)$"
    with pytest.raises(InputError, match=missing):
        pv.compare(folder / "gold.conll", {"A": paths(folder, "a"), "B": paths(folder, "b")})
    with pytest.raises(InputError, match="pred 2, run 2"):
        pv.compare(GOLD, {"A": A, "B": [B[0], B[1][:7]]})


def test_a_run_with_another_answer_in_it_is_refused(folder):
    def three(path, own, said):
        lines = (
            "".join(f"w{i} {g} {t}\n" for i, (g, t) in enumerate(zip(one, two, strict=True)))
            for one, two in zip(own, said, strict=True)
        )
        path.write_text("\n".join(lines), encoding="utf-8")

    gold = folder / "gold.conll"
    systems = {"A": paths(folder, "a"), "B": paths(folder, "b")}
    usual = numbers(pv.compare(gold, systems))
    three(folder / "b" / "3.conll", GOLD, B[2])
    assert numbers(pv.compare(gold, systems)) == usual
    other = [list(s) for s in GOLD]
    other[4][0] = "B-LOC" if other[4][0] != "B-LOC" else "B-PER"
    three(folder / "b" / "3.conll", other, B[2])
    with pytest.raises(InputError, match=r"b/3.conll:\d+: holds other gold, '.*' for"):
        pv.compare(gold, systems)


# --- what is said -----------------------------------------------------------------------------


def test_the_two_claims_are_kept_apart_and_cautions_are_given():
    result = pv.compare(GOLD, {"A": A, "B": B})
    words = result.verdicts[0]
    assert words.startswith("These models, three of A and four of B: B scores ")
    assert "training B again would beat A is" in words
    assert "A new run of B would beat a new run of A with probability" in words
    # worse runs of the better system than of the other: the ranges overlap
    mixed = pv.compare(GOLD, {"A": [*A, B[0]], "B": [*B, A[0]]})
    assert "The best run of A beats the worst of B" in mixed.verdicts[0]
    reverse = pv.compare(GOLD, {"A": B, "B": A})
    assert "training A again would beat B" in reverse.verdicts[0]


def test_never_stronger_than_the_numbers():
    near = [run(seed, 0.3) for seed in (51, 52, 53)]
    result = pv.compare(GOLD, {"A": A, "B": near})
    procedures = result.comparisons[1]
    assert procedures.pvalue > 0.05
    assert "is not established: mean difference" in result.verdicts[0]
    for one, other in ((A, B), (A, near)):
        models, procedures = pv.compare(GOLD, {"A": one, "B": other}).comparisons
        assert procedures.pvalue >= models.pvalue
        assert abs(procedures.p_b_better - 0.5) <= abs(models.p_b_better - 0.5) + 1e-12
        assert procedures.high - procedures.low >= models.high - models.low - 1e-12


def test_hints_of_runs_that_were_picked(folder, tmp_path):
    gold = folder / "gold.conll"
    alone = pv.compare(gold, {"A": [folder / "a/1.conll"], "B": paths(folder, "b")})
    assert any("2 more beside it differ from its name by a number" in note for note in alone.notes)
    best = write(tmp_path / "c" / "best.conll", B[0])
    named = pv.compare(gold, {"A": paths(folder, "a"), "B": [Path(best)]})
    assert any("called best" in note for note in named.notes)
    assert not any("best" in n or "beside" in n for n in pv.compare(GOLD, {"A": A, "B": B}).notes)


def test_a_plain_comparison_hints_at_runs_too(folder):
    gold = folder / "gold.conll"
    picked = pv.compare(gold, folder / "a/1.conll", folder / "b/2.conll")
    assert sum("differ from its name by a number alone" in note for note in picked.notes) == 2
    # numbered files of one folder are systems, as a rule
    shared = pv.compare(gold, folder / "b/1.conll", folder / "b/2.conll")
    assert not any("number alone" in note for note in shared.notes)
    best = [write(folder / f"best-{name}.conll", own[0]) for name, own in (("a", A), ("b", B))]
    assert sum("is called best" in note for note in pv.compare(gold, *best).notes) == 2
    other = write(folder / "bestiary.conll", A[0])
    notes = pv.compare(gold, other, best[1]).notes
    assert [note for note in notes if "called best" in note and "bestiary" in note] == []


def test_kinds_of_items_are_scored_over_all_runs():
    result = pv.compare(GOLD, {"A": A, "B": B}, buckets=True)
    everything = result.comparisons[0]
    for kind in {bucket.kind for bucket in result.buckets}:
        own = [bucket for bucket in result.buckets if bucket.kind == kind]
        assert sum(bucket.items for bucket in own) == everything.positives
        for bucket in own:
            assert [score.system for score in bucket.scores] == ["A", "B"]
            for gap in bucket.differences:
                assert gap.low <= gap.difference <= gap.high
    assert pv.compare(GOLD, {"A": A, "B": B}).buckets is None
    # copies of a run are on items of each kind what the run is
    copies = pv.compare(GOLD, {"A": [A[0]] * 2, "B": [B[0]] * 2}, buckets=True)
    plain = pv.compare(GOLD, A[0], B[0], buckets=True)
    for one, other in zip(copies.buckets, plain.buckets, strict=True):
        assert (one.kind, one.bucket, one.items) == (other.kind, other.bucket, other.items)
        for mine, its in zip(one.scores, other.scores, strict=True):
            assert mine.estimate == pytest.approx(its.estimate)
        assert one.differences[0].low == pytest.approx(other.differences[0].low, abs=0.01)


def test_identical_runs_are_said():
    result = pv.compare(GOLD, {"A": [A[0], A[1], A[0]], "B": B})
    assert any("A: run 1 and run 3 gave identical outputs" in note for note in result.notes)
    same = pv.compare(GOLD, {"A": A, "B": A})
    assert "gave identical outputs" in same.verdicts[0]
    assert all(c.identical for c in same.comparisons)


def test_gates_ask_about_new_runs():
    result = pv.compare(GOLD, {"A": A, "B": B})
    (verdict,) = pv.gate(result, "require-better")
    procedures = result.comparisons[1]
    assert verdict.question == "procedures"
    assert verdict.probability == pytest.approx(procedures.p_b_better)
    assert "F1 of new runs: P(B − A > 0" in str(verdict)
    (strict,) = pv.gate(result, "require-better", margin=0.5)
    assert not strict.passed
    (safe,) = pv.gate(result, "require-not-worse", margin=0.5)
    assert safe.passed


def test_json_keeps_the_contract():
    result = pv.compare(GOLD, {"A": A, "B": B}, rope=0.01)
    content = json.loads(json.dumps(result.to_dict(), allow_nan=False))
    models, procedures = content["comparisons"]
    assert models["question"] == "models"
    assert procedures["question"] == "procedures"
    assert procedures["runs"] == {"A": 3, "B": 4}
    assert {"units", "runs_a", "runs_b", "interaction", "shares"} <= procedures["variance"].keys()
    assert 0 <= procedures["p_new_run_better"] <= 1
    assert 0 <= procedures["companions"]["permutation_pvalue"] <= 1
    assert models["variance"] is models["p_new_run_better"] is None
    (first, *_) = content["run_scores"]
    assert first["runs"] == ["run 1", "run 2", "run 3"]
    total = procedures["p_a_better"] + procedures["p_equivalent"] + procedures["p_b_better"]
    assert total == pytest.approx(1)
    plain = pv.compare(GOLD, A[0], B[0]).to_dict()
    assert not {"run_scores"} & plain.keys()
    assert not {"question", "runs", "variance", "pairs"} & plain["comparisons"][0].keys()


def test_records_are_flat_and_tell_shares():
    models, procedures = pv.compare(GOLD, {"A": A, "B": B}).records()
    assert (models["runs_of_a"], models["runs_of_b"]) == (3, 4)
    assert "share_of_units" not in models
    shares = [
        procedures[f"share_of_{name}"] for name in ("units", "runs_a", "runs_b", "interaction")
    ]
    assert sum(shares) == pytest.approx(1)


def test_runs_are_called_after_what_tells_them_apart(tmp_path):
    gold = write(tmp_path / "gold.conll", GOLD)
    by_folder = [Path(write(tmp_path / f"seed-{k}" / "test.conll", A[k])) for k in range(3)]
    by_name = [Path(write(tmp_path / "b" / f"r{k}.conll", B[k])) for k in range(3)]
    same = [Path(write(tmp_path / f"x{k}" / "c" / "test.conll", B[k])) for k in range(3)]
    found = pv.compare(gold, {"A": by_folder, "B": by_name, "C": same})
    called = {own.system: own.runs for own in found.run_scores}
    assert called["A"] == ("seed-0", "seed-1", "seed-2")
    assert called["B"] == ("r0", "r1", "r2")
    assert called["C"] == ("run 1", "run 2", "run 3")


def test_frames_and_documents_have_runs_too():
    pd = pytest.importorskip("pandas")
    gold = ["x", "y", "y", "x"] * 10
    runs = {
        name: [["x" if (i * k) % m == 0 else g for i, g in enumerate(gold)] for k in (1, 2, 3)]
        for name, m in (("A", 3), ("B", 5))
    }
    frames = {
        name: [pd.DataFrame({"said": own}) for own in outputs] for name, outputs in runs.items()
    }
    answer = pd.DataFrame({"y": gold})
    found = pv.compare(answer, frames, gold_column="y", columns=["said"])
    assert numbers(found) == numbers(pv.compare(gold, runs))


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"by": "item"}, "by: what several runs say of an item is not independent"),
        ({"level": 2}, "level"),
    ],
)
def test_what_several_runs_cannot_have_is_refused(how, message):
    with pytest.raises(InputError, match=message):
        pv.compare(GOLD, {"A": A, "B": B}, **how)


def test_a_metric_of_counts_that_is_named_twice_counts_once():
    systems = {
        name: pv.Counts([3, 2, 4, 1], [1, 0, fp, 1], [1, 2, 0, 3]) for fp, name in enumerate("abc")
    }
    once, twice = (pv.compare(systems, metric=["f1", "precision", *more]) for more in ([], ["f1"]))
    assert [c.to_dict() for c in once.comparisons] == [c.to_dict() for c in twice.comparisons]


def test_counts_of_other_answers_are_refused():
    good = [counts(r) for r in A]
    other = pv.Counts(good[0].tp, good[0].fp, good[0].fn + 1)
    with pytest.raises(InputError, match=r"B, run 2: .* positives in unit 1, but A, run 1 has"):
        pv.compare({"A": good, "B": [good[1], other]})
    with pytest.raises(InputError, match="B: 59 units, but A, run 1 has 60"):
        pv.compare({"A": good, "B": good[0][:59]})
    with pytest.raises(InputError, match="B: no runs"):
        pv.compare({"A": good, "B": []})
    with pytest.raises(InputError, match="by: does not apply to counts"):
        pv.compare({"A": good, "B": good}, by="sentence")


def test_pages_and_tables_tell_runs_and_escape_names():
    result = pv.compare(GOLD, {"<i>A</i>": A, "B & C": B}, figures=True)
    page = result.to_html()
    assert "<i>A</i>" not in page
    assert "&lt;i&gt;A&lt;/i&gt;" in page
    assert page.count('class="run marked"') == len(A)
    assert page.count('class="run"') == len(B)
    assert 'class="part a"' in page
    assert "Single runs, F1 in points" in page
    latex = result.to_latex()
    assert r"$\pm$" in latex
    first_caption = latex.split(r"\caption{")[1]
    assert "interval" in first_caption.split("\n")[0]
    assert "± " in result.to_markdown()
    axes = result.plot()
    drawn = [line for line in axes[0].lines if len(line.get_xdata()) in (len(A), len(B))]
    assert sorted(len(line.get_xdata()) for line in drawn if line.get_alpha()) == [3, 4]
    assert [label.get_text() for label in axes[1].get_yticklabels()][1].endswith("new runs")
    assert not any(
        "run" in (line.get_label() or "") for line in pv.compare(GOLD, A[0], B[0]).plot()[0].lines
    )


def _table_of_runs(order, *, answer=None):
    """Rows of three runs, those of the second and third in this order."""
    gold = ["a", "a", "b", "b", "a", "b"] * 4
    rows = ["run_id,id,doc,y,old,new" if answer else "run_id,id,doc,label"]
    for run in (1, 2, 3):
        places = range(24) if run == 1 else order
        for i in places:
            told = f"{'a' if i % 3 else 'b'},{gold[i]}" if answer else "ab"[(i + run) % 5 == 0]
            rows.append(f"{run},{i},{i % 4},{f'{gold[i]},' if answer else ''}{told}")
    return "\n".join(rows) + "\n"


SWAPPED = [1, 0, *range(2, 24)]  # two rows with the same answer


def test_rows_of_runs_in_another_order_than_a_separate_answer_are_refused(tmp_path):
    gold = tmp_path / "gold.csv"
    labels = ["a", "a", "b", "b", "a", "b"] * 4
    lines = (f"{i},{i % 4},{label}" for i, label in enumerate(labels))
    gold.write_text("id,doc,label\n" + "\n".join(lines) + "\n")
    files = {}
    for name, order in (("straight", range(24)), ("swapped", SWAPPED)):
        files[name] = [tmp_path / f"{name}-{system}.csv" for system in "ab"]
        for file in files[name]:
            file.write_text(_table_of_runs(order))
    plain = pv.compare(gold, *files["straight"], run_column="run_id")
    # units that lie apart in the answer's order do not put the rows into another one
    by_unit = pv.compare(gold, *files["straight"], run_column="run_id", unit_column="doc")
    assert by_unit.comparisons[0].score_a == plain.comparisons[0].score_a
    for how in ({}, {"unit_column": "id"}):
        with pytest.raises(InputError, match="run '2': rows do not match by column 'id'"):
            pv.compare(gold, *files["swapped"], run_column="run_id", **how)


def test_rows_of_a_table_of_runs_are_told_by_their_ids(tmp_path):
    how = {"gold_column": "y", "columns": ["old", "new"], "run_column": "run_id"}
    table = tmp_path / "table.csv"
    table.write_text(_table_of_runs(range(24), answer=True))
    straight = pv.compare(table, **how, unit_column="id")
    by_number = pv.compare(table, **{**how, "run_column": 1})
    assert by_number.comparisons[0].runs == {"old": 3, "new": 3}
    with pytest.raises(InputError, match="run_column: 'old' holds labels; expected another"):
        pv.compare(table, **{**how, "run_column": "old"})
    table.write_text(_table_of_runs(SWAPPED, answer=True))
    assert pv.compare(table, **how, unit_column="id").to_dict() == straight.to_dict()
    with pytest.raises(InputError, match="row 1 of run '2' is '1' by column 'id'"):
        pv.compare(table, **how)


def test_flat_metrics_keep_the_two_questions_apart():
    gold = list("0101" * 10)
    systems = {
        "old": [list("0101" * 9 + "1010"), list("0101" * 8 + "10101010")],
        "new": [gold, list("0101" * 9 + "0100")],
    }
    found = pv.compare(gold, systems)
    metrics = found.to_metrics()
    for c in found.comparisons:
        assert metrics[f"new vs old/{c.question}/f1_difference"] == c.difference
    assert not [name for name in metrics if name.endswith("_2")]
    spread = found.runs_of("old", "f1")
    assert metrics["old/f1_mean"] == spread.mean
    assert metrics["old/f1_spread"] == spread.spread
    assert pv.rank(gold, systems).to_metrics()["new/f1_worst"] == found.runs_of("new", "f1").worst


def test_rows_of_a_dataset_are_outputs_of_runs():
    right = [{"tokens": ["a", "b"], "ner_tags": [1, 0]}, {"tokens": ["c"], "ner_tags": [1]}] * 5
    wrong = [{"tokens": ["a", "b"], "ner_tags": [0, 0]}, {"tokens": ["c"], "ner_tags": [1]}] * 5
    systems = {"A": [wrong, right], "B": [right, right, wrong]}
    found = pv.compare(right, systems, label_names=["O", "B-PER"])
    assert [(c.question, c.runs) for c in found.comparisons] == [
        ("models", {"A": 2, "B": 3}),
        ("procedures", {"A": 2, "B": 3}),
    ]
    assert found.runs_of("A", "recall").scores == (0.5, 1)


def test_the_page_of_a_ranking_says_where_runs_are_compared_in_full():
    gold = list("0101" * 10)
    systems = {"old": [gold, list("0101" * 8 + "10101010")], "new": [gold, gold]}
    page = pv.rank(gold, systems, comparisons=1).to_html()
    assert "compare shows both, pair by pair" in page
    assert "as many pairs as its comparisons say" not in page


def test_gold_items_of_labels_are_counted_once_for_all_runs():
    gold = [["B-PER", "O"], ["O", "B-LOC"]] * 20
    some, most = gold[:30] + [["O", "O"]] * 10, gold[:36] + [["O", "O"]] * 4
    page = pv.score(gold, {"A": [some, most, some], "B": [most, some]}).to_markdown()
    rows = [line.split(" | ") for line in page.splitlines() if line.startswith(("| LOC", "| PER"))]
    assert [row[-1].rstrip(" |") for row in rows] == ["20", "20"]
    assert "A (3 runs): 96 right of 96 returned and 120 in gold." in page
