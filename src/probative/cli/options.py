"""Declare the options that commands share, with the same words everywhere."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import click

from probative.cli import output
from probative.cli.output import remark
from probative.cli.parameters import Group, Option
from probative.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from probative.results import GateVerdict


# numbers on the command line: no underscores, no digits of other scripts, no "nan"
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_POINTS = re.compile(rf"(?P<number>{_NUMBER.pattern})\s*(pts?|points?|pp|%)", re.ASCII)
_INTEGER = re.compile(r"[+-]?\d{1,18}", re.ASCII)  # at most 64 bits


def number(text: str | float) -> float:
    """Read a finite number from the command line."""
    value = float(text) if _NUMBER.fullmatch(str(text)) else math.nan
    if not math.isfinite(value):
        raise click.BadParameter(f"{_shorten(text)} is not a number")
    return value


def points(text: str | float) -> float:
    """Read a difference of scores: a fraction of 1, or points (``1pt``; ``1%`` is one point, too).

    The library refuses 1 and more, because 1 would mean a hundred points.
    """
    words = _POINTS.fullmatch(str(text).strip())
    # keep the digits that were written: 0.7 / 100 is not 0.007
    return number(text) if words is None else float(f"{number(words['number']) / 100:.15g}")


def is_bare(text: str) -> bool:
    """Return True if a difference is written without a word for points."""
    return _POINTS.fullmatch(text.strip()) is None


def integer(text: str | int, *, least: int | None = None, most: int | None = None) -> int:
    """Read a whole number from the command line; refuse it outside of the bounds."""
    limit = "" if least is None else f" >= {least}"
    value = int(text) if _INTEGER.fullmatch(str(text)) else None
    if value is None and re.fullmatch(r"[+]?\d{19,}", str(text), re.ASCII):
        raise click.BadParameter(f"{_shorten(text)} is too large")
    if value is None or (least is not None and value < least):
        raise click.BadParameter(f"{_shorten(text)} is not a whole number{limit}")
    if most is not None and value > most:
        raise click.BadParameter(f"{value} is too large; expected at most {most}")
    return value


def whole(text: str | int) -> int:
    """Read a whole number >= 0 from the command line."""
    return integer(text, least=0)


def seed(text: str | int) -> int:
    """Read a seed that all generators of random numbers accept."""
    return integer(text, least=0, most=2**32 - 1)


def steps(text: str | int) -> int:
    """Read a number of steps from 0 to 1; each is a row of a table."""
    return integer(text, least=1, most=10_000)


def decimals(text: str | int) -> int:
    """Read the number of decimals to print."""
    return integer(text, least=0, most=15)


def workers(text: str | int) -> int:
    """Read a number of processes, or -1 for one per core."""
    value = integer(text)
    if value == 0 or value < -1:
        raise click.BadParameter(f"{value} is not a number of fits at once; expected 1, 2, … or -1")
    return value


def whole_list(text: str, *, what: str = "whole number >= 1") -> tuple[int, ...]:
    """Read whole numbers >= 1, separated by commas."""
    words = word_list(text)
    for word in words:
        if not _INTEGER.fullmatch(word) or int(word) < 1:
            raise click.BadParameter(f"{_shorten(word)} is not a {what}")
    return tuple(int(word) for word in words)


def number_list(text: str) -> tuple[float, ...]:
    """Read numbers separated by commas."""
    return tuple(number(word.strip()) for word in text.split(","))


def _shorten(text: object) -> str:
    shown = str(text)
    return repr(shown if len(shown) <= 40 else f"{shown[:40]}…")


def column(text: str | int) -> int | str:
    """Read a column: its number or its name."""
    return int(text) if _INTEGER.fullmatch(str(text)) else str(text)


def word_list(text: str) -> tuple[str, ...]:
    """Read words separated by commas, without repeats and empty ones."""
    return tuple(dict.fromkeys(word.strip() for word in text.split(",") if word.strip()))


def name_list(text: str) -> tuple[str, ...]:
    """Read names separated by commas; refuse an empty one."""
    names = tuple(word.strip() for word in text.split(","))
    if "" in names:
        raise click.BadParameter(f"{_shorten(text)} has an empty name; expected a name each")
    return names


def label_map(text: str) -> tuple[tuple[str, str], ...]:
    """Read other names for labels: OLD=NEW, separated by commas."""
    pairs = [word.strip().partition("=") for word in text.split(",")]
    if not all(old.strip() and new.strip() for old, _, new in pairs):
        raise click.BadParameter(f"{_shorten(text)} is no list of OLD=NEW")
    return tuple((old.strip(), new.strip()) for old, _, new in pairs)


def separator(text: str) -> str | bool:
    r"""Read the separator of labels (``\t`` for a TAB), or one of the words lists and none."""
    if text in ("none", "lists"):
        return text == "lists"
    if not text:
        raise click.BadParameter("'' separates nothing; expected a text such as ','")
    return text.replace("\\t", "\t")


def averaged_labels(text: str) -> str | tuple[str, ...]:
    """Read the labels of macro averages: their names, or the word union."""
    names = word_list(text)
    return names[0] if names == ("union",) else names


def fold_weight(text: str) -> str | float | tuple[float, float]:
    """Read a weight of folds: a name, a number, or two correlations separated by a comma."""
    try:
        values = number_list(text)
    except click.BadParameter:
        return text
    return values[0] if len(values) == 1 else values  # type: ignore[return-value]  # how many: the library checks


def column_numbers(text: str) -> tuple[int, ...]:
    """Read the numbers of columns, from 1, separated by commas."""
    return whole_list(text, what="column number")


# options of statistics
STATISTICS = {
    "metric": Option(
        "--metric",
        metavar="NAME",
        parser=word_list,
        several=True,
        help="precision, recall, f1, fbeta, jaccard, accuracy, specificity, npv, "
        "balanced_accuracy, mcc, kappa, informedness, markedness or fowlkes_mallows; several "
        "times, or separated by commas.",
    ),
    "beta": Option(
        "--beta", metavar="NUMBER", parser=number, help="The weight of recall in fbeta."
    ),
    "by": Option(
        "--by",
        metavar="UNIT",
        help="What is independent of the rest, and exchanged by tests: sentence, document, unit or "
        "item.",
    ),
    "rope": Option(
        "--rope",
        metavar="D",
        parser=points,
        help="Differences up to this size count as none: 0.005, 0.5pt or 0.5% is half a point.",
    ),
    "prior": Option(
        "--prior",
        metavar="NUMBER",
        parser=number,
        help="The weight of the prior: what it adds to each of tp, fp and fn (and tn).",
    ),
    "weight": Option(
        "--weight",
        metavar="HOW",
        parser=fold_weight,
        help="How much folds count together: effective, averaged, a number, or by correlations "
        "R1,R2.",
    ),
    "level": Option(
        "--level", metavar="P", parser=number, help="The level of the intervals, between 0 and 1."
    ),
    "m": Option("--m", metavar="N", parser=whole, help="Repetitions, each of two folds."),
    "keep_documents": Option(
        "--keep-documents", help="Keep documents whole, where the corpus marks them."
    ),
    "features": Option(
        "--features",
        metavar="N,...",
        parser=column_numbers,
        help="Further columns (from 1) that models may use, such as the part of speech.",
    ),
    "rng": Option("--seed", metavar="N", parser=seed, help="The seed of random numbers."),
    "replicates": Option(
        "--replicates", metavar="N", parser=whole, help="How many test sets are drawn."
    ),
}
# options of commands that rank
RANKING = {
    "metric": Option(
        metavar="NAME",
        help="precision, recall, f1, fbeta, jaccard, accuracy, specificity, npv, "
        "balanced_accuracy, mcc, kappa, informedness, markedness or fowlkes_mallows.",
    ),
    "average": Option(metavar="HOW", help="micro or macro."),
    "by": STATISTICS["by"],
    "beta": STATISTICS["beta"],
    "level": STATISTICS["level"],
    "adjust": Option(
        metavar="HOW", help="How p is adjusted for the number of pairs: holm or shaffer."
    ),
    "rng": STATISTICS["rng"],
}
# options of reading and matching; anything not given is recognised
READING = {
    "task": Option(
        "--task",
        metavar="TASK",
        help="What is scored: entities, segmentation, labels or samples (logs).",
    ),
    "input_format": Option(
        "--input-format",
        metavar="NAME",
        help="The format of files: columns, conllu, segmented, labels, jsonl, table, rows, "
        "choices, labelstudio, brat, docbin, hipe or log.",
    ),
    "encoding": Option(
        "--encoding", metavar="NAME", help="The encoding of files: utf-8, latin-1, gb18030, …"
    ),
    "tag_column": Option(
        "--tag-column",
        metavar="COLUMN",
        parser=column,
        help="The column of the tags, from 1, or from -1 backwards; or its name.",
    ),
    "gold_column": Option(
        "--gold-column", metavar="COLUMN", help="The answer's column: its number, or its name."
    ),
    "columns": Option(
        "--columns",
        metavar="A,B",
        parser=name_list,
        help="The systems' columns: their numbers, or their names.",
    ),
    "unit_column": Option(
        "--unit",
        "--unit-column",
        metavar="NAME",
        help="The column of a table that says which items belong together.",
    ),
    "comments": Option("--comments", help="Lines that begin with # are comments."),
    "header": Option(
        "--header/--no-header",
        switch=True,
        help="Whether the first line of a table names its columns; without, they have numbers.",
    ),
    "multilabel": Option(
        "--multilabel",
        metavar="SEPARATOR",
        parser=separator,
        help="Items have any number of labels; in a table, this stands between them: , or ; and so "
        "on. lists: cells are lists; none: one label each.",
    ),
    "probability_columns": Option(
        "--probability-columns",
        metavar="A,B",
        parser=name_list,
        help="Columns with the probability of a class each, called as the classes are: the "
        "likeliest one is the label.",
    ),
    "threshold": Option(
        "--threshold",
        metavar="NUMBER",
        parser=number,
        help="Predictions are probabilities of the positive class: from here on they mean yes. "
        "Scores of logs: from here on right.",
    ),
    "mapping": Option(
        "--map",
        metavar="OLD=NEW,...",
        parser=label_map,
        several=True,
        help="Other names for labels, or for the types of tags; may be repeated.",
    ),
    "ignore_case": Option("--ignore-case", help="Capitals make no difference to labels."),
    "align_by": Option(
        "--align",
        metavar="HOW",
        help="How outputs are matched with the answer: by tokens, which must be equal, by "
        "position alone, or (segmentation) by the characters that they share.",
    ),
    "scheme": Option(
        "--scheme",
        metavar="NAME",
        help="The scheme of tags: iob1, iob2, ioe1, ioe2, iobes, bilou, bmes, bb2b3mes or io.",
    ),
    "repair": Option(
        "--repair", metavar="HOW", help="What to do with invalid tags: conlleval, strict or error."
    ),
    "match": Option(
        "--match",
        metavar="RULE",
        help="When a span is right: strict, exact, partial, type or boundary:K (both ends within "
        "K); or count tokens or characters of spans.",
    ),
    "ignore_type": Option("--ignore-type", help="Count boundaries, whatever the type."),
    "only": Option(
        "--only",
        metavar="LABEL",
        parser=word_list,
        several=True,
        help="Count this label only; may be repeated.",
    ),
    "positive": Option("--positive", metavar="LABEL", help="The positive class, for labels."),
    "labels": Option(
        "--labels",
        metavar="A,B",
        parser=averaged_labels,
        help="The labels of macro averages, instead of those of the answer; or union: those of the "
        "answer and of the system itself.",
    ),
    "label_names": Option(
        "--label-names",
        metavar="A,B",
        parser=name_list,
        help="What the numbers of labels stand for, from 0 on: O,B-PER,I-PER,…",
    ),
    "score_name": Option(
        "--score-name", metavar="NAME", help="Which score of a log to take: acc, exact_match, …"
    ),
    "train_words": Option(
        "--train-words",
        metavar="FILE",
        help="A lexicon or a segmented training file, for the recall of unknown words.",
    ),
}
# option of commands that compare systems with a second annotation
SECOND_GOLD = Option(
    "--second-gold",
    metavar="FILE",
    help="A second annotation of the same texts: how near do systems come to it?",
)
# option of commands that take several runs per system
RUN_COLUMN = Option(
    "--run-column",
    metavar="NAME",
    help="The column of a table that says which run a row belongs to.",
)
# options of commands that take tables of any size, and several that are joined
TABLES = {
    "key": Option(
        "--key",
        metavar="A,B",
        parser=name_list,
        help="The columns by which rows of several tables belong together, in any order.",
    ),
    "on_missing": Option(
        "--on-missing",
        metavar="HOW",
        help="What becomes of ids that a system does not have: error, drop or negative.",
    ),
    "memory_limit": Option(
        "--memory-limit",
        metavar="SIZE",
        help="Count a table in this much memory, such as 2GB, whatever its size.",
    ),
    "table": Option("--table", metavar="NAME", help="Which table of a database to read."),
}
GROUP = Option(
    "--group",
    metavar="NAME",
    help="The column of a table that says which group a row belongs to, such as its language: each "
    "group is told by itself, too.",
)
PAIRED_RUNS = Option(
    "--paired-runs",
    help="Run 1 of A belongs to run 1 of B, and so on: a shared seed or data split.",
)
Runs = Annotated[
    list[str] | None,
    Option(
        "--runs",
        metavar="NAME=FILES",
        help="The runs of a system: a pattern such as A='a/*.conll', a folder or a file; may be "
        "repeated.",
    ),
]
# options of reading for a board, which takes no logs
OF_AN_ANSWER = tuple(name for name in READING if name != "score_name")
# options of reading for a single corpus
_CORPUS = ("task", "input_format", "encoding", "tag_column", "comments", "scheme")
CORPUS = {name: READING[name] for name in _CORPUS}


def choose(*names: str, **own: Option) -> Group:
    """Return a group of options: shared ones by name, then the command's own.

    An own option that is also named stands in the place of its name.
    """
    known = STATISTICS | READING | TABLES | own
    chosen = {name: known[name] for name in (*names, *own)}
    reading = {**READING, **TABLES, "run_column": RUN_COLUMN, "group": GROUP}
    return Group(
        chosen,
        {
            name: "Reading files"
            for name, option in chosen.items()
            if name in reading and option.flags == reading[name].flags
        },
    )


def printing(*more: dict[str, Option]) -> Group:
    """Return the group of output options, with further ones."""
    chosen = dict(OUTPUT)
    for options in more:
        chosen |= options
    return Group(chosen, dict.fromkeys(chosen, "Output"))


Names = Annotated[
    tuple[str, ...] | None,
    Option("--names", metavar="A,B", parser=name_list, help="What to call the systems."),
]
Jobs = Annotated[
    int | None,
    Option(
        "--jobs",
        metavar="N",
        parser=workers,
        help="How many models train at once; -1: one per core.",
    ),
]
Processes = Annotated[
    int,
    Option("--jobs", metavar="N", parser=workers, help="Processes at once; -1 for all cores."),
]
Resume = Annotated[
    Path | None,
    Option(
        "--resume",
        metavar="DIR",
        help="A folder for what is done; a run that was stopped continues there.",
    ),
]

# output options of every command, with or without a figure; commands without random numbers
# accept a seed among them
FIGURE = {
    "figure": Option(
        "--figure", metavar="FILE", parser=Path, help="Also draw a figure (.png, .svg or .pdf)."
    )
}
OUTPUT = {
    "form": Option("--format", "-f", metavar="FORMAT", help="text, json, markdown, latex or csv."),
    "html": Option("--html", metavar="FILE", parser=Path, help="Also write a page for a browser."),
    "quiet": Option("--quiet", "-q", help="Print results only: no progress, no remarks."),
}
UNUSED_SEED = {
    "seed": Option(
        "--seed",
        metavar="N",
        parser=seed,
        help="Taken by every command; nothing is random in this one.",
    )
}
CURVE_SEED = {
    "seed": Option(
        "--seed",
        metavar="N",
        parser=seed,
        help="The seed of random numbers: --probabilities draws; nothing else here is random.",
    )
}
Output = Annotated[output.Output, printing(UNUSED_SEED)]
Drawn = Annotated[output.Output, printing(FIGURE, UNUSED_SEED)]
RandomOutput = Annotated[output.Output, printing()]
RandomDrawn = Annotated[output.Output, printing(FIGURE)]


# --- Options of gates, shared by `compare` and `estimate`

_MOST_GROUPS_PRINTED = 10  # verdicts of groups that are printed; of more, only failed ones

FailIfWorse = Annotated[
    bool, Option("--fail-if-worse", help="Exit 1 if P(B - A < -margin) >= confidence.")
]
RequireNotWorse = Annotated[
    bool,
    Option(
        "--require-not-worse",
        help="Exit 1 unless P(B - A > -margin) >= confidence and the one-sided interval agrees.",
    ),
]
RequireBetter = Annotated[
    bool,
    Option(
        "--require-better",
        help="Exit 1 unless P(B - A > margin) >= confidence and the one-sided test (with a margin: "
        "interval) agrees.",
    ),
]
Margin = Annotated[
    float | None,
    Option(
        metavar="D",
        parser=points,
        help="The margin of the gate: 0.01, 1pt or 1% is one point; by default 0.",
    ),
]
Confidence = Annotated[
    float | None,
    Option(metavar="P", parser=number, help="The confidence of the gate; by default 0.95."),
]


def check_gate_options(kinds: Mapping[str, bool], told: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the requested gate and its options, checked before any computation."""
    from probative.jobs.gate import GATES, check_gate, check_ledger_options

    asked = [kind for kind, on in kinds.items() if on]
    given = {name: value for name, value in told.items() if value is not None}
    if len(asked) > 1:
        raise InputError(f"--{asked[1]}: cannot be combined with --{asked[0]}; expected one gate")
    if not asked:
        for name in given:
            listed = ", ".join(f"--{gate}" for gate in GATES)
            raise InputError(
                f"--{name.replace('_', '-')}: belongs to a gate; expected one of {listed}"
            )
        return None
    check_gate(
        asked[0], **{name: given[name] for name in ("margin", "confidence") if name in given}
    )
    candidates = {name: given[name] for name in ("candidates",) if name in given}
    check_ledger_options(asked[0], given.get("ledger"), **candidates)
    return {"kind": asked[0], **given}


def tell_verdicts(verdicts: Sequence[GateVerdict]) -> int:
    """Print the verdicts and what they used of a test set; return the exit status."""
    in_groups = [v for v in verdicts if v.group is not None]
    listed = [v for v in in_groups if not v.passed][:_MOST_GROUPS_PRINTED]
    if len(in_groups) <= _MOST_GROUPS_PRINTED:
        listed = in_groups
    for verdict in (*(v for v in verdicts if v.group is None), *listed):
        remark(f"--{verdict}")
        if verdict.use is not None and not verdict.hidden:  # otherwise the document shows it
            remark(f"--ledger: {verdict.use}")
    if len(listed) < len(in_groups):
        passed = sum(v.passed for v in in_groups)
        remark(f"--{in_groups[0].kind} passed in {passed:,} of {len(in_groups):,} groups")
    for note in dict.fromkeys(v.use.note for v in verdicts if v.use is not None and v.use.note):
        remark(note)
    return 0 if all(verdict.passed for verdict in verdicts) else 1
