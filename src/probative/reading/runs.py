"""Find the systems and runs that command-line words, lists and table columns stand for."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence, Set
from contextlib import suppress
from dataclasses import replace
from glob import has_magic
from itertools import chain
from numbers import Real
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from probative._validation import shown
from probative.errors import InputError
from probative.files import find_paths
from probative.reading.annotations import Labels, RowIds, Side, Tagged, codes_in, items_at
from probative.reading.columns import TAG, read_tags
from probative.reading.formats import Input, Options, open_input
from probative.reading.inputs import are_docs, is_frame, is_path, is_series
from probative.reading.rows import are_rows, is_dataset
from probative.reading.source import are_texts, is_brat_folder, is_output, load
from probative.reading.table_sides import read_table, sides_from_frame, tags_reason

if TYPE_CHECKING:
    from probative.reading.formats import Annotations


class Runs(tuple[Any, ...]):
    """The outputs of one system, one per run."""

    __slots__ = ()


_WHOLE = (int, np.integer)


# --- Systems and runs on the command line: files, folders, patterns, names


class _SystemFile(NamedTuple):
    """The output file of a system; without a name, the system is named after the file."""

    path: str
    name: str | None = None


def find_systems(words: Sequence[str], *, beside: str | None = None) -> list[_SystemFile]:
    """Return the files that words (files, folders, patterns, ``name=file``) stand for."""
    files: list[_SystemFile] = []
    for word in words:
        several = _outputs_of(word, beside, "systems", named="=" in word)
        files += [named_file(word)] if several is None else map(_SystemFile, several)
    return files


def find_runs(words: Iterable[str], *, beside: str | None = None) -> dict[str, Runs]:
    """Return the files of every system's runs (``name=files``) in natural order."""
    systems: dict[str, list[str]] = {}
    places: dict[Any, str] = {}
    for word in words:
        name, equals, files = (part.strip() for part in word.partition("="))
        if not equals or not name or not files:
            raise InputError(f"runs: {word!r}; expected NAME=FILES, such as A='a/*.conll'")
        several = _outputs_of(files, beside, "runs")
        if several is None and not Path(files).exists():  # a pipe is no regular file
            raise InputError("there is no such file", files)
        systems.setdefault(name, []).extend(sorted(several or [files], key=natural_order))
    for name, paths in systems.items():
        for number, path in enumerate(paths, start=1):
            if path == "-":
                continue
            status, place = Path(path).stat(), f"run {number} of {name}"
            other = places.setdefault((status.st_dev, status.st_ino), place)
            if other != place:  # a file would count as two runs
                raise InputError(f"is {other} and {place}; expected each file once", path)
    return {name: Runs(paths) for name, paths in systems.items()}


def _outputs_of(
    word: str, beside: str | None, what: str, *, named: bool = False
) -> list[str] | None:
    """Return an output, those in a folder or those of a pattern, without gold; else None."""
    if word == "-" or is_output(word, beside):
        return [word]
    if Path(word).is_dir():
        there = [p for p in Path(word).iterdir() if is_output(p, beside) and p.name[0] != "."]
        paths = [str(path) for path in sorted(there)]
        missing = f"the folder holds no files; expected outputs of {what}"
    elif has_magic(word) and not named:
        paths = [path for path in find_paths(word) if is_output(path, beside)]
        missing = "no file matches this pattern"
    else:
        return None
    if not paths:
        raise InputError(missing, word)
    others = [path for path in paths if not same_file(path, beside)]
    if not others:
        raise InputError(f"only the gold file; expected outputs of {what}", word)
    return others


def named_file(word: str) -> _SystemFile:
    """Parse ``file`` or ``name=file``; an existing file with that whole name takes precedence."""
    if "=" not in word or word == "-" or Path(word).exists():
        return _SystemFile(word)
    name, _, path = word.partition("=")
    if not name.strip() or not path:
        raise InputError(f"{word!r}: expected NAME=FILE")
    return _SystemFile(path, name.strip())


def taken_for_file(word: str) -> str | None:
    """Return a remark on a file whose name could also be read as ``name=file``, or None."""
    if "=" in word and Path(word).is_file() and Path(word.partition("=")[2]).is_file():
        return f"{word}: there is a file of this name, so this is no NAME=FILE"
    return None


def folders_passed_over(words: Sequence[str]) -> list[str]:
    """Return a remark on each given folder with subfolders, which are not read."""
    remarks = []
    for word in words:
        if word == "-" or not Path(word).is_dir() or is_brat_folder(word):
            continue
        inside = [p for p in Path(word).iterdir() if p.is_dir() and p.name[0] != "."]
        passed_over = sorted(p.name for p in inside if not is_brat_folder(p))
        if passed_over:
            remarks.append(f"{word}: folders in it are passed over: {', '.join(passed_over)}")
    return remarks


