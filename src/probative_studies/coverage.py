"""Exact operating characteristics of the intervals, where the literature simulates.

Under multinomial sampling of n items, the number of items that count for F1 is
nu ~ Bin(n, p11 + p10 + p01), and given nu the true positives are tp ~ Bin(nu, F*). An interval
for F1 depends on (tp, nu) only, so its coverage, expected length and probabilities of overshoot
and degeneracy are sums over the pairs (tp, nu) that can occur. The other metrics but F-beta
have the same structure with other trials and shares; of those that are no ratios of linear forms
the sums go over all tables of four cells.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy import special

from probative._validation import Array, one_of, open_probability, positive
from probative.counts import Counts
from probative.data import load
from probative.errors import InputError
from probative.inference.intervals import interval, methods_for
from probative.metrics import TABLE, Composite
from probative.reporting.document import Document, Table, payload
from probative.reporting.pictures import COLOURS, new_figure
from probative.wording.numbers import number
from probative_studies.harness import Report, Row, quiet

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


METHODS = ("clopper-pearson", "wald", "wilson-direct", "wilson-indirect")
# What the cells of `Counts` are called as probabilities: answer and system say yes (1) or no (0).
_CELLS = {"tp": "p11", "fp": "p10", "fn": "p01", "tn": "p00"}
# F-beta is no function of one share.
METRICS = tuple(name for name, metric in TABLE.items() if not metric.depends_on_beta)
_RARE = 1e-8  # tables of four cells less probable than this are left out
_MOST_ITEMS = 100  # of which all tables of four cells are gone through
_NEGLIGIBLE = 1e-17  # weights below this cannot change a sum near 1
_PAIRS = 1 << 20  # pairs (tp, nu) held in memory at once
_QUANTITIES = {
    "coverage": "Coverage probability",
    "length": "Expected length",
    "overshoot": "Probability of overshoot",  # that a limit leaves [0, 1]
    "degeneracy": "Probability of degeneracy",  # that the interval has no width
}


def operating_characteristics(
    n: int,
    probabilities: Mapping[str, float],
    methods: Sequence[str] = METHODS,
    *,
    metric: str = "f1",
    level: float = 0.95,
    scenario: str = "",
) -> list[Row]:
    """Compute coverage, length, overshoot and degeneracy of intervals, where there are any."""
    one_of("metric", metric, METRICS)
    for method in methods:
        one_of("methods", method, methods_for(metric))
    level = open_probability("level", level)
    if not float(n).is_integer() or n < 1:
        raise InputError(f"n: {n!r} is not a whole number >= 1")
    cells = _check_cells(probabilities)
    found = _sums(int(n), cells, methods, metric, level)
    return [
        Row(
            scenario=scenario,
            n=int(n),
            method=method,
            **dict(zip(_QUANTITIES, events, strict=True)),
            metric=metric,
            level=level,
        )
        for method, events in zip(methods, found, strict=True)
    ]


def _sums(
    n: int, cells: Mapping[str, float], methods: Sequence[str], metric: str, level: float
) -> list[list[float]]:
    """Return coverage, length, overshoot and degeneracy of every method."""
    own = TABLE[metric]
    if isinstance(own, Composite):
        return _of_composite(n, cells, methods, own, level)
    kind = own.share()
    assert kind is not None  # noqa: S101  # all of METRICS are shares
    hits, misses = ([_CELLS[cell] for cell in part] for part in (kind.hits, kind.misses))
    chance = sum(cells[name] for name in (*hits, *misses))
    if chance == 0:
        where = ", ".join((*hits, *misses))
        raise InputError(f"probabilities: {metric} is undefined where {where} are 0")
    share = min(sum(cells[name] for name in hits) / chance, 1.0)
    true_score = kind.factor * share / (1 + (kind.factor - 1) * share)

    sums = np.zeros((len(methods), 4))
    total = 0.0
    for successes, trials, weight in _pairs(n, min(chance, 1.0), share):
        # whichever cells a share is made of
        own_cells = {cell: np.zeros_like(trials) for cell in _CELLS}
        own_cells[kind.hits[0]], own_cells[kind.misses[0]] = successes, trials - successes
        counts = Counts(**own_cells)
        for i, method in enumerate(methods):
            limits = interval(counts, metric, method, level=level)
            events = _events(limits.low, limits.high, true_score, 0, 1)
            sums[i] += [(weight * event).sum() for event in events]
        total += weight.sum()
    return [own.tolist() for own in sums / total]


def _of_composite(
    n: int, cells: Mapping[str, float], methods: Sequence[str], own: Composite, level: float
) -> list[list[float]]:
    """Sum over all tables of n items with a score, for a metric that depends on all four cells."""
    if n > _MOST_ITEMS:
        raise InputError(f"n: {n} items have too many tables; expected {_MOST_ITEMS} at most")
    chances = np.array([cells[name] for name in _CELLS.values()])
    true_score = float(own.value(*chances))
    if np.isnan(true_score):
        raise InputError(f"probabilities: {own.name} is undefined there")
    tables = all_tables(n)
    weight = np.where(np.isnan(own.value(*tables.T)), 0.0, chances_of(tables, chances))
    kept = weight > _RARE
    tables, weight = tables[kept], weight[kept] / weight[kept].sum()
    found = []
    for method in methods:
        limits = [_limits_of(own.name, method, level, *table) for table in tables.tolist()]
        low, high = np.array(limits).T
        events = _events(low, high, true_score, own.low, own.high)
        found.append([float(weight @ event) for event in events])
    return found


def chances_of(tables: Array, shares: Array) -> Array:
    """Return the probabilities of tables with equal totals, given the shares of their cells."""
    logs = special.xlogy(tables, shares) - special.gammaln(tables + 1)
    return np.asarray(np.exp(special.gammaln(tables[0].sum() + 1) + logs.sum(axis=1)))


def all_tables(n: int) -> Array:
    """Return all tables of four cells with n items."""
    tp, fp, fn = np.indices((n + 1,) * 3).reshape(3, -1)
    there = tp + fp + fn <= n
    rows = np.stack([tp, fp, fn, n - tp - fp - fn], axis=1)[there]
    return rows.astype(np.float64)


@lru_cache(maxsize=2**18)
def _limits_of(
    metric: str, method: str, level: float, tp: float, fp: float, fn: float, tn: float
) -> tuple[float, float]:
    """Return the limits of one table, which several scenarios share."""
    found = interval(Counts(tp, fp, fn, tn), metric, method, level=level)
    return float(found.low), float(found.high)


def coverage_study(
    scenarios: Mapping[str, Mapping[str, float]] | None = None,
    sizes: Sequence[int] | None = None,
    methods: Sequence[str] = METHODS,
    *,
    metric: str = "f1",
    level: float = 0.95,
    report: Report = quiet,
) -> list[Row]:
    """Compute the operating characteristics of all combinations; by default Lam's."""
    published = load("f1_intervals")
    named = (scenarios or published["scenarios"]).items()
    conditions = list(product(named, sizes or published["n"]))
    study: list[Row] = []
    for done, ((scenario, cells), n) in enumerate(conditions):
        report(done, len(conditions))
        how: dict[str, Any] = {"metric": metric, "level": level, "scenario": scenario}
        study += operating_characteristics(n, cells, methods, **how)
    return study


