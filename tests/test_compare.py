"""Comparisons from inputs to a verdict."""

from __future__ import annotations

import math

import numpy as np
import pytest
from conftest import WNUT17_F1
from hypothesis import given, settings
from hypothesis import strategies as st
from seqeval.metrics.sequence_labeling import precision_recall_fscore_support as seqeval_scores
from sklearn.metrics import precision_recall_fscore_support

import probative as pv
from probative.errors import InputError

PRF = ("precision", "recall", "f1")

TAGS = ["O", "O", "B-PER", "I-PER", "B-LOC", "I-LOC"]


def random_tags(rng, sentences=60, words=8):
    """IOB2 tags without an I that continues nothing."""
    found = []
    for row in rng.choice(TAGS, (sentences, words)):
        tags = row.tolist()
        for i, tag in enumerate(tags):
            before = tags[i - 1] if i else "O"
            if tag[0] == "I" and before[1:] != tag[1:]:
                tags[i] = "B" + tag[1:]
        found.append(tags)
    return found


def spoilt(rng, gold, share):
    """The same with some sentences exchanged for other ones."""
    other = random_tags(rng, len(gold), len(gold[0]))
    return [o if rng.random() < share else g for g, o in zip(gold, other, strict=True)]


@pytest.fixture(scope="module")
def entities():
    rng = np.random.default_rng(5)
    gold = random_tags(rng)
    return gold, spoilt(rng, gold, 0.5), spoilt(rng, gold, 0.4)


# --- scores against the peers --------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(4))
def test_multi_class_scores_equal_scikit_learn(seed):
    rng = np.random.default_rng(seed)
    gold, a, b = rng.choice(list("abcd"), (3, 80), p=[0.5, 0.3, 0.15, 0.05])
    found = pv.compare(gold, a, b)
    (c,) = found.comparisons
    assert (c.metric, c.by) == ("accuracy", "item")
    for system, pred in zip(found.systems, (a, b), strict=True):
        micro = precision_recall_fscore_support(gold, pred, average="micro")[:3]
        np.testing.assert_allclose([system[m].estimate for m in PRF], micro)
        known = sorted(set(gold) | set(a) | set(b))
        macro = precision_recall_fscore_support(
            gold, pred, labels=known, average="macro", zero_division=0
        )[:3]
        np.testing.assert_allclose([system[f"macro_{m}"].estimate for m in PRF], macro)
        by_class = precision_recall_fscore_support(
            gold, pred, labels=known, average=None, zero_division=np.nan
        )
        for metric, theirs in zip(PRF, by_class[:3], strict=True):
            ours = [{s.metric: s.estimate for s in e.scores}[metric] for e in system.by_label]
            np.testing.assert_allclose(ours, theirs)
    accuracies = [np.mean(gold == a), np.mean(gold == b)]
    assert (c.score_a, c.score_b) == pytest.approx(tuple(accuracies))


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("zero_division", [0.0, 1.0, np.nan])
def test_binary_scores_equal_scikit_learn_whatever_a_zero_denominator_is_called(
    seed, zero_division
):
    rng = np.random.default_rng(seed)
    gold, a = rng.integers(0, 2, (2, 6))
    nothing = np.zeros(6, dtype=int)
    found = pv.score(gold, a, nothing)
    for system, pred in zip(found.systems, (a, nothing), strict=True):
        theirs = precision_recall_fscore_support(
            gold, pred, average="binary", zero_division=zero_division
        )[:3]
        for metric, value in zip(PRF, theirs, strict=True):
            ours = pv.metrics.score(system.counts, metric, zero_division=zero_division)
            assert ours == pytest.approx(float(value), nan_ok=True), metric