def same_file(path: Any, other: Any) -> bool:
    """Return True if both are paths of one file."""
    if not is_path(other) or "-" in (str(path), str(other)) or not str(other):
        return False
    return Path(other).exists() and Path(path).exists() and Path(path).samefile(other)


def natural_order(name: str) -> list[tuple[int, int, str]]:
    """Return a sort key that orders the numbers in names by value."""
    parts = re.split(r"([0-9]+)", name)
    return [(0, int(part), part) if i % 2 else (1, 0, part) for i, part in enumerate(parts)]


def numbered_siblings(path: Any) -> int:
    """Return the number of files beside this one whose names differ only in numbers."""
    own = Path(path if is_path(path) else "-")
    if str(own) == "-" or not own.is_file() or not re.search("[0-9]", own.name):
        return 0
    try:
        names = [re.sub("[0-9]+", "#", p.name) for p in own.parent.iterdir() if p.is_file()]
    except OSError:
        return 0
    return names.count(re.sub("[0-9]+", "#", own.name)) - 1


def check_own_answer(opened: Input, answer: Annotations, gold_column: int | str | None) -> None:
    """Refuse a run whose file holds gold labels of its own that differ from gold."""
    # the last column but one of a column file, or ``gold_column`` of a table
    kind, own = opened.kind, None
    if isinstance(answer, Tagged) and kind == "columns" and opened.layout.width >= 3:
        tags = read_tags(opened.layout, -2, any_values=True)
        types, known = ({n.partition("-")[2] for n in s.names} for s in (tags, answer))
        if all(map(TAG.fullmatch, tags.names)) and types != {""} and types <= known:
            own, expected = tags.as_labels(), answer.as_labels()
    asked = gold_column is not None and gold_column != opened.options.column
    if isinstance(answer, Labels) and kind == "table" and asked:
        options = replace(opened.options, task="labels", predicted=False, probability_columns=())
        with suppress(InputError):  # there may be no such column
            (beside,) = read_table(opened.source, [str(gold_column)], options)
            own, expected = (beside if isinstance(beside, Labels) else None), answer
    if own is None or len(own) != len(expected):
        return
    wrong = np.flatnonzero(own.codes != codes_in(own.names, expected.names)[expected.codes])
    if len(wrong):
        at, what, line, remedy = int(wrong[0]), "item", None, ""
        if isinstance(answer, Tagged):
            what, line = "token", opened.layout.text.line_of(at)
            remedy = " (tag_column= names the column to read)"
        here, there = (side.names[side.codes[at]] for side in (own, expected))
        problem = f"holds other gold, {here!r} for {what} {at + 1} where gold has {there!r}"
        raise opened.source.error(f"{problem}; expected runs on the same gold{remedy}", line)


# --- Runs in Python


def refuse_mixture(gold: Any, systems: Sequence[Any]) -> None:
    """Refuse files mixed with data; annotations that were already read fit both."""
    for number, system in enumerate(systems, start=1):
        outputs = system if isinstance(system, (list, tuple)) and len(system) else [system]
        file = system if is_path(system) else None
        labels = isinstance(outputs[0], (str, Real))  # may be very many, and wrong ones are named
        if not labels and any(issubclass(kind, Path) for kind in set(map(type, outputs))):
            file = next(one for one in outputs if isinstance(one, Path))
        if file is not None and not is_path(gold):
            what = "is a file, but gold is data"
            raise InputError(f"{what}; expected all of them as files, or all as data", file)
        if is_path(gold) and not all(is_path(one) or isinstance(one, Side) for one in outputs):
            name = f"pred {number}" if len(systems) > 1 else "pred"
            problem = f"{name}: is data, but gold is the file {str(gold)!r}"
            raise InputError(f"{problem}; expected all of them as files, or all as data")


def single_outputs(gold: Any, system: Any) -> Sequence[Any]:
    """Return the single outputs of a system given as Python lists: itself, or its runs."""
    if isinstance(system, Runs):
        return system
    lists = isinstance(gold, (list, tuple, np.ndarray)) or is_series(gold)
    deeper = lists and isinstance(system, (list, tuple)) and _depth(system) > _depth(gold)
    return system if deeper else [system]