def coverage_given_trials(
    scores: Sequence[float] | Array, nu: int, method: str, *, level: float = 0.95
) -> Array:
    """Compute the coverage for F1 with `nu` items that count, at each true F1 of `scores`."""
    true = np.asarray(scores, dtype=np.float64)
    tp, weight = _binomial(np.full(len(true), float(nu)), true / (2 - true))
    tp = np.clip(tp, 0, nu)  # what lies outside has no weight
    limits = interval(Counts(tp, nu - tp, np.zeros_like(tp)), "f1", method, level=level)
    covered = (limits.low <= true[:, None]) & (true[:, None] <= limits.high)
    return np.asarray((weight * covered).sum(axis=1))


def coverage_map(
    methods: Sequence[str] = METHODS, *, level: float = 0.95
) -> tuple[Array, list[int], dict[str, Array]]:
    """Return true F1 values, numbers of items that count, and the coverage at each pair."""
    scores = np.linspace(0.01, 0.99, 197)
    sizes = np.unique(np.round(np.geomspace(2, 500, 60))).astype(int).tolist()
    maps = {
        method: np.array([coverage_given_trials(scores, nu, method, level=level) for nu in sizes])
        for method in methods
    }
    return scores, sizes, maps


def length_curves(
    sizes: Sequence[int] = (5, 10, 20, 50), *, level: float = 0.95
) -> dict[int, dict[str, tuple[Array, Array]]]:
    """Return the lengths of the two Wilson intervals against the sample F1, by nu."""
    methods = ("wilson-direct", "wilson-indirect")

    def lengths(nu: int, method: str) -> tuple[Array, Array]:
        tp = np.linspace(0, nu, 201)
        limits = interval(Counts(tp, nu - tp, np.zeros(201)), "f1", method, level=level)
        return np.asarray(limits.estimate), np.asarray(limits.high - limits.low)

    return {nu: {method: lengths(nu, method) for method in methods} for nu in sizes}


