"""``probative study bayes``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from probative.cli import options
from probative.cli.output import progress
from probative.cli.parameters import Option
from probative.studies.options import BayesStudyOptions

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["bayes"]


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
    from probative.inference.effective import score_posteriors
    from probative.reporting.bayes_report import bayes_study_document
    from probative.reporting.posterior_figures import density_figure
    from probative.studies import bayes as study

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
