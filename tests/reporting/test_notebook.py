"""Results in notebooks: tables, frames, axes."""

from __future__ import annotations

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy.integrate import trapezoid

import probative as pv
from probative.errors import InputError
from reporting.structure import html_outline

GOLD = [["B-PER", "O", "B-LOC"]] * 20
OLD = [["B-PER", "O", "O"]] * 12 + GOLD[:8]
NEW = [["B-PER", "O", "B-ORG"]] * 4 + GOLD[:16]


@pytest.fixture(scope="module")
def compared():
    return pv.compare(GOLD, OLD, NEW, metric="recall", names=["old", "new"], rope=0.01)


@pytest.fixture(scope="module")
def scored():
    return pv.score(GOLD, OLD, NEW, names=["old", "new"])


def results(compared, scored):
    paired = pv.PairedCounts([3, 2, 8, 1, 40, 6, 7, 300])
    return [
        compared,
        compared.comparisons[0],
        scored,
        scored[0],
        pv.interval(pv.Counts(77, 44, 10)),
        pv.interval(pv.Counts([77, 3], [44, 3], [10, 3])),
        pv.difference(paired),
        pv.randomization_test(paired),
        pv.plan(paired),
    ]


def test_everything_shows_itself_as_a_table(compared, scored):
    for result in results(compared, scored):
        events, text = html_outline(result._repr_html_())
        tags = [event[0] for event in events if isinstance(event, tuple)]
        assert "table" in tags, result
        assert text.strip()


def test_a_comparison_shows_scores_differences_and_verdict(compared):
    events, text = html_outline(compared._repr_html_())
    assert sum(event == "/table" for event in events) == 1
    assert compared.verdicts[0] in text
    assert "difference" in text


@pytest.mark.parametrize(
    ("backend", "kind"), [("pandas", pd.DataFrame), ("polars", pl.DataFrame), ("pyarrow", pa.Table)]
)
def test_frames(compared, scored, backend, kind):
    for result in results(compared, scored):
        frame = result.to_frame(backend)
        assert isinstance(frame, kind)
        assert len(frame) >= 1
    frame = compared.to_frame(backend)
    values = list(frame["difference"])
    assert float(str(values[0])) == compared.comparisons[0].difference
    rows = scored.to_frame(backend)
    assert len(rows) == len(scored.records())


def test_frames_default_to_pandas(scored):
    frame = scored.to_frame()
    assert isinstance(frame, pd.DataFrame)
    assert list(frame["system"].unique()) == ["old", "new"]
    recall = frame.query("system == 'old' and label == '' and metric == 'recall'")
    assert recall["estimate"].item() == scored[0]["recall"].estimate
    with pytest.raises(InputError, match="backend: unknown 'spark'; expected one of pandas"):
        scored.to_frame("spark")


def test_plots_return_axes(compared, scored):
    from matplotlib.axes import Axes

    both = compared.plot()
    assert len(both) == 2
    assert all(isinstance(axis, Axes) for axis in both)
    assert [t.get_text() for t in both[0].get_yticklabels()] == ["old", "new"]
    assert [t.get_text() for t in both[1].get_yticklabels()] == ["new − old"]
    posterior = compared.comparisons[0].plot()
    assert isinstance(posterior, Axes)
    assert any("P(new better)" in text.get_text() for text in posterior.texts)
    (line,) = [line for line in posterior.lines if len(line.get_xdata()) > 10]
    x, y = line.get_data()
    assert trapezoid(y, x) / 100 == pytest.approx(1, abs=0.01)
    assert len(scored.plot()) == 3


def test_plots_survive_formulas_and_foreign_scripts():
    names = [r"$\frac{x$", "名前" * 40]
    found = pv.compare(GOLD, OLD, NEW, metric="recall", names=names)
    for axis in (*found.plot(), found.comparisons[0].plot()):
        from probative.reporting.pictures import figure_bytes

        assert figure_bytes(axis.figure, "png").startswith(b"\x89PNG")


def test_hostile_words_in_a_notebook():
    found = pv.compare(GOLD, OLD, NEW, metric="recall", names=["<script>", "</table>\u202e"])
    plain = pv.compare(GOLD, OLD, NEW, metric="recall", names=["a", "b"])
    for one, other in ((found, plain), (found.comparisons[0], plain.comparisons[0])):
        assert html_outline(one._repr_html_())[0] == html_outline(other._repr_html_())[0]
