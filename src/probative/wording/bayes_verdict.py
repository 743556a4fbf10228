"""The sentences of Bayes tests, with the words and thresholds of `compare`.

A Bayes test has no p-value. The two-sided tail of its own posterior, twice the smaller of P(H0) and
P(H1), takes that place: the evidence has a name only where the interval of that level leaves out 0.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from probative.wording.numbers import equals, metric_name, number, points, region
from probative.wording.verdict import LIKELY, UNDECIDED, better_looking, limit, named_strength

if TYPE_CHECKING:
    from probative.results import BayesTest, ModelComparison

__all__ = [
    "HYPOTHESES",
    "model_remarks",
    "model_verdicts",
    "outcome_sentence",
    "outcome_words",
    "training_sentence",
]

NOTABLE = 2  # a sentence names a fold design effect above this
HYPOTHESES = (
    "H0: B's score is at most A's. H1: B's score is higher. Likelier hypothesis: the one with the "
    "higher probability, which the test of Wang and Li accepts, however close the two are. The "
    "verdict asks for as much evidence as compare does."
)


def outcome_words(test: BayesTest, a: str = "A", b: str = "B") -> str:
    """Return the verdict of a test in a few words: ``B better: strong``, ``not established``."""
    if math.isnan(test.difference):
        return "no verdict"
    if _equivalent(test):
        return "equivalent"
    better, _, word = _evidence(test, a, b)
    return f"{better} better: {word}" if word else "not established"


def outcome_sentence(test: BayesTest, a: str = "A", b: str = "B") -> str:
    """Return what a test shows of two models: the evidence first, then the scores."""
    name = metric_name(test.metric)
    if math.isnan(test.difference):
        return f"{name}: no verdict: it is undefined for one of {a} and {b}."
    better, likely, word = _evidence(test, a, b)
    beyond = f" by more than {region(test.rope)}" if test.rope > 0 else ""
    chance = f"P({better} better{beyond}) {equals(likely)}"
    any_difference = named_strength(1.0, _tail(test))
    if _equivalent(test):
        said = (
            f"for practical purposes they are equivalent: P(the difference is at most "
            f"{region(test.rope)}) {equals(test.p_equivalent)}"
        )
    elif word:
        said = f"the evidence that {better} is better{beyond} is {word}: {chance}"
    elif test.rope > 0 and any_difference:
        said = (
            f"there is {any_difference} evidence of a difference, but not that it exceeds "
            f"{region(test.rope)}: {chance}"
        )
    elif likely >= UNDECIDED:
        said = f"the evidence is weak and the difference is not established: {chance}"
    else:
        said = f"a difference is not established: {chance}"
    return (
        f"{name}: {said} ({b} {points(test.score_b, 1)}, {a} {points(test.score_a, 1)}; "
        f"{100 * test.level:g} % interval of the difference {limit(test.low)} to "
        f"{limit(test.high)})."
    )


def _evidence(test: BayesTest, a: str, b: str) -> tuple[str, float, str | None]:
    """Return the model that looks better, the probability that it is, and the word for that."""
    better, likely = better_looking(test, a, b)
    return better, likely, named_strength(likely, _tail(test))


def _tail(test: BayesTest) -> float:
    """Return the two-sided tail probability of no difference."""
    return 2 * min(test.p_h0, test.p_h1)


def _equivalent(test: BayesTest) -> bool:
    return test.rope > 0 and test.p_equivalent >= LIKELY


def training_sentence(test: BayesTest, published: BayesTest | None = None) -> str | None:
    """Return what the reader must know of the training variance, or None.

    Parameters
    ----------
    test
        The test that the verdict rests on.
    published
        The test without training variance, where `test` allows for it.
    """
    effect, name = test.fold_design_effect, metric_name(test.metric)
    if effect is None:
        return None
    if math.isnan(effect):
        return (
            f"{name}: the training variance cannot be measured here (a fold without a score, or "
            f"folds that are all alike) and is not allowed for."
        )
    if effect <= NOTABLE:
        return None
    sentence = (
        f"{name}: the differences of the folds vary {number(effect, 1)} times as much as their "
        f"items explain, so the models depend on what they are trained on."
    )
    if published is None:
        return f"{sentence} This test does not allow for it."
    return (
        f"{sentence} The verdict allows for it; the published test, which does not, has P(B "
        f"better) {equals(published.p_b_better)}."
    )


def model_verdicts(comparison: ModelComparison) -> list[str]:
    """Return what a cross-validation shows of two models, one sentence per metric."""
    return [
        outcome_sentence(test, comparison.a, comparison.b) for test in comparison.adjusted_tests
    ]


def model_remarks(comparison: ModelComparison) -> list[str]:
    """Return what the reader must know of the verdicts of a cross-validation."""
    tests = zip(comparison.adjusted_tests, comparison.paired_tests, strict=True)
    of_metrics = [training_sentence(test, published) for test, published in tests]
    meaning = (
        f"These probabilities are about training on about {comparison.folds[0].train:,} instances "
        f"of this kind, not about one trained model."
    )
    return [*(remark for remark in of_metrics if remark), meaning]
