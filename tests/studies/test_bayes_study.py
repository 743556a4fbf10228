from __future__ import annotations

import numpy as np
import pytest
from scipy import integrate, stats
from sklearn.linear_model import LogisticRegression

import probative as pv
from probative.inference.crossval import score_posteriors
from probative_studies import bayes as study
from probative_studies.bayes import CASES, pairing_study


def test_the_tasks_carry_their_published_figures():
    tasks = study.task_tests()
    assert [task.task for task in tasks] == ["cws", "ner", "org"]
    decisions = [test.decision for task in tasks for test in task.tests]
    assert decisions == ["H1"] * 6 + ["H1", "H0", "H0"]
    for task in tasks:
        for test in task.tests:
            assert test.p_h0 == pytest.approx(task.published[test.metric]["p_h0"], abs=0.0015)
    assert str(tasks[1]) == "Named entities, boundaries only: IOBES against IOB2, 3 Bayes tests"


def test_curves_run_between_the_outer_quantiles():
    folds = dict(zip("AB", study.published_folds("org"), strict=True))
    (panel,) = score_posteriors(folds, ("f1",))
    curves = panel.curves()
    assert list(curves) == ["A", "B"]
    for weight, (scores, density) in curves["A"].items():
        found = pv.posterior(pv.effective_counts(folds["A"], weight=weight), "f1")
        assert found.cdf(scores[[0, -1]]) == pytest.approx([0.001, 0.999])
        assert np.trapezoid(density, scores) == pytest.approx(0.998, abs=1e-4)
    assert curves["A"]["effective"][1].max() > curves["A"]["averaged"][1].max()


def test_newton_steps_reach_the_maximum_of_the_likelihood():
    rng = np.random.default_rng(3)
    x, y = study._draw(rng, 4, 600, balanced=False)
    x, y = x[:, :2].reshape(4, 300, 2), y[:, :2].reshape(4, 300)
    found = study._logistic_regression(x, y)
    for i in range(4):
        reference = LogisticRegression(C=np.inf, tol=1e-10, max_iter=1000).fit(x[i], y[i])
        expected = [*reference.intercept_, *reference.coef_[0]]
        assert found[i] == pytest.approx(expected, abs=1e-4)


def expected_f1(rule):
    """The population's F1 of a linear rule (intercept, slopes) for the two classes."""
    return pv.metrics.f1(pv.Counts(*study._outcome_probabilities(rule)))


def test_population_scores_of_a_linear_rule():
    rule = np.array([-0.3, 1.2, 0.5])
    rng = np.random.default_rng(4)
    y = rng.random(400_000) < 0.5
    x = rng.standard_normal((len(y), 2)) + 0.5 * y[:, None]
    counts = pv.Counts.from_labels(y, x @ rule[1:] + rule[0] > 0, positive=True)
    assert expected_f1(rule) == pytest.approx(pv.metrics.f1(counts), abs=0.005)


def test_halves_of_the_partition():
    sizes = [len(set(a) & set(b)) for a in study._HALVES for b in study._HALVES if a < b]
    assert sizes == [1, 1, 1]  # any two training halves share one block of four


def test_balanced_data_sets_have_half_positives_in_every_block():
    _, y = study._draw(np.random.default_rng(0), 3, 600, balanced=True)
    assert np.all(y.sum(axis=-1) == 75)


@pytest.mark.slow
def test_credibility_depends_on_fixed_class_counts():
    results = study.simulate_credibility(400, rng=1)
    by = {(r.positives, r.method): r for r in results}
    effective, averaged = by["exactly half", "effective"], by["exactly half", "averaged"]
    assert effective.credibility == pytest.approx(0.97, abs=0.03)
    assert by["random", "effective"].credibility == pytest.approx(0.83, abs=0.07)
    assert effective.length == pytest.approx(0.0852, abs=0.001)
    ratio = averaged.length / effective.length
    assert ratio == pytest.approx(np.sqrt(6 * 0.36880211), abs=0.02)
    assert averaged.credibility > effective.credibility
    assert effective.credibility_error == pytest.approx(
        np.sqrt(effective.credibility * (1 - effective.credibility) / 400)
    )
    again = study.simulate_credibility(400, rng=1)
    assert [r.to_dict() for r in again] == [r.to_dict() for r in results]


def test_progress_is_reported():
    calls = []
    study.simulate_credibility(2, n=40, report=lambda done, total: calls.append((done, total)))
    assert calls == [(0, 4), (2, 4)]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"replicates": 1}, "replicates: 1 is not"),
        ({"n": 601}, "n: 601 is not a multiple of 8"),
        ({"level": 0}, "level: 0 is not between"),
    ],
)
def test_simulations_are_checked(options, message):
    with pytest.raises(pv.InputError, match=message):
        study.simulate_credibility(**options)
    with pytest.raises(pv.InputError, match="task: unknown 'pos'"):
        study.published_folds("pos")


@pytest.mark.slow
def test_pairing_covers_and_shortens():
    results = pairing_study((1000,), ("recall",), replicates=300, rng=2)
    paired, independent = results
    assert (paired.posterior, independent.posterior) == ("paired", "independent")
    assert abs(paired.coverage - 0.95) < 4 * np.sqrt(0.95 * 0.05 / 300)
    assert independent.coverage > 0.98
    assert paired.length < 0.7 * independent.length
    truth = pv.PairedCounts(CASES)
    assert paired.difference == pytest.approx(
        pv.metrics.recall(truth.b) - pv.metrics.recall(truth.a)
    )
    with pytest.raises(pv.InputError, match="replicates: 1 is not"):
        pairing_study(replicates=1)


def test_a_normal_rule_has_the_textbook_error():
    """With the ideal direction and cut, both errors are the normal tail at half the distance."""
    tail = stats.norm.sf(np.sqrt(0.5) / 2)
    assert expected_f1(np.array([-0.25, 0.5, 0.5])) == pytest.approx(1 - tail, abs=1e-12)
    assert integrate.quad(stats.norm.pdf, np.sqrt(0.5) / 2, np.inf)[0] == pytest.approx(tail)
