"""Format numbers and names for tables, sentences and figures.

The rules, which hold everywhere but in JSON and CSV (these have all digits):

* Scores and differences are in points with one decimal; with two if the interval is narrower than
  one point, with three if it is narrower than a tenth. An interval stands behind its score, in
  brackets: ``41.9 [38.5, 45.3]``; differences and their ends have a sign: ``+1.1 [−2.0, +4.2]``.
* p-values have three significant digits (0.496, 0.0124), and more if they would be rounded to 0.05
  or 0.01; below 0.001 they are powers of ten (2.2e−16).
* Probabilities have three decimals, and are never 0 or 1.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace
from functools import wraps
from typing import TYPE_CHECKING, Any, TypeVar, cast

from probative.metrics import TABLE

if TYPE_CHECKING:
    Function = TypeVar("Function", bound=Callable[..., Any])


def number(value: float | None, digits: int = 3) -> str:
    """Format a number with fixed decimals; an undefined one as a dash."""
    if value is None or value != value:
        return "–"
    text = f"{value:.{digits}f}"
    # no minus sign before zero
    return text.lstrip("-") if float(text) == 0 else text.replace("-", "−")


def amount(value: float) -> str:
    """Format a count that may be half an item: 1,287, or 579.5."""
    return f"{value:,.0f}" if value == round(value) else f"{value:,.1f}"


# --- The scale in print: points (hundredths), or the scale of graded scores
#
# Scores from 0 to 1 are printed in points. Means of graded scores on another scale, such as ratings
# from 1 to 5, are printed on it, without the word "points".

_IN_POINTS: ContextVar[bool] = ContextVar("in_points", default=True)


def is_in_points(result: Any) -> bool:
    """Return True if the scores of a result are printed in points."""
    graded = getattr(result, "task", None) == "scores"
    return not graded or getattr(result, "range", None) == (0.0, 1.0)


@contextmanager
def scale_of(result: Any) -> Iterator[None]:
    """Print the scores of this result on its own scale within this context."""
    token = _IN_POINTS.set(is_in_points(result))
    try:
        yield
    finally:
        _IN_POINTS.reset(token)


def on_own_scale(make: Function) -> Function:
    """Let a function print on the scale of its first argument; a document keeps that scale."""

    @wraps(make)
    def scaled(result: Any, *rest: Any, **how: Any) -> Any:
        with scale_of(result):
            made = make(result, *rest, **how)
        if is_in_points(result) or not hasattr(made, "scale"):
            return made
        return replace(made, scale=result)

    return cast("Function", scaled)


def scale_word(before: str = " ", after: str = "", *, one: bool = False) -> str:
    """Return "points" between these texts; nothing where scores have another scale."""
    return f"{before}point{'' if one else 's'}{after}" if _IN_POINTS.get() else ""


def factor() -> float:
    """Return what scores are multiplied by in print: 100 for points."""
    return 100.0 if _IN_POINTS.get() else 1.0


def points(value: float | None, digits: int = 2) -> str:
    """Format a fraction of 1 in points (hundredths), or a score on its own scale."""
    more = 0 if _IN_POINTS.get() else 1
    return number(None if value is None else factor() * value, digits + more)


def signed_points(value: float, digits: int = 1) -> str:
    """Format a difference in points with its sign."""
    text = points(value, digits)
    return text if text[0] in "−–" or float(text) == 0 else f"+{text}"


def region(width: float) -> str:
    """Format a margin or region of equivalence without rounding it away: 0.5 points."""
    size = f"{factor() * width:.4g}"
    return size + scale_word(one=size == "1")


def probability(value: float) -> str:
    """Format a probability with three decimals, never as 0 or 1, which finite data cannot show."""
    if 0 <= value < 0.0005:
        return "< 0.001"
    return "> 0.999" if value >= 0.9995 else number(value)


def equals(value: float) -> str:
    """Format a probability with its relation: ``= 0.123``, or ``> 0.999``."""
    text = probability(value)
    return text if text[0] in "<>" else f"= {text}"


_THRESHOLDS = (0.05, 0.01)  # of the words of a verdict
_ROUNDING = 1e-12


def pvalue(value: float | None, *thresholds: float) -> str:
    """Format a p-value: 0.496, 0.0124, 2.2e−16; undefined as a dash, None as empty text."""
    if value is None or value != value:
        return "" if value is None else "–"
    if value < 0.001:
        return f"{value:.1e}".replace("-", "−") if value > 0 else "< 1e−300"
    cuts = (*_THRESHOLDS, *thresholds)  # more digits if it would be rounded to one of them
    texts = [f"{value:#.{digits}g}" for digits in range(3, 9)]
    told = [t for t in texts if all(abs(float(t) - cut) > _ROUNDING for cut in cuts)]
    return texts[0] if any(abs(value - cut) <= _ROUNDING for cut in cuts) else (told or texts)[0]


def p_equals(value: float, *thresholds: float) -> str:
    """Format a p-value with its relation: ``= 0.496``, or ``< 1e−300``."""
    text = pvalue(value, *thresholds)
    return text if text[0] in "<–" else f"= {text}"


def _decimals(low: float, high: float) -> int:
    """Return the decimals of points that an interval of this width deserves: 1, 2 or 3."""
    width = factor() / 100 * (high - low)
    return 1 + (width < 0.01) + (width < 0.001)


def with_interval(
    estimate: float, low: float, high: float, digits: int | None = None, *, signed: bool = False
) -> str:
    """Format a score with its interval in points: ``41.9 [38.5, 45.3]``."""
    if estimate != estimate:
        return "–"
    places = _decimals(low, high) if digits is None else digits
    form = signed_points if signed else points
    return f"{form(estimate, places)} {brackets(low, high, places, signed=signed)}"


def brackets(low: float, high: float, digits: int | None = None, *, signed: bool = False) -> str:
    """Format an interval in points: ``[38.5, 45.3]``, or signed ``[−2.0, +4.2]``."""
    places = _decimals(low, high) if digits is None else digits
    form = limit if signed else points
    return f"[{form(low, places)}, {form(high, places)}]"


def limit(value: float, digits: int = 1) -> str:
    """Format an end of an interval with its sign, and enough decimals to distinguish it from 0."""
    texts = [signed_points(value, more) for more in range(digits, digits + 4)]
    return next((text for text in texts if float(text.replace("−", "-")) != 0), texts[0])


def words_of_test(test: str) -> str:
    """Return the name of a test: ``exact two-sided randomisation test``."""
    return (
        "Student's two-sided test" if test == "student" else f"{test} two-sided randomisation test"
    )


_OTHERS = {  # scores of curves and of words, which are not in the table of metrics
    "roc_auc": "ROC AUC",
    "tnr": "TNR",
    "oov_recall": "OOV recall",
    "iv_recall": "IV recall",
}
_MATCHES = {
    "exact": "exact boundaries",
    "partial": "partial overlap",
    "type": "overlap of one type",
    "tokens": "token by token",
    "characters": "character by character",
}


def metric_name(metric: str, match: str | None = None) -> str:
    """Return the name of a score in print, ``macro_f1`` as macro F1, and the rule of matching."""
    return ", ".join([metric_words(metric), *_match_words(match)])


def score_name(result: Any) -> str:
    """Return the score of a result before its figures, with a comma after a rule of matching."""
    return metric_name(result.metric, result.match) + "," * (result.match is not None)


def metric_words(metric: str) -> str:
    """Return the name of a score in print alone, for the head of a column."""
    if metric in _OTHERS:
        return _OTHERS[metric]
    if metric in TABLE:
        return TABLE[metric].words
    return " ".join(TABLE[word].words if word in TABLE else word for word in metric.split("_"))


def is_of_ranking(metric: str) -> bool:
    """Return True if a score depends on the order of the items alone, as scores of curves do."""
    return metric in ("average_precision", "roc_auc") or metric.startswith("best_")


def _match_words(match: str | None) -> tuple[str, ...]:
    """Return the rule of matching in words, unless it is the usual one."""
    if match is None:
        return ()
    name, _, tolerance = match.partition(":")
    return (f"boundaries within {tolerance}" if tolerance else _MATCHES[name],)


def task_words(task: str, match: str | None, count: str) -> str:
    """Return what was scored: ``Entities, partial overlap, 1,287 sentences``."""
    return ", ".join([task.capitalize(), *_match_words(match), count])


def listed(names: Sequence[str]) -> str:
    """List names in a sentence: a, b and c."""
    *others, last = names
    return f"{', '.join(others)} and {last}" if others else last


def some(names: Sequence[str], most: int = 6) -> str:
    """List the first of many names, and count the others: a, b and 3 more."""
    more = f" and {len(names) - most:,} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def in_words(count: int, most: int = 12) -> str:
    """Spell out a small number."""
    return _NUMBERS[count] if count <= most else f"{count:,}"


_NUMBERS = (
    *("no", "one", "two", "three", "four", "five", "six"),
    *("seven", "eight", "nine", "ten", "eleven", "twelve"),
)


def counted(count: int, thing: str) -> str:
    """Format a number of things: 1 document, 1,287 sentences."""
    return f"{count:,} {thing}{'' if count == 1 else 's'}"
