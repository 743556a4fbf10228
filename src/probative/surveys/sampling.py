"""From outputs to a sample: read, part into strata, place the units, draw, write."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from probative._validation import names_of, one_of, open_probability, shown, whole_number
from probative.errors import InputError
from probative.files import check_target, create_whole, write_whole
from probative.inference.allocation import sampling_variance, worth_in_random_units
from probative.options import SampleOptions
from probative.reading.inputs import is_path
from probative.results import Sampled, SampledStratum
from probative.surveys.blanks import open_blanks
from probative.surveys.design import (
    GOALS,
    Design,
    PoolSource,
    Stratum,
    SystemSource,
    as_text,
    read_design,
)
from probative.surveys.expectations import expect
from probative.surveys.pilot import evidence_of_judge, evidence_of_pilot
from probative.surveys.pool import fingerprint, read_again, read_pool, reading_keywords
from probative.surveys.strata import draw_numbers, layers_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from probative._types import Input, Systems
    from probative.options import ReadingKeywords
    from probative.surveys.blanks import Blanks
    from probative.surveys.expectations import Expected
    from probative.surveys.pool import Pool

__all__ = ["sample"]

_FEWEST = 2  # units from which anything can be said
_DESIGN = ".design.json"


def sample(
    pool: Input | Design | None,
    systems: Systems | None = None,
    *more: Input,
    size: int | None = None,
    add: int | None = None,
    goal: str | None = None,
    by: str | None = None,
    names: Sequence[str] | None = None,
    pilot: Any = None,
    scores: Any = None,
    judge: Input | None = None,
    keep: Sequence[int | str] = (),
    output: Path | str | None = None,
    level: float = 0.95,
    rng: int = 0,
    **reading: Unpack[ReadingKeywords],
) -> Sampled:
    """Choose which units of a large pool to annotate, so that few labels tell much.

    Almost all information on two systems lies where they disagree. The units of the pool are
    parted into strata by what the systems return, and each stratum gives as many units as make
    the interval of the score or of the difference narrowest. Which units of a stratum these are
    is random, so that what is estimated from them (`estimate`) holds for the whole pool.

    Parameters
    ----------
    pool
        The corpus without answers, or one of the outputs: only its text is used. None, or the
        texts, for inputs from Python, which are not written. With `add`, the design of an earlier
        sample, or the path of its file.
    systems, more
        The outputs of one or more systems on the pool: a dictionary by their names, or one after
        the other. With `add`, only if they are elsewhere now or came from Python.
    size
        How many units to draw.
    add
        How many units to draw besides, into the design that is given in the place of the pool.
        Nothing that was drawn before is given up.
    goal
        What the sample is to tell best: the "score" of each system, or their "difference", which
        is usual for more than one. Of more than two, the mean of all variances is made small.
    by
        What a unit is: sentence, document, unit or item; by default what the outputs tell.
    names
        What the systems are called; by default after their files.
    pilot
        Units of the pool that are annotated already, found by their text or ids: they tell how
        much units differ. From Python also a pair: numbers of units and their annotations. With
        `add`, the sample as far as it is annotated.
    scores
        The column of confidences (from 0 to 1) in the outputs, by name or number; or a number per
        item or token. Of labels with a positive class it is the probability of that class, else
        the probability that the label is right.
    judge
        Another output, of a judge or a weak labeller: tells how much units may differ, and
        sharpens what is estimated later.
    keep
        Further columns of the pool that annotators may see. Only tokens, texts, ids and documents
        are written else: anything more could be what a system says.
    output
        The file to write the units to; the design is written beside it, as
        ``NAME.design.json``. No file that is there is written over.
    level
        The level of the interval whose width is foretold.
    rng
        The seed of the order in which the units of a stratum are drawn.
    **reading
        How to read and match, as for `score`.

    Returns
    -------
    Sampled
        The units, the strata, and what is to be expected of them; `design` is the design.

    Examples
    --------
    >>> import probative as pv
    >>> old = [["B-PER", "O"], ["O", "O"], ["O", "B-LOC"], ["O", "O"]] * 50
    >>> new = [["B-PER", "O"], ["O", "O"], ["O", "O"], ["O", "O"]] * 50
    >>> drawn = pv.sample(None, {"old": old, "new": new}, size=40)
    >>> [(stratum.name, stratum.size, stratum.drawn) for stratum in drawn.strata]
    [('nothing returned', 100, 5), ('agreed items only', 50, 7), ('1 item in dispute', 50, 28)]
    >>> more = pv.sample(drawn.design, old, new, add=10)
    >>> more.labelled, more.new
    (50, 10)
    """
    options = SampleOptions.of(
        {
            "size": size,
            "add": add,
            "goal": goal,
            "by": by,
            "keep": keep,
            "level": open_probability("level", level),
            "rng": whole_number("rng", rng, least=0, most=2**32 - 1),
            **reading,
        },
        beside=("names", "pilot", "scores", "judge", "output"),
    )
    given, names = _by_name([s for s in (systems, *more) if s is not None], names)
    third = _Third(pilot, scores, judge)
    if add is not None:
        return _extend(pool, given, options, third, names, output)
    if isinstance(pool, Design):
        raise InputError("add: missing; expected how many units to add to the design")
    if not given:
        raise InputError("systems: missing; expected the output of at least one")
    return _draw(pool, given, options, third, names, output)


@dataclass(frozen=True, eq=False)
class _Third:
    """What else is said of the units of the pool."""

    pilot: Any
    scores: Any
    judge: Any


def _by_name(systems: list[Any], names: Any) -> tuple[list[Any], tuple[str, ...] | None]:
    """The outputs and what they are called."""
    if len(systems) == 1 and isinstance(systems[0], dict):
        if names is not None:
            raise InputError("names: the systems have names already; expected none")
        return list(systems[0].values()), tuple(map(str, systems[0]))
    return systems, None if names is None else names_of("names", names)


# --- a new sample -----------------------------------------------------------------------------


def _draw(
    corpus: Any,
    outputs: list[Any],
    options: SampleOptions,
    third: _Third,
    names: Sequence[str] | None,
    output: Path | str | None,
) -> Sampled:
    size = whole_number("size", options.size, least=_FEWEST) if options.size is not None else None
    if size is None:
        raise InputError("size: missing; expected how many units to annotate")
    goal = _goal(options.goal, len(outputs))
    files = None if output is None else _targets(output)
    pool = read_pool(
        outputs,
        reading=options,
        names=names,
        by=options.by,
        scores=third.scores,
        judge=third.judge,
    )
    if size > pool.n_units:
        raise InputError(
            f"size: {size}, but the pool has {pool.n_units:,} {pool.unit}s; expected at most that"
        )
    blanks = _open_corpus(corpus, pool, outputs, options.keep, output)
    notes: list[str] = []
    evidence = evidence_of_judge(pool)
    if third.pilot is not None:
        evidence, notes = evidence_of_pilot(pool, third.pilot)
    expected = expect(pool, goal, evidence)
    layers = layers_of(pool, expected, size)
    sizes, spreads = [len(own.units) for own in layers], [expected.spread(o.units) for o in layers]
    drawn, least = draw_numbers([own.key for own in layers], sizes, spreads, size)
    strata = tuple(
        Stratum(own.name, own.key, n, int(k), _why(n, int(k), int(low), expected.why), s)
        for own, n, k, low, s in zip(layers, sizes, drawn, least, spreads, strict=True)
    )
    folder = Path.cwd() if files is None else files["sample"].parent
    design = Design(
        task=pool.task,
        unit=pool.unit,
        goal=goal,
        seed=options.rng,
        pool=_pool_source(corpus, outputs, pool, folder),
        outputs=tuple(
            SystemSource(name, _relative(own, folder), fingerprint(own))
            for name, own in zip(pool.names, outputs, strict=True)
        ),
        judge=None
        if third.judge is None
        else SystemSource("judge", _relative(third.judge, folder), fingerprint(third.judge)),
        reading=reading_keywords(pool.reading),
        scores=third.scores if isinstance(third.scores, (str, int)) else None,
        strata=strata,
        order=tuple(_shuffled(own.units, options.rng, h) for h, own in enumerate(layers)),
        batches=(tuple(map(int, drawn)),),
        written={} if blanks is None else {**blanks.written, "keep": list(options.keep)},
    )
    told = _told(design, expected, options, files, [*_own_notes(pool, blanks), *notes])
    if files is not None and blanks is not None:
        _write_both(blanks.write(pool.parts_of(told.units)), design, files)
    return told


def _goal(goal: str | None, n_systems: int) -> str:
    if goal is None:
        return "score" if n_systems == 1 else "difference"
    if one_of("goal", goal, GOALS) == "difference" and n_systems == 1:
        raise InputError("goal: one system has no difference; expected two, or goal='score'")
    return goal


def _open_corpus(
    corpus: Any, pool: Pool, outputs: list[Any], keep: Sequence[int | str], output: Any
) -> Blanks | None:
    """The text of the pool, from which units are written; None for what came from Python."""
    if is_path(corpus):
        return open_blanks(corpus, pool, outputs, keep)
    if output is not None:
        raise InputError("output: the pool came from Python; expected the path of a file for it")
    if keep:
        raise InputError("keep: the pool came from Python; expected it left out")
    if corpus is not None:
        try:
            number = len(corpus)
        except TypeError:
            raise InputError(f"pool: {shown(corpus)}; expected a path, texts or None") from None
        if number not in (len(pool.unit_of_part), pool.n_units):
            raise InputError(
                f"pool: {number} texts, but the outputs have {len(pool.unit_of_part)}; expected as "
                f"many"
            )
    return None


def _pool_source(corpus: Any, outputs: list[Any], pool: Pool, folder: Path) -> PoolSource:
    data = outputs[0] if corpus is None else corpus
    name = Path(data).name if is_path(data) else "pool"
    return PoolSource(name, _relative(data, folder), fingerprint(data), pool.n_units)


def _relative(data: Any, folder: Path) -> str | None:
    """A path as it is seen from a folder; None for what is no path."""
    if not is_path(data):
        return None
    try:
        return Path(os.path.relpath(data, folder)).as_posix()
    except ValueError:  # on another drive
        return str(Path(data).resolve())


def _shuffled(units: Any, seed: int, stratum: int) -> Any:
    """The order in which the units of a stratum are drawn."""
    return np.random.default_rng([seed, stratum]).permutation(units).astype(np.int64)


def _why(size: int, drawn: int, least: int, why: str) -> str:
    if drawn == size:
        return "all"
    return "least" if drawn == least else why


def _own_notes(pool: Pool, blanks: Blanks | None) -> list[str]:
    """What is to be said of the reading; that an output is the answer itself is not true here."""
    told = [note for note in pool.matched.notes if "is the answer itself" not in note]
    kept = getattr(blanks, "notes", ())
    return [*dict.fromkeys(told), *kept]


# --- more units for a sample ------------------------------------------------------------------


def _extend(
    given: Any,
    outputs: list[Any],
    options: SampleOptions,
    third: _Third,
    names: Sequence[str] | None,
    output: Path | str | None,
) -> Sampled:
    _refuse_with_add(options, names)
    add = whole_number("add", options.add)
    if not (isinstance(given, Design) or is_path(given)):
        raise InputError(f"add: {shown(given)} is no design; expected the file of one")
    path = None if isinstance(given, Design) else Path(given)
    old = given if isinstance(given, Design) else read_design(given)
    if path is not None and output is None:
        raise InputError("output: missing; expected a file for the new units")
    folder = Path.cwd() if path is None else path.parent
    left = old.pool.units - old.size
    if add > left:
        raise InputError(
            f"add: {add}, but {left:,} of the {old.pool.units:,} {old.unit}s are left; expected at "
            f"most that"
        )
    files = None if output is None else _targets(output, path)
    pool = read_again(old, folder, outputs=outputs or None, judge=third.judge, scores=third.scores)
    notes: list[str] = []
    evidence = evidence_of_judge(pool)
    if third.pilot is not None:
        evidence, notes = evidence_of_pilot(pool, third.pilot, old.units.number)
    expected = expect(pool, old.goal, evidence)
    new = _extended(old, expected, add)
    blanks = None
    if files is not None:
        blanks = _same_corpus(old, pool, folder, outputs)
    told = _told(new, expected, replace(options, rng=old.seed), files, notes)
    if files is not None and blanks is not None:
        _write_both(blanks.write(pool.parts_of(told.units)), new, files)
    return told


def _refuse_with_add(options: SampleOptions, names: Sequence[str] | None) -> None:
    """The choices that a design has made already cannot be made again."""
    usual = SampleOptions(add=options.add, level=options.level)
    chosen = [name for name, value in vars(options).items() if value != getattr(usual, name)]
    chosen += ["names"] if names is not None else []
    if chosen:
        raise InputError(
            f"{chosen[0]}: the design has settled it; expected it left out beside add="
        )


def _extended(old: Design, expected: Expected, add: int) -> Design:
    """The design with so many more units, placed as well as what is drawn already allows."""
    sizes = [stratum.size for stratum in old.strata]
    before = [stratum.drawn for stratum in old.strata]
    spreads = [expected.spread(units) for units in old.order]
    keys = [stratum.key for stratum in old.strata]
    drawn, least = draw_numbers(keys, sizes, spreads, old.size + add, before)
    looked_at = [
        replace(
            own,
            spread=spread,
            why=own.why if k == n0 else _why(own.size, int(k), int(low), expected.why),
        )
        for own, spread, k, n0, low in zip(old.strata, spreads, drawn, before, least, strict=True)
    ]
    return old.extended(drawn - np.array(before), looked_at)


def _same_corpus(old: Design, pool: Pool, folder: Path, outputs: list[Any]) -> Blanks:
    """The text of the pool of a design, if it is still what it was."""
    if old.pool.path is None:
        raise InputError("output: the pool came from Python; expected it left out")
    path = folder / old.pool.path
    if fingerprint(path) != old.pool.fingerprint:
        raise InputError(
            "is not what it was when the sample was drawn; expected the same pool, or a new sample",
            path,
        )
    of_design = [None if own.path is None else folder / own.path for own in old.outputs]
    return open_blanks(path, pool, outputs or of_design, old.written.get("keep", ()))


# --- files, and what is told ------------------------------------------------------------------


def _targets(output: Path | str, design: Path | None = None) -> dict[str, Path]:
    """The files that will be written, none of which is there yet, but a design to be extended."""
    path = Path(output)
    beside = path.with_name(path.stem + _DESIGN) if design is None else design
    for target in (path, *(() if design is not None else (beside,))):
        check_target(target)
        if target.exists():
            raise InputError(
                "is there already, and may be annotated; expected another file for the sample",
                target,
            )
    if design is not None:
        check_target(design)
    return {"sample": path, "design": beside}


def _write_both(content: str, design: Design, files: Mapping[str, Path]) -> None:
    """Write the units and then the design; without the one the other is not left, either."""
    sample_file, design_file = files["sample"], files["design"]
    if not create_whole(sample_file, content):
        raise InputError(
            "is there already, and may be annotated; expected another file for the sample",
            sample_file,
        )
    try:
        if len(design.batches) > 1:
            write_whole(design_file, as_text(design))
        elif not create_whole(design_file, as_text(design)):
            raise InputError("is there already; expected another file", design_file)
    except BaseException:
        sample_file.unlink(missing_ok=True)
        raise


def _told(
    design: Design,
    expected: Expected,
    options: SampleOptions,
    files: Mapping[str, Path] | None,
    notes: Sequence[str],
) -> Sampled:
    sizes = [own.size for own in design.strata]
    spreads = [own.spread for own in design.strata]
    numbers = [own.drawn for own in design.strata]
    weight = np.array(sizes) * np.array(spreads)
    share = weight / weight.sum() if weight.sum() > 0 else np.array(sizes) / sum(sizes)
    variance = sampling_variance(sizes, spreads, numbers)
    at_random = sampling_variance([sum(sizes)], [expected.overall], [design.size])
    reach = 2 * _normal_quantile(options.level) / expected.scale
    units = design.units
    last = len(design.batches) - 1
    signature = options.signature(
        "sample",
        design.task,
        f"by-{design.unit}",
        f"for-{design.goal}",
        f"size:{design.size}",
        expected.why,
    )
    return Sampled(
        task=design.task,
        unit=design.unit,
        goal=design.goal,
        systems=design.systems,
        pool=design.pool.units,
        labelled=design.size,
        new=sum(design.batches[-1]),
        strata=tuple(
            SampledStratum(own.name, own.size, own.drawn, new, own.spread, float(part), own.why)
            for own, new, part in zip(design.strata, design.batches[-1], share, strict=True)
        ),
        width=reach * float(np.sqrt(variance)),
        random_width=reach * float(np.sqrt(at_random)),
        worth=worth_in_random_units(variance, expected.overall, design.pool.units),
        level=options.level,
        seed=design.seed,
        units=units.number[units.batch == last],
        files={} if files is None else {name: str(path) for name, path in files.items()},
        notes=tuple(notes),
        signature=signature,
        design=design,
    )


def _normal_quantile(level: float) -> float:
    from scipy.special import ndtri

    return float(ndtri(0.5 + level / 2))
