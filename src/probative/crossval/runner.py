"""Train and validate two models on every fold, and compare them."""

from __future__ import annotations

import copy
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from operator import index
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from probative._validation import (
    Instances,
    Labels,
    Model,
    Strata,
    accepts_seed,
    one_of,
    whole_number,
)
from probative._validation import positive as positive_number
from probative.counts import PairedCounts
from probative.crossval.splitter import BlockRegularizedCV, length_of, splits
from probative.errors import InputError
from probative.files import ResumableFolder, code_digest, digest
from probative.labels import items_of, label_text, labels_in, positive_label
from probative.metrics import METRICS, NEEDS_TN, PRF
from probative.options import CrossvalOptions
from probative.results.crossval import FoldCounts, ModelComparison
from probative.wording.numbers import some
from probative.workers import answers_of, check_jobs

if TYPE_CHECKING:
    from probative.inference.crossval import Weight

    Fold = tuple[NDArray[np.intp], NDArray[np.intp]]
    Part = tuple[int, str]  # a fold, from 1, and a model
    Outcome = dict[str, Any]  # seconds and predictions


# --- Training and validating copies of two models, in parallel by joblib

MODELS = ("a", "b")


@dataclass(frozen=True)
class _Fits:
    """The models, the data and the folds of a comparison."""

    models: tuple[Any, Any]  # the baseline and the challenger
    X: Any
    y: Any
    folds: Sequence[Fold]  # positions to train on and to validate on
    task: LabelTask | _SpanTask
    seed: int  # of models that have none of their own
    split: str  # a digest of the folds

    def outcomes(
        self, n_jobs: int | None, folder: ResumableFolder | None, report: Callable[..., None]
    ) -> dict[Part, Outcome]:
        """Return the outcome of every fit; reuse those kept in a folder."""
        wanted = [(fold, which) for fold in range(1, len(self.folds) + 1) for which in MODELS]
        results: dict[Part, Outcome] = {}
        if folder:
            for part in wanted:
                kept = folder.load(*self._named(part))
                if kept is not None:
                    results[part] = self._restored(folder, part, kept)
        report(len(results), len(wanted))
        todo = [part for part in wanted if part not in results]
        if folder and todo:
            folder.check_writable()
        for part, outcome in self._run(todo, n_jobs):
            if folder:
                folder.keep(*self._named(part), outcome)
            results[part] = outcome
            report(len(results), len(wanted))
        return results

    def _named(self, part: Part) -> tuple[str, dict[str, Any]]:
        """Return the name under which a part is kept, and what identifies it."""
        fold, which = part
        return f"fold-{fold}-{which}", {"fold": fold, "model": which, "split": self.split}

    def _validation_instances(self, fold: int) -> Any:
        return _rows(self.X, self.folds[fold - 1][1])

    def _restored(self, folder: ResumableFolder, part: Part, kept: Any) -> Outcome:
        """Return a kept outcome; refuse one that a model cannot have predicted."""
        name = self._named(part)[0]
        if not isinstance(kept, dict) or set(kept) != {"seconds", "predictions"}:
            raise folder.damage(name, "it has no seconds and predictions")
        seconds, predictions = kept["seconds"], kept["predictions"]
        if not isinstance(predictions, list):
            raise folder.damage(name, f"predictions: {predictions!r:.40} is no list")
        try:
            positive_number("seconds", seconds, zero=True)
            instances = self._validation_instances(part[0])
            checked = self.task.check_predictions(predictions, instances)
        except InputError as error:
            raise folder.damage(name, str(error)) from None
        return {"seconds": seconds, "predictions": checked}

    def _run(self, todo: Sequence[Part], n_jobs: int | None) -> Iterator[tuple[Part, Outcome]]:
        """Yield the outcome of each fit as soon as it is done."""
        from pickle import PicklingError

        from joblib.externals.loky.process_executor import BrokenProcessPool, TerminatedWorkerError

        try:
            yield from answers_of(self.fit_and_predict, todo, n_jobs)
        except TerminatedWorkerError:
            found = "a process that trained a model was killed, crashed, or ran out of memory"
            raise InputError(f"{found}; expected smaller models, or fewer jobs at once") from None
        except (PicklingError, BrokenProcessPool) as error:
            found = f"the models or the data cannot be sent to other processes ({error})"
            raise InputError(f"{found}; expected objects for pickle, or one job") from error

    def fit_and_predict(self, part: Part) -> tuple[Part, Outcome]:
        """Train a copy of a model on a fold, and predict the rest."""
        fold, which = part
        # a model that edits its lists in place must not change gold or the other model's data
        train, _ = self.folds[fold - 1]
        start = time.perf_counter()
        doing = "fit"
        try:
            fresh = _fresh(self.models[MODELS.index(which)], self.seed)
            fresh.fit(*copy.deepcopy((_rows(self.X, train), _rows(self.y, train))))
            doing = "predict"
            instances = self._validation_instances(fold)
            answered = fresh.predict(copy.deepcopy(instances))
            predictions = self.task.check_predictions(answered, instances)
        except (Exception, SystemExit) as error:  # a model must not end the program
            kind = "" if isinstance(error, InputError) else f"{type(error).__name__}: "
            where = f"fold {fold}, model {which.upper()}, {doing}"
            raise InputError(f"{where}: {kind}{error}") from error
        seconds = round(time.perf_counter() - start, 3)
        return part, {"seconds": seconds, "predictions": predictions}


