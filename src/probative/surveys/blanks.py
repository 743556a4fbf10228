"""Write the units of a sample as a file for annotators, and read the annotated file.

Only what shows the text of a unit is written: tokens, texts, ids, documents. All other columns may
hold the output of a system, and are left out unless they are requested.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from probative.counts import Counts
from probative.errors import InputError
from probative.matching.outputs import how_to_read
from probative.reading.alignment import align
from probative.reading.annotations import TEXT_COLUMNS, RowIds, Text
from probative.reading.columns import column_of, layout, share_of_tags
from probative.reading.formats import FORMATS, Input, open_input
from probative.reading.inputs import is_path
from probative.reading.lines import SPAN_KEYS
from probative.reading.records import KEY_BORDER, USUAL_KEY
from probative.reading.rows import TOKENS, is_tag_column
from probative.reading.runs import same_file
from probative.reading.source import Source, load, place_of_number
from probative.reading.table_sides import is_beside
from probative.reading.tables import PREDICTED_NAMES, plain_name, rows_of_table
from probative.surveys.pool import Pool, n_parts, names_of_parts, places_of_names
from probative.tables.engines import listed
from probative.wording.numbers import counted

if TYPE_CHECKING:
    from probative.matching.matched import Matched
    from probative.surveys.design import Design

    Ints = NDArray[np.intp]
    Keep = Sequence[int | str]  # further columns to write
    Found = tuple[list[Ints], list[str]]  # places of the units of every file, and notes


# --- Sentences of a column file, with a blank for every tag

_BLANK = "_"  # not a tag in any scheme
_KEPT_COMMENTS = (b"# sent_id", b"# text =")


class _ColumnBlanks:
    """A column file of which only some columns are written."""

    notes: tuple[str, ...] = ()
    # how to read an annotated file
    written: ClassVar[dict[str, Any]] = {"format": "columns", "column": -1, "blank": _BLANK}

    def __init__(self, opened: Input, keep: Keep, *, is_output: bool) -> None:
        self.shape = shape = opened.layout
        token = shape.token_column
        if token is None and is_output:
            raise opened.source.error("holds tags and no tokens; expected a file with the tokens")
        token = token or 0
        if shape.width > 1 and share_of_tags(shape, token) > 0.5:
            raise opened.source.error(f"column {token + 1} holds tags; expected the tokens first")
        start, end = shape.table.column(token, shape.rows)
        self.text = replace(shape.text, start=start, size=end - start)
        self.n_parts = self.text.n_sentences
        numbers = [0] if shape.numbered and token else []
        more = [_kept(opened, column) for column in keep]
        self.columns = [*dict.fromkeys([*numbers, token, *more])]  # that are written, from 0

    def write(self, parts: NDArray[Any]) -> str:
        """Return the lines of some sentences, with a blank last column for tags."""
        table = self.shape.table
        between, data = "\t" if table.tabs else " ", table.source.data
        fields = [table.column(column, self.shape.rows) for column in self.columns]
        documents, last = self.text.document, None
        lines: list[str] = []
        for part in parts.tolist():
            document = None if documents is None else int(documents[part])
            if document is not None and document != last:
                if self.shape.numbered:
                    first = int(np.argmax(documents == document))
                    lines += self._comments(first, (b"# newdoc",))[:1] or ["# newdoc"]
                else:
                    lines += [between.join(["-DOCSTART-", *[_BLANK] * len(self.columns)]), ""]
                last = document
            low, high = self.text.first[part : part + 2].tolist()
            lines += self._comments(part, _KEPT_COMMENTS)
            rows = ([data[a[i] : b[i]].decode() for a, b in fields] for i in range(low, high))
            lines += [between.join([*cells, _BLANK]) for cells in rows]
            lines.append("")
        return "\n".join(lines) + "\n"

    def _comments(self, part: int, starts: tuple[bytes, ...]) -> list[str]:
        """Return the comments of a sentence that start so, for formats that have comments."""
        lines = self.text.raw(part).split(b"\n") if self.shape.numbered else []
        return [line.decode().rstrip("\r") for line in lines if line.startswith(starts)]


def _kept(opened: Input, column: int | str) -> int:
    """Return the index of a further column to be written; refuse one that holds tags."""
    shape, source = opened.layout, opened.source
    number = int(column) if str(column).lstrip("-").isdecimal() else 0
    missing = source.error(f"there is no column {column}; expected 1 to {shape.width} for keep=")
    place = place_of_number(number, shape.width, lambda _: missing)
    asked = opened.options.tag_column
    tagged = isinstance(asked, int) and place == (asked - (asked > 0)) % shape.width
    if place != shape.token_column and (tagged or share_of_tags(shape, place) > 0.5):
        what = "tags, which annotators must not see"
        raise source.error(f"column {column} holds {what}; expected others for keep=")
    return place


# --- Rows of a table or objects of JSON lines, with an empty label

# Columns that only identify a row; label_id, for instance, would reveal the label
_ID = re.compile(
    r"|((text|item|row|example|sample|record|tweet|post|message|review|comment|question|orig)_)?"
    r"(id|idx|index|uid|uuid|guid)|key|unnamed:_0"
)
_TOKEN_KEYS = ("text", "start", "end", "id", "ws")  # kept keys of tokens that are objects
_DELIMITED = ("csv", "tsv")
_GOLD_KEY = "gold"  # what annotators fill in for records


@dataclass(eq=False)
class _TableBlanks:
    """Rows of a table of which only some columns are written."""

    kind: str  # csv, tsv, jsonl or json
    form: str  # the name of the format for `input_format`
    names: Sequence[str]  # the columns that are written
    rows: Sequence[Sequence[Any]]  # their cells
    answer: str  # the column that annotators fill in
    part_of_row: NDArray[Any] | None = None  # sentence or unit of every row, if several share one
    delimiter: str = ","
    text: Text | None = field(default=None, repr=False)  # if a row is a sentence
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        part = self.part_of_row
        self.n_parts = len(self.rows) if part is None else int(part.max(initial=-1)) + 1
        # how to read an annotated file
        blank = "" if self.kind in _DELIMITED else None
        self.written = {"format": self.form, "column": self.answer, "blank": blank}

    def write(self, parts: NDArray[Any]) -> str:
        """Return the rows of some units, with an empty last column for gold."""
        chosen: Any = parts
        if self.part_of_row is not None:
            chosen = np.flatnonzero(np.isin(self.part_of_row, parts))
        rows = [self.rows[i] for i in chosen.tolist()]
        names = (*self.names, self.answer)
        if self.kind in _DELIMITED:
            text = io.StringIO()
            plain: dict[str, Any] = {"quoting": csv.QUOTE_NONE, "quotechar": None}
            how = {} if self.kind == "csv" else plain
            writer = csv.writer(text, delimiter=self.delimiter, lineterminator="\n", **how)
            writer.writerows([names, *([*row, ""] for row in rows)])
            return text.getvalue()
        records = [dict(zip(names, (*row, None), strict=True)) for row in rows]
        lines = [json.dumps(record, ensure_ascii=False) for record in records]
        if self.kind == "json":
            return "[\n" + ",\n".join(lines) + "\n]\n"
        return "\n".join(lines) + "\n"


def _open_table(opened: Input, pool: Pool, keep: Keep) -> _TableBlanks:
    """Read the columns of a table that annotators may see; never those of the systems' labels."""
    source, unit = opened.source, opened.options.unit
    kind, delimiter, names, rows = rows_of_table(source, comments=opened.options.comments)
    labels = [str(column) for column in pool.reading.columns]
    kept, rows = _visible(source, names, rows, keep, labels, unit)
    how = f"so the sample names its rows by {listed(kept)} only; keep= adds columns for annotators"
    note = f"{source.name}: has no known column of texts, {how}"
    tells = any(_is_text(name) for name in kept) or keep
    side: Any = pool.sides[0]
    part_of_row = None  # if rows are tokens, or items of units
    if pool.task == "entities":
        if len(rows) != side.text.n_tokens:
            raise source.error(f"{len(rows)} rows; expected {side.text.n_tokens}, one per token")
        if unit not in kept and not any(n.lower().startswith(("sent", "sid")) for n in kept):
            raise source.error("has no column of sentences; expected one, or columns (CoNLL)")
        part_of_row = side.text.sentence
    elif len(rows) == len(side):
        part_of_row = side.units
    answer = "tag" if pool.task == "entities" else "label"
    notes = () if tells else (note,)
    return _TableBlanks(kind, "table", kept, rows, answer, part_of_row, delimiter, notes=notes)


