from __future__ import annotations

import numpy as np
import pytest
from scipy import integrate

import probative as pv
from probative.inference.crossval import fold_weight

FOLDS = [pv.Counts(90, 10, 9), pv.Counts(88, 12, 11), pv.Counts(91, 8, 8), pv.Counts(87, 9, 12)]


@pytest.mark.parametrize("m", [1, 2, 3, 5, 10, 100])
def test_the_closed_form_is_the_average_over_the_correlations(m):
    def given(rho2, rho1):
        return 1 / (1 + rho1 + 2 * (m - 1) * rho2)

    mean, _ = integrate.dblquad(given, 0, 0.5, 0.25, 0.5, epsabs=1e-13, epsrel=1e-13)
    assert fold_weight(m) == pytest.approx(8 * mean, rel=1e-11)


def test_known_weights():
    assert fold_weight(3) == pytest.approx(0.368802110, abs=5e-10)
    assert fold_weight(1) == pytest.approx(2 * np.log(1.5), rel=1e-15)
    assert fold_weight(3, "averaged") == 1 / 6
    assert fold_weight(3, (1, 1)) == pytest.approx(1 / 6)
    assert fold_weight(3, (0, 0.5)) == pytest.approx(1 / 3)
    assert fold_weight(3, [0.25, 0.25]) == pytest.approx(1 / 2.25)
    assert fold_weight(3, 0.3688) == 0.3688


def test_folds_are_added_up_and_weighed():
    found = pv.effective_counts(FOLDS)
    weight = fold_weight(2)
    assert (found.tp, found.fp, found.fn) == pytest.approx((356 * weight, 39 * weight, 40 * weight))
    assert pv.effective_counts(FOLDS, weight="averaged") == pv.Counts(89, 9.75, 10)
    assert pv.effective_counts(FOLDS[:2], weight=(0, 0)) == pv.Counts(178, 22, 20)


def test_paired_folds_are_totalled():
    folds = [pv.PairedCounts([[1, 0, 2, 0, 5, 1, 1], [0, 1, 0, 0, 7, 0, 0]])] * 2
    assert pv.effective_counts(folds, weight=1) == pv.PairedCounts([2, 2, 4, 0, 24, 2, 2])


def test_many_cross_validations_at_once():
    folds = [pv.Counts([1, 2], [3, 4], [5, 6]), pv.Counts([7, 8], [9, 10], [11, 12])]
    assert pv.effective_counts(folds, weight=0.5) == pv.Counts([4, 5], [6, 7], [8, 9])


@pytest.mark.parametrize(
    ("folds", "weight", "message"),
    [
        (FOLDS[:3], "effective", "folds: 3 of them; expected an even number"),
        ([], "effective", "folds: 0 of them"),
        (FOLDS[0], "effective", "folds: found Counts; expected a list"),
        ([FOLDS[0], (1, 2, 3)], "effective", "folds: found Counts, tuple"),
        ([FOLDS[0], pv.Counts(1, 2, 3, 4)], "effective", "only one has true negatives"),
        (FOLDS, "efective", "weight: unknown 'efective'.*did you mean 'effective'"),
        (FOLDS, (0.1,), "weight: 1 correlations; expected a pair"),
        (FOLDS, (2, 0), "weight: rho1 = 2 is not a correlation"),
        (FOLDS, (0, -0.9), r"the correlations 0 and -0.9; expected 1 \+ rho1 \+ 2 rho2 above 0"),
        (FOLDS, -1, "weight: -1 is not a finite number > 0"),
        (FOLDS, None, "weight: None is not a number"),
    ],
)
def test_bad_folds_and_weights_are_named(folds, weight, message):
    with pytest.raises(pv.InputError, match=message):
        pv.effective_counts(folds, weight=weight)


def test_repetitions_are_counted():
    with pytest.raises(pv.InputError, match=r"m: 1\.5 is not a whole number"):
        fold_weight(1.5)
