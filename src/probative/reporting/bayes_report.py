"""Build the documents of Bayes tests and cross-validated comparisons; picture posteriors."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from operator import itemgetter
from typing import TYPE_CHECKING, Any

import numpy as np

from probative.metrics import TABLE, score
from probative.reporting.document import (
    Answer,
    Column,
    Document,
    Table,
    Words,
    estimated,
    payload,
    upper,
)
from probative.reporting.pictures import Curve, Densities, Density, Picture, figure
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
    from matplotlib.figure import Figure

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
    records, (a, b) = [test.to_dict() for test in tests], models
    verdicts = [outcome_sentence(test, *models) for test in tests]
    remarks = filter(None, map(training_sentence, tests))
    return Document(
        title=f"Is {b} better than {a}?",
        payload=payload("bayes", signature, tests=records, a=a, b=b, verdicts=verdicts),
        tables=(_tests_table(tests, models),),
        records=tuple({"a": a, "b": b, **flat(record)} for record in records),
        leading=tuple(verdicts),
        notes=(*remarks, signature),
        pictures=tuple(pictures),
        headline=_headlines(tests, models),
    )


def _headlines(tests: Sequence[BayesTest], models: tuple[str, str]) -> tuple[Answer, ...]:
    """Return one headline for all metrics with the same outcome."""
    by_outcome: dict[str, list[BayesTest]] = {}
    for test in tests:
        by_outcome.setdefault(outcome_words(test, *models), []).append(test)
    answers = []
    for outcome, own in by_outcome.items():
        # names of systems stay as they are
        words = f"{outcome} evidence" if " better: " in outcome else upper(outcome)
        if len(tests) > 1:
            words += f" ({', '.join(metric_name(test.metric) for test in own)})"
        main = next((test for test in own if test.metric == "f1"), own[0])
        state = "equal" if outcome == "equivalent" else "open"
        if " better: " in outcome:
            state = "worse" if outcome.startswith(f"{models[0]} better: ") else "better"
        answers.append(Answer(words, state, (outcome_sentence(main, *models),)))
    return tuple(answers)


def _tests_table(tests: Sequence[BayesTest], models: tuple[str, str], *, title: str = "") -> Table:
    """Build a table of scores, differences and probabilities, one row per test."""
    # with a `title` these are the published tests beside those that the verdict rests on
    verdicts = not title
    rope = any(test.rope > 0 for test in tests)
    effects = any(test.fold_design_effect is not None for test in tests)
    level, four = f"{100 * tests[0].level:g} %", partial(number, digits=4)
    scores = f"scores in points with {level} intervals"
    named = f"A = {models[0]}, B = {models[1]}: {scores}"
    folds = "variance of the differences between folds, relative to that which their items explain"
    return Table.of(
        tests,
        Words("metric", "metric", metric_name),
        Words("verdict", outcome_words, when=verdicts),
        Words("posterior", "posterior.kind", when=not verdicts),
        Column(f"A [{level}]", lambda t: estimated(t.score_a, *t.interval_a)),
        Column(f"B [{level}]", lambda t: estimated(t.score_b, *t.interval_b)),
        Column(f"B − A [{level}]", lambda t: estimated(t.difference, t.low, t.high)),
        Column("P(H0)", "p_h0", four, drop=2),
        Column("P(H1)", "p_h1", four, drop=6 * rope),
        Column("P(A better)", "p_a_better", four, when=rope, drop=5),
        Column("P(equal)", "p_equivalent", four, when=rope),
        Column("P(B better)", "p_b_better", four, when=rope),
        Column("fold effect", lambda t: number(t.fold_design_effect, 2), when=effects, drop=1),
        Words("likelier hypothesis", "decision", drop=7),
        title=title or (scores.capitalize() if models == ("A", "B") else named),
        notes=(HYPOTHESES, f"Fold effect: {folds}." if effects else "") if verdicts else (),
    )


def flat(record: dict[str, Any]) -> dict[str, Any]:
    """Split intervals into two columns each, for CSV."""
    flat: dict[str, Any] = {}
    for key, value in record.items():
        limits = isinstance(value, list)
        flat |= {f"{key}_low": value[0], f"{key}_high": value[1]} if limits else {key: value}
    return flat


# --- Cross-validated comparisons and splits


def crossval_document(
    comparison: ModelComparison, *, command: str = "crossval", pictures: Sequence[Picture] = ()
) -> Document:
    """Build the document of a cross-validated comparison and its folds."""
    models = a, b = comparison.a, comparison.b
    verdicts = model_verdicts(comparison)
    known = comparison.to_dict() | {"verdicts": verdicts, "seed": comparison.seed}
    order = ("tests", "adjusted_tests", "verdicts", "folds", "seed", "effective_a", "effective_b")
    content = {name: known[name] for name in (*order, "balance") if name in known}
    judged = _tests_table(comparison.adjusted_tests, models)
    published = "Published tests, which do not allow for the training variance"
    tables = [
        replace(judged, title=f"{judged.title}, adjusted for the training variance"),
        _tests_table(comparison.tests, models, title=published),
        _folds_table(comparison),
    ]
    tables += [_balance_table(content["balance"])] if "balance" in content else []
    return Document(
        title=f"Is {b} better than {a}, whatever the training set?",
        payload=payload(command, comparison.signature, **content),
        tables=tuple(tables),
        records=tuple(
            {"a": a, "b": b, **test.to_dict(), **comparison.adjusted_outcome(test)}
            for test in comparison.tests
        ),
        leading=tuple(verdicts),
        notes=(*model_remarks(comparison), comparison.signature),
        pictures=tuple(pictures),
        headline=_headlines(comparison.adjusted_tests, models),
    )


def crossval_figure(comparison: ModelComparison, plot: str = "densities") -> Figure:
    """Draw the posteriors of both models' scores ("densities"), or of their "difference"."""
    if plot == "difference":
        return difference_figure(comparison.adjusted_tests, models=(comparison.a, comparison.b))
    title = "Published posteriors, without training variance"
    return density_figure(comparison.scores, title=title)


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

    timed = any(fold.seconds is not None for fold in comparison.folds)
    return Table.of(
        comparison.folds,
        Words("fold"),
        Words("model"),
        Column("trained on", "train"),
        Column("judged on", "validation"),
        *map(of_count, comparison.folds[0].counts.to_dict()),
        *map(of_metric, metrics),
        Column("seconds", form=partial(number, digits=1), when=timed),
        title="Folds",
    )


