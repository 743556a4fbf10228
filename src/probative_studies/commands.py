"""Declare the commands of `probative study`, one function each."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import click

from probative.cli import options
from probative.cli.output import progress, warnings_as_remarks
from probative.cli.parameters import Option
from probative.errors import InputError
from probative_studies.options import (
    AgreementStudyOptions,
    AnnotationOptions,
    BayesStudyOptions,
    ChunkingOptions,
    ClusterOptions,
    CoverageOptions,
    CurveStudyOptions,
    DatasetStudyOptions,
    GateOptions,
    LedgerStudyOptions,
    LookOptions,
    MacroOptions,
    MetricStudyOptions,
    OverlapOptions,
    PairingOptions,
    PlanningOptions,
    RanksOptions,
    RepeatsOptions,
    RunsOptions,
    SegmentationOptions,
    SequentialOptions,
    TestsOptions,
    TrainingOptions,
    WatchingOptions,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from matplotlib.figure import Figure

    from probative.cli.output import Output
    from probative.options import Options
    from probative.reporting.document import Document
    from probative_studies.looks import EverWrong


# --- What the commands of simulations do alike.


def simulate(
    name: str,
    study: Callable[..., Sequence[Any]],
    given: Options,
    out: Output,
    *,
    columns: Mapping[str, str],
    title: str,
    notes: Sequence[str],
    counting: str = "conditions",
) -> None:
    """Run a study with the options that were given, and show a row for each condition."""
    from probative_studies.study_report import study_document

    with progress(counting, quiet=out.quiet) as report:
        results = study(**vars(given), report=report)
    signature = given.signature(name)
    out.emit(study_document(name, results, columns, title=title, notes=notes, signature=signature))


# --- ``probative study agreement``.


def agreement(
    given: Annotated[AgreementStudyOptions, options.choose("level", "replicates", "rng")],
    out: options.RandomOutput,
) -> None:
    """Do the intervals of alpha and kappa between annotators hold? By simulation."""
    from probative_studies.agreement import agreement_study

    columns = {
        "items": "items",
        "annotators": "annotators",
        "labels": "labels",
        "guesses": "guesses",
        "per_unit": "per unit",
        "missing": "missing",
        "coefficient": "coefficient",
        "value": "true",
        "covered": "coverage",
        "length": "length",
        "noted": "with a note",
        "standard_error": "s.e.",
    }
    simulate(
        "agreement",
        agreement_study,
        given,
        out,
        columns=columns,
        title="Agreement between annotators: coverage",
        notes=[f"{given.replicates:,} corpora each; the level is {given.level:g}."],
    )


# --- ``probative study annotation``.


def annotation(
    *,
    gold: Annotated[
        str | None,
        Option(metavar="FILE", help="An annotated pool; without, single items are made."),
    ] = None,
    system: Annotated[
        list[str] | None,
        Option(metavar="FILE", help="The outputs of A, B and a third, of which judges are made."),
    ] = None,
    names: Annotated[
        list[str] | None,
        Option(metavar="FILE", help="Instead, two annotated files whose names two taggers know."),
    ] = None,
    given: Annotated[
        AnnotationOptions,
        options.choose(
            *("sizes", "prevalences", "kinds", "items", "level", "replicates", "rng"),
            sizes=Option(
                "--n",
                metavar="N",
                parser=options.whole_list,
                several=True,
                help="Numbers of labels; several times, or with commas.",
            ),
            prevalences=Option(
                "--prevalence",
                metavar="P",
                parser=options.number_list,
                several=True,
                help="Shares of positive items.",
            ),
            kinds=Option(
                "--confidence",
                metavar="NAME",
                parser=options.word_list,
                several=True,
                help="What is said of items: calibrated, timid, bold, shifted, none, nonsense, "
                "blind.",
            ),
            items=Option(metavar="N", parser=options.whole, help="Items in a pool."),
        ),
    ],
    out: options.RandomOutput,
) -> None:
    """Do scores of a pool hold that few labels tell, and what is placing these labels worth?

    Example: probative study annotation --gold test.conll --system a --system b --system c
    """
    from probative_studies.annotation import annotation_study
    from probative_studies.study_report import study_document

    with progress("conditions", quiet=out.quiet) as report:
        results = annotation_study(gold, system or (), names or (), **vars(given), report=report)
    columns = {
        "pool": "pool",
        "question": "question",
        "labels": "labels",
        "placement": "placed",
        "help": "help",
        "truth": "truth",
        "coverage": "coverage",
        "standard_error": "s.e.",
        "width": "width",
        "worth": "worth",
        "normal": "normal",
        "noted": "noted",
        "unnoted": "without note",
    }
    document = study_document(
        "annotation",
        results,
        columns,
        title="Scores of a pool from few labels",
        notes=[f"{given.replicates:,} samples each; the level is {given.level:g}."],
        signature=given.signature("annotation"),
    )
    out.emit(document)


# --- ``probative study bayes``.


def bayes(
    *,
    given: Annotated[
        BayesStudyOptions,
        options.choose(
            *("replicates", "n", "level", "prior", "rope", "weight", "rng"),
            replicates=Option(
                metavar="N",
                parser=options.whole,
                help="Simulated data sets of each kind; 0 leaves the simulation out.",
            ),
            n=Option(metavar="N", parser=options.whole, help="Items per data set."),
        ),
    ],
    task: Annotated[
        str, Option(metavar="NAME", help="Which figure --figure draws: cws, ner or org.")
    ] = "cws",
    out: options.RandomDrawn,
) -> None:
    """The paper of the Bayes test, computed again: tables 2 to 5, figures 1 to 3, simulation.

    Tables and figures come from the released counts of three tagging tasks. The simulation
    cross-validates a logistic regression on data sets drawn afresh.
    """
    from probative._validation import one_of
    from probative.data import load
    from probative.inference.crossval import score_posteriors
    from probative.reporting.bayes_report import bayes_study_document
    from probative.reporting.posteriors import density_figure
    from probative_studies import bayes as study

    one_of("--task", task, study.TASKS)
    tasks = study.task_tests(
        rope=given.rope, weight=given.weight, level=given.level, prior=given.prior
    )
    simulation = []
    if given.replicates:
        with progress("data sets", quiet=out.quiet) as report:
            simulation = study.simulate_credibility(
                given.replicates, n=given.n, level=given.level, rng=given.rng, report=report
            )
    published = load("bayes_test")["simulation"]["published"]
    signature = given.signature("bayes", "exact")
    document = bayes_study_document(tasks, simulation, published, signature=signature)

    def draw() -> Figure:
        shown = next(tested for tested in tasks if tested.task == task)
        folds = dict(zip((shown.a, shown.b), study.published_folds(task), strict=True))
        return density_figure(score_posteriors(folds, prior=given.prior), title=shown.name)

    out.emit(document, draw)


# --- ``probative study chunking``.


def chunking(
    *,
    cws: Annotated[
        list[str] | None,
        Option(
            metavar="FILE",
            help="Segmented text, such as SIGHAN 2005's pku_training.utf8; repeatable.",
        ),
    ] = None,
    ner: Annotated[
        list[str] | None,
        Option(metavar="FILE", help="Entities, such as CoNLL-2003's eng.train; repeatable."),
    ] = None,
    given: Annotated[
        ChunkingOptions,
        options.choose(
            *("label", "features", "encoding", "c2", "max_iterations", "m", "rng"),
            label=Option("--only", metavar="LABEL", help="The type of the third task."),
            features=Option(
                metavar="N,...",
                parser=options.column_numbers,
                help="Columns beside the word that features see; by default the second of four.",
            ),
            c2=Option(metavar="NUMBER", parser=options.number, help="The L2 penalty."),
            max_iterations=Option(
                "--iterations",
                metavar="N",
                parser=options.whole,
                help="L-BFGS iterations at most.",
            ),
        ),
    ],
    jobs: options.Jobs = None,
    resume: options.Resume = None,
    out: options.RandomOutput,
) -> None:
    """Does a finer tag set make a better chunker? Wang and Li's three experiments on your corpora.

    Example: probative study chunking --cws pku_training.utf8 --ner eng.train --jobs 2
    """
    from probative.data import load
    from probative_studies.chunking import chunking_document, chunking_study

    with progress("fits", quiet=out.quiet) as report, warnings_as_remarks(quiet=out.quiet):
        results = chunking_study(
            cws=cws or (),
            ner=ner or (),
            n_jobs=jobs,
            folder=resume,
            report=report,
            **vars(given),
        )
    published = {task: entry["published"] for task, entry in load("bayes_test")["tasks"].items()}
    # the third task has a type of entities only where there are entities
    signature = (given if ner else replace(given, label="")).signature(
        "chunking",
        "crf",
        f"{given.m}x2-block-regularised",
        f"seed:{results[0].comparison.seed}",
    )
    out.emit(chunking_document(results, published, signature=signature))


# --- ``probative study clusters``.


def clusters(
    given: Annotated[
        ClusterOptions,
        options.choose(
            *("correlations", "questions", "replicates", "level", "rng"),
            correlations=Option(
                "--correlation",
                metavar="R",
                parser=options.number_list,
                several=True,
                help="Correlations of items of a unit; several times, or with commas.",
            ),
            questions=Option(
                "--question",
                metavar="NAME",
                parser=options.word_list,
                several=True,
                help="Whose intervals: score, difference.",
            ),
        ),
    ],
    out: options.RandomOutput,
) -> None:
    """Do intervals cover what they promise with few or uneven units? By simulation."""
    from probative_studies import clusters as study

    def run(correlations: Any, questions: Any, **how: Any) -> Any:
        wanted = [c for c in study.conditions(correlations=correlations) if c.question in questions]
        return study.cluster_study(wanted, **how)

    columns = {
        "question": "of a",
        "metric": "score",
        "f1": "true score",
        "units": "units",
        "sizes": "sizes",
        "items": "mean items",
        "correlation": "correlation",
        "disputed": "in dispute",
        "before": "before",
        "after": "after",
        "standard_error": "s.e.",
        "noted": "with a note",
        "unnoted_misses": "misses without",
        "length_after": "length",
    }
    note = (
        "Coverage of intervals before (linearised variance, number of units less one) and after "
        "(leaving out one unit at a time, effective number of units less one)."
    )
    simulate(
        "clusters",
        run,
        given,
        out,
        columns=columns,
        title="Few and uneven units",
        notes=[note],
    )


# --- ``probative study coverage``.


def coverage(
    *,
    given: Annotated[
        CoverageOptions,
        options.choose(
            *("sizes", "cells", "methods", "metric", "level"),
            sizes=Option(
                "--n",
                metavar="N",
                parser=options.whole_list,
                several=True,
                help="Items; several times, or separated by commas.",
            ),
            cells=Option(
                metavar="P11,P10,P01[,P00]",
                several=True,
                help="Probabilities of a true positive, false positive, false negative [, true "
                "negative]; several times for several scenarios.",
            ),
            methods=Option(
                "--method",
                metavar="NAME",
                parser=options.word_list,
                several=True,
                help="Interval methods; by default the paper's four.",
            ),
            metric=Option(metavar="NAME", help="f1, or any other metric but fbeta."),
        ),
    ],
    plot: Annotated[
        str, Option(metavar="NAME", help="What --figure draws: coverage, length or heatmap.")
    ] = "coverage",
    out: options.Drawn,
) -> None:
    """Do the intervals cover what they promise? Exact coverage, length, overshoot, degeneracy.

    Without options: the 18 conditions and four methods of Lam's simulation study, beside the
    published figures.
    """
    from probative._validation import one_of
    from probative.data import load
    from probative.inference.intervals import methods_for
    from probative_studies import coverage as study
    from probative_studies.coverage import coverage_document

    one_of("--plot", plot, ("coverage", "length", "heatmap"))
    metric, level = given.metric, given.level
    usual = study.METHODS if metric == "f1" else methods_for(metric)[:1]
    methods = tuple(given.methods or usual)
    as_published = not (given.cells or given.sizes or metric != "f1" or level != 0.95) and set(
        methods
    ) <= set(study.METHODS)
    with progress("exact sums", quiet=out.quiet) as report:
        results = study.coverage_study(
            _scenarios(given.cells),
            given.sizes,
            methods,
            metric=metric,
            level=level,
            report=report,
        )
    published = load("f1_intervals") if as_published else None
    signature = given.signature("coverage", metric, ",".join(methods), "exact")
    document = coverage_document(results, published, signature=signature)
    out.emit(document, lambda: _draw(plot, results, methods, level))


def _draw(plot: str, results: list[Any], methods: tuple[str, ...], level: float) -> Figure:
    from probative_studies import coverage as coverage_report
    from probative_studies import coverage as study

    if plot == "length":
        return coverage_report.length_figure(study.length_curves(level=level))
    if plot == "heatmap":
        return coverage_report.heat_map_figure(*study.coverage_map(methods, level=level), level)
    return coverage_report.coverage_figure(results)


def _scenarios(cells: Sequence[str]) -> dict[str, dict[str, float]] | None:
    """Cell probabilities by the text that gave them; a missing p00 is what is left to 1."""
    scenarios = {}
    for text in cells:
        try:
            values = options.number_list(text)
        except click.BadParameter:
            values = ()
        if len(values) == 3:
            values = (*values, max(0.0, round(1 - sum(values), 12)))
        if len(values) != 4:
            raise InputError(
                f"--cells: {text!r:.60}; expected three or four numbers, P11,P10,P01[,P00]"
            )
        scenarios[text] = dict(zip(("p11", "p10", "p01", "p00"), values, strict=True))
    return scenarios or None


# --- ``probative study curves``.

_CONDITION = {"share": "share", "positives": "positives", "area": "area"}
_COLUMNS = {
    "order": {
        "kind": "scores",
        **_CONDITION,
        "average_precision": "true AP",
        "covered_ap": "AP",
        "length_ap": "length",
        "noted_ap": "note",
        "roc_auc": "true AUC",
        "covered_auc": "AUC",
        "length_auc": "length",
        "noted_auc": "note",
        "standard_error": "s.e.",
    },
    "threshold": {
        "kind": "scores",
        **_CONDITION,
        "covered_point": "one threshold",
        "noted_point": "note",
        "covered_curve": "whole curve",
        "covered_naive": "F1 naive",
        "covered_best": "F1 elsewhere",
        "noted_best": "note",
        "bias_naive": "bias naive",
        "bias_best": "bias",
        "covered_threshold": "best threshold",
        "standard_error": "s.e.",
    },
    "calibration": {
        "probabilities": "probabilities",
        "items": "items",
        "error": "true error",
        "seen": "seen",
        "left": "left",
        "covered": "coverage",
        "length": "length",
        "noted": "note",
        "covered_bins": "bins",
        "standard_error": "s.e.",
    },
    "difference": {
        "pair": "systems",
        **_CONDITION,
        "found_ap": "found: AP",
        "found_auc": "AUC",
        "found_best": "F1",
        "covered_ap": "coverage: AP",
        "noted_ap": "note",
        "covered_auc": "AUC",
        "noted_auc": "note",
        "covered_best": "F1",
        "noted_best": "note",
        "surer": "P > 0.95",
        "standard_error": "s.e.",
    },
}
_TITLES = {
    "order": "Average precision and the area under the ROC curve: coverage",
    "threshold": "Along the curve, and at its best threshold: coverage",
    "calibration": "Calibration error: coverage",
    "difference": "Two systems: differences found, and coverage",
}


def curves(
    given: Annotated[
        CurveStudyOptions,
        options.choose(
            *("questions", "kinds", "pairs", "shares", "positives", "areas", "probabilities"),
            *("items", "level", "replicates", "rng"),
            questions=Option(
                "--question",
                metavar="NAME",
                parser=options.word_list,
                several=True,
                help="What is asked: order, threshold, calibration, difference.",
            ),
            kinds=Option(
                "--kind",
                metavar="NAME",
                parser=options.word_list,
                several=True,
                help="How scores are drawn: continuous, tied, coarse, missed, units.",
            ),
            pairs=Option(
                "--pair",
                metavar="NAME",
                parser=options.word_list,
                several=True,
                help="How two systems are related: alike, units, copies, better.",
            ),
            shares=Option(
                "--share",
                metavar="P",
                parser=options.number_list,
                several=True,
                help="Shares of positives; several times, or with commas.",
            ),
            positives=Option(
                metavar="N",
                parser=options.whole_list,
                several=True,
                help="Expected numbers of positives.",
            ),
            areas=Option(
                "--area",
                metavar="P",
                parser=options.number_list,
                several=True,
                help="Areas under the ROC curve.",
            ),
            probabilities=Option(
                metavar="NAME",
                parser=options.word_list,
                several=True,
                help="What is wrong with probabilities: right (nothing), bold, high, units, 'high "
                "units', bolder, labels, rare, partly.",
            ),
            items=Option(
                "--n",
                metavar="N",
                parser=options.whole_list,
                several=True,
                help="How many probabilities there are.",
            ),
        ),
    ],
    out: options.RandomOutput,
) -> None:
    """Do intervals and tests of curves, thresholds and calibration hold? By simulation."""
    from probative_studies.curves import curve_study
    from probative_studies.study_report import studies_document

    with progress("conditions", quiet=out.quiet) as report:
        results = curve_study(**vars(given), report=report)
    document = studies_document(
        "curves",
        results,
        _COLUMNS,
        _TITLES,
        notes=[f"{given.replicates:,} test sets each; the level is {given.level:g}."],
        signature=given.signature("curves"),
    )
    out.emit(document)


# --- ``probative study datasets``.


def datasets(
    given: Annotated[
        DatasetStudyOptions,
        options.choose(
            *("datasets", "replicates", "rng"),
            datasets=Option(
                "--number",
                metavar="N",
                parser=options.whole_list,
                several=True,
                help="How many data sets; several times, or with commas.",
            ),
        ),
    ],
    out: options.RandomOutput,
) -> None:
    """Do the claims about several data sets hold? Counts, means and their spread, by simulation."""
    from probative_studies import datasets as study
    from probative_studies.study_report import study_document

    with progress("conditions", quiet=out.quiet) as report:
        results = study.dataset_study(**vars(given), report=report)
    columns = {
        "claim": "claim",
        "method": "method",
        "dependence": "data sets",
        "datasets": "number",
        "better": "better",
        "share": "share",
        "standard_error": "s.e.",
        "replicates": "replicates",
    }
    broken = [result for result in results if not result.holds]
    allowed = (
        "A count may be too large, and a spread be found that is not there, in 0.05; a mean must "
        "be covered in at least 0.93."
    )
    exceeded = f"Worse by three standard errors: {'; '.join(map(str, broken)) or 'nowhere'}."
    document = study_document(
        "datasets",
        results,
        columns,
        title="Claims about several data sets",
        notes=[allowed, exceeded],
        signature=given.signature("datasets"),
    )
    out.emit(document)


# --- ``probative study gates``.


def gates(
    given: Annotated[
        GateOptions,
        options.choose(
            *("margins", "correlation", "confidence", "replicates", "rng"),
            margins=Option(
                "--margin",
                metavar="D",
                parser=options.number_list,
                several=True,
                help="Margins; several times, or with commas.",
            ),
            correlation=Option(
                metavar="R", parser=options.number, help="The correlation of items of a unit."
            ),
            confidence=Option(
                metavar="P", parser=options.number, help="The confidence of the gates."
            ),
        ),
    ],
    out: options.RandomOutput,
) -> None:
    """How often do gates err? Equal and uneven units, 10 to 100 of them, by simulation."""
    from probative_studies import gates as study
    from probative_studies.study_report import study_document

    with progress("conditions", quiet=out.quiet) as report:
        results = study.gate_study(**vars(given), report=report)
    columns = {
        "gate": "gate",
        "error": "error",
        "margin": "margin",
        "sizes": "sizes",
        "units": "units",
        "share": "share",
        "standard_error": "s.e.",
    }
    broken = [result for result in results if not result.holds]
    allowed = (
        f"{given.replicates:,} test sets each, at the border of what the gate guards: a share of "
        f"{1 - given.confidence:.4g} is allowed."
    )
    exceeded = f"More by three standard errors: {'; '.join(map(str, broken)) or 'nowhere'}."
    document = study_document(
        "gates",
        results,
        columns,
        title="Errors of gates",
        notes=[allowed, exceeded],
        signature=given.signature("gates"),
    )
    out.emit(document)


# --- ``probative study ledger``.


def ledger(
    given: Annotated[
        LedgerStudyOptions,
        options.choose(
            *("sequences", "looks", "items", "confidence", "rng"),
            sequences=Option(metavar="N", parser=options.whole, help="Sequences of candidates."),
            looks=Option(metavar="N", parser=options.whole, help="Candidates in a sequence."),
            items=Option(metavar="N", parser=options.whole, help="Items of a test set."),
            confidence=Option(
                metavar="P", parser=options.number, help="The confidence of the gate."
            ),
        ),
    ],
    out: options.RandomOutput,
) -> None:
    """Does the ledger keep its promise? Many candidates that are no better, on one test set."""
    from probative_studies.ledger import ledger_study
    from probative_studies.study_report import study_document

    with progress("sequences", quiet=out.quiet) as report:
        results = ledger_study(**vars(given), report=report)
    columns = {
        "way": "candidates",
        "looks": "looks",
        "plain": "plain gates",
        "independent": "ledger, independent",
        "adaptive": "ledger, adaptive",
        "promised": "promised",
    }
    allowed = (
        f"The share of {given.sequences:,} sequences in which a candidate that is no better passes "
        f"a gate: {1 - given.confidence:.4g} is allowed where it is promised (standard error "
        f"{results[0].standard_error:.4f})."
    )
    document = study_document(
        "ledger",
        results,
        columns,
        title="Gates on one test set",
        notes=[allowed],
        signature=given.signature("ledger"),
    )
    out.emit(document)


# --- ``probative study looks``.


def looks(
    given: Annotated[
        LookOptions,
        options.choose(
            *("level", "units", "batch", "streams", "item_streams", "rng"),
            units=Option(metavar="N", parser=options.whole, help="Units in a stream."),
            batch=Option(metavar="N", parser=options.whole, help="Units between two looks."),
            streams=Option(metavar="N", parser=options.whole, help="Streams of units."),
            item_streams=Option(metavar="N", parser=options.whole, help="Streams of items."),
        ),
    ],
    out: options.RandomOutput,
) -> None:
    """Do limits and tests hold at every look? Hundreds of looks at streams of labels."""
    from probative_studies.looks import look_study

    with progress("conditions", quiet=out.quiet) as report:
        results = look_study(**vars(given), report=report)
    out.emit(looks_document("looks", results, "streams of", "Wrong at any look", given))


def looks_document(
    name: str, results: list[EverWrong], of: str, title: str, given: LookOptions | WatchingOptions
) -> Document:
    """Show how often something was ever wrong, of streams of whatever kind."""
    from probative_studies.study_report import study_document

    columns = {
        "what": "what",
        "condition": of,
        "looks": "looks",
        "share": "ever",
        "standard_error": "s.e.",
        "fixed": "fixed, ever",
        "once": "fixed, once",
        "streams": "streams",
    }
    allowed = (
        f"Ever wrong in at most {1 - given.level:.4g} of the streams is allowed; of a test that "
        f"finds B better, more is better."
    )
    signature = given.signature(name)
    return study_document(name, results, columns, title=title, notes=[allowed], signature=signature)


# --- ``probative study macro``.


def macro(
    given: Annotated[MacroOptions, options.choose("replicates", "level", "rng")],
    out: options.RandomOutput,
) -> None:
    """Do the intervals of macro averages cover what they promise? By simulation."""
    from probative_studies.macro import macro_coverage

    columns = {
        "condition": "labels and F1",
        "question": "of",
        "method": "method",
        "coverage": "coverage",
        "standard_error": "s.e.",
        "length": "length",
    }
    methods = (
        "Intervals of macro F1. delta: the delta method over units, as it was before. mover: "
        "Wilson's limits of each label, joined. one prior: labels share a prior whatever their "
        "size. hierarchical: what is used here."
    )
    pairs = (
        "B scores two points more than A on every label; half of the time they share their fate."
    )
    simulate(
        "macro",
        macro_coverage,
        given,
        out,
        columns=columns,
        title="Coverage of the intervals of macro F1",
        notes=[methods, pairs],
        counting="test sets",
    )


# --- ``probative study metrics``.


def metrics(
    given: Annotated[
        MetricStudyOptions,
        options.choose(
            *("questions", "metrics", "sizes", "methods", "conditions"),
            *("replicates", "level", "rng"),
            questions=Option(
                "--question",
                metavar="NAME",
                parser=options.word_list,
                several=True,
                help="score (exactly), difference, units, unit-differences, classes or "
                "class-differences; several times, or with commas.",
            ),
            metrics=Option(
                "--metric",
                metavar="NAME",
                parser=options.word_list,
                several=True,
                help="balanced_accuracy, mcc, kappa, informedness, markedness, fowlkes_mallows.",
            ),
            sizes=Option(
                "--n",
                metavar="N",
                parser=options.whole_list,
                several=True,
                help="Items of a test set, for --question score.",
            ),
            methods=Option(
                "--method",
                metavar="NAME",
                parser=options.word_list,
                several=True,
                help="Intervals, for --question score; by default the one that is used.",
            ),
            conditions=Option(
                "--condition",
                metavar="NAME",
                several=True,
                help="Draw only where this is part of the condition's name, such as 'rare, "
                "lognormal'; may be repeated.",
            ),
        ),
    ],
    out: options.RandomOutput,
) -> None:
    """Do the intervals of MCC, kappa and their kin cover what they promise?"""
    from probative_studies.metrics import metric_study

    columns = {
        "question": "of a",
        "metric": "metric",
        "condition": "condition",
        "n": "n",
        "method": "method",
        "coverage": "coverage",
        "standard_error": "s.e.",
        "noted": "with a note",
        "unnoted_misses": "misses without",
        "length": "length",
    }
    note = (
        "Of one score, the least coverage over shares of positives, recalls and specificities: a "
        "sum over all tables, at the shares of tp, fp, fn and tn that are told. The rest is drawn."
    )
    simulate(
        "metrics",
        metric_study,
        given,
        out,
        columns=columns,
        title="Coverage of the intervals of MCC, kappa and their kin",
        notes=[note],
    )


# --- ``probative study overlap``.


def overlap(
    given: Annotated[OverlapOptions, options.choose("level", "replicates", "rng")],
    out: options.RandomOutput,
) -> None:
    """Do intervals hold where spans are found in part, and count one half? By simulation."""
    from probative_studies.overlap import overlap_study

    columns = {
        "sentences": "sentences",
        "spans": "spans each",
        "found": "found",
        "partly": "of these in part",
        "f1": "true F1",
        "covered": "coverage",
        "length": "length",
        "standard_error": "s.e.",
    }
    simulate(
        "overlap",
        overlap_study,
        given,
        out,
        columns=columns,
        title="Spans found in part: coverage",
        notes=[f"{given.replicates:,} test sets each; the level is {given.level:g}."],
    )


# --- ``probative study pairing``.


def pairing(
    given: Annotated[
        PairingOptions,
        options.choose(
            *("sizes", "metrics", "replicates", "level", "rng"),
            sizes=Option(
                "--n",
                metavar="N",
                parser=options.whole_list,
                several=True,
                help="Items; several times, or separated by commas.",
            ),
            metrics=options.STATISTICS["metric"],
        ),
    ],
    out: options.RandomOutput,
) -> None:
    """Do intervals of a difference hold the truth? Does pairing make them shorter? Simulated."""
    from probative_studies.pairing import pairing_study

    columns = {
        "items": "items",
        "metric": "metric",
        "posterior": "posterior",
        "coverage": "coverage",
        "standard_error": "s.e.",
        "length": "length",
        "difference": "true difference",
    }
    note = (
        "Test sets are drawn from a population on which the two systems treat nine items in ten "
        "alike. Independent posteriors ignore that, and their intervals are too long."
    )
    title = f"Coverage of the {100 * given.level:g} % interval of B − A"
    simulate("pairing", pairing_study, given, out, columns=columns, title=title, notes=[note])


# --- ``probative study planning``.


def planning(
    given: Annotated[
        PlanningOptions,
        options.choose(
            *("powers", "replicates", "level", "rng"),
            powers=Option(
                "--power",
                metavar="P",
                parser=options.number_list,
                several=True,
                help="Powers to plan for; several times, or with commas.",
            ),
        ),
    ],
    out: options.RandomOutput,
) -> None:
    """Does a planned sample size give the power that was asked for? By simulation."""
    from probative_studies.planning import planning_study

    columns = {
        "pilot": "pilot",
        "difference": "difference",
        "units": "units planned",
        "planned": "power planned",
        "simulated": "simulated",
        "standard_error": "s.e.",
    }
    note = (
        "Test sets of the planned size are drawn from the units of the pilot; simulated is the "
        "share on which the exact randomisation test by unit is significant."
    )
    simulate(
        "planning",
        planning_study,
        given,
        out,
        columns=columns,
        title="Planned and simulated power",
        notes=[note],
        counting="test sets",
    )


# --- ``probative study ranks``.


def ranks(
    given: Annotated[
        RanksOptions,
        options.choose(
            *("systems", "adjust", "limits_only", "level", "replicates", "rng"),
            systems=Option(
                metavar="N,...", parser=options.whole_list, help="How many systems; with commas."
            ),
            adjust=Option(metavar="HOW", help="holm or shaffer."),
            limits_only=Option(help="Leave out the tests of pairs, and with them the rank sets."),
        ),
    ],
    out: options.RandomOutput,
) -> None:
    """Do all rank sets, and the limits of all differences, hold at once? By simulation."""
    from probative_studies.ranks import rank_study

    tested = {"rank_sets": "rank sets", "rank_error": "s.e."}
    decided = {"decided": "decided"}
    note = (
        f"{given.replicates:,} test sets each: the share on which all rank sets hold the true "
        f"ranks, and on which the limits of all differences hold the true ones; and the mean share "
        f"of pairs that are decided."
    )
    if given.limits_only:
        tested, decided = {}, {}
        note = (
            f"{given.replicates:,} test sets each: the share on which the limits of all "
            f"differences hold the true ones. No pair is tested."
        )
    simulate(
        "ranks",
        rank_study,
        given,
        out,
        columns={
            "systems": "systems",
            "truth": "in truth",
            "units": "test set",
            **tested,
            "limits": "limits",
            "limits_error": "s.e.",
            **decided,
        },
        title="Leaderboards that are right in everything",
        notes=[note],
        counting="test sets",
    )


# --- ``probative study repeats``.


def repeats(
    given: Annotated[
        RepeatsOptions,
        options.choose(
            *("samples", "repeats", "scores", "level", "replicates", "rng"),
            samples=Option(metavar="N,...", parser=options.whole_list, help="Samples."),
            repeats=Option(
                metavar="K,...", parser=options.whole_list, help="Answers to each sample."
            ),
            scores=Option(
                "--score",
                metavar="P",
                parser=options.number_list,
                several=True,
                help="The true score; several times, or with commas.",
            ),
        ),
    ],
    out: options.RandomOutput,
) -> None:
    """Do the limits hold for a model that answers each sample several times? By simulation."""
    from probative_studies.runs import repeats_study

    columns = {
        "score": "score",
        "truth": "truth",
        "samples": "samples",
        "repeats": "answers each",
        "coverage": "coverage",
        "standard_error": "s.e.",
        "ignoring": "as if independent",
        "share_of_answers": "share of answers",
    }
    note = (
        f"{given.replicates:,} test sets each: how often the limits hold the true score, the same "
        f"for limits that take all items to be independent, and the share of the variance that "
        f"more answers could remove, as estimated, on average."
    )
    simulate(
        "repeats",
        repeats_study,
        given,
        out,
        columns=columns,
        title="Repeated answers: do the limits hold?",
        notes=[note],
    )


# --- ``probative study runs``.


def runs(
    given: Annotated[
        RunsOptions,
        options.choose(
            *("runs", "ratios", "units", "scores", "seeds", "level", "replicates", "rng"),
            runs=Option(metavar="R,...", parser=options.whole_list, help="Runs of either system."),
            ratios=Option(
                "--ratio",
                metavar="V",
                parser=options.number_list,
                several=True,
                help="The variance of seeds over that of test sets; several times, or with commas.",
            ),
            units=Option(metavar="N,...", parser=options.whole_list, help="Units of a test set."),
            scores=Option(
                "--score",
                metavar="F1",
                parser=options.number_list,
                several=True,
                help="The true score; several times, or with commas.",
            ),
            seeds=Option(
                "--spread",
                metavar="HOW,...",
                parser=options.word_list,
                help="How seeds spread: alike, paired, one, failing.",
            ),
        ),
    ],
    out: options.RandomOutput,
) -> None:
    """Do the limits for training procedures hold, with few runs and many? By simulation."""
    from probative_studies.runs import runs_study

    columns = {
        "seeds": "seeds",
        "f1": "F1",
        "units": "units",
        "ratio": "ratio",
        "runs_a": "runs of A",
        "runs_b": "of B",
        "coverage": "coverage",
        "standard_error": "s.e.",
        "size": "size",
        "width": "length",
        "once": "once",
        "ignoring": "ignoring seeds",
        "ignoring_width": "length",
        "new_run": "new runs",
        "new_run_here": "here",
    }
    note = (
        f"{given.replicates:,} test sets for each population: how often the limits for procedures "
        f"hold their true difference, 0, and how often their test rejects it; the same coverage "
        f"where what runs do to single units is counted once, and of the limits for models, which "
        f"ignore that seeds vary. New runs: how often limits of the same kind hold the difference "
        f"of two new runs, on a new test set and on this one."
    )
    simulate(
        "runs",
        runs_study,
        given,
        out,
        columns=columns,
        title="Several runs: do the limits for procedures hold?",
        notes=[note],
        counting="populations",
    )


# --- ``probative study segmentation``.

_ALIKE = ("curve", "spaces", "epochs", "device", "rng", "steps", "level")


def segmentation(
    train: Annotated[
        str, Option(metavar="FILE", help="CoNLL-U, columns or segmented text to train on.")
    ],
    dev: Annotated[
        str, Option(metavar="FILE", help="The same, for the choice of the network's epoch.")
    ],
    test: Annotated[str, Option(metavar="FILE", help="The same, to be scored on.")],
    *,
    given: Annotated[
        SegmentationOptions,
        options.choose(
            *("systems", "sizes", "step", "curve", "epochs", "device", "spaces", "steps"),
            *("language", "level", "rng"),
            systems=Option(
                metavar="A,B",
                parser=options.word_list,
                help="Of maxmatch, crf and bigru; by default those that are installed.",
            ),
            sizes=Option(
                metavar="N,N",
                parser=options.word_list,
                help="Training sentences at each point of the learning curve.",
            ),
            step=Option(
                metavar="N",
                parser=options.whole,
                help="A learning curve that grows by N sentences.",
            ),
            curve=Option(
                metavar="NAME", help="The system of the learning curve; by default the last."
            ),
            epochs=Option(metavar="N", parser=options.whole, help="Epochs of the network."),
            device=Option(metavar="NAME", help="Where the network computes: auto, cpu or cuda."),
            spaces=Option(help="Whether segmenters see the spaces of the text."),
            steps=Option(metavar="N", parser=options.whole, help="Steps of the sweep."),
            language=Option(
                metavar="zh|en", help="Show the published figures of this language only."
            ),
        ),
    ],
    resume: options.Resume = None,
    output: Annotated[
        Path | None,
        Option(
            "--output", "-o", metavar="DIR", help="Write tables, figures, outputs and JSON there."
        ),
    ] = None,
    out: options.RandomOutput,
) -> None:
    """Is recall the score to trust? Three word segmenters, a threshold sweep, a learning curve.

    Example: probative study segmentation --train train.conllu --dev dev.conllu --test test.conllu
    """
    from probative._validation import one_of
    from probative.data import load
    from probative.files import make_folder, write_whole
    from probative.jobs.sweep import segmented
    from probative.reporting.segmentation_report import output_files, study_document
    from probative_studies.segmentation import installed_systems, segmentation_study

    published = load("segmentation")["table2"]
    if given.language is not None:
        language = one_of("--language", given.language, published)
        published = {language: published[language]}
    systems, missing = installed_systems()
    if given.systems is not None:
        systems, missing = list(given.systems), []
    out.remark(*missing)
    training = segmented(train, "train")
    points = _sizes(given.sizes, given.step, training.n_sentences)
    if output is not None:
        make_folder(output)
    with progress("runs", quiet=out.quiet) as bar:

        def report(done: int, total: int, what: str) -> None:
            bar(done, total)
            if "iteration" not in what:
                out.remark(what)

        study = segmentation_study(
            training,
            dev,
            test,
            systems=systems,
            sizes=points,
            folder=resume,
            report=report,
            **{name: getattr(given, name) for name in _ALIKE},
        )
    signature = given.signature("segmentation", ",".join(systems))
    document = study_document(study, published, html=out.html is not None, signature=signature)
    if output is not None:
        for name, content in output_files(study, document).items():
            write_whole(output / name, content)
        out.remark(f"wrote {output}")
    out.emit(document)


def _sizes(sizes: Sequence[str], step: int | None, everything: int) -> list[int]:
    if sizes and step is not None:
        raise InputError("--step: cannot be combined with --sizes; expected one of the two")
    if step is not None:
        if step < 1:
            raise InputError("--step: 0 is not a whole number >= 1")
        return list(range(step, everything, step))
    return [everything if word == "all" else _size(word) for word in sizes]


def _size(word: str) -> int:
    try:
        (size,) = options.whole_list(word, what="whole number >= 1 or 'all'")
    except click.BadParameter as error:
        raise InputError(f"--sizes: {error.message}") from None
    return size


# --- ``probative study sequential``.


def sequential(
    given: Annotated[
        SequentialOptions,
        options.choose(
            *("shares", "most"),
            shares=Option(
                "--share",
                metavar="P",
                parser=options.number_list,
                several=True,
                help="P-values that tests estimate; several times, or with commas.",
            ),
            most=Option(metavar="N", parser=options.whole, help="The most draws of a test."),
        ),
    ],
    out: options.Output,
) -> None:
    """When do sampled tests stop, and how often do they decide wrongly? Computed."""
    from probative_studies.sequential import stopping_study

    columns = {
        "share": "p-value",
        "draws": "draws expected",
        "at_first": "decided at first look",
        "wrong": "wrong of a million",
        "undecided": "undecided",
    }
    note = (
        "Decisions at 0.05 and 0.01. Wrong are those that differ from what drawing everything "
        "would decide; 100 of a million are allowed."
    )
    simulate(
        "sequential",
        stopping_study,
        given,
        out,
        columns=columns,
        title="When sampled tests stop",
        notes=[note],
        counting="p-values",
    )


# --- ``probative study tests``.


def tests(
    given: Annotated[
        TestsOptions,
        options.choose(
            *("correlations", "differences", "methods", "units", "items", "replicates"),
            *("level", "rng"),
            correlations=Option(
                "--correlation",
                metavar="R",
                parser=options.number_list,
                several=True,
                help="Correlations of items of a sentence; several times, or separated by commas.",
            ),
            differences=Option(
                "--difference",
                metavar="D",
                parser=options.number_list,
                several=True,
                help="True differences of F1, as fractions of 1; several times, or with commas.",
            ),
            methods=Option(
                "--method",
                metavar="NAME",
                parser=options.word_list,
                several=True,
                help="item-test, unit-test, bootstrap, bootstrap-bca, mover, mover-items, bayes, "
                "bayes-items.",
            ),
            units=Option(metavar="N", parser=options.whole, help="Sentences in a test set."),
            items=Option(
                metavar="X", parser=options.number, help="Mean number of items per sentence."
            ),
        ),
    ],
    out: options.RandomDrawn,
) -> None:
    """Which tests err as rarely as they say where items of a sentence are alike? Size and power.

    Without options: exact randomisation tests by item and by unit, the paired bootstrap, and the
    intervals of a difference with and without the design effect, at five correlations.
    """
    from probative_studies import tests as study
    from probative_studies.tests import tests_document, tests_figure

    methods = given.methods or study.USUAL
    with progress("test sets", quiet=out.quiet) as report:
        results = study.size_and_power(**vars(given) | {"methods": methods}, report=report)
    signature = given.signature("tests", "f1", ",".join(methods))
    out.emit(tests_document(results, signature=signature), lambda: tests_figure(results))


# --- ``probative study training``.


def training(
    given: Annotated[
        TrainingOptions,
        options.choose(
            *("learners", "gains", "distance", "copies", "items", "replicates", "level", "rng"),
            learners=Option(
                "--learner",
                metavar="NAME",
                parser=options.word_list,
                several=True,
                help="Learners; several times, or separated by commas.",
            ),
            gains=Option(
                "--gain",
                metavar="X",
                parser=options.number_list,
                several=True,
                help="How much more B's features tell; 0: neither is better. Several times, "
                "or with commas.",
            ),
            distance=Option(
                "--distance",
                metavar="X",
                parser=options.number,
                help="The distance of the classes, in standard deviations.",
            ),
            copies=Option(
                "--copies",
                metavar="KIND",
                help="own: features of their own; subsampled: each trained on half of the items.",
            ),
            items=Option("--n", metavar="N", parser=options.whole, help="Items per data set."),
        ),
    ],
    out: options.RandomOutput,
) -> None:
    """How often is one of two equally good learners called better? Simulated."""
    from probative_studies.training import training_study

    columns = {
        "learner": "learner",
        "metric": "metric",
        "gain": "gain",
        "published": "published",
        "published_error": "s.e.",
        "adjusted": "adjusted",
        "adjusted_error": "s.e. ",
        "effect": "fold effect",
        "notable": "above 2",
    }
    sees = {
        "own": "Each sees two features of its own",
        "subsampled": "Each is trained on a random half of the training items",
    }
    seen = sees.get(given.copies, given.copies)
    note = (
        "How often one of two learners is called better, as published and with training variance "
        f"allowed for. {seen}; without a gain neither is better, and {1 - given.level:.2g} would "
        f"be right."
    )
    simulate(
        "training",
        training_study,
        given,
        out,
        columns=columns,
        title="Is one of two learners called better?",
        notes=[note],
        counting="data sets",
    )


# --- ``probative study watching``.


def watching(
    given: Annotated[
        WatchingOptions,
        options.choose(
            *("level", "pool", "units", "batch", "streams", "rng"),
            pool=Option(metavar="N", parser=options.whole, help="Units of a pool."),
            units=Option(metavar="N", parser=options.whole, help="Units labelled in the end."),
            batch=Option(metavar="N", parser=options.whole, help="Units between two looks."),
            streams=Option(metavar="N", parser=options.whole, help="Pools of every kind."),
        ),
    ],
    out: options.RandomOutput,
) -> None:
    """Do limits and tests hold at every look at a sample that was drawn by dispute?"""
    from probative_studies.watching import watching_study

    with progress("streams", quiet=out.quiet) as report:
        results = watching_study(**vars(given), report=report)
    title = "Wrong at any look at a stratified sample"
    out.emit(looks_document("watching", results, "pools of", title, given))


# the studies in the order in which help lists them
STUDIES = {
    "coverage": coverage,
    "bayes": bayes,
    "pairing": pairing,
    "tests": tests,
    "chunking": chunking,
    "segmentation": segmentation,
    "planning": planning,
    "sequential": sequential,
    "clusters": clusters,
    "metrics": metrics,
    "macro": macro,
    "gates": gates,
    "training": training,
    "ranks": ranks,
    "runs": runs,
    "repeats": repeats,
    "looks": looks,
    "watching": watching,
    "ledger": ledger,
    "datasets": datasets,
    "curves": curves,
    "annotation": annotation,
    "agreement": agreement,
    "overlap": overlap,
}
