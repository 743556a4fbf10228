"""Registry of file formats, and recognition of the format of a file.

Recognition asks every format of `FORMATS` for its claim. A format returns a claim, whose reason
completes a sentence that begins "because", or None. The strongest claim wins. Two equally strong
claims are an error that names both readings and the keyword that settles each.

**To add a format**, write its reader in a module of its own and add one entry to `FORMATS`:

* ``name``: the value of `input_format`;
* ``title``: its name in a sentence ("segmented text");
* ``tasks``: the tasks that it can be read for, the usual one first;
* ``recognise``: takes a `Glance` (the beginning of the file, its first JSON object, its columns,
  the options of the caller) and returns a claim or None. Use ``_SURE`` if nothing else looks like
  this (a magic number, the keys of an object); ``_LIKELY`` if there is evidence; ``_POSSIBLE`` if
  the file could be read so when all else fails or when gold has this format. Any JSON object is
  ``_LIKELY`` a table, so a format that knows its keys is ``_SURE``;
* ``read``: takes the `Input` and returns annotations: `Tagged`, `Spans`, `Segmented`, `Labels`,
  `LabelSets` or `Records`;
* ``pair``, if one file may hold gold and systems: takes the `Input`, the gold column and the
  columns of the systems, and returns gold, the systems and their names.

`probative.matching.check` then describes the file from these annotations. All files of one
comparison are read in the format of gold (`Options.like`) if that is likely, or if no other claim
is stronger.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from importlib import import_module
from itertools import compress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from probative._validation import one_of
from probative.errors import InputError
from probative.labels import factorise_each
from probative.reading.annotations import (
    Labels,
    LabelSets,
    Origin,
    Records,
    Segmented,
    Spans,
    Tagged,
)
from probative.reading.columns import ODD_TAG, TAG, Layout, are_tags, column_of, layout, read_tags
from probative.reading.fields import split, values_at
from probative.reading.lines import SPAN_KEYS, read_forms, read_labels, read_segmented, read_spans
from probative.reading.source import Source, is_brat_folder, load, object_of, some_of
from probative.reading.table_sides import read_one_table, read_table_pair
from probative.reading.tables import (
    PREDICTED_NAMES,
    header_of,
    is_list_of_objects,
    is_number,
    number_of_commas,
    plain_name,
    single_name,
)

if TYPE_CHECKING:
    from probative.reading.logs import Samples

    Annotations: TypeAlias = Tagged | Spans | Segmented | Labels | LabelSets | Samples | Records
    # gold, the systems, and the names of the systems
    Pair: TypeAlias = tuple[Any, list[Any], list[str]]
    Column: TypeAlias = int | str

_POSSIBLE, _LIKELY, _SURE = 1, 2, 3
_HEAD = 1 << 16  # bytes that recognition looks at
_COLUMN_ENDINGS = (".conll", ".conllu", ".iob", ".iob2", ".bio", ".pos")


class _Claim(NamedTuple):
    """Evidence that a file is of a format."""

    reason: str  # the evidence, as the rest of a sentence that begins "because"
    strength: int = _SURE  # ``_SURE``, ``_LIKELY`` or ``_POSSIBLE``
    task: str | None = None  # the task to read it for, if not the usual one of the format


@dataclass(frozen=True, eq=False)
class Glance:
    """The parts of a file that recognisers look at; each is computed on first use."""

    source: Source
    options: Options

    @cached_property
    def head(self) -> Source:
        """Return the first lines, without leading blank ones."""
        data = self.source.data
        if len(data) <= _HEAD:
            return self.source
        blank = len(data) - len(data.lstrip())
        first = data.rfind(b"\n", 0, blank) + 1
        last = data.rfind(b"\n", first, first + _HEAD) + 1
        return Source(self.source.name, data[first : last or first + _HEAD])

    @cached_property
    def is_text(self) -> bool:
        """Return True if the file is neither binary nor JSON nor a format of another tool."""
        source = self.source
        is_json = any(one is not None for one in (source.first_object, self.listed, self.records))
        return source.kind == "text" and not is_json and self.tool is None

    @cached_property
    def records(self) -> str | None:
        """Return why the file holds JSON records, or None."""
        source = self.source
        if self.tool is not None or source.kind in ("zip", "docbin"):
            return None
        plain = source.kind == "text" and source.opening != b"[" and b"{" not in self.head.data
        if plain or self.sure_of_spans:
            return None
        from probative.reading.records import why_file_of_records

        return why_file_of_records(source, self.head, self.options.column)

    @cached_property
    def sure_of_spans(self) -> bool:
        """Return True if the first line is an object with spans."""
        spans = None if self.source.first_object is None else _is_jsonl(self)
        return spans is not None and spans.strength == _SURE

    @cached_property
    def sure_of_records(self) -> bool:
        """Return True if the file holds records, and no single labels beside their objects."""
        if self.records is None:
            return False
        record = self.source.first_object or {}
        texts = (key for key, value in record.items() if type(value) is str)
        labels = set(map(plain_name, texts))
        return "JSON" in self.records or not labels & {"label", "gold", "y", "y_true", "target"}

    @cached_property
    def tool(self) -> tuple[str, str] | None:
        """Return the format of another tool and the reason, or None."""
        source = self.source
        if source.kind == "text" and source.opening not in (b"{", b"[", b"T"):  # HIPE: TOKEN
            return None
        from probative.reading.tools import tool_of_file

        graded, score_name = self.options.graded, self.options.score_name
        return tool_of_file(source, graded=graded, score_name=score_name)

    @cached_property
    def listed(self) -> dict[str, Any] | None:
        """Return the first object of a JSON list whose objects are rows of a table, or None."""
        source = self.source
        if source.kind != "text" or not is_list_of_objects(source) or self.tool is not None:
            return None
        try:
            rows = source.document
        except InputError:
            return None
        cells = [cell for row in rows if isinstance(row, dict) for cell in row.values()]
        # a cell holds a single value or a list of texts
        entries = (entry for cell in cells if isinstance(cell, list) for entry in cell)
        plain = not any(isinstance(cell, dict) for cell in cells)
        return rows[0] if plain and all(isinstance(entry, str) for entry in entries) else None

    @cached_property
    def shape(self) -> Layout | None:
        """Return the columns of the first lines; None if the number of columns varies."""
        try:
            return layout(self.head, comments=self.options.comments)
        except InputError:
            return None

    @cached_property
    def tags(self) -> tuple[int, tuple[str, ...], float] | None:
        """Return the column (from 1) that mostly holds tags, some of the tags, and their share."""
        # Letters without O or a type (I in English text) count only in the last of several columns.
        if self.shape is not None:
            last = self.shape.width - 1
            for column in range(last, min(last, 1) - 1, -1):
                found = _tags_among(*column_of(self.shape, column), strict=column < last)
                if found is not None:
                    return (column + 1, *found)
            return None
        table = split(self.head)  # a column file with a few broken lines?
        width = table.width[table.width > 0]
        usual = int(np.bincount(width).argmax()) if len(width) else 0
        rows = np.flatnonzero(table.width == usual).astype(np.int32)
        if usual < 2 or len(rows) < 0.5 * len(width):
            return None
        texts = values_at(self.head, *table.column(-1, rows[:2000]))
        found = _tags_among(*factorise_each(texts, len(texts)), strict=True)
        return None if found is None else (usual, *found)

    @cached_property
    def is_ragged(self) -> bool:
        """Return True if lines have different numbers of words."""
        if self.shape is not None:
            return False
        width = split(self.head).width
        return len(np.unique(width[width > 0])) > 1


def _tags_among(
    codes: Any, values: Sequence[bytes], *, strict: bool
) -> tuple[tuple[str, ...], float] | None:
    """Return some tags and the share of tags if most values are tags, else None."""
    is_tag = are_tags(values)
    share = float(is_tag[codes].mean())
    tags = [value.decode("utf-8", "replace") for value in compress(values, is_tag)]
    typed = [tag for tag in tags if "-" in tag]
    telling = typed or "O" in tags or (not strict and len(tags) > 1)
    return ((*typed[:1], *tags[:1]), share) if share > 0.5 and telling else None


@dataclass(frozen=True)
class _Format:
    """An entry of `FORMATS`; see the module's docstring."""

    name: str
    title: str
    tasks: tuple[str, ...]
    recognise: Callable[[Glance], _Claim | None]
    read: Callable[[Input], Annotations]
    pair: Callable[[Input, Column | None, Sequence[Column]], Pair] | None = None


