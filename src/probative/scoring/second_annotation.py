"""A second annotation beside the systems: the ceiling that it puts on their scores."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from probative.errors import InputError
from probative.inference.differences import difference
from probative.inference.randomization import randomization_test
from probative.matching.cases import cases_of_pair
from probative.matching.matched import Matched, match_inputs
from probative.options import ScoreOptions
from probative.reading.inputs import is_path
from probative.results import Ceiling
from probative.scoring.basis import compared_metrics, is_of_classes, match_of, scored_as, unit_of
from probative.scoring.classes import gap_of_classes, table_interval
from probative.scoring.intervals import intervals_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from probative.results import Difference, RandomizationTest

__all__ = ["ceilings_of", "match_beside"]

SECOND = "second annotation"


def match_beside(
    gold: Any, systems: list[Any], names: Sequence[str] | None, options: Any, **how: Any
) -> tuple[Matched, Matched | None]:
    """What was gathered of the systems; and with the second annotation as one more, if there is.

    Parameters
    ----------
    gold, systems, names
        The inputs.
    options
        The choices, with `second_gold`.
    how
        As for `match_inputs`.
    """
    second = options.second_gold
    if second is None:
        return match_inputs(gold, systems, names=names, reading=options, **how), None
    if not systems:
        raise InputError("second_gold: the systems stand in one file; expected files of their own")
    named = None if names is None else [*names, SECOND]
    everyone = match_inputs(gold, [*systems, second], names=named, reading=options, **how)
    if names is None and not is_path(second):  # a file gives its name
        everyone = replace(everyone, names=(*everyone.names[:-1], SECOND))
    if everyone.runs:
        raise InputError(
            "second_gold: means nothing for several runs; expected one run of a system"
        )
    return everyone.only(*range(len(everyone.names) - 1)), everyone


def ceilings_of(matched: Matched | None, options: Any) -> tuple[Ceiling, ...] | None:
    """Every system beside the second annotation, which is the last.

    Parameters
    ----------
    matched
        The systems and the second annotation.
    options
        The choices: what is compared, by what, at which level.
    """
    if matched is None:
        return None
    unit = unit_of(matched, options.by)
    metric = compared_metrics(matched, options.metric, "micro", tables=True)[0]
    usual = ScoreOptions(metric=metric, by=unit, level=options.level, beta=options.beta)
    last = len(matched.names) - 1
    of_classes = is_of_classes(matched, metric)
    score = table_interval(matched, last, usual) if of_classes else intervals_of(matched, usual)[-1]
    find = gap_of_classes if of_classes else _gap_of_items
    found = []
    for i in range(last):
        gap, test = find(matched, last, i, usual)
        found.append(
            Ceiling(
                matched.names[i],
                matched.names[last],
                metric,
                gap.b,
                gap.a,
                float(score.low),
                float(score.high),
                gap.estimate,
                gap.low,
                gap.high,
                test.pvalue,
                test.method,
                unit,
                options.level,
                match_of(matched),
                "; ".join(note for note in (gap.note, test.note) if note) or None,
            )
        )
    return tuple(found)


def _gap_of_items(
    matched: Matched, i: int, j: int, options: ScoreOptions
) -> tuple[Difference, RandomizationTest]:
    """The difference of two systems in a score of the pooled items, and its test."""
    scored, beta = scored_as(matched, str(options.metric)), options.beta
    paired = cases_of_pair(matched, i, j, str(options.by)).grouped()
    by = "unit" if paired.has_units else "item"
    test = randomization_test(paired, scored, by=by, beta=beta, rng=0)
    return difference(paired, scored, level=options.level, beta=beta), test
