"""Bayes tests as documents."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from probative.reporting.document import Document, Table, number, payload, points
from probative.wording.bayes_verdict import outcome_sentence, training_sentence

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
    return Document(
        title=f"Is {models[1]} better than {models[0]}?",
        payload=payload("bayes", signature, tests=records, a=models[0], b=models[1]),
        tables=(tests_table(tests, models, ()),),
        records=tuple({"a": models[0], "b": models[1], **_flat(record)} for record in records),
        notes=(*_sentences(tests, models), signature),
        drawings=tuple(drawings),
    )


def tests_table(tests: Sequence[BayesTest], models: tuple[str, str], kinds: Sequence[str]) -> Table:
    """Intervals, probabilities and decisions, one row per test.

    Parameters
    ----------
    tests
        The tests.
    models
        What A and B are called.
    kinds
        What each test rests on, where that differs; else nothing.
    """
    rope = any(test.rope > 0 for test in tests)
    effects = any(test.fold_design_effect is not None for test in tests)
    columns = (
        "metric",
        *(("posterior",) if kinds else ()),
        "A low",
        "A high",
        "B low",
        "B high",
        "B − A",
        "low",
        "high",
        "P(H0)",
        "P(H1)",
        *(("P(A better)", "P(equal)", "P(B better)") if rope else ()),
        *(("fold effect",) if effects else ()),
        "decision",
    )
    rows = [
        (
            test.metric,
            *((kinds[i],) if kinds else ()),
            *(points(limit) for limit in (*test.interval_a, *test.interval_b)),
            *(points(value) for value in (test.difference, test.low, test.high)),
            number(test.p_h0, 4),
            number(test.p_h1, 4),
            *(number(p, 4) for p in (test.p_a_better, test.p_equivalent, test.p_b_better) if rope),
            *((number(test.fold_design_effect, 2),) if effects else ()),
            test.decision,
        )
        for i, test in enumerate(tests)
    ]
    scores = f"scores in points with {100 * tests[0].level:g} % intervals"
    who = "" if models == ("A", "B") else f"A = {models[0]}, B = {models[1]}: "
    return Table(
        columns,
        tuple(rows),
        title=f"{who}{scores}" if who else scores.capitalize(),
        text_columns=2 if kinds else 1,
        closing_words=True,
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
                cells += [_limits(100 * x for x in ours), _limits(theirs)]
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


def _limits(limits: Any) -> str:
    low, high = limits
    return f"[{number(low, 2)}, {number(high, 2)}]"


def _flat(record: dict[str, Any]) -> dict[str, Any]:
    """Intervals as two columns each, for CSV."""
    flat: dict[str, Any] = {}
    for key, value in record.items():
        if isinstance(value, list):
            flat |= {f"{key}_low": value[0], f"{key}_high": value[1]}
        else:
            flat[key] = value
    return flat


def _sentences(tests: Sequence[BayesTest], models: tuple[str, str]) -> list[str]:
    sentences = [outcome_sentence(test, *models) for test in tests]
    return sentences + [sentence for test in tests if (sentence := training_sentence(test))]
