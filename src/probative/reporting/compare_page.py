"""What the page of a comparison shows besides its tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from probative.metrics import label_metric
from probative.reporting.document import Table, points
from probative.reporting.posterior_drawings import difference_drawing
from probative.reporting.svg import Bar, forest, histogram
from probative.wording import counted, metric_name
from probative.wording.verdict import STRENGTHS, no_verdict

if TYPE_CHECKING:
    from collections.abc import Sequence

    from probative.reporting.document import Drawing
    from probative.results import Comparison, Comparisons, Example, GateVerdict

__all__ = ["label_differences", "page_content"]

_PAIRS = 6  # pairs that are shown at once; the others unfold
_CONFUSIONS = 12


def page_content(
    result: Comparisons, scores: Table, differences: Table, gates: Sequence[GateVerdict] = ()
) -> dict[str, Any]:
    """Everything that the template asks for."""
    main = result.comparisons[0].metric
    first = [c for c in result.comparisons if c.metric == main]
    drawn = [
        {"title": f"{c.b} against {c.a}", "drawings": _pair_drawings(c)}
        for c in first
        if not c.identical and no_verdict(c) is None
    ]
    by_label = [label_differences(c) for c in first if c.by_label]
    return {
        "verdicts": result.verdicts[:_PAIRS],
        "more_verdicts": result.verdicts[_PAIRS:],
        "gates": [str(gate).capitalize() + "." for gate in gates],
        "facts": _facts(result),
        "recognised": result.notes,
        "score_table": scores,
        "difference_table": differences,
        "score_drawings": [_score_forest(result, main)],
        "difference_drawings": [_difference_forest(first)],
        "pairs": drawn[:_PAIRS],
        "more_pairs": drawn[_PAIRS:],
        "label_tables": by_label[:_PAIRS],
        "more_label_tables": by_label[_PAIRS:],
        "confusion_tables": _confusion_tables(result),
        "examples": [_show(example) for example in result.examples],
        "methods": _methods(result),
    }


def _facts(result: Comparisons) -> str:
    parts = [result.task, counted(result.units, result.unit)]
    if result.scheme:
        parts.append(f"tags in {result.scheme}")
    return ", ".join(parts).capitalize() + "."


def _score_forest(result: Comparisons, metric: str) -> Drawing:
    shown = metric if any(s.metric == metric for s in result.systems[0].scores) else None
    bars = []
    for i, system in enumerate(result.systems):
        score = next((s for s in system.scores if s.metric == shown), system.scores[0])
        bars.append(Bar(system.name, score.estimate, score.low, score.high, marked=i == 0))
    name = metric_name(shown or result.systems[0].scores[0].metric)
    description = "; ".join(
        f"{bar.name} {points(bar.estimate)} ({points(bar.low)} to {points(bar.high)})"
        for bar in bars
    )
    return forest(
        bars,
        axis=f"{name}, points",
        title=f"{name} with {100 * result.level:g} % intervals; the baseline in orange.",
        description=f"{name} of each system: {description}",
    )


def _difference_forest(comparisons: Sequence[Comparison]) -> Drawing:
    bars = [Bar(f"{c.b} − {c.a}", c.difference, c.low, c.high) for c in comparisons]
    metric = metric_name(comparisons[0].metric)
    description = "; ".join(
        f"{bar.name} {points(bar.estimate)} ({points(bar.low)} to {points(bar.high)})"
        for bar in bars
    )
    return forest(
        bars,
        axis=f"difference in {metric}, points",
        title=f"Differences in {metric} with {100 * comparisons[0].level:g} % intervals; right of "
        f"the dashed line the first-named system is better.",
        description=f"Differences in {metric}: {description}",
        zero=True,
    )


def _pair_drawings(c: Comparison) -> list[Drawing]:
    metric = metric_name(c.metric)
    posterior = difference_drawing(
        c.posterior,
        c.metric,
        (c.a, c.b),
        rope=c.rope,
        probabilities=(c.p_a_better, c.p_equivalent, c.p_b_better),
    )
    drawings = [] if posterior is None else [posterior]
    if c.null is not None:
        drawings.append(
            histogram(
                [float(x) for x in c.null.edges],
                [float(p) for p in c.null.probabilities],
                observed=c.difference,
                axis="difference if A and B were exchangeable, points",
                title=f"Null distribution of the {c.test} test by {c.by}; orange: at least as "
                f"extreme as observed.",
                description=f"Null distribution of the difference in {metric}; observed "
                f"{points(c.difference)}, p = {c.pvalue:.4g}",
            )
        )
    return drawings


def label_differences(c: Comparison) -> Table:
    """The scores of two systems and their difference, one row per label."""
    return Table(
        ("label", c.a, c.b, "difference", "low", "high"),
        tuple(
            (
                entry.label,
                *(
                    points(value)
                    for value in (
                        entry.score_a,
                        entry.score_b,
                        entry.difference,
                        entry.low,
                        entry.high,
                    )
                ),
            )
            for entry in c.by_label
        ),
        title=f"{c.b} against {c.a}, {_label_metric(c)} by label in points",
        notes=(f"{100 * c.level:g} % intervals, each on its own: not adjusted for their number.",),
    )


def _label_metric(c: Comparison) -> str:
    """The score of a label, which has no macro average."""
    return metric_name(label_metric(c.metric.removeprefix("macro_")))


def _confusion_tables(result: Comparisons) -> list[Table]:
    tables = []
    for system, rows in zip(result.systems, result.confusions, strict=False):
        if not rows:
            continue
        shown = tuple(
            (right or "(nothing)", given or "(nothing)", f"{n:,}")
            for right, given, n in rows[:_CONFUSIONS]
        )
        notes: tuple[str, ...] = ()
        if len(rows) > _CONFUSIONS:
            notes = (f"The {_CONFUSIONS} most frequent of {len(rows):,}.",)
        tables.append(
            Table(("answer", "given", "times"), shown, system.name, notes, text_columns=2)
        )
    return tables


def _show(example: Example) -> dict[str, Any]:
    right = set(example.gold)
    lines = [("answer", _mark(example, example.gold, right))]
    lines.append((example.a, _mark(example, example.spans_a, right)))
    lines.append((example.b, _mark(example, example.spans_b, right)))
    head = (
        f"Sentence {example.sentence:,}: {counted(example.errors_a, 'error')} of {example.a}, "
        f"{example.errors_b:,} of {example.b}"
    )
    return {"head": head, "lines": lines}


def _mark(
    example: Example, spans: Sequence[tuple[int, int, str]], right: set[tuple[int, int, str]]
) -> list[dict[str, str]]:
    """The sentence in parts, the spans marked; of overlapping spans the first is shown."""
    parts: list[dict[str, str]] = []
    at, space = 0, example.separator
    for first, end, label in sorted(spans):
        start = max(first, 0)  # a span may begin before the words that are shown
        if start < at:
            continue
        if start > at:
            parts.append({"text": space.join(example.words[at:start]) + space, "kind": ""})
        parts.append(
            {
                "text": space.join(example.words[start:end]),
                "kind": "right" if (first, end, label) in right else "wrong",
                "label": "" if label in ("word", "_", "") else label,
            }
        )
        parts.append({"text": space or "\u2009", "kind": ""})
        at = end
    parts.append({"text": space.join(example.words[at:]), "kind": ""})
    return parts


def _methods(result: Comparisons) -> list[tuple[str, str]]:
    """Each number's recipe and what it assumes."""
    c = result.comparisons[0]
    words = {
        **_SCORES,
        **(_CLUSTERS if result.by != "item" else {}),
        **(_PAIRED if c.posterior.kind == "paired" else _MACRO),
        **(_SEVERAL if c.p_adjusted is not None else {}),
        **_VERDICT,
    }
    filled = {"level": f"{100 * c.level:g} %", "unit": result.by, "by": c.by, "test": c.test}
    filled["strengths"] = " ".join(
        f"{word.capitalize()} evidence: posterior probability at least {likely:g} and p at most "
        f"{p:g}."
        for word, likely, p in STRENGTHS
    )
    return [(term, text.format(**filled)) for term, text in words.items()]