def test_macro_of_two_classes_means_both_of_them():
    gold, a, b = [1, 1, 0, 0, 1, 0], [1, 0, 0, 1, 1, 0], [1, 1, 0, 1, 1, 0]
    (c,) = pv.compare(gold, a, b, average="macro").comparisons
    for ours, pred in ((c.score_a, a), (c.score_b, b)):
        theirs = precision_recall_fscore_support(gold, pred, average="macro")[2]
        assert ours == pytest.approx(theirs)


def test_entity_scores_equal_seqeval(entities):
    gold, a, b = entities
    found = pv.compare(gold, a, b, metric="recall")
    for system, pred in zip(found.systems, (a, b), strict=True):
        for average, name in (("micro", "{}"), ("macro", "macro_{}")):
            theirs = seqeval_scores(gold, pred, average=average)[:3]
            ours = [system[name.format(m)].estimate for m in PRF]
            np.testing.assert_allclose(ours, theirs)
        by_label = [e.scores[-1].estimate for e in system.by_label]
        np.testing.assert_allclose(by_label, seqeval_scores(gold, pred, average=None)[2])
    assert found.comparisons[0].score_a == found[0]["recall"].estimate


# --- the numbers of a pair are those of the functions that make them ------------------------------


def test_a_comparison_says_what_the_single_functions_say(entities):
    gold, a, b = entities
    c = pv.compare(gold, a, b, rope=0.02).comparisons[0]
    spans = [_spans(side) for side in entities]
    paired = pv.PairedCounts.from_spans(*spans)
    gap = pv.difference(paired, "f1")
    assert (c.difference, c.low, c.high) == pytest.approx((gap.estimate, gap.low, gap.high))
    assert c.design_effect == pytest.approx(gap.design_effect)
    assert c.pvalue == pytest.approx(pv.randomization_test(paired, "f1", by="unit").pvalue)
    assert c.p_a_better + c.p_equivalent + c.p_b_better == pytest.approx(1)
    assert c.p_b_better == pytest.approx(c.posterior.sf(0.02), abs=1e-9)
    needed = pv.plan(paired, "f1")
    assert (c.units_needed, c.observed_units) == (needed.units, needed.observed_units)
    assert c.observed_units == len(gold)
    by_label = {entry.label: entry for entry in c.by_label}
    assert list(by_label) == ["LOC", "PER"]
    only = [[{s for s in row if s[2] == "LOC"} for row in side] for side in spans]
    alone = pv.difference(pv.PairedCounts.from_spans(*only), "f1")
    assert by_label["LOC"].difference == pytest.approx(alone.estimate)
    assert (by_label["LOC"].low, by_label["LOC"].high) == pytest.approx((alone.low, alone.high))


def _spans(sentences):
    found = []
    for tags in sentences:
        spans, start = set(), None
        for i, tag in enumerate([*tags, "O"]):
            if start is not None and tag[0] != "I":
                spans.add((start, i, tags[start][2:]))
                start = None
            if tag[0] == "B":
                start = i
        found.append(spans)
    return found


def test_by_item_asks_the_test_by_item(entities):
    c = pv.compare(*entities, by="item").comparisons[0]
    table = pv.PairedCounts.from_spans(*map(_spans, entities)).total()
    assert (c.by, c.design_effect) == ("item", None)
    assert c.pvalue == pytest.approx(pv.randomization_test(table, "f1").pvalue)
    assert c.low == pytest.approx(pv.difference(table, "f1").low)


def test_scores_over_all_classes_are_shares_of_the_items():
    """A wrong label is one error, not a false positive and a false negative that fall apart."""
    rng = np.random.default_rng(0)
    gold, a, b = rng.choice(list("abc"), (3, 90))
    right = pv.PairedCounts(
        [
            np.sum((a == gold) & (b != gold)),
            0,
            np.sum((a != gold) & (b == gold)),
            0,
            np.sum((a == gold) & (b == gold)),
            0,
            np.sum((a != gold) & (b != gold)),
        ]
    )
    found = pv.compare(gold, a, b, metric=["accuracy", *PRF])
    assert [c.metric for c in found.comparisons] == ["accuracy", *PRF]
    for c in found.comparisons:
        gap = pv.difference(right, "recall")
        assert (c.difference, c.low, c.high) == pytest.approx((gap.estimate, gap.low, gap.high))
        assert c.pvalue == pytest.approx(pv.randomization_test(right, "recall").pvalue)
        assert c.observed_units == 90
    with pytest.raises(InputError, match="metric: 'jaccard' is not defined over all classes"):
        pv.compare(gold, a, b, metric="jaccard")


