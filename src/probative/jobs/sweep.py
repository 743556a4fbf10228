"""Sweep the threshold of a word segmenter: score every share of accepted boundaries."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from probative._validation import Input, Rows, open_probability, whole_number
from probative.errors import InputError
from probative.inference.intervals import default_method, interval
from probative.matching.segmentation import Cuts, all_cuts, flat_probabilities
from probative.metrics import score
from probative.options import SweepOptions
from probative.reading.annotations import Segmented
from probative.reading.formats import Options
from probative.reading.inputs import annotations_of
from probative.reading.lines import probabilities_of
from probative.reading.source import refuse_repeats
from probative.results import BestCut, Interval, SegmentationSweep

# The true negative rate is the specificity of all substrings.
METRICS = {"precision": "precision", "recall": "recall", "f1": "f1", "tnr": "specificity"}


def segmentation_sweep(
    gold: Input | Segmented,
    probabilities: Rows,
    steps: int = 20,
    *,
    level: float = 0.95,
    input_format: str | None = None,
    encoding: str | None = None,
) -> SegmentationSweep:
    """Score a word segmenter at every share λ of accepted boundaries.

    All positions between two characters of a sentence are ranked by the probability of a boundary
    there; the λ·100 % most probable ones are accepted. λ = 0 splits nothing, λ = 1 everything.
    The ranking is done once, whatever the number of steps.

    Parameters
    ----------
    gold
        Gold: a path, or a list of words (or a string with spaces) per sentence.
    probabilities
        For each sentence a probability of a boundary between its first and second character, its
        second and third, and so on; or the path of a file with such a list per line, as JSON.
        Spaces do not count as characters. Any scores that rank the positions will do; among equal
        scores the first in the text is accepted first.
    steps
        The number of steps from 0 to 1.
    level
        The level of the intervals. They are widened by the design effect of sentences.
    input_format, encoding
        The format and encoding of gold; recognised by default.

    Returns
    -------
    SegmentationSweep
        Counts and scores at each λ, and where each score is highest: among the steps, and among
        all possible λ.

    References
    ----------
    Shao, Hardmeier and Nivre, "Recall is the Proper Evaluation Metric for Word Segmentation"
    (IJCNLP 2017).

    Examples
    --------
    >>> import probative as pv
    >>> gold = [["to", "be"], ["not", "to", "be"]]
    >>> probabilities = [[0.1, 0.9, 0.3], [0.2, 0.1, 0.8, 0.1, 0.7, 0.6]]
    >>> sweep = pv.segmentation_sweep(gold, probabilities, steps=3)
    >>> sweep.counts.tp
    array([0., 5., 2., 0.])
    >>> print(sweep.best_of("recall"))
    recall is highest at λ = 0.333333 (1.0000); of all λ at 0.3333 (1.0000)
    """
    steps = whole_number("steps", steps, most=100_000)
    level = open_probability("level", level)
    refuse_repeats((gold, probabilities))
    answer = segmented(gold, "gold", input_format=input_format, encoding=encoding)
    row = flat_probabilities(answer, probabilities_of(probabilities))
    positions = len(row)
    if not positions:
        raise InputError("gold: no sentence has two characters; expected one to split")

    step = np.arange(steps + 1)
    accepted = (2 * step * positions + steps) // (2 * steps)  # rounded to the nearest
    cuts = all_cuts(answer, row, accepted)
    shares = step / steps
    options = SweepOptions(steps=steps, level=level, input_format=input_format, encoding=encoding)
    methods = dict.fromkeys(map(default_method, METRICS.values()))
    return SegmentationSweep(
        shares=shares,
        accepted=accepted,
        thresholds=np.concatenate([[np.nan], cuts.ranked])[accepted],
        counts=cuts.there,
        scores=_intervals(cuts, level),
        best=tuple(_best(cuts, name, shares) for name in METRICS),
        positions=positions,
        sentences=answer.n_sentences,
        level=level,
        signature=options.signature("sweep", ",".join(methods), "by-sentence"),
    )


def segmented(
    data: Any, name: str, *, input_format: str | None = None, encoding: str | None = None
) -> Segmented:
    """Read words from a path or from Python sequences."""
    words = annotations_of(data, name, Options("segmentation", input_format, encoding))
    if not isinstance(words, Segmented):
        raise InputError(f"{name}: holds no words; expected segmented text or a column of words")
    return words


def _intervals(cuts: Cuts, level: float) -> tuple[Interval, ...]:
    """Compute the interval of each score at the chosen cuts, clustered by sentence."""
    by_cut = [
        [interval(units, metric, level=level, clustered=True) for metric in METRICS.values()]
        for units in cuts.by_sentence()
    ]
    stacked = []
    for name, cells in zip(METRICS, zip(*by_cut, strict=True), strict=True):
        notes = np.array([one.note for one in cells], dtype=object)
        numbers = ("estimate", "low", "high", "design_effect")
        columns: Any = {own: np.array([getattr(one, own) for one in cells]) for own in numbers}
        columns["note"] = notes if any(notes) else None
        stacked.append(replace(cells[0], metric=name, signature="", **columns))
    return tuple(stacked)


def _best(cuts: Cuts, name: str, shares: Any) -> BestCut:
    everywhere = np.asarray(score(cuts.everywhere, METRICS[name]))
    there = everywhere[cuts.at]
    step, finest = int(np.nanargmax(there)), int(np.nanargmax(everywhere))
    ends = finest / cuts.positions, float(everywhere[finest])
    return BestCut(name, float(shares[step]), float(there[step]), *ends)