def _is_text(name: str) -> bool:
    """Return True if the name of a column is one for texts."""
    return plain_name(name) in TEXT_COLUMNS or is_beside(plain_name(name))


def _visible(
    source: Source,
    names: Sequence[str],
    rows: Sequence[Sequence[Any]],
    keep: Keep,
    labels: Sequence[str],
    unit: str | None = None,
    sure: Sequence[str] = (),
) -> tuple[list[str], list[list[Any]]]:
    """Return the columns to write and their cells; refuse requested ones without or with labels."""
    # further columns than those of `keep` and `sure` hold no objects, which may be anything
    asked = [str(column) for column in keep]
    for name in asked:
        if name not in names:
            raise source.error(f"there is no column {name!r}; expected one of {listed([*names])}")
        if name in labels or plain_name(name) in PREDICTED_NAMES:
            raise source.error(f"column {name!r} holds labels; expected others for keep=")
    # columns that hold or identify a text and cannot be a system's output
    safe = [n for n in names if _is_text(n) or n == unit or _ID.fullmatch(plain_name(n))]
    kept = [n for n in names if n in asked or (n in safe and n not in labels)]

    def is_plain(name: str) -> bool:
        values = [row[names.index(name)] for row in rows]
        parts = [part for value in values if isinstance(value, list) for part in value]
        return all(isinstance(p, str) for p in parts) and dict not in set(map(type, values))

    shown = [n for n in names if n in (*asked, *sure) or (n in kept and is_plain(n))]
    if not kept or not shown:
        known = listed(list(names))
        found = f"no column of texts or ids is known among {known}"
        raise source.error(f"{found}; expected keep= with the columns for annotators")
    places = [names.index(name) for name in shown]
    return shown, [[row[place] for place in places] for row in rows]


