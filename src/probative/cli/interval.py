"""``probative interval``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from probative.cli.options import number
from probative.cli.output import Output
from probative.options import INPUT, IntervalOptions, choice


def interval(
    *,
    tp: float | None = choice("N: True positives.", parser=number),
    fp: float | None = choice("N: False positives.", parser=number),
    fn: float | None = choice("N: False negatives.", parser=number),
    tn: float | None = choice("N: True negatives, if any.", parser=number),
    counts_file: Path | None = choice(
        "--counts FILE: Many tables from a CSV, TSV or JSON file with tp, fp, fn [, tn]; - for "
        "stdin.",
        heading=INPUT,
        parser="Path",
        excludes=("tp", "fp", "fn", "tn"),
    ),
    given: IntervalOptions,
    out: Output,
) -> None:
    """Compute precision, recall and F1 with intervals from counts.

    Example: probative interval --tp 77 --fp 44 --fn 10
    """
    from probative.counts import Counts
    from probative.errors import InputError
    from probative.inference.intervals import interval as find_interval
    from probative.inference.intervals import methods_for
    from probative.reporting.score_report import intervals_document

    cells: dict[str, Any] = {"tp": tp, "fp": fp, "fn": fn, "tn": tn}
    if counts_file is not None:
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
        find_interval(counts, name, method, **given.chosen("level", "beta", "prior"))
        for name in names
        for method in (methods_for(name, given.beta) if given.method == "all" else (given.method,))
    ]
    methods = dict.fromkeys(result.method for result in intervals)
    if given.prior != 1 and not methods.keys() & {"bayes", "logit"}:
        raise InputError("prior: has no effect on these methods; expected --method bayes or logit")
    signature = given.signature(",".join(names), ",".join(methods))
    posteriors = {}
    if out.html is not None and not counts.shape:  # the page shows them
        from probative.inference.posterior.single import posterior

        posteriors = {
            name: posterior(counts, name, **given.chosen("beta", "prior"))
            for name in names
            if "bayes" in methods_for(name, given.beta)
        }
    out.emit(intervals_document(counts, intervals, signature=signature, posteriors=posteriors))
