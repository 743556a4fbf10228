"""Provide seqeval's functions with its arguments and numbers, and with intervals.

Change the import and nothing else: ``from probative.seqeval import classification_report``. An
argument that seqeval would ignore without notice is a warning or an error here.
"""

from __future__ import annotations

import re
import sys
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from probative._validation import flag, one_of, open_probability, shown, whole_number
from probative.counts import Counts
from probative.errors import InputError
from probative.inference.intervals import interval
from probative.jobs.score import scores_of
from probative.matching.items import Items, collect, numbered_alike
from probative.matching.matched import Matched
from probative.matching.schemes import decode
from probative.options import ScoreOptions
from probative.reading.annotations import Tagged, tagged_from_lists

if TYPE_CHECKING:
    from probative.results import Interval, LabelScores, SystemScores

    Score = float | NDArray[np.float64] | Interval | list[Interval]
    Side = tuple[NDArray[Any], NDArray[Any], NDArray[Any], NDArray[Any], tuple[str, ...]]

__all__ = [
    "UndefinedMetricWarning",
    "accuracy_score",
    "classification_report",
    "f1_score",
    "performance_measure",
    "precision_score",
    "recall_score",
]

_AVERAGES = ("micro", "macro", "weighted")
_SCHEMES = ("iob1", "iob2", "ioe1", "ioe2", "iobes", "bilou")
_OURS = {"precision": "precision", "recall": "recall", "f1-score": "f1"}


class UndefinedMetricWarning(UserWarning):
    """Warning about a score whose denominator is 0, if scikit-learn's own class is not loaded."""


def classification_report(
    y_true: Sequence[Sequence[str]],
    y_pred: Sequence[Sequence[str]],
    digits: int = 2,
    suffix: bool = False,
    output_dict: bool = False,
    mode: str | None = None,
    sample_weight: None = None,
    zero_division: str | int = "warn",
    scheme: str | type | None = None,
    *,
    level: float | None = 0.95,
) -> str | dict[str, dict[str, float]]:
    """Report precision, recall, F1 and support of every label and of their averages.

    Parameters
    ----------
    y_true, y_pred
        A list of tags per sentence, of gold and of a system.
    digits
        The number of decimals in the text.
    suffix
        Whether tags end with their prefix (``PER-B``).
    output_dict
        Whether to return a dictionary instead of text.
    mode
        None to read tags as conlleval does, or "strict" for only the spans that the scheme allows.
    sample_weight
        Only None is accepted: seqeval takes weights and does not use them.
    zero_division
        The value of an undefined score: 0 or 1; "warn" for 0 with a warning.
    scheme
        For the strict mode: the name of a scheme ("iob2", "iobes", …) or one of seqeval's classes.
        By default it is recognised as in seqeval.
    level
        The level of the intervals; None for exactly seqeval's output.

    Returns
    -------
    The text is seqeval's with one more column, the interval of F1. The dictionary has its keys, and
    also ``precision_low``, ``precision_high``, ``recall_low`` and so on. The weighted average has
    no interval.

    Examples
    --------
    >>> from probative.seqeval import classification_report
    >>> y_true = [["B-PER", "I-PER", "O", "B-LOC"], ["O", "B-LOC", "O", "B-PER"]]
    >>> y_pred = [["B-PER", "I-PER", "O", "B-PER"], ["O", "B-LOC", "O", "B-PER"]]
    >>> report = classification_report(y_true, y_pred, output_dict=True)
    >>> report["PER"]["recall"], report["micro avg"]["f1-score"]
    (1.0, 0.75)
    """
    whole_number("digits", digits, least=0, most=100)
    found = _find(y_true, y_pred, mode, scheme, suffix=suffix, detect=True)
    zero = _zero(zero_division, sample_weight)
    level = None if level is None else open_probability("level", level)
    if zero is None:
        _warn_undefined(found, ("precision", "recall"), None if found.items.labels else "micro")
    limits = {} if level is None else _limits(found.scores(level))
    rows = {
        name: {**scores, "support": support, **limits.get(name, {})}
        for name, scores, support in found.rows(zero or 0)
    }
    if flag("output_dict", output_dict):
        return rows
    return _text(rows, len(found.items.labels), digits, level)


