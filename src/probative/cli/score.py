"""``probative score``."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Any

import click

from probative.cli.options import NAMES, RUNS, argument, judge, tell_verdicts
from probative.cli.output import ScoreOutput, reading_progress
from probative.errors import InputError
from probative.options import INPUT, CurveOptions, ScoreOptions, choice

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from probative.cli.output import Output
    from probative.options import CompareOptions


def score(
    files: list[str] = argument(
        "GOLD [PRED...]",
        "Gold and the outputs (FILE or NAME=FILE); or one file with gold and predicted columns; or "
        "logs of evaluations. - is standard input.",
        several=True,
    ),
    *,
    given: ScoreOptions,
    probabilities: bool = choice(
        "The outputs are probabilities (or any scores) of the positive class: curves, average "
        "precision, the best threshold, calibration.",
        False,
        heading=INPUT,
        rare=True,
        excludes=("form=conlleval",),
    ),
    names: tuple[str, ...] | None = NAMES(None),
    runs: tuple[str, ...] | None = RUNS(None),
    out: ScoreOutput,
) -> None:
    """What does my system score? Precision, recall, F1 with intervals, from files.

    Example: probative score gold.conll system.conll
    """
    from probative.cli.inputs import inputs_of, offered_rules
    from probative.jobs.score import score as find_scores
    from probative.reporting.score_report import conlleval_report, scores_document, scores_figure

    inputs, called, remarks = inputs_of(files, runs, names)
    if probabilities:
        print_curves(inputs, called, given, out, remarks)
        return
    with reading_progress("reading", quiet=out.quiet):
        scores = find_scores(*inputs, names=called, **vars(given))
    out.remark(*remarks, *scores.notes, *offered_rules(scores))
    if out.form == "conlleval":
        click.echo(conlleval_report(scores), nl=False)
    else:
        out.emit(scores_document(scores), lambda: scores_figure(scores))


# --- Probabilities, also for ``probative compare --probabilities``


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
