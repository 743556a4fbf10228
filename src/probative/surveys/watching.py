"""Check a sample of a pool at any time while it is being annotated."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from probative._validation import Input, Ints, open_probability, positive, whole_number
from probative.errors import InputError
from probative.inference.sequential import LabelledUnits, order_of_drawing, stratified_looks
from probative.jobs.score import compared_metrics, scored_as
from probative.options import WatchOptions
from probative.results import Looks
from probative.surveys.blanks import read_draws
from probative.surveys.design import Design, open_design
from probative.surveys.pool import read_again

_LOOKS_PER_FIRST_DRAW = 10  # default number of looks at the units of the first draw


def watch(
    design: Design | Path | str,
    *annotated: Input,
    systems: Mapping[str, Input] | Sequence[Input] | None = None,
    metric: str | None = None,
    level: float = 0.95,
    beta: float = 1.0,
    every: int | None = None,
    planned: int | None = None,
) -> Looks:
    """Estimate a sample of a pool at several looks while it is being annotated.

    Each look shows whether the comparison is decided, so that annotation may stop.

    Parameters
    ----------
    design
        The design of the sample of one system or two, or the path of its file.
    annotated
        The annotated units of every draw of the design that is done, in one input or several.
        Each draw must be complete or absent.
    systems
        The outputs, if they have moved or came from Python; else those of the design.
    metric, beta
        The score, a ratio of two sums over units; by default the usual one of the task.
    level
        With this probability the interval contains the true value at every look; 1 - level bounds
        the probability that the test ever decides between exchangeable systems.
    every
        The number of units between looks; there is also a look after every draw. The default is a
        tenth of the first draw. Within a draw units are taken in the random order of drawing.
    planned
        The number of units that would be labelled if nothing were decided before; intervals are
        tightest there. The default is the first draw. Use the same number at every look.

    Returns
    -------
    Looks
        One `Look` after each number of units; `last` is the last one.

    Examples
    --------
    >>> import probative as pv
    >>> gold = [["B-PER", "O"], ["O", "O"], ["O", "B-LOC"], ["B-LOC", "O"]] * 50
    >>> old = [["B-PER", "O"], ["O", "O"], ["O", "O"], ["O", "O"]] * 50
    >>> new = [["B-PER", "O"], ["O", "O"], ["O", "B-LOC"], ["O", "O"]] * 50
    >>> drawn = pv.sample(None, {"old": old, "new": new}, size=80)
    >>> looks = pv.watch(drawn.design, [gold[i] for i in drawn.units], systems=[old, new])
    >>> looks.last.units, looks.last.decided
    (80, 'b')
    """
    options = WatchOptions.of(
        {"metric": metric, "level": level, "beta": beta, "every": every, "planned": planned},
        beside=("systems",),
    )
    open_probability("level", level)
    positive("beta", beta)
    opened, folder = open_design(design)
    if len(opened.outputs) > 2:
        raise InputError(f"design: {len(opened.outputs)} systems; expected one, or two")
    pool = read_again(opened, folder, outputs=systems)
    done, answers = read_draws(opened, pool, annotated)
    name, *others = compared_metrics(answers.matched, metric, "micro")
    if others:
        raise InputError(f"metric: {1 + len(others)} scores; expected one, which decides")
    units = opened.units
    first = np.array(opened.batches[0])
    usual = -(-int(first.sum()) // _LOOKS_PER_FIRST_DRAW)
    step = usual if every is None else whole_number("every", every)
    order, ends = _in_order(opened, done, step)
    if planned is not None:
        first = first * (whole_number("planned", planned) / first.sum())
    labelled = LabelledUnits(
        tuple(counts[order] for counts in answers.counts),
        units.number[order],
        units.stratum[order],
        np.array([stratum.size for stratum in opened.strata]),
        _mirrors(opened),
        pool.disputed[units.number[order]] if len(opened.outputs) == 2 else None,
    )
    as_scored = scored_as(answers.matched, name)
    looked = stratified_looks(
        labelled, ends, first, metric=as_scored, level=level, beta=beta, by=opened.unit
    )
    about = f"by-{opened.unit}", f"every:{step}", f"planned:{round(float(first.sum()))}"
    signature = options.signature("watch", opened.task, name, *about)
    if len(opened.outputs) == 2 and pool.is_same(0, 1):
        # the difference of identical outputs is 0, whatever the labels are
        zero: dict[str, Any] = {"estimate": 0.0, "low": 0.0, "high": 0.0}
        looked = (replace(look, **zero, more=None, note=None) for look in looked)
    judge = "the judge is not used here; `estimate` uses it at the end"
    unused = [] if opened.judge is None else [judge]
    return Looks(
        tuple(replace(look, metric=name, signature=signature) for look in looked),
        a=opened.systems[0],
        b=opened.systems[1] if len(opened.outputs) == 2 else None,
        notes=(*answers.notes, *unused),
        signature=signature,
    )


def _in_order(design: Design, done: int, step: int) -> tuple[Ints, list[int]]:
    """Return the rows of the drawn units in the order of drawing, and the ends of the looks."""
    units = design.units
    rank = np.empty(design.pool.units, dtype=np.int64)
    for members in design.order:
        rank[members] = np.arange(len(members))
    parts: list[Ints] = []
    ends: list[int] = []
    before = 0
    for batch in np.unique(units.batch[units.batch < done]):
        members = np.flatnonzero(units.batch == batch)
        stratum, place = units.stratum[members], rank[units.number[members]]
        _, inverse = np.unique(stratum, return_inverse=True)
        lowest = np.full(inverse.max() + 1, np.iinfo(np.int64).max)
        np.minimum.at(lowest, inverse, place)
        parts.append(members[order_of_drawing(inverse, place - lowest[inverse])])
        after = before + len(members)
        ends += [*range(before + step, after, step), after]
        before = after
    return np.concatenate(parts), ends


def _mirrors(design: Design) -> Ints:
    """Return the mirror image of every stratum: the other stratum with the same key, or itself."""
    keys = [stratum.key for stratum in design.strata]
    mirror = np.arange(len(keys))
    for place, key in enumerate(keys):
        others = [other for other, other_key in enumerate(keys) if other_key == key]
        if len(others) > 2:
            raise InputError(f"design: {len(others)} strata have the key {key!r}; expected two")
        mirror[place] = sum(others) - place if len(others) == 2 else place
    return mirror
