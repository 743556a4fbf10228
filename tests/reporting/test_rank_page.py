"""The page of a leaderboard: a plain sorted table, and the numbers that its script shows."""

from __future__ import annotations

import json
import math
import re
from itertools import pairwise

import numpy as np
import pytest

import probative as pv
from probative.reporting import rank_report as rank_page
from probative.reporting.render import as_html
from probative.results import (
    Interval,
    LabelScores,
    RankedPair,
    RankedSystem,
    Ranking,
    Scores,
    SystemScores,
)
from reporting.structure import html_outline

HOSTILE = "</script><script>alert(1)</script>\u202e & <b>"


def systems(number=6, sentences=60, seed=0):
    """An answer, and systems that get better from one to the next."""
    rng = np.random.default_rng(seed)
    tags = ["O", "O", "B-PER", "B-LOC", "B-ORG"]
    gold = rng.choice(tags, (sentences, 6))
    found = {}
    for k in range(number):
        kept = rng.random(gold.shape) < 0.5 + 0.45 * k / number
        found[f"system {k}"] = np.where(kept, gold, rng.choice(tags, gold.shape)).tolist()
    return gold.tolist(), found


def made_up(number, labels=6):
    """A ranking of so many systems, with numbers that nobody had to test for."""
    rng = np.random.default_rng(0)
    scores = np.sort(rng.beta(30, 20, number))[::-1]
    names = [f"system-{k:03d}" for k in range(number)]

    def interval(metric, estimate):
        return Interval(metric, "wilson", 0.95, estimate, estimate * 0.95, estimate * 1.05)

    systems = tuple(
        SystemScores(
            name,
            pv.Counts(50, 20, 30),
            (interval("f1", score),),
            tuple(
                LabelScores(f"label {k}", pv.Counts(5, 2, 3), (interval("f1", rng.random()),))
                for k in range(labels)
            ),
        )
        for name, score in zip(names, scores.tolist(), strict=True)
    )
    decided = np.abs(scores[:, None] - scores) > 0.06
    pairs = []
    for i, j in zip(*(side.tolist() for side in np.triu_indices(number, 1)), strict=True):
        gap = float(scores[i] - scores[j])
        p = float(rng.random() * 10 ** (-300 * gap))
        limits = (gap - 0.05, gap + 0.05, p, min(1.0, 100 * p), bool(decided[i, j]))
        pairs.append(RankedPair(names[j], names[i], "f1", gap, *limits))
    worse, better = np.tril(decided).sum(axis=1), np.triu(decided).sum(axis=1)
    ranking = tuple(
        RankedSystem(
            names[k],
            "f1",
            float(scores[k]),
            float(0.97 * scores[k]),
            float(1.03 * scores[k]),
            int(1 + worse[k]),
            int(number - better[k]),
            1 + k // 30,
            "abc",
            1 / number,
            k + 1.0,
        )
        for k in range(number)
    )
    return Ranking(
        Scores(
            "entities",
            systems,
            0.95,
            1_000,
            "sentence",
            "sentence",
            signature="probative:made-up",
        ),
        ranking=ranking,
        pairs=tuple(pairs),
        summary=f"{names[0]} leads.",
        n_draws=20_000,
    )


@pytest.fixture(scope="module")
def found():
    return pv.rank(*systems(), n_jobs=1)


@pytest.fixture(scope="module")
def page(found):
    return found.to_html()


def embedded(page):
    (text,) = re.findall(r'<script type="application/json" id="data">(.*?)</script>', page, re.S)
    return json.loads(text)


def board(page):
    """The cells of the leaderboard, row by row, as text."""
    table = page[page.index('<table id="board"') :]
    table = table[table.index("<tbody>") : table.index("</tbody>")]
    rows = re.findall(r"<tr.*?</tr>", table, re.S)
    cells = [re.findall(r'<t[dh](?! class="track").*?>(.*?)</t[dh]>', row, re.S) for row in rows]
    return rows, [[re.sub(r"<.*?>", "", cell) for cell in row] for row in cells]


def test_without_script_it_is_the_sorted_leaderboard(found, page):
    rows, cells = board(page)
    assert [row[0] for row in cells] == [system.name for system in found.ranking]
    scores = [float(row[1].split()[0]) for row in cells]
    assert scores == sorted(scores, reverse=True)
    assert scores == [round(100 * system.estimate, 1) for system in found.ranking]
    assert all('<span class="iv"' in row for row in rows)
    _, text = html_outline(page)
    assert found.summary in text
    for pair in found.pairs:  # few enough for a table
        assert f"{pair.b} − {pair.a}" in text