def test_some_classes_of_labels_are_exchanged_a_datum_at_a_time():
    gold = list("aab" * 20) + ["neg"] * 20
    a = list("abb" * 20) + ["neg"] * 20
    b = list("baa" * 20) + ["a"] * 5 + ["neg"] * 15
    c = pv.compare(gold, a, b, only=["a", "b"]).comparisons[0]
    rows = [
        [{(0, 1, label)} if label in ("a", "b") else set() for label in side]
        for side in (gold, a, b)
    ]
    paired = pv.PairedCounts.from_spans(*rows)
    assert c.by == "item"
    assert c.pvalue == pytest.approx(pv.randomization_test(paired, "f1", by="unit").pvalue)
    assert c.low == pytest.approx(pv.difference(paired, "f1").low)
    assert c.observed_units == 80


def test_units_of_a_table():
    import polars as pl

    rng = np.random.default_rng(1)
    table = pl.DataFrame(
        {
            "y": rng.integers(0, 2, 60),
            "old": rng.integers(0, 2, 60),
            "new": rng.integers(0, 2, 60),
            "doc": np.repeat(np.arange(12), 5),
        }
    )
    found = pv.compare(
        table, gold_column="y", columns=["old", "new"], unit_column="doc", metric="accuracy"
    )
    c = found.comparisons[0]
    assert (c.by, c.a, c.b, c.observed_units) == ("unit", "old", "new", 12)
    paired = pv.PairedCounts.from_labels(
        table["y"].to_numpy(),
        table["old"].to_numpy(),
        table["new"].to_numpy(),
        units=table["doc"].to_numpy(),
    )
    assert c.pvalue == pytest.approx(pv.randomization_test(paired, "accuracy").pvalue)
    by_item = pv.compare(
        table, gold_column="y", columns=["old", "new"], unit_column="doc", by="item"
    ).comparisons[0]
    assert (by_item.by, by_item.observed_units) == ("item", 60)


def test_segmentation_is_compared_by_recall():
    gold = [["ab", "c", "de"]] * 10
    a, b = [["ab", "cd", "e"]] * 10, [["ab", "c", "d", "e"]] * 10
    c = pv.compare(gold, a, b, task="segmentation").comparisons[0]
    assert (c.metric, c.score_a, c.score_b) == (
        "recall",
        pytest.approx(1 / 3),
        pytest.approx(2 / 3),
    )


# --- several systems -----------------------------------------------------------------------------


def test_holm_over_the_pairs_of_a_metric(entities):
    gold, a, b = entities
    rng = np.random.default_rng(9)
    third = spoilt(rng, gold, 0.1)
    found = pv.compare(gold, a, b, third, metric=["recall", "f1"], names=["a", "b", "c"])
    assert [(c.a, c.b) for c in found.comparisons] == [("a", "b"), ("a", "c")] * 2
    for metric in ("recall", "f1"):
        pairs = [c for c in found.comparisons if c.metric == metric]
        expected = pv.adjust_pvalues([c.pvalue for c in pairs])
        assert [c.p_adjusted for c in pairs] == pytest.approx(expected.tolist())
    assert len(found.verdicts) == 2
    everyone = pv.compare(gold, a, b, third, metric="recall", all_pairs=True)
    assert len(everyone.comparisons) == 3
    assert pv.compare(gold, a, b, metric="recall").comparisons[0].p_adjusted is None
    assert "adjusted p" in found.verdicts[0]


