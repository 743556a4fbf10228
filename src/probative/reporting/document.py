"""Describe what a command prints, whatever the form.

A `Document` is made from results; `reporting.render` turns it into text, JSON, Markdown, LaTeX,
CSV or HTML.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import isnan
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NamedTuple

from probative._version import __version__
from probative.wording.numbers import (
    equals,
    listed,
    metric_name,
    p_equals,
    points,
    region,
    scale_word,
    with_interval,
)
from probative.wording.verdict import (
    LIKELY,
    SIGNIFICANT,
    no_verdict,
    pvalue_of,
    strength,
    tested_pvalue,
)

if TYPE_CHECKING:
    from probative.reporting.pictures import Picture
    from probative.results import Comparison, Comparisons, GateVerdict


class Strong(str):
    """Text in bold, where the form has it."""

    __slots__ = ()


@dataclass(frozen=True)
class Tracks:
    """Intervals drawn in the rows of a table, all on one scale from `low` to `high`."""

    rows: tuple[tuple[float, float, float] | None, ...]  # the estimate and the interval of each row
    low: float
    high: float
    zero: bool = False  # draw the line of no difference
    marked: frozenset[int] = frozenset()  # rows in the colour of the baseline

    @classmethod
    def of(
        cls,
        rows: Sequence[tuple[float, float, float]],
        *,
        zero: bool = False,
        marked: Iterable[int] = (),
    ) -> Tracks:
        """Put these estimates and intervals on one scale; undefined ones are not drawn."""
        defined = tuple(row if row[0] == row[0] else None for row in rows)
        values = [value for row in defined if row for value in row] + [0.0] * zero
        low, high = min(values, default=0.0), max(values, default=1.0)
        return cls(defined, low, high if high > low else low + 0.01, zero, frozenset(marked))

    def share(self, value: float) -> float:
        """Return the place of a value as a share of the scale."""
        return (value - self.low) / (self.high - self.low)


def limits(score: Any) -> tuple[float, float, float]:
    """Return the estimate and the interval of a score."""
    return score.estimate, score.low, score.high


def scored(entry: Any, digits: int | None = None) -> str:
    """Return the estimate of an entry with its interval in points: 41.9 [38.5, 45.3]."""
    return with_interval(entry.estimate, entry.low, entry.high, digits)


def differed(entry: Any, digits: int | None = None) -> str:
    """Return the difference of an entry with its interval in points: +1.1 [−2.0, +4.2]."""
    return with_interval(entry.difference, entry.low, entry.high, digits, signed=True)


def estimated(value: float, low: float, high: float, digits: int = 1) -> str:
    """Return a score in full before its rounded interval, in points: 41.92 [38.5, 45.3]."""
    return with_ends(points(value), points(low, digits), points(high, digits))


def with_ends(text: str, low: str, high: str) -> str:
    """Put an interval behind a score, in bold if the score is, unless one is undefined."""
    if text == "–" or low == high == "–":
        return text
    return type(text)(f"{text} [{low}, {high}]")


def estimate_in_full(score: Any) -> str:
    """Return the estimate of a score in full before its rounded interval, in points."""
    return estimated(score.estimate, score.low, score.high)


def _text(value: Any) -> str:
    """Return a text as it is, bold or not, None as empty text, and a number with commas."""
    if value is None or isinstance(value, str):
        return value or ""
    return f"{value:,}" if isinstance(value, int) else str(value)


@dataclass(frozen=True)
class Column:
    """Column of numbers: its heading, and what an entry of the table has there."""

    head: str
    value: str | Callable[[Any], Any] = ""  # an attribute, or a function of the entry; or the head
    form: Callable[[Any], str] = _text  # turns the value into text
    when: bool = True  # else it is left out
    drop: int = 0  # left out where there is no room, the smallest number first
    words: bool = False

    def cell(self, entry: Any) -> str:
        """Return the text of an entry in this column."""
        value = self.value or self.head
        return self.form(value(entry) if callable(value) else attrgetter(value)(entry))


@dataclass(frozen=True)
class Words(Column):
    """Column of words, which is aligned left; it comes before those of numbers, or last."""

    words: bool = True


class Named(NamedTuple):
    """Score with the name of its system, its label or its annotators."""

    name: str
    score: Any


def _several(notes: str | Iterable[str]) -> tuple[str, ...]:
    """Return notes, or a single one, without empty ones."""
    return tuple(filter(None, [notes] if isinstance(notes, str) else notes))


@dataclass(frozen=True)
class Table:
    """Rows of formatted text under column headings."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    title: str = ""
    notes: tuple[str, ...] = ()
    text_columns: int = 1  # the first ones, which hold words; the others hold numbers
    closing_words: bool = False  # the last column holds words, too
    tracks: Tracks | None = None  # drawn in the rows of the page
    droppable: tuple[int, ...] = ()  # hidden in this order where there is no room, then the last
    bold_note: str = ""  # explains bold text
    links: tuple[str, ...] = ()  # targets of the first cells on a page
    caption: tuple[str, ...] = ()  # added to the caption in a paper
    track_column: int | None = None  # text draws the tracks before it, if there is room
    details: tuple[str, ...] = ()  # notes that text shows only if it is verbose
    rule: int | None = None  # the row above which a line is drawn

    @classmethod
    def of(
        cls,
        entries: Iterable[Any],
        *columns: Column,
        title: str = "",
        notes: str | Iterable[str] = (),
        details: str | Iterable[str] = (),
        track: str = "",
        track_before: str = "",
        **about: Any,
    ) -> Table:
        """Build a table with one row per entry; empty notes are left out."""
        # `track` is the attribute that is drawn in each row between `low` and `high` of its owner;
        # text draws it before the column `track_before`
        entries, shown = list(entries), [column for column in columns if column.when]
        words = [column.words for column in shown]
        leading = words.index(False) if False in words else len(words)
        drops = sorted((c.drop, i) for i, c in enumerate(shown) if c.drop)
        heads = tuple(column.head for column in shown)
        if track:
            owner = track.rpartition(".")[0]
            three = attrgetter(track, *(f"{owner}.{end}".lstrip(".") for end in ("low", "high")))
            drawn = [three(entry) for entry in entries]
            about["tracks"] = Tracks.of(drawn, zero=track.endswith("difference"))
        return cls(
            heads,
            tuple(tuple(column.cell(entry) for column in shown) for entry in entries),
            title,
            _several(notes),
            leading,
            closing_words=words[-1:] == [True] and leading < len(words),
            droppable=tuple(i for _, i in drops),
            track_column=heads.index(track_before) if track_before else None,
            details=_several(details),
            **about,
        )

    @property
    def all_notes(self) -> tuple[str, ...]:
        """Return all notes, with the one on bold text if there is any."""
        bold = any(isinstance(cell, Strong) for row in self.rows for cell in row)
        return (*self.notes, *self.details, *([self.bold_note] if bold and self.bold_note else []))

    @property
    def word_columns(self) -> tuple[bool, ...]:
        """Return for every column True if it is aligned left and may be broken into lines."""
        last = len(self.columns) - 1 if self.closing_words else None
        return tuple(i < self.text_columns or i == last for i in range(len(self.columns)))

    def full_head(self, column: int) -> str:
        """Return the heading of a column, with that of its left neighbour if not unique."""
        head = self.columns[column]
        alone = self.columns.count(head) == 1
        return head if alone else f"{head} of {self.columns[column - 1]}"

    def without(self, column: int) -> Table:
        """Return the table without a column."""
        kept = [i for i in range(len(self.columns)) if i != column]
        return replace(
            self,
            columns=tuple(self.columns[i] for i in kept),
            rows=tuple(tuple(row[i] for i in kept) for row in self.rows),
            text_columns=sum(i < self.text_columns for i in kept),
            closing_words=self.closing_words and column != len(self.columns) - 1,
            droppable=tuple(i - (i > column) for i in self.droppable if i != column),
            track_column=self.track_column and self.track_column - (self.track_column > column),
        )

    def with_column(self, place: int, head: str, cells: Sequence[str]) -> Table:
        """Return the table with one more column before this place."""
        rows = zip(self.rows, cells, strict=True)
        return replace(
            self,
            columns=(*self.columns[:place], head, *self.columns[place:]),
            rows=tuple((*row[:place], cell, *row[place:]) for row, cell in rows),
            text_columns=self.text_columns + (place < self.text_columns),
            droppable=tuple(i + (i >= place) for i in self.droppable),
            track_column=None,
        )


