"""The sentence that ends a comparison: built from its numbers, never stronger than they are.

Three signs speak of a difference: the interval, the p-value and the posterior. Where they do not
agree, the sentence says so and goes by the weaker side. With a region of equivalence there are two
claims, kept apart: that there is a difference at all, which the p-value tests, and that it exceeds
the region, which the posterior tells.
"""

from __future__ import annotations

from math import isnan
from typing import TYPE_CHECKING

from probative.metrics import NEEDS_TN
from probative.wording.numbers import (
    equals,
    is_of_ranking,
    metric_name,
    number,
    points,
    region,
    signed_points,
)

if TYPE_CHECKING:
    from probative.results import BayesTest, Comparison

__all__ = [
    "LIKELY",
    "SIGNIFICANT",
    "STRENGTHS",
    "UNDECIDED",
    "better_looking",
    "limit",
    "named_strength",
    "no_verdict",
    "pvalue_of",
    "small_pvalue",
    "strength",
    "tested",
    "tested_pvalue",
    "verdict",
    "why_by_unit",
]

# What the evidence is called: the posterior probability that one system is better (by more than
# the region of equivalence) must reach the first figure, the p-value must not exceed the second.
STRENGTHS = (("strong", 0.99, 0.01), ("moderate", 0.95, 0.05))
_, LIKELY, SIGNIFICANT = STRENGTHS[-1]
UNDECIDED = 0.8  # below this probability the data do not even lean to one side
_ROUNDING = 1e-12
_AMOUNTS = 1.05  # times as many items returned: less explains nothing


def verdict(comparison: Comparison) -> str:
    """Say in plain words what a comparison of two systems has shown."""
    c = comparison
    reason = no_verdict(c)
    if c.identical and is_of_ranking(c.metric):
        return (
            f"The ranking is identical: {c.a} and {c.b} put the items into the same order, and "
            f"{metric_name(c.metric)} depends on the order alone."
        )
    if c.identical:
        return (
            f"{c.a} and {c.b} gave identical outputs: they were compared item by item, and "
            f"nothing that counts differs."
        )
    if reason and isnan(c.difference):
        return f"No verdict on {c.a} and {c.b}: {reason}."
    if reason:
        return f"{_scores(c)} No verdict: {reason}."
    return " ".join(part for part in (_scores(c), _evidence(c), _outlook(c)) if part)


def no_verdict(comparison: Comparison) -> str | None:
    """Why nothing can be said of two systems, or None if something can."""
    c = comparison
    if c.positives == 0 and c.metric.removeprefix("macro_") not in NEEDS_TN:
        return "the answer holds nothing to be found"
    if isnan(c.difference):
        return f"{metric_name(c.metric, c.match)} is undefined for one of them"
    if isnan(c.p_b_better):
        return c.lacking or (
            f"a score here rests on one {c.by} alone, and one {c.by} is no evidence of how the "
            f"systems do on others"
        )
    return None


def strength(comparison: Comparison) -> str | None:
    """The word for evidence that the better-looking system is better, or None if it is too weak.

    With a region of equivalence: better by more than that.
    """
    if no_verdict(comparison) or _disagreement(comparison):
        return None
    return named_strength(_better(comparison)[1], pvalue_of(comparison))


def named_strength(likely: float, pvalue: float) -> str | None:
    """Return the word for evidence of this probability and p-value, or None if it is too weak."""
    for word, least, most in STRENGTHS:
        if likely >= least and pvalue <= most:
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
    limits = f"{limit(c.low)} to {limit(c.high)}"
    return (
        f"{head} ({_name(c)} {points(c.score_b, 1)} against {points(c.score_a, 1)}; "
        f"{100 * c.level:g} % interval of the difference {limits})."
    )


def _name(c: Comparison) -> str:
    """The score before its figures: a comma closes what is said about it."""
    return metric_name(c.metric, c.match) + "," * (c.match is not None)


