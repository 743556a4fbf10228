"""``probative bayes``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from probative.cli import options
from probative.cli.output import check_format, emit

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from probative.reporting.document import Drawing
    from probative.results import BayesTest, ModelComparison

__all__ = ["bayes"]


def bayes(
    files: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="FOLDS_A FOLDS_B",
            show_default=False,
            help="Counts tp,fp,fn, a row a fold (CSV, TSV, JSON; - is standard input): a file for "
            "each model, or one file with a column named model.",
        ),
    ] = None,
    folds: Annotated[
        str | None,
        typer.Option(
            "--folds", metavar="DIR", help="Folds written by 'probative split', with --preds-a, -b."
        ),
    ] = None,
    preds_a: Annotated[
        str | None,
        typer.Option(
            "--preds-a", metavar="GLOB", help="The baseline's predictions, a file a fold."
        ),
    ] = None,
    preds_b: Annotated[
        str | None,
        typer.Option("--preds-b", metavar="GLOB", help="The challenger's predictions, likewise."),
    ] = None,
    only: options.Only = None,
    ignore_type: options.IgnoreType = False,
    metric: options.Metric = None,
    rope: options.Rope = 0.0,
    prior: options.Prior = 1.0,
    weight: options.Weight = "effective",
    beta: options.Beta = 1.0,
    sampled: Annotated[
        int | None,
        typer.Option(
            "--sampled",
            metavar="N",
            parser=options.whole,
            help="Draw N times instead of computing.",
        ),
    ] = None,
    plot: Annotated[
        str, typer.Option(metavar="NAME", help="What --figure draws: densities or difference.")
    ] = "densities",
    level: options.Level = 0.95,
    figure: options.Figure = None,
    form: options.Format = "text",
    html: options.Html = None,
    quiet: options.Quiet = False,
    seed: options.Seed = None,
) -> None:
    """Is model B better than model A, given the counts of a cross-validation? The Bayes test.

    Example: probative bayes folds_a.csv folds_b.csv --rope 0.005
    """
    from probative._validation import one_of
    from probative.errors import InputError
    from probative.inference.bayes import bayes_test
    from probative.reporting.bayes_report import bayes_document
    from probative.reporting.crossval_report import (
        crossval_document,
        crossval_drawings,
        crossval_figure,
    )

    check_format(form)
    one_of("--plot", plot, ("densities", "difference"))
    chosen = {"rope": rope, "prior": prior, "beta": beta, "level": level}
    how: dict[str, Any] = chosen | {"weight": options.fold_weight(weight)}
    names = options.words(metric, ())
    if folds is not None or preds_a is not None or preds_b is not None:
        if files:
            raise InputError("--folds: cannot be combined with files of counts")
        kinds = options.words(only, ())
        found = _judged(folds, preds_a, preds_b, names, kinds, how, ignore_type=ignore_type)
        choices = [
            f"{len(found.folds) // 2}-folds",
            *(["ignore-type"] if ignore_type else []),
            *([f"only:{','.join(kinds)}"] if kinds else []),
            f"weight:{weight}",
            f"level:{level:g}",
            f"prior:{prior:g}",
            *([f"rope:{rope:g}"] if rope else []),
        ]
        drawn = (figure, crossval_figure(found, plot)) if figure else None
        drawings = crossval_drawings(found) if html else []
        document = crossval_document(found, choices=choices, command="bayes", drawings=drawings)
        emit(document, form, html=html, figure=drawn, quiet=quiet)
        return
    models, (a, b) = _two_models(files or [])
    metrics = names or ("precision", "recall", "f1")
    draws: dict[str, Any] = (
        {"method": "sampled", "n_resamples": sampled, "rng": seed} if sampled is not None else {}
    )
    tests = [bayes_test(a, b, name, **how, **draws) for name in metrics]
    choices = [
        ",".join(metrics),
        f"{len(a)}-folds" if isinstance(a, list) else "one-table",
        *([f"weight:{weight}"] if isinstance(a, list) else []),
        "independent",
        f"sampled:{sampled}:seed:{seed}" if draws else "exact",
        f"level:{level:g}",
        f"prior:{prior:g}",
        *([f"rope:{rope:g}"] if rope else []),
        *([f"beta:{beta:g}"] if "fbeta" in metrics else []),
    ]
    drawn = (figure, _draw(plot, tests, models, a, b, how)) if figure else None
    drawings = _drawings(tests, models, a, b, how) if html else []
    document = bayes_document(tests, models=models, choices=choices, drawings=drawings)
    emit(document, form, html=html, figure=drawn, quiet=quiet)


def _two_models(files: list[str]) -> tuple[tuple[str, str], tuple[Any, Any]]:
    """The names of A and B, and their folds; a single row is a single table."""
    from probative.errors import InputError
    from probative.reading.counts_files import read_folds
    from probative.reading.source import refuse_repeats

    if len(files) not in (1, 2):
        raise InputError(
            f"FOLDS_A FOLDS_B: {len(files)} files; expected two, or one with a column named model"
        )
    refuse_repeats(files)
    found = [read_folds(file) for file in files]
    if len(files) == 1:
        if len(found[0]) != 2:
            raise InputError(
                f"{len(found[0])} models ({', '.join(found[0])}); expected two in a column named "
                f"model, or two files",
                files[0],
            )
        (name_a, a), (name_b, b) = found[0].items()
    else:
        for models, file in zip(found, files, strict=True):
            if len(models) != 1:
                raise InputError(f"{len(models)} models; expected one in each of two files", file)
        (name_a, a), (name_b, b) = (next(iter(models.items())) for models in found)
        if name_a == name_b:
            name_a, name_b = files
    if len(a) != len(b):
        raise InputError(f"{name_b}: {len(b)} folds, but {name_a} has {len(a)}; expected as many")
    return (name_a, name_b), (a[0], b[0]) if len(a) == 1 else (a, b)


def _drawings(
    tests: list[BayesTest], models: tuple[str, str], a: Any, b: Any, how: dict[str, Any]
) -> list[Drawing]:
    """Both figures for the page, with words for those who cannot see them."""
    from probative.reporting.figures import to_drawing

    told = {
        "densities": "Posterior densities of the scores of both models.",
        "difference": "Posterior densities of the differences of the scores.",
    }
    return [
        to_drawing(_draw(plot, tests, models, a, b, how), words.rstrip("."), words)
        for plot, words in told.items()
    ]


def _draw(
    plot: str,
    tests: list[BayesTest],
    models: tuple[str, str],
    a: Any,
    b: Any,
    how: dict[str, Any],
) -> Figure:
    from probative.inference.effective import score_posteriors
    from probative.reporting.posterior_figures import density_figure, difference_figure

    if plot == "difference":
        return difference_figure(tests, models=models)
    folds = {
        name: tables if isinstance(tables, list) else [tables]
        for name, tables in zip(models, (a, b), strict=True)
    }
    one_table = not isinstance(a, list)
    weights = (1.0,) if one_table else tuple(dict.fromkeys((how["weight"], "averaged")))
    shared = {"prior": how["prior"], "beta": how["beta"]}
    metrics = tuple(test.metric for test in tests)
    return density_figure(score_posteriors(folds, metrics, weights=weights, **shared))


def _judged(
    folds: str | None,
    preds_a: str | None,
    preds_b: str | None,
    metrics: tuple[str, ...],
    only: tuple[str, ...],
    how: dict[str, Any],
    *,
    ignore_type: bool,
) -> ModelComparison:
    """Score predictions for folds that were written earlier."""
    from probative.crossval.predictions import judge_predictions
    from probative.errors import InputError

    given = {"--folds": folds, "--preds-a": preds_a, "--preds-b": preds_b}
    missing = [name for name, value in given.items() if value is None]
    if missing:
        raise InputError(f"{missing[0]}: missing; expected --folds, --preds-a and --preds-b")
    return judge_predictions(
        str(folds),
        _matching(str(preds_a)),
        _matching(str(preds_b)),
        metrics=metrics or None,
        only=only,
        ignore_type=ignore_type,
        **how,
    )


def _matching(pattern: str) -> list[str]:
    from glob import glob

    return sorted(glob(pattern))  # noqa: PTH207  # the pattern may begin anywhere
