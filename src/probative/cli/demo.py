"""``probative demo``: the main job on embedded data, no network, no files needed."""

from __future__ import annotations

from probative.cli import options
from probative.cli.output import check_format, emit

__all__ = ["demo"]


def demo(
    level: options.Level = 0.95,
    form: options.Format = "text",
    html: options.Html = None,
    quiet: options.Quiet = False,
    seed: options.Seed = None,  # noqa: ARG001  # accepted everywhere; nothing is random here
) -> None:
    """Show what this program does, on data that come with it."""
    from probative.counts import Counts
    from probative.data import load
    from probative.inference.intervals import interval, methods_for
    from probative.reporting.interval_report import intervals_document

    check_format(form)
    example = load("f1_intervals")["examples"][0]
    counts = Counts(**example["counts"])
    found = [interval(counts, metric, level=level) for metric in ("precision", "recall")]
    found += [interval(counts, "f1", method, level=level) for method in methods_for("f1")]
    document = intervals_document(counts, found, choices=["demo", f"level:{level:g}"])
    emit(document, form, html=html, quiet=quiet)
