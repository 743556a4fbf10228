"""Build the documents of Bayes tests and cross-validated comparisons; picture posteriors."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from operator import itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from probative.metrics import TABLE, score
from probative.reporting.document import Answer, Column, Document, Table, Words, interval, payload
from probative.reporting.figures import figure
from probative.reporting.headlines import model_answers
from probative.reporting.pictures import Curve, Densities, Density
from probative.wording.numbers import metric_name, number, points, probability, region
from probative.wording.verdict import (
    HYPOTHESES,
    model_remarks,
    model_verdicts,
    outcome_sentence,
    outcome_words,
    training_sentence,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from matplotlib.figure import Figure

    from probative.reporting.pictures import Picture
    from probative.results import (
        BayesTest,
        Comparison,
        DifferencePosterior,
        ModelComparison,
        ScorePosteriors,
    )


def bayes_document(
    tests: Sequence[BayesTest],
    *,
    models: tuple[str, str],
    signature: str,
    pictures: Sequence[Picture] = (),
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
        pictures=tuple(pictures),
        headline=model_answers(tests, models),
    )


def _tests_table(tests: Sequence[BayesTest], models: tuple[str, str], *, verdicts: bool) -> Table:
    """Build a table of scores, differences and probabilities, one row per test.

    Without `verdicts` these are the published tests beside those that the verdict rests on.
    """
    rope = any(test.rope > 0 for test in tests)
    effects = any(test.fold_design_effect is not None for test in tests)
    level, four = f"{100 * tests[0].level:g} %", partial(number, digits=4)
    scores = f"scores in points with {level} intervals"
    named = "" if models == ("A", "B") else f"A = {models[0]}, B = {models[1]}: "
    title = f"{named}{scores}" if named else scores.capitalize()
    folds = (
        "Fold effect: variance of the differences between folds, relative to that which their "
        "items explain."
    )
    return Table.of(
        tests,
        [
            Words("metric", "metric", metric_name),
            Words("verdict", outcome_words, when=verdicts),
            Words("posterior", "posterior.kind", when=not verdicts),
            Column("A", "score_a", points),
            Column(level, "interval_a", _limits, drop=3),
            Column("B", "score_b", points),
            Column(level, "interval_b", _limits, drop=4),
            Column("B − A", "difference", points),
            Column(level, interval),
            Column("P(H0)", "p_h0", four, drop=2),
            Column("P(H1)", "p_h1", four, drop=6 * rope),
            Column("P(A better)", "p_a_better", four, when=rope, drop=5),
            Column("P(equal)", "p_equivalent", four, when=rope),
            Column("P(B better)", "p_b_better", four, when=rope),
            Column("fold effect", lambda t: number(t.fold_design_effect, 2), when=effects, drop=1),
            Words("likelier hypothesis", "decision", drop=7),
        ],
        title=title
        if verdicts
        else "Published tests, which do not allow for the training variance",
        notes=(HYPOTHESES, folds if effects else "") if verdicts else (),
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
    return Table.of(
        [_Tested(task, test) for task in tasks for test in task.tests],
        [
            Words("task", "task.task"),
            Words("metric", "test.metric"),
            Column("model A", lambda one: _in_percent(100 * x for x in one.test.interval_a)),
            Column("pub.", lambda one: _in_percent(one.published["a"])),
            Column("model B", lambda one: _in_percent(100 * x for x in one.test.interval_b)),
            Column("pub.", lambda one: _in_percent(one.published["b"])),
        ],
        title=f"Table 2: {100 * tasks[0].tests[0].level:g} % intervals in percent",
    )


class _Tested(NamedTuple):
    """Test of a task, with its published figures."""

    task: Any
    test: Any

    @property
    def published(self) -> dict[str, Any]:
        return self.task.published[self.test.metric]  # type: ignore[no-any-return]


def _decisions_table(task: Any, table: int) -> Table:
    six = partial(number, digits=6)
    return Table.of(
        [_Tested(task, test) for test in task.tests],
        [
            Words("metric", "test.metric"),
            Column("P(H0)", "test.p_h0", six),
            Column("pub.", lambda one: number(one.published["p_h0"])),
            Column("P(H1)", "test.p_h1", six),
            Column("pub.", lambda one: number(1 - one.published["p_h0"])),
            Column("decision", "test.decision"),
            Column("pub.", lambda one: one.published["decision"]),
        ],
        title=f"Table {table}: {task.name}, {task.a} against {task.b}",
    )


def _simulation_table(simulation: Sequence[Any], published: dict[str, Any]) -> Table:
    first, four = simulation[0], partial(number, digits=4)
    return Table.of(
        simulation,
        [
            Words("positives"),
            Words("counts", "method"),
            Column("credibility", form=four),
            Column("s.e.", "credibility_error", four),
            Column("pub.", lambda one: number(published[one.method]["credibility"])),
            Column("length", form=four),
            Column("s.e.", "length_error", partial(number, digits=5)),
            Column("pub.", lambda one: four(published[one.method]["length"])),
        ],
        title=(
            f"Simulation: logistic regression, n = {first.n}, {first.n_replicates:,} data sets, "
            f"{100 * first.level:g} % intervals of F1"
        ),
    )


def _in_percent(limits: Any) -> str:
    low, high = limits
    return f"[{number(low, 2)}, {number(high, 2)}]"


def _limits(limits: Any) -> str:
    low, high = limits
    return f"[{points(low, 1)}, {points(high, 1)}]"


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
    pictures: Sequence[Picture] = (),
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
        pictures=tuple(pictures),
        headline=model_answers(comparison.adjusted_tests, models),
    )


def crossval_figure(comparison: ModelComparison, plot: str = "densities") -> Figure:
    """Draw the posteriors of both models' scores ("densities"), or of their "difference"."""
    if plot == "difference":
        return difference_figure(comparison.adjusted_tests, models=(comparison.a, comparison.b))
    return density_figure(
        comparison.scores, title="Published posteriors, without training variance"
    )


