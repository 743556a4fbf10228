"""``probative compare --dataset``: several data sets in one call."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from probative.cli.gate_options import tell_verdicts
from probative.cli.output import progress
from probative.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from probative.options import CompareOptions

__all__ = ["compare_several"]

# what a comparison on several data sets does not have
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
    """Compare two systems on several data sets, and print what they say together."""
    from probative.datasets import compare_datasets
    from probative.gates import gate as judge
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
    """The data sets by name, those of the manifest first."""
    from probative.reading.manifests import read_manifest

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
