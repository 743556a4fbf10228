"""The site of a board in a real browser: every link leads to a page that fits and is quiet."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import unquote, urlparse

import pytest

import probative as pv
from reporting.browser import NEEDS_BROWSER

pytestmark = NEEDS_BROWSER

LINKS = "Array.from(document.links).map(link => link.href)"
SENTENCES = ("Ann B-PER\nsaw O\nYork B-LOC\n\n", "the O\nBank B-ORG\n\n", "Lee B-PER\nwent O\n\n")


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    place = tmp_path_factory.mktemp("board")
    (place / "in").mkdir()
    (place / "gold.conll").write_text("".join(SENTENCES) * 12)
    for i, name in enumerate(("ann", "a name & <more>", "long" * 30, "zoe")):
        said = [s.replace("B-PER", "O") if k % (i + 3) == 0 else s
                for k, s in enumerate(SENTENCES * 12)]  # fmt: skip
        (place / "in" / f"{name}.conll").write_text("".join(said))
    (place / "in" / "bad.conll").write_text("one O\n")
    pv.board(place / "gold.conll", place / "in", place / "site", pairs="all", n_jobs=1)
    return place / "site"


def _path(address: str) -> Path:
    return Path(unquote(urlparse(address).path))


@pytest.mark.parametrize(("width", "dark"), [(1300, False), (400, True)])
def test_every_page_is_reached_fits_and_is_quiet(browser, site, width, dark):
    waiting, seen = [site / "index.html"], set()
    while waiting:
        page = waiting.pop()
        seen.add(page)
        browser.logged()
        browser.open(page, width=width, dark=dark)
        assert browser.ask("document.documentElement.scrollWidth") <= width, page
        messages, asked = browser.logged()
        assert messages == []
        assert [_path(address) for address in asked] == [page]
        links = {_path(address) for address in browser.ask(LINKS)}
        assert all(link.is_file() for link in links), page
        waiting += [
            link for link in links if link.suffix == ".html" and link not in {*seen, *waiting}
        ]
    assert seen == set(site.rglob("*.html"))
    assert len(seen) == 1 + 4 + 6


def test_a_click_leads_from_the_leaderboard_to_a_pair_and_back(browser, site):
    browser.open(site / "index.html", width=1300)
    assert "No" in browser.ask("document.body.textContent")
    assert "bad" in browser.ask("document.body.textContent")
    first = browser.ask("document.querySelector('#board tbody a').textContent")
    browser.ask("document.querySelector('#board tbody a').click()")
    assert browser.ask("document.querySelector('h1').textContent") == first
    browser.ask("document.querySelector('tbody a').click()")
    assert first in browser.ask("document.querySelector('h1').textContent")
    assert "and" in browser.ask("document.querySelector('h1').textContent")
    browser.ask("document.querySelector('nav a').click()")
    assert browser.ask("document.querySelector('h1').textContent") == "Leaderboard of 4 systems"


def test_a_pair_of_the_matrix_leads_to_its_page(browser, site):
    browser.open(site / "index.html", width=1300)
    browser.ask(
        "(c => { c.value = 2; c.dispatchEvent(new Event('change')) })"
        "(document.getElementById('other'))"
    )
    names = browser.ask("JSON.parse(document.getElementById('data').textContent).names")
    browser.ask("document.querySelector('#details a').click()")
    assert browser.ask("document.querySelector('h1').textContent") == f"{names[0]} and {names[2]}"
