"""How to read and match inputs."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypedDict

from probative.errors import InputError
from probative.options.base import Options

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["ReadingKeywords", "ReadingOptions"]


class ReadingKeywords(TypedDict, total=False):
    """How to read and match inputs, as keywords; see `ReadingOptions`."""

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


@dataclass(frozen=True, kw_only=True)
class ReadingOptions(Options):
    """How to read and match inputs; what is None is recognised.

    Attributes
    ----------
    task
        entities, segmentation or labels.
    input_format, encoding, tag_column, comments
        How to read the files.
    gold_column, columns, unit_column
        The columns of the answer, of the systems and of the units in a file or frame that holds
        them all: numbers in a column file, names in a table.
    run_column
        The column of a table that says which run a row belongs to.
    group
        The column of a table that says which group a row belongs to: a language, a domain, a day.
        Every group is scored and compared by itself, too.
    header
        Whether the first line of a table names its columns; without, columns have numbers.
    multilabel
        Whether items have any number of labels: True for sets or lists of them, or the text that
        stands between the labels in a cell of a table.
    probability_columns
        The columns of a table that hold the probability of a class each, and are called as the
        classes are: the likeliest class is the label.
    threshold
        For predictions that are probabilities (or scores) of the positive class: from here on yes.
        For scores of logs: from here on right.
    mapping, ignore_case
        Other names for labels, or for the types of tags; whether capitals make a difference.
    align_by
        ``tokens``: files must tell the same tokens. ``position``: as many will do.
        ``characters``: words of a text that is not quite the answer's are looked up where their
        characters are.
    scheme, repair
        The tag scheme, and what to do where tags break its rules.
    match
        When a span is right: ``strict``, if label and boundaries are; ``exact``, ``partial`` or
        ``type``, as nervaluate has them; ``boundary:K``, if both ends lie within K of the
        answer's. Or what is counted instead of spans: ``tokens``, ``characters``.
    ignore_type, only
        Count boundaries alone; count these labels only.
    positive
        The class that counts as "yes", for labels.
    labels
        The labels of macro averages: by default the answer's; ``union`` adds those of the system.
    label_names
        What the numbers of labels stand for, from 0 on, in rows of tokens and tags.
    score_name
        Of logs: the score to take.
    train_words
        For word segmentation: a file or list of training sentences, or a lexicon.
    key, on_missing
        The columns that tell which rows of several tables belong together; and what becomes of
        rows that a system does not have: "error", "drop" (they are left out for all), or
        "negative" (the system says no to them).
    memory_limit
        How much memory the engine may use that counts large tables, such as ``2GB``. A table for
        which it is given is never read whole.
    table
        Which table of a database to read.
    """

    task: str | None = None
    input_format: str | None = None
    encoding: str | None = None
    tag_column: int | str | None = None
    gold_column: int | str | None = None
    columns: Sequence[int | str] = ()
    unit_column: str | None = None
    run_column: str | None = None
    group: str | None = None
    comments: bool = False
    header: bool | None = None
    multilabel: bool | str | None = None
    probability_columns: Sequence[str] = ()
    threshold: float | None = None
    mapping: Mapping[str, str] | tuple[tuple[str, str], ...] | None = None
    ignore_case: bool = False
    align_by: str = field(default="tokens", metadata={"as": "align"})
    scheme: str | None = None
    repair: str = "conlleval"
    match: str = "strict"
    ignore_type: bool = False
    only: Sequence[str] = ()
    positive: Any = None
    labels: Sequence[str] | str | None = None
    label_names: Sequence[str] = ()
    score_name: str | None = None
    train_words: Any = None
    key: str | Sequence[str] = ()
    on_missing: str = "error"
    memory_limit: str | None = None
    table: str | None = None

    def __post_init__(self) -> None:
        if isinstance(self.mapping, tuple):  # pairs, as the command line reads them
            object.__setattr__(self, "mapping", _as_dictionary(self.mapping))
        if isinstance(self.key, str):
            object.__setattr__(self, "key", (self.key,))

    # how tags were repaired is told where there were tags; memory changes no number
    told = frozenset({"task", "scheme", "repair", "memory_limit"})


def _as_dictionary(pairs: tuple[tuple[str, str], ...]) -> dict[str, str]:
    """Pairs of old and new names by the old ones, each of which stands there once."""
    twice = next((old for i, (old, _) in enumerate(pairs) if old in dict(pairs[:i])), None)
    if twice is not None:
        raise InputError(f"mapping: {twice!r} twice; expected one new name each")
    return dict(pairs)
