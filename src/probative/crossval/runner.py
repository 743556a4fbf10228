"""Train and validate two models on every fold, and judge them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from probative._renamed import renamed
from probative._validation import one_of, open_probability, shown
from probative._validation import positive as positive_number
from probative.crossval.blocks import splits
from probative.crossval.fits import MODELS, Fits, check_model, outcomes
from probative.crossval.splitter import BlockRegularizedCV
from probative.crossval.tasks import LabelTask, task_for
from probative.errors import InputError
from probative.identity import code_digest, digest
from probative.metrics import METRICS
from probative.options import CrossvalOptions
from probative.results.crossval import FoldCounts, ModelComparison
from probative.resume import ResumableFolder
from probative.workers import check_jobs

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from probative._types import Instances, Labels, Model, Strata
    from probative.counts import PairedCounts
    from probative.crossval.tasks import SpanTask
    from probative.inference.effective import Weight

__all__ = ["compare_models", "judge_folds"]


@renamed(random_state="rng")
def compare_models(
    model_a: Model,
    model_b: Model,
    X: Instances,
    y: Labels,
    *,
    m: int = 3,
    metric: str | Sequence[str] | None = None,
    positive: object = None,
    groups: Labels | None = None,
    regularize: Strata | None = None,
    rng: int | np.random.Generator | None = None,
    names: tuple[str, str] = ("A", "B"),
    n_jobs: int | None = None,
    folder: Path | str | None = None,
    rope: float = 0.0,
    prior: float = 1.0,
    level: float = 0.95,
    beta: float = 1.0,
    weight: Weight = "effective",
    report: Callable[[int, int], None] = lambda done, total: None,
) -> ModelComparison:
    """Train two models on the folds of m×2 block-regularised cross-validation and compare them.

    Parameters
    ----------
    model_a, model_b
        The baseline and the challenger: objects with ``fit(X, y)`` and ``predict(X)``. They are
        copied for every fold and stay as they are.
    X, y
        Instances and a label each; or sentences and the spans of each, (start, end, label).
    m
        Repetitions, each of two folds: 4m fits.
    metric
        One metric or several. By default precision, recall and f1; accuracy where all classes of
        a single-label problem count, since micro-averaged F1 is the accuracy there.
    positive
        The class that counts as "yes". By default the 1, True or "yes" of two classes; else all
        classes count.
    groups
        The group (document) of every instance; none is cut.
    regularize
        What the blocks shall have equal shares of, as for `BlockRegularizedCV`; by default the
        classes, or the spans of each label and the tokens.
    rng
        The seed of the split, and of scikit-learn models whose own is left open; or a generator
        that it is drawn from.
    names
        What the models are called.
    n_jobs
        How many fits run at once, as in joblib; ``joblib.parallel_config`` chooses where. The
        result depends on neither.
    folder
        A folder for what is done. A run that was stopped continues there, with the same data,
        options, models and code of models; anything else is refused.
    rope, prior, level, beta, weight
        As for `bayes_test`.
    report
        Called with the number of fits done and of all.

    Returns
    -------
    ModelComparison
        Counts of every fold, and for every metric a Bayes test with the paired posterior, one
        with independent posteriors, and one that allows for the training variance.

    Examples
    --------
    >>> import probative as pv
    >>> class Threshold:
    ...     def __init__(self, least):
    ...         self.least = least
    ...     def fit(self, X, y):
    ...         return self
    ...     def predict(self, X):
    ...         return [int(x > self.least) for x in X]
    >>> X = list(range(40))
    >>> y = [int(x > 20) for x in X]
    >>> result = pv.compare_models(Threshold(10), Threshold(22), X, y, rng=0)
    >>> result.folds[0].counts
    Counts(tp=9, fp=4, fn=0, tn=7)
    """
    check_model("model_a", model_a)
    check_model("model_b", model_b)
    check_jobs(n_jobs)
    how: dict[str, Any] = {
        "rope": rope,
        "prior": prior,
        "level": level,
        "beta": beta,
        "weight": weight,
    }
    _check_options(**how)
    task = task_for(X, y, positive)
    metrics = _metrics(metric, task)
    names = distinct_names(names)

    options = CrossvalOptions(
        a=names[0], b=names[1], positive=positive, groups=groups, regularize=regularize, **how
    )
    strata = task.strata(X, y) if regularize is None else regularize
    seed = _seed(rng)
    kept = None
    if folder is not None:
        run = {"task": task.name, "m": m, "seed": seed, "data": digest("X, y", (X, y))}
        run |= {"regularize": digest("regularize", strata), "groups": digest("groups", groups)}
        for parameter, model in (("model_a", model_a), ("model_b", model_b)):
            run[parameter] = digest(parameter, model)
            run[f"the code of {parameter}"] = code_digest(parameter, model)
        kept = ResumableFolder(folder, run, adopt=("seed",) if rng is None else ())
        seed = _seed(kept.run["seed"])
    cv = BlockRegularizedCV(m, random_state=seed, regularize=strata)
    block = cv.blocks(X, y, groups)
    folds = list(splits(block, m))
    results = outcomes(
        Fits((model_a, model_b), X, y, folds, task, seed),
        n_jobs=n_jobs,
        folder=kept,
        split=digest("split", block),
        report=report,
    )
    cases, records = [], []
    for number, (train, validation) in enumerate(folds, 1):
        gold = (
            [y[i] for i in validation.tolist()]
            if isinstance(y, (list, tuple))
            else np.asarray(y)[validation]
        )
        paired = task.cases(gold, *(results[number, which]["predictions"] for which in MODELS))
        cases.append(paired)
        records += [
            FoldCounts(
                number, name, len(train), len(validation), counts, results[number, which]["seconds"]
            )
            for which, name, counts in zip(MODELS, names, (paired.a, paired.b), strict=True)
        ]
    return judge_folds(
        cases,
        metrics,
        names=names,
        task=task.name,
        folds=tuple(records),
        seed=seed,
        signature=options.signature(
            task.name, ",".join(metrics), f"{m}x2-block-regularised", f"seed:{seed}"
        ),
        balance=cv.balance(X, y, groups, blocks=block),
        **how,
    )


def distinct_names(names: tuple[str, str]) -> tuple[str, str]:
    """Names that tell two models apart: equal ones with the letters of their roles."""
    a, b = names
    return (f"{a} (A)", f"{b} (B)") if a == b else (a, b)


def judge_folds(
    paired: Sequence[PairedCounts],
    metrics: Sequence[str],
    *,
    names: tuple[str, str],
    task: str,
    folds: tuple[FoldCounts, ...],
    weight: Any = "effective",
    **known: Any,
) -> ModelComparison:
    """Judge two models by the cases of their folds."""
    from probative.inference.bayes import bayes_test
    from probative.inference.effective import effective_counts, score_posteriors
    from probative.inference.training_variance import with_training_variance

    how = {key: known.pop(key) for key in ("rope", "prior", "level", "beta") if key in known}
    a, b = [table.a for table in paired], [table.b for table in paired]
    tests, adjusted = [], []
    for metric in metrics:
        test = bayes_test(list(paired), metric=metric, weight=weight, **how)
        adjusted.append(with_training_variance(test, paired, weight, how.get("beta", 1.0)))
        tests += [test, bayes_test(a, b, metric, weight=weight, **how)]
    shape = {key: how[key] for key in ("prior", "beta") if key in how}
    weights = tuple(dict.fromkeys((weight, "averaged")))
    return ModelComparison(
        a=names[0],
        b=names[1],
        task=task,
        m=len(paired) // 2,
        folds=folds,
        paired=tuple(paired),
        effective_a=effective_counts(a, weight=weight),
        effective_b=effective_counts(b, weight=weight),
        tests=tuple(tests),
        adjusted_tests=tuple(adjusted),
        scores=score_posteriors({names[0]: a, names[1]: b}, metrics, weights=weights, **shape),
        **known,
    )


def _check_options(rope: float, prior: float, level: float, beta: float, weight: Any) -> None:
    """Refuse what the test would refuse, before hours of training."""
    from probative.inference.effective import fold_weight

    positive_number("rope", rope, zero=True)
    positive_number("prior", prior)
    positive_number("beta", beta)
    open_probability("level", level)
    fold_weight(1, weight)


def _metrics(metric: str | Sequence[str] | None, task: LabelTask | SpanTask) -> tuple[str, ...]:
    if metric is None:
        return task.metrics
    names = (metric,) if isinstance(metric, str) else tuple(metric)
    for name in names:
        one_of("metric", name, METRICS)
        one_of("metric", name, task.possible)
    if isinstance(task, LabelTask) and task.positive is None:
        return ("accuracy",)  # micro-averaged over all classes, the four are one
    return names


def _seed(rng: Any) -> int:
    """The seed that was given, or a new one."""
    if rng is None or isinstance(rng, np.random.Generator):
        return int(np.random.default_rng(rng).integers(2**31))
    if isinstance(rng, bool) or not isinstance(rng, (int, np.integer)) or rng < 0:
        raise InputError(
            f"rng: {shown(rng)} is not a whole number >= 0, nor a numpy.random.Generator"
        )
    return int(rng)
