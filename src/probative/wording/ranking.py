"""Word the summary of a leaderboard from its decided pairs, never stronger than they are.

A system is called better only if the pair is decided. Systems tie if none of their pairs is; a tier
in which some are decided is called a tier.
"""

from __future__ import annotations

import re
from itertools import combinations, groupby
from math import isnan
from string import ascii_letters
from typing import TYPE_CHECKING

from probative.wording.numbers import metric_name, number, points

if TYPE_CHECKING:
    from collections.abc import Sequence

    from probative.results import RankedPair, RankedSystem, Ranking

__all__ = ["ranking_summary", "short_letters"]

_NUMBERS = (
    *("no", "one", "two", "three", "four", "five", "six"),
    *("seven", "eight", "nine", "ten", "eleven", "twelve"),
)
_ORDINALS = (
    *("", "first", "second", "third", "fourth", "fifth", "sixth"),
    *("seventh", "eighth", "ninth", "tenth", "eleventh", "twelfth"),
)
_BOTH = 2  # systems for which the sentence says "both"
_MOST_NAMES = 3  # more systems are counted, not named
_LETTERS_TO_SHORTEN = 4  # consecutive letters of which only the first and the last are written
_OF_THESE_MODELS = (
    "These are ranks of the trained models, the runs of a system taken together; what new runs "
    "would score is not in them: compare tells, pair by pair."
)
_TIERS_DESCRIBED = 3  # further tiers are only counted


def ranking_summary(ranking: Ranking) -> str:
    """Say which system leads, which are not distinguished from it, and which follow."""
    if len(ranking.ranking) < 2:
        return f"{ranking.ranking[0].name} is the only system: there is nothing to rank it against."
    known = [system for system in ranking.ranking if not isnan(system.p_best)]
    if not known:
        return f"No verdict: {_without_evidence(ranking)}."
    unknown = _unknown(ranking)
    if len(known) == 1:
        score = f"{_score_name(ranking)} {points(known[0].estimate)}"
        return " ".join([f"There is nothing to rank {known[0].name} ({score}) against.", *unknown])
    sentences = [_leader(ranking, known), *_followers(ranking, known)]
    if any(len(own) > 1 for own in ranking.run_scores or ()):
        sentences.append(_OF_THESE_MODELS)
    if known[0] is not ranking.ranking[0]:
        return " ".join([*unknown, f"Of the others, {sentences[0]}", *sentences[1:]])
    return " ".join([*sentences, *unknown])


def short_letters(letters: str) -> str:
    """Shorten four or more consecutive tie letters to the first and the last: ``c–k``."""
    each = re.findall(r"[A-Za-z]'*", letters)
    places = [52 * letter.count("'") + ascii_letters.index(letter[0]) for letter in each]
    parts: list[str] = []
    start = 0
    for end in range(1, len(each) + 1):
        if end < len(each) and places[end] == places[end - 1] + 1:
            continue
        run = each[start:end]
        parts.append("".join(run) if len(run) < _LETTERS_TO_SHORTEN else f"{run[0]}–{run[-1]}")
        start = end
    return "".join(parts)


def _score_name(ranking: Ranking) -> str:
    """Return the score before its figure, with a closing comma after a rule of matching."""
    return metric_name(ranking.metric, ranking.match) + "," * (ranking.match is not None)


def _without_evidence(ranking: Ranking) -> str:
    if all(isnan(system.estimate) for system in ranking.ranking):
        return f"{metric_name(ranking.metric, ranking.match)} is undefined for all of them"
    if not any(system.counts.positives for system in ranking.systems):
        return "the answer holds nothing to be found"
    return (
        f"the scores rest on one {ranking.by} alone, and one is no evidence of how others come out"
    )


def _leader(ranking: Ranking, known: Sequence[RankedSystem]) -> str:
    first = known[0]
    others = [ranking.pair(first.name, system.name) for system in known[1:]]
    score = f"({_score_name(ranking)} {points(first.estimate)})"
    still_open = [pair for pair in others if not pair.decided]
    if not still_open:
        largest = max(pair.p_adjusted for pair in others)
        every = len(known) == len(ranking.ranking)
        number = _count(len(others)) if not every else f"all {_count(len(others))}"
        number = "both" if every and len(others) == _BOTH else number
        behind = others[0].a if len(others) == 1 else f"{number} others"
        return f"{first.name} leads {score} and is better than {behind} ({_p(ranking, largest)})."
    equal = [pair for pair in still_open if pair.difference == 0]
    if not equal:
        return f"{first.name} leads {score}; it is not separable from {_from(ranking, still_open)}."
    names = [first.name, *(pair.a for pair in equal)]
    same = "counts" if all(pair.identical for pair in equal) else "score"
    who = (
        _listed(names)
        if len(names) <= _MOST_NAMES
        else f"{_count(len(names)).capitalize()} systems"
    )
    sentence = f"{who} lead {score} with the same {same}"
    rest = [pair for pair in still_open if pair.difference != 0]
    if rest:
        sentence += f"; {first.name} is not separable from {_from(ranking, rest)}"
    return f"{sentence}."


