"""The page in a real browser: on a phone, on a screen, on paper, by day and by night."""

from __future__ import annotations

import json

import numpy as np
import pytest

import probative as pv
from probative.reporting.compare_report import compare_document
from probative.reporting.render import as_html
from reporting.browser import NEEDS_BROWSER
from reporting.test_page import outputs

pytestmark = NEEDS_BROWSER


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pages")
    gold, a, b = outputs()
    spoilt = folder / "spoilt.jsonl"
    line = {"text": "<script>alert(1)</script> " + "w" * 100_000, "spans": [[0, 8, "x" * 500]]}
    empty = {**line, "spans": []}
    spoilt.write_text("\n".join(json.dumps(line) for _ in range(6)))
    other = folder / ("<b>" + "long name " * 20 + ".jsonl")
    other.write_text("\n".join(json.dumps(line if i % 2 else empty) for i in range(6)))
    labels = np.array(["label " + "y" * 60, "b", "c"])
    rng = np.random.default_rng(0)
    found = {
        "entities": pv.compare(
            gold, a, b, metric=["recall", "f1"], rope=0.02, figures=True, buckets=True
        ),
        "many": pv.compare(
            gold, a, b, *(outputs(i)[1] for i in range(1, 5)), metric="recall", all_pairs=True
        ),
        "labels": pv.compare(*labels[rng.integers(0, 3, (3, 60))]),
        "segmentation": pv.compare(
            [["ab", "c"], ["d", "e"]] * 9,
            [["a", "bc"], ["de"]] * 9,
            [["ab", "c"], ["de"]] * 9,
            task="segmentation",
        ),
        "hostile": pv.compare(spoilt, other, spoilt, metric="recall"),
    }
    paths = {}
    others = {
        "score": pv.score(gold, a, b),
        "interval": pv.interval(pv.Counts(77, 44, 10), "f1"),
        "sweep": pv.segmentation_sweep(
            [["ab", "c"], ["d", "e"]] * 9, [[0.2, 0.8], [0.6]] * 9, steps=20
        ),
    }
    for name, result in found.items():
        paths[name] = folder / f"{name}.html"
        paths[name].write_text(as_html(compare_document(result)), encoding="utf-8")
    for name, result in others.items():
        paths[name] = folder / f"{name}.html"
        paths[name].write_text(result.to_html(), encoding="utf-8")
    return paths


PAGES = ["entities", "many", "labels", "segmentation", "hostile", "score", "interval", "sweep"]


@pytest.mark.parametrize("name", [name for name in PAGES if name != "hostile"])
@pytest.mark.parametrize("width", [400, 1300])
def test_no_table_is_cut_off(browser, pages, name, width):
    browser.open(pages[name], width=width)
    cut = browser.ask(
        "[...document.querySelectorAll('.scroll, .heat')]"
        ".filter(e => e.scrollWidth > e.clientWidth + 1)"
        ".map(e => e.getAttribute('aria-label') || e.textContent)"
    )
    assert cut == []


@pytest.mark.parametrize("name", PAGES)
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [400, 1300])
def test_nothing_overflows_complains_or_calls_out(browser, pages, name, width, dark):
    browser.logged()
    browser.open(pages[name], width=width, dark=dark)
    assert browser.ask("document.documentElement.scrollWidth") <= width
    assert browser.ask("window.innerWidth") == width
    messages, asked = browser.logged()
    assert messages == []
    assert asked == [pages[name].as_uri()]
    paper = browser.ask("getComputedStyle(document.body).backgroundColor")
    ink = browser.ask("getComputedStyle(document.body).color")
    assert (_brightness(paper) < 60) == dark
    assert abs(_brightness(paper) - _brightness(ink)) > 150


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_figures_can_be_read(browser, pages, dark):
    browser.open(pages["entities"], width=400, dark=dark)
    paper = _brightness(browser.ask("getComputedStyle(document.body).backgroundColor"))
    fills = browser.ask(
        "[...document.querySelectorAll('svg text')].map(e => getComputedStyle(e).fill)"
    )
    assert fills
    assert all(abs(_brightness(fill) - paper) > 90 for fill in fills)
    # words of a figure stay inside it, and are not too small on a phone
    cut = browser.ask(
        "[...document.querySelectorAll('svg text')].filter(e => {"
        " const t = e.getBoundingClientRect(), s = e.ownerSVGElement.getBoundingClientRect();"
        " return t.left < s.left - 1 || t.right > s.right + 1 || t.height < 8 })"
        ".map(e => e.textContent)"
    )
    assert cut == []


def test_on_paper_it_is_black_on_white_also_at_night(browser, pages):
    browser.open(pages["entities"], width=794, dark=True, media="print")
    assert browser.ask("getComputedStyle(document.body).color") == "rgb(0, 0, 0)"
    assert browser.ask("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert browser.command("Page.printToPDF")["data"]


def _brightness(colour: str) -> float:
    red, green, blue = (float(part) for part in colour.split("(")[1].rstrip(")").split(",")[:3])
    return 0.299 * red + 0.587 * green + 0.114 * blue


@pytest.mark.parametrize("width", [400, 1300])
def test_labels_of_heat_maps_are_shown_in_full(browser, pages, width):
    browser.open(pages["labels"], width=width)
    rows = "[...document.querySelectorAll('.heat tbody th')]"
    assert browser.ask(f"{rows}.length") > 2
    assert browser.ask(f"{rows}.filter(head => head.scrollWidth > head.clientWidth).length") == 0


def test_names_of_usual_length_are_not_broken(browser, tmp_path):
    rows = [["B-PER", "O"], ["O", "B-LOC"]] * 40
    systems = {"spinningbytes": rows, "uh_ritual": [["O", "O"], ["O", "B-LOC"]] * 40}
    drawn = pv.sample(None, systems, size=40)
    found = pv.estimate(drawn.design, [rows[i] for i in drawn.units], systems=systems)
    page = tmp_path / "estimate.html"
    page.write_text(found.to_html(), encoding="utf-8")
    browser.open(page, width=1100)
    cells = browser.ask(
        "[...document.querySelectorAll('tbody .words')].map(e => {"
        "const r = document.createRange(); r.selectNodeContents(e);"
        "return [e.textContent, r.getClientRects().length]})"
    )
    assert "uh_ritual − spinningbytes" in [text for text, _ in cells]
    assert [text for text, lines in cells if lines > len(text.replace(" −", "").split())] == []
