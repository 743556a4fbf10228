"""Logs of evaluations of language models: which samples were answered rightly, by which system.

A log says of every sample, by its id, whether the answer was right, or how many findings were right
(tp), wrong (fp) and missed (fn). There is no answer to compare with: the tool that wrote the log
has done so already. `log_formats` knows the tools; here their rows become arrays.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from probative._validation import shown
from probative.errors import InputError
from probative.reading.log_formats import DOCUMENT, Record, records_of, tool_of
from probative.reading.source import where_they_differ

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from probative.reading.annotations import Origin
    from probative.reading.source import Source

__all__ = ["Log", "Samples", "join_logs", "read_logs", "tool_of"]

_COUNTS = ("tp", "fp", "fn")
_CONCLUSION = "pass"  # of the tool, from all its scores
# what graders say instead of numbers; N is an answer that was not given
_WORDS = {
    "C": 1.0,
    "I": 0.0,
    "P": 0.5,
    "N": 0.0,
    "correct": 1.0,
    "incorrect": 0.0,
    "true": 1.0,
    "false": 0.0,
    "yes": 1.0,
    "no": 0.0,
    "pass": 1.0,
    "fail": 0.0,
}
_MOST = 2**31 - 1
_EXAMPLES = 3  # that a message names


@dataclass(frozen=True, eq=False)
class Log:
    """What a tool says of the answers of one system.

    Attributes
    ----------
    name
        The file, for messages.
    system
        What the log calls the system, or None.
    score
        The score that was taken.
    variant
        How answers were extracted (the filter of lm-evaluation-harness), or an empty text.
    samples
        The id of every sample.
    repeat
        Which repetition of its sample every row is, from 0.
    content
        What tells a sample from another one of the same id, a digest; may be empty.
    tp, fp, fn
        The findings of every row that are right, wrong and missed; a right answer is one that is
        right, a wrong one is one that is missed.
    counted
        Whether rows are findings, rather than answers that are right or wrong.
    texts, targets, said
        What was asked, what would have been right and what was answered; empty where unknown.
    notes
        What was recognised.
    """

    name: str
    system: str | None
    score: str
    variant: str
    samples: tuple[str, ...]
    repeat: tuple[int, ...]
    content: tuple[str, ...] = field(repr=False)
    tp: NDArray[np.int64] = field(repr=False)
    fp: NDArray[np.int64] = field(repr=False)
    fn: NDArray[np.int64] = field(repr=False)
    counted: bool
    texts: tuple[str, ...] = field(repr=False)
    targets: tuple[str, ...] = field(repr=False)
    said: tuple[str, ...] = field(repr=False)
    notes: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.samples)

    @property
    def keys(self) -> list[tuple[str, int]]:
        """Sample and repetition of every row."""
        return list(zip(self.samples, self.repeat, strict=True))

    def in_order(self, keys: Sequence[tuple[str, int]]) -> Log:
        """The same rows in another order."""
        place = {key: i for i, key in enumerate(self.keys)}
        order = [place[key] for key in keys]
        rows = np.array(order, dtype=np.intp)
        return replace(
            self,
            samples=tuple(self.samples[i] for i in order),
            repeat=tuple(self.repeat[i] for i in order),
            content=tuple(self.content[i] for i in order),
            tp=self.tp[rows],
            fp=self.fp[rows],
            fn=self.fn[rows],
            texts=tuple(self.texts[i] for i in order),
            targets=tuple(self.targets[i] for i in order),
            said=tuple(self.said[i] for i in order),
        )


@dataclass(frozen=True, eq=False)
class Samples:
    """What a file of logs holds: one log, or those of several systems.

    Attributes
    ----------
    name
        The file.
    logs
        The log of every system.
    notes
        What was recognised.
    origin
        The format of the file, and why.
    """

    name: str
    logs: tuple[Log, ...]
    notes: tuple[str, ...] = ()
    origin: Origin | None = None


def read_logs(
    source: Source, *, score_name: str | None = None, threshold: float | None = None
) -> list[Log]:
    """Read the log of one system, or of several where one file holds several.

    Parameters
    ----------
    source
        The file.
    score_name
        Which score to take, where the log holds several.
    threshold
        From where on a score that is no yes or no counts as right.
    """
    tool, reason, records = records_of(source)
    if not records:
        raise source.error(f"the log of {tool} holds no samples; expected at least one")
    variants = dict.fromkeys(record.variant for record in records)
    names = _names(records, several=len(variants) > 1)
    if score_name is not None and len(variants) == 1 and score_name not in names:
        # as it is called where there are several
        score_name = score_name.removesuffix(f",{next(iter(variants))}")
    chosen = _choose(source, list(names), score_name)
    variant, key = names[chosen]
    kept = [record for record in records if record.variant == variant or len(variants) == 1]
    systems: dict[str | None, list[Record]] = {}
    for record in kept:
        systems.setdefault(record.system, []).append(record)
    others = [name for name in names if name != chosen]
    also = f"; there are also {', '.join(map(repr, others))} (score_name=)" if others else ""
    note = f"{source.name}: log of {tool}, because {reason}; score {chosen!r}{also}"
    return [
        _log(source, own, system, (chosen, key), threshold, note) for system, own in systems.items()
    ]


def _names(records: Iterable[Record], *, several: bool) -> dict[str, tuple[str, str]]:
    """What the scores are called, and for each its variant and its key there."""
    names: dict[str, tuple[str, str]] = {}
    for record in records:
        for key in record.scores:
            name = f"{key},{record.variant}" if several else key
            names.setdefault(name, (record.variant, key))
    return names


def _choose(source: Source, names: list[str], wanted: str | None) -> str:
    if not names:
        raise source.error("no sample has a score; expected at least one")
    listed = ", ".join(names[:20]) + (", …" if len(names) > 20 else "")
    if wanted is not None:
        fitting = [name for name in names if wanted in (name, name.partition(",")[0])]
        if wanted in names:
            return wanted
        if len(fitting) == 1:
            return fitting[0]
        raise source.error(
            f"there is no score {shown(wanted)}; expected one of {listed}"
            if not fitting
            else f"several scores are called {shown(wanted)}; expected one of {listed}"
        )
    if len(names) == 1:
        return names[0]
    if _CONCLUSION in names and "counts" not in names:
        return _CONCLUSION
    raise source.error(
        f"which score? There are {listed}; expected one of them to be named (score_name=)"
    )


def _log(
    source: Source,
    records: Sequence[Record],
    system: str | None,
    score: tuple[str, str],
    threshold: float | None,
    note: str,
) -> Log:
    name, key = score
    repeat = _repeats(source, records)
    values = [record.scores.get(key) for record in records]
    _refuse_missing(source, records, values, name)
    counted = any(isinstance(value, dict) for value in values)
    if counted:
        if threshold is not None:
            raise InputError(f"threshold: score {name!r} is counts; expected it left out")
        table = [_counts(source, r, value) for r, value in zip(records, values, strict=True)]
    else:
        right = _right(source, records, values, name, threshold)
        table = [(int(yes), 0, int(not yes)) for yes in right]
    tp, fp, fn = np.array(table, dtype=np.int64).reshape(-1, 3).T
    unanswered = sum(value == "N" for value in values)
    notes = [note]
    if unanswered:
        notes.append(f"{source.name}: {unanswered} samples without an answer (N) count as wrong")
    return Log(
        source.name,
        system,
        name,
        records[0].variant,
        tuple(record.sample for record in records),
        repeat,
        tuple(record.content for record in records),
        tp,
        fp,
        fn,
        counted,
        tuple(record.text for record in records),
        tuple(record.target for record in records),
        tuple(record.said for record in records),
        tuple(notes),
    )


def _repeats(source: Source, records: Sequence[Record]) -> tuple[int, ...]:
    """Which repetition every row is: by its number, or by its place where the tool gives none."""
    times: Counter[str] = Counter()
    repeats = []
    for record in records:
        repeats.append(times[record.sample] if record.repeat is None else record.repeat)
        times[record.sample] += 1
    keys = Counter((r.sample, repeat) for r, repeat in zip(records, repeats, strict=True))
    doubled = [sample for (sample, _), number in keys.items() if number > 1]
    if doubled:
        raise source.error(
            f"{len(doubled)} of {len(keys)} samples stand there more than once "
            f"({_listed(doubled)}); expected each once, or repetitions to be numbered"
        )
    return tuple(repeats)


def _refuse_missing(
    source: Source, records: Sequence[Record], values: Sequence[Any], name: str
) -> None:
    without = [
        (record, value)
        for record, value in zip(records, values, strict=True)
        if value is None or (isinstance(value, float) and math.isnan(value))
    ]
    if without:
        failed = [record for record, _ in without if record.error]
        why = f", {len(failed)} after an error" if failed else ""
        raise source.error(
            f"{len(without)} of {len(records)} samples have no score {name!r}{why} "
            f"({_listed([record.sample for record, _ in without])}); expected one for every sample",
            without[0][0].line,
        )


def _right(
    source: Source,
    records: Sequence[Record],
    values: Sequence[Any],
    name: str,
    threshold: float | None,
) -> list[bool]:
    """Whether every answer is right."""
    numbers = []
    for record, value in zip(records, values, strict=True):
        number = _WORDS.get(value) if isinstance(value, str) else value
        if isinstance(number, bool | int | float) and math.isfinite(number):
            numbers.append(float(number))
            continue
        raise source.error(
            f"sample {shown(record.sample)} has {shown(value)} for score {name!r}; expected right "
            f"or wrong (true, false, 1, 0, C, I), a number or counts (tp, fp, fn)",
            record.line,
        )
    if threshold is not None:
        return [number >= threshold for number in numbers]
    between = [i for i, number in enumerate(numbers) if number not in (0.0, 1.0)]
    if between:
        some = ", ".join(
            f"{shown(values[i])} for {records[i].sample[:40]!r}" for i in between[:_EXAMPLES]
        )
        raise source.error(
            f"{len(between)} of {len(numbers)} samples are neither right nor wrong by {name!r} "
            f"({some}); expected 0 or 1, or from where on one counts as right (threshold=)",
            records[between[0]].line,
        )
    return [number == 1.0 for number in numbers]


def _counts(source: Source, record: Record, value: Any) -> tuple[int, int, int]:
    counts = [value.get(key) if isinstance(value, dict) else None for key in _COUNTS]
    if not all(_is_count(count) for count in counts):
        raise source.error(
            f"sample {shown(record.sample)} has {shown(value)}; expected whole numbers tp, fp and "
            f"fn >= 0",
            record.line,
        )
    tp, fp, fn = (int(count) for count in counts if count is not None)
    return tp, fp, fn


def _is_count(value: Any) -> bool:
    whole = isinstance(value, int) or (isinstance(value, float) and value.is_integer())
    return whole and not isinstance(value, bool) and 0 <= value <= _MOST


def join_logs(logs: Sequence[Log]) -> list[Log]:
    """The logs with the same rows in the same order, if they tell of the same samples."""
    first, *others = logs
    joined = [first]
    for other in others:
        _refuse_other_samples(first, other)
        own = other.in_order(first.keys)
        if first.variant and own.variant and first.variant != own.variant:
            raise InputError(
                f"has the filter {shown(own.variant)}, but {first.name} {shown(first.variant)}; "
                f"expected the same filter (score_name=, where a log has several)",
                own.name,
            )
        _refuse_other_contents(first, own)
        if first.counted != own.counted:
            raise InputError(
                f"holds {_kind(own)}, but {first.name} {_kind(first)}; expected the same score",
                own.name,
            )
        joined.append(own)
    return joined


def _kind(log: Log) -> str:
    return "counts of findings" if log.counted else "right or wrong answers"


def _refuse_other_samples(first: Log, other: Log) -> None:
    mine, theirs = dict.fromkeys(first.keys), dict.fromkeys(other.keys)
    missing = [key for key in mine if key not in theirs]
    extra = [key for key in theirs if key not in mine]
    if not missing and not extra:
        return
    parts = []
    if missing:
        parts.append(
            f"{len(missing)} of the {len(mine)} samples of {first.name} are missing "
            f"({_listed_keys(missing)})"
        )
    if extra:
        parts.append(
            f"{len(extra)} of its {len(theirs)} are not in {first.name} ({_listed_keys(extra)})"
        )
    raise InputError(" and ".join(parts) + "; expected the same samples", other.name)


def _refuse_other_contents(first: Log, other: Log) -> None:
    different = [
        i
        for i, (mine, theirs) in enumerate(zip(first.content, other.content, strict=True))
        if mine and theirs and mine != theirs and _are_alike(mine, theirs)
    ]
    if not different:
        return
    at = different[0]
    here, there = where_they_differ(other.texts[at], first.texts[at])
    asked = f"; the first asks {here}, but {there} there" if here != there else ""
    raise InputError(
        f"{len(different)} of {len(first)} samples ask something else than those of the same "
        f"id in {first.name} ({_listed([first.samples[i] for i in different])}){asked}; expected "
        f"the same test set",
        other.name,
    )


def _are_alike(one: str, other: str) -> bool:
    """Return whether both are hashes of texts, or both of documents."""
    return one.startswith(DOCUMENT) == other.startswith(DOCUMENT)


def _listed_keys(keys: Sequence[tuple[str, int]]) -> str:
    return _listed([s if not repeat else f"{s} (repetition {repeat + 1})" for s, repeat in keys])


def _listed(samples: Sequence[str]) -> str:
    named = [s if len(s) <= 40 else s[:40] + "…" for s in samples[:_EXAMPLES]]
    text = ", ".join(map(repr, named))
    return text + (", …" if len(samples) > _EXAMPLES else "")
