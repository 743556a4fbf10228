"""``probative compare``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from probative.cli import options
from probative.cli.output import check_format, emit, remark
from probative.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["compare"]


def compare(
    files: Annotated[
        list[str],
        typer.Argument(
            metavar="GOLD [A B...]",
            help="The answer, the baseline and one or more challengers; or one file that holds "
            "them in columns. - is standard input.",
            show_default=False,
        ),
    ],
    names: Annotated[
        str | None, typer.Option(metavar="A,B", help="What to call the systems.")
    ] = None,
    metric: options.Metric = None,
    average: Annotated[str, typer.Option(metavar="HOW", help="micro or macro.")] = "micro",
    by: options.By = None,
    rope: Annotated[
        float,
        typer.Option(
            metavar="D",
            parser=options.number,
            help="Half the width of the region of practical equivalence, a fraction of 1.",
        ),
    ] = 0.0,
    all_pairs: Annotated[
        bool, typer.Option("--all-pairs", help="Every pair, not only with the baseline.")
    ] = False,
    by_label: Annotated[
        bool, typer.Option("--by-label", help="Print scores by label, too.")
    ] = False,
    beta: options.Beta = 1.0,
    prior: options.Prior = 1.0,
    level: options.Level = 0.95,
    fail_if_worse: Annotated[
        bool,
        typer.Option("--fail-if-worse", help="Exit 1 if P(B - A < -margin) >= confidence."),
    ] = False,
    require_not_worse: Annotated[
        bool,
        typer.Option("--require-not-worse", help="Exit 1 unless P(B - A > -margin) >= confidence."),
    ] = False,
    require_better: Annotated[
        bool,
        typer.Option("--require-better", help="Exit 1 unless P(B - A > margin) >= confidence."),
    ] = False,
    margin: Annotated[
        float | None,
        typer.Option(
            metavar="D", parser=options.number, help="Of the gate (0); 0.01 is one point."
        ),
    ] = None,
    confidence: Annotated[
        float | None, typer.Option(metavar="P", parser=options.number, help="Of the gate (0.95).")
    ] = None,
    task: options.Task = None,
    input_format: options.InputFormat = None,
    encoding: options.Encoding = None,
    tag_column: options.TagColumn = None,
    gold_column: options.GoldColumn = None,
    columns: options.Columns = None,
    unit_column: options.UnitColumn = None,
    comments: options.Comments = False,
    align: options.Align = "tokens",
    scheme: options.Scheme = None,
    repair: options.Repair = "conlleval",
    ignore_type: options.IgnoreType = False,
    only: options.Only = None,
    positive: options.Positive = None,
    labels: options.AveragedLabels = None,
    train_words: options.TrainWords = None,
    figure: options.Figure = None,
    form: options.Format = "text",
    html: options.Html = None,
    quiet: options.Quiet = False,
    seed: options.Seed = 0,
) -> int:
    """Is B really better than A? Scores, differences, exact tests, posteriors and a verdict.

    Example: probative compare gold.conll old.conll new.conll --html report.html
    """
    from probative.comparison import compare as find_comparison
    from probative.gates import judge_gates
    from probative.reporting.compare_report import compare_document

    check_format(form)
    gates = {
        "fail-if-worse": fail_if_worse,
        "require-not-worse": require_not_worse,
        "require-better": require_better,
    }
    gate = _asked([name for name, on in gates.items() if on], margin, confidence)
    gold, *systems = files
    kinds = options.words(only, ())
    found = find_comparison(
        gold,
        *systems,
        names=None if names is None else options.words([names], ()),
        metric=options.words(metric, ()) or None,
        average=average,
        by=by,
        level=level,
        rope=rope,
        beta=beta,
        prior=prior,
        all_pairs=all_pairs,
        rng=seed,
        examples=html is not None,
        figures=html is not None,  # the page alone draws the tests
        task=task,
        input_format=input_format,
        encoding=encoding,
        tag_column=tag_column,
        gold_column=gold_column,
        columns=options.words([columns] if columns else None, ()),
        unit_column=unit_column,
        comments=comments,
        align_by=align,
        scheme=scheme,
        repair=repair,
        ignore_type=ignore_type,
        only=kinds,
        positive=positive,
        labels=options.averaged_labels(labels),
        train_words=train_words,
    )
    for note in found.notes:
        remark(note, quiet=quiet)
    choices = [
        *([repair] if found.scheme else []),
        *(["ignore-type"] if ignore_type else []),
        *([f"only:{','.join(kinds)}"] if kinds else []),
        *([f"positive:{positive}"] if positive else []),
        *([f"labels:{','.join(options.words(labels, ()))}"] if labels else []),
        *(["align:position"] if align == "position" else []),
        *([f"beta:{beta:g}"] if beta != 1 else []),
        f"prior:{prior:g}",
    ]
    drawn = None
    if figure:
        from probative.reporting.compare_figures import comparison_figure

        drawn = (figure, comparison_figure(found))
    verdicts = judge_gates(found.comparisons, **gate) if gate else ()
    document = compare_document(found, choices=choices, by_label=by_label, gates=verdicts)
    emit(document, form, html=html, figure=drawn, quiet=quiet)
    for line in verdicts:
        remark(f"--{line}")
    return 0 if all(verdict.passed for verdict in verdicts) else 1


def _asked(
    gates: Sequence[str], margin: float | None, confidence: float | None
) -> dict[str, Any] | None:
    """The gate that was asked for and its numbers, checked before anything is computed."""
    from probative.gates import GATES, check_gate

    if len(gates) > 1:
        raise InputError(f"--{gates[1]}: cannot be combined with --{gates[0]}; expected one gate")
    numbers = {"margin": margin, "confidence": confidence}
    given = {name: value for name, value in numbers.items() if value is not None}
    if not gates:
        for name in given:
            listed = ", ".join(f"--{gate}" for gate in GATES)
            raise InputError(f"--{name}: belongs to a gate; expected one of {listed}")
        return None
    check_gate(gates[0], **given)
    return {"gate": gates[0], **given}
