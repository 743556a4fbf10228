"""Every result: carries data only, and shows itself in every form."""

from __future__ import annotations

import copy
import json
import pickle
import tempfile
from dataclasses import fields, replace
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from crossval.models import Least

import probative as pv
from probative import results
from probative.inference.planning import plan_runs
from probative.results import Result
from probative_studies import segmentation

GOLD = [["B-PER", "O", "B-LOC"], ["B-LOC", "O", "O"]] * 15
OLD = [["B-PER", "O", "O"], ["O", "O", "B-PER"]] * 9 + GOLD[:12]
NEW = [["B-PER", "O", "B-ORG"], ["B-LOC", "O", "O"]] * 4 + GOLD[:22]
PAIRED = pv.PairedCounts([3, 2, 8, 1, 40, 6, 7, 300])
CORPUS = {"file": "x.conllu", "sentences": 18, "words": 36}
UNITS = pv.PairedCounts([[1, 0, 2, 0, 4, 0, 1]] * 5 + [[0, 1, 3, 0, 6, 1, 1]] * 7)


def compared(**how):
    return pv.compare(GOLD, OLD, NEW, metric="recall", names=["old", "new"], **how)


@cache
def ranked():
    return pv.rank(GOLD, {"old": OLD, "new": NEW, "again": NEW})


@cache
def estimated():
    drawn = pv.sample(None, {"old": OLD, "new": NEW}, size=20)
    labels = [GOLD[i] for i in drawn.units]
    return pv.estimate(drawn.design, labels, systems={"old": OLD, "new": NEW}, judge=NEW)


@cache
def runs():
    return pv.compare(GOLD, {"old": [OLD, NEW, OLD], "new": [NEW, GOLD, NEW]})


def study():
    """What the study of word segmentation returns, without its training."""
    words, other = [["ab", "c"], ["d", "e"]] * 9, [["a", "bc"], ["de"]] * 9
    how = {"task": "segmentation", "names": ["x", "y"], "train_words": [["ab", "de"]]}
    found = pv.compare(words, other, words, **how)
    run = segmentation.SegmenterRun("x", 18, 1.5, "cpu")
    point = segmentation.CurvePoint(18, found.systems[0])
    reversal = segmentation.Reversal(9, 18, *found.comparisons[:1] * 2)
    return segmentation.SegmentationStudy(
        {"train": CORPUS, "test": CORPUS},
        0,
        (run,),
        found,
        sweep(),
        "y",
        (point,),
        "y",
        (reversal,),
    )


def sweep():
    return pv.segmentation_sweep([["ab", "c"], ["de"]], [[0.1, 0.9], [0.4]], steps=4)


@cache
def models():
    X = list(range(48))
    y = [int(x % 7 > 2) for x in X]
    return pv.compare_models(Least(10), Least(22), X, y, m=2, metric="recall", rng=0)


@cache
def bucket():
    words = [["ab", "c"], ["d", "e"]] * 9
    other = [["a", "bc"], ["de"]] * 9
    return pv.compare(words, other, words, task="segmentation", buckets=True).buckets[0]


@cache
def board():
    submissions = (results.Submission("old", "old.conll", "scored"),)
    return results.Board(
        "site", submissions, ranked(), signature=f"probative:{pv.__version__}|board"
    )


@cache
def datasets():
    return pv.compare_datasets({"x": PAIRED, "y": PAIRED}, names=["old", "new"])


@cache
def groups():
    """A comparison whose groups all point the other way than the whole does."""
    kinds = {
        (1, 1, 1, "x"): 145,
        (0, 1, 1, "x"): 2,
        (1, 1, 0, "x"): 125,
        (0, 1, 0, "x"): 28,
        (1, 0, 1, "x"): 2,
        (0, 0, 1, "x"): 1,
        (1, 1, 1, "y"): 4,
        (0, 1, 1, "y"): 15,
        (1, 1, 0, "y"): 1,
        (0, 1, 0, "y"): 5,
        (1, 0, 1, "y"): 66,
        (0, 0, 1, "y"): 115,
    }
    frame = pd.DataFrame(
        [row for row, times in kinds.items() for _ in range(times)], columns=["g", "a", "b", "by"]
    )
    return pv.compare(frame, gold_column="g", columns=["a", "b"], group="by", metric="precision")