def _evidence(c: Comparison) -> str:
    if c.rope > 0 and c.p_equivalent >= LIKELY:
        return _equivalence(c)
    better, likely = _better(c)
    disagreement = _disagreement(c)
    if disagreement:
        return (
            f"{disagreement} Going by the weaker of the two, it is open whether {better} is better"
            f"{_beyond(c)}."
        )
    word = strength(c)
    if word:
        return f"The evidence that {better} is better{_beyond(c)} is {word}: {_figures(c)}."
    if c.rope > 0 and pvalue_of(c) <= SIGNIFICANT:
        return (
            f"There is {named_strength(1.0, pvalue_of(c))} evidence of a difference ({tested(c)}), "
            f"but not that it exceeds {region(c.rope)}: {_chance(c)}."
        )
    aside = " (the interval does not allow for the number of comparisons)" if _spared(c) else ""
    if likely >= UNDECIDED:
        return f"The evidence is weak and the difference is not established: {_figures(c)}{aside}."
    if c.rope > 0:
        return (
            f"A difference is not established ({tested(c)}){aside}, and even less one of more than "
            f"{region(c.rope)}: {_chance(c)}."
        )
    return (
        f"The data do not say which is better; a difference is not established: "
        f"{_figures(c)}{aside}."
    )


def _equivalence(c: Comparison) -> str:
    within = f"P(the difference is at most {region(c.rope)}) {equals(c.p_equivalent)}"
    if _shown(c):
        return (
            f"There is {named_strength(1.0, pvalue_of(c))} evidence of a difference ({tested(c)}), "
            f"but for practical purposes they are equivalent: {within}."
        )
    return f"For practical purposes they are equivalent: {within}."


def _disagreement(c: Comparison) -> str:
    """What the signs of a difference say, where they do not say the same."""
    interval, cut = f"the {100 * c.level:g} % interval", 1 - c.level
    # the interval is not adjusted for the number of comparisons: nor is the p-value beside it
    adjusted = "" if c.p_adjusted is None else f", adjusted {small_pvalue(c.p_adjusted)}"
    pvalue = f"p {small_pvalue(c.pvalue, cut)} by {c.by}{_student(c)}{adjusted}"
    test = f"a difference at the {100 * cut:.4g} % level ({pvalue})"
    chance = f"{_chance(c)}."
    if _leaves_out_zero(c) and not _passes(c):
        return (
            f"Interval and test disagree: {interval} leaves out 0, but the test does not find "
            f"{test}; {chance}"
        )
    if _passes(c) and not _leaves_out_zero(c):
        return (
            f"Interval and test disagree: the test finds {test}, but {interval} includes 0; "
            f"{chance}"
        )
    if c.rope == 0 and pvalue_of(c) <= SIGNIFICANT and _better(c)[1] < LIKELY:
        return f"Test and posterior disagree: {tested(c)}, but {chance}"
    return ""


def _leaves_out_zero(c: Comparison) -> bool:
    return c.low > _ROUNDING or c.high < -_ROUNDING


def _passes(c: Comparison) -> bool:
    """Whether the test alone finds a difference at the level of the interval."""
    return c.p_decision <= (1 - c.level) * (1 + 1e-9)


def _shown(c: Comparison) -> bool:
    """Whether test and interval agree that there is a difference."""
    return pvalue_of(c) <= SIGNIFICANT and not _disagreement(c)


def _spared(c: Comparison) -> bool:
    """Whether the interval leaves out 0 only because it was not adjusted."""
    return c.p_adjusted is not None and _leaves_out_zero(c)


def _better(c: Comparison) -> tuple[str, float]:
    return better_looking(c, c.a, c.b)


def better_looking(c: Comparison | BayesTest, a: str, b: str) -> tuple[str, float]:
    """Return the system that scores higher, and the probability that it is better."""
    if c.difference == 0:
        return max((b, c.p_b_better), (a, c.p_a_better), key=lambda pair: pair[1])
    return (b, c.p_b_better) if c.difference > 0 else (a, c.p_a_better)


