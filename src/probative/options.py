"""Declare the options of every job once, check how they go together, and sign them.

A field of an options class carries everything about a choice: its default, its flag, what stands
for its value in the help, the help itself and its heading, its name in signatures, the tasks that
use it, and which other options it excludes or needs. The keyword in Python, the option of
the command, its completion, its checks and its part of the signature follow from the field.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import Field, FrozenInstanceError, dataclass, field, fields
from functools import partial
from numbers import Real
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypedDict, TypeVar, dataclass_transform

from probative._version import __version__
from probative.errors import InputError, suggestion

if TYPE_CHECKING:
    from probative._validation import RNG


# --- Declaration of an option

INPUT, _COMPUTE, GATES, OUTPUT = "Input", "What to compute", "Gates", "Output"  # headings of help
HEADINGS = (INPUT, _COMPUTE, GATES, OUTPUT)
DATASETS = ("dataset", "datasets")  # options that name several data sets


class Option:
    """Declaration of an option: its flags, by default its name, and these attributes."""

    metavar: str | None = None  # what stands for its value in the help
    help: str | None = None
    heading: str = _COMPUTE  # above it in the help
    rare: bool = False  # left to ``--help-all``
    # the function that reads its text, or the name of one in `probative.cli.options`
    parser: Callable[[str], Any] | str | None = None
    among: str | tuple[str, ...] = ()  # its words, for completion; or "module:NAME" of them
    several: bool = False  # it may be repeated, and its values become a tuple
    words: int = 1  # that it takes each time
    required: bool = False
    switch: bool = False  # it has two flags and is None without them
    # names of options that it cannot be combined with, and of those of which it needs one;
    # "name=word" stands for an option with this word
    excludes: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    tasks: tuple[str, ...] = ()  # that use it; by default all
    signed: str = ""  # its name in the signature, if not its own
    always: bool = False  # it is in the signature even if it is the default
    is_input: bool = False  # a further input, of which the signature shows only that it exists
    hidden: bool = False  # the command does not have it
    by_content: bool = False  # a file, of which the signature shows the digest of the content

    def __init__(self, *flags: str, **how: Any):
        if unknown := how.keys() - Option.__annotations__.keys():
            raise TypeError(f"an option has no {unknown}")
        self.flags = flags
        vars(self).update(how)

    def __call__(self, default: Any, **changes: Any) -> Any:
        """Return a field with this option, of which some attributes may differ."""
        how = vars(self) | changes
        own = Option(*how.pop("flags"), **how) if changes else self
        return field(default=default, metadata={"option": own})


_UNDECLARED = Option(hidden=True)  # choices in Python alone
_ONLY_SHOWN = Option(hidden=True, is_input=True)


# how texts are read by default (see `Option.parser`), by what stands for them in the help
_READERS = {"A,B": "name_list", "LOW,HIGH": "name_list", "D": "points", "N": "whole"}
_READERS |= dict.fromkeys(("MB", "MIB", "NUMBER", "P"), "number")
_READERS |= dict.fromkeys(("DIR", "SITE"), "Path")


def shared(text: str, **how: Any) -> Option:
    """Return an option of several classes; `text` is "--flag METAVAR: help", or less of that."""
    form, _, words = text.partition(": ")
    parts = form.split()
    if not all(part.startswith("-") or part.isupper() or "|" in part for part in parts):
        parts, words = [], text
    flags = [part for part in parts if part.startswith("-")]
    metavar = " ".join(parts[len(flags) :])
    return Option(
        *flags, **{"metavar": metavar or None, "parser": _READERS.get(metavar), "help": words} | how
    )


def choice(text: str, default: Any = None, **how: Any) -> Any:
    """Return a field with an option of its own; see `shared` and `Option`."""
    return shared(text, **how)(default)


def check_together(
    options: Mapping[str, Option],
    values: Mapping[str, Any],
    changed: Collection[str],
    given: Collection[str] | None = None,
) -> None:
    """Refuse options that exclude each other, and options without one that they need."""
    # `changed` are not their defaults; `given` are those that the user wrote, by default the same;
    # options that `values` lacks are none of this job
    for name, option in options.items():
        met = [other for other in option.excludes if _holds(other, values, changed)]
        if name in changed and met:
            others = ", ".join(map(_as_keyword, met))
            raise InputError(f"{name}: cannot be combined with {others}; expected one or the other")
        wanted = [other for other in option.needs if other.partition("=")[0] in values]
        needy = bool(wanted) and name in (changed if given is None else given)
        if needy and not any(_holds(other, values) for other in wanted):
            others = " or ".join(map(_as_keyword, wanted))
            both = "both" if len(wanted) == 1 else "one of these, too"
            raise InputError(f"{name}: has no effect without {others}; expected {both}")


def _holds(other: str, values: Mapping[str, Any], changed: Collection[str] | None = None) -> bool:
    """Return True if an option was chosen: "name", or "name=word" for one with this word."""
    name, equals, word = other.partition("=")
    if equals:
        return word in str(values.get(name))
    return bool(values.get(name)) if changed is None else name in changed


def _as_keyword(other: str) -> str:
    return other if "=" in other else f"{other}="


# --- Base class and signature

_Class = TypeVar("_Class")
_LONGEST_VALUE = 120  # characters of an option in a signature; a longer one becomes a digest
_ESCAPED = str.maketrans({sign: f"%{ord(sign):02X}" for sign in "%|,()"})


@dataclass_transform(kw_only_default=True, frozen_default=True)
def options_class(cls: type[_Class]) -> type[_Class]:
    """Make a frozen dataclass of options, quickly: `Options` has the methods that it needs."""
    return dataclass(init=False, repr=False, eq=False, match_args=False)(cls)


@options_class
class Options:
    """Base class of the options of all jobs."""

    # options that the signature leaves out, because its facts show them: task, metrics …
    told: ClassVar[frozenset[str]] = frozenset()
    # options of the base class that the command does not have
    withheld: ClassVar[frozenset[str]] = frozenset()

    def __init__(self, **given: Any):
        for entry in fields(self):
            object.__setattr__(self, entry.name, given.pop(entry.name, entry.default))
        if given:
            raise TypeError(f"{type(self).__name__} has no option {next(iter(given))!r}")
        self.__post_init__()

    def __setattr__(self, name: str, value: object) -> None:
        raise FrozenInstanceError(f"cannot assign to option {name!r}")

    def __post_init__(self) -> None:
        """Normalise the values."""

    def __repr__(self) -> str:
        shown = ", ".join(f"{name}={value!r}" for name, value in vars(self).items())
        return f"{type(self).__name__}({shown})"

    @classmethod
    def options(cls) -> dict[str, Option]:
        """Return the options of the command by name."""
        known = {entry.name: _option_of(entry) for entry in fields(cls)}
        return {n: o for n, o in known.items() if not o.hidden and n not in cls.withheld}

    def chosen(self, *names: str) -> dict[str, Any]:
        """Return the values of these options by name."""
        return {name: getattr(self, name) for name in names}

    def changed(self) -> set[str]:
        """Return the names of the options that are not their defaults."""
        return {entry.name for entry in fields(self) if self._is_changed(entry)}

    def _is_changed(self, entry: Field[Any]) -> bool:
        # the text of arrays and of unknown objects differs from every default
        value = getattr(self, entry.name)
        return value is not entry.default and _text(value) != _text(entry.default)

    @classmethod
    def of(cls, given: Mapping[str, Any], *, beside: Iterable[str] = ()) -> Self:
        """Make the options from keywords; refuse a name that is neither one nor in `beside`."""
        own = {entry.name for entry in fields(cls)}
        known = [*own, *beside]
        for name in given:
            if name not in own:
                raise InputError(
                    f"{name}: there is no such option; expected one of {', '.join(sorted(known))}"
                    + suggestion(name, known)
                )
        return cls(**given)

    @classmethod
    def of_call(cls, call: Mapping[str, Any], *, beside: Iterable[str] = ()) -> Self:
        """Make the options from the parameters of a job: its `locals()`, with `reading`."""
        own = {entry.name for entry in fields(cls)}
        chosen = {name: value for name, value in call.items() if name in own}
        return cls.of(chosen | call["reading"], beside=beside)

    def signature(self, *facts: str) -> str:
        """Return the facts that resulted from the options, and all that are not defaults."""
        chosen = []
        for entry in fields(self):
            value = getattr(self, entry.name)
            absent = value is None or (isinstance(value, (list, tuple, Mapping)) and not value)
            if entry.name in self.told or absent:
                continue
            option = _option_of(entry)
            if option.always or self._is_changed(entry):
                name = option.signed or entry.name.replace("_", "-")
                flag = option.is_input or (value is True and isinstance(entry.default, bool))
                value = _digest_of(value) if option.by_content else value
                chosen.append(name if flag else f"{name}:{_shorten(value)}")
        return sign(*facts, *chosen)


def _option_of(entry: Field[Any]) -> Option:
    option: Option = entry.metadata.get("option", _UNDECLARED)
    return option


def _digest_of(path: Any) -> str:
    """Return the digest of a file; the path itself if it cannot be read."""
    try:
        return f"sha256-{hashlib.sha256(Path(path).read_bytes()).hexdigest()[:16]}"
    except OSError:
        return str(path)


def sign(*facts: str) -> str:
    """Join the version and the facts into a signature."""
    return "|".join((f"probative:{__version__}", *(fact for fact in facts if fact)))


def _shorten(value: Any) -> str:
    """Return an option as unique text, as a digest if it is long."""
    text = _text(value)
    if len(text) <= _LONGEST_VALUE:
        return text
    return f"sha256-{hashlib.sha256(text.encode('utf-8', 'replace')).hexdigest()[:16]}"


def _text(value: Any) -> str:
    """Return an option as unique text; characters that separate parts are escaped."""
    if isinstance(value, (list, tuple)):
        return ",".join(
            f"({_text(v)})" if isinstance(v, (list, tuple)) else _text(v) for v in value
        )
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return str(int(value) if value.is_integer() else value)
    if isinstance(value, Mapping):
        pairs = ((_text(old), _text(new)) for old, new in value.items())
        return ",".join(f"{old.replace('=', '%3D')}={new}" for old, new in sorted(pairs))
    if hasattr(value, "__array__") and not isinstance(value, Real):
        from probative.files import digest

        return digest("options", value)
    if not isinstance(value, (str, Real, PurePath)):
        return f"<{type(value).__name__}>"
    try:
        text = str(value)
    except ValueError:  # Python refuses to print very long integers
        text = f"{value:x}"
    return text.translate(_ESCAPED)


# --- Options that several jobs share

_ALL_METRICS = (
    "precision, recall, f1, fbeta, jaccard, accuracy, specificity, npv, balanced_accuracy, mcc, "
    "kappa, informedness, markedness or fowlkes_mallows"
)
_ONE_METRIC = shared(f"NAME: {_ALL_METRICS}.", among="metrics:METRICS")
_METRIC = shared(
    f"--metric NAME: {_ALL_METRICS}; several times, or separated by commas.",
    parser="word_list",
    several=True,
    among="metrics:METRICS",
)
_AVERAGE = shared("HOW: micro or macro.", among="jobs.score:AVERAGES", excludes=DATASETS)
_BETA = shared(
    "NUMBER: The weight of recall in fbeta.",
    rare=True,
    needs=("metric=fbeta", "probabilities"),  # the best threshold of a curve depends on it
)
_BY = shared(
    "--by UNIT: The independent unit, which tests exchange: sentence, document, unit or item.",
    among="jobs.score:UNITS",
)
_ROPE = shared(
    "D: Differences up to this size count as none: 0.005, 0.5pt or 0.5% is half a point."
)
_PRIOR = shared(
    "NUMBER: The weight of the prior, which is added to each of tp, fp and fn (and tn).", rare=True
)
_WEIGHT = shared(
    "HOW: The weight of all folds together: effective, averaged, a number, or by correlations "
    "R1,R2.",
    parser="fold_weight",
    always=True,
    among="inference.crossval:WEIGHTS",
)
LEVEL = shared("P: The level of the intervals, between 0 and 1.", always=True)
_SEED = shared("--seed N: The seed of random numbers.", parser="seed", rare=True, signed="seed")
_METHOD = shared(
    "NAME: The method of intervals: wilson-indirect, bayes and so on.",
    among="inference.intervals:METHODS",
)
_REPETITIONS = shared("--m N: Repetitions, each of two folds.")
_KEEP_DOCUMENTS = shared("Keep documents whole, where the corpus marks them.")
_PAIRED_RUNS = shared(
    "Run 1 of A belongs to run 1 of B, and so on: a shared seed or data split.",
    rare=True,
    excludes=DATASETS,
)
_SECOND_GOLD = shared(
    "FILE: A second annotation of the same texts: how near do systems come to it?",
    heading=INPUT,
    rare=True,
    is_input=True,
    excludes=DATASETS,
)
# options that other classes of options, such as those of the studies, take by name
STATISTICS = {"metric": _METRIC, "level": LEVEL, "rng": _SEED, "m": _REPETITIONS}
STATISTICS["replicates"] = shared("N: How many test sets are drawn.")


# --- Reading and matching


class ReadingKeywords(TypedDict, total=False):
    """Options of reading and matching inputs, as keywords; see `ReadingOptions`."""

    task: str | None
    input_format: str | None
    encoding: str | None
    tag_column: int | str | None
    gold_column: int | str | None
    columns: Sequence[int | str]
    unit_column: str | None
    run_column: str | None
    group: str | None
    comments: bool
    header: bool | None
    multilabel: bool | str | None
    probability_columns: Sequence[str]
    threshold: float | None
    mapping: Mapping[str, str] | None
    ignore_case: bool
    align_by: str
    scheme: str | None
    repair: str
    match: str
    ignore_type: bool
    only: Sequence[str]
    positive: Any
    labels: Sequence[str] | str | None
    label_names: Sequence[str]
    score_name: str | None
    train_words: Any
    key: str | Sequence[str]
    on_missing: str
    memory_limit: str | None
    table: str | None
    field: Mapping[str, str] | Sequence[str]
    fields_file: str | None
    list_key: Mapping[str, Any] | Sequence[str]
    ordered: Sequence[str]
    unique: Sequence[str]
    open_map: Sequence[str]
    empty: Sequence[str]
    keep_empty: bool
    only_gold_paths: bool
    find_json: bool
    on_malformed: str


class GradedKeywords(ReadingKeywords, total=False):
    """Options of graded scores, as keywords; see `GradedOptions`."""

    scores: Any
    score_column: str | None
    score_columns: Sequence[str]
    range: Any
    human: Any


# tasks that use an option
_ENTITIES, _LABELS = ("entities",), ("labels",)
_TAGS_AND_LABELS = (*_ENTITIES, *_LABELS)
_NO_LOGS = (*_TAGS_AND_LABELS, "segmentation")
_RECORDS = ("records",)
_ROWS = (*_LABELS, "scores")  # of tables
_reading = partial(choice, heading=INPUT)
_rarely = partial(_reading, rare=True)
_of_tags = partial(_rarely, tasks=_ENTITIES)
_of_labels = partial(_rarely, tasks=_LABELS)
_of_rows = partial(_rarely, tasks=_ROWS)
_of_records = partial(_rarely, tasks=_RECORDS)


@options_class
class ReadingOptions(Options):
    """Options of reading and matching inputs; an option that is None is recognised."""

    task: str | None = _reading(
        "TASK: What is scored: entities, segmentation, labels, records or samples (logs).",
        among="reading.formats:TASKS",
    )
    input_format: str | None = _rarely(
        "NAME: The format of files: columns, conllu, segmented, labels, jsonl, table, records, "
        "rows, choices, labelstudio, brat, docbin, hipe or log.",
        among="reading.formats:FORMATS",
    )
    encoding: str | None = _rarely("NAME: The encoding of files: utf-8, latin-1, gb18030, …")
    tag_column: int | str | None = _rarely(
        "COLUMN: The column of the tags, from 1, or from -1 backwards; or its name.",
        parser="column",
        tasks=_TAGS_AND_LABELS,
    )
    gold_column: int | str | None = _reading(
        "COLUMN: The column of gold in a file that holds all: its number, or its name.",
        tasks=(*_NO_LOGS, *_RECORDS),
    )
    columns: Sequence[int | str] = _reading(
        "A,B: The columns of the systems: their numbers, or their names.",
        (),
        excludes=("probability_columns",),
        tasks=(*_NO_LOGS, *_RECORDS),
    )
    unit_column: str | None = _reading(
        "--unit --unit-column NAME: The column of a table that shows which items belong together.",
        tasks=(*_ENTITIES, *_ROWS),
    )
    run_column: str | None = _of_rows(
        "NAME: The column of a table that shows which run a row belongs to.",
        excludes=(*DATASETS, "key"),
    )
    group: str | None = _reading(
        "NAME: The column of a table that shows which group a row belongs to, such as its "
        "language or domain: each group is also scored and compared by itself.",
        excludes=(*DATASETS, "hide_scores"),
        tasks=(*_ENTITIES, *_ROWS, *_RECORDS),
    )
    comments: bool = _rarely("Lines that begin with # are comments.", False, tasks=_NO_LOGS)
    header: bool | None = _rarely(
        "--header/--no-header: Whether the first line of a table names its columns; without, they "
        "have numbers.",
        switch=True,
        tasks=(*_NO_LOGS, "scores"),
    )
    multilabel: bool | str | None = _of_labels(
        "SEPARATOR: Items have any number of labels; in a table, this stands between them: , or ; "
        "and so on. lists: cells are lists; none: one label each.",
        parser="separator",
    )
    probability_columns: Sequence[str] = _of_labels(
        "A,B: Columns with the probability of a class each, named like the classes: the class "
        "with the highest probability is the label.",
        (),
    )
    threshold: float | None = _rarely(
        "NUMBER: Predictions are probabilities of the positive class: from here on they mean yes. "
        "Scores of logs: from here on right.",
        excludes=("probability_columns",),
        tasks=("labels", "samples"),
    )
    mapping: Mapping[str, str] | tuple[tuple[str, str], ...] | None = _rarely(
        "--map OLD=NEW,...: Other names for labels, or for the types of tags; may be repeated.",
        parser="label_map",
        several=True,
        tasks=_NO_LOGS,
    )
    ignore_case: bool = _rarely("Ignore upper and lower case of labels.", False, tasks=_NO_LOGS)
    align_by: str = _rarely(
        "--align HOW: How outputs are matched with gold: by tokens, which must be equal, by "
        "position alone, or (segmentation) by the characters that they share.",
        "tokens",
        signed="align",
        among="reading.alignment:ALIGNMENTS",
        excludes=("key",),
        tasks=_NO_LOGS,
    )
    scheme: str | None = _of_tags(
        "NAME: The scheme of tags: iob1, iob2, ioe1, ioe2, iobes, bilou, bmes, bb2b3mes or io.",
        among="matching.schemes:SCHEMES",
    )
    repair: str = _of_tags(
        "HOW: What to do with invalid tags: conlleval, strict or error.",
        "conlleval",
        among="matching.schemes:REPAIRS",
    )
    match: str = _of_tags(
        "RULE: When a span is right: strict, exact, partial, type or boundary:K (both ends within "
        "K); or count tokens or characters of spans.",
        "strict",
        among="matching.spans:MATCHES",
    )
    ignore_type: bool = _of_tags("Count boundaries, whatever the type.", False)
    only: Sequence[str] = _rarely(
        "LABEL: Count this label (field of records) only; may be repeated.",
        (),
        parser="word_list",
        several=True,
        tasks=(*_TAGS_AND_LABELS, *_RECORDS),
    )
    positive: Any = _reading("LABEL: The positive class, for labels.", tasks=_LABELS)
    labels: Sequence[str] | str | None = _rarely(
        "A,B: The labels of macro averages, instead of those of gold; or union: those of gold and "
        "of the system itself.",
        parser="averaged_labels",
        tasks=(*_NO_LOGS, *_RECORDS),
    )
    label_names: Sequence[str] = _rarely(
        "A,B: The names of numeric labels, from 0 on: O,B-PER,I-PER,…", (), tasks=_TAGS_AND_LABELS
    )
    score_name: str | None = _rarely(
        "NAME: Which score of a log to take: acc, exact_match, …", tasks=("samples",)
    )
    train_words: Any = _rarely(
        "FILE: A lexicon or a segmented training file, for the recall of unknown words.",
        tasks=("segmentation",),
    )
    key: str | Sequence[str] = _reading(
        "A,B: The columns by which rows of several tables (records of files) belong together, in "
        "any order.",
        (),
        tasks=(*_ROWS, *_RECORDS),
    )
    on_missing: str = _of_labels(
        "HOW: What to do with rows that a system does not have: error, drop (left out for all) or "
        "negative (the system says no).",
        "error",
        needs=("key",),
    )
    memory_limit: str | None = _of_rows(
        "SIZE: Count a table in this much memory, such as 2GB, whatever its size."
    )
    table: str | None = _of_rows("NAME: Which table of a database to read.")
    field: Mapping[str, str] | Sequence[str] = _of_records(
        "PATH=RULE,...: When values of a field of records are equal: casefold, punctuation, "
        "number, tolerance, date, similarity, set, weight or ignore; may be repeated, and * "
        "stands for anything.",
        (),
        several=True,
    )
    fields_file: str | None = _rarely(
        "FILE: A TOML file with such rules, and with the other choices of records.",
        tasks=_RECORDS,
        by_content=True,
    )
    list_key: Mapping[str, Any] | Sequence[str] = _of_records(
        "LIST=A,B: Pair the rows of a list of objects by these fields; may be repeated.",
        (),
        several=True,
    )
    ordered: Sequence[str] = _rarely(
        "LIST: Pair the elements of a list by position.", (), several=True, tasks=_RECORDS
    )
    unique: Sequence[str] = _rarely(
        "LIST: Count equal elements of a list once.", (), several=True, tasks=_RECORDS
    )
    open_map: Sequence[str] = _of_records(
        "PATH: The keys of this object are data: one path for all.", (), several=True
    )
    empty: Sequence[str] = _of_records(
        "A,B: Further texts that mean that a field is not there: 'N/A,none,-'.",
        (),
        excludes=("keep_empty",),
    )
    keep_empty: bool = _rarely(
        "Count null, blank texts and empty lists and objects as values.", False, tasks=_RECORDS
    )
    only_gold_paths: bool = _rarely(
        "Leave out fields whose path is nowhere in gold.", False, tasks=_RECORDS
    )
    find_json: bool = _rarely(
        "Look for the record within the prose of an output.", False, tasks=_RECORDS
    )
    on_malformed: str = _of_records(
        "HOW: What to do with outputs that are no JSON objects: count (as nothing returned) or "
        "error.",
        "count",
        among="matching.record_rules:ON_MALFORMED",
    )

    # the facts show how tags were repaired; a memory limit changes no result
    told = frozenset({"task", "scheme", "repair", "memory_limit"})

    def __post_init__(self) -> None:
        for name in ("field", "list_key", "ordered", "unique", "open_map", "empty"):
            object.__setattr__(self, name, _as_words(getattr(self, name)))
        if isinstance(self.mapping, tuple):  # pairs from the command line
            names = dict(self.mapping)
            if len(names) < len(self.mapping):
                olds = [old for old, _ in self.mapping]
                twice = next(old for i, old in enumerate(olds) if old in olds[:i])
                raise InputError(f"mapping: {twice!r} twice; expected one new name each")
            object.__setattr__(self, "mapping", names)
        if isinstance(self.key, str):
            object.__setattr__(self, "key", (self.key,))


def _as_words(given: Any) -> Any:
    """Return one text or several as a tuple; a dictionary as texts KEY=VALUE."""
    if isinstance(given, Mapping):
        pairs = ((k, v if isinstance(v, str) else ",".join(v)) for k, v in given.items())
        return tuple(f"{key}={value}" for key, value in pairs)
    return (given,) if isinstance(given, str) else given


ReadingOptions.__doc__ = f"{ReadingOptions.__doc__}\n\nAttributes\n----------\n" + "\n".join(
    f"{name}\n    {option.help}" for name, option in ReadingOptions.options().items()
)
# options of a table of any size, and of several tables that are joined
_LARGE = frozenset({"memory_limit", "table"})
_TABLES = _LARGE | {"key", "on_missing"}
_OF_RECORDS = frozenset(
    name for name, option in ReadingOptions.options().items() if option.tasks == _RECORDS
)
# what only jobs that score systems by gold have
_OF_JUDGED = frozenset(
    {"gold_column", "threshold", "score_name", "labels", "train_words", "run_column", "group"}
)


def _as_read(name: str, **changes: Any) -> Any:
    """Return a field of reading for another class, of which some attributes may differ."""
    entry = ReadingOptions.__dataclass_fields__[name]
    return _option_of(entry)(entry.default, **changes)


@options_class
class GradedOptions(ReadingOptions):
    """Options of jobs that also take graded scores: numbers per item, not gold and outputs."""

    # numbers by system, a list each or a list of them for every run; only in Python
    scores: Any = _ONLY_SHOWN(None)
    score_column: str | None = _rarely(
        "NAME: Which score of each log, or field of its JSON lines, is a graded score: a number "
        "whose mean is compared.",
        excludes=("score_columns", "score_name", "threshold"),
        tasks=("scores", "samples"),
    )
    score_columns: Sequence[str] = _rarely(
        "A,B: The columns of a table that hold graded scores, numbers, one per system.",
        (),
        excludes=("gold_column", "columns", "threshold"),
        tasks=("scores",),
    )
    range: Any = _rarely(
        "LOW,HIGH: The smallest and the largest possible graded score, 0,1 by default; or none.",
        tasks=("scores", "samples"),
    )
    human: Any = _rarely(
        "FILE: Human scores of some items, in the same columns: the graded scores of a judge are "
        "corrected by them. Rows belong together by --key, or by their places; for logs, a log.",
        is_input=True,
        tasks=("scores", "samples"),
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if isinstance(self.range, str):
            object.__setattr__(self, "range", tuple(self.range.split(",")))


# --- Scoring


@options_class
class ScoreOptions(GradedOptions):
    """Options of a scoring."""

    metric: str | Sequence[str] | None = _METRIC(None)
    method: str | None = _METHOD(None)
    by: str | None = _BY(None)
    level: float = LEVEL(0.95)
    beta: float = _BETA(1.0)
    overlap: bool = choice("Count partial overlaps of spans, too.", False, rare=True)
    second_gold: Any = _SECOND_GOLD(None)
    units: Any = _ONLY_SHOWN(None)  # of scores; only in Python

    told = ReadingOptions.told | {"method", "by"}


# --- Comparisons and plans


@options_class
class CompareOptions(GradedOptions):
    """Options of a comparison."""

    metric: str | Sequence[str] | None = _METRIC(None)
    average: str = _AVERAGE("micro")
    by: str | None = _BY(None)
    level: float = LEVEL(0.95)
    rope: float = _ROPE(0.0, always=True)
    beta: float = _BETA(1.0)
    prior: float = _PRIOR(1.0, always=True)
    power: float = 0.8
    fields: Sequence[str] = choice(
        "A,B: Fields of records that are compared and judged by gates one by one, all at once.",
        (),
        rare=True,
        excludes=(*DATASETS, "group"),
        tasks=_RECORDS,
    )
    all_pairs: bool = choice(
        "Compare every pair, not only each with the baseline.", False, rare=True, excludes=DATASETS
    )
    paired_runs: bool = _PAIRED_RUNS(False)
    train: Any = _rarely(
        "FILE: Training data of the systems: the buckets then distinguish what they have seen.",
        excludes=(*DATASETS, "hide_scores"),
    )
    second_gold: Any = _SECOND_GOLD(None)
    rng: RNG | None = _SEED(0)
    units: Any = _ONLY_SHOWN(None)  # of scores; only in Python

    told = ReadingOptions.told | {"metric", "by"}


@options_class
class PlanOptions(GradedOptions):
    """Options of a plan."""

    metric: str | None = _ONE_METRIC(None, help="The score.")
    average: str = _AVERAGE("micro")
    by: str | None = _BY(None)
    difference: float | None = choice(
        "D: The difference to be shown: 0.01, 1pt or 1% is one point; by default the observed one.",
        parser="small_difference",
    )
    power: float | None = choice("P: The probability of showing it; by default 0.8.")
    units: int | None = choice("N: The number of sentences or items.")
    level: float = LEVEL(0.95)
    beta: float = _BETA(1.0)
    paired_runs: bool = _PAIRED_RUNS(False)

    told = ReadingOptions.told | {"metric", "average", "by"}
    withheld = _LARGE | {"group"}


@options_class
class DemoOptions(Options):
    """Options of the demonstration."""

    level: float = LEVEL(0.95)


# --- Rankings and boards


@options_class
class RankOptions(GradedOptions):
    """Options of a ranking."""

    metric: str | None = _ONE_METRIC(None)
    average: str = _AVERAGE("micro")
    by: str | None = _BY(None)
    level: float = LEVEL(0.95)
    beta: float = _BETA(1.0)
    adjust: str = choice(
        "HOW: How p is adjusted for the number of pairs: holm or shaffer.",
        "holm",
        rare=True,
        among="inference.rank:ADJUSTMENTS",
    )
    units: Any = _ONLY_SHOWN(None)  # of scores; only in Python
    rng: RNG | None = _SEED(0, always=True)

    # the fact about the test shows how p-values were adjusted
    told = ReadingOptions.told | {"metric", "by", "adjust"}
    withheld = frozenset({"group"})


@options_class
class BoardOptions(RankOptions):
    """Options of a board."""

    show_gold: bool = choice("Let the site show gold content.", False, rare=True)
    max_size: float = choice("MIB: The largest size of a submission in MiB.", 64.0)

    # a board takes neither logs nor graded scores
    withheld = _LARGE | {"group", "run_column", "score_name", "score_column", "score_columns"}
    withheld |= {"range", "human"}


# --- Agreement between annotators


@options_class
class AgreementOptions(ReadingOptions):
    """Options of agreement between annotators, who are no systems and none of whom is gold."""

    task: str | None = _as_read("task", help="What is annotated: entities, segmentation or labels.")
    columns: Sequence[int | str] = _as_read(
        "columns", help="The annotators' columns: their numbers, or their names."
    )
    align_by: str = _as_read(
        "align_by",
        help="How annotations are matched with each other: by tokens, which must be equal, by "
        "position alone, or (segmentation) by the characters that they share.",
    )
    match: str = _as_read(
        "match",
        help="When two spans are the same: strict, exact, partial, type or boundary:K (both ends "
        "within K); or count tokens or characters of spans.",
    )
    by: str | None = _BY(None, help="The independent unit: sentence, document, unit or item.")
    level: float = LEVEL(0.95)
    missing: str | None = choice(
        "LABEL: The label that stands for none, where annotators have left items out; '' for "
        "blank cells."
    )

    told = ReadingOptions.told | {"by"}
    withheld = _OF_JUDGED | _TABLES | _OF_RECORDS | {"probability_columns", "positive"}


# --- Curves of precision and recall


@options_class
class CurveOptions(ReadingOptions):
    """Options of a curve, or of the comparison of two."""

    beta: float = _BETA(1.0)
    bins: int = 10
    level: float = LEVEL(0.95)
    rope: float = _ROPE(0.0)
    rng: RNG | None = _SEED(0)


# --- Intervals and tests of a difference


@options_class
class DifferenceOptions(Options):
    """Options of an interval of a difference; `n_resamples` and `rng` if it resamples."""

    level: float = LEVEL(0.95)
    beta: float = 1.0
    prior: float = 1.0
    n_resamples: int | None = None
    rng: RNG | None = _SEED(None)


@options_class
class ExchangeOptions(Options):
    """Options of a randomisation test."""

    alternative: str = Option(hidden=True, always=True)("two-sided")
    beta: float = 1.0
    n_resamples: int | None = None
    rng: RNG | None = _SEED(None)


# --- Intervals from counts


@options_class
class IntervalOptions(Options):
    """Options of intervals from counts."""

    metric: str | Sequence[str] | None = _METRIC(None)
    method: str | None = _METHOD(
        None,
        help="wilson-indirect, wilson-direct, wilson, clopper-pearson, guarded, jeffreys, mover, "
        "bayes, logit, wald, or all. By default the recommended one of each metric.",
    )
    level: float = LEVEL(0.95)
    beta: float = _BETA(1.0)
    prior: float = _PRIOR(1.0)
    clustered: bool = False

    told = frozenset({"metric", "method"})


# --- Corpora, and models trained on them


@options_class
class FoldsOptions(Options):
    """Options of a Bayes test of two models, given their folds."""

    metric: str | Sequence[str] | None = _METRIC(None)
    weight: Any = _WEIGHT("effective")
    level: float = LEVEL(0.95)
    prior: float = _PRIOR(1.0, always=True)
    rope: float = _ROPE(0.0)
    beta: float = _BETA(1.0)

    told = frozenset({"metric"})


@options_class
class BayesOptions(FoldsOptions):
    """Options of a Bayes test, from counts or from predictions for folds."""

    only: Sequence[str] = _as_read("only", needs=("folds",))
    ignore_type: bool = _as_read("ignore_type", needs=("folds",))
    n_resamples: int | None = choice(
        "--sampled N: Approximate with N random draws instead of computing.",
        signed="sampled",
        excludes=("folds",),
    )
    rng: RNG | None = _SEED(None)
    training_variance: bool = False  # estimate it from the differences of folds


@options_class
class _CorpusOptions(Options):
    """Options of reading a corpus; an option that is None is recognised."""

    task: str | None = _as_read("task")
    input_format: str | None = _as_read("input_format")
    encoding: str | None = _as_read("encoding")
    tag_column: int | str | None = _as_read("tag_column")
    comments: bool = _as_read("comments")
    scheme: str | None = _as_read("scheme")

    told = frozenset({"task"})


@options_class
class CrossvalOptions(_CorpusOptions, FoldsOptions):
    """Options of a cross-validated comparison of two models."""

    a: str | None = choice(
        "MODEL: The baseline: crf:SCHEME or python:MODULE:FACTORY.", required=True
    )
    b: str | None = choice("MODEL: The challenger, likewise.", required=True)
    only: Sequence[str] = _as_read("only")
    ignore_type: bool = _as_read("ignore_type")
    features: Sequence[int] = choice(
        "N,...: Further columns (from 1) that models may use, such as the part of speech.",
        (),
        parser="column_numbers",
    )
    m: int = _REPETITIONS(3)
    # of `probative.compare_models`
    positive: Any = None
    groups: Any = None
    regularize: Any = None
    keep_documents: bool = _KEEP_DOCUMENTS(False)
    rng: RNG | None = _SEED(None)

    # the facts show the seed, drawn or given
    told = frozenset({"task", "metric", "m", "rng"})


@options_class
class SplitOptions(_CorpusOptions):
    """Options of a split into folds."""

    m: int = _REPETITIONS(3, always=True)
    regularize: Sequence[str] = choice(
        "WHAT: What every part has an equal share of: entities, labels, tokens; several times, or "
        "separated by commas. Classes, where there are labels.",
        ("entities", "tokens"),
        parser="word_list",
        several=True,
        always=True,
        among="crossval.corpus:REGULARIZED",
    )
    keep_documents: bool = _KEEP_DOCUMENTS(False)
    gold_column: str | None = _as_read("gold_column")
    rng: int | None = _SEED(None)

    told = frozenset({"task", "rng"})


@options_class
class CheckOptions(_CorpusOptions):
    """Options of a check of a file."""

    column: str | None = _reading("NAME: The column of the labels in a table: its name or number.")
    unit_column: str | None = _as_read("unit_column")
    header: bool | None = _as_read("header")
    multilabel: bool | str | None = _as_read("multilabel")
    label_names: Sequence[str] = _as_read("label_names")
    score_name: str | None = _as_read("score_name")
    threshold: float | None = _as_read("threshold")
    schema: Any = _rarely(
        "FILE: A JSON Schema of the records: its fields, which are required, and rules to "
        "consider.",
        tasks=_RECORDS,
        by_content=True,
    )

    told = frozenset({"task", "input_format"})


# --- Samples for annotation, estimates from them, and looks at them


@options_class
class SampleOptions(ReadingOptions):
    """Options of a sample; outputs hold no gold, and labels instead of probabilities."""

    size: int | None = choice("N: How many units to annotate.")
    add: int | None = choice(
        "N: How many units to annotate besides those of a design; its file is updated."
    )
    goal: str | None = choice(
        "--for GOAL: What the sample estimates best: score, or difference (the default for two or "
        "more systems)."
    )
    by: str | None = _BY(None, help="What is drawn: sentence, document or item.")
    keep: Sequence[int | str] = choice(
        "COLUMN,...: Further columns of the pool that annotators may see; besides tokens, texts, "
        "ids and documents, none are written.",
        (),
        parser="word_list",
        rare=True,
    )
    level: float = LEVEL(0.95)
    rng: int = _SEED(0, always=True)

    told = ReadingOptions.told | {"size", "add", "goal", "by"}
    withheld = _OF_JUDGED | _LARGE | {"on_missing", "only_gold_paths"}


@options_class
class EstimateOptions(Options):
    """Options of an estimate; the options of reading outputs are in the design."""

    metric: str | Sequence[str] | None = _METRIC(None)
    population: bool = choice(
        "Estimate for units like those of the pool, not for the pool alone.", False
    )
    level: float = LEVEL(0.95)
    rope: float = _ROPE(0.0, always=True)
    beta: float = _BETA(1.0)

    told = frozenset({"metric"})


@options_class
class WatchOptions(Options):
    """Options of `watch`; the level is that of the intervals of all looks together."""

    metric: str | None = _ONE_METRIC(None, help="The score; by default the usual one of the task.")
    level: float = LEVEL(0.95)
    beta: float = _BETA(1.0)
    every: int | None = choice(
        "N: Check after so many units, in the order of drawing; by default after a tenth of the "
        "first draw, and after every draw."
    )
    planned: int | None = choice(
        "N: The planned number of labelled units, at which intervals are narrowest; by default "
        "those of the first draw. Do not change it between checks."
    )

    told = frozenset({"metric", "every", "planned"})


# --- Threshold sweeps


@options_class
class SweepOptions(Options):
    """Options of a threshold sweep."""

    steps: int = choice("N: Steps from 0 to 1.", 20, parser="steps", always=True)
    input_format: str | None = _as_read("input_format")
    encoding: str | None = _as_read("encoding")
    level: float = LEVEL(0.95)
