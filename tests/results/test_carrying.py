"""Results carry their data: they can be stored, copied and asked again elsewhere."""

from __future__ import annotations

import copy
import pickle
from dataclasses import replace

import pytest

import probative as pv
from probative.crossval.runner import judge_folds
from probative.results import FoldCounts, Interval
from probative.results.base import LateInterval

TABLES = [pv.PairedCounts([3, 2, 8, 1, 40, 6, 7, 90 + i]) for i in range(6)]
WAYS = {
    "pickle": lambda result: pickle.loads(pickle.dumps(result)),  # noqa: S301  # our own bytes
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
}


def comparison():
    folds = tuple(
        FoldCounts(number, name, 50, 50, counts)
        for number, table in enumerate(TABLES, 1)
        for name, counts in zip("AB", (table.a, table.b), strict=True)
    )
    return judge_folds(TABLES, ("recall",), names=("A", "B"), task="labels", folds=folds)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    "test",
    [
        lambda: pv.bayes_test(pv.Counts(77, 44, 10), pv.Counts(80, 40, 9), rope=0.01),
        lambda: pv.bayes_test(pv.Counts([77, 3], [44, 2], [10, 1]), pv.Counts(80, 40, 9)),
        lambda: pv.bayes_test(TABLES, metric="recall"),
        lambda: pv.bayes_test(TABLES, metric="recall", method="sampled", n_resamples=99, rng=1),
        comparison,
    ],
    ids=["independent", "many", "paired", "sampled", "models"],
)
def test_a_copy_says_the_same(test, way):
    before, after = test(), test()
    copied = WAYS[way](before)  # before the limits were asked for
    assert copied.to_dict() == after.to_dict()
    assert WAYS[way](after).to_dict() == after.to_dict()  # and with them


def test_the_posterior_is_there_to_be_asked():
    test = pv.bayes_test(TABLES, metric="recall", level=0.9)
    assert test.posterior.kind == "paired"
    assert test.posterior.interval(0.9) == (test.low, test.high)
    assert test.posterior.cdf(0.0) == pytest.approx(test.p_h0, abs=1e-15)
    assert test.to_dict()["posterior"] == "paired"


def test_comparisons_show_themselves():
    found = comparison()
    assert repr(found).startswith("<ModelComparison recall: +0.0")
    assert len(repr(found)) < 200
    assert str(found).startswith("recall: the evidence that B is better is moderate: P")
    for text in (found.to_html(), found.to_markdown(), found.to_latex(), found._repr_html_()):
        assert "adjusted" in text
    frame = found.to_frame()
    assert frame["p_b_better_adjusted"].notna().tolist() == [True, False]
    test = found["recall"]
    assert len(repr(test)) < 200
    assert "recall" in test.to_markdown()


def test_figures_are_drawn_from_a_copy():
    found = comparison()
    copied = pickle.loads(pickle.dumps(found))  # noqa: S301
    (here,), (there,) = found.scores, copied.scores
    for model in "AB":
        for weight in ("effective", "averaged"):
            for x, y in zip(
                here.curves()[model][weight], there.curves()[model][weight], strict=True
            ):
                assert x.tolist() == y.tolist()
    assert len(copied.plot()) == 1


def test_an_interval_is_computed_when_it_is_read_and_then_once():
    computed = []

    def compute():
        computed.append(1)
        return Interval("macro_f1", "hierarchical", 0.95, 0.5, 0.4, 0.6, "few")

    late = LateInterval.of("macro_f1", "hierarchical", 0.95, compute)
    assert (late.metric, late.method, late.level, computed) == (
        "macro_f1",
        "hierarchical",
        0.95,
        [],
    )
    assert (late.low, late.estimate, late.high, late.note) == (0.4, 0.5, 0.6, "few")
    plain = compute()
    assert repr(late) == repr(plain)
    assert late.to_dict() == plain.to_dict()
    carried = WAYS["pickle"](late)
    assert type(carried) is Interval
    assert carried.to_dict() == plain.to_dict()
    assert str(replace(late, metric="f1")) == str(replace(plain, metric="f1"))
    assert len(computed) == 2  # once for each of the two
