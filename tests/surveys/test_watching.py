"""Looks at a sample of a pool while it is being annotated."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

import probative as pv
from probative.errors import InputError
from probative.surveys.design import Stratum

RNG = np.random.default_rng(3)
TAGS = np.array(["O", "B-PER", "B-LOC"])


def noisy(rows, share):
    turned = RNG.random(rows.shape) < share
    return np.where(turned, RNG.integers(0, 3, rows.shape), rows)


CODES = np.where(RNG.random((600, 5)) < 0.2, RNG.integers(1, 3, (600, 5)), 0)
GOLD = [TAGS[row].tolist() for row in CODES]
OLD = [TAGS[row].tolist() for row in noisy(CODES, 0.2)]
NEW = [TAGS[row].tolist() for row in noisy(CODES, 0.05)]
YES = ["yes" if i % 3 == 0 else "no" for i in range(600)]


@pytest.fixture
def files(tmp_path):
    for name, rows in (("old", OLD), ("new", NEW), ("gold", GOLD)):
        text = "\n\n".join(
            "\n".join(f"w{i}x{k}\t{tag}" for k, tag in enumerate(row)) for i, row in enumerate(rows)
        )
        (tmp_path / f"{name}.conll").write_text(text + "\n", encoding="utf-8")
    return tmp_path


def annotate(folder, sample, to):
    """Fill in a written sample from the answer."""
    tags = dict(
        line.split("\t") for line in (folder / "gold.conll").read_text().split("\n") if line.strip()
    )
    lines = [
        f"{line.split(chr(9))[0]}\t{tags[line.split(chr(9))[0]]}" if line.strip() else ""
        for line in (folder / sample).read_text().split("\n")
    ]
    (folder / to).write_text("\n".join(lines), encoding="utf-8")
    return folder / to


@pytest.fixture
def drawn(files):
    systems = {name: files / f"{name}.conll" for name in ("old", "new")}
    sampled = pv.sample(systems["old"], systems, size=120, to=files / "s.conll")
    return files, sampled, annotate(files, "s.conll", "a.conll")


def test_the_last_look_tells_what_the_estimate_tells(drawn):
    folder, _, done = drawn
    looks = pv.watch(folder / "s.design.json", done)
    found = pv.estimate(folder / "s.design.json", done)
    assert [look.units for look in looks.looks] == list(range(12, 121, 12))
    (gap,) = found.comparisons
    assert looks.last.estimate == pytest.approx(gap.difference)
    assert looks.last.pool == 600
    assert (looks.a, looks.b) == ("old", "new")
    assert looks.last.low < gap.low < gap.high < looks.last.high
    assert looks.last.decided == "b"
    assert "Decided: new is better than old on this pool of 600 sentences" in looks.to_markdown()


def test_a_page_draws_two_checks_and_not_a_single_point(drawn):
    folder, _, done = drawn
    found = pv.watch(folder / "s.design.json", done, every=30)
    once = replace(found, looks=found.looks[-1:])
    assert found.looks[-1].has_limits
    assert len(found._document().pictures) == 1
    assert once._document().pictures == ()


def test_draws_come_one_after_the_other(drawn):
    folder, _, done = drawn
    design = folder / "s.design.json"
    alone = pv.watch(design, done)
    pv.sample(design, add=60, to=folder / "t.conll")
    again = pv.watch(design, done)  # the second draw is not annotated yet
    assert again.records() == alone.records()
    assert "1 of 2 draws are annotated; 60 sentences are still to come" in again.notes
    more = annotate(folder, "t.conll", "b.conll")
    both = pv.watch(design, done, more)
    # what was seen before is seen again
    assert both.records()[: len(alone.looks)] == alone.records()
    assert both.last.units == 180
    whole = folder / "all.conll"
    whole.write_text(done.read_text() + "\n" + more.read_text(), encoding="utf-8")
    assert pv.watch(design, whole).records() == both.records()
    with pytest.raises(InputError, match=r"annotated: 120 of the 180 sentences are missing"):
        pv.watch(design, more)


def test_a_part_of_a_draw_is_refused_with_counts(drawn):
    folder, _, done = drawn
    part = folder / "part.conll"
    part.write_text("\n\n".join(done.read_text().strip("\n").split("\n\n")[:70]) + "\n")
    with pytest.raises(InputError, match="annotated: 50 of the 120 sentences are missing"):
        pv.watch(folder / "s.design.json", part)
    with pytest.raises(InputError, match="without a label"):
        pv.watch(folder / "s.design.json", folder / "s.conll")


def test_looks_may_be_anywhere_and_limits_do_not_change_by_that(drawn):
    folder, _, done = drawn
    few, many = (pv.watch(folder / "s.design.json", done, every=n) for n in (60, 20))
    by_units = {look.units: look for look in many.looks}
    for look in few.looks:
        assert (look.low, look.high) == (by_units[look.units].low, by_units[look.units].high)


def test_planned_moves_where_limits_are_tightest(drawn):
    folder, _, done = drawn
    usual, later = (pv.watch(folder / "s.design.json", done, planned=n).last for n in (120, 600))
    assert usual.high - usual.low < later.high - later.low
    assert later.planned == 600


def test_one_system_has_limits_of_its_score():
    sampled = pv.sample(None, NEW, size=100)
    looks = pv.watch(sampled.design, [GOLD[i] for i in sampled.units], systems=[NEW])
    assert looks.b is None
    assert looks.last.pvalue is None
    truth = pv.score(GOLD, NEW)[0]["f1"].estimate
    assert looks.last.low < truth < looks.last.high


def test_single_items_and_mirrored_strata():
    rng = np.random.default_rng(0)
    old, new = (
        ["yes" if (y == "yes") != (rng.random() < share) else "no" for y in YES]
        for share in (0.3, 0.05)
    )
    sampled = pv.sample(None, {"old": old, "new": new}, size=150, positive="yes")
    keys = [stratum.key for stratum in sampled.design.strata]
    assert len(set(keys)) < len(keys)
    looks = pv.watch(sampled.design, [YES[i] for i in sampled.units], systems=[old, new])
    assert looks.last.decided == "b"
    assert looks.last.pvalue < 0.05
    # exchanging the systems exchanges what is said
    turned = pv.sample(None, {"new": new, "old": old}, size=150, positive="yes")
    other = pv.watch(turned.design, [YES[i] for i in turned.units], systems=[new, old])
    assert other.last.decided == "a"


@pytest.mark.parametrize(
    ("use", "words"),
    [
        (lambda d, a: pv.watch(3, a), "design: 3; expected a design of sample"),
        (lambda d, a: pv.watch(d), "annotated: missing"),
        (lambda d, a: pv.watch(d, a, every=0), "every: 0 is not a whole number >= 1"),
        (lambda d, a: pv.watch(d, a, planned=0), "planned: 0 is not a whole number"),
        (lambda d, a: pv.watch(d, a, metric="mcc"), "metric: mcc is no ratio of sums"),
        (lambda d, a: pv.watch(d, a, level=1), "level: 1 is not between 0 and 1"),
        (lambda d, a: pv.watch(d, a, systems=5), "systems: 5; expected a dictionary"),
        (
            lambda d, a: pv.watch(d, a, systems={"x": OLD, "y": NEW}),
            "systems: x, y; expected",
        ),
        (lambda d, a: pv.watch(d, a, metric=["f1", "recall"]), "metric: 2 scores; expected one"),
    ],
)
def test_what_cannot_be_watched(drawn, use, words):
    folder, _, done = drawn
    with pytest.raises(InputError, match=words):
        use(folder / "s.design.json", done)


def test_three_systems_and_odd_designs(drawn):
    folder, sampled, done = drawn
    three = pv.sample(None, {"a": OLD, "b": NEW, "c": GOLD}, size=60)
    with pytest.raises(InputError, match="design: 3 systems; expected one, or two"):
        pv.watch(three.design, [GOLD[i] for i in three.units])
    first = sampled.design.strata[0]
    odd = tuple(
        Stratum(own.name, first.key, own.size, own.drawn, own.why, own.spread)
        for own in sampled.design.strata
    )
    with pytest.raises(InputError, match="strata have the key"):
        pv.watch(
            replace(sampled.design, strata=odd),
            done,
            systems=[folder / "old.conll", folder / "new.conll"],
        )


def test_the_command(run, drawn):
    folder, _, done = drawn
    page, figure = folder / "w.html", folder / "w.svg"
    outcome = run("watch", folder / "s.design.json", done, "--html", page, "--figure", figure)
    assert outcome.status == 0
    assert "Decided: new is better than old on this pool of 600 sentences" in outcome.out
    assert "sentences labelled" in page.read_text(encoding="utf-8")
    assert figure.exists()
    answer = json.loads(run("watch", folder / "s.design.json", done, "-f", "json").out)
    assert answer["command"] == "watch"
    assert len(answer["looks"]) == 10
    assert answer["looks"][-1]["pool"] == 600
    assert answer["looks"][-1]["decided"] == "b"
    missing = run("watch", folder / "s.design.json")
    assert missing.status == 2


def test_identical_outputs_leave_nothing_to_decide():
    rows = [["B-PER", "O"], ["O", "O"], ["O", "B-LOC"]] * 60
    same = {"one": rows, "other": rows}
    drawn = pv.sample(None, same, size=60)
    looks = pv.watch(drawn.design, [rows[i] for i in drawn.units], systems=same)
    assert {(look.low, look.estimate, look.high) for look in looks.looks} == {(0, 0, 0)}
    assert looks.last.decided is None
    assert looks.last.note is None
    assert looks.last.verdict().startswith("there is no difference on this pool")


def test_remarks_are_sentences_in_the_report():
    rows = [["B-PER", "O"], ["O", "O"], ["O", "B-LOC"]] * 60
    drawn = pv.sample(None, {"one": rows}, size=20)
    looks = pv.watch(drawn.design, [rows[i] for i in drawn.units], systems=[rows])
    note = looks.last.note
    assert note
    assert f"{note[0].upper()}{note[1:]}." in " ".join(looks.to_markdown().split())


def test_looks_without_limits_are_not_drawn():
    rows = [["B-PER", "O"], ["O", "O"], ["O", "B-LOC"]] * 60
    none = {"one": rows, "other": [["O", "O"]] * 180}
    drawn = pv.sample(None, none, size=20)
    looks = pv.watch(drawn.design, [rows[i] for i in drawn.units], systems=none)
    assert not any(look.has_limits for look in looks.looks)
    assert "<svg" not in looks.to_html()
    assert 'class="track"' not in looks.to_html()


def test_names_are_told_and_tell_which_output_is_which():
    systems = {"old": OLD, "new": NEW}
    drawn = pv.sample(None, systems, size=60)
    labels = [GOLD[i] for i in drawn.units]
    looks = pv.watch(drawn.design, labels, systems=systems)
    turned = pv.watch(drawn.design, labels, systems={"new": NEW, "old": OLD})
    assert turned.records() == looks.records()
    assert "F1, new − old" in str(looks)
    assert looks._document().payload["systems"] == ["old", "new"]