def _check_cells(probabilities: Mapping[str, float]) -> dict[str, float]:
    for name in probabilities:
        one_of("probabilities", name, _CELLS.values())
    cells = {
        name: positive(f"probabilities: {name}", probabilities.get(name, 0.0), zero=True)
        for name in _CELLS.values()
    }
    total = sum(cells.values())
    if abs(total - 1) > 1e-9:
        raise InputError(f"probabilities: they add up to {total:g}; expected 1")
    return cells


def _events(low: Any, high: Any, true_score: float, least: float, most: float) -> tuple[Any, ...]:
    """Return where limits cover, their length, where they overshoot, and where they are equal."""
    covered = (low <= true_score) & (true_score <= high)
    return covered, high - low, (low < least) | (high > most), low == high


def _pairs(n: int, chance: float, share: float) -> Iterator[tuple[Any, Any, Any]]:
    """Yield all pairs of successes and trials >= 1 that matter, with their weights, in pieces."""
    (trials,), (chances,) = _binomial(np.array([float(n)]), np.array([chance]))
    likely = (trials >= 1) & (chances > _NEGLIGIBLE)
    trials, chances = trials[likely], chances[likely]
    rows = max(1, int(_PAIRS / (2 * _reach(trials.max(), share) + 2)))
    for start in range(0, len(trials), rows):
        some = trials[start : start + rows]
        successes, weight = _binomial(some, np.full(len(some), share))
        weight *= chances[start : start + rows, None]
        heavy = weight > _NEGLIGIBLE
        yield successes[heavy], np.broadcast_to(some[:, None], heavy.shape)[heavy], weight[heavy]


def _binomial(trials: Array, chance: Array) -> tuple[Array, Array]:
    """Return, in a row for each binomial, the successes that matter and their weights."""
    # products of ratios of neighbours: unlike gamma functions they lose no digits
    rare = np.minimum(chance, 1 - chance)
    reach = _reach(trials, rare)
    first = np.floor(np.maximum(0, trials * rare - reach))
    events = first[:, None] + np.arange(int(2 * reach.max()) + 2)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios = (
            np.maximum(trials[:, None] - events, 0) / (events + 1) * (rare / (1 - rare))[:, None]
        )
        logs = np.cumsum(np.log(ratios), axis=1)
    logs = np.pad(logs[:, :-1], ((0, 0), (1, 0)))  # relative to the first event of the row
    weight = np.exp(logs - logs.max(axis=1, keepdims=True))
    weight /= weight.sum(axis=1, keepdims=True)
    return np.where(chance[:, None] > 0.5, trials[:, None] - events, events), weight


def _reach(trials: Any, chance: Any) -> Any:
    """Return how far from its mean a binomial has weight that is not negligible."""
    return 9 * np.sqrt(trials * chance * (1 - chance)) + 20


# --- The study of operating characteristics as a document, and its figures.


