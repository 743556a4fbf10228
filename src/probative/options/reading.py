"""How to read and match inputs."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypedDict

from probative.options.base import Options

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["ReadingKeywords", "ReadingOptions"]


class ReadingKeywords(TypedDict, total=False):
    """How to read and match inputs, as keywords; see `ReadingOptions`."""

    task: str | None
    input_format: str | None
    encoding: str | None
    tag_column: int | None
    gold_column: int | str | None
    columns: Sequence[int | str]
    unit_column: str | None
    run_column: str | None
    comments: bool
    align_by: str
    scheme: str | None
    repair: str
    ignore_type: bool
    only: Sequence[str]
    positive: Any
    labels: Sequence[str] | str | None
    train_words: Any


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
    align_by
        ``tokens``: files must tell the same tokens. ``position``: as many will do.
    scheme, repair
        The tag scheme, and what to do where tags break its rules.
    ignore_type, only
        Count boundaries alone; count these labels only.
    positive
        The class that counts as "yes", for labels.
    labels
        The labels of macro averages: by default the answer's; ``union`` adds those of the system.
    train_words
        For word segmentation: a file or list of training sentences, or a lexicon.
    """

    task: str | None = None
    input_format: str | None = None
    encoding: str | None = None
    tag_column: int | None = None
    gold_column: int | str | None = None
    columns: Sequence[int | str] = ()
    unit_column: str | None = None
    run_column: str | None = None
    comments: bool = False
    align_by: str = field(default="tokens", metadata={"as": "align"})
    scheme: str | None = None
    repair: str = "conlleval"
    ignore_type: bool = False
    only: Sequence[str] = ()
    positive: Any = None
    labels: Sequence[str] | str | None = None
    train_words: Any = None

    # how tags were repaired is told where there were tags
    told = frozenset({"task", "scheme", "repair"})
