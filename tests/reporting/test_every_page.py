"""The page of every command: the answer first, where it comes from, and who can read it."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
from axe import axe_core

import probative as pv
from probative.cli import main
from probative.crossval.runner import judge_folds
from probative.reporting.bayes_report import crossval_document, crossval_pictures
from probative.reporting.render import as_html
from probative.results.crossval import FoldCounts
from probative.wording.verdict import STRENGTHS
from reporting.browser import NEEDS_BROWSER
from reporting.test_model_pages import FICKLE
from reporting.test_page import outputs

ROOT = Path(__file__).resolve().parents[2]
DAY = "1700000000"  # 2023-11-14


def _conll(sentences) -> str:
    rows = (
        "\n".join(f"s{k}w{i}\t{tag}" for i, tag in enumerate(sentence))
        for k, sentence in enumerate(sentences)
    )
    return "\n\n".join(rows) + "\n"


def _csv(heads, *columns) -> str:
    lines = [heads, *zip(*columns, strict=True)]
    return "\n".join(",".join(map(str, line)) for line in lines) + "\n"


@pytest.fixture(scope="module")
def inputs(tmp_path_factory):
    """Small inputs of every command in one folder."""
    folder = tmp_path_factory.mktemp("inputs")
    gold, a, b = outputs(sentences=60)
    rng = np.random.default_rng(0)
    for name, side in (("gold", gold), ("old", a), ("new", b), ("third", outputs(1, 60)[1])):
        (folder / f"{name}.conll").write_text(_conll(side))
    for name in ("a", "b"):
        (folder / name).mkdir()
        for k in range(3):
            side = outputs(0, 60)[1 + (name == "b")]
            varied = [["O" if rng.random() < 0.1 else tag for tag in sentence] for sentence in side]
            (folder / name / f"{k}.conll").write_text(_conll(varied))
    y = rng.integers(0, 2, 80)
    scores = [(y * 0.3 + 0.7 * rng.random(80)).round(3) for _ in range(2)]
    (folder / "p.csv").write_text(_csv(("y", "old", "new"), y, *scores))
    labels = [np.where(rng.random(80) < 0.8, y, 1 - y) for _ in range(2)]
    text = [f"text {i}" for i in range(80)]
    lang = rng.choice(["de", "en"], 80)
    table = _csv(("text", "lang", "y", "old", "new"), text, lang, y, *labels)
    (folder / "labels.csv").write_text(table)
    for name in ("a", "b"):
        counts = [rng.integers(low, low + 20, 6) for low in (80, 10, 10)]
        (folder / f"folds_{name}.csv").write_text(_csv(("tp", "fp", "fn"), *counts))
    words = [["ab", "c", "def", "g"], ["d", "ef", "gh"]] * 15
    spoilt = [[w for x in s for w in (x[:1], x[1:]) if w] for s in words]
    sides = {"words": words, "cut": spoilt[:9] + words[9:], "whole": words[:-6] + spoilt[-6:]}
    for name, side in sides.items():
        (folder / f"{name}.txt").write_text("\n".join(" ".join(s) for s in side) + "\n")
    chances = [rng.random(sum(map(len, s)) - 1).round(3).tolist() for s in words]
    (folder / "chances.jsonl").write_text("\n".join(map(json.dumps, chances)) + "\n")
    return folder


THREE = "gold.conll old.conll new.conll"
COMMANDS = {
    "compare": f"compare {THREE}",
    "compare-many": f"compare {THREE} third.conll",
    "compare-gate": f"compare {THREE} --require-better",
    "compare-runs": "compare gold.conll --runs a=a/*.conll --runs b=b/*.conll",
    "compare-labels": "compare labels.csv --gold-column y --columns old,new",
    "compare-groups": "compare labels.csv --gold-column y --columns old,new --group lang",
    "compare-words": "compare words.txt cut.txt whole.txt --task segmentation",
    "compare-curves": "compare p.csv --gold-column y --columns old,new --probabilities",
    "datasets": f"compare --dataset one {THREE} --dataset two gold.conll third.conll new.conll "
    "--names old,new",
    "hidden": f"compare {THREE} --require-better --ledger gates.jsonl --hide-scores",
    "ledger": "ledger gates.jsonl",
    "score": "score gold.conll new.conll",
    "score-many": "score gold.conll old.conll new.conll",
    "curve": "score p.csv --gold-column y --columns new --probabilities",
    "rank": "rank gold.conll old.conll new.conll third.conll",
    "plan": f"plan {THREE} --difference 0.02",
    "plan-runs": "plan gold.conll --runs a=a/*.conll --runs b=b/*.conll",
    "sample": "sample old.conll old.conll new.conll --size 20 -o drawn.conll --explain",
    "estimate": "estimate drawn.design.json answered.conll",
    "watch": "watch drawn.design.json answered.conll",
    "sweep": "sweep words.txt chances.jsonl",
    "bayes": "bayes folds_a.csv folds_b.csv",
    "interval": "interval --tp 77 --fp 44 --fn 10",
    "agreement": "agreement gold.conll old.conll new.conll",
    "agreement-labels": "agreement labels.csv --columns y,old,new",
    "check": "check gold.conll",
}


@pytest.fixture(scope="module")
def pages(inputs):
    """The page of every command, and those of a board and a cross-validation, by name."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(inputs)
        patch.setenv("SOURCE_DATE_EPOCH", DAY)
        for name, words in COMMANDS.items():
            if name == "estimate":
                _answer(inputs)
            assert main([*words.split(), "--html", f"{name}.html", "--quiet"]) in (0, 1), name
    (inputs / "submissions").mkdir()
    for name in ("old", "new", "third"):
        shutil.copy(inputs / f"{name}.conll", inputs / "submissions")
    pv.board(inputs / "gold.conll", inputs / "submissions", inputs / "site", n_jobs=1)
    paired = [pv.PairedCounts(row) for row in FICKLE]
    folds = tuple(
        FoldCounts(number, name, 500, 500, counts)
        for number, table in enumerate(paired, 1)
        for name, counts in (("old", table.a), ("new", table.b))
    )
    found = judge_folds(paired, ["f1"], names=("old", "new"), task="labels", folds=folds)
    crossval = crossval_document(found, pictures=crossval_pictures(found))
    (inputs / "crossval.html").write_text(as_html(crossval), encoding="utf-8")
    site = {f"board-{path.stem}": path for path in sorted((inputs / "site").rglob("*.html"))}
    names = (*COMMANDS, "crossval")
    return {name: inputs / f"{name}.html" for name in names} | site