def crossval_pictures(comparison: ModelComparison) -> list[Picture]:
    """Picture the posteriors of the scores, and those behind the verdict."""
    models = comparison.a, comparison.b
    return model_pictures(comparison.scores, comparison.adjusted_tests, models, adjusted=True)


def _folds_table(comparison: ModelComparison) -> Table:
    """Build the table of the counts of every fold and model."""
    # the counts of a fold do not determine metrics that depend on beta
    tested = dict.fromkeys(test.metric for test in comparison.tests)
    metrics = [metric for metric in tested if not TABLE[metric].depends_on_beta]

    def of_count(name: str) -> Column:
        return Column(name, lambda fold: fold.counts.to_dict()[name])

    def of_metric(metric: str) -> Column:
        return Column(metric, lambda fold: points(score(fold.counts, metric)))

    return Table.of(
        comparison.folds,
        [
            Words("fold"),
            Words("model"),
            Column("trained on", "train"),
            Column("judged on", "validation"),
            *map(of_count, comparison.folds[0].counts.to_dict()),
            *map(of_metric, metrics),
            Column(
                "seconds",
                lambda fold: number(fold.seconds, 1),
                when=any(fold.seconds is not None for fold in comparison.folds),
            ),
        ],
        title="Folds",
    )


def _balance_table(balance: Mapping[str, Any]) -> Table:
    """Build the table of the balance of the halves, compared with random splits."""
    sizes = balance["block_sizes"]
    size = f"{min(sizes)}" if min(sizes) == max(sizes) else f"{min(sizes)} to {max(sizes)}"
    note = (
        f"Halves differ in size by {balance['size_difference']} at most. Deviation: of a half from "
        f"half of the total, the largest; random: the same on average over random splits."
    )
    names = ["strata", "totals", "deviation", "random_deviation", "chi_square", "random_chi_square"]

    def percent(place: int) -> Callable[[Sequence[Any]], str]:
        return lambda row: number(100 * row[place])

    return Table.of(
        zip(*(balance[name] for name in names), strict=True),
        [
            Words("stratum", itemgetter(0)),
            Column("total", lambda row: f"{row[1]:,.0f}"),
            Column("deviation %", percent(2)),
            Column("random %", percent(3)),
            Column("chi-square", itemgetter(4), number),
            Column("random", itemgetter(5), number),
        ],
        title=f"Balance: {len(sizes)} blocks of {size}",
        notes=(note,),
    )


def split_document(manifest: Mapping[str, Any], folder: str, *, signature: str) -> Document:
    """Build the document of the written folds and the balance of their halves."""
    folds = manifest["folds"]
    parts = ("train", "validation")
    written = Table.of(
        folds,
        [
            Words("fold", itemgetter("fold")),
            Words("train", lambda fold: fold["train"]["file"]),
            Words("validation", lambda fold: fold["validation"]["file"]),
            Column("train on", lambda fold: fold["train"]["sentences"]),
            Column("validate on", lambda fold: fold["validation"]["sentences"]),
        ],
        title=f"Folds of {manifest['corpus']} in {folder}",
    )
    return Document(
        title=f"Folds of {manifest['corpus']}",
        payload=payload("split", signature, folder=folder, manifest=dict(manifest)),
        tables=(written, _balance_table(manifest["balance"])),
        records=tuple(
            {"fold": fold["fold"], "part": part, **fold[part]} for fold in folds for part in parts
        ),
        notes=(signature,),
        headline=(Answer(f"{len(folds)} folds written", "fact"),),
    )


# --- Pictures of posteriors

_DRAWN_PROBABILITY = 0.999  # beyond this range the density is too low to be seen
_POINTS_OF_A_CURVE = 61
_LARGEST_DRAWN = 1 - 1e-9  # of the largest difference, at which there is no density
_MENTIONED_BEYOND = 0.01  # smallest probability beyond the ends of a curve that is mentioned


