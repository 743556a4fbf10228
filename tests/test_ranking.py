"""``pv.rank``: from inputs to a leaderboard, and the sentences that sum it up."""

from __future__ import annotations

import json
import math
import re
from dataclasses import fields
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from inference.test_ranks import draw_systems

import probative as pv
from probative.inference.rank import rank_sets, tie_letters, tiers
from probative.jobs.rank import _pairs_in_full
from probative.results import RankedPair, RankedSystem, Ranking, Scores, SystemScores
from probative.wording.verdict import ranking_summary, short_letters

GOLD = [["B-PER", "O", "B-LOC"], ["B-LOC", "O", "O"]] * 30
OLD = [["B-PER", "O", "O"], ["O", "O", "B-PER"]] * 18 + GOLD[:24]
NEW = [["B-PER", "O", "B-ORG"], ["B-LOC", "O", "O"]] * 8 + GOLD[:44]
NONE = [["O"] * 3] * 60
SYSTEMS = {"old": OLD, "new": NEW, "again": NEW, "none": NONE}


@pytest.fixture(scope="module")
def wnut(shared):
    folder = shared / "data" / "wnut17"
    names = ("arcada", "drexel_cci", "flytxt", "sjtu_adapt.txt", "spinningbytes.txt", "uh_ritual")
    return pv.rank(
        folder / "emerging.test.annotated",
        {name.removesuffix(".txt"): folder / "submissions" / name for name in names},
    )


def test_six_systems_of_wnut_by_the_exchange_alone(wnut):
    places = {system.name: place for place, system in enumerate(wnut.ranking)}
    exact = np.ones((len(places), len(places)))
    for pair in wnut.pairs:
        i, j = places[pair.a], places[pair.b]
        exact[i, j] = exact[j, i] = pair.pvalue
    upper = np.triu_indices(len(places), 1)
    adjusted = np.ones_like(exact)
    adjusted[upper] = pv.adjust_pvalues(exact[upper], "holm")
    first = min(places["flytxt"], places["uh_ritual"]), max(places["flytxt"], places["uh_ritual"])
    assert adjusted[first] == pytest.approx(0.1171, abs=5e-5)
    better = adjusted <= 0.05  # above the diagonal: the row leads
    low, high = rank_sets(better)
    assert low.tolist() == [1] * 5 + [6]
    assert high.tolist() == [5] * 5 + [6]
    assert tiers(better).tolist() == [1] * 5 + [2]


def test_six_systems_of_wnut(wnut):
    names = [system.name for system in wnut.ranking]
    assert names == ["uh_ritual", "spinningbytes", "sjtu_adapt", "arcada", "flytxt", "drexel_cci"]
    # by the larger of the exact p-value and Student's by sentence; 0.1171 by the exact one alone
    assert wnut.pair("flytxt", "uh_ritual").p_adjusted == pytest.approx(0.1210, abs=5e-5)
    assert [(s.rank_low, s.rank_high) for s in wnut.ranking] == [(1, 5)] * 5 + [(6, 6)]
    assert [s.tier for s in wnut.ranking] == [1] * 5 + [2]
    assert [s.letters for s in wnut.ranking] == ["a"] * 5 + ["b"]
    expected = {
        "uh_ritual": (0.664, 1.46),
        "spinningbytes": (0.218, 2.52),
        "sjtu_adapt": (0.074, 2.89),
        "arcada": (0.043, 3.35),
        "flytxt": (0.001, 4.78),
        "drexel_cci": (0.0, 6.0),
    }
    for system in wnut.ranking:
        best, rank = expected[system.name]
        assert system.p_best == pytest.approx(best, abs=0.01)
        assert system.expected_rank == pytest.approx(rank, abs=0.03)
    assert wnut.quantile == pytest.approx(2.84, abs=0.015)
    assert wnut.summary == (
        "uh_ritual leads (F1 41.9); it is not distinguishable from spinningbytes, sjtu_adapt, "
        "arcada and flytxt (smallest adjusted p = 0.121). drexel_cci is last."
    )


