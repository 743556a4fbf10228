"""From files and sequences to scores: the reference scorers agree."""

from __future__ import annotations

import re
import warnings
from pathlib import Path

import conlleval
import numpy as np
import pytest
import seqeval.metrics
from seqeval import scheme as peer
from seqeval.metrics.sequence_labeling import (
    precision_recall_fscore_support as default_reference,
)
from seqeval.metrics.v1 import precision_recall_fscore_support as strict_reference
from sklearn.metrics import precision_recall_fscore_support

import probative as pv
from probative.errors import InputError
from probative.reporting.score_report import conlleval_report

# F1 of the seven submissions, in points, as the shared task published them.
WNUT17 = {
    "uh_ritual": 41.86,
    "spinningbytes.txt": 40.78,
    "sjtu_adapt.txt": 40.42,
    "arcada": 39.98,
    "flytxt": 38.35,
    "mic-cis.txt": 37.06,
    "drexel_cci": 26.30,
}


def tags_in(path) -> list[list[str]]:
    """A second reader, as plain as can be."""
    sentences: list[list[str]] = [[]]
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith("# ") and path.suffix == ".iob2":
            continue
        cells = line.split("\t") if path.suffix == ".iob2" else line.split()
        if len(cells) > 1:
            sentences[-1].append(cells[2] if path.suffix == ".iob2" else cells[-1])
        elif sentences[-1]:
            sentences.append([])
    return [sentence for sentence in sentences if sentence]


def damaged(sentences, seed):
    """The same tags with a tenth of them replaced at random: a bad system."""
    rng = np.random.default_rng(seed)
    tags = sorted({tag for sentence in sentences for tag in sentence})
    return [
        [str(rng.choice(tags)) if rng.random() < 0.1 else tag for tag in sentence]
        for sentence in sentences
    ]


def by_label(system):
    return {entry.label: entry.counts for entry in system.by_label}


def same_as_seqeval(system, gold, pred, **how):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        reference = strict_reference if how else default_reference
        scheme = {"scheme": how["scheme"]} if how else {}
        p, r, f, support = reference(gold, pred, average=None, **scheme)
        micro = seqeval.metrics.f1_score(gold, pred, **how)
        macro = seqeval.metrics.f1_score(gold, pred, average="macro", **how)
    counts = [entry.counts for entry in system.by_label]
    np.testing.assert_array_equal([c.positives for c in counts], support)
    np.testing.assert_allclose([pv.metrics.precision(c, zero_division=0) for c in counts], p)
    np.testing.assert_allclose([pv.metrics.recall(c, zero_division=0) for c in counts], r)
    np.testing.assert_allclose([pv.metrics.f1(c, zero_division=0) for c in counts], f)
    assert system["f1"].estimate == pytest.approx(micro)
    assert system["macro_f1"].estimate == pytest.approx(macro)


def same_as_conlleval(system, report):
    assert {k: (c.tp, c.predicted, c.positives) for k, c in by_label(system).items()} == {
        label: (e["stats"]["correct"], e["stats"]["pred"], e["stats"]["gold"])
        for label, e in report["slots"]["chunks"].items()
        if e["stats"]["pred"] or e["stats"]["gold"]
    }


def same_report(ours, theirs):
    """Equal but for the package's own ways: it takes percent last, which may round a 5 the other
    way, and calls the precision of no predictions 1, where the Perl script says 0."""
    ours, theirs = ours.splitlines(), theirs.splitlines()
    assert len(ours) == len(theirs)
    for mine, other in zip(ours, theirs, strict=True):
        if mine.endswith("  0"):
            assert mine.startswith(other[:17])
            assert "precision:   0.00%; recall:   0.00%; FB1:   0.00" in mine
            continue
        pairs = zip(re.split(r"([\d.]+)", mine), re.split(r"([\d.]+)", other), strict=True)
        for i, (a, b) in enumerate(pairs):
            assert a == b or (i % 2 and abs(float(a) - float(b)) < 0.0101), (mine, other)


