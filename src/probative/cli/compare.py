"""``probative compare``."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from probative.cli.options import (
    COUNTS_FILES,
    NAMES,
    RUNS,
    LedgerOptions,
    argument,
    decimals,
    judge,
    tell_verdicts,
)
from probative.cli.output import Drawn, progress, reading_progress
from probative.errors import InputError
from probative.options import DATASETS, INPUT, OUTPUT, CompareOptions, choice

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from probative.results import Comparisons

_file = partial(choice, heading=INPUT, rare=True)
_print = partial(choice, heading=OUTPUT)
# what has no scores to print in other ways
_NO_SCORES = (*DATASETS, "probabilities", "hide_scores")


def compare(
    files: list[str] = argument(
        "GOLD [A B...]",
        "Gold, the baseline and one or more challengers (FILE or NAME=FILE); or one file that "
        "holds them in columns; or logs of evaluations, or (--counts) files of counts, and no "
        "gold. - is standard input.",
        several=True,
        required=False,
    ),
    *,
    given: CompareOptions,
    probabilities: bool = _file(
        "The outputs of two systems are probabilities (or any scores) of the positive class: "
        "their curves are compared.",
        False,
        excludes=DATASETS,
    ),
    names: tuple[str, ...] | None = NAMES(None),
    gold: str | None = _file("FILE: The same as GOLD.", excludes=DATASETS),
    baseline: str | None = _file("--a FILE: The same as A.", excludes=DATASETS),
    challenger: str | None = _file("--b FILE: The same as B.", excludes=DATASETS),
    runs: tuple[str, ...] | None = RUNS(None),
    counts: bool = COUNTS_FILES(False),
    dataset: tuple[tuple[str, ...], ...] = _file(
        "NAME GOLD A B: A data set: its name, the gold file and the outputs of two systems, or "
        "NAME=FILE for a table with all of them; once for each.",
        (),
        words=4,
        excludes=("files",),
    ),
    datasets: Path | None = _file(
        "FILE: Several data sets, listed in TOML: [datasets.NAME].",
        parser="Path",
        excludes=("files",),
    ),
    by_label: bool = _print("Print scores by label, too.", False, excludes=_NO_SCORES),
    buckets: bool = _print(
        "Score short and long items, rare and frequent labels apart, as the page does.",
        False,
        rare=True,
        excludes=_NO_SCORES,
    ),
    digits: int | None = _print(
        "N: Decimals of points in tables.", rare=True, parser=decimals, excludes=_NO_SCORES
    ),
    compact: bool = _print(
        "Print one table with one row per system.",
        False,
        rare=True,
        excludes=(*_NO_SCORES, "all_pairs"),
    ),
    gates: LedgerOptions,
    out: Drawn,
) -> int:
    """Example: probative compare gold.conll old.conll new.conll --html report.html

    Several runs: probative compare gold.conll --runs A='a/*.conll' --runs B='b/*.conll'

    Several data sets: probative compare --dataset news gold1 a1 b1 --dataset tweets gold2 a2 b2
    """
    from probative.cli.inputs import inputs_of, offered_rules, words_by_option

    gate = gates.requested()
    if dataset or datasets is not None:
        return _compare_several(dataset, datasets, names, given, gate, out)
    words = words_by_option({"gold": gold, "a": baseline, "b": challenger}, files)
    inputs, called, remarks = inputs_of(words, runs, names, counts=counts)
    if probabilities:
        from probative.cli.score import choices_of_curves
        from probative.jobs.curve import compare_curves
        from probative.reporting.curve_report import comparison_document, curves_figure

        if len(inputs) not in (1, 3):
            raise InputError(f"--probabilities: compares two systems, not {len(inputs) - 1}")
        found = compare_curves(*inputs, names=called, **choices_of_curves(given))
        out.remark(*remarks, *found.notes)
        verdicts = judge(found, gate)
        document = comparison_document(found, verdicts)
        out.emit(document, lambda: curves_figure(found.curves))
        return tell_verdicts(verdicts)
    from probative.jobs.compare import compare as find_comparison

    hidden = gates.hide_scores
    page = out.html is not None and not hidden  # it alone shows examples and draws the tests
    with reading_progress("comparing", quiet=out.quiet) as report, _with_outputs(words):
        comparisons = find_comparison(
            *inputs,
            names=called,
            examples=page,
            figures=page,
            buckets=buckets or page,
            fingerprints=gates.ledger is not None,
            report=report,
            **vars(given),
        )
    if counts:
        from probative.results.scores import with_scores

        comparisons = with_scores(comparisons, notes=(*remarks, *comparisons.notes))
        remarks = []
    verdicts = judge(comparisons, gate)
    if hidden:
        from probative.reporting.ledger_report import verdict_document

        out.emit(verdict_document(verdicts, comparisons.signature))
        return tell_verdicts(verdicts)
    from probative.reporting.compare_report import compare_document

    out.remark(*remarks, *comparisons.notes, *offered_rules(comparisons.scores))
    if (buckets or given.train is not None) and not comparisons.buckets:
        out.remark("no buckets: neither lengths nor labels part these items into groups")
    document = compare_document(
        comparisons,
        by_label=by_label,
        buckets=buckets or given.train is not None,
        gates=verdicts,
        digits=digits,
        compact=compact,
    )
    out.emit(document, lambda: _draw(comparisons))
    return tell_verdicts(verdicts)


# errors about one file that holds no outputs beside gold
_LACKS_OUTPUTS = re.compile("gold and a predicted (column|one)$|^b: 1 system")


@contextmanager
def _with_outputs(words: Sequence[str]) -> Iterator[None]:
    """Say what to add if there is no second output."""
    try:
        yield
    except InputError as error:
        if len(words) > 2 or not _LACKS_OUTPUTS.search(error.message):
            raise
        found = "one output" if error.message.startswith("b: ") else "no outputs"
        raise InputError(f"{found}; give two outputs: probative compare GOLD A B") from error


def _draw(comparisons: Comparisons) -> Figure:
    from probative.reporting.compare_report import comparison_figure, group_figure

    return (comparison_figure if comparisons.groups is None else group_figure)(comparisons)


# --- ``probative compare --dataset``: several data sets in one call


def _compare_several(
    named: Sequence[Sequence[str]],
    manifest: Path | None,
    names: Sequence[str] | None,
    given: CompareOptions,
    gate: Mapping[str, Any] | None,
    out: Any,
) -> int:
    """Compare two systems on data sets, those of the manifest first, and print the result."""
    from probative.jobs.datasets import compare_datasets
    from probative.reading.runs import read_manifest
    from probative.reporting.compare_report import datasets_document, datasets_figure

    own: Sequence[str] | None = None
    datasets: dict[str, Any] = {}
    if manifest is not None:
        own, datasets = read_manifest(manifest)
    for name, *files in named:
        if name in datasets:
            raise InputError(f"--dataset: {name!r} for the second time; expected different names")
        one = len(set(files)) == 1  # a table that holds both systems
        datasets[name] = {"gold": files[0]} if one else tuple(files)
    elsewhere = {n for n, option in given.options().items() if {*DATASETS} & {*option.excludes}}
    chosen = {n: v for n, v in vars(given).items() if n not in {*elsewhere, "power"}}
    metric = chosen.pop("metric")
    if isinstance(metric, (tuple, list)):
        if len(metric) > 1:
            raise InputError("--metric: several; expected one metric for several data sets")
        metric = metric[0] if metric else None
    with progress("comparing", quiet=out.quiet) as report:
        result = compare_datasets(
            datasets, names=names or own, metric=metric, report=report, **chosen
        )
    out.remark(*result.notes)
    verdicts = judge(result, gate)
    out.emit(datasets_document(result, gates=verdicts), lambda: datasets_figure(result))
    return tell_verdicts(verdicts)
