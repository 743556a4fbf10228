"""Turn the columns of a table into labels, tags of tokens, sets of labels or probabilities."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from probative._validation import shown
from probative.errors import InputError, Recognised
from probative.labels import (
    factorise,
    factorise_each,
    is_missing,
    label_text,
    named,
    place_of_unhashable,
    refuse_continuous,
    texts_of,
)
from probative.reading.annotations import (
    TEXT_COLUMNS,
    Labels,
    LabelSets,
    RowGroups,
    RowIds,
    Tagged,
    Text,
    coded,
    codes_in,
    numbered,
)
from probative.reading.columns import TAG
from probative.reading.source import Source, quoted
from probative.reading.tables import Cells, Wanted, choose_columns, odd_cell, plain_name, read_cells

if TYPE_CHECKING:
    from probative.reading.formats import Input, Options

    Side = Labels | LabelSets | Tagged

_SENTENCE = re.compile(r"(sent|sentence)(_?(id|idx|no|nr|num|number|index|#))?|sid")
_DOCUMENT = re.compile(r"(doc|document)(_?(id|no|name))?")
_TOKEN = re.compile(r"tokens?|words?|forms?")
_ID = re.compile(r"|(.*_)?(id|ids|idx|index|uid|uuid|guid)|key|unnamed:_0")
MISSING_GROUP = "(missing)"  # name of the group of rows without one
_WRITTEN_LIST = re.compile(r"\s*(\[.*\]|\{[^:]*\}|set\(\))\s*", re.DOTALL)


def is_beside(name: str) -> bool:
    """Return True if a column of this name holds tokens, sentences or documents."""
    return any(kind.fullmatch(name) for kind in (_SENTENCE, _DOCUMENT, _TOKEN))


def _is_read(key: Sequence[str], ids: bool, name: str) -> bool:
    """Return True if a column of this name is read without being requested."""
    is_id = ids and _ID.fullmatch(name) is not None
    return is_beside(name) or is_id or name in map(plain_name, key)


def read_one_table(opened: Input) -> Side:
    """Read one side from a table, with the ids of its rows."""
    (side,) = read_table(opened.source, [opened.options.named_column], opened.options, ids=True)
    return side


def read_table_pair(
    opened: Input, gold: int | str | None, columns: Sequence[int | str]
) -> tuple[Any, list[Any], list[str]]:
    """Read gold and systems from the columns of a table, with the names of the systems."""
    wanted: list[str | None] = [None if gold is None else str(gold)]
    wanted += [str(column) for column in columns] or [None]
    answer, *systems = read_table(opened.source, wanted, opened.options)
    return answer, systems, [str(s.column) if isinstance(s, Tagged) else s.name for s in systems]


def read_table(
    source: Source,
    columns: Sequence[str | None],
    options: Options,
    *,
    ids: bool = False,
    run_column: str | None = None,
) -> list[Side]:
    """Read gold and systems, or one of them, from the columns of a table (None: a usual one)."""
    # ``ids`` keeps the ids of the rows, to compare them with other files; ``run_column`` is none
    cells = read_cells(source, _wanted_cells(columns, options, ids=ids))
    return Sides(cells, options, source.name, source, ids=ids, run_column=run_column).make()


def _wanted_cells(columns: Sequence[str | None], options: Options, *, ids: bool) -> Wanted:
    """Return the columns to read for gold and systems, or one of them, and what is beside them."""
    single = len(columns) == 1
    classes = options.probability_columns
    asked = [*columns[: 0 if single else 1], *classes] if classes else columns
    beside, lists = partial(_is_read, options.key, ids), bool(options.multilabel)
    predicted, group = options.predicted and single, options.group
    return Wanted(
        asked, options.unit, beside, options.header, options.comments, lists, predicted, group
    )


def sides_from_frame(
    name: str, frame: Any, columns: Sequence[Any], options: Options
) -> list[Labels | LabelSets | Tagged]:
    """Read gold and systems, or one of them, from a data frame that narwhals supports."""
    import narwhals as nw

    try:
        table = nw.from_native(frame, eager_only=True)
        place = {str(column): number for number, column in enumerate(table.columns)}
    except (TypeError, ValueError) as error:
        reason = " ".join(str(error).split())
        raise InputError(f"{name}: is no data frame that can be read: {reason:.200}") from None
    there = list(place)
    ids = len(columns) == 1  # one side per frame; another frame may have other rows
    wanted = _wanted_cells([None if c is None else str(c) for c in columns], options, ids=ids)
    names, read = choose_columns(wanted, there, lambda text: InputError(f"{name}: {text}"))
    contents = {}
    for column in read:  # a list holds the labels of one item
        values = table[:, place[column]].to_list()
        hashable = [tuple(v) if isinstance(v, (list, set, frozenset)) else v for v in values]
        try:
            contents[column] = factorise(hashable)
        except TypeError:
            row = place_of_unhashable(hashable)
            raise InputError(f"{name}: {odd_cell(column, row + 1, values[row])}") from None
    cells = Cells("frame", names, options.unit, contents, group=options.group)
    sides = Sides(cells, options, name, ids=ids).make()
    shown_text = next((table[:, place[text]] for text in TEXT_COLUMNS if text in there), None)
    if shown_text is None:
        return sides

    def texts() -> list[str]:
        return ["" if text is None else str(text) for text in shown_text.to_list()]

    return [side if isinstance(side, Tagged) else replace(side, texts=texts) for side in sides]


@dataclass(frozen=True, eq=False)
class Sides:
    """Builder of sides (labels, tags or sets) from the cells of a table."""

    cells: Cells
    options: Options  # how to interpret them
    name: str  # of the table in messages
    source: Source | None = None  # the file, if it is one
    ids: bool = False  # keep the ids of the rows
    run_column: str | None = None

    def make(self) -> list[Side]:
        """Return the sides: tags, sets or labels, by what the first column holds."""
        self.cells.refuse_empty(self.error)
        names = self.cells.names
        classes = self.options.probability_columns
        if classes:
            answer = names[: len(names) - len(classes)]
            return [*map(self._labels, answer), self._likeliest(names[len(answer) :])]
        _, values = self.cells.columns[names[0]]
        several, task = self.options.multilabel, self.options.task
        if several is None and values and all(map(_is_written_list, values)):
            problem = f"holds lists written as text, such as {shown(values[0])}"
            expected = "expected multilabel=True (sets), multilabel=False (text), or JSON lines"
            raise self._error_in(names[0], f"{problem}; {expected}")
        lists = [value for value in values if isinstance(value, (list, tuple))]
        texts = all(isinstance(text, str) for value in lists for text in value)
        if several or (several is None and lists and texts):
            if task not in (None, "labels"):
                raise self.error(f"is a table of sets of labels; expected a file for {task}")
            return [self._sets(name) for name in names]
        if task != "labels" and self._are_tags(names[0]):
            text = self._sentences(names[0])
            tags = [(name, *self._named(name)) for name in names]
            how, own = text.parted_by, len(names) > 1
            notes = {name: self._note(f"tags in column {name!r}, {how}") for name in names}
            return [Tagged(text, c, v, n if own else None, notes=notes[n]) for n, c, v in tags]
        if task not in (None, "labels"):
            raise self.error(f"is a table of labels; expected a file for {task}")
        return [self._labels(name) for name in names]

    def error(self, message: str, line: int | None = None) -> InputError:
        """Return an error in this table."""
        if self.source is None:
            return InputError(f"{self.name}: {message}")
        return self.source.error(message, line)

    def _error_in(self, column: str, message: str) -> InputError:
        return self.error(f"column {column!r} {message}")

    # --- Labels

    def _labels(self, name: str) -> Any:
        self._refuse_breaks()
        if not self.options.predicted and name == self.cells.names[0]:
            codes, values = self.cells.columns[name]
            refuse_continuous(values, partial(self._error_in, name), items=len(codes))
        codes, names = self._named(name, self.options.blank)
        side = Labels(self._called(name), codes, names, repeats=self.cells.repeats)
        return self._filled(side, name, f"labels in column {name!r}")

    def _filled(self, side: Any, name: str, what: str) -> Any:
        """Return labels with what their rows have beside them, and with a note."""
        condensed, units = self.cells.repeats is not None, self.cells.units
        if self.cells.unit is not None and not condensed:
            units = numbered(self._named(self.cells.unit)[0])
        return replace(
            side,
            units=units,
            notes=self._note(what),
            texts=tuple if condensed or self.source is None else partial(_texts, self.source),
            aligned=self._row_ids(name),
            groups=self._groups(),
        )

    def _named(self, name: str, blank: str | None = None) -> Any:
        codes, values = self.cells.columns[name]
        if blank is not None:
            values = [blank if is_missing(value) else value for value in values]
        return named(codes, values, partial(self._error_in, name), "row")

    def _groups(self) -> RowGroups | None:
        """Return the group of every row; rows without one form a group of their own."""
        column = self.cells.group
        if column is None:
            return None
        codes, values = self.cells.columns[column]
        texts = texts_of(codes, values, partial(self._error_in, column), "row")
        written = {None: MISSING_GROUP, MISSING_GROUP: repr(MISSING_GROUP)}
        number, known = factorise_each((str(written.get(t, t)) for t in texts), len(texts))
        return RowGroups(column, number[codes], tuple(known))

    def _refuse_breaks(self) -> None:
        if self.cells.breaks:
            line = next(iter(self.cells.breaks.values()))
            raise self.error("the line is empty; expected a row, as there is one below", line)

    def _called(self, name: str) -> str:
        return self.name if self.source is not None and len(self.cells.names) == 1 else name

    def _note(self, what: str) -> tuple[str, ...]:
        if self.source is None:
            return ()
        reason = f"; {self.cells.reason}" if self.cells.reason else ""
        return (Recognised(f"{self.name}: {self.cells.kind} table, {what}{reason}"),)

    def _row_ids(self, name: str) -> RowIds | None:
        if self.options.key:
            return self._keys()
        if not self.ids:
            return None
        others = self.cells.columns.keys() - {name, self.run_column, self.cells.group}
        there = [n for n in self.cells.columns if n in others and _ID.fullmatch(plain_name(n))]
        if not there and self.cells.unit is not None:
            there = [self.cells.unit]
        for column in there:
            codes, values = self.cells.columns[column]
            texts = values if set(map(type, values)) == {str} else _texts_or_none(values)
            if texts is not None:
                return RowIds(column, codes, tuple(map(str, texts)))
        return None

    def _keys(self) -> RowIds:
        """Return the ids of the rows by the columns that tables are joined by."""
        key, texts = self.options.key, []
        for column in key:
            if column not in self.cells.columns:
                what = f"there is no column {column!r} to join by (key=)"
                raise self.error(f"{what}; expected it in every table")
            codes, values = self.cells.columns[column]
            own = _texts_or_none(values)
            if own is None:
                raise self._error_in(column, "holds lists or objects; expected ids (key=)")
            without = int(np.count_nonzero(np.array([text is None for text in own])[codes]))
            if without:
                problem = f"{without:,} row{'s have' if without > 1 else ' has'} no {column!r}"
                raise self.error(f"{problem}; expected an id in every row")
            texts.append((codes, list(map(str, own))))
        if len(texts) == 1:
            return RowIds(key[0], texts[0][0], tuple(texts[0][1]))
        rows = zip(*([own[c] for c in codes.tolist()] for codes, own in texts), strict=True)
        codes, names = factorise_each(map("\x1f".join, rows), len(self.cells))
        return RowIds(", ".join(key), codes, tuple(names))

    # --- Sets of labels

    def _sets(self, name: str) -> Any:
        self._refuse_breaks()
        codes, values = self.cells.columns[name]
        separator = self.options.multilabel
        parts = [self._parts(name, codes, i, v, separator) for i, v in enumerate(values)]
        form = "lists" if not isinstance(separator, str) else f"parted by {separator!r}"
        side = label_sets(self._called(name), [parts[code] for code in codes.tolist()])
        return self._filled(side, name, f"sets of labels in column {name!r} ({form})")

    def _parts(self, name: str, codes: Any, code: int, value: Any, separator: Any) -> list[str]:
        if separator is True and _is_written_list(value):
            value = _read_list(value)
        listed = isinstance(value, (list, tuple))
        if isinstance(separator, str) and not listed:
            text = "" if value is None else str(value)
            return [part.strip() for part in text.split(separator) if part.strip()]
        texts = label_texts(value if listed else [value])
        if texts is None or (separator is True and not listed):
            expected = "expected a list of labels, or the separator (multilabel=',')"
            raise self.error(odd_cell(name, int(np.argmax(codes == code)) + 1, value, expected))
        return texts

    # --- Probabilities

    def _likeliest(self, names: Sequence[str]) -> Any:
        """Return the class of the largest number in each row; classes are column names."""
        numbers = np.stack([self._numbers(name) for name in names])
        ties = int(np.count_nonzero((numbers == numbers.max(axis=0)).sum(axis=0) > 1))
        code, classes = coded(names)
        labels = Labels(self.name, code[numbers.argmax(axis=0)], classes)
        side = self._filled(labels, names[0], f"the likeliest of the columns {quoted(names)}")
        tied = f"{self.name}: {ties} rows with ties, which go to the first of the columns"
        return replace(side, texts=tuple, notes=(*side.notes, *([tied] if ties else [])))

    def _numbers(self, name: str) -> Any:
        codes, values = self.cells.columns[name]
        numbers = np.array([_number(value) for value in values])[codes]
        wrong = np.flatnonzero(~np.isfinite(numbers))
        if len(wrong):
            value = values[codes[wrong[0]]]
            raise self.error(odd_cell(name, int(wrong[0]) + 1, value, "expected a probability"))
        return numbers

    # --- Tags

    def _are_tags(self, name: str) -> bool:
        _, values = self.cells.columns[name]
        reason = tags_reason(values)
        if reason is None or self.options.task == "entities" or "O" in values:
            return reason is not None
        if self._sentence_column() is not None or self.cells.breaks:
            return True
        problem = f"column {name!r} could hold tags or labels ({reason}, but none is 'O')"
        raise self.error(f"{problem}; expected task='entities' or task='labels'")

    def _sentence_column(self) -> str | None:
        return self._beside(_SENTENCE) if self.cells.unit is None else self.cells.unit

    def _sentences(self, name: str) -> Text:
        """Return the sentences of a table with one token per row."""
        begins, how = self._begins(name)
        first = np.append(np.flatnonzero(begins), len(begins))
        document, words = self._beside(_DOCUMENT), self._beside(_TOKEN)
        sentences = numbers = None
        if words is not None:
            tokens = _written(self.cells, words)
            sentences = [tokens[i:j] for i, j in pairwise(first.tolist())]
        if document is not None:
            opening = self.cells.columns[document][0][first[:-1]]
            numbers = np.cumsum(np.append(0, np.diff(opening) != 0)).astype(np.int32)
        groups = self._groups()
        if groups is not None:
            own = groups.codes[first[:-1]]
            apart = np.flatnonzero(np.repeat(own, np.diff(first)) != groups.codes)
            if len(apart):
                row, group = int(apart[0]) + 1, groups.names[groups.codes[apart[0]]]
                problem = f"row {row} is {group!r}, and its sentence began as another group"
                raise self._error_in(groups.column, f"{problem}; expected one group per sentence")
            groups = replace(groups, codes=own)
        known: dict[str, Any] = {"document": numbers, "sentences": sentences, "groups": groups}
        return Text(self.name, first, parted_by=how, **known)

    def _begins(self, name: str) -> tuple[Any, str]:
        """Return True for every row that begins a sentence, and how sentences are separated."""
        column = self._sentence_column()
        begins = np.zeros(len(self.cells), dtype=bool)
        begins[0] = True
        if column is not None:
            codes, values = self.cells.columns[column]
            filled = np.array([value not in (None, "") for value in values])[codes]
            if not filled.all():  # only the first row of a sentence has its number
                return begins | filled, f"sentences by column {column!r}"
            document = self._beside(_DOCUMENT)  # numbers may repeat in the next one
            for own in (column, *([] if document is None else [document])):
                numbers, _ = self.cells.columns[own]
                begins[1:] |= numbers[1:] != numbers[:-1]
            rows, seen = np.flatnonzero(begins), set[int]()
            for row, code in zip(rows.tolist(), codes[rows].tolist(), strict=True):
                if code == codes[0]:  # numbers may restart at the first one
                    seen.clear()
                if code in seen:
                    problem = f"the rows of {column!r} {shown(values[code])} are not adjacent"
                    expected = "expected the tokens of a sentence one after the other"
                    raise self.error(f"{problem}: row {row + 1} is another of them; {expected}")
                seen.add(code)
            return begins, f"sentences by column {column!r}"
        if self.cells.breaks:
            begins[list(self.cells.breaks)] = True
            return begins, "sentences by empty lines"
        problem = f"holds tags ({tags_reason(self.cells.columns[name][1])})"
        expected = "expected empty lines, a column of sentences (unit_column=) or task='labels'"
        raise self._error_in(name, f"{problem}, but nothing separates sentences; {expected}")

    def _beside(self, kind: re.Pattern[str]) -> str | None:
        there = (n for n in self.cells.columns if n not in (*self.cells.names, self.cells.unit))
        return next((name for name in there if kind.fullmatch(plain_name(name))), None)


def tags_reason(values: Sequence[Any]) -> str | None:
    """Return why these values are tags of tokens, some with types; None if they are not."""
    if not all(isinstance(value, str) and TAG.fullmatch(value) for value in values):
        return None
    typed = next((value for value in values if "-" in value), None)
    return None if typed is None else f"all are O or like {typed!r}"


def label_texts(values: Iterable[Any]) -> list[str] | None:
    """Return the texts of labels; None if one is missing or can be no label."""
    texts = _texts_or_none(values)
    return None if texts is None or None in texts else list(map(str, texts))


def _texts_or_none(values: Iterable[Any]) -> list[str | None] | None:
    """Return the texts of labels, None for a missing one; None if one can be no label."""
    try:
        return [label_text(value) for value in values]
    except (TypeError, ValueError, ArithmeticError):
        return None


def label_sets(name: str, sets: Sequence[Sequence[str]]) -> LabelSets:
    """Return sets of labels, one per item; equal labels of an item count once."""
    names = tuple(sorted({label for labels in sets for label in labels}))
    code = {label: i for i, label in enumerate(names)}
    pairs = [(i, code[label]) for i, labels in enumerate(sets) for label in sorted(set(labels))]
    table = np.array(pairs, dtype=np.int32).reshape(-1, 2)
    return LabelSets(name, table[:, 0], table[:, 1], names, len(sets))


def _is_written_list(value: Any) -> bool:
    """Return True if this is the text of a list or set."""
    return isinstance(value, str) and _WRITTEN_LIST.fullmatch(value) is not None


def _read_list(text: str) -> Any:
    """Parse the text of a list or set; return the text unchanged if that fails."""
    try:
        found = ast.literal_eval(text.strip())
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return text
    return sorted(found, key=str) if isinstance(found, set) else found or []


def refuse_answer_again(opened: Input, output: object, answer: object) -> None:
    """Refuse a table whose unnamed label column equals gold, while another may be the system's."""
    options = opened.options
    if opened.kind != "table" or options.named_column is not None or options.probability_columns:
        return
    if not isinstance(answer, Labels) or are_other_labels(output, answer):
        return
    how = options.header, options.comments
    everything = Wanted([None], None, lambda _: True, *how, predicted=True)
    try:
        cells = read_cells(opened.source, everything)
    except InputError:
        return  # columns of other types hold no labels
    for name, (_, values) in cells.columns.items():
        if len(values) < 2 or name in cells.names or _is_read((), True, plain_name(name)):
            continue
        # all values are labels of gold, or all are probabilities
        numbers = np.array([_number(value) for value in values])
        known = all(str(value) in answer.names for value in values)
        if known or np.all((numbers >= 0) & (numbers <= 1)):
            problem = f"column {cells.names[0]!r} is gold, and column {name!r} may be the output"
            raise opened.source.error(f"{problem}; expected the column of the output (columns=)")


def are_other_labels(output: object, answer: object) -> bool:
    """Return True if both sides are labels and differ."""
    if not (isinstance(output, Labels) and isinstance(answer, Labels)):
        return False
    return not np.array_equal(codes_in(answer.names, output.names)[output.codes], answer.codes)


def _number(value: Any) -> float:
    try:
        return float("nan") if isinstance(value, bool) else float(value)
    except (TypeError, ValueError):
        return float("nan")


def _texts(source: Source) -> Sequence[str]:
    """Return the texts of the items from the first column with a usual name of texts."""
    for name in TEXT_COLUMNS:
        with suppress(InputError):
            return _written(read_cells(source, Wanted([name])), name)
    return ()


def _written(cells: Cells, column: str) -> list[str]:
    """Return the cells of a column as texts, "" for a missing one."""
    codes, values = cells.columns[column]
    return ["" if values[code] is None else str(values[code]) for code in codes.tolist()]