def recognise(source: Source, options: Options) -> Input:
    """Return a file with its format, task and reason; refuse one that could be two things."""
    if (kind := options.input_format) is not None:
        return Input(source, kind, options.task or FORMATS[kind].tasks[0], options)
    glance = Glance(source, options)
    claims = [(f, claim) for f in FORMATS.values() if (claim := f.recognise(glance)) is not None]
    if not claims:
        raise source.error("is of no format that is known; expected it named (input_format=)")
    fitting = [(f, c) for f, c in claims if options.task in (None, *f.tasks)] or claims
    strength = max(claim.strength for _, claim in fitting)
    best = [(f, claim) for f, claim in fitting if claim.strength == strength]
    enough = min(strength, _LIKELY)
    like_gold = [(f, c) for f, c in fitting if f.name == options.like and c.strength >= enough]
    (found, claim), *others = like_gold or best
    if others:  # name the keyword that settles each
        other, unlike = others[0]
        tasks = claim.task or found.tasks[0], unlike.task or other.tasks[0]
        settled = [f"task={task!r}" for task in tasks]
        if tasks[0] == tasks[1] or options.task is not None:
            settled = [f"input_format={f.name!r}" for f in (found, other)]
        problem = f"could be {found.title} ({claim.reason}) or {other.title} ({unlike.reason})"
        raise source.error(f"{problem}; expected {settled[0]} or {settled[1]}")
    asked = strength == _POSSIBLE and options.task is not None
    reason = f"{options.task} is asked for" if asked else claim.reason
    reason = "gold is, too" if like_gold else reason
    return Input(source, found.name, options.task or claim.task or found.tasks[0], options, reason)


