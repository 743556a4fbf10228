"""``probative interval``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from probative.cli import options
from probative.cli.output import check_format, emit
from probative.cli.parameters import Option

__all__ = ["interval"]


def interval(
    tp: Annotated[
        float | None, Option(metavar="N", parser=options.number, help="True positives.")
    ] = None,
    fp: Annotated[
        float | None, Option(metavar="N", parser=options.number, help="False positives.")
    ] = None,
    fn: Annotated[
        float | None, Option(metavar="N", parser=options.number, help="False negatives.")
    ] = None,
    tn: Annotated[
        float | None,
        Option(metavar="N", parser=options.number, help="True negatives, if any."),
    ] = None,
    counts_file: Annotated[
        Path | None,
        Option(
            "--counts",
            metavar="FILE",
            help="Many tables from a CSV, TSV or JSON file with tp, fp, fn [, tn]; - for stdin.",
        ),
    ] = None,
    metric: options.Metric = None,
    method: Annotated[
        str | None,
        Option(
            metavar="NAME",
            help="wilson-indirect, wilson-direct, wilson, clopper-pearson, jeffreys, bayes, logit, "
            "wald, or all. By default the recommended one of each metric.",
        ),
    ] = None,
    level: options.Level = 0.95,
    beta: options.Beta = 1.0,
    prior: options.Prior = 1.0,
    form: options.Format = "text",
    html: options.Html = None,
    quiet: options.Quiet = False,
    seed: options.Seed = None,  # noqa: ARG001  # accepted everywhere; nothing is random here
) -> None:
    """How sure am I about this score? Precision, recall, F1 with intervals, from counts.

    Example: probative interval --tp 77 --fp 44 --fn 10
    """
    from probative.counts import Counts
    from probative.errors import InputError
    from probative.inference.intervals import interval as find_interval
    from probative.inference.intervals import methods_for
    from probative.reporting.interval_report import intervals_document

    check_format(form)
    given = {"tp": tp, "fp": fp, "fn": fn, "tn": tn}
    if counts_file is not None:
        named = [f"--{name}" for name, value in given.items() if value is not None]
        if named:
            raise InputError(f"--counts: cannot be combined with {', '.join(named)}")
        from probative.reading.counts_files import read_counts

        counts = read_counts(counts_file)
    else:
        missing = [name for name in ("tp", "fp", "fn") if given[name] is None]
        if missing:
            raise InputError(
                f"--{missing[0]}: missing; expected --tp, --fp and --fn, or --counts FILE"
            )
        counts = Counts(**given)

    names = options.words(metric, ("precision", "recall", "f1"))
    found = [
        find_interval(counts, name, chosen, level=level, beta=beta, prior=prior)
        for name in names
        for chosen in (methods_for(name, beta) if method == "all" else (method,))
    ]
    weighed = any(result.method in ("bayes", "logit") for result in found)
    if prior != 1 and not weighed:
        raise InputError(
            "--prior: means nothing to these methods; expected --method bayes or logit"
        )
    choices = [
        ",".join(names),
        ",".join(dict.fromkeys(result.method for result in found)),
        f"level:{level:g}",
        *([f"beta:{beta:g}"] if "fbeta" in names else []),
        *([f"prior:{prior:g}"] if weighed else []),
    ]
    emit(intervals_document(counts, found, choices=choices), form, html=html, quiet=quiet)
