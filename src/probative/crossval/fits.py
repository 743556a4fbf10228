"""Training and validating copies of two models, each fold wherever joblib runs it."""

from __future__ import annotations

import copy
import math
import time
from contextlib import nullcontext
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from probative.errors import InputError
from probative.workers import check_jobs, interrupts_waiting

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from probative.crossval.tasks import LabelTask, SpanTask
    from probative.resume import ResumableFolder

    Fold = tuple[NDArray[np.intp], NDArray[np.intp]]
    Outcome = dict[str, Any]

__all__ = ["MODELS", "Fits", "check_jobs", "check_model", "outcomes"]

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


@dataclass(frozen=True)
class Fits:
    """What there is to train and to ask.

    Attributes
    ----------
    models
        The baseline and the challenger.
    X, y
        All instances, and what is known of them.
    folds
        Positions to train on and to validate on.
    task
        What predictions are.
    seed
        For models that leave theirs open.
    """

    models: tuple[Any, Any]
    X: Any
    y: Any
    folds: Sequence[Fold]
    task: LabelTask | SpanTask
    seed: int

    def validation_instances(self, fold: int) -> Any:
        """The instances that a fold (from 1) validates on."""
        return _rows(self.X, self.folds[fold - 1][1])

    def fit_and_predict(self, fold: int, which: str) -> tuple[int, str, Outcome]:
        """Train a copy of a model on a fold, and ask it for the rest.

        The model gets its own copies of the data: one that edits its lists in place must not
        change gold, nor what the other model sees.
        """
        train, _ = self.folds[fold - 1]
        start = time.perf_counter()
        doing = "fit"
        try:
            fresh = _fresh(self.models[MODELS.index(which)], self.seed)
            fresh.fit(*copy.deepcopy((_rows(self.X, train), _rows(self.y, train))))
            doing = "predict"
            instances = self.validation_instances(fold)
            answered = fresh.predict(copy.deepcopy(instances))
            predictions = self.task.check_predictions(answered, instances)
        except (Exception, SystemExit) as error:  # a model must not end the program
            what = (
                str(error) if isinstance(error, InputError) else f"{type(error).__name__}: {error}"
            )
            raise InputError(f"fold {fold}, model {which.upper()}, {doing}: {what}") from error
        seconds = round(time.perf_counter() - start, 3)
        return fold, which, {"seconds": seconds, "predictions": predictions}


def outcomes(
    fits: Fits,
    *,
    n_jobs: int | None,
    folder: ResumableFolder | None,
    split: str,
    report: Callable[[int, int], None],
) -> dict[tuple[int, str], Outcome]:
    """Predictions and seconds by fold (from 1) and model; what a folder has is not done again."""
    numbers = range(1, len(fits.folds) + 1)
    wanted = [(fold, which) for fold in numbers for which in MODELS]
    results: dict[tuple[int, str], Outcome] = {}
    if folder:
        for fold, which in wanted:
            kept = folder.load(*_part(fold, which, split))
            if kept is not None:
                results[fold, which] = _restore(folder, fits, fold, which, kept)
    report(len(results), len(wanted))
    todo = [part for part in wanted if part not in results]
    if folder and todo:
        folder.check_writable()
    for fold, which, outcome in _run(fits, todo, n_jobs):
        if folder:
            folder.keep(*_part(fold, which, split), outcome)
        results[fold, which] = outcome
        report(len(results), len(wanted))
    return results


def _part(fold: int, which: str, split: str) -> tuple[str, dict[str, Any]]:
    """The name of what is kept of a fold and model, and what it belongs to."""
    return f"fold-{fold}-{which}", {"fold": fold, "model": which, "split": split}


def _restore(folder: ResumableFolder, fits: Fits, fold: int, which: str, kept: Any) -> Outcome:
    """What a folder kept, if it is what a model may predict."""
    name = _part(fold, which, "")[0]
    if not isinstance(kept, dict) or set(kept) != {"seconds", "predictions"}:
        raise folder.damage(name, "it has no seconds and predictions")
    seconds, predictions = kept["seconds"], kept["predictions"]
    if isinstance(seconds, bool) or not isinstance(seconds, (int, float)):
        raise folder.damage(name, f"seconds: {seconds!r:.40} is no number")
    if not 0 <= seconds < math.inf:
        raise folder.damage(name, f"seconds: {seconds!r:.40} is not finite and >= 0")
    if not isinstance(predictions, list):
        raise folder.damage(name, f"predictions: {predictions!r:.40} is no list")
    try:
        checked = fits.task.check_predictions(predictions, fits.validation_instances(fold))
    except InputError as error:
        raise folder.damage(name, str(error)) from None
    return {"seconds": seconds, "predictions": checked}


def _run(
    fits: Fits, todo: Sequence[tuple[int, str]], n_jobs: int | None
) -> Iterator[tuple[int, str, Outcome]]:
    """What comes of the fits, each as soon as it is done."""
    from pickle import PicklingError

    from joblib import Parallel, delayed, effective_n_jobs
    from joblib.externals.loky.process_executor import BrokenProcessPool, TerminatedWorkerError

    if not todo:
        return
    workers = effective_n_jobs(n_jobs)
    if workers > len(todo):
        n_jobs = len(todo)  # a worker without work would be started for nothing
    parallel = Parallel(n_jobs=n_jobs, return_as="generator_unordered")
    running = None
    try:
        with interrupts_waiting() if workers > 1 else nullcontext():
            running = parallel(delayed(fits.fit_and_predict)(*part) for part in todo)
        yield from running
    except TerminatedWorkerError:
        raise InputError(
            "a process that trained a model ended by itself (killed, crashed, or out of memory); "
            "expected models that fit into memory, or fewer jobs at once"
        ) from None
    except (PicklingError, BrokenProcessPool) as error:
        raise InputError(
            f"the models or the data cannot be sent to other processes ({error}); expected what "
            f"pickle can store, or one job"
        ) from error
    finally:
        if running is not None:
            running.close()  # after a failure the others need not go on


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
