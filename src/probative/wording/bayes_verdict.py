"""What Bayes tests say in sentences, no stronger than their numbers."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from probative.wording import number, points

if TYPE_CHECKING:
    from probative.results import BayesTest, ModelComparison

__all__ = ["model_verdicts", "outcome_sentence", "training_sentence"]

NOTABLE = 2  # a fold design effect above this is told in words


def outcome_sentence(test: BayesTest, a: str = "A", b: str = "B") -> str:
    """Which of two models is better, and with what probability."""
    better, chance = max((b, test.p_b_better), (a, test.p_a_better), key=lambda pair: pair[1])
    beyond = f" by more than {points(test.rope)} points" if test.rope > 0 else ""
    sentence = f"{test.metric}: {better} is better{beyond} with probability "
    sentence += _certainty(chance)
    if test.rope > 0 and test.p_equivalent > chance:
        sentence += f"; most probably ({_certainty(test.p_equivalent)}) neither is"
    return f"{sentence}."


def training_sentence(test: BayesTest, published: BayesTest | None = None) -> str | None:
    """What the reader must know of the training variance, or None.

    Parameters
    ----------
    test
        The test that the verdict rests on.
    published
        The test without training variance, where `test` allows for it.
    """
    effect, name = test.fold_design_effect, test.metric
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
        f"{sentence} The verdict allows for it; the published test, which does not, gives B a "
        f"probability of {_certainty(published.p_b_better)}."
    )


def model_verdicts(comparison: ModelComparison) -> list[str]:
    """What a cross-validation says of two models: one sentence per metric, and what it means."""
    sentences = []
    for test, published in zip(comparison.adjusted_tests, comparison.paired_tests, strict=True):
        adjusted = (
            outcome_sentence(test, comparison.a, comparison.b),
            training_sentence(test, published),
        )
        sentences += [sentence for sentence in adjusted if sentence]
    half = comparison.folds[0].train
    sentences.append(
        f"These probabilities speak of training on about {half:,} instances of this kind, not of "
        f"one trained model."
    )
    return sentences


def _certainty(probability: float) -> str:
    return "above 0.9999" if probability > 0.9999 else number(probability, 4)