# --- Claims of each format


def _is_conllu(glance: Glance) -> _Claim | None:
    shape = glance.shape if glance.is_text else None
    if shape is None or not shape.numbered or shape.width != 10 or not shape.table.tabs:
        return None
    return _Claim("it has ten columns between TABs, and the first numbers the tokens")


def _is_columns(glance: Glance) -> _Claim | None:
    if not glance.is_text or _is_conllu(glance) or _asks_for_table(glance):
        return None
    options, shape, tags = glance.options, glance.shape, glance.tags
    if isinstance(options.tag_column, int):
        return _Claim("a tag column is asked for")
    if options.comments:
        return _Claim("comments are asked for")
    if shape is not None and shape.numbered:
        return _Claim("the first column numbers the tokens")
    if tags is not None and not _has_header(glance):
        return _columns_of_tags(glance, *tags)
    if options.task == "entities":
        return _Claim("entities are asked for", _LIKELY)
    if shape is None or shape.width == 1:
        return None
    reason = f"every line has {shape.width} columns, none of tags"
    values = [value[:100].decode("utf-8", "replace") for value in column_of(shape, -1)[1]]
    odd = next((value for value in values if ODD_TAG.fullmatch(value)), None)
    if odd is not None and {"O", "o"} & set(values):
        return _Claim(f"{odd!r} looks like a tag such as B-PER in another notation", _LIKELY)
    if header_of(glance.head) is not None:
        return _Claim(reason, _POSSIBLE, "labels")
    if shape.table.tabs and glance.source.suffix != ".tsv":
        return _Claim(f"{reason}, between TABs", _LIKELY, "labels")
    if options.task == "labels" and glance.source.suffix in _COLUMN_ENDINGS:
        return _Claim(f"{reason}, and its name ends in {glance.source.suffix}", _LIKELY, "labels")
    if b"\n\n" in glance.head.data.strip().replace(b"\r", b""):
        return _Claim(f"{reason}, separated by empty lines", _LIKELY, "labels")
    return _Claim(reason, _POSSIBLE, "labels")


