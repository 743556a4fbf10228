"""Bayes tests as documents."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from probative.reporting.document import Document, Table, payload
from probative.wording.bayes_verdict import (
    HYPOTHESES,
    outcome_sentence,
    outcome_words,
    training_sentence,
)
from probative.wording.numbers import number, points

if TYPE_CHECKING:
    from collections.abc import Sequence

    from probative.reporting.document import Drawing
    from probative.results import BayesTest

__all__ = ["bayes_document", "bayes_study_document", "tests_table"]


def bayes_document(
    tests: Sequence[BayesTest],
    *,
    models: tuple[str, str],
    signature: str,
    drawings: Sequence[Drawing] = (),
) -> Document:
    """Show the tests of two models."""
    records = [test.to_dict() for test in tests]
    verdicts = [outcome_sentence(test, *models) for test in tests]
    remarks = [sentence for test in tests if (sentence := training_sentence(test))]
    return Document(
        title=f"Is {models[1]} better than {models[0]}?",
        payload=payload(
            "bayes", signature, tests=records, a=models[0], b=models[1], verdicts=verdicts
        ),
        tables=(tests_table(tests, models, verdicts=True),),
        records=tuple({"a": models[0], "b": models[1], **_flat(record)} for record in records),
        leading=tuple(verdicts),
        notes=(*remarks, signature),
        drawings=tuple(drawings),
    )


def tests_table(tests: Sequence[BayesTest], models: tuple[str, str], *, verdicts: bool) -> Table:
    """Show scores, differences and probabilities, one row per test.

    Parameters
    ----------
    tests
        The tests.
    models
        What A and B are called.
    verdicts
        Whether the verdict rests on these tests; else they are the published ones beside it, by
        their posteriors.
    """
    rope = any(test.rope > 0 for test in tests)
    effects = any(test.fold_design_effect is not None for test in tests)
    level = f"{100 * tests[0].level:g} %"
    words = ("metric", "verdict" if verdicts else "posterior")
    intervals = ("A", level, "B", level, "B − A", level)
    three = ("P(A better)", "P(equal)", "P(B better)") if rope else ()
    effect = ("fold effect",) if effects else ()
    columns = (*words, *intervals, "P(H0)", "P(H1)", *three, *effect, "likelier hypothesis")
    rows = [
        (
            test.metric,
            outcome_words(test) if verdicts else test.posterior.kind,
            *(points(test.score_a), _limits(test.interval_a)),
            *(points(test.score_b), _limits(test.interval_b)),
            *(points(test.difference), _limits((test.low, test.high))),
            number(test.p_h0, 4),
            number(test.p_h1, 4),
            *(number(p, 4) for p in (test.p_a_better, test.p_equivalent, test.p_b_better) if rope),
            *((number(test.fold_design_effect, 2),) if effects else ()),
            test.decision,
        )
        for test in tests
    ]
    notes = [HYPOTHESES] if verdicts else []
    if verdicts and effects:
        notes.append(
            "Fold effect: how many times more the differences of folds vary than their items "
            "explain."
        )
    scores = f"scores in points with {level} intervals"
    named = "" if models == ("A", "B") else f"A = {models[0]}, B = {models[1]}: "
    title = f"{named}{scores}" if named else scores.capitalize()
    beside = "Published tests, which do not allow for the training variance"
    of_a, of_b = 3, 5  # the intervals of the two scores
    first = [columns.index(head) for head in (*effect, "P(H0)")]
    then = [columns.index(head) for head in (*three[:1], *(("P(H1)",) if rope else ()))]
    return Table(
        columns,
        tuple(rows),
        title=title if verdicts else beside,
        notes=tuple(notes),
        text_columns=2,
        closing_words=True,
        droppable=(*first, of_a, of_b, *then, len(columns) - 1),
    )


def bayes_study_document(
    tasks: Sequence[Any],
    simulation: Sequence[Any],
    published_simulation: dict[str, Any],
    *,
    signature: str,
) -> Document:
    """Show the three tasks beside the published figures, and the simulation where it was run."""
    tables = [_intervals_table(tasks)]
    tables += [_decisions_table(task, 3 + i) for i, task in enumerate(tasks)]
    note = (
        "'pub.' is the figure of Wang and Li's tables 2 to 5. Their P(H0) are estimates from one "
        "million draws, rounded to three decimals, and two of them stand for 'about zero'; ours "
        "are integrals, exact to ten digits."
    )
    notes = [note]
    content: dict[str, Any] = {
        "tasks": [
            {
                "task": task.task,
                "name": task.name,
                "a": task.a,
                "b": task.b,
                "tests": [test.to_dict() for test in task.tests],
            }
            for task in tasks
        ]
    }
    records = [
        {"task": task.task, "a": task.a, "b": task.b, **_flat(test.to_dict())}
        for task in tasks
        for test in task.tests
    ]
    if simulation:
        tables.append(_simulation_table(simulation, published_simulation))
        content["simulation"] = [result.to_dict() for result in simulation]
        notes.append(
            "The two published lengths do not go together: they must be about sqrt(6 w(3)) = 1.49 "
            "apart, and 0.085 goes with 0.127. The published credibility lies between ours with "
            "exactly half positives and with random class counts; the derivation supposes a fixed "
            "number of positives in every half."
        )
    return Document(
        title="The Bayes test: published tables, recomputed",
        payload=payload("study bayes", signature, **content),
        tables=tuple(tables),
        records=tuple(records),
        notes=tuple(notes),
    )


def _intervals_table(tasks: Sequence[Any]) -> Table:
    rows = []
    for task in tasks:
        for test in task.tests:
            published = task.published[test.metric]
            cells = []
            for ours, theirs in (
                (test.interval_a, published["a"]),
                (test.interval_b, published["b"]),
            ):
                cells += [_in_percent(100 * x for x in ours), _in_percent(theirs)]
            rows.append((task.task, test.metric, *cells))
    level = tasks[0].tests[0].level
    return Table(
        ("task", "metric", "model A", "pub.", "model B", "pub."),
        tuple(rows),
        title=f"Table 2: {100 * level:g} % intervals in percent",
        text_columns=2,
    )


def _decisions_table(task: Any, table: int) -> Table:
    rows = tuple(
        (
            test.metric,
            number(test.p_h0, 6),
            number(task.published[test.metric]["p_h0"], 3),
            number(test.p_h1, 6),
            number(1 - task.published[test.metric]["p_h0"], 3),
            test.decision,
            task.published[test.metric]["decision"],
        )
        for test in task.tests
    )
    return Table(
        ("metric", "P(H0)", "pub.", "P(H1)", "pub.", "decision", "pub."),
        rows,
        title=f"Table {table}: {task.name}, {task.a} against {task.b}",
    )


def _simulation_table(simulation: Sequence[Any], published: dict[str, Any]) -> Table:
    rows = tuple(
        (
            result.positives,
            result.method,
            number(result.credibility, 4),
            number(result.credibility_error, 4),
            number(published[result.method]["credibility"], 3),
            number(result.length, 4),
            number(result.length_error, 5),
            number(published[result.method]["length"], 4),
        )
        for result in simulation
    )
    first = simulation[0]
    return Table(
        ("positives", "counts", "credibility", "s.e.", "pub.", "length", "s.e.", "pub."),
        rows,
        title=(
            f"Simulation: logistic regression, n = {first.n}, {first.n_replicates:,} data sets, "
            f"{100 * first.level:g} % intervals of F1"
        ),
        text_columns=2,
    )


def _in_percent(limits: Any) -> str:
    low, high = limits
    return f"[{number(low, 2)}, {number(high, 2)}]"


def _limits(limits: Any) -> str:
    low, high = limits
    return f"{points(low, 1)} to {points(high, 1)}"


def _flat(record: dict[str, Any]) -> dict[str, Any]:
    """Intervals as two columns each, for CSV."""
    flat: dict[str, Any] = {}
    for key, value in record.items():
        if isinstance(value, list):
            flat |= {f"{key}_low": value[0], f"{key}_high": value[1]}
        else:
            flat[key] = value
    return flat
