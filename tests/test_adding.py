"""What somebody adds works everywhere: a kind of score, a metric of counts, a format of files.

Each is written here as it would be in the package, in at most as many lines as
docs/how-it-is-built.md promises.
"""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import numpy as np
import pytest

import probative as pv
from probative.inference.compare import Choices, compare_pairs, compare_runs_of
from probative.inference.means import MeanScore
from probative.inference.rank import leaderboard
from probative.matching.matched import match_inputs
from probative.metrics import TABLE, Metric
from probative.options import CompareOptions
from probative.reading import formats
from probative.reading.annotations import labels_from_array

PAGE = Path(__file__).parent.parent / "docs" / "how-it-is-built.md"

GOLD = [["B-PER", "I-PER", "O"], ["O", "B-LOC", "O"], ["B-ORG", "O", "O"]] * 12
OLD = [["B-PER", "O", "O"], ["O", "B-LOC", "O"], ["O", "O", "O"]] * 9 + GOLD[:9]
NEW = [["B-PER", "I-PER", "O"], ["O", "B-LOC", "O"], ["B-LOC", "O", "O"]] * 9 + GOLD[:9]


def promised(what):
    """Return the number of lines that the page promises for this addition."""
    found = re.search(rf"\*\*A new {what}\*\* \(at most (\d+) line", PAGE.read_text("utf-8"))
    assert found, what
    return int(found[1])


def lines_of(function):
    return len(inspect.getsource(function).splitlines())


def perfect_sentences(matched):
    """Return the share of sentences without any error."""
    places = range(len(matched.names))
    counts = [matched.items.counts(i, by="sentence") for i in places]
    x = np.array([own.fp + own.fn == 0 for own in counts], dtype=float)
    return MeanScore(x, np.ones_like(x), metric="perfect_sentences", by="sentence")


def test_a_new_kind_of_score_works_everywhere():
    assert lines_of(perfect_sentences) <= promised("kind of score")
    matched = match_inputs(GOLD, [OLD, NEW, GOLD])
    score = perfect_sentences(matched)
    assert score.estimates == pytest.approx([18 / 36, 27 / 36, 1])
    choices = Choices.of(CompareOptions(), "sentence")
    old_new, old_gold = compare_pairs(score, [(0, 1), (0, 2)], ["old", "new", "gold"], choices)
    assert old_new.pvalue == pytest.approx(2 * 0.5**9)  # nine sentences, all in favour of new
    assert old_gold.p_b_better > 0.999
    board = leaderboard(score, seed=1, rng=np.random.default_rng(1))
    assert board.order.tolist() == [2, 1, 0]
    assert score.plan(0, 1, difference=0.25).units < 60
    runs = compare_runs_of(score, [0, 1], [1, 2], ("old", "new"), choices)
    assert runs.models.estimate == pytest.approx((27 + 36 - 18 - 27) / 72)
    assert runs.procedures is not None


def test_a_new_metric_of_counts_is_one_entry(monkeypatch):
    added = Metric("csi", "CSI", "CSI", (1, 0, 0, 0), (1, 1, 1, 0))
    assert promised("metric") == 1
    monkeypatch.setitem(TABLE, added.name, added)
    monkeypatch.setattr("probative.metrics.METRICS", tuple(TABLE))
    counts = pv.Counts(tp=30, fp=5, fn=10)
    assert pv.metrics.score(counts, "csi") == pv.metrics.score(counts, "jaccard")


def read_votes(opened):
    """Read lines such as "yes: 3, no: 1": the label with the most votes."""
    said = []
    for line in opened.source.data.decode().splitlines():
        votes = (vote.split(":") for vote in line.split(","))
        said.append(max(votes, key=lambda vote: int(vote[1]))[0].strip())
    return labels_from_array(opened.source.name, said)


def is_votes(glance):
    """Recognise the first line."""
    if re.match(rb"\w+: \d+,", glance.source.data):
        return formats._Claim("its first line has labels with votes")
    return None


def test_a_new_format_is_a_reader_and_an_entry(tmp_path, monkeypatch):
    assert lines_of(read_votes) + lines_of(is_votes) + 1 <= promised("format")
    entry = formats._Format("votes", "votes", ("labels",), is_votes, read_votes)
    monkeypatch.setitem(formats.FORMATS, "votes", entry)
    files = [tmp_path / name for name in ("gold", "old", "new")]
    for file, share in zip(files, (3, 1, 4), strict=True):
        lines = [f"yes: {share}, no: 2, maybe: 0", "yes: 0, no: 1, maybe: 0"] * 6
        file.write_text("\n".join(lines))
    result = pv.compare(*files, task="labels")
    assert [system.name for system in result.systems] == ["old", "new"]
    assert any("because its first line has labels with votes" in note for note in result.notes)