def _columns_of_tags(glance: Glance, column: int, some: tuple[str, ...], share: float) -> _Claim:
    """Return the claim of a column of tags; bare letters, one per line, may also be labels."""
    shape = glance.shape
    typed = any("-" in tag for tag in some)
    if shape is not None and shape.width == 1:
        reason = f"its lines are tags such as {some[0]!r}"
        unlikely = _POSSIBLE if glance.options.task == "labels" else _LIKELY
        return _Claim(reason, _SURE if typed and share == 1 else unlikely)
    holds = "holds" if share == 1 else "mostly holds"
    reason = f"column {column} {holds} tags such as {some[0]!r}"
    if typed or (shape is not None and column == shape.width):
        return _Claim(reason)
    return _Claim(reason, _POSSIBLE if glance.is_ragged else _LIKELY)


def _is_segmented(glance: Glance) -> _Claim | None:
    if not glance.is_text:
        return None
    shape = glance.shape
    is_table = glance.source.suffix == ".tsv" or header_of(glance.head) is not None
    if not is_table and glance.is_ragged:
        return _Claim("its lines have different numbers of words", _LIKELY)
    if is_table or shape is None or shape.width == 1 or shape.table.tabs:
        return _Claim("it has lines", _POSSIBLE)
    return _Claim(f"its lines are {shape.width} words each", _LIKELY)


def _is_labels(glance: Glance) -> _Claim | None:
    if not glance.is_text:
        return None
    shape = glance.shape
    if shape is None or shape.width > 1 or header_of(glance.head) is not None:
        return _Claim("it has lines", _POSSIBLE)
    return _Claim("every line is a single word", _LIKELY)


def _is_jsonl(glance: Glance) -> _Claim | None:
    record, suffix = glance.source.first_object, glance.source.suffix
    if glance.tool is not None:
        return None
    if record is None:
        ending = suffix in (".jsonl", ".json", ".ndjson") and glance.is_text
        return _Claim(f"its name ends in {suffix}") if ending else None
    has_text = not record.keys().isdisjoint(("text", "tokens", "words"))
    under = next((key for key in SPAN_KEYS if isinstance(record.get(key), list)), None)
    if not has_text or (under is None and set(SPAN_KEYS) & set(record)):
        return None
    if under is not None:
        # an empty list shows no type, so look for the first other one
        lists = ((object_of(line) or {}).get(under) for line in glance.head.data.split(b"\n"))
        entries = record[under] or next((own for own in lists if own and isinstance(own, list)), [])
        texts = [isinstance(entry, str) for entry in entries]
        if texts and all(texts) and "text" in record:
            return None  # labels of the whole text, not spans
        return _Claim(f"its first object has a text and a list under {under!r}")
    named = set(map(plain_name, record)) & set(PREDICTED_NAMES)
    return _Claim("its first object has a text and no label", _POSSIBLE if named else _SURE)


def _is_records(glance: Glance) -> _Claim | None:
    asked = "records" in (glance.options.task, glance.options.like)
    if glance.records is not None:
        return _Claim(glance.records, _SURE if glance.sure_of_records else _LIKELY)
    return _Claim("records are asked for", _LIKELY) if asked else None


def _is_table(glance: Glance) -> _Claim | None:
    if glance.tool is not None or glance.source.kind == "folder":
        return None
    if glance.sure_of_records and glance.options.task in (None, "records"):
        return None
    if glance.source.kind == "parquet":
        return _Claim("it begins as Parquet files do")
    if glance.source.first_object is not None:
        keys = some_of(list(glance.source.first_object), 4)
        claim = _Claim(f"its first line is a JSON object with {keys}", _LIKELY)
        return None if glance.sure_of_spans else claim
    if glance.listed is not None:
        keys = some_of(list(glance.listed), 4)
        return _Claim(f"it is a JSON list of objects with {keys}", _LIKELY)
    if _asks_for_table(glance):
        return _Claim("a header or the name of a column was given")
    if glance.source.suffix == ".csv":
        return _Claim("its name ends in .csv")
    if _has_header(glance):
        return _Claim("its first line names the columns: tags follow below, and it has none")
    if glance.source.suffix == ".tsv":
        return _Claim("its name ends in .tsv", _LIKELY)
    if (names := header_of(glance.head)) is not None:
        return _Claim(f"its first line names columns: {some_of(names, 4)}", _LIKELY)
    if glance.shape is None or glance.shape.width > 1:
        return None
    name, commas = single_name(glance.head), number_of_commas(glance.head)
    if name is not None:
        return _Claim(f"its first line, {name!r}, occurs only there, like a name", _LIKELY)
    return _Claim(f"every line has {commas} comma{'s' * (commas > 1)}", _LIKELY) if commas else None