def _beyond(c: Comparison) -> str:
    return f" by more than {region(c.rope)}" if c.rope > 0 else ""


def _figures(c: Comparison) -> str:
    return f"{_chance(c)}, {tested(c)}"


def _chance(c: Comparison) -> str:
    better, likely = _better(c)
    return f"P({better} better{_beyond(c)}) {equals(likely)}"


def tested(c: Comparison) -> str:
    """Name the p-value that decides, and what was exchanged."""
    if c.p_adjusted is not None:
        return f"adjusted p {small_pvalue(c.p_adjusted)} by {c.by}"
    return f"p {small_pvalue(c.pvalue)} by {c.by}{_student(c)}"


def _student(c: Comparison) -> str:
    """Name Student's p-value by unit where it decides otherwise than that of the exchange."""
    cuts = (1 - c.level, *(most for _, _, most in STRENGTHS))
    if not any(c.pvalue <= cut * (1 + 1e-9) < c.p_unit for cut in cuts):
        return ""
    return f", Student's p {small_pvalue(c.p_unit, *cuts)}"


def _outlook(c: Comparison) -> str:
    """How much data a difference of this size would need, where this test set was not enough."""
    if pvalue_of(c) <= SIGNIFICANT or c.units_needed is None or c.observed_units is None:
        return ""
    if c.units_needed <= c.observed_units or (c.rope > 0 and c.p_equivalent >= LIKELY):
        return ""
    alone = " in a single test" if c.p_adjusted is not None else ""
    return (
        f"A difference of this size would need about {c.units_needed:,} {c.by}s to show "
        f"(with {100 * c.power:g} % power{alone}); there are {c.observed_units:,}."
    )


def pvalue_of(c: Comparison) -> float:
    """Return the p-value that decides: adjusted, where there are several comparisons."""
    return c.p_decision if c.p_adjusted is None else c.p_adjusted


def tested_pvalue(c: Comparison) -> float:
    """Return the p-value that a table shows: of the test, or adjusted where there are several."""
    return c.pvalue if c.p_adjusted is None else c.p_adjusted


def why_by_unit(
    names: tuple[str, str],
    returned: tuple[float, float],
    excess: float,
    pvalues: tuple[float, float],
    unit: str,
) -> str:
    """Say why Student's p-value by unit decides instead of that of the exchange.

    Parameters
    ----------
    names, returned
        The baseline and the challenger, and how many items each returns.
    excess
        How many times as much as exchanging assumes the difference varies.
    pvalues
        Of the exchange, and Student's.
    unit
        What was exchanged.
    """
    few, many = sorted(returned)
    why = f"the difference varies {excess:.2f} times as much as exchanging the systems assumes"
    if few > 0 and many / few >= _AMOUNTS:
        more, less = names if returned[0] > returned[1] else names[::-1]
        times = f"{many / few:.2f} times as many as {less}"
        why = f"the systems return different amounts: {more} {times}"
    exchanged, student = map(small_pvalue, pvalues)
    return (
        f"{why}; the exchange test alone (p {exchanged}) would overstate the evidence, so "
        f"Student's p by {unit} decides (p {student})"
    )


def small_pvalue(pvalue: float, *limits: float) -> str:
    """Three decimals, or as many as it takes to tell it from a limit that it does not meet."""
    if pvalue < 0.001:
        return "< 0.001"
    limits = limits or tuple(most for _, _, most in STRENGTHS)
    texts = [number(pvalue, digits) for digits in range(3, 8)]
    apart = (t for t in texts if all(abs(float(t) - limit) > _ROUNDING for limit in limits))
    exact = any(abs(pvalue - limit) <= _ROUNDING for limit in limits)
    return f"= {texts[0] if exact else next(apart, texts[0])}"


def limit(value: float) -> str:
    """One decimal, or as many as it takes to tell it from 0."""
    texts = [signed_points(value, digits) for digits in range(1, 5)]
    return next((text for text in texts if float(text.replace("−", "-")) != 0), texts[0])
