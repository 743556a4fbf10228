"""``probative compare``."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from probative.cli import options
from probative.cli.options import tell_verdicts
from probative.cli.output import progress, reading_progress
from probative.cli.parameters import Argument, Option
from probative.errors import InputError
from probative.options import CompareOptions

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


def compare(
    files: Annotated[
        list[str] | None,
        Argument(
            metavar="GOLD [A B...]",
            help="The answer, the baseline and one or more challengers (FILE or NAME=FILE); or one "
            "file that holds them in columns; or logs of evaluations, or (--counts) files of "
            "counts, and no answer. - is standard input.",
        ),
    ] = None,
    *,
    given: Annotated[
        CompareOptions,
        options.choose(
            *(
                "metric",
                "average",
                "by",
                "rope",
                "all_pairs",
                "paired_runs",
                "train",
                "beta",
                "prior",
                "level",
                "rng",
            ),
            *options.READING,
            *options.TABLES,
            "run_column",
            "group",
            run_column=options.RUN_COLUMN,
            group=options.GROUP,
            second_gold=options.SECOND_GOLD,
            average=Option(metavar="HOW", help="micro or macro."),
            all_pairs=Option(
                "--all-pairs", help="Compare every pair, not only each with the baseline."
            ),
            paired_runs=options.PAIRED_RUNS,
            train=Option(
                "--train",
                metavar="FILE",
                help="Training data of the systems: tells what they have seen apart, in --buckets.",
            ),
        ),
    ],
    probabilities: Annotated[
        bool,
        Option(
            "--probabilities",
            help="The outputs of two systems are probabilities (or any scores) of the positive "
            "class: their curves are compared.",
        ),
    ] = False,
    names: options.Names = None,
    gold: Annotated[str | None, Option("--gold", metavar="FILE", help="The same as GOLD.")] = None,
    baseline: Annotated[str | None, Option("--a", metavar="FILE", help="The same as A.")] = None,
    challenger: Annotated[str | None, Option("--b", metavar="FILE", help="The same as B.")] = None,
    runs: options.Runs = None,
    counts: Annotated[
        bool,
        Option(
            "--counts",
            help="The files hold tp, fp, fn [, tn], one row per unit; columns model and run tell "
            "systems and runs apart.",
        ),
    ] = False,
    dataset: Annotated[
        tuple[tuple[str, ...], ...],
        Option(
            "--dataset",
            metavar="NAME GOLD A B",
            words=4,
            help="A data set: its name, the gold file and the outputs of two systems, or "
            "NAME=FILE for a table with all of them; once for each.",
        ),
    ] = (),
    datasets: Annotated[
        Path | None,
        Option(
            "--datasets", metavar="FILE", help="Several data sets, listed in TOML: [datasets.NAME]."
        ),
    ] = None,
    by_label: Annotated[bool, Option("--by-label", help="Print scores by label, too.")] = False,
    buckets: Annotated[
        bool,
        Option(
            "--buckets",
            help="Score short and long items, rare and frequent labels apart, as the page does.",
        ),
    ] = False,
    digits: Annotated[
        int | None,
        Option(metavar="N", parser=options.decimals, help="Decimals of points in tables."),
    ] = None,
    compact: Annotated[
        bool, Option("--compact", help="Print one table with one row per system.")
    ] = False,
    fail_if_worse: options.FailIfWorse = False,
    require_not_worse: options.RequireNotWorse = False,
    require_better: options.RequireBetter = False,
    margin: options.Margin = None,
    confidence: options.Confidence = None,
    ledger: Annotated[
        Path | None,
        Option(
            metavar="FILE",
            help="Write each use of this test set by a gate into a file, and share the doubt out "
            "among them: the confidence then holds for all of them together.",
        ),
    ] = None,
    candidates: Annotated[
        str | None,
        Option(
            metavar="HOW",
            help="With --ledger: adaptive, if a candidate may depend on the verdicts before it; "
            "independent, if it depends on nothing that was seen of this test set. By default "
            "adaptive.",
        ),
    ] = None,
    hide_scores: Annotated[
        bool,
        Option("--hide-scores", help="Show the verdict of the gate, and nothing else."),
    ] = False,
    out: options.RandomDrawn,
) -> int:
    """Is B really better than A? Scores, differences, exact tests, posteriors and a verdict.

    Example: probative compare gold.conll old.conll new.conll --html report.html

    Several runs: probative compare gold.conll --runs A='a/*.conll' --runs B='b/*.conll'

    Several data sets: probative compare --dataset news gold1 a1 b1 --dataset tweets gold2 a2 b2
    """
    from probative.cli.inputs import inputs_of, words_by_option
    from probative.jobs.compare import compare as find_comparison
    from probative.jobs.gate import gate as judge
    from probative.reporting.compare_figures import comparison_figure
    from probative.reporting.compare_report import compare_document
    from probative.reporting.forests import group_figure

    if compact and given.all_pairs:
        raise InputError("--compact: tells differences from the baseline, not --all-pairs")
    gates = {
        "fail-if-worse": fail_if_worse,
        "require-not-worse": require_not_worse,
        "require-better": require_better,
    }
    about_ledger = {"ledger": ledger, "candidates": candidates, "hide_scores": hide_scores or None}
    gate = options.check_gate_options(
        gates, {"margin": margin, "confidence": confidence, **about_ledger}
    )
    if hide_scores:
        showing = {
            "--by-label": by_label,
            "--buckets": buckets,
            "--group": given.group,
            "--train": given.train,
            "--digits": digits is not None,
            "--compact": compact,
            "--figure": out.figure,
        }
        for name, value in showing.items():
            if value:
                raise InputError(f"{name}: shows scores; expected it left out with --hide-scores")
    words = words_by_option({"gold": gold, "a": baseline, "b": challenger}, files)
    if dataset or datasets is not None:
        beside = {
            "FILE": words,
            "--runs": runs,
            "--counts": counts,
            "--by-label": by_label,
            "--buckets": buckets,
            "--digits": digits is not None,
            "--compact": compact,
            "--probabilities": probabilities,
            "--ledger": ledger,
            "--hide-scores": hide_scores,
        }
        for name, value in beside.items():
            if value:
                raise InputError(f"{name}: cannot be combined with data sets; expected these alone")
        return compare_several(dataset, datasets, names, given, gate, out)
    if counts and ledger:
        raise InputError("--ledger: counts tell no test set; expected the answer and outputs")
    inputs, called, remarks = inputs_of(words, runs, names, counts=counts)
    if probabilities:
        from probative.cli.probabilities import print_curve_comparison

        refused = {"--counts": counts, "--by-label": by_label, "--buckets": buckets}
        refused |= {"--compact": compact, "--digits": digits is not None}
        refused |= {"--ledger": ledger is not None, "--hide-scores": hide_scores}
        return print_curve_comparison(inputs, called, given, out, remarks, refused, gate)
    # only the page shows examples and draws the tests
    page = out.html is not None and not hide_scores
    with reading_progress("comparing", quiet=out.quiet) as report:
        comparisons = find_comparison(
            *inputs,
            names=called,
            examples=page,
            figures=page,
            buckets=buckets or page,
            fingerprints=ledger is not None,
            report=report,
            **vars(given),
        )
    if counts:
        comparisons = replace(comparisons, notes=(*remarks, *comparisons.notes))
        remarks = []
    if hide_scores:
        from probative.reporting.ledger_report import verdict_document

        verdicts = judge(comparisons, **(gate or {}))
        out.emit(verdict_document(verdicts, comparisons.signature))
        return options.tell_verdicts(verdicts)
    out.remark(*remarks, *comparisons.notes)
    if (buckets or given.train is not None) and not comparisons.buckets:
        out.remark("no buckets: neither lengths nor labels part these items into groups")
    verdicts = judge(comparisons, **gate) if gate else ()
    document = compare_document(
        comparisons,
        by_label=by_label,
        buckets=buckets or given.train is not None,
        gates=verdicts,
        digits=digits,
        compact=compact,
    )
    draw = comparison_figure if comparisons.groups is None else group_figure
    out.emit(document, lambda: draw(comparisons))
    return options.tell_verdicts(verdicts)


# --- ``probative compare --dataset``: several data sets in one call

# options that do not apply to several data sets
_ELSEWHERE = (
    *("average", "power", "all_pairs", "paired_runs", "train", "group", "run_column"),
    "second_gold",
)


def compare_several(
    named: Sequence[Sequence[str]],
    manifest: Path | None,
    names: Sequence[str] | None,
    given: CompareOptions,
    gate: Mapping[str, Any] | None,
    out: Any,
) -> int:
    """Compare two systems on several data sets, and print the result."""
    from probative.jobs.datasets import compare_datasets
    from probative.jobs.gate import gate as judge
    from probative.reporting.datasets_report import datasets_document, datasets_figure

    datasets, called = _datasets(named, manifest, names)
    chosen = {name: value for name, value in vars(given).items() if name not in _ELSEWHERE}
    usual = type(given)()
    for name in _ELSEWHERE:
        if getattr(given, name) != getattr(usual, name):
            flag = name.replace("_", "-")
            raise InputError(f"--{flag}: means nothing for several data sets; expected it left out")
    metric = chosen.pop("metric")
    if isinstance(metric, (tuple, list)):
        if len(metric) > 1:
            raise InputError("--metric: several; expected one metric for several data sets")
        metric = metric[0] if metric else None
    with progress("comparing", quiet=out.quiet) as report:
        result = compare_datasets(datasets, names=called, metric=metric, report=report, **chosen)
    out.remark(*result.notes)
    verdicts = judge(result, **gate) if gate else ()
    out.emit(datasets_document(result, gates=verdicts), lambda: datasets_figure(result))
    return tell_verdicts(verdicts)


def _datasets(
    named: Sequence[Sequence[str]], manifest: Path | None, names: Sequence[str] | None
) -> tuple[dict[str, Any], Sequence[str] | None]:
    """Return the data sets by name, those of the manifest first."""
    from probative.reading.runs import read_manifest

    datasets: dict[str, Any] = {}
    called = names
    if manifest is not None:
        own, datasets = read_manifest(manifest)
        called = names or own
    for name, *files in named:
        if name in datasets:
            raise InputError(f"--dataset: {name!r} for the second time; expected different names")
        one = len(set(files)) == 1  # a table that holds both systems
        datasets[name] = {"gold": files[0]} if one else tuple(files)
    return datasets, called
