"""Compute curves from probabilities or scores: read, rank, and compare."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Unpack

import numpy as np

from probative._validation import (
    RNG,
    Array,
    Input,
    Systems,
    accepts_seed,
    fraction,
    names_of,
    numbers,
    open_probability,
    positive,
    random_generator,
    shown,
    whole_number,
)
from probative._validation import Labels as UnitLabels
from probative.errors import InputError
from probative.inference.curves import (
    Ranked,
    average_precision_interval,
    best_threshold,
    calibration,
    compare_ranked,
    pointwise_band,
    roc_auc_interval,
    simultaneous_band,
)
from probative.jobs.score import by_name
from probative.labels import label_name, other_class
from probative.matching.labels import positive_class, relabel
from probative.matching.matched import align_items, name_systems
from probative.matching.outputs import check_reading, how_to_read, read_apart
from probative.options import CurveOptions, ReadingKeywords, ReadingOptions
from probative.reading.annotations import Labels, units_of
from probative.reading.inputs import annotations_of, both_of, is_frame, is_path, is_series
from probative.reading.source import refuse_repeats
from probative.results import Curve, CurveComparison
from probative.wording.verdict import verdict

# --- Reading gold (yes or no) and the scores of systems

# options of reading that do not apply to scores
_UNUSED = {
    *("threshold", "probability_columns", "multilabel", "scheme", "ignore_type", "only", "labels"),
    *("label_names", "score_name", "train_words", "run_column", "tag_column"),
    *("group", "match", "repair", "key", "memory_limit"),
}


@dataclass(frozen=True, eq=False)
class _Scored:
    """Input of curves: gold and the scores of systems."""

    names: tuple[str, ...]
    positive: str  # the class that the scores are for
    scores: tuple[Array, ...]  # for each system, one number per item
    ranked: list[Ranked]
    notes: tuple[str, ...]


def _match_scores(
    gold: Any,
    systems: Sequence[Any],
    reading: ReadingOptions,
    *,
    names: Sequence[str] | None = None,
    units: Any = None,
) -> _Scored:
    """Read gold and the scores of systems; without systems, `gold` holds the scores, too."""
    choices = check_reading(reading)
    for name in sorted(choices.changed() & _UNUSED):
        raise InputError(f"{name}: does not apply to scores; leave it out")
    if choices.task not in (None, "labels"):
        raise InputError(f"task: {choices.task!r} has no scores; expected 'labels'")
    names = None if names is None else names_of("names", names)
    options = replace(how_to_read(choices), task="labels")
    refuse_repeats((gold, *systems))
    if not systems:
        answer, outputs, usual_names = both_of(gold, options, choices.gold_column, choices.columns)
    elif any(is_path(system) for system in systems):
        answer, given = read_apart(gold, systems, options, replace(choices, task="labels"))
        outputs = [output for system in given for output in system.outputs]
        usual_names = [system.name for system in given]
    else:
        column = None if choices.gold_column is None else str(choices.gold_column)
        answer = annotations_of(gold, "gold", replace(options, column=column))
        outputs = list(systems)
        several = len(systems) > 1
        usual_names = [f"system {i + 1}" if several else "system" for i in range(len(systems))]
    if not isinstance(answer, Labels):
        raise InputError("gold: holds no labels; expected one yes or no per item")
    called = name_systems(names, list(usual_names))
    # only gold has classes: the "labels" of scores are numbers
    (answer,) = relabel([answer], choices, strict=True)
    notes = list(answer.notes)
    scores = []
    for name, output in zip(called, outputs, strict=True):
        if isinstance(output, Labels):
            read = (note.replace("labels in column", "scores in column") for note in output.notes)
            paired = align_items(answer, output, name, choices.align_by)
            if systems and answer.aligned is None:
                paired = (f"{name}: matched with gold by position, because rows have no ids",)
            notes += [*read, *paired]
        own = numbers_of(output, name)
        if len(own) != len(answer):
            raise InputError(
                f"{name}: {len(own)} scores, but gold has {len(answer)} items; expected one score "
                "per item"
            )
        scores.append(own)
    positive, found = _positive(answer, choices.positive)
    if units is not None and answer.units is not None:
        raise InputError("units: gold has units already; expected one of the two")
    of_items = answer.units if units is None else units_of("gold", units, len(answer))
    of_items = None if of_items is None else np.asarray(of_items, dtype=np.int64)
    is_positive = answer.codes == (answer.names.index(positive) if positive in answer.names else -1)
    if not is_positive.any():
        raise InputError(
            f"gold: no item is {positive!r}; expected at least one, because recall needs it"
        )
    if is_positive.all():
        raise InputError(
            f"gold: all {len(answer):,} items are {positive!r}; expected those of another class, "
            f"too: without any, every threshold has precision 1"
        )
    ranked = [Ranked(is_positive, own, of_items) for own in scores]
    noted = tuple(dict.fromkeys((*notes, *found)))
    return _Scored(called, positive, tuple(scores), ranked, noted)


def numbers_of(output: Any, name: str) -> Array:
    """Return one finite number per item."""
    if isinstance(output, Labels):
        values = np.array([_number(text) for text in output.names])[output.codes]
    else:
        if is_frame(output) or not (is_series(output) or isinstance(output, (list, tuple))):
            raise InputError(
                f"{name}: {type(output).__name__}; expected a path or a number per item"
            )
        output = output.to_numpy() if hasattr(output, "to_numpy") else output
        values = numbers(name, output)
        if values.ndim != 1:
            raise InputError(
                f"{name}: shape {values.shape}; expected one score per item, that of the positive "
                f"class"
            )
    if not np.isfinite(values).all():
        i = int(np.argmin(np.isfinite(values)))
        given = output.names[output.codes[i]] if isinstance(output, Labels) else values[i].item()
        raise InputError(
            f"{name}: item {i + 1} is {shown(given)}; expected a finite number per item"
        )
    return values


def _number(text: str) -> float:
    try:
        return float(text) if "_" not in text else math.nan
    except ValueError:
        return math.nan


def _positive(answer: Labels, positive: Any) -> tuple[str, list[str]]:
    """Return the class that the scores are for, and notes on it."""
    names = answer.names
    if positive is not None:
        wanted = label_name("positive", positive)
        if wanted not in names and len(names) > 1:
            listed = ", ".join(map(repr, names[:5]))
            raise InputError(f"positive: {wanted!r} is no class; expected one of {listed}")
        rest = len(names) - 1
        return wanted, [f"{wanted!r} against {rest} other classes"] if rest > 1 else []
    found = positive_class(answer)
    listed = ", ".join(map(repr, names[:3])) + (", …" if len(names) > 3 else "")
    if found is None:
        which = "several classes" if len(names) > 2 else "classes"
        raise InputError(
            f"positive: of which of the {which} {listed} are these the scores? expected positive="
        )
    return found, [
        f"two classes, {found!r} is the positive one; the other is {other_class(found)!r}"
    ]


# --- Curves and their comparison

_EXCHANGED = (
    "the test exchanges the ranks of {}s between the systems, since their scores may be on "
    "different scales"
)


@accepts_seed
def curve(
    gold: Input,
    scores: Systems | None = None,
    *,
    units: UnitLabels | None = None,
    names: Sequence[str] | None = None,
    beta: float = 1.0,
    bins: int = 10,
    level: float = 0.95,
    rng: RNG | None = 0,
    **reading: Unpack[ReadingKeywords],
) -> Curve:
    """Evaluate the probabilities, or any scores, that a system gives for "yes".

    Parameters
    ----------
    gold
        Gold: yes or no per item, as a list, an array or a path; or a file or data frame that
        holds the scores, too (`gold_column`, `columns`). With more than two classes, `positive`
        is the one that the scores are for.
    scores
        A finite number per item, the higher the likelier: a list, an array or a path.
    units
        The unit (document, speaker) of every item, where items belong together.
    names
        The name of the system: a list of one name.
    beta
        The weight of recall in the F-beta by which the best threshold is chosen.
    bins
        The largest number of bins of the calibration.
    level
        The level of the intervals.
    rng
        A seed or generator for the folds and weights by which the threshold is evaluated.
    **reading
        Options of reading: `positive`, `gold_column`, `columns`, `unit_column`,
        `input_format`, `encoding`, `header`, `comments`, `mapping`, `ignore_case`, `align_by`; see
        `probative.options.ReadingOptions`.

    Returns
    -------
    Curve
        Precision and recall at every threshold with pointwise and simultaneous intervals,
        `average_precision`, `roc_auc`, the `best` threshold, and the `calibration` of
        probabilities.

    Examples
    --------
    >>> import probative as pv
    >>> gold = [1, 1, 0, 1, 0, 0, 1, 0, 0, 0]
    >>> curve = pv.curve(gold, [0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.35, 0.3, 0.2, 0.1])
    >>> round(curve.average_precision.estimate, 4)
    0.8304
    >>> curve.best.threshold, round(curve.best.apparent, 4)
    (0.6, 0.75)
    """
    options = _options(locals())
    systems, called = by_name([] if scores is None else [scores], names)
    found = find_curves(gold, systems, options, names=called, units=units)
    if len(found) > 1:
        raise InputError("scores: of several systems; expected one (compare_curves takes two)")
    return found[0]


@accepts_seed
def compare_curves(
    gold: Input,
    a: Systems | None = None,
    b: Input | None = None,
    *,
    units: UnitLabels | None = None,
    names: Sequence[str] | None = None,
    beta: float = 1.0,
    bins: int = 10,
    level: float = 0.95,
    rope: float = 0.0,
    rng: RNG | None = 0,
    **reading: Unpack[ReadingKeywords],
) -> CurveComparison:
    """Compare the probabilities, or any scores, of two systems on the same items.

    Parameters
    ----------
    gold
        Gold, as for `curve`.
    a, b
        The scores of the baseline and of the challenger; or one dictionary of both by name; or none
        where `gold` holds them in two `columns`.
    units, names, beta, bins, level, rng, reading
        As for `curve`.
    rope
        Half the width of the region of practical equivalence, a fraction of 1.

    Returns
    -------
    CurveComparison
        Both curves, and the differences of average precision, of the area under the ROC curve and
        of the highest F-beta with intervals, a randomisation test and a verdict.

    Examples
    --------
    >>> import numpy as np
    >>> import probative as pv
    >>> rng = np.random.default_rng(1)
    >>> gold = rng.random(300) < 0.2
    >>> result = pv.compare_curves(gold, rng.normal(gold), rng.normal(3.0 * gold))
    >>> result["average_precision"].pvalue < 0.01
    True
    """
    options = _options(locals())
    systems, called = by_name([] if a is None else [a], names)
    systems += [] if b is None else [b]
    scored = _match_scores(gold, systems, options, names=called, units=units)
    if len(scored.names) != 2:
        raise InputError(f"scores: of {len(scored.names)} systems; expected two")
    curves = _curves(scored, options, "compare-curves")
    how: Any = options.chosen("level", "beta", "rope")
    comparisons = compare_ranked(scored.ranked, curves, rng=random_generator(options.rng), **how)
    by = comparisons[0].by
    return CurveComparison(
        curves=tuple(curves),
        comparisons=comparisons,
        verdicts=(verdict(comparisons[0]),),
        level=options.level,
        notes=(*scored.notes, _EXCHANGED.format(by)),
        signature=options.signature("compare-curves", "mover", f"{comparisons[0].test}-by-{by}"),
    )


def find_curves(
    gold: Any,
    systems: Sequence[Any],
    options: CurveOptions,
    *,
    names: Sequence[str] | None = None,
    units: Any = None,
) -> list[Curve]:
    """Return the curve of each system; the inputs are those of `curve`."""
    scored = _match_scores(gold, systems, options, names=names, units=units)
    return _curves(scored, options, "curve")


def _options(call: Mapping[str, Any]) -> CurveOptions:
    checked = {
        "beta": positive("beta", call["beta"]),
        "bins": whole_number("bins", call["bins"], most=1_000),
        "level": open_probability("level", call["level"]),
        "rope": fraction("rope", call.get("rope", 0.0)),
    }
    random_generator(call["rng"])
    return CurveOptions.of_call({**call, **checked}, beside=("names", "units"))


def _curves(scored: _Scored, options: CurveOptions, job: str) -> list[Curve]:
    # the same folds for all systems, so that chance does not distinguish near-copies
    if not isinstance(options.rng, int):
        options = replace(options, rng=int(random_generator(options.rng).integers(2**32)))
    return [_curve(scored, i, options, job) for i in range(len(scored.names))]


def _curve(scored: _Scored, i: int, options: CurveOptions, job: str) -> Curve:
    """Return the curve of system `i`; its judgements are computed when they are asked for."""
    level, name, scores, ranked = options.level, scored.names[i], scored.scores[i], scored.ranked[i]
    probable = bool(scores.min() >= 0 and scores.max() <= 1)
    judged: dict[str, Any] = {
        "pointwise": partial(pointwise_band, ranked, level),
        "simultaneous": partial(simultaneous_band, ranked, level),
        "average_precision": partial(average_precision_interval, ranked, level),
        "roc_auc": partial(roc_auc_interval, ranked, level),
        "best": partial(best_threshold, ranked, level, options.beta, options.rng),
    }
    if probable:
        how: Any = {"level": level, "bins": options.bins, "unit": ranked.unit}
        judged["calibration"] = partial(calibration, ranked.is_positive, scores, **how)
    return Curve(
        name=name,
        positive=scored.positive,
        items=ranked.items,
        positives=ranked.positives,
        units=None if ranked.unit is None else ranked.n_units,
        thresholds=ranked.thresholds,
        tp=ranked.tp.astype(np.int64),
        fp=ranked.fp.astype(np.int64),
        precision=ranked.precision,
        recall=ranked.recall,
        level=level,
        notes=(*scored.notes, *_remarks(name, ranked, probable)),
        signature=options.signature(job, "logit-jackknife", f"by-{ranked.by}"),
        judged=judged,
    )


def _remarks(name: str, ranked: Ranked, probable: bool) -> list[str]:
    """Return notes on the scores that the reader must know."""
    remarks = []
    if not probable:
        remarks.append(
            f"{name}: scores from {ranked.thresholds[-1]:.4g} to {ranked.thresholds[0]:.4g} are no "
            f"probabilities: no calibration"
        )
    if set(ranked.thresholds[:3].tolist()) <= {0.0, 1.0}:  # they fall, so three are enough
        remarks.append(f"{name}: scores are 0 and 1 alone: labels rather than probabilities")
    elif len(ranked.thresholds) == 1:
        remarks.append(f"{name}: all scores are equal: they put no item before another")
    return remarks