@pytest.mark.parametrize("name", WNUT17)
def test_wnut17_equals_the_published_score_and_the_reference_scorers(shared, name):
    folder = shared / "data" / "wnut17"
    gold, pred = folder / "emerging.test.annotated", folder / "submissions" / name
    result = pv.score(gold, pred, align_by="position")
    assert result.scheme == "iob2"
    assert result.units == 1287
    assert round(100 * result[0]["f1"].estimate, 2) == WNUT17[name]
    expected, found = tags_in(gold), tags_in(pred)
    same_as_seqeval(result[0], expected, found)
    lines = []
    for x, y in zip(expected, found, strict=True):
        lines += [f"w {a} {b}" for a, b in zip(x, y, strict=True)] + [""]
    reference = conlleval.evaluate(lines)
    same_as_conlleval(result[0], reference)
    same_report(conlleval_report(result), conlleval.report(reference))
    strict = pv.score(gold, pred, align_by="position", repair="strict")
    same_as_seqeval(strict[0], expected, found, mode="strict", scheme=peer.IOB2)


@pytest.mark.parametrize(
    "name",
    ["zh_gsd-ud-dev", "zh_gsd-ud-test", "en_ewt-ud-dev", "en_ewt-ud-test", "zh_gsd-ud-train"],
)
def test_uner_equals_the_reference_scorers(shared, name, write):
    gold = shared / "data" / "uner" / f"{name}.iob2"
    expected = tags_in(gold)
    found = damaged(expected, seed=len(name))
    pred = write("".join("\n".join(sentence) + "\n\n" for sentence in found), "pred")
    result = pv.score(gold, pred)
    same_as_seqeval(result[0], expected, found)
    lines = []
    for x, y in zip(expected, found, strict=True):
        lines += [f"w {a} {b}" for a, b in zip(x, y, strict=True)] + [""]
    same_as_conlleval(result[0], conlleval.evaluate(lines))


def test_uner_train_has_the_published_number_of_entities(shared):
    gold = shared / "data" / "uner" / "zh_gsd-ud-train.iob2"
    result = pv.score(gold, gold)
    assert (result.units, result[0].counts) == (3997, pv.Counts(6136, 0, 0))


def test_conlleval_layout_counts_document_lines_as_conlleval_does(write):
    lines = "-DOCSTART- -X- O O\n\nAnn NN B-PER B-PER\nsleeps VB O B-LOC\n\nYork NN B-LOC O\n"
    result = pv.score(write(lines))
    expected = conlleval.report(conlleval.evaluate(lines.splitlines()))
    assert conlleval_report(result) == expected
    assert result[0].counts == pv.Counts(1, 1, 1)


def test_conlleval_layout_of_one_type_and_of_none(write):
    typed = "a B-X B-X\nb O B-X\n\nc B-X O\n"
    result = conlleval_report(pv.score(write(typed)))
    assert result == conlleval.report(conlleval.evaluate(typed.splitlines()))
    bare = typed.replace("-X", "")
    result = conlleval_report(pv.score(write(bare)))
    assert result == conlleval.report(conlleval.evaluate(bare.splitlines()))
    with pytest.raises(InputError, match="conlleval prints scores of tags"):
        conlleval_report(pv.score(["a"], ["b"]))


def test_sequences_files_and_one_file_agree(write):
    gold = [["B-PER", "I-PER", "O"], ["B-LOC"]]
    pred = [["B-PER", "O", "O"], ["B-LOC"]]
    expected = pv.score(gold, pred)
    rows = [list(zip("abc", g, p, strict=False)) for g, p in zip(gold, pred, strict=True)]
    both = write("\n\n".join("\n".join(" ".join(row) for row in rows_) for rows_ in rows))
    first = write("\n\n".join("\n".join(f"{w} {g}" for w, g, _ in r) for r in rows), "gold")
    second = write("\n\n".join("\n".join(f"{w}\t{p}" for w, _, p in r) for r in rows), "pred")
    spans = pv.score([{(0, 2, "PER")}, {(0, 1, "LOC")}], [{(0, 1, "PER")}, {(0, 1, "LOC")}])
    for other in (pv.score(both), pv.score(first, second), spans):
        assert other[0].counts == expected[0].counts == pv.Counts(1, 1, 1)
        assert by_label(other[0]) == by_label(expected[0])


def test_each_side_may_have_its_own_scheme():
    gold = [["B-PER", "I-PER", "O", "B-LOC"]]
    pred = [["B-PER", "E-PER", "O", "S-LOC"]]
    result = pv.score(gold, pred)
    assert result[0].counts == pv.Counts(2, 0, 0)
    assert "pred: scheme iobes, recognised" in result.notes
    with pytest.raises(InputError, match=r"pred: sentence 1, token 2: unknown tag 'E-PER'"):
        pv.score(gold, pred, scheme="iob2")
    with pytest.raises(InputError, match=r"pred: sentence 1, token 4: unknown tag 'Q-LOC'"):
        pv.score(gold, [["B-PER", "I-PER", "O", "Q-LOC"]])