def runs_of(system: Any, answer: Annotations, gold: Any = None) -> Runs | None:
    """Return the runs that a list holds, or None if it is one output."""
    # A list of outputs is nested one level deeper than the task of gold asks. Strings are files if
    # gold is a file, and labels otherwise.
    if isinstance(system, Runs):
        return system
    if not isinstance(system, (list, tuple)) or not len(system):
        return None  # also two-dimensional arrays: the meaning of the second axis is unknown
    keyed = isinstance(gold, Mapping) and all(is_keyed(gold, one) for one in system)
    if keyed or all(map(_is_whole, system)):
        return Runs(system)
    if isinstance(system[0], str) and not is_path(gold):
        return None
    if is_path(gold) and all(map(is_path, system)):
        for path in system:
            if str(path) != "-" and not os.path.exists(path):  # noqa: PTH110
                expected = "expected files, one per run, or data for all of them"
                raise InputError(f"there is no such file, and gold is a file; {expected}", path)
        return Runs(system)
    return Runs(system) if _depth(system) > _depth_of_output(system, answer, gold) else None


def is_keyed(gold: Any, system: Any) -> bool:
    """Return True if gold and a system are dictionaries by documents, of which they share some."""
    both = isinstance(gold, Mapping) and isinstance(system, Mapping)
    return both and not gold.keys().isdisjoint(system.keys())


def _is_whole(one: Any) -> bool:
    """Return True if this is a whole output by its type, or by the type of its entries."""
    by_entries = isinstance(one, (list, tuple)) and (are_rows(one) or are_docs(one))
    return by_entries or isinstance(one, Side) or is_frame(one) or is_dataset(one)


def are_files(systems: Mapping[str, Any]) -> bool:
    """Return True if every system is a file, or a list of files, one per run."""
    lists = (own if isinstance(own, (list, tuple)) and own else [own] for own in systems.values())
    return bool(systems) and all(map(is_path, chain.from_iterable(lists)))


def _depth_of_output(system: Any, answer: Any, gold: Any) -> int:
    if answer.task == "labels" and isinstance(gold, (list, tuple, np.ndarray)):
        return _depth(gold)
    if isinstance(answer, Labels) or answer.task == "records":
        return 1
    if answer.task == "segmentation" and _depth(system) == 2:
        # either the words of sentences, or runs whose sentences are strings
        first = "".join(re.sub(r"\s+", "", word) for word in system[0] if isinstance(word, str))
        return 2 if first == answer.sentence_text(0) else 1
    return 2


def _depth(data: Any) -> int:
    """Return the nesting depth of the first single entry (a label, a tag, a span)."""
    if isinstance(data, np.ndarray) and data.dtype != object:
        return data.ndim
    if not hasattr(data, "__len__"):
        return 0  # also single values of NumPy and pandas, which look like series
    if is_series(data) and not isinstance(data, np.ndarray):
        return 1
    if isinstance(data, (str, bytes)) or not isinstance(data, (Sequence, Set, np.ndarray)):
        return 0
    kinds = list(map(type, data)) if isinstance(data, (tuple, list)) and len(data) == 3 else []
    if kinds and issubclass(kinds[2], str) and all(issubclass(k, _WHOLE) for k in kinds[:2]):
        return 0  # a span
    deepest = 0
    for one in data:
        deepest = max(deepest, _depth(one))
        if not isinstance(one, (list, tuple, Set)) or len(one):
            break  # empty sentences do not show the depth
    return 1 + deepest


# --- Tables with a column of runs


class _RunTable(NamedTuple):
    """The columns of a table, split by the run of every row."""

    name: str
    runs: tuple[str, ...]  # names of the runs, in natural order
    sides: tuple[tuple[Labels, ...], ...]  # labels of every requested column, one `Labels` per run

    def check_answers(self) -> None:
        """Refuse runs whose rows are not the same items; the first column is gold."""
        first, *others = self.sides[0]
        for run, own in zip(self.runs[1:], others, strict=True):
            mine, theirs, among = first.aligned, own.aligned, f"run {self.runs[0]!r}"
            if isinstance(mine, RowIds) and isinstance(theirs, RowIds):
                # ids that are unique across runs show no order
                same = np.array_equal(np.sort(mine.codes), np.sort(theirs.codes))
                row = int(np.argmax(mine.codes != theirs.codes)) if same else 0
                if same and mine.codes[row] != theirs.codes[row]:
                    here, there = (ids.names[ids.codes[row]] for ids in (theirs, mine))
                    what = f"is {here!r} by column {mine.column!r}, {among} {there!r}"
                    expected = f"the same order in every run, or unit_column={mine.column!r}"
                    raise self._error(f"row {row + 1} of run {run!r} {what}; expected {expected}")
            if len(own) != len(first):
                problem = f"run {run!r} has {len(own)} rows, but {among} has {len(first)}"
                raise self._error(f"{problem}; expected the same items in every run")
            different = first.codes != own.codes
            if first.units is not None:
                different |= first.units != own.units
            if first.groups is not None and own.groups is not None:
                different |= first.groups.codes != own.groups.codes
            if different.any():
                row = int(np.argmax(different))
                here, there = (side.names[side.codes[row]] for side in (own, first))
                what = f"has the gold label {here!r}, {among} {there!r}; expected the same items"
                expected = "in every run, in the same order or with unit_column="
                raise self._error(f"row {row + 1} of run {run!r} {what} {expected}")

    def _error(self, message: str) -> InputError:
        return InputError(f"{self.name}: {message}")