def test_pairs_are_those_of_compare(shared, wnut):
    folder = shared / "data" / "wnut17"
    systems = {s: folder / "submissions" / s for s in ("arcada", "flytxt", "uh_ritual")}
    compared = pv.compare(
        folder / "emerging.test.annotated", systems, all_pairs=True, examples=False
    )
    for c in compared.comparisons:
        pair = wnut.pair(c.a, c.b)
        assert pair.pvalue == pytest.approx(c.pvalue, rel=1e-9)
        assert pair.difference == pytest.approx(abs(c.difference), rel=1e-12)
        # simultaneous limits are wider
        assert pair.high - pair.low > c.high - c.low


def test_what_a_ranking_holds():
    found = pv.rank(GOLD, SYSTEMS)
    assert [s.name for s in found.systems] == list(SYSTEMS)  # as given
    assert [s.name for s in found.ranking] == ["new", "again", "old", "none"]
    assert len(found.pairs) == 6
    for pair in found.pairs:
        assert found.pair(pair.a, pair.b) is found.pair(pair.b, pair.a) is pair
        assert pair.difference >= 0
        assert pair.low <= pair.difference <= pair.high
    copies = found.pair("new", "again")
    assert copies.identical
    assert (copies.difference, copies.pvalue, copies.p_adjusted) == (0, 1, 1)
    assert found.ranking[0].p_best == found.ranking[1].p_best
    with pytest.raises(KeyError):
        found.pair("new", "new")
    assert str(found) == found.summary
    assert list(found.to_frame()["name"]) == ["new", "again", "old", "none"]
    assert "new" in found.to_html()
    assert "new" in found._repr_html_()


def test_json_keeps_the_contract():
    content = json.loads(json.dumps(pv.rank(GOLD, SYSTEMS).to_dict()))
    assert {"task", "systems", "ranking", "pairs", "summary"} <= content.keys()
    assert list(content["ranking"][0])[:11] == [
        *("name", "metric", "estimate", "low", "high", "rank_low", "rank_high", "tier", "letters"),
        *("p_best", "expected_rank"),
    ]
    first = ("a", "b", "metric", "difference", "low", "high", "pvalue", "p_adjusted", "decided")
    assert list(content["pairs"][0])[:9] == list(first)


def test_undefined_scores_are_null_and_say_why():
    found = pv.rank(GOLD, SYSTEMS, metric="precision")
    last = found.ranking[-1]
    assert last.name == "none"
    assert math.isnan(last.estimate)
    content = last.to_dict()
    assert content["estimate"] is content["p_best"] is content["expected_rank"] is None
    assert (last.low, last.high, last.rank_low, last.rank_high) == (0, 1, 1, 4)
    pair = found.pair("none", "new").to_dict()
    assert pair["difference"] is pair["pvalue"] is pair["p_adjusted"] is None
    assert (pair["low"], pair["high"], pair["decided"]) == (-1, 1, False)
    assert "none: not ranked" in found.summary
    assert "is better than" not in found.summary


def test_one_system_one_sentence_nothing_to_find():
    alone = pv.rank(GOLD, {"new": NEW})
    assert alone.summary == "new is the only system: there is nothing to rank it against."
    assert alone.pairs == ()
    assert (alone.ranking[0].rank_low, alone.ranking[0].rank_high) == (1, 1)
    short = pv.rank(GOLD[:1], {"old": OLD[:1], "new": NEW[:1]})
    assert short.summary.startswith("No verdict: the scores rest on a single sentence")
    assert [(s.rank_low, s.rank_high) for s in short.ranking] == [(1, 2)] * 2
    assert all(math.isnan(s.p_best) for s in short.ranking)
    empty = pv.rank(NONE, {"old": OLD, "new": NEW})
    assert empty.summary == "No verdict: gold has nothing to find."
    assert not any(pair.decided for pair in empty.pairs)
    nothing = pv.rank(NONE, {"a": NONE, "b": NONE})
    assert nothing.summary == "No verdict: F1 is undefined for all of them."
    for result in (alone, short, empty, nothing):
        assert result.to_markdown()
        assert result.to_latex()
        json.dumps(result.to_dict(), allow_nan=False)


@pytest.mark.parametrize("metric", ["precision", "recall", "f1", "fbeta", "jaccard"])
@pytest.mark.parametrize("by", ["sentence", "item"])
def test_every_metric_by_sentence_and_item(metric, by):
    how = {"metric": metric, "by": by, "beta": 2.0 if metric == "fbeta" else 1.0}
    found = pv.rank(GOLD, {"old": OLD, "new": NEW}, **how)
    (compared,) = pv.compare(GOLD, {"old": OLD, "new": NEW}, **how).comparisons
    assert found.pairs[0].pvalue == pytest.approx(compared.pvalue, rel=1e-9)
    assert found.pairs[0].difference == pytest.approx(abs(compared.difference))
    assert found.metric == metric
    assert found.by == by