def _open_objects(opened: Input, keep: Keep, *, tagged: bool) -> _TableBlanks:
    """Read the keys that annotators may see of JSON lines with spans, or with tokens and tags."""
    source = opened.source
    kind, _, keys, cells = rows_of_table(source)
    taken = [key for key in keys if is_tag_column(key)] if tagged else list(SPAN_KEYS)
    names, rows = _visible(source, keys, cells, keep, taken, sure=TOKENS)
    answer = "ner_tags" if tagged else next((key for key in SPAN_KEYS if key in keys), "spans")

    def shown(value: Any) -> Any:
        """Remove from tokens that are objects everything but the keys of the token itself."""
        if isinstance(value, list) and all(isinstance(token, dict) for token in value):
            return [{key: token[key] for key in _TOKEN_KEYS if key in token} for token in value]
        return value

    def words(record: dict[str, Any]) -> Sequence[str]:
        """Return the text or the tokens of a record."""
        if isinstance(record.get("text"), str):
            return str(record["text"])
        tokens = record.get("tokens") or record.get("words") or []
        return [str(t.get("text")) if isinstance(t, dict) else str(t) for t in tokens]

    rows = [[shown(cell) for cell in row] for row in rows]
    texts = [words(dict(zip(keys, row, strict=True))) for row in cells]
    first = np.cumsum([0, *map(len, texts)])
    form, text = "rows" if tagged else "jsonl", Text(source.name, first, sentences=texts)
    return _TableBlanks(kind, form, names, rows, answer, text=text)


def _open_lines(path: Path | str, pool: Pool, *, is_output: bool) -> _TableBlanks:
    """Read texts, one per line, as a table with a column for the label; refuse an output."""
    if is_output:
        raise InputError("holds labels and no texts; expected the texts, one per line", path)
    lines = load(path, encoding=pool.reading.encoding).data.decode().split("\n")
    texts = [line.rstrip("\r") for line in (lines[:-1] if not lines[-1] else lines)]
    rows = [[str(number), text] for number, text in enumerate(texts, start=1)]
    kind, delimiter = ("csv", ",") if any("\t" in text for text in texts) else ("tsv", "\t")
    return _TableBlanks(kind, "table", ["id", "text"], rows, "label", delimiter=delimiter)