def test_swapping_the_systems_mirrors_everything(entities):
    gold, a, b = entities
    there = pv.compare(gold, a, b, names=["x", "y"], rope=0.01).comparisons[0]
    back = pv.compare(gold, b, a, names=["y", "x"], rope=0.01).comparisons[0]
    assert back.difference == pytest.approx(-there.difference)
    assert (back.low, back.high) == pytest.approx((-there.high, -there.low))
    assert back.pvalue == pytest.approx(there.pvalue)
    assert back.p_a_better == pytest.approx(there.p_b_better, abs=1e-4)
    assert back.p_equivalent == pytest.approx(there.p_equivalent, abs=1e-4)
    assert back.units_needed == there.units_needed


def test_swapping_mirrors_macro_averages_too(entities):
    gold, a, b = entities
    there = pv.compare(gold, a, b, average="macro", rng=1).comparisons[0]
    back = pv.compare(gold, b, a, average="macro", rng=1).comparisons[0]
    assert back.difference == pytest.approx(-there.difference)
    assert (back.low, back.high) == pytest.approx((-there.high, -there.low))
    assert back.p_a_better == pytest.approx(there.p_b_better)
    assert back.pvalue == pytest.approx(there.pvalue, abs=0.02)
    assert (there.test, there.posterior.kind, there.method) == (
        "sampled",
        "hierarchical",
        "hierarchical",
    )


# --- the edges -----------------------------------------------------------------------------------


@pytest.mark.parametrize("average", ["micro", "macro"])
@pytest.mark.parametrize("rope", [0.0, 0.01])
def test_identical_outputs(entities, average, rope):
    gold, a, _ = entities
    found = pv.compare(gold, a, a, names=["x", "y"], average=average, rope=rope)
    c = found.comparisons[0]
    assert c.identical
    assert (c.difference, c.pvalue) == (0, 1)
    assert c.p_a_better == c.p_b_better
    assert c.p_a_better + c.p_equivalent + c.p_b_better == pytest.approx(1)
    assert "identical outputs: no item that counts differs" in found.verdicts[0]


def test_systems_that_tie_are_not_called_identical():
    gold = [["B-A", "B-A"]] * 20
    a, b = [["B-A", "O"]] * 20, [["O", "B-A"]] * 20
    found = pv.compare(gold, a, b)
    c = found.comparisons[0]
    assert (c.difference, c.pvalue, c.identical) == (0, 1, False)
    assert c.p_a_better == c.p_b_better
    assert "identical" not in found.verdicts[0]
    assert "score the same" in found.verdicts[0]
    assert "not established" in found.verdicts[0]


def test_both_wrong_in_different_ways_is_a_tie_and_not_identity():
    found = pv.compare(list("aaab"), list("bbba"), list("ccca"))
    assert not found.comparisons[0].identical


@pytest.mark.parametrize("average", ["micro", "macro"])
def test_a_system_without_predictions(entities, average):
    gold, a, _ = entities
    nothing = [["O"] * len(row) for row in gold]
    c = pv.compare(gold, a, nothing, average=average).comparisons[0]
    assert c.score_b == 0
    assert c.difference == pytest.approx(-c.score_a)
    assert c.p_a_better > 0.999
    assert c.pvalue < 0.001
    precision = pv.compare(gold, a, nothing, metric="precision")
    c = precision.comparisons[0]
    assert math.isnan(c.difference)
    assert (c.low, c.high) == (-1, 1)
    assert "undefined" in c.note
    assert "No verdict" in precision.verdicts[0]


@pytest.mark.parametrize("average", ["micro", "macro"])
def test_gold_without_entities(average):
    gold = [["O", "O"]] * 5
    a, b = [["O", "O"]] * 5, [["B-A", "O"]] * 5
    found = pv.compare(gold, a, b, average=average)
    assert np.isnan(found[0]["f1"].estimate)
    assert found[1]["f1"].estimate == 0
    assert found.verdicts
    same = pv.compare(gold, a, a, average=average)
    assert "identical" in same.verdicts[0]


