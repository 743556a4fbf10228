"""What is known of a difference that a mean and its standard error tell."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from probative.inference.posterior.student import StudentPosterior

numbers = st.floats(-0.5, 0.5)


@given(numbers, st.floats(1e-4, 0.3), st.floats(0.5, 300), numbers)
def test_it_is_students_distribution_about_the_estimate(estimate, deviation, freedom, d):
    posterior = StudentPosterior(estimate, deviation, freedom)
    known = stats.t(freedom, loc=estimate, scale=deviation)
    assert posterior.cdf(d) == pytest.approx(known.cdf(d), rel=1e-9, abs=1e-300)
    assert posterior.sf(d) == pytest.approx(known.sf(d), rel=1e-9, abs=1e-300)
    assert posterior.pdf(d) == pytest.approx(known.pdf(d), rel=1e-9, abs=1e-300)
    assert posterior.cdf(d) + posterior.sf(d) == pytest.approx(1)
    low, high = posterior.interval(0.9)
    assert (low, high) == pytest.approx(np.clip(known.interval(0.9), -1, 1), rel=1e-8)
    assert sum(posterior.probabilities(0.01)) == pytest.approx(1)


def test_endless_freedom_is_the_normal_distribution():
    posterior, known = StudentPosterior(0.1, 0.05, math.inf), stats.norm(0.1, 0.05)
    for d in (-0.1, 0.1, 0.3):
        assert posterior.cdf(d) == pytest.approx(known.cdf(d))
        assert posterior.pdf(d) == pytest.approx(known.pdf(d))


def test_no_variance_is_certainty_and_a_tie_is_half():
    posterior = StudentPosterior(0.1, 0.0, math.inf)
    assert (posterior.cdf(0.0), posterior.sf(0.0)) == (0.0, 1.0)
    assert posterior.cdf(0.1) == posterior.sf(0.1) == 0.5
    assert posterior.interval() == (0.1, 0.1)


@given(numbers, st.floats(1e-3, 0.3), numbers, st.floats(1e-3, 0.3))
def test_it_is_never_surer_than_what_leaves_less_to_chance(estimate, deviation, other, narrow):
    models = StudentPosterior(other, narrow, 40.0)
    posterior = StudentPosterior(estimate, deviation, 8.0, models)
    own = StudentPosterior(estimate, deviation, 8.0)
    grid = np.linspace(-1, 1, 201)
    for tail in ("cdf", "sf"):
        values = getattr(posterior, tail)(grid)
        for base in (own, models):
            assert np.all(np.abs(values - 0.5) <= np.abs(getattr(base, tail)(grid) - 0.5) + 1e-12)
    assert np.all(np.diff(posterior.cdf(grid)) >= -1e-12)
    assert isinstance(posterior.cdf(0.0), float)