@cache
def curves():
    scores = {"old": [0.2, 0.6, 0.4, 0.9, 0.1, 0.8], "new": [0.1, 0.7, 0.6, 0.8, 0.2, 0.4]}
    return pv.compare_curves([0, 1, 0, 1, 0, 1], scores)


@cache
def looks():
    test = pv.sequential("f1", planned=60)
    test.update(UNITS)
    return test.looks


@cache
def ledger():
    place = Path(tempfile.mkdtemp()) / "gates.jsonl"
    pv.gate(compared(fingerprints=True), "require-better", ledger=place)
    return pv.read_ledger(place)


@cache
def agreement():
    return pv.agreement(["x", "y", "x", "x", "y"], ["x", "y", "y", "x", "y"])


# every class that people meet; further ones are added by a line
RESULTS = {
    "Estimate": lambda: estimated(),
    "EstimatedDifference": lambda: estimated().comparisons[0],
    "EstimatedScore": lambda: estimated().scores[0],
    "EstimatedStratum": lambda: estimated().strata[0],
    "Sampled": lambda: pv.sample(None, OLD, NEW, size=20),
    "SampledStratum": lambda: pv.sample(None, OLD, NEW, size=20).strata[0],
    "Agreement": agreement,
    "PairAgreement": lambda: agreement().pairs[0],
    "Ceiling": lambda: pv.score(GOLD, OLD, second_gold=NEW).ceilings[0],
    "Look": lambda: looks().last,
    "Looks": looks,
    "BayesTest": lambda: pv.bayes_test([PAIRED] * 6, "recall"),
    "Comparison": lambda: compared(figures=True).comparisons[0],
    "Comparisons": lambda: compared(rope=0.01, figures=True),
    "Band": lambda: curves().curves[0].pointwise,
    "BestThreshold": lambda: curves().curves[0].best,
    "Calibration": lambda: curves().curves[0].calibration,
    "CalibrationBin": lambda: curves().curves[0].calibration.bins[0],
    "Curve": lambda: curves().curves[0],
    "CurveComparison": curves,
    "CurvePoint": lambda: study().curve[0],
    "Board": lambda: board(),
    "BestCut": lambda: sweep().best[0],
    "Bucket": lambda: bucket(),
    "BucketDifference": lambda: bucket().differences[0],
    "Dataset": lambda: datasets()[0],
    "DatasetComparisons": lambda: datasets(),
    "DatasetCount": lambda: datasets().better,
    "Difference": lambda: pv.difference(UNITS),
    "FileCheck": lambda: results.FileCheck("a", "columns", "entities", {"x": 3}, {"A": 3}, ()),
    "FoldCounts": lambda: models().folds[0],
    "GateUse": lambda: (
        pv.gate(
            compared(fingerprints=True),
            "require-better",
            ledger=Path(tempfile.mkdtemp()) / "gates.jsonl",
        )[0].use
    ),
    "Ledger": ledger,
    "TestSet": lambda: ledger().sets[0],
    "TestSetUse": lambda: ledger().uses[0],
    "GateVerdict": lambda: pv.gate(compared(), "require-better")[0],
    "Group": lambda: groups().groups[0],
    "GroupSummary": lambda: groups().group_summaries[0],
    "GroupWeight": lambda: groups().group_summaries[0].weights[0],
    "Heterogeneity": lambda: datasets().heterogeneity,
    "Interval": lambda: pv.interval(pv.Counts(77, 44, 10)),
    "LabelDifference": lambda: compared().comparisons[0].by_label[0],
    "LabelScores": lambda: pv.score(GOLD, NEW)[0].by_label[0],
    "MeanDifference": lambda: datasets().mean,
    "ModelComparison": models,
    "NullDistribution": lambda: pv.randomization_test(UNITS, null=True).null,
    "Plan": lambda: pv.plan(PAIRED),
    "RandomizationTest": lambda: pv.randomization_test(UNITS, null=True),
    "RankedPair": lambda: ranked().pairs[0],
    "RankedSystem": lambda: ranked().ranking[0],
    "Ranking": lambda: ranked(),
    "Reversal": lambda: study().reversals[0],
    "ScorePosteriors": lambda: models().scores[0],
    "Scores": lambda: pv.score(GOLD, OLD, NEW),
    "RepeatedScore": lambda: pv.score(GOLD, [OLD, NEW]).run_scores[0].repeated,
    "RunScoreTests": lambda: runs().comparisons[1].companions,
    "RunScores": lambda: runs().run_scores[0],
    "RunsPlan": lambda: replace(
        plan_runs(runs().comparisons[1]), signature=f"probative:{pv.__version__}|plan|runs"
    ),
    "VarianceParts": lambda: runs().comparisons[1].variance,
    "SegmentationStudy": study,
    "SegmentationSweep": sweep,
    "SegmenterRun": lambda: study().runs[0],
    "SignificanceTest": lambda: pv.mcnemar_test(PAIRED),
    "SplitBalance": lambda: models().balance,
    "SystemScore": lambda: bucket().scores[0],
    "Submission": lambda: board().submissions[0],
    "SystemScores": lambda: pv.score(GOLD, OLD)[0],
}