def test_a_label_only_one_side_knows():
    gold = [["B-PER", "B-LOC"]] * 10
    a, b = [["B-PER", "B-LOC"]] * 10, [["B-PER", "B-GPE"]] * 10
    c = pv.compare(gold, a, b).comparisons[0]
    by_label = {entry.label: entry for entry in c.by_label}
    assert list(by_label) == ["GPE", "LOC", "PER"]
    assert (by_label["LOC"].score_a, by_label["LOC"].score_b) == (1, 0)
    assert math.isnan(by_label["GPE"].difference)
    assert by_label["GPE"].score_b == 0
    assert by_label["PER"].difference == 0
    macro = pv.compare(gold, a, b, average="macro").comparisons[0]
    assert (macro.score_a, macro.score_b) == (1, pytest.approx(1 / 2))


def test_one_sentence_tells_nothing_of_the_variance():
    one = ([["B-A", "B-B"]], [["B-A", "O"]], [["B-A", "B-B"]])
    for average in ("macro", "micro"):
        found = pv.compare(*one, average=average)
        c = found.comparisons[0]
        assert (c.low, c.high) == (-1, 1)
        assert "one unit" in c.note
        assert math.isnan(c.p_a_better)
        assert math.isnan(c.p_b_better)
        assert c.to_dict()["p_b_better"] is None
        assert "No verdict: a score rests on a single sentence" in found.verdicts[0]
        assert c.units_needed is None
        for entry in c.by_label:
            assert (entry.low, entry.high) == (-1, 1)


@pytest.mark.parametrize("metric", ["recall", "f1"])
def test_regions_are_fractions_below_one(entities, metric):
    for rope in (1, 1.0, 5, -0.1, math.nan, math.inf, "x"):
        with pytest.raises(InputError, match="rope: "):
            pv.compare(*entities, metric=metric, rope=rope)
    with pytest.raises(InputError, match=r"expected a fraction of 1: 0\.01 is one point"):
        pv.compare(*entities, metric=metric, rope=1)
    c = pv.compare(*entities, metric=metric, rope=0.9999).comparisons[0]
    assert c.p_equivalent > 0.999
    assert "practical purposes" in str(c)


def test_probabilities_do_not_depend_on_the_level(entities):
    few = [side[:6] for side in entities]  # so that Student's quantiles matter
    for rope in (0.0, 0.02):
        found = [pv.compare(*few, level=level, rope=rope) for level in (0.5, 0.95, 0.9999)]
        shares = [
            (c.p_a_better, c.p_equivalent, c.p_b_better)
            for c in (one.comparisons[0] for one in found)
        ]
        assert shares[0] == shares[1] == shares[2]
        assert found[0].comparisons[0].low > found[1].comparisons[0].low


def test_other_metrics_join_the_scores(entities):
    found = pv.compare(*entities, metric=["jaccard", "fbeta"], beta=2)
    for c in found.comparisons:
        assert found[0][c.metric].estimate == pytest.approx(c.score_a)
        assert found[1][c.metric].low < c.score_b < found[1][c.metric].high
    macro = pv.compare(*entities, metric="jaccard", average="macro")
    assert macro[0]["macro_jaccard"].estimate == pytest.approx(macro.comparisons[0].score_a)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"metric": "f2"}, "metric: unknown 'f2'"),
        ({"average": "weighted"}, "average: unknown 'weighted'"),
        ({"by": "paragraph"}, "by: unknown 'paragraph'"),
        ({"by": "document"}, "by: no documents are marked"),
        ({"by": "unit"}, "by: there are no units here; expected 'sentence' or 'item'"),
        ({"level": 1}, "level: 1 is not between 0 and 1"),
        ({"power": 0}, "power: 0 is not between 0 and 1"),
        ({"rope": -0.1}, "rope: -0.1 is not a finite number >= 0"),
        ({"names": ["x"]}, "names: 1 for 2 systems"),
        ({"names": ["x", "x"]}, "names: 'x' twice"),
        ({"prior": 0}, "prior: 0 is not a finite number > 0"),
        ({"metric": "accuracy"}, "accuracy needs tn"),
    ],
)
def test_wrong_arguments(wrong, message):
    gold = [["B-A", "O"], ["O", "B-A"]]
    with pytest.raises(InputError) as error:
        pv.compare(gold, gold, gold[::-1], **wrong)
    assert message in str(error.value)


