"""From probabilities to curves: read, rank, judge."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from probative._validation import (
    fraction,
    open_probability,
    positive,
    random_generator,
    whole_number,
)
from probative.errors import InputError
from probative.inference.average_precision import average_precision_interval
from probative.inference.best_threshold import best_threshold
from probative.inference.calibration import calibration
from probative.inference.curve_bands import pointwise_band, simultaneous_band
from probative.inference.curve_difference import compare_ranked
from probative.inference.ranked import Ranked
from probative.inference.roc_area import roc_auc_interval
from probative.matching.scored import match_scores
from probative.options import CurveOptions
from probative.results import Curve, CurveComparison
from probative.wording.verdict import verdict

if TYPE_CHECKING:
    from collections.abc import Sequence

    from probative._types import RNG, Input, Labels, Systems
    from probative.matching.scored import Scored
    from probative.options import ReadingKeywords

__all__ = ["compare_curves", "curve", "find_curves"]

_EXCHANGED = (
    "the test exchanges the ranks of {}s between the systems, since their scores may be on "
    "different scales"
)


def curve(
    gold: Input,
    scores: Systems | None = None,
    *,
    units: Labels | None = None,
    names: Sequence[str] | None = None,
    beta: float = 1.0,
    bins: int = 10,
    level: float = 0.95,
    rng: RNG | None = 0,
    **reading: Unpack[ReadingKeywords],
) -> Curve:
    """Judge the probabilities, or any scores, that a system gives for "yes".

    Parameters
    ----------
    gold
        The answer: a yes or no per item, as a list, an array or a path; or a file or data frame
        that holds the scores, too (`gold_column`, `columns`). With more than two classes,
        `positive` says which one the scores speak of.
    scores
        A finite number per item, the higher the likelier: a list, an array or a path.
    units
        The unit (document, speaker) of every item, where items belong together.
    names
        What the system is called: a list of one name.
    beta
        The weight of recall in the F-beta by which the best threshold is chosen.
    bins
        How many bins the calibration has at most.
    level
        The level of the intervals.
    rng
        A seed or generator for the folds and weights by which the threshold is judged.
    **reading
        How to read the inputs: `positive`, `gold_column`, `columns`, `unit_column`,
        `input_format`, `encoding`, `header`, `comments`, `mapping`, `ignore_case`, `align_by`; see
        `probative.options.ReadingOptions`.

    Returns
    -------
    Curve
        Precision and recall at every threshold with pointwise and simultaneous limits,
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
    options = _options(reading, beta=beta, bins=bins, level=level, rng=rng)
    systems, called = _named(scores, names)
    found = find_curves(gold, systems, options, names=called, units=units)
    if len(found) > 1:
        raise InputError("scores: of several systems; expected one (compare_curves takes two)")
    return found[0]


def compare_curves(
    gold: Input,
    a: Systems | None = None,
    b: Input | None = None,
    *,
    units: Labels | None = None,
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
        The answer, as for `curve`.
    a, b
        The scores of the baseline and of the challenger; or one dictionary of both by name; or none
        where `gold` holds them in two `columns`.
    units, names, beta, bins, level, rng, reading
        As for `curve`.
    rope
        Differences up to this size count as none.

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
    options = _options(reading, beta=beta, bins=bins, level=level, rope=rope, rng=rng)
    systems, called = _named(a, names)
    systems += [] if b is None else [b]
    scored = match_scores(gold, systems, options, names=called, units=units)
    if len(scored.names) != 2:
        raise InputError(f"scores: of {len(scored.names)} systems; expected two")
    ranked, curves = _curves(scored, options, "compare-curves")
    comparisons = compare_ranked(
        (ranked[0], ranked[1]),
        (curves[0], curves[1]),
        level=options.level,
        beta=options.beta,
        rope=options.rope,
        rng=random_generator(options.rng),
    )
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
    """The curve of each of several systems.

    Parameters
    ----------
    gold, systems, names, units
        As for `curve`.
    options
        The choices.
    """
    scored = match_scores(gold, systems, options, names=names, units=units)
    return _curves(scored, options, "curve")[1]


def _options(reading: Mapping[str, Any], **chosen: Any) -> CurveOptions:
    checked = {
        **chosen,
        "beta": positive("beta", chosen["beta"]),
        "bins": whole_number("bins", chosen["bins"], most=1_000),
        "level": open_probability("level", chosen["level"]),
        "rope": fraction("rope", chosen.get("rope", 0.0)),
    }
    random_generator(chosen["rng"])
    return CurveOptions.of({**checked, **reading}, beside=("names", "units"))


def _named(scores: Any, names: Sequence[str] | None) -> tuple[list[Any], Sequence[str] | None]:
    """The systems and their names, which a dictionary holds together."""
    if not isinstance(scores, Mapping):
        return [] if scores is None else [scores], names
    if names is not None:
        raise InputError("names: the systems have names already; expected none")
    return list(scores.values()), [str(name) for name in scores]


def _curves(scored: Scored, options: CurveOptions, job: str) -> tuple[list[Ranked], list[Curve]]:
    if not scored.is_positive.any():
        raise InputError(
            f"gold: no item is {scored.positive!r}; expected at least one, or there is no recall"
        )
    ranked = [Ranked.of(scored.is_positive, own, scored.units) for own in scored.scores]
    # the same folds for all: or chance would tell near-copies apart
    rng = options.rng
    seed = rng if isinstance(rng, int) else int(random_generator(rng).integers(2**32))
    options = replace(options, rng=seed)
    curves = [_curve(scored, i, own, options, job) for i, own in enumerate(ranked)]
    return ranked, curves


def _curve(scored: Scored, i: int, ranked: Ranked, options: CurveOptions, job: str) -> Curve:
    level, scores = options.level, scored.scores[i]
    name = scored.names[i]
    probable = bool(scores.min() >= 0 and scores.max() <= 1)
    notes = [*scored.notes, *_remarks(name, ranked, probable)]
    by = "item" if ranked.unit is None else "unit"
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
        pointwise=pointwise_band(ranked, level),
        simultaneous=simultaneous_band(ranked, level),
        average_precision=average_precision_interval(ranked, level),
        roc_auc=roc_auc_interval(ranked, level),
        best=best_threshold(ranked, level, options.beta, random_generator(options.rng)),
        calibration=calibration(
            ranked.is_positive, scores, level=level, bins=options.bins, unit=ranked.unit
        )
        if probable
        else None,
        level=level,
        notes=tuple(notes),
        signature=options.signature(job, "logit-jackknife", f"by-{by}"),
    )


def _remarks(name: str, ranked: Ranked, probable: bool) -> list[str]:
    """What the reader must know about these scores."""
    remarks = []
    if not probable:
        remarks.append(
            f"{name}: scores from {ranked.thresholds[-1]:.4g} to {ranked.thresholds[0]:.4g} are no "
            f"probabilities: no calibration"
        )
    if not ranked.negatives:
        remarks.append("every item is positive: precision is 1 whatever the scores")
    if set(ranked.thresholds[:3].tolist()) <= {0.0, 1.0}:  # they fall: three are enough
        remarks.append(f"{name}: scores are 0 and 1 alone: labels rather than probabilities")
    elif len(ranked.thresholds) == 1:
        remarks.append(f"{name}: all scores are equal: they put no item before another")
    return remarks