_SIGNS = {"better": "▲", "worse": "▼", "open": "○", "equal": "="}
_SIGNS |= {"passed": "✓", "failed": "✗", "fact": "●"}


@dataclass(frozen=True)
class Answer:
    """Headline of a page: a few words, its state as a word and a sign, and sentences below."""

    words: str
    state: str = "fact"  # one of `_SIGNS`; better or worse is the challenger
    sentences: tuple[str, ...] = ()

    @property
    def sign(self) -> str:
        """Return the sign of the state."""
        return _SIGNS[self.state]


@dataclass(frozen=True)
class Origin:
    """Origin of a page: the command, its date, and the names and digests of the files it read."""

    command: str
    date: str
    files: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Document:
    """Content of everything that a command prints."""

    title: str
    payload: dict[str, Any]  # the output of --format json: the contract
    tables: tuple[Table, ...]
    records: tuple[dict[str, Any], ...]  # the lines of --format csv, numbers in full precision
    notes: tuple[str, ...] = ()  # sentences below the tables: assumptions, warnings
    leading: tuple[str, ...] = ()  # sentences above the tables
    pictures: tuple[Picture, ...] = ()  # of the page
    # the template of the page, and a function that returns its further variables: a function,
    # because figures take time and not everybody wants the page
    page: str = "page.html"
    content: Callable[[], Mapping[str, Any]] = dict
    headline: tuple[Answer, ...] = ()  # what the page says first; else the first sentence
    origin: Origin | None = None
    scale: Any = None  # the result on whose scale scores are printed
    details: tuple[str, ...] = ()  # notes that text shows only if it is verbose
    verdict: tuple[str, ...] = ()  # the last sentences of the text; on a page, the headline
    more: tuple[Table, ...] = ()  # tables that text shows only if it is verbose

    @property
    def answers(self) -> tuple[Answer, ...]:
        """Return the headline, or one made of the first sentence."""
        if self.headline:
            return self.headline
        said = [*self.verdict, *self.leading, *self.notes][:1]
        return (Answer(self.title, "fact", tuple(w for w in said if w != self.signature)),)

    @property
    def explanations(self) -> tuple[str, ...]:
        """Return the sentences below the tables that the headline does not have."""
        said = {words for answer in self.answers for words in answer.sentences}
        return tuple(w for w in self.sentences if w not in {*said, self.signature})

    @property
    def sentences(self) -> tuple[str, ...]:
        """Return all sentences that are not in the tables."""
        return (*self.leading, *self.notes, *self.details, *self.verdict)

    @property
    def signature(self) -> str:
        """Return the short description of every choice."""
        return str(self.payload.get("signature", ""))