def _open_documents(path: Path | str, pool: Pool, keep: Keep, same: Sequence[int]) -> _TableBlanks:
    """Find what annotators may see of documents whose records are outputs: keys and texts."""
    key = [str(name) for name in pool.reading.key] or [USUAL_KEY]
    sides: Any = pool.sides
    order = {name: place for place, name in enumerate(sides[0].keys)}
    kind, delimiter = "jsonl", ","
    if Path(path).is_dir():
        texts = {file.stem: file for file in sorted(Path(path).iterdir()) if file.is_file()}
        known = {file.suffix for file in texts.values()} == {".txt"}
        names, held = [*key, *(["text"] if known else [])], [*texts]
        rows = [[n, *([texts[n].read_text("utf-8")] if known else [])] for n in held]
    elif same and sides[same[0]].column is None:  # all but the key are fields of an output
        names, held = key, [*order]
        rows = [name.split(KEY_BORDER) for name in held]
    else:
        source = load(path, encoding=pool.reading.encoding)
        kind, delimiter, there, cells = rows_of_table(source)
        outputs = [*map(str, pool.reading.columns), *(sides[i].column for i in same)]
        names, rows = _visible(source, there, cells, [*key, *keep], outputs)
        places = [names.index(name) for name in key]
        held = [KEY_BORDER.join(str(row[place]) for place in places) for row in rows]
        keep = ()
    if keep:
        raise InputError("keep: there are no other columns; expected it left out", path)
    if {*held} != order.keys() or len(held) != len(order):
        odd = next((name for name in [*held, *order] if (name in order) != (name in held)), held[0])
        odd = odd.replace(KEY_BORDER, ", ")
        found = f"{len(held):,} documents, but the outputs have {len(order):,} (look at {odd!r})"
        raise InputError(f"{found}; expected the same, each once", path)
    ordered = [row for _, row in sorted(zip((order[name] for name in held), rows, strict=True))]
    return _TableBlanks(kind, "records", names, ordered, _GOLD_KEY, delimiter=delimiter)


# --- Opening the text of a pool in any format

Blanks = _ColumnBlanks | _TableBlanks
_WRITTEN = "columns (CoNLL), JSON lines with spans or with tokens and tags, tables (CSV, TSV, JSON)"
_TABLES = (".csv", ".tsv", ".jsonl", ".ndjson", ".json")


def open_blanks(path: Path | str, pool: Pool, outputs: Sequence[Any], keep: Keep = ()) -> Blanks:
    """Open the text of a pool, from which units are written without any system's output."""
    same = [number for number, output in enumerate(outputs) if same_file(path, output)]
    if pool.task == "records":
        return _open_documents(path, pool, keep, same)
    form = _form(path, pool, same)
    if form == "labels":
        lines = _open_lines(path, pool, is_output=bool(same))
        return _with_same_text(lines, pool, str(path))
    opened = open_input(path, replace(how_to_read(pool.reading), input_format=form, predicted=True))
    if form in ("table", "jsonl", "rows") and opened.source.kind == "parquet":
        expected = "CSV, TSV or JSON lines" if form == "table" else "JSON lines"
        raise opened.source.error(f"is Parquet; expected the pool as {expected}")
    if form in ("columns", "conllu"):
        blanks: Blanks = _ColumnBlanks(opened, keep, is_output=bool(same))
    elif form == "table":
        blanks = _open_table(opened, pool, keep)
    elif form in ("jsonl", "rows"):
        blanks = _open_objects(opened, keep, tagged=form == "rows")
    else:
        found = f"is {FORMATS[form].title}, but samples are not written as that"
        raise InputError(f"{found}; expected the text of the pool as {_WRITTEN}", path)
    return _with_same_text(blanks, pool, str(path))


def _form(path: Path | str, pool: Pool, same: Sequence[int]) -> str:
    """Return the format of the pool: that of the output that it is, or that of its content."""
    if same:
        return str(getattr(pool.sides[same[0]].origin, "form", None))
    like = next((side.origin.form for side in pool.sides if side.origin is not None), None)
    if pool.reading.input_format is not None:
        return pool.reading.input_format
    suffix = Path(str(path).removesuffix(".gz")).suffix.lower()
    if suffix in _TABLES and like in ("table", "labels"):
        return "table"
    if like in ("columns", "conllu", "table", "jsonl", "labels"):
        return like
    return open_input(path, replace(how_to_read(pool.reading), task=pool.task, like=like)).kind


def _with_same_text(blanks: Blanks, pool: Pool, name: str) -> Blanks:
    """Return the text of a pool; refuse one that differs from that of the outputs."""
    part, number = "row" if isinstance(blanks, _TableBlanks) else "sentence", len(pool.unit_of_part)
    if blanks.n_parts != number:
        found = f"{blanks.n_parts} {part}s, but the outputs have {number}"
        raise InputError(f"{found}; expected the same text", name)
    side: Any = pool.sides[0]
    text = side.text if pool.task == "entities" else side.aligned
    if isinstance(text, Text) and blanks.text is not None:
        if text.sentences is not None or part == "sentence":
            align(blanks.text, text, by=pool.reading.align_by)
    elif isinstance(text, RowIds) and isinstance(blanks, _TableBlanks):
        # the first column that holds only identifiers
        names = blanks.names
        place = next((i for i, n in enumerate(names) if n and _ID.fullmatch(plain_name(n))), -1)
        same = place >= 0 and names[place] == text.column
        for number, row in enumerate(blanks.rows if same else (), start=1):
            own, their = str(row[place]), text.names[text.codes[number - 1]]
            if own != their:
                found = f"row {number} has {text.column} {own[:40]!r}, but {their[:40]!r}"
                raise InputError(f"{found} in the outputs; expected the same order", name)
    return blanks


