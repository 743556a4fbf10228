"""Record every use that gates make of a test set.

The file survives crashes and two writers at once.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any, NamedTuple

from probative._validation import shown
from probative.errors import InputError
from probative.files import check_target, failing_as, lock, open_locked
from probative.inference.allowance import CANDIDATES, allowance, looks_left
from probative.options import sign
from probative.results.ledger import SKETCH, Fingerprints, GateUse, Ledger, TestSet, TestSetUse

# --- The file: one line per use of a test set
#
# An exclusive lock is held from reading the earlier uses until the new line is on the disk; it ends
# with the process, however that ends. Every line has the number of its look and a checksum, which
# includes that of the line before. The first line holds the number of uses and the last checksum;
# it is written after them, so that missing lines at the end are noticed.

_FORMAT = "probative ledger 1"
_START = json.dumps({"format": _FORMAT})[:-1].encode()  # start of every line
_DIGITS = 16  # hexadecimal digits of a checksum


class _End(NamedTuple):
    """End of the complete part of a file: its bytes, its uses, and the checksum of the last."""

    size: int = 0
    uses: int = 0
    check: str = "0" * _DIGITS


def _append_uses(file: IO[bytes], end: _End, uses: Sequence[TestSetUse]) -> None:
    """Append uses after the complete part and write them to the disk; undo on failure."""
    lines, check = _lines_of(uses, end.check)
    file.seek(0)
    head = file.read(min(end.size, len(_head(end))))
    if not head:
        lines = _head(_End()) + lines
    else:
        file.seek(end.size - 1)
        lines = lines if file.read(1) == b"\n" else b"\n" + lines
    try:
        file.truncate(end.size)
        _write(file, end.size, lines)
        # from here on, the first line reveals if lines are cut off
        _write(file, 0, _head(_End(uses=end.uses + len(uses), check=check)))
    except OSError:
        file.truncate(end.size)
        file.seek(0)
        file.write(head)
        raise


def _write(file: IO[bytes], place: int, content: bytes) -> None:
    file.seek(place)
    left = memoryview(content)
    while left:
        left = left[file.write(left) :]
    file.flush()
    os.fsync(file.fileno())


def _read_uses(file: IO[bytes], path: Path | str) -> tuple[list[TestSetUse], _End, tuple[str, ...]]:
    """Parse the file; return its uses, the end of the complete part, and notes on the rest."""
    file.seek(0)
    data = file.read()
    size = data.rfind(b"\n") + 1
    rest = data[size:]
    if size and rest.startswith(_START) and rest.endswith(b"}"):  # complete, apart from the newline
        size, rest = len(data), b""
    head, *lines = data[:size].splitlines() or [_head(_End()).rstrip()]
    last = _parse_head(head, path)
    uses, check = [], _End().check
    for number, line in enumerate(lines, 2):
        use, check = _parse(line, check, path, number)
        uses.append(use)
        if len(uses) == last.uses and check != last.check:
            raise _damaged(path, number)
    if len(uses) < last.uses:
        raise InputError(
            f"has {len(uses)} uses of test sets, and had {last.uses}: lines were cut from its end; "
            f"expected the file as it was written",
            path,
        )
    end = _End(size, len(uses), check)
    if not rest:
        return uses, end, ()
    ours = rest.startswith(_START) or _START.startswith(rest)
    if not ours and not size and rest.strip(b"\0"):
        raise _no_ledger(path)
    note = (
        f"{path}: its last line is incomplete ({len(rest)} bytes) because a writer was stopped; "
        "the next use overwrites it"
    )
    return uses, end, (note,)


def _head(end: _End) -> bytes:
    """Return the first line, which has the same length for any content."""
    content = {"format": _FORMAT, "uses": f"{end.uses:012}", "check": end.check}
    return json.dumps(content).encode() + b"\n"


def _parse_head(line: bytes, path: Path | str) -> _End:
    if not line.startswith(_START):
        raise _no_ledger(path)
    try:
        content = json.loads(line)
        end = _End(uses=int(content["uses"]), check=content["check"])
        known = _head(end).rstrip() == line
    except (ValueError, KeyError, TypeError, RecursionError):
        known = False
    if not known:
        raise _damaged(path, 1)
    return end


def _parse(line: bytes, before: str, path: Path | str, number: int) -> tuple[TestSetUse, str]:
    """Parse a line; return its use and checksum, or refuse it if a byte was changed."""
    if not line.startswith(_START):
        raise InputError(
            "is damaged: this is no line of a ledger; expected it as it was", path, number
        )
    try:
        content = json.loads(line)
        check = content.pop("check")
        known = _check_of(content, before) == check
        del content["format"]
        content["sketch"] = tuple(content["sketch"])
        use = TestSetUse(**content)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        known = False
    if not known or use.candidates not in CANDIDATES or not 0 < use.threshold < 1:
        raise _damaged(path, number)
    return use, check


def _damaged(path: Path | str, number: int) -> InputError:
    return InputError(
        "is damaged: its checksum does not fit, or a line before it was changed, removed or put "
        "in; expected the lines as they were written",
        path,
        number,
    )


def _no_ledger(path: Path | str) -> InputError:
    return InputError("is no ledger of gates; expected one, or the name of a new file", path)


def _lines_of(uses: Sequence[TestSetUse], check: str) -> tuple[bytes, str]:
    """Return uses as lines that follow a line with this checksum, and the last checksum."""
    lines = []
    for use in uses:
        content = {"format": _FORMAT} | {f.name: getattr(use, f.name) for f in fields(use)}
        check = _check_of(content, check)
        lines.append(json.dumps(content | {"check": check}).encode() + b"\n")
    return b"".join(lines), check


def _check_of(content: dict[str, Any], before: str) -> str:
    return hashlib.sha256((before + json.dumps(content)).encode()).hexdigest()[:_DIGITS]


# --- Deciding and recording uses
#
# A use is on the disk before anybody learns the verdict. One exclusive lock is held from reading
# the earlier uses until the new line is written, so that no two uses get the same allowance.

_SMALLEST_THRESHOLD = 1e-9  # below it, probabilities are not accurate enough to pass a gate
_ASKED = ("metric", "kind", "margin", "confidence", "choices")  # what makes two questions equal
_OF_TEST_SET = ("units", "unit", "unnamed", "sketched", "sketch")
_SHARE_OF_A_KNOWN_TEST_SET = 0.5  # of known units; with fewer, a test set counts as a new one


@dataclass(frozen=True)
class Question:
    """Question of a gate to a test set."""

    test_set: Fingerprints  # of gold and outputs
    a: str  # up to `choices` as in `TestSetUse`
    b: str
    metric: str
    kind: str
    margin: float
    confidence: float
    choices: str
    candidates: str  # "adaptive" or "independent", as for `gate`
    doubt: float  # 1 - P of what the gate requires; NaN without evidence
    scores_shown: bool  # True if more than the verdict is shown


def record(
    path: str | os.PathLike[str], questions: Sequence[Question]
) -> tuple[list[bool], list[GateUse]]:
    """Decide these questions (one per candidate) by the allowance left, and record them."""
    now = datetime.now(UTC).isoformat(timespec="seconds")
    path = Path(path)
    new: list[TestSetUse] = []
    gate_uses = []
    with failing_as("cannot be written", path), open_locked(path) as file:
        known, end, notes = _read_uses(file, path)
        for question in questions:
            use, said = _decide(question, known, new, now)
            new.append(use)
            gate_uses.append(replace(said, note=notes[0] if notes else None))
        _append_uses(file, end, new)
    return [use.passed for use in new], gate_uses


def read_ledger(path: Path | str) -> Ledger:
    """Read a ledger of gates: how often each test set was used, and what is left of it.

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
    if not isinstance(path, (str, os.PathLike)):
        raise InputError(f"ledger: {shown(path)}; expected a path")
    with failing_as("cannot be read", path), Path(path).open("rb") as file:
        lock(file, path, shared=True)
        uses, _, notes = _read_uses(file, path)
    sets = dict.fromkeys(use.test_set for use in uses)
    return Ledger(
        str(path),
        tuple(_test_set([use for use in uses if use.test_set == name]) for name in sets),
        tuple(uses),
        notes,
        signature=sign("ledger"),
    )