def _answer(folder: Path) -> None:
    """Annotate the drawn sentences as gold has them."""
    gold = {s.split("\t")[0]: s for s in (folder / "gold.conll").read_text().split("\n\n")}
    drawn = (folder / "drawn.conll").read_text().strip().split("\n\n")
    answered = (gold[sentence.split("\t")[0]].strip() for sentence in drawn)
    (folder / "answered.conll").write_text("\n\n".join(answered) + "\n")


class _Order(HTMLParser):
    """Headings, headlines and tables of a page in order."""

    def __init__(self) -> None:
        super().__init__()
        self.events: list[str] = []
        self.tables: list[dict[str, int]] = []
        self.text: list[str] = []

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        if "headline" in (given.get("class") or "").split():
            self.events.append("headline")
        if tag in ("h1", "h2", "table", "svg"):
            self.events.append(tag)
        if tag == "table":
            self.tables.append({"caption": 0, "tr": 0, "row": 0, "col": 0})
        if self.tables and tag in ("caption", "tr"):
            self.tables[-1][tag] += 1
        if self.tables and tag == "th":
            self.tables[-1][given["scope"]] += 1
        assert given.get("tabindex") is None or tag in ("canvas", "div"), tag

    def handle_data(self, data):
        self.text.append(data)


def _read(path: Path) -> _Order:
    parser = _Order()
    parser.feed(path.read_text(encoding="utf-8").replace("<script", "<!--").split("<!--")[0])
    return parser


def test_the_answer_comes_before_any_table_or_figure(pages):
    for name, path in pages.items():
        events = _read(path).events
        assert events[:2] == ["h1", "headline"], name
        page = path.read_text(encoding="utf-8")
        words = re.search(
            r'<p class="answer"><span class="sign" aria-hidden="true">(.)</span> (.+?)</p>', page
        )
        assert words, name
        assert words[1] in "▲▼○=✓✗●", name
        assert len(words[2]) < 120, name


def test_headlines_say_what_the_numbers_say(pages):
    shown = {name: " ".join("".join(_read(path).text).split()) for name, path in pages.items()}
    assert "✗ Gate failed" in shown["compare-gate"]
    assert "✗ Gate failed" in shown["hidden"]
    assert re.search(r"● [\d,]+ sentences needed", shown["plan"])
    assert "● Label 20 sentences" in shown["sample"]
    assert re.search(r"Keep labelling: |May stop: ", shown["watch"])
    assert re.search(r"● F1 [\d.]+ \[[\d.]+, [\d.]+\]", shown["score"])
    assert "● F1 74.0 [66.9, 80.1]" in shown["interval"]
    assert "✓ Nothing is wrong" in shown["check"]
    assert re.search(r"○ Not established|better: (strong|moderate) evidence", shown["compare"])
    assert "These models: " in shown["compare-runs"]
    assert "New runs: " in shown["compare-runs"]