def _asks_for_table(glance: Glance) -> bool:
    """Return True if the options name a header or a column, and the text may have them."""
    options = glance.options
    names = [name for name in (options.column, options.unit) if name is not None]
    if options.header is None and all(map(is_number, names)):
        return False
    first = glance.head.data.lstrip().split(b"\n", 1)[0]
    alone = glance.shape is not None and glance.shape.width == 1
    return glance.is_text and (alone or any(sign in first for sign in (b"\t", b",", b";")))


def _has_header(glance: Glance) -> bool:
    """Return True if, between TABs, only the first line has no tag."""
    shape = glance.shape
    if shape is None or glance.tags is None or not shape.table.tabs or shape.numbered:
        return False
    if shape.width < 2 or len(shape.rows) < 2:
        return False
    codes, values = column_of(shape, glance.tags[0] - 1)
    is_tag = are_tags(values)[codes]
    return bool(not is_tag[0] and is_tag[1:].all())


def _by_tool(name: str) -> Callable[[Glance], _Claim | None]:
    """Return the recogniser of a format of another tool, whose claim is always sure."""
    return lambda glance: (
        _Claim(glance.tool[1]) if glance.tool is not None and glance.tool[0] == name else None
    )


# --- Readers


def _read_columns(opened: Input) -> Annotations:
    if opened.task == "segmentation":
        return read_forms(opened.layout)
    column, named = opened.options.tag_column, opened.options.column
    if column is None and named is not None:
        if not is_number(str(named)):
            problem = f"there is no column {str(named)!r}: columns have no names here"
            raise opened.source.error(f"{problem}; expected a number (or input_format='table')")
        column = int(named)
    tags = read_tags(opened.layout, column, any_values=opened.task == "labels")
    return tags if opened.task == "entities" else tags.as_labels()


def _read_column_pair(opened: Input, gold: Column | None, columns: Sequence[Column]) -> Pair:
    source, shape, task = opened.source, opened.layout, opened.options.task
    if shape.width < 2:
        raise source.error("has one column; expected a gold and a predicted one")
    wanted = [int(c) for c in columns] or [-1]
    # the gold column comes last: the last one of the file was coded when the format was recognised
    numbers = [*wanted, int(gold) if gold is not None else -2]
    tags = [read_tags(shape, column, any_values=True) for column in numbers]
    places = [column if column > 0 else shape.width + column + 1 for column in numbers]
    *systems, answer = (replace(t, column=at) for t, at in zip(tags, places, strict=True))
    names = [Path(source.name).name] if len(wanted) == 1 else [f"column {c}" for c in wanted]
    if task == "labels":
        return answer.as_labels(), [system.as_labels() for system in systems], names
    if task == "segmentation":
        raise source.error("holds one segmentation; expected a second file")
    for side in (answer, *systems):
        known = np.array([TAG.fullmatch(name) is not None for name in side.names])
        if not known.all() and known[side.tags].mean() <= 0.5:
            what, example = side.notes[0].rsplit(": ", 1)[1], side.names[int(side.tags[0])][:60]
            problem = f"{what} of which most are not tags, such as {example!r}"
            expected = "expected a gold and a predicted column"
            raise source.error(f"{problem}; {expected}", int(shape.rows[0]) + 1)
    return answer, systems, names


def _content(read: Callable[[Source], Annotations]) -> Callable[[Input], Annotations]:
    return lambda opened: read(opened.source)


