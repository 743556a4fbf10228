"""Scores of a pool from its annotated sample."""

from __future__ import annotations

import csv
import io
import json
import math
from dataclasses import replace

import numpy as np
import pytest

import probative as pv
from probative.errors import InputError
from probative.inference.stratified import Draw, PoolScores
from probative.metrics import score

RNG = np.random.default_rng(8)
N = 240
WORDS = [[f"w{i}", f"v{i}", "."] for i in range(N)]
GOLD = [
    ["B-PER" if RNG.random() < 0.5 else "O", "B-LOC" if RNG.random() < 0.3 else "O", "O"]
    for _ in WORDS
]


def noisy(share, rng):
    """An output that is right in this share of the tokens."""
    swapped = {"B-PER": "O", "B-LOC": "B-PER", "O": "B-LOC"}
    return [[t if rng.random() < share else swapped[t] for t in sentence] for sentence in GOLD]


OLD, NEW, THIRD = (noisy(share, RNG) for share in (0.85, 0.92, 0.9))
SYSTEMS = {"old": OLD, "new": NEW}


def conll(side, numbers=None):
    chosen = range(N) if numbers is None else numbers
    return "".join(
        "".join(f"{w}\t{t}\n" for w, t in zip(WORDS[i], side[i], strict=True)) + "\n"
        for i in chosen
    )


def gold_of(units):
    return [GOLD[i] for i in units]


@pytest.fixture
def drawn(write, tmp_path):
    """A sample of 80 sentences with its files, and its annotation in the order of the draw."""
    old, new = write(conll(OLD), "old.conll"), write(conll(NEW), "new.conll")
    found = pv.sample(old, {"old": old, "new": new}, size=80, to=tmp_path / "sample.conll")
    write(conll(GOLD, found.units), "annotated.conll")
    return found


def figures(found):
    """All numbers, one after the other."""
    scores = [number for s in found.scores for number in (s.estimate, s.low, s.high)]
    names = ("difference", "low", "high", "pvalue", "p_b_better")
    return scores + [getattr(gap, name) for gap in found.comparisons for name in names]


def test_estimates_are_those_of_the_strata(drawn, tmp_path):
    found = pv.estimate(tmp_path / "sample.design.json", tmp_path / "annotated.conll")
    whole = [pv.compare(gold_of(drawn.units), *(gold_rows(s, drawn.units) for s in (OLD, NEW)))]
    assert whole[0].systems[0].counts.positives == found.comparisons[0].positives
    design = drawn.design
    rows = design.units.number
    counts = [unit_counts(side, rows) for side in (OLD, NEW)]
    draw = Draw(design.units.stratum, [own.size for own in design.strata])
    disputed = [sum(a != b for a, b in zip(OLD[i], NEW[i], strict=True)) for i in rows]
    expected = PoolScores(counts, draw)
    for number, name in enumerate(("old", "new")):
        own = expected.score(number)
        assert found[name, "f1"].estimate == pytest.approx(own.estimate)
        assert (found[name, "f1"].low, found[name, "f1"].high) == pytest.approx((own.low, own.high))
    gap = found.comparisons[0]
    assert gap.difference == pytest.approx(expected.difference().estimate)
    assert gap.difference == pytest.approx(gap.score_b - gap.score_a)
    assert max(disputed) > 0
    truth = score(unit_counts(NEW, range(N)).sum()) - score(unit_counts(OLD, range(N)).sum())
    assert gap.low < truth < gap.high


def gold_rows(side, units):
    return [side[i] for i in units]


def unit_counts(side, rows):
    cells = []
    for i in rows:
        pairs = list(zip(GOLD[i], side[i], strict=True))
        tp = sum(g == p != "O" for g, p in pairs)
        cells.append(
            (tp, sum(p != "O" for _, p in pairs) - tp, sum(g != "O" for g, _ in pairs) - tp)
        )
    return pv.Counts(*np.array(cells, dtype=float).T)


@pytest.mark.usefixtures("drawn")
def test_limits_p_and_probability_are_of_one_distribution(tmp_path):
    files = tmp_path / "sample.design.json", tmp_path / "annotated.conll"
    for level in (0.5, 0.9, 0.999):
        gap = pv.estimate(*files, level=level).comparisons[0]
        assert gap.pvalue == pytest.approx(2 * min(gap.p_a_better, gap.p_b_better))
    at = 1 - gap.pvalue  # the level at which a limit is 0
    gap = pv.estimate(*files, level=at).comparisons[0]
    assert min(abs(gap.low), abs(gap.high)) == pytest.approx(0, abs=1e-9)


