"""Posterior densities of two models, as pictures."""

from __future__ import annotations

import pytest

import probative as pv
from probative.inference.crossval import score_posteriors
from probative.reporting.bayes_report import density_figure, difference_figure

FOLDS = [pv.Counts(90, 10, 9), pv.Counts(88, 12, 11)] * 3
SURE = [pv.Counts(9000, 10, 9), pv.Counts(8800, 12, 11)] * 3


@pytest.mark.parametrize("metrics", [("f1",), ("precision", "recall", "f1")])
@pytest.mark.parametrize("names", [("A", "B"), ("a name of average length", "another " * 6)])
def test_the_legend_is_whole_and_names_both_models(metrics, names):
    figure = density_figure(score_posteriors(dict(zip(names, (FOLDS, SURE), strict=True)), metrics))
    figure.draw_without_rendering()
    (legend,) = figure.legends
    said = [text.get_text() for text in legend.get_texts()]
    assert said[0] == names[0]
    assert said[1].startswith(names[1][:20])
    assert said[2:] == ["effective counts", "averaged counts"]
    box = legend.get_window_extent()
    assert box.x0 >= 0
    assert box.x1 <= figure.bbox.x1
    assert box.y0 >= 0


@pytest.mark.parametrize("rope", [0.0, 0.01])
def test_certainty_is_written_with_one_sign(rope):
    test = pv.bayes_test(FOLDS, SURE, "f1", rope=rope)
    (axis,) = difference_figure([test], models=("old", "new")).axes
    words = [text.get_text() for text in axis.texts]
    assert "P(new better) > 0.999" in words
    assert "P(old better) < 0.001" in words
    assert not any("= >" in word or "= <" in word for word in words)
