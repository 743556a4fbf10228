"""``probative score``."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import click

from probative.cli.options import NAMES, RUNS, argument
from probative.cli.output import ScoreOutput, reading_progress
from probative.errors import InputError
from probative.options import INPUT, CompareOptions, CurveOptions, ScoreOptions, choice


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
    """Example: probative score gold.conll system.conll"""
    from probative.cli.inputs import inputs_of, offered_rules
    from probative.jobs.score import score as find_scores
    from probative.reporting.score_report import conlleval_report, scores_document, scores_figure

    inputs, called, remarks = inputs_of(files, runs, names)
    if probabilities:
        from probative.jobs.curve import find_curves
        from probative.reporting.curve_report import curves_document, curves_figure

        gold, *systems = inputs
        seed = 0 if out.seed is None else out.seed
        options = CurveOptions(**choices_of_curves(given), rng=seed)
        curves = tuple(find_curves(gold, systems, options, names=called))
        out.remark(*remarks, *dict.fromkeys(note for curve in curves for note in curve.notes))
        out.emit(curves_document(curves), lambda: curves_figure(curves))
        return
    with reading_progress("reading", quiet=out.quiet):
        scores = find_scores(*inputs, names=called, **vars(given))
    out.remark(*remarks, *scores.notes, *offered_rules(scores))
    if out.form == "conlleval":
        click.echo(conlleval_report(scores), nl=False)
    else:
        out.emit(scores_document(scores), lambda: scores_figure(scores))


def choices_of_curves(given: ScoreOptions | CompareOptions) -> dict[str, Any]:
    """Return the choices that curves have, too; refuse others instead of ignoring them."""
    known = {entry.name for entry in fields(CurveOptions)}
    for name in sorted(given.changed() - known):
        raise InputError(f"{name}: cannot be combined with probabilities=True")
    return given.chosen(*(name for name in known if hasattr(given, name)))
