"""Build the documents of Bayes tests, cross-validated comparisons and splits."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from probative.metrics import TABLE, score
from probative.reporting.document import Document, Table, payload
from probative.wording.numbers import number, points
from probative.wording.verdict import (
    HYPOTHESES,
    model_remarks,
    model_verdicts,
    outcome_sentence,
    outcome_words,
    training_sentence,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from matplotlib.figure import Figure

    from probative.reporting.document import Drawing
    from probative.results import BayesTest, ModelComparison


def bayes_document(
    tests: Sequence[BayesTest],
    *,
    models: tuple[str, str],
    signature: str,
    drawings: Sequence[Drawing] = (),
) -> Document:
    """Build the document of the tests of two models."""
    records = [test.to_dict() for test in tests]
    verdicts = [outcome_sentence(test, *models) for test in tests]
    remarks = [sentence for test in tests if (sentence := training_sentence(test))]
    return Document(
        title=f"Is {models[1]} better than {models[0]}?",
        payload=payload(
            "bayes", signature, tests=records, a=models[0], b=models[1], verdicts=verdicts
        ),
        tables=(_tests_table(tests, models, verdicts=True),),
        records=tuple({"a": models[0], "b": models[1], **_flat(record)} for record in records),
        leading=tuple(verdicts),
        notes=(*remarks, signature),
        drawings=tuple(drawings),
    )


def _tests_table(tests: Sequence[BayesTest], models: tuple[str, str], *, verdicts: bool) -> Table:
    """Build a table of scores, differences and probabilities, one row per test.

    Without `verdicts` these are the published tests beside those that the verdict rests on.
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
    of_a, of_b = 3, 5  # columns of the intervals of the two scores
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
    """Build the document of three tasks beside published figures, and a simulation."""
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
    """Split intervals into two columns each, for CSV."""
    flat: dict[str, Any] = {}
    for key, value in record.items():
        if isinstance(value, list):
            flat |= {f"{key}_low": value[0], f"{key}_high": value[1]}
        else:
            flat[key] = value
    return flat


# --- Cross-validated comparisons and splits


def crossval_document(
    comparison: ModelComparison,
    *,
    command: str = "crossval",
    drawings: Sequence[Drawing] = (),
) -> Document:
    """Build the document of a cross-validated comparison and its folds."""
    models = comparison.a, comparison.b
    verdicts = model_verdicts(comparison)
    folds = [fold.to_dict() for fold in comparison.folds]
    content: dict[str, Any] = {
        "tests": [test.to_dict() for test in comparison.tests],
        "adjusted_tests": [test.to_dict() for test in comparison.adjusted_tests],
        "verdicts": verdicts,
        "folds": folds,
        "seed": comparison.seed,
    }
    content |= {
        "effective_a": comparison.effective_a.to_dict(),
        "effective_b": comparison.effective_b.to_dict(),
    }
    judged = _tests_table(comparison.adjusted_tests, models, verdicts=True)
    tables = [
        replace(judged, title=f"{judged.title}, adjusted for the training variance"),
        _tests_table(comparison.tests, models, verdicts=False),
        _folds_table(comparison),
    ]
    if comparison.balance is not None:
        content["balance"] = comparison.balance.to_dict()
        tables.append(_balance_table(comparison.balance.to_dict()))
    return Document(
        title=f"Is {comparison.b} better than {comparison.a}, whatever the training set?",
        payload=payload(command, comparison.signature, **content),
        tables=tuple(tables),
        records=tuple(
            {
                "a": comparison.a,
                "b": comparison.b,
                **test.to_dict(),
                **comparison.adjusted_outcome(test),
            }
            for test in comparison.tests
        ),
        leading=tuple(verdicts),
        notes=(*model_remarks(comparison), comparison.signature),
        drawings=tuple(drawings),
    )


def crossval_figure(comparison: ModelComparison, plot: str = "densities") -> Figure:
    """Draw the posteriors of both models' scores ("densities"), or of their "difference"."""
    from probative.reporting.posteriors import density_figure, difference_figure

    if plot == "difference":
        return difference_figure(comparison.adjusted_tests, models=(comparison.a, comparison.b))
    return density_figure(
        comparison.scores, title="Published posteriors, without training variance"
    )


def crossval_drawings(comparison: ModelComparison) -> list[Drawing]:
    """Draw the figures of the page: posteriors of the scores, and those behind the verdict."""
    from probative.reporting.posteriors import model_drawings

    models = comparison.a, comparison.b
    return model_drawings(comparison.scores, comparison.adjusted_tests, models, adjusted=True)


def _folds_table(comparison: ModelComparison) -> Table:
    """Build the table of the counts of every fold and model."""
    names = list(comparison.folds[0].counts.to_dict())
    # the counts of a fold do not determine metrics that depend on beta
    tested = dict.fromkeys(test.metric for test in comparison.tests)
    metrics = [metric for metric in tested if not TABLE[metric].depends_on_beta]
    timed = any(fold.seconds is not None for fold in comparison.folds)
    rows = [
        (
            str(fold.fold),
            fold.model,
            f"{fold.train:,}",
            f"{fold.validation:,}",
            *(f"{value:,}" for value in fold.counts.to_dict().values()),
            *(points(score(fold.counts, metric)) for metric in metrics),
            *((number(fold.seconds, 1),) if timed else ()),
        )
        for fold in comparison.folds
    ]
    columns = ("fold", "model", "trained on", "judged on", *names)
    return Table(
        (*columns, *metrics, *(("seconds",) if timed else ())),
        tuple(rows),
        title="Folds",
        text_columns=2,
    )


def _balance_table(balance: Mapping[str, Any]) -> Table:
    """Build the table of the balance of the halves, compared with random splits."""
    sizes = balance["block_sizes"]
    size = f"{min(sizes)}" if min(sizes) == max(sizes) else f"{min(sizes)} to {max(sizes)}"
    note = (
        f"Halves differ in size by {balance['size_difference']} at most. Deviation: of a half from "
        f"half of the total, the largest; random: the same on average over random splits."
    )
    columns = (
        "strata",
        "totals",
        "deviation",
        "random_deviation",
        "chi_square",
        "random_chi_square",
    )
    rows = [
        (
            name,
            f"{total:,.0f}",
            *(number(100 * share, 3) for share in row[:2]),
            *map(number, row[2:]),
        )
        for name, total, *row in zip(*(balance[column] for column in columns), strict=True)
    ]
    return Table(
        ("stratum", "total", "deviation %", "random %", "chi-square", "random"),
        tuple(rows),
        title=f"Balance: {len(sizes)} blocks of {size}",
        notes=(note,),
    )


def split_document(manifest: Mapping[str, Any], folder: str, *, signature: str) -> Document:
    """Build the document of the written folds and the balance of their halves."""
    folds = manifest["folds"]
    parts = ("train", "validation")
    rows = [
        (
            str(fold["fold"]),
            *(fold[part]["file"] for part in parts),
            *(f"{fold[part]['sentences']:,}" for part in parts),
        )
        for fold in folds
    ]
    return Document(
        title=f"Folds of {manifest['corpus']}",
        payload=payload("split", signature, folder=folder, manifest=dict(manifest)),
        tables=(
            Table(
                ("fold", "train", "validation", "train on", "validate on"),
                tuple(rows),
                title=f"Folds of {manifest['corpus']} in {folder}",
                text_columns=3,
            ),
            _balance_table(manifest["balance"]),
        ),
        records=tuple(
            {"fold": fold["fold"], "part": part, **fold[part]} for fold in folds for part in parts
        ),
        notes=(signature,),
    )