LABELS = {
    "y": ["a", "b", "c", "a", "b", "a"] * 20,
    "one": ["a", "b", "b", "a", "b", "c"] * 20,
    "two": ["a", "b", "c", "a", "c", "a"] * 20,
    "doc": [i // 4 for i in range(120)],
}


@pytest.mark.parametrize(
    "how",
    [
        {},
        {"positive": "a"},
        {"positive": "a", "metric": "accuracy"},
        {"positive": "a", "metric": "npv"},
        {"only": ["a", "b"]},
        {"unit_column": "doc"},
        {"unit_column": "doc", "positive": "b", "metric": "specificity"},
        {"unit_column": "doc", "only": ["a"], "by": "item"},
    ],
)
def test_labels_in_the_columns_of_a_frame(how):
    frame = pd.DataFrame(LABELS)
    columns = {"gold_column": "y", "columns": ["one", "two"]}
    found = pv.rank(frame, **columns, **how)
    (compared,) = pv.compare(frame, **columns, **how).comparisons
    assert found.task == "labels"
    assert found.metric == compared.metric
    assert found.pairs[0].pvalue == pytest.approx(compared.pvalue, rel=1e-9)
    assert found.pairs[0].difference == pytest.approx(abs(compared.difference))


def test_documents_and_segmentation(tmp_path):
    gold = [["to", "be", "or"], ["not", "to", "be"]] * 20
    cut = [["tobe", "or"], ["not", "to", "be"]] * 20
    found = pv.rank(gold, {"cut": cut, "right": gold}, task="segmentation")
    assert found.metric == "recall"
    assert found.ranking[0].name == "right"
    lines = "".join(
        ("-DOCSTART- O\n\n" if i % 6 == 0 else "") + "".join(f"w {t}\n" for t in tags) + "\n"
        for i, tags in enumerate(GOLD)
    )
    path = tmp_path / "gold.conll"
    path.write_text(lines)
    other = tmp_path / "old.conll"
    other.write_text(lines.replace("B-LOC", "O", 40))
    by_document = pv.rank(path, other, path, by="document", names=["old", "new"])
    assert (by_document.units, by_document.unit) == (10, "document")


def test_macro_averages_say_that_they_are_sampled():
    found = pv.rank(GOLD, SYSTEMS, average="macro")
    assert found.metric == "macro_f1"
    assert found.test == "sampled"
    assert any("the tests are sampled (2,048 exchanges each)" in note for note in found.notes)
    compared = pv.compare(GOLD, {"old": OLD, "new": NEW}, average="macro").comparisons[0]
    pair = found.pair("old", "new")
    assert pair.difference == pytest.approx(abs(compared.difference))
    assert pair.pvalue == pytest.approx(compared.pvalue, abs=0.02)
    assert found.pair("new", "again").identical
    again = pv.rank(GOLD, SYSTEMS, average="macro")
    assert again.to_dict() == found.to_dict()
    other = pv.rank(GOLD, SYSTEMS, average="macro", labels=["PER"])
    assert other.pair("old", "new").difference != pair.difference


def test_macro_averages_without_evidence():
    short = pv.rank(GOLD[:1], {"old": OLD[:1], "new": NEW[:1]}, average="macro")
    assert all(math.isnan(s.p_best) for s in short.ranking)
    assert not short.pairs[0].decided


def test_counts_by_unit():
    systems = {f"s{i}": own for i, own in enumerate(draw_systems(4, 80, 1))}
    found = pv.rank(systems, rng=3)
    assert found.task == "counts"
    assert len(found.pairs) == 6
    for a, b in combinations(systems, 2):
        pair = found.pair(a, b)
        gap = abs(pv.metrics.f1(systems[a].sum()) - pv.metrics.f1(systems[b].sum()))
        assert pair.difference == pytest.approx(gap)
    assert found.ranking[0].low < found.ranking[0].estimate < found.ranking[0].high
    assert pv.rank(systems, rng=3, metric="recall").metric == "recall"


ONE = pv.Counts([1, 2], [0, 1], [1, 0])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: pv.rank({}), "systems: none; expected at least one"),
        (lambda: pv.rank({"a": [1, 2]}), r"a: \[1, 2\]; expected Counts, one row per unit"),
        (lambda: pv.rank({"a": pv.Counts(1, 2, 3)}), r"a: shape \(\); expected one row per unit"),
        (
            lambda: pv.rank({"a": ONE, "b": pv.Counts([1], [1], [1])}),
            "b: 1 units, but a has 2",
        ),
        (
            lambda: pv.rank({"a": ONE, "b": pv.Counts([1, 2], [0, 1], [1, 1])}),
            "b: 3 positives in unit 2, but a has 2; expected counts against the same gold",
        ),
        (
            lambda: pv.rank({"a": ONE, "b": pv.Counts([1, 2], [0, 1], [1, 0], [4, 4])}),
            "b: tn is there for some systems only",
        ),
        (lambda: pv.rank({"a": ONE}, by="sentence"), "by: does not apply to counts"),
        (lambda: pv.rank({"a": ONE}, metric="accuracy"), "metric: accuracy needs tn"),
        (lambda: pv.rank(GOLD, SYSTEMS, metric=["f1", "recall"]), "metric: unknown"),
        (lambda: pv.rank(GOLD, SYSTEMS, adjust="bonferroni"), "adjust: unknown 'bonferroni'"),
        (lambda: pv.rank(GOLD, SYSTEMS, n_jobs=0), "n_jobs: 0"),
        (lambda: pv.rank(GOLD, SYSTEMS, report=3), "report: 3; expected a function"),
        (lambda: pv.rank(GOLD, SYSTEMS, lvel=0.9), "lvel: there is no such option.*level"),
        (lambda: pv.rank(GOLD, SYSTEMS, names=["a"]), "names: the systems have names already"),
    ],
)
def test_bad_input_is_one_line(call, message):
    with pytest.raises(pv.InputError, match=message) as caught:
        call()
    assert "\n" not in str(caught.value)