def test_a_headline_is_as_strong_as_the_verdict():
    gold, a, b = outputs(sentences=200)
    for sides in ((a, b), (b, a), (a, a), (b, outputs(5, 200)[2])):
        found = pv.compare(gold, *sides, names=["old", "new"])
        page = found.to_html()
        words = re.search(r'class="answer">.*?</span> (.*?)</p>', page)[1]
        c = found.comparisons[0]
        likely, p = max(c.p_a_better, c.p_b_better), c.pvalue
        strong = [w for w, least, most in STRENGTHS if likely >= least and p <= most]
        if c.identical:
            assert words == "Identical outputs"
        elif words == "Not established":
            assert "is strong" not in found.verdicts[0]
        else:
            better = "new" if c.difference > 0 else "old"
            assert words == f"{better} better: {strong[0]} evidence"


def test_every_table_has_a_caption_and_heads_of_rows(pages):
    for name, path in pages.items():
        for table in _read(path).tables:
            assert table["caption"] == 1, name
            assert table["col"] >= 1, name
            assert table["row"] == table["tr"] - 1, name  # one row holds the heads of columns


def test_pages_say_where_they_come_from(inputs, pages, monkeypatch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", DAY)
    paths = [str(inputs / f"{name}.conll") for name in ("gold", "old", "new")]
    for name in ("x", "y"):  # without --quiet and with other folders it is the same page
        (inputs / name).mkdir()
        main(["compare", *paths, "--html", str(inputs / name / "page.html"), "--quiet"])
    page = (inputs / "x" / "page.html").read_text(encoding="utf-8")
    assert (inputs / "y" / "page.html").read_text(encoding="utf-8") == page
    assert "2023-11-14" in page
    command = "probative compare gold.conll old.conll new.conll --html page.html --quiet"
    assert f"<code>{command}</code>" in page
    digest = hashlib.sha256((inputs / "gold.conll").read_bytes()).hexdigest()[:12]
    assert f"gold.conll <small>(sha256 {digest})</small>" in page
    for path in [*pages.values(), inputs / "x" / "page.html"]:
        assert str(inputs) not in path.read_text(encoding="utf-8"), path.name


def test_pages_list_each_file_that_was_read_once(inputs, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        for run in ("1", "2"):
            content = (inputs / ("old.conll" if name == "a" else "new.conll")).read_bytes()
            (tmp_path / name / f"{name}{run}.conll").write_bytes(content)
    (tmp_path / "f1").write_text("a file with the name of a metric\n")
    runs = ["--runs", "A=a", "--runs", "B=b/*.conll", "--metric", "f1"]
    main(["compare", str(inputs / "gold.conll"), *runs, "--html", "page.html", "--quiet"])
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    listed = re.findall(r"(\S+) <small>\(sha256 ", page)
    assert [name.rpartition(">")[2] for name in listed] == [
        *("gold.conll", "a1.conll", "a2.conll", "b1.conll", "b2.conll")
    ]


def test_long_pages_have_contents_and_short_ones_do_not(pages):
    for name, path in pages.items():
        page = path.read_text(encoding="utf-8")
        links = re.findall(r'<li><a href="#(part-\d+)">', page)
        assert all(f'<h2 id="{link}">' in page for link in links), name
        assert '<a class="skip" href="#main">' in page
    assert '<nav class="contents"' in pages["compare"].read_text(encoding="utf-8")
    assert '<nav class="contents"' not in pages["interval"].read_text(encoding="utf-8")


def test_as_many_examples_favour_one_system_as_the_other():
    gold, a, b = outputs(sentences=200)
    found = pv.compare(gold, a, b, names=["old", "new"])
    assert [example.better for example in found.examples] == ["new"] * 4 + ["old"] * 4
    for example in found.examples:
        scores = [
            2 * len(right) / (len(example.gold) + len(own)) if example.gold or own else 1.0
            for own in (example.spans_a, example.spans_b)
            for right in [set(own) & set(example.gold)]
        ]
        assert scores == pytest.approx([example.f1_a, example.f1_b])
    gaps = [abs(example.f1_b - example.f1_a) for example in found.examples]
    assert gaps[:4] == sorted(gaps[:4], reverse=True)
    assert gaps[4:] == sorted(gaps[4:], reverse=True)
    page = found.to_html()
    assert page.index("new does better than old") < page.index("old does better than new")


def test_examples_of_segmentations_show_the_places_that_differ():
    rng = np.random.default_rng(0)
    gold = [["".join(rng.choice(list("abcdef"), 2)) for _ in range(60)] for _ in range(6)]
    new = [[*s[:30], s[30][:1], s[30][1:], *s[31:]] for s in gold]
    page = pv.compare(gold, gold, new, task="segmentation", names=["old", "new"]).to_html()
    lines = re.findall(
        r'<p class="said"><span class="who">(.*?)</span><span>(.*?)</span></p>', page
    )
    assert lines
    for who, line in lines:
        words = re.sub(r"<small>.*?</small>|<.*?>", "", line).split()
        assert len(words) == {"gold": 13, "old": 13, "new": 14}[who]  # 5 + 1 + 5, and two ellipses
        assert line.count('class="wrong"') == 2 * (who == "new")


def test_right_and_wrong_differ_without_colour(pages):
    """By a sign in the text and by the kind of line, in every example."""
    page = pages["compare"].read_text(encoding="utf-8")
    signs = {
        kind: {words.split()[-1 if kind != "missed" else -2] for words in found}
        for kind in ("right", "wrong", "missed")
        if (found := re.findall(rf'<mark class="{kind}">[^<]*<small>(.*?)</small>', page))
    }
    assert signs["right"] == {"✓"}
    assert signs["wrong"] == {"✗"}
    assert signs["missed"] == {"✗"}
    assert page.count("<mark") == page.count("</small></mark>")


# --- In a browser


class TestInABrowser:
    """What only a browser can see."""

    pytestmark = NEEDS_BROWSER

    @pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
    @pytest.mark.parametrize("width", [400, 1300])
    def test_axe_finds_nothing_wrong(self, browser, pages, width, dark):
        rules = axe_core()
        wrong = {}
        for name, path in pages.items():
            browser.open(path, width=width, dark=dark)
            browser.command("Runtime.evaluate", expression=rules)
            answer = browser.command(
                "Runtime.evaluate",
                expression="axe.run().then(r => r.violations.map(v => "
                "`${v.id}: ${v.nodes[0].html.slice(0, 200)}`))",
                awaitPromise=True,
                returnByValue=True,
            )
            if answer["result"]["value"]:
                wrong[name] = answer["result"]["value"]
        assert wrong == {}

    @pytest.mark.parametrize("width", [400, 1300])
    def test_names_are_whole_and_nothing_scrolls_sideways(self, browser, pages, width):
        for name, path in pages.items():
            browser.open(path, width=width)
            assert browser.ask("document.documentElement.scrollWidth") <= width, name
            cut = browser.ask(
                "[...document.querySelectorAll('svg text')].filter(e => {"
                " const t = e.getBoundingClientRect();"
                " const s = e.ownerSVGElement.getBoundingClientRect();"
                " return t.width && (t.left < s.left - 1 || t.right > s.right + 1) })"
                ".map(e => e.textContent)"
            )
            assert cut == [], name
            wide = browser.ask(
                "[...document.querySelectorAll('.scroll')]"
                ".filter(e => e.scrollWidth > e.clientWidth + 1).map(e => e.textContent)"
            )
            assert wide == [], name

    def test_lines_below_right_and_wrong_spans_differ(self, browser, pages):
        browser.open(pages["compare"], width=1300)
        for kind, line in (("right", "solid"), ("wrong", "wavy"), ("missed", "dotted")):
            style = f"getComputedStyle(document.querySelector('mark.{kind}')).textDecorationStyle"
            assert browser.ask(style) == line

    def test_folded_parts_are_printed(self, browser, pages):
        browser.open(pages["compare"], width=794, media="print")
        assert browser.ask("document.querySelectorAll('details').length") > 1
        heights = browser.ask(
            "[...document.querySelectorAll('details > :not(summary)')]"
            ".map(e => e.getBoundingClientRect().height)"
        )
        assert all(height > 0 for height in heights)

    def test_squares_of_undecided_pairs_can_be_seen(self, browser, pages):
        """A contrast of 3 with the ground, as WCAG asks of figures."""
        for dark in (False, True):
            browser.open(pages["rank"], width=1300, dark=dark)
            colours = browser.ask(
                "(c => { const p = c.getContext('2d'), d = p.getImageData(0, 0, c.width, c.height);"
                " const seen = {}; for (let i = 0; i < d.data.length; i += 4) {"
                " if (d.data[i + 3]) { const k = [...d.data.slice(i, i + 4)].join();"
                " seen[k] = (seen[k] || 0) + 1; } }"
                " return Object.entries(seen).sort((a, b) => b[1] - a[1]).slice(0, 12)"
                ".map(e => e[0]) })(document.getElementById('matrix'))"
            )
            paper = (21, 24, 28) if dark else (255, 255, 255)
            seen = [_over(tuple(map(int, text.split(","))), paper) for text in colours]
            ground, *others = seen
            blues = [c for c in others if c[2] - c[0] > 60 or c[0] - c[2] > 60]
            assert blues
            assert min(_contrast(colour, ground) for colour in blues) >= 3


def _over(colour, paper):
    *rgb, alpha = colour
    return tuple(c * alpha / 255 + p * (1 - alpha / 255) for c, p in zip(rgb, paper, strict=True))


def _contrast(one, other):
    def light(colour):
        parts = [c / 255 for c in colour]
        linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2] + 0.05

    pair = sorted((light(one), light(other)))
    return pair[1] / pair[0]
