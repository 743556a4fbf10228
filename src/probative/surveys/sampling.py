"""Draw a sample: read the outputs, form strata, allocate the units, draw them, write the files."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple, Unpack

import numpy as np
from scipy import special

from probative._validation import (
    Input,
    Systems,
    accepts_seed,
    columns_of,
    names_of,
    one_of,
    open_probability,
    shown,
    whole_number,
)
from probative.errors import InputError
from probative.files import check_target, create_whole, hold, write_whole
from probative.inference.stratified import sampling_variance, worth_in_random_units
from probative.jobs.score import UNITS, by_name, facts_of_reading
from probative.options import ReadingKeywords, SampleOptions
from probative.reading.inputs import is_path
from probative.results import Sampled, SampledStratum
from probative.surveys.blanks import Blanks, open_blanks
from probative.surveys.design import (
    GOALS,
    Design,
    PoolSource,
    Stratum,
    SystemSource,
    as_text,
    read_design,
)
from probative.surveys.pool import Pool, fingerprint, read_again, read_pool, reading_keywords
from probative.surveys.strata import Expected, draw_numbers, evidence_of, layers_of, numbers_of
from probative.wording.numbers import counted

# --- The files of a sample and its result


class _Asked(NamedTuple):
    """Choices of a sample, beside the pool or the design."""

    outputs: list[Any]
    options: SampleOptions
    names: Sequence[str] | None
    to: Path | str | None
    pilot: Any
    scores: Any
    judge: Any


def _targets_of(to: Path | str, design: Path | None = None) -> dict[str, Path]:
    """Return the paths to write; refuse existing files, except a design that is extended."""
    path = Path(to)
    beside = path.with_name(path.stem + ".design.json") if design is None else design
    for target, what in ((path, "and may be annotated"), (beside, "the design of another sample")):
        check_target(target)
        if target != design and target.exists():
            raise InputError(f"exists already, {what}; expected another file", target)
    return {"sample": path, "design": beside}


def _write_both(content: bytes, design: Design, files: Mapping[str, Path]) -> None:
    """Write the sample and then the design; remove the sample if the design cannot be written."""
    sample_file, design_file = files["sample"], files["design"]
    if not create_whole(sample_file, content):
        raise InputError("exists already, and may be annotated; expected another file", sample_file)
    try:
        if len(design.batches) > 1:
            write_whole(design_file, as_text(design))
        elif not create_whole(design_file, as_text(design)):
            raise InputError("exists already; expected another file", design_file)
    except BaseException:
        sample_file.unlink(missing_ok=True)
        raise


def _finish(
    design: Design,
    expected: Expected,
    options: SampleOptions,
    pool: Pool,
    blanks: Blanks | None,
    files: Mapping[str, Path] | None,
    notes: Sequence[str],
) -> Sampled:
    """Return the result of the last draw, with the expected length of the interval; write files."""
    drawn = [(stratum.size, stratum.spread, stratum.drawn) for stratum in design.strata]
    sizes, spreads, numbers = (np.array(column) for column in zip(*drawn, strict=True))
    weight = sizes * spreads
    share = weight / weight.sum() if weight.sum() > 0 else sizes / sizes.sum()
    variance = sampling_variance(sizes, spreads, numbers)
    at_random = sampling_variance([sizes.sum()], [expected.overall], [design.size])
    reach = 2 * float(special.ndtri(0.5 + options.level / 2)) / expected.scale
    new = design.units.number[design.units.batch == len(design.batches) - 1]
    if files is not None and blanks is not None:
        content = blanks.write(pool.parts_of(new))
        _write_both(content.encode(pool.reading.encoding or "utf-8"), design, files)
    facts = facts_of_reading(pool.matched, pool.reading)
    about = f"by-{design.unit}", f"for-{design.goal}", f"size:{design.size}", design.basis
    return Sampled(
        task=design.task,
        unit=design.unit,
        goal=design.goal,
        systems=design.systems,
        pool=design.pool.units,
        labelled=design.size,
        new=sum(design.batches[-1]),
        strata=tuple(
            SampledStratum(own.name, own.size, own.drawn, more, own.spread, float(part), own.why)
            for own, more, part in zip(design.strata, design.batches[-1], share, strict=True)
        ),
        width=reach * float(np.sqrt(variance)),
        random_width=reach * float(np.sqrt(at_random)),
        worth=worth_in_random_units(variance, expected.overall, design.pool.units),
        level=options.level,
        seed=design.seed,
        units=new,
        files={} if files is None else {name: str(path) for name, path in files.items()},
        notes=tuple(notes),
        signature=options.signature("sample", *facts, *about),
        design=design,
    )


# --- Extending a sample


def _extend_alone(given: Any, asked: _Asked) -> Sampled:
    """Draw more units into a design (an object or its file), and write them."""
    chosen = sorted(asked.options.changed() - {"add", "level"})
    chosen += ["names"] if asked.names is not None else []
    if chosen:
        raise InputError(f"{chosen[0]}: the design determines it; leave it out with add=")
    if isinstance(given, Design):
        return _extend(given, None, asked)
    if not is_path(given):
        raise InputError(f"add: {shown(given)} is no design; expected the file of one")
    read_design(given)  # refuses a damaged design before the lock is taken
    if asked.to is None:
        raise InputError("to: missing; expected a file for the new units")
    real = Path(os.path.realpath(given))
    with hold(real.with_name(f".{real.name}.lock")):  # beside it: it is replaced as a whole
        return _extend(read_design(given), Path(given), asked)


def _extend(old: Design, path: Path | None, asked: _Asked) -> Sampled:
    """Draw more units into a design; the caller holds its lock."""
    add, outputs = int(asked.options.add or 0), asked.outputs
    folder = Path.cwd() if path is None else path.parent
    left = old.pool.units - old.size
    if add > left:
        raise InputError(f"add: {add}; expected at most {left:,}, the {old.unit}s that are left")
    files = None if asked.to is None else _targets_of(asked.to, path)
    pool = read_again(old, folder, outputs=outputs or None, judge=asked.judge, scores=asked.scores)
    evidence, notes = evidence_of(pool, asked.pilot, old.units.number)
    expected = Expected(pool, old.goal, evidence)
    # allocate the units as well as the earlier draws allow
    before = [stratum.drawn for stratum in old.strata]
    looked_at, basis = list(old.strata), old.basis
    if evidence is not None:
        basis = expected.why
        spreads = (expected.spreads(units) for units in old.order)
        both = zip(old.strata, spreads, strict=True)
        looked_at = [replace(own, spread=spread, beside=more) for own, (spread, more) in both]
    keys, sizes = zip(*((stratum.key, stratum.size) for stratum in old.strata), strict=True)
    placing = [float(np.hypot(stratum.spread, stratum.beside)) for stratum in looked_at]
    drawn, least = draw_numbers(keys, sizes, placing, old.size + add, before)
    for place, (own, k, n0, low) in enumerate(zip(looked_at, drawn, before, least, strict=True)):
        if k > n0 or own.why not in ("all", "least"):
            fewest = low if k > n0 else 0
            why = "all" if k == own.size else "least" if k == fewest else basis
            looked_at[place] = replace(own, why=why)
    new = replace(old.extended(drawn - np.array(before), looked_at), basis=basis)
    blanks = None
    if files is not None:
        if old.pool.path is None:
            raise InputError("to: the pool came from Python; leave it out")
        text = folder / old.pool.path
        if fingerprint(text) != old.pool.fingerprint:
            found = "was changed after the sample was drawn; expected it unchanged, or a new sample"
            raise InputError(found, text)
        given = outputs or [None if own.path is None else folder / own.path for own in old.outputs]
        blanks = open_blanks(text, pool, given, old.written.get("keep", ()))
    return _finish(new, expected, replace(asked.options, rng=old.seed), pool, blanks, files, notes)


_FEWEST_UNITS = 2  # the smallest sample that allows a statement


@accepts_seed
def sample(
    pool: Input | Design | None,
    systems: Systems | None = None,
    *more: Input,
    size: int | None = None,
    add: int | None = None,
    goal: str | None = None,
    by: str | None = None,
    names: Sequence[str] | None = None,
    pilot: Input | tuple[Sequence[int], Input] | None = None,
    scores: int | str | Sequence[float] | None = None,
    judge: Input | None = None,
    keep: Sequence[int | str] = (),
    to: Path | str | None = None,
    level: float = 0.95,
    rng: int = 0,
    **reading: Unpack[ReadingKeywords],
) -> Sampled:
    """Choose which units of a large pool to annotate, so that few labels show much.

    Almost all information on two systems lies where they disagree. The units of the pool are
    grouped into strata by what the systems return, and the units to draw are allocated to the
    strata so that the interval of the score or of the difference is shortest. Units are drawn at
    random within each stratum, so that `estimate` is valid for the whole pool.

    Parameters
    ----------
    pool
        The corpus without gold, or one of the outputs: only its text is used. None, or the
        texts, for inputs from Python, which are not written. With `add`, the design of an earlier
        sample, or the path of its file.
    systems, more
        The outputs of one or more systems on the pool: a dictionary by their names, or one after
        the other; none if `columns` names those of a pool that is a table. With `add`, only if
        they have moved or came from Python.
    size
        The number of units to draw.
    add
        The number of further units to draw into the design that is given in place of the pool.
        All units drawn before stay in the sample.
    goal
        The quantity that the sample is optimised for: the "score" of each system, or their
        "difference", which is the default for more than one. With more than two systems, the mean
        of all variances is minimised.
    by
        The kind of unit: sentence, document, unit or item; by default as the outputs suggest.
    names
        The names of the systems; by default those of their files.
    pilot
        Units of the pool that are annotated already, found by their text or ids: they show how
        much units differ. From Python also a pair: indices of units and their annotations. With
        `add`, the sample as far as it is annotated.
    scores
        The column of confidences (from 0 to 1) in the outputs, by name or number; or a number per
        item or token. For labels with a positive class it is the probability of that class, else
        the probability that the label is right.
    judge
        Another output, of a judge or a weak labeller: it shows how much units may differ, and
        shortens the intervals of later estimates.
    keep
        Further columns of the pool that annotators may see. By default only tokens, texts, ids and
        documents are written, since other columns could be the output of a system.
    to
        The file to write the units to; the design is written beside it, as
        ``NAME.design.json``. Existing files are not overwritten.
    level
        The level of the interval whose length is forecast.
    rng
        The seed of the order in which the units of a stratum are drawn.
    **reading
        How to read and match, as for `score`.

    Returns
    -------
    Sampled
        The units, the strata and the expected length of the interval; `design` is the design.

    Examples
    --------
    >>> import probative as pv
    >>> old = [["B-PER", "O"], ["O", "O"], ["O", "B-LOC"], ["O", "O"]] * 50
    >>> new = [["B-PER", "O"], ["O", "O"], ["O", "O"], ["O", "O"]] * 50
    >>> drawn = pv.sample(None, {"old": old, "new": new}, size=40)
    >>> [(stratum.name, stratum.size, stratum.drawn) for stratum in drawn.strata]
    [('nothing returned', 100, 5), ('agreed items only', 50, 8), ('1 item in dispute', 50, 27)]
    >>> more = pv.sample(drawn.design, old, new, add=10)
    >>> more.labelled, more.new
    (50, 10)
    """
    options = SampleOptions.of(
        {
            "size": None if size is None else whole_number("size", size, least=_FEWEST_UNITS),
            "add": None if add is None else whole_number("add", add),
            "goal": None if goal is None else one_of("goal", goal, GOALS),
            "by": None if by is None else one_of("by", by, UNITS),
            "keep": columns_of("keep", list(keep) if isinstance(keep, tuple) else keep),
            "level": open_probability("level", level),
            "rng": whole_number("rng", rng, least=0, most=2**32 - 1),
            **reading,
        },
        beside=("names", "pilot", "scores", "judge", "to"),
    )
    given, names = by_name([s for s in (systems, *more) if s is not None], names)
    names = None if names is None else names_of("names", names)
    asked = _Asked(given, options, names, to, pilot, scores, judge)
    if add is not None:
        return _extend_alone(pool, asked)
    if isinstance(pool, Design):
        raise InputError("add: missing; expected how many units to add to the design")
    # the columns of one table are systems; the pool is the table if no output is given
    columns = [str(column) for column in options.columns]
    given = given or ([pool] if is_path(pool) and columns else [])
    if len(given) == 1 and len(columns) > 1 and is_path(given[0]) and judge is None:
        given, names = given * len(columns), columns if names is None else names
    if not given:
        raise InputError("systems: missing; expected the output of at least one")
    return _draw(pool, asked._replace(outputs=given, names=names))


# --- A new sample


def _draw(corpus: Any, asked: _Asked) -> Sampled:
    """Draw a new sample and write it."""
    outputs, options, judge, scores = asked.outputs, asked.options, asked.judge, asked.scores
    size = options.size
    if size is None:
        raise InputError("size: missing; expected how many units to annotate")
    goal = options.goal or ("score" if len(outputs) == 1 else "difference")
    if goal == "difference" and len(outputs) == 1:
        raise InputError("goal: one system has no difference; expected two, or goal='score'")
    files = None if asked.to is None else _targets_of(asked.to)
    more: dict[str, Any] = {"by": options.by, "scores": scores, "judge": judge}
    pool = read_pool(outputs, reading=options, names=asked.names, **more)
    if size > pool.n_units:
        there = counted(pool.n_units, pool.unit)
        raise InputError(f"size: {size}, but the pool has {there}; expected at most that")
    blanks = _open_corpus(corpus, pool, asked)
    evidence, notes = evidence_of(pool, asked.pilot)
    expected = Expected(pool, goal, evidence)
    layers = layers_of(pool, expected, size)
    drawn, least = numbers_of(layers, expected, size)
    strata = tuple(
        Stratum(
            own.name,
            own.key,
            len(own.units),
            int(k),
            "all" if k == len(own.units) else "least" if k == low else expected.why,
            *expected.spreads(own.units),
        )
        for own, k, low in zip(layers, drawn, least, strict=True)
    )
    folder = Path.cwd() if files is None else files["sample"].parent
    text = outputs[0] if corpus is None else corpus
    design = Design(
        task=pool.task,
        unit=pool.unit,
        goal=goal,
        seed=options.rng,
        pool=PoolSource(
            Path(text).name if is_path(text) else "pool", *_origin(text, folder), pool.n_units
        ),
        outputs=tuple(
            SystemSource(name, *_origin(own, folder))
            for name, own in zip(pool.names, outputs, strict=True)
        ),
        judge=None if judge is None else SystemSource("judge", *_origin(judge, folder)),
        reading=reading_keywords(pool.reading),
        scores=scores if isinstance(scores, (str, int)) else None,
        strata=strata,
        order=tuple(
            np.random.default_rng([options.rng, h]).permutation(own.units).astype(np.int64)
            for h, own in enumerate(layers)
        ),
        batches=(tuple(map(int, drawn)),),
        written={} if blanks is None else {**blanks.written, "keep": list(options.keep)},
        basis=expected.why,
    )
    judged = () if pool.judged is None else pool.judged.notes
    written = () if blanks is None else blanks.notes
    notes = [*dict.fromkeys((*pool.matched.notes, *judged)), *written, *notes]
    return _finish(design, expected, options, pool, blanks, files, notes)


def _open_corpus(corpus: Any, pool: Pool, asked: _Asked) -> Blanks | None:
    """Open the text of the pool, from which units are written; None for inputs from Python."""
    if is_path(corpus):
        return open_blanks(corpus, pool, asked.outputs, asked.options.keep)
    if asked.to is not None:
        raise InputError("to: the pool came from Python; expected the path of a file for it")
    if asked.options.keep:
        raise InputError("keep: the pool came from Python; leave it out")
    parts = len(pool.unit_of_part)
    try:
        number = parts if corpus is None else len(corpus)
    except TypeError:
        raise InputError(f"pool: {shown(corpus)}; expected a path, texts or None") from None
    if number not in (parts, pool.n_units):
        raise InputError(f"pool: {number} texts; expected {parts}, as the outputs have")
    return None


def _origin(data: Any, folder: Path) -> tuple[str | None, str]:
    """Return a path relative to a folder, None for inputs from Python; and the fingerprint."""
    path = None
    if is_path(data):
        try:
            path = Path(os.path.relpath(data, folder)).as_posix()
        except ValueError:  # on another drive
            path = str(Path(data).resolve())
    return path, fingerprint(data)