def test_the_leaderboard_explains_its_letters_in_every_form():
    found = pv.rank(GOLD, SYSTEMS)
    caption = re.search(r"\\caption\{(.*)\}", found.to_latex())[1]
    assert "Systems that share a letter (ties) are not distinguishable" in caption
    assert "Decided differences are in bold" in found.to_markdown()


def test_a_figure_joins_what_ties():
    axes = pv.rank(GOLD, SYSTEMS).plot()
    assert len(axes) == 2
    assert [label.get_text() for label in axes[0].get_yticklabels()] == [
        *("new", "again", "old", "none")
    ]


@pytest.mark.parametrize(
    ("letters", "short"),
    [
        ("", ""),
        ("a", "a"),
        ("abc", "abc"),
        ("abcd", "a–d"),
        ("abdefgj", "abd–gj"),
        ("xyzAB", "x–B"),
        ("YZa'b'", "Y–b'"),
        ("ca'", "ca'"),
    ],
)
def test_many_letters_in_short(letters, short):
    assert short_letters(letters) == short


# the sentences


def made(k, share, seed, *, copies=False):
    """A leaderboard with decided pairs drawn at random, and p-values to match."""
    rng = np.random.default_rng(seed)
    scores = np.sort(np.round(rng.random(k), 1 if copies else 6))[::-1]
    p = np.triu(
        np.where(rng.random((k, k)) < share, rng.random((k, k)) / 20, rng.random((k, k))), 1
    )
    p = p + p.T + np.eye(k)
    gaps = np.subtract.outer(scores, scores)
    p[gaps == 0] = 1.0
    decided = p <= 0.05
    better = decided & (gaps > 0)
    low, high = rank_sets(better)
    tier, letters = tiers(better), tie_letters(decided)
    names = [f"S{i:02d}" for i in range(k)]
    rows = tuple(
        RankedSystem(
            names[i], "f1", scores[i], 0, 1, low[i], high[i], tier[i], letters[i], 0.5, 2.0
        )
        for i in range(k)
    )
    pairs = tuple(
        RankedPair(
            names[j], names[i], "f1", gaps[i, j], -1, 1, p[i, j], p[i, j], bool(decided[i, j])
        )
        for i, j in combinations(range(k), 2)
    )
    systems = tuple(SystemScores(name, pv.Counts(1, 1, 1), ()) for name in names)
    scores = Scores("entities", systems, 0.95, 100, "sentence", "sentence")
    return Ranking(scores, ranking=rows, pairs=pairs)