def test_the_whole_pool_labelled_is_what_compare_says():
    found = pv.estimate(pv.sample(None, SYSTEMS, size=N).design, gold_of(range(N)), systems=SYSTEMS)
    whole = pv.compare(GOLD, SYSTEMS)
    for system in whole.systems:
        for metric in ("precision", "recall", "f1"):
            own = found[system.name, metric]
            assert own.low == own.estimate == own.high
            assert own.estimate == pytest.approx(system[metric].estimate)
    gap = found.comparisons[0]
    assert gap.low == gap.high == pytest.approx(whole.comparisons[0].difference)
    assert gap.p_b_better == 1
    assert found.worth == pytest.approx(N)
    assert str(found).startswith(
        "All 240 sentences of the pool are labelled: the scores on this pool"
    )


def test_the_whole_pool_labelled_leaves_doubt_beyond_it():
    found = pv.estimate(
        pv.sample(None, SYSTEMS, size=N).design, GOLD, systems=SYSTEMS, population=True
    )
    gap = found.comparisons[0]
    assert gap.low < gap.difference < gap.high
    assert "the estimates apply to sentences like them" in str(found)


def test_rows_in_another_order_are_found(drawn, write, tmp_path):
    straight = pv.estimate(tmp_path / "sample.design.json", tmp_path / "annotated.conll")
    order = np.random.default_rng(1).permutation(drawn.units)
    shuffled = pv.estimate(
        tmp_path / "sample.design.json", write(conll(GOLD, order), "shuffled.conll")
    )
    assert figures(shuffled) == pytest.approx(figures(straight))
    assert "not in the order" in " ".join(shuffled.notes)
    assert "not in the order" not in " ".join(straight.notes)


def test_files_of_several_draws_in_any_order(drawn, write, tmp_path):
    design = tmp_path / "sample.design.json"
    more = pv.sample(design, add=30, to=tmp_path / "more.conll")
    later = write(conll(GOLD, more.units), "later.conll")
    first = tmp_path / "annotated.conll"
    part = write(conll(GOLD, [*drawn.units, *more.units[:20]]), "part.conll")
    with pytest.raises(InputError, match=r"10 of the 110 sentences are missing \(of draw 2\)"):
        pv.estimate(design, part)
    both = pv.estimate(design, first, later)
    assert both.labelled == 110
    together = write(conll(GOLD, [*drawn.units, *more.units]), "both.conll")
    assert figures(pv.estimate(design, together)) == pytest.approx(figures(both))
    assert figures(pv.estimate(design, later, first)) == pytest.approx(figures(both))
    assert figures(pv.estimate(design, [first, later])) == figures(both)
    assert figures(pv.estimate(design, (str(first), str(later)))) == figures(both)
    assert pv.watch(design, [first, later]).last.units == 110
    with pytest.raises(InputError, match=r"nowhere\.conll: there is no such file"):
        pv.estimate(design, [str(first), "nowhere.conll"])


@pytest.mark.usefixtures("drawn")
def test_the_first_draw_is_estimated_while_the_second_is_out(tmp_path):
    design, first = tmp_path / "sample.design.json", tmp_path / "annotated.conll"
    before = pv.estimate(design, first)
    pv.sample(design, add=30, pilot=first, to=tmp_path / "more.conll")
    after = pv.estimate(design, first)
    out = "1 of 2 draws are annotated; 30 sentences are still to come"
    assert set(after.notes) == {*before.notes, out}
    assert replace(after, notes=before.notes).to_dict() == before.to_dict()


