"""Logs against logs: which samples every system answered rightly, and what it found."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from probative.errors import InputError
from probative.matching.items import Items
from probative.reading.annotations import Labels
from probative.reading.logs import join_logs

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from probative.reading.logs import Log

__all__ = ["match_logs", "sides_of"]

RIGHT, WRONG = "right", "wrong"
FINDING = "finding"
_LONGEST = 200  # characters of an answer that are shown
_MOST = 50_000_000  # findings in all that are looked at one by one


def match_logs(logs: Sequence[Log]) -> tuple[Items, list[Log]]:
    """Find out who answered what rightly, or found what; and the logs in one order.

    The samples are the units: repetitions of a sample, and the findings in it, belong together.
    """
    joined = join_logs(logs)
    first = joined[0]
    number: dict[str, int] = {}
    unit = np.array([number.setdefault(s, len(number)) for s in first.samples], dtype=np.int32)
    if not first.counted:
        right = np.stack([log.tp > 0 for log in joined])
        zeros = np.zeros(len(unit), dtype=np.int32)
        return Items(unit, zeros, (RIGHT,), np.ones(len(unit), bool), right, len(number)), joined
    return _findings(joined, unit, len(number)), joined


def _findings(logs: Sequence[Log], unit: NDArray[np.int32], n_units: int) -> Items:
    """Every finding as an item.

    A log does not say which findings of a sample two systems share. As many are taken to be shared
    as can be: the samples are what is exchanged and resampled, and their sums are what they are.
    """
    first = logs[0]
    there = first.tp + first.fn
    for log in logs[1:]:
        other = np.flatnonzero(log.tp + log.fn != there)
        if len(other):
            k = int(other[0])
            raise InputError(
                f"{len(other)} of {len(log)} samples have another number of findings to be made "
                f"(tp + fn) than in {first.name}, such as {first.samples[k][:40]!r}: "
                f"{int((log.tp + log.fn)[k])}, but {int(there[k])}; expected the same answer",
                log.name,
            )
    alarms = np.max([log.fp for log in logs], axis=0)
    if int(there.sum() + alarms.sum()) > _MOST:
        raise InputError(f"more than {_MOST:,} findings; expected fewer", first.name)
    if not there.any() and not alarms.any():
        raise InputError("there are no findings: tp, fp and fn are 0 everywhere", first.name)
    row, place = _numbered(there)
    alarm_row, alarm_place = _numbered(alarms)
    rows = np.concatenate([row, alarm_row])
    says = np.stack(
        [np.concatenate([place < log.tp[row], alarm_place < log.fp[alarm_row]]) for log in logs]
    )
    answer = np.arange(len(rows)) < len(row)
    return Items(unit[rows], np.zeros(len(rows), dtype=np.int32), (FINDING,), answer, says, n_units)


def _numbered(number: NDArray[np.int64]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """For so many things in each row: the row of every one, and its place in the row."""
    row = np.repeat(np.arange(len(number)), number)
    begin = np.cumsum(number) - number
    return row, np.arange(len(row)) - begin[row]


def sides_of(logs: Sequence[Log], items: Items) -> tuple[Labels, tuple[Labels, ...]]:
    """What would have been right, and what every system answered, to be shown as examples."""
    first = logs[0]
    if first.counted:  # which findings these were is not known
        return _side(first, (), np.zeros(0, dtype=np.int32)), ()
    unit = items.unit if items.n_units < len(first) else None
    targets = tuple(_shortened(target) or RIGHT for target in first.targets)
    return _side(first, targets, unit), tuple(
        _side(log, _answers(log, targets), unit) for log in logs
    )


def _answers(log: Log, targets: Sequence[str]) -> tuple[str, ...]:
    """The right answer where it was given; else what was said, marked where it looks right."""
    answers = []
    for right, target, full in zip(log.tp.tolist(), targets, log.said, strict=True):
        said = _shortened(full)
        wrong = f"{said} ({WRONG})" if said == target else said or WRONG
        answers.append(target if right else wrong)
    return tuple(answers)


def _shortened(text: str) -> str:
    return text if len(text) <= _LONGEST else text[:_LONGEST] + "…"


def _side(log: Log, answers: Sequence[str], unit: NDArray[np.int32] | None) -> Labels:
    names = tuple(sorted(set(answers)))
    number = {name: i for i, name in enumerate(names)}
    codes = np.array([number[answer] for answer in answers], dtype=np.int32)
    return Labels(log.name, codes, names, unit, (), lambda: log.texts)
