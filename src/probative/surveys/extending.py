"""More units for a sample: nothing that was drawn before is given up."""

from __future__ import annotations

import os
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from probative._validation import shown
from probative.errors import InputError
from probative.ledger_files import open_locked
from probative.options import SampleOptions
from probative.reading.inputs import is_path
from probative.surveys.blanks import encoded, open_blanks
from probative.surveys.design import Design, read_design
from probative.surveys.expectations import expect
from probative.surveys.fingerprints import fingerprint
from probative.surveys.pilot import evidence_of_judge, evidence_of_pilot
from probative.surveys.pool import read_again
from probative.surveys.strata import draw_numbers
from probative.surveys.telling import reason_of, targets_of, tell, write_both

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from probative.results import Sampled
    from probative.surveys.blanks import Blanks
    from probative.surveys.expectations import Expected
    from probative.surveys.pool import Pool
    from probative.surveys.telling import Opinions

__all__ = ["extend"]


def extend(
    given: Any,
    outputs: list[Any],
    options: SampleOptions,
    third: Opinions,
    names: Sequence[str] | None,
    to: Path | str | None,
) -> Sampled:
    """Draw more units into a design, and write them.

    Parameters
    ----------
    given
        The design, or the path of its file.
    outputs
        The outputs, where they are elsewhere now or came from Python; else empty.
    options
        How many to add, and for which level the width is foretold.
    third
        What else is said of the units: a pilot, confidences, a judge.
    names
        Nothing: the systems have names.
    to
        The file for the new units.
    """
    _refuse_with_add(options, names)
    if not (isinstance(given, Design) or is_path(given)):
        raise InputError(f"add: {shown(given)} is no design; expected the file of one")
    if isinstance(given, Design):
        return _extend(given, None, outputs, options, third, to)
    if to is None:
        read_design(given)
        raise InputError("to: missing; expected a file for the new units")
    with _alone(Path(given)):
        return _extend(read_design(given), Path(given), outputs, options, third, to)


@contextmanager
def _alone(design: Path) -> Iterator[None]:
    """Wait until nobody else extends this design, and keep others waiting.

    What is locked lies beside the design, which is replaced as a whole.
    """
    read_design(design)  # says itself what is wrong with it
    real = Path(os.path.realpath(design))
    place = real.with_name(f".{real.name}.lock")
    while True:
        with open_locked(place) as file:
            if _is_still(place, file):  # whoever had it before has removed it
                try:
                    yield
                finally:
                    with suppress(PermissionError):  # Windows removes no open file
                        place.unlink(missing_ok=True)  # before anybody else can have it
                return


def _is_still(place: Path, file: IO[bytes]) -> bool:
    try:
        return os.path.samestat(os.fstat(file.fileno()), place.stat())
    except FileNotFoundError:
        return False


def _extend(
    old: Design,
    path: Path | None,
    outputs: list[Any],
    options: SampleOptions,
    third: Opinions,
    to: Path | str | None,
) -> Sampled:
    """Draw more units into a design that nobody else is extending."""
    add = int(options.add or 0)
    folder = Path.cwd() if path is None else path.parent
    left = old.pool.units - old.size
    if add > left:
        raise InputError(
            f"add: {add}, but {left:,} of the {old.pool.units:,} {old.unit}s are left; expected at "
            f"most that"
        )
    files = None if to is None else targets_of(to, path)
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
    told = tell(new, expected, replace(options, rng=old.seed), pool.facts, files, notes)
    if files is not None and blanks is not None:
        write_both(encoded(blanks, pool, told.units), new, files)
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
    looked_at, basis = list(old.strata), old.basis
    if expected.evidence is not None:
        basis = expected.why
        looked_at = [
            replace(own, spread=expected.spread(units), beside=expected.beside(units))
            for own, units in zip(old.strata, old.order, strict=True)
        ]
    keys = [stratum.key for stratum in old.strata]
    placing = [float(np.hypot(own.spread, own.beside)) for own in looked_at]
    drawn, least = draw_numbers(keys, sizes, placing, old.size + add, before)
    looked_at = [
        own
        if k == n0 and own.why in ("all", "least")
        else replace(own, why=reason_of(own.size, int(k), 0 if k == n0 else int(low), basis))
        for own, k, n0, low in zip(looked_at, drawn, before, least, strict=True)
    ]
    return replace(old.extended(drawn - np.array(before), looked_at), basis=basis)


def _same_corpus(old: Design, pool: Pool, folder: Path, outputs: list[Any]) -> Blanks:
    """The text of the pool of a design, if it is still what it was."""
    if old.pool.path is None:
        raise InputError("to: the pool came from Python; expected it left out")
    path = folder / old.pool.path
    if fingerprint(path) != old.pool.fingerprint:
        raise InputError(
            "is not what it was when the sample was drawn; expected the same pool, or a new sample",
            path,
        )
    of_design = [None if own.path is None else folder / own.path for own in old.outputs]
    return open_blanks(path, pool, outputs or of_design, old.written.get("keep", ()))