def f1_score(
    y_true: Sequence[Sequence[str]],
    y_pred: Sequence[Sequence[str]],
    *,
    average: str | None = "micro",
    suffix: bool = False,
    mode: str | None = None,
    sample_weight: None = None,
    zero_division: str | int = "warn",
    scheme: str | type | None = None,
    level: float | None = None,
) -> Score:
    """Compute the F1 of spans.

    Parameters
    ----------
    y_true, y_pred, suffix, mode, sample_weight, zero_division, scheme
        As for `classification_report`; but as in seqeval the mode is strict only if a scheme is
        given, too.
    average
        "micro", "macro" or "weighted"; None for an array of the labels' scores, in alphabetical
        order.
    level
        If given, an `Interval` of this level is returned, or a list of them; the weighted average
        has none.

    Examples
    --------
    >>> from probative.seqeval import f1_score
    >>> y_true = [["B-PER", "I-PER", "O", "B-LOC"], ["O", "B-LOC", "O", "B-PER"]]
    >>> y_pred = [["B-PER", "I-PER", "O", "B-PER"], ["O", "B-LOC", "O", "B-PER"]]
    >>> f1_score(y_true, y_pred)
    0.75
    >>> f1_score(y_true, y_pred, average=None).round(4)
    array([0.6667, 0.8   ])
    """
    how = (average, suffix, mode, sample_weight, zero_division, scheme, level)
    return _score("f1-score", y_true, y_pred, how)


def precision_score(
    y_true: Sequence[Sequence[str]],
    y_pred: Sequence[Sequence[str]],
    *,
    average: str | None = "micro",
    suffix: bool = False,
    mode: str | None = None,
    sample_weight: None = None,
    zero_division: str | int = "warn",
    scheme: str | type | None = None,
    level: float | None = None,
) -> Score:
    """Compute the precision of spans, with the arguments of `f1_score`.

    Examples
    --------
    >>> from probative.seqeval import precision_score
    >>> y_true, y_pred = [["B-PER", "O", "B-LOC"]], [["B-PER", "O", "B-PER"]]
    >>> precision_score(y_true, y_pred)
    0.5
    """
    how = (average, suffix, mode, sample_weight, zero_division, scheme, level)
    return _score("precision", y_true, y_pred, how)


def recall_score(
    y_true: Sequence[Sequence[str]],
    y_pred: Sequence[Sequence[str]],
    *,
    average: str | None = "micro",
    suffix: bool = False,
    mode: str | None = None,
    sample_weight: None = None,
    zero_division: str | int = "warn",
    scheme: str | type | None = None,
    level: float | None = None,
) -> Score:
    """Compute the recall of spans, with the arguments of `f1_score`.

    Examples
    --------
    >>> from probative.seqeval import recall_score
    >>> y_true, y_pred = [["B-PER", "O", "B-LOC"]], [["B-PER", "O", "O"]]
    >>> recall_score(y_true, y_pred)
    0.5
    """
    how = (average, suffix, mode, sample_weight, zero_division, scheme, level)
    return _score("recall", y_true, y_pred, how)


def accuracy_score(
    y_true: Sequence[Any], y_pred: Sequence[Any], *, level: float | None = None
) -> float | Interval:
    """Compute the share of tokens whose tag is right.

    Parameters
    ----------
    y_true, y_pred
        A list of tags per sentence, or one list of tags.
    level
        If given, an `Interval` of this level is returned, with sentences as units.

    Examples
    --------
    >>> from probative.seqeval import accuracy_score
    >>> accuracy_score([["B-PER", "O"], ["O"]], [["B-PER", "B-LOC"], ["O"]], level=None)
    0.6666666666666666
    """
    gold, _, right = _tokens(y_true, y_pred)
    if not len(right):
        raise InputError("y_true: holds no tokens; expected at least one")
    if level is None:
        return float(np.count_nonzero(right) / len(right))
    sentence = np.repeat(np.arange(gold.text.n_sentences), np.diff(gold.text.first))
    tokens = np.bincount(sentence)
    tp = np.bincount(sentence[right], minlength=len(tokens))
    units = Counts(tp, np.zeros(len(tokens)), tokens - tp)
    clustered = interval(units, "recall", level=level, clustered=True)
    return replace(clustered, metric="accuracy", signature="")


