"""Results carry their data: they can be stored, copied and asked again elsewhere."""

from __future__ import annotations

import copy
import pickle

import pytest

import probative as pv
from probative.crossval.runner import judged
from probative.results import FoldCounts

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
    return judged(TABLES, ("recall",), names=("A", "B"), task="labels", folds=folds)


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
