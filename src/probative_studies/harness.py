"""Simulate, judge, count, tabulate: everything that the studies share.

A study draws test sets under several conditions, judges each, counts how often something happened,
and returns one `Row` per condition. `commands` declares its options, table and notes.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping, Sequence
from itertools import repeat
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.random import Generator

from probative._validation import open_probability, random_generator, whole_number
from probative.results import Result, jsonable
from probative.results.base import numbers_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from probative._validation import RNG
    from probative.cli.output import Output
    from probative.options import Options
    from probative.reporting.document import Document, Table


Report = Callable[[int, int], None]  # is given the number done and of all


class Row(Result):
    """Result of one condition: values by name, in the order in which they are given."""

    line: ClassVar[str] = ""  # template of the text, by the names of values

    def __init__(self, **values: Any) -> None:
        vars(self).update(values)

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any: ...

    def to_dict(self) -> dict[str, Any]:
        """Return the values by name, ready for JSON."""
        return {name: jsonable(value) for name, value in vars(self).items()}

    def _metrics(self) -> Any:
        return numbers_of(vars(self), vars(self).get("metric"))

    def __str__(self) -> str:
        values = vars(self)
        shown = (f"{name.replace('_', ' ')} {_cell(values[name])}" for name in values)
        return self.line.format(**values) if self.line else ", ".join(shown)


# --- Simulate


def quiet(done: int, total: int) -> None:
    """Report nothing."""


def part(report: Report, place: int, parts: int) -> Report:
    """Return the report of one of several parts of equal length."""
    return lambda done, total: report(place * total + done, parts * total)


def checked(level: float, replicates: int, least: int = 1) -> tuple[float, int]:
    """Return the level and the number of replicates, or refuse them."""
    return open_probability("level", level), whole_number("replicates", replicates, least=least)


def streams(conditions: Iterable[Any], rng: int, report: Report) -> Iterator[tuple[Any, Generator]]:
    """Yield every condition with a generator of its own: its draws do not depend on the others."""
    seed, cases = whole_number("rng", rng, least=0), list(conditions)
    for place, case in enumerate(cases):
        report(place, len(cases))
        yield case, np.random.default_rng([seed, place])
    report(len(cases), len(cases))


def one_stream(
    conditions: Iterable[Any], rng: RNG | None, report: Report
) -> Iterator[tuple[Any, Generator]]:
    """Yield every condition with the one generator from which all are drawn."""
    generator, cases = random_generator(rng), list(conditions)
    for done, case in enumerate(cases, start=1):
        yield case, generator
        report(done, len(cases))


def as_given(conditions: Iterable[Any], rng: Any, _: Report) -> Iterator[tuple[Any, Any]]:
    """Yield every condition with the seed as it was given."""
    return zip(conditions, repeat(rng))


def study(
    conditions: Any,
    drawn: Callable[..., Any] = one_stream,
    *,
    replicates: int = 1000,
    least: int = 1,
) -> Callable[[Callable[..., Iterable[Row]]], Callable[..., list[Row]]]:
    """Make a study of a function that yields the rows of one condition."""
    # `conditions` are usual ones, in whose place others may be given, or a function that makes
    # them from the options of the study; there are `least` replicates or more; a function that
    # takes five things reports its replicates itself
    number, usual = replicates, None if callable(conditions) else conditions

    def decorate(judge: Callable[..., Iterable[Row]]) -> Callable[..., list[Row]]:
        reports = len(inspect.signature(judge).parameters) == 5

        def run(
            *given: Any,
            level: float = 0.95,
            replicates: int = number,
            rng: Any = 0,
            report: Report = quiet,
            **options: Any,
        ) -> list[Row]:
            level, replicates = checked(level, replicates, least)
            cases = list(conditions(*given, **options) if usual is None else (*given, usual)[0])
            rows: list[Row] = []
            for place, (case, own) in enumerate(drawn(cases, rng, quiet if reports else report)):
                told = (part(report, place, len(cases)),) if reports else ()
                rows += judge(case, level, replicates, own, *told)
            return rows

        run.__module__, run.__name__, run.__doc__ = judge.__module__, judge.__name__, judge.__doc__
        shared = inspect.signature(run).parameters.values()
        own = inspect.signature(conditions).parameters.values() if usual is None else ()
        named = [*own, *(one for one in shared if one.kind is one.KEYWORD_ONLY)]
        run.__signature__ = inspect.Signature(named)  # type: ignore[attr-defined]  # for readers
        return run

    return decorate


# --- Count


def share_error(share: float, number: int, *, least: float = 0.0) -> float:
    """Return the standard error of a share; `least` is a lower limit of its p(1 - p)."""
    return math.sqrt(max(share * (1 - share), least) / number)


def share_of(events: Any) -> tuple[float, float]:
    """Return how often something happened, and the standard error of that."""
    found = float(np.mean(events))
    return found, share_error(found, len(events))


def summary(intervals: Sequence[Any], truth: float) -> dict[str, float]:
    """Return the coverage of the truth, its error, the mean length, and the share with a note."""
    return {
        "covered": mean([one.low <= truth <= one.high for one in intervals]),
        "length": mean([one.high - one.low for one in intervals]),
        "noted": mean([one.note is not None for one in intervals]),
        "standard_error": share_error(0.95, len(intervals)),
    }


def mean(values: Any) -> float:
    """Return the mean as a plain number."""
    return float(np.mean(values))


# --- Tabulate


def perform(study: Callable[..., Any], given: Options, out: Output, counting: str) -> Any:
    """Run a study with the options that were given, behind a progress bar."""
    from probative.cli.output import progress

    with progress(counting, quiet=out.quiet) as report:
        return study(**vars(given), report=report)


def emit(
    name: str, results: Any, given: Options, out: Output, *, title: Any, columns: Any, notes: Any
) -> None:
    """Print the results of a study."""
    title, columns = (own(given) if callable(own) else own for own in (title, columns))
    notes = notes.split("\n") if isinstance(notes, str) else [notes] if callable(notes) else notes
    # what texts may name: 1 less the level or the confidence, and the first standard error
    asked, first = vars(given), results[0] if isinstance(results, Sequence) else None
    doubt = 1 - asked.get("level", asked.get("confidence", 1.0))
    named = {"doubt": doubt, "error": getattr(first, "standard_error", None)}
    sentences = [n(given, results) if callable(n) else n.format(given, **named) for n in notes]
    out.emit(_document(name, results, columns, title, sentences, given.signature(name)))


def _document(
    name: str, results: Any, columns: Any, title: Any, notes: Sequence[str], signature: str
) -> Document:
    from probative.reporting.document import Document, payload

    if not isinstance(results, Mapping):
        records = [result.to_dict() for result in results]
        content = payload(f"study {name}", signature, conditions=records)
        tables = (_table(records, columns, title),)
        return Document(title, content, tables, tuple(records), notes=tuple(notes))
    by_question = {asked: [one.to_dict() for one in found] for asked, found in results.items()}
    return Document(
        title=f"Study of {name}",
        payload=payload(f"study {name}", signature, questions=by_question),
        tables=tuple(_table(own, columns[q], title[q]) for q, own in by_question.items()),
        records=tuple({"question": q, **one} for q, own in by_question.items() for one in own),
        notes=tuple(notes),
    )


def _table(records: Sequence[Mapping[str, Any]], columns: str, title: str) -> Table:
    """Show the fields that `columns` names: "field; field=head; …"."""
    from probative.reporting.document import Table

    pairs = [column.lstrip().partition("=")[::2] for column in columns.split(";")]
    usual = {"standard_error": "s.e."}
    heads = tuple(head or usual.get(key, key.replace("_", " ")) for key, head in pairs)
    rows = tuple(tuple(_cell(record[key]) for key, _ in pairs) for record in records)
    return Table(heads, rows, title=title)


def _cell(value: object) -> str:
    from probative.wording.numbers import number

    if isinstance(value, float):
        return number(value, 4)
    if value is None:  # undefined
        return "–"
    return f"{value:,}" if isinstance(value, int) else str(value)