def performance_measure(y_true: Sequence[Any], y_pred: Sequence[Any]) -> dict[str, int]:
    """Count tokens: right tag (TP), wrong tag (FP), tag missed (FN), rightly no tag (TN).

    Parameters
    ----------
    y_true, y_pred
        A list of tags per sentence, or one list of tags.

    Examples
    --------
    >>> from probative.seqeval import performance_measure
    >>> performance_measure([["B-PER", "O", "B-LOC"]], [["B-PER", "B-LOC", "O"]])
    {'TP': 1, 'FP': 1, 'FN': 1, 'TN': 0}
    """
    gold, pred, right = _tokens(y_true, y_pred)
    named, said = (np.array([n != "O" for n in s.names] or [False])[s.tags] for s in (gold, pred))
    measures = {"TP": right & named, "FP": ~right & said, "FN": named & ~said, "TN": right & ~named}
    return {name: int(np.count_nonzero(which)) for name, which in measures.items()}


def _score(metric: str, y_true: Any, y_pred: Any, how: tuple[Any, ...]) -> Score:
    """Return one score; with a level, its interval."""
    average, suffix, mode, sample_weight, zero_division, scheme, level = how
    if average is not None:
        one_of("average", average, _AVERAGES)
    found = _find(y_true, y_pred, mode, scheme, suffix=suffix)
    zero = _zero(zero_division, sample_weight)
    if level is None:
        if zero is None:
            _warn_undefined(found, (metric,), average)
        value: Score = found.scored(average, zero or 0)[metric]
        return value
    level = open_probability("level", level)
    if average == "weighted":
        raise InputError(
            "level: the weighted average has no interval; expected average='micro' or 'macro'"
        )
    scores = found.scores(level)
    if average is None:
        return [label[_OURS[metric]] for label in scores.by_label]
    return scores["macro_" * (average == "macro") + _OURS[metric]]


@dataclass(frozen=True, eq=False)
class _Found:
    """Spans of both sides, counted by label."""

    items: Items
    tagged: tuple[Tagged, Tagged]

    @cached_property
    def counts(self) -> Counts:
        return self.items.counts(by="label")

    def scored(self, average: str | None, zero: float) -> dict[str, Any]:
        """Return the scores of an average; without one, arrays of those of the labels."""
        counts = self.counts
        if average is None:
            return _prf(counts, zero)
        if average == "micro":
            return {name: float(v[0]) for name, v in _prf(counts.sum().reshape(1), zero).items()}
        support = np.asarray(counts.positives)
        if average == "weighted" and not support.sum():
            # no gold spans: as in seqeval, a system without spans gets the value of zero_division
            silent = float(zero) if not np.sum(counts.predicted) else 0.0
            return {"precision": silent, "recall": float(zero), "f1-score": silent}
        if not len(support):
            return dict.fromkeys(_OURS, float("nan"))
        weights = support if average == "weighted" else None
        return {n: float(np.average(v, weights=weights)) for n, v in _prf(counts, zero).items()}

    def rows(self, zero: float) -> Iterator[tuple[str, dict[str, float], int]]:
        """Yield the lines of a report: labels, then averages."""
        support = np.asarray(self.counts.positives).astype(int).tolist()
        own = _prf(self.counts, zero)
        for i, label in enumerate(self.items.labels):
            yield label, {name: float(values[i]) for name, values in own.items()}, support[i]
        for average in _AVERAGES:
            yield f"{average} avg", self.scored(average, zero), sum(support)

    def scores(self, level: float) -> SystemScores:
        """Return the scores with intervals, of every label and of the micro and macro averages."""
        every = np.ones((1, len(self.items.labels)), dtype=bool)
        # with a scheme, a single label is reported, too
        how: Any = {"tagged": self.tagged, "scheme": "tags", "averaged": every, "own_labels": True}
        matched = Matched("entities", ("pred",), self.items, None, (None,), **how)
        also = tuple(f"macro_{metric}" for metric in _OURS.values())
        return scores_of(matched, ScoreOptions(level=level), also).systems[0]