def coverage_document(
    study: Sequence[Any], published: Mapping[str, Any] | None, *, signature: str
) -> Document:
    """Show the study, one table per quantity, beside the published figures where there are any."""
    kept = ("scenario", "n", "method", *_QUANTITIES)
    records = [{key: getattr(result, key) for key in kept} for result in study]
    notes = []
    if published:
        largest = max(
            abs(record[quantity] - _published(published, record, quantity))
            for record in records
            for quantity in _QUANTITIES
        )
        notes.append(
            "Computed by summation over all outcomes, not simulated. 'pub.' is the figure of Lam's "
            "tables 3 to 6, estimated from one million replicates and rounded to three decimals; "
            f"'diff' is ours minus published. The largest difference is {largest:.4f}."
        )
    content = payload("study coverage", signature, conditions=records)
    tables = tuple(_table(records, name, published) for name in _QUANTITIES)
    title = "Exact operating characteristics of intervals"
    return Document(title, content, tables, tuple(records), notes=tuple(notes))


def _published(published: Mapping[str, Any], record: Mapping[str, Any], quantity: str) -> float:
    by_method = published["tables"][quantity][record["scenario"]]
    if record["method"] not in by_method:
        return 0.0  # overshoot and degeneracy: only Wald's were above 0
    return float(by_method[record["method"]][published["n"].index(record["n"])])


def _table(
    records: Sequence[dict[str, Any]], quantity: str, published: Mapping[str, Any] | None
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
    columns = ("scenario", "n", *(head for group in heads for head in group))
    rows = tuple((name, str(n), *cells) for (name, n), cells in lines.items())
    return Table(columns, rows, title=_QUANTITIES[quantity], text_columns=1)


def coverage_figure(study: Sequence[Any]) -> Figure:
    """Draw the coverage against the number of items, one panel per scenario."""
    from matplotlib.ticker import NullLocator

    scenarios = list(dict.fromkeys(result.scenario for result in study))
    methods = list(dict.fromkeys(result.method for result in study))
    figure, axes = new_figure(len(scenarios), sharey=True, squeeze=False, width=3.6)
    for axis, scenario in zip(axes[0], scenarios, strict=True):
        axis.axhline(study[0].level, color="0.4", linewidth=1, linestyle=(0, (4, 3)))
        for colour, marker, method in zip(COLOURS, "osD^vPX", methods, strict=False):
            points = [r for r in study if (r.scenario, r.method) == (scenario, method)]
            xs, ys = [r.n for r in points], [r.coverage for r in points]
            style = {"color": colour, "marker": marker, "markersize": 4.5, "linewidth": 1.4}
            axis.plot(xs, ys, label=method, **style)
        axis.set_xscale("log")
        axis.set_xticks(sorted({r.n for r in study}), minor=False)
        axis.xaxis.set_major_formatter("{x:g}")
        axis.xaxis.set_minor_locator(NullLocator())
        axis.set_title(f"scenario {scenario}", fontsize=10)
        axis.set_xlabel("items n")
    axes[0][0].set_ylabel("coverage probability")
    add_legend(figure, axes[0][0])
    return figure


def add_legend(figure: Figure, axis: Axes) -> None:
    """Add one legend for all panels, below them."""
    handles, labels = axis.get_legend_handles_labels()
    figure.legend(
        handles, labels, loc="outside lower center", ncols=len(labels), frameon=False, fontsize=9
    )


def length_figure(curves: Mapping[int, Mapping[str, tuple[NDArray[Any], NDArray[Any]]]]) -> Figure:
    """Draw the length of the intervals against the sample F1, a panel for each nu."""
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
    add_legend(figure, axes[0][0])
    return figure


def heat_map_figure(
    scores: NDArray[Any], sizes: Sequence[int], maps: Mapping[str, NDArray[Any]], level: float
) -> Figure:
    """Draw the coverage over the true F1 and nu; white is the nominal level."""
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import TwoSlopeNorm
    from matplotlib.ticker import NullLocator

    figure, axes = new_figure(len(maps), sharey=True, squeeze=False, width=3.2, height=3.4)
    norm = TwoSlopeNorm(level, vmin=max(0, 1 - 5 * (1 - level)), vmax=1)
    for axis, (method, coverage) in zip(axes[0], maps.items(), strict=True):
        axis.pcolormesh(
            scores, sizes, coverage, cmap="PuOr", norm=norm, shading="nearest", rasterized=True
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
