"""Word what results show in a few sentences, never stronger than their numbers are.

The interval, the p-value and the posterior of a comparison each show a difference or not. If they
disagree, the sentence says so and follows the weaker one. With a region of equivalence there are
two separate claims: that there is a difference at all, which the p-value tests, and that it exceeds
the region, which the posterior shows.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import combinations, groupby, starmap
from math import isnan
from string import ascii_letters
from typing import TYPE_CHECKING, Any

from probative.metrics import NEEDS_TN, TABLE, Metric
from probative.wording.numbers import (
    brackets,
    counted,
    equals,
    in_words,
    is_of_ranking,
    limit,
    listed,
    metric_name,
    number,
    p_equals,
    points,
    region,
    scale_word,
    score_name,
    signed_points,
    some,
)

if TYPE_CHECKING:
    from probative.results import (
        BayesTest,
        BucketDifference,
        Ceiling,
        Comparison,
        Comparisons,
        DatasetComparisons,
        DatasetCount,
        Estimate,
        EstimatedDifference,
        EstimatedScore,
        Group,
        GroupSummary,
        Heterogeneity,
        ModelComparison,
        RankedPair,
        RankedSystem,
        Ranking,
        RunScores,
        Sampled,
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
        return c.unknown or (
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
    some = f"There is {_named_strength(1.0, pvalue_of(c))} evidence of a difference ({_tested(c)}),"
    disagreement = _disagreement(c)
    if _equivalent(c):
        same = f"practical purposes they are equivalent: {_within(c)}."
        significant = pvalue_of(c) <= SIGNIFICANT and not disagreement
        return f"{some} but for {same}" if significant else f"For {same}"
    claim = f"{_better(c)[0]} is better{_beyond(c)}"
    if disagreement:
        return f"{disagreement} The weaker one counts: whether {claim} stays open."
    word, figures = strength(c), f"{_chance(c)}, {_tested(c)}"
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
        return f"Test and posterior disagree: {_tested(c)}, but {chance}"
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


def _tested(c: Comparison) -> str:
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
        f"P({better} better{beyond}) {equals(likely)}, {_tested(c)}"
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


# --- Groups of a comparison

# the denominator of an overall score, by which it weighs the groups
_WEIGHED_BY = {"precision": "what the system returns there", "npv": "what the system rejects there"}


def sentences_of_groups(
    summary: GroupSummary, whole: Comparison, groups: Sequence[Group]
) -> tuple[str, ...]:
    """Return the sentences about one pair: where it is decided, how groups vary, warnings."""
    metrics = {c.metric for group in groups for c in group.comparisons or ()}
    said = [_decided(summary, whole, named=len(metrics) > 1)]
    if untested := summary.groups - summary.tested:
        holds = "holds" if untested == 1 else "hold"
        what = "one unit, identical outputs, or no gold items"
        said.append(f"{counted(untested, 'group')} {holds} nothing to test: {what}.")
    said += _spread_sentences(summary.heterogeneity)
    if "reversal" in summary.disagreements:
        said.append(_reversal(summary))
    if "mixed" in summary.disagreements:
        s = summary
        said.append(
            f"Warning: the groups disagree. {s.b} is better than {s.a} in {some(s.better)} and "
            f"worse in {some(s.worse)}: which of the two is better depends on the group, and the "
            f"overall difference ({signed_points(s.difference)}) holds for this mixture alone."
        )
    if "against-most" in summary.disagreements:
        said.append(_against_most(summary, groups))
    return tuple(said)


def words_of_disagreement(summary: GroupSummary) -> str | None:
    """Say briefly how the groups disagree with each other or with the whole; None if not."""
    if not summary.disagreements:
        return None
    why = "most of them point the other way"
    if "reversal" in summary.disagreements:
        why = "all of them point the other way (Simpson's paradox)"
    if "mixed" in summary.disagreements:
        why = f"better in {some(summary.better)}, worse in {some(summary.worse)}"
    return f"the groups disagree: {why}"


def _decided(s: GroupSummary, whole: Comparison, *, named: bool) -> str:
    score = f", {metric_name(s.metric, whole.match)}" if named else ""
    head = f"By {s.column}, {counted(s.groups, 'group')}{score}"
    tests = f"Holm-adjusted p ≤ {1 - whole.level:.4g}, {counted(s.tests, 'test')}"
    if not s.better and not s.worse:
        return f"{head}: in none is a difference between {s.b} and {s.a} decided ({tests})."
    parts = [
        f"{word} than {s.a} in {len(names)} ({some(names)})"
        for word, names in (("better", s.better), ("worse", s.worse))
        if names
    ]
    open_ones = s.tested - len(s.better) - len(s.worse)
    rest = f"; in {open_ones:,} it is not decided" if open_ones else ""
    return f"{head}: {s.b} is {' and '.join(parts)}{rest} ({tests})."


def _spread_sentences(h: Heterogeneity | None, parts: str = "groups") -> list[str]:
    """Say whether differences vary over groups (or other parts) by more than chance."""
    if h is None:
        return []
    q = f"Cochran's Q = {number(h.q, 1)} on {h.degrees_of_freedom:,}, p {p_equals(h.pvalue)}"
    how = "by more than chance" if h.pvalue <= 0.05 else "no more than chance explains"
    figures = f"{q}, I² = {100 * h.i_squared:.0f} %"
    return [f"The differences vary over the {parts} {how} ({figures})."]


def _reversal(s: GroupSummary) -> str:
    winner, loser, decided, number_of = s.a, s.b, s.worse, s.behind
    if s.difference < 0:  # B wins in the groups
        winner, loser, decided, number_of = s.b, s.a, s.better, s.ahead
    every = "both groups" if number_of == 2 else f"all {number_of:,} groups"
    by = _WEIGHED_BY.get(s.metric, "what the system returns and what is right there")
    why = (
        f"An overall score weighs each group by {by}, which differs between the systems: one has "
        f"more of its weight where both score low, as the two tables show."
    )
    if s.weights is None:
        why = f"{metric_name(s.metric)} over everything is not a mean of the groups."
    return (
        f"Warning: Simpson's paradox. In {every} {winner} scores higher than {loser} (decided in "
        f"{len(decided):,}), and over all groups together it scores lower ({s.b} − {s.a}: "
        f"{signed_points(s.difference)}). {why} Use the groups: within a group both systems are "
        f"judged on the same data."
    )


def _against_most(s: GroupSummary, groups: Sequence[Group]) -> str:
    for_b = (s.b, s.behind, s.worse)
    leader, against, decided = for_b if s.difference > 0 else (s.a, s.ahead, s.better)
    rows = sum(group.rows for group in groups)
    largest = max(groups, key=lambda group: group.rows)
    share = f"{largest.group} alone has {100 * largest.rows / rows:.0f} % of all rows"
    reason = "" if _can_reverse(s.metric) else " (no Simpson's paradox: some groups agree with it)"
    return (
        f"Warning: most groups point the other way. Over all groups {leader} is better, but in "
        f"{against:,} of {s.ahead + s.behind:,} it scores lower (decided in {len(decided):,}): a "
        f"few groups with much weight carry the overall difference; {share}{reason}."
    )


def _can_reverse(metric: str) -> bool:
    """Return True if the overall difference can have another sign than that of all groups."""
    known = TABLE.get(metric)
    if not isinstance(known, Metric):
        return True
    _, bottom = known.forms()
    return bool(bottom[0] != bottom[2] or bottom[1] != bottom[3])


# --- Several data sets


def sentences_of_datasets(result: DatasetComparisons) -> tuple[str, ...]:
    """Return the sentences: on how many a system is better, mean, pooled units, warnings."""
    said = [_counted(result), _mean(result)]
    if (c := result.pooled) is not None:
        said.append(
            f"All units together, each of the same weight, so that large data sets decide: "
            f"{signed_points(c.difference)}{scale_word()} ({100 * result.level:g} % interval "
            f"{brackets(c.low, c.high, 1, signed=True)}, p {p_equals(c.p_decision)})."
        )
    return (
        *said,
        *_datasets_disagree(result),
        *_spread_sentences(result.heterogeneity, "data sets"),
    )


def _counted(r: DatasetComparisons) -> str:
    parts = [_count(r, count) for count in (r.better, r.worse) if count.fisher or count.bonferroni]
    sure = f"one-sided tests, {100 * r.level:g} % confidence"
    if parts:
        return f"{'; '.join(parts)} ({sure}; {metric_name(r.metric, r.match)})."
    better = f"{r.b} known to be better than {r.a}, nor {r.a} than {r.b}"
    return f"On none of {counted(len(r), 'data set')} is {better} ({sure})."


def _count(r: DatasetComparisons, count: DatasetCount) -> str:
    n = len(r)
    other = r.a if count.system == r.b else r.b
    most = max(count.bonferroni, count.fisher)
    least = "all" if most == n else f"at least {most}"
    how = "" if count.bonferroni == most else " if the data sets are independent of each other"
    if count.bonferroni not in (0, most):
        how += f", on at least {count.bonferroni} whatever their dependence"
    which = f": {some(count.datasets)}" if count.datasets else ""
    sets = f"{least} of {counted(n, 'data set')}{how}; Holm's method names {len(count.datasets)}"
    return f"{count.system} is better than {other} on {sets}{which}"


def _mean(r: DatasetComparisons) -> str:
    m = r.mean
    if isnan(m.difference):
        score = metric_name(r.metric, r.match)
        return f"The mean over the data sets is undefined: {score} is, on one."
    chance = "" if isnan(m.p_b_better) else f"; P({r.b} better on average) {equals(m.p_b_better)}"
    return (
        f"Mean over these data sets, each of the same weight: {r.b} − {r.a} = "
        f"{signed_points(m.difference)}{scale_word()} ({points(m.score_b, 1)} against "
        f"{points(m.score_a, 1)}; {100 * r.level:g} % interval "
        f"{brackets(m.low, m.high, 1, signed=True)}{chance}). It applies to other texts like "
        f"those of these data sets, not to other data sets."
    )


def _datasets_disagree(r: DatasetComparisons) -> list[str]:
    disagree = (
        f"Warning: the data sets disagree. {r.b} is better on {some(r.better.datasets)} and worse "
        f"on {some(r.worse.datasets)}: no average can decide between them."
    )
    signs = (
        "Mean and pooled difference have different signs: the result depends on whether data sets "
        "or units have equal weight."
    )
    differ = r.pooled is not None and r.pooled.difference * r.mean.difference < 0
    return [disagree] * bool(r.better.datasets and r.worse.datasets) + [signs] * differ


# --- Leaderboards: who leads, who is not distinguishable from the leader, who is last
#
# A system is called better or last only if the pairs are decided.


_MOST_NAMES = 5  # of more systems, the first are named and the rest is counted
_LETTERS_TO_SHORTEN = 4  # consecutive letters of which only the first and the last are written


def ranking_summary(ranking: Ranking) -> str:
    """Say which system leads, which are not distinguishable from it, and which is last."""
    if len(ranking.ranking) < 2:
        return f"{ranking.ranking[0].name} is the only system: there is nothing to rank it against."
    known = [system for system in ranking.ranking if not isnan(system.p_best)]
    if not known:
        return f"No verdict: {_without_evidence(ranking)}."
    names = [system.name for system in ranking.ranking if isnan(system.p_best)]
    reason = f"not ranked, as no score rests on more than one {ranking.by}"
    unknown = [f"{_listed(names)}: {reason}."] if names else []
    score = f"({score_name(ranking)} {points(known[0].estimate, 1)})"
    if len(known) == 1:
        return " ".join([f"There is nothing to rank {known[0].name} {score} against.", *unknown])
    sentences = [_leader(ranking, known, score), *_last(ranking, known)]
    if any(len(own) > 1 for own in ranking.run_scores or ()):
        sentences.append(
            "These are ranks of the trained models, all runs of a system together; compare shows, "
            "pair by pair, what new runs would score."
        )
    if known[0] is not ranking.ranking[0]:
        return " ".join([*unknown, f"Of the others, {sentences[0]}", *sentences[1:]])
    return " ".join([*sentences, *unknown])


def short_letters(letters: str) -> str:
    """Shorten four or more consecutive tie letters to the first and the last: ``c–k``."""
    each = re.findall(r"[A-Za-z]'*", letters)
    places = [52 * letter.count("'") + ascii_letters.index(letter[0]) for letter in each]
    parts: list[str] = []
    for _, consecutive in groupby(range(len(each)), key=lambda i: places[i] - i):
        run = [each[i] for i in consecutive]
        parts.append("".join(run) if len(run) < _LETTERS_TO_SHORTEN else f"{run[0]}–{run[-1]}")
    return "".join(parts)


def _without_evidence(ranking: Ranking) -> str:
    if all(isnan(system.estimate) for system in ranking.ranking):
        return f"{metric_name(ranking.metric, ranking.match)} is undefined for all of them"
    if not any(system.counts.positives for system in ranking.systems):
        return "gold has nothing to find"
    return f"the scores rest on a single {ranking.by}, which does not show how others come out"


def _leader(ranking: Ranking, known: Sequence[RankedSystem], score: str) -> str:
    first = known[0]
    others = [ranking.pair(first.name, system.name) for system in known[1:]]
    still_open = [pair for pair in others if not pair.decided]
    if not still_open:
        largest = max(pair.p_adjusted for pair in others)
        number = in_words(len(others))
        if len(known) == len(ranking.ranking):
            number = "both" if len(others) == 2 else f"all {number}"
        behind = others[0].a if len(others) == 1 else f"{number} others"
        return f"{first.name} leads {score} and is better than {behind} ({_p(ranking, largest)})."
    equal = [pair for pair in still_open if pair.difference == 0]
    if not equal:
        others_than = _from(ranking, still_open)
        return f"{first.name} leads {score}; it is not distinguishable from {others_than}."
    names = [first.name, *(pair.a for pair in equal)]
    same = "counts" if all(pair.identical for pair in equal) else "score"
    sentence = f"{_listed(names)} lead {score} with the same {same}"
    rest = [pair for pair in still_open if pair.difference != 0]
    if rest:
        sentence += f"; {first.name} is not distinguishable from {_from(ranking, rest)}"
    return f"{sentence}."


def _from(ranking: Ranking, pairs: Sequence[RankedPair]) -> str:
    """Name the systems that a leader is not distinguishable from, with the smallest p-value."""
    smallest = min((pair.p_adjusted for pair in pairs if not isnan(pair.p_adjusted)), default=None)
    who = _listed([pair.a for pair in pairs])
    if smallest is None:
        return who
    return f"{who} ({'smallest ' * (len(pairs) > 1)}{_p(ranking, smallest)})"


def _last(ranking: Ranking, known: Sequence[RankedSystem]) -> list[str]:
    """Say which systems are behind all others; nothing for two systems, or if none is."""
    last = known[-1]

    def decided(a: RankedSystem, b: RankedSystem) -> bool:
        return ranking.pair(a.name, b.name).decided

    tied = [system for system in known[:-1] if not decided(system, last)]
    behind = [*tied, last]
    above = [system for system in known if system not in behind]
    apart = all(decided(a, b) for a in above for b in behind)
    if len(known) == 2 or not above or not apart or any(starmap(decided, combinations(tied, 2))):
        return []
    names = _listed([system.name for system in behind])
    return [f"{names} is last." if len(behind) == 1 else f"{names} tie for last."]


def _p(ranking: Ranking, value: float) -> str:
    return f"adjusted p {p_equals(value, 1 - ranking.level)}"


def _listed(names: Sequence[str]) -> str:
    """List names; of many, the first ones and the number of the others."""
    if len(names) > _MOST_NAMES:
        names = [*names[: _MOST_NAMES - 1], f"{in_words(len(names) - _MOST_NAMES + 1)} others"]
    return listed(names)


# --- Samples and estimates of a pool


def estimate_summary(estimate: Estimate) -> str:
    """Say which labels the estimates come from, and their effective sample size."""
    e = estimate
    all_ = counted(e.pool, e.unit)
    where = f"{e.unit}s like the {all_} of the pool" if e.population else f"all {all_} of the pool"
    if e.labelled == e.pool:
        exact = f"the scores on this pool are exact; they say nothing about other {e.unit}s"
        apply = f"the estimates apply to {e.unit}s like them" if e.population else exact
        return f"All {all_} of the pool are labelled: {apply}"
    first = f"Estimated for {where} from {e.labelled:,} labels"
    if e.worth is None or isnan(e.worth):
        return first
    of_two = e.comparisons and e.goal == "difference"
    goal = _named(e.comparisons[0] if of_two else e[e.systems[0], e.metric])
    return f"{first}, equivalent to about {round(e.worth):,} random ones for {goal}"


def _named(one: Any) -> str:
    """Name an estimated score or difference in a sentence."""
    name = metric_name(one.metric)
    if hasattr(one, "system"):
        return f"the {name} of {one.system}"
    return f"the difference between {one.a} and {one.b} ({name})"


def certain_verdict(gap: EstimatedDifference) -> str:
    """Return the verdict for a pool that is labelled completely, without uncertainty."""
    if gap.identical or isnan(gap.difference):
        return verdict(gap)
    scores = f"{metric_name(gap.metric)} {points(gap.score_b)} against {points(gap.score_a)}"
    if gap.difference == 0:
        return f"{gap.b} and {gap.a} score the same on this pool ({scores})."
    better, worse = (gap.b, gap.a) if gap.difference > 0 else (gap.a, gap.b)
    size = points(abs(gap.difference))
    return f"{better} is better than {worse} on this pool, by {size} points ({scores})."


def judge_sentence(result: EstimatedScore | EstimatedDifference) -> str:
    """Say by how much a judge changed an estimate and its interval."""
    moved, width, what = result.judge_moved, result.judge_width, _named(result)
    if moved is None or width is None:
        return ""
    if isnan(width):
        return f"The judge changed nothing in {what}."
    by = f"The judge moved {what} by {signed_points(moved, 2)} points"
    change = round(100 * (1 - width))
    if change == 0:
        return f"{by} and did not change the width of its interval."
    wider = "narrower" if change > 0 else "wider"
    return f"{by} and made its interval {points(abs(change) / 100, 0)} % {wider}."


def merged_notes(found: Sequence[EstimatedScore | EstimatedDifference]) -> list[str]:
    """Return each note once, after the scores that it is about, or "all scores"."""
    holds: dict[str, list[EstimatedScore | EstimatedDifference]] = {}
    for result in found:
        for note in result.note.split("; ") if result.note else ():
            holds.setdefault(note, []).append(result)
    every = "all scores" if any(hasattr(one, "system") for one in found) else "all differences"
    return [
        f"{every if 1 < len(results) == len(found) else _list(results)}: {note}."
        for note, results in holds.items()
    ]


def _list(results: Sequence[EstimatedScore | EstimatedDifference]) -> str:
    """List systems (or pairs of them) with their scores: 'a and b, recall; c, recall and F1'."""
    scores: dict[str, list[str]] = {}
    for result in results:
        whose = getattr(result, "system", None) or f"{result.b} − {result.a}"  # type: ignore[union-attr]
        scores.setdefault(whose, []).append(metric_name(result.metric))
    alike: dict[str, list[str]] = {}
    for whose, names in scores.items():
        alike.setdefault(listed(names), []).append(whose)
    return "; ".join(f"{listed(whose)}, {names}" for names, whose in alike.items())


WHY = {
    "all": "all of them: no sampling error",
    "least": "the minimum per stratum",
    "guess": "by spread (assumed)",
    "scores": "by spread (from confidences)",
    "pilot": "by spread (in the labels so far)",
    "judge": "by spread (from the judge)",
}


def sample_summary(sampled: Sampled) -> str:
    """Say what was drawn, and how wide its interval is expected to be."""
    chosen = counted(sampled.labelled, sampled.unit)
    if sampled.new != sampled.labelled:
        chosen = f"{counted(sampled.new, f'more {sampled.unit}')}, {sampled.labelled:,} in all,"
    number = len(sampled.systems)
    goal = f"the score of {sampled.systems[0]}" if number == 1 else "all scores"
    if sampled.goal == "difference":
        two = f"the difference between {' and '.join(sampled.systems)}"
        goal = two if number == 2 else "all differences"
    first = f"{chosen} of {sampled.pool:,} chosen for {goal}"
    if sampled.labelled == sampled.pool:
        return f"{first}: all of them, so there is no sampling error"
    if isnan(sampled.worth):
        return f"{first}: the outputs do not differ, so every unit is equally useful"
    gain = f"equivalent to about {round(sampled.worth):,} random ones"
    width = f"{points(sampled.width, 1)} instead of {points(sampled.random_width, 1)} points"
    return f"{first}: {gain} (an interval about {width} wide)"