def _prf(counts: Counts, zero: float) -> dict[str, NDArray[np.float64]]:
    """Compute precision, recall and F1 in the order of seqeval, so that the last digits agree."""

    def share(of: Any) -> NDArray[np.float64]:
        undefined = np.full(np.shape(of), float(zero))
        return np.asarray(np.divide(counts.tp, of, out=undefined, where=of > 0))

    precision, recall = share(counts.predicted), share(counts.positives)
    both = precision + recall
    both[both == 0] = 1
    return {"precision": precision, "recall": recall, "f1-score": 2 * precision * recall / both}


def _zero(zero_division: Any, sample_weight: Any) -> int | None:
    """Return the value of an undefined score; None for 0 with a warning."""
    if sample_weight is not None:
        raise InputError(
            "sample_weight: is not supported (seqeval takes it and does not use it); expected None"
        )
    if isinstance(zero_division, str) and zero_division == "warn":
        return None
    if isinstance(zero_division, (int, float)) and zero_division in (0, 1):
        return int(zero_division)
    raise InputError(f"zero_division: {shown(zero_division)}; expected 'warn', 0 or 1")


def _warn_undefined(found: _Found, metrics: Sequence[str], average: str | None = None) -> None:
    """Warn of scores whose denominator is 0, in the cases in which seqeval warns."""
    counts = found.counts.sum().reshape(1) if average == "micro" else found.counts
    silent, empty = np.asarray(counts.predicted) == 0, np.asarray(counts.positives) == 0
    problems = {
        "precision": (silent, "returned"),
        "recall": (empty, "in y_true"),
        "f1-score": (silent & empty, "returned or in y_true"),
    }
    loaded = sys.modules.get("sklearn.exceptions")
    kind = getattr(loaded, "UndefinedMetricWarning", UndefinedMetricWarning)
    for metric in metrics:
        which, where = problems[metric]
        if which.any():
            of = "" if average == "micro" else " of some labels"
            warnings.warn(
                f"{metric}: undefined and set to 0, since no spans{of} are {where}; zero_division "
                f"sets another value",
                kind,
                stacklevel=4,
            )


def _limits(scores: SystemScores) -> dict[str, dict[str, float]]:
    """Return the ends of the intervals of every line of a report that has some."""
    lines: list[tuple[str, LabelScores | SystemScores, str]]
    lines = [(label.label, label, "") for label in scores.by_label]
    lines += [("micro avg", scores, ""), ("macro avg", scores, "macro_")]
    limits: dict[str, dict[str, float]] = {}
    for name, own, prefix in lines:
        limits[name] = {}
        for metric, ours in _OURS.items():
            found = own[prefix + ours]
            limits[name] |= {f"{metric}_low": float(found.low), f"{metric}_high": float(found.high)}
    return limits


def _text(rows: dict[str, Any], n_labels: int, digits: int, level: float | None) -> str:
    """Return seqeval's table, with the interval of F1 on the right."""
    width = max(digits, *(len(name) for name in rows))
    title = "" if level is None else f"f1-score {100 * level:.6g} %"
    room = max(len(title), 2 * (digits + 2) + 4)
    head = ["precision", "recall", "f1-score", "support"]
    lines = [f"{'':>{width}} " + "".join(f" {word:>9}" for word in head), ""]
    if level is not None:
        lines[0] += f"  {title:>{room}}"
    for number, (name, row) in enumerate(rows.items()):
        if number == n_labels:
            lines.append("")
        line = f"{name:>{width}} " + "".join(f" {row[word]:>9.{digits}f}" for word in head[:3])
        line += f" {row['support']:>9}"
        if "f1-score_low" in row:
            limits = f"{row['f1-score_low']:.{digits}f} to {row['f1-score_high']:.{digits}f}"
            line += f"  {limits:>{room}}"
        lines.append(line)
    return "\n".join(lines) + "\n"


