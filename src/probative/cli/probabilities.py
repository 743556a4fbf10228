"""Score and compare probabilities, for ``--probabilities`` of ``score`` and ``compare``."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Any

from probative.cli.options import judge, tell_verdicts
from probative.errors import InputError
from probative.options import CurveOptions

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from probative.cli.output import Output
    from probative.options import CompareOptions, ScoreOptions


def print_curves(
    inputs: Sequence[Any],
    names: Sequence[str] | None,
    given: ScoreOptions,
    out: Output,
    remarks: Sequence[str],
) -> None:
    """Print the curve of every system."""
    from probative.jobs.curve import find_curves
    from probative.reporting.curve_report import curves_document, curves_figure

    gold, *systems = inputs
    options = CurveOptions(**_shared(given), rng=0 if out.seed is None else out.seed)
    curves = find_curves(gold, systems, options, names=names)
    notes = dict.fromkeys(note for curve in curves for note in curve.notes)
    out.remark(*remarks, *notes)
    out.emit(curves_document(tuple(curves)), lambda: curves_figure(tuple(curves)))


def print_curve_comparison(
    inputs: Sequence[Any],
    names: Sequence[str] | None,
    given: CompareOptions,
    out: Output,
    remarks: Sequence[str],
    gate: Mapping[str, Any] | None,
) -> int:
    """Print the curves of two systems and their differences; return the exit status."""
    from probative.jobs.curve import compare_curves
    from probative.reporting.curve_report import comparison_document, curves_figure

    gold, *systems = inputs
    if len(systems) not in (0, 2):
        raise InputError(f"--probabilities: compares two systems, not {len(systems)}")
    found = compare_curves(gold, *systems, names=names, **_shared(given))
    out.remark(*remarks, *found.notes)
    verdicts = judge(found, gate)
    out.emit(comparison_document(found, verdicts), lambda: curves_figure(found.curves))
    return tell_verdicts(verdicts)


def _shared(given: ScoreOptions | CompareOptions) -> dict[str, Any]:
    """Return the choices that curves have, too; refuse others instead of ignoring them."""
    known = {entry.name for entry in fields(CurveOptions)}
    for name in sorted(given.changed() - known):
        raise InputError(f"{name}: cannot be combined with probabilities=True")
    return given.chosen(*(name for name in known if hasattr(given, name)))