def _from(ranking: Ranking, pairs: Sequence[RankedPair]) -> str:
    """Name the systems that a leader is not separable from, with the smallest p-value."""
    smallest = min((pair.p_adjusted for pair in pairs if not isnan(pair.p_adjusted)), default=None)
    if smallest is None:
        return _listed([pair.a for pair in pairs])
    if len(pairs) == 1:
        return f"{pairs[0].a} ({_p(ranking, smallest)})"
    named = len(pairs) <= _MOST_NAMES
    who = _listed([pair.a for pair in pairs]) if named else f"{_count(len(pairs))} others"
    return f"{who} (smallest {_p(ranking, smallest)})"


def _followers(ranking: Ranking, known: Sequence[RankedSystem]) -> list[str]:
    """Return sentences about the tiers below the first; none for two systems."""
    if len(known) == 2:
        return []
    tiers = [list(group) for _, group in groupby(known, key=lambda system: system.tier)]
    if len(tiers) == 1:
        return ["No system is decided to be behind all those above it."]
    above = len(tiers[0])
    sentences = []
    for tier in tiers[1 : 1 + _TIERS_DESCRIBED]:
        sentences.append(_follow(ranking, tier, known[:above]))
        above += len(tier)
    rest = tiers[1 + _TIERS_DESCRIBED :]
    if rest:
        systems = sum(map(len, rest))
        into = f"{_count(len(rest))} further tier{'' if len(rest) == 1 else 's'}"
        verb = "follows" if systems == 1 else "follow"
        sentences.append(f"{_count(systems, 'system').capitalize()} {verb} in {into}.")
    return sentences


def _follow(ranking: Ranking, tier: Sequence[RankedSystem], above: Sequence[RankedSystem]) -> str:
    """Say which systems form a tier behind those above."""
    place = _ordinal(len(above) + 1)
    if len(tier) == 1:
        low, high = tier[0].rank_low, tier[0].rank_high
        if low < high:
            return f"{tier[0].name} follows (rank {low} to {high})."
        head = f"{tier[0].name} is {place}"
    elif _undecided_among(ranking, tier):
        names = _listed([s.name for s in tier]) if len(tier) <= _MOST_NAMES else ""
        head = f"{names or _count(len(tier), 'system').capitalize()} tie for {place}"
    else:
        head = f"{_count(len(tier), 'system').capitalize()} share the tier from {place} place on"
    behind = all(
        ranking.pair(better.name, system.name).decided for better in above for system in tier
    )
    them = "it is" if len(tier) == 1 else "they are"
    return f"{head}." if behind else f"{head}, though {them} not all decided to be behind."


def _undecided_among(ranking: Ranking, tier: Sequence[RankedSystem]) -> bool:
    return not any(ranking.pair(a.name, b.name).decided for a, b in combinations(tier, 2))


def _unknown(ranking: Ranking) -> list[str]:
    """Return a sentence about the systems without evidence."""
    names = [system.name for system in ranking.ranking if isnan(system.p_best)]
    if not names:
        return []
    listed = _listed(names) if len(names) <= _MOST_NAMES else f"{_count(len(names))} systems"
    return [f"Nothing can be said of {listed}: no score that rests on more than one {ranking.by}."]


def _p(ranking: Ranking, value: float) -> str:
    """Format an adjusted p-value with enough decimals to distinguish it from the threshold."""
    if value < 0.001:
        return "adjusted p < 0.001"
    limit = 1 - ranking.level
    texts = [number(value, digits) for digits in range(2 if value >= 0.1 else 3, 8)]
    apart = (text for text in texts if (float(text) <= limit) == (value <= limit))
    return f"adjusted p = {next(apart, texts[-1])}"


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _count(value: int, thing: str = "") -> str:
    word = _NUMBERS[value] if value < len(_NUMBERS) else f"{value:,}"
    return f"{word} {thing}{'' if value == 1 else 's'}" if thing else word


def _ordinal(value: int) -> str:
    if value < len(_ORDINALS):
        return _ORDINALS[value]
    ending = {1: "st", 2: "nd", 3: "rd"}.get(value % 10, "th")
    return f"{value}{'th' if value % 100 in (11, 12, 13) else ending}"
