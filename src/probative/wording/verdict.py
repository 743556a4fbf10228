"""Word the verdict of a comparison from its numbers, never stronger than they are.

The interval, the p-value and the posterior each show a difference or not. If they disagree, the
sentence says so and follows the weaker one. With a region of equivalence there are two separate
claims: that there is a difference at all, which the p-value tests, and that it exceeds the region,
which the posterior shows.
"""

from __future__ import annotations

from math import isnan
from typing import TYPE_CHECKING, Any

from probative.metrics import NEEDS_TN
from probative.wording.numbers import (
    brackets,
    equals,
    in_words,
    is_of_ranking,
    limit,
    metric_name,
    number,
    p_equals,
    points,
    region,
    scale_word,
    score_name,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from probative.results import (
        BayesTest,
        BucketDifference,
        Ceiling,
        Comparison,
        Comparisons,
        ModelComparison,
        RunScores,
    )


# --- Comparisons of two systems

# The word for the evidence, the smallest posterior probability that one system is better (by more
# than the region of equivalence), and the largest p-value.
STRENGTHS = (("strong", 0.99, 0.01), ("moderate", 0.95, 0.05))
_, LIKELY, SIGNIFICANT = STRENGTHS[-1]
_ROUNDING = 1e-12
_NOTABLE_RATIO = 1.05  # of the numbers of items returned, to be given as the reason


def verdict(comparison: Comparison, others: Sequence[BucketDifference] = ()) -> str:
    """Say in plain words what a comparison shows; `others` are differences in other metrics."""
    c = comparison
    both, reason = f"{c.a} and {c.b}", no_verdict(c)
    if c.identical and is_of_ranking(c.metric):
        return (
            f"The ranking is identical: {both} order the items in the same way, and "
            f"{metric_name(c.metric)} depends on the order alone."
        )
    if c.identical:
        return f"{both} gave identical outputs: no item that counts differs."
    if reason and isnan(c.difference):
        return f"No verdict on {both}: {reason}."
    if reason:
        return f"{_scores(c)} No verdict: {reason}."
    parts = (_scores(c), _evidence(c), _trade_off(c, others), _outlook(c))
    return " ".join(filter(None, parts))


def _trade_off(c: Comparison, others: Sequence[BucketDifference]) -> str:
    """Say that one system is more precise and the other finds more, if the intervals show it."""
    own = {gap.metric: gap for gap in others if (gap.a, gap.b) == (c.a, c.b)}
    if not {"precision", "recall"} <= own.keys():
        return ""
    precision, recall = own["precision"], own["recall"]
    who = c.b if precision.low > 0 > recall.high else ""
    who = c.a if precision.high < 0 < recall.low else who
    more, less = (points(abs(gap.difference), 1) for gap in (precision, recall))
    return f"{who} is more precise by {more} points and finds {less} points less." if who else ""


def no_verdict(comparison: Comparison) -> str | None:
    """Return why two systems cannot be judged, or None if they can."""
    c = comparison
    if c.positives == 0 and c.metric.removeprefix("macro_") not in NEEDS_TN:
        return "gold has nothing to find"
    if isnan(c.difference):
        return f"{metric_name(c.metric, c.match)} is undefined for one of them"
    if isnan(c.p_b_better):
        return c.lacking or (
            f"a score rests on a single {c.by}, which does not show how the systems do on others"
        )
    return None


def strength(comparison: Comparison) -> str | None:
    """Return the word for the evidence that the higher-scoring system is better, or None."""
    if no_verdict(comparison) or _disagreement(comparison):
        return None
    return _named_strength(_better(comparison)[1], pvalue_of(comparison))


def _named_strength(likely: float, pvalue: float) -> str | None:
    """Return the word for evidence of this probability and p-value, or None if it is too weak."""
    words = (word for word, least, most in STRENGTHS if likely >= least and pvalue <= most)
    return next(words, None)


def _scores(c: Comparison) -> str:
    direction = "higher" if c.difference > 0 else "lower"
    size = points(abs(c.difference), 1)
    size = f"less than {size[:-1]}1" if float(size) == 0 else size
    head = f"{c.b} scores {size}{scale_word()} {direction} than {c.a}"
    if c.difference == 0:
        head = f"{c.b} and {c.a} score the same"
    scores = f"{score_name(c)} {points(c.score_b, 1)} against {points(c.score_a, 1)}"
    return f"{head} ({scores}; {_interval(c)})."


def _interval(c: Comparison | BayesTest | Ceiling) -> str:
    limits = brackets(c.low, c.high, 1, signed=True)
    return f"{100 * c.level:g} % interval of the difference {limits}"


def _evidence(c: Comparison) -> str:
    some = f"There is {_named_strength(1.0, pvalue_of(c))} evidence of a difference ({tested(c)}),"
    disagreement = _disagreement(c)
    if _equivalent(c):
        same = f"practical purposes they are equivalent: {_within(c)}."
        significant = pvalue_of(c) <= SIGNIFICANT and not disagreement
        return f"{some} but for {same}" if significant else f"For {same}"
    claim = f"{_better(c)[0]} is better{_beyond(c)}"
    if disagreement:
        return f"{disagreement} The weaker one counts: whether {claim} stays open."
    word, figures = strength(c), f"{_chance(c)}, {tested(c)}"
    if word:
        return f"The evidence that {claim} is {word}: {figures}."
    if c.rope > 0 and pvalue_of(c) <= SIGNIFICANT:
        return f"{some} but not that it exceeds {region(c.rope)}: {_chance(c)}."
    spared = c.p_adjusted is not None and _excludes_zero(c)
    aside = " (the interval is not adjusted for the number of comparisons)" if spared else ""
    return f"The difference is not established: {figures}{aside}."


def _disagreement(c: Comparison) -> str:
    """Say how interval, test and posterior disagree; empty if they agree."""
    interval, cut = f"the {100 * c.level:g} % interval", 1 - c.level
    # the interval is not adjusted for the number of comparisons, so the raw p-value is compared
    adjusted = "" if c.p_adjusted is None else f", adjusted {p_equals(c.p_adjusted)}"
    pvalue = f"p {p_equals(c.pvalue, cut)} by {c.by}{_student(c)}{adjusted}"
    test = f"a difference at the {100 * cut:.4g} % level ({pvalue})"
    # whether the test alone finds a difference at the level of the interval
    passes, chance = c.p_decision <= (1 - c.level) * (1 + 1e-9), f"{_chance(c)}."
    if _excludes_zero(c) and not passes:
        found = f"{interval} excludes 0, but the test does not find {test}"
        return f"Interval and test disagree: {found}; {chance}"
    if passes and not _excludes_zero(c):
        found = f"the test finds {test}, but {interval} includes 0"
        return f"Interval and test disagree: {found}; {chance}"
    if c.rope == 0 and pvalue_of(c) <= SIGNIFICANT and _better(c)[1] < LIKELY:
        return f"Test and posterior disagree: {tested(c)}, but {chance}"
    return ""


def _excludes_zero(c: Comparison) -> bool:
    return c.low > _ROUNDING or c.high < -_ROUNDING


def _better(c: Any, a: str = "", b: str = "") -> tuple[str, float]:
    """Return the system that scores higher, and the probability that it is better."""
    a, b = a or c.a, b or c.b  # a Bayes test has no names
    if c.difference == 0:
        return max((b, c.p_b_better), (a, c.p_a_better), key=lambda pair: pair[1])
    return (b, c.p_b_better) if c.difference > 0 else (a, c.p_a_better)


def _equivalent(c: Comparison | BayesTest) -> bool:
    return c.rope > 0 and c.p_equivalent >= LIKELY


def _within(c: Comparison | BayesTest) -> str:
    return f"P(the difference is at most {region(c.rope)}) {equals(c.p_equivalent)}"


def _beyond(c: Comparison | BayesTest) -> str:
    return f" by more than {region(c.rope)}" if c.rope > 0 else ""


def _chance(c: Comparison) -> str:
    better, likely = _better(c)
    return f"P({better} better{_beyond(c)}) {equals(likely)}"


def tested(c: Comparison) -> str:
    """Name the p-value that decides, and what was exchanged."""
    if c.p_adjusted is not None:
        return f"adjusted p {p_equals(c.p_adjusted)} by {c.by}"
    return f"p {p_equals(c.pvalue)} by {c.by}{_student(c)}"


def _student(c: Comparison) -> str:
    """Name Student's p-value by unit if it decides differently from the exchange test."""
    cuts = (1 - c.level, *(most for _, _, most in STRENGTHS))
    if not any(c.pvalue <= cut * (1 + 1e-9) < c.p_unit for cut in cuts):
        return ""
    return f", Student's p {p_equals(c.p_unit, *cuts)}"


def _outlook(c: Comparison) -> str:
    """Say how many units a difference of this size would need, if there were too few."""
    if pvalue_of(c) <= SIGNIFICANT or c.units_needed is None or c.observed_units is None:
        return ""
    if c.units_needed <= c.observed_units or _equivalent(c):
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
    """Say why Student's p-value by unit decides instead of that of the exchange test."""
    # `returned` are numbers of items, `excess` is the ratio of the variation of the difference to
    # the one that exchanging assumes, and `pvalues` are that of the exchange and Student's
    few, many = sorted(returned)
    why = f"the difference varies {excess:.2f} times as much as exchanging the systems assumes"
    if few > 0 and many / few >= _NOTABLE_RATIO:
        more, less = names if returned[0] > returned[1] else names[::-1]
        times = f"{many / few:.2f} times as many as {less}"
        why = f"the systems return different amounts: {more} {times}"
    exchanged, student = (p_equals(one) for one in pvalues)
    return (
        f"{why}; the exchange test alone (p {exchanged}) would overstate the evidence, so "
        f"Student's p by {unit} decides (p {student})"
    )


# --- Bayes tests, with the words and thresholds of `compare`
#
# A Bayes test has no p-value. The two-sided tail of its own posterior, twice the smaller of P(H0)
# and P(H1), replaces it: the evidence has a name only if the interval of that level excludes 0.

_NOTABLE_FOLD_EFFECT = 2  # a larger fold design effect is mentioned
HYPOTHESES = (
    "H0: B's score is at most A's. H1: B's score is higher. Likelier hypothesis: the one with the "
    "higher probability, which the test of Wang and Li accepts, however close the two are. The "
    "verdict asks for as much evidence as compare does."
)


def outcome_words(test: BayesTest, a: str = "A", b: str = "B") -> str:
    """Return the verdict of a test in a few words: ``B better: strong``, ``not established``."""
    if isnan(test.difference):
        return "no verdict"
    if _equivalent(test):
        return "equivalent"
    better, likely = _better(test, a, b)
    word = _named_strength(likely, _tail(test))
    return f"{better} better: {word}" if word else "not established"


def outcome_sentence(test: BayesTest, a: str = "A", b: str = "B") -> str:
    """Say what a test shows about two models: the evidence first, then the scores."""
    name = metric_name(test.metric)
    if isnan(test.difference):
        return f"{name}: no verdict: it is undefined for one of {a} and {b}."
    (better, likely), beyond = _better(test, a, b), _beyond(test)
    chance = f"P({better} better{beyond}) {equals(likely)}"
    word, any_difference = (_named_strength(p, _tail(test)) for p in (likely, 1.0))
    if _equivalent(test):
        said = f"for practical purposes they are equivalent: {_within(test)}"
    elif word:
        said = f"the evidence that {better} is better{beyond} is {word}: {chance}"
    elif test.rope > 0 and any_difference:
        said = (
            f"there is {any_difference} evidence of a difference, but not that it exceeds "
            f"{region(test.rope)}: {chance}"
        )
    else:
        said = f"the difference is not established: {chance}"
    scores = f"{b} {points(test.score_b, 1)}, {a} {points(test.score_a, 1)}"
    return f"{name}: {said} ({scores}; {_interval(test)})."


def _tail(test: BayesTest) -> float:
    """Return the two-sided tail probability of no difference."""
    return 2 * min(test.p_h0, test.p_h1)


def training_sentence(test: BayesTest, published: BayesTest | None = None) -> str | None:
    """Return a sentence on the training variance, or None if it is unremarkable."""
    # `published` is the test without training variance, if `test` allows for it
    effect, name = test.fold_design_effect, metric_name(test.metric)
    if effect is None or effect <= _NOTABLE_FOLD_EFFECT:
        return None
    if isnan(effect):
        return (
            f"{name}: the training variance cannot be measured here (a fold without a score, or "
            f"folds that are all alike) and is not allowed for."
        )
    sentence = (
        f"{name}: the differences of the folds vary {number(effect, 1)} times as much as their "
        f"items explain, so the models depend on their training data."
    )
    if published is None:
        return f"{sentence} This test does not allow for it."
    chance = f"P(B better) {equals(published.p_b_better)}"
    return (
        f"{sentence} The verdict allows for it; the published test, which does not, has {chance}."
    )


def model_verdicts(comparison: ModelComparison) -> list[str]:
    """Say what a cross-validation shows about two models, one sentence per metric."""
    a, b = comparison.a, comparison.b
    return [outcome_sentence(test, a, b) for test in comparison.adjusted_tests]


def model_remarks(comparison: ModelComparison) -> list[str]:
    """Return remarks on the verdicts of a cross-validation: training variance, and scope."""
    tests = zip(comparison.adjusted_tests, comparison.paired_tests, strict=True)
    of_metrics = [training_sentence(test, published) for test, published in tests]
    instances = f"about {comparison.folds[0].train:,} such instances"
    meaning = f"These probabilities apply to training on {instances}, not to one trained model."
    return [*filter(None, of_metrics), meaning]


# --- Comparisons of several runs: of these models, and of training again
#
# The two claims are kept apart: what holds for these models need not hold for new runs.

_FEWEST_RUNS_FOR_A_SPREAD = 3
# with 20 runs, a failure in one run of ten is rarely missed: 0.9^20 = 0.12
_FEWEST_RUNS_TO_SEE_FAILURES = 20


def runs_verdict(result: Comparisons, a: str, b: str, comparisons: Sequence[Comparison]) -> str:
    """Say what several runs of two systems show, from the comparisons in one score."""
    own = {c.question: c for c in comparisons if (c.a, c.b) == (a, b)}
    models, procedures = own["models"], own.get("procedures")
    runs = [result.runs_of(name, models.metric) for name in (a, b)]
    of_a, of_b = (in_words(len(one), 10) for one in runs)
    parts = [f"These models, {of_a} of {a} and {of_b} of {b}: {verdict(models)}"]
    if procedures is None:
        single = " and of ".join(one.system for one in runs if len(one) == 1)
        what = f"One run of {single} does" if single else "These scores do"
        parts.append(f"{what} not show whether training again would give the same.")
    elif not models.identical:
        parts.append(_of_new_runs(procedures))
    return " ".join([*parts, *_cautions(runs)])


def _of_new_runs(c: Comparison) -> str:
    """Say whether new runs would be better, too."""
    reason = no_verdict(c)
    if reason:
        return f"No verdict on training again: {reason}."
    better, other, likely, new_run = c.b, c.a, c.p_b_better, c.p_new_run_better
    if c.difference < 0:
        better, other, likely = c.a, c.b, c.p_a_better
        new_run = None if new_run is None else 1 - new_run
    beyond, word = _beyond(c), strength(c)
    figures = (
        f"mean difference {limit(c.difference)}{scale_word()}, {100 * c.level:g} % interval "
        f"{brackets(c.low, c.high, 1, signed=True)} for test set and runs together, "
        f"P({better} better{beyond}) {equals(likely)}, {tested(c)}"
    )
    beats = f"training {better} again would beat {other}{beyond}"
    claim = f"The evidence that {beats} is {word}" if word else f"That {beats} is not established"
    if _equivalent(c):
        claim = "Trained again, they would be equivalent for practical purposes"
        figures = f"{figures}, P(at most {region(c.rope)} apart) {equals(c.p_equivalent)}"
    if new_run is None or isnan(new_run):
        return f"{claim}: {figures}."
    chance = f"with probability {equals(new_run).removeprefix('= ')}"
    return f"{claim}: {figures}. A new run of {better} would beat a new run of {other} {chance}."


def _cautions(runs: Sequence[RunScores]) -> list[str]:
    """Return the warnings that the scores of single runs give."""
    cautions = []
    if all(len(one) > 1 for one in runs):
        worse, better = sorted(runs, key=lambda one: one.mean)
        if worse.best > better.worst and worse.mean < better.mean:
            cautions.append(
                f"The best run of {worse.system} beats the worst of {better.system} "
                f"({metric_name(worse.metric)} {points(worse.best, 1)} against "
                f"{points(better.worst, 1)}): one run of each could show the opposite."
            )
    few = [one for one in runs if 1 < len(one) < _FEWEST_RUNS_FOR_A_SPREAD]
    if few:
        names = " and ".join(one.system for one in few)
        has = "has two runs" if len(few) == 1 else "have two runs each"
        cautions.append(f"{names} {has}: too few to show how much runs differ.")
    fewest = min((len(one) for one in runs if len(one) > 1), default=_FEWEST_RUNS_TO_SEE_FAILURES)
    if fewest < _FEWEST_RUNS_TO_SEE_FAILURES:
        procedure = "a procedure that fails in 1 run of 10 shows no failure in"
        cautions.append(f"{fewest} runs: {procedure} {100 * 0.9**fewest:.0f} % of such samples.")
    return cautions


# --- A system beside a second annotation of the same texts

CAVEAT = (
    "The second annotation shows how far two annotators agree who worked independently under the "
    "same guidelines. It is no upper bound: a system trained on the first annotator's habits can "
    "agree more with gold than a second person does, and repeating an error of gold counts as "
    "right."
)


def ceiling_sentence(c: Ceiling) -> str:
    """Say whether a system agrees with gold less or more than the second annotation does."""
    name = score_name(c)
    if isnan(c.difference):
        return f"{c.system} and {c.second} cannot be compared: {name} is undefined for one of them."
    figures = (
        f"({name} {points(c.score, 1)} against {points(c.second_score, 1)}; {_interval(c)}; "
        f"p {p_equals(c.pvalue)} by {c.by})"
    )
    agrees, than = f"{c.system} agrees with gold", f"than {c.second} does"
    settled = c.pvalue <= SIGNIFICANT and (c.low > 0 or c.high < 0)
    if not settled:
        return f"Whether {agrees} less or more {than} is not established {figures}."
    word, size = "less" if c.difference < 0 else "more", points(abs(c.difference), 1)
    return f"{agrees} {word} {than}, by {size} points {figures}."