@given(st.integers(2, 16), st.floats(0, 1), st.integers(0, 2**32 - 1), st.booleans())
def test_no_sentence_is_stronger_than_the_decided_pairs(k, share, seed, copies):
    found = made(k, share, seed, copies=copies)
    names = [system.name for system in found.ranking]
    decided = {frozenset((p.a, p.b)): p.decided for p in found.pairs}
    summary = ranking_summary(found)
    first, *rest = [part + "." for part in re.split(r"\.(?: |$)", summary) if part]
    leader = names[0]
    undecided = [n for n in names[1:] if not decided[frozenset((leader, n))]]
    assert ("is better than" in first) == (not undecided)
    if "not distinguishable" in first:
        told = re.findall(r"S\d\d", first.split("not distinguishable from ")[1])
        assert told
        assert set(told) <= set(undecided)
    if "lead (" in first:  # several, with the same score
        for name in re.findall(r"S\d\d", first.split(" lead ")[0]):
            assert found.pair(leader, name).difference == 0 if name != leader else True
    assert "tier" not in summary
    last = [n for n in names if n == names[-1] or not decided[frozenset((n, names[-1]))]]
    above = [n for n in names if n not in last]
    behind = all(decided[frozenset((a, b))] for a in above for b in last) and above
    equal = not any(decided[frozenset(pair)] for pair in combinations(last, 2))
    if rest:
        (sentence,) = rest
        assert behind
        assert equal
        assert sentence.endswith("is last." if len(last) == 1 else "tie for last.")
        assert set(re.findall(r"S\d\d", sentence)) <= set(last)
    else:
        assert k == 2 or not behind or not equal


def test_a_p_value_just_above_the_limit_does_not_look_like_it():
    found = made(2, 0, 1)
    (pair,) = found.pairs
    values = {entry.name: getattr(pair, entry.name) for entry in fields(pair)}
    near = RankedPair(**values | {"p_adjusted": 0.05003, "decided": False})
    object.__setattr__(found, "pairs", (near,))
    assert "adjusted p = 0.05003" in ranking_summary(found)


TWENTY = [["B-P", "O", "B-L"], ["O", "B-P", "O"]] * 10
GOOD = [["B-P", "O", "B-L"], ["O", "B-P", "O"]] * 9 + [["B-P", "B-P", "O"], ["O", "B-P", "O"]]
BAD = [["B-P", "B-L", "O"], ["B-L", "B-P", "O"]] * 10
NOTHING = [["O", "O", "O"]] * 20
LONE = [["B-P", "O", "O"], *NOTHING[1:]]


UNKNOWN = "{}: not ranked, as no score rests on more than one sentence."
ALONE = "There is nothing to rank good (precision 96.7) against."
LEADS = "good leads (precision 96.7) and is better than bad (adjusted p = 3.8e−06)."


@pytest.mark.parametrize(
    ("systems", "said"),
    [
        ({"none": NOTHING, "good": GOOD}, f"{ALONE} {UNKNOWN.format('none')}"),
        ({"good": GOOD, "bad": BAD, "none": NOTHING}, f"{LEADS} {UNKNOWN.format('none')}"),
        ({"good": GOOD, "bad": BAD, "l": LONE}, f"{UNKNOWN.format('l')} Of the others, {LEADS}"),
    ],
)
def test_a_system_without_evidence_neither_leads_nor_ties(systems, said):
    assert pv.rank(TWENTY, systems, metric="precision").summary == said