def test_one_system_is_not_enough():
    with pytest.raises(InputError, match="expected at least two to compare"):
        pv.compare([["B-A"]], [["B-A"]])


@settings(max_examples=25)
@given(st.data())
def test_every_probability_is_one_and_every_limit_holds_the_difference(data):
    rows = data.draw(st.integers(2, 8))
    tags = st.lists(st.sampled_from(["O", "B-A", "B-B"]), min_size=3, max_size=3)
    gold, a, b = (data.draw(st.lists(tags, min_size=rows, max_size=rows)) for _ in range(3))
    found = pv.compare(gold, a, b, metric="recall")
    c = found.comparisons[0]
    assert 0 <= c.pvalue <= 1
    shares = c.p_a_better, c.p_equivalent, c.p_b_better
    if "No verdict" in found.verdicts[0]:
        assert all(math.isnan(share) for share in shares)
    elif not math.isnan(c.p_b_better):  # identical outputs need no evidence
        assert sum(shares) == pytest.approx(1)
        assert min(shares) >= 0
    if not math.isnan(c.difference):
        assert -1 <= c.low <= c.difference + 1e-12
        assert c.difference - 1e-12 <= c.high <= 1
    assert found.verdicts[0].endswith(".")
    json_ready = found.to_dict()["comparisons"][0]
    assert json_ready["pvalue"] == c.pvalue


# --- the shared task -----------------------------------------------------------------------------


@pytest.fixture(scope="module")
def wnut17(shared):
    folder = shared / "data" / "wnut17"
    names = list(WNUT17_F1)
    files = {path.name.removesuffix(".txt"): path for path in (folder / "submissions").iterdir()}
    return pv.compare(
        folder / "emerging.test.annotated",
        *(files[name] for name in names),
        align_by="position",
        all_pairs=True,
    )


def test_the_published_scores_of_the_shared_task(wnut17):
    found = {system.name: round(100 * system["f1"].estimate, 2) for system in wnut17.systems}
    assert found == WNUT17_F1
    assert wnut17.units == 1287
    assert len(wnut17.comparisons) == 21


def test_the_first_two_of_the_shared_task_are_not_told_apart(wnut17):
    verdict = wnut17.verdicts[0]
    assert verdict.startswith("spinningbytes scores 1.1 points lower than uh_ritual (F1 40.8 ")
    assert "not established" in verdict
    assert "would need about 21,722 sentences to show" in verdict
    last = [c for c in wnut17.comparisons if c.b == "drexel_cci"]
    assert all(c.p_adjusted < 1e-8 for c in last)
    strong = [v for v in wnut17.verdicts if "drexel_cci" in v]
    assert all("is strong" in v for v in strong)


def test_results_can_be_stored_and_sent(entities):
    import pickle

    for average in ("micro", "macro"):
        found = pv.compare(*entities, metric="recall", average=average)
        again = pickle.loads(pickle.dumps(found))  # noqa: S301  # our own bytes
        c, d = found.comparisons[0], again.comparisons[0]
        assert again.to_dict() == found.to_dict()
        assert d.posterior.sf(0.01) == c.posterior.sf(0.01)
        np.testing.assert_array_equal(d.posterior.pdf([0, 0.1]), c.posterior.pdf([0, 0.1]))


