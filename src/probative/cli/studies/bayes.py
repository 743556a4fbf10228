"""``probative study bayes``."""

from __future__ import annotations

from typing import Annotated

from probative.cli import options
from probative.cli.output import check_format, emit, progress
from probative.cli.parameters import Option

__all__ = ["bayes"]


def bayes(
    replicates: Annotated[
        int,
        Option(
            "--replicates",
            metavar="N",
            parser=options.whole,
            help="Simulated data sets of each kind; 0 leaves the simulation out.",
        ),
    ] = 10_000,
    n: Annotated[
        int, Option("--n", metavar="N", parser=options.whole, help="Items a data set.")
    ] = 600,
    task: Annotated[
        str, Option(metavar="NAME", help="Which figure --figure draws: cws, ner or org.")
    ] = "cws",
    level: options.Level = 0.95,
    prior: options.Prior = 1.0,
    rope: options.Rope = 0.0,
    weight: options.Weight = "effective",
    figure: options.Figure = None,
    form: options.Format = "text",
    html: options.Html = None,
    quiet: options.Quiet = False,
    seed: options.Seed = 0,
) -> None:
    """The Bayes test's paper again: its tables 2 to 5, its figures 1 to 3, its simulation.

    Tables and figures come from the released counts of three tagging tasks. The simulation
    cross-validates a logistic regression on data sets drawn afresh.
    """
    from probative._validation import one_of
    from probative.data import load
    from probative.inference.effective import score_posteriors
    from probative.reporting.bayes_report import bayes_study_document
    from probative.reporting.posterior_figures import density_figure
    from probative.studies import bayes as study

    check_format(form)
    one_of("--task", task, study.TASKS)
    how = {"weight": options.fold_weight(weight), "level": level, "prior": prior}
    tasks = study.task_tests(rope=rope, **how)  # type: ignore[arg-type]  # a dictionary of both kinds
    simulation = []
    if replicates:
        with progress("data sets", quiet=quiet) as report:
            simulation = study.simulate_credibility(
                replicates, n=n, level=level, rng=seed, report=report
            )
    choices = [
        "bayes",
        f"weight:{weight}",
        f"level:{level:g}",
        f"prior:{prior:g}",
        *([f"rope:{rope:g}"] if rope else []),
        "exact",
        *([f"n:{n}", f"replicates:{replicates}", f"seed:{seed}"] if replicates else []),
    ]
    published = load("bayes_test")["simulation"]["published"]
    document = bayes_study_document(tasks, simulation, published, choices=choices)
    drawn = None
    if figure:
        shown = next(found for found in tasks if found.task == task)
        folds = dict(zip((shown.a, shown.b), study.published_folds(task), strict=True))
        scores = score_posteriors(folds, prior=prior)
        drawn = (figure, density_figure(scores, title=shown.name))
    emit(document, form, html=html, figure=drawn, quiet=quiet)