_SCORES = {
    "Scores": "Precision, recall and accuracy with {level} intervals by Wilson's method; F1 by "
    "way of tp / (tp + fp + fn), of which it is an increasing function.",
}
_CLUSTERS = {
    "Clusters": "Items of one {unit} are not independent. Counts are divided by the design effect "
    "of the {unit}s before an interval or a posterior is made from them, and Student's t takes the "
    "place of the normal distribution, with the effective number of {unit}s less one as degrees "
    "of freedom.",
}
_SEVERAL = {
    "Several systems": "p-values are adjusted by Holm's method; intervals are not.",
}
_VERDICT = {
    "Words of the verdict": "{strengths} Else the difference is not established. Where interval, "
    "test and posterior do not agree, the verdict says so and goes by the weaker side.",
    "What it speaks of": "These trained systems on data like this test set, whose {unit}s count as "
    "drawn independently of each other. Not other training runs, and not other domains.",
}
_PAIRED = {
    "Differences": "B minus A, with {level} intervals that combine the two single ones and the "
    "correlation of the systems on the same items (MOVER).",
    "p-values": "Two-sided randomisation test by {by}, {test}: the probability of a difference at "
    "least this large if the outputs of A and B on each {by} were exchangeable. It is not the "
    "probability that the systems are equally good.",
    "Posterior probabilities": "From a Dirichlet posterior over the eight cases of A, B and the "
    "answer, which knows that both systems saw the same items.",
}
_MACRO = {
    "Macro averages": "Intervals and posterior probabilities by the delta method, p-values by "
    "sampled exchanges of whole units.",
}