def test_several_systems_and_their_names(write):
    gold = [["B-A", "O"], ["O", "B-A"]]
    result = pv.score(gold, gold, [["O", "O"], ["O", "O"]])
    assert [s.name for s in result.systems] == ["pred 1", "pred 2"]
    assert result["pred 1"].counts == pv.Counts(2, 0, 0)
    assert result[1].counts == pv.Counts(0, 0, 2)
    assert len(result) == 2
    named = pv.score(gold, gold, gold, names=["x", "y"])
    assert [s.name for s in named.systems] == ["x", "y"]
    with pytest.raises(InputError, match="names: 1 for 2 systems"):
        pv.score(gold, gold, gold, names=["x"])
    path = write("a B-X\n")
    assert [s.name for s in pv.score(path, path, path).systems] == [
        "file (1)",
        "file (2)",
    ]


def test_nothing_predicted_and_nothing_to_find():
    silent = pv.score([["B-A", "O"], ["O"]], [["O", "O"], ["O"]])[0]
    assert np.isnan(silent["precision"].estimate)
    assert (silent["precision"].low, silent["precision"].high) == (0, 1)
    assert silent["precision"].note
    assert silent["recall"].estimate == 0
    nothing = pv.score([["O"], ["O"]], [["O"], ["O"]])[0]
    assert all(np.isnan(score.estimate) for score in nothing.scores)
    assert nothing.by_label == ()


def test_options_reach_the_matching():
    gold = [["B-PER", "O", "B-ORG"]] * 2
    pred = [["B-LOC", "O", "B-ORG"]] * 2
    assert pv.score(gold, pred).systems[0].counts == pv.Counts(2, 2, 2)
    assert pv.score(gold, pred, ignore_type=True)[0].counts == pv.Counts(4, 0, 0)
    assert pv.score(gold, pred, only=["ORG"])[0].counts == pv.Counts(2, 0, 0)
    overlap = pv.score(gold, pred, overlap=True)[0].overlap
    assert overlap["ent_type"]["incorrect"] == 2
    for wrong in ({"align_by": "x"}, {"repair": "x"}, {"scheme": "x"}, {"level": 2}):
        with pytest.raises(InputError):
            pv.score(gold, pred, **wrong)


@pytest.mark.parametrize("seed", range(5))
def test_labels_equal_scikit_learn(seed):
    rng = np.random.default_rng(seed)
    gold, pred = rng.choice(["a", "b", "c", "d"], (2, 60), p=[0.5, 0.3, 0.15, 0.05])
    system = pv.score(gold, pred)[0]
    for average in ("micro", "macro"):
        p, r, f, _ = precision_recall_fscore_support(gold, pred, average=average, zero_division=0)
        if average == "micro":
            ours = [system[m].estimate for m in ("precision", "recall", "f1")]
        else:
            ours = [system[f"macro_{m}"].estimate for m in ("precision", "recall", "f1")]
        np.testing.assert_allclose(ours, [p, r, f])
    _, _, f, support = precision_recall_fscore_support(gold, pred, average=None, zero_division=0)
    np.testing.assert_allclose([pv.metrics.f1(e.counts) for e in system.by_label], f)
    np.testing.assert_array_equal([e.counts.positives for e in system.by_label], support)


def test_binary_labels_and_micro_over_some_classes():
    gold, pred = [1, 1, 0, 0, 1], [1, 0, 0, 1, 1]
    result = pv.score(gold, pred)
    assert result[0].counts == pv.Counts(tp=2, fp=1, fn=1, tn=1)
    assert result.notes[-1] == "two classes, '1' is the positive one"
    assert result[0]["accuracy"].estimate == 0.6
    flipped = pv.score(gold, pred, positive="0")
    assert flipped[0].counts == pv.Counts(tp=1, fp=1, fn=1, tn=2)
    gold, pred = ["neg", "a", "b", "a"], ["a", "a", "neg", "b"]
    some = pv.score(gold, pred, only=["a", "b"])[0]
    p, r, f, _ = precision_recall_fscore_support(gold, pred, labels=["a", "b"], average="micro")
    np.testing.assert_allclose([some[m].estimate for m in ("precision", "recall", "f1")], [p, r, f])
    with pytest.raises(InputError, match="positive: cannot be combined with only"):
        pv.score(gold, pred, positive="a", only=["b"])
    with pytest.raises(InputError, match="positive: unknown 'z'"):
        pv.score(gold, pred, positive="z")


