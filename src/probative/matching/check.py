"""Check a file: recognise its format, count its contents, list its problems."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Never

import numpy as np

from probative._validation import columns_of, finite, flag, names_of, one_of, shown
from probative.errors import InputError
from probative.matching.record_rules import quoted
from probative.matching.records import survey_paths
from probative.matching.schemes import SCHEMES, decode, misplaced, prefix_of, recognise
from probative.options import CheckOptions
from probative.reading.annotations import LabelSets, Spans, Tagged, Text
from probative.reading.columns import layout, ragged_line, read_tags
from probative.reading.formats import Input, open_input, read
from probative.reading.formats import Options as Reading
from probative.reading.lines import problems_of, read_forms, read_labels, read_segmented, read_spans
from probative.reading.records import sides_of_file
from probative.reading.rows import without_ignored_tokens
from probative.reading.source import load
from probative.results import FileCheck, PathSummary

if TYPE_CHECKING:
    from probative.reading.logs import Samples

_AS_GIVEN = (  # options that the readers take as they are
    *("task", "input_format", "encoding", "tag_column", "column", "comments", "header"),
    *("multilabel", "score_name"),
)
# Problems of one kind beyond this number are only counted.
_LISTED_PROBLEMS = 20


def check(
    path: str | Path,
    *,
    task: str | None = None,
    input_format: str | None = None,
    encoding: str | None = None,
    tag_column: int | str | None = None,
    column: str | None = None,
    comments: bool = False,
    scheme: str | None = None,
    unit_column: str | None = None,
    header: bool | None = None,
    multilabel: bool | str | None = None,
    label_names: Sequence[str] = (),
    score_name: str | None = None,
    threshold: float | None = None,
    schema: str | Path | Mapping[str, object] | type | None = None,
    **unknown: Never,
) -> FileCheck:
    r"""Report what a file is and everything that is wrong with it.

    Parameters
    ----------
    path
        The file; ``-`` is standard input.
    task, input_format, encoding
        The task (entities, segmentation, labels or samples), the format (columns, conllu,
        segmented, labels, jsonl, table, rows, choices, labelstudio, brat, docbin, hipe or log) and
        the encoding of the file; by default they are recognised.
    tag_column, column, comments
        The column of the tags, by number or by name; the column of the labels in a table; True if
        ``#`` starts a comment.
    scheme
        Its tag scheme; by default the one recognised.
    unit_column, header, multilabel
        For a table, as in `score`: the column of units (sentences, for tags), whether the first
        line names the columns, the text between several labels of one item.
    label_names
        The names of numeric labels, from 0 on, in rows of tokens and tags.
    score_name, threshold
        For a log: the score to use, and the smallest value that counts as right.
    schema
        For records: a JSON Schema (a file or a dictionary) or a model of pydantic. The paths then
        also show what it requires, and rules to consider. It decides nothing.

    Returns
    -------
    FileCheck
        The `problems`, one line each; `facts` about the contents; the number of occurrences of
        each of the `labels`.

    Examples
    --------
    >>> import probative as pv
    >>> from pathlib import Path
    >>> _ = Path("tags.conll").write_text("Ann B-PER\nwent O\nhome I-LOC\n")
    >>> report = pv.check("tags.conll", scheme="iob2")
    >>> report.labels
    {'LOC': 1, 'PER': 1}
    >>> print(*report.problems)
    tags.conll:3: tag 'I-LOC' after 'O' breaks the rules of iob2; expected a valid tag
    """
    options = CheckOptions.of_call({**locals(), "reading": unknown})  # refuses unknown names
    reading = options.chosen(*_AS_GIVEN) | {
        "label_names": names_of("label_names", label_names),
        "threshold": None if threshold is None else finite("threshold", threshold),
        "unit": unit_column,
    }
    if scheme is not None:
        one_of("scheme", scheme, SCHEMES)
    if not isinstance(path, (str, Path)):
        raise InputError(f"path: {shown(path)} is no path; expected the name of a file")
    for name, value in (("encoding", encoding), ("column", column), ("score_name", score_name)):
        if not (value is None or isinstance(value, str)):
            raise InputError(f"{name}: {shown(value)}; expected a name (str)")
    columns_of("tag_column", [tag_column])
    flag("comments", comments)
    opened = open_input(path, Reading(**reading))
    checks = {"columns": _columns, "conllu": _columns, "segmented": _segmented, "records": _records}
    found = checks.get(opened.kind, _others)(opened, scheme)
    if schema is not None:
        if opened.kind != "records":
            raise InputError(f"schema: does not apply to {found.task}; expected records (task=)")
        found = _with_schema(found, schema)
    return replace(found, reason=opened.reason)


def _with_schema(found: FileCheck, schema: object) -> FileCheck:
    """Add what a schema says about the paths, and the paths that only it has."""
    fields = _fields_of_schema(schema)
    there = {path.path: path for path in found.paths or ()}
    notes = [f"{path}: is not in the schema" for path in there if path not in fields]
    every = []
    for name in sorted({*there, *fields}):
        field = fields.get(name, _field(name, (), False))
        own = there.get(name, field)
        every.append(replace(own, required=field.required, rule=field.rule))
        missing = int(found.facts.get("documents", 0)) - own.documents
        if field.required and "[]" not in name and missing:
            notes.append(f"{name}: is required, and {missing:,} documents do not have it")
    return replace(found, paths=tuple(every), notes=(*found.notes, *notes))


def _records(opened: Input, _: str | None) -> FileCheck:
    """Check records: outputs that are none are problems; the paths are those of the first side."""
    source = opened.source
    try:
        as_output = replace(opened.options, predicted=True)
        sides = sides_of_file(replace(opened, options=as_output))
    except InputError as error:
        return FileCheck(source.name, "records", "records", {}, {}, (str(error),))
    facts: dict[str, Any] = {"documents": len(sides[0])}
    problems: list[InputError] = []
    for side in sides:
        head = f"{side.name}: " if len(sides) > 1 else ""
        for what, which in (("missing", side.missing), ("repaired", side.repaired)):
            facts |= {f"{head}{what}": len(which)} if which else {}
        for k, found in side.malformed.items():
            problem = f"{head}{found}; expected a JSON object"
            problems.append(source.error(problem, side.line_of(k)))
    listed = _listed(source.name, "outputs that are no objects", problems, len(problems))
    paths = tuple(survey_paths(sides[0]))
    notes = tuple(note for side in sides for note in side.notes)
    return FileCheck(source.name, "records", "records", facts, {}, listed, notes, paths=paths)


def _others(opened: Input, scheme: str | None) -> FileCheck:
    """Check spans, labels, tables and files of other tools; an error is the only problem."""
    source, kind = opened.source, opened.kind
    problems = problems_of(source) if kind == "jsonl" else []
    if problems:
        listed = _listed(source.name, "problems", problems, len(problems))
        return FileCheck(source.name, kind, "entities", {}, {}, listed)
    by_line: dict[str, Any] = {"jsonl": read_spans, "labels": read_labels}
    try:
        side: Any = by_line[kind](source) if kind in by_line else read(opened)
    except InputError as error:
        if kind == "table":  # of which nothing else is known
            message = error.message.replace("gold_column=, columns=", "column=")
            raise InputError(message, error.path, error.line) from None
        task = "labels" if kind == "labels" else opened.task
        return FileCheck(source.name, kind, task, {}, {}, (str(error),))
    if kind == "log":
        return _log(side)
    if isinstance(side, Tagged):
        side = without_ignored_tokens(side, [])[0]
        return _tags(opened, side, scheme, _facts_of(side.text), ())
    if isinstance(side, Spans):
        facts = {"texts": side.n_sentences, "spans": len(side)}
        labels = _times(side.labels, side.label)
    else:
        facts, labels = {"items": len(side)}, _times(side.names, side.codes)
        facts |= {"labels": len(side.codes)} if isinstance(side, LabelSets) else {}
    return FileCheck(source.name, kind, side.task, facts, labels, (), side.notes)


def _facts_of(text: Text) -> dict[str, Any]:
    """Return the numbers of sentences, tokens and, if they are marked, documents."""
    facts = {"sentences": text.n_sentences, "tokens": text.n_tokens}
    return facts if text.document is None else {**facts, "documents": int(text.document.max()) + 1}


def _times(names: Sequence[str], codes: Any) -> dict[str, int]:
    """Count every name, in alphabetical order, given a code of each occurrence."""
    return dict(sorted(zip(names, np.bincount(codes, minlength=len(names)).tolist(), strict=True)))


def _log(side: Samples) -> FileCheck:
    first = side.logs[0]
    facts: dict[str, Any] = {"samples": len(set(first.samples)), "score": first.score}
    if len(first) > len(set(first.samples)):
        facts["answers"] = len(first)
    for log in side.logs:
        called = f"{log.system}: " if log.system else ""
        if log.counted:
            facts |= {f"{called}{k}": int(getattr(log, k).sum()) for k in ("tp", "fp", "fn")}
        else:
            facts[f"{called}right"] = int(log.tp.sum())
    return FileCheck(side.name, "log", "samples", facts, {}, (), side.notes)


def _columns(opened: Input, scheme: str | None) -> FileCheck:
    source, kind, task, options = opened.source, opened.kind, opened.task, opened.options
    shape = layout(source, comments=options.comments, skip_ragged=True)
    problems: tuple[str, ...] = ()
    if shape.ragged is not None:
        lines = (ragged_line(shape.table, row, shape.width) for row in shape.ragged)
        problems = _listed(source.name, "ragged lines", lines, len(shape.ragged))
    text = shape.text
    facts = {**_facts_of(text), "columns": shape.width}
    if shape.token_column is not None and text.size is not None:
        empty = np.flatnonzero(text.size == 0)
        lines = (text.error("the token is empty; expected one", t) for t in empty.tolist())
        problems += _listed(source.name, "empty tokens", lines, len(empty))
    if task == "segmentation":
        words = read_forms(shape)
        facts |= {"words": len(words.sentence), "characters": int(words.first[-1])}
        return FileCheck(source.name, kind, task, facts, {}, problems, words.notes)
    tags = read_tags(shape, options.tag_column, any_values=task == "labels")
    if task == "labels":
        labels = _times(tags.names, tags.tags)
        return FileCheck(source.name, kind, task, facts, labels, problems, tags.notes)
    return _tags(opened, tags, scheme, facts, problems)


def _tags(
    opened: Input, tags: Tagged, scheme: str | None, facts: dict[str, Any], wrong: tuple[str, ...]
) -> FileCheck:
    source, kind = opened.source, opened.kind
    name = scheme or recognise(tags)
    facts["scheme"] = name
    known = [prefix_of(tag) in SCHEMES[name].follow for tag in tags.names]
    unknown = [code for code, is_known in enumerate(known) if not is_known]
    lines = []
    for code in unknown[:_LISTED_PROBLEMS]:  # each with its first line
        at = np.flatnonzero(tags.tags == code)
        if len(at):
            tag, times = repr(tags.names[code][:60]), f", {len(at)} times" * (len(at) > 1)
            what = f"unknown tag {tag}{times}; expected a tag of {name}"
            lines.append(tags.text.error(what, int(at[0])))
    wrong += _listed(tags.text.name, "unknown tags", lines, len(unknown))
    if unknown:  # are read as O, so that the other tags can still be checked
        pairs = zip(tags.names, known, strict=True)
        tags = replace(tags, names=tuple(tag if is_known else "O" for tag, is_known in pairs))
    wrong += _listed(source.name, "tags out of place", *misplaced(tags, name, _LISTED_PROBLEMS))
    spans = decode(tags, scheme=name)
    facts["spans"] = len(spans)
    labels = _times(spans.labels, spans.label)
    return FileCheck(source.name, kind, "entities", facts, labels, wrong, tags.notes)


def _listed(name: str, what: str, problems: Iterable[object], number: int) -> tuple[str, ...]:
    """Return the first problems, and a line that counts the rest of this number."""
    lines = tuple(map(str, islice(problems, _LISTED_PROBLEMS)))
    rest = number - len(lines)
    return (*lines, f"{name}: {rest} more {what}") if rest > 0 else lines


def _segmented(opened: Input, _: str | None) -> FileCheck:
    name, words = opened.source.name, read_segmented(opened.source)
    empty = np.flatnonzero(words.lengths == 0)
    lines = (f"{name}:{i + 1}: the sentence is empty" for i in empty.tolist())
    problems = _listed(name, "empty sentences", lines, len(empty))
    facts = {"sentences": words.n_sentences, "words": len(words.sentence)}
    facts["characters"] = int(words.first[-1])
    return FileCheck(name, "segmented", "segmentation", facts, {}, problems, words.notes)


# --- The fields of a JSON Schema: paths, types, which are required, rules to consider

_ALTERNATIVES = ("allOf", "anyOf", "oneOf")


def _field(path: str, types: tuple[str, ...], required: bool, rule: str = "") -> PathSummary:
    """Describe a field: if every record (or row) has it, and the option that may suit it."""
    return PathSummary(path, types, 0, 0, (), required, rule)


def _fields_of_schema(given: Any) -> dict[str, PathSummary]:
    """Return the fields of a JSON Schema: a file, a dictionary or a model of pydantic."""
    name, schema = "schema", given
    if callable(getattr(given, "model_json_schema", None)):  # a model of pydantic
        schema = given.model_json_schema()
    elif isinstance(given, (str, Path)):
        name, source = str(given), load(given, expected="a JSON Schema")
        try:
            schema = json.loads(source.data)
        except (ValueError, RecursionError) as error:
            raise source.error(f"is not JSON ({error}); expected a JSON Schema") from None
    if not isinstance(schema, Mapping):
        raise InputError(f"{name}: {shown(schema)}; expected a JSON Schema, which is an object")
    found: dict[str, PathSummary] = {}
    for field in _schema_fields(schema, schema, "", True):
        known = found.setdefault(field.path, field)
        types = tuple(dict.fromkeys((*known.types, *field.types)))
        both = bool(known.required or field.required)
        found[field.path] = _field(field.path, types, both, known.rule or field.rule or "")
    if not found:
        raise InputError("has no properties; expected the JSON Schema of an object", name)
    return found


def _schema_fields(
    node: Any, root: Any, path: str, required: bool, seen: frozenset[str] = frozenset()
) -> Iterator[PathSummary]:
    """Yield the fields below a part of a schema; `seen`: references that led there."""
    if not isinstance(node, Mapping):
        return
    reference = str(node.get("$ref", ""))
    if reference.startswith("#") and reference not in seen:  # a schema may refer to itself
        part = root
        for step in reference.split("/")[1:]:
            key = step.replace("~1", "/").replace("~0", "~")
            part = part.get(key) if isinstance(part, Mapping) else None
        yield from _schema_fields(part, root, path, required, seen | {reference})
    for each in (each for key in _ALTERNATIVES for each in node.get(key, ())):
        yield from _schema_fields(each, root, path, required, seen)
    types = node.get("type", ())
    names = (types,) if isinstance(types, str) else tuple(types)
    if isinstance(node.get("properties"), Mapping):
        for key, below in node["properties"].items():
            own = f"{path}.{quoted(key)}" if path else quoted(key)
            always = required and key in node.get("required", ())
            yield from _schema_fields(below, root, own, always, seen)
    elif "object" in names and path:
        yield _field(f"{path}{{}}", ("object",), False, f"--open-map {path}")
    if "items" in node:
        yield from _schema_fields(node["items"], root, f"{path}[]", required, seen)
        if node.get("uniqueItems"):
            yield _field(f"{path}[]", (), required, f"--unique {path}")
    simple = tuple(name for name in names if name not in ("object", "array", "null"))
    if path and (simple or "enum" in node or "const" in node):
        is_date = "string" in simple and node.get("format") in ("date", "date-time")
        rule = "date" if is_date else "tolerance=0.01" if "number" in simple else ""
        yield _field(path, simple, required, f"--field '{path}={rule}'" if rule else "")
