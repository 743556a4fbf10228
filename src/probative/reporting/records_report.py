"""Build the tables and the page of records: fields, kinds of error, changes, documents."""

from __future__ import annotations

import json
from collections.abc import Sequence
from difflib import SequenceMatcher
from typing import TYPE_CHECKING, Any

from probative.reporting.document import Column, Table, Tracks, Words, differed, limits, scored
from probative.reporting.score_report import hidden
from probative.results import RecordExample
from probative.wording.numbers import brackets, counted, metric_words, points, pvalue, with_interval

if TYPE_CHECKING:
    from probative.results import (
        Comparison,
        Comparisons,
        FieldExample,
        PathSummary,
        Scores,
        SystemScores,
    )

_MOST_FIELDS = 200  # paths in a table
_MOST_NEAR_MISSES = 20  # rules in a table
_LONGEST_EXAMPLE = 40  # characters
_KEPT = "JSON has all of them"


def path_table(paths: Sequence[PathSummary], documents: int) -> Table:
    """Build the table of the paths of a file: types, how often, examples, what a schema says."""
    known = any(path.required is not None for path in paths)
    return Table.of(
        paths[:_MOST_FIELDS],
        Words("path"),
        Words("types", form=", ".join),
        Column("documents"),
        Column("values"),
        Words("required", form=lambda required: "yes" if required else "", when=known),
        Words("examples", form=lambda values: ", ".join(map(_example, values)), drop=int(known)),
        Words("option to consider", "rule", when=known),
        title=f"Paths in {counted(documents, 'document')}",
        notes=hidden(len(paths) - _MOST_FIELDS, "paths", _KEPT),
    )


