"""Numbers and names as people read them: in tables, sentences and figures alike."""

from __future__ import annotations

from probative.metrics import TABLE

__all__ = [
    "amount",
    "counted",
    "equals",
    "is_of_ranking",
    "match_words",
    "metric_name",
    "metric_words",
    "number",
    "points",
    "probability",
    "pvalue",
    "region",
    "signed_points",
    "task_words",
]


def number(value: float | None, digits: int = 3) -> str:
    """A number with a fixed count of decimals; an undefined one as a dash."""
    if value is None or value != value:
        return "–"
    text = f"{value:.{digits}f}"
    # what rounds to zero is shown as zero, not as minus zero
    return text.lstrip("-") if float(text) == 0 else text.replace("-", "−")


def amount(value: float) -> str:
    """How many there are, where half of one can be counted: 1,287, or 579.5."""
    return f"{value:,.0f}" if value == round(value) else f"{value:,.1f}"


def points(value: float | None, digits: int = 2) -> str:
    """A fraction of 1 in points (hundredths), as printed tables show it."""
    return number(None if value is None else 100 * value, digits)


def signed_points(value: float, digits: int = 1) -> str:
    """The same with a sign, for differences."""
    text = points(value, digits)
    return text if text[0] in "−–" or float(text) == 0 else f"+{text}"


def region(width: float) -> str:
    """A margin or region of equivalence as it was asked for, not rounded away: 0.5 points."""
    size = f"{100 * width:.4g}"
    return f"{size} point{'' if size == '1' else 's'}"


def probability(value: float) -> str:
    """Three decimals, but never a certainty: no finite test set gives one."""
    if 0 <= value < 0.0005:
        return "< 0.001"
    return "> 0.999" if value >= 0.9995 else number(value)


def equals(value: float) -> str:
    """The same behind its sign: ``= 0.123``, or ``> 0.999`` without a second one."""
    text = probability(value)
    return text if text[0] in "<>" else f"= {text}"


def pvalue(value: float | None) -> str:
    """Four decimals, or a power of ten; nothing where there is none."""
    if value is None:
        return ""
    if value < 0.0001:
        return f"{value:.1e}".replace("-", "−") if value > 0 else "< 1e−300"
    return number(value, 4)


_OTHERS = {"roc_auc": "ROC AUC"}  # scores of curves, which no counts have
_MATCHES = {
    "exact": "exact boundaries",
    "partial": "partial overlap",
    "type": "overlap of one type",
    "tokens": "token by token",
    "characters": "character by character",
}


def metric_name(metric: str, match: str | None = None) -> str:
    """What a score is called in print: ``macro_f1`` is macro F1; and when a span is right."""
    return ", ".join([_words_of(metric), *match_words(match)])


def _words_of(metric: str) -> str:
    if metric in _OTHERS:
        return _OTHERS[metric]
    if metric in TABLE:
        return TABLE[metric].words
    return " ".join(TABLE[word].words if word in TABLE else word for word in metric.split("_"))


def is_of_ranking(metric: str) -> bool:
    """Say whether a score depends on the order of the items alone: the scores of curves do."""
    return metric in ("average_precision", "roc_auc") or metric.startswith("best_")


def match_words(match: str | None) -> tuple[str, ...]:
    """When a span counts as right, if not as usual: ``partial`` is partial overlap."""
    if match is None:
        return ()
    name, _, tolerance = match.partition(":")
    return (f"boundaries within {tolerance}" if tolerance else _MATCHES[name],)


def task_words(task: str, match: str | None, count: str) -> str:
    """What was scored: ``Entities, partial overlap, 1,287 sentences``."""
    return ", ".join([task.capitalize(), *match_words(match), count])


def metric_words(metric: str) -> str:
    """The name that commands and JSON use, as words: the head of a column."""
    return metric.replace("_", " ")


def counted(count: int, thing: str) -> str:
    """How many there are of something: 1 document, 1,287 sentences."""
    return f"{count:,} {thing}{'' if count == 1 else 's'}"