def check_ledger(path: object) -> Path:
    """Return the path of a ledger; refuse it, before any computation, if it cannot be one."""
    if not isinstance(path, (str, os.PathLike)) or not str(path):
        raise InputError(f"ledger: {shown(path)}; expected a path")
    place = Path(path)
    if check_target(place).exists():
        read_ledger(place)
    return place


# --- Allowance of a use


def _decide(
    question: Question, past: Sequence[TestSetUse], at_once: Sequence[TestSetUse], now: str
) -> tuple[TestSetUse, GateUse]:
    """Return the verdict on a question, given earlier uses and those of the same call."""
    known, found = [*past, *at_once], question.test_set
    name, overlap = _which(found, known)
    own = [use for use in known if use.test_set == name]
    if own and own[0].candidates != question.candidates:
        raise InputError(
            f"candidates: {question.candidates}, but this test set was used with candidates that "
            f"are {own[0].candidates}, and shares its allowance out for these; expected "
            f"candidates={own[0].candidates!r}, or another ledger and a fresh test set"
        )
    before = next((use for use in own if _is_same(use, question)), None)
    asked: dict[str, Any] = {"time": now, "answer": found.name, "a": question.a, "b": question.b}
    asked["scores_shown"] = question.scores_shown
    if before is not None:
        use = replace(before, **asked, repeated=True)
    else:
        verdicts = _verdicts(own)
        threshold = allowance(question.candidates, verdicts, 1 - question.confidence)
        use = TestSetUse(
            test_set=name,
            outputs=found.outputs[question.b],
            look=len(verdicts) + 1,
            threshold=threshold,
            passed=_passes(question.doubt, threshold),
            repeated=False,
            content=found.answer,
            **{each: getattr(question, each) for each in (*_ASKED, "candidates")},
            **{each: getattr(found, each) for each in _OF_TEST_SET},
            **asked,
        )
    # who asks about several candidates in one call has not seen a score of any
    seen = [one for one in past if one.test_set == use.test_set]
    seen = seen if before is None else own[: own.index(before)]
    looks = _verdicts(own)
    return use, GateUse(
        passes=sum(looks[: use.look - 1]),
        new=not own,
        repeated=None if before is None else before.time,
        look=use.look,
        threshold=use.threshold,
        overlap=overlap,
        **_state(use, looks if before is not None else [*looks, use.passed], _shown(seen)),
    )