def _fresh(model: Any, seed: int) -> Any:
    """Return an untrained copy; set the open seeds of a scikit-learn model to ours."""
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
    """Return the instances at these positions, in a container of the same kind."""
    if hasattr(data, "iloc"):
        return data.iloc[positions]
    if hasattr(data, "shape"):
        return data[positions]
    return [data[i] for i in positions.tolist()]


# --- Tasks: labels, or spans of sentences

_CLASSES_SHOWN = 5  # most classes named in a message


@dataclass(frozen=True)
class LabelTask:
    """One label per instance."""

    # None: all classes count; then micro-averaged scores are all equal to the accuracy
    positive: Any = None
    classes: tuple[str, ...] | None = None  # the texts of those that a model may predict, if known
    name = "labels"

    @property
    def metrics(self) -> tuple[str, ...]:
        """Return the metrics that are compared by default."""
        return ("accuracy",) if self.positive is None else PRF

    @property
    def possible(self) -> tuple[str, ...]:
        """Return the metrics that can be compared."""
        return (*PRF, "accuracy") if self.positive is None else METRICS

    def strata(self, X: Any, y: Any) -> Any:  # noqa: ARG002
        """Return the strata to balance: None, so that the splitter uses the classes."""
        return None

    def check_predictions(self, predictions: Any, X: Any) -> list[Any]:
        """Return the predictions of one fold as Python values; refuse wrong numbers or classes."""
        size = length_of("X", X)
        if not hasattr(predictions, "__len__"):
            raise InputError(f"predicts {predictions!r:.40} labels for {size} instances")
        values = items_of("predictions", predictions)
        labels = [v.item() if isinstance(v, np.generic) else v for v in values]  # for a file
        if len(labels) != size:
            raise InputError(f"predicts {len(labels)} labels for {size} instances")
        codes, names = labels_in("predictions", labels, "instance")
        if self.classes is not None:
            strange = [i for i, name in enumerate(names) if name not in self.classes]
            if strange:
                place = int(np.argmax(np.isin(codes, strange)))
                odd = f"{labels[place]!r:.40} for instance {place + 1}"
                raise InputError(
                    f"predicts {odd}; expected one of {some(self.classes, _CLASSES_SHOWN)}"
                )
        return labels

    def cases(self, gold: Any, a: list[Any], b: list[Any]) -> PairedCounts:
        """Count the eight cases of two models on one fold."""
        if self.positive is not None:
            return PairedCounts.from_labels(gold, a, b, positive=self.positive)
        # every instance is one item, and predicting its gold class is "yes"
        answer, *said = (list(map(label_text, items_of("labels", side))) for side in (gold, a, b))
        right = [[x == y for x, y in zip(answer, says, strict=True)] for says in said]
        return PairedCounts.from_labels([True] * len(answer), *right, positive=True)


