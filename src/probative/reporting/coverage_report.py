"""The study of operating characteristics as a document, and its figures."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from probative.reporting.document import Document, Table, number, payload
from probative.reporting.figures import COLOURS, new_figure

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    from probative.results import Result

__all__ = ["coverage_document", "coverage_figure", "heat_map_figure", "length_figure"]

_QUANTITIES = {
    "coverage": "Coverage probability",
    "length": "Expected length",
    "overshoot": "Probability of overshoot",
    "degeneracy": "Probability of degeneracy",
}


def coverage_document(
    study: Sequence[Any], published: Mapping[str, Any] | None, *, signature: str
) -> Document:
    """Show the study, one table per quantity, beside the published figures where there are any."""
    records = [_record(result) for result in study]
    notes: tuple[str, ...] = ()
    if published:
        largest = max(
            abs(record[quantity] - _published(published, record, quantity))
            for record in records
            for quantity in _QUANTITIES
        )
        note = (
            "Computed by summation over all outcomes, not simulated. 'pub.' is the figure of Lam's "
            "tables 3 to 6, estimated from one million replicates and rounded to three decimals; "
            f"'diff' is ours minus published. The largest difference is {largest:.4f}."
        )
        notes = (note,)
    tables = tuple(
        _table(records, quantity, title, published) for quantity, title in _QUANTITIES.items()
    )
    return Document(
        title="Exact operating characteristics of intervals",
        payload=payload("study coverage", signature, conditions=records),
        tables=tables,
        records=tuple(records),
        notes=notes,
    )


def _record(result: Result) -> dict[str, Any]:
    kept = ("scenario", "n", "method", *_QUANTITIES)
    content = result.to_dict()
    return {key: content[key] for key in kept}


def _published(published: Mapping[str, Any], record: Mapping[str, Any], quantity: str) -> float:
    by_method = published["tables"][quantity][record["scenario"]]
    if record["method"] not in by_method:
        return 0.0  # overshoot and degeneracy: only Wald's were above 0
    return float(by_method[record["method"]][published["n"].index(record["n"])])


def _table(
    records: Sequence[dict[str, Any]],
    quantity: str,
    title: str,
    published: Mapping[str, Any] | None,
) -> Table:
    methods = list(dict.fromkeys(record["method"] for record in records))
    heads = [(method, "pub.", "diff") if published else (method,) for method in methods]
    lines: dict[tuple[str, int], list[str]] = {}
    for record in records:
        cells = lines.setdefault((record["scenario"], record["n"]), [])
        cells.append(number(record[quantity], 4))
        if published:
            reference = _published(published, record, quantity)
            cells += [number(reference, 3), number(record[quantity] - reference, 4)]
    return Table(
        columns=("scenario", "n", *(head for group in heads for head in group)),
        rows=tuple((name, str(n), *cells) for (name, n), cells in lines.items()),
        title=title,
        text_columns=1,
    )


def coverage_figure(study: Sequence[Any]) -> Figure:
    """Coverage against the number of items, one panel per scenario, one line per method."""
    from matplotlib.ticker import NullLocator

    scenarios = list(dict.fromkeys(result.scenario for result in study))
    methods = list(dict.fromkeys(result.method for result in study))
    figure, axes = new_figure(len(scenarios), sharey=True, squeeze=False, width=3.6)
    for axis, scenario in zip(axes[0], scenarios, strict=True):
        axis.axhline(study[0].level, color="0.4", linewidth=1, linestyle=(0, (4, 3)))
        for colour, marker, method in zip(COLOURS, "osD^vPX", methods, strict=False):
            points = [r for r in study if (r.scenario, r.method) == (scenario, method)]
            axis.plot(
                [r.n for r in points],
                [r.coverage for r in points],
                color=colour,
                marker=marker,
                markersize=4.5,
                linewidth=1.4,
                label=method,
            )
        axis.set_xscale("log")
        axis.set_xticks(sorted({r.n for r in study}), minor=False)
        axis.xaxis.set_major_formatter("{x:g}")
        axis.xaxis.set_minor_locator(NullLocator())
        axis.set_title(f"scenario {scenario}", fontsize=10)
        axis.set_xlabel("items n")
    axes[0][0].set_ylabel("coverage probability")
    _add_legend(figure, axes[0][0])
    return figure


def _add_legend(figure: Figure, axis: Axes) -> None:
    """One legend for all panels, below them."""
    handles, labels = axis.get_legend_handles_labels()
    figure.legend(
        handles, labels, loc="outside lower center", ncols=len(labels), frameon=False, fontsize=9
    )


def length_figure(
    curves: Mapping[int, Mapping[str, tuple[NDArray[Any], NDArray[Any]]]],
) -> Figure:
    """Length of the intervals against the sample F1, a panel for each nu."""
    figure, axes = new_figure(len(curves), squeeze=False, width=3.0, height=3.0)
    for axis, (nu, by_method) in zip(axes[0], curves.items(), strict=True):
        for colour, style, (method, (scores, lengths)) in zip(
            COLOURS, ("-", "--", "-.", ":"), by_method.items(), strict=False
        ):
            axis.plot(scores, lengths, color=colour, linestyle=style, linewidth=1.6, label=method)
        axis.set_title(f"ν = {nu}", fontsize=10)
        axis.set_xlabel("sample F1")
        axis.set_ylim(bottom=0)
    axes[0][0].set_ylabel("interval length")
    _add_legend(figure, axes[0][0])
    return figure


def heat_map_figure(
    scores: NDArray[Any], sizes: Sequence[int], maps: Mapping[str, NDArray[Any]], level: float
) -> Figure:
    """Coverage over the true F1 and nu, one panel per method; white is the nominal level."""
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import TwoSlopeNorm
    from matplotlib.ticker import NullLocator

    figure, axes = new_figure(len(maps), sharey=True, squeeze=False, width=3.2, height=3.4)
    norm = TwoSlopeNorm(level, vmin=max(0, 1 - 5 * (1 - level)), vmax=1)
    for axis, (method, coverage) in zip(axes[0], maps.items(), strict=True):
        axis.pcolormesh(
            scores,
            sizes,
            coverage,
            cmap="PuOr",
            norm=norm,
            shading="nearest",
            rasterized=True,
        )
        axis.set_yscale("log")
        axis.set_yticks([2, 5, 10, 20, 50, 100, 200, 500], minor=False)
        axis.yaxis.set_major_formatter("{x:g}")
        axis.yaxis.set_minor_locator(NullLocator())
        axis.set_title(method, fontsize=10)
        axis.set_xlabel("true F1")
        axis.grid(visible=False)
    axes[0][0].set_ylabel("items that count, ν")
    scale = ScalarMappable(norm, "PuOr")
    figure.colorbar(scale, ax=list(axes[0]), label="coverage", extend="min", spacing="proportional")
    return figure