def unanswered(path: Path | str, written: Mapping[str, Any]) -> int:
    """Count what is still blank in an annotated file; `written` is the entry of its design."""
    if Path(path).is_dir():
        return 0
    source = load(path)
    if written.get("format") == "columns":
        codes, values = column_of(layout(source), -1)
        blank = [code for code, value in enumerate(values) if value == _BLANK.encode()]
        return int(np.isin(codes, blank).sum())
    _, _, names, rows = rows_of_table(source)
    column = written.get("column")
    if column not in names:  # records may come back without the column
        return 0 if written.get("format") == "records" else len(rows)
    place = names.index(str(column))
    return sum(row[place] is None or row[place] == "" for row in rows)


# --- Reading the annotated units, finding them in the design, and computing their counts
# An annotated file holds the units of the sample as they were written, or in another order if
# tokens, texts or ids identify them. Several files hold the draws of a design one after the other,
# or any parts of it. Missing, duplicate and unknown units are errors: a selection from the sample
# is no longer a random sample.


class Annotated:
    """The counts of the annotated units of the first draws of a sample."""

    def __init__(self, design: Design, pool: Pool, annotated: Sequence[Any], batches: int) -> None:
        # `annotated`: files, lists of files, or any gold that `score` takes; each unit once
        units = design.units
        meant = units.number[units.batch < batches]
        parts = pool.parts_of(meant)
        files: list[Any] = []
        # a list of texts holds labels if the outputs came from Python, else files
        of_files = design.task == "entities" or all(output.path for output in design.outputs)
        for given in annotated:
            several = isinstance(given, (list, tuple)) and given and all(map(is_path, given))
            are_files = several and (of_files or any(isinstance(path, Path) for path in given))
            files += given if are_files else [given]
        sides = [_read(given, number, pool, design) for number, given in enumerate(files)]
        if not sides:
            raise InputError("annotated: missing; expected the annotated sample")
        places, notes = _find(sides, pool, parts, design)
        row_of_unit = np.full(pool.n_units, -1, dtype=np.intp)
        row_of_unit[meant] = np.arange(len(meant))
        tables = np.zeros((len(pool.names), len(meant), 4))
        matches: list[Matched] = []
        with_tn = True
        for side, side_places in zip(sides, places, strict=True):
            own = parts[side_places]
            try:
                matched = pool.match(side, own)
            except InputError as error:
                found, expected, _ = str(error).partition("; expected the same labels")
                if not expected:
                    raise
                wanted = "expected annotations with the labels of the outputs"
                raise InputError(f"{found}; {wanted}") from None
            for number, table in enumerate(tables):
                counts = matched.items.counts(number, by="sentence")
                with_tn = with_tn and counts.tn is not None
                tn = 0 * counts.tp if counts.tn is None else counts.tn
                cells = np.stack([counts.tp, counts.fp, counts.fn, tn], axis=1)
                np.add.at(table, row_of_unit[pool.unit_of_part[own]], cells)
            # the pool has shown the notes on the outputs
            known = {note for output in matched.systems for note in output.notes}
            notes += [note for note in matched.notes if note not in known]
            matches.append(matched)
        # of each system, one row per drawn unit, as in the design
        self.counts = [Counts(*(table.T if with_tn else table.T[:3])) for table in tables]
        self.matched = matches[0]  # the outputs, to the annotations of the first file
        self.positives = sum(float(own.items.positives) for own in matches)
        self.notes = [*dict.fromkeys(notes)]


