"""Read the outputs of systems on a pool before anything is annotated."""

from __future__ import annotations

import hashlib
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from probative._validation import Array as Floats
from probative._validation import shown
from probative.errors import InputError
from probative.files import digest
from probative.matching.labels import positive_class
from probative.matching.matched import Matched, match_inputs, name_systems
from probative.matching.outputs import check_reading, how_to_read, short_name
from probative.matching.record_rules import with_rules_of_file
from probative.options import ReadingOptions
from probative.reading.annotations import Labels, Records, RowIds, Segmented, Text, part_of
from probative.reading.inputs import annotations_of, is_path, settled
from probative.reading.logs import Samples
from probative.reading.records import on_same_documents
from probative.reading.source import unreadable
from probative.wording.numbers import counted

if TYPE_CHECKING:
    from probative.reading.formats import Annotations
    from probative.reading.formats import Options as HowToRead
    from probative.surveys.design import Design, SystemSource

    Ints = NDArray[np.intp]


# --- Reading the outputs of systems without gold

_USUAL = ReadingOptions()
# Reading options that do not apply to a pool, and the message for each
_REFUSED = {
    "gold_column": "the outputs hold no gold; expected columns=",
    "run_column": "a pool has no runs; expected one output per system",
    "group": "a pool has no groups; leave it out",
    "threshold": "probabilities are no outputs; expected labels (scores= names confidences)",
    "only_gold_paths": "gold is not known yet; expected the rule ignore for single fields",
}
# notes of matching that would take the output in the place of gold for gold
_ON_GOLD = re.compile(r"\bgold (does not have|never has)\b")
_WITHOUT_EFFECT = ("memory_limit", "table", "score_name", "train_words")
_REFUSED |= dict.fromkeys(_WITHOUT_EFFECT, "has no effect here; leave it out")


def _read_sides(
    given: Sequence[Any], options: HowToRead, choices: ReadingOptions, *, judged: bool = False
) -> list[Annotations]:
    """Read all outputs, and the judge last if there is one, in the same way."""
    if not given:
        raise InputError("systems: missing; expected the output of at least one")
    options = settled(list(given), options)
    columns: list[str | None] = [str(column) for column in choices.columns] or [None]
    if len(columns) not in (1, len(given), len(given) - judged):
        what = f"{counted(len(given) - judged, 'output')}{' and a judge' if judged else ''}"
        listed = ", ".join(map(str, columns))
        raise InputError(f"columns: {listed} for {what}; expected one for all, or one for each")
    # one column is that of all outputs; none is named for the judge
    columns = columns * len(given) if len(columns) == 1 else [*columns, None]
    sides: list[Annotations] = []
    for number, (data, column) in enumerate(zip(given, columns, strict=False)):
        default = f"systems, number {number + 1}"
        side = annotations_of(data, default, replace(options, column=column))
        if isinstance(side, (Segmented, Samples)):
            what = "a segmentation" if isinstance(side, Segmented) else "a log of samples"
            found = f"{default if not is_path(data) else data} is {what}"
            raise InputError(f"systems: {found}; expected entities, labels or records (task=)")
        if sides and side.task != sides[0].task:
            found = f"{_usual_name(data, number)} is {side.task}"
            raise InputError(f"systems: {found}; expected {sides[0].task}, as the first")
        sides.append(side)
        form = None if side.origin is None else side.origin.form
        options = replace(options, task=side.task, like=options.like or form)
    if isinstance(sides[0], Records):
        return [*on_same_documents(cast("list[Records]", sides))]
    if choices.key:
        raise InputError("key: rows are matched by position; expected outputs in the pool's order")
    return sides


def _usual_name(given: Any, number: int) -> str:
    """Return the default name of a system: that of its file, or its place."""
    return short_name(given) if is_path(given) else f"system {number + 1}"


# --- Confidences, from a column of the outputs