@dataclass(frozen=True)
class _SpanTask:
    """Spans of sentences: entities, chunks, words."""

    name = "entities"
    metrics = PRF
    possible = tuple(name for name in METRICS if name not in NEEDS_TN)

    def strata(self, X: Any, y: Any) -> dict[str, list[int]]:
        """Return the strata to balance: the spans of every label, and tokens."""
        return {**counts_of_labels(y), "tokens": [len(sentence) for sentence in X]}

    def check_predictions(self, predictions: Any, X: Any) -> list[list[tuple[int, int, str]]]:
        """Return the predicted spans of one fold, sorted; refuse spans outside of sentences."""
        if not hasattr(predictions, "__len__") or len(predictions) != len(X):
            how_many = len(predictions) if hasattr(predictions, "__len__") else predictions
            raise InputError(f"predicts spans for {how_many!r} sentences, and there are {len(X)}")
        return [
            _sorted_spans(spans, len(sentence), number)
            for number, (spans, sentence) in enumerate(zip(predictions, X, strict=True), 1)
        ]

    def cases(self, gold: Any, a: list[Any], b: list[Any]) -> PairedCounts:
        """Count the eight cases of two models on one fold."""
        sides = ([[tuple(span) for span in spans] for spans in side] for side in (gold, a, b))
        return PairedCounts.from_spans(*sides).total()


def counts_of_labels(spans: Sequence[Any]) -> dict[str, list[int]]:
    """Count the spans of every label in each sentence."""
    counts = [Counter(label for _, _, label in own) for own in spans]
    return {label: [count[label] for count in counts] for label in sorted(set().union(*counts))}


def task_for(X: Any, y: Any, positive: Any) -> LabelTask | _SpanTask:
    """Recognise the task from the gold `y`, and check the data."""
    if length_of("X", X) != length_of("y", y):
        raise InputError(f"y: {length_of('y', y)} values, but X has {length_of('X', X)} instances")
    if isinstance(y, (list, tuple)) and y and isinstance(y[0], (set, list, tuple, frozenset)):
        if positive is not None:
            raise InputError("positive: applies to labels, and y holds spans")
        try:
            _SpanTask().check_predictions(y, X)
        except InputError as error:
            raise InputError(f"y: {error}") from None
        return _SpanTask()
    if getattr(y, "ndim", 1) != 1:
        raise InputError(f"y: shape {y.shape}; expected one label per instance, or spans")
    _, classes = labels_in("y", y, "instance")
    if len(classes) < 2:
        raise InputError(f"y: holds one class, {classes[0]}; expected at least two")
    if positive is None:
        return LabelTask(positive_label(classes), classes)
    _, (wanted,) = labels_in("positive", [positive])
    if wanted not in classes:
        expected = f"expected one of {some(classes, _CLASSES_SHOWN)}"
        raise InputError(f"positive: no instance has the class {positive!r}; {expected}")
    return LabelTask(wanted, classes)


def _sorted_spans(spans: Any, length: int, number: int) -> list[tuple[int, int, str]]:
    """Return the distinct spans of a sentence, sorted; refuse spans outside of it."""
    if isinstance(spans, (str, bytes)) or not isinstance(spans, Iterable):
        raise InputError(f"sentence {number}: {spans!r:.40}; expected spans (start, end, label)")
    distinct = set()
    for span in spans:
        try:
            start, end, label = span
            start, end = index(start), index(end)  # a fraction is no position
            inside = 0 <= start < end <= length and isinstance(label, str)
            distinct.add((start, end, label))
        except (TypeError, ValueError):
            inside = False
        if not inside:
            expected = f"(start, end, label) with whole numbers 0 <= start < end <= {length}"
            raise InputError(f"sentence {number}: span {span!r:.60}; expected {expected}")
    return sorted(distinct)


