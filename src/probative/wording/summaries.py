"""Word what groups, data sets, leaderboards and samples show, in a few sentences."""

from __future__ import annotations

import re
from itertools import combinations, groupby, starmap
from math import isnan
from string import ascii_letters
from typing import TYPE_CHECKING

from probative.metrics import TABLE, Metric
from probative.wording.numbers import (
    brackets,
    counted,
    equals,
    in_words,
    listed,
    metric_name,
    number,
    p_equals,
    points,
    scale_word,
    score_name,
    signed_points,
    some,
)
from probative.wording.verdict import verdict

if TYPE_CHECKING:
    from collections.abc import Sequence

    from probative.results import (
        Comparison,
        DatasetComparisons,
        DatasetCount,
        Estimate,
        EstimatedDifference,
        EstimatedScore,
        Group,
        GroupSummary,
        Heterogeneity,
        RankedPair,
        RankedSystem,
        Ranking,
        Sampled,
    )


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
    return (*said, *_disagreement(result), *_spread_sentences(result.heterogeneity, "data sets"))


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


def _disagreement(r: DatasetComparisons) -> list[str]:
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
    goal = f"the {metric_name(e.metric)} of {e.scores[0].system}"
    if e.comparisons and e.goal == "difference":
        gap = e.comparisons[0]
        goal = f"the difference between {gap.a} and {gap.b} ({metric_name(gap.metric)})"
    return f"{first}, equivalent to about {round(e.worth):,} random ones for {goal}"


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


def judge_sentence(result: EstimatedScore | EstimatedDifference, what: str) -> str:
    """Say by how much a judge changed an estimate and its interval."""
    moved, width = result.judge_moved, result.judge_width
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