def _lazy(name: str, module: str = "tools") -> Callable[..., Any]:
    """Return a reader of a module of `probative.reading` that few files need."""
    return lambda *given: getattr(import_module(f"probative.reading.{module}"), name)(*given)


_SPANS, _WORDS, _LABELS, _RECORDS = ("entities",), ("segmentation",), ("labels",), ("records",)
_COLUMN_TASKS, _CONLLU_TASKS = _SPANS + _WORDS + _LABELS, _WORDS + _SPANS + _LABELS
_OF_RECORDS = (_lazy(name, "records") for name in ("read_records", "record_pair"))
_BOTH = _SPANS + _LABELS
FORMATS: dict[str, _Format] = {
    entry.name: entry
    for entry in (
        _Format("columns", "columns", _COLUMN_TASKS, _is_columns, _read_columns, _read_column_pair),
        _Format("conllu", "CoNLL-U", _CONLLU_TASKS, _is_conllu, _read_columns, _read_column_pair),
        _Format("segmented", "segmented text", _WORDS, _is_segmented, _content(read_segmented)),
        _Format("labels", "a list of labels", _LABELS, _is_labels, _content(read_labels)),
        _Format("jsonl", "JSON lines with spans", _SPANS, _is_jsonl, _content(read_spans)),
        _Format("table", "a table", _LABELS + _SPANS, _is_table, read_one_table, read_table_pair),
        _Format("records", "JSON objects", _RECORDS, _is_records, *_OF_RECORDS),
        *(
            _Format(name, title, tasks, _by_tool(name), *map(_lazy, readers))
            for name, title, tasks, *readers in (
                ("rows", "rows of tokens and tags", _BOTH, "read_rows", "row_pair"),
                ("choices", "labels chosen for texts", _LABELS, "read_choices"),
                ("labelstudio", "an export of Label Studio", _BOTH, "read_studio", "studio_pair"),
                ("brat", "a folder of brat", _SPANS, "read_brat"),
                ("docbin", "documents of spaCy", _SPANS, "read_docbin"),
                ("hipe", "a file of HIPE", _BOTH, "read_hipe", "hipe_pair"),
                ("log", "a log of an evaluation", ("samples",), "read_samples", "log_pair"),
            )
        ),
    )
}


# --- Opening a file: it is read once and recognised from its content

TASKS = ("entities", "segmentation", "labels", "samples", "records")
_BINARY = {  # what is no text, and the formats that it may be read in
    "folder": ("a folder", "brat", "records"),
    "docbin": ("a file of spaCy", "docbin"),
    "zip": ("a zip archive", "log"),
    "parquet": ("Parquet", "table", "rows", "records"),
}


@dataclass(frozen=True)
class Options:
    """Choices of reading a file; None means that it is recognised."""

    task: str | None = None  # one of `TASKS` and of `FORMATS`
    input_format: str | None = None
    encoding: str | None = None  # the file's encoding
    tag_column: int | str | None = None  # in a column file: from 1, from -1 backwards, or a name
    comments: bool = False  # ``#`` starts a comment even where tokens have no numbers
    column: str | None = None  # the columns of the labels and of the units in a table
    unit: str | None = None
    header: bool | None = None  # the first line names the columns
    # A table has several labels per row: in lists (True), or separated by this text
    multilabel: bool | str | None = None
    probability_columns: tuple[str, ...] = ()  # named after classes; the most probable is the label
    like: str | None = None  # the format of gold; an output that could have that format is read so
    label_names: tuple[str, ...] = ()  # names of labels that are stored as numbers, from 0 on
    # the score of a log, and the value from which on an answer is right
    score_name: str | None = None
    threshold: float | None = None
    graded: bool = False  # read the scores of logs as numbers
    predicted: bool = False  # the output of a system: of several columns, one of predictions
    key: tuple[str, ...] = ()  # the id columns by which rows of several tables are joined
    group: str | None = None  # the column of the groups in a table
    blank: str | None = None  # the label for blank cells of a table; None: they are refused
    absent: str | None = None  # the label for missing values of lists; None: they are refused
    # records: look for them in prose; what becomes of outputs that are none (count or error)
    find_json: bool = False
    on_malformed: str = "count"

    @property
    def named_column(self) -> str | None:
        """Return the column that was requested by name."""
        by_name = self.tag_column if isinstance(self.tag_column, str) else None
        return self.column if self.column is not None else by_name

    def __post_init__(self) -> None:
        if self.task is not None:
            one_of("task", self.task, TASKS)
        if self.input_format is not None:
            one_of("input_format", self.input_format, FORMATS)


