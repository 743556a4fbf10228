"""Build the content of the page of a comparison besides its tables."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from operator import itemgetter
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from probative.metrics import label_metric
from probative.reporting.bayes_report import difference_picture
from probative.reporting.document import Answer, Column, Table, Tracks, Words, differed, scored
from probative.reporting.forests import ON_A_PAGE, group_notes, group_pictures, group_tables
from probative.reporting.headlines import evidence_words, verdict_words
from probative.reporting.pictures import Bar, Forest, Histogram, figure
from probative.reporting.runs_report import has_runs, hidden, variance_picture
from probative.reporting.score_report import ceiling_table, described, score_forest
from probative.results import LabelExample, RecordExample
from probative.wording.numbers import (
    counted,
    metric_name,
    on_own_scale,
    p_equals,
    points,
    scale_word,
    signed_points,
)
from probative.wording.verdict import STRENGTHS, no_verdict

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.figure import Figure

    from probative.reporting.pictures import Picture
    from probative.results import Comparison, Comparisons, Example

_MOST_LABELS = 200  # labels in a table
_MOST_CONFUSED_LABELS = 10  # labels of a heat map; more do not fit on a phone
_HEAT = 0.08, 0.8  # opacity of the colour of a heat map, from rare to most frequent
_STRONG = 0.62  # opacity from which black words are easier to read on a dark page than white ones


def page_content(result: Comparisons, tables: Sequence[Table]) -> dict[str, Any]:
    """Return the variables of the template; `tables` are those of scores and differences."""
    main = result.comparisons[0].metric
    first = [c for c in result.comparisons if c.metric == main]
    drawn = [
        {"title": f"{c.b} against {c.a}{_OF[c.question]}", "pictures": _pair_pictures(c)}
        for c in first
        if not c.identical and no_verdict(c) is None
    ]
    kind = "labels" if result.task in ("labels", "samples") else "spans"
    by_label = [label_differences(c) for c in first if c.by_label]
    many = len({(c.a, c.b) for c in first}) > 1
    open_pairs = 0 if many else len(drawn)
    shown = len({(example.a, example.b) for example in result.examples})
    more = len([c for c in first if not c.identical]) - shown
    without = f" Of {counted(shown, 'pair')}; {more:,} more pairs have none here." * (more > 0)
    return {
        # the headline has the verdict of two systems
        "verdicts": result.verdicts if many or has_runs(result.scores) else (),
        "lead": "",
        "recognised": [base_name(note) for note in result.notes],
        "score_table": _with_signs(tables[0], first),
        "difference_table": tables[1] if len(tables) > 1 else None,
        "score_pictures": [score_forest(result.scores, main)],
        "difference_pictures": [_difference_forest(first)],
        "pairs": drawn[:open_pairs],
        "more_pairs": drawn[open_pairs:],
        "label_tables": by_label[:1] if many else by_label,
        "more_label_tables": by_label[1:] if many else [],
        **_bucket_content(result, [c for c in first if c.question != "procedures"]),
        "confusions": _confusions(result),
        "confusion_words": _CONFUSION_WORDS[kind],
        "examples": shown_examples(
            [one for one in result.examples if not isinstance(one, RecordExample)]
        ),
        "example_words": EXAMPLE_WORDS[kind] + without,
        "methods": methods_of(result),
        "group_pictures": group_pictures(result),
        "group_tables": group_tables(result, most=ON_A_PAGE) if result.groups else [],
        "group_notes": group_notes(result),
        "ceiling_tables": [ceiling_table(result.ceilings)] if result.ceilings else [],
    }


def base_name(note: str) -> str:
    """Shorten the paths of files in a note to their last parts."""
    path, colon, words = note.partition(": ")
    head = f"{PurePath(path).name}{colon}" if colon and path else path
    said = (PurePath(w).name if w.startswith("/") and len(w) > 1 else w for w in words.split(" "))
    return head + " ".join(said)


def _with_signs(table: Table, comparisons: Sequence[Comparison]) -> Table:
    """Add a sign to each verdict of a table, so that it can be seen at a glance."""
    if table.columns[-1] != "verdict":
        return table
    signs = {verdict_words(c): Answer("", evidence_words(c)[1]).sign for c in comparisons}
    rows = (
        (*row[:-1], f"{signs[row[-1]]} {row[-1]}" if row[-1] in signs else row[-1])
        for row in table.rows
    )
    return replace(table, rows=tuple(rows))


def _difference_forest(comparisons: Sequence[Comparison]) -> Forest:
    bars = [
        Bar(f"{c.b} − {c.a}{_OF[c.question]}", c.difference, c.low, c.high) for c in comparisons
    ]
    metric = metric_name(comparisons[0].metric, comparisons[0].match)
    level = f"{100 * comparisons[0].level:g} % intervals"
    return Forest(
        bars,
        zero=True,
        axis=f"difference in {metric}{scale_word(', ')}",
        title=f"Differences in {metric} with {level}.",
        description=f"Differences in {metric}: {described(bars)}",
        reading="Right of the dashed line the system that is named first is better, left of it the "
        "other. An interval that crosses the line does not establish a difference.",
        note=level,
    )


@on_own_scale
def comparison_figure(result: Comparisons) -> Figure:
    """Draw the scores of the systems and the differences of the pairs side by side."""
    main = result.comparisons[0].metric
    first = [c for c in result.comparisons if c.metric == main]
    return figure(score_forest(result.scores, main), _difference_forest(first))


def posterior_figure(c: Comparison) -> Figure:
    """Draw the posterior of one difference."""
    return figure(difference_picture(c, (c.a, c.b)))


def _pair_pictures(c: Comparison) -> list[Picture]:
    posterior, variance = difference_picture(c, (c.a, c.b)), variance_picture(c)
    pictures: list[Picture] = [posterior] if posterior.x else []
    pictures += [] if variance is None else [variance]
    if c.null is not None:
        pictures.append(
            Histogram(
                [float(x) for x in c.null.edges],
                [float(p) for p in c.null.probabilities],
                c.difference,
                axis=f"difference by chance alone{scale_word(', ')}",
                title=f"Null distribution of the {c.test} test by {c.by}.",
                description=f"Null distribution of the difference in "
                f"{metric_name(c.metric, c.match)}; observed {signed_points(c.difference)}, "
                f"p {p_equals(c.pvalue)}",
                reading=f"Differences expected by chance: the outputs are swapped at random, "
                f"{c.by} by {c.by}. Purple: at least as large as the observed "
                f"one, on either side; its share is p {p_equals(c.pvalue)}.",
            )
        )
    return pictures


def label_differences(c: Comparison) -> Table:
    """Build the table of the scores of two systems and their difference by label."""
    shown = c.by_label[:_MOST_LABELS]
    metric = metric_name(label_metric(c.metric.removeprefix("macro_")), c.match)
    return Table.of(
        shown,
        Words("label"),
        Column(c.a, lambda e: points(e.score_a, 1), drop=1),
        Column(c.b, lambda e: points(e.score_b, 1), drop=2),
        Column("difference", differed),
        title=f"{c.b} against {c.a}, {metric} by label{scale_word(' in ')}",
        notes=(
            _each_on_its_own(c.level),
            hidden(len(c.by_label) - len(shown), "labels", "JSON has all of them"),
        ),
        track="difference",
    )


def _each_on_its_own(level: float) -> str:
    return f"{100 * level:g} % intervals, each on its own: not adjusted for their number."


def bucket_tables(result: Comparisons, c: Comparison) -> list[Table]:
    """Build one table per kind of bucket: the scores of two systems and their difference."""
    kinds = dict.fromkeys(bucket.kind for bucket in result.buckets or ())
    return [_bucket_table(result, c, kind) for kind in kinds]


def _bucket_table(result: Comparisons, c: Comparison, kind: str) -> Table:
    found = []
    for bucket in (b for b in result.buckets or () if b.kind == kind):
        own = {score.system: score for score in bucket.scores}
        gap = next(d for d in bucket.differences if (d.a, d.b) == (c.a, c.b))
        found.append((bucket, own[c.a], own[c.b], gap))
    metric = metric_name(found[0][3].metric if found else c.metric, c.match)
    return Table.of(
        found,
        Words(kind, lambda row: row[0].bucket),
        Column("items", lambda row: row[0].items),
        # the difference is kept longest
        Column(c.a, itemgetter(1), scored, drop=1),
        Column(c.b, itemgetter(2), scored, drop=2),
        Column("difference", itemgetter(3), differed),
        title=f"{c.b} against {c.a}, {metric} by {kind}{scale_word(' in ')}",
        notes=(_each_on_its_own(result.level),),
        tracks=Tracks.of([(g.difference, g.low, g.high) for *_, g in found], zero=True),
    )


def _bucket_content(result: Comparisons, first: Sequence[Comparison]) -> dict[str, Any]:
    """Return the tables of buckets of the first pair, and those of the others."""
    tables = [bucket_tables(result, c) for c in first]
    shown, more = tables[:1], [own for own in tables[1:] if own]
    return {
        "bucket_tables": [table for own in shown for table in own],
        "more_bucket_tables": [table for own in more for table in own],
        "more_bucket_pairs": len(more),
        "bucket_words": _BUCKET_WORDS.format(
            length="characters" if result.task == "segmentation" else "tokens"
        ),
    }


def _confusions(result: Comparisons) -> list[dict[str, Any]]:
    """Return a heat map for each system, of the labels that are confused most."""
    systems = [
        (system, rows)
        for system, rows in zip(result.systems, result.confusions, strict=False)
        if rows
    ]
    times: Counter[str] = Counter()
    for _, rows in systems:
        for right, given, n in rows:
            times.update({label: n for label in (right, given) if label is not None})
    most = sorted(times, key=lambda label: (-times[label], label))[:_MOST_CONFUSED_LABELS]
    labels: list[str | None] = [*sorted(most)]
    if any(None in row[:2] for _, rows in systems for row in rows):
        labels.append(None)
    # one scale for all, so that a colour has one meaning
    largest = max((n for _, rows in systems for *_, n in rows), default=1)
    return [_heat_map(system.name, rows, labels, largest) for system, rows in systems]


def _heat_map(
    name: str,
    rows: Sequence[tuple[str | None, str | None, int]],
    labels: Sequence[str | None],
    largest: int,
) -> dict[str, Any]:
    times = {(right, given): n for right, given, n in rows}
    shown = sum(n for (right, given), n in times.items() if right in labels and given in labels)
    total = sum(times.values())
    note = (
        f"{shown:,} of {total:,} confusions: those of the {len(labels) - (None in labels)} "
        f"labels that all systems together confuse most."
    )

    def cell(right: str | None, given: str | None) -> dict[str, Any] | None:
        if right == given:
            return None
        n = times.get((right, given), 0)
        heat = _HEAT[0] + (_HEAT[1] - _HEAT[0]) * n / largest
        return {
            "times": f"{n}" if n < 10_000 else f"{n // 1000:,}k",
            # on white, black words can be read on every colour; on black, on strong ones
            "share": f"{heat:.2f}" if n else "0",
            "strong": heat > _STRONG,
            "words": f"{_said(right)} taken for {_said(given)}: {n:,}",
        }

    return {
        "title": name,
        "note": note if shown < total else "",
        "given": [_said(label) for label in labels],
        "rows": [(_said(right), [cell(right, given) for given in labels]) for right in labels],
    }


def _said(label: str | None) -> str:
    return "(nothing)" if label is None else label


def shown_examples(examples: Sequence[Example | LabelExample]) -> list[dict[str, Any]]:
    """Return examples for the page, under a heading for each system that does better."""
    groups: dict[tuple[str, str, str], list[dict[str, Any]]] = {}
    for example in examples:
        whose = (example.a, example.b, example.better)
        groups.setdefault(whose, []).append(_shown_example(example))
    return [
        {"title": f"{better} does better than {a if better == b else b}", "examples": own}
        for (a, b, better), own in groups.items()
    ]


_SIGNS = {"right": "✓", "wrong": "✗", "missed": "✗ missed"}


def _shown_example(example: Example | LabelExample) -> dict[str, Any]:
    """Return an example for the page: a head, a text, and one line per side."""
    if isinstance(example, LabelExample):
        given = (("gold", example.gold), (example.a, example.label_a), (example.b, example.label_b))
        return {
            "head": f"Item {example.item:,}",
            "text": example.text,
            "lines": [
                (who, [_part(label, "right" if label == example.gold else "wrong")])
                for who, label in given
            ],
        }
    show = _differing_words if example.separator == "" and _covers(example) else _marked
    sides = (("gold", example.gold), (example.a, example.spans_a), (example.b, example.spans_b))
    f1 = f"F1 {points(example.f1_b, 0)} of {example.b}, {points(example.f1_a, 0)} of {example.a}"
    return {
        "head": f"Sentence {example.sentence:,}: {f1}",
        "lines": [(who, show(example, spans)) for who, spans in sides],
    }


def _part(text: str, kind: str = "", label: str = "") -> dict[str, str]:
    """Return a part of a line; right and wrong ones have a sign."""
    name = "" if label in ("word", "_", "") else label
    return {"text": text, "kind": kind, "note": f"{name} {_SIGNS.get(kind, '')}".strip()}


def _marked(example: Example, spans: Sequence[tuple[int, int, str]]) -> list[dict[str, str]]:
    """Split a sentence into parts with its spans marked; of overlapping spans, keep the first."""
    # spans of gold that a system does not have, and that none of its spans overlaps, are missed
    right = set(example.gold)
    missed = [
        own for own in example.gold if not any(a < own[1] and own[0] < b for a, b, _ in spans)
    ]
    kinds = {own: "right" if own in right else "wrong" for own in spans}
    kinds |= dict.fromkeys(missed, "missed")
    parts: list[dict[str, str]] = []
    at, space = 0, example.separator
    for first, end, label in sorted(kinds):
        start = max(first, 0)  # a span may begin before the shown words
        if start < at:
            continue
        if start > at:
            parts.append(_part(space.join(example.words[at:start]) + space))
        words = space.join(example.words[start:end])
        parts.append(_part(words, kinds[first, end, label], label))
        parts.append(_part(space or "\u2009"))
        at = end
    return [*parts, _part(space.join(example.words[at:]))]


_WORDS_AROUND = 5  # words shown before and after a place where segmentations differ


def _covers(example: Example) -> bool:
    """Return True if the gold spans are the words of the sentence, one after the other."""
    ends = [0, *(end for _, end, _ in sorted(example.gold))]
    starts = [max(first, 0) for first, _, _ in sorted(example.gold)]
    return len(example.gold) > 1 and starts == ends[:-1]


def _differing_words(
    example: Example, spans: Sequence[tuple[int, int, str]]
) -> list[dict[str, str]]:
    """Return the words of a segmentation around the places where the systems differ."""
    gold, a, b = set(example.gold), set(example.spans_a), set(example.spans_b)
    apart = a ^ b
    places = sorted(example.gold)
    near: set[int] = set()  # gold words that are shown
    for k, (first, end, _) in enumerate(places):
        if any(start < end and first < stop for start, stop, _ in apart):
            near.update(range(k - _WORDS_AROUND, k + _WORDS_AROUND + 1))
    shown = {
        character
        for k in near & set(range(len(places)))
        for character in range(max(places[k][0], 0), places[k][1])
    }
    parts: list[dict[str, str]] = []
    is_open = True
    for first, end, label in sorted(spans):
        if not shown & set(range(max(first, 0), end)):
            if is_open:
                parts.append(_part("… "))
            is_open = False
            continue
        is_open = True
        text = "".join(example.words[max(first, 0) : end])
        own = (first, end, label)
        kind = ("right" if own in gold else "wrong") if own in apart else ""
        parts += [_part(text, kind), _part(" ")]
    return parts


def methods_of(result: Comparisons) -> list[tuple[str, str]]:
    """Return the method and the assumptions of each number."""
    c = result.comparisons[0]
    words = {
        **_SCORES,
        **(_CLUSTERS if result.by != "item" else {}),
        **(_PAIRED if c.posterior.kind == "paired" else _MACRO),
        **(_SEVERAL if c.p_adjusted is not None else {}),
        **_VERDICT,
        **(_RUNS if has_runs(result.scores) else {}),
    }
    filled = {"level": f"{100 * c.level:g} %", "unit": result.by, "by": c.by, "test": c.test}
    filled["adjuster"] = result.adjustment.capitalize()
    filled["strengths"] = " ".join(
        f"{word.capitalize()} evidence: posterior probability at least {likely:g} and p at most "
        f"{p:g}."
        for word, likely, p in STRENGTHS
    )
    return [(term, text.format(**filled)) for term, text in words.items()]


EXAMPLE_WORDS = {
    "spans": "Sentences with the largest gap in F1, in either direction. ✓ and a solid line: gold "
    "has the span. ✗ and a wavy line: gold does not have it. A dotted line: the system missed it.",
    "labels": "Texts on which only one of the two is right. ✓ and a solid line: the right label. ✗ "
    "and a wavy line: a wrong one.",
}
_CONFUSION_WORDS = {
    "spans": "How often a gold span (row) was given another label (column). Row “(nothing)”: false "
    "alarms. Column “(nothing)”: missed spans. A span with wrong boundaries counts as a miss and a "
    "false alarm. The stronger the colour, the more often; right ones are not counted.",
    "labels": "How often an item of one class (row) was given another (column). The "
    "stronger the colour, the more often; right ones are not counted.",
}
_BUCKET_WORDS = (
    "The same scores on parts of the data. Lengths are in {length}. Items are grouped by their own "
    "length; false alarms too. “items”: how many gold has there. Dot and line: the difference and "
    "its interval."
)
_SCORES = {
    "Scores": "Precision, recall and accuracy with {level} intervals by Wilson's method; F1 by "
    "way of tp / (tp + fp + fn), of which it is an increasing function."
}
_CLUSTERS = {
    "Clusters": "Items of one {unit} are not independent. Counts are divided by the design effect "
    "of the {unit}s before an interval or a posterior is made from them, and Student's t takes the "
    "place of the normal distribution, with the effective number of {unit}s less one as degrees "
    "of freedom."
}
_SEVERAL = {"Several systems": "p-values are adjusted by {adjuster}'s method; intervals are not."}
_VERDICT = {
    "Words of the verdict": "{strengths} Else the difference is not established. Where interval, "
    "test and posterior disagree, the verdict says so, and the weaker one counts.",
    "What it applies to": "These trained systems on data like this test set, whose {unit}s count "
    "as drawn independently of each other. Not other training runs, and not other domains.",
}
# suffix of a comparison, where several questions are asked about a pair
_OF = {None: "", "models": ", these models", "procedures": ", new runs"}
_RUNS = {
    "Several runs": "The counts of a {unit} are added up over the runs of a system: the verdict on "
    "these models holds for them on other test sets. The verdict on new runs allows for the spread "
    "of the runs, too: variance over {unit}s, variance over runs, Satterthwaite's degrees of "
    "freedom; the run-by-{unit} interaction is counted twice, to be safe.",
    "What it applies to": "Data like this test set, whose {unit}s count as drawn independently of "
    "each other; runs that differ as these do (by a seed, say). Not other domains.",
}
_PAIRED = {
    "Differences": "The system named first (B) minus the other (A), with {level} intervals that "
    "combine the two single ones and the correlation of the systems on the same items (MOVER).",
    "p-values": "Two-sided randomisation test by {by}, {test}: the probability of a difference at "
    "least this large if the outputs of A and B on each {by} were exchangeable. It is not the "
    "probability that the systems are equally good.",
    "Posterior probabilities": "From a Dirichlet posterior over the eight cases of A, B and gold, "
    "which allows for both systems having seen the same items.",
}
_MACRO = {
    "Macro averages": "Intervals and posterior probabilities by the delta method, p-values by "
    "sampled exchanges of whole units."
}
