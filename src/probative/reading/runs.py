"""Several runs of one system: the files that patterns stand for, and runs among Python's lists."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Mapping, Sequence, Set
from dataclasses import replace
from glob import has_magic
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from probative.errors import InputError
from probative.files import find_paths
from probative.reading.annotations import Labels, LabelSets, Segmented, Spans, Tagged
from probative.reading.columns import TAG, read_tags
from probative.reading.docs import are_docs
from probative.reading.inputs import is_frame, is_path, is_series
from probative.reading.rows import are_rows, is_dataset
from probative.reading.source import is_output
from probative.reading.table_sides import read_table

if TYPE_CHECKING:
    from collections.abc import Iterable

    from probative.reading.opening import Input
    from probative.reading.recognise import Annotations

__all__ = [
    "Runs",
    "are_files",
    "check_own_answer",
    "find_runs",
    "natural_order",
    "numbered_siblings",
    "refuse_mixture",
    "runs_of",
    "same_file",
    "single_outputs",
]


class Runs(tuple[Any, ...]):
    """The outputs of one system, one per run."""

    __slots__ = ()


# --- from the command line --------------------------------------------------------------------


def find_runs(words: Iterable[str], *, beside: str | None = None) -> dict[str, Runs]:
    """The files of every system's runs, in natural order: run 2 comes before run 10.

    Parameters
    ----------
    words
        Each ``name=files``, where files is a file, a folder (all files in it) or a pattern such as
        ``a/*.conll``. The files of a name that is given several times add up. A folder of brat is
        one file in this.
    beside
        A file that is no run, though a folder or pattern may hold it: the answer.
    """
    systems: dict[str, list[str]] = {}
    for word in words:
        name, equals, files = word.partition("=")
        name, files = name.strip(), files.strip()
        if not equals or not name or not files:
            raise InputError(f"runs: {word!r}; expected NAME=FILES, such as A='a/*.conll'")
        systems.setdefault(name, []).extend(_files_of(files, beside))
    _refuse_twice(systems)
    return {name: Runs(paths) for name, paths in systems.items()}


def _files_of(files: str, beside: str | None) -> list[str]:
    if files == "-" or is_output(files):
        return [files]
    if Path(files).is_dir():
        there = [str(p) for p in Path(files).iterdir() if is_output(p) and p.name[0] != "."]
        missing = "the folder holds no files; expected outputs of runs"
    elif has_magic(files):
        there = [path for path in find_paths(files) if is_output(path)]
        missing = "no file matches this pattern"
    else:
        there = [files] if Path(files).exists() else []  # a pipe
        missing = "there is no such file"
    paths = sorted((path for path in there if not same_file(path, beside)), key=natural_order)
    if not paths:
        raise InputError("no file but the answer; expected runs" if there else missing, files)
    return paths


def same_file(path: Any, other: Any) -> bool:
    """Whether both are paths of one file."""
    if not is_path(other) or "-" in (str(path), str(other)) or not str(other):
        return False
    return Path(other).exists() and Path(path).exists() and Path(path).samefile(other)


def natural_order(name: str) -> list[tuple[int, int, str]]:
    """What to sort names by, so that their numbers are in order."""
    parts = re.split(r"([0-9]+)", name)
    return [(0, int(part), part) if i % 2 else (1, 0, part) for i, part in enumerate(parts)]


def _refuse_twice(systems: Mapping[str, Sequence[str]]) -> None:
    """Refuse a file that would count as two runs."""
    places: dict[Any, str] = {}
    for name, paths in systems.items():
        for number, path in enumerate(paths, start=1):
            if path == "-":
                continue
            status = Path(path).stat()
            place = f"run {number} of {name}"
            other = places.setdefault((status.st_dev, status.st_ino), place)
            if other != place:
                raise InputError(f"is {other} and {place}; expected each file once", path)


def numbered_siblings(path: Any) -> int:
    """How many files beside this one are called like it but for a number: perhaps other runs."""
    if not isinstance(path, (str, Path)) or str(path) == "-" or not Path(path).is_file():
        return 0
    own = Path(path)
    if not re.search("[0-9]", own.name):
        return 0
    try:
        names = [p.name for p in own.parent.iterdir() if p.is_file()]
    except OSError:
        return 0
    alike = Counter(re.sub("[0-9]+", "#", name) for name in names)
    return alike[re.sub("[0-9]+", "#", own.name)] - 1


def check_own_answer(opened: Input, answer: Annotations, gold_column: int | str | None) -> None:
    """Refuse a run whose file holds an answer of its own that is another one.

    Parameters
    ----------
    opened
        The file of the run: a column file whose last column but one has tags with the types of the
        answer, or a table with the answer's column.
    answer
        The answer.
    gold_column
        What the answer's column is called, if it has a name.
    """
    own = None
    if isinstance(answer, Labels):
        own = _labels_beside(opened, gold_column)
    elif isinstance(answer, Tagged):
        own = _tags_beside(opened, answer)
    if own is None or not isinstance(answer, (Tagged, Labels)):
        return
    if len(own[0]) != len(_codes(answer)):
        return
    codes, names = own
    code = {name: i for i, name in enumerate(names)}
    same = np.array([code.get(name, -1) for name in answer.names], dtype=np.int64)
    wrong = np.flatnonzero(codes != same[_codes(answer)])
    if len(wrong):
        at = int(wrong[0])
        what, line = "item", None
        if isinstance(answer, Tagged):
            what, line = "token", opened.layout.text.line_of(at)
        raise InputError(
            f"holds an answer of its own, {names[codes[at]]!r} for {what} {at + 1} where the "
            f"answer has {answer.names[_codes(answer)[at]]!r}; expected runs on the same answer"
            + (" (tag_column= says which column to read)" if what == "token" else ""),
            opened.source.name,
            line,
        )


def _codes(side: Tagged | Labels) -> Any:
    return side.tags if isinstance(side, Tagged) else side.codes


def _tags_beside(opened: Input, answer: Tagged) -> tuple[Any, tuple[str, ...]] | None:
    """The tags of the last column but one, if their types are the answer's."""
    if opened.kind != "columns" or opened.layout.width < 3:
        return None
    beside = read_tags(opened.layout, -2, any_values=True)
    types = {name.partition("-")[2] for name in beside.names}
    known = {name.partition("-")[2] for name in answer.names}
    tags = all(TAG.fullmatch(name) for name in beside.names)
    return (beside.tags, beside.names) if tags and types != {""} and types <= known else None


def _labels_beside(
    opened: Input, gold_column: int | str | None
) -> tuple[Any, tuple[str, ...]] | None:
    """The labels of the answer's column in a table of a run."""
    if opened.kind != "table" or gold_column is None or gold_column == opened.options.column:
        return None
    try:
        how = replace(opened.options, task="labels", predicted=False, probability_columns=())
        (beside,) = read_table(opened.source, [str(gold_column)], how)
    except InputError:
        return None  # it has no such column
    return (beside.codes, beside.names) if isinstance(beside, Labels) else None


# --- from Python ------------------------------------------------------------------------------


def refuse_mixture(gold: Any, systems: Sequence[Any]) -> None:
    """Refuse files beside data: what gold is decides what texts in a list are.

    Parameters
    ----------
    gold
        A path, or data.
    systems
        What was given for each system. Annotations that were read already go with both.
    """
    for number, system in enumerate(systems, start=1):
        outputs = system if isinstance(system, (list, tuple)) and len(system) else [system]
        file = next((one for one in outputs if isinstance(one, Path)), None)
        file = system if is_path(system) else file
        if file is not None and not is_path(gold):
            raise InputError(
                "is a file, but gold is data; expected all of them as files, or all as data", file
            )
        if is_path(gold) and not all(is_path(one) or _is_read(one) for one in outputs):
            name = f"pred {number}" if len(systems) > 1 else "pred"
            raise InputError(
                f"{name}: is data, but gold is the file {str(gold)!r}; expected all of them as "
                f"files, or all as data"
            )


def single_outputs(gold: Any, system: Any) -> Sequence[Any]:
    """The outputs that lie side by side with an answer of Python's lists: a system, or its runs."""
    if isinstance(system, Runs):
        return system
    lists = isinstance(gold, (list, tuple, np.ndarray)) or is_series(gold)
    deeper = lists and isinstance(system, (list, tuple)) and _depth(system) > _depth(gold)
    return system if deeper else [system]


def runs_of(system: Any, answer: Annotations, gold: Any = None) -> Runs | None:
    """The runs that a list holds, or None if it is one output.

    An output is as deep as the task asks: a list of labels, or a list of sentences. What holds
    outputs is one step deeper. Texts in a list are files where gold is one, and else labels.

    Parameters
    ----------
    system
        What was given for a system.
    answer
        The answer, which tells the task.
    gold
        What the answer was read from, which tells how deep an output is if it is a list.
    """
    if isinstance(system, Runs):
        return system
    if not isinstance(system, (list, tuple)) or not len(system):
        return None  # of an array in two dimensions, nobody knows what the second one is
    if all(map(_is_whole, system)):
        return Runs(system)
    if all(map(is_path, system)):
        return _run_files(system) if is_path(gold) else None
    return Runs(system) if _depth(system) > _depth_of_output(system, answer, gold) else None


def _run_files(paths: Sequence[Any]) -> Runs:
    """Take the files of runs, all of which must exist."""
    missing = next((p for p in paths if str(p) != "-" and not os.path.exists(p)), None)  # noqa: PTH110
    if missing is not None:
        raise InputError(
            "there is no such file, and gold is a file; expected files, one per run, or data for "
            "all of them",
            missing,
        )
    return Runs(paths)


def _is_whole(one: Any) -> bool:
    """Whether this is a whole output by its type, or by that of its entries."""
    if _is_read(one):
        return True
    if is_frame(one) or is_dataset(one):
        return True
    return isinstance(one, (list, tuple)) and (are_rows(one) or are_docs(one))


def _is_read(one: Any) -> bool:
    """Whether this was read already."""
    return isinstance(one, (Tagged, Spans, Segmented, Labels, LabelSets))


def are_files(systems: Mapping[str, Any]) -> bool:
    """Whether every system is a file, or a list of files, one per run."""
    files = [
        file
        for own in systems.values()
        for file in (own if isinstance(own, (list, tuple)) and own else [own])
    ]
    return bool(files) and all(map(is_path, files))


def _depth_of_output(system: Any, answer: Annotations, gold: Any) -> int:
    if isinstance(answer, (Labels, LabelSets)) and isinstance(gold, (list, tuple, np.ndarray)):
        return _depth(gold)
    if isinstance(answer, Labels):
        return 1
    if isinstance(answer, Segmented) and _depth(system) == 2:
        # words of a sentence; or sentences of a run, each a text
        first = "".join(re.sub(r"\s+", "", word) for word in system[0] if isinstance(word, str))
        return 2 if first == answer.sentence_text(0) else 1
    return 2


def _depth(data: Any) -> int:
    """How many lists the first single answer (a label, a tag, a span) lies in."""
    if isinstance(data, np.ndarray) and data.dtype != object:
        return data.ndim
    if is_series(data) and not isinstance(data, np.ndarray):
        return 1
    if isinstance(data, (str, bytes, Mapping)) or _is_span(data):
        return 0
    if not isinstance(data, (Sequence, Set, np.ndarray)):
        return 0
    deepest = 0
    for one in data:
        deepest = max(deepest, _depth(one))
        if not isinstance(one, (list, tuple, Set)) or len(one):
            break  # it holds an answer; an empty sentence tells nothing
    return 1 + deepest


def _is_span(data: Any) -> bool:
    if not isinstance(data, (tuple, list)) or len(data) != 3:
        return False
    return all(isinstance(x, (int, np.integer)) for x in data[:2]) and isinstance(data[2], str)