def _add_confidence(pool: Pool, scores: Any, outputs: Sequence[Any], options: HowToRead) -> None:
    """Give the pool the confidences of its rows, and the variance that they imply."""
    # one probability per row (item, token): the mean over the outputs
    if isinstance(scores, (str, int)) and not isinstance(scores, bool):
        if not all(map(is_path, outputs)):
            raise InputError("scores: there are no columns; expected a number per item")
        none: dict[str, Any] = {"tag_column": None, "like": None, "unit": None}
        how = replace(options, task="labels", column=str(scores), probability_columns=(), **none)
        by_output = []
        for path, side in zip(outputs, pool.sides, strict=True):
            kind = None if side.origin is None else side.origin.form
            if kind not in ("table", "columns", "conllu"):
                raise InputError("has no columns; expected a table (scores=)", path)
            labels = annotations_of(path, str(path), replace(how, input_format=kind))
            if not isinstance(labels, Labels):
                raise InputError(f"column {scores!r} holds lists; expected numbers (scores=)", path)
            by_output.append(_probabilities(f"scores: {path}, column {scores}", labels))
        numbers = np.asarray(np.mean(by_output, axis=0))
    else:
        numbers = _probabilities("scores", scores)
    matched, n_rows = pool.matched, len(numbers)
    if n_rows == matched.items.n_units:
        part = np.arange(n_rows)  # the part as read of every row
    elif matched.task == "entities" and n_rows == matched.gold.text.n_tokens:
        part = matched.gold.text.sentence
    elif (
        matched.task == "labels" and n_rows == len(matched.gold) and matched.gold.units is not None
    ):
        part = matched.gold.units
    else:
        raise InputError(f"scores: {n_rows} numbers; expected one per token or item of the outputs")
    unsure = numbers * (1 - numbers)
    doubt = np.bincount(pool.unit_of_part[part], weights=unsure, minlength=pool.n_units)
    pool.doubt = np.asarray(doubt, dtype=np.float64)
    if pool.is_single and n_rows == pool.n_units:
        pool.probability = numbers


def _probabilities(what: str, given: Any) -> Floats:
    """Return numbers from 0 to 1, one per row; refuse others."""
    from probative.jobs.curve import numbers_of  # slow to import, and rarely needed

    numbers = numbers_of(given, what)
    wrong = np.flatnonzero((numbers < 0) | (numbers > 1))
    if len(wrong):
        found = f"item {wrong[0] + 1} is {numbers[wrong[0]]}"
        raise InputError(f"{what}: {found}; expected a number from 0 to 1")
    return numbers


# --- Fingerprints of inputs


def fingerprint(data: Any) -> str:
    """Return a digest that changes if the input does; for a file, only its content matters."""
    if not is_path(data):
        return f"python:{digest('systems', data)}"
    if str(data) == "-":
        raise InputError("-: standard input cannot be read again later; expected a file")
    path = Path(data)
    content = hashlib.sha256()
    try:
        if path.is_dir():
            for file in sorted(path.iterdir()):
                content.update(file.name.encode() + b"\0" + file.read_bytes())
        else:
            with path.open("rb") as opened:
                content = hashlib.file_digest(opened, "sha256")
    except (OSError, ValueError) as error:
        raise unreadable(str(path), error) from None
    return f"sha256:{content.hexdigest()}"


_ITEM = "item"
_IN_COLUMNS = ("columns", "conllu", "table", "rows")  # formats that accept a column name


