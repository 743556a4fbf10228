"""``probative sample``, ``estimate`` and ``watch``: score a large pool from few labels."""

from __future__ import annotations

import os
from pathlib import Path

from probative.cli.options import JUDGE, NAMES, GateOptions, argument, column, tell_verdicts
from probative.cli.options import judge as judge_release
from probative.cli.output import Drawn, Output
from probative.errors import InputError
from probative.options import OUTPUT, EstimateOptions, SampleOptions, WatchOptions, choice

_DESIGN = argument("DESIGN", "The design of a sample: NAME.design.json.")


def sample(
    files: list[str] = argument(
        "POOL A [B...]",
        "The corpus (or one of the outputs: only its text is used) and the outputs of systems on "
        "it (FILE or NAME=FILE); none, where --columns names those of a table. With --add, the "
        "file of a design.",
        several=True,
    ),
    to: Path = choice(
        "--output -o NEW: A new file for the units; the design is written beside it, as "
        "NAME.design.json.",
        heading=OUTPUT,
        parser="Path",
        required=True,
    ),
    *,
    given: SampleOptions,
    names: tuple[str, ...] | None = NAMES(None),
    pilot: str | None = choice(
        "FILE: Units of the pool that are annotated already; they show how much units differ."
    ),
    scores: int | str | None = choice(
        "COLUMN: The column of confidences, from 0 to 1, in the outputs.", parser=column
    ),
    judge: str | None = JUDGE(None),
    explain: bool = choice("Show the strata, how many are drawn, and why.", False),
    out: Output,
) -> None:
    """Example: probative sample old.conll old.conll new.conll --size 200 -o sample.conll

    Later: probative sample --add 100 sample.design.json -o more.conll
    """
    from probative.cli.inputs import named_systems
    from probative.reporting.survey_report import sample_document
    from probative.surveys.sampling import sample as draw

    pool, *words = files
    design = to.with_name(f"{to.stem}.design.json") if given.add is None else Path(pool)
    if out.html is not None and os.path.realpath(out.html) == os.path.realpath(design):
        raise InputError("is the design; expected another file for --html", out.html)
    if not words and given.add is None and not given.columns:
        raise InputError("A: missing; expected the output of a system beside the pool")
    systems, called, remarks = named_systems(words, names)
    drawn = draw(
        pool, *systems, names=called, pilot=pilot, scores=scores, judge=judge, to=to, **vars(given)
    )
    out.remark(*remarks, *drawn.notes)
    out.remark(*(f"wrote {path}" for path in drawn.files.values()))
    # without strata, a page would show no more than the line
    out.emit(sample_document(drawn, explain=explain or out.html is not None))


def estimate(
    design: str = _DESIGN,
    annotated: list[str] = argument(
        "ANNOTATED...",
        "The annotated sample; of a design that was extended, all files of it.",
        several=True,
    ),
    *,
    given: EstimateOptions,
    judge: str | None = JUDGE(None),
    gates: GateOptions,
    out: Output,
) -> int:
    """Example: probative estimate sample.design.json sample.conll

    Extended: probative estimate sample.design.json sample.conll more.conll
    """
    from probative.reporting.survey_report import estimate_document
    from probative.surveys.estimating import estimate as project

    gate = gates.requested()
    found = project(design, *annotated, judge=judge, **vars(given))
    out.remark(*found.notes)
    if gate and not found.comparisons:
        raise InputError(f"--{gate['kind']}: there is one system; expected two to compare")
    verdicts = judge_release(found.comparisons, gate)
    out.emit(estimate_document(found, gates=verdicts))
    return tell_verdicts(verdicts)


def watch(
    design: str = _DESIGN,
    annotated: list[str] = argument(
        "ANNOTATED...",
        "The annotated units of its draws, in one file or several; of each draw all or none.",
        several=True,
    ),
    *,
    given: WatchOptions,
    out: Drawn,
) -> None:
    """Example: probative watch sample.design.json sample.conll --html watch.html

    Later: probative watch sample.design.json sample.conll more.conll
    """
    from probative.reporting.survey_report import looks_figure, watch_document
    from probative.surveys.watching import watch as look

    looks = look(design, *annotated, **vars(given))
    out.remark(*looks.notes)
    out.emit(watch_document(looks), lambda: looks_figure(looks))
