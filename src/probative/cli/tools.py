"""Commands around a comparison: agreement, check, demo, interval, ledger, plan, split, sweep."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from probative.cli.options import NAMES, RUNS, argument, named_by_flags, number
from probative.cli.output import Drawn, Output
from probative.errors import InputError
from probative.options import (
    INPUT,
    OUTPUT,
    AgreementOptions,
    CheckOptions,
    DemoOptions,
    IntervalOptions,
    PlanOptions,
    SplitOptions,
    SweepOptions,
    choice,
)


def agreement(
    files: list[str] = argument(
        "A B [C...]",
        "The annotations (FILE or NAME=FILE); or one table, with --columns.",
        several=True,
    ),
    *,
    given: AgreementOptions,
    names: tuple[str, ...] | None = choice("A,B: The names of the annotators.", heading=INPUT),
    out: Output,
) -> None:
    """Example: probative agreement ann.conll bob.conll"""
    from probative.cli.inputs import named_systems
    from probative.jobs.agreement import agreement as find_agreement
    from probative.reporting.score_report import agreement_document

    paths, called, _ = named_systems(files, names, who="annotators")
    found = find_agreement(*paths, names=called, **vars(given))
    out.remark(*found.notes)
    out.emit(agreement_document(found))


def check(
    file: str = argument("FILE", "The file; - is standard input."),
    *,
    given: CheckOptions,
    out: Output,
) -> int:
    """Example: probative check gold.conll"""
    from probative.matching.check import check as find_problems
    from probative.reading.runs import named_file, taken_for_file
    from probative.reporting.score_report import check_document

    report = find_problems(named_file(file).path, **vars(given))
    by_flags = (named_by_flags(InputError(problem)).message for problem in report.problems)
    report = replace(report, problems=tuple(by_flags))
    out.remark(*filter(None, [taken_for_file(file)]), *report.notes, whole=True)
    signature = given.signature("check", report.input_format, report.task)
    out.emit(check_document(report, signature=signature))
    return 1 if report.problems else 0


def demo(
    *,
    given: DemoOptions,
    output: Path = choice(
        "--output -o DIR: Where to write files.", Path("probative-demo"), heading=OUTPUT
    ),
    force: bool = choice("Overwrite files that were edited.", False),
    out: Output,
) -> None:
    """Seven systems of a shared task are compared and judged, two models are compared by
    cross-validation, two word segmenters are scored; and a small set of files is written that you
    can edit.
    """
    from probative.files import check_target, make_folder, write_whole
    from probative.jobs.demo import SMALL_FILES, demonstrate, edited_file
    from probative.reporting.compare_report import demo_document
    from probative.reporting.render import as_html, is_page

    report = out.html or output / "report.html"
    make_folder(output)
    if not force:
        edited = edited_file(output)
        if edited is not None:
            raise InputError("was edited; --force overwrites it, -o DIR writes elsewhere", edited)
        if out.html is None and not is_page(check_target(report)):
            raise InputError("is no page of this program; --force overwrites it", report)
    shown = demonstrate(level=given.level)
    parts = (shown.comparison, shown.models, shown.tests, shown.segmentation)
    document, page = demo_document(*parts, signature=given.signature("demo"))
    for name, content in SMALL_FILES.items():
        write_whole(output / name, content)
    write_whole(report, as_html(page))
    replace(out, html=None).emit(document)  # the page is that of the comparison
    out.remark(
        f"The page of the comparison: {report.resolve()}\n"
        f"Files to play with: {', '.join(str(output / name) for name in SMALL_FILES)}\n"
        f"Edit them and run: probative compare {' '.join(str(output / n) for n in SMALL_FILES)}"
    )


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
    """Example: probative interval --tp 77 --fp 44 --fn 10"""
    from probative.counts import Counts
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
            expected = "--tp, --fp and --fn, or --counts FILE"
            raise InputError(f"--{missing[0]}: missing; expected {expected}")
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


def ledger(
    file: str = argument("FILE", "The ledger that `compare --ledger` wrote."),
    *,
    uses: bool = choice("List every use, too.", False),
    out: Output,
) -> None:
    """Example: probative ledger gates.jsonl"""
    from probative.jobs.ledger import read_ledger
    from probative.reporting.ledger_report import ledger_document

    out.emit(ledger_document(read_ledger(file), uses=uses))


def plan(
    files: list[str] = argument(
        "GOLD [A B]",
        "Gold, the baseline and the challenger of a pilot (FILE or NAME=FILE); or one file that "
        "holds them in columns.",
        several=True,
    ),
    *,
    given: PlanOptions,
    names: tuple[str, ...] | None = NAMES(None),
    runs: tuple[str, ...] | None = RUNS(None),
    out: Drawn,
) -> None:
    """Example: probative plan gold.conll old.conll new.conll --difference 0.01

    Several runs: probative plan gold.conll --runs A='a/*.conll' --runs B='b/*.conll'
    """
    from probative.cli.inputs import inputs_of
    from probative.jobs.plan import plan_from_files
    from probative.reporting.plan_report import plan_document, runs_plan_document, runs_plan_figure
    from probative.results import RunsPlan

    inputs, called, remarks = inputs_of(files, runs, names)
    result = plan_from_files(*inputs, names=called, **vars(given))
    out.remark(*remarks, *result.notes)
    if isinstance(result, RunsPlan):
        out.emit(runs_plan_document(result), lambda: runs_plan_figure(result))
        return
    if out.figure:
        raise InputError("--figure: only plans for several runs have a figure; expected --runs")
    out.emit(plan_document(result))


def split(
    corpus: str = argument("CORPUS"),
    output: Path = choice(
        "--output -o DIR: A new or an empty folder.", heading=OUTPUT, required=True
    ),
    *,
    given: SplitOptions,
    out: Output,
) -> None:
    """Train on each train file with any tool, predict its validation file, then run: probative
    bayes --folds DIR --preds-a 'a/*' --preds-b 'b/*'
    """
    from probative._validation import one_of
    from probative.crossval.corpus import REGULARIZED, read_corpus, write_folds
    from probative.reporting.bayes_report import split_document

    for word in given.regularize:
        one_of("--regularize", word, REGULARIZED)
    reading = given.chosen("encoding", "tag_column", "comments") | {"column": given.gold_column}
    data = read_corpus(corpus, **given.chosen("scheme", "task", "input_format"), **reading)
    if data.task == "labels" and given.regularize not in (SplitOptions.regularize, ("labels",)):
        raise InputError("--regularize: a corpus of labels has equal shares of labels alone")
    out.remark(*data.notes)
    how = given.chosen("m", "rng", "regularize", "keep_documents")
    manifest = write_folds(data, output, reading=reading, **how)
    signature = given.signature("split", data.task, f"seed:{manifest['seed']}")
    out.emit(split_document(manifest, str(output), signature=signature))


def sweep(
    gold: str = argument("GOLD", "Gold: segmented text, or a column of words."),
    probabilities: str = argument(
        "PROBABILITIES",
        "JSON lines: for each sentence a list with the probability of a boundary between every two "
        "characters. - is standard input.",
    ),
    *,
    given: SweepOptions,
    out: Drawn,
) -> None:
    """Example: probative sweep gold.txt probabilities.jsonl --steps 20 --figure sweep.png"""
    from probative.jobs.sweep import segmentation_sweep, segmented
    from probative.reading.source import refuse_repeats
    from probative.reporting.curve_report import sweep_document, sweep_figure

    refuse_repeats((gold, probabilities))
    answer = segmented(gold, "gold", **given.chosen("input_format", "encoding"))
    out.remark(*answer.notes)
    result = segmentation_sweep(answer, probabilities, **vars(given))
    out.emit(sweep_document(result), lambda: sweep_figure(result))