def _find(
    y_true: Any, y_pred: Any, mode: str | None, scheme: Any, *, suffix: bool, detect: bool = False
) -> _Found:
    """Match the spans of both sides; with `detect`, a strict reading recognises the scheme."""
    suffix = flag("suffix", suffix)
    if mode is not None:
        one_of("mode", mode, ("strict",))
    if scheme is not None:  # a name, or one of seqeval's classes
        scheme = scheme.__name__ if isinstance(scheme, type) else scheme
        scheme = one_of("scheme", scheme.lower() if isinstance(scheme, str) else scheme, _SCHEMES)
    gold, pred = _both(y_true, y_pred)
    if mode == "strict" and (scheme or detect):
        rules = scheme or _detect(gold, suffix)
        sides = [_strict(side, rules, suffix) for side in (gold, pred)]
    else:
        if mode == "strict":
            _warn("mode='strict' without scheme= reads as the default mode does, as in seqeval")
        elif scheme:
            _warn("scheme= without mode='strict' is not used, as in seqeval")
        sides = [_lenient(side, suffix) for side in (gold, pred)]
    labels, codes = numbered_alike([(side[4], side[3]) for side in sides])
    columns = [(*side[:3], own) for side, own in zip(sides, codes, strict=True)]
    items = collect(columns, labels, gold.text.n_sentences)
    # end and length identify spans here, but are not the start and end that `Items` expects
    return _Found(replace(items, start=None, end=None), (gold, pred))


def _warn(message: str) -> None:
    warnings.warn(message, UserWarning, stacklevel=5)


def _both(y_true: Any, y_pred: Any) -> tuple[Tagged, Tagged]:
    """Read both sides; refuse different numbers of sentences or tags."""
    sides = []
    for name, tags in (("y_true", y_true), ("y_pred", y_pred)):
        if isinstance(tags, str) or any(isinstance(sentence, str) for sentence in tags):
            raise InputError(f"{name}: is one list of tags; expected a list of them per sentence")
        side = tagged_from_lists(name, tags)
        if "" in side.names:
            raise InputError(f"{name}: holds an empty tag; expected O, or a prefix and a type")
        sides.append(side)
    gold, pred = sides
    expected, found = (np.diff(side.text.first) for side in sides)
    if len(found) != len(expected):
        raise InputError(f"y_pred: {len(found)} sentences; expected {len(expected)}, as in y_true")
    for n in np.flatnonzero(expected != found).tolist():
        raise InputError(
            f"y_pred: {found[n]} tags in sentence {n + 1}; expected {expected[n]}, as in y_true"
        )
    return gold, pred


def _tokens(y_true: Any, y_pred: Any) -> tuple[Tagged, Tagged, NDArray[np.bool_]]:
    """Read both sides, by sentence or as one list of tags; find the tokens with the right tag."""
    flat = not any(isinstance(sentence, (list, tuple, np.ndarray)) for sentence in y_true)
    gold, pred = _both([y_true], [y_pred]) if flat else _both(y_true, y_pred)
    code = {name: i for i, name in enumerate(gold.names)}
    same = np.array([code.get(name, -1) for name in pred.names], dtype=np.int32)
    right = gold.tags == same[pred.tags] if len(same) else np.zeros(0, dtype=bool)
    return gold, pred, np.asarray(right)


def _detect(tagged: Tagged, suffix: bool) -> str:
    """Return the scheme that has these prefixes, by seqeval's rules."""
    prefixes = {name[-1] if suffix else name[0] for name in tagged.names}
    own = prefixes - {"I", "O"}
    for scheme, needed, allowed in (
        ("iob2", {"B"}, {"B"}),
        ("ioe2", {"E"}, {"E"}),
        ("iobes", {"B", "E"}, {"B", "E", "S"}),
        ("bilou", {"B", "L"}, {"B", "L", "U"}),
    ):
        if needed <= own <= allowed:
            return scheme
    if prefixes in ({"S"}, {"U"}):
        return "iobes" if prefixes == {"S"} else "bilou"
    raise InputError(
        f"scheme: cannot be recognised from the prefixes {', '.join(sorted(prefixes))}; expected "
        f"one of {', '.join(_SCHEMES)}"
    )