def test_a_pair_in_full_is_what_compare_tells(shared):
    folder = shared / "data" / "wnut17"
    gold, a, b, c = (
        folder / name
        for name in (
            "emerging.test.annotated",
            "submissions/flytxt",
            "submissions/uh_ritual",
            "submissions/arcada",
        )
    )
    ranking = pv.rank(gold, a, b, c, n_jobs=1, comparisons=3)
    assert [(r.comparisons[0].b, r.comparisons[0].a) for r in ranking.comparisons] == [
        (pair.b, pair.a) for pair in ranking.pairs
    ]
    (full,) = [
        r for r in ranking.comparisons if {s.name for s in r.systems} == {"flytxt", "uh_ritual"}
    ]
    alone = pv.compare(gold, a, b, figures=True, buckets=True)
    own, other = full.comparisons[0], alone.comparisons[0]
    told, expected = own.to_dict(), other.to_dict()
    assert told.pop("p_adjusted") == ranking.pair("flytxt", "uh_ritual").p_adjusted
    for key, value in expected.items():
        if isinstance(value, float):
            assert told[key] == pytest.approx(value, rel=1e-9), key
        else:
            assert told[key] == value, key
    assert full.examples == alone.examples
    assert full.confusions == alone.confusions
    assert [bucket.to_dict() for bucket in full.buckets] == [
        bucket.to_dict() for bucket in alone.buckets
    ]
    np.testing.assert_array_equal(own.null.edges, other.null.edges)
    # one sentence says the same as the leaderboard: what is not decided is not claimed
    assert "adjusted p" in full.verdicts[0]
    assert "comparisons" not in ranking.to_dict()


@pytest.mark.parametrize(
    ("number", "expected"),
    [
        (0, []),
        (1, [(0, 1)]),
        (4, [(0, 1), (0, 2), (0, 3), (1, 2)]),
        (5, [(0, 1), (0, 2), (0, 3), (1, 2), (2, 3)]),
        (99, list(combinations(range(5), 2))),
    ],
)
def test_the_leader_and_neighbours_are_compared_first(number, expected):
    assert _pairs_in_full(5, number) == expected


def tagged_systems(number, sentences):
    """An answer in tags, and systems that get better from one to the next."""
    rng = np.random.default_rng(3)
    tags = ["O", "O", "B-PER", "B-LOC"]
    gold = rng.choice(tags, (sentences, 5))
    chances = [0.5 + 0.4 * k / number for k in range(number)]
    kept = [rng.random(gold.shape) < chance for chance in chances]
    outputs = [np.where(k, gold, rng.choice(tags, gold.shape)).tolist() for k in kept]
    return gold.tolist(), {f"system {k}": output for k, output in enumerate(outputs)}


def test_pairs_in_full_of_every_task_and_average(tmp_path):
    gold, systems = tagged_systems(3, 30)
    for how in ({}, {"average": "macro"}, {"by": "item"}, {"adjust": "shaffer"}):
        ranking = pv.rank(gold, systems, n_jobs=1, comparisons=3, **how)
        for result, pair in zip(ranking.comparisons, ranking.pairs, strict=True):
            (own,) = result.comparisons
            assert (own.a, own.b, own.metric) == (pair.a, pair.b, pair.metric)
            assert (own.pvalue, own.p_adjusted) == (pair.pvalue, pair.p_adjusted)
            assert own.difference == pytest.approx(pair.difference, abs=1e-12)
        adjuster = how.get("adjust", "holm").capitalize()
        assert f"by {adjuster}&#39;s method" in ranking.to_html()
    frame = pd.DataFrame(
        {"gold": list("aabbc") * 4, "x": list("aabbb") * 4, "y": list("abcbc") * 4}
    )
    labels = pv.rank(frame, gold_column="gold", columns=["x", "y"], n_jobs=1, comparisons=1)
    assert labels.comparisons[0].task == "labels"
    words = tmp_path / "words.txt"
    words.write_text("ab c d\ne f gh\n" * 9)
    other = tmp_path / "other.txt"
    other.write_text("ab cd\ne f gh\n" * 9)
    cut = pv.rank(words, {"same": words, "other": other}, task="segmentation", comparisons=1)
    assert cut.comparisons[0].confusions == ()
    assert "Where they differ most" in cut.to_html()


def test_what_is_no_number_of_comparisons_is_refused():
    gold, systems = tagged_systems(2, 5)
    for number in (-1, 2.5, "all", True):
        with pytest.raises(pv.InputError, match="comparisons: "):
            pv.rank(gold, systems, comparisons=number)


def test_two_others_are_both():
    found = made(3, 1.0, 0)
    assert all(pair.decided for pair in found.pairs)
    assert "is better than both others (" in ranking_summary(found)
    assert "is better than all three others (" in ranking_summary(made(4, 1.0, 0))