def payload(
    command: str, signature: str, gates: Sequence[GateVerdict] = (), **content: Any
) -> dict[str, Any]:
    """Return the top level of every JSON output; gates come last, if there are any."""
    judged = {"gates": [gate.to_dict() for gate in gates]} if gates else {}
    return {"command": command, "version": __version__, "signature": signature, **content, **judged}


# --- Headlines: what a result says in a few words, and its state
#
# The state is a word and a sign, so that it does not depend on colour. The sentences come from
# `wording`; a headline is never stronger than they are.


_MOST_NAMED = 4  # systems named in a headline; more are counted


def score_words(score: Any) -> str:
    """Return a score with its interval in points: ``41.9 [38.5, 45.3]``."""
    return "undefined" if isnan(score.estimate) else scored(score)


def spoken(answers: Iterable[Answer]) -> tuple[str, ...]:
    """Return each headline and its sentences as one line."""
    return tuple(" ".join([f"{one.words}.", *one.sentences]) for one in answers)


def upper(words: str) -> str:
    """Begin words with a capital."""
    return words[:1].upper() + words[1:]


# --- Comparisons


def evidence_words(c: Comparison) -> tuple[str, str]:
    """Return what a comparison shows in a few words, and its state."""
    if c.identical:
        return "Identical outputs", "equal"
    if no_verdict(c):
        return "No verdict", "open"
    if c.rope > 0 and c.p_equivalent >= LIKELY:
        return "Equivalent", "equal"
    word = strength(c)
    if word:
        better, state = (c.b, "better") if c.difference > 0 else (c.a, "worse")
        return f"{better} better: {word} evidence", state
    differ = c.rope > 0 and pvalue_of(c) <= SIGNIFICANT
    exceeds = f" that they differ by more than {region(c.rope)}" if differ else ""
    return f"Not established{exceeds}", "open"


