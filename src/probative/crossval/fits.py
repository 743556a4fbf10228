"""Training and validating copies of two models, each fold wherever joblib runs it."""

from __future__ import annotations

import copy
import time
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from probative.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from probative.crossval.folder import ResultsFolder
    from probative.crossval.tasks import LabelTask, SpanTask

    Fold = tuple[NDArray[np.intp], NDArray[np.intp]]

__all__ = ["MODELS", "check_model", "outcomes"]

MODELS = ("a", "b")


def check_model(parameter: str, model: Any) -> None:
    """Refuse what cannot be trained and asked."""
    if isinstance(model, type):
        raise InputError(f"{parameter}: {model.__name__} is a class; expected an object of it")
    for method in ("fit", "predict"):
        if not callable(getattr(model, method, None)):
            raise InputError(
                f"{parameter}: {type(model).__name__} has no {method}; expected an object with "
                f"fit and predict"
            )


def outcomes(
    models: tuple[Any, Any],
    X: Any,
    y: Any,
    folds: Sequence[Fold],
    task: LabelTask | SpanTask,
    *,
    seed: int,
    n_jobs: int | None,
    folder: ResultsFolder | None,
    report: Callable[[int, int], None],
) -> dict[tuple[int, str], dict[str, Any]]:
    """Predictions and seconds by fold (from 1) and model; what a folder has is not done again."""
    from joblib import Parallel, delayed

    found: dict[tuple[int, str], dict[str, Any]] = {}
    todo = []
    for fold in range(1, len(folds) + 1):
        for which in MODELS:
            kept = folder.kept(fold, which) if folder else None
            if kept is None:
                todo.append((fold, which))
            else:
                found[fold, which] = kept
    report(len(found), 2 * len(folds))
    jobs = (
        delayed(_fit_and_predict)(
            models[MODELS.index(which)], X, y, folds[fold - 1], task, seed, fold, which
        )
        for fold, which in todo
    )
    for fold, which, outcome in _run(Parallel, jobs, n_jobs):
        if folder:
            folder.keep(fold, which, outcome)
        found[fold, which] = outcome
        report(len(found), 2 * len(folds))
    return found


def _run(parallel: Any, jobs: Iterator[Any], n_jobs: int | None) -> Iterator[Any]:
    """What comes of the jobs, each as soon as it is done."""
    running = parallel(n_jobs=n_jobs, return_as="generator_unordered")(jobs)
    try:
        yield from running
    finally:
        running.close()  # after a failure the others need not go on


def _fit_and_predict(
    model: Any,
    X: Any,
    y: Any,
    fold: Fold,
    task: LabelTask | SpanTask,
    seed: int,
    number: int,
    which: str,
) -> tuple[int, str, dict[str, Any]]:
    train, validation = fold
    start = time.perf_counter()
    doing = "fit"
    try:
        fresh = _fresh(model, seed)
        fresh.fit(_rows(X, train), _rows(y, train))
        doing = "predict"
        asked = _rows(X, validation)
        predictions = task.checked(fresh.predict(asked), asked)
    except Exception as error:
        what = str(error) if isinstance(error, InputError) else f"{type(error).__name__}: {error}"
        raise InputError(f"fold {number}, model {which.upper()}, {doing}: {what}") from error
    seconds = round(time.perf_counter() - start, 3)
    return number, which, {"seconds": seconds, "predictions": predictions}


def _fresh(model: Any, seed: int) -> Any:
    """An untrained copy; where a scikit-learn model leaves its seed open, with ours."""
    if not hasattr(model, "get_params") or find_spec("sklearn") is None:
        return copy.deepcopy(model)
    from sklearn.base import clone  # type: ignore[import-untyped]  # no type information

    fresh = clone(model)
    open_seeds = {
        name: seed
        for name, value in fresh.get_params().items()
        if name.split("__")[-1] == "random_state" and value is None
    }
    return fresh.set_params(**open_seeds)


def _rows(data: Any, positions: NDArray[np.intp]) -> Any:
    """The instances at these positions, in the kind of container they came in."""
    if hasattr(data, "iloc"):
        return data.iloc[positions]
    if hasattr(data, "shape"):
        return data[positions]
    return [data[i] for i in positions.tolist()]