@dataclass(frozen=True, eq=False)
class Input:
    """A file that has been read and recognised."""

    source: Source  # its content
    kind: str  # one of `FORMATS` and of `TASKS`, requested or recognised
    task: str
    options: Options  # how to read it
    reason: str = ""  # the evidence for this format, after "because"

    @cached_property
    def layout(self) -> Layout:
        """Return lines, columns and sentences of a column file, without a line of column names."""
        source = self.source
        if self.options.header:
            begin = len(source.data) - len(source.data.lstrip())
            end = source.data.find(b"\n", begin)
            kept = source.data[end:] if end >= 0 else b""
            source = replace(source, data=source.data[:begin] + kept)
        return layout(source, comments=self.options.comments)


def open_input(
    path: str | Path,
    options: Options | None = None,
    *,
    data: bytes | None = None,
    limit: int | None = None,
) -> Input:
    """Read a file, a pipe or standard input (``-``) once, and recognise it."""
    options = options or Options()
    source = load(path, encoding=options.encoding, data=data, limit=limit)
    opened = recognise(source, options)
    kind = opened.kind
    # refuse to read a binary file in a format for another kind of file
    what, *kinds = _BINARY.get(source.kind, ("", kind))
    if kind not in kinds:
        raise source.error(f"is {what}; expected input_format={kinds[0]!r}, or {kind}")
    is_brat = source.kind == "folder" and is_brat_folder(path)
    if (kind == "brat" and not is_brat) or (kind == "docbin" and source.kind != "docbin"):
        raise source.error(f"is something else; expected {FORMATS[kind].title}")
    return opened


# --- Reading


def read(path: str | Path | Input, options: Options | None = None) -> Annotations:
    """Read a file of any known format; ``-`` is standard input."""
    opened = path if isinstance(path, Input) else open_input(path, options)
    found = FORMATS[opened.kind]
    if opened.task not in found.tasks:
        raise opened.source.error(f"read as {opened.kind}, it holds no {opened.task}")
    return replace(found.read(opened), origin=Origin(opened.kind, opened.reason))


def read_pair(
    path: str | Path,
    options: Options | None = None,
    *,
    gold: Column | None = None,
    columns: Sequence[Column] = (),
) -> Pair:
    """Read gold and systems from the columns of one file; return them and the systems' names."""
    opened = _opened_pair(path, options or Options(), [gold, *columns])
    found = FORMATS[opened.kind]
    if found.pair is None:
        problem = f"is {found.title}, which holds one side; expected a second file, or one file"
        raise opened.source.error(f"{problem} with a gold and a predicted column")
    return found.pair(opened, gold, columns)


def _opened_pair(path: str | Path, options: Options, columns: Sequence[Column | None]) -> Input:
    """Open a file; named columns mean a table, unless another tool wrote the file."""
    named = next((c for c in columns if isinstance(c, str) and not is_number(c)), None)
    if named is None or "records" in (options.task, options.input_format):
        return open_input(path, options)
    if any("*" in str(column) for column in columns) and options.task is None:
        return open_input(path, replace(options, task="records"))
    opened = open_input(path, replace(options, input_format="table"))
    reason = Glance(opened.source, replace(options, column=named)).records
    if reason is not None and options.input_format is None and options.task is None:
        return replace(opened, kind="records", task="records", reason=reason, options=options)
    kind, reason = Glance(opened.source, options).tool or ("table", "")
    if kind == "table" or FORMATS[kind].pair is None or options.input_format is not None:
        return opened
    task = options.task or FORMATS[kind].tasks[0]
    return replace(opened, kind=kind, task=task, reason=reason, options=options)