# results of the study of segmentation, shown like those of the library
OF_STUDIES = {"CurvePoint", "Reversal", "SegmentationStudy", "SegmenterRun"}


@pytest.fixture(params=sorted(RESULTS), scope="module")
def result(request):
    made = RESULTS[request.param]()
    assert type(made).__name__ == request.param
    return made


# parts of other results, shown with them
PARTS = {
    *("JudgeAgreement", "RecordOutcomes", "PathSummary", "NearMiss", "FieldChange"),
    "FieldCounts",
}


def test_no_class_is_forgotten():
    classes = {
        name
        for name in results.__all__
        if isinstance(kind := getattr(results, name), type)
        and issubclass(kind, Result)
        and kind is not Result
    }
    assert classes | OF_STUDIES == set(RESULTS) | PARTS


def test_it_can_be_stored_and_copied(result):
    for again in (pickle.loads(pickle.dumps(result)), copy.deepcopy(result)):  # noqa: S301
        assert type(again) is type(result)
        assert again.to_dict() == result.to_dict()
        assert str(again) == str(result)


def test_it_holds_no_functions(result):
    for field in fields(result):
        assert not callable(getattr(result, field.name)), field.name


def test_what_it_estimates_has_one_name(result):
    attributes = {name for name in dir(result) if not name.startswith("_")}
    if attributes & {"difference", "statistic", "score"} and "low" in attributes:
        assert "estimate" in attributes
    assert not attributes & {"p_value", "p", "lower", "upper", "stat", "ci"}
    assert ("low" in attributes) == ("high" in attributes)
    if "low" in attributes:
        assert result.low <= result.estimate <= result.high
    if getattr(result, "pvalue", None) is not None:
        assert 0 <= result.pvalue <= 1
    if isinstance(result, (results.Comparison, results.LabelDifference, results.BayesTest)):
        assert result.estimate == result.difference
    if isinstance(result, results.RandomizationTest):
        assert result.estimate == result.statistic
    assert "estimate" in result.to_dict() or "estimate" not in {f.name for f in fields(result)}