def test_figures_and_tests_come_from_the_same_draws(entities):
    found = pv.compare(*entities, average="macro", figures=True)
    assert sum(found.comparisons[0].null.probabilities) == pytest.approx(1)
    c = pv.compare(*entities, metric="recall", figures=True).comparisons[0]
    edges, probabilities = c.null.edges, c.null.probabilities
    middle = (edges[1:] + edges[:-1]) / 2
    extreme = probabilities[np.abs(middle) > abs(c.difference)].sum()
    assert extreme == pytest.approx(c.pvalue, abs=1e-9)
    assert pv.compare(*entities, metric="recall").comparisons[0].null is None


def test_a_sampled_null_has_the_tails_of_its_p_value(entities, monkeypatch):
    from probative.inference import pooled

    def sampled(*arguments, **how):
        return pv.randomization_test(*arguments, method="sampled", n_resamples=999, **how)

    monkeypatch.setattr(pooled, "randomization_test", sampled)
    c = pv.compare(*entities, metric="recall", figures=True).comparisons[0]
    assert c.test == "sampled"
    middle = (c.null.edges[1:] + c.null.edges[:-1]) / 2
    extreme = c.null.probabilities[np.abs(middle) > abs(c.difference)].sum()
    assert (999 * extreme + 1) / 1000 == pytest.approx(c.pvalue, abs=1e-9)


def test_by_document(write):
    sentence = "{}\t{}\nsaw\tO\n\n"
    mark = "-DOCSTART-\tO\n\n"
    sides = []
    for tags in (["B-P"] * 12, ["B-P", "O"] * 6, ["B-P", "B-P", "O"] * 4):
        text = "".join(
            (mark if i % 3 == 0 else "") + sentence.format(f"n{i}", t) for i, t in enumerate(tags)
        )
        sides.append(write(text, f"side{len(sides)}.conll"))
    c = pv.compare(*sides, by="document", metric="recall").comparisons[0]
    assert (c.by, c.observed_units) == ("document", 4)
    rows = []
    for start in range(0, 12, 3):
        span = [{(i, i + 1, "P")} for i in range(start, start + 3)]
        a = [s if i % 2 == 0 else set() for i, s in enumerate(span, start)]
        b = [s if i % 3 != 2 else set() for i, s in enumerate(span, start)]
        rows.append(pv.PairedCounts.from_spans(span, a, b).total().cases[:7])
    paired = pv.PairedCounts(np.array(rows))
    assert c.pvalue == pytest.approx(pv.randomization_test(paired, "recall", by="unit").pvalue)
    assert c.design_effect == pytest.approx(pv.difference(paired, "recall").design_effect)


# --- vocabularies with nothing in common ------------------------------------------------------

WORDS, NUMBERS = {True: "yes", False: "no"}, {True: "1", False: "0"}


def yes_no(seed: int, error: float, names: dict[bool, str]) -> list[str]:
    rng, flip = np.random.default_rng(1), np.random.default_rng(seed)
    right, wrong = rng.random(200) < 0.4, flip.random(200) < error
    return [names[bool(x) != bool(y)] for x, y in zip(right, wrong, strict=True)]


