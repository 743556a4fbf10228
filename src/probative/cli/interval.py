"""``probative interval``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from probative.cli import options
from probative.cli.parameters import Option
from probative.options import IntervalOptions

__all__ = ["interval"]


def interval(
    *,
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
    given: Annotated[
        IntervalOptions,
        options.choose(
            *("metric", "method", "level", "beta", "prior"),
            method=Option(
                metavar="NAME",
                help="wilson-indirect, wilson-direct, wilson, clopper-pearson, guarded, jeffreys, "
                "mover, bayes, logit, wald, or all. By default the recommended one of each metric.",
            ),
        ),
    ],
    out: options.Output,
) -> None:
    """How sure am I about this score? Precision, recall, F1 with intervals, from counts.

    Example: probative interval --tp 77 --fp 44 --fn 10
    """
    from probative.counts import Counts
    from probative.errors import InputError
    from probative.inference.intervals import interval as find_interval
    from probative.inference.intervals import methods_for
    from probative.reporting.score_report import intervals_document

    cells: dict[str, Any] = {"tp": tp, "fp": fp, "fn": fn, "tn": tn}
    if counts_file is not None:
        named = [f"--{name}" for name, value in cells.items() if value is not None]
        if named:
            raise InputError(f"--counts: cannot be combined with {', '.join(named)}")
        from probative.reading.counts_files import read_counts

        counts = read_counts(counts_file)
    else:
        missing = [name for name in ("tp", "fp", "fn") if cells[name] is None]
        if missing:
            raise InputError(
                f"--{missing[0]}: missing; expected --tp, --fp and --fn, or --counts FILE"
            )
        counts = Counts(**cells)

    names = given.metric or ("precision", "recall", "f1")
    intervals = [
        find_interval(counts, name, method, level=given.level, beta=given.beta, prior=given.prior)
        for name in names
        for method in (methods_for(name, given.beta) if given.method == "all" else (given.method,))
    ]
    methods = dict.fromkeys(result.method for result in intervals)
    if given.prior != 1 and not methods.keys() & {"bayes", "logit"}:
        raise InputError("prior: means nothing to these methods; expected --method bayes or logit")
    signature = given.signature(",".join(names), ",".join(methods))
    out.emit(intervals_document(counts, intervals, signature=signature))
