"""The sentence that ends a comparison: built from its numbers, never stronger than they are."""

from __future__ import annotations

from math import floor, log10
from typing import TYPE_CHECKING

from probative.reporting.document import number, points

if TYPE_CHECKING:
    from probative.results import Comparison

__all__ = ["STRENGTHS", "verdict"]

# What the evidence is called: the posterior probability that one system is better (by more than
# the region of equivalence) must reach the first figure, the p-value must not exceed the second.
STRENGTHS = (("strong", 0.99, 0.01), ("moderate", 0.95, 0.05))
UNDECIDED = 0.8  # below this probability the data do not even lean to one side


def verdict(comparison: Comparison) -> str:
    """Say in plain words what a comparison of two systems has shown."""
    c = comparison
    if c.identical:
        return (
            f"{c.a} and {c.b} gave identical outputs: they were compared item by item, and "
            f"nothing that counts differs."
        )
    if c.difference != c.difference:
        return f"No verdict on {c.a} and {c.b}: {_name(c)} is undefined for one of them."
    if _equivalent(c):
        return f"{_scores(c)} {_equivalence(c)}"
    return " ".join(part for part in (_scores(c), _evidence(c), _outlook(c)) if part)


def strength(comparison: Comparison) -> str | None:
    """The word for evidence that the better-looking system is better, or None if it is too weak."""
    likely = max(comparison.p_a_better, comparison.p_b_better)
    for word, probability, pvalue in STRENGTHS:
        if likely >= probability and _pvalue(comparison) <= pvalue:
            return word
    return None


def _scores(c: Comparison) -> str:
    direction = "higher" if c.difference > 0 else "lower"
    size = points(abs(c.difference), 1)
    if c.difference == 0:
        head = f"{c.b} and {c.a} score the same"
    elif size == "0.0":
        head = f"{c.b} scores less than 0.1 points {direction} than {c.a}"
    else:
        head = f"{c.b} scores {size} points {direction} than {c.a}"
    return (
        f"{head} ({_name(c)} {points(c.score_b, 1)} against {points(c.score_a, 1)}; "
        f"{100 * c.level:g} % interval of the difference {_signed(c.low)} to {_signed(c.high)})."
    )


def _equivalent(c: Comparison) -> bool:
    return c.rope > 0 and c.p_equivalent >= STRENGTHS[-1][1]


def _equivalence(c: Comparison) -> str:
    return (
        f"For practical purposes they are equivalent: P(the difference is at most "
        f"{_size(c.rope)} points) {_probability(c.p_equivalent)}."
    )


def _evidence(c: Comparison) -> str:
    better, likely = max((c.b, c.p_b_better), (c.a, c.p_a_better), key=lambda pair: pair[1])
    beyond = f" by more than {_size(c.rope)} points" if c.rope > 0 else ""
    adjusted = "adjusted " if c.p_adjusted is not None else ""
    figures = (
        f"P({better} better{beyond}) {_probability(likely)}, "
        f"{adjusted}p {_small(_pvalue(c))} by {c.by}"
    )
    word = strength(c)
    if word:
        return f"The evidence that {better} is better{beyond} is {word}: {figures}."
    if likely >= UNDECIDED:
        return f"The evidence is weak and the difference is not established: {figures}."
    return f"The data do not say which is better; a difference is not established: {figures}."


def _outlook(c: Comparison) -> str:
    """How much data a difference of this size would need, where this test set was not enough."""
    if strength(c) or c.units_needed is None or c.observed_units is None:
        return ""
    if c.units_needed <= c.observed_units:
        return ""
    alone = " in a single test" if c.p_adjusted is not None else ""
    return (
        f"A difference of this size would need about {_round_up(c.units_needed):,} {c.by}s to show "
        f"(with {100 * c.power:g} % power{alone}); there are {c.observed_units:,}."
    )


def _pvalue(c: Comparison) -> float:
    return c.pvalue if c.p_adjusted is None else c.p_adjusted


def _name(c: Comparison) -> str:
    words = c.metric.replace("_", " ")
    return words.replace("f1", "F1").replace("fbeta", "F-beta")


def _size(rope: float) -> str:
    """A region as it was asked for, not rounded away."""
    return f"{100 * rope:.4g}"


def _signed(value: float) -> str:
    text = points(value, 1)
    return text if text.startswith("−") or float(text) == 0 else f"+{text}"


def _probability(value: float) -> str:
    """Three decimals, but never a certainty: no finite test set gives one."""
    return "> 0.999" if value >= 0.9995 else f"= {number(value, 3)}"


def _small(pvalue: float) -> str:
    return "< 0.001" if pvalue < 0.001 else f"= {number(pvalue, 3)}"


def _round_up(count: int) -> int:
    """To two leading digits: more would pretend to know."""
    step = 10 ** max(0, floor(log10(max(count, 1))) - 1)
    return int(-(-count // step) * step)
