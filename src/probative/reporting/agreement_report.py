"""Build the document of the agreement between annotators."""

from __future__ import annotations

from typing import TYPE_CHECKING

from probative.reporting.document import Column, Document, Named, Table, Words, payload
from probative.reporting.headlines import agreement_answers
from probative.wording.numbers import (
    counted,
    metric_name,
    number,
    points,
    pvalue,
    task_words,
)
from probative.wording.verdict import CAVEAT

if TYPE_CHECKING:
    from probative.results import Agreement, Ceiling

_SAME = "F1 is the same whichever annotator counts as gold."
_FIRST = "The first annotator of a pair counts as gold; the matching of spans can depend on this."
_IN_ORDER = ("exact", "partial", "type")  # rules that pair the spans of one side in order
_SPANS = (
    "There is no kappa for spans: the places where neither annotator marks one cannot be counted."
)
_LABELS = (
    "alpha: Krippendorff's alpha (nominal) of all annotators; kappa: Cohen's kappa of the items "
    "that both labelled; agreement: share with the same label; high by chance when one label "
    "dominates."
)


def agreement_document(found: Agreement) -> Document:
    """Build the document of the agreement between annotators."""
    content = found.to_dict()
    found_scores = [Named(f"{p.a}, {p.b}", score) for p in found.pairs for score in p.scores]
    if found.alpha is not None:
        found_scores.insert(0, Named("all", found.alpha))
    items = {f"{p.a}, {p.b}": p.items for p in found.pairs}
    table = Table.of(
        found_scores,
        [
            Words("annotators", "name"),
            Words("coefficient", "score.metric", metric_name),
            Column("value", "score.estimate", number),
            Column("low", "score.low", number),
            Column("high", "score.high", number),
            Column("items", lambda one: items.get(one.name)),
            Words("note", "score.note", when=any(one.score.note for one in found_scores)),
        ],
        title=f"Agreement with {100 * found.level:g} % intervals",
        notes=(
            f"{task_words(found.task, found.match, counted(found.units, found.unit))}.",
            *((_LABELS,) if found.alpha is not None else (_symmetry(found), _SPANS)),
        ),
        track="score.estimate",
    )
    return Document(
        title=f"Agreement of {', '.join(found.annotators)}",
        payload=payload("agreement", found.signature, **content),
        tables=(table,),
        records=tuple(found.records()),
        notes=(found.signature,),
        headline=agreement_answers(found),
    )


def _symmetry(found: Agreement) -> str:
    return _FIRST if found.match in _IN_ORDER else _SAME


def ceiling_table(ceilings: tuple[Ceiling, ...]) -> Table:
    """Build the table of systems and the second annotation, all scored against gold."""
    first = ceilings[0]
    return Table.of(
        ceilings,
        [
            Words("system"),
            Column("score", form=points),
            Column("second annotation", "second_score", points),
            Column(
                f"{100 * first.level:g} %",
                lambda c: f"[{points(c.second_low, 1)}, {points(c.second_high, 1)}]",
            ),
            Column("difference", form=points),
            Column("low", form=points),
            Column("high", form=points),
            Column("p", "pvalue", pvalue),
        ],
        title=(
            f"Score of each annotation against the second one ({first.second}), "
            f"{metric_name(first.metric, first.match)} in points"
        ),
        notes=(*map(str, ceilings), CAVEAT),
    )
