"""Word the summary of a leaderboard from its decided pairs, never stronger than they are.

The sentences name systems: who leads, who is not distinguishable from the leader, who is last. A
system is called better or last only if the pairs are decided.
"""

from __future__ import annotations

import re
from itertools import combinations
from math import isnan
from string import ascii_letters
from typing import TYPE_CHECKING

from probative.wording.numbers import in_words, listed, metric_name, p_equals, points, score_name

if TYPE_CHECKING:
    from collections.abc import Sequence

    from probative.results import RankedPair, RankedSystem, Ranking

_BOTH = 2  # systems for which the sentence says "both"
_MOST_NAMES = 5  # of more systems, the first are named and the rest is counted
_LETTERS_TO_SHORTEN = 4  # consecutive letters of which only the first and the last are written
_OF_THESE_MODELS = (
    "These are ranks of the trained models, all runs of a system together; compare shows, pair by "
    "pair, what new runs would score."
)


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
    if len(known) == 1:
        score = f"{score_name(ranking)} {points(known[0].estimate, 1)}"
        return " ".join([f"There is nothing to rank {known[0].name} ({score}) against.", *unknown])
    sentences = [_leader(ranking, known), *_last(ranking, known)]
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


def _without_evidence(ranking: Ranking) -> str:
    if all(isnan(system.estimate) for system in ranking.ranking):
        return f"{metric_name(ranking.metric, ranking.match)} is undefined for all of them"
    if not any(system.counts.positives for system in ranking.systems):
        return "gold has nothing to find"
    return f"the scores rest on a single {ranking.by}, which does not show how others come out"


def _leader(ranking: Ranking, known: Sequence[RankedSystem]) -> str:
    first = known[0]
    others = [ranking.pair(first.name, system.name) for system in known[1:]]
    score = f"({score_name(ranking)} {points(first.estimate, 1)})"
    still_open = [pair for pair in others if not pair.decided]
    if not still_open:
        largest = max(pair.p_adjusted for pair in others)
        every = len(known) == len(ranking.ranking)
        number = in_words(len(others)) if not every else f"all {in_words(len(others))}"
        number = "both" if every and len(others) == _BOTH else number
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
    tied = [s for s in known[:-1] if not ranking.pair(s.name, last.name).decided]
    behind = [*tied, last]
    above = [s for s in known if s not in behind]
    if len(known) == 2 or not above:
        return []
    decided = all(ranking.pair(a.name, b.name).decided for a in above for b in behind)
    if not decided or any(ranking.pair(a.name, b.name).decided for a, b in combinations(tied, 2)):
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
