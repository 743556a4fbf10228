"""What a job scores, and what it takes to be independent."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from probative._confusion import OF_TABLES
from probative._validation import names_of, one_of
from probative.errors import InputError
from probative.matching.match_rules import STRICT
from probative.metrics import COMPOSITES, METRICS, TABLE
from probative.reading.annotations import LabelSets

if TYPE_CHECKING:
    from collections.abc import Sequence

    from probative.matching.matched import Matched
    from probative.options import ReadingOptions

__all__ = [
    "ALL_CLASSES",
    "AVERAGES",
    "MACRO",
    "OF_ALL_CLASSES",
    "OF_WORDS",
    "UNITS",
    "by_name",
    "compared_metrics",
    "facts_of_reading",
    "is_of_classes",
    "is_right_or_wrong",
    "match_of",
    "metrics_of",
    "scored_as",
    "signed_runs",
    "unit_of",
    "unit_of_runs",
]

UNITS = ("sentence", "document", "unit", "item")
AVERAGES = ("micro", "macro")
# what accuracy is also called where every class of single-label data counts
ALL_CLASSES = (
    "accuracy",
    *(name for name, m in TABLE.items() if m.is_share_of_right and not m.depends_on_beta),
)
# what the whole table of all classes tells besides
OF_ALL_CLASSES = (*OF_TABLES, "balanced_accuracy")
MACRO = "macro_"
OF_WORDS = ("recall", "precision", "f1")  # recall first: the others reward splitting too little


def by_name(
    systems: list[Any], names: Sequence[str] | None
) -> tuple[list[Any], Sequence[str] | None]:
    """The systems and their names, which a dictionary holds together."""
    if len(systems) != 1 or not isinstance(systems[0], Mapping):
        return systems, names
    if names is not None:
        raise InputError("names: the systems have names already; expected none")
    return list(systems[0].values()), [str(name) for name in systems[0]]


def facts_of_reading(matched: Matched, options: ReadingOptions) -> tuple[str, ...]:
    """What a signature says first: the task, and how tags were read."""
    if isinstance(matched.gold, LabelSets):
        return matched.task, "sets"
    if matched.scheme is None:
        return (matched.task,)
    return matched.task, matched.scheme, options.repair


def signed_runs(matched: Matched) -> str:
    """How many runs there are, as a signature tells it."""
    return f"runs:{','.join(str(len(group.places)) for group in matched.runs)}"


def match_of(matched: Matched) -> str | None:
    """When a span counts as right, where it need not be equal."""
    return None if matched.match == STRICT else matched.match


def unit_of(matched: Matched, by: str | None) -> str:
    """What is taken to be independent, by the name that its users give it."""
    if by is None:
        return matched.unit
    one_of("by", by, UNITS)
    if by == "item" and matched.match != STRICT:
        raise InputError(
            f"by: under match={matched.match!r} items of one {matched.unit} are not independent; "
            f"expected {matched.unit!r}"
        )
    known = " or ".join(repr(name) for name in dict.fromkeys((matched.unit, "item")))
    if by == "document" and matched.items.document is None:
        raise InputError(f"by: no documents are marked in the answer; expected {known}")
    if by not in ("item", "document", matched.unit):
        raise InputError(f"by: there are no {by}s here; expected {known}")
    return by


def unit_of_runs(matched: Matched, by: str | None) -> str:
    """What is taken to be independent, where what runs say of one item is not."""
    unit = unit_of(matched, by)
    if unit == "item" and matched.unit != "item":
        raise InputError(
            f"by: what several runs say of an item is not independent; expected {matched.unit!r}"
        )
    return unit


def metrics_of(
    matched: Matched,
    metric: str | Sequence[str],
    *,
    average: str = "micro",
    tables: bool = False,
) -> tuple[str, ...]:
    """The metrics that were asked for, each once, if they are defined for this task.

    With `tables`, those of the whole table of all classes are among them.
    """
    names = (metric,) if isinstance(metric, str) else names_of("metric", metric)
    for name in names:
        one_of("metric", name, METRICS)
        if is_right_or_wrong(matched) and name != "accuracy":
            raise InputError(
                f"metric: {name!r} is not defined for answers that are right or wrong; expected "
                f"'accuracy'"
            )
        if average == "macro" and name in COMPOSITES:
            raise InputError(
                f"metric: {name!r} has no mean over labels; expected average='micro', or one of "
                f"{', '.join(m for m in METRICS if m not in COMPOSITES)}"
            )
        if tables and is_of_classes(matched, name):
            continue
        if matched.all_classes and average == "micro" and name not in ALL_CLASSES:
            other = "a positive class" if name in COMPOSITES else "average='macro'"
            known = (*ALL_CLASSES, *(OF_ALL_CLASSES if tables else ()))
            raise InputError(
                f"metric: {name!r} is not defined over all classes at once; expected {other}, or "
                f"one of {', '.join(known)}"
            )
    return tuple(dict.fromkeys(names))


def is_of_classes(matched: Matched, metric: str) -> bool:
    """Whether a metric is that of the whole table of all classes here."""
    return matched.all_classes and metric in OF_ALL_CLASSES and not is_right_or_wrong(matched)


def is_right_or_wrong(matched: Matched) -> bool:
    """Whether there is nothing to be found, only answers that are right or wrong."""
    return matched.task == "samples" and matched.all_classes


def compared_metrics(
    matched: Matched,
    metric: str | Sequence[str] | None,
    average: str,
    *,
    tables: bool = False,
) -> tuple[str, ...]:
    """The metrics that systems are compared by: those asked for, or the usual one of the task."""
    if matched.task == "samples" and average != "micro":
        raise InputError(f"average: {average!r} means nothing for logs; expected 'micro'")
    asked = () if metric is None else metrics_of(matched, metric, average=average, tables=tables)
    if asked:
        return asked
    if matched.task == "segmentation":
        return ("recall",)
    return ("accuracy",) if matched.all_classes and average == "micro" else ("f1",)


def scored_as(matched: Matched, metric: str) -> str:
    """Over all classes of single-label data a score is the share of the answers found."""
    return "recall" if matched.all_classes else metric
