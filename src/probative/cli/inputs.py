"""Find the gold file and the systems that the words of a command name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from probative.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


def name_files(
    files: Sequence[str], names: Sequence[str] | None
) -> tuple[list[Any], list[str] | None, list[str]]:
    """Return gold and systems, the names of the systems, and remarks.

    `files` are gold and then each system as ``FILE`` or ``NAME=FILE``, or logs alone; `names` come
    from ``--names``, which cannot be combined with names in `files`.
    """
    from probative.matching.outputs import short_name
    from probative.reading.runs import named_file, taken_for_file

    # logs need no gold: the first of them may have a name, as a system has
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


def words_by_option(
    named: Mapping[str, str | None], files: Sequence[str] | None
) -> Sequence[str] | None:
    """Return the files, with those of --gold, --a and --b (`named`) in front."""
    given = [word for word in named.values() if word is not None]
    if not given:
        return files
    first = list(named.values())[: len(given)]
    if None in first:
        missing = list(named)[first.index(None)]
        raise InputError(f"--{missing}: missing; expected it beside the others")
    return [*given, *(files or ())]


def inputs_of(
    files: Sequence[str] | None,
    runs: Sequence[str] | None,
    names: Sequence[str] | None,
    *,
    counts: bool = False,
    expand: bool = False,
) -> tuple[list[Any], Sequence[str] | None, list[str]]:
    """Return the inputs for the library, the names of the systems, and remarks.

    `runs` are NAME=FILES of systems with several runs. With `counts` the files hold counts; with
    `expand` outputs may be folders and patterns.
    """
    if not files and not runs:
        wanted = "files of counts" if counts else "the answer"
        raise InputError(f"{'FILE' if counts else 'GOLD'}: missing; expected {wanted}")
    if runs and names:
        raise InputError("--names: the systems have names already; expected none")
    files = list(files or ())
    if counts:
        return _counts(files, runs, names, expand=expand)
    if not files:  # logs need no gold
        from probative.reading.runs import find_runs

        return [find_runs(runs or ())], None, []
    remarks: list[str] = []
    if expand:
        answer, words = _answer_of(files)
        systems, names = _expanded(words, answer, names)
        inputs = systems if answer is None else [answer, *systems]
    else:
        inputs, names, remarks = name_files(files, names)
    if not runs:
        return inputs, names, remarks
    gold, *systems = inputs
    from probative.matching.outputs import short_name
    from probative.reading.runs import find_runs

    called = list(names or map(short_name, systems))
    return (
        [
            gold,
            _together(dict(zip(called, systems, strict=True)), find_runs(runs, beside=gold)),
        ],
        None,
        remarks,
    )


def _answer_of(files: Sequence[str]) -> tuple[str | None, Sequence[str]]:
    """Return gold and the systems; gold is None if the first file has a name, as a log may."""
    from probative.reading.runs import named_file

    named = named_file(files[0]).name is not None
    return (None, files) if named else (files[0], files[1:])


def _expanded(
    words: Sequence[str], beside: str | None, names: Sequence[str] | None
) -> tuple[list[Any], Sequence[str] | None]:
    from probative.matching.outputs import short_name
    from probative.reading.runs import find_systems

    systems = find_systems(words, beside=beside)
    named = any(file.name is not None for file in systems)
    if named and names:
        raise InputError("names: the systems have names already; expected none")
    called = [file.name or short_name(file.path) for file in systems] if named else names
    return [file.path for file in systems], None if called is None else list(called)


def _together(systems: Mapping[str, Any], more: Mapping[str, Any]) -> dict[str, Any]:
    twice = next((name for name in more if name in systems), None)
    if twice is not None:
        raise InputError(f"--runs: {twice!r} is a system already; expected another name")
    return {**systems, **more}


def _counts(
    files: list[str], runs: Sequence[str] | None, names: Sequence[str] | None, *, expand: bool
) -> tuple[list[Any], None, list[str]]:
    """Read the counts of systems, with one or several runs each, and pair their rows."""
    from probative.reading.counts_files import pair_units, read_run_rows
    from probative.reading.runs import find_runs

    paths, called = _expanded(files, None, names) if expand else (list(files), names)
    if called is not None and len(called) != len(paths):
        raise InputError(f"names: {len(called)} for {len(paths)} files; expected one each")
    systems: dict[str, list[Any]] = {}
    for number, path in enumerate(paths):
        found = read_run_rows(path)
        if called is not None:
            if len(found) > 1:
                raise InputError("names: the systems have names already; expected none", path)
            found = {called[number]: next(iter(found.values()))}
        for name, own in found.items():
            if name in systems:
                raise InputError(f"{name!r} for the second time; expected different names", path)
            systems[name] = [(path, rows) for rows in own.values()]
    more: dict[str, list[Any]] = {}
    for name, own_files in find_runs(runs or ()).items():
        for path in own_files:
            found = read_run_rows(path)
            if len(found) > 1:
                raise InputError("holds several systems; expected one, with --runs", path)
            more.setdefault(name, []).extend((path, r) for r in next(iter(found.values())).values())
    several = bool(runs) or any(len(own) > 1 for own in systems.values())
    together = _together(systems, more)
    counts, remarks = pair_units([table for own in together.values() for table in own])
    left = iter(counts)
    by_system = {name: [next(left) for _ in own] for name, own in together.items()}
    if several:
        return [by_system], None, remarks
    return [{name: own[0] for name, own in by_system.items()}], None, remarks