def test_a_line_separates_the_systems_that_may_rank_first(found, page):
    rows, cells = board(page)
    first = [system.rank_low == 1 for system in found.ranking]
    assert first == sorted(first, reverse=True)
    starts = ['class="starts"' in row for row in rows]
    assert starts == [k == first.count(True) for k in range(len(first))]
    assert "tier" not in re.search("<thead>(.*?)</thead>", page, re.S)[1]
    assert len(cells[0]) == 5  # system, score with interval, rank, ties, P(best)


def test_intervals_in_the_rows_are_to_scale(found, page):
    rows, _ = board(page)
    low, high = min(s.low for s in found.ranking), max(s.high for s in found.ranking)
    for system, row in zip(found.ranking, rows, strict=True):
        left, right, dot = (float(x) for x in re.findall(r"(?:left:|100% - )([0-9.]+)%", row))
        at = [100 * (v - low) / (high - low) for v in (system.low, system.high, system.estimate)]
        assert [left, right, dot] == pytest.approx(at, abs=0.06)


def test_the_numbers_of_the_script_are_those_of_the_json(found, page):
    data, told = embedded(page), found.to_dict()
    assert data["names"] == [entry["name"] for entry in told["ranking"]]
    for own, entry in zip(data["scores"], told["ranking"], strict=True):
        assert own == pytest.approx([entry[k] for k in ("estimate", "low", "high")], abs=1e-6)
    assert len(told["pairs"]) == 15
    columns = {"difference": "d", "low": "low", "high": "high"}
    for k, pair in enumerate(told["pairs"]):
        for key, short in columns.items():
            assert data["pairs"][short][k] == pytest.approx(pair[key], abs=1e-6)
        assert data["pairs"]["p"][k] == pytest.approx(pair["pvalue"], rel=1e-3)
        assert data["pairs"]["adjusted"][k] == pytest.approx(pair["p_adjusted"], rel=1e-3)
        assert data["pairs"]["better"][k] == pytest.approx(pair["p_b_better"], abs=1e-6)
        assert bool(data["pairs"]["decided"][k]) == pair["decided"]
    # the place of a pair, as the script computes it
    names, n = data["names"], len(data["names"])
    for i in range(n):
        for j in range(i + 1, n):
            k = i * n - i * (i + 1) // 2 + j - i - 1
            assert (told["pairs"][k]["b"], told["pairs"][k]["a"]) == (names[i], names[j])
    by_name = {system.name: system for system in found.systems}
    for name, entries in zip(names, data["byLabel"], strict=True):
        for place, own in entries.items():
            (entry,) = [e for e in by_name[name].by_label if e.label == data["labels"][int(place)]]
            (score,) = [s for s in entry.scores if s.metric == "f1"]
            assert own == pytest.approx([score.estimate, score.low, score.high], abs=1e-6)


def test_nothing_from_elsewhere_and_the_same_bytes(found, page):
    assert not re.search(r"""\b(src|action)\s*=""", page)
    assert all(link.startswith("#") for link in re.findall(r'href="(.*?)"', page))
    assert "url(" not in page
    assert "@import" not in page
    assert not re.search(r"https?://", page)
    assert "innerHTML" not in page
    assert found.to_html() == page


def test_names_and_labels_from_files_stay_text():
    gold, given = systems(3, 20)
    spoilt = [[tag.replace("PER", HOSTILE.replace(" ", "")) for tag in s] for s in gold]
    outputs = {HOSTILE: spoilt, '"><img>': spoilt[::-1], "c": next(iter(given.values()))}
    page = pv.rank(spoilt, outputs, n_jobs=1).to_html()
    events, _text = html_outline(page)
    tags = [event[0] for event in events if isinstance(event, tuple)]
    assert tags.count("script") == 2
    assert "img" not in tags
    assert "\u202e" not in page
    assert "alert(1)" not in re.findall(r"<script>(.*?)</script>", page, re.S)[-1]
    assert HOSTILE.replace("\u202e", "\\u202e") in embedded(page)["names"]


def test_undefined_scores_have_no_line():
    gold, given = systems(3, 20)
    nothing = [["O"] * 6 for _ in gold]
    ranking = pv.rank(gold, {**given, "silent": nothing}, metric="precision", n_jobs=1)
    page = ranking.to_html()
    rows, cells = board(page)
    assert cells[-1][:2] == ["silent", "–"]
    assert "<i " not in rows[-1]
    assert "NaN" not in page.split("<script>")[0]
    assert embedded(page)["scores"][-1][0] is None