@accepts_seed
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
        copied for every fold and stay unchanged.
    X, y
        Instances with one label each; or sentences with their spans, (start, end, label).
    m
        Repetitions, each of two folds: 4m fits.
    metric
        One metric or several. By default precision, recall and f1; accuracy if all classes of
        a single-label problem count, since micro-averaged F1 is the accuracy there.
    positive
        The positive class. By default the 1, True or "yes" of two classes; else all
        classes count.
    groups
        The group (document) of every instance; groups are not cut.
    regularize
        The strata to balance, as for `BlockRegularizedCV`; by default the
        classes, or the spans of each label and the tokens.
    rng
        The seed of the split, and of scikit-learn models without a seed of their own; or a
        generator that it is drawn from.
    names
        The names of the models.
    n_jobs
        The number of fits that run at once, as in joblib; ``joblib.parallel_config`` chooses where.
        The result depends on neither.
    folder
        A folder for results. A run that was stopped continues there, with the same data,
        options, models and code of models; anything else is refused.
    rope, prior, level, beta, weight
        As for `bayes_test`.
    report
        Called with the number of fits done and of all fits.

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
    from probative.inference.bayes import bayes_test

    models = {"model_a": model_a, "model_b": model_b}
    for parameter, model in models.items():
        if isinstance(model, type):
            raise InputError(f"{parameter}: {model.__name__} is a class; expected an object of it")
        for method in ("fit", "predict"):
            if not callable(getattr(model, method, None)):
                found = f"{parameter}: {type(model).__name__} has no {method}"
                raise InputError(f"{found}; expected an object with fit and predict")
    check_jobs(n_jobs)
    m = BlockRegularizedCV(m).get_n_splits() // 2  # an int, also of NumPy's
    test_options: dict[str, Any] = {"rope": rope, "prior": prior, "level": level}
    test_options |= {"beta": beta, "weight": weight}
    task = task_for(X, y, positive)
    metrics = _metrics(metric, task)
    for name in metrics:  # refuse what the test would refuse, before hours of training
        bayes_test([PairedCounts([1.0] * 8)] * 2, metric=name, **test_options)
    if names[0] == names[1]:
        names = (f"{names[0]} (A)", f"{names[1]} (B)")

    further: dict[str, Any] = {"positive": positive, "groups": groups, "regularize": regularize}
    options = CrossvalOptions(a=names[0], b=names[1], **further, **test_options)
    strata = task.strata(X, y) if regularize is None else regularize
    seed = _seed(rng)
    kept = None
    if folder is not None:
        run = {"task": task.name, "m": m, "seed": seed, "data": digest("X, y", (X, y))}
        run |= {"regularize": digest("regularize", strata), "groups": digest("groups", groups)}
        for parameter, model in models.items():
            run[parameter] = digest(parameter, model)
            run[f"the code of {parameter}"] = code_digest(parameter, model)
        kept = ResumableFolder(folder, run, adopt=("seed",) if rng is None else ())
        seed = _seed(kept.run["seed"])
    cv = BlockRegularizedCV(m, random_state=seed, regularize=strata)
    block = cv.blocks(X, y, groups)
    folds = list(splits(block, m))
    fits = _Fits((model_a, model_b), X, y, folds, task, seed, digest("split", block))
    results = fits.outcomes(n_jobs, kept, report)
    cases, records = [], []
    for number, (train, validation) in enumerate(folds, 1):
        gold = _rows(y if isinstance(y, (list, tuple)) else np.asarray(y), validation)
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
        **test_options,
    )


def judge_folds(
    paired: Sequence[PairedCounts],
    metrics: Sequence[str],
    *,
    names: tuple[str, str],
    weight: Any = "effective",
    beta: float = 1.0,
    rope: float = 0.0,
    prior: float = 1.0,
    level: float = 0.95,
    **known: Any,
) -> ModelComparison:
    """Compare two models by the cases of their folds; `known` are other fields of the result."""
    from probative.inference import crossval
    from probative.inference.bayes import bayes_test

    shape: dict[str, Any] = {"beta": beta, "prior": prior}
    how = {**shape, "weight": weight, "rope": rope, "level": level}
    a, b = [table.a for table in paired], [table.b for table in paired]
    tests, adjusted = [], []
    for metric in metrics:
        test = bayes_test(list(paired), metric=metric, **how)
        adjusted.append(crossval.with_training_variance(test, paired, weight, beta))
        tests += [test, bayes_test(a, b, metric, **how)]
    shape["weights"] = tuple(dict.fromkeys((weight, "averaged")))
    return ModelComparison(
        a=names[0],
        b=names[1],
        m=len(paired) // 2,
        paired=tuple(paired),
        effective_a=crossval.effective_counts(a, weight=weight),
        effective_b=crossval.effective_counts(b, weight=weight),
        tests=tuple(tests),
        adjusted_tests=tuple(adjusted),
        scores=crossval.score_posteriors({names[0]: a, names[1]: b}, metrics, **shape),
        **known,
    )


def _metrics(metric: str | Sequence[str] | None, task: LabelTask | _SpanTask) -> tuple[str, ...]:
    """Return the metrics to compare; refuse those that the task does not have."""
    if metric is None:
        return task.metrics
    names = (metric,) if isinstance(metric, str) else tuple(metric)
    for name in names:
        one_of("metric", name, METRICS)
        one_of("metric", name, task.possible)
    if isinstance(task, LabelTask) and task.positive is None:
        return ("accuracy",)  # micro-averaged over all classes, the others are equal to it
    return names


def _seed(rng: Any) -> int:
    """Return the given seed, or a new one."""
    if rng is None or isinstance(rng, np.random.Generator):
        return int(np.random.default_rng(rng).integers(2**31))
    return whole_number("rng", rng, least=0, most=2**128)
