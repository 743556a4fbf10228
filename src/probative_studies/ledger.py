"""Does the ledger keep its promise? Candidates that are no better, and how often one ever passes.

A baseline is right on about half of the items of a test set. A change turns every answer with the
same probability, so that it makes nothing better or worse but by luck; what is lucky on this test
set is not elsewhere. Three ways to come by candidates:

* independent: each is a new change of the baseline;
* by verdicts: every probe is a system that is really better, with a change besides; the last
  candidate is the baseline with all changes whose probes have passed, and no better;
* by scores: each is a new change of the baseline, and the last has all that raised the score.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np

from probative._validation import Mask, open_probability, whole_number
from probative.counts import PairedCounts
from probative.inference.allowance import allowance
from probative.inference.posterior.clustered import posterior_of_difference
from probative_studies.harness import Report, Row, quiet, share_error

Answers = Mask
Judge = Callable[[Answers], bool]

_TURNED = 0.05  # of the answers, by a change
_MENDED = 0.06  # of the wrong answers, by what is really better
_KINDS = ("plain", "independent", "adaptive")  # one confidence, or the allowances of a ledger
_WAYS = ("independent", "by verdicts", "by scores")


def ledger_study(
    *,
    sequences: int = 2000,
    looks: int = 20,
    items: int = 300,
    confidence: float = 0.95,
    rng: int = 0,
    report: Report = quiet,
) -> list[Row]:
    """Simulate sequences of candidates that meet one test set.

    >>> independent, *_ = ledger_study(sequences=100, looks=10)
    >>> independent.adaptive <= independent.independent < independent.plain
    True
    """
    sequences, looks = whole_number("sequences", sequences), whole_number("looks", looks)
    items = whole_number("items", items)
    doubt = 1 - open_probability("confidence", confidence)
    generator = np.random.default_rng(whole_number("rng", rng, least=0))
    wrong = {way: np.zeros(3) for way in _WAYS}
    for number in range(sequences):
        report(number, sequences)
        right = generator.random(items) < 0.5
        changes = generator.random((looks, items)) < _TURNED
        mended = ~right & (generator.random(items) < _MENDED)
        for place, kind in enumerate(_KINDS):
            for way in _WAYS:
                wrong[way][place] += _passes(way, right, changes, mended, kind, doubt)
    promised = {"independent": "both", "by verdicts": "adaptive", "by scores": "neither"}
    return [
        Row(
            way=way,
            looks=looks,
            **dict(zip(_KINDS, (shares / sequences).tolist(), strict=True)),
            promised=promised[way],  # which of these stay below `allowed`
            allowed=doubt,
            standard_error=share_error(doubt, sequences),
            sequences=sequences,
        )
        for way, shares in wrong.items()
    ]


def _passes(
    way: str, right: Answers, changes: Answers, mended: Answers, kind: str, doubt: float
) -> bool:
    """Return True if a candidate that is no better passes in one sequence."""
    judge = _gate(right, kind, doubt)
    if way == "independent":
        return sum(judge(right ^ change) for change in changes) > 0
    *probes, last = changes
    if way == "by scores":
        for change in probes:
            judge(right ^ change)
        kept = [change for change in probes if (right ^ change).sum() > right.sum()]
    else:
        kept = [change for change in probes if judge((right ^ change) | mended)]
    return judge(right ^ np.logical_or.reduce(kept or [last]))


def _gate(right: Answers, kind: str, doubt: float) -> Judge:
    """Return a gate that judges candidates against the baseline, one after the other."""
    verdicts: list[bool] = []

    def judge(candidate: Answers) -> bool:
        threshold = doubt if kind == "plain" else allowance(kind, verdicts, doubt)
        gained = int(np.count_nonzero(candidate & ~right))
        lost = int(np.count_nonzero(right & ~candidate))
        verdicts.append(_doubt(gained, lost) <= threshold)
        return verdicts[-1]

    return judge


@cache
def _doubt(gained: int, lost: int) -> float:
    """Return 1 - P(better) as a gate has it; items that both get right or wrong do not matter."""
    cases = PairedCounts([lost, 0, gained, 0, 100, 0, 100])
    return float(posterior_of_difference(cases, "recall").cdf(0.0))