def _passes(doubt: float, threshold: float) -> bool:
    # without evidence the doubt is NaN, and nothing passes
    return threshold >= _SMALLEST_THRESHOLD and doubt <= threshold


def _state(use: TestSetUse, verdicts: Sequence[bool], shown_before: int) -> dict[str, Any]:
    """Return what a use of a test set and the state of the set have in common."""
    left = looks_left(use.candidates, verdicts, 1 - use.confidence)
    return {
        **{name: getattr(use, name) for name in ("test_set", "candidates", "units", "unit")},
        "promised": use.candidates == "independent" or shown_before == 0,
        "shown": shown_before,
        "looks_left": left,
        "worn_out": left == 0,
    }


def _test_set(uses: Sequence[TestSetUse]) -> TestSet:
    """Return the state of a test set after these uses."""
    last, verdicts = uses[-1], _verdicts(uses)
    return TestSet(
        answer=last.answer,
        uses=len(uses),
        looks=len(verdicts),
        passes=sum(verdicts),
        first=uses[0].time,
        last=last.time,
        confidence=last.confidence,
        threshold=allowance(last.candidates, verdicts, 1 - last.confidence),
        **_state(last, verdicts, _shown(uses)),
    )


def _verdicts(uses: Sequence[TestSetUse]) -> list[bool]:
    return [use.passed for use in uses if not use.repeated]


def _shown(uses: Sequence[TestSetUse]) -> int:
    return sum(use.scores_shown for use in uses)


def _is_same(use: TestSetUse, question: Question) -> bool:
    """Return True if this was asked before: same outputs, gate and choices."""
    return (
        use.content == question.test_set.answer
        and use.outputs == question.test_set.outputs[question.b]
        and all(getattr(use, name) == getattr(question, name) for name in _ASKED)
        # a verdict that contradicts the present doubt belongs to another question
        and use.passed == _passes(question.doubt, use.threshold)
    )


def _which(found: Fingerprints, known: Sequence[TestSetUse]) -> tuple[str, float | None]:
    """Return the name of the test set, and the share of known units if it was changed."""
    shares: dict[str, float] = {}
    for use in known:
        shares[use.test_set] = max(shares.get(use.test_set, 0.0), _share(found, use))
    best = max(shares, key=lambda name: shares[name], default=None)
    if best is None or shares[best] < _SHARE_OF_A_KNOWN_TEST_SET:
        # texts distinguish two test sets with the same labels
        taken = found.answer in shares
        return (found.sketch[0] if taken else found.answer), None
    same = any(use.test_set == best and use.content == found.answer for use in known)
    return best, None if same and shares[best] == 1 else shares[best]


def _share(found: Fingerprints, use: TestSetUse) -> float:
    """Estimate the share of the units of this test set that were in one used before."""
    share = 0.0
    if found.sketched == use.sketched:
        # a sketch holds the smallest hashes of the units: compare up to the end of both
        ends = [s[-1] for s in (found.sketch, use.sketch) if len(s) == SKETCH]
        own = [unit for unit in found.sketch if unit <= min(ends, default=unit)]
        share = len({*own} & {*use.sketch}) / len(own) if own else 0.0
    # many test sets have the same number of each label
    if found.sketched == use.sketched == "texts":
        return share
    same = found.answer == use.content or found.unnamed == use.unnamed
    return 1.0 if same else share
