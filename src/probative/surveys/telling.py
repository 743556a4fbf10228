"""What a sample comes to: its two files, and what is told of it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from probative.errors import InputError
from probative.files import check_target, create_whole, write_whole
from probative.inference.allocation import sampling_variance, worth_in_random_units
from probative.results import Sampled, SampledStratum
from probative.surveys.design import as_text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from probative.options import SampleOptions
    from probative.surveys.design import Design
    from probative.surveys.expectations import Expected

__all__ = ["Opinions", "reason_of", "targets_of", "tell", "write_both"]

_DESIGN = ".design.json"


@dataclass(frozen=True, eq=False)
class Opinions:
    """What else is said of the units of the pool."""

    pilot: Any
    scores: Any
    judge: Any


def reason_of(size: int, drawn: int, least: int, why: str) -> str:
    """Why a stratum gives so many units."""
    if drawn == size:
        return "all"
    return "least" if drawn == least else why


def targets_of(to: Path | str, design: Path | None = None) -> dict[str, Path]:
    """The files that will be written, none of which is there yet, but a design to be extended."""
    path = Path(to)
    beside = path.with_name(path.stem + _DESIGN) if design is None else design
    for target in (path, *(() if design is not None else (beside,))):
        check_target(target)
        if target.exists():
            what = "and may be annotated" if target == path else "the design of another sample"
            raise InputError(
                f"is there already, {what}; expected another file for the sample", target
            )
    if design is not None:
        check_target(design)
    return {"sample": path, "design": beside}


def write_both(content: bytes, design: Design, files: Mapping[str, Path]) -> None:
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


def tell(
    design: Design,
    expected: Expected,
    options: SampleOptions,
    facts: Sequence[str],
    files: Mapping[str, Path] | None,
    notes: Sequence[str],
) -> Sampled:
    """What was drawn last, and what is to be expected of the sample.

    Parameters
    ----------
    design
        The design.
    expected
        What is expected of every unit.
    options, facts
        The choices, and what came of them.
    files
        What is written; None for nothing.
    notes
        What is to be said besides.
    """
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
        *facts,
        f"by-{design.unit}",
        f"for-{design.goal}",
        f"size:{design.size}",
        design.basis,
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