def _strict(tagged: Tagged, scheme: str, suffix: bool) -> Side:
    """Return the well-formed spans of a scheme: sentence, end, length, label, labels."""

    def canonical(name: str) -> str:
        prefix, kind = (name[-1], name[:-1]) if suffix else (name[0], name[1:])
        return "O" if prefix == "O" else f"{prefix}-{kind.strip('-') or '_'}"

    names = tuple(canonical(name) for name in tagged.names)
    spans = decode(replace(tagged, names=names), scheme=scheme, repair="strict")
    return _used(spans.sentence, spans.end, spans.end - spans.start, spans.label, spans.labels)


# The default mode uses the first letter of a tag. A letter other than these starts or ends a span
# only if the type changes.
_LETTERS = "OBIES."
_OUTSIDE = [0, _LETTERS.index(".")]


def _lenient_tables() -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return where a span starts and the last one ends, by both letters and if types differ."""
    o, b, i, e, s = range(5)
    size = len(_LETTERS) + 1
    start, end = np.zeros((2, size, size, 2), dtype=bool)
    start[:, [b, s]] = True
    start[np.ix_([o, e, s], [i, e])] = True
    start[:, :, 1] = True
    start[:, o] = False
    start[:, _OUTSIDE, 1] = False
    end[[e, s]] = True
    end[np.ix_([b, i], [b, s, o])] = True
    end[:, :, 1] = True
    end[_OUTSIDE] = False
    return start, end


_START, _END = _lenient_tables()


def _lenient(tagged: Tagged, suffix: bool) -> Side:
    """Return the spans that the default mode reads: sentence, end, length, label, labels."""
    # it reads all sentences as one sequence with an O after each; a span that ends without having
    # started (after a tag that seqeval does not know) begins where the last one did
    if suffix:
        parsed = [(name[-1], name[:-1].rsplit("-", 1)[0] or "_") for name in tagged.names]
    else:
        parsed = [(name[0], name[1:].split("-", 1)[-1] or "_") for name in tagged.names]
    known = re.compile(".*-[BIES]" if suffix else "[BIES]-.*", re.DOTALL)
    for name in tagged.names:
        if name not in "OBIES" and not known.fullmatch(name):
            _warn(
                f"{name!r} is no tag that seqeval's default mode knows, and is read by its first "
                f"letter; mode='strict' with a scheme reads by the rules"
            )
    parsed += [("O", "_"), ("O", "")]  # after a sentence, and before the first one
    types = sorted({kind for _, kind in parsed})
    letter = np.array([(_LETTERS + "?").index(x if x in _LETTERS else "?") for x, _ in parsed])
    kind = np.array([types.index(kind) for _, kind in parsed], dtype=np.int32)

    first = tagged.text.first
    n_sentences, size = tagged.text.n_sentences, len(tagged.tags)
    sentence = np.repeat(np.arange(n_sentences), np.diff(first))
    codes = np.full(size + n_sentences + 1, len(parsed) - 2, dtype=np.int32)
    codes[0] = len(parsed) - 1
    codes[1 + np.arange(size) + sentence] = tagged.tags
    before, this = codes[:-1], codes[1:]
    step = letter[before], letter[this], (kind[before] != kind[this]).astype(np.intp)
    starts, ends = np.flatnonzero(_START[step]), np.flatnonzero(_END[step])
    last = np.searchsorted(starts, ends) - 1
    begin = np.where(last >= 0, starts[last], 0) if len(starts) else np.zeros_like(ends)
    opening = first[:-1] + np.arange(n_sentences)
    unit = np.searchsorted(opening, ends - 1, side="right") - 1
    return _used(unit, ends - opening[unit], ends - begin, kind[before[ends]], tuple(types))


def _used(unit: Any, end: Any, length: Any, label: Any, labels: tuple[str, ...]) -> Side:
    """Return the columns with only the labels that some span has."""
    used, codes = np.unique(label, return_inverse=True)
    return unit, end, length, codes.reshape(-1), tuple(labels[i] for i in used.tolist())