def test_intervals_of_sequences_are_clustered_by_sentence():
    gold = [["B-A", "B-A", "B-A"]] * 20
    pred = [["B-A", "B-A", "B-A"]] * 12 + [["O", "O", "O"]] * 8  # all right or all wrong
    recall = pv.score(gold, pred)[0]["recall"]
    plain = pv.interval(pv.Counts(36, 0, 24), "recall")
    assert recall.design_effect == pytest.approx(3 * 20 / 19)
    assert recall.high - recall.low > 1.5 * (plain.high - plain.low)
    items = pv.score(["a", "b"] * 5, ["a", "a"] * 5)[0]["accuracy"]
    assert items.design_effect is None


def test_missing_input():
    with pytest.raises(InputError, match="pred: missing"):
        pv.score([["O"]])


# --- what counts as independent ------------------------------------------------------------------


def documents(seed=0, number=25, size=12):
    """Tags in documents that are hard or easy as a whole, and where each document begins."""
    rng = np.random.default_rng(seed)
    gold, pred = [], []
    for ease in rng.beta(1.2, 0.5, number):
        for _ in range(size):
            tags = rng.choice(["O", "B-PER", "B-LOC"], 4)
            right = rng.random(4) < ease
            gold.append(tags.tolist())
            pred.append(np.where(right, tags, "O").tolist())
    return gold, pred, np.repeat(np.arange(number), size)


def column_file(write, name, tags, document):
    lines = []
    for i, (sentence, number) in enumerate(zip(tags, document, strict=True)):
        if i == 0 or number != document[i - 1]:
            lines.append("-DOCSTART-\tO\n")
        lines.append("\n".join(f"w{k}\t{tag}" for k, tag in enumerate(sentence)) + "\n")
    return write("\n".join(lines), name)


def test_intervals_by_document_match_a_bootstrap_of_documents(write):
    gold, pred, document = documents()
    files = [column_file(write, n, t, document) for n, t in (("gold", gold), ("pred", pred))]
    by_sentence, by_document, by_item = (
        pv.score(*files, by=by) for by in ("sentence", "document", "item")
    )
    assert (by_document.unit, by_document.units, by_document.by) == ("document", 25, "document")
    assert (by_sentence.unit, by_sentence.units, by_sentence.by) == ("sentence", 300, "sentence")
    assert (by_item.unit, by_item.units, by_item.by) == ("sentence", 300, "item")
    assert pv.score(*files).to_dict() == by_sentence.to_dict()

    rng = np.random.default_rng(1)
    spans = [
        [{(k, t[2:]) for k, t in enumerate(s) if t != "O"} for s in side] for side in (gold, pred)
    ]
    for label in (None, "LOC"):
        kept = [[{s for s in row if label in (None, s[1])} for row in side] for side in spans]
        cells = np.array([(len(g & p), len(p - g), len(g - p)) for g, p in zip(*kept, strict=True)])
        units = np.stack([np.bincount(document, weights=c) for c in cells.T], axis=1)
        drawn = units[rng.integers(0, 25, (4000, 25))].sum(axis=1)
        f1 = 2 * drawn[:, 0] / (2 * drawn[:, 0] + drawn[:, 1] + drawn[:, 2])
        low, high = np.quantile(f1, [0.025, 0.975])
        widths = []
        for found in (by_item, by_sentence, by_document):
            system = found[0]
            scores = system.scores if label is None else system.by_label[0].scores
            widths.append(next(s.high - s.low for s in scores if s.metric == "f1"))
        assert widths[0] < widths[1] < widths[2]
        # a percentile bootstrap of few units is known to be somewhat too short
        assert 0.9 < widths[2] / (high - low) < 1.5
        assert widths[1] < 0.75 * widths[2]
    assert by_document[0]["f1"].design_effect > by_sentence[0]["f1"].design_effect > 1
    assert by_item[0]["f1"].design_effect is None


def test_comparisons_score_by_the_same_units(write):
    gold, pred, document = documents()
    other = documents(seed=3)[0]
    files = [
        column_file(write, n, t, document)
        for n, t in (("gold", gold), ("pred", pred), ("other", other))
    ]
    found = pv.compare(*files, by="document", metric="recall")
    alone = pv.score(*files, by="document")
    assert found.by == "document"
    for one, same in zip(found.systems, alone.systems, strict=True):
        assert one["recall"].to_dict() == same["recall"].to_dict()
        assert [e.to_dict() for e in one.by_label] == [e.to_dict() for e in same.by_label]
    assert "by document" in found.to_markdown()
    assert "Items of one document are not independent" in found.to_html()


