"""``probative bayes`` and ``crossval``: compare two models by the folds of a cross-validation."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from probative.cli.options import JOBS, RESUME, argument
from probative.cli.output import Drawn, Output, output_aside, progress
from probative.errors import InputError
from probative.options import INPUT, OUTPUT, BayesOptions, CrossvalOptions, choice

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from probative.results import ModelComparison, ScorePosteriors

_JUDGING = ("rope", "prior", "beta", "level", "weight")


def bayes(
    files: list[str] = argument(
        "FOLDS_A FOLDS_B",
        "Counts tp,fp,fn, one row per fold (CSV, TSV, JSON; - is standard input): a file for each "
        "model, or one file with a column named model.",
        several=True,
        required=False,
    ),
    *,
    folds: str | None = choice(
        "DIR: Folds that 'probative split' wrote; needs --preds-a, --preds-b.",
        heading=INPUT,
        parser=None,
        excludes=("files",),
    ),
    preds_a: str | None = choice(
        "GLOB: The predictions of the baseline, one file per fold.", heading=INPUT
    ),
    preds_b: str | None = choice(
        "GLOB: The predictions of the challenger, likewise.", heading=INPUT
    ),
    given: BayesOptions,
    plot: str = choice(
        "NAME: What --figure draws: densities or difference.",
        "densities",
        heading=OUTPUT,
        among=("densities", "difference"),
        needs=("figure",),
    ),
    out: Drawn,
) -> None:
    """Example: probative bayes folds_a.csv folds_b.csv --rope 0.005"""
    from probative._validation import one_of

    one_of("--plot", plot, ("densities", "difference"))
    predictions = {"--folds": folds, "--preds-a": preds_a, "--preds-b": preds_b}
    missing = [name for name, value in predictions.items() if value is None]
    if len(missing) == len(predictions):
        _from_counts(files, given, plot, out)
        return
    if files:
        raise InputError("--folds: cannot be combined with files of counts")
    if missing:
        raise InputError(f"{missing[0]}: missing; expected --folds, --preds-a and --preds-b")
    from probative.crossval.corpus import judge_predictions
    from probative.files import find_paths

    choices = given.chosen("only", "ignore_type", *_JUDGING)
    found = [find_paths(str(pattern)) for pattern in (preds_a, preds_b)]
    comparison = judge_predictions(str(folds), *found, metrics=given.metric, **choices)
    signature = replace(given, rng=None).signature(
        ",".join(comparison.metrics), f"{len(comparison.folds) // 2}-folds"
    )
    _print_models(replace(comparison, signature=signature), out, plot, command="bayes")


def _print_models(
    comparison: ModelComparison, out: Output, plot: str = "densities", *, command: str = "crossval"
) -> None:
    """Print the comparison of two models by their folds."""
    from probative.reporting import bayes_report

    pictures = bayes_report.crossval_pictures(comparison) if out.html else ()
    document = bayes_report.crossval_document(comparison, command=command, pictures=pictures)
    out.emit(document, lambda: bayes_report.crossval_figure(comparison, plot))


def _from_counts(files: list[str], given: BayesOptions, plot: str, out: Output) -> None:
    """Test from the counts of folds, or from one table for each model."""
    from probative.inference.bayes import bayes_test
    from probative.inference.crossval import score_posteriors
    from probative.reporting import bayes_report

    models, (a, b) = _two_models(files)
    folded = isinstance(a, list)
    if given.weight != "effective" and not folded:
        raise InputError("--weight: applies to folds, and there is one row per model")
    draws: dict[str, Any] = {}
    if given.n_resamples is not None:
        draws = {"method": "sampled", "n_resamples": given.n_resamples, "rng": given.rng}
    metrics = given.metric or ("precision", "recall", "f1")
    tests = [bayes_test(a, b, name, **given.chosen(*_JUDGING), **draws) for name in metrics]
    signature = replace(
        given, weight=given.weight if folded else None, rng=given.rng if draws else None
    ).signature(
        ",".join(metrics),
        f"{len(a)}-folds" if folded else "one-table",
        tests[0].posterior.kind,
        tests[0].method,
    )

    def panels() -> tuple[ScorePosteriors, ...]:
        folds = dict(zip(models, (a, b) if folded else ([a], [b]), strict=True))
        weights = tuple(dict.fromkeys((given.weight, "averaged"))) if folded else (1.0,)
        shape = given.chosen("prior", "beta")
        return score_posteriors(folds, tuple(metrics), weights=weights, **shape)

    def draw() -> Figure:
        if plot == "difference":
            return bayes_report.difference_figure(tests, models=models)
        return bayes_report.density_figure(panels())

    pictures = bayes_report.model_pictures(panels(), tests, models) if out.html else ()
    how: dict[str, Any] = {"models": models, "signature": signature, "pictures": pictures}
    out.emit(bayes_report.bayes_document(tests, **how), draw)


def _two_models(files: list[str]) -> tuple[tuple[str, str], tuple[Any, Any]]:
    """Return the names of A and B, and their folds; a single row is a single table."""
    from probative.reading.counts_files import read_folds
    from probative.reading.source import refuse_repeats

    wanted = {1: "two in a column named model, or two files", 2: "one in each of two files"}
    if len(files) not in wanted:
        expected = "two, or one with a column named model"
        raise InputError(f"FOLDS_A FOLDS_B: {len(files)} files; expected {expected}")
    refuse_repeats(files)
    found: list[tuple[str, Any]] = []
    for file in files:
        models = read_folds(file)
        if len(models) != 3 - len(files):
            given = f"{len(models)} models ({', '.join(models)})"
            raise InputError(f"{given}; expected {wanted[len(files)]}", file)
        found += models.items()
    (name_a, a), (name_b, b) = found
    if name_a == name_b:
        name_a, name_b = files
    if len(a) != len(b):
        raise InputError(f"{name_b}: {len(b)} folds; expected {len(a)}, as {name_a} has")
    return (name_a, name_b), (a[0], b[0]) if len(a) == 1 else (a, b)


# --- ``probative crossval``

_CORPUS = ("task", "input_format", "encoding", "tag_column", "comments", "scheme")
_TRAINING = ("m", "metric", "rng", "rope", "prior", "level", "beta", "weight")


def crossval(
    corpus: list[str] = argument(
        "CORPUS...",
        "The corpus to train and validate on; several files make one corpus.",
        several=True,
    ),
    *,
    given: CrossvalOptions,
    jobs: int | None = JOBS(None),
    resume: Path | None = RESUME(None),
    out: Drawn,
) -> None:
    """Example: probative crossval train.conll --a crf:iob2 --b crf:iobes --jobs 2"""
    from probative.cli.inputs import protect_code
    from probative.crossval.corpus import read_corpora
    from probative.crossval.runner import compare_models
    from probative.learners import model_of

    corpora = read_corpora(corpus, features=given.features, **given.chosen(*_CORPUS))
    data = corpora.select(only=given.only, ignore_type=given.ignore_type)
    data.check_size(given.m)
    groups = data.groups(keep_documents=given.keep_documents)
    out.remark(*data.notes)
    names = (str(given.a), str(given.b))
    with progress("fits", quiet=out.quiet) as report, output_aside():
        models = (model_of(names[0], "--a"), model_of(names[1], "--b"))
        protect_code(html=out.html, figure=out.figure)
        result = compare_models(
            *models,
            data.sentences,
            data.spans,
            groups=groups,
            names=names,
            n_jobs=jobs,
            folder=resume,
            report=report,
            **given.chosen(*_TRAINING),
        )
    signature = given.signature(
        data.task, ",".join(result.metrics), f"{given.m}x2-block-regularised", f"seed:{result.seed}"
    )
    _print_models(replace(result, task=data.task, signature=signature), out)