def _balance_table(balance: Mapping[str, Any]) -> Table:
    """Build the table of the balance of the halves, compared with random splits."""
    sizes = balance["block_sizes"]
    size = f"{min(sizes)}" if min(sizes) == max(sizes) else f"{min(sizes)} to {max(sizes)}"

    def column(head: str, name: str, form: Callable[[Any], str] = number) -> Column:
        return Column(head, balance[name].__getitem__, form)

    def percent(share: float) -> str:
        return number(100 * share)

    return Table.of(
        range(len(balance["strata"])),
        Words("stratum", balance["strata"].__getitem__),
        column("total", "totals", "{:,.0f}".format),
        column("deviation %", "deviation", percent),
        column("random %", "random_deviation", percent),
        column("chi-square", "chi_square"),
        column("random", "random_chi_square"),
        title=f"Balance: {len(sizes)} blocks of {size}",
        notes=f"Halves differ in size by {balance['size_difference']} at most. Deviation: of a "
        "half from half of the total, the largest; random: the same on average over random "
        "splits.",
    )


def split_document(manifest: Mapping[str, Any], folder: str, *, signature: str) -> Document:
    """Build the document of the written folds and the balance of their halves."""
    folds, title = manifest["folds"], f"Folds of {manifest['corpus']}"
    parts = ("train", "validation")
    written = Table.of(
        folds,
        Words("fold", itemgetter("fold")),
        Words("train", lambda fold: fold["train"]["file"]),
        Words("validation", lambda fold: fold["validation"]["file"]),
        Column("train on", lambda fold: fold["train"]["sentences"]),
        Column("validate on", lambda fold: fold["validation"]["sentences"]),
        title=f"{title} in {folder}",
    )
    return Document(
        title=title,
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
    """Picture for each score the posteriors of both models, and that of their difference."""
    # `adjusted` tests allow for the training variance, which the posteriors of scores do not
    published = (
        "These are the published posteriors, without the training variance; the intervals in the "
        "table and the difference allow for it."
    )
    pictures: list[Picture] = []
    for panel, test in zip(panels, tests, strict=True):
        scores, difference = score_picture(panel), difference_picture(test, models)
        if adjusted:
            scores = replace(scores, reading=f"{scores.reading} {published}")
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
        reading="A curve is the posterior density of the true score of a model. The more two "
        "curves overlap, the less the models are distinguished.",
    )


def difference_picture(test: BayesTest | Comparison, models: tuple[str, str]) -> Density:
    """Picture the posterior of one difference; its curve is empty if there is none."""
    x, y = _density_curve(test.posterior)
    name, (a, b), rope = metric_name(test.metric), models, test.rope
    found = (test.p_a_better, test.p_equivalent, test.p_b_better)
    p_a, p_equivalent, p_b = map(probability, found)
    reading = "The higher the curve, the more plausible is that true difference, given these data."
    reading += (
        f" The coloured areas are the probabilities that {b} ({p_b}) or {a} ({p_a}) is better by "
        f"more than {region(rope)}; between them the two count as equivalent ({p_equivalent})."
        if rope > 0
        else f" The area right of the dashed line is the probability that {b} is better, {p_b}; "
        f"the area left of it that {a} is, {p_a}."
    )
    beyond = float(test.posterior.cdf(x[0]) + test.posterior.sf(x[-1])) if x else 0.0
    if beyond > _MENTIONED_BEYOND:
        outside = f"a probability of {probability(beyond)} lies beyond the ends of the curve"
        reading += f" With so few units, {outside}."
    return Density(
        x,
        y,
        rope,
        models,
        (p_a, p_equivalent, p_b),
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
