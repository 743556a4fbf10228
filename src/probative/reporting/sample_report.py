"""A sample as a document: what was drawn, from where and why."""

from __future__ import annotations

from typing import TYPE_CHECKING

from probative.reporting.document import Document, Table, payload
from probative.wording.numbers import counted
from probative.wording.sampled import WHY, sample_summary

if TYPE_CHECKING:
    from probative.results import Sampled

__all__ = ["sample_document"]

_BESIDE = "Scores, which are told beside differences, count for a twentieth where units are placed."
_SHARE = "information: how much of what is not known yet lies in the stratum."


def sample_document(sampled: Sampled, *, explain: bool = False) -> Document:
    """Show what was drawn.

    Parameters
    ----------
    sampled
        The sample.
    explain
        Whether to show its strata.
    """
    return Document(
        title=f"A sample of {counted(sampled.pool, sampled.unit)}",
        payload=payload("sample", sampled.signature, **sampled.to_dict()),
        tables=(_strata(sampled),) if explain else (),
        records=tuple(sampled.records()),
        notes=(f"{sample_summary(sampled)}.", sampled.signature),
    )


def _strata(sampled: Sampled) -> Table:
    further = sampled.new != sampled.labelled
    rows = [
        (
            stratum.name,
            f"{stratum.size:,}",
            f"{stratum.drawn:,}",
            *((f"{stratum.new:,}",) if further else ()),
            f"{stratum.spread:.3f}",
            f"{100 * stratum.share:.0f} %",
            WHY[stratum.why],
        )
        for stratum in sampled.strata
    ]
    new = (f"{sampled.new:,}",) if further else ()
    total = ("all", f"{sampled.pool:,}", f"{sampled.labelled:,}", *new)
    heads = ("stratum", f"{sampled.unit}s", "drawn", *(("new",) if further else ()))
    return Table(
        (*heads, "spread", "information", "why so many"),
        (*rows, (*total, "", "", "")),
        title="Strata",
        notes=(
            "spread: how much units of a stratum differ, in items.",
            _SHARE,
            *((_BESIDE,) if sampled.goal == "difference" else ()),
        ),
        closing_words=True,
    )
