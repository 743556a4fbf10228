"""The sentences that end a comparison of several runs: of these models, and of training again.

The two claims are kept apart: what holds for these models need not hold for new runs.
"""

from __future__ import annotations

from math import isnan
from typing import TYPE_CHECKING

from probative.wording.numbers import equals, metric_name, points, region
from probative.wording.verdict import LIKELY, limit, no_verdict, strength, tested, verdict

if TYPE_CHECKING:
    from collections.abc import Sequence

    from probative.results import Comparison, Comparisons, RunScores

__all__ = ["runs_verdict", "said_runs"]

FEW_RUNS = 3
_ENOUGH_RUNS = 20  # with so many, a failure in one run of ten hardly stays unseen: 0.9^20 = 0.12
_NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


def runs_verdict(result: Comparisons, a: str, b: str, comparisons: Sequence[Comparison]) -> str:
    """Say in plain words what several runs of two systems have shown.

    Parameters
    ----------
    result
        The comparison, for the scores of single runs.
    a, b
        The baseline and the challenger.
    comparisons
        The answers in one score, among them those of this pair.
    """
    own = {c.question: c for c in comparisons if (c.a, c.b) == (a, b)}
    models, procedures = own["models"], own.get("procedures")
    runs = [result.runs_of(name, models.metric) for name in (a, b)]
    number = [len(one) for one in runs]
    parts = [f"These models, {_counted(number[0])} of {a} and {_counted(number[1])} of {b}:"]
    parts.append(verdict(models))
    if procedures is None:
        parts.append(_unanswered(runs))
    elif not models.identical:
        parts.append(_of_new_runs(procedures))
    parts += _cautions(runs)
    return " ".join(parts)


def said_runs(number: int) -> str:
    """A number of runs in words."""
    word = _NUMBERS[number] if number < len(_NUMBERS) else f"{number:,}"
    return f"{word} run{'s' * (number != 1)}"


def _counted(number: int) -> str:
    return said_runs(number).split(" ")[0]


def _unanswered(runs: Sequence[RunScores]) -> str:
    single = [one.system for one in runs if len(one) == 1]
    if not single:
        return "Whether training again would give the same cannot be told from these scores."
    return (
        f"Whether training again would give the same cannot be told: there is one run of "
        f"{' and of '.join(single)}."
    )


def _of_new_runs(c: Comparison) -> str:
    """Whether new runs would be better, too: never stronger than the numbers."""
    reason = no_verdict(c)
    if reason:
        return f"Nothing is said about training again: {reason}."
    better, other, likely, new_run = c.b, c.a, c.p_b_better, c.p_new_run_better
    if c.difference < 0:
        better, other, likely = c.a, c.b, c.p_a_better
        new_run = None if new_run is None else 1 - new_run
    beyond = f" by more than {region(c.rope)}" if c.rope > 0 else ""
    figures = (
        f"mean difference {limit(c.difference)} points, {100 * c.level:g} % limits "
        f"{limit(c.low)} to {limit(c.high)} for test set and runs together, "
        f"P({better} better{beyond}) {equals(likely)}, {tested(c)}"
    )
    if c.rope > 0 and c.p_equivalent >= LIKELY:
        claim = "Trained again, they would be equivalent for practical purposes"
        figures = f"{figures}, P(at most {region(c.rope)} apart) {equals(c.p_equivalent)}"
    elif word := strength(c):
        claim = f"The evidence that training {better} again would beat {other}{beyond} is {word}"
    else:
        claim = f"That training {better} again would beat {other}{beyond} is not established"
    chance = ""
    if new_run is not None and not isnan(new_run):
        chance = (
            f" A new run of {better} would beat a new run of {other} with probability "
            f"{equals(new_run).removeprefix('= ')}."
        )
    return f"{claim}: {figures}.{chance}"


def _cautions(runs: Sequence[RunScores]) -> list[str]:
    """What the scores of single runs warn of."""
    cautions = []
    if all(len(one) > 1 for one in runs):
        worse, better = sorted(runs, key=lambda one: one.mean)
        if worse.best > better.worst and worse.mean < better.mean:
            cautions.append(
                f"The best run of {worse.system} beats the worst of {better.system} "
                f"({metric_name(worse.metric)} {points(worse.best, 1)} against "
                f"{points(better.worst, 1)}): one run of each could have told the opposite."
            )
    few = [one for one in runs if 1 < len(one) < FEW_RUNS]
    if few:
        names = " and ".join(one.system for one in few)
        has = f"has {said_runs(2)}" if len(few) == 1 else f"have {said_runs(2)} each"
        cautions.append(f"{names} {has}: how much runs differ is hardly known from so few.")
    fewest = min((len(one) for one in runs if len(one) > 1), default=_ENOUGH_RUNS)
    if fewest < _ENOUGH_RUNS:
        unseen = 100 * 0.9**fewest
        cautions.append(
            f"{fewest} runs: a procedure that fails in 1 run of 10 shows no failure in "
            f"{unseen:.0f} % of such samples."
        )
    return cautions
