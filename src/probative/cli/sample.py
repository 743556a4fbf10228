"""``probative sample``."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from probative.cli import options
from probative.cli.parameters import Argument, Option
from probative.errors import InputError
from probative.options import SampleOptions

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["sample"]

_NONE_OF_THESE = {  # outputs hold no gold, and labels instead of probabilities
    *("gold_column", "threshold", "score_name", "labels", "train_words"),
}


def sample(
    files: Annotated[
        list[str],
        Argument(
            metavar="POOL A [B...]",
            help="The corpus (or one of the outputs: only its text is used) and the outputs of "
            "systems on it (FILE or NAME=FILE); none, where --columns names those of a table. With "
            "--add, the file of a design.",
        ),
    ],
    to: Annotated[
        Path,
        Option(
            "--output",
            "-o",
            metavar="NEW",
            help="A new file for the units; the design is written beside it, as NAME.design.json.",
        ),
    ],
    *,
    given: Annotated[
        SampleOptions,
        options.choose(
            *("size", "add", "goal", "by", "level", "rng", "keep"),
            *(name for name in options.READING if name not in _NONE_OF_THESE),
            size=Option(
                "--size", metavar="N", parser=options.whole, help="How many units to annotate."
            ),
            add=Option(
                "--add",
                metavar="N",
                parser=options.whole,
                help="How many units to annotate besides those of a design; its file is updated.",
            ),
            goal=Option(
                "--for",
                metavar="GOAL",
                help="What the sample shall tell best: score or difference (of two systems and "
                "more, the usual one).",
            ),
            by=Option("--by", metavar="UNIT", help="What is drawn: sentence, document or item."),
            keep=Option(
                "--keep",
                metavar="COLUMN,...",
                parser=options.word_list,
                help="Further columns of the pool that annotators may see; besides tokens, texts, "
                "ids and documents, none are written.",
            ),
        ),
    ],
    names: options.Names = None,
    pilot: Annotated[
        str | None,
        Option(
            "--pilot",
            metavar="FILE",
            help="Units of the pool that are annotated already: how much do they differ?",
        ),
    ] = None,
    scores: Annotated[
        int | str | None,
        Option(
            "--scores",
            metavar="COLUMN",
            parser=options.column,
            help="The column of confidences, from 0 to 1, in the outputs.",
        ),
    ] = None,
    judge: Annotated[
        str | None,
        Option("--judge", metavar="FILE", help="The opinion of a judge on all units of the pool."),
    ] = None,
    explain: Annotated[
        bool, Option("--explain", help="Show the strata, how many are drawn, and why.")
    ] = False,
    out: options.RandomOutput,
) -> None:
    """Which units shall I annotate? Few of a large pool, placed where they tell most.

    Example: probative sample old.conll old.conll new.conll --size 200 -o sample.conll

    Later: probative sample --add 100 sample.design.json -o more.conll
    """
    from probative.reporting.survey_report import sample_document
    from probative.surveys.sampling import sample as draw

    if out.html is not None and _is_design(out.html, to, files, extends=given.add is not None):
        raise InputError("is the design; expected another file for --html", out.html)
    pool, *words = files
    if not words and given.add is None and not given.columns:
        raise InputError("A: missing; expected the output of a system beside the pool")
    systems, called, remarks = _named(words, names)
    drawn = draw(
        pool,
        *systems,
        names=called,
        pilot=pilot,
        scores=scores,
        judge=judge,
        to=to,
        **vars(given),
    )
    out.remark(*remarks, *drawn.notes)
    out.remark(*(f"wrote {path}" for path in drawn.files.values()))
    # without strata, a page would show no more than the line
    out.emit(sample_document(drawn, explain=explain or out.html is not None))


def _named(
    words: Sequence[str], names: Sequence[str] | None
) -> tuple[list[str], Sequence[str] | None, list[str]]:
    """Return the outputs, their names, and remarks."""
    from probative.matching.outputs import short_name
    from probative.reading.runs import named_file, taken_for_file

    systems = [named_file(word) for word in words]
    remarks = [remark for word in words if (remark := taken_for_file(word))]
    paths = [system.path for system in systems]
    if not any(system.name for system in systems):
        return paths, names, remarks
    if names is not None:
        raise InputError("names: the systems have names already; expected none")
    return paths, [system.name or short_name(system.path) for system in systems], remarks


def _is_design(html: Path, to: Path, files: Sequence[str], *, extends: bool) -> bool:
    design = Path(files[0]) if extends else to.with_name(f"{to.stem}.design.json")
    return os.path.realpath(html) == os.path.realpath(design)