SIGNED = {
    "Estimate": "estimate|entities|iob2|conlleval|by-sentence|labelled:20-of-30|strata:",
    "Sampled": "sample|entities|iob2|conlleval|by-sentence|for-difference|size:20|guess|",
    "Agreement": "agreement|labels|by-item|level:0.95",
    "Look": "sequential|f1|level:0.95|planned:60",
    "Looks": "sequential|f1|level:0.95|planned:60",
    "Curve": "compare-curves|logit-jackknife|by-item|level:0.95",
    "CurveComparison": "compare-curves|mover|exact-by-item|level:0.95",
    "Board": "board",
    "BayesTest": "bayes-test|recall|paired|exact|weight:effective|level:0.95|prior:1",
    "Comparisons": "entities|iob2|conlleval|recall|mover|exact-by-sentence|paired-posterior|",
    "DatasetComparisons": "datasets:2|counts|f1|mover|exact-by-item|level:0.95",
    "Difference": "difference|f1|mover|level:0.95",
    "Ranking": "rank|entities|iob2|conlleval|f1|exact-by-sentence|holm|bayesian-bootstrap|",
    "Ledger": "ledger",
    "Interval": "interval|f1|wilson-indirect|level:0.95",
    "ModelComparison": "labels|recall|2x2-block-regularised|seed:0|",
    "Plan": "plan|f1|by-item|level:0.95",
    "RandomizationTest": "randomization-test|f1|exact-by-unit|alternative:two-sided",
    "RunsPlan": "plan|runs",
    "Scores": "entities|iob2|conlleval|",
    "SegmentationSweep": "sweep|wilson,wilson-indirect|by-sentence|steps:4|level:0.95",
}


def test_it_says_how_it_was_made(result):
    name = type(result).__name__
    assert (name in SIGNED) == hasattr(result, "signature")
    if name in SIGNED:
        start = f"probative:{pv.__version__}|{SIGNED[name]}"
        assert result.signature.startswith(start), result.signature
        assert "signature" not in result.to_dict()  # JSON has it once, at the top
        assert result.signature in result.to_html()


def test_json_has_no_undefined_numbers(result):
    text = json.dumps(result.to_dict(), allow_nan=False)
    assert isinstance(json.loads(text), dict)


def test_the_short_form_is_one_line(result):
    short = repr(result)
    assert "\n" not in short
    assert len(short) <= 200
    assert short.startswith(f"<{type(result).__name__} ")
    assert short.endswith(">")
    assert "array(" not in short


def test_the_sentence(result):
    said = str(result)
    assert said
    assert "\n" not in said
    assert "object at 0x" not in said
    assert "array(" not in said


def test_every_form_shows_a_table(result):
    frame = result.to_frame()
    assert len(frame) >= 1
    assert len(frame.columns) >= 1
    page = result.to_html()
    assert "<table" in page
    assert "probative:" in page
    assert "| " in result.to_markdown()
    assert r"\begin{tabular}" in result.to_latex()
    assert "<table>" in result._repr_html_()


def test_the_page_of_a_comparison_draws_what_it_has():
    assert compared().to_html().count("<svg") == 3  # no null distribution was asked for
    assert compared(figures=True).to_html().count("<svg") == 4
    axes = compared().comparisons[0].plot()
    assert len(axes.lines) == 2
    one = pv.compare(GOLD[:1], OLD[:1], NEW[:1], metric="recall").comparisons[0]
    assert len(one.plot().lines) == 1  # the line of no difference: there is no posterior


def test_comparisons_are_small():
    found = pv.compare(GOLD, OLD, NEW, OLD[::-1], NEW[::-1], all_pairs=True, examples=False)
    assert len(found.comparisons) == 6
    assert len(pickle.dumps(found.comparisons)) < 6 * 8_000
    kept = found.comparisons[0]
    assert kept.posterior.sf(0.0) == pytest.approx(kept.p_b_better, abs=1e-12)
    values = np.asarray(kept.posterior.cdf([-0.5, 0.0, 0.5]))
    assert np.all(np.diff(values) > 0)
