"""Bayes tests by integration against the sampling they replace, and many of them at once."""

from __future__ import annotations

import numpy as np
from timing import Line, against, in_turns, peak_bytes, show, within

import probative as pv
from probative_studies.bayes import published_folds

DRAWS = 1_000_000
TESTS = 10_000
METRICS = ("precision", "recall", "f1")


def by_sampling(a: pv.Counts, b: pv.Counts) -> list[float]:
    """The paper's procedure: a million draws of either model for each of the three scores."""
    rng = np.random.default_rng(0)
    chances = []
    for misses in (lambda c: c.fp + 1, lambda c: c.fn + 1, lambda c: c.fp + c.fn + 2):
        drawn_a, drawn_b = (rng.beta(c.tp + 1, misses(c), DRAWS) for c in (a, b))
        chances.append(float(np.mean(drawn_b <= drawn_a)))
    return chances


def by_integration(a: pv.Counts, b: pv.Counts) -> list[float]:
    """The same three probabilities, to 1e-10."""
    from probative.inference.posterior.independent import IndependentPosterior

    return [
        IndependentPosterior(pv.posterior(a, metric), pv.posterior(b, metric)).cdf(0.0)
        for metric in METRICS
    ]


def mcc_by_sampling(a: pv.Counts, b: pv.Counts) -> float:
    """P(H0) of Matthews' coefficient, from a million draws of either table."""
    rng = np.random.default_rng(0)
    drawn = []
    for c in (a, b):
        cells = rng.standard_gamma([[x + 1] for x in (c.tp, c.fp, c.fn, c.tn)], (4, DRAWS))
        drawn.append(pv.metrics.mcc(pv.Counts(*cells)))
    return float(np.mean(drawn[1] <= drawn[0]))


def tests(a: pv.Counts, b: pv.Counts) -> None:
    for metric in METRICS:
        pv.bayes_test(a, b, metric)


def whole_tests(a: pv.Counts, b: pv.Counts) -> list[float]:
    """With the interval of the difference, which the paper's procedure does not give."""
    return [pv.bayes_test(a, b, metric).low for metric in METRICS]


def random_pairs() -> tuple[pv.Counts, pv.Counts]:
    """Pairs of systems of about the same quality, on test sets of 200 to 20,000 positives."""
    rng = np.random.default_rng(1)
    positives = rng.integers(200, 20_000, TESTS)
    quality = rng.uniform(0.6, 0.95, TESTS)

    def system(gain: float) -> pv.Counts:
        recall, precision = np.clip(quality + gain + rng.normal(0, 0.01, (2, TESTS)), 0.3, 0.99)
        tp = np.round(positives * recall)
        return pv.Counts(tp, np.round(tp * (1 / precision - 1)), positives - tp)

    return system(0.0), system(0.005)


def main() -> bool:
    folds_a, folds_b = published_folds("ner")
    a, b = (pv.effective_counts(folds) for folds in (folds_a, folds_b))
    tables = pv.Counts(77, 44, 10, 702), pv.Counts(80, 40, 7, 706)
    gap = max(abs(x - y) for x, y in zip(by_sampling(a, b), by_integration(a, b), strict=True))
    assert gap < 0.002, gap
    many = random_pairs()
    works = {
        "draws": lambda: by_sampling(a, b),
        "alone": lambda: by_integration(a, b),
        "tests": lambda: tests(a, b),
        "folds": lambda: tests(folds_a, folds_b),
        "whole": lambda: whole_tests(folds_a, folds_b),
    }
    best = in_turns(9, **works)
    peaks = {name: peak_bytes(work) for name, work in works.items()}
    return show(
        "Bayes tests of precision, recall and F1 (NER folds of the paper)",
        [
            *(
                Line(what, best[name], best["draws"], at_most, (peaks[name], peaks["draws"]))
                for name, what, at_most in (
                    ("alone", "P(H0) of three scores / 2 x 1,000,000 draws per score", 0.01),
                    ("tests", "bayes_test of three scores / the draws", 0.01),
                    (
                        "folds",
                        f"bayes_test of three scores, {len(folds_a)} folds / the draws",
                        0.01,
                    ),
                    ("whole", "the same with the interval of the difference / the draws", 1.0),
                )
            ),
            against(
                "bayes_test of MCC / a million draws of both tables",
                lambda: pv.bayes_test(*tables, "mcc"),
                lambda: mcc_by_sampling(*tables),
                0.5,
            ),
            within(
                f"{TESTS:,} whole tests of F1 at once",
                lambda: pv.bayes_test(*many, "f1").low,
                2.0,
                3,
            ),
        ],
    )


if __name__ == "__main__":
    raise SystemExit(not main())