def model_pictures(
    panels: Sequence[ScorePosteriors],
    tests: Sequence[BayesTest],
    models: tuple[str, str],
    *,
    adjusted: bool = False,
) -> list[Picture]:
    """Picture for each score the posteriors of both models, and that of their difference.

    `adjusted` tests allow for the training variance, which the posteriors of scores do not.
    """
    pictures: list[Picture] = []
    for panel, test in zip(panels, tests, strict=True):
        scores, difference = score_picture(panel), difference_picture(test, models)
        if adjusted:
            words = f"{scores.reading} {_WITHOUT_VARIANCE}"
            scores = replace(scores, reading=words)
        pictures += [scores] if scores.curves else []
        pictures += [difference] if difference.x else []
    return pictures


def score_picture(panel: ScorePosteriors) -> Densities:
    """Picture the posteriors of the score of each model."""
    curves = [
        Curve(model, x.tolist(), y.tolist(), i == 0, k > 0, f"{weight} counts")
        for i, (model, by_weight) in enumerate(panel.curves().items())
        for k, (weight, (x, y)) in enumerate(by_weight.items())
        if np.isfinite(x).all() and np.isfinite(y).all()
    ]
    name = metric_name(panel.metric)
    second = [weight for by_weight in panel.posteriors.values() for weight in [*by_weight][1:]]
    dashes = f", dash-dotted with {second[0]} counts" if second else ""
    title = f"Posterior of {name}; the baseline in orange{dashes}."
    peaks = "; ".join(
        f"{curve.name} peaks at {points(curve.x[int(np.argmax(curve.y))])}"
        for curve in curves
        if not curve.dashed
    )
    return Densities(
        curves,
        axis=f"{name}, points",
        title=title,
        description=f"{title} {peaks} points",
        reading=(
            "A curve is the posterior density of the true score of a model. The more two curves "
            "overlap, the less the models are distinguished."
        ),
    )


_WITHOUT_VARIANCE = (
    "These are the published posteriors, without the training variance; the intervals in the table "
    "and the difference allow for it."
)


def difference_picture(test: BayesTest | Comparison, models: tuple[str, str]) -> Density:
    """Picture the posterior of one difference; its curve is empty if there is none."""
    x, y = _density_curve(test.posterior)
    name, (a, b), rope = metric_name(test.metric), models, test.rope
    chances = (
        probability(test.p_a_better),
        probability(test.p_equivalent),
        probability(test.p_b_better),
    )
    p_a, p_equivalent, p_b = chances
    reading = "The higher the curve, the more plausible is that true difference, given these data."
    if rope > 0:
        reading += (
            f" The coloured areas are the probabilities that {b} ({p_b}) or {a} ({p_a}) is better "
            f"by more than {region(rope)}; between them the two count as equivalent "
            f"({p_equivalent})."
        )
    else:
        reading += (
            f" The area right of the dashed line is the probability that {b} is better, {p_b}; the "
            f"area left of it that {a} is, {p_a}."
        )
    beyond = float(test.posterior.cdf(x[0]) + test.posterior.sf(x[-1])) if x else 0.0
    if beyond > _MENTIONED_BEYOND:
        reading += (
            f" With so few units, a probability of {probability(beyond)} lies beyond the ends of "
            "the curve."
        )
    return Density(
        x,
        y,
        rope,
        models,
        chances,
        axis=f"difference in {name}, points",
        title=f"Posterior of the difference {b} − {a}.",
        description=f"Density of the difference in {name}; P({a} better) {p_a}, P({b} better) "
        f"{p_b}",
        reading=reading,
        note=f"{name}, points",
    )


def _density_curve(posterior: DifferencePosterior) -> tuple[list[float], list[float]]:
    """Return differences and their density, both empty if there is no curve."""
    limits = np.array(getattr(posterior, "shown", posterior.interval)(_DRAWN_PROBABILITY))
    most = 1.0 if np.max(np.abs(limits)) <= 1 else 2.0  # scores that go down to -1 can differ by 2
    low, high = np.clip(limits, -_LARGEST_DRAWN * most, _LARGEST_DRAWN * most)
    if not low < high:
        return [], []
    grid = np.linspace(low, high, _POINTS_OF_A_CURVE)
    density = np.asarray(posterior.pdf(grid))
    return (grid.tolist(), density.tolist()) if np.all(np.isfinite(density)) else ([], [])


def density_figure(panels: Sequence[ScorePosteriors], *, title: str = "") -> Figure:
    """Draw posterior densities, one panel per score, one colour per model."""
    return figure(*map(score_picture, panels), title=title)


def difference_figure(
    tests: Sequence[BayesTest], *, models: tuple[str, str] = ("A", "B")
) -> Figure:
    """Draw the posterior of the difference of each score, one panel per test."""
    return figure(*(difference_picture(test, models) for test in tests))