@pytest.mark.parametrize("form", ["lists", "table", "labels", "key"])
def test_a_system_that_shares_no_label_with_gold_is_refused(form, tmp_path):
    gold, a, b = yes_no(1, 0, WORDS), yes_no(2, 0.2, NUMBERS), yes_no(3, 0.3, NUMBERS)
    how: dict = {}
    given: list = [gold, a, b]
    if form == "table":
        rows = "\n".join(map(",".join, zip(gold, a, b, strict=True)))
        (tmp_path / "t.csv").write_text(f"gold,a,b\n{rows}\n", encoding="utf-8")
        given, how = [tmp_path / "t.csv"], {"gold_column": "gold", "columns": ["a", "b"]}
    elif form != "lists":
        for i, (name, side) in enumerate(zip(("gold", "a", "b"), given, strict=True)):
            lines = side
            if form == "key":
                lines = ["id,label", *(f"{number},{own}" for number, own in enumerate(side))]
                how = {"key": ["id"]}
            given[i] = tmp_path / f"{name}.{'csv' if how else 'txt'}"
            given[i].write_text("\n".join(lines) + "\n", encoding="utf-8")
    message = r"a: has no label of gold \('no', 'yes'\), but '0', '1'; expected the same labels, or"
    names = {} if form == "table" else {"names": ["a", "b"]}
    with pytest.raises(InputError, match=message):
        pv.compare(*given, **names, **how)
    found = pv.compare(*given, **names, **how, mapping={"1": "yes", "0": "no"})
    assert found.systems[0]["accuracy"].estimate == pytest.approx(0.8, abs=0.06)
    assert not found.comparisons[0].identical


def test_what_may_share_no_label_with_gold():
    always = pv.score(["refuse"] * 30, ["comply", "unclear"] * 15)  # gold has one class
    assert always[0]["accuracy"].estimate == 0
    assert pv.score(["no"] * 5, ["yes"] * 5)[0].counts.fp == 5  # the other of two classes
    assert pv.score(["a", "b"] * 20, ["a"] * 40)[0]["accuracy"].estimate == 0.5  # a constant
    gold = [["B-PER", "B-LOC"]] * 20
    assert pv.score(gold, [["O", "O"]] * 20)[0].counts == pv.Counts(0, 0, 40)
    other = [["B-person", "B-place"]] * 20
    assert pv.score(gold, other, ignore_type=True)[0].counts == pv.Counts(40, 0, 0)
    with pytest.raises(InputError, match=r"no label of gold \('LOC', 'PER'\), but 'person', 'pl"):
        pv.score(gold, other)
    with pytest.raises(InputError, match="no label of gold"):
        pv.score([["B-PER"]] * 20, [["B-person"]] * 20)
    assert pv.score([["B-PER"]], [["B-ORG"]])[0].counts == pv.Counts(0, 1, 1)  # by chance
    with pytest.raises(InputError, match="no label of gold"):
        pv.score(["yes"] * 9, ["1", "0", "1"] * 3)


def test_outputs_that_differ_are_not_identical_where_both_count_as_no():
    gold = ["yes", "no", "no", "yes"] * 10
    a, b = ["yes", "maybe", "no", "no"] * 10, ["yes", "unknown", "no", "no"] * 10
    found = pv.compare(gold, a, b)
    assert (found.comparisons[0].difference, found.comparisons[0].identical) == (0, False)
    assert "identical" not in found.verdicts[0]
    assert pv.compare(gold, a, [*a]).comparisons[0].identical
    runs = pv.compare(gold, {"A": [a, b], "B": [b, a]})
    assert not any(c.identical for c in runs.comparisons)
    assert not any("identical" in note for note in runs.notes)
    spans = [[(0, 2, "A")]] * 20, [[(0, 3, "A")]] * 20
    lenient = pv.compare([[(0, 4, "A")]] * 20, *spans, match="type")
    assert (lenient.comparisons[0].difference, lenient.comparisons[0].identical) == (0, False)


def test_a_comparison_holds_the_scores_of_its_systems():
    gold = [["B-PER", "O"], ["O", "B-LOC"]] * 10
    found = pv.compare(gold, gold[1:] + gold[:1], gold, names=["A", "B"])
    alone = pv.score(gold, {"A": gold[1:] + gold[:1], "B": gold})
    assert isinstance(found.scores, pv.Scores)
    assert found.systems is found.scores.systems
    assert found["A"].counts == alone["A"].counts
    assert found.scores.records() == alone.records()
    assert not {"scores", "signature"} & found.to_dict().keys()
