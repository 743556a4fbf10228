"""The files of a command: the answer, the systems, and what these are called."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from probative.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["name_files"]


def name_files(
    files: Sequence[str], names: Sequence[str] | None
) -> tuple[list[Any], list[str] | None, list[str]]:
    """The answer and the systems, what the systems are called, and what is to be said about it.

    Parameters
    ----------
    files
        The answer, then each system as ``FILE`` or ``NAME=FILE``; or logs alone.
    names
        The names of ``--names``, which cannot be combined with others.
    """
    from probative.matching.outputs import short_name
    from probative.reading.systems import named_file, taken_for_file

    # logs need no answer: the first of them may have a name, as a system has
    is_log = named_file(files[0]).name is not None
    gold, words = ([], files) if is_log else (files[:1], files[1:])
    systems = [named_file(word) for word in words]
    inputs = [*gold, *(system.path for system in systems)]
    remarks = [remark for word in words if (remark := taken_for_file(word))]
    if not any(system.name for system in systems):
        return inputs, None if names is None else list(names), remarks
    if names is not None:
        raise InputError("names: the systems have names already; expected none")
    return inputs, [system.name or short_name(system.path) for system in systems], remarks
