"""What may be wrong with the choice of runs; each is a hint and changes no number."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from probative.reading.runs import numbered_siblings

if TYPE_CHECKING:
    from collections.abc import Sequence

    from probative.matching.matched import Matched
    from probative.matching.outputs import RunGroup

__all__ = ["hints_of_files", "hints_of_runs"]


# a word of its own, as in best.conll and run-best-3.conll
_BEST = re.compile(r"(?<![a-z])best(?![a-z])", re.IGNORECASE)


def hints_of_runs(matched: Matched) -> list[str]:
    """What may be wrong with the choice of runs; each is a hint and changes no number."""
    hints = []
    for group in matched.runs:
        hints += _twins(matched, group)
        if len(group.places) == 1:
            hints += _picked(group.name, group.files[0])
    return hints


def hints_of_files(systems: Sequence[object]) -> list[str]:
    """Signs that files of a plain comparison are the best, or one, of several runs.

    Parameters
    ----------
    systems
        What was given for the systems; only paths are looked at.
    """
    files = [str(system) for system in systems if isinstance(system, (str, Path))]
    # files of one folder that differ by a number are systems of a shared task, as a rule
    apart = len({Path(file).parent for file in files}) == len(files) > 1
    return [
        hint
        for file in files
        for hint in _picked(file, file)
        if apart or _BEST.search(Path(file).name)
    ]


def _twins(matched: Matched, group: RunGroup) -> list[str]:
    """Runs of a system that gave identical outputs."""
    seen: dict[bytes, tuple[int, str]] = {}
    hints = []
    for place, run in zip(group.places, group.runs, strict=True):
        own = np.packbits(matched.items.says[place]).tobytes()
        first, first_run = seen.setdefault(own, (place, run))
        if first != place and matched.gave_the_same(first, place):
            hints.append(
                f"{group.name}: {first_run} and {run} gave identical outputs; were they trained "
                f"apart?"
            )
    return hints


def _picked(name: str, file: str | None) -> list[str]:
    """Signs that one run was picked from several."""
    if file is None:
        return []
    head = "" if name == file else f"{name}: "
    siblings = numbered_siblings(file)
    if _BEST.search(Path(file).name):
        hint = (
            f"{head}{file} is called best; if it is the best of several runs, it scores higher "
            f"than a new run would: give all of them"
        )
    elif siblings:
        hint = (
            f"{head}{file} is one file, and {siblings} more beside it differ from its name by a "
            f"number alone; if these are runs, give all of them: one that was picked tells less"
        )
    else:
        return []
    return [hint]