def test_one_sentence_carries_a_note():
    found = pv.score([["B-A", "B-B", "O"]], [["B-A", "O", "O"]])
    for score in found[0].scores[:3]:
        assert (score.low, score.high) == (0, 1)
        assert "one unit: the variation" in score.note
    for entry in found[0].by_label:
        assert all((score.low, score.high) == (0, 1) for score in entry.scores)


@pytest.mark.parametrize(
    ("by", "message"),
    [
        ("page", "by: unknown 'page'; expected one of sentence, document, unit, item"),
        ("document", "by: no documents are marked in gold"),
        ("unit", "by: there are no units here; expected 'sentence' or 'item'"),
    ],
)
def test_units_that_are_not_there(by, message):
    with pytest.raises(InputError) as error:
        pv.score([["B-A"]] * 3, [["B-A"]] * 3, by=by)
    assert str(error.value).startswith(message)


def test_the_metrics_asked_for():
    gold, pred, _ = documents()
    found = pv.score(gold, pred, metric=["fbeta", "jaccard"], beta=2, method="bayes")
    scores = {s.metric: s for s in found[0].scores}
    assert list(scores) == ["fbeta", "jaccard", "macro_fbeta", "macro_jaccard"]
    assert [s.metric for s in pv.score(gold, pred, metric="f1")[0].scores] == ["f1", "macro_f1"]
    counts = found[0].counts
    assert scores["fbeta"].estimate == pv.interval(counts, "fbeta", beta=2).estimate
    assert {scores["fbeta"].method, scores["jaccard"].method} == {"bayes"}
    assert [s.metric for s in found[0].by_label[0].scores] == ["fbeta", "jaccard"]
    single = pv.score(gold, pred, metric="recall", by="item", method="clopper-pearson")[0]["recall"]
    direct = pv.interval(counts, "recall", "clopper-pearson")
    assert (single.low, single.high) == (direct.low, direct.high)
    labels = pv.score(list("abcab"), list("abbab"), metric="f1")
    assert labels[0].scores[0].metric == "f1"
    for wrong, message in (
        ({"metric": "f2"}, "metric: unknown 'f2'"),
        ({"method": "wilsn"}, "method: unknown 'wilsn'"),
        ({"beta": 0}, "beta: 0 is not a finite number > 0"),
        ({"metric": "specificity"}, "tn"),
    ):
        with pytest.raises(InputError, match=message):
            pv.score(gold, pred, **wrong)
    with pytest.raises(InputError, match="'jaccard' is not defined over all classes at once"):
        pv.score(list("abcab"), list("abbab"), metric="jaccard")


def test_few_sentences_say_what_they_may_not_show_wherever_they_carry_a_claim():
    gold = [["B-PER", "O"], ["O", "B-LOC"]] * 9
    old, new = [["B-PER", "O"], ["O", "O"]] * 9, [["B-PER", "O"], ["O", "B-LOC"]] * 9
    said = (
        "18 sentences: a weakness that affects fewer than 1 sentence in 6 may be missing from "
        "this test set"
    )
    systems = {"old": old, "new": new}
    for found in (pv.score(gold, old), pv.compare(gold, systems), pv.rank(gold, systems)):
        assert found.notes[-1] == said
    many = {name: 4 * own for name, own in systems.items()}
    assert not any("weakness" in note for note in pv.compare(4 * gold, many).notes)
    drawn = pv.sample(None, many, size=30)
    labels = [(4 * gold)[i] for i in drawn.units]
    assert pv.estimate(drawn.design, labels, systems=many).notes[-1].endswith("from this sample")
    whole = pv.estimate(pv.sample(None, many, size=72).design, 4 * gold, systems=many)
    assert not any("weakness" in note for note in whole.notes)


@pytest.mark.parametrize("kind", [np.int64, np.float64, np.str_])
def test_a_list_of_single_values_of_numpy_is_one_output(kind):
    gold, pred = [1, 2, 1, 2], [kind(value) for value in (1, 2, 2, 2)]
    assert pv.score(gold, pred)[0].counts.tp == 3
    with pytest.raises(InputError, match="item 2 is PosixPath"):
        pv.score(gold, [pred[0], Path("x"), *pred[2:]])