def read_draws(design: Design, pool: Pool, annotated: Sequence[Any]) -> tuple[int, Annotated]:
    """Read the annotations of all complete draws; return how many there are, and their counts."""
    # units of a draw that somebody labelled first need not be a random part of it
    draws = len(design.batches)
    try:
        return draws, Annotated(design, pool, annotated, draws)
    except InputError:
        for done in range(draws - 1, 0, -1):
            with suppress(InputError):  # the error of reading all draws is reported
                found = Annotated(design, pool, annotated, done)
                to_come = counted(sum(map(sum, design.batches[done:])), design.unit)
                note = f"{done} of {draws} draws are annotated; {to_come} are still to come"
                found.notes.append(note)
                return done, found
        raise


def _read(given: Any, number: int, pool: Pool, design: Design) -> Any:
    """Read an annotated file, or an input from Python, as gold."""
    try:
        side = pool.read_gold(given, f"annotated, number {number + 1}")
    except InputError:
        _refuse_blanks(given, design)  # blanks may be the reason why it cannot be read
        raise
    if side.origin is not None and side.origin.form == design.written.get("format"):
        _refuse_blanks(given, design)
    if side.task != pool.task:
        found = f"is {side.task}, but the outputs are {pool.task}; expected the annotated sample"
        raise InputError(found, given if is_path(given) else None)
    return side


def _refuse_blanks(given: Any, design: Design) -> None:
    """Refuse a file of the sample that is not filled in completely."""
    if not is_path(given) or not design.written:
        return
    try:
        blank = unanswered(given, design.written)
    except InputError:  # another kind of file: reading it raises its own error
        return
    if blank:
        found = counted(blank, "token" if design.written.get("format") == "columns" else "row")
        raise InputError(f"{found} without a label; expected a label for each", given)


def _find(sides: Sequence[Any], pool: Pool, parts: Ints, design: Design) -> Found:
    """Return the places of annotated sentences among the drawn ones, and notes."""
    named = [names_of_parts(side, pool.sides[0]) for side in sides]
    found = [both for both in named if both is not None]
    if len(found) == len(named) and all(both[1] == found[0][1] for both in found):
        batch = np.zeros(pool.n_units, dtype=np.intp)
        batch[design.units.number] = design.units.batch
        drawn = [found[0][1][place] for place in parts.tolist()]
        return _by_name([own for own, _ in found], drawn, batch[pool.unit_of_part[parts]], pool)
    sizes = [n_parts(side) for side in sides]
    if sum(sizes) != len(parts):
        draws = f" in {len(design.batches)} draws" if len(design.batches) > 1 else ""
        given = f"{counted(sum(sizes), _part(pool))} without tokens, texts or ids"
        number = f"{len(parts):,} were drawn{draws}"
        raise InputError(f"annotated: {given}, but {number}; expected all, in the order drawn")
    return np.split(np.arange(len(parts)), np.cumsum(sizes)[:-1]), []


def _by_name(names: Sequence[Any], drawn: Sequence[Any], batch: Ints, pool: Pool) -> Found:
    """Find annotated sentences by their names; refuse missing, duplicate and unknown ones."""
    known = set(drawn)
    every = [name for own in names for name in own]
    places = places_of_names(drawn, np.arange(len(drawn)), every)
    without = [every[at] for at in np.flatnonzero(places < 0)]
    strange = [name for name in without if name not in known]
    twice = len(without) - len(strange)
    missing = np.setdiff1d(np.arange(len(drawn)), places)
    what, wrong = _part(pool), []
    if len(missing):
        late = ", ".join(str(n + 1) for n in np.unique(batch[missing]))
        where = f" (of draw {late})" if batch.max() > 0 else ""
        wrong.append(f"{len(missing):,} of the {counted(len(batch), what)} are missing{where}")
    if twice:
        wrong.append(f"{twice:,} occur more often than drawn")
    if strange:
        shown = " ".join(strange[0]) if isinstance(strange[0], tuple) else str(strange[0])
        wrong.append(f"{len(strange):,} not in the design (the first: {shown[:40]!r})")
    if wrong:
        raise InputError(f"annotated: {', '.join(wrong)}; expected each drawn {what} once")
    notes = []
    if (np.diff(places) < 0).any():
        equal = len(drawn) - len(known)
        notes.append("the annotated units are not in the order in which they were drawn")
        if equal:
            same = equal + sum(drawn.count(name) > 1 for name in known)
            what = "of them have the text of another one: these are matched in order"
            notes.append(f"{same} {what}")
    return np.split(places, np.cumsum([len(own) for own in names])[:-1]), notes


def _part(pool: Pool) -> str:
    """Return the word for what an annotated file holds: sentences, even if documents were drawn."""
    return pool.unit if pool.unit != "document" or pool.task == "records" else "sentence"