def read_run_table(
    data: Any, columns: Sequence[Any], run_column: str, options: Options, *, sort: bool = True
) -> _RunTable:
    """Read columns of a file or frame and split their rows by run; ``sort`` them by unit."""
    table_options = replace(options, input_format="table", task="labels")
    # the column of runs is no prediction; numbers in it are no probabilities
    run_options = replace(table_options, predicted=False, probability_columns=(), multilabel=None)
    if is_path(data):
        source = open_input(data, table_options).source
        name = source.name
        # read separately: the choice of the label column depends on how many are requested
        read = read_table(source, columns, table_options, ids=True, run_column=run_column)
        of_run = read_table(source, [run_column], run_options)
    elif is_frame(data):
        name = "gold" if options.column is None else options.column
        if None in columns:
            raise InputError(f"{name}: is a data frame; expected its columns to be named")
        read = sides_from_frame("columns", data, columns, table_options)
        of_run = sides_from_frame("run_column", data, [run_column], run_options)
    else:
        raise InputError("run_column: there is no table; expected one")
    labels = [side for side in (*of_run, *read) if isinstance(side, Labels)]
    if len(labels) < len(of_run) + len(read):
        problem = f"{name}: run_column= parts rows of one label each"
        raise InputError(f"{problem}; expected such a table, or a file for each run")
    run, *sides = labels
    # the sentences of tags cannot be split by run
    task, reason = options.task, tags_reason(sides[0].names)
    if task not in (None, "labels") or (task is None and reason is not None):
        what = "" if reason is None else f" and these are tags ({reason}),"
        problem = f"{name}: run_column= parts rows of labels,{what} not of entities"
        raise InputError(f"{problem}; expected a file for each run, or task='labels'")
    order = sorted(range(len(run.names)), key=lambda code: natural_order(run.names[code]))
    rows = [np.flatnonzero(run.codes == code) for code in order]
    if sort and run.units is not None:
        rows = [own[np.argsort(run.units[own], kind="stable")] for own in rows]
    parts = tuple(tuple(_part(side, own) for own in rows) for side in sides)
    return _RunTable(name, tuple(run.names[code] for code in order), parts)


def _part(side: Labels, rows: NDArray[np.intp]) -> Labels:
    part: Labels = items_at(side, rows, None if side.units is None else side.units[rows])
    ids = part.aligned
    if not isinstance(ids, RowIds) or len(set(ids.codes.tolist())) == 1 < len(rows):
        ids = None  # the column names the run, not its rows
    return replace(part, aligned=ids)


# --- A list of data sets in TOML: their files, and how to read each of them

_FILES = ("gold", "a", "b", "train_words")


def read_manifest(path: str | Path) -> tuple[list[str] | None, dict[str, dict[str, Any]]]:
    """Read the names of the systems, or None, and the tables ``datasets.NAME`` by name."""
    content = load(path).parse_toml("[datasets.NAME] tables")
    odd = next((key for key in content if key not in ("names", "datasets")), None)
    if odd is not None:
        raise InputError(f"{odd!r} is unknown; expected names and [datasets.NAME] tables", path)
    names, datasets = content.get("names"), content.get("datasets")
    if names is not None and not are_texts(names):
        raise InputError(f"names = {shown(names)}; expected two names in a list", path)
    if not isinstance(datasets, dict) or not datasets:
        raise InputError("there are no data sets; expected [datasets.NAME] tables", path)
    for name, own in datasets.items():
        if not isinstance(own, dict) or "gold" not in own:
            raise InputError(f"[datasets.{name}] has no gold; expected gold, a and b", path)
        for key in (key for key in _FILES if key in own):
            if not isinstance(own[key], str):
                problem = f"[datasets.{name}] {key} = {shown(own[key])}"
                raise InputError(f"{problem}; expected the name of a file", path)
            own[key] = str(Path(path).parent / own[key])
    return names, datasets