def _example(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _LONGEST_EXAMPLE else f"{text[:_LONGEST_EXAMPLE]}…"


# --- One system


def quality_lines(scores: Scores) -> list[str]:
    """Return how many outputs of each system are malformed, missing and repaired."""
    lines = []
    for system in scores.systems:
        if (found := system.outcomes) is not None:
            ends = [s for s in system.scores if s.metric == "f1_of_documents"]
            limits = "".join(f" {brackets(s.low, s.high, 1)}" for s in ends)
            lines.append(
                f"{system.name}: of {found.documents:,} outputs, {found.malformed:,} malformed, "
                f"{found.missing:,} missing, {found.repaired:,} repaired. {found.strict:,} "
                f"documents have no error; the mean F1 of documents is "
                f"{points(found.mean_f1, 1)}{limits}."
            )
    return lines


def two_averages(scores: Scores, compared: Comparisons | None = None) -> list[str]:
    """Return whether pooled F1 and the mean F1 of documents order two systems alike."""
    pooled = {(c.a, c.b): c for c in (compared.comparisons if compared else ()) if c.metric == "f1"}
    if compared is None or not pooled:
        return _other_orders(scores)
    means = [gap for gap in compared.other_metrics or () if gap.metric == "f1_of_documents"]
    sentences = []
    for mean in means:
        gap, of_mean = pooled[mean.a, mean.b], _higher(mean)
        one, other = (mean.b, mean.a) if gap.difference > 0 else (mean.a, mean.b)
        if gap.difference * mean.difference > 0:
            sentences.append(f"The mean F1 of documents is higher for {one}, too ({of_mean}).")
        elif gap.difference * mean.difference < 0:
            sure = sum(each.low > 0 or each.high < 0 for each in (gap, mean))
            sentences.append(
                f"The two averages disagree: F1 of all fields is higher for {one} "
                f"({_higher(gap)}), the mean F1 of documents for {other} ({of_mean}). "
                f"{('Neither', 'One', 'Each')[sure]} of these differences is established."
            )
    return sentences


def _other_orders(scores: Scores) -> list[str]:
    """Return a sentence for each pair of systems that the two averages order differently."""
    both = [
        (system.name, system["f1"].estimate, system.outcomes.mean_f1)
        for system in scores.systems
        if system.outcomes is not None and any(s.metric == "f1" for s in system.scores)
    ]
    return [
        f"The two averages disagree: F1 of all fields is higher for {one}, the mean F1 of "
        f"documents for {other}."
        for one, pooled, mean in both
        for other, its_pooled, its_mean in both
        if pooled > its_pooled and mean < its_mean
    ]


def _higher(gap: Any) -> str:
    """Return by how many points the higher of two scores is higher, with its interval."""
    low, high = (gap.low, gap.high) if gap.difference > 0 else (-gap.high, -gap.low)
    return f"by {with_interval(abs(gap.difference), low, high, 1)} points"


def _typed(counts: Any) -> int:
    """Return the number of leaves of a field where the other side has another type."""
    return int(counts.lost_type + counts.other_type)


def field_table(scores: Scores, system: SystemScores) -> Table:
    """Build the table of fields, those with most errors first."""
    own = {entry.label: entry.scores[-1] for entry in system.by_label}
    fields = _outcomes(system)
    shown = fields[:_MOST_FIELDS]
    metric = next((own[each.path].metric for each in fields if each.path in own), "f1")
    several = f": {system.name}" if len(scores.systems) > 1 else ""
    drawn = [limits(own[each.path]) for each in shown if each.path in own]
    known = len(drawn) == len(shown)
    return Table.of(
        shown,
        Words("field", "path"),
        Column("in gold", "in_gold"),
        Column("right"),
        Column("other value", "other_value"),
        Column("missing"),
        Column("invented"),
        Column("other type", _typed, when=any(map(_typed, shown))),
        Column(metric_words(metric), lambda each: own[each.path], scored, when=known),
        title=f"Fields by their errors{several}",
        notes=hidden(len(fields) - _MOST_FIELDS, "fields", _KEPT),
        tracks=Tracks.of(drawn) if known else None,
    )


def _near_miss_table(system: SystemScores) -> Table | None:
    """Build the table of the rules that would accept wrong values; None if there is none."""
    found = system.outcomes
    if found is None or not found.near_misses:
        return None
    return Table.of(
        found.near_misses[:_MOST_NEAR_MISSES],
        Words("rule for a field", "option"),
        Column("would accept", "number"),
        Column("F1 then", lambda miss: points(miss.f1, 1)),
        title=f"Values wrong in form only: {system.name}",
        notes=(
            f"{found.differ_in_form:,} of {found.wrong_values:,} wrong values differ only in form.",
            "A rule is a decision about the task, so none is applied unless asked for.",
        ),
    )


def record_tables(scores: Scores) -> list[Table]:
    """Return the tables of fields and of near misses of every system."""
    found = [system for system in scores.systems if system.outcomes is not None]
    near = [table for system in found if (table := _near_miss_table(system)) is not None]
    return [*(field_table(scores, system) for system in found), *near]


# --- Two systems


def _field_differences(result: Comparisons, c: Comparison) -> Table:
    """Build the table of differences by field, those with most errors first."""
    a, b = ({f.path: f for f in _outcomes(result[name])} for name in (c.a, c.b))

    def errors(path: str) -> int:
        return sum(side[path].errors for side in (a, b) if path in side)

    def count(side: dict[str, Any], name: str) -> Any:
        return lambda e: getattr(side[e.label], name) if e.label in side else 0

    ordered = sorted(c.by_label, key=lambda e: (-errors(e.label), e.label))
    known = bool(a or b)
    tested = any(e.pvalue is not None for e in ordered)
    return Table.of(
        ordered[:_MOST_FIELDS],
        Words("field", "label"),
        Column("in gold", count(a or b, "in_gold"), when=known),
        Column(f"errors of {c.a}", count(a, "errors"), when=known, drop=2),
        Column(f"errors of {c.b}", count(b, "errors"), when=known, drop=3),
        Column(c.a, lambda e: points(e.score_a, 1), drop=4),
        Column(c.b, lambda e: points(e.score_b, 1), drop=5),
        Column("difference", differed),
        Column("p", "pvalue", pvalue, when=tested, drop=1),
        Column("p adjusted", "p_adjusted", pvalue, when=tested),
        title=f"{c.b} against {c.a}, {metric_words(c.metric.removeprefix('macro_'))} by field",
        notes=(
            f"In points; {100 * c.level:g} % intervals, each on its own. p adjusted: randomisation "
            f"test by {c.by}, by Holm's method for {counted(len(ordered), 'field')}."
            if tested
            else "",
            hidden(len(ordered) - _MOST_FIELDS, "fields", _KEPT),
        ),
        track="difference",
    )


def _outcomes(system: SystemScores) -> Sequence[Any]:
    return () if system.outcomes is None else system.outcomes.fields


def compared_fields(result: Comparisons) -> list[Table]:
    """Return the tables of differences by field, and of near misses of every system."""
    main = result.comparisons[0].metric
    first = [c for c in result.comparisons if c.metric == main and c.question != "procedures"]
    near = [table for system in result.systems if (table := _near_miss_table(system)) is not None]
    return [*(_field_differences(result, c) for c in first if c.by_label), *near]


# --- The page

_ROWS = ("errors", "other-value", "missing", "invented", "other-type", "fixed", "broken")
_MOST_BARS = 30  # fields with bars
_MOST_PATHS = 40  # fields to choose from
_MOST_COMPARED = 400  # characters of values whose differing ones are marked


def records_content(result: Comparisons) -> dict[str, Any]:
    """Return the variables of the template of records."""
    documents = [example for example in result.examples if isinstance(example, RecordExample)]
    paths = dict.fromkeys(row.path for shown in documents for row in shown.fields)
    wrong = [f.path for system in result.systems for f in _outcomes(system) if f.path in paths]
    return {
        "quality": [*quality_lines(result.scores), *two_averages(result.scores, result)],
        "field_tables": compared_fields(result),
        "system_tables": [field_table(result.scores, system) for system in result.systems],
        "bars": _bars(result),
        "change_tables": _change_tables(result),
        "documents": documents,
        "heads": [
            f"{shown.document}: {counted(shown.errors_a, 'error')} of {shown.a}, "
            f"{shown.errors_b:,} of {shown.b}"
            for shown in documents
        ],
        "paths": list(dict.fromkeys((*wrong, *paths)))[:_MOST_PATHS],
        "kinds": _ROWS,
        "classes_of": _classes,
        "differing": _differing,
        "label_tables": [],
    }


def _bars(result: Comparisons) -> list[dict[str, Any]]:
    """Return the errors of every system by kind, in the fields with most errors."""
    by_path: dict[str, dict[str, Any]] = {}
    for system in result.systems:
        for found in _outcomes(system):
            by_path.setdefault(found.path, {})[system.name] = found
    total = {path: sum(f.errors for f in own.values()) for path, own in by_path.items()}
    shown = sorted((p for p in total if total[p]), key=lambda p: (-total[p], p))[:_MOST_BARS]

    def parts(found: Any) -> dict[str, int]:
        kinds = {"other value": found.other_value, "missing": found.missing}
        return kinds | {"invented": found.invented, "other type": _typed(found)}

    return [
        {"path": path, "name": name, "errors": found.errors, "parts": parts(found)}
        for path in shown
        for name, found in by_path[path].items()
    ]


def _change_tables(result: Comparisons) -> list[Table]:
    """Return a table for each pair: what B fixes and what it breaks, with documents."""
    pairs = dict.fromkeys((c.a, c.b) for c in result.changes or ())
    return [
        Table.of(
            [c for c in result.changes or () if (c.a, c.b) == (a, b)],
            Words("field", "path"),
            Column("fixed"),
            Column("broken"),
            Words("documents", _where),
            title=f"What {b} fixes and breaks of {a}",
            notes="Gold fields that only one of the two has right.",
        )
        for a, b in pairs
    ]


def _where(change: Any) -> str:
    changes = (
        ("fixed", change.fixed_in, change.fixed),
        ("broken", change.broken_in, change.broken),
    )
    return "; ".join(
        f"{what} in {', '.join(where)}{', …' if number > len(where) else ''}"
        for what, where, number in changes
        if where
    )


def _classes(row: FieldExample) -> str:
    """Return the kinds of errors in a field of a document, by which the page shows and hides it."""
    kinds = [kind for kind in (row.kind_a, row.kind_b) if kind not in ("", "right")]
    classes = [f"k-{kind.replace(' ', '-')}" for kind in dict.fromkeys(kinds)]
    fixed = row.kind_b == "right"
    if row.gold is not None and fixed != (row.kind_a == "right"):
        classes.append("k-fixed" if fixed else "k-broken")
    return " ".join(["k-errors", *classes] if kinds else [])


def _differing(gold: str | None, said: str | None) -> list[tuple[str, bool]]:
    """Return a value in parts, each with whether gold does not have it."""
    if said is None:
        return []
    if gold is None or gold == said or max(len(gold), len(said)) > _MOST_COMPARED:
        return [(said, False)]
    blocks = SequenceMatcher(None, gold, said, autojunk=False).get_opcodes()
    return [(said[i:j], what != "equal") for what, _, _, i, j in blocks if j > i]