def test_annotations_of_outputs_in_python_are_labels_whatever_lies_on_disk(
    write, tmp_path, monkeypatch
):
    old, new = ["1", "1", "0", "0"] * 20, ["1", "0", "1", "0"] * 20
    drawn = pv.sample(None, {"old": old, "new": new}, size=40)
    labels = [old[i] for i in drawn.units]
    usual = pv.estimate(drawn.design, labels, systems=[old, new])
    path = write("label\n" + "\n".join(labels) + "\n", "labels.csv")
    assert figures(pv.estimate(drawn.design, [path], systems=[old, new])) == figures(usual)
    assert figures(pv.estimate(drawn.design, str(path), systems=[old, new])) == figures(usual)
    for name in ("0", "1"):
        (tmp_path / name).write_text("label\n1\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    assert figures(pv.estimate(drawn.design, labels, systems=[old, new])) == figures(usual)


@pytest.mark.parametrize(
    ("units", "message"),
    [
        (lambda u: u[3:], "3 of the 80 sentences are missing; expected each"),
        (lambda u: [*u, u[0], u[1]], "2 occur more often than drawn"),
        (
            lambda u: [*u[1:], *[i for i in range(N) if i not in u][:2]],
            "1 of the 80 sentences are missing, 2 not in the design .the first: 'w",
        ),
    ],
)
def test_missing_doubled_and_strange_units_are_refused_with_counts(
    drawn, write, tmp_path, units, message
):
    bad = write(conll(GOLD, units(list(drawn.units))), "bad.conll")
    with pytest.raises(InputError, match=message):
        pv.estimate(tmp_path / "sample.design.json", bad)


def test_what_is_not_annotated_is_refused(drawn, write, tmp_path):
    with pytest.raises(InputError, match="240 tokens without a label"):
        pv.estimate(tmp_path / "sample.design.json", tmp_path / "sample.conll")
    half = conll(GOLD, drawn.units).replace("B-PER", "_", 1)
    with pytest.raises(InputError, match="1 token without a label"):
        pv.estimate(tmp_path / "sample.design.json", write(half, "half.conll"))


@pytest.mark.usefixtures("drawn")
def test_changed_outputs_are_refused(write, tmp_path):
    write(conll(THIRD), "new.conll")
    with pytest.raises(InputError, match="was changed after the sample was drawn"):
        pv.estimate(tmp_path / "sample.design.json", tmp_path / "annotated.conll")


def test_lists_are_taken_in_the_order_of_the_draws():
    drawn = pv.sample(None, SYSTEMS, size=60)
    found = pv.estimate(drawn.design, gold_of(drawn.units), systems=[OLD, NEW])
    assert found.labelled == 60
    with pytest.raises(InputError, match=r"59 sentences without tokens.*but 60 were drawn"):
        pv.estimate(drawn.design, gold_of(drawn.units[1:]), systems=SYSTEMS)
    with pytest.raises(InputError, match="systems: old, other; expected those of the design"):
        pv.estimate(drawn.design, gold_of(drawn.units), systems={"old": OLD, "other": NEW})
    with pytest.raises(InputError, match="came from Python; expected it again"):
        pv.estimate(drawn.design, gold_of(drawn.units))


@pytest.mark.parametrize("design", [3, None, [1]])
def test_what_is_no_design_is_refused(design):
    with pytest.raises(InputError, match="expected a design of sample"):
        pv.estimate(design, GOLD)


# --- corners ----------------------------------------------------------------------------------


def test_identical_systems_need_no_labels():
    drawn = pv.sample(None, {"old": OLD, "copy": OLD}, size=20)
    found = pv.estimate(drawn.design, gold_of(drawn.units), systems={"old": OLD, "copy": [*OLD]})
    gap = found.comparisons[0]
    assert gap.identical
    assert (gap.difference, gap.low, gap.high) == (0, 0, 0)
    assert "identical outputs" in found.verdicts[0]


def test_a_perfect_system():
    drawn = pv.sample(None, {"perfect": GOLD}, size=40)
    found = pv.estimate(drawn.design, gold_of(drawn.units), systems={"perfect": GOLD})
    assert not found.comparisons
    assert found["perfect", "f1"].estimate == found["perfect", "f1"].high == 1
    assert found["perfect", "f1"].low < 1


def test_nothing_to_be_found_gives_no_verdict():
    nothing = [["O", "O", "O"] for _ in GOLD]
    drawn = pv.sample(None, SYSTEMS, size=40)
    found = pv.estimate(drawn.design, nothing[:40], systems=SYSTEMS)
    assert "No verdict" in found.verdicts[0]
    assert math.isnan(found["old", "recall"].estimate)


def test_units_that_are_all_alike_give_no_verdict_and_no_gate():
    """Two disputed sentences of a hundred are labelled, and neither system is right."""
    old, new = [["B-PER", "O"]] * 100, [["B-LOC", "O"]] * 100
    drawn = pv.sample(None, {"old": old, "new": new}, size=2)
    gold = [["O", "B-ORG"]] * 2
    found = pv.estimate(drawn.design, gold, systems={"old": old, "new": new})
    assert found["old", "f1"].estimate == 0
    gap = found.comparisons[0]
    assert gap.low < 0 < gap.high
    (verdict,) = pv.gate(found.comparisons, "require-better")
    assert not verdict.passed


def test_three_systems_are_each_compared_with_the_first():
    systems = {**SYSTEMS, "third": THIRD}
    drawn = pv.sample(None, systems, size=80)
    found = pv.estimate(drawn.design, gold_of(drawn.units), systems=systems)
    assert [(gap.a, gap.b) for gap in found.comparisons] == [("old", "new"), ("old", "third")]
    assert all(gap.p_adjusted >= gap.pvalue for gap in found.comparisons)
    assert len(found.verdicts) == 2


def test_metrics_that_are_asked_for():
    drawn = pv.sample(None, SYSTEMS, size=60)
    labels = gold_of(drawn.units)
    found = pv.estimate(
        drawn.design, labels, systems=SYSTEMS, metric=["fbeta", "jaccard"], beta=2.0
    )
    assert [s.metric for s in found.scores] == ["fbeta", "jaccard"] * 2
    assert [c.metric for c in found.comparisons] == ["fbeta", "jaccard"]
    with pytest.raises(InputError, match="mcc"):
        pv.estimate(drawn.design, labels, systems=SYSTEMS, metric="mcc")


def test_documents_are_units(write, tmp_path):
    def documents(side, numbers=None):
        chosen = range(N) if numbers is None else numbers
        text, last = "", None
        for i in chosen:
            if i // 4 != last:
                text += "-DOCSTART-\tO\n\n"
                last = i // 4
            text += conll(side, [i])
        return text

    old, new = write(documents(OLD), "old.conll"), write(documents(NEW), "new.conll")
    drawn = pv.sample(
        old, {"old": old, "new": new}, size=20, by="document", to=tmp_path / "sample.conll"
    )
    sentences = [4 * d + k for d in drawn.units for k in range(4)]
    labels = write(documents(GOLD, sentences), "annotated.conll")
    found = pv.estimate(tmp_path / "sample.design.json", labels)
    assert (found.unit, found.pool, found.labelled) == ("document", 60, 20)
    counts = [
        pv.Counts(*(np.asarray(c).reshape(-1, 4).sum(axis=1) for c in (own.tp, own.fp, own.fn)))
        for own in (unit_counts(side, range(N)) for side in (OLD, NEW))
    ]
    rows = drawn.design.units.number
    draw = Draw(drawn.design.units.stratum, [own.size for own in drawn.design.strata])
    expected = PoolScores([own[rows] for own in counts], draw).difference()
    assert found.comparisons[0].difference == pytest.approx(expected.estimate)


def test_single_labels_of_several_classes_are_scored_by_accuracy():
    rng = np.random.default_rng(4)
    gold = rng.choice(list("abc"), 400)
    old = np.where(rng.random(400) < 0.7, gold, "a")
    new = np.where(rng.random(400) < 0.9, gold, "b")
    systems = {"old": old.tolist(), "new": new.tolist()}
    drawn = pv.sample(None, systems, size=120)
    found = pv.estimate(drawn.design, gold[drawn.design.units.number].tolist(), systems=systems)
    assert {s.metric for s in found.scores} == {"accuracy"}
    gap, truth = found.comparisons[0], np.mean(new == gold) - np.mean(old == gold)
    assert gap.low < truth < gap.high


@pytest.fixture
def spam():
    """Rare positives in two thousand texts, with a confidence that goes with them."""
    rng = np.random.default_rng(4)
    chance = rng.beta(0.4, 8, 2000)
    gold = rng.random(2000) < chance
    systems = {
        name: np.where(chance + rng.normal(0, noise, 2000) > 0.2, "spam", "ham").tolist()
        for name, noise in (("old", 0.1), ("new", 0.05))
    }
    return gold, systems, chance


def test_rare_items_have_limits_of_their_own(spam):
    gold, systems, chance = spam
    drawn = pv.sample(None, systems, size=300, positive="spam", rng=3)
    labels = np.where(gold[drawn.design.units.number], "spam", "ham").tolist()
    found = pv.estimate(drawn.design, labels, systems=systems)
    assert found.comparisons[0].method == "rare-items"
    assert "rare-items" in found.signature
    for name in systems:
        says = np.array(systems[name]) == "spam"
        truth = score(pv.Counts(np.sum(says & gold), np.sum(says & ~gold), np.sum(~says & gold)))
        assert found[name, "f1"].low <= truth <= found[name, "f1"].high
    trusting = pv.sample(None, systems, size=300, positive="spam", scores=chance.tolist())
    labels = np.where(gold[trusting.design.units.number], "spam", "ham").tolist()
    sharper = pv.estimate(trusting.design, labels, systems=systems, scores=chance.tolist())
    widths = [one["new", "recall"].high - one["new", "recall"].low for one in (found, sharper)]
    assert widths[1] < widths[0]


def test_tables_are_matched_by_their_ids(spam, write, tmp_path):
    gold, systems, _ = spam

    def table(labels, rows):
        out = io.StringIO()
        csv.writer(out).writerows(
            [["id", "text", "label"], *([f"r{i}", f"text {i}", labels[i]] for i in rows)]
        )
        return out.getvalue()

    paths = {
        name: write(table(labels, range(2000)), f"{name}.csv") for name, labels in systems.items()
    }
    drawn = pv.sample(paths["old"], paths, size=150, positive="spam", to=tmp_path / "sample.csv")
    right = np.where(gold, "spam", "ham")
    straight = write(table(right, drawn.units), "annotated.csv")
    found = pv.estimate(tmp_path / "sample.design.json", straight)
    other = write(table(right, drawn.units[::-1]), "reversed.csv")
    assert figures(pv.estimate(tmp_path / "sample.design.json", other)) == pytest.approx(
        figures(found)
    )
    with pytest.raises(InputError, match="150 rows without a label"):
        pv.estimate(tmp_path / "sample.design.json", tmp_path / "sample.csv")
    strange = write(table(right, [*drawn.units[1:], 1999 - drawn.units[0]]), "strange.csv")
    with pytest.raises(InputError, match="1 of the 150 items are missing"):
        pv.estimate(tmp_path / "sample.design.json", strange)


# --- a judge ----------------------------------------------------------------------------------


def test_a_judge_who_is_right_narrows_everything():
    drawn = pv.sample(None, SYSTEMS, size=80)
    labels = gold_of(drawn.units)
    alone = pv.estimate(drawn.design, labels, systems=SYSTEMS)
    judged = pv.estimate(drawn.design, labels, systems=SYSTEMS, judge=GOLD)
    gap, plain = judged.comparisons[0], alone.comparisons[0]
    assert gap.judge_width < 0.9
    assert gap.high - gap.low < plain.high - plain.low
    assert gap.judge_moved == pytest.approx(gap.difference - plain.difference)
    assert plain.judge_moved is None
    assert judged.judge == "judge"
    assert "judge" in judged.signature.split("|")


def test_a_judge_who_talks_nonsense_changes_little():
    nonsense = [GOLD[i] for i in np.random.default_rng(2).permutation(N)]
    drawn = pv.sample(None, SYSTEMS, size=100)
    found = pv.estimate(drawn.design, gold_of(drawn.units), systems=SYSTEMS, judge=nonsense)
    assert found.comparisons[0].judge_width < 1.1
    assert abs(found.comparisons[0].judge_moved) < 0.03


def test_the_judge_of_the_design_is_asked_again(write, tmp_path):
    old, new, third = (
        write(conll(side), f"{name}.conll")
        for name, side in (("old", OLD), ("new", NEW), ("third", THIRD))
    )
    drawn = pv.sample(
        old, {"old": old, "new": new}, size=80, judge=third, to=tmp_path / "sample.conll"
    )
    labels = write(conll(GOLD, drawn.units), "annotated.conll")
    found = pv.estimate(tmp_path / "sample.design.json", labels)
    assert found.judge == "judge"
    assert found.comparisons[0].judge_width is not None
    given = pv.estimate(tmp_path / "sample.design.json", labels, judge=third)
    assert figures(given) == pytest.approx(figures(found))


# --- the command ------------------------------------------------------------------------------


@pytest.mark.usefixtures("drawn")
def test_json_contract(run, tmp_path):
    outcome = run(
        "estimate", tmp_path / "sample.design.json", tmp_path / "annotated.conll", "-fjson"
    )
    assert outcome.status == 0, outcome.err
    answer = json.loads(outcome.out)
    assert answer["command"] == "estimate"
    assert {"version", "signature", "pool", "labelled", "scores", "comparisons", "worth"} <= {
        *answer
    }
    assert (answer["pool"], answer["labelled"]) == (240, 80)
    assert {"system", "metric", "estimate", "low", "high"} <= {*answer["scores"][0]}
    assert {"a", "b", "metric", "difference", "low", "high", "p_b_better"} <= {
        *answer["comparisons"][0]
    }
    assert answer["verdicts"][0].startswith("new scores")


@pytest.mark.parametrize("form", ["text", "markdown", "latex", "csv"])
@pytest.mark.usefixtures("drawn")
def test_every_form(run, tmp_path, form):
    outcome = run(
        "estimate", tmp_path / "sample.design.json", tmp_path / "annotated.conll", "--format", form
    )
    assert outcome.status == 0, outcome.err
    assert "precision" in outcome.out


@pytest.mark.usefixtures("drawn")
def test_the_page(run, tmp_path):
    page = tmp_path / "page.html"
    outcome = run(
        "estimate",
        tmp_path / "sample.design.json",
        tmp_path / "annotated.conll",
        "--judge",
        tmp_path / "new.conll",
        "--html",
        page,
    )
    assert outcome.status == 0, outcome.err
    assert "The judge moved the difference between old and new (F1) by" in page.read_text()
    assert "random ones for the difference" in page.read_text()


@pytest.mark.usefixtures("drawn")
def test_gates(run, tmp_path):
    files = tmp_path / "sample.design.json", tmp_path / "annotated.conll"
    held = run("estimate", *files, "--require-not-worse", "--margin", "2pt", "--confidence", "0.9")
    assert held.status == 0, held.err
    assert "--require-not-worse PASSED" in held.err
    failed = run("estimate", *files, "--require-better", "--margin", "0.5", "-fjson")
    assert failed.status == 1
    assert json.loads(failed.out)["gates"][0]["passed"] is False
    assert run("estimate", *files, "--margin", "0.1").status == 2
    assert run("estimate", *files, "--fail-if-worse", "--require-better").status == 2


def test_a_gate_needs_two_systems(write, run, tmp_path):
    old = write(conll(OLD), "old.conll")
    drawn = pv.sample(old, {"old": old}, size=60, to=tmp_path / "sample.conll")
    labels = write(conll(GOLD, drawn.units), "annotated.conll")
    design = tmp_path / "sample.design.json"
    outcome = run("estimate", design, labels)
    assert outcome.status == 0, outcome.err
    assert "random ones for the F1 of old" in " ".join(outcome.out.split())
    refused = run("estimate", design, labels, "--require-better")
    assert refused.status == 2
    assert "there is one system" in refused.err


def test_bad_input_is_one_line(drawn, run, tmp_path, write):
    design = tmp_path / "sample.design.json"
    bad = write(conll(GOLD, drawn.units[4:]), "bad.conll")
    outcome = run("estimate", design, bad)
    assert outcome.status == 2
    assert outcome.err.strip().splitlines()[-1].startswith("probative: annotated: 4 of the 80")
    assert run("estimate", tmp_path / "none.json", bad).status == 2


@pytest.mark.usefixtures("drawn")
def test_equal_remarks_are_told_once_with_all_for_which_they_hold(tmp_path):
    found = pv.estimate(tmp_path / "sample.design.json", tmp_path / "annotated.conll")
    few, one = "few units", "one stratum"
    noted = {"precision": f"{few}; {one}", "recall": few}
    scores = tuple(replace(s, note=noted.get(s.metric)) for s in found.scores)
    text = replace(found, scores=scores).to_markdown()
    assert text.count(few) == text.count(one) == 1
    assert "old and new, precision and recall: few units." in text
    assert "old and new, precision: one stratum." in text
    everywhere = tuple(replace(s, note=few) for s in found.scores)
    assert "all scores: few units." in replace(found, scores=everywhere).to_markdown()
    assert [s["note"] for s in replace(found, scores=everywhere).to_dict()["scores"]] == [few] * 6


def test_of_one_system_the_score_that_is_worth_so_much_is_named():
    drawn = pv.sample(None, {"old": OLD}, size=60)
    found = pv.estimate(drawn.design, gold_of(drawn.units), systems={"old": OLD})
    assert found.metric == "f1"
    assert found.worth == found["old", "f1"].worth != found["old", "precision"].worth
    assert f"to about {round(found.worth):,} random ones for the F1 of old" in str(found)


def test_of_a_pool_that_is_labelled_whole_the_verdict_speaks_of_it_alone():
    """No p-value and no evidence, as nothing was left to chance; beyond it there are both."""
    drawn = pv.sample(None, SYSTEMS, size=N)
    whole = pv.estimate(drawn.design, GOLD, systems=SYSTEMS)
    gap = whole.comparisons[0]
    scores = f"F1 {100 * gap.score_b:.2f} against {100 * gap.score_a:.2f}"
    said = f"new is better than old on this pool, by {100 * gap.difference:.2f} points ({scores})."
    assert whole.verdicts == (said,)
    beyond = pv.estimate(drawn.design, GOLD, systems=SYSTEMS, population=True)
    assert "The difference is not established" in beyond.verdicts[0]
    swapped = {"new": NEW, "old": OLD}
    other = pv.estimate(pv.sample(None, swapped, size=N).design, GOLD, systems=swapped)
    assert other.verdicts[0].startswith("new is better than old on this pool")


def test_outputs_that_were_moved_are_named_with_where_they_were(drawn, tmp_path):
    (tmp_path / "new.conll").rename(tmp_path / "elsewhere.conll")
    with pytest.raises(
        InputError, match=r"new\.conll: there is no such file; expected 'new' at its"
    ):
        pv.estimate(tmp_path / "sample.design.json", gold_of(drawn.units))


def test_remarks_on_labels_are_told_of_a_system_called_as_its_file_is(write, tmp_path):
    old, new = write(conll(OLD), "old"), write(conll(NEW), "new")
    drawn = pv.sample(old, {str(old): old, str(new): new}, size=60, to=tmp_path / "s.conll")
    large = write(conll(GOLD, drawn.units).replace("PER", "Per"), "annotated.conll")
    notes = pv.estimate(tmp_path / "s.design.json", large).notes
    for name in (old, new):
        assert any(note.startswith(f"{name}: 'PER' differs from 'Per'") for note in notes)
        assert sum(note == f"{name}: scheme iob2" for note in notes) == 1


def test_texts_with_spans_that_nobody_annotated_are_counted_as_rows(write, tmp_path):
    rows = [{"id": i, "text": f"Ann{i} left", "spans": []} for i in range(40)]
    one = write("".join(json.dumps(row) + "\n" for row in rows), "one.jsonl")
    pv.sample(one, {"one": one}, size=20, to=tmp_path / "texts.jsonl")
    with pytest.raises(InputError, match="20 rows without a label"):
        pv.estimate(tmp_path / "texts.design.json", tmp_path / "texts.jsonl")


def test_annotations_in_another_vocabulary_are_refused():
    old, new = ["1", "1", "0", "0"] * 20, ["1", "0", "1", "0"] * 20
    drawn = pv.sample(None, {"old": old, "new": new}, size=40)
    said = {"1": "yes", "0": "no"}
    with pytest.raises(InputError, match=r"old: has no label of gold \('no', 'yes'\), but '0', "):
        pv.estimate(drawn.design, [said[old[i]] for i in drawn.units], systems=[old, new])


def test_a_judge_of_units_with_several_items_counts_their_negatives(tmp_path):
    """Units of three decisions have up to three true negatives against the judge."""
    rng = np.random.default_rng(1)
    gold = rng.random(600) < 0.3
    for name, errors in (("a", 0.2), ("b", 0.12), ("judge", 0.1)):
        said = np.where(rng.random(600) < errors, ~gold, gold).astype(int)
        rows = [f"d{i // 3},{i},{own}" for i, own in enumerate(said)]
        (tmp_path / f"{name}.csv").write_text("\n".join(["doc,id,pred", *rows]) + "\n")
    a, b, judge = (tmp_path / f"{name}.csv" for name in ("a", "b", "judge"))
    how = {"unit_column": "doc", "columns": ["pred"], "positive": "1"}
    sample = tmp_path / "sample.csv"
    pv.sample(a, a, b, size=60, judge=judge, to=sample, **how)
    head, *lines = sample.read_text().splitlines()
    place = head.split(",").index("id")
    filled = [f"{line}{int(gold[int(line.split(',')[place])])}" for line in lines]
    (tmp_path / "annotated.csv").write_text("\n".join([head, *filled]) + "\n")
    design = tmp_path / "sample.design.json"
    found = pv.estimate(design, tmp_path / "annotated.csv", metric="specificity")
    assert all(score.judge_width < 1 for score in found.scores)
    assert found.comparisons[0].low > 0