class Pool:
    """The outputs of systems on every unit of a pool."""

    probability: Floats | None = None  # mean confidence of the systems in every single item
    doubt: Floats | None = None  # the sum of p(1 - p) over the rows (tokens, items) of every unit
    judged: Matched | None = None  # the outputs matched to a judge's opinion

    def __init__(
        self,
        matched: Matched,  # to each other: the first one takes the place of gold, which is unknown
        sides: Sequence[Annotations],  # the outputs as they were read
        unit: str,  # "sentence", "document", "unit" or "item"
        reading: ReadingOptions,  # completed with what was recognised: the positive class
    ) -> None:
        self.matched, self.sides, self.unit, self.reading = matched, sides, unit, reading
        self.task, self.names, items = matched.task, matched.names, matched.items
        # every unit is one item with a yes or no, or with one label
        self.is_single = unit == _ITEM and isinstance(sides[0], Labels)
        # the unit of every part as read (sentence, item); documents hold several parts
        document = items.document if unit == "document" else None
        parts = np.arange(items.n_units) if document is None else document
        self.unit_of_part = parts.astype(np.intp)
        self.n_units = int(parts.max(initial=-1)) + 1
        # of every item that a system returns: its unit, what it counts, and who returns it
        self.unit_of_item = self.unit_of_part[items.unit]
        times = items.weights("sentence")
        self.weight: Floats = items.weight * (np.ones(len(items.unit)) if times is None else times)
        self.says = items.says
        # items in every unit that each system (one row per system), all and only some return
        everyone, anyone = self.says.all(axis=0), self.says.any(axis=0)
        self.returned = np.stack([self._number_where(own) for own in self.says])
        self.agreed = self._number_where(everyone)
        self.disputed = self._number_where(anyone & ~everyone)

    def _number_where(self, items: Any) -> Floats:
        unit, weight = self.unit_of_item[items], self.weight[items]
        return np.asarray(np.bincount(unit, weights=weight, minlength=self.n_units))

    def parts_of(self, units: NDArray[Any]) -> NDArray[np.intp]:
        """Return the parts as read (sentences, items) of some units, unit after unit."""
        if self.unit != "document":
            return np.asarray(units, dtype=np.intp)
        place = np.full(self.n_units, -1, dtype=np.intp)
        place[units] = np.arange(len(units))
        rank = place[self.unit_of_part]
        kept = np.flatnonzero(rank >= 0)
        return kept[np.argsort(rank[kept], kind="stable")]

    def match(self, gold: Any, parts: NDArray[Any]) -> Matched:
        """Match the outputs on some parts as read (sentences, items) to their annotations."""
        outputs = [part_of(side, parts) for side in cast("tuple[Any, ...]", self.sides)]
        reading = replace(self.reading, tag_column=None, columns=(), key=(), align_by="tokens")
        return match_inputs(
            gold, outputs, names=self.names, find_positive=False, all_there=False, reading=reading
        )

    def read_gold(self, given: Any, name: str) -> Any:
        """Read annotations of some parts, as the outputs were read."""
        options = replace(how_to_read(self.reading), tag_column=None, predicted=False)
        return annotations_of(given, name, options)

    def is_same(self, a: int, b: int) -> bool:
        """Return True if two systems return the same items."""
        return not self.weight[self.says[a] != self.says[b]].any()


def read_pool(
    outputs: Sequence[Any],
    *,
    reading: ReadingOptions,
    names: Sequence[str] | None = None,
    by: str | None = None,
    scores: Any = None,
    judge: Any = None,
) -> Pool:
    """Read the outputs of systems on a pool and match them to each other."""
    for name, why in _REFUSED.items():
        if getattr(reading, name) not in (None, getattr(_USUAL, name)):
            raise InputError(f"{name}: {why}")
    copied = ReadingOptions(**{e.name: getattr(reading, e.name) for e in fields(ReadingOptions)})
    choices = with_rules_of_file(check_reading(copied))
    if by == _ITEM:
        choices = replace(choices, unit_column=None)
    columns = tuple(choices.probability_columns)
    options = replace(how_to_read(choices), predicted=True, probability_columns=columns)
    everybody = [*outputs, *([] if judge is None else [judge])]
    sides = _read_sides(everybody, options, choices, judged=judge is not None)
    systems = sides[: len(outputs)]
    positive = None if choices.positive is None else str(choices.positive)
    if positive is None and not choices.only:  # that of the labels of all outputs
        labels = [side for side in systems if isinstance(side, Labels)]
        found = positive_class(*labels) if labels else None
        positive = found if any(found in side.names for side in labels) else None
    choices = replace(choices, task=systems[0].task, positive=positive)
    called = name_systems(names, [_usual_name(given, i) for i, given in enumerate(outputs)])

    def match(answer: Annotations) -> Matched:
        """Match the outputs to an output or a judge in the place of gold."""
        in_columns = answer.origin is not None and answer.origin.form in _IN_COLUMNS
        # columns were applied when the files were read
        own = replace(choices, key=(), columns=() if in_columns else choices.columns)
        same = answer.task == "labels"  # systems may differ in their entity types
        how: dict[str, Any] = {"find_positive": False, "same_labels": same, "reading": own}
        found = match_inputs(answer, systems, names=called, **how)
        return replace(found, notes=tuple(n for n in found.notes if not _ON_GOLD.search(n)))

    matched = match(systems[0])
    pool = Pool(matched, systems, _unit(matched, by), choices)
    if scores is not None:
        _add_confidence(pool, scores, outputs, options)
    if judge is not None:
        pool.judged = match(sides[-1])
    return pool


