"""Word the headline of every page: what the result says in a few words, and its state.

The state is a word and a sign, so that it does not depend on colour. The sentences come from
`wording`; a headline is never stronger than they are.
"""

from __future__ import annotations

from math import isnan
from typing import TYPE_CHECKING, Any

from probative.reporting.document import Answer
from probative.wording.numbers import (
    counted,
    equals,
    metric_name,
    number,
    p_equals,
    points,
    region,
    scale_word,
    with_interval,
)
from probative.wording.verdict import (
    LIKELY,
    SIGNIFICANT,
    no_verdict,
    outcome_sentence,
    outcome_words,
    pvalue_of,
    strength,
    tested_pvalue,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from probative.results import (
        Agreement,
        BayesTest,
        Comparison,
        Comparisons,
        Curve,
        DatasetComparisons,
        Estimate,
        FileCheck,
        GateVerdict,
        Interval,
        Ledger,
        Plan,
        RankedPair,
        RankedSystem,
        Ranking,
        Sampled,
        Scores,
        SegmentationSweep,
    )
    from probative.results.runs import RunsPlan
    from probative.results.surveys import Looks

_MOST_NAMED = 4  # systems named in a headline; more are counted


def score_words(score: Any) -> str:
    """Return a score with its interval in points: ``41.9 [38.5, 45.3]``."""
    if isnan(score.estimate):
        return "undefined"
    return with_interval(score.estimate, score.low, score.high)


def spoken(answers: Iterable[Answer]) -> tuple[str, ...]:
    """Return each headline and its sentences as one line."""
    return tuple(" ".join([f"{one.words}.", *one.sentences]) for one in answers)


def _upper(words: str) -> str:
    return words[:1].upper() + words[1:]


# --- Comparisons


def evidence_words(c: Comparison) -> tuple[str, str]:
    """Return what a comparison shows in a few words, and its state."""
    if c.identical:
        return "Identical outputs", "equal"
    if no_verdict(c):
        return "No verdict", "open"
    if c.rope > 0 and c.p_equivalent >= LIKELY:
        return "Equivalent", "equal"
    word = strength(c)
    if word:
        better, state = (c.b, "better") if c.difference > 0 else (c.a, "worse")
        return f"{better} better: {word} evidence", state
    if c.rope > 0 and pvalue_of(c) <= SIGNIFICANT:
        return f"Not established that they differ by more than {region(c.rope)}", "open"
    return "Not established", "open"


def _within_a_sentence(words: str, state: str) -> str:
    """Return evidence words without a capital, unless they begin with the name of a system."""
    return words if state in ("better", "worse") else words[:1].lower() + words[1:]


def verdict_words(c: Comparison) -> str:
    """Return what a comparison shows about its second system, for a table: ``worse: strong``."""
    words, state = evidence_words(c)
    if state in ("better", "worse"):
        return f"{state}: {strength(c)}"
    return _within_a_sentence(words, state)


def gate_answers(gates: Sequence[GateVerdict]) -> tuple[Answer, ...]:
    """Return whether the gates passed; nothing without gates."""
    if not gates:
        return ()
    failed = [gate for gate in gates if not gate.passed]
    word = "failed" if failed else "passed"
    words = f"Gate {word}"
    if len(gates) > 1:
        words = f"{len(failed)} of {len(gates)} gates failed" if failed else "All gates passed"
    return (Answer(words, word, tuple(f"{_upper(str(gate))}." for gate in failed or gates)),)


def comparison_answers(
    result: Comparisons, gates: Sequence[GateVerdict] = ()
) -> tuple[Answer, ...]:
    """Return the headline of a comparison: gates first, then what is shown about the systems."""
    main = [c for c in result.comparisons if c.metric == result.comparisons[0].metric]
    asked = gate_answers(gates)
    if len({(c.a, c.b) for c in main}) > 1:
        return (*asked, _many(main))
    if main[0].question is not None:
        return (*asked, *map(_of_runs, main))
    return (*asked, Answer(*evidence_words(main[0]), tuple(result.verdicts[:1])))


def _of_runs(c: Comparison) -> Answer:
    """Return what several runs show, for these models or for new runs, in one line each."""
    words, state = evidence_words(c)
    whom = "New runs" if c.question == "procedures" else "These models"
    said = "" if no_verdict(c) else f"{_figures(c)}."
    words = _within_a_sentence(words, state)
    return Answer(f"{whom}: {words}", state, (said,) if said else ())


def _figures(c: Comparison) -> str:
    """Return the numbers of a difference in half a line."""
    return (
        f"{metric_name(c.metric, c.match)} {points(c.score_b, 1)} against {points(c.score_a, 1)}, "
        f"difference {with_interval(c.difference, c.low, c.high, 1, signed=True)}{scale_word()}, "
        f"P({c.b} better) {equals(c.p_b_better)}, p {p_equals(tested_pvalue(c))}"
    )


def _many(main: Sequence[Comparison]) -> Answer:
    """Return how many of several differences are established, and for whom."""
    baselines = {c.a for c in main}
    found = [(c, evidence_words(c)[1]) for c in main if c.question != "procedures"]
    better = [c.b for c, state in found if state == "better"]
    worse = [c.b for c, state in found if state == "worse"]
    rest = len(found) - len(better) - len(worse)
    if len(baselines) > 1:
        words = f"{len(found) - rest} of {len(found)} differences established"
        return Answer(words, "better" if rest < len(found) else "open")
    (baseline,) = baselines
    if not better and not worse:
        words = f"Not established: none of {len(found)} is shown to differ from {baseline}"
        return Answer(words, "open")
    counts = ((better, "better"), (worse, "worse"))
    parts = [
        f"{_names(names)} {'is' if len(names) == 1 else 'are'} {word} than {baseline}"
        for names, word in counts
        if names
    ]
    others = "one other" if rest == 1 else f"the other {rest}"
    said = (f"Not established for {others}.",) if rest else ()
    return Answer("; ".join(parts), "better" if better else "worse", said)


def _names(names: Sequence[str]) -> str:
    if len(names) > _MOST_NAMED:
        return f"{len(names)} systems"
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def dataset_answers(
    result: DatasetComparisons, gates: Sequence[GateVerdict] = ()
) -> tuple[Answer, ...]:
    """Return on how many data sets one system is better."""
    number_of = len(result)
    better, worse = result.better.bonferroni, result.worse.bonferroni
    sets = f"of {counted(number_of, 'data set')}"
    parts = [
        f"{name} better on at least {count} {sets}"
        for name, count in ((result.b, better), (result.a, worse))
        if count
    ]
    if not parts:
        words = f"Not established on any {sets}"
        return (*gate_answers(gates), Answer(words, "open", result.verdicts[:1]))
    state = "open" if better and worse else "better" if better else "worse"
    return (*gate_answers(gates), Answer("; ".join(parts), state, result.verdicts[:1]))


def model_answers(tests: Sequence[BayesTest], models: tuple[str, str]) -> tuple[Answer, ...]:
    """Return the headline of Bayes tests: one line for all metrics with the same outcome."""
    by_outcome: dict[str, list[BayesTest]] = {}
    for test in tests:
        by_outcome.setdefault(outcome_words(test, *models), []).append(test)
    return tuple(
        Answer(
            f"{_evidence(words)}{_of_metrics(own) if len(tests) > 1 else ''}",
            _state(words, models),
            (outcome_sentence(_main_test(own), *models),),
        )
        for words, own in by_outcome.items()
    )


def _main_test(tests: Sequence[BayesTest]) -> BayesTest:
    return next((test for test in tests if test.metric == "f1"), tests[0])


def _evidence(words: str) -> str:
    # names of systems stay as they are
    return f"{words} evidence" if " better: " in words else _upper(words)


def _of_metrics(tests: Iterable[BayesTest]) -> str:
    return f" ({', '.join(metric_name(test.metric) for test in tests)})"


def _state(words: str, models: tuple[str, str]) -> str:
    if words == "equivalent":
        return "equal"
    if " better: " not in words:
        return "open"
    return "worse" if words.startswith(f"{models[0]} better: ") else "better"


# --- Scores


def score_answers(scores: Scores) -> tuple[Answer, ...]:
    """Return the main score of each system."""
    metric = main_score(scores)
    name = metric_name(metric, scores.match)
    found = {system.name: system[metric] for system in scores.systems}
    said = f"{100 * scores.level:g} % intervals, {counted(scores.units, scores.unit)}."
    if len(found) == 1:
        (score,) = found.values()
        others = [
            f"{metric_name(other.metric)} {score_words(other)}"
            for other in scores.systems[0].scores
            if other.metric in ("precision", "recall", "accuracy") and other.metric != metric
        ]
        also = f"{_upper(', '.join(others))}. " if others else ""
        return (Answer(f"{_upper(name)} {score_words(score)}", "fact", (f"{also}{_upper(said)}",)),)
    defined = {who: score for who, score in found.items() if not isnan(score.estimate)}
    if not defined:
        return (Answer(f"{_upper(name)} is undefined for all", "open", (said,)),)
    best = max(defined, key=lambda who: defined[who].estimate)
    untested = "Whether the systems differ is not tested here: compare and rank do that."
    words = f"Highest {name}: {best} {score_words(defined[best])}"
    return (Answer(words, "fact", (said, untested)),)


def main_score(scores: Scores) -> str:
    """Return the metric that a page of scores puts first."""
    known = {score.metric: score.estimate for score in scores.systems[0].scores}
    if scores.task == "segmentation" and "recall" in known:
        return "recall"
    # F1 of all classes together is the accuracy
    if "accuracy" in known and known.get("f1") in (None, known["accuracy"]):
        return "accuracy"
    return "f1" if "f1" in known else next(iter(known))


def interval_answers(rows: Sequence[Sequence[Interval]]) -> tuple[Answer, ...]:
    """Return the interval of F1, or of the first score."""
    if len(rows) > 1:
        return (Answer(f"Intervals of {len(rows):,} tables of counts", "fact"),)
    score = next((one for one in rows[0] if one.metric == "f1"), rows[0][0])
    words = f"{_upper(metric_name(score.metric))} {score_words(score)}"
    return (Answer(words, "fact", (f"{100 * score.level:g} % interval, {score.method}.",)),)


def check_answers(report: FileCheck) -> tuple[Answer, ...]:
    """Return whether something is wrong with a file."""
    what = f"{report.input_format}, {report.task}."
    if report.problems:
        return (Answer(counted(len(report.problems), "problem"), "failed", (_upper(what),)),)
    return (Answer("Nothing is wrong", "passed", (_upper(what),)),)


def agreement_answers(found: Agreement) -> tuple[Answer, ...]:
    """Return alpha of all annotators, or the F1 of their pairs."""
    if found.alpha is not None:
        return (_coefficient(found.alpha),)
    scores = [pair.scores[-1] for pair in found.pairs]
    if len(scores) == 1:
        return (_coefficient(scores[0]),)
    low, high = (f(score.estimate for score in scores) for f in (min, max))
    name = _upper(metric_name(scores[0].metric))
    words = f"{name} of two annotators: {number(low)} to {number(high)}"
    return (Answer(words, "fact", (f"{counted(len(scores), 'pair')} of annotators.",)),)


def _coefficient(score: Interval) -> Answer:
    interval = f"[{number(score.low)}, {number(score.high)}]"
    words = f"{_upper(metric_name(score.metric))} {number(score.estimate)} {interval}"
    return Answer(words, "fact", (f"{100 * score.level:g} % interval.",))


def curve_answers(curves: Sequence[Curve]) -> tuple[Answer, ...]:
    """Return the best threshold of one system, or the highest average precision of several."""
    if len(curves) == 1:
        best = curves[0].best
        score = f"{metric_name(best.metric)} {score_words(best)}"
        words = f"Best threshold {number(best.threshold)}: {score} expected on other data"
        average = score_words(curves[0].average_precision)
        return (Answer(words, "fact", (f"Average precision {average}.",)),)
    best_curve = max(curves, key=lambda curve: curve.average_precision.estimate)
    average = score_words(best_curve.average_precision)
    return (Answer(f"Highest average precision: {best_curve.name} {average}", "fact"),)


def sweep_answers(sweep: SegmentationSweep, sentence: str) -> tuple[Answer, ...]:
    """Return where recall and F1 are highest."""
    recall, f1 = (sweep.best_of(name) for name in ("recall", "f1"))
    words = f"Recall is highest at λ = {recall.finest_share:.2f}, F1 at {f1.finest_share:.2f}"
    return (Answer(words, "fact", (sentence,)),)


# --- Ranks


def ranking_answers(ranking: Ranking) -> tuple[Answer, ...]:
    """Return who is best, or how many systems may rank first."""
    first = ranking.ranking[0]
    leaders = [system for system in ranking.ranking if system.rank_low == 1]
    if len(ranking.ranking) < 2 or isnan(first.estimate):
        return (Answer("Nothing to rank", "open", (ranking.summary,)),)
    if len(leaders) == 1:
        return (Answer(f"{first.name} is best", "better", (ranking.summary,)),)
    words = f"{first.name} leads, but {counted(len(leaders), 'system')} may rank first"
    return (Answer(words, "open", (ranking.summary,)),)


def place_answers(ranking: Ranking, own: RankedSystem, sentence: str) -> tuple[Answer, ...]:
    """Return the ranks that a system may have."""
    if isnan(own.estimate):
        return (Answer("Not ranked", "open", (sentence,)),)
    span = f"{own.rank_low}–{own.rank_high}" if own.rank_low < own.rank_high else own.rank_low
    words = f"Rank {span} of {len(ranking.ranking)}"
    return (Answer(words, "better" if own.rank_high == 1 else "fact", (sentence,)),)


def pair_answers(pair: RankedPair, sentence: str) -> tuple[Answer, ...]:
    """Return whether the higher system of a pair is better."""
    if pair.identical:
        return (Answer("Identical outputs", "equal", (sentence,)),)
    words, state = (f"{pair.b} better", "better") if pair.decided else ("Not established", "open")
    return (Answer(words, state, (sentence,)),)


# --- Plans, samples, checks while labels arrive


def plan_answers(plan: Plan, sentence: str) -> tuple[Answer, ...]:
    """Return the number of units needed, or what was asked for instead."""
    asked = plan.signature.split("|")
    given = {part.partition(":")[0] for part in asked}
    if plan.units is None:
        return (Answer(f"No number of {plan.by}s is enough", "open", (sentence,)),)
    words = f"{counted(plan.units, plan.by)} needed"
    if "units" in given and "difference" in given:
        words = f"Power {number(plan.power, 2)}"
    elif "units" in given:
        shown = "No difference shows"
        if plan.difference is not None:
            shown = f"Differences from {points(plan.difference, 1)}{scale_word()} on show"
        words = shown
    return (Answer(words, "fact", (sentence,)),)


def runs_plan_answers(plan: RunsPlan, sentences: Sequence[str]) -> tuple[Answer, ...]:
    """Return the number of units needed with as many runs as there are."""
    now = max(plan.n_runs_a, plan.n_runs_b)
    at = min(range(len(plan.runs)), key=lambda i: abs(plan.runs[i] - now))
    needed, runs = plan.units_needed[at], counted(plan.runs[at], "run")
    if needed is None:
        words = f"No number of {plan.by}s is enough with {runs} each"
        return (Answer(words, "open", tuple(sentences[:2])),)
    words = f"{counted(needed, plan.by)} needed with {runs} each"
    return (Answer(words, "fact", tuple(sentences[:2])),)


def sample_answers(sampled: Sampled, sentence: str) -> tuple[Answer, ...]:
    """Return how many units to label."""
    return (Answer(f"Label {counted(sampled.new, sampled.unit)}", "fact", (sentence,)),)


def estimate_answers(
    estimate: Estimate, sentence: str, gates: Sequence[GateVerdict] = ()
) -> tuple[Answer, ...]:
    """Return what the labels show about the first difference, or about the score."""
    asked = gate_answers(gates)
    if estimate.comparisons:
        known = estimate.labelled == estimate.pool and not estimate.population
        if len({(gap.a, gap.b) for gap in estimate.comparisons}) == 1 and not known:
            words, state = evidence_words(estimate.comparisons[0])
            return (*asked, Answer(words, state, (*estimate.verdicts, sentence)))
        gap = estimate.comparisons[0]
        better = gap.b if gap.difference > 0 else gap.a
        state = "better" if gap.difference > 0 else "worse"
        words = f"{better} better on this pool" if known else "Several systems"
        return (
            *asked,
            Answer(words, state if known else "fact", (*estimate.verdicts, sentence)),
        )
    score = estimate[estimate.systems[0], estimate.metric]
    words = f"{_upper(metric_name(score.metric))} {score_words(score)}"
    return (*asked, Answer(words, "fact", (sentence,)))


def watch_answers(looks: Looks, sentence: str) -> tuple[Answer, ...]:
    """Return whether labelling may stop, and how many labels more are expected."""
    last, names = looks.last, {"a": looks.a, "b": looks.b or "B"}
    said = (sentence,)
    if not last.is_of_two:
        score = f"{_upper(metric_name(last.metric))} {score_words(last)}"
        return (Answer(f"{score} after {counted(last.units, last.by)}", "fact", said),)
    if last.decided:
        state = "better" if last.decided == "b" else "worse"
        return (Answer(f"May stop: {names[last.decided]} is better", state, said),)
    if last.low == last.high == 0 and last.pool is not None:
        return (Answer("May stop: no difference on this pool", "equal", said),)
    more = "no decision in sight" if last.more is None else f"about {last.more:,} more"
    return (Answer(f"Keep labelling: {more}", "open", said),)


def ledger_answers(ledger: Ledger) -> tuple[Answer, ...]:
    """Return how often the test sets may still be used."""
    if not ledger.sets:
        return (Answer("No gate has used this ledger yet", "fact"),)
    if len(ledger.sets) > 1:
        fresh = [one for one in ledger.sets if one.promised and not one.worn_out]
        words = f"{len(fresh)} of {len(ledger.sets)} test sets can still be used"
        return (Answer(words, "passed" if fresh else "failed"),)
    (one,) = ledger.sets
    said = (f"{_upper(one.state)}.",)
    if not one.promised:
        return (Answer("No promise for the next gate", "failed", said),)
    if one.worn_out:
        return (Answer("Worn out", "failed", said),)
    return (Answer(f"About {counted(one.looks_left, 'use')} left", "passed", said),)