def test_what_does_not_fit_is_left_out_and_said(found, monkeypatch):
    monkeypatch.setattr(rank_page, "_MOST_PAIRS", 10)
    monkeypatch.setattr(rank_page, "_MOST_SCORES_BY_LABEL", 10)
    page = as_html(found._document())
    _, text = html_outline(page)
    assert "The 15 pairs are left out here: the page holds 10 at most." in text
    assert "Scores by label are left out here" in text
    data = embedded(page)
    assert "pairs" not in data
    assert data["labels"] == []
    assert 'id="matrix"' not in page
    assert 'id="label"' not in page


def test_two_hundred_systems_fit_into_a_page():
    ranking = made_up(200)
    page = ranking.to_html()
    assert len(page.encode()) < 3e6
    assert len(embedded(page)["pairs"]["d"]) == 19_900
    _, text = html_outline(page)
    assert "JSON and CSV hold all of them" in text  # without script
    assert len(board(page)[0]) == 200


def test_the_limits_keep_a_page_below_ten_megabytes():
    """From what a pair and a score by label take at most."""
    pair = len("-0.123456,") * 4 + len("1.234e-300,") * 2 + 2 * len("0,")
    score = len('"1000":[0.123456,0.123456,0.123456],')
    assert pair * rank_page._MOST_PAIRS + score * rank_page._MOST_SCORES_BY_LABEL < 9e6
    assert math.comb(200, 2) <= rank_page._MOST_PAIRS


def test_one_system_and_one_sentence():
    gold, given = systems(2, 1)
    one = pv.rank(gold, {"only": given["system 0"]}, n_jobs=1).to_html()
    assert 'id="matrix"' not in one
    html_outline(one)
    both = pv.rank(gold, given, n_jobs=1)
    page = both.to_html()
    _, text = html_outline(page)
    assert both.summary in text
    assert "nan" not in page.lower().split("<script>")[0].replace("finance", "")


@pytest.fixture(scope="module")
def in_full():
    gold, given = systems(4, 40)
    given[HOSTILE] = given.pop("system 0")
    return pv.rank(gold, given, n_jobs=1, comparisons=4)


def test_a_pair_in_full_is_part_of_the_page(in_full):
    page = in_full.to_html()
    events, text = html_outline(page)
    places = re.findall(r'<details class="full" id="(.*?)">', page)
    assert places == ["pair-0-1", "pair-0-2", "pair-0-3", "pair-1-2"]
    assert "4 of the 6 pairs, those of the leader and of neighbours first, as the" in text
    assert "The others are not compared in full on this page" in text
    for result in in_full.comparisons:
        assert result.verdicts[0].replace("\u202e", "\\u202e") in text
    for heading in ("Scores in points", "By label", "Confusions", "Where they differ most"):
        assert text.count(heading) >= 4
    assert text.count("How this was computed") == 2  # in the contents, and its heading
    tags = [event[0] for event in events if isinstance(event, tuple)]
    assert tags.count("script") == 2
    levels = [int(tag[1]) for tag in tags if re.fullmatch(r"h\d", tag)]
    assert all(b <= a + 1 for a, b in pairwise(levels))
    assert not re.search(r"""\b(src|action)\s*=""", page)
    assert all(link.startswith("#") for link in re.findall(r'href="(.*?)"', page))
    assert in_full.to_html() == page


def test_comparisons_beyond_the_room_of_a_page_are_left_out_and_said(in_full, monkeypatch):
    monkeypatch.setattr(rank_page, "_MOST_BYTES_IN_FULL", 80_000)
    page = in_full.to_html()
    _, text = html_outline(page)
    shown = page.count('<details class="full"')
    assert 0 < shown < 4
    assert f"{shown} of the 6 pairs" in text
    assert "The others are not compared in full on this page" in text


def test_without_any_in_full_the_page_says_where_to_get_them(page):
    _, text = html_outline(page)
    assert "The pairs are not compared in full on this page" in text
    counts = {name: pv.Counts([1, 2], [0, k], [1, 0]) for k, name in enumerate("ab")}
    _, text = html_outline(pv.rank(counts).to_html())
    assert "not compared in full" not in text  # of counts nothing more is known


def test_a_single_pair_is_not_spoken_of_as_many():
    gold, given = systems(2, 30)
    ranking = pv.rank(gold, given, n_jobs=1, comparisons=1)
    _, text = html_outline(ranking.to_html())
    words = text.split('"use strict"')[0]
    for many in ("all pairs", "All pairs", "pairs at once", "Every pair", "adjusted for all"):
        assert many not in words
    assert "of one pair it needs no adjustment" in words
    assert ranking.comparisons[0].comparisons[0].p_adjusted is None
    assert "The pair, with its 95 % interval" in ranking.to_markdown()