def read_again(
    design: Design, folder: Path, *, outputs: Any = None, judge: Any = None, scores: Any = None
) -> Pool:
    """Read the outputs of a design as they were read when it was made; refuse changed ones."""
    # paths are relative to `folder`; `outputs`, `judge` and `scores` have moved or are from Python
    outputs = _outputs_of(outputs, design)
    if outputs is not None and len(outputs) != len(design.outputs):
        expected = f"expected the {len(design.outputs)} of the design"
        raise InputError(f"systems: {len(outputs)}; {expected}")
    given = zip(design.outputs, outputs or [None] * len(design.outputs), strict=True)
    return read_pool(
        [_same(source, data, folder) for source, data in given],
        reading=ReadingOptions.of(design.reading),
        names=design.systems,
        by=None if design.unit in ("sentence", "unit") else design.unit,
        judge=None if design.judge is None else _same(design.judge, judge, folder),
        scores=design.scores if scores is None else scores,
    )


def n_parts(side: Any) -> int:
    """Return the number of parts as read (sentences, items)."""
    if side.task == "entities":
        return int(side.text.n_sentences)
    if isinstance(side, Records) or side.units is None:
        return len(side)
    return int(side.units.max(initial=-1)) + 1


def names_of_parts(side: Any, other: Any) -> tuple[list[Any], list[Any]] | None:
    """Return what identifies the parts (sentences, items) of two sides; None if nothing does."""
    known = dict(_identifiers(other))
    return next(((own, known[kind]) for kind, own in _identifiers(side) if kind in known), None)


def places_of_names(there: Sequence[Any], order: Ints, names: Sequence[Any]) -> Ints:
    """Return the place of each name, the first in this order that is free; -1 without one."""
    free: dict[Any, list[int]] = defaultdict(list)
    for place in order[::-1].tolist():
        free[there[place]].append(place)
    return np.array([free[name].pop() if free.get(name) else -1 for name in names], dtype=np.intp)


def _identifiers(side: Any) -> Iterator[tuple[str, list[Any]]]:
    """Yield what identifies the parts of a side, the surest first: its kind, and one per part."""
    if isinstance(side, Records):
        if side.keys is not None:
            yield "key", list(side.keys)
        return
    text = side.text if side.task == "entities" else side.aligned
    if isinstance(text, Text):
        words = [tuple(text.words(i)) for i in range(text.n_sentences)]
        if any(words):
            yield "words", words
    elif side.units is None:
        if isinstance(text, RowIds):
            yield f"column {text.column}", [text.names[code] for code in text.codes]
        texts = side.texts()
        if texts:
            yield "texts", list(texts)


def _outputs_of(systems: Any, design: Design) -> list[Any] | None:
    """Return the outputs in the order of the design; None if the paths of the design apply."""
    if systems is None:
        return None
    if isinstance(systems, dict):
        if {*design.systems} != {*systems}:
            found, expected = (", ".join(map(str, names)) for names in (systems, design.systems))
            raise InputError(f"systems: {found}; expected those of the design: {expected}")
        return [systems[name] for name in design.systems]
    if is_path(systems) or not isinstance(systems, (list, tuple)):
        raise InputError(f"systems: {shown(systems)}; expected a dictionary by name, or a list")
    return list(systems)


def reading_keywords(reading: ReadingOptions) -> dict[str, Any]:
    """Return the reading options that differ from the defaults, as stored in a design."""
    return {
        name: list(value) if isinstance(value, tuple) else value
        for name, value in vars(reading).items()
        if value != getattr(_USUAL, name) and value not in (None, (), {}, [])
    }


def _same(source: SystemSource, given: Any, folder: Path) -> Any:
    """Return the input that a design names; refuse one that has changed."""
    if given is None and source.path is None:
        raise InputError(f"systems: {source.name!r} came from Python; expected it again")
    data = folder / str(source.path) if given is None else given
    if given is None and not data.exists():
        where = f"{source.name!r} at its old place relative to the design"
        raise InputError(f"there is no such file; expected {where}", data)
    if fingerprint(data) != source.fingerprint:
        found = f"{source.name!r} was changed after the sample was drawn; expected it unchanged"
        raise InputError(found, data if is_path(data) else None)
    return data


def _unit(matched: Matched, by: str | None) -> str:
    """Return the kind of unit to draw; refuse one that the outputs do not have."""
    if by is None or by == matched.unit:
        return matched.unit
    known = [matched.unit, *(["document"] if matched.items.document is not None else [])]
    is_label = matched.task == "labels" and matched.items.n_units == len(matched.gold)
    if by in known or (by == _ITEM and is_label):
        return by
    listed = " or ".join(map(repr, dict.fromkeys(known)))
    raise InputError(f"by: {shown(by)} is no unit of these outputs; expected {listed}")
