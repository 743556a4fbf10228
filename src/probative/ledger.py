"""A file of every use that gates made of test sets; it survives crashes and two writers at once.

A use is written down, and is on the disk, before anybody is told the verdict. One exclusive lock is
held from reading what came before until the new line is there, so that no two uses get the same
allowance; it ends with the process, however that ends.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from probative._validation import shown
from probative.errors import InputError
from probative.files import check_target
from probative.inference.allowance import allowance, is_worn_out, looks_left
from probative.ledger_files import (
    append_lines,
    line_of,
    lock,
    open_locked,
    read_uses,
    reason_of,
)
from probative.options.base import sign
from probative.results.ledger import GateUse, Ledger, TestSet, TestSetUse

if TYPE_CHECKING:
    from collections.abc import Sequence

    from probative.results.ledger import Fingerprints

__all__ = ["Question", "check_ledger", "read_ledger", "record"]

_SURE = 1e-9  # doubt below which probabilities are not known well enough
_ALIKE = 0.5  # a share of common units above which two test sets are nearly the same


@dataclass(frozen=True)
class Question:
    """What a gate asks of a test set.

    Attributes
    ----------
    test_set
        The answer and the outputs.
    a, b, metric, kind, margin, confidence, choices
        As `TestSetUse` has them.
    candidates
        How candidates come about.
    doubt
        1 - P of what the gate asks for; NaN where there is no evidence.
    scores_shown
        Whether more than the verdict is shown.
    """

    test_set: Fingerprints
    a: str
    b: str
    metric: str
    kind: str
    margin: float
    confidence: float
    choices: str
    candidates: str
    doubt: float
    scores_shown: bool


def record(
    path: str | os.PathLike[str], questions: Sequence[Question]
) -> tuple[list[bool], list[GateUse]]:
    """Decide these questions by what is left of their test set, and write them down.

    Parameters
    ----------
    path
        The ledger; it is made where it is missing.
    questions
        One per candidate.

    Returns
    -------
    tuple
        Whether each passes, and what each has used.
    """
    now = datetime.now(UTC).isoformat(timespec="seconds")
    path = Path(path)
    new: list[TestSetUse] = []
    told = []
    with open_locked(path) as file:
        known, size, notes = read_uses(file, path)
        for question in questions:
            use, said = _decide(question, known, new, now)
            new.append(use)
            told.append(replace(said, note=notes[0] if notes else None))
        append_lines(file, path, size, b"".join(map(line_of, new)))
    return [use.passed for use in new], told


def read_ledger(path: Path | str) -> Ledger:
    """Read a ledger of gates: which test sets were used how often, and what is left of them.

    Parameters
    ----------
    path
        The file that was given as `ledger` to a gate.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import probative as pv
    >>> place = Path(tempfile.mkdtemp()) / "gates.jsonl"
    >>> gold = [["B-PER", "O"]] * 60
    >>> old, new = [["O", "O"]] * 30 + gold[:30], [["O", "O"]] * 5 + gold[:55]
    >>> found = pv.compare(gold, old, new, names=["old", "new"], fingerprints=True)
    >>> (verdict,) = pv.gate(found, "require-better", ledger=place)
    >>> ledger = pv.read_ledger(place)
    >>> ledger.sets[0].looks, ledger.sets[0].passes
    (1, 1)
    """
    try:
        with Path(path).open("rb") as file:
            lock(file, path, shared=True)
            uses, _, notes = read_uses(file, path)
    except OSError as error:
        raise InputError(f"cannot be read: {reason_of(error)}", path) from None
    except (TypeError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"ledger: {shown(path)}; expected a path") from None
    sets = dict.fromkeys(use.test_set for use in uses)
    return Ledger(
        str(path),
        tuple(_test_set([use for use in uses if use.test_set == name]) for name in sets),
        tuple(uses),
        notes,
        sign("ledger"),
    )


def check_ledger(path: object) -> Path:
    """The ledger, if it can be one: asked before anything is computed."""
    if not isinstance(path, (str, os.PathLike)) or isinstance(path, bytes) or not str(path):
        raise InputError(f"ledger: {shown(path)}; expected a path")
    place = Path(path)
    if check_target(place).exists():
        read_ledger(place)
    return place


# --- what a use may ask for -----------------------------------------------------------------------


def _decide(
    question: Question, past: Sequence[TestSetUse], at_once: Sequence[TestSetUse], now: str
) -> tuple[TestSetUse, GateUse]:
    """The verdict on a question, given the uses so far and those of the same moment."""
    known = [*past, *at_once]
    own = [use for use in known if use.test_set == question.test_set.answer]
    _refuse_another_way(question, own)
    before = next((use for use in own if _is_same(use, question)), None)
    if before is not None:
        use = replace(
            before,
            time=now,
            answer=question.test_set.name,
            a=question.a,
            b=question.b,
            repeated=True,
            scores_shown=question.scores_shown,
        )
    else:
        verdicts = _verdicts(own)
        threshold = allowance(question.candidates, verdicts, 1 - question.confidence)
        use = TestSetUse(
            now,
            question.test_set.answer,
            question.test_set.name,
            question.test_set.units,
            question.test_set.unit,
            question.a,
            question.b,
            question.test_set.outputs[question.a],
            question.test_set.outputs[question.b],
            question.metric,
            question.kind,
            question.margin,
            question.confidence,
            question.choices,
            question.candidates,
            len(verdicts) + 1,
            threshold,
            # without evidence the doubt is not a number, and nothing passes
            threshold >= _SURE and question.doubt <= threshold,
            question.scores_shown,
            repeated=False,
            sketch=question.test_set.sketch,
        )
    # who asks about several candidates at once has seen no score of any
    seen = [one for one in past if one.test_set == use.test_set]
    seen = seen if before is None else own[: own.index(before)]
    told = _told(use, own, _shown(seen), before)
    similar, overlap = (None, None) if own else _nearest(use, known)
    return use, replace(told, similar=similar, overlap=overlap)


def _told(
    use: TestSetUse, own: Sequence[TestSetUse], shown_before: int, before: TestSetUse | None
) -> GateUse:
    """What a use has cost, and what is left."""
    looks = _verdicts(own)
    until = looks[: use.look - 1]
    after = looks if before is not None else [*looks, use.passed]
    doubt = 1 - use.confidence
    return GateUse(
        use.test_set,
        use.look,
        sum(until),
        use.candidates,
        use.threshold,
        use.candidates == "independent" or shown_before == 0,
        shown_before,
        looks_left(use.candidates, after, doubt),
        is_worn_out(use.candidates, after, doubt),
        use.units,
        use.unit,
        new=not own,
        repeated=None if before is None else before.time,
    )


def _test_set(uses: Sequence[TestSetUse]) -> TestSet:
    """What is left of a test set after these uses."""
    last = uses[-1]
    verdicts, doubt = _verdicts(uses), 1 - last.confidence
    times = _shown(uses)
    return TestSet(
        last.test_set,
        last.answer,
        last.units,
        last.unit,
        last.candidates,
        len(uses),
        len(verdicts),
        sum(verdicts),
        times,
        uses[0].time,
        last.time,
        last.confidence,
        allowance(last.candidates, verdicts, doubt),
        last.candidates == "independent" or times == 0,
        looks_left(last.candidates, verdicts, doubt),
        is_worn_out(last.candidates, verdicts, doubt),
    )


def _verdicts(uses: Sequence[TestSetUse]) -> list[bool]:
    return [use.passed for use in uses if not use.repeated]


def _shown(uses: Sequence[TestSetUse]) -> int:
    return sum(use.scores_shown for use in uses)


def _is_same(use: TestSetUse, question: Question) -> bool:
    """Whether this was asked before: the same outputs, the same gate, the same way of computing."""
    outputs = question.test_set.outputs
    asked = ("metric", "kind", "margin", "confidence", "choices")
    return (use.output_a, use.output_b) == (outputs[question.a], outputs[question.b]) and all(
        getattr(use, name) == getattr(question, name) for name in asked
    )


def _refuse_another_way(question: Question, own: Sequence[TestSetUse]) -> None:
    if own and own[0].candidates != question.candidates:
        raise InputError(
            f"candidates: {question.candidates}, but this test set was used with candidates that "
            f"are {own[0].candidates}, and shares its allowance out for these; expected "
            f"candidates={own[0].candidates!r}, or another ledger and a fresh test set"
        )


def _nearest(use: TestSetUse, known: Sequence[TestSetUse]) -> tuple[str | None, float | None]:
    """The test set that has most units in common with a new one, if these are many."""
    shares = {one.test_set: _overlap(use.sketch, one.sketch) for one in known}
    best = max(shares, key=lambda name: shares[name], default=None)
    if best is None or shares[best] < _ALIKE:
        return None, None
    return best, shares[best]


def _overlap(one: Sequence[str], other: Sequence[str]) -> float:
    """About which share of the units two test sets have in common, by the smallest of both."""
    size = min(len(one), len(other))
    smallest = sorted({*one, *other})[:size]
    return sum(unit in one and unit in other for unit in smallest) / size if size else 0.0
