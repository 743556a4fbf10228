"""May I stop? Looks at a sample of a pool while it is being annotated."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from probative._validation import open_probability, positive, whole_number
from probative.errors import InputError
from probative.inference.sequential import LabelledUnits, order_of_drawing, stratified_looks
from probative.jobs.score import compared_metrics, scored_as
from probative.options import WatchOptions
from probative.results import Look, Looks
from probative.surveys.annotated import read_draws, say_what_is_out
from probative.surveys.design import open_design
from probative.surveys.pool import outputs_of, read_again

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from probative._validation import Input, Ints
    from probative.surveys.design import Design

__all__ = ["watch"]

_LOOKS = 10  # at the units of the first draw, unless others are asked for


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
    """Look at a sample of a pool while it is being annotated: is it decided, may I stop?

    Parameters
    ----------
    design
        The design of the sample of one system or two, or the path of its file.
    annotated
        The annotated units: of every draw of the design that is done, in one input or several.
        A draw is there whole or not at all.
    systems
        The outputs, where they are elsewhere now or came from Python; else those of the design.
    metric, beta
        The score, a ratio of two sums over units; by default the usual one of the task.
    level
        With this probability the limits hold at every look, and 1 - level bounds the probability
        that the test ever decides between exchangeable systems.
    every
        After how many units somebody looks, and after every draw: by default a tenth of the first.
        Within a draw units are looked at in the order of drawing, which is random.
    planned
        How many units would be labelled if nothing were decided before; limits are tightest there.
        By default those of the first draw. Keep it from look to look.

    Returns
    -------
    Looks
        A `Look` after so many units each, and what the last one says.

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
    own, folder = open_design(design)
    if len(own.outputs) > 2:
        raise InputError(
            f"design: {len(own.outputs)} systems; expected one, or two that are compared"
        )
    pool = read_again(own, folder, outputs=outputs_of(systems, own))
    done, found = read_draws(own, pool, annotated)
    name, *others = compared_metrics(found.matched, metric, "micro")
    if others:
        raise InputError(f"metric: {1 + len(others)} scores; expected one, which decides")
    units = own.units
    rows = np.flatnonzero(units.batch < done)
    first = np.array(own.batches[0])
    step = -(-int(first.sum()) // _LOOKS) if every is None else whole_number("every", every)
    order, ends = _in_order(own, rows, step)
    if planned is not None:
        first = first * (whole_number("planned", planned) / first.sum())
    labelled = LabelledUnits(
        tuple(counts[order] for counts in found.counts),
        units.number[order],
        units.stratum[order],
        np.array([stratum.size for stratum in own.strata]),
        _mirrors(own),
        pool.disputed[units.number[order]] if len(own.outputs) == 2 else None,
    )
    looked = stratified_looks(
        labelled,
        ends,
        first,
        metric=scored_as(found.matched, name),
        level=level,
        beta=beta,
        by=own.unit,
    )
    signature = options.signature(
        "watch",
        own.task,
        name,
        f"by-{own.unit}",
        f"every:{step}",
        f"planned:{round(float(first.sum()))}",
    )
    if len(own.outputs) == 2 and not pool.only(0, 1).any() and not pool.only(1, 0).any():
        looked = map(_without_doubt, looked)
    return Looks(
        tuple(replace(look, metric=name, signature=signature) for look in looked),
        a=own.systems[0],
        b=own.systems[1] if len(own.outputs) == 2 else None,
        notes=(*found.notes, *say_what_is_out(own, done), *_notes_of_judge(own)),
        signature=signature,
    )


def _in_order(design: Design, rows: Ints, step: int) -> tuple[Ints, list[int]]:
    """The rows of the drawn units in the order of drawing, and after how many one looks."""
    units = design.units
    rank = np.empty(design.pool.units, dtype=np.int64)
    for own in design.order:
        rank[own] = np.arange(len(own))
    parts: list[Ints] = []
    ends: list[int] = []
    before = 0
    for batch in np.unique(units.batch[rows]):
        own = rows[units.batch[rows] == batch]
        stratum, place = units.stratum[own], rank[units.number[own]]
        _, inverse = np.unique(stratum, return_inverse=True)
        lowest = np.full(inverse.max() + 1, np.iinfo(np.int64).max)
        np.minimum.at(lowest, inverse, place)
        parts.append(own[order_of_drawing(inverse, place - lowest[inverse])])
        after = before + len(own)
        ends += [*range(before + step, after, step), after]
        before = after
    return np.concatenate(parts), ends


def _without_doubt(look: Look) -> Look:
    """What is known of identical outputs, whatever the labels are."""
    return replace(look, estimate=0.0, low=0.0, high=0.0, more=None, note=None)


def _mirrors(design: Design) -> Ints:
    """The mirror image of every stratum: the other one that has its key."""
    keys = [stratum.key for stratum in design.strata]
    mirror = np.arange(len(keys))
    for place, key in enumerate(keys):
        others = [other for other, own in enumerate(keys) if own == key]
        if len(others) > 2:
            raise InputError(f"design: {len(others)} strata have the key {key!r}; expected two")
        mirror[place] = sum(others) - place if len(others) == 2 else place
    return mirror


def _notes_of_judge(design: Design) -> list[str]:
    if design.judge is None:
        return []
    return ["what the judge says is not used here: it sharpens the estimate at the end"]