def _lower(words: str) -> str:
    """Begin words without a capital."""
    return words[:1].lower() + words[1:]


def verdict_words(c: Comparison) -> str:
    """Return what a comparison shows about its second system, for a table: ``worse: strong``."""
    words, state = evidence_words(c)
    return f"{state}: {strength(c)}" if state in ("better", "worse") else _lower(words)


def gate_answers(gates: Sequence[GateVerdict]) -> tuple[Answer, ...]:
    """Return whether the gates passed; nothing without gates."""
    if not gates:
        return ()
    failed = [gate for gate in gates if not gate.passed]
    word = "failed" if failed else "passed"
    several = f"{len(failed)} of {len(gates)} gates failed" if failed else "All gates passed"
    words = several if len(gates) > 1 else f"Gate {word}"
    return (Answer(words, word, tuple(f"{upper(str(gate))}." for gate in failed or gates)),)


def comparison_answers(
    result: Comparisons, gates: Sequence[GateVerdict] = ()
) -> tuple[Answer, ...]:
    """Return the headline of a comparison: gates first, then what is shown about the systems."""
    main = [c for c in result.comparisons if c.metric == result.comparisons[0].metric]
    found = [Answer(*evidence_words(main[0]), tuple(result.verdicts[:1]))]
    if len({(c.a, c.b) for c in main}) > 1:
        found = [_many(main)]
    elif main[0].question is not None:
        found = list(map(_of_runs, main))
    return (*gate_answers(gates), *found)


def _of_runs(c: Comparison) -> Answer:
    """Return what several runs show, for these models or for new runs, in one line each."""
    words, state = evidence_words(c)
    whom = "New runs" if c.question == "procedures" else "These models"
    # the name of a system stays as it is
    head = f"{whom}: {words if state in ('better', 'worse') else _lower(words)}"
    if no_verdict(c):
        return Answer(head, state)
    said = (
        f"{metric_name(c.metric, c.match)} {points(c.score_b, 1)} against {points(c.score_a, 1)}, "
        f"difference {with_interval(c.difference, c.low, c.high, 1, signed=True)}{scale_word()}, "
        f"P({c.b} better) {equals(c.p_b_better)}, p {p_equals(tested_pvalue(c))}."
    )
    return Answer(head, state, (said,))


def _many(main: Sequence[Comparison]) -> Answer:
    """Return how many of several differences are established, and for whom."""
    baselines = {c.a for c in main}
    found = [(c.b, evidence_words(c)[1]) for c in main if c.question != "procedures"]
    better, worse = ([b for b, state in found if state == one] for one in ("better", "worse"))
    rest = len(found) - len(better) - len(worse)
    if len(baselines) > 1:
        words = f"{len(found) - rest} of {len(found)} differences established"
        return Answer(words, "better" if rest < len(found) else "open")
    (baseline,) = baselines
    if not better and not worse:
        words = f"Not established: none of {len(found)} is shown to differ from {baseline}"
        return Answer(words, "open")
    parts = [
        f"{listed(names) if len(names) <= _MOST_NAMED else f'{len(names)} systems'} "
        f"{'is' if len(names) == 1 else 'are'} {word} than {baseline}"
        for names, word in ((better, "better"), (worse, "worse"))
        if names
    ]
    others = "one other" if rest == 1 else f"the other {rest}"
    said = (f"Not established for {others}.",) if rest else ()
    return Answer("; ".join(parts), "better" if better else "worse", said)
