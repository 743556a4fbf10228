"""Build the document of the agreement between annotators."""

from __future__ import annotations

from typing import TYPE_CHECKING

from probative.reporting.document import Document, Table, Tracks, payload
from probative.wording.numbers import counted, metric_words, number, task_words
from probative.wording.verdict import CAVEAT

if TYPE_CHECKING:
    from probative.results import Agreement, Ceiling, Interval

__all__ = ["agreement_document", "ceiling_table"]

_SAME = "F1 is the same whoever of two is taken for the answer."
_FIRST = "The first of two is taken for the answer: who is paired with whom can depend on it."
_IN_ORDER = ("exact", "partial", "type")  # rules that pair the spans of one side in order
_SPANS = "Kappa is not told of spans: nobody can count the places where neither annotator sees one."
_LABELS = (
    "alpha: Krippendorff's, nominal, of all annotators together; kappa: Cohen's, of items that "
    "both have labelled; agreement: the share of these with the same label, which chance alone "
    "makes high where one label is frequent."
)


def agreement_document(found: Agreement) -> Document:
    """Build the document of the agreement between annotators."""
    content = found.to_dict()
    scores = [*([] if found.alpha is None else [("all", found.alpha)])]
    scores += [(f"{p.a}, {p.b}", score) for p in found.pairs for score in p.scores]
    items = {f"{p.a}, {p.b}": f"{p.items:,}" for p in found.pairs}
    has_notes = any(score.note for _, score in scores)
    table = Table(
        (
            "annotators",
            "coefficient",
            "value",
            "low",
            "high",
            "items",
            *(("note",) if has_notes else ()),
        ),
        tuple(
            (
                who,
                metric_words(score.metric),
                *_three(score),
                items.get(who, ""),
                *((score.note or "",) if has_notes else ()),
            )
            for who, score in scores
        ),
        title=f"Agreement with {100 * found.level:g} % intervals",
        notes=(
            f"{task_words(found.task, found.match, counted(found.units, found.unit))}.",
            *((_LABELS,) if found.alpha is not None else (_symmetry(found), _SPANS)),
        ),
        text_columns=2,
        closing_words=has_notes,
        tracks=Tracks.of([(s.estimate, s.low, s.high) for _, s in scores]),
    )
    return Document(
        title=f"Agreement of {', '.join(found.annotators)}",
        payload=payload("agreement", found.signature, **content),
        tables=(table,),
        records=tuple(found.records()),
        notes=(found.signature,),
    )


def _symmetry(found: Agreement) -> str:
    return _FIRST if found.match in _IN_ORDER else _SAME


def _three(score: Interval) -> tuple[str, str, str]:
    return number(score.estimate), number(score.low), number(score.high)


def ceiling_table(ceilings: tuple[Ceiling, ...]) -> Table:
    """Build the table of systems and the second annotation, all scored against gold."""
    from probative.wording.numbers import metric_name, points, pvalue

    first = ceilings[0]
    level = f"{100 * first.level:g} %"
    return Table(
        ("system", "score", "second annotation", level, "difference", "low", "high", "p"),
        tuple(
            (
                c.system,
                points(c.score),
                points(c.second_score),
                f"{points(c.second_low, 1)} to {points(c.second_high, 1)}",
                points(c.difference),
                points(c.low),
                points(c.high),
                pvalue(c.pvalue),
            )
            for c in ceilings
        ),
        title=f"Beside the second annotation ({first.second}), "
        f"{metric_name(first.metric, first.match)} in points",
        notes=(*map(str, ceilings), CAVEAT),
    )
